//! The pane as a model: what comes onto it, a step, a frame, a saved state.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Frame, FrameGeometry, VolumeBalance};
use sessile_model::{Model, RestoreError, StageTimer, StepError, StepReport};
use sessile_scene::{DropShape, Fidelity, Scene};
use sessile_wetting::cap;
use sessile_world::random::Stream;
use sessile_world::{Emission, World, WorldState};

use crate::automaton::{Automaton, AutomatonState, Weights};
use crate::drops::PaneDrop;
use crate::error::PaneError;
use crate::flight::{Ball, ball_radius};
use crate::forms;
use crate::ground::{Ground, GroundState};
use crate::motion::Slope;
use crate::physical::{Physical, PhysicalState};
use crate::setup::Setup;
use crate::sheet::Sheet;
use crate::wet_map::wet_map;

/// Drag that `settle` adds, in 1/s: a running drop comes to its terminal speed, or to rest, within a few hundredths of a second.
const SETTLE_DAMPING: f64 = 50.0;
/// A ball this far past the pane, in m, is lost.
const MISSED_BY: f64 = 0.05;
/// Key of the dew's random stream among those of the seed.
const DEW: u64 = 0xdeed;

/// Drops on a flat pane.
#[derive(Debug)]
pub struct Pane {
    world: World,
    setup: Setup,
    form: Form,
    books: Books,
}

/// Which rules move the drops.
#[derive(Debug)]
enum Form {
    Physical(Box<Physical>),
    Paper { ground: Box<Ground>, automaton: Automaton, weights: Weights },
}

/// What is kept beside the drops on the pane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Books {
    time: f64,
    added: f64,
    /// Lost in the air; what left over the pane's edge is counted by the form.
    lost: f64,
    next_id: u32,
    /// In the air, by rising id.
    balls: Vec<Ball>,
    /// Passes of the paper's algorithm made so far.
    passes: u64,
    /// Condensed and not yet laid down as dew, in m³.
    dew: f64,
    num_dew: u64,
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct PaneState {
    books: Books,
    world: WorldState,
    form: FormState,
}

#[derive(Serialize, Deserialize)]
enum FormState {
    Physical(Box<PhysicalState>),
    Paper { ground: GroundState, automaton: AutomatonState },
}

impl Pane {
    /// A pane as the scene describes it, with its drops in place.
    pub fn new(scene: &Scene, world: World) -> Result<Self, PaneError> {
        let setup = Setup::new(scene, &world)?;
        let ground = setup.ground(&world);
        let form = match scene.fidelity {
            Fidelity::Physical => Form::Physical(Box::new(Physical::new(setup.size, ground))),
            Fidelity::Paper => {
                let automaton = Automaton::new(ground.columns * ground.rows);
                Form::Paper { ground: Box::new(ground), automaton, weights: setup.weights }
            }
        };
        let books = Books { next_id: 1, ..Books::default() };
        let mut pane = Self { world, setup, form, books };
        pane.place_drops(scene)?;
        Ok(pane)
    }

    /// Puts a drop on the pane, `place` in m from its lower left corner; the next step merges it with what it touches.
    pub fn add_drop(&mut self, place: DVec2, volume: f64) {
        let sheet = self.sheet();
        let slope = self.slope(&sheet);
        self.books.added += volume;
        let id = self.new_id();
        let mut events = Vec::new();
        self.land(place, volume, id, 0.0, &sheet, &slope, &mut events);
    }

    /// Number of drops on the pane and in the air.
    pub fn num_drops(&self) -> usize {
        let on_pane = match &self.form {
            Form::Physical(pane) => pane.drops.count(),
            Form::Paper { automaton, .. } => automaton.cells.iter().filter(|cell| cell.id != 0).count(),
        };
        on_pane + self.books.balls.len()
    }

    /// Number of drops that are on their way along the pane.
    pub fn num_running(&self) -> usize {
        match &self.form {
            Form::Physical(pane) => pane.num_running(),
            Form::Paper { automaton, .. } => automaton.cells.iter().filter(|cell| cell.moving).count(),
        }
    }

    /// Mean speed of the drops that are on their way along the pane, in m/s; 0 without any, and in the paper's form.
    pub fn mean_running_speed(&self) -> f64 {
        let Form::Physical(pane) = &self.form else { return 0.0 };
        let speeds = pane.drops.iter().filter(|(_, drop)| drop.running).map(|(_, drop)| f64::from(drop.speed));
        speeds.sum::<f64>() / pane.num_running().max(1) as f64
    }

    /// The pane now.
    fn sheet(&self) -> Sheet {
        self.setup.sheet(&self.world)
    }

