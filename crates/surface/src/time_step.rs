//! Length of the next step, and the substeps of every drop.
//!
//! ```text
//! Δt ≤ max_step (waves), max_step_settling, the paper's reference step, or surface.dt
//! n  = ⌈(u_def Δt + approach of the centroid) / (max_approach · edge)⌉ ≤ max_approach_substeps
//! ```
//!
//! The implicit scheme has no stability limit of its own; the limit is that liquid must not pass
//! through a solid within one contact update. A drop that approaches a solid too fast takes n
//! substeps. Only where that solid moves, the whole step is shorter.

use crate::drop::{Drop, Substeps};
use crate::dynamics::zhang2011::REFERENCE_STEP;
use crate::parameters::Parameters;
use crate::state::State;
use crate::substrate::SolidIndex;

/// Longest step where the scene sets none, in s.
pub fn usual_step(params: &Parameters) -> f64 {
    match (&params.paper, params.settle) {
        (Some(_), _) => REFERENCE_STEP,
        (None, true) => params.numerics.max_step_settling,
        (None, false) => params.numerics.max_step,
    }
}

/// Chooses the length of the next step, at most `limit`, in s, and sets the substeps of all drops
/// that are awake.
pub fn choose_step(state: &mut State, params: &Parameters, limit: f64) -> f64 {
    let longest = params.max_step.unwrap_or(usual_step(params));
    let max_substeps = f64::from(params.numerics.max_substeps);
    let moving = state.substrate.moving_solids();
    let mut dt = longest;
    let State { drops, substrate, .. } = state;
    for drop in drops.iter_mut().filter(|drop| !drop.asleep) {
        drop.substeps = Substeps::default();
        let Some(approach) = Approach::new(drop, params, longest, |p| substrate.world.signed_distance(p)) else {
            continue;
        };
        drop.substeps.remaining = approach.substeps.clamp(1.0, f64::from(params.numerics.max_approach_substeps)) as u32;
        let is_near = |s: &SolidIndex| substrate.solids()[*s].signed_distance(approach.center) < approach.reach;
        if drop.substeps.remaining > 1 && moving.iter().any(is_near) {
            dt = dt.min(longest / f64::from(drop.substeps.remaining));
        }
    }
    let dt = dt.max(longest / max_substeps);
    // Equal steps up to the limit, instead of a short one at the end.
    let dt = if limit > dt { limit / (limit / dt).ceil() } else { limit };
    for drop in drops.iter_mut().filter(|drop| !drop.asleep) {
        let count = (f64::from(drop.substeps.remaining) * dt / longest).ceil().max(1.0);
        drop.substeps = Substeps::new(count as u32, dt, &params.numerics);
    }
    dt
}

/// A drop that may approach a solid by more than the allowed distance.
struct Approach {
    /// Center of the bounding box, in m.
    center: glam::DVec3,
    /// Distance from the center within which a solid may be reached, in m.
    reach: f64,
    /// Substeps that keep the approach below the limit.
    substeps: f64,
}

impl Approach {
    /// `None` where no solid can be reached or the motion is slow enough for one substep.
    ///
    /// What counts is how far liquid approaches the solid, by deformation and with the drop as a
    /// whole: a drop that slides does not approach it.
    fn new(drop: &Drop, params: &Parameters, dt: f64, distance: impl Fn(glam::DVec3) -> f64) -> Option<Self> {
        let numerics = &params.numerics;
        let edges = if params.paper.is_some() { numerics.max_approach_paper } else { numerics.max_approach };
        let allowed = edges * drop.target_edge(params.edge);
        let speed = drop.deformation_speed + drop.velocity.length();
        if speed * dt <= allowed {
            return None;
        }
        let [low, high] = drop.mesh.bounds();
        let (center, radius) = (0.5 * (low + high), 0.5 * low.distance(high));
        let reach = radius + 2.0 * speed * dt;
        let before = distance(center);
        if before >= reach {
            return None;
        }
        let after = distance(center + drop.velocity * dt);
        let path = drop.deformation_speed * dt + (before - after).max(0.0);
        Some(Self { center, reach, substeps: (path / allowed).ceil() })
    }
}
