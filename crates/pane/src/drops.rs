//! The drops on the pane, in slots.

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use sessile_sliding::{DropId, SlotIndex};

use crate::neighbors::{Buckets, Member, Neighbors};

/// Slots that one task changes.
const TASK: usize = 512;

/// One drop, in one cache line: a step is limited by memory latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(align(64))]
pub struct PaneDrop {
    /// Center of the footprint, in m from the pane's lower left corner.
    pub position: DVec2,
    /// Volume, in m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// Largest horizontal radius, in m: the base radius, or the waist of an overhanging drop.
    pub merge_radius: f32,
    /// Speed, in m/s.
    pub speed: f32,
    /// Unit direction of the last motion.
    pub heading: Vec2,
    /// Path length to the next choice of direction, in m.
    pub to_next_choice: f32,
    /// Path length since the substrate was last wetted, in m.
    pub since_wetting: f32,
    /// Its id; `None` in an empty slot.
    pub id: Option<DropId>,
    /// Whether it slides.
    pub sliding: bool,
    /// Whether it has ever moved, so that its front is ragged.
    pub has_moved: bool,
    /// Whether it has landed and still spreads or retracts: its base radius is that of the spread.
    pub spreading: bool,
}

const _: () = assert!(size_of::<PaneDrop>() == 64);

impl PaneDrop {
    /// A drop that has never moved; its radius is not known yet.
    pub fn at_rest(id: DropId, position: DVec2, volume: f64) -> Self {
        Self {
            position,
            volume,
            radius: 0.0,
            merge_radius: 0.0,
            speed: 0.0,
            heading: Vec2::NEG_Y,
            to_next_choice: 0.0,
            since_wetting: 0.0,
            id: Some(id),
            sliding: false,
            has_moved: false,
            spreading: false,
        }
    }

    /// Velocity along the pane, in m/s.
    pub fn velocity(&self) -> DVec2 {
        (self.heading * self.speed).as_dvec2()
    }
}

/// All drops; a drop keeps its slot while it exists.
#[derive(Clone, Debug)]
pub struct Drops {
    slots: Vec<PaneDrop>,
    free: Vec<SlotIndex>,
    neighbors: Neighbors,
}

