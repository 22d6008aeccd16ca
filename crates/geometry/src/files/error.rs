//! What can be wrong with a mesh file, and where.

use std::fmt;
use std::path::PathBuf;

/// Where in a file something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The file as a whole.
    Whole,
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A byte of a binary file, counted from 0.
    Byte(usize),
    /// An entry of a glTF document, such as `accessors[3]`.
    Item(String),
}

/// What is wrong at a location of a mesh file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file says something other than the format asks for.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What the format asks for here.
        expected: String,
        /// What the file holds.
        found: String,
    },
    /// The file ends before what it announces.
    #[error("{what} needs {needed} bytes, but only {present} are left: the file is cut short or its counts are wrong")]
    Truncated {
        /// What was being read.
        what: String,
        /// Bytes that it needs at least.
        needed: u128,
        /// Bytes that are left.
        present: usize,
    },
    /// A number points at something that does not exist.
    #[error("{}", out_of_range(.what, *.index, *.first, *.count))]
    IndexOutOfRange {
        /// What the index names.
        what: &'static str,
        /// The index found, as written.
        index: i64,
        /// The first index the format allows.
        first: i64,
        /// How many there are.
        count: usize,
    },
    /// A coordinate that is infinite or not a number.
    #[error("expected a finite {what}, found {found}")]
    NonFinite {
        /// The coordinate.
        what: String,
        /// The value found.
        found: f64,
    },
    /// The format allows it, this reader does not.
    #[error("{what} is not supported: {advice}")]
    Unsupported {
        /// The feature.
        what: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A buffer beside the file that cannot be read.
    #[error("cannot read the buffer {uri:?}: {source}")]
    Resource {
        /// The buffer's address as written in the file.
        uri: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// More than the reader takes.
    #[error("expected at most {limit} {what}, found more")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A file without a single triangle.
    #[error("expected at least one triangle, found none ({vertices} vertices)")]
    NoTriangles {
        /// Vertices that the file has.
        vertices: usize,
    },
}

/// Why a mesh file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// The file itself cannot be read.
    #[error("cannot read mesh {path:?}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The file's name does not end in a known way.
    #[error("{path:?} is not a mesh file: expected a name that ends in .obj, .ply, .stl, .gltf or .glb")]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file's content is wrong.
    #[error("{}{problem}", prefix(.file.as_ref(), .location))]
    Malformed {
        /// The file; none when the bytes came from memory.
        file: Option<PathBuf>,
        /// Where in it.
        location: Location,
        /// What is wrong there.
        problem: Problem,
    },
}

impl MeshFileError {
    /// The same error, naming the file.
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
        return format!("found {what} index {index}, but there is no {what} to name");
    }
    let last = first.saturating_add_unsigned(count as u64 - 1);
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("expected {article} {what} index from {first} to {last}, found {index}")
}

/// Bytes of the file as they appear in a message: short, quoted, on one line.
pub(super) fn quote(token: &[u8]) -> String {
    const LONGEST: usize = 32;
    let text = String::from_utf8_lossy(token);
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
