//! One substep of one drop: forces from one energy, an implicit solve and the move.
//!
//! ```text
//! E = σ A_air − σ cos θ A_wet − ρ g · ∫x dV,       c · v = 0
//! midpoint:        [M + (Δt²/4 + aΔt/2) K] v = M v⁰ + ½Δt f      x += Δt v,  v¹ = 2v − v⁰
//! backward Euler:  [M + (Δt² + aΔt) K] v = M v⁰ + Δt f           x += Δt v,  v¹ = v
//! ```
//!
//! In flight deformation carries the inertia of potential flow inside the drop
//! ([`super::inertia`]). On a solid it carries the mass ρ A ℓ, ℓ = R/2 with R = 3V/A, at which mode
//! 2 of a free drop oscillates at Lamb's frequency ω₂² = 8σ/ρR³ (lamb1932, art. 275). The midpoint
//! rule lowers frequencies by tan z/z, z = ω₂Δt/2; masses are scaled by (z/tan z)² to compensate.
//! The coefficient a makes mode 2 decay at Lamb's rate 5ν/R².
//!
//! Both schemes are unconditionally stable. Waves are resolved while z < `max_midpoint_phase`;
//! beyond, backward Euler damps them.

use glam::DVec3;
use sessile_numerics::math;

use super::conjugate_gradient::SolveReport;
use super::contact_line::StickSlipReport;
use super::geometry::DropGeometry;
use super::inertia::InertiaDepths;
use super::linear_system::{Coefficients, LinearSystem};
use super::volume_correction::{restore_volume, restore_volume_by_motion};
use super::{contact_impulse, contact_line, footprint, velocity_gauge};
use crate::drop::{Drop, Scratch, StepContext};
use crate::mesh::VertexKind;
use crate::mesh::index::VertexIndex;

/// Result of a substep of one drop.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvanceReport {
    /// The last solve, with the iterations of all solves.
    pub solve: SolveReport,
    /// Solves of the stick–slip problem.
    pub solves: usize,
    /// Largest speed of the free surface along its normal and of the contact line, relative to the
    /// solid or, in flight, to the drop, in m/s.
    pub max_normal_speed: f64,
    /// Largest speed of a vertex in any direction, relative to the same, in m/s.
    pub max_speed: f64,
    /// Speed of the drop relative to the solid, in m/s; 0 in flight.
    pub slip_speed: f64,
    /// Where the momentum carries the centroid of a drop in flight or that slides on a plane.
    pub centroid: Option<CentroidTarget>,
    /// Speed relative to its solid up to which a vertex of the contact line has not moved, in m/s.
    pub pinned_speed: f64,
}

/// Where the momentum of a drop carries its centroid.
#[derive(Clone, Copy, Debug)]
pub struct CentroidTarget {
    /// The centroid at the end of the substep, in m.
    pub at: DVec3,
    /// Normal of the plane that the drop slides on, along which the solid decides; `None` in
    /// flight.
    pub plane: Option<DVec3>,
}

impl CentroidTarget {
    /// The target of a drop whose vertices move at these velocities for `dt` seconds, in flight or
    /// on a plane that it slides on; `None` elsewhere.
    pub fn new(geometry: &DropGeometry, plane: Option<DVec3>, velocities: &[DVec3], dt: f64) -> Option<Self> {
        let plane = if geometry.contacts.is_empty() { None } else { Some(plane?) };
        Some(Self { at: geometry.centroid + geometry.rigid_velocity(velocities) * dt, plane })
    }
}

