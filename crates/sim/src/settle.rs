//! Rest detection for runs with `time.settle`.
//!
//! A drop of radius R (of the sphere of its volume) moves on its inertial-capillary time τ =
//! √(ρR³/γ). It is at rest between two frames if its centroid, height and base radius each change
//! by less than 10⁻⁴ R per τ. The run is at rest when all drops were at rest over three successive
//! frame intervals, no drop appeared or disappeared, and the scene changes nothing later: no
//! emitter still to stop, no key of a solid's motion or of gravity ahead. A run without drops never
//! comes to rest.
//!
//! **Jitter.** Measures of a drop on a grid jitter by up to a hundredth of a cell from frame to
//! frame, with the phase of what is done every few steps, although nothing moves: at short frame
//! intervals that is more than the bound. So the run is at rest, too, when over the last
//! `TREND_FRAMES` intervals the trend of each measure, its slope by least squares, is below the
//! same bound, and no frame departs from it by more than `MAX_JITTER` radii.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::DropMeasures;
use sessile_numerics::{circle_radius, sphere_radius};
use sessile_scene::types::Scene;
use sessile_wetting::Liquid;

/// Change of a drop, in radii per inertial-capillary time, below which it is at rest.
const REST_RATE: f64 = 1e-4;
/// Number of successive frame intervals over which all drops must be at rest.
const REST_FRAMES: u32 = 3;

/// Number of frame intervals over which a trend is measured.
const TREND_FRAMES: usize = 10;
/// Largest departure of a frame from the trend, in radii.
const MAX_JITTER: f64 = 1e-3;

/// Position and size of a drop at a frame: what must stop changing for the run to be at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DropPose {
    /// Id of the drop.
    pub id: u32,
    /// Volume in m³, or area in m² in a planar run.
    pub volume: f64,
    /// Centroid, in m.
    pub centroid: DVec3,
    /// Height above its solid, in m.
    pub height: f64,
    /// Radius of the circle of the wetted area, in m.
    pub base_radius: f64,
}

impl From<&DropMeasures> for DropPose {
    fn from(drop: &DropMeasures) -> Self {
        Self {
            id: drop.id,
            volume: drop.volume,
            centroid: drop.centroid,
            height: drop.height,
            base_radius: drop.base_radius,
        }
    }
}

/// Detects rest from the drops of successive frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Times and drops of the last frames, the newest last, since a drop appeared or disappeared.
    frames: Vec<(f64, Vec<DropPose>)>,
    frames_at_rest: u32,
    /// Whether the last frames have no trend.
    has_no_trend: bool,
}

impl Settling {
    /// Adds a frame; `drops` by increasing id.
    pub fn observe(&mut self, time: f64, drops: Vec<DropPose>, liquid: &Liquid, planar: bool) {
        let before = self.frames.last();
        let same_drops = before.is_some_and(|(_, before)| {
            drops.len() == before.len() && drops.iter().zip(before).all(|(now, before)| now.id == before.id)
        });
        let at_rest = before.is_some_and(|(earlier, before)| {
            let elapsed = time - earlier;
            let is_slow = |(now, before)| change(now, before, elapsed, liquid, planar) < REST_RATE;
            elapsed > 0.0 && !drops.is_empty() && same_drops && drops.iter().zip(before).all(is_slow)
        });
        self.frames_at_rest = if at_rest { self.frames_at_rest + 1 } else { 0 };
        if !same_drops {
            self.frames.clear();
        }
        self.frames.push((time, drops));
        let surplus = self.frames.len().saturating_sub(TREND_FRAMES + 1);
        self.frames.drain(..surplus);
        self.has_no_trend = self.frames.len() > TREND_FRAMES && self.is_without_trend(liquid, planar);
    }

    /// Whether no drop of the last frames has a trend, or departs from it.
    fn is_without_trend(&self, liquid: &Liquid, planar: bool) -> bool {
        let times: Vec<f64> = self.frames.iter().map(|(time, _)| *time).collect();
        let num_drops = self.frames.last().map_or(0, |(_, drops)| drops.len());
        num_drops > 0
            && (0..num_drops).all(|drop| {
                let poses = || self.frames.iter().map(move |(_, drops)| drops[drop]);
                let [radius, inertial_time] = scales(&self.frames[0].1[drop], liquid, planar);
                let measures: [fn(&DropPose) -> f64; 5] = [
                    |pose| pose.centroid.x,
                    |pose| pose.centroid.y,
                    |pose| pose.centroid.z,
                    |pose| pose.height,
                    |pose| pose.base_radius,
                ];
                measures.iter().all(|measure| {
                    let values: Vec<f64> = poses().map(|pose| measure(&pose)).collect();
                    let (slope, departure) = trend(&times, &values);
                    slope.abs() * inertial_time < REST_RATE * radius && departure < MAX_JITTER * radius
                })
            })
    }

    /// Whether the drops have been at rest for long enough and `scene` changes nothing later.
    pub fn at_rest(&self, scene: &Scene) -> bool {
        let time = self.frames.last().map_or(0.0, |(time, _)| *time);
        (self.frames_at_rest >= REST_FRAMES || self.has_no_trend) && last_change(scene) <= time
    }
}

