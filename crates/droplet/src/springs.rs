//! Display shape of the reproduction mode: masses and springs (fournier1998, §3).
//!
//! M slices and N levels of points and an apex stand on a plane, in units of the droplet's radius r
//! (length) and γ (stiffness):
//!
//! - basis points are held in the plane by stiff springs and pushed away from the guide point by
//!   springs of a very large rest length;
//! - longitudinal springs of zero rest length join each level to the next and the last to the apex;
//! - transverse springs close each level, with rest length and stiffness (N + 1 − i)/N of those of
//!   the basis, which are quasi-rigid;
//! - one solco link keeps Σ αᵢ hᵢ and thus the volume.
//!
//! **The weights of the solco link.** When level i is the basis scaled by sᵢ = (N + 1 − i)/N, the
//! body between two levels is a frustum of volume (S/3)(hᵢ₊₁ − hᵢ)(sᵢ² + sᵢsᵢ₊₁ + sᵢ₊₁²). With k =
//! N + 1 − i the bracket is (3k² − 3k + 1)/N² = (k³ − (k − 1)³)/N²; collecting the factors of each
//! height,
//!
//! ```text
//! V = S/(3N²) Σ αᵢ hᵢ        αᵢ = 6 (N + 1 − i) for 2 ≤ i ≤ N,   α_{N+1} = 1        (h₁ = 0)
//! ```
//!
//! The balance is found by damped motion. All forces on a level are equal, so each level stays a
//! translated and scaled copy of the basis, as the paper proves and a test checks.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;

/// Stiffness of the basis against the plane and around it, in γ: quasi-rigid.
const RIGID: f64 = 60.0;
/// Rest length of the springs that widen the basis, in r.
const GUIDE_LENGTH: f64 = 20.0;
/// Largest residual force on a point at balance, in γr.
const MAX_RESIDUAL: f64 = 1e-6;
/// Forces are rounded to this fraction of γr for the cache, and clamped to the strongest, in γr.
const FORCE_STEPS: f64 = 16.0;
const MAX_FORCE: f64 = 3.0;
/// Largest number of steps of the damped motion.
const MAX_STEPS: usize = 20_000;

/// Spring constants, in γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Springs {
    /// Slices M, at least 3.
    pub slices: usize,
    /// Levels N, at least 1.
    pub levels: usize,
    /// Longitudinal stiffness k_l.
    pub longitudinal: f64,
    /// Transverse stiffness k_t of the basis.
    pub transverse: f64,
    /// Stiffness from the guide point to the basis.
    pub guide: f64,
    /// Stiffness k_s of the volume link.
    pub volume: f64,
}

impl Default for Springs {
    /// M = 3 and N = 2 as in the paper; a droplet of 4 µL of water leans visibly.
    fn default() -> Self {
        Self { slices: 3, levels: 2, longitudinal: 1.0, transverse: RIGID, guide: 0.02, volume: 20.0 }
    }
}

/// A droplet in balance, in units of its radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Points, level by level from the basis, slice by slice, then the apex.
    pub points: Vec<DVec3>,
    /// Number of steps taken.
    pub steps: usize,
}

impl Springs {
    /// Weight αᵢ of level `i` (1 for the basis, N + 1 for the apex) in the volume.
    pub fn weight(&self, i: usize) -> f64 {
        let n = self.levels;
        match i {
            1 => 0.0,
            i if i <= n => 6.0 * (n + 1 - i) as f64,
            _ => 1.0,
        }
    }

    fn index(&self, level: usize, slice: usize) -> usize {
        if level == self.levels { self.levels * self.slices } else { level * self.slices + slice % self.slices }
    }

