//! Film that a fast sliding drop deposits.

use sessile_wetting::film::{self, Ridge};
use sessile_wetting::table::ShapeTable;

use super::simulation::{Angles, GRAVITY, Simulation, WATER, cap, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Sampling interval, in s: the drop slides about half a cell.
const INTERVAL: f64 = 2e-3;
/// Samples per path segment.
const SAMPLES: usize = 10;

/// Ordinary glass.
const GLASS: Angles = Angles { advancing: 50.0, receding: 15.0 };

/// Width and thickness of the film that a drop of a volume leaves at a speed on a glass wall, in m.
fn film_of(volume: f64, speed: f64) -> Result<(f64, f64), CaseError> {
    let glass = GLASS.wetting();
    let shape = ShapeTable::shared().rest_shape(volume, glass.advancing, 0.0, &WATER).ok_or("no such drop at rest")?;
    let width = film::trail_width(2.0 * shape.base_radius, speed, film::shedding_speed(&WATER, glass.receding));
    Ok((width, film::film_thickness(&WATER, speed, GRAVITY, std::f64::consts::FRAC_PI_2)))
}

/// Film deposited over a path segment, and the expected film.
struct Segment {
    /// Path length from the start to its end, in m.
    end: f64,
    /// Deposited film per length, in m².
    left: f64,
    /// Expected film per length, in m².
    law: f64,
    /// Expected beads per length, in 1/m.
    beads: f64,
}

/// Follows the drop for 0.6 s.
fn segments(simulation: &mut Simulation) -> Result<Vec<Segment>, CaseError> {
    let mut segments = Vec::new();
    let mut last = simulation.drop(1)?.ok_or("the drop is missing")?;
    let mut end = 0.0;
    for _ in 0..(0.6 / INTERVAL) as usize / SAMPLES {
        let (mut length, mut left, mut law, mut beads) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..SAMPLES {
            simulation.run(INTERVAL)?;
            let now = simulation.drop(1)?.ok_or("it has left the pane")?;
            let step = now.frame.origin.distance(last.frame.origin);
            let speed = 0.5 * (now.velocity.length() + last.velocity.length());
            let (width, thickness) = film_of(0.5 * (now.volume + last.volume), speed)?;
            length += step;
            left += last.volume - now.volume;
            law += width * thickness * step;
            if width > 0.0 {
                beads += step / Ridge::of_film(thickness, width, GLASS.wetting().receding).bead_spacing();
            }
            last = now;
        }
        end += length;
        segments.push(Segment { end, left: left / length, law: law / length, beads: beads / length });
    }
    Ok(segments)
}

/// Mean volume of the beads between the third segment and the last, once all film has collected, in
/// m³.
fn mean_bead(simulation: &mut Simulation, start: f64, segments: &[Segment]) -> Result<f64, CaseError> {
    simulation.run(1.5)?;
    let (from, to) = (segments[2].end, segments[segments.len() - 1].end);
    let beads: Vec<f64> = simulation
        .drops()?
        .iter()
        .filter(|drop| drop.drop != 1 && (from..to).contains(&(start - drop.frame.origin.y)))
        .map(|drop| drop.volume)
        .collect();
    if beads.is_empty() { Err("no bead has formed".into()) } else { Ok(beads.iter().sum::<f64>() / beads.len() as f64) }
}

pub(super) fn loss_per_length(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Film deposited per length by drops on a glass wall".into(),
        x: Axis::linear("path length (mm)"),
        y: Axis::linear("cross section of the film (mm²)"),
        series: Vec::new(),
    };
    for (color, volume) in [40.0, 60.0, 90.0].into_iter().enumerate() {
        (context.report)(&format!("{volume} µL"));
        let start = 100.0;
        let scene = tilted("", 90.0, [60.0, 240.0], &GLASS.keys()) + &cap(volume, GLASS.advancing, [0.0, start, 0.0]);
        let mut simulation = Simulation::new(&scene)?;
        let segments = segments(&mut simulation)?;
        // The first segments, in which the drop accelerates, are left out: the model deposits film
        // at the mean speed of a step.
        let steady = &segments[3..];
        let worst = steady.iter().map(|s| (s.left / s.law - 1.0).abs()).fold(0.0, f64::max);
        let mean = |of: fn(&Segment) -> f64| steady.iter().map(of).sum::<f64>() / steady.len() as f64;
        // Both follow the decreasing volume and speed of the drop; only the averaging over steps
        // differs.
        result.checks.push(Check::value(
            format!("{volume} µL: mean film volume per length"),
            "mm²",
            mean(|s| s.law) * 1e6,
            mean(|s| s.left) * 1e6,
            Tolerance::Relative(0.05),
        ));
        result.checks.push(Check::at_most(format!("{volume} µL: largest deviation on a segment"), "", 0.05, worst));
        let points = |of: fn(&Segment) -> f64| segments.iter().map(|s| (s.end * 1e3, of(s) * 1e6)).collect();
        plot.series.push(Series::new(format!("{volume} µL, law"), Mark::Expected, points(|s| s.law)).colored(color));
        plot.series.push(Series::new(format!("{volume} µL, pane"), Mark::Points, points(|s| s.left)).colored(color));
        if volume == 40.0 {
            // Its beads are small enough to stay where they form.
            let bead = mean_bead(&mut simulation, start * 1e-3, &segments)?;
            // About six beads, each of whole cells, with a spacing rounded up to the next segment
            // of film.
            result.checks.push(Check::value(
                format!("{volume} µL: mean volume of a bead"),
                "µL",
                mean(|s| s.law) / mean(|s| s.beads) * 1e9,
                bead * 1e9,
                Tolerance::Relative(0.5),
            ));
        }
    }
    result.plots.push(plot);
    Ok(result)
}
