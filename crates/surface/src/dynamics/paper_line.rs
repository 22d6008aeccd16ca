//! The contact line under the paper's operators, and the flow that it bounds.
//!
//! Nothing but the contact-angle operator (zhang2011, eq. 8) moves the line; where it stays it
//! carries the tension of the free surface. A substep may be as long as n = Δt/Δt₀ of the
//! reference steps that define the operators ([`super::zhang2011`]), and what happens in each of
//! those is then part of one solve:
//!
//! - **The line follows the drop.** In a long step the implicit tension ties the free surface to
//!   its line. A line that moves at the velocity U of the drop in the step before holds back a
//!   drop that accelerates, by a factor 1 + s Δt (Δt − Δt₀) k². So U is that which the solve
//!   returns. It is found by secants, each of which takes one more solve with the same factor.
//! - **The surface does not move within itself.** After every reference step the velocities within
//!   the surface are removed, and the normals take up their momentum ([`super::velocity_gauge`]).
//!   That resists the flow like masses m (n − 1) that move at w = U + n (n · (v − U + shift)), what
//!   the removal leaves of the solution v.
//! - **The wetted face** moves at U as well, and takes the momentum for that from the free surface.
//! - **The line as a whole** moves along itself, so that its vertices stay where they are on a drop
//!   in steady sliding.

use glam::{DMat3, DVec3};
use sessile_numerics::{math, sphere_radius};

use super::conjugate_gradient::SolveReport;
use super::geometry::{Contact, DropGeometry};
use super::linear_system::{Coefficients, Constraint, LinearSystem};
use super::velocity_gauge::{FLAT_SHARE, outer};
use super::zhang2011::{PaperParameters, REFERENCE_STEP};
use crate::drop::{Drop, StepContext};
use crate::mesh::index::VertexIndex;
use crate::mesh::{Mesh, VertexKind};

/// k R, the wave number over the drop's radius at which a contact line holds its surface: sets the
/// first secant.
const HELD_WAVE_NUMBER: f64 = 1.5;
/// Most secants for the velocity at which a drop carries its line.
const MAX_SECANTS: usize = 4;
/// Relative error of that velocity.
const VELOCITY_TOLERANCE: f64 = 0.01;
/// Error of the normal velocities, in root mean square, relative to the same.
const NORMAL_TOLERANCE: f64 = 0.05;
/// Least speed that errors are relative to, in m/s.
const SLOW: f64 = 0.5e-3;
/// Largest change of that velocity over its error.
const MAX_GAIN: f64 = 500.0;
/// One over the share of a line's velocity by which the speed of a vertex may differ from it for
/// the vertex to move along the line.
const OUT_OF_LINE: f64 = 3.0;

/// The flow of one substep.
pub struct Flow<'a> {
    pub drop: &'a Drop,
    pub context: &'a StepContext<'a>,
    pub geometry: &'a DropGeometry,
    pub paper: &'a PaperParameters,
    pub coefficients: Coefficients,
    /// Velocity at which the drop slid before the step, in m/s.
    pub before: DVec3,
}

