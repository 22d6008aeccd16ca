//! Speeds of sliding drops.

use sessile_wetting::{Liquid, film};

use super::{Axis, CaseContext, CaseError, CaseResult, Check, MODELS, Mark, Plot, Series, Simulation, Tolerance};
use super::{cap_at, exponent, line, liquid, on_plane};
use crate::validate::common::{GRAVITY, bisect_largest};

/// Silicone oil on a fluoropolymer: density in kg/m³, viscosity in mm²/s, tension in mN/m, and the
/// contact angles in degrees.
const OIL: [f64; 3] = [935.0, 10.0, 20.1];
const OIL_ANGLES: [f64; 2] = [52.0, 46.0];
/// Volume of a drop of oil, in µL.
const OIL_VOLUME: f64 = 6.0;

/// A drop that slides on a plane.
struct Slide<'a> {
    model: &'a str,
    liquid: [f64; 3],
    angles: [f64; 2],
    /// In µL.
    volume: f64,
    /// In degrees.
    tilt: f64,
    /// Time after which the speed is measured, in s.
    after: f64,
}

/// Steady motion of a drop.
struct Steady {
    /// In m/s.
    speed: f64,
    /// Width of the footprint, in m.
    width: f64,
    /// Film left so far, in m³.
    film: f64,
}

impl Slide<'_> {
    fn run(&self) -> Result<Steady, CaseError> {
        let [density, viscosity, tension] = self.liquid;
        let cap = cap_at(self.volume, self.angles[0], 1500.0, self.tilt);
        let text = on_plane(self.model, &liquid(density, viscosity, tension), self.angles, self.tilt, &cap);
        let mut simulation = Simulation::new(&text)?;
        let width = 2.0 * simulation.largest_drop()?.base_radius;
        simulation.run(self.after)?;
        let start = simulation.largest_drop()?.centroid;
        let interval = 0.1 * self.after;
        simulation.run(interval)?;
        let speed = simulation.largest_drop()?.centroid.distance(start) / interval;
        Ok(Steady { speed, width, film: simulation.measures()?.film_volume })
    }
}

fn oil(model: &str, tilt: f64) -> Slide<'_> {
    Slide { model, liquid: OIL, angles: OIL_ANGLES, volume: OIL_VOLUME, tilt, after: 1.0 }
}

pub(super) fn silicone_oil(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let [density, viscosity, tension] = OIL;
    let (eta, gamma) = (density * viscosity * 1e-6, 1e-3 * tension);
    let bond = |tilt: f64| density * GRAVITY * tilt.to_radians().sin() * (1e-9 * OIL_VOLUME).powf(2.0 / 3.0) / gamma;
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    for (color, model) in MODELS.into_iter().enumerate() {
        (context.report)(model);
        let held = bisect_largest([2.0, 60.0], |tilt| Ok(oil(model, tilt).run()?.speed < 1e-5))?;
        let mut points = Vec::new();
        for share in [1.3, 1.6, 2.0, 2.5, 3.0] {
            let tilt = (share * held.to_radians().sin()).asin().to_degrees();
            points.push((bond(tilt), eta * oil(model, tilt).run()?.speed / gamma));
        }
        let (slope, intercept, determined) = line(&points);
        // Linear as far as a plot of points that scatter by a few per cent can show.
        result.checks.push(Check::at_least(format!("R² of a line through Ca over Bo, {model}"), "", 0.98, determined));
        // The scatter of a threshold on a real surface.
        result.checks.push(Check::value(
            format!("Bond number at which the line has no speed, over that of the threshold, {model}"),
            "",
            1.0,
            -intercept / slope / bond(held),
            Tolerance::Relative(0.1),
        ));
        let curve = vec![(-intercept / slope, 0.0), (points[4].0, slope * points[4].0 + intercept)];
        series.push(Series::new(format!("{model}, line"), Mark::Expected, curve).colored(color));
        series.push(Series::new(model, Mark::Points, points).colored(color));
        result.checks.push(pearls(model, gamma)?);
    }
    result.plots.push(Plot {
        title: "Capillary number of 6 µL of silicone oil over the Bond number along the plane".into(),
        x: Axis::linear("Bo sin α"),
        y: Axis::linear("Ca"),
        series,
    });
    Ok(result)
}

