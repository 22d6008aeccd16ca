//! The liquid on its cells, and one step of it.
//!
//! [`Fluid::step`] is the table of contents of the method; each stage is a file of its own.
//!
//! **Time step.** Explicit surface tension is stable while the shortest capillary wave does not cross a cell too fast: Δt ≤ √(ρh³/2πγ) (measured: 1.0 of it is
//! stable, 1.2 noisy, 1.5 fails; `CAPILLARY` of it is taken). Runs that settle make it implicit
//! (`viscosity.rs`) and take steps `IMPLICIT` times as long. The surface must not cross more than a cell: Δt Σ|u| ≤ `COURANT` h.

mod carry;

use std::f64::consts::TAU;

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Event;
use sessile_model::StageTimer;
use sessile_wetting::Liquid as Water;
use sessile_world::World;

use crate::advection::{Order, advect};
use crate::contact_curvature::{Front, at_lines};
use crate::curvature::{Of, curvature};
use crate::drops::{Drops, Liquid};
use crate::extension::{AngleLaw, SETTLING_PASSES, extend};
use crate::extrapolation::{Around, Extrapolation};
use crate::faces::{Kinds, classify};
use crate::grid::Grid;
use crate::net_pull::{Pull, cancel_net_pulls};
use crate::outflow::Outflow;
use crate::particles::{Particles, Settings};
use crate::poisson::{PoissonError, Report};
use crate::projection::{Flow, Projection};
use crate::redistance::{BEYOND, Redistance};
use crate::solids::{HalfSpace, REACH, Solids, Surround, Wall};
use crate::sources::{Feed, NEEDLE};
use crate::surface_loops::calm_loops;
use crate::tiles::{CELLS, Field, NONE, Tiles, Topology, local_cell};
use crate::viscosity::{Diffusion, SurfaceDrag, ViscousSolve};
use crate::wind::Wind;

/// Share of the capillary limit that is used.
const CAPILLARY: f64 = 0.9;
/// How much longer steps are with implicit surface tension.
const IMPLICIT: f64 = 4.0;
/// Cells that the surface may cross in a step, the three directions added up.
const COURANT: f64 = 0.8;
/// φ is made a distance again after this many steps of explicit surface tension …
const REDISTANCE_STEPS: u32 = 10;
/// … or when the surface may have crossed this many cells.
const REDISTANCE_TRAVEL: f64 = 1.0;
/// How far outside the domain a drop that is partly inside is followed, in cells.
const LEFT_BEHIND: f64 = 12.0;
/// Cells around the liquid that must be in active tiles.
const MARGIN: i32 = 4;

/// Numbers that a run does not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The liquid.
    pub water: Water,
    /// Slip length on solids, in m.
    pub slip: f64,
    /// Pressure at the surface to second order; else first.
    pub second_order: bool,
    /// κ at contact lines by the virtual surface; else from φ as the extension carries it into solids.
    pub virtual_surface: Option<Front>,
    /// How velocity is carried along.
    pub advection: Order,
    /// A constant time step, in s.
    pub dt: Option<f64>,
    /// Velocity decays at this rate, in 1/s: drag of `settle` runs.
    pub drag: f64,
    /// Implicit surface tension: longer steps, waves damped.
    pub implicit_tension: bool,
}

impl Parameters {
    /// Whether lines pin between receding and advancing angle.
    pub fn pins(&self) -> bool {
        !matches!(self.virtual_surface, Some(Front::Paper { .. }))
    }
}

