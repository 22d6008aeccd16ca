//! Validation cases and benchmarks.
