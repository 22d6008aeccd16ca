//! Shapes at rest, measured on the frames.

use glam::DVec3;
use sessile_model::Model;
use sessile_wetting::pendant::pendant;
use sessile_wetting::young_laplace::sessile;

use super::simulation::{GRAVITY, Simulation, WATER, ZERO_GRAVITY, cap, edge_for, material, plane};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn sessile_shape(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut angles = vec![40.0, 90.0, 150.0];
    if !context.quick {
        angles.extend([60.0, 120.0]);
    }
    for triangles in [600.0, 5000.0] {
        for volume in [4.0, 30.0] {
            for &angle in &angles {
                (context.report)(&format!("{volume} µL at {angle}°, {triangles} triangles"));
                let exact = sessile(volume * 1e-9, f64::to_radians(angle), WATER.capillary_length(GRAVITY))
                    .ok_or("no such drop")?;
                // The wetted face is coarser and has about 15 % of the triangles.
                let edge = edge_for(0.85 * triangles, 1e6 * exact.air_area);
                let start = if angle > 80.0 { angle - 20.0 } else { angle + 20.0 };
                let tables = format!(
                    "[resolution]\nedge = \"{edge} mm\"\n{}{}{}",
                    material(angle, angle),
                    plane([0.0, 1.0, 0.0]),
                    cap(volume, start, DVec3::ZERO)
                );
                let mut simulation = Simulation::new("settle = true", &tables)?;
                simulation.run(0.6)?;
                let drop = simulation.only_drop()?;
                let fine = triangles > 1000.0;
                let within = if fine { 0.005 } else { 0.02 };
                let base = if fine && angle > 140.0 { 0.008 } else { within };
                let count = simulation.model.num_triangles()[0];
                let name = |what: &str| format!("{volume} µL at {angle}°, {count} triangles: {what}");
                result.checks.push(Check::value(
                    name("height"),
                    "mm",
                    1e3 * exact.height,
                    1e3 * drop.height,
                    Tolerance::Relative(within),
                ));
                let (wanted, got) = (1e3 * exact.base_radius, 1e3 * drop.base_radius);
                result.checks.push(Check::value(name("base radius"), "mm", wanted, got, Tolerance::Relative(base)));
            }
        }
    }
    Ok(result)
}

pub(super) fn pendant_drop(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let scene = |volume: f64, angle: f64, edge: f64| {
        format!(
            "[resolution]\nedge = \"{edge} mm\"\n{}{}{}",
            material(angle, angle),
            plane([0.0, -1.0, 0.0]),
            cap(volume, angle, DVec3::ZERO)
        )
    };
    for (volume, angle) in [(10.0, 60.0), (30.0, 90.0), (10.0, 120.0)] {
        (context.report)(&format!("{volume} µL at {angle}°"));
        let exact =
            pendant(volume * 1e-9, f64::to_radians(angle), WATER.capillary_length(GRAVITY)).ok_or("no such drop")?;
        let mut simulation = Simulation::new("settle = true", &scene(volume, angle, 0.15))?;
        simulation.run(1.0)?;
        let drop = simulation.only_drop()?;
        let name = |what: &str| format!("{volume} µL at {angle}°: {what}");
        let tolerance = Tolerance::Relative(0.01);
        result.checks.push(Check::value(name("height"), "mm", 1e3 * exact.height, 1e3 * drop.height, tolerance));
        let (wanted, got) = (1e3 * exact.base_radius, 1e3 * drop.base_radius);
        result.checks.push(Check::value(name("base radius"), "mm", wanted, got, tolerance));
    }
    for (volume, falls) in [(55.0, false), (80.0, true)] {
        (context.report)(&format!("{volume} µL at 90°: does it fall?"));
        let mut simulation = Simulation::new("", &scene(volume, 90.0, 0.4))?;
        simulation.run(0.3)?;
        let lowest = simulation.drops()?.iter().map(|drop| drop.bounds[0].y).fold(0.0, f64::min);
        let fell = lowest < -15e-3 || simulation.model.frame().balance.lost > 0.0;
        result
            .checks
            .push(Check::holds(format!("{volume} µL at 90° {}", if falls { "fall" } else { "hang" }), fell == falls));
    }
    Ok(result)
}

pub(super) fn on_sphere(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let solid = "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\n";
    for (volume, angle, start) in [(4.0, 60.0, 80.0), (10.0, 90.0, 70.0), (10.0, 120.0, 100.0)] {
        (context.report)(&format!("{volume} µL at {angle}°"));
        let scene = |start: f64| {
            format!(
                "{ZERO_GRAVITY}[resolution]\nedge = \"0.1 mm\"\n{}{solid}{}",
                material(angle, angle),
                cap(volume, start, DVec3::new(0.0, 3.0, 0.0))
            )
        };
        let mut simulation = Simulation::new("settle = true", &scene(start))?;
        simulation.run(1.0)?;
        let drop = simulation.only_drop()?;
        // The scene's cap at the final angle is the exact solution.
        let exact = Simulation::new("", &scene(angle))?;
        let exact = exact.model.world().initial_drops()[0].cap().ok_or("not a cap")?.clone();
        let height = exact.ball_center.distance(DVec3::ZERO) + exact.ball_radius - 3e-3;
        let name = |what: &str| format!("{volume} µL at {angle}°: {what}");
        let tolerance = Tolerance::Relative(0.01);
        result.checks.push(Check::value(name("height"), "mm", 1e3 * height, 1e3 * drop.height, tolerance));
        // Intersection of the two spheres: height of the circle above the solid's center, and the
        // area of the solid beyond it.
        let d = exact.ball_center.length();
        let along = (d * d + 9e-6 - exact.ball_radius.powi(2)) / (2.0 * d);
        let wetted = std::f64::consts::TAU * 3e-3 * (3e-3 - along);
        result.checks.push(Check::value(
            name("wetted area"),
            "mm²",
            1e6 * wetted,
            1e6 * drop.wetted_area,
            Tolerance::Relative(0.02),
        ));
    }
    Ok(result)
}
