//! Axisymmetric modes of a closed surface.
//!
//! The radius around a center is expanded in Legendre polynomials of cos ϑ, with ϑ the angle to the
//! x axis: a_l = ∮ r P_l(cos ϑ) dΩ. The solid angle of a triangle is integrated at its three
//! points of second order.

use glam::DVec3;

/// Amplitudes a_l of the first `N` modes of the radius around the origin, in m sr.
///
/// `triangles` are corners relative to the center, counterclockwise from outside.
pub fn surface_modes<const N: usize>(triangles: impl Iterator<Item = [DVec3; 3]>) -> [f64; N] {
    let mut modes = [0.0; N];
    for [a, b, c] in triangles {
        let third = (b - a).cross(c - a) / 6.0;
        for point in [(a * 4.0 + b + c) / 6.0, (a + b * 4.0 + c) / 6.0, (a + b + c * 4.0) / 6.0] {
            let r = point.length();
            let (angle, x) = (third.dot(point) / (r * r * r), point.x / r);
            // Bonnet's recurrence, (l + 2) P_(l+2) = (2l + 3) x P_(l+1) − (l + 1) P_l.
            let (mut here, mut next) = (1.0, x);
            for (l, mode) in modes.iter_mut().enumerate() {
                *mode += angle * r * here;
                let l = l as f64;
                (here, next) = (next, ((2.0 * l + 3.0) * x * next - (l + 1.0) * here) / (l + 2.0));
            }
        }
    }
    modes
}

/// Amplitude of the modes above `highest` relative to the mean radius: √(Σ (2l + 1) a_l²) / a_0.
pub fn amplitude_above(modes: &[f64], highest: usize) -> f64 {
    let power = |(l, mode): (usize, &f64)| mode * mode * (2 * l + 1) as f64;
    modes.iter().enumerate().skip(highest + 1).map(power).sum::<f64>().sqrt() / modes[0]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// An octahedron whose faces are divided `levels` times, projected to r(cos ϑ).
    fn ball(levels: u32, radius: impl Fn(f64) -> f64) -> Vec<[DVec3; 3]> {
        let signs = [1.0, -1.0];
        let mut faces = Vec::new();
        for (x, y, z) in signs.iter().flat_map(|x| signs.iter().flat_map(move |y| signs.map(|z| (*x, *y, z)))) {
            let corners = [DVec3::X * x, DVec3::Y * y, DVec3::Z * z];
            faces.push(if x * y * z > 0.0 { corners } else { [corners[0], corners[2], corners[1]] });
        }
        for _ in 0..levels {
            let divide = |[a, b, c]: [DVec3; 3]| {
                let [d, e, f] = [a + b, b + c, c + a].map(DVec3::normalize);
                [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
            };
            faces = faces.into_iter().flat_map(divide).collect();
        }
        faces.into_iter().map(|face| face.map(|point| point * radius(point.x))).collect()
    }

    #[test]
    fn a_sphere_has_mode_0_only_and_a_dent_the_mode_it_was_made_of() {
        let sphere: [f64; 8] = surface_modes(ball(5, |_| 2.0).into_iter());
        assert!((sphere[0] / (8.0 * PI) - 1.0).abs() < 2e-3 && amplitude_above(&sphere, 0) < 1e-3, "{sphere:?}");
        // P_3 with an amplitude of 0.02: ∮ P_3² dΩ = 4π/7.
        let dented: [f64; 8] = surface_modes(ball(5, |x| 1.0 + 0.01 * (5.0 * x * x - 3.0) * x).into_iter());
        let mode = dented[3] / (0.02 * 4.0 * PI / 7.0);
        assert!((mode - 1.0).abs() < 0.02 && amplitude_above(&dented, 3) < 1e-3, "{dented:?}");
    }
}
