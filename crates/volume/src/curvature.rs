//! Curvature of the interface.
//!
//! ```text
//! κ = ∇·(∇φ/|∇φ|) = (|∇φ|² ∇²φ − ∇φᵀ H ∇φ) / |∇φ|³          (wang2005, eq. 9), H the Hessian of φ
//! ```
//!
//! by central differences on 3 × 3 × 3 cells, second order. That is the curvature of the level set
//! of φ through the cell's center. Level sets are parallel surfaces, so with the Gaussian curvature
//! K = ∇φᵀ adj(H) ∇φ / |∇φ|⁴ the interface, at the distance φ, has
//!
//! ```text
//! κ₀ = (κ − 2Kφ) / (1 − κφ + Kφ²)
//!     (k → k/(1 − kφ) for both principal curvatures k)
//! ```
//!
//! at the point nearest to the cell; between two cells on either side of the interface κ₀ is
//! interpolated. A sphere of radius R has +2/R. Interpolating κ itself errs by up to (h/R)²/4,
//! depending on where the interface lies between the two cells: a free drop would be pulled towards
//! a symmetric position on the grid. Beyond half a radius of curvature from the interface φ is
//! limited to that half. |κ| ≤ 2 per cell: sharper is not resolved.
//!
//! **At a wall** (s < [`LIFT`]) stencils reach deep into the solid, and where the interface lies
//! flat on the wall the error of the extension counts double. There κ is sampled at the point moved
//! up along the interface to s = [`LIFT`]. Where the interface is steep it is not: the lowest layer
//! of cells would depend on the one above but not conversely, and a force without an energy drives
//! ripples of three cells along the line (at 120°, 20 cells across: growth by e in 3 ms, against
//! viscosity).
//!
//! The time-step limit of surface tension stands with the term, in
//! [`projection`](crate::projection).

use glam::DVec3;
use rayon::prelude::*;

use crate::contact_angle::AngleLaw;
use crate::contact_curvature::{Lines, apply_at_contact_line};
use crate::fluid::StepContext;
use crate::grid::{CENTER, linear};
use crate::parameters::Parameters;
use crate::scratch::Scratch;
use crate::solids::{SOLID_BAND, Solids};
use crate::state::State;
use crate::tiles::{CellIndex, Field, SIDE, Tiles, local_cell};

/// Cells within this distance of the interface get a curvature.
const CURVATURE_BAND: f64 = 2.5;
/// Least height above a wall at which κ is sampled, in cells.
pub const LIFT: f64 = 0.5;
/// |cos θ| above which κ is sampled higher up, and above which by all of [`LIFT`].
const LIFT_RANGE: [f64; 2] = [0.6, 0.8];
/// Largest curvature, per cell.
const MAX_CURVATURE: f64 = 2.0;

/// Fraction of a radius of curvature to which a cell's distance from the interface is limited.
const MAX_RELATIVE_DISTANCE: f64 = 0.5;

/// Which surface's curvature a cell gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CurvatureOf {
    /// That of the level set of φ through its center, as in the paper.
    LevelSet,
    /// That of the interface at the nearest point, κ₀.
    Interface,
}

/// Computes the curvature near the interface, and at contact lines by the virtual surface if that
/// is chosen.
pub fn compute_curvature<L: AngleLaw>(
    state: &State,
    scratch: &mut Scratch,
    params: &Parameters,
    step: &StepContext<'_, L>,
) {
    let State { grid, solids, phi, line, .. } = state;
    let kappa = &mut scratch.kappa;
    // The virtual surface gives curvatures of level sets, too.
    let of = if params.virtual_surface.is_some() { CurvatureOf::LevelSet } else { CurvatureOf::Interface };
    curvature(&grid.tiles, solids, phi, of, kappa);
    if let Some(rule) = params.virtual_surface {
        apply_at_contact_line(grid, solids, &Lines { phi, line }, step.angles, rule, kappa);
    }
}

/// κ of the cells near the interface, in 1/cells.
pub fn curvature(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, of: CurvatureOf, kappa: &mut Field<f64>) {
    kappa.par_tiles_mut().enumerate().for_each(|(slot, out)| {
        let values = phi.tile(slot);
        let cells = tiles.cells_in_use();
        out.fill(0.0);
        if !values[..cells].iter().any(|f| f.abs() < CURVATURE_BAND) {
            return;
        }
        let mut block = [0.0; 1000];
        phi.gather::<1>(tiles, slot, &mut block);
        let near = solids.near[slot];
        for local in 0..cells {
            if values[local].abs() < CURVATURE_BAND
                && !(near && solids.distance.values()[CellIndex::new(slot, local)] < -2.5)
            {
                out[local] = stencil(&block, local, of);
            }
        }
    });
}

