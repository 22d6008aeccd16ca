//! The surface is carried along with the liquid: φ, the particles that mend it, the contact angle and the distance, in their order.
//!
//! Particles ([`particles`](crate::particles)) keep what is thin and fast and flies freely. Within `CLEAR` of a solid there are none: φ there is the contact angle's as much as the flow's, and
//! balls on one side of a film would hold against it (tried: a drop that hits a plate then keeps jets of less than a cell, and spreads by a fifth more).

use glam::DVec3;
use sessile_model::StageTimer;

use super::{Fluid, Outside, REDISTANCE_STEPS, REDISTANCE_TRAVEL};
use crate::extension::AngleLaw;
use crate::grid::{CENTER, linear};
use crate::solids::{Surround, Wall};
use crate::surface_motion::{Carrier, move_surface};

/// Steps between two sowings of particles.
const SOWN_EVERY: u64 = 10;
/// Distance from solids up to which there are no particles, in cells.
const CLEAR: f64 = 2.0;

impl Fluid {
    /// Moves the surface by `dt` seconds, as long as `short_steps` of explicit surface tension, with the velocity that there is.
    pub(super) fn carry_surface<L: AngleLaw>(
        &mut self,
        dt: f64,
        short_steps: u32,
        outside: &Outside<'_, L>,
        stages: &mut dyn StageTimer,
    ) {
        stages.enter("surface");
        let reach = dt / self.grid.h;
        let travel = self.fastest() * reach;
        let Self { grid, solids, phi, velocity, pinned, particles, sowing, num_steps, sides, scratch, .. } = self;
        let surround = Surround { world: outside.world, sides };
        let moving = surround.moves();
        let wall_at = |wall: &Wall, at: DVec3, slot: usize| {
            if moving { surround.velocity(wall, grid.position(slot, at)) } else { DVec3::ZERO }
        };
        let tiles = &grid.tiles;
        let centers = &mut scratch.centers;
        Carrier { tiles, solids, velocity, pinned, reach }.at_centers(phi, &wall_at, centers);
        if *num_steps % SOWN_EVERY == 0 {
            if travel > sowing.least_speed {
                let speed = |cell: usize| DVec3::from([0, 1, 2].map(|axis| centers[axis].values()[cell])).length();
                let is_clear = |cell: usize| solids.distance.values()[cell] > CLEAR;
                particles.reseed(tiles, phi, sowing, *num_steps, speed, is_clear);
            } else {
                particles.clear();
            }
        }
        *num_steps += 1;
        particles.advance(tiles, |slot, at| {
            DVec3::from([0, 1, 2].map(|axis| linear(tiles, &centers[axis], slot, at, CENTER)))
        });
        move_surface(tiles, centers, phi, &mut scratch.one, &mut scratch.two);
        self.mend();
        self.since_redistance.0 += short_steps;
        self.since_redistance.1 += travel;
        stages.enter("contact");
        self.extend(outside.angles);
        stages.enter("redistance");
        if self.since_redistance.0 >= REDISTANCE_STEPS || self.since_redistance.1 >= REDISTANCE_TRAVEL {
            self.redistance();
            self.mend();
            self.extend(outside.angles);
        }
        self.particles.fit(&self.grid.tiles, &self.phi);
    }

    /// Mends φ from the particles.
    fn mend(&mut self) {
        let Self { grid, solids, phi, particles, .. } = self;
        particles.mend(&grid.tiles, phi, |cell| solids.distance.values()[cell] > CLEAR);
    }

    /// Drops particles that are not on their side of the surface: after φ was changed by hand they would bring back what was taken away.
    pub fn forget_escaped(&mut self) {
        let Self { grid, phi, particles, .. } = self;
        let tiles = &grid.tiles;
        particles.retain(tiles.len(), |slot, at, sign| sign * linear(tiles, phi, slot, at, CENTER) > 0.0);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use sessile_model::NoTimer;

    use super::*;
    use crate::fractions::cell_share;
    use crate::testing::{Advancing, plane_world};
    use crate::tiles::{CELLS, Topology};

    /// A circle in a box of 64 cells, drawn out by a vortex to a filament thinner than a cell, and back: the share of its area that is left, and the share that is not where it was.
    fn drawn_out_and_back(most: u32) -> [f64; 2] {
        let world = plane_world(1.0, DVec3::Y, DVec3::new(0.0, -100.0, 0.0));
        let mut fluid = Fluid::new(1.0, DVec3::ZERO, Topology { planar: true, ..Topology::default() }, Vec::new());
        fluid.sowing.most = most;
        let all: Vec<[i32; 3]> = (0..64).map(|place| [place % 8, place / 8, 0]).collect();
        fluid.adapt(&world, &all);
        let cells = fluid.grid.tiles.cells_in_use();
        let indices: Vec<usize> = (0..64 * CELLS).filter(|index| index % CELLS < cells).collect();
        for &index in &indices {
            let away = fluid.grid.center(index) - DVec3::new(32.0, 48.0, 0.5);
            fluid.phi.values_mut()[index] = away.truncate().length() - 9.6;
        }
        fluid.redistance();
        let shares = |fluid: &Fluid| -> Vec<f64> {
            indices.iter().map(|&index| cell_share(&fluid.grid.tiles, &fluid.solids, &fluid.phi, index)).collect()
        };
        let before = shares(&fluid);
        let outside = Outside { world: &world, gravity: DVec3::ZERO, angles: &Advancing };
        let steps = 400;
        for step in 0..steps {
            let time = (f64::from(step) + 0.5) / f64::from(steps);
            for &index in &indices {
                let at = fluid.grid.center(index);
                let speed = 0.6 * (PI * time).cos();
                // On the low faces.
                let wave = |c: f64| (PI * c / 64.0).sin_cos();
                let ([(sx, _), (sy, cy)], [(tx, dx), (ty, _)]) =
                    ([wave(at.x - 0.5), wave(at.y)], [wave(at.x), wave(at.y - 0.5)]);
                fluid.velocity[0].values_mut()[index] = -speed * sx * sx * 2.0 * sy * cy;
                fluid.velocity[1].values_mut()[index] = speed * ty * ty * 2.0 * tx * dx;
            }
            fluid.carry_surface(1.0, 1, &outside, &mut NoTimer);
        }
        let after = shares(&fluid);
        let whole: f64 = before.iter().sum();
        let misplaced: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).sum();
        [after.iter().sum::<f64>() / whole, misplaced / whole]
    }

    #[test]
    fn particles_keep_a_filament_that_the_cells_alone_lose() {
        let ([left_alone, misplaced_alone], [left, misplaced]) = (drawn_out_and_back(0), drawn_out_and_back(32));
        println!("left {left_alone:.4}, misplaced {misplaced_alone:.4}; with particles {left:.4}, {misplaced:.4}");
        assert!(
            (left - 1.0).abs() < 0.5 * (left_alone - 1.0).abs() && misplaced < 0.7 * misplaced_alone,
            "left {left_alone:.4} without and {left:.4} with particles, misplaced {misplaced_alone:.4} and {misplaced:.4}"
        );
    }
}