/// The liquid on its cells.
#[derive(Debug)]
pub struct Fluid {
    /// Cells and where they are.
    pub grid: Grid,
    /// The domain's walls and mirrors.
    pub sides: Vec<HalfSpace>,
    /// The solids as the cells see them.
    pub solids: Solids,
    /// Distance to the liquid–air surface, in cells.
    pub phi: Field<f64>,
    /// Velocity at low faces, in m/s.
    pub velocity: [Field<f64>; 3],
    /// Pressure over ρ times Δt/h of the last step, over Δt: q/Δt, in m/s².
    pub pressure: Field<f64>,
    /// Cells at which the line is pinned.
    pub pinned: Field<bool>,
    /// Marks of the surface where it is fast.
    pub particles: Particles,
    /// How they are sown.
    sowing: Settings,
    /// The drops and their accounts.
    pub drops: Drops,
    /// Steps taken: they name the particles' random places.
    pub num_steps: u64,
    /// Steps and greatest path of the surface (in cells) since φ was a distance.
    pub since_redistance: (u32, f64),
    scratch: Scratch,
}

/// Memory that every step writes before it reads.
#[derive(Debug)]
struct Scratch {
    kinds: Kinds,
    kappa: Field<f64>,
    faces: [Field<f64>; 3],
    centers: [Field<f64>; 3],
    one: Field<f64>,
    two: Field<f64>,
    projection: Projection,
    extrapolation: Extrapolation,
    outflow: Outflow,
    redistance: Redistance,
    viscous: ViscousSolve,
    source: Vec<f64>,
    pulls: Vec<Pull>,
    wanted: Vec<[i32; 3]>,
    spare: Vec<f64>,
    spare_bool: Vec<bool>,
    spare_name: Vec<u32>,
    spare_wall: Vec<Wall>,
}

impl Default for Scratch {
    fn default() -> Self {
        let field = || Field::new(0.0);
        Self {
            kinds: std::array::from_fn(|_| Field::new(0)),
            kappa: field(),
            faces: std::array::from_fn(|_| field()),
            centers: std::array::from_fn(|_| field()),
            one: field(),
            two: field(),
            projection: Projection::default(),
            extrapolation: Extrapolation::default(),
            outflow: Outflow::default(),
            redistance: Redistance::default(),
            viscous: ViscousSolve::default(),
            source: Vec::new(),
            pulls: Vec::new(),
            wanted: Vec::new(),
            spare: Vec::new(),
            spare_bool: Vec::new(),
            spare_name: Vec::new(),
            spare_wall: Vec::new(),
        }
    }
}

/// What acts on the liquid during a step.
#[derive(Clone, Copy)]
pub struct Outside<'a, L> {
    /// The solids, at the step's end.
    pub world: &'a World,
    /// Gravity, in m/s².
    pub gravity: DVec3,
    /// What decides contact angles.
    pub angles: &'a L,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// Of the pressure solve.
    pub pressure: Report,
    /// What needles have added, in cells.
    pub fed: f64,
}

impl Fluid {
    /// No liquid yet, on cells of side `h`.
    pub fn new(h: f64, origin: DVec3, topology: Topology, sides: Vec<HalfSpace>) -> Self {
        Self {
            grid: Grid { tiles: Tiles::new(topology), h, origin },
            sides,
            solids: Solids::default(),
            phi: Field::new(BEYOND),
            velocity: std::array::from_fn(|_| Field::new(0.0)),
            pressure: Field::new(0.0),
            pinned: Field::new(false),
            particles: Particles::default(),
            sowing: Settings::default(),
            drops: Drops::default(),
            num_steps: 0,
            since_redistance: (0, 0.0),
            scratch: Scratch::default(),
        }
    }

    /// Longest step, in s.
    pub fn longest_step(&self, parameters: &Parameters) -> f64 {
        if let Some(dt) = parameters.dt {
            return dt;
        }
        let h = self.grid.h;
        let longer = if parameters.implicit_tension { IMPLICIT } else { 1.0 };
        (longer * capillary_step(&parameters.water, h)).min(COURANT * h / self.fastest().max(1e-9))
    }

    /// Largest |u| + |v| + |w| in the liquid and just outside, in m/s.
    pub fn fastest(&self) -> f64 {
        let tiles = &self.grid.tiles;
        let per_tile = (0..tiles.len()).into_par_iter().map(|slot| {
            let phi = self.phi.tile(slot);
            let [u, v, w] = [0, 1, 2].map(|axis| self.velocity[axis].tile(slot));
            let mut most: f64 = 0.0;
            for local in 0..tiles.cells_in_use() {
                if phi[local] < 2.0 {
                    most = most.max(u[local].abs() + v[local].abs() + w[local].abs());
                }
            }
            most
        });
        per_tile.reduce(|| 0.0, f64::max)
    }

