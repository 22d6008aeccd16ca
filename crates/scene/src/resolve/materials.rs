//! Materials: those of the scene, and presets that a solid or wall refers to.

use std::collections::{BTreeMap, BTreeSet};

use sessile_wetting::Wetting;
use sessile_wetting::materials::{default_adhesion, default_affinity};

use crate::diagnostics::Diagnostic;
use crate::field::{Fields, Format, Group, Value as FieldValue};
use crate::presets;
use crate::print::Document;
use crate::quantities::ANGLE;
use crate::reader::Section;
use crate::schema::Key;
use crate::source::Place;
use crate::tree::{Node, Value, shortened};
use crate::types::{Material, Scene, Varying};

/// Materials in use: those of the scene, then presets in order of use.
#[derive(Default)]
pub(crate) struct Library {
    materials: Vec<Material>,
    by_name: BTreeMap<String, usize>,
    /// Names of materials with an angle from a preset, which is for water.
    as_for_water: BTreeSet<String>,
}

impl Library {
    fn add(&mut self, material: Material) {
        self.by_name.insert(material.name.clone(), self.materials.len());
        self.materials.push(material);
    }

    /// Adds the preset of a name unless the material exists; `false` if the name is unknown.
    fn ensure(&mut self, name: &str) -> bool {
        if self.by_name.contains_key(name) {
            return true;
        }
        let Some(wetting) = presets::material(name) else { return false };
        self.add(from_preset(name, &wetting));
        self.as_for_water.insert(name.to_owned());
        true
    }

    /// Records an unknown name, and adds the preset of a known one.
    fn refer(&mut self, section: &Section<'_>, key: &str, name: &str) {
        if !self.ensure(name) {
            self.unknown(section, key, name);
        }
    }

    fn unknown(&self, section: &Section<'_>, key: &str, name: &str) {
        let own = self.by_name.keys().map(String::as_str);
        let shipped = presets::material_names().map(|preset| -> &str { preset });
        let near = crate::suggest::nearest(name, own.chain(shipped));
        let own: Vec<&str> = self.by_name.keys().take(8).map(String::as_str).collect();
        let help = match near {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if own.is_empty() => "write [materials.NAME], or use one of `sessile materials`".to_owned(),
            None => format!("this scene has {}; `sessile materials` lists more", own.join(", ")),
        };
        section.cx.error(
            Diagnostic::new(&section.place_of(key), format!("unknown material \"{}\"", shortened(name)))
                .label("neither in [materials] nor a preset")
                .help(help),
        );
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Material> {
        self.by_name.get(name).map(|i| &self.materials[*i])
    }

    /// Adds the material of the walls, and checks the materials against the liquid.
    pub(super) fn complete(mut self, top: &Section<'_>, scene: &Scene) -> Vec<Material> {
        if let Some(name) = scene.domain.as_ref().and_then(|domain| domain.wall_material.as_deref()) {
            self.refer(&top.section("domain"), "wall_material", name);
        }
        self.warn_of_other_liquids(top, scene);
        self.materials
    }

    /// Warns of preset contact angles, which are for water, with another liquid.
    fn warn_of_other_liquids(&self, top: &Section<'_>, scene: &Scene) {
        let preset = scene.liquid_preset.name;
        if preset == presets::default_liquid().name {
            return;
        }
        let (solids, domain) = (&scene.solids, scene.domain.as_ref());
        let walls = domain.and_then(|d| d.wall_material.as_deref());
        let used: BTreeSet<&str> = solids.iter().map(|solid| solid.material.as_str()).chain(walls).collect();
        let kept: Vec<&str> = used.into_iter().filter(|name| self.as_for_water.contains(*name)).collect();
        if kept.is_empty() {
            return;
        }
        let names: Vec<String> = kept.iter().take(8).map(|name| format!("\"{}\"", shortened(name))).collect();
        let (verb, more) = (if kept.len() == 1 { "keeps" } else { "keep" }, if kept.len() > 8 { ", …" } else { "" });
        let section = top.section("liquid");
        top.cx.warn(
            Diagnostic::new(
                &section.place_of("preset"),
                format!("{}{more} {verb} the contact angles of water, but the liquid is {preset}", names.join(", ")),
            )
            .label("has other contact angles")
            .help("give the material's own `advancing` and `receding` for this liquid in [materials.NAME]"),
        );
    }
}

/// `[materials]`: the scene's own materials.
pub(crate) struct Materials;

impl Format<Vec<Material>> for Materials {
    /// Reads the materials into the library; the scene gets them when all that it uses are known.
    fn given(top: &Section<'_>, name: &'static str) -> Option<Vec<Material>> {
        let node = top.node(name)?;
        let Value::Table(table) = &node.value else {
            top.cx.error(
                Diagnostic::new(
                    &node.place,
                    format!("`materials` must be a table of materials, but this is {}", node.value.kind()),
                )
                .label("expected tables")
                .help("write [materials.wax] and its keys below"),
            );
            return None;
        };
        for entry in &table.entries {
            let Value::Table(inner) = &entry.node.value else {
                top.cx.error(
                    Diagnostic::new(
                        &entry.node.place,
                        format!(
                            "a material must be a table, but `{}` is {}",
                            shortened(&entry.key),
                            entry.node.value.kind()
                        ),
                    )
                    .label("expected a table")
                    .help("write [materials.NAME] and its keys below"),
                );
                continue;
            };
            if entry.key.trim().is_empty() {
                top.cx.error(Diagnostic::new(&entry.key_place, "missing name of a material").label("empty"));
            }
            let mut section = Section::new(top.cx, Material::TABLE, entry.node.place.clone(), Some(inner));
            section.name = &entry.key;
            let material = Fields::read(&section);
            let mut library = top.cx.scope.library.borrow_mut();
            library.add(material);
            if section.has("preset") && !(section.has("advancing") && section.has("receding")) {
                library.as_for_water.insert(entry.key.clone());
            }
        }
        None
    }

