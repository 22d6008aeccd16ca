//! Cells of space, hashed into lines of memory: who stands within reach of a way, without following pointers.
//!
//! A cell's droplets lie together in one line of 64 bytes, seven to a line, with all that a look round needs, packed into 8 bytes each: the place
//! in the cell in steps of 1/1024 of its width, the reach in quarters of the largest, and the slot. Eight neighbouring cells are
//! neighbours in memory too. Cells are many times as wide as a droplet of common size; a droplet too large for them stands in a class of its own
//! size, each twice the one before, so a look round touches a few cells whatever sizes meet. What comes back has been rounded up, and may
//! come twice; whoever asks looks at it closely. The order within a cell means nothing.

use glam::{DVec3, IVec3, Vec3};

use crate::droplets::NOBODY;

/// Cells per reach of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes of size; the last takes everything larger.
const NUM_CLASSES: usize = 24;
/// Droplets in a line.
const PER_LINE: usize = 7;
/// Droplets that a cell holds on average when they are spread as was said.
pub const PER_CELL: f64 = 3.5;
/// Steps of a place within a cell.
const STEPS: f64 = 1024.0;

/// Some droplets of a cell; `next` leads to more of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    /// Place and reach of each, packed; the last is nobody's.
    places: [u32; PER_LINE + 1],
    /// Their slots; [`NOBODY`] where there is room.
    slots: [u32; PER_LINE],
    next: u32,
}

const EMPTY: Line = Line { places: [0; PER_LINE + 1], slots: [NOBODY; PER_LINE], next: NOBODY };
const _: () = assert!(size_of::<Line>() == 64);

/// A droplet as its neighbours see it.
#[derive(Clone, Copy)]
struct Entry {
    place: u32,
    slot: u32,
}

impl Entry {
    /// At `within` a cell (0 to 1), with a reach in quarters of the class's largest, rounded up, less one.
    fn new(slot: u32, within: DVec3, quarters: u32) -> Self {
        let [x, y, z] = (within * STEPS).to_array().map(|step| (step as u32).min(STEPS as u32 - 1));
        Self { place: (quarters << 30) | (z << 20) | (y << 10) | x, slot }
    }
}

impl Line {
    fn of_one(entry: Entry, next: u32) -> Self {
        let mut line = Self { next, ..EMPTY };
        (line.places[0], line.slots[0]) = (entry.place, entry.slot);
        line
    }

    fn take(&mut self, entry: Entry) -> bool {
        let room = self.slots.iter().position(|&slot| slot == NOBODY);
        room.map(|k| (self.places[k], self.slots[k]) = (entry.place, entry.slot)).is_some()
    }

    fn vacate(&mut self, slot: u32) -> bool {
        let slot = self.slots.iter_mut().find(|found| **found == slot);
        slot.map(|slot| *slot = NOBODY).is_some()
    }
}

/// A way to look along: everybody within `around` plus their own reach of it.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The solid.
    pub solid: u32,
    /// Where it begins, in m.
    pub from: DVec3,
    /// Where it ends, in m.
    pub to: DVec3,
    /// In m.
    pub around: f64,
}

/// Room for looking along many ways.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    cells: Vec<Cell>,
    ends: Vec<usize>,
}

/// A cell that a way comes near.
#[derive(Clone, Copy, Debug)]
struct Cell {
    bucket: u32,
    class: u32,
    /// Its lower corner, from where the way begins, in m.
    corner: Vec3,
}

/// Slots by where they are.
#[derive(Clone, Debug)]
pub struct Grid {
    lines: Vec<Line>,
    /// Droplets in each bucket; lines of empty ones are not looked at and may hold anything. Once at the top it stays there.
    counts: Vec<u16>,
    /// Lines of cells with more droplets than one line holds.
    more: Vec<Line>,
    free: Vec<u32>,
    /// Droplets that ever stood in each class since it was cleared: zero means that nobody needs to look there.
    in_class: [u32; NUM_CLASSES],
    /// Largest reach seen in each class, in m.
    reaches: [f32; NUM_CLASSES],
    mask: u32,
    /// Largest reach of the first class, in m.
    first_reach: f64,
    /// One over the width of its cells, in 1/m.
    per_first_width: f64,
}

