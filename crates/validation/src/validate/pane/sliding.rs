//! Speed and paths of sliding drops.

use glam::DVec3;
use sessile_wetting::sliding;
use sessile_wetting::table::ShapeTable;

use super::simulation::{Angles, GRAVITY, Simulation, WATER, cap, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Weight along the slope over retention: above 2.4 impurities never cause a detour of 45°, so the
/// drop slides straight.
const FORCE_RATIO: f64 = 3.0;

/// Width of a drop at rest on a slope, in m; `volume` in m³.
fn width(volume: f64, advancing: f64, tilt: f64) -> Result<f64, CaseError> {
    let shape = ShapeTable::shared().rest_shape(volume, advancing, GRAVITY * tilt.cos(), &WATER);
    Ok(2.0 * shape.ok_or("no such drop at rest")?.base_radius)
}

/// The volume whose weight along the slope is [`FORCE_RATIO`] times its retention, in m³.
fn straight_sliding_volume(angles: Angles, tilt: f64) -> Result<f64, CaseError> {
    let law = angles.wetting();
    let mut volume = 10e-9;
    // Weight over retention scales about as V^⅔, so the error decreases tenfold per iteration.
    for _ in 0..20 {
        let held =
            WATER.surface_tension * width(volume, law.advancing, tilt)? * (law.receding.cos() - law.advancing.cos());
        let ratio = WATER.density * volume * GRAVITY * tilt.sin() / held;
        volume *= (FORCE_RATIO / ratio).powf(1.5);
    }
    Ok(volume)
}

pub(super) fn steady_speed(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Steady speed of drops whose weight is three times the retention force".into(),
        x: Axis::linear("tilt (°)"),
        y: Axis::linear("speed (m/s)"),
        series: Vec::new(),
    };
    for (color, angles) in [Angles::new(80.0, 58.0), Angles::new(113.0, 92.0)].into_iter().enumerate() {
        let law = angles.wetting();
        let steady = |volume: f64, tilt: f64| {
            let drive = WATER.density * volume * GRAVITY * tilt.sin();
            Ok::<f64, CaseError>(sliding::steady_speed(
                &WATER,
                &law,
                width(volume, law.advancing, tilt)?,
                drive,
                0.0,
                None,
            ))
        };
        let (mut found, mut curve) = (Vec::new(), Vec::new());
        for degrees in (0..=12).map(|step| 30.0 + 5.0 * f64::from(step)) {
            let tilt = f64::to_radians(degrees);
            curve.push((degrees, steady(straight_sliding_volume(angles, tilt)?, tilt)?));
        }
        for degrees in [30.0, 45.0, 60.0, 75.0, 90.0_f64] {
            (context.report)(&format!("{} at {degrees}°", angles.name()));
            let tilt = degrees.to_radians();
            let volume = straight_sliding_volume(angles, tilt)?;
            let up = [0.0, 1900.0 * tilt.sin(), -1900.0 * tilt.cos()];
            let slide = tilted("", degrees, [60.0, 4000.0], &angles.keys());
            let mut simulation = Simulation::new(&(slide + &cap(volume * 1e9, angles.advancing, up)))?;
            // Eight relaxation times of the slowest drop.
            simulation.run(2.0)?;
            let drop = simulation.drop(1)?.ok_or("it has left the slope")?;
            let (speed, expected) = (drop.velocity.length(), steady(drop.volume, tilt)?);
            // Remaining acceleration, and friction evaluated at the mean speed of a step.
            result.checks.push(Check::value(
                format!("{} at {degrees}°, {:.0} µL", angles.name(), volume * 1e9),
                "m/s",
                expected,
                speed,
                Tolerance::Relative(0.02),
            ));
            found.push((degrees, speed));
        }
        plot.series.push(Series::new(format!("{} law", angles.name()), Mark::Expected, curve).colored(color));
        plot.series.push(Series::new(format!("{} pane", angles.name()), Mark::Points, found).colored(color));
    }
    result.plots.push(plot);
    Ok(result)
}

