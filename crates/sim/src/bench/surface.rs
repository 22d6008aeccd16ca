//! Benches of the surface model.

use glam::DVec3;
use sessile_model::{Model, Stages};
use sessile_scene::{NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// The surface model's benches.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "surface-pane",
            about: "60 drops of 10 to 40 µL, all awake and sliding on a tilted plane that hardly holds, through 0.1 s in steps of 1 ms.",
            run: |context| pane(context, 60, 0.1, ""),
        },
        Bench {
            name: "surface-pane-four-times",
            about: "As `surface-pane`, with four times the drops and a quarter of the time: the same cost.",
            run: |context| pane(context, 240, 0.025, ""),
        },
        Bench {
            name: "surface-pane-paper",
            about: "As `surface-pane` with 300 drops by the paper's own operators, one step of 2 ms a frame, 30 frames.",
            run: |context| pane(context, 300, 0.06, "fidelity = \"paper\"\n"),
        },
        Bench {
            name: "surface-large-drop",
            about: "One drop of 100 µL of some 20 000 triangles settles from a cap of 60° to 90°, through 20 ms in steps of 1 ms.",
            run: large,
        },
        Bench {
            name: "surface-merges",
            about: "40 balls in a cloud without weight fly at one another and merge, through 20 ms.",
            run: merges,
        },
    ]
}

fn build(head: &str, tables: &str) -> Result<SurfaceModel, CaseError> {
    let text = format!("model = \"surface\"\n{head}[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{tables}");
    let scene = parse_str("bench.toml", &text, &[], &NoFiles).map_err(|wrong| wrong.to_string())?.scene;
    Ok(SurfaceModel::new(&scene, World::build(&scene)?)?)
}

/// Steps through `seconds` on the clock; how many steps.
fn run(context: &mut BenchContext, model: &mut SurfaceModel, seconds: f64) -> Result<usize, CaseError> {
    let end = model.time() + seconds;
    context.time(seconds, |clock| {
        let mut steps = 0;
        while model.time() < end - 1e-9 {
            model.step(end - model.time(), clock as &mut dyn Stages)?;
            steps += 1;
        }
        Ok(steps)
    })
}

fn report(context: &mut BenchContext, model: &SurfaceModel, steps: usize) {
    let [triangles, awake] = model.num_triangles();
    context.figure("drops", model.drops().len() as f64, "");
    context.figure("triangles", triangles as f64, "");
    context.figure("awake", awake as f64, "");
    context.figure("steps", steps as f64, "");
    let per = context.cpu_seconds() / (steps as f64 * triangles as f64);
    context.figure("CPU time per step and 1000 triangles", 1e6 * per, "ms");
    context.figure("steps per second", steps as f64 / context.wall_seconds(), "1/s");
    context.figure("surfaces made anew", model.num_healed() as f64, "");
}

fn pane(context: &mut BenchContext, count: usize, seconds: f64, head: &str) -> Result<(), CaseError> {
    let mut tables = String::from(
        "[materials.m]\nadvancing = \"92 deg\"\nreceding = \"88 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 1, 1]\nsize = \"2 2 m\"\n",
    );
    let across = (count as f64).sqrt().ceil() as usize;
    let mut random = Stream::new(1, &[5]);
    for i in 0..count {
        let (x, y) = ((i % across) as f64 * 14.0, (i / across) as f64 * 14.0);
        let volume = random.uniform_in(10.0, 40.0);
        let slope = std::f64::consts::FRAC_1_SQRT_2;
        tables += &format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {} {} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"90 deg\"\n",
            slope * y,
            -slope * y
        );
    }
    (context.say)("building");
    let mut model = build(head, &tables)?;
    let steps = run(context, &mut model, seconds)?;
    report(context, &model, steps);
    Ok(())
}

fn large(context: &mut BenchContext) -> Result<(), CaseError> {
    let tables = "[resolution]\nedge = \"0.06 mm\"\n[materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\n\
                  [[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"100 uL\"\ncontact_angle = \"60 deg\"\n";
    let mut model = build("", tables)?;
    let steps = run(context, &mut model, 0.02)?;
    report(context, &model, steps);
    Ok(())
}

fn merges(context: &mut BenchContext) -> Result<(), CaseError> {
    let mut random = Stream::new(1, &[6]);
    let mut places: Vec<DVec3> = Vec::new();
    let mut tables = String::from("[world]\ngravity = \"0 0 0 m/s^2\"\n");
    while places.len() < 40 {
        let place = DVec3::from([0; 3].map(|_| random.uniform_in(-6.0, 6.0)));
        if places.iter().any(|other| other.distance(place) < 2.1) {
            continue;
        }
        let velocity = -0.05 * place;
        tables += &format!(
            "[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\ncenter = \"{} {} {} mm\"\nvelocity = \"{} {} {} m/s\"\n",
            place.x, place.y, place.z, velocity.x, velocity.y, velocity.z
        );
        places.push(place);
    }
    let mut model = build("", &tables)?;
    let steps = run(context, &mut model, 0.02)?;
    report(context, &model, steps);
    Ok(())
}
