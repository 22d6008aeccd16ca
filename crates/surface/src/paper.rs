//! The paper's own operators, in its order (zhang2011, §4): external forces, mean curvature flow, contact angle, volume correction.
//!
//! ```text
//! v += g Δt,  x += v Δt;  v −= ((v − v_s)·n) n on the solid                                                     (eq. 1)
//! v −= ε v/|v|, or 0 below ε, on the solid                                                                        (eq. 2)
//! v = (1 − μΔt) v + ηΔt Δv                                                                                         (eq. 3)
//! (M + γΔt L) X = M X_old,   v += (X − X_old)/Δt                                                                  (eqs. 4–7)
//! f = α (θ − θ_r or θ_a) n_p/|n_p| outside (θ_r, θ_a)                                                              (eq. 8)
//! u_i −= ā_i n_i, ā the mean of u·n over the ring;   or all vertices by ΔV/A along their normals                   (eqs. 9–11)
//! ```
//!
//! Lengths of the paper are taken to be in centimeters (its shortest edge is "0.04 cm"), so γ and η are in cm²/s and α in cm/s² per radian: the paper gives no units.
//! What comes out depends on the time step, as the equations do: γ is no tension (the flow moves places, and its displacement over Δt is added to
//! velocities), ε is lost per step, and gravity acts on a shell. η is bounded where its explicit step would not be stable.

use glam::DVec3;
use sessile_scene::types::{SurfaceParameters, VolumeCorrection};

use crate::advance::{Advanced, restore_volume, settle_on_solids};
use crate::drops::{Drop, Scratch, Setting};
use crate::mesh::{AIR, Kind};
use crate::shape::Shape;
use crate::system::{Coefficients, Freedom, System};

/// The paper's coefficients, in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// Damping μ, in 1/s.
    pub mu: f64,
    /// Laplacian damping η, in m²/s.
    pub eta: f64,
    /// Speed ε lost to friction per step, in m/s.
    pub friction: f64,
    /// Contact-angle stiffness α, in m/s² per rad.
    pub alpha: f64,
    /// γ of the mean curvature flow, in m²/s.
    pub gamma: f64,
    /// Which volume correction runs.
    pub correction: VolumeCorrection,
}

/// The step that γ and ε are given for, in s: both are what a step does, and longer steps do more in proportion. The paper does not give its own; with this one
/// its range of γ runs from drops that gravity flattens to nearly round ones.
pub const REFERENCE_STEP: f64 = 2e-3;
/// cm²/s in m²/s.
const SQUARE_CENTIMETERS: f64 = 1e-4;
/// cm/s² in m/s².
const CENTIMETERS: f64 = 1e-2;