/// R and τ of a drop, in m and s.
fn scales(drop: &DropPose, liquid: &Liquid, planar: bool) -> [f64; 2] {
    let radius = if planar { circle_radius(drop.volume) } else { sphere_radius(drop.volume) };
    [radius, (liquid.density * radius.powi(3) / liquid.surface_tension).sqrt()]
}

/// Slope of values over time by least squares, and their largest departure from that line.
fn trend(times: &[f64], values: &[f64]) -> (f64, f64) {
    let count = times.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / count;
    let (middle, level) = (mean(times), mean(values));
    let both = || times.iter().map(|time| time - middle).zip(values.iter().map(|value| value - level));
    let slope = both().map(|(t, v)| t * v).sum::<f64>() / both().map(|(t, _)| t * t).sum::<f64>();
    (slope, both().map(|(t, v)| (v - slope * t).abs()).fold(0.0, f64::max))
}

/// Largest of the three changes of a drop, in radii per τ.
fn change(now: &DropPose, before: &DropPose, elapsed: f64, liquid: &Liquid, planar: bool) -> f64 {
    let [radius, inertial_time] = scales(now, liquid, planar);
    let largest = now
        .centroid
        .distance(before.centroid)
        .max((now.height - before.height).abs())
        .max((now.base_radius - before.base_radius).abs());
    largest / radius * (inertial_time / elapsed)
}

/// Last time at which the scene itself changes, in s.
fn last_change(scene: &Scene) -> f64 {
    let last_key = |times: &mut dyn Iterator<Item = f64>| times.last().unwrap_or(0.0);
    let solids = scene
        .solids
        .iter()
        .filter(|solid| solid.motion.len() > 1)
        .map(|solid| last_key(&mut solid.motion.iter().map(|key| key.at)));
    let emitters = scene.emitters.iter().map(|emitter| emitter.stop);
    solids.chain(emitters).fold(scene.world.gravity_changes_until(), f64::max)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    const WATER: Liquid = Liquid::water();
    /// Inertial-capillary time of a drop of 1 mm radius, in s: √(10³ · 10⁻⁹ / 0.073) = 3.70 ms.
    const INERTIAL_TIME: f64 = 3.701e-3;

    fn drop(id: u32, height: f64) -> DropPose {
        DropPose { id, volume: 4.0 / 3.0 * PI * 1e-9, centroid: DVec3::ZERO, height, base_radius: 1e-3 }
    }

    /// Frames one inertial-capillary time apart, whose height changes by `step` radii each.
    fn frames_at_rest_after(steps: &[f64]) -> u32 {
        let mut settling = Settling::default();
        let mut height = 1e-3;
        settling.observe(0.0, vec![drop(1, height)], &WATER, false);
        for (index, step) in steps.iter().enumerate() {
            height += step * 1e-3;
            settling.observe((index + 1) as f64 * INERTIAL_TIME, vec![drop(1, height)], &WATER, false);
        }
        settling.frames_at_rest
    }

    #[test]
    fn a_run_is_at_rest_after_three_successive_frames_at_rest() {
        assert_eq!(frames_at_rest_after(&[0.9e-4, 0.9e-4, 0.9e-4]), 3);
        assert_eq!(frames_at_rest_after(&[0.9e-4, 1.1e-4, 0.9e-4]), 1);
        assert_eq!(frames_at_rest_after(&[1e-3; 5]), 0);
    }

    /// Frames one inertial-capillary time apart, with the height `jitter` radii above and below a
    /// line that rises by `slope` radii per frame.
    fn rests_with_jitter(jitter: f64, slope: f64) -> bool {
        let mut settling = Settling::default();
        for frame in 0..12 {
            let sign = if frame % 2 == 0 { 1.0 } else { -1.0 };
            let height = 1e-3 * (1.0 + slope * f64::from(frame) + sign * jitter);
            settling.observe(f64::from(frame) * INERTIAL_TIME, vec![drop(1, height)], &WATER, false);
        }
        settling.has_no_trend
    }

    #[test]
    fn a_drop_that_jitters_without_a_trend_is_at_rest() {
        assert!(rests_with_jitter(0.8e-3, 0.0));
        assert!(!rests_with_jitter(0.8e-3, 3e-4), "a trend of three times the bound");
        assert!(!rests_with_jitter(2e-3, 0.0), "twice the largest jitter");
    }

    #[test]
    fn a_drop_that_appears_or_disappears_restarts_the_count() {
        let mut settling = Settling::default();
        settling.observe(0.0, vec![drop(1, 1e-3)], &WATER, false);
        settling.observe(1.0, vec![drop(1, 1e-3), drop(2, 1e-3)], &WATER, false);
        assert_eq!(settling.frames_at_rest, 0);
        settling.observe(2.0, vec![drop(1, 1e-3)], &WATER, false);
        assert_eq!(settling.frames_at_rest, 0);
    }

    #[test]
    fn a_run_without_drops_never_comes_to_rest() {
        let mut settling = Settling::default();
        for frame in 0..10 {
            settling.observe(f64::from(frame), Vec::new(), &WATER, false);
        }
        assert_eq!(settling.frames_at_rest, 0);
    }
}
