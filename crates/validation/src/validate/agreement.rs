//! Comparison of the models with each other: the same drop, at rest and in motion, in every model
//! that supports the scene.
//!
//! Every case at rest compares the models with the exact solution, where there is one, and the
//! surface model with the volume model within 2 %, the pane and droplet models within 3 %. A drop
//! starts as a cap of 90°, so that each model has to find the rest shape. Liquid: water; gravity:
//! 9.8 m/s².

mod contact;
mod motion;
mod plates;
mod shaken;
mod threshold;

use sessile_frames::DropMeasures;
use sessile_numerics::sphere_radius;
use sessile_wetting::young_laplace;

use super::volume::simulation::{Simulation, cap, capillary_length, inertial_time, material, plane};
use super::{Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Tolerance};

/// The fast models, which run all cases; the volume model runs those of about a minute of CPU time
/// per result, and the surface model those and the thresholds.
const FAST: [&str; 2] = ["droplet", "pane"];
/// Contact angles of drops in motion, in degrees.
const ANGLES: [f64; 2] = [90.0, 60.0];
/// Allowed relative differences between models of speeds, of threshold and detachment volumes, and
/// of times: those that the models were asked to meet, before they were compared.
const OF_SPEED: f64 = 0.15;
const OF_THRESHOLD: f64 = 0.05;
const OF_TIME: f64 = 0.1;

/// Cells across the diameter of the sphere of the drop's volume.
const CELLS: f64 = 20.0;

/// Relative tolerance against theory, that of the volume model's own cases at this resolution.
const OF_THEORY: f64 = 0.03;

/// Relative tolerance of the surface model, and of the fast models, against the volume model.
const SURFACE_OF_VOLUME: f64 = 0.02;
const FAST_OF_VOLUME: f64 = 0.03;

const SESSILE: &str = "A drop at rest on a level plane without hysteresis, by all four models. Expected: height and base radius of Young–Laplace, and of the \
                       volume model at 20 cells across the drop.";

/// The cases.
pub(super) fn cases() -> Vec<Case> {
    let case =
        |name, about, run| Case { name, model: "agreement", kind: CaseKind::Verification, quick: false, about, run };
    let at_rest = vec![
        case("agreement-4-60", SESSILE, |context| sessile(context, 4.0, 60.0)),
        case("agreement-4-90", SESSILE, |context| sessile(context, 4.0, 90.0)),
        case("agreement-4-120", SESSILE, |context| sessile(context, 4.0, 120.0)),
        case("agreement-30-60", SESSILE, |context| sessile(context, 30.0, 60.0)),
        case("agreement-30-90", SESSILE, |context| sessile(context, 30.0, 90.0)),
        case("agreement-30-120", SESSILE, |context| sessile(context, 30.0, 120.0)),
        case(
            "agreement-in-pipe",
            "A drop at rest at the bottom of a hollow cylinder of 5 mm inner radius, by the surface and the volume model: height, wetted area, length along \
             the pipe and width across it.",
            in_pipe,
        ),
    ];
    let quick = |name, about, run| Case { quick: true, ..case(name, about, run) };
    let in_contact = vec![
        quick(
            "agreement-threshold-tilt",
            "The largest drop that a plane of 90°/60° holds at tilts of 15° to 90°, by bisection in the fast models and by a bracket in \
             the surface model. Expected: weight and retention in balance.",
            threshold::tilt,
        ),
        quick(
            "agreement-detachment",
            "A drop under a ceiling of 90°/60° is fed until it falls. Expected: the limit of a drop whose line is pinned at the largest \
             radius to which it advances.",
            threshold::hanging,
        ),
        quick(
            "agreement-bridge",
            "Two touching caps of 2 µL. Expected: the width of the bridge in the volume model.",
            contact::bridge,
        ),
        quick(
            "agreement-impact",
            "Drops of 2 mm land on 75° and on 150°. Expected: the same largest base radius in both fast models, and a rebound from 150°.",
            contact::impact,
        ),
        quick(
            "agreement-trail",
            "40 µL run down a wall of 50°/15°. Expected: the same volume per length of trail in both fast models.",
            contact::trail,
        ),
        quick(
            "agreement-accelerated-plate",
            "20 µL on a level plate that speeds up along itself. Expected: it slides from the acceleration that exceeds its retention.",
            plates::accelerated,
        ),
        quick(
            "agreement-rotated-plate",
            "20 µL on a level plate that rotates, 15 mm from the axis. Expected: it slides from the centrifugal acceleration that \
             exceeds its retention.",
            plates::rotated,
        ),
    ];
    [at_rest, motion::cases(), in_contact, shaken::cases()].concat()
}

