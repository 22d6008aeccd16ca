//! Which keys each table of a scene has.
//!
//! The reader asks only for keys listed here, so the list is complete; suggestions, the reference page's test and the
//! "belongs to" hints come from it.

/// One table.
pub(crate) struct TableSchema {
    /// As written in a scene, for messages: `[time]`, `[[solids]]`.
    pub title: &'static str,
    /// Keys that are always valid.
    pub keys: &'static [&'static str],
    /// The key that chooses a variant; empty when there are none.
    pub variant_key: &'static str,
    /// Further keys of each variant.
    pub variants: &'static [(&'static str, &'static [&'static str])],
}

const fn table(title: &'static str, keys: &'static [&'static str]) -> TableSchema {
    TableSchema { title, keys, variant_key: "", variants: &[] }
}

pub(crate) static SCENE: TableSchema = table(
    "the scene",
    &[
        "title",
        "model",
        "fidelity",
        "seed",
        "time",
        "liquid",
        "world",
        "domain",
        "resolution",
        "materials",
        "solids",
        "drops",
        "emitters",
        "pane",
        "droplet",
        "surface",
        "volume",
        "camera",
        "lights",
        "render",
        "output",
    ],
);

pub(crate) static TIME: TableSchema = table("[time]", &["duration", "frame", "settle"]);
pub(crate) static LIQUID: TableSchema =
    table("[liquid]", &["preset", "density", "viscosity", "surface_tension", "refractive_index"]);
pub(crate) static WORLD: TableSchema = table("[world]", &["gravity", "wind", "planar"]);
pub(crate) static GRAVITY_KEY: TableSchema = table("a key of `gravity`", &["at", "value"]);
pub(crate) static DOMAIN: TableSchema = table("[domain]", &["min", "max", "x", "y", "z", "wall_material"]);
pub(crate) static RESOLUTION: TableSchema = table("[resolution]", &["cell", "edge"]);
pub(crate) static MATERIAL: TableSchema = table(
    "a material",
    &[
        "preset",
        "advancing",
        "receding",
        "wet_advancing",
        "receding_limit",
        "roughness",
        "adhesion",
        "friction",
        "affinity",
    ],
);
pub(crate) static IMAGE: TableSchema = table("an image", &["image", "black", "white"]);

pub(crate) static SOLID: TableSchema = TableSchema {
    title: "[[solids]]",
    keys: &["name", "material", "shape", "rotate", "move", "motion", "look", "texture"],
    variant_key: "shape",
    variants: &[
        ("plane", &["point", "normal", "size"]),
        ("box", &["min", "max"]),
        ("sphere", &["center", "radius", "inside"]),
        ("cylinder", &["from", "to", "radius", "wall"]),
        ("leaf", &["point", "axis", "angle", "size"]),
        ("mesh", &["file", "height", "scale"]),
    ],
};
pub(crate) static MOTION: TableSchema = table("a key of `motion`", &["at", "move", "rotate"]);

pub(crate) static DROP: TableSchema = TableSchema {
    title: "[[drops]]",
    keys: &["shape", "velocity"],
    variant_key: "shape",
    variants: &[
        ("sphere", &["center", "volume", "area", "radius", "mode", "amplitude", "axis"]),
        ("cap", &["on", "center", "volume", "area", "radius", "contact_angle"]),
        ("box", &["min", "max"]),
        ("cylinder", &["from", "to", "radius", "amplitude", "wavelength"]),
        ("mesh", &["file", "height", "scale", "rotate", "move"]),
    ],
};

pub(crate) static EMITTER: TableSchema = TableSchema {
    title: "[[emitters]]",
    keys: &["kind", "start", "stop"],
    variant_key: "kind",
    variants: &[
        ("drip", &["at", "radius", "every", "velocity"]),
        ("tap", &["at", "direction", "radius", "speed"]),
        ("rain", &["over", "rate", "radius", "velocity"]),
        ("dew", &["on", "rate"]),
        ("feed", &["at", "rate"]),
    ],
};
pub(crate) static RAIN_BOX: TableSchema = table("the box of `over`", &["min", "max"]);
pub(crate) static RAIN_RADIUS: TableSchema = table("the range of `radius`", &["min", "max"]);

pub(crate) static PANE: TableSchema = table("[pane]", &["cell", "fine", "static_weight", "dynamic_weight", "residue"]);
pub(crate) static DROPLET: TableSchema = table("[droplet]", &["friction", "slices", "levels", "springs"]);
pub(crate) static SPRINGS: TableSchema = table("[droplet.springs]", &["longitudinal", "transverse", "guide", "volume"]);
pub(crate) static SURFACE: TableSchema =
    table("[surface]", &["mu", "eta", "friction", "alpha", "gamma", "volume_correction", "self_collision", "dt"]);
pub(crate) static VOLUME: TableSchema =
    table("[volume]", &["curvature", "pressure_order", "dt", "static_speed", "slip"]);
pub(crate) static CAMERA: TableSchema =
    table("[camera]", &["position", "look_at", "fov", "follow", "aperture", "focus"]);
pub(crate) static LIGHTS: TableSchema = table("[lights]", &["environment", "strength", "sun", "area"]);
pub(crate) static SUN: TableSchema = table("[lights.sun]", &["direction", "color", "angle"]);
pub(crate) static AREA_LIGHT: TableSchema = table("[[lights.area]]", &["center", "look_at", "size", "color"]);
pub(crate) static RENDER: TableSchema =
    table("[render]", &["size", "samples", "denoise", "shutter", "exposure", "fps"]);
pub(crate) static OUTPUT: TableSchema = table("[output]", &["fields"]);

/// Every table.
pub(crate) static ALL: &[&TableSchema] = &[
    &SCENE,
    &TIME,
    &LIQUID,
    &WORLD,
    &GRAVITY_KEY,
    &DOMAIN,
    &RESOLUTION,
    &MATERIAL,
    &IMAGE,
    &SOLID,
    &MOTION,
    &DROP,
    &EMITTER,
    &RAIN_BOX,
    &RAIN_RADIUS,
    &PANE,
    &DROPLET,
    &SPRINGS,
    &SURFACE,
    &VOLUME,
    &CAMERA,
    &LIGHTS,
    &SUN,
    &AREA_LIGHT,
    &RENDER,
    &OUTPUT,
];

impl TableSchema {
    /// The keys that are valid in this table when it is this variant (any variant when not known).
    pub(crate) fn valid(&self, variant: Option<&str>) -> impl Iterator<Item = &'static str> {
        let chosen = self
            .variants
            .iter()
            .filter(move |(name, _)| variant.is_none_or(|v| v == *name))
            .flat_map(|(_, keys)| keys.iter());
        self.keys.iter().chain(chosen).copied()
    }

    /// The variants that have a key.
    pub(crate) fn variants_with(&self, key: &str) -> Vec<&'static str> {
        self.variants.iter().filter(|(_, keys)| keys.contains(&key)).map(|(name, _)| *name).collect()
    }
}

