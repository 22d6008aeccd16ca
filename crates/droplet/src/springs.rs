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
//! - one solco link keeps Σ αᵢ hᵢ and thus the volume;
//! - the weight is distributed over the points as over a homogeneous surface: each carries the
//!   share of the base area that is nearest to it.
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
//! Along the normal the constraints a (volume) and d (weight) compete: the solco gives by its
//! stiffness, and the shape is then scaled to the droplet's volume, flatter and wider under a
//! weight and longer and narrower where it hangs. Its rest sum is such that nothing gives without a
//! force. The default stiffness flattens water droplets as Young–Laplace does at 90°.
//!
//! The balance is found by damped motion. All forces on a level are equal, so each level stays a
//! translated and scaled copy of the basis, as the paper proves and a test checks.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;
use sessile_numerics::math;

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
        Self { slices: 3, levels: 2, longitudinal: 0.7, transverse: RIGID, guide: 0.02, volume: 0.02 }
    }
}

/// A droplet in balance, in units of its radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Points, level by level from the basis, slice by slice, then the apex.
    pub points: Vec<DVec3>,
    /// Sum of heights over that without a force: below 1 under a weight, above where it hangs.
    pub height: f64,
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

    /// Share of the weight that each point of level `i` (1 for the basis, N + 1 for the apex)
    /// carries: the part of the base area between the middles to the next levels.
    pub fn weight_share(&self, i: usize) -> f64 {
        let n = self.levels as f64;
        let middle = |i: f64| ((n + 0.5 - i) / n).clamp(0.0, 1.0).powi(2);
        let outer = if i == 1 { 1.0 } else { middle(i as f64 - 1.0) };
        (outer - middle(i as f64)) / if i > self.levels { 1.0 } else { self.slices as f64 }
    }

    /// Rest sum of the solco link at which the balance without a force has the sum `wanted`.
    ///
    /// Under a force P on every point the longitudinal springs between the levels i and i + 1 carry
    /// P/M + (N − i) P each, which gives the heights.
    fn rest_sum(&self, wanted: f64) -> f64 {
        let (m, n) = (self.slices as f64, self.levels);
        let (mut height, mut sum) = (0.0, 0.0);
        for i in 1..=n {
            height += (1.0 / m + (n - i) as f64) / self.longitudinal;
            sum += self.weight(i + 1) * height;
        }
        wanted * (1.0 + 1.0 / (self.volume * sum))
    }

    /// Balance of a droplet of unit radius and `volume` (in r³) under a `force` (in γr, z out of
    /// the plane) distributed over its points.
    pub fn balance(&self, volume: f64, force: DVec3) -> Balance {
        let (m, n) = (self.slices, self.levels);
        let scale = |level: usize| (n - level) as f64 / n as f64;
        let side = 2.0 * math::sin(PI / m as f64);
        let area = 0.5 * m as f64 * math::sin(TAU / m as f64);
        let wanted = 3.0 * (n * n) as f64 * volume / area;
        let rest_sum = self.rest_sum(wanted);
        // Start from a cone of the right volume.
        let height = 3.0 * volume / area;
        let mut points: Vec<DVec3> = (0..n)
            .flat_map(|level| (0..m).map(move |slice| (level, slice)))
            .map(|(level, slice)| {
                let (sin, cos) = math::sin_cos(TAU * slice as f64 / m as f64);
                DVec3::new(cos * scale(level), sin * scale(level), height * (1.0 - scale(level)))
            })
            .collect();
        points.push(DVec3::new(0.0, 0.0, height));
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
            self.forces(&points, force, rest_sum, side, &mut forces);
            let worst = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
            if worst < MAX_RESIDUAL {
                break;
            }
            for ((point, velocity), force) in points.iter_mut().zip(&mut velocities).zip(&forces) {
                *velocity = (*velocity + *force * dt) / (1.0 + drag * dt);
                *point += *velocity * dt;
            }
        }
        let height = self.sum(&points) / wanted;
        Balance { points, height, steps }
    }

    /// Weighted sum of the heights, Σ αᵢ hᵢ.
    fn sum(&self, points: &[DVec3]) -> f64 {
        let (m, n) = (self.slices, self.levels);
        let mean = |level: usize| points[level * m..(level + 1) * m].iter().map(|p| p.z).sum::<f64>() / m as f64;
        let levels = (1..n).map(|level| self.weight(level + 1) * mean(level)).sum::<f64>();
        levels + self.weight(n + 1) * points[n * m].z
    }

    fn forces(&self, points: &[DVec3], force: DVec3, rest_sum: f64, side: f64, forces: &mut [DVec3]) {
        let (m, n) = (self.slices, self.levels);
        for (index, own) in forces.iter_mut().enumerate() {
            *own = force * self.weight_share(index / m + 1);
        }
        let spring = |forces: &mut [DVec3], a: usize, b: usize, stiffness: f64, rest: f64| {
            let way = points[b] - points[a];
            let length = way.length();
            let pull = if length > 0.0 { way * (stiffness * (1.0 - rest / length)) } else { DVec3::ZERO };
            forces[a] += pull;
            forces[b] -= pull;
        };
        let push = self.volume * (rest_sum - self.sum(points));
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
            let springs = Springs { slices, levels, volume: 20.0, ..Springs::default() };
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
    fn points_carry_the_whole_weight_as_a_homogeneous_surface() {
        for (slices, levels) in [(3, 2), (5, 3), (8, 4)] {
            let springs = Springs { slices, levels, ..Springs::default() };
            let of_levels: f64 = (1..=levels).map(|i| slices as f64 * springs.weight_share(i)).sum();
            let apex = springs.weight_share(levels + 1);
            assert!((of_levels + apex - 1.0).abs() < 1e-12, "{of_levels} and {apex}");
            // All points at the apex are one: its disc against the ring around it.
            let ring = slices as f64 * springs.weight_share(levels);
            assert!((ring / apex - 8.0).abs() < 1e-9, "{ring} and {apex}");
        }
    }

    /// Height over base radius of the force-free shape, relative to that under a weight (in γr):
    /// (h/b) ∝ s and b³ s is the volume.
    #[test]
    fn a_weight_flattens_a_droplet_and_a_pull_lengthens_it() {
        let springs = Springs::default();
        let height = |out: f64| springs.balance(2.0, DVec3::Z * out).height;
        assert!((height(0.0) - 1.0).abs() < 0.02, "{}", height(0.0));
        let heights: Vec<f64> = [-2.0, -1.0, -0.43, 0.0, 0.43, 1.0].into_iter().map(height).collect();
        assert!(heights.windows(2).all(|pair| pair[0] < pair[1]), "{heights:?}");
        // 4 and 40 µL of water.
        assert!(height(-2.02) / height(-0.435) < 0.9, "{} and {}", height(-2.02), height(-0.435));
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
