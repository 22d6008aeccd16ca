//! Makes a sample: simulates its scene, renders it, writes its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sessile_appearance::{Camera, Environment, Photograph, SceneAssets, SceneMaterials, frame_scene};
use sessile_frames::atomic::{self, Durability, FileError};
use sessile_model::NoTimer;
use sessile_render::{Preview, Quality, Still, StillScene, render_still, write_png, write_sample_truth};
use sessile_scene::types::Scene;
use sessile_world::SolidCache;

use crate::error::SampleError;
use crate::recipe::Recipe;

/// File of a sample's line in its folder.
pub const LINE: &str = "sample.json";

/// The images of a sample.
pub const IMAGES: [&str; 6] = ["wet.png", "clean.png", "coverage.png", "ids.png", "depth.exr", "flow.exr"];

/// A pinhole camera with x to the right, y down and z into the image. The center of the first pixel
/// is (0.5, 0.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraParameters {
    /// Focal lengths, in pixels.
    pub fx: f64,
    /// The same, vertically.
    pub fy: f64,
    /// Principal point, in pixels.
    pub cx: f64,
    /// The same, vertically.
    pub cy: f64,
    /// Position, in m.
    pub position: [f64; 3],
    /// Rows: the camera's x, y and z axis in world coordinates.
    pub world_to_camera: [[f64; 3]; 3],
    /// Diameter of the aperture, in m.
    pub aperture: f64,
    /// Focus distance, in m.
    pub focus: f64,
}

/// One line of `samples.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What the sample follows from.
    #[serde(flatten)]
    pub recipe: Recipe,
    /// The camera.
    pub camera: CameraParameters,
    /// Mean of `coverage.png`, from 0 to 1.
    pub coverage: f64,
    /// Number of drops that are visible at pixel centers.
    pub visible_drops: usize,
}

/// An environment, and its tables for previews.
type Light = (Arc<Environment>, Option<Preview>);

/// What samples share: light tables, and meshes and distance structures of solids.
#[derive(Debug, Default)]
pub struct SampleCache {
    lights: Lights,
    solids: SolidCache,
}

/// Light tables, by everything that they depend on.
#[derive(Debug, Default)]
struct Lights {
    lights: Mutex<BTreeMap<String, Light>>,
}

impl Lights {
    /// Everything that the tables depend on.
    fn key(scene: &Scene) -> String {
        format!("{:?} {:?}", scene.lights, scene.liquid.refractive_index)
    }

    fn get(&self, scene: &Scene) -> Result<Light, SampleError> {
        let mut lights = self.lights.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Self::key(scene);
        if let Some(known) = lights.get(&key) {
            return Ok(known.clone());
        }
        let environment = Environment::from_lights(&scene.lights).map_err(sessile_appearance::AppearanceError::from)?;
        // Lights that vary continuously would fill the memory.
        if lights.len() >= MAX_LIGHTS {
            lights.clear();
        }
        lights.insert(key, (Arc::new(environment), None));
        drop(lights);
        self.get(scene)
    }

    fn keep(&self, scene: &Scene, preview: Option<Preview>) {
        let mut lights = self.lights.lock().unwrap_or_else(PoisonError::into_inner);
        match (lights.get_mut(&Self::key(scene)), preview) {
            (Some((_, Some(kept))), Some(preview)) => kept.share_tables(&preview),
            (Some((_, kept)), preview) => *kept = preview,
            (None, _) => {}
        }
    }
}

/// Lights whose tables are kept.
const MAX_LIGHTS: usize = 32;

/// Makes a sample in a folder, which appears when it is complete; keeps one that exists.
pub fn make_sample(recipe: &Recipe, folder: &Path, cache: &SampleCache) -> Result<(), SampleError> {
    if folder.join(LINE).is_file() {
        return Ok(());
    }
    let (still, camera) = render(recipe, cache)?;
    let line = line(recipe, &still, &camera);
    let part = unfinished_name(folder);
    let failed = |path: &Path, cause| FileError::new("create", path, cause);
    std::fs::create_dir_all(&part).map_err(|cause| failed(&part, cause))?;
    let [width, height] = [still.truth.width, still.truth.height];
    write_png(&part.join("wet.png"), width, height, &still.wet)?;
    write_png(&part.join("clean.png"), width, height, &still.clean)?;
    write_sample_truth(&part, &still.truth, &still.coverage)?;
    let text = serde_json::to_string(&line).map_err(|error| SampleError::Recipe(error.to_string()))?;
    atomic::write(&part.join(LINE), (text + "\n").as_bytes(), Durability::Handed)?;
    match std::fs::rename(&part, folder) {
        Err(_) if folder.join(LINE).is_file() => {
            // Another process made the same sample.
            let _: std::io::Result<()> = std::fs::remove_dir_all(&part);
            Ok(())
        }
        renamed => Ok(renamed.map_err(|cause| FileError::new("rename", folder, cause))?),
    }
}

/// The temporary name of a folder, different in every process.
fn unfinished_name(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Simulates and renders a recipe.
fn render(recipe: &Recipe, cache: &SampleCache) -> Result<(Still, Camera), SampleError> {
    let (scene, world) = recipe.scene(&cache.solids)?;
    let mut model = sessile_sim::build_in(&scene, world)?.model;
    let end = if recipe.is_initial_state() { 0.0 } else { scene.time.duration };
    while end - model.time() > 1e-9 * end {
        model.step(end - model.time(), &mut NoTimer)?;
    }
    let frame = model.frame();
    let (environment, mut preview) = cache.lights.get(&scene)?;
    let materials = SceneMaterials::of(&scene).map_err(sessile_appearance::AppearanceError::from)?;
    let photograph = Photograph::open(&recipe.backdrop).map_err(sessile_appearance::AppearanceError::from)?;
    let assets = SceneAssets { materials, environment, photograph: Some(Arc::new(photograph)) };
    let camera = frame_scene(&scene, model.world(), f64::from(recipe.size[0]) / f64::from(recipe.size[1]));
    let still = StillScene {
        scene: &scene,
        assets: &assets,
        world: model.world(),
        liquid: &frame.liquid,
        wet: &frame.wet,
        camera: &camera,
    };
    let quality = if recipe.quality == "full" { Quality::Full } else { Quality::Preview };
    let still = render_still(&still, quality, &mut preview)?;
    cache.lights.keep(&scene, preview);
    Ok((still, camera))
}

fn line(recipe: &Recipe, still: &Still, camera: &Camera) -> Line {
    let mut ids = still.truth.drop.clone();
    ids.sort_unstable();
    ids.dedup();
    let coverage = still.coverage.iter().map(|&c| f64::from(c)).sum::<f64>() / still.coverage.len().max(1) as f64;
    Line {
        recipe: recipe.clone(),
        camera: parameters(camera, recipe.size),
        coverage,
        visible_drops: ids.iter().filter(|&&id| id > 0).count(),
    }
}

fn parameters(camera: &Camera, [width, height]: [u32; 2]) -> CameraParameters {
    let [right, up, forward] = camera.axes();
    let focal = 0.5 * f64::from(height) / (0.5 * camera.fov).tan();
    CameraParameters {
        fx: focal,
        fy: focal,
        cx: 0.5 * f64::from(width),
        cy: 0.5 * f64::from(height),
        position: camera.eye.to_array(),
        world_to_camera: [right, -up, forward].map(|axis| axis.to_array()),
        aperture: 2.0 * camera.lens_radius,
        focus: camera.focus.unwrap_or_else(|| camera.eye.distance(camera.look_at)),
    }
}
