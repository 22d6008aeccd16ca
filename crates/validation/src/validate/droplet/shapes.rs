//! Shapes at rest, measured on the frames.

use glam::DVec3;
use sessile_wetting::young_laplace::sessile;

use super::simulation::{GRAVITY, Simulation, WATER, cap, material, tilted};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn sessile_shape(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (volume, angle) in [(4.0, 60.0), (4.0, 90.0), (4.0, 120.0), (30.0, 60.0), (30.0, 90.0), (30.0, 150.0)] {
        (context.report)(&format!("{volume} µL at {angle}°"));
        let on_plane =
            sessile(volume * 1e-9, f64::to_radians(angle), WATER.capillary_length(GRAVITY)).ok_or("no such drop")?;
        let mut stands = vec![("plane", tilted(0.0, [100.0, 100.0]), [on_plane.height, on_plane.base_radius])];
        // A bowl is a sphere of negative radius.
        for (on, radius) in
            [("ball of 15 mm", 15.0), ("ball of 30 mm", 30.0), ("ball of 300 mm", 300.0), ("bowl of 30 mm", -30.0)]
        {
            let solid = format!(
                "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"0 {} 0 mm\"\nradius = \"{} mm\"\ninside = {}\n",
                -radius,
                f64::abs(radius),
                radius < 0.0
            );
            let expected = on_ball(volume * 1e-9, f64::to_radians(angle), 1e-3 * radius).ok_or("no such drop")?;
            stands.push((on, solid, expected));
        }
        for (on, solid, [height, radius]) in stands {
            // Some hysteresis keeps it at its position on the facets of the sphere. It starts too
            // narrow and spreads to its angle.
            let scene = material(angle, angle - 6.0, "") + &solid + &cap(volume, angle + 5.0, DVec3::ZERO, DVec3::ZERO);
            let mut simulation = Simulation::new("", &scene)?;
            simulation.run(0.1)?;
            let drop = simulation.only_drop()?;
            let name = |what: &str| format!("{volume} µL at {angle}° on a {on}: {what}");
            let tolerance = Tolerance::Relative(0.01);
            result.checks.push(Check::value(name("height"), "mm", 1e3 * height, 1e3 * drop.height, tolerance));
            let (wanted, base) = (1e3 * radius, 1e3 * drop.base_radius);
            result.checks.push(Check::value(name("base radius"), "mm", wanted, base, tolerance));
            result.checks.push(Check::value(
                name("volume"),
                "µL",
                volume,
                1e9 * drop.volume,
                Tolerance::Relative(1e-3),
            ));
        }
    }
    Ok(result)
}

/// Height above the sphere and base radius of a drop on top of a sphere of this radius, in m; in a
/// bowl for a negative radius.
///
/// Above the plane of its contact line it is a Young–Laplace drop at θ + α that also contains the
/// sphere's cap above that plane; the radius of the line, b = r sin α, is found by bisection with
/// the exact profile.
fn on_ball(volume: f64, theta: f64, ball: f64) -> Option<[f64; 2]> {
    let length = WATER.capillary_length(GRAVITY);
    let stands_at = |alpha: f64| {
        let (b, s) = (ball * alpha.sin(), ball * (1.0 - alpha.cos()));
        let body = volume + std::f64::consts::PI / 6.0 * s * (3.0 * b * b + s * s);
        sessile(body, theta + alpha, length).map(|profile| (profile.base_radius - b, profile.height - s))
    };
    // Upper bound of the radius: four edges of the cube of the drop's volume.
    let (mut low, mut high) = (0.0, (4.0 * volume.cbrt() / ball.abs()).min(0.5).copysign(ball));
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        // A bowl with more volume than the drop is too deep.
        if stands_at(middle).is_some_and(|(wider, _)| wider > 0.0) { low = middle } else { high = middle }
    }
    // The wetted cap has the area of a disc of radius 2r sin(α/2).
    Some([stands_at(low)?.1, 2.0 * ball * (0.5 * low).sin()])
}
