//! Volume drift over long runs, and convergence with the time step.

use glam::DVec3;
use sessile_model::Model;

use super::motion::oscillate;
use super::simulation::{Simulation, cap, edge_for, material, plane};
use super::{CaseContext, CaseError, CaseResult, Check};

/// Simulated seconds of a minute.
const MINUTE: f64 = 60.0;

pub(super) fn volume_drift(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let seconds = if context.quick { 2.0 } else { MINUTE };
    (context.report)(&format!("{seconds} s of sliding back and forth"));
    // Gravity tilts along ±x four times a second, so that the drop never comes to rest.
    let mut gravity = String::from("[world]\ngravity = [");
    for k in 0..=(4.0 * seconds) as u32 {
        let side = if k % 2 == 0 { 1.0 } else { -1.0 };
        gravity += &format!("{{ at = \"{} s\", value = \"{} -7 0 m/s^2\" }}, ", 0.25 * f64::from(k), 7.0 * side);
    }
    gravity += "]\n";
    let tables = format!("{gravity}{}{}{}", material(95.0, 85.0), plane([0.0, 1.0, 0.0]), cap(20.0, 90.0, DVec3::ZERO));
    let mut simulation = Simulation::new("", &tables)?;
    let start = simulation.model.enclosed_volume();
    let (mut worst, mut length) = (0.0f64, 0.0);
    let mut place = simulation.only_drop()?.centroid;
    while simulation.model.time() < seconds - 1e-6 {
        simulation.run(0.05)?;
        worst = worst.max((simulation.model.enclosed_volume() / start - 1.0).abs());
        let now = simulation.drops()?.first().ok_or("the drop is gone")?.centroid;
        length += 1e3 * now.distance(std::mem::replace(&mut place, now));
    }
    Ok(CaseResult {
        checks: vec![
            Check::at_least("path length", "mm", 2.0 * seconds, length),
            Check::at_most("drift of the enclosed volume, per minute", "%", 0.1, 100.0 * worst * MINUTE / seconds),
            Check::holds("the drop has not split", simulation.model.num_drops()[0] == 1),
        ],
        plots: Vec::new(),
    })
}

/// Height and base radius at rest, in mm, with steps of at most `most` seconds.
fn rest(angle: f64, most: f64) -> Result<[f64; 2], CaseError> {
    let tables = format!(
        "[resolution]\nedge = \"{} mm\"\n{}{}{}",
        edge_for(2400.0, 25.0),
        material(angle, angle),
        plane([0.0, 1.0, 0.0]),
        cap(10.0, if angle > 80.0 { angle - 20.0 } else { angle + 20.0 }, DVec3::ZERO)
    );
    let mut simulation = Simulation::new("settle = true", &tables)?;
    simulation.run_by(0.6, most)?;
    let drop = simulation.only_drop()?;
    Ok([1e3 * drop.height, 1e3 * drop.base_radius])
}

/// Speed of 30 µL sliding down a vertical pane of 90°/60°, in m/s, with steps of at most `most`
/// seconds.
fn slide(most: f64) -> Result<f64, CaseError> {
    let gravity = "[world]\ngravity = \"9.8 0 0 m/s^2\"\n";
    let tables = format!("{gravity}{}{}{}", material(90.0, 60.0), plane([0.0, 1.0, 0.0]), cap(30.0, 75.0, DVec3::ZERO));
    let mut simulation = Simulation::new("", &tables)?;
    simulation.run_by(0.15, most)?;
    let before = simulation.only_drop()?.centroid.x;
    simulation.run_by(0.1, most)?;
    Ok((simulation.only_drop()?.centroid.x - before) / 0.1)
}

pub(super) fn time_step(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let change = |one: f64, other: f64| 100.0 * (other / one - 1.0).abs();
    let angles: &[f64] = if context.quick { &[60.0] } else { &[60.0, 90.0, 120.0] };
    for &angle in angles {
        (context.report)(&format!("10 µL at rest at {angle}°"));
        let [one, other] = [rest(angle, 1.0 / 120.0)?, rest(angle, 1.0 / 240.0)?];
        for (what, k) in [("height", 0), ("base radius", 1)] {
            let name = format!("10 µL at {angle}°: {what} at 1/240 s against 1/120 s");
            result.checks.push(Check::at_most(name, "%", 0.1, change(one[k], other[k])));
        }
    }
    (context.report)("mode 2");
    let [one, half] = [oscillate(2, 1e-3)?.0, oscillate(2, 0.5e-3)?.0];
    result.checks.push(Check::at_most("mode 2: frequency at 0.5 ms against 1 ms", "%", 2.0, change(one, half)));
    let quarter = oscillate(2, 0.25e-3)?.0;
    result.checks.push(Check::at_most("mode 2: frequency at 0.25 ms against 0.5 ms", "%", 2.0, change(half, quarter)));
    (context.report)("sliding");
    let [one, half, quarter] = [slide(1e-3)?, slide(0.5e-3)?, slide(0.25e-3)?];
    result.checks.push(Check::shown("30 µL on a vertical pane of 90°/60°: speed after 0.2 s", "m/s", one));
    result.checks.push(Check::at_most("speed at 0.5 ms against 1 ms", "%", 2.0, change(one, half)));
    result.checks.push(Check::at_most("speed at 0.25 ms against 0.5 ms", "%", 2.0, change(half, quarter)));
    Ok(result)
}
