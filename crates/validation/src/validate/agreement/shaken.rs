//! A plate that is shaken along itself, under a drop, in all four models.
//!
//! The plate starts from rest and accelerates by a sin ωt for half a period, with
//! x = a (ωt − sin ωt)/ω², much slower than the drop sloshes. In the plate's frame the drop feels
//! −a sin ωt, so it is retained up to the acceleration
//!
//! ```text
//! a_c = γ w (cos θ_r − cos θ_a)/(ρ V)
//! ```
//!
//! of Furmidge's law, with the width w of the drop at rest, and slides along the plate above it.
//!
//! In the fast models a drop moves as a whole, and what it has slid is seen when the plate has
//! slowed down gently and stands, since a drop leans in the air that meets it. In the models that
//! resolve its shape it starts at its advancing angle all round, so its front advances under any
//! acceleration, by a third of the base radius at 0.8 a_c; it is retained as long as its rear stays
//! until the end of the shaking.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_numerics::sphere_radius;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Wetting, retention};

use super::super::volume::simulation::{Simulation, cap, material, plane};
use super::super::{Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Tolerance};
use crate::validate::common::{GRAVITY, WATER};

/// Contact angles, in degrees.
const ANGLES: [f64; 2] = [90.0, 60.0];
/// Volume, in m³.
const VOLUME: f64 = 6e-9;
/// Frequency of the shaking, in Hz: the drop's first mode of sloshing is some ten times faster.
const FREQUENCY: f64 = 5.0;
/// Cells across the diameter of the sphere of the drop's volume.
const CELLS: f64 = 14.0;
/// Deceleration after the shaking over its acceleration: the drop is retained.
const BRAKE: f64 = 0.3;
/// Time from then until the centroid is looked at, in s.
const AFTER: f64 = 0.05;
/// Interval of frames, in s: a fast model takes it as its step, and averages the acceleration.
const FRAME: f64 = 5e-3;
/// Keys of the plate's motion in a period.
const KEYS: u32 = 100;

pub(super) fn cases() -> Vec<Case> {
    let case =
        |name, quick, about, run| Case { name, model: "agreement", kind: CaseKind::Verification, quick, about, run };
    vec![
        case(
            "agreement-shaken-plate",
            true,
            "A plate of 90°/60° with a drop of 6 µL is shaken along itself. Expected of the fast models: the drop slides along the plate from \
             the acceleration at which the drive exceeds Furmidge's retention (3 %); of the surface model: it stays at 0.8 of it, and slides \
             at 1.3, by its rear.",
            |context| {
                let mut result = CaseResult::default();
                for model in ["pane", "droplet"] {
                    threshold(context, model, &mut result)?;
                }
                around_threshold(context, "surface", &mut result)?;
                Ok(result)
            },
        ),
        case(
            "agreement-shaken-plate-volume",
            false,
            "The same by the volume model: the drop's rear stays at 0.8 of the acceleration of Furmidge's law, and slides at 1.3.",
            |context| {
                let mut result = CaseResult::default();
                around_threshold(context, "volume", &mut result)?;
                Ok(result)
            },
        ),
    ]
}

/// Base radius of the drop at rest (in m), and the acceleration up to which it is retained (in
/// m/s²).
fn expected() -> Result<(f64, f64), CaseError> {
    let law = Wetting::smooth(ANGLES[0].to_radians(), ANGLES[1].to_radians());
    let shape =
        ShapeTable::shared().rest_shape(VOLUME, law.advancing, GRAVITY, &WATER).ok_or("no such drop at rest")?;
    let held = retention::retention_force(&WATER, &law, 2.0 * shape.base_radius, 1.0);
    Ok((shape.base_radius, held / (WATER.density * VOLUME)))
}

/// What is followed along the plate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The centroid, until the plate has come to rest.
    Centroid,
    /// The rear of the base, until the end of the shaking.
    Rear,
}

