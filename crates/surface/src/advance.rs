//! One drop, one step: forces from one energy, an implicit solve, the contact line's friction, the move.
//!
//! ```text
//! E = σ A_air − σ cos θ A_wet − ρ g · ∫x dV,       c · v = 0
//! midpoint:        [M + (Δt²/4 + aΔt/2) K] v = M v⁰ + ½Δt f      x += Δt v,  v¹ = 2v − v⁰
//! backward Euler:  [M + (Δt² + aΔt) K] v = M v⁰ + Δt f           x += Δt v,  v¹ = v
//! ```
//!
//! In flight deformation carries what potential flow inside the drop would ([`inertia`](crate::inertia)). Over a solid it carries the mass ρ A ℓ, ℓ = R/2 with R =
//! 3V/A, at which mode 2 of a free drop would ring at Lamb's frequency ω₂² = 8σ/ρR³ (lamb1932, art. 275). The midpoint rule lowers frequencies by tan z/z, z = ω₂Δt/2, so masses are
//! scaled by (z/tan z)² against it. Where z is too large for that, waves cannot be followed and backward Euler lets them die. a makes mode 2
//! decay at Lamb's rate 5ν/R².
//!
//! **The line.** The energy takes cos θ at the mean of the receding and advancing cosines; dry friction σ(cos θ_r − cos θ_a)/2 per
//! length does the rest. A line vertex is held while the force that this takes is smaller, and moves against friction and the wedge's drag
//! Λ m(θ) η u otherwise. Which vertices move is found by solving again where the answer contradicts the guess.

use glam::DVec3;
use sessile_wetting::sliding::plate_friction;

use crate::drops::{Drop, Scratch, Setting};
use crate::ground::{foot_point, out_of_corners};
use crate::inertia::Depths;
use crate::mesh::{Kind, Mesh};
use crate::shape::{Shape, ball_radius};
use crate::system::{Coefficients, Freedom, System};

/// Largest ω₂Δt/2 at which the midpoint rule follows waves. A drop that moves fast goes through a step in several turns, and is heavier in them, for the scaling of masses goes with their length: by 1.9 at
/// most here. By 4.6, with 1.2 instead, drops of 0.23 µL gained in every swing what they lost to viscosity, and rang for ever.
const MOST_PHASE: f64 = 0.9;
/// Longest step of the midpoint rule, in s: longer ones are asked for where drops rest or slide, and modes beyond the second would ring on for ever.
const LONGEST_MIDPOINT: f64 = 4e-3;
/// Part of a drop's speed that what is in contact may give up at the start of a step without a closer look.
const GIVEN_UP: f64 = 0.01;
/// Rounds of solving for which line vertices move.
const MOST_ROUNDS: usize = 5;
/// Rounds after which moving vertices may only stop.
const FREE_ROUNDS: usize = 2;
/// Passes that bring a volume back; each gains some digits.
const VOLUME_PASSES: usize = 8;

/// What a step of one drop did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advanced {
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// Solves.
    pub solves: usize,
    /// Largest speed of a vertex along its normal, against the solid that the drop touches or, in flight, against the drop, in m/s.
    pub stir: f64,
    /// Largest speed of a vertex in any direction, as `stir` counts it, in m/s.
    pub fastest: f64,
    /// Speed of the drop as a whole against the solid, in m/s; 0 in flight.
    pub drift: f64,
}

