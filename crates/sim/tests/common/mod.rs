//! A minimal model for testing runs: one ball on a spring, in air.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use glam::DVec3;
use sessile_frames::{Activity, DropState, Event, Frame, FrameGeometry, Ids, Progress, Surface, VolumeBalance};
use sessile_model::{Model, RestoreError, StageReports, StageTimer, StepError, StepReport};
use sessile_scene::{NoFiles, Scene, parse_str};
use sessile_sim::{BuildError, Built, RunError, RunOptions, RunOutcome, run_with};
use sessile_world::World;

/// Longest step of the ball, in s: between three and four steps per frame of 10 ms.
const LONGEST_STEP: f64 = 3.1e-3;
const RADIUS: f64 = 1e-3;

/// A ball on a damped spring: y'' = −ω² y − 2 c y', from y = 1 mm at rest.
pub struct Ball {
    pub world: World,
    pub time: f64,
    pub y: f64,
    pub speed: f64,
    pub damping: f64,
    /// Simulated time of a failure, in s.
    pub breaks_at: f64,
}

impl Ball {
    pub fn new(scene: &Scene, damping: f64) -> Self {
        Self {
            world: World::build(scene).expect("no solids"),
            time: 0.0,
            y: 1e-3,
            speed: 0.0,
            damping,
            breaks_at: f64::INFINITY,
        }
    }
}

impl Model for Ball {
    fn time(&self) -> f64 {
        self.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        stages.enter("swing");
        if self.time >= self.breaks_at {
            return Err(StepError::NonFinite {
                what: "the ball's speed".into(),
                time: self.time,
                position: [0.0, self.y, 0.0],
                advice: "loosen the spring".into(),
            });
        }
        let dt = limit.min(LONGEST_STEP);
        self.speed += dt * (-1e4 * self.y - 2.0 * self.damping * self.speed);
        let before = self.y;
        self.y += dt * self.speed;
        self.time += dt;
        // An event to report: the ball passes the middle.
        let events = if before * self.y < 0.0 {
            vec![Event::Split { split: 1, into: Ids::from_slice(&[1]) }]
        } else {
            Vec::new()
        };
        let mut stages = StageReports::default();
        stages.add("swing.steps", 1);
        stages.add("swing.crossings", events.len() as u64);
        stages.keep_largest("swing.speed", self.speed.abs());
        Ok(StepReport { dt, events, stages })
    }

    fn frame(&self) -> Frame {
        let corners = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
        let triangles = vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        let surface = Surface {
            positions: corners.iter().map(|corner| RADIUS * corner + DVec3::new(0.0, self.y, 0.0)).collect(),
            velocities: vec![DVec3::new(0.0, self.speed, 0.0); 6],
            drops: vec![1; 6],
            solids: vec![-1; triangles.len()],
            triangles,
        };
        let volume = 4.0 / 3.0 * RADIUS.powi(3);
        Frame {
            time: self.time,
            liquid: FrameGeometry::Surfaces(surface),
            drops: vec![DropState {
                id: 1,
                volume,
                velocity: DVec3::new(0.0, self.speed, 0.0),
                speed_max: self.speed.abs(),
                pressure: None,
            }],
            balance: VolumeBalance { added: volume, ..VolumeBalance::default() },
            ..Frame::default()
        }
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn save(&self) -> Vec<u8> {
        [self.time, self.y, self.speed].iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let values: Vec<f64> =
            state.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect();
        let [time, y, speed] = values[..] else { return Err(RestoreError("three numbers are due".into())) };
        (self.time, self.y, self.speed) = (time, y, speed);
        Ok(())
    }
}

/// A scene without solids, lasting this many frames of 10 ms.
pub fn scene(frames: u32, settle: bool) -> Scene {
    let text = format!(
        "model = \"volume\"\n[time]\nduration = \"{} ms\"\nframe = \"10 ms\"\nsettle = {settle}\n",
        10 * frames
    );
    parse_str("ball.toml", &text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene
}

/// Records the reports of a run.
#[derive(Default)]
pub struct Listener {
    pub notices: Mutex<Vec<String>>,
    pub activities: Mutex<Vec<(Activity, usize)>>,
    pub positions: Mutex<Vec<(usize, f64)>>,
}

impl Listener {
    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }
}

impl Progress for Listener {
    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.to_owned());
    }
    fn begin(&self, activity: Activity, total: usize) {
        self.activities.lock().unwrap().push((activity, total));
    }
    fn advance(&self, done: usize, fraction: f64) {
        self.positions.lock().unwrap().push((done, fraction));
    }
    fn end(&self) {}
}

/// Requests a stop after a number of reports.
struct StopAfter<'a> {
    reports: u64,
    seen: AtomicU64,
    stop: &'a AtomicBool,
}

impl Progress for StopAfter<'_> {
    fn notice(&self, _text: &str) {}
    fn begin(&self, _activity: Activity, _total: usize) {}
    fn advance(&self, _done: usize, _fraction: f64) {
        // The first report comes before the first step.
        if self.seen.fetch_add(1, Ordering::SeqCst) >= self.reports {
            self.stop.store(true, Ordering::SeqCst);
        }
    }
    fn end(&self) {}
}

/// Runs the ball to its end; also returns the reports of the run.
pub fn run_ball(scene: &Scene, options: &RunOptions, damping: f64) -> (Result<RunOutcome, RunError>, Listener) {
    let listener = Listener::default();
    let result = run_with(|scene| ball(scene, damping), scene, options, &listener, &AtomicBool::new(false));
    (result, listener)
}

/// Runs the ball until it has made `reports` progress reports after the first.
pub fn run_ball_until(scene: &Scene, options: &RunOptions, damping: f64, reports: u64) -> Result<RunOutcome, RunError> {
    let stop = AtomicBool::new(false);
    let progress = StopAfter { reports, seen: AtomicU64::new(0), stop: &stop };
    run_with(|scene| ball(scene, damping), scene, options, &progress, &stop)
}

fn ball(scene: &Scene, damping: f64) -> Result<Built, BuildError> {
    Ok(Built { model: Box::new(Ball::new(scene, damping)), notices: Vec::new() })
}

/// Contents of all frames and of the measures, by path.
pub fn results(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files =
        BTreeMap::from([(PathBuf::from("measure.jsonl"), fs::read(run.join("measure.jsonl")).expect("measures"))]);
    for entry in fs::read_dir(run.join("frames")).expect("frames") {
        let path = entry.expect("an entry").path();
        files.insert(path.strip_prefix(run).expect("inside").to_owned(), fs::read(&path).expect("a frame"));
    }
    files
}