    fn print(materials: &Vec<Material>, out: &mut Document<'_>, name: &'static str) {
        materials.iter().for_each(|material| out.named(name, &material.name, material));
    }

    fn placeholder() -> Vec<Material> {
        Vec::new()
    }
}

/// The name of a table in a table of tables, which is in its header.
pub(crate) struct TableName;

impl Group<String> for TableName {
    const KEYS: &'static [Key] = &[];

    fn read(section: &Section<'_>) -> String {
        section.name.to_owned()
    }

    fn print(_: &String, _: &mut Document<'_>) {}
}

/// The name of a material; that of a preset adds the preset to the scene.
pub(crate) struct MaterialName;

impl Format<String> for MaterialName {
    fn given(section: &Section<'_>, name: &'static str) -> Option<String> {
        let text: String = section.value(name);
        section.cx.scope.library.borrow_mut().refer(section, name, &text);
        Some(text)
    }

    fn print(value: &String, out: &mut Document<'_>, name: &'static str) {
        out.value(name, value);
    }

    fn placeholder() -> String {
        String::new()
    }
}

fn from_preset(name: &str, wetting: &Wetting) -> Material {
    Material {
        name: name.to_owned(),
        advancing: Varying::Uniform(wetting.advancing),
        receding: Varying::Uniform(wetting.receding),
        wet_advancing: wetting.wet_advancing.map(Varying::Uniform),
        receding_limit: wetting.receding_limit,
        roughness: wetting.roughness.map(Varying::Uniform),
        adhesion: Varying::Uniform(wetting.adhesion),
        friction: None,
        affinity: Varying::Uniform(wetting.affinity),
    }
}

/// What a material has where a section does not say otherwise: its preset's values, or those that
/// follow from its angles.
pub(crate) fn base(section: &Section<'_>) -> Material {
    match section.given::<String>("preset").and_then(|preset| presets::material(&preset)) {
        Some(preset) => from_preset(section.name, &preset),
        None => plain(section.name, section.given("advancing").as_ref(), section.given("receding").as_ref()),
    }
}

/// Checks the preset and the angles of a material.
pub(crate) fn check(section: &Section<'_>, material: &mut Material) {
    if let Some(preset) = section.get::<String>("preset")
        && presets::material(&preset).is_none()
    {
        section.unknown_word(
            "preset",
            &preset,
            "a material's preset",
            presets::material_names(),
            "`sessile materials` lists them",
        );
    }
    check_order(section, material);
}

/// A material without a preset: one given angle means no hysteresis, none means 90°. Adhesion and
/// affinity follow from the advancing angle.
fn plain(name: &str, advancing: Option<&Varying>, receding: Option<&Varying>) -> Material {
    let right_angle = Varying::Uniform(90f64.to_radians());
    let advancing = advancing.or(receding).unwrap_or(&right_angle);
    let (mean, affinity) = match advancing {
        Varying::Uniform(angle) => (*angle, Varying::Uniform(default_affinity(*angle))),
        Varying::Image { file, black, white } => {
            let [dark, light] = [*black, *white].map(default_affinity);
            (0.5 * (black + white), Varying::Image { file: file.clone(), black: dark, white: light })
        }
    };
    Material {
        name: name.to_owned(),
        advancing: advancing.clone(),
        receding: receding.unwrap_or(advancing).clone(),
        wet_advancing: None,
        receding_limit: None,
        roughness: [0.0; 2].map(Varying::Uniform),
        adhesion: Varying::Uniform(default_adhesion(mean)),
        friction: None,
        affinity,
    }
}

/// A number, or an image between two numbers.
impl FieldValue for Varying {
    fn read(section: &Section<'_>, key: &'static Key, node: &Node) -> Option<Self> {
        if !matches!(node.value, Value::Table(_)) {
            return f64::read(section, key, node).map(Self::Uniform);
        }
        let image = section.section(key.name);
        let (file, black, white) = (image.get("image"), image.get("black"), image.get("white"));
        image.finish();
        Some(Self::Image { file: file?, black: black?, white: white? })
    }

