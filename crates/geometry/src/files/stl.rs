//! STL, text and binary. The format has no shared vertices; equal corners (−0 equals 0) become one
//! vertex.
//!
//! Binary files are recognized by their length, 84 + 50 n bytes: many begin with `solid`, as text
//! files must.

use std::collections::HashMap;

use glam::DVec3;

use super::MAX_ELEMENTS;
use super::error::{Location, ParseError, Problem, quote};
use super::tokens::{Tokens, coordinate, finite};
use crate::TriMesh;

const HEADER: usize = 84;
const FACET: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let announced = bytes.get(80..HEADER).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize);
    let exactly_binary = announced.is_some_and(|n| bytes.len() == HEADER + FACET * n);
    if !exactly_binary && bytes.trim_ascii_start().get(..5).is_some_and(|token| token.eq_ignore_ascii_case(b"solid")) {
        return parse_text(bytes);
    }
    let Some(announced) = announced else {
        let expected = "an STL file: `solid`, or a binary header of 84 bytes";
        return Err(ParseError::unexpected(Location::Byte(0), expected, format!("{} bytes", bytes.len())));
    };
    parse_binary(bytes, announced)
}

fn parse_binary(bytes: &[u8], num_facets: usize) -> Result<TriMesh, ParseError> {
    let body = &bytes[HEADER..];
    if body.len() < FACET * num_facets {
        let what = format!("the list of {num_facets} triangles");
        let problem = Problem::Truncated { what, needed: (FACET * num_facets) as u128, present: body.len() };
        return Err(ParseError::new(Location::Byte(HEADER), problem));
    }
    if num_facets > MAX_ELEMENTS {
        return Err(ParseError::new(Location::Byte(80), Problem::TooMany { what: "triangles", limit: MAX_ELEMENTS }));
    }
    let mut weld = Weld::default();
    for (facet, record) in body.chunks_exact(FACET).take(num_facets).enumerate() {
        let mut corners = [DVec3::ZERO; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            for axis in 0..3 {
                let at = 12 + 12 * k + 4 * axis;
                let value = f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
                let location = || Location::Byte(HEADER + FACET * facet + at);
                corner[axis] = finite(f64::from(value), location, ["vertex x", "vertex y", "vertex z"][axis])?;
            }
        }
        weld.add(corners);
    }
    Ok(weld.mesh)
}

fn parse_text(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let mut tokens = Tokens::new(bytes, 0, 1);
    let mut weld = Weld::default();
    let mut in_solid = false;
    while let Some(token) = tokens.next() {
        if token.eq_ignore_ascii_case(b"facet") && in_solid {
            weld.add(facet(&mut tokens)?);
        } else if token.eq_ignore_ascii_case(b"solid") && !in_solid
            || token.eq_ignore_ascii_case(b"endsolid") && in_solid
        {
            in_solid = !in_solid;
            // The rest of the line is a name.
            tokens.next_line();
        } else {
            let expected = if in_solid { "`facet` or `endsolid`" } else { "`solid`" };
            return Err(ParseError::unexpected(tokens.location(), expected, quote(token)));
        }
    }
    if in_solid {
        return Err(ParseError::unexpected(tokens.location(), "`facet` or `endsolid`", "the end of the file"));
    }
    Ok(weld.mesh)
}

/// `normal x y z outer loop`, three times `vertex x y z`, `endloop endfacet`. The normal is
/// ignored.
fn facet(tokens: &mut Tokens<'_>) -> Result<[DVec3; 3], ParseError> {
    expect(tokens, "normal")?;
    for _ in 0..3 {
        tokens.next();
    }
    expect(tokens, "outer")?;
    expect(tokens, "loop")?;
    let mut corners = [DVec3::ZERO; 3];
    for corner in &mut corners {
        expect(tokens, "vertex")?;
        let mut axis = |name| {
            let token = tokens.next();
            coordinate(token, || tokens.location(), name)
        };
        *corner = DVec3::new(axis("vertex x")?, axis("vertex y")?, axis("vertex z")?);
    }
    expect(tokens, "endloop")?;
    expect(tokens, "endfacet")?;
    Ok(corners)
}

fn expect(tokens: &mut Tokens<'_>, keyword: &str) -> Result<(), ParseError> {
    match tokens.next() {
        Some(token) if token.eq_ignore_ascii_case(keyword.as_bytes()) => Ok(()),
        Some(token) => Err(ParseError::unexpected(tokens.location(), format!("`{keyword}`"), quote(token))),
        None => Err(ParseError::unexpected(tokens.location(), format!("`{keyword}`"), "the end of the file")),
    }
}

/// A mesh in which equal corners share a vertex.
#[derive(Default)]
struct Weld {
    mesh: TriMesh,
    vertex_at: HashMap<[u64; 3], u32>,
}

impl Weld {
    fn add(&mut self, corners: [DVec3; 3]) {
        let Self { mesh, vertex_at } = self;
        let triangle = corners.map(|corner| {
            let corner = corner + DVec3::ZERO; // −0 becomes 0
            *vertex_at.entry(corner.to_array().map(f64::to_bits)).or_insert_with(|| {
                mesh.positions.push(corner);
                mesh.positions.len() as u32 - 1
            })
        });
        mesh.triangles.push(triangle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid facet normal vertex\n facet normal nan 0 0\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   \
                        vertex 0 1 0\n  endloop\n endfacet\n FACET NORMAL 0 0 1 OUTER LOOP VERTEX 1 -0.0 0 VERTEX 1 1 0 \
                        VERTEX 0 1 0 ENDLOOP ENDFACET\nendsolid facet\n";

    fn binary(header: &[u8], corners: &[[[f32; 3]; 3]]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((corners.len() as u32).to_le_bytes());
        for triangle in corners {
            bytes.extend([0; 12]);
            bytes.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> TriMesh {
        parse(bytes).unwrap_or_else(|error| panic!("{}: {}", error.location, error.problem))
    }

    #[test]
    fn equal_corners_become_one_vertex() {
        let mesh = read(TEXT.as_bytes());
        assert_eq!(mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(mesh.positions.len(), 4);
    }

    #[test]
    fn binary_and_text_give_the_same_mesh_whatever_the_header_says() {
        let corners = [[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]], [[1., -0.0, 0.], [1., 1., 0.], [0., 1., 0.]]];
        let text = read(TEXT.as_bytes());
        for header in [b"solid in name only".as_slice(), b"made by hand"] {
            assert_eq!(read(&binary(header, &corners)), text);
        }
        let mut padded = binary(b"made by hand", &corners);
        padded.push(0);
        assert_eq!(read(&padded), text, "bytes after the last triangle are passed over");
    }
}
