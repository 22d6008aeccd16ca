//! The largest drop that a tilted plane holds.

use std::f64::consts::PI;

use super::{Axis, CaseContext, CaseError, CaseResult, Check, MODELS, Mark, Plot, Series, Simulation, Tolerance};
use super::{WATER, cap_at, liquid, on_plane};
use crate::validate::common::{GRAVITY, bisect_largest};

/// Contact angles, in degrees.
const MATERIALS: [[f64; 2]; 3] = [[60.0, 30.0], [90.0, 60.0], [110.0, 85.0]];
/// Tilts, in degrees.
const TILTS: [f64; 3] = [30.0, 60.0, 90.0];
/// The retention factor of measured contours, on their equivalent diameter.
const MEASURED_FACTOR: f64 = 24.0 / (PI * PI * PI);
/// Displacement beyond which a drop slides, in m.
const SLIDES: f64 = 1e-5;

/// Critical volume (in m³) and its base diameter (in m).
fn critical(model: &str, angles: [f64; 2], tilt: f64) -> Result<(f64, f64), CaseError> {
    let scene = |microliters: f64| {
        on_plane(model, &liquid(1000.0, 1.0, 73.0), angles, tilt, &cap_at(microliters, angles[0], 0.0, tilt))
    };
    let volume = bisect_largest([1.0, 200.0], |microliters| {
        let mut simulation = Simulation::new(&scene(microliters))?;
        let start = simulation.largest_drop()?.centroid;
        simulation.run(0.3)?;
        Ok(simulation.largest_drop().is_ok_and(|drop| drop.centroid.distance(start) < SLIDES))
    })?;
    let mut simulation = Simulation::new(&scene(0.99 * volume))?;
    simulation.run(0.02)?;
    Ok((1e-9 * volume, 2.0 * simulation.only_drop()?.base_radius))
}

pub(super) fn critical_tilt(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for model in MODELS {
        for (color, angles) in MATERIALS.into_iter().enumerate() {
            (context.report)(&format!("{model}, {}°/{}°", angles[0], angles[1]));
            let difference = angles[1].to_radians().cos() - angles[0].to_radians().cos();
            let mut bonds = Vec::new();
            let mut factors = Vec::new();
            for tilt in TILTS {
                let (volume, diameter) = critical(model, angles, tilt)?;
                let pull = WATER.density * GRAVITY * tilt.to_radians().sin();
                bonds.push(pull * diameter * diameter / WATER.surface_tension);
                factors.push((tilt, pull * volume / (WATER.surface_tension * diameter * difference)));
            }
            let name = format!("{model}, {}°/{}°", angles[0], angles[1]);
            let (low, high) = bonds.iter().fold((f64::MAX, 0.0f64), |(l, h), b| (l.min(*b), h.max(*b)));
            // A diameter that is measured to 5 % gives the Bond number to 10 %.
            result.checks.push(Check::at_most(
                format!("variation of the Bond number with tilt, {name}"),
                "",
                0.1,
                high / low - 1.0,
            ));
            let mean = factors.iter().map(|(_, k)| k).sum::<f64>() / factors.len() as f64;
            // Measured receding angles scatter by 5°, which is 10 to 15 % of the difference of
            // cosines.
            result.checks.push(Check::value(
                format!("retention factor, {name}"),
                "",
                MEASURED_FACTOR,
                mean,
                Tolerance::Relative(0.15),
            ));
            series.push(Series::new(name, Mark::Points, factors).colored(color));
        }
    }
    series.push(Series::new("24/π³", Mark::Expected, vec![(30.0, MEASURED_FACTOR), (90.0, MEASURED_FACTOR)]));
    result.plots.push(Plot {
        title: "Retention factor ρgV sin α/(γD(cos θr − cos θa)) of the largest drop that is held".into(),
        x: Axis::linear("tilt (°)"),
        y: Axis::linear("retention factor"),
        series,
    });
    Ok(result)
}
