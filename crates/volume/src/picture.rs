//! The fields as the skin of a frame asks for them.

use glam::DVec3;
use sessile_geometry::Closest;
use sessile_world::World;

use crate::drops::OF_SPECKS;
use crate::extrapolation::sample;
use crate::fluid::Fluid;
use crate::grid::{CENTER, cubic_gradient};
use crate::skin::{Liquid, Wall};
use crate::tiles::{CELLS, local_cell};

/// A moment of the liquid.
pub struct Picture<'a> {
    /// The liquid.
    pub fluid: &'a Fluid,
    /// The solids.
    pub world: &'a World,
}

impl Picture<'_> {
    /// The tile that holds a point, and the point in its coordinates.
    fn locate(&self, point: DVec3) -> Option<(usize, DVec3)> {
        let grid = &self.fluid.grid;
        let cell = grid.cell_at(point);
        let index = grid.tiles.find(cell)?;
        let beyond = (point - grid.origin) / grid.h - DVec3::from(cell.map(f64::from));
        let local = DVec3::from(local_cell(index % CELLS).map(|c| c as f64));
        let at = local + beyond;
        Some((index / CELLS, if grid.tiles.topology().planar { at.with_z(0.5) } else { at }))
    }
}

impl Liquid for Picture<'_> {
    fn phi(&self, cell: usize) -> f64 {
        self.fluid.phi.values()[cell]
    }

    fn solid(&self, cell: usize) -> f64 {
        self.fluid.solids.distance.values()[cell]
    }

    fn name(&self, cell: usize) -> u32 {
        let name = self.fluid.drops.names.values()[cell];
        if name == OF_SPECKS { 0 } else { name }
    }

    fn phi_at(&self, point: DVec3) -> (f64, DVec3) {
        let Fluid { grid, phi, .. } = self.fluid;
        match self.locate(point) {
            Some((slot, at)) => {
                let (value, slope) = cubic_gradient(&grid.tiles, phi, slot, at, CENTER);
                (value * grid.h, slope)
            }
            None => (phi.fill() * grid.h, DVec3::ZERO),
        }
    }

    fn wall_at(&self, point: DVec3) -> Option<Wall> {
        let mut nearest = self.world.closest(point).map(|(solid, closest)| Wall {
            surface: solid as u32,
            solid: solid as i32,
            closest,
        });
        for (number, side) in self.fluid.sides.iter().enumerate() {
            let distance = side.normal.dot(point) - side.offset;
            if nearest.as_ref().is_none_or(|wall| distance < wall.closest.distance) {
                nearest = Some(Wall {
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
        let Fluid { grid, velocity, .. } = self.fluid;
        self.locate(point).map_or(DVec3::ZERO, |(slot, at)| sample(&grid.tiles, velocity, slot, at))
    }
}
