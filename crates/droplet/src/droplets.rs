//! Storage of all droplets on surfaces: slots, a free list, and parallel work on chunks of slots.

use std::ops::{Index, IndexMut};

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::integrate::MotionState;
use crate::substrate::Substrate;
use crate::surface_mesh::SurfaceMesh;

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
    pub solid: u32,
    /// Its bucket in the grid, or [`NIL`].
    #[serde(skip, default = "nil")]
    pub bucket: u32,
}

/// Null index of slots, buckets and cache lines, which are stored as bare `u32` to keep them small.
pub const NIL: u32 = u32::MAX;

fn nil() -> u32 {
    NIL
}

impl Location {
    /// At a point (in m), not yet in the grid.
    fn new(point: DVec3) -> Self {
        Self { point, displacement: Vec3::ZERO, merge_radius: 0.0, solid: 0, bucket: NIL }
    }
}

/// Dynamic state of a droplet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Whether it is sliding; otherwise it is pinned.
    pub is_sliding: bool,
    /// How far the contact line of a pinned droplet exceeds its least radius, as a share of the
    /// range that the receding angle allows. It lowers the retention factor by up to 0.1.
    pub line_excess: f32,
    /// Path length since it last marked the wet map, in m.
    pub unmarked_distance: f32,
}

/// A droplet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Droplet {
    /// Never reused; 0 for an empty slot.
    pub id: u32,
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
    /// Never reused; 0 for an empty slot.
    pub id: u32,
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
    free: Vec<u32>,
    /// Slots that have stopped sliding, possibly repeated, until the list of sliding slots is
    /// updated.
    #[serde(skip)]
    pub stopped: Vec<u32>,
}

impl Index<u32> for Droplets {
    type Output = Slot;

    #[inline(always)]
    fn index(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }
}

impl IndexMut<u32> for Droplets {
    #[inline(always)]
    fn index_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
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
    pub fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize - self.first]
    }

    /// A slot of the range, to be changed.
    #[inline(always)]
    pub fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize - self.first]
    }

    /// Prefetches some slots and the triangles that they are on.
    pub fn prefetch(&self, slots: &[u32], surface: &SurfaceMesh, substrate: &Substrate) {
        let ids = slots.iter().fold(0, |sum, &slot| sum ^ self.get(slot).id);
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
    pub fn is_used(&self, slot: u32) -> bool {
        self[slot].id != 0
    }

    /// The droplet in a slot.
    pub fn get(&self, slot: u32) -> Droplet {
        let Slot { id, motion, size, state, .. } = self[slot];
        Droplet { id, motion, size, state }
    }

    /// Replaces the droplet in a slot.
    pub fn set(&mut self, slot: u32, droplet: &Droplet) {
        let Droplet { id, motion, size, state } = *droplet;
        let own = &mut self.slots[slot as usize];
        if own.state.is_sliding && !state.is_sliding {
            self.stopped.push(slot);
        }
        (own.id, own.motion, own.size, own.state) = (id, motion, size, state);
    }

    /// Inserts a droplet at a point of the rest pose (in m) and returns its slot.
    pub fn insert(&mut self, droplet: &Droplet, point: DVec3) -> u32 {
        let Droplet { id, motion, size, state } = *droplet;
        let new = Slot { location: Location::new(point), id, state, motion, size };
        if let Some(slot) = self.free.pop() {
            self[slot] = new;
            return slot;
        }
        self.slots.push(new);
        self.slots.len() as u32 - 1
    }

    /// Removes the droplet in a slot.
    pub fn remove(&mut self, slot: u32) {
        let own = &mut self.slots[slot as usize];
        if own.state.is_sliding {
            self.stopped.push(slot);
        }
        (own.id, own.state, own.location.displacement) = (0, State::default(), Vec3::ZERO);
        self.free.push(slot);
    }

    /// Prefetches some slots and the triangles that they are on; with `substrate`, also their
    /// charts.
    ///
    /// The loops are short, so the processor issues the loads of many slots at once.
    pub fn prefetch(
        &self,
        slots: impl Iterator<Item = u32> + Clone,
        surface: &SurfaceMesh,
        substrate: Option<&Substrate>,
    ) {
        let facets = |sum, slot: u32| {
            let triangle = self[slot].motion.place.triangle;
            sum + surface.facet(triangle).prefetch() + substrate.map_or(0.0, |substrate| substrate.prefetch(triangle))
        };
        let ids = slots.clone().fold(0, |sum, slot| sum ^ self[slot].id);
        std::hint::black_box((ids, slots.fold(0.0, facets)));
    }

    /// Slots that hold a droplet, in order.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.id != 0).map(|(index, _)| index)
    }

    /// Volume of all droplets, in m³.
    pub fn volume(&self) -> f64 {
        self.used().map(|slot| self[slot].size.volume).sum()
    }

    /// Runs `job` on chunks of [`CHUNK`] of the sorted `slots` in parallel, each with its own log.
    pub fn par_chunks<L: Send>(
        &mut self,
        slots: &[u32],
        logs: &mut [L],
        job: &(impl Fn(&[u32], &mut SlotRange<'_>, &mut L) + Sync),
    ) {
        split_chunks(slots, SlotRange { first: 0, slots: &mut self.slots }, logs, job);
    }

    /// Whether a restored state is consistent.
    pub fn is_sound(&self, num_triangles: usize) -> bool {
        self.free.len() <= self.slots.len()
            && self.free.iter().all(|&slot| self.slots.get(slot as usize).is_some_and(|slot| slot.id == 0))
            && self.slots.iter().all(|slot| (slot.motion.place.triangle as usize) < num_triangles)
    }
}

fn split_chunks<L: Send>(
    slots: &[u32],
    mut range: SlotRange<'_>,
    logs: &mut [L],
    job: &(impl Fn(&[u32], &mut SlotRange<'_>, &mut L) + Sync),
) {
    match logs {
        [] => {}
        [log] => job(slots, &mut range, log),
        _ => {
            let half = logs.len() / 2;
            let (early, late) = slots.split_at(half * CHUNK);
            let (first, second) = range.split(late[0] as usize);
            let (early_logs, late_logs) = logs.split_at_mut(half);
            rayon::join(|| split_chunks(early, first, early_logs, job), || split_chunks(late, second, late_logs, job));
        }
    }
}