    /// Activates the tiles that hold liquid or lie near its surface, and `more`; tiles that are no longer needed go.
    pub fn adapt(&mut self, world: &World, more: &[[i32; 3]]) {
        let tiles = &self.grid.tiles;
        let mut wanted = std::mem::take(&mut self.scratch.wanted);
        wanted.clear();
        wanted.extend_from_slice(more);
        for slot in 0..tiles.len() {
            let Some([low, high]) =
                liquid_bounds(self.phi.tile(slot), self.solids.distance.tile(slot), tiles.cells_in_use())
            else {
                continue;
            };
            let tile = tiles.coords()[slot];
            let range = |axis: usize| {
                let (from, to) = ((low[axis] - MARGIN).div_euclid(8), (high[axis] + MARGIN).div_euclid(8));
                if axis == 2 && tiles.topology().planar { 0..=0 } else { from..=to }
            };
            for c in range(2) {
                for b in range(1) {
                    for a in range(0) {
                        wanted.push(tiles.wrap([tile[0] + a, tile[1] + b, tile[2] + c]));
                    }
                }
            }
        }
        wanted.sort_unstable_by_key(|tile| [tile[2], tile[1], tile[0]]);
        wanted.dedup();
        let surround = Surround { world, sides: &self.sides };
        wanted.retain(|tile| tiles.slot(*tile).is_some() || self.is_outside_solids(&surround, *tile));
        let missing = wanted.iter().any(|tile| tiles.slot(*tile).is_none());
        if missing || tiles.len() > wanted.len() + wanted.len() / 4 + 8 {
            self.grid.tiles.activate(&mut wanted);
            self.follow_tiles(world);
        }
        self.scratch.wanted = wanted;
    }

    /// Whether some of a tile may lie outside solids, or near enough to their surface to be needed.
    fn is_outside_solids(&self, surround: &Surround<'_>, tile: [i32; 3]) -> bool {
        let middle = DVec3::from(tile.map(|c| 8.0 * f64::from(c) + 4.0));
        let middle = if self.grid.tiles.topology().planar { middle.with_z(0.5) } else { middle };
        surround.signed_distance(self.grid.origin + self.grid.h * middle) > -self.grid.h * (REACH + 7.0)
    }

    /// Takes all fields along after the tiles have changed.
    fn follow_tiles(&mut self, world: &World) {
        let Self { grid, solids, phi, velocity, pressure, pinned, particles, drops, scratch, sides, .. } = self;
        let tiles = &grid.tiles;
        let numbers = [phi, pressure].into_iter().chain(velocity).chain([&mut solids.distance]).chain(&mut solids.open);
        for field in numbers {
            field.rearrange(tiles, &mut scratch.spare);
        }
        pinned.rearrange(tiles, &mut scratch.spare_bool);
        particles.rearrange(tiles);
        drops.names.rearrange(tiles, &mut scratch.spare_name);
        solids.wall.rearrange(tiles, &mut scratch.spare_wall);
        let near: Vec<bool> = tiles.moves().iter().map(|&from| from != NONE && solids.near[from as usize]).collect();
        solids.near = near;
        solids.sample(grid, &Surround { world, sides }, |slot| tiles.moves()[slot] == NONE);
        scratch.resize(tiles);
    }

    /// Makes `tiles` the active ones, for a saved state: what fields hold on them is then up to the caller.
    pub fn take_tiles(&mut self, world: &World, tiles: &mut Vec<[i32; 3]>) {
        self.grid.tiles.activate(tiles);
        self.follow_tiles(world);
        self.sample_solids(world);
    }

