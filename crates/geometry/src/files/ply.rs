//! PLY: text, or binary of either byte order; properties in any order and of any type.
//!
//! Read are `vertex` with `x y z` and, as texture coordinates, `s t`, `u v`, `texture_u texture_v`
//! or `texture_s texture_t`; `face` with `vertex_indices` (or `vertex_index`) and, as texture
//! coordinates per corner, the list `texcoord`; `tristrips` with `vertex_indices`, in which −1
//! starts a new strip. Other elements and properties are skipped.

use glam::{DVec2, DVec3};

use super::MAX_ELEMENTS;
use super::error::{Location, ParseError, Problem, quote};
use super::ply_header::{self, Element, Encoding, Kind, Scalar};
use super::polygons::Polygons;
use super::tokens::{Tokens, finite, number};
use crate::TriMesh;

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let header = ply_header::parse(bytes)?;
    let num_vertices = check_elements(&header.elements)?;
    let mut body = match header.encoding {
        Encoding::Ascii => Body::Text(Tokens::new(bytes, header.body, header.body_line)),
        Encoding::LittleEndian => Body::Binary { bytes, at: header.body, big_endian: false },
        Encoding::BigEndian => Body::Binary { bytes, at: header.body, big_endian: true },
    };
    let mut vertex_uvs = Vec::new();
    let mut faces = Faces { num_vertices, ..Default::default() };
    for element in &header.elements {
        body.check_present(element)?;
        match element.name.as_str() {
            "vertex" => {
                let vertices = &mut faces.polygons.positions;
                read_vertices(&mut body, element, vertices, &mut vertex_uvs)?;
            }
            "face" => read_rows(&mut body, element, "face", |row, location| faces.add_face(row, location))?,
            "tristrips" => {
                read_rows(&mut body, element, "strip", |row, location| faces.add_strips(&row.indices, location))?;
            }
            _ => skip(&mut body, element)?,
        }
    }
    let mut mesh = faces.polygons.into_mesh();
    if mesh.corner_uvs.is_empty() && !vertex_uvs.is_empty() {
        mesh.corner_uvs = mesh.triangles.iter().map(|t| t.map(|v| vertex_uvs[v as usize])).collect();
    }
    Ok(mesh)
}

/// One `vertex` element with x, y and z; the number of its rows.
fn check_elements(elements: &[Element]) -> Result<usize, ParseError> {
    let mut vertex_elements = elements.iter().filter(|element| element.name == "vertex");
    let Some(vertex) = vertex_elements.next() else {
        return Err(ParseError::unexpected(Location::Whole, "an element `vertex` in the header", "none"));
    };
    if let Some(second) = vertex_elements.next() {
        return Err(ParseError::unexpected(Location::Line(second.line), "one element `vertex`", "a second one"));
    }
    for axis in ["x", "y", "z"] {
        if !vertex.properties.iter().any(|p| p.name == axis && matches!(p.kind, Kind::One(_))) {
            let expected = format!("a number property `{axis}` of `vertex`");
            return Err(ParseError::unexpected(Location::Line(vertex.line), expected, "none"));
        }
    }
    match usize::try_from(vertex.count) {
        Ok(count) if count <= MAX_ELEMENTS => Ok(count),
        _ => Err(ParseError::new(
            Location::Line(vertex.line),
            Problem::TooMany { what: "vertices", limit: MAX_ELEMENTS },
        )),
    }
}

