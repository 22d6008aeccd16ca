//! Distances against brute force, signs against the winding number, which knows nothing of
//! pseudonormals.

use std::f64::consts::{PI, TAU};
use std::path::Path;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::*;
use crate::files::read_mesh;
use crate::isosurface::{Grid, extract};

/// Points that fill the unit cube evenly, in no order (a Kronecker sequence).
fn lattice(i: usize) -> DVec3 {
    (DVec3::new(0.819_172_513_396_164, 0.671_043_606_703_789, 0.549_700_477_901_970) * (i + 1) as f64).fract()
}

fn in_box(bounds: &Bounds, grown: f64, i: usize) -> DVec3 {
    bounds.center() + grown * bounds.extent() * (lattice(i) - DVec3::splat(0.5))
}

/// A closed surface from random waves, raw marching cubes with all its slivers.
fn random_mesh(seed: usize) -> TriMesh {
    let waves: Vec<(DVec3, f64)> =
        (0..5).map(|i| ((lattice(50 * seed + i) - 0.5) * 9.0, lattice(50 * seed + i + 25).x * TAU)).collect();
    let size = [14, 12, 10];
    let grid = Grid { origin: DVec3::new(-1.0, 3.0, -0.5), cell: DVec3::new(0.15, 0.16, 0.17), size };
    let values = grid.sample(|p| waves.iter().map(|(k, phase)| (k.dot(p) + phase).sin()).sum::<f64>() - 0.4);
    extract(&grid, &values, false).mesh
}

fn bunny() -> TriMesh {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/bunny.obj");
    read_mesh(&path).expect("the bunny is part of the project")
}

fn sphere(rings: usize) -> TriMesh {
    let n = 2 * rings + 1;
    let grid = Grid { origin: DVec3::splat(-1.5), cell: DVec3::splat(3.0 / (n - 1) as f64), size: [n; 3] };
    let mut mesh = extract(&grid, &grid.sample(|p| p.length() - 1.0), false).mesh;
    for p in &mut mesh.positions {
        *p = p.normalize();
    }
    mesh
}

/// Distance to a triangle by another route: its plane where the foot lies inside, else its three
/// sides.
fn distance_to_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let sides = [(a, b), (b, c), (c, a)];
    let to_side = |(from, to): (DVec3, DVec3)| {
        let t = ((p - from).dot(to - from) / (to - from).length_squared()).clamp(0.0, 1.0);
        p.distance(from + t * (to - from))
    };
    let over_face = sides.iter().all(|&(from, to)| (to - from).cross(p - from).dot(normal) > 0.0);
    let nearest_side = sides.into_iter().map(to_side).fold(f64::INFINITY, f64::min);
    if over_face { normal.dot(p - a).abs() } else { nearest_side }
}

/// Winding number of the surface around a point: 1 inside, 0 outside (vanoosterom1983 for each
/// triangle's solid angle).
fn winding_number(mesh: &TriMesh, p: DVec3) -> f64 {
    let solid_angle = |[a, b, c]: [DVec3; 3]| {
        let [a, b, c] = [a - p, b - p, c - p];
        let [la, lb, lc] = [a.length(), b.length(), c.length()];
        let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * a.dot(b.cross(c)).atan2(denominator)
    };
    (0..mesh.triangles.len()).map(|t| solid_angle(mesh.corners(t))).sum::<f64>() / (4.0 * PI)
}

/// Asserts that a query agrees with brute force in distance, and with the winding number in sign.
fn assert_right(solid: &MeshDistance, p: DVec3, what: &str) {
    let mesh = solid.mesh();
    let exact =
        (0..mesh.triangles.len()).map(|t| distance_to_triangle(p, mesh.corners(t))).fold(f64::INFINITY, f64::min);
    let signed = solid.signed_distance(p);
    let scale = solid.bounds().extent().length() + p.length();
    assert!((signed.abs() - exact).abs() < 1e-13 * scale, "{what}, {p}: {signed} but brute force {exact}");
    let winding = winding_number(mesh, p);
    if exact > 1e-9 * scale {
        assert!((winding - winding.round()).abs() < 1e-3, "{what}, {p}: winding number {winding}");
        assert_eq!(signed < 0.0, winding.round() > 0.5, "{what}, {p}: {signed} but winding number {winding}");
    }
    let nearest = solid.nearest(p).unwrap();
    assert_eq!(nearest.distance, signed);
    assert!((p.distance(nearest.point) - exact).abs() < 1e-13 * scale, "{what}, {p}: {nearest:?}");
    assert!(nearest.barycentrics.min_element() >= -1e-12, "{what}, {p}: {nearest:?}");
    assert!((nearest.normal.length() - 1.0).abs() < 1e-12, "{what}, {p}: {nearest:?}");
}

