//! Exact geometric predicates: signs of orientation determinants of points in double precision.
//!
//! A determinant is computed in floating point first, with a bound on its rounding error
//! (shewchuk1997, §4). Only if that leaves the sign undecided, it is computed as an exact sum of
//! doubles. Products of three differences are exact while coordinates are between 1e-90 and 1e90.

use glam::{DVec2, DVec3};

/// Half the distance from 1 to the next double.
const EPSILON: f64 = 0.5 * f64::EPSILON;
/// Bounds on the relative rounding of the two determinants (shewchuk1997, fig. 21 and §4.2).
const BOUND_2D: f64 = (3.0 + 16.0 * EPSILON) * EPSILON;
const BOUND_3D: f64 = (7.0 + 56.0 * EPSILON) * EPSILON;

/// Positive if a, b, c are counterclockwise, negative if they are clockwise, zero on a line. The
/// sign is exact.
pub(crate) fn orient_2d(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let (left, right) = ((a.x - c.x) * (b.y - c.y), (a.y - c.y) * (b.x - c.x));
    let det = left - right;
    if det.abs() > BOUND_2D * (left.abs() + right.abs()) {
        return det;
    }
    let [ax, ay, bx, by] = [(a.x, c.x), (a.y, c.y), (b.x, c.x), (b.y, c.y)].map(|(p, q)| Sum::difference(p, q));
    ax.times(&by).minus(&ay.times(&bx)).sign()
}

/// Positive if d is below the plane of a, b, c, from where these are clockwise; zero on the plane.
/// The sign is exact.
pub fn orient_3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let (p, q, r) = (a - d, b - d, c - d);
    let minors = [(q.x * r.y, r.x * q.y), (r.x * p.y, p.x * r.y), (p.x * q.y, q.x * p.y)];
    let heights = [p.z, q.z, r.z];
    let (mut det, mut size) = (0.0, 0.0);
    for ((plus, minus), height) in minors.into_iter().zip(heights) {
        det += height * (plus - minus);
        size += (plus.abs() + minus.abs()) * height.abs();
    }
    if det.abs() > BOUND_3D * size {
        return det;
    }
    let exact = |v: DVec3| [(v.x, d.x), (v.y, d.y), (v.z, d.z)].map(|(p, q)| Sum::difference(p, q));
    let [[px, py, pz], [qx, qy, qz], [rx, ry, rz]] = [exact(a), exact(b), exact(c)];
    let minor = |ux: &Sum, uy: &Sum, vx: &Sum, vy: &Sum| ux.times(vy).minus(&vx.times(uy));
    let first = minor(&qx, &qy, &rx, &ry).times(&pz);
    let second = minor(&rx, &ry, &px, &py).times(&qz);
    let third = minor(&px, &py, &qx, &qy).times(&rz);
    first.plus(&second).plus(&third).sign()
}

/// An exact number: a sum of nonoverlapping doubles in ascending order of magnitude.
#[derive(Clone, Debug, Default)]
struct Sum(Vec<f64>);

impl Sum {
    fn difference(a: f64, b: f64) -> Self {
        let (sum, error) = two_sum(a, -b);
        Self(vec![error, sum])
    }

    /// Adds one double (shewchuk1997, fig. 6).
    fn add(&mut self, mut x: f64) {
        let mut kept = Vec::with_capacity(self.0.len() + 1);
        for &term in &self.0 {
            let (sum, error) = two_sum(x, term);
            if error != 0.0 {
                kept.push(error);
            }
            x = sum;
        }
        if x != 0.0 {
            kept.push(x);
        }
        self.0 = kept;
    }

    fn plus(mut self, other: &Self) -> Self {
        other.0.iter().for_each(|&term| self.add(term));
        self
    }

    fn minus(mut self, other: &Self) -> Self {
        other.0.iter().for_each(|&term| self.add(-term));
        self
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for &a in &self.0 {
            for &b in &other.0 {
                let high = a * b;
                product.add(a.mul_add(b, -high));
                product.add(high);
            }
        }
        product
    }

    /// The largest term, which has the sign of the sum.
    fn sign(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }
}

/// The rounded sum of two doubles, and its rounding error (knuth1997, §4.2.2).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_one_ulp_from_a_line_are_classified_correctly() {
        let (a, b) = (DVec2::new(12.0, 12.0), DVec2::new(24.0, 24.0));
        for i in 0..40 {
            for j in 0..40 {
                let c = DVec2::new(0.5 + f64::from(i) * EPSILON, 0.5 + f64::from(j) * EPSILON);
                // Doubles above ½ are two of these apart, so some neighbors are rounded to the same
                // number.
                let expected = c.y.total_cmp(&c.x) as i32;
                let sign = orient_2d(a, b, c);
                assert_eq!(sign.partial_cmp(&0.0).map(|o| o as i32), Some(expected), "{i}, {j}: {sign}");
            }
        }
    }

    #[test]
    fn points_one_ulp_from_a_plane_are_classified_correctly() {
        // x + y + z = 3 at points whose differences are rounded.
        let (a, b, c) = (DVec3::new(3.0, 0.0, 0.0), DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.0, 0.0, 3.0));
        let on = DVec3::new(0.1, 2.9, 0.0);
        let exact = |p: DVec3| Sum::difference(p.x, 3.0).plus(&Sum::difference(p.y, -p.z)).sign();
        for steps in -3..=3 {
            let mut p = on;
            for _ in 0..i32::abs(steps) {
                p.y = if steps > 0 { p.y.next_up() } else { p.y.next_down() };
            }
            // d is below the plane where the sum falls short of 3.
            let (found, expected) = (orient_3d(a, b, c, p), -exact(p));
            assert_eq!(found.partial_cmp(&0.0), expected.partial_cmp(&0.0), "{steps}: {found} and {expected}");
        }
        let flat = [DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.7, 0.2, 0.3), DVec3::new(0.1, 0.9, 0.3)];
        assert_eq!(orient_3d(flat[0], flat[1], flat[2], DVec3::new(0.35, 0.123, 0.3)), 0.0);
    }
}
