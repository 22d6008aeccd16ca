//! Deforming solids: where their triangles are, and the acceleration of droplets on each of them.
//!
//! A droplet keeps its barycentric coordinates while its triangle moves. With the velocities V_i of
//! the triangle's corners in the world, relative to which it moves,
//!
//! ```text
//! a_i  = Rᵀ [g − (V_i(t₁) − V_i(t₀))/Δt]            a(x) linear between the corners
//! Ω    = ½ rot V of the triangle                    Coriolis acceleration −2 Ω × v
//! ```
//!
//! so a droplet at rest on its triangle feels exactly the acceleration of that material point. For
//! a moving one the in-plane strain rate S is left out (−S v, of the order of the rate at which the
//! triangle stretches).

use glam::{DMat3, DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_world::Solid;

use crate::acceleration::{AccelerationField, RigidState};
use crate::surface_mesh::Facet;

/// A deforming solid: its vertices as points of the solid's own mesh, and its motion.
#[derive(Debug)]
pub struct Deforming {
    /// Triangle corners in the solid's own mesh, and their weights, of each vertex.
    points: Vec<([u32; 3], DVec3)>,
    /// Triangles in the order of the facets.
    triangles: Vec<[u32; 3]>,
    /// What the next step depends on.
    pub state: DeformingState,
    /// Velocities of the vertices in the world, reused by every step.
    velocities_after: Vec<DVec3>,
}

/// Velocities and accelerations over the last step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DeformingState {
    /// Velocity of each vertex in the rest pose, in m/s.
    velocities: Vec<DVec3>,
    /// Velocity of each vertex in the world at the end of the step, in m/s.
    world_velocities: Vec<DVec3>,
    /// Acceleration field of each triangle.
    pub fields: Vec<AccelerationField>,
}

impl Deforming {
    /// The deforming solid whose droplets slide on `mesh`; `None` for one that keeps its shape.
    pub fn new(solid: &Solid, mesh: &TriMesh) -> Option<Box<Self>> {
        let own = solid.deformed()?;
        let corners = &own.mesh().triangles;
        let find =
            |p: &DVec3| own.nearest(*p).map_or(([0; 3], DVec3::X), |near| (corners[near.triangle], near.barycentrics));
        let points = mesh.positions.iter().map(find).collect();
        let mut deforming = Self {
            points,
            triangles: mesh.triangles.clone(),
            state: DeformingState::default(),
            velocities_after: Vec::new(),
        };
        deforming.read_velocities(solid);
        deforming.state.world_velocities = deforming.in_world(&mesh.positions, &RigidState::of(solid)).collect();
        Some(Box::new(deforming))
    }

    /// Reads the velocities of the vertices at the solid's time.
    pub fn read_velocities(&mut self, solid: &Solid) {
        let Some(velocities) = solid.vertex_velocities() else { return };
        self.state.velocities.clear();
        self.state.velocities.extend(self.points.iter().map(|point| interpolated(velocities, point)));
    }

    /// Moves the vertices of `mesh` to their places at the solid's time.
    pub fn refit(&self, solid: &Solid, mesh: &mut MeshDistance) {
        let positions = &solid.mesh().positions;
        mesh.refit_with(|moved| {
            moved.iter_mut().zip(&self.points).for_each(|(moved, point)| *moved = interpolated(positions, point));
        });
    }

    /// Velocity (in m/s) of the surface point nearest to `point`, both in the rest pose.
    pub fn velocity_at(&self, mesh: &MeshDistance, point: DVec3) -> DVec3 {
        mesh.nearest(point).map_or(DVec3::ZERO, |near| {
            interpolated(&self.state.velocities, &(self.triangles[near.triangle], near.barycentrics))
        })
    }

