//! Net capillary force correction: a closed interface exerts no net force on the liquid inside it.
//!
//! ∮ κ n dA = 0, but κ on the grid errs by about a percent, and the errors do not cancel: a drop in
//! free fall would drift sideways. Along an axis, the projection accelerates the liquid as if a
//! face between two liquid cells held one cell of it, and a face to the air θ of one
//! ([`projection`](crate::projection)); interior pressures cancel in the sum, and those at the
//! interface remain. For each component, along each axis,
//!
//! ```text
//! U = −Σ σ q_s / (N + Σ θ),      u ← u − U on all its faces
//! ```
//!
//! summed over its faces to the air, σ = ±1 out of the liquid and q_s = γκΔt/ρh² there; N is the
//! number of interior faces. A uniform velocity has no divergence, so the projection remains valid.
//!
//! **On a plane.** A drop whose contact line lies on one plane and meets it at one angle everywhere
//! has no net capillary force along the plane, whatever its shape: with m the direction in which
//! the interface leaves the line,
//!
//! ```text
//! ∮ κ n dA = −∮ m dl,      m·t = cos θ (ν·t),      ∮ ν dl = 0
//!     t along the plane, ν normal to the line in it
//! ```
//!
//! On the grid it has one, of the order of a thousandth of γ times the base, which depends on where
//! the drop lies in its cells: without hysteresis it creeps to the nearest place where the force
//! vanishes, at 0.1 mm/s, and does not come to rest for a second. So the part of the sum along the
//! plane is removed as above, over the drop's volume. A uniform velocity along a plane has no
//! divergence in cut cells, either. Where the flow through a face at the line is prescribed, the
//! pressure of its cell stands for that at the interface. A line that moves has another angle in
//! front than behind ([`moving_line`](crate::moving_line)), and that net force is not an error: of
//! a drop at the speed U the share 1/(1 + (m k U/ε)²) is removed, with m k U the moving line's
//! force over γ and its length and ε = [`ERROR`] that of the grid. Drops with hysteresis, on curved
//! walls or on several, and those beside mirrors are held by forces that do not add up to zero.

use glam::DVec3;
use rayon::prelude::*;
use sessile_numerics::math;

use crate::drops::Drops;
use crate::faces::{FaceFlags, WET};
use crate::moving_line::MovingLine;
use crate::poisson::OptionalUnknown;
use crate::projection::{PressureProblem, Projection, WallVelocity};
use crate::solids::Wall;
use crate::tiles::{CellIndex, Field, Tiles};

/// Distance from a wall below which a liquid cell shows that its component touches it, in cells.
const ON_WALL: f64 = 1.0;
/// The grid's net force on a resting drop, over γ and the length of its line.
const ERROR: f64 = 1e-3;
/// Difference of two normals below which they belong to one plane.
const SAME_NORMAL: f64 = 1e-6;

/// The net force of the interface on a component.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetForce {
    /// Impulse over ρh³, in m/s.
    impulse: DVec3,
    /// Cells of liquid that are accelerated along each axis.
    mass: DVec3,
    /// U, in m/s.
    velocity: DVec3,
    /// Sum of the velocity over the low faces of its cells, relative to its wall, in m/s.
    motion: DVec3,
}

/// Removes the net capillary force of closed interfaces from the velocity that the projection has
/// made.
pub fn cancel_net_forces(
    problem: &PressureProblem<'_>,
    projection: &Projection,
    drops: &Drops,
    moving_line: Option<MovingLine>,
    wall_velocity: &impl WallVelocity,
    net_forces: &mut Vec<NetForce>,
    velocity: &mut [Field<f64>; 3],
) {
    let supports = find_supports(problem, projection, drops);
    if supports.iter().all(|support| *support == Support::Other) {
        return;
    }
    find_net_forces(problem, projection, drops, &supports, wall_velocity, net_forces);
    if let Some(moving_line) = moving_line {
        let relative =
            |cell: CellIndex, wall: &Wall, axis: usize| velocity[axis].values()[cell] - wall_velocity(wall, cell, axis);
        leave_moving_lines(projection, drops, &supports, moving_line, relative, net_forces);
    }
    let (unknown_of, component_of) = (&projection.unknown_of, &drops.component_of);
    let shift = |component: usize| -net_forces[component].velocity;
    shift_components(problem.tiles, problem.flags, unknown_of, component_of, velocity, shift);
}

/// Adds a uniform velocity to the faces of each component.
pub fn shift_components(
    tiles: &Tiles,
    flags: &FaceFlags,
    unknown_of: &Field<OptionalUnknown>,
    component_of: &[u32],
    velocity: &mut [Field<f64>; 3],
    shift: impl Fn(usize) -> DVec3 + Sync,
) {
    for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
        component.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            let (flags, own) = (flags[axis].tile(slot), unknown_of.tile(slot));
            for local in 0..tiles.cells_in_use() {
                if flags[local] & WET == 0 {
                    continue;
                }
                let index = CellIndex::new(slot, local);
                let low = || tiles.next(index, axis, -1).and_then(|low| unknown_of.values()[low].get());
                if let Some(unknown) = own[local].get().or_else(low) {
                    out[local] += shift(component_of[unknown] as usize)[axis];
                }
            }
        });
    }
}

