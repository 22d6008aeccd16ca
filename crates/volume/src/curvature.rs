//! Curvature of the free surface.
//!
//! ```text
//! κ = ∇·(∇φ/|∇φ|) = (|∇φ|² ∇²φ − ∇φᵀ H ∇φ) / |∇φ|³          (wang2005, eq. 9), H the matrix of second derivatives
//! ```
//!
//! by central differences on 3 × 3 × 3 cells, second order. That is the curvature of the level of φ through the cell's center. Levels are parallel surfaces, so with Gauss's
//! curvature K = ∇φᵀ adj(H) ∇φ / |∇φ|⁴ the surface itself, φ away, has
//!
//! ```text
//! κ₀ = (κ − 2Kφ) / (1 − κφ + Kφ²)                           (k → k/(1 − kφ) for both principal curvatures k)
//! ```
//!
//! at the point nearest to the cell; between two cells on either side of the surface κ₀ is interpolated. +2/R on a ball of radius R. Interpolating κ itself would be wrong by up to
//! (h/R)²/4 of it by where the surface lies between the two cells: a ball in the air would pull on itself, towards where it stands evenly on the cells. Within half a radius of curvature of
//! the surface κ₀ is what it is; further out φ counts as that half. |κ| ≤ 2 per cell: sharper is not resolved.
//!
//! **At a wall** (s < [`LIFT`]) stencils reach deep into the solid, and where the surface lies flat on the wall the error of the extension counts double. There κ is read at the
//! point moved up along the surface to s = [`LIFT`]. Where it stands steep it is not: the lowest layer of cells would feel the one above but not the other way round, and a force
//! that has no energy feeds ripples of three cells along the line (at 120°, 20 cells across: e-fold in 3 ms, against viscosity).

use glam::DVec3;
use rayon::prelude::*;

use crate::grid::{CENTER, linear};
use crate::solids::{REACH, Solids};
use crate::tiles::{CELLS, Field, SIDE, Tiles, local_cell};

/// Cells within this distance of the surface get a curvature.
const WITHIN: f64 = 2.5;
/// Least height above a wall at which κ is read, in cells.
pub const LIFT: f64 = 0.5;
/// |cos θ| from which κ is read higher up, and from which it is by all of [`LIFT`].
const LIFTED_FROM: [f64; 2] = [0.6, 0.8];
/// Largest curvature, per cell.
const MOST: f64 = 2.0;

/// Part of a radius of curvature up to which a cell's distance from the surface counts.
const NEAR: f64 = 0.5;

/// What κ of a cell is the curvature of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The level of φ through its center, as in the paper.
    Level,
    /// The surface at the point nearest to it: κ₀.
    Surface,
}

/// κ per cell near the surface, in 1/cells.
pub fn curvature(tiles: &Tiles, solids: &Solids, phi: &Field<f64>, of: Of, kappa: &mut Field<f64>) {
    kappa.par_tiles_mut().enumerate().for_each(|(slot, out)| {
        let values = phi.tile(slot);
        let cells = tiles.cells_in_use();
        out.fill(0.0);
        if !values[..cells].iter().any(|f| f.abs() < WITHIN) {
            return;
        }
        let mut block = [0.0; 1000];
        phi.gather::<1>(tiles, slot, &mut block);
        let near = solids.near[slot];
        for local in 0..cells {
            if values[local].abs() < WITHIN && !(near && solids.distance.values()[slot * CELLS + local] < -2.5) {
                out[local] = stencil(&block, local, of);
            }
        }
    });
}

