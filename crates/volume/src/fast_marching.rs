//! Fast marching: φ away from the interface is completed to a distance (tsitsiklis1995,
//! sethian1996), with `fidelity = "paper"` (wang2005, §3).
//!
//! ```text
//! |∇φ| = 1,     φ known in the cells next to the interface, the others in the order of |φ|
//! ```
//!
//! Differences are one-sided, towards the interface, and of second order where two cells in a row
//! are known:
//!
//! ```text
//! ∂φ ≈ φ − φ₁     or     ∂φ ≈ (3φ − 4φ₁ + φ₂)/2
//! ```
//!
//! φ₂ may lie on the other side of the interface, so that the first layer is of second order too;
//! with first order alone the curvature of the interface would be wrong by a constant fraction at
//! any resolution.
//!
//! Cells next to the interface keep their φ, so that it does not move. It then departs from a
//! distance there as the flow stretches it; when reinitialization is due ([`Scope::All`]) they are
//! divided by |∇φ|. Cells of a pinned line keep theirs always, and so do cells inside solids, which
//! the extension writes; the march passes through solids, along the interface's continuation.
//!
//! No time-step limit. One thread: the order is global, ties by the cell's index.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::contact_angle::{BAND, DEPTH};
use crate::grid::gradient;
use crate::line_state::LineState;
use crate::redistance::PHI_MAX;
use crate::solids::Solids;
use crate::tiles::{CellIndex, Field, Tiles};

/// |φ| above which a change of sign is not the interface, in cells.
const MAX_ADJACENT: f64 = 2.0;
/// Least and largest |∇φ| by which φ is divided; beyond, it has a kink and no slope.
const SLOPES: [f64; 2] = [0.5, 2.0];

/// Which cells change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those that are not next to the interface.
    Far,
    /// All: those next to the interface are divided by |∇φ| first.
    All,
}

/// A cell that is waiting, by its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    distance: f64,
    cell: CellIndex,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.cell.to_usize().cmp(&other.cell.to_usize()))
    }
}

/// Memory that is kept from step to step.
#[derive(Debug)]
pub struct FastMarching {
    is_known: Field<bool>,
    waiting: BinaryHeap<Reverse<Candidate>>,
    accepted: Vec<CellIndex>,
}

impl Default for FastMarching {
    fn default() -> Self {
        Self { is_known: Field::new(false), waiting: BinaryHeap::new(), accepted: Vec::new() }
    }
}

impl FastMarching {
    /// Makes φ a distance within the band, and ±[`PHI_MAX`] outside; `scratch` holds what is being
    /// written.
    pub fn apply(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        line: &Field<LineState>,
        scope: Scope,
        phi: &mut Field<f64>,
        scratch: &mut Field<f64>,
    ) {
        self.is_known.resize(tiles);
        self.is_known.set_all(false);
        self.waiting.clear();
        self.accepted.clear();
        self.accept_interface(tiles, solids, line, scope, phi, scratch);
        for at in 0..self.accepted.len() {
            let cell = self.accepted[at];
            self.offer_neighbors(tiles, phi, scratch, cell);
        }
        while let Some(Reverse(Candidate { distance, cell })) = self.waiting.pop() {
            if distance >= BAND {
                break;
            }
            if self.is_known.values()[cell] {
                continue;
            }
            self.is_known.values_mut()[cell] = true;
            scratch.values_mut()[cell] = distance.copysign(phi.values()[cell]);
            self.offer_neighbors(tiles, phi, scratch, cell);
        }
        self.write(tiles, solids, line, phi, scratch);
    }

