//! Ogawa, Alembic's container format (alembic), written sequentially.
//!
//! ```text
//! "Ogawa" 0xff, version, offset of the root group       16 bytes
//! data     u64 size, bytes
//! group    u64 count, offsets of the children; the highest bit marks data
//! ```
//!
//! Objects and properties are built from these. An object is a group of its properties, its
//! children and their headers; a property is a group of its samples; a compound property is a group
//! of its properties and their headers. A sample of an array is preceded by its hash, by which
//! readers recognize data that they have already loaded.

use sessile_output::Sink;

use crate::error::ExportError;

const DATA: u64 = 1 << 63;
/// A group without children, and data without bytes.
const EMPTY_GROUP: u64 = 0;
const EMPTY_DATA: u64 = DATA;

/// Metadata is written inline, not in the table of frequent metadata.
const INLINE: u8 = 0xff;

/// Plain data types, numbered as in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pod {
    Int32 = 6,
    Float32 = 10,
    Float64 = 11,
}

/// A property whose samples are already in the file.
#[derive(Clone, Debug)]
pub struct Property {
    name: &'static str,
    meta: &'static str,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Compound(Vec<Property>),
    /// Offsets of the samples, the type and number of components of their elements, and their kind.
    Samples {
        offsets: Vec<u64>,
        pod: Pod,
        extent: u32,
        array: bool,
        equal_sizes: bool,
    },
}

impl Property {
    /// A property that consists of others.
    pub fn compound(name: &'static str, meta: &'static str, parts: Vec<Self>) -> Self {
        Self { name, meta, kind: Kind::Compound(parts) }
    }

    /// An array that may change from sample to sample.
    pub fn array(name: &'static str, meta: &'static str, pod: Pod, extent: u32, offsets: Vec<u64>) -> Self {
        Self { name, meta, kind: Kind::Samples { offsets, pod, extent, array: true, equal_sizes: false } }
    }

    /// A value that may change from sample to sample.
    pub fn scalar(name: &'static str, meta: &'static str, pod: Pod, extent: u32, offsets: Vec<u64>) -> Self {
        Self { name, meta, kind: Kind::Samples { offsets, pod, extent, array: false, equal_sizes: true } }
    }
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its metadata.
    pub meta: &'static str,
    /// Its properties.
    pub properties: Vec<Property>,
}

/// An archive being written.
#[derive(Debug)]
pub struct Archive {
    sink: Sink,
}

impl Archive {
    /// Starts an archive.
    pub fn new(mut sink: Sink) -> Result<Self, ExportError> {
        // Not yet marked as complete, and without a root.
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

    /// Writes a sample of a property; returns its offset.
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
            Kind::Samples { offsets, array, .. } => {
                // Each sample of an array is followed by its dimensions, which are empty for one
                // dimension.
                let children: Vec<u64> = offsets
                    .iter()
                    .flat_map(|&offset| if *array { vec![offset, EMPTY_DATA] } else { vec![offset] })
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
        // Without children, the headers consist of two hashes of the contents, which readers do not
        // check.
        let headers = self.data(&[&[0; 32]])?;
        self.group(&[properties, headers])
    }

    /// Writes the object tree. Samples are `interval` seconds apart, the first at `start`.
    pub fn finish(
        mut self,
        objects: &[Object],
        metadata: &str,
        samples: u32,
        start: f64,
        interval: f64,
    ) -> Result<(), ExportError> {
        /// Version of the object layout, and of the library whose files these match.
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
            self.data(&[metadata.as_bytes()])?,
            self.data(&[&times])?,
            // No table of frequent metadata.
            EMPTY_DATA,
        ];
        let root = self.group(&root)?;
        self.sink.patch(8, &root.to_le_bytes())?;
        self.sink.patch(5, &[0xff])?;
        Ok(self.sink.finish()?)
    }
}

/// Writes a property's header: type, counts, name, metadata. Counts take 1, 2 or 4 bytes, as the
/// largest requires.
fn push_header(bytes: &mut Vec<u8>, property: &Property) {
    let samples = match &property.kind {
        Kind::Compound(_) => 0,
        Kind::Samples { offsets, .. } => offsets.len(),
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
        Kind::Samples { offsets, pod, extent, array, equal_sizes } => {
            info |= if *array { 2 } else { 1 };
            info |= (*pod as u32) << 4;
            info |= *extent << 12;
            let animated = offsets.len() > 1;
            // Time sampling 1 is that of the frames, 0 is constant.
            info |= u32::from(animated) << 8;
            info |= u32::from(*equal_sizes || !animated) << 10;
            info |= u32::from(!animated) << 11;
            bytes.extend_from_slice(&info.to_le_bytes());
            count(bytes, offsets.len());
            if animated {
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
