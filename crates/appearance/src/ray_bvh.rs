//! Ray–triangle intersection: a BVH of four-wide nodes whose leaves hold four triangles in SIMD
//! layout.
//!
//! Everything is single precision about a common origin. Triangles use the watertight test of Woop
//! et al. (woop2013): the ray is sheared onto an axis and three edge functions decide, so that an
//! edge shared by two triangles gives both the same result and no ray passes between them. Boxes
//! are widened by a few ulps (ize2013).
//!
//! With motion, corners move linearly from shutter opening (time 0) to closing (time 1); a box
//! bounds both end positions and thus everything between.

use glam::{DVec3, Vec3, Vec4};
use sessile_geometry::bvh::{Bounds, Child, FourWide, LEAF, Node};

/// Depth after which nodes are split into equal halves, which bounds the tree's depth.
const MAX_UNEVEN_DEPTH: usize = 24;

/// Size of the traversal stack: three nodes for each of 24 uneven and 16 even four-wide levels, and
/// a few more.
const STACK: usize = 128;

/// Minimum hit distance of a ray that starts on a triangle, relative to its origin's coordinates:
/// near a shared edge, rounding may put the origin behind the neighboring triangle. It is some tens
/// of nanometers in a scene of 10 cm.
const MIN_DISTANCE: f32 = 4e-7;

/// Factor on the far distance of a slab, so that no ray passes between boxes.
const WIDEN: f32 = 1.0 + 4.0 * f32::EPSILON;

/// A ray at a time of the shutter interval.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Its start, in m.
    pub origin: Vec3,
    /// Its direction, unit length.
    pub direction: Vec3,
    /// Time from 0 (shutter opens) to 1 (shutter closes).
    pub time: f32,
    /// The triangle that it starts on, which it cannot hit; none elsewhere.
    pub origin_triangle: Option<u32>,
}

/// A ray's intersection with a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleHit {
    /// Distance along the ray.
    pub distance: f32,
    /// Index of the triangle.
    pub triangle: u32,
    /// Barycentric weights of the second and third corner.
    pub weights: [f32; 2],
}

/// Four triangles: corners `[corner][axis]`.
#[derive(Clone, Debug)]
struct Leaf {
    corners: [[Vec4; 3]; 3],
    triangles: [u32; LEAF],
}

/// A BVH over triangles that may move.
#[derive(Clone, Debug, Default)]
pub struct RayBvh {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// Displacement of each leaf's corners while the shutter is open; empty when nothing moves.
    motions: Vec<[[Vec4; 3]; 3]>,
}

impl RayBvh {
    /// Builds a BVH over triangles given by their corners, and the corners' displacements while the
    /// shutter is open (empty when nothing moves). Triangles with a corner that is not finite are
    /// left out.
    pub fn new(corners: &[[Vec3; 3]], motions: &[[Vec3; 3]]) -> Self {
        let bounds = |corners: [Vec3; 3]| Bounds::of(corners.map(Vec3::as_dvec3));
        let boxes: Vec<Bounds> = (0..corners.len())
            .map(|i| match motions.get(i) {
                Some(motion) => bounds(corners[i]).union(bounds([0, 1, 2].map(|c| corners[i][c] + motion[c]))),
                None => bounds(corners[i]),
            })
            .collect();
        let order: Vec<u32> = (0..corners.len() as u32)
            .filter(|&i| boxes[i as usize].low.is_finite() && boxes[i as usize].high.is_finite())
            .collect();
        let FourWide { nodes, leaves: groups } = FourWide::new(&boxes, order, DVec3::ZERO, MAX_UNEVEN_DEPTH);
        let to_simd = |group: &[u32; LEAF], source: &[[Vec3; 3]]| {
            [0, 1, 2].map(|corner| {
                [0, 1, 2].map(|axis| Vec4::from_array(group.map(|triangle| source[triangle as usize][corner][axis])))
            })
        };
        let leaf = |group: &[u32; LEAF]| Leaf { corners: to_simd(group, corners), triangles: *group };
        let leaves = groups.iter().map(leaf).collect();
        let motions =
            if motions.is_empty() { Vec::new() } else { groups.iter().map(|g| to_simd(g, motions)).collect() };
        Self { nodes, leaves, motions }
    }

    /// The nearest triangle along a ray within `t_max` that `accepts` admits.
    pub fn intersect(&self, ray: &Ray, t_max: f32, accepts: impl Fn(u32) -> bool) -> Option<TriangleHit> {
        let mut best: Option<TriangleHit> = None;
        self.visit(ray, t_max, |leaf, shear, t_max| {
            let hit = self.hit_leaf(leaf, ray, shear, t_max, &accepts);
            let distance = hit.map_or(t_max, |hit| hit.distance);
            best = hit.or(best);
            (distance, false)
        });
        best
    }

    /// Whether any triangle along a ray within `t_max` is admitted by `accepts`.
    pub fn occluded(&self, ray: &Ray, t_max: f32, accepts: impl Fn(u32) -> bool) -> bool {
        let mut found = false;
        self.visit(ray, t_max, |leaf, shear, t_max| {
            found = self.hit_leaf(leaf, ray, shear, t_max, &accepts).is_some();
            (t_max, found)
        });
        found
    }

