//! Dew that grows drop by drop and then by coalescence.

use std::f64::consts::PI;

use sessile_wetting::dew::COVERAGE;
use sessile_wetting::{cap, table::ShapeTable};

use super::stage::{Angles, GRAVITY, Stage, WATER, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Sides of the pane, in mm.
const SIZE: [f64; 2] = [25.0, 25.0];
/// Condensed depth, in m, from which on drops live by coalescing: their radius is then twice that of a grain.
const COALESCING: f64 = 30e-6;

/// One look at the pane.
struct Look {
    /// Condensed, in m.
    depth: f64,
    /// Mean base radius of the family of large drops, in m.
    mean: f64,
    /// Share of the pane that the family covers.
    covered: f64,
    /// Mean base radius of all drops, in m, the grains included that have just condensed on ground laid bare by a merger.
    by_number: f64,
}

fn look(stage: &Stage, theta: f64) -> Look {
    let area = SIZE[0] * SIZE[1] * 1e-6;
    let frame = stage.frame();
    let radius =
        |volume| ShapeTable::shared().rest_shape(volume, theta, GRAVITY, &WATER).map(|shape| shape.base_radius);
    let all: Vec<f64> = frame.drops.iter().filter_map(|drop| radius(drop.volume)).collect();
    let sum = |radii: &[f64], power: i32| radii.iter().map(|radius| radius.powi(power)).sum::<f64>();
    // Water is in the family; between it and the grains lies a gap, so half its radius tells the two apart.
    let typical = sum(&all, 4) / sum(&all, 3);
    let family: Vec<f64> = all.iter().copied().filter(|&radius| radius > 0.5 * typical).collect();
    Look {
        depth: frame.balance.added / area,
        mean: sum(&family, 1) / family.len() as f64,
        covered: PI * sum(&family, 2) / area,
        by_number: sum(&all, 1) / all.len() as f64,
    }
}

/// Slope of ln y over ln x, by least squares.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let moment = |of: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>();
    moment(&|p| (p.0 - x) * (p.1 - y)) / moment(&|p| (p.0 - x).powi(2))
}

pub(super) fn growth(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let theta = 0.5 * PI;
    // Grains are 0.15 cells in radius. The rate only sets the clock: a level pane without wind moves nothing.
    let scene = tilted("", 0.0, SIZE, &Angles::new(90.0, 90.0).keys())
        + "[pane]\ncell = \"0.25 mm\"\n[[emitters]]\nkind = \"dew\"\non = \"pane\"\nrate = \"100 uL/m^2/s\"\n";
    let mut stage = Stage::new(&scene)?;
    let mut looks = Vec::new();
    // Depths from 0.3 µm to 0.3 mm, eight for every factor of ten; 1 s condenses 0.1 µm.
    for step in 0..=24 {
        let until = 3.0 * 10f64.powf(f64::from(step) / 8.0);
        stage.run(until - stage.time())?;
        looks.push(look(&stage, theta));
    }
    let law = |depth: f64| PI * depth / (COVERAGE * cap::volume_over_radius_cubed(theta));
    let late: Vec<(f64, f64)> =
        looks.iter().filter(|look| look.depth > 0.99 * COALESCING).map(|look| (look.depth, look.mean)).collect();
    let last = looks.last().ok_or("nobody looked")?;
    let mut result = CaseResult::default();
    // Over a factor of ten in depth, at whose start the pattern still remembers its grains.
    result.checks.push(Check::value(
        "exponent of growth, coalescing",
        "",
        1.0,
        exponent(&late),
        Tolerance::Absolute(0.15),
    ));
    // The law's covered share is itself unverified: a factor of two either way.
    result.checks.push(Check::range(
        "mean radius at 0.3 mm of water, over the law's",
        "",
        0.5,
        2.0,
        last.mean / law(last.depth),
    ));
    result.checks.push(Check::value(
        "share that large drops cover",
        "",
        COVERAGE,
        last.covered,
        Tolerance::Absolute(0.1),
    ));
    let points = |of: fn(&Look) -> f64| looks.iter().map(|look| (look.depth * 1e6, of(look) * 1e3)).collect();
    result.plots.push(Plot {
        title: "Mean base radius of dew drops over the condensed depth".into(),
        x: Axis::log("condensed depth (µm)"),
        y: Axis::log("base radius (mm)"),
        series: vec![
            Series::new("π e/(s g)", Mark::Expected, [8e-6, 3e-4].map(|e| (e * 1e6, law(e) * 1e3)).to_vec()),
            Series::new("large drops", Mark::Points, points(|look| look.mean)),
            Series::new("all, with new grains", Mark::Line, points(|look| look.by_number)),
        ],
    });
    Ok(result)
}
