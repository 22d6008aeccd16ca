//! Cases of the exact solutions that models are compared with: limits, balances, independent
//! values.
//!
//! The solutions are computed by integration and root search, and need verification themselves.
//! Each case has an independent answer: a closed form at one end of the range, a balance of forces
//! that the solver does not use, or a value from another solver.

use std::f64::consts::PI;

use sessile_wetting::{cap, pendant, young_laplace};

use super::common::{GRAVITY, WATER};
use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Surface tension in N/m, density in kg/m³, gravity in m/s².
const GAMMA: f64 = WATER.surface_tension;
const RHO: f64 = WATER.density;
const G: f64 = GRAVITY;

/// Cases of the exact solutions.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "sessile-drop-limits",
            model: "theory",
            kind: CaseKind::Verification,
            quick: true,
            about: "A drop much smaller than the capillary length is a spherical cap; a puddle much wider than it is 2 l_c sin(θ/2) high. \
                    Expected: the Young–Laplace solver approaches both.",
            run: sessile_limits,
        },
        Case {
            name: "sessile-drop-balance",
            model: "theory",
            kind: CaseKind::Verification,
            quick: true,
            about: "Weight and surface tension at the contact line balance the pressure on the wetted disc: \
                    ρgV + 2πRγ sin θ = πR²(p + ρgh), p the excess pressure at the apex. A planar drop cut along its middle balances too: \
                    γ(1 − cos θ) = ph + ρgh²/2. The solver uses neither.",
            run: sessile_balance,
        },
        Case {
            name: "sessile-drop-reference",
            model: "theory",
            kind: CaseKind::Verification,
            quick: true,
            about: "Heights, base radii and areas of water drops at rest, against values from an independent solver, which are given \
                    to six digits.",
            run: sessile_reference,
        },
        Case {
            name: "pendant-drop-limits",
            model: "theory",
            kind: CaseKind::Verification,
            quick: true,
            about: "The largest drop from a very narrow tip is 2πrγ/ρg (Tate's law), less from wider ones. Under a level plane the largest \
                    drop at 90° and a smaller one are compared with an independent solver.",
            run: pendant_limits,
        },
    ]
}

fn capillary_length() -> f64 {
    WATER.capillary_length(GRAVITY)
}

fn sessile(volume: f64, theta: f64, capillary_length: f64) -> Result<young_laplace::Profile, CaseError> {
    young_laplace::sessile(volume, theta, capillary_length)
        .ok_or_else(|| format!("no sessile drop of {volume} m³ at {:.0}°", theta.to_degrees()).into())
}

fn sessile_limits(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let l = capillary_length();
    let mut result = CaseResult::default();
    for degrees in [10.0f64, 60.0, 90.0, 150.0] {
        let theta = degrees.to_radians();
        // A Bond number of 1e-6: gravity changes the cap by about that.
        let volume = (1e-3 * l).powi(3);
        let (small, radius) = (sessile(volume, theta, l)?, cap::base_radius(volume, theta));
        let tolerance = Tolerance::Relative(1e-5);
        result.checks.push(Check::value(
            format!("small drop's height at {degrees}°"),
            "m",
            cap::height(radius, theta),
            small.height,
            tolerance,
        ));
        result.checks.push(Check::value(
            format!("small drop's base radius at {degrees}°"),
            "m",
            radius,
            small.base_radius,
            tolerance,
        ));
        // The height differs from the limit by about l_c/R of itself, here 1/4000 at most.
        let puddle = sessile(1e8 * l.powi(3), theta, l)?;
        let height = 2.0 * l * (0.5 * theta).sin();
        result.checks.push(Check::value(
            format!("puddle's height at {degrees}°"),
            "m",
            height,
            puddle.height,
            Tolerance::Relative(1e-3),
        ));
    }
    result.plots.push(height_over_volume(l)?);
    Ok(result)
}

