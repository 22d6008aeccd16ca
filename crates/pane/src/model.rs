//! The pane model: a step, a frame, a checkpoint.

mod by_hand;

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Frame, FrameGeometry, VolumeBalance, WetMap};
use sessile_model::{
    InteractionError, Model, Region, RestoreError, StageReports, StageTimer, StepError, StepReport, Stroke, View,
};
use sessile_scene::{DropShape, Fidelity, Scene};
use sessile_sliding::{Ball, DropId, IdCounter, ModelState, Projectile, apply_emissions, ball_radius, nucleate};
use sessile_wetting::evaporation::film_rate;
use sessile_wetting::spreading::is_followed;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Wetting, cap};
use sessile_world::random::Stream;
use sessile_world::{PlacedSource, RigidVelocity, World, WorldState};

use crate::automaton::{Automaton, AutomatonState, Weights};
use crate::bodies::Bodies;
use crate::display;
use crate::drops::PaneDrop;
use crate::error::PaneError;
use crate::flight::first_contact;
use crate::frame::PaneFrame;
use crate::inertia::Inertia;
use crate::motion::StepContext;
use crate::obstacles::Obstacles;
use crate::parameters::{DEW_STREAM, PARAMETERS, SITE_STREAM};
use crate::physical::{Physical, PhysicalState};
use crate::setup::Setup;
use crate::sources::Target;
use crate::substrate::{Substrate, SubstrateState};
use crate::wet_map::wet_map;

/// Drops on a flat pane.
#[derive(Debug)]
pub struct Pane {
    world: World,
    setup: Setup,
    solver: Solver,
    state: ModelState,
    /// Solids other than the pane.
    obstacles: Obstacles,
    /// Contact angles that the scene gives its caps, in rad.
    initial_angles: BTreeMap<DropId, f64>,
    /// What the pane's own acceleration in the last step adds to gravity.
    inertia: Option<Inertia>,
}

/// The drops on the pane and the rules that move them.
#[derive(Debug)]
pub(crate) enum Solver {
    /// Force balance, `fidelity = "physical"`.
    Physical(Box<Physical>),
    /// Algorithm 1 of the paper, `fidelity = "paper"`.
    Paper(Box<PaperSolver>),
}

/// The paper's cellular automaton on its substrate.
#[derive(Debug)]
pub(crate) struct PaperSolver {
    pub substrate: Substrate,
    pub automaton: Automaton,
    weights: Weights,
    /// Passes done so far.
    passes: u64,
}

/// The state that a checkpoint stores.
#[derive(Serialize, Deserialize)]
struct PaneState {
    state: ModelState,
    world: WorldState,
    solver: SolverState,
    inertia: Option<Inertia>,
}

#[derive(Serialize, Deserialize)]
enum SolverState {
    Physical(Box<PhysicalState>),
    Paper { substrate: SubstrateState, automaton: AutomatonState, passes: u64 },
}

impl Pane {
    /// A pane as the scene describes it, with its initial drops.
    pub fn new(scene: &Scene, world: World) -> Result<Self, PaneError> {
        let setup = Setup::new(scene, &world)?;
        let substrate = setup.substrate(&world);
        let solver = match scene.fidelity {
            Fidelity::Physical => Solver::Physical(Box::new(Physical::new(setup.size, substrate))),
            Fidelity::Paper => {
                let automaton = Automaton::new(substrate.num_cells());
                Solver::Paper(Box::new(PaperSolver { substrate, automaton, weights: setup.weights, passes: 0 }))
            }
        };
        let state = ModelState::new(world.solids().len());
        let obstacles = Obstacles::new(world.solids(), setup.solid);
        let mut pane = Self { world, setup, solver, state, obstacles, initial_angles: BTreeMap::new(), inertia: None };
        pane.place_initial_drops()?;
        Ok(pane)
    }

