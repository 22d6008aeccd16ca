//! Apache Parquet: the measures, one row per frame and drop, with the columns of the CSV table
//! (parquet, format 2).
//!
//! Plain encoding without compression, in row groups of a few ten thousand rows. A frame without
//! drops has one row in which the columns of drops are null. The footer is written last, in
//! Thrift's compact protocol.

mod thrift;

use sessile_frames::{DropMeasures, FrameMeasures, measures_file};
use sessile_output::Sink;

use self::thrift::Struct;
use crate::error::ExportError;
use crate::job::Job;

/// Rows after which a row group is written.
const ROWS_PER_GROUP: usize = 20_000;

/// Types of columns, numbered as in the format.
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;

/// The value of a column in a row; `None` is null.
enum Cells {
    Integer(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<i64>),
    Real(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<f64>),
    Text(fn(&FrameMeasures, Option<&DropMeasures>) -> Option<String>),
}

struct Column {
    name: &'static str,
    cells: Cells,
}

fn column(name: &'static str, cells: Cells) -> Column {
    Column { name, cells }
}

fn json<T: serde::Serialize>(list: &[T]) -> Option<String> {
    if list.is_empty() { None } else { serde_json::to_string(list).ok() }
}

/// The columns, in the order of the CSV table.
fn columns() -> Vec<Column> {
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
    fn kind(&self) -> i64 {
        match self {
            Self::Integer(_) => INT64,
            Self::Real(_) => DOUBLE,
            Self::Text(_) => BYTE_ARRAY,
        }
    }
}

/// Values of a column that have not been written yet.
#[derive(Clone, Default)]
struct Pending {
    /// Whether each row has a value.
    present: Vec<bool>,
    /// The values that are not null.
    bytes: Vec<u8>,
}

impl Pending {
    fn push(&mut self, cells: &Cells, frame: &FrameMeasures, drop: Option<&DropMeasures>) {
        let before = self.bytes.len();
        let present = match cells {
            Cells::Integer(cell) => cell(frame, drop).map(|value| self.bytes.extend_from_slice(&value.to_le_bytes())),
            Cells::Real(cell) => cell(frame, drop).map(|value| self.bytes.extend_from_slice(&value.to_le_bytes())),
            Cells::Text(cell) => cell(frame, drop).map(|text| {
                self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(text.as_bytes());
            }),
        };
        debug_assert!(present.is_some() || self.bytes.len() == before);
        self.present.push(present.is_some());
    }
}

pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let columns = columns();
    let mut table = Table {
        sink: job.destination.file()?,
        pending: vec![Pending::default(); columns.len()],
        groups: Vec::new(),
        rows: 0,
        columns,
    };
    table.sink.put(b"PAR1")?;
    let (first, last) = job.source.range();
    let (mut done, mut result) = (0, Ok(()));
    measures_file::for_each(&job.source.folder.measures_path(), |frame| {
        if (first..=last).contains(&frame.frame) {
            result = table.push(&frame).and(job.check_stop());
            done += 1;
            job.progress.advance(done, 0.0);
        }
        result.is_ok() && frame.frame < last
    })?;
    result?;
    table.finish(&job.source.info.version)
}

struct Table {
    sink: Sink,
    columns: Vec<Column>,
    pending: Vec<Pending>,
    /// Metadata of the row groups, for the footer.
    groups: Vec<Struct>,
    rows: i64,
}

impl Table {
    fn push(&mut self, frame: &FrameMeasures) -> Result<(), ExportError> {
        let none = frame.drops.is_empty().then_some(None);
        for drop in frame.drops.iter().map(Some).chain(none) {
            for (column, pending) in self.columns.iter().zip(&mut self.pending) {
                pending.push(&column.cells, frame, drop);
            }
        }
        if self.pending[0].present.len() >= ROWS_PER_GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the pending values as a row group, with one page per column.
    fn flush(&mut self) -> Result<(), ExportError> {
        let rows = self.pending[0].present.len();
        if rows == 0 {
            return Ok(());
        }
        let start = self.sink.at();
        let mut chunks = Vec::new();
        for (column, pending) in self.columns.iter().zip(&mut self.pending) {
            let Pending { present, bytes } = std::mem::take(pending);
            let mut page = definition_levels(&present);
            page.extend_from_slice(&bytes);
            let size = page.len() as i64;
            let at = self.sink.at() as i64;
            // Plain values; run-length encoded levels.
            let encoding = Struct::new().i32(1, rows as i64).i32(2, 0).i32(3, 3).i32(4, 3);
            let header = Struct::new().i32(1, 0).i32(2, size).i32(3, size).child(5, encoding).bytes();
            self.sink.put(&header)?;
            self.sink.put(&page)?;
            let chunk_size = self.sink.at() as i64 - at;
            let meta = Struct::new()
                .i32(1, column.cells.kind())
                .i32_list(2, &[0, 3])
                .text_list(3, &[column.name])
                .i32(4, 0)
                .i64(5, rows as i64)
                .i64(6, chunk_size)
                .i64(7, chunk_size)
                .i64(9, at);
            chunks.push(Struct::new().i64(2, at).child(3, meta));
        }
        let size = (self.sink.at() - start) as i64;
        self.groups.push(Struct::new().list(1, chunks).i64(2, size).i64(3, rows as i64));
        self.rows += rows as i64;
        Ok(())
    }

    fn finish(mut self, version: &str) -> Result<(), ExportError> {
        self.flush()?;
        let mut schema = vec![Struct::new().text(4, "measures").i32(5, self.columns.len() as i64)];
        for column in &self.columns {
            let optional = 1;
            let element = Struct::new().i32(1, column.cells.kind()).i32(3, optional).text(4, column.name);
            let utf8 = 0;
            schema.push(if column.cells.kind() == BYTE_ARRAY { element.i32(6, utf8) } else { element });
        }
        let footer = Struct::new()
            .i32(1, 2)
            .list(2, schema)
            .i64(3, self.rows)
            .list(4, std::mem::take(&mut self.groups))
            .text(6, &format!("sessile version {version}"))
            .bytes();
        self.sink.put(&footer)?;
        self.sink.put(&(footer.len() as u32).to_le_bytes())?;
        self.sink.put(b"PAR1")?;
        Ok(self.sink.finish()?)
    }
}

/// Run-length encoded definition levels (whether values are present), preceded by their size in
/// bytes.
fn definition_levels(present: &[bool]) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start < present.len() {
        let end = present[start..].iter().position(|&bit| bit != present[start]).map_or(present.len(), |n| start + n);
        thrift::varint(&mut runs, ((end - start) as u64) << 1);
        runs.push(u8::from(present[start]));
        start = end;
    }
    let mut bytes = (runs.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(&runs);
    bytes
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

    #[test]
    fn definition_levels_are_runs_of_equal_bits() {
        assert_eq!(definition_levels(&[true, true, true, false, true]), [6, 0, 0, 0, 6, 1, 2, 0, 2, 1]);
        assert_eq!(definition_levels(&[]), [0, 0, 0, 0]);
    }
}
