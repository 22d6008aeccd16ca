//! STL, text and binary. It stores every triangle's corners anew; equal corners (−0 counts as 0) become one vertex.
//!
//! Binary files are known by their length, 84 + 50 n bytes: many begin with `solid`, as text ones must.

use std::collections::HashMap;

use glam::DVec3;

use super::MAX_ELEMENTS;
use super::error::{Fault, Place, Problem, quote};
use super::words::{Words, coordinate, finite};
use crate::TriMesh;

const HEADER: usize = 84;
const FACET: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let announced = bytes.get(80..HEADER).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize);
    let exactly_binary = announced.is_some_and(|n| bytes.len() == HEADER + FACET * n);
    if !exactly_binary && bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return parse_text(bytes);
    }
    let Some(announced) = announced else {
        let expected = "an STL file: `solid`, or a binary header of 84 bytes";
        return Err(Fault::unexpected(Place::Byte(0), expected, format!("{} bytes", bytes.len())));
    };
    parse_binary(bytes, announced)
}

fn parse_binary(bytes: &[u8], num_facets: usize) -> Result<TriMesh, Fault> {
    let body = &bytes[HEADER..];
    if body.len() < FACET * num_facets {
        let what = format!("the list of {num_facets} triangles");
        let problem = Problem::Truncated { what, needed: (FACET * num_facets) as u128, present: body.len() };
        return Err(Fault::new(Place::Byte(HEADER), problem));
    }
    if num_facets > MAX_ELEMENTS {
        return Err(Fault::new(Place::Byte(80), Problem::TooMany { what: "triangles", limit: MAX_ELEMENTS }));
    }
    let mut weld = Weld::default();
    for (facet, record) in body.chunks_exact(FACET).take(num_facets).enumerate() {
        let mut corners = [DVec3::ZERO; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            for axis in 0..3 {
                let at = 12 + 12 * k + 4 * axis;
                let value = f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
                let place = || Place::Byte(HEADER + FACET * facet + at);
                corner[axis] = finite(f64::from(value), place, ["vertex x", "vertex y", "vertex z"][axis])?;
            }
        }
        weld.add(corners);
    }
    Ok(weld.mesh)
}

fn parse_text(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let mut words = Words::new(bytes, 0, 1);
    let mut weld = Weld::default();
    let mut in_solid = false;
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"facet") && in_solid {
            weld.add(facet(&mut words)?);
        } else if word.eq_ignore_ascii_case(b"solid") && !in_solid || word.eq_ignore_ascii_case(b"endsolid") && in_solid
        {
            in_solid = !in_solid;
            // What follows on this line is a name, whatever it looks like.
            words.next_line();
        } else {
            let expected = if in_solid { "`facet` or `endsolid`" } else { "`solid`" };
            return Err(Fault::unexpected(words.place(), expected, quote(word)));
        }
    }
    if in_solid {
        return Err(Fault::unexpected(words.place(), "`facet` or `endsolid`", "the end of the file"));
    }
    Ok(weld.mesh)
}

/// `normal x y z outer loop`, three times `vertex x y z`, `endloop endfacet`. The normal is not used, and may be anything.
fn facet(words: &mut Words<'_>) -> Result<[DVec3; 3], Fault> {
    expect(words, "normal")?;
    for _ in 0..3 {
        words.next();
    }
    expect(words, "outer")?;
    expect(words, "loop")?;
    let mut corners = [DVec3::ZERO; 3];
    for corner in &mut corners {
        expect(words, "vertex")?;
        let mut axis = |name| {
            let word = words.next();
            coordinate(word, || words.place(), name)
        };
        *corner = DVec3::new(axis("vertex x")?, axis("vertex y")?, axis("vertex z")?);
    }
    expect(words, "endloop")?;
    expect(words, "endfacet")?;
    Ok(corners)
}

fn expect(words: &mut Words<'_>, keyword: &str) -> Result<(), Fault> {
    match words.next() {
        Some(word) if word.eq_ignore_ascii_case(keyword.as_bytes()) => Ok(()),
        Some(word) => Err(Fault::unexpected(words.place(), format!("`{keyword}`"), quote(word))),
        None => Err(Fault::unexpected(words.place(), format!("`{keyword}`"), "the end of the file")),
    }
}

/// A mesh that gives equal corners one vertex.
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
        parse(bytes).unwrap_or_else(|fault| panic!("{}: {}", fault.place, fault.problem))
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
