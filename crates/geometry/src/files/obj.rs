//! Wavefront OBJ: vertices, texture coordinates and faces, with the object and material of each
//! face.
//!
//! Indices count from 1, or backwards from −1, the last vertex so far. `f` corners are `v`, `v/vt`,
//! `v//vn` or `v/vt/vn`. A backslash at the end of a line continues it on the next. Normals, curves
//! and everything else are skipped.

use glam::{DVec2, DVec3};
use sessile_numerics::OptionalIndex;

use super::MAX_ELEMENTS;
use super::error::{Location, MeshFileError, ParseError, Problem, quote};
use super::polygons::Polygons;
use super::tokens::{Tokens, coordinate};
use crate::TriMesh;

/// An OBJ file with its objects and materials kept apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjFile {
    /// The meshes, each of one object and one material; parts of one object are adjacent.
    pub parts: Vec<ObjPart>,
    /// Names of the material libraries (`mtllib`).
    pub material_libraries: Vec<String>,
}

/// The faces of one object that have one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjPart {
    /// Name of the object or group; empty where the file has none.
    pub object: String,
    /// Name of the material; none where the file has none.
    pub material: Option<String>,
    /// The faces, with only the vertices that they use.
    pub mesh: TriMesh,
}

/// Reads an OBJ file with its objects and materials kept apart.
pub fn parse_obj(bytes: &[u8]) -> Result<ObjFile, MeshFileError> {
    let statements = Statements::read(bytes)?;
    let mut corners: Vec<Vec<&Corner>> = vec![Vec::new(); statements.parts.len()];
    for corner in &statements.corners {
        corners[corner.part].push(corner);
    }
    let mut order: Vec<usize> = (0..statements.parts.len()).collect();
    let object = |part: usize| &statements.parts[part].0;
    order.sort_by_key(|&part| (0..part).find(|&earlier| object(earlier) == object(part)).unwrap_or(part));
    // Index of each vertex of the file in the part that is being assembled.
    let mut local = vec![OptionalIndex::NONE; statements.positions.len()];
    let mut used = Vec::new();
    let mut parts = Vec::with_capacity(order.len());
    for part in order {
        let mesh = statements.mesh(Polygons::default(), corners[part].iter().copied(), |polygons, vertex| {
            local[vertex].get_or_insert_with(|| {
                polygons.positions.push(statements.positions[vertex]);
                used.push(vertex);
                polygons.positions.len() as u32 - 1
            })
        })?;
        used.drain(..).for_each(|vertex| local[vertex] = OptionalIndex::NONE);
        let (object, material) = statements.parts[part].clone();
        parts.push(ObjPart { object, material, mesh });
    }
    Ok(ObjFile { parts, material_libraries: statements.material_libraries })
}

/// Reads all faces into one mesh.
pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, ParseError> {
    let statements = Statements::read(bytes)?;
    let mut polygons = Polygons::default();
    polygons.positions.clone_from(&statements.positions);
    statements.mesh(polygons, statements.corners.iter(), |_, vertex| vertex as u32)
}

/// A corner of a face whose indices may refer to vertices that come later in the file.
struct Corner {
    vertex: i64,
    texture: Option<i64>,
    line: usize,
    /// Index of the part that its face belongs to.
    part: usize,
    ends_face: bool,
}

/// The statements of a file.
#[derive(Default)]
struct Statements {
    positions: Vec<DVec3>,
    uvs: Vec<DVec2>,
    corners: Vec<Corner>,
    /// Object and material of each part, in the order of their first faces.
    parts: Vec<(String, Option<String>)>,
    material_libraries: Vec<String>,
}

impl Statements {
    fn read(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut statements = Self::default();
        let mut tokens = Tokens::new(bytes, 0, 1);
        let (mut object, mut material) = (String::new(), None);
        loop {
            // Errors give the line on which a statement starts, also if it is continued on the
            // next.
            let line = tokens.line();
            match tokens.next_on_line(Some(b'#')) {
                Some(b"v") => statements.vertex(&mut tokens, line)?,
                Some(b"vt") => statements.texture_coordinate(&mut tokens, line)?,
                Some(b"f") => statements.face(&mut tokens, line, &object, material.as_ref())?,
                Some(b"o" | b"g") => object = rest_of_line(&mut tokens),
                Some(b"usemtl") => material = Some(rest_of_line(&mut tokens)),
                Some(b"mtllib") => statements.material_libraries.push(rest_of_line(&mut tokens)),
                _ => {}
            }
            if !tokens.next_line() {
                return Ok(statements);
            }
        }
    }

    fn vertex(&mut self, tokens: &mut Tokens<'_>, line: usize) -> Result<(), ParseError> {
        let location = || Location::Line(line);
        let mut axis = |name| coordinate(tokens.next_on_line(Some(b'#')), location, name);
        self.positions.push(DVec3::new(axis("vertex x")?, axis("vertex y")?, axis("vertex z")?));
        if self.positions.len() > MAX_ELEMENTS {
            return Err(ParseError::new(location(), Problem::TooMany { what: "vertices", limit: MAX_ELEMENTS }));
        }
        Ok(())
    }

