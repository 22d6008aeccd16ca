//! Objects, properties and time samplings of an Alembic archive (format of the Alembic library,
//! `AbcCoreOgawa`).

use std::cell::Cell;

use super::ogawa::{Cursor, Group, Ogawa, Parsed};

/// Bytes of the hashes behind the headers of an object's children.
const HASHES: usize = 32;

/// Bytes of the key before the values of a sample.
const KEY: usize = 16;

/// Index of metadata that are written in place.
const IN_PLACE: usize = 0xff;

/// An archive.
pub struct Archive<'a> {
    file: Ogawa<'a>,
    metadata: Vec<String>,
    /// Time samplings, to which properties refer by index.
    pub samplings: Vec<TimeSampling>,
    root: Group,
    /// Numbers that may still be read.
    numbers_left: Cell<usize>,
}

/// Times of the samples of properties.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSampling {
    /// Largest number of samples of a property.
    pub samples: usize,
    /// Time of a cycle, in s; very large where all times are listed.
    per_cycle: f64,
    /// Times within a cycle, in s.
    times: Vec<f64>,
}

/// An object.
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its schema, such as `AbcGeom_PolyMesh_v1`; empty where it has none.
    pub schema: String,
    group: Group,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Compound,
    Scalar,
    Array,
}

/// A property.
#[derive(Clone)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its metadata, `key=value;…`.
    pub metadata: String,
    kind: Kind,
    /// Type of its values, by the format's number.
    pod: usize,
    samples: usize,
    first_changed: usize,
    last_changed: usize,
    sampling: usize,
    group: Group,
}

impl TimeSampling {
    /// Time of a sample, in s.
    pub fn time(&self, sample: usize) -> f64 {
        let count = self.times.len().max(1);
        let within = self.times.get(sample % count).copied().unwrap_or(0.0);
        let cycles = (sample / count) as f64;
        if cycles == 0.0 { within } else { within + cycles * self.per_cycle }
    }

    /// Samples per second: cycles per second, or the mean of listed times.
    pub fn rate(&self) -> f64 {
        let last = self.samples.saturating_sub(1);
        let listed = self.times.len() > 1 && self.times.len() >= self.samples;
        if listed { last as f64 / (self.time(last) - self.time(0)) } else { 1.0 / self.per_cycle }
    }
}

impl<'a> Archive<'a> {
    /// Opens an archive of which at most `max_numbers` are read, each time that they are.
    pub fn open(bytes: &'a [u8], max_numbers: usize) -> Parsed<Self> {
        let (file, top) = Ogawa::open(bytes)?;
        let root = file.group(top, 2)?;
        let mut samplings = Vec::new();
        let mut cursor = Cursor::new(file.data(top, 4)?);
        while !cursor.is_empty() {
            let samples = cursor.integer(4)?;
            let per_cycle = cursor.f64()?;
            let listed = cursor.integer(4)?;
            let mut bytes = Cursor::new(cursor.take(listed.saturating_mul(8))?);
            let times = (0..listed).map(|_| bytes.f64()).collect::<Parsed<Vec<f64>>>()?;
            samplings.push(TimeSampling { samples, per_cycle, times });
        }
        // Index 0 stands for no metadata.
        let mut metadata = vec![String::new()];
        let mut cursor = Cursor::new(file.data(top, 5)?);
        while !cursor.is_empty() {
            let length = cursor.integer(1)?;
            metadata.push(cursor.text(length)?);
        }
        Ok(Self { file, metadata, samplings, root, numbers_left: Cell::new(max_numbers) })
    }

    /// The object that contains all others.
    pub fn root(&self) -> Object {
        Object { name: String::new(), schema: String::new(), group: self.root }
    }

    fn metadata(&self, index: usize, in_place: impl FnOnce() -> Parsed<String>) -> Parsed<String> {
        if index == IN_PLACE {
            return in_place();
        }
        self.metadata.get(index).cloned().ok_or_else(|| "a header refers to missing metadata".to_owned())
    }

    /// The children of an object.
    pub fn children(&self, object: &Object) -> Parsed<Vec<Object>> {
        let Some(last) = object.group.len().checked_sub(1) else { return Ok(Vec::new()) };
        if !self.file.is_data(object.group, last) {
            return Ok(Vec::new());
        }
        let headers = self.file.data(object.group, last)?;
        let mut cursor = Cursor::new(&headers[..headers.len().saturating_sub(HASHES)]);
        let mut children = Vec::new();
        while !cursor.is_empty() {
            let length = cursor.integer(4)?;
            let name = cursor.text(length)?;
            let index = cursor.integer(1)?;
            let metadata = self.metadata(index, || {
                let length = cursor.integer(4)?;
                cursor.text(length)
            })?;
            let schema = entry(&metadata, "schema").unwrap_or_default().to_owned();
            // The properties come first.
            let group = self.file.group(object.group, children.len() + 1)?;
            children.push(Object { name, schema, group });
        }
        Ok(children)
    }

    /// The properties of an object.
    pub fn properties(&self, object: &Object) -> Parsed<Vec<Property>> {
        if object.group.len() == 0 || self.file.is_data(object.group, 0) {
            return Ok(Vec::new());
        }
        self.compound(self.file.group(object.group, 0)?)
    }

    /// The properties of a compound property; none of any other.
    pub fn parts(&self, property: &Property) -> Parsed<Vec<Property>> {
        if property.kind == Kind::Compound { self.compound(property.group) } else { Ok(Vec::new()) }
    }