/// Moves a drop over a step. The contact topology and the mesh's connections stay as they are.
pub fn advance(drop: &mut Drop, setting: &Setting<'_>, scratch: &mut Scratch) -> Advanced {
    let Setting { dt, liquid, .. } = *setting;
    let (shape, system) = (&mut scratch.shape, &mut scratch.system);
    shape.read(&drop.mesh, setting.before);
    drop.air_area = shape.air_area;
    regauge(drop, shape);
    system.assemble(&drop.mesh, shape, false);
    let n = drop.mesh.positions.len();

    // The scheme.
    let radius = 3.0 * shape.volume / shape.air_area;
    let omega = (8.0 * liquid.surface_tension / (liquid.density * radius.powi(3))).sqrt();
    let phase = 0.5 * omega * dt;
    let midpoint = phase < MOST_PHASE && dt < LONGEST_MIDPOINT && !setting.settle;
    let tau = if midpoint { 0.5 * dt } else { dt };
    let warp = if midpoint { (phase / phase.tan()).powi(2) } else { 1.0 };
    // In flight the liquid inside is carried truly, where that is affordable.
    let depths = Depths::of(shape.volume, shape.air_area);
    let carried =
        is_in_flight(shape) && midpoint && system.inertia.build(&drop.mesh, shape, liquid.density * warp / depths.flow);
    let thickness = if carried { depths.shell } else { 0.5 * radius } * warp;
    let decay = 10.0 * liquid.viscosity / (radius * omega).powi(2);
    let brake = if setting.settle { 1.0 + tau * omega } else { 1.0 };

    // Masses, and what the mean pressure is.
    let sigma = liquid.surface_tension;
    let (mut above, mut below) = (0.0, 0.0);
    for v in 0..n {
        system.masses[v] = liquid.density * shape.areas[v] * thickness;
        // Kept for the forces below.
        let pull = system.laplacian(v, &drop.mesh.positions) * sigma;
        system.right[v] = pull;
        if shape.kinds[v] == Kind::Free {
            let c = shape.volume_gradient[v];
            above += c.dot(pull);
            below += c.length_squared();
        }
    }
    let pressure = if below > 0.0 { above / below } else { 0.0 };
    let mass = liquid.density * shape.volume;

    // b = M v⁰ + τ f.
    system.momentum(shape, mass, &drop.mesh.velocities, &mut scratch.vectors);
    let weight = setting.gravity * mass;
    for v in 0..n {
        let hydrostatic = shape.rigid[v].mul_transpose_vec3(weight);
        system.right[v] = scratch.vectors[v] + (hydrostatic - system.right[v]) * tau;
    }
    let mut k = Coefficients {
        stiffness: tau * tau + decay * tau,
        tension: sigma,
        pressure,
        rigid_mass: mass * brake,
        ..Coefficients::default()
    };
    // Over a solid the liquid also rubs on it: a layer of Stokes's thickness takes ½√(ων/2)/R of the motion per time.
    let rub = if !shape.on_solid() { 0.0 } else { (0.5 * omega * liquid.viscosity).sqrt() / radius };
    let heavier = brake + tau * rub;
    system.masses.iter_mut().for_each(|m| *m *= heavier);
    base_friction(drop, setting, shape, tau, &mut k);
    for contact in shape.contacts.iter().filter(|contact| contact.kind == Kind::Line) {
        let f = &contact.footing;
        let cosine = 0.5 * (f.cos_advancing + f.cos_receding);
        system.right[contact.vertex as usize] += contact.out * (tau * sigma * cosine * contact.length);
    }
    if k.base_drag > 0.0 {
        // Friction of the footprint is against the solid, so what the solid does comes in on the right.
        let base = base_velocity(shape);
        let push = (base - k.base_normal * k.base_normal.dot(base)) * k.base_drag;
        for v in 0..n {
            system.right[v] += shape.rigid[v].transpose() * push;
        }
    }
    let solved = solve_line(drop, setting, shape, system, &k, tau);
    drop.pressure = solved.2 / tau;
    if midpoint && is_brought_up_short(drop, shape, system, omega * radius) {
        system.masses.iter_mut().for_each(|m| *m /= heavier);
        bring_up_short(drop, shape, system, mass, &mut scratch.vectors);
    }

    // The move.
    let mut stir: f64 = 0.0;
    for v in 0..n {
        let moved = system.velocities[v];
        drop.mesh.positions[v] += moved * dt;
        let before = drop.mesh.velocities[v];
        let free = shape.kinds[v] == Kind::Free;
        drop.mesh.velocities[v] = if midpoint && free { moved * 2.0 - before } else { moved };
    }
    drop.velocity = shape.rigid_velocity(&drop.mesh.velocities);
    drop.writhing = shape.fastest_against(&drop.mesh.velocities, drop.velocity);
    let mut fastest: f64 = 0.0;
    let drift = if !shape.on_solid() { 0.0 } else { drop.velocity.distance(base_velocity(shape)) };
    let still = if !shape.on_solid() { drop.velocity } else { base_velocity(shape) };
    for (v, velocity) in drop.mesh.velocities.iter().enumerate() {
        let own = *velocity - still;
        fastest = fastest.max(own.length());
        stir = stir.max(match shape.kinds[v] {
            Kind::Free => own.dot(shape.normals[v]).abs(),
            Kind::Line => own.length(),
            Kind::Wet => 0.0,
        });
    }
    settle_on_solids(drop, setting, shape);
    if shape.contacts.is_empty() {
        restore_where_it_moved(drop, shape, setting.edge);
    }
    restore_volume(drop, shape);
    Advanced { iterations: solved.0, solves: solved.1, stir, fastest, drift }
}

