//! The liquid on the grid.

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::drops::Drops;
use crate::free_motion::FreeDrop;
use crate::grid::{CENTER, Grid, linear};
use crate::line_state::LineState;
use crate::mirrors::Mirrors;
use crate::particles::Particles;
use crate::redistance::PHI_MAX;
use crate::solids::{DomainSide, Solids};
use crate::tiles::{CellIndex, Field, Tiles, Topology};

/// Fields on the active tiles and what goes with them: all that a step changes.
#[derive(Debug)]
pub struct State {
    /// Active tiles, cell size and origin.
    pub grid: Grid,
    /// Walls and symmetry planes of the domain.
    pub sides: Vec<DomainSide>,
    /// The solids, sampled on the grid.
    pub solids: Solids,
    /// Signed distance φ to the liquid–air interface, negative in the liquid, in cells.
    pub phi: Field<f64>,
    /// Velocity components at low faces, in m/s.
    pub velocity: [Field<f64>; 3],
    /// q/Δt of the last pressure solve, p/(ρh), in m/s².
    pub pressure: Field<f64>,
    /// What the contact line may do at each cell.
    pub line: Field<LineState>,
    /// Marker particles where the interface is fast.
    pub particles: Particles,
    /// Labels and volumes of the drops.
    pub drops: Drops,
    /// Mean velocities of drops that touch nothing, by ascending id.
    pub free_drops: Vec<FreeDrop>,
    /// Steps taken; they seed the particles' random positions.
    pub num_steps: u64,
    /// Progress since the last reinitialization of φ.
    pub since_redistance: SinceRedistance,
}

/// What has happened since φ was last reinitialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SinceRedistance {
    /// Steps of explicit surface tension.
    pub steps: u32,
    /// Largest distance that the interface can have traveled, in cells.
    pub travel: f64,
}

impl State {
    /// An empty grid with cells of side `h` (in m).
    pub fn new(h: f64, origin: DVec3, topology: Topology, sides: Vec<DomainSide>) -> Self {
        Self {
            grid: Grid { tiles: Tiles::new(topology), h, origin },
            solids: Solids { mirrors: Mirrors::new(&sides, origin, h), ..Solids::default() },
            sides,
            phi: Field::new(PHI_MAX),
            velocity: std::array::from_fn(|_| Field::new(0.0)),
            pressure: Field::new(0.0),
            line: Field::new(LineState::Free),
            particles: Particles::default(),
            drops: Drops::default(),
            free_drops: Vec::new(),
            num_steps: 0,
            since_redistance: SinceRedistance::default(),
        }
    }

    /// Largest |u| + |v| + |w| in the liquid and within two cells of it, in m/s.
    pub fn max_speed(&self) -> f64 {
        let tiles = &self.grid.tiles;
        let per_tile = (0..tiles.len()).into_par_iter().map(|slot| {
            let phi = self.phi.tile(slot);
            let [u, v, w] = [0, 1, 2].map(|axis| self.velocity[axis].tile(slot));
            let mut max: f64 = 0.0;
            for local in 0..tiles.cells_in_use() {
                if phi[local] < 2.0 {
                    max = max.max(u[local].abs() + v[local].abs() + w[local].abs());
                }
            }
            max
        });
        per_tile.reduce(|| 0.0, f64::max)
    }

    /// Velocity at a cell's center, in m/s.
    pub fn velocity_at_center(&self, index: CellIndex) -> DVec3 {
        velocity_at_center(&self.grid.tiles, &self.velocity, index)
    }

    /// Forgets what was known of the liquid before φ was changed other than by advection: removes
    /// particles on the wrong side of the interface, which would restore what was removed, and the
    /// mean velocities of free drops.
    pub fn forget_previous_liquid(&mut self) {
        let Self { grid, phi, particles, free_drops, .. } = self;
        free_drops.clear();
        let tiles = &grid.tiles;
        particles.retain(tiles.len(), |slot, at, sign| sign * linear(tiles, phi, slot, at, CENTER) > 0.0);
    }
}

/// A velocity field at a cell's center, in m/s.
pub fn velocity_at_center(tiles: &Tiles, velocity: &[Field<f64>; 3], index: CellIndex) -> DVec3 {
    let mut out = DVec3::ZERO;
    for (axis, component) in velocity.iter().enumerate().take(tiles.dims()) {
        let component = component.values();
        let high = tiles.next(index, axis, 1).map_or(component[index], |high| component[high]);
        out[axis] = 0.5 * (component[index] + high);
    }
    out
}