    /// Puts a drop on the pane, `position` in m from its lower left corner; the next step merges it
    /// with what it touches.
    pub fn add_drop(&mut self, position: DVec2, volume: f64) {
        let frame = self.frame_now();
        let context = self.context(&frame);
        let id = self.state.add_drop(volume);
        self.solver.land(id, position, volume, 0.0, &frame, &context);
    }

    /// Number of drops on the pane and in the air.
    pub fn num_drops(&self) -> usize {
        let on_pane = match &self.solver {
            Solver::Physical(physical) => physical.drops.count(),
            Solver::Paper(paper) => paper.automaton.num_drops(),
        };
        on_pane + self.state.balls.len()
    }

    /// Number of drops that slide along the pane.
    pub fn num_sliding(&self) -> usize {
        match &self.solver {
            Solver::Physical(physical) => physical.num_sliding(),
            Solver::Paper(paper) => paper.automaton.num_moving(),
        }
    }

    /// Mean speed of the sliding drops, in m/s; 0 without any, and in the paper mode.
    pub fn mean_sliding_speed(&self) -> f64 {
        let Solver::Physical(physical) = &self.solver else { return 0.0 };
        let speeds = physical.drops.iter().filter(|(_, drop)| drop.sliding).map(|(_, drop)| f64::from(drop.speed));
        speeds.sum::<f64>() / physical.num_sliding().max(1) as f64
    }

    /// The pane at the world's time.
    fn frame_now(&self) -> PaneFrame {
        self.setup.frame(&self.world)
    }

    /// The pane and its velocity at the world's time.
    fn moving_frame(&self) -> (PaneFrame, RigidVelocity) {
        (self.frame_now(), *self.world.solids()[self.setup.solid].velocity())
    }

    /// What acts on the drops at the world's time.
    fn context(&self, frame: &PaneFrame) -> StepContext {
        let gravity = self.world.gravity();
        let pane_velocity = self.world.solids()[self.setup.solid].velocity_at(frame.point_at(0.5 * frame.size));
        StepContext {
            liquid: self.setup.liquid,
            gravity: frame.tangential(gravity),
            normal_acceleration: self.inertia.map_or(0.0, |inertia| inertia.normal) - gravity.dot(frame.normal()),
            inertia: self.inertia,
            wind: frame.tangential(self.world.wind() - pane_velocity),
            overrides: self.setup.overrides,
            damping: if self.setup.settle { PARAMETERS.settle_damping } else { 0.0 },
        }
    }

    /// Places the scene's drops: caps on the pane, everything else in the air.
    fn place_initial_drops(&mut self) -> Result<(), PaneError> {
        let frame = self.frame_now();
        let context = self.context(&frame);
        let Self { world, setup, solver, state, initial_angles, .. } = self;
        for drop in world.initial_drops() {
            let (volume, centroid) = (drop.volume(), drop.centroid());
            let DropShape::Cap { on, contact_angle, .. } = *drop.shape() else {
                state.add_ball(Projectile { center: centroid, velocity: drop.velocity(), volume }, 0.0);
                continue;
            };
            if on != setup.solid {
                let solid = world.solids()[on].name().to_owned();
                return Err(PaneError::CapElsewhere { drop: drop.index(), solid, pane: setup.name.clone() });
            }
            let position = frame.position_of(centroid);
            if !frame.contains(position) {
                return Err(PaneError::DropBesidePane { drop: drop.index(), pane: setup.name.clone() });
            }
            let id = state.add_drop(volume);
            let rest =
                ShapeTable::shared().rest_shape(volume, contact_angle, context.normal_acceleration, &setup.liquid);
            let radius = rest.map_or_else(|| cap::base_radius(volume, contact_angle), |rest| rest.base_radius);
            solver.land(id, position, volume, radius, &frame, &context);
            initial_angles.insert(id, contact_angle);
        }
        // Caps that overlap are one body from the start.
        if let Solver::Paper(paper) = solver {
            paper.label(setup.pass_interval, &context, &mut state.ids, &mut Vec::new());
        }
        self.release_detached(&frame);
        Ok(())
    }

