//! The volume model as the rest of the program drives it: a step, a frame, a saved state.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_frames::{DropState, Event, Frame, FrameGeometry, GridFields, VolumeBalance};
use sessile_model::{Model, RestoreError, StageReports, StageTimer, StepError, StepReport};
use sessile_scene::types::Scene;
use sessile_world::{Solid, World, WorldState};

use crate::airborne;
use crate::drops::Account;
use crate::error::VolumeError;
use crate::extension::{AngleLaw, AngleRange};
use crate::fluid::{Fluid, Outside};
use crate::history::{History, HistoryState};
use crate::particles::Particles;
use crate::picture::Picture;
use crate::poisson::PoissonError;
use crate::setup::Setup;
use crate::skin::{Placement, skin};
use crate::solids::Wall;
use crate::sources::Sources;
use crate::spray::Spray;
use crate::tiles::CELLS;

/// No drop is as fast, in m/s; beyond it the solve has diverged.
const RUNAWAY: f64 = 200.0;

/// Drops by level set.
#[derive(Debug)]
pub struct Volume {
    fluid: Fluid,
    world: World,
    setup: Setup,
    sources: Sources,
    history: History,
    spray: Spray,
    books: Books,
    /// Iterations of the last pressure solve.
    iterations: usize,
}

/// What is kept beside the cells.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Books {
    time: f64,
    /// In m³; in m² in a planar run.
    added: f64,
    lost: f64,
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct VolumeState {
    books: Books,
    world: WorldState,
    sources: Sources,
    history: HistoryState,
    spray: Spray,
    tiles: Vec<[i32; 3]>,
    phi: Vec<f64>,
    velocity: [Vec<f64>; 3],
    pressure: Vec<f64>,
    pinned: Vec<bool>,
    names: Vec<u32>,
    accounts: Vec<Account>,
    next_id: u32,
    particles: Particles,
    num_steps: u64,
    since_redistance: (u32, f64),
}

/// Contact angles as the material says: advancing over dry and over wet ground, receding, and the bound on the receding line force.
struct Hysteresis<'a> {
    /// γ, in N/m.
    surface_tension: f64,
    /// Not so in the paper's form, which has no pinning.
    pins: bool,
    solids: &'a [Solid],
    history: &'a History,
}

impl AngleLaw for Hysteresis<'_> {
    fn range(&self, wall: &Wall) -> AngleRange {
        AngleRange {
            receding: wall.receding,
            advancing: wall.advancing,
            receding_pull: wall.receding_limit / self.surface_tension,
            pins: self.pins,
        }
    }

    fn is_wet(&self, wall: &Wall, place: DVec3) -> bool {
        self.history.is_wet(self.solids, wall.solid as usize, place)
    }
}

impl Volume {
    /// The scene's liquid on its cells.
    pub fn new(scene: &Scene, world: World) -> Result<Self, VolumeError> {
        let setup = Setup::new(scene, &world)?;
        let mut fluid = setup.fill(&world)?;
        let mut history = History::new(setup.h, world.solids().len());
        let surface_tension = setup.parameters.water.surface_tension;
        let angles =
            Hysteresis { surface_tension, pins: setup.parameters.pins(), solids: world.solids(), history: &history };
        fluid.settle_extension(&angles);
        fluid.redistance();
        fluid.settle_extension(&angles);
        history.mark(&fluid, &world, true);
        fluid.label(&mut Vec::new());
        fluid.drops.measure_unknown_accounts();
        let added = fluid.drops.total() * setup.cell_volume();
        let books = Books { added, ..Books::default() };
        Ok(Self {
            fluid,
            world,
            setup,
            sources: Sources::default(),
            history,
            spray: Spray::default(),
            books,
            iterations: 0,
        })
    }

    /// Longest step that the state allows, in s.
    pub fn time_step_limit(&self) -> f64 {
        self.fluid.longest_step(&self.setup.parameters)
    }

    /// Number of cells in active tiles.
    pub fn active_cells(&self) -> usize {
        let tiles = &self.fluid.grid.tiles;
        tiles.len() * tiles.cells_in_use()
    }

    /// Iterations of the last pressure solve.
    pub fn pressure_iterations(&self) -> usize {
        self.iterations
    }

