//! Materials: those of the scene, and presets that a solid or wall refers to.

use std::collections::{BTreeMap, BTreeSet};

use sessile_wetting::Wetting;
use sessile_wetting::materials::{default_adhesion, default_affinity};

use crate::diagnostics::Diagnostic;
use crate::field::Value as FieldValue;
use crate::presets;
use crate::quantities::ANGLE;
use crate::reader::Section;
use crate::schema::MATERIAL;
use crate::source::Place;
use crate::tree::{Node, Value, shortened};
use crate::types::{Domain, Material, Solid, Varying};

/// Materials in use: those of the scene, then presets in order of use.
#[derive(Default)]
pub(super) struct Library {
    materials: Vec<Material>,
    by_name: BTreeMap<String, usize>,
    /// Names of materials with an angle from a preset, which is for water.
    as_for_water: BTreeSet<String>,
}

impl Library {
    /// The scene's own materials.
    pub(super) fn read(top: &Section<'_>) -> Self {
        let mut library = Self::default();
        let Some(node) = top.node("materials") else { return library };
        let Value::Table(table) = &node.value else {
            top.cx.error(
                Diagnostic::new(
                    &node.place,
                    format!("`materials` must be a table of materials, but this is {}", node.value.kind()),
                )
                .label("expected tables")
                .help("write [materials.wax] and its keys below"),
            );
            return library;
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
            let section = Section::new(top.cx, &MATERIAL, entry.node.place.clone(), Some(inner));
            library.add(material(&section, &entry.key));
            if section.has("preset") && !(section.has("advancing") && section.has("receding")) {
                library.as_for_water.insert(entry.key.clone());
            }
            section.finish();
        }
        library
    }

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

    /// The material that a section's key names, or the default.
    pub(super) fn named(&mut self, section: &Section<'_>, key: &str) -> String {
        let name = section.value::<String>(key);
        if !self.ensure(&name) {
            self.unknown(section, key, &name);
        }
        name
    }

    pub(super) fn use_wall(&mut self, top: &Section<'_>, domain: Option<&Domain>) {
        let Some(name) = domain.and_then(|d| d.wall_material.as_deref()) else { return };
        if !self.ensure(name) {
            let section = top.section("domain");
            self.unknown(&section, "wall_material", name);
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

    pub(super) fn get(&self, name: &str) -> Option<&Material> {
        self.by_name.get(name).map(|i| &self.materials[*i])
    }

    /// Warns of preset contact angles, which are for water, with another liquid.
    pub(super) fn warn_of_other_liquids(
        &self,
        top: &Section<'_>,
        preset: &str,
        solids: &[Solid],
        domain: Option<&Domain>,
    ) {
        if preset == presets::default_liquid().name {
            return;
        }
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

    pub(super) fn into_materials(self) -> Vec<Material> {
        self.materials
    }
}

fn from_preset(name: &str, wetting: &Wetting) -> Material {
    Material {
        name: name.to_owned(),
        advancing: Varying::Uniform(wetting.advancing),
        receding: Varying::Uniform(wetting.receding),
        wet_advancing: wetting.wet_advancing.map(Varying::Uniform),
        receding_limit: wetting.receding_limit,
        roughness: wetting.roughness,
        adhesion: wetting.adhesion,
        friction: None,
        affinity: Varying::Uniform(wetting.affinity),
    }
}

fn material(section: &Section<'_>, name: &str) -> Material {
    let preset = section.get::<String>("preset").and_then(|preset| {
        let found = presets::material(&preset);
        if found.is_none() {
            section.unknown_word(
                "preset",
                &preset,
                "a material's preset",
                presets::material_names(),
                "`sessile materials` lists them",
            );
        }
        found
    });
    let advancing = varying(section, "advancing");
    let receding = varying(section, "receding");
    let base = match preset {
        Some(preset) => from_preset(name, &preset),
        None => plain(name, advancing.as_ref(), receding.as_ref()),
    };
    let material = Material {
        name: name.to_owned(),
        advancing: advancing.unwrap_or(base.advancing),
        receding: receding.unwrap_or(base.receding),
        wet_advancing: varying(section, "wet_advancing").or(base.wet_advancing),
        receding_limit: section.get("receding_limit").or(base.receding_limit),
        roughness: roughness(section).unwrap_or(base.roughness),
        adhesion: section.get("adhesion").unwrap_or(base.adhesion),
        friction: section.get("friction"),
        affinity: varying(section, "affinity").unwrap_or(base.affinity),
    };
    check_order(section, &material);
    material
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
        roughness: [0.0; 2],
        adhesion: default_adhesion(mean),
        friction: None,
        affinity,
    }
}

/// A number, or an image between two numbers.
fn varying(section: &Section<'_>, key: &str) -> Option<Varying> {
    let node = section.node(key)?;
    if !matches!(node.value, Value::Table(_)) {
        return section.get(key).map(Varying::Uniform);
    }
    let image = section.section(key);
    let (file, black, white) = (image.get("image"), image.get("black"), image.get("white"));
    image.finish();
    Some(Varying::Image { file: file?, black: black?, white: white? })
}

fn roughness(section: &Section<'_>) -> Option<[f64; 2]> {
    let node = section.node("roughness")?;
    let one = |node: &Node| f64::read(section, section.key("roughness"), node);
    match &node.value {
        Value::List(list) if list.len() == 2 => {
            let [u, v] = [one(&list[0]), one(&list[1])];
            Some([u?, v?])
        }
        Value::List(_) => {
            section.complain(
                "roughness",
                "`roughness` must be one bump height, or two along the surface's u and v",
                "expected one or two lengths, e.g. [\"20 um\", \"5 um\"]",
            );
            None
        }
        _ => one(node).map(|r| [r, r]),
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
