//! Benches of the pane model.

use glam::DVec2;
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_scene::{NoFiles, parse_str};
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// The pane model's benches.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "pane",
            about: "A glass front of 2048 × 2048 cells with 500 000 drops, 50 000 of them running, through one second of 60 frames; \
                    frames are not written. Drops that merge or run off are replaced between frames, outside the clock.",
            run: |context| window(context, &Work { cells: 2048, drops: 500_000, runners: 50_000 }),
        },
        Bench {
            name: "pane-half-moving",
            about: "As `pane`, with 25 000 running: about half the cost.",
            run: |context| window(context, &Work { cells: 2048, drops: 500_000, runners: 25_000 }),
        },
        Bench {
            name: "pane-four-times-the-cells",
            about: "As `pane`, the same number of drops on glass of twice the width and height: 4096 × 4096 cells. Ground that nobody \
                    runs over costs nothing.",
            run: |context| window(context, &Work { cells: 4096, drops: 500_000, runners: 50_000 }),
        },
    ]
}

struct Work {
    cells: u32,
    drops: usize,
    runners: usize,
}

/// Side of a cell, in m: it holds one running drop, as in the paper.
const CELL: f64 = 4e-3;
const FRAMES: u32 = 60;
/// Runners are a little heavier than what ordinary glass out of doors holds upright (18 µL), in m³.
const RUNNER: f64 = 19e-9;

fn window(context: &mut BenchContext<'_>, work: &Work) -> Result<(), CaseError> {
    let side = CELL * f64::from(work.cells);
    let text = format!(
        "model = \"pane\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[pane]\ncell = \"{CELL} m\"\n\
         [[solids]]\nname = \"window\"\nmaterial = \"glass-outdoor\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"{side} {side} m\"\n"
    );
    let scene = parse_str("bench", &text, &[], &NoFiles)?.scene;
    let mut pane = Pane::new(&scene, World::build(&scene)?)?;
    (context.say)("placing drops");
    let mut random = Stream::new(1, &[]);
    // On a lattice to begin with, every so manieth a runner, so that none touch.
    let columns = (work.drops as f64).sqrt().ceil() as usize;
    let spacing = side / columns as f64;
    let every = work.drops / work.runners;
    for index in 0..work.drops {
        let middle = DVec2::new((index % columns) as f64 + 0.5, (index / columns) as f64 + 0.5);
        let jitter = DVec2::new(random.uniform(), random.uniform()) - 0.5;
        let at = (middle + 0.5 * jitter) * spacing;
        // Rows are shifted, so that runners do not stand below one another.
        let runs = (index + 3 * (index / columns)).is_multiple_of(every);
        pane.add_drop(at, if runs { RUNNER } else { resting_volume(&mut random) });
    }
    // Half a million drops have just come down at once; that is not what is timed.
    pane.step(1e-6, &mut NoTimer)?;
    let (mut drops, mut running, mut steps) = (0usize, 0usize, 0u32);
    let (mut speed, mut slowest) = (0.0, 0.0_f64);
    for frame in 0..FRAMES {
        replenish(&mut pane, work, side, &mut random);
        if frame.is_multiple_of(20) {
            (context.say)(&format!("frame {frame}: {} drops, {} running", pane.num_drops(), pane.num_sliding()));
        }
        let end = pane.time() + 1.0 / f64::from(FRAMES);
        let began = std::time::Instant::now();
        context.time(1.0 / f64::from(FRAMES), |stages| -> Result<(), CaseError> {
            while end - pane.time() > 1e-9 {
                pane.step(end - pane.time(), stages)?;
                steps += 1;
            }
            Ok(())
        })?;
        slowest = slowest.max(began.elapsed().as_secs_f64());
        speed += pane.mean_sliding_speed();
        drops += pane.num_drops();
        running += pane.num_sliding();
    }
    context.figure("cells", f64::from(work.cells).powi(2), "");
    context.figure("drops, mean", drops as f64 / f64::from(FRAMES), "");
    context.figure("running, mean", running as f64 / f64::from(FRAMES), "");
    context.figure("steps per frame", f64::from(steps) / f64::from(FRAMES), "");
    context.figure("mean speed", 1e3 * speed / f64::from(FRAMES), "mm/s");
    context.figure("slowest frame", 1e3 * slowest, "ms");
    context.figure("frames per second", f64::from(FRAMES) / context.wall_seconds(), "1/s");
    Ok(())
}

/// 0.1 to 0.5 µL: far too light to run.
fn resting_volume(random: &mut Stream) -> f64 {
    random.uniform_in(0.1e-9, 0.5e-9)
}

/// Brings the numbers of drops and of runners back up, at random places.
fn replenish(pane: &mut Pane, work: &Work, side: f64, random: &mut Stream) {
    let mut place = || DVec2::new(random.uniform(), random.uniform()) * side;
    for _ in pane.num_sliding()..work.runners {
        pane.add_drop(place(), RUNNER);
    }
    for _ in pane.num_drops()..work.drops {
        let at = place();
        pane.add_drop(at, 0.3e-9);
    }
}
