//! A simulation that JavaScript drives.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde_json::Value;
use sessile_droplet::DropletModel;
use sessile_frames::VolumeBalance;
use sessile_input::InMemory;
use sessile_interaction::{Bead, Looks, Rain, Source, describe, scene_of_now, with_placed};
use sessile_model::{Estimate, Model, NoTimer, Region, Stroke, Tool, View, check_speed, check_stroke, check_taken};
use sessile_pane::Pane;
use sessile_scene::{Files, ModelKind, Scene, parse_str, print};
use sessile_surface::SurfaceModel;
use sessile_wetting::{Wetting, liquid_preset, material_preset};
use sessile_world::{Pose, Solid, World};

/// Unit of the film thickness of a wet map, in m.
const FILM_UNIT: f64 = 1e-8;
/// Thickness at which a film is shown at its strongest, in m.
pub const THICK_FILM: f64 = 3e-6;

/// Memory of an instance of the module for a simulation, in bytes: WebAssembly addresses 4 GB.
const MEMORY: f64 = 3.5e9;
/// Longest step, in s.
const MAX_SECONDS: f64 = 3600.0;
/// Most steps of the model in a step of 1/`TICKS` s, as in the studio.
const MAX_STEPS: f64 = 2000.0;
const TICKS: f64 = 120.0;

/// A scene's model, and what JavaScript reads of it.
pub struct Simulation {
    scene: Scene,
    model: Box<dyn Model>,
    notices: Vec<String>,
    view: View,
    files: Given,
    /// What the scene looks like, once a page asks.
    looks: Option<Looks>,
    /// Rain by hand, and the number of steps with it.
    rain: Option<Rain>,
    rained: u64,
}

/// A mesh as flat arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlatMesh {
    /// Three numbers per vertex, in m.
    pub positions: Vec<f32>,
    /// Two numbers per corner of a triangle; empty without texture coordinates.
    pub uvs: Vec<f32>,
    /// Three vertices per triangle.
    pub triangles: Vec<u32>,
}

impl Simulation {
    /// Reads a scene and builds its model at time 0. Meshes and images come from `files`.
    pub fn load(text: &str, files: InMemory) -> Result<Self, String> {
        let given = Given(files);
        let scene = parse_str("scene.toml", text, &[], &given).map_err(|errors| errors.to_string())?.scene;
        if let Some(problem) = Estimate::new(&scene, 1).problem(MEMORY) {
            return Err(problem);
        }
        let world = World::build_from(&scene, &given.0).map_err(|error| error.to_string())?;
        let notices = world.notices.clone();
        let (model, view) = (model(&scene, world)?, View::default());
        Ok(Self { model, scene, notices, view, files: given, looks: None, rain: None, rained: 0 })
    }

    /// Advances by `seconds` exactly, in steps that the model chooses.
    pub fn step(&mut self, seconds: f64) -> Result<(), String> {
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return Err(format!("a step takes 0 to {MAX_SECONDS} s, not {seconds} s: make several"));
        }
        if let Some(rain) = &mut self.rain {
            self.rained += 1;
            if let Err(error) = rain.step(&mut *self.model, self.scene.seed, self.rained, seconds) {
                self.notices.push(format!("the rain stops: {error}"));
                self.rain = None;
            }
        }
        let end = self.model.time() + seconds;
        let (mut steps, most) = (0.0, MAX_STEPS * (seconds * TICKS).ceil());
        while end - self.model.time() > 1e-9 * seconds {
            steps += 1.0;
            if steps > most {
                let left = end - self.model.time();
                return Err(format!(
                    "the simulation needs more than {most} steps for {seconds} s ({left:.1e} s are left): forces or \
                     speeds are too large for it"
                ));
            }
            let rest = end - self.model.time();
            self.model.step(rest, &mut NoTimer).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Simulated time, in s.
    pub fn time(&self) -> f64 {
        self.model.time()
    }

    /// The present liquid as flat arrays.
    pub fn view(&mut self) -> &View {
        self.model.view(&mut self.view);
        &self.view
    }

    /// Adds a drop of `volume` (in m³) at `at` (in m) with a velocity (in m/s).
    pub fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), String> {
        check_speed("a drop", velocity.length()).map_err(|error| error.to_string())?;
        self.model.add(at, velocity, volume).map_err(|error| error.to_string())
    }