    /// Takes away drops that are wholly outside a box (corners in m), and of others what is `LEFT_BEHIND` outside; returns how much left, in cells.
    ///
    /// A drop that is still partly inside flies on undisturbed: cut at the side, it would be pulled back by the surface there.
    pub fn cut_off(&mut self, [low, high]: [DVec3; 2]) -> f64 {
        let Self { grid, phi, drops, scratch, since_redistance, .. } = self;
        let beyond = |index: usize| {
            let center = grid.center(index);
            let most = (low - center).max(center - high).max_element() / grid.h;
            if most.is_finite() { most } else { 0.0 }
        };
        let mut inside = vec![false; drops.pieces.len()];
        let mut far = false;
        for (&cell, &piece) in scratch.projection.cells.iter().zip(&drops.piece_of) {
            let beyond = beyond(cell as usize);
            inside[piece as usize] |= beyond <= 0.0;
            far |= beyond > LEFT_BEHIND;
        }
        let mut gone = 0.0;
        for piece in 0..inside.len() {
            if inside[piece] {
                continue;
            }
            let id = drops.pieces[piece].id;
            let Some(account) = drops.account_mut(id) else { continue };
            gone += std::mem::take(&mut account.volume);
            drops.accounts.retain(|account| account.id != id);
            for (phi, name) in
                phi.values_mut().iter_mut().zip(drops.names.values_mut()).filter(|(_, name)| **name == id)
            {
                (*phi, *name) = (phi.abs(), 0);
            }
            since_redistance.0 = REDISTANCE_STEPS;
        }
        if far {
            for index in 0..grid.tiles.len() * CELLS {
                let (before, beyond) = (phi.values()[index], beyond(index) - LEFT_BEHIND);
                if before > 1.0 || beyond <= 0.0 {
                    continue;
                }
                let held = |phi: f64| (0.5 - phi).clamp(0.0, 1.0);
                let taken = held(before) - held(before.max(beyond));
                if let Some(account) = drops.account_mut(drops.names.values()[index]) {
                    let taken = taken.min(account.volume);
                    account.volume -= taken;
                    gone += taken;
                }
                phi.values_mut()[index] = before.max(beyond);
            }
        }
        gone
    }

    /// Samples the solids anew on all tiles, after they have moved.
    pub fn sample_solids(&mut self, world: &World) {
        self.solids.sample(&self.grid, &Surround { world, sides: &self.sides }, |_| true);
    }

    /// Carries φ into solids until it no longer changes: for a surface that has just been made.
    pub fn settle_extension(&mut self, angles: &impl AngleLaw) {
        for _ in 0..SETTLING_PASSES {
            self.extend(angles);
        }
    }

    fn extend(&mut self, angles: &impl AngleLaw) {
        let Self { grid, solids, phi, pinned, scratch, .. } = self;
        extend(grid, solids, angles, phi, pinned, &mut scratch.one);
    }

    /// Makes φ a distance.
    pub fn redistance(&mut self) {
        let Self { grid, solids, phi, pinned, scratch, since_redistance, .. } = self;
        scratch.redistance.apply(&grid.tiles, solids, pinned, phi, &mut scratch.one);
        *since_redistance = (0, 0.0);
    }

    /// Finds the drops: fills the books after liquid has been put in by hand.
    pub fn label(&mut self, events: &mut Vec<Event>) {
        let Self { grid, solids, phi, drops, scratch, .. } = self;
        let projection = &mut scratch.projection;
        projection.number_cells(&grid.tiles, solids, phi);
        let Projection { cells, number, .. } = &*projection;
        drops.label(&Liquid { tiles: &grid.tiles, solids, phi, cells, number }, events);
    }

