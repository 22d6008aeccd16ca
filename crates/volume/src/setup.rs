//! From a scene to cells with liquid in them.

use std::f64::consts::TAU;

use glam::DVec3;
use sessile_scene::types::{CurvatureMethod, Domain, EmitterKind, Fidelity, Scene, Side, SolidShape};
use sessile_wetting::Wetting;
use sessile_world::{InitialDrop, World};

use crate::advection::Order;
use crate::contact_curvature::Front;
use crate::error::VolumeError;
use crate::far_side;
use crate::fluid::{Fluid, Parameters};
use crate::redistance::BEYOND;
use crate::solids::{HalfSpace, REACH};
use crate::tiles::{CELLS, NONE, SIDE, Topology};

/// Fewest cells across the radius of a drop at the start.
const LEAST_RADIUS: f64 = 2.5;
/// Speed below which the paper's form takes a front for static, in m/s; the paper does not say.
const STATIC_SPEED: f64 = 1e-3;
/// Bytes of memory per active cell, all fields together: measured by adding them up.
const BYTES_PER_CELL: f64 = 420.0;
/// Drag of `settle` runs, in units of √(γ/ρR³) of the largest drop: strongly damped, and still fast.
const SETTLE_DRAG: f64 = 0.7;

/// What of a scene a run needs again and again.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Side of a cell, in m.
    pub h: f64,
    /// Where the lattice begins, in m.
    pub origin: DVec3,
    /// Shape of space.
    pub topology: Topology,
    /// Walls and mirrors.
    pub sides: Vec<HalfSpace>,
    /// The domain's box, if liquid that leaves it is lost: lower and upper corner, infinite where it does not end.
    pub bounds: Option<[DVec3; 2]>,
    /// Numbers that a run does not change.
    pub parameters: Parameters,
    /// Whether the run is planar.
    pub planar: bool,
}

impl Setup {
    /// Reads a scene.
    pub fn new(scene: &Scene, world: &World) -> Result<Self, VolumeError> {
        let mut h = scene.resolution.cell.ok_or(VolumeError::NoCell)?;
        if !(h > 0.0 && h.is_finite()) {
            return Err(VolumeError::Cell { cell: h });
        }
        let planar = scene.world.planar;
        let mut topology = Topology { planar, period: [None; 3] };
        let mut origin = DVec3::ZERO;
        let (mut sides, mut bounds) = (Vec::new(), None);
        if let Some(domain) = &scene.domain {
            h = fit_periods(domain, h, &mut topology)?;
            origin = domain.min;
            (sides, bounds) = domain_sides(domain, planar, world.wall_wetting());
        }
        if planar {
            // The one layer of cells is centerd on z = 0.
            origin.z = -0.5 * h;
        }
        check_solids(scene, h)?;
        let paper = scene.fidelity == Fidelity::Paper;
        let knobs = &scene.volume;
        let order = knobs.pressure_order.unwrap_or(2);
        if !(1..=2).contains(&order) {
            return Err(VolumeError::Knob { knob: "pressure_order", range: "1 or 2", value: f64::from(order) });
        }
        if let Some(dt) = knobs.dt.filter(|dt| !(*dt > 0.0 && dt.is_finite())) {
            return Err(VolumeError::Knob { knob: "dt", range: "a positive time", value: dt });
        }
        // Explicit surface tension fails beyond this, and a run that fails by growing would look like one that splashes.
        let longest = 1.5 * (scene.liquid.density * h.powi(3) / (TAU * scene.liquid.surface_tension)).sqrt();
        if let Some(dt) = knobs.dt.filter(|dt| *dt > longest) {
            return Err(VolumeError::LongStep { dt_us: 1e6 * dt, longest_us: 1e6 * longest, cell_mm: 1e3 * h });
        }
        let slip = knobs.slip.unwrap_or(0.0);
        if !(slip >= 0.0 && slip.is_finite()) {
            return Err(VolumeError::Knob { knob: "slip", range: "a length that is not negative", value: slip });
        }
        let largest = world.initial_drops().iter().map(|drop| radius_of(drop.volume(), planar)).fold(h, f64::max);
        let water = scene.liquid;
        let drag = SETTLE_DRAG * (water.surface_tension / (water.density * largest.powi(3))).sqrt();
        let default = if paper { CurvatureMethod::VirtualSurface } else { CurvatureMethod::Extension };
        let static_speed = knobs.static_speed.unwrap_or(STATIC_SPEED);
        if !(static_speed >= 0.0 && static_speed.is_finite()) {
            return Err(VolumeError::Knob {
                knob: "static_speed",
                range: "a speed that is not negative",
                value: static_speed,
            });
        }
        let front = if paper { Front::Paper { static_speed } } else { Front::Measured };
        let by_virtual_surface = knobs.curvature.unwrap_or(default) == CurvatureMethod::VirtualSurface;
        // With the second-order pressure the virtual surface is fragile: the two do not see the line at the same place.
        let order = knobs.pressure_order.unwrap_or(if paper || by_virtual_surface { 1 } else { 2 });
        let parameters = Parameters {
            water,
            slip,
            virtual_surface: by_virtual_surface.then_some(front),
            second_order: order == 2,
            advection: if paper { Order::Linear } else { Order::Cubic },
            dt: knobs.dt,
            drag: if scene.time.settle { drag } else { 0.0 },
            implicit_tension: scene.time.settle && knobs.dt.is_none(),
        };
        if scene.emitters.iter().any(|emitter| matches!(emitter.kind, EmitterKind::Dew { .. })) {
            return Err(VolumeError::NotYet { what: "dew", instead: "use the pane or the droplet model" });
        }
        Ok(Self { h, origin, topology, sides, bounds, parameters, planar })
    }

