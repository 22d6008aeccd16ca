//! What long runs and other time steps change: nothing to speak of.

use glam::DVec3;
use sessile_model::Model;

use super::motion::ring;
use super::stage::{Stage, cap, edge_for, material, plane};
use super::{CaseContext, CaseError, CaseResult, Check};

/// Simulated seconds of a minute.
const MINUTE: f64 = 60.0;

pub(super) fn minute(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let seconds = if context.quick { 2.0 } else { MINUTE };
    (context.say)(&format!("{seconds} s of sliding to and fro"));
    // The pane is turned over along x and back, four times a second, so that the drop never comes to rest.
    let mut gravity = String::from("[world]\ngravity = [");
    for k in 0..=(4.0 * seconds) as u32 {
        let side = if k % 2 == 0 { 1.0 } else { -1.0 };
        gravity += &format!("{{ at = \"{} s\", value = \"{} -7 0 m/s^2\" }}, ", 0.25 * f64::from(k), 7.0 * side);
    }
    gravity += "]\n";
    let tables = format!("{gravity}{}{}{}", material(95.0, 85.0), plane([0.0, 1.0, 0.0]), cap(20.0, 90.0, DVec3::ZERO));
    let mut stage = Stage::new("", &tables)?;
    let start = stage.model.drops()[0].mesh.volume();
    let (mut worst, mut way) = (0.0f64, 0.0);
    let mut place = stage.model.drops()[0].mesh.centroid();
    while stage.model.time() < seconds - 1e-6 {
        stage.run(0.05)?;
        let drop = stage.model.drops().first().ok_or("the drop is gone")?;
        worst = worst.max((drop.mesh.volume() / start - 1.0).abs());
        let now = drop.mesh.centroid();
        way += 1e3 * now.distance(std::mem::replace(&mut place, now));
    }
    Ok(CaseResult {
        checks: vec![
            Check::at_least("way to and fro", "mm", 2.0 * seconds, way),
            Check::at_most("drift of the enclosed volume, per minute", "%", 0.1, 100.0 * worst * MINUTE / seconds),
            Check::holds("it is one drop still", stage.model.drops().len() == 1),
        ],
        plots: Vec::new(),
    })
}

/// Height and base radius at rest, in mm, in steps of so many seconds at most.
fn rest(angle: f64, most: f64) -> Result<[f64; 2], CaseError> {
    let tables = format!(
        "[resolution]\nedge = \"{} mm\"\n{}{}{}",
        edge_for(2400.0, 25.0),
        material(angle, angle),
        plane([0.0, 1.0, 0.0]),
        cap(10.0, if angle > 80.0 { angle - 20.0 } else { angle + 20.0 }, DVec3::ZERO)
    );
    let mut stage = Stage::new("settle = true", &tables)?;
    stage.run_by(0.6, most)?;
    let drop = stage.only_drop()?;
    Ok([1e3 * drop.height, 1e3 * drop.base_radius])
}

/// Speed of 30 µL that have slid down an upright pane of 90°/60° for a while, in m/s.
fn slide(most: f64) -> Result<f64, CaseError> {
    let gravity = "[world]\ngravity = \"9.8 0 0 m/s^2\"\n";
    let tables = format!("{gravity}{}{}{}", material(90.0, 60.0), plane([0.0, 1.0, 0.0]), cap(30.0, 75.0, DVec3::ZERO));
    let mut stage = Stage::new("", &tables)?;
    stage.run_by(0.15, most)?;
    let before = stage.only_drop()?.centroid.x;
    stage.run_by(0.1, most)?;
    Ok((stage.only_drop()?.centroid.x - before) / 0.1)
}

pub(super) fn time_step(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let change = |one: f64, other: f64| 100.0 * (other / one - 1.0).abs();
    let angles: &[f64] = if context.quick { &[60.0] } else { &[60.0, 90.0, 120.0] };
    for &angle in angles {
        (context.say)(&format!("10 µL at rest at {angle}°"));
        let [one, other] = [rest(angle, 1.0 / 120.0)?, rest(angle, 1.0 / 240.0)?];
        for (what, k) in [("height", 0), ("base radius", 1)] {
            let name = format!("10 µL at {angle}°: {what} at 1/240 s against 1/120 s");
            result.checks.push(Check::at_most(name, "%", 0.1, change(one[k], other[k])));
        }
    }
    (context.say)("mode 2");
    let [one, half] = [ring(2, 1e-3)?.0, ring(2, 0.5e-3)?.0];
    result.checks.push(Check::at_most("mode 2: frequency at 0.5 ms against 1 ms", "%", 2.0, change(one, half)));
    let quarter = ring(2, 0.25e-3)?.0;
    result.checks.push(Check::at_most("mode 2: frequency at 0.25 ms against 0.5 ms", "%", 2.0, change(half, quarter)));
    (context.say)("sliding");
    let [one, half, quarter] = [slide(1e-3)?, slide(0.5e-3)?, slide(0.25e-3)?];
    result.checks.push(Check::shown("30 µL on an upright pane of 90°/60°: speed after 0.2 s", "m/s", one));
    result.checks.push(Check::at_most("the same at 0.5 ms against 1 ms", "%", 2.0, change(one, half)));
    result.checks.push(Check::at_most("the same at 0.25 ms against 0.5 ms", "%", 2.0, change(half, quarter)));
    Ok(result)
}
