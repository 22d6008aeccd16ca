//! The engine: a session in a thread of its own, paced by the clock.
//!
//! Ticks follow each other as fast as real time asks, for at most 12 ms before the windows get a
//! view. A session that cannot keep up falls behind and shows how slow it plays; its steps never
//! get longer. Everything that depends on the clock is here, and none of it enters the results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use sessile_frames::{Frame, FrameGeometry};
use sessile_interaction::{Looks, angles, mesh_message};
use sessile_model::View;
use sessile_sim::measure_frame;

use crate::hub::{Mailbox, Outgoing};
use crate::input::Input;
use crate::protocol::{Pace, WetImages, balance_message, scene_message, view_message};
use crate::recording::{Recorder, Recording};
use crate::run_writer::RunWriter;
use crate::session::Session;
use crate::upload::LARGEST;

/// Time that ticks may take before a view is sent.
const BUDGET: Duration = Duration::from_millis(12);
/// Time between two views.
const FRAME: Duration = Duration::from_micros(16_667);
/// Time between two wetness images, and between two balances.
const SLOW: Duration = Duration::from_millis(250);
/// Largest factor by which time may be slowed down or sped up by hand.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=4.0;

/// A message from a window.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Ask {
    /// A change of the session.
    Input { input: Box<Input> },
    /// Lets time pass, or not.
    Play { playing: bool },
    /// One tick.
    Step,
    /// Simulated over real time.
    Speed { factor: f64 },
    /// Everything about a drop, now and while it is selected; without an id no more.
    Select { id: Option<u32> },
    /// The present moment as a scene file.
    SaveScene,
    /// A built-in scene.
    OpenScene { name: String },
    /// Shows the same scene in another model beside this one; without a name no more.
    Compare { model: Option<String> },
    /// A part of a model's file, in base 64; the last one opens it.
    File { name: String, data: String, last: bool },
    /// Saves the run into a folder from now on, or ends that.
    SaveRun { on: bool },
    /// Restarts from the last state that worked.
    Recover,
}

/// What comes from the windows.
pub(crate) enum Event {
    /// A window opened.
    Joined(Arc<Mailbox>),
    /// A window sent a text.
    Said(Arc<Mailbox>, String),
}

/// The engine's thread.
pub(crate) struct Engine {
    session: Session,
    /// The same scene in another model, shown beside it.
    twin: Option<Session>,
    recorder: Option<Recorder>,
    /// Inputs to replay, the next one last.
    replay: Vec<(u64, Input)>,
    /// Whether a replay waits for a window.
    waits: bool,
    windows: Vec<Arc<Mailbox>>,
    playing: bool,
    factor: f64,
    selected: Option<u32>,
    /// Why the session stands still, if it failed.
    failure: Option<String>,
    pace: Pace,
    wet: WetImages,
    /// What the scene looks like, once a window asks.
    looks: Option<Looks>,
    view: View,
    /// Volume of the drops of the last view, in m³.
    present: f64,
    generation: u32,
    /// What has come of a model's file.
    upload: String,
    /// Where runs are saved that a window asks for.
    runs: PathBuf,
    /// The run that is being saved.
    run: Option<RunWriter>,
}

impl Engine {
    pub fn new(session: Session, recorder: Option<Recorder>, recording: Option<&Recording>) -> Self {
        let mut replay = recording.map_or_else(Vec::new, |recording| recording.inputs.clone());
        replay.reverse();
        Self {
            session,
            twin: None,
            recorder,
            replay,
            waits: recording.is_some(),
            windows: Vec::new(),
            playing: true,
            factor: 1.0,
            selected: None,
            failure: None,
            pace: Pace::default(),
            wet: WetImages::new(),
            looks: None,
            view: View::default(),
            present: 0.0,
            generation: 0,
            upload: String::new(),
            runs: PathBuf::from("runs"),
            run: None,
        }
    }

    /// Saves the run into a folder from the start.
    pub fn save_run(&mut self, folder: &Path) -> Result<(), String> {
        self.run = Some(RunWriter::begin(folder, &self.session)?);
        Ok(())
    }

    /// Begins to save the run into a folder of its own, or ends that.
    fn begin_or_end_run(&mut self, on: bool) {
        if on && self.run.is_none() {
            let name = Path::new(&self.session.source().name).file_stem().map_or_else(
                || "studio".to_owned(),
                |stem| sessile_frames::names::file_stem(&format!("{}-studio", stem.to_string_lossy())),
            );
            let free = (1..).map(|k: u32| self.runs.join(if k == 1 { name.clone() } else { format!("{name}-{k}") }));
            let folder = free.into_iter().find(|path| !path.exists());
            if let Some(Err(error)) = folder.map(|folder| self.save_run(&folder)) {
                self.say(&json!({"kind": "error", "text": error}));
            }
        } else if !on {
            self.end_run();
        }
        self.say_run();
    }