/// Mean velocity of the solids under the line, in m/s.
pub(crate) fn base_velocity(shape: &Shape) -> DVec3 {
    let on_solids = || shape.contacts.iter().filter(|contact| contact.tag >= 0);
    on_solids().map(|contact| contact.footing.velocity).sum::<DVec3>() / on_solids().count().max(1) as f64
}

/// Friction of the boundary layer under a drop that slides: 0.52 √(Uw/ν) η w, as the fast models have it.
fn base_friction(drop: &Drop, setting: &Setting<'_>, shape: &Shape, tau: f64, k: &mut Coefficients) {
    let normal: DVec3 =
        shape.contacts.iter().filter(|c| c.kind == Kind::Line).map(|c| c.footing.normal * c.length).sum();
    let length: f64 = shape.contacts.iter().map(|c| c.length).sum();
    let Some(normal) = normal.try_normalize() else { return };
    let width = length / std::f64::consts::PI;
    let slip = drop.velocity - base_velocity(shape);
    let speed = (slip - normal * normal.dot(slip)).length();
    let liquid = setting.liquid;
    k.base_normal = normal;
    k.base_drag = tau * plate_friction(liquid, width, speed) * liquid.dynamic_viscosity() * width;
}

/// Solves for the velocities, and for which line vertices move; iterations, solves, and the volume's multiplier.
fn solve_line(
    drop: &Drop,
    setting: &Setting<'_>,
    shape: &Shape,
    system: &mut System,
    k: &Coefficients,
    tau: f64,
) -> (usize, usize, f64) {
    let (sigma, eta) = (setting.liquid.surface_tension, setting.liquid.dynamic_viscosity());
    // +1 moves out, −1 in, 0 held: at first as it did.
    let mut motion: Vec<i8> = shape
        .contacts
        .iter()
        .map(|c| {
            let speed = c.out.dot(drop.mesh.velocities[c.vertex as usize] - c.footing.velocity);
            if c.kind != Kind::Line || c.out == DVec3::ZERO {
                0
            } else if c.footing.cos_receding - c.footing.cos_advancing < 1e-9 {
                if speed < 0.0 { -1 } else { 1 }
            } else if speed.abs() < 1e-12 {
                0
            } else {
                speed.signum() as i8
            }
        })
        .collect();
    let bare: Vec<DVec3> = shape.contacts.iter().map(|c| system.right[c.vertex as usize]).collect();
    let (mut iterations, mut multiplier) = (0, 0.0);
    // A drop that falls as a whole is solved by its own guess.
    for (guess, &v) in system.velocities.iter_mut().zip(&drop.mesh.velocities) {
        *guess = v + setting.gravity * tau;
    }
    for round in 1..=MOST_ROUNDS {
        // The vertices of a line that moves go along with the drop; of one that is held, they stay.
        let runs = motion.iter().any(|&m| m != 0);
        for (i, c) in shape.contacts.iter().enumerate() {
            let (v, f) = (c.vertex as usize, &c.footing);
            let slip = drop.velocity - f.velocity;
            let along = c.out.cross(f.normal);
            let mut given = f.velocity;
            if runs && c.kind == Kind::Line {
                given += along * along.dot(slip);
            }
            let friction = 0.5 * sigma * (f.cos_receding - f.cos_advancing) * c.length;
            let drag = if motion[i] > 0 { f.drag_advancing } else { f.drag_receding } * eta * c.length * tau;
            system.line_drag[v] = 0.0;
            system.right[v] = bare[i];
            if motion[i] == 0 {
                system.freedoms[v] = Freedom::Fixed;
            } else {
                system.freedoms[v] = Freedom::Along(c.out);
                given += c.out * c.out.dot(system.velocities[v] - given);
                system.line_drag[v] = drag;
                system.right[v] += c.out * (c.out.dot(f.velocity) * drag - f64::from(motion[i]) * tau * friction);
            }
            system.velocities[v] = given;
        }
        let solved = system.solve(shape, k, Some(0.0));
        iterations += solved.iterations;
        multiplier = solved.multiplier;
        let mut changed = false;
        for (i, c) in shape.contacts.iter().enumerate() {
            if c.kind != Kind::Line || c.out == DVec3::ZERO {
                continue;
            }
            let (v, f) = (c.vertex as usize, &c.footing);
            let friction = 0.5 * sigma * (f.cos_receding - f.cos_advancing) * c.length;
            let smooth = f.cos_receding - f.cos_advancing < 1e-9;
            if motion[i] == 0 {
                let held = c.out.dot(system.reactions[v]) / tau;
                if held.abs() > friction * (1.0 + 1e-6) && round <= FREE_ROUNDS {
                    motion[i] = if held < 0.0 { 1 } else { -1 };
                    changed = true;
                }
            } else {
                let speed = c.out.dot(system.velocities[v] - f.velocity);
                if !smooth && speed * f64::from(motion[i]) <= 0.0 {
                    motion[i] = 0;
                    changed = true;
                }
            }
        }
        if !changed {
            return (iterations, round, multiplier);
        }
    }
    (iterations, MOST_ROUNDS, multiplier)
}