/// Positions of a drop while it is on the pane, for at most 2 s.
fn path_of(simulation: &mut Simulation, id: u32) -> Result<Vec<DVec3>, CaseError> {
    let end = simulation.time() + 2.0;
    let mut path = Vec::new();
    while simulation.time() < end - 1e-6 {
        simulation.run(0.01)?;
        match simulation.drop(id)?.filter(|drop| drop.solid.is_some()) {
            Some(drop) => path.push(drop.frame.origin),
            None if path.is_empty() => {}
            // It has left the pane.
            None => {
                simulation.run(end - simulation.time())?;
            }
        }
    }
    Ok(path)
}

/// Paths of two drops that start 3 mm apart, one 2 s after the other; `None` if one of them stays
/// on the pane.
fn two_paths(memory: bool, seed: u32) -> Result<Option<[Vec<DVec3>; 2]>, CaseError> {
    let drip = |x: f64, start: f64| {
        format!(
            "[[emitters]]\nkind = \"drip\"\nat = \"{x} 37 5 mm\"\nradius = \"1.7 mm\"\nevery = \"100 s\"\n\
             velocity = \"0 0 -0.05 m/s\"\nstart = \"{start} s\"\n"
        )
    };
    let material = Angles::new(90.0, 60.0).keys() + if memory { "wet_advancing = \"62 deg\"" } else { "" };
    let scene = tilted(&format!("seed = {seed}"), 90.0, [40.0, 80.0], &material) + &drip(0.0, 0.0) + &drip(3.0, 2.0);
    let mut simulation = Simulation::new(&scene)?;
    let paths = [path_of(&mut simulation, 1)?, path_of(&mut simulation, 2)?];
    let both_leave = paths.iter().all(|path| path.last().is_some_and(|end| end.y < -0.03));
    Ok(both_leave.then_some(paths))
}

/// Mean lateral distance of two paths over the lower part of the pane, in m.
fn mean_gap([first, second]: &[Vec<DVec3>; 2]) -> f64 {
    let x_at = |path: &[DVec3], y: f64| {
        path.iter().min_by(|a, b| (a.y - y).abs().total_cmp(&(b.y - y).abs())).map_or(f64::NAN, |place| place.x)
    };
    (0..8).map(|i| -0.005 - 0.0035 * f64::from(i)).map(|y| (x_at(first, y) - x_at(second, y)).abs()).sum::<f64>() / 8.0
}

pub(super) fn wetting_history(context: &CaseContext) -> Result<CaseResult, CaseError> {
    const SEEDS: u32 = 8;
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Paths of two drops for one seed".into(),
        x: Axis::linear("across (mm)"),
        y: Axis::linear("up (mm)"),
        series: Vec::new(),
    };
    let mut mean_gaps = [0.0; 2];
    let mut num_at_bottom = 0;
    for (mean, memory) in mean_gaps.iter_mut().zip([true, false]) {
        let mut gaps = Vec::new();
        for seed in 1..=SEEDS {
            (context.report)(&format!("{} wetting history, seed {seed}", if memory { "with" } else { "without" }));
            let Some(paths) = two_paths(memory, seed)? else { continue };
            if gaps.is_empty() {
                let names = if memory {
                    ["with history: first", "with history: second"]
                } else {
                    ["without history: first", "without history: second"]
                };
                plot.series.extend(names.into_iter().zip(&paths).map(|(name, path)| {
                    Series::new(name, Mark::Line, path.iter().map(|place| (place.x * 1e3, place.y * 1e3)).collect())
                }));
            }
            gaps.push(mean_gap(&paths) * 1e3);
        }
        *mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        num_at_bottom += gaps.len();
    }
    let [with, without] = mean_gaps;
    // Straight down their weight is 1.3 times the retention force, so all slide.
    result.checks.push(Check::at_least(
        format!("pairs that reach the bottom, of {}", 2 * SEEDS),
        "",
        f64::from(2 * SEEDS),
        num_at_bottom as f64,
    ));
    // Half the initial distance.
    result.checks.push(Check::at_most("mean lateral distance with wetting history", "mm", 1.5, with));
    result.checks.push(Check::at_least("mean lateral distance without it", "mm", 2.0, without));
    result.checks.push(Check::at_least("ratio of both distances", "", 2.0, without / with));
    result.plots.push(plot);
    Ok(result)
}
