//! Neighbor search: buckets at several scales, so that small and large drops are both found in a
//! few of them.
//!
//! Level l has square buckets of side s₀·2ˡ and holds the drops whose merge radius is at most half
//! that and more than a quarter. A drop that touches a disc about p therefore has its center within
//! the disc's radius plus half a side of p. Insertion, removal and queries take the same time for
//! any number of drops. The order in which drops are found depends on their history, so callers
//! must not depend on it.

use std::num::NonZeroU32;

use glam::{DVec2, Vec2};
use sessile_numerics::OptionalIndex;
use sessile_sliding::SlotIndex;

/// Largest number of buckets along a side: more cost memory without a gain.
const MAX_BUCKETS: f64 = 2048.0;

/// A slot in a bucket's linked list; none at its end.
type Link = OptionalIndex<SlotIndex>;

/// A bucket: its level and its index there plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BucketId {
    level: u8,
    index_plus_one: NonZeroU32,
}

impl BucketId {
    fn new(level: usize, index: u32) -> Self {
        Self { level: level as u8, index_plus_one: NonZeroU32::MIN.saturating_add(index) }
    }

    #[inline]
    fn index(self) -> usize {
        self.index_plus_one.get() as usize - 1
    }
}

const _: () = assert!(size_of::<Option<BucketId>>() == 8);

/// Buckets of drop slots.
#[derive(Clone, Debug)]
pub struct Neighbors {
    buckets: Buckets,
    /// What a query needs of each drop, by slot.
    members: Vec<Member>,
    /// The previous slot in the same bucket, by slot.
    previous: Vec<Link>,
    /// Bound on the rounding error of coordinates in single precision, in m.
    rounding: f32,
}

/// The levels, and the bucket of each slot.
#[derive(Clone, Debug)]
pub struct Buckets {
    levels: Vec<Level>,
    /// `None` for slots in no bucket.
    bucket_of: Vec<Option<BucketId>>,
}

/// A drop as a query sees it: a quarter of a cache line instead of a whole one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    at: Vec2,
    radius: f32,
    /// The next slot in the same bucket.
    next: Link,
}

impl Member {
    /// Updates a drop that has moved or changed its merge radius within its bucket.
    #[inline]
    pub fn moved(&mut self, at: DVec2, radius: f32) {
        (self.at, self.radius) = (at.as_vec2(), radius);
    }
}

#[derive(Clone, Debug)]
struct Level {
    side: f64,
    per_side: f64,
    columns: usize,
    rows: usize,
    first: Vec<Link>,
    count: usize,
}

impl Level {
    // Casts clamp positions outside the pane to its edge.
    fn column(&self, x: f64) -> usize {
        ((x * self.per_side) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        ((y * self.per_side) as usize).min(self.rows - 1)
    }

    fn bucket(&self, at: DVec2) -> u32 {
        (self.row(at.y) * self.columns + self.column(at.x)) as u32
    }
}

impl Buckets {
    /// Whether a drop with this center and merge radius belongs in its present bucket.
    #[inline]
    pub fn hold(&self, slot: SlotIndex, at: DVec2, radius: f32) -> bool {
        self.bucket_of[slot] == Some(self.bucket_for(at, radius))
    }

    #[inline]
    fn bucket_for(&self, at: DVec2, radius: f32) -> BucketId {
        // The coarsest level is one bucket, which every query visits.
        let fits = |level: &Level| 2.0 * f64::from(radius) <= level.side;
        let level = self.levels.iter().position(fits).unwrap_or(self.levels.len() - 1);
        BucketId::new(level, self.levels[level].bucket(at))
    }
}

impl Neighbors {
    /// For a pane of this size with buckets of `side` at the finest level, both in m.
    pub fn new(size: DVec2, side: f64) -> Self {
        let mut side = side.max(size.max_element() / MAX_BUCKETS);
        let mut levels = Vec::new();
        loop {
            let columns = (size.x / side).ceil().max(1.0) as usize;
            let rows = (size.y / side).ceil().max(1.0) as usize;
            let first = vec![Link::NONE; columns * rows];
            levels.push(Level { side, per_side: 1.0 / side, columns, rows, first, count: 0 });
            if columns == 1 && rows == 1 {
                break;
            }
            side *= 2.0;
        }
        // Two rounded coordinates of each of two drops: four units in the last place and a margin.
        let rounding = 8.0 * f32::EPSILON * size.max_element() as f32;
        let buckets = Buckets { levels, bucket_of: Vec::new() };
        Self { buckets, members: Vec::new(), previous: Vec::new(), rounding }
    }

    /// The buckets, and the members that must be updated when drops move within them.
    pub fn parts(&mut self) -> (&Buckets, &mut [Member]) {
        (&self.buckets, &mut self.members)
    }

