//! Cells of space: who stands within merge_radius of a way.
//!
//! A cell's droplets lie together in lines of 64 bytes, seven to a line, with all that a look round needs. Blocks of 4 × 4 × 4 cells are
//! found by a hash; a block knows the lines of its cells, and lines are laid out in the order in which cells were first entered. So droplets that are
//! entered, and ways that are looked along, in an order that goes through space go through memory too. Cells are many times as wide as a droplet of
//! common size; a droplet too large for them stands in a class of its own size, each twice the one before, so a look round touches a few cells
//! whatever sizes meet. What comes back has been rounded up, and may come twice; two blocks of one hash are one. Whoever asks looks at it
//! closely. The order within a cell means nothing.
//!
//! Places are whole numbers of steps, 128 to a cell: the cell of a step is its number without the lowest seven bits, the block without the lowest nine. A block has
//! a bit for each cell that was ever entered, so the cells of a look are those of its box and of that word in one.

mod block;
mod cache_line;
mod quantized;

use block::{Block, PER_BLOCK};
use cache_line::{CacheLine, Entry};
use glam::DVec3;
use quantized::{Bounds, CELL_BITS, GridPoint, QueryBox, STEPS};

use crate::droplets::NIL;

pub use quantized::least_width;

/// Cells per merge_radius of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes of size; the last takes everything larger.
const NUM_CLASSES: usize = 24;
/// Droplets that a cell holds on average when they are spread as was said.
pub const PER_CELL: f64 = 5.0;
/// A way to look along: everybody within `around` plus their own merge_radius of it.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The solid.
    pub solid: u32,
    /// Whose look it is: found by itself, it is passed over. [`NIL`] if nobody's.
    pub own: u32,
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
    parts: Vec<BlockQuery>,
    cells: Vec<CellQuery>,
}

/// Those cells of a block that a look comes near.
#[derive(Clone, Copy, Debug)]
struct BlockQuery {
    /// The look's box, from the block's lower corner.
    bounds: Bounds,
    /// That corner.
    corner: GridPoint,
    /// A bit for each cell.
    cells: u64,
    /// Which block.
    block: u32,
    class: u32,
    /// Index of the look, and whose it is.
    look: u32,
    own: u32,
    /// Whether it is this block only, and not all there are.
    is_placed: bool,
}

/// A cell that a look comes near.
#[derive(Clone, Copy, Debug)]
struct CellQuery {
    /// The look's box, from its own lower corner.
    bounds: Bounds,
    /// Where its block knows it; then its first line.
    at: u32,
    part: u32,
    /// Whose look it is.
    own: u32,
}

/// Slots by where they are.
#[derive(Clone, Debug)]
pub struct Grid {
    /// By their hash.
    blocks: Vec<Block>,
    /// First line of each cell of each block that was ever entered; [`NIL`] where there is none.
    cells: Vec<u32>,
    lines: Vec<CacheLine>,
    /// Droplets that it was made for.
    room: usize,
    counts: ClassCounts,
    classes: [Class; NUM_CLASSES],
    mask: u32,
}

/// A class of size.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Largest merge_radius, in m.
    merge_radius: f64,
    /// In 1/m.
    steps_per_meter: f64,
}

/// Who has come.
#[derive(Clone, Debug, Default)]
struct ClassCounts {
    /// Droplets that ever stood in each class since it was cleared: zero means that nobody needs to look there.
    in_class: [u32; NUM_CLASSES],
    /// A bit for each class that is not empty by that count.
    classes: u32,
    /// Largest merge_radius seen in each class, in m.
    reaches: [f32; NUM_CLASSES],
}

impl ClassCounts {
    fn count(&mut self, class: usize, merge_radius: f32) {
        self.in_class[class] += 1;
        self.classes |= 1 << class;
        self.reaches[class] = self.reaches[class].max(merge_radius);
    }

    fn add(&mut self, other: &Self) {
        for class in 0..NUM_CLASSES {
            self.in_class[class] += other.in_class[class];
            self.reaches[class] = self.reaches[class].max(other.reaches[class]);
        }
        self.classes |= other.classes;
    }
}

