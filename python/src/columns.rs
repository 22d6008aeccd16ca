//! Measures as columns, handed to other libraries by the Arrow PyCapsule interface.

use std::sync::Arc;

use arrow_array::ffi::to_ffi;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray, UInt64Array,
};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use sessile_frames::{AngleRange, Event, FrameMeasures};

use crate::errors::failed;

/// A table of named columns.
#[pyclass(module = "sessile._sessile", frozen)]
pub struct Columns {
    batch: RecordBatch,
}

#[pymethods]
impl Columns {
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column as a list; None where there is none.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let missing =
            || pyo3::exceptions::PyKeyError::new_err(format!("{name:?}; there are {}", self.names().join(", ")));
        let array = self.batch.column_by_name(name).ok_or_else(missing)?.as_any();
        if let Some(values) = array.downcast_ref::<Float64Array>() {
            return PyList::new(py, values.iter().collect::<Vec<_>>());
        }
        if let Some(values) = array.downcast_ref::<UInt64Array>() {
            return PyList::new(py, values.iter().collect::<Vec<_>>());
        }
        match array.downcast_ref::<StringArray>() {
            Some(values) => PyList::new(py, values.iter().collect::<Vec<_>>()),
            None => Err(missing()),
        }
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface allows a producer to ignore the requested types.
        drop(requested_schema);
        let whole: StructArray = self.batch.clone().into();
        let (array, schema) = to_ffi(&whole.to_data()).map_err(failed)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

/// One column being filled.
enum Column {
    Counts(Vec<u64>),
    Numbers(Vec<Option<f64>>),
    Words(Vec<Option<String>>),
}

/// A table being filled, row by row; the first row fixes its columns.
#[derive(Default)]
struct Builder {
    columns: Vec<(&'static str, Column)>,
}

impl Builder {
    fn with(names: &[(&'static str, char)]) -> Self {
        let column = |&(name, kind): &(&'static str, char)| {
            let column = match kind {
                'n' => Column::Counts(Vec::new()),
                's' => Column::Words(Vec::new()),
                _ => Column::Numbers(Vec::new()),
            };
            (name, column)
        };
        Self { columns: names.iter().map(column).collect() }
    }

    fn count(&mut self, at: usize, value: u64) {
        if let Column::Counts(values) = &mut self.columns[at].1 {
            values.push(value);
        }
    }

    fn number(&mut self, at: usize, value: Option<f64>) {
        if let Column::Numbers(values) = &mut self.columns[at].1 {
            values.push(value);
        }
    }

    fn word(&mut self, at: usize, value: Option<String>) {
        if let Column::Words(values) = &mut self.columns[at].1 {
            values.push(value);
        }
    }

    fn columns(self) -> PyResult<Columns> {
        let array = |column: Column| -> ArrayRef {
            match column {
                Column::Counts(values) => Arc::new(UInt64Array::from(values)),
                Column::Numbers(values) => Arc::new(Float64Array::from(values)),
                Column::Words(values) => Arc::new(StringArray::from(values)),
            }
        };
        let named: Vec<(&'static str, ArrayRef)> =
            self.columns.into_iter().map(|(name, column)| (name, array(column))).collect();
        let field = |(name, array): &(&'static str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Schema::new(named.iter().map(field).collect::<Vec<_>>());
        let arrays = named.into_iter().map(|(_, array)| array).collect();
        Ok(Columns { batch: RecordBatch::try_new(Arc::new(schema), arrays).map_err(failed)? })
    }
}

/// The measures of a run as four tables.
pub struct Tables {
    frames: Builder,
    drops: Builder,
    contacts: Builder,
    events: Builder,
}

const FRAMES: [(&str, char); 9] = [
    ("frame", 'n'),
    ("time", 'f'),
    ("total_volume", 'f'),
    ("added_volume", 'f'),
    ("lost_volume", 'f'),
    ("film_volume", 'f'),
    ("active_cells", 'n'),
    ("triangles", 'n'),
    ("drops", 'n'),
];

const DROPS: [(&str, char); 28] = [
    ("frame", 'n'),
    ("time", 'f'),
    ("id", 'n'),
    ("volume", 'f'),
    ("centroid_x", 'f'),
    ("centroid_y", 'f'),
    ("centroid_z", 'f'),
    ("velocity_x", 'f'),
    ("velocity_y", 'f'),
    ("velocity_z", 'f'),
    ("speed_max", 'f'),
    ("min_x", 'f'),
    ("min_y", 'f'),
    ("min_z", 'f'),
    ("max_x", 'f'),
    ("max_y", 'f'),
    ("max_z", 'f'),
    ("height", 'f'),
    ("base_radius", 'f'),
    ("max_radius", 'f'),
    ("wetted_area", 'f'),
    ("surface_area", 'f'),
    ("contact_angle_mean_deg", 'f'),
    ("contact_angle_min_deg", 'f'),
    ("contact_angle_max_deg", 'f'),
    ("pressure", 'f'),
    ("on", 's'),
    ("contacts", 'n'),
];

const CONTACTS: [(&str, char); 7] = [
    ("frame", 'n'),
    ("id", 'n'),
    ("solid", 's'),
    ("wetted_area", 'f'),
    ("contact_angle_mean_deg", 'f'),
    ("contact_angle_min_deg", 'f'),
    ("contact_angle_max_deg", 'f'),
];

const EVENTS: [(&str, char); 3] = [("frame", 'n'), ("kind", 's'), ("event", 's')];

impl Tables {
    /// The tables of all frames.
    pub fn of(frames: &[FrameMeasures]) -> Self {
        let mut tables = Self {
            frames: Builder::with(&FRAMES),
            drops: Builder::with(&DROPS),
            contacts: Builder::with(&CONTACTS),
            events: Builder::with(&EVENTS),
        };
        frames.iter().for_each(|frame| tables.push(frame));
        tables
    }

    fn push(&mut self, frame: &FrameMeasures) {
        let row = &mut self.frames;
        row.count(0, frame.frame);
        let volumes = [frame.time, frame.total_volume, frame.added_volume, frame.lost_volume, frame.film_volume];
        volumes.into_iter().enumerate().for_each(|(at, value)| row.number(1 + at, Some(value)));
        [frame.active_cells, frame.triangles, frame.drops.len() as u64]
            .into_iter()
            .enumerate()
            .for_each(|(at, value)| row.count(6 + at, value));
        self.push_drops(frame);
        for event in &frame.events {
            self.events.count(0, frame.frame);
            let kind = match event {
                Event::Merge { .. } => "merge",
                Event::Split { .. } => "split",
            };
            self.events.word(1, Some(kind.to_owned()));
            self.events.word(2, serde_json::to_string(event).ok());
        }
    }

    fn push_drops(&mut self, frame: &FrameMeasures) {
        for drop in &frame.drops {
            let row = &mut self.drops;
            row.count(0, frame.frame);
            row.number(1, Some(frame.time));
            row.count(2, u64::from(drop.id));
            let angle = drop.contact_angle_deg;
            let vectors = [drop.centroid, drop.velocity].map(|v| v.to_array().map(Some));
            let bounds = drop.bounds.map(|v| v.to_array().map(Some));
            let sizes = [drop.height, drop.base_radius, drop.max_radius, drop.wetted_area, drop.surface_area].map(Some);
            let values = [Some(drop.volume)]
                .into_iter()
                .chain(vectors.into_iter().flatten())
                .chain([Some(drop.speed_max)])
                .chain(bounds.into_iter().flatten())
                .chain(sizes)
                .chain(angles(angle))
                .chain([drop.pressure]);
            values.enumerate().for_each(|(at, value)| row.number(3 + at, value));
            row.word(26, drop.on.clone());
            row.count(27, drop.contacts.len() as u64);
            for contact in &drop.contacts {
                let row = &mut self.contacts;
                row.count(0, frame.frame);
                row.count(1, u64::from(drop.id));
                row.word(2, Some(contact.solid.clone()));
                row.number(3, Some(contact.wetted_area));
                angles(contact.contact_angle_deg)
                    .into_iter()
                    .enumerate()
                    .for_each(|(at, value)| row.number(4 + at, value));
            }
        }
    }

    /// The finished tables: frames, drops, contacts, events.
    pub fn columns(self) -> PyResult<(Columns, Columns, Columns, Columns)> {
        Ok((self.frames.columns()?, self.drops.columns()?, self.contacts.columns()?, self.events.columns()?))
    }
}

/// Mean, smallest and largest angle, in degrees.
fn angles(angle: Option<AngleRange>) -> [Option<f64>; 3] {
    [angle.map(|a| a.mean), angle.map(|a| a.min), angle.map(|a| a.max)]
}
