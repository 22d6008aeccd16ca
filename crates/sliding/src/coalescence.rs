//! Sets of drops that touch, and which of them survives a merger.

use sessile_frames::{DropId, Event, Ids};
use sessile_numerics::{OptionalIndex, UnionFind};

use crate::slots::SlotIndex;

/// Pairs whose labels are read ahead of their use, to overlap cache misses.
const PREFETCH: usize = 32;

/// Groups of slots connected by pairs of touching drops; keeps its memory from step to step.
#[derive(Debug, Default)]
pub struct CoalescenceGroups {
    /// Label of each slot in order of first occurrence; none between calls.
    labels: Vec<OptionalIndex>,
    /// Slot of each label.
    slots: Vec<SlotIndex>,
    /// Connected labels.
    sets: UnionFind,
    /// Group of each label.
    group_of: Vec<u32>,
    /// Slots, group by group.
    members: Vec<SlotIndex>,
    /// Index in `members` at which each group begins, and the end.
    starts: Vec<u32>,
}

impl CoalescenceGroups {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Slots of one group, ascending.
    pub fn get(&self, group: usize) -> &[SlotIndex] {
        self.range(group, group + 1)
    }

    /// Slots of the groups `first..end`, group by group.
    pub fn range(&self, first: usize, end: usize) -> &[SlotIndex] {
        &self.members[self.starts[first] as usize..self.starts[end] as usize]
    }

    /// Finds the groups of slots below `num_slots` that `pairs` connect, in order of first
    /// occurrence.
    ///
    /// Members are sorted, so sums over a group do not depend on the order of the pairs.
    pub fn gather(&mut self, pairs: &[(SlotIndex, SlotIndex)], num_slots: usize) {
        self.connect(pairs, num_slots);
        self.number_groups();
        let Self { labels, slots, group_of, members, starts, .. } = self;
        members.clear();
        members.extend_from_slice(slots);
        for (&slot, &group) in slots.iter().zip(&*group_of) {
            let start = &mut starts[group as usize];
            members[*start as usize] = slot;
            *start += 1;
            labels[slot] = OptionalIndex::NONE;
        }
        // Each start has advanced to that of the next group.
        starts.insert(0, 0);
        for group in 0..starts.len() - 1 {
            members[starts[group] as usize..starts[group + 1] as usize].sort_unstable();
        }
    }

    /// Labels all slots of `pairs` and connects the labels.
    fn connect(&mut self, pairs: &[(SlotIndex, SlotIndex)], num_slots: usize) {
        let Self { labels, slots, sets, .. } = self;
        labels.resize(num_slots.max(labels.len()), OptionalIndex::NONE);
        slots.clear();
        sets.reset(0);
        for chunk in pairs.chunks(PREFETCH) {
            let read = |sum, &(a, b): &(SlotIndex, SlotIndex)| sum ^ labels[a].to_bits() ^ labels[b].to_bits();
            std::hint::black_box(chunk.iter().fold(0, read));
            for &(a, b) in chunk {
                let [a, b] = [a, b].map(|slot| {
                    labels[slot].get_or_insert_with(|| {
                        slots.push(slot);
                        sets.push()
                    })
                });
                sets.union(a, b);
            }
        }
    }

    /// Numbers the groups and finds where each begins in `members`.
    fn number_groups(&mut self) {
        let Self { slots, sets, group_of, starts, .. } = self;
        starts.clear();
        group_of.clear();
        for label in 0..slots.len() as u32 {
            // The representative is the smallest label, so its group is known by now.
            let first = sets.find(label);
            let group = if first == label { starts.len() as u32 } else { group_of[first as usize] };
            if first == label {
                starts.push(0);
            }
            starts[group as usize] += 1;
            group_of.push(group);
        }
        let mut begin = 0;
        for start in &mut *starts {
            begin += std::mem::replace(start, begin);
        }
    }
}

/// Index of the drop that survives a merger, from the volumes and ids: the largest, of equal ones
/// that of lowest id.
///
/// # Panics
///
/// Without drops.
pub fn survivor<I: PartialOrd>(drops: impl Iterator<Item = (f64, I)>) -> usize {
    let is_above = |a: &(f64, I), b: &(f64, I)| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1);
    let largest = drops.enumerate().reduce(|a, b| if is_above(&b.1, &a.1) { b } else { a });
    largest.expect("a group has members").0
}

/// The event of drops with these ids that merge into one of them.
pub fn merge_event(ids: impl ExactSizeIterator<Item = DropId>, into: DropId) -> Event {
    let mut merge: Ids = ids.map(DropId::get).collect();
    if let [a, b] = merge[..] {
        // The usual case, without a general sort.
        merge = Ids::from_buf_and_len([a.min(b), a.max(b), 0, 0], 2);
    } else {
        merge.sort_unstable();
    }
    Event::Merge { merge, into: into.get() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_connected_components_with_each_member_once() {
        let mut groups = CoalescenceGroups::default();
        for _ in 0..2 {
            let pairs = [(4, 9), (1, 2), (9, 4), (3, 8), (2, 8), (5, 9), (6, 7)];
            groups.gather(&pairs.map(|(a, b)| (SlotIndex::new(a), SlotIndex::new(b))), 10);
            assert_eq!(groups.len(), 3);
            let slots = |members: &[usize]| members.iter().copied().map(SlotIndex::new).collect::<Vec<_>>();
            assert_eq!(
                [groups.get(0), groups.get(1), groups.get(2)],
                [slots(&[4, 5, 9]), slots(&[1, 2, 3, 8]), slots(&[6, 7])]
            );
            assert_eq!(groups.range(1, 3), slots(&[1, 2, 3, 8, 6, 7]));
        }
        groups.gather(&[], 10);
        assert!(groups.is_empty());
    }

    #[test]
    fn the_largest_drop_survives_and_of_equals_the_eldest() {
        let id = |number: u32| DropId::new(number).expect("a positive number");
        let drops = [(1.0, 4), (3.0, 9), (3.0, 7), (2.0, 1)];
        assert_eq!(survivor(drops.into_iter().map(|(volume, number)| (volume, id(number)))), 2);
        let event = merge_event([9, 4, 7].map(id).into_iter(), id(7));
        assert_eq!(event, Event::Merge { merge: Ids::from_slice(&[4, 7, 9]), into: 7 });
        let event = merge_event([9, 4].map(id).into_iter(), id(9));
        assert_eq!(event, Event::Merge { merge: Ids::from_slice(&[4, 9]), into: 9 });
    }
}
