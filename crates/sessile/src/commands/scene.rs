//! Reads the scene that a command names: a file, or a built-in scene.

use std::path::{Path, PathBuf};

use sessile_import::{is_importable, is_model};
use sessile_scene::{Folder, Parsed, Scene, parse_file, parse_str};
use sessile_sim::scenes::{SCENES, ShippedScene};

use crate::args::SceneArgs;
use crate::failure::Failure;
use crate::stderr;

/// The scene with its overrides applied; warnings go to standard error.
pub fn load(args: &SceneArgs) -> Result<Scene, Failure> {
    let parsed = read(&args.scene, &overrides(args))?;
    if !parsed.warnings.is_empty() {
        stderr::line(&parsed.warnings.to_string());
    }
    Ok(parsed.scene)
}

/// All overrides of the command line, `--model` first.
pub fn overrides(args: &SceneArgs) -> Vec<String> {
    let model = args.model.iter().map(|model| format!("model=\"{model}\""));
    model.chain(args.sets.iter().cloned()).collect()
}

/// The scene with the given overrides, and its warnings.
pub fn read(path: &Path, sets: &[String]) -> Result<Parsed, Failure> {
    if path.is_file() && is_model(path) {
        return Err(Failure::wrong(model_instead_of_scene(path)));
    }
    if path.exists() {
        return parse_file(path, sets).map_err(Failure::wrong);
    }
    let Some(shipped) = path.to_str().and_then(|name| SCENES.iter().find(|scene| scene.name == name)) else {
        return Err(Failure::wrong(missing(path)));
    };
    // Files that a built-in scene names are relative to the current folder.
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    parse_str(&format!("{} (built-in scene)", shipped.name), shipped.text, sets, &Folder::new(&here))
        .map_err(Failure::wrong)
}

/// Says what to do with a model in place of a scene.
fn model_instead_of_scene(path: &Path) -> String {
    let (model, scene) = (path.to_string_lossy(), path.with_extension("toml"));
    let scene = super::quoted(&scene.to_string_lossy());
    let advice = if is_importable(path) {
        format!(
            "`sessile import {} --as {scene}` creates a scene with it, which `sessile run {scene}` runs",
            super::quoted(&model)
        )
    } else {
        "save it as USD (.usdc), glTF (.glb) or OBJ in the program it comes from; `sessile import` creates a scene from \
         such a file"
            .to_owned()
    };
    format!("{model} is a 3D model, not a scene: {advice}")
}

fn missing(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match ShippedScene::find(&stem) {
        Ok(_) => format!(
            "no such file: {}; `sessile run {stem}` runs the built-in scene of that name, \
             `sessile scenes {stem} > {stem}.toml` saves it",
            path.display()
        ),
        Err(unknown) => {
            format!("no such file: {}; no built-in scene has that name either; {}", path.display(), unknown.hint())
        }
    }
}
