//! Seven droplets of a cell in one line of 64 bytes, all of which are looked at at once.
//!
//! A droplet's place in its cell is three numbers of seven bits, its merge_radius is one more; each kind has a word of 64 bits with a byte for each droplet.
//! Whether x ≥ a in all bytes is one subtraction: with x, a < 128, the byte 128 + x − a keeps its highest bit just when x ≥ a, and borrows from no other.
//! So a line is held against a box in a dozen instructions, and without a branch.

use wide::{CmpEq, i8x16, i16x8, i16x16, i32x8};

use super::quantized::{Bounds, GridPoint};
use crate::droplets::NIL;

/// Droplets in a line.
const PER_LINE: usize = 7;

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const HIGH: u64 = 0x80 * EACH;
/// That of the bytes of droplets.
const ALL_USED: u64 = HIGH >> 8;

/// Some droplets of a cell; `next` leads to more of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct CacheLine {
    x: u64,
    y: u64,
    z: u64,
    /// Reach of each in steps, rounded up, with the highest bit where there is somebody; in the last byte no less than the largest of them.
    reaches: u64,
    slots: [u32; PER_LINE],
    /// The next line of the cell, or [`NIL`].
    pub next: u32,
}

const _: () = assert!(size_of::<CacheLine>() == 64);

/// A droplet as its neighbors see it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its slot.
    pub slot: u32,
    /// Which step of its cell it is in, and its merge_radius in steps, rounded up; each below 128.
    place: [u8; 4],
}

impl Entry {
    /// In a step along each axis, with a merge_radius in steps.
    #[inline]
    pub fn new(slot: u32, place: GridPoint, merge_radius: i32) -> Self {
        let [x, y, z] = place.to_array().map(|step| (step & 127) as u8);
        Self { slot, place: [x, y, z, merge_radius.clamp(0, 127) as u8] }
    }
}

impl CacheLine {
    /// A line with one droplet.
    pub fn of_one(entry: Entry, next: u32) -> Self {
        let mut line = Self { x: 0, y: 0, z: 0, reaches: 0, slots: [NIL; PER_LINE], next };
        line.set(0, entry);
        line
    }

    /// Takes a droplet in if there is room.
    #[inline]
    pub fn take(&mut self, entry: Entry) -> bool {
        let room = !self.reaches & ALL_USED;
        if room != 0 {
            self.set(lane(room), entry);
        }
        room != 0
    }

    /// A droplet has moved within its cell; `false` when it is not in this line.
    pub fn update(&mut self, entry: Entry) -> bool {
        let found = self.slots.iter().position(|&slot| slot == entry.slot);
        found.map(|k| self.set(k, entry)).is_some()
    }

    /// Lets a droplet go; `false` when it is not in this line.
    pub fn vacate(&mut self, slot: u32) -> bool {
        let Some(k) = self.slots.iter().position(|&found| found == slot) else { return false };
        self.slots[k] = NIL;
        self.reaches &= !(0xff << (8 * k));
        self.find_largest();
        true
    }

    /// How many droplets it holds.
    pub fn count(&self) -> u32 {
        (self.reaches & HIGH).count_ones()
    }

    /// A bit for each droplet but one that may merge_radius into a box of its cell, as far as the largest does; in the highest bits of their bytes.
    #[inline]
    pub fn hits(&self, bounds: Bounds, but: u32) -> u64 {
        const OUTWARDS: i16x8 = i16x8::new([-1, -1, -1, 0, 1, 1, 1, 0]);
        const ON_TOP: i16x8 = i16x8::new([0, 0, 0, 0, 128, 128, 128, 0]);
        let wider = bounds.0 + OUTWARDS * i16x8::splat((self.reaches >> 56) as i16);
        let [a, b, c, _, d, e, f, _] = (wider.max(i16x8::splat(0)).min(i16x8::splat(127)) + ON_TOP).to_array();
        let above = |word: u64, low: i16| (word | HIGH) - EACH * low as u64;
        let below = |word: u64, high: i16| EACH * high as u64 - word;
        let x = above(self.x, a) & below(self.x, d);
        let y = above(self.y, b) & below(self.y, e);
        let z = above(self.z, c) & below(self.z, f);
        x & y & z & self.reaches & HIGH & !self.bytes_of(but)
    }

