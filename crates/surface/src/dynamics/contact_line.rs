//! The contact line: capillary force, dry friction, viscous drag and the stick–slip problem.
//!
//! ```text
//! f_line = σ (cos θ_r + cos θ_a)/2 per length, along ν
//! |f_dry| ≤ σ (cos θ_r − cos θ_a)/2 per length        f_wedge = −Λ m(θ) η u per length
//! ```
//!
//! The energy contains cos θ at the mean of the receding and advancing cosines; dry friction
//! accounts for the hysteresis. A line vertex is pinned while the force that holds it is below the
//! friction, and otherwise slides against friction and the viscous drag of the wedge. Which
//! vertices slide is found by solving again where the result contradicts the assumption. All terms
//! are implicit or bounded, so none limits the time step.

use glam::DVec3;
use sessile_wetting::sliding::{cutoff_logarithm, plate_friction};

use super::conjugate_gradient::SolveReport;
use super::geometry::{Contact, DropGeometry};
use super::linear_system::{Coefficients, Constraint, LinearSystem};
use crate::drop::{Drop, StepContext};
use crate::mesh::VertexKind;
use crate::mesh::index::VertexIndex;

/// Difference of the cosines below which a solid has no hysteresis.
const NO_HYSTERESIS: f64 = 1e-9;
/// Line speed below which a vertex starts pinned, in m/s.
const PINNED_SPEED: f64 = 1e-12;

/// Motion of a vertex of the contact line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineMotion {
    Advancing,
    Receding,
    Pinned,
}

impl LineMotion {
    /// Sign of the speed along the outward normal.
    fn sign(self) -> f64 {
        match self {
            Self::Advancing => 1.0,
            Self::Receding => -1.0,
            Self::Pinned => 0.0,
        }
    }
}

/// What resists the motion of a contact line.
#[derive(Clone, Copy, Debug)]
struct LineResistance {
    /// σ, in N/m.
    tension: f64,
    /// Λη, in Pa·s.
    wedge_viscosity: f64,
}

/// Result of the stick–slip problem.
#[derive(Clone, Copy, Debug, Default)]
pub struct StickSlipReport {
    /// The last solve, with the iterations of all solves.
    pub solve: SolveReport,
    /// Solves.
    pub solves: usize,
}

/// Adds the capillary force at the mean of the two cosines to b.
pub fn add_line_forces(tension: f64, geometry: &DropGeometry, tau: f64, system: &mut LinearSystem) {
    for contact in geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::ContactLine) {
        let wetting = &contact.sample.wetting;
        let cosine = 0.5 * (wetting.cos_advancing + wetting.cos_receding);
        system.right[contact.vertex] += contact.outward * (tau * tension * cosine * contact.length);
    }
}

/// Friction of the boundary layer under a sliding drop: 0.52 √(Uw/ν) η w, as in the fast models.
pub fn add_footprint_friction(
    drop: &Drop,
    context: &StepContext<'_>,
    geometry: &DropGeometry,
    tau: f64,
    k: &mut Coefficients,
) {
    let Some(normal) = geometry.footprint_normal() else { return };
    let width = footprint_width(geometry);
    let slip = drop.velocity - geometry.solid_start_velocity();
    let speed = (slip - normal * normal.dot(slip)).length();
    let liquid = &context.params.liquid;
    k.base_normal = normal;
    k.base_drag = tau * plate_friction(liquid, width, speed) * liquid.dynamic_viscosity() * width;
}

/// Diameter of the circle with the length of the contact line, in m.
fn footprint_width(geometry: &DropGeometry) -> f64 {
    geometry.contacts.iter().map(|c| c.length).sum::<f64>() / std::f64::consts::PI
}

/// Whether a drop has a contact line that no hysteresis can pin anywhere.
pub fn slides_freely(geometry: &DropGeometry) -> bool {
    let mut line = geometry.contacts.iter().filter(|c| c.kind == VertexKind::ContactLine).peekable();
    line.peek().is_some() && line.all(|c| c.is_mobile_line() && !has_hysteresis(c))
}

/// Normal of the plane on which a drop slides freely; `None` where the solid is curved.
pub fn sliding_plane(geometry: &DropGeometry) -> Option<DVec3> {
    geometry.contact_plane().filter(|_| slides_freely(geometry))
}

/// Adds the motion of the solid to b: the friction of the footprint is relative to it.
pub fn add_moving_solid(geometry: &DropGeometry, k: &Coefficients, system: &mut LinearSystem) {
    if k.base_drag > 0.0 {
        let velocity = geometry.solid_velocity();
        let push = (velocity - k.base_normal * k.base_normal.dot(velocity)) * k.base_drag;
        for v in VertexIndex::first(system.right.len()) {
            system.right[v] += geometry.rigid[v].transpose() * push;
        }
    }
}

