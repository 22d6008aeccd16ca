//! Apache Parquet: the measures, one row per frame and drop, with the columns of the CSV table.
//!
//! A frame without drops has one row in which the columns of drops are null.

use sessile_frames::{DropMeasures, FrameMeasures, measures_file};
use sessile_output::parquet::{Cell, Column, ColumnType, ParquetWriter};

use crate::error::ExportError;
use crate::job::Job;

/// The value of a column in a row; `None` is null.
enum Cells {
    Integer(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<i64>),
    Real(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<f64>),
    Text(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<String>),
}

struct MeasureColumn {
    name: &'static str,
    cells: Cells,
}

fn column(name: &'static str, cells: Cells) -> MeasureColumn {
    MeasureColumn { name, cells }
}

fn json<T: serde::Serialize>(list: &[T]) -> Option<String> {
    if list.is_empty() { None } else { serde_json::to_string(list).ok() }
}

/// The columns, in the order of the CSV table.
fn columns() -> Vec<MeasureColumn> {
    use Cells::{Integer, Real, Text};
    vec![
        column("frame", Integer(|f, _| Some(f.frame as i64))),
        column("time", Real(|f, _| Some(f.time))),
        column("total_volume", Real(|f, _| Some(f.total_volume))),
        column("added_volume", Real(|f, _| Some(f.added_volume))),
        column("lost_volume", Real(|f, _| Some(f.lost_volume))),
        column("film_volume", Real(|f, _| Some(f.film_volume))),
        column("active_cells", Integer(|f, _| Some(f.active_cells as i64))),
        column("triangles", Integer(|f, _| Some(f.triangles as i64))),
        column("events", Text(|f, _| json(&f.events))),
        column("id", Integer(|_, d| d.map(|d| i64::from(d.id)))),
        column("volume", Real(|_, d| d.map(|d| d.volume))),
        column("centroid_x", Real(|_, d| d.map(|d| d.centroid.x))),
        column("centroid_y", Real(|_, d| d.map(|d| d.centroid.y))),
        column("centroid_z", Real(|_, d| d.map(|d| d.centroid.z))),
        column("velocity_x", Real(|_, d| d.map(|d| d.velocity.x))),
        column("velocity_y", Real(|_, d| d.map(|d| d.velocity.y))),
        column("velocity_z", Real(|_, d| d.map(|d| d.velocity.z))),
        column("speed_max", Real(|_, d| d.map(|d| d.speed_max))),
        column("min_x", Real(|_, d| d.map(|d| d.bounds[0].x))),
        column("min_y", Real(|_, d| d.map(|d| d.bounds[0].y))),
        column("min_z", Real(|_, d| d.map(|d| d.bounds[0].z))),
        column("max_x", Real(|_, d| d.map(|d| d.bounds[1].x))),
        column("max_y", Real(|_, d| d.map(|d| d.bounds[1].y))),
        column("max_z", Real(|_, d| d.map(|d| d.bounds[1].z))),
        column("height", Real(|_, d| d.map(|d| d.height))),
        column("base_radius", Real(|_, d| d.map(|d| d.base_radius))),
        column("max_radius", Real(|_, d| d.map(|d| d.max_radius))),
        column("wetted_area", Real(|_, d| d.map(|d| d.wetted_area))),
        column("surface_area", Real(|_, d| d.map(|d| d.surface_area))),
        column("contact_angle_mean_deg", Real(|_, d| d?.contact_angle_deg.map(|a| a.mean))),
        column("contact_angle_min_deg", Real(|_, d| d?.contact_angle_deg.map(|a| a.min))),
        column("contact_angle_max_deg", Real(|_, d| d?.contact_angle_deg.map(|a| a.max))),
        column("pressure", Real(|_, d| d?.pressure)),
        column("on", Text(|_, d| d?.on.clone())),
        column("contacts", Text(|_, d| json(&d?.contacts))),
    ]
}

impl Cells {
    fn column_type(&self) -> ColumnType {
        match self {
            Self::Integer(_) => ColumnType::Integer,
            Self::Real(_) => ColumnType::Real,
            Self::Text(_) => ColumnType::Text,
        }
    }

    fn cell(&self, frame: &FrameMeasures, drop: Option<&DropMeasures>) -> Cell {
        match self {
            Self::Integer(value) => value(frame, drop).map_or(Cell::Null, Cell::Integer),
            Self::Real(value) => value(frame, drop).map_or(Cell::Null, Cell::Real),
            Self::Text(value) => value(frame, drop).map_or(Cell::Null, Cell::Text),
        }
    }
}

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let columns = columns();
    let described =
        columns.iter().map(|c| Column { name: c.name.to_owned(), column_type: c.cells.column_type() }).collect();
    let mut table = ParquetWriter::new(job.destination.file()?, "measures", described)?;
    let mut push = |frame: &FrameMeasures| -> Result<(), ExportError> {
        let none = frame.drops.is_empty().then_some(None);
        for drop in frame.drops.iter().map(Some).chain(none) {
            table.row(columns.iter().map(|column| column.cells.cell(frame, drop)))?;
        }
        Ok(())
    };
    let (first, last) = job.source.range();
    let (mut done, mut result) = (0, Ok(()));
    measures_file::for_each(&job.source.folder.measures_path(), |frame| {
        if (first..=last).contains(&frame.frame) {
            result = push(&frame).and(job.check_stop());
            done += 1;
            job.progress.advance(done, 0.0);
        }
        result.is_ok() && frame.frame < last
    })?;
    result?;
    Ok(table.finish(&job.source.info.version)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_match_the_csv_table() {
        let mut header = Vec::new();
        sessile_frames::csv::write_header(&mut header).unwrap();
        let header = String::from_utf8(header).unwrap();
        let ours: Vec<&str> = columns().iter().map(|column| column.name).collect();
        assert_eq!(ours, header.trim_end().split(',').collect::<Vec<_>>());
    }
}
