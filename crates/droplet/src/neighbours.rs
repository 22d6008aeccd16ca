//! Which droplets are near: cells of space, hashed into buckets of slots.
//!
//! Cells of the first class are about as large as what a droplet of common size looks at and holds a few droplets; a droplet that is too large for
//! them stands in a class of its own size, each twice the one before. So a look round touches some eight cells, whatever sizes meet. Lists
//! are chained through the slots, so a droplet changes its cell without anything being allocated. The order within a bucket means
//! nothing: whoever asks sorts what comes back.

use glam::{DVec3, IVec3};

use crate::droplets::{NOBODY, Spot};

/// Cells per reach of a class.
const CELL_PER_REACH: f64 = 4.0;
/// Classes of size; the last takes everything larger.
const NUM_CLASSES: usize = 24;
/// Buckets whose heads are fetched at once.
const AT_ONCE: usize = 32;

/// Slots by where they are. The chains themselves lie in the spots, which every call is handed.
#[derive(Clone, Debug)]
pub struct Neighbours {
    heads: Vec<u32>,
    /// Droplets that ever stood in each class since it was built: zero means that nobody needs to look there.
    counts: [u32; NUM_CLASSES],
    /// Largest reach seen in each class, in m.
    reaches: [f32; NUM_CLASSES],
    mask: u32,
    /// Largest reach of the first class, in m.
    first_reach: f64,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self::rebuilt(0, 4e-3)
    }
}

impl Neighbours {
    /// An empty one with room for `count` slots, whose smallest cells are `cell` m wide.
    pub fn rebuilt(count: usize, cell: f64) -> Self {
        let buckets = (2 * count).next_power_of_two().clamp(1 << 10, 1 << 26);
        Self {
            heads: vec![NOBODY; buckets],
            counts: [0; NUM_CLASSES],
            reaches: [0.0; NUM_CLASSES],
            mask: buckets as u32 - 1,
            first_reach: cell / CELL_PER_REACH,
        }
    }

    /// Number of slots that the buckets are good for; beyond it [`Neighbours::rebuilt`] is due.
    pub fn capacity(&self) -> usize {
        self.heads.len()
    }

    /// Whether most droplets have outgrown the smallest cells.
    pub fn is_outgrown(&self) -> bool {
        let all: u32 = self.counts.iter().sum();
        all > 16 && 2 * self.counts[0] < all
    }

    /// Whether a spot belongs into another bucket than it is in.
    pub fn changes(&self, spot: &Spot, solid: u32, reach: f64) -> bool {
        let class = self.class_of(reach);
        spot.bucket != self.bucket_of(class, solid, self.cell_of(class, spot.point))
            || spot.solid != solid
            || reach as f32 != spot.reach
    }

    /// Puts a slot where it belongs now.
    pub fn place(&mut self, spots: &mut [Spot], slot: u32, solid: u32, reach: f64) {
        let class = self.class_of(reach);
        let spot = &mut spots[slot as usize];
        let bucket = self.bucket_of(class, solid, self.cell_of(class, spot.point));
        (spot.solid, spot.reach) = (solid, reach as f32);
        self.reaches[class] = self.reaches[class].max(spot.reach);
        if spot.bucket == bucket {
            return;
        }
        self.remove(spots, slot);
        let head = &mut self.heads[bucket as usize];
        (spots[slot as usize].next, spots[slot as usize].bucket) = (*head, bucket);
        *head = slot;
        self.counts[class] += 1;
    }

    /// Takes a slot out.
    pub fn remove(&mut self, spots: &mut [Spot], slot: u32) {
        let Spot { bucket, next, .. } = spots[slot as usize];
        if bucket == NOBODY {
            return;
        }
        let mut at = self.heads[bucket as usize];
        if at == slot {
            self.heads[bucket as usize] = next;
        } else {
            // Chains are a few slots long.
            while at != NOBODY && spots[at as usize].next != slot {
                at = spots[at as usize].next;
            }
            if at != NOBODY {
                spots[at as usize].next = next;
            }
        }
        (spots[slot as usize].bucket, spots[slot as usize].next) = (NOBODY, NOBODY);
    }

    /// Slots that may lie within `around` plus their own reach of the box round two points of a solid; some lie farther, some come twice.
    pub fn near(
        &self,
        spots: &[Spot],
        solid: u32,
        from: DVec3,
        to: DVec3,
        around: f64,
        mut found: impl FnMut(u32, &Spot),
    ) {
        let mut follow = |mut slot: u32| {
            while slot != NOBODY {
                let spot = &spots[slot as usize];
                found(slot, spot);
                slot = spot.next;
            }
        };
        for class in (0..NUM_CLASSES).filter(|&class| self.counts[class] > 0) {
            let margin = around + f64::from(self.reaches[class]);
            let low = self.cell_of(class, from.min(to) - margin);
            let high = self.cell_of(class, from.max(to) + margin);
            // Fetch all heads first: they lie far apart in memory, and need not wait for one another.
            let mut heads = [NOBODY; AT_ONCE];
            let mut count = 0;
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        if count == AT_ONCE {
                            heads.iter().for_each(|&head| follow(head));
                            count = 0;
                        }
                        heads[count] = self.heads[self.bucket_of(class, solid, IVec3::new(x, y, z)) as usize];
                        count += 1;
                    }
                }
            }
            heads[..count].iter().for_each(|&head| follow(head));
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

    fn cell_of(&self, class: usize, point: DVec3) -> IVec3 {
        (point / (CELL_PER_REACH * self.largest_reach(class))).floor().as_ivec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_world::random::Stream;

    #[test]
    fn everybody_in_reach_is_found_whatever_their_sizes() {
        let mut random = Stream::new(3, &[]);
        let mut neighbours = Neighbours::rebuilt(600, 2e-3);
        let mut reaches = Vec::new();
        let mut spots: Vec<Spot> = (0..600)
            .map(|_| {
                reaches.push(10_f64.powf(random.uniform_in(-5.0, -2.3)));
                Spot::at(DVec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05)
            })
            .collect();
        for slot in 0..600 {
            neighbours.place(&mut spots, slot, 0, reaches[slot as usize]);
        }
        for slot in (0..600).step_by(3) {
            spots[slot as usize].point += DVec3::splat(random.uniform_in(-0.01, 0.01));
            neighbours.place(&mut spots, slot, 0, reaches[slot as usize]);
        }
        neighbours.remove(&mut spots, 7);
        for slot in 0..600 {
            let (point, reach) = (spots[slot].point, reaches[slot]);
            let mut found = Vec::new();
            neighbours.near(&spots, 0, point, point, reach, |other, _| found.push(other as usize));
            for (other, spot) in spots.iter().enumerate() {
                if other != 7 && spot.point.distance(point) < reach + reaches[other] {
                    assert!(found.contains(&other), "{slot} does not see {other}");
                }
            }
            assert!(!found.contains(&7));
        }
    }
}
