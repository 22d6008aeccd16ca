//! The drops on the pane, and where to find them.

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};

use crate::neighbors::{Buckets, Member, Neighbors};

/// One drop, in one line of memory: most of what a step costs is waiting for drops to come from there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(align(64))]
pub struct PaneDrop {
    /// Center of the footprint, in m from the pane's lower left corner.
    pub place: DVec2,
    /// Volume, in m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// How far it reaches: its base radius, or its waist where it overhangs, in m.
    pub reach: f32,
    /// Speed, in m/s.
    pub speed: f32,
    /// Unit direction of its last motion.
    pub heading: Vec2,
    /// Way left to its next choice, in m.
    pub to_next: f32,
    /// Way since it last wetted the ground under it, in m.
    pub since_wet: f32,
    /// Never reused; 0 in an empty slot.
    pub id: u32,
    /// On its way.
    pub running: bool,
    /// Has been on its way, so that its front is not round.
    pub has_run: bool,
}

const _: () = assert!(size_of::<PaneDrop>() == 64);

impl PaneDrop {
    /// A drop that has never moved.
    pub fn resting(id: u32, place: DVec2, volume: f64) -> Self {
        Self {
            place,
            volume,
            radius: 0.0,
            reach: 0.0,
            speed: 0.0,
            heading: Vec2::NEG_Y,
            to_next: 0.0,
            since_wet: 0.0,
            id,
            running: false,
            has_run: false,
        }
    }

    /// Velocity along the pane, in m/s.
    pub fn velocity(&self) -> DVec2 {
        (self.heading * self.speed).as_dvec2()
    }
}

/// All drops, in slots that stay put while a drop lives.
#[derive(Clone, Debug)]
pub struct Drops {
    slots: Vec<PaneDrop>,
    free: Vec<u32>,
    neighbors: Neighbors,
}

impl Drops {
    /// None yet, on a pane of this size with cells of this side, in m.
    pub fn new(size: DVec2, cell: f64) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), neighbors: Neighbors::new(size, 2.0 * cell) }
    }

    /// Takes up a drop whose size is known, and says where it is kept.
    pub fn insert(&mut self, drop: PaneDrop) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = drop;
                slot
            }
            None => {
                self.slots.push(drop);
                (self.slots.len() - 1) as u32
            }
        };
        self.neighbors.insert(slot, drop.place, drop.reach);
        slot
    }

    /// Lets a drop go.
    pub fn remove(&mut self, slot: u32) -> PaneDrop {
        self.neighbors.remove(slot);
        self.free.push(slot);
        let empty = PaneDrop { id: 0, running: false, ..self.slots[slot as usize] };
        std::mem::replace(&mut self.slots[slot as usize], empty)
    }

    /// Replaces a drop, which may have moved or grown.
    pub fn update(&mut self, slot: u32, drop: PaneDrop) {
        self.neighbors.update(slot, drop.place, drop.reach);
        self.slots[slot as usize] = drop;
    }

    /// Calls `change` for each of the `listed` slots (rising, each once) with its drop and its place in `outcomes`; in parallel.
    ///
    /// The outcome of a drop that has left its bucket is handed to `strayed`: [`Drops::update`] must put it right.
    pub fn change_in_place<T: Send>(
        &mut self,
        listed: &[u32],
        outcomes: &mut [T],
        change: &(impl Fn(&mut PaneDrop, &mut T) + Sync),
        strayed: &(impl Fn(&mut T) + Sync),
    ) {
        let (buckets, members) = self.neighbors.parts();
        let part = Part { listed, first_slot: 0, slots: &mut self.slots, members, outcomes };
        part.change(buckets, change, strayed);
    }

    /// The drop in a slot.
    pub fn get(&self, slot: u32) -> &PaneDrop {
        &self.slots[slot as usize]
    }

    /// All slots, the empty ones too.
    pub fn slots(&self) -> &[PaneDrop] {
        &self.slots
    }

    /// All drops with their slots, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &PaneDrop)> {
        (0..).zip(&self.slots).filter(|(_, drop)| drop.id != 0)
    }

    /// Number of drops.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Calls `visit` with every drop, other than `but`, that a disc touches; in no particular order.
    pub fn touching(&self, at: DVec2, reach: f64, but: u32, mut visit: impl FnMut(u32)) {
        self.neighbors.near(at, reach, |slot| {
            let drop = &self.slots[slot as usize];
            if slot != but && at.distance_squared(drop.place) <= (reach + f64::from(drop.reach)).powi(2) {
                visit(slot);
            }
        });
    }

    /// Calls `visit` with every drop, other than `but`, that a disc touches at one of the places of its path; in no particular order.
    pub fn touching_path(
        &self,
        path: &(impl Iterator<Item = DVec2> + Clone),
        reach: f64,
        but: u32,
        mut visit: impl FnMut(u32),
    ) {
        let Some(first) = path.clone().next() else { return };
        let last = path.clone().last().unwrap_or(first);
        // One look over all of the path.
        let middle = 0.5 * (first + last);
        let half = path.clone().map(|at| at.distance_squared(middle)).fold(0.0, f64::max).sqrt();
        self.neighbors.near(middle, reach + half, |slot| {
            let drop = &self.slots[slot as usize];
            let square = (reach + f64::from(drop.reach)).powi(2);
            if slot != but && path.clone().any(|at| at.distance_squared(drop.place) <= square) {
                visit(slot);
            }
        });
    }

    /// The drop that covers a place; the one whose middle is nearest if there are several, the elder if that is a tie.
    pub fn covering(&self, at: DVec2) -> Option<u32> {
        let mut best: Option<(f64, u32, u32)> = None;
        self.touching(at, 0.0, u32::MAX, |slot| {
            let drop = self.get(slot);
            let key = (at.distance_squared(drop.place), drop.id, slot);
            if best.is_none_or(|least| key < least) {
                best = Some(key);
            }
        });
        best.map(|(_, _, slot)| slot)
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> (Vec<PaneDrop>, Vec<u32>) {
        (self.slots.clone(), self.free.clone())
    }

    /// Takes up a saved state on a pane that is still empty.
    pub fn restore(&mut self, (slots, free): (Vec<PaneDrop>, Vec<u32>)) {
        self.slots = slots;
        self.free = free;
        for (slot, drop) in (0..).zip(&self.slots) {
            if drop.id != 0 {
                self.neighbors.insert(slot, drop.place, drop.reach);
            }
        }
    }
}

