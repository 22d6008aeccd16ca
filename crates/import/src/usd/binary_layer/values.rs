//! Values of a binary layer.
//!
//! A value is represented by 64 bits: three flags (array, inlined, compressed), the type, and a
//! payload of 48 bits that is either the value itself or its offset in the file (openusd).

use super::{MAX_ENTRIES, Parsed, Reader, Tables};
use crate::usd::layer::{TimeSamples, UsdValue};

/// Types of values, numbered as in the file.
mod types {
    pub const BOOL: u64 = 1;
    pub const UCHAR: u64 = 2;
    pub const INT: u64 = 3;
    pub const UINT: u64 = 4;
    pub const INT64: u64 = 5;
    pub const UINT64: u64 = 6;
    pub const HALF: u64 = 7;
    pub const FLOAT: u64 = 8;
    pub const DOUBLE: u64 = 9;
    pub const STRING: u64 = 10;
    pub const TOKEN: u64 = 11;
    pub const ASSET_PATH: u64 = 12;
    pub const MATRIX4D: u64 = 15;
    pub const QUATD: u64 = 16;
    pub const QUATF: u64 = 17;
    pub const VEC2D: u64 = 19;
    pub const VEC2F: u64 = 20;
    pub const VEC3D: u64 = 23;
    pub const VEC3F: u64 = 24;
    pub const VEC4D: u64 = 27;
    pub const VEC4F: u64 = 28;
    pub const PATH_LIST: u64 = 34;
    pub const TOKEN_VECTOR: u64 = 41;
    pub const TIME_SAMPLES: u64 = 46;
    pub const DOUBLE_VECTOR: u64 = 48;
}
use types::*;

/// Arrays with fewer elements than this are never compressed.
const MIN_COMPRESSED: usize = 16;

/// Size in bytes of a value of this type, and how many numbers it has; `None` for types that are
/// not read.
fn size_and_count(kind: u64) -> Option<(usize, usize)> {
    Some(match kind {
        BOOL | UCHAR => (1, 1),
        INT | UINT | FLOAT => (4, 1),
        INT64 | UINT64 | DOUBLE => (8, 1),
        HALF => (2, 1),
        MATRIX4D => (128, 16),
        QUATD => (32, 4),
        QUATF => (16, 4),
        VEC2D => (16, 2),
        VEC2F => (8, 2),
        VEC3D => (24, 3),
        VEC3F => (12, 3),
        VEC4D => (32, 4),
        VEC4F => (16, 4),
        STRING | TOKEN | ASSET_PATH | PATH_LIST | TOKEN_VECTOR | TIME_SAMPLES => (4, 1),
        _ => return None,
    })
}