    /// Visits leaves, nearest first; `leaf` returns the new `t_max` and whether to stop.
    #[inline(always)]
    fn visit(&self, ray: &Ray, t_max: f32, mut leaf: impl FnMut(usize, &Shear, f32) -> (f32, bool)) {
        if self.nodes.is_empty() || !ray.origin.is_finite() || !ray.direction.is_finite() {
            return;
        }
        let shear = Shear::new(ray);
        // A zero component would give 0 · ∞; a tiny one gives the same boxes.
        let safe = |x: f32| if x.abs() < 1e-18 { 1e-18_f32.copysign(x) } else { x };
        let inverse = ray.direction.to_array().map(|x| 1.0 / safe(x));
        let origin = ray.origin.to_array();
        let mut t_max = t_max;
        let mut stack = [(0.0_f32, Child::ROOT); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (entry, child) = stack[height];
            if entry > t_max {
                continue;
            }
            if let Some(index) = child.leaf() {
                let (nearer, stop) = leaf(index, &shear, t_max);
                if stop {
                    return;
                }
                t_max = nearer;
                continue;
            }
            let node = &self.nodes[child.node()];
            let mut enter = Vec4::ZERO;
            let mut exit = Vec4::splat(t_max);
            for axis in 0..3 {
                let (o, i) = (Vec4::splat(origin[axis]), Vec4::splat(inverse[axis]));
                let (near, far) = if inverse[axis] >= 0.0 {
                    (node.low[axis], node.high[axis])
                } else {
                    (node.high[axis], node.low[axis])
                };
                enter = ((near - o) * i).max(enter);
                exit = ((far - o) * i * WIDEN).min(exit);
            }
            let mut hit_slots = enter.cmple(exit).bitmask();
            let entries = enter.to_array();
            let base = height;
            while hit_slots != 0 {
                let slot = hit_slots.trailing_zeros() as usize;
                hit_slots &= hit_slots - 1;
                let entry = entries[slot];
                let mut place = height;
                while place > base && stack[place - 1].0 < entry {
                    stack[place] = stack[place - 1];
                    place -= 1;
                }
                stack[place] = (entry, node.children[slot]);
                height += 1;
            }
        }
    }

    /// The nearest hit among a leaf's triangles (woop2013, §4).
    #[inline(always)]
    fn hit_leaf(
        &self,
        leaf: usize,
        ray: &Ray,
        shear: &Shear,
        t_max: f32,
        accepts: &impl Fn(u32) -> bool,
    ) -> Option<TriangleHit> {
        let Leaf { corners, triangles } = &self.leaves[leaf];
        let moving = self.motions.get(leaf);
        let origin = ray.origin.to_array();
        let [x, y, z] = shear.axes;
        let sheared = |corner: usize| {
            let at = |axis: usize| {
                let place = match moving {
                    Some(motion) => corners[corner][axis] + motion[corner][axis] * ray.time,
                    None => corners[corner][axis],
                };
                place - Vec4::splat(origin[axis])
            };
            let depth = at(z);
            (at(x) - depth * shear.x, at(y) - depth * shear.y, depth * shear.z)
        };
        let (ax, ay, az) = sheared(0);
        let (bx, by, bz) = sheared(1);
        let (cx, cy, cz) = sheared(2);
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        let zero = Vec4::ZERO;
        let inside = (u.cmpge(zero) & v.cmpge(zero) & w.cmpge(zero)) | (u.cmple(zero) & v.cmple(zero) & w.cmple(zero));
        let total = u + v + w;
        let scale = Vec4::ONE / total;
        let distance = (u * az + v * bz + w * cz) * scale;
        let hits =
            inside & total.cmpne(zero) & distance.cmpgt(Vec4::splat(shear.t_min)) & distance.cmplt(Vec4::splat(t_max));
        let mut mask = hits.bitmask();
        let mut best: Option<(f32, usize)> = None;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let triangle = triangles[lane];
            if Some(triangle) != ray.origin_triangle
                && best.is_none_or(|(least, _)| distance[lane] < least)
                && accepts(triangle)
            {
                best = Some((distance[lane], lane));
            }
        }
        best.map(|(distance, lane)| TriangleHit {
            distance,
            triangle: triangles[lane],
            weights: [(v * scale)[lane], (w * scale)[lane]],
        })
    }
}

/// The shear that maps a ray's direction onto its largest axis.
struct Shear {
    axes: [usize; 3],
    x: f32,
    y: f32,
    z: f32,
    /// Minimum hit distance.
    t_min: f32,
}

