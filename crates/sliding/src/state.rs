//! Time, volume balance, ids and airborne drops of a model.

use serde::{Deserialize, Serialize};
use sessile_frames::{DropId, IdCounter};

use crate::ball::{Ball, Projectile};

/// What a model keeps besides the drops on its solids.
///
/// `added = present + lost + evaporated` holds at all times, film and airborne drops included in
/// what is present.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelState {
    /// Simulated time, in s.
    pub time: f64,
    /// Liquid added so far, in m³.
    pub added: f64,
    /// Liquid lost so far, in m³.
    pub lost: f64,
    /// Liquid evaporated so far, less what has condensed on drops, in m³.
    pub evaporated: f64,
    /// Issues ids of new drops.
    pub ids: IdCounter,
    /// Airborne drops, by ascending id.
    pub balls: Vec<Ball>,
    /// Liquid condensed on each solid that is less than a grain of dew, in m³; not added yet.
    pub condensate: Vec<f64>,
    /// Nucleation sites that have been visited so far on each solid, whole ones and a part.
    pub sites_visited: Vec<f64>,
    /// Grains of dew deposited so far: the counter of their random streams.
    pub num_grains: u64,
}

impl ModelState {
    /// The state at time 0 of a model with this many solids.
    pub fn new(num_solids: usize) -> Self {
        Self { condensate: vec![0.0; num_solids], sites_visited: vec![0.0; num_solids], ..Self::default() }
    }

    /// Adds a drop of `volume` (in m³) that the caller places, and returns its id.
    pub fn add_drop(&mut self, volume: f64) -> DropId {
        self.added += volume;
        self.ids.issue()
    }

    /// Adds an airborne drop that flies for `remaining` seconds of the current step.
    pub fn add_ball(&mut self, body: Projectile, remaining: f64) {
        let id = self.add_drop(body.volume);
        self.balls.push(Ball { id, body, remaining });
    }

    /// Makes airborne drops of drops that have detached from a solid.
    pub fn take_detached(&mut self, detached: impl Iterator<Item = Ball>) {
        self.balls.extend(detached);
        self.balls.sort_unstable_by_key(|ball| ball.id);
    }

    /// Lets all airborne drops fly for `dt` seconds in the step that begins.
    pub fn begin_flight(&mut self, dt: f64) {
        self.balls.iter_mut().for_each(|ball| ball.remaining = dt);
    }

    /// Volume of the airborne drops, in m³.
    pub fn airborne_volume(&self) -> f64 {
        self.balls.iter().map(|ball| ball.body.volume).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn airborne_drops_stay_sorted_by_id_and_their_volume_is_counted_once() {
        let mut state = ModelState::new(1);
        let on_solid = state.add_drop(2e-9);
        let body = Projectile { center: DVec3::ZERO, velocity: DVec3::ZERO, volume: 1e-9 };
        state.add_ball(body, 0.0);
        state.take_detached(
            [Ball { id: on_solid, body: Projectile { volume: 2e-9, ..body }, remaining: 0.0 }].into_iter(),
        );
        assert_eq!(state.balls.iter().map(|ball| ball.id.get()).collect::<Vec<_>>(), [1, 2]);
        assert!((state.added - state.airborne_volume()).abs() < 1e-21);
    }
}
