//! Benchmarks of previews.

use sessile_render::Preview;
use sessile_render::{Exposure, to_srgb};
use sessile_render::{Substrate, drop_lattice, slanting};
use sessile_scene::types::ViewTransform;
use sessile_validation::bench::{Bench, BenchContext, StageTimer};
use sessile_validation::validate::CaseError;

const SIZE: [usize; 2] = [640, 360];
const FRAMES: u32 = 30;

/// The benches.
pub fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "preview",
            about: "A second of 30 previews, 640 x 360, of 2 000 drops on a table: all from a frame's surfaces to sRGB bytes, with nothing kept \
                    but the filtered light; frames are not read.",
            run: |context| previews(context, Substrate::Table, 2_000, false),
        },
        Bench {
            name: "preview-lens",
            about: "As `preview`, through a lens from 25 degrees above the table: near and far drops are out of focus, and drops show those behind them.",
            run: |context| previews(context, Substrate::Table, 2_000, true),
        },
        Bench {
            name: "preview-pane",
            about: "As `preview`, on a pane of glass before a sky.",
            run: |context| previews(context, Substrate::Pane, 2_000, false),
        },
        Bench {
            name: "preview-20000",
            about: "As `preview`, of 20 000 drops.",
            run: |context| previews(context, Substrate::Table, 20_000, false),
        },
    ]
}

fn previews(context: &mut BenchContext<'_>, ground: Substrate, count: usize, lens: bool) -> Result<(), CaseError> {
    let (stage, liquid, camera) = drop_lattice(ground, count)?;
    let camera = if lens { slanting(camera) } else { camera };
    (context.report)("filtering the light");
    let began = std::time::Instant::now();
    let mut preview = Preview::new(&stage);
    // The first picture also sums the illumination texture for the ground.
    let exposure = Exposure::automatic([&preview.render(&stage, &liquid, &camera, SIZE)]);
    let ready = began.elapsed().as_secs_f64();
    for _ in 0..FRAMES {
        context.time(1.0 / f64::from(FRAMES), |clock| {
            clock.enter("draw");
            let picture = preview.render(&stage, &liquid, &camera, SIZE);
            clock.enter("tone map");
            to_srgb(&picture, exposure, ViewTransform::Filmic)
        });
    }
    context.figure("drops", count as f64, "");
    context.figure("triangles of drops", liquid.triangles.len() as f64, "");
    context.figure("light ready and first picture after", ready, "s");
    context.figure("CPU time per picture", 1e3 * context.cpu_seconds() / f64::from(FRAMES), "ms");
    context.figure("pictures per second", f64::from(FRAMES) / context.wall_seconds(), "1/s");
    Ok(())
}
