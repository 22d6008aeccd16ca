//! Curvature at the contact line by the virtual surface method (wang2005, §5).
//!
//! It replaces the curvature of the air cells next to liquid whose center lies within a cell of a
//! wall. The angle of the virtual surface is chosen there:
//!
//! - [`ContactAngleRule::Measured`]: the angle that the interface makes with the wall, between
//!   receding and advancing, as for the extension of φ; pinned lines are closed.
//! - [`ContactAngleRule::Paper`] (wang2005, §6): advancing or receding by the speed of the contact
//!   line; a line that is slower than a threshold by
//!
//! ```text
//! P = 0 if P_r P_a < 0,     P_a if P_a < 0,     P_r if P_r > 0            (eq. 10)
//! ```
//!
//! with the pressures P_r and P_a of the two angles.
//!
//! **What eq. 10 leaves out.** Its zero is the pressure of the air, but a line bounds liquid of the
//! pressure P_c = γκ_c, with κ_c at the angle θ_c that it has. P = 0 lets that liquid out: lines
//! advance at any angle, a drop with 84° at 70°, and 5 µL on a vertical pane of 90°/60° slide. So
//! P_r and P_a are compared with P_c; since κ rises with θ that is to compare the angles. And no
//! pressure holds a line against a load that is not known, so in the first case the line is held by
//! the wall:
//!
//! ```text
//! θ_r ≤ θ_c ≤ θ_a    held: closed faces, φ moves with the wall (line_state); P = P_c
//! θ_c > θ_a          P = P_a
//! θ_c < θ_r          P = P_r
//! ```
//!
//! A held line stays so until its angle has left that range; one that moves is held once it is slow
//! or turns back ([`AngleRange::choose_by_speed`]). The bound on the receding line force bounds κ_r
//! − κ_c.

use rayon::prelude::*;
use sessile_numerics::math;

use crate::contact_angle::{AngleLaw, AngleRange, LOWEST_LAYER, is_wet_ahead, measured_cosine};
use crate::grid::{CENTER, Grid, cubic, gradient, linear, local_center};
use crate::line_state::LineState;
use crate::solids::Solids;
use crate::tiles::{CellIndex, Field};
use crate::virtual_surface::{self, NODES, Variant, axes};

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

/// The interface and what its contact line may do.
pub struct Lines<'a> {
    /// The level set.
    pub phi: &'a Field<f64>,
    /// What the line may do at each cell.
    pub line: &'a Field<LineState>,
}

/// Writes κ (per cell) of the air cells at contact lines; `kappa` holds that of φ.
pub fn apply_at_contact_line(
    grid: &Grid,
    solids: &Solids,
    lines: &Lines<'_>,
    law: &impl AngleLaw,
    rule: ContactAngleRule,
    kappa: &mut Field<f64>,
) {
    let (tiles, phi) = (&grid.tiles, lines.phi);
    kappa.par_tiles_mut().enumerate().filter(|(slot, _)| solids.near[*slot]).for_each(|(slot, kappa)| {
        for local in 0..tiles.cells_in_use() {
            let index = CellIndex::new(slot, local);
            let (here, s) = (phi.values()[index], solids.wall_distance().values()[index]);
            if !(0.0..ADJACENT).contains(&here) || s > LOWEST_LAYER || solids.is_in_wall(index) {
                continue;
            }
            let liquid = |axis, step| tiles.next(index, axis, step).is_some_and(|next| phi.values()[next] < 0.0);
            if !(0..tiles.dims()).any(|axis| liquid(axis, -1) || liquid(axis, 1)) {
                continue;
            }
            let normal = solids.normal(tiles, index);
            let Some(frame) = axes(gradient(tiles, phi, index), normal) else { continue };
            let at = local_center(local);
            let wall = &solids.wall.values()[index];
            let mut range = law.range(wall);
            if wall.wet_advancing < range.advancing && is_wet_ahead(grid, phi, law, wall, slot, [at, normal], s) {
                range.advancing = wall.wet_advancing;
            }
            let measured = measured_cosine(tiles, phi, slot, at, s, normal);
            let total = match rule {
                ContactAngleRule::Measured => {
                    let cosine = measured.map_or(range.middle(), |measured| range.choose(measured).0);
                    let nodes = virtual_surface::sample(at, frame, 1.0, |place| cubic(tiles, phi, slot, place, CENTER));
                    Some(virtual_surface::curvature(&nodes, 1.0, math::acos(cosine), Variant::Complete).total)
                }
                ContactAngleRule::Paper { .. } => {
                    let nodes =
                        virtual_surface::sample(at, frame, 1.0, |place| linear(tiles, phi, slot, place, CENTER));
                    paper_curvature(&nodes, &range, measured, lines.line.values()[index])
                }
            };
            if let Some(total) = total {
                kappa[local] = total.clamp(-MAX_CURVATURE, MAX_CURVATURE);
            }
        }
    });
}

/// κ where the line may do `state`; none where it is held, and the interface keeps its own.
fn paper_curvature(nodes: &[f64; NODES], range: &AngleRange, measured: Option<f64>, state: LineState) -> Option<f64> {
    let at = |angle: f64| virtual_surface::curvature(nodes, 1.0, angle, Variant::Paper);
    let state = match (state, measured) {
        (LineState::Free, Some(measured)) => range.choose(measured).1,
        _ => state,
    };
    match state {
        LineState::Pinned { .. } => None,
        LineState::Advancing | LineState::Free => Some(at(range.advancing).total),
        LineState::Receding => {
            let receding = at(range.receding);
            let own = measured.map_or(receding, |cosine| at(math::acos(cosine)));
            Some(receding.total - (receding.normal_plane - own.normal_plane - range.receding_pull).max(0.0))
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
            kappa.values_mut().fill(f64::NAN);
            let law = Fixed(f64::to_radians(cap));
            apply_at_contact_line(
                &case.grid,
                &case.solids,
                &Lines { phi: &case.phi, line: &line },
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