/// The data after the header.
enum Body<'a> {
    Text(Tokens<'a>),
    Binary { bytes: &'a [u8], at: usize, big_endian: bool },
}

impl Body<'_> {
    fn location(&self) -> Location {
        match self {
            Self::Text(tokens) => tokens.location(),
            Self::Binary { at, .. } => Location::Byte(*at),
        }
    }

    fn remaining(&self) -> usize {
        match self {
            Self::Text(tokens) => tokens.remaining(),
            Self::Binary { bytes, at, .. } => bytes.len() - at,
        }
    }

    /// Least size of a value of this type in bytes; in text, a digit and a separator.
    fn least_size(&self, scalar: Scalar) -> usize {
        match self {
            Self::Text(_) => 2,
            Self::Binary { .. } => scalar.size(),
        }
    }

    /// Checks that the remaining bytes suffice for an element.
    fn check_present(&self, element: &Element) -> Result<(), ParseError> {
        let row: usize = element
            .properties
            .iter()
            .map(|property| match property.kind {
                Kind::One(scalar) => self.least_size(scalar),
                Kind::List { count, .. } => self.least_size(count),
            })
            .sum();
        let what = || format!("the list of {} `{}` rows", element.count, element.name);
        self.check_bytes(u128::from(element.count) * row as u128, what)
    }

    fn check_bytes(&self, needed: u128, what: impl FnOnce() -> String) -> Result<(), ParseError> {
        let present = self.remaining();
        let closing_separator = usize::from(matches!(self, Self::Text(_)));
        if needed > (present + closing_separator) as u128 {
            return Err(ParseError::new(self.location(), Problem::Truncated { what: what(), needed, present }));
        }
        Ok(())
    }

    fn value(&mut self, scalar: Scalar, what: &str) -> Result<f64, ParseError> {
        match self {
            Self::Text(tokens) => {
                let expected = || format!("a number for the {what}");
                let token = tokens.next();
                let token = token
                    .ok_or_else(|| ParseError::unexpected(tokens.location(), expected(), "the end of the file"))?;
                number(token).ok_or_else(|| ParseError::unexpected(tokens.location(), expected(), quote(token)))
            }
            Self::Binary { bytes, at, big_endian } => {
                let size = scalar.size();
                let Some(found) = bytes.get(*at..*at + size) else {
                    let problem = Problem::Truncated {
                        what: format!("the {what}"),
                        needed: size as u128,
                        present: bytes.len() - *at,
                    };
                    return Err(ParseError::new(Location::Byte(*at), problem));
                };
                *at += size;
                let mut raw = [0; 8];
                raw[..size].copy_from_slice(found);
                if *big_endian {
                    raw[..size].reverse();
                }
                Ok(decode(scalar, raw))
            }
        }
    }

    /// An integer, such as an index or a length.
    fn whole(&mut self, scalar: Scalar, what: &str) -> Result<i64, ParseError> {
        let location = self.start_of_value();
        let value = self.value(scalar, what)?;
        // Beyond 2^53 not every integer is a double; no index is that large.
        if value.fract() != 0.0 || value.abs() > 9e15 || value.is_nan() {
            let location = location.unwrap_or_else(|| self.location());
            return Err(ParseError::unexpected(location, format!("a whole number for the {what}"), format!("{value}")));
        }
        Ok(value as i64)
    }

    /// The length of a list, checked against the remaining bytes.
    fn length(&mut self, count: Scalar, item: Scalar, what: &str) -> Result<usize, ParseError> {
        let location = self.start_of_value();
        let length = self.whole(count, &format!("length of {what}"))?;
        let Ok(length) = usize::try_from(length) else {
            let location = location.unwrap_or_else(|| self.location());
            return Err(ParseError::unexpected(
                location,
                format!("a length of {what} that is not negative"),
                format!("{length}"),
            ));
        };
        let needed = length as u128 * self.least_size(item) as u128;
        self.check_bytes(needed, || format!("{what}, {length} numbers,"))?;
        Ok(length)
    }

    /// A finite coordinate.
    fn coordinate(&mut self, scalar: Scalar, what: &str) -> Result<f64, ParseError> {
        let location = self.start_of_value();
        let value = self.value(scalar, what)?;
        finite(value, || location.clone().unwrap_or_else(|| self.location()), what)
    }

    /// Where the next value starts. In text the line is only known once the token has been found.
    fn start_of_value(&self) -> Option<Location> {
        match self {
            Self::Text(_) => None,
            Self::Binary { at, .. } => Some(Location::Byte(*at)),
        }
    }
}

/// A number from its bytes, least significant first.
fn decode(scalar: Scalar, raw: [u8; 8]) -> f64 {
    let [a, b, c, d, ..] = raw;
    match scalar {
        Scalar::I8 => f64::from(a as i8),
        Scalar::U8 => f64::from(a),
        Scalar::I16 => f64::from(i16::from_le_bytes([a, b])),
        Scalar::U16 => f64::from(u16::from_le_bytes([a, b])),
        Scalar::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
        Scalar::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
        Scalar::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
        Scalar::F64 => f64::from_le_bytes(raw),
    }
}

fn skip(body: &mut Body<'_>, element: &Element) -> Result<(), ParseError> {
    if element.properties.is_empty() {
        return Ok(()); // Its rows are empty, whatever their number.
    }
    for _ in 0..element.count {
        for property in &element.properties {
            skip_property(body, property.kind, &property.name)?;
        }
    }
    Ok(())
}

