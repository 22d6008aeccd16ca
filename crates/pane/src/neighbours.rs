//! Which drops are near a point: buckets at several scales, so that a speck and a puddle are both found by looking at a few.
//!
//! Level l has square buckets of side s₀·2ˡ and holds the drops whose reach is at most half that and more than a quarter. A
//! drop that touches a disc about p therefore has its centre within disc radius + half a side of p. Entering, leaving and
//! looking cost the same however many drops there are. The order in which drops are found depends on their history:
//! whoever looks must not depend on it.

use glam::DVec2;

const NONE: u32 = u32::MAX;

/// Buckets of drop slots.
#[derive(Clone, Debug)]
pub struct Neighbours {
    levels: Vec<Level>,
    /// The next drop in the same bucket, by slot.
    next: Vec<u32>,
    /// The one before, by slot.
    previous: Vec<u32>,
    /// Where each slot is; `NONE` as the bucket of those that are nowhere.
    place: Vec<(u8, u32)>,
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

impl Neighbours {
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
        Self { levels, next: Vec::new(), previous: Vec::new(), place: Vec::new() }
    }

    /// Takes up a drop: its slot, centre and reach.
    pub fn insert(&mut self, slot: u32, at: DVec2, reach: f64) {
        let index = slot as usize;
        if self.place.len() <= index {
            self.next.resize(index + 1, NONE);
            self.previous.resize(index + 1, NONE);
            self.place.resize(index + 1, (0, NONE));
        }
        let number = self.level_of(reach);
        let level = &mut self.levels[number];
        let bucket = level.bucket(at);
        let first = std::mem::replace(&mut level.first[bucket as usize], slot);
        level.count += 1;
        self.next[index] = first;
        self.previous[index] = NONE;
        if first != NONE {
            self.previous[first as usize] = slot;
        }
        self.place[index] = (number as u8, bucket);
    }

    /// Lets a drop go.
    pub fn remove(&mut self, slot: u32) {
        let index = slot as usize;
        let (number, bucket) = std::mem::replace(&mut self.place[index], (0, NONE));
        debug_assert!(bucket != NONE, "slot {slot} is in no bucket");
        let level = &mut self.levels[number as usize];
        level.count -= 1;
        let (previous, next) = (self.previous[index], self.next[index]);
        if previous == NONE {
            level.first[bucket as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    /// A drop has moved or changed its reach.
    pub fn update(&mut self, slot: u32, at: DVec2, reach: f64) {
        if !self.is_in_place(slot, at, reach) {
            self.remove(slot);
            self.insert(slot, at, reach);
        }
    }

    /// Whether a drop with this centre and reach belongs where it is.
    pub fn is_in_place(&self, slot: u32, at: DVec2, reach: f64) -> bool {
        let number = self.level_of(reach);
        self.place[slot as usize] == (number as u8, self.levels[number].bucket(at))
    }

    /// Calls `visit` with every drop that may touch the disc; a few more come too.
    pub fn near(&self, at: DVec2, radius: f64, mut visit: impl FnMut(u32)) {
        for level in self.levels.iter().filter(|level| level.count > 0) {
            let margin = radius + 0.5 * level.side;
            // Casts take what lies beside the sheet to its edge.
            let (left, right) = (level.column(at.x - margin), level.column(at.x + margin));
            for row in level.row(at.y - margin)..=level.row(at.y + margin) {
                for &first in &level.first[row * level.columns + left..=row * level.columns + right] {
                    let mut slot = first;
                    while slot != NONE {
                        visit(slot);
                        slot = self.next[slot as usize];
                    }
                }
            }
        }
    }

    fn level_of(&self, reach: f64) -> usize {
        // The largest level is one bucket: whatever is in it is looked at.
        self.levels.iter().position(|level| 2.0 * reach <= level.side).unwrap_or(self.levels.len() - 1)
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
        let mut neighbours = Neighbours::new(size, 1e-3);
        let mut drops: Vec<Option<(DVec2, f64)>> = Vec::new();
        for round in 0..3000u32 {
            let at = DVec2::new(random.uniform(), random.uniform()) * size;
            let reach = 1e-4 * (1000.0_f64).powf(random.uniform());
            if round % 3 == 2 {
                let slot = random.index(drops.len());
                match drops[slot] {
                    Some(_) if round % 2 == 0 => {
                        neighbours.remove(slot as u32);
                        drops[slot] = None;
                    }
                    Some(_) => {
                        neighbours.update(slot as u32, at, reach);
                        drops[slot] = Some((at, reach));
                    }
                    None => {}
                }
            } else {
                neighbours.insert(drops.len() as u32, at, reach);
                drops.push(Some((at, reach)));
            }
            let (center, radius) = (DVec2::new(random.uniform(), random.uniform()) * size, 3e-3 * random.uniform());
            let touches = |drop: &(DVec2, f64)| drop.0.distance(center) <= radius + drop.1;
            let mut found = Vec::new();
            neighbours.near(center, radius, |slot| {
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