/// The least speed at which liquid is left behind, over the speed of a receding line.
///
/// The flanks of a rear corner of half angle φ recede at U sin φ; pearls follow the closing of the
/// corner to 60°, φ = 30°: U = 2U*.
fn pearls(model: &str, gamma: f64) -> Result<Check, CaseError> {
    let receding = OIL_ANGLES[1].to_radians();
    let oil_as_liquid = Liquid { density: OIL[0], viscosity: 1e-6 * OIL[1], surface_tension: gamma, ..Liquid::water() };
    let slowest = film::fastest_receding_speed(&oil_as_liquid, receding);
    // A heavier drop, so that the speed is reached below the vertical.
    let run = |tilt: f64| Slide { volume: 60.0, ..oil(model, tilt) }.run();
    let tilt = bisect_largest([5.0, 89.0], |tilt| Ok(run(tilt)?.film == 0.0))?;
    let onset = run(tilt)?.speed;
    // A corner of 60° that is read to 5° gives the ratio to 8 %.
    Ok(Check::value(
        format!("speed at which pearls begin, over that of a receding line, {model}"),
        "",
        2.0,
        onset / slowest,
        Tolerance::Relative(0.1),
    ))
}

pub(super) fn glycerol(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let angles = [100.0, 80.0];
    let mut result = CaseResult::default();
    let mut series = Vec::new();
    // Water, and 60 and 80 % of glycerol by mass (docs/wetting.md, "Liquids"), and glycerol.
    let liquids = [
        ("water", [1000.0, 1.0, 73.0], [20.0, 26.0]),
        ("60 % glycerol", [1154.0, 9.46, 68.0], [25.0, 40.0]),
        ("80 % glycerol", [1208.0, 50.4, 66.0], [30.0, 60.0]),
        ("glycerol", [1261.0, 1121.0, 63.5], [30.0, 60.0]),
    ];
    for (color, model) in MODELS.into_iter().enumerate() {
        let mut points = Vec::new();
        for (name, liquid, tilts) in liquids {
            (context.report)(&format!("{model}: {name}"));
            let after = if liquid[1] > 100.0 { 4.0 } else { 1.5 };
            let run = |tilt: f64| Slide { model, liquid, angles, volume: 30.0, tilt, after }.run();
            let (slow, fast) = (run(tilts[0])?, run(tilts[1])?);
            let weight = |tilt: f64| liquid[0] * 30e-9 * GRAVITY * tilt.to_radians().sin();
            let eta = 1e-6 * liquid[1] * liquid[0];
            let beta = (weight(tilts[1]) - weight(tilts[0]))
                / (0.5 * (slow.width + fast.width) * eta * (fast.speed - slow.speed));
            // The measured range of all pairs of liquid and solid.
            result.checks.push(Check::range(format!("β of {name}, {model}"), "", 20.0, 200.0, beta));
            result.checks.push(Check::at_most(format!("speed of {name}, {model}"), "m/s", 0.7, fast.speed));
            points.push((eta, fast.speed));
        }
        // Between 80 % and pure glycerol, at the same tilt; the weight per retention differs by 8
        // %.
        let of_viscosity = exponent(&points[2..]);
        result.checks.push(Check::value(
            format!("exponent of the speed over the viscosity, {model}"),
            "",
            -1.0,
            of_viscosity,
            Tolerance::Absolute(0.1),
        ));
        series.push(Series::new(model, Mark::Points, points).colored(color));
    }
    result.plots.push(Plot {
        title: "Speed of 30 µL over the viscosity".into(),
        x: Axis::log("viscosity (Pa s)"),
        y: Axis::log("speed (m/s)"),
        series,
    });
    Ok(result)
}
