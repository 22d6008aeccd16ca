//! Droplets that have just merged keep, for a moment, the places of those that they came from, so that a neck is seen.
//!
//! The parts draw together over about the droplet's capillary time √(ρV/γ), or in a thick liquid the time ηR/γ that viscosity needs.
//! This is for the eye: mass, place and momentum have merged at once.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_wetting::Liquid;

/// Most parts that a merged droplet is drawn with.
const MOST_PARTS: usize = 6;
/// Capillary times that the parts take to draw together.
const CAPILLARY_TIMES: f64 = 2.0;
/// Viscous times ηR/γ that they take at least: the wedge's logarithm.
const VISCOUS_TIMES: f64 = 12.0;
/// Time constants after which a neck is gone.
const LIFE: f64 = 5.0;

/// One of the droplets that a droplet was made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// From the droplet's centre, in the rest pose, in m.
    pub offset: DVec3,
    /// Of the droplet's volume.
    pub share: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Neck {
    parts: Vec<Part>,
    time_constant: f64,
    age: f64,
}

/// Necks, by slot of their droplet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Necks {
    necks: BTreeMap<u32, Neck>,
}

impl Necks {
    /// The parts of a droplet that has merged not long ago.
    pub fn get(&self, slot: u32) -> Option<&[Part]> {
        self.necks.get(&slot).map(|neck| neck.parts.as_slice())
    }

    /// The droplet in `goes` has joined the one in `stays`, from which it was `offset` away; volumes in m³ in that order.
    pub fn join(&mut self, stays: u32, goes: u32, volumes: [f64; 2], offset: DVec3, liquid: &Liquid) {
        let volume = volumes[0] + volumes[1];
        let shares = volumes.map(|part| part / volume);
        let mut parts = Vec::with_capacity(4);
        for (slot, share, moved) in [(stays, shares[0], -offset * shares[1]), (goes, shares[1], offset * shares[0])] {
            match self.necks.remove(&slot) {
                Some(neck) => {
                    parts.extend(neck.parts.iter().map(|p| Part { offset: p.offset + moved, share: p.share * share }));
                }
                None => parts.push(Part { offset: moved, share }),
            }
        }
        while parts.len() > MOST_PARTS {
            absorb_smallest(&mut parts);
        }
        let capillary = (liquid.density * volume / liquid.surface_tension).sqrt();
        let viscous = liquid.dynamic_viscosity() * volume.cbrt() / liquid.surface_tension;
        let time_constant = (CAPILLARY_TIMES * capillary).max(VISCOUS_TIMES * viscous);
        self.necks.insert(stays, Neck { parts, time_constant, age: 0.0 });
    }

    /// A droplet is gone.
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

/// Joins the smallest part with the one nearest to it, about their common centre.
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
    use crate::law::tests::WATER;

    #[test]
    fn a_neck_keeps_its_centre_and_closes_within_the_droplets_own_time() {
        let mut necks = Necks::default();
        necks.join(3, 5, [3e-9, 1e-9], DVec3::X * 2e-3, &WATER);
        necks.join(3, 8, [4e-9, 1e-9], DVec3::Y * 3e-3, &WATER);
        let parts = necks.get(3).expect("there");
        let (centre, sum) = parts.iter().fold((DVec3::ZERO, 0.0), |(c, s), p| (c + p.offset * p.share, s + p.share));
        assert!(parts.len() == 3 && centre.length() < 1e-18 && (sum - 1.0).abs() < 1e-12, "{parts:?}");
        let first = parts[0].offset.length();
        necks.relax(5e-3);
        let later = necks.get(3).expect("still there")[0].offset.length() / first;
        assert!((0.5..0.9).contains(&later), "{later}");
        necks.relax(0.2);
        assert!(necks.get(3).is_none());
    }
}
