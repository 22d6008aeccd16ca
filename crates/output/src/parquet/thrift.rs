//! The part of Thrift's compact protocol that a Parquet footer needs: structs of integers, strings,
//! lists and structs.

/// A struct being written; fields must be added in ascending order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

/// Types of fields, numbered as in the protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    /// An empty struct.
    pub fn new() -> Self {
        Self::default()
    }

    fn field(&mut self, number: u8, kind: u8) {
        // Field numbers increase by less than 16 in all structs written here.
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    /// Adds a 32-bit integer.
    pub fn i32(mut self, number: u8, value: i64) -> Self {
        self.field(number, I32);
        zigzag(&mut self.bytes, value);
        self
    }

    /// Adds a 64-bit integer.
    pub fn i64(mut self, number: u8, value: i64) -> Self {
        self.field(number, I64);
        zigzag(&mut self.bytes, value);
        self
    }

    /// Adds a string.
    pub fn text(mut self, number: u8, text: &str) -> Self {
        self.field(number, BINARY);
        binary(&mut self.bytes, text);
        self
    }

    /// Adds a struct.
    pub fn child(mut self, number: u8, child: Self) -> Self {
        self.field(number, STRUCT);
        self.bytes.extend(child.bytes());
        self
    }

    fn list_head(&mut self, number: u8, kind: u8, count: usize) {
        self.field(number, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, count as u64);
        }
    }

    /// Adds a list of structs.
    pub fn list(mut self, number: u8, items: Vec<Self>) -> Self {
        self.list_head(number, STRUCT, items.len());
        items.into_iter().for_each(|item| self.bytes.extend(item.bytes()));
        self
    }

    /// Adds a list of 32-bit integers.
    pub fn i32_list(mut self, number: u8, items: &[i64]) -> Self {
        self.list_head(number, I32, items.len());
        items.iter().for_each(|item| zigzag(&mut self.bytes, *item));
        self
    }

    /// Adds a list of strings.
    pub fn text_list(mut self, number: u8, items: &[&str]) -> Self {
        self.list_head(number, BINARY, items.len());
        items.iter().for_each(|item| binary(&mut self.bytes, item));
        self
    }

    /// The encoded struct.
    pub fn bytes(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Writes an integer with seven bits per byte, lowest first.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}
