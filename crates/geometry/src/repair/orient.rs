//! Consistent orientation of neighboring triangles, and separation of surfaces that only touch.

use std::f64::consts::TAU;

use glam::DVec3;
use sessile_numerics::math;

use super::degenerate::flip;
use super::report::MeshDefect;
use crate::TriMesh;
use crate::connectivity::{Connectivity, EdgeUse, HalfEdge, edge_uses};

/// The result of [`orient`].
pub(super) struct Oriented {
    pub flipped_triangles: usize,
    pub split_edges: usize,
    pub split_vertices: usize,
}

/// Most passes; each edge of a triangle may have to wait for the split of another one.
const MAX_PASSES: usize = 8;

/// Makes the orientation consistent across every edge with two triangles, by majority in each
/// patch; then separates the sheets at edges with more. Afterwards every edge has at most two
/// triangles, which traverse it in opposite directions.
pub(super) fn orient(mesh: &mut TriMesh) -> Result<Oriented, MeshDefect> {
    let mut uses = edge_uses(&mesh.triangles);
    let mut done = Oriented { flipped_triangles: orient_patches(mesh, &uses)?, split_edges: 0, split_vertices: 0 };
    for pass in 0..MAX_PASSES {
        let (pairs, non_manifold_edges) = pair_up(mesh, &uses)?;
        if non_manifold_edges == 0 {
            return Ok(done);
        }
        if pass == 0 {
            done.split_edges = non_manifold_edges;
        }
        let connectivity = Connectivity::of_pairs(mesh.triangles.len(), pairs);
        done.split_vertices += split_fans(mesh, &connectivity);
        split_non_manifold_edges(mesh, &connectivity);
        uses = edge_uses(&mesh.triangles);
    }
    Err(non_manifold(mesh, &uses, |uses| uses.len() > 2))
}

/// Where two sheets touch along an edge but are connected around both of its ends, the ends cannot
/// be duplicated. Then all pairs of triangles but one get a separate midpoint.
fn split_non_manifold_edges(mesh: &mut TriMesh, connectivity: &Connectivity) {
    let mut is_split = vec![false; mesh.triangles.len()];
    for uses in edges(&edge_uses(&mesh.triangles)).filter(|uses| uses.len() > 2) {
        let [from, to] = ends(mesh, uses[0].edge);
        let half_edges = uses.iter().map(|edge_use| edge_use.half_edge);
        let pairs = half_edges.filter_map(|half_edge| {
            connectivity.opposite(half_edge).filter(|&across| half_edge < across).map(|across| [half_edge, across])
        });
        for pair in pairs.skip(1) {
            if pair.iter().any(|half_edge| is_split[half_edge.triangle()]) {
                continue;
            }
            let midpoint = mesh.positions.len() as u32;
            mesh.positions.push(from.midpoint(to));
            for half_edge in pair {
                is_split[half_edge.triangle()] = true;
                split_triangle(mesh, half_edge, midpoint);
            }
        }
    }
}

/// Splits a triangle in two, from a new vertex in the middle of an edge to the opposite corner.
fn split_triangle(mesh: &mut TriMesh, edge: HalfEdge, midpoint: u32) {
    let (t, [from, to, apex]) = (edge.triangle(), [edge, edge.next(), edge.previous()].map(HalfEdge::side));
    let old = mesh.triangles[t];
    mesh.triangles[t][to] = midpoint;
    mesh.triangles.push([midpoint, old[to], old[apex]]);
    if let Some(&uvs) = mesh.corner_uvs.get(t) {
        let middle = uvs[from].midpoint(uvs[to]);
        mesh.corner_uvs[t][to] = middle;
        mesh.corner_uvs.push([middle, uvs[to], uvs[apex]]);
    }
}

/// Gives every triangle fan at a vertex a separate vertex; returns the number of added vertices.
pub(super) fn split_fans(mesh: &mut TriMesh, connectivity: &Connectivity) -> usize {
    let num_before = mesh.positions.len();
    let mut taken = vec![false; num_before];
    let mut done = vec![false; 3 * mesh.triangles.len()];
    let old_triangles = mesh.triangles.clone();
    for start in (0..done.len() as u32).map(HalfEdge) {
        if done[start.0 as usize] {
            continue;
        }
        let [vertex, _] = start.ends(&old_triangles);
        let own = if std::mem::replace(&mut taken[vertex as usize], true) {
            mesh.positions.push(mesh.positions[vertex as usize]);
            mesh.positions.len() as u32 - 1
        } else {
            vertex
        };
        for corner in connectivity.fan(start) {
            done[corner.0 as usize] = true;
            mesh.triangles[corner.triangle()][corner.side()] = own;
        }
    }
    mesh.positions.len() - num_before
}

fn edges(uses: &[EdgeUse]) -> impl Iterator<Item = &[EdgeUse]> {
    uses.chunk_by(|a, b| a.edge == b.edge)
}

fn ends(mesh: &TriMesh, edge: [u32; 2]) -> [DVec3; 2] {
    edge.map(|v| mesh.positions[v as usize])
}

