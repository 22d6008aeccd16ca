//! The largest drop that a tilted plane holds, from 15° to 90°, and the largest that hangs.
//!
//! Expected is the balance of weight and retention at the width of the drop at rest
//! (`docs/wetting.md`, "Retention"), and the limit of a pinned pendant drop. Bounds: 5 % of the
//! volume, which is 3.3 % of the retention.

use sessile_wetting::table::ShapeTable;
use sessile_wetting::{SlidingLaw, Wetting, retention};

use super::super::experiment::{cap_at, detachment, fed, liquid, on_plane};
use super::super::volume::simulation::Simulation;
use super::super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};
use super::{ANGLES, FAST, OF_THRESHOLD};
use crate::validate::common::{GRAVITY, WATER, bisect_largest};

/// Whether a drop of a volume (in µL) stays on a plane of a tilt (in degrees) for 0.3 s.
fn stays(model: &str, tilt: f64, microliters: f64, resolution: &str) -> Result<bool, CaseError> {
    let cap = cap_at(microliters, ANGLES[0], 0.0, tilt);
    let mut simulation =
        Simulation::new(&(on_plane(model, &liquid(1000.0, 1.0, 73.0), ANGLES, tilt, &cap) + resolution))?;
    let start = simulation.largest_drop()?;
    simulation.run(0.3)?;
    // A resolved drop leans by a part of its radius before it is held.
    let slides = if resolution.is_empty() { 1e-5 } else { 0.5 * start.base_radius };
    Ok(simulation.largest_drop().is_ok_and(|drop| drop.centroid.distance(start.centroid) < slides))
}

pub(super) fn tilt(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let wetting = Wetting::smooth(ANGLES[0].to_radians(), ANGLES[1].to_radians());
    let critical = |tilt: f64| {
        1e9 * retention::critical_volume_at_rest(
            ShapeTable::shared(),
            &WATER,
            &wetting,
            GRAVITY,
            tilt.to_radians(),
            1.0,
        )
    };
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for (color, model) in FAST.into_iter().enumerate() {
        let mut found = Vec::new();
        for tilt in [15.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
            (context.report)(&format!("{model} at {tilt}°"));
            let expected = critical(tilt);
            let got = bisect_largest([0.7 * expected, 1.4 * expected], |volume| stays(model, tilt, volume, ""))?;
            let name = format!("largest that is held at {tilt}°, {model}");
            result.checks.push(Check::value(name, "µL", expected, got, Tolerance::Relative(OF_THRESHOLD)));
            found.push((tilt, got));
        }
        series.push(Series::new(model, Mark::Points, found).colored(color));
    }
    if !context.quick {
        for tilt in [45.0, 90.0] {
            let expected = critical(tilt);
            for (share, held) in [(1.0 - OF_THRESHOLD, true), (1.0 + OF_THRESHOLD, false)] {
                (context.report)(&format!("surface at {tilt}°, {share} of the threshold"));
                let holds = stays("surface", tilt, share * expected, "[resolution]\nedge = \"0.25 mm\"\n")?;
                let verb = if held { "holds" } else { "does not hold" };
                let percent = 100.0 * share;
                let statement = format!("surface {verb} {percent:.0} % of it at {tilt}°");
                result.checks.push(Check::holds(statement, holds == held));
            }
        }
    }
    let curve = (15..=90).map(|tilt| (f64::from(tilt), critical(f64::from(tilt)))).collect();
    series.push(Series::new("weight and retention", Mark::Expected, curve));
    result.plots.push(Plot {
        title: "Largest drop of water that a plane of 90°/60° holds".into(),
        x: Axis::linear("tilt (°)"),
        y: Axis::log("volume (µL)"),
        series,
    });
    Ok(result)
}

pub(super) fn hanging(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let wetting = Wetting::smooth(ANGLES[0].to_radians(), ANGLES[1].to_radians());
    let law = SlidingLaw::new(&WATER, &wetting);
    // A growing drop advances up to its largest base radius, and is pinned there.
    let free = law.largest_pendant_volume(GRAVITY);
    let widest = (0..=200)
        .filter_map(|step| law.flat_radius(&WATER, free * f64::from(step) / 200.0, -GRAVITY))
        .fold(0.0, f64::max);
    let expected = 1e9 * law.largest_pinned_volume(&WATER, widest, GRAVITY);
    let mut result = CaseResult::default();
    let mut points = Vec::new();
    for (index, model) in FAST.into_iter().enumerate() {
        (context.report)(model);
        let (volume, radius) = detachment(&mut fed(model, "")?, 0.01)?;
        let name = format!("volume of a fed drop when it falls, {model}");
        result.checks.push(Check::value(name, "µL", expected, 1e9 * volume, Tolerance::Relative(OF_THRESHOLD)));
        result.checks.push(Check::shown(format!("its base radius just before, {model}"), "mm", 1e3 * radius));
        points.push(Series::new(model, Mark::Points, vec![(index as f64, 1e9 * volume)]));
    }
    points.push(Series::new("limit of a pinned drop", Mark::Expected, vec![(0.0, expected), (1.0, expected)]));
    result.plots.push(Plot {
        title: "Volume of a drop under a ceiling of 90°/60° that is fed until it falls".into(),
        x: Axis::linear("model: 0 droplet, 1 pane"),
        y: Axis::linear("volume (µL)"),
        series: points,
    });
    Ok(result)
}
