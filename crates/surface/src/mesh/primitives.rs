//! Evenly triangulated meshes of spheres and caps.

use std::f64::consts::TAU;

use glam::DVec3;
use sessile_geometry::TriMesh;

use super::{Interface, Mesh};
use sessile_numerics::{math, sphere_volume};

/// A sphere with edges of about `edge` meters that encloses exactly `4/3 π radius³`.
///
/// `radius_at` gives the distance of the surface from the center by direction; it is scaled to the
/// volume.
pub fn sphere(center: DVec3, radius: f64, edge: f64, radius_at: impl Fn(DVec3) -> f64) -> Option<Mesh> {
    // An icosahedron's edge is 1.0515 radii; divided into f parts and projected, edges average
    // 1.17/f radii.
    let parts = (1.17 * radius / edge).round().clamp(2.0, 400.0) as usize;
    let mut mesh = icosphere(parts);
    for p in &mut mesh.positions {
        *p = center + *p * radius_at(*p);
    }
    scale_to(&mut mesh, center, sphere_volume(radius));
    Mesh::from_triangles(&mesh)
}

/// Scales a closed mesh about a point to a volume.
fn scale_to(mesh: &mut TriMesh, center: DVec3, volume: f64) {
    let moved = TriMesh { positions: mesh.positions.iter().map(|p| *p - center).collect(), ..mesh.clone() };
    let factor = math::cbrt(volume / moved.volume());
    mesh.positions.iter_mut().for_each(|p| *p = center + (*p - center) * factor);
}

/// Corners of an icosahedron with coordinates 0, ±1 and ±golden ratio.
fn icosahedron_corners() -> [DVec3; 12] {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ]
    .map(DVec3::from)
}

