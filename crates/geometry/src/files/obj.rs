//! Wavefront OBJ: `v`, `vt` and `f` lines; everything else (normals, groups, materials, curves) is passed over.
//!
//! Indices count from 1, or backwards from −1, the last vertex so far. `f` corners are `v`, `v/vt`, `v//vn` or
//! `v/vt/vn`. A backslash at the end of a line joins the next one to it.

use glam::{DVec2, DVec3};

use super::MAX_ELEMENTS;
use super::error::{Fault, Place, Problem, quote};
use super::polygons::Polygons;
use super::words::{Words, coordinate};
use crate::TriMesh;

/// A corner of a face whose indices may name vertices that come later in the file.
struct Corner {
    vertex: i64,
    texture: Option<i64>,
    line: usize,
    ends_face: bool,
}

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, Fault> {
    let mut words = Words::new(bytes, 0, 1);
    let mut positions = Vec::new();
    let mut uvs = Vec::new();
    let mut corners: Vec<Corner> = Vec::new();
    loop {
        // The line on which a statement starts is the one to name, also if it goes on over several.
        let Place::Line(line) = words.place() else { unreachable!("words stand on lines") };
        let place = || Place::Line(line);
        match words.next_on_line(Some(b'#')) {
            Some(b"v") => {
                let mut axis = |name| coordinate(words.next_on_line(Some(b'#')), place, name);
                positions.push(DVec3::new(axis("vertex x")?, axis("vertex y")?, axis("vertex z")?));
                if positions.len() > MAX_ELEMENTS {
                    return Err(Fault::new(place(), Problem::TooMany { what: "vertices", limit: MAX_ELEMENTS }));
                }
            }
            Some(b"vt") => {
                let u = coordinate(words.next_on_line(Some(b'#')), place, "texture u")?;
                // A one-dimensional texture has no v.
                let v = match words.next_on_line(Some(b'#')) {
                    Some(word) => coordinate(Some(word), place, "texture v")?,
                    None => 0.0,
                };
                uvs.push(DVec2::new(u, v));
            }
            Some(b"f") => {
                let first = corners.len();
                while let Some(word) = words.next_on_line(Some(b'#')) {
                    corners.push(corner(word, line, positions.len(), uvs.len())?);
                }
                let num_corners = corners.len() - first;
                if num_corners < 3 {
                    return Err(Fault::unexpected(place(), "a face of at least 3 corners", format!("{num_corners}")));
                }
                corners[first + num_corners - 1].ends_face = true;
            }
            _ => {}
        }
        if !words.next_line() {
            break;
        }
    }
    assemble(positions, &uvs, &corners)
}

/// Reads a corner; negative indices are counted back from the vertices so far, all indices end up counting from 0.
fn corner(word: &[u8], line: usize, num_positions: usize, num_uvs: usize) -> Result<Corner, Fault> {
    let place = || Place::Line(line);
    let malformed = || Fault::unexpected(place(), "a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`", quote(word));
    let mut parts = word.split(|&byte| byte == b'/');
    let index = |part: &[u8], what: &'static str, count: usize| -> Result<i64, Fault> {
        let written: i64 = std::str::from_utf8(part).ok().and_then(|part| part.parse().ok()).ok_or_else(malformed)?;
        match written {
            1.. => Ok(written - 1),
            0 => Err(Fault::unexpected(place(), format!("a {what} index counted from 1 (or back from -1)"), "0")),
            _ => match (count as i64).checked_add(written) {
                Some(index @ 0..) => Ok(index),
                _ => {
                    let found = format!("{written} with {count} before it");
                    Err(Fault::unexpected(
                        place(),
                        format!("a {what} index that reaches back to one already given"),
                        found,
                    ))
                }
            },
        }
    };
    let vertex = index(parts.next().unwrap_or_default(), "vertex", num_positions)?;
    let texture = match parts.next() {
        Some(part) if !part.is_empty() => Some(index(part, "texture", num_uvs)?),
        _ => None,
    };
    // The normal is not used, and many files have wrong ones: only its syntax matters.
    let normal = parts.next();
    let normal_is_number = normal.is_none_or(|part| std::str::from_utf8(part).is_ok_and(|p| p.parse::<i64>().is_ok()));
    if !normal_is_number && normal != Some(b"") || parts.next().is_some() {
        return Err(malformed());
    }
    Ok(Corner { vertex, texture, line, ends_face: false })
}

fn assemble(positions: Vec<DVec3>, uvs: &[DVec2], corners: &[Corner]) -> Result<TriMesh, Fault> {
    let mut polygons = Polygons::default();
    polygons.positions = positions;
    for corner in corners {
        let place = || Place::Line(corner.line);
        let lookup = |what, index: i64, count| {
            let problem = Problem::IndexOutOfRange { what, index: index + 1, first: 1, count };
            usize::try_from(index).ok().filter(|&index| index < count).ok_or_else(|| Fault::new(place(), problem))
        };
        let vertex = lookup("vertex", corner.vertex, polygons.positions.len())?;
        let uv = match corner.texture {
            Some(texture) => Some(uvs[lookup("texture", texture, uvs.len())?]),
            None => None,
        };
        polygons.corner(vertex as u32, uv);
        if corner.ends_face {
            polygons.close(place)?;
        }
    }
    Ok(polygons.into_mesh())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TriMesh {
        parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{}: {}", fault.place, fault.problem))
    }

    #[test]
    fn quads_negative_indices_and_every_corner_form_are_read() {
        let text = "# a comment\r\nv 0 0 0 1.0 # a weight\r\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0.25\nvt 0.5 0.75\n\
                    f 1 2 3 4\nf -4/1 -3/-1 -2/2/1\nf 1//1 2//1 3//1\ng name\nl 1 2\nusemtl wet\n";
        let mesh = read(text);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 2]]);
        assert_eq!(mesh.corner_uvs[0], [DVec2::ZERO; 3]);
        assert_eq!(mesh.corner_uvs[2], [DVec2::new(0.25, 0.0), DVec2::new(0.5, 0.75), DVec2::new(0.5, 0.75)]);
        assert_eq!(mesh.corner_uvs[3], [DVec2::ZERO; 3]);
    }

    #[test]
    fn a_backslash_continues_the_line() {
        let mesh = read("v 0 0 \\\n 0\nv 1 0 0\nv 0 1 0\nf 1 \\\r\n2 3\\\n\n");
        assert_eq!((mesh.positions.len(), mesh.triangles.as_slice()), (3, [[0, 1, 2]].as_slice()));
    }

    #[test]
    fn faces_may_come_before_their_vertices() {
        assert_eq!(read("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0").triangles, [[0, 1, 2]]);
    }

    #[test]
    fn mesh_without_texture_coordinates_has_none() {
        assert!(read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3").corner_uvs.is_empty());
    }
}
