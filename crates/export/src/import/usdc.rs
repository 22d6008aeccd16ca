//! USD's binary layers (openusd; format versions 0.4 to 0.10), as far as a model needs them. Nothing in the file is trusted: every place, count and
//! index is checked before it is used.

use std::collections::BTreeMap;

use super::usd::{UsdLayer, UsdPrim, UsdValue};
use crate::usd::int_coding::{unpack, unsqueeze};

/// Most entries of any table or array: a bound on what a broken file can make us take.
const MOST: usize = 1 << 27;

/// Reads a layer; errors say what is broken.
pub fn parse(bytes: &[u8]) -> Result<UsdLayer, String> {
    Reader { bytes }.layer().map_err(|what| format!("the layer is broken: {what}"))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

#[derive(Clone, Copy)]
struct Spec {
    path: usize,
    fields: usize,
    kind: i32,
}

struct Tables {
    tokens: Vec<String>,
    strings: Vec<usize>,
    fields: Vec<(usize, u64)>,
    field_sets: Vec<i32>,
    paths: Vec<String>,
}

type Outcome<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn slice(&self, at: usize, length: usize) -> Outcome<&'a [u8]> {
        let end = at.checked_add(length).ok_or("a place is beyond all files")?;
        self.bytes.get(at..end).ok_or_else(|| format!("{length} bytes at {at} are beyond its end"))
    }

    fn u64(&self, at: usize) -> Outcome<u64> {
        let bytes = self.slice(at, 8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| "no number")?))
    }

    fn size(&self, at: usize) -> Outcome<usize> {
        let value = usize::try_from(self.u64(at)?).map_err(|_| "a size is too large")?;
        if value > MOST.max(self.bytes.len()) {
            Err(format!("a size of {value} at {at} is too large"))
        } else {
            Ok(value)
        }
    }

    /// A size and as many bytes of packed numbers; where it ends.
    fn packed(&self, at: usize, count: usize) -> Outcome<(Vec<i32>, usize)> {
        if count > MOST {
            return Err(format!("{count} numbers are too many"));
        }
        let length = self.size(at)?;
        let numbers = unpack(self.slice(at + 8, length)?, count).ok_or("packed numbers cannot be unpacked")?;
        Ok((numbers, at + 8 + length))
    }

    fn layer(&self) -> Outcome<UsdLayer> {
        let version = self.slice(8, 3)?;
        if version[0] != 0 || !(4..=10).contains(&version[1]) {
            return Err(format!(
                "its format version is {}.{}.{}, and 0.4 to 0.10 are read; save it as .usda and import that",
                version[0], version[1], version[2]
            ));
        }
        let contents = self.size(16)?;
        let mut sections = BTreeMap::new();
        for k in 0..self.size(contents)?.min(64) {
            let at = contents + 8 + 32 * k;
            let name = self.slice(at, 16)?.split(|byte| *byte == 0).next().unwrap_or_default();
            sections.insert(String::from_utf8_lossy(name).into_owned(), self.size(at + 16)?);
        }
        let section = |name: &str| sections.get(name).copied().ok_or_else(|| format!("it has no section {name}"));
        let tokens = self.tokens(section("TOKENS")?)?;
        let paths = self.paths(section("PATHS")?, &tokens)?;
        let tables = Tables {
            strings: self.strings(section("STRINGS")?)?,
            fields: self.fields(section("FIELDS")?)?,
            field_sets: self.field_sets(section("FIELDSETS")?)?,
            tokens,
            paths,
        };
        let specs = self.specs(section("SPECS")?)?;
        self.assemble(&tables, &specs)
    }

    fn tokens(&self, at: usize) -> Outcome<Vec<String>> {
        let (count, size, packed) = (self.size(at)?, self.size(at + 8)?, self.size(at + 16)?);
        let text = unsqueeze(self.slice(at + 24, packed)?, size.min(MOST)).ok_or("its names cannot be unpacked")?;
        let tokens: Vec<String> =
            text.split(|byte| *byte == 0).take(count).map(|t| String::from_utf8_lossy(t).into_owned()).collect();
        if tokens.len() == count { Ok(tokens) } else { Err(format!("{} names for {count}", tokens.len())) }
    }

    fn strings(&self, at: usize) -> Outcome<Vec<usize>> {
        let count = self.size(at)?;
        let bytes = self.slice(at + 8, count.checked_mul(4).ok_or("too many strings")?)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b) as usize).collect())
    }

    fn fields(&self, at: usize) -> Outcome<Vec<(usize, u64)>> {
        let count = self.size(at)?;
        let (names, at) = self.packed(at + 8, count)?;
        let length = self.size(at)?;
        let values = unsqueeze(self.slice(at + 8, length)?, 8 * count).ok_or("values cannot be unpacked")?;
        let values = values.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
        Ok(names.iter().map(|name| *name as usize).zip(values).collect())
    }

    fn field_sets(&self, at: usize) -> Outcome<Vec<i32>> {
        let count = self.size(at)?;
        Ok(self.packed(at + 8, count)?.0)
    }

    fn specs(&self, at: usize) -> Outcome<Vec<Spec>> {
        let count = self.size(at)?;
        let (paths, at) = self.packed(at + 8, count)?;
        let (fields, at) = self.packed(at, count)?;
        let (kinds, _) = self.packed(at, count)?;
        let specs = paths.iter().zip(&fields).zip(&kinds);
        Ok(specs
            .map(|((path, fields), kind)| Spec { path: *path as usize, fields: *fields as usize, kind: *kind })
            .collect())
    }

    fn paths(&self, at: usize, tokens: &[String]) -> Outcome<Vec<String>> {
        let count = self.size(at)?;
        let entries = self.size(at + 8)?;
        if count > MOST {
            return Err("too many paths".into());
        }
        let (numbers, at) = self.packed(at + 16, entries)?;
        let (elements, at) = self.packed(at, entries)?;
        let (jumps, _) = self.packed(at, entries)?;
        let mut paths = vec![String::new(); count];
        // (entry, path of its parent); what comes last is taken first.
        let mut open: Vec<(usize, String)> = vec![(0, String::new())];
        let mut seen = 0;
        while let Some((mut entry, parent)) = open.pop() {
            let mut parent = parent;
            loop {
                seen += 1;
                if seen > entries.max(1) {
                    return Err("its paths go in circles".into());
                }
                let (Some(number), Some(element), Some(jump)) =
                    (numbers.get(entry), elements.get(entry), jumps.get(entry))
                else {
                    return Err("a path is beyond the table".into());
                };
                let name = tokens.get(element.unsigned_abs() as usize).ok_or("a path's name is not there")?;
                let path = if entry == 0 {
                    "/".to_owned()
                } else if *element < 0 {
                    format!("{parent}.{name}")
                } else if parent == "/" {
                    format!("/{name}")
                } else {
                    format!("{parent}/{name}")
                };
                *paths.get_mut(*number as usize).ok_or("a path's number is too large")? = path.clone();
                let (child, sibling) = (*jump > 0 || *jump == -1, *jump >= 0);
                match (child, sibling) {
                    (true, true) => {
                        open.push((entry + *jump as usize, parent.clone()));
                        parent = path;
                    }
                    (true, false) => parent = path,
                    (false, true) => {}
                    (false, false) => break,
                }
                entry += 1;
            }
        }
        Ok(paths)
    }

    fn assemble(&self, tables: &Tables, specs: &[Spec]) -> Outcome<UsdLayer> {
        const ATTRIBUTE: i32 = 1;
        const PRIM: i32 = 6;
        const ROOT: i32 = 7;
        const RELATIONSHIP: i32 = 8;
        let mut layer = UsdLayer::default();
        let mut prims: BTreeMap<String, (UsdPrim, Vec<String>)> = BTreeMap::new();
        let mut top = Vec::new();
        let mut properties: Vec<(String, UsdValue)> = Vec::new();
        for spec in specs {
            let path = tables.paths.get(spec.path).ok_or("a spec has no path")?;
            let set = tables.field_sets.get(spec.fields..).unwrap_or_default();
            let mut fields = BTreeMap::new();
            for field in set.iter().take_while(|field| **field >= 0) {
                let (name, value) = tables.fields.get(*field as usize).ok_or("a field is not there")?;
                fields.insert(tables.tokens.get(*name).map_or("", String::as_str), *value);
            }
            let value =
                |name: &str| fields.get(name).map_or(Ok(UsdValue::Nothing), |value| self.value(tables, *value, 0));
            let children = || value("primChildren").map(|names| texts(&names));
            match spec.kind {
                ROOT => {
                    top = children()?;
                    for key in [
                        "metersPerUnit",
                        "upAxis",
                        "startTimeCode",
                        "endTimeCode",
                        "timeCodesPerSecond",
                        "framesPerSecond",
                    ] {
                        layer.meta.insert(key.to_owned(), value(key)?);
                    }
                }
                PRIM => {
                    let composed =
                        ["references", "payload", "inherits", "specializes"].iter().any(|key| fields.contains_key(key));
                    let kind = texts(&value("typeName")?).first().cloned().unwrap_or_default();
                    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                    prims.insert(path.clone(), (UsdPrim { name, kind, composed, ..UsdPrim::default() }, children()?));
                }
                ATTRIBUTE => {
                    let set = value("default")?;
                    let set = if set == UsdValue::Nothing { value("timeSamples")? } else { set };
                    properties.push((path.clone(), set));
                }
                RELATIONSHIP => properties.push((path.clone(), value("targetPaths")?)),
                _ => {}
            }
        }
        for (path, value) in properties {
            if let Some((prim, name)) = path.rsplit_once('.')
                && let Some((prim, _)) = prims.get_mut(prim)
                && value != UsdValue::Nothing
            {
                prim.properties.insert(name.to_owned(), value);
            }
        }
        layer.prims = top.iter().filter_map(|name| take(&mut prims, &format!("/{name}"), 0)).collect();
        Ok(layer)
    }

    /// A value; of kinds that no model needs, nothing.
    fn value(&self, tables: &Tables, rep: u64, depth: usize) -> Outcome<UsdValue> {
        let (array, inlined, packed) = (rep >> 63 & 1 == 1, rep >> 62 & 1 == 1, rep >> 61 & 1 == 1);
        let (kind, payload) = (rep >> 48 & 0xff, (rep & 0xffff_ffff_ffff) as usize);
        let token = |index: usize| tables.tokens.get(index).cloned().ok_or("a name is not there".to_owned());
        let text =
            |index: usize| tables.strings.get(index).ok_or("a text is not there".to_owned()).and_then(|t| token(*t));
        // Size of an element and how many numbers it holds.
        let (size, count) = match kind {
            1 | 2 => (1, 1),
            3 | 4 | 8 => (4, 1),
            5 | 6 | 9 => (8, 1),
            7 => (2, 1),
            15 => (128, 16),
            16 => (32, 4),
            17 => (16, 4),
            19 => (16, 2),
            20 => (8, 2),
            23 => (24, 3),
            24 => (12, 3),
            27 => (32, 4),
            28 => (16, 4),
            10 | 11 | 12 | 34 | 41 | 46 => (4, 1),
            _ => return Ok(UsdValue::Nothing),
        };
        if array {
            if payload == 0 {
                return Ok(UsdValue::Numbers(Vec::new()));
            }
            // Sizes have eight bytes since version 0.7, four before, and a rank in front before 0.5.
            let minor = self.bytes[9];
            let start = if minor < 5 { payload + 4 } else { payload };
            let (length, start) = if minor < 7 {
                let bytes = self.slice(start, 4)?;
                (u32::from_le_bytes(bytes.try_into().map_err(|_| "no size")?) as usize, start + 4)
            } else {
                (self.size(start)?, start + 8)
            };
            if length > MOST {
                return Err(format!("an array of {length} is too long"));
            }
            if packed && length >= 16 {
                return Ok(match kind {
                    3 | 4 => UsdValue::Numbers(self.packed(start, length)?.0.into_iter().map(f64::from).collect()),
                    8 | 9 => self.packed_reals(start, length, size)?,
                    _ => UsdValue::Nothing,
                });
            }
            let bytes = self.slice(start, length.checked_mul(size).ok_or("an array is too long")?)?;
            if kind == 10 || kind == 11 || kind == 12 {
                let indices = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b) as usize);
                let texts: Outcome<Vec<String>> =
                    indices.map(|index| if kind == 10 { text(index) } else { token(index) }).collect();
                return Ok(UsdValue::Texts(texts?));
            }
            return Ok(UsdValue::Numbers(reals(bytes, kind)));
        }
        match kind {
            10 => Ok(UsdValue::Texts(vec![text(payload)?])),
            11 | 12 => Ok(UsdValue::Texts(vec![token(payload)?])),
            41 => {
                let bytes = self.slice(payload + 8, 4 * self.size(payload)?)?;
                let names: Outcome<Vec<String>> =
                    bytes.as_chunks::<4>().0.iter().map(|b| token(u32::from_le_bytes(*b) as usize)).collect();
                Ok(UsdValue::Texts(names?))
            }
            34 => self.path_list(tables, payload),
            46 if depth == 0 => {
                // Past the times, then the first of the values.
                let offset = self.size(payload)?;
                let values = payload + offset + 8;
                let at = values + self.size(values)?;
                if self.size(at)? == 0 { Ok(UsdValue::Nothing) } else { self.value(tables, self.u64(at + 8)?, 1) }
            }
            46 => Ok(UsdValue::Nothing),
            _ if inlined => Ok(UsdValue::Numbers(inlined_numbers(kind, payload as u32, count))),
            _ => Ok(UsdValue::Numbers(reals(self.slice(payload, size)?, kind))),
        }
    }

    /// Reals that are whole numbers, or few different ones.
    fn packed_reals(&self, at: usize, count: usize, size: usize) -> Outcome<UsdValue> {
        let code = self.slice(at, 1)?[0];
        match code {
            b'i' => Ok(UsdValue::Numbers(self.packed(at + 1, count)?.0.into_iter().map(f64::from).collect())),
            b't' => {
                let bytes = self.slice(at + 1, 4)?;
                let entries = u32::from_le_bytes(bytes.try_into().map_err(|_| "no size")?) as usize;
                let length = entries.checked_mul(size).ok_or("a table is too long")?;
                let table = reals(self.slice(at + 5, length)?, if size == 4 { 8 } else { 9 });
                let (indices, _) = self.packed(at + 5 + length, count)?;
                let values: Option<Vec<f64>> = indices.iter().map(|k| table.get(*k as usize).copied()).collect();
                Ok(UsdValue::Numbers(values.ok_or("a table of numbers is too short")?))
            }
            _ => Err("an array is packed in a way that is not known".into()),
        }
    }

    /// The paths of a list operation, whichever of its lists has any.
    fn path_list(&self, tables: &Tables, at: usize) -> Outcome<UsdValue> {
        let bits = self.slice(at, 1)?[0];
        let mut at = at + 1;
        // Explicit, added, deleted, ordered, prepended, appended; deleted ones are not targets.
        for (bit, taken) in [(1, true), (2, true), (3, false), (4, false), (5, true), (6, true)] {
            if bits >> bit & 1 == 0 {
                continue;
            }
            let count = self.size(at)?;
            let bytes = self.slice(at + 8, count.checked_mul(4).ok_or("a list is too long")?)?;
            at += 8 + 4 * count;
            if taken && count > 0 {
                let paths: Option<Vec<String>> = bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .map(|b| tables.paths.get(u32::from_le_bytes(*b) as usize).cloned())
                    .collect();
                return Ok(UsdValue::Texts(paths.ok_or("a target is not there")?));
            }
        }
        Ok(UsdValue::Nothing)
    }
}

