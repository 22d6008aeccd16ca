//! Closedness and manifoldness are claims about any field, so they are tested on noise; accuracy on
//! spheres and caps.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use glam::DVec3;

use super::*;

/// A small generator of repeatable noise (SplitMix64).
struct Noise(u64);

impl Noise {
    /// Uniform in [-1, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2.0_f64.powi(-52) - 1.0
    }
}

/// Checks that a surface is a closed oriented manifold without vanishing triangles; returns its
/// Euler number.
fn assert_closed_manifold(surface: &Isosurface, least_area: f64, what: &str) -> i64 {
    let mesh = &surface.mesh;
    assert_eq!(surface.on_floor.len(), mesh.triangles.len());
    assert_eq!(surface.sources.len(), mesh.positions.len());
    let mut directed: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut fans: Vec<Vec<(u32, u32)>> = vec![Vec::new(); mesh.positions.len()];
    for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        for (u, v, w) in [(a, b, c), (b, c, a), (c, a, b)] {
            *directed.entry((u, v)).or_default() += 1;
            fans[u as usize].push((v, w));
        }
        let [p, q, r] = mesh.corners(t);
        let area = 0.5 * (q - p).cross(r - p).length();
        assert!(area > least_area, "{what}: triangle {t} has area {area:e}");
    }
    for (&(u, v), &count) in &directed {
        assert_eq!(count, 1, "{what}: edge {u}–{v} runs {count} times in one direction");
        assert!(directed.contains_key(&(v, u)), "{what}: edge {u}–{v} has no opposite");
    }
    for (v, fan) in fans.iter().enumerate() {
        assert!(!fan.is_empty(), "{what}: vertex {v} belongs to no triangle");
        // Going round from triangle to triangle must pass all of them before it returns.
        let next: BTreeMap<u32, u32> = fan.iter().copied().collect();
        let mut at = next[&fan[0].0];
        let mut steps = 1;
        while at != fan[0].0 {
            at = next[&at];
            steps += 1;
        }
        assert_eq!(steps, fan.len(), "{what}: vertex {v} has more than one fan");
    }
    mesh.positions.len() as i64 - directed.len() as i64 / 2 + mesh.triangles.len() as i64
}

fn cube_grid(nodes: usize, half_width: f64) -> Grid {
    let cell = 2.0 * half_width / (nodes - 1) as f64;
    Grid { origin: DVec3::splat(-half_width), cell: DVec3::splat(cell), size: [nodes; 3] }
}

fn assert_floor_is_flat(surface: &Isosurface, grid: &Grid, what: &str) {
    for (t, &on_floor) in surface.on_floor.iter().enumerate() {
        let [a, b, c] = surface.mesh.corners(t);
        let lies_on_floor = [a, b, c].iter().all(|p| p.z == grid.origin.z);
        assert_eq!(on_floor, lies_on_floor, "{what}: triangle {t} at {a} {b} {c}");
        if on_floor {
            let normal = (b - a).cross(c - a);
            assert!(normal.z < 0.0 && normal.x == 0.0 && normal.y == 0.0, "{what}: floor normal {normal}");
        }
    }
}

#[test]
fn any_noise_gives_a_closed_manifold() {
    let mut noise = Noise(1);
    for round in 0..300 {
        let size = [0, 1, 2].map(|axis| 2 + (round * (axis + 3) / 2) % 7);
        let grid = Grid { origin: DVec3::new(0.1, -0.7, 0.3), cell: DVec3::new(0.01, 0.013, 0.008), size };
        // From nearly empty to nearly full; every third field has many exact zeros, every seventh
        // only signs.
        let level = -0.9 + 1.8 * f64::from(u32::try_from(round % 10).unwrap()) / 9.0;
        let values: Vec<f64> = (0..grid.num_nodes())
            .map(|_| noise.next() + level)
            .map(|v| if round % 3 == 0 && v.abs() < 0.3 { 0.0 } else { v })
            .map(|v| if round % 7 == 0 { v.signum() } else { v })
            .collect();
        let mut surface = extract(&grid, &values, true);
        let what = format!("round {round}, {size:?}");
        let smallest = MIN_FRACTION * MIN_FRACTION * 0.008 * 0.008 / 4.0;
        let euler = assert_closed_manifold(&surface, smallest, &what);
        assert_eq!(euler % 2, 0, "{what}: Euler number {euler}");
        assert_floor_is_flat(&surface, &grid, &what);
        assert_eq!(surface.mesh.volume() > 0.0, values.iter().any(|&v| v < 0.0), "{what}: {}", surface.mesh.volume());

        surface.collapse_short_edges(0.006);
        let collapsed = assert_closed_manifold(&surface, 0.0, &what);
        assert_eq!(collapsed, euler, "{what}: contraction changed the topology");
        assert_floor_is_flat(&surface, &grid, &what);
    }
}