impl Flow<'_> {
    /// Solves for the velocities of a drop that sticks to its solid or not; `speeds` are those of
    /// its vertices along their normals before the step ([`read_normal_speeds`]).
    pub fn solve(&self, sticks: bool, system: &mut LinearSystem, speeds: &mut [f64]) -> SolveReport {
        let Self { drop, geometry, .. } = self;
        let has_surface = geometry.kinds.contains(&VertexKind::Free);
        let slides = self.context.dt > REFERENCE_STEP && !sticks && has_surface && !geometry.has_outlet();
        let carried = drop.velocity;
        self.hold_contacts(carried, system);
        self.carry_line(|contact| carried - contact.sample.velocity, system);
        match geometry.footprint_normal().filter(|_| slides) {
            Some(normal) => self.solve_sliding(normal, system, speeds),
            None => system.solve(geometry, &self.coefficients, self.rate(), &self.context.params.numerics),
        }
    }

    /// The growth of the volume that restores it, in m³/s.
    fn rate(&self) -> Option<f64> {
        Some((self.drop.volume - self.geometry.volume) / self.context.dt)
    }

    /// Solves for the velocities and for that at which a drop on a solid with this normal carries
    /// its line along.
    fn solve_sliding(&self, normal: DVec3, system: &mut LinearSystem, speeds: &mut [f64]) -> SolveReport {
        let Self { geometry, coefficients, .. } = self;
        let numerics = &self.context.params.numerics;
        let added = self.context.dt / REFERENCE_STEP - 1.0;
        let mut carried = across(self.drop.velocity, normal);
        for v in VertexIndex::first(speeds.len()) {
            let mass = system.masses[v] * added;
            system.right[v] += (self.before + geometry.normals[v] * speeds[v]) * mass;
            system.masses[v] += mass;
        }
        self.carry(carried, carried - self.before, normal, system);
        let mut solve = system.solve(geometry, coefficients, self.rate(), numerics);
        let (mut gain, mut last): (f64, Option<[DVec3; 2]>) = (added + self.slowing(), None);
        for _ in 0..MAX_SECANTS {
            let found = slide_velocity(geometry, &system.masses, &system.velocities, normal);
            let missing = found - carried;
            let off = self.update_normal_speeds(carried, normal, system, speeds);
            let speed = found.length().max(SLOW);
            if missing.length() <= VELOCITY_TOLERANCE * speed && off <= NORMAL_TOLERANCE * speed {
                break;
            }
            if let Some([step, before]) = last {
                let change = missing - before;
                if change == DVec3::ZERO {
                    break;
                }
                gain = (-change.dot(step) / change.length_squared()).clamp(1.0, MAX_GAIN);
            }
            let step = missing * gain;
            last = Some([step, missing]);
            carried += step;
            self.carry_line(|_| step, system);
            self.hold_contacts(carried, system);
            self.carry(carried, step, normal, system);
            let again = system.solve_again(geometry, coefficients, self.rate(), numerics);
            solve = SolveReport { iterations: solve.iterations + again.iterations, ..again };
        }
        solve
    }

    /// Share of the masses that stands for the reference steps but one.
    fn added_share(&self) -> f64 {
        1.0 - REFERENCE_STEP / self.context.dt
    }

    /// Lets the wetted face move at `carried` along the solid with this normal, and b take account
    /// of a change of that velocity: the free surface passes on the momentum of the wetted face.
    fn carry(&self, carried: DVec3, change: DVec3, normal: DVec3, system: &mut LinearSystem) {
        let kinds = &self.geometry.kinds;
        let mass = |kind: VertexKind| -> f64 {
            VertexIndex::first(kinds.len()).filter(|&v| kinds[v] == kind).map(|v| system.masses[v]).sum()
        };
        let added = self.added_share();
        let passed = (1.0 - added) * mass(VertexKind::Wetted) / mass(VertexKind::Free);
        for v in VertexIndex::first(kinds.len()) {
            match kinds[v] {
                VertexKind::Free => system.right[v] += change * (system.masses[v] * (added - passed)),
                VertexKind::Wetted => {
                    system.velocities[v] = carried + normal * normal.dot(system.velocities[v]);
                }
                VertexKind::ContactLine => {}
            }
        }
    }

    /// By how much less the drop accelerates where its line keeps its velocity.
    fn slowing(&self) -> f64 {
        let (k, dt) = (HELD_WAVE_NUMBER / sphere_radius(self.drop.volume), self.context.dt);
        1.0 + self.paper.tension * dt * (dt - REFERENCE_STEP) * k * k
    }

    /// Sets the normal velocities of w to those that removing the velocities within the surface
    /// leaves of the solution, and adds their change to b; returns the change in root mean square,
    /// in m/s.
    fn update_normal_speeds(
        &self,
        carried: DVec3,
        footprint_normal: DVec3,
        system: &mut LinearSystem,
        speeds: &mut [f64],
    ) -> f64 {
        let geometry = self.geometry;
        let free = || VertexIndex::first(geometry.kinds.len()).filter(|&v| geometry.kinds[v] == VertexKind::Free);
        let (mut mass, mut momentum, mut inertia) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for v in free() {
            let (m, n) = (system.masses[v], across(geometry.normals[v], footprint_normal));
            mass += m;
            momentum += n * (geometry.normals[v].dot(system.velocities[v] - carried) * m);
            inertia += outer(n) * m;
        }
        let shift = (inertia + DMat3::from_diagonal(DVec3::splat(FLAT_SHARE * mass))).inverse() * momentum;
        let (mut off, share) = (0.0, self.added_share());
        for v in free() {
            let (m, n) = (system.masses[v], geometry.normals[v]);
            let now = n.dot(system.velocities[v] - carried - shift);
            let change = now - std::mem::replace(&mut speeds[v], now);
            system.right[v] += n * (change * m * share);
            off += change * change * m;
        }
        (off / mass).sqrt()
    }

    /// Prescribes the velocities of the vertices in contact, which bound the flow.
    ///
    /// The contact-angle operator (zhang2011, eq. 8) moves the line by the area-weighted normal of
    /// its free triangles, and nothing else does: where the angle is between θ_r and θ_a the line
    /// stays, and carries the tension of the free surface. The force is implicit, so that any α is
    /// stable: a line that advances by half an edge relative to the drop, which moves at `carried`,
    /// lowers its angle by about a radian. Friction opposes it.
    fn hold_contacts(&self, carried: DVec3, system: &mut LinearSystem) {
        let Self { drop, context, geometry, paper, .. } = self;
        let dt = context.dt;
        let reach = 0.5 * drop.target_edge(context.params.edge);
        let (push, lost) = (paper.alpha * dt, paper.friction * dt / REFERENCE_STEP);
        for contact in &geometry.contacts {
            let (v, sample) = (contact.vertex, &contact.sample);
            system.constraints[v] = Constraint::Fixed;
            if contact.kind != VertexKind::ContactLine || !contact.interface.is_solid() {
                continue;
            }
            let out = contact.outward;
            let normal = geometry.normals[v];
            let theta = math::acos(normal.dot(sample.normal).clamp(-1.0, 1.0));
            // The angle at the end of the step if the line stays.
            let theta = theta + dt / reach * out.dot(carried - sample.velocity);
            let (advancing, receding) =
                (math::acos(sample.wetting.cos_advancing), math::acos(sample.wetting.cos_receding));
            let excess = (theta - advancing).max(0.0) + (theta - receding).min(0.0);
            let before = out.dot(drop.mesh.velocities[v] - sample.velocity);
            let driven = before + push * excess;
            let friction = driven.clamp(-lost, lost);
            let speed = if excess == 0.0 { 0.0 } else { (driven - friction) / (1.0 + push * dt / reach) };
            system.velocities[v] = sample.velocity + out * speed;
        }
    }

    /// Lets the implicit tension of a long step see the contact line follow the drop along itself,
    /// at the slip that `slip` returns, in m/s.
    ///
    /// The vertices of the line stay where a drop slides along it, and hold the surface by its
    /// viscosity. The tension at the end of the step is that of a line which has moved on.
    fn carry_line(&self, slip: impl Fn(&Contact) -> DVec3, system: &mut LinearSystem) {
        let Self { context, geometry, paper, .. } = self;
        let dt = context.dt;
        let stiffness = paper.tension * dt * (dt - REFERENCE_STEP);
        if stiffness <= 0.0 {
            return;
        }
        for contact in geometry.contacts.iter().filter(|contact| contact.is_mobile_line()) {
            let along = contact.outward.cross(contact.sample.normal);
            system.pull_neighbors(contact.vertex, along * (along.dot(slip(contact)) * stiffness));
        }
    }
}

