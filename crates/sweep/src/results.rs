//! The table of results: one row per run.
//!
//! Columns: `run`, the swept keys as given, `status`, measures of the last frame (`final.…`, drop
//! measures are those of the largest drop), extremes over all frames (`peak.…`), the program's
//! version and a hash of the scene. The table is deterministic; the cost of runs, which
//! differs from one execution to the next, is in their `run.json`.

use std::path::Path;

use sessile_frames::{AngleRange, DropMeasures, Durability, FrameMeasures, RunInfo, atomic, measures_file};
use sessile_output::parquet::{Cell, Column, ColumnType, ParquetWriter};
use sessile_output::{Destination, Layout};

use crate::error::SweepError;
use crate::plan::Plan;
use crate::state::{RunState, run_path};

/// Measures of a frame and its largest drop, by name.
type Measure = (&'static str, fn(&FrameMeasures, Option<&DropMeasures>) -> Option<f64>);

fn angle(drop: Option<&DropMeasures>, part: fn(&AngleRange) -> f64) -> Option<f64> {
    drop?.contact_angle_deg.as_ref().map(part)
}

const FINAL: [Measure; 20] = [
    ("time", |f, _| Some(f.time)),
    ("drops", |f, _| Some(f.drops.len() as f64)),
    ("total_volume", |f, _| Some(f.total_volume)),
    ("lost_volume", |f, _| Some(f.lost_volume)),
    ("film_volume", |f, _| Some(f.film_volume)),
    ("volume", |_, d| d.map(|d| d.volume)),
    ("centroid_x", |_, d| d.map(|d| d.centroid.x)),
    ("centroid_y", |_, d| d.map(|d| d.centroid.y)),
    ("centroid_z", |_, d| d.map(|d| d.centroid.z)),
    ("speed", |_, d| d.map(|d| d.velocity.length())),
    ("speed_max", |_, d| d.map(|d| d.speed_max)),
    ("height", |_, d| d.map(|d| d.height)),
    ("base_radius", |_, d| d.map(|d| d.base_radius)),
    ("max_radius", |_, d| d.map(|d| d.max_radius)),
    ("wetted_area", |_, d| d.map(|d| d.wetted_area)),
    ("surface_area", |_, d| d.map(|d| d.surface_area)),
    ("contact_angle_mean_deg", |_, d| angle(d, |a| a.mean)),
    ("contact_angle_min_deg", |_, d| angle(d, |a| a.min)),
    ("contact_angle_max_deg", |_, d| angle(d, |a| a.max)),
    ("pressure", |_, d| d?.pressure),
];

const PEAK: [Measure; 6] = [
    ("drops", |f, _| Some(f.drops.len() as f64)),
    ("speed", |_, d| d.map(|d| d.velocity.length())),
    ("speed_max", |_, d| d.map(|d| d.speed_max)),
    ("height", |_, d| d.map(|d| d.height)),
    ("base_radius", |_, d| d.map(|d| d.base_radius)),
    ("max_radius", |_, d| d.map(|d| d.max_radius)),
];

/// Final and peak measures of a run; `None` where a measure does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    last: Vec<Option<f64>>,
    peak: Vec<Option<f64>>,
}

fn largest(frame: &FrameMeasures) -> Option<&DropMeasures> {
    frame.drops.iter().fold(None, |best: Option<&DropMeasures>, drop| match best {
        Some(best) if best.volume >= drop.volume => Some(best),
        _ => Some(drop),
    })
}

impl Summary {
    /// Reads the measures of a run folder.
    pub fn read(root: &Path) -> Result<Self, SweepError> {
        let mut summary = Self { last: vec![None; FINAL.len()], peak: vec![None; PEAK.len()] };
        let read = measures_file::for_each(&root.join("measure.jsonl"), |frame| {
            let drop = largest(&frame);
            summary.last = FINAL.iter().map(|(_, measure)| measure(&frame, drop)).collect();
            for ((_, measure), peak) in PEAK.iter().zip(&mut summary.peak) {
                let value = measure(&frame, drop);
                *peak = match (*peak, value) {
                    (Some(peak), Some(value)) => Some(peak.max(value)),
                    (peak, value) => peak.or(value),
                };
            }
            true
        });
        read.map_err(|error| SweepError::Measures { reason: error.to_string() })?;
        Ok(summary)
    }

