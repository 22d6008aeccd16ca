//! One triangle: its nearest point to a point, and where a ray meets it.

use glam::DVec3;

/// The part of a triangle that a point lies on. Edge `i` joins corners `i` and `i + 1`.
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

/// A triangle, laid out for nearest-point queries: a corner, two sides and their products.
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

    /// From the point of the triangle with these coordinates to `point`.
    pub fn offset(&self, point: DVec3, v: f64, w: f64) -> DVec3 {
        point - self.a - self.ab * v - self.ac * w
    }

    /// The nearest point, by the region that `point` projects into (ericson2005).
    ///
    /// With `d1 = ab·ap` and `d2 = ac·ap`, the other projections follow by subtraction, and the barycentric
    /// coordinates from the normal equations, without the products of large numbers that cancel.
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

/// A ray prepared for triangles: sheared so that it runs along +z from the origin (woop2013).
pub(super) struct Ray {
    origin: DVec3,
    axes: [usize; 3],
    shear: DVec3,
}

/// Where a ray meets a triangle.
pub(super) struct Crossing {
    pub t: f64,
    pub barycentrics: DVec3,
}

impl Ray {
    pub fn new(origin: DVec3, direction: DVec3) -> Self {
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        // Keeps the winding of triangles.
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        let shear = DVec3::new(direction[x] / direction[z], direction[y] / direction[z], direction[z].recip());
        Self { origin, axes: [x, y, z], shear }
    }

    /// The crossing with a triangle, from either side. Edges count for both their triangles: no ray passes between.
    pub fn cross(&self, corners: [DVec3; 3]) -> Option<Crossing> {
        let [x, y, z] = self.axes;
        let [a, b, c] = corners.map(|p| {
            let p = p - self.origin;
            DVec3::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], self.shear.z * p[z])
        });
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let determinant = u + v + w;
        if determinant == 0.0 {
            return None;
        }
        let barycentrics = DVec3::new(u, v, w) / determinant;
        let t = barycentrics.dot(DVec3::new(a.z, b.z, c.z));
        (t >= 0.0).then_some(Crossing { t, barycentrics })
    }
}