/// κ from the 27 values around a cell of a block with one cell of padding.
#[inline]
fn stencil(block: &[f64; 1000], local: usize, of: Of) -> f64 {
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
    let kappa = (bend / (steep * steep.sqrt())).clamp(-MOST, MOST);
    if of == Of::Level {
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
    at_surface(kappa, gauss, f(c)).clamp(-MOST, MOST)
}

/// Curvature of the surface whose parallel surface at the distance `phi` has the curvature κ and Gauss's curvature K.
#[inline]
fn at_surface(kappa: f64, gauss: f64, phi: f64) -> f64 {
    // The sum of squares of the principal curvatures; neither is larger than its root.
    let sharpest = (kappa * kappa - 2.0 * gauss).max(0.0).sqrt();
    let phi = if sharpest * phi.abs() > NEAR { NEAR.copysign(phi) / sharpest } else { phi };
    (kappa - 2.0 * gauss * phi) / (1.0 - kappa * phi + gauss * phi * phi)
}

/// κ where the line between two neighboring cells meets the surface: `liquid` and `air` are the cells, `share` the way from the first.
#[inline]
pub fn at_crossing(
    tiles: &Tiles,
    solids: &Solids,
    phi: &Field<f64>,
    kappa: &Field<f64>,
    [liquid, air]: [usize; 2],
    share: f64,
) -> f64 {
    let mix = |field: &Field<f64>| {
        let values = field.values();
        values[liquid] + (values[air] - values[liquid]) * share
    };
    let s = mix(&solids.distance);
    if s >= LIFT || s <= -REACH {
        return mix(kappa);
    }
    // Along the surface, away from the wall.
    let normal = solids.normal(tiles, liquid);
    let out =
        crate::grid::gradient(tiles, phi, liquid) * (1.0 - share) + crate::grid::gradient(tiles, phi, air) * share;
    let out = out.normalize_or_zero();
    let cosine = normal.dot(out);
    let along = normal - out * cosine;
    let rise = along.length_squared();
    let lift = LIFT * ((cosine.abs() - LIFTED_FROM[0]) / (LIFTED_FROM[1] - LIFTED_FROM[0])).clamp(0.0, 1.0);
    if rise < 0.05 || s >= lift {
        return mix(kappa);
    }
    let (slot, local) = (liquid / CELLS, liquid % CELLS);
    let from = crate::grid::local_center(local);
    let step = direction(liquid, air, tiles) * share;
    let lifted = from + step + (along * ((lift - s) / rise)).clamp_length_max(2.5);
    linear(tiles, kappa, slot, lifted, CENTER)
}

/// The unit step from a cell to its neighbor.
fn direction(from: usize, to: usize, tiles: &Tiles) -> DVec3 {
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
    use crate::extension::{SETTLING_PASSES, extend};
    use crate::testing::{Advancing, Random, cap_on_plane};
    use crate::tiles::Topology;

    /// Caps from 40° to 140°, on planes of any orientation: κ at the surface is 2/R.
    #[test]
    fn curvature_of_caps_is_right_down_to_the_wall_of_any_plane() {
        let mut random = Random::new(3);
        let mut worst: f64 = 0.0;
        for degrees in [40.0f64, 60.0, 90.0, 120.0, 140.0] {
            for orientation in 0..4 {
                let normal = if orientation == 0 { DVec3::Y } else { random.direction() };
                let mut case = cap_on_plane(degrees.to_radians(), 10.0, normal, random.point());
                let radius = case.ball_radius;
                // What is inside the solid at first does not matter.
                for (phi, s) in case.phi.values_mut().iter_mut().zip(case.solids.distance.values()) {
                    if *s < 0.0 {
                        *phi += 0.3 * s;
                    }
                }
                let tiles = &case.grid.tiles;
                let (mut pinned, mut scratch, mut kappa) = (Field::new(false), Field::new(0.0), Field::new(0.0));
                pinned.resize(tiles);
                scratch.resize(tiles);
                kappa.resize(tiles);
                for _ in 0..SETTLING_PASSES {
                    extend(&case.grid, &case.solids, &Advancing, &mut case.phi, &mut pinned, &mut scratch);
                }
                curvature(tiles, &case.solids, &case.phi, Of::Surface, &mut kappa);
                let (mut sum, mut count, mut most) = (0.0, 0, 0.0f64);
                for index in 0..tiles.len() * CELLS {
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

    /// Wherever a ball lies in its cells, its surface pulls it nowhere: Σ σ κ over the faces through which it leaves the liquid, σ = ±1, vanishes along each axis. Interpolated between levels, κ
    /// would pull.
    #[test]
    fn a_ball_does_not_pull_on_itself() {
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
        let mut pulls = [0.0_f64; 2];
        for _ in 0..6 {
            let middle = random.point();
            for index in 0..tiles.len() * CELLS {
                let at = DVec3::from(tiles.cell(index).map(f64::from)) + 0.5 - middle;
                phi.values_mut()[index] = at.length() - RADIUS;
            }
            for (pull, of) in pulls.iter_mut().zip([Of::Level, Of::Surface]) {
                curvature(&tiles, &solids, &phi, of, &mut kappa);
                let mut sum = DVec3::ZERO;
                for low in 0..tiles.len() * CELLS {
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
                // Of 2/R on the ball's shadow.
                *pull = pull.max(sum.length() / (2.0 * std::f64::consts::PI * RADIUS));
            }
        }
        let [levels, surface] = pulls;
        println!("pull of {levels:.1e} by levels, of {surface:.1e} by the surface");
        assert!(surface < 2e-6 && levels > 1e-5, "{surface:.1e} of its pull is left, {levels:.1e} by levels");
    }
}
