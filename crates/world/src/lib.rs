//! A scene's solids and sources of water, built.

pub mod emitters;
pub mod error;
pub mod forms;
pub mod initial;
mod materials;
mod mesh_files;
mod motion;
pub mod pose;
pub mod random;
pub mod solid;
pub mod supply;
pub mod world;

pub use error::WorldError;
pub use initial::InitialDrop;
pub use pose::{Pose, RigidVelocity};
pub use solid::{PlaneFrame, Solid};
pub use supply::Supply;
pub use world::{World, WorldState};
