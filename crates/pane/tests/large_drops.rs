//! Drops larger than the capillary length: puddles, heavy drops on slopes, pinned pendant drops.

use crate::support::{cap, instances, pane, run, tilted};
use sessile_model::{Model, NoTimer};

/// Base radius and height by the Young–Laplace table, in m.
fn rest(volume: f64, degrees: f64) -> (f64, f64) {
    let table = sessile_wetting::table::ShapeTable::shared();
    let shape = table.rest_shape(volume, f64::to_radians(degrees), 9.8, &sessile_wetting::Liquid::water());
    shape.map(|shape| (shape.base_radius, shape.height)).expect("a sessile drop")
}

#[test]
fn a_puddle_is_as_high_and_wide_as_young_laplace_a1() {
    for degrees in [30.0, 60.0, 90.0, 120.0] {
        let material = format!("advancing = \"{degrees} deg\"\nreceding = \"{degrees} deg\"");
        let scene = tilted(0.0, &material, "") + &cap(2000.0, degrees, [0.0; 3]);
        let frame = pane(&scene).frame();
        let surface = frame.liquid.into_surface().expect("a surface");
        let (base, height) = rest(2000e-9, degrees);
        let highest = surface.positions.iter().map(|p| p.y).fold(0.0, f64::max);
        assert!((highest / height - 1.0).abs() < 0.01, "{degrees}°: {highest} m high instead of {height}");
        let on_solid = surface.triangles.iter().zip(&surface.solids).filter(|&(_, &solid)| solid >= 0);
        let area: f64 = on_solid
            .map(|(t, _)| t.map(|v| surface.positions[v as usize]))
            .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
            .sum();
        let radius = (area / std::f64::consts::PI).sqrt();
        assert!((radius / base - 1.0).abs() < 0.01, "{degrees}°: base radius {radius} m instead of {base}");
    }
}

/// Angle between the base and the triangles of the free surface with an edge on it, in degrees.
fn displayed_angle(scene: &str) -> f64 {
    let surface = pane(scene).frame().liquid.into_surface().expect("a surface");
    let free = surface.triangles.iter().zip(&surface.solids).filter(|&(_, &solid)| solid < 0);
    let angles: Vec<f64> = free
        .map(|(t, _)| t.map(|v| surface.positions[v as usize]))
        .filter(|corners| corners.iter().filter(|p| p.y.abs() < 1e-9).count() == 2)
        .map(|[a, b, c]| (b - a).cross(c - a).normalize().y.acos().to_degrees())
        .collect();
    angles.iter().sum::<f64>() / angles.len() as f64
}

/// An edge of the mesh is about an eleventh of the meridian, over which the surface turns by up to
/// 14°: its chord is half of that flatter than the surface at the contact line.
#[test]
fn a_steep_cap_is_shown_at_its_contact_angle() {
    for degrees in [110.0, 130.0, 150.0] {
        let material = format!("advancing = \"{degrees} deg\"\nreceding = \"{degrees} deg\"");
        let angle = displayed_angle(&(tilted(0.0, &material, "") + &cap(8.0, degrees, [0.0; 3])));
        assert!((angle - degrees).abs() < 8.0, "{degrees}°: {angle}°");
    }
}

/// 1.8 times the threshold: it must run, whatever the seed.
#[test]
fn a_heavy_drop_runs_downhill_with_every_seed_a1() {
    for seed in 1..=10 {
        let material = "advancing = \"90 deg\"\nreceding = \"60 deg\"";
        let scene = tilted(30.0, material, &format!("seed = {seed}\n")) + &cap(78.0, 90.0, [0.0, 16.0, 0.0]);
        let mut pane = pane(&scene);
        let start = instances(&pane.frame())[0].frame.origin;
        run(&mut pane, 0.2);
        let moved = instances(&pane.frame()).first().map_or(f64::INFINITY, |drop| drop.frame.origin.distance(start));
        assert!(moved > 10e-3, "seed {seed}: moved {moved} m in 0.2 s");
    }
}

#[test]
fn a_pinned_contact_line_holds_more_than_a_free_one_d5() {
    let scene = tilted(180.0, "advancing = \"90 deg\"\nreceding = \"60 deg\"", "")
        + &cap(20.0, 90.0, [0.0; 3])
        + "[[emitters]]\nkind = \"feed\"\nat = \"0 0 0 mm\"\nrate = \"100 uL/s\"\n";
    let mut pane = pane(&scene);
    let mut largest = 0.0_f64;
    while pane.time() < 2.0 && instances(&pane.frame()).iter().all(|drop| drop.solid.is_some()) {
        largest = pane.frame().drops.iter().map(|drop| drop.volume).fold(largest, f64::max);
        pane.step(2e-3, &mut NoTimer).expect("the step succeeds");
    }
    assert!((largest * 1e9 - 96.8).abs() < 2.0, "released at {} µL", largest * 1e9);
}