    /// What acts along the pane now.
    fn slope(&self, sheet: &Sheet) -> Slope {
        let gravity = self.world.gravity();
        let carried = self.world.solids()[self.setup.solid].velocity_at(sheet.point_at(0.5 * sheet.size));
        Slope {
            liquid: self.setup.liquid,
            gravity: sheet.along(gravity),
            pressing: -gravity.dot(sheet.normal()),
            wind: sheet.along(self.world.wind() - carried),
            overrides: self.setup.overrides,
            damping: if self.setup.settle { SETTLE_DAMPING } else { 0.0 },
        }
    }

    /// The drops that the scene begins with: caps stand where they are put, everything else falls from where it is.
    fn place_drops(&mut self, scene: &Scene) -> Result<(), PaneError> {
        let sheet = self.sheet();
        let slope = self.slope(&sheet);
        let mut events = Vec::new();
        for index in 0..self.world.initial_drops().len() {
            let drop = &self.world.initial_drops()[index];
            let (volume, centroid, velocity) = (drop.volume(), drop.centroid(), drop.velocity());
            match scene.drops[drop.index()].shape {
                DropShape::Cap { on, contact_angle, .. } => {
                    let place = sheet.place_of(centroid);
                    if on != self.setup.solid {
                        let solid = scene.solids[on].name.clone();
                        return Err(PaneError::CapElsewhere {
                            drop: drop.index(),
                            solid,
                            pane: self.setup.name.clone(),
                        });
                    }
                    if !sheet.holds(place) {
                        return Err(PaneError::DropBesidePane { drop: drop.index(), pane: self.setup.name.clone() });
                    }
                    self.books.added += volume;
                    let id = self.new_id();
                    let radius = cap::base_radius(volume, contact_angle);
                    self.land(place, volume, id, radius, &sheet, &slope, &mut events);
                }
                _ => self.add_ball(centroid, velocity, volume),
            }
        }
        self.take_up_fallen(&sheet);
        Ok(())
    }

    fn new_id(&mut self) -> u32 {
        let id = self.books.next_id;
        self.books.next_id += 1;
        id
    }

    fn add_ball(&mut self, center: DVec3, velocity: DVec3, volume: f64) {
        self.books.added += volume;
        let id = self.new_id();
        self.books.balls.push(Ball { id, center, velocity, volume });
    }

    /// A drop comes to rest on the pane, its line at `radius` (in m) as far as the angles allow.
    #[expect(clippy::too_many_arguments, reason = "a drop's place, amount, name and width, and where it lands")]
    fn land(
        &mut self,
        place: DVec2,
        volume: f64,
        id: u32,
        radius: f64,
        sheet: &Sheet,
        slope: &Slope,
        events: &mut Vec<Event>,
    ) {
        let place = place.clamp(DVec2::ZERO, sheet.size);
        match &mut self.form {
            Form::Physical(pane) => pane.arrive(PaneDrop::resting(id, place, volume), radius, slope),
            Form::Paper { ground, automaton, .. } => {
                let cell = ground.cell_at(place);
                automaton.add(cell, volume, id, events);
                automaton.wet_under(ground, cell, slope);
            }
        }
    }

    /// Pours liquid on a place, or takes it away; what was really poured counts as added.
    fn pour(&mut self, place: DVec2, volume: f64, slope: &Slope, events: &mut Vec<Event>) {
        let next_id = &mut self.books.next_id;
        self.books.added += match &mut self.form {
            Form::Physical(pane) => pane.pour(place, volume, slope, next_id),
            Form::Paper { ground, automaton, .. } => {
                let cell = ground.cell_at(place);
                if automaton.cells[cell].id != 0 {
                    automaton.change(cell, volume)
                } else if volume > 0.0 {
                    automaton.add(cell, volume, *next_id, events);
                    automaton.wet_under(ground, cell, slope);
                    *next_id += 1;
                    volume
                } else {
                    0.0
                }
            }
        };
    }