    fn text(&self, key: &Key) -> String {
        match self {
            Self::Uniform(value) => value.text(key),
            Self::Image { file, black, white } => {
                let (file, black, white) = (file.text(key), black.text(key), white.text(key));
                format!("{{ image = {file}, black = {black}, white = {white} }}")
            }
        }
    }

    fn placeholder() -> Self {
        Self::Uniform(f64::placeholder())
    }
}

/// One quantity, a list of two, or an image that applies to both.
pub(crate) struct OneOrTwo;

impl Format<[Varying; 2]> for OneOrTwo {
    fn given(section: &Section<'_>, name: &'static str) -> Option<[Varying; 2]> {
        let node = section.node(name)?;
        let one = |node: &Node| Varying::read(section, section.key(name), node);
        match &node.value {
            Value::List(list) if list.len() == 2 && !list.iter().any(|part| matches!(part.value, Value::Table(_))) => {
                let [u, v] = [one(&list[0]), one(&list[1])];
                Some([u?, v?])
            }
            Value::List(_) => {
                section.complain(
                    name,
                    "`roughness` must be one bump height, two along the surface's u and v, or an image",
                    "expected one or two lengths, e.g. [\"20 um\", \"5 um\"]",
                );
                None
            }
            _ => one(node).map(|r| [r.clone(), r]),
        }
    }

    fn print([u, v]: &[Varying; 2], out: &mut Document<'_>, name: &'static str) {
        let key = out.key(name);
        let [u, v] = [u.text(key), v.text(key)];
        out.raw(name, if u == v { u } else { format!("[{u}, {v}]") });
    }

    fn placeholder() -> [Varying; 2] {
        [0.0; 2].map(Varying::Uniform)
    }
}

/// Checks 0 < receding ≤ wet_advancing ≤ advancing < 180°, as far as possible without reading
/// images.
fn check_order(section: &Section<'_>, material: &Material) {
    let angles = [
        ("receding", Some(&material.receding)),
        ("wet_advancing", material.wet_advancing.as_ref()),
        ("advancing", Some(&material.advancing)),
    ];
    let known: Vec<(&str, &Varying)> = angles.into_iter().filter_map(|(k, v)| Some((k, v?))).collect();
    for pair in known.windows(2) {
        let [(low_key, low), (high_key, high)] = [pair[0], pair[1]];
        let Some((a, b)) = violation(low, high) else { continue };
        if !section.has(low_key) && !section.has(high_key) {
            continue;
        }
        let show = |v: f64| crate::print::quantity_text(v, &ANGLE);
        let source = |key: &str| if section.has(key) { "" } else { " (from the preset)" };
        let both: Vec<(&str, f64, Place)> = [(low_key, a), (high_key, b)]
            .into_iter()
            .filter(|(key, _)| section.has(key))
            .map(|(key, value)| (key, value, section.place_of(key)))
            .collect();
        let message = format!(
            "`{low_key}` must not exceed `{high_key}`, but {}{} > {}{}",
            show(a),
            source(low_key),
            show(b),
            source(high_key)
        );
        let mut diagnostic = Diagnostic::new(&both[0].2, message).label(show(both[0].1));
        if let Some((_, value, place)) = both.get(1) {
            diagnostic = diagnostic.other(place, show(*value));
        }
        section.cx.error(diagnostic.help("0 < receding <= wet_advancing <= advancing < 180 deg"));
    }
}

/// A pair of values with low > high that occurs somewhere on the surface.
fn violation(low: &Varying, high: &Varying) -> Option<(f64, f64)> {
    let ends = |v: &Varying| match v {
        Varying::Uniform(x) => (*x, *x),
        Varying::Image { black, white, .. } => (*black, *white),
    };
    let ((low_black, low_white), (high_black, high_white)) = (ends(low), ends(high));
    let same_image = match (low, high) {
        (Varying::Image { file: a, .. }, Varying::Image { file: b, .. }) => a == b,
        _ => true,
    };
    if same_image {
        // Both are linear in one gray value, so the ends decide.
        return [(low_black, high_black), (low_white, high_white)].into_iter().find(|(a, b)| a > b);
    }
    let (least, most) = (low_black.min(low_white), high_black.max(high_white));
    (least > most).then_some((least, most))
}
