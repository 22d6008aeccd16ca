//! A bounding volume hierarchy of four-wide nodes, for nearest-thing and ray queries.
//!
//! Boxes are single precision, relative to the middle of everything and rounded outwards; a query point is rounded both ways. So a box is never taken to be
//! farther than it is, and answers are as exact as the function that measures the things themselves, in double precision.

mod build;

use std::array;

use glam::{DVec3, Vec4};

pub use build::{Child, FourWide, LEAF, Node};
use build::{round_down, round_up};

/// Depth after which nodes are split in equal halves, so that no input makes the tree deep.
const MAX_UNEVEN_DEPTH: usize = 40;

/// Room for the nodes still to visit: three for each of 40 uneven and 32 even levels, and a few.
const STACK: usize = 256;

/// Squared distances of boxes are shortened by this much, which covers the rounding of half a dozen operations.
const SHORTEN: f32 = 1.0 - 1e-6;

/// A point farther out than this is moved this near for the tests of boxes: they become no farther, and the squares of
/// their distances stay finite.
const FAR: f64 = 1e18;

/// An axis-aligned box, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner of least coordinates.
    pub low: DVec3,
    /// Corner of greatest coordinates.
    pub high: DVec3,
}

impl Bounds {
    /// The box of nothing.
    pub const EMPTY: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// The smallest box round some points.
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, p| Self { low: bounds.low.min(p), high: bounds.high.max(p) })
    }

    /// The smallest box round two boxes.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The middle of the box.
    pub fn center(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }

    /// From the low corner to the high one; zero for the box of nothing.
    pub fn extent(&self) -> DVec3 {
        (self.high - self.low).max(DVec3::ZERO)
    }

    /// Half its surface, in m².
    pub fn half_area(&self) -> f64 {
        let e = self.extent();
        e.x * e.y + e.y * e.z + e.z * e.x
    }
}

/// A hierarchy over things that are known by their boxes only.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    leaves: Vec<[u32; LEAF]>,
    bounds: Bounds,
    center: DVec3,
}

impl Bvh {
    /// Builds a hierarchy over things in these boxes.
    pub fn new(boxes: &[Bounds]) -> Self {
        let bounds = boxes.iter().fold(Bounds::EMPTY, |all, b| all.union(*b));
        let center = if boxes.is_empty() { DVec3::ZERO } else { bounds.center() };
        let FourWide { nodes, leaves } =
            FourWide::new(boxes, (0..boxes.len() as u32).collect(), center, MAX_UNEVEN_DEPTH);
        Self { nodes, leaves, bounds, center }
    }

    /// The box round everything.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The middle of the box round everything; zero if there is nothing.
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// The things in each leaf: neighbors in space. A leaf that is not full names its first thing again.
    ///
    /// Queries speak of leaves, so that a caller can lay out its things likewise.
    pub fn leaves(&self) -> &[[u32; LEAF]] {
        &self.leaves
    }