impl Reader<'_> {
    /// Reads a value; [`UsdValue::Nothing`] for types that are not read. `depth` counts nested time
    /// samples.
    pub(super) fn value(&self, tables: &Tables, bits: u64, depth: usize) -> Parsed<UsdValue> {
        let (array, inlined, compressed) = (bits >> 63 & 1 == 1, bits >> 62 & 1 == 1, bits >> 61 & 1 == 1);
        let (kind, payload) = (bits >> 48 & 0xff, (bits & 0xffff_ffff_ffff) as usize);
        let Some((size, count)) = size_and_count(kind) else { return Ok(UsdValue::Nothing) };
        if array {
            return self.array(tables, kind, size, payload, compressed);
        }
        match kind {
            STRING => Ok(UsdValue::Texts(vec![tables.string(payload)?])),
            TOKEN | ASSET_PATH => Ok(UsdValue::Texts(vec![tables.token(payload)?])),
            TOKEN_VECTOR => {
                let bytes = self.slice(payload + 8, 4 * self.size(payload)?)?;
                Ok(UsdValue::Texts(indices(bytes).map(|index| tables.token(index)).collect::<Parsed<_>>()?))
            }
            PATH_LIST => self.path_list(tables, payload),
            TIME_SAMPLES if depth == 0 => {
                let first = self.samples(tables, bits, false)?.into_iter().next();
                Ok(first.map_or(UsdValue::Nothing, |(_, value)| value))
            }
            TIME_SAMPLES => Ok(UsdValue::Nothing),
            _ if inlined => Ok(UsdValue::Numbers(inlined_numbers(kind, payload as u32, count))),
            _ => Ok(UsdValue::Numbers(numbers(self.slice(payload, size)?, kind))),
        }
    }

    /// All samples of an attribute; or its first and, without its value, its second.
    pub(super) fn samples(&self, tables: &Tables, bits: u64, all: bool) -> Parsed<TimeSamples> {
        let payload = (bits & 0xffff_ffff_ffff) as usize;
        if bits >> 48 & 0xff != TIME_SAMPLES {
            return Ok(Vec::new());
        }
        let times_at = payload.checked_add(self.size(payload)?).ok_or("an offset is out of range")?;
        let values = times_at + 8;
        let values_at = values.checked_add(self.size(values)?).ok_or("an offset is out of range")?;
        let count = self.size(values_at)?;
        if count > MAX_ENTRIES {
            return Err(format!("{count} time samples are too many"));
        }
        let times = self.times(self.u64(times_at)?)?;
        let mut samples = Vec::new();
        for k in 0..count {
            let time = times.get(k).copied().unwrap_or(k as f64);
            let wanted = all || k == 0;
            let value =
                if wanted { self.value(tables, self.u64(values_at + 8 + 8 * k)?, 1)? } else { UsdValue::Nothing };
            samples.push((time, value));
            if !all && k == 1 {
                break;
            }
        }
        Ok(samples)
    }

    /// The times of samples: a vector of doubles.
    fn times(&self, bits: u64) -> Parsed<Vec<f64>> {
        let payload = (bits & 0xffff_ffff_ffff) as usize;
        if bits >> 48 & 0xff != DOUBLE_VECTOR {
            return Ok(Vec::new());
        }
        let count = self.size(payload)?;
        Ok(numbers(self.slice(payload + 8, count.checked_mul(8).ok_or("too many times")?)?, DOUBLE))
    }

    fn array(&self, tables: &Tables, kind: u64, size: usize, offset: usize, compressed: bool) -> Parsed<UsdValue> {
        if offset == 0 {
            return Ok(UsdValue::Numbers(Vec::new()));
        }
        // Lengths have eight bytes since version 0.7 and four in older ones; before 0.5 a rank
        // precedes them.
        let minor_version = self.bytes[9];
        let start = if minor_version < 5 { offset + 4 } else { offset };
        let (length, start) = if minor_version < 7 {
            let bytes = self.slice(start, 4)?;
            (u32::from_le_bytes(bytes.try_into().map_err(|_| "a size is truncated")?) as usize, start + 4)
        } else {
            (self.size(start)?, start + 8)
        };
        if length > MAX_ENTRIES {
            return Err(format!("an array of {length} elements is too long"));
        }
        if compressed && length >= MIN_COMPRESSED {
            return match kind {
                INT | UINT => self.integer_numbers(start, length),
                FLOAT | DOUBLE => self.compressed_reals(start, length, size),
                _ => Ok(UsdValue::Nothing),
            };
        }
        let bytes = self.slice(start, length.checked_mul(size).ok_or("an array is too long")?)?;
        match kind {
            STRING => Ok(UsdValue::Texts(indices(bytes).map(|index| tables.string(index)).collect::<Parsed<_>>()?)),
            TOKEN | ASSET_PATH => {
                Ok(UsdValue::Texts(indices(bytes).map(|index| tables.token(index)).collect::<Parsed<_>>()?))
            }
            _ => Ok(UsdValue::Numbers(numbers(bytes, kind))),
        }
    }

    fn integer_numbers(&self, at: usize, count: usize) -> Parsed<UsdValue> {
        Ok(UsdValue::Numbers(self.integers(at, count)?.0.into_iter().map(f64::from).collect()))
    }

    /// Compressed reals: all integers, or indices into a table of the distinct values.
    fn compressed_reals(&self, at: usize, count: usize, size: usize) -> Parsed<UsdValue> {
        match self.slice(at, 1)?[0] {
            b'i' => self.integer_numbers(at + 1, count),
            b't' => {
                let bytes = self.slice(at + 1, 4)?;
                let entries = u32::from_le_bytes(bytes.try_into().map_err(|_| "a size is truncated")?) as usize;
                let length = entries.checked_mul(size).ok_or("a table is too long")?;
                let table = numbers(self.slice(at + 5, length)?, if size == 4 { FLOAT } else { DOUBLE });
                let (indices, _) = self.integers(at + 5 + length, count)?;
                let values: Option<Vec<f64>> = indices.iter().map(|k| table.get(*k as usize).copied()).collect();
                Ok(UsdValue::Numbers(values.ok_or("a table index is out of range")?))
            }
            _ => Err("an array has an unknown encoding".into()),
        }
    }

    /// The first non-empty list of a list operation on paths, deleted ones excepted.
    fn path_list(&self, tables: &Tables, at: usize) -> Parsed<UsdValue> {
        let bits = self.slice(at, 1)?[0];
        let mut at = at + 1;
        // Explicit, added, deleted, ordered, prepended, appended.
        for (bit, has_targets) in [(1, true), (2, true), (3, false), (4, false), (5, true), (6, true)] {
            if bits >> bit & 1 == 0 {
                continue;
            }
            let count = self.size(at)?;
            let bytes = self.slice(at + 8, count.checked_mul(4).ok_or("a list is too long")?)?;
            at += 8 + 4 * count;
            if has_targets && count > 0 {
                let paths: Option<Vec<String>> = indices(bytes).map(|index| tables.paths.get(index).cloned()).collect();
                return Ok(UsdValue::Texts(paths.ok_or("a list refers to a missing path")?));
            }
        }
        Ok(UsdValue::Nothing)
    }
}