    /// Advances the liquid by `dt` seconds; tiles must have been adapted.
    pub fn step<L: AngleLaw>(
        &mut self,
        dt: f64,
        outside: &Outside<'_, L>,
        parameters: &Parameters,
        feeds: &[Feed],
        events: &mut Vec<Event>,
        stages: &mut dyn StageTimer,
    ) -> Result<Done, PoissonError> {
        let h = self.grid.h;
        let reach = dt / h;
        let Water { density, viscosity, surface_tension, .. } = parameters.water;
        let slip = parameters.slip / h;
        let surround = Surround { world: outside.world, sides: &self.sides.clone() };
        let moving = surround.moves();
        let Self { grid, solids, phi, velocity, pressure, pinned, drops, scratch, .. } = self;
        let Scratch {
            kinds,
            kappa,
            faces,
            centers,
            one,
            projection,
            extrapolation,
            outflow,
            viscous,
            source,
            pulls,
            ..
        } = scratch;
        let tiles = &grid.tiles;
        let wall_at = |wall: &Wall, at: DVec3, slot: usize| {
            if moving { surround.velocity(wall, grid.position(slot, at)) } else { DVec3::ZERO }
        };
        let wall_of = |wall: &Wall, index: usize, axis: usize| {
            if moving { surround.velocity(wall, grid.center(index))[axis] } else { 0.0 }
        };

        stages.enter("velocity");
        classify(tiles, solids, phi, kinds);
        advect(tiles, kinds, velocity, reach, outside.gravity * dt, parameters.advection, faces);
        std::mem::swap(velocity, faces);
        let air = outside.world.wind();
        if air != DVec3::ZERO {
            Wind { velocity: air, per_traction: dt / (density * h) }.blow(tiles, phi, kinds, velocity);
        }
        stages.enter("viscosity");
        let diffusion = Diffusion { tiles, solids, kinds, slip, alpha: viscosity * dt / (h * h), tension: None };
        for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
            let wall = |wall: &Wall, index: usize| wall_of(wall, index, axis);
            diffusion.apply(axis, component, one, viscous, &wall)?;
        }

        stages.enter("curvature");
        // The virtual surface gives curvatures of levels too.
        let of = if parameters.virtual_surface.is_some() { Of::Level } else { Of::Surface };
        curvature(tiles, solids, phi, of, kappa);
        if let Some(front) = parameters.virtual_surface {
            at_lines(grid, solids, phi, velocity, outside.angles, front, kappa);
        }
        stages.enter("drops");
        projection.number_cells(tiles, solids, phi);
        let Projection { cells, number, .. } = &*projection;
        drops.label(&Liquid { tiles, solids, phi, cells, number }, events);
        drops.sources(h / dt, source);
        let fed = feed_all(feeds, grid, drops, cells, h / dt, source);
        if !tiles.topology().planar {
            drops.flatten_small(&Liquid { tiles, solids, phi, cells, number }, kappa);
        }

        stages.enter("pressure");
        let flow = Flow {
            tiles,
            solids,
            kinds,
            phi,
            kappa,
            pinned,
            tension: surface_tension * dt / (density * h * h),
            second_order: parameters.second_order,
            lifts: parameters.virtual_surface.is_none(),
            reach,
            before: faces,
        };
        projection.assemble(&flow, velocity, source, &wall_of);
        projection.q.clear();
        projection.q.extend(projection.cells.iter().map(|&cell| pressure.values()[cell as usize] * dt));
        let report = projection.solve(&flow)?;
        projection.correct(&flow, velocity, &wall_of);
        cancel_net_pulls(&flow, projection, drops, pulls, velocity);
        let (number, q) = (&projection.number, &projection.q);
        pressure.par_tiles_mut().enumerate().for_each(|(slot, out)| {
            for (out, &unknown) in out.iter_mut().zip(number.tile(slot)) {
                *out = if unknown == NONE { 0.0 } else { q[unknown as usize] / dt };
            }
        });
        if parameters.implicit_tension {
            // After the pull of surface tension, so that it is held back too, and then a second projection: at rest neither finds anything to do.
            stages.enter("viscosity");
            let tension = SurfaceDrag::new(phi, surface_tension * dt * dt / (density * h.powi(3)));
            let diffusion = Diffusion { tension: Some(tension), alpha: 0.0, ..diffusion };
            for (axis, component) in velocity.iter_mut().enumerate().take(tiles.dims()) {
                diffusion.apply(axis, component, one, viscous, &|wall, index| wall_of(wall, index, axis))?;
            }
            stages.enter("pressure");
            let flow = Flow { tension: 0.0, ..flow };
            projection.assemble(&flow, velocity, source, &wall_of);
            projection.q.fill(0.0);
            projection.solve(&flow)?;
            projection.correct(&flow, velocity, &wall_of);
        }
        if parameters.drag > 0.0 {
            let kept = (-parameters.drag * dt).exp();
            for component in velocity.iter_mut() {
                component.par_tiles_mut().for_each(|tile| tile.iter_mut().for_each(|u| *u *= kept));
            }
        }