#[test]
fn smooth_random_fields_give_closed_manifolds() {
    let mut noise = Noise(2);
    for round in 0..40 {
        let waves: Vec<(DVec3, f64)> =
            (0..6).map(|_| (DVec3::new(noise.next(), noise.next(), noise.next()) * 4.0, noise.next() * PI)).collect();
        let field = |p: DVec3| waves.iter().map(|(k, phase)| (k.dot(p) + phase).sin()).sum::<f64>() - 0.3;
        let grid = cube_grid(20, 1.0);
        let values = grid.sample(field);
        let mut surface = extract(&grid, &values, round % 2 == 0);
        surface.polish(&grid, &values, 10, field);
        let what = format!("round {round}");
        let euler = assert_closed_manifold(&surface, 1e-12, &what);
        assert_eq!(euler % 2, 0, "{what}: Euler number {euler}");
        assert!(surface.mesh.volume() > 0.0);
        assert_eq!(surface.on_floor.contains(&true), round % 2 == 0, "{what}");
        let worst = (surface.mesh.positions.iter().zip(&surface.sources))
            .filter(|(_, source)| **source != Source::Node)
            .map(|(&p, _)| field(p).abs())
            .fold(0.0, f64::max);
        // A vertex held off a node misses zero by the slope (at most Σ|k|) times MIN_FRACTION of a
        // cell.
        let allowed = waves.iter().map(|(k, _)| k.length()).sum::<f64>() * MIN_FRACTION * grid.cell.x + 1e-6;
        assert!(worst < allowed, "{what}: polished vertices miss the surface by {worst:e}, allowed {allowed:e}");

        let before = surface.mesh.volume();
        surface.collapse_short_edges(0.4 * grid.cell.x);
        assert_eq!(assert_closed_manifold(&surface, 0.0, &what), euler, "{what}");
        let change = (surface.mesh.volume() / before - 1.0).abs();
        assert!(change < 0.01, "{what}: contraction changed the volume by {change:.2e}");
    }
}

#[test]
fn a_full_grid_is_a_box() {
    let grid = Grid { origin: DVec3::ZERO, cell: DVec3::new(1.0, 2.0, 3.0), size: [3, 4, 2] };
    let surface = extract(&grid, &vec![-1.0; grid.num_nodes()], true);
    assert_eq!(assert_closed_manifold(&surface, 0.9, "box"), 2);
    assert!((surface.mesh.volume() - 2.0 * 6.0 * 3.0).abs() < 1e-12, "{}", surface.mesh.volume());
    assert!((surface.mesh.area() - 2.0 * (12.0 + 6.0 + 18.0)).abs() < 1e-12, "{}", surface.mesh.area());
}

#[test]
fn an_empty_grid_gives_an_empty_surface() {
    let grid = cube_grid(4, 1.0);
    assert_eq!(extract(&grid, &vec![0.0; grid.num_nodes()], true), Isosurface::default());
    assert_eq!(extract(&grid, &vec![f64::NAN; grid.num_nodes()], true), Isosurface::default());
}

#[test]
fn values_that_are_not_finite_leave_finite_vertices() {
    let grid = cube_grid(4, 1.0);
    let mut values = vec![f64::INFINITY; grid.num_nodes()];
    values[21] = f64::NEG_INFINITY;
    values[22] = -1.0;
    values[23] = f64::NAN;
    let surface = extract(&grid, &values, false);
    assert_closed_manifold(&surface, 0.0, "infinite values");
    assert!(surface.mesh.positions.iter().all(|p| p.is_finite()));
}

/// Relative errors at two resolutions, the second twice as fine, and the order they show.
fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[test]
fn sphere_volume_converges_at_second_order() {
    let (center, radius) = (DVec3::new(0.013, -0.021, 0.034), 0.71_f64);
    let exact = 4.0 / 3.0 * PI * radius.powi(3);
    let errors = [20, 39, 77].map(|nodes| {
        let grid = cube_grid(nodes, 1.0);
        let surface = extract(&grid, &grid.sample(|p| p.distance(center) - radius), false);
        assert_eq!(assert_closed_manifold(&surface, 0.0, "sphere"), 2);
        (surface.mesh.volume() / exact - 1.0).abs()
    });
    let orders = [order(errors[0], errors[1]), order(errors[1], errors[2])];
    assert!(errors[2] < 1e-3, "errors {errors:?}");
    assert!(orders.iter().all(|&o| o > 1.8), "errors {errors:?}, orders {orders:?}");
}

