//! Retention on slopes, pendant drops, and film deposition.

use glam::DVec3;
use sessile_model::Model;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{film, pendant, retention};

use super::simulation::{GRAVITY, Simulation, WATER, bisect_largest, cap, material, tilted, wetting};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Displacement of a drop after half a second, in m; infinite if it has left.
fn displacement(scene: &str) -> Result<f64, CaseError> {
    let mut simulation = Simulation::new("", scene)?;
    let start = simulation.position(1).ok_or("the drop is missing")?;
    simulation.run(0.5)?;
    Ok(simulation.position(1).map_or(f64::INFINITY, |place| place.distance(start)))
}

pub(super) fn critical_volume(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Largest drop that stays on a tilted plane".into(),
        x: Axis::linear("tilt (°)"),
        y: Axis::log("volume (µL)"),
        series: Vec::new(),
    };
    for (color, (advancing, receding)) in [(50.0, 15.0), (90.0, 60.0), (110.0, 90.0)].into_iter().enumerate() {
        let law = wetting(advancing, receding);
        let critical = |tilt: f64| {
            let tilt = tilt.to_radians();
            1e9 * retention::critical_volume_at_rest(ShapeTable::shared(), &WATER, &law, GRAVITY, tilt, 1.0)
        };
        let mut found = Vec::new();
        for tilt in [15.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
            (context.report)(&format!("{advancing}°/{receding}° at {tilt}°"));
            let expected = critical(tilt);
            let got = bisect_largest([0.7 * expected, 1.4 * expected], |volume| {
                let scene = material(advancing, receding, "")
                    + &tilted(tilt, [600.0, 600.0])
                    + &cap(volume, advancing, DVec3::ZERO, DVec3::ZERO);
                Ok(displacement(&scene)? == 0.0)
            })?;
            let name = format!("{advancing}°/{receding}° at {tilt}°");
            result.checks.push(Check::value(name, "µL", expected, got, Tolerance::Relative(0.005)));
            found.push((tilt, got));
        }
        let curve = (0..=75).map(|step| 15.0 + f64::from(step)).map(|tilt| (tilt, critical(tilt))).collect();
        plot.series.push(Series::new(format!("{advancing}°/{receding}° law"), Mark::Expected, curve).colored(color));
        plot.series.push(Series::new(format!("{advancing}°/{receding}° droplet"), Mark::Points, found).colored(color));
    }
    result.plots.push(plot);
    // Reference cases `tilt-90-30-vertical-stick` and `-slide`.
    let on_wall = |volume: f64| {
        let scene =
            material(90.0, 30.0, "") + &tilted(90.0, [60.0, 3000.0]) + &cap(volume, 90.0, DVec3::ZERO, DVec3::ZERO);
        displacement(&scene)
    };
    let held = on_wall(12.2)? * 1e3;
    result.checks.push(Check::value(
        "displacement of 12.2 µL on a 90°/30° wall",
        "mm",
        0.0,
        held,
        Tolerance::Absolute(0.0),
    ));
    // Sliding is defined as a displacement of half the base radius, here 3.5 mm, within half a
    // second.
    result.checks.push(Check::at_least("displacement of 88.2 µL on a 90°/30° wall", "mm", 1.75, on_wall(88.2)? * 1e3));
    Ok(result)
}

pub(super) fn pendant_drop(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let scene = |angle: f64, volume: f64| {
        material(angle, angle, "") + &tilted(180.0, [100.0, 100.0]) + &cap(volume, angle, DVec3::ZERO, DVec3::ZERO)
    };
    for angle in [60.0, 90.0, 120.0] {
        let limit = 1e9 * pendant::pendant_max_volume(f64::to_radians(angle), WATER.capillary_length(GRAVITY));
        let got = bisect_largest([0.8 * limit, 1.2 * limit], |volume| {
            let mut simulation = Simulation::new("", &scene(angle, volume))?;
            simulation.run(0.1)?;
            Ok(simulation.model.num_airborne() == 0 && simulation.model.num_droplets() == 1)
        })?;
        result.checks.push(Check::value(format!("largest at {angle}°"), "µL", limit, got, Tolerance::Relative(0.005)));
    }
    // Reference case `pendant-30-90`.
    let mut simulation = Simulation::new("", &scene(90.0, 30.0))?;
    simulation.run(0.1)?;
    let drop = simulation.only_drop()?;
    let base = drop.base_radius;
    result.checks.push(Check::value(
        "height of 30 µL at 90°",
        "mm",
        2.80203,
        1e3 * drop.height,
        Tolerance::Relative(0.04),
    ));
    result.checks.push(Check::value("contact radius", "mm", 2.22452, 1e3 * base, Tolerance::Relative(0.04)));
    Ok(result)
}

pub(super) fn film_deposition(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let scene = material(50.0, 4.0, "")
        + &tilted(90.0, [200.0, 4000.0])
        + &cap(60.0, 50.0, DVec3::new(0.0, 1500.0, 0.0), DVec3::ZERO);
    let mut simulation = Simulation::new("", &scene)?;
    simulation.run(0.4)?;
    let (before, from) = (simulation.state(1)?, simulation.position(1).ok_or("gone")?);
    simulation.run(0.02)?;
    let (after, to) = (simulation.state(1)?, simulation.position(1).ok_or("gone")?);
    let length = from.distance(to);
    let speed = 0.5 * (before.velocity.length() + after.velocity.length());
    let law = wetting(50.0, 4.0);
    let shape = ShapeTable::shared().rest_shape(before.volume, law.advancing, 0.0, &WATER).ok_or("no such drop")?;
    let thickness = film::film_thickness(&WATER, speed, GRAVITY, std::f64::consts::FRAC_PI_2);
    let expected =
        film::trail_width(2.0 * shape.base_radius, speed, film::shedding_speed(&WATER, law.receding)) * thickness;
    let got = (before.volume - after.volume) / length;
    result.checks.push(Check::value(
        "deposited volume per length",
        "mm²",
        1e6 * expected,
        1e6 * got,
        Tolerance::Relative(0.02),
    ));
    let balance = simulation.model.frame().balance;
    let off = (simulation.model.volume() + balance.lost) / balance.added - 1.0;
    result.checks.push(Check::at_most("relative volume imbalance", "", 1e-9, off.abs()));
    let film = balance.film / (balance.added - after.volume);
    result.checks.push(Check::value(
        "film volume over volume lost by the drop",
        "",
        1.0,
        film,
        Tolerance::Relative(1e-9),
    ));
    Ok(result)
}
