//! All droplets on surfaces: slots, a free list, and work on many slots at once.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::integrate::MotionState;
use crate::substrate::Substrate;
use crate::surface_mesh::SurfaceMesh;

/// Slots per piece of parallel work; a fixed number, so that pieces do not depend on threads.
pub const CHUNK: usize = 1024;

/// How much a droplet holds and how wide it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// In m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// Largest radius at any height, in m.
    pub merge_radius: f32,
    /// Pull into the solid for which the radius was found, in m/s².
    pub normal_acceleration: f32,
}

/// Where a droplet is in the rest pose of its solid, and its place among its neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// In m.
    pub point: DVec3,
    /// How it came there in the last step, in m.
    pub displacement: Vec3,
    /// Largest radius at any height, in m, as neighbors see it.
    #[serde(skip)]
    pub merge_radius: f32,
    /// Its solid.
    #[serde(skip)]
    pub solid: u32,
    /// Its bucket among its neighbors'.
    #[serde(skip, default = "none")]
    pub bucket: u32,
}

/// No slot, no bucket.
pub const NIL: u32 = u32::MAX;

fn none() -> u32 {
    NIL
}

impl Location {
    /// At a point, not yet among neighbors.
    pub fn at(point: DVec3) -> Self {
        Self { point, displacement: Vec3::ZERO, merge_radius: 0.0, solid: 0, bucket: NIL }
    }
}

/// What a droplet is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// On its way.
    pub is_sliding: bool,
    /// Landed wider than it would rest, and has not moved since: its retention factor is below 1 by up to 0.1.
    pub line_excess: f32,
    /// Way since it last marked the substrate, in m.
    pub unmarked_distance: f32,
}

/// A droplet's numbers together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Droplet {
    /// Never reused; 0 for an empty slot.
    pub id: u32,
    /// SurfacePoint and velocity.
    pub motion: MotionState,
    /// Volume and radii.
    pub size: Size,
    /// What it is doing.
    pub state: State,
}

/// All that is known of a droplet, in two neighboring lines of memory: what others look at in the first, what it needs to move in the
/// second. A million droplets are looked at in no order that memory knows, and each is waited for once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(128))]
pub struct Slot {
    /// Where it is, as neighbors see it.
    pub location: Location,
    /// Never reused; 0 for an empty slot.
    pub id: u32,
    /// What it is doing.
    pub state: State,
    /// SurfacePoint and velocity.
    pub motion: MotionState,
    /// Volume and radii.
    pub size: Size,
}

const _: () = assert!(size_of::<Slot>() == 128);

/// Droplets by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Droplets {
    /// The slots.
    pub all: Vec<Slot>,
    free: Vec<u32>,
    /// Those that ran and do not any more, some more than once, until they are taken off the list of sliding.
    #[serde(skip)]
    pub stopped: Vec<u32>,
}

/// Neighboring slots, to be changed by one thread.
pub struct Slots<'a> {
    /// The first of them.
    pub first: usize,
    /// The slots.
    pub all: &'a mut [Slot],
}

impl<'a> Slots<'a> {
    /// Fetches what some slots hold and the triangles that they are on: all of it at once, so that work on each need not wait.
    pub fn fetch(&self, slots: &[u32], surface: &SurfaceMesh, substrate: &Substrate) {
        let fetched = slots.iter().fold(0, |sum, &slot| sum ^ self.all[slot as usize - self.first].id);
        let facets = slots.iter().fold(0.0, |sum, &slot| {
            let triangle = self.all[slot as usize - self.first].motion.place.triangle;
            sum + surface.facet(triangle).fetch() + substrate.fetch(triangle)
        });
        std::hint::black_box((fetched, facets));
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (all, later) = self.all.split_at_mut(at - self.first);
        (Slots { first: self.first, all }, Slots { first: at, all: later })
    }
}

