//! The paper's operators in its order (zhang2011, §4).
//!
//! ```text
//! v += g Δt,  x += v Δt;  v −= ((v − v_s)·n) n on the solid                        (eq. 1)
//! v −= ε v/|v|, or 0 below ε, on the solid                                         (eq. 2)
//! v = (1 − μΔt) v + ηΔt Δv                                                         (eq. 3)
//! (M + γΔt L) X = M X_old,   v += (X − X_old)/Δt                                   (eqs. 4–7)
//! f = α (θ − θ_r or θ_a) n_p/|n_p| outside (θ_r, θ_a)                              (eq. 8)
//! u_i −= ā_i n_i, ā the mean of u·n over the ring;   or all vertices by ΔV/A       (eqs. 9–11)
//! ```
//!
//! The surface moves without the velocities of its vertices within it, which are no motion of
//! liquid ([`velocity_gauge`]): gravity would let the vertices of a resting drop run down its
//! surface forever.
//!
//! The paper gives no units. Its lengths are taken to be in centimeters (the shortest edge is "0.04
//! cm"), so γ and η are in cm²/s and α in cm/s² per radian. Results depend on the time step, as the
//! equations do: γ is not a tension (the flow moves positions, and its displacement over Δt is
//! added to velocities), ε is lost per step, and gravity acts on a shell. The explicit step of η is
//! limited to ηΔt Σw/M ≤ ½, its stability limit; all other operators are implicit or bounded.

use glam::{DMat3, DVec3};
use sessile_scene::types::{SurfaceParameters, VolumeCorrection};

use super::advance::{AdvanceReport, CentroidTarget};
use super::footprint::settle_on_solids;
use super::geometry::DropGeometry;
use super::linear_system::{Coefficients, Constraint, LinearSystem};
use super::velocity_gauge;
use super::volume_correction::restore_volume;
use crate::drop::{Drop, Scratch, StepContext};
use crate::mesh::index::VertexIndex;
use crate::mesh::{Interface, VertexKind};

/// The paper's coefficients, in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperParameters {
    /// Damping μ, in 1/s.
    pub mu: f64,
    /// Laplacian damping η, in m²/s.
    pub eta: f64,
    /// Speed ε lost to friction per reference step, in m/s.
    pub friction: f64,
    /// Contact-angle stiffness α, in m/s² per rad.
    pub alpha: f64,
    /// γ of the mean curvature flow, in m²/s.
    pub gamma: f64,
    /// Which volume correction is applied.
    pub correction: VolumeCorrection,
}

/// Step for which γ and ε are given, in s; longer steps do more in proportion.
///
/// The paper does not give its step. With this one its range of γ covers drops flattened by gravity
/// up to nearly round ones.
pub const REFERENCE_STEP: f64 = 2e-3;
/// cm²/s in m²/s.
const SQUARE_CENTIMETERS: f64 = 1e-4;
/// cm/s² in m/s².
const CENTIMETERS: f64 = 1e-2;

impl PaperParameters {
    /// From the scene; defaults are in the middle of the paper's ranges.
    ///
    /// The paper does not give ε and α. Their defaults are the speed that gravity adds in a step,
    /// and a value that is stable on any mesh; on a pane the friction has to be raised for drops to
    /// stay.
    pub fn new(scene: &SurfaceParameters) -> Self {
        Self {
            mu: scene.mu.unwrap_or(0.4),
            eta: scene.eta.unwrap_or(0.0) * SQUARE_CENTIMETERS,
            friction: scene.friction.unwrap_or(2e-2),
            alpha: scene.alpha.unwrap_or(1e5) * CENTIMETERS,
            gamma: scene.gamma.unwrap_or(0.2) * SQUARE_CENTIMETERS,
            correction: scene.volume_correction.unwrap_or(VolumeCorrection::Global),
        }
    }
}

