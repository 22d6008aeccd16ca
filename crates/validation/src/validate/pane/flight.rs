//! Drops in free flight.

use super::simulation::{Angles, GRAVITY, Simulation, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// In m.
const RADIUS: f64 = 1e-3;
const HEIGHT: f64 = 20e-3;

pub(super) fn free_fall(_: &CaseContext) -> Result<CaseResult, CaseError> {
    const STEP: f64 = 2e-5;
    let scene = tilted("", 0.0, [40.0, 40.0], &Angles::new(90.0, 60.0).keys())
        + "[[drops]]\nshape = \"sphere\"\ncenter = \"0 21 0 mm\"\nradius = \"1 mm\"\n";
    let mut simulation = Simulation::new(&scene)?;
    let mut fall = Vec::new();
    let mut last = simulation.drop(1)?.ok_or("the ball is not there")?;
    while last.solid.is_none() {
        let gap = last.frame.origin.y - RADIUS;
        if gap > 2e-3 {
            fall.push((simulation.time() * 1e3, gap * 1e3));
        }
        if simulation.time() > 0.1 {
            return Err("it does not land".into());
        }
        let speed = last.velocity.length();
        // Longer steps far from the pane.
        simulation.run(if gap > 2e-3 { 50.0 * STEP } else { STEP })?;
        let now = simulation.drop(1)?.ok_or("it is gone")?;
        if now.solid.is_some() {
            fall.push((simulation.time() * 1e3, 0.0));
            let mut result = CaseResult::default();
            // Sampled every 20 µs, 0.03 % of the fall; the reference is exact.
            result.checks.push(Check::value(
                "time of landing",
                "ms",
                (2.0 * HEIGHT / GRAVITY).sqrt() * 1e3,
                simulation.time() * 1e3,
                Tolerance::Relative(5e-4),
            ));
            result.checks.push(Check::value(
                "speed before landing",
                "m/s",
                (2.0 * GRAVITY * HEIGHT).sqrt(),
                speed,
                Tolerance::Relative(5e-4),
            ));
            let law =
                (0..=64).map(f64::from).map(|t| (t, (HEIGHT - 0.5 * GRAVITY * (t * 1e-3).powi(2)).max(0.0) * 1e3));
            result.plots.push(Plot {
                title: "Height of the ball over the pane".into(),
                x: Axis::linear("time (ms)"),
                y: Axis::linear("height (mm)"),
                series: vec![
                    Series::new("pane", Mark::Points, fall),
                    Series::new("h − g t²/2", Mark::Expected, law.collect()),
                ],
            });
            return Ok(result);
        }
        last = now;
    }
    Err("it was on the pane from the start".into())
}