/// How far a part of the drop slides along a plate that is shaken with this acceleration (in m/s²),
/// in m.
fn slip(model: &str, acceleration: f64, part: Part) -> Result<f64, CaseError> {
    let omega = std::f64::consts::TAU * FREQUENCY;
    let place = |phase: f64| {
        let shaken = phase.min(PI);
        let braked = (phase - shaken).clamp(0.0, 2.0 / BRAKE);
        acceleration / (omega * omega) * (shaken - shaken.sin() + braked * (2.0 - 0.5 * BRAKE * braked))
    };
    let end = match part {
        Part::Centroid => 0.5 / FREQUENCY + 2.0 / (BRAKE * omega) + AFTER,
        Part::Rear => 0.5 / FREQUENCY,
    };
    let periods = end * FREQUENCY;
    let keys: String = (0..=(periods * f64::from(KEYS)).ceil() as u32 + 5)
        .map(|key| f64::from(key) / f64::from(KEYS))
        .map(|turn| {
            let shift = 1e3 * place(std::f64::consts::TAU * turn);
            format!("{{ at = \"{} s\", move = \"{shift} 0 0 mm\" }},\n", turn / FREQUENCY)
        })
        .collect();
    let cell = 2.0 * sphere_radius(VOLUME) / CELLS;
    let text = format!(
        "model = \"{model}\"\n[time]\nduration = \"1 s\"\nframe = \"{FRAME} s\"\n\
         [resolution]\ncell = \"{cell} m\"\nedge = \"{} m\"\n\
         [liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"1 mm^2/s\"\nsurface_tension = \"73 mN/m\"\n\
         {}{}motion = [\n{keys}]\ninterpolation = \"smooth\"\n{}",
        0.5 * cell,
        material(ANGLES[0], ANGLES[1]),
        plane(DVec3::Y),
        cap(VOLUME, false, ANGLES[0])
    );
    let mut simulation = Simulation::new(&text)?;
    let place_of = |simulation: &Simulation| {
        simulation.largest_drop().map(|drop| match part {
            Part::Centroid => drop.centroid.x,
            // No angle exceeds 90° there, so the drop is nowhere wider than its base.
            Part::Rear => drop.bounds[1].x,
        })
    };
    let start = place_of(&simulation)?;
    let frames = (end / FRAME).ceil();
    for _ in 0..frames as u32 {
        simulation.run(FRAME)?;
    }
    Ok((place_of(&simulation)? - start - place(omega * frames * FRAME)).abs())
}

/// The acceleration from which on the drop slides, by bisection.
fn threshold(context: &CaseContext, model: &str, result: &mut CaseResult) -> Result<(), CaseError> {
    let (radius, retained) = expected()?;
    let [mut low, mut high] = [0.7, 1.4].map(|factor| factor * retained);
    while high - low > 0.005 * retained {
        let middle = 0.5 * (low + high);
        (context.report)(&format!("{model}: {middle:.2} m/s²"));
        if slip(model, middle, Part::Centroid)? > 1e-4 * radius { high = middle } else { low = middle }
    }
    let name = format!("acceleration from which it slides, {model}");
    result.checks.push(Check::value(name, "m/s²", retained, 0.5 * (low + high), Tolerance::Relative(0.03)));
    Ok(())
}

/// The slip of the rear below and above the acceleration of the law, in base radii.
fn around_threshold(context: &CaseContext, model: &str, result: &mut CaseResult) -> Result<(), CaseError> {
    let (radius, retained) = expected()?;
    for factor in [0.8, 1.3] {
        (context.report)(&format!("{model}: {factor} of {retained:.2} m/s²"));
        let found = slip(model, factor * retained, Part::Rear)? / radius;
        let name = format!("slip of the rear over the base radius at {factor} of the law, {model}");
        result.checks.push(if factor < 1.0 {
            Check::value(name, "", 0.0, found, Tolerance::Absolute(0.1))
        } else {
            Check::at_least(name, "", 0.2, found)
        });
    }
    Ok(())
}
