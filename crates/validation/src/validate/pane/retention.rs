//! Depinning of drops: by gravity on a slope, by wind on a level pane.

use sessile_wetting::table::ShapeTable;
use sessile_wetting::{cap as wetting_cap, retention, wind as law, young_laplace};

use super::simulation::{Angles, GRAVITY, Simulation, WATER, bisect_largest, cap, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Displacement of a drop after half a second, in m; infinite if it has left the pane.
fn displacement(scene: &str) -> Result<f64, CaseError> {
    let mut simulation = Simulation::new(scene)?;
    let start = simulation.drop(1)?.ok_or("the drop is missing")?.frame.origin;
    simulation.run(0.5)?;
    Ok(simulation.drop(1)?.map_or(f64::INFINITY, |drop| drop.frame.origin.distance(start)))
}

pub(super) fn critical_volume(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Largest drop that stays on a tilted pane".into(),
        x: Axis::linear("tilt (°)"),
        y: Axis::log("volume (µL)"),
        series: Vec::new(),
    };
    for (color, angles) in
        [Angles::new(50.0, 15.0), Angles::new(90.0, 60.0), Angles::new(110.0, 90.0)].into_iter().enumerate()
    {
        let critical = |tilt: f64| {
            let (table, tilt) = (ShapeTable::shared(), f64::to_radians(tilt));
            1e9 * retention::critical_volume_at_rest(table, &WATER, &angles.wetting(), GRAVITY, tilt, 1.0)
        };
        let mut found = Vec::new();
        for tilt in [15.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
            (context.report)(&format!("{} at {tilt}°", angles.name()));
            let expected = critical(tilt);
            let got = bisect_largest([0.7 * expected, 1.4 * expected], |volume| {
                let head = tilted("", tilt, [60.0, 120.0], &angles.keys());
                Ok(displacement(&(head + &cap(volume, angles.advancing, [0.0; 3])))? == 0.0)
            })?;
            // The model balances the same forces with the same table of shapes: 0.05 % of the
            // bisection, and a margin for the choice of a path.
            result.checks.push(Check::value(
                format!("{} at {tilt}°", angles.name()),
                "µL",
                expected,
                got,
                Tolerance::Relative(0.005),
            ));
            found.push((tilt, got));
        }
        let law = (0..=75).map(|step| 15.0 + f64::from(step)).map(|tilt| (tilt, critical(tilt))).collect();
        plot.series.push(Series::new(format!("{} law", angles.name()), Mark::Expected, law).colored(color));
        plot.series.push(Series::new(format!("{} pane", angles.name()), Mark::Points, found).colored(color));
    }
    result.plots.push(plot);

    // Reference case `tilt-90-30-vertical`: brackets from a resolved computation, 0.45 and 3.2
    // times the law's volume.
    let on_wall = |volume: f64| {
        let scene = tilted("", 90.0, [60.0, 1200.0], &Angles::new(90.0, 30.0).keys());
        displacement(&(scene + &cap(volume, 90.0, [0.0; 3])))
    };
    result.checks.push(Check::value(
        "displacement of 12.2 µL on a 90°/30° wall",
        "mm",
        0.0,
        on_wall(12.2)? * 1e3,
        Tolerance::Absolute(0.0),
    ));
    // Sliding is defined as a displacement of half the base radius, here 3.5 mm, within half a
    // second.
    result.checks.push(Check::at_least("displacement of 88.2 µL on a 90°/30° wall", "mm", 1.75, on_wall(88.2)? * 1e3));
    Ok(result)
}

pub(super) fn wind(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Wind speed that depins a drop on a level pane".into(),
        x: Axis::log("volume (µL)"),
        y: Axis::linear("wind (m/s)"),
        series: Vec::new(),
    };
    for (color, angles) in
        [Angles::new(50.0, 15.0), Angles::new(80.0, 58.0), Angles::new(113.0, 92.0)].into_iter().enumerate()
    {
        // The law is for a spherical cap; retention scales as R and drag as R², so a flattened drop
        // starts at √(R_cap/R) of it.
        let critical = |volume: f64| -> Result<f64, CaseError> {
            let (wetting, volume) = (angles.wetting(), volume * 1e-9);
            let flattened = young_laplace::sessile(volume, wetting.advancing, WATER.capillary_length(GRAVITY));
            let flattened = flattened.ok_or("no such drop at rest")?.base_radius;
            let widening = flattened / wetting_cap::base_radius(volume, wetting.advancing);
            Ok(law::depinning_speed(&WATER, &wetting, volume) / widening.sqrt())
        };
        let mut found = Vec::new();
        for volume in [1.0, 3.0, 10.0, 20.0] {
            (context.report)(&format!("{}, {volume} µL", angles.name()));
            let expected = critical(volume)?;
            let got = bisect_largest([0.7 * expected, 1.4 * expected], |speed| {
                let head = tilted("", 0.0, [40.0, 40.0], &angles.keys());
                let air = format!("[world]\nwind = \"{speed} 0 0 m/s\"\n");
                Ok(displacement(&(head + &air + &cap(volume, angles.advancing, [0.0; 3])))? == 0.0)
            })?;
            // Widths come from a table with an error of 1e-3; that of the search is about 1e-4.
            result.checks.push(Check::value(
                format!("{}, {volume} µL", angles.name()),
                "m/s",
                expected,
                got,
                Tolerance::Relative(0.002),
            ));
            found.push((volume, got));
        }
        let law = (0..=30).map(|step| 10f64.powf(f64::from(step) / 20.0)).filter(|&v| v <= 24.0);
        let law = law.map(|volume| Ok((volume, critical(volume)?))).collect::<Result<_, CaseError>>()?;
        plot.series.push(Series::new(format!("{} law", angles.name()), Mark::Expected, law).colored(color));
        plot.series.push(Series::new(format!("{} pane", angles.name()), Mark::Points, found).colored(color));
    }
    result.plots.push(plot);
    Ok(result)
}
