//! Flow through the faces of a contact line, which the pressure does not decide.
//!
//! At a pinned line it is the wall's. Where the center of one of the two cells lies in a solid, φ
//! there is an extension that follows the interface above it; so does the flow. (Left to the
//! pressure, 100 mm/s enter beside the line and leave by the next face permanently, since no
//! displacement of the interface opposes it. Closed, low angles on round solids are wrong by up to
//! 3 %.)
//!
//! Fast liquid is excepted, cell by cell: above `NumericalParameters::prescribed_speed_limit`, or
//! where what enters a cell along the interface could leave its other faces only at a higher speed,
//! the pressure acts on all faces of the cell. (With some of them prescribed, an opening of a few
//! percent passes on what the others bring, at any speed.)

use glam::DVec3;

use super::PressureProblem;
use crate::extrapolation::sample;
use crate::grid::local_center;
use crate::level_set_advection::LIFT;
use crate::solids::Wall;
use crate::tiles::CellIndex;

/// Component of a wall's velocity at a cell along an axis, in m/s.
pub trait WallVelocity: Fn(&Wall, CellIndex, usize) -> f64 + Sync {}

impl<F: Fn(&Wall, CellIndex, usize) -> f64 + Sync> WallVelocity for F {}

impl PressureProblem<'_> {
    /// The velocity across a face between liquid and air that the pressure does not change; none
    /// where it does.
    pub fn prescribed_velocity(
        &self,
        axis: usize,
        [low, high]: [CellIndex; 2],
        wall_velocity: &impl WallVelocity,
    ) -> Option<f64> {
        let phi = self.phi.values();
        if (phi[low] < 0.0) == (phi[high] < 0.0) {
            return None;
        }
        if self.is_pinned([low, high]) {
            return Some(wall_velocity(&self.solids.wall.values()[high], high, axis));
        }
        if !self.follows_interface([low, high]) {
            return None;
        }
        let liquid = if phi[low] < 0.0 { low } else { high };
        if !self.passes_slowly(liquid, wall_velocity) {
            return None;
        }
        let wall = self.wall_vector(high, wall_velocity);
        Some(wall[axis] + self.lifted_velocity(axis, [low, high], wall))
    }

    /// Whether the line is pinned at one of two cells.
    fn is_pinned(&self, cells: [CellIndex; 2]) -> bool {
        cells.into_iter().any(|cell| self.line.values()[cell].is_pinned())
    }

    /// Whether the flow between a liquid and an air cell follows the interface above the wall.
    fn follows_interface(&self, cells: [CellIndex; 2]) -> bool {
        cells.into_iter().any(|cell| self.solids.contains_center(cell))
    }

    /// Velocity of the wall at a cell, in m/s.
    fn wall_vector(&self, cell: CellIndex, wall_velocity: &impl WallVelocity) -> DVec3 {
        DVec3::from([0, 1, 2].map(|axis| wall_velocity(&self.solids.wall.values()[cell], cell, axis)))
    }

    /// Whether the flow along the interface is slow, and can pass through a liquid cell slowly.
    fn passes_slowly(&self, liquid: CellIndex, wall_velocity: &impl WallVelocity) -> bool {
        let (mut outflow, mut passage, mut fastest) = (0.0, 0.0, 0.0_f64);
        for direction in 0..2 * self.tiles.dims() {
            let (axis, up) = (direction / 2, direction % 2 == 1);
            let Some(next) = self.tiles.next(liquid, axis, if up { 1 } else { -1 }) else { continue };
            let cells = if up { [liquid, next] } else { [next, liquid] };
            let open = self.solids.open[axis].values()[cells[1]];
            let is_air = self.phi.values()[next] >= 0.0;
            if open <= 0.0 || (is_air && self.is_pinned(cells)) {
                continue;
            }
            if is_air && self.follows_interface(cells) {
                let wall = self.wall_vector(cells[1], wall_velocity);
                let speed = self.lifted_velocity(axis, cells, wall);
                outflow += open * if up { speed } else { -speed };
                fastest = fastest.max(speed.abs());
            } else {
                passage += open;
            }
        }
        let limit = self.numerics.prescribed_speed_limit / self.dt_over_h;
        fastest < limit && outflow.abs() <= limit * passage
    }

    /// Velocity across a face of the interface above the wall, as it moves φ, relative to the wall.
    fn lifted_velocity(&self, axis: usize, [low, high]: [CellIndex; 2], wall: DVec3) -> f64 {
        let s = self.solids.wall_distance().values();
        let mut at = local_center(high.local());
        at[axis] -= 0.5;
        let normal = (self.solids.normal(self.tiles, low) + self.solids.normal(self.tiles, high)).normalize_or_zero();
        let height = 0.5 * (s[low] + s[high]);
        let moving = sample(self.tiles, self.before, high.slot(), at + normal * (LIFT - height)) - wall;
        (moving - normal * moving.dot(normal) * (1.0 - height.max(0.0) / LIFT))[axis]
    }
}