impl Droplets {
    /// Number of droplets.
    pub fn count(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// Slots, used or not.
    pub fn num_slots(&self) -> usize {
        self.all.len()
    }

    /// Whether a slot holds a droplet.
    pub fn is_used(&self, slot: u32) -> bool {
        self.all[slot as usize].id != 0
    }

    /// A droplet's numbers.
    pub fn get(&self, slot: u32) -> Droplet {
        let Slot { id, motion, size, state, .. } = self.all[slot as usize];
        Droplet { id, motion, size, state }
    }

    /// Puts a droplet's numbers back.
    pub fn set(&mut self, slot: u32, droplet: &Droplet) {
        let Droplet { id, motion, size, state } = *droplet;
        let own = &mut self.all[slot as usize];
        if own.state.is_sliding && !state.is_sliding {
            self.stopped.push(slot);
        }
        (own.id, own.motion, own.size, own.state) = (id, motion, size, state);
    }

    /// Takes a droplet up, at a point of the rest pose, and says its slot.
    pub fn insert(&mut self, droplet: &Droplet, point: DVec3) -> u32 {
        let Droplet { id, motion, size, state } = *droplet;
        let new = Slot { location: Location::at(point), id, state, motion, size };
        if let Some(slot) = self.free.pop() {
            self.all[slot as usize] = new;
            return slot;
        }
        self.all.push(new);
        self.all.len() as u32 - 1
    }

    /// Takes a droplet away.
    pub fn remove(&mut self, slot: u32) {
        let gone = &mut self.all[slot as usize];
        if gone.state.is_sliding {
            self.stopped.push(slot);
        }
        (gone.id, gone.state, gone.location.displacement) = (0, State::default(), Vec3::ZERO);
        self.free.push(slot);
    }

    /// Fetches what some slots hold and the triangles that they are on, in loops so short that the processor is far ahead: all of it at once, so that
    /// work on each need not wait. With `ground`, also how the triangles lie in its maps.
    pub fn fetch(
        &self,
        slots: impl Iterator<Item = u32> + Clone,
        surface: &SurfaceMesh,
        substrate: Option<&Substrate>,
    ) {
        let facets = |sum, slot: u32| {
            let triangle = self.all[slot as usize].motion.place.triangle;
            sum + surface.facet(triangle).fetch() + substrate.map_or(0.0, |substrate| substrate.fetch(triangle))
        };
        let fetched = slots.clone().fold(0, |sum, slot| sum ^ self.all[slot as usize].id);
        std::hint::black_box((fetched, slots.fold(0.0, facets)));
    }

    /// Slots in use, rising.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.all).filter(|(_, slot)| slot.id != 0).map(|(index, _)| index)
    }

    /// Volume of all droplets, in m³.
    pub fn volume(&self) -> f64 {
        self.slots().map(|slot| self.all[slot as usize].size.volume).sum()
    }

    /// Works on rising `slots`, [`CHUNK`] at a time and in parallel, each piece with a log of its own.
    pub fn work<L: Send>(
        &mut self,
        slots: &[u32],
        logs: &mut [L],
        job: &(impl Fn(&[u32], &mut Slots<'_>, &mut L) + Sync),
    ) {
        let all = Slots { first: 0, all: &mut self.all };
        split_work(slots, all, logs, job);
    }

    /// Whether all is consistent, as in a saved state it must be.
    pub fn is_sound(&self, num_triangles: usize) -> bool {
        self.free.len() <= self.all.len()
            && self.free.iter().all(|&slot| self.all.get(slot as usize).is_some_and(|slot| slot.id == 0))
            && self.all.iter().all(|slot| (slot.motion.place.triangle as usize) < num_triangles)
    }
}

fn split_work<L: Send>(
    slots: &[u32],
    mut view: Slots<'_>,
    logs: &mut [L],
    job: &(impl Fn(&[u32], &mut Slots<'_>, &mut L) + Sync),
) {
    match logs {
        [] => {}
        [log] => job(slots, &mut view, log),
        _ => {
            let half = logs.len() / 2;
            let (early, late) = slots.split_at(half * CHUNK);
            let (first, second) = view.split(late[0] as usize);
            let (early_logs, late_logs) = logs.split_at_mut(half);
            rayon::join(|| split_work(early, first, early_logs, job), || split_work(late, second, late_logs, job));
        }
    }
}