    /// Adds a drop: its slot, center and merge radius.
    pub fn insert(&mut self, slot: SlotIndex, at: DVec2, radius: f32) {
        let index = slot.to_usize();
        if self.members.len() <= index {
            self.members.resize(index + 1, Member::default());
            self.previous.resize(index + 1, Link::NONE);
            self.buckets.bucket_of.resize(index + 1, None);
        }
        let bucket = self.buckets.bucket_for(at, radius);
        self.buckets.bucket_of[index] = Some(bucket);
        let level = &mut self.buckets.levels[usize::from(bucket.level)];
        let next = std::mem::replace(&mut level.first[bucket.index()], Link::some(slot));
        level.count += 1;
        self.members[index] = Member { at: at.as_vec2(), radius, next };
        self.previous[index] = Link::NONE;
        if let Some(next) = next.get() {
            self.previous[next] = Link::some(slot);
        }
    }

    /// Removes a drop.
    ///
    /// # Panics
    ///
    /// If the slot is in no bucket.
    pub fn remove(&mut self, slot: SlotIndex) {
        let index = slot.to_usize();
        let bucket = self.buckets.bucket_of[index].take().expect("the slot is in a bucket");
        let level = &mut self.buckets.levels[usize::from(bucket.level)];
        level.count -= 1;
        let (previous, next) = (self.previous[index], self.members[index].next);
        match previous.get() {
            None => level.first[bucket.index()] = next,
            Some(previous) => self.members[previous].next = next,
        }
        if let Some(next) = next.get() {
            self.previous[next] = previous;
        }
    }

    /// Updates a drop that has moved or changed its merge radius.
    pub fn update(&mut self, slot: SlotIndex, at: DVec2, radius: f32) {
        if self.buckets.hold(slot, at, radius) {
            self.members[slot].moved(at, radius);
        } else {
            self.remove(slot);
            self.insert(slot, at, radius);
        }
    }

    /// Calls `visit` with every drop that touches the disc, and with a few that miss it by a
    /// rounding error.
    pub fn near(&self, at: DVec2, radius: f64, mut visit: impl FnMut(SlotIndex)) {
        let (center, reach) = (at.as_vec2(), radius as f32 + self.rounding);
        for level in self.buckets.levels.iter().filter(|level| level.count > 0) {
            let margin = radius + 0.5 * level.side;
            let (left, right) = (level.column(at.x - margin), level.column(at.x + margin));
            for row in level.row(at.y - margin)..=level.row(at.y + margin) {
                for &first in &level.first[row * level.columns + left..=row * level.columns + right] {
                    let mut link = first;
                    while let Some(slot) = link.get() {
                        let member = &self.members[slot];
                        if center.distance_squared(member.at) <= (reach + member.radius).powi(2) {
                            visit(slot);
                        }
                        link = member.next;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_world::random::Stream;

    /// Compared with a brute-force search, through insertions, moves and removals.
    #[test]
    fn every_touching_drop_is_found() {
        let size = DVec2::new(0.3, 0.2);
        let mut random = Stream::new(7, &[]);
        let mut neighbors = Neighbors::new(size, 1e-3);
        let mut drops: Vec<Option<(DVec2, f32)>> = Vec::new();
        for round in 0..3000u32 {
            let at = DVec2::new(random.uniform(), random.uniform()) * size;
            let reach = 1e-4 * 1000f32.powf(random.uniform() as f32);
            if round % 3 == 2 {
                let slot = random.index(drops.len());
                match drops[slot] {
                    Some(_) if round % 2 == 0 => {
                        neighbors.remove(SlotIndex::new(slot));
                        drops[slot] = None;
                    }
                    Some(_) => {
                        neighbors.update(SlotIndex::new(slot), at, reach);
                        drops[slot] = Some((at, reach));
                    }
                    None => {}
                }
            } else {
                neighbors.insert(SlotIndex::new(drops.len()), at, reach);
                drops.push(Some((at, reach)));
            }
            let (center, radius) = (DVec2::new(random.uniform(), random.uniform()) * size, 3e-3 * random.uniform());
            let touches = |drop: &(DVec2, f32)| drop.0.distance(center) <= radius + f64::from(drop.1);
            let mut found = Vec::new();
            neighbors.near(center, radius, |slot| {
                if drops[slot].as_ref().is_some_and(touches) {
                    found.push(slot);
                }
            });
            found.sort_unstable();
            let all: Vec<SlotIndex> =
                SlotIndex::first(drops.len()).filter(|&s| drops[s].as_ref().is_some_and(touches)).collect();
            assert_eq!(found, all);
        }
    }
}
