//! Surfaces to begin with: balls and caps, evenly triangulated.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_geometry::TriMesh;

use crate::mesh::Mesh;

/// A ball whose edges are about `edge` long, scaled to enclose exactly `4/3 π radius³`; `reach` gives its radius by direction.
pub fn ball(center: DVec3, radius: f64, edge: f64, reach: impl Fn(DVec3) -> f64) -> Option<Mesh> {
    // An icosahedron's edge is 1.0515 radii; cut into f parts and blown up, edges are some 1.17/f radii in the mean.
    let parts = (1.17 * radius / edge).round().clamp(2.0, 400.0) as usize;
    let mut mesh = icosphere(parts);
    for p in &mut mesh.positions {
        *p = center + *p * reach(*p);
    }
    let volume = 4.0 / 3.0 * PI * radius.powi(3);
    scale_to(&mut mesh, center, volume);
    Mesh::from_triangles(&mesh)
}

/// Scales a closed mesh about a point to a volume.
pub fn scale_to(mesh: &mut TriMesh, center: DVec3, volume: f64) {
    let moved = TriMesh { positions: mesh.positions.iter().map(|p| *p - center).collect(), ..mesh.clone() };
    let factor = (volume / moved.volume()).cbrt();
    mesh.positions.iter_mut().for_each(|p| *p = center + (*p - center) * factor);
}

/// An icosahedron with each side cut into `parts`, blown up to the unit sphere.
fn icosphere(parts: usize) -> TriMesh {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let corners: [[f64; 3]; 12] = [
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
    ];
    let faces: [[usize; 3]; 20] = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    // Points on shared sides are named by the corners that they lie between, so that faces find one another's.
    let mut names = std::collections::BTreeMap::new();
    let mut mesh = TriMesh::default();
    for face in faces {
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for i in 0..=parts {
            let mut row = Vec::new();
            for j in 0..=i {
                let weights = [parts - i, i - j, j];
                let mut name: Vec<(usize, usize)> =
                    face.iter().copied().zip(weights).filter(|(_, weight)| *weight > 0).collect();
                name.sort_unstable();
                let next = mesh.positions.len() as u32;
                let index = *names.entry(name).or_insert(next);
                if index == next {
                    let sum: DVec3 =
                        face.iter().zip(weights).map(|(&c, w)| DVec3::from(corners[c]).normalize() * w as f64).sum();
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

/// Where a cap's surface is.
pub struct CapForm<'a> {
    /// Edge length, in m.
    pub edge: f64,
    /// A point of the free surface by its part of the way from the apex (0) to the rim (1) and its direction round the axis.
    pub surface: &'a dyn Fn(f64, f64) -> DVec3,
    /// A point of the wetted surface by its part of the way from the foot (0) to the rim (1) and its direction.
    pub base: &'a dyn Fn(f64, f64) -> DVec3,
    /// The solid that it stands on.
    pub solid: i32,
}

/// A cap: rings of vertices from the apex to the rim, and from the rim to the middle of the wetted face.
pub fn cap(form: &CapForm<'_>) -> Option<Mesh> {
    let length = |points: &dyn Fn(f64, f64) -> DVec3| -> f64 {
        let at = |i: usize| points(i as f64 / 32.0, 0.0);
        (0..32).map(|i| at(i).distance(at(i + 1))).sum()
    };
    // Rows of equilateral triangles are √3/2 of an edge apart.
    let row = 0.866 * form.edge;
    let air_rows = (length(form.surface) / row).round().clamp(3.0, 2000.0) as usize;
    let base_rows = (length(form.base) / (1.5 * row)).round().clamp(2.0, 2000.0) as usize;
    let mut mesh = TriMesh::default();
    let mut solids = Vec::new();
    let round = |points: &dyn Fn(f64, f64) -> DVec3, part: f64| {
        let at = |k: usize| points(part, TAU * k as f64 / 24.0);
        (0..24).map(|k| at(k).distance(at(k + 1))).sum::<f64>()
    };
    // A ring takes half a step of turn in every other row, as in a honeycomb.
    let ring =
        |mesh: &mut TriMesh, points: &dyn Fn(f64, f64) -> DVec3, part: f64, count: usize, turn: f64| -> Vec<u32> {
            (0..count)
                .map(|k| {
                    mesh.positions.push(points(part, TAU * (k as f64 + turn) / count as f64));
                    mesh.positions.len() as u32 - 1
                })
                .collect()
        };
    mesh.positions.push((form.surface)(0.0, 0.0));
    let mut inner: (Vec<u32>, f64) = (vec![0], 0.0);
    for i in 1..=air_rows {
        let part = i as f64 / air_rows as f64;
        let count = (round(form.surface, part) / form.edge).round().max(6.0) as usize;
        let turn = if i % 2 == 0 { 0.0 } else { 0.5 };
        let outer = (ring(&mut mesh, form.surface, part, count, turn), turn);
        stitch(&mut mesh.triangles, &inner, &outer, false);
        inner = outer;
    }
    solids.resize(mesh.triangles.len(), -1);
    for i in (0..base_rows).rev() {
        let part = i as f64 / base_rows as f64;
        let outer = inner;
        inner = if i == 0 {
            mesh.positions.push((form.base)(0.0, 0.0));
            (vec![mesh.positions.len() as u32 - 1], 0.0)
        } else {
            let count = (round(form.base, part) / (1.5 * form.edge)).round().max(5.0) as usize;
            let turn = if i % 2 == 0 { 0.0 } else { 0.5 };
            (ring(&mut mesh, form.base, part, count, turn), turn)
        };
        stitch(&mut mesh.triangles, &inner, &outer, true);
    }
    solids.resize(mesh.triangles.len(), form.solid);
    let mut made = Mesh::from_triangles(&mesh)?;
    made.solids = solids;
    Some(made)
}

/// Triangles between two rings; rings of one vertex are its fan.
fn stitch(triangles: &mut Vec<[u32; 3]>, inner: &(Vec<u32>, f64), outer: &(Vec<u32>, f64), flip: bool) {
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
