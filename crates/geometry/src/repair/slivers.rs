//! Removal of slivers: triangles with a corner on the opposite edge.
//!
//! ```text
//!        d                 d
//!      ╱   ╲             ╱ │ ╲       Flipping the longest edge ab splits the neighbor at c, which changes
//!    a ──── b    becomes a ─c─ b     the shape by less than the height.
//!      ‾ c ‾
//! ```

use std::collections::HashSet;

use glam::DVec3;

use crate::TriMesh;
use crate::connectivity::{Connectivity, HalfEdge, NotManifold};

/// A chain of slivers needs a pass for each of them; the rest of longer chains is kept.
const MAX_PASSES: usize = 16;

/// Flips the longest edge of every triangle lower than `height`; returns the numbers of removed and
/// remaining slivers.
pub(super) fn remove(mesh: &mut TriMesh, height: f64) -> Result<(usize, usize), NotManifold> {
    let mut flipped = 0;
    for _ in 0..MAX_PASSES {
        let slivers: Vec<usize> = (0..mesh.triangles.len()).filter(|&t| is_sliver(mesh.corners(t), height)).collect();
        if slivers.is_empty() {
            return Ok((flipped, 0));
        }
        let flipped_now = flip_longest_edges(mesh, &slivers, height)?;
        if flipped_now == 0 {
            return Ok((flipped, slivers.len()));
        }
        flipped += flipped_now;
    }
    let left = (0..mesh.triangles.len()).filter(|&t| is_sliver(mesh.corners(t), height)).count();
    Ok((flipped, left))
}

fn longest_edge([a, b, c]: [DVec3; 3]) -> (usize, f64) {
    let lengths = [a.distance(b), b.distance(c), c.distance(a)];
    (0..3).map(|k| (k, lengths[k])).fold((0, lengths[0]), |best, one| if one.1 > best.1 { one } else { best })
}

fn is_sliver(corners: [DVec3; 3], height: f64) -> bool {
    let [a, b, c] = corners;
    (b - a).cross(c - a).length() <= height * longest_edge(corners).1
}

fn flip_longest_edges(mesh: &mut TriMesh, slivers: &[usize], height: f64) -> Result<usize, NotManifold> {
    let connectivity = Connectivity::new(&mesh.triangles)?;
    let mut changed: HashSet<usize> = HashSet::new();
    let mut new_edges: HashSet<[u32; 2]> = HashSet::new();
    for &sliver in slivers {
        let (side, length) = longest_edge(mesh.corners(sliver));
        let ab = HalfEdge::new(sliver, side);
        let Some(ba) = connectivity.opposite(ab) else { continue };
        let neighbor = ba.triangle();
        if changed.contains(&sliver) || changed.contains(&neighbor) {
            continue;
        }
        let [a, b] = ab.ends(&mesh.triangles);
        let c = mesh.triangles[sliver][ab.previous().side()];
        let d = mesh.triangles[neighbor][ba.previous().side()];
        let cd = [c.min(d), c.max(d)];
        let reaches_d = |corner: HalfEdge| {
            corner.ends(&mesh.triangles)[1] == d || mesh.triangles[corner.triangle()][corner.previous().side()] == d
        };
        let exists = new_edges.contains(&cd) || connectivity.fan(ab.previous()).any(reaches_d);
        let [pa, pb, pc, pd] = [a, b, c, d].map(|v| mesh.positions[v as usize]);
        if c == d || exists || is_sliver([pa, pd, pc], height) || is_sliver([pd, pb, pc], height) {
            continue;
        }
        new_edges.insert(cd);
        changed.extend([sliver, neighbor]);
        mesh.triangles[sliver] = [a, d, c];
        mesh.triangles[neighbor] = [d, b, c];
        if !mesh.corner_uvs.is_empty() {
            // The neighbor's texture covers both triangles; c is interpolated along the edge.
            let old = mesh.corner_uvs[neighbor];
            let [uv_b, uv_a, uv_d] = [ba, ba.next(), ba.previous()].map(|corner| old[corner.side()]);
            let along = ((pc - pa).dot(pb - pa) / (length * length)).clamp(0.0, 1.0);
            let uv_c = uv_a.lerp(uv_b, along);
            mesh.corner_uvs[sliver] = [uv_a, uv_d, uv_c];
            mesh.corner_uvs[neighbor] = [uv_d, uv_b, uv_c];
        }
    }
    Ok(changed.len() / 2)
}
