//! Contact angle: φ is extended into solids along circular arcs that meet the wall at the angle θ.
//!
//! φ is the distance to the liquid–air interface alone and continues inside solids, so that
//! curvature, advection and redistancing need no special case at a wall. In the plane of the wall's
//! normal N and the interface's normal, take the interface for a circle of curvature κ_n. Then P =
//! φ (2 + κ_n φ) is a quadratic in the distance s to the wall, with P'' = 2 κ_n, and Young's
//! condition φ' = cos θ at s = 0 gives P'(0) = 2 cos θ. From φ at the height s_y:
//!
//! ```text
//! P(s) = P(s_y) + 2 cos θ (s − s_y) + κ_n (s² − s_y²),      φ(s) = P / (1 + √(1 + κ_n P))
//! ```
//!
//! Off the contact line, a wall of curvature κ_w has turned by κ_w φ, and cos θ + κ_w φ replaces
//! cos θ.
//!
//! κ_n comes from φ at three heights along N: with q = φ'' / (1 − φ'²), κ_n = q / (1 − q φ). It is
//! bounded by `MAX_CURVATURE`, which acts only where the interface is not resolved. A straight line
//! instead of the arc has no curvature below the wall, and the curvature of a cap is then wrong by
//! a quarter.
//!
//! θ is the angle that the interface makes with the wall, kept between the receding and the
//! advancing angle; between the two the line is pinned. Where it moves, θ is the angle that a line
//! of that speed has at a cell's distance ([`moving_line`](crate::moving_line)). No time-step
//! limit. Lengths are in cells.

use glam::DVec3;
use rayon::prelude::*;
use sessile_numerics::math;

use crate::extrapolation::sample as velocity_at;
use crate::grid::{CENTER, Grid, cubic, linear, local_center, smooth_gradient};
use crate::level_set_advection::LIFT;
use crate::line_state::LineState;
use crate::mirrors::MirrorScratch;
use crate::moving_line::MovingLine;
use crate::redistance::PHI_MAX;
use crate::scratch::Scratch;
use crate::solids::{SOLID_BAND, Solids, Wall};
use crate::state::State;
use crate::tiles::{CellIndex, Field, Tiles};

/// Heights above the wall at which φ is sampled; the lowest is s_y.
const HEIGHTS: [f64; 3] = [0.75, 1.75, 2.75];
/// Bound on the arc's curvature, per cell.
const MAX_CURVATURE: f64 = 0.3;
/// Distance from the interface up to which the arc is curved, and depth to which it is, in cells.
const CURVATURE_BAND: f64 = 2.5;
const CURVATURE_DEPTH: f64 = 2.0;
/// Largest wall curvature that is taken into account, per cell; sharper features are edges.
const MAX_WALL_CURVATURE: f64 = 0.25;
/// Relaxation factor of one pass. Samples above a tilted wall depend on a few cells inside it; at
/// angles below 45° that feedback overshoots without relaxation (measured: 0.7 still grows at 40°,
/// 0.5 converges).
const RELAXATION: f64 = 0.5;
/// Passes that converge φ inside solids from any initial values.
pub const CONVERGENCE_PASSES: usize = 16;
/// Depth to which φ is extended into solids: what the widest stencil at a cell outside can reach.
///
/// At 4 cells drops of the paper's operators creep on a vertical pane.
pub const DEPTH: f64 = SOLID_BAND;
/// Half width of the narrow band: cells farther from the interface need no exact φ.
pub const BAND: f64 = 5.0;

/// Heights above the wall at which the angle is measured; it is extrapolated linearly to the wall.
const ANGLE_HEIGHTS: [f64; 2] = [1.25, 2.5];
/// Cells that are fixed while the line is pinned: |φ| below the first, s between the others.
const PINNED_WITHIN: f64 = 1.5;
const PINNED_FROM: f64 = -0.9;
const PINNED_TO: f64 = 0.7;
/// Largest component of a wall's normal above which the wall lies along the grid.
const ALONG_GRID: f64 = 0.99;
/// Height of the lowest layer of cells above a wall, in cells; that of a wall through cell centers
/// counts, whatever its rounding.
pub const LOWEST_LAYER: f64 = 1.0 + 1e-6;

