//! From scene to frames: builds models, steps them, measures, checkpoints and resumes.
//!
//! [`run`] simulates a scene into a run folder, or resumes an unfinished run. [`Stepper`] makes the
//! same steps without files. [`scenes`] are the example scenes that ship with the program.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use sessile_frames::NoProgress;
//! use sessile_scene::{NoFiles, parse_str};
//! use sessile_sim::{RunOptions, RunOutcome, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//!     model = "pane"
//!     [time]
//!     duration = "0.2 s"
//!     frame = "0.1 s"
//!     [[solids]]
//!     name = "window"
//!     material = "glass"
//!     shape = "plane"
//!     normal = [0, 0, 1]
//!     size = "40 40 mm"
//!     [[drops]]
//!     shape = "cap"
//!     on = "window"
//!     volume = "5 uL"
//!     contact_angle = "40 deg"
//! "#;
//! let scene = parse_str("drop.toml", text, &[], &NoFiles)?.scene;
//! let folder = tempfile::tempdir()?;
//! let options = RunOptions::new(folder.path().join("drop"));
//! let outcome = run(&scene, &options, &NoProgress, &AtomicBool::new(false))?;
//! assert_eq!(outcome, RunOutcome::Done { frame: 2, settled: false });
//! assert!(folder.path().join("drop/frames/00002.ply").exists());
//! # Ok(())
//! # }
//! ```

mod build;
mod clock;
mod measuring;
mod run;
pub mod scenes;
mod settle;
mod shown_volume;
mod stepper;
mod suggest;
mod wet_age;
mod wet_size;

pub use build::{BuildError, Built, build, build_in};
pub use clock::{StageClock, StageTime};
pub use measuring::measure_frame;
pub use run::{RunError, RunOptions, RunOutcome, hardware_threads, run, run_with, thread_pool};
pub use sessile_model::{Estimate, bytes_text, time_text};
pub use settle::{DropPose, Settling};
pub use stepper::{FRAME_TOLERANCE, MeasuredFrame, StepFailure, Stepper, StepperState};
pub use suggest::suggest;
