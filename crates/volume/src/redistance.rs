//! φ is made a distance again, without moving the surface.
//!
//! The surface is where the cubic interpolant of φ vanishes. For each cell in the band its nearest point y on it is found by Newton's method (chopp2001): with g = ∇φ(y),
//!
//! ```text
//! y ← y − φ(y) g/|g|²,      y ← y + the part of x − y that is perpendicular to g
//! ```
//!
//! Cells that begin with a useful φ start from x − φ∇φ/|∇φ|²; the others start from the nearest of their neighbors' points, layer by layer outwards.
//! Where the method does not settle (between two surfaces that are close) a cell keeps the distance to the nearest of its neighbors' points, or its old φ.
//!
//! Because the surface is defined by the interpolant, which is exact on quadratics, repeated use does not shift it where it is smooth. Where φ has a kink within a cell or two (under a
//! film, at a rim) it does: a film of one cell is lifted by a twelfth each time, and a spreading drop grows by a fifth in all. So φ is shifted back by what its neighborhood of 27 cells has gained, over the surface
//! in it (after sussman1999, with shares of cells in place of a smeared step):
//!
//! ```text
//! φ ← φ + Σ (F_new − F_old) / Σ A        F a cell's liquid share, A = −dF/dφ
//! ```
//!
//! Cells of a pinned line, and cells inside solids, which the extension writes, keep their φ.
//!
//! **In solids** the surface was itself made from φ outside, and measuring to it there would let the two feed one another: at contact angles below 45° noise grows, and a sheet creeps
//! away along the wall. So the surface is believed down to `BELIEVED_TO` only, and goes on from there along its tangent plane: a cell whose nearest point y lies deeper takes
//!
//! ```text
//! φ = (x − y')·n(y'),      y' the point of the surface at that depth on the way up from y,  n its normal
//! ```

use glam::DVec3;
use rayon::prelude::*;

use crate::extension::BAND;
use crate::fractions::{FAR, cell_share, shifted_share};
use crate::grid::{CENTER, cubic_gradient, gradient, linear, local_center};
use crate::solids::Solids;
use crate::tiles::{CELLS, Field, NONE, SELF, SIDE, Tiles, local_cell};

/// Distance beyond which a cell starts from its neighbors.
const OWN_START: f64 = 3.0;
/// Value of cells beyond the band.
pub const BEYOND: f64 = BAND + 1.0;
/// Newton steps.
const STEPS: usize = 4;
/// Where a step no longer moves the point by more than this, it has settled, in cells.
const SETTLED: f64 = 1e-3;
/// A last step longer than this shows that there is no surface where the method looks for one, in cells.
const CONVERGED: f64 = 0.25;
/// Depth in solids down to which the surface is believed, in cells.
const BELIEVED_TO: f64 = 0.75;
/// Least slope of the surface's steepest line against the wall, as a sine, at which the way up can be gone.
const LEAST_RISE: f64 = 0.1;
/// Least surface in a neighborhood over which its gain is spread, and the most by which φ is shifted, in cells.
const LEAST_AREA: f64 = 0.5;
const MOST_SHIFTED: f64 = 0.25;
/// Distance from the surface up to which sums round cells are made beforehand, in cells.
const ASKED_FOR: f64 = 1.0;
/// Cells of a layer of a tile.
const LAYER: usize = SIDE * SIDE;
/// Layers outwards from [`OWN_START`] to the band's end.
const LAYERS: usize = 4;

/// Memory that is used again: the offset from each cell's center to its nearest point of the surface.
#[derive(Debug)]
pub struct Redistance {
    nearest: Field<Nearest>,
    fronts: Vec<Front>,
    /// The cells that know a point.
    known: Vec<Mask>,
    gains: Field<Gain>,
    sums: Field<Gain>,
}

/// One bit for each cell of a tile, a word for each layer.
type Mask = [u64; SIDE];

/// The cells of a tile that may still be given a point, and what was found for some of them but not yet written.
#[derive(Debug, Default)]
struct Front {
    open: Mask,
    found: Vec<(u16, Nearest)>,
}

/// The nearest point of the surface, from the cell's center, and φ if it is the distance to a tangent plane; neither finite where it is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Nearest(DVec3, f64);

const UNKNOWN: Nearest = Nearest(DVec3::NAN, f64::NAN);

impl Nearest {
    fn distance(&self) -> f64 {
        if self.1.is_finite() { self.1.abs() } else { self.0.length() }
    }
}

impl Default for Redistance {
    fn default() -> Self {
        Self {
            nearest: Field::new(UNKNOWN),
            fronts: Vec::new(),
            known: Vec::new(),
            gains: Field::new(Gain::default()),
            sums: Field::new(Gain::default()),
        }
    }
}

