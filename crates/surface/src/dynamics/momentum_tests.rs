//! Sums of forces and momenta after every operator of a substep.
//!
//! On a level plane without hysteresis nothing pushes a drop along the plane: after every operator
//! the forces and the momentum along it must add up to what friction leaves of them.

use glam::DVec3;

use super::advance::{Scheme, assemble_forces, move_vertices};
use super::geometry::DropGeometry;
use super::linear_system::Constraint;
use super::{contact_line, velocity_gauge};
use crate::drop::{Drop, Scratch, StepContext};
use crate::drop_step::{Outcome, step_drop};
use crate::remesh::{RemeshTarget, remesh};
use crate::test_support::{TestDrops, floor};

const MILLISECOND: f64 = 1e-3;

/// A cap of 10 µL that spreads or contracts by its own, after some steps.
fn moving_cap(angle: f64) -> TestDrops {
    let drop = format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"10 uL\"\ncontact_angle = \"{} deg\"\n",
        angle + 12.0
    );
    let mut test = TestDrops::new(&format!("{}{drop}", floor(angle, angle)), 0.4e-3);
    for _ in 0..15 {
        test.step(MILLISECOND);
    }
    test
}

/// Length of a vector along the floor.
fn along_floor(v: DVec3) -> f64 {
    v.x.hypot(v.z)
}

/// √(σ/ρR), in m/s.
fn capillary_speed(drop: &Drop, context: &StepContext<'_>) -> f64 {
    let liquid = &context.params.liquid;
    (liquid.surface_tension / (liquid.density * sessile_numerics::sphere_radius(drop.volume))).sqrt()
}

/// Velocity along the floor that the vertices miss of the drop's, over the capillary speed.
fn missing_velocity(drop: &Drop, geometry: &DropGeometry, speed: f64) -> f64 {
    along_floor(drop.velocity - geometry.rigid_velocity(&drop.mesh.velocities)) / speed
}

/// One substep of the dynamics, with the sums after every operator.
fn check_operators(drop: &mut Drop, context: &StepContext<'_>, scratch: &mut Scratch) {
    let Scratch { geometry, system, vectors, .. } = scratch;
    let speed = capillary_speed(drop, context);
    geometry.read(&drop.mesh, context.start);
    velocity_gauge::remove_tangential_velocity(drop, geometry);
    let off = missing_velocity(drop, geometry, speed);
    assert!(off < 1e-12, "the gauge of the velocities changes the momentum by {off:e}");

    system.assemble(&drop.mesh, geometry, false);
    let scheme = Scheme::new(geometry, context);
    let k = assemble_forces(drop, context, &scheme, geometry, system, vectors);
    let momentum: DVec3 = vectors.iter().sum();
    let force = (system.right.iter().sum::<DVec3>() - momentum) / scheme.tau;
    let scale = context.params.liquid.surface_tension * 1e-3;
    assert!(along_floor(force) < 1e-9 * scale, "tension, line, gravity and pressure add up to {force} N");

    contact_line::solve_stick_slip(drop, context, geometry, system, &k, scheme.tau);
    let plane = contact_line::sliding_plane(geometry);
    system.balance_slide(&k, plane.expect("the whole line slides"));
    let solved = geometry.rigid_velocity(&system.velocities);
    let mut impulse = solved * (k.rigid_mass + k.base_drag) - momentum;
    for (v, constraint) in system.constraints.iter().enumerate() {
        if let Constraint::ContactLine { outward, .. } = constraint {
            impulse += *outward * (outward.dot(system.velocities[v]) * system.line_drag[v]);
        }
    }
    let off = along_floor(impulse) / (k.rigid_mass * speed);
    assert!(off < 1e-9, "the solve changes the momentum by {off:e} beyond friction");

    let before = drop.velocity;
    move_vertices(drop, geometry, system, context.dt, scheme.midpoint, plane);
    let off = along_floor(solved * 2.0 - before - drop.velocity) / speed;
    assert!(off < 1e-9, "the extrapolation changes the momentum by {off:e}");
}

/// A whole substep, with contact, remeshing and volume correction.
fn check_path(drop: &mut Drop, context: &StepContext<'_>, scratch: &mut Scratch) {
    let (before, centroid) = (drop.velocity, drop.mesh.centroid());
    let report = step_drop(drop, context, scratch);
    assert_eq!(report.outcome, Outcome::Advanced);
    let path = 0.5 * (before + drop.velocity) * context.dt;
    let off = along_floor(drop.mesh.centroid() - centroid - path) / (capillary_speed(drop, context) * context.dt);
    assert!(off < 1e-9, "the centroid is {off:e} off its path");
}

#[test]
fn no_operator_pushes_a_drop_along_a_level_plane() {
    for angle in [40.0, 90.0, 140.0] {
        let mut test = moving_cap(angle);
        for _ in 0..20 {
            test.each(MILLISECOND, MILLISECOND, check_operators);
        }
        for _ in 0..20 {
            test.each(MILLISECOND, MILLISECOND, check_path);
        }
    }
}

#[test]
fn remeshing_conserves_the_momentum_along_a_level_plane() {
    let mut test = moving_cap(90.0);
    let substrate = test.substrate.clone();
    test.each(MILLISECOND, MILLISECOND, |drop, context, scratch| {
        let edge = 0.6 * drop.target_edge(context.params.edge);
        let target = RemeshTarget { edge, finest: edge, keep_vertices: false, read_curvature: true, pinned_speed: 0.0 };
        scratch.center = drop.mesh.centroid();
        let done = remesh(drop, target, &substrate, context.params, scratch);
        assert!(done.splits > 50, "{} splits", done.splits);
        scratch.geometry.read(&drop.mesh, context.end);
        let speed = capillary_speed(drop, context);
        assert!(missing_velocity(drop, &scratch.geometry, speed) > 1e-9, "remeshing changes the sum of the velocities");
        velocity_gauge::remove_tangential_velocity(drop, &scratch.geometry);
        let off = missing_velocity(drop, &scratch.geometry, speed);
        assert!(off < 1e-12, "remeshing changes the momentum by {off:e}");
    });
}
