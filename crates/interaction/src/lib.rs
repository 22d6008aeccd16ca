//! What the studio and the WebAssembly module share: drops under a hand, and what a page shows of a
//! scene.
//!
//! - [`Bead`] is the liquid on a wiping tool, [`Rain`] the rain that is switched on by hand, and
//!   [`Source`] and [`WipingTool`] are what a page names.
//! - [`scene_of_now`] is the present moment as a scene: with it a session is saved, and continued
//!   with another model or liquid.
//! - [`describe`] is what a page must know of a scene, [`Looks`] what it looks like, and
//!   [`mesh_message`] and [`Picture::message`] are the binary messages for it.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bead;
mod description;
mod looks;
mod meshes;
mod moment;
mod rain;
mod tools;

pub use bead::{Bead, Shed};
pub use description::{angles, describe};
pub use looks::{Looks, Picture, PictureKind};
pub use meshes::{MAX_TRIANGLES, mesh_message};
pub use moment::{scene_of_now, with_placed};
pub use rain::Rain;
pub use tools::{Source, WipingTool, wetting};
