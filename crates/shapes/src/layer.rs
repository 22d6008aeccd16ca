//! A layer of liquid that follows a strongly curved substrate.
//!
//! Where the substrate turns so far under a drop that no body over a plane fits (a film that runs
//! around a ball, over an edge or into a groove), the free surface follows the substrate at the
//! thickness λw along its normals N:
//!
//! ```text
//! x = B + λ w N        w = s (2 − s),  s = distance from the contact line / its largest value
//! V(λ) = c₁ λ + c₂ λ² + c₃ λ³
//! ```
//!
//! On a disc w is the parabola of a thin drop; around a closed solid, without a contact line, it is
//! one. The volume is a cubic in λ because every vertex moves along a line; λ is its least positive
//! root.

use std::collections::HashMap;

use glam::DVec3;
use sessile_geometry::TriMesh;

use crate::build::DropMesh;

/// Growth of λ per step of the search for the interval of the root.
const GROWTH: f64 = 1.25;
/// Largest number of such steps.
const MAX_GROWTHS: usize = 60;

/// Builds the layer of `volume` (in m³) on a base, whose triangles face into the solid.
///
/// Edges with one triangle are the contact line. `None` if no thickness encloses the volume: a
/// hollow is full, or the base has no area.
pub fn layer(mut base: TriMesh, volume: f64) -> Option<DropMesh> {
    let line = contact_line(&base);
    let rise = rises(&base, &line);
    let factor = thickness(&base, &rise, volume)?;
    let (count, num_base) = (base.positions.len(), base.triangles.len());
    // Vertices on the contact line are shared, all others have one above them.
    let mut above = Vec::with_capacity(count);
    for v in 0..count {
        if line[v] {
            above.push(v as u32);
        } else {
            above.push(base.positions.len() as u32);
            base.positions.push(base.positions[v] + factor * rise[v]);
        }
    }
    for t in 0..num_base {
        let [a, b, c] = base.triangles[t].map(|v| above[v as usize]);
        base.triangles.push([a, c, b]);
    }
    base.corner_uvs.clear();
    let on_solid = (0..base.triangles.len()).map(|t| t < num_base).collect();
    Some(DropMesh { mesh: base, on_solid })
}

/// Number of triangles at each edge, by its sorted ends.
fn edge_uses(triangles: &[[u32; 3]]) -> HashMap<(u32, u32), u32> {
    let mut uses = HashMap::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *uses.entry((from.min(to), from.max(to))).or_insert(0) += 1;
        }
    }
    uses
}

/// Whether each vertex is on the contact line.
fn contact_line(base: &TriMesh) -> Vec<bool> {
    let mut line = vec![false; base.positions.len()];
    let uses = edge_uses(&base.triangles);
    for &[a, b, c] in &base.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if uses[&(from.min(to), from.max(to))] == 1 {
                (line[from as usize], line[to as usize]) = (true, true);
            }
        }
    }
    line
}

/// w N of every vertex.
fn rises(base: &TriMesh, line: &[bool]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; base.positions.len()];
    for (t, triangle) in base.triangles.iter().enumerate() {
        let [a, b, c] = base.corners(t);
        let area = (c - a).cross(b - a);
        triangle.iter().for_each(|&v| normals[v as usize] += area);
    }
    let ends: Vec<DVec3> = (0..line.len()).filter(|&v| line[v]).map(|v| base.positions[v]).collect();
    let distance = |p: DVec3| ends.iter().map(|end| end.distance_squared(p)).fold(f64::INFINITY, f64::min).sqrt();
    let distances: Vec<f64> = match ends.is_empty() {
        true => vec![1.0; base.positions.len()],
        false => base.positions.iter().map(|&p| distance(p)).collect(),
    };
    let farthest = distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let share = |v: usize| distances[v] / farthest;
    (0..line.len()).map(|v| normals[v].normalize_or_zero() * (share(v) * (2.0 - share(v)))).collect()
}

/// The least λ at which the layer encloses `volume` (in m³).
fn thickness(base: &TriMesh, rise: &[DVec3], volume: f64) -> Option<f64> {
    let (mut linear, mut square, mut cube) = (0.0, 0.0, 0.0);
    for &triangle in &base.triangles {
        // The free surface has the opposite orientation.
        let [p, r, q] = triangle.map(|v| base.positions[v as usize]);
        let [a, c, b] = triangle.map(|v| rise[v as usize]);
        linear += a.dot(q.cross(r)) + b.dot(r.cross(p)) + c.dot(p.cross(q));
        square += p.dot(b.cross(c)) + q.dot(c.cross(a)) + r.dot(a.cross(b));
        cube += a.dot(b.cross(c));
    }
    let miss = |x: f64| x * (linear + x * (square + x * cube)) - 6.0 * volume;
    let mut high = 0.25 * 6.0 * volume / linear;
    if !(high.is_finite() && high > 0.0) {
        return None;
    }
    let (mut low, mut last) = (0.0, -6.0 * volume);
    for _ in 0..MAX_GROWTHS {
        let now = miss(high);
        if now >= 0.0 {
            return Some(bisected(miss, low, high));
        }
        if now <= last {
            return None;
        }
        (low, last, high) = (high, now, high * GROWTH);
    }
    None
}

