//! The physics of sliding drops that the pane and droplet models share.
//!
//! Both models move drops as particles along a solid. Substrate, motion kernel and neighbor search
//! are their own; this crate holds what does not depend on them:
//!
//! | module | what |
//! |---|---|
//! | [`ModelState`], [`IdCounter`], [`SlotIndex`] | time, volume balance, airborne drops, ids and slots |
//! | [`Projectile`], [`Ball`] | ballistic flight |
//! | [`EmissionTarget`], [`apply_emissions`], [`nucleate`] | what emitters and vapor add to the liquid |
//! | [`Trails`], [`FilmSubstrate`] | films behind fast drops, and the beads that they rupture into |
//! | [`Spreads`] | drops that have landed and still spread or retract |
//! | [`Necks`] | the shape of drops that have just coalesced |
//! | [`CoalescenceGroups`], [`survivor`], [`merge_event`] | sets of drops that touch, and what becomes of them |
//!
//! Trails and emissions are generic over the place type of a model: a cell of a pane, or a point on
//! a triangle.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ball;
mod coalescence;
mod emission;
mod necks;
mod slots;
mod spreads;
mod state;
mod trails;

pub use ball::{Ball, Projectile, ball_radius};
pub use coalescence::{CoalescenceGroups, merge_event, survivor};
pub use emission::{CondensingSurface, EmissionTarget, apply_emissions, nucleate};
pub use necks::{NeckPart, NeckParts, Necks, PlannedNeck};
pub use sessile_frames::{DropId, IdCounter, optional_id};
pub use slots::SlotIndex;
pub use spreads::{SpreadOutcome, Spreads};
pub use state::ModelState;
pub use trails::{Bead, FilmSegment, FilmSubstrate, Trails};