    fn step_error(&self, error: &PoissonError) -> StepError {
        let cell = match error {
            PoissonError::BadEquation { cell, .. } => *cell,
            PoissonError::NotConverged { .. } => [0; 3],
        };
        let grid = &self.fluid.grid;
        let place = grid.origin + grid.h * (DVec3::from(cell.map(f64::from)) + 0.5);
        StepError::NonFinite {
            what: format!("the pressure ({error})"),
            time: self.books.time,
            position: place.to_array(),
            advice: "set a smaller resolution.cell, or a volume.dt below the step that was taken".into(),
        }
    }

    /// Lets drops that no cell holds any more fly on as balls, in a planar run join the largest drop; returns what there is no place for, in cells.
    fn catch_vanished(&mut self) -> f64 {
        let Self { fluid, setup, spray, .. } = self;
        let mut gone = 0.0;
        for vanished in std::mem::take(&mut fluid.drops.vanished) {
            let Account { id, volume } = vanished.account;
            match vanished.cell {
                Some(cell) if !setup.planar => {
                    let velocity = airborne::velocity_at(fluid, cell);
                    spray.launch(id, fluid.grid.center(cell), velocity, volume * setup.cell_volume());
                }
                _ => match fluid.drops.accounts.iter_mut().max_by(|a, b| a.volume.total_cmp(&b.volume)) {
                    Some(largest) => largest.volume += volume,
                    None => gone += volume,
                },
            }
        }
        gone
    }

    /// Moves what is too small for the cells, and what has become so; returns what left the scene, in m³.
    fn move_spray(&mut self, dt: f64, events: &mut Vec<Event>) -> f64 {
        if self.setup.planar {
            return 0.0;
        }
        let Self { fluid, world, setup, spray, history, .. } = self;
        let (lost, landed) = airborne::fly(spray, dt, setup, world, fluid, events);
        let launched = airborne::launch_small(fluid, spray, setup.cell_volume());
        if landed || launched {
            let surface_tension = setup.parameters.water.surface_tension;
            let angles = Hysteresis { surface_tension, pins: setup.parameters.pins(), solids: world.solids(), history };
            fluid.redistance();
            fluid.settle_extension(&angles);
            fluid.forget_escaped();
        }
        lost
    }

    /// The middle of a drop's cells, in m.
    fn middle_of(&self, id: u32) -> DVec3 {
        let Fluid { grid, drops, .. } = &self.fluid;
        let cells = drops.names.values().iter().enumerate().filter(|(_, name)| **name == id);
        let (sum, count) = cells.fold((DVec3::ZERO, 0.0), |(sum, n), (index, _)| (sum + grid.center(index), n + 1.0));
        sum / f64::max(count, 1.0)
    }

    /// What only the model knows of each drop.
    fn facts(&self) -> Vec<DropState> {
        let Fluid { grid, velocity, pressure, drops, .. } = &self.fluid;
        let (tiles, cell_volume) = (&grid.tiles, self.setup.cell_volume());
        let scale = self.setup.parameters.water.density * grid.h;
        // (cells, momentum, fastest, pressure) by account.
        let mut sums = vec![(0.0, DVec3::ZERO, 0.0f64, 0.0); drops.accounts.len()];
        for (index, &name) in drops.names.values().iter().enumerate() {
            if name == 0 || index % CELLS >= tiles.cells_in_use() {
                continue;
            }
            let Ok(at) = drops.accounts.binary_search_by_key(&name, |account| account.id) else { continue };
            let mut here = DVec3::ZERO;
            for axis in 0..tiles.dims() {
                let component = velocity[axis].values();
                let high = tiles.next(index, axis, 1).map_or(component[index], |high| component[high]);
                here[axis] = 0.5 * (component[index] + high);
            }
            let sum = &mut sums[at];
            *sum = (sum.0 + 1.0, sum.1 + here, sum.2.max(here.length()), sum.3 + scale * pressure.values()[index]);
        }
        let facts = drops.accounts.iter().zip(sums).map(|(account, (cells, momentum, fastest, pressure))| {
            let count = f64::max(cells, 1.0);
            DropState {
                id: account.id,
                volume: account.volume * cell_volume,
                velocity: momentum / count,
                speed_max: fastest,
                pressure: Some(pressure / count),
            }
        });
        facts.collect()
    }
}