/// Propagates the orientation of the first triangle over its patch, then flips the minority;
/// returns its size.
fn orient_patches(mesh: &mut TriMesh, uses: &[EdgeUse]) -> Result<usize, MeshDefect> {
    let plain = edges(uses).filter_map(|uses| match uses {
        [a, b] => Some([a.half_edge, b.half_edge]),
        _ => None,
    });
    let neighbors = Connectivity::of_pairs(mesh.triangles.len(), plain);
    let mut is_flipped: Vec<Option<bool>> = vec![None; mesh.triangles.len()];
    let mut total = 0;
    let mut patch = Vec::new();
    for first in 0..mesh.triangles.len() {
        if is_flipped[first].is_some() {
            continue;
        }
        is_flipped[first] = Some(false);
        patch.clear();
        patch.push(first);
        let mut at = 0;
        let mut num_flipped = 0;
        while let Some(&triangle) = patch.get(at) {
            at += 1;
            let here = is_flipped[triangle] == Some(true);
            num_flipped += usize::from(here);
            for half_edge in (0..3).map(|side| HalfEdge::new(triangle, side)) {
                let Some(across) = neighbors.opposite(half_edge) else { continue };
                let same_direction = half_edge.ends(&mesh.triangles) == across.ends(&mesh.triangles);
                let wanted = here ^ same_direction;
                match is_flipped[across.triangle()] {
                    None => {
                        is_flipped[across.triangle()] = Some(wanted);
                        patch.push(across.triangle());
                    }
                    Some(found) if found != wanted => {
                        return Err(MeshDefect::NonOrientable { ends: ends(mesh, half_edge.ends(&mesh.triangles)) });
                    }
                    Some(_) => {}
                }
            }
        }
        let flip_marked = 2 * num_flipped <= patch.len();
        total += if flip_marked { num_flipped } else { patch.len() - num_flipped };
        for &triangle in &patch {
            if (is_flipped[triangle] == Some(true)) == flip_marked {
                flip(mesh, triangle);
            }
        }
    }
    Ok(total)
}

/// Pairs of opposite half-edges, and the number of edges with more than one pair.
///
/// At an edge with 2n triangles of alternating orientation, the two that enclose the same wedge of
/// solid belong together: they match like brackets on a circle. A triangle that traverses the edge
/// forwards opens a wedge, and one that traverses it backwards closes one.
fn pair_up(mesh: &TriMesh, uses: &[EdgeUse]) -> Result<(Vec<[HalfEdge; 2]>, usize), MeshDefect> {
    let mut pairs = Vec::with_capacity(uses.len() / 2);
    let mut split_edges = 0;
    for uses in edges(uses) {
        match uses {
            [_] => {}
            [a, b] => pairs.push([a.half_edge, b.half_edge]),
            _ => {
                let runs_along = |half_edge: HalfEdge| half_edge.ends(&mesh.triangles) == uses[0].edge;
                let along = uses.iter().filter(|edge_use| runs_along(edge_use.half_edge)).count();
                if 2 * along != uses.len() {
                    return Err(non_manifold(mesh, &edge_uses(&mesh.triangles), |uses| {
                        let along = uses.iter().filter(|one| one.half_edge.ends(&mesh.triangles) == one.edge).count();
                        2 * along != uses.len()
                    }));
                }
                match_brackets(&sorted_around_edge(mesh, uses, runs_along), runs_along, &mut pairs);
                split_edges += 1;
            }
        }
    }
    Ok((pairs, split_edges))
}

/// The half-edges of an edge, sorted by the angle of their triangles around it, clockwise seen
/// along the edge. Among triangles at the same angle, those that close a wedge precede those that
/// open one, so that touching bodies stay separate.
fn sorted_around_edge(mesh: &TriMesh, uses: &[EdgeUse], opens: impl Fn(HalfEdge) -> bool) -> Vec<HalfEdge> {
    const SAME_ANGLE: f64 = 1e-9;
    let [from, to] = ends(mesh, uses[0].edge);
    let axis = (to - from).normalize_or_zero();
    let arm = |half_edge: HalfEdge| {
        let apex = mesh.triangles[half_edge.triangle()][half_edge.previous().side()];
        let arm = mesh.positions[apex as usize] - from;
        arm - axis * axis.dot(arm)
    };
    let x = arm(uses[0].half_edge).normalize_or_zero();
    let y = x.cross(axis);
    let mut around: Vec<(f64, HalfEdge)> = uses
        .iter()
        .map(|edge_use| {
            let arm = arm(edge_use.half_edge);
            let angle = math::atan2(arm.dot(y), arm.dot(x)).rem_euclid(TAU);
            (if angle > TAU - SAME_ANGLE { 0.0 } else { angle }, edge_use.half_edge)
        })
        .collect();
    around.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for same in around.chunk_by_mut(|a, b| b.0 - a.0 <= SAME_ANGLE) {
        same.sort_by_key(|&(_, half_edge)| (opens(half_edge), half_edge));
    }
    around.into_iter().map(|(_, half_edge)| half_edge).collect()
}

/// Matches each opening half-edge with the closing one of its wedge. Two rounds handle wedges that
/// wrap around.
fn match_brackets(around: &[HalfEdge], opens: impl Fn(HalfEdge) -> bool, pairs: &mut Vec<[HalfEdge; 2]>) {
    let mut open = Vec::new();
    let mut seen = vec![false; around.len()];
    for k in (0..around.len()).chain(0..around.len()) {
        if seen[k] {
            continue;
        }
        if opens(around[k]) {
            seen[k] = true;
            open.push(around[k]);
        } else if let Some(opening) = open.pop() {
            seen[k] = true;
            pairs.push([opening, around[k]]);
        }
    }
}

/// The defect of the edges with too many triangles that satisfy `is_bad`.
fn non_manifold(mesh: &TriMesh, uses: &[EdgeUse], is_bad: impl Fn(&[EdgeUse]) -> bool) -> MeshDefect {
    let mut bad = edges(uses).filter(|uses| uses.len() > 2 && is_bad(uses)).peekable();
    let (triangles, at) = bad.peek().map_or((0, [DVec3::ZERO; 2]), |uses| (uses.len(), ends(mesh, uses[0].edge)));
    MeshDefect::NonManifold { edges: bad.count(), triangles, ends: at }
}
