//! The bridge between two drops that touch.

use glam::DVec3;
use sessile_wetting::cap;

use super::{Axis, CaseContext, CaseError, CaseResult, Check, MODELS, Mark, Plot, Series, Simulation, Tolerance};
use super::{WATER, exponent, liquid, on_plane};

/// Volume of each drop, in µL.
const VOLUME: f64 = 2.0;

/// Two caps that just touch, centers on the x axis.
pub(in crate::validate) fn touching(model: &str, resolution: &str) -> Result<Simulation, CaseError> {
    let radius = 1e3 * cap::base_radius(1e-9 * VOLUME, 0.5 * std::f64::consts::PI);
    let caps: String = [-1.0, 1.0]
        .map(|side| {
            let center = DVec3::X * (side * 0.999 * radius);
            sessile_scene::text::cap("s", center.into(), &format!("volume = \"{VOLUME} uL\""), 90.0)
        })
        .concat();
    Simulation::new(&(on_plane(model, &liquid(1000.0, 1.0, 73.0), [90.0, 60.0], 0.0, &caps) + resolution))
}

pub(super) fn bridge(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    let radius = cap::base_radius(1e-9 * VOLUME, 0.5 * std::f64::consts::PI);
    for (color, model) in MODELS.into_iter().enumerate() {
        (context.report)(model);
        let mut simulation = touching(model, "")?;
        let mut points = Vec::new();
        let mut time = 0.0;
        for next in [0.125e-3, 0.25e-3, 0.5e-3, 1e-3] {
            simulation.run(next - time)?;
            time = next;
            points.push((1e3 * time, 1e3 * simulation.width_at(DVec3::X, 0.0, DVec3::Z)?));
        }
        // Aarts et al. and later measurements read the exponent to a few hundredths.
        result.checks.push(Check::value(
            format!("exponent of the bridge over time, {model}"),
            "",
            0.5,
            exponent(&points),
            Tolerance::Absolute(0.05),
        ));
        // The factor C in b = C (γR/ρ)^¼ t^½ is between 1 and 1.6 in measurements and simulations
        // (unverified).
        let scale = (WATER.surface_tension * radius / WATER.density).sqrt().sqrt() * 1e-3f64.sqrt();
        let half = 0.5e-3 * points[3].1;
        result.checks.push(Check::range(
            format!("half width at 1 ms over (γR/ρ)^¼ t^½, {model}"),
            "",
            1.0,
            1.6,
            half / scale,
        ));
        series.push(Series::new(model, Mark::Points, points).colored(color));
    }
    result.plots.push(Plot {
        title: "Width of the bridge between two caps of 2 µL".into(),
        x: Axis::log("time (ms)"),
        y: Axis::log("width (mm)"),
        series,
    });
    Ok(result)
}