impl Redistance {
    /// Makes φ a distance within the band, and ±[`BEYOND`] outside.
    pub fn apply(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        pinned: &Field<bool>,
        phi: &mut Field<f64>,
        scratch: &mut Field<f64>,
    ) {
        let Self { nearest, fronts, known, .. } = self;
        nearest.resize(tiles);
        fronts.resize_with(tiles.len().max(fronts.len()), Front::default);
        let fronts = &mut fronts[..tiles.len()];
        let before = &*phi;
        let cells = tiles.cells_in_use();
        let believed = |found: Nearest, slot: usize, local: usize| {
            if solids.near[slot] && found.0.is_finite() {
                believed(tiles, solids, before, slot, local, found)
            } else {
                found
            }
        };
        known.clear();
        known.resize(tiles.len(), Mask::default());
        let starts = (nearest.par_tiles_mut(), &mut *fronts, &mut *known);
        starts.into_par_iter().enumerate().for_each(|(slot, (out, front, known))| {
            let values = before.tile(slot);
            front.open = Mask::default();
            for local in 0..cells {
                let start = values[local];
                out[local] = UNKNOWN;
                if start.abs() < OWN_START {
                    let slope = gradient(tiles, before, slot * CELLS + local);
                    let steep = slope.length_squared();
                    if steep > 0.1 {
                        out[local] =
                            believed(find(tiles, before, slot, local, -slope * (start / steep), STEPS), slot, local);
                    }
                }
                let bit = 1 << (local % LAYER);
                if out[local].0.is_finite() {
                    known[local / LAYER] |= bit;
                } else if start >= -2.0 * BEYOND {
                    front.open[local / LAYER] |= bit;
                }
            }
        });
        for _ in 0..LAYERS {
            let points = &*nearest;
            fronts.par_iter_mut().enumerate().for_each(|(slot, front)| {
                front.found.clear();
                for (layer, beside) in beside(tiles, known, slot).into_iter().enumerate() {
                    let mut asked = beside & front.open[layer];
                    while asked != 0 {
                        let local = layer * LAYER + asked.trailing_zeros() as usize;
                        asked &= asked - 1;
                        let start = nearest_of_neighbors(tiles, points, slot * CELLS + local);
                        let Some(start) = start.filter(|start| start.length() < BEYOND + 0.5) else { continue };
                        let found = believed(find(tiles, before, slot, local, start, 2), slot, local);
                        let found = if found.0.is_finite() { found } else { Nearest(start, f64::NAN) };
                        front.found.push((local as u16, found));
                    }
                }
            });
            (nearest.par_tiles_mut(), &mut *fronts, &mut *known).into_par_iter().for_each(|(out, front, known)| {
                for &(local, found) in &front.found {
                    let (local, bit) = (usize::from(local), 1 << (usize::from(local) % LAYER));
                    out[local] = found;
                    known[local / LAYER] |= bit;
                    front.open[local / LAYER] &= !bit;
                }
            });
        }
        let known = &*nearest;
        scratch.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            let values = before.tile(slot);
            out.copy_from_slice(values);
            let near = solids.near[slot];
            for local in 0..cells {
                let index = slot * CELLS + local;
                if near && (pinned.values()[index] || (solids.hold(index) && values[local].abs() < BAND)) {
                    continue;
                }
                let distance = known.values()[index].distance();
                out[local] = if distance < BAND { distance } else { BEYOND }.copysign(values[local]);
            }
        });
        phi.swap_values(scratch);
        self.keep_volume(tiles, solids, pinned, phi, scratch);
    }

    /// Shifts φ so that the liquid in each neighborhood of 27 cells is what it was; `before` is φ of then, and ends as scratch.
    fn keep_volume(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        pinned: &Field<bool>,
        phi: &mut Field<f64>,
        before: &mut Field<f64>,
    ) {
        let Self { nearest, gains, sums, .. } = self;
        gains.resize(tiles);
        sums.resize(tiles);
        let (new, old) = (&*phi, &*before);
        let cells = tiles.cells_in_use();
        gains.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for (local, out) in out.iter_mut().enumerate().take(cells) {
                let index = slot * CELLS + local;
                let is_cut = [new, old].into_iter().any(|phi| phi.values()[index].abs() < FAR);
                *out = if is_cut {
                    let gain = cell_share(tiles, solids, new, index) - cell_share(tiles, solids, old, index);
                    Gain { volume: gain, area: surface_in_cell(tiles, solids, new, index) }
                } else {
                    Gain::default()
                };
            }
        });
        // Many cells ask for the sum round the same cell of the surface.
        let (gains, nearest) = (&*gains, &*nearest);
        sums.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for local in (0..cells).filter(|&local| new.tile(slot)[local].abs() < ASKED_FOR) {
                out[local] = sum_around(tiles, gains, slot, local_cell(local).map(|c| c as i32));
            }
        });
        let sums = &*sums;
        before.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            out.copy_from_slice(new.tile(slot));
            for (local, out) in out.iter_mut().enumerate().take(cells) {
                let index = slot * CELLS + local;
                let held = solids.near[slot] && (pinned.values()[index] || solids.distance.values()[index] < 0.0);
                let offset = nearest.values()[index].0;
                // Beyond that, as where a tangent plane was taken far up a flat surface, the foot tells nothing of this place.
                if out.abs() >= BAND || held || !offset.is_finite() || offset.length() > BEYOND + 1.0 {
                    continue;
                }
                let foot = (local_center(local) + offset).floor().to_array().map(|c| c as i32);
                let Gain { volume, area } = match tiles.at(slot, foot) {
                    Some(at) if new.values()[at].abs() < ASKED_FOR => sums.values()[at],
                    _ => sum_around(tiles, gains, slot, foot),
                };
                if area > LEAST_AREA {
                    *out += (volume / area).clamp(-MOST_SHIFTED, MOST_SHIFTED);
                }
            }
        });
        phi.swap_values(before);
    }
}

