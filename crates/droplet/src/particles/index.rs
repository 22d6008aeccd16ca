//! Keeps the cells of the neighbor grid at a size that fits the droplets.

use super::ParticleSystem;
use sessile_sliding::SlotIndex;

use crate::droplets::Slot;
use crate::grid::{PER_CELL, least_width};
use crate::neighbors::{GridAddress, Neighbors};
use crate::surface_mesh::{Facet, SurfaceMesh};

/// Number of some droplets and the sum of their merge radii, in m.
#[derive(Clone, Copy, Default)]
struct Population {
    count: f64,
    merge_radii: f64,
}

impl Population {
    fn add(&mut self, merge_radius: f64) {
        *self = Self { count: self.count + 1.0, merge_radii: self.merge_radii + merge_radius };
    }
}

impl ParticleSystem {
    /// Rebuilds the neighbor grid if it was made for fewer or smaller droplets.
    pub(super) fn resize_neighbors(&mut self, surface: &SurfaceMesh) {
        if self.neighbors.is_outgrown(self.droplets.count(), self.sliding.len() + self.starting.len()) {
            self.rebuild_neighbors(surface);
        }
    }

    /// Rebuilds the neighbor grid with cells for the current droplets.
    pub(super) fn rebuild_neighbors(&mut self, surface: &SurfaceMesh) {
        let area: f64 = surface.facets().iter().map(Facet::area).sum();
        let farthest = surface.facets().iter().map(|facet| facet.origin.abs().max_element()).fold(0.0, f64::max);
        // Cell width for a few droplets per cell when they are spread evenly, and the least width.
        let cell = |Population { count, merge_radii }: Population| {
            let least = 8.0 * (merge_radii / count.max(1.0)).max(1e-6).max(least_width(farthest));
            ((PER_CELL * area / count.max(1.0)).sqrt().max(least), least)
        };
        let (mut all, mut sliding) = (Population::default(), Population::default());
        for slot in self.droplets.used() {
            let Slot { size, state, .. } = &self.droplets[slot];
            let merge_radius = f64::from(size.merge_radius);
            all.add(merge_radius);
            if state.is_sliding {
                sliding.add(merge_radius);
            }
        }
        let num_sliding = (self.sliding.len() + self.starting.len()).max(sliding.count as usize);
        let count = self.droplets.count();
        let (mut pinned_cell, least) = cell(all);
        let (mut sliding_cell, _) = cell(if sliding.count > 0.0 { sliding } else { all });
        loop {
            self.neighbors = Neighbors::rebuilt(count, num_sliding, [pinned_cell, sliding_cell]);
            self.insert_all(surface);
            // Droplets crowded on a small part of the surface need smaller cells.
            if self.neighbors.mean_occupancy() < 4.0 * PER_CELL || pinned_cell <= least {
                return;
            }
            (pinned_cell, sliding_cell) = ((0.5 * pinned_cell).max(least), (0.5 * sliding_cell).max(least));
        }
    }

    /// Inserts all droplets into an empty grid.
    fn insert_all(&mut self, surface: &SurfaceMesh) {
        for slot in SlotIndex::first(self.droplets.num_slots()) {
            self.droplets[slot].location.address = GridAddress::NONE;
            let Slot { state, motion, size, .. } = self.droplets[slot];
            if state.is_sliding {
                let solid = surface.facet(motion.place.triangle).solid;
                self.neighbors.insert_sliding(&mut self.droplets.slots, slot, solid, size.merge_radius);
            } else if self.droplets.is_used(slot) {
                self.insert_neighbor(slot, surface);
            }
        }
    }

    /// Inserts or moves a droplet in the neighbor grid.
    pub(super) fn insert_neighbor(&mut self, slot: SlotIndex, surface: &SurfaceMesh) {
        let Slot { motion, size, .. } = self.droplets[slot];
        let solid = surface.facet(motion.place.triangle).solid;
        self.neighbors.insert(&mut self.droplets.slots, slot, solid, size.merge_radius);
    }
}