/// Tables, other than `here`, that have a key whatever their variant.
pub(crate) fn tables_with(key: &str, here: &TableSchema) -> Vec<&'static str> {
    ALL.iter()
        .filter(|t| !std::ptr::eq::<TableSchema>(**t, here) && t.title.starts_with('['))
        .filter(|t| t.valid(None).any(|k| k == key))
        .map(|t| t.title)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFiles, parse_str};

    fn reference() -> String {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.md");
        std::fs::read_to_string(path).unwrap()
    }

    /// The part of the reference under the heading that names a table; all of it for tables without one.
    fn part<'d>(page: &'d str, title: &str) -> &'d str {
        let parent = title.trim_matches(['[', ']']).split('.').next().unwrap_or("");
        let heading = ["[[", "["].iter().find_map(|open| {
            let close = open.replace('[', "]");
            ["## ", "### "].iter().find_map(|level| page.find(&format!("\n{level}`{open}{parent}{close}`")))
        });
        let Some(start) = heading else { return page };
        let rest = &page[start + 1..];
        rest.find("\n## ").map_or(rest, |end| &rest[..end])
    }

    #[test]
    fn the_reference_mentions_every_key_and_unit() {
        let page = reference();
        for table in ALL {
            let part = part(&page, table.title);
            for key in table.valid(None) {
                assert!(part.contains(&format!("`{key}`")), "docs/scene.md: {} lacks `{key}`", table.title);
            }
            for (variant, _) in table.variants {
                assert!(part.contains(&format!("`\"{variant}\"`")), "docs/scene.md: {} lacks {variant}", table.title);
            }
        }
        for symbol in crate::units::symbols() {
            assert!(page.contains(&format!("`{symbol}`")), "docs/scene.md lacks the unit {symbol}");
        }
        let names =
            crate::Look::NAMES.iter().chain(crate::TexturePattern::NAMES).chain(crate::EnvironmentPreset::NAMES);
        for name in names {
            assert!(page.contains(&format!("`\"{name}\"`")), "docs/scene.md lacks \"{name}\"");
        }
    }

    #[test]
    fn the_examples_of_the_reference_are_right() {
        let page = reference();
        let mut seen = 0;
        for block in page.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap_or("");
            let start = "model = \"volume\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n";
            let text = if block.contains("model =") { block.to_owned() } else { format!("{start}{block}") };
            parse_str("docs/scene.md", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
            seen += 1;
        }
        assert!(seen >= 8, "only {seen} examples");
    }
}