    /// Everything that emitters give between the current time and `until`.
    fn receive(&mut self, until: f64, sheet: &Sheet, slope: &Slope, events: &mut Vec<Event>) {
        let gravity = self.world.gravity();
        for supply in self.world.emissions(self.books.time, until) {
            match supply {
                Emission::Ball { time, center, radius, velocity } => {
                    let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
                    self.add_ball(center, velocity, volume);
                    // It has flown since it appeared; `fly` moves every ball by the whole step.
                    if let Some(ball) = self.books.balls.last_mut() {
                        ball.fall(gravity, self.books.time - time);
                    }
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let volume = std::f64::consts::PI * radius * radius * speed * (to - from);
                    match stream_lands(at, direction * speed, gravity, sheet) {
                        Some(place) => self.pour(place, volume, slope, events),
                        None => {
                            self.books.added += volume;
                            self.books.lost += volume;
                        }
                    }
                }
                Emission::Condense { solid, rate, from, to } if solid == self.setup.solid => {
                    self.condense(rate * (to - from) * sheet.size.element_product(), sheet, slope, events);
                }
                Emission::Feed { at, volume, .. } => {
                    let place = sheet.place_of(at);
                    if sheet.holds(place) {
                        self.pour(place, volume, slope, events);
                    }
                }
                // Dew on what only stands in the picture.
                Emission::Condense { .. } => {}
            }
        }
    }

    /// Lays dew down in grains at random places; a grain that falls on a drop feeds it.
    fn condense(&mut self, volume: f64, sheet: &Sheet, slope: &Slope, events: &mut Vec<Event>) {
        self.books.dew += volume;
        while self.books.dew >= self.setup.dew_grain {
            let mut random = Stream::new(self.setup.seed, &[DEW, self.books.num_dew]);
            let place = DVec2::new(random.uniform(), random.uniform()) * sheet.size;
            self.books.num_dew += 1;
            self.books.dew -= self.setup.dew_grain;
            self.pour(place, self.setup.dew_grain, slope, events);
        }
    }

    /// Balls fly for `dt` seconds; some land, some have missed the pane.
    fn fly(&mut self, dt: f64, sheet: &Sheet, slope: &Slope, events: &mut Vec<Event>) {
        let gravity = self.world.gravity();
        let mut balls = std::mem::take(&mut self.books.balls);
        balls.retain_mut(|ball| {
            let landing = ball.touches(sheet.corner, sheet.normal(), gravity, dt).and_then(|time| {
                let mut landed = *ball;
                landed.fall(gravity, time);
                let place = sheet.place_of(landed.center);
                sheet.holds(place).then_some((place, landed.velocity.dot(sheet.normal()).abs()))
            });
            if let Some((place, impact_speed)) = landing {
                let radius = self.setup.spread_radius(ball.volume, impact_speed);
                self.land(place, ball.volume, ball.id, radius, sheet, slope, events);
                return false;
            }
            ball.fall(gravity, dt);
            let missed = self.setup.is_past(ball.center, gravity, sheet, MISSED_BY);
            if missed {
                self.books.lost += ball.volume;
            }
            !missed
        });
        self.books.balls = balls;
    }

    /// Drops that could no longer hang are balls in the air now.
    fn take_up_fallen(&mut self, sheet: &Sheet) {
        let Form::Physical(pane) = &mut self.form else { return };
        for drop in pane.fallen.drain(..) {
            // Just clear of the pane, so that it does not land where it let go.
            let center = sheet.point_at(drop.place) + sheet.normal() * (1.001 * ball_radius(drop.volume));
            let velocity = sheet.axes * drop.velocity().extend(0.0);
            self.books.balls.push(Ball { id: drop.id, center, velocity, volume: drop.volume });
        }
        self.books.balls.sort_unstable_by_key(|ball| ball.id);
    }

    /// Lost over the pane's edge, in m³.
    fn lost_over_edge(&self) -> f64 {
        match &self.form {
            Form::Physical(pane) => pane.lost,
            Form::Paper { automaton, .. } => automaton.lost,
        }
    }

    /// Time of the next pass of the paper's algorithm, in s; the physical form has none.
    fn next_pass(&self) -> f64 {
        match self.form {
            Form::Physical(_) => f64::INFINITY,
            Form::Paper { .. } => (self.books.passes + 1) as f64 * self.setup.pass_interval,
        }
    }

    /// The wind's drag on a drop of the static critical weight, in units of that weight: what the paper's form compares.
    fn wind_per_weight(&self, slope: &Slope, weights: &Weights, ground: &Ground) -> DVec2 {
        let law = ground.law(0);
        let volume = weights.static_critical;
        let radius = law.radii(volume, slope).map_or_else(|| ball_radius(volume), |[least, _]| least);
        let without_gravity = Slope { gravity: DVec2::ZERO, ..*slope };
        let weight = slope.liquid.density * volume * self.world.gravity().length();
        if weight > 0.0 { without_gravity.force(volume, radius, law) / weight } else { DVec2::ZERO }
    }
}