fn indices(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b) as usize)
}

/// The numbers of uncompressed values of one type.
fn numbers(bytes: &[u8], kind: u64) -> Vec<f64> {
    match kind {
        BOOL | UCHAR => bytes.iter().map(|b| f64::from(*b)).collect(),
        INT => bytes.as_chunks::<4>().0.iter().map(|b| f64::from(i32::from_le_bytes(*b))).collect(),
        UINT => bytes.as_chunks::<4>().0.iter().map(|b| f64::from(u32::from_le_bytes(*b))).collect(),
        INT64 | UINT64 => bytes.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
        HALF => bytes.as_chunks::<2>().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
        FLOAT | VEC2F | VEC3F | VEC4F => {
            bytes.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
        }
        // Quaternions are stored with the real part last; the other readers give it first.
        QUATD | QUATF => {
            let values = numbers(bytes, if kind == QUATD { DOUBLE } else { FLOAT });
            values.as_chunks::<4>().0.iter().flat_map(|[x, y, z, w]| [*w, *x, *y, *z]).collect()
        }
        _ => bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let value =
        if exponent == 0 { mantissa * 2_f64.powi(-24) } else { (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15) };
    if bits >> 15 == 1 { -value } else { value }
}

/// A value stored in the payload: small vectors of integers have a byte each, a diagonal matrix its
/// diagonal.
fn inlined_numbers(kind: u64, bits: u32, count: usize) -> Vec<f64> {
    let bytes = bits.to_le_bytes().map(|b| f64::from(b.cast_signed()));
    match kind {
        FLOAT | DOUBLE => vec![f64::from(f32::from_bits(bits))],
        INT => vec![f64::from(bits.cast_signed())],
        HALF => vec![half(bits as u16)],
        MATRIX4D => (0..16).map(|k| if k % 5 == 0 { bytes[k / 5] } else { 0.0 }).collect(),
        VEC2D | VEC2F | VEC3D | VEC3F | VEC4D | VEC4F => bytes[..count].to_vec(),
        _ => vec![f64::from(bits)],
    }
}
