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
        let Slot { id, size, .. } = self.droplets[part.slot];
        let end = SurfacePoint { triangle: segment.triangle, at: segment.to };
        let displacement = segment.to - segment.from;
        let (length, along) = (displacement.length(), displacement.normalize());
        // A film that is barely shed has hardly any width: at least a twentieth of the droplet's.
        let width = part.width.max(0.1 * size.radius);
        let law = *self.substrate.law(surface, end);
        let beads = if law.film_is_stable() { 1.0 } else { length / law.bead_spacing(width, part.film / length) };
        let pieces = beads.ceil().clamp(1.0, context.parameters().max_film_segments) as u32;
        let share = 1.0 / f64::from(pieces);
        for later in (0..pieces).rev() {
            let back = along * -(size.radius + f64::from(later) * share * length);
            let (rear, carried) = surface.trace_geodesic(end, back, displacement * share);
            let laid = FilmPath { from: rear.at - carried, to: rear };
            let volume = share * part.film;
            self.substrate.lay_film(surface, rear.triangle, laid.from, rear.at, width, volume);
            let Some(id) = id else { continue };
            let film = FilmSegment { slot: part.slot, id, at: laid, volume, length: share * length, width };
            self.trails.extend(&film, &law, context.liquid(), now);
        }
    }

    /// Absorbs the film under the front of a droplet.
    pub(super) fn take_film(&mut self, slot: SlotIndex, context: &StepContext<'_>) {
        if !self.droplets.is_used(slot) {
            return;
        }
        let mut droplet = self.droplets.get(slot);
        let ahead = droplet.motion.velocity.normalize_or_zero() * (0.4 * droplet.size.radius);
        let front = context.surface.trace_geodesic(droplet.motion.place, ahead, DVec2::ZERO).0;
        let taken = self.substrate.take_film(context.surface, front, 0.9 * droplet.size.radius);
        if taken > 0.0 {
            droplet.size.volume += taken;
            let displacement = self.droplets[slot].location.displacement;
            self.update(slot, droplet, context);
            self.droplets[slot].location.displacement = displacement;
        }
    }
}
