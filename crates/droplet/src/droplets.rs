//! All droplets on surfaces: arrays by slot, a free list, and work on many slots at once.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::ride::Rider;
use crate::track::Track;

/// Slots per piece of parallel work; a fixed number, so that pieces do not depend on threads.
pub const CHUNK: usize = 512;

/// How much a droplet holds and how wide it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// In m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// Largest radius at any height, in m.
    pub reach: f64,
    /// Pull into the solid for which the radius was found, in m/s².
    pub pressing: f64,
}

/// Where a droplet is in the rest pose of its solid, and its place among its neighbours: one line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Spot {
    /// In m.
    pub point: DVec3,
    /// How it came there in the last step, in m.
    pub step: DVec3,
    /// Largest radius at any height, in m, as neighbours see it.
    #[serde(skip)]
    pub reach: f32,
    /// Its solid.
    #[serde(skip)]
    pub solid: u32,
    /// Its bucket among its neighbours'.
    #[serde(skip, default = "none")]
    pub bucket: u32,
}

const _: () = assert!(size_of::<Spot>() == 64);

/// No slot, no bucket.
pub const NOBODY: u32 = u32::MAX;

fn none() -> u32 {
    NOBODY
}

impl Spot {
    /// At a point, not yet among neighbours.
    pub fn at(point: DVec3) -> Self {
        Self { point, step: DVec3::ZERO, reach: 0.0, solid: 0, bucket: NOBODY }
    }
}

/// What a droplet is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// On its way.
    pub running: bool,
    /// Landed wider than it would rest, and has not moved since: its retention factor is below 1 by up to 0.1.
    pub wide: f32,
    /// Way since it last marked the ground, in m.
    pub since_wet: f32,
}

/// A droplet's numbers together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Droplet {
    /// Never reused; 0 for an empty slot.
    pub id: u32,
    /// Place and velocity.
    pub rider: Rider,
    /// Volume and radii.
    pub size: Size,
    /// What it is doing.
    pub state: State,
}

/// Droplets by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Droplets {
    /// Ids; 0 for empty slots.
    pub ids: Vec<u32>,
    /// Places and velocities.
    pub riders: Vec<Rider>,
    /// Volumes and radii.
    pub sizes: Vec<Size>,
    /// Points of the rest pose.
    pub spots: Vec<Spot>,
    /// What they do.
    pub states: Vec<State>,
    free: Vec<u32>,
}

/// Neighbouring slots of all arrays, to be changed by one thread.
pub struct Slots<'a> {
    /// The first of them.
    pub first: usize,
    /// Places and velocities.
    pub riders: &'a mut [Rider],
    /// Volumes and radii.
    pub sizes: &'a mut [Size],
    /// Points.
    pub spots: &'a mut [Spot],
    /// What they do.
    pub states: &'a mut [State],
}

impl<'a> Slots<'a> {
    /// Fetches what some slots hold and the triangles that they are on: all of it at once, so that work on each need not wait.
    pub fn fetch(&self, slots: &[u32], track: &Track) {
        let mut fetched = 0.0;
        for &slot in slots {
            let i = slot as usize - self.first;
            let state = &self.states[i];
            fetched += self.sizes[i].volume + self.spots[i].point.x + f64::from(state.wide);
        }
        for &slot in slots {
            let facet = track.facet(self.riders[slot as usize - self.first].place.triangle);
            fetched += facet.x.x + facet.corners[1].x + facet.sides[2].y + facet.turns[0] + facet.area;
        }
        std::hint::black_box(fetched);
    }

    fn split(self, at: usize) -> (Self, Self) {
        let middle = at - self.first;
        let (riders, later_riders) = self.riders.split_at_mut(middle);
        let (sizes, later_sizes) = self.sizes.split_at_mut(middle);
        let (spots, later_spots) = self.spots.split_at_mut(middle);
        let (states, later_states) = self.states.split_at_mut(middle);
        (
            Slots { first: self.first, riders, sizes, spots, states },
            Slots { first: at, riders: later_riders, sizes: later_sizes, spots: later_spots, states: later_states },
        )
    }
}