/// Distance ahead of the contact line at which the wetting history decides between the dry and the
/// wet advancing angle, in cells.
pub const AHEAD: f64 = 1.25;

/// Squared slope along the wall, over sin²θ: below the first value the interface counts as parallel
/// to the wall, above the second not at all.
const PARALLEL: [f64; 2] = [0.02, 0.08];

/// Distance from a front at which its speed decides whether it is static, in cells.
const FRONT_REACH: f64 = 2.0;

/// −φ at the wall above which it counts as covered by liquid, in cells.
const COVERED: f64 = 0.4;

/// Contact angles on the walls.
pub trait AngleLaw: Sync {
    /// Receding and dry advancing angle at a cell, and the bound on the receding line force over γ.
    fn range(&self, wall: &Wall) -> AngleRange;

    /// How the angle follows the line's speed; none if it does not.
    fn moving_line(&self) -> Option<MovingLine> {
        None
    }

    /// Whether the wall has been wet at a point of space; queried only where it makes a difference.
    fn is_wet(&self, _wall: &Wall, _place: DVec3) -> bool {
        false
    }

    /// Velocity of a wall at a point of space, in m/s.
    fn wall_velocity(&self, _wall: &Wall, _place: DVec3) -> DVec3 {
        DVec3::ZERO
    }
}

/// The angles between which a contact line is at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AngleRange {
    /// Receding angle: below it the line recedes, in rad.
    pub receding: f64,
    /// Advancing angle: above it the line advances, in rad.
    pub advancing: f64,
    /// Largest decrease of cos θ while receding: the bound on the line force over γ.
    pub receding_pull: f64,
    /// Speed above which a line counts as moving whatever its angle (wang2005, §6), in m/s; none
    /// where the angle alone decides.
    pub static_speed: Option<f64>,
}

impl AngleRange {
    /// The mean of the two cosines.
    pub fn middle(&self) -> f64 {
        let advancing = math::cos(self.advancing);
        if self.receding == self.advancing { advancing } else { 0.5 * (advancing + math::cos(self.receding)) }
    }

    /// Height below which cells are fixed while the line is pinned above a wall with normal
    /// `normal`, in cells.
    ///
    /// With [`static_speed`](Self::static_speed) the whole lowest layer above a wall along the grid
    /// is: the first-order pressure acts at its centers, and where it lies high no cell would be
    /// fixed. On a tilted wall some of its cells lie low enough everywhere; if those above them
    /// were fixed too, the measured angle would depend on them, and the line never leave.
    pub fn pinning_height(&self, normal: DVec3) -> f64 {
        let along_grid = normal.abs().max_element() > ALONG_GRID;
        if self.static_speed.is_some() && along_grid { LOWEST_LAYER } else { PINNED_TO }
    }

    /// The cosine to impose where the interface meets the wall at `measured`, and what the line may
    /// do.
    pub fn choose(&self, measured: f64) -> (f64, LineState) {
        let (least, most) = (math::cos(self.advancing), math::cos(self.receding));
        let (cosine, state) = if measured < least {
            (least, LineState::Advancing)
        } else if measured > most {
            (most.max(measured - self.receding_pull), LineState::Receding)
        } else {
            (measured, LineState::Pinned { cosine: measured })
        };
        (cosine, if self.advancing > self.receding { state } else { LineState::Free })
    }

