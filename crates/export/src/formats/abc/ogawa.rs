//! Ogawa, Alembic's container (alembic), written as it comes.
//!
//! ```text
//! "Ogawa" 0xff, version, place of the root group        16 bytes
//! data     u64 size, bytes
//! group    u64 count, places of the children; the highest bit marks data
//! ```
//!
//! On top of it lie objects with properties. An object is a group of its properties, its children and their headers; a property is a
//! group of its samples; a compound property one of its properties and their headers. An array's sample is preceded by a hash of it, by which readers
//! know again what they have in memory.

use crate::error::ExportError;
use sessile_output::Sink;

const DATA: u64 = 1 << 63;
/// A group without children, and data without bytes.
const EMPTY_GROUP: u64 = 0;
const EMPTY_DATA: u64 = DATA;

/// Meta data is written where it belongs, not in the table of those that are used often.
const INLINE: u8 = 0xff;

/// What an element of an array is made of, by its number in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pod {
    Int32 = 6,
    Float32 = 10,
    Float64 = 11,
}

/// A property, its samples already in the file.
#[derive(Clone, Debug)]
pub struct Property {
    name: &'static str,
    meta: &'static str,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Compound(Vec<Property>),
    /// Places of the samples, the type of their elements and how many make one, and whether they move in time.
    Samples {
        places: Vec<u64>,
        pod: Pod,
        extent: u32,
        array: bool,
        equal_sizes: bool,
    },
}

impl Property {
    /// Properties under one name.
    pub fn compound(name: &'static str, meta: &'static str, parts: Vec<Self>) -> Self {
        Self { name, meta, kind: Kind::Compound(parts) }
    }

    /// A list of numbers that changes from sample to sample.
    pub fn array(name: &'static str, meta: &'static str, pod: Pod, extent: u32, places: Vec<u64>) -> Self {
        Self { name, meta, kind: Kind::Samples { places, pod, extent, array: true, equal_sizes: false } }
    }

    /// One value that changes from sample to sample.
    pub fn scalar(name: &'static str, meta: &'static str, pod: Pod, extent: u32, places: Vec<u64>) -> Self {
        Self { name, meta, kind: Kind::Samples { places, pod, extent, array: false, equal_sizes: true } }
    }
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// What it is.
    pub meta: &'static str,
    /// Its properties.
    pub properties: Vec<Property>,
}

/// An archive under way.
#[derive(Debug)]
pub struct Archive {
    sink: Sink,
}

