//! Drops at rest: Young–Laplace profiles, solids at any angle to the grid, spurious currents.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use sessile_frames::DropMeasures;
use sessile_numerics::sphere_radius;
use sessile_wetting::young_laplace;

use super::simulation::{Basics, GRAVITY, Simulation, WATER, cap, capillary_length, inertial_time, material, plane};
use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance, quick, slow};

const SESSILE: &str = "A drop set down as a hemisphere on a level plane without hysteresis comes to rest. Expected: height, base radius \
                       and liquid–air area of the Young–Laplace profile.";
const PLANAR_SESSILE: &str = "A planar drop set down as a half circle comes to rest. Expected: height and half width of the planar \
                              Young–Laplace profile.";

pub(super) fn cases() -> Vec<Case> {
    vec![
        slow("sessile-4-60", SESSILE, |context| level(context, 4.0, 60.0, (0.035, 0.03, None))),
        slow("sessile-4-90", SESSILE, |context| level(context, 4.0, 90.0, (0.03, 0.03, None))),
        quick("sessile-4-120", SESSILE, |context| level(context, 4.0, 120.0, (0.03, 0.033, Some(0.02)))),
        slow("sessile-30-60", SESSILE, |context| level(context, 30.0, 60.0, (0.038, 0.03, None))),
        slow("sessile-30-90", SESSILE, |context| level(context, 30.0, 90.0, (0.03, 0.03, None))),
        slow("sessile-30-150", SESSILE, |context| level(context, 30.0, 150.0, (0.03, 0.042, Some(0.02)))),
        slow("sessile-10-70-zero-g", SESSILE, zero_gravity),
        quick("sessile2d-4-90", PLANAR_SESSILE, |context| sessile_planar(context, 4e-6, 90.0, 0.025)),
        quick("sessile2d-12-50", PLANAR_SESSILE, |context| sessile_planar(context, 12e-6, 50.0, 0.037)),
        slow(
            "sessile-angles",
            "4 µL at rest at seven contact angles. Expected: height and base radius within 1.5 % from 45° to 135° and 4 % at 30° and 150°, \
             the angle measured on the surface within 2° and 4°.",
            angles,
        ),
        slow(
            "sessile-rotated-plane",
            "The same drop on planes at 17° and 45° to the grid, with gravity rotated too. Expected: within 1 % of the level one, without \
             drift.",
            rotated_plane,
        ),
        slow(
            "sessile-on-sphere",
            "A drop without gravity on a sphere of 3 mm radius. Expected: two spheres that meet at the contact angle.",
            on_sphere,
        ),
        slow(
            "spurious-currents",
            "A drop at rest, without drag. Expected: a capillary number of the largest speed within 50 ms of at most 1e-4.",
            spurious,
        ),
    ]
}

/// A drop on a level plane under gravity, with tolerances of height, base radius and largest
/// radius.
fn level(
    context: &CaseContext,
    microliters: f64,
    degrees: f64,
    (height, base_radius, max_radius): (f64, f64, Option<f64>),
) -> Result<CaseResult, CaseError> {
    sessile(context, &Sessile { microliters, degrees, gravity: GRAVITY, height, base_radius, max_radius })
}

fn zero_gravity(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let drop =
        Sessile { microliters: 10.0, degrees: 70.0, gravity: 0.0, height: 0.031, base_radius: 0.03, max_radius: None };
    sessile(context, &drop)
}

/// A drop on a level plane, and the relative tolerances of its reference values.
struct Sessile {
    pub microliters: f64,
    pub degrees: f64,
    pub gravity: f64,
    pub height: f64,
    pub base_radius: f64,
    /// Checked only where the drop is wider than its base.
    pub max_radius: Option<f64>,
}

/// Time for a drop to come to rest, in inertial-capillary times: mode 2 is then damped to below 0.5
/// % by the drag of `settle`.
const REST: f64 = 16.0;

/// Cell size, in m, from the number of cells across the diameter of the sphere of the drop's
/// volume.
fn cell_for(volume: f64, context: &CaseContext) -> f64 {
    2.0 * sphere_radius(volume) / if context.quick { 14.0 } else { 20.0 }
}

/// Brings a drop to rest that starts as a cap of `start` degrees; the simulation keeps the drag of
/// the scene.
fn at_rest(basics: Basics, amount: f64, degrees: f64, start: f64, normal: DVec3) -> Result<Simulation, CaseError> {
    let solids = material(degrees, degrees) + &plane(normal);
    let mut simulation = basics.settling().simulation(&(solids + &cap(amount, basics.planar, start)))?;
    let radius = if basics.planar { (amount / PI).sqrt() } else { sphere_radius(amount) };
    let time = inertial_time(radius);
    simulation.rest(time, REST * time)?;
    Ok(simulation)
}