    /// The same for a line that was `before` and moves at `speed` (in m/s) out of the liquid: above
    /// [`static_speed`](Self::static_speed) it advances or recedes at any angle.
    ///
    /// A pinned line has no speed of its own; one whose speed has changed its sign has come to rest
    /// in between.
    pub fn choose_by_speed(&self, measured: f64, before: LineState, speed: f64) -> (f64, LineState) {
        let (cosine, at_rest) = self.choose(measured);
        let Some(static_speed) = self.static_speed.filter(|_| at_rest != LineState::Free) else {
            return (cosine, at_rest);
        };
        if before.blocks(speed) || speed.abs() < static_speed {
            return (cosine, at_rest);
        }
        (cosine, if speed > 0.0 { LineState::Advancing } else { LineState::Receding })
    }
}

/// Cosine of the contact angle, measured on φ above the wall and extrapolated to it.
///
/// `at` lies at the distance `s` from a wall with normal `normal`. `None` where the interface runs
/// along the wall.
pub fn measured_cosine(tiles: &Tiles, phi: &Field<f64>, slot: usize, at: DVec3, s: f64, normal: DVec3) -> Option<f64> {
    let mut cosines = [0.0; 2];
    let mut first = None;
    let mut start = at;
    for (cosine, height) in cosines.iter_mut().zip(ANGLE_HEIGHTS) {
        let mut p = start + normal * (height - (s + normal.dot(start - at)));
        let mut slope = smooth_gradient(tiles, phi, slot, p);
        for _ in 0..2 {
            let tangent = slope - normal * slope.dot(normal);
            let steepness = tangent.length_squared();
            if steepness < 0.02 {
                return first;
            }
            let step = tangent * (linear(tiles, phi, slot, p, CENTER) / steepness);
            p -= step.clamp_length_max(3.0);
            slope = smooth_gradient(tiles, phi, slot, p);
        }
        *cosine = slope.normalize_or_zero().dot(normal);
        first = Some(cosine.clamp(-0.999, 0.999));
        start = p;
    }
    Some((2.0 * cosines[0] - cosines[1]).clamp(-0.999, 0.999))
}

/// The interface above a wall and its continuation to the distance s from it.
#[derive(Clone, Copy)]
struct Arc {
    /// κ_n, per cell.
    curvature: f64,
    /// P(s).
    p: f64,
    /// s − s_y.
    depth: f64,
}

impl Arc {
    /// The arc at the distance `s` from the wall, from `samples` of φ at the three heights and the
    /// cosine `cosine`.
    ///
    /// Curvature is trusted near the interface only ([`CURVATURE_BAND`]) and continued to the depth
    /// [`CURVATURE_DEPTH`]; beyond it P is linear. Farther out it is accumulated noise, which would
    /// return as a spurious interface when φ is redistanced.
    fn new([f, middle, high]: [f64; 3], s: f64, cosine: f64) -> Self {
        let slope = 0.5 * (high - f);
        let q = (f - 2.0 * middle + high) / (1.0 - slope * slope).max(0.05);
        // The noise of a second difference along N grows as 1/sin²θ.
        let bound = MAX_CURVATURE * (CURVATURE_BAND - f.abs()).clamp(0.0, 1.0) * (1.0 - cosine * cosine);
        let curvature = (q / (1.0 - q * middle).max(0.2)).clamp(-bound, bound);
        let s_y = HEIGHTS[0];
        let square = if s > -CURVATURE_DEPTH { s * s } else { -CURVATURE_DEPTH * (2.0 * s + CURVATURE_DEPTH) };
        let p = f * (2.0 + curvature * f) + 2.0 * cosine * (s - s_y) + curvature * (square - s_y * s_y);
        Self { curvature, p, depth: s - s_y }
    }

    /// φ there.
    fn phi(self) -> f64 {
        self.p / (1.0 + (1.0 + self.curvature * self.p).max(1e-4).sqrt())
    }

    /// What the cosine of an arc of the same curvature that has `phi` there exceeds this one's by.
    fn excess_of(self, phi: f64) -> f64 {
        (phi * (2.0 + self.curvature * phi) - self.p) / (2.0 * self.depth)
    }
}