    /// Balance of a droplet of unit radius and `volume` (in r³) under a `force` (in γr, z out of
    /// the plane) distributed over its points.
    pub fn balance(&self, volume: f64, force: DVec3) -> Balance {
        let (m, n) = (self.slices, self.levels);
        let scale = |level: usize| (n - level) as f64 / n as f64;
        let side = 2.0 * (PI / m as f64).sin();
        let area = 0.5 * m as f64 * (TAU / m as f64).sin();
        let wanted = 3.0 * (n * n) as f64 * volume / area;
        // Start from a cone of the right volume.
        let height = 3.0 * volume / area;
        let mut points: Vec<DVec3> = (0..n)
            .flat_map(|level| (0..m).map(move |slice| (level, slice)))
            .map(|(level, slice)| {
                let (sin, cos) = (TAU * slice as f64 / m as f64).sin_cos();
                DVec3::new(cos * scale(level), sin * scale(level), height * (1.0 - scale(level)))
            })
            .collect();
        points.push(DVec3::new(0.0, 0.0, height));
        let share = force / points.len() as f64;
        let mut velocities = vec![DVec3::ZERO; points.len()];
        let mut forces = vec![DVec3::ZERO; points.len()];
        // Unit masses: the stiffest spring sets the step, and drag damps the slowest motion
        // quickly.
        let stiffest = 4.0 * (RIGID.max(self.transverse) + self.longitudinal) + self.volume * (n * m + 1) as f64 * 6.0;
        let dt = 0.7 / stiffest.sqrt();
        let drag = 2.0 * (0.3 * self.longitudinal).sqrt();
        let mut steps = 0;
        while steps < MAX_STEPS {
            steps += 1;
            self.forces(&points, share, wanted, side, &mut forces);
            let worst = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
            if worst < MAX_RESIDUAL {
                break;
            }
            for ((point, velocity), force) in points.iter_mut().zip(&mut velocities).zip(&forces) {
                *velocity = (*velocity + *force * dt) / (1.0 + drag * dt);
                *point += *velocity * dt;
            }
        }
        Balance { points, steps }
    }

    fn forces(&self, points: &[DVec3], share: DVec3, wanted: f64, side: f64, forces: &mut [DVec3]) {
        let (m, n) = (self.slices, self.levels);
        forces.fill(share);
        let spring = |forces: &mut [DVec3], a: usize, b: usize, stiffness: f64, rest: f64| {
            let way = points[b] - points[a];
            let length = way.length();
            let pull = if length > 0.0 { way * (stiffness * (1.0 - rest / length)) } else { DVec3::ZERO };
            forces[a] += pull;
            forces[b] -= pull;
        };
        let mut sum = 0.0;
        for level in 0..=n {
            let weight = self.weight(level + 1) / if level == n { 1.0 } else { m as f64 };
            let count = if level == n { 1 } else { m };
            sum += (0..count).map(|slice| weight * points[self.index(level, slice)].z).sum::<f64>();
        }
        let push = self.volume * (wanted - sum);
        for level in 0..n {
            let part = (n - level) as f64 / n as f64;
            for slice in 0..m {
                let at = self.index(level, slice);
                let stiffness = if level == 0 { self.transverse.max(RIGID) } else { self.transverse * part };
                spring(forces, at, self.index(level, slice + 1), stiffness, side * part);
                spring(forces, at, self.index(level + 1, slice), self.longitudinal, 0.0);
                if level == 0 {
                    // Springs of the plane and of the guide point.
                    forces[at].z -= RIGID * points[at].z;
                    let out = points[at].with_z(0.0);
                    forces[at] += out.normalize_or_zero() * (self.guide * (GUIDE_LENGTH - out.length()).max(0.0));
                } else {
                    forces[at].z += push;
                }
            }
        }
        forces[n * m].z += push;
        // The basis is centered on the guide point.
        let drift = (0..m).map(|slice| points[slice]).sum::<DVec3>().with_z(0.0) / m as f64;
        forces[..m].iter_mut().for_each(|force| *force -= drift * RIGID);
    }
}

/// Balances by force.
///
/// A force is rounded to sixteenths of γr and the balance is computed for the rounded force, so the
/// shape does not depend on the order of requests.
#[derive(Debug)]
pub struct BalanceCache {
    springs: Springs,
    found: Mutex<BTreeMap<[i32; 2], Arc<Balance>>>,
}

impl BalanceCache {
    /// An empty cache.
    pub fn new(springs: Springs) -> Self {
        Self { springs, found: Mutex::default() }
    }

    /// The springs.
    pub fn springs(&self) -> &Springs {
        &self.springs
    }

