//! Seven droplets of a cell in one cache line, tested against a box at once.
//!
//! A droplet has three coordinates of seven bits within its cell and a merge radius; each of the
//! four has a 64-bit word with a byte per droplet. Whether x ≥ a in all bytes takes one
//! subtraction: with x, a < 128 the byte 128 + x − a keeps its highest bit exactly when x ≥ a, and
//! does not borrow from its neighbor. A line is tested against a box in a dozen instructions
//! without branches.

use wide::{CmpEq, i8x16, i16x8, i16x16, i32x8};

use sessile_numerics::{OptionalIndex, typed_index};
use sessile_sliding::SlotIndex;

use super::quantized::{Bounds, GridPoint};

typed_index! {
    /// A cache line of a grid.
    pub struct LineIndex;
}

/// Droplets per line.
const PER_LINE: usize = 7;

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// Highest bit of each byte.
const HIGH: u64 = 0x80 * EACH;
/// Highest bit of each byte that holds a droplet.
const ALL_USED: u64 = HIGH >> 8;

/// Some droplets of a cell, in a linked list of lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct CacheLine {
    x: u64,
    y: u64,
    z: u64,
    /// Merge radius of each droplet in units, rounded up, with the highest bit set for a used byte;
    /// the last byte is an upper bound of all.
    merge_radii: u64,
    slots: [OptionalIndex<SlotIndex>; PER_LINE],
    /// Next line of the cell.
    pub next: OptionalIndex<LineIndex>,
}

const _: () = assert!(size_of::<CacheLine>() == 64);

/// A droplet in a line.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its slot.
    pub slot: SlotIndex,
    /// Coordinates within its cell and merge radius, in units; each below 128.
    place: [u8; 4],
}

impl Entry {
    /// A droplet at a point, with a merge radius in units.
    #[inline]
    pub fn new(slot: SlotIndex, place: GridPoint, merge_radius: i32) -> Self {
        let [x, y, z] = place.to_array().map(|step| (step & 127) as u8);
        Self { slot, place: [x, y, z, merge_radius.clamp(0, 127) as u8] }
    }
}

impl CacheLine {
    /// A line with one droplet.
    pub fn of_one(entry: Entry, next: OptionalIndex<LineIndex>) -> Self {
        let mut line = Self { x: 0, y: 0, z: 0, merge_radii: 0, slots: [OptionalIndex::NONE; PER_LINE], next };
        line.set(0, entry);
        line
    }

    /// Inserts a droplet; `false` if the line is full.
    #[inline]
    pub fn insert(&mut self, entry: Entry) -> bool {
        let room = !self.merge_radii & ALL_USED;
        if room != 0 {
            self.set(lane(room), entry);
        }
        room != 0
    }

    /// Updates a droplet that moved within its cell; `false` if it is not in this line.
    pub fn update(&mut self, entry: Entry) -> bool {
        let found = self.position(entry.slot);
        found.map(|k| self.set(k, entry)).is_some()
    }

    /// Removes a droplet; `false` if it is not in this line.
    pub fn remove(&mut self, slot: SlotIndex) -> bool {
        let Some(k) = self.position(slot) else { return false };
        self.slots[k] = OptionalIndex::NONE;
        self.merge_radii &= !(0xff << (8 * k));
        self.find_largest();
        true
    }

    fn position(&self, slot: SlotIndex) -> Option<usize> {
        self.slots.iter().position(|&found| found == OptionalIndex::some(slot))
    }

    /// Number of droplets.
    pub fn count(&self) -> u32 {
        (self.merge_radii & HIGH).count_ones()
    }

    /// Mask of the droplets, except for slot `but`, whose distance from a box is at most the
    /// largest merge radius; in the highest bits of their bytes.
    #[inline]
    pub fn hits(&self, bounds: Bounds, but: OptionalIndex<SlotIndex>) -> u64 {
        const OUTWARDS: i16x8 = i16x8::new([-1, -1, -1, 0, 1, 1, 1, 0]);
        const ON_TOP: i16x8 = i16x8::new([0, 0, 0, 0, 128, 128, 128, 0]);
        let wider = bounds.0 + OUTWARDS * i16x8::splat((self.merge_radii >> 56) as i16);
        let [a, b, c, _, d, e, f, _] = (wider.max(i16x8::splat(0)).min(i16x8::splat(127)) + ON_TOP).to_array();
        let above = |word: u64, low: i16| (word | HIGH) - EACH * low as u64;
        let below = |word: u64, high: i16| EACH * high as u64 - word;
        let x = above(self.x, a) & below(self.x, d);
        let y = above(self.y, b) & below(self.y, e);
        let z = above(self.z, c) & below(self.z, f);
        x & y & z & self.merge_radii & HIGH & !self.bytes_of(but)
    }

