//! Interior fast path: rows of eight cells far from the interface and from walls, whose equations
//! need no case distinctions.

use crate::faces::WET;
use crate::poisson::OptionalUnknown;
use crate::tiles::{CellIndex, Field, SIDE, local_cell};

use super::{Equation, PressureProblem};

/// A row whose cells and their neighbors are unknowns and whose faces are open.
pub struct InteriorRow<'a> {
    /// Unknown of the first cell; the others follow.
    first: usize,
    /// Unknowns before the first cell and after the last.
    ends: [usize; 2],
    /// First unknowns of the rows at −y, +y, −z, +z.
    beside: [usize; 4],
    /// Velocity at the row's low faces.
    low: [&'a [f64; SIDE]; 3],
    /// At its high faces across y and z, and at the last cell's across x.
    high: [&'a [f64; SIDE]; 2],
    end: f64,
}

impl InteriorRow<'_> {
    /// Equation of one of its cells.
    #[inline]
    pub fn equation(&self, lane: usize, source: f64) -> Equation {
        let own = self.first + lane;
        let last = lane == SIDE - 1;
        let before = if lane == 0 { self.ends[0] } else { own - 1 };
        let after = if last { self.ends[1] } else { own + 1 };
        let [low_y, high_y, low_z, high_z] = self.beside.map(|first| first + lane);
        let ([u, v, w], [high_v, high_w]) = (self.low.map(|row| row[lane]), self.high.map(|row| row[lane]));
        let high_u = if last { self.end } else { self.low[0][lane + 1] };
        Equation {
            neighbors: [before, after, low_y, high_y, low_z, high_z].map(OptionalUnknown::new),
            faces: [1.0; 3],
            dirichlet: 0.0,
            rhs: source + u - high_u + v - high_v + w - high_w,
        }
    }
}

