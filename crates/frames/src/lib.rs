//! Frames, which models yield, and the run folder that stores them.
//!
//! A model yields a [`Frame`]: closed surfaces, or instances from which they are made, per-drop
//! values, wet maps and the volume balance. [`measure::measure`] measures it, and a [`RunFolder`]
//! stores both, with the checkpoints from which a run resumes. Rendering and export read the folder
//! and do not depend on the model. `docs/run-folder.md` describes every file and every measure.
//!
//! ```
//! use sessile_frames::measure::{MeasureContext, measure};
//! use sessile_frames::ply::FrameId;
//! use sessile_frames::{DropState, Frame, RunFolder, Surface};
//! use glam::DVec3;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A falling "drop" of four triangles, 1 mm across.
//! let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|corner| 1e-3 * corner);
//! let fall = DVec3::new(0.0, -0.5, 0.0);
//! let surface = Surface {
//!     positions: corners.to_vec(),
//!     velocities: vec![fall; 4],
//!     drops: vec![1; 4],
//!     triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
//!     solids: vec![-1; 4],
//! };
//! let volume = 1e-9 / 6.0;
//! let state = DropState { id: 1, volume, velocity: fall, speed_max: 0.5, pressure: None };
//! let frame = Frame { liquid: surface.into(), drops: vec![state], ..Frame::default() };
//!
//! let temporary = tempfile::tempdir()?;
//! let (folder, _) = RunFolder::claim(&temporary.path().join("runs/falling"))?;
//! let measures = measure(&frame, 0, &[], MeasureContext::default())?;
//! folder.write_frame(FrameId { frame: 0, time: frame.time }, &frame.liquid)?;
//! folder.append_measures(&measures)?;
//!
//! assert_eq!(measures.drops[0].height, 1e-3);
//! assert_eq!(folder.read_frame(0)?.0.triangles.len(), 4);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod atomic;
pub mod checkpoint;
mod claimed;
mod cleanup;
mod contact_angle;
pub mod container;
pub mod csv;
pub mod drop_surface;
pub mod drops_file;
pub mod fields;
mod folder;
mod frame;
mod frame_selection;
mod ids;
pub mod instances;
pub mod measure;
mod measures;
pub mod measures_file;
pub mod names;
pub mod ply;
mod progress;
mod run_info;
#[cfg(test)]
mod testing;
mod wet;

pub use atomic::{Durability, FileError};
pub use checkpoint::{Checkpoint, CheckpointError, RunPosition};
pub use claimed::mark_stopped;
pub use container::Block;
pub use fields::{FieldsError, GridFields};
pub use folder::{FolderError, RunFolder};
pub use frame::{DropState, Event, Frame, FrameGeometry, Ids, Surface, VolumeBalance, WetMap};
pub use frame_selection::{FrameSelection, FrameSelectionError};
pub use ids::{DropId, IdCounter, optional_id};
pub use instances::{INSTANCE_THRESHOLD, InstanceError};
pub use measure::{MeasureContext, MeasureError, Solid, measure};
pub use measures::{AngleRange, ContactMeasures, DropMeasures, FrameMeasures};
pub use ply::FrameId;
pub use progress::{Activity, NoProgress, Progress};
pub use run_info::{CostEstimate, RunInfo, RunInfoError, RunStatus, StageSeconds, StageValue, StepTotals};
pub use wet::WetError;
