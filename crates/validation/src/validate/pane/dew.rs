//! Growth of dew by condensation and coalescence.

use std::f64::consts::PI;

use sessile_wetting::dew::COVERAGE;
use sessile_wetting::{cap, table::ShapeTable};

use super::simulation::{Angles, GRAVITY, Simulation, WATER, tilted};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Sides of the pane, in mm.
const SIZE: [f64; 2] = [25.0, 25.0];
/// Condensed depth, in m, from which drops grow by coalescence: their radius is then twice that of
/// new droplets.
const COALESCING: f64 = 30e-6;

/// Statistics of the drops at one time.
struct Sample {
    /// Condensed depth, in m.
    depth: f64,
    /// Mean base radius of the large drops, in m.
    mean: f64,
    /// Fraction of the pane that the large drops cover.
    covered: f64,
    /// Mean base radius of all drops, in m, including droplets newly condensed on area uncovered by
    /// coalescence.
    by_number: f64,
}

fn sample(simulation: &Simulation, theta: f64) -> Sample {
    let area = SIZE[0] * SIZE[1] * 1e-6;
    let frame = simulation.frame();
    let radius =
        |volume| ShapeTable::shared().rest_shape(volume, theta, GRAVITY, &WATER).map(|shape| shape.base_radius);
    let all: Vec<f64> = frame.drops.iter().filter_map(|drop| radius(drop.volume)).collect();
    let sum = |radii: &[f64], power: i32| radii.iter().map(|radius| radius.powi(power)).sum::<f64>();
    // Most water is in the large drops; the size distribution has a gap below them, so half their
    // radius separates both.
    let typical = sum(&all, 4) / sum(&all, 3);
    let large: Vec<f64> = all.iter().copied().filter(|&radius| radius > 0.5 * typical).collect();
    Sample {
        depth: frame.balance.added / area,
        mean: sum(&large, 1) / large.len() as f64,
        covered: PI * sum(&large, 2) / area,
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
    // New droplets have a radius of 0.15 cells. The rate only sets the time scale: on a level pane
    // nothing slides.
    let scene = tilted("", 0.0, SIZE, &Angles::new(90.0, 90.0).keys())
        + "[pane]\ncell = \"0.25 mm\"\n[[emitters]]\nkind = \"dew\"\non = \"pane\"\nrate = \"100 uL/m^2/s\"\n";
    let mut simulation = Simulation::new(&scene)?;
    let mut samples = Vec::new();
    // Depths from 0.3 µm to 0.3 mm, eight for every factor of ten; 1 s condenses 0.1 µm.
    for step in 0..=24 {
        let until = 3.0 * 10f64.powf(f64::from(step) / 8.0);
        simulation.run(until - simulation.time())?;
        samples.push(sample(&simulation, theta));
    }
    let law = |depth: f64| PI * depth / (COVERAGE * cap::volume_over_radius_cubed(theta));
    let late: Vec<(f64, f64)> = samples
        .iter()
        .filter(|sample| sample.depth > 0.99 * COALESCING)
        .map(|sample| (sample.depth, sample.mean))
        .collect();
    let last = samples.last().ok_or("no samples")?;
    let mut result = CaseResult::default();
    // Over a factor of ten in depth, at the start of which the pattern still depends on the initial
    // droplets.
    result.checks.push(Check::value(
        "exponent of growth, coalescing",
        "",
        1.0,
        exponent(&late),
        Tolerance::Absolute(0.15),
    ));
    // The coverage in the law is itself unverified: a factor of two.
    result.checks.push(Check::range(
        "mean radius at 0.3 mm of water, over the law's",
        "",
        0.5,
        2.0,
        last.mean / law(last.depth),
    ));
    result.checks.push(Check::value(
        "coverage of the large drops",
        "",
        COVERAGE,
        last.covered,
        Tolerance::Absolute(0.1),
    ));
    let points = |of: fn(&Sample) -> f64| samples.iter().map(|sample| (sample.depth * 1e6, of(sample) * 1e3)).collect();
    result.plots.push(Plot {
        title: "Mean base radius of dew drops over the condensed depth".into(),
        x: Axis::log("condensed depth (µm)"),
        y: Axis::log("base radius (mm)"),
        series: vec![
            Series::new("π e/(s g)", Mark::Expected, [8e-6, 3e-4].map(|e| (e * 1e6, law(e) * 1e3)).to_vec()),
            Series::new("large drops", Mark::Points, points(|sample| sample.mean)),
            Series::new("all, with new droplets", Mark::Line, points(|sample| sample.by_number)),
        ],
    });
    Ok(result)
}
