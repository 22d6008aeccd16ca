//! Shapes at rest, measured as a user would.

use glam::DVec3;
use sessile_wetting::young_laplace::sessile;

use super::stage::{GRAVITY, Stage, WATER, cap, material, tilted};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn rest_shape(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (volume, angle) in [(4.0, 60.0), (4.0, 90.0), (4.0, 120.0), (30.0, 60.0), (30.0, 90.0), (30.0, 150.0)] {
        (context.say)(&format!("{volume} µL at {angle}°"));
        let exact =
            sessile(volume * 1e-9, f64::to_radians(angle), WATER.capillary_length(GRAVITY)).ok_or("no such drop")?;
        let flat = tilted(0.0, [100.0, 100.0]);
        let ball = "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"0 -30 0 mm\"\nradius = \"30 mm\"\n";
        for (on, solid, bound) in [("plane", flat.as_str(), 0.01), ("ball of 30 mm", ball, 0.08)] {
            let scene = material(angle, angle, "") + solid + &cap(volume, angle, DVec3::ZERO, DVec3::ZERO);
            let mut stage = Stage::new("", &scene)?;
            stage.run(0.1)?;
            let drop = stage.only_drop()?;
            let name = |what: &str| format!("{volume} µL at {angle}° on a {on}: {what}");
            let tolerance = Tolerance::Relative(bound);
            result.checks.push(Check::value(name("height"), "mm", 1e3 * exact.height, 1e3 * drop.height, tolerance));
            let (wanted, base) = (1e3 * exact.base_radius, 1e3 * drop.base_radius);
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