/// Root of a function that is negative at `low` and not at `high`.
fn bisected(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
}

/// Refines a base over a plane for a layer: no edge is much longer than those of the contact line,
/// and none but those of the contact line joins two of its vertices.
pub(crate) fn refined(mut base: TriMesh) -> TriMesh {
    const MAX_DIVISIONS: usize = 4;
    for _ in 0..MAX_DIVISIONS {
        let uses = edge_uses(&base.triangles);
        let (mut longest, mut longest_on_line) = (0.0_f64, 0.0_f64);
        for &[a, b, c] in &base.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let length = base.positions[from as usize].distance(base.positions[to as usize]);
                longest = longest.max(length);
                if uses[&(from.min(to), from.max(to))] == 1 {
                    longest_on_line = longest_on_line.max(length);
                }
            }
        }
        if longest <= 2.5 * longest_on_line {
            break;
        }
        divide(&mut base);
    }
    split_chords(&mut base);
    base
}

/// Divides every triangle into four.
fn divide(base: &mut TriMesh) {
    let mut middles = HashMap::new();
    let mut triangles = Vec::with_capacity(4 * base.triangles.len());
    for [a, b, c] in std::mem::take(&mut base.triangles) {
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(from, to)| middle(base, &mut middles, from, to));
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    base.triangles = triangles;
}

/// The vertex in the middle of an edge.
fn middle(base: &mut TriMesh, middles: &mut HashMap<(u32, u32), u32>, from: u32, to: u32) -> u32 {
    *middles.entry((from.min(to), from.max(to))).or_insert_with(|| {
        base.positions.push(0.5 * (base.positions[from as usize] + base.positions[to as usize]));
        base.positions.len() as u32 - 1
    })
}

/// Splits every inner edge that joins two vertices of the contact line, where a layer would have no
/// thickness.
fn split_chords(base: &mut TriMesh) {
    let (line, uses) = (contact_line(base), edge_uses(&base.triangles));
    let is_chord =
        |from: u32, to: u32| line[from as usize] && line[to as usize] && uses[&(from.min(to), from.max(to))] > 1;
    let mut middles = HashMap::new();
    let mut triangles = Vec::with_capacity(base.triangles.len());
    for corners in std::mem::take(&mut base.triangles) {
        let edges = [0, 1, 2].map(|k| (corners[k], corners[(k + 1) % 3]));
        if !edges.iter().any(|&(from, to)| is_chord(from, to)) {
            triangles.push(corners);
            continue;
        }
        let mut polygon = Vec::with_capacity(6);
        for (from, to) in edges {
            polygon.push(from);
            if is_chord(from, to) {
                polygon.push(middle(base, &mut middles, from, to));
            }
        }
        let center = base.positions.len() as u32;
        let sum: DVec3 = corners.iter().map(|&v| base.positions[v as usize]).sum();
        base.positions.push(sum / 3.0);
        triangles.extend((0..polygon.len()).map(|k| [center, polygon[k], polygon[(k + 1) % polygon.len()]]));
    }
    base.triangles = triangles;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of edge 2 about the origin, its triangles facing inward.
    fn cube() -> TriMesh {
        let positions =
            (0..8).map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0);
        let quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        TriMesh { positions: positions.collect(), triangles, corner_uvs: vec![] }
    }

    #[test]
    fn a_layer_around_a_closed_solid_encloses_its_volume() {
        let base = cube();
        assert!((base.volume() + 8.0).abs() < 1e-12, "{}", base.volume());
        for volume in [1e-3, 1.0, 100.0] {
            let built = layer(base.clone(), volume).expect("a layer");
            assert!((built.mesh.volume() / volume - 1.0).abs() < 1e-12, "{}", built.mesh.volume());
            assert_eq!(built.mesh.triangles.len(), 24);
        }
    }

    #[test]
    fn ears_and_long_triangles_are_refined() {
        // A long rectangle of two triangles: its diagonal joins two vertices of the contact line.
        let positions = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
        let base = TriMesh { positions: positions.to_vec(), triangles: vec![[0, 1, 2], [0, 2, 3]], corner_uvs: vec![] };
        assert!(layer(base.clone(), 1.0).is_none(), "no vertex can rise");
        let built = layer(refined(base), 1.0).expect("a layer");
        assert!((built.mesh.volume() - 1.0).abs() < 1e-12, "{}", built.mesh.volume());
    }
}