/// Whether what is in contact moved otherwise at the start of the step than it is let, by as much as the drop as a whole feels. `swift` is a speed that is large for it.
fn is_brought_up_short(drop: &Drop, shape: &Shape, system: &System, swift: f64) -> bool {
    let given_up: DVec3 = shape
        .contacts
        .iter()
        .map(|c| c.vertex as usize)
        .map(|v| shape.rigid[v] * (drop.mesh.velocities[v] - system.velocities[v]))
        .sum();
    given_up.length() > GIVEN_UP * (drop.velocity.length() + swift)
}

/// Makes of the velocities at the start of a step those that a blow leaves: liquid that came at its solid stops there, and takes what is behind it along.
///
/// The midpoint rule goes beyond the solution as far again as the solution is from the start, v¹ = 2v − v⁰. That keeps the energy if v⁰ obeys what the vertices in
/// contact are held to. It does not where a surface has just been made and moves as a whole, its wetted face too: what the face gives up would be thrown back into the
/// rest, and a drop between two walls came out twice as fast. So v⁰ becomes the nearest velocity, by M, that obeys: the impulse that a rigid solid gives, which never adds
/// energy. M v⁰ comes in `momentum`; the solution stays in `system.velocities`.
fn bring_up_short(drop: &mut Drop, shape: &Shape, system: &mut System, mass: f64, momentum: &mut [DVec3]) {
    system.right.copy_from_slice(momentum);
    system.line_drag.fill(0.0);
    let solution = momentum;
    solution.copy_from_slice(&system.velocities);
    system.solve(shape, &Coefficients { rigid_mass: mass, ..Coefficients::default() }, Some(0.0));
    drop.mesh.velocities.copy_from_slice(&system.velocities);
    system.velocities.copy_from_slice(solution);
}

/// Whether a drop touches no solid; a stream that hangs from a tap does not.
fn is_in_flight(shape: &Shape) -> bool {
    shape.contacts.iter().all(|contact| contact.tag < 0)
}

/// The square of a vertex's speed across the surface against the drop's velocity, in m²/s².
///
/// A patch of surface that moves at w along its normal grows by 2Hw per time, H its mean curvature, and so does the volume that it takes: what a step does to the volume beyond
/// its first order goes with w². Put right with that weight, every patch keeps its flux. Spread evenly, what a drop's fast end gains would be taken from all
/// of a long thread, whose ends would then have to draw the liquid out of it.
fn stir_squared(mesh: &Mesh, shape: &Shape, v: usize, u: DVec3) -> f64 {
    shape.normals[v].dot(mesh.velocities[v] - u).powi(2)
}

/// Brings back the volume that the motion of a drop in flight cost or gave, where it moved; what is left is for [`restore_volume`].
fn restore_where_it_moved(drop: &mut Drop, shape: &Shape, edge: f64) {
    let weights = |mesh: &Mesh, v: usize| stir_squared(mesh, shape, v, drop.velocity);
    let (mut share, mut most) = (0.0, 0.0f64);
    for v in 0..shape.normals.len() {
        let weight = weights(&drop.mesh, v);
        share += weight * shape.normals[v].dot(shape.volume_gradient[v]);
        most = most.max(weight);
    }
    let factor = (drop.volume - drop.mesh.volume()) / share;
    // Drops that do not move, or lack more than motion takes, are not meant.
    if share > 0.0 && (factor * most).abs() < 0.1 * edge {
        for v in 0..shape.normals.len() {
            let shift = factor * weights(&drop.mesh, v);
            drop.mesh.positions[v] += shape.normals[v] * shift;
        }
    }
}

