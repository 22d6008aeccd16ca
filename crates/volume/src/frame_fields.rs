//! The fields that the surface extraction of a frame samples.

use glam::DVec3;
use sessile_geometry::Closest;
use sessile_world::World;

use crate::extrapolation::sample;
use crate::grid::{CENTER, cubic_gradient};
use crate::state::State;
use crate::surface_extraction::{ExtractionFields, NearestWall};
use crate::tiles::CellIndex;

/// The liquid and the solids at one instant.
pub struct FrameFields<'a> {
    /// The liquid.
    pub state: &'a State,
    /// The solids.
    pub world: &'a World,
}

impl ExtractionFields for FrameFields<'_> {
    fn phi(&self, cell: CellIndex) -> f64 {
        self.state.phi.values()[cell]
    }

    fn solid(&self, cell: CellIndex) -> f64 {
        self.state.solids.distance.values()[cell]
    }

    fn label(&self, cell: CellIndex) -> u32 {
        self.state.drops.labels.values()[cell].id().unwrap_or(0)
    }

    fn phi_at(&self, point: DVec3) -> (f64, DVec3) {
        let State { grid, phi, .. } = self.state;
        match grid.locate(point) {
            Some((slot, at)) => {
                let (value, slope) = cubic_gradient(&grid.tiles, phi, slot, at, CENTER);
                (value * grid.h, slope)
            }
            None => (phi.fill() * grid.h, DVec3::ZERO),
        }
    }

    fn wall_at(&self, point: DVec3) -> Option<NearestWall> {
        let mut nearest = self.world.closest(point).map(|(solid, closest)| NearestWall {
            surface: solid as u32,
            solid: solid as i32,
            closest,
        });
        for (number, side) in self.state.sides.iter().enumerate() {
            let distance = side.normal.dot(point) - side.offset;
            if nearest.as_ref().is_none_or(|wall| distance < wall.closest.distance) {
                nearest = Some(NearestWall {
                    surface: (self.world.solids().len() + number) as u32,
                    solid: -1,
                    closest: Closest {
                        point: point - side.normal * distance,
                        normal: side.normal,
                        distance,
                        uv: glam::DVec2::ZERO,
                    },
                });
            }
        }
        nearest
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
        let State { grid, velocity, .. } = self.state;
        grid.locate(point).map_or(DVec3::ZERO, |(slot, at)| sample(&grid.tiles, velocity, slot, at))
    }
}
