//! The free surface carried on into solids at the contact angle, by circular arcs.
//!
//! φ is the distance to the liquid–air surface alone, and it goes on inside solids, so that curvature, advection and redistancing need no
//! special case at a wall. What it must be there follows from the contact angle θ. In the plane of the wall's normal N and the surface's, take the
//! surface for a circle of curvature κ_n; then P = φ (2 + κ_n φ) is a quadratic of the distance s to the wall, with P'' = 2 κ_n, and
//! Young's condition φ' = cos θ at s = 0 says P'(0) = 2 cos θ. From φ at the height s_y:
//!
//! ```text
//! P(s) = P(s_y) + 2 cos θ (s − s_y) + κ_n (s² − s_y²),      φ(s) = P / (1 + √(1 + κ_n P))
//! ```
//!
//! Away from the line a wall that bends by κ_w has turned, and cos θ + κ_w φ takes the place of cos θ.
//!
//! κ_n comes from φ at three heights along N: with q = φ'' / (1 − φ'²), κ_n = q / (1 − q φ). It is bounded by `MOST_CURVED`, which
//! acts only where the surface is not resolved.
//!
//! A straight line in place of the arc has no curvature below the wall, and errs by a quarter in κ of a cap.
//!
//! Lengths are in cells.

use glam::DVec3;
use rayon::prelude::*;

use crate::grid::{CENTER, Grid, cubic, linear, local_center, smooth_gradient};
use crate::redistance::BEYOND;
use crate::solids::{REACH, Solids, Wall};
use crate::tiles::{CELLS, Field, Tiles};

/// Heights above the wall where φ is read; the lowest is s_y.
const HEIGHTS: [f64; 3] = [0.75, 1.75, 2.75];
/// Bound on the arc's curvature, per cell.
const MOST_CURVED: f64 = 0.3;
/// Distance from the surface up to which the arc is curved, and depth to which it is, in cells.
const CURVED_WITHIN: f64 = 2.5;
const CURVED_TO: f64 = 2.0;
/// Largest bend of a wall that counts, per cell: what is sharper is an edge.
const MOST_BENT: f64 = 0.25;
/// Share of the way that one pass goes. The samples above a tilted wall lean on a few cells inside it; at angles below 45° that loop
/// overshoots with the whole way (tried: 0.7 still grows at 40°, 0.5 settles).
const RELAX: f64 = 0.5;
/// Passes that take φ inside solids from anything to what belongs there.
pub const SETTLING_PASSES: usize = 16;
/// How deep into solids φ is carried: what the widest stencil at a cell outside can touch.
pub const DEPTH: f64 = REACH;
/// Cells farther than this from the surface need no exact φ.
pub const BAND: f64 = 5.0;

/// Heights above the wall where the angle is measured; it is extrapolated linearly to the wall.
const MEASURED_AT: [f64; 2] = [1.25, 2.5];
/// The zone that is held while the line is pinned: |φ| below the first, s between the others.
const PINNED_WITHIN: f64 = 1.5;
const PINNED_FROM: f64 = -0.9;
const PINNED_TO: f64 = 0.7;

/// How far ahead of the contact line the ground decides whether a front advances over dry or wet ground, in cells.
pub const AHEAD: f64 = 0.75;

/// Squared slope along the wall, in units of sin²θ, below which the surface counts as parallel to it, and above which it does not at all.
const PARALLEL: [f64; 2] = [0.02, 0.08];

/// −φ at the wall from which on it counts as covered, in cells.
const COVERED: f64 = 0.4;

/// What decides the angle at a place on the wall.
pub trait AngleLaw: Sync {
    /// The angle range at a cell: receding, dry advancing and the bound on the receding line force over γ.
    fn range(&self, wall: &Wall) -> AngleRange;

    /// Whether the wall's ground has been wet at a point of space; asked only where that makes a difference.
    fn is_wet(&self, _wall: &Wall, _place: DVec3) -> bool {
        false
    }
}

/// The angles between which a line rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AngleRange {
    /// Below it the line recedes, in rad.
    pub receding: f64,
    /// Above it the line advances, in rad.
    pub advancing: f64,
    /// Most that cos θ may be pulled down by while receding: the bound on the line force over γ.
    pub receding_pull: f64,
    /// Whether a line between the two is pinned.
    pub pins: bool,
}