    /// The value of `final.NAME` or `peak.NAME`; an error if there is no such measure.
    pub(crate) fn value(&self, name: &str) -> Result<Option<f64>, String> {
        let find = |list: &[Measure], values: &[Option<f64>], name: &str| {
            list.iter().position(|(known, _)| *known == name).map(|at| values.get(at).copied().flatten())
        };
        let found = match name.split_once('.') {
            Some(("final", name)) => find(&FINAL, &self.last, name),
            Some(("peak", name)) => find(&PEAK, &self.peak, name),
            _ => None,
        };
        found.ok_or_else(|| {
            let names = |prefix: &str, list: &[Measure]| {
                list.iter().map(|(name, _)| format!("{prefix}.{name}")).collect::<Vec<_>>().join(", ")
            };
            format!("there is no measure `{name}`; there are {} and {}", names("final", &FINAL), names("peak", &PEAK))
        })
    }
}

/// Writes `results.csv` and `results.parquet`, replacing earlier ones.
pub fn write(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    let columns = columns(plan);
    let mut csv = csv_line(columns.iter().map(|column| column.name.as_str()));
    let destination = Destination::new(&folder.join("results.parquet"), Layout::File, true)?;
    let mut table = ParquetWriter::new(destination.file()?, "results", columns)?;
    for run in 0..plan.runs.len() {
        let row = row(plan, folder, run)?;
        csv += &csv_line(row.iter().map(text).collect::<Vec<_>>().iter().map(String::as_str));
        table.row(row)?;
    }
    table.finish(env!("CARGO_PKG_VERSION"))?;
    destination.commit()?;
    Ok(atomic::write(&folder.join("results.csv"), csv.as_bytes(), Durability::Flushed)?)
}

fn columns(plan: &Plan) -> Vec<Column> {
    let column = |name: &str, column_type| Column { name: name.to_owned(), column_type };
    let keys = plan.keys.iter().map(|key| column(key, ColumnType::Text));
    let finals = FINAL.iter().map(|(name, _)| column(&format!("final.{name}"), ColumnType::Real));
    let peaks = PEAK.iter().map(|(name, _)| column(&format!("peak.{name}"), ColumnType::Real));
    [column("run", ColumnType::Integer)]
        .into_iter()
        .chain(keys)
        .chain([column("status", ColumnType::Text)])
        .chain(finals)
        .chain(peaks)
        .chain([column("version", ColumnType::Text), column("scene_hash", ColumnType::Text)])
        .collect()
}

fn row(plan: &Plan, folder: &Path, run: usize) -> Result<Vec<Cell>, SweepError> {
    let root = run_path(folder, run);
    let state = RunState::of(folder, run);
    let status = match &state {
        RunState::Done => "done",
        RunState::Failed(_) => "failed",
        RunState::Running => "running",
        RunState::Waiting => "waiting",
    };
    // Measures of an unfinished run would be those of an arbitrary frame.
    let summary = if state == RunState::Done { Summary::read(&root)? } else { Summary::default() };
    let real = |value: Option<f64>| value.filter(|v| v.is_finite()).map_or(Cell::Null, Cell::Real);
    let values = |values: &[Option<f64>], count: usize| -> Vec<Cell> {
        (0..count).map(|at| real(values.get(at).copied().flatten())).collect()
    };
    let optional = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    let mut row = vec![Cell::Integer(run as i64)];
    row.extend(plan.runs[run].iter().cloned().map(Cell::Text));
    row.push(Cell::Text(status.to_owned()));
    row.extend(values(&summary.last, FINAL.len()));
    row.extend(values(&summary.peak, PEAK.len()));
    row.push(optional(RunInfo::read(&root.join("run.json")).ok().map(|info| info.version)));
    let scene = std::fs::read(root.join("scene.toml")).ok();
    row.push(optional(scene.map(|text| blake3::hash(&text).to_hex()[..16].to_owned())));
    Ok(row)
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

/// A line of a CSV file (RFC 4180).
fn csv_line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        assert_eq!(csv_line(["a", "1,2", "say \"x\""].into_iter()), "a,\"1,2\",\"say \"\"x\"\"\"\n");
    }

    #[test]
    fn unknown_measures_are_named_with_the_known_ones() {
        let error = Summary::default().value("final.weight").expect_err("unknown");
        assert!(error.contains("final.height") && error.contains("peak.speed_max"), "{error}");
    }
}
