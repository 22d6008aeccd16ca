//! Depth inside walls that touch or overlap.
//!
//! The least of the signed distances to several solids is that to their union outside of it, but
//! not inside: on the face between two boxes that stand side by side it is zero. Taken for a wall,
//! that seam would have liquid on both of its sides: φ in each box would be extended from φ in the
//! other, and fall without bound below 90°, so that drops appear where the seam ends.
//!
//! A point of a wall is *covered* where another wall is within [`EXPOSED`] of it. A place inside
//! whose nearest point is covered gets its distance to the nearest part that is not, from points
//! around it that lie outside all walls. Exact for planes; places deeper than
//! [`SOLID_BAND`](crate::solids::SOLID_BAND) have that depth. Outside the domain nothing is
//! corrected.

use glam::DVec3;

use crate::solids::{Boundaries, SOLID_BAND};

/// Clearance in front of a wall from which liquid could touch it, in cells.
const EXPOSED: f64 = 0.02;
/// Distances at which a way out is looked for, in cells.
const DISTANCES: [f64; 4] = [1.0, 2.0, 4.0, SOLID_BAND];

/// Signed distances from a point to the scene's solids.
#[derive(Clone, Copy, Debug)]
pub struct SolidDistances {
    /// The nearest solid, the first of equally near ones.
    pub nearest: Option<usize>,
    /// The two least distances, infinite where there are fewer solids, in m.
    pub least: [f64; 2],
}

impl SolidDistances {
    fn add(mut self, distance: f64, index: impl FnOnce() -> Option<usize>) -> Self {
        let [least, second] = self.least;
        if distance < least {
            (self.least, self.nearest) = ([distance, least], index());
        } else {
            self.least[1] = second.min(distance);
        }
        self
    }
}

/// A point of a wall.
struct Foot {
    point: DVec3,
    normal: DVec3,
}

impl Boundaries<'_> {
    /// Signed distance to the surface of all walls together, without mirrors, in m; `h` is the side
    /// of a cell (in m).
    pub fn union_distance(&self, point: DVec3, h: f64) -> f64 {
        self.union_distance_from(&self.solid_distances(point), point, h)
    }

    /// The same, from the distances to the solids.
    pub fn union_distance_from(&self, solids: &SolidDistances, point: DVec3, h: f64) -> f64 {
        let [nearest, second] = self.with_sides(*solids, point).least;
        let is_alone = second > -nearest + 2.0 * EXPOSED * h;
        if nearest > EXPOSED * h || nearest < -SOLID_BAND * h || is_alone || self.is_beyond_side(point) {
            return nearest;
        }
        match self.foot(point) {
            Some(foot) if !self.is_exposed(&foot, h) => -self.depth_below_exposed(point, h),
            _ => nearest,
        }
    }

    /// Whether a place is outside the domain.
    fn is_beyond_side(&self, point: DVec3) -> bool {
        self.sides.iter().any(|side| !side.symmetry && side.normal.dot(point) < side.offset)
    }

    /// Signed distances to the solids.
    pub fn solid_distances(&self, point: DVec3) -> SolidDistances {
        let none = SolidDistances { nearest: None, least: [f64::INFINITY; 2] };
        let distances = self.world.solids().iter().map(|solid| solid.signed_distance(point)).enumerate();
        distances.fold(none, |found, (index, distance)| found.add(distance, || Some(index)))
    }

    /// Adds the sides of the domain, without mirrors.
    fn with_sides(&self, solids: SolidDistances, point: DVec3) -> SolidDistances {
        let sides = self.sides.iter().filter(|side| !side.symmetry).map(|side| side.normal.dot(point) - side.offset);
        sides.fold(solids, |found, distance| found.add(distance, || None))
    }

    /// The two least signed distances to walls, in m.
    fn two_least_distances(&self, point: DVec3) -> [f64; 2] {
        self.with_sides(self.solid_distances(point), point).least
    }

    /// The nearest point of a wall.
    fn foot(&self, point: DVec3) -> Option<Foot> {
        let solid = self.world.closest(point).map(|(_, near)| (near.distance, near.point, near.normal));
        let sides = self.sides.iter().filter(|side| !side.symmetry).map(|side| {
            let distance = side.normal.dot(point) - side.offset;
            (distance, point - distance * side.normal, side.normal)
        });
        let (_, point, normal) = solid.into_iter().chain(sides).min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Foot { point, normal })
    }

    /// Whether no other wall covers a point of a wall.
    fn is_exposed(&self, foot: &Foot, h: f64) -> bool {
        let [clearance, _] = self.two_least_distances(foot.point + EXPOSED * h * foot.normal);
        clearance > 0.5 * EXPOSED * h
    }

    /// Depth of a place in walls below the nearest part of their surface that is exposed, in m.
    fn depth_below_exposed(&self, point: DVec3, h: f64) -> f64 {
        let is_outside = |at: DVec3| self.two_least_distances(at)[0] > EXPOSED * h;
        for distance in DISTANCES {
            let ways = self.directions().map(|way| point + distance * h * way).filter(|&at| is_outside(at));
            let depth = ways.filter_map(|at| self.depth_below(point, at, h)).fold(f64::INFINITY, f64::min);
            if depth.is_finite() {
                return depth.min(SOLID_BAND * h);
            }
        }
        SOLID_BAND * h
    }

    /// Depth of a place below the wall nearest to a point outside: to its plane where that is
    /// exposed above the place, or else to its nearest point.
    fn depth_below(&self, point: DVec3, outside: DVec3, h: f64) -> Option<f64> {
        let foot = self.foot(outside)?;
        let normal = (outside - foot.point).try_normalize()?;
        let depth = (foot.point - point).dot(normal);
        let above = Foot { point: point + depth * normal, normal };
        let is_on_wall = || self.two_least_distances(above.point)[0].abs() < EXPOSED * h;
        let is_below = depth > 0.0 && is_on_wall() && self.is_exposed(&above, h);
        Some(if is_below { depth } else { (foot.point - point).length() })
    }

    /// Directions to the 26 neighbors of a cell, in planar runs to those in the plane.
    fn directions(&self) -> impl Iterator<Item = DVec3> {
        let layers = if self.world.planar() { 0..=0 } else { -1..=1 };
        let all = layers.flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
        all.filter(|&way| way != [0; 3]).map(|way| DVec3::from(way.map(f64::from)).normalize())
    }
}