/// Where a droplet belongs.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its bucket.
    pub bucket: u32,
    class: u32,
    merge_radius: f32,
    entry: Entry,
}

/// Droplets on their way into a grid: all that can be worked out about them without changing it, by several threads.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    entries: Vec<(u32, Entry)>,
    counts: ClassCounts,
}

impl Arrivals {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.counts = ClassCounts::default();
    }
}

impl Grid {
    /// An empty one for about `count` droplets, whose smallest cells are `cell` m wide.
    pub fn new(count: usize, cell: f64) -> Self {
        // A surface goes through some 16 cells of a block; four hashes for each.
        let hashes = ((count as f64 / PER_CELL / 4.0) as usize).next_power_of_two().clamp(1 << 8, 1 << 22);
        Self {
            blocks: vec![Block::default(); hashes],
            cells: Vec::new(),
            lines: Vec::new(),
            room: count,
            counts: ClassCounts::default(),
            classes: std::array::from_fn(|class| {
                let width = cell * f64::from(1_u32 << class);
                Class { merge_radius: width / CELL_PER_REACH, steps_per_meter: STEPS / width }
            }),
            mask: hashes as u32 - 1,
        }
    }

    /// Whether most droplets are too large for the smallest cells, or many more cells were entered than there are droplets.
    pub fn is_outgrown(&self) -> bool {
        let in_class = &self.counts.in_class;
        let all: u32 = in_class.iter().sum();
        (all > 16 && 2 * in_class[0] < all) || self.lines.len() > self.room + 1024
    }

