//! Everything that a sample follows from.
//!
//! A recipe is drawn from a spec by the sample's number and is written to the sample's line, so
//! that the sample can be made again from its line alone, without the spec.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_numerics::sphere_radius;
use sessile_scene::types::{Amount, DropShape, Scene};
use sessile_scene::{Diagnostics, Files, Folder, parse_str, quoted};
use sessile_world::random::Stream;
use sessile_world::{SolidCache, World};

use crate::distribution::Distribution;
use crate::error::SampleError;

/// Keys of random streams.
const PLACES: u64 = 1;

/// Attempts to place a scattered drop apart from the others.
const ATTEMPTS: usize = 20;

/// Radius of the footprint of a scattered drop that others keep away from, in radii of the sphere
/// of its volume.
const FOOTPRINT: f64 = 1.5;

/// Maximum number of scattered drops.
const MAX_DROPS: f64 = 1e5;

/// How the drops of a sample come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    /// Rain falls on the solid.
    Rain,
    /// Water condenses on the solid.
    Dew,
    /// Drops are placed at random.
    Scatter,
    /// The drops and emitters of the scene.
    Scene,
}

/// Everything that a sample follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Number of the sample.
    pub sample: u64,
    /// `train` or `val`.
    pub split: String,
    /// Seed of all random numbers of the sample.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// `preview` or `full`.
    pub quality: String,
    /// Columns and rows.
    pub size: [u32; 2],
    /// The photograph.
    pub backdrop: PathBuf,
    /// How the drops come about.
    pub process: Process,
    /// Name of the solid that they are on.
    pub on: String,
    /// Values of the process, as drawn; of `scatter`, `volume` is drawn for each drop.
    pub drops: BTreeMap<String, String>,
    /// Keys of the scene as drawn, in the form of `--set`.
    pub set: Vec<String>,
    /// Text of the scene.
    pub scene: String,
    /// Folder that file names of the scene are relative to.
    pub folder: PathBuf,
}

/// Files of a scene; a backdrop is decoded when it is rendered, not when the scene is read.
struct SceneFiles(Folder);

impl Files for SceneFiles {
    fn resolve(&self, name: &str) -> PathBuf {
        self.0.resolve(name)
    }

    fn problem(&self, path: &Path) -> Option<String> {
        self.0.problem(path)
    }
}

