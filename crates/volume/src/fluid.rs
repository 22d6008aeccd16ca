//! One step of the liquid: the stages of the method in their order (after wang2005).
//!
//! ```text
//! u* = u(x − Δt u) + Δt (g + wind)             advection, wind
//! u − Δt ∇·(ν (∇u + ∇uᵀ)) = u*                viscosity
//! κ = ∇·(∇φ/|∇φ|)                              curvature, with the contact angle at walls
//! ∇·(u* − Δt ∇p/ρ) = S,  p = γκ at φ = 0
//!     pressure; S relaxes each drop's volume to its target
//! n·∇u = 0 in the air                          extrapolation
//! φ_t + u·∇φ = 0                               interface, with particle correction
//! φ into solids at the contact angle           contact angle
//! |∇φ| = 1                                     redistance, when due
//! ```
//!
//! With `fidelity = "paper"` gravity and wind come first, then viscosity, then advection, and φ is
//! completed by fast marching in every step.
//!
//! Each stage is a file that opens with its equations, its limits and its source. The time step is
//! the least of the stages' limits ([`Fluid::time_step_limit`]): the capillary limit of
//! [`crate::projection`] and the Courant limit of [`crate::interface_advection`].

use glam::DVec3;
use sessile_frames::{DropId, Event};
use sessile_model::{StageReports, StageTimer};
use sessile_numerics::math;
use sessile_world::World;

use crate::advection::{accelerate, advect_velocity, begin_velocity_update};
use crate::contact_angle::{AngleLaw, CONVERGENCE_PASSES, impose_contact_angle};
use crate::curvature::compute_curvature;
use crate::drops::{DropsReport, LabelInput, label_drops};
use crate::error::SolveError;
use crate::extrapolation::extrapolate_velocity;
use crate::free_motion::{conserve_momentum, follow_labels};
use crate::interface_advection::{advect_interface, advective_time_step};
use crate::parameters::Parameters;
use crate::parasitic_currents::damp_parasitic_currents;
use crate::projection::{Pass, Projection, project};
use crate::redistance::{redistance, redistance_if_due};
use crate::scratch::Scratch;
use crate::sources::NeedleFlow;
use crate::speed_limit::limit_speed;
use crate::state::State;
use crate::viscosity::{ViscosityReport, damp_capillary_waves, diffuse_velocity};
use crate::wind::apply_wind;

/// The liquid: its state, its parameters, and the memory of its step.
#[derive(Debug)]
pub struct Fluid {
    /// Fields on the grid.
    pub state: State,
    /// What a run does not change.
    pub params: Parameters,
    /// Memory of the stages.
    pub scratch: Scratch,
}

/// What acts on the liquid during a step.
#[derive(Clone, Copy)]
pub struct StepContext<'a, L> {
    /// Length of the step, in s.
    pub dt: f64,
    /// The solids, at the step's end.
    pub world: &'a World,
    /// Gravity, in m/s².
    pub gravity: DVec3,
    /// Contact angles.
    pub angles: &'a L,
    /// Needles that feed or drain liquid.
    pub needles: &'a [NeedleFlow],
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidReport {
    /// The drops' volumes.
    pub drops: DropsReport,
    /// Iterations of the pressure solve.
    pub pressure_iterations: usize,
    /// Numbers from the stages.
    pub stages: StageReports,
}

impl Fluid {
    /// An empty grid.
    pub fn new(state: State, params: Parameters) -> Self {
        Self { state, params, scratch: Scratch::default() }
    }

    /// Longest stable step, in s: the least of the capillary and the advective limit.
    pub fn time_step_limit(&self) -> f64 {
        if let Some(dt) = self.params.dt {
            return dt;
        }
        let (h, numerics) = (self.state.grid.h, &self.params.numerics);
        let speed = self.state.max_speed();
        self.params.capillary_step(h, speed).min(advective_time_step(numerics.courant, h, speed))
    }