    /// Adds what emitters release between the current time and `until` (in s).
    fn receive(&mut self, until: f64, frame: &PaneFrame, context: &StepContext) {
        let Self { world, setup, solver, state, .. } = self;
        let mut target = Target { solver, setup, frame, context, gravity: world.gravity() };
        let random = |grain: u64| Stream::new(setup.seed, &[DEW_STREAM, grain]);
        apply_emissions(world.emissions(state.time, until), until, state, random, &mut target);
        if let Some(coefficient) = setup.evaporation.filter(|coefficient| *coefficient < 0.0) {
            let site = |site: u64| Stream::new(setup.seed, &[SITE_STREAM, site]);
            nucleate(setup.solid, (film_rate(-coefficient), until - state.time), state, site, &mut target);
        }
    }

    /// Follows the keys of the humidity.
    fn update_humidity(&mut self) {
        if self.world.humidity_changes() {
            self.setup.evaporation = self.world.evaporation_coefficient(self.setup.solid, self.setup.liquid.density);
        }
    }

    /// Lets airborne drops fly for the rest of the step; returns the number of those that landed.
    fn fly(&mut self, frame: &PaneFrame, context: &StepContext, (dt, end): (f64, f64)) -> u64 {
        let gravity = self.world.gravity();
        let Self { world, setup, solver, state, obstacles, .. } = self;
        let ModelState { balls, lost, .. } = state;
        let mut landed = 0;
        balls.retain_mut(|ball| {
            let landing = |ball: &Ball| landing(ball, frame, gravity);
            if let Some(place) = obstacles.fly(ball, world.solids(), gravity, end, landing) {
                let delay = dt - ball.remaining + place.time;
                solver.touch_down(ball, &place, delay, setup, frame, context);
                landed += 1;
                return false;
            }
            obstacles.check_ball(ball, &world.solids()[setup.solid], frame, end);
            let is_lost = setup.is_past(ball.body.center, gravity, frame);
            if is_lost {
                *lost += ball.body.volume;
            }
            !is_lost
        });
        landed
    }

    /// Makes airborne drops of those that have detached; returns their number.
    fn release_detached(&mut self, frame: &PaneFrame) -> u64 {
        let Solver::Physical(physical) = &mut self.solver else { return 0 };
        let count = physical.detached.len() as u64;
        let airborne = physical.detached.drain(..).filter_map(|(drop, speed)| {
            let velocity = frame.lift(drop.velocity()) + frame.normal() * speed;
            let point = frame.point_at(drop.position);
            let body = Projectile::detached(point, frame.normal(), velocity, drop.volume);
            drop.id.map(|id| Ball { id, body, remaining: 0.0 })
        });
        self.state.take_detached(airborne);
        count
    }

    /// Length of the next step, in s, at most `limit`.
    fn step_length(&self, limit: f64) -> f64 {
        match &self.solver {
            Solver::Physical(physical) => limit.min(physical.longest_step(&self.context(&self.frame_now()))),
            Solver::Paper(paper) => {
                let interval = self.setup.pass_interval;
                limit.min((paper.next_pass(interval) - self.state.time).max(1e-9 * interval))
            }
        }
    }

    /// Advances the drops on the pane by `dt` seconds to the time `end`.
    fn advance_drops(
        &mut self,
        (dt, end): (f64, f64),
        context: &StepContext,
        events: &mut Vec<Event>,
        timer: &mut dyn StageTimer,
    ) -> StageReports {
        let gravity = self.world.gravity().length();
        match &mut self.solver {
            Solver::Physical(physical) => physical.step(context, (dt, end), &mut self.state.ids, events, timer),
            Solver::Paper(paper) => {
                timer.enter("pass");
                let interval = self.setup.pass_interval;
                let report = paper.pass_if_due(end, interval, context, gravity);
                paper.label(interval, context, &mut self.state.ids, events);
                report
            }
        }
    }

