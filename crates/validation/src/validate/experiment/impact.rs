//! Drops that hit a plate.

use sessile_wetting::{cap, impact};

use super::{Axis, CaseContext, CaseError, CaseResult, Check, MODELS, Mark, Plot, Series, Simulation, Tolerance};
use super::{WATER, exponent, liquid, on_plane};

/// Diameter of all drops, in m.
const DIAMETER: f64 = 2e-3;
/// Time between two measurements, in s.
const INTERVAL: f64 = 2.5e-4;

/// A level plate with a drop that hits it at `speed` (in m/s).
pub(in crate::validate) fn hit(model: &str, angles: [f64; 2], speed: f64) -> Result<Simulation, CaseError> {
    // A micrometer above the plate.
    let ball = format!(
        "[[drops]]\ncenter = \"0 {} 0 m\"\nradius = \"{} m\"\nvelocity = \"0 {} 0 m/s\"\n",
        0.5 * DIAMETER + 1e-6,
        0.5 * DIAMETER,
        -speed
    );
    Simulation::new(&on_plane(model, &liquid(1000.0, 1.0, 73.0), angles, 0.0, &ball))
}

/// Time (in s) and base radius over the drop's radius, until `end` (in s).
fn history(model: &str, angles: [f64; 2], speed: f64, end: f64) -> Result<Vec<(f64, f64)>, CaseError> {
    let mut simulation = hit(model, angles, speed)?;
    let mut points = Vec::new();
    while simulation.time() < end - 1e-9 {
        simulation.run(INTERVAL)?;
        let drop = simulation.largest_drop()?;
        if drop.contacts.is_empty() && !points.is_empty() {
            // It has rebounded.
            break;
        }
        points.push((simulation.time(), 2.0 * drop.base_radius / DIAMETER));
    }
    Ok(points)
}

fn widest(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.1).fold(0.0, f64::max)
}

fn speed_at(weber: f64) -> f64 {
    (weber * WATER.surface_tension / (WATER.density * DIAMETER)).sqrt()
}

pub(super) fn maximal_spread(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let plates = [[30.0, 15.0], [60.0, 40.0], [75.0, 55.0], [90.0, 60.0], [120.0, 100.0], [150.0, 140.0]];
    let mut series = Vec::new();
    for model in MODELS {
        for (color, angles) in plates.into_iter().enumerate() {
            (context.report)(&format!("{model}, {}°", angles[0]));
            let mut points = Vec::new();
            for weber in [5.0, 15.0, 30.0, 70.0, 200.0] {
                let spread = widest(&history(model, angles, speed_at(weber), 8e-3)?);
                let reynolds = impact::reynolds(&WATER, DIAMETER, speed_at(weber));
                // A correlation below 1 is outside of its own range.
                let all = impact::correlations(weber, reynolds, angles[0].to_radians());
                let (low, high) =
                    all.into_iter().filter(|s| *s > 1.0).fold((f64::MAX, 0.0f64), |(l, h), s| (l.min(s), h.max(s)));
                // Correlations are stated to follow measurements within 10 to 15 %; the margins are
                // those of the reference solutions of `impact-2.5mm-1ms-90`.
                let name = format!("spread at We {weber}, {}°, {model}", angles[0]);
                result.checks.push(Check::range(name, "", 0.9 * low, 1.08 * high, spread));
                points.push((weber, spread));
            }
            if angles[0] == 150.0 {
                // A logarithmic plot over a decade and a half of We tells the exponent to 0.05.
                result.checks.push(Check::value(
                    format!("exponent of the spread over We, 15 to 200, 150°, {model}"),
                    "",
                    0.25,
                    exponent(&points[1..]),
                    Tolerance::Absolute(0.05),
                ));
            }
            if model == MODELS[0] {
                series.push(Series::new(format!("{}°", angles[0]), Mark::Points, points).colored(color));
            }
        }
        let spread = widest(&history(model, [75.0, 55.0], 1.6, 8e-3)?);
        result.checks.push(Check::range(format!("spread of 2 mm at 1.6 m/s on 75°, {model}"), "", 2.6, 3.65, spread));
    }
    series.push(Series::new("We^¼", Mark::Expected, [5.0f64, 200.0].map(|we| (we, we.powf(0.25))).to_vec()));
    result.plots.push(Plot {
        title: "Largest spread of drops of 2 mm over their diameter, droplet model".into(),
        x: Axis::log("We"),
        y: Axis::linear("largest spread over diameter"),
        series,
    });
    Ok(result)
}

