//! The pane model against theory.

use super::Case;

/// The pane model's cases.
pub(super) fn cases() -> Vec<Case> {
    Vec::new()
}