fn skip_property(body: &mut Body<'_>, kind: Kind, name: &str) -> Result<(), ParseError> {
    match kind {
        Kind::One(scalar) => body.value(scalar, name).map(|_| ()),
        Kind::List { count, item } => {
            let length = body.length(count, item, name)?;
            (0..length).try_for_each(|_| body.value(item, name).map(|_| ()))
        }
    }
}

fn read_vertices(
    body: &mut Body<'_>,
    element: &Element,
    positions: &mut Vec<DVec3>,
    uvs: &mut Vec<DVec2>,
) -> Result<(), ParseError> {
    const POSITION: [&str; 3] = ["x", "y", "z"];
    const TEXTURE: [[&str; 2]; 4] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"], ["texture_s", "texture_t"]];
    let has = |name: &str| element.properties.iter().any(|p| p.name == name && matches!(p.kind, Kind::One(_)));
    let texture = TEXTURE.into_iter().find(|names| names.iter().all(|name| has(name)));
    positions.reserve(element.count as usize);
    for _ in 0..element.count {
        let mut position = DVec3::ZERO;
        let mut uv = DVec2::ZERO;
        for property in &element.properties {
            let name = property.name.as_str();
            match property.kind {
                Kind::One(scalar) => {
                    if let Some(axis) = POSITION.iter().position(|&axis| axis == name) {
                        position[axis] = body.coordinate(scalar, ["vertex x", "vertex y", "vertex z"][axis])?;
                    } else if let Some(axis) = texture.and_then(|names| names.iter().position(|&axis| axis == name)) {
                        uv[axis] = body.coordinate(scalar, ["texture u", "texture v"][axis])?;
                    } else {
                        body.value(scalar, name)?;
                    }
                }
                list => skip_property(body, list, name)?,
            }
        }
        positions.push(position);
        if texture.is_some() {
            uvs.push(uv);
        }
    }
    Ok(())
}

/// The lists of one face or strip.
#[derive(Default)]
struct Row {
    indices: Vec<i64>,
    texture: Vec<f64>,
}

fn read_rows(
    body: &mut Body<'_>,
    element: &Element,
    what: &str,
    mut take: impl FnMut(&Row, &Location) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let is_indices = |name: &str| name == "vertex_indices" || name == "vertex_index";
    if !element.properties.iter().any(|p| is_indices(&p.name) && matches!(p.kind, Kind::List { .. })) {
        let expected = format!("a list property `vertex_indices` of `{}`", element.name);
        return if element.count == 0 {
            Ok(())
        } else {
            Err(ParseError::unexpected(Location::Line(element.line), expected, "none"))
        };
    }
    let mut row = Row::default();
    for _ in 0..element.count {
        row.indices.clear();
        row.texture.clear();
        let start = body.start_of_value();
        for property in &element.properties {
            match property.kind {
                Kind::List { count, item } if is_indices(&property.name) => {
                    for _ in 0..body.length(count, item, &format!("the {what}'s vertex list"))? {
                        row.indices.push(body.whole(item, "vertex index")?);
                    }
                }
                Kind::List { count, item } if property.name == "texcoord" => {
                    for _ in 0..body.length(count, item, &format!("the {what}'s texture list"))? {
                        row.texture.push(body.coordinate(item, "texture coordinate")?);
                    }
                }
                kind => skip_property(body, kind, &property.name)?,
            }
        }
        take(&row, &start.unwrap_or_else(|| body.location()))?;
    }
    Ok(())
}

#[derive(Default)]
struct Faces {
    polygons: Polygons,
    num_vertices: usize,
}

impl Faces {
    fn vertex(&self, index: i64, location: &Location) -> Result<u32, ParseError> {
        match usize::try_from(index) {
            Ok(vertex) if vertex < self.num_vertices => Ok(vertex as u32),
            _ => {
                let problem = Problem::IndexOutOfRange { what: "vertex", index, first: 0, count: self.num_vertices };
                Err(ParseError::new(location.clone(), problem))
            }
        }
    }

    fn add_face(&mut self, row: &Row, location: &Location) -> Result<(), ParseError> {
        let (indices, texture) = (&row.indices, &row.texture);
        if !texture.is_empty() && texture.len() != 2 * indices.len() {
            let expected = format!("{} texture coordinates, two for each corner", 2 * indices.len());
            return Err(ParseError::unexpected(location.clone(), expected, format!("{}", texture.len())));
        }
        for (corner, &index) in indices.iter().enumerate() {
            let uv = (!texture.is_empty()).then(|| DVec2::new(texture[2 * corner], texture[2 * corner + 1]));
            let vertex = self.vertex(index, location)?;
            self.polygons.corner(vertex, uv);
        }
        self.polygons.close(|| location.clone())
    }