impl PressureProblem<'_> {
    /// The row of cells from `index` on, if it is an interior row.
    pub(super) fn interior_row<'a>(
        &self,
        unknown_of: &Field<OptionalUnknown>,
        velocity: &'a [Field<f64>; 3],
        index: CellIndex,
    ) -> Option<InteriorRow<'a>> {
        let tiles = self.tiles;
        if tiles.topology().planar {
            return None;
        }
        let (slot, [_, j, k]) = (index.slot(), local_cell(index.local()).map(|c| c as i32));
        let first = |j: i32, k: i32| {
            let row = unknown_of.row(tiles, slot, j, k)?;
            row.iter().all(|unknown| unknown.is_some()).then(|| row[0].get())?
        };
        let is_open = |axis: usize, j: i32, k: i32| {
            let row = self.solids.open[axis].row(tiles, slot, j, k);
            row.filter(|row| row.iter().all(|&open| open == 1.0)).map(|_| ())
        };
        let (before, after) = (tiles.next(index, 0, -1)?, tiles.next(index.along_row(SIDE - 1), 0, 1)?);
        let ends = [unknown_of.values()[before].get()?, unknown_of.values()[after].get()?];
        if self.solids.open[0].values()[after] != 1.0 {
            return None;
        }
        let beside = [first(j - 1, k)?, first(j + 1, k)?, first(j, k - 1)?, first(j, k + 1)?];
        for axis in 0..3 {
            is_open(axis, j, k)?;
        }
        is_open(1, j + 1, k)?;
        is_open(2, j, k + 1)?;
        let [u, v, w] = velocity;
        Some(InteriorRow {
            first: first(j, k)?,
            ends,
            beside,
            low: [u.row(tiles, slot, j, k)?, v.row(tiles, slot, j, k)?, w.row(tiles, slot, j, k)?],
            high: [v.row(tiles, slot, j + 1, k)?, w.row(tiles, slot, j, k + 1)?],
            end: u.values()[after],
        })
    }

    /// Subtracts the pressure gradient from the faces of the row from `index` on, if unknowns lie
    /// on both sides of all of them.
    pub(super) fn correct_interior_row(
        &self,
        unknown_of: &Field<OptionalUnknown>,
        q: &[f64],
        axis: usize,
        index: CellIndex,
        out: &mut [f64; SIDE],
    ) -> Option<()> {
        let tiles = self.tiles;
        let (slot, [_, j, k]) = (index.slot(), local_cell(index.local()).map(|c| c as i32));
        if tiles.topology().planar
            || !self.flags[axis].tile(slot)[index.local()..][..SIDE].iter().all(|flag| flag & WET != 0)
        {
            return None;
        }
        // Unknowns of a whole row are consecutive.
        let row = |j: i32, k: i32| -> Option<&[f64; SIDE]> {
            let row = unknown_of.row(tiles, slot, j, k)?;
            let first = row.iter().all(|unknown| unknown.is_some()).then(|| row[0].get())??;
            q[first..].first_chunk()
        };
        let high = row(j, k)?;
        let low = match axis {
            0 => {
                let before = unknown_of.values()[tiles.next(index, 0, -1)?];
                let mut low = [*q.get(before.get()?)?; SIDE];
                low[1..].copy_from_slice(&high[..SIDE - 1]);
                low
            }
            1 => *row(j - 1, k)?,
            _ => *row(j, k - 1)?,
        };
        for (out, (high, low)) in out.iter_mut().zip(high.iter().zip(&low)) {
            *out -= high - low;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::Projection;
    use super::*;
    use crate::faces::{FaceFlags, classify_faces};
    use crate::line_state::LineState;
    use crate::parameters::NumericalParameters;
    use crate::testing::{Random, cap_on_plane};

    /// Interior cells of half a ball on a plane: their equations by the row and by the cell.
    #[test]
    fn interior_rows_have_the_same_equations_as_their_cells() {
        let case = cap_on_plane(90f64.to_radians(), 14.0, DVec3::Y, DVec3::ZERO);
        let tiles = &case.grid.tiles;
        let mut random = Random::new(12);
        let mut flags: FaceFlags = std::array::from_fn(|_| Field::new(0));
        flags.iter_mut().for_each(|flags| flags.resize(tiles));
        classify_faces(tiles, &case.solids, &case.phi, &mut flags);
        let (mut line, mut kappa) = (Field::new(LineState::Free), Field::new(0.0));
        line.resize(tiles);
        kappa.resize(tiles);
        let velocity: [Field<f64>; 3] = std::array::from_fn(|_| {
            let mut field = Field::new(0.0);
            field.resize(tiles);
            field.values_mut().iter_mut().for_each(|u| *u = random.uniform() - 0.5);
            field
        });
        let problem = PressureProblem {
            tiles,
            solids: &case.solids,
            flags: &flags,
            phi: &case.phi,
            kappa: &kappa,
            line: &line,
            tension: 0.3,
            second_order: true,
            lifts: true,
            dt_over_h: 1.0,
            numerics: &NumericalParameters::default(),
            method: crate::poisson::Method::Auto,
            before: &velocity,
        };
        let mut projection = Projection::default();
        projection.number_unknowns(tiles, &case.solids, &case.phi);
        let (unknown_of, mut count) = (&projection.unknown_of, 0);
        for first in tiles.indices().step_by(SIDE).filter(|&first| unknown_of.values()[first].is_some()) {
            let Some(interior) = problem.interior_row(unknown_of, &velocity, first) else { continue };
            for lane in 0..SIDE {
                let (by_row, by_cell) = (
                    interior.equation(lane, 0.1),
                    problem.equation(unknown_of, &velocity, first.along_row(lane), 0.1, &|_, _, _| 0.0),
                );
                assert_eq!(by_row, by_cell, "cell {:?}", tiles.cell(first.along_row(lane)));
            }
            count += 1;
        }
        assert!(count > 100, "only {count} rows are interior");
    }
}