    /// Accepts the cells next to the interface, and those of pinned lines.
    fn accept_interface(
        &mut self,
        tiles: &Tiles,
        solids: &Solids,
        line: &Field<LineState>,
        scope: Scope,
        phi: &Field<f64>,
        out: &mut Field<f64>,
    ) {
        for slot in 0..tiles.len() {
            let (values, near) = (phi.tile(slot), solids.near[slot]);
            for (local, &here) in values.iter().enumerate().take(tiles.cells_in_use()) {
                if here.abs() > MAX_ADJACENT {
                    continue;
                }
                let cell = CellIndex::new(slot, local);
                if near && solids.distance.values()[cell] <= -DEPTH {
                    continue;
                }
                let is_pinned = near && line.values()[cell].is_pinned();
                let crosses = |next: CellIndex| {
                    let there = phi.values()[next];
                    (there < 0.0) != (here < 0.0) && there.abs() < MAX_ADJACENT
                };
                if !is_pinned && !tiles.face_neighbors(cell).any(crosses) {
                    continue;
                }
                let keeps = scope == Scope::Far || is_pinned || (near && solids.contains_center(cell));
                let [least, most] = SLOPES;
                let slope = if keeps { 1.0 } else { gradient(tiles, phi, cell).length() };
                out.values_mut()[cell] = if (least..most).contains(&slope) { here / slope } else { here };
                self.is_known.values_mut()[cell] = true;
                self.accepted.push(cell);
            }
        }
    }

    /// Computes the distance of a cell's neighbors that are not known.
    fn offer_neighbors(&mut self, tiles: &Tiles, phi: &Field<f64>, out: &Field<f64>, cell: CellIndex) {
        for next in tiles.face_neighbors(cell) {
            if !self.is_known.values()[next] {
                let distance = self.arrival(tiles, phi, out, next);
                self.waiting.push(Reverse(Candidate { distance, cell: next }));
            }
        }
    }

    /// Distance of a cell from those known around it.
    fn arrival(&self, tiles: &Tiles, phi: &Field<f64>, out: &Field<f64>, cell: CellIndex) -> f64 {
        let sign = if phi.values()[cell] < 0.0 { -1.0 } else { 1.0 };
        let known = |cell: CellIndex| self.is_known.values()[cell].then(|| sign * out.values()[cell]);
        // Along each axis: weight and place of (weight (d − place))², and the nearest cell's distance.
        let mut terms = [[0.0, 0.0, f64::INFINITY]; 3];
        for (axis, term) in terms.iter_mut().enumerate().take(tiles.dims()) {
            for step in [-1, 1] {
                let Some(next) = tiles.next(cell, axis, step) else { continue };
                let Some(first) = known(next).filter(|&first| first < term[2]) else { continue };
                let second = tiles.next(next, axis, step).and_then(known).filter(|&second| second <= first);
                *term = match second {
                    Some(second) => [1.5, (4.0 * first - second) / 3.0, first],
                    None => [1.0, first, first],
                };
            }
        }
        terms.sort_unstable_by(|a, b| a[2].total_cmp(&b[2]));
        let mut distance = f64::INFINITY;
        // Σ w² (d − p)² = 1 with the nearest, the two nearest, and all.
        let (mut a, mut b, mut c) = (0.0, 0.0, -1.0);
        for [weight, place, nearest] in terms {
            if nearest >= distance || !nearest.is_finite() {
                break;
            }
            let square = weight * weight;
            (a, b, c) = (a + square, b + square * place, c + square * place * place);
            let discriminant = b * b - a * c;
            if discriminant < 0.0 {
                break;
            }
            distance = (b + f64::sqrt(discriminant)) / a;
        }
        // Of second order, a kink may bring it below the neighbor that it comes from.
        distance.max(terms[0][2]).max(0.0)
    }