/// What a component rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Support {
    /// Nothing.
    Free,
    /// A plane with this normal, at one contact angle.
    Plane { normal: DVec3, wall: Wall },
    /// Anything else.
    Other,
}

impl Support {
    /// The support of a component that also touches `wall` with this normal, or anything else.
    fn and(self, plane: Option<(DVec3, Wall)>) -> Self {
        match (self, plane) {
            (Self::Free, Some((normal, wall))) => Self::Plane { normal, wall },
            (Self::Plane { normal, wall }, Some((other, same)))
                if normal.distance(other) < SAME_NORMAL
                    && wall.solid == same.solid
                    && wall.advancing == same.advancing =>
            {
                self
            }
            _ => Self::Other,
        }
    }
}

/// What each component rests on.
fn find_supports(problem: &PressureProblem<'_>, projection: &Projection, drops: &Drops) -> Vec<Support> {
    let PressureProblem { tiles, solids, .. } = problem;
    let mut supports = vec![Support::Free; drops.components.len()];
    for (&cell, &component) in projection.cells.iter().zip(&drops.component_of) {
        let support = &mut supports[component as usize];
        if *support == Support::Other || solids.distance.values()[cell] >= ON_WALL {
            continue;
        }
        let wall = solids.wall.values()[cell];
        let has_one_angle = wall.advancing == wall.receding && wall.wet_advancing == wall.advancing;
        let is_plane = has_one_angle && solids.mirrors.is_empty() && solids.is_flat(tiles, cell);
        *support = support.and(is_plane.then(|| (solids.normal(tiles, cell), wall)));
    }
    supports
}

/// The net force on each free component, and along its plane on one that rests on a plane; zero on
/// others.
fn find_net_forces(
    problem: &PressureProblem<'_>,
    projection: &Projection,
    drops: &Drops,
    supports: &[Support],
    wall_velocity: &impl WallVelocity,
    net_forces: &mut Vec<NetForce>,
) {
    let Projection { cells, unknown_of, system, q, .. } = projection;
    let tiles = problem.tiles;
    net_forces.clear();
    net_forces.resize(drops.components.len(), NetForce::default());
    for (unknown, &component) in drops.component_of.iter().enumerate() {
        let support = supports[component as usize];
        let is_free = support == Support::Free;
        if support == Support::Other {
            continue;
        }
        let force = &mut net_forces[component as usize];
        force.mass += DVec3::from(system.faces[unknown]);
        if is_free && system.dirichlet[unknown] <= 0.0 {
            continue;
        }
        let cell = cells[unknown];
        for direction in 0..2 * tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = tiles.next(cell, axis, if up { 1 } else { -1 }) else { continue };
            if unknown_of.values()[next].is_some() || problem.phi.values()[next] < 0.0 {
                continue;
            }
            let pair = if up { [cell, next] } else { [next, cell] };
            let open = problem.solids.open[axis].values()[pair[1]];
            let is_prescribed = !is_free && problem.prescribed_velocity(axis, pair, wall_velocity).is_some();
            let q = if is_prescribed { q[unknown] } else { problem.surface_q(cell, next) };
            force.mass[axis] += open * problem.share(cell, next);
            force.impulse[axis] -= open * q * if up { 1.0 } else { -1.0 };
        }
    }
    for ((force, support), component) in net_forces.iter_mut().zip(supports).zip(&drops.components) {
        force.velocity = match support {
            Support::Plane { normal, .. } => force.impulse.reject_from_normalized(*normal) / component.volume.max(1.0),
            _ => force.impulse / force.mass.max(DVec3::ONE),
        };
    }
}

