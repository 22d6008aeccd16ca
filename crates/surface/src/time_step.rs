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
//!
//! In reproduction mode a drop in a steady state takes longer substeps than the others, at most
//! [`LONGEST_SUBSTEP`] and twice its pace. Its last substep δt, in which its velocity u changed by
//! δu and at the end of which it deforms at w, gives the next:
//!
//! ```text
//! w Δt ≤ deformation · edge,   u Δt ≤ path · edge,   |δu/δt| Δt ≤ MAX_GAIN · max(u, SLOW)
//! ```
//!
//! The deformation and the path are larger along solids than in flight ([`Reach`]). Meanwhile the
//! drop waits behind the model, but never beyond the time that a step was asked to reach, where a
//! frame may show it. A substep in which it moves twice as far is rejected, and one in which it is
//! displaced beyond its steady motion: what accelerates a drop at rest, a line that
//! remeshing has moved, lasts for a reference step only. One at whose end the drop has turned is
//! followed by one of half its length: wide drops that nothing pins slosh faster.

use glam::DVec3;
use sessile_numerics::sphere_radius;

use crate::drop::{Drop, Substeps};
use crate::dynamics::zhang2011::REFERENCE_STEP;
use crate::parameters::Parameters;
use crate::state::State;
use crate::substrate::SolidIndex;

/// Largest deformation and path of a drop on solids in a substep longer than the model's step, in
/// edges: along a solid its mesh moves with it.
const MAX_ON_SOLIDS: Reach = Reach { deformation: 0.3, path: 4.0 };
/// The same in flight and at an outlet.
const MAX_IN_FLIGHT: Reach = Reach { deformation: 0.15, path: 2.0 };
/// Largest relative change of a drop's speed in such a substep.
const MAX_GAIN: f64 = 0.2;
/// Largest distance that a gain of velocity may add to a long substep, in edges. With 1, a drop of
/// 1 µL at rest on 120° still moves by 4 edges when its line is remeshed; with 0.25 by 0.1.
const MAX_DISPLACED: f64 = 0.25;
/// Least speed that changes are relative to, in m/s.
const SLOW: f64 = 2e-3;
/// Longest substep, in s.
const LONGEST_SUBSTEP: f64 = 1.0 / 30.0;

/// Longest step where the scene sets none, in s.
pub fn usual_step(params: &Parameters) -> f64 {
    match (&params.paper, params.settle) {
        (Some(_), _) => REFERENCE_STEP,
        (None, true) => params.numerics.max_step_settling,
        (None, false) => params.numerics.max_step,
    }
}

/// Chooses the length of the next step, at most `limit`, in s, and counts the substeps of the drops
/// that approach a solid in a step of the longest length.
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
    if limit > dt { limit / (limit / dt).ceil() } else { limit }
}

/// Divides a step of `dt` seconds into the substeps of each drop that is awake, or lets it wait;
/// none waits beyond the `limit`, in s, in which the drops that wait take equal substeps.
///
/// Drops that approach a solid have the number of substeps that [`choose_step`] gave them; those
/// that were emitted or woken since take one.
pub fn schedule_drops(drops: &mut [Drop], params: &Parameters, dt: f64, limit: f64) {
    let longest = params.max_step.unwrap_or(usual_step(params));
    for drop in drops {
        drop.advanced = 0.0;
        if drop.asleep {
            drop.substeps = Substeps::default();
            continue;
        }
        let due = drop.behind + dt;
        let pace = drop.pace.max(longest);
        let whole = drop.behind + limit;
        let equal = whole / (whole / pace - 1e-9).ceil().max(1.0);
        if pace > longest && dt < limit && drop.substeps.remaining <= 1 && due + 0.5 * dt <= equal {
            drop.behind = due;
            drop.substeps = Substeps::default();
            continue;
        }
        let approach = f64::from(drop.substeps.remaining) * due / longest;
        // Waiting ends half a step before or after the pace; what was disturbed since catches up.
        let count = if drop.substeps.remaining > 1 { approach } else { ((due - 0.5 * dt) / pace).max(1.0) };
        drop.substeps = Substeps::new(count.ceil() as u32, due, &params.numerics);
        (drop.behind, drop.advanced) = (0.0, due);
    }
}

/// How far a drop may move in a substep longer than the model's step, in edges.
struct Reach {
    /// By deformation.
    deformation: f64,
    /// As a whole.
    path: f64,
}

/// How a drop moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// It is held by solids.
    Held,
    /// It slides along solids.
    Sliding,
    /// In flight, or as a stream out of an outlet.
    InFlight,
}

/// Sets the pace of a drop after a substep of `dt` seconds in which its velocity changed by
/// `gained`; whether the drop moved no farther than its pace allowed, or substeps cannot be shorter
/// than `min_dt`.
pub fn update_pace(
    drop: &mut Drop,
    gained: DVec3,
    motion: Motion,
    [dt, min_dt]: [f64; 2],
    params: &Parameters,
) -> bool {
    if params.paper.is_none() || params.max_step.is_some() {
        return true;
    }
    let edge = drop.target_edge(params.edge);
    let (deformation, speed) = (drop.deformation_speed, drop.velocity.length());
    let reach = if motion == Motion::InFlight { MAX_IN_FLIGHT } else { MAX_ON_SOLIDS };
    let (deformed, path) = (reach.deformation * edge, reach.path * edge);
    let displaced = gained.length() * dt > MAX_DISPLACED * edge;
    let too_far = deformation * dt > 2.0 * deformed || speed * dt > 2.0 * path || displaced;
    if too_far && dt > REFERENCE_STEP.max(min_dt) {
        return false;
    }
    let acceleration = gained.length() / dt;
    // What friction holds only sags.
    let steady = if motion == Motion::Held { f64::INFINITY } else { MAX_GAIN * speed.max(SLOW) / acceleration };
    let liquid = &params.liquid;
    let capillary_speed = (liquid.surface_tension / (liquid.density * sphere_radius(drop.volume))).sqrt();
    let is_moving = gained.length() > params.numerics.rest_normal_speed * capillary_speed;
    let has_turned = drop.velocity.dot(drop.velocity - gained) < 0.0;
    let longest = if is_moving && has_turned { 0.5 * dt } else { LONGEST_SUBSTEP.min(2.0 * dt.max(drop.pace)) };
    drop.pace = (deformed / deformation).min(path / speed).min(steady).min(longest).max(REFERENCE_STEP);
    true
}

/// A drop that may approach a solid by more than the allowed distance.
struct Approach {
    /// Center of the bounding box, in m.
    center: DVec3,
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
    fn new(drop: &Drop, params: &Parameters, dt: f64, distance: impl Fn(DVec3) -> f64) -> Option<Self> {
        let numerics = &params.numerics;
        let edges = if params.paper.is_some() { numerics.max_approach_paper } else { numerics.max_approach };
        let allowed = edges * drop.target_edge(params.edge);
        let speed = drop.deformation_speed + drop.velocity.length();
        if speed * dt <= allowed {
            return None;
        }
        let [low, high] = drop.bounds;
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