    /// Removes what evaporates in a step of `dt` seconds, or adds what condenses.
    fn evaporate(&mut self, dt: f64, context: &StepContext, timer: &mut dyn StageTimer) {
        if let (Some(coefficient), Solver::Physical(physical)) = (self.setup.evaporation, &mut self.solver) {
            timer.enter("evaporate");
            self.state.evaporated += physical.evaporate(coefficient, dt, context);
        }
    }

    /// Reports drops on the pane that reach into other solids.
    fn check_obstacles(&mut self, frame: &PaneFrame, context: &StepContext) {
        let Self { world, setup, solver, state, obstacles, .. } = self;
        let (solids, now) = (world.solids(), state.time);
        match solver {
            Solver::Physical(physical) => {
                let drops = physical.drops.slots().iter().filter(|drop| drop.id.is_some());
                obstacles.check(&drops, solids, frame, now);
            }
            Solver::Paper(paper) if solids.len() > 1 => {
                let bodies = paper.bodies(setup.pass_interval, context);
                obstacles.check(&bodies.drops.iter().map(|(_, drop)| drop), solids, frame, now);
            }
            Solver::Paper(_) => {}
        }
    }
}

/// How a ball lands.
struct Landing {
    /// Time from the beginning of the part of its flight, in s.
    time: f64,
    /// Where, in m.
    position: DVec2,
    /// Speed towards the pane, in m/s.
    normal_speed: f64,
}

/// How a ball lands in this step; `None` if it does not.
fn landing(ball: &Ball, frame: &PaneFrame, gravity: DVec3) -> Option<Landing> {
    let time = first_contact(&ball.body, frame.corner, frame.normal(), gravity, ball.remaining)?;
    let mut landed = ball.body;
    landed.fall(gravity, time);
    let position = frame.position_of(landed.center);
    let normal_speed = landed.velocity.dot(frame.normal()).abs();
    frame.contains(position).then_some(Landing { time, position, normal_speed })
}

impl Solver {
    /// Puts a ball that lands on the pane, `delay` seconds after the beginning of the step.
    fn touch_down(
        &mut self,
        ball: &Ball,
        landed: &Landing,
        delay: f64,
        setup: &Setup,
        frame: &PaneFrame,
        context: &StepContext,
    ) {
        let Landing { position, normal_speed, .. } = *landed;
        let volume = ball.body.volume;
        match self {
            Self::Physical(physical) if is_followed(volume) => {
                let position = position.clamp(DVec2::ZERO, frame.size);
                physical.touch_down(PaneDrop::at_rest(ball.id, position, volume), normal_speed, delay, context);
            }
            _ => {
                let radius = setup.spread_radius(volume, normal_speed);
                self.land(ball.id, position, volume, radius, frame, context);
            }
        }
    }

    /// Puts a drop on the pane with its contact line at `radius` (in m), within the bounds of the
    /// contact angles.
    fn land(
        &mut self,
        id: DropId,
        position: DVec2,
        volume: f64,
        radius: f64,
        frame: &PaneFrame,
        context: &StepContext,
    ) {
        let position = position.clamp(DVec2::ZERO, frame.size);
        match self {
            Self::Physical(physical) => physical.deposit(PaneDrop::at_rest(id, position, volume), radius, context),
            Self::Paper(paper) => {
                let PaperSolver { substrate, automaton, .. } = &mut **paper;
                let cell = substrate.cell_at(position);
                automaton.add(cell, volume, id);
                automaton.wet_under(substrate, cell, context);
            }
        }
    }

    /// The cells of the pane.
    fn substrate(&self) -> &Substrate {
        match self {
            Self::Physical(physical) => &physical.substrate,
            Self::Paper(paper) => &paper.substrate,
        }
    }

