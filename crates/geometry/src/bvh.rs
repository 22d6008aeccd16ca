//! A bounding volume hierarchy (BVH) with four-wide nodes, for nearest-primitive and overlap
//! queries.
//!
//! Boxes have single precision, relative to the center of all primitives, and are rounded outwards;
//! a query point is rounded both ways. The distance of a box is therefore never overestimated, and
//! results are as exact as the function that measures the primitives, in double precision.

mod build;

use std::array;

use glam::{DVec3, Vec4};

pub use build::{Child, FourWide, LEAF, Node};
use build::{round_down, round_up};

/// Depth from which nodes are split in equal halves, which bounds the depth of the tree.
const MAX_UNEVEN_DEPTH: usize = 40;

/// Size of the traversal stack: three entries for each of 40 uneven and 32 even levels, and a few
/// more.
const STACK: usize = 256;

/// Factor that lowers the squared distances of boxes by the rounding error of half a dozen
/// operations.
const ROUNDING_MARGIN: f32 = 1.0 - 1e-6;

/// Coordinates are clamped to this range for the tests of boxes: distances are not overestimated,
/// and their squares stay finite.
const MAX_COORDINATE: f64 = 1e18;

/// An axis-aligned box, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower corner.
    pub low: DVec3,
    /// Upper corner.
    pub high: DVec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// Bounding box of points.
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, p| Self { low: bounds.low.min(p), high: bounds.high.max(p) })
    }

    /// Bounding box of two boxes.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Its center.
    pub fn center(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }

    /// From the lower to the upper corner; zero for the empty box.
    pub fn extent(&self) -> DVec3 {
        (self.high - self.low).max(DVec3::ZERO)
    }

    /// Half its surface area, in m².
    fn half_area(&self) -> f64 {
        let e = self.extent();
        e.x * e.y + e.y * e.z + e.z * e.x
    }
}

/// A hierarchy over primitives that are given by their boxes.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    leaves: Vec<[u32; LEAF]>,
    bounds: Bounds,
    center: DVec3,
    /// Boxes of the nodes, reused by every refit.
    node_boxes: Vec<Bounds>,
}

impl Bvh {
    /// Builds a hierarchy over primitives in these boxes.
    pub fn new(boxes: &[Bounds]) -> Self {
        let bounds = boxes.iter().fold(Bounds::EMPTY, |all, b| all.union(*b));
        let center = if boxes.is_empty() { DVec3::ZERO } else { bounds.center() };
        let FourWide { nodes, leaves } =
            FourWide::new(boxes, (0..boxes.len() as u32).collect(), center, MAX_UNEVEN_DEPTH);
        Self { nodes, leaves, bounds, center, node_boxes: Vec::new() }
    }

    /// Adapts the boxes to primitives that have moved; the tree stays as it is. `leaf_boxes` are
    /// the boxes of the leaves, in their order.
    ///
    /// Queries stay exact. They become slower where primitives that were near each other no longer
    /// are.
    pub fn refit(&mut self, leaf_boxes: &[Bounds]) {
        self.bounds = leaf_boxes.iter().fold(Bounds::EMPTY, |all, b| all.union(*b));
        if !leaf_boxes.is_empty() {
            self.center = self.bounds.center();
        }
        // Children come after their parents.
        let boxes = &mut self.node_boxes;
        boxes.clear();
        boxes.resize(self.nodes.len(), Bounds::EMPTY);
        for index in (0..self.nodes.len()).rev() {
            for slot in 0..4 {
                let child = self.nodes[index].children[slot];
                if child == Child::NONE {
                    continue;
                }
                let own = child.leaf().map_or_else(|| boxes[child.node()], |leaf| leaf_boxes[leaf]);
                boxes[index] = boxes[index].union(own);
                self.nodes[index].set_box(slot, &own, self.center);
            }
        }
    }

    /// Bounding box of all primitives.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Center of the bounding box; zero if there are no primitives.
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// The primitives of each leaf. A leaf that is not full repeats its first primitive.
    ///
    /// Queries report leaves, so that a caller can store its primitives in the same order.
    pub fn leaves(&self) -> &[[u32; LEAF]] {
        &self.leaves
    }

    /// Visits the leaves that may contain the primitive nearest to a point, near ones first.
    ///
    /// `measure` gets the index of a leaf (see [`Bvh::leaves`]) and the least squared distance so
    /// far, and returns the new one. Only leaves that may be nearer are visited; the search starts
    /// with the squared distance `within`.
    pub fn nearest(&self, point: DVec3, within: f64, mut measure: impl FnMut(usize, f64) -> f64) {
        if self.nodes.is_empty() {
            return;
        }
        let local = (point - self.center).clamp(DVec3::splat(-MAX_COORDINATE), DVec3::splat(MAX_COORDINATE));
        let [below, above] =
            [round_down, round_up].map(|round| [local.x, local.y, local.z].map(|x| Vec4::splat(round(x))));
        let mut best = within;
        let mut best_up = round_up(best);
        let mut stack = [0_u64; STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (distance, child) = unpack(stack[height]);
            if distance >= best_up {
                continue;
            }
            if let Some(leaf) = child.leaf() {
                best = measure(leaf, best);
                best_up = round_up(best);
                continue;
            }
            let node = &self.nodes[child.node()];
            let mut squared = Vec4::ZERO;
            for axis in 0..3 {
                let gap = (node.low[axis] - above[axis]).max(below[axis] - node.high[axis]);
                let gap = gap.max(Vec4::ZERO);
                squared += gap * gap;
            }
            let squared = (squared * ROUNDING_MARGIN).to_array();
            // Which children are near enough, and in what order, is unpredictable, so there are no
            // branches here. All four are pushed, farthest first; one that is too far, such as an
            // empty one, is overwritten by the next.
            let farthest_first = sort_descending(array::from_fn(|i| pack(squared[i], node.children[i])));
            for entry in farthest_first {
                stack[height] = entry;
                height += usize::from(unpack(entry).0 < best_up);
            }
        }
    }

