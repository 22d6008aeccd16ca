//! Vertices on sides of the domain: where a mirror, a wall or a periodic side cuts the liquid.
//!
//! The nearest wall alone does not tell where a vertex belongs in the corner between a side and a
//! solid, and the extracted corner is cut off on the scale of a cell. So a vertex of triangles on a
//! side is projected to the plane of that side, and one that also has triangles on a solid to both:
//! the cut is flat up to its rim, where measures tell it from the interface.

use glam::DVec3;

use super::edge_collapse::TaggedMesh;
use super::{ExtractionFields, SurfaceTag};

/// Projections to solid and sides in turn, in a corner.
const PASSES: usize = 3;

/// The sides and the solid that the triangles around a vertex lie on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides {
    /// Planes of the sides: the normal into the domain, and the position along it in m.
    planes: [Option<(DVec3, f64)>; 3],
    on_solid: bool,
}

impl Sides {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.planes[0].is_none()
    }

    fn add(&mut self, plane: (DVec3, f64)) {
        if !self.planes.contains(&Some(plane))
            && let Some(free) = self.planes.iter_mut().find(|known| known.is_none())
        {
            *free = Some(plane);
        }
    }

    /// The nearest point on the sides, and on the solid if both meet within `reach` (in m).
    pub fn project(&self, from: DVec3, reach: f64, liquid: &impl ExtractionFields) -> DVec3 {
        let to_sides = |mut at: DVec3| {
            for (normal, offset) in self.planes.into_iter().flatten() {
                at -= (normal.dot(at) - offset) * normal;
            }
            at
        };
        let mut at = from;
        for _ in 0..if self.on_solid { PASSES } else { 0 } {
            at = to_sides(liquid.solid_at(at).map_or(at, |solid| solid.point));
        }
        if self.on_solid && at.distance(from) <= reach { at } else { to_sides(from) }
    }

    /// The part of a direction along the sides, and along the solid at `at` if there is one.
    pub fn tangent(&self, at: DVec3, mut direction: DVec3, liquid: &impl ExtractionFields) -> DVec3 {
        if self.on_solid
            && let Some(solid) = liquid.solid_at(at)
        {
            direction -= direction.dot(solid.normal) * solid.normal;
        }
        for (normal, _) in self.planes.into_iter().flatten() {
            direction -= direction.dot(normal) * normal;
        }
        direction
    }
}

/// The sides around each vertex.
pub fn sides_of_vertices(mesh: &TaggedMesh, liquid: &impl ExtractionFields) -> Vec<Sides> {
    let mut sides = vec![Sides::default(); mesh.positions.len()];
    for (triangle, &tag) in mesh.triangles.iter().zip(&mesh.tags) {
        let SurfaceTag::Wall(number) = tag else { continue };
        let plane = liquid.side_plane(number);
        for &v in triangle {
            match plane {
                Some(plane) => sides[v as usize].add(plane),
                None => sides[v as usize].on_solid = true,
            }
        }
    }
    sides
}

/// Projects the vertices on sides of the domain to them.
pub fn project_to_sides(mesh: &mut TaggedMesh, h: f64, liquid: &impl ExtractionFields) {
    let sides = sides_of_vertices(mesh, liquid);
    for (position, sides) in mesh.positions.iter_mut().zip(sides).filter(|(_, sides)| !sides.is_empty()) {
        *position = sides.project(*position, h, liquid);
    }
}
