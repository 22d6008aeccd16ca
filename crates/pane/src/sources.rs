//! The pane, as emitters see it.

use glam::{DVec2, DVec3};
use sessile_sliding::{CondensingSurface, EmissionTarget, IdCounter, Projectile};
use sessile_world::random::Stream;

use crate::flight::first_contact;
use crate::frame::PaneFrame;
use crate::model::{PaperSolver, Solver};
use crate::motion::StepContext;
use crate::parameters::PARAMETERS;
use crate::setup::Setup;

/// Drops and cells that emitters add liquid to.
pub struct Target<'a> {
    /// The drops on the pane.
    pub solver: &'a mut Solver,
    /// The scene's settings.
    pub setup: &'a Setup,
    /// The pane in space.
    pub frame: &'a PaneFrame,
    /// The context of the step.
    pub context: &'a StepContext,
    /// Gravity, in m/s².
    pub gravity: DVec3,
}

impl EmissionTarget for Target<'_> {
    type Place = DVec2;

    /// Where the axis of the stream meets the pane.
    fn stream_impact(&self, stream: &Projectile) -> Option<DVec2> {
        let mut axis = Projectile { volume: 0.0, ..*stream };
        let (corner, normal) = (self.frame.corner, self.frame.normal());
        let time = first_contact(&axis, corner, normal, self.gravity, PARAMETERS.longest_stream)?;
        axis.fall(self.gravity, time);
        Some(self.frame.position_of(axis.center)).filter(|&position| self.frame.contains(position))
    }

    fn feed_place(&self, tip: DVec3) -> Option<DVec2> {
        Some(self.frame.position_of(tip)).filter(|&position| self.frame.contains(position))
    }

    fn condensing_surface(&self, solid: usize) -> Option<CondensingSurface> {
        let surface = CondensingSurface { area: self.frame.size.element_product(), grain: self.setup.dew_grain };
        (solid == self.setup.solid).then_some(surface)
    }

    fn random_place(&self, _solid: usize, random: &mut Stream) -> DVec2 {
        DVec2::new(random.uniform(), random.uniform()) * self.frame.size
    }

    fn is_covered(&self, position: &DVec2) -> bool {
        match &*self.solver {
            Solver::Physical(physical) => physical.drops.covering(*position).is_some(),
            Solver::Paper(paper) => paper.automaton.is_wet(paper.substrate.cell_at(*position)),
        }
    }

    fn pour(&mut self, position: DVec2, volume: f64, ids: &mut IdCounter) -> f64 {
        match &mut *self.solver {
            Solver::Physical(physical) => physical.pour(position, volume, self.context, ids),
            Solver::Paper(paper) => {
                let PaperSolver { substrate, automaton, .. } = &mut **paper;
                let cell = substrate.cell_at(position);
                if automaton.is_wet(cell) {
                    automaton.change(cell, volume)
                } else if volume > 0.0 {
                    automaton.add(cell, volume, ids.issue());
                    automaton.wet_under(substrate, cell, self.context);
                    volume
                } else {
                    0.0
                }
            }
        }
    }
}
