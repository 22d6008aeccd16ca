//! Winding numbers of a closed surface at the nodes of a grid.
//!
//! Along every row of nodes, the triangles that intersect the row are counted with the sign of
//! their orientation. Rows through corners and edges are perturbed consistently: signs are exact
//! ([`crate::predicates`]), and a row at (y, z) stands for one at (y + ε, z + ε²). The result is
//! therefore correct for any closed surface, even if it intersects itself or is partly inverted,
//! where the sign of the nearest triangle ([`crate::mesh_distance`]) would be arbitrary: 0 is
//! outside, 1 inside, 2 inside twice, −1 inside an inverted part.

use glam::{DVec2, DVec3};

use crate::isosurface::Grid;
use crate::predicates::orient_2d;

/// The winding number at each node, in the grid's order. `positions` are in the grid's frame.
///
/// # Panics
/// If a vertex index is out of range.
pub fn winding_numbers(grid: &Grid, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<i16> {
    let [nx, ny, nz] = grid.size;
    // In units of cells, so that nodes have integer coordinates.
    let positions: Vec<DVec3> = positions.iter().map(|p| (*p - grid.origin) / grid.cell).collect();
    let mut windings = vec![0_i16; grid.num_nodes()];
    for triangle in triangles {
        let corners = triangle.map(|v| positions[v as usize]);
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
                let sides = [0, 1, 2].map(|side| perturbed_side(flat[side], flat[(side + 1) % 3], row));
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
                // A triangle that faces against the row is where the row enters; nodes behind it
                // are inside once more.
                let first = x.ceil().max(0.0);
                if first < nx as f64 {
                    windings[grid.index([first as usize, j, k])] += if faces < 0.0 { 1 } else { -1 };
                }
            }
        }
    }
    for row in windings.chunks_mut(nx) {
        let mut sum = 0;
        for winding in row {
            sum += *winding;
            *winding = sum;
        }
    }
    windings
}

/// On which side of an edge a perturbed row is.
fn perturbed_side(from: DVec2, to: DVec2, row: DVec2) -> f64 {
    let side = orient_2d(from, to, row);
    if side != 0.0 {
        return side;
    }
    let edge = to - from;
    if edge.y != 0.0 { -edge.y } else { edge.x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube between two opposite corners.
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
    fn cube_with_corners_at_nodes_has_winding_numbers_zero_and_one() {
        let (positions, triangles) = cube(1.0, 4.0);
        let grid = grid();
        let windings = winding_numbers(&grid, &positions, &triangles);
        let inside = windings.iter().filter(|&&t| t == 1).count();
        assert!(windings.iter().all(|&t| t == 0 || t == 1), "expected only 0 and 1, found {:?}", windings.iter().max());
        assert_eq!(inside, 27, "three nodes along each side, shifted a little");
    }

    #[test]
    fn winding_numbers_of_overlapping_and_inverted_cubes_add_up() {
        let (mut positions, mut triangles) = cube(0.3, 4.3);
        let (more, also) = cube(2.3, 6.3);
        triangles.extend(also.iter().map(|t| t.map(|v| v + positions.len() as u32)));
        positions.extend(more);
        let (hollow, faces) = cube(0.4, 1.4);
        triangles.extend(faces.iter().map(|t| [t[0], t[2], t[1]].map(|v| v + positions.len() as u32)));
        positions.extend(hollow);
        let grid = grid();
        let windings = winding_numbers(&grid, &positions, &triangles);
        let at = |p: f64| windings[grid.index([(p + 1.0) as usize; 3])];
        assert_eq!([at(0.0), at(1.0), at(2.0), at(3.0), at(4.0), at(5.0), at(7.0)], [0, 0, 1, 2, 2, 1, 0]);
    }
}
