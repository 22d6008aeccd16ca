//! Corners of the mesh: which triangle, or which side, takes up a droplet that comes through one.

use glam::{DVec2, DVec3};

use crate::ride::Rules;
use crate::track::{Facet, NONE, Track};

/// A side that turns by more than this is an edge of the shape; below it is a facet's of something smooth, in rad.
pub const SHARP: f64 = 0.5;
/// Most triangles round a corner that are looked at.
const MOST_ROUND: usize = 512;

/// A corner of the mesh, as one of the triangles there has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// A triangle.
    pub triangle: u32,
    /// Which of its corners, 0 to 2.
    pub corner: usize,
}

/// Where a droplet goes from a corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Over a triangle.
    Over {
        /// Which.
        triangle: u32,
        /// The corner that it starts from.
        corner: usize,
        /// In the triangle's axes, in m/s.
        velocity: DVec2,
    },
    /// Along a side.
    Along {
        /// A triangle at the side.
        triangle: u32,
        /// Which of its sides.
        side: usize,
        /// Against the side's own direction.
        reversed: bool,
        /// In m/s.
        speed: f64,
    },
    /// Over the border of the mesh.
    Off {
        /// The triangle at the border.
        triangle: u32,
        /// Over the border, in that triangle's axes, unit length.
        outward: DVec2,
    },
    /// It is a pit: nothing leads out.
    Nowhere,
}

/// The corner of the triangle nearest to a place in it.
pub fn nearest_corner(facet: &Facet, at: DVec2) -> usize {
    (0..3).fold(0, |best, k| {
        if facet.corners[k].distance_squared(at) < facet.corners[best].distance_squared(at) { k } else { best }
    })
}

/// The triangles round a corner: counter-clockwise from the given one, then clockwise from it if a border is met.
pub fn round(track: &Track, vertex: Vertex) -> impl Iterator<Item = Vertex> + '_ {
    let mut clockwise = false;
    let mut next = Some(vertex);
    let mut count = 0;
    std::iter::from_fn(move || {
        let current = next?;
        count += 1;
        let step = |from: Vertex, clockwise: bool| {
            // Counter-clockwise over the side that arrives at the corner, clockwise over the one that leaves it.
            let side = if clockwise { from.corner } else { (from.corner + 2) % 3 };
            track.across(from.triangle, side).map(|(triangle, across)| Vertex {
                triangle,
                corner: if clockwise { (across + 1) % 3 } else { across },
            })
        };
        next = match step(current, clockwise) {
            Some(at) if !clockwise && at == vertex => None,
            Some(at) => Some(at),
            None if clockwise => None,
            None => {
                clockwise = true;
                step(vertex, true)
            }
        };
        if count >= MOST_ROUND {
            next = None;
        }
        Some(current)
    })
}

/// The corner of `triangle` that is `vertex`.
pub fn corner_at(track: &Track, vertex: Vertex, triangle: u32) -> usize {
    round(track, vertex).find(|at| at.triangle == triangle).map_or(vertex.corner, |at| at.corner)
}

/// Where a droplet that comes through a corner at `velocity` (rest pose, in m/s) goes on.
///
/// It goes over the triangle that keeps most of its velocity; failing that, along the side that does; failing that it stands, and sets off
/// again wherever it is pulled hardest. Projections only lose energy.
pub fn way_out<R: Rules>(track: &Track, rules: &R, vertex: Vertex, velocity: DVec3) -> Way {
    if velocity != DVec3::ZERO {
        if let Some(way) = best_way(track, vertex, |_| velocity, 1e-9 * velocity.length()) {
            return way;
        }
        if let Some(way) = off_border(track, vertex, velocity) {
            return way;
        }
    }
    // It stands: where is it pulled, harder than it is held?
    let pull = |at: Vertex| {
        let facet = track.facet(at.triangle);
        let place = crate::track::Place { triangle: at.triangle, at: facet.corners[at.corner] };
        let push = rules.push(facet, place, DVec2::ZERO);
        let strength = push.acceleration.length();
        if strength > push.hold { facet.lift(push.acceleration * (1.0 - push.hold / strength)) } else { DVec3::ZERO }
    };
    match best_way(track, vertex, pull, 0.0) {
        Some(Way::Over { triangle, corner, .. }) => Way::Over { triangle, corner, velocity: DVec2::ZERO },
        Some(Way::Along { triangle, side, reversed, .. }) => Way::Along { triangle, side, reversed, speed: 0.0 },
        Some(other) => other,
        None => off_border(track, vertex, pull(vertex)).unwrap_or(Way::Nowhere),
    }
}

/// The triangle in which most of a vector lies, else the side; both more than `least`.
fn best_way(track: &Track, vertex: Vertex, vector: impl Fn(Vertex) -> DVec3, least: f64) -> Option<Way> {
    let (mut best, mut most) = (None, least);
    let (mut best_side, mut most_along) = (None, least);
    for at in round(track, vertex) {
        let facet = track.facet(at.triangle);
        let vector = vector(at);
        let flat = facet.along(vector);
        let (leaving, arriving) = (facet.sides[at.corner], -facet.sides[(at.corner + 2) % 3]);
        let length = flat.length();
        if length > most && leaving.perp_dot(flat) >= 0.0 && flat.perp_dot(arriving) >= 0.0 {
            most = length;
            best = Some(Way::Over { triangle: at.triangle, corner: at.corner, velocity: flat });
        }
        for (along, side, reversed) in
            [(leaving.dot(flat), at.corner, false), (arriving.dot(flat), (at.corner + 2) % 3, true)]
        {
            if along > most_along {
                most_along = along;
                best_side = Some(Way::Along { triangle: at.triangle, side, reversed, speed: along });
            }
        }
    }
    best.or(best_side)
}

/// The border side at a corner over which a vector points most, if any.
fn off_border(track: &Track, vertex: Vertex, vector: DVec3) -> Option<Way> {
    let (mut best, mut most) = (None, 0.0);
    for at in round(track, vertex) {
        let facet = track.facet(at.triangle);
        for side in [at.corner, (at.corner + 2) % 3].into_iter().filter(|&side| facet.across[side] == NONE) {
            let outward = -facet.inward(side);
            let over = outward.dot(facet.along(vector));
            if over > most {
                (best, most) = (Some(Way::Off { triangle: at.triangle, outward }), over);
            }
        }
    }
    best
}