/// Height of water drops at 90° over their volume, between the two limits.
fn height_over_volume(l: f64) -> Result<Plot, CaseError> {
    let theta = 0.5 * PI;
    let volumes: Vec<f64> = (0..=60).map(|i| 1e-10 * 10f64.powf(f64::from(i) / 10.0)).collect();
    let solver = volumes
        .iter()
        .map(|&v| Ok((v * 1e9, sessile(v, theta, l)?.height * 1e3)))
        .collect::<Result<Vec<_>, CaseError>>()?;
    let puddle = 2.0 * l * (0.5 * theta).sin() * 1e3;
    let caps = volumes.iter().map(|&v| (v * 1e9, cap::height(cap::base_radius(v, theta), theta) * 1e3));
    Ok(Plot {
        title: "Height of a water drop at 90° over its volume".into(),
        x: Axis::log("volume (µL)"),
        y: Axis::linear("height (mm)"),
        series: vec![
            Series::new("Young–Laplace", Mark::Line, solver),
            Series::new("spherical cap", Mark::Expected, caps.filter(|point| point.1 < 1.5 * puddle).collect()),
            Series::new("puddle", Mark::Expected, vec![(0.1, puddle), (1e5, puddle)]),
        ],
    })
}

fn sessile_balance(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let l = capillary_length();
    let mut result = CaseResult::default();
    let mut errors = Vec::new();
    for degrees in [20.0f64, 90.0, 160.0] {
        let (theta, mut worst, mut worst_planar) = (degrees.to_radians(), 0.0f64, 0.0f64);
        let mut series = Vec::new();
        for exponent in -9..=9 {
            let volume = l.powi(3) * 10f64.powf(f64::from(exponent) / 3.0);
            let drop = sessile(volume, theta, l)?;
            let (disc, rim) = (PI * drop.base_radius.powi(2), 2.0 * PI * drop.base_radius);
            let down = RHO * G * volume + rim * GAMMA * theta.sin();
            let up = disc * (GAMMA * drop.apex_curvature + RHO * G * drop.height);
            let error = (up / down - 1.0).abs();
            series.push((volume * 1e9, error.max(1e-17)));
            worst = worst.max(error);

            let planar = young_laplace::sessile_planar(volume.cbrt().powi(2), theta, l).ok_or("no planar drop")?;
            let sides = GAMMA * planar.apex_curvature * planar.height + 0.5 * RHO * G * planar.height.powi(2);
            worst_planar = worst_planar.max((sides / (GAMMA * (1.0 - theta.cos())) - 1.0).abs());
        }
        // The integration tolerance is 1e-12 per step; some digits are lost in the sum and in the
        // root search.
        result.checks.push(Check::at_most(format!("largest relative imbalance at {degrees}°"), "", 1e-7, worst));
        result.checks.push(Check::at_most(
            format!("largest relative imbalance, planar, at {degrees}°"),
            "",
            1e-7,
            worst_planar,
        ));
        errors.push(Series::new(format!("{degrees}°"), Mark::Points, series));
    }
    result.plots.push(Plot {
        title: "Relative imbalance of forces over volume".into(),
        x: Axis::log("volume (µL)"),
        y: Axis::log("relative imbalance"),
        series: errors,
    });
    Ok(result)
}

/// Volume in µL, angle in degrees, height and base radius in mm, liquid–air area in mm².
const REFERENCE: [(f64, f64, f64, f64, f64); 6] = [
    (4.0, 60.0, 0.890_91, 1.598_84, 10.5808),
    (4.0, 90.0, 1.204_73, 1.261_14, 9.675_71),
    (4.0, 120.0, 1.499_72, 0.942_071, 10.1296),
    (30.0, 60.0, 1.628_49, 3.209_55, 41.4264),
    (30.0, 90.0, 2.190_16, 2.566_62, 37.2323),
    (30.0, 150.0, 3.012_2, 1.463_74, 41.2864),
];

