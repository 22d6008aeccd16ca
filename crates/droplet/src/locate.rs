//! Places on the solids that are nearest to, or hit from, points in space.

use glam::DVec3;
use sessile_sliding::Projectile;

use crate::acceleration::RigidState;
use crate::flight::{Contact, first_contact};
use crate::setup::Setup;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, SurfacePoint};

/// The solids at their current poses.
#[derive(Clone, Copy)]
pub struct Locator<'a> {
    /// The scene's settings, with the meshes of the solids.
    pub setup: &'a Setup,
    /// The mesh of all solids.
    pub surface: &'a SurfaceMesh,
    /// Pose and velocity of each solid.
    pub rigid_states: &'a [RigidState],
}

impl Locator<'_> {
    /// The place nearest to a point of the world within a distance (both in m) on any solid with
    /// triangles, and that solid.
    pub fn nearest_place(&self, point: DVec3, within: f64) -> Option<(SurfacePoint, SolidIndex)> {
        let mut best: Option<(f64, SurfacePoint, SolidIndex)> = None;
        for solid in self.surface.solids().filter(|&solid| self.surface.is_built(solid)) {
            if let Some((distance, place)) = self.place_on(solid, point, within)
                && best.is_none_or(|(least, ..)| distance < least)
            {
                best = Some((distance, place, solid));
            }
        }
        best.map(|(_, place, solid)| (place, solid))
    }

    /// Distance (in m) and place of the point of a solid nearest to a point of the world.
    pub fn place_on(&self, solid: SolidIndex, point: DVec3, within: f64) -> Option<(f64, SurfacePoint)> {
        let near = self.setup.mesh(solid).nearest_within(self.rigid_states[solid].pose.apply_inverse(point), within)?;
        Some((near.distance.abs(), self.place_at(solid, near.triangle, near.point)))
    }

    /// The place at a point of a triangle of a solid's mesh.
    pub fn place_at(&self, solid: SolidIndex, triangle: usize, point: DVec3) -> SurfacePoint {
        let triangle = self.surface.triangle_of(solid, triangle);
        let facet = self.surface.facet(triangle);
        SurfacePoint { triangle, at: facet.clamp(facet.project(point - facet.origin)) }
    }

    /// First contact of a sphere in free fall within `time` seconds with any solid with triangles,
    /// and that solid; the current poses are those `pose_after` seconds after the start of the
    /// flight.
    pub fn first_contact(
        &self,
        ball: &Projectile,
        gravity: DVec3,
        (time, pose_after): (f64, f64),
    ) -> Option<(SolidIndex, Contact)> {
        let moving = |solid: SolidIndex| self.setup.velocity_at(self.rigid_states, solid, ball.center);
        let mut first: Option<(SolidIndex, Contact)> = None;
        for (solid, (mesh, rigid)) in self.surface.solids().zip(self.setup.meshes.iter().zip(self.rigid_states)) {
            let Some(mesh) = mesh else { continue };
            let time = first.map_or(time, |(_, contact)| contact.time);
            if let Some(contact) = first_contact(
                ball,
                mesh,
                self.surface.is_closed(solid),
                (rigid, moving(solid)),
                gravity,
                (time, pose_after),
            ) && first.is_none_or(|(_, earlier)| contact.time < earlier.time)
            {
                first = Some((solid, contact));
            }
        }
        first
    }
}
