//! A drop on a plate that accelerates, and on one that rotates.
//!
//! The acceleration at which the drop starts to slide is that of its retention, γ w (cos θ_r − cos
//! θ_a)/m: on a plate that speeds up along itself, and at a distance r from the axis of a plate
//! that rotates, where it is ω²r. Bounds: 5 % of the threshold volume, 3.3 % of the acceleration.
//!
//! The acceleration rises within [`RAMPS`], since a jump of the plate's velocity would count for
//! more than the acceleration that follows.

use sessile_wetting::table::ShapeTable;

use super::super::experiment::{cap_at, liquid, on_plane};
use super::super::volume::simulation::Simulation;
use super::super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};
use super::{ANGLES, FAST, OF_THRESHOLD};
use crate::validate::common::{GRAVITY, WATER, bisect_largest};

/// Volume of the drop, in µL.
const VOLUME: f64 = 20.0;
/// Distance of the drop from the axis, in mm.
const DISTANCE: f64 = 15.0;
/// Time that is simulated, in s: on the plate that speeds up, short of much wind (2 m/s); on the
/// one that rotates, long enough for a drop little above its retention to begin to slide.
const TIMES: [f64; 2] = [0.25, 1.2];
/// Times in which the acceleration and the rate of rotation rise, in s.
const RAMPS: [f64; 2] = [0.1, 0.6];
/// Interval of frames, in s: a fast model takes it as its step, and averages the acceleration.
const FRAME: f64 = 5e-3;
/// Displacement of the centroid beyond which the drop slides, in m: it leans by up to 0.5 mm.
const SLIDES: f64 = 0.7e-3;

/// Acceleration that the retention withstands, in m/s².
fn critical() -> Result<f64, CaseError> {
    let [advancing, receding] = ANGLES.map(f64::to_radians);
    let shape = ShapeTable::shared().rest_shape(1e-9 * VOLUME, advancing, GRAVITY, &WATER).ok_or("no such drop")?;
    let held = WATER.surface_tension * 2.0 * shape.base_radius * (receding.cos() - advancing.cos());
    Ok(held / (WATER.density * 1e-9 * VOLUME))
}

/// Whether the drop keeps its place on the plate.
fn keeps(model: &str, motion: &str, time: f64, end: impl Fn(glam::DVec3) -> f64) -> Result<bool, CaseError> {
    let cap = cap_at(VOLUME, ANGLES[0], -DISTANCE, 0.0);
    let text = on_plane(model, &liquid(1000.0, 1.0, 73.0), ANGLES, 0.0, &cap);
    let text = text.replacen(
        "size = \"80 4000 mm\"\n",
        &format!("size = \"80 4000 mm\"\nmotion = [{motion}]\ninterpolation = \"smooth\"\n"),
        1,
    );
    let mut simulation = Simulation::new(&text)?;
    for _ in 0..(time / FRAME).round() as u32 {
        simulation.run(FRAME)?;
    }
    Ok(simulation.largest_drop().is_ok_and(|drop| end(drop.centroid) < SLIDES))
}

pub(super) fn accelerated(context: &CaseContext) -> Result<CaseResult, CaseError> {
    compare(context, "acceleration", |model, acceleration| {
        let place = |time: f64| 1e3 * acceleration * integral_of_ramp(time);
        let motion = keys(TIMES[0], |time| format!("move = \"{} 0 0 mm\"", place(time)));
        let at_end = 1e-3 * place(TIMES[0]);
        keeps(model, &motion, TIMES[0], |place| (place.x - at_end).abs())
    })
}

pub(super) fn rotated(context: &CaseContext) -> Result<CaseResult, CaseError> {
    compare(context, "centrifugal acceleration", |model, acceleration| {
        // The rate ω rises as slowly: the plate's own angular acceleration is small.
        let rate = (acceleration / (1e-3 * DISTANCE)).sqrt();
        let angle = |time: f64| {
            let ramp = RAMPS[1];
            let turn = rate * if time < ramp { 0.5 * time * time / ramp } else { time - 0.5 * ramp };
            turn.to_degrees()
        };
        let motion = keys(TIMES[1], |time| format!("rotate = \"0 {} 0 deg\"", angle(time)));
        keeps(model, &motion, TIMES[1], |place| place.with_y(0.0).length() - 1e-3 * DISTANCE)
    })
}

/// ∫∫ of an acceleration that rises from 0 to 1 within the first of [`RAMPS`].
fn integral_of_ramp(time: f64) -> f64 {
    let [ramp, _] = RAMPS;
    if time < ramp {
        return time.powi(3) / (6.0 * ramp);
    }
    let after = time - ramp;
    ramp * ramp / 6.0 + 0.5 * ramp * after + 0.5 * after * after
}

/// Keys of a motion, at every frame and once after the last.
fn keys(until: f64, pose: impl Fn(f64) -> String) -> String {
    let times = (0..=(until / FRAME).round() as u32 + 1).map(|key| FRAME * f64::from(key));
    times.map(|time| format!("{{ at = \"{time} s\", {} }}, ", pose(time))).collect()
}

fn compare(
    context: &CaseContext,
    what: &str,
    keeps: impl Fn(&str, f64) -> Result<bool, CaseError>,
) -> Result<CaseResult, CaseError> {
    let expected = critical()?;
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for (index, model) in FAST.iter().copied().enumerate() {
        (context.report)(model);
        let got = bisect_largest([0.5 * expected, 2.0 * expected], |acceleration| keeps(model, acceleration))?;
        let name = format!("{what} at which 20 µL start to slide, {model}");
        // Volumes go as the power 3/2 of the force.
        result.checks.push(Check::value(name, "m/s²", expected, got, Tolerance::Relative(OF_THRESHOLD * 2.0 / 3.0)));
        series.push(Series::new(model, Mark::Points, vec![(index as f64, got)]));
    }
    series.push(Series::new("retention over mass", Mark::Expected, vec![(0.0, expected), (1.0, expected)]));
    result.plots.push(Plot {
        title: format!("Largest {what} at which 20 µL on a plate of 90°/60° stay"),
        x: Axis::linear("model: 0 droplet, 1 pane"),
        y: Axis::linear("acceleration (m/s²)"),
        series,
    });
    Ok(result)
}
