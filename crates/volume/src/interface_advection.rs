//! Advection of the interface: φ and the marker particles move with the liquid, and particles
//! correct φ.
//!
//! ```text
//! φ_t + u·∇φ = 0,      Δt (|u| + |v| + |w|) ≤ C h,  C the Courant number
//! ```
//!
//! The level set scheme is in [`level_set_advection`](crate::level_set_advection), the correction
//! in [`particles`](crate::particles). Particles preserve thin, fast liquid in free flight; near
//! solids there are none
//! ([`ParticleParameters::solid_clearance`](crate::particles::ParticleParameters)).

use glam::DVec3;
use sessile_model::StageReports;

use crate::fluid::StepContext;
use crate::grid::{CENTER, linear};
use crate::level_set_advection::{InterfaceVelocity, advect_level_set};
use crate::line_transport::move_line_states;
use crate::parameters::Parameters;
use crate::particles::ParticleParameters;
use crate::scratch::Scratch;
use crate::solids::{Wall, WallMotion};
use crate::state::State;
use crate::tiles::CellIndex;

/// Courant number of the parts in which φ moves while walls do.
///
/// A carried drop stays in its place as far as φ is moved exactly: in parts of 0.4 its base shrinks
/// by 0.05 % of the way, in parts of 0.2 by 0.02 %.
const CARRIED_COURANT: f64 = 0.2;
/// Speed below which the Courant limit does not matter, in m/s.
const MIN_SPEED: f64 = 1e-9;

/// Longest step in which the interface crosses `courant` cells of side `h` (in m), in s.
///
/// `max_speed` is the largest |u| + |v| + |w|, in m/s.
pub fn advective_time_step(courant: f64, h: f64, max_speed: f64) -> f64 {
    courant * h / max_speed.max(MIN_SPEED)
}

/// What the advection of the interface did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InterfaceReport {
    /// Courant number of the step.
    pub courant: f64,
    /// Marker particles.
    pub particles: usize,
    /// Cells whose φ particles corrected.
    pub corrected_cells: usize,
}

impl InterfaceReport {
    /// Writes the report under its public names.
    pub fn record(&self, reports: &mut StageReports) {
        reports.keep_largest("interface.courant", self.courant);
        reports.keep_largest("interface.particles", self.particles as f64);
        reports.add("interface.corrected_cells", self.corrected_cells as u64);
    }
}

/// Advects φ and the marker particles, and corrects φ by them.
pub fn advect_interface<L>(
    state: &mut State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) -> InterfaceReport {
    let dt_over_h = step.dt / state.grid.h;
    let courant = state.max_speed() * dt_over_h;
    sample_interface_velocity(state, scratch, params, step);
    let steps = step.dt / params.reference_step(step.dt, state.grid.h);
    reseed_particles(state, scratch, params, courant, steps);
    state.num_steps += 1;
    let State { grid, sides, solids, phi, line, particles, since_redistance, .. } = state;
    let walls = WallMotion::new(step.world, sides, grid);
    move_line_states(&grid.tiles, solids, &walls, dt_over_h, line, &mut scratch.line);
    let parts = if walls.any_moves() { courant / CARRIED_COURANT } else { courant };
    let (tiles, velocity) = (&grid.tiles, &scratch.center_velocity);
    particles
        .advance(tiles, |slot, at| DVec3::from([0, 1, 2].map(|axis| linear(tiles, &velocity[axis], slot, at, CENTER))));
    advect_level_set(tiles, velocity, parts, phi, &mut scratch.field, &mut scratch.other_field);
    // φ is reinitialized as often in time as with explicit steps; otherwise the base at 150° is 2 %
    // wider.
    since_redistance.steps += params.step_factor();
    since_redistance.travel += courant;
    let corrected_cells = correct_by_particles(state, params);
    InterfaceReport { courant, particles: state.particles.len(), corrected_cells }
}

/// Corrects φ by escaped particles, away from solids; returns the number of cells changed.
pub fn correct_by_particles(state: &mut State, params: &Parameters) -> usize {
    let State { grid, solids, phi, particles, line, .. } = state;
    let clearance = params.numerics.particles.solid_clearance;
    let is_clear = |cell: CellIndex| solids.distance.values()[cell] > clearance && !line.values()[cell].is_pinned();
    particles.correct_phi(&grid.tiles, phi, is_clear).cells
}

/// Writes the velocity that moves φ at cell centers, in cells per step.
fn sample_interface_velocity<L>(state: &State, scratch: &mut Scratch, params: &Parameters, step: &StepContext<'_, L>) {
    let State { grid, sides, solids, phi, velocity, line, .. } = state;
    let walls = WallMotion::new(step.world, sides, grid);
    let wall_velocity = |wall: &Wall, at: DVec3, slot: usize| walls.at(wall, at, slot);
    let (dt_over_h, extends) = (step.dt / grid.h, !params.paper_operators);
    let sampler = InterfaceVelocity { tiles: &grid.tiles, solids, velocity, line, dt_over_h, extends };
    sampler.sample_at_centers(phi, &wall_velocity, &mut scratch.center_velocity);
}