impl AngleRange {
    /// A cosine between the two.
    pub fn middle(&self) -> f64 {
        let advancing = self.advancing.cos();
        if self.receding == self.advancing { advancing } else { 0.5 * (advancing + self.receding.cos()) }
    }

    /// The cosine that the surface is given at the wall when it meets it at `measured`, and whether the line rests.
    pub fn choose(&self, measured: f64) -> (f64, bool) {
        let (least, most) = (self.advancing.cos(), self.receding.cos());
        if measured < least {
            (least, false)
        } else if measured > most {
            (most.max(measured - self.receding_pull), false)
        } else {
            (measured, self.pins && self.advancing > self.receding)
        }
    }
}

/// The cosine of the angle between surface and wall, read off φ above the wall and carried down to it.
///
/// `at` lies at the distance `s` from a wall with normal `normal`. `None` where the surface runs along the wall.
pub fn measured_cosine(tiles: &Tiles, phi: &Field<f64>, slot: usize, at: DVec3, s: f64, normal: DVec3) -> Option<f64> {
    let mut cosines = [0.0; 2];
    let mut start = at;
    for (cosine, height) in cosines.iter_mut().zip(MEASURED_AT) {
        let mut p = start + normal * (height - (s + normal.dot(start - at)));
        let mut slope = smooth_gradient(tiles, phi, slot, p);
        for _ in 0..2 {
            let tangent = slope - normal * slope.dot(normal);
            let steepness = tangent.length_squared();
            if steepness < 0.02 {
                return None;
            }
            let step = tangent * (linear(tiles, phi, slot, p, CENTER) / steepness);
            p -= step.clamp_length_max(3.0);
            slope = smooth_gradient(tiles, phi, slot, p);
        }
        *cosine = slope.normalize_or_zero().dot(normal);
        start = p;
    }
    Some((2.0 * cosines[0] - cosines[1]).clamp(-0.999, 0.999))
}

/// φ at the distance `s` below the heights where `samples` were taken, for the angle's cosine `cosine`.
///
/// Curvature is believed near the surface only ([`CURVED_WITHIN`]) and carried [`CURVED_TO`] deep, then P goes on straight: farther out it is the
/// noise of many steps, and what it makes of deep cells would come back as a surface when φ is made a distance again.
fn arc(samples: [f64; 3], s: f64, cosine: f64) -> f64 {
    let [f, middle, high] = samples;
    let slope = 0.5 * (high - f);
    let q = (f - 2.0 * middle + high) / (1.0 - slope * slope).max(0.05);
    // The flatter the surface lies on the wall, the more a second difference along N is worth: its noise grows as 1/sin²θ.
    let bound = MOST_CURVED * (CURVED_WITHIN - f.abs()).clamp(0.0, 1.0) * (1.0 - cosine * cosine);
    let curved = (q / (1.0 - q * middle).max(0.2)).clamp(-bound, bound);
    let s_y = HEIGHTS[0];
    let square = if s > -CURVED_TO { s * s } else { -CURVED_TO * (2.0 * s + CURVED_TO) };
    let p = f * (2.0 + curved * f) + 2.0 * cosine * (s - s_y) + curved * (square - s_y * s_y);
    p / (1.0 + (1.0 + curved * p).max(1e-4).sqrt())
}

/// The slope with which φ goes on into the wall: `cosine` at a contact line, its own slope where the surface runs along the wall.
///
/// A film has no contact line. Bent to one under it, φ has a kink at the wall, and each redistancing lifts a film of one cell by a twelfth of its thickness, so that it never thins.
fn unless_parallel([f, middle, _]: [f64; 3], cosine: f64) -> f64 {
    let slope = (middle - f).clamp(-1.0, 1.0);
    // |∇φ|² along the wall, over what it is at a line.
    let along = (1.0 - slope * slope) / (1.0 - cosine * cosine).max(1e-3);
    let [none, all] = PARALLEL;
    // Liquid lies under a film; ahead of a line, where the wall is dry, there is none.
    let dry = (1.0 + (f - HEIGHTS[0] * slope) / COVERED).clamp(0.0, 1.0);
    let share = ((along - none) / (all - none)).clamp(0.0, 1.0).max(dry);
    slope + share * (cosine - slope)
}

