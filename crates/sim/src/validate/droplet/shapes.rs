//! Shapes at rest, measured as a user would.

use glam::DVec3;
use sessile_wetting::young_laplace::sessile;

use super::stage::{GRAVITY, Stage, WATER, cap, material, tilted};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn rest_shape(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (volume, angle) in [(4.0, 60.0), (4.0, 90.0), (4.0, 120.0), (30.0, 60.0), (30.0, 90.0), (30.0, 150.0)] {
        (context.say)(&format!("{volume} µL at {angle}°"));
        let on_plane =
            sessile(volume * 1e-9, f64::to_radians(angle), WATER.capillary_length(GRAVITY)).ok_or("no such drop")?;
        let on_plane = [on_plane.height, on_plane.base_radius];
        let on_ball = on_ball(volume * 1e-9, f64::to_radians(angle), 0.03).ok_or("no such drop")?;
        let flat = tilted(0.0, [100.0, 100.0]);
        let ball = "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"0 -30 0 mm\"\nradius = \"30 mm\"\n";
        // The facets of the ball's mesh lie up to 9 µm within it, a per cent of the lowest drop's height.
        let stands = [("plane", flat.as_str(), on_plane, 0.01), ("ball of 30 mm", ball, on_ball, 0.015)];
        for (on, solid, [height, radius], bound) in stands {
            // A little hysteresis keeps it where it is on the facets of the ball.
            let scene = material(angle, angle - 6.0, "") + solid + &cap(volume, angle, DVec3::ZERO, DVec3::ZERO);
            let mut stage = Stage::new("", &scene)?;
            stage.run(0.1)?;
            let drop = stage.only_drop()?;
            let name = |what: &str| format!("{volume} µL at {angle}° on a {on}: {what}");
            let tolerance = Tolerance::Relative(bound);
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

/// Height over the ball and base radius of a drop on top of a ball of this radius, in m.
///
/// From the plane of its line it is a Young–Laplace drop at θ + α that also holds the ball's cap over that plane; the line's radius b = r sin α is
/// found by bisection, with the exact profile each time.
fn on_ball(volume: f64, theta: f64, ball: f64) -> Option<[f64; 2]> {
    let length = WATER.capillary_length(GRAVITY);
    let stands_at = |alpha: f64| {
        let (b, s) = (ball * alpha.sin(), ball * (1.0 - alpha.cos()));
        let body = volume + std::f64::consts::PI / 6.0 * s * (3.0 * b * b + s * s);
        sessile(body, theta + alpha, length).map(|profile| (profile.base_radius - b, profile.height - s))
    };
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if stands_at(middle)?.0 > 0.0 { low = middle } else { high = middle }
    }
    // The wetted cap has the area of a disc of radius 2r sin(α/2).
    Some([stands_at(low)?.1, 2.0 * ball * (0.5 * low).sin()])
}
