//! `frames/00000.ply`: the surfaces of a frame as binary little-endian PLY, which most mesh
//! programs read.
//!
//! ```text
//! vertex   float x y z, float vx vy vz, int drop             28 bytes
//! face     list uchar int vertex_indices, int solid          17 bytes
//! ```
//!
//! Meters and meters per second in single precision: seven digits, i.e. 0.1 µm at 1 m from the
//! origin. Two comments contain the number and time of the frame. The reader accepts exactly this
//! layout and validates the contents.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::atomic::{self, Durability, FileError};
use crate::frame::Surface;

const VERTEX_BYTES: usize = 28;
const FACE_BYTES: usize = 17;

/// Properties of both elements, in the order of the header.
const VERTEX_PROPERTIES: [&str; 7] = [
    "property float x",
    "property float y",
    "property float z",
    "property float vx",
    "property float vy",
    "property float vz",
    "property int drop",
];
const FACE_PROPERTIES: [&str; 2] = ["property list uchar int vertex_indices", "property int solid"];

/// Number and time of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameId {
    /// Number.
    pub frame: u64,
    /// Simulated time, in s.
    pub time: f64,
}

/// A frame's PLY file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlyError {
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The surface to be written is invalid.
    #[error("the surface for {} is not valid: {reason}", path.display())]
    Surface {
        /// The file to be written.
        path: PathBuf,
        /// What is wrong with it.
        reason: SurfaceError,
    },
    /// The header is not that of a frame file.
    #[error("{}: not a frame's PLY file: line {line} of the header should be {expected}, found {found:?}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Expected line.
        expected: String,
        /// Line found.
        found: String,
    },
    /// The size of the file does not match the counts in the header.
    #[error(
        "{}: {vertices} vertices and {faces} faces need {expected} bytes after the header, found {found}: the file is truncated or damaged",
        path.display()
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// Number of vertices in the header.
        vertices: usize,
        /// Number of faces in the header.
        faces: usize,
        /// Expected number of bytes.
        expected: u128,
        /// Number of bytes found.
        found: usize,
    },
    /// The contents are not a valid surface.
    #[error("{}: {reason}: the file is damaged", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: SurfaceError,
    },
}

/// Why arrays are not a valid surface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// Two arrays of the same element differ in length.
    #[error("{what}: {found} entries for {expected}")]
    Length {
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Expected length.
        expected: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("face {face} refers to vertex {vertex} of {count}")]
    Index {
        /// The triangle.
        face: usize,
        /// The vertex.
        vertex: i64,
        /// Number of vertices.
        count: usize,
    },
    /// A face is not a triangle.
    #[error("face {face} has {corners} corners instead of 3")]
    Corners {
        /// The face.
        face: usize,
        /// Number of corners.
        corners: u8,
    },
    /// A coordinate is NaN, or too large for single precision.
    #[error("vertex {vertex}: its {what} is not finite")]
    NonFinite {
        /// The vertex.
        vertex: usize,
        /// Position or velocity.
        what: &'static str,
    },
    /// A drop id, solid index or count is out of the range of the file format.
    #[error("{what} {value} is out of range (0 to 2147483647)")]
    Range {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: i64,
    },
}

impl Surface {
    /// Checks that array lengths and indices are consistent and all values are finite.
    pub fn validate(&self) -> Result<(), SurfaceError> {
        let vertices = self.positions.len();
        for (what, found, expected) in [
            ("velocities", self.velocities.len(), vertices),
            ("drop ids", self.drops.len(), vertices),
            ("solids of faces", self.solids.len(), self.triangles.len()),
        ] {
            if found != expected {
                return Err(SurfaceError::Length { what, found, expected });
            }
        }
        for (vertex, (position, velocity)) in self.positions.iter().zip(&self.velocities).enumerate() {
            for (what, value) in [("position", position), ("velocity", velocity)] {
                if !value.as_vec3().is_finite() {
                    return Err(SurfaceError::NonFinite { vertex, what });
                }
            }
        }
        for (face, triangle) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = triangle.iter().find(|&&v| v as usize >= vertices) {
                return Err(SurfaceError::Index { face, vertex: i64::from(vertex), count: vertices });
            }
        }
        let too_large = |&&id: &&u32| i32::try_from(id).is_err();
        if let Some(&id) = self.drops.iter().find(too_large) {
            return Err(SurfaceError::Range { what: "drop id", value: i64::from(id) });
        }
        if let Some(&solid) = self.solids.iter().find(|&&solid| solid < -1) {
            return Err(SurfaceError::Range { what: "solid", value: i64::from(solid) });
        }
        if i32::try_from(vertices).is_err() {
            return Err(SurfaceError::Range { what: "number of vertices", value: vertices as i64 });
        }
        Ok(())
    }
}