#[test]
fn cap_on_the_floor_has_the_volume_and_disc_of_theory() {
    let (radius, height) = (0.8_f64, 0.5_f64);
    let volume = PI * height * height * (radius - height / 3.0);
    let disc = PI * (radius * radius - (radius - height).powi(2));
    let center = DVec3::new(0.01, 0.02, height - radius);
    let field = |p: DVec3| p.distance(center) - radius;
    let errors = [24, 47, 93].map(|nodes| {
        let cell = 2.0 / (nodes - 1) as f64;
        let grid =
            Grid { origin: DVec3::new(-1.0, -1.0, 0.0), cell: DVec3::splat(cell), size: [nodes, nodes, nodes / 2] };
        let values = grid.sample(field);
        let mut surface = extract(&grid, &values, true);
        surface.polish(&grid, &values, 4, field);
        assert_eq!(assert_closed_manifold(&surface, 0.0, "cap"), 2);
        assert_floor_is_flat(&surface, &grid, "cap");
        let floor: f64 = (0..surface.mesh.triangles.len())
            .filter(|&t| surface.on_floor[t])
            .map(|t| surface.mesh.corners(t))
            .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
            .sum();
        [(surface.mesh.volume() / volume - 1.0).abs(), (floor / disc - 1.0).abs()]
    });
    for quantity in 0..2 {
        let e = errors.map(|error| error[quantity]);
        assert!(e[2] < 1e-3, "quantity {quantity}: errors {e:?}");
        assert!(order(e[0], e[2]) > 3.6, "quantity {quantity}: errors {e:?}");
    }
}

#[test]
fn polishing_puts_vertices_on_a_curved_field() {
    // A metaball-like field is far from linear between nodes.
    let field = |p: DVec3| 0.2 - (-4.0 * p.length_squared()).exp();
    let grid = cube_grid(11, 1.0);
    let values = grid.sample(field);
    let mut surface = extract(&grid, &values, false);
    let radius = (0.25 * 5.0_f64.ln()).sqrt();
    let worst =
        |surface: &Isosurface| surface.mesh.positions.iter().map(|p| (p.length() - radius).abs()).fold(0.0, f64::max);
    let before = worst(&surface);
    surface.polish(&grid, &values, 6, field);
    let after = worst(&surface);
    assert!(before > 1e-3 && after < 1e-8, "misses by {before:e} before, {after:e} after");
}

#[test]
fn contraction_leaves_well_shaped_triangles_on_the_sphere_and_the_contact_line_round() {
    let center = DVec3::new(0.003, 0.004, 0.2);
    let field = |p: DVec3| p.distance(center) - 0.7;
    let grid = Grid { origin: DVec3::new(-1.0, -1.0, 0.0), cell: DVec3::splat(0.05), size: [41, 41, 24] };
    let values = grid.sample(field);
    let mut surface = extract(&grid, &values, true);
    surface.polish(&grid, &values, 5, field);
    let quality = |surface: &Isosurface| {
        let angles = (0..surface.mesh.triangles.len()).map(|t| {
            let [a, b, c] = surface.mesh.corners(t);
            [(a, b, c), (b, c, a), (c, a, b)]
                .map(|(p, q, r)| (q - p).angle_between(r - p))
                .into_iter()
                .fold(PI, f64::min)
        });
        let mut angles: Vec<f64> = angles.collect();
        angles.sort_by(f64::total_cmp);
        (angles[0].to_degrees(), angles[angles.len() / 100].to_degrees())
    };
    let (before, triangles) = (quality(&surface), surface.mesh.triangles.len());
    surface.collapse_short_edges(0.5 * 0.05);
    let after = quality(&surface);
    assert_eq!(assert_closed_manifold(&surface, 0.0, "contracted"), 2);
    assert!(surface.mesh.triangles.len() * 4 < triangles * 3, "{triangles} to {}", surface.mesh.triangles.len());
    assert!(before.1 < 1.0 && after.1 > 9.0, "least angle and 1 % quantile {before:?} before, {after:?} after");
    let floor_radius = (0.7_f64.powi(2) - 0.2_f64.powi(2)).sqrt();
    for (&[a, b, c], &on_floor) in surface.mesh.triangles.iter().zip(&surface.on_floor) {
        for v in [a, b, c].map(|v| surface.mesh.positions[v as usize]) {
            let off =
                if on_floor { (v.truncate() - center.truncate()).length() - floor_radius } else { field(v).abs() };
            assert!(off < 1e-4 * 0.05 + 1e-9, "vertex {v} is off by {off:e}");
        }
    }
}
