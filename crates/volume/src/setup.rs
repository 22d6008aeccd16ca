//! From a scene to a grid with liquid on it.

mod initial;

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;
use sessile_numerics::{circle_radius, sphere_radius, sphere_volume};
use sessile_scene::types::{CurvatureMethod, Domain, EmitterKind, Fidelity, Scene, Side, SolidShape};
use sessile_wetting::{Wetting, moving_line};
use sessile_world::World;

use crate::advection::Interpolation;
use crate::contact_curvature::ContactAngleRule;
use crate::error::VolumeError;
use crate::moving_line::MovingLine;
use crate::parameters::{NumericalParameters, Parameters};
use crate::projection::capillary_time_step;
use crate::redistance::PHI_MAX;
use crate::solids::DomainSide;
use crate::tiles::{CELLS, SIDE, Topology};

/// Fewest cells across the radius of an initial drop.
const MIN_RADIUS_CELLS: f64 = 2.5;
/// Cells across the radius that the error message recommends.
const RECOMMENDED_RADIUS_CELLS: f64 = 10.0;
/// Speed below which `fidelity = "paper"` treats a contact line as static, in m/s; the paper gives
/// none.
const STATIC_SPEED: f64 = 1e-3;
/// Memory per active cell, all fields together, in bytes: the sum of their sizes.
const BYTES_PER_CELL: f64 = 428.0;
/// Drag of runs that settle, in units of √(γ/ρR³) of the largest drop: strongly damped, and still
/// fast.
const SETTLING_DRAG: f64 = 0.7;
/// Half a tile's diagonal, rounded up, in cells.
const HALF_TILE_DIAGONAL: f64 = 7.0;

/// What a run needs of its scene.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Side of a cell, in m.
    pub h: f64,
    /// Low corner of cell (0, 0, 0), in m.
    pub origin: DVec3,
    /// Periodicity and dimension of the grid.
    pub topology: Topology,
    /// Walls and symmetry planes.
    pub sides: Vec<DomainSide>,
    /// Corners of the domain if liquid that leaves it is lost, infinite where it is unbounded, in
    /// m.
    pub bounds: Option<[DVec3; 2]>,
    /// What a run does not change.
    pub parameters: Parameters,
    /// Whether the run is planar.
    pub planar: bool,
}

/// Memory that a scene's liquid needs at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryEstimate {
    /// Active cells.
    pub cells: f64,
    /// Memory of all fields, in bytes.
    pub bytes: f64,
    /// Side of a cell, in m.
    pub cell_size: f64,
}

impl Setup {
    /// Reads a scene.
    pub fn new(scene: &Scene, world: &World) -> Result<Self, VolumeError> {
        let mut h = scene.resolution.cell.ok_or(VolumeError::NoCell)?;
        debug_assert!(h > 0.0 && h.is_finite(), "the scene's range of `resolution.cell`");
        let planar = scene.world.planar;
        let mut topology = Topology { planar, period: [None; 3] };
        let mut origin = DVec3::ZERO;
        let (mut sides, mut bounds) = (Vec::new(), None);
        if let Some(domain) = &scene.domain {
            h = fit_periods(domain, h, &mut topology)?;
            // An open side is no reason for another lattice: the speed of a drop depends on where
            // its wall lies in its cells, and a part of a scene moves as the whole.
            origin = DVec3::from([0, 1, 2].map(|axis| match domain.sides[axis] {
                Side::Open => 0.0,
                _ => domain.min[axis],
            }));
            (sides, bounds) = domain_sides(domain, planar, world.wall_wetting());
        }
        if planar {
            // The one layer of cells is centered on z = 0.
            origin.z = -0.5 * h;
        }
        check_solids(scene, h)?;
        let radii = world.initial_drops().iter().map(|drop| radius_of(drop.volume(), planar));
        let parameters = read_parameters(scene, h, radii.fold(h, f64::max))?;
        if scene.emitters.iter().any(|emitter| matches!(emitter.kind, EmitterKind::Dew { .. })) {
            return Err(VolumeError::NotYet { what: "dew", instead: "use the pane or the droplet model" });
        }
        Ok(Self { h, origin, topology, sides, bounds, parameters, planar })
    }

    /// A cell's volume, in m³; its area in planar runs, in m².
    pub fn cell_volume(&self) -> f64 {
        if self.planar { self.h * self.h } else { self.h.powi(3) }
    }

    /// Volume of a sphere; area of a disc in planar runs.
    pub fn ball_volume(&self, radius: f64) -> f64 {
        if self.planar { PI * radius * radius } else { sphere_volume(radius) }
    }

