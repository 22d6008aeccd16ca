//! Parameters of a run: the liquid, the choice of schemes, and the numerical tunables with their
//! defaults.

use sessile_wetting::Liquid;

use crate::advection::{Interpolation, Limiter};
use crate::contact_curvature::ContactAngleRule;
use crate::interface_advection::advective_time_step;
use crate::moving_line::MovingLine;
use crate::particles::ParticleParameters;
use crate::projection::capillary_time_step;
use crate::short_wave_inertia;

/// What a run does not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The liquid.
    pub liquid: Liquid,
    /// Slip length on solids that the grid resolves, in m.
    pub slip: f64,
    /// How the angle at a contact line follows its speed; none if it does not.
    pub moving_line: Option<MovingLine>,
    /// Second-order pressure condition at the interface; first order otherwise.
    pub second_order: bool,
    /// Curvature at contact lines by the virtual surface method; by the extension of φ into solids
    /// otherwise.
    pub virtual_surface: Option<ContactAngleRule>,
    /// The paper's operators: viscosity of each velocity component alone, and φ advected by the
    /// velocity at cell centers.
    pub paper_operators: bool,
    /// Interpolation of the semi-Lagrangian advection.
    pub interpolation: Interpolation,
    /// A constant time step, in s.
    pub dt: Option<f64>,
    /// Decay rate of the velocity in runs that settle, in 1/s.
    pub drag: f64,
    /// Implicit surface tension: longer steps, damped capillary waves.
    pub implicit_tension: bool,
    /// Numerical tunables.
    pub numerics: NumericalParameters,
}

impl Parameters {
    /// Speed above which a contact line counts as moving at any angle, in m/s; none where the angle
    /// alone decides.
    pub fn static_speed(&self) -> Option<f64> {
        match self.virtual_surface {
            Some(ContactAngleRule::Paper { static_speed }) => Some(static_speed),
            Some(ContactAngleRule::Measured) | None => None,
        }
    }

    /// Longest step that surface tension allows on cells of side `h` (in m) at a largest |u| + |v|
    /// + |w| of `speed` (in m/s), in s.
    pub fn capillary_step(&self, h: f64, speed: f64) -> f64 {
        let explicit = self.explicit_step(h);
        if self.implicit_tension || self.paper_operators {
            return f64::from(self.step_factor()) * explicit;
        }
        let NumericalParameters { inertial_step_factor, inertial_courant, .. } = self.numerics;
        (inertial_step_factor * explicit).min(advective_time_step(inertial_courant, h, speed)).max(explicit)
    }

    /// Step of explicit surface tension on cells of side `h` (in m), in s.
    fn explicit_step(&self, h: f64) -> f64 {
        self.numerics.capillary_fraction * capillary_time_step(&self.liquid, h)
    }

    /// Strength τ of the inertia of short waves in a step of `dt` (in s).
    pub fn short_wave_inertia(&self, dt: f64, h: f64) -> f64 {
        if self.implicit_tension || self.paper_operators {
            return 0.0;
        }
        short_wave_inertia::strength(dt, self.explicit_step(h))
    }

    /// The step to which numbers per step refer, in s: a step of `dt` (in s), at most that of
    /// explicit surface tension on cells of side `h` (in m).
    pub fn reference_step(&self, dt: f64, h: f64) -> f64 {
        if self.implicit_tension || self.paper_operators { dt } else { dt.min(self.explicit_step(h)) }
    }

    /// Whole number of reference steps nearest to a step of `dt` (in s), at least one.
    pub fn reference_steps(&self, dt: f64, h: f64) -> u32 {
        (dt / self.reference_step(dt, h)).round() as u32
    }

    /// Steps of explicit surface tension that one step replaces.
    pub fn step_factor(&self) -> u32 {
        if self.implicit_tension { self.numerics.implicit_step_factor } else { 1 }
    }
}

