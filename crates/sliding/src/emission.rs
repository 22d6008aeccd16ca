//! What emitters add to the liquid of a model.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::IdCounter;
use sessile_numerics::sphere_volume;
use sessile_world::Emission;
use sessile_world::random::Stream;

use crate::ball::Projectile;
use crate::state::ModelState;

/// A surface on which vapor condenses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CondensingSurface {
    /// Its area, in m².
    pub area: f64,
    /// Volume of a grain of dew on it, in m³.
    pub grain: f64,
}

/// The solids of a model, as emitters see them.
pub trait EmissionTarget {
    /// A place on a solid.
    type Place;

    /// Where a stream first touches a solid; `None` if it misses all of them.
    fn stream_impact(&self, stream: &Projectile) -> Option<Self::Place>;

    /// The place that a needle with this tip (in m) feeds; `None` if it is too far from any.
    fn feed_place(&self, tip: DVec3) -> Option<Self::Place>;

    /// The surface of a solid on which vapor condenses; `None` for a solid without liquid.
    fn condensing_surface(&self, solid: usize) -> Option<CondensingSurface>;

    /// A place on a solid, uniformly distributed over its area.
    fn random_place(&self, solid: usize, random: &mut Stream) -> Self::Place;

    /// Adds liquid at a place (negative: removes it), in m³, and returns the volume that was really
    /// added.
    fn pour(&mut self, place: Self::Place, volume: f64, ids: &mut IdCounter) -> f64;
}

/// Applies emissions of a step that ends at `until` (in s).
///
/// `random` begins the random stream of a grain of dew from its number.
pub fn apply_emissions<T: EmissionTarget>(
    emissions: Vec<Emission>,
    until: f64,
    state: &mut ModelState,
    random: impl Fn(u64) -> Stream,
    target: &mut T,
) {
    for emission in emissions {
        match emission {
            Emission::Ball { time, center, radius, velocity } => {
                state.add_ball(Projectile { center, velocity, volume: sphere_volume(radius) }, until - time);
            }
            Emission::Stream { at, direction, radius, speed, from, to } => {
                let volume = PI * radius * radius * speed * (to - from);
                let stream = Projectile { center: at, velocity: direction * speed, volume: sphere_volume(radius) };
                match target.stream_impact(&stream) {
                    Some(place) => state.added += target.pour(place, volume, &mut state.ids),
                    None => {
                        state.added += volume;
                        state.lost += volume;
                    }
                }
            }
            Emission::Condense { solid, rate, from, to } => {
                if let Some(surface) = target.condensing_surface(solid) {
                    state.condensate[solid] += rate * (to - from) * surface.area;
                    deposit_dew(solid, surface.grain, state, &random, target);
                }
            }
            Emission::Feed { at, volume, .. } => {
                if let Some(place) = target.feed_place(at) {
                    state.added += target.pour(place, volume, &mut state.ids);
                }
            }
        }
    }
}

/// Deposits condensed liquid as grains of dew at random places; a grain that lands on a drop feeds
/// it.
fn deposit_dew<T: EmissionTarget>(
    solid: usize,
    grain: f64,
    state: &mut ModelState,
    random: &impl Fn(u64) -> Stream,
    target: &mut T,
) {
    while state.condensate[solid] >= grain {
        let place = target.random_place(solid, &mut random(state.num_grains));
        state.num_grains += 1;
        state.condensate[solid] -= grain;
        state.added += target.pour(place, grain, &mut state.ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects everything at one place.
    #[derive(Default)]
    struct Bucket {
        volume: f64,
        misses: bool,
    }

    impl EmissionTarget for Bucket {
        type Place = ();

        fn stream_impact(&self, _: &Projectile) -> Option<()> {
            (!self.misses).then_some(())
        }

        fn feed_place(&self, _: DVec3) -> Option<()> {
            Some(())
        }

        fn condensing_surface(&self, solid: usize) -> Option<CondensingSurface> {
            (solid == 0).then_some(CondensingSurface { area: 1e-2, grain: 3e-12 })
        }

        fn random_place(&self, _: usize, _: &mut Stream) {}

        fn pour(&mut self, (): (), volume: f64, ids: &mut IdCounter) -> f64 {
            ids.issue();
            let poured = volume.max(-self.volume);
            self.volume += poured;
            poured
        }
    }

    fn emissions() -> Vec<Emission> {
        let (from, to) = (0.0, 0.1);
        vec![
            Emission::Ball { time: 0.04, center: DVec3::Y, radius: 1e-3, velocity: DVec3::ZERO },
            Emission::Stream { at: DVec3::Y, direction: DVec3::NEG_Y, radius: 1e-3, speed: 0.5, from, to },
            Emission::Condense { solid: 0, rate: 1e-8, from, to },
            Emission::Condense { solid: 1, rate: 1e-8, from, to },
            Emission::Feed { at: DVec3::ZERO, volume: -1.0, from, to },
        ]
    }

    #[test]
    fn the_volume_balance_is_exact_whether_a_stream_hits_or_misses() {
        for misses in [false, true] {
            let (mut state, mut bucket) = (ModelState::new(2), Bucket { misses, ..Bucket::default() });
            apply_emissions(emissions(), 0.1, &mut state, |grain| Stream::new(1, &[grain]), &mut bucket);
            let present = bucket.volume + state.airborne_volume();
            assert!((state.added - state.lost - present).abs() < 1e-20, "{state:?}");
            assert_eq!(state.lost > 0.0, misses);
            // 1e-11 m³ of dew are three grains and a rest; the other solid carries no liquid.
            assert_eq!(state.num_grains, 3);
            assert!((state.condensate[0] - 1e-12).abs() < 1e-18 && state.condensate[1] == 0.0);
            assert!((state.balls[0].remaining - 0.06).abs() < 1e-12, "a ball flies from the time of its emission");
        }
    }
}
