//! Drops that lie still: against Young and Laplace, on solids at any angle to the cells, and how still.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use sessile_frames::DropMeasures;
use sessile_wetting::young_laplace;

use super::stage::{Basics, GRAVITY, Stage, WATER, ball_radius, cap, capillary_length, material, own_time, plane};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// A drop on the level of so many µL and degrees, and the tolerances of its reference values.
pub(super) struct Sessile {
    pub microliters: f64,
    pub degrees: f64,
    pub gravity: f64,
    pub height: f64,
    pub base_radius: f64,
    /// Checked only where the drop bulges over its base.
    pub max_radius: Option<f64>,
}

/// How long a drop is given to come to rest, in its own times: what is left of mode 2 under the drag of `settle` is then below 0.5 %.
const REST: f64 = 16.0;

/// Cells across the diameter of the ball that holds a drop.
fn cell_for(volume: f64, context: &CaseContext) -> f64 {
    2.0 * ball_radius(volume) / if context.quick { 14.0 } else { 20.0 }
}

/// Brings a drop to rest that begins as a cap at `start` degrees; the stage keeps the scene's drag.
fn at_rest(basics: Basics, amount: f64, degrees: f64, start: f64, normal: DVec3) -> Result<Stage, CaseError> {
    let solids = material(degrees, degrees) + &plane(normal);
    let mut stage = basics.settling().stage(&(solids + &cap(amount, basics.planar, start)))?;
    let radius = if basics.planar { (amount / PI).sqrt() } else { ball_radius(amount) };
    let time = own_time(radius);
    stage.rest(time, REST * time)?;
    Ok(stage)
}

pub(super) fn sessile(context: &CaseContext, case: &Sessile) -> Result<CaseResult, CaseError> {
    let (volume, theta) = (1e-9 * case.microliters, case.degrees.to_radians());
    let length = if case.gravity > 0.0 { capillary_length() } else { 1.0 };
    let expected = young_laplace::sessile(volume, theta, length).ok_or("no such drop")?;
    let basics = Basics::new(cell_for(volume, context)).gravity(DVec3::new(0.0, -case.gravity, 0.0));
    let drop = at_rest(basics, volume, case.degrees, 90.0, DVec3::Y)?.only_drop()?;
    let mut result = CaseResult::default();
    let mut check = |what: &str, unit: &str, expected: f64, got: f64, tolerance: f64| {
        result.checks.push(Check::value(what, unit, expected, got, Tolerance::Relative(tolerance)));
    };
    check("height", "mm", 1e3 * expected.height, 1e3 * drop.height, case.height);
    check("base radius", "mm", 1e3 * expected.base_radius, 1e3 * drop.base_radius, case.base_radius);
    check("surface area", "mm²", 1e6 * expected.air_area, 1e6 * drop.surface_area, 0.03);
    if let Some(tolerance) = case.max_radius {
        check("largest radius", "mm", 1e3 * expected.max_radius, 1e3 * drop.max_radius, tolerance);
    }
    Ok(result)
}

