//! Cells of space: who stands within reach of a way.
//!
//! A cell's droplets lie together in one line of 64 bytes, seven to a line, with all that a look round needs, packed into 8 bytes each: the place
//! in the cell in steps of 1/1024 of its width, the reach in quarters of the largest, and the slot. Blocks of 4 × 4 × 4 cells are found by
//! a hash; a block knows the lines of its cells, and lines are laid out in the order in which cells were first entered. So droplets that are
//! entered, and ways that are looked along, in an order that goes through space go through memory too. Cells are many times as wide as a droplet of
//! common size; a droplet too large for them stands in a class of its own size, each twice the one before, so a look round touches a few cells
//! whatever sizes meet. What comes back has been rounded up, and may come twice; two blocks of one hash are one. Whoever asks looks at it
//! closely. The order within a cell means nothing.

use glam::{DVec3, IVec3, Vec3, Vec4};

use crate::droplets::NOBODY;
use crate::whole::nearest;

/// Cells per reach of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes of size; the last takes everything larger.
const NUM_CLASSES: usize = 24;
/// Droplets in a line.
const PER_LINE: usize = 7;
/// Droplets that a cell holds on average when they are spread as was said.
pub const PER_CELL: f64 = 5.0;
/// Cells of a block.
const PER_BLOCK: usize = 64;
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
#[derive(Clone, Copy, Debug)]
struct Entry {
    place: u32,
    slot: u32,
}

impl Entry {
    /// At `within` a cell (0 to 1), with a reach in quarters of the class's largest, rounded up, less one.
    fn new(slot: u32, within: DVec3, quarters: u32) -> Self {
        let [x, y, z] = (within * STEPS).to_array().map(|step| cell(step).clamp(0, STEPS as i32 - 1) as u32);
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

    fn update(&mut self, entry: Entry) -> bool {
        let there = self.slots.iter().position(|&slot| slot == entry.slot);
        there.map(|k| self.places[k] = entry.place).is_some()
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

/// What a look goes round: the straight way between its ends, or the whole box between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// The way.
    Way,
    /// The box.
    Box,
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
    /// Its bucket; then where its block knows it; then its first line.
    at: u32,
    class: u32,
    /// Its lower corner, from where the way begins, in m.
    corner: Vec3,
}

/// Slots by where they are.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Where the cells of the block of each hash begin; [`NOBODY`] where there is none.
    blocks: Vec<u32>,
    /// First line of each cell of each block; [`NOBODY`] where there is none.
    cells: Vec<u32>,
    lines: Vec<Line>,
    /// Droplets that it was made for.
    room: usize,
    tally: Tally,
    classes: [Class; NUM_CLASSES],
    mask: u32,
}

/// A class of size.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Largest reach, in m.
    reach: f64,
    /// Width of its cells, in m.
    width: f64,
    /// One over it, in 1/m.
    per_width: f64,
}

/// Who has come.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// Droplets that ever stood in each class since it was cleared: zero means that nobody needs to look there.
    in_class: [u32; NUM_CLASSES],
    /// A bit for each class that is not empty by that count.
    classes: u32,
    /// Largest reach seen in each class, in m.
    reaches: [f32; NUM_CLASSES],
}

impl Tally {
    fn count(&mut self, class: usize, reach: f32) {
        self.in_class[class] += 1;
        self.classes |= 1 << class;
        self.reaches[class] = self.reaches[class].max(reach);
    }

    fn add(&mut self, other: &Self) {
        for class in 0..NUM_CLASSES {
            self.in_class[class] += other.in_class[class];
            self.reaches[class] = self.reaches[class].max(other.reaches[class]);
        }
        self.classes |= other.classes;
    }
}

/// Droplets on their way into a grid: all that can be worked out about them without changing it, by several threads.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    entries: Vec<(u32, Entry)>,
    tally: Tally,
}

impl Arrivals {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.tally = Tally::default();
    }
}

impl Grid {
    /// An empty one for about `count` droplets, whose smallest cells are `cell` m wide.
    pub fn new(count: usize, cell: f64) -> Self {
        // A surface goes through some 16 cells of a block; four hashes for each.
        let hashes = ((count as f64 / PER_CELL / 4.0) as usize).next_power_of_two().clamp(1 << 8, 1 << 22);
        Self {
            blocks: vec![NOBODY; hashes],
            cells: Vec::new(),
            lines: Vec::new(),
            room: count,
            tally: Tally::default(),
            classes: std::array::from_fn(|class| {
                let width = cell * f64::from(1_u32 << class);
                Class { reach: width / CELL_PER_REACH, width, per_width: 1.0 / width }
            }),
            mask: hashes as u32 - 1,
        }
    }

