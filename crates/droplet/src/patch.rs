//! Control points of the patch of the reproduction mode (fournier1998, §3.4);
//! [`sessile_shapes::Patch`] is the surface.
//!
//! They are displaced at random by an amplitude that is zero at rest, largest at v₁ and decays at
//! high speed: a(v) = A (v/v₁) e^(1 − v/v₁).

use glam::{DMat2, DVec3};
use sessile_numerics::math;
use sessile_shapes::Patch;
use sessile_wetting::cube_root::cube_root;
use sessile_world::random::Stream;

use crate::springs::{Balance, Springs};

/// Largest displacement of a control point, in radii.
const AMPLITUDE: f64 = 0.08;
/// Speed v₁ of the largest displacement, in m/s.
const PEAK_SPEED: f64 = 0.05;
/// Key of the random stream of displacements.
const DISPLACEMENT: u64 = 0x5b11;

/// Amplitude of the random displacement at a speed (in m/s), in radii.
pub fn amplitude(speed: f64) -> f64 {
    let x = speed / PEAK_SPEED;
    AMPLITUDE * x * math::exp(1.0 - x)
}

/// The patch of droplet `id` of a radius (in m), its points displaced by up to `amplitude` radii.
///
/// The base is wider than the radius where the balance is lower than that without a force, such
/// that the patch has the droplet's volume: b³ ∝ 1/height.
/// `turn` rotates the x axis of the balance into the direction of the force. The basis stays in its
/// plane.
pub fn patch(
    balance: &Balance,
    springs: &Springs,
    radius: f64,
    turn: DMat2,
    (seed, id, amplitude): (u64, u32, f64),
) -> Patch {
    let mut random = (amplitude > 0.0).then(|| Stream::new(seed, &[DISPLACEMENT, u64::from(id)]));
    let points = balance.points.iter().enumerate().map(|(index, &point)| {
        let by = random.as_mut().map_or(DVec3::ZERO, |random| {
            let mut axis = || amplitude * (2.0 * random.uniform() - 1.0);
            DVec3::new(axis(), axis(), axis())
        });
        let point = point + if index < springs.slices { by.with_z(0.0) } else { by };
        (turn * point.truncate()).extend(point.z).as_vec3().to_array()
    });
    let base_radius = radius / cube_root(balance.height);
    Patch { base_radius, slices: springs.slices as u32, points: points.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displaced_points_keep_the_basis_in_its_plane_and_turn_with_the_force() {
        for (slices, levels) in [(3, 2), (6, 3), (4, 1)] {
            let springs = Springs { slices, levels, ..Springs::default() };
            let balance = springs.balance(2.0, DVec3::new(0.5, 0.0, -0.5));
            let (still, displaced) = (
                patch(&balance, &springs, 1e-3, DMat2::IDENTITY, (1, 7, 0.0)),
                patch(&balance, &springs, 1e-3, DMat2::IDENTITY, (1, 7, 0.05)),
            );
            assert!(still.is_sound() && displaced.is_sound());
            let moved = |k: usize| {
                let [a, b] = [still.points[k], displaced.points[k]].map(|p| glam::Vec3::from(p).as_dvec3());
                b - a
            };
            let count = still.points.len();
            assert!((0..count).all(|k| moved(k).length() > 0.0 && moved(k).abs().max_element() <= 0.0501));
            assert!((0..slices).all(|k| moved(k).z == 0.0));
            let back = patch(&balance, &springs, 1e-3, DMat2::from_angle(std::f64::consts::PI), (1, 7, 0.0));
            let apex = |p: &Patch| p.points[count - 1][0];
            assert!(
                apex(&still) > 0.01 && (apex(&still) + apex(&back)).abs() < 1e-6,
                "{} {}",
                apex(&still),
                apex(&back)
            );
        }
    }

    #[test]
    fn displacements_vanish_at_rest_and_at_high_speed() {
        assert_eq!(amplitude(0.0), 0.0);
        assert!((amplitude(PEAK_SPEED) - AMPLITUDE).abs() < 1e-12);
        assert!(amplitude(0.02) > 0.5 * AMPLITUDE && amplitude(1.0) < 1e-6);
    }
}