fn sessile_reference(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (microliters, degrees, height, base_radius, area) in REFERENCE {
        let drop = sessile(microliters * 1e-9, degrees.to_radians(), capillary_length())?;
        // Half a unit of the last digit given is up to 6e-6 of the value.
        let tolerance = Tolerance::Relative(1e-5);
        let name = format!("{microliters} µL at {degrees}°");
        result.checks.push(Check::value(format!("{name}: height"), "mm", height, drop.height * 1e3, tolerance));
        result.checks.push(Check::value(
            format!("{name}: base radius"),
            "mm",
            base_radius,
            drop.base_radius * 1e3,
            tolerance,
        ));
        result.checks.push(Check::value(format!("{name}: surface area"), "mm²", area, drop.air_area * 1e6, tolerance));
    }
    Ok(result)
}

fn pendant_limits(_: &CaseContext) -> Result<CaseResult, CaseError> {
    let l = capillary_length();
    let mut result = CaseResult::default();
    let fraction_of_tate = |radius: f64| {
        let volume = pendant::pendant_max_volume_pinned(radius, l).ok_or("no largest drop")?;
        Ok::<f64, CaseError>(volume / (2.0 * PI * radius * l * l))
    };
    // The approach to 1 is slow: to leading order (2/3)^(1/3) (r/l_c)^(2/3) are missing, which is
    // 0.19 % here.
    let radius: f64 = 1e-4;
    let missing = (2.0 / 3.0 * radius * radius).cbrt();
    result.checks.push(Check::value(
        "fraction of Tate's volume, r = l_c/10⁴",
        "",
        1.0,
        fraction_of_tate(radius * l)?,
        Tolerance::Absolute(1.1 * missing),
    ));
    result.checks.push(Check::value(
        "deficit from Tate's volume there",
        "",
        missing,
        1.0 - fraction_of_tate(radius * l)?,
        Tolerance::Relative(0.01),
    ));
    result.checks.push(Check::range("fraction of Tate's volume, r = l_c", "", 0.5, 1.0, fraction_of_tate(l)?));

    let hanging = pendant::pendant(30e-9, 0.5 * PI, l).ok_or("30 µL do not hang at 90°")?;
    result.checks.push(Check::value(
        "30 µL at 90°: height",
        "mm",
        2.802_03,
        hanging.height * 1e3,
        Tolerance::Relative(1e-5),
    ));
    result.checks.push(Check::value(
        "30 µL at 90°: base radius",
        "mm",
        2.224_52,
        hanging.base_radius * 1e3,
        Tolerance::Relative(1e-5),
    ));

    let largest = pendant::pendant_max_volume(0.5 * PI, l);
    result.checks.push(Check::holds(
        "just below the largest volume at 90° a drop hangs",
        pendant::pendant(0.999 * largest, 0.5 * PI, l).is_some(),
    ));
    result
        .checks
        .push(Check::holds("just above it no drop hangs", pendant::pendant(1.001 * largest, 0.5 * PI, l).is_none()));
    let radii: Vec<f64> = (0..=30).map(|i| l * 10f64.powf(-4.0 + f64::from(i) / 7.5)).collect();
    let curve = radii.iter().map(|&r| Ok((r * 1e3, fraction_of_tate(r)?))).collect::<Result<Vec<_>, CaseError>>()?;
    result.plots.push(Plot {
        title: "Largest stable drop under a tip of radius r, as a fraction of Tate's volume".into(),
        x: Axis::log("r (mm)"),
        y: Axis::linear("V ρg / 2πrγ"),
        series: vec![
            Series::new("Young–Laplace", Mark::Line, curve),
            Series::new("Tate", Mark::Expected, vec![(radii[0] * 1e3, 1.0), (radii[30] * 1e3, 1.0)]),
        ],
    });
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::validate::tests::assert_all_pass;

    #[test]
    fn every_case_passes() {
        assert_all_pass(cases());
    }
}
