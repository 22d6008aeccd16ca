//! Writer of USD's binary layers, crate files (openusd; format version 0.8.0).
//!
//! Arrays are written at once, and only their offsets are kept until the structure of the layer is
//! written at the end.
//!
//! ```text
//! "PXR-USDC", version, offset of the table of contents   88 bytes
//! values                                                 arrays, and values larger than 6 bytes
//! TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS            the structure, compressed
//! table of contents
//! ```
//!
//! A value is represented by 64 bits: flags (array, inlined, compressed), the type, and a payload
//! of 48 bits that is either the value itself or its offset in the file.

use std::collections::BTreeMap;

use sessile_output::Sink;

use super::integer_coding::{compress, encode_integers};
use crate::error::ExportError;

const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;

/// Shorter arrays are not compressed.
const MIN_COMPRESSED: usize = 16;

/// Types of values, numbered as in the format.
mod kind {
    pub const BOOL: u64 = 1;
    pub const INT: u64 = 3;
    pub const INT64: u64 = 5;
    pub const FLOAT: u64 = 8;
    pub const DOUBLE: u64 = 9;
    pub const STRING: u64 = 10;
    pub const TOKEN: u64 = 11;
    pub const ASSET: u64 = 12;
    pub const MATRIX4D: u64 = 15;
    pub const VEC2F: u64 = 20;
    pub const VEC3F: u64 = 24;
    pub const VEC4F: u64 = 28;
    pub const DICTIONARY: u64 = 31;
    pub const TOKEN_LIST: u64 = 32;
    pub const PATH_LIST: u64 = 34;
    pub const TOKEN_VECTOR: u64 = 41;
    pub const SPECIFIER: u64 = 42;
    pub const VARIABILITY: u64 = 44;
    pub const TIME_SAMPLES: u64 = 46;
    pub const DOUBLE_VECTOR: u64 = 48;
}

/// Kinds of specs, numbered as in the format.
const ATTRIBUTE: i32 = 1;
const PRIM: i32 = 6;
const ROOT: i32 = 7;
const RELATIONSHIP: i32 = 8;

/// A value, or its offset in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(u64);

/// A prim with its children.
#[derive(Clone, Debug, Default)]
pub struct Prim {
    name: String,
    fields: Vec<(&'static str, Value)>,
    properties: Vec<Property>,
    children: Vec<Prim>,
}

#[derive(Clone, Debug)]
struct Property {
    name: String,
    spec: i32,
    fields: Vec<(&'static str, Value)>,
}

/// A crate file being written.
#[derive(Debug)]
pub struct Crate {
    sink: Sink,
    tokens: Vec<String>,
    token_indices: BTreeMap<String, u32>,
    strings: Vec<u32>,
    paths: BTreeMap<String, u32>,
}

impl Crate {
    /// Starts a file.
    pub fn new(mut sink: Sink) -> Result<Self, ExportError> {
        // Filled in at the end.
        sink.put(&[0; 88])?;
        let mut file = Self {
            sink,
            tokens: Vec::new(),
            token_indices: BTreeMap::new(),
            strings: Vec::new(),
            paths: BTreeMap::new(),
        };
        // Properties are marked by the negative index of their name, so index 0 must not be a name;
        // the root's name is empty.
        file.token_index(";-)");
        file.token_index("");
        Ok(file)
    }

