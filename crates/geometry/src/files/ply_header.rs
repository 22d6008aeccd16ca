//! The header of a PLY file: which elements follow, how many, and how their rows are laid out.

use super::error::{Location, ParseError, quote};
use super::tokens::Tokens;

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
    fn named(token: &[u8]) -> Option<Self> {
        Some(match token {
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

/// Type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    One(Scalar),
    List { count: Scalar, item: Scalar },
}

/// A property of an element.
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
}

/// An element of the file, a table with one row per item.
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
    pub line: usize,
}

/// The header, and the start of the body.
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    pub body: usize,
    pub body_line: usize,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Header, ParseError> {
    let mut tokens = Tokens::new(bytes, 0, 1);
    let first = tokens.next_on_line(None);
    if first != Some(b"ply") {
        let found = first.map_or_else(|| "nothing".to_owned(), quote);
        return Err(ParseError::unexpected(Location::Line(1), "`ply`, with which every PLY file begins", found));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    for line in 2.. {
        if !tokens.next_line() {
            return Err(ParseError::unexpected(tokens.location(), "`end_header`", "the end of the file"));
        }
        let location = || Location::Line(line);
        match tokens.next_on_line(None) {
            None | Some(b"comment" | b"obj_info") => {}
            Some(b"format") => encoding = Some(format(tokens.next_on_line(None), location)?),
            Some(b"element") => {
                let name = name(tokens.next_on_line(None), "an element name", location)?;
                let token = tokens.next_on_line(None).unwrap_or_default();
                let count = std::str::from_utf8(token).ok().and_then(|count| count.parse().ok());
                let count = count.ok_or_else(|| {
                    ParseError::unexpected(location(), format!("how many `{name}` follow"), quote(token))
                })?;
                elements.push(Element { name, count, properties: Vec::new(), line });
            }
            Some(b"property") => {
                let property = property(&mut tokens, location)?;
                match elements.last_mut() {
                    Some(element) => element.properties.push(property),
                    None => {
                        return Err(ParseError::unexpected(
                            location(),
                            "an `element` before its properties",
                            "`property`",
                        ));
                    }
                }
            }
            Some(b"end_header") => break,
            Some(token) => {
                let expected = "`format`, `comment`, `element`, `property` or `end_header`";
                return Err(ParseError::unexpected(location(), expected, quote(token)));
            }
        }
    }
    let Location::Line(last_line) = tokens.location() else { unreachable!("tokens stand on lines") };
    let encoding = encoding.ok_or_else(|| {
        ParseError::unexpected(tokens.location(), "a `format` line in the header", "`end_header` without one")
    })?;
    tokens.next_line();
    Ok(Header { encoding, elements, body: bytes.len() - tokens.remaining(), body_line: last_line + 1 })
}

fn format(token: Option<&[u8]>, location: impl Fn() -> Location) -> Result<Encoding, ParseError> {
    match token.unwrap_or_default() {
        b"ascii" => Ok(Encoding::Ascii),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        other => Err(ParseError::unexpected(
            location(),
            "`ascii`, `binary_little_endian` or `binary_big_endian`",
            quote(other),
        )),
    }
}

fn property(tokens: &mut Tokens<'_>, location: impl Fn() -> Location) -> Result<Property, ParseError> {
    let scalar = |token: Option<&[u8]>| {
        let token = token.unwrap_or_default();
        Scalar::named(token)
            .ok_or_else(|| ParseError::unexpected(location(), "a number type such as `float` or `uchar`", quote(token)))
    };
    let kind = match tokens.next_on_line(None) {
        Some(b"list") => {
            Kind::List { count: scalar(tokens.next_on_line(None))?, item: scalar(tokens.next_on_line(None))? }
        }
        token => Kind::One(scalar(token)?),
    };
    Ok(Property { name: name(tokens.next_on_line(None), "a property name", location)?, kind })
}

fn name(token: Option<&[u8]>, expected: &str, location: impl Fn() -> Location) -> Result<String, ParseError> {
    let token = token.ok_or_else(|| ParseError::unexpected(location(), expected, "the end of the line"))?;
    Ok(String::from_utf8_lossy(token).into_owned())
}
