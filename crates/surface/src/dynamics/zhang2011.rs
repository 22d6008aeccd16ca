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
//! They are read such that results converge as Δt and the triangles become smaller
//! (`docs/surface.md` compares this with the text). With Δt₀ = [`REFERENCE_STEP`] and s = γ over
//! the step that it is given for:
//!
//! ```text
//! free surface:   m v' = m g − s L x − (s Δt₀ + η) L v + p n − μ m v
//! contact line:   moved by eq. 8 and friction alone; it bounds the flow and carries its tension
//! whole drop:     loses ε/Δt₀ × (wetted share of its area) to friction
//! local:          the ring's mean of the deformation decays within Δt₀
//! ```
//!
//! The surface moves without the velocities of its vertices within it, which are no motion of
//! liquid ([`velocity_gauge`]): gravity would let the vertices of a resting drop run down its
//! surface forever. Streams out of a tap keep them, since they stretch as they fall.
//!
//! The paper gives no units. Its lengths are taken to be in centimeters (the shortest edge is "0.04
//! cm"), so γ and η are in cm²/s and α in cm/s² per radian. γ is not a tension, and gravity acts on
//! a shell. All operators are implicit or bounded: none limits the step.

use glam::{DMat3, DVec3};
use sessile_numerics::math;
use sessile_scene::types::{SurfaceParameters, VolumeCorrection};

use super::advance::{AdvanceReport, CentroidTarget};
use super::footprint::settle_on_solids;
use super::geometry::DropGeometry;
use super::linear_system::{Coefficients, LinearSystem};
use super::paper_line::{self, Flow};
use super::volume_correction::restore_volume;
use super::{contact_line, velocity_gauge};
use crate::drop::{Drop, Scratch, StepContext};
use crate::mesh::index::{HalfEdgeIndex, VertexIndex};
use crate::mesh::{Interface, VertexKind};

/// The paper's coefficients, in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperParameters {
    /// Damping μ, in 1/s.
    pub mu: f64,
    /// Viscosity η, in m²/s.
    pub eta: f64,
    /// The same at triangles that the remesher left in poor shape, in m²/s.
    pub poor_mesh_eta: f64,
    /// Speed ε lost to friction per reference step, in m/s.
    pub friction: f64,
    /// Contact-angle stiffness α, in m/s² per rad.
    pub alpha: f64,
    /// Tension over mass per area, in m²/s²: γ of the mean curvature flow over its step.
    pub tension: f64,
    /// Which volume correction is applied.
    pub correction: VolumeCorrection,
}

/// Step for which ε is given, in s, and longest step; the paper does not give its own.
pub const REFERENCE_STEP: f64 = 2e-3;
/// Step for which γ is given, in s: the flow of a step adds γ/Δt times the mean curvature to the
/// velocities.
///
/// With this one γ = 1 is the tension of water for drops of 1 mm, relative to their weight.
const FLOW_STEP: f64 = 0.5e-3;
/// Time within which local volume correction removes deformation, in s.
const LOCAL_CORRECTION_TIME: f64 = REFERENCE_STEP;
/// η at triangles in poor shape, in cm²/s: the largest value that the paper uses.
const POOR_MESH_ETA: f64 = 0.1;
/// Cotangent of the sharpest angle of a triangle in good shape: 15°.
const POOR_COTANGENT: f64 = 3.73;
/// Squared share of a drop's weight along its solid that its free surface must carry for the rest
/// to be passed on to it; less is carried only by drops of a few triangles.
const MIN_CARRIED: f64 = 0.04;
/// cm²/s in m²/s.
const SQUARE_CENTIMETERS: f64 = 1e-4;
/// cm/s² in m/s².
const CENTIMETERS: f64 = 1e-2;

