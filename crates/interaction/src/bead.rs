//! The liquid on a wiping tool.
//!
//! A tool holds a bead: a blade up to 3 µL per mm of its length, a finger up to what hangs from it.
//! What is more runs off at its lower end. A blade that is lifted leaves its bead on the solid as a
//! cylinder, which breaks up into drops 9 radii apart, the fastest growing wavelength of a thin
//! cylinder (`rayleigh1878`); a finger leaves one drop.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_model::{Model, Tool};

/// Largest bead of a blade per length, in m².
const BLADE_CAPACITY: f64 = 3e-6;
/// Largest bead of a finger, in m³.
const FINGER_CAPACITY: f64 = 20e-9;
/// Distance of the drops of a broken bead, in radii of the cylinder.
const SPACING: f64 = 9.0;
/// Largest number of drops of a broken bead.
const MAX_DROPS: f64 = 64.0;

/// The liquid on the tool in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bead {
    /// In m³.
    pub volume: f64,
}

/// A drop that leaves a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shed {
    /// Its center, in m.
    pub at: DVec3,
    /// In m³.
    pub volume: f64,
}

impl Bead {
    /// Lets a tool at `middle` on a solid with this normal lose what it cannot hold, and all of it
    /// where it is lifted. What finds no place stays on the tool.
    pub fn shed(&mut self, model: &mut dyn Model, tool: Tool, middle: DVec3, normal: DVec3, lifted: bool) {
        let gravity = model.world().gravity();
        let normal = normal.normalize_or_zero();
        let down = (gravity - normal * gravity.dot(normal)).normalize_or_zero();
        let mut shed: Vec<_> = self.overflow(tool, middle, down).into_iter().collect();
        if lifted {
            shed.extend(self.lift(tool, middle, down));
        }
        for drop in shed {
            if model.add(drop.at, DVec3::ZERO, drop.volume).is_err() {
                self.volume += drop.volume;
            }
        }
    }

    /// What runs off a tool at `middle` (in m), where `down` is the direction of gravity.
    pub fn overflow(&mut self, tool: Tool, middle: DVec3, down: DVec3) -> Option<Shed> {
        let (capacity, end) = match tool {
            Tool::Blade { half } => {
                let low = if half.dot(down) >= 0.0 { half } else { -half };
                (BLADE_CAPACITY * 2.0 * half.length(), low)
            }
            Tool::Finger { radius } => (FINGER_CAPACITY, down * (1.2 * radius)),
        };
        let volume = self.volume - capacity;
        (volume > 0.0).then(|| {
            self.volume = capacity;
            Shed { at: middle + end, volume }
        })
    }

    /// What a tool leaves when it is lifted.
    pub fn lift(&mut self, tool: Tool, middle: DVec3, down: DVec3) -> Vec<Shed> {
        let volume = std::mem::take(&mut self.volume);
        if volume <= 0.0 {
            return Vec::new();
        }
        match tool {
            Tool::Finger { radius } => vec![Shed { at: middle + down * (0.8 * radius), volume }],
            Tool::Blade { half } => {
                let length = 2.0 * half.length();
                let radius = (volume / (std::f64::consts::PI * length)).sqrt();
                let count = (length / (SPACING * radius)).round().clamp(1.0, MAX_DROPS);
                let at = |k: u32| middle + half * (2.0 * (f64::from(k) + 0.5) / count - 1.0);
                (0..count as u32).map(|k| Shed { at: at(k), volume: volume / count }).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bead_sheds_what_it_cannot_hold_and_breaks_up_when_lifted() {
        let tool = Tool::Blade { half: DVec3::new(0.05, 0.01, 0.0) };
        let mut bead = Bead { volume: 500e-9 };
        let shed = bead.overflow(tool, DVec3::ZERO, DVec3::NEG_Y).expect("half a milliliter is too much");
        assert!(shed.at.y < 0.0, "it runs off at the lower end");
        assert!((shed.volume + bead.volume - 500e-9).abs() < 1e-18);
        assert!(bead.overflow(tool, DVec3::ZERO, DVec3::NEG_Y).is_none());
        let held = bead.volume;
        let drops = bead.lift(tool, DVec3::ZERO, DVec3::NEG_Y);
        let total: f64 = drops.iter().map(|drop| drop.volume).sum();
        assert!((total / held - 1.0).abs() < 1e-12 && bead.volume == 0.0);
        // A cylinder of 100 mm and 3 mm² has a radius of 0.98 mm: 102 / 8.8 drops.
        assert_eq!(drops.len(), 12);
    }
}
