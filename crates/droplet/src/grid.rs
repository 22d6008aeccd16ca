//! Hash grid of droplets: which droplets may overlap a path.
//!
//! The droplets of a cell are stored in cache lines of 64 bytes, seven to a line, with everything
//! that a query needs ([`cache_line`]). Blocks of 4 × 4 × 4 cells are found by a hash; lines are
//! laid out in the order in which cells were first occupied, so insertions and queries that follow
//! a path through space also follow memory. Cells are many times as wide as a droplet of common
//! size; larger droplets are in classes of their own, each with cells twice as wide as the one
//! before, so a query visits few cells whatever the sizes.
//!
//! Results are conservative: distances are rounded up, slots may be repeated, and two blocks with
//! the same hash are not distinguished. Callers test exactly. The order within a cell has no
//! meaning.
//!
//! Coordinates are integers, 128 to a cell ([`quantized`]): the cell of a coordinate is the number
//! without its lowest seven bits, the block without its lowest nine. A block has a bit for every
//! cell that was ever occupied; the cells of a query are that mask and the mask of its box.

mod block;
mod cache_line;
mod quantized;

use block::{Block, CellIndex, PER_BLOCK};
use cache_line::{CacheLine, Entry, LineIndex};
use glam::DVec3;
use quantized::{Bounds, CELL_BITS, GridPoint, QueryBox, UNITS_PER_CELL};
use sessile_numerics::{OptionalIndex, typed_index};
use sessile_sliding::SlotIndex;

use crate::surface_mesh::SolidIndex;

pub use quantized::least_width;

/// Cell width over the largest merge radius of a class.
const CELL_PER_RADIUS: f64 = 4.0;
/// Number of size classes; the last one takes all larger droplets.
const NUM_CLASSES: usize = 24;
/// Mean number of droplets per cell when they are spread evenly.
pub const PER_CELL: f64 = 5.0;

typed_index! {
    /// A block, by hash.
    struct BlockIndex;
}

typed_index! {
    /// A cell, by the hash of its block and its place therein; below 2²⁸.
    pub struct BucketIndex;
}

impl BucketIndex {
    /// The block of the bucket, and the cell within.
    #[inline]
    fn block_and_cell(self) -> (BlockIndex, usize) {
        (BlockIndex::new(self.to_usize() / PER_BLOCK), self.to_usize() % PER_BLOCK)
    }
}

/// A query for droplets that overlap a path of this radius.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Solid.
    pub solid: SolidIndex,
    /// Slot that is excluded from the result.
    pub own: OptionalIndex<SlotIndex>,
    /// Start of the path, in m.
    pub from: DVec3,
    /// End of the path, in m.
    pub to: DVec3,
    /// Radius around the path, in m.
    pub radius: f64,
}

/// Region of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Around the straight path between the two points.
    Path,
    /// Around the axis-aligned box between the two points.
    Box,
}

/// Memory for queries.
#[derive(Clone, Debug, Default)]
pub struct QueryScratch {
    parts: Vec<BlockQuery>,
    cells: Vec<CellQuery>,
}

/// The part of a query in one block.
#[derive(Clone, Copy, Debug)]
struct BlockQuery {
    /// Box of the query relative to the block's lower corner.
    bounds: Bounds,
    /// Lower corner of the block.
    corner: GridPoint,
    /// Mask of the cells to visit.
    cells: u64,
    block: BlockIndex,
    class: u32,
    /// Index of the query.
    query: u32,
    own: OptionalIndex<SlotIndex>,
    /// Whether distances are tested; not where a query visits all blocks.
    is_exact: bool,
}

/// The part of a query in one cell.
#[derive(Clone, Copy, Debug)]
struct CellQuery {
    /// Box of the query relative to the cell's lower corner.
    bounds: Bounds,
    cell: CellIndex,
    /// First cache line of the cell, once it has been read.
    line: OptionalIndex<LineIndex>,
    /// Index of the part.
    part: u32,
    /// Slot that is excluded.
    own: OptionalIndex<SlotIndex>,
}

const _: () = assert!(size_of::<CellQuery>() == 32);