/// Where a stream meets the pane, if it does.
fn stream_lands(at: DVec3, velocity: DVec3, gravity: DVec3, sheet: &Sheet) -> Option<DVec2> {
    const LONGEST_FLIGHT: f64 = 2.0;
    let mut water = Ball { id: 0, center: at, velocity, volume: 0.0 };
    let time = water.touches(sheet.corner, sheet.normal(), gravity, LONGEST_FLIGHT)?;
    water.fall(gravity, time);
    Some(sheet.place_of(water.center)).filter(|&place| sheet.holds(place))
}

impl Model for Pane {
    fn time(&self) -> f64 {
        self.books.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = match &self.form {
            Form::Physical(pane) => limit.min(pane.longest_step(&self.slope(&self.sheet()))),
            Form::Paper { .. } => limit.min((self.next_pass() - self.books.time).max(1e-9 * self.setup.pass_interval)),
        };
        let until = self.books.time + dt;
        self.world.advance_to(until);
        let sheet = self.sheet();
        let slope = self.slope(&sheet);
        let mut events = Vec::new();

        stages.enter("sources");
        self.receive(until, &sheet, &slope, &mut events);
        self.fly(dt, &sheet, &slope, &mut events);
        // Frames fall on passes; rounding must not put a pass behind its frame.
        let pass_due = until >= self.next_pass() - 1e-6 * self.setup.pass_interval;
        let wind = match &self.form {
            Form::Paper { ground, weights, .. } if pass_due => self.wind_per_weight(&slope, weights, ground),
            _ => DVec2::ZERO,
        };
        match &mut self.form {
            Form::Physical(pane) => pane.step(&slope, dt, until, &mut self.books.next_id, &mut events, stages),
            Form::Paper { ground, automaton, weights } => {
                if pass_due {
                    stages.enter("pass");
                    automaton.pass(ground, weights, wind, &mut self.books.next_id, &mut events);
                    automaton.wet_routes(ground, &slope);
                    self.books.passes += 1;
                }
            }
        }
        self.take_up_fallen(&sheet);
        self.books.time = until;
        Ok(StepReport { dt, events, ..StepReport::default() })
    }

    fn frame(&self) -> Frame {
        let sheet = self.sheet();
        let slope = self.slope(&sheet);
        let solid = self.setup.solid as u32;
        let (mut shown, ground) = match &self.form {
            Form::Physical(pane) => (forms::physical(pane, &sheet, &slope, solid), &pane.ground),
            Form::Paper { ground, automaton, .. } => {
                (forms::paper(automaton, ground, &sheet, &slope, solid, self.setup.pass_interval), ground.as_ref())
            }
        };
        shown.extend(self.books.balls.iter().map(|ball| forms::ball(ball, &sheet)));
        shown.sort_unstable_by_key(|(instance, _)| instance.drop);
        let (instances, drops) = shown.into_iter().unzip();
        Frame {
            time: self.books.time,
            liquid: FrameGeometry::Instances(instances),
            drops,
            wet: vec![wet_map(ground, self.setup.solid)],
            balance: VolumeBalance {
                added: self.books.added,
                lost: self.books.lost + self.lost_over_edge(),
                film: ground.film_volume(),
            },
            active_cells: self.num_running() as u64,
        }
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn save(&self) -> Vec<u8> {
        let form = match &self.form {
            Form::Physical(pane) => FormState::Physical(Box::new(pane.save())),
            Form::Paper { ground, automaton, .. } => {
                FormState::Paper { ground: ground.save(), automaton: automaton.save() }
            }
        };
        let state = PaneState { books: self.books.clone(), world: self.world.save(), form };
        // Plain numbers into memory: there is nothing that could fail.
        postcard::to_stdvec(&state).expect("a pane's state is plain data")
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let wrong = |what: String| RestoreError(what);
        let state: PaneState = postcard::from_bytes(state).map_err(|error| wrong(error.to_string()))?;
        let other_grid = || wrong("it belongs to a pane with other cells".into());
        let fresh = self.setup.ground(&self.world);
        match (&mut self.form, state.form) {
            (Form::Physical(pane), FormState::Physical(saved)) => {
                let mut empty = Physical::new(self.setup.size, fresh);
                if !empty.restore(*saved) {
                    return Err(other_grid());
                }
                **pane = empty;
            }
            (Form::Paper { ground, automaton, .. }, FormState::Paper { ground: saved_ground, automaton: saved }) => {
                if !automaton.restore(saved) || !ground.restore(saved_ground) {
                    return Err(other_grid());
                }
            }
            _ => return Err(wrong("it belongs to the other fidelity".into())),
        }
        self.world.restore(&state.world).map_err(|error| wrong(error.to_string()))?;
        self.books = state.books;
        Ok(())
    }
}