    /// Slot, coordinates within the cell and merge radius of the first of some
    /// [`hits`](CacheLine::hits).
    #[inline]
    pub fn first(&self, hits: u64) -> (SlotIndex, GridPoint, i32) {
        let k = lane(hits);
        let part = |word: u64| ((word >> (8 * k)) & 127) as i32;
        let slot = self.slots[k].get().expect("a used byte has a slot");
        (slot, GridPoint::new([self.x, self.y, self.z].map(part)), part(self.merge_radii))
    }

    /// Mask of the byte of a slot.
    #[inline]
    fn bytes_of(&self, slot: OptionalIndex<SlotIndex>) -> u64 {
        let [a, b, c, d, e, f, g] = self.slots.map(|slot| slot.to_bits() as i32);
        let is_it =
            i32x8::new([a, b, c, d, e, f, g, self.next.to_bits() as i32]).cmp_eq(i32x8::splat(slot.to_bits() as i32));
        let [a, b, c, d, e, f, g, h] = i16x8::from_i32x8_saturate(is_it).to_array();
        let bytes = i8x16::from_i16x16_saturate(i16x16::new([a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0]));
        let [a, b, c, d, e, f, g, h, ..] = bytes.to_array().map(|byte| byte as u8);
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    #[inline]
    fn set(&mut self, k: usize, Entry { slot, place: [x, y, z, merge_radius] }: Entry) {
        let put = |word: &mut u64, part: u8| *word = (*word & !(0xff << (8 * k))) | (u64::from(part) << (8 * k));
        put(&mut self.x, x);
        put(&mut self.y, y);
        put(&mut self.z, z);
        put(&mut self.merge_radii, 128 | merge_radius);
        self.slots[k] = OptionalIndex::some(slot);
        let largest = u64::from(merge_radius).max(self.merge_radii >> 56);
        self.merge_radii = (self.merge_radii & (u64::MAX >> 8)) | (largest << 56);
    }

    #[inline]
    fn find_largest(&mut self) {
        let bytes = (self.merge_radii & !HIGH).to_le_bytes();
        let largest = bytes[..PER_LINE].iter().fold(0, |largest, &merge_radius| merge_radius.max(largest));
        self.merge_radii = (self.merge_radii & (u64::MAX >> 8)) | (u64::from(largest) << 56);
    }
}

/// Byte of the lowest set bit.
#[inline]
fn lane(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use glam::IVec3;

    use super::*;

    fn entry(slot: usize, within: IVec3, merge_radius: i32) -> Entry {
        Entry::new(SlotIndex::new(slot), GridPoint::new(within.to_array()), merge_radius)
    }

    fn bounds_between(low: IVec3, high: IVec3) -> Bounds {
        let ([a, b, c], [d, e, f]) = (low.to_array().map(|x| x as i16), high.to_array().map(|x| x as i16));
        Bounds(i16x8::new([a, b, c, 0, d, e, f, 0]))
    }

    /// Compares with tests of single droplets, for boxes in and around the cell, while droplets are
    /// inserted and removed.
    #[test]
    fn all_droplets_of_a_line_are_tested_like_single_ones() {
        let mut number = 0x2545_F491_4F6C_DD1D_u64;
        let mut below = |bound: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((number >> 33) % bound) as i32
        };
        let mut line = CacheLine::of_one(entry(0, IVec3::new(127, 0, 64), 3), OptionalIndex::NONE);
        let mut there = vec![(0, IVec3::new(127, 0, 64), 3)];
        for slot in 1..4000 {
            let (within, merge_radius) = (IVec3::new(below(128), below(128), below(128)), below(33));
            if line.insert(entry(slot, within, merge_radius)) {
                there.push((slot, within, merge_radius));
            }
            if below(3) == 0 && !there.is_empty() {
                let (gone, ..) = there.swap_remove(below(there.len() as u64) as usize);
                let gone = SlotIndex::new(gone);
                assert!(line.remove(gone) && !line.remove(gone));
            }
            assert_eq!(line.count() as usize, there.len());
            let largest = there.iter().map(|&(.., merge_radius)| merge_radius).max().unwrap_or(0);
            let low = IVec3::new(below(300), below(300), below(300)) - 100;
            assert_eq!(line.hits(Bounds::ALL, OptionalIndex::NONE).count_ones(), line.count());
            let high = low + IVec3::new(below(90), below(90), below(90));
            let bounds = bounds_between(low, high);
            let (mut hits, mut found) = (line.hits(bounds, OptionalIndex::NONE), Vec::new());
            while hits != 0 {
                found.push(line.first(hits).0.to_usize());
                hits &= hits - 1;
            }
            for &(slot, within, _) in &there {
                let nearest = within.clamp(low - largest, high + largest);
                // A box outside the cell keeps the nearest layer.
                let is_inside = nearest == within;
                assert!(!is_inside || found.contains(&slot), "{within} in {low} to {high}, merge_radius {largest}");
                let at_border = within.cmpeq(IVec3::ZERO).any() || within.cmpeq(IVec3::splat(127)).any();
                assert!(is_inside || at_border || !found.contains(&slot), "{within} in {low} to {high}");
            }
        }
    }
}