/// Moves a drop over a substep; the connectivity and the interfaces stay as they are.
pub fn advance(drop: &mut Drop, context: &StepContext<'_>, scratch: &mut Scratch) -> AdvanceReport {
    let Scratch { geometry, system, line_shear, vectors, .. } = scratch;
    geometry.read(&drop.mesh, context.start);
    drop.air_area = geometry.air_area;
    velocity_gauge::remove_tangential_velocity(drop, geometry);
    system.assemble(&drop.mesh, geometry, false);
    let scheme = Scheme::new(geometry, context);
    let coefficients = assemble_forces(drop, context, &scheme, geometry, system, vectors);
    if scheme.midpoint {
        line_shear.release(&drop.mesh, geometry, coefficients.stiffness * coefficients.tension, system);
    }
    let line = contact_line::solve_stick_slip(drop, context, geometry, system, &coefficients, scheme.tau);
    let plane = contact_line::sliding_plane(geometry);
    if geometry.contacts.is_empty() {
        system.set_rigid_velocity(geometry, (drop.velocity + context.gravity * scheme.tau) / scheme.settling_drag);
    } else if let Some(normal) = plane {
        system.balance_slide(&coefficients, normal);
    }
    drop.pressure = line.solve.multiplier / scheme.tau;
    let capillary_speed = scheme.omega * scheme.radius;
    if scheme.midpoint
        && contact_impulse::violates_constraints(drop, geometry, system, capillary_speed, &context.params.numerics)
    {
        system.masses.iter_mut().for_each(|m| *m /= scheme.mass_drag);
        let mass = context.params.liquid.density * geometry.volume;
        contact_impulse::project_initial_velocity(
            drop,
            geometry,
            system,
            mass,
            vectors,
            plane,
            &context.params.numerics,
        );
    }
    move_vertices(drop, geometry, system, context.dt, scheme.midpoint, plane);
    let mut report = measure_speeds(drop, geometry, line);
    report.centroid = CentroidTarget::new(geometry, plane, &system.velocities, context.dt);
    footprint::settle_on_solids(drop, context, geometry);
    if geometry.contacts.is_empty() {
        restore_volume_by_motion(drop, geometry, context.params.edge);
    }
    restore_volume(drop, geometry);
    report
}

/// Time discretization of a substep.
pub(super) struct Scheme {
    /// Midpoint rule; backward Euler otherwise.
    pub(super) midpoint: bool,
    /// τ: Δt/2 for the midpoint rule, Δt for backward Euler, in s.
    pub(super) tau: f64,
    /// R = 3V/A, in m.
    radius: f64,
    /// ω₂, in 1/s.
    omega: f64,
    /// (z/tan z)².
    mass_scale: f64,
    /// Factor of the rigid mass by which a settling run is damped.
    pub(super) settling_drag: f64,
    /// Factor of the masses by settling and by the boundary layer on a solid.
    mass_drag: f64,
}

impl Scheme {
    pub(super) fn new(geometry: &DropGeometry, context: &StepContext<'_>) -> Self {
        let (liquid, numerics) = (&context.params.liquid, &context.params.numerics);
        let settle = context.params.settle;
        let radius = 3.0 * geometry.volume / geometry.air_area;
        let omega = (8.0 * liquid.surface_tension / (liquid.density * radius.powi(3))).sqrt();
        let phase = 0.5 * omega * context.dt;
        let midpoint = phase < numerics.max_midpoint_phase && context.dt < numerics.max_midpoint_step && !settle;
        let tau = if midpoint { 0.5 * context.dt } else { context.dt };
        let mass_scale = if midpoint { (phase / math::tan(phase)).powi(2) } else { 1.0 };
        let settling_drag = if settle { 1.0 + tau * omega } else { 1.0 };
        // A boundary layer of Stokes's thickness removes ½√(ων/2)/R of the motion per time.
        let boundary_layer = if geometry.on_solid() { (0.5 * omega * liquid.viscosity).sqrt() / radius } else { 0.0 };
        let mass_drag = settling_drag + tau * boundary_layer;
        Self { midpoint, tau, radius, omega, mass_scale, settling_drag, mass_drag }
    }
}

/// Fills in the masses and b = M v⁰ + τ f; returns the coefficients of the matrix.
pub(super) fn assemble_forces(
    drop: &Drop,
    context: &StepContext<'_>,
    scheme: &Scheme,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
    momentum: &mut Vec<DVec3>,
) -> Coefficients {
    let liquid = &context.params.liquid;
    let thickness = mass_thickness(drop, context, scheme, geometry, system);
    let pressure = assemble_tension(drop, liquid.density, thickness, liquid.surface_tension, geometry, system);
    let mass = liquid.density * geometry.volume;
    system.momentum(geometry, mass, &drop.mesh.velocities, momentum);
    let weight = context.gravity * mass;
    for v in VertexIndex::first(system.right.len()) {
        let hydrostatic = geometry.rigid[v].mul_transpose_vec3(weight);
        system.right[v] = momentum[v] + (hydrostatic - system.right[v]) * scheme.tau;
    }
    let decay = 10.0 * liquid.viscosity / (scheme.radius * scheme.omega).powi(2);
    let mut coefficients = Coefficients {
        stiffness: scheme.tau * scheme.tau + decay * scheme.tau,
        tension: liquid.surface_tension,
        pressure,
        rigid_mass: mass * scheme.settling_drag,
        ..Coefficients::default()
    };
    system.masses.iter_mut().for_each(|m| *m *= scheme.mass_drag);
    contact_line::add_footprint_friction(drop, context, geometry, scheme.tau, &mut coefficients);
    contact_line::add_line_forces(liquid.surface_tension, geometry, scheme.tau, system);
    contact_line::add_moving_solid(geometry, &coefficients, system);
    coefficients
}

