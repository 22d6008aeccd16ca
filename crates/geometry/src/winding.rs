//! How often a closed surface goes round each node of a grid, whatever the surface does to itself.
//!
//! Along every row of nodes the triangles that the row passes through are counted, by the way they face. A row through a corner or along an edge is
//! taken to pass beside it, always on the same side: signs are exact ([`crate::predicates`]), and a row at (y, z) stands for one at (y + ε, z + ε²). So
//! the count is right for any closed surface, one that crosses itself or is partly turned inside out too, where the sign of the nearest triangle
//! ([`crate::mesh_distance`]) would be anybody's guess: 0 is outside, 1 inside, 2 inside twice over, −1 what is turned inside out.

use glam::{DVec2, DVec3};

use crate::isosurface::Grid;
use crate::predicates::orient_2d;

/// The winding number at each node, in the grid's order. `positions` are in the grid's frame.
///
/// # Panics
/// If a triangle names a vertex that is not there.
pub fn winding_numbers(grid: &Grid, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<i16> {
    let [nx, ny, nz] = grid.size;
    // In units of cells, so that nodes are whole numbers.
    let places: Vec<DVec3> = positions.iter().map(|p| (*p - grid.origin) / grid.cell).collect();
    let mut turns = vec![0_i16; grid.num_nodes()];
    for triangle in triangles {
        let corners = triangle.map(|v| places[v as usize]);
        let flat = corners.map(|p| DVec2::new(p.y, p.z));
        let faces = orient_2d(flat[0], flat[1], flat[2]);
        if faces == 0.0 {
            continue;
        }
        let (low, high) = (flat[0].min(flat[1]).min(flat[2]), flat[0].max(flat[1]).max(flat[2]));
        let rows = |low: f64, high: f64, count: usize| {
            let first = low.ceil().max(0.0);
            let last = high.floor().min(count as f64 - 1.0);
            if first <= last { first as usize..last as usize + 1 } else { 0..0 }
        };
        for k in rows(low.y, high.y, nz) {
            for j in rows(low.x, high.x, ny) {
                let row = DVec2::new(j as f64, k as f64);
                let sides = [0, 1, 2].map(|side| beside(flat[side], flat[(side + 1) % 3], row));
                if sides.iter().any(|&side| (side > 0.0) != (faces > 0.0)) {
                    continue;
                }
                let weights = [1, 2, 0].map(|side| {
                    let (from, to) = (flat[side], flat[(side + 1) % 3]);
                    (to - from).perp_dot(row - from).abs()
                });
                let total: f64 = weights.iter().sum();
                let mean = corners.iter().zip(weights).map(|(p, w)| p.x * w).sum::<f64>() / total;
                let (least, most) =
                    corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), p| (l.min(p.x), m.max(p.x)));
                let x = if total > 0.0 { mean.clamp(least, most) } else { 0.5 * (least + most) };
                // What faces back along the row is where the row goes in; nodes from there on are inside once more.
                let first = x.ceil().max(0.0);
                if first < nx as f64 {
                    turns[grid.index([first as usize, j, k])] += if faces < 0.0 { 1 } else { -1 };
                }
            }
        }
    }
    for row in turns.chunks_mut(nx) {
        let mut so_far = 0;
        for turn in row {
            so_far += *turn;
            *turn = so_far;
        }
    }
    turns
}

/// On which side of a line a row is; one that meets it is a little beside it.
fn beside(from: DVec2, to: DVec2, row: DVec2) -> f64 {
    let side = orient_2d(from, to, row);
    if side != 0.0 {
        return side;
    }
    let way = to - from;
    if way.y != 0.0 { -way.y } else { way.x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube from corner to corner.
    fn cube(low: f64, high: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let at = |i: usize| [low, high][i];
        let corners = (0..8).map(|i| DVec3::new(at(i & 1), at(i >> 1 & 1), at(i >> 2 & 1))).collect();
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (corners, faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
    }

    fn grid() -> Grid {
        Grid { origin: DVec3::splat(-1.0), cell: DVec3::ONE, size: [10; 3] }
    }

    /// Corners, edges and diagonals of the cube all lie on rows.
    #[test]
    fn a_cube_whose_corners_are_nodes_is_counted_without_stray_rows() {
        let (positions, triangles) = cube(1.0, 4.0);
        let grid = grid();
        let turns = winding_numbers(&grid, &positions, &triangles);
        let inside = turns.iter().filter(|&&t| t == 1).count();
        assert!(turns.iter().all(|&t| t == 0 || t == 1), "only in and out: {:?}", turns.iter().max());
        assert_eq!(inside, 27, "three nodes along each side, shifted a little");
    }

    #[test]
    fn surfaces_that_cross_or_are_turned_inside_out_are_counted_as_often_as_they_go_round() {
        let (mut positions, mut triangles) = cube(0.3, 4.3);
        let (more, also) = cube(2.3, 6.3);
        triangles.extend(also.iter().map(|t| t.map(|v| v + positions.len() as u32)));
        positions.extend(more);
        let (hollow, faces) = cube(0.4, 1.4);
        triangles.extend(faces.iter().map(|t| [t[0], t[2], t[1]].map(|v| v + positions.len() as u32)));
        positions.extend(hollow);
        let grid = grid();
        let turns = winding_numbers(&grid, &positions, &triangles);
        let at = |p: f64| turns[grid.index([(p + 1.0) as usize; 3])];
        assert_eq!([at(0.0), at(1.0), at(2.0), at(3.0), at(4.0), at(5.0), at(7.0)], [0, 0, 1, 2, 2, 1, 0]);
    }
}