    /// Visits the leaves that may contain primitives whose boxes overlap a box (see
    /// [`Bvh::leaves`]).
    pub fn overlapping(&self, bounds: &Bounds, mut visit: impl FnMut(usize)) {
        if self.nodes.is_empty() {
            return;
        }
        let clamped =
            |v: DVec3| (v - self.center).clamp(DVec3::splat(-MAX_COORDINATE), DVec3::splat(MAX_COORDINATE)).to_array();
        let (low, high) = (clamped(bounds.low).map(round_down), clamped(bounds.high).map(round_up));
        let mut stack = [Child::ROOT; STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let child = stack[height];
            if let Some(leaf) = child.leaf() {
                visit(leaf);
                continue;
            }
            let node = &self.nodes[child.node()];
            for (slot, &child) in node.children.iter().enumerate().rev() {
                let overlaps = (0..3).all(|k| node.low[k][slot] <= high[k] && node.high[k][slot] >= low[k]);
                if overlaps && child != Child::NONE {
                    stack[height] = child;
                    height += 1;
                }
            }
        }
    }
}

/// A squared distance and a child as one integer that sorts by distance: positive floats sort as
/// their bits.
fn pack(squared: f32, child: Child) -> u64 {
    u64::from(squared.to_bits()) << 32 | u64::from(child.bits())
}

fn unpack(entry: u64) -> (f32, Child) {
    (f32::from_bits((entry >> 32) as u32), Child::from_bits(entry as u32))
}

/// Sorts four integers with five comparisons and no branch.
fn sort_descending([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let (a, b) = (a.max(b), a.min(b));
    let (c, d) = (c.max(d), c.min(d));
    let (a, c) = (a.max(c), a.min(c));
    let (b, d) = (b.max(d), b.min(d));
    [a, b.max(c), b.min(c), d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: usize) -> Vec<DVec3> {
        // A Kronecker sequence: evenly distributed, repeatable, nothing aligned.
        let step = DVec3::new(0.819_172_513_4, 0.671_043_606_7, 0.549_700_477_9);
        (0..count).map(|i| (step * i as f64).fract() * DVec3::new(3.0, 1.0, 0.5) + DVec3::splat(50.0)).collect()
    }

    fn hierarchy(points: &[DVec3]) -> Bvh {
        Bvh::new(&points.iter().map(|&p| Bounds { low: p, high: p }).collect::<Vec<_>>())
    }

    fn nearest(bvh: &Bvh, points: &[DVec3], query: DVec3, within: f64) -> (Option<usize>, usize) {
        let (mut found, mut visits) = (None, 0);
        bvh.nearest(query, within, |leaf, mut best| {
            visits += 1;
            for primitive in bvh.leaves()[leaf].map(|primitive| primitive as usize) {
                let distance = points[primitive].distance_squared(query);
                if distance < best {
                    found = Some(primitive);
                    best = distance;
                }
            }
            best
        });
        (found, visits)
    }

    #[test]
    fn nearest_point_is_found_in_few_visits() {
        let points = points(2000);
        let bvh = hierarchy(&points);
        let mut total = 0;
        for i in 0..500 {
            let query = points[(i * 7) % points.len()] + (points[i] - DVec3::splat(50.0)) * 0.3;
            let exact = (0..points.len())
                .min_by(|&a, &b| points[a].distance_squared(query).total_cmp(&points[b].distance_squared(query)));
            let (found, visits) = nearest(&bvh, &points, query, f64::INFINITY);
            assert_eq!(found, exact, "query {query}");
            total += visits;
        }
        assert!(total < 500 * 12, "{} visits per query", total / 500);
    }

    #[test]
    fn points_beyond_the_given_distance_are_not_found() {
        let points = points(100);
        let bvh = hierarchy(&points);
        let query = DVec3::splat(48.0);
        let exact = points.iter().map(|p| p.distance_squared(query)).fold(f64::INFINITY, f64::min);
        assert_eq!(nearest(&bvh, &points, query, exact * 0.999).0, None);
        assert!(nearest(&bvh, &points, query, exact * 1.001).0.is_some());
    }

    #[test]
    fn coincident_nested_and_distant_primitives_are_handled() {
        let same = vec![DVec3::ONE; 1000];
        assert!(nearest(&hierarchy(&same), &same, DVec3::ZERO, f64::INFINITY).0.is_some());
        // Each point is a thousandth as far out as the one before, so every split is uneven.
        let nested: Vec<DVec3> = (0..100).map(|i| DVec3::splat(1000.0_f64.powi(-i))).collect();
        let bvh = hierarchy(&nested);
        for query in [DVec3::ZERO, DVec3::splat(1e30), DVec3::splat(-1e200)] {
            let found = nearest(&bvh, &nested, query, f64::INFINITY).0;
            assert!(found.is_some() || query.length_squared().is_infinite(), "{query}");
        }
        assert_eq!(nearest(&hierarchy(&[]), &[], DVec3::ZERO, f64::INFINITY).0, None);
        let not_numbers = vec![DVec3::NAN; 10];
        assert_eq!(nearest(&hierarchy(&not_numbers), &not_numbers, DVec3::ZERO, f64::INFINITY).0, None);
    }
}