impl Recipe {
    /// The simulated time, in s, as a value of the scene; `None` for the initial state.
    fn time(&self) -> Option<&str> {
        let time = self.drops.get("time")?;
        let is_zero = time.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()) == Some(0.0);
        (!is_zero).then_some(time)
    }

    /// Whether the initial state is shown.
    pub fn is_initial_state(&self) -> bool {
        self.time().is_none() && self.process != Process::Scene
    }

    /// Overrides of the scene.
    fn overrides(&self) -> Vec<String> {
        let mut sets = self.set.clone();
        sets.push(format!("seed={}", self.seed));
        sets.push(format!("render.size=[{}, {}]", self.size[0], self.size[1]));
        sets.push(format!("render.backdrop={}", quoted(&self.backdrop.to_string_lossy())));
        if let Some(time) = self.time() {
            sets.push(format!("time.duration={time}"));
            sets.push(format!("time.frame={time}"));
        }
        sets
    }

    /// Tables that the process adds to the scene's text.
    fn emitters(&self) -> String {
        let table = |header: &str, solid: &str, keys: &[&str]| {
            let mut text = format!("\n{header}\n{solid} = {}\n", quoted(&self.on));
            for key in keys {
                if let Some(value) = self.drops.get(*key) {
                    text += &format!("{key} = {}\n", quoted(value));
                }
            }
            text
        };
        match self.process {
            Process::Rain => table("[[emitters]]\nkind = \"rain\"", "over", &["rate", "radius", "velocity"]),
            Process::Dew => table("[[emitters]]\nkind = \"dew\"", "on", &["rate"]),
            Process::Scatter | Process::Scene => String::new(),
        }
    }

    /// Reads the scene with text appended to it.
    fn parse(&self, more: &str) -> Result<Scene, Diagnostics> {
        let text = format!("{}\n{more}", self.scene);
        let files = SceneFiles(Folder::new(&self.folder));
        Ok(parse_str("the sample's scene", &text, &self.overrides(), &files)?.scene)
    }

    /// Reads the scene with at most one scattered drop, to find its problems.
    pub fn checked_scene(&self) -> Result<Scene, Diagnostics> {
        let mut one = self.clone();
        one.drops.insert("count".into(), "1".into());
        self.parse(&(self.emitters() + &one.scattered_drops().unwrap_or_default()))
    }

    /// The scene of the sample, and its world at the start. Scattered drops without a place, and
    /// those that do not fit on the solid where they were placed, are left out of the world.
    pub fn scene(&self, solids: &SolidCache) -> Result<(Scene, World), SampleError> {
        let mut scene = self.parse(&(self.emitters() + &self.scattered_drops()?))?;
        let own = scene.drops.len() - self.count();
        if self.process == Process::Scatter {
            self.place_drops(&mut scene, solids)?;
        }
        let world = World::build_scattered(&scene, solids, own)?;
        Ok((scene, world))
    }

    /// Number of drops to scatter.
    fn count(&self) -> usize {
        let count = self.drops.get("count").and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        if self.process == Process::Scatter { count.round().clamp(0.0, MAX_DROPS) as usize } else { 0 }
    }

    /// Tables of the scattered drops, without their places.
    fn scattered_drops(&self) -> Result<String, SampleError> {
        let volume = self.drops.get("volume").map_or("1 uL", String::as_str);
        let volume = Distribution::parse(volume).map_err(SampleError::Recipe)?;
        let angle = self.drops.get("contact_angle").map(|angle| format!("contact_angle = {}\n", quoted(angle)));
        let drop = |drop: usize| {
            let volume = quoted(&volume.draw(&format!("drops.volume.{drop}"), self.seed));
            let angle = angle.as_deref().unwrap_or("");
            format!("[[drops]]\nshape = \"cap\"\non = {}\nvolume = {volume}\n{angle}", quoted(&self.on))
        };
        Ok((0..self.count()).map(drop).collect())
    }

    /// Places the scattered drops of a scene at random on the solid, apart from each other; those
    /// without a place are left out.
    fn place_drops(&self, scene: &mut Scene, solids: &SolidCache) -> Result<(), SampleError> {
        let scattered = scene.drops.split_off(scene.drops.len() - self.count());
        let world = World::build_scattered(scene, solids, usize::MAX)?;
        let index = scene.solids.iter().position(|solid| solid.name == self.on).unwrap_or(0);
        let solid = world.solids().get(index).ok_or(SampleError::NoSolid)?;
        let surface = MeshPoints::new(solid.mesh());
        let mut stream = Stream::new(self.seed, &[PLACES]);
        let mut placed: Vec<(DVec3, f64)> = Vec::new();
        for mut drop in scattered {
            let DropShape::Cap { center, amount: Amount::Volume(volume), .. } = &mut drop.shape else { continue };
            let radius = FOOTPRINT * sphere_radius(*volume);
            let is_free = |p: &DVec3| placed.iter().all(|(q, r)| p.distance_squared(*q) > (radius + r).powi(2));
            let mut places = (0..ATTEMPTS).map(|_| solid.world_from_rest().apply(surface.draw(&mut stream)));
            let Some(place) = places.find(is_free) else { continue };
            *center = place;
            placed.push((place, radius));
            scene.drops.push(drop);
        }
        Ok(())
    }
}

/// Random points of a mesh.
struct MeshPoints<'a> {
    mesh: &'a TriMesh,
    /// Sums of the triangles' areas.
    sums: Vec<f64>,
}

impl<'a> MeshPoints<'a> {
    fn new(mesh: &'a TriMesh) -> Self {
        let area = |t: usize| {
            let [a, b, c] = mesh.corners(t);
            (b - a).cross(c - a).length()
        };
        let add = |sum: &mut f64, t: usize| {
            *sum += area(t);
            Some(*sum)
        };
        Self { mesh, sums: (0..mesh.triangles.len()).scan(0.0, add).collect() }
    }

    /// A point that is uniformly distributed over the mesh.
    fn draw(&self, stream: &mut Stream) -> DVec3 {
        let Some(total) = self.sums.last() else { return DVec3::ZERO };
        let at = stream.uniform() * total;
        let triangle = self.sums.partition_point(|sum| *sum <= at).min(self.sums.len() - 1);
        let [a, b, c] = self.mesh.corners(triangle);
        let (u, v) = (stream.uniform(), stream.uniform());
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        a + u * (b - a) + v * (c - a)
    }
}
