//! Datasets for computer vision: pairs of images with and without drops, and their ground truth.
//!
//! A [`Spec`] describes random scenes: a base scene, photographs behind it, distributions of its
//! keys, and how drops come about. [`Spec::recipe`] draws a [`Recipe`] for each sample;
//! [`make_sample`] simulates and renders it. [`generate`] makes what is missing of a dataset and
//! [`gather`](fn@gather) lists it for training programs:
//!
//! ```text
//! datasets/windscreen/
//!   dataset.json         the spec, with all that it refers to
//!   samples/000000/      wet.png clean.png coverage.png ids.png depth.exr flow.exr sample.json
//!   samples.jsonl        the lines of all samples
//!   coco.json            instances in COCO's format, run-length encoded
//!   train.txt val.txt    numbers of the samples of each split
//!   shards/              WebDataset archives, if the spec asks for them
//! ```
//!
//! A sample depends on its recipe only, and appears under its name when it is complete. So a
//! dataset can be resumed, extended, and made by several processes.

mod coco;
mod distribution;
mod error;
mod gather;
mod generate;
mod recipe;
mod sample;
mod shards;
mod spec;
mod street;

pub use distribution::Distribution;
pub use error::{DatasetError, SampleError};
pub use gather::{Totals, gather};
pub use generate::{generate, recipe_of_line, sample_folder};
pub use recipe::{Process, Recipe};
pub use sample::{CameraParameters, IMAGES, Line, SampleCache, make_sample};
pub use spec::Spec;
pub use street::street;