/// Leaves a vertex the drop's velocity and its own along the normal: what moves vertices within the surface is nobody's motion. Then gives
/// the drop back the velocity it had.
fn regauge(drop: &mut Drop, shape: &Shape) {
    let u = drop.velocity;
    for v in 0..drop.mesh.velocities.len() {
        if shape.kinds[v] == Kind::Free {
            let n = shape.normals[v];
            let own = drop.mesh.velocities[v] - u;
            drop.mesh.velocities[v] = u + n * n.dot(own);
        }
    }
    // Nor may what is left change the volume: the midpoint rule would throw it to and fro for ever.
    let growth: f64 = shape.volume_gradient.iter().zip(&drop.mesh.velocities).map(|(c, &v)| c.dot(v)).sum();
    let in_flight = is_in_flight(shape);
    let weight = |mesh: &Mesh, v: usize| if in_flight { stir_squared(mesh, shape, v, u) } else { 1.0 };
    let free = |v: &usize| shape.kinds[*v] == Kind::Free;
    let count = drop.mesh.velocities.len();
    let share: f64 =
        (0..count).filter(free).map(|v| shape.volume_gradient[v].dot(shape.normals[v]) * weight(&drop.mesh, v)).sum();
    if share > 0.0 {
        for v in (0..count).filter(free) {
            let taken = weight(&drop.mesh, v) * (growth / share);
            drop.mesh.velocities[v] -= shape.normals[v] * taken;
        }
    }
    // In flight all vertices take what the drop's velocity lacks; over a solid its velocity is bound to its shape.
    if shape.contacts.is_empty() {
        let missing = u - shape.rigid_velocity(&drop.mesh.velocities);
        drop.mesh.velocities.iter_mut().for_each(|v| *v += missing);
    }
}

/// Puts vertices in contact back on their solids, and spreads the wet ones evenly.
pub(crate) fn settle_on_solids(drop: &mut Drop, setting: &Setting<'_>, shape: &Shape) {
    for contact in shape.contacts.iter().filter(|contact| contact.kind == Kind::Line) {
        let v = contact.vertex;
        let solid = drop.mesh.solid_at(v);
        let place = foot_point(setting.after, solid, drop.mesh.positions[v as usize]);
        drop.mesh.positions[v as usize] = out_of_corners(setting.after, solid, place);
    }
    // Wet vertices go along with the drop, all of them before any is moved towards the middle of the others.
    let slip = drop.velocity * setting.dt;
    let least = 1e-6 * setting.edge * setting.edge;
    let slides = slip.length_squared() > least;
    for contact in shape.contacts.iter().filter(|contact| contact.kind == Kind::Wet) {
        let place = &mut drop.mesh.positions[contact.vertex as usize];
        if contact.tag < 0 {
            *place = foot_point(setting.after, contact.tag, *place);
        } else if slides {
            *place += slip - contact.footing.normal * contact.footing.normal.dot(slip);
        }
    }
    for contact in shape.contacts.iter().filter(|contact| contact.kind == Kind::Wet && contact.tag >= 0) {
        let v = contact.vertex;
        let mesh = &drop.mesh;
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for h in mesh.fan(v) {
            sum += mesh.positions[mesh.to(h) as usize];
            count += 1.0;
        }
        let here = mesh.positions[v as usize];
        let to = here + (sum / count - here) * 0.5;
        // Resting patches stay where they are, so that a resting drop does not change at all.
        let solid = contact.tag;
        if !slides && to.distance_squared(here) < least && !setting.after.solids()[solid as usize].moves() {
            continue;
        }
        drop.mesh.positions[v as usize] = out_of_corners(setting.after, solid, foot_point(setting.after, solid, to));
    }
}

/// Moves the free vertices along their normals until the drop has its volume again.
pub fn restore_volume(drop: &mut Drop, shape: &Shape) {
    let mut grows = 0.0;
    for v in 0..shape.normals.len() {
        if shape.kinds[v] == Kind::Free {
            grows += shape.normals[v].dot(shape.volume_gradient[v]);
        }
    }
    // A surface that would have to move by its own radius is not the drop's; whoever checks it will say so.
    let reach = ball_radius(drop.volume);
    let mut volume = drop.mesh.volume();
    for _ in 0..VOLUME_PASSES {
        let lack = drop.volume - volume;
        if lack.abs() <= 1e-11 * drop.volume || grows.is_nan() || grows <= 0.0 {
            return;
        }
        let shift = lack / grows;
        if shift.abs() > reach {
            return;
        }
        for v in 0..shape.normals.len() {
            if shape.kinds[v] == Kind::Free {
                drop.mesh.positions[v] += shape.normals[v] * shift;
            }
        }
        // How much it really grew, for the next pass.
        let before = std::mem::replace(&mut volume, drop.mesh.volume());
        let slope = (volume - before) / shift;
        if slope > 0.2 * grows && slope < 5.0 * grows {
            grows = slope;
        }
    }
}