/// Moves a drop over a substep by the paper's operators.
pub fn advance(
    drop: &mut Drop,
    context: &StepContext<'_>,
    paper: &PaperParameters,
    scratch: &mut Scratch,
) -> AdvanceReport {
    let dt = context.dt;
    let Scratch { geometry, system, vectors, .. } = scratch;
    geometry.read(&drop.mesh, context.start);
    drop.air_area = geometry.air_area;
    system.assemble(&drop.mesh, geometry, true);
    lump(drop, geometry, &mut system.masses, vectors);
    apply_external_forces(drop, context, paper, geometry, system);
    damp(drop, dt, paper, system);
    let flow = paper.gamma * (dt / REFERENCE_STEP) * dt;
    for v in VertexIndex::first(system.right.len()) {
        system.right[v] = system.velocities[v] * system.masses[v] - vectors[v] * (flow / dt);
    }
    push_contact_line(drop, geometry, paper, context, system);
    let coefficients =
        Coefficients { stiffness: flow, tension: 1.0, line_drag_is_internal: true, ..Coefficients::default() };
    let global = paper.correction == VolumeCorrection::Global;
    let rate = global.then(|| (drop.volume - geometry.volume) / dt);
    let solve = system.solve(geometry, &coefficients, rate, &context.params.numerics);
    if geometry.contacts.is_empty() {
        system.set_rigid_velocity(geometry, (drop.velocity + context.gravity * dt) * kept(paper, dt));
    } else if let Some(normal) = geometry.contact_plane() {
        system.balance_slide(&coefficients, normal);
    }
    drop.mesh.velocities.copy_from_slice(&system.velocities);
    if !global {
        correct_locally(drop, geometry, vectors);
    }
    velocity_gauge::remove_tangential_velocity_of_shell(drop, geometry, &system.masses);
    let mut report = move_vertices(drop, geometry, dt);
    report.centroid = CentroidTarget::new(geometry, None, &drop.mesh.velocities, dt);
    settle_on_solids(drop, context, geometry);
    correct_globally(drop, geometry, dt, vectors);
    report.slip_speed = if geometry.on_solid() { drop.velocity.length() } else { 0.0 };
    AdvanceReport { solve, solves: 1, ..report }
}

/// Lumped areas, and L x of the free surface.
///
/// The flow is that of the interface with air: the wetted face is flat, and its share would only
/// pull the contact line inward and hide the contact angle.
fn lump(drop: &Drop, geometry: &DropGeometry, masses: &mut [f64], pull: &mut Vec<DVec3>) {
    let mesh = &drop.mesh;
    pull.clear();
    pull.resize(mesh.positions.len(), DVec3::ZERO);
    for (t, corners) in mesh.triangle_indices().zip(&mesh.triangles) {
        let third = mesh.area_vector(t).length() / 3.0;
        let air = mesh.interfaces[t] == Interface::Air;
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            masses[a] += third;
            if air {
                let along = (mesh.positions[a] - mesh.positions[b]) * (0.5 * geometry.cotangents[t.half_edge(k)]);
                pull[a] += along;
                pull[b] -= along;
            }
        }
    }
}

/// Gravity, and inelastic collision and friction on solids (zhang2011, eqs. 1 and 2).
fn apply_external_forces(
    drop: &mut Drop,
    context: &StepContext<'_>,
    paper: &PaperParameters,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
) {
    let per_step = context.dt / REFERENCE_STEP;
    for velocity in &mut drop.mesh.velocities {
        *velocity += context.gravity * context.dt;
    }
    for contact in &geometry.contacts {
        let (v, sample) = (contact.vertex, &contact.sample);
        let relative = drop.mesh.velocities[v] - sample.velocity;
        let relative = relative - sample.normal * sample.normal.dot(relative);
        let lost = paper.friction * per_step;
        let kept = if relative.length() < lost { DVec3::ZERO } else { relative - relative.normalize_or_zero() * lost };
        drop.mesh.velocities[v] = sample.velocity + kept;
        system.constraints[v] =
            if contact.interface.is_solid() { Constraint::Across(sample.normal) } else { Constraint::Fixed };
    }
}

/// Share of a velocity that damping leaves in a step.
fn kept(paper: &PaperParameters, dt: f64) -> f64 {
    (1.0 - paper.mu * dt).max(0.0)
}

/// Damping (zhang2011, eq. 3), with η limited by its explicit stability.
fn damp(drop: &Drop, dt: f64, paper: &PaperParameters, system: &mut LinearSystem) {
    let kept = kept(paper, dt);
    for v in drop.mesh.vertex_indices() {
        system.velocities[v] = drop.mesh.velocities[v] * kept;
        if paper.eta > 0.0 {
            let steepest = system.weight_sum(v) / system.masses[v];
            let eta = (paper.eta * dt).min(0.5 / steepest.max(1e-300));
            let damped = system.laplacian(v, &drop.mesh.velocities) * (eta / system.masses[v]);
            system.velocities[v] -= damped;
        }
    }
}

