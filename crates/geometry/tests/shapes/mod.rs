//! Meshes for the tests of files and repair.
#![allow(dead_code, reason = "the benchmark of repair uses some of the shapes")]

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;

use glam::DVec3;
use sessile_geometry::TriMesh;

/// The triangles of [`cube`]: bottom (z = 0) first, top last.
pub const CUBE: [[u32; 3]; 12] = [
    [0, 2, 1],
    [0, 3, 2],
    [0, 1, 5],
    [0, 5, 4],
    [1, 2, 6],
    [1, 6, 5],
    [2, 3, 7],
    [2, 7, 6],
    [3, 0, 4],
    [3, 4, 7],
    [4, 5, 6],
    [4, 6, 7],
];

/// A cube of 10 mm with a corner at the origin: the bottom's corners, then the top's, both
/// counterclockwise from above.
pub fn cube() -> TriMesh {
    let corner = |k: u32| {
        let (x, y) = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)][k as usize % 4];
        DVec3::new(0.01 * x, 0.01 * y, 0.01 * f64::from(k / 4))
    };
    TriMesh { positions: (0..8).map(corner).collect(), triangles: CUBE.to_vec(), corner_uvs: Vec::new() }
}

/// [`cube`] whose top has a vertex on its diagonal that only one of its triangles uses.
pub fn t_junction() -> TriMesh {
    let mut mesh = cube();
    mesh.positions.push(DVec3::new(0.005, 0.005, 0.01));
    mesh.triangles.truncate(11);
    mesh.triangles.extend([[4, 8, 7], [8, 6, 7]]);
    mesh
}

pub fn tetrahedron() -> String {
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n".to_owned()
}

/// A band of radius 1 m and width 0.6 m with a half twist, as OBJ.
pub fn mobius_strip(num_segments: usize) -> String {
    let mut text = String::new();
    for k in 0..num_segments {
        let angle = TAU * k as f64 / num_segments as f64;
        for side in [-0.3, 0.3] {
            let radius = 1.0 + side * (angle / 2.0).sin();
            let _ = writeln!(
                text,
                "v {:.6} {:.6} {:.6}",
                radius * angle.cos(),
                radius * angle.sin(),
                side * (angle / 2.0).cos()
            );
        }
    }
    for k in 0..num_segments {
        let (a, b) = (2 * k + 1, 2 * k + 2);
        let (c, d) = if k + 1 < num_segments { (a + 2, b + 2) } else { (2, 1) };
        let _ = writeln!(text, "f {a} {c} {d} {b}");
    }
    text
}

/// A sphere around the origin: rings of latitude, two poles, 2 · rings · (2 · rings − 2) triangles
/// with shared vertices.
pub fn sphere(num_rings: usize, radius: f64) -> TriMesh {
    let num_around = 2 * num_rings;
    let mut positions = vec![DVec3::new(0.0, 0.0, radius)];
    for ring in 1..num_rings {
        let (sin, cos) = (PI * ring as f64 / num_rings as f64).sin_cos();
        for k in 0..num_around {
            let (y, x) = (TAU * k as f64 / num_around as f64).sin_cos();
            positions.push(radius * DVec3::new(sin * x, sin * y, cos));
        }
    }
    positions.push(DVec3::new(0.0, 0.0, -radius));
    let last = positions.len() as u32 - 1;
    let vertex = |ring: usize, k: usize| match ring {
        0 => 0,
        ring if ring == num_rings => last,
        ring => (1 + (ring - 1) * num_around + k % num_around) as u32,
    };
    let mut triangles = Vec::new();
    for ring in 0..num_rings {
        for k in 0..num_around {
            let [a, b, c, d] = [vertex(ring, k), vertex(ring + 1, k), vertex(ring + 1, k + 1), vertex(ring, k + 1)];
            triangles.extend([[a, b, c], [a, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    TriMesh { positions, triangles, corner_uvs: Vec::new() }
}

/// The same triangles, each with vertices of its own.
pub fn loose(mesh: &TriMesh) -> TriMesh {
    let positions = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    TriMesh { positions, triangles, corner_uvs: mesh.corner_uvs.clone() }
}

pub fn reversed(mut mesh: TriMesh) -> TriMesh {
    mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    mesh.corner_uvs.iter_mut().for_each(|corners| corners.swap(1, 2));
    mesh
}

pub fn moved(mut mesh: TriMesh, by: [f64; 3]) -> TriMesh {
    mesh.positions.iter_mut().for_each(|position| *position += DVec3::from(by));
    mesh
}

pub fn scaled(mut mesh: TriMesh, factor: f64) -> TriMesh {
    mesh.positions.iter_mut().for_each(|position| *position *= factor);
    mesh
}

pub fn joined(parts: &[TriMesh]) -> TriMesh {
    let mut mesh = TriMesh::default();
    for part in parts {
        let base = mesh.positions.len() as u32;
        mesh.positions.extend(&part.positions);
        mesh.triangles.extend(part.triangles.iter().map(|triangle| triangle.map(|v| base + v)));
        mesh.corner_uvs.extend(&part.corner_uvs);
    }
    mesh
}

/// Each edge has one triangle on each side, and each vertex one fan. Written without the crate's
/// own connectivity.
#[track_caller]
pub fn assert_closed_manifold(mesh: &TriMesh) {
    let mut directed: HashMap<(u32, u32), usize> = HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            *directed.entry(edge).or_default() += 1;
        }
    }
    let mut next: HashMap<(u32, u32), u32> = HashMap::new();
    let mut corners_at = vec![0; mesh.positions.len()];
    for &[a, b, c] in &mesh.triangles {
        for [v, from, to] in [[a, b, c], [b, c, a], [c, a, b]] {
            assert_eq!(directed.get(&(v, from)), Some(&1), "edge {v} to {from} is used once in this direction");
            assert_eq!(directed.get(&(from, v)), Some(&1), "edge {from} to {v} is used once in this direction");
            next.insert((v, from), to);
            corners_at[v as usize] += 1;
        }
    }
    for &[v, start, _] in &mesh.triangles {
        let (mut at, mut steps) = (next[&(v, start)], 1);
        while at != start && steps <= mesh.triangles.len() {
            at = next[&(v, at)];
            steps += 1;
        }
        assert_eq!(steps, corners_at[v as usize], "vertex {v} has one fan");
    }
    assert!(corners_at.iter().all(|&corners| corners > 0), "every vertex is used");
}
