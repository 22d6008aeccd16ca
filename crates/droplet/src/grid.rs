//! Cells of space: who stands within reach of a way.
//!
//! A cell's droplets lie together in lines of 64 bytes, seven to a line, with all that a look round needs. Blocks of 4 × 4 × 4 cells are
//! found by a hash; a block knows the lines of its cells, and lines are laid out in the order in which cells were first entered. So droplets that are
//! entered, and ways that are looked along, in an order that goes through space go through memory too. Cells are many times as wide as a droplet of
//! common size; a droplet too large for them stands in a class of its own size, each twice the one before, so a look round touches a few cells
//! whatever sizes meet. What comes back has been rounded up, and may come twice; two blocks of one hash are one. Whoever asks looks at it
//! closely. The order within a cell means nothing.

mod line;

use glam::{DVec3, IVec3, Vec3};
use line::{Bounds, Entry, Line, STEPS};

use crate::droplets::NOBODY;
use crate::whole::nearest;

/// Cells per reach of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes of size; the last takes everything larger.
const NUM_CLASSES: usize = 24;
/// Droplets that a cell holds on average when they are spread as was said.
pub const PER_CELL: f64 = 5.0;
/// Cells along an axis beyond which a look does not tell places apart.
const FARTHEST: i32 = 100;
/// Cells of a block.
const PER_BLOCK: usize = 64;

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
    sights: Vec<Sight>,
    cells: Vec<Cell>,
}

/// A way among the cells of a class, in steps from the lower corner of the lowest cell that it comes near.
#[derive(Clone, Copy, Debug)]
struct Sight {
    /// Box round it and all within `around`, a step wider than that.
    bounds: Bounds,
    from: Vec3,
    way: Vec3,
    /// One over the square of its length; 0 for a point.
    per_square: f32,
    /// Rounded up, with what a droplet may be off the middle of its step.
    around: f32,
    /// Index of the way.
    look: u32,
}

/// A cell that a way comes near.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Where its block knows it; then its first line.
    at: u32,
    sight: u32,
    /// The sight's, from its own lower corner.
    bounds: Bounds,
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
    /// One over the width of its cells, in 1/m.
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

