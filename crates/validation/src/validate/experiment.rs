//! Comparison with published measurements.
//!
//! What is compared, its source and its uncertainty are in the [`ledger`](super::ledger). The fast
//! models run every case; the tolerance of a check is the uncertainty of the measurement, stated
//! where the check is made. A check that is known to fail is listed with its cause among the
//! [`misses`](super::misses).

mod coalescence;
mod condensation;
mod drying;
mod impact;
mod pendant;
mod retention;
mod sliding;

use glam::DVec3;

pub(super) use coalescence::touching as bridge_of;
pub(super) use impact::hit;
pub(super) use pendant::{detachment, fed};

use super::common::WATER;
use super::volume::simulation::Simulation;
use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// The models that every experiment runs in.
const MODELS: [&str; 2] = ["droplet", "pane"];

/// The cases.
pub(super) fn cases() -> Vec<Case> {
    let case =
        |name, about, run| Case { name, model: "experiment", kind: CaseKind::Validation, quick: true, about, run };
    vec![
        case(
            "critical-tilt",
            "The largest drop that a tilted plane holds, by bisection, on three materials at three tilts. Expected: the same Bond number of \
             the contour's diameter at every tilt, and the retention factor of measured contours.",
            retention::critical_tilt,
        ),
        case(
            "sliding-speed",
            "6 µL of silicone oil on a fluoropolymer at tilts up to 60°. Expected: a steady speed that grows linearly with the Bond number along \
             the plane beyond a threshold, and pearls from the speed at which the rear corner has closed to 60°.",
            sliding::silicone_oil,
        ),
        case(
            "glycerol-water",
            "30 µL of water and of mixtures with glycerol on a hydrophobic plane. Expected: a friction coefficient β of the wedges \
             between 20 and 200 up to 0.7 m/s, and a speed inversely proportional to the viscosity where it is high.",
            sliding::glycerol,
        ),
        case(
            "maximal-spread",
            "Drops of 2 mm hit plates of 30° to 150° at Weber numbers from 5 to 200. Expected: a largest spread within the range of five \
             correlations of measurements, and growing as We^¼ on a repellent plate.",
            impact::maximal_spread,
        ),
        case(
            "retraction",
            "Drops of 2 mm retract on a plate of 110°/100° after impacts at Weber numbers of 30 to 150. Expected: a retraction rate that does not \
             depend on the speed of impact, and a drop at the receding angle at the end.",
            impact::retraction,
        ),
        case(
            "early-spreading",
            "A drop of 2 mm touches plates of 30°, 90° and 120° without speed. Expected: a wetted radius that grows as the square root of time, \
             whatever the contact angle.",
            impact::early_spreading,
        ),
        case(
            "coalescence-bridge",
            "Two touching caps of 2 µL at 90° coalesce. Expected: a bridge that grows as the square root of time.",
            coalescence::bridge,
        ),
        case(
            "dripping",
            "A drop under a ceiling of 90°/60° is fed until it falls. Expected: the volume that falls off a tip of its contact line's radius.",
            pendant::dripping,
        ),
        case(
            "dew-growth",
            "Dew grows on a level plane. Expected: a mean radius that grows with an exponent of 0.23 to 0.33 while the drops are single, and \
             three times as fast when they coalesce.",
            condensation::growth,
        ),
        case(
            "evaporation",
            "A pinned drop of water dries on a plane, and one whose line recedes at 90°. Expected: the rate measured and fitted \
             up to 90° at constant radius, and V^⅔ linear in time at constant angle.",
            drying::rates,
        ),
    ]
}

/// A scene with a plane `s` of a material `m`, tilted from the level by `tilt` (in degrees) towards
/// +z.
pub(super) fn on_plane(model: &str, liquid: &str, [advancing, receding]: [f64; 2], tilt: f64, rest: &str) -> String {
    let (sin, cos) = tilt.to_radians().sin_cos();
    format!(
        "model = \"{model}\"\n[time]\nduration = \"100 s\"\nframe = \"1 ms\"\n[liquid]\n{liquid}\n\
         [materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos:.15}, {sin:.15}]\n\
         size = \"80 4000 mm\"\n{rest}"
    )
}

/// Keys of a liquid by its density (in kg/m³), kinematic viscosity (in mm²/s) and surface tension
/// (in mN/m).
pub(super) fn liquid(density: f64, viscosity: f64, tension: f64) -> String {
    format!(
        "density = \"{density} kg/m^3\"\nviscosity = \"{viscosity} mm^2/s\"\nsurface_tension = \"{tension} mN/m\"\n"
    )
}

/// A cap on `s`: volume in µL, angle in degrees, at a distance up the slope (in mm) on a plane of
/// this tilt (in degrees).
pub(super) fn cap_at(volume: f64, angle: f64, up: f64, tilt: f64) -> String {
    let (sin, cos) = tilt.to_radians().sin_cos();
    // Up the slope is −z on a level plane.
    let place = DVec3::new(0.0, sin, -cos) * up;
    sessile_scene::text::cap("s", place.into(), &format!("volume = \"{volume} uL\""), angle)
}

/// Slope, intercept and coefficient of determination of a line through points, by least squares.
fn line(points: &[(f64, f64)]) -> (f64, f64, f64) {
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (xx, yy) = (mean(&|p| (p.0 - x).powi(2)), mean(&|p| (p.1 - y).powi(2)));
    let xy = mean(&|p| (p.0 - x) * (p.1 - y));
    (xy / xx, y - xy / xx * x, xy * xy / (xx * yy))
}

/// Exponent of a power law through points.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    line(&logs).0
}