/// Drops to be changed, with everything that is kept of them by slot.
struct Part<'a, T> {
    listed: &'a [u32],
    first_slot: u32,
    slots: &'a mut [PaneDrop],
    members: &'a mut [Member],
    outcomes: &'a mut [T],
}

impl<T: Send> Part<'_, T> {
    /// Splits everything at the same drop until pieces are small, so that threads share nothing.
    fn change(
        self,
        buckets: &Buckets,
        change: &(impl Fn(&mut PaneDrop, &mut T) + Sync),
        strayed: &(impl Fn(&mut T) + Sync),
    ) {
        const SMALL: usize = 512;
        let Self { listed, first_slot, slots, members, outcomes } = self;
        if listed.len() > SMALL {
            let middle = listed.len() / 2;
            let middle_slot = listed[middle];
            let at = (middle_slot - first_slot) as usize;
            let ((left_slots, slots), (left_members, members)) = (slots.split_at_mut(at), members.split_at_mut(at));
            let (left_outcomes, outcomes) = outcomes.split_at_mut(middle);
            let (left_listed, listed) = listed.split_at(middle);
            let left = Part {
                listed: left_listed,
                first_slot,
                slots: left_slots,
                members: left_members,
                outcomes: left_outcomes,
            };
            let right = Part { listed, first_slot: middle_slot, slots, members, outcomes };
            rayon::join(|| left.change(buckets, change, strayed), || right.change(buckets, change, strayed));
            return;
        }
        for (&slot, outcome) in listed.iter().zip(outcomes) {
            let index = (slot - first_slot) as usize;
            let drop = &mut slots[index];
            change(drop, outcome);
            if drop.id == 0 {
                continue;
            }
            if buckets.hold(slot, drop.place, drop.reach) {
                members[index].moved(drop.place, drop.reach);
            } else {
                strayed(outcome);
            }
        }
    }
}