/// Writes the surfaces of a frame atomically.
pub fn write(path: &Path, surface: &Surface, id: FrameId, durability: Durability) -> Result<(), PlyError> {
    surface.validate().map_err(|reason| PlyError::Surface { path: path.to_owned(), reason })?;
    Ok(atomic::write(path, &encode(surface, id), durability)?)
}

/// Reads the surfaces of a frame.
pub fn read(path: &Path) -> Result<(Surface, FrameId), PlyError> {
    decode(path, &atomic::read(path)?)
}

/// Contents of the file, for a surface that [`Surface::validate`] accepts.
fn encode(surface: &Surface, id: FrameId) -> Vec<u8> {
    let header = header(surface.positions.len(), surface.triangles.len(), id);
    let size = header.len() + surface.positions.len() * VERTEX_BYTES + surface.triangles.len() * FACE_BYTES;
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(header.as_bytes());
    for ((position, velocity), &drop) in surface.positions.iter().zip(&surface.velocities).zip(&surface.drops) {
        let (p, v) = (position.as_vec3(), velocity.as_vec3());
        let mut record = [0; VERTEX_BYTES];
        for (slot, value) in record.chunks_exact_mut(4).zip([p.x, p.y, p.z, v.x, v.y, v.z]) {
            slot.copy_from_slice(&value.to_le_bytes());
        }
        record[24..].copy_from_slice(&drop.to_le_bytes());
        bytes.extend_from_slice(&record);
    }
    for (triangle, solid) in surface.triangles.iter().zip(&surface.solids) {
        let mut record = [3; FACE_BYTES];
        for (slot, vertex) in record[1..13].chunks_exact_mut(4).zip(triangle) {
            slot.copy_from_slice(&vertex.to_le_bytes());
        }
        record[13..].copy_from_slice(&solid.to_le_bytes());
        bytes.extend_from_slice(&record);
    }
    bytes
}

fn header(vertices: usize, faces: usize, id: FrameId) -> String {
    let mut lines = vec![
        "ply".to_owned(),
        "format binary_little_endian 1.0".to_owned(),
        format!("comment frame {}", id.frame),
        format!("comment time {} s", id.time),
        format!("element vertex {vertices}"),
    ];
    lines.extend(VERTEX_PROPERTIES.map(str::to_owned));
    lines.push(format!("element face {faces}"));
    lines.extend(FACE_PROPERTIES.map(str::to_owned));
    lines.push("end_header\n".to_owned());
    lines.join("\n")
}

/// Reads the header line by line and reports the first unexpected line.
struct HeaderReader<'a> {
    path: &'a Path,
    rest: &'a [u8],
    line: usize,
    id: FrameId,
}

/// Longest line of a header, in bytes.
const MAX_LINE: usize = 200;

