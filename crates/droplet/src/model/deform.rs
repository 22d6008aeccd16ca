//! Moves the triangles of deforming solids, and the droplets with them.

use sessile_geometry::bvh::Bounds;
use sessile_sliding::SlotIndex;

use super::DropletModel;
use crate::deforming::{place, weights};
use crate::particles::Fidelity;
use crate::setup::u_axis;
use crate::surface_mesh::SolidIndex;

impl DropletModel {
    /// Whether the vertices of any solid move.
    pub(super) fn deforms(&self) -> bool {
        self.setup.deforming.iter().any(Option::is_some)
    }

    /// Moves deforming meshes to the world's time and the droplets with them, and updates the
    /// acceleration fields of a step of `dt` seconds.
    pub(super) fn deform(&mut self, dt: f64) {
        if !self.deforms() {
            return;
        }
        self.find_material_places();
        self.move_triangles();
        let environment = (self.world.gravity(), self.world.wind());
        for (k, deforming) in self.setup.deforming.iter_mut().enumerate() {
            if let (Some(deforming), Some(mesh)) = (deforming, &self.setup.meshes[k]) {
                let positions = &mesh.mesh().positions;
                deforming.update_fields(positions, &self.scratch.rigid_states[k], environment, dt);
            }
        }
        self.carry();
    }

    /// Moves the meshes and the facets of deforming solids to the world's time.
    pub(super) fn move_triangles(&mut self) {
        for (k, solid) in self.world.solids().iter().enumerate() {
            let (Some(deforming), Some(mesh)) = (&self.setup.deforming[k], &mut self.setup.meshes[k]) else { continue };
            deforming.refit(solid, mesh);
            let mesh = mesh.mesh();
            let index = SolidIndex::new(k);
            if let Some(flat) = self.surface.move_vertices(index, mesh)
                && !self.scratch.flat.contains(&index)
            {
                self.scratch.flat.push(index);
                self.scratch.notices.push(format!(
                    "solid `{}`: triangle {flat} has no area at t = {:.4} s; droplets keep its last shape until it has \
                     one again",
                    solid.name(),
                    self.world.time()
                ));
            }
            self.setup.bounds[k] = Bounds::of(mesh.positions.iter().copied());
            let range = self.surface.range_of(index);
            self.particles.state.substrate.move_charts(&self.surface, index, mesh);
            if let Fidelity::Paper(paper) = &mut self.particles.fidelity {
                let facets = self.surface.facets()[range.clone()].iter().enumerate();
                paper.turn_axes(range.start, facets.map(|(t, facet)| u_axis(mesh.corner_uvs.get(t), &facet.corners)));
            }
            let mut sum = 0.0;
            for (area, facet) in
                self.setup.cumulative_areas[range.clone()].iter_mut().zip(&self.surface.facets()[range])
            {
                sum += facet.area();
                *area = sum;
            }
        }
    }

    /// Finds the droplets on deforming solids, with the weights of their triangles' corners.
    fn find_material_places(&mut self) {
        let droplets = &self.particles.state.droplets;
        let place_of = |slot: SlotIndex| {
            let place = droplets[slot].motion.place;
            let facet = self.surface.facet(place.triangle);
            self.setup.deforming[facet.solid].is_some().then(|| (slot, weights(facet, place.at)))
        };
        self.scratch.carried.clear();
        self.scratch.carried.extend(droplets.used().filter_map(place_of));
    }

    /// Puts droplets at the same points of their moved triangles.
    fn carry(&mut self) {
        if self.scratch.carried.is_empty() {
            return;
        }
        for &(slot, weights) in &self.scratch.carried {
            let droplet = &mut self.particles.state.droplets[slot];
            let facet = self.surface.facet(droplet.motion.place.triangle);
            droplet.motion.place.at = place(facet, weights);
            droplet.location.point = facet.point(droplet.motion.place.at);
        }
        self.particles.rebuild_neighbors(&self.surface);
    }
}