    fn compound(&self, group: Group) -> Parsed<Vec<Property>> {
        let Some(last) = group.len().checked_sub(1).filter(|last| self.file.is_data(group, *last)) else {
            return Ok(Vec::new());
        };
        let mut cursor = Cursor::new(self.file.data(group, last)?);
        let mut properties = Vec::new();
        while !cursor.is_empty() {
            let own = self.file.group(group, properties.len())?;
            properties.push(self.property(&mut cursor, own)?);
        }
        Ok(properties)
    }

    /// Reads the header of a property with the values in `group`.
    fn property(&self, cursor: &mut Cursor<'_>, group: Group) -> Parsed<Property> {
        let info = cursor.integer(4)?;
        let kind = match info & 3 {
            0 => Kind::Compound,
            1 => Kind::Scalar,
            _ => Kind::Array,
        };
        // How many bytes the numbers of this header have.
        let width = match info >> 2 & 3 {
            0 => 1,
            1 => 2,
            _ => 4,
        };
        let (mut samples, mut changed, mut sampling) = (0, [0, 0], 0);
        if kind != Kind::Compound {
            samples = cursor.integer(width)?;
            changed = match (info & 0x200 != 0, info & 0x800 != 0) {
                (true, _) => [cursor.integer(width)?, cursor.integer(width)?],
                (false, true) => [0, 0],
                (false, false) => [1, samples.saturating_sub(1)],
            };
            if info & 0x100 != 0 {
                sampling = cursor.integer(width)?;
            }
        }
        let length = cursor.integer(width)?;
        let name = cursor.text(length)?;
        let metadata = self.metadata(info >> 20 & 0xff, || {
            let length = cursor.integer(width)?;
            cursor.text(length)
        })?;
        let [first_changed, last_changed] = changed;
        let pod = info >> 4 & 0xf;
        Ok(Property { name, metadata, kind, pod, samples, first_changed, last_changed, sampling, group })
    }

    /// The values of a sample as numbers; those of vectors one after another.
    pub fn numbers(&self, property: &Property, sample: usize) -> Parsed<Vec<f64>> {
        let bytes = self.bytes(property, sample)?;
        let size = match property.pod {
            0..=2 => 1,
            3 | 4 => 2,
            5 | 6 | 10 => 4,
            _ => 8,
        };
        let left = self.numbers_left.get().checked_sub(bytes.len() / size);
        let left = left.ok_or("it has too many numbers; simplify its meshes, or export fewer frames")?;
        self.numbers_left.set(left);
        macro_rules! read {
            ($kind:ty, $convert:expr) => {
                bytes
                    .as_chunks::<{ size_of::<$kind>() }>()
                    .0
                    .iter()
                    .map(|b| $convert(<$kind>::from_le_bytes(*b)))
                    .collect()
            };
        }
        Ok(match property.pod {
            0 | 1 => bytes.iter().map(|b| f64::from(*b)).collect(),
            2 => read!(i8, f64::from),
            3 => read!(u16, f64::from),
            4 => read!(i16, f64::from),
            5 => read!(u32, f64::from),
            6 => read!(i32, f64::from),
            7 => read!(u64, |v| v as f64),
            8 => read!(i64, |v| v as f64),
            10 => read!(f32, f64::from),
            11 => read!(f64, |v| v),
            _ => return Err(format!("the property {} has values of an unknown type", property.name)),
        })
    }

    /// The bytes of a sample. Equal samples at the start and the end are stored once.
    fn bytes(&self, property: &Property, sample: usize) -> Parsed<&'a [u8]> {
        let [first, last] = [property.first_changed, property.last_changed];
        let sample = sample.min(property.samples.saturating_sub(1));
        let stored = match sample {
            _ if first == 0 && last == 0 => 0,
            sample if sample >= last => (last + 1).saturating_sub(first),
            sample => (sample + 1).saturating_sub(first),
        };
        // Arrays have their dimensions behind each sample.
        let index = match property.kind {
            Kind::Compound => return Err(format!("the property {} has no values", property.name)),
            Kind::Scalar => stored,
            Kind::Array => 2 * stored,
        };
        let bytes = self.file.data(property.group, index)?;
        // An empty sample has no key either.
        Ok(bytes.get(KEY..).unwrap_or_default())
    }

    /// Whether a property changes over time.
    pub fn is_animated(&self, property: &Property) -> bool {
        property.samples > 1 && property.last_changed > 0
    }

    /// The samples around `time` (in s), and the fraction of the way from the first to the second.
    pub fn samples_at(&self, property: &Property, time: f64) -> (usize, usize, f64) {
        let last = property.samples.saturating_sub(1);
        let Some(sampling) = self.samplings.get(property.sampling) else { return (0, 0, 0.0) };
        // Times increase: bisection.
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if sampling.time(middle) <= time { low = middle } else { high = middle - 1 }
        }
        let (next, start) = ((low + 1).min(last), sampling.time(low));
        let span = sampling.time(next) - start;
        let along = if span > 0.0 { ((time - start) / span).clamp(0.0, 1.0) } else { 0.0 };
        // Times of frames are rounded.
        match along {
            a if a < 1e-6 => (low, low, 0.0),
            a if a > 1.0 - 1e-6 => (next, next, 0.0),
            a => (low, next, a),
        }
    }
}

/// The value of a key in metadata.
pub fn entry<'t>(metadata: &'t str, key: &str) -> Option<&'t str> {
    metadata.split(';').find_map(|entry| entry.split_once('=').filter(|(name, _)| *name == key)).map(|(_, value)| value)
}