    /// Balance of a hemisphere under a force `along` x in its plane and `out` of it, both in γr.
    pub fn of(&self, along: f64, out: f64) -> Arc<Balance> {
        let key = [along, out]
            .map(|part| (FORCE_STEPS * part).round().clamp(-FORCE_STEPS * MAX_FORCE, FORCE_STEPS * MAX_FORCE) as i32);
        // A panic while the lock was held leaves complete entries.
        let lock = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let [along, out] = key.map(|part| f64::from(part) / FORCE_STEPS);
        let balance = Arc::new(self.springs.balance(2.0 * PI / 3.0, DVec3::new(along, 0.0, out)));
        lock().insert(key, balance.clone());
        balance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume of the body whose levels are the scaled basis, in r³.
    fn volume_of(springs: &Springs, balance: &Balance) -> f64 {
        let (m, n) = (springs.slices, springs.levels);
        let basis: Vec<DVec3> = (0..m).map(|slice| balance.points[slice]).collect();
        let area: f64 = 0.5 * (0..m).map(|s| basis[s].truncate().perp_dot(basis[(s + 1) % m].truncate())).sum::<f64>();
        let height = |level: usize| {
            let count = if level == n { 1 } else { m };
            (0..count).map(|slice| balance.points[springs.index(level, slice)].z).sum::<f64>() / count as f64
        };
        area / (3.0 * (n * n) as f64) * (1..=n).map(|level| springs.weight(level + 1) * height(level)).sum::<f64>()
    }

    #[test]
    fn weights_are_those_of_stacked_frusta() {
        for levels in 1..6 {
            let springs = Springs { levels, ..Springs::default() };
            let heights: Vec<f64> = (0..=levels).map(|i| (i as f64).powf(0.7)).collect();
            let s = |i: usize| (levels - i) as f64 / levels as f64;
            let frusta: f64 = (0..levels)
                .map(|i| (heights[i + 1] - heights[i]) * (s(i) * s(i) + s(i) * s(i + 1) + s(i + 1) * s(i + 1)) / 3.0)
                .sum();
            let by_weights = (1..=levels).map(|i| springs.weight(i + 1) * heights[i]).sum::<f64>();
            let got = by_weights / (3.0 * (levels * levels) as f64);
            assert!((got / frusta - 1.0).abs() < 1e-12, "{levels} levels: {got} for {frusta}");
        }
    }

    /// Every level is the basis, translated and scaled by (N + 1 − i)/N, and the volume is kept.
    #[test]
    fn levels_are_the_basis_translated_and_scaled_and_the_volume_is_kept() {
        for (slices, levels) in [(3, 2), (5, 3), (8, 4)] {
            let springs = Springs { slices, levels, ..Springs::default() };
            let balance = springs.balance(2.0, DVec3::new(0.8, -0.3, -0.5));
            assert!(balance.steps < MAX_STEPS, "{slices} × {levels} did not come to rest");
            let at = |level: usize, slice: usize| balance.points[springs.index(level, slice)];
            for level in 1..levels {
                let part = (levels - level) as f64 / levels as f64;
                let shift = at(level, 0) - at(0, 0) * part;
                for slice in 1..slices {
                    let off = (at(level, slice) - at(0, slice) * part - shift).length();
                    // The springs of the basis give by about one per cent.
                    assert!(off < 1e-2, "level {level}, slice {slice}: off by {off:.1e}");
                }
            }
            let volume = volume_of(&springs, &balance);
            assert!((volume / 2.0 - 1.0).abs() < 0.05, "{slices} × {levels}: volume {volume}");
        }
    }

    #[test]
    fn a_lateral_force_leans_the_droplet_and_a_normal_one_does_not() {
        let springs = Springs::default();
        let upright = springs.balance(2.0, DVec3::NEG_Z);
        let apex = *upright.points.last().expect("an apex");
        assert!(apex.truncate().length() < 1e-4 && apex.z > 0.5, "{apex}");
        let leaning = springs.balance(2.0, DVec3::new(1.0, 0.0, -1.0));
        assert!(leaning.points.last().expect("an apex").x > 0.1, "{:?}", leaning.points.last());
        let far = springs.balance(2.0, DVec3::new(-1.0, 0.0, -1.0));
        assert!(far.points.last().expect("an apex").x < -0.1);
    }
}