impl Knobs {
    /// From the scene; what it leaves open is in the middle of what the paper uses. For ε and α, which it does not give: what gravity adds in a
    /// step, and a push that stays stable on any mesh; on a pane the friction has to be raised for drops to stay.
    pub fn of(scene: &SurfaceParameters) -> Self {
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

/// Moves a drop over a step by the paper's operators.
pub fn advance(drop: &mut Drop, setting: &Setting<'_>, knobs: &Knobs, scratch: &mut Scratch) -> Advanced {
    let dt = setting.dt;
    let (shape, system) = (&mut scratch.shape, &mut scratch.system);
    shape.read(&drop.mesh, setting.before);
    drop.air_area = shape.air_area;
    system.assemble(&drop.mesh, shape, true);
    let n = drop.mesh.positions.len();
    let pull = &mut scratch.vectors;
    lump(drop, shape, &mut system.masses, pull);

    // External forces; on the solid, inelastic collision and friction.
    let per_step = dt / REFERENCE_STEP;
    for velocity in &mut drop.mesh.velocities {
        *velocity += setting.gravity * dt;
    }
    for contact in &shape.contacts {
        let (v, foot) = (contact.vertex as usize, &contact.footing);
        let own = drop.mesh.velocities[v] - foot.velocity;
        let own = own - foot.normal * foot.normal.dot(own);
        let lost = knobs.friction * per_step;
        let kept = if own.length() < lost { DVec3::ZERO } else { own - own.normalize_or_zero() * lost };
        drop.mesh.velocities[v] = foot.velocity + kept;
        system.freedoms[v] = if contact.tag < 0 { Freedom::Fixed } else { Freedom::Across(foot.normal) };
    }
    // Damping. An explicit Laplacian is stable while ηΔt Σw/M stays below 1.
    let kept = (1.0 - knobs.mu * dt).max(0.0);
    for v in 0..n {
        system.velocities[v] = drop.mesh.velocities[v] * kept;
        if knobs.eta > 0.0 {
            let steepest = system.weight_sum(v) / system.masses[v];
            let eta = (knobs.eta * dt).min(0.5 / steepest.max(1e-300));
            let damped = system.laplacian(v, &drop.mesh.velocities) * (eta / system.masses[v]);
            system.velocities[v] -= damped;
        }
    }

    // Surface tension from where the velocities lead, X = x + vΔt, with the line's push in it.
    let s = knobs.gamma * per_step * dt;
    for v in 0..n {
        system.right[v] = system.velocities[v] * system.masses[v] - pull[v] * (s / dt);
    }
    push_line(drop, shape, knobs, setting, system);
    let k = Coefficients { stiffness: s, tension: 1.0, ..Coefficients::default() };
    let rate = (knobs.correction == VolumeCorrection::Global).then(|| (drop.volume - shape.volume) / dt);
    let iterations = system.solve(shape, &k, rate).iterations;
    drop.mesh.velocities.copy_from_slice(&system.velocities);
    if knobs.correction != VolumeCorrection::Global {
        correct_locally(drop, shape, &mut scratch.vectors);
    }

    // The move. Wet vertices are taken along with the drop below.
    let (mut stir, mut fastest) = (0.0f64, 0.0f64);
    drop.velocity = shape.rigid_velocity(&drop.mesh.velocities);
    for v in 0..n {
        let velocity = drop.mesh.velocities[v];
        if shape.kinds[v] != Kind::Wet {
            drop.mesh.positions[v] += velocity * dt;
        }
        fastest = fastest.max(velocity.distance(drop.velocity));
        if shape.kinds[v] == Kind::Free {
            stir = stir.max((velocity - drop.velocity).dot(shape.normals[v]).abs());
        }
    }
    settle_on_solids(drop, setting, shape);
    // The global correction, of places and of velocities: else the flow's shrinking would go on and on. What the solve or the local one leaves is put right.
    scratch.vectors.clone_from(&drop.mesh.positions);
    restore_volume(drop, shape);
    for v in (0..n).filter(|&v| shape.kinds[v] == Kind::Free) {
        drop.mesh.velocities[v] += (drop.mesh.positions[v] - scratch.vectors[v]) / dt;
    }
    drop.velocity = shape.rigid_velocity(&drop.mesh.velocities);
    drop.writhing = shape.fastest_against(&drop.mesh.velocities, drop.velocity);
    let drift = if shape.on_solid() { drop.velocity.length() } else { 0.0 };
    Advanced { iterations, solves: 1, stir, fastest, drift }
}

/// Lumped areas, and L x of the part against air: the flow is that of the surface between water and air, and at the line that of the wetted side, which lies
/// flat on the solid, would only pull inwards and hide the contact angle.
fn lump(drop: &Drop, shape: &Shape, masses: &mut [f64], pull: &mut Vec<DVec3>) {
    let mesh = &drop.mesh;
    pull.clear();
    pull.resize(mesh.positions.len(), DVec3::ZERO);
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let third = mesh.area_vector(t).length() / 3.0;
        let air = mesh.solids[t] == AIR;
        for k in 0..3 {
            let (a, b) = (corners[k] as usize, corners[(k + 1) % 3] as usize);
            masses[a] += third;
            if air {
                let along = (mesh.positions[a] - mesh.positions[b]) * (0.5 * shape.cotangents[3 * t + k]);
                pull[a] += along;
                pull[b] -= along;
            }
        }
    }
}

/// The contact-angle operator (zhang2011, eq. 8): the angle is read from the area-weighted normal of the triangles against air.
///
/// The push is taken implicitly, so that any α is stable: a line that moves out by half an edge against the drop lowers its angle by about a radian.
fn push_line(drop: &Drop, shape: &Shape, knobs: &Knobs, setting: &Setting<'_>, system: &mut System) {
    let dt = setting.dt;
    let reach = 0.5 * drop.target_edge(setting.edge);
    for contact in shape.contacts.iter().filter(|contact| contact.kind == Kind::Line && contact.tag >= 0) {
        let (v, foot) = (contact.vertex as usize, &contact.footing);
        let normal = shape.normals[v];
        let theta = normal.dot(foot.normal).clamp(-1.0, 1.0).acos();
        let (advancing, receding) = (foot.cos_advancing.acos(), foot.cos_receding.acos());
        let excess = if theta > advancing {
            theta - advancing
        } else if theta < receding {
            theta - receding
        } else {
            continue;
        };
        let outward = (normal - foot.normal * normal.dot(foot.normal)).normalize_or_zero();
        let weight = system.masses[v] * knobs.alpha * dt;
        let along = drop.velocity - foot.normal * foot.normal.dot(drop.velocity);
        system.line_drag[v] = weight * dt / reach;
        system.right[v] += outward * (weight * excess) + along * system.line_drag[v];
    }
}

/// The local volume correction (zhang2011, eqs. 9–11), with translation and rotation set aside.
fn correct_locally(drop: &mut Drop, shape: &Shape, means: &mut Vec<DVec3>) {
    let mesh = &mut drop.mesh;
    let (mut area, mut center, mut mean) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for v in 0..mesh.positions.len() {
        area += shape.areas[v];
        center += mesh.positions[v] * shape.areas[v];
        mean += mesh.velocities[v] * shape.areas[v];
    }
    if area <= 0.0 {
        return;
    }
    (center, mean) = (center / area, mean / area);
    let (mut inertia, mut spin) = (glam::DMat3::ZERO, DVec3::ZERO);
    for v in 0..mesh.positions.len() {
        let arm = mesh.positions[v] - center;
        let outer = glam::DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        inertia += (glam::DMat3::IDENTITY * arm.length_squared() - outer) * shape.areas[v];
        spin += arm.cross(mesh.velocities[v] - mean) * shape.areas[v];
    }
    let turn = if inertia.determinant().abs() > 0.0 { inertia.inverse() * spin } else { DVec3::ZERO };
    let rigid = |p: DVec3| mean + turn.cross(p - center);
    let rate = |v: usize| shape.normals[v].dot(mesh.velocities[v] - rigid(mesh.positions[v]));
    means.clear();
    means.extend((0..mesh.positions.len()).map(|v| {
        let (mut sum, mut weight) = (shape.areas[v] * rate(v), shape.areas[v]);
        for h in mesh.fan(v as u32) {
            let w = mesh.to(h) as usize;
            sum += shape.areas[w] * rate(w);
            weight += shape.areas[w];
        }
        shape.normals[v] * if weight > 0.0 { sum / weight } else { 0.0 }
    }));
    for v in 0..mesh.positions.len() {
        if shape.kinds[v] == Kind::Free {
            mesh.velocities[v] -= means[v];
        }
    }
}
