//! Lists the samples of a dataset: `samples.jsonl`, `coco.json`, `train.txt`, `val.txt`, shards.
//!
//! Samples are read one after the other in the order of their numbers, so only the list of images
//! is held in memory, and the files do not depend on the order in which the samples were made.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;
use sessile_frames::atomic::{self, FileError};
use sessile_images::Image;

use crate::coco::{compressed, instances};
use crate::error::DatasetError;
use crate::generate::sample_folder;
use crate::sample::{IMAGES, LINE, Line};
use crate::shards;

/// Totals of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Number of samples.
    pub samples: u64,
    /// Number of instances in `coco.json`.
    pub instances: u64,
    /// Size of all samples, in bytes.
    pub bytes: u64,
    /// Mean coverage, from 0 to 1.
    pub coverage: f64,
}

/// A file that appears under its name when it is finished.
struct Output {
    path: std::path::PathBuf,
    part: std::path::PathBuf,
    file: BufWriter<File>,
}

impl Output {
    fn create(path: &Path) -> Result<Self, DatasetError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&part).map_err(|cause| FileError::new("create", &part, cause))?;
        Ok(Self { path: path.to_owned(), part, file: BufWriter::new(file) })
    }

    fn write(&mut self, text: &str) -> Result<(), DatasetError> {
        Ok(self.file.write_all(text.as_bytes()).map_err(|cause| FileError::new("write", &self.part, cause))?)
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        self.file.flush().map_err(|cause| FileError::new("write", &self.part, cause))?;
        Ok(atomic::rename(&self.part, &self.path)?)
    }
}

/// Lists the samples from 0 to `count` that exist. Instances of fewer than `least_area` pixels are
/// left out of `coco.json`; `per_shard` samples go into each archive, none for 0.
pub fn gather(folder: &Path, count: u64, least_area: u32, per_shard: u32) -> Result<Totals, DatasetError> {
    let mut totals = Totals::default();
    let mut lines = Output::create(&folder.join("samples.jsonl"))?;
    let mut coco = Output::create(&folder.join("coco.json"))?;
    let mut images = Vec::new();
    let mut splits = [Output::create(&folder.join("train.txt"))?, Output::create(&folder.join("val.txt"))?];
    coco.write("{\"info\": {\"description\": \"drops rendered by sessile\"}, \"licenses\": [],\n\"annotations\": [")?;
    let mut archives = [Shards::new(folder, "train", per_shard), Shards::new(folder, "val", per_shard)];
    for sample in 0..count {
        let at = sample_folder(folder, sample);
        if !at.join(LINE).is_file() {
            continue;
        }
        let text = read(&at.join(LINE))?;
        let line: Line = serde_json::from_slice(&text).map_err(|error| broken(&at.join(LINE), &error.to_string()))?;
        lines.write(&format!("{}\n", String::from_utf8_lossy(&text).trim_end()))?;
        let split = usize::from(line.recipe.split == "val");
        splits[split].write(&format!("{sample:06}\n"))?;
        let image = json!({"id": sample, "file_name": format!("samples/{sample:06}/wet.png"), "split": line.recipe.split,
            "width": line.recipe.size[0], "height": line.recipe.size[1]});
        images.push(image.to_string());
        annotate(&at, sample, least_area, &mut totals, &mut coco)?;
        totals.samples += 1;
        totals.coverage += line.coverage;
        totals.bytes += archives[split].add(&at, sample, &text)?;
    }
    totals.coverage /= totals.samples.max(1) as f64;
    coco.write(&format!("],\n\"images\": [\n{}],\n", images.join(",\n")))?;
    coco.write("\"categories\": [{\"id\": 1, \"name\": \"drop\", \"supercategory\": \"water\"}]}\n")?;
    archives.into_iter().try_for_each(Shards::finish)?;
    lines.finish()?;
    coco.finish()?;
    splits.into_iter().try_for_each(Output::finish)?;
    Ok(totals)
}

fn read(path: &Path) -> Result<Vec<u8>, DatasetError> {
    Ok(atomic::read(path)?)
}

fn broken(file: &Path, reason: &str) -> DatasetError {
    DatasetError::Broken { file: file.to_owned(), reason: reason.to_owned() }
}

/// Adds the annotations of a sample, from its image of ids.
fn annotate(
    at: &Path,
    sample: u64,
    least_area: u32,
    totals: &mut Totals,
    coco: &mut Output,
) -> Result<(), DatasetError> {
    let file = at.join("ids.png");
    let image = Image::read(&file).map_err(|error| broken(&file, &error.to_string()))?;
    let id = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], 0]);
    let ids: Vec<u32> = image.rgb_bytes().chunks_exact(3).map(id).collect();
    let size = [image.width(), image.height()];
    for instance in instances(&ids, size).iter().filter(|found| found.area >= least_area as usize) {
        coco.write(if totals.instances == 0 { "\n" } else { ",\n" })?;
        totals.instances += 1;
        let annotation = json!({"id": totals.instances, "image_id": sample, "category_id": 1, "iscrowd": 0,
            "area": instance.area, "bbox": instance.bounds, "drop": instance.id,
            "segmentation": {"size": [size[1], size[0]], "counts": compressed(&instance.runs)}});
        coco.write(&annotation.to_string())?;
    }
    Ok(())
}

/// The archives of one split.
struct Shards {
    folder: std::path::PathBuf,
    split: &'static str,
    per_shard: u32,
    written: u32,
    shard: u32,
    open: Option<Output>,
}

impl Shards {
    fn new(folder: &Path, split: &'static str, per_shard: u32) -> Self {
        Self { folder: folder.join("shards"), split, per_shard, written: 0, shard: 0, open: None }
    }

    /// Adds a sample to the archive, if archives are written; returns the size of its files.
    fn add(&mut self, at: &Path, sample: u64, line: &[u8]) -> Result<u64, DatasetError> {
        let mut size = line.len() as u64;
        if self.per_shard == 0 {
            for name in IMAGES {
                let path = at.join(name);
                size += std::fs::metadata(&path).map_err(|cause| FileError::new("read", &path, cause))?.len();
            }
            return Ok(size);
        }
        if self.open.is_none() {
            atomic::create_folder(&self.folder)?;
            self.open = Some(Output::create(&self.folder.join(format!("{}-{:06}.tar", self.split, self.shard)))?);
            self.shard += 1;
        }
        if let Some(output) = &mut self.open {
            let mut put = |name: String, content: &[u8]| {
                let failed = |cause| FileError::new("write", &output.part, cause);
                shards::append(&mut output.file, &name, content).map_err(failed)
            };
            for name in IMAGES {
                let content = read(&at.join(name))?;
                size += content.len() as u64;
                put(format!("{sample:06}.{name}"), &content)?;
            }
            put(format!("{sample:06}.json"), line)?;
        }
        self.written += 1;
        if self.written.is_multiple_of(self.per_shard) {
            self.close()?;
        }
        Ok(size)
    }

    fn close(&mut self) -> Result<(), DatasetError> {
        let Some(mut output) = self.open.take() else { return Ok(()) };
        shards::finish(&mut output.file).map_err(|cause| FileError::new("write", &output.part, cause))?;
        output.finish()
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        self.close()
    }
}