pub(super) fn retraction(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let angles = [110.0, 100.0];
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for (color, model) in MODELS.into_iter().enumerate() {
        let mut rates = Vec::new();
        for weber in [30.0, 70.0, 150.0] {
            (context.report)(&format!("{model}, We {weber}"));
            let points = history(model, angles, speed_at(weber), 30e-3)?;
            let fastest = points.windows(2).map(|p| (p[0].1 - p[1].1) / INTERVAL).fold(0.0, f64::max);
            rates.push(fastest / widest(&points));
            if weber == 70.0 {
                let last = points.last().map_or(f64::NAN, |point| point.1);
                let volume = std::f64::consts::PI / 6.0 * DIAMETER.powi(3);
                let receding = 2.0 * cap::base_radius(volume, angles[1].to_radians()) / DIAMETER;
                // Under its weight the drop is 4 % wider than the cap; an angle to 5° is 5 % of the
                // radius.
                result.checks.push(Check::value(
                    format!("final radius over that at the receding angle, {model}"),
                    "",
                    1.0,
                    last / receding,
                    Tolerance::Relative(0.1),
                ));
            }
            let in_ms = points.iter().map(|(time, spread)| (1e3 * time, *spread)).collect();
            series.push(Series::new(format!("{model}, We {weber}"), Mark::Line, in_ms).colored(color));
        }
        let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(l, h), rate| (l.min(*rate), h.max(*rate)));
        // The rate is read off the steepest part of a curve of a few frames.
        result.checks.push(Check::at_most(
            format!("variation of the retraction rate with the speed of impact, {model}"),
            "",
            0.25,
            high / low - 1.0,
        ));
        result.checks.push(Check::shown(format!("retraction rate at We 70, {model}"), "1/s", rates[1]));
    }
    result.plots.push(Plot {
        title: "Spread and retraction of drops of 2 mm on 110°/100°".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("base diameter over diameter"),
        series,
    });
    Ok(result)
}

pub(super) fn early_spreading(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for model in MODELS {
        for (color, degrees) in [30.0, 90.0, 120.0].into_iter().enumerate() {
            (context.report)(&format!("{model}, {degrees}°"));
            let mut simulation = hit(model, [degrees, 0.7 * degrees], 0.0)?;
            // It falls the last micrometer first.
            simulation.run(4.6e-4)?;
            let mut points = Vec::new();
            let mut time = 0.0;
            for next in [0.1e-3, 0.2e-3, 0.4e-3, 0.8e-3] {
                simulation.run(next - time)?;
                time = next;
                points.push((1e3 * time, 1e3 * simulation.largest_drop()?.base_radius));
            }
            // Winkels et al. read the exponent to a few hundredths over two decades.
            result.checks.push(Check::value(
                format!("exponent of the wetted radius over time, {degrees}°, {model}"),
                "",
                0.5,
                exponent(&points),
                Tolerance::Absolute(0.05),
            ));
            if model == MODELS[0] {
                series.push(Series::new(format!("{degrees}°"), Mark::Points, points).colored(color));
            }
        }
    }
    result.plots.push(Plot {
        title: "Wetted radius of a drop of 2 mm that touches a plate, droplet model".into(),
        x: Axis::log("time (ms)"),
        y: Axis::log("wetted radius (mm)"),
        series,
    });
    Ok(result)
}