/// κ from the 27 values around a cell of a block with one cell of padding.
#[inline]
fn stencil(block: &[f64; 1000], local: usize, of: CurvatureOf) -> f64 {
    const N: usize = SIDE + 2;
    let [i, j, k] = local_cell(local);
    let c = ((k + 1) * N + j + 1) * N + i + 1;
    let (x, y, z) = (1, N, N * N);
    let f = |at: usize| block[at];
    let fx = 0.5 * (f(c + x) - f(c - x));
    let fy = 0.5 * (f(c + y) - f(c - y));
    let fz = 0.5 * (f(c + z) - f(c - z));
    let two = 2.0 * f(c);
    let fxx = f(c + x) + f(c - x) - two;
    let fyy = f(c + y) + f(c - y) - two;
    let fzz = f(c + z) + f(c - z) - two;
    let fxy = 0.25 * (f(c + x + y) - f(c + x - y) - f(c - x + y) + f(c - x - y));
    let fxz = 0.25 * (f(c + x + z) - f(c + x - z) - f(c - x + z) + f(c - x - z));
    let fyz = 0.25 * (f(c + y + z) - f(c + y - z) - f(c - y + z) + f(c - y - z));
    let (xx, yy, zz) = (fx * fx, fy * fy, fz * fz);
    let steep = xx + yy + zz;
    if steep < 1e-6 {
        return 0.0;
    }
    let bend =
        xx * (fyy + fzz) + yy * (fxx + fzz) + zz * (fxx + fyy) - 2.0 * (fx * fy * fxy + fx * fz * fxz + fy * fz * fyz);
    let kappa = (bend / (steep * steep.sqrt())).clamp(-MAX_CURVATURE, MAX_CURVATURE);
    if of == CurvatureOf::LevelSet {
        return kappa;
    }
    let gauss = (xx * (fyy * fzz - fyz * fyz)
        + yy * (fxx * fzz - fxz * fxz)
        + zz * (fxx * fyy - fxy * fxy)
        + 2.0
            * (fx * fy * (fxz * fyz - fxy * fzz)
                + fy * fz * (fxy * fxz - fyz * fxx)
                + fx * fz * (fxy * fyz - fxz * fyy)))
        / (steep * steep);
    at_interface(kappa, gauss, f(c)).clamp(-MAX_CURVATURE, MAX_CURVATURE)
}

/// Curvature of the interface from κ and K of the parallel surface at the distance `phi`.
#[inline]
fn at_interface(kappa: f64, gauss: f64, phi: f64) -> f64 {
    // The root of the sum of squares of the principal curvatures, which neither exceeds.
    let sharpest = (kappa * kappa - 2.0 * gauss).max(0.0).sqrt();
    let phi =
        if sharpest * phi.abs() > MAX_RELATIVE_DISTANCE { MAX_RELATIVE_DISTANCE.copysign(phi) / sharpest } else { phi };
    (kappa - 2.0 * gauss * phi) / (1.0 - kappa * phi + gauss * phi * phi)
}

/// κ where the line between two neighboring cells crosses the interface, at the fraction `share`
/// from `liquid` to `air`.
#[inline]
pub fn at_crossing(
    tiles: &Tiles,
    solids: &Solids,
    phi: &Field<f64>,
    kappa: &Field<f64>,
    [liquid, air]: [CellIndex; 2],
    share: f64,
) -> f64 {
    let mix = |field: &Field<f64>| {
        let values = field.values();
        values[liquid] + (values[air] - values[liquid]) * share
    };
    let s = mix(&solids.distance);
    if s >= LIFT || s <= -SOLID_BAND {
        return mix(kappa);
    }
    // Along the interface, away from the wall.
    let normal = solids.normal(tiles, liquid);
    let out =
        crate::grid::gradient(tiles, phi, liquid) * (1.0 - share) + crate::grid::gradient(tiles, phi, air) * share;
    let out = out.normalize_or_zero();
    let cosine = normal.dot(out);
    let along = normal - out * cosine;
    let rise = along.length_squared();
    let lift = LIFT * ((cosine.abs() - LIFT_RANGE[0]) / (LIFT_RANGE[1] - LIFT_RANGE[0])).clamp(0.0, 1.0);
    if rise < 0.05 || s >= lift {
        return mix(kappa);
    }
    let (slot, local) = (liquid.slot(), liquid.local());
    let from = crate::grid::local_center(local);
    let step = direction(liquid, air, tiles) * share;
    let lifted = from + step + (along * ((lift - s) / rise)).clamp_length_max(2.5);
    linear(tiles, kappa, slot, lifted, CENTER)
}

