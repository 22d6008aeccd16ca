//! Marks the wet map along the paths of sliding droplets.
//!
//! A path over many small triangles is marked as a polyline whose segments span several triangles:
//! the marked band is as wide as the droplet, so bends that are small beside it may be left out. A
//! path of length s between ends at distance c is nowhere farther than √(s² − c²)/2 from the chord.

use glam::{DVec2, DVec3};
use sessile_sliding::SlotIndex;

use super::{ChunkLog, Fidelity, ParticleState, ParticleSystem, StepContext};
use crate::droplets::{CHUNK, SlotRange, State};
use crate::integrate::Segment;
use crate::parameters::Parameters;
use crate::substrate::Substrate;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, TriangleIndex};

impl ParticleSystem {
    /// Marks the paths of sliding droplets where that had to wait until all have moved.
    pub(super) fn mark_wet(&mut self, context: &StepContext<'_>) {
        let Self { state: ParticleState { droplets, substrate, .. }, fidelity, scratch, sliding, .. } = self;
        let waits = |solid| !is_marked_at_once(fidelity, substrate, solid);
        if !context.surface.solids().any(waits) {
            return;
        }
        let job = |slots: &[SlotIndex], range: &mut SlotRange<'_>, log: &mut ChunkLog| {
            let mut trail = &log.trail[..];
            for &slot in slots {
                let count = trail.iter().take_while(|part| part.slot == slot).count();
                let (own_trail, later) = trail.split_at(count);
                trail = later;
                let own = range.slot(slot);
                let solid = context.surface.facet(own.motion.place.triangle).solid;
                if !is_marked_at_once(fidelity, substrate, solid) {
                    let segments = own_trail.iter().map(|part| part.segment);
                    mark(context, substrate, segments, &mut own.state, own.size.radius);
                }
            }
        };
        let num_chunks = sliding.len().div_ceil(CHUNK);
        droplets.par_chunks(sliding, &mut scratch.logs[..num_chunks], &job);
    }
}

/// Whether droplets mark a solid while others are still being integrated: wetness has no effect on
/// it.
pub(super) fn is_marked_at_once(fidelity: &Fidelity, substrate: &Substrate, solid: SolidIndex) -> bool {
    matches!(fidelity, Fidelity::Paper(_)) || !substrate.has_wetting_history(solid)
}

/// Marks the path of one droplet; a slow droplet marks only every few steps.
pub(super) fn mark(
    context: &StepContext<'_>,
    substrate: &Substrate,
    path: impl Iterator<Item = Segment> + Clone,
    state: &mut State,
    radius: f64,
) {
    let (surface, parameters) = (context.surface, context.parameters());
    if f64::from(state.unmarked_distance) <= parameters.mark_spacing * radius {
        return;
    }
    state.unmarked_distance = 0.0;
    let Some(Segment { triangle, .. }) = path.clone().next() else { return };
    let wet = |triangle, from, to| substrate.wet(surface, triangle, from, to, radius);
    if path.clone().nth(1).is_none() || !substrate.resolves(surface.facet(triangle).solid, radius) {
        path.for_each(|Segment { triangle, from, to, .. }| wet(triangle, from, to));
    } else {
        simplify(surface, parameters, path, radius, wet);
    }
}

/// A straight piece of a simplified path.
struct Chord {
    from: DVec3,
    /// Path length that it replaces, in m.
    length: f64,
    triangle: TriangleIndex,
    to: DVec2,
    num_triangles: u32,
}

/// Replaces a path by few chords; each is passed on with the triangle of its end, in whose axes its
/// ends are.
fn simplify(
    surface: &SurfaceMesh,
    parameters: &Parameters,
    path: impl Iterator<Item = Segment>,
    radius: f64,
    mut emit: impl FnMut(TriangleIndex, DVec2, DVec2),
) {
    let mut finish = |Chord { from, triangle, to, .. }: Chord| {
        let facet = surface.facet(triangle);
        emit(triangle, facet.project(from - facet.origin), to);
    };
    let mut open: Option<Chord> = None;
    for Segment { triangle, from, to, .. } in path {
        let facet = surface.facet(triangle);
        let own = from.distance(to);
        if let Some(before) = open.take() {
            let length = before.length + own;
            let num_triangles = before.num_triangles + u32::from(triangle != before.triangle);
            let off = length * length - before.from.distance_squared(facet.point(to));
            let is_close = off <= (2.0 * parameters.mark_tolerance * radius).powi(2);
            if is_close && (length <= radius || num_triangles <= parameters.max_marked_triangles) {
                open = Some(Chord { length, triangle, to, num_triangles, ..before });
                continue;
            }
            finish(before);
        }
        open = Some(Chord { from: facet.point(from), length: own, triangle, to, num_triangles: 1 });
    }
    open.into_iter().for_each(finish);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::SurfacePoint;
    use crate::surface_mesh::tests::{sheet, surface_of};

    /// A curved path over 3700 triangles is replaced by few chords within the tolerance.
    #[test]
    fn chords_span_many_triangles_and_stay_close_to_the_path() {
        let surface = surface_of(&sheet(1.0, 1.0, 50, 37));
        let mut place =
            SurfacePoint { triangle: TriangleIndex::new(0), at: surface.facet(TriangleIndex::new(0)).centroid() };
        let (mut path, mut points): (Vec<Segment>, Vec<DVec3>) = Default::default();
        for step in 0..400 {
            let turn = 0.006 * f64::from(step);
            let along = DVec3::new(turn.cos(), turn.sin(), 0.0) * 2e-3;
            let facet = surface.facet(place.triangle);
            let (next, _) = surface.trace_geodesic(place, facet.project(along), DVec2::ZERO);
            let end = surface.facet(next.triangle);
            let from = end.project(facet.point(place.at) - end.origin);
            path.push(Segment { triangle: next.triangle, from, to: next.at, time: 0.0 });
            points.push(next.point(&surface));
            place = next;
        }
        let radius = 0.05;
        let mut chords: Vec<[DVec3; 2]> = Vec::new();
        let parameters = Parameters::default();
        simplify(&surface, &parameters, path.into_iter(), radius, |triangle, from, to| {
            chords.push([from, to].map(|at| surface.facet(triangle).point(at)));
        });
        assert!(chords.len() < 40, "{} chords", chords.len());
        for pair in chords.windows(2) {
            assert!(pair[0][1].distance(pair[1][0]) < 1e-12, "a gap: {pair:?}");
        }
        for point in points {
            let off = chords.iter().map(|&[a, b]| {
                let share = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                point.distance(a.lerp(b, share))
            });
            let off = off.fold(f64::INFINITY, f64::min);
            assert!(off <= parameters.mark_tolerance * radius, "{point} is {off:e} m off, radius {radius} m");
        }
    }
}