/// The contact-angle operator (zhang2011, eq. 8), from the area-weighted normal of the free
/// triangles.
///
/// The force is implicit, so that any α is stable: a line that advances by half an edge relative to
/// the drop lowers its angle by about a radian. It acts between the line and the free surface,
/// which carries the reaction by area: on a uniform solid the forces on a closed line balance. A
/// line in a corner between solids cannot follow, and would leave the reaction to push the drop.
fn push_contact_line(
    drop: &Drop,
    geometry: &DropGeometry,
    paper: &PaperParameters,
    context: &StepContext<'_>,
    system: &mut LinearSystem,
) {
    let dt = context.dt;
    let reach = 0.5 * drop.target_edge(context.params.edge);
    let mut sum = DVec3::ZERO;
    for contact in geometry.contacts.iter().filter(|c| c.is_mobile_line() && c.interface.is_solid()) {
        let (v, sample) = (contact.vertex, &contact.sample);
        let normal = geometry.normals[v];
        let theta = normal.dot(sample.normal).clamp(-1.0, 1.0).acos();
        let (advancing, receding) = (sample.wetting.cos_advancing.acos(), sample.wetting.cos_receding.acos());
        let excess = if theta > advancing {
            theta - advancing
        } else if theta < receding {
            theta - receding
        } else {
            continue;
        };
        let outward = (normal - sample.normal * normal.dot(sample.normal)).normalize_or_zero();
        let weight = system.masses[v] * paper.alpha * dt;
        system.line_drag[v] = weight * dt / reach;
        let push = outward * (weight * excess);
        system.right[v] += push;
        sum += push;
    }
    let reaction = sum / geometry.air_area;
    for (right, &area) in system.right.iter_mut().zip(&geometry.areas) {
        *right -= reaction * area;
    }
}

/// Moves all but the wetted vertices, which follow the drop; returns the speeds.
fn move_vertices(drop: &mut Drop, geometry: &DropGeometry, dt: f64) -> AdvanceReport {
    let mut report = AdvanceReport::default();
    for v in VertexIndex::first(drop.mesh.positions.len()) {
        let velocity = drop.mesh.velocities[v];
        if geometry.kinds[v] != VertexKind::Wetted {
            drop.mesh.positions[v] += velocity * dt;
        }
        report.max_speed = report.max_speed.max(velocity.distance(drop.velocity));
        if geometry.kinds[v] == VertexKind::Free {
            let normal_speed = (velocity - drop.velocity).dot(geometry.normals[v]).abs();
            report.max_normal_speed = report.max_normal_speed.max(normal_speed);
        }
    }
    report
}

/// The global correction (zhang2011, eq. 11), of positions and velocities.
///
/// Without the velocities the shrinking by the flow would continue. The momentum stays as it is.
fn correct_globally(drop: &mut Drop, geometry: &DropGeometry, dt: f64, before: &mut Vec<DVec3>) {
    before.clone_from(&drop.mesh.positions);
    restore_volume(drop, geometry);
    for v in VertexIndex::first(before.len()).filter(|&v| geometry.kinds[v] == VertexKind::Free) {
        drop.mesh.velocities[v] += (drop.mesh.positions[v] - before[v]) / dt;
    }
    drop.deformation_speed = geometry.deformation_speed(&drop.mesh.velocities, drop.velocity);
}

/// The local volume correction (zhang2011, eqs. 9–11), without translation and rotation.
fn correct_locally(drop: &mut Drop, geometry: &DropGeometry, means: &mut Vec<DVec3>) {
    let mesh = &mut drop.mesh;
    let Some(rigid) = RigidBodyMotion::fit(&mesh.positions, &mesh.velocities, &geometry.areas) else { return };
    let rate = |v: VertexIndex| geometry.normals[v].dot(mesh.velocities[v] - rigid.velocity_at(mesh.positions[v]));
    means.clear();
    means.extend(mesh.vertex_indices().map(|v| {
        let (mut sum, mut weight) = (geometry.areas[v] * rate(v), geometry.areas[v]);
        for h in mesh.fan(v) {
            let w = mesh.to(h);
            sum += geometry.areas[w] * rate(w);
            weight += geometry.areas[w];
        }
        geometry.normals[v] * if weight > 0.0 { sum / weight } else { 0.0 }
    }));
    for v in mesh.vertex_indices() {
        if geometry.kinds[v] == VertexKind::Free {
            mesh.velocities[v] -= means[v];
        }
    }
}

/// Translation and rotation of a set of points.
struct RigidBodyMotion {
    center: DVec3,
    velocity: DVec3,
    rotation: DVec3,
}

impl RigidBodyMotion {
    /// Weighted least-squares fit; `None` where the weights vanish.
    fn fit(positions: &[DVec3], velocities: &[DVec3], weights: &[f64]) -> Option<Self> {
        let (mut total, mut center, mut velocity) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for v in VertexIndex::first(positions.len()) {
            total += weights[v];
            center += positions[v] * weights[v];
            velocity += velocities[v] * weights[v];
        }
        if total <= 0.0 {
            return None;
        }
        (center, velocity) = (center / total, velocity / total);
        let (mut inertia, mut spin) = (DMat3::ZERO, DVec3::ZERO);
        for v in VertexIndex::first(positions.len()) {
            let arm = positions[v] - center;
            let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            inertia += (DMat3::IDENTITY * arm.length_squared() - outer) * weights[v];
            spin += arm.cross(velocities[v] - velocity) * weights[v];
        }
        let rotation = if inertia.determinant().abs() > 0.0 { inertia.inverse() * spin } else { DVec3::ZERO };
        Some(Self { center, velocity, rotation })
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.rotation.cross(point - self.center)
    }
}
