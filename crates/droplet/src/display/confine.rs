//! Keeps displayed shapes out of solids.
//!
//! Vertices inside a solid are moved to its surface, and the rest of the free surface until the
//! volume is right ([`confine`]). Where that finds no shape, the droplet is shown as a ball that
//! the solids cut ([`cut_ball`]).

use glam::DVec3;
use sessile_numerics::math;
use sessile_shapes::{DropMesh, confine, cut_ball};
use sessile_world::Solid;

use super::{Cut, FrameBuilder};
use crate::droplets::Droplet;
use crate::surface_mesh::SolidIndex;

/// Number of vertices at which a draped droplet is tested for cutting into its solid.
const CHECKED_VERTICES: usize = 96;
/// Depth of a vertex in a solid that cannot be overlooked, in cube roots of the volume.
const VISIBLE_DEPTH: f64 = 0.02;
/// Clearances of the center of a cut ball, in cube roots of its volume: the center with most room
/// is taken.
const CLEARANCES: [f64; 5] = [0.3, 0.2, 0.1, 0.05, 0.02];
/// Largest number of moves away from the nearest solid.
const MAX_MOVES: usize = 60;
/// Distance of the center of a cut ball from the place of its droplet, in cube roots of its volume.
const FARTHEST_CENTER: f64 = 1.5;
/// Largest reach of a confined shape over that of the shape before: a few vertices that are free to
/// move would become a needle, and end where solids are not looked for.
const MOST_STRETCHED: f64 = 1.5;
/// Depth in an open solid, in cube roots of the volume, beyond which a droplet is behind it.
const DEEP: f64 = 2.0;
/// Gap between a cut ball and a solid, in cube roots of its volume.
const TOUCH: f64 = 1e-4;

/// Range of depths at which a vertex is inside a solid, in m: deeper ones are behind an open solid.
#[derive(Clone, Copy)]
struct Inside {
    shallow: f64,
    deep: f64,
}

impl Inside {
    /// That for a droplet of `volume` (in m³).
    fn of(built: &DropMesh, volume: f64) -> Self {
        Self { shallow: 1e-3 * math::cbrt(volume), deep: 2.0 * center_and_reach(built).1 }
    }

    fn holds(self, solid: &Solid, point: DVec3) -> bool {
        (-self.deep..-self.shallow).contains(&solid.signed_distance(point))
    }
}

/// Mean of a droplet's vertices, and the distance of the farthest one from it, in m.
fn center_and_reach(built: &DropMesh) -> (DVec3, f64) {
    let positions = &built.mesh.positions;
    let center = positions.iter().sum::<DVec3>() / positions.len() as f64;
    (center, positions.iter().map(|p| p.distance_squared(center)).fold(0.0, f64::max).sqrt())
}

impl FrameBuilder<'_> {
    /// Moves the free surface of a droplet out of other solids, and out of its own one if it may
    /// cut into it; `false` if it cannot. In world coordinates.
    pub(super) fn confine(&self, built: &mut DropMesh, volume: f64, own: SolidIndex, may_cut: Cut) -> bool {
        let nearby = &self.context.setup.nearby_solids[own];
        if may_cut == Cut::Never && nearby.is_empty() {
            return true;
        }
        let (center, reach) = center_and_reach(built);
        let near = |other: &&SolidIndex| self.solids[**other].signed_distance(center) < reach;
        let mut obstacles: Vec<&Solid> = nearby.iter().filter(near).map(|&other| &self.solids[other]).collect();
        let is_inside = Inside::of(built, volume);
        let positions = &built.mesh.positions;
        // The distance from an exact solid costs little; every n-th vertex of rings is a poor
        // sample.
        let is_exact = self.context.surface.analytic_distance(own, center).is_some();
        let step = |solid: &Solid| match may_cut {
            Cut::Possible if solid.index() == own.to_usize() && !is_exact => (positions.len() / CHECKED_VERTICES) | 1,
            _ => 1,
        };
        let cuts = |solid: &Solid| positions.iter().step_by(step(solid)).any(|&p| is_inside.holds(solid, p));
        let is_cut = obstacles.iter().any(|solid| cuts(solid)) || (may_cut != Cut::Never && cuts(&self.solids[own]));
        // What is moved out of one solid must not move into another, or into its own.
        obstacles.push(&self.solids[own]);
        !is_cut || self.confine_to(built, volume, own, &obstacles)
    }

    /// Moves the free surface of a droplet on solid `own` out of `obstacles`; `false` if it cannot.
    pub(super) fn confine_to(&self, built: &mut DropMesh, volume: f64, own: SolidIndex, obstacles: &[&Solid]) -> bool {
        let (own, inside) = (&self.solids[own], Inside::of(built, volume));
        let (center, reach) = center_and_reach(built);
        let fits = confine(built, volume, |at, stays| {
            let mut moved = at;
            for solid in obstacles {
                if inside.holds(solid, moved) {
                    moved = solid.closest(moved).point;
                }
            }
            if moved == at {
                return None;
            }
            Some(if stays { own.closest(moved).point } else { moved })
        });
        // Between two solids a vertex that is out of one may be in the other.
        let visible = Inside { shallow: VISIBLE_DEPTH * math::cbrt(volume), ..inside };
        let is_wrong = |p: DVec3| {
            p.distance(center) > MOST_STRETCHED * reach || obstacles.iter().any(|solid| visible.holds(solid, p))
        };
        fits && !built.mesh.positions.iter().any(|&p| is_wrong(p))
    }

    /// A droplet near `place` (in m, in the world) whose shape does not fit between the solids: a
    /// ball that they cut. `None` without room for it.
    pub(super) fn cut_ball(&self, droplet: &Droplet, place: DVec3, own: SolidIndex) -> Option<DropMesh> {
        let size = math::cbrt(droplet.size.volume);
        let nearby = self.context.setup.nearby_solids[own].iter().chain([&own]).map(|&solid| &self.solids[solid]);
        // What the place is deep in is behind an open solid.
        let solids: Vec<&Solid> = nearby.filter(|solid| solid.signed_distance(place) > -DEEP * size).collect();
        let distance = |p: DVec3| solids.iter().map(|solid| solid.signed_distance(p)).fold(f64::INFINITY, f64::min);
        let touch = TOUCH * size;
        let centers = CLEARANCES.map(|clearance| away_from(&solids, place, clearance * size));
        let is_near = |center: &DVec3| center.distance(place) < FARTHEST_CENTER * size;
        let center = centers.into_iter().filter(is_near).max_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
        if distance(center) < 2.0 * touch {
            return None;
        }
        cut_ball(center, droplet.size.volume, |direction, farthest| {
            // Sphere tracing: nothing is nearer than the distance.
            let mut t = 0.0;
            while t < farthest {
                let gap = distance(center + direction * t);
                if gap < touch {
                    return Some(t);
                }
                t += gap;
            }
            None
        })
    }
}

/// A point near `place` with this clearance (all in m) from all solids, where there is one: in a
/// valley it is away from both of its sides.
fn away_from(solids: &[&Solid], place: DVec3, clearance: f64) -> DVec3 {
    let mut point = place;
    for _ in 0..MAX_MOVES {
        let near = solids.iter().map(|solid| solid.closest(point));
        let Some(nearest) = near.min_by(|a, b| a.distance.total_cmp(&b.distance)) else { break };
        if nearest.distance >= 0.999 * clearance {
            break;
        }
        point += nearest.normal * (clearance - nearest.distance);
    }
    point
}
