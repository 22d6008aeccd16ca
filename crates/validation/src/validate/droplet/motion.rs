//! Motion of droplets: closed forms, mesh independence, spheres, steady speeds.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{sliding, wind};

use super::simulation::{GRAVITY, Simulation, WATER, cap, material, tilted, wetting};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

pub(super) fn closed_form(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let tilt: f64 = 40.0;
    let drive = GRAVITY * tilt.to_radians().sin();
    // From rest: speed (a/λ)(1 − e^(−λt)), distance (a/λ)(t − (1 − e^(−λt))/λ).
    let expected = |drive: f64, rate: f64, time: f64| {
        let decayed = -(-rate * time).exp_m1();
        (drive / rate * decayed, drive / rate * (time - decayed / rate))
    };
    let mut check =
        |name: &str, scene: (&str, String), (speed, distance): (f64, f64), time: f64| -> Result<(), CaseError> {
            let mut simulation = Simulation::new(scene.0, &scene.1)?;
            let start = simulation.position(1).ok_or("the drop is missing")?;
            simulation.run(time)?;
            let got = simulation.position(1).ok_or("the drop is gone")?.distance(start);
            let tolerance = Tolerance::Relative(1e-9);
            result.checks.push(Check::value(format!("{name}: distance"), "mm", 1e3 * distance, 1e3 * got, tolerance));
            let velocity = simulation.state(1)?.velocity.length();
            result.checks.push(Check::value(format!("{name}: speed"), "mm/s", 1e3 * speed, 1e3 * velocity, tolerance));
            Ok(())
        };
    let volume = 4.0;
    for (friction, time) in [(0.2, 0.3), (0.02, 0.2)] {
        let paper = format!("[droplet]\nfriction = \"{friction} g/s\"\n")
            + &material(90.0, 60.0, "roughness = \"0 um\"\nadhesion = \"100 Pa\"")
            + &tilted(tilt, [1000.0, 1000.0])
            + &cap(volume, 90.0, DVec3::new(20.0, 100.0, -100.0), DVec3::ZERO);
        let mass = 1000.0 * volume * 1e-9;
        check(
            &format!("paper, k_f {friction} g/s"),
            ("fidelity = \"paper\"", paper),
            expected(drive, friction * 1e-3 / mass, time),
            time,
        )?;
    }
    // On a repellent solid the coefficient is at its lower bound of 15 while the drop is slow.
    let (advancing, receding, volume) = (139.0, 137.0, 2.0_f64);
    let physical = material(advancing, receding, "")
        + &tilted(tilt, [1000.0, 1000.0])
        + &cap(volume, advancing, DVec3::new(20.0, 100.0, -100.0), DVec3::ZERO);
    let (law, volume, time) = (wetting(advancing, receding), volume * 1e-9, 0.008);
    let normal_acceleration = GRAVITY * tilt.to_radians().cos();
    let radius = ShapeTable::shared()
        .rest_shape(volume, law.advancing, normal_acceleration, &WATER)
        .ok_or("no such drop")?
        .base_radius;
    let mass = 1000.0 * volume;
    let held = WATER.surface_tension * 2.0 * radius * (law.receding.cos() - law.advancing.cos());
    let rate = sliding::FRICTION_BOUNDS.0 * 2.0 * radius * WATER.dynamic_viscosity() / mass;
    check("physical, straight", ("", physical), expected(drive - held / mass, rate, time), time)?;
    Ok(result)
}

pub(super) fn mesh_independence(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let size: f64 = 512.0;
    let mut first: Option<DVec3> = None;
    for cuts in [1_u32, 2, 4, 8, 16, 224] {
        (context.report)(&format!("{} triangles", 2 * cuts * cuts));
        // No edge is longer than three times `edge`; the diagonal is the longest.
        let edge = size * 2_f64.sqrt() / f64::from(cuts) / 3.0 * 1.0001;
        let scene = format!("[resolution]\nedge = \"{edge} mm\"\n[droplet]\nfriction = \"0.02 g/s\"\n")
            + &material(90.0, 60.0, "roughness = \"1 nm\"\nadhesion = \"100 Pa\"")
            + &tilted(30.0, [size, size])
            + &cap(4.0, 90.0, DVec3::new(-200.0, 100.0, -173.2), DVec3::new(0.4, 0.1, -0.1732));
        let mut simulation = Simulation::new("fidelity = \"paper\"", &scene)?;
        let triangles = simulation.model.num_triangles();
        let energy = |simulation: &Simulation| -> Result<f64, CaseError> {
            let place = simulation.position(1).ok_or("the drop is gone")?;
            Ok(0.5 * simulation.state(1)?.velocity.length_squared() + GRAVITY * place.y)
        };
        let mut last = energy(&simulation)?;
        let mut gained = 0.0_f64;
        for _ in 0..15 {
            simulation.run(1.0 / 30.0)?;
            let now = energy(&simulation)?;
            gained = gained.max(now - last);
            last = now;
        }
        let place = simulation.position(1).ok_or("the drop is gone")?;
        let reference = *first.get_or_insert(place);
        // A roughness of one nanometer changes the force by at most 1e-6.
        let name = format!("{triangles} triangles: distance from the path on the coarsest mesh");
        result.checks.push(Check::at_most(name, "m", 1e-6, place.distance(reference)));
        result.checks.push(Check::at_most(format!("{triangles} triangles: energy gained"), "J/kg", 1e-12, gained));
    }
    Ok(result)
}

