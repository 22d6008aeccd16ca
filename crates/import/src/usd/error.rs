//! Why a USD layer could not be read.

/// Why a USD layer could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UsdError {
    /// A text layer does not follow the grammar.
    #[error("line {line}: expected {expected}, found {found}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What the grammar requires.
        expected: String,
        /// What the layer has.
        found: String,
    },
    /// A binary layer is malformed.
    #[error("malformed USD layer: {0}")]
    Malformed(String),
    /// The file is not a USD layer.
    #[error("not a USD layer: expected it to start with `#usda` or `PXR-USDC`")]
    NotALayer,
}