impl<'a> HeaderReader<'a> {
    /// The next line that is not a comment; comments set the frame number and time.
    fn next(&mut self) -> &'a str {
        loop {
            self.line += 1;
            let window = &self.rest[..self.rest.len().min(MAX_LINE)];
            let Some(end) = window.iter().position(|&byte| byte == b'\n') else {
                self.rest = &[];
                return "";
            };
            let line = std::str::from_utf8(&self.rest[..end]).unwrap_or("").trim_end_matches('\r');
            self.rest = &self.rest[end + 1..];
            let Some(comment) = line.strip_prefix("comment ") else { return line };
            if let Some(frame) = comment.strip_prefix("frame ") {
                self.id.frame = frame.parse().unwrap_or(self.id.frame);
            } else if let Some(time) = comment.strip_prefix("time ").and_then(|time| time.strip_suffix(" s")) {
                self.id.time = time.parse().ok().filter(|time: &f64| time.is_finite()).unwrap_or(self.id.time);
            }
        }
    }

    fn expect(&mut self, expected: &str) -> Result<(), PlyError> {
        let found = self.next();
        if found == expected { Ok(()) } else { Err(self.unexpected(format!("{expected:?}"), found)) }
    }

    fn count(&mut self, element: &str) -> Result<usize, PlyError> {
        let found = self.next();
        let count = found.strip_prefix("element ").and_then(|rest| rest.strip_prefix(element));
        count
            .and_then(|count| count.trim_start().parse::<i32>().ok())
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| self.unexpected(format!("\"element {element}\" and a count"), found))
    }

    fn unexpected(&self, expected: String, found: &str) -> PlyError {
        PlyError::Header { path: self.path.to_owned(), line: self.line, expected, found: found.to_owned() }
    }
}

fn decode(path: &Path, bytes: &[u8]) -> Result<(Surface, FrameId), PlyError> {
    let mut header = HeaderReader { path, rest: bytes, line: 0, id: FrameId { frame: 0, time: 0.0 } };
    header.expect("ply")?;
    header.expect("format binary_little_endian 1.0")?;
    let vertices = header.count("vertex")?;
    for property in VERTEX_PROPERTIES {
        header.expect(property)?;
    }
    let faces = header.count("face")?;
    for property in FACE_PROPERTIES {
        header.expect(property)?;
    }
    header.expect("end_header")?;

    let expected = vertices as u128 * VERTEX_BYTES as u128 + faces as u128 * FACE_BYTES as u128;
    if header.rest.len() as u128 != expected {
        return Err(PlyError::Size { path: path.to_owned(), vertices, faces, expected, found: header.rest.len() });
    }
    let (vertex_bytes, face_bytes) = header.rest.split_at(vertices * VERTEX_BYTES);
    let surface = decode_body(vertex_bytes, face_bytes)
        .and_then(|surface| surface.validate().map(|()| surface))
        .map_err(|reason| PlyError::Contents { path: path.to_owned(), reason })?;
    Ok((surface, header.id))
}

fn decode_body(vertex_bytes: &[u8], face_bytes: &[u8]) -> Result<Surface, SurfaceError> {
    let vertices = vertex_bytes.len() / VERTEX_BYTES;
    let faces = face_bytes.len() / FACE_BYTES;
    let mut surface = Surface {
        positions: Vec::with_capacity(vertices),
        velocities: Vec::with_capacity(vertices),
        drops: Vec::with_capacity(vertices),
        triangles: Vec::with_capacity(faces),
        solids: Vec::with_capacity(faces),
    };
    for record in vertex_bytes.chunks_exact(VERTEX_BYTES) {
        let number = |k: usize| f64::from(f32::from_le_bytes(word(record, 4 * k)));
        surface.positions.push(DVec3::new(number(0), number(1), number(2)));
        surface.velocities.push(DVec3::new(number(3), number(4), number(5)));
        surface.drops.push(u32::from_le_bytes(word(record, 24)));
    }
    for (face, record) in face_bytes.chunks_exact(FACE_BYTES).enumerate() {
        if record[0] != 3 {
            return Err(SurfaceError::Corners { face, corners: record[0] });
        }
        surface.triangles.push([1, 5, 9].map(|at| u32::from_le_bytes(word(record, at))));
        surface.solids.push(i32::from_le_bytes(word(record, 13)));
    }
    Ok(surface)
}

