//! Storage of all droplets on surfaces: slots, a free list, and parallel work on chunks of slots.

use std::ops::{Index, IndexMut};

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use sessile_sliding::{DropId, SlotIndex, optional_id};

use crate::integrate::MotionState;
use crate::neighbors::GridAddress;
use crate::substrate::Substrate;
use crate::surface_mesh::{SolidIndex, SurfaceMesh};

/// Slots per chunk of parallel work; fixed, so that chunks do not depend on the number of threads.
pub const CHUNK: usize = 1024;
/// Droplets whose memory is prefetched together.
pub const PREFETCH: usize = 32;

/// Volume and radii of a droplet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Volume, in m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// Largest radius at any height, in m: droplets merge when these overlap.
    pub merge_radius: f32,
    /// Acceleration into the solid for which the radius was found, in m/s².
    pub normal_acceleration: f32,
}

/// Location of a droplet in the rest pose of its solid and in the neighbor grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Position, in m.
    pub point: DVec3,
    /// Displacement in the last step, in m.
    pub displacement: Vec3,
    /// Largest radius at any height, in m, as in the grid.
    #[serde(skip)]
    pub merge_radius: f32,
    /// Its solid.
    #[serde(skip)]
    pub solid: SolidIndex,
    /// Its place in the neighbor grid.
    #[serde(skip)]
    pub address: GridAddress,
}

impl Location {
    /// At a point (in m), not yet in the grid.
    fn new(point: DVec3) -> Self {
        Self {
            point,
            displacement: Vec3::ZERO,
            merge_radius: 0.0,
            solid: SolidIndex::default(),
            address: GridAddress::NONE,
        }
    }
}

/// Dynamic state of a droplet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Whether it is sliding; otherwise it is pinned.
    pub is_sliding: bool,
    /// Whether it has landed and still spreads or retracts: its base radius is that of the spread.
    pub is_spreading: bool,
    /// How far the contact line of a pinned droplet exceeds its least radius, as a share of the
    /// range that the receding angle allows. It lowers the retention factor by up to 0.1.
    pub line_excess: f32,
    /// Path length since it last marked the wet map, in m.
    pub unmarked_distance: f32,
}

/// A droplet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Droplet {
    /// Never reused.
    pub id: DropId,
    /// Place and velocity.
    pub motion: MotionState,
    /// Volume and radii.
    pub size: Size,
    /// Dynamic state.
    pub state: State,
}

/// A droplet and its location, in two adjacent cache lines.
///
/// The first line holds what neighbors read, the second what the droplet needs to move. Droplets
/// are accessed in random order, so the prefetcher cannot help; this layout costs one miss for
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(128))]
pub struct Slot {
    /// Location, as neighbors see it.
    pub location: Location,
    /// Never reused; `None` in an empty slot.
    #[serde(with = "optional_id")]
    pub id: Option<DropId>,
    /// Dynamic state.
    pub state: State,
    /// Place and velocity.
    pub motion: MotionState,
    /// Volume and radii.
    pub size: Size,
}

const _: () = assert!(size_of::<Slot>() == 128);

/// Droplets by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Droplets {
    /// All slots, used or not.
    pub slots: Vec<Slot>,
    free: Vec<SlotIndex>,
    /// Slots that have stopped sliding, possibly repeated, until the list of sliding slots is
    /// updated.
    #[serde(skip)]
    pub stopped: Vec<SlotIndex>,
}

impl Index<SlotIndex> for Droplets {
    type Output = Slot;

    #[inline(always)]
    fn index(&self, slot: SlotIndex) -> &Slot {
        &self.slots[slot]
    }
}

impl IndexMut<SlotIndex> for Droplets {
    #[inline(always)]
    fn index_mut(&mut self, slot: SlotIndex) -> &mut Slot {
        &mut self.slots[slot]
    }
}

/// A contiguous range of slots, owned by one thread.
pub struct SlotRange<'a> {
    first: usize,
    slots: &'a mut [Slot],
}

impl SlotRange<'_> {
    /// A slot of the range.
    #[inline(always)]
    pub fn get(&self, slot: SlotIndex) -> &Slot {
        &self.slots[slot.to_usize() - self.first]
    }

    /// A slot of the range, to be changed.
    #[inline(always)]
    pub fn slot(&mut self, slot: SlotIndex) -> &mut Slot {
        &mut self.slots[slot.to_usize() - self.first]
    }

    /// Prefetches some slots and the triangles that they are on.
    pub fn prefetch(&self, slots: &[SlotIndex], surface: &SurfaceMesh, substrate: &Substrate) {
        let ids = slots.iter().fold(0, |sum, &slot| sum ^ id_number(self.get(slot)));
        let facets = slots.iter().fold(0.0, |sum, &slot| {
            let triangle = self.get(slot).motion.place.triangle;
            sum + surface.facet(triangle).prefetch() + substrate.prefetch(triangle)
        });
        std::hint::black_box((ids, facets));
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (slots, later) = self.slots.split_at_mut(at - self.first);
        (SlotRange { first: self.first, slots }, SlotRange { first: at, slots: later })
    }
}