    /// Whether most droplets are too large for the smallest cells, or many more cells were entered than there are droplets.
    pub fn is_outgrown(&self) -> bool {
        let in_class = &self.tally.in_class;
        let all: u32 = in_class.iter().sum();
        (all > 16 && 2 * in_class[0] < all) || self.lines.len() > self.room + 1024
    }

    /// Droplets in a cell, as a droplet finds them on average.
    pub fn crowd(&self) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for &first in &self.cells {
            let (mut line, mut count) = (first, 0);
            while line != NOBODY {
                let Line { slots, next, .. } = &self.lines[line as usize];
                count += slots.iter().filter(|&&slot| slot != NOBODY).count();
                line = *next;
            }
            let count = count as f64;
            (sum, squares) = (sum + count, squares + count * count);
        }
        if sum > 0.0 { squares / sum } else { 0.0 }
    }

    /// Largest reach of those that were ever in it since it was cleared, in m.
    pub fn largest_seen(&self) -> f64 {
        f64::from(self.tally.reaches.iter().copied().fold(0.0, f32::max))
    }

    /// Takes everybody out.
    pub fn clear(&mut self) {
        self.blocks.fill(NOBODY);
        self.cells.clear();
        self.lines.clear();
        self.tally = Tally::default();
    }

    /// Puts a slot where it belongs, and says into which bucket.
    pub fn insert(&mut self, slot: u32, solid: u32, point: DVec3, reach: f32) -> u32 {
        self.replace(NOBODY, slot, solid, point, reach)
    }

    /// Puts a slot that is in a bucket, or in none, where it belongs now, and says into which bucket.
    pub fn replace(&mut self, before: u32, slot: u32, solid: u32, point: DVec3, reach: f32) -> u32 {
        let (class, bucket, entry) = self.entry(slot, solid, point, reach);
        self.tally.count(class, reach);
        if before == bucket {
            let mut at = self.first_line(bucket);
            while at != NOBODY && !self.lines[at as usize].update(entry) {
                at = self.lines[at as usize].next;
            }
        } else {
            if before != NOBODY {
                self.remove(before, slot);
            }
            self.enter(bucket, entry);
        }
        bucket
    }

    /// Works that out for one of many, which [`Grid::take`] will enter.
    #[inline]
    pub fn announce(&self, arrivals: &mut Arrivals, slot: u32, solid: u32, point: DVec3, reach: f32) -> u32 {
        let (class, bucket, entry) = self.entry(slot, solid, point, reach);
        arrivals.tally.count(class, reach);
        arrivals.entries.push((bucket, entry));
        bucket
    }

    /// Enters those that were announced.
    pub fn take(&mut self, arrivals: &Arrivals) {
        self.tally.add(&arrivals.tally);
        for &(bucket, entry) in &arrivals.entries {
            self.enter(bucket, entry);
        }
    }

    /// Class, bucket and entry of a droplet of this reach (in m) at a point of a solid.
    #[inline]
    fn entry(&self, slot: u32, solid: u32, point: DVec3, reach: f32) -> (usize, u32, Entry) {
        let class = self.class_of(f64::from(reach));
        let Class { reach: largest, per_width, .. } = self.classes[class];
        let home = self.cell_of(class, point);
        let quarters = (4.0 * f64::from(reach) / largest).min(3.9) as u32;
        let within = point * per_width - home.as_dvec3();
        (class, self.bucket_of(class, solid, home), Entry::new(slot, within, quarters))
    }

    fn enter(&mut self, bucket: u32, entry: Entry) {
        let block = &mut self.blocks[bucket as usize / PER_BLOCK];
        if *block == NOBODY {
            *block = self.cells.len() as u32;
            self.cells.extend([NOBODY; PER_BLOCK]);
        }
        let first = &mut self.cells[*block as usize + bucket as usize % PER_BLOCK];
        let mut at = *first;
        while at != NOBODY {
            if self.lines[at as usize].take(entry) {
                return;
            }
            at = self.lines[at as usize].next;
        }
        self.lines.push(Line::of_one(entry, *first));
        *first = self.lines.len() as u32 - 1;
    }

    /// Takes a slot out of its bucket.
    pub fn remove(&mut self, bucket: u32, slot: u32) {
        let mut at = self.first_line(bucket);
        while at != NOBODY && !self.lines[at as usize].vacate(slot) {
            at = self.lines[at as usize].next;
        }
    }

    /// Reads something of a bucket.
    pub fn fetch(&self, bucket: u32) -> u32 {
        self.lines.get(self.first_line(bucket) as usize).map_or(0, |line| line.next)
    }

    /// The first line of a bucket, if anybody has ever been there.
    #[inline]
    fn first_line(&self, bucket: u32) -> u32 {
        match self.blocks[bucket as usize / PER_BLOCK] {
            NOBODY => NOBODY,
            block => self.cells[block as usize + bucket as usize % PER_BLOCK],
        }
    }

    /// Slots that may lie within `around` plus their own reach of the straight way between two points of a solid; some may belong to another
    /// solid, some come twice.
    pub fn near(&self, solid: u32, from: DVec3, to: DVec3, around: f64, mut found: impl FnMut(u32)) {
        let look = Look { solid, from, to, around };
        let way = Way::new(&look, Region::Way);
        self.cells(&look, |cell| {
            let line = self.first_line(cell.at);
            if line != NOBODY {
                self.look(&Cell { at: line, ..cell }, &way, &mut found);
            }
        });
    }

    /// The same for many ways at once: `found` is told the index of a way and a slot.
    ///
    /// First all cells, then their blocks, then their lines, then the droplets, in loops so short that the processor is far ahead: what lies apart
    /// in memory is fetched for all ways together and need not wait for one another.
    pub fn near_many(&self, looks: &[Look], region: Region, scratch: &mut Scratch, mut found: impl FnMut(usize, u32)) {
        let Scratch { cells, ends } = scratch;
        cells.clear();
        ends.clear();
        for look in looks {
            self.cells(look, |cell| cells.push(cell));
            ends.push(cells.len());
        }
        for cell in &mut *cells {
            let block = self.blocks[cell.at as usize / PER_BLOCK];
            cell.at = if block == NOBODY { NOBODY } else { block + cell.at % PER_BLOCK as u32 };
        }
        let (mut first, mut kept) = (0, 0);
        for end in ends.iter_mut() {
            for k in first..*end {
                let mut cell = cells[k];
                cell.at = self.cells.get(cell.at as usize).copied().unwrap_or(NOBODY);
                cells[kept] = cell;
                kept += usize::from(cell.at != NOBODY);
            }
            first = std::mem::replace(end, kept);
        }
        let fetched = cells[..kept].iter().fold(0, |sum, cell| sum ^ self.lines[cell.at as usize].next);
        std::hint::black_box(fetched);
        let mut first = 0;
        for (index, (look, &end)) in looks.iter().zip(&*ends).enumerate() {
            let way = Way::new(look, region);
            for cell in &cells[first..end] {
                self.look(cell, &way, &mut |slot| found(index, slot));
            }
            first = end;
        }
    }

    /// All cells within `around` plus the reach of those in them of a way's box.
    fn cells(&self, look: &Look, mut each: impl FnMut(Cell)) {
        let &Look { solid, from, to, around } = look;
        let mut classes = self.tally.classes;
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            let margin = around + f64::from(self.tally.reaches[class]);
            let low = self.cell_of(class, from.min(to) - margin);
            let high = self.cell_of(class, from.max(to) + margin);
            let width = self.classes[class].width;
            let home = hash_of_class(class, solid);
            let corner = |cell: i32, from: f64| (f64::from(cell) * width - from) as f32;
            for z in low.z..=high.z {
                let (hash, in_block, along_z) = (home ^ hash_z(z), (z & 3) << 4, corner(z, from.z));
                for y in low.y..=high.y {
                    let (hash, in_block, along_y) = (hash ^ hash_y(y), in_block | (y & 3) << 2, corner(y, from.y));
                    for x in low.x..=high.x {
                        let at = self.bucket_with(hash ^ hash_x(x), in_block | (x & 3));
                        let corner = Vec3::new(corner(x, from.x), along_y, along_z);
                        each(Cell { at, class: class as u32, corner });
                    }
                }
            }
        }
    }

    fn look(&self, cell: &Cell, way: &Way, found: &mut impl FnMut(u32)) {
        let class = cell.class as usize;
        let step = (self.classes[class].width * (1.0 / STEPS)) as f32;
        // Half a step off in each direction at most; a droplet larger than its class is in the last.
        let quarter = 0.25 * (self.classes[class].reach as f32).max(self.tally.reaches[class]);
        let within = way.around + 0.9 * step + quarter;
        let corner = cell.corner + 0.5 * step;
        let mut line = &self.lines[cell.at as usize];
        loop {
            let mut near = way.near(&line.places, corner, step, within, quarter) & ((1 << PER_LINE) - 1);
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
            line = &self.lines[line.next as usize];
        }
    }

    #[inline]
    fn bucket_of(&self, class: usize, solid: u32, cell: IVec3) -> u32 {
        let hash = hash_of_class(class, solid) ^ hash_x(cell.x) ^ hash_y(cell.y) ^ hash_z(cell.z);
        self.bucket_with(hash, (cell.x & 3) | (cell.y & 3) << 2 | (cell.z & 3) << 4)
    }

    /// The bucket of a cell by the hash of its block and its number within that.
    #[inline]
    fn bucket_with(&self, hash: u64, within: i32) -> u32 {
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (((hash >> 38) as u32 & self.mask) << 6) | within as u32
    }

    #[inline]
    fn class_of(&self, reach: f64) -> usize {
        let mut class = 0;
        while class + 1 < NUM_CLASSES && reach > self.classes[class].reach {
            class += 1;
        }
        class
    }

    #[inline]
    fn cell_of(&self, class: usize, point: DVec3) -> IVec3 {
        (point * self.classes[class].per_width).to_array().map(cell).into()
    }
}

