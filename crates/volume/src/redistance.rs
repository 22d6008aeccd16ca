//! Redistancing: φ is reinitialized to a distance without moving the interface.
//!
//! The interface is where the cubic interpolant of φ vanishes. For each cell in the band its
//! nearest point y on it is found by Newton's method (chopp2001): with g = ∇φ(y),
//!
//! ```text
//! y ← y − φ(y) g/|g|²,      y ← y + the part of x − y that is perpendicular to g
//! ```
//!
//! Cells with a useful φ start from x − φ∇φ/|∇φ|²; the others start from the nearest of their
//! neighbors' points, layer by layer outwards. Where the method does not converge (between two
//! interfaces that are close) a cell keeps the distance to the nearest of its neighbors' points, or
//! its old φ.
//!
//! Because the interface is defined by the interpolant, which is exact on quadratics, repeated use
//! does not shift it where it is smooth. Where φ has a kink within a cell or two (under a film, at
//! a rim) it does: a film of one cell is lifted by a twelfth each time, and a spreading drop grows
//! by a fifth in all. So φ is shifted back by what its neighborhood of 27 cells has gained, over
//! the interface area in it (after sussman1999, with liquid fractions instead of a smeared step
//! function):
//!
//! ```text
//! φ ← φ + Σ (F_new − F_old) / Σ A        F a cell's liquid fraction, A = −dF/dφ
//! ```
//!
//! Cells of a pinned line, and cells inside solids, which the extension writes, keep their φ.
//!
//! **In solids** the interface was itself derived from φ outside, and measuring to it there would
//! feed back: at contact angles below 45° noise grows, and a sheet creeps away along the wall. So
//! the interface is trusted down to `TRUSTED_DEPTH` only, and continues from there along its
//! tangent plane: a cell whose nearest point y lies deeper takes
//!
//! ```text
//! φ = (x − y')·n(y'),
//!     y' the point of the interface at that depth on the way up from y,  n its normal
//! ```
//!
//! With `fidelity = "paper"` the steps of a run use fast marching instead
//! ([`fast_marching`](crate::fast_marching)); drops that are inserted are reinitialized as above.
//!
//! No time-step limit.

use glam::DVec3;
use rayon::prelude::*;
use sessile_model::StageReports;

use crate::contact_angle::{AngleLaw, BAND, impose_contact_angle};
use crate::fast_marching::Scope;
use crate::grid::{CENTER, cubic_gradient, gradient, linear, local_center};
use crate::interface_advection::correct_by_particles;
use crate::line_state::LineState;
use crate::mirrors::MirrorScratch;
use crate::parameters::Parameters;
use crate::scratch::Scratch;
use crate::solids::Solids;
use crate::state::{SinceRedistance, State};
use crate::tiles::{CellIndex, Field, SELF, SIDE, Tiles, local_cell};
use crate::volume_fraction::{HALF_DIAGONAL, fraction_before_walls};

/// Distance beyond which a cell starts from its neighbors' points.
const OWN_START: f64 = 3.0;
/// |φ| of cells beyond the band.
pub const PHI_MAX: f64 = BAND + 1.0;
/// Newton steps.
const NEWTON_STEPS: usize = 4;
/// A step that moves the point by less than this has converged, in cells.
const STEP_TOLERANCE: f64 = 1e-3;
/// A last step longer than this shows that there is no interface nearby, in cells.
const MAX_LAST_STEP: f64 = 0.25;
/// Depth in solids down to which the interface is trusted, in cells.
const TRUSTED_DEPTH: f64 = 0.75;
/// Least slope of the interface's steepest line against the wall, as a sine, at which it can be
/// followed upwards.
const MIN_RISE: f64 = 0.1;
/// Least interface area in a neighborhood over which its gain is distributed, and largest shift of
/// φ, in cells.
const MIN_AREA: f64 = 0.5;
const MAX_SHIFT: f64 = 0.25;
/// Distance from the interface up to which sums around cells are precomputed, in cells.
const PRECOMPUTED_WITHIN: f64 = 1.0;
/// Cells of a layer of a tile.
const LAYER: usize = SIDE * SIDE;
/// Layers outwards from [`OWN_START`] to the band's end.
const LAYERS: usize = 4;

