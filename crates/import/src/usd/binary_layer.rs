//! Reader of USD binary layers (`.usdc`, "crate" files of versions 0.4 to 0.10; openusd), as far as
//! importing a model needs them.
//!
//! Every offset, count and index is checked before use.

mod values;

use std::collections::BTreeMap;

use super::error::UsdError;
use super::integer_coding::{decode_integers, decompress};
use super::layer::{TimeSamples, UsdLayer, UsdPrim, UsdValue, keeps_samples};

/// Most entries of any table or array: bounds the memory that a malformed file can claim.
const MAX_ENTRIES: usize = 1 << 27;

/// Deepest tree of prims.
const MAX_DEPTH: usize = 200;

/// Parses a layer; the error says what is wrong.
pub fn parse(bytes: &[u8]) -> Result<UsdLayer, UsdError> {
    Reader { bytes }.layer().map_err(UsdError::Malformed)
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

/// Kinds of specs.
const ATTRIBUTE: i32 = 1;
const PRIM: i32 = 6;
const ROOT: i32 = 7;
const RELATIONSHIP: i32 = 8;

/// Metadata of the layer that is read.
const LAYER_METADATA: [&str; 6] =
    ["metersPerUnit", "upAxis", "startTimeCode", "endTimeCode", "timeCodesPerSecond", "framesPerSecond"];

/// Fields of a prim that refer to other layers or prims.
const COMPOSITION_ARCS: [&str; 4] = ["references", "payload", "inherits", "specializes"];

struct Tables {
    tokens: Vec<String>,
    strings: Vec<usize>,
    fields: Vec<(usize, u64)>,
    field_sets: Vec<i32>,
    paths: Vec<String>,
}

type Parsed<T> = Result<T, String>;

impl Tables {
    fn token(&self, index: usize) -> Parsed<String> {
        self.tokens.get(index).cloned().ok_or("a value refers to a missing token".to_owned())
    }

    fn string(&self, index: usize) -> Parsed<String> {
        let token = self.strings.get(index).ok_or("a value refers to a missing string")?;
        self.token(*token)
    }

    /// The fields of a spec, by name.
    fn fields_of(&self, spec: &Spec) -> Parsed<BTreeMap<&str, u64>> {
        let set = self.field_sets.get(spec.fields..).unwrap_or_default();
        let mut fields = BTreeMap::new();
        for field in set.iter().take_while(|field| **field >= 0) {
            let (name, value) = self.fields.get(*field as usize).ok_or("a spec refers to a missing field")?;
            fields.insert(self.tokens.get(*name).map_or("", String::as_str), *value);
        }
        Ok(fields)
    }
}

impl<'a> Reader<'a> {
    fn slice(&self, at: usize, length: usize) -> Parsed<&'a [u8]> {
        let end = at.checked_add(length).ok_or("an offset is too large")?;
        self.bytes
            .get(at..end)
            .ok_or_else(|| format!("expected {length} bytes at byte {at}, found the end of the file"))
    }

    fn u64(&self, at: usize) -> Parsed<u64> {
        let bytes = self.slice(at, 8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| "a number is truncated")?))
    }

    fn size(&self, at: usize) -> Parsed<usize> {
        let value = usize::try_from(self.u64(at)?).map_err(|_| "a size is too large")?;
        if value > MAX_ENTRIES.max(self.bytes.len()) {
            Err(format!("the size {value} at byte {at} is too large"))
        } else {
            Ok(value)
        }
    }

    /// Compressed integers behind their size in bytes; also returns the offset of their end.
    fn integers(&self, at: usize, count: usize) -> Parsed<(Vec<i32>, usize)> {
        if count > MAX_ENTRIES {
            return Err(format!("an array of {count} integers is too long"));
        }
        let length = self.size(at)?;
        let numbers = decode_integers(self.slice(at + 8, length)?, count).ok_or("compressed integers are malformed")?;
        Ok((numbers, at + 8 + length))
    }

    fn layer(&self) -> Parsed<UsdLayer> {
        let version = self.slice(8, 3)?;
        if version[0] != 0 || !(4..=10).contains(&version[1]) {
            return Err(format!(
                "expected format version 0.4 to 0.10, found {}.{}.{}; save the layer as .usda and import that",
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
        let section = |name: &str| sections.get(name).copied().ok_or_else(|| format!("section {name} is missing"));
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

    fn tokens(&self, at: usize) -> Parsed<Vec<String>> {
        let (count, size, packed) = (self.size(at)?, self.size(at + 8)?, self.size(at + 16)?);
        let text = decompress(self.slice(at + 24, packed)?, size.min(MAX_ENTRIES))
            .ok_or("the compressed tokens are malformed")?;
        let tokens: Vec<String> =
            text.split(|byte| *byte == 0).take(count).map(|t| String::from_utf8_lossy(t).into_owned()).collect();
        if tokens.len() == count { Ok(tokens) } else { Err(format!("expected {count} tokens, found {}", tokens.len())) }
    }

    fn strings(&self, at: usize) -> Parsed<Vec<usize>> {
        let count = self.size(at)?;
        let bytes = self.slice(at + 8, count.checked_mul(4).ok_or("too many strings")?)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b) as usize).collect())
    }

    fn fields(&self, at: usize) -> Parsed<Vec<(usize, u64)>> {
        let count = self.size(at)?;
        let (names, at) = self.integers(at + 8, count)?;
        let length = self.size(at)?;
        let values =
            decompress(self.slice(at + 8, length)?, 8 * count).ok_or("compressed field values are malformed")?;
        let values = values.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
        Ok(names.iter().map(|name| *name as usize).zip(values).collect())
    }

    fn field_sets(&self, at: usize) -> Parsed<Vec<i32>> {
        let count = self.size(at)?;
        Ok(self.integers(at + 8, count)?.0)
    }

    fn specs(&self, at: usize) -> Parsed<Vec<Spec>> {
        let count = self.size(at)?;
        let (paths, at) = self.integers(at + 8, count)?;
        let (fields, at) = self.integers(at, count)?;
        let (kinds, _) = self.integers(at, count)?;
        let specs = paths.iter().zip(&fields).zip(&kinds);
        Ok(specs
            .map(|((path, fields), kind)| Spec { path: *path as usize, fields: *fields as usize, kind: *kind })
            .collect())
    }

    fn paths(&self, at: usize, tokens: &[String]) -> Parsed<Vec<String>> {
        let count = self.size(at)?;
        let entries = self.size(at + 8)?;
        if count > MAX_ENTRIES {
            return Err("too many paths".into());
        }
        let (numbers, at) = self.integers(at + 16, entries)?;
        let (elements, at) = self.integers(at, entries)?;
        let (jumps, _) = self.integers(at, entries)?;
        let mut paths = vec![String::new(); count];
        // Stack of (entry, path of its parent, depth).
        let mut stack: Vec<(usize, String, usize)> = vec![(0, String::new(), 0)];
        let mut seen = 0;
        while let Some((mut entry, mut parent, mut depth)) = stack.pop() {
            loop {
                // Paths have the names of all their parents, so a long chain would fill the memory.
                if depth > MAX_DEPTH {
                    return Err(format!("prims are nested more than {MAX_DEPTH} levels deep"));
                }
                seen += 1;
                if seen > entries.max(1) {
                    return Err("the path tree has a loop".into());
                }
                let (Some(number), Some(element), Some(jump)) =
                    (numbers.get(entry), elements.get(entry), jumps.get(entry))
                else {
                    return Err("a path refers beyond its table".into());
                };
                let name = tokens.get(element.unsigned_abs() as usize).ok_or("a path refers to a missing token")?;
                let path = match (entry, *element, parent.as_str()) {
                    (0, ..) => "/".to_owned(),
                    (_, ..0, _) => format!("{parent}.{name}"),
                    (_, _, "/") => format!("/{name}"),
                    _ => format!("{parent}/{name}"),
                };
                *paths.get_mut(*number as usize).ok_or("a path index is out of range")? = path.clone();
                let (child, sibling) = (*jump > 0 || *jump == -1, *jump >= 0);
                match (child, sibling) {
                    (true, true) => {
                        stack.push((entry + *jump as usize, parent.clone(), depth));
                        (parent, depth) = (path, depth + 1);
                    }
                    (true, false) => (parent, depth) = (path, depth + 1),
                    (false, true) => {}
                    (false, false) => break,
                }
                entry += 1;
            }
        }
        Ok(paths)
    }

    fn assemble(&self, tables: &Tables, specs: &[Spec]) -> Parsed<UsdLayer> {
        let mut layer = UsdLayer::default();
        let mut prims: BTreeMap<String, (UsdPrim, Vec<String>)> = BTreeMap::new();
        let mut roots = Vec::new();
        // Path, default value and time samples.
        let mut properties = Vec::<(String, UsdValue, TimeSamples)>::new();
        for spec in specs {
            let path = tables.paths.get(spec.path).ok_or("a spec refers to a missing path")?;
            let fields = tables.fields_of(spec)?;
            let value =
                |name: &str| fields.get(name).map_or(Ok(UsdValue::Nothing), |value| self.value(tables, *value, 0));
            match spec.kind {
                ROOT => {
                    roots = value("primChildren")?.texts().to_vec();
                    for key in LAYER_METADATA {
                        layer.metadata.insert(key.to_owned(), value(key)?);
                    }
                }
                PRIM => {
                    let composed = COMPOSITION_ARCS.iter().any(|key| fields.contains_key(key));
                    let kind = value("typeName")?.text().unwrap_or_default().to_owned();
                    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                    let prim = UsdPrim { name, kind, composed, ..UsdPrim::default() };
                    prims.insert(path.clone(), (prim, value("primChildren")?.texts().to_vec()));
                }
                ATTRIBUTE => {
                    properties.push((path.clone(), value("default")?, Vec::new()));
                    if fields.contains_key("connectionPaths") {
                        properties.push((format!("{path}.connect"), value("connectionPaths")?, Vec::new()));
                    }
                    if let Some(bits) = fields.get("timeSamples") {
                        let all = path.rsplit('.').next().is_some_and(keeps_samples);
                        properties.push((path.clone(), UsdValue::Nothing, self.samples(tables, *bits, all)?));
                    }
                }
                RELATIONSHIP => properties.push((path.clone(), value("targetPaths")?, Vec::new())),
                _ => {}
            }
        }
        for (path, value, samples) in properties {
            // Names of prims have no dots; that of a connection has one.
            if let Some((prim, name)) = path.split_once('.')
                && let Some((prim, _)) = prims.get_mut(prim)
            {
                if value != UsdValue::Nothing {
                    prim.properties.insert(name.to_owned(), value);
                }
                prim.set_samples(name, samples);
            }
        }
        layer.prims = roots.iter().filter_map(|name| take(&mut prims, &format!("/{name}"), 0)).collect();
        Ok(layer)
    }
}

/// Removes a prim from the table and attaches its children, also taken from there.
fn take(prims: &mut BTreeMap<String, (UsdPrim, Vec<String>)>, path: &str, depth: usize) -> Option<UsdPrim> {
    let (mut prim, children) = prims.remove(path).filter(|_| depth <= MAX_DEPTH)?;
    prim.children = children.iter().filter_map(|name| take(prims, &format!("{path}/{name}"), depth + 1)).collect();
    Some(prim)
}
