//! Benches of the pane model.

use super::Bench;

/// The pane model's benches.
pub(super) fn benches() -> Vec<Bench> {
    Vec::new()
}