impl Drops {
    /// No drops, on a pane of this size with cells of this side, in m.
    pub fn new(size: DVec2, cell_size: f64) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), neighbors: Neighbors::new(size, 2.0 * cell_size) }
    }

    /// Adds a drop and returns its slot.
    pub fn insert(&mut self, drop: PaneDrop) -> SlotIndex {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = drop;
                slot
            }
            None => {
                self.slots.push(drop);
                SlotIndex::new(self.slots.len() - 1)
            }
        };
        self.neighbors.insert(slot, drop.position, drop.merge_radius);
        slot
    }

    /// Removes and returns a drop.
    pub fn remove(&mut self, slot: SlotIndex) -> PaneDrop {
        self.neighbors.remove(slot);
        self.free.push(slot);
        let empty = PaneDrop { id: None, sliding: false, ..self.slots[slot] };
        std::mem::replace(&mut self.slots[slot], empty)
    }

    /// Replaces a drop that may have moved or grown.
    pub fn update(&mut self, slot: SlotIndex, drop: PaneDrop) {
        self.neighbors.update(slot, drop.position, drop.merge_radius);
        self.slots[slot] = drop;
    }

    /// Calls `change` for each of the `listed` slots (ascending, each once) with its drop and its
    /// outcome, in parallel.
    ///
    /// `strayed` is called for the outcome of a drop that has left its bucket: [`Drops::update`]
    /// must follow.
    pub fn change_in_place<T: Send>(
        &mut self,
        listed: &[SlotIndex],
        outcomes: &mut [T],
        change: &(impl Fn(&mut PaneDrop, &mut T) + Sync),
        strayed: &(impl Fn(&mut T) + Sync),
    ) {
        let (buckets, members) = self.neighbors.parts();
        let part = Part { listed, first_slot: 0, slots: &mut self.slots, members, outcomes };
        part.change(buckets, change, strayed);
    }

    /// The drop in a slot.
    pub fn get(&self, slot: SlotIndex) -> &PaneDrop {
        &self.slots[slot]
    }

    /// All slots, including empty ones.
    pub fn slots(&self) -> &[PaneDrop] {
        &self.slots
    }

    /// All drops with their slots, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (SlotIndex, &PaneDrop)> {
        SlotIndex::first(self.slots.len()).zip(&self.slots).filter(|(_, drop)| drop.id.is_some())
    }

    /// Number of drops.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Calls `visit` with every drop, other than `except`, that a disc touches, in no particular
    /// order.
    pub fn touching(&self, at: DVec2, radius: f64, except: Option<SlotIndex>, mut visit: impl FnMut(SlotIndex)) {
        self.neighbors.near(at, radius, |slot| {
            let drop = &self.slots[slot];
            let square = (radius + f64::from(drop.merge_radius)).powi(2);
            if Some(slot) != except && at.distance_squared(drop.position) <= square {
                visit(slot);
            }
        });
    }

    /// Calls `visit` with every drop, other than `except`, that a disc touches at a vertex of its
    /// path, in no particular order.
    pub fn touching_path(
        &self,
        path: &(impl Iterator<Item = DVec2> + Clone),
        radius: f64,
        except: SlotIndex,
        mut visit: impl FnMut(SlotIndex),
    ) {
        let Some(first) = path.clone().next() else { return };
        let last = path.clone().last().unwrap_or(first);
        // One query covers the whole path.
        let middle = 0.5 * (first + last);
        let half = path.clone().map(|at| at.distance_squared(middle)).fold(0.0, f64::max).sqrt();
        self.neighbors.near(middle, radius + half, |slot| {
            let drop = &self.slots[slot];
            let square = (radius + f64::from(drop.merge_radius)).powi(2);
            if slot != except && path.clone().any(|at| at.distance_squared(drop.position) <= square) {
                visit(slot);
            }
        });
    }

    /// The drop that covers a position: that of the nearest center, the older one in a tie.
    pub fn covering(&self, at: DVec2) -> Option<SlotIndex> {
        let mut best: Option<(f64, Option<DropId>, SlotIndex)> = None;
        self.touching(at, 0.0, None, |slot| {
            let drop = self.get(slot);
            let key = (at.distance_squared(drop.position), drop.id, slot);
            if best.is_none_or(|least| key < least) {
                best = Some(key);
            }
        });
        best.map(|(_, _, slot)| slot)
    }

    /// The state that a checkpoint stores: slots and free slots.
    pub fn save(&self) -> (Vec<PaneDrop>, Vec<SlotIndex>) {
        (self.slots.clone(), self.free.clone())
    }

    /// Restores a saved state on an empty pane.
    pub fn restore(&mut self, (slots, free): (Vec<PaneDrop>, Vec<SlotIndex>)) {
        self.slots = slots;
        self.free = free;
        for (slot, drop) in SlotIndex::first(self.slots.len()).zip(&self.slots) {
            if drop.id.is_some() {
                self.neighbors.insert(slot, drop.position, drop.merge_radius);
            }
        }
    }
}

/// Drops to be changed, with all data by slot that belongs to them.
struct Part<'a, T> {
    listed: &'a [SlotIndex],
    /// Position of the first of `slots` among all.
    first_slot: usize,
    slots: &'a mut [PaneDrop],
    members: &'a mut [Member],
    outcomes: &'a mut [T],
}

impl<T: Send> Part<'_, T> {
    /// Bisects the part until tasks are small, so that threads share nothing.
    fn change(
        self,
        buckets: &Buckets,
        change: &(impl Fn(&mut PaneDrop, &mut T) + Sync),
        strayed: &(impl Fn(&mut T) + Sync),
    ) {
        if self.listed.len() > TASK {
            let (left, right) = self.split();
            rayon::join(|| left.change(buckets, change, strayed), || right.change(buckets, change, strayed));
            return;
        }
        let Self { listed, first_slot, slots, members, outcomes } = self;
        for (&slot, outcome) in listed.iter().zip(outcomes) {
            let index = slot.to_usize() - first_slot;
            let drop = &mut slots[index];
            change(drop, outcome);
            if drop.id.is_none() {
                continue;
            }
            if buckets.hold(slot, drop.position, drop.merge_radius) {
                members[index].moved(drop.position, drop.merge_radius);
            } else {
                strayed(outcome);
            }
        }
    }

    /// Splits everything at the middle of the listed drops.
    fn split(self) -> (Self, Self) {
        let Self { listed, first_slot, slots, members, outcomes } = self;
        let middle = listed.len() / 2;
        let middle_slot = listed[middle].to_usize();
        let at = middle_slot - first_slot;
        let ((left_slots, slots), (left_members, members)) = (slots.split_at_mut(at), members.split_at_mut(at));
        let (left_outcomes, outcomes) = outcomes.split_at_mut(middle);
        let (left_listed, listed) = listed.split_at(middle);
        let left =
            Part { listed: left_listed, first_slot, slots: left_slots, members: left_members, outcomes: left_outcomes };
        (left, Part { listed, first_slot: middle_slot, slots, members, outcomes })
    }
}