/// The unit step from a cell to its neighbor.
fn direction(from: CellIndex, to: CellIndex, tiles: &Tiles) -> DVec3 {
    const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];
    for (axis, unit) in AXES.into_iter().enumerate() {
        if tiles.next(from, axis, 1) == Some(to) {
            return unit;
        }
        if tiles.next(from, axis, -1) == Some(to) {
            return -unit;
        }
    }
    DVec3::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact_angle::{CONVERGENCE_PASSES, extend_into_solids};
    use crate::line_state::LineState;
    use crate::testing::{Advancing, Random, cap_on_plane};
    use crate::tiles::Topology;

    /// Caps from 40° to 140°, on planes of any orientation: κ at the interface is 2/R.
    #[test]
    fn curvature_of_caps_is_accurate_down_to_the_wall_of_any_plane() {
        let mut random = Random::new(3);
        let mut worst: f64 = 0.0;
        for degrees in [40.0f64, 60.0, 90.0, 120.0, 140.0] {
            for orientation in 0..4 {
                let normal = if orientation == 0 { DVec3::Y } else { random.direction() };
                let mut case = cap_on_plane(degrees.to_radians(), 10.0, normal, random.point());
                let radius = case.ball_radius;
                // Initial values inside the solid do not matter.
                for (phi, s) in case.phi.values_mut().iter_mut().zip(case.solids.distance.values()) {
                    if *s < 0.0 {
                        *phi += 0.3 * s;
                    }
                }
                let tiles = &case.grid.tiles;
                let (mut line, mut scratch, mut kappa) =
                    (Field::new(LineState::Free), Field::new(0.0), Field::new(0.0));
                line.resize(tiles);
                scratch.resize(tiles);
                kappa.resize(tiles);
                for _ in 0..CONVERGENCE_PASSES {
                    extend_into_solids(&case.grid, &case.solids, &Advancing, &mut case.phi, &mut line, &mut scratch);
                }
                curvature(tiles, &case.solids, &case.phi, CurvatureOf::Interface, &mut kappa);
                let (mut sum, mut count, mut most) = (0.0, 0, 0.0f64);
                for index in tiles.indices() {
                    for axis in 0..3 {
                        let Some(next) = tiles.next(index, axis, 1) else { continue };
                        let (a, b) = (case.phi.values()[index], case.phi.values()[next]);
                        let s = 0.5 * (case.solids.distance.values()[index] + case.solids.distance.values()[next]);
                        if (a < 0.0) == (b < 0.0) || s < 0.0 {
                            continue;
                        }
                        let (pair, share) =
                            if a < 0.0 { ([index, next], a / (a - b)) } else { ([next, index], b / (b - a)) };
                        let found = at_crossing(tiles, &case.solids, &case.phi, &kappa, pair, share);
                        let error = found * radius / 2.0 - 1.0;
                        sum += error * error;
                        count += 1;
                        most = most.max(error.abs());
                    }
                }
                let rms = (sum / f64::from(count)).sqrt();
                println!(
                    "{degrees:5.0}° n = {normal:.2}: rms {:.2} %, most {:.2} % of {count}",
                    100.0 * rms,
                    100.0 * most
                );
                worst = worst.max(rms);
            }
        }
        assert!(worst < 0.005, "rms error of κ up to {:.2} %", 100.0 * worst);
    }

    /// Wherever a sphere lies on the grid, its net capillary force vanishes: Σ σ κ over the faces
    /// that cross its interface, σ = ±1, is zero along each axis. With κ interpolated between level
    /// sets it is not.
    #[test]
    fn a_sphere_exerts_no_net_capillary_force_on_itself() {
        const RADIUS: f64 = 10.0;
        let mut tiles = Tiles::new(Topology::default());
        tiles.activate(&mut (0..64).map(|n| [n % 4 - 2, n / 4 % 4 - 2, n / 16 - 2]).collect());
        let mut solids = Solids::default();
        solids.distance.resize(&tiles);
        solids.near.resize(tiles.len(), false);
        let (mut phi, mut kappa) = (Field::new(0.0), Field::new(0.0));
        phi.resize(&tiles);
        kappa.resize(&tiles);
        let mut random = Random::new(5);
        let mut net_forces = [0.0_f64; 2];
        for _ in 0..6 {
            let middle = random.point();
            for index in tiles.indices() {
                let at = DVec3::from(tiles.cell(index).map(f64::from)) + 0.5 - middle;
                phi.values_mut()[index] = at.length() - RADIUS;
            }
            for (pull, of) in net_forces.iter_mut().zip([CurvatureOf::LevelSet, CurvatureOf::Interface]) {
                curvature(&tiles, &solids, &phi, of, &mut kappa);
                let mut sum = DVec3::ZERO;
                for low in tiles.indices() {
                    for axis in 0..3 {
                        let Some(high) = tiles.next(low, axis, 1) else { continue };
                        let (a, b) = (phi.values()[low], phi.values()[high]);
                        if (a < 0.0) != (b < 0.0) {
                            let (pair, share, side) = if a < 0.0 {
                                ([low, high], a / (a - b), 1.0)
                            } else {
                                ([high, low], b / (b - a), -1.0)
                            };
                            sum[axis] += side * at_crossing(&tiles, &solids, &phi, &kappa, pair, share);
                        }
                    }
                }
                // Relative to 2/R on the sphere's cross-section.
                *pull = pull.max(sum.length() / (2.0 * std::f64::consts::PI * RADIUS));
            }
        }
        let [levels, surface] = net_forces;
        println!("pull of {levels:.1e} by levels, of {surface:.1e} by the surface");
        assert!(surface < 2e-6 && levels > 1e-5, "{surface:.1e} of its pull is left, {levels:.1e} by levels");
    }
}
