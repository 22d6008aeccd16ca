//! A session: a model, what hands have done to it, and how to take it back.
//!
//! Time passes in ticks of fixed length, and inputs are applied between ticks, so that a session is
//! a function of its scene and of the ticks at which inputs came. No clock enters here: how fast
//! ticks follow each other is the business of [`crate::engine`].

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sessile_frames::Event;
use sessile_interaction::{Bead, Rain, WipingTool, scene_of_now, wetting, with_placed};
use sessile_model::{Model, NoTimer, Region, Stroke, Tool, View, check_speed, check_stroke, check_taken};
use sessile_scene::{Fidelity, Folder, ModelKind, Scene, parse_str, print};
use sessile_sim::build;
use sessile_wetting::liquid_preset;
use sessile_world::{PlacedSource, Pose};

use crate::input::Input;
use crate::scene_files::OnlyInside;
use crate::upload::{UploadFolder, decode, scene_text};

/// Ticks per second of simulated time.
const TICKS: u32 = 120;
/// The same for the volume model, whose steps are far shorter.
const VOLUME_TICKS: u32 = 1920;
/// The same for the surface model's reproduction mode, whose step is a frame of 1/30 s.
const PAPER_TICKS: u32 = 30;
/// States kept for undo, and their largest total size, in bytes.
const MAX_STATES: usize = 24;
const MAX_STATE_BYTES: usize = 200 << 20;
/// Most steps of the model in a tick: a session that needs more would stand still for the eye.
const MAX_STEPS: u32 = 2000;
/// Most points of one wiping stroke.
const MAX_POINTS: usize = 256;

/// A scene file: its text, and where the files that it names are.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneSource {
    /// Name to show, and in error messages.
    pub name: String,
    /// The file's text.
    pub text: String,
    /// Folder of the files that it names.
    pub folder: PathBuf,
    /// Whether it may name files outside of that folder: only scenes that the user of the command
    /// line named may.
    pub trusted: bool,
}

impl SceneSource {
    /// Reads the scene; the error shows all lines that are wrong.
    pub fn scene(&self) -> Result<Scene, String> {
        let parsed = if self.trusted {
            parse_str(&self.name, &self.text, &[], &Folder::new(&self.folder))
        } else {
            parse_str(&self.name, &self.text, &[], &OnlyInside::new(&self.folder))
        };
        parsed.map(|parsed| parsed.scene).map_err(|errors| errors.to_string())
    }
}

/// A model in use.
pub struct Session {
    source: SceneSource,
    scene: Scene,
    model: Box<dyn Model>,
    /// Ticks since the start of the simulated time.
    clock: u64,
    /// Ticks since the session began; never goes back.
    ticks: u64,
    bead: Bead,
    rain: Option<Rain>,
    /// States before gestures, the last one at the back.
    undo: VecDeque<Kept>,
    /// The state at the start.
    start: Kept,
    /// Time at which each drop was first seen, by id; NaN before.
    births: Vec<f32>,
    notices: Vec<String>,
    /// Merges and splits of the last tick.
    events: Vec<Event>,
    /// Counts scenes: solids must be sent anew when it changes.
    generation: u32,
    /// Models from the page.
    uploads: Option<UploadFolder>,
}

/// A kept state.
#[derive(Clone, Debug)]
struct Kept {
    model: Vec<u8>,
    clock: u64,
    bead: Bead,
    rain: Option<Rain>,
}

impl Session {
    /// Opens a scene and lets it run for `warm_up` seconds.
    pub fn open(source: SceneSource, warm_up: f64) -> Result<Self, String> {
        let scene = source.scene()?;
        Self::with_scene(source, scene, warm_up)
    }

