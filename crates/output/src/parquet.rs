//! Apache Parquet tables (parquet, format 2).
//!
//! Plain encoding without compression, in row groups of a few ten thousand rows; every column may
//! contain nulls. The footer is written last, in Thrift's compact protocol.

mod thrift;

use self::thrift::Struct;
use crate::{OutputError, Sink};

/// Rows after which a row group is written.
const ROWS_PER_GROUP: usize = 20_000;

/// Type of a column, numbered as in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 64-bit signed integers.
    Integer = 2,
    /// 64-bit floating-point numbers.
    Real = 5,
    /// UTF-8 text.
    Text = 6,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type of its values.
    pub column_type: ColumnType,
}

/// A value of a row; it must have the type of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
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
    fn push(&mut self, cell: &Cell) {
        match cell {
            Cell::Null => {}
            Cell::Integer(value) => self.bytes.extend_from_slice(&value.to_le_bytes()),
            Cell::Real(value) => self.bytes.extend_from_slice(&value.to_le_bytes()),
            Cell::Text(text) => {
                self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
        self.present.push(*cell != Cell::Null);
    }
}

/// Writes a table row by row.
pub struct ParquetWriter {
    sink: Sink,
    name: String,
    columns: Vec<Column>,
    pending: Vec<Pending>,
    /// Metadata of the row groups, for the footer.
    groups: Vec<Struct>,
    rows: i64,
}

impl ParquetWriter {
    /// Starts a table with the given columns.
    pub fn new(mut sink: Sink, name: &str, columns: Vec<Column>) -> Result<Self, OutputError> {
        sink.put(b"PAR1")?;
        let pending = vec![Pending::default(); columns.len()];
        Ok(Self { sink, name: name.to_owned(), columns, pending, groups: Vec::new(), rows: 0 })
    }

    /// Adds a row, one cell per column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> Result<(), OutputError> {
        for (pending, cell) in self.pending.iter_mut().zip(cells) {
            pending.push(&cell);
        }
        if self.pending[0].present.len() >= ROWS_PER_GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the pending values as a row group, with one page per column.
    fn flush(&mut self) -> Result<(), OutputError> {
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
                .i32(1, column.column_type as i64)
                .i32_list(2, &[0, 3])
                .text_list(3, &[&column.name])
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

    /// Writes the footer; `version` is that of the program.
    pub fn finish(mut self, version: &str) -> Result<(), OutputError> {
        self.flush()?;
        let mut schema = vec![Struct::new().text(4, &self.name).i32(5, self.columns.len() as i64)];
        for column in &self.columns {
            let optional = 1;
            let element = Struct::new().i32(1, column.column_type as i64).i32(3, optional).text(4, &column.name);
            let utf8 = 0;
            schema.push(if column.column_type == ColumnType::Text { element.i32(6, utf8) } else { element });
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
        self.sink.finish()
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
    fn definition_levels_are_runs_of_equal_bits() {
        assert_eq!(definition_levels(&[true, true, true, false, true]), [6, 0, 0, 0, 6, 1, 2, 0, 2, 1]);
        assert_eq!(definition_levels(&[]), [0, 0, 0, 0]);
    }
}
