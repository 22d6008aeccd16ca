//! Keeps the cells of the neighbor grid at a size that fits the droplets.

use super::ParticleSystem;
use sessile_sliding::SlotIndex;

use crate::droplets::Slot;
use crate::grid::{PER_CELL, least_width};
use crate::neighbors::{GridAddress, Neighbors};
use crate::surface_mesh::SurfaceMesh;

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
        if self.neighbors.is_outgrown(self.state.droplets.count(), self.sliding.len() + self.starting.len()) {
            self.rebuild_neighbors(surface);
        }
    }

    /// Rebuilds the neighbor grid with cells for the current droplets.
    pub fn rebuild_neighbors(&mut self, surface: &SurfaceMesh) {
        let (area, farthest) = surface.extent();
        // Cell width for a few droplets per cell when they are spread evenly, and the least width.
        let cell = |Population { count, merge_radii }: Population| {
            let least = 8.0 * (merge_radii / count.max(1.0)).max(1e-6).max(least_width(farthest));
            ((PER_CELL * area / count.max(1.0)).sqrt().max(least), least)
        };
        let (mut all, mut sliding) = (Population::default(), Population::default());
        for slot in self.state.droplets.used() {
            let Slot { size, state, .. } = &self.state.droplets[slot];
            let merge_radius = f64::from(size.merge_radius);
            all.add(merge_radius);
            if state.is_sliding {
                sliding.add(merge_radius);
            }
        }
        let num_sliding = (self.sliding.len() + self.starting.len()).max(sliding.count as usize);
        let count = self.state.droplets.count();
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
        for slot in SlotIndex::first(self.state.droplets.num_slots()) {
            self.state.droplets[slot].location.address = GridAddress::NONE;
            let Slot { state, motion, size, .. } = self.state.droplets[slot];
            if state.is_sliding {
                let solid = surface.facet(motion.place.triangle).solid;
                self.neighbors.insert_sliding(&mut self.state.droplets.slots, slot, solid, size.merge_radius);
            } else if self.state.droplets.is_used(slot) {
                self.insert_neighbor(slot, surface);
            }
        }
    }

    /// Inserts or moves a droplet in the neighbor grid.
    pub(super) fn insert_neighbor(&mut self, slot: SlotIndex, surface: &SurfaceMesh) {
        let Slot { motion, size, .. } = self.state.droplets[slot];
        let solid = surface.facet(motion.place.triangle).solid;
        self.neighbors.insert(&mut self.state.droplets.slots, slot, solid, size.merge_radius);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model_of;

    /// Droplets of very different sizes, before and after the grid has been rebuilt.
    #[test]
    fn every_droplet_is_found_after_the_grid_has_been_rebuilt() {
        let caps = (0..40).map(|k: u32| {
            format!(
                "[[drops]]\nshape = \"cap\"\non = \"table\"\ncenter = \"{} 0 {} mm\"\nvolume = \"{} uL\"\n",
                f64::from(k % 8) * 10.0 - 35.0,
                f64::from(k / 8) * 10.0 - 20.0,
                1e-3 * 10_f64.powf(f64::from(k % 5))
            )
        });
        let mut model = model_of(&caps.collect::<String>());
        let (particles, context) = model.particles_and_context();
        for _ in 0..2 {
            for slot in SlotIndex::first(40) {
                let location = particles.state.droplets[slot].location;
                let mut found = false;
                particles.neighbors.covering(location.solid, location.point, |other| found |= other == slot);
                assert!(found, "{slot}");
            }
            particles.rebuild_neighbors(context.surface);
        }
    }
}
