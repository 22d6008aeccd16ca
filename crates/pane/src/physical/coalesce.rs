//! Coalescence of touching drops.

use glam::DVec2;
use sessile_frames::Event;
use sessile_sliding::{DropId, NeckPart, SlotIndex, merge_event, survivor};

use super::Physical;
use crate::drops::PaneDrop;
use crate::motion::StepContext;

impl Physical {
    /// Merges touching drops until none touch; returns the number of mergers.
    pub(super) fn coalesce(&mut self, context: &StepContext, events: &mut Vec<Event>) -> u64 {
        let mut merges = 0;
        loop {
            self.find_pending_contacts();
            if self.pairs.is_empty() {
                return merges;
            }
            self.pairs.sort_unstable();
            self.pairs.dedup();
            let mut groups = std::mem::take(&mut self.groups);
            groups.gather(&self.pairs, self.drops.slots().len());
            self.pairs.clear();
            for group in 0..groups.len() {
                merges += u64::from(self.merge(groups.get(group), context, events));
            }
            self.groups = groups;
        }
    }

    /// Finds the drops that new and enlarged drops touch.
    fn find_pending_contacts(&mut self) {
        let Self { pending, drops, pairs, .. } = self;
        pending.sort_unstable();
        pending.dedup();
        for slot in pending.drain(..) {
            let drop = *drops.get(slot);
            if drop.id.is_some() {
                drops.touching(drop.position, f64::from(drop.merge_radius), Some(slot), |other| {
                    pairs.push((slot.min(other), slot.max(other)));
                });
            }
        }
    }

    /// Merges drops into one: volume and momentum add up, the largest keeps its slot and id.
    /// `false` if fewer than two of the drops still exist.
    fn merge(&mut self, slots: &[SlotIndex], context: &StepContext, events: &mut Vec<Event>) -> bool {
        let all = slots.iter().map(|&slot| (slot, *self.drops.get(slot)));
        let members: Vec<(SlotIndex, DropId, PaneDrop)> =
            all.filter_map(|(slot, drop)| Some((slot, drop.id?, drop))).collect();
        if members.len() < 2 {
            return false;
        }
        let (slot, id, largest) = members[survivor(members.iter().map(|(_, id, drop)| (drop.volume, *id)))];
        events.push(merge_event(members.iter().map(|(_, id, _)| *id), id));
        let volume: f64 = members.iter().map(|(.., drop)| drop.volume).sum();
        let mean = |quantity: fn(&PaneDrop) -> DVec2| {
            members.iter().map(|(.., drop)| drop.volume * quantity(drop)).sum::<DVec2>() / volume
        };
        let (position, velocity) = (mean(|drop| drop.position), mean(PaneDrop::velocity));
        let area: f64 = members.iter().map(|(.., drop)| drop.radius * drop.radius).sum();
        let parts = members.iter().map(|&(slot, _, ref drop)| {
            let offset = (drop.position - position).extend(0.0);
            (slot, NeckPart { offset, share: drop.volume / volume })
        });
        let neck = self.necks.plan(volume, parts, &context.liquid);
        for &(other, ..) in members.iter().filter(|&&(other, ..)| other != slot) {
            self.remove(other);
        }
        let speed = velocity.length();
        let mut merged = PaneDrop { position, volume, radius: area.sqrt(), speed: speed as f32, ..largest };
        if speed > 0.0 {
            (merged.heading, merged.has_moved) = ((velocity / speed).as_vec2(), true);
            if !largest.sliding {
                self.start_sliding(slot, &mut merged, context);
            }
        }
        self.spreads.refit(slot, merged.volume, merged.radius);
        self.necks.remove(slot);
        neck.iter().for_each(|neck| self.necks.insert(slot, neck));
        self.update(slot, merged, context);
        true
    }
}