/// Thickness of the shell whose mass the deformation carries, in m.
///
/// In flight the flow along the surface is carried as well, where factoring it is affordable.
fn mass_thickness(
    drop: &Drop,
    context: &StepContext<'_>,
    scheme: &Scheme,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
) -> f64 {
    let density = context.params.liquid.density;
    let depths = InertiaDepths::new(geometry.volume, geometry.air_area);
    let max_work = context.params.numerics.max_inertia_work;
    let with_flow = !geometry.on_solid()
        && scheme.midpoint
        && system.inertia.build(&drop.mesh, geometry, density * scheme.mass_scale / depths.flow, max_work);
    if with_flow { depths.shell * scheme.mass_scale } else { 0.5 * scheme.radius * scheme.mass_scale }
}

/// Fills in the masses and leaves the forces of surface tension in `right`; returns the mean
/// pressure, in Pa.
fn assemble_tension(
    drop: &Drop,
    density: f64,
    thickness: f64,
    tension: f64,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
) -> f64 {
    let (mut above, mut below) = (0.0, 0.0);
    for v in drop.mesh.vertex_indices() {
        system.masses[v] = density * geometry.areas[v] * thickness;
        let pull = system.laplacian(v, &drop.mesh.positions) * tension;
        system.right[v] = pull;
        if geometry.kinds[v] == VertexKind::Free {
            let c = geometry.volume_gradient[v];
            above += c.dot(pull);
            below += c.length_squared();
        }
    }
    if below > 0.0 { above / below } else { 0.0 }
}

/// Moves the vertices at the solved velocities and extrapolates those of the midpoint rule.
///
/// The slip of vertices in contact is not extrapolated, only the motion of their solid. Along the
/// plane that a drop slides on, its momentum is.
pub(super) fn move_vertices(
    drop: &mut Drop,
    geometry: &DropGeometry,
    system: &LinearSystem,
    dt: f64,
    midpoint: bool,
    plane: Option<DVec3>,
) {
    let extrapolated = plane.filter(|_| midpoint).map(|normal| {
        let before = geometry.rigid_velocity(&drop.mesh.velocities);
        (geometry.rigid_velocity(&system.velocities) * 2.0 - before, normal)
    });
    for v in drop.mesh.vertex_indices() {
        let solved = system.velocities[v];
        drop.mesh.positions[v] += solved * dt;
        let before = drop.mesh.velocities[v];
        let free = geometry.kinds[v] == VertexKind::Free;
        drop.mesh.velocities[v] = if midpoint && free { solved * 2.0 - before } else { solved };
    }
    for contact in &geometry.contacts {
        let v = contact.vertex;
        drop.mesh.velocities[v] += system.constraints[v].carried(contact.sample.gain());
    }
    drop.velocity = geometry.rigid_velocity(&drop.mesh.velocities);
    if let Some((velocity, normal)) = extrapolated {
        let missing = velocity - drop.velocity;
        drop.velocity += missing - normal * normal.dot(missing);
    }
    drop.deformation_speed = geometry.deformation_speed(&drop.mesh.velocities, drop.velocity);
}

/// The speeds that the checks and the rest criterion use.
fn measure_speeds(drop: &Drop, geometry: &DropGeometry, line: StickSlipReport) -> AdvanceReport {
    let on_solid = geometry.on_solid();
    let reference = if on_solid { geometry.solid_end_velocity() } else { drop.velocity };
    let slip_speed = if on_solid { drop.velocity.distance(reference) } else { 0.0 };
    let (mut max_normal_speed, mut max_speed): (f64, f64) = (0.0, 0.0);
    for (v, velocity) in drop.mesh.velocities.iter().enumerate() {
        let relative = *velocity - reference;
        max_speed = max_speed.max(relative.length());
        max_normal_speed = max_normal_speed.max(match geometry.kinds[v] {
            VertexKind::Free => relative.dot(geometry.normals[v]).abs(),
            VertexKind::ContactLine => relative.length(),
            VertexKind::Wetted => 0.0,
        });
    }
    let StickSlipReport { solve, solves } = line;
    AdvanceReport { solve, solves, max_normal_speed, max_speed, slip_speed, ..AdvanceReport::default() }
}