/// Hash grid of slots.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Blocks by hash.
    blocks: Vec<Block>,
    /// First cache line of every cell of every occupied block.
    cells: Vec<OptionalIndex<LineIndex>>,
    lines: Vec<CacheLine>,
    /// Number of droplets that the grid was made for.
    room: usize,
    counts: ClassCounts,
    classes: [Class; NUM_CLASSES],
    mask: u32,
}

/// A size class.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Largest merge radius, in m.
    merge_radius: f64,
    /// Grid coordinates per meter, in 1/m.
    units_per_meter: f64,
}

/// Number and largest size of the droplets inserted, by class.
#[derive(Clone, Debug, Default)]
struct ClassCounts {
    /// Droplets inserted since the grid was cleared; classes without any are not queried.
    per_class: [u32; NUM_CLASSES],
    /// Mask of the classes with a nonzero count.
    classes: u32,
    /// Largest merge radius inserted, in m.
    merge_radii: [f32; NUM_CLASSES],
}

impl ClassCounts {
    fn count(&mut self, class: usize, merge_radius: f32) {
        self.per_class[class] += 1;
        self.classes |= 1 << class;
        self.merge_radii[class] = self.merge_radii[class].max(merge_radius);
    }

    fn add(&mut self, other: &Self) {
        for class in 0..NUM_CLASSES {
            self.per_class[class] += other.per_class[class];
            self.merge_radii[class] = self.merge_radii[class].max(other.merge_radii[class]);
        }
        self.classes |= other.classes;
    }
}

/// Bucket and packed coordinates of a droplet.
#[derive(Clone, Copy, Debug)]
pub struct GridEntry {
    /// Its bucket.
    pub bucket: BucketIndex,
    class: u32,
    merge_radius: f32,
    entry: Entry,
}

/// Entries computed in parallel, to be inserted later.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    entries: Vec<(BucketIndex, Entry)>,
    counts: ClassCounts,
}

impl Arrivals {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.counts = ClassCounts::default();
    }
}

impl Grid {
    /// An empty grid for about `count` droplets whose smallest cells are `cell` (in m) wide.
    pub fn new(count: usize, cell: f64) -> Self {
        // A surface passes through about 16 cells of a block; four hashes for each block.
        let hashes = ((count as f64 / PER_CELL / 4.0) as usize).next_power_of_two().clamp(1 << 8, 1 << 22);
        Self {
            blocks: vec![Block::default(); hashes],
            cells: Vec::new(),
            lines: Vec::new(),
            room: count,
            counts: ClassCounts::default(),
            classes: std::array::from_fn(|class| {
                let width = cell * f64::from(1_u32 << class);
                Class { merge_radius: width / CELL_PER_RADIUS, units_per_meter: UNITS_PER_CELL / width }
            }),
            mask: hashes as u32 - 1,
        }
    }

    /// Whether most droplets are too large for the smallest cells, or far more cells were occupied
    /// than there are droplets.
    pub fn is_outgrown(&self) -> bool {
        let per_class = &self.counts.per_class;
        let all: u32 = per_class.iter().sum();
        (all > 16 && 2 * per_class[0] < all) || self.lines.len() > self.room + 1024
    }