    /// Writes the distances of the cells that change.
    fn write(&self, tiles: &Tiles, solids: &Solids, line: &Field<LineState>, phi: &mut Field<f64>, out: &Field<f64>) {
        for slot in 0..tiles.len() {
            let near = solids.near[slot];
            for local in 0..tiles.cells_in_use() {
                let cell = CellIndex::new(slot, local);
                let value = &mut phi.values_mut()[cell];
                let keeps = line.values()[cell].is_pinned() || (solids.contains_center(cell) && value.abs() < BAND);
                if near && keeps {
                    continue;
                }
                *value = if self.is_known.values()[cell] { out.values()[cell] } else { PHI_MAX.copysign(*value) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curvature::{CurvatureOf, curvature};
    use crate::testing::{free_space, sampled, uniform};

    /// Spheres at several places in their cells, φ known next to the interface and wrong elsewhere:
    /// distances are of second order, so that the curvature is that of the sphere. With first-order
    /// differences it is wrong by a fifth.
    #[test]
    fn distances_are_accurate_enough_for_curvature() {
        const RADIUS: f64 = 9.3;
        let (tiles, solids) = free_space();
        let line = uniform(&tiles, LineState::Free);
        for offset in [0.0, 0.21, 0.37, 0.5] {
            let exact = sampled(&tiles, |at| (at - offset).length() - RADIUS);
            let mut phi = sampled(&tiles, |at| {
                let distance = (at - offset).length() - RADIUS;
                if distance.abs() < 1.0 { distance } else { 3.0 * distance }
            });
            let (mut scratch, mut kappa) = (uniform(&tiles, 0.0), uniform(&tiles, 0.0));
            FastMarching::default().apply(&tiles, &solids, &line, Scope::Far, &mut phi, &mut scratch);
            let near = |limit: f64| {
                let exact = &exact;
                tiles.indices().filter(move |&cell| exact.values()[cell].abs() < limit)
            };
            let error = near(4.0).map(|cell| (phi.values()[cell] - exact.values()[cell]).abs()).fold(0.0, f64::max);
            curvature(&tiles, &solids, &phi, CurvatureOf::LevelSet, &mut kappa);
            let own = |cell: CellIndex| 2.0 / (RADIUS + exact.values()[cell]);
            let errors: Vec<f64> = near(1.0).map(|cell| kappa.values()[cell] / own(cell) - 1.0).collect();
            let rms = (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
            println!("offset {offset}: φ off by {error:.4} cells, κ by {:.2} % rms", 100.0 * rms);
            assert!(error < 0.05 && rms < 0.06, "φ is off by {error:.4} cells, κ by {:.1} % rms", 100.0 * rms);
        }
    }

    /// The march never moves the interface; with [`Scope::All`] φ next to it becomes a distance.
    #[test]
    fn the_interface_stays_where_it_is() {
        let (tiles, solids) = free_space();
        let line = uniform(&tiles, LineState::Free);
        let start = sampled(&tiles, |at| 1.4 * (at.length() - 7.7));
        for (scope, expected) in [(Scope::Far, 1.4), (Scope::All, 1.0)] {
            let (mut phi, mut scratch) = (start.clone(), uniform(&tiles, 0.0));
            FastMarching::default().apply(&tiles, &solids, &line, scope, &mut phi, &mut scratch);
            let mut worst = 0.0_f64;
            for low in tiles.indices() {
                let Some(high) = tiles.next(low, 0, 1) else { continue };
                let (a, b) = (start.values()[low], start.values()[high]);
                if (a < 0.0) != (b < 0.0) && a.abs().max(b.abs()) < 1.0 {
                    let (c, d) = (phi.values()[low], phi.values()[high]);
                    worst = worst.max((a / (a - b) - c / (c - d)).abs());
                    let distance = tiles.cell(low).map(|c| f64::from(c) + 0.5);
                    let distance = glam::DVec3::from(distance).length() - 7.7;
                    assert!((c - expected * distance).abs() < 0.02, "φ is {c:.3}, not {:.3}", expected * distance);
                }
            }
            println!("{scope:?}: the interface moves by {worst:.4} cells");
            assert!(worst < if scope == Scope::Far { 1e-12 } else { 0.02 }, "it moves by {worst:.4} cells");
        }
    }
}