/// Memory that is kept from step to step.
#[derive(Debug)]
pub struct Redistance {
    nearest: Field<Option<Nearest>>,
    fronts: Vec<TileFront>,
    /// Cells whose nearest point is known.
    known: Vec<Mask>,
    gains: Field<Gain>,
    sums: Field<Gain>,
    /// Memory of the reflection.
    mirrors: MirrorScratch,
}

/// One bit for each cell of a tile, a word for each layer.
type Mask = [u64; SIDE];

/// Cells of a tile whose nearest point is not known, and points that were found and not yet
/// written.
#[derive(Debug, Default)]
struct TileFront {
    open: Mask,
    found: Vec<(u16, Nearest)>,
}

/// Nearest point of the interface to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Nearest {
    /// Offset from the cell's center, in cells.
    offset: DVec3,
    /// Signed distance to the tangent plane there, where that replaces the distance to the point.
    plane_distance: Option<f64>,
}

impl Nearest {
    fn distance(&self) -> f64 {
        self.plane_distance.map_or_else(|| self.offset.length(), f64::abs)
    }
}

impl Default for Redistance {
    fn default() -> Self {
        Self {
            nearest: Field::new(None),
            fronts: Vec::new(),
            known: Vec::new(),
            gains: Field::new(Gain::default()),
            sums: Field::new(Gain::default()),
            mirrors: MirrorScratch::default(),
        }
    }
}

/// What the stage did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedistanceReport {
    /// Whether φ was reinitialized.
    pub reinitialized: bool,
    /// Cells that particles corrected afterwards.
    pub corrected_cells: usize,
}

impl RedistanceReport {
    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("redistance.passes", u64::from(self.reinitialized));
        reports.add("interface.corrected_cells", self.corrected_cells as u64);
    }
}

/// Reinitializes φ if enough steps have passed or the interface has traveled far enough, and ends
/// the step's changes of φ.
pub fn redistance_if_due<L: AngleLaw>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    angles: &L,
) -> RedistanceReport {
    let (since, numerics) = (state.since_redistance, &params.numerics);
    let mut report = RedistanceReport::default();
    let is_due = since.steps >= numerics.redistance_interval || since.travel >= numerics.redistance_travel;
    if params.paper_operators {
        march(state, scratch, if is_due { Scope::All } else { Scope::Far });
    } else if is_due {
        redistance(state, scratch);
    }
    if is_due {
        report = RedistanceReport { reinitialized: true, corrected_cells: correct_by_particles(state, params) };
        impose_contact_angle(state, scratch, angles);
    }
    state.particles.adjust_radii(&state.grid.tiles, &state.phi);
    report
}

/// Completes φ by fast marching, as the paper does in every step.
fn march(state: &mut State, scratch: &mut Scratch, scope: Scope) {
    let State { grid, solids, phi, line, since_redistance, .. } = state;
    scratch.fast_marching.apply(&grid.tiles, solids, line, scope, phi, &mut scratch.field);
    if scope == Scope::All {
        *since_redistance = SinceRedistance::default();
    }
}

/// Reinitializes φ to a distance.
pub fn redistance(state: &mut State, scratch: &mut Scratch) {
    let State { grid, solids, phi, line, since_redistance, .. } = state;
    scratch.redistance.apply(&grid.tiles, solids, line, phi, &mut scratch.field);
    *since_redistance = SinceRedistance::default();
}

