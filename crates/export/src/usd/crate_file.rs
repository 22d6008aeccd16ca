//! USD's binary layer, the crate file (openusd; format version 0.8.0), written as it comes: arrays go to the file at once, and only where they are
//! is remembered until the layer's structure is written in the end.
//!
//! ```text
//! "PXR-USDC", version, place of the contents      88 bytes
//! values                                          arrays and whatever does not fit into a value's 8 bytes
//! TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS     the structure, packed
//! table of contents
//! ```
//!
//! A value is 8 bytes: two bits that say whether it is an array and whether it is itself in the lower 48 bits, its type, and the value or its place
//! in the file.

use std::collections::BTreeMap;

use super::integer_coding::{compress, encode_integers};
use crate::error::ExportError;
use sessile_output::Sink;

const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;

/// Shorter arrays are not packed.
const SHORTEST_PACKED: usize = 16;

/// Types of values, by their number in the format.
mod kind {
    pub const BOOL: u64 = 1;
    pub const INT: u64 = 3;
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

/// Kinds of specs, by their number in the format.
const ATTRIBUTE: i32 = 1;
const PRIM: i32 = 6;
const ROOT: i32 = 7;
const RELATIONSHIP: i32 = 8;

/// A value, or its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(u64);

/// A prim, and what is below it.
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

/// A crate file under way.
#[derive(Debug)]
pub struct Crate {
    sink: Sink,
    tokens: Vec<String>,
    token_numbers: BTreeMap<String, u32>,
    strings: Vec<u32>,
    paths: BTreeMap<String, u32>,
}

impl Crate {
    /// Begins a file.
    pub fn new(mut sink: Sink) -> Result<Self, ExportError> {
        // Filled in at the end.
        sink.put(&[0; 88])?;
        let mut file = Self {
            sink,
            tokens: Vec::new(),
            token_numbers: BTreeMap::new(),
            strings: Vec::new(),
            paths: BTreeMap::new(),
        };
        // A property's name is told by the negative of its number, so no name may have number 0; the root's name is empty.
        file.token_number(";-)");
        file.token_number("");
        Ok(file)
    }

    fn token_number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.token_numbers.get(text) {
            return number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(text.to_owned());
        self.token_numbers.insert(text.to_owned(), number);
        number
    }

    fn path_number(&mut self, path: &str) -> u32 {
        let next = self.paths.len() as u32;
        *self.paths.entry(path.to_owned()).or_insert(next)
    }

    /// A name.
    pub fn token(&mut self, text: &str) -> Value {
        Value(INLINED | kind::TOKEN << 48 | u64::from(self.token_number(text)))
    }

    /// A file beside this one, or in a folder beside it.
    pub fn asset(&mut self, path: &str) -> Value {
        Value(INLINED | kind::ASSET << 48 | u64::from(self.token_number(path)))
    }

    fn string_number(&mut self, text: &str) -> u32 {
        let token = self.token_number(text);
        self.strings.push(token);
        self.strings.len() as u32 - 1
    }

    /// Text.
    pub fn string(&mut self, text: &str) -> Value {
        Value(INLINED | kind::STRING << 48 | u64::from(self.string_number(text)))
    }

    /// Yes or no.
    pub fn bool(&self, value: bool) -> Value {
        Value(INLINED | kind::BOOL << 48 | u64::from(value))
    }

    /// A number.
    pub fn float(&self, value: f32) -> Value {
        Value(INLINED | kind::FLOAT << 48 | u64::from(value.to_bits()))
    }

    /// A number.
    pub fn double(&mut self, value: f64) -> Result<Value, ExportError> {
        self.place(kind::DOUBLE, &value.to_le_bytes())
    }

    /// Whether an attribute varies in time.
    pub fn variability(&self, uniform: bool) -> Value {
        Value(INLINED | kind::VARIABILITY << 48 | u64::from(uniform))
    }