    /// Completes the run that is being saved.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let (path, frames) = (run.path().display().to_string(), run.frames());
        let message = match run.end() {
            Ok(()) => json!({"kind": "run_saved", "folder": path, "frames": frames}),
            Err(error) => json!({"kind": "error", "text": error}),
        };
        self.say(&message);
    }

    /// Tells the windows whether a run is being saved.
    fn say_run(&self) {
        let folder = self.run.as_ref().map(|run| run.path().display().to_string());
        self.say(&json!({"kind": "run", "folder": folder, "frames": self.run.as_ref().map(RunWriter::frames)}));
    }

    /// Adds the last tick to the run that is being saved.
    fn save_tick(&mut self) {
        let Some(run) = &mut self.run else { return };
        if let Err(error) = run.after_tick(&mut self.session) {
            self.run = None;
            self.say(&json!({"kind": "error", "text": format!("the run is no longer saved: {error}")}));
            self.say_run();
        }
    }

    /// Runs until `stop` is set; then ends the recording.
    pub fn run(mut self, events: &Receiver<Event>, stop: &AtomicBool) -> Result<(), String> {
        let mut last = Instant::now();
        let mut slow = Instant::now();
        let mut owed = 0.0;
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            while let Ok(event) = events.try_recv() {
                self.hear(event);
            }
            let real = start.duration_since(last).as_secs_f64().min(0.1);
            last = start;
            if self.playing && !self.waits && self.failure.is_none() {
                owed = self.pass(owed + real * self.factor, real, start);
            } else {
                (owed, self.pace.speed) = (0.0, 0.0);
            }
            if slow.elapsed() > SLOW {
                slow = Instant::now();
                self.show_slow();
            }
            self.show();
            let rest = FRAME.saturating_sub(start.elapsed());
            match events.recv_timeout(rest.max(Duration::from_micros(200))) {
                Ok(event) => self.hear(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.end_run();
        self.windows.iter().for_each(|window| window.close());
        match &mut self.recorder {
            Some(recorder) => recorder.end(&self.session),
            None => Ok(()),
        }
    }

    /// Lets `owed` seconds pass, as far as the budget allows; returns what is still owed.
    fn pass(&mut self, mut owed: f64, real: f64, start: Instant) -> f64 {
        let (length, mut ticks) = (self.session.tick_length(), 0);
        let begin = Instant::now();
        while owed >= length && (ticks == 0 || start.elapsed() < BUDGET) && self.failure.is_none() {
            self.tick();
            owed -= length;
            ticks += 1;
        }
        if ticks > 0 {
            self.pace.cost = begin.elapsed().as_secs_f64() / f64::from(ticks);
        }
        // The speed over the last second or so.
        let weight = (2.0 * real).clamp(0.0, 1.0);
        let now = if real > 0.0 { f64::from(ticks) * length / real } else { self.pace.speed };
        self.pace.speed += (now - self.pace.speed) * weight;
        // What cannot be made up for is forgotten: slow motion.
        owed.min(4.0 * length)
    }

    /// One tick, after the inputs that a recording has for it. A panic stops the session, not the
    /// server.
    fn tick(&mut self) {
        while self.replay.last().is_some_and(|(tick, _)| *tick <= self.session.ticks()) {
            if let Some((_, input)) = self.replay.pop() {
                self.apply(&input);
            }
        }
        let (session, twin) = (&mut self.session, &mut self.twin);
        let done = catch_unwind(AssertUnwindSafe(|| session.tick()));
        if let Some(other) = twin
            && !matches!(catch_unwind(AssertUnwindSafe(|| other.tick())), Ok(Ok(())))
        {
            *twin = None;
            self.say(&json!({"kind": "compare", "model": null, "text": "the other model has stopped"}));
        }
        let failure = match done {
            Ok(Ok(())) => return self.save_tick(),
            Ok(Err(error)) => error,
            Err(_) => "the engine failed".to_owned(),
        };
        self.fail(failure);
    }

    /// Stops the session until it is restored.
    fn fail(&mut self, failure: String) {
        self.say(&json!({"kind": "failure", "text": failure}));
        self.failure = Some(failure);
    }

    fn apply(&mut self, input: &Input) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.input(self.session.ticks(), input)
        {
            self.say(&json!({"kind": "error", "text": error}));
        }
        self.apply_to_twin(input);
        let session = &mut self.session;
        let done = catch_unwind(AssertUnwindSafe(|| session.apply(input)));
        match done {
            Ok(Ok(())) => {
                if matches!(input, Input::Undo | Input::Reset | Input::Scene { .. } | Input::Mesh { .. }) {
                    self.failure = None;
                    self.wet.forget();
                }
                let changes = matches!(
                    input,
                    Input::Undo
                        | Input::Reset
                        | Input::Material { .. }
                        | Input::Gravity { .. }
                        | Input::Wind { .. }
                        | Input::Sources { .. }
                        | Input::Place { .. }
                        | Input::Unplace { .. }
                );
                if changes {
                    self.say_scene();
                }
            }
            Ok(Err(error)) => self.say(&json!({"kind": "error", "text": error})),
            Err(_) => self.fail("the engine failed".to_owned()),
        }
        if self.session.generation() != self.generation {
            self.generation = self.session.generation();
            self.wet.forget();
            self.looks = None;
            if self.run.is_some() {
                self.end_run();
                self.say_run();
            }
            for window in self.windows.clone() {
                self.introduce(&window);
            }
        }
    }

    /// Does to the other model what is done to this one; another scene ends the comparison.
    fn apply_to_twin(&mut self, input: &Input) {
        let Some(twin) = &mut self.twin else { return };
        let replaces =
            matches!(input, Input::Model { .. } | Input::Liquid { .. } | Input::Scene { .. } | Input::Mesh { .. });
        if replaces || catch_unwind(AssertUnwindSafe(|| twin.apply(input))).is_err() {
            self.twin = None;
            self.say(&json!({"kind": "compare", "model": null}));
        }
    }

    /// Begins or ends a comparison with another model.
    fn compare(&mut self, window: &Mailbox, model: Option<&str>) {
        self.twin = None;
        if let Some(model) = model {
            match self.session.twin(model) {
                Ok(twin) => self.twin = Some(twin),
                Err(error) => send(window, &json!({"kind": "error", "text": error})),
            }
        }
        let shown = self.twin.as_ref().map(|twin| twin.scene().model.name());
        self.say(&json!({"kind": "compare", "model": shown}));
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Joined(window) => {
                self.introduce(&window);
                self.wet.forget();
                self.waits = false;
                self.windows.push(window);
            }
            Event::Said(window, text) => match serde_json::from_str::<Ask>(&text) {
                Ok(ask) => self.answer(&window, ask),
                Err(error) => send(&window, &json!({"kind": "error", "text": error.to_string()})),
            },
        }
    }

    fn answer(&mut self, window: &Mailbox, ask: Ask) {
        match ask {
            Ask::Input { input } => self.apply(&input),
            Ask::Play { playing } => self.playing = playing,
            Ask::Step => {
                self.playing = false;
                if self.failure.is_none() {
                    self.tick();
                }
            }
            Ask::Speed { factor } => self.factor = factor.clamp(*FACTORS.start(), *FACTORS.end()),
            Ask::Select { id } => {
                self.selected = id;
                self.show_selected();
            }
            Ask::SaveScene => {
                let text = self.session.scene_text();
                send(window, &json!({"kind": "saved_scene", "text": text}));
            }
            Ask::OpenScene { name } => match sessile_sim::scenes::ShippedScene::find(&name) {
                Ok(scene) => self.apply(&Input::Scene { name, text: scene.text.to_owned() }),
                Err(error) => send(window, &json!({"kind": "error", "text": error.to_string()})),
            },
            Ask::Compare { model } => self.compare(window, model.as_deref()),
            Ask::File { name, data, last } => {
                if self.upload.len() + data.len() <= 2 * LARGEST {
                    self.upload.push_str(&data);
                }
                if last {
                    let data = std::mem::take(&mut self.upload);
                    self.apply(&Input::Mesh { name, data });
                }
            }
            Ask::SaveRun { on } => self.begin_or_end_run(on),
            Ask::Recover => {
                let input = if self.session.num_undo() > 0 { Input::Undo } else { Input::Reset };
                self.apply(&input);
            }
        }
    }

    /// Tells the windows what can be changed of the scene.
    fn say_scene(&self) {
        if let Some(looks) = &self.looks {
            self.say(&scene_message(&self.session, looks));
        }
    }

    /// Sends a window everything that does not change with time.
    fn introduce(&mut self, window: &Mailbox) {
        let session = &self.session;
        let looks = self.looks.get_or_insert_with(|| Looks::of(session.scene(), session.model().world()));
        send(window, &scene_message(session, looks));
        if let Some(failure) = &self.failure {
            send(window, &json!({"kind": "failure", "text": failure}));
        }
        for solid in session.model().world().solids() {
            window.send(Outgoing::Binary(mesh_message(solid, 0).into()));
        }
        for picture in looks.pictures() {
            window.send(Outgoing::Binary(picture.message(0).into()));
        }
    }

    fn say(&self, message: &Value) {
        self.windows.iter().for_each(|window| send(window, message));
    }

    /// Sends a view to all windows.
    fn show(&mut self) {
        self.windows.retain(|window| !window.is_closed());
        if self.windows.is_empty() {
            return;
        }
        self.session.view(&mut self.view);
        self.present = self.view.volume();
        self.pace.playing = self.playing && self.failure.is_none();
        let message: Arc<[u8]> = view_message(&self.view, &self.session, self.pace).into();
        self.windows.iter().for_each(|window| window.show(Arc::clone(&message)));
        if let Some(twin) = &mut self.twin {
            twin.view(&mut self.view);
            let pace = Pace { is_twin: true, ..self.pace };
            let message: Arc<[u8]> = view_message(&self.view, twin, pace).into();
            self.windows.iter().for_each(|window| window.show_twin(Arc::clone(&message)));
        }
    }

    /// Sends what may come a few times a second: wetness, balance, notices, the selected drop.
    fn show_slow(&mut self) {
        for notice in self.session.take_notices() {
            self.say(&json!({"kind": "notice", "text": notice}));
        }
        if self.windows.is_empty() {
            return;
        }
        let model = self.session.model();
        for image in self.wet.changes(&model.wet_maps(), model.world().solids().len(), 0) {
            let image = Outgoing::Binary(image.into());
            self.windows.iter().for_each(|window| window.send(image.clone()));
        }
        self.say(&balance_message(&self.session, self.present));
        self.show_selected();
        if self.run.is_some() {
            self.say_run();
        }
    }

    fn show_selected(&self) {
        if let Some(id) = self.selected {
            self.say(&selected_message(&self.session, id));
        }
    }
}

