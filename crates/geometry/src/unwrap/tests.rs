//! Every texel of a 1024² image lies in at most one triangle; areas keep their proportion.

use std::f64::consts::TAU;
use std::path::Path;
use std::time::Instant;

use glam::{DVec2, DVec3};

use super::*;
use crate::files::read_mesh;
use crate::isosurface::{Grid, extract};

const TEXELS: usize = 1024;

/// A sheet of `nu` × `nv` squares, bent by a function of the unit square, joined where its ends
/// meet.
fn sheet(nu: usize, nv: usize, joined: [bool; 2], shape: impl Fn(f64, f64) -> DVec3) -> TriMesh {
    let columns = if joined[0] { nu } else { nu + 1 };
    let rows = if joined[1] { nv } else { nv + 1 };
    let mut mesh = TriMesh::default();
    for j in 0..rows {
        mesh.positions.extend((0..columns).map(|i| shape(i as f64 / nu as f64, j as f64 / nv as f64)));
    }
    let vertex = |i: usize, j: usize| ((j % rows) * columns + i % columns) as u32;
    for j in 0..nv {
        for i in 0..nu {
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

fn torus(nu: usize, nv: usize) -> TriMesh {
    sheet(nu, nv, [true, true], |u, v| {
        let (round, tube) = (DVec2::from_angle(TAU * u), DVec2::from_angle(TAU * v));
        (round * (1.0 + 0.4 * tube.x)).extend(0.4 * tube.y)
    })
}

/// A ramp that winds up many times: seen from above, each turn covers the one below.
fn spiral() -> TriMesh {
    sheet(600, 6, [false, false], |u, v| (DVec2::from_angle(15.0 * TAU * u) * (0.3 + 0.7 * v)).extend(2.0 * u))
}

fn sampled(nodes: usize, field: impl Fn(DVec3) -> f64) -> TriMesh {
    let cell = DVec3::splat(2.4 / (nodes - 1) as f64);
    let grid = Grid { origin: DVec3::splat(-1.2), cell, size: [nodes; 3] };
    extract(&grid, &grid.sample(field), false).mesh
}

fn cube() -> TriMesh {
    let grid = Grid { origin: DVec3::ZERO, cell: DVec3::ONE, size: [2; 3] };
    extract(&grid, &[-1.0; 8], false).mesh
}

fn bunny() -> TriMesh {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/bunny.obj");
    read_mesh(&path).expect("the bunny is part of the project")
}

/// The triangle that covers each texel center; fails if two do.
fn rasterize(mesh: &TriMesh, what: &str) -> Vec<Option<usize>> {
    let mut texels = vec![None; TEXELS * TEXELS];
    for (t, corners) in mesh.corner_uvs.iter().enumerate() {
        let [a, b, c] = corners.map(|uv| uv * TEXELS as f64 - 0.5);
        let (low, high) = (a.min(b).min(c).ceil().max(DVec2::ZERO), a.max(b).max(c).floor());
        for y in low.y as usize..=high.y.max(0.0) as usize {
            for x in low.x as usize..=high.x.max(0.0) as usize {
                let p = DVec2::new(x as f64, y as f64);
                // Strictly inside, by more than rounding: a center on a shared edge belongs to
                // neither.
                if [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| (to - from).perp_dot(p - from) > 1e-9) {
                    let texel = &mut texels[y * TEXELS + x];
                    assert_eq!(*texel, None, "{what}: texel {x}, {y} is covered by triangle {t} too");
                    *texel = Some(t);
                }
            }
        }
    }
    texels
}

fn assert_unwraps(mut mesh: TriMesh, least_coverage: f64, what: &str) -> UnwrapReport {
    let report = unwrap(&mut mesh);
    assert_eq!(mesh.corner_uvs.len(), mesh.triangles.len());
    let mut total = 0.0;
    for (t, &[a, b, c]) in mesh.corner_uvs.iter().enumerate() {
        for uv in [a, b, c] {
            assert!(uv.min_element() >= 0.0 && uv.max_element() <= 1.0, "{what}: triangle {t} at {uv}");
        }
        let [p, q, r] = mesh.corners(t);
        let expected = 0.5 * (q - p).cross(r - p).length() * report.scale * report.scale;
        let area = 0.5 * (b - a).perp_dot(c - a);
        if expected > 1e-14 {
            let ratio = area / expected;
            assert!(ratio > 0.649 && ratio < 1.54, "{what}: triangle {t} has {ratio} times its share");
        }
        total += area;
    }
    assert!((total - report.coverage).abs() < 1e-12, "{what}: {total}, {report:?}");
    assert!(report.coverage > least_coverage, "{what}: {report:?}");
    let covered = rasterize(&mesh, what).iter().flatten().count() as f64 / (TEXELS * TEXELS) as f64;
    assert!((covered / report.coverage - 1.0).abs() < 0.1, "{what}: {covered} of the texels, {report:?}");
    let mut again = mesh.clone();
    again.corner_uvs.clear();
    assert_eq!(unwrap(&mut again), report);
    assert_eq!(again.corner_uvs, mesh.corner_uvs, "{what}: not the same twice");
    report
}

#[test]
fn cube_unwraps_into_its_six_faces() {
    assert_eq!(assert_unwraps(cube(), 0.5, "cube").num_charts, 6);
}

#[test]
fn sphere_and_torus_unwrap_without_overlap() {
    assert_unwraps(sampled(24, |p| p.length() - 1.0), 0.5, "sphere");
    assert_unwraps(torus(60, 30), 0.5, "torus");
}

#[test]
fn spiral_is_divided_where_it_would_cover_itself() {
    let report = assert_unwraps(spiral(), 0.3, "spiral");
    assert!(report.num_divided >= 1, "{report:?}");
}

#[test]
fn bunny_covers_half_of_the_square() {
    assert_unwraps(bunny(), 0.5, "bunny");
}

#[test]
fn charts_keep_their_distance() {
    let mut mesh = bunny();
    unwrap(&mut mesh);
    // Neighboring texels belong to triangles that touch in the image, or to none.
    let texels = rasterize(&mesh, "bunny");
    let touch = |a: usize, b: usize| {
        let corners = |t: usize| mesh.corner_uvs[t].into_iter();
        corners(a).any(|p| corners(b).any(|q| p.distance(q) < 0.5 / TEXELS as f64))
    };
    for at in 0..TEXELS * (TEXELS - 1) {
        for next in [at + 1, at + TEXELS] {
            if let (Some(a), Some(b)) = (texels[at], texels[next]) {
                assert!(touch(a, b), "texels {at} and {next}: triangles {a} and {b}");
            }
        }
    }
}

#[test]
fn a_hundred_thousand_triangles_and_a_soup_unwrap_in_seconds() {
    let start = Instant::now();
    let mut large = torus(400, 125);
    assert_eq!(large.triangles.len(), 100_000);
    let report = unwrap(&mut large);
    assert!(report.coverage > 0.5, "{report:?}");
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 20.0, "{seconds} s for {report:?}");
    // Triangles that share no vertices are charts of their own.
    let mut soup = TriMesh::default();
    for t in 0..3000_u32 {
        let at = DVec3::new(f64::from(t % 50), f64::from(t / 50), f64::from(t % 7));
        soup.positions.extend([at, at + DVec3::X, at + DVec3::new(0.2, 0.7, 0.4)]);
        soup.triangles.push([3 * t, 3 * t + 1, 3 * t + 2]);
    }
    assert_eq!(assert_unwraps(soup, 0.1, "soup").num_charts, 3000);
}

#[test]
fn triangles_without_area_and_needles_are_unwrapped() {
    let mut mesh = cube();
    let t = mesh.triangles[3];
    mesh.triangles.extend([[t[0], t[0], t[1]], [0, 0, 0]]);
    let report = unwrap(&mut mesh);
    assert!(report.coverage > 0.4, "{report:?}");
    assert!(mesh.corner_uvs.iter().flatten().all(|uv| uv.is_finite()));
    let mut needle = TriMesh {
        positions: vec![DVec3::ZERO, DVec3::X * 1e6, DVec3::Y * 1e-3],
        triangles: vec![[0, 1, 2]],
        corner_uvs: Vec::new(),
    };
    let report = unwrap(&mut needle);
    assert!(report.num_charts == 1 && report.coverage > 0.0, "{report:?}");
    assert_eq!(unwrap(&mut TriMesh::default()), UnwrapReport::default());
}
