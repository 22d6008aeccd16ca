//! Plays run folders: frames on a timeline, and the measures of all frames.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use sessile_frames::{Frame, RunFolder};
use sessile_model::View;
use sessile_scene::{Scene, parse_file};
use sessile_world::World;

use crate::engine::Event;
use crate::hub::{Mailbox, Outgoing};
use crate::protocol::{frame_message, mesh_message, run_scene_message};

/// Time between two looks for new frames of a run that grows.
const LOOK: Duration = Duration::from_secs(2);
/// Largest file of measures that is read, in bytes.
const LARGEST_MEASURES: u64 = 256 << 20;

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Ask {
    /// A frame of a run.
    Frame {
        #[serde(default)]
        run: usize,
        frame: u64,
    },
    /// Anything else that the page asks an engine.
    #[serde(other)]
    Other,
}

/// Run folders that are shown side by side.
pub(crate) struct Player {
    runs: Vec<Run>,
}

struct Run {
    folder: RunFolder,
    path: PathBuf,
    scene: Scene,
    world: World,
    frames: Vec<u64>,
}

impl Player {
    pub fn open(folders: &[PathBuf]) -> Result<Self, String> {
        Ok(Self { runs: folders.iter().map(|folder| Run::open(folder)).collect::<Result<_, _>>()? })
    }

    /// Answers the windows until `stop` is set.
    pub fn run(mut self, events: &Receiver<Event>, stop: &AtomicBool) -> Result<(), String> {
        let mut windows: Vec<Arc<Mailbox>> = Vec::new();
        let mut looked = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            match events.recv_timeout(Duration::from_millis(50)) {
                Ok(Event::Joined(window)) => {
                    self.introduce(&window);
                    windows.push(window);
                }
                Ok(Event::Said(window, text)) => {
                    if let Ok(Ask::Frame { run, frame }) = serde_json::from_str(&text) {
                        self.show(run, frame, &window);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            windows.retain(|window| !window.is_closed());
            if looked.elapsed() > LOOK {
                looked = Instant::now();
                for (index, run) in self.runs.iter_mut().enumerate() {
                    if run.look() {
                        windows.iter().for_each(|window| send(window, &run.timeline(index)));
                    }
                }
            }
        }
        windows.iter().for_each(|window| window.close());
        Ok(())
    }

    fn introduce(&self, window: &Mailbox) {
        for (index, run) in self.runs.iter().enumerate() {
            let mut message = run_scene_message(&run.scene, &run.world, &run.path.display().to_string());
            message["run"] = json!(index);
            message["runs"] = json!(self.runs.len());
            send(window, &message);
            for solid in run.world.solids() {
                window.send(Outgoing::Binary(mesh_message(solid, index).into()));
            }
            send(window, &run.timeline(index));
        }
        for (index, run) in self.runs.iter().enumerate() {
            if let Some(&first) = run.frames.first() {
                self.show(index, first, window);
            }
        }
    }

    fn show(&self, index: usize, frame: u64, window: &Mailbox) {
        let Some(run) = self.runs.get(index) else { return };
        match run.view(index, frame) {
            Ok(message) => window.send(Outgoing::Binary(message.into())),
            Err(error) => send(window, &json!({"kind": "error", "text": error})),
        }
    }
}

impl Run {
    fn open(path: &Path) -> Result<Self, String> {
        let folder = RunFolder::open(path).map_err(|error| error.to_string())?;
        let scene = parse_file(&folder.scene_path(), &[]).map_err(|errors| errors.to_string())?.scene;
        let world = World::build(&scene).map_err(|error| error.to_string())?;
        let mut run = Self { folder, path: path.to_owned(), scene, world, frames: Vec::new() };
        run.look();
        Ok(run)
    }

    /// Looks for new frames; `true` if there are any.
    fn look(&mut self) -> bool {
        let frames = self.folder.frames().unwrap_or_default();
        let grew = frames.len() != self.frames.len();
        self.frames = frames;
        grew
    }

    /// Frames, their interval, and the measures of all frames.
    fn timeline(&self, index: usize) -> Value {
        use std::io::Read as _;
        let mut text = String::new();
        let file = std::fs::File::open(self.folder.measures_path());
        if let Ok(file) = file {
            // A line that is being written is left out.
            let _ = file.take(LARGEST_MEASURES).read_to_string(&mut text);
        }
        let measures = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let rows = measures.map(|frame| {
            let drops = frame["drops"].as_array().map_or(0, Vec::len);
            let largest = frame["drops"].as_array().and_then(|drops| {
                let volume = |drop: &&Value| drop["volume"].as_f64().unwrap_or(0.0);
                drops.iter().max_by(|a, b| volume(a).total_cmp(&volume(b))).cloned()
            });
            let largest = largest.unwrap_or(Value::Null);
            json!({
                "frame": frame["frame"], "time": frame["time"], "total_volume": frame["total_volume"],
                "added_volume": frame["added_volume"], "lost_volume": frame["lost_volume"],
                "film_volume": frame["film_volume"], "drops": drops,
                "largest": {
                    "id": largest["id"], "volume": largest["volume"], "height": largest["height"],
                    "base_radius": largest["base_radius"], "speed_max": largest["speed_max"],
                    "contact_angle": largest["contact_angle_deg"]["mean"],
                },
            })
        });
        json!({
            "kind": "timeline", "run": index, "frames": self.frames, "interval": self.scene.time.frame,
            "measures": rows.collect::<Vec<_>>(),
        })
    }

    /// A frame as a view.
    fn view(&self, index: usize, number: u64) -> Result<Vec<u8>, String> {
        let text = |error: sessile_frames::FolderError| error.to_string();
        let (surface, _) = self.folder.read_frame(number).map_err(text)?;
        let mut world = self.world.clone();
        let time = number as f64 * self.scene.time.frame;
        world.advance_to(time);
        let mut frame = Frame { time, ..Frame::default() };
        let instances = self.folder.read_instances(number).map_err(text)?;
        frame.liquid = match instances {
            Some(instances) => sessile_frames::FrameGeometry::Instances(instances),
            None => surface.into(),
        };
        let mut view = View::default();
        view.set_frame(&frame);
        Ok(frame_message(&view, &world, index, number))
    }
}

fn send(window: &Mailbox, message: &Value) {
    window.send(Outgoing::Text(message.to_string().into()));
}
