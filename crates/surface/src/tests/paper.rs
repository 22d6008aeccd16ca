//! The paper's operators.

use super::common::{assert_valid, build_paper, plane, sphere};
use sessile_model::{Model, NoTimer};

/// Height over width of a drop of 1.5 mm radius at rest on a floor.
fn roundness(gamma: f64) -> f64 {
    let floor = plane([0.0, 1.0, 0.0], 120.0, 120.0);
    let mut model =
        build_paper(&format!("[surface]\ngamma = {gamma}\n{floor}{}", sphere(1.5, [0.0, 1.8, 0.0], [0.0; 3])));
    let volume = model.volume();
    while model.time() < 0.5 {
        model.step(0.5 - model.time(), &mut NoTimer).unwrap();
        assert_valid(&model);
    }
    assert_eq!(model.drops().len(), 1);
    assert!((model.volume() / volume - 1.0).abs() < 1e-12);
    let [low, high] = model.drops()[0].mesh.bounds();
    (high.y - low.y) / (high.x - low.x)
}

/// The paper's figure 8.
#[test]
fn resting_drops_are_rounder_with_a_larger_gamma() {
    let [low, middle, high] = [0.05, 0.2, 1.0].map(roundness);
    assert!(low < 0.7 * middle && middle < 0.9 * high, "height over width {low}, {middle}, {high}");
}

/// Contact angle, in degrees, of a weightless drop of 8 µL, started at 90°, from its wetted area.
/// Friction is off: it would stop the line up to 6° before its angle.
fn rest_angle(angle: f64, step: f64) -> f64 {
    let floor = plane([0.0, 1.0, 0.0], angle, angle - 2.0);
    let mut model = build_paper(&format!(
        "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\nedge = \"0.12 mm\"\n[surface]\nfriction = \"0 mm/s\"\n{floor}{}",
        super::common::cap(8.0, 90.0, [0.0; 3])
    ));
    while model.time() < 0.3 {
        model.step(step.min(0.3 - model.time() + 1e-12), &mut NoTimer).unwrap();
        assert_valid(&model);
    }
    let mesh = &model.drops()[0].mesh;
    let wetted = mesh.wetted_area();
    let base = (wetted / std::f64::consts::PI).sqrt();
    // V = π a³ t (3 + t²)/6 with t = tan θ/2.
    let sought = 6.0 * model.volume() / (std::f64::consts::PI * base.powi(3));
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..100 {
        let t = 0.5 * (low + high);
        *(if t * (3.0 + t * t) < sought { &mut low } else { &mut high }) = t;
    }
    2.0 * f64::to_degrees(low.atan())
}

#[test]
fn weightless_drops_reach_the_contact_angle_of_their_solid() {
    for angle in [60.0, 90.0, 120.0] {
        let found = rest_angle(angle, 1.0);
        println!("{angle}: {found}");
        assert!((found - angle).abs() < 5.0, "{found}° instead of {angle}°");
    }
}
