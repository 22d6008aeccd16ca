//! Tests of the path integrator that need its parts.

#[path = "../tests/common/mod.rs"]
mod common;
mod contact_line;
mod refraction;
mod relief;
