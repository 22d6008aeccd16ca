//! Drop impact, and the volume balance of a run with sources and losses.

use glam::DVec3;

use super::simulation::{Basics, material, plane};
use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, quick, validation};

pub(super) fn cases() -> Vec<Case> {
    vec![
        validation(
            "impact-2.5mm-1ms-90",
            "A drop of 2.5 mm diameter hits a dry plate of 90° at 1 m/s. Expected: a maximum spread within the range of published \
             correlations of measurements.",
            impact,
        ),
        validation("impact-recoil-150", "The same on 150°. Expected: it spreads, recoils and beads up.", recoil),
        quick(
            "volume-balance",
            "Drops fall on a slope, merge, slide and leave. Expected: added = present + lost, to 1e-3.",
            balance,
        ),
    ]
}

/// A sphere of 2.5 mm diameter hits a plate of `degrees` at 1 m/s: spread over its diameter, by
/// time.
fn spread(context: &CaseContext, degrees: f64, time: f64) -> Result<Vec<(f64, f64)>, CaseError> {
    let diameter = 2.5e-3;
    let cell = diameter / if context.quick { 16.0 } else { 24.0 };
    // A quick validation simulates a quarter between symmetry planes.
    let domain = if context.quick {
        "[domain]\nmin = \"0 -2 0 mm\"\nmax = \"8 6 8 mm\"\nx = \"symmetry\"\nz = \"symmetry\"\n"
    } else {
        ""
    };
    let ball = format!(
        "[[drops]]\ncenter = \"0 {} 0 m\"\nradius = \"{} m\"\nvelocity = \"0 -1 0 m/s\"\n",
        0.5 * diameter + 0.2e-3,
        0.5 * diameter
    );
    let text = format!("{domain}{}{}{ball}", material(degrees, degrees), plane(DVec3::Y));
    let mut simulation = Basics::new(cell).simulation(&text)?;
    let mut points = Vec::new();
    while simulation.time() < time - 1e-6 {
        simulation.run(2.5e-4)?;
        let drop = simulation.largest_drop()?;
        let reach = drop.bounds[1].x.max(if context.quick { 0.0 } else { -drop.bounds[0].x });
        points.push((1e3 * simulation.time(), 2.0 * reach / diameter));
    }
    Ok(points)
}

fn impact(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let points = spread(context, 90.0, 6e-3)?;
    let most = points.iter().map(|(_, spread)| *spread).fold(0.0, f64::max);
    let checks = vec![Check::range("maximum spread over the diameter", "", 2.137_67, 3.065_62, most)];
    let plot = Plot {
        title: "Spread of a drop on a plate of 90°".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("spread over diameter"),
        series: vec![Series::new("volume", Mark::Line, points)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

fn recoil(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let points = spread(context, 150.0, 14e-3)?;
    let most = points.iter().map(|(_, spread)| *spread).fold(0.0, f64::max);
    let last = points.last().map_or(f64::NAN, |(_, spread)| *spread);
    let checks = vec![
        Check::range("maximum spread over the diameter", "", 1.7, 2.8, most),
        Check::at_most("final spread over the diameter (it has beaded up)", "", 1.4, last),
    ];
    let plot = Plot {
        title: "Spread of a drop on a plate of 150°".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::linear("spread over diameter"),
        series: vec![Series::new("volume", Mark::Line, points)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

/// Drops fall on a slope, slide and leave: added = present + lost.
fn balance(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let cell = if context.quick { 0.2e-3 } else { 0.13e-3 };
    let text = format!(
        "{}[domain]\nmin = \"-6 -8 -4 mm\"\nmax = \"3 8 4 mm\"\n{}\
         [[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"4 uL\"\ncontact_angle = \"80 deg\"\n\
         [[drops]]\ncenter = \"1 4.5 -2 mm\"\nradius = \"0.9 mm\"\nvelocity = \"0.3 0.1 0 m/s\"\n\
         [[emitters]]\nkind = \"drip\"\nat = \"-1 4 0.2 mm\"\nradius = \"1.3 mm\"\nevery = \"15 ms\"\nvelocity = \"0 -0.4 0 m/s\"\nstop = \"40 ms\"\n",
        material(95.0, 85.0),
        plane(DVec3::new(1.0, 1.0, 0.0).normalize())
    );
    let mut simulation = Basics::new(cell).simulation(&text)?;
    let (mut worst, mut most_lost) = (0.0f64, 0.0f64);
    let mut last_account: Vec<(u32, f64)> = Vec::new();
    let mut worst_drift = 0.0f64;
    for _ in 0..if context.quick { 16 } else { 60 } {
        let events = simulation.run(2.5e-3)?;
        let measures = simulation.measures()?;
        let sum: f64 = measures.drops.iter().map(|drop| drop.volume).sum();
        let off = (sum + measures.lost_volume - measures.added_volume).abs() / measures.added_volume;
        worst = worst.max(off);
        most_lost = measures.lost_volume;
        // Between merges, splits and losses the volume of a drop must not change.
        for drop in &measures.drops {
            let before = last_account.iter().find(|(id, _)| *id == drop.id);
            if let Some((_, before)) = before.filter(|_| events.is_empty() && measures.lost_volume == 0.0) {
                worst_drift = worst_drift.max((drop.volume / before - 1.0).abs());
            }
        }
        last_account = measures.drops.iter().map(|drop| (drop.id, drop.volume)).collect();
    }
    let checks = vec![
        Check::at_most("largest relative imbalance of present + lost and added", "", 1e-3, worst),
        Check::at_most(
            "largest change of a drop's volume between frames without merge or split",
            "",
            1e-3,
            worst_drift,
        ),
        Check::at_least("lost at the end", "µL", 1.0, 1e9 * most_lost),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}
