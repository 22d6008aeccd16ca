//! Makes the samples of a dataset, and single samples.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use sessile_frames::atomic::{self, Durability, FileError};

use crate::error::DatasetError;
use crate::recipe::Recipe;
use crate::sample::{Line, SampleCache, make_sample};
use crate::spec::Spec;

/// File of the resolved spec in a dataset's folder.
const SPEC: &str = "dataset.json";

/// The folder of a sample.
pub fn sample_folder(folder: &Path, sample: u64) -> PathBuf {
    folder.join("samples").join(format!("{sample:06}"))
}

impl Spec {
    /// Writes the spec to a dataset's folder; an error if that holds samples of another one.
    pub fn save(&self, folder: &Path) -> Result<(), DatasetError> {
        let path = folder.join(SPEC);
        atomic::create_folder(&folder.join("samples"))?;
        let text = serde_json::to_vec_pretty(self).map_err(|error| broken(&path, &error))?;
        if path.is_file() {
            let same = atomic::read(&path)? == text;
            return if same { Ok(()) } else { Err(DatasetError::OtherSpec { folder: folder.to_owned() }) };
        }
        Ok(atomic::write(&path, &text, Durability::Handed)?)
    }

    /// Reads the spec of a dataset's folder.
    pub fn load(folder: &Path) -> Result<Self, DatasetError> {
        let path = folder.join(SPEC);
        serde_json::from_slice(&atomic::read(&path)?).map_err(|error| broken(&path, &error))
    }
}

fn broken(path: &Path, error: &serde_json::Error) -> DatasetError {
    DatasetError::Broken { file: path.to_owned(), reason: error.to_string() }
}

/// Makes the missing ones of the samples from `first` to `last` until `stop` is set; `made` is
/// called after each. All are tried; the first error is returned. Uses the caller's thread pool.
pub fn generate(
    spec: &Spec,
    folder: &Path,
    first: u64,
    last: u64,
    stop: &AtomicBool,
    made: &(dyn Fn() + Sync),
) -> Result<(), DatasetError> {
    let cache = SampleCache::default();
    let make = |sample: u64| {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let result = make_sample(&spec.recipe(sample), &sample_folder(folder, sample), &cache);
        made();
        result.map_err(|cause| DatasetError::Sample { sample, cause })
    };
    let results: Vec<Result<(), DatasetError>> = (first..=last).into_par_iter().map(make).collect();
    results.into_iter().collect()
}

/// The recipe of a sample in a `samples.jsonl`.
pub fn recipe_of_line(file: &Path, sample: u64) -> Result<Recipe, DatasetError> {
    let wrong = |reason: String| DatasetError::Line { file: file.to_owned(), reason };
    let failed = |cause| FileError::new("read", file, cause);
    let lines = BufReader::new(sessile_input::open(file, u64::MAX).map_err(failed)?).lines();
    for line in lines {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line =
            serde_json::from_str(&line).map_err(|error| wrong(format!("a line is not a sample: {error}")))?;
        if line.recipe.sample == sample {
            return Ok(line.recipe);
        }
    }
    Err(wrong(format!("there is no sample {sample}")))
}
