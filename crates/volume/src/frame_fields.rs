//! The fields that the surface extraction of a frame samples.

use glam::DVec3;
use sessile_frames::DropId;
use sessile_geometry::Closest;
use sessile_world::World;

use crate::extrapolation::sample;
use crate::grid::{CENTER, cubic_gradient};
use crate::state::State;
use crate::surface_extraction::{ExtractionFields, NearestWall};
use crate::tiles::{CellIndex, SIDE};

/// The liquid and the solids at one instant.
pub struct FrameFields<'a> {
    /// The liquid.
    pub state: &'a State,
    /// The solids.
    pub world: &'a World,
}

impl FrameFields<'_> {
    /// The planes at walls, mirrors and periodic sides of the domain, which cut the liquid: the
    /// normal into the domain, and the position along it in m.
    fn cutting_planes(&self) -> impl Iterator<Item = (DVec3, f64)> {
        let State { grid, sides, .. } = self.state;
        let periodic = (0..3).filter_map(|axis| {
            let length = f64::from(grid.tiles.topology().period[axis]? * SIDE as i32) * grid.h;
            let (low, normal) = (grid.origin[axis], DVec3::AXES[axis]);
            Some([(normal, low), (-normal, -(low + length))])
        });
        sides.iter().map(|side| (side.normal, side.offset)).chain(periodic.flatten())
    }
}

impl ExtractionFields for FrameFields<'_> {
    fn phi(&self, cell: CellIndex) -> f64 {
        self.state.phi.values()[cell]
    }

    fn solid(&self, cell: CellIndex) -> f64 {
        self.state.solids.distance.values()[cell]
    }

    fn label(&self, cell: CellIndex) -> u32 {
        self.state.drops.labels.values()[cell].id().map_or(0, DropId::get)
    }

    fn volume(&self, drop: u32) -> Option<f64> {
        let State { grid, drops, .. } = self.state;
        let at = drops.targets.binary_search_by_key(&drop, |target| target.id.get()).ok()?;
        Some(drops.targets[at].volume * grid.h.powi(3))
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
        for (number, (normal, offset)) in self.cutting_planes().enumerate() {
            let distance = normal.dot(point) - offset;
            if nearest.as_ref().is_none_or(|wall| distance < wall.closest.distance) {
                nearest = Some(NearestWall {
                    surface: (self.world.solids().len() + number) as u32,
                    solid: -1,
                    closest: Closest { point: point - normal * distance, normal, distance, uv: glam::DVec2::ZERO },
                });
            }
        }
        nearest
    }

    fn solid_at(&self, point: DVec3) -> Option<Closest> {
        self.world.closest(point).map(|(_, closest)| closest)
    }

    fn side_plane(&self, surface: u32) -> Option<(DVec3, f64)> {
        let number = (surface as usize).checked_sub(self.world.solids().len())?;
        self.cutting_planes().nth(number)
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
        let State { grid, velocity, .. } = self.state;
        grid.locate(point).map_or(DVec3::ZERO, |(slot, at)| sample(&grid.tiles, velocity, slot, at))
    }
}