    /// Takes a share of the liquid in a region away; returns its volume, in m³.
    pub fn take(&mut self, region: &Region, share: f64) -> Result<f64, String> {
        check_taken(region, share).map_err(|error| error.to_string())?;
        self.model.take(region, share).map_err(|error| error.to_string())
    }

    /// Wipes with a tool; returns the volume that it took, in m³.
    pub fn wipe(&mut self, stroke: &Stroke) -> Result<f64, String> {
        check_stroke(stroke).map_err(|error| error.to_string())?;
        self.model.wipe(stroke).map_err(|error| error.to_string())
    }

    /// Sets gravity, in m/s²; `None` returns to the scene's.
    pub fn set_gravity(&mut self, gravity: Option<DVec3>) -> Result<(), String> {
        self.model.world_mut().set_gravity(gravity).map_err(|error| error.to_string())
    }

    /// Sets the wind, in m/s; `None` returns to the scene's.
    pub fn set_wind(&mut self, wind: Option<DVec3>) -> Result<(), String> {
        self.model.world_mut().set_wind(wind).map_err(|error| error.to_string())
    }

    /// Opens or closes the scene's emitters.
    pub fn set_sources_open(&mut self, open: bool) {
        self.model.world_mut().set_sources_open(open);
    }

    /// Gives a solid a preset's wetting; an empty name returns to the scene's material.
    pub fn set_material(&mut self, solid: usize, preset: &str) -> Result<(), String> {
        let wetting = match preset {
            "" => None,
            name => Some(material_preset(name).ok_or_else(|| format!("there is no material `{name}`"))?.wetting),
        };
        self.model.set_material(solid, wetting).map_err(|error| error.to_string())
    }

    /// Gives a solid contact angles, in degrees: advancing on dry and on wet ground, and receding.
    pub fn set_angles(&mut self, solid: usize, angles: [f64; 3]) -> Result<(), String> {
        let [advancing, wet, receding] = angles.map(f64::to_radians);
        let base = self.solid(solid)?.wetting_at(glam::DVec2::splat(0.5));
        let wetting = Wetting { advancing, receding, wet_advancing: (wet < advancing).then_some(wet), ..base };
        self.model.set_material(solid, Some(wetting)).map_err(|error| error.to_string())
    }

    /// Moves a solid by a vector (in m) over `duration` seconds.
    pub fn move_solid(&mut self, solid: usize, by: DVec3, duration: f64) -> Result<(), String> {
        let speed = by.length() / duration.max(1.0 / TICKS);
        check_speed("a solid", speed).map_err(|error| error.to_string())?;
        let pose = *self.solid(solid)?.world_from_rest();
        let pose = Pose { translation: pose.translation + by, ..pose };
        self.model.world_mut().move_solid_over(solid, pose, duration).map_err(|error| error.to_string())
    }

    /// The volume balance, in m³.
    pub fn balance(&self) -> VolumeBalance {
        self.model.balance()
    }

    /// The state, for [`Simulation::restore`] in a simulation of the same scene.
    pub fn save(&self) -> Vec<u8> {
        self.model.save()
    }