    fn with_scene(source: SceneSource, scene: Scene, warm_up: f64) -> Result<Self, String> {
        let built = build(&scene).map_err(|error| error.to_string())?;
        let start = Kept { model: built.model.save(), clock: 0, bead: Bead::default(), rain: None };
        let mut session = Self {
            source,
            scene,
            model: built.model,
            clock: 0,
            ticks: 0,
            bead: Bead::default(),
            rain: None,
            undo: VecDeque::new(),
            start,
            births: Vec::new(),
            notices: built.notices,
            events: Vec::new(),
            generation: 0,
            uploads: None,
        };
        while session.model.time() < warm_up {
            session.tick()?;
        }
        Ok(session)
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The scene file.
    pub fn source(&self) -> &SceneSource {
        &self.source
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// Ticks since the session began.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Counts the scenes and models of this session.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Liquid on the wiping tool, in m³.
    pub fn bead(&self) -> f64 {
        self.bead.volume
    }

    /// Rate of the rain by hand, in m/s.
    pub fn rain(&self) -> f64 {
        self.rain.map_or(0.0, |rain| rain.rate)
    }

    /// Number of gestures that can be undone.
    pub fn num_undo(&self) -> usize {
        self.undo.len()
    }

    /// Length of a tick, in s.
    pub fn tick_length(&self) -> f64 {
        1.0 / f64::from(self.tick_rate())
    }

    fn tick_rate(&self) -> u32 {
        match (self.scene.model, self.scene.fidelity) {
            (ModelKind::Volume, _) => VOLUME_TICKS,
            (ModelKind::Surface, Fidelity::Paper) => PAPER_TICKS,
            _ => TICKS,
        }
    }

    /// Messages since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.append(&mut self.model.notices());
        notices
    }

    /// Merges and splits of the last tick.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Shows the liquid, and remembers which drops are new.
    pub fn view(&mut self, into: &mut View) {
        self.model.view(into);
        let now = into.time as f32;
        for &id in into.ids.iter().chain(&into.surface.ids) {
            let id = id as usize;
            if id >= self.births.len() {
                self.births.resize(id + 1, f32::NAN);
            }
            if self.births[id].is_nan() {
                self.births[id] = now;
            }
        }
    }

    /// Time at which a drop was first seen, in s.
    pub fn birth(&self, id: u32) -> Option<f64> {
        self.births.get(id as usize).map(|&time| f64::from(time)).filter(|time| !time.is_nan())
    }

    /// Advances by one tick.
    pub fn tick(&mut self) -> Result<(), String> {
        let (length, seed) = (self.tick_length(), self.scene.seed);
        self.events.clear();
        if let Some(rain) = &mut self.rain
            && let Err(error) = rain.step(&mut *self.model, seed, self.clock, length)
        {
            self.notices.push(format!("the rain stops: {error}"));
            self.rain = None;
        }
        self.clock += 1;
        self.ticks += 1;
        let end = self.clock as f64 / f64::from(self.tick_rate());
        let mut steps = 0;
        while end - self.model.time() > 1e-9 * length {
            steps += 1;
            if steps > MAX_STEPS {
                let (left, rate) = (end - self.model.time(), self.tick_rate());
                return Err(format!(
                    "the simulation needs more than {MAX_STEPS} steps for 1/{rate} s ({left:.1e} s are left): forces or \
                     speeds are too large for it"
                ));
            }
            let rest = end - self.model.time();
            let report = self.model.step(rest, &mut NoTimer).map_err(|error| error.to_string())?;
            self.events.extend(report.events);
        }
        Ok(())
    }

    /// Applies an input between two ticks.
    pub fn apply(&mut self, input: &Input) -> Result<(), String> {
        if input.begins_gesture() {
            self.keep();
        }
        let text = |error: &dyn std::fmt::Display| error.to_string();
        match input {
            Input::Gravity { vector } => {
                self.model.world_mut().set_gravity(vector.map(DVec3::from)).map_err(|e| text(&e))
            }
            Input::Wind { vector } => self.model.world_mut().set_wind(vector.map(DVec3::from)).map_err(|e| text(&e)),
            Input::Rain { rate, solid } => self.set_rain(*rate, *solid),
            Input::Sources { open } => {
                self.model.world_mut().set_sources_open(*open);
                Ok(())
            }
            Input::Add { at, velocity, volume, .. } => {
                check_speed("a drop", DVec3::from(*velocity).length()).map_err(|e| text(&e))?;
                self.model.add(DVec3::from(*at), DVec3::from(*velocity), *volume).map_err(|e| text(&e))
            }
            Input::Take { at, radius, share } => {
                let region = Region { center: DVec3::from(*at), radius: *radius };
                check_taken(&region, *share).map_err(|e| text(&e))?;
                self.model.take(&region, *share).map(drop).map_err(|e| text(&e))
            }
            Input::Wipe { tool, path, normal, end, .. } => self.wipe(*tool, path, DVec3::from(*normal), *end),
            Input::Move { solid, by, duration, .. } => self.move_solid(*solid, DVec3::from(*by), *duration),
            Input::Material { solid, preset, angles } => {
                let wetting = wetting(preset.as_deref(), *angles)?;
                self.model.set_material(*solid, wetting).map_err(|e| text(&e))
            }
            Input::Place { source } => self.model.place_source(source.placed()).map(drop).map_err(|e| text(&e)),
            Input::Unplace { id } => self.model.world_mut().remove_source(*id).map_err(|e| text(&e)),
            Input::Liquid { preset } => {
                let preset = liquid_preset(preset).ok_or_else(|| format!("there is no liquid `{preset}`"))?;
                self.continue_as(|scene| (scene.liquid, scene.liquid_preset) = (preset.liquid, preset))
            }
            Input::Model { name } => {
                let model = model_named(name)?;
                self.continue_as(|scene| scene.model = model)
            }
            Input::Scene { name, text } => self.replace_scene(name, text),
            Input::Mesh { name, data } => self.open_mesh(name, data),
            Input::Undo => self.undo(),
            Input::Reset => {
                self.undo.clear();
                self.restore(&self.start.clone())
            }
        }
    }

    fn set_rain(&mut self, rate: f64, solid: usize) -> Result<(), String> {
        if !(0.0..=1e-3).contains(&rate) || solid >= self.model.world().solids().len() {
            return Err("rain needs a solid and a rate between 0 and 1 mm/s".into());
        }
        self.rain = (rate > 0.0).then_some(Rain { rate, solid, due: 0.0 });
        Ok(())
    }

    /// Wipes along a path, and lets the bead run off or break up.
    fn wipe(&mut self, tool: WipingTool, path: &[[f64; 4]], normal: DVec3, end: bool) -> Result<(), String> {
        let is_fine = path.iter().flatten().all(|value| value.is_finite()) && normal.is_finite();
        if path.is_empty() || path.len() > MAX_POINTS || !is_fine {
            return Err(format!("a stroke has 1 to {MAX_POINTS} finite points"));
        }
        let tool = Tool::from(tool);
        for pair in path.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|[x, y, z, _]| DVec3::new(x, y, z));
            let duration = (pair[1][3] - pair[0][3]).max(0.0);
            let stroke = Stroke { from, to, duration, tool };
            check_stroke(&stroke).map_err(|error| error.to_string())?;
            self.bead.volume += self.model.wipe(&stroke).map_err(|error| error.to_string())?;
        }
        let [x, y, z, _] = path[path.len() - 1];
        self.bead.shed(&mut *self.model, tool, DVec3::new(x, y, z), normal, end);
        Ok(())
    }

    fn move_solid(&mut self, solid: usize, by: DVec3, duration: f64) -> Result<(), String> {
        let duration = duration.max(self.tick_length());
        check_speed("a solid", by.length() / duration).map_err(|error| error.to_string())?;
        let world = self.model.world_mut();
        let Some(pose) = world.solids().get(solid).map(|solid| *solid.world_from_rest()) else {
            return Err(format!("there is no solid {solid}"));
        };
        let pose = Pose { translation: pose.translation + by, ..pose };
        world.move_solid_over(solid, pose, duration).map_err(|error| error.to_string())
    }

    /// Keeps the present state for undo.
    fn keep(&mut self) {
        self.undo.push_back(self.kept());
        let size = |undo: &VecDeque<Kept>| undo.iter().map(|kept| kept.model.len()).sum::<usize>();
        while self.undo.len() > MAX_STATES || (self.undo.len() > 1 && size(&self.undo) > MAX_STATE_BYTES) {
            self.undo.pop_front();
        }
    }

    fn kept(&self) -> Kept {
        Kept { model: self.model.save(), clock: self.clock, bead: self.bead, rain: self.rain }
    }

    fn undo(&mut self) -> Result<(), String> {
        let kept = self.undo.pop_back().ok_or("there is nothing to undo")?;
        self.restore(&kept)
    }

    fn restore(&mut self, kept: &Kept) -> Result<(), String> {
        self.model.restore(&kept.model).map_err(|error| error.to_string())?;
        (self.clock, self.bead, self.rain) = (kept.clock, kept.bead, kept.rain);
        Ok(())
    }

    /// Another session that continues from the present moment in another model.
    pub fn twin(&self, model: &str) -> Result<Self, String> {
        let mut scene = scene_of_now(&self.scene, &*self.model);
        scene.model = model_named(model)?;
        let mut twin = Self::with_scene(self.source.clone(), scene, 0.0)?;
        twin.rain = self.rain;
        twin.place_again(self.placed());
        Ok(twin)
    }

    /// The sources that were placed by hand.
    fn placed(&self) -> Vec<PlacedSource> {
        self.model.world().placed_sources().map(|(_, _, source)| source).collect()
    }

    /// Places sources of another model.
    fn place_again(&mut self, sources: Vec<PlacedSource>) {
        for source in sources {
            if let Err(error) = self.model.place_source(source) {
                self.notices.push(format!("a source was removed: {error}"));
            }
        }
    }

    /// Continues from the present moment with a changed scene.
    fn continue_as(&mut self, change: impl FnOnce(&mut Scene)) -> Result<(), String> {
        let mut scene = scene_of_now(&self.scene, &*self.model);
        change(&mut scene);
        let (rain, placed) = (self.rain, self.placed());
        self.replace(self.source.clone(), scene)?;
        self.rain = rain;
        self.place_again(placed);
        Ok(())
    }

    fn replace_scene(&mut self, name: &str, text: &str) -> Result<(), String> {
        let source = SceneSource {
            name: name.to_owned(),
            text: text.to_owned(),
            folder: self.source.folder.clone(),
            trusted: false,
        };
        let scene = source.scene()?;
        self.replace(source, scene)
    }

    /// Opens a model from the page.
    fn open_mesh(&mut self, name: &str, data: &str) -> Result<(), String> {
        let folder = UploadFolder::new()?;
        let file = folder.write(name, &decode(data)?)?;
        let source = SceneSource {
            name: name.to_owned(),
            text: scene_text(&file),
            folder: folder.path().to_owned(),
            trusted: false,
        };
        let scene = source.scene()?;
        self.replace(source, scene)?;
        self.uploads = Some(folder);
        Ok(())
    }

    fn replace(&mut self, source: SceneSource, scene: Scene) -> Result<(), String> {
        let fresh = Self::with_scene(source, scene, 0.0)?;
        let uploads = self.uploads.take();
        *self = Self { ticks: self.ticks, generation: self.generation + 1, uploads, ..fresh };
        Ok(())
    }

    /// The present moment as a scene.
    pub fn scene_of_now(&self) -> Scene {
        with_placed(scene_of_now(&self.scene, &*self.model), &*self.model)
    }

    /// The present moment as a scene file.
    pub fn scene_text(&self) -> String {
        print(&self.scene_of_now())
    }

    /// The folder of models from the page.
    pub(crate) fn upload_folder(&self) -> Option<&Path> {
        self.uploads.as_ref().map(UploadFolder::path)
    }

    /// A digest of the state: equal digests are equal results.
    pub fn digest(&self) -> String {
        blake3::hash(&self.model.save()).to_hex().to_string()
    }
}

fn model_named(name: &str) -> Result<ModelKind, String> {
    let kinds = [ModelKind::Pane, ModelKind::Droplet, ModelKind::Surface, ModelKind::Volume];
    kinds.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("there is no model `{name}`"))
}
