//! The marks that running droplets leave on the substrate.
//!
//! A way over many small triangles is marked in straight pieces that go over several of them, not triangle by triangle: what is marked is as wide as the droplet,
//! so a piece may leave out bends that are small beside it.

use glam::{DVec2, DVec3};

use super::{Form, Log, ParticleSystem, StepContext};
use crate::droplets::{CHUNK, Slots, State};
use crate::integrate::Segment;
use crate::substrate::Substrate;
use crate::surface_mesh::SurfaceMesh;

/// A running droplet marks the ground after this much way, in base radii.
const WETS_EVERY: f64 = 0.5;
/// Base radii that a straight piece may be off the way: a way of length s between ends c apart is never farther than √(s² − c²)/2 from their line.
const MOST_OFF: f64 = 0.1;
/// Triangles that a piece longer than a base radius goes over at most.
const MOST_TRIANGLES: u32 = 4;

impl ParticleSystem {
    /// Marks the ground that the sliding passed, where that had to wait until all had come to their places.
    pub(super) fn wet(&mut self, context: &StepContext<'_>) {
        let Self { droplets, substrate, form, logs, sliding, .. } = self;
        let waits = |solid: usize| !is_marked_at_once(form, substrate, solid as u32);
        if !(0..context.surface.num_solids()).any(waits) {
            return;
        }
        let job = |slots: &[u32], view: &mut Slots<'_>, log: &mut Log| {
            let mut stretches = &log.stretches[..];
            for &slot in slots {
                let count = stretches.iter().take_while(|stretch| stretch.slot == slot).count();
                let (own, later) = stretches.split_at(count);
                stretches = later;
                let i = slot as usize - view.first;
                let solid = context.surface.facet(view.all[i].motion.place.triangle).solid;
                if !is_marked_at_once(form, substrate, solid) {
                    let segments = own.iter().map(|stretch| stretch.segment);
                    mark(substrate, context.surface, segments, &mut view.all[i].state, view.all[i].size.radius);
                }
            }
        };
        let pieces = sliding.len().div_ceil(CHUNK);
        droplets.work(sliding, &mut logs[..pieces], &job);
    }
}

/// Whether a runner marks the ground of a solid in its own ride: nobody else's depends on it.
pub(super) fn is_marked_at_once(form: &Form, substrate: &Substrate, solid: u32) -> bool {
    matches!(form, Form::Paper(_)) || !substrate.remembers(solid)
}

/// Marks the way of one droplet in a step: one that creeps does so now and then.
pub(super) fn mark(
    substrate: &Substrate,
    surface: &SurfaceMesh,
    way: impl Iterator<Item = Segment> + Clone,
    state: &mut State,
    radius: f64,
) {
    if f64::from(state.unmarked_distance) <= WETS_EVERY * radius {
        return;
    }
    state.unmarked_distance = 0.0;
    let Some(Segment { triangle, .. }) = way.clone().next() else { return };
    if way.clone().nth(1).is_none() || !substrate.marks_widths(surface.facet(triangle).solid, radius) {
        way.for_each(|Segment { triangle, from, to, .. }| substrate.wet(surface, triangle, from, to, radius));
    } else {
        straighten(surface, way, radius, |triangle, from, to| substrate.wet(surface, triangle, from, to, radius));
    }
}

/// Straight pieces instead of a way's segments: each with the triangle where it ends, and its ends in the axes of that.
fn straighten(
    surface: &SurfaceMesh,
    way: impl Iterator<Item = Segment>,
    radius: f64,
    mut piece: impl FnMut(u32, DVec2, DVec2),
) {
    struct Piece {
        from: DVec3,
        length: f64,
        triangle: u32,
        to: DVec2,
        triangles: u32,
    }
    let mut end = |Piece { from, triangle, to, .. }: Piece| {
        let facet = surface.facet(triangle);
        piece(triangle, facet.project(from - facet.origin), to);
    };
    let mut open: Option<Piece> = None;
    for Segment { triangle, from, to, .. } in way {
        let facet = surface.facet(triangle);
        let own = from.distance(to);
        if let Some(before) = open.take() {
            let length = before.length + own;
            let triangles = before.triangles + u32::from(triangle != before.triangle);
            let off = length * length - before.from.distance_squared(facet.point(to));
            if off <= (2.0 * MOST_OFF * radius).powi(2) && (length <= radius || triangles <= MOST_TRIANGLES) {
                open = Some(Piece { length, triangle, to, triangles, ..before });
                continue;
            }
            end(before);
        }
        open = Some(Piece { from: facet.point(from), length: own, triangle, to, triangles: 1 });
    }
    open.into_iter().for_each(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::SurfacePoint;
    use crate::surface_mesh::tests::{sheet, surface_of};

    /// A curved way over 3700 triangles: few pieces, none of which leaves the way, nor the way them, by more than was said.
    #[test]
    fn pieces_go_over_many_triangles_and_stay_on_the_way() {
        let surface = surface_of(&sheet(1.0, 1.0, 50, 37));
        let mut place = SurfacePoint { triangle: 0, at: surface.facet(0).centroid() };
        let (mut way, mut points): (Vec<Segment>, Vec<DVec3>) = Default::default();
        for step in 0..400 {
            let turn = 0.006 * f64::from(step);
            let along = DVec3::new(turn.cos(), turn.sin(), 0.0) * 2e-3;
            let facet = surface.facet(place.triangle);
            let (next, _) = surface.trace_geodesic(place, facet.project(along), DVec2::ZERO);
            let end = surface.facet(next.triangle);
            let from = end.project(facet.point(place.at) - end.origin);
            way.push(Segment { triangle: next.triangle, from, to: next.at, time: 0.0 });
            points.push(next.point(&surface));
            place = next;
        }
        let radius = 0.05;
        let mut pieces: Vec<[DVec3; 2]> = Vec::new();
        straighten(&surface, way.into_iter(), radius, |triangle, from, to| {
            pieces.push([from, to].map(|at| surface.facet(triangle).point(at)));
        });
        assert!(pieces.len() < 40, "{} pieces", pieces.len());
        for pair in pieces.windows(2) {
            assert!(pair[0][1].distance(pair[1][0]) < 1e-12, "a gap: {pair:?}");
        }
        for point in points {
            let off = pieces.iter().map(|&[a, b]| {
                let share = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                point.distance(a.lerp(b, share))
            });
            let off = off.fold(f64::INFINITY, f64::min);
            assert!(off <= MOST_OFF * radius, "{point} is {off:e} m off, radius {radius} m");
        }
    }
}
