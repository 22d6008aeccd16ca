//! A pyramid of boxes over boxes, cheap to build: for searches that run once over a mesh.
//!
//! Things are sorted along a Morton curve and boxed by fours, the boxes by fours again, up to a single one. A search costs more
//! than in a hierarchy that weighs its splits ([`crate::bvh`]), but each triangle asks only once, so that building counts as much.

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::bvh::Bounds;

const FOUR: usize = 4;

/// Boxes over boxes over things.
pub(super) struct Pyramid {
    order: Vec<u32>,
    /// The boxes of four things each, then of four of those, and so on.
    levels: Vec<Vec<Bounds>>,
}

impl Pyramid {
    /// Builds a pyramid over things in these boxes.
    pub fn new(boxes: &[Bounds]) -> Self {
        let all = boxes.iter().fold(Bounds::EMPTY, |all, &one| all.union(one));
        let scale = all.extent().to_array().map(|extent| if extent > 0.0 { extent.recip() } else { 0.0 });
        let mut keyed: Vec<(u64, u32)> = (0_u32..)
            .zip(boxes)
            .map(|(thing, one)| (morton((one.center() - all.low) * DVec3::from(scale)), thing))
            .collect();
        keyed.par_sort_unstable();
        let order: Vec<u32> = keyed.into_iter().map(|(_, thing)| thing).collect();
        let join = |group: &[Bounds]| group.iter().fold(Bounds::EMPTY, |all, &one| all.union(one));
        let sorted: Vec<Bounds> = order.iter().map(|&thing| boxes[thing as usize]).collect();
        let mut levels = vec![sorted.chunks(FOUR).map(join).collect::<Vec<_>>()];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            levels.push(last.chunks(FOUR).map(join).collect());
        }
        Self { order, levels }
    }

    /// The things, neighbors in space next to each other.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Visits the things in all boxes that `enter` accepts.
    pub fn visit(&self, mut enter: impl FnMut(&Bounds) -> bool, mut visit: impl FnMut(u32)) {
        let top = self.levels.len() - 1;
        let mut open = Vec::with_capacity(FOUR * self.levels.len());
        open.extend((0..self.levels[top].len()).map(|at| (top, at)));
        while let Some((level, at)) = open.pop() {
            if !enter(&self.levels[level][at]) {
                continue;
            }
            let below = |count: usize| FOUR * at..(FOUR * at + FOUR).min(count);
            if level == 0 {
                self.order[below(self.order.len())].iter().for_each(|&thing| visit(thing));
            } else {
                open.extend(below(self.levels[level - 1].len()).map(|at| (level - 1, at)));
            }
        }
    }
}

/// The Morton code of a point in the unit cube: the bits of its coordinates, 21 each, in turn.
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

/// Whether two boxes have a point in common.
pub(super) fn touch(a: &Bounds, b: &Bounds) -> bool {
    a.low.cmple(b.high).all() && b.low.cmple(a.high).all()
}

/// Whether a line may meet a box, or pass it within rounding.
pub(super) fn line_meets(bounds: &Bounds, origin: DVec3, direction: DVec3) -> bool {
    // Separating axes: the box's own are left to the cross products, which suffice for a line.
    let half = 0.5 * bounds.extent();
    let away = bounds.center() - origin;
    let moment = away.cross(direction).abs();
    let reach = DVec3::new(
        half.y * direction.z.abs() + half.z * direction.y.abs(),
        half.z * direction.x.abs() + half.x * direction.z.abs(),
        half.x * direction.y.abs() + half.y * direction.x.abs(),
    );
    let slack = 1e-12 * (away.abs().max_element() + half.max_element());
    moment.cmple(reach + DVec3::splat(slack)).all()
}
