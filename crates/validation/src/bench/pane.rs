//! Benchmarks of the pane model.

use glam::DVec2;
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_scene::{NoFiles, parse_str};
use sessile_world::World;
use sessile_world::random::Stream;

use super::{Bench, BenchContext};
use crate::validate::CaseError;

/// Benchmarks of the pane model.
pub(super) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "pane",
            about: "A glass front of 2048 × 2048 cells with 500 000 drops, 50 000 of them sliding, for one second of 60 frames; \
                    frames are not written. Drops that merge or leave are replaced between frames, which is not timed.",
            run: |context| window(context, &Work { cells: 2048, drops: 500_000, sliding: 50_000 }),
        },
        Bench {
            name: "pane-half-sliding",
            about: "As `pane`, with 25 000 sliding: about half the cost.",
            run: |context| window(context, &Work { cells: 2048, drops: 500_000, sliding: 25_000 }),
        },
        Bench {
            name: "pane-4x-cells",
            about: "As `pane`, the same number of drops on glass of twice the width and height: 4096 × 4096 cells. Cells without a \
                    sliding drop cost nothing.",
            run: |context| window(context, &Work { cells: 4096, drops: 500_000, sliding: 50_000 }),
        },
    ]
}

struct Work {
    cells: u32,
    drops: usize,
    sliding: usize,
}

/// Cell size, in m: that of one sliding drop, as in the paper.
const CELL: f64 = 4e-3;
const FRAMES: u32 = 60;
/// Volume of sliding drops, slightly above the critical volume on a vertical pane (18 µL), in m³.
const SLIDING_VOLUME: f64 = 19e-9;

fn window(context: &mut BenchContext<'_>, work: &Work) -> Result<(), CaseError> {
    let side = CELL * f64::from(work.cells);
    let text = format!(
        "model = \"pane\"\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[pane]\ncell = \"{CELL} m\"\n\
         [[solids]]\nname = \"window\"\nmaterial = \"glass-outdoor\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"{side} {side} m\"\n"
    );
    let scene = parse_str("bench", &text, &[], &NoFiles)?.scene;
    let mut pane = Pane::new(&scene, World::build(&scene)?)?;
    (context.report)("placing drops");
    let mut random = Stream::new(1, &[]);
    // On a lattice, so that none touch; every n-th drop slides.
    let columns = (work.drops as f64).sqrt().ceil() as usize;
    let spacing = side / columns as f64;
    let every = work.drops / work.sliding;
    for index in 0..work.drops {
        let middle = DVec2::new((index % columns) as f64 + 0.5, (index / columns) as f64 + 0.5);
        let jitter = DVec2::new(random.uniform(), random.uniform()) - 0.5;
        let at = (middle + 0.5 * jitter) * spacing;
        // Rows are shifted, so that sliding do not stand below one another.
        let slides = (index + 3 * (index / columns)).is_multiple_of(every);
        pane.add_drop(at, if slides { SLIDING_VOLUME } else { resting_volume(&mut random) });
    }
    // The deposition of half a million drops is not timed.
    pane.step(1e-6, &mut NoTimer)?;
    let (mut drops, mut running, mut steps) = (0usize, 0usize, 0u32);
    let (mut speed, mut slowest) = (0.0, 0.0_f64);
    for frame in 0..FRAMES {
        replenish(&mut pane, work, side, &mut random);
        if frame.is_multiple_of(20) {
            (context.report)(&format!("frame {frame}: {} drops, {} sliding", pane.num_drops(), pane.num_sliding()));
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
    context.figure("sliding, mean", running as f64 / f64::from(FRAMES), "");
    context.figure("steps per frame", f64::from(steps) / f64::from(FRAMES), "");
    context.figure("mean speed", 1e3 * speed / f64::from(FRAMES), "mm/s");
    context.figure("slowest frame", 1e3 * slowest, "ms");
    context.figure("frames per second", f64::from(FRAMES) / context.wall_seconds(), "1/s");
    Ok(())
}

/// 0.1 to 0.5 µL: far below the critical volume.
fn resting_volume(random: &mut Stream) -> f64 {
    random.uniform_in(0.1e-9, 0.5e-9)
}

/// Replaces missing drops and sliding drops at random positions.
fn replenish(pane: &mut Pane, work: &Work, side: f64, random: &mut Stream) {
    let mut position = || DVec2::new(random.uniform(), random.uniform()) * side;
    for _ in pane.num_sliding()..work.sliding {
        pane.add_drop(position(), SLIDING_VOLUME);
    }
    for _ in pane.num_drops()..work.drops {
        let at = position();
        pane.add_drop(at, 0.3e-9);
    }
}