fn send(window: &Mailbox, message: &Value) {
    window.send(Outgoing::Text(message.to_string().into()));
}

/// Everything about a drop, measured on its surface.
fn selected_message(session: &Session, id: u32) -> Value {
    let model = session.model();
    let frame = model.frame();
    let Some(state) = frame.drops.iter().find(|drop| drop.id == id).copied() else {
        return json!({"kind": "selected", "id": id, "gone": true});
    };
    let keep = |surface: sessile_frames::Surface| only(&surface, id);
    let liquid = match frame.liquid {
        FrameGeometry::Instances(instances) => {
            FrameGeometry::Instances(instances.into_iter().filter(|instance| instance.drop == id).collect())
        }
        FrameGeometry::Surfaces(surface) | FrameGeometry::Tessellated { surface, .. } => keep(surface).into(),
    };
    let surface = liquid.into_surface().map(FrameGeometry::from);
    let alone = surface.map(|liquid| Frame { liquid, drops: vec![state], wet: Vec::new(), ..frame });
    let measured = alone.ok().and_then(|frame| measure_frame(&frame, 0, &[], model.world(), None).ok());
    let drop = measured.and_then(|measures| measures.drops.into_iter().next());
    let on = drop.as_ref().and_then(|drop| drop.on.clone());
    let material = on.as_deref().and_then(|name| model.world().solid(name));
    json!({
        "kind": "selected",
        "id": id,
        "volume": state.volume,
        "speed": state.velocity.length(),
        "age": session.birth(id).map(|birth| model.time() - birth),
        "on": on,
        "measured": drop.as_ref().and_then(|drop| drop.contact_angle_deg.as_ref().map(|angle| angle.mean)),
        "height": drop.as_ref().map(|drop| drop.height),
        "base_radius": drop.as_ref().map(|drop| drop.base_radius),
        "angles": material.map(|solid| angles(&solid.wetting_at(glam::DVec2::splat(0.5)))),
    })
}

/// The part of surfaces that belongs to one drop.
fn only(surface: &sessile_frames::Surface, id: u32) -> sessile_frames::Surface {
    let mut out = sessile_frames::Surface::default();
    let mut number = vec![u32::MAX; surface.positions.len()];
    for (vertex, &drop) in surface.drops.iter().enumerate() {
        if drop == id {
            number[vertex] = out.positions.len() as u32;
            out.positions.push(surface.positions[vertex]);
            out.velocities.push(surface.velocities[vertex]);
            out.drops.push(id);
        }
    }
    for (corners, &solid) in surface.triangles.iter().zip(&surface.solids) {
        if surface.drops[corners[0] as usize] == id {
            out.triangles.push(corners.map(|v| number[v as usize]));
            out.solids.push(solid);
        }
    }
    out
}
