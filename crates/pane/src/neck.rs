//! Drops that have just merged keep, for a moment, the places of those that they came from, so that a neck is seen.
//!
//! The parts draw together like the slowest motion of the merged drop does, over about its capillary time √(ρV/γ) (or, in a
//! thick liquid, the time ηR/γ that viscosity needs). This is for the eye: mass, place and momentum have merged at once.

use std::collections::BTreeMap;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_wetting::Liquid;

/// Most parts that a merged drop is drawn with.
const MOST_PARTS: usize = 6;
/// Capillary times that the parts take to draw together: three rings of a drop die away in about this.
const CAPILLARY_TIMES: f64 = 2.0;
/// Viscous times ηR/γ that they take at least; a chosen multiple, the wedge's logarithm.
const VISCOUS_TIMES: f64 = 12.0;
/// Time constants after which a neck is gone.
const LIFE: f64 = 5.0;

/// One of the drops that a drop was made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// From the drop's center, in m.
    pub offset: DVec2,
    /// Of the drop's volume.
    pub share: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Neck {
    parts: Vec<Part>,
    time_constant: f64,
    age: f64,
}

/// Necks, by slot of their drop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Necks {
    necks: BTreeMap<u32, Neck>,
}

impl Necks {
    /// The parts of a drop that has merged not long ago.
    pub fn get(&self, slot: u32) -> Option<&[Part]> {
        self.necks.get(&slot).map(|neck| neck.parts.as_slice())
    }

    /// What a drop at `place` brings into a merged one at `center`, of which it is `share`.
    pub fn parts_of(&self, slot: u32, place: DVec2, center: DVec2, share: f64) -> Vec<Part> {
        let moved = place - center;
        match self.get(slot) {
            Some(parts) => parts.iter().map(|p| Part { offset: p.offset + moved, share: p.share * share }).collect(),
            None => vec![Part { offset: moved, share }],
        }
    }

    /// A drop has just been made of these.
    pub fn remember(&mut self, slot: u32, mut parts: Vec<Part>, liquid: &Liquid, volume: f64) {
        while parts.len() > MOST_PARTS {
            absorb_smallest(&mut parts);
        }
        let capillary = (liquid.density * volume / liquid.surface_tension).sqrt();
        let viscous = liquid.dynamic_viscosity() * volume.cbrt() / liquid.surface_tension;
        let time_constant = (CAPILLARY_TIMES * capillary).max(VISCOUS_TIMES * viscous);
        self.necks.insert(slot, Neck { parts, time_constant, age: 0.0 });
    }

    /// A drop is gone.
    pub fn forget(&mut self, slot: u32) {
        self.necks.remove(&slot);
    }

    /// Parts draw together for `dt` seconds.
    pub fn relax(&mut self, dt: f64) {
        self.necks.retain(|_, neck| {
            let keep = (-dt / neck.time_constant).exp();
            neck.parts.iter_mut().for_each(|part| part.offset *= keep);
            neck.age += dt;
            neck.age < LIFE * neck.time_constant
        });
    }
}

/// Joins the smallest part with the one nearest to it, about their common center.
fn absorb_smallest(parts: &mut Vec<Part>) {
    let smallest = (0..parts.len()).min_by(|&a, &b| parts[a].share.total_cmp(&parts[b].share)).unwrap_or(0);
    let part = parts.swap_remove(smallest);
    let distance = |other: &Part| other.offset.distance_squared(part.offset);
    if let Some(near) = parts.iter_mut().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
        let share = near.share + part.share;
        near.offset = (near.offset * near.share + part.offset * part.share) / share;
        near.share = share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_parts_keeps_their_center_and_sum() {
        let mut parts: Vec<Part> = (1..=9)
            .map(|i| Part { offset: DVec2::new(f64::from(i), f64::from(i * i % 7)), share: f64::from(i) / 45.0 })
            .collect();
        let sums =
            |parts: &[Part]| parts.iter().fold((DVec2::ZERO, 0.0), |(c, s), p| (c + p.offset * p.share, s + p.share));
        let before = sums(&parts);
        while parts.len() > 2 {
            absorb_smallest(&mut parts);
        }
        let after = sums(&parts);
        assert!((before.0 - after.0).length() < 1e-12 && (before.1 - after.1).abs() < 1e-12, "{before:?} {after:?}");
    }

    #[test]
    fn a_neck_closes_within_the_drops_own_time() {
        let liquid = Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };
        let mut necks = Necks::default();
        necks.remember(
            3,
            vec![Part { offset: DVec2::X, share: 0.5 }, Part { offset: DVec2::NEG_X, share: 0.5 }],
            &liquid,
            4e-9,
        );
        necks.relax(5e-3);
        let after_5_ms = necks.get(3).expect("still there")[0].offset.x;
        assert!((0.5..0.9).contains(&after_5_ms), "{after_5_ms}");
        necks.relax(0.1);
        assert!(necks.get(3).is_none());
    }
}
