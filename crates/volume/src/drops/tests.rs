//! Components, labels and target volumes.
