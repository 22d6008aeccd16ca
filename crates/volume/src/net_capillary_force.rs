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
//! Only components that touch no solid are free; a wall exerts forces on the others.

use glam::DVec3;
use rayon::prelude::*;

use crate::drops::Drops;
use crate::faces::{FaceFlags, WET};
use crate::poisson::OptionalUnknown;
use crate::projection::{PressureProblem, Projection};
use crate::tiles::{CellIndex, Field, Tiles};

/// The net force of the interface on a component.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetForce {
    /// Impulse over ρh³, in m/s.
    impulse: DVec3,
    /// Cells of liquid that are accelerated along each axis.
    mass: DVec3,
    /// U, in m/s.
    velocity: DVec3,
}

/// Removes the net capillary force of closed interfaces from the velocity that the projection has
/// made.
pub fn cancel_net_forces(
    problem: &PressureProblem<'_>,
    projection: &Projection,
    drops: &Drops,
    net_forces: &mut Vec<NetForce>,
    velocity: &mut [Field<f64>; 3],
) {
    if drops.components.iter().all(|component| component.on_wall) {
        return;
    }
    find_net_forces(problem, projection, drops, net_forces);
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

/// The net force on each free component; zero on others.
fn find_net_forces(
    problem: &PressureProblem<'_>,
    projection: &Projection,
    drops: &Drops,
    net_forces: &mut Vec<NetForce>,
) {
    let Projection { cells, unknown_of, system, .. } = projection;
    let tiles = problem.tiles;
    net_forces.clear();
    net_forces.resize(drops.components.len(), NetForce::default());
    for (unknown, &component) in drops.component_of.iter().enumerate() {
        if drops.components[component as usize].on_wall {
            continue;
        }
        let force = &mut net_forces[component as usize];
        force.mass += DVec3::from(system.faces[unknown]);
        if system.dirichlet[unknown] <= 0.0 {
            continue;
        }
        let cell = cells[unknown];
        for direction in 0..2 * tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = tiles.next(cell, axis, if up { 1 } else { -1 }) else { continue };
            if !unknown_of.values()[next].is_some() {
                force.mass[axis] += problem.share(cell, next);
                force.impulse[axis] -= problem.surface_q(cell, next) * if up { 1.0 } else { -1.0 };
            }
        }
    }
    for force in net_forces {
        force.velocity = force.impulse / force.mass.max(DVec3::ONE);
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
    use crate::testing::{free_space, sampled, uniform};

    /// An asymmetric body in motion: surface tension changes its shape, and not its momentum.
    #[test]
    fn surface_tension_does_not_change_the_momentum_of_free_liquid() {
        let (tiles, solids) = free_space();
        let phi = &sampled(&tiles, |at| {
            // Within 9 cells of the center, or 6 of a second point: a pear.
            let at = at - DVec3::new(0.31, 0.17, -0.43);
            (at.length() - 9.0).min((at - DVec3::new(4.0, 5.0, 3.0)).length() - 6.0)
        });
        let mut kappa = uniform(&tiles, 0.0);
        curvature(&tiles, &solids, phi, CurvatureOf::Interface, &mut kappa);
        let mut flags: FaceFlags = std::array::from_fn(|_| uniform(&tiles, 0));
        classify_faces(&tiles, &solids, phi, &mut flags);
        let mut projection = Projection::default();
        projection.number_unknowns(&tiles, &solids, phi);
        let mut drops = Drops::default();
        drops.labels.resize(&tiles);
        let Projection { cells, unknown_of, .. } = &projection;
        let (numerics, stream) = (NumericalParameters::default(), [0.03, -0.02, 0.01]);
        let input = LabelInput { tiles: &tiles, solids: &solids, phi, cells, unknown_of };
        drops.label(&input, &numerics, &mut Vec::new());
        let before = stream.map(|u| uniform(&tiles, u));
        let problem = PressureProblem {
            tiles: &tiles,
            solids: &solids,
            flags: &flags,
            phi,
            kappa: &kappa,
            line: &uniform(&tiles, LineState::Free),
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
        projection.solve(&problem).unwrap();
        projection.correct(&problem, &mut velocity, &|_, _, _| 0.0);
        let change = |velocity: &[Field<f64>; 3]| (mean_velocity(&problem, velocity) - DVec3::from(stream)).length();
        let uncorrected = change(&velocity);
        assert_eq!(drops.components.len(), 1);
        cancel_net_forces(&problem, &projection, &drops, &mut Vec::new(), &mut velocity);
        let corrected = change(&velocity);
        println!("{uncorrected:.2e} m/s without the correction, {corrected:.2e} with it");
        assert!(uncorrected > 1e-5 && corrected < 1e-15, "{uncorrected:.2e} m/s without, {corrected:.2e} with");
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