    /// Droplets in a cell, as a droplet finds them on average.
    pub fn crowd(&self) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for &first in &self.cells {
            let (mut line, mut count) = (first, 0);
            while line != NIL {
                count += self.lines[line as usize].count();
                line = self.lines[line as usize].next;
            }
            let count = f64::from(count);
            (sum, squares) = (sum + count, squares + count * count);
        }
        if sum > 0.0 { squares / sum } else { 0.0 }
    }

    /// Largest merge_radius of those that were ever in it since it was cleared, in m.
    pub fn largest_seen(&self) -> f64 {
        f64::from(self.counts.reaches.iter().copied().fold(0.0, f32::max))
    }

    /// Takes everybody out.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::default());
        self.cells.clear();
        self.lines.clear();
        self.counts = ClassCounts::default();
    }

    /// Puts a slot where it belongs, and says into which bucket.
    pub fn insert(&mut self, slot: u32, solid: u32, point: DVec3, merge_radius: f32) -> u32 {
        let arrival = self.arrival(slot, solid, point, merge_radius);
        self.replace(NIL, &arrival);
        arrival.bucket
    }

    /// Puts a slot that is in a bucket, or in none, where it belongs now.
    pub fn replace(&mut self, before: u32, arrival: &Arrival) {
        let &Arrival { bucket, class, merge_radius, entry } = arrival;
        self.counts.count(class as usize, merge_radius);
        if before == bucket {
            let mut at = self.first_line(bucket);
            while at != NIL && !self.lines[at as usize].update(entry) {
                at = self.lines[at as usize].next;
            }
        } else {
            if before != NIL {
                self.remove(before, entry.slot);
            }
            self.enter(bucket, entry);
        }
    }

    /// Works out for one of many where it belongs, and says into which bucket; [`Grid::take`] will enter it.
    #[inline]
    pub fn announce(&self, arrivals: &mut Arrivals, slot: u32, solid: u32, point: DVec3, merge_radius: f32) -> u32 {
        let Arrival { bucket, class, entry, .. } = self.arrival(slot, solid, point, merge_radius);
        arrivals.counts.count(class as usize, merge_radius);
        arrivals.entries.push((bucket, entry));
        bucket
    }

    /// Enters those that were announced.
    pub fn take(&mut self, arrivals: &Arrivals) {
        self.counts.add(&arrivals.counts);
        for &(bucket, entry) in &arrivals.entries {
            self.enter(bucket, entry);
        }
    }

    /// Where a droplet of this merge_radius (in m) at a point of a solid belongs.
    #[inline]
    pub fn arrival(&self, slot: u32, solid: u32, point: DVec3, merge_radius: f32) -> Arrival {
        let class = self.class_of(f64::from(merge_radius));
        let steps_per_meter = self.classes[class].steps_per_meter;
        let place = quantized::of_point(point, steps_per_meter);
        let bucket = self.bucket_of(class, solid, place);
        let reach_steps = quantized::of_reach(merge_radius, steps_per_meter);
        Arrival { bucket, class: class as u32, merge_radius, entry: Entry::new(slot, place, reach_steps) }
    }

    fn enter(&mut self, bucket: u32, entry: Entry) {
        let within = bucket as usize % PER_BLOCK;
        let first = self.blocks[bucket as usize / PER_BLOCK].open(within, &mut self.cells);
        let mut at = self.cells[first];
        while at != NIL {
            if self.lines[at as usize].take(entry) {
                return;
            }
            at = self.lines[at as usize].next;
        }
        self.lines.push(CacheLine::of_one(entry, self.cells[first]));
        self.cells[first] = self.lines.len() as u32 - 1;
    }

    /// Takes a slot out of its bucket.
    pub fn remove(&mut self, bucket: u32, slot: u32) {
        let mut at = self.first_line(bucket);
        while at != NIL && !self.lines[at as usize].vacate(slot) {
            at = self.lines[at as usize].next;
        }
    }

    /// Reads something of some buckets, 64 at most: first where each begins, then what is there, so that none is waited for by itself.
    pub fn fetch(&self, buckets: impl Iterator<Item = u32>) {
        let mut firsts = [NIL; 64];
        for (first, bucket) in firsts.iter_mut().zip(buckets) {
            *first = self.first_line(bucket);
        }
        let read = |sum, &first: &u32| sum ^ self.lines.get(first as usize).map_or(0, |line| line.next);
        std::hint::black_box(firsts.iter().fold(0, read));
    }

    /// The first line of a bucket, if anybody has ever been there.
    #[inline]
    fn first_line(&self, bucket: u32) -> u32 {
        let block = &self.blocks[bucket as usize / PER_BLOCK];
        block.cell(bucket as usize % PER_BLOCK).map_or(NIL, |at| self.cells[at])
    }

    /// Slots that may lie within `around` plus their own merge_radius of the straight way between two points of a solid; some may belong to another
    /// solid, some come twice.
    pub fn near(&self, solid: u32, from: DVec3, to: DVec3, around: f64, mut found: impl FnMut(u32)) {
        let look = Look { solid, own: NIL, from, to, around };
        self.near_many(&[look], Region::Way, &mut Scratch::default(), |_, slot| found(slot));
    }

    /// The same for many ways at once: `found` is told the index of a way and a slot.
    ///
    /// First all blocks, then their cells, then the lines of these, then the droplets, in loops so short that the processor is far ahead: what lies apart
    /// in memory is fetched for all ways together and need not wait for one another.
    pub fn near_many(&self, looks: &[Look], region: Region, scratch: &mut Scratch, mut found: impl FnMut(usize, u32)) {
        let Scratch { parts, cells } = scratch;
        parts.clear();
        cells.clear();
        for class in self.used_classes() {
            let Class { steps_per_meter, .. } = self.classes[class];
            let merge_radius = quantized::of_reach(self.counts.reaches[class], steps_per_meter);
            for (index, look) in (0..).zip(looks) {
                let around = QueryBox::new(look.from, look.to, look.around, steps_per_meter);
                self.see(&around, merge_radius, class as u32, (index, look), parts);
            }
        }
        for (index, part) in (0..).zip(&*parts) {
            let block = &self.blocks[part.block as usize];
            let mut left = part.cells & block.entered();
            while left != 0 {
                let within = left.trailing_zeros();
                left &= left - 1;
                let bounds = part.bounds.in_cell(within as usize);
                cells.push(CellQuery { bounds, at: block.first() + within, part: index, own: part.own });
            }
        }
        for cell in &mut *cells {
            cell.at = self.cells[cell.at as usize];
        }
        std::hint::black_box(cells.iter().fold(0, |sum, cell| sum ^ self.lines[cell.at as usize].next));
        for cell in &*cells {
            let mut line = &self.lines[cell.at as usize];
            loop {
                let mut hits = line.hits(cell.bounds, cell.own);
                while hits != 0 {
                    let (slot, within, merge_radius) = line.first(hits);
                    hits &= hits - 1;
                    let part = &parts[cell.part as usize];
                    let look = &looks[part.look as usize];
                    let steps_per_meter = self.classes[part.class as usize].steps_per_meter;
                    let place = part.corner + cell.bounds.origin_of(part.bounds) + within;
                    if !part.is_placed || comes_near(look, region, steps_per_meter, place, merge_radius) {
                        found(part.look as usize, slot);
                    }
                }
                if line.next == NIL {
                    break;
                }
                line = &self.lines[line.next as usize];
            }
        }
    }

    /// Classes in which anybody has ever stood, rising.
    fn used_classes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut classes = self.counts.classes;
        std::iter::from_fn(move || {
            let class = classes.trailing_zeros();
            classes &= classes.wrapping_sub(1);
            (class < u32::BITS).then_some(class as usize)
        })
    }

    /// Lists the blocks of a class in which those stand, with reaches of so many steps, whom a look may come near.
    #[inline]
    fn see(
        &self,
        around: &QueryBox,
        merge_radius: i32,
        class: u32,
        (index, look): (u32, &Look),
        parts: &mut Vec<BlockQuery>,
    ) {
        let home = hash_of_class(class as usize, look.solid);
        let part = |block: GridPoint| {
            let corner = block.corner_of_block();
            let cells = block::cells_between(around.cells_in(block, merge_radius));
            BlockQuery {
                bounds: around.bounds(corner),
                corner,
                cells,
                block: self.block_with(home, block),
                class,
                look: index,
                own: look.own,
                is_placed: true,
            }
        };
        let [first, last] = around.blocks(merge_radius);
        if first == last {
            parts.push(part(first));
            return;
        }
        let ([x, y, z], [to_x, to_y, to_z]) = (first.to_array(), last.to_array());
        let size = |low: i32, high: i32| high.abs_diff(low) as usize + 1;
        let num_blocks = size(x, to_x).saturating_mul(size(y, to_y)).saturating_mul(size(z, to_z));
        if num_blocks > self.blocks.len() {
            // It goes farther than there is anybody: everywhere.
            parts.extend((0..self.blocks.len() as u32).map(|block| BlockQuery {
                cells: u64::MAX,
                block,
                bounds: Bounds::ALL,
                is_placed: false,
                ..part(first)
            }));
            return;
        }
        for z in z..=to_z {
            for y in y..=to_y {
                parts.extend((x..=to_x).map(|x| part(GridPoint::new([x, y, z]))));
            }
        }
    }

    #[inline]
    fn bucket_of(&self, class: usize, solid: u32, place: GridPoint) -> u32 {
        let block = self.block_with(hash_of_class(class, solid), place.block());
        let [x, y, z] = place.to_array().map(|step| ((step >> CELL_BITS) & 3) as u32);
        block << 6 | x | y << 2 | z << 4
    }

    #[inline]
    fn class_of(&self, merge_radius: f64) -> usize {
        let mut class = 0;
        while class + 1 < NUM_CLASSES && merge_radius > self.classes[class].merge_radius {
            class += 1;
        }
        class
    }

    /// A block by its place among blocks and the hash of its class: odd multipliers; the upper bits are the mixed ones.
    #[inline]
    fn block_with(&self, home: u64, block: GridPoint) -> u32 {
        let [x, y, z] = block.to_array().map(|part| u64::from(part as u32));
        let hash = home
            ^ x.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
            ^ z.wrapping_mul(0x1656_67B1_9E37_79F9);
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (hash >> 38) as u32 & self.mask
    }
}