    fn in_world<'a>(&'a self, positions: &'a [DVec3], now: &'a RigidState) -> impl Iterator<Item = DVec3> + 'a {
        let moving = positions.iter().zip(&self.state.velocities);
        moving.map(|(p, v)| now.velocity.at(now.pose.apply(*p)) + now.pose.turn(*v))
    }

    /// Updates the acceleration fields for a step of `dt` seconds to the pose and velocity `now`.
    pub fn update_fields(&mut self, positions: &[DVec3], now: &RigidState, (gravity, wind): (DVec3, DVec3), dt: f64) {
        let mut after = std::mem::take(&mut self.velocities_after);
        after.clear();
        after.extend(self.in_world(positions, now));
        let back = now.pose.rotation.transpose();
        let before = &self.state.world_velocities;
        let acceleration = |v: usize| match dt {
            0.0 => back * gravity,
            dt => back * (gravity - (after[v] - before[v]) / dt),
        };
        self.state.fields.clear();
        self.state.fields.extend(self.triangles.iter().map(|triangle| {
            let corners = triangle.map(|v| v as usize);
            let [x, a, v] =
                [corners.map(|v| positions[v]), corners.map(acceleration), corners.map(|v| back * after[v])];
            field(x, a, v, back * wind)
        }));
        self.velocities_after = std::mem::replace(&mut self.state.world_velocities, after);
    }
}

/// The value at a point of a triangle whose corners have `values`.
fn interpolated(values: &[DVec3], (corners, weights): &([u32; 3], DVec3)) -> DVec3 {
    let [a, b, c] = corners.map(|v| values[v as usize]);
    a * weights.x + b * weights.y + c * weights.z
}

/// The field of a triangle from positions, accelerations and velocities of its corners; zero
/// gradients where it has no plane.
fn field(x: [DVec3; 3], a: [DVec3; 3], v: [DVec3; 3], wind: DVec3) -> AccelerationField {
    let mean = |values: [DVec3; 3]| (values[0] + values[1] + values[2]) / 3.0;
    let (e1, e2) = (x[1] - x[0], x[2] - x[0]);
    let normal = e1.cross(e2).normalize_or_zero();
    let frame = DMat3::from_cols(e1, e2, normal);
    let wind = wind - mean(v);
    if frame.determinant() == 0.0 {
        let gravity = mean(a);
        return AccelerationField { gravity, gradient: DMat3::ZERO, spin: DVec3::ZERO, wind, is_rotating: false };
    }
    let inverse = frame.inverse();
    let along = |f: [DVec3; 3]| DMat3::from_cols(f[1] - f[0], f[2] - f[0], DVec3::ZERO) * inverse;
    let (gradient, motion) = (along(a), along(v));
    // The normal turns with the triangle: dn/dt = −(∇V)ᵀ n.
    let turn = -(motion.transpose() * normal);
    let m = motion + DMat3::from_cols(turn * normal.x, turn * normal.y, turn * normal.z);
    let spin = 0.5 * DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
    AccelerationField { gravity: a[0] - gradient * x[0], gradient, spin, wind, is_rotating: true }
}

/// The weights of the second and third corner of a triangle at a place in its axes.
pub fn weights(facet: &Facet, at: DVec2) -> DVec2 {
    let third = at.y / facet.corners[2].y;
    DVec2::new((at.x - third * facet.corners[2].x) / facet.corners[1].x, third)
}

/// The place with these weights.
pub fn place(facet: &Facet, weights: DVec2) -> DVec2 {
    facet.corners[1] * weights.x + facet.corners[2] * weights.y
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle that rotates as a rigid body has the field and the spin of the body.
    #[test]
    fn a_rigidly_rotating_triangle_spins_with_its_body() {
        let omega = DVec3::new(0.7, -1.1, 2.3);
        let x = [DVec3::new(0.1, 0.2, -0.3), DVec3::new(0.4, 0.1, 0.2), DVec3::new(-0.2, 0.5, 0.1)];
        let centrifugal = |p: DVec3| -omega.cross(omega.cross(p));
        let found = field(x, x.map(centrifugal), x.map(|p| omega.cross(p)), DVec3::ZERO);
        assert!((found.spin - omega).length() < 1e-12, "{}", found.spin);
        let middle = (x[0] + x[1] + x[2]) / 3.0;
        let error = (found.at(middle, DVec3::ZERO) - centrifugal(middle)).length();
        assert!(error < 1e-12, "off by {error:.1e}");
    }
}
