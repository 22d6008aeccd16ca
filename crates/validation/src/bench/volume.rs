//! Benchmarks of the volume model.

use std::num::NonZeroUsize;
use std::time::Instant;

use sessile_model::{Model, NoTimer, StageTimer};
use sessile_scene::{NoFiles, parse_str};
use sessile_volume::Volume;
use sessile_world::World;

use super::{Bench, BenchContext, peak_memory};
use crate::validate::CaseError;
use sessile_sim::thread_pool;

/// Benchmarks of the volume model.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "volume",
            about: "A hemisphere of 4.19 mm³ of water recedes to 120° on a plane, cells of 0.1 mm, for 25 ms. interFoam (OpenFOAM 1912) takes 7.9 CPU \
                    seconds per simulated millisecond.",
            run: hemisphere,
        },
        Bench {
            name: "volume-scaling",
            about: "A few steps of 1, 12 and 144 hemispheres of 10 cells radius, and of one of 10, 22, 48 and 110 cells, from 10⁴ to some 5·10⁶ active cells: growth \
                    of the cost of a step.",
            run: scaling,
        },
        Bench {
            name: "volume-sparse",
            about: "Nine drops of 1 mm radius in a region of 400 × 400 × 400 cells, about a hundredth of them active: a few steps, and the memory.",
            run: sparse,
        },
        Bench {
            name: "volume-threads",
            about: "The same steps of a hemisphere with more than 5·10⁵ active cells on one thread and on two.",
            run: threads,
        },
    ]
}

/// Cell size, in mm.
const CELL: f64 = 0.1;
/// CPU time of interFoam for a millisecond of the hemisphere, in s, on an otherwise idle machine.
const INTERFOAM: f64 = 7.9;

fn model(rest: &str) -> Result<Volume, CaseError> {
    let text = format!(
        "model = \"volume\"\n[time]\nduration = \"1 s\"\nframe = \"1 ms\"\n[resolution]\ncell = \"{CELL} mm\"\n\
         [materials.m]\nadvancing = \"120 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\n{rest}"
    );
    let scene = parse_str("bench", &text, &[], &NoFiles)?.scene;
    Ok(Volume::new(&scene, World::build(&scene)?)?)
}

/// A hemisphere with a radius of `cells` cells on the plane.
fn hemisphere_of(cells: f64) -> Result<Volume, CaseError> {
    let volume = 2.0 / 3.0 * std::f64::consts::PI * (cells * CELL).powi(3);
    model(&format!("[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"{volume} mm^3\"\ncontact_angle = \"90 deg\"\n"))
}

/// Advances by `time` (in s) and returns the number of steps.
fn advance(model: &mut Volume, time: f64, stages: &mut dyn StageTimer) -> Result<f64, CaseError> {
    let end = model.time() + time;
    let mut steps = 0.0;
    while end - model.time() > 1e-9 * time {
        model.step(end - model.time(), stages)?;
        steps += 1.0;
    }
    Ok(steps)
}

/// Duration of about `steps` steps, in s.
fn time_of(model: &Volume, steps: f64) -> f64 {
    steps * model.time_step_limit()
}

fn active_cells(model: &Volume) -> f64 {
    model.active_cells() as f64
}

fn hemisphere(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let volume = 4.19;
    let mut model = model(&format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"{volume} mm^3\"\ncontact_angle = \"90 deg\"\n"
    ))?;
    let (frame, frames) = (1e-3, 25);
    let (mut steps, mut iterations, mut cells) = (0.0, 0.0, 0.0);
    for number in 0..frames {
        (context.report)(&format!("millisecond {number} of {frames}"));
        steps += context.time(frame, |stages| advance(&mut model, frame, stages))?;
        iterations += model.pressure_iterations() as f64 / f64::from(frames);
        cells += active_cells(&model) / f64::from(frames);
    }
    let cpu = context.cpu_seconds();
    context.figure("active cells, mean", cells, "");
    context.figure("steps", steps, "");
    context.figure("pressure iterations, sampled once a millisecond", iterations, "");
    context.figure("CPU time per simulated millisecond", cpu / f64::from(frames), "s");
    context.figure("CPU time per step and active cell", 1e9 * cpu / steps / cells, "ns");
    context.figure("interFoam's CPU time over it", INTERFOAM * f64::from(frames) / cpu, "");
    Ok(())
}