/// The component of a vector across a unit normal.
fn across(v: DVec3, normal: DVec3) -> DVec3 {
    v - normal * normal.dot(v)
}

/// Reads the speeds of the vertices along their normals relative to the drop, and returns the
/// velocity at which that slides, in m/s.
pub fn read_normal_speeds(mesh: &Mesh, geometry: &DropGeometry, masses: &[f64], speeds: &mut Vec<f64>) -> DVec3 {
    let u = geometry.footprint_normal().map_or(DVec3::ZERO, |n| slide_velocity(geometry, masses, &mesh.velocities, n));
    speeds.clear();
    speeds.extend(mesh.vertex_indices().map(|v| geometry.normals[v].dot(mesh.velocities[v] - u)));
    u
}

/// Mean velocity of the free surface and the wetted face along a solid with this normal, in m/s.
fn slide_velocity(geometry: &DropGeometry, masses: &[f64], velocities: &[DVec3], normal: DVec3) -> DVec3 {
    let (mut momentum, mut mass) = (DVec3::ZERO, 0.0);
    for v in VertexIndex::first(masses.len()).filter(|&v| geometry.kinds[v] != VertexKind::ContactLine) {
        momentum += velocities[v] * masses[v];
        mass += masses[v];
    }
    across(momentum / mass, normal)
}