/// What the bend κ_w of the wall adds to the cosine at a cell whose foot on the wall is not on the contact line: κ_w φ.
///
/// From the line to the foot, ℓ = −φ/sin θ away, the wall's normal turns by κ_w ℓ, so that its part of the surface's normal falls by κ_w ℓ sin θ.
fn bent(tiles: &Tiles, phi: &Field<f64>, solids: &Solids, index: usize, foot: DVec3, [f, middle, _]: [f64; 3]) -> f64 {
    if solids.is_flat(tiles, index) {
        return 0.0;
    }
    let at_wall = f - HEIGHTS[0] * (middle - f);
    let normal = solids.normal(tiles, index);
    let slope = smooth_gradient(tiles, phi, index / CELLS, foot);
    let along = (slope - normal * slope.dot(normal)).normalize_or_zero();
    solids.bend(tiles, index, along).clamp(-MOST_BENT, MOST_BENT) * at_wall.clamp(-CURVED_WITHIN, CURVED_WITHIN)
}

/// Writes φ into solids, and marks the cells at which the line is pinned.
///
/// Cells that are pinned keep what they have when the surface moves. `scratch` holds what is being written.
pub fn extend(
    grid: &Grid,
    solids: &Solids,
    law: &impl AngleLaw,
    phi: &mut Field<f64>,
    pinned: &mut Field<bool>,
    scratch: &mut Field<f64>,
) {
    let (tiles, before) = (&grid.tiles, &*phi);
    (scratch.par_tiles_mut(), pinned.par_tiles_mut(), &solids.near)
        .into_par_iter()
        .enumerate()
        .filter(|(_, (_, _, near))| **near)
        .for_each(|(slot, (out, pinned, _))| {
            out.copy_from_slice(before.tile(slot));
            pinned.fill(false);
            for local in 0..tiles.cells_in_use() {
                extend_cell(grid, solids, law, before, slot, local, &mut out[local], &mut pinned[local]);
            }
        });
    let after = &*scratch;
    phi.par_tiles_mut().zip(&solids.near).enumerate().filter(|(_, (_, near))| **near).for_each(|(slot, (phi, _))| {
        phi.copy_from_slice(after.tile(slot));
    });
}

#[expect(clippy::too_many_arguments, reason = "a cell, what is known there, and the two values that it gets")]
fn extend_cell(
    grid: &Grid,
    solids: &Solids,
    law: &impl AngleLaw,
    phi: &Field<f64>,
    slot: usize,
    local: usize,
    out: &mut f64,
    pinned: &mut bool,
) {
    let tiles = &grid.tiles;
    let index = slot * CELLS + local;
    let s = solids.distance.values()[index];
    let held = s < PINNED_TO && s > PINNED_FROM && out.abs() < PINNED_WITHIN;
    if s <= -DEPTH {
        *out = BEYOND;
        return;
    }
    let inside = solids.hold(index);
    if s >= REACH || !(held || inside) {
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
    if !inside && !hysteresis {
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
    if wall.wet_advancing < range.advancing {
        let slope = smooth_gradient(tiles, phi, slot, foot);
        let tangent = slope - normal * slope.dot(normal);
        let ahead = tangent * ((AHEAD - nearby) / tangent.length_squared().max(0.02));
        let ground = foot - normal * HEIGHTS[0] + ahead.clamp_length_max(3.0);
        if law.is_wet(wall, grid.position(slot, ground)) {
            range.advancing = wall.wet_advancing;
        }
    }
    let (cosine, rests) = if hysteresis {
        match measured_cosine(tiles, phi, slot, at, s, normal) {
            Some(measured) => range.choose(measured),
            None => (range.middle(), false),
        }
    } else {
        (range.middle(), false)
    };
    *pinned = held && rests;
    if inside {
        let samples = HEIGHTS.map(|height| cubic(tiles, phi, slot, at + normal * (height - s), CENTER));
        let cosine = unless_parallel(samples, cosine);
        let cosine = (cosine + bent(tiles, phi, solids, index, foot, samples)).clamp(-0.999, 0.999);
        *out += RELAX * (arc(samples, s, cosine) - *out);
    }
}
