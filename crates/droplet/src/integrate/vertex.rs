//! Vertices of the mesh: through which triangle, along which edge or over which border a droplet
//! leaves one.

use glam::{DVec2, DVec3};

use super::ForceModel;
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint, TriangleIndex};

/// Dihedral turn above which an edge belongs to the shape rather than to a triangulated smooth
/// surface, in rad.
pub const SHARP: f64 = 0.5;
/// Largest number of triangles visited around a vertex.
const MAX_VALENCE: usize = 512;

/// A vertex of the mesh, as a corner of one of its triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexRef {
    /// A triangle at the vertex.
    pub triangle: TriangleIndex,
    /// Corner of that triangle, 0 to 2.
    pub corner: usize,
}

/// How a droplet leaves a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VertexExit {
    /// Across a triangle.
    Triangle {
        /// The triangle.
        triangle: TriangleIndex,
        /// Corner of the triangle at the vertex.
        corner: usize,
        /// Velocity in the triangle's axes, in m/s.
        velocity: DVec2,
    },
    /// Along an edge.
    Edge {
        /// A triangle at the edge.
        triangle: TriangleIndex,
        /// The edge of that triangle.
        edge: usize,
        /// Against the direction of the edge.
        reversed: bool,
        /// Speed, in m/s.
        speed: f64,
    },
    /// Over the border of the mesh.
    Border {
        /// The triangle at the border.
        triangle: TriangleIndex,
        /// Unit direction over the border in that triangle's axes.
        outward: DVec2,
    },
    /// The vertex is a local minimum: the droplet stays.
    Pit,
}

/// The corner of the triangle nearest to a point in it.
pub fn nearest_corner(facet: &Facet, at: DVec2) -> usize {
    (0..3).fold(0, |best, k| {
        if facet.corners[k].distance_squared(at) < facet.corners[best].distance_squared(at) { k } else { best }
    })
}

/// The triangles around a vertex: counter-clockwise from the given one, then clockwise from it if
/// there is a border.
fn one_ring(surface: &SurfaceMesh, vertex: VertexRef) -> impl Iterator<Item = VertexRef> + '_ {
    let mut clockwise = false;
    let mut next = Some(vertex);
    let mut count = 0;
    std::iter::from_fn(move || {
        let current = next?;
        count += 1;
        let step = |from: VertexRef, clockwise: bool| {
            // Counter-clockwise over the edge that arrives at the vertex, clockwise over the one
            // that leaves it.
            let edge = if clockwise { from.corner } else { (from.corner + 2) % 3 };
            surface
                .opposite(from.triangle, edge)
                .map(|(triangle, edge)| VertexRef { triangle, corner: if clockwise { (edge + 1) % 3 } else { edge } })
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
        if count >= MAX_VALENCE {
            next = None;
        }
        Some(current)
    })
}

/// The corner of `triangle` at `vertex`.
pub fn corner_at(surface: &SurfaceMesh, vertex: VertexRef, triangle: TriangleIndex) -> usize {
    one_ring(surface, vertex).find(|at| at.triangle == triangle).map_or(vertex.corner, |at| at.corner)
}

/// How a droplet that arrives at a vertex with `velocity` (rest pose, in m/s) leaves it.
///
/// It takes the triangle that keeps most of its velocity, else the edge that does, else it stops
/// and starts in the direction of the largest net force. Projections only lose energy.
pub fn exit<F: ForceModel>(surface: &SurfaceMesh, model: &F, vertex: VertexRef, velocity: DVec3) -> VertexExit {
    if velocity != DVec3::ZERO {
        if let Some(exit) = best_exit(surface, vertex, |_| velocity, 1e-9 * velocity.length()) {
            return exit;
        }
        if let Some(exit) = border_exit(surface, vertex, velocity) {
            return exit;
        }
    }
    let net_force = |at: VertexRef| {
        let facet = surface.facet(at.triangle);
        let place = SurfacePoint { triangle: at.triangle, at: facet.corners[at.corner] };
        let forces = model.forces(facet, place, DVec2::ZERO);
        let strength = forces.acceleration.length();
        if strength > forces.retention {
            facet.lift(forces.acceleration * (1.0 - forces.retention / strength))
        } else {
            DVec3::ZERO
        }
    };
    match best_exit(surface, vertex, net_force, 0.0) {
        Some(VertexExit::Triangle { triangle, corner, .. }) => {
            VertexExit::Triangle { triangle, corner, velocity: DVec2::ZERO }
        }
        Some(VertexExit::Edge { triangle, edge, reversed, .. }) => {
            VertexExit::Edge { triangle, edge, reversed, speed: 0.0 }
        }
        Some(other) => other,
        None => border_exit(surface, vertex, net_force(vertex)).unwrap_or(VertexExit::Pit),
    }
}

/// The triangle that contains most of a vector, else the edge; both more than `least`.
fn best_exit(
    surface: &SurfaceMesh,
    vertex: VertexRef,
    vector: impl Fn(VertexRef) -> DVec3,
    least: f64,
) -> Option<VertexExit> {
    let (mut best, mut most) = (None, least);
    let (mut best_edge, mut most_along) = (None, least);
    for at in one_ring(surface, vertex) {
        let facet = surface.facet(at.triangle);
        let vector = vector(at);
        let flat = facet.project(vector);
        let (leaving, arriving) = (facet.edges[at.corner], -facet.edges[(at.corner + 2) % 3]);
        let length = flat.length();
        if length > most && leaving.perp_dot(flat) >= 0.0 && flat.perp_dot(arriving) >= 0.0 {
            most = length;
            best = Some(VertexExit::Triangle { triangle: at.triangle, corner: at.corner, velocity: flat });
        }
        for (along, edge, reversed) in
            [(leaving.dot(flat), at.corner, false), (arriving.dot(flat), (at.corner + 2) % 3, true)]
        {
            if along > most_along {
                most_along = along;
                best_edge = Some(VertexExit::Edge { triangle: at.triangle, edge, reversed, speed: along });
            }
        }
    }
    best.or(best_edge)
}

/// The border edge at a vertex over which a vector points most.
fn border_exit(surface: &SurfaceMesh, vertex: VertexRef, vector: DVec3) -> Option<VertexExit> {
    let (mut best, mut most) = (None, 0.0);
    for at in one_ring(surface, vertex) {
        let facet = surface.facet(at.triangle);
        for edge in [at.corner, (at.corner + 2) % 3].into_iter().filter(|&edge| facet.opposite[edge].get().is_none()) {
            let outward = -facet.inward(edge);
            let over = outward.dot(facet.project(vector));
            if over > most {
                (best, most) = (Some(VertexExit::Border { triangle: at.triangle, outward }), over);
            }
        }
    }
    best
}