impl PaperParameters {
    /// From the scene; defaults are in the middle of the paper's ranges.
    ///
    /// The paper does not give ε and α. Their defaults are a value chosen so that 6 µL hold on a
    /// vertical pane of 90°/30°, a quarter above the speed that gravity adds in a step, and one at
    /// which the line follows its angle within a step.
    pub fn new(scene: &SurfaceParameters) -> Self {
        Self {
            mu: scene.mu.unwrap_or(0.4),
            eta: scene.eta.unwrap_or(0.0) * SQUARE_CENTIMETERS,
            poor_mesh_eta: POOR_MESH_ETA * SQUARE_CENTIMETERS,
            friction: scene.friction.unwrap_or(2.5e-2),
            alpha: scene.alpha.unwrap_or(1e5) * CENTIMETERS,
            tension: scene.gamma.unwrap_or(0.2) * SQUARE_CENTIMETERS / FLOW_STEP,
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
    let Scratch { geometry, system, vectors, speeds, .. } = scratch;
    geometry.read(&drop.mesh, context.start);
    drop.air_area = geometry.air_area;
    system.assemble(&drop.mesh, geometry, true);
    lump(drop, geometry, &mut system.masses, vectors);
    let before = paper_line::read_normal_speeds(&drop.mesh, geometry, &system.masses, speeds);
    let shell = Shell::new(geometry, &system.masses);
    apply_external_forces(drop, context, geometry, shell.as_ref());
    let kept = kept(paper, dt);
    drop.mesh.velocities.iter_mut().for_each(|v| *v *= kept);
    let sticks = shell.is_some_and(|shell| apply_friction(drop, geometry, paper, dt, &shell, vectors));
    for v in VertexIndex::first(system.right.len()) {
        system.velocities[v] = drop.mesh.velocities[v];
        system.right[v] = system.velocities[v] * system.masses[v] - vectors[v] * (paper.tension * dt);
    }
    let coefficients = viscous_flow(drop, geometry, paper, dt, system);
    let flow = Flow { drop, context, geometry, paper, coefficients, before };
    let solve = flow.solve(sticks, system, speeds);
    drop.mesh.velocities.copy_from_slice(&system.velocities);
    drop.velocity = if geometry.contacts.is_empty() {
        (drop.velocity + context.gravity * dt) * kept
    } else {
        geometry.rigid_velocity(&drop.mesh.velocities)
    };
    if paper.correction != VolumeCorrection::Global {
        correct_locally(drop, geometry, dt, vectors);
    }
    let slip = remove_tangential_velocity(drop, geometry, &system.masses, sticks);
    let mut report = move_vertices(drop, geometry, dt);
    report.max_speed = report.max_speed.max(paper_line::move_along_itself(drop, geometry, dt));
    report.centroid = match contact_line::sliding_plane(geometry) {
        // Remeshing an uneven mesh moves it, against a friction that it does not feel.
        Some(normal) => Some(CentroidTarget {
            at: geometry.centroid + (geometry.solid_velocity() + slip) * dt,
            plane: Some(normal),
        }),
        None => CentroidTarget::new(geometry, None, &drop.mesh.velocities, dt),
    };
    settle_on_solids(drop, context, geometry);
    correct_globally(drop, geometry, dt, vectors);
    AdvanceReport { solve, solves: 1, slip_speed: slip.length(), ..report }
}

/// Removes the velocities within the surface, and from drops on solids that friction holds also
/// their slip; returns the velocity at which the drop slides, in m/s.
fn remove_tangential_velocity(drop: &mut Drop, geometry: &DropGeometry, masses: &[f64], sticks: bool) -> DVec3 {
    match geometry.footprint_normal() {
        _ if geometry.has_outlet() => {
            drop.velocity = geometry.rigid_velocity(&drop.mesh.velocities);
            drop.velocity
        }
        Some(normal) => velocity_gauge::remove_tangential_velocity_of_shell(drop, geometry, masses, normal, sticks),
        None => {
            velocity_gauge::remove_tangential_velocity(drop, geometry);
            DVec3::ZERO
        }
    }
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

/// Gravity and inelastic collision (zhang2011, eq. 1).
///
/// On a solid the weight of the shell acts as the pressure of a liquid inside would, through the
/// gradient of the drop's centroid. On every vertex by itself it would push the surface along
/// itself, and its part along the normal, which turns with the surface, would feed oscillations.
fn apply_external_forces(
    drop: &mut Drop,
    context: &StepContext<'_>,
    geometry: &DropGeometry,
    shell: Option<&Shell<'_>>,
) {
    let gained = context.gravity * context.dt;
    let velocities = &mut drop.mesh.velocities;
    match shell {
        Some(shell) => shell.add_weight(velocities, geometry, gained),
        None => velocities.iter_mut().for_each(|velocity| *velocity += gained),
    }
    for contact in &geometry.contacts {
        let (velocity, sample) = (&mut velocities[contact.vertex], &contact.sample);
        if contact.interface.is_solid() {
            *velocity -= sample.normal * sample.normal.dot(*velocity - sample.velocity);
        } else {
            *velocity = sample.velocity;
        }
    }
}

/// The weight of a shell on a solid and what carries it.
struct Shell<'a> {
    masses: &'a [f64],
    /// Normal of the solid.
    normal: DVec3,
    /// Mass of the free surface and the wetted face.
    mass: f64,
    /// What the free surface must gain per gain of a free body, where it carries enough.
    share: Option<DMat3>,
}

impl<'a> Shell<'a> {
    /// `None` for a drop that touches no solid, and for a stream at an outlet.
    fn new(geometry: &DropGeometry, masses: &'a [f64]) -> Option<Self> {
        let normal = geometry.footprint_normal().filter(|_| !geometry.has_outlet())?;
        let along = DMat3::IDENTITY - DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        let free = || VertexIndex::first(masses.len()).filter(|&v| geometry.kinds[v] == VertexKind::Free);
        let wetted = VertexIndex::first(masses.len()).filter(|&v| geometry.kinds[v] == VertexKind::Wetted);
        let mass: f64 = free().chain(wetted).map(|v| masses[v]).sum();
        let carried = free().map(|v| along * geometry.rigid[v].transpose() * along).sum::<DMat3>();
        let carried = carried + DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        let share = (carried.determinant() > MIN_CARRIED).then(|| carried.inverse());
        Some(Self { masses, normal, mass, share })
    }

    /// Adds the weight over a step in which a free body gains the velocity `gained`, in m/s.
    ///
    /// The free surface carries all of the weight along the solid, including what acts on the
    /// contact line.
    fn add_weight(&self, velocities: &mut [DVec3], geometry: &DropGeometry, gained: DVec3) {
        let gained = self.share.map_or(gained, |share| share * gained);
        for v in VertexIndex::first(velocities.len()).filter(|&v| geometry.kinds[v] == VertexKind::Free) {
            velocities[v] += geometry.rigid[v].mul_transpose_vec3(gained) * (self.mass / self.masses[v]);
        }
    }
}

/// Friction of a drop on solids (zhang2011, eq. 2); returns whether it sticks.
///
/// The drop as a whole loses ε times the wetted share of its area, but no more than the slip that
/// its momentum, its weight and the tension of its line leave it. Like the weight it acts before
/// the solve: the tension of a pinned line, which is implicit, would balance in a long step most of
/// a weight that friction then takes again.
fn apply_friction(
    drop: &mut Drop,
    geometry: &DropGeometry,
    paper: &PaperParameters,
    dt: f64,
    shell: &Shell<'_>,
    pull: &[DVec3],
) -> bool {
    let &Shell { masses, normal, .. } = shell;
    let (mut momentum, mut mass) = (DVec3::ZERO, 0.0);
    for v in drop.mesh.vertex_indices().filter(|&v| geometry.kinds[v] != VertexKind::ContactLine) {
        momentum += drop.mesh.velocities[v] * masses[v] - pull[v] * (paper.tension * dt);
        mass += masses[v];
    }
    let slip = momentum / mass - geometry.solid_velocity();
    let slip = slip - normal * normal.dot(slip);
    let lost = paper.friction * dt / REFERENCE_STEP * (1.0 - geometry.air_area / masses.iter().sum::<f64>());
    let (speed, sticks) = (slip.length(), slip.length() <= lost);
    let taken = if sticks { slip } else { slip * (lost / speed) };
    shell.add_weight(&mut drop.mesh.velocities, geometry, -taken);
    sticks
}

/// Share of a velocity that damping leaves in a step (zhang2011, eq. 3); a long step is as many
/// reference steps.
fn kept(paper: &PaperParameters, dt: f64) -> f64 {
    let steps = (dt / REFERENCE_STEP).max(1.0);
    math::powf((1.0 - paper.mu * dt / steps).max(0.0), steps)
}

/// The matrix of the flow with the viscosity η (zhang2011, eqs. 3 and 5).
///
/// Edges of triangles that the remesher left with too sharp an angle have extra viscosity.
fn viscous_flow(
    drop: &Drop,
    geometry: &DropGeometry,
    paper: &PaperParameters,
    dt: f64,
    system: &mut LinearSystem,
) -> Coefficients {
    let stiffness = paper.tension * dt * dt.max(REFERENCE_STEP) + paper.eta * dt;
    let extra = (paper.poor_mesh_eta - paper.eta).max(0.0) * dt;
    if extra > 0.0 && stiffness > 0.0 {
        let mesh = &drop.mesh;
        let is_sharp = |cotangent: &f64| cotangent.abs() > POOR_COTANGENT;
        let poor = |h: HalfEdgeIndex| h.triangle().half_edges().iter().any(|&h| is_sharp(&geometry.cotangents[h]));
        if geometry.cotangents.iter().any(is_sharp) {
            system.stiffen(mesh, |h| if poor(h) || poor(mesh.twin(h)) { extra / stiffness } else { 0.0 });
        }
    }
    Coefficients { stiffness, tension: 1.0, ..Coefficients::default() }
}

/// Moves all but the wetted vertices, which follow the drop; returns the free surface's speeds.
fn move_vertices(drop: &mut Drop, geometry: &DropGeometry, dt: f64) -> AdvanceReport {
    let mut report = AdvanceReport::default();
    for v in VertexIndex::first(drop.mesh.positions.len()) {
        let velocity = drop.mesh.velocities[v];
        if geometry.kinds[v] != VertexKind::Wetted {
            drop.mesh.positions[v] += velocity * dt;
        }
        if geometry.kinds[v] == VertexKind::Free {
            report.max_speed = report.max_speed.max(velocity.distance(drop.velocity));
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
///
/// It removes the share Δt/(Δt + T) of the ring's mean per step, so that what the flow of this step
/// adds moves the surface and then decays.
fn correct_locally(drop: &mut Drop, geometry: &DropGeometry, dt: f64, means: &mut Vec<DVec3>) {
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
    let share = dt / (dt + LOCAL_CORRECTION_TIME);
    for v in mesh.vertex_indices() {
        if geometry.kinds[v] == VertexKind::Free {
            mesh.velocities[v] -= means[v] * share;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TestDrops;

    /// Speed at which a vertex moves out of its ring after a step, where it is close to a neighbor
    /// and had a velocity along its normal.
    fn speed_out_of_ring(poor_mesh_eta: f64) -> f64 {
        let scene = "[world]\ngravity = \"0 0 0 m/s^2\"\n[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\n";
        let mut test = TestDrops::new(scene, 0.2e-3);
        let paper =
            PaperParameters { poor_mesh_eta, tension: 1e-4, ..PaperParameters::new(&SurfaceParameters::default()) };
        let mesh = &mut test.drops[0].mesh;
        let (v, h) = (VertexIndex::new(0), mesh.fan(VertexIndex::new(0)).next().unwrap());
        let neighbor = mesh.positions[mesh.to(h)];
        mesh.positions[v] = mesh.positions[v].lerp(neighbor, 0.9);
        let normal = mesh.positions[v].normalize();
        mesh.velocities[v] = normal * 0.1;
        test.each(REFERENCE_STEP, REFERENCE_STEP, |drop, context, scratch| advance(drop, context, &paper, scratch));
        let mesh = &test.drops[0].mesh;
        let ring: Vec<DVec3> = mesh.fan(v).map(|h| mesh.velocities[mesh.to(h)]).collect();
        normal.dot(mesh.velocities[v] - ring.iter().sum::<DVec3>() / ring.len() as f64)
    }

    #[test]
    fn triangles_in_poor_shape_have_extra_viscosity() {
        let (without, with) = (speed_out_of_ring(0.0), speed_out_of_ring(POOR_MESH_ETA * SQUARE_CENTIMETERS));
        assert!(without > 0.03 && with < 0.5 * without, "{with} m/s with extra viscosity, {without} m/s without");
    }
}