#[test]
fn random_closed_meshes_agree_with_brute_force_and_winding_number() {
    for seed in 0..6 {
        let solid = MeshDistance::new(random_mesh(seed));
        assert!(solid.mesh().triangles.len() > 300, "{}", solid.mesh().triangles.len());
        for i in 0..400 {
            assert_right(&solid, in_box(&solid.bounds(), 1.4, i), &format!("mesh {seed}"));
        }
    }
}

#[test]
fn sign_is_right_over_every_kind_of_feature_however_close() {
    let solid = MeshDistance::new(random_mesh(3));
    let mesh = solid.mesh();
    for step in [1e-6, 0.03] {
        for (v, &position) in mesh.positions.iter().enumerate().step_by(7) {
            for sign in [-1.0, 1.0] {
                assert_right(&solid, position + sign * step * solid.normals.vertices[v], &format!("vertex {v}"));
            }
        }
        for t in (0..mesh.triangles.len()).step_by(17) {
            let [a, b, c] = mesh.corners(t);
            for (foot, normal) in [
                (a.midpoint(b), solid.normals.edges[t][0]),
                (b.midpoint(c), solid.normals.edges[t][1]),
                (c.lerp(a, 0.1), solid.normals.edges[t][2]),
                ((a + b + c) / 3.0, solid.normals.faces[t]),
            ] {
                for sign in [-1.0, 1.0] {
                    assert_right(&solid, foot + sign * step * normal, &format!("triangle {t}"));
                }
            }
        }
    }
}

#[test]
fn bunny_agrees_with_brute_force_and_winding_number() {
    let solid = MeshDistance::new(bunny());
    assert!(solid.mesh().triangles.len() > 13_000);
    (0..600).into_par_iter().for_each(|i| assert_right(&solid, in_box(&solid.bounds(), 1.2, i), "bunny"));
    let mesh = solid.mesh();
    (0..mesh.positions.len()).into_par_iter().step_by(29).for_each(|v| {
        assert_right(&solid, mesh.positions[v] + 1e-4 * (lattice(v) - 0.5), "near the bunny");
    });
}

#[test]
fn sphere_mesh_has_the_distance_of_the_sphere_to_second_order() {
    let errors = [10, 20, 40].map(|rings| {
        let solid = MeshDistance::new(sphere(rings));
        let error = |i: usize| {
            let p = (lattice(i) - 0.5) * 4.0;
            (solid.signed_distance(p) - (p.length() - 1.0)).abs()
        };
        (0..2000).map(error).fold(0.0, f64::max)
    });
    // The chord of an edge of length e lies e²/8 deep, a triangle e²/6; the longest edges are the
    // diagonal of a cell.
    assert!(errors[2] < 3.0 * (3.0_f64 / 80.0).powi(2) / 6.0, "{errors:?}");
    assert!(errors[0] / errors[2] > 12.0, "{errors:?}");
}

#[test]
fn far_points_are_outside_at_the_right_distance() {
    let solid = MeshDistance::new(random_mesh(1));
    for (i, far) in [1e3, 1e6, 1e9, 1e25, 1e100].into_iter().enumerate() {
        let p = (lattice(i) - 0.5).normalize() * far;
        let exact = solid.mesh().positions.iter().map(|v| v.distance(p)).fold(f64::INFINITY, f64::min);
        let found = solid.signed_distance(p);
        assert!((found / exact - 1.0).abs() < 1e-14 + 1.0 / far, "{p}: {found}, nearest vertex {exact}");
    }
    let lost = solid.closest(DVec3::NAN);
    assert!(!lost.distance.is_nan() && lost.normal.is_finite(), "{lost:?}");
}

/// A box of 1 m × 1 m, `thickness` high, from the origin.
fn plate(thickness: f64) -> TriMesh {
    let grid = Grid { origin: DVec3::ZERO, cell: DVec3::new(0.25, 0.25, thickness), size: [5, 5, 2] };
    extract(&grid, &vec![-1.0; 50], false).mesh
}