/// Seeds particles where the interface is fast, and removes them where it is not; every few steps.
///
/// `steps` is the number of reference steps in this step.
fn reseed_particles(state: &mut State, scratch: &Scratch, params: &Parameters, courant: f64, steps: f64) {
    let seeding = params.numerics.particles;
    let [min_speed, full_speed] = [seeding.min_speed, seeding.full_speed].map(|speed| steps * speed);
    let seeding = &ParticleParameters { min_speed, full_speed, ..seeding };
    if !state.num_steps.is_multiple_of(seeding.interval) {
        return;
    }
    let State { grid, solids, phi, particles, num_steps, .. } = state;
    if courant > seeding.min_speed {
        let centers = &scratch.center_velocity;
        let speed = |cell: CellIndex| DVec3::from([0, 1, 2].map(|axis| centers[axis].values()[cell])).length();
        let is_clear = |cell: CellIndex| solids.distance.values()[cell] > seeding.solid_clearance;
        particles.reseed(&grid.tiles, phi, seeding, *num_steps, speed, is_clear);
    } else {
        particles.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::contact_angle::impose_contact_angle;
    use crate::fluid::Fluid;
    use crate::redistance::redistance_if_due;
    use crate::testing::{Advancing, plane_world, test_parameters};
    use crate::tiles::Topology;
    use crate::volume_fraction::liquid_fraction;

    /// A circle in a box of 64 cells, stretched by a vortex to a filament thinner than a cell, and
    /// back: the fraction of its area that remains, and the fraction that is displaced.
    fn drawn_out_and_back(max_per_cell: u32) -> [f64; 2] {
        let world = plane_world(1.0, DVec3::Y, DVec3::new(0.0, -100.0, 0.0));
        let topology = Topology { planar: true, ..Topology::default() };
        let mut params = test_parameters();
        params.numerics.particles.max_per_cell = max_per_cell;
        let mut fluid = Fluid::new(State::new(1.0, DVec3::ZERO, topology, Vec::new()), params);
        let all: Vec<[i32; 3]> = (0..64).map(|place| [place % 8, place / 8, 0]).collect();
        fluid.adapt(&world, &all);
        let cells = fluid.state.grid.tiles.cells_in_use();
        let indices: Vec<CellIndex> = fluid.state.grid.tiles.indices().filter(|index| index.local() < cells).collect();
        for &index in &indices {
            let away = fluid.state.grid.center(index) - DVec3::new(32.0, 48.0, 0.5);
            fluid.state.phi.values_mut()[index] = away.truncate().length() - 9.6;
        }
        fluid.redistance();
        let shares = |fluid: &Fluid| -> Vec<f64> {
            indices
                .iter()
                .map(|&index| liquid_fraction(&fluid.state.grid.tiles, &fluid.state.solids, &fluid.state.phi, index))
                .collect()
        };
        let before = shares(&fluid);
        let context = StepContext { dt: 1.0, world: &world, gravity: DVec3::ZERO, angles: &Advancing, needles: &[] };
        let steps = 400;
        for step in 0..steps {
            let time = (f64::from(step) + 0.5) / f64::from(steps);
            for &index in &indices {
                let at = fluid.state.grid.center(index);
                let speed = 0.6 * (PI * time).cos();
                // On the low faces.
                let wave = |c: f64| (PI * c / 64.0).sin_cos();
                let ([(sx, _), (sy, cy)], [(tx, dx), (ty, _)]) =
                    ([wave(at.x - 0.5), wave(at.y)], [wave(at.x), wave(at.y - 0.5)]);
                fluid.state.velocity[0].values_mut()[index] = -speed * sx * sx * 2.0 * sy * cy;
                fluid.state.velocity[1].values_mut()[index] = speed * ty * ty * 2.0 * tx * dx;
            }
            let Fluid { state, params, scratch } = &mut fluid;
            advect_interface(state, scratch, params, &context);
            impose_contact_angle(state, scratch, &Advancing);
            redistance_if_due(state, scratch, params, &Advancing);
        }
        let after = shares(&fluid);
        let whole: f64 = before.iter().sum();
        let misplaced: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).sum();
        [after.iter().sum::<f64>() / whole, misplaced / whole]
    }

    #[test]
    fn particles_preserve_a_filament_that_the_grid_alone_loses() {
        let ([left_alone, misplaced_alone], [left, misplaced]) = (drawn_out_and_back(0), drawn_out_and_back(32));
        println!("left {left_alone:.4}, misplaced {misplaced_alone:.4}; with particles {left:.4}, {misplaced:.4}");
        assert!(
            (left - 1.0).abs() < 0.5 * (left_alone - 1.0).abs() && misplaced < 0.7 * misplaced_alone,
            "left {left_alone:.4} without and {left:.4} with particles, misplaced {misplaced_alone:.4} and {misplaced:.4}"
        );
    }
}