impl Archive {
    /// Begins an archive.
    pub fn new(mut sink: Sink) -> Result<Self, ExportError> {
        // Not frozen yet, and no root.
        sink.put(b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0")?;
        Ok(Self { sink })
    }

    fn data(&mut self, parts: &[&[u8]]) -> Result<u64, ExportError> {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        if size == 0 {
            return Ok(EMPTY_DATA);
        }
        let at = self.sink.at();
        self.sink.put(&(size as u64).to_le_bytes())?;
        parts.iter().try_for_each(|part| self.sink.put(part))?;
        Ok(at | DATA)
    }

    fn group(&mut self, children: &[u64]) -> Result<u64, ExportError> {
        if children.is_empty() {
            return Ok(EMPTY_GROUP);
        }
        let at = self.sink.at();
        self.sink.put(&(children.len() as u64).to_le_bytes())?;
        children.iter().try_for_each(|child| self.sink.put(&child.to_le_bytes()))?;
        Ok(at)
    }

    /// Writes a sample of a property; gives its place.
    pub fn sample(&mut self, bytes: &[u8]) -> Result<u64, ExportError> {
        if bytes.is_empty() {
            return Ok(EMPTY_DATA);
        }
        let hash = blake3::hash(bytes);
        self.data(&[&hash.as_bytes()[..16], bytes])
    }

    fn property(&mut self, property: &Property) -> Result<u64, ExportError> {
        match &property.kind {
            Kind::Compound(parts) => self.compound(parts),
            Kind::Samples { places, array, .. } => {
                // Beside each sample of an array stand its dimensions; there is one, which its size tells.
                let children: Vec<u64> = places
                    .iter()
                    .flat_map(|&place| if *array { vec![place, EMPTY_DATA] } else { vec![place] })
                    .collect();
                self.group(&children)
            }
        }
    }

    fn compound(&mut self, parts: &[Property]) -> Result<u64, ExportError> {
        let mut children = Vec::new();
        let mut headers = Vec::new();
        for part in parts {
            children.push(self.property(part)?);
            push_header(&mut headers, part);
        }
        if !parts.is_empty() {
            children.push(self.data(&[&headers])?);
        }
        self.group(&children)
    }

    fn object(&mut self, object: &Object) -> Result<u64, ExportError> {
        let properties = self.compound(&object.properties)?;
        // Without children, all that its headers hold are two hashes of what is below; nobody compares them.
        let headers = self.data(&[&[0; 32]])?;
        self.group(&[properties, headers])
    }

    /// Writes the structure. Samples follow one another every `interval` seconds, the first at `start`.
    pub fn finish(
        mut self,
        objects: &[Object],
        about: &str,
        samples: u32,
        start: f64,
        interval: f64,
    ) -> Result<(), ExportError> {
        /// Of the way in which objects are laid out, and of the library whose files these are like.
        const VERSIONS: [i32; 2] = [0, 10_800];
        let mut tops = vec![self.compound(&[])?];
        let mut headers = Vec::new();
        for object in objects {
            tops.push(self.object(object)?);
            headers.extend_from_slice(&(object.name.len() as u32).to_le_bytes());
            headers.extend_from_slice(object.name.as_bytes());
            headers.push(INLINE);
            headers.extend_from_slice(&(object.meta.len() as u32).to_le_bytes());
            headers.extend_from_slice(object.meta.as_bytes());
        }
        headers.extend_from_slice(&[0; 32]);
        tops.push(self.data(&[&headers])?);
        let top = self.group(&tops)?;
        let mut times = Vec::new();
        for (count, cycle, first) in [(1_u32, 1.0_f64, 0.0_f64), (samples, interval, start)] {
            times.extend_from_slice(&count.to_le_bytes());
            times.extend_from_slice(&cycle.to_le_bytes());
            times.extend_from_slice(&1_u32.to_le_bytes());
            times.extend_from_slice(&first.to_le_bytes());
        }
        let root = [
            self.data(&[&VERSIONS[0].to_le_bytes()])?,
            self.data(&[&VERSIONS[1].to_le_bytes()])?,
            top,
            self.data(&[about.as_bytes()])?,
            self.data(&[&times])?,
            // The table of frequent meta data: none.
            EMPTY_DATA,
        ];
        let root = self.group(&root)?;
        self.sink.patch(8, &root.to_le_bytes())?;
        self.sink.patch(5, &[0xff])?;
        Ok(self.sink.finish()?)
    }
}

/// A property's header: its type in one number, counts, name, meta data. Counts take 1, 2 or 4 bytes, as the largest needs.
fn push_header(bytes: &mut Vec<u8>, property: &Property) {
    let samples = match &property.kind {
        Kind::Compound(_) => 0,
        Kind::Samples { places, .. } => places.len(),
    };
    let longest = property.meta.len().max(property.name.len()).max(samples);
    let hint: u32 = match longest {
        0..=255 => 0,
        256..=65535 => 1,
        _ => 2,
    };
    let count = |bytes: &mut Vec<u8>, value: usize| {
        bytes.extend_from_slice(&(value as u32).to_le_bytes()[..1 << hint]);
    };
    let mut info = hint << 2;
    if !property.meta.is_empty() {
        info |= u32::from(INLINE) << 20;
    }
    match &property.kind {
        Kind::Compound(_) => bytes.extend_from_slice(&info.to_le_bytes()),
        Kind::Samples { places, pod, extent, array, equal_sizes } => {
            info |= if *array { 2 } else { 1 };
            info |= (*pod as u32) << 4;
            info |= *extent << 12;
            let moves = places.len() > 1;
            // Time sampling 1 is that of the frames.
            info |= u32::from(moves) << 8;
            info |= u32::from(*equal_sizes || !moves) << 10;
            info |= u32::from(!moves) << 11;
            bytes.extend_from_slice(&info.to_le_bytes());
            count(bytes, places.len());
            if moves {
                count(bytes, 1);
            }
        }
    }
    count(bytes, property.name.len());
    bytes.extend_from_slice(property.name.as_bytes());
    if !property.meta.is_empty() {
        count(bytes, property.meta.len());
        bytes.extend_from_slice(property.meta.as_bytes());
    }
}