    /// From the third vertex on, each forms a triangle with the two before it; every second one is
    /// reversed.
    fn add_strips(&mut self, indices: &[i64], location: &Location) -> Result<(), ParseError> {
        for strip in indices.split(|&index| index == -1) {
            for (k, window) in strip.windows(3).enumerate() {
                let (second, third) = if k % 2 == 0 { (1, 2) } else { (2, 1) };
                for corner in [0, second, third] {
                    let vertex = self.vertex(window[corner], location)?;
                    self.polygons.corner(vertex, None);
                }
                self.polygons.close(|| location.clone())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> TriMesh {
        parse(bytes).unwrap_or_else(|error| panic!("{}: {}", error.location, error.problem))
    }

    const HEADER: &str = "comment a square, with more than is needed\nelement camera 2\nproperty double focal\nproperty list uchar \
                          short modes\nelement vertex 4\nproperty uchar red\nproperty float t\nproperty double z\nproperty float x\n\
                          property short y\nproperty float s\nelement face 1\nproperty list uint8 float weights\nproperty list \
                          ushort int vertex_index\nproperty uchar flags\nend_header\n";

    fn square(big_endian: bool) -> Vec<u8> {
        let order = if big_endian { "big" } else { "little" };
        let mut bytes = format!("ply\nformat binary_{order}_endian 1.0\n{HEADER}").into_bytes();
        let mut put = |raw: &[u8]| {
            if big_endian {
                bytes.extend(raw.iter().rev());
            } else {
                bytes.extend(raw);
            }
        };
        for modes in [[].as_slice(), &[-3_i16, 7]] {
            put(&35.0_f64.to_le_bytes());
            put(&[modes.len() as u8]);
            modes.iter().for_each(|mode| put(&mode.to_le_bytes()));
        }
        for (x, y) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
            put(&[200]);
            put(&(y as f32 / 2.0).to_le_bytes());
            put(&0.5_f64.to_le_bytes());
            put(&(x as f32).to_le_bytes());
            put(&(y as i16).to_le_bytes());
            put(&(x as f32 / 4.0).to_le_bytes());
        }
        put(&[1]);
        put(&9.0_f32.to_le_bytes());
        put(&4_u16.to_le_bytes());
        (0..4_i32).for_each(|v| put(&v.to_le_bytes()));
        put(&[1]);
        bytes
    }

    #[test]
    fn text_and_both_byte_orders_give_the_same_mesh() {
        let text = format!(
            "ply\r\nformat ascii 1.0\n{HEADER}35 0\n35 2 -3 7\n200 0 0.5 0 0 0\n200 0 0.5 1 0 0.25\n200 0.5 0.5 1 1 \
             0.25\n200 0.5 0.5 0 1 0\n1 9 4 0 1 2 3 1"
        );
        let mesh = read(text.as_bytes());
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.positions[2], DVec3::new(1.0, 1.0, 0.5));
        assert_eq!(mesh.corner_uvs[1], [DVec2::ZERO, DVec2::new(0.25, 0.5), DVec2::new(0.0, 0.5)]);
        assert_eq!(read(&square(false)), mesh);
        assert_eq!(read(&square(true)), mesh);
    }

    #[test]
    fn every_cut_of_a_binary_file_is_rejected() {
        let whole = square(false);
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "read {length} of {} bytes without complaint", whole.len());
        }
    }

    #[test]
    fn strips_and_corner_texture_coordinates_are_read() {
        let vertices = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
        let rows = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n";
        let strips = format!(
            "ply\nformat ascii 1.0\n{vertices}element tristrips 1\nproperty list int int vertex_indices\nend_header\n{rows}8 0 1 2 \
             3 -1 2 1 3\n"
        );
        assert_eq!(read(strips.as_bytes()).triangles, [[0, 1, 2], [1, 3, 2], [2, 1, 3]]);
        let wedges = format!(
            "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nproperty list uchar float \
             texcoord\n{vertices}end_header\n3 0 1 2 6 0 0 1 0 0 1\n{rows}"
        );
        assert_eq!(read(wedges.as_bytes()).corner_uvs, [[DVec2::ZERO, DVec2::X, DVec2::Y]]);
    }
}