    /// A cell's volume, in m³; in a planar run its area, in m².
    pub fn cell_volume(&self) -> f64 {
        if self.planar { self.h * self.h } else { self.h.powi(3) }
    }

    /// Cells with the scene's drops in them; returns the volume of each drop in cells.
    pub fn fill(&self, world: &World) -> Result<Fluid, VolumeError> {
        let mut fluid = Fluid::new(self.h, self.origin, self.topology, self.sides.clone());
        let mut wanted = Vec::new();
        for drop in world.initial_drops() {
            let radius = radius_of(drop.volume(), self.planar);
            if radius < LEAST_RADIUS * self.h {
                return Err(VolumeError::CellTooLarge {
                    drop: drop.index(),
                    radius_mm: 1e3 * radius,
                    cell_mm: 1e3 * self.h,
                    wanted_mm: 1e3 * radius / 10.0,
                });
            }
            self.tiles_of(&fluid, drop.bounds(), |center| drop.free_surface_distance(center), &mut wanted);
        }
        self.check_memory(wanted.len())?;
        fluid.adapt(world, &wanted);
        self.pour(&mut fluid, world);
        Ok(fluid)
    }

    /// Tiles that a body's liquid or the band round it touches.
    pub fn tiles_of(
        &self,
        fluid: &Fluid,
        bounds: [DVec3; 2],
        distance: impl Fn(DVec3) -> f64,
        wanted: &mut Vec<[i32; 3]>,
    ) {
        let margin = DVec3::splat((BEYOND + 1.0) * self.h);
        let mut bounds = [bounds[0] - margin, bounds[1] + margin];
        if let Some([low, high]) = self.bounds {
            bounds = [bounds[0].max(low - margin), bounds[1].min(high + margin)];
        }
        let side = SIDE as i32;
        let [low, high] = bounds.map(|corner| fluid.grid.cell_at(corner).map(|c| c.div_euclid(side)));
        let layers = if self.planar { 0..=0 } else { low[2]..=high[2] };
        for c in layers {
            for b in low[1]..=high[1] {
                for a in low[0]..=high[0] {
                    let middle = DVec3::from([a, b, c].map(|t| f64::from(t * side) + 0.5 * f64::from(side)));
                    let middle = if self.planar { middle.with_z(0.5) } else { middle };
                    // Half a tile's diagonal is 6.93 cells.
                    if distance(self.origin + self.h * middle) < (BEYOND + 7.0) * self.h {
                        wanted.push([a, b, c]);
                    }
                }
            }
        }
    }

    /// Writes φ, velocity and names of the scene's drops.
    fn pour(&self, fluid: &mut Fluid, world: &World) {
        let drops = world.initial_drops();
        let near: Vec<Vec<u32>> =
            (0..fluid.grid.tiles.len()).map(|slot| self.drops_near_tile(fluid, drops, slot)).collect();
        let mut owner = vec![NONE; fluid.grid.tiles.len() * CELLS];
        for (index, owner) in owner.iter_mut().enumerate() {
            let in_use = index % CELLS < fluid.grid.tiles.cells_in_use();
            if in_use && fluid.solids.distance.values()[index] > -REACH {
                let candidates = near[index / CELLS].iter().copied();
                let (distance, number) = self.nearest_surface(drops, candidates, fluid.grid.center(index));
                fluid.phi.values_mut()[index] = distance;
                *owner = number;
            }
        }
        if drops.iter().any(|drop| drop.cap().is_some()) {
            for index in far_side::cells_on_far_sides(fluid, drops, &owner) {
                let others = near[index / CELLS].iter().copied().filter(|number| *number != owner[index]);
                let (distance, number) = self.nearest_surface(drops, others, fluid.grid.center(index));
                fluid.phi.values_mut()[index] = distance;
                owner[index] = number;
            }
        }
        let mut overlaps = vec![false; drops.len()];
        for (index, number) in owner.into_iter().enumerate().filter(|(_, number)| *number != NONE) {
            let (distance, drop) = (fluid.phi.values()[index], &drops[number as usize]);
            if distance < 3.0 {
                for axis in 0..3 {
                    fluid.velocity[axis].values_mut()[index] = drop.velocity()[axis];
                }
            }
            if distance < 0.0 {
                fluid.drops.names.values_mut()[index] = drop.index() as u32 + 1;
                let on_it = drop.cap().is_some();
                overlaps[number as usize] |= !on_it && fluid.solids.distance.values()[index] < 0.5;
            }
        }
        fluid.drops.next_id = drops.len() as u32 + 1;
        for (drop, overlaps) in drops.iter().zip(overlaps) {
            // What a solid cuts off a drop was never there, and a drop longer than the domain's period lies over itself: such drops are measured.
            let volume =
                if overlaps || self.wraps(drop.bounds()) { f64::NAN } else { drop.volume() / self.cell_volume() };
            fluid.drops.accounts.push(crate::drops::Account { id: drop.index() as u32 + 1, volume });
        }
    }

