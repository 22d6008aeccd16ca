//! A linear BVH, which is cheap to build: for searches that run once per triangle.
//!
//! Primitives are sorted along a Morton curve and grouped by fours, the groups by fours again, up
//! to a single one. A search costs more than in a hierarchy built by the surface area heuristic
//! ([`crate::bvh`]), but here construction takes as long as all searches.

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::bvh::Bounds;

/// Children per node.
const WIDTH: usize = 4;

/// A hierarchy of boxes over primitives.
pub(super) struct LinearBvh {
    order: Vec<u32>,
    /// Boxes of four primitives each, then of four of those, and so on.
    levels: Vec<Vec<Bounds>>,
}

impl LinearBvh {
    /// Builds a hierarchy over primitives in these boxes.
    pub fn new(boxes: &[Bounds]) -> Self {
        let all = boxes.iter().fold(Bounds::EMPTY, |all, &one| all.union(one));
        let scale = all.extent().to_array().map(|extent| if extent > 0.0 { extent.recip() } else { 0.0 });
        let mut keyed: Vec<(u64, u32)> = (0_u32..)
            .zip(boxes)
            .map(|(primitive, one)| (morton((one.center() - all.low) * DVec3::from(scale)), primitive))
            .collect();
        keyed.par_sort_unstable();
        let order: Vec<u32> = keyed.into_iter().map(|(_, primitive)| primitive).collect();
        let join = |group: &[Bounds]| group.iter().fold(Bounds::EMPTY, |all, &one| all.union(one));
        let sorted: Vec<Bounds> = order.iter().map(|&primitive| boxes[primitive as usize]).collect();
        let mut levels = vec![sorted.chunks(WIDTH).map(join).collect::<Vec<_>>()];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            levels.push(last.chunks(WIDTH).map(join).collect());
        }
        Self { order, levels }
    }

    /// The primitives in Morton order, in which neighbors in space are close to each other.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Visits the primitives in all boxes that `enter` accepts.
    pub fn visit(&self, mut enter: impl FnMut(&Bounds) -> bool, mut visit: impl FnMut(u32)) {
        let top = self.levels.len() - 1;
        let mut stack = Vec::with_capacity(WIDTH * self.levels.len());
        stack.extend((0..self.levels[top].len()).map(|at| (top, at)));
        while let Some((level, at)) = stack.pop() {
            if !enter(&self.levels[level][at]) {
                continue;
            }
            let below = |count: usize| WIDTH * at..(WIDTH * at + WIDTH).min(count);
            if level == 0 {
                self.order[below(self.order.len())].iter().for_each(|&primitive| visit(primitive));
            } else {
                stack.extend(below(self.levels[level - 1].len()).map(|at| (level - 1, at)));
            }
        }
    }
}

/// Morton code of a point in the unit cube: the interleaved bits of its coordinates, 21 each.
fn morton(point: DVec3) -> u64 {
    let spread = |x: f64| {
        let mut bits = (x.clamp(0.0, 1.0) * f64::from((1 << 21) - 1)) as u64;
        bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
        bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
        bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
        bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
        (bits | bits << 2) & 0x1249_2492_4924_9249
    };
    spread(point.x) | spread(point.y) << 1 | spread(point.z) << 2
}

/// Whether two boxes overlap.
pub(super) fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.low.cmple(b.high).all() && b.low.cmple(a.high).all()
}

/// Whether a line may hit a box, or pass it within rounding.
pub(super) fn line_hits(bounds: &Bounds, origin: DVec3, direction: DVec3) -> bool {
    // Separating axis test; for a line, the cross products with the axes of the box suffice.
    let half = 0.5 * bounds.extent();
    let offset = bounds.center() - origin;
    let moment = offset.cross(direction).abs();
    let extent = DVec3::new(
        half.y * direction.z.abs() + half.z * direction.y.abs(),
        half.z * direction.x.abs() + half.x * direction.z.abs(),
        half.x * direction.y.abs() + half.y * direction.x.abs(),
    );
    let tolerance = 1e-12 * (offset.abs().max_element() + half.max_element());
    moment.cmple(extent + DVec3::splat(tolerance)).all()
}
