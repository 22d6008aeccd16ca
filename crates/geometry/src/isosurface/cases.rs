//! The 256 cases of marching cubes, derived from one rule for the faces of a cube.
//!
//! Corners are numbered by their coordinates, `x + 2y + 4z`. Traverse a face counterclockwise, seen
//! from outside the cube: where a run of inside corners begins, the surface enters through that
//! edge, and it leaves through the edge where the run ends. On a face whose corners alternate, each
//! inside corner is a run of its own, so the two stay separate. The rule depends on the face alone,
//! and the cube on its other side traverses it in the opposite direction: both produce the same
//! segments with opposite orientation, which is why the whole surface is closed and oriented.
//!
//! Every crossed edge belongs to two faces, entered on one and left on the other, so the segments
//! form closed loops. A loop is triangulated with the diagonals of least squared length between
//! edge midpoints. A diagonal between two points of one face is never used: the neighboring cube
//! might use it too, and four triangles would meet there.

use std::array;
use std::sync::LazyLock;

/// Number of edges of a cube.
const NUM_EDGES: usize = 12;

/// Triangles of each case, as edges of the cube (see [`edge_ends`]), wound counterclockwise seen
/// from the outside corners.
pub(super) static CASES: LazyLock<[Vec<[u8; 3]>; 256]> =
    LazyLock::new(|| array::from_fn(|case| triangulate_case(case as u8)));

/// The lower corner of an edge, and the axis it runs along. Edges are numbered axis by axis.
pub(super) fn edge_ends(edge: usize) -> (usize, usize) {
    let axis = edge / 4;
    let (low, high) = (edge & 1, (edge >> 1) & 1);
    let corner = match axis {
        0 => (low << 1) | (high << 2),
        1 => low | (high << 2),
        _ => low | (high << 1),
    };
    (corner, axis)
}

/// The edge between two neighboring corners.
fn edge_between(a: usize, b: usize) -> usize {
    (0..NUM_EDGES)
        .find(|&edge| {
            let (corner, axis) = edge_ends(edge);
            corner == a.min(b) && corner + (1 << axis) == a.max(b)
        })
        .expect("the corners of a face are neighbors in turn")
}

/// Corners of the face across `axis` at its upper or lower end, counterclockwise seen from outside
/// the cube.
fn face_corners(axis: usize, upper: bool) -> [usize; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    if upper { [0, u, u + v, v].map(|corner| corner + (1 << axis)) } else { [0, v, u + v, u] }
}

fn faces() -> impl Iterator<Item = [usize; 4]> {
    (0..3).flat_map(|axis| [false, true].map(|upper| face_corners(axis, upper)))
}

/// For each crossed edge, the next edge of its loop.
fn successors(case: u8) -> [Option<usize>; NUM_EDGES] {
    let inside = |corner: usize| case >> corner & 1 == 1;
    let mut next = [None; NUM_EDGES];
    for face in faces() {
        for start in 0..4 {
            if inside(face[start]) && !inside(face[(start + 3) % 4]) {
                let mut end = start;
                while inside(face[(end + 1) % 4]) {
                    end = (end + 1) % 4;
                }
                let entry = edge_between(face[(start + 3) % 4], face[start]);
                next[entry] = Some(edge_between(face[end], face[(end + 1) % 4]));
            }
        }
    }
    next
}

fn triangulate_case(case: u8) -> Vec<[u8; 3]> {
    let mut next = successors(case);
    let mut triangles = Vec::new();
    for first in 0..NUM_EDGES {
        let mut polygon = Vec::new();
        let mut edge = first;
        while let Some(following) = next[edge].take() {
            polygon.push(edge);
            edge = following;
        }
        if !polygon.is_empty() {
            triangulate_loop(&polygon, &mut triangles);
        }
    }
    triangles
}

/// Twice the midpoint of an edge, in cube coordinates.
fn doubled_midpoint(edge: usize) -> [i32; 3] {
    let (corner, axis) = edge_ends(edge);
    array::from_fn(|a| if a == axis { 1 } else { 2 * (corner >> a & 1) as i32 })
}

/// Cost of a diagonal; none if both ends lie on one face of the cube.
fn diagonal_cost(a: usize, b: usize) -> Option<i32> {
    let (p, q) = (doubled_midpoint(a), doubled_midpoint(b));
    let share_a_face = (0..3).any(|axis| p[axis] == q[axis] && p[axis] != 1);
    (!share_a_face).then(|| (0..3).map(|axis| (p[axis] - q[axis]).pow(2)).sum())
}

/// Triangulates a loop with the cheapest allowed diagonals (dynamic programming over chains of the
/// loop).
fn triangulate_loop(polygon: &[usize], triangles: &mut Vec<[u8; 3]>) {
    let n = polygon.len();
    // Cost and apex of the best triangulation of the chain i..=j, closed by the chord i–j.
    let mut best = vec![vec![Some((0, 0)); n]; n];
    for span in 2..n {
        for i in 0..n - span {
            let j = i + span;
            let chord = if span == n - 1 { Some(0) } else { diagonal_cost(polygon[i], polygon[j]) };
            best[i][j] = chord.and_then(|chord| {
                (i + 1..j).filter_map(|apex| Some((best[i][apex]?.0 + best[apex][j]?.0 + chord, apex))).min()
            });
        }
    }
    let mut pending = vec![(0, n - 1)];
    while let Some((i, j)) = pending.pop() {
        if j - i >= 2 {
            let (_, apex) = best[i][j].expect("every loop has a triangulation without diagonals on a face");
            triangles.push([i, apex, j].map(|corner| polygon[corner] as u8));
            pending.extend([(i, apex), (apex, j)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_cubes_at_a_face_draw_opposite_segments() {
        for axis in 0..3 {
            let mut mirrored = face_corners(axis, false).map(|corner| corner + (1 << axis));
            mirrored.reverse();
            let upper = face_corners(axis, true);
            assert!((0..4).any(|turn| array::from_fn(|i| mirrored[(i + turn) % 4]) == upper), "{upper:?} {mirrored:?}");
        }
    }

    #[test]
    fn every_crossed_edge_is_used_and_no_other() {
        for case in 0..=255_u8 {
            let crossed = |edge: usize| {
                let (corner, axis) = edge_ends(edge);
                (case >> corner & 1) != (case >> (corner + (1 << axis)) & 1)
            };
            for edge in 0..NUM_EDGES {
                let used = CASES[case as usize].iter().flatten().any(|&e| e as usize == edge);
                assert_eq!(used, crossed(edge), "case {case}, edge {edge}");
            }
        }
    }

    #[test]
    fn one_inside_corner_gives_a_triangle_that_faces_away_from_it() {
        let [a, b, c] = CASES[1][0].map(|edge| doubled_midpoint(edge as usize).map(f64::from)).map(glam::DVec3::from);
        assert!((b - a).cross(c - a).dot(glam::DVec3::ONE) > 0.0, "{a} {b} {c}");
    }

    #[test]
    fn alternating_corners_are_kept_apart() {
        // Corners 0 and 3 lie across the lower z face from each other: two triangles, no bridge.
        assert_eq!(CASES[0b1001].len(), 2);
        // Their complement leaves the two outside corners joined through the same face: one
        // hexagon.
        assert_eq!(CASES[0b1111_0110].len(), 4);
    }
}