pub(super) fn sessile_planar(
    context: &CaseContext,
    area: f64,
    degrees: f64,
    height: f64,
) -> Result<CaseResult, CaseError> {
    let expected =
        young_laplace::sessile_planar(area, degrees.to_radians(), capillary_length()).ok_or("no such drop")?;
    let cell = 2.0 * (area / PI).sqrt() / if context.quick { 20.0 } else { 25.0 };
    let drop = at_rest(Basics::new(cell).planar(), area, degrees, 90.0, DVec3::Y)?.only_drop()?;
    let check = |what: &str, expected: f64, got: f64, tolerance: f64| {
        Check::value(what, "mm", 1e3 * expected, 1e3 * got, Tolerance::Relative(tolerance))
    };
    let checks = vec![
        check("height", expected.height, drop.height, height),
        check("half width", expected.base_radius, drop.base_radius, 0.025),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// Contact angles of the sweep, in degrees, with what height, base radius and the measured angle may be off by.
const SWEEP: [(f64, f64, f64); 7] = [
    (30.0, 0.04, 4.0),
    (45.0, 0.015, 2.0),
    (60.0, 0.015, 2.0),
    (90.0, 0.015, 2.0),
    (120.0, 0.015, 2.0),
    (135.0, 0.015, 2.0),
    (150.0, 0.04, 4.0),
];

pub(super) fn angles(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let mut result = CaseResult::default();
    let mut points: [Vec<(f64, f64)>; 3] = Default::default();
    for (degrees, shape, angle) in SWEEP {
        (context.say)(&format!("{degrees}°"));
        let theta = degrees.to_radians();
        let expected = young_laplace::sessile(volume, theta, capillary_length()).ok_or("no such drop")?;
        let drop = at_rest(Basics::new(cell_for(volume, context)), volume, degrees, 90.0, DVec3::Y)?.only_drop()?;
        let measured = drop.contact_angle_deg.map_or(f64::NAN, |range| range.mean);
        let mut check = |what: String, unit: &str, expected: f64, got: f64, tolerance: Tolerance| {
            result.checks.push(Check::value(what, unit, expected, got, tolerance));
        };
        let relative = Tolerance::Relative(shape);
        check(format!("{degrees}°: height"), "mm", 1e3 * expected.height, 1e3 * drop.height, relative);
        check(format!("{degrees}°: base radius"), "mm", 1e3 * expected.base_radius, 1e3 * drop.base_radius, relative);
        check(format!("{degrees}°: measured angle"), "°", degrees, measured, Tolerance::Absolute(angle));
        let off = [drop.height / expected.height, drop.base_radius / expected.base_radius, measured / degrees];
        for (points, ratio) in points.iter_mut().zip(off) {
            points.push((degrees, 100.0 * (ratio - 1.0)));
        }
    }
    let [heights, radii, angles] = points;
    result.plots.push(Plot {
        title: "4 µL at rest, off from Young–Laplace by".into(),
        x: Axis::linear("contact angle (°)"),
        y: Axis::linear("error (%)"),
        series: vec![
            Series::new("height", Mark::Points, heights),
            Series::new("base radius", Mark::Points, radii),
            Series::new("measured angle", Mark::Points, angles),
        ],
    });
    Ok(result)
}

/// A drop on a plane turned against the cells about no axis of theirs, gravity turned with it.
pub(super) fn tilted(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let time = own_time(ball_radius(volume));
    let mut result = CaseResult::default();
    for degrees in [60.0, 120.0] {
        let mut aligned: Option<DropMeasures> = None;
        for tilt in [0.0f64, 17.0, 45.0] {
            (context.say)(&format!("{degrees}° on a plane at {tilt}° to the cells"));
            let turn = DQuat::from_axis_angle(DVec3::new(0.4, 0.0, 1.0).normalize(), tilt.to_radians());
            let normal = turn * DVec3::Y;
            let basics = Basics::new(cell_for(volume, context)).gravity(-GRAVITY * normal);
            let mut stage = at_rest(basics, volume, degrees, 90.0, normal)?;
            let drop = stage.only_drop()?;
            let name = |what: &str| format!("{degrees}° at {tilt}°: {what}");
            match &aligned {
                None => aligned = Some(drop),
                Some(level) => {
                    let mut check = |what: &str, expected: f64, got: f64| {
                        let (what, tolerance) = (name(what), Tolerance::Relative(0.01));
                        result.checks.push(Check::value(what, "mm", 1e3 * expected, 1e3 * got, tolerance));
                    };
                    check("height", level.height, drop.height);
                    check("base radius", level.base_radius, drop.base_radius);
                    stage.run(5.0 * time)?;
                    let way = stage.only_drop()?.centroid - drop.centroid;
                    let along = (way - normal * way.dot(normal)).length();
                    let what = name("way along the plane in five of its own times, in radii");
                    result.checks.push(Check::at_most(what, "", 0.01, along / ball_radius(volume)));
                }
            }
        }
    }
    Ok(result)
}

/// A drop on a ball of 3 mm radius without gravity: two spheres that meet at the contact angle.
pub(super) fn on_sphere(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (solid, volume) = (3e-3, 4e-9);
    let mut result = CaseResult::default();
    for degrees in [60.0f64, 110.0] {
        (context.say)(&format!("{degrees}°"));
        let expected = lens(solid, volume, degrees.to_radians());
        let ball = format!(
            "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"{solid} m\"\ncenter = \"0.01 {} 0.02 mm\"\n",
            -1e3 * solid
        );
        let basics = Basics::new(cell_for(volume, context)).settling().gravity(DVec3::ZERO);
        let mut stage = basics.stage(&(material(degrees, degrees) + &ball + &cap(volume, false, 90.0)))?;
        let time = own_time(ball_radius(volume));
        stage.rest(time, REST * time)?;
        let drop = stage.only_drop()?;
        let mut check = |what: &str, expected: f64, got: f64| {
            let what = format!("{degrees}°: {what}");
            result.checks.push(Check::value(what, "mm", 1e3 * expected, 1e3 * got, Tolerance::Relative(0.04)));
        };
        check("height", expected.0, drop.height);
        check("base radius", expected.1, drop.base_radius);
        let measured = drop.contact_angle_deg.map_or(f64::NAN, |range| range.mean);
        let what = format!("{degrees}°: measured angle");
        result.checks.push(Check::value(what, "°", degrees, measured, Tolerance::Absolute(3.0)));
    }
    Ok(result)
}

/// Height and √(wetted area/π) of a weightless drop of `volume` on a ball of radius `solid` that it meets at `theta`.
///
/// The line lies at the angle β from the ball's pole. There the liquid's sphere of radius r makes the angle θ with the ball's tangent plane, so it makes
/// α = θ + β with the level: r sin α = R sin β. Liquid above the level of the line less the ball's cap above it is the volume.
fn lens(solid: f64, volume: f64, theta: f64) -> (f64, f64) {
    let cap_volume = |radius: f64, angle: f64| {
        let height = radius * (1.0 - angle.cos());
        PI * height * height * (3.0 * radius - height) / 3.0
    };
    let of = |beta: f64| {
        let alpha = theta + beta;
        let radius = solid * beta.sin() / alpha.sin();
        let held = cap_volume(radius, alpha) - cap_volume(solid, beta);
        let height = radius * (1.0 - alpha.cos()) - solid * (1.0 - beta.cos());
        (held, height)
    };
    let (mut low, mut high) = (1e-6, PI - theta - 1e-6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if of(middle).0 < volume { low = middle } else { high = middle }
    }
    let beta = 0.5 * (low + high);
    // The wetted part of the ball is a cap of area 2πR²(1 − cos β).
    (of(beta).1, (2.0 * solid * solid * (1.0 - beta.cos())).sqrt())
}

/// What still moves in drops that lie still.
pub(super) fn spurious(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let (time, mut result) = (if context.quick { 0.01 } else { 0.05 }, CaseResult::default());
    let angles: &[f64] = if context.quick { &[75.0] } else { &[60.0, 90.0, 120.0] };
    for &degrees in angles {
        (context.say)(&format!("{degrees}°"));
        let basics = Basics::new(cell_for(volume, context));
        let still = at_rest(basics, volume, degrees, degrees, DVec3::Y)?;
        let mut stage =
            basics.stage(&(material(degrees, degrees) + &plane(DVec3::Y) + &cap(volume, false, degrees)))?;
        stage.take_over(&still)?;
        let mut fastest: f64 = 0.0;
        let mut series = Vec::new();
        for _ in 0..10 {
            stage.run(0.1 * time)?;
            let drop = stage.only_drop()?;
            fastest = fastest.max(drop.speed_max);
            series.push((1e3 * stage.time(), 1e3 * drop.speed_max));
        }
        let capillary = fastest * WATER.density * WATER.viscosity / WATER.surface_tension;
        let what = format!("{degrees}°: largest speed times viscosity over surface tension");
        result.checks.push(Check::at_most(what, "", 1e-4, capillary));
        result.plots.push(Plot {
            title: format!("Largest speed in a drop at rest at {degrees}°"),
            x: Axis::linear("time (ms)"),
            y: Axis::linear("speed (mm/s)"),
            series: vec![Series::new("volume", Mark::Line, series)],
        });
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lens_on_a_huge_ball_is_a_cap() {
        let (height, radius) = lens(10.0, 4e-9, 1.0);
        let base = sessile_wetting::cap::base_radius(4e-9, 1.0);
        assert!((radius / base - 1.0).abs() < 1e-3, "{radius} {base}");
        assert!((height / sessile_wetting::cap::height(base, 1.0) - 1.0).abs() < 1e-3, "{height}");
    }
}