impl Grid {
    /// An empty one for about `count` droplets, whose smallest cells are `cell` m wide.
    pub fn new(count: usize, cell: f64) -> Self {
        let buckets = ((1.5 * count as f64 / PER_CELL) as usize).next_power_of_two().clamp(1 << 9, 1 << 26);
        Self {
            lines: vec![EMPTY; buckets],
            counts: vec![0; buckets],
            more: Vec::new(),
            free: Vec::new(),
            in_class: [0; NUM_CLASSES],
            reaches: [0.0; NUM_CLASSES],
            mask: buckets as u32 - 1,
            first_reach: cell / CELL_PER_REACH,
            per_first_width: 1.0 / cell,
        }
    }

    /// Whether most droplets are too large for the smallest cells.
    pub fn is_outgrown(&self) -> bool {
        let all: u32 = self.in_class.iter().sum();
        all > 16 && 2 * self.in_class[0] < all
    }

    /// Droplets in a cell, as a droplet finds them on average.
    pub fn crowd(&self) -> f64 {
        let (sum, squares) = self.counts.iter().fold((0.0, 0.0), |(sum, squares), &count| {
            let count = f64::from(count);
            (sum + count, squares + count * count)
        });
        if sum > 0.0 { squares / sum } else { 0.0 }
    }

    /// Largest reach of those that were ever in it since it was cleared, in m.
    pub fn largest_seen(&self) -> f64 {
        f64::from(self.reaches.iter().copied().fold(0.0, f32::max))
    }