/// Slope with which φ continues into the wall: `cosine` at a contact line, its own slope where the
/// interface runs along the wall.
///
/// A film has no contact line. With one imposed under it, φ has a kink at the wall, and each
/// redistancing lifts a film of one cell by a twelfth of its thickness, so that it never thins.
fn slope_into_wall([f, middle, _]: [f64; 3], cosine: f64) -> f64 {
    let slope = (middle - f).clamp(-1.0, 1.0);
    // |∇φ|² along the wall, relative to its value at a contact line.
    let along = (1.0 - slope * slope) / (1.0 - cosine * cosine).max(1e-3);
    let [none, all] = PARALLEL;
    // The wall is covered under a film and dry ahead of a contact line.
    let dry = (1.0 + (f - HEIGHTS[0] * slope) / COVERED).clamp(0.0, 1.0);
    let share = ((along - none) / (all - none)).clamp(0.0, 1.0).max(dry);
    slope + share * (cosine - slope)
}

/// Correction κ_w φ of the cosine at a cell whose foot on the wall is off the contact line.
///
/// From the line to the foot, at ℓ = −φ/sin θ, the wall's normal turns by κ_w ℓ, and its component
/// along the interface's normal falls by κ_w ℓ sin θ.
fn wall_curvature_term(
    tiles: &Tiles,
    phi: &Field<f64>,
    solids: &Solids,
    index: CellIndex,
    foot: DVec3,
    [f, middle, _]: [f64; 3],
) -> f64 {
    if solids.is_flat(tiles, index) {
        return 0.0;
    }
    let at_wall = f - HEIGHTS[0] * (middle - f);
    let normal = solids.normal(tiles, index);
    let slope = smooth_gradient(tiles, phi, index.slot(), foot);
    let along = (slope - normal * slope.dot(normal)).normalize_or_zero();
    solids.curvature_along(tiles, index, along).clamp(-MAX_WALL_CURVATURE, MAX_WALL_CURVATURE)
        * at_wall.clamp(-CURVATURE_BAND, CURVATURE_BAND)
}

/// Extends φ into solids at the contact angle, and marks the cells at which the contact line is
/// pinned.
pub fn impose_contact_angle(state: &mut State, scratch: &mut Scratch, law: &impl AngleLaw) {
    let State { grid, solids, phi, line, velocity, .. } = state;
    let Scratch { field, mirrors, .. } = scratch;
    extend_moving(&Extension { grid, solids, law, velocity: Some(velocity) }, phi, line, field, mirrors);
}

/// One pass of the extension for liquid at rest; `scratch` holds what is being written.
#[cfg(test)]
pub fn extend_into_solids(
    grid: &Grid,
    solids: &Solids,
    law: &impl AngleLaw,
    phi: &mut Field<f64>,
    line: &mut Field<LineState>,
    scratch: &mut Field<f64>,
) {
    extend_moving(&Extension { grid, solids, law, velocity: None }, phi, line, scratch, &mut MirrorScratch::default());
}

/// What the extension reads besides φ.
struct Extension<'a, L> {
    grid: &'a Grid,
    solids: &'a Solids,
    law: &'a L,
    /// Velocity at faces; none for liquid at rest.
    velocity: Option<&'a [Field<f64>; 3]>,
}

