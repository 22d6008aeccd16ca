//! The nearest point of one triangle.

use glam::DVec3;

/// The face, edge or corner of a triangle that contains a point. Edge `i` joins corners `i` and `i
/// + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

/// The nearest point of a triangle, as `a + v (b − a) + w (c − a)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub v: f64,
    pub w: f64,
    pub feature: Feature,
}

/// A triangle prepared for nearest-point queries: a corner, two edges and their dot products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    a: DVec3,
    ab: DVec3,
    ac: DVec3,
    ab_ab: f64,
    ab_ac: f64,
    ac_ac: f64,
}

impl Triangle {
    pub fn new([a, b, c]: [DVec3; 3]) -> Self {
        let (ab, ac) = (b - a, c - a);
        Self { a, ab, ac, ab_ab: ab.dot(ab), ab_ac: ab.dot(ac), ac_ac: ac.dot(ac) }
    }

    /// The vector from the point of the triangle with these coordinates to `point`.
    pub fn offset(&self, point: DVec3, v: f64, w: f64) -> DVec3 {
        point - self.a - self.ab * v - self.ac * w
    }

    /// The nearest point, by the Voronoi region of `point` (ericson2005).
    ///
    /// With `d1 = ab·ap` and `d2 = ac·ap`, the other projections follow by subtraction, and the
    /// barycentric coordinates from the normal equations, without cancellation of large products.
    #[inline(always)]
    pub fn nearest(&self, point: DVec3) -> Nearest {
        let ap = point - self.a;
        let (d1, d2) = (self.ab.dot(ap), self.ac.dot(ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return Nearest { v: 0.0, w: 0.0, feature: Feature::Corner(0) };
        }
        let (d3, d4) = (d1 - self.ab_ab, d2 - self.ab_ac);
        if d3 >= 0.0 && d4 <= d3 {
            return Nearest { v: 1.0, w: 0.0, feature: Feature::Corner(1) };
        }
        let (d5, d6) = (d1 - self.ab_ac, d2 - self.ac_ac);
        if d6 >= 0.0 && d5 <= d6 {
            return Nearest { v: 0.0, w: 1.0, feature: Feature::Corner(2) };
        }
        let vc = self.ab_ab * d2 - self.ab_ac * d1;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return Nearest { v: d1 / self.ab_ab, w: 0.0, feature: Feature::Edge(0) };
        }
        let vb = self.ac_ac * d1 - self.ab_ac * d2;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return Nearest { v: 0.0, w: d2 / self.ac_ac, feature: Feature::Edge(2) };
        }
        let va = (self.ab_ab * self.ac_ac - self.ab_ac * self.ab_ac) - vb - vc;
        let (from_b, from_c) = (d4 - d3, d5 - d6);
        if va <= 0.0 && from_b >= 0.0 && from_c >= 0.0 {
            let w = from_b / (from_b + from_c);
            return Nearest { v: 1.0 - w, w, feature: Feature::Edge(1) };
        }
        let scale = (va + vb + vc).recip();
        Nearest { v: vb * scale, w: vc * scale, feature: Feature::Face }
    }
}