    /// Takes everybody out.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.more.clear();
        self.free.clear();
        self.in_class = [0; NUM_CLASSES];
        self.reaches = [0.0; NUM_CLASSES];
    }

    /// Puts a slot where it belongs, and says into which bucket.
    pub fn insert(&mut self, slot: u32, solid: u32, point: DVec3, reach: f32) -> u32 {
        let bucket = self.bucket_at(solid, point, reach);
        self.insert_into(bucket, slot, point, reach)
    }

    /// The bucket of a droplet of this reach (in m) at a point of a solid.
    pub fn bucket_at(&self, solid: u32, point: DVec3, reach: f32) -> u32 {
        let class = self.class_of(f64::from(reach));
        self.bucket_of(class, solid, self.cell_of(class, point))
    }

    /// Fetches what is in these buckets, so that a change of each need not wait.
    pub fn fetch(&self, buckets: impl Iterator<Item = u32>) {
        let fetch = |sum, bucket: u32| sum ^ u32::from(self.counts[bucket as usize]) ^ self.lines[bucket as usize].next;
        std::hint::black_box(buckets.fold(0, fetch));
    }

    /// Puts a slot into the bucket where it belongs.
    pub fn insert_into(&mut self, bucket: u32, slot: u32, point: DVec3, reach: f32) -> u32 {
        let class = self.class_of(f64::from(reach));
        self.in_class[class] += 1;
        self.reaches[class] = self.reaches[class].max(reach);
        let quarters = (4.0 * f64::from(reach) / self.largest_reach(class)).ceil().clamp(1.0, 4.0) as u32 - 1;
        let within = point * self.per_width(class) - self.cell_of(class, point).as_dvec3();
        let entry = Entry::new(slot, within, quarters);
        let (count, first) = (&mut self.counts[bucket as usize], &mut self.lines[bucket as usize]);
        *count = count.saturating_add(1);
        if *count == 1 {
            *first = Line::of_one(entry, NOBODY);
            return bucket;
        }
        if first.take(entry) {
            return bucket;
        }
        let second = first.next;
        let mut at = second;
        while at != NOBODY {
            if self.more[at as usize].take(entry) {
                return bucket;
            }
            at = self.more[at as usize].next;
        }
        // A new line, between the first and the others.
        let added = Line::of_one(entry, second);
        let index = match self.free.pop() {
            Some(index) => {
                self.more[index as usize] = added;
                index
            }
            None => {
                self.more.push(added);
                self.more.len() as u32 - 1
            }
        };
        self.lines[bucket as usize].next = index;
        bucket
    }

    /// Takes a slot out of its bucket.
    pub fn remove(&mut self, bucket: u32, slot: u32) {
        let first = &mut self.lines[bucket as usize];
        if !first.vacate(slot) {
            let mut at = first.next;
            while at != NOBODY && !self.more[at as usize].vacate(slot) {
                at = self.more[at as usize].next;
            }
        }
        let count = &mut self.counts[bucket as usize];
        if *count < u16::MAX {
            *count -= 1;
        }
        if *count == 0 {
            let mut at = self.lines[bucket as usize].next;
            while at != NOBODY {
                self.free.push(at);
                at = self.more[at as usize].next;
            }
        }
    }

    /// Slots that may lie within `around` plus their own reach of the straight way between two points of a solid; some may belong to another
    /// solid, some come twice.
    pub fn near(&self, solid: u32, from: DVec3, to: DVec3, around: f64, mut found: impl FnMut(u32)) {
        let look = Look { solid, from, to, around };
        let way = Way::new(&look);
        self.cells(&look, |cell| {
            if self.counts[cell.bucket as usize] != 0 {
                self.look(&cell, &way, &mut found);
            }
        });
    }

    /// The same for many ways at once: `found` is told the index of a way and a slot.
    ///
    /// First which cells, then whether anybody is there, then their lines, then the droplets: what lies far apart in memory is fetched for all
    /// ways together and need not wait for one another.
    pub fn near_many(&self, looks: &[Look], scratch: &mut Scratch, mut found: impl FnMut(usize, u32)) {
        let Scratch { cells, ends } = scratch;
        cells.clear();
        ends.clear();
        for look in looks {
            self.cells(look, |cell| cells.push(cell));
            ends.push(cells.len());
        }
        let (mut first, mut kept) = (0, 0);
        for end in ends.iter_mut() {
            for k in first..*end {
                let cell = cells[k];
                cells[kept] = cell;
                kept += usize::from(self.counts[cell.bucket as usize] != 0);
            }
            first = std::mem::replace(end, kept);
        }
        let fetched = cells[..kept].iter().fold(0, |sum, cell| sum ^ self.lines[cell.bucket as usize].next);
        std::hint::black_box(fetched);
        let mut first = 0;
        for (index, (look, &end)) in looks.iter().zip(&*ends).enumerate() {
            let way = Way::new(look);
            for cell in &cells[first..end] {
                self.look(cell, &way, &mut |slot| found(index, slot));
            }
            first = end;
        }
    }

    /// All cells within `around` plus the reach of those in them of a way's box.
    fn cells(&self, look: &Look, mut each: impl FnMut(Cell)) {
        let &Look { solid, from, to, around } = look;
        for class in (0..NUM_CLASSES).filter(|&class| self.in_class[class] > 0) {
            let margin = around + f64::from(self.reaches[class]);
            let low = self.cell_of(class, from.min(to) - margin);
            let high = self.cell_of(class, from.max(to) + margin);
            let width = self.width(class);
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        let cell = IVec3::new(x, y, z);
                        let corner = (cell.as_dvec3() * width - from).as_vec3();
                        each(Cell { bucket: self.bucket_of(class, solid, cell), class: class as u32, corner });
                    }
                }
            }
        }
    }

    fn look(&self, cell: &Cell, way: &Way, found: &mut impl FnMut(u32)) {
        let class = cell.class as usize;
        let step = (self.width(class) / STEPS) as f32;
        // Half a step off in each direction at most; a droplet larger than its class is in the last.
        let quarter = 0.25 * (self.largest_reach(class) as f32).max(self.reaches[class]);
        let within = way.around + 0.9 * step + quarter;
        let corner = cell.corner + 0.5 * step;
        let mut line = &self.lines[cell.bucket as usize];
        loop {
            // Without branches, for all at once.
            let mut near = 0_u32;
            for (k, &place) in line.places.iter().enumerate() {
                let part = |shift: u32| ((place >> shift) & (STEPS as u32 - 1)) as i32 as f32 * step;
                let point = corner + Vec3::new(part(0), part(10), part(20));
                let within = within + (place >> 30) as i32 as f32 * quarter;
                near |= u32::from(way.distance_squared(point) <= within * within) << k;
            }
            near &= (1 << PER_LINE) - 1;
            while near != 0 {
                let slot = line.slots[near.trailing_zeros() as usize];
                near &= near - 1;
                if slot != NOBODY {
                    found(slot);
                }
            }
            if line.next == NOBODY {
                return;
            }
            line = &self.more[line.next as usize];
        }
    }

    fn bucket_of(&self, class: usize, solid: u32, cell: IVec3) -> u32 {
        let block: IVec3 = cell >> 1_i32;
        let within = (cell.x & 1) | (cell.y & 1) << 1 | (cell.z & 1) << 2;
        // Odd multipliers; the upper bits are the mixed ones.
        let mut hash = u64::from(block.x as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= u64::from(block.y as u32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        hash ^= u64::from(block.z as u32).wrapping_mul(0x1656_67B1_9E37_79F9);
        hash ^= (((class as u64) << 32) | u64::from(solid)).wrapping_mul(0x27D4_EB2F_1656_67C5);
        hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (((hash >> 38) as u32) << 3 | within as u32) & self.mask
    }

    fn class_of(&self, reach: f64) -> usize {
        let mut class = 0;
        let mut largest = self.first_reach;
        while reach > largest && class + 1 < NUM_CLASSES {
            class += 1;
            largest *= 2.0;
        }
        class
    }

    fn largest_reach(&self, class: usize) -> f64 {
        self.first_reach * f64::from(1_u32 << class)
    }

    fn width(&self, class: usize) -> f64 {
        CELL_PER_REACH * self.largest_reach(class)
    }

    fn per_width(&self, class: usize) -> f64 {
        self.per_first_width / f64::from(1_u32 << class)
    }

    fn cell_of(&self, class: usize, point: DVec3) -> IVec3 {
        // `floor` is a call where the processor is an old one; a cast and a comparison are not.
        (point * self.per_width(class)).to_array().map(floor).into()
    }
}

fn floor(x: f64) -> i32 {
    let cut = x as i32;
    cut - i32::from(f64::from(cut) > x)
}

/// A straight way from the origin, in single precision.
struct Way {
    way: Vec3,
    /// One over the square of its length; 0 for a point.
    per_square: f32,
    /// Rounded up.
    around: f32,
}

impl Way {
    fn new(look: &Look) -> Self {
        let way = (look.to - look.from).as_vec3();
        let square = way.length_squared();
        let per_square = if square > 0.0 { 1.0 / square } else { 0.0 };
        Self { way, per_square, around: look.around as f32 * (1.0 + 8.0 * f32::EPSILON) }
    }

    fn distance_squared(&self, point: Vec3) -> f32 {
        let along = (point.dot(self.way) * self.per_square).clamp(0.0, 1.0);
        (point - self.way * along).length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_world::random::Stream;

    #[test]
    fn everybody_in_reach_is_found_whatever_their_sizes() {
        let mut random = Stream::new(3, &[]);
        let mut grid = Grid::new(600, 2e-3);
        let place = |random: &mut Stream| {
            DVec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05 + DVec3::new(3.0, -1.0, 0.0)
        };
        let mut spots: Vec<(DVec3, f64, u32)> = (0..600)
            .map(|slot| {
                let (point, reach) = (place(&mut random), 10_f64.powf(random.uniform_in(-5.0, -2.3)));
                (point, reach, grid.insert(slot, 0, point, reach as f32))
            })
            .collect();
        for slot in (0..600).step_by(3) {
            let spot = &mut spots[slot];
            grid.remove(spot.2, slot as u32);
            spot.0 = place(&mut random);
            spot.2 = grid.insert(slot as u32, 0, spot.0, spot.1 as f32);
        }
        grid.remove(spots[7].2, 7);
        let looks: Vec<Look> =
            spots.iter().map(|&(from, around, _)| Look { solid: 0, from, to: place(&mut random), around }).collect();
        let mut found_at_once = vec![Vec::new(); looks.len()];
        grid.near_many(&looks, &mut Scratch::default(), |way, slot| found_at_once[way].push(slot as usize));
        for (&Look { from: point, to, around: reach, .. }, at_once) in looks.iter().zip(found_at_once) {
            let mut found = Vec::new();
            grid.near(0, point, to, reach, |other| found.push(other as usize));
            assert_eq!(found, at_once);
            for (other, spot) in spots.iter().enumerate() {
                let along = ((spot.0 - point).dot(to - point) / (to - point).length_squared()).clamp(0.0, 1.0);
                let distance = spot.0.distance(point.lerp(to, along));
                if other != 7 && distance < reach + spot.1 {
                    assert!(found.contains(&other), "{other} is not seen");
                }
            }
            assert!(!found.contains(&7));
        }
    }

    #[test]
    fn a_crowd_in_one_cell_comes_and_goes() {
        let mut grid = Grid::new(10, 1.0);
        let at = |slot: u32| DVec3::new(f64::from(slot) * 1e-3, 0.1, 0.1);
        for round in 0..3 {
            let buckets: Vec<u32> = (0..200).map(|slot| grid.insert(slot, 0, at(slot), 1e-4)).collect();
            let mut found = Vec::new();
            grid.near(0, at(0), at(200), 0.0, |slot| found.push(slot));
            found.sort_unstable();
            assert_eq!(found, (0..200).collect::<Vec<_>>());
            (0..200).for_each(|slot| grid.remove(buckets[slot as usize], slot));
            grid.near(0, at(0), at(200), 0.1, |slot| panic!("{slot} is still there in round {round}"));
        }
        assert!(grid.more.len() < 50, "{} lines", grid.more.len());
    }
}