/// One pass of the extension. Pinned cells keep their φ when the interface moves.
fn extend_moving<L: AngleLaw>(
    extension: &Extension<'_, L>,
    phi: &mut Field<f64>,
    line: &mut Field<LineState>,
    scratch: &mut Field<f64>,
    mirrors: &mut MirrorScratch,
) {
    let Extension { grid, solids, .. } = *extension;
    let (tiles, before) = (&grid.tiles, &*phi);
    (scratch.par_tiles_mut(), line.par_tiles_mut(), &solids.near)
        .into_par_iter()
        .enumerate()
        .filter(|(_, (_, _, near))| **near)
        .for_each(|(slot, (out, line, _))| {
            out.copy_from_slice(before.tile(slot));
            for local in 0..tiles.cells_in_use() {
                extension.extend_at_cell(before, slot, local, &mut out[local], &mut line[local]);
            }
        });
    let after = &*scratch;
    phi.par_tiles_mut().zip(&solids.near).enumerate().filter(|(_, (_, near))| **near).for_each(|(slot, (phi, _))| {
        phi.copy_from_slice(after.tile(slot));
    });
    if !solids.mirrors.is_empty() {
        solids.mirrors.reflect_phi(tiles, phi, mirrors);
        solids.mirrors.reflect_line(tiles, line, mirrors);
    }
}

/// Whether the wall has been wet just ahead of the contact line near `at`, at the height `s` above
/// a wall with normal `normal`, in tile coordinates.
///
/// The point lies [`AHEAD`] of the line; its foot on the wall is what the law is asked for.
pub fn is_wet_ahead(
    grid: &Grid,
    phi: &Field<f64>,
    law: &impl AngleLaw,
    wall: &Wall,
    slot: usize,
    [at, normal]: [DVec3; 2],
    s: f64,
) -> bool {
    let tiles = &grid.tiles;
    let above = at + normal * (HEIGHTS[0] - s);
    let slope = smooth_gradient(tiles, phi, slot, above);
    let tangent = slope - normal * slope.dot(normal);
    let nearby = linear(tiles, phi, slot, above, CENTER);
    let ahead = tangent * ((AHEAD - nearby) / tangent.length_squared().max(0.02));
    let foot = above - normal * HEIGHTS[0] + ahead.clamp_length_max(3.0);
    law.is_wet(wall, grid.position(slot, foot))
}