pub(super) fn detachment_from_sphere(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let (radius, volume): (f64, f64) = (200.0, 1.0);
    let hemisphere_radius = (1.5 * volume * 1e-9 / PI).cbrt();
    let mass = 1000.0 * volume * 1e-9;
    let mut found = Vec::new();
    for q in [0.0, 0.5, 1.0, 2.0, 3.0, 4.0] {
        (context.report)(&format!("adhesion {q} weights"));
        let adhesion = q * mass * GRAVITY / (PI * hemisphere_radius * hemisphere_radius);
        let start: f64 = 0.05;
        let scene = "[droplet]\nfriction = \"0.0001 g/s\"\n".to_owned()
            + &material(90.0, 60.0, &format!("roughness = \"0 um\"\nadhesion = \"{adhesion} Pa\""))
            + &format!("[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"{radius} mm\"\n")
            + &cap(volume, 90.0, DVec3::new(start.sin(), start.cos(), 0.003) * radius, DVec3::ZERO);
        let mut simulation = Simulation::new("fidelity = \"paper\"", &scene)?;
        let top = simulation.position(1).ok_or("the drop is missing")?.y * 1e3 / radius;
        let mut at = top;
        while simulation.model.num_airborne() == 0 && simulation.model.num_droplets() == 1 {
            at = simulation.position(1).ok_or("the drop is gone")?.y * 1e3 / radius;
            simulation.run(1e-3)?;
            if at < -0.999 {
                break;
            }
        }
        // From c₀ on: 2(c₀ − c) − c = q.
        let expected = ((2.0 * top - q) / 3.0).max(-1.0);
        let [expected, got] = [expected, at.max(-1.0)].map(|cos| cos.acos().to_degrees());
        // The sphere has 128 × 64 facets, 2.8° each.
        result.checks.push(Check::value(
            format!("adhesion of {q} weights"),
            "°",
            expected,
            got,
            Tolerance::Absolute(3.0),
        ));
        found.push((q, got));
    }
    let law = (0..=50).map(|k| f64::from(k) * 0.1).map(|q| (q, ((2.0 - q) / 3.0_f64).acos().to_degrees())).collect();
    result.plots.push(Plot {
        title: "Detachment angle on a sphere".into(),
        x: Axis::linear("adhesion over weight"),
        y: Axis::linear("angle from the top (°)"),
        series: vec![
            Series::new("energy".to_owned(), Mark::Expected, law),
            Series::new("droplet".to_owned(), Mark::Points, found),
        ],
    });
    Ok(result)
}

pub(super) fn steady_speed(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (advancing, receding, volume, tilt) in
        [(110.0, 90.0, 20.0, 90.0), (80.0, 58.0, 30.0, 60.0), (90.0, 60.0, 40.0, 45.0)]
    {
        (context.report)(&format!("{advancing}°/{receding}° at {tilt}°"));
        let scene = material(advancing, receding, "")
            + &tilted(tilt, [400.0, 9000.0])
            + &cap(
                volume,
                advancing,
                DVec3::new(0.0, 3000.0 * f64::to_radians(tilt).sin(), -3000.0 * f64::to_radians(tilt).cos()),
                DVec3::ZERO,
            );
        let mut simulation = Simulation::new("", &scene)?;
        simulation.run(1.5)?;
        let law = wetting(advancing, receding);
        let (sin, cos) = f64::to_radians(tilt).sin_cos();
        let shape = ShapeTable::shared()
            .rest_shape(volume * 1e-9, law.advancing, GRAVITY * cos, &WATER)
            .ok_or("no such drop")?;
        let width = 2.0 * shape.base_radius;
        let drive = 1000.0 * volume * 1e-9 * GRAVITY * sin;
        let expected =
            sliding::steady_speed(&WATER, &law, width, drive, wind::air_drag(0.5 * width, law.advancing), None);
        let got = simulation.state(1)?.velocity.length();
        let name = format!("{volume} µL at {advancing}°/{receding}°, {tilt}°");
        result.checks.push(Check::value(name, "mm/s", 1e3 * expected, 1e3 * got, Tolerance::Relative(0.005)));
    }
    Ok(result)
}