        stages.enter("extrapolation");
        let around = Around { tiles, solids, phi, slip };
        calm_loops(&around, kinds, centers, velocity);
        extrapolation.fill_air(&around, velocity, kinds);
        outflow.make_air_divergence_free(&around, kinds, reach, velocity);
        extrapolation.fill_walls(&around, kinds, &wall_at, velocity);

        // φ is made a distance as often in time as without: at 150° the base is else 2 % wider.
        let short_steps = if parameters.implicit_tension { IMPLICIT as u32 } else { 1 };
        self.carry_surface(dt, short_steps, outside, stages);
        Ok(Done { pressure: report, fed })
    }
}

/// Longest step that explicit surface tension allows on cells of side `h`, in s.
fn capillary_step(water: &Water, h: f64) -> f64 {
    CAPILLARY * (water.density * h.powi(3) / (TAU * water.surface_tension)).sqrt()
}

impl Scratch {
    fn resize(&mut self, tiles: &Tiles) {
        self.kinds.iter_mut().for_each(|field| field.resize(tiles));
        let numbers = [&mut self.kappa, &mut self.one, &mut self.two].into_iter().chain(&mut self.faces);
        numbers.chain(&mut self.centers).for_each(|field| field.resize(tiles));
    }
}

/// Adds the needles' sources and writes what they add to their drops' accounts; returns what was added, in cells.
fn feed_all(
    feeds: &[Feed],
    grid: &Grid,
    drops: &mut Drops,
    cells: &[u32],
    cells_per_second: f64,
    source: &mut [f64],
) -> f64 {
    let mut fed = 0.0;
    for feed in feeds {
        let distance = |cell: u32| (grid.center(cell as usize) - feed.at).length() / grid.h;
        let nearest = (0..cells.len()).min_by(|&a, &b| distance(cells[a]).total_cmp(&distance(cells[b])));
        let Some(nearest) = nearest.filter(|&unknown| distance(cells[unknown]) < NEEDLE) else { continue };
        let piece = drops.piece_of[nearest];
        let here = |unknown: usize| drops.piece_of[unknown] == piece && distance(cells[unknown]) < NEEDLE;
        let count = (0..cells.len()).filter(|&unknown| here(unknown)).count() as f64;
        // Nothing takes more than there is.
        let volume = feed.volume.max(-0.5 * count);
        for unknown in (0..cells.len()).filter(|&unknown| here(unknown)) {
            source[unknown] += volume / count * cells_per_second;
        }
        let id = drops.pieces[piece as usize].id;
        if let Some(account) = drops.account_mut(id) {
            account.volume += volume;
            fed += volume;
        }
    }
    fed
}

/// The box round the cells of a tile that hold liquid or lie within a cell of it, those deep in solids left out.
fn liquid_bounds(phi: &[f64], s: &[f64], cells: usize) -> Option<[[i32; 3]; 2]> {
    let mut found: Option<[[i32; 3]; 2]> = None;
    for local in (0..cells).filter(|&local| phi[local] < 1.0 && s[local] > -1.5) {
        let cell = local_cell(local).map(|c| c as i32);
        found = Some(match found {
            None => [cell, cell],
            Some([low, high]) => [[0, 1, 2].map(|a| low[a].min(cell[a])), [0, 1, 2].map(|a| high[a].max(cell[a]))],
        });
    }
    found
}