    fn texture_coordinate(&mut self, tokens: &mut Tokens<'_>, line: usize) -> Result<(), ParseError> {
        let location = || Location::Line(line);
        let u = coordinate(tokens.next_on_line(Some(b'#')), location, "texture u")?;
        // A one-dimensional texture has no v.
        let v = match tokens.next_on_line(Some(b'#')) {
            Some(token) => coordinate(Some(token), location, "texture v")?,
            None => 0.0,
        };
        self.uvs.push(DVec2::new(u, v));
        Ok(())
    }

    fn face(
        &mut self,
        tokens: &mut Tokens<'_>,
        line: usize,
        object: &str,
        material: Option<&String>,
    ) -> Result<(), ParseError> {
        let is_current = |part: &(String, Option<String>)| part.0 == object && part.1.as_ref() == material;
        // Most faces belong to the part of the face before them.
        let part = self.parts.iter().rposition(is_current).unwrap_or_else(|| {
            self.parts.push((object.to_owned(), material.cloned()));
            self.parts.len() - 1
        });
        let first = self.corners.len();
        while let Some(token) = tokens.next_on_line(Some(b'#')) {
            let corner = corner(token, line, part, self.positions.len(), self.uvs.len())?;
            self.corners.push(corner);
        }
        let num_corners = self.corners.len() - first;
        if num_corners < 3 {
            let found = format!("{num_corners}");
            return Err(ParseError::unexpected(Location::Line(line), "a face of at least 3 corners", found));
        }
        self.corners[first + num_corners - 1].ends_face = true;
        Ok(())
    }

    /// Assembles faces; `index_of` gives the index that a vertex of the file has in the mesh.
    fn mesh<'a>(
        &self,
        mut polygons: Polygons,
        corners: impl Iterator<Item = &'a Corner>,
        mut index_of: impl FnMut(&mut Polygons, usize) -> u32,
    ) -> Result<TriMesh, ParseError> {
        for corner in corners {
            let location = || Location::Line(corner.line);
            let lookup = |what, index: i64, count| {
                let problem = Problem::IndexOutOfRange { what, index: index + 1, first: 1, count };
                let found = usize::try_from(index).ok().filter(|&index| index < count);
                found.ok_or_else(|| ParseError::new(location(), problem))
            };
            let vertex = lookup("vertex", corner.vertex, self.positions.len())?;
            let uv = match corner.texture {
                Some(texture) => Some(self.uvs[lookup("texture", texture, self.uvs.len())?]),
                None => None,
            };
            let vertex = index_of(&mut polygons, vertex);
            polygons.corner(vertex, uv);
            if corner.ends_face {
                polygons.close(location)?;
            }
        }
        Ok(polygons.into_mesh())
    }
}

/// The rest of a line, its tokens separated by single spaces.
fn rest_of_line(tokens: &mut Tokens<'_>) -> String {
    let mut words = Vec::new();
    while let Some(token) = tokens.next_on_line(Some(b'#')) {
        words.push(String::from_utf8_lossy(token));
    }
    words.join(" ")
}

/// Reads a corner, with indices converted to count from 0; negative ones count back from the last
/// vertex so far.
fn corner(token: &[u8], line: usize, part: usize, num_positions: usize, num_uvs: usize) -> Result<Corner, ParseError> {
    let location = || Location::Line(line);
    let malformed =
        || ParseError::unexpected(location(), "a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`", quote(token));
    let mut parts = token.split(|&byte| byte == b'/');
    let index = |part: &[u8], what: &'static str, count: usize| -> Result<i64, ParseError> {
        let written: i64 = std::str::from_utf8(part).ok().and_then(|part| part.parse().ok()).ok_or_else(malformed)?;
        match written {
            1.. => Ok(written - 1),
            0 => {
                Err(ParseError::unexpected(location(), format!("a {what} index counted from 1 (or back from -1)"), "0"))
            }
            _ => match (count as i64).checked_add(written) {
                Some(index @ 0..) => Ok(index),
                _ => {
                    let found = format!("{written} with {count} before it");
                    Err(ParseError::unexpected(
                        location(),
                        format!("a {what} index that refers back to an earlier {what}"),
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
    Ok(Corner { vertex, texture, line, part, ends_face: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TriMesh {
        parse(text.as_bytes()).unwrap_or_else(|error| panic!("{}: {}", error.location, error.problem))
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
    fn objects_and_materials_are_kept_apart() {
        let text = "mtllib two parts.mtl\no a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 3 2\no b\nf 2 3 4\n\
                    o a\nusemtl blue\nf 1 4 3\nusemtl red\nf 1 2 4\n";
        let file = parse_obj(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let parts: Vec<(&str, Option<&str>, usize)> = file
            .parts
            .iter()
            .map(|part| (part.object.as_str(), part.material.as_deref(), part.mesh.triangles.len()))
            .collect();
        assert_eq!(parts, [("a", Some("red"), 2), ("a", Some("blue"), 1), ("b", Some("red"), 1)]);
        assert_eq!(file.parts[2].mesh.positions, [DVec3::X, DVec3::Y, DVec3::Z]);
        assert_eq!(file.material_libraries, ["two parts.mtl"]);
        let error = parse_obj(b"v 0 0 zero\n").expect_err("a malformed number").to_string();
        assert_eq!(error, "line 1: expected a number for the vertex z, found `zero`");
    }

    #[test]
    fn mesh_without_texture_coordinates_has_none() {
        assert!(read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3").corner_uvs.is_empty());
    }
}