/// Measures of a scene's drop at rest; `scene` without model and times, `volume` in m³.
fn at_rest(model: &str, scene: &str, volume: f64) -> Result<DropMeasures, CaseError> {
    let cell = 2.0 * sphere_radius(volume) / CELLS;
    // The mean edge is twice the shortest one, i.e. one cell.
    let text = format!(
        "model = \"{model}\"\n[time]\nduration = \"100 s\"\nframe = \"1 ms\"\nsettle = true\n\
         [resolution]\ncell = \"{cell} m\"\nedge = \"{} m\"\n{scene}",
        0.5 * cell
    );
    let time = inertial_time(sphere_radius(volume));
    let mut simulation = Simulation::new(&text)?;
    simulation.rest(time, if model == "volume" { 16.0 } else { 60.0 } * time)?;
    simulation.only_drop()
}

fn sessile(context: &CaseContext, microliters: f64, degrees: f64) -> Result<CaseResult, CaseError> {
    let volume = 1e-9 * microliters;
    let exact = young_laplace::sessile(volume, degrees.to_radians(), capillary_length()).ok_or("no such drop")?;
    let scene = material(degrees, degrees) + &plane(glam::DVec3::Y) + &cap(volume, false, 90.0);
    let mut result = CaseResult::default();
    let mut measured = Vec::new();
    for model in ["volume", "surface", "droplet", "pane"] {
        (context.report)(model);
        let drop = at_rest(model, &scene, volume)?;
        let found = [("height", exact.height, drop.height), ("base radius", exact.base_radius, drop.base_radius)];
        for (what, expected, got) in found {
            let name = format!("{what}, {model}");
            result.checks.push(Check::value(name, "mm", 1e3 * expected, 1e3 * got, Tolerance::Relative(OF_THEORY)));
        }
        measured.push((model, drop));
    }
    let reference = &measured[0].1;
    for (model, drop) in &measured[1..] {
        let within = Tolerance::Relative(if *model == "surface" { SURFACE_OF_VOLUME } else { FAST_OF_VOLUME });
        let found =
            [("height", reference.height, drop.height), ("base radius", reference.base_radius, drop.base_radius)];
        for (what, expected, got) in found {
            let name = format!("{what}, {model} beside volume");
            result.checks.push(Check::value(name, "mm", 1e3 * expected, 1e3 * got, within));
        }
    }
    Ok(result)
}

fn in_pipe(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 10e-9;
    let scene = format!(
        "{}[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"cylinder\"\nfrom = \"-11.987 0.017 0.031 mm\"\nto = \"12.013 0.017 0.031 mm\"\n\
         radius = \"8 mm\"\nwall = \"3 mm\"\n\
         [[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"0.013 -4.983 0.031 mm\"\nvolume = \"{volume} m^3\"\ncontact_angle = \"90 deg\"\n",
        material(70.0, 70.0)
    );
    let mut measured = Vec::new();
    for model in ["volume", "surface"] {
        (context.report)(model);
        let drop = at_rest(model, &scene, volume)?;
        let size = drop.bounds[1] - drop.bounds[0];
        measured.push([1e3 * drop.height, 1e6 * drop.wetted_area, 1e3 * size.x, 1e3 * size.z]);
    }
    let quantities =
        [("height", "mm"), ("wetted area", "mm²"), ("length along the pipe", "mm"), ("width across it", "mm")];
    let checks = quantities.iter().enumerate().map(|(k, (what, unit))| {
        // An area is a length squared.
        let within = if *unit == "mm²" { 2.0 * SURFACE_OF_VOLUME } else { SURFACE_OF_VOLUME };
        let name = format!("{what}, surface beside volume");
        Check::value(name, *unit, measured[0][k], measured[1][k], Tolerance::Relative(within))
    });
    Ok(CaseResult { checks: checks.collect(), plots: Vec::new() })
}
