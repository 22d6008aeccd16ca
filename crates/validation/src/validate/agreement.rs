//! Models against one another: the same scene in every model that takes it, brought to rest, side by side.
//!
//! Where two models are both valid they must give the same answer, whatever each is worth against theory. So every case shows the models beside the exact
//! solution where there is one, and asks that the surface model be within 2 % of the volume model and the fast models within 3 %.
//! A drop begins as a cap at 90°, so that each model has to find the rest shape by itself. Water, 9.8 m/s².

use sessile_frames::DropMeasures;
use sessile_wetting::young_laplace;

use super::volume::stage::{Stage, ball_radius, cap, capillary_length, material, own_time, plane};
use super::{Case, CaseContext, CaseError, CaseResult, Check, Tolerance};

/// Cells across the diameter of the ball that holds the drop.
const CELLS: f64 = 20.0;

/// How far from theory a model may be, as a fraction: the volume model's own cases allow as much at this many cells.
const OF_THEORY: f64 = 0.03;

/// How far the surface model, and the fast ones, may be from the volume model, as fractions.
const SURFACE_OF_VOLUME: f64 = 0.02;
const FAST_OF_VOLUME: f64 = 0.03;

const SESSILE: &str = "A drop at rest on a level plane without hysteresis, by all four models: height and base radius beside Young–Laplace, and beside the \
                       volume model at 20 cells across the drop.";

/// The cases.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, run| Case { name, model: "agreement", quick: false, about, run };
    vec![
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
    ]
}

/// The drop of a scene at rest: the scene's text without its model and times, and how much liquid there is, in m³.
fn at_rest(model: &str, scene: &str, volume: f64) -> Result<DropMeasures, CaseError> {
    let cell = 2.0 * ball_radius(volume) / CELLS;
    // Edges are twice the shortest one in the mean: as long as a cell is wide.
    let text = format!(
        "model = \"{model}\"\n[time]\nduration = \"100 s\"\nframe = \"1 ms\"\nsettle = true\n\
         [resolution]\ncell = \"{cell} m\"\nedge = \"{} m\"\n{scene}",
        0.5 * cell
    );
    let time = own_time(ball_radius(volume));
    let mut stage = Stage::new(&text)?;
    stage.rest(time, if model == "volume" { 16.0 } else { 60.0 } * time)?;
    stage.only_drop()
}

fn sessile(context: &CaseContext, microliters: f64, degrees: f64) -> Result<CaseResult, CaseError> {
    let volume = 1e-9 * microliters;
    let exact = young_laplace::sessile(volume, degrees.to_radians(), capillary_length()).ok_or("no such drop")?;
    let scene = material(degrees, degrees) + &plane(glam::DVec3::Y) + &cap(volume, false, 90.0);
    let mut result = CaseResult::default();
    let mut measured = Vec::new();
    for model in ["volume", "surface", "droplet", "pane"] {
        (context.say)(model);
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
        (context.say)(model);
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
