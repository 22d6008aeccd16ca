//! Inertia of short capillary waves, for steps beyond the capillary limit.
//!
//! Explicit surface tension limits the step by the shortest waves on the grid, whose frequency
//! ω_max is the highest: Δt < 2/ω_max. Those waves are not resolved, and longer steps are stable if
//! they are slower. So in what a step changes, u − uⁿ, each face near the interface shares the
//! change of its neighbors:
//!
//! ```text
//! u ← P (uⁿ + (1 − τS)² (u − uⁿ)),      P the projection,
//! (S a)_f = 1/(4 d m_f) Σ_g min(c_f, c_g) (a_f − a_g)
//!     g the 2d neighbors of the same component,  m_f the liquid that the projection accelerates
//!     with the face,  c_f = m_f at the interface and less below it, 0 from DEPTH on
//! ```
//!
//! τS is symmetric in kinetic energy, Σ m u², with eigenvalues from 0 to 1, and the projection is
//! orthogonal in it. So the force of surface tension moves the interface with a symmetric and
//! positive mobility, as without S: waves neither grow nor decay, and their momentum is conserved.
//! (Filtering the force instead, or the curvature, has no such symmetry: drops of 120° did not come
//! to rest.) Where a flow is steady or at rest nothing changes, since u = uⁿ. A wave of wave number
//! k per cell is slowed by the order of τk³, and a checkerboard of the interface by a factor of
//! three at τ = 1.
//!
//! τ grows with the step from 0 at that of explicit surface tension, so that fast flows, whose
//! steps are shorter, have none. It is 1 at twice that step; 2.2 times are stable, 2.5 are not.

use rayon::prelude::*;

use crate::faces::{IN_SOLID, WET};
use crate::projection::{PressureProblem, WallVelocity};
use crate::tiles::{CellIndex, Field};

/// Depth below the interface from which faces are not coupled, in cells.
const DEPTH: f64 = 2.0;
/// Growth of τ with 1 − (explicit step)/(step); it is 1 at twice the explicit step.
const GROWTH: f64 = 2.0;

/// A face that shares changes with its neighbors; all zero for others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SharingFace {
    /// m, in cells.
    mass: f32,
    /// c.
    coupling: f32,
}

/// Memory of the stage.
pub struct SharingMemory<'a> {
    /// The faces of a component.
    pub faces: &'a mut Field<SharingFace>,
    /// Their changes.
    pub change: &'a mut Field<f64>,
    /// The same after one application of 1 − τS.
    pub shared: &'a mut Field<f64>,
}

/// τ for a step of `dt` (in s), with `explicit` the step of explicit surface tension.
pub fn strength(dt: f64, explicit: f64) -> f64 {
    (GROWTH * (1.0 - explicit / dt)).clamp(0.0, 1.0)
}

/// Gives the change of the velocity since `problem.before` the inertia of short waves; the result
/// is not yet free of divergence. What this adds to each face is written to `added`.
pub fn add_short_wave_inertia(
    problem: &PressureProblem<'_>,
    strength: f64,
    wall_velocity: &impl WallVelocity,
    velocity: &mut [Field<f64>; 3],
    added: &mut [Field<f64>; 3],
    memory: SharingMemory<'_>,
) {
    let SharingMemory { faces, change, shared } = memory;
    let tiles = problem.tiles;
    faces.resize(tiles);
    for (axis, (component, added)) in velocity.iter_mut().zip(added).enumerate().take(tiles.dims()) {
        find_faces(problem, axis, wall_velocity, component, faces, change);
        let sharing = Sharing { problem, axis, strength, faces };
        shared.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            sharing.each_face(slot, |index, local| out[local] = sharing.share(change, index));
        });
        component.par_tiles_mut().zip(added.par_tiles_mut()).enumerate().for_each(|(slot, (out, added))| {
            added.fill(0.0);
            sharing.each_face(slot, |index, local| {
                added[local] = sharing.share(shared, index) - change.values()[index];
                out[local] += added[local];
            });
        });
    }
}

/// Finds the faces of a component that share changes, and writes their changes.
fn find_faces(
    problem: &PressureProblem<'_>,
    axis: usize,
    wall_velocity: &impl WallVelocity,
    velocity: &Field<f64>,
    faces: &mut Field<SharingFace>,
    change: &mut Field<f64>,
) {
    let PressureProblem { tiles, solids, phi, .. } = problem;
    (faces.par_tiles_mut(), change.par_tiles_mut()).into_par_iter().enumerate().for_each(|(slot, (faces, change))| {
        faces.fill(SharingFace::default());
        let (flags, values) = (problem.flags[axis].tile(slot), phi.tile(slot));
        let (now, before) = (velocity.tile(slot), problem.before[axis].tile(slot));
        for local in 0..tiles.cells_in_use() {
            if flags[local] & (WET | IN_SOLID) != WET || values[local] < -DEPTH - 1.0 {
                continue;
            }
            let high = CellIndex::new(slot, local);
            let Some(low) = tiles.next(high, axis, -1) else { continue };
            let (a, b) = (phi.values()[low], phi.values()[high]);
            let near = (DEPTH + 0.5 * (a + b)).clamp(0.0, 1.0);
            if near == 0.0 || problem.prescribed_velocity(axis, [low, high], wall_velocity).is_some() {
                continue;
            }
            let liquid = match (a < 0.0, b < 0.0) {
                (true, false) => problem.share(low, high),
                (false, true) => problem.share(high, low),
                _ => 1.0,
            };
            let mass = liquid * solids.open[axis].values()[high];
            faces[local] = SharingFace { mass: mass as f32, coupling: (near * mass) as f32 };
            change[local] = now[local] - before[local];
        }
    });
}

