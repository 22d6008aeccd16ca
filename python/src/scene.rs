//! Scenes: read from files or text, with overrides.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use sessile_appearance::SceneAssets;
use sessile_scene::{Folder, Parsed, parse_str, print};
use sessile_sim::{Estimate, build, hardware_threads};

use crate::errors::wrong;

/// A valid scene: its text, its overrides, and what they mean.
#[pyclass(module = "sessile._sessile", frozen)]
pub struct Scene {
    name: String,
    text: String,
    folder: PathBuf,
    sets: Vec<String>,
    /// The scene in SI units.
    pub scene: sessile_scene::types::Scene,
    warnings: String,
}

#[pymethods]
impl Scene {
    /// Reads TOML text; files that it names are relative to `folder`.
    #[new]
    #[pyo3(signature = (text, name, folder, sets=Vec::new()))]
    fn new(text: String, name: String, folder: PathBuf, sets: Vec<String>) -> PyResult<Self> {
        let Parsed { scene, warnings, .. } = parse_str(&name, &text, &sets, &Folder::new(&folder)).map_err(wrong)?;
        let warnings = if warnings.is_empty() { String::new() } else { warnings.to_string() };
        Ok(Self { name, text, folder, sets, scene, warnings })
    }

    /// The same scene with one more override, `KEY=VALUE` with a TOML value.
    fn with_set(&self, set: String) -> PyResult<Self> {
        let sets = self.sets.iter().cloned().chain([set]).collect();
        Self::new(self.text.clone(), self.name.clone(), self.folder.clone(), sets)
    }

    /// The complete scene as TOML, every default written out.
    fn to_toml(&self) -> String {
        print(&self.scene)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn folder(&self) -> &Path {
        &self.folder
    }

    #[getter]
    fn warnings(&self) -> &str {
        &self.warnings
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scene.title
    }

    #[getter]
    fn model(&self) -> &'static str {
        self.scene.model.name()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scene.seed
    }

    /// Simulated time, in s.
    #[getter]
    fn duration(&self) -> f64 {
        self.scene.time.duration
    }

    /// Time between two frames, in s.
    #[getter]
    fn interval(&self) -> f64 {
        self.scene.time.frame
    }

    #[getter]
    fn last_frame(&self) -> u32 {
        self.scene.time.last_frame()
    }

    #[getter]
    fn start_frame(&self) -> u32 {
        self.scene.time.start_frame
    }

    #[getter]
    fn solids(&self) -> Vec<String> {
        self.scene.solids.iter().map(|solid| solid.name.clone()).collect()
    }

    /// Builds the solids and the model, and reads all images; returns what the user should know.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| {
            let estimate = Estimate::new(&self.scene, hardware_threads().get());
            estimate.check_memory().map_err(wrong)?;
            let built = build(&self.scene).map_err(wrong)?;
            SceneAssets::load(&self.scene).map_err(wrong)?;
            Ok(estimate.warnings.into_iter().chain(built.notices).collect())
        })
    }

    /// Expected wall time (s), memory and disk space (bytes), and warnings.
    fn estimate(&self) -> (f64, f64, f64, Vec<String>) {
        let estimate = Estimate::new(&self.scene, hardware_threads().get());
        let cost = &estimate.cost;
        (cost.wall_seconds, cost.memory_bytes, cost.disk_bytes, estimate.warnings.clone())
    }
}

/// Names, one-line descriptions and texts of the built-in scenes.
#[pyfunction]
pub fn built_in_scenes() -> Vec<(&'static str, &'static str)> {
    sessile_sim::scenes::SCENES.iter().map(|scene| (scene.name, scene.text)).collect()
}
