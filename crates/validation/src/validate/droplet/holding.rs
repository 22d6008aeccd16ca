//! When a drop lets go, from a slope and from a ceiling, and what it leaves behind.

use glam::DVec3;
use sessile_model::Model;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{film, pendant, retention};

use super::stage::{GRAVITY, Stage, WATER, cap, largest_that, material, tilted, wetting};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// How far a drop has moved after half a second, in m; infinite when it has left.
fn moved(scene: &str) -> Result<f64, CaseError> {
    let mut stage = Stage::new("", scene)?;
    let start = stage.place(1).ok_or("the drop is not there")?;
    stage.run(0.5)?;
    Ok(stage.place(1).map_or(f64::INFINITY, |place| place.distance(start)))
}

pub(super) fn holds_or_runs(context: &CaseContext) -> Result<CaseResult, CaseError> {
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
            (context.say)(&format!("{advancing}°/{receding}° at {tilt}°"));
            let expected = critical(tilt);
            let got = largest_that([0.7 * expected, 1.4 * expected], |volume| {
                let scene = material(advancing, receding, "")
                    + &tilted(tilt, [600.0, 600.0])
                    + &cap(volume, advancing, DVec3::ZERO, DVec3::ZERO);
                Ok(moved(&scene)? == 0.0)
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
        moved(&scene)
    };
    let held = on_wall(12.2)? * 1e3;
    result.checks.push(Check::value("way of 12.2 µL on a 90°/30° wall", "mm", 0.0, held, Tolerance::Absolute(0.0)));
    // It slides when it has moved by half its base radius, here 3.5 mm, within the half second.
    result.checks.push(Check::at_least("way of 88.2 µL on a 90°/30° wall", "mm", 1.75, on_wall(88.2)? * 1e3));
    Ok(result)
}

pub(super) fn hanging(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let scene = |angle: f64, volume: f64| {
        material(angle, angle, "") + &tilted(180.0, [100.0, 100.0]) + &cap(volume, angle, DVec3::ZERO, DVec3::ZERO)
    };
    for angle in [60.0, 90.0, 120.0] {
        let limit = 1e9 * pendant::pendant_max_volume(f64::to_radians(angle), WATER.capillary_length(GRAVITY));
        let got = largest_that([0.8 * limit, 1.2 * limit], |volume| {
            let mut stage = Stage::new("", &scene(angle, volume))?;
            stage.run(0.1)?;
            Ok(stage.model.num_flying() == 0 && stage.model.num_droplets() == 1)
        })?;
        result.checks.push(Check::value(format!("largest at {angle}°"), "µL", limit, got, Tolerance::Relative(0.005)));
    }
    // Reference case `pendant-30-90`.
    let mut stage = Stage::new("", &scene(90.0, 30.0))?;
    stage.run(0.1)?;
    let drop = stage.only_drop()?;
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

pub(super) fn trail(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let scene = material(50.0, 4.0, "")
        + &tilted(90.0, [200.0, 4000.0])
        + &cap(60.0, 50.0, DVec3::new(0.0, 1500.0, 0.0), DVec3::ZERO);
    let mut stage = Stage::new("", &scene)?;
    stage.run(0.4)?;
    let (before, from) = (stage.facts(1)?, stage.place(1).ok_or("gone")?);
    stage.run(0.02)?;
    let (after, to) = (stage.facts(1)?, stage.place(1).ok_or("gone")?);
    let way = from.distance(to);
    let speed = 0.5 * (before.velocity.length() + after.velocity.length());
    let law = wetting(50.0, 4.0);
    let shape = ShapeTable::shared().rest_shape(before.volume, law.advancing, 0.0, &WATER).ok_or("no such drop")?;
    let thickness = film::film_thickness(&WATER, speed, GRAVITY, std::f64::consts::FRAC_PI_2);
    let expected =
        film::trail_width(2.0 * shape.base_radius, speed, film::shedding_speed(&WATER, law.receding)) * thickness;
    let got = (before.volume - after.volume) / way;
    result.checks.push(Check::value(
        "volume left per length",
        "mm²",
        1e6 * expected,
        1e6 * got,
        Tolerance::Relative(0.02),
    ));
    let balance = stage.model.frame().balance;
    let off = (stage.model.volume() + balance.lost) / balance.added - 1.0;
    result.checks.push(Check::at_most("books off by", "", 1e-9, off.abs()));
    let film = balance.film / (balance.added - after.volume);
    result.checks.push(Check::value("film over what the drop has lost", "", 1.0, film, Tolerance::Relative(1e-9)));
    Ok(result)
}