/// What a cell has gained of liquid, and the surface in it, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Gain {
    volume: f64,
    area: f64,
}

/// The sum over a cell of the slot's neighborhood and the cells around it.
fn sum_around(tiles: &Tiles, gains: &Field<Gain>, slot: usize, [i, j, k]: [i32; 3]) -> Gain {
    let mut sum = Gain::default();
    let layers = if tiles.topology().planar { 0..=0 } else { k - 1..=k + 1 };
    for k in layers {
        for j in j - 1..=j + 1 {
            for i in i - 1..=i + 1 {
                if let Some(index) = tiles.at(slot, [i, j, k]) {
                    let Gain { volume, area } = gains.values()[index];
                    sum = Gain { volume: sum.volume + volume, area: sum.area + area };
                }
            }
        }
    }
    sum
}

/// How much a cell's liquid share changes per cell by which the surface is shifted.
fn surface_in_cell(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, index: usize) -> f64 {
    const SHIFT: f64 = 0.05;
    let more = shifted_share(tiles, solids, phi, index, -SHIFT);
    let less = shifted_share(tiles, solids, phi, index, SHIFT);
    (more - less) / (2.0 * SHIFT)
}

/// The cells of a tile that share a face with one that knows a point.
fn beside(tiles: &Tiles, known: &[Mask], slot: usize) -> Mask {
    // The first cells along x.
    const FIRST: u64 = 0x0101_0101_0101_0101;
    let around = [SELF - 1, SELF + 1, SELF - 3, SELF + 3, SELF - 9, SELF + 9].map(|place| {
        let tile = tiles.neighbors(slot)[place];
        if tile == NONE { Mask::default() } else { known[tile as usize] }
    });
    let ([x_before, x_after, y_before, y_after, z_before, z_after], here) = (around, known[slot]);
    std::array::from_fn(|k| {
        let up_x = (here[k] & !(FIRST << 7)) << 1 | x_before[k] >> 7 & FIRST;
        let down_x = (here[k] & !FIRST) >> 1 | (x_after[k] & FIRST) << 7;
        let up_y = here[k] << 8 | y_before[k] >> 56;
        let down_y = here[k] >> 8 | y_after[k] << 56;
        let up_z = if k == 0 { z_before[SIDE - 1] } else { here[k - 1] };
        let down_z = if k == SIDE - 1 { z_after[0] } else { here[k + 1] };
        up_x | down_x | up_y | down_y | up_z | down_z
    })
}

/// The nearest of the neighbors' points, from this cell's center.
fn nearest_of_neighbors(tiles: &Tiles, known: &Field<Nearest>, index: usize) -> Option<DVec3> {
    let mut best: Option<DVec3> = None;
    for direction in 0..2 * tiles.dims() {
        let (axis, step) = (direction / 2, if direction % 2 == 0 { -1 } else { 1 });
        let Some(next) = tiles.next(index, axis, step) else { continue };
        let mut there = known.values()[next].0;
        if there.is_finite() {
            there[axis] += f64::from(step);
            if best.is_none_or(|best| there.length_squared() < best.length_squared()) {
                best = Some(there);
            }
        }
    }
    best
}