/// Moves the vertices of a contact line that slides along it, as the motion of the line as a whole
/// carries them.
///
/// Where they are along the line is no motion of liquid. But a curved line whose vertices move
/// along its normals alone widens by the square of the path over twice its radius in every step,
/// and its vertices gather at the rear, where they are collapsed, while the front is split. Parts
/// of the line that do not move with the rest of it, such as pinned ones, stay.
///
/// Returns the largest speed of a line vertex relative to the drop, in m/s.
pub fn move_along_itself(drop: &mut Drop, geometry: &DropGeometry, dt: f64) -> f64 {
    let mobile = || geometry.contacts.iter().filter(|contact| contact.is_mobile_line());
    let speed = |contact: &Contact| contact.outward.dot(drop.mesh.velocities[contact.vertex] - contact.sample.velocity);
    let (mut matrix, mut right) = (DMat3::ZERO, DVec3::ZERO);
    for contact in mobile() {
        let (out, normal) = (contact.outward, contact.sample.normal);
        matrix += (outer(out) + outer(normal)) * contact.length;
        right += out * (speed(contact) * contact.length);
    }
    let moves = matrix.determinant() > 0.0 && right != DVec3::ZERO;
    let velocity = if moves { matrix.inverse() * right } else { DVec3::ZERO };
    let mut fastest: f64 = 0.0;
    for contact in mobile() {
        let off = (speed(contact) - contact.outward.dot(velocity)).abs();
        let share = if moves { (1.0 - OUT_OF_LINE * off / velocity.length()).max(0.0) } else { 0.0 };
        let along = contact.outward.cross(contact.sample.normal);
        let along = along * (along.dot(velocity) * share);
        drop.mesh.positions[contact.vertex] += along * dt;
        fastest = fastest.max((drop.mesh.velocities[contact.vertex] + along).distance(drop.velocity));
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::zhang2011::advance;
    use crate::test_support::TestDrops;

    /// Speed at which a drop of 10 µL slides down a pane after 20 ms from rest, in so many steps.
    fn speed_after(steps: u32) -> f64 {
        let pane = "[world]\ngravity = \"0 0 -9.81 m/s^2\"\n";
        let drop = "[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"10 uL\"\ncontact_angle = \"80 deg\"\n";
        let floor = crate::test_support::floor(90.0, 80.0);
        let mut test = TestDrops::new(&format!("{pane}{floor}{drop}"), 0.2e-3);
        let paper = PaperParameters { tension: 0.025, friction: 0.0, ..PaperParameters::new(&Default::default()) };
        let dt = 0.02 / f64::from(steps);
        for _ in 0..steps {
            test.each(dt, dt, |drop, context, scratch| advance(drop, context, &paper, scratch));
        }
        -test.drops[0].velocity.z
    }

    /// With a line that keeps its velocity the drop would be twelve times slower.
    #[test]
    fn a_drop_accelerates_in_one_long_step_as_in_short_ones() {
        let (short, long) = (speed_after(10), speed_after(1));
        assert!(short > 0.02, "{short} m/s after 20 ms");
        assert!(long > 0.5 * short && long < 1.5 * short, "{long} m/s in one step, {short} m/s in ten");
    }
}