impl Redistance {
    /// Makes φ a distance within the band, and ±[`PHI_MAX`] outside.
    fn apply(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        line: &Field<LineState>,
        phi: &mut Field<f64>,
        scratch: &mut Field<f64>,
    ) {
        self.nearest.resize(tiles);
        self.fronts.resize_with(tiles.len().max(self.fronts.len()), TileFront::default);
        self.known.clear();
        self.known.resize(tiles.len(), Mask::default());
        self.find_own_points(tiles, solids, phi);
        for _ in 0..LAYERS {
            self.find_points_of_layer(tiles, solids, phi);
        }
        let (nearest, before) = (&self.nearest, &*phi);
        scratch.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            let values = before.tile(slot);
            out.copy_from_slice(values);
            let near = solids.near[slot];
            for local in 0..tiles.cells_in_use() {
                let index = CellIndex::new(slot, local);
                if near
                    && (line.values()[index].is_pinned() || (solids.is_in_wall(index) && values[local].abs() < BAND))
                {
                    continue;
                }
                let distance = nearest.values()[index].map(|nearest| nearest.distance());
                out[local] = distance.filter(|&distance| distance < BAND).unwrap_or(PHI_MAX).copysign(values[local]);
            }
        });
        phi.swap_values(scratch);
        self.keep_volume(tiles, solids, line, phi, scratch);
    }

    /// Finds the points of cells close to the interface, each from its own φ and ∇φ.
    fn find_own_points(&mut self, tiles: &Tiles, solids: &Solids, phi: &Field<f64>) {
        let Self { nearest, fronts, known, .. } = self;
        let tasks = (nearest.par_tiles_mut(), &mut fronts[..tiles.len()], &mut *known);
        tasks.into_par_iter().enumerate().for_each(|(slot, (out, front, known))| {
            let values = phi.tile(slot);
            front.open = Mask::default();
            for local in 0..tiles.cells_in_use() {
                let start = values[local];
                out[local] = None;
                if start.abs() < OWN_START {
                    let slope = gradient(tiles, phi, CellIndex::new(slot, local));
                    let steep = slope.length_squared();
                    if steep > 0.1 {
                        let offset = -slope * (start / steep);
                        out[local] = find_trusted(tiles, solids, phi, slot, local, offset, NEWTON_STEPS);
                    }
                }
                let bit = 1 << (local % LAYER);
                if out[local].is_some() {
                    known[local / LAYER] |= bit;
                } else if start >= -2.0 * PHI_MAX {
                    front.open[local / LAYER] |= bit;
                }
            }
        });
    }

    /// Finds the points of cells next to those that have one, from the nearest of their neighbors'
    /// points.
    fn find_points_of_layer(&mut self, tiles: &Tiles, solids: &Solids, phi: &Field<f64>) {
        let Self { nearest, fronts, known, .. } = self;
        let fronts = &mut fronts[..tiles.len()];
        let points = &*nearest;
        fronts.par_iter_mut().enumerate().for_each(|(slot, front)| {
            front.found.clear();
            for (layer, adjacent_to_known) in adjacent_to_known(tiles, known, slot).into_iter().enumerate() {
                let mut candidates = adjacent_to_known & front.open[layer];
                while candidates != 0 {
                    let local = layer * LAYER + candidates.trailing_zeros() as usize;
                    candidates &= candidates - 1;
                    let start = nearest_of_neighbors(tiles, points, CellIndex::new(slot, local));
                    let Some(start) = start.filter(|start| start.length() < PHI_MAX + 0.5) else { continue };
                    let found = find_trusted(tiles, solids, phi, slot, local, start, 2);
                    let found = found.unwrap_or(Nearest { offset: start, plane_distance: None });
                    front.found.push((local as u16, found));
                }
            }
        });
        (nearest.par_tiles_mut(), fronts, known).into_par_iter().for_each(|(out, front, known)| {
            for &(local, found) in &front.found {
                let (local, bit) = (usize::from(local), 1 << (usize::from(local) % LAYER));
                out[local] = Some(found);
                known[local / LAYER] |= bit;
                front.open[local / LAYER] &= !bit;
            }
        });
    }

    /// Shifts φ so that the liquid in each neighborhood of 27 cells remains the same; `before` is
    /// the previous φ, and ends as scratch.
    fn keep_volume(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        line: &Field<LineState>,
        phi: &mut Field<f64>,
        before: &mut Field<f64>,
    ) {
        let Self { nearest, gains, sums, mirrors, .. } = self;
        gains.resize(tiles);
        sums.resize(tiles);
        let (new, old) = (&*phi, &*before);
        let cells = tiles.cells_in_use();
        gains.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for (local, out) in out.iter_mut().enumerate().take(cells) {
                let index = CellIndex::new(slot, local);
                let is_cut = [new, old].into_iter().any(|phi| phi.values()[index].abs() < HALF_DIAGONAL);
                *out = if is_cut {
                    let gain = fraction_before_walls(tiles, solids, new, index, 0.0)
                        - fraction_before_walls(tiles, solids, old, index, 0.0);
                    Gain { volume: gain, area: surface_in_cell(tiles, solids, new, index) }
                } else {
                    Gain::default()
                };
            }
        });
        // Many cells need the sum around the same cell of the interface.
        let (gains, nearest) = (&*gains, &*nearest);
        sums.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for local in (0..cells).filter(|&local| new.tile(slot)[local].abs() < PRECOMPUTED_WITHIN) {
                out[local] = sum_around(tiles, gains, slot, local_cell(local).map(|c| c as i32));
            }
        });
        let sums = &*sums;
        before.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            out.copy_from_slice(new.tile(slot));
            for (local, out) in out.iter_mut().enumerate().take(cells) {
                let index = CellIndex::new(slot, local);
                let fixed = solids.near[slot] && (line.values()[index].is_pinned() || solids.is_in_wall(index));
                // A point farther away, as where a tangent plane was taken far up a flat interface,
                // does not represent this cell.
                let offset = nearest.values()[index].map(|nearest| nearest.offset);
                let Some(offset) = offset.filter(|offset| offset.length() <= PHI_MAX + 1.0) else { continue };
                if out.abs() >= BAND || fixed {
                    continue;
                }
                let foot = (local_center(local) + offset).floor().to_array().map(|c| c as i32);
                let Gain { volume, area } = match tiles.at(slot, foot) {
                    Some(at) if new.values()[at].abs() < PRECOMPUTED_WITHIN => sums.values()[at],
                    _ => sum_around(tiles, gains, slot, foot),
                };
                if area > MIN_AREA {
                    *out += (volume / area).clamp(-MAX_SHIFT, MAX_SHIFT);
                }
            }
        });
        phi.swap_values(before);
        solids.mirrors.reflect_phi(tiles, phi, mirrors);
    }
}

