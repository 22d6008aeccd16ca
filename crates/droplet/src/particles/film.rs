//! Films: deposited at the rear of a fast droplet, absorbed by the front of another.

use glam::DVec2;
use sessile_sliding::{FilmSegment, SlotIndex};

use super::{ParticleSystem, StepContext, TrailSegment};
use crate::droplets::Slot;
use crate::surface_mesh::SurfacePoint;
use crate::trails::FilmPath;

impl ParticleSystem {
    /// Lays the film of a path segment at the rear of its droplet, in pieces as long as beads lie
    /// apart.
    pub(super) fn lay_film(&mut self, part: &TrailSegment, context: &StepContext<'_>, now: f64) {
        let (surface, segment) = (context.surface, &part.segment);
        let Slot { id, size, .. } = self.state.droplets[part.slot];
        let end = SurfacePoint { triangle: segment.triangle, at: segment.to };
        let displacement = segment.to - segment.from;
        let (length, along) = (displacement.length(), displacement.normalize());
        // A film that is barely shed has hardly any width: at least a twentieth of the droplet's.
        let width = part.width.max(0.1 * size.radius);
        let law = *self.state.substrate.law(surface, end);
        let beads = if law.film_is_stable() { 1.0 } else { length / law.bead_spacing(width, part.film / length) };
        let pieces = beads.ceil().clamp(1.0, context.parameters().max_film_segments) as u32;
        let share = 1.0 / f64::from(pieces);
        for later in (0..pieces).rev() {
            let back = along * -(size.radius + f64::from(later) * share * length);
            let (rear, carried) = surface.trace_geodesic(end, back, displacement * share);
            let laid = FilmPath { from: rear.at - carried, to: rear };
            let volume = share * part.film;
            self.state.substrate.lay_film(surface, rear.triangle, laid.from, rear.at, width, volume);
            let Some(id) = id else { continue };
            let film = FilmSegment { slot: part.slot, id, at: laid, volume, length: share * length, width };
            self.state.trails.extend(&film, &law, context.liquid(), now);
        }
    }

    /// Absorbs the film under the front of a droplet.
    pub(super) fn take_film(&mut self, slot: SlotIndex, context: &StepContext<'_>) {
        if !self.state.droplets.is_used(slot) {
            return;
        }
        let mut droplet = self.state.droplets.get(slot);
        let ahead = droplet.motion.velocity.normalize_or_zero() * (0.4 * droplet.size.radius);
        let front = context.surface.trace_geodesic(droplet.motion.place, ahead, DVec2::ZERO).0;
        let taken = self.state.substrate.take_film(context.surface, front, 0.9 * droplet.size.radius);
        if taken > 0.0 {
            droplet.size.volume += taken;
            let displacement = self.state.droplets[slot].location.displacement;
            self.update(slot, droplet, context);
            self.state.droplets[slot].location.displacement = displacement;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::integrate::Segment;
    use crate::model::tests::model_of;
    use crate::particles::TrailSegment;
    use sessile_sliding::SlotIndex;

    /// 0.4 µL left along 3 mm: it lies behind the droplet, and a droplet that comes back takes it.
    #[test]
    fn film_is_laid_at_the_rear_and_absorbed_by_the_front() {
        let mut model = model_of("[[drops]]\nshape = \"cap\"\non = \"table\"\nvolume = \"20 uL\"\n");
        let (particles, context) = model.particles_and_context();
        let slot = SlotIndex::new(0);
        let droplet = particles.state.droplets.get(slot);
        let place = droplet.motion.place;
        let along = context.surface.facet(place.triangle).project(glam::DVec3::X);
        let segment = Segment { triangle: place.triangle, from: place.at - along * 3e-3, to: place.at, time: 0.01 };
        particles.lay_film(&TrailSegment { slot, segment, film: 0.4e-9, width: 1e-3 }, &context, 0.0);
        let film = particles.state.substrate.film_volume();
        assert!((film / 0.4e-9 - 1.0).abs() < 1e-12, "{film:e} m³");
        let film_at = |x: f64| {
            let at = context.surface.trace_geodesic(place, along * x, glam::DVec2::ZERO).0;
            particles.state.substrate.film_at(context.surface, at)
        };
        let radius = droplet.size.radius;
        assert!(film_at(-radius - 1.5e-3) > 0.0 && film_at(0.0) == 0.0, "it lies behind the rear");
        // The front reaches 0.4 + 0.9 radii ahead.
        let mut back = droplet;
        back.motion.velocity = -along * 0.1;
        back.state.is_sliding = true;
        particles.state.droplets.set(slot, &back);
        particles.take_film(slot, &context);
        let taken = particles.state.droplets.get(slot).size.volume - droplet.size.volume;
        let left = particles.state.substrate.film_volume();
        assert!(taken > 0.0 && (taken + left - film).abs() < 1e-20, "{taken:e} taken, {left:e} left of {film:e} m³");
    }
}
