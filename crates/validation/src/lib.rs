//! Validation cases and benchmarks.
//!
//! [`validate`] compares the models with theory and with measurements; [`mod@bench`] runs fixed
//! work and reports its cost per simulated second. Both drive the models through `sessile-sim`, as
//! a run does.

pub mod bench;
pub mod validate;