fn scaling(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let mut points = Vec::new();
    for (count, steps) in [(1, 200.0), (12, 40.0), (144, 6.0)] {
        points.push(cost_of_steps(context, &format!("{count} drops"), half_balls(count)?, steps)?);
    }
    context.figure("exponent of cost over active cells, more drops", slope(&points), "");
    points.clear();
    for (radius, steps) in [(10.0, 200.0), (22.0, 60.0), (48.0, 20.0), (110.0, 6.0)] {
        points.push(cost_of_steps(context, &format!("radius of {radius} cells"), hemisphere_of(radius)?, steps)?);
    }
    // More of a larger drop's active cells hold liquid, and those cost more.
    context.figure("exponent of cost over active cells, a larger drop", slope(&points), "");
    Ok(())
}

/// So many half balls of 10 cells radius on the plane, in rows of twelve.
fn half_balls(count: u32) -> Result<Volume, CaseError> {
    let cap = |number: u32| {
        let (x, z) = (4.0 * f64::from(number % 12), 4.0 * f64::from(number / 12));
        let volume = 2.0 / 3.0 * std::f64::consts::PI * (10.0 * CELL).powi(3);
        format!(
            "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} 0 {z} mm\"\nvolume = \"{volume} mm^3\"\ncontact_angle = \"90 deg\"\n"
        )
    };
    model(&(0..count).map(cap).collect::<String>())
}

/// Measures about so many steps: ln of the active cells, ln of the CPU time of a step.
fn cost_of_steps(
    context: &mut BenchContext<'_>,
    what: &str,
    mut model: Volume,
    steps: f64,
) -> Result<(f64, f64), CaseError> {
    (context.report)(what);
    // The first steps find the memory that all others use.
    let warming = time_of(&model, 3.0);
    advance(&mut model, warming, &mut NoTimer)?;
    let cells = active_cells(&model);
    let before = context.cpu_seconds();
    let time = time_of(&model, steps);
    let steps = context.time(time, |stages| advance(&mut model, time, stages))?;
    let cost = (context.cpu_seconds() - before) / steps;
    context.figure(format!("active cells, {what}"), cells, "");
    context.figure(format!("CPU time per step, {what}"), 1e3 * cost, "ms");
    Ok((cells.ln(), cost.ln()))
}

/// Slope of the straight line through points by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let products = points.iter().map(|p| ((p.0 - x) * (p.1 - y), (p.0 - x) * (p.0 - x)));
    let (xy, xx) = products.fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
    xy / xx
}

fn sparse(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let mut drops = String::new();
    for number in 0..9 {
        // Spread over 40 mm in every direction: three on each of three levels, no two above each
        // other.
        let x = f64::from(number % 3) * 17.0 + 1.7 * f64::from(number / 3) - 18.0;
        let z = f64::from((number + number / 3) % 3) * 17.0 - 17.0;
        let y = 2.0 + 17.0 * f64::from(number / 3);
        drops += &format!("[[drops]]\ncenter = \"{x} {y} {z} mm\"\nradius = \"1 mm\"\n");
    }
    let mut model = model(&drops)?;
    let time = time_of(&model, 20.0);
    context.time(time, |stages| advance(&mut model, time, stages))?;
    let cells = active_cells(&model);
    context.figure("active cells", cells, "");
    context.figure("part of the region that is active", cells / 400f64.powi(3), "");
    if let Some(bytes) = peak_memory() {
        context.figure("peak memory", bytes as f64 / 1e9, "GB");
    }
    Ok(())
}

fn threads(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let mut walls = Vec::new();
    for threads in [1, 2] {
        (context.report)(&format!("{threads} thread(s)"));
        let pool = thread_pool(NonZeroUsize::new(threads))?;
        let mut model = hemisphere_of(48.0)?;
        let time = time_of(&model, 15.0);
        pool.install(|| advance(&mut model, 0.2 * time, &mut NoTimer))?;
        let began = Instant::now();
        // The stage timer belongs to the caller's thread, so stages are not timed here.
        context.time(time, |_| pool.install(|| advance(&mut model, time, &mut NoTimer)))?;
        walls.push(began.elapsed().as_secs_f64());
        if threads == 1 {
            context.figure("active cells", active_cells(&model), "");
        }
    }
    context.figure("wall time of one thread over two", walls[0] / walls[1], "");
    Ok(())
}