    /// Three numbers.
    pub fn vec3f(&mut self, value: [f32; 3]) -> Result<Value, ExportError> {
        self.place(kind::VEC3F, &floats(&[value]))
    }

    /// Two numbers.
    pub fn vec2f(&mut self, value: [f32; 2]) -> Result<Value, ExportError> {
        self.place(kind::VEC2F, &floats(&[value]))
    }

    /// One number four times.
    pub fn vec4f_of(&mut self, value: f32) -> Result<Value, ExportError> {
        self.place(kind::VEC4F, &floats(&[[value; 4]]))
    }

    /// A matrix for row vectors, row by row.
    pub fn matrix4d(&mut self, rows: &[f64; 16]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.place(kind::MATRIX4D, &bytes)
    }

    fn align(&mut self) -> Result<u64, ExportError> {
        let gap = (8 - self.sink.at() % 8) % 8;
        self.sink.put(&[0; 8][..gap as usize])?;
        Ok(self.sink.at())
    }

    fn place(&mut self, kind: u64, bytes: &[u8]) -> Result<Value, ExportError> {
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

    /// Whole numbers, packed.
    pub fn int_array(&mut self, values: &[i32]) -> Result<Value, ExportError> {
        if values.len() < SHORTEST_PACKED {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            return self.array(kind::INT, values.len(), &bytes);
        }
        let packed = encode_integers(values);
        let mut bytes = (packed.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(&packed);
        self.array(kind::INT, values.len(), &bytes).map(|Value(value)| Value(value | COMPRESSED))
    }

    /// Names, as an attribute's value.
    pub fn token_array(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        let bytes: Vec<u8> = values.iter().flat_map(|text| self.token_number(text).to_le_bytes()).collect();
        self.array(kind::TOKEN, values.len(), &bytes)
    }

    fn token_vector(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
        bytes.extend(values.iter().flat_map(|text| self.token_number(text).to_le_bytes()));
        self.place(kind::TOKEN_VECTOR, &bytes)
    }

    /// Names that are put before those of weaker layers.
    pub fn prepended_tokens(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        const HAS_PREPENDED: u8 = 1 << 5;
        let mut bytes = vec![HAS_PREPENDED];
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|text| self.token_number(text).to_le_bytes()));
        self.place(kind::TOKEN_LIST, &bytes)
    }