/// Numerical tunables of the model. Lengths are in cells unless stated otherwise.
///
/// Constants that belong to a stencil (heights at which φ is sampled, widths of bands) stay beside
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumericalParameters {
    /// Fraction of the capillary time-step limit √(ρh³/2πγ) that is used.
    ///
    /// Measured without the inertia of short waves: 1.0 is stable, 1.2 noisy, 1.5 fails.
    pub capillary_fraction: f64,
    /// Multiple of the capillary limit above which a step given by the scene is refused.
    pub max_capillary_fraction: f64,
    /// Steps of explicit surface tension that a step with implicit surface tension replaces.
    ///
    /// Larger factors damp more, and only 4 has been validated.
    pub implicit_step_factor: u32,
    /// Steps of explicit surface tension that a step with the inertia of short waves replaces.
    ///
    /// Measured: 2.2 is stable, 2.5 fails.
    pub inertial_step_factor: f64,
    /// Courant number up to which steps are longer than those of explicit surface tension.
    ///
    /// Drops of 7 cells across that oscillate at 0.6 lose 0.4 % of their volume on the grid.
    pub inertial_courant: f64,
    /// Courant number Δt(|u| + |v| + |w|)/h of the fastest face.
    ///
    /// Above 1 the level set advection is unstable; smaller values only cost time.
    pub courant: f64,
    /// Steps of explicit surface tension between two reinitializations of φ.
    ///
    /// With larger intervals φ departs from a distance and κ loses its accuracy; smaller ones cost
    /// time.
    pub redistance_interval: u32,
    /// Distance that the interface may travel before φ is reinitialized.
    pub redistance_travel: f64,
    /// Particle correction of φ.
    pub particles: ParticleParameters,
    /// Volume change of a cell in one step that the pressure solve may leave, as a fraction of the
    /// cell.
    ///
    /// A looser tolerance leaves volume errors to the relaxation; a tighter one costs iterations.
    pub divergence_tolerance: f64,
    /// Interface speed, in cells per step, from which the pressure acts on faces beside a contact
    /// line, too.
    ///
    /// At 0 flow circulates beside resting contact lines; without a limit, liquid that comes down
    /// fast leaves nearly closed cells through what is open of them, at any speed.
    pub prescribed_speed_limit: f64,
    /// Fraction of the difference to the interior velocity that parasitic currents lose in a step
    /// of explicit surface tension; in longer ones as much per time.
    ///
    /// It also removes part of the viscous layer below the interface: drops of 22 cells across
    /// oscillate with 107 % of Lamb's decay rate at 0, 90 % at 0.1 and 81 % at 0.2. A resting drop
    /// of 20 cells across flows at 4.2 mm/s with 0, at 2.8 mm/s with 0.2.
    pub parasitic_damping: f64,
    /// Speeds, in cells per step, between which the extrapolated velocity becomes free of
    /// divergence.
    ///
    /// At 0 an oscillating drop of 13 cells across gains energy; without the correction films of
    /// one or two cells gain or lose volume.
    pub divergence_correction_speeds: [f64; 2],
    /// Limiter of the cubic interpolation.
    pub limiter: Limiter,
    /// Largest νΔt/h² for which one Jacobi sweep replaces the viscous solve.
    pub max_jacobi_alpha: f64,
    /// Wave number that implicit surface tension assumes, in 1/cells.
    ///
    /// With steps four times the explicit limit, 1 fails after a hundred steps, 3 and 6 are stable.
    pub implicit_wave_number: f64,
    /// Steps of explicit surface tension in which a drop's volume relaxes to its target, while they
    /// differ by less than `volume_tolerance`.
    ///
    /// Fewer steps make a resting drop follow the noise of the measured volume.
    pub volume_relaxation_steps: f64,
    /// Relative difference between a drop's volume and its target above which it is removed within
    /// `fast_volume_relaxation_steps`.
    pub volume_tolerance: f64,
    /// Steps of explicit surface tension in which the difference beyond the tolerance is removed,
    /// at least one step; 1 is the stability limit.
    ///
    /// The difference of a drop that loses a fraction per step approaches that fraction times these
    /// steps: an impact at 16 cells across loses 1e-3 per step.
    pub fast_volume_relaxation_steps: f64,
    /// Largest relative volume change that the relaxation makes per step of explicit surface
    /// tension.
    pub max_volume_change: f64,
    /// Volume below which a component that separates in the air is a sub-grid fragment, in cells.
    pub fragment_volume: f64,
    /// The same for a component on a wall, where a receding line leaves some across the corners of
    /// cells.
    pub fragment_volume_on_wall: f64,
    /// Drops of at most this many cells leave the grid as spray (wang2005, §8).
    pub max_spray_cells: usize,
    /// Spray of more cells than this returns to the grid; half as large again, so that none
    /// alternates.
    pub min_grid_cells: f64,
    /// Distance outside an open domain side to which a drop that is partly inside is followed.
    pub exit_margin: f64,
    /// Speed above which the solution counts as diverged, in m/s.
    pub max_speed: f64,
}

/// Multiple of the capillary time-step limit that the paper's step is: 2·10⁻⁴ s in water (wang2005,
/// §8) at its cell size, which is taken as 0.25 mm: 400 cells across a domain of 0.1 m, the height
/// from which it drips.
const PAPER_CAPILLARY_FRACTION: f64 = 1.083;

impl NumericalParameters {
    /// Those of `fidelity = "paper"`: its constant time step, shortened only where the interface
    /// would cross more than `courant` cells, and particles beside solids, too.
    pub fn paper() -> Self {
        let default = Self::default();
        let particles = ParticleParameters { solid_clearance: 0.0, ..default.particles };
        Self { capillary_fraction: PAPER_CAPILLARY_FRACTION, max_capillary_fraction: 1.5, particles, ..default }
    }
}

impl Default for NumericalParameters {
    fn default() -> Self {
        Self {
            capillary_fraction: 0.9,
            max_capillary_fraction: 1.8,
            implicit_step_factor: 4,
            inertial_step_factor: 2.0,
            inertial_courant: 0.25,
            courant: 0.8,
            redistance_interval: 10,
            redistance_travel: 1.0,
            particles: ParticleParameters::default(),
            divergence_tolerance: 1e-6,
            prescribed_speed_limit: 0.15,
            parasitic_damping: 0.1,
            divergence_correction_speeds: [0.05, 0.15],
            limiter: Limiter::default(),
            max_jacobi_alpha: 0.01,
            implicit_wave_number: 3.0,
            volume_relaxation_steps: 20.0,
            volume_tolerance: 2e-4,
            fast_volume_relaxation_steps: 1.5,
            max_volume_change: 1e-2,
            fragment_volume: 0.25,
            fragment_volume_on_wall: 1.0,
            max_spray_cells: 27,
            min_grid_cells: 40.0,
            exit_margin: 12.0,
            max_speed: 200.0,
        }
    }
}
