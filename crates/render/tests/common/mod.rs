//! Meshes and helpers shared by the tests.

#![allow(dead_code, reason = "the unit tests use a part of this module")]

use glam::{DVec2, DVec3, Vec3};
use sessile_appearance::Camera;
use sessile_frames::Surface;
use sessile_geometry::TriMesh;
use sessile_render::Framebuffer;
use sessile_render::RenderScene;
use sessile_render::{ImageSettings, render_image};

/// A rectangle about `center`, with sides `u` and `v` and its normal along u × v.
pub fn rectangle(center: DVec3, u: DVec3, v: DVec3) -> TriMesh {
    let corner = |x: f64, y: f64| center + x * 0.5 * u + y * 0.5 * v;
    let uv = |x: f64, y: f64| DVec2::new(0.5 + 0.5 * x, 0.5 + 0.5 * y);
    let at = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    TriMesh {
        positions: at.map(|(x, y)| corner(x, y)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        corner_uvs: [[0, 1, 2], [0, 2, 3]].map(|t| t.map(|i: usize| uv(at[i].0, at[i].1))).to_vec(),
    }
}

/// A spherical cap of polar angle `polar` about `center`, with `rings` rings; a whole sphere for π.
pub fn cap(center: DVec3, radius: f64, polar: f64, rings: usize) -> TriMesh {
    let columns = 2 * rings as u32;
    let mut mesh = TriMesh { positions: vec![center + radius * DVec3::Y], ..TriMesh::default() };
    let whole = polar > 0.999 * std::f64::consts::PI;
    let last = if whole { rings - 1 } else { rings };
    for i in 1..=last {
        let (sin, cos) = (polar * i as f64 / rings as f64).sin_cos();
        for j in 0..columns {
            let (s, c) = (std::f64::consts::TAU * f64::from(j) / f64::from(columns)).sin_cos();
            mesh.positions.push(center + radius * DVec3::new(sin * s, cos, sin * c));
        }
    }
    let vertex = |i: usize, j: u32| 1 + (i as u32 - 1) * columns + j % columns;
    for j in 0..columns {
        mesh.triangles.push([0, vertex(1, j), vertex(1, j + 1)]);
        for i in 1..last {
            let [a, b, c, d] = [vertex(i, j), vertex(i, j + 1), vertex(i + 1, j + 1), vertex(i + 1, j)];
            mesh.triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    if whole {
        mesh.positions.push(center - radius * DVec3::Y);
        let bottom = mesh.positions.len() as u32 - 1;
        mesh.triangles.extend((0..columns).map(|j| [vertex(last, j + 1), vertex(last, j), bottom]));
    }
    mesh
}

/// Liquid with the surface of a mesh, as drop 1; no part of it lies on a solid.
pub fn liquid(mesh: &TriMesh) -> Surface {
    Surface {
        positions: mesh.positions.clone(),
        velocities: vec![DVec3::ZERO; mesh.positions.len()],
        drops: vec![1; mesh.positions.len()],
        triangles: mesh.triangles.clone(),
        solids: vec![-1; mesh.triangles.len()],
    }
}

/// The mean color of an image.
pub fn mean(image: &Framebuffer) -> Vec3 {
    image.color.iter().copied().sum::<Vec3>() / image.color.len() as f32
}

/// Renders a square image.
pub fn render_square(scene: &RenderScene, camera: &Camera, size: usize, samples: u32) -> Framebuffer {
    let mut settings = ImageSettings { size: [size, size], samples, ..ImageSettings::default() };
    settings.paths.max_depth = 64;
    render_image(scene, camera, &settings, &|_, _| ()).0
}

/// A closed box between two corners.
pub fn slab(low: DVec3, high: DVec3) -> TriMesh {
    let corner = |i: usize| {
        let pick = |bit: usize, a: f64, b: f64| if i & bit == 0 { a } else { b };
        DVec3::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z))
    };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    TriMesh {
        positions: (0..8).map(corner).collect(),
        triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        corner_uvs: Vec::new(),
    }
}