impl<L: AngleLaw> Extension<'_, L> {
    /// Speed of the contact line near `at` along the wall and out of the liquid, in m/s: that of
    /// the interface just above the wall, relative to it; `reach` is how far it may be, in cells.
    fn line_speed(
        &self,
        phi: &Field<f64>,
        wall: &Wall,
        slot: usize,
        [at, normal]: [DVec3; 2],
        s: f64,
        reach: f64,
    ) -> f64 {
        let (Some(velocity), tiles) = (self.velocity, &self.grid.tiles) else { return 0.0 };
        let above = at + normal * (LIFT - s);
        let slope = smooth_gradient(tiles, phi, slot, above);
        let tangent = slope - normal * slope.dot(normal);
        let steepness = tangent.length_squared();
        if steepness < 0.02 {
            return 0.0;
        }
        let onto = tangent * (linear(tiles, phi, slot, above, CENTER) / steepness);
        let place = above - onto.clamp_length_max(reach);
        let wall_velocity = self.law.wall_velocity(wall, self.grid.position(slot, place));
        (velocity_at(tiles, velocity, slot, place) - wall_velocity).dot(tangent) / steepness.sqrt()
    }

    /// Extends φ at one cell; writes its φ and what the contact line may do there.
    fn extend_at_cell(&self, phi: &Field<f64>, slot: usize, local: usize, out: &mut f64, line: &mut LineState) {
        let Self { grid, solids, law, .. } = *self;
        let tiles = &grid.tiles;
        let index = CellIndex::new(slot, local);
        let s = solids.wall_distance().values()[index];
        let before = std::mem::take(line);
        let near_line = s <= LOWEST_LAYER && s > PINNED_FROM && out.abs() < PINNED_WITHIN;
        if s <= -DEPTH {
            *out = PHI_MAX;
            return;
        }
        let inside = solids.is_in_wall(index);
        if s >= SOLID_BAND || !(near_line || inside) {
            return;
        }
        let normal = solids.normal(tiles, index);
        if normal == DVec3::ZERO {
            return;
        }
        let at = local_center(local);
        let wall = &solids.wall.values()[index];
        let mut range = law.range(wall);
        let hysteresis = range.advancing > range.receding;
        let in_pinning_zone = near_line && s <= range.pinning_height(normal);
        if !(inside || hysteresis && in_pinning_zone) {
            return;
        }
        let foot = at + normal * (HEIGHTS[0] - s);
        let nearby = linear(tiles, phi, slot, foot, CENTER);
        if nearby.abs() > BAND - 0.5 {
            if inside {
                *out = nearby + range.middle() * (s - HEIGHTS[0]);
            }
            return;
        }
        if wall.wet_advancing < range.advancing && is_wet_ahead(grid, phi, law, wall, slot, [at, normal], s) {
            range.advancing = wall.wet_advancing;
        }
        let (cosine, found) = if hysteresis {
            match measured_cosine(tiles, phi, slot, at, s, normal) {
                Some(measured) if range.static_speed.is_some() => range.choose_by_speed(
                    measured,
                    before,
                    self.line_speed(phi, wall, slot, [at, normal], s, FRONT_REACH),
                ),
                Some(measured) => range.choose(measured),
                None => (range.middle(), LineState::Free),
            }
        } else {
            (range.middle(), LineState::Free)
        };
        *line = if in_pinning_zone { found } else { LineState::Free };
        if !inside {
            *line = line.turned_from(before, s, RELAXATION, out);
        }
        if inside {
            let samples = HEIGHTS.map(|height| cubic(tiles, phi, slot, at + normal * (height - s), CENTER));
            let turn = wall_curvature_term(tiles, phi, solids, index, foot, samples);
            let arc =
                |cosine: f64| Arc::new(samples, s, (slope_into_wall(samples, cosine) + turn).clamp(-0.999, 0.999));
            let at_rest = arc(cosine);
            let (end, share) = match law.moving_line().filter(|_| range.static_speed.is_none()) {
                Some(moving) if !found.is_pinned() => {
                    let speed = self.line_speed(phi, wall, slot, [at, normal], s, BAND);
                    let present = (cosine + at_rest.excess_of(*out)).clamp(-0.999, 0.999);
                    let (cosine, share) = moving.angle(cosine, found, speed, present);
                    (arc(cosine), share)
                }
                _ => (at_rest, 1.0),
            };
            *out += RELAXATION * share * (end.phi() - *out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eq. 10 of wang2005 with what it leaves out: held between the two angles, moving beyond them;
    /// a front that is fast moves at any angle, until it turns back.
    #[test]
    fn a_static_front_is_held_between_its_angles_and_a_fast_one_moves() {
        let [advancing, receding, within] = [90f64, 60.0, 75.0].map(f64::to_radians);
        let range = AngleRange { receding, advancing, receding_pull: f64::INFINITY, static_speed: Some(5e-3) };
        let held = LineState::Pinned { cosine: within.cos() };
        let state = |degrees: f64, before: LineState, speed: f64| {
            range.choose_by_speed(degrees.to_radians().cos(), before, speed).1
        };
        assert_eq!(state(75.0, LineState::Free, 0.0), held);
        assert_eq!(state(75.0, LineState::Free, 4e-3), held);
        assert_eq!(state(75.0, LineState::Free, 0.02), LineState::Advancing);
        assert_eq!(state(75.0, LineState::Free, -0.02), LineState::Receding);
        assert_eq!(state(75.0, held, 0.02), held, "a held front has no speed of its own");
        assert_eq!(state(75.0, LineState::Advancing, -0.02), held, "it has turned back");
        assert_eq!(state(95.0, held, 0.0), LineState::Advancing);
        assert_eq!(state(55.0, held, 0.0), LineState::Receding);
        let by_angle = AngleRange { static_speed: None, ..range };
        assert_eq!(by_angle.choose_by_speed(within.cos(), LineState::Free, 0.02).1, held);
    }
}