/// Where a droplet belongs.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its bucket.
    pub bucket: u32,
    class: u32,
    reach: f32,
    entry: Entry,
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
                Class { reach: width / CELL_PER_REACH, per_width: 1.0 / width }
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
                count += self.lines[line as usize].count();
                line = self.lines[line as usize].next;
            }
            let count = f64::from(count);
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
        let arrival = self.arrival(slot, solid, point, reach);
        self.replace(NOBODY, &arrival);
        arrival.bucket
    }

    /// Puts a slot that is in a bucket, or in none, where it belongs now.
    pub fn replace(&mut self, before: u32, arrival: &Arrival) {
        let &Arrival { bucket, class, reach, entry } = arrival;
        self.tally.count(class as usize, reach);
        if before == bucket {
            let mut at = self.first_line(bucket);
            while at != NOBODY && !self.lines[at as usize].update(entry) {
                at = self.lines[at as usize].next;
            }
        } else {
            if before != NOBODY {
                self.remove(before, entry.slot);
            }
            self.enter(bucket, entry);
        }
    }

    /// Works out for one of many where it belongs, and says into which bucket; [`Grid::take`] will enter it.
    #[inline]
    pub fn announce(&self, arrivals: &mut Arrivals, slot: u32, solid: u32, point: DVec3, reach: f32) -> u32 {
        let Arrival { bucket, class, entry, .. } = self.arrival(slot, solid, point, reach);
        arrivals.tally.count(class as usize, reach);
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

    /// Where a droplet of this reach (in m) at a point of a solid belongs.
    #[inline]
    pub fn arrival(&self, slot: u32, solid: u32, point: DVec3, reach: f32) -> Arrival {
        let class = self.class_of(f64::from(reach));
        let steps_per_metre = STEPS * self.classes[class].per_width;
        let home = self.cell_of(class, point);
        let within = (point * steps_per_metre - home.as_dvec3() * STEPS).to_array().map(cell).into();
        let steps = cell(f64::from(reach) * steps_per_metre) + 1;
        let bucket = self.bucket_of(class, solid, home);
        Arrival { bucket, class: class as u32, reach, entry: Entry::new(slot, within, steps) }
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
        self.line_at(self.known_at(bucket))
    }

    /// Where its block knows a bucket, if anybody has ever been in the block.
    #[inline]
    fn known_at(&self, bucket: u32) -> u32 {
        let block = self.blocks[bucket as usize / PER_BLOCK];
        if block == NOBODY { NOBODY } else { block + bucket % PER_BLOCK as u32 }
    }

    #[inline]
    fn line_at(&self, known_at: u32) -> u32 {
        self.cells.get(known_at as usize).copied().unwrap_or(NOBODY)
    }

    /// Slots that may lie within `around` plus their own reach of the straight way between two points of a solid; some may belong to another
    /// solid, some come twice.
    pub fn near(&self, solid: u32, from: DVec3, to: DVec3, around: f64, mut found: impl FnMut(u32)) {
        let look = Look { solid, from, to, around };
        for class in self.used_classes() {
            let (sight, low, high) = self.sight(class, &look, 0);
            for cell in self.cells(class, solid, [low, high], 0, sight.bounds) {
                let line = self.line_at(cell.at);
                if line != NOBODY {
                    self.look(&Cell { at: line, ..cell }, &sight, Region::Way, &mut found);
                }
            }
        }
    }

    /// The same for many ways at once: `found` is told the index of a way and a slot.
    ///
    /// First all cells, then their lines, then the droplets, in loops so short that the processor is far ahead: what lies apart
    /// in memory is fetched for all ways together and need not wait for one another.
    pub fn near_many(&self, looks: &[Look], region: Region, scratch: &mut Scratch, mut found: impl FnMut(usize, u32)) {
        let Scratch { sights, cells } = scratch;
        sights.clear();
        cells.clear();
        for class in self.used_classes() {
            for (index, look) in (0..).zip(looks) {
                let (sight, low, high) = self.sight(class, look, index);
                cells.extend(self.cells(class, look.solid, [low, high], sights.len() as u32, sight.bounds));
                sights.push(sight);
            }
        }
        let mut kept = 0;
        for k in 0..cells.len() {
            let mut cell = cells[k];
            cell.at = self.line_at(cell.at);
            cells[kept] = cell;
            kept += usize::from(cell.at != NOBODY);
        }
        let cells = &cells[..kept];
        std::hint::black_box(cells.iter().fold(0, |sum, cell| sum ^ self.lines[cell.at as usize].next));
        for cell in cells {
            let sight = &sights[cell.sight as usize];
            self.look(cell, sight, region, &mut |slot| found(sight.look as usize, slot));
        }
    }

    /// Classes in which anybody has ever stood, rising.
    fn used_classes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut classes = self.tally.classes;
        std::iter::from_fn(move || {
            let class = classes.trailing_zeros();
            classes &= classes.wrapping_sub(1);
            (class < u32::BITS).then_some(class as usize)
        })
    }

    /// How a way lies among the cells of a class, with the lowest and the highest cell in which those stand whom it may come near.
    #[inline]
    fn sight(&self, class: usize, look: &Look, index: u32) -> (Sight, IVec3, IVec3) {
        let &Look { from, to, around, .. } = look;
        let per_width = self.classes[class].per_width;
        let (first, last) = (from.min(to), from.max(to));
        let margin = around + f64::from(self.tally.reaches[class]);
        let low = self.cell_of(class, first - margin);
        let high = self.cell_of(class, last + margin);
        let origin = low.as_dvec3() * STEPS;
        let steps = |point: DVec3| point * (per_width * STEPS) - origin;
        let way = ((to - from) * (per_width * STEPS)).as_vec3();
        let square = way.length_squared();
        let mut sight = Sight {
            bounds: Bounds::EVERYWHERE,
            from: steps(from).as_vec3(),
            way,
            per_square: if square > 0.0 { 1.0 / square } else { 0.0 },
            around: f32::INFINITY,
            look: index,
        };
        if (high - low).max_element() < FARTHEST {
            let [low, high] = [steps(first - around) - 1.0, steps(last + around) + 1.0];
            sight.bounds = Bounds::new(low.to_array().map(cell), high.to_array().map(cell));
            // Half a step in each direction, √3/2.
            sight.around = (around * per_width * STEPS) as f32 * (1.0 + 8.0 * f32::EPSILON) + 0.9;
        }
        (sight, low, high)
    }

    /// All cells of a class from one to another, x first, and how a sight's bounds lie in them: without a branch, for there are one, two or four as chance
    /// will have it.
    #[inline]
    fn cells(
        &self,
        class: usize,
        solid: u32,
        [low, high]: [IVec3; 2],
        sight: u32,
        bounds: Bounds,
    ) -> impl ExactSizeIterator<Item = Cell> {
        let home = hash_of_class(class, solid);
        let size = high - low + 1;
        let width = if bounds == Bounds::EVERYWHERE { 0 } else { STEPS as i32 };
        let (mut x, mut y, mut z, mut bounds) = (low.x, low.y, low.z, bounds);
        (0..size.x as usize * size.y as usize * size.z as usize).map(move |_| {
            let hash = home ^ hash_x(x) ^ hash_y(y) ^ hash_z(z);
            let bucket = bucket_with(self.mask, hash, (x & 3) | (y & 3) << 2 | (z & 3) << 4);
            let cell = Cell { at: self.known_at(bucket), sight, bounds };
            let row_ends = i32::from(x == high.x);
            let layer_ends = row_ends & i32::from(y == high.y);
            let go = [1 - row_ends * size.x, row_ends - layer_ends * size.y, layer_ends];
            (x, y, z) = (x + go[0], y + go[1], z + go[2]);
            bounds = bounds.from(go.map(|cells| cells * width));
            cell
        })
    }

    #[inline]
    fn look(&self, cell: &Cell, sight: &Sight, region: Region, found: &mut impl FnMut(u32)) {
        let mut line = &self.lines[cell.at as usize];
        loop {
            let mut hits = line.hits(cell.bounds);
            while hits != 0 {
                let (slot, middle, reach) = line.first(hits);
                hits &= hits - 1;
                if sight.comes_near(middle + cell.bounds.origin_of(sight.bounds), reach, region) {
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
        bucket_with(self.mask, hash, (cell.x & 3) | (cell.y & 3) << 2 | (cell.z & 3) << 4)
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

/// The bucket of a cell by the hash of its block and its number within that.
#[inline]
fn bucket_with(mask: u32, hash: u64, within: i32) -> u32 {
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (((hash >> 38) as u32 & mask) << 6) | within as u32
}

impl Sight {
    /// Whether a place, with a reach, may lie within `around` of what is looked round; all in steps.
    #[inline]
    fn comes_near(&self, place: Vec3, reach: f32, region: Region) -> bool {
        let (at, way) = (place - self.from, self.way);
        let nearest = match region {
            Region::Way => way * (at.dot(way) * self.per_square).clamp(0.0, 1.0),
            Region::Box => at.max(way.min(Vec3::ZERO)).min(way.max(Vec3::ZERO)),
        };
        let within = self.around + reach;
        (at - nearest).length_squared() <= within * within
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
