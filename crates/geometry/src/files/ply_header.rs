//! The header of a PLY file: which elements follow, how many, and how their rows are laid out.

use super::error::{Fault, Place, quote};
use super::words::Words;

/// How the rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// A number type; all of them fit a double exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn named(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// What a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    One(Scalar),
    List { count: Scalar, item: Scalar },
}

/// A column of an element.
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
}

/// A table of the file.
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
    pub line: usize,
}

/// The whole header, and where the body starts.
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    pub body: usize,
    pub body_line: usize,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Header, Fault> {
    let mut words = Words::new(bytes, 0, 1);
    let first = words.next_on_line(None);
    if first != Some(b"ply") {
        let found = first.map_or_else(|| "nothing".to_owned(), quote);
        return Err(Fault::unexpected(Place::Line(1), "`ply`, with which every PLY file begins", found));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    for line in 2.. {
        if !words.next_line() {
            return Err(Fault::unexpected(words.place(), "`end_header`", "the end of the file"));
        }
        let place = || Place::Line(line);
        match words.next_on_line(None) {
            None | Some(b"comment" | b"obj_info") => {}
            Some(b"format") => encoding = Some(format(words.next_on_line(None), place)?),
            Some(b"element") => {
                let name = name(words.next_on_line(None), "an element name", place)?;
                let word = words.next_on_line(None).unwrap_or_default();
                let count = std::str::from_utf8(word).ok().and_then(|count| count.parse().ok());
                let count = count
                    .ok_or_else(|| Fault::unexpected(place(), format!("how many `{name}` follow"), quote(word)))?;
                elements.push(Element { name, count, properties: Vec::new(), line });
            }
            Some(b"property") => {
                let property = property(&mut words, place)?;
                match elements.last_mut() {
                    Some(element) => element.properties.push(property),
                    None => return Err(Fault::unexpected(place(), "an `element` before its properties", "`property`")),
                }
            }
            Some(b"end_header") => break,
            Some(word) => {
                let expected = "`format`, `comment`, `element`, `property` or `end_header`";
                return Err(Fault::unexpected(place(), expected, quote(word)));
            }
        }
    }
    let Place::Line(last_line) = words.place() else { unreachable!("words stand on lines") };
    let encoding = encoding
        .ok_or_else(|| Fault::unexpected(words.place(), "a `format` line in the header", "`end_header` without one"))?;
    words.next_line();
    Ok(Header { encoding, elements, body: bytes.len() - words.remaining(), body_line: last_line + 1 })
}

fn format(word: Option<&[u8]>, place: impl Fn() -> Place) -> Result<Encoding, Fault> {
    match word.unwrap_or_default() {
        b"ascii" => Ok(Encoding::Ascii),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        other => {
            Err(Fault::unexpected(place(), "`ascii`, `binary_little_endian` or `binary_big_endian`", quote(other)))
        }
    }
}

fn property(words: &mut Words<'_>, place: impl Fn() -> Place) -> Result<Property, Fault> {
    let scalar = |word: Option<&[u8]>| {
        let word = word.unwrap_or_default();
        Scalar::named(word)
            .ok_or_else(|| Fault::unexpected(place(), "a number type such as `float` or `uchar`", quote(word)))
    };
    let kind = match words.next_on_line(None) {
        Some(b"list") => {
            Kind::List { count: scalar(words.next_on_line(None))?, item: scalar(words.next_on_line(None))? }
        }
        word => Kind::One(scalar(word)?),
    };
    Ok(Property { name: name(words.next_on_line(None), "a property name", place)?, kind })
}

fn name(word: Option<&[u8]>, expected: &str, place: impl Fn() -> Place) -> Result<String, Fault> {
    let word = word.ok_or_else(|| Fault::unexpected(place(), expected, "the end of the line"))?;
    Ok(String::from_utf8_lossy(word).into_owned())
}
