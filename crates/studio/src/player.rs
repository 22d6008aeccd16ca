//! Plays run folders: frames on a timeline, and the measures of all frames.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use sessile_frames::{Frame, RunFolder, WetMap};
use sessile_interaction::{Looks, angles, describe, mesh_message};
use sessile_model::View;
use sessile_scene::{Scene, parse_file};
use sessile_world::World;

use crate::engine::Event;
use crate::hub::{Mailbox, Outgoing};
use crate::protocol::{WetImages, frame_message};

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
    /// Everything about a drop in the frames that are shown; without an id no more.
    Select {
        #[serde(default)]
        run: usize,
        id: Option<u32>,
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
    looks: Looks,
    frames: Vec<u64>,
    /// The drop that is selected, and the frame that was shown last.
    selected: Option<u32>,
    shown: u64,
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
                Ok(Event::Said(window, text)) => match serde_json::from_str(&text) {
                    Ok(Ask::Frame { run, frame }) => self.show(run, frame, &window),
                    Ok(Ask::Select { run, id }) => self.select(run, id, &window),
                    _ => {}
                },
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

    fn introduce(&mut self, window: &Mailbox) {
        for (index, run) in self.runs.iter().enumerate() {
            let mut message = describe(&run.scene, &run.world, &run.looks, &run.path.display().to_string());
            message["run"] = json!(index);
            message["runs"] = json!(self.runs.len());
            send(window, &message);
            for solid in run.world.solids() {
                window.send(Outgoing::Binary(mesh_message(solid, index).into()));
            }
            for picture in run.looks.pictures() {
                window.send(Outgoing::Binary(picture.message(index).into()));
            }
            send(window, &run.timeline(index));
        }
        for index in 0..self.runs.len() {
            if let Some(&first) = self.runs[index].frames.first() {
                self.show(index, first, window);
            }
        }
    }

    fn show(&mut self, index: usize, frame: u64, window: &Mailbox) {
        let Some(run) = self.runs.get_mut(index) else { return };
        match run.view(index, frame) {
            Ok(message) => window.send(Outgoing::Binary(message.into())),
            Err(error) => send(window, &json!({"kind": "error", "text": error})),
        }
        // Frames may come in any order: wet maps are sent whole.
        let maps = run.wet_maps(frame);
        for image in WetImages::new().changes(&maps, run.world.solids().len(), index) {
            window.send(Outgoing::Binary(image.into()));
        }
        run.shown = frame;
        run.say_selected(index, window);
    }

    /// Selects a drop of one run, and none of the others.
    fn select(&mut self, index: usize, id: Option<u32>, window: &Mailbox) {
        for (other, run) in self.runs.iter_mut().enumerate() {
            run.selected = id.filter(|_| other == index);
            run.say_selected(other, window);
        }
    }
}

impl Run {
    fn open(path: &Path) -> Result<Self, String> {
        let folder = RunFolder::open(path).map_err(|error| error.to_string())?;
        let scene = parse_file(&folder.scene_path(), &[]).map_err(|errors| errors.to_string())?.scene;
        let world = World::build(&scene).map_err(|error| error.to_string())?;
        let looks = Looks::of(&scene, &world);
        let (path, frames) = (path.to_owned(), Vec::new());
        let mut run = Self { folder, path, scene, world, looks, frames, selected: None, shown: 0 };
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

    /// The file of measures, one frame per line.
    fn measures(&self) -> String {
        use std::io::Read as _;
        let mut text = String::new();
        let file = sessile_input::open(&self.folder.measures_path(), u64::MAX);
        if let Ok(file) = file {
            // A line that is being written is left out.
            let _ = file.take(LARGEST_MEASURES).read_to_string(&mut text);
        }
        text
    }

    /// The wet maps of a frame; none where it has none.
    fn wet_maps(&self, number: u64) -> Vec<WetMap> {
        let solids: Vec<_> = self.world.solids().iter().map(sessile_world::Solid::name).collect();
        let names = sessile_frames::names::safe_names(&solids);
        let read = |(index, name): (usize, &String)| self.folder.read_wet(name, index, number).ok().flatten();
        names.iter().enumerate().filter_map(read).collect()
    }

    /// Tells a window the measures of the selected drop in the frame that is shown.
    fn say_selected(&self, index: usize, window: &Mailbox) {
        let Some(id) = self.selected else { return };
        let text = self.measures();
        let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let line = lines.find(|line| line["frame"].as_u64() == Some(self.shown)).unwrap_or_default();
        let drops = line["drops"].as_array();
        let drop = drops.and_then(|drops| drops.iter().find(|drop| drop["id"].as_u64() == Some(u64::from(id))));
        let Some(drop) = drop else {
            return send(window, &json!({"kind": "selected", "run": index, "id": id, "gone": true}));
        };
        let solid = drop["on"].as_str().and_then(|name| self.world.solid(name));
        let velocity = drop["velocity"]
            .as_array()
            .map_or(0.0, |parts| parts.iter().filter_map(Value::as_f64).map(|part| part * part).sum::<f64>().sqrt());
        send(
            window,
            &json!({
                "kind": "selected", "run": index, "id": id, "volume": drop["volume"], "speed": velocity, "age": null,
                "on": drop["on"], "measured": drop["contact_angle_deg"]["mean"], "height": drop["height"],
                "base_radius": drop["base_radius"],
                "angles": solid.map(|solid| angles(&solid.wetting_at(glam::DVec2::splat(0.5)))),
            }),
        );
    }

    /// Frames, their interval, and the measures of all frames.
    fn timeline(&self, index: usize) -> Value {
        let text = self.measures();
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