impl Droplets {
    /// Number of droplets.
    pub fn count(&self) -> usize {
        self.ids.len() - self.free.len()
    }

    /// Slots, used or not.
    pub fn num_slots(&self) -> usize {
        self.ids.len()
    }

    /// Whether a slot holds a droplet.
    pub fn is_used(&self, slot: u32) -> bool {
        self.ids[slot as usize] != 0
    }

    /// A droplet's numbers.
    pub fn get(&self, slot: u32) -> Droplet {
        let i = slot as usize;
        Droplet { id: self.ids[i], rider: self.riders[i], size: self.sizes[i], state: self.states[i] }
    }

    /// Puts a droplet's numbers back.
    pub fn set(&mut self, slot: u32, droplet: &Droplet) {
        let i = slot as usize;
        (self.ids[i], self.riders[i], self.sizes[i], self.states[i]) =
            (droplet.id, droplet.rider, droplet.size, droplet.state);
    }

    /// Takes a droplet up, at a point of the rest pose, and says its slot.
    pub fn insert(&mut self, droplet: &Droplet, point: DVec3) -> u32 {
        let spot = Spot::at(point);
        if let Some(slot) = self.free.pop() {
            self.set(slot, droplet);
            self.spots[slot as usize] = spot;
            return slot;
        }
        self.ids.push(droplet.id);
        self.riders.push(droplet.rider);
        self.sizes.push(droplet.size);
        self.states.push(droplet.state);
        self.spots.push(spot);
        self.ids.len() as u32 - 1
    }

    /// Takes a droplet away.
    pub fn remove(&mut self, slot: u32) {
        let i = slot as usize;
        self.ids[i] = 0;
        self.states[i] = State::default();
        self.spots[i].step = DVec3::ZERO;
        self.free.push(slot);
    }

    /// Fetches what some slots hold and the triangles that they are on, in loops so short that the processor is far ahead: all of it at once, so that
    /// work on each need not wait.
    pub fn fetch(&self, slots: impl Iterator<Item = u32> + Clone, track: &Track) {
        let numbers = |sum: f64, slot: u32| {
            let i = slot as usize;
            sum + self.sizes[i].volume + f64::from(self.states[i].wide) + f64::from(self.ids[i])
        };
        let facets = |sum: f64, slot: u32| {
            let facet = track.facet(self.riders[slot as usize].place.triangle);
            sum + facet.x.x + facet.corners[1].x + facet.sides[2].y
        };
        std::hint::black_box(slots.clone().fold(0.0, numbers) + slots.fold(0.0, facets));
    }

    /// Slots in use, rising.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.ids).filter(|&(_, &id)| id != 0).map(|(slot, _)| slot)
    }

    /// Volume of all droplets, in m³.
    pub fn volume(&self) -> f64 {
        self.slots().map(|slot| self.sizes[slot as usize].volume).sum()
    }

    /// Works on rising `slots`, [`CHUNK`] at a time and in parallel, each piece with a log of its own.
    pub fn work<L: Send>(
        &mut self,
        slots: &[u32],
        logs: &mut [L],
        job: &(impl Fn(&[u32], &mut Slots<'_>, &mut L) + Sync),
    ) {
        let all = Slots {
            first: 0,
            riders: &mut self.riders,
            sizes: &mut self.sizes,
            spots: &mut self.spots,
            states: &mut self.states,
        };
        split_work(slots, all, logs, job);
    }

    /// Whether the arrays fit together, as those of a saved state must.
    pub fn is_sound(&self, num_triangles: usize) -> bool {
        let n = self.ids.len();
        let lengths = [self.riders.len(), self.sizes.len(), self.spots.len(), self.states.len()];
        lengths.iter().all(|&length| length == n)
            && self.free.len() <= n
            && self.free.iter().all(|&slot| self.ids.get(slot as usize) == Some(&0))
            && self.riders.iter().all(|rider| (rider.place.triangle as usize) < num_triangles)
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