/// Newton's method from `start`, an offset from the cell's center.
fn find(tiles: &Tiles, phi: &Field<f64>, slot: usize, local: usize, start: DVec3, steps: usize) -> Nearest {
    let x = local_center(local);
    let (mut offset, mut last) = (start, f64::INFINITY);
    for _ in 0..steps {
        let (value, slope) = cubic_gradient(tiles, phi, slot, x + offset, CENTER);
        let steep = slope.length_squared();
        if steep < 0.1 || value.abs() > 3.0 {
            return UNKNOWN;
        }
        // Onto the surface, and along it to where it faces x: x − y parallel to ∇φ.
        let onto = -slope * (value / steep);
        let away = -offset;
        let along = away - slope * (away.dot(slope) / steep);
        let step = (onto + along).clamp_length_max(1.0);
        offset += step;
        last = step.length();
        if last < SETTLED {
            break;
        }
    }
    if last > CONVERGED || offset.length() > BEYOND + 1.0 { UNKNOWN } else { Nearest(offset, f64::NAN) }
}

/// What a cell may take of a point that was found: itself outside solids and just inside; the tangent plane of the surface higher up if it lies deeper.
fn believed(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, slot: usize, local: usize, found: Nearest) -> Nearest {
    let x = local_center(local);
    let depth = -linear(tiles, &solids.distance, slot, x + found.0, CENTER);
    if depth <= BELIEVED_TO {
        return found;
    }
    let wall = solids.normal(tiles, slot * CELLS + local);
    let mut y = x + found.0;
    // Up along the surface, back onto it, and look again.
    for _ in 0..2 {
        let (value, slope) = cubic_gradient(tiles, phi, slot, y, CENTER);
        let steep = slope.length();
        if steep < 0.3 || value.abs() > 3.0 {
            return UNKNOWN;
        }
        let normal = slope / steep;
        let rise = (1.0 - normal.dot(wall).powi(2)).max(0.0).sqrt();
        let deep = -linear(tiles, &solids.distance, slot, y, CENTER) - BELIEVED_TO;
        if rise < LEAST_RISE {
            return UNKNOWN;
        }
        let up = (wall - normal * normal.dot(wall)) / rise;
        y += up * (deep / rise).clamp(-6.0, 6.0) - normal * (value / steep).clamp(-1.0, 1.0);
    }
    let (value, slope) = cubic_gradient(tiles, phi, slot, y, CENTER);
    let steep = slope.length();
    if steep < 0.3 || value.abs() > 0.5 {
        return UNKNOWN;
    }
    let normal = slope / steep;
    let distance = (x - y).dot(normal) + value / steep;
    // The sign must be the cell's own: otherwise the plane is not what the cell looks at.
    let own = phi.tile(slot)[local];
    if (distance < 0.0) == (own < 0.0) { Nearest(y - x, distance) } else { UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cap_on_plane;

    /// A film 1.1 cells thick on a wall in which φ has a kink, as the extension leaves it under a film that is drawn out.
    #[test]
    fn a_film_keeps_its_volume() {
        let mut case = cap_on_plane(30f64.to_radians(), 16.0, DVec3::Y, DVec3::new(0.3, 0.1, 0.2));
        let tiles = &case.grid.tiles;
        for index in 0..tiles.len() * CELLS {
            let center = case.grid.center(index) - DVec3::new(0.3, 0.1, 0.2);
            let (out, up) = (center.with_y(0.0).length() - 13.0, center.y - 1.1);
            case.phi.values_mut()[index] = DVec3::new(out.max(0.0), up.max(0.0), 0.0).length() + out.max(up).min(0.0);
        }
        let (mut pinned, mut scratch) = (Field::new(false), Field::new(0.0));
        pinned.resize(tiles);
        scratch.resize(tiles);
        let bend = |phi: &mut Field<f64>| {
            for index in 0..tiles.len() * CELLS {
                let s = case.solids.distance.values()[index];
                if (-1.0..0.0).contains(&s) {
                    phi.values_mut()[index] = tiles.next(index, 1, 1).map_or(BEYOND, |above| phi.values()[above]);
                }
            }
        };
        let volume = |phi: &Field<f64>| -> f64 {
            (0..tiles.len() * CELLS).map(|index| cell_share(tiles, &case.solids, phi, index)).sum()
        };
        let mut redistance = Redistance::default();
        bend(&mut case.phi);
        let before = volume(&case.phi);
        for _ in 0..5 {
            redistance.apply(tiles, &case.solids, &pinned, &mut case.phi, &mut scratch);
            bend(&mut case.phi);
        }
        let after = volume(&case.phi);
        println!("{before:.1} cells before, {after:.1} after");
        assert!((after / before - 1.0).abs() < 0.01, "{before:.1} cells before, {after:.1} after");
    }
}
