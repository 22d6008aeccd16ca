//! Drops at rest stay where they are, and drops in flight keep their momentum.

use super::common::{build, build_paper, cap, plane, run, sphere};
use crate::SurfaceModel;
use glam::DVec3;
use sessile_model::{Model, NoTimer};

/// Density over surface tension of water, in s²/m³.
const DENSITY_OVER_TENSION: f64 = 998.0 / 0.0725;

/// Largest distance of the centroid of a drop from the origin along the floor, in m, until it
/// sleeps, and when that is, in s.
fn drift_until_asleep(mut model: SurfaceModel) -> (f64, f64) {
    let mut farthest: f64 = 0.0;
    while model.time() < 4.0 && !model.drops()[0].asleep {
        run(&mut model, 0.02);
        let centroid = model.drops()[0].mesh.centroid();
        farthest = farthest.max(centroid.x.hypot(centroid.z));
    }
    (farthest, model.time())
}

/// A cap of a volume in µL without hysteresis, started at another angle.
fn without_hysteresis(volume: f64, angle: f64, edge: f64, table: &str) -> String {
    let floor = plane([0.0, 1.0, 0.0], angle, angle);
    format!("{table}[resolution]\nedge = \"{edge} mm\"\n{floor}{}", cap(volume, angle + 8.0, [0.0; 3]))
}

#[test]
fn resting_drop_does_not_propel_itself_s1() {
    for (volume, angle, edge) in [(10.0, 30.0, 0.4), (10.0, 90.0, 0.4), (1.0, 120.0, 0.2), (100.0, 150.0, 0.8)] {
        let (drift, time) = drift_until_asleep(build(&without_hysteresis(volume, angle, edge, "")));
        assert!(time < 3.0, "{volume} µL at {angle}° sleep after {time} s");
        assert!(drift < 0.04e-3, "{volume} µL at {angle}° moved by {drift} m");
    }
}

#[test]
fn weightless_drop_does_not_propel_itself() {
    let weightless = "[world]\ngravity = \"0 0 0 m/s^2\"\n";
    for angle in [60.0, 150.0] {
        let (drift, time) = drift_until_asleep(build(&without_hysteresis(10.0, angle, 0.4, weightless)));
        assert!(drift < 0.02e-3 && time < 3.0, "{angle}°: moved by {drift} m until {time} s");
    }
}

/// The drop of 1 µL with edges of 50 µm comes to rest in long substeps. A remesh that displaces its
/// line accelerates it, and with what lasts for 2 ms over the whole substep it moves by 0.23 mm.
#[test]
fn resting_drop_does_not_propel_itself_in_reproduction_mode_s1() {
    for (volume, angle, edge) in [
        (10.0, 30.0, 0.4),
        (10.0, 90.0, 0.4),
        (1.0, 120.0, 0.4),
        (1.0, 120.0, 0.05),
        (100.0, 90.0, 0.4),
        (100.0, 120.0, 0.2),
        (100.0, 150.0, 0.4),
        (100.0, 150.0, 0.2),
    ] {
        let (drift, time) = drift_until_asleep(build_paper(&without_hysteresis(volume, angle, edge, "")));
        // The rims of the flattest ones have a radius of an edge or two, and keep being remeshed.
        println!("{volume} µL at {angle}° with edges of {edge} mm: {drift:.1e} m, {time:.2} s");
        assert!(time < 3.0 || volume * angle > 11e3, "{volume} µL at {angle}° sleep after {time} s");
        assert!(drift < 0.05e-3, "{volume} µL at {angle}° moved by {drift} m");
    }
}

/// A puddle without hysteresis sloshes; substeps that are too long for that amplify it.
#[test]
fn puddle_without_hysteresis_comes_to_rest_in_frames_of_any_length() {
    for frame in [2e-3, 0.1] {
        let mut model = build_paper(&without_hysteresis(63.0, 37.0, 0.4, ""));
        while model.time() < 2.0 && !model.drops()[0].asleep {
            model.step(frame, &mut NoTimer).unwrap();
        }
        assert!(model.drops()[0].asleep, "in frames of {frame} s it moves at {} m/s", model.drops()[0].velocity);
    }
}

/// Follows a drop that oscillates and remeshes in flight, and checks its momentum and the path of
/// its centroid after every step.
fn assert_momentum_is_conserved(mut model: SurfaceModel) {
    let radius = 1.2e-3;
    let capillary_speed = (1.0 / (DENSITY_OVER_TENSION * radius)).sqrt();
    let mut edits = 0;
    for _ in 0..150 {
        let (velocity, centroid) = (model.drops()[0].velocity, model.drops()[0].mesh.centroid());
        let report = model.step(1e-3, &mut NoTimer).unwrap();
        for stage in ["remesh.splits", "remesh.collapses", "remesh.flips"] {
            edits += match report.stages.get(stage) {
                Some(sessile_model::StageValue::Total(count)) => count,
                _ => 0,
            };
        }
        let drop = &model.drops()[0];
        let change = drop.velocity.distance(velocity) / capillary_speed;
        assert!(change < 1e-6, "the momentum changes by {change:e} at {} s", model.time());
        let off = (drop.mesh.centroid() - centroid - velocity * report.dt).length() / (capillary_speed * report.dt);
        assert!(off < 1e-6, "the centroid is {off:e} off its path at {} s", model.time());
    }
    assert!(edits > 0, "the surface is remeshed");
    assert!(model.drops()[0].velocity.distance(DVec3::new(0.1, 0.02, -0.05)) < 1e-9);
}

const WEIGHTLESS_OSCILLATION: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\nedge = \"0.15 mm\"\n";

#[test]
fn momentum_of_a_free_drop_is_conserved() {
    let drop = sphere(1.2, [0.0; 3], [0.1, 0.02, -0.05]);
    let mode = "mode = 3\namplitude = 0.4\n";
    assert_momentum_is_conserved(build(&format!("{WEIGHTLESS_OSCILLATION}{drop}{mode}")));
    let undamped = "[surface]\nmu = \"0 1/s\"\n";
    assert_momentum_is_conserved(build_paper(&format!("{WEIGHTLESS_OSCILLATION}{undamped}{drop}{mode}")));
}
