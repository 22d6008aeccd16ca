//! What was measured on a figure: `records/NAME.json`, and the rows of `figures.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sessile_frames::atomic;
use sessile_frames::{Durability, FileError};

use crate::error::FigureError;

/// One row of `figures.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureRecord {
    /// Name of the figure.
    pub figure: String,
    /// Key of the paper in `docs/references.bib`.
    pub paper: String,
    /// `physical` or `paper`.
    pub fidelity: String,
    /// What is measured, with its unit.
    pub measure: String,
    /// The value; `None` if the run does not show what is measured.
    pub value: Option<f64>,
    /// Least value at which the figure counts as reproduced.
    pub min: Option<f64>,
    /// Largest such value.
    pub max: Option<f64>,
    /// Whether the value is within its bounds.
    pub ok: bool,
}

/// The result of a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureRecord {
    /// Name of the figure.
    pub figure: String,
    /// Whether it was made at reduced size.
    pub quick: bool,
    /// Its panels, in the order of the catalog.
    pub panels: Vec<PanelRecord>,
    /// Its measures.
    pub measures: Vec<MeasureRecord>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// A panel that was simulated and rendered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelRecord {
    /// Name of the panel.
    pub name: String,
    /// Names of the images of its strip, below `images/`.
    pub images: Vec<String>,
    /// Times of these images, in s.
    pub times: Vec<f64>,
    /// Width and height of an image, in pixels.
    pub size: [u32; 2],
    /// CPU time of the simulation, in s.
    pub cpu_seconds: f64,
}

impl FigureRecord {
    /// Whether the figure was made and all its measures are within their bounds.
    pub fn holds(&self) -> bool {
        self.error.is_none() && self.measures.iter().all(|measure| measure.ok)
    }

    /// Reads the record of a figure; `None` if there is none yet.
    pub fn read(folder: &Path, figure: &str) -> Result<Option<Self>, FigureError> {
        let file = path(folder, figure);
        if !file.exists() {
            return Ok(None);
        }
        let bytes = atomic::read(&file)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|cause| FigureError::Record { file, cause })
    }

    /// Writes the record.
    ///
    /// # Panics
    /// Never: a record is plain data.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        let file = path(folder, &self.figure);
        atomic::create_folder(file.parent().unwrap_or(folder))?;
        atomic::write(&file, text.as_bytes(), Durability::Handed)
    }
}

fn path(folder: &Path, figure: &str) -> std::path::PathBuf {
    folder.join("records").join(format!("{figure}.json"))
}