    /// Volume lost over the pane's edges, in m³.
    fn lost(&self) -> f64 {
        match self {
            Self::Physical(physical) => physical.lost,
            Self::Paper(paper) => paper.automaton.lost,
        }
    }
}

impl PaperSolver {
    /// Time of the next pass, in s.
    fn next_pass(&self, interval: f64) -> f64 {
        (self.passes + 1) as f64 * interval
    }

    /// Does a pass of Algorithm 1 if one is due at the time `end` (in s).
    fn pass_if_due(&mut self, end: f64, interval: f64, context: &StepContext, gravity: f64) -> StageReports {
        let mut report = StageReports::default();
        // Rounding must not put a pass behind a frame at the same time.
        if end >= self.next_pass(interval) - 1e-6 * interval {
            let wind = self.wind_per_weight(context, gravity);
            let Self { substrate, automaton, weights, passes } = self;
            // What the last pass began has arrived.
            automaton.wet_routes(substrate, context, 1.0);
            let moved = automaton.pass(substrate, weights, wind);
            *passes += 1;
            report.add("pass.moves", moved);
        }
        self.automaton.wet_routes(&self.substrate, context, self.covered(end, interval));
        report
    }

    /// Part of the routes of the last pass that is covered at a time (in s), 0 to 1.
    fn covered(&self, time: f64, interval: f64) -> f64 {
        (time / interval - self.passes as f64).clamp(0.0, 1.0)
    }

    /// The bodies of liquid on the pane.
    fn bodies(&self, interval: f64, context: &StepContext) -> Bodies {
        Bodies::new(&self.automaton, &self.substrate, context, interval)
    }

    /// Gives every body of liquid one id.
    fn label(&mut self, interval: f64, context: &StepContext, ids: &mut IdCounter, events: &mut Vec<Event>) {
        self.bodies(interval, context).label(&mut self.automaton, ids, events);
    }

    /// Drag of the wind on a drop of the static critical weight, in units of that weight.
    fn wind_per_weight(&self, context: &StepContext, gravity: f64) -> DVec2 {
        let law = self.substrate.law_at(DVec2::ZERO);
        let volume = self.weights.static_critical;
        let radius = context.advancing_radius(law, volume).unwrap_or_else(|| ball_radius(volume));
        let without_gravity = StepContext { gravity: DVec2::ZERO, inertia: None, ..*context };
        let weight = context.liquid.density * volume * gravity;
        if weight > 0.0 {
            without_gravity.force((DVec2::ZERO, DVec2::ZERO), volume, radius, law) / weight
        } else {
            DVec2::ZERO
        }
    }
}

impl Model for Pane {
    fn time(&self) -> f64 {
        self.state.time
    }

    fn step(&mut self, limit: f64, timer: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = self.step_length(limit);
        let end = self.state.time + dt;
        let (before, moving) = (self.poses(), self.moving_frame());
        self.world.advance_to(end);
        let frame = self.frame_now();
        if matches!(self.solver, Solver::Physical(_)) {
            self.inertia = Inertia::over(&moving, &self.moving_frame(), dt);
        }
        let context = self.context(&frame);
        let mut events = Vec::new();
        timer.enter("sources");
        self.update_humidity();
        self.state.begin_flight(dt);
        self.receive(end, &frame, &context);
        timer.enter("flight");
        let landed = self.fly(&frame, &context, (dt, end));
        let mut stages = self.advance_drops((dt, end), &context, &mut events, timer);
        self.evaporate(dt, &context, timer);
        stages.add("flight.landed", landed);
        stages.add("solids.pushed_drops", self.push_drops(&before, &frame, &context));
        stages.add("flight.detached", self.release_detached(&frame));
        self.state.time = end;
        self.check_obstacles(&frame, &context);
        Ok(StepReport { dt, events, stages })
    }

    fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.obstacles.notices)
    }

    fn frame(&self) -> Frame {
        let frame = self.frame_now();
        let context = self.context(&frame);
        let solid = self.setup.solid as u32;
        let later = BTreeMap::new();
        let initial_angles = if self.state.time == 0.0 { &self.initial_angles } else { &later };
        let display = |initial_angles| display::Display { frame: &frame, context: &context, solid, initial_angles };
        let mut shown = match &self.solver {
            Solver::Physical(physical) => display(initial_angles).physical(physical),
            Solver::Paper(paper) => {
                let interval = self.setup.pass_interval;
                let bodies = paper.bodies(interval, &context);
                let covered = paper.covered(self.state.time, interval);
                display(&later).paper(&bodies, &paper.substrate, &paper.automaton, covered)
            }
        };
        let display = display(&later);
        shown.extend(self.state.balls.iter().map(|ball| display.ball(ball)));
        shown.sort_unstable_by_key(|(instance, _)| instance.drop);
        let positions = shown.iter().map(|(instance, _)| instance.frame.origin).collect();
        let (instances, drops) = shown.into_iter().unzip();
        let substrate = self.solver.substrate();
        Frame {
            time: self.state.time,
            liquid: FrameGeometry::Instances(instances),
            drops,
            positions,
            wet: vec![wet_map(substrate, self.setup.solid)],
            balance: self.present_balance(),
            active_cells: self.num_sliding() as u64,
        }
    }

    fn view(&self, into: &mut View) {
        self.show(into);
    }

    fn balance(&self) -> VolumeBalance {
        self.present_balance()
    }

    fn wet_maps(&self) -> Vec<WetMap> {
        vec![self.present_wetness()]
    }

    fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        self.add_by_hand(at, velocity, volume)
    }

    fn take(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        self.take_by_hand(region, share)
    }

    fn wipe(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        self.wipe_by_hand(stroke)
    }

    fn set_material(&mut self, solid: usize, wetting: Option<Wetting>) -> Result<(), InteractionError> {
        self.set_material_by_hand(solid, wetting)
    }

    fn place_source(&mut self, source: PlacedSource) -> Result<u32, InteractionError> {
        self.place_by_hand(source)
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn save(&self) -> Vec<u8> {
        let solver = match &self.solver {
            Solver::Physical(physical) => SolverState::Physical(Box::new(physical.save())),
            Solver::Paper(paper) => SolverState::Paper {
                substrate: paper.substrate.save(),
                automaton: paper.automaton.save(),
                passes: paper.passes,
            },
        };
        let saved = PaneState { state: self.state.clone(), world: self.world.save(), solver, inertia: self.inertia };
        // Plain numbers into memory cannot fail.
        postcard::to_stdvec(&saved).expect("a pane's state is plain data")
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let saved: PaneState = postcard::from_bytes(bytes).map_err(|error| RestoreError(error.to_string()))?;
        if saved.state.sites_visited.len() != self.state.sites_visited.len() {
            return Err(RestoreError("it belongs to other solids".into()));
        }
        let other_grid = || RestoreError("it belongs to a pane with other cells".into());
        match (&mut self.solver, saved.solver) {
            (Solver::Physical(physical), SolverState::Physical(state)) => {
                let mut empty = Physical::new(self.setup.size, self.setup.substrate(&self.world));
                if !empty.restore(*state) {
                    return Err(other_grid());
                }
                **physical = empty;
            }
            (Solver::Paper(paper), SolverState::Paper { substrate, automaton, passes }) => {
                if !paper.automaton.restore(automaton) || !paper.substrate.restore(substrate) {
                    return Err(other_grid());
                }
                paper.passes = passes;
            }
            _ => return Err(RestoreError("it belongs to the other fidelity".into())),
        }
        let had_other_materials = self.world.has_materials_by_hand();
        self.world.restore(&saved.world).map_err(|error| RestoreError(error.to_string()))?;
        if had_other_materials || self.world.has_materials_by_hand() {
            self.refresh_laws();
        }
        (self.state, self.inertia) = (saved.state, saved.inertia);
        Ok(())
    }
}
