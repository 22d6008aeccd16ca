//! Dynamics of one drop: geometry, forces, the implicit solve and the move.

pub mod advance;
mod conjugate_gradient;
mod contact_impulse;
mod contact_line;
mod envelope_cholesky;
mod footprint;
pub mod geometry;
mod incomplete_cholesky;
mod inertia;
mod line_frame;
pub mod line_shear;
pub mod linear_system;
mod paper_line;
mod velocity_gauge;
pub mod volume_correction;
pub mod zhang2011;

#[cfg(test)]
mod momentum_tests;