    /// Displacements by up to one period under which the domain repeats itself, zero first, in m.
    pub fn images(&self) -> Vec<DVec3> {
        let mut images = vec![DVec3::ZERO];
        for (axis, period) in self.topology.period.into_iter().enumerate() {
            let Some(period) = period else { continue };
            let mut step = DVec3::ZERO;
            step[axis] = f64::from(period) * SIDE as f64 * self.h;
            images = images.iter().flat_map(|&image| [image, image - step, image + step]).collect();
        }
        images
    }

    /// The distance to the nearest of a body's periodic images, from the distance to the body.
    pub fn repeated(&self, distance: impl Fn(DVec3) -> f64) -> impl Fn(DVec3) -> f64 {
        let images = self.images();
        move |point| images.iter().map(|&image| distance(point + image)).fold(f64::INFINITY, f64::min)
    }

    /// Memory that the liquid needs at the start.
    pub fn memory(&self, world: &World) -> Result<MemoryEstimate, VolumeError> {
        let cells = (self.initial_tiles(world)?.len() * CELLS) as f64;
        Ok(MemoryEstimate { cells, bytes: cells * BYTES_PER_CELL, cell_size: self.h })
    }

    /// Tiles that the initial drops need.
    fn initial_tiles(&self, world: &World) -> Result<Vec<[i32; 3]>, VolumeError> {
        let mut wanted = Vec::new();
        for drop in world.initial_drops() {
            let radius = radius_of(drop.volume(), self.planar);
            if radius < MIN_RADIUS_CELLS * self.h {
                return Err(VolumeError::CellTooLarge {
                    drop: drop.index(),
                    radius_mm: 1e3 * radius,
                    cell_mm: 1e3 * self.h,
                    wanted_mm: 1e3 * radius / RECOMMENDED_RADIUS_CELLS,
                });
            }
            self.tiles_of(drop.bounds(), |center| drop.free_surface_distance(center), &mut wanted);
        }
        Ok(wanted)
    }

    /// Adds the tiles that a body's liquid or the band around it touches to `wanted`.
    pub fn tiles_of(&self, bounds: [DVec3; 2], distance: impl Fn(DVec3) -> f64, wanted: &mut Vec<[i32; 3]>) {
        let margin = DVec3::splat((PHI_MAX + 1.0) * self.h);
        let mut bounds = [bounds[0] - margin, bounds[1] + margin];
        if let Some([low, high]) = self.bounds {
            bounds = [bounds[0].max(low - margin), bounds[1].min(high + margin)];
        }
        let side = SIDE as i32;
        let tile =
            |corner: DVec3| ((corner - self.origin) / self.h).to_array().map(|c| (c.floor() as i32).div_euclid(side));
        let [low, high] = bounds.map(tile);
        let layers = if self.planar { 0..=0 } else { low[2]..=high[2] };
        for c in layers {
            for b in low[1]..=high[1] {
                for a in low[0]..=high[0] {
                    let middle = DVec3::from([a, b, c].map(|t| f64::from(t * side) + 0.5 * f64::from(side)));
                    let middle = if self.planar { middle.with_z(0.5) } else { middle };
                    if distance(self.origin + self.h * middle) < (PHI_MAX + HALF_TILE_DIAGONAL) * self.h {
                        wanted.push([a, b, c]);
                    }
                }
            }
        }
    }
}

/// The schemes and numbers that a scene chooses, in the ranges that the scene schema allows;
/// `largest` is the radius of its largest drop, in m.
fn read_parameters(scene: &Scene, h: f64, largest: f64) -> Result<Parameters, VolumeError> {
    let (liquid, options) = (scene.liquid, &scene.volume);
    let paper = scene.fidelity == Fidelity::Paper;
    let numerics = if paper { NumericalParameters::paper() } else { NumericalParameters::default() };
    // A run that diverges by growing would look like one that splashes.
    let longest = numerics.max_capillary_fraction * capillary_time_step(&liquid, h);
    if let Some(dt) = options.dt.filter(|dt| *dt > longest) {
        return Err(VolumeError::LongStep { dt_us: 1e6 * dt, longest_us: 1e6 * longest, cell_mm: 1e3 * h });
    }
    let slip = options.slip.unwrap_or(moving_line::SLIP_LENGTH);
    let static_speed = options.static_speed.unwrap_or(STATIC_SPEED);
    let default = if paper { CurvatureMethod::VirtualSurface } else { CurvatureMethod::Extension };
    let by_virtual_surface = options.curvature.unwrap_or(default) == CurvatureMethod::VirtualSurface;
    let rule = if paper { ContactAngleRule::Paper { static_speed } } else { ContactAngleRule::Measured };
    // The second-order pressure and the virtual surface do not locate the contact line at the same
    // place.
    let order = options.pressure_order.unwrap_or(if paper || by_virtual_surface { 1 } else { 2 });
    let drag = SETTLING_DRAG * (liquid.surface_tension / (liquid.density * largest.powi(3))).sqrt();
    Ok(Parameters {
        liquid,
        slip: options.slip.unwrap_or(0.0),
        moving_line: if paper { None } else { MovingLine::new(&liquid, slip, h, longest) },
        virtual_surface: by_virtual_surface.then_some(rule),
        second_order: order == 2,
        paper_operators: paper,
        interpolation: if paper { Interpolation::Linear } else { Interpolation::Cubic },
        dt: options.dt,
        drag: if scene.time.settle { drag } else { 0.0 },
        implicit_tension: scene.time.settle && options.dt.is_none(),
        numerics,
    })
}