    /// Numbers of the drops whose band may reach into a tile.
    fn drops_near_tile(&self, fluid: &Fluid, drops: &[InitialDrop], slot: usize) -> Vec<u32> {
        let side = SIDE as f64;
        let low = fluid.grid.origin + DVec3::from(fluid.grid.tiles.coords()[slot].map(f64::from)) * (side * self.h);
        let middle = low + 0.5 * side * self.h;
        let reach = (0.5 * side + BEYOND + 1.0) * self.h;
        let is_near = |drop: &InitialDrop| {
            let [low, high] = drop.bounds();
            let gap = (low - middle).max(middle - high);
            gap.x.max(gap.y).max(if self.planar { 0.0 } else { gap.z }) < reach
        };
        (0..drops.len() as u32).filter(|&number| is_near(&drops[number as usize])).collect()
    }

    /// Distance to the nearest free surface of the `candidates` among the drops, in cells and within the band, and that drop's number.
    fn nearest_surface(
        &self,
        drops: &[InitialDrop],
        candidates: impl Iterator<Item = u32>,
        place: DVec3,
    ) -> (f64, u32) {
        let mut best = (BEYOND, NONE);
        for number in candidates {
            let drop = &drops[number as usize];
            let [low, high] = drop.bounds();
            let gap = (low - place).max(place - high).max(DVec3::ZERO);
            let gap = if self.planar { gap.with_z(0.0) } else { gap };
            if gap.length() > (BEYOND + 1.0) * self.h {
                continue;
            }
            let distance = drop.free_surface_distance(place) / self.h;
            if best.1 == NONE || distance < best.0 {
                best = (distance, number);
            }
        }
        (best.0.clamp(-BEYOND, BEYOND), best.1)
    }

    /// Whether a body of these bounds is longer than a period of the domain.
    fn wraps(&self, [low, high]: [DVec3; 2]) -> bool {
        let length = |period: i32| f64::from(period * SIDE as i32) * self.h;
        (0..3).any(|axis| self.topology.period[axis].is_some_and(|period| (high - low)[axis] > length(period)))
    }

    fn check_memory(&self, tiles: usize) -> Result<(), VolumeError> {
        let cells = (tiles * CELLS) as f64;
        let needed = cells * BYTES_PER_CELL;
        let Some(memory) = free_memory() else { return Ok(()) };
        if needed < 0.9 * memory {
            return Ok(());
        }
        Err(VolumeError::Memory {
            cells,
            needed_gb: needed / 1e9,
            memory_gb: memory / 1e9,
            wanted_mm: 1e3 * self.h * (needed / (0.8 * memory)).cbrt(),
        })
    }
}

/// Memory that could be had, in bytes, where the system says so.
fn free_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// Radius of the ball (or circle) that holds `amount`.
fn radius_of(amount: f64, planar: bool) -> f64 {
    use std::f64::consts::PI;
    if planar { (amount / PI).sqrt() } else { (0.75 * amount / PI).cbrt() }
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
fn domain_sides(domain: &Domain, planar: bool, wetting: &Wetting) -> (Vec<HalfSpace>, Option<[DVec3; 2]>) {
    let mut sides = Vec::new();
    let mut bounds = [DVec3::NEG_INFINITY, DVec3::INFINITY];
    for axis in 0..if planar { 2 } else { 3 } {
        let mut normal = DVec3::ZERO;
        normal[axis] = 1.0;
        match domain.sides[axis] {
            Side::Open => (bounds[0][axis], bounds[1][axis]) = (domain.min[axis], domain.max[axis]),
            Side::Periodic => {}
            side @ (Side::Wall | Side::Symmetry) => {
                let mirror = side == Side::Symmetry;
                let right = std::f64::consts::FRAC_PI_2;
                let wetting = if mirror { Wetting::smooth(right, right) } else { *wetting };
                sides.push(HalfSpace { normal, offset: domain.min[axis], wetting, mirror });
                sides.push(HalfSpace { normal: -normal, offset: -domain.max[axis], wetting, mirror });
            }
        }
    }
    (sides, Some(bounds))
}

/// Solids must be two cells thick.
fn check_solids(scene: &Scene, h: f64) -> Result<(), VolumeError> {
    for solid in &scene.solids {
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