#[test]
fn a_plate_of_a_micrometer_has_an_inside() {
    let solid = MeshDistance::new(plate(1e-6));
    for i in 0..1000 {
        let p = lattice(i) * DVec3::new(1.0, 1.0, 0.0);
        let [inside, above, below] = [2e-7, 1.5e-6, -3e-7].map(|z| solid.signed_distance(p.with_z(z)));
        let edge = p.x.min(p.y).min(1.0 - p.x).min(1.0 - p.y);
        let expected = -(2e-7_f64.min(edge));
        assert!((inside - expected).abs() < 1e-15, "{p}: inside {inside:e}");
        assert!((above - 5e-7).abs() < 1e-15 && (below - 3e-7).abs() < 1e-15, "{p}: {above:e}, {below:e}");
    }
}

#[test]
fn slivers_and_vanished_triangles_change_nothing() {
    let degenerate = plate(0.3);
    let mut mesh = degenerate.clone();
    // Splits an edge at a point a hair off it: one triangle becomes a sliver of no area and two
    // honest ones.
    let t = mesh.triangles[0];
    let [a, b, _] = mesh.corners(0);
    let middle = mesh.positions.len() as u32;
    mesh.positions.push(a.midpoint(b));
    mesh.triangles[0] = [t[0], t[1], middle];
    mesh.triangles.extend([[middle, t[1], t[2]], [t[0], middle, t[2]], [t[0], t[0], t[1]]]);
    let (degenerate, dirty) = (MeshDistance::new(degenerate), MeshDistance::new(mesh));
    for i in 0..2000 {
        let p = in_box(&degenerate.bounds(), 1.5, i);
        let (expected, found) = (degenerate.signed_distance(p), dirty.signed_distance(p));
        assert!((expected - found).abs() < 1e-12, "{p}: {expected} without slivers, {found} with");
    }
}

#[test]
fn bounded_distance_is_the_distance_or_nothing() {
    let solid = MeshDistance::new(random_mesh(2));
    for i in 0..2000 {
        let p = in_box(&solid.bounds(), 1.5, i);
        let exact = solid.signed_distance(p);
        let expected = (exact.abs() < 0.1).then_some(exact);
        assert_eq!(solid.signed_distance_bounded(p, 0.1), expected, "{p}: {exact}");
    }
}

#[test]
fn texture_coordinates_are_interpolated() {
    let mut mesh = plate(0.3);
    mesh.corner_uvs =
        (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(|p| DVec2::new(p.x + 2.0 * p.z, p.y))).collect();
    let solid = MeshDistance::new(mesh);
    let closest = solid.closest(DVec3::new(0.37, 0.61, 0.5));
    assert!(closest.uv.distance(DVec2::new(0.37 + 0.6, 0.61)) < 1e-12, "{closest:?}");
    assert!(closest.normal.distance(DVec3::Z) < 1e-12 && (closest.distance - 0.2).abs() < 1e-12, "{closest:?}");
}

#[test]
fn an_empty_mesh_is_infinitely_far() {
    let solid = MeshDistance::new(TriMesh::default());
    assert_eq!(solid.signed_distance(DVec3::ONE), f64::INFINITY);
    assert_eq!(solid.closest(DVec3::ONE).point, DVec3::ONE);
}

/// A refitted structure answers as a new one of the moved mesh, to rounding.
#[test]
fn a_refitted_structure_answers_as_a_new_one() {
    let mut moved = sphere(12);
    let mut refitted = MeshDistance::new(moved.clone());
    for step in 0..3 {
        let bend = 0.4 * f64::from(step + 1);
        for p in &mut moved.positions {
            *p = DVec3::new(1.3 * p.x + 0.2, p.y + bend * p.x * p.x, p.z * (1.0 + 0.3 * p.y.sin()) - 2.0);
        }
        refitted.refit(&moved.positions);
        let built = MeshDistance::new(moved.clone());
        for i in 0..500 {
            let p = in_box(&built.bounds(), 1.6, i);
            let (a, b) = (refitted.signed_distance(p), built.signed_distance(p));
            assert!((a - b).abs() < 1e-12, "step {step}, {p}: {a} refitted, {b} built");
        }
    }
}