/// Radius of the sphere (in planar runs the disc) of a volume, in m.
fn radius_of(volume: f64, planar: bool) -> f64 {
    if planar { circle_radius(volume) } else { sphere_radius(volume) }
}

/// The cell size nearest to `h` that divides every period into whole tiles.
fn fit_periods(domain: &Domain, h: f64, topology: &mut Topology) -> Result<f64, VolumeError> {
    let size = domain.max - domain.min;
    let mut fitted = None;
    for axis in 0..3 {
        if domain.sides[axis] != Side::Periodic || (axis == 2 && topology.planar) {
            continue;
        }
        let tile = 8.0 * fitted.unwrap_or(h);
        let tiles = (size[axis] / tile).round().max(1.0);
        match fitted {
            None => fitted = Some(size[axis] / (8.0 * tiles)),
            Some(cell) if (size[axis] / tile - tiles).abs() > 1e-6 * tiles => {
                return Err(VolumeError::Period {
                    axis: ['x', 'y', 'z'][axis],
                    period_mm: 1e3 * size[axis],
                    tiles: size[axis] / tile,
                    tile_mm: 8e3 * cell,
                    wanted_mm: 1e3 * size[axis] / (8.0 * tiles),
                });
            }
            Some(_) => {}
        }
        topology.period[axis] = Some(tiles as i32);
    }
    Ok(fitted.unwrap_or(h))
}

/// The domain's walls and mirrors, and where it ends.
fn domain_sides(domain: &Domain, planar: bool, wetting: &Wetting) -> (Vec<DomainSide>, Option<[DVec3; 2]>) {
    let mut sides = Vec::new();
    let mut bounds = [DVec3::NEG_INFINITY, DVec3::INFINITY];
    for axis in 0..if planar { 2 } else { 3 } {
        let mut normal = DVec3::ZERO;
        normal[axis] = 1.0;
        match domain.sides[axis] {
            Side::Open => (bounds[0][axis], bounds[1][axis]) = (domain.min[axis], domain.max[axis]),
            Side::Periodic => {}
            side @ (Side::Wall | Side::Symmetry) => {
                let symmetry = side == Side::Symmetry;
                let wetting = if symmetry { Wetting::smooth(FRAC_PI_2, FRAC_PI_2) } else { *wetting };
                sides.push(DomainSide { normal, offset: domain.min[axis], wetting, symmetry });
                sides.push(DomainSide { normal: -normal, offset: -domain.max[axis], wetting, symmetry });
            }
        }
    }
    (sides, Some(bounds))
}

/// Solids must be two cells thick.
fn check_solids(scene: &Scene, h: f64) -> Result<(), VolumeError> {
    for solid in &scene.solids {
        if matches!(&solid.shape, SolidShape::Mesh { deform, .. } if !deform.is_empty()) {
            return Err(VolumeError::Deforming { solid: solid.name.clone() });
        }
        let thickness = match &solid.shape {
            SolidShape::Box { min, max } => {
                let size = (*max - *min).abs();
                if scene.world.planar { size.x.min(size.y) } else { size.min_element() }
            }
            SolidShape::Sphere { radius, inside: false, .. } => 2.0 * radius,
            SolidShape::Cylinder { from, to, radius, wall } => wall.unwrap_or(2.0 * radius).min(from.distance(*to)),
            _ => f64::INFINITY,
        };
        if thickness < 2.0 * h {
            return Err(VolumeError::ThinSolid {
                solid: solid.name.clone(),
                thickness_mm: 1e3 * thickness,
                cell_mm: 1e3 * h,
                wanted_mm: 0.5e3 * thickness,
            });
        }
    }
    Ok(())
}
