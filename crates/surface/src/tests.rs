//! Tests of the whole model and of one drop against exact solutions.

mod carried;
pub mod common;
mod convergence;
mod deforming;
mod hard_cases;
mod momentum;
mod odd_scenes;
mod paper;
mod paper_operators;
mod physics;
mod remeshing;
mod robustness;
mod single_drop;
mod state;
mod storm;
