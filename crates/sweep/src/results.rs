//! The table of results: one row per run.
//!
//! Columns: `run`, the swept keys as given, `status`, measures of the last frame (`final.…`, drop
//! measures are those of the largest drop), extremes over all frames (`peak.…`), the program's
//! version and a hash of the scene. The table is deterministic; the cost of runs, which differs
//! from one execution to the next, is in a table of its own, `timings.csv`. Rows are written as
//! they are read, so that the memory does not grow with their number.

use std::io::{BufWriter, Write};
use std::path::Path;

use sessile_frames::{AngleRange, DropMeasures, Durability, FrameMeasures, RunInfo, atomic, measures_file};
use sessile_jobs::ItemState;
use sessile_output::parquet::{Cell, Column, ColumnType, ParquetWriter};
use sessile_output::{Destination, Layout};
use sessile_scene::parse_file;

use crate::error::SweepError;
use crate::plan::{Plan, run_path, run_states};
use crate::report::{Report, ReportRun, image_folder};
use crate::theory::Theory;

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

    /// All measures, in the order of the table; those that do not exist or are not finite are
    /// `None`.
    fn values(&self) -> Vec<Option<f64>> {
        let part = |values: &[Option<f64>], count: usize| -> Vec<Option<f64>> {
            (0..count).map(|at| values.get(at).copied().flatten().filter(|value| value.is_finite())).collect()
        };
        [part(&self.last, FINAL.len()), part(&self.peak, PEAK.len())].concat()
    }

    /// All measures by name: `final.NAME`, then `peak.NAME`.
    pub fn named(&self) -> Vec<(String, Option<f64>)> {
        let names = FINAL.iter().map(|(name, _)| format!("final.{name}"));
        names.chain(PEAK.iter().map(|(name, _)| format!("peak.{name}"))).zip(self.values()).collect()
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

/// Writes `results.csv`, `results.parquet`, `timings.csv` and `report.html`, replacing earlier
/// ones.
pub fn write(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    let columns = columns(plan);
    let states = run_states(folder)?;
    if states.len() != plan.runs.len() {
        return Err(SweepError::OtherPlan { folder: folder.to_owned() });
    }
    let destination = Destination::new(&folder.join("results.parquet"), Layout::File, true)?;
    let mut table = ParquetWriter::new(destination.file()?, "results", columns.clone())?;
    let mut report = Report::new(plan, measure_names().collect());
    let mut failure = None;
    let written = atomic::write_with(&folder.join("results.csv"), Durability::Handed, |file| {
        let mut csv = BufWriter::new(file);
        csv.write_all(csv_line(columns.iter().map(|column| column.name.as_str())).as_bytes())?;
        for (run, state) in states.iter().enumerate() {
            let gathered = gather(plan, folder, run, state, &mut report).and_then(|row| {
                let cells: Vec<String> = row.iter().map(text).collect();
                table.row(row)?;
                Ok(csv_line(cells.iter().map(String::as_str)))
            });
            match gathered {
                Ok(line) => csv.write_all(line.as_bytes())?,
                Err(error) => {
                    failure = Some(error);
                    return Err(std::io::ErrorKind::InvalidData.into());
                }
            }
        }
        csv.flush()
    });
    // The cause, rather than the file that was not completed because of it.
    if let Some(error) = failure {
        return Err(error);
    }
    written?;
    table.finish(env!("CARGO_PKG_VERSION"))?;
    destination.commit()?;
    let html = report.html(&|run| image(folder, run));
    atomic::write(&folder.join("report.html"), html.as_bytes(), Durability::Handed)?;
    write_timings(folder, states.len())
}

/// The image of a run's last frame, if there is one.
fn image(folder: &Path, run: usize) -> Option<Vec<u8>> {
    let mut files: Vec<_> =
        std::fs::read_dir(image_folder(folder, run)).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "png"));
    files.sort();
    sessile_input::read(files.last()?, sessile_input::MAX_IMAGE).ok()
}

/// The row of a run, which is also added to the report.
fn gather(
    plan: &Plan,
    folder: &Path,
    run: usize,
    state: &ItemState,
    report: &mut Report<'_>,
) -> Result<Vec<Cell>, SweepError> {
    let root = run_path(folder, run);
    // Measures of an unfinished run would be those of an arbitrary frame.
    let summary = if *state == ItemState::Done { Summary::read(&root)? } else { Summary::default() };
    let (status, reason) = match state {
        ItemState::Done => ("done", None),
        ItemState::Failed(reason) => ("failed", Some(reason.clone())),
        ItemState::Running => ("running", None),
        ItemState::Waiting => ("waiting", None),
    };
    let shown = report.shows(run) && *state == ItemState::Done;
    let scene = if shown { parse_file(&root.join("scene.toml"), &[]).ok() } else { None };
    let theory = scene.map(|parsed| Theory::of_scene(&parsed.scene)).unwrap_or_default();
    let row = row(plan, &root, run, status, &summary);
    report.add(ReportRun { run, status, values: summary.values(), theory, reason });
    Ok(row)
}

/// Writes the CPU and wall time of every run that has started.
fn write_timings(folder: &Path, runs: usize) -> Result<(), SweepError> {
    atomic::write_with(&folder.join("timings.csv"), Durability::Handed, |file| {
        let mut csv = BufWriter::new(file);
        writeln!(csv, "run,cpu_seconds,wall_seconds,resumes")?;
        for run in 0..runs {
            let Ok(info) = RunInfo::read(&run_path(folder, run).join("run.json")) else { continue };
            let cpu: f64 = info.stages.values().map(|stage| stage.cpu_seconds).sum();
            let wall: f64 = info.stages.values().map(|stage| stage.wall_seconds).sum();
            writeln!(csv, "{run},{cpu:.3},{wall:.3},{}", info.resumes)?;
        }
        csv.flush()
    })
    .map_err(SweepError::from)
}

/// Names of all measures: those of the last frame, then the peaks.
fn measure_names() -> impl Iterator<Item = String> {
    let finals = FINAL.iter().map(|(name, _)| format!("final.{name}"));
    finals.chain(PEAK.iter().map(|(name, _)| format!("peak.{name}")))
}

fn columns(plan: &Plan) -> Vec<Column> {
    let column = |name: &str, column_type| Column { name: name.to_owned(), column_type };
    let keys = plan.keys.iter().map(|key| column(key, ColumnType::Text));
    let measures = measure_names().map(|name| column(&name, ColumnType::Real));
    [column("run", ColumnType::Integer)]
        .into_iter()
        .chain(keys)
        .chain([column("status", ColumnType::Text)])
        .chain(measures)
        .chain([column("version", ColumnType::Text), column("scene_hash", ColumnType::Text)])
        .collect()
}

fn row(plan: &Plan, root: &Path, run: usize, status: &str, summary: &Summary) -> Vec<Cell> {
    let real = |value: &Option<f64>| value.map_or(Cell::Null, Cell::Real);
    let optional = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    let mut row = vec![Cell::Integer(run as i64)];
    row.extend(plan.runs[run].iter().cloned().map(Cell::Text));
    row.push(Cell::Text(status.to_owned()));
    row.extend(summary.values().iter().map(real));
    row.push(optional(RunInfo::read(&root.join("run.json")).ok().map(|info| info.version)));
    let scene = sessile_input::read(&root.join("scene.toml"), sessile_input::MAX_TEXT).ok();
    row.push(optional(scene.map(|text| blake3::hash(&text).to_hex()[..16].to_owned())));
    row
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