/// Counts the drop `lost` to the drop `kept`, with which the surface shows it as one; returns whether there are both.
fn join_facts(drops: &mut Vec<DropState>, lost: u32, kept: u32) -> bool {
    let place = |id: u32| drops.binary_search_by_key(&id, |drop| drop.id);
    let (Ok(from), Ok(to)) = (place(lost), place(kept)) else { return false };
    let (gone, stays) = (drops[from], drops[to]);
    let volume = gone.volume + stays.volume;
    let share = if volume > 0.0 { gone.volume / volume } else { 0.0 };
    let mixed = |a: f64, b: f64| a + share * (b - a);
    drops[to] = DropState {
        id: kept,
        volume,
        velocity: stays.velocity + (gone.velocity - stays.velocity) * share,
        speed_max: gone.speed_max.max(stays.speed_max),
        pressure: stays.pressure.zip(gone.pressure).map(|(a, b)| mixed(a, b)),
    };
    drops.remove(from);
    true
}

impl Model for Volume {
    fn time(&self) -> f64 {
        self.books.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        stages.enter("sources");
        let speed = self.fluid.fastest();
        if speed.is_nan() || speed > RUNAWAY {
            let advice = "set a smaller resolution.cell or volume.dt, or a slower start".into();
            return Err(StepError::Runaway { speed, time: self.books.time, advice });
        }
        let dt = even_share(limit, self.fluid.longest_step(&self.setup.parameters));
        let until = self.books.time + dt;
        self.world.advance_to(until);
        let supply = self.world.emissions(self.books.time, until);
        let poured = self.sources.pour(&supply, &self.setup, &self.world, &mut self.fluid, &mut self.spray);
        self.books.added += poured * self.setup.cell_volume();
        if poured != 0.0 {
            self.fluid.forget_escaped();
        }
        stages.enter("tiles");
        self.fluid.adapt(&self.world, &[]);
        if self.world.solids().iter().any(Solid::moves) {
            self.fluid.sample_solids(&self.world);
        }
        let surface_tension = self.setup.parameters.water.surface_tension;
        let angles = Hysteresis {
            surface_tension,
            pins: self.setup.parameters.pins(),
            solids: self.world.solids(),
            history: &self.history,
        };
        let outside = Outside { world: &self.world, gravity: self.world.gravity(), angles: &angles };
        let mut events: Vec<Event> = Vec::new();
        let feeds = self.sources.feeds(&supply, &self.setup);
        let done = self.fluid.step(dt, &outside, &self.setup.parameters, &feeds, &mut events, stages);
        let done = done.map_err(|error| self.step_error(&error))?;
        self.books.added += done.fed * self.setup.cell_volume();
        self.history.mark(&self.fluid, &self.world, false);
        stages.enter("spray");
        let mut gone = self.catch_vanished();
        // Before balls land: where one does, tiles change, and the step's list of cells is no longer theirs.
        if let Some(bounds) = self.setup.bounds {
            let cut = self.fluid.cut_off(bounds);
            if cut > 0.0 {
                self.fluid.forget_escaped();
            }
            gone += cut;
        }
        self.books.lost += self.move_spray(dt, &mut events);
        self.books.lost += gone * self.setup.cell_volume();
        self.iterations = done.pressure.iterations;
        self.books.time = until;
        let mut reports = StageReports::default();
        reports.add("pressure.iterations", done.pressure.iterations as u64);
        reports.keep_largest("pressure.residual", done.pressure.residual);
        reports.keep_largest("surface.particles", self.fluid.particles.len() as f64);
        Ok(StepReport { dt, events, stages: reports })
    }

    fn frame(&self) -> Frame {
        let grid = &self.fluid.grid;
        let picture = Picture { fluid: &self.fluid, world: &self.world };
        let placement = Placement { origin: grid.origin, h: grid.h };
        // Liquid that is spread over more than can be drawn is shown as none; the measures still tell of it.
        let (mut surface, joined) =
            skin(&grid.tiles, placement, &picture).map(|skin| (skin.surface, skin.joined)).unwrap_or_default();
        let mut drops = self.facts();
        for (lost, kept) in joined {
            if join_facts(&mut drops, lost, kept) {
                // Other pieces of the lost one, which do not touch the kept one, go by its name too.
                surface.drops.iter_mut().filter(|drop| **drop == lost).for_each(|drop| *drop = kept);
            }
        }
        let mut shown = surface.drops.clone();
        shown.sort_unstable();
        shown.dedup();
        // What is thinner than the skin can show is drawn as a ball.
        let mut hidden = Spray::default();
        for drop in drops.iter().filter(|drop| shown.binary_search(&drop.id).is_err()) {
            // In a planar run the ball is as wide as the disc of that area.
            let disc = 4.0 / 3.0 * PI * (drop.volume / PI).powf(1.5);
            let volume = if self.setup.planar { disc } else { drop.volume };
            hidden.launch(drop.id, self.middle_of(drop.id), drop.velocity, volume);
        }
        drops.retain(|drop| drop.volume > 0.0 || shown.binary_search(&drop.id).is_ok());
        hidden.add_to(&mut surface);
        self.spray.add_to(&mut surface);
        drops.extend(airborne::facts(&self.spray, self.setup.parameters.water.surface_tension));
        drops.sort_unstable_by_key(|drop| drop.id);
        Frame {
            time: self.books.time,
            liquid: FrameGeometry::Surfaces(surface),
            drops,
            wet: self.history.maps(&self.world),
            balance: VolumeBalance { added: self.books.added, lost: self.books.lost, film: 0.0 },
            active_cells: self.active_cells() as u64,
        }
    }