#[inline]
fn hash_of_class(class: usize, solid: u32) -> u64 {
    (((class as u64) << 32) | u64::from(solid)).wrapping_mul(0x27D4_EB2F_1656_67C5)
}

/// Whether a droplet at a place, with a merge_radius in steps, may lie within `around` of what a look goes round.
#[inline]
fn comes_near(look: &Look, region: Region, steps_per_meter: f64, place: GridPoint, merge_radius: i32) -> bool {
    let at = place.center() - look.from * steps_per_meter;
    let way = (look.to - look.from) * steps_per_meter;
    let nearest = match region {
        Region::Way => way * (at.dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        Region::Box => at.max(way.min(DVec3::ZERO)).min(way.max(DVec3::ZERO)),
    };
    // It may be half a step off in each direction, √3/2.
    let within = look.around * steps_per_meter + f64::from(merge_radius) + 0.9;
    (at - nearest).length_squared() <= within * within
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
        let mut locations: Vec<(DVec3, f64, u32)> = (0..600)
            .map(|slot| {
                let (point, merge_radius) = (place(&mut random), 10_f64.powf(random.uniform_in(-5.0, -2.3)));
                (point, merge_radius, grid.insert(slot, 0, point, merge_radius as f32))
            })
            .collect();
        for slot in (0..600).step_by(3) {
            let location = &mut locations[slot];
            grid.remove(location.2, slot as u32);
            location.0 = place(&mut random);
            location.2 = grid.insert(slot as u32, 0, location.0, location.1 as f32);
        }
        grid.remove(locations[7].2, 7);
        let looks: Vec<Look> = locations
            .iter()
            .map(|&(from, around, _)| Look { solid: 0, own: NIL, from, to: place(&mut random), around })
            .collect();
        let mut found_at_once = vec![Vec::new(); looks.len()];
        let mut found_in_box = found_at_once.clone();
        grid.near_many(&looks, Region::Way, &mut Scratch::default(), |way, slot| {
            found_at_once[way].push(slot as usize);
        });
        grid.near_many(&looks, Region::Box, &mut Scratch::default(), |way, slot| found_in_box[way].push(slot as usize));
        for (look, in_box) in looks.iter().zip(found_in_box) {
            let (low, high) = (look.from.min(look.to), look.from.max(look.to));
            for (other, location) in locations.iter().enumerate().filter(|&(other, _)| other != 7) {
                if location.0.distance(location.0.clamp(low, high)) < look.around + location.1 {
                    assert!(in_box.contains(&other), "{other} is not seen in the box");
                }
            }
        }
        for (&Look { from: point, to, around: merge_radius, .. }, at_once) in looks.iter().zip(found_at_once) {
            let mut found = Vec::new();
            grid.near(0, point, to, merge_radius, |other| found.push(other as usize));
            assert_eq!(found, at_once);
            for (other, location) in locations.iter().enumerate() {
                let along = ((location.0 - point).dot(to - point) / (to - point).length_squared()).clamp(0.0, 1.0);
                let distance = location.0.distance(point.lerp(to, along));
                if other != 7 && distance < merge_radius + location.1 {
                    assert!(found.contains(&other), "{other} is not seen");
                }
            }
            assert!(!found.contains(&7));
        }
    }

    #[test]
    fn everybody_along_a_way_of_hundreds_of_cells_is_found() {
        let mut grid = Grid::new(1000, 1e-3);
        let at = |slot: u32| DVec3::new(f64::from(slot) * 1e-3, 4e-5 * f64::from(slot % 7), 0.0);
        (0..1000).for_each(|slot| _ = grid.insert(slot, 0, at(slot), 1e-4));
        let mut found = Vec::new();
        grid.near(0, DVec3::ZERO, DVec3::X, 2e-4, |slot| found.push(slot));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn ways_without_end_and_places_far_away_are_no_trouble() {
        let mut grid = Grid::new(100, 1e-3);
        let at = |slot: u32| DVec3::new(1000.0 + f64::from(slot) * 1e-3, -500.0, 0.0);
        (0..100).for_each(|slot| _ = grid.insert(slot, 0, at(slot), 1e-4));
        grid.insert(100, 0, DVec3::new(1e9, 0.0, f64::INFINITY), 1e-4);
        for (from, to, count) in [(at(0), at(99), 100), (DVec3::splat(-1e12), DVec3::splat(1e12), 101)] {
            let mut found = Vec::new();
            let (low, high) = (from.min(to), from.max(to));
            let look = Look { solid: 0, own: NIL, from: low, to: high, around: 1e-6 };
            grid.near_many(&[look], Region::Box, &mut Scratch::default(), |_, slot| found.push(slot));
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, (0..count).collect::<Vec<_>>());
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