    /// Visits the leaves that may hold the thing nearest to a point, near ones first.
    ///
    /// `measure` gets the index of a leaf (see [`Bvh::leaves`]) and the squared distance to beat, and returns the new
    /// one: what it was given, or less. Only leaves that may lie within it are visited, starting from `within`.
    pub fn nearest(&self, point: DVec3, within: f64, mut measure: impl FnMut(usize, f64) -> f64) {
        if self.nodes.is_empty() {
            return;
        }
        let local = (point - self.center).clamp(DVec3::splat(-FAR), DVec3::splat(FAR));
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
            let squared = (squared * SHORTEN).to_array();
            // Which children are near enough, and in what order, no processor can predict: so no branches here. All
            // four are written, farthest first; one that is too far, as an empty one is, is written over by the next.
            let farthest_first = sort_descending(array::from_fn(|i| pack(squared[i], node.children[i])));
            for entry in farthest_first {
                stack[height] = entry;
                height += usize::from(unpack(entry).0 < best_up);
            }
        }
    }

    /// Visits the leaves that may hold things whose boxes meet a box, by their index (see [`Bvh::leaves`]).
    pub fn overlapping(&self, bounds: &Bounds, mut visit: impl FnMut(usize)) {
        if self.nodes.is_empty() {
            return;
        }
        let far = |v: DVec3| (v - self.center).clamp(DVec3::splat(-FAR), DVec3::splat(FAR)).to_array();
        let (low, high) = (far(bounds.low).map(round_down), far(bounds.high).map(round_up));
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
                let meets = (0..3).all(|k| node.low[k][slot] <= high[k] && node.high[k][slot] >= low[k]);
                if meets && child != Child::NONE {
                    stack[height] = child;
                    height += 1;
                }
            }
        }
    }

    /// Visits the leaves that a ray may hit, near ones first.
    ///
    /// `hit` gets the index of a leaf (see [`Bvh::leaves`]) and the ray parameter to beat, and returns the new one.
    pub fn along_ray(&self, origin: DVec3, direction: DVec3, t_max: f64, mut hit: impl FnMut(usize, f64) -> f64) {
        if self.nodes.is_empty() {
            return;
        }
        let local = (origin - self.center).to_array();
        let inverse = direction.to_array().map(f64::recip);
        let mut best = t_max;
        let mut stack = [(0.0_f64, Child::ROOT); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (entry, child) = stack[height];
            if entry > best {
                continue;
            }
            if let Some(leaf) = child.leaf() {
                best = hit(leaf, best);
                continue;
            }
            let node = &self.nodes[child.node()];
            let mut entries = [0.0_f64; 4];
            let mut exits = [best; 4];
            for axis in 0..3 {
                let (low, high) = (node.low[axis].to_array(), node.high[axis].to_array());
                for i in 0..4 {
                    let a = (f64::from(low[i]) - local[axis]) * inverse[axis];
                    let b = (f64::from(high[i]) - local[axis]) * inverse[axis];
                    // A ray in the plane of a side gives 0 · ∞, not a number, which `min` and `max` pass over.
                    entries[i] = entries[i].max(a.min(b));
                    // Widened by a few roundings, so that no ray slips between boxes that touch (ize2013).
                    exits[i] = exits[i].min(a.max(b) * (1.0 + 4.0 * f64::EPSILON));
                }
            }
            let base = height;
            for ((entry, exit), child) in entries.into_iter().zip(exits).zip(node.children) {
                if entry <= exit && child != Child::NONE {
                    let mut slot = height;
                    while slot > base && stack[slot - 1].0 < entry {
                        stack[slot] = stack[slot - 1];
                        slot -= 1;
                    }
                    stack[slot] = (entry, child);
                    height += 1;
                }
            }
        }
    }
}

/// A squared distance and a child as one number that sorts by distance: the bits of positive floats sort as they do.
fn pack(squared: f32, child: Child) -> u64 {
    u64::from(squared.to_bits()) << 32 | u64::from(child.bits())
}

fn unpack(entry: u64) -> (f32, Child) {
    (f32::from_bits((entry >> 32) as u32), Child::from_bits(entry as u32))
}

/// Sorts four numbers with five comparisons and no branch.
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
        // A plane-filling lattice (Kronecker sequence): even, repeatable, nothing aligned.
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
            for thing in bvh.leaves()[leaf].map(|thing| thing as usize) {
                let distance = points[thing].distance_squared(query);
                if distance < best {
                    found = Some(thing);
                    best = distance;
                }
            }
            best
        });
        (found, visits)
    }

    #[test]
    fn the_nearest_of_many_points_is_found_in_few_visits() {
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
    fn nothing_beyond_the_given_distance_is_found() {
        let points = points(100);
        let bvh = hierarchy(&points);
        let query = DVec3::splat(48.0);
        let exact = points.iter().map(|p| p.distance_squared(query)).fold(f64::INFINITY, f64::min);
        assert_eq!(nearest(&bvh, &points, query, exact * 0.999).0, None);
        assert!(nearest(&bvh, &points, query, exact * 1.001).0.is_some());
    }

    #[test]
    fn coincident_nested_and_distant_things_are_no_trouble() {
        let same = vec![DVec3::ONE; 1000];
        assert!(nearest(&hierarchy(&same), &same, DVec3::ZERO, f64::INFINITY).0.is_some());
        // Each point a thousandth as far out as the one before: every even-looking split is a lopsided one.
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

    #[test]
    fn a_ray_visits_exactly_what_lies_in_its_way_first() {
        let points: Vec<DVec3> = (0..300).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        let bvh = hierarchy(&points);
        let mut seen = Vec::new();
        bvh.along_ray(DVec3::new(100.25, 0.0, 0.0), DVec3::X, f64::INFINITY, |leaf, best| {
            let ahead = bvh.leaves()[leaf].map(|thing| points[thing as usize].x - 100.25);
            seen.extend(ahead);
            ahead.into_iter().filter(|&x| x >= 0.0).fold(best, f64::min)
        });
        assert!(seen.contains(&0.75) && seen.len() <= 3 * LEAF, "{seen:?}");
        bvh.along_ray(DVec3::new(100.25, 1.0, 0.0), DVec3::X, f64::INFINITY, |_, _| panic!("nothing lies here"));
    }
}