    fn token_index(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.token_indices.get(text) {
            return number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(text.to_owned());
        self.token_indices.insert(text.to_owned(), number);
        number
    }

    fn path_index(&mut self, path: &str) -> u32 {
        let next = self.paths.len() as u32;
        *self.paths.entry(path.to_owned()).or_insert(next)
    }

    /// A token.
    pub fn token(&mut self, text: &str) -> Value {
        Value(INLINED | kind::TOKEN << 48 | u64::from(self.token_index(text)))
    }

    /// A path of an asset, relative to the layer.
    pub fn asset(&mut self, path: &str) -> Value {
        Value(INLINED | kind::ASSET << 48 | u64::from(self.token_index(path)))
    }

    fn string_index(&mut self, text: &str) -> u32 {
        let token = self.token_index(text);
        self.strings.push(token);
        self.strings.len() as u32 - 1
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> Value {
        Value(INLINED | kind::STRING << 48 | u64::from(self.string_index(text)))
    }

    /// A Boolean.
    pub fn bool(&self, value: bool) -> Value {
        Value(INLINED | kind::BOOL << 48 | u64::from(value))
    }

    /// A float.
    pub fn float(&self, value: f32) -> Value {
        Value(INLINED | kind::FLOAT << 48 | u64::from(value.to_bits()))
    }

    /// A double.
    pub fn double(&mut self, value: f64) -> Result<Value, ExportError> {
        self.store(kind::DOUBLE, &value.to_le_bytes())
    }

    /// The variability of an attribute: uniform, or varying in time.
    pub fn variability(&self, uniform: bool) -> Value {
        Value(INLINED | kind::VARIABILITY << 48 | u64::from(uniform))
    }

    /// A vector of three floats.
    pub fn vec3f(&mut self, value: [f32; 3]) -> Result<Value, ExportError> {
        self.store(kind::VEC3F, &floats(&[value]))
    }

    /// A vector of two floats.
    pub fn vec2f(&mut self, value: [f32; 2]) -> Result<Value, ExportError> {
        self.store(kind::VEC2F, &floats(&[value]))
    }

    /// A vector of four equal floats.
    pub fn vec4f_splat(&mut self, value: f32) -> Result<Value, ExportError> {
        self.store(kind::VEC4F, &floats(&[[value; 4]]))
    }

    /// A matrix for row vectors, row by row.
    pub fn matrix4d(&mut self, rows: &[f64; 16]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.store(kind::MATRIX4D, &bytes)
    }

    fn align(&mut self) -> Result<u64, ExportError> {
        let gap = (8 - self.sink.at() % 8) % 8;
        self.sink.put(&[0; 8][..gap as usize])?;
        Ok(self.sink.at())
    }

    /// Writes a value and returns its offset.
    fn store(&mut self, kind: u64, bytes: &[u8]) -> Result<Value, ExportError> {
        let at = self.align()?;
        self.sink.put(bytes)?;
        Ok(Value(kind << 48 | at))
    }

    fn array(&mut self, kind: u64, count: usize, bytes: &[u8]) -> Result<Value, ExportError> {
        if count == 0 {
            return Ok(Value(ARRAY | kind << 48));
        }
        let at = self.align()?;
        self.sink.put(&(count as u64).to_le_bytes())?;
        self.sink.put(bytes)?;
        Ok(Value(ARRAY | kind << 48 | at))
    }

    /// Points, normals or velocities.
    pub fn vec3f_array(&mut self, values: &[[f32; 3]]) -> Result<Value, ExportError> {
        self.array(kind::VEC3F, values.len(), &floats(values))
    }

    /// Texture coordinates.
    pub fn vec2f_array(&mut self, values: &[[f32; 2]]) -> Result<Value, ExportError> {
        self.array(kind::VEC2F, values.len(), &floats(values))
    }

    /// Integers, compressed where there are many.
    pub fn int_array(&mut self, values: &[i32]) -> Result<Value, ExportError> {
        if values.len() < MIN_COMPRESSED {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            return self.array(kind::INT, values.len(), &bytes);
        }
        let compressed = encode_integers(values);
        let mut bytes = (compressed.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(&compressed);
        self.array(kind::INT, values.len(), &bytes).map(|Value(value)| Value(value | COMPRESSED))
    }

    /// Wide integers.
    pub fn int64_array(&mut self, values: &[i64]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.array(kind::INT64, values.len(), &bytes)
    }

    /// Floats.
    pub fn float_array(&mut self, values: &[f32]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.array(kind::FLOAT, values.len(), &bytes)
    }

    /// An array of tokens.
    pub fn token_array(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = values.iter().flat_map(|text| self.token_index(text).to_le_bytes()).collect();
        self.array(kind::TOKEN, values.len(), &bytes)
    }

    fn token_vector(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
        bytes.extend(values.iter().flat_map(|text| self.token_index(text).to_le_bytes()));
        self.store(kind::TOKEN_VECTOR, &bytes)
    }

    /// A list of tokens that precede those of weaker layers.
    pub fn prepended_tokens(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        const HAS_PREPENDED: u8 = 1 << 5;
        let mut bytes = vec![HAS_PREPENDED];
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|text| self.token_index(text).to_le_bytes()));
        self.store(kind::TOKEN_LIST, &bytes)
    }

    /// Targets of a relationship or a connection, which must exist in the finished layer.
    pub fn paths(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        const EXPLICIT_WITH_ITEMS: u8 = 3;
        let mut bytes = vec![EXPLICIT_WITH_ITEMS];
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|path| self.path_index(path).to_le_bytes()));
        self.store(kind::PATH_LIST, &bytes)
    }

