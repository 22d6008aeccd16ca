//! Reads a spec from TOML, with positions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sessile_scene::tree::{Entry, Node, Table, Value, parse_document};
use sessile_scene::types::Scene;
use sessile_scene::{Diagnostic, Diagnostics, Folder, Place, edit_distance, parse_str};

use super::{DropSpec, Spec};
use crate::distribution::Distribution;
use crate::recipe::Process;

/// Built-in base scenes.
const SCENES: [(&str, &str); 2] =
    [("windscreen", include_str!("../scenes/windscreen.toml")), ("lens", include_str!("../scenes/lens.toml"))];

/// Keys of the spec.
const KEYS: [&str; 10] =
    ["seed", "scene", "backdrops", "size", "quality", "val", "shard", "least_area", "drops", "vary"];

/// Names of keys, each with its default if it has one.
type Keys = &'static [(&'static str, Option<&'static str>)];

/// Keys of each process besides `by`, `weight` and `on`.
const PROCESS_KEYS: [(Process, &str, Keys); 4] = [
    (Process::Rain, "rain", &[("rate", Some("20 mm/h")), ("radius", None), ("velocity", None), ("time", Some("5 s"))]),
    (Process::Dew, "dew", &[("rate", Some("100 uL/m^2/s")), ("time", Some("5 s"))]),
    (
        Process::Scatter,
        "scatter",
        &[
            ("count", Some("loguniform(20, 300)")),
            ("volume", Some("loguniform(0.02, 20) uL")),
            ("contact_angle", None),
            ("time", Some("0 s")),
        ],
    ),
    (Process::Scene, "scene", &[("time", None)]),
];

/// Extensions of photographs.
const PHOTOGRAPHS: [&str; 4] = ["jpg", "jpeg", "png", "exr"];

/// Where the values of a spec are.
#[derive(Default)]
pub(super) struct Places {
    pub scene: Option<Place>,
    /// For each of `vary`.
    pub vary: Vec<Place>,
    /// For each of `drops`: its table, and its values.
    pub drops: Vec<(Place, BTreeMap<String, Place>)>,
}

struct Reader<'a> {
    folder: &'a Path,
    errors: RefCell<Vec<Diagnostic>>,
}

/// Reads a spec; returns it with placeholders where there are errors.
pub(super) fn read(name: &str, text: &str, folder: &Path) -> Result<(Spec, Vec<Diagnostic>, Places), Diagnostics> {
    let table = parse_document(name, text)?;
    let reader = Reader { folder, errors: RefCell::default() };
    reader.unknown_keys(&table, "a dataset's spec", &KEYS);
    let mut places = Places { scene: table.get("scene").map(|entry| entry.node.place.clone()), ..Places::default() };
    let (scene, scene_folder) = reader.scene(&table);
    let first_solid = parse_str("scene", &scene, &[], &Folder::new(&scene_folder))
        .ok()
        .and_then(|parsed| solid_name(&parsed.scene))
        .unwrap_or_default();
    let spec = Spec {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: reader.number(&table, "seed", 1.0, [0.0, 9e15]) as u64,
        backdrops: reader.backdrops(&table),
        size: reader.size(&table),
        quality: reader.quality(&table),
        val: reader.number(&table, "val", 0.1, [0.0, 1.0]),
        shard: reader.number(&table, "shard", 0.0, [0.0, 1e6]) as u32,
        least_area: reader.number(&table, "least_area", 4.0, [1.0, 1e9]) as u32,
        drops: reader.drops(&table, &first_solid, &mut places),
        vary: reader.vary(&table, &mut places),
        scene,
        folder: scene_folder,
    };
    Ok((spec, reader.errors.into_inner(), places))
}

fn solid_name(scene: &Scene) -> Option<String> {
    scene.solids.first().map(|solid| solid.name.clone())
}

