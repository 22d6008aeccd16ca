//! Construction of a hierarchy with four-wide nodes, also for callers with their own traversal.
//!
//! Top-down by the surface area heuristic with sixteen bins (wald2007); the cost of a leaf is that
//! of a full one. The boxes of the four children are stored side by side, in single precision and
//! rounded outwards, so that testing a node takes a few vector instructions.

use std::array;

use glam::{DVec3, Vec4};

use super::Bounds;

/// Primitives per leaf: as many as a node has children, so that they too can be processed in one
/// vector.
pub const LEAF: usize = 4;

/// Candidate planes per axis when splitting.
const NUM_BINS: usize = 16;

/// A node: the boxes of its four children, axis by axis, and the children.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Node {
    /// Lower corners; a missing child has an inverted box, which overlaps nothing.
    pub low: [Vec4; 3],
    /// Upper corners.
    pub high: [Vec4; 3],
    /// The children.
    pub children: [Child; 4],
}

impl Node {
    /// Sets the box of a child, relative to `center`.
    pub fn set_box(&mut self, slot: usize, bounds: &Bounds, center: DVec3) {
        let (low, high) = (bounds.low - center, bounds.high - center);
        for axis in 0..3 {
            self.low[axis][slot] = round_down(low[axis]);
            self.high[axis][slot] = round_up(high[axis]);
        }
    }
}

/// Index of a node or, with the highest bit set, of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child(u32);

impl Child {
    const LEAF: u32 = 1 << 31;
    /// No child.
    pub const NONE: Self = Self(u32::MAX);
    /// The root node.
    pub const ROOT: Self = Self(0);

    /// Its bits, for packing.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The child with these bits.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Index of the node, if it is not a leaf.
    #[inline]
    pub fn node(self) -> usize {
        self.0 as usize
    }

    /// Index of the leaf, if it is one.
    #[inline]
    pub fn leaf(self) -> Option<usize> {
        (self.0 & Self::LEAF != 0).then_some((self.0 & !Self::LEAF) as usize)
    }
}

/// Nodes, of which the first is the root, and leaves; a leaf that is not full repeats its first
/// primitive.
#[derive(Clone, Debug, Default)]
pub struct FourWide {
    /// The nodes; empty if there are no primitives.
    pub nodes: Vec<Node>,
    /// The leaves.
    pub leaves: Vec<[u32; LEAF]>,
}

impl FourWide {
    /// Builds a hierarchy over the boxes listed in `order`, relative to `center`.
    ///
    /// From `max_uneven_depth` on, nodes are split in equal halves, which bounds the depth of the
    /// tree.
    pub fn new(boxes: &[Bounds], order: Vec<u32>, center: DVec3, max_uneven_depth: usize) -> Self {
        assert!(boxes.len() < Child::LEAF as usize, "a hierarchy holds fewer than 2³¹ things");
        let count = order.len();
        let mut builder = Builder { boxes, order, nodes: Vec::new(), leaves: Vec::new(), center, max_uneven_depth };
        if count > 0 {
            builder.build(0, count, 0);
        }
        Self { nodes: builder.nodes, leaves: builder.leaves }
    }
}

/// A single-precision number at most `x`.
pub(super) fn round_down(x: f64) -> f32 {
    (x as f32).next_down()
}

/// A single-precision number at least `x`.
pub(super) fn round_up(x: f64) -> f32 {
    (x as f32).next_up()
}

struct Builder<'a> {
    boxes: &'a [Bounds],
    order: Vec<u32>,
    nodes: Vec<Node>,
    leaves: Vec<[u32; LEAF]>,
    center: DVec3,
    max_uneven_depth: usize,
}

#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    bounds: Bounds,
}

