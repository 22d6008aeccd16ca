//! What a fast drop leaves behind.

use sessile_wetting::film::{self, Ridge};
use sessile_wetting::table::ShapeTable;

use super::stage::{Angles, GRAVITY, Stage, WATER, cap, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Time between two looks at the drop, in s: it goes about half a cell.
const LOOK: f64 = 2e-3;
/// Looks after which film and law are compared.
const LOOKS: usize = 10;

/// Ordinary glass.
const GLASS: Angles = Angles { advancing: 50.0, receding: 15.0 };

/// Width and thickness of the film that a drop of a volume leaves at a speed on a glass wall, in m.
fn film_of(volume: f64, speed: f64) -> Result<(f64, f64), CaseError> {
    let glass = GLASS.wetting();
    let shape = ShapeTable::shared().rest_shape(volume, glass.advancing, 0.0, &WATER).ok_or("no such drop at rest")?;
    let width = film::trail_width(2.0 * shape.base_radius, speed, film::shedding_speed(&WATER, glass.receding));
    Ok((width, film::film_thickness(&WATER, speed, GRAVITY, std::f64::consts::FRAC_PI_2)))
}

/// What a drop left over some way, and what it should have.
struct Stretch {
    /// Where it ends, as way from the start, in m.
    end: f64,
    /// Film left per length, in m².
    left: f64,
    /// The law's, in m².
    law: f64,
    /// The law's beads per length, in 1/m.
    beads: f64,
}

/// Follows the drop for 0.6 s.
fn stretches(stage: &mut Stage) -> Result<Vec<Stretch>, CaseError> {
    let mut stretches = Vec::new();
    let mut last = stage.drop(1)?.ok_or("the drop is not there")?;
    let mut end = 0.0;
    for _ in 0..(0.6 / LOOK) as usize / LOOKS {
        let (mut way, mut left, mut law, mut beads) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..LOOKS {
            stage.run(LOOK)?;
            let now = stage.drop(1)?.ok_or("it has run off")?;
            let step = now.frame.origin.distance(last.frame.origin);
            let speed = 0.5 * (now.velocity.length() + last.velocity.length());
            let (width, thickness) = film_of(0.5 * (now.volume + last.volume), speed)?;
            way += step;
            left += last.volume - now.volume;
            law += width * thickness * step;
            if width > 0.0 {
                beads += step / Ridge::of_film(thickness, width, GLASS.wetting().receding).bead_spacing();
            }
            last = now;
        }
        end += way;
        stretches.push(Stretch { end, left: left / way, law: law / way, beads: beads / way });
    }
    Ok(stretches)
}

/// Mean volume of the beads between the third stretch and the last, once all film has drawn together, in m³.
fn mean_bead(stage: &mut Stage, start: f64, stretches: &[Stretch]) -> Result<f64, CaseError> {
    stage.run(1.5)?;
    let (from, to) = (stretches[2].end, stretches[stretches.len() - 1].end);
    let beads: Vec<f64> = stage
        .drops()?
        .iter()
        .filter(|drop| drop.drop != 1 && (from..to).contains(&(start - drop.frame.origin.y)))
        .map(|drop| drop.volume)
        .collect();
    if beads.is_empty() { Err("no bead has formed".into()) } else { Ok(beads.iter().sum::<f64>() / beads.len() as f64) }
}

pub(super) fn trail(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut plot = Plot {
        title: "Film left per length by drops on a glass wall".into(),
        x: Axis::linear("way (mm)"),
        y: Axis::linear("section of the film (mm²)"),
        series: Vec::new(),
    };
    for (color, volume) in [40.0, 60.0, 90.0].into_iter().enumerate() {
        (context.say)(&format!("{volume} µL"));
        let start = 100.0;
        let scene = tilted("", 90.0, [60.0, 240.0], &GLASS.keys()) + &cap(volume, GLASS.advancing, [0.0, start, 0.0]);
        let mut stage = Stage::new(&scene)?;
        let stretches = stretches(&mut stage)?;
        // The first stretches are where it gathers speed: the model leaves film at a segment's mean speed.
        let steady = &stretches[3..];
        let worst = steady.iter().map(|s| (s.left / s.law - 1.0).abs()).fold(0.0, f64::max);
        let mean = |of: fn(&Stretch) -> f64| steady.iter().map(of).sum::<f64>() / steady.len() as f64;
        // Both follow the drop's volume and speed, which fall on the way; what differs is how the steps are averaged.
        result.checks.push(Check::value(
            format!("{volume} µL: film left per length, mean"),
            "mm²",
            mean(|s| s.law) * 1e6,
            mean(|s| s.left) * 1e6,
            Tolerance::Relative(0.05),
        ));
        result.checks.push(Check::at_most(format!("{volume} µL: largest deviation on a stretch"), "", 0.05, worst));
        let points = |of: fn(&Stretch) -> f64| stretches.iter().map(|s| (s.end * 1e3, of(s) * 1e6)).collect();
        plot.series.push(Series::new(format!("{volume} µL, law"), Mark::Expected, points(|s| s.law)).colored(color));
        plot.series.push(Series::new(format!("{volume} µL, pane"), Mark::Points, points(|s| s.left)).colored(color));
        if volume == 40.0 {
            // Its beads are all light enough to stay where they form.
            let bead = mean_bead(&mut stage, start * 1e-3, &stretches)?;
            // Some six beads, each of whole cells and with a spacing that is rounded up to the next piece of film.
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