    /// A dictionary.
    pub fn dictionary(&mut self, entries: &[(&str, Value)]) -> Result<Value, ExportError> {
        let mut bytes = (entries.len() as u64).to_le_bytes().to_vec();
        for (name, Value(value)) in entries {
            bytes.extend_from_slice(&self.string_index(name).to_le_bytes());
            // The offset of the value, relative to the offset itself.
            bytes.extend_from_slice(&8_i64.to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        self.store(kind::DICTIONARY, &bytes)
    }

    /// Times of samples.
    pub fn times(&mut self, times: &[f64]) -> Result<Value, ExportError> {
        let mut bytes = (times.len() as u64).to_le_bytes().to_vec();
        bytes.extend(times.iter().flat_map(|time| time.to_le_bytes()));
        self.store(kind::DOUBLE_VECTOR, &bytes)
    }

    /// Time samples: one value for each of the times.
    pub fn samples(&mut self, Value(times): Value, values: &[Value]) -> Result<Value, ExportError> {
        let mut bytes = 8_i64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&times.to_le_bytes());
        bytes.extend_from_slice(&8_i64.to_le_bytes());
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|Value(value)| value.to_le_bytes()));
        self.store(kind::TIME_SAMPLES, &bytes)
    }

    /// Writes the structure and finishes the file. `root` has the layer's metadata and its root
    /// prims.
    pub fn finish(mut self, root: Prim) -> Result<(), ExportError> {
        let mut structure = Structure::default();
        structure.add_prim(&mut self, root, "", true)?;
        let mut sections: Vec<(&str, u64, u64)> = Vec::new();
        let Structure { fields, field_sets, path_indices, elements, jumps, specs, .. } = structure;
        let [field_tokens, field_values]: [Vec<u8>; 2] = [
            encode_integers(&fields.iter().map(|(token, _)| *token).collect::<Vec<i32>>()),
            compress(&fields.iter().flat_map(|(_, Value(value))| value.to_le_bytes()).collect::<Vec<u8>>()),
        ];
        let mut text = Vec::new();
        for token in &self.tokens {
            text.extend_from_slice(token.as_bytes());
            text.push(0);
        }
        let number = |value: usize| (value as u64).to_le_bytes().to_vec();
        let sized = |bytes: &[u8]| [number(bytes.len()), bytes.to_vec()].concat();
        let compressed = compress(&text);
        let strings: Vec<u8> = self.strings.iter().flat_map(|token| token.to_le_bytes()).collect();
        let column =
            |pick: fn(&[i32; 3]) -> i32| sized(&encode_integers(&specs.iter().map(pick).collect::<Vec<i32>>()));
        let parts: [(&str, Vec<u8>); 6] = [
            ("TOKENS", [number(self.tokens.len()), number(text.len()), sized(&compressed)].concat()),
            ("STRINGS", [number(self.strings.len()), strings].concat()),
            ("FIELDS", [number(fields.len()), sized(&field_tokens), sized(&field_values)].concat()),
            ("FIELDSETS", [number(field_sets.len()), sized(&encode_integers(&field_sets))].concat()),
            (
                "PATHS",
                [
                    number(self.paths.len()),
                    number(path_indices.len()),
                    sized(&encode_integers(&path_indices)),
                    sized(&encode_integers(&elements)),
                    sized(&encode_integers(&jumps)),
                ]
                .concat(),
            ),
            ("SPECS", [number(specs.len()), column(|s| s[0]), column(|s| s[1]), column(|s| s[2])].concat()),
        ];
        for (name, bytes) in parts {
            let at = self.align()?;
            self.sink.put(&bytes)?;
            sections.push((name, at, bytes.len() as u64));
        }
        let contents = self.align()?;
        self.sink.put(&(sections.len() as u64).to_le_bytes())?;
        for (name, at, size) in sections {
            let mut title = [0; 16];
            title[..name.len()].copy_from_slice(name.as_bytes());
            self.sink.put(&title)?;
            self.sink.put(&at.to_le_bytes())?;
            self.sink.put(&size.to_le_bytes())?;
        }
        let mut head = b"PXR-USDC\0\x08\0\0\0\0\0\0".to_vec();
        head.extend_from_slice(&contents.to_le_bytes());
        self.sink.patch(0, &head)?;
        Ok(self.sink.finish()?)
    }
}