    /// Advances the liquid by one step; the tiles must have been adapted.
    pub fn step<L: AngleLaw>(
        &mut self,
        step: &StepContext<'_, L>,
        events: &mut Vec<Event>,
        timer: &mut dyn StageTimer,
    ) -> Result<FluidReport, SolveError> {
        let mut report = FluidReport::default();
        let stages = &mut report.stages;
        self.update_velocity(step, timer)?.record(stages);
        let Self { state, params, scratch } = self;
        timer.enter("curvature");
        compute_curvature(state, scratch, params, step);
        timer.enter("drops");
        let drops = label_drops(state, scratch, params, step, events);
        conserve_momentum(state, scratch, params, step).record(stages);
        timer.enter("pressure");
        let pressure = project(state, scratch, params, step, Pass::WithSurfaceTension)?;
        if params.implicit_tension {
            timer.enter("viscosity");
            damp_capillary_waves(state, scratch, params, step)?.record(stages);
            timer.enter("pressure");
            project(state, scratch, params, step, Pass::DivergenceOnly)?.record(stages);
        }
        apply_settling_drag(state, params.drag, step.dt);
        timer.enter("extrapolation");
        state.solids.mirrors.reflect_velocity(&state.grid.tiles, &mut state.velocity, &mut scratch.mirrors);
        damp_parasitic_currents(state, scratch, params, step.dt);
        extrapolate_velocity(state, scratch, params, step).record(stages);
        limit_speed(state, params, step).record(stages);
        timer.enter("interface");
        advect_interface(state, scratch, params, step).record(stages);
        timer.enter("contact_angle");
        // A pass relaxes the angle by a part: as many in a time as with explicit surface tension.
        for _ in 0..params.reference_steps(step.dt, state.grid.h) {
            impose_contact_angle(state, scratch, step.angles);
        }
        timer.enter("redistance");
        redistance_if_due(state, scratch, params, step.angles).record(stages);
        drops.record(stages);
        pressure.record(stages);
        (report.drops, report.pressure_iterations) = (drops, pressure.iterations);
        Ok(report)
    }

    /// Advection, body forces and viscosity; with the paper's operators forces first, advection
    /// last (wang2005, §3).
    fn update_velocity<L>(
        &mut self,
        step: &StepContext<'_, L>,
        timer: &mut dyn StageTimer,
    ) -> Result<ViscosityReport, SolveError> {
        let Self { state, params, scratch } = self;
        let gain = step.gravity * step.dt;
        timer.enter("advection");
        begin_velocity_update(state, scratch, params);
        if params.paper_operators {
            accelerate(state, scratch, gain);
            apply_wind(state, scratch, params, step);
            timer.enter("viscosity");
            let report = diffuse_velocity(state, scratch, params, step)?;
            timer.enter("advection");
            advect_velocity(state, scratch, params, step, DVec3::ZERO);
            return Ok(report);
        }
        advect_velocity(state, scratch, params, step, gain);
        apply_wind(state, scratch, params, step);
        timer.enter("viscosity");
        diffuse_velocity(state, scratch, params, step)
    }

    /// Labels the drops after liquid was inserted; volumes of `unmeasured` ids become what they
    /// hold.
    pub fn label(&mut self, unmeasured: &[DropId]) {
        let State { grid, solids, phi, drops, .. } = &mut self.state;
        let projection = &mut self.scratch.projection;
        projection.number_unknowns(&grid.tiles, solids, phi);
        let Projection { cells, unknown_of, .. } = &*projection;
        let input = LabelInput { tiles: &grid.tiles, solids, phi, cells, unknown_of };
        drops.label_initial(&input, &self.params.numerics, unmeasured);
    }

    /// Labels the drops again at the end of a step, so that a frame and the events before it agree
    /// on the drops that there are.
    pub fn relabel(&mut self, events: &mut Vec<Event>) {
        let State { grid, solids, phi, drops, free_drops, .. } = &mut self.state;
        let projection = &mut self.scratch.projection;
        projection.number_unknowns(&grid.tiles, solids, phi);
        let Projection { cells, unknown_of, .. } = &*projection;
        let input = LabelInput { tiles: &grid.tiles, solids, phi, cells, unknown_of };
        drops.label(&input, &self.params.numerics, events);
        follow_labels(drops, free_drops);
    }

    /// Reinitializes φ to a distance.
    pub fn redistance(&mut self) {
        redistance(&mut self.state, &mut self.scratch);
    }

    /// Extends φ into solids.
    pub fn impose_contact_angle(&mut self, angles: &impl AngleLaw) {
        impose_contact_angle(&mut self.state, &mut self.scratch, angles);
    }

    /// Extends φ into solids until it no longer changes, for an interface that was just inserted.
    pub fn converge_contact_angle(&mut self, angles: &impl AngleLaw) {
        for _ in 0..CONVERGENCE_PASSES {
            self.impose_contact_angle(angles);
        }
    }
}

/// Decay of the velocity in runs that settle: u ← u exp(−drag Δt).
fn apply_settling_drag(state: &mut State, drag: f64, dt: f64) {
    use rayon::prelude::*;

    if drag > 0.0 {
        let factor = math::exp(-drag * dt);
        for component in &mut state.velocity {
            component.par_tiles_mut().for_each(|tile| tile.iter_mut().for_each(|u| *u *= factor));
        }
    }
}

#[cfg(test)]
mod tests;
