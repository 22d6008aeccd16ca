//! Benchmarks of datasets and of ground truth.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use sessile_dataset::{Spec, gather, generate, street};
use sessile_render::{Substrate, drop_lattice, ground_truth, wet_drop_lattice, write_png};
use sessile_validation::bench::{Bench, BenchContext};
use sessile_validation::validate::CaseError;

/// Samples of the timed dataset; its first block also filters the light.
const SAMPLES: u64 = 24;

/// Samples at full quality.
const FULL_SAMPLES: u64 = 2;

/// Photographs behind the drops.
const PHOTOS: u64 = 4;

/// Columns and rows of the image that ground truth is measured on.
const SIZE: [usize; 2] = [640, 360];

/// The benches.
pub fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "dataset",
            about: "24 samples of the windscreen spec of docs/dataset.md, 640 x 360, preview quality: simulated, rendered with ground truth \
                    and written.",
            run: |context| dataset(context, "preview", SAMPLES),
        },
        Bench {
            name: "dataset-full",
            about: "As `dataset`, 2 path-traced samples.",
            run: |context| dataset(context, "full", FULL_SAMPLES),
        },
        Bench {
            name: "ground-truth",
            about: "Mask, ids, depth and flow of 2 000 drops on a pane, 640 x 360.",
            run: truth,
        },
    ]
}

/// The spec of the tutorial.
const SPEC: &str = include_str!("../../../../docs/examples/windscreen.toml");

fn dataset(context: &mut BenchContext<'_>, quality: &str, samples: u64) -> Result<(), CaseError> {
    let folder = std::env::temp_dir().join(format!("sessile-bench-{}", std::process::id()));
    let made = timed(context, &folder, quality, samples);
    let _: std::io::Result<()> = std::fs::remove_dir_all(&folder);
    made
}

fn timed(context: &mut BenchContext<'_>, folder: &Path, quality: &str, samples: u64) -> Result<(), CaseError> {
    (context.report)("painting photographs");
    let photos = folder.join("photos");
    std::fs::create_dir_all(&photos)?;
    for seed in 0..PHOTOS {
        write_png(&photos.join(format!("{seed}.png")), SIZE[0] * 2, SIZE[1] * 2, &street(SIZE.map(|n| 2 * n), seed))?;
    }
    let text = format!("quality = \"{quality}\"\n{SPEC}");
    let spec = Spec::parse("windscreen.toml", &text, folder)?;
    spec.save(folder)?;
    context.time(0.0, |_| generate(&spec, folder, 0, samples - 1, &AtomicBool::new(false), &|| ()))?;
    let totals = gather(folder, samples, spec.least_area, spec.shard)?;
    context.figure("samples per minute", 60.0 * samples as f64 / context.wall_seconds(), "1/min");
    context.figure("CPU time per sample", context.cpu_seconds() / samples as f64, "s");
    context.figure("size of a sample", 1e-6 * totals.bytes as f64 / samples as f64, "MB");
    context.figure("mean coverage", 100.0 * totals.coverage, "%");
    Ok(())
}

fn truth(context: &mut BenchContext<'_>) -> Result<(), CaseError> {
    const FRAMES: u32 = 5;
    let (clean, _, camera) = drop_lattice(Substrate::Pane, 2_000)?;
    let wet = wet_drop_lattice(Substrate::Pane, 2_000)?;
    for _ in 0..FRAMES {
        context.time(0.0, |_| ground_truth(&wet, &clean, &camera, SIZE));
    }
    let truth = ground_truth(&wet, &clean, &camera, SIZE);
    let covered = truth.coverage.iter().map(|&c| f64::from(c)).sum::<f64>() / truth.coverage.len() as f64;
    context.figure("CPU time per image", context.cpu_seconds() / f64::from(FRAMES), "s");
    context.figure("covered", 100.0 * covered, "%");
    Ok(())
}
