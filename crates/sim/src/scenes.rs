//! Example scenes that ship with the program, as text.

use crate::suggest::suggest;

/// An example scene that ships with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedScene {
    /// Name: stem of its file.
    pub name: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedScene { name: $name, text: include_str!(concat!("../../../scenes/", $name, ".toml")) }),*]
    };
}

/// All scenes that ship, by name. The files that they name are part of the program.
pub const SCENES: &[ShippedScene] = shipped![
    "adhesion",
    "affinity",
    "angles",
    "backlit-leaf",
    "bar",
    "bottle",
    "bunny",
    "bunny-rivulet",
    "capillary",
    "car-paint",
    "caustic",
    "cold-bottle",
    "collide",
    "contact-angles",
    "dripping-figurine",
    "figurine",
    "fine-grid",
    "illumination",
    "leaf",
    "lotus",
    "lotus-drops",
    "masses",
    "merge",
    "merging-drops",
    "night-lens",
    "panes",
    "pendant",
    "pinch-off",
    "pipe",
    "rain-on-bunny",
    "rain-trails",
    "resting",
    "rivulet",
    "roughness",
    "shapes",
    "shapes-top",
    "splat",
    "streak",
    "streams",
    "tap",
    "tear",
    "viscosities",
    "window",
    "window-drops",
];

/// Error for a name that no built-in scene has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scene `{wanted}`; {hint}")]
pub struct UnknownScene {
    wanted: String,
    hint: String,
}

impl UnknownScene {
    /// Similar names, or all names.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl ShippedScene {
    /// The scene called `name`.
    pub fn find(name: &str) -> Result<Self, UnknownScene> {
        SCENES.iter().find(|scene| scene.name == name).copied().ok_or_else(|| {
            let names = SCENES.iter().map(|scene| scene.name);
            let hint = suggest(name, names, "there are");
            UnknownScene { wanted: name.to_owned(), hint }
        })
    }

    /// Value of its `title` key.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title"));
        line.and_then(|rest| rest.split('"').nth(1)).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_scene_ships_names_only_built_in_files_and_has_a_title() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        let mut files: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(SCENES.iter().map(|scene| scene.name).collect::<Vec<_>>(), files);
        for scene in SCENES {
            assert!(!scene.title().is_empty(), "{} has no title", scene.name);
            let own_files = scene.text.lines().filter(|line| line.contains("file = ") && !line.contains("builtin:"));
            assert_eq!(own_files.count(), 0, "{} names files that do not ship", scene.name);
        }
    }
}