    /// Targets of a relationship or a connection; they must exist in the end.
    pub fn paths(&mut self, values: &[&str]) -> Result<Value, ExportError> {
        const EXPLICIT_WITH_ITEMS: u8 = 3;
        let mut bytes = vec![EXPLICIT_WITH_ITEMS];
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|path| self.path_number(path).to_le_bytes()));
        self.place(kind::PATH_LIST, &bytes)
    }

    /// Named values.
    pub fn dictionary(&mut self, entries: &[(&str, Value)]) -> Result<Value, ExportError> {
        let mut bytes = (entries.len() as u64).to_le_bytes().to_vec();
        for (name, Value(value)) in entries {
            bytes.extend_from_slice(&self.string_number(name).to_le_bytes());
            // The value follows right behind its distance.
            bytes.extend_from_slice(&8_i64.to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        self.place(kind::DICTIONARY, &bytes)
    }

    /// Times, to be shared by samples.
    pub fn times(&mut self, times: &[f64]) -> Result<Value, ExportError> {
        let mut bytes = (times.len() as u64).to_le_bytes().to_vec();
        bytes.extend(times.iter().flat_map(|time| time.to_le_bytes()));
        self.place(kind::DOUBLE_VECTOR, &bytes)
    }

    /// One value for each of the times.
    pub fn samples(&mut self, Value(times): Value, values: &[Value]) -> Result<Value, ExportError> {
        let mut bytes = 8_i64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&times.to_le_bytes());
        bytes.extend_from_slice(&8_i64.to_le_bytes());
        bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|Value(value)| value.to_le_bytes()));
        self.place(kind::TIME_SAMPLES, &bytes)
    }

    /// Writes the structure and finishes the file. `root` holds the layer's own fields and the prims at its top.
    pub fn finish(mut self, root: Prim) -> Result<(), ExportError> {
        let mut structure = Structure::default();
        structure.walk(&mut self, root, "", true)?;
        let mut sections: Vec<(&str, u64, u64)> = Vec::new();
        // Tokens may still be added while the others are laid out, so they are written last of all; the table says where.
        let Structure { fields, field_sets, path_numbers, elements, jumps, specs, .. } = structure;
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
        let packed = |bytes: &[u8]| [number(bytes.len()), bytes.to_vec()].concat();
        let compressed = compress(&text);
        let strings: Vec<u8> = self.strings.iter().flat_map(|token| token.to_le_bytes()).collect();
        let column =
            |pick: fn(&[i32; 3]) -> i32| packed(&encode_integers(&specs.iter().map(pick).collect::<Vec<i32>>()));
        let parts: [(&str, Vec<u8>); 6] = [
            ("TOKENS", [number(self.tokens.len()), number(text.len()), packed(&compressed)].concat()),
            ("STRINGS", [number(self.strings.len()), strings].concat()),
            ("FIELDS", [number(fields.len()), packed(&field_tokens), packed(&field_values)].concat()),
            ("FIELDSETS", [number(field_sets.len()), packed(&encode_integers(&field_sets))].concat()),
            (
                "PATHS",
                [
                    number(self.paths.len()),
                    number(path_numbers.len()),
                    packed(&encode_integers(&path_numbers)),
                    packed(&encode_integers(&elements)),
                    packed(&encode_integers(&jumps)),
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

/// The layer's structure, as the sections hold it.
#[derive(Default)]
struct Structure {
    fields: Vec<(i32, Value)>,
    field_numbers: BTreeMap<(i32, Value), i32>,
    field_sets: Vec<i32>,
    set_starts: BTreeMap<Vec<i32>, i32>,
    path_numbers: Vec<i32>,
    elements: Vec<i32>,
    jumps: Vec<i32>,
    /// Path, fields, kind.
    specs: Vec<[i32; 3]>,
}

impl Structure {
    fn spec(&mut self, file: &mut Crate, path: &str, fields: &[(&str, Value)], kind: i32) -> i32 {
        let mut set: Vec<i32> = Vec::new();
        for (name, value) in fields {
            let field = (file.token_number(name) as i32, *value);
            let next = self.fields.len() as i32;
            let number = *self.field_numbers.entry(field).or_insert(next);
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
        let path = file.path_number(path) as i32;
        self.specs.push([path, start, kind]);
        path
    }

    /// Lists a prim and what is below it, depth first; a path's place is told by whether children and siblings follow.
    fn walk(&mut self, file: &mut Crate, prim: Prim, path: &str, last: bool) -> Result<(), ExportError> {
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
        let place = self.path_numbers.len();
        self.path_numbers.push(own);
        self.elements.push(file.token_number(&name) as i32);
        self.jumps.push(0);
        let below = children.len() + properties.len();
        let mut seen = 0;
        for child in children {
            seen += 1;
            let path = format!("{path}/{}", child.name);
            self.walk(file, child, &path, seen == below)?;
        }
        for property in properties {
            seen += 1;
            let own = self.spec(file, &format!("{path}.{}", property.name), &property.fields, property.spec);
            self.path_numbers.push(own);
            self.elements.push(-(file.token_number(&property.name) as i32));
            self.jumps.push(if seen == below { -2 } else { 0 });
        }
        self.jumps[place] = match (below > 0, last) {
            (true, false) => (self.path_numbers.len() - place) as i32,
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

    /// Adds a prim below.
    pub fn child(&mut self, prim: Self) {
        self.children.push(prim);
    }

    /// Adds an attribute; `fields` are its value and what is said about it.
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