    /// Mean number of droplets in the cell of a droplet.
    pub fn mean_occupancy(&self) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for &first in &self.cells {
            let (mut next, mut count) = (first, 0);
            while let Some(line) = next.get() {
                count += self.lines[line].count();
                next = self.lines[line].next;
            }
            let count = f64::from(count);
            (sum, squares) = (sum + count, squares + count * count);
        }
        if sum > 0.0 { squares / sum } else { 0.0 }
    }

    /// Largest merge radius inserted since the grid was cleared, in m.
    pub fn largest_merge_radius(&self) -> f64 {
        f64::from(self.counts.merge_radii.iter().copied().fold(0.0, f32::max))
    }

    /// Removes all droplets.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::default());
        self.cells.clear();
        self.lines.clear();
        self.counts = ClassCounts::default();
    }

    /// Inserts a slot and returns its bucket.
    pub fn insert(&mut self, slot: SlotIndex, solid: SolidIndex, point: DVec3, merge_radius: f32) -> BucketIndex {
        let entry = self.entry(slot, solid, point, merge_radius);
        self.update(None, &entry);
        entry.bucket
    }

    /// Moves a slot from bucket `before`, if it is in one, to its new entry.
    pub fn update(&mut self, before: Option<BucketIndex>, new: &GridEntry) {
        let &GridEntry { bucket, class, merge_radius, entry } = new;
        self.counts.count(class as usize, merge_radius);
        if before == Some(bucket) {
            self.visit_lines(bucket, |line| line.update(entry));
        } else {
            if let Some(before) = before {
                self.remove(before, entry.slot);
            }
            self.insert_entry(bucket, entry);
        }
    }

    /// Records a slot for [`Grid::commit`] and returns its bucket.
    #[inline]
    pub fn record(
        &self,
        arrivals: &mut Arrivals,
        slot: SlotIndex,
        solid: SolidIndex,
        point: DVec3,
        merge_radius: f32,
    ) -> BucketIndex {
        let GridEntry { bucket, class, entry, .. } = self.entry(slot, solid, point, merge_radius);
        arrivals.counts.count(class as usize, merge_radius);
        arrivals.entries.push((bucket, entry));
        bucket
    }

    /// Inserts all recorded entries.
    pub fn commit(&mut self, arrivals: &Arrivals) {
        self.counts.add(&arrivals.counts);
        for &(bucket, entry) in &arrivals.entries {
            self.insert_entry(bucket, entry);
        }
    }

    /// The entry of a droplet at a point (in m) of a solid.
    #[inline]
    pub fn entry(&self, slot: SlotIndex, solid: SolidIndex, point: DVec3, merge_radius: f32) -> GridEntry {
        let class = self.class_of(f64::from(merge_radius));
        let units_per_meter = self.classes[class].units_per_meter;
        let place = quantized::of_point(point, units_per_meter);
        let bucket = self.bucket_of(class, solid, place);
        let reach_steps = quantized::of_radius(merge_radius, units_per_meter);
        GridEntry { bucket, class: class as u32, merge_radius, entry: Entry::new(slot, place, reach_steps) }
    }

    fn insert_entry(&mut self, bucket: BucketIndex, entry: Entry) {
        let (block, within) = bucket.block_and_cell();
        let cell = self.blocks[block].occupy(within, &mut self.cells);
        let mut next = self.cells[cell];
        while let Some(line) = next.get() {
            if self.lines[line].insert(entry) {
                return;
            }
            next = self.lines[line].next;
        }
        self.lines.push(CacheLine::of_one(entry, self.cells[cell]));
        self.cells[cell] = OptionalIndex::some(LineIndex::new(self.lines.len() - 1));
    }

    /// Removes a slot from its bucket.
    pub fn remove(&mut self, bucket: BucketIndex, slot: SlotIndex) {
        self.visit_lines(bucket, |line| line.remove(slot));
    }

    /// Visits the cache lines of a bucket until `change` has found its droplet.
    #[inline]
    fn visit_lines(&mut self, bucket: BucketIndex, mut change: impl FnMut(&mut CacheLine) -> bool) {
        let mut next = self.first_line(bucket);
        while let Some(line) = next.get() {
            if change(&mut self.lines[line]) {
                return;
            }
            next = self.lines[line].next;
        }
    }

    /// Prefetches up to 64 buckets: first their cells, then their cache lines.
    pub fn prefetch(&self, buckets: impl Iterator<Item = BucketIndex>) {
        let mut firsts = [OptionalIndex::NONE; 64];
        for (first, bucket) in firsts.iter_mut().zip(buckets) {
            *first = self.first_line(bucket);
        }
        let read = |sum, line: LineIndex| sum ^ self.lines[line].next.to_bits();
        std::hint::black_box(firsts.iter().filter_map(|first| first.get()).fold(0, read));
    }

    /// The first cache line of a bucket.
    #[inline]
    fn first_line(&self, bucket: BucketIndex) -> OptionalIndex<LineIndex> {
        let (block, within) = bucket.block_and_cell();
        self.blocks[block].occupied_cell(within).map_or(OptionalIndex::NONE, |cell| self.cells[cell])
    }

    /// Slots that may overlap the capsule of `radius` around a path (all in m); they may belong to
    /// another solid and may be repeated.
    pub fn query(&self, solid: SolidIndex, from: DVec3, to: DVec3, radius: f64, mut found: impl FnMut(SlotIndex)) {
        let query = Query { solid, own: OptionalIndex::NONE, from, to, radius };
        self.query_many(&[query], Region::Path, &mut QueryScratch::default(), |_, slot| found(slot));
    }

    /// Runs many queries at once; `found` receives the index of a query and a slot.
    ///
    /// Blocks, cells, cache lines and droplets are visited in separate short loops over all
    /// queries, so that the memory accesses of different queries overlap.
    pub fn query_many(
        &self,
        queries: &[Query],
        region: Region,
        scratch: &mut QueryScratch,
        mut found: impl FnMut(usize, SlotIndex),
    ) {
        let QueryScratch { parts, cells } = scratch;
        parts.clear();
        cells.clear();
        for class in self.occupied_classes() {
            let Class { units_per_meter, .. } = self.classes[class];
            let merge_radius = quantized::of_radius(self.counts.merge_radii[class], units_per_meter);
            for (index, query) in (0..).zip(queries) {
                let radius = QueryBox::new(query.from, query.to, query.radius, units_per_meter);
                self.push_blocks(&radius, merge_radius, class as u32, (index, query), parts);
            }
        }
        for (index, part) in (0..).zip(&*parts) {
            let block = &self.blocks[part.block];
            let mut left = part.cells & block.occupied();
            while left != 0 {
                let within = left.trailing_zeros() as usize;
                left &= left - 1;
                let (bounds, cell) = (part.bounds.in_cell(within), block.cell(within));
                cells.push(CellQuery { bounds, cell, line: OptionalIndex::NONE, part: index, own: part.own });
            }
        }
        for cell in &mut *cells {
            cell.line = self.cells[cell.cell];
        }
        let first_lines = cells.iter().filter_map(|cell| cell.line.get());
        std::hint::black_box(first_lines.fold(0, |sum, line| sum ^ self.lines[line].next.to_bits()));
        for cell in &*cells {
            let mut next = cell.line;
            while let Some(line) = next.get() {
                let line = &self.lines[line];
                next = line.next;
                let mut hits = line.hits(cell.bounds, cell.own);
                while hits != 0 {
                    let (slot, within, merge_radius) = line.first(hits);
                    hits &= hits - 1;
                    let part = &parts[cell.part as usize];
                    let query = &queries[part.query as usize];
                    let units_per_meter = self.classes[part.class as usize].units_per_meter;
                    let place = part.corner + cell.bounds.origin_of(part.bounds) + within;
                    if !part.is_exact || is_near(query, region, units_per_meter, place, merge_radius) {
                        found(part.query as usize, slot);
                    }
                }
            }
        }
    }

    /// Classes with a nonzero count, in order.
    fn occupied_classes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut classes = self.counts.classes;
        std::iter::from_fn(move || {
            let class = classes.trailing_zeros();
            classes &= classes.wrapping_sub(1);
            (class < u32::BITS).then_some(class as usize)
        })
    }

    /// Appends the blocks of a class that a query visits; `merge_radius` is the largest of the
    /// class, in grid units.
    #[inline]
    fn push_blocks(
        &self,
        radius: &QueryBox,
        merge_radius: i32,
        class: u32,
        (index, query): (u32, &Query),
        parts: &mut Vec<BlockQuery>,
    ) {
        let home = hash_of_class(class as usize, query.solid);
        let part = |block: GridPoint| {
            let corner = block.corner_of_block();
            let cells = block::cells_between(radius.cells_in(block, merge_radius));
            BlockQuery {
                bounds: radius.bounds(corner),
                corner,
                cells,
                block: self.block_with(home, block),
                class,
                query: index,
                own: query.own,
                is_exact: true,
            }
        };
        let [first, last] = radius.blocks(merge_radius);
        if first == last {
            parts.push(part(first));
            return;
        }
        let ([x, y, z], [to_x, to_y, to_z]) = (first.to_array(), last.to_array());
        let size = |low: i32, high: i32| high.abs_diff(low) as usize + 1;
        let num_blocks = size(x, to_x).saturating_mul(size(y, to_y)).saturating_mul(size(z, to_z));
        if num_blocks > self.blocks.len() {
            // The query spans more blocks than there are: visit all of them.
            parts.extend(BlockIndex::first(self.blocks.len()).map(|block| BlockQuery {
                cells: u64::MAX,
                block,
                bounds: Bounds::ALL,
                is_exact: false,
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
    fn bucket_of(&self, class: usize, solid: SolidIndex, place: GridPoint) -> BucketIndex {
        let block = self.block_with(hash_of_class(class, solid), place.block());
        let [x, y, z] = place.to_array().map(|step| ((step >> CELL_BITS) & 3) as usize);
        BucketIndex::new(block.to_usize() << 6 | x | y << 2 | z << 4)
    }

    #[inline]
    fn class_of(&self, merge_radius: f64) -> usize {
        let mut class = 0;
        while class + 1 < NUM_CLASSES && merge_radius > self.classes[class].merge_radius {
            class += 1;
        }
        class
    }

    /// Index of a block, by its coordinates and the hash of its class: odd multipliers, then the
    /// well-mixed upper bits.
    #[inline]
    fn block_with(&self, home: u64, block: GridPoint) -> BlockIndex {
        let [x, y, z] = block.to_array().map(|part| u64::from(part as u32));
        let hash = home
            ^ x.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
            ^ z.wrapping_mul(0x1656_67B1_9E37_79F9);
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        BlockIndex::new(((hash >> 38) as u32 & self.mask) as usize)
    }
}

#[inline]
fn hash_of_class(class: usize, solid: SolidIndex) -> u64 {
    (((class as u64) << 32) | solid.to_usize() as u64).wrapping_mul(0x27D4_EB2F_1656_67C5)
}

/// Whether a droplet may overlap a query; `merge_radius` is in grid units.
#[inline]
fn is_near(query: &Query, region: Region, units_per_meter: f64, place: GridPoint, merge_radius: i32) -> bool {
    let at = place.center() - query.from * units_per_meter;
    let way = (query.to - query.from) * units_per_meter;
    let nearest = match region {
        Region::Path => way * (at.dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        Region::Box => at.max(way.min(DVec3::ZERO)).min(way.max(DVec3::ZERO)),
    };
    // Quantization adds up to half a unit along each axis, √3/2.
    let within = query.radius * units_per_meter + f64::from(merge_radius) + 0.9;
    (at - nearest).length_squared() <= within * within
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLID: SolidIndex = SolidIndex::new(0);
    use sessile_world::random::Stream;

    #[test]
    fn all_overlapping_droplets_of_any_size_are_found() {
        let mut random = Stream::new(3, &[]);
        let mut grid = Grid::new(600, 2e-3);
        let place = |random: &mut Stream| {
            DVec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05 + DVec3::new(3.0, -1.0, 0.0)
        };
        let mut locations: Vec<(DVec3, f64, BucketIndex)> = (0..600)
            .map(|slot| {
                let (point, merge_radius) = (place(&mut random), 10_f64.powf(random.uniform_in(-5.0, -2.3)));
                (point, merge_radius, grid.insert(SlotIndex::new(slot), SOLID, point, merge_radius as f32))
            })
            .collect();
        for slot in (0..600).step_by(3) {
            let location = &mut locations[slot];
            grid.remove(location.2, SlotIndex::new(slot));
            location.0 = place(&mut random);
            location.2 = grid.insert(SlotIndex::new(slot), SOLID, location.0, location.1 as f32);
        }
        grid.remove(locations[7].2, SlotIndex::new(7));
        let queries: Vec<Query> = locations
            .iter()
            .map(|&(from, radius, _)| Query {
                solid: SOLID,
                own: OptionalIndex::NONE,
                from,
                to: place(&mut random),
                radius,
            })
            .collect();
        let mut found_at_once = vec![Vec::new(); queries.len()];
        let mut found_in_box = found_at_once.clone();
        grid.query_many(&queries, Region::Path, &mut QueryScratch::default(), |query, slot| {
            found_at_once[query].push(slot.to_usize());
        });
        grid.query_many(&queries, Region::Box, &mut QueryScratch::default(), |query, slot| {
            found_in_box[query].push(slot.to_usize());
        });
        for (query, in_box) in queries.iter().zip(found_in_box) {
            let (low, high) = (query.from.min(query.to), query.from.max(query.to));
            for (other, location) in locations.iter().enumerate().filter(|&(other, _)| other != 7) {
                if location.0.distance(location.0.clamp(low, high)) < query.radius + location.1 {
                    assert!(in_box.contains(&other), "{other} is not found in the box");
                }
            }
        }
        for (&Query { from: point, to, radius: merge_radius, .. }, at_once) in queries.iter().zip(found_at_once) {
            let mut found = Vec::new();
            grid.query(SOLID, point, to, merge_radius, |other| found.push(other.to_usize()));
            assert_eq!(found, at_once);
            for (other, location) in locations.iter().enumerate() {
                let along = ((location.0 - point).dot(to - point) / (to - point).length_squared()).clamp(0.0, 1.0);
                let distance = location.0.distance(point.lerp(to, along));
                if other != 7 && distance < merge_radius + location.1 {
                    assert!(found.contains(&other), "{other} is not found");
                }
            }
            assert!(!found.contains(&7));
        }
    }

    #[test]
    fn all_droplets_along_a_path_of_hundreds_of_cells_are_found() {
        let mut grid = Grid::new(1000, 1e-3);
        let at = |slot: usize| DVec3::new(slot as f64 * 1e-3, 4e-5 * (slot % 7) as f64, 0.0);
        (0..1000).for_each(|slot| _ = grid.insert(SlotIndex::new(slot), SOLID, at(slot), 1e-4));
        let mut found = Vec::new();
        grid.query(SOLID, DVec3::ZERO, DVec3::X, 2e-4, |slot| found.push(slot.to_usize()));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn infinite_queries_and_far_points_are_handled() {
        let mut grid = Grid::new(100, 1e-3);
        let at = |slot: usize| DVec3::new(1000.0 + slot as f64 * 1e-3, -500.0, 0.0);
        (0..100).for_each(|slot| _ = grid.insert(SlotIndex::new(slot), SOLID, at(slot), 1e-4));
        grid.insert(SlotIndex::new(100), SOLID, DVec3::new(1e9, 0.0, f64::INFINITY), 1e-4);
        for (from, to, count) in [(at(0), at(99), 100), (DVec3::splat(-1e12), DVec3::splat(1e12), 101)] {
            let mut found = Vec::new();
            let (low, high) = (from.min(to), from.max(to));
            let query = Query { solid: SOLID, own: OptionalIndex::NONE, from: low, to: high, radius: 1e-6 };
            grid.query_many(&[query], Region::Box, &mut QueryScratch::default(), |_, slot| found.push(slot.to_usize()));
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_droplets_in_one_cell_are_inserted_and_removed() {
        let mut grid = Grid::new(10, 1.0);
        let at = |slot: usize| DVec3::new(slot as f64 * 1e-3, 0.1, 0.1);
        for round in 0..3 {
            let buckets: Vec<BucketIndex> =
                (0..200).map(|slot| grid.insert(SlotIndex::new(slot), SOLID, at(slot), 1e-4)).collect();
            let mut found = Vec::new();
            grid.query(SOLID, at(0), at(200), 0.0, |slot| found.push(slot.to_usize()));
            found.sort_unstable();
            assert_eq!(found, (0..200).collect::<Vec<_>>());
            (0..200).for_each(|slot| grid.remove(buckets[slot], SlotIndex::new(slot)));
            grid.query(SOLID, at(0), at(200), 0.1, |slot| panic!("{slot} is still there in round {round}"));
        }
        assert!(grid.lines.len() < 50, "{} lines", grid.lines.len());
    }
}
