//! The description of a dataset: a TOML file with distributions.

mod check;
mod reader;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessile_scene::Diagnostics;
use sessile_world::random::Stream;

use crate::distribution::Distribution;
use crate::recipe::{Process, Recipe};

/// Keys of random streams.
const SEED: u64 = 1;
const SPLIT: u64 = 2;
const BACKDROP: u64 = 3;
const DROPS: u64 = 4;

/// How drops may come about in a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DropSpec {
    /// The process.
    pub process: Process,
    /// Relative probability.
    pub weight: f64,
    /// Name of the solid that the drops are on.
    pub on: String,
    /// Values of the process.
    pub values: BTreeMap<String, Distribution>,
}

/// A description of random samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Version of the program.
    pub version: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Text of the base scene.
    pub scene: String,
    /// Folder that file names of the scene are relative to.
    pub folder: PathBuf,
    /// Photographs.
    pub backdrops: Vec<PathBuf>,
    /// Columns and rows.
    pub size: [u32; 2],
    /// `preview` or `full`.
    pub quality: String,
    /// Fraction of samples in the validation split.
    pub val: f64,
    /// Samples per WebDataset shard; 0 for none.
    pub shard: u32,
    /// Instances of fewer pixels are left out of `coco.json`.
    pub least_area: u32,
    /// How drops come about; one is drawn for each sample.
    pub drops: Vec<DropSpec>,
    /// Distributions of scene keys.
    pub vary: Vec<(String, Distribution)>,
}

impl Spec {
    /// Reads a spec file; all its errors at once.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        let name = path.to_string_lossy();
        let text = match sessile_input::read(path, sessile_input::MAX_TEXT).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => return Err(Diagnostics::file_error(&name, format!("{name} is not UTF-8 text"))),
            Err(error) => return Err(Diagnostics::file_error(&name, format!("cannot read the spec {name}: {error}"))),
        };
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::parse(&name, &text, absolute.parent().unwrap_or(Path::new("/")))
    }

    /// Reads a spec from text; file names are relative to `folder`.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Self, Diagnostics> {
        let (spec, mut errors, places) = reader::read(name, text, folder)?;
        if errors.is_empty() {
            errors = check::check(&spec, &places);
        }
        if errors.is_empty() { Ok(spec) } else { Err(Diagnostics::errors(name, text, errors)) }
    }

    /// Draws a sample.
    pub fn recipe(&self, sample: u64) -> Recipe {
        let stream = |key: u64| Stream::new(self.seed, &[sample, key]);
        // TOML guarantees no more than 63 bits.
        let seed = stream(SEED).next_u64() >> 1;
        let drops = self.pick_drops(stream(DROPS).uniform());
        let draw = |(key, distribution): (&String, &Distribution)| {
            // The volume of each scattered drop is drawn when it is placed.
            let each = drops.process == Process::Scatter && key == "volume";
            let value =
                if each { distribution.text().to_owned() } else { distribution.draw(&format!("drops.{key}"), seed) };
            (key.clone(), value)
        };
        Recipe {
            sample,
            split: if stream(SPLIT).uniform() < self.val { "val" } else { "train" }.to_owned(),
            seed,
            version: self.version.clone(),
            quality: self.quality.clone(),
            size: self.size,
            backdrop: self.backdrops[stream(BACKDROP).index(self.backdrops.len())].clone(),
            process: drops.process,
            on: drops.on.clone(),
            drops: drops.values.iter().map(draw).collect(),
            set: self.vary.iter().map(|(key, value)| format!("{key}={}", value.draw(key, seed))).collect(),
            scene: self.scene.clone(),
            folder: self.folder.clone(),
        }
    }

    /// One of the ways in which drops come about, by weight.
    fn pick_drops(&self, uniform: f64) -> &DropSpec {
        let total: f64 = self.drops.iter().map(|drops| drops.weight).sum();
        let mut left = uniform * total;
        let picked = self.drops.iter().find(|drops| {
            left -= drops.weight;
            left < 0.0
        });
        picked.unwrap_or(&self.drops[self.drops.len() - 1])
    }
}
