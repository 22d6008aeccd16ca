//! Errors of mesh files, with their location.

use std::fmt;
use std::path::PathBuf;

/// Location in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The whole file.
    Whole,
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A byte of a binary file, counted from 0.
    Byte(usize),
    /// An entry of a glTF document, such as `accessors[3]`.
    Item(String),
}

/// A problem at a location of a mesh file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not follow the format.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What the format requires here.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// The file ends too early.
    #[error("{what} needs {needed} bytes, but only {present} are left: the file is truncated or its counts are wrong")]
    Truncated {
        /// What was being read.
        what: String,
        /// Least number of bytes that it needs.
        needed: u128,
        /// Number of bytes left.
        present: usize,
    },
    /// An index is out of range.
    #[error("{}", out_of_range(.what, *.index, *.first, *.count))]
    IndexOutOfRange {
        /// What the index refers to.
        what: &'static str,
        /// The index found, as written.
        index: i64,
        /// First valid index.
        first: i64,
        /// Number of valid indices.
        count: usize,
    },
    /// A coordinate is infinite or NaN.
    #[error("expected a finite {what}, found {found}")]
    NonFinite {
        /// The coordinate.
        what: String,
        /// The value found.
        found: f64,
    },
    /// A feature of the format that is not supported.
    #[error("{what} is not supported: {advice}")]
    Unsupported {
        /// The feature.
        what: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// An external buffer cannot be read.
    #[error("cannot read the buffer {uri:?}: {source}")]
    Resource {
        /// URI of the buffer as written in the file.
        uri: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Too many elements.
    #[error("expected at most {limit} {what}, found more")]
    TooMany {
        /// The elements.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The file has no triangles.
    #[error("expected at least one triangle, found none ({vertices} vertices)")]
    NoTriangles {
        /// Number of vertices.
        vertices: usize,
    },
}

/// Why a mesh file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file cannot be read.
    #[error("cannot read mesh {path:?}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The extension is unknown.
    #[error("{path:?} is not a mesh file: expected a file ending in .obj, .ply, .stl, .gltf or .glb")]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file is malformed.
    #[error("{}{problem}", prefix(.file.as_ref(), .location))]
    Malformed {
        /// The file; none for a mesh in memory.
        file: Option<PathBuf>,
        /// Location in the file.
        location: Location,
        /// The problem.
        problem: Problem,
    },
}

impl MeshFileError {
    /// Adds the name of the file.
    pub fn in_file(self, path: &std::path::Path) -> Self {
        match self {
            Self::Malformed { location, problem, .. } => {
                Self::Malformed { file: Some(path.to_owned()), location, problem }
            }
            other => other,
        }
    }
}

/// A problem and its location, before the file's name is known.
pub(super) struct ParseError {
    pub location: Location,
    pub problem: Problem,
}

impl ParseError {
    pub fn new(location: Location, problem: Problem) -> Self {
        Self { location, problem }
    }

    pub fn unexpected(location: Location, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(location, Problem::Unexpected { expected: expected.into(), found: found.into() })
    }
}

impl From<ParseError> for MeshFileError {
    fn from(ParseError { location, problem }: ParseError) -> Self {
        Self::Malformed { file: None, location, problem }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => write!(f, "the file"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Item(item) => write!(f, "{item}"),
        }
    }
}

/// `cube.obj:3: `, `cube.stl, byte 84: ` or, without a name, `line 3: `.
fn prefix(file: Option<&PathBuf>, location: &Location) -> String {
    match (file, location) {
        (Some(file), Location::Whole) => format!("{}: ", file.display()),
        (Some(file), Location::Line(line)) => format!("{}:{line}: ", file.display()),
        (Some(file), location) => format!("{}, {location}: ", file.display()),
        (None, Location::Whole) => String::new(),
        (None, location) => format!("{location}: "),
    }
}

fn out_of_range(what: &str, index: i64, first: i64, count: usize) -> String {
    if count == 0 {
        return format!("found {what} index {index}, but there is no {what}");
    }
    let last = first.saturating_add_unsigned(count as u64 - 1);
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("expected {article} {what} index from {first} to {last}, found {index}")
}

/// Bytes of the file for a message: shortened, quoted, on one line.
pub(super) fn quote(token: &[u8]) -> String {
    const MAX_LENGTH: usize = 32;
    let text = String::from_utf8_lossy(token);
    let mut shown: String = text.chars().take(MAX_LENGTH).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_LENGTH).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
