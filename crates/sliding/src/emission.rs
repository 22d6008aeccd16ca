//! What emitters add to the liquid of a model.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_frames::IdCounter;
use sessile_numerics::sphere_volume;
use sessile_wetting::cube_root::cube_root;
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

    /// Whether a drop covers a place.
    fn is_covered(&self, place: &Self::Place) -> bool;

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

/// Area of a nucleation site over the volume of a grain of dew to the power ⅔.
const SITE_AREA: f64 = 9.0;
/// Volume of a droplet that has nucleated, over that of a grain of dew: a tenth of its radius.
const SEED: f64 = 1e-3;
/// Rounds over all sites in the time in which a grain condenses on each.
const ROUNDS: f64 = 20.0;

/// Lets droplets nucleate on a solid on which the depth `rate` (in m/s) condenses, for `dt`
/// seconds.
///
/// The solid has a fixed number of sites at random places, which are visited in turn; a visited
/// site that no drop covers gets a droplet. So drops begin together, and appear again where others
/// have moved away. They grow by what condenses on them; as vapor, that and the droplets' first
/// liquid count as evaporated, negative. `random` begins the random stream of a site from its
/// number.
pub fn nucleate<T: EmissionTarget>(
    solid: usize,
    (rate, dt): (f64, f64),
    state: &mut ModelState,
    random: impl Fn(u64) -> Stream,
    target: &mut T,
) {
    let Some(CondensingSurface { area, grain }) = target.condensing_surface(solid) else { return };
    let site = SITE_AREA * cube_root(grain * grain);
    let count = (area / site).ceil().max(1.0);
    let before = state.sites_visited[solid];
    let visits = (count * dt * ROUNDS * rate * site / grain).min(count);
    state.sites_visited[solid] = before + visits;
    for number in before.floor() as u64..(before + visits).floor() as u64 {
        let place = target.random_place(solid, &mut random(number % count as u64));
        if !target.is_covered(&place) {
            state.evaporated -= target.pour(place, SEED * grain, &mut state.ids);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects everything at one place.
    #[derive(Default)]
    struct Bucket {
        volume: f64,
        is_covered: bool,
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

        fn is_covered(&self, (): &()) -> bool {
            self.is_covered
        }

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
    fn every_site_nucleates_unless_a_drop_covers_it_and_the_balance_is_kept() {
        for is_covered in [false, true] {
            let (mut state, mut bucket) = (ModelState::new(1), Bucket { is_covered, ..Bucket::default() });
            let surface = bucket.condensing_surface(0).expect("a surface");
            let site = SITE_AREA * surface.grain.powf(2.0 / 3.0);
            let round = surface.grain / (ROUNDS * 1e-7 * site);
            for _ in 0..10 {
                nucleate(0, (1e-7, 0.1 * round), &mut state, |site| Stream::new(1, &[site]), &mut bucket);
            }
            let expected: f64 = if is_covered { 0.0 } else { (surface.area / site).ceil() * SEED * surface.grain };
            // The sum of the parts of a round may miss its last site.
            assert!((bucket.volume - expected).abs() < 1.5 * SEED * surface.grain, "{} and {expected}", bucket.volume);
            assert!((state.evaporated + bucket.volume).abs() < 1e-24);
        }
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
