//! Which droplets are near: cells of space, hashed into buckets of slots.
//!
//! Droplets of very different size meet on one mesh, so each stands in a grid of its own size class: class c holds reaches up to
//! 2^c and has cells of 4·2^c. A look round touches at most eight cells of each class in use unless the looker moves fast. Lists are
//! chained through the slots, so a droplet changes its cell without anything being allocated. The order within a bucket means
//! nothing: whoever asks sorts what comes back.

use glam::{DVec3, IVec3};

/// No slot.
const END: u32 = u32::MAX;
/// Cells per reach of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes from 2^LEAST m (60 nm) on …
const LEAST: i32 = -24;
/// … this many of them, up to 2^8 m.
const NUM_CLASSES: usize = 32;

/// Slots by where they are.
#[derive(Clone, Debug)]
pub struct Neighbours {
    heads: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Bucket of each slot; `END` when it is in none.
    bucket: Vec<u32>,
    class: Vec<u8>,
    counts: [u32; NUM_CLASSES],
    mask: u32,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self::with_buckets(1 << 10)
    }
}

impl Neighbours {
    fn with_buckets(count: usize) -> Self {
        Self {
            heads: vec![END; count],
            next: Vec::new(),
            previous: Vec::new(),
            bucket: Vec::new(),
            class: Vec::new(),
            counts: [0; NUM_CLASSES],
            mask: count as u32 - 1,
        }
    }

    /// Number of slots that the buckets are good for; beyond it [`Neighbours::rebuilt`] is due.
    pub fn capacity(&self) -> usize {
        self.heads.len()
    }

    /// An empty one with room for `count` slots.
    pub fn rebuilt(count: usize) -> Self {
        Self::with_buckets((2 * count).next_power_of_two().clamp(1 << 10, 1 << 26))
    }

    /// Whether a slot would move to another bucket.
    pub fn changes(&self, slot: u32, solid: u32, point: DVec3, reach: f64) -> bool {
        let class = class_of(reach);
        self.bucket[slot as usize] != self.bucket_of(class, solid, cell_of(class, point))
    }

    /// Puts a slot where it belongs now.
    pub fn place(&mut self, slot: u32, solid: u32, point: DVec3, reach: f64) {
        let index = slot as usize;
        if self.bucket.len() <= index {
            self.bucket.resize(index + 1, END);
            self.next.resize(index + 1, END);
            self.previous.resize(index + 1, END);
            self.class.resize(index + 1, 0);
        }
        let class = class_of(reach);
        let bucket = self.bucket_of(class, solid, cell_of(class, point));
        if self.bucket[index] == bucket && usize::from(self.class[index]) == class {
            return;
        }
        self.remove(slot);
        let head = self.heads[bucket as usize];
        (self.next[index], self.previous[index]) = (head, END);
        if head != END {
            self.previous[head as usize] = slot;
        }
        self.heads[bucket as usize] = slot;
        (self.bucket[index], self.class[index]) = (bucket, class as u8);
        self.counts[class] += 1;
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: u32) {
        let index = slot as usize;
        let Some(&bucket) = self.bucket.get(index).filter(|&&bucket| bucket != END) else { return };
        let (next, previous) = (self.next[index], self.previous[index]);
        match previous {
            END => self.heads[bucket as usize] = next,
            previous => self.next[previous as usize] = next,
        }
        if next != END {
            self.previous[next as usize] = previous;
        }
        self.bucket[index] = END;
        self.counts[usize::from(self.class[index])] -= 1;
    }

    /// Slots of a solid that may lie within `around` plus their own reach of the box round two points; some lie farther, some come twice.
    pub fn near(&self, solid: u32, from: DVec3, to: DVec3, around: f64, mut found: impl FnMut(u32)) {
        for class in (0..NUM_CLASSES).filter(|&class| self.counts[class] > 0) {
            let margin = around + largest_reach(class);
            let low = cell_of(class, from.min(to) - margin);
            let high = cell_of(class, from.max(to) + margin);
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        let mut slot = self.heads[self.bucket_of(class, solid, IVec3::new(x, y, z)) as usize];
                        while slot != END {
                            found(slot);
                            slot = self.next[slot as usize];
                        }
                    }
                }
            }
        }
    }

    fn bucket_of(&self, class: usize, solid: u32, cell: IVec3) -> u32 {
        // Odd multipliers; the upper bits are the mixed ones.
        let mut hash = u64::from(cell.x as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= u64::from(cell.y as u32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        hash ^= u64::from(cell.z as u32).wrapping_mul(0x1656_67B1_9E37_79F9);
        hash ^= (((class as u64) << 32) | u64::from(solid)).wrapping_mul(0x27D4_EB2F_1656_67C5);
        hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (hash >> 38) as u32 & self.mask
    }
}

fn class_of(reach: f64) -> usize {
    // The exponent of the number, rounded up.
    let exponent = ((reach.to_bits() >> 52) & 0x7ff) as i32 - 1022;
    (exponent - LEAST).clamp(0, NUM_CLASSES as i32 - 1) as usize
}

fn largest_reach(class: usize) -> f64 {
    f64::powi(2.0, class as i32 + LEAST)
}

fn cell_of(class: usize, point: DVec3) -> IVec3 {
    (point / (CELL_PER_REACH * largest_reach(class))).floor().as_ivec3()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_world::random::Stream;

    #[test]
    fn everybody_in_reach_is_found_whatever_their_sizes() {
        let mut random = Stream::new(3, &[]);
        let mut neighbours = Neighbours::rebuilt(600);
        let mut drops: Vec<(DVec3, f64)> = (0..600)
            .map(|_| {
                let point = DVec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05;
                (point, 10_f64.powf(random.uniform_in(-5.0, -2.3)))
            })
            .collect();
        for (slot, &(point, reach)) in (0..).zip(&drops) {
            neighbours.place(slot, 0, point, reach);
        }
        for slot in (0..600).step_by(3) {
            drops[slot].0 += DVec3::splat(random.uniform_in(-0.01, 0.01));
            neighbours.place(slot as u32, 0, drops[slot].0, drops[slot].1);
        }
        neighbours.remove(7);
        for slot in 0..600 {
            let (point, reach) = drops[slot];
            let mut found = Vec::new();
            neighbours.near(0, point, point, reach, |other| found.push(other as usize));
            for (other, &(at, other_reach)) in drops.iter().enumerate() {
                if other != 7 && at.distance(point) < reach + other_reach {
                    assert!(found.contains(&other), "{slot} does not see {other}");
                }
            }
            assert!(!found.contains(&7));
        }
    }

    #[test]
    fn classes_hold_what_they_say() {
        for reach in [1e-7, 9.9e-4, 1e-3, 0.25, 0.2500001, 3.0] {
            let class = class_of(reach);
            assert!(reach <= largest_reach(class) && 2.0 * reach >= largest_reach(class), "{reach} in {class}");
        }
    }
}