/// Parts of a block's hash, for classes and solids and for each axis of a cell: odd multipliers; the upper bits are the mixed ones.
#[inline]
fn hash_of_class(class: usize, solid: u32) -> u64 {
    (((class as u64) << 32) | u64::from(solid)).wrapping_mul(0x27D4_EB2F_1656_67C5)
}

#[inline]
fn hash_x(cell: i32) -> u64 {
    u64::from((cell >> 2) as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn hash_y(cell: i32) -> u64 {
    u64::from((cell >> 2) as u32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
}

#[inline]
fn hash_z(cell: i32) -> u64 {
    u64::from((cell >> 2) as u32).wrapping_mul(0x1656_67B1_9E37_79F9)
}

/// The cell of a coordinate in widths: ⌊x⌋, but for a whole number perhaps the one below; the same for every droplet.
#[inline]
fn cell(x: f64) -> i32 {
    nearest(x - 0.5)
}

/// A straight way from the origin, or the box round it, in single precision.
struct Way {
    region: Region,
    way: Vec3,
    /// One over the square of its length; 0 for a point.
    per_square: f32,
    /// Rounded up.
    around: f32,
}

impl Way {
    fn new(look: &Look, region: Region) -> Self {
        let way = (look.to - look.from).as_vec3();
        let square = way.length_squared();
        let per_square = if square > 0.0 { 1.0 / square } else { 0.0 };
        Self { region, way, per_square, around: look.around as f32 * (1.0 + 8.0 * f32::EPSILON) }
    }

    /// A bit for each of a line's places within reach; four are looked at at once.
    #[inline]
    fn near(&self, places: &[u32; PER_LINE + 1], corner: Vec3, step: f32, within: f32, quarter: f32) -> u32 {
        let part = |shift: u32, mask: u32| -> [Vec4; 2] {
            let mut parts = [0.0; PER_LINE + 1];
            for (part, &place) in parts.iter_mut().zip(places) {
                *part = ((place >> shift) & mask) as i32 as f32;
            }
            [Vec4::from_slice(&parts[..4]), Vec4::from_slice(&parts[4..])]
        };
        const PLACE: u32 = STEPS as u32 - 1;
        let [x, y, z, reach] = [part(0, PLACE), part(10, PLACE), part(20, PLACE), part(30, 3)];
        let way = self.way;
        let half = |k: usize| {
            let (x, y, z) = (x[k] * step + corner.x, y[k] * step + corner.y, z[k] * step + corner.z);
            let (x, y, z) = match self.region {
                Region::Way => {
                    let along = ((x * way.x + y * way.y + z * way.z) * self.per_square).max(Vec4::ZERO).min(Vec4::ONE);
                    (x - along * way.x, y - along * way.y, z - along * way.z)
                }
                Region::Box => {
                    let nearest = |at: Vec4, end: f32| at.max(Vec4::splat(end.min(0.0))).min(Vec4::splat(end.max(0.0)));
                    (x - nearest(x, way.x), y - nearest(y, way.y), z - nearest(z, way.z))
                }
            };
            let within = reach[k] * quarter + within;
            (x * x + y * y + z * z).cmple(within * within).bitmask()
        };
        half(0) | half(1) << 4
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
        let mut found_in_box = found_at_once.clone();
        grid.near_many(&looks, Region::Way, &mut Scratch::default(), |way, slot| {
            found_at_once[way].push(slot as usize);
        });
        grid.near_many(&looks, Region::Box, &mut Scratch::default(), |way, slot| found_in_box[way].push(slot as usize));
        for (look, in_box) in looks.iter().zip(found_in_box) {
            let (low, high) = (look.from.min(look.to), look.from.max(look.to));
            for (other, spot) in spots.iter().enumerate().filter(|&(other, _)| other != 7) {
                if spot.0.distance(spot.0.clamp(low, high)) < look.around + spot.1 {
                    assert!(in_box.contains(&other), "{other} is not seen in the box");
                }
            }
        }
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
        assert!(grid.lines.len() < 50, "{} lines", grid.lines.len());
    }
}