/// Solves for the velocities and for which vertices of the contact line slide.
pub fn solve_stick_slip(
    drop: &Drop,
    context: &StepContext<'_>,
    geometry: &DropGeometry,
    system: &mut LinearSystem,
    k: &Coefficients,
    tau: f64,
) -> StickSlipReport {
    let numerics = &context.params.numerics;
    let mut motions: Vec<LineMotion> = geometry.contacts.iter().map(|c| initial_motion(drop, c)).collect();
    let liquid = &context.params.liquid;
    let resistance = LineResistance {
        tension: liquid.surface_tension,
        wedge_viscosity: cutoff_logarithm(footprint_width(geometry)) * liquid.dynamic_viscosity(),
    };
    let coupled = !geometry.contacts.iter().any(|c| c.is_mobile_line() && has_hysteresis(c));
    let without_line: Vec<DVec3> = geometry.contacts.iter().map(|c| system.right[c.vertex]).collect();
    // For a drop in free fall this guess is the solution.
    for (guess, &v) in system.velocities.iter_mut().zip(&drop.mesh.velocities) {
        *guess = v + context.gravity * tau;
    }
    let mut report = StickSlipReport::default();
    for round in 1..=numerics.max_stick_slip_solves {
        let line_moves = motions.iter().any(|&m| m != LineMotion::Pinned);
        for (i, contact) in geometry.contacts.iter().enumerate() {
            let velocity = if line_moves { Some(drop.velocity) } else { None };
            system.right[contact.vertex] = without_line[i];
            constrain_contact(contact, motions[i], velocity, coupled, &resistance, tau, system);
        }
        let iterations = report.solve.iterations;
        report.solve = system.solve(geometry, k, Some(0.0), numerics);
        report.solve.iterations += iterations;
        report.solves = round;
        let may_depin = round <= numerics.depinning_solves;
        if !update_motions(&mut motions, geometry, system, context, tau, may_depin) {
            break;
        }
    }
    report
}

/// Whether the solid can pin a line vertex.
pub fn has_hysteresis(contact: &Contact) -> bool {
    let wetting = &contact.sample.wetting;
    wetting.cos_receding - wetting.cos_advancing >= NO_HYSTERESIS
}

/// The motion of a line vertex at the beginning of a step.
fn initial_motion(drop: &Drop, contact: &Contact) -> LineMotion {
    let speed = contact.outward.dot(drop.mesh.velocities[contact.vertex] - contact.sample.start_velocity);
    if !contact.is_mobile_line() {
        LineMotion::Pinned
    } else if !has_hysteresis(contact) {
        if speed < 0.0 { LineMotion::Receding } else { LineMotion::Advancing }
    } else if speed >= PINNED_SPEED {
        LineMotion::Advancing
    } else if speed <= -PINNED_SPEED {
        LineMotion::Receding
    } else {
        LineMotion::Pinned
    }
}

/// Largest dry friction of a line vertex, in N.
fn dry_friction(contact: &Contact, tension: f64) -> f64 {
    let wetting = &contact.sample.wetting;
    0.5 * tension * (wetting.cos_receding - wetting.cos_advancing) * contact.length
}

/// Sets the constraint, the friction and the prescribed velocity of a vertex in contact.
///
/// Where the line moves, its vertices also follow the drop along the line; `drop_velocity` is given
/// then. If they are `coupled`, it is only their initial guess. A line with hysteresis does not
/// need that: it takes up the reactions.
fn constrain_contact(
    contact: &Contact,
    motion: LineMotion,
    drop_velocity: Option<DVec3>,
    coupled: bool,
    resistance: &LineResistance,
    tau: f64,
    system: &mut LinearSystem,
) {
    let (v, sample) = (contact.vertex, &contact.sample);
    let mut prescribed = sample.velocity;
    if let Some(velocity) = drop_velocity.filter(|_| contact.kind == VertexKind::ContactLine) {
        let slip = velocity - sample.start_velocity;
        let along = contact.outward.cross(sample.normal);
        prescribed += along * along.dot(slip);
    }
    system.line_drag[v] = 0.0;
    if motion == LineMotion::Pinned {
        system.constraints[v] = Constraint::Fixed;
    } else {
        let out = contact.outward;
        let friction = dry_friction(contact, resistance.tension);
        let wedge = match motion {
            LineMotion::Advancing => sample.wetting.drag_advancing,
            _ => sample.wetting.drag_receding,
        };
        let drag = wedge * resistance.wedge_viscosity * contact.length * tau;
        system.constraints[v] = if coupled {
            Constraint::ContactLine { outward: out, along: out.cross(sample.normal) }
        } else {
            Constraint::Along(out)
        };
        prescribed += out * out.dot(system.velocities[v] - prescribed);
        system.line_drag[v] = drag;
        system.right[v] += out * (out.dot(sample.velocity) * drag - motion.sign() * tau * friction);
    }
    system.velocities[v] = prescribed;
}

/// Depins vertices whose reaction exceeds the friction and pins those that reversed; returns
/// whether any motion changed.
fn update_motions(
    motions: &mut [LineMotion],
    geometry: &DropGeometry,
    system: &LinearSystem,
    context: &StepContext<'_>,
    tau: f64,
    may_depin: bool,
) -> bool {
    let mut changed = false;
    for (motion, contact) in motions.iter_mut().zip(&geometry.contacts).filter(|(_, c)| c.is_mobile_line()) {
        let v = contact.vertex;
        if *motion == LineMotion::Pinned {
            let reaction = contact.outward.dot(system.reactions[v]) / tau;
            let friction = dry_friction(contact, context.params.liquid.surface_tension);
            if reaction.abs() > friction * (1.0 + 1e-6) && may_depin {
                *motion = if reaction < 0.0 { LineMotion::Advancing } else { LineMotion::Receding };
                changed = true;
            }
        } else {
            let speed = contact.outward.dot(system.velocities[v] - contact.sample.velocity);
            if has_hysteresis(contact) && speed * motion.sign() <= 0.0 {
                *motion = LineMotion::Pinned;
                changed = true;
            }
        }
    }
    changed
}