/// The four bytes at `at`.
fn word(record: &[u8], at: usize) -> [u8; 4] {
    [record[at], record[at + 1], record[at + 2], record[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: FrameId = FrameId { frame: 7, time: 0.1 + 0.2 };

    /// Two tetrahedra; every coordinate is exact in single precision.
    fn sample() -> Surface {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let mut surface = Surface::default();
        for (drop, shift) in [(3, 0.0), (2_000_000_000, 4.5)] {
            let base = surface.positions.len() as u32;
            for corner in corners {
                surface.positions.push(corner * 0.25 + shift);
                surface.velocities.push(corner - 0.5);
                surface.drops.push(drop);
            }
            for (k, triangle) in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].into_iter().enumerate() {
                surface.triangles.push(triangle.map(|v: u32| v + base));
                surface.solids.push(if k == 0 { 2 } else { -1 });
            }
        }
        surface
    }

    fn decoded(bytes: &[u8]) -> Result<(Surface, FrameId), PlyError> {
        decode(Path::new("x.ply"), bytes)
    }

    #[test]
    fn a_surface_is_read_back_with_its_frame_number_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00007.ply");
        for surface in [sample(), Surface::default()] {
            write(&path, &surface, ID, Durability::Handed).unwrap();
            assert_eq!(read(&path).unwrap(), (surface, ID));
        }
    }

    /// The header is the one in `docs/run-folder.md`.
    #[test]
    fn the_header_is_as_documented() {
        let bytes = encode(&sample(), ID);
        let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        let header = std::str::from_utf8(&bytes[..end]).unwrap();
        assert_eq!(
            header,
            "ply\nformat binary_little_endian 1.0\ncomment frame 7\ncomment time 0.30000000000000004 s\n\
             element vertex 8\nproperty float x\nproperty float y\nproperty float z\n\
             property float vx\nproperty float vy\nproperty float vz\nproperty int drop\n\
             element face 8\nproperty list uchar int vertex_indices\nproperty int solid\nend_header\n"
        );
        assert_eq!(bytes.len(), end + 8 * 28 + 8 * 17);
        // The second vertex, read by hand: x, then drop.
        assert_eq!(bytes[end + 28..end + 32], 0.25_f32.to_le_bytes());
        assert_eq!(bytes[end + 52..end + 56], 3_i32.to_le_bytes());
        // The first face: three corners, then the solid.
        let face = end + 8 * 28;
        assert_eq!(bytes[face], 3);
        assert_eq!(bytes[face + 13..face + 17], 2_i32.to_le_bytes());
    }

    #[test]
    fn a_truncated_file_a_wrong_header_and_invalid_contents_are_distinguished() {
        let whole = encode(&sample(), ID);
        let end = whole.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        for cut in 0..whole.len() {
            assert!(decoded(&whole[..cut]).is_err(), "truncated after {cut} bytes");
        }
        let error = decoded(&whole[..whole.len() - 1]).unwrap_err();
        assert!(matches!(error, PlyError::Size { expected: 360, found: 359, .. }), "{error}");

        let text = String::from_utf8_lossy(&whole[..end]).replace("float vx", "double vx");
        let error = decoded(text.as_bytes()).unwrap_err();
        let expected = "x.ply: not a frame's PLY file: line 9 of the header should be \"property float vx\", found \"property double vx\"";
        assert_eq!(error.to_string(), expected);

        let damaged = |at: usize, value: &[u8]| {
            let mut bytes = whole.clone();
            bytes[at..at + value.len()].copy_from_slice(value);
            match decoded(&bytes).unwrap_err() {
                PlyError::Contents { reason, .. } => reason,
                other => panic!("{other}"),
            }
        };
        let face = end + 8 * 28;
        assert_eq!(damaged(face, &[4]), SurfaceError::Corners { face: 0, corners: 4 });
        assert_eq!(damaged(face + 5, &8_i32.to_le_bytes()), SurfaceError::Index { face: 0, vertex: 8, count: 8 });
        assert_eq!(damaged(end, &f32::NAN.to_le_bytes()), SurfaceError::NonFinite { vertex: 0, what: "position" });
        assert_eq!(damaged(face + 13, &(-2_i32).to_le_bytes()), SurfaceError::Range { what: "solid", value: -2 });
    }

    #[test]
    fn a_header_with_excessive_counts_allocates_no_memory() {
        let text = header(i32::MAX as usize, i32::MAX as usize, ID);
        assert!(matches!(decoded(text.as_bytes()).unwrap_err(), PlyError::Size { found: 0, .. }));
    }

    #[test]
    fn an_invalid_surface_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("00000.ply");
        let mut surface = sample();
        surface.positions[5].y = f64::NAN;
        let error = write(&path, &surface, ID, Durability::Handed).unwrap_err();
        assert!(error.to_string().contains("vertex 5: its position is not finite"), "{error}");
        assert!(!path.exists());
    }
}
