//! The states of contact lines move with their walls.
//!
//! A state belongs to a place on a wall. Where the wall moves through the grid at v, a cell takes
//! that of the place which has come to it,
//!
//! ```text
//! state(x, t + Δt) = state(x − v Δt, t)
//! ```
//!
//! with the cosine interpolated between the pinned cells there. If states stayed in their cells, φ
//! would be turned as if it stood at the angle that the line had elsewhere, by a little more in
//! each step: a drop that leans on a moving plate would creep, by 0.6 % of the plate's way.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact_angle::LOWEST_LAYER;
use crate::grid::local_center;
use crate::line_state::LineState;
use crate::solids::{Solids, WallMotion};
use crate::tiles::{CellIndex, Field, Tiles};

/// Displacement below which states stay in their cells, in cells.
const MIN_DISPLACEMENT: f64 = 1e-12;

/// Moves the states of lines by one step of their walls, of `dt_over_h` seconds per meter of cell;
/// `before` is scratch.
pub fn move_line_states(
    tiles: &Tiles,
    solids: &Solids,
    walls: &WallMotion<'_>,
    dt_over_h: f64,
    line: &mut Field<LineState>,
    before: &mut Field<LineState>,
) {
    if !walls.any_moves() {
        return;
    }
    before.resize(tiles);
    before.values_mut().copy_from_slice(line.values());
    let before = &*before;
    line.par_tiles_mut().enumerate().filter(|(slot, _)| solids.near[*slot]).for_each(|(slot, out)| {
        for (local, out) in out[..tiles.cells_in_use()].iter_mut().enumerate() {
            let index = CellIndex::new(slot, local);
            if solids.wall_distance().values()[index].abs() > LOWEST_LAYER {
                continue;
            }
            let at = local_center(local);
            let displacement = walls.at(&solids.wall.values()[index], at, slot) * dt_over_h;
            if displacement.length_squared() > MIN_DISPLACEMENT * MIN_DISPLACEMENT {
                *out = state_at(tiles, before, slot, at - displacement);
            }
        }
    });
}

/// The state at a place in tile coordinates.
fn state_at(tiles: &Tiles, line: &Field<LineState>, slot: usize, at: DVec3) -> LineState {
    let low = (at - DVec3::splat(0.5)).floor();
    let part = at - DVec3::splat(0.5) - low;
    let low = low.as_ivec3().to_array();
    let planar = tiles.topology().planar;
    let (mut nearest, mut most) = (LineState::Free, 0.0);
    let (mut sum, mut weights) = (0.0, 0.0);
    for corner in 0..8 {
        let bits = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
        if planar && bits[2] == 1 {
            continue;
        }
        let z = if planar { 0 } else { low[2] + bits[2] };
        let share = |axis: usize| if bits[axis] == 1 { part[axis] } else { 1.0 - part[axis] };
        let weight = share(0) * share(1) * if planar { 1.0 } else { share(2) };
        let state = line.get(tiles.at(slot, [low[0] + bits[0], low[1] + bits[1], z]));
        if let LineState::Pinned { cosine } = state {
            sum += weight * cosine;
            weights += weight;
        }
        if weight > most {
            (nearest, most) = (state, weight);
        }
    }
    if weights > 0.0 { LineState::Pinned { cosine: sum / weights } } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::Topology;

    /// Cosines that change along y, pinned within a band along x: where the wall has brought the
    /// band, cells have the cosine of the place that has come to them, across tiles, too.
    #[test]
    fn a_cell_takes_the_state_of_the_place_that_has_come_to_it() {
        let mut tiles = Tiles::new(Topology::default());
        tiles.activate(&mut vec![[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
        let mut line = Field::new(LineState::Free);
        line.resize(&tiles);
        let cosine_at = |y: f64| 0.1 + 0.02 * y;
        for index in tiles.indices() {
            let [x, y, _] = tiles.cell(index);
            if (3..6).contains(&x) {
                line.values_mut()[index] = LineState::Pinned { cosine: cosine_at(f64::from(y) + 0.5) };
            } else if (6..8).contains(&x) {
                line.values_mut()[index] = LineState::Advancing;
            }
        }
        let displacement = DVec3::new(4.3, 0.7, 0.0);
        for (cell, expected) in [
            ([8, 8, 3], LineState::Pinned { cosine: cosine_at(8.5 - 0.7) }),
            ([8, 3, 3], LineState::Pinned { cosine: cosine_at(3.5 - 0.7) }),
            ([11, 3, 3], LineState::Advancing),
            ([13, 3, 3], LineState::Free),
        ] {
            let index = tiles.find(cell).unwrap();
            let found = state_at(&tiles, &line, index.slot(), local_center(index.local()) - displacement);
            match (found, expected) {
                (LineState::Pinned { cosine }, LineState::Pinned { cosine: known }) => {
                    assert!((cosine - known).abs() < 1e-12, "{cell:?}: {cosine}, not {known}");
                }
                _ => assert_eq!(found, expected, "{cell:?}"),
            }
        }
    }
}