/// Leaves drops on a plane the net force of their moving line.
fn leave_moving_lines(
    projection: &Projection,
    drops: &Drops,
    supports: &[Support],
    moving_line: MovingLine,
    relative_velocity: impl Fn(CellIndex, &Wall, usize) -> f64,
    net_forces: &mut [NetForce],
) {
    for (&cell, &component) in projection.cells.iter().zip(&drops.component_of) {
        if let Support::Plane { wall, .. } = &supports[component as usize] {
            net_forces[component as usize].motion +=
                DVec3::from([0, 1, 2].map(|axis| relative_velocity(cell, wall, axis)));
        }
    }
    for ((force, support), component) in net_forces.iter_mut().zip(supports).zip(&drops.components) {
        if let Support::Plane { normal, wall } = support {
            let speed = force.motion.reject_from_normalized(*normal).length() / component.num_cells.max(1) as f64;
            let excess = moving_line.drag(math::cos(wall.advancing), speed) / ERROR;
            force.velocity /= 1.0 + excess * excess;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curvature::{CurvatureOf, curvature};
    use crate::drops::LabelInput;
    use crate::faces::{FaceFlags, classify_faces};
    use crate::line_state::LineState;
    use crate::parameters::NumericalParameters;
    use crate::solids::Solids;
    use crate::testing::{cap_on_plane, free_space, sampled, uniform};

    /// Mean velocity of a body that surface tension accelerates from `stream` for one step, less
    /// that stream, without and with the correction, in m/s.
    fn acceleration(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, stream: [f64; 3]) -> [DVec3; 2] {
        let mut kappa = uniform(tiles, 0.0);
        curvature(tiles, solids, phi, CurvatureOf::Interface, &mut kappa);
        let mut flags: FaceFlags = std::array::from_fn(|_| uniform(tiles, 0));
        classify_faces(tiles, solids, phi, &mut flags);
        let mut projection = Projection::default();
        projection.number_unknowns(tiles, solids, phi);
        let mut drops = Drops::default();
        drops.labels.resize(tiles);
        let Projection { cells, unknown_of, .. } = &projection;
        let numerics = NumericalParameters::default();
        drops.label(&LabelInput { tiles, solids, phi, cells, unknown_of }, &numerics, &mut Vec::new());
        assert_eq!(drops.components.len(), 1);
        let before = stream.map(|u| uniform(tiles, u));
        let problem = PressureProblem {
            tiles,
            solids,
            flags: &flags,
            phi,
            kappa: &kappa,
            line: &uniform(tiles, LineState::Free),
            tension: 0.3,
            second_order: true,
            lifts: true,
            dt_over_h: 1.0,
            numerics: &numerics,
            method: crate::poisson::Method::Auto,
            before: &before,
        };
        let mut velocity = before.clone();
        let source = vec![0.0; projection.cells.len()];
        projection.assemble(&problem, &velocity, &source, &|_, _, _| 0.0);
        projection.q.resize(projection.cells.len(), 0.0);
        projection.solve(&problem, 1.0).unwrap();
        projection.correct(&problem, &mut velocity, &|_, _, _| 0.0);
        let change = |velocity: &[Field<f64>; 3]| mean_velocity(&problem, velocity) - DVec3::from(stream);
        let uncorrected = change(&velocity);
        cancel_net_forces(&problem, &projection, &drops, None, &|_, _, _| 0.0, &mut Vec::new(), &mut velocity);
        [uncorrected, change(&velocity)]
    }

    /// An asymmetric body in motion: surface tension changes its shape, and not its momentum.
    #[test]
    fn surface_tension_does_not_change_the_momentum_of_free_liquid() {
        let (tiles, solids) = free_space();
        let phi = &sampled(&tiles, |at| {
            // Within 9 cells of the center, or 6 of a second point: a pear.
            let at = at - DVec3::new(0.31, 0.17, -0.43);
            (at.length() - 9.0).min((at - DVec3::new(4.0, 5.0, 3.0)).length() - 6.0)
        });
        let found = acceleration(&tiles, &solids, phi, [0.03, -0.02, 0.01]);
        let [uncorrected, corrected] = found.map(DVec3::length);
        println!("{uncorrected:.2e} m/s without the correction, {corrected:.2e} with it");
        assert!(uncorrected > 1e-5 && corrected < 1e-15, "{uncorrected:.2e} m/s without, {corrected:.2e} with");
    }

    /// Two caps of 75° that overlap beside the middle of their cells, on a plane of 75°. The mass
    /// of its faces differs from its volume by the layer of half a cell at its surface.
    #[test]
    fn surface_tension_does_not_move_a_drop_of_one_angle_along_its_plane() {
        let (theta, point) = (75f64.to_radians(), DVec3::new(0.31, 0.0, -0.17));
        let mut case = cap_on_plane(theta, 9.0, DVec3::Y, point);
        // A second ball of 6 cells that meets the plane at the same angle.
        let center = point + DVec3::new(6.0, -6.0 * theta.cos(), 4.0);
        for index in case.grid.tiles.indices() {
            let ball = (case.grid.center(index) - center).length() - 6.0;
            let phi = &mut case.phi.values_mut()[index];
            *phi = phi.min(ball);
        }
        let found = acceleration(&case.grid.tiles, &case.solids, &case.phi, [0.0; 3]);
        let [uncorrected, corrected] = found.map(|change| change.with_y(0.0).length());
        println!("{uncorrected:.2e} m/s along the plane without the correction, {corrected:.2e} with it");
        assert!(
            uncorrected > 1e-6 && corrected < 0.1 * uncorrected,
            "{uncorrected:.2e} m/s without, {corrected:.2e} with"
        );
    }

    /// Momentum over mass, each face weighted by the liquid that it stands for.
    fn mean_velocity(problem: &PressureProblem<'_>, velocity: &[Field<f64>; 3]) -> DVec3 {
        let (mut sum, mut mass) = (DVec3::ZERO, DVec3::ZERO);
        let phi = problem.phi.values();
        for axis in 0..3 {
            for high in problem.tiles.indices() {
                let Some(low) = problem.tiles.next(high, axis, -1) else { continue };
                let weight = match (phi[low] < 0.0, phi[high] < 0.0) {
                    (true, true) => 1.0,
                    (true, false) => problem.share(low, high),
                    (false, true) => problem.share(high, low),
                    (false, false) => continue,
                };
                sum[axis] += weight * velocity[axis].values()[high];
                mass[axis] += weight;
            }
        }
        sum / mass
    }
}
