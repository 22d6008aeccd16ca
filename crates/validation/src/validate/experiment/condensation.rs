//! Growth of dew.

use super::exponent;
use super::{Axis, CaseContext, CaseError, CaseResult, Check, MODELS, Mark, Plot, Series, Simulation};

/// A level plane of 8 mm far below the dew point of hot, moist air, so that hours pass in minutes.
fn scene(model: &str) -> String {
    format!(
        "model = \"{model}\"\n[time]\nduration = \"4000 s\"\nframe = \"1 s\"\n\
         [world]\nhumidity = 0.9\ntemperature = \"95 degC\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nreceding = \"80 deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"8 8 mm\"\ntemperature = \"60 degC\"\n"
    )
}

pub(super) fn growth(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    // In the pane model, whose grains are finer, the case takes more than minutes.
    for (color, model) in MODELS[..1].iter().copied().enumerate() {
        (context.report)(model);
        let mut simulation = Simulation::new(&scene(model))?;
        let mut points = Vec::new();
        for step in 2..=12 {
            let until = 10f64.powf(0.2 * f64::from(step));
            simulation.run(until - simulation.time())?;
            let drops = simulation.measures()?.drops;
            let sum = |power: i32| drops.iter().map(|drop| drop.base_radius.powi(power)).sum::<f64>();
            // Weighted by area, so that droplets that have just nucleated between large ones do not
            // count.
            points.push((until, 1e3 * sum(3) / sum(2)));
        }
        // Single drops: 0.23 (1986), 0.3 (1988), 1/3 (1991); coalescing: 0.75, 1, three times that
        // of single ones.
        let single = exponent(&points[..6]);
        let coalescing = exponent(&points[7..]);
        result.checks.push(Check::range(format!("exponent of single drops, {model}"), "", 0.23, 0.36, single));
        result.checks.push(Check::range(format!("exponent of coalescing drops, {model}"), "", 0.75, 1.05, coalescing));
        series.push(Series::new(model, Mark::Points, points).colored(color));
    }
    result.plots.push(Plot {
        title: "Mean radius of dew drops, weighted by area".into(),
        x: Axis::log("time (s)"),
        y: Axis::log("radius (mm)"),
        series,
    });
    Ok(result)
}