    /// Restores a saved state.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.model.restore(state).map_err(|error| error.to_string())
    }

    /// A digest of the state and of its view: equal digests are equal results.
    pub fn digest(&mut self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.save());
        let view = self.view();
        for values in [&view.drops, &view.surface.positions, &view.surface.normals, &view.surface.velocities] {
            for value in values {
                hasher.update(&value.to_bits().to_le_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The present wetness of a solid over its texture: columns, rows, and two bytes per texel from
    /// the top, how wet it is and how thick its film (255: [`THICK_FILM`] or more). `None` if the
    /// model has none for it.
    pub fn wetness(&self, solid: usize) -> Option<(u32, u32, Vec<u8>)> {
        let map = self.model.wet_maps().into_iter().find(|map| map.solid == solid)?;
        let thickness = |film: u16| (255.0 * (f64::from(film) * FILM_UNIT / THICK_FILM).min(1.0)) as u8;
        let texels = map.wetness.iter().zip(&map.film);
        let bytes = texels.flat_map(|(&wet, &film)| [(wet >> 8) as u8, thickness(film)]).collect();
        Some((map.width, map.height, bytes))
    }

    /// What a page shows beside the liquid, under the same names as in the studio's protocol: the
    /// model, gravity and wind, the solids with their materials and looks, light, and the presets.
    pub fn description(&mut self) -> Value {
        let looks = self.looks.get_or_insert_with(|| Looks::of(&self.scene, self.model.world()));
        describe(&self.scene, self.model.world(), looks, "scene.toml")
    }

    /// A picture of the scene's looks as a message of the studio's protocol; `None` past the last.
    pub fn picture(&mut self, index: usize) -> Option<Vec<u8>> {
        let looks = self.looks.get_or_insert_with(|| Looks::of(&self.scene, self.model.world()));
        looks.pictures().get(index).map(|picture| picture.message(0))
    }

    /// Rain by hand over a solid, as depth of water per time (in m/s); 0 stops it. It is not part
    /// of a saved state.
    pub fn set_rain(&mut self, rate: f64, solid: usize) -> Result<(), String> {
        self.solid(solid)?;
        if !(0.0..=1e-3).contains(&rate) {
            return Err(format!("the rain is 0 to 1 mm/s, not {rate} m/s"));
        }
        self.rain = (rate > 0.0).then_some(Rain { rate, solid, due: 0.0 });
        Ok(())
    }

    /// Places a source, given as JSON as in the studio's protocol; returns its number.
    pub fn place(&mut self, source: &str) -> Result<u32, String> {
        let source: Source = serde_json::from_str(source).map_err(|error| error.to_string())?;
        self.model.place_source(source.placed()).map_err(|error| error.to_string())
    }

    /// Removes a placed source.
    pub fn unplace(&mut self, id: u32) -> Result<(), String> {
        self.model.world_mut().remove_source(id).map_err(|error| error.to_string())
    }

    /// Lets a tool that holds `volume` (in m³) lose what it cannot hold, or when it is lifted all;
    /// returns what stays on it.
    pub fn shed(&mut self, volume: f64, tool: Tool, middle: DVec3, normal: DVec3, lifted: bool) -> Result<f64, String> {
        if !(volume >= 0.0 && volume.is_finite() && middle.is_finite() && normal.is_finite()) {
            return Err("a tool has a volume, a place and a normal that are finite".into());
        }
        let mut bead = Bead { volume };
        bead.shed(&mut *self.model, tool, middle, normal, lifted);
        Ok(bead.volume)
    }

    /// The present moment as a scene file, with changes like those of `--set`, or `liquid=NAME`.
    pub fn moment(&self, changes: &[String]) -> Result<String, String> {
        let mut now = with_placed(scene_of_now(&self.scene, &*self.model), &*self.model);
        let (liquids, changes): (Vec<String>, Vec<String>) =
            changes.iter().cloned().partition(|change| change.starts_with("liquid="));
        // All keys of a liquid are written out, so another one replaces them all.
        for name in liquids.iter().map(|change| change["liquid=".len()..].trim_matches('"')) {
            let preset = liquid_preset(name).ok_or_else(|| format!("there is no liquid `{name}`"))?;
            (now.liquid, now.liquid_preset) = (preset.liquid, preset);
        }
        let parsed = parse_str("scene.toml", &print(&now), &changes, &self.files);
        parsed.map(|parsed| print(&parsed.scene)).map_err(|errors| errors.to_string())
    }

    /// Messages about the scene and the run since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.append(&mut self.model.notices());
        notices
    }

    /// A solid's mesh in its rest pose.
    pub fn mesh(&self, solid: usize) -> Result<FlatMesh, String> {
        let mesh = self.solid(solid)?.mesh();
        let positions = mesh.positions.iter().flat_map(|p| p.as_vec3().to_array()).collect();
        let uvs = mesh.corner_uvs.iter().flatten().flat_map(|uv| uv.as_vec2().to_array()).collect();
        Ok(FlatMesh { positions, uvs, triangles: mesh.triangles.iter().flatten().copied().collect() })
    }

    /// The solids' poses: twelve numbers each, the three columns of the rotation and the
    /// translation in m.
    pub fn poses(&self) -> Vec<f32> {
        let columns = |pose: &Pose| {
            let [x, y, z] = [pose.rotation.x_axis, pose.rotation.y_axis, pose.rotation.z_axis];
            [x, y, z, pose.translation].map(|v| v.as_vec3().to_array())
        };
        self.model.world().solids().iter().flat_map(|solid| columns(solid.world_from_rest())).flatten().collect()
    }

    fn solid(&self, index: usize) -> Result<&Solid, String> {
        self.model.world().solids().get(index).ok_or_else(|| format!("there is no solid {index}"))
    }
}

/// The scene's model.
fn model(scene: &Scene, world: World) -> Result<Box<dyn Model>, String> {
    Ok(match scene.model {
        ModelKind::Pane => Box::new(Pane::new(scene, world).map_err(|error| error.to_string())?),
        ModelKind::Droplet => Box::new(DropletModel::new(scene, world).map_err(|error| error.to_string())?),
        ModelKind::Surface => Box::new(SurfaceModel::new(scene, world).map_err(|error| error.to_string())?),
        ModelKind::Volume => {
            return Err("the volume model does not run in a browser: use `pane`, `droplet` or `surface`".into());
        }
    })
}

/// The files that JavaScript gave, by the names that the scene uses.
struct Given(InMemory);

impl Files for Given {
    fn resolve(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }

    fn problem(&self, path: &Path) -> Option<String> {
        (!self.0.contains(path)).then(|| "it is not among the files that were given".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "model = \"droplet\"\ntime = { duration = \"1 s\", frame = \"0.1 s\" }\n\
        solids = [{ name = \"table\", size = \"40 40 mm\" }]\n";

    fn table() -> Simulation {
        Simulation::load(TABLE, InMemory::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_moment_with_another_liquid_has_all_of_its_properties() {
        let text = table().moment(&["liquid=\"honey\"".into(), "model=\"pane\"".into()]).unwrap();
        let changed = Simulation::load(&text, InMemory::default()).unwrap_or_else(|error| panic!("{error}"));
        let honey = liquid_preset("honey").unwrap();
        assert_eq!((changed.scene.liquid, changed.scene.model), (honey.liquid, ModelKind::Pane));
        assert!(table().moment(&["liquid=\"unobtainium\"".into()]).is_err());
    }

    #[test]
    fn what_a_page_may_ask_is_bounded() {
        let mut simulation = table();
        simulation.add(DVec3::ZERO, DVec3::ZERO, 5e-9).unwrap();
        for seconds in [f64::NAN, f64::INFINITY, -1.0, 1e10] {
            assert!(simulation.step(seconds).is_err(), "{seconds}");
        }
        assert!(simulation.add(DVec3::ZERO, DVec3::ZERO, 1e30).is_err());
        assert!(simulation.add(DVec3::Y, DVec3::splat(1e9), 1e-9).is_err());
        assert!(simulation.move_solid(0, DVec3::splat(1e9), 0.0).is_err());
        assert!(simulation.take(&Region { center: DVec3::ZERO, radius: 1.0 }, 7.0).is_err());
        let tool = Tool::Finger { radius: 0.01 };
        let stroke = Stroke { from: DVec3::NAN, to: DVec3::ZERO, duration: 1.0, tool };
        assert!(simulation.wipe(&stroke).is_err());
        simulation.step(0.1).unwrap();
        assert_eq!(simulation.view().num_drops(), 1);
        // A surface of 10¹³ triangles.
        let huge = TABLE.replace("droplet", "surface")
            + "resolution = { edge = \"1 nm\" }\n\
            drops = [{ shape = \"cap\", on = \"table\", volume = \"4 uL\" }]\n";
        let error = Simulation::load(&huge, InMemory::default()).err().expect("an error");
        assert!(error.contains("of memory"), "{error}");
    }
}