/// Liquid that a cell has gained, and the interface area in it, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Gain {
    volume: f64,
    area: f64,
}

/// Sum over a cell and the 26 cells around it.
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

/// Change of a cell's liquid fraction per cell by which the interface is shifted.
fn surface_in_cell(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, index: CellIndex) -> f64 {
    const SHIFT: f64 = 0.05;
    let more = fraction_before_walls(tiles, solids, phi, index, -SHIFT);
    let less = fraction_before_walls(tiles, solids, phi, index, SHIFT);
    (more - less) / (2.0 * SHIFT)
}

/// The cells of a tile that share a face with one whose nearest point is known.
fn adjacent_to_known(tiles: &Tiles, known: &[Mask], slot: usize) -> Mask {
    // The first cells along x.
    const FIRST: u64 = 0x0101_0101_0101_0101;
    let around = [SELF - 1, SELF + 1, SELF - 3, SELF + 3, SELF - 9, SELF + 9]
        .map(|place| tiles.neighbors(slot)[place].get().map_or(Mask::default(), |tile| known[tile]));
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
fn nearest_of_neighbors(tiles: &Tiles, known: &Field<Option<Nearest>>, index: CellIndex) -> Option<DVec3> {
    let mut best: Option<DVec3> = None;
    for direction in 0..2 * tiles.dims() {
        let (axis, step) = (direction / 2, if direction % 2 == 0 { -1 } else { 1 });
        let Some(next) = tiles.next(index, axis, step) else { continue };
        let Some(nearest) = known.values()[next] else { continue };
        let mut there = nearest.offset;
        there[axis] += f64::from(step);
        if best.is_none_or(|best| there.length_squared() < best.length_squared()) {
            best = Some(there);
        }
    }
    best
}

/// The nearest point by Newton's method from `start`, an offset from the cell's center, as far as
/// it is trusted.
fn find_trusted(
    tiles: &Tiles,
    solids: &Solids,
    phi: &Field<f64>,
    slot: usize,
    local: usize,
    start: DVec3,
    steps: usize,
) -> Option<Nearest> {
    let offset = find(tiles, phi, slot, local, start, steps)?;
    if solids.near[slot] {
        trusted(tiles, solids, phi, slot, local, offset)
    } else {
        Some(Nearest { offset, plane_distance: None })
    }
}

/// Newton's method from `start`, an offset from the cell's center; none if it does not converge.
fn find(tiles: &Tiles, phi: &Field<f64>, slot: usize, local: usize, start: DVec3, steps: usize) -> Option<DVec3> {
    let x = local_center(local);
    let (mut offset, mut last) = (start, f64::INFINITY);
    for _ in 0..steps {
        let (value, slope) = cubic_gradient(tiles, phi, slot, x + offset, CENTER);
        let steep = slope.length_squared();
        if steep < 0.1 || value.abs() > 3.0 {
            return None;
        }
        // Onto the interface, and along it until x − y is parallel to ∇φ.
        let onto = -slope * (value / steep);
        let away = -offset;
        let along = away - slope * (away.dot(slope) / steep);
        let step = (onto + along).clamp_length_max(1.0);
        offset += step;
        last = step.length();
        if last < STEP_TOLERANCE {
            break;
        }
    }
    let converged = last <= MAX_LAST_STEP && offset.length() <= PHI_MAX + 1.0;
    (converged && offset.is_finite()).then_some(offset)
}

/// The nearest point as far as it is trusted: itself outside solids and just inside, a tangent
/// plane higher up if it lies deeper.
fn trusted(
    tiles: &Tiles,
    solids: &Solids,
    phi: &Field<f64>,
    slot: usize,
    local: usize,
    offset: DVec3,
) -> Option<Nearest> {
    let x = local_center(local);
    let depth = -linear(tiles, solids.wall_distance(), slot, x + offset, CENTER);
    if depth <= TRUSTED_DEPTH {
        return Some(Nearest { offset, plane_distance: None });
    }
    let wall = solids.normal(tiles, CellIndex::new(slot, local));
    let mut y = x + offset;
    // Up along the interface, back onto it, and again.
    for _ in 0..2 {
        let (value, slope) = cubic_gradient(tiles, phi, slot, y, CENTER);
        let steep = slope.length();
        if steep < 0.3 || value.abs() > 3.0 {
            return None;
        }
        let normal = slope / steep;
        let rise = (1.0 - normal.dot(wall).powi(2)).max(0.0).sqrt();
        let deep = -linear(tiles, solids.wall_distance(), slot, y, CENTER) - TRUSTED_DEPTH;
        if rise < MIN_RISE {
            return None;
        }
        let up = (wall - normal * normal.dot(wall)) / rise;
        y += up * (deep / rise).clamp(-6.0, 6.0) - normal * (value / steep).clamp(-1.0, 1.0);
    }
    let (value, slope) = cubic_gradient(tiles, phi, slot, y, CENTER);
    let steep = slope.length();
    if steep < 0.3 || value.abs() > 0.5 {
        return None;
    }
    let normal = slope / steep;
    let distance = (x - y).dot(normal) + value / steep;
    // The sign must be the cell's own; otherwise the plane does not belong to the cell.
    let own = phi.tile(slot)[local];
    ((distance < 0.0) == (own < 0.0)).then_some(Nearest { offset: y - x, plane_distance: Some(distance) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cap_on_plane;
    use crate::volume_fraction::liquid_fraction;

    /// A film 1.1 cells thick on a wall in which φ has a kink, as the extension leaves it under a
    /// film that is stretched.
    #[test]
    fn redistancing_preserves_the_volume_of_a_film() {
        let mut case = cap_on_plane(30f64.to_radians(), 16.0, DVec3::Y, DVec3::new(0.3, 0.1, 0.2));
        let tiles = &case.grid.tiles;
        for index in tiles.indices() {
            let center = case.grid.center(index) - DVec3::new(0.3, 0.1, 0.2);
            let (out, up) = (center.with_y(0.0).length() - 13.0, center.y - 1.1);
            case.phi.values_mut()[index] = DVec3::new(out.max(0.0), up.max(0.0), 0.0).length() + out.max(up).min(0.0);
        }
        let (mut line, mut scratch) = (Field::new(LineState::Free), Field::new(0.0));
        line.resize(tiles);
        scratch.resize(tiles);
        let bend = |phi: &mut Field<f64>| {
            for index in tiles.indices() {
                let s = case.solids.distance.values()[index];
                if (-1.0..0.0).contains(&s) {
                    phi.values_mut()[index] = tiles.next(index, 1, 1).map_or(PHI_MAX, |above| phi.values()[above]);
                }
            }
        };
        let volume = |phi: &Field<f64>| -> f64 {
            tiles.indices().map(|index| liquid_fraction(tiles, &case.solids, phi, index)).sum()
        };
        let mut redistance = Redistance::default();
        bend(&mut case.phi);
        let before = volume(&case.phi);
        for _ in 0..5 {
            redistance.apply(tiles, &case.solids, &line, &mut case.phi, &mut scratch);
            bend(&mut case.phi);
        }
        let after = volume(&case.phi);
        println!("{before:.1} cells before, {after:.1} after");
        assert!((after / before - 1.0).abs() < 0.01, "{before:.1} cells before, {after:.1} after");
    }
}
