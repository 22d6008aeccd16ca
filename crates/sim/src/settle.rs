//! When a run that settles has come to rest.
//!
//! A drop of radius R (that of the sphere of its volume) moves on its own clock τ = √(ρR³/γ). It is quiet between two frames when its
//! centroid, height and base radius each change by less than 10⁻⁴ R per τ. The run is at rest when every drop was quiet from frame to
//! frame three times running, no drop came or went, and nothing is still to come: no source that has yet to stop, no solid
//! or gravity key that lies ahead. Without any drop there is nothing to come to rest.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_scene::types::Scene;
use sessile_wetting::Liquid;

/// Change of a drop, in its radius per its own time, below which it is quiet.
const QUIET: f64 = 1e-4;
/// Frames in a row over which every drop must be quiet.
const QUIET_FRAMES: u32 = 3;

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

/// The last frame's drops, and for how many frames they have been quiet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    time: f64,
    drops: Vec<DropPose>,
    quiet_frames: u32,
}

impl Settling {
    /// Takes up a frame, drops by rising id.
    pub fn observe(&mut self, time: f64, drops: Vec<DropPose>, liquid: &Liquid, planar: bool) {
        let elapsed = time - self.time;
        let same_drops =
            drops.len() == self.drops.len() && drops.iter().zip(&self.drops).all(|(now, before)| now.id == before.id);
        let quiet = elapsed > 0.0
            && !drops.is_empty()
            && same_drops
            && drops.iter().zip(&self.drops).all(|(now, before)| change(now, before, elapsed, liquid, planar) < QUIET);
        self.quiet_frames = if quiet { self.quiet_frames + 1 } else { 0 };
        self.time = time;
        self.drops = drops;
    }

    /// Whether the drops have been quiet for long enough, and `scene` has nothing more in store.
    pub fn at_rest(&self, scene: &Scene) -> bool {
        self.quiet_frames >= QUIET_FRAMES && last_change(scene) <= self.time
    }
}

/// The largest of the three changes, in radii per τ.
fn change(now: &DropPose, before: &DropPose, elapsed: f64, liquid: &Liquid, planar: bool) -> f64 {
    let radius = if planar { (now.volume / PI).sqrt() } else { (0.75 * now.volume / PI).cbrt() };
    let own_time = (liquid.density * radius.powi(3) / liquid.surface_tension).sqrt();
    let largest = now
        .centroid
        .distance(before.centroid)
        .max((now.height - before.height).abs())
        .max((now.base_radius - before.base_radius).abs());
    largest / radius * (own_time / elapsed)
}

/// The last moment at which the scene itself changes something, in s.
fn last_change(scene: &Scene) -> f64 {
    let last_key = |times: &mut dyn Iterator<Item = f64>| times.last().unwrap_or(0.0);
    let gravity = if scene.world.gravity.keys.len() > 1 {
        last_key(&mut scene.world.gravity.keys.iter().map(|key| key.0))
    } else {
        0.0
    };
    let solids = scene
        .solids
        .iter()
        .filter(|solid| solid.motion.len() > 1)
        .map(|solid| last_key(&mut solid.motion.iter().map(|key| key.at)));
    let sources = scene.emitters.iter().map(|emitter| emitter.stop);
    solids.chain(sources).fold(gravity, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };
    /// Of a drop of 1 mm radius, in s: √(10³ · 10⁻⁹ / 0.073) = 3.70 ms.
    const OWN_TIME: f64 = 3.701e-3;

    fn drop(id: u32, height: f64) -> DropPose {
        DropPose { id, volume: 4.0 / 3.0 * PI * 1e-9, centroid: DVec3::ZERO, height, base_radius: 1e-3 }
    }

    /// Frames one own time apart whose height changes by `step` radii each.
    fn quiet_frames_after(steps: &[f64]) -> u32 {
        let mut settling = Settling::default();
        let mut height = 1e-3;
        settling.observe(0.0, vec![drop(1, height)], &WATER, false);
        for (index, step) in steps.iter().enumerate() {
            height += step * 1e-3;
            settling.observe((index + 1) as f64 * OWN_TIME, vec![drop(1, height)], &WATER, false);
        }
        settling.quiet_frames
    }

    #[test]
    fn rest_takes_three_quiet_frames_in_a_row() {
        assert_eq!(quiet_frames_after(&[0.9e-4, 0.9e-4, 0.9e-4]), 3);
        assert_eq!(quiet_frames_after(&[0.9e-4, 1.1e-4, 0.9e-4]), 1);
        assert_eq!(quiet_frames_after(&[1e-3; 5]), 0);
    }

    #[test]
    fn drops_that_come_or_go_are_not_quiet() {
        let mut settling = Settling::default();
        settling.observe(0.0, vec![drop(1, 1e-3)], &WATER, false);
        settling.observe(1.0, vec![drop(1, 1e-3), drop(2, 1e-3)], &WATER, false);
        assert_eq!(settling.quiet_frames, 0);
        settling.observe(2.0, vec![drop(1, 1e-3)], &WATER, false);
        assert_eq!(settling.quiet_frames, 0);
    }

    #[test]
    fn an_empty_scene_never_rests() {
        let mut settling = Settling::default();
        for frame in 0..10 {
            settling.observe(f64::from(frame), Vec::new(), &WATER, false);
        }
        assert_eq!(settling.quiet_frames, 0);
    }
}