impl Reader<'_> {
    fn error(&self, diagnostic: Diagnostic) {
        self.errors.borrow_mut().push(diagnostic);
    }

    /// Records keys that do not exist.
    fn unknown_keys(&self, table: &Table, whose: &str, keys: &[&str]) {
        for Entry { key, key_place, .. } in table.entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            let near = keys.iter().min_by_key(|known| edit_distance(key, known)).filter(|k| edit_distance(key, k) <= 2);
            let help =
                near.map_or_else(|| format!("its keys are {}", keys.join(", ")), |k| format!("did you mean `{k}`?"));
            self.error(
                Diagnostic::new(key_place, format!("{whose} has no key `{key}`")).label("unknown key").help(help),
            );
        }
    }

    fn wrong(&self, node: &Node, key: &str, expected: &str) {
        let message = format!("`{key}` must be {expected}, but this is {}", node.value.kind());
        self.error(Diagnostic::new(&node.place, message).label(format!("expected {expected}")));
    }

    fn number(&self, table: &Table, key: &str, default: f64, [low, high]: [f64; 2]) -> f64 {
        let Some(Entry { node, .. }) = table.get(key) else { return default };
        match node.value.number() {
            Some(number) if (low..=high).contains(&number) => number,
            Some(number) => {
                let message = format!("`{key}` must be from {low} to {high}, but it is {number}");
                self.error(Diagnostic::new(&node.place, message).label("out of range"));
                default
            }
            None => {
                self.wrong(node, key, "a number");
                default
            }
        }
    }

    fn size(&self, table: &Table) -> [u32; 2] {
        let Some(Entry { node, .. }) = table.get("size") else { return [640, 360] };
        let numbers: Vec<f64> = match &node.value {
            Value::List(list) => list.iter().filter_map(|node| node.value.number()).collect(),
            _ => Vec::new(),
        };
        match numbers[..] {
            [width, height] if [width, height].iter().all(|n| (16.0..=8192.0).contains(n) && n.fract() == 0.0) => {
                [width as u32, height as u32]
            }
            _ => {
                let message = "`size` must be two integers from 16 to 8192, e.g. [640, 360]";
                self.error(Diagnostic::new(&node.place, message).label("expected columns and rows"));
                [640, 360]
            }
        }
    }

    fn quality(&self, table: &Table) -> String {
        match table.get("quality").map(|entry| &entry.node) {
            None => "preview".to_owned(),
            Some(Node { value: Value::Text(text), .. }) if text == "preview" || text == "full" => text.clone(),
            Some(node) => {
                let message = "`quality` must be \"preview\" or \"full\"";
                self.error(Diagnostic::new(&node.place, message).label("unknown quality"));
                "preview".to_owned()
            }
        }
    }

    /// Text of the base scene, and the folder of its files.
    fn scene(&self, table: &Table) -> (String, PathBuf) {
        let here = || self.folder.to_owned();
        let Some(Entry { node, .. }) = table.get("scene") else { return (SCENES[0].1.to_owned(), here()) };
        let Value::Text(name) = &node.value else {
            self.wrong(node, "scene", "a built-in scene or a scene file");
            return (SCENES[0].1.to_owned(), here());
        };
        if let Some((_, text)) = SCENES.into_iter().find(|(known, _)| known == name) {
            return (text.to_owned(), here());
        }
        let path = self.folder.join(name);
        match sessile_input::read(&path, sessile_input::MAX_TEXT).map(String::from_utf8) {
            Ok(Ok(text)) => (text, path.parent().unwrap_or(self.folder).to_owned()),
            _ => {
                let names: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
                self.error(
                    Diagnostic::new(&node.place, format!("there is no scene `{name}`"))
                        .label("neither built in nor a file beside the spec")
                        .help(format!("built in are {}; otherwise give a scene file", names.join(", "))),
                );
                (SCENES[0].1.to_owned(), here())
            }
        }
    }

    /// The photographs, sorted in each folder.
    fn backdrops(&self, table: &Table) -> Vec<PathBuf> {
        let Some(Entry { node, .. }) = table.get("backdrops") else {
            let start = table.entries.first().map_or(Place { source: 0, start: 0, end: 0 }, |e| e.key_place.clone());
            let missing = Diagnostic::new(&start, "the spec needs `backdrops`").label("missing");
            self.error(
                missing.help("add backdrops = \"photos\": a folder of photographs, or a list of files and folders"),
            );
            return Vec::new();
        };
        let nodes = match &node.value {
            Value::List(list) => list.iter().collect(),
            _ => vec![node],
        };
        nodes.into_iter().flat_map(|node| self.photographs(node)).collect()
    }

    fn photographs(&self, node: &Node) -> Vec<PathBuf> {
        let Value::Text(name) = &node.value else {
            self.wrong(node, "backdrops", "a folder or an image file");
            return Vec::new();
        };
        let path = self.folder.join(name);
        if path.is_dir() {
            let mut found = photographs_in(&path);
            found.sort();
            if found.is_empty() {
                let message = format!("the folder `{name}` has no photographs");
                self.error(Diagnostic::new(&node.place, message).label("expected files ending in .jpg, .png or .exr"));
            }
            return found;
        }
        match sessile_images::Image::read(&path) {
            Ok(_) => vec![path],
            Err(sessile_images::ImageError::Format) if has_extension(&path, &["exr"]) => vec![path],
            Err(error) => {
                let message = format!("the photograph `{name}` cannot be used: {error}");
                self.error(
                    Diagnostic::new(&node.place, message).label("expected a PNG, JPEG or EXR image or a folder"),
                );
                Vec::new()
            }
        }
    }

    /// A distribution as text, or a plain number.
    fn distribution(&self, node: &Node, key: &str) -> Option<Distribution> {
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer { digits, .. } => digits.clone(),
            Value::Float(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            _ => {
                self.wrong(node, key, "a value or a distribution such as \"uniform(1, 2) mm\"");
                return None;
            }
        };
        let parsed = Distribution::parse(&text);
        parsed
            .map_err(|reason| self.error(Diagnostic::new(&node.place, format!("`{key}`: {reason}")).label("here")))
            .ok()
    }

    fn vary(&self, table: &Table, places: &mut Places) -> Vec<(String, Distribution)> {
        let mut found = Vec::new();
        match table.get("vary").map(|entry| &entry.node) {
            None => (),
            Some(Node { value: Value::Table(inner), .. }) => self.vary_in(inner, "", &mut found, places),
            Some(node) => self.wrong(node, "vary", "a table of scene keys"),
        }
        found
    }

    fn vary_in(&self, table: &Table, path: &str, found: &mut Vec<(String, Distribution)>, places: &mut Places) {
        for Entry { key, node, .. } in &table.entries {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            if let Value::Table(inner) = &node.value {
                self.vary_in(inner, &path, found, places);
            } else if let Some(distribution) = self.distribution(node, &path) {
                found.push((path, distribution));
                places.vary.push(node.place.clone());
            }
        }
    }

    fn drops(&self, table: &Table, on: &str, places: &mut Places) -> Vec<DropSpec> {
        let default = || {
            let (process, _, keys) = PROCESS_KEYS[2];
            vec![DropSpec { process, weight: 1.0, on: on.to_owned(), values: defaults(keys) }]
        };
        let Some(Entry { node, .. }) = table.get("drops") else {
            places.drops.push((Place { source: 0, start: 0, end: 0 }, BTreeMap::new()));
            return default();
        };
        let Value::List(list) = &node.value else {
            self.wrong(node, "drops", "a list of tables, [[drops]]");
            return default();
        };
        let found: Vec<DropSpec> = list.iter().filter_map(|node| self.drop_spec(node, on, places)).collect();
        if found.iter().map(|drops| drops.weight).sum::<f64>() > 0.0 { found } else { default() }
    }

    fn drop_spec(&self, node: &Node, on: &str, places: &mut Places) -> Option<DropSpec> {
        let Value::Table(table) = &node.value else {
            self.wrong(node, "drops", "a table");
            return None;
        };
        let by = table.get("by").map(|entry| &entry.node);
        let known = |name: &str| PROCESS_KEYS.into_iter().find(|(_, known, _)| *known == name);
        let Some((process, name, keys)) = by.and_then(|node| match &node.value {
            Value::Text(text) => known(text),
            _ => None,
        }) else {
            let place = by.map_or(&node.place, |node| &node.place);
            let message = "[[drops]] needs by = \"rain\", \"dew\", \"scatter\" or \"scene\"";
            self.error(Diagnostic::new(place, message).label("how drops come about"));
            return None;
        };
        let names: Vec<&str> = ["by", "weight", "on"].into_iter().chain(keys.iter().map(|(key, _)| *key)).collect();
        self.unknown_keys(table, &format!("[[drops]] by \"{name}\""), &names);
        let mut values = defaults(keys);
        let mut at = BTreeMap::new();
        for (key, _) in keys {
            if let Some(entry) = table.get(key) {
                let read = self.distribution(&entry.node, key);
                values.extend(read.map(|distribution| ((*key).to_owned(), distribution)));
                at.insert((*key).to_owned(), entry.node.place.clone());
            }
        }
        let on = match table.get("on").map(|entry| &entry.node.value) {
            Some(Value::Text(name)) => name.clone(),
            _ => on.to_owned(),
        };
        at.extend(table.get("on").map(|entry| ("on".to_owned(), entry.node.place.clone())));
        places.drops.push((node.place.clone(), at));
        Some(DropSpec { process, weight: self.number(table, "weight", 1.0, [0.0, 1e9]), on, values })
    }
}

fn defaults(keys: Keys) -> BTreeMap<String, Distribution> {
    let default = |&(key, value): &(&str, Option<&str>)| Some((key.to_owned(), Distribution::parse(value?).ok()?));
    keys.iter().filter_map(default).collect()
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
}

fn photographs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_file() && has_extension(path, &PHOTOGRAPHS)).collect()
}
