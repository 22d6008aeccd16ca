//! `sessile dataset`: image pairs with ground truth of random drops.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use sessile_dataset::{
    DatasetError, Recipe, SampleCache, Spec, generate, make_sample, recipe_of_line, sample_folder, street,
};
use sessile_jobs::{JobsError, Plan, Stage};
use sessile_render::write_png;

use super::on_threads;
use crate::args::{DatasetArgs, DatasetGatherArgs, DatasetSamplesArgs};
use crate::commands::jobs::{self, Executed};
use crate::commands::run;
use crate::failure::Failure;
use crate::interrupt;

/// Samples that one process makes: its light tables are computed once.
const BLOCK: u64 = 50;

/// Estimated CPU time of a sample, in s: of a preview, and of a path-traced image.
const PREVIEW_SECONDS: f64 = 1.5;
const FULL_SECONDS: f64 = 60.0;

/// Size and number of example photographs.
const PHOTO: [usize; 2] = [1280, 720];
const PHOTOS: u64 = 8;

/// Makes a dataset, a single sample, or example photographs.
pub fn dataset(args: &DatasetArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.example_photos {
        return example_photos(folder);
    }
    let (Some(spec), out) = (&args.spec, &args.out) else { return Ok(()) };
    match (args.sample, out, args.count) {
        (Some(sample), Some(out), _) => one(spec, sample, out),
        (_, out, Some(count)) => {
            let default = || Path::new("datasets").join(run::stem(spec));
            all(args, spec, u64::from(count.get()), &out.clone().unwrap_or_else(default))
        }
        _ => Ok(()),
    }
}

/// Makes what is missing of a dataset.
fn all(args: &DatasetArgs, spec: &Path, count: u64, folder: &Path) -> Result<(), Failure> {
    let spec = Spec::read(spec).map_err(Failure::wrong)?;
    spec.save(folder).map_err(failure)?;
    let plan = plan(&spec, count);
    // Another number of samples: those that exist are kept.
    match plan.save(folder) {
        Err(JobsError::OtherPlan { .. }) => plan.save_or_replace(folder),
        saved => saved,
    }
    .map_err(jobs::failure)?;
    let executed = jobs::execute_plan(&plan, folder, &args.execution, "samples")?;
    writeln!(stdout(), "{}", folder.join("samples.jsonl").display())?;
    match executed {
        Executed::Submitted => Ok(()),
        Executed::Here(totals) => jobs::check(&plan, folder, totals, "samples"),
    }
}

/// Samples in blocks, then the lists of all samples.
fn plan(spec: &Spec, count: u64) -> Plan {
    let seconds = if spec.quality == "full" { FULL_SECONDS } else { PREVIEW_SECONDS };
    let command = ["dataset-samples", "{folder}", "{first}", "{last}", "--threads", "{threads}"];
    let samples = Stage::new("samples", command, 0..count);
    let count = count.to_string();
    let lists = Stage::new("gather", ["dataset-gather", "{folder}", count.as_str()], 0..1);
    Plan::new("dataset", vec![samples.in_blocks_of(BLOCK).taking(seconds * BLOCK as f64), lists.uncounted()])
}

/// Makes samples of a dataset's folder.
pub fn samples(args: &DatasetSamplesArgs) -> Result<(), Failure> {
    let spec = Spec::load(&args.folder).map_err(failure)?;
    let stop = interrupt::stop_flag();
    interrupt::begin_work();
    let made = on_threads(super::threads(args.threads), || {
        generate(&spec, &args.folder, args.first, args.last, stop, &|| ())
    })?;
    made.map_err(failure)?;
    if stop.load(Ordering::Relaxed) { Err(Failure::Stopped("stopped".into())) } else { Ok(()) }
}

/// Writes the lists of a dataset's samples.
pub fn gather(args: &DatasetGatherArgs) -> Result<(), Failure> {
    let spec = Spec::load(&args.folder).map_err(failure)?;
    sessile_dataset::gather(&args.folder, args.count, spec.least_area, spec.shard).map_err(failure)?;
    Ok(())
}

/// Makes one sample of a spec, or of a list of samples.
fn one(source: &Path, sample: u64, out: &Path) -> Result<(), Failure> {
    let recipe: Recipe = if source.extension().is_some_and(|extension| extension == "jsonl") {
        recipe_of_line(source, sample).map_err(failure)?
    } else {
        Spec::read(source).map_err(Failure::wrong)?.recipe(sample)
    };
    let folder = sample_folder(out, sample);
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(Failure::failed)?;
    }
    make_sample(&recipe, &folder, &SampleCache::default()).map_err(Failure::failed)?;
    writeln!(stdout(), "{}", folder.display())?;
    Ok(())
}

fn example_photos(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::failed)?;
    for seed in 0..PHOTOS {
        let file: PathBuf = folder.join(format!("street-{seed}.png"));
        write_png(&file, PHOTO[0], PHOTO[1], &street(PHOTO, seed)).map_err(Failure::failed)?;
    }
    writeln!(stdout(), "{}", folder.display())?;
    Ok(())
}

fn failure(error: DatasetError) -> Failure {
    match error {
        DatasetError::Spec(_) | DatasetError::OtherSpec { .. } | DatasetError::Line { .. } => Failure::wrong(error),
        error => Failure::failed(error),
    }
}