fn sessile(context: &CaseContext, case: &Sessile) -> Result<CaseResult, CaseError> {
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

fn sessile_planar(context: &CaseContext, area: f64, degrees: f64, height: f64) -> Result<CaseResult, CaseError> {
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

/// Contact angles of the sweep, in degrees, with tolerances of height and base radius and of the
/// measured angle.
const SWEEP: [(f64, f64, f64); 7] = [
    (30.0, 0.04, 4.0),
    (45.0, 0.015, 2.0),
    (60.0, 0.015, 2.0),
    (90.0, 0.015, 2.0),
    (120.0, 0.015, 2.0),
    (135.0, 0.015, 2.0),
    (150.0, 0.04, 4.0),
];

fn angles(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let mut result = CaseResult::default();
    let mut points: [Vec<(f64, f64)>; 3] = Default::default();
    for (degrees, shape, angle) in SWEEP {
        (context.report)(&format!("{degrees}°"));
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
        title: "Error of 4 µL at rest against Young–Laplace".into(),
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

/// A drop on a plane rotated against the grid about a general axis, with gravity rotated too.
fn rotated_plane(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let time = inertial_time(sphere_radius(volume));
    let mut result = CaseResult::default();
    for degrees in [60.0, 120.0] {
        let mut aligned: Option<DropMeasures> = None;
        for tilt in [0.0f64, 17.0, 45.0] {
            (context.report)(&format!("{degrees}° on a plane at {tilt}° to the grid"));
            let turn = DQuat::from_axis_angle(DVec3::new(0.4, 0.0, 1.0).normalize(), tilt.to_radians());
            let normal = turn * DVec3::Y;
            let basics = Basics::new(cell_for(volume, context)).gravity(-GRAVITY * normal);
            let mut simulation = at_rest(basics, volume, degrees, 90.0, normal)?;
            let drop = simulation.only_drop()?;
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
                    simulation.run(5.0 * time)?;
                    let way = simulation.only_drop()?.centroid - drop.centroid;
                    let along = (way - normal * way.dot(normal)).length();
                    let what = name("displacement along the plane in five inertial-capillary times, in radii");
                    result.checks.push(Check::at_most(what, "", 0.01, along / sphere_radius(volume)));
                }
            }
        }
    }
    Ok(result)
}

/// A drop on a sphere of 3 mm radius without gravity: two spheres that meet at the contact angle.
fn on_sphere(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (solid, volume) = (3e-3, 4e-9);
    let mut result = CaseResult::default();
    for degrees in [60.0f64, 110.0] {
        (context.report)(&format!("{degrees}°"));
        let expected = lens(solid, volume, degrees.to_radians());
        let ball = format!(
            "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"{solid} m\"\ncenter = \"0.01 {} 0.02 mm\"\n",
            -1e3 * solid
        );
        let basics = Basics::new(cell_for(volume, context)).settling().gravity(DVec3::ZERO);
        let mut simulation = basics.simulation(&(material(degrees, degrees) + &ball + &cap(volume, false, 90.0)))?;
        let time = inertial_time(sphere_radius(volume));
        simulation.rest(time, REST * time)?;
        let drop = simulation.only_drop()?;
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

/// Height and √(wetted area/π) of a drop of `volume` without gravity on a sphere of radius `solid`
/// at the contact angle `theta`.
///
/// The contact line is at the angle β from the pole of the solid. There the liquid sphere of radius
/// r has the angle θ to the tangent plane of the solid, so α = θ + β to the horizontal: r sin α = R
/// sin β. The volume is the liquid cap above the line minus that of the solid.
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
    // The wetted part of the solid is a cap of area 2πR²(1 − cos β).
    (of(beta).1, (2.0 * solid * solid * (1.0 - beta.cos())).sqrt())
}

/// Spurious currents in drops at rest.
fn spurious(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 4e-9;
    let (time, mut result) = (if context.quick { 0.01 } else { 0.05 }, CaseResult::default());
    let angles: &[f64] = if context.quick { &[75.0] } else { &[60.0, 90.0, 120.0] };
    for &degrees in angles {
        (context.report)(&format!("{degrees}°"));
        let basics = Basics::new(cell_for(volume, context));
        let still = at_rest(basics, volume, degrees, degrees, DVec3::Y)?;
        let mut simulation =
            basics.simulation(&(material(degrees, degrees) + &plane(DVec3::Y) + &cap(volume, false, degrees)))?;
        simulation.restore_from(&still)?;
        let mut fastest: f64 = 0.0;
        let mut series = Vec::new();
        for _ in 0..10 {
            simulation.run(0.1 * time)?;
            let drop = simulation.only_drop()?;
            fastest = fastest.max(drop.speed_max);
            series.push((1e3 * simulation.time(), 1e3 * drop.speed_max));
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
    fn a_lens_on_a_very_large_sphere_is_a_cap() {
        let (height, radius) = lens(10.0, 4e-9, 1.0);
        let base = sessile_wetting::cap::base_radius(4e-9, 1.0);
        assert!((radius / base - 1.0).abs() < 1e-3, "{radius} {base}");
        assert!((height / sessile_wetting::cap::height(base, 1.0) - 1.0).abs() < 1e-3, "{height}");
    }
}