impl Droplets {
    /// Number of droplets.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Number of slots, used or not.
    pub fn num_slots(&self) -> usize {
        self.slots.len()
    }

    /// Whether a slot holds a droplet.
    pub fn is_used(&self, slot: SlotIndex) -> bool {
        self[slot].id.is_some()
    }

    /// The droplet in a slot, if it is not empty.
    pub fn find(&self, slot: SlotIndex) -> Option<Droplet> {
        let Slot { id, motion, size, state, .. } = self[slot];
        Some(Droplet { id: id?, motion, size, state })
    }

    /// The droplet in a slot.
    ///
    /// # Panics
    /// If the slot is empty.
    pub fn get(&self, slot: SlotIndex) -> Droplet {
        self.find(slot).expect("the slot holds a droplet")
    }

    /// Replaces the droplet in a slot.
    pub fn set(&mut self, slot: SlotIndex, droplet: &Droplet) {
        let Droplet { id, motion, size, state } = *droplet;
        let own = &mut self.slots[slot];
        if own.state.is_sliding && !state.is_sliding {
            self.stopped.push(slot);
        }
        (own.id, own.motion, own.size, own.state) = (Some(id), motion, size, state);
    }

    /// Inserts a droplet at a point of the rest pose (in m) and returns its slot.
    pub fn insert(&mut self, droplet: &Droplet, point: DVec3) -> SlotIndex {
        let Droplet { id, motion, size, state } = *droplet;
        let new = Slot { location: Location::new(point), id: Some(id), state, motion, size };
        if let Some(slot) = self.free.pop() {
            self[slot] = new;
            return slot;
        }
        self.slots.push(new);
        SlotIndex::new(self.slots.len() - 1)
    }

    /// Removes the droplet in a slot.
    pub fn remove(&mut self, slot: SlotIndex) {
        let own = &mut self.slots[slot];
        if own.state.is_sliding {
            self.stopped.push(slot);
        }
        (own.id, own.state, own.location.displacement) = (None, State::default(), Vec3::ZERO);
        self.free.push(slot);
    }

    /// Prefetches some slots and the triangles that they are on; with `substrate`, also their
    /// charts.
    ///
    /// The loops are short, so the processor issues the loads of many slots at once.
    pub fn prefetch(
        &self,
        slots: impl Iterator<Item = SlotIndex> + Clone,
        surface: &SurfaceMesh,
        substrate: Option<&Substrate>,
    ) {
        let facets = |sum, slot: SlotIndex| {
            let triangle = self[slot].motion.place.triangle;
            sum + surface.facet(triangle).prefetch() + substrate.map_or(0.0, |substrate| substrate.prefetch(triangle))
        };
        let ids = slots.clone().fold(0, |sum, slot| sum ^ id_number(&self[slot]));
        std::hint::black_box((ids, slots.fold(0.0, facets)));
    }

    /// Slots that hold a droplet, in order.
    pub fn used(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        SlotIndex::first(self.slots.len()).filter(|&slot| self.is_used(slot))
    }

    /// Volume of all droplets, in m³.
    pub fn volume(&self) -> f64 {
        self.used().map(|slot| self[slot].size.volume).sum()
    }

    /// Runs `job` on chunks of [`CHUNK`] of the sorted `slots` in parallel, each with its own log.
    pub fn par_chunks<L: Send>(
        &mut self,
        slots: &[SlotIndex],
        logs: &mut [L],
        job: &(impl Fn(&[SlotIndex], &mut SlotRange<'_>, &mut L) + Sync),
    ) {
        split_chunks(slots, SlotRange { first: 0, slots: &mut self.slots }, logs, job);
    }

    /// Whether a restored state is consistent.
    pub fn is_sound(&self, num_triangles: usize) -> bool {
        self.free.len() <= self.slots.len()
            && self.free.iter().all(|&slot| self.slots.get(slot.to_usize()).is_some_and(|slot| slot.id.is_none()))
            && self.slots.iter().all(|slot| slot.motion.place.triangle.to_usize() < num_triangles)
    }
}

/// Number of the id in a slot, to read its cache line ahead of use.
fn id_number(slot: &Slot) -> u32 {
    slot.id.map_or(0, DropId::get)
}

fn split_chunks<L: Send>(
    slots: &[SlotIndex],
    mut range: SlotRange<'_>,
    logs: &mut [L],
    job: &(impl Fn(&[SlotIndex], &mut SlotRange<'_>, &mut L) + Sync),
) {
    match logs {
        [] => {}
        [log] => job(slots, &mut range, log),
        _ => {
            let half = logs.len() / 2;
            let (early, late) = slots.split_at(half * CHUNK);
            let (first, second) = range.split(late[0].to_usize());
            let (early_logs, late_logs) = logs.split_at_mut(half);
            rayon::join(|| split_chunks(early, first, early_logs, job), || split_chunks(late, second, late_logs, job));
        }
    }
}
