//! Which drops are near a point: buckets at several scales, so that a speck and a puddle are both found by looking at a few.
//!
//! Level l has square buckets of side s₀·2ˡ and holds the drops whose reach is at most half that and more than a quarter. A
//! drop that touches a disc about p therefore has its center within disc radius + half a side of p. Entering, leaving and
//! looking cost the same however many drops there are. The order in which drops are found depends on their history:
//! whoever looks must not depend on it.

use glam::{DVec2, Vec2};

const NONE: u32 = u32::MAX;

/// Buckets of drop slots.
#[derive(Clone, Debug)]
pub struct Neighbors {
    buckets: Buckets,
    /// What a look needs of each drop, by slot.
    members: Vec<Member>,
    /// The one before in the same bucket, by slot.
    previous: Vec<u32>,
    /// Coordinates in single precision are off by less than this, in m.
    rounding: f32,
}

/// The levels, and which bucket each slot is in.
#[derive(Clone, Debug)]
pub struct Buckets {
    levels: Vec<Level>,
    /// `NONE` as the bucket of those that are nowhere.
    place: Vec<(u8, u32)>,
}

/// A drop as a look sees it: a quarter of a line of memory, in place of the drop's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    at: Vec2,
    reach: f32,
    /// The next in the same bucket.
    next: u32,
}

impl Member {
    /// A drop has moved or changed its reach, within its bucket.
    pub fn moved(&mut self, at: DVec2, reach: f32) {
        (self.at, self.reach) = (at.as_vec2(), reach);
    }
}

#[derive(Clone, Debug)]
struct Level {
    side: f64,
    per_side: f64,
    columns: usize,
    rows: usize,
    first: Vec<u32>,
    count: usize,
}

impl Level {
    // Casts take what lies beside the sheet to its edge.
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
    /// Whether a drop with this center and reach belongs where it is.
    pub fn hold(&self, slot: u32, at: DVec2, reach: f32) -> bool {
        self.place[slot as usize] == self.place_of(at, reach)
    }

    fn place_of(&self, at: DVec2, reach: f32) -> (u8, u32) {
        // The largest level is one bucket: whatever is in it is looked at.
        let fits = |level: &Level| 2.0 * f64::from(reach) <= level.side;
        let number = self.levels.iter().position(fits).unwrap_or(self.levels.len() - 1);
        (number as u8, self.levels[number].bucket(at))
    }
}

impl Neighbors {
    /// For a sheet of this size, in m, with buckets of `side` at the finest level.
    pub fn new(size: DVec2, side: f64) -> Self {
        // More buckets than this along a side cost memory and gain nothing.
        const MOST_BUCKETS: f64 = 2048.0;
        let mut side = side.max(size.max_element() / MOST_BUCKETS);
        let mut levels = Vec::new();
        loop {
            let columns = (size.x / side).ceil().max(1.0) as usize;
            let rows = (size.y / side).ceil().max(1.0) as usize;
            levels.push(Level {
                side,
                per_side: 1.0 / side,
                columns,
                rows,
                first: vec![NONE; columns * rows],
                count: 0,
            });
            if columns == 1 && rows == 1 {
                break;
            }
            side *= 2.0;
        }
        // Two coordinates of each of two drops, rounded: four units in the last place and some.
        let rounding = 8.0 * f32::EPSILON * size.max_element() as f32;
        Self { buckets: Buckets { levels, place: Vec::new() }, members: Vec::new(), previous: Vec::new(), rounding }
    }

    /// The buckets, and what is to be kept up to date when drops are moved within them.
    pub fn parts(&mut self) -> (&Buckets, &mut [Member]) {
        (&self.buckets, &mut self.members)
    }

    /// Takes up a drop: its slot, center and reach.
    pub fn insert(&mut self, slot: u32, at: DVec2, reach: f32) {
        let index = slot as usize;
        if self.members.len() <= index {
            self.members.resize(index + 1, Member::default());
            self.previous.resize(index + 1, NONE);
            self.buckets.place.resize(index + 1, (0, NONE));
        }
        let (number, bucket) = self.buckets.place_of(at, reach);
        self.buckets.place[index] = (number, bucket);
        let level = &mut self.buckets.levels[usize::from(number)];
        let next = std::mem::replace(&mut level.first[bucket as usize], slot);
        level.count += 1;
        self.members[index] = Member { at: at.as_vec2(), reach, next };
        self.previous[index] = NONE;
        if next != NONE {
            self.previous[next as usize] = slot;
        }
    }

    /// Lets a drop go.
    pub fn remove(&mut self, slot: u32) {
        let index = slot as usize;
        let (number, bucket) = std::mem::replace(&mut self.buckets.place[index], (0, NONE));
        debug_assert!(bucket != NONE, "slot {slot} is in no bucket");
        let level = &mut self.buckets.levels[usize::from(number)];
        level.count -= 1;
        let (previous, next) = (self.previous[index], self.members[index].next);
        if previous == NONE {
            level.first[bucket as usize] = next;
        } else {
            self.members[previous as usize].next = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    /// A drop has moved or changed its reach.
    pub fn update(&mut self, slot: u32, at: DVec2, reach: f32) {
        if self.buckets.hold(slot, at, reach) {
            self.members[slot as usize].moved(at, reach);
        } else {
            self.remove(slot);
            self.insert(slot, at, reach);
        }
    }

    /// Calls `visit` with every drop that touches the disc; a few that miss it by a rounding error come too.
    pub fn near(&self, at: DVec2, radius: f64, mut visit: impl FnMut(u32)) {
        let (center, reach) = (at.as_vec2(), radius as f32 + self.rounding);
        for level in self.buckets.levels.iter().filter(|level| level.count > 0) {
            let margin = radius + 0.5 * level.side;
            let (left, right) = (level.column(at.x - margin), level.column(at.x + margin));
            for row in level.row(at.y - margin)..=level.row(at.y + margin) {
                for &first in &level.first[row * level.columns + left..=row * level.columns + right] {
                    let mut slot = first;
                    while slot != NONE {
                        let member = &self.members[slot as usize];
                        if center.distance_squared(member.at) <= (reach + member.reach).powi(2) {
                            visit(slot);
                        }
                        slot = member.next;
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

    /// Compared with looking at all of them, through insertions, moves and removals.
    #[test]
    fn finds_every_drop_that_touches() {
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
                        neighbors.remove(slot as u32);
                        drops[slot] = None;
                    }
                    Some(_) => {
                        neighbors.update(slot as u32, at, reach);
                        drops[slot] = Some((at, reach));
                    }
                    None => {}
                }
            } else {
                neighbors.insert(drops.len() as u32, at, reach);
                drops.push(Some((at, reach)));
            }
            let (center, radius) = (DVec2::new(random.uniform(), random.uniform()) * size, 3e-3 * random.uniform());
            let touches = |drop: &(DVec2, f32)| drop.0.distance(center) <= radius + f64::from(drop.1);
            let mut found = Vec::new();
            neighbors.near(center, radius, |slot| {
                if drops[slot as usize].as_ref().is_some_and(touches) {
                    found.push(slot);
                }
            });
            found.sort_unstable();
            let all: Vec<u32> =
                (0..drops.len() as u32).filter(|&s| drops[s as usize].as_ref().is_some_and(touches)).collect();
            assert_eq!(found, all);
        }
    }
}