fn floats<const N: usize>(values: &[[f32; N]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * N * values.len());
    for value in values.iter().flatten() {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The structure of the layer, as stored in the sections.
#[derive(Default)]
struct Structure {
    fields: Vec<(i32, Value)>,
    field_indices: BTreeMap<(i32, Value), i32>,
    field_sets: Vec<i32>,
    set_starts: BTreeMap<Vec<i32>, i32>,
    path_indices: Vec<i32>,
    elements: Vec<i32>,
    jumps: Vec<i32>,
    /// Path, fields, kind.
    specs: Vec<[i32; 3]>,
}

impl Structure {
    fn spec(&mut self, file: &mut Crate, path: &str, fields: &[(&str, Value)], kind: i32) -> i32 {
        let mut set: Vec<i32> = Vec::new();
        for (name, value) in fields {
            let field = (file.token_index(name) as i32, *value);
            let next = self.fields.len() as i32;
            let number = *self.field_indices.entry(field).or_insert(next);
            if number == next {
                self.fields.push(field);
            }
            set.push(number);
        }
        let next = self.field_sets.len() as i32;
        let start = *self.set_starts.entry(set.clone()).or_insert(next);
        if start == next {
            self.field_sets.extend_from_slice(&set);
            self.field_sets.push(-1);
        }
        let path = file.path_index(path) as i32;
        self.specs.push([path, start, kind]);
        path
    }

    /// Adds a prim and its descendants, depth first. The jump of a path says whether children and
    /// siblings follow.
    fn add_prim(&mut self, file: &mut Crate, prim: Prim, path: &str, last: bool) -> Result<(), ExportError> {
        let Prim { name, mut fields, properties, children } = prim;
        let is_root = path.is_empty();
        if !children.is_empty() {
            let names: Vec<&str> = children.iter().map(|child| child.name.as_str()).collect();
            fields.push(("primChildren", file.token_vector(&names)?));
        }
        if !properties.is_empty() {
            let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
            fields.push(("properties", file.token_vector(&names)?));
        }
        let full = if is_root { "/" } else { path };
        let own = self.spec(file, full, &fields, if is_root { ROOT } else { PRIM });
        let entry = self.path_indices.len();
        self.path_indices.push(own);
        self.elements.push(file.token_index(&name) as i32);
        self.jumps.push(0);
        let descendants = children.len() + properties.len();
        let mut seen = 0;
        for child in children {
            seen += 1;
            let path = format!("{path}/{}", child.name);
            self.add_prim(file, child, &path, seen == descendants)?;
        }
        for property in properties {
            seen += 1;
            let own = self.spec(file, &format!("{path}.{}", property.name), &property.fields, property.spec);
            self.path_indices.push(own);
            self.elements.push(-(file.token_index(&property.name) as i32));
            self.jumps.push(if seen == descendants { -2 } else { 0 });
        }
        self.jumps[entry] = match (descendants > 0, last) {
            (true, false) => (self.path_indices.len() - entry) as i32,
            (true, true) => -1,
            (false, false) => 0,
            (false, true) => -2,
        };
        Ok(())
    }
}

impl Prim {
    /// The root of a layer.
    pub fn root() -> Self {
        Self::default()
    }

    /// A prim of a type.
    pub fn new(file: &mut Crate, name: &str, kind: &str) -> Self {
        const DEF: u64 = 0;
        let fields = vec![("specifier", Value(INLINED | kind::SPECIFIER << 48 | DEF)), ("typeName", file.token(kind))];
        Self { name: name.to_owned(), fields, ..Self::default() }
    }

    /// Sets a field of the prim itself.
    pub fn field(&mut self, name: &'static str, value: Value) {
        self.fields.push((name, value));
    }

    /// Adds a child.
    pub fn child(&mut self, prim: Self) {
        self.children.push(prim);
    }

    /// Adds an attribute; `fields` are its value and metadata.
    pub fn attribute(&mut self, file: &mut Crate, name: &str, kind: &str, fields: &[(&'static str, Value)]) {
        let mut all = vec![("typeName", file.token(kind))];
        all.extend_from_slice(fields);
        self.properties.push(Property { name: name.to_owned(), spec: ATTRIBUTE, fields: all });
    }

    /// Adds an attribute that does not vary in time.
    pub fn uniform(&mut self, file: &mut Crate, name: &str, kind: &str, value: Value) {
        let uniform = file.variability(true);
        self.attribute(file, name, kind, &[("variability", uniform), ("default", value)]);
    }

    /// Adds an attribute with one value.
    pub fn value(&mut self, file: &mut Crate, name: &str, kind: &str, value: Value) {
        self.attribute(file, name, kind, &[("default", value)]);
    }

    /// Adds an attribute that takes its value from another.
    pub fn connect(&mut self, file: &mut Crate, name: &str, kind: &str, from: &str) -> Result<(), ExportError> {
        let paths = file.paths(&[from])?;
        self.attribute(file, name, kind, &[("connectionPaths", paths)]);
        Ok(())
    }

    /// Adds a relationship.
    pub fn relationship(&mut self, file: &mut Crate, name: &str, to: &str) -> Result<(), ExportError> {
        let (uniform, paths) = (file.variability(true), file.paths(&[to])?);
        let fields = vec![("variability", uniform), ("targetPaths", paths)];
        self.properties.push(Property { name: name.to_owned(), spec: RELATIONSHIP, fields });
        Ok(())
    }
}