    /// Slot, the step of its cell that it is in, and merge_radius in steps of the first of some [`hits`](CacheLine::hits).
    #[inline]
    pub fn first(&self, hits: u64) -> (u32, GridPoint, i32) {
        let k = lane(hits);
        let part = |word: u64| ((word >> (8 * k)) & 127) as i32;
        (self.slots[k], GridPoint::new([self.x, self.y, self.z].map(part)), part(self.reaches))
    }

    /// All bits of the byte of a slot.
    #[inline]
    fn bytes_of(&self, slot: u32) -> u64 {
        let [a, b, c, d, e, f, g] = self.slots.map(|slot| slot as i32);
        let is_it = i32x8::new([a, b, c, d, e, f, g, self.next as i32]).cmp_eq(i32x8::splat(slot as i32));
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
        put(&mut self.reaches, 128 | merge_radius);
        self.slots[k] = slot;
        let largest = u64::from(merge_radius).max(self.reaches >> 56);
        self.reaches = (self.reaches & (u64::MAX >> 8)) | (largest << 56);
    }

    #[inline]
    fn find_largest(&mut self) {
        let bytes = (self.reaches & !HIGH).to_le_bytes();
        let largest = bytes[..PER_LINE].iter().fold(0, |largest, &merge_radius| merge_radius.max(largest));
        self.reaches = (self.reaches & (u64::MAX >> 8)) | (u64::from(largest) << 56);
    }
}

/// The droplet of the lowest bit.
#[inline]
fn lane(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use glam::IVec3;

    use super::*;

    fn entry(slot: u32, within: IVec3, merge_radius: i32) -> Entry {
        Entry::new(slot, GridPoint::new(within.to_array()), merge_radius)
    }

    fn bounds_between(low: IVec3, high: IVec3) -> Bounds {
        let ([a, b, c], [d, e, f]) = (low.to_array().map(|x| x as i16), high.to_array().map(|x| x as i16));
        Bounds(i16x8::new([a, b, c, 0, d, e, f, 0]))
    }

    /// Against each droplet on its own, for boxes in and around the cell, while droplets come and go.
    #[test]
    fn all_are_held_against_a_box_as_each_would_be() {
        let mut number = 0x2545_F491_4F6C_DD1D_u64;
        let mut below = |bound: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((number >> 33) % bound) as i32
        };
        let mut line = CacheLine::of_one(entry(0, IVec3::new(127, 0, 64), 3), NIL);
        let mut there = vec![(0, IVec3::new(127, 0, 64), 3)];
        for slot in 1..4000_u32 {
            let (within, merge_radius) = (IVec3::new(below(128), below(128), below(128)), below(33));
            if line.take(entry(slot, within, merge_radius)) {
                there.push((slot, within, merge_radius));
            }
            if below(3) == 0 && !there.is_empty() {
                let (gone, ..) = there.swap_remove(below(there.len() as u64) as usize);
                assert!(line.vacate(gone) && !line.vacate(gone));
            }
            assert_eq!(line.count() as usize, there.len());
            let largest = there.iter().map(|&(.., merge_radius)| merge_radius).max().unwrap_or(0);
            let low = IVec3::new(below(300), below(300), below(300)) - 100;
            assert_eq!(line.hits(Bounds::ALL, NIL).count_ones(), line.count());
            let high = low + IVec3::new(below(90), below(90), below(90));
            let bounds = bounds_between(low, high);
            let (mut hits, mut found) = (line.hits(bounds, NIL), Vec::new());
            while hits != 0 {
                found.push(line.first(hits).0);
                hits &= hits - 1;
            }
            for &(slot, within, _) in &there {
                let nearest = within.clamp(low - largest, high + largest);
                // A box beyond the cell keeps its nearest layer.
                let is_inside = nearest == within;
                assert!(!is_inside || found.contains(&slot), "{within} in {low} to {high}, merge_radius {largest}");
                let at_border = within.cmpeq(IVec3::ZERO).any() || within.cmpeq(IVec3::splat(127)).any();
                assert!(is_inside || at_border || !found.contains(&slot), "{within} in {low} to {high}");
            }
        }
    }
}