impl Shear {
    fn new(ray: &Ray) -> Self {
        let direction = ray.direction;
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        let along = direction[z];
        let t_min = if ray.origin_triangle.is_none() { 0.0 } else { MIN_DISTANCE * ray.origin.abs().max_element() };
        Self { axes: [x, y, z], x: direction[x] / along, y: direction[y] / along, z: 1.0 / along, t_min }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ray(origin: Vec3, direction: Vec3) -> Ray {
        Ray { origin, direction: direction.normalize(), time: 0.0, origin_triangle: None }
    }

    /// A closed sphere of triangles about a center, by latitude and longitude.
    fn sphere(center: Vec3, radius: f32, rings: usize) -> Vec<[Vec3; 3]> {
        let point = |i: usize, j: usize| {
            let (polar, turn) = (
                std::f32::consts::PI * i as f32 / rings as f32,
                std::f32::consts::TAU * (j % (2 * rings)) as f32 / (2 * rings) as f32,
            );
            let ring = if i == rings { 0.0 } else { polar.sin() };
            center + radius * Vec3::new(ring * turn.cos(), polar.cos(), ring * turn.sin())
        };
        let mut triangles = Vec::new();
        for i in 0..rings {
            for j in 0..2 * rings {
                let [a, b, c, d] = [point(i, j), point(i, j + 1), point(i + 1, j + 1), point(i + 1, j)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        triangles
    }

    fn directions(count: usize) -> impl Iterator<Item = Vec3> {
        (0..count).map(|i| {
            let (a, b) = ((i as f32 * 0.754_877_7).fract(), (i as f32 * 0.569_840_3).fract());
            let (z, turn) = (1.0 - 2.0 * a, std::f32::consts::TAU * b);
            let ring = (1.0 - z * z).sqrt();
            Vec3::new(ring * turn.cos(), ring * turn.sin(), z)
        })
    }

    #[test]
    fn no_ray_escapes_from_a_closed_millimeter_sphere_far_from_the_origin() {
        let center = Vec3::new(0.3, -0.2, 0.1);
        let triangles = sphere(center, 1e-3, 24);
        let bvh = RayBvh::new(&triangles, &[]);
        for direction in directions(20_000) {
            let hit = bvh.intersect(&ray(center, direction), f32::INFINITY, |_| true);
            let distance = hit.map_or(f32::INFINITY, |hit| hit.distance);
            assert!((0.98e-3..1.001e-3).contains(&distance), "{direction} leaves the sphere: {distance}");
        }
        // Aimed at corners and midpoints of edges, where leaks would occur.
        for triangle in &triangles {
            for target in [triangle[0], 0.5 * (triangle[0] + triangle[1]), 0.5 * (triangle[1] + triangle[2])] {
                assert!(bvh.occluded(&ray(center, target - center), f32::INFINITY, |_| true), "a leak at {target}");
            }
        }
    }

    #[test]
    fn the_nearest_triangle_matches_brute_force() {
        let step = Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
        let corner = |i: usize| (step * i as f32).fract();
        let triangles: Vec<[Vec3; 3]> =
            (0..600).map(|i| [0, 1, 2].map(|c| corner(5 * i + 1) + 0.25 * corner(7 * i + 13 * c))).collect();
        let bvh = RayBvh::new(&triangles, &[]);
        let single: Vec<RayBvh> = triangles.iter().map(|t| RayBvh::new(std::slice::from_ref(t), &[])).collect();
        let mut hits = 0;
        for direction in directions(300) {
            let ray = ray(Vec3::splat(0.5), direction);
            let all = single.iter().filter_map(|one| one.intersect(&ray, f32::INFINITY, |_| true));
            let least = all.map(|hit| hit.distance).fold(f32::INFINITY, f32::min);
            let found = bvh.intersect(&ray, f32::INFINITY, |_| true).map_or(f32::INFINITY, |hit| hit.distance);
            assert_eq!(found, least, "{direction}");
            hits += usize::from(least.is_finite());
        }
        assert!(hits > 100, "only {hits} rays hit anything");
    }

    #[test]
    fn a_moving_triangle_is_hit_at_its_position_at_the_rays_time() {
        let square = [[Vec3::ZERO, Vec3::X, Vec3::Y]];
        let bvh = RayBvh::new(&square, &[[Vec3::Z * 2.0; 3]]);
        for time in [0.0, 0.25, 1.0] {
            let ray = Ray { origin: Vec3::new(0.2, 0.2, 5.0), direction: -Vec3::Z, time, origin_triangle: None };
            let hit = bvh.intersect(&ray, f32::INFINITY, |_| true).expect("the triangle is on the ray");
            assert!((hit.distance - (5.0 - 2.0 * time)).abs() < 1e-6, "{hit:?} at {time}");
        }
    }

    #[test]
    fn empty_and_non_finite_input_yields_no_hits() {
        let bvh = RayBvh::new(&[], &[]);
        assert!(!bvh.occluded(&ray(Vec3::ZERO, Vec3::X), f32::INFINITY, |_| true));
        let bvh = RayBvh::new(&[[Vec3::NAN; 3], [Vec3::X, Vec3::X, Vec3::X]], &[]);
        assert!(!bvh.occluded(&ray(Vec3::ZERO, Vec3::X), f32::INFINITY, |_| true));
    }
}
