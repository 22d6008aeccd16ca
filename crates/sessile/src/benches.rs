//! All benchmarks: those of the models, and those of rendering.

mod dataset;
mod preview;

use sessile_render::Framebuffer;
use sessile_render::drop_on_checks;
use sessile_render::{ImageSettings, render_image};
use sessile_validation::bench::{Bench, BenchContext};
use sessile_validation::validate::CaseError;

/// Columns and rows of the picture.
const SIZE: usize = 512;

/// Samples of the picture that is timed, and of the one that it is compared with.
const SAMPLES: u32 = 16;
const REFERENCE_SAMPLES: u32 = 64;

/// Photons of the picture that it is compared with.
const REFERENCE_PHOTONS: u32 = 1 << 19;

/// All benches.
pub fn benches() -> Vec<Bench> {
    let render = Bench {
        name: "render",
        about: "The drop on checks that Mitsuba renders in 23 CPU s to a noise of 0.021: 512 x 512 pixels, not denoised.",
        run: drop_picture,
    };
    let mut all = sessile_validation::bench::benches();
    all.push(render);
    all.extend(preview::benches());
    all.extend(dataset::benches());
    all
}

fn drop_picture(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    let (stage, camera) = drop_on_checks();
    let size = [SIZE, SIZE];
    let settings = ImageSettings { size, samples: SAMPLES, ..ImageSettings::default() };
    let (picture, cost) = context.time(0.0, |_| render_image(&stage, &camera, &settings, &|_, _| ()));
    (context.report)("the picture that it is compared with");
    let calm =
        ImageSettings { samples: REFERENCE_SAMPLES, photons: REFERENCE_PHOTONS, seed: settings.seed + 1, ..settings };
    let (reference, _) = render_image(&stage, &camera, &calm, &|_, _| ());
    context.figure("samples per pixel", f64::from(SAMPLES), "");
    context.figure("noise (root mean square error of linear radiance)", error(&picture, &reference), "");
    let seconds = context.cpu_seconds();
    if seconds > 0.0 {
        context.figure("million rays per CPU second", 1e-6 * cost.rays as f64 / seconds, "");
    }
    Ok(())
}

fn error(a: &Framebuffer, b: &Framebuffer) -> f64 {
    let squares: f64 = a.color.iter().zip(&b.color).map(|(a, b)| f64::from((*a - *b).length_squared()) / 3.0).sum();
    (squares / a.color.len().max(1) as f64).sqrt()
}