/// Faces of the icosahedron, counter-clockwise seen from outside.
#[rustfmt::skip]
const ICOSAHEDRON_FACES: [[usize; 3]; 20] = [
    [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11],
    [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8],
    [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
    [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
];

/// The unit sphere: an icosahedron with each edge divided into `parts`, projected onto the sphere.
fn icosphere(parts: usize) -> TriMesh {
    let corners = icosahedron_corners();
    // Vertices on shared edges are identified by the corners and weights that they interpolate.
    let mut known = std::collections::BTreeMap::new();
    let mut mesh = TriMesh::default();
    for face in ICOSAHEDRON_FACES {
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for i in 0..=parts {
            let mut row = Vec::new();
            for j in 0..=i {
                let weights = [parts - i, i - j, j];
                let mut key: Vec<(usize, usize)> =
                    face.iter().copied().zip(weights).filter(|(_, weight)| *weight > 0).collect();
                key.sort_unstable();
                let next = mesh.positions.len() as u32;
                let index = *known.entry(key).or_insert(next);
                if index == next {
                    let sum: DVec3 = face.iter().zip(weights).map(|(&c, w)| corners[c].normalize() * w as f64).sum();
                    mesh.positions.push(sum.normalize());
                }
                row.push(index);
            }
            rows.push(row);
        }
        for i in 0..parts {
            for j in 0..=i {
                mesh.triangles.push([rows[i][j], rows[i + 1][j], rows[i + 1][j + 1]]);
                if j < i {
                    mesh.triangles.push([rows[i][j], rows[i + 1][j + 1], rows[i][j + 1]]);
                }
            }
        }
    }
    mesh
}

/// Parametric geometry of a cap.
pub struct CapGeometry<'a> {
    /// Edge length, in m.
    pub edge: f64,
    /// Point of the free surface by its relative distance from the apex (0) to the rim (1) and its
    /// azimuth.
    pub surface: &'a dyn Fn(f64, f64) -> DVec3,
    /// Point of the wetted face by its relative distance from the center (0) to the rim (1) and its
    /// azimuth.
    pub base: &'a dyn Fn(f64, f64) -> DVec3,
    /// What the wetted face lies on.
    pub interface: Interface,
}

/// A cap: rings of vertices from the apex to the rim, and from the rim to the center of the wetted
/// face.
pub fn cap_mesh(cap: &CapGeometry<'_>) -> Option<Mesh> {
    let length = |points: &dyn Fn(f64, f64) -> DVec3| -> f64 {
        let at = |i: usize| points(i as f64 / 32.0, 0.0);
        (0..32).map(|i| at(i).distance(at(i + 1))).sum()
    };
    // Rows of equilateral triangles are √3/2 edges apart.
    let row = 0.866 * cap.edge;
    let air_rows = (length(cap.surface) / row).round().clamp(3.0, 2000.0) as usize;
    let base_rows = (length(cap.base) / (1.5 * row)).round().clamp(2.0, 2000.0) as usize;
    let mut mesh = TriMesh::default();
    let mut interfaces = Vec::new();
    let circumference = |points: &dyn Fn(f64, f64) -> DVec3, fraction: f64| {
        let at = |k: usize| points(fraction, TAU * k as f64 / 24.0);
        (0..24).map(|k| at(k).distance(at(k + 1))).sum::<f64>()
    };
    // Every other ring is rotated by half a spacing, as in a hexagonal lattice.
    let ring = |mesh: &mut TriMesh,
                points: &dyn Fn(f64, f64) -> DVec3,
                fraction: f64,
                count: usize,
                offset: f64|
     -> Vec<u32> {
        (0..count)
            .map(|k| {
                mesh.positions.push(points(fraction, TAU * (k as f64 + offset) / count as f64));
                mesh.positions.len() as u32 - 1
            })
            .collect()
    };
    mesh.positions.push((cap.surface)(0.0, 0.0));
    let mut inner: (Vec<u32>, f64) = (vec![0], 0.0);
    for i in 1..=air_rows {
        let fraction = i as f64 / air_rows as f64;
        let count = (circumference(cap.surface, fraction) / cap.edge).round().max(6.0) as usize;
        let offset = if i % 2 == 0 { 0.0 } else { 0.5 };
        let outer = (ring(&mut mesh, cap.surface, fraction, count, offset), offset);
        connect_rings(&mut mesh.triangles, &inner, &outer, false);
        inner = outer;
    }
    interfaces.resize(mesh.triangles.len(), Interface::Air);
    for i in (0..base_rows).rev() {
        let fraction = i as f64 / base_rows as f64;
        let outer = inner;
        inner = if i == 0 {
            mesh.positions.push((cap.base)(0.0, 0.0));
            (vec![mesh.positions.len() as u32 - 1], 0.0)
        } else {
            let count = (circumference(cap.base, fraction) / (1.5 * cap.edge)).round().max(5.0) as usize;
            let offset = if i % 2 == 0 { 0.0 } else { 0.5 };
            (ring(&mut mesh, cap.base, fraction, count, offset), offset)
        };
        connect_rings(&mut mesh.triangles, &inner, &outer, true);
    }
    interfaces.resize(mesh.triangles.len(), cap.interface);
    let mut made = Mesh::from_triangles(&mesh)?;
    made.interfaces = interfaces;
    Some(made)
}

/// Triangulates the strip between two rings; a ring of one vertex gives a fan.
fn connect_rings(triangles: &mut Vec<[u32; 3]>, inner: &(Vec<u32>, f64), outer: &(Vec<u32>, f64), flip: bool) {
    let (a, b) = (&inner.0, &outer.0);
    let angle = |ring: &(Vec<u32>, f64), k: usize| (k as f64 + ring.1) / ring.0.len() as f64;
    let (mut i, mut j) = (0, 0);
    let steps_a = if a.len() == 1 { 0 } else { a.len() };
    while i < steps_a || j < b.len() {
        let (p, q) = (a[i % a.len()], b[j % b.len()]);
        let advance_outer = i >= steps_a
            || (j < b.len() && angle(outer, j + 1) + angle(outer, j) <= angle(inner, i + 1) + angle(inner, i));
        let triangle = if advance_outer {
            j += 1;
            [p, q, b[j % b.len()]]
        } else {
            i += 1;
            [p, q, a[i % a.len()]]
        };
        triangles.push(if flip { [triangle[0], triangle[2], triangle[1]] } else { triangle });
    }
}