/// One application of 1 − τS.
struct Sharing<'a> {
    problem: &'a PressureProblem<'a>,
    axis: usize,
    strength: f64,
    faces: &'a Field<SharingFace>,
}

impl Sharing<'_> {
    /// Calls `work` with the faces of a tile that share changes.
    fn each_face(&self, slot: usize, mut work: impl FnMut(CellIndex, usize)) {
        for (local, face) in self.faces.tile(slot).iter().enumerate() {
            if face.mass > 0.0 {
                work(CellIndex::new(slot, local), local);
            }
        }
    }

    /// The change that a face gets.
    fn share(&self, change: &Field<f64>, index: CellIndex) -> f64 {
        let tiles = self.problem.tiles;
        let (own, here) = (self.faces.values()[index], change.values()[index]);
        let mut sum = 0.0;
        for direction in 0..2 * tiles.dims() {
            let (along, step) = (direction / 2, if direction % 2 == 0 { -1 } else { 1 });
            let Some(next) = tiles.next(index, along, step) else { continue };
            let other = self.faces.values()[next];
            if other.mass > 0.0 {
                sum += f64::from(own.coupling.min(other.coupling)) * (here - change.values()[next]);
            } else if along == self.axis && self.problem.lies_in_mirror(self.axis, index, next) {
                sum += f64::from(own.coupling) * here;
            }
        }
        here - self.strength * sum / (4.0 * tiles.dims() as f64 * f64::from(own.mass))
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::faces::{FaceFlags, classify_faces};
    use crate::line_state::LineState;
    use crate::parameters::NumericalParameters;
    use crate::testing::{Random, free_space, sampled, uniform};

    /// In a ball whose velocity changes at random: sharing keeps the momentum, and takes kinetic
    /// energy from the changes.
    #[test]
    fn sharing_keeps_the_momentum_and_adds_no_energy() {
        let (tiles, solids) = free_space();
        let phi = &sampled(&tiles, |at| (at - DVec3::new(0.31, 0.17, -0.43)).length() - 8.0);
        let mut flags: FaceFlags = std::array::from_fn(|_| uniform(&tiles, 0));
        classify_faces(&tiles, &solids, phi, &mut flags);
        let before: [Field<f64>; 3] = std::array::from_fn(|_| uniform(&tiles, 0.0));
        let problem = PressureProblem {
            tiles: &tiles,
            solids: &solids,
            flags: &flags,
            phi,
            kappa: &before[0],
            line: &uniform(&tiles, LineState::Free),
            tension: 0.3,
            second_order: true,
            lifts: true,
            dt_over_h: 1.0,
            numerics: &NumericalParameters::default(),
            method: crate::poisson::Method::Auto,
            before: &before,
        };
        let mut random = Random::new(4);
        let mut velocity = before.clone();
        for component in &mut velocity {
            component.values_mut().iter_mut().for_each(|u| *u = random.uniform() - 0.5);
        }
        let (first, mut added) = (velocity.clone(), before.clone());
        let mut faces = uniform(&tiles, SharingFace::default());
        let [mut change, mut shared] = [0, 1].map(|_| uniform(&tiles, 0.0));
        let memory = SharingMemory { faces: &mut faces, change: &mut change, shared: &mut shared };
        add_short_wave_inertia(&problem, 1.0, &|_, _, _| 0.0, &mut velocity, &mut added, memory);
        // The faces of the last component are still there.
        let (mut momentum, mut energy, mut gone) = ([0.0; 2], [0.0; 2], 0.0);
        for index in tiles.indices() {
            let mass = f64::from(faces.values()[index].mass);
            for (at, field) in [&first, &velocity].into_iter().enumerate() {
                let u = field[2].values()[index];
                momentum[at] += mass * u;
                energy[at] += mass * u * u;
            }
            let sum = first[2].values()[index] + added[2].values()[index] - velocity[2].values()[index];
            gone = f64::max(gone, sum.abs());
        }
        println!("momentum {momentum:.3?}, energy {energy:.3?}");
        // Masses and couplings are in single precision.
        assert!((momentum[1] - momentum[0]).abs() < 1e-4 && gone < 1e-15, "momentum {momentum:?}");
        assert!(energy[1] < 0.5 * energy[0], "energy {energy:?}");
    }
}