impl Builder<'_> {
    fn part(&self, start: usize, end: usize) -> Part {
        let bounds = self.order[start..end].iter().fold(Bounds::EMPTY, |all, &i| all.union(self.boxes[i as usize]));
        Part { start, end, bounds }
    }

    /// Builds the node of a range of primitives and returns its index.
    fn build(&mut self, start: usize, end: usize, depth: usize) -> u32 {
        let mut parts = vec![self.part(start, end)];
        while parts.len() < 4 {
            let large = (0..parts.len()).filter(|&i| parts[i].end - parts[i].start > LEAF);
            let Some(largest) =
                large.max_by(|&i, &j| parts[i].bounds.half_area().total_cmp(&parts[j].bounds.half_area()))
            else {
                break;
            };
            let Part { start, end, .. } = parts[largest];
            let middle = self.split(start, end, depth);
            parts[largest] = self.part(start, middle);
            parts.insert(largest + 1, self.part(middle, end));
        }
        let index = self.nodes.len();
        self.nodes.push(Node { low: [Vec4::INFINITY; 3], high: [Vec4::NEG_INFINITY; 3], children: [Child::NONE; 4] });
        for (slot, part) in parts.into_iter().enumerate() {
            self.nodes[index].set_box(slot, &part.bounds, self.center);
            let count = part.end - part.start;
            self.nodes[index].children[slot] = if count <= LEAF {
                let things = &self.order[part.start..part.end];
                self.leaves.push(array::from_fn(|i| *things.get(i).unwrap_or(&things[0])));
                Child(Child::LEAF | (self.leaves.len() - 1) as u32)
            } else {
                Child(self.build(part.start, part.end, depth + 1))
            };
        }
        index as u32
    }

    /// Partitions a range of primitives in two and returns the start of the second.
    fn split(&mut self, start: usize, end: usize, depth: usize) -> usize {
        let boxes = self.boxes;
        let may_be_uneven = depth < self.max_uneven_depth;
        let center = |i: u32| boxes[i as usize].center();
        let range = &mut self.order[start..end];
        let centers = Bounds::of(range.iter().map(|&i| center(i)));
        let plane = if may_be_uneven { best_plane(boxes, range, &centers) } else { None };
        if let Some((axis, bin)) = plane {
            let mut below = 0;
            for i in 0..range.len() {
                if bin_of(center(range[i])[axis], &centers, axis) <= bin {
                    range.swap(below, i);
                    below += 1;
                }
            }
            return start + below;
        }
        let middle = range.len() / 2;
        let axis = centers.extent().max_position();
        let key = |&i: &u32| (center(i)[axis], i);
        range.select_nth_unstable_by(middle, |a, b| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)));
        start + middle
    }
}

fn bin_of(x: f64, centers: &Bounds, axis: usize) -> usize {
    let fraction = (x - centers.low[axis]) / (centers.high[axis] - centers.low[axis]);
    ((fraction * NUM_BINS as f64) as usize).min(NUM_BINS - 1)
}

/// Axis and last bin below the splitting plane of least expected cost; none if all centers
/// coincide.
fn best_plane(boxes: &[Bounds], range: &[u32], centers: &Bounds) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for axis in 0..3 {
        let extent = centers.high[axis] - centers.low[axis];
        if !(extent > 0.0 && extent.is_finite()) {
            continue;
        }
        let mut bins = [(Bounds::EMPTY, 0_usize); NUM_BINS];
        for &i in range {
            let (bounds, count) = &mut bins[bin_of(boxes[i as usize].center()[axis], centers, axis)];
            *bounds = bounds.union(boxes[i as usize]);
            *count += 1;
        }
        let mut above_costs = [0.0; NUM_BINS];
        let (mut above, mut num_above) = (Bounds::EMPTY, 0);
        for bin in (1..NUM_BINS).rev() {
            above = above.union(bins[bin].0);
            num_above += bins[bin].1;
            above_costs[bin - 1] = above.half_area() * num_above.div_ceil(LEAF) as f64;
        }
        let (mut below, mut num_below) = (Bounds::EMPTY, 0);
        for bin in 0..NUM_BINS - 1 {
            below = below.union(bins[bin].0);
            num_below += bins[bin].1;
            if num_below == 0 || num_below == range.len() {
                continue;
            }
            let cost = below.half_area() * num_below.div_ceil(LEAF) as f64 + above_costs[bin];
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, bin));
            }
        }
    }
    best.map(|(_, axis, bin)| (axis, bin))
}