fn texts(value: &UsdValue) -> Vec<String> {
    if let UsdValue::Texts(texts) = value { texts.clone() } else { Vec::new() }
}

fn take(prims: &mut BTreeMap<String, (UsdPrim, Vec<String>)>, path: &str, depth: usize) -> Option<UsdPrim> {
    let (mut prim, children) = prims.remove(path).filter(|_| depth < 200)?;
    prim.children = children.iter().filter_map(|name| take(prims, &format!("{path}/{name}"), depth + 1)).collect();
    Some(prim)
}

/// Numbers as they lie in the file.
fn reals(bytes: &[u8], kind: u64) -> Vec<f64> {
    match kind {
        1 | 2 => bytes.iter().map(|b| f64::from(*b)).collect(),
        3 => bytes.as_chunks::<4>().0.iter().map(|b| f64::from(i32::from_le_bytes(*b))).collect(),
        4 => bytes.as_chunks::<4>().0.iter().map(|b| f64::from(u32::from_le_bytes(*b))).collect(),
        5 | 6 => bytes.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
        7 => bytes.as_chunks::<2>().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
        8 | 20 | 24 | 28 => bytes.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
        // Quaternions lie with the real part last; elsewhere it comes first.
        16 | 17 => {
            let values = reals(bytes, if kind == 16 { 9 } else { 8 });
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

/// A value that lies in its own four bytes: small vectors of whole numbers have a byte each, a diagonal matrix its diagonal.
fn inlined_numbers(kind: u64, bits: u32, count: usize) -> Vec<f64> {
    let small = bits.to_le_bytes().map(|b| f64::from(b.cast_signed()));
    match kind {
        8 | 9 => vec![f64::from(f32::from_bits(bits))],
        3 => vec![f64::from(bits.cast_signed())],
        7 => vec![half(bits as u16)],
        15 => (0..16).map(|k| if k % 5 == 0 { small[k / 5] } else { 0.0 }).collect(),
        19 | 20 | 23 | 24 | 27 | 28 => small[..count].to_vec(),
        _ => vec![f64::from(bits)],
    }
}
