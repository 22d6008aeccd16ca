//! Projection of the initial velocities onto the contact constraints: the impulse of a rigid solid.
//!
//! The midpoint rule extrapolates, v¹ = 2v − v⁰. That conserves energy if v⁰ fulfills the
//! constraints of the vertices in contact. It does not where a surface was just created and moves
//! as a rigid body including its wetted face: the momentum that the face loses would be reflected
//! into the rest of the drop. So v⁰ is replaced by the nearest velocity, in the norm of M, that
//! fulfills the constraints. This is the impulse of a rigid solid, which never adds energy.

use glam::DVec3;

use super::geometry::DropGeometry;
use super::linear_system::{Coefficients, LinearSystem};
use crate::drop::Drop;
use crate::parameters::Numerics;

/// Whether the constraints change the drop's velocity noticeably.
///
/// `capillary_speed`, in m/s, is the scale for drops at rest.
pub fn violates_constraints(
    drop: &Drop,
    geometry: &DropGeometry,
    system: &LinearSystem,
    capillary_speed: f64,
    numerics: &Numerics,
) -> bool {
    let change: DVec3 = geometry
        .contacts
        .iter()
        .map(|c| (c.vertex, system.constraints[c.vertex].carried(c.sample.gain())))
        .map(|(v, gain)| geometry.rigid[v] * (drop.mesh.velocities[v] - (system.velocities[v] - gain)))
        .sum();
    change.length() > numerics.constraint_tolerance * (drop.velocity.length() + capillary_speed)
}

/// Projects the velocities at the beginning of the step onto the constraints.
///
/// `mass` is ρV, in kg. `momentum` contains M v⁰ and is overwritten; the solution of the step stays
/// in `system.velocities`. `plane` is the normal of the plane that the drop slides on, if it does.
pub fn project_initial_velocity(
    drop: &mut Drop,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
    mass: f64,
    momentum: &mut [DVec3],
    plane: Option<DVec3>,
    numerics: &Numerics,
) {
    system.right.copy_from_slice(momentum);
    system.line_drag.fill(0.0);
    let solution = momentum;
    solution.copy_from_slice(&system.velocities);
    for contact in &geometry.contacts {
        let v = contact.vertex;
        system.velocities[v] -= system.constraints[v].carried(contact.sample.gain());
    }
    let inertia = Coefficients { rigid_mass: mass, ..Coefficients::default() };
    system.solve(geometry, &inertia, Some(0.0), numerics);
    if let Some(normal) = plane {
        system.balance_slide(&inertia, normal);
    }
    drop.mesh.velocities.copy_from_slice(&system.velocities);
    system.velocities.copy_from_slice(solution);
}
