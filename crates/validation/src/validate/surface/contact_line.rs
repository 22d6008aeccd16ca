//! Pinned, advancing and receding contact lines.

use glam::DVec3;
use sessile_wetting::young_laplace::sessile;

use super::simulation::{GRAVITY, Simulation, WATER, cap, material, plane, sphere};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn retention(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let gravity = "[world]\ngravity = [{ at = \"0 s\", value = \"0 -9.8 0 m/s^2\" }, { at = \"0.3 s\", value = \"9.8 0 0 m/s^2\" }]\n";
    for (volume, slides) in [(5.0, false), (8.0, false), (30.0, true)] {
        (context.report)(&format!("{volume} µL"));
        let tables =
            format!("{gravity}{}{}{}", material(90.0, 60.0), plane([0.0, 1.0, 0.0]), cap(volume, 75.0, DVec3::ZERO));
        let mut simulation = Simulation::new("", &tables)?;
        simulation.run(0.5)?;
        let before = simulation.only_drop()?.centroid.x;
        simulation.run(if slides { 0.2 } else { 1.0 })?;
        let moved = 1e3 * (simulation.only_drop()?.centroid.x - before);
        result.checks.push(if slides {
            Check::at_least(format!("{volume} µL: displacement in 0.2 s"), "mm", 10.0, moved)
        } else {
            Check::at_most(format!("{volume} µL: displacement in 1 s"), "mm", 1e-3, moved.abs())
        });
    }
    Ok(result)
}

pub(super) fn hysteresis_cycle(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let capillary = WATER.capillary_length(GRAVITY);
    let feed = |rate: f64, from: f64, to: f64| {
        format!(
            "[[emitters]]\nkind = \"feed\"\nat = \"0 0.2 0 mm\"\nrate = \"{rate} uL/s\"\nstart = \"{from} s\"\nstop = \"{to} s\"\n"
        )
    };
    let tables = format!(
        "[resolution]\nedge = \"0.2 mm\"\n{}{}{}{}{}",
        material(90.0, 40.0),
        plane([0.0, 1.0, 0.0]),
        cap(2.0, 80.0, DVec3::ZERO),
        feed(40.0, 0.0, 0.45),
        feed(-20.0, 0.6, 1.4)
    );
    let mut simulation = Simulation::new("", &tables)?;
    (context.report)("growing");
    simulation.run(0.6)?;
    let grown = simulation.only_drop()?;
    let exact = sessile(20e-9, f64::to_radians(90.0), capillary).ok_or("no such drop")?;
    (context.report)("draining");
    let mut depinned = None;
    while simulation.model.num_drops()[0] == 1 && simulation.model.volume() > 4.2e-9 {
        simulation.run(0.01)?;
        let drop = simulation.only_drop()?;
        if drop.base_radius < 0.98 * grown.base_radius {
            depinned = Some(drop.volume);
            break;
        }
    }
    // The volume of the drop at 40° with 0.98 of that base radius.
    let (mut low, mut high) = (1e-9, 20e-9);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        let base = sessile(middle, f64::to_radians(40.0), capillary).ok_or("no such drop")?.base_radius;
        if base < 0.98 * exact.base_radius { low = middle } else { high = middle }
    }
    Ok(CaseResult {
        checks: vec![
            Check::value(
                "base radius of 20 µL at the end of growth",
                "mm",
                1e3 * exact.base_radius,
                1e3 * grown.base_radius,
                Tolerance::Relative(0.02),
            ),
            Check::value(
                "volume when the base has shrunk by 2 %",
                "µL",
                1e9 * low,
                1e9 * depinned.ok_or("the contact line never depinned")?,
                Tolerance::Relative(0.12),
            ),
        ],
        plots: Vec::new(),
    })
}

pub(super) fn impact(context: &CaseContext) -> Result<CaseResult, CaseError> {
    (context.report)("2.5 mm at 1 m/s");
    let tables = format!(
        "[resolution]\nedge = \"0.1 mm\"\n{}{}{}",
        material(90.0, 90.0),
        plane([0.0, 1.0, 0.0]),
        sphere(1.25, DVec3::new(0.0, 1.26, 0.0), DVec3::new(0.0, -1.0, 0.0))
    );
    let mut simulation = Simulation::new("", &tables)?;
    let mut widest: f64 = 0.0;
    for _ in 0..20 {
        simulation.run(0.5e-3)?;
        let [low, high] = simulation.only_drop()?.bounds;
        widest = widest.max((high.x - low.x) / 2.5e-3);
    }
    // Four fifths of the lower bound of the correlations, and their upper bound.
    Ok(CaseResult {
        checks: vec![Check::range("maximum spread over the initial diameter", "", 0.8 * 2.14, 3.07, widest)],
        plots: Vec::new(),
    })
}
