//! Curvature at the contact line by the virtual surface method (wang2005, §5).
//!
//! It replaces the curvature of the air cells next to liquid whose center lies within a cell of a
//! wall. The angle of the virtual surface is chosen there:
//!
//! - [`ContactAngleRule::Measured`]: the angle that the interface makes with the wall, between
//!   receding and advancing, as for the extension of φ; pinned lines are closed.
//! - [`ContactAngleRule::Paper`] (wang2005, §6): advancing or receding by the speed of the contact
//!   line. Below a threshold both are tried, and
//!
//! ```text
//! κ = 0 if κ_r κ_a < 0,     κ_a if κ_a < 0,     κ_r if κ_r > 0
//!     (eq. 10, κ the part in the line's normal plane)
//! ```
//!
//! The latter neither pins a line nor holds it against a load; it serves to reproduce the paper's
//! figures. The bound on the receding line force bounds κ_r from above.

use rayon::prelude::*;

use crate::contact_angle::{AngleLaw, AngleRange, measured_cosine};
use crate::extrapolation::sample as velocity_at;
use crate::grid::{CENTER, Grid, cubic, gradient, local_center};
use crate::solids::Solids;
use crate::tiles::{CellIndex, Field};
use crate::virtual_surface::{self, Curvature, Variant, axes};

/// Air cells farther than this from the interface are not next to liquid, in cells.
const ADJACENT: f64 = 1.5;
/// Largest curvature, per cell.
const MAX_CURVATURE: f64 = 2.0;

/// How the contact angle at a line is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactAngleRule {
    /// By the measured angle.
    Measured,
    /// By the speed of the line; below a threshold by eq. 10.
    Paper {
        /// Speed below which the line counts as static, in m/s.
        static_speed: f64,
    },
}

/// Writes κ (per cell) of the air cells at contact lines.
pub fn apply_at_contact_line(
    grid: &Grid,
    solids: &Solids,
    phi: &Field<f64>,
    velocity: &[Field<f64>; 3],
    law: &impl AngleLaw,
    rule: ContactAngleRule,
    kappa: &mut Field<f64>,
) {
    let tiles = &grid.tiles;
    kappa.par_tiles_mut().enumerate().filter(|(slot, _)| solids.near[*slot]).for_each(|(slot, kappa)| {
        for local in 0..tiles.cells_in_use() {
            let index = CellIndex::new(slot, local);
            let (here, s) = (phi.values()[index], solids.wall_distance().values()[index]);
            if !(0.0..ADJACENT).contains(&here) || !(0.0..1.0).contains(&s) {
                continue;
            }
            let liquid = |axis, step| tiles.next(index, axis, step).is_some_and(|next| phi.values()[next] < 0.0);
            if !(0..tiles.dims()).any(|axis| liquid(axis, -1) || liquid(axis, 1)) {
                continue;
            }
            let normal = solids.normal(tiles, index);
            let Some(frame) = axes(gradient(tiles, phi, index), normal) else { continue };
            let at = local_center(local);
            let nodes = virtual_surface::sample(at, frame, 1.0, |place| cubic(tiles, phi, slot, place, CENTER));
            let wall = &solids.wall.values()[index];
            let mut range = law.range(wall);
            if law.is_wet(wall, grid.position(slot, at + frame[0])) {
                range.advancing = range.advancing.min(wall.wet_advancing);
            }
            let total = match rule {
                ContactAngleRule::Measured => {
                    let measured = measured_cosine(tiles, phi, slot, at, s, normal);
                    let cosine = measured.map_or(range.middle(), |measured| range.choose(measured).0);
                    virtual_surface::curvature(&nodes, 1.0, cosine.acos(), Variant::Complete).total
                }
                ContactAngleRule::Paper { static_speed } => {
                    let speed = velocity_at(tiles, velocity, slot, at).dot(frame[0]);
                    paper_curvature(&nodes, &range, speed, static_speed)
                }
            };
            kappa[local] = total.clamp(-MAX_CURVATURE, MAX_CURVATURE);
        }
    });
}

/// κ by the speed of the contact line (wang2005, §6).
fn paper_curvature(nodes: &[f64; virtual_surface::NODES], range: &AngleRange, speed: f64, static_speed: f64) -> f64 {
    let at = |angle: f64| virtual_surface::curvature(nodes, 1.0, angle, Variant::Paper);
    let receding = || {
        let Curvature { total, normal_plane } = at(range.receding);
        total - (normal_plane - range.receding_pull).max(0.0)
    };
    if speed > static_speed {
        at(range.advancing).total
    } else if speed < -static_speed {
        receding()
    } else {
        let (advancing, back) = (at(range.advancing), at(range.receding));
        if back.normal_plane * advancing.normal_plane < 0.0 {
            // The curvature along the line remains.
            back.total - back.normal_plane
        } else if advancing.normal_plane < 0.0 {
            advancing.total
        } else {
            receding()
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::contact_angle::{CONVERGENCE_PASSES, extend_into_solids};
    use crate::line_state::LineState;
    use crate::testing::{Advancing, cap_on_plane, fixed_angle};

    /// A cap at its wall's angle has nearly the curvature of its sphere at the line; at 20° less it
    /// would spread, at 20° more recede.
    #[test]
    fn curvature_drives_the_contact_line_to_the_walls_angle() {
        for (cap, sign) in [(70.0, -1.0), (90.0, 0.0), (110.0, 1.0)] {
            let mut case = cap_on_plane(f64::to_radians(90.0), 12.0, DVec3::Y, DVec3::ZERO);
            let tiles = &case.grid.tiles;
            let (mut line, mut scratch, mut kappa) = (Field::new(LineState::Free), Field::new(0.0), Field::new(0.0));
            line.resize(tiles);
            scratch.resize(tiles);
            kappa.resize(tiles);
            for _ in 0..CONVERGENCE_PASSES {
                extend_into_solids(&case.grid, &case.solids, &Advancing, &mut case.phi, &mut line, &mut scratch);
            }
            struct Fixed(f64);
            impl AngleLaw for Fixed {
                fn range(&self, _wall: &crate::solids::Wall) -> AngleRange {
                    fixed_angle(self.0)
                }
            }
            let mut velocity: [Field<f64>; 3] = std::array::from_fn(|_| Field::new(0.0));
            velocity.iter_mut().for_each(|field| field.resize(tiles));
            kappa.values_mut().fill(f64::NAN);
            let law = Fixed(f64::to_radians(cap));
            apply_at_contact_line(
                &case.grid,
                &case.solids,
                &case.phi,
                &velocity,
                &law,
                ContactAngleRule::Measured,
                &mut kappa,
            );
            let found: Vec<f64> = kappa.values().iter().copied().filter(|kappa| kappa.is_finite()).collect();
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let excess = mean - 2.0 / case.ball_radius;
            // (θ_s − θ_c)/h is 0.35 for 20°.
            assert!(
                found.len() > 50 && (excess - 0.35 * sign).abs() < 0.1,
                "{cap}°: {excess:+.3} over {}",
                found.len()
            );
        }
    }
}