    fn fields(&self) -> Option<GridFields> {
        let Fluid { grid, phi, velocity, pressure, .. } = &self.fluid;
        let scaled = |values: &[f64], factor: f64| values.iter().map(|value| (factor * value) as f32).collect();
        let [x, y, z] = velocity;
        Some(GridFields {
            origin: grid.origin,
            cell: grid.h,
            planar: grid.tiles.topology().planar,
            tiles: grid.tiles.coords().to_vec(),
            phi: scaled(phi.values(), grid.h),
            velocity: [x, y, z].map(|component| scaled(component.values(), 1.0)),
            pressure: scaled(pressure.values(), self.setup.parameters.water.density * grid.h),
        })
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn save(&self) -> Vec<u8> {
        let fluid = &self.fluid;
        let state = VolumeState {
            books: self.books,
            world: self.world.save(),
            sources: self.sources.clone(),
            history: self.history.save(),
            spray: self.spray.clone(),
            tiles: fluid.grid.tiles.coords().to_vec(),
            phi: fluid.phi.values().to_vec(),
            velocity: [0, 1, 2].map(|axis| fluid.velocity[axis].values().to_vec()),
            pressure: fluid.pressure.values().to_vec(),
            pinned: fluid.pinned.values().to_vec(),
            names: fluid.drops.names.values().to_vec(),
            accounts: fluid.drops.accounts.clone(),
            next_id: fluid.drops.next_id,
            particles: fluid.particles.clone(),
            num_steps: fluid.num_steps,
            since_redistance: fluid.since_redistance,
        };
        // Plain numbers into memory: there is nothing that could fail.
        postcard::to_stdvec(&state).expect("a state of plain data")
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let mut state: VolumeState = postcard::from_bytes(state).map_err(|error| RestoreError(error.to_string()))?;
        let count = state.tiles.len() * CELLS;
        let [x, y, z] = &state.velocity;
        let sizes = [&state.phi, x, y, z, &state.pressure].map(Vec::len);
        if sizes != [count; 5] || state.pinned.len() != count || state.names.len() != count {
            return Err(RestoreError("its fields do not have the size of its tiles".into()));
        }
        if !state.particles.fits(state.tiles.len()) {
            return Err(RestoreError("its particles do not lie in its tiles".into()));
        }
        self.world.restore(&state.world).map_err(|error| RestoreError(error.to_string()))?;
        let fluid = &mut self.fluid;
        fluid.take_tiles(&self.world, &mut state.tiles);
        if fluid.phi.values().len() != count {
            return Err(RestoreError("its tiles are not in order".into()));
        }
        fluid.phi.values_mut().copy_from_slice(&state.phi);
        for (field, saved) in fluid.velocity.iter_mut().zip(&state.velocity) {
            field.values_mut().copy_from_slice(saved);
        }
        fluid.pressure.values_mut().copy_from_slice(&state.pressure);
        fluid.pinned.values_mut().copy_from_slice(&state.pinned);
        fluid.drops.names.values_mut().copy_from_slice(&state.names);
        fluid.drops.accounts = state.accounts;
        fluid.drops.next_id = state.next_id;
        fluid.drops.vanished.clear();
        (fluid.particles, fluid.num_steps) = (state.particles, state.num_steps);
        fluid.since_redistance = state.since_redistance;
        if !self.history.restore(state.history) {
            return Err(RestoreError("its wet ground belongs to other solids".into()));
        }
        (self.books, self.sources, self.spray) = (state.books, state.sources, state.spray);
        Ok(())
    }
}

/// A step of at most `longest` such that equal steps end at `limit`, so that none is much shorter than the others.
fn even_share(limit: f64, longest: f64) -> f64 {
    limit / (limit / longest).ceil().max(1.0)
}

#[cfg(test)]
mod tests;
