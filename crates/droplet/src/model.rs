//! The droplet model: what comes onto the solids and leaves them, a step, a frame, a saved state.

use std::f64::consts::PI;

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Frame, VolumeBalance};
use sessile_model::{Model, RestoreError, StageTimer, StepError, StepReport};
use sessile_scene::{DropShape, Scene};
use sessile_wetting::cap;
use sessile_world::random::Stream;
use sessile_world::{Emission, World, WorldState};

use crate::acceleration::{AccelerationField, RigidState};
use crate::air::Air;
use crate::display;
use crate::droplets::Droplets;
use crate::error::DropletError;
use crate::flight::{Ball, Touch, ball_radius};
use crate::integrate::MotionState;
use crate::necks::Necks;
use crate::paper::PaperState;
use crate::particles::{Form, ParticleSystem, StepContext};
use crate::setup::{Parts, Setup, build};
use crate::substrate::SubstrateState;
use crate::surface_mesh::{SurfaceMesh, SurfacePoint};
use crate::trails::Trails;

/// Longest step, in s.
const LONGEST_STEP: f64 = 1.0 / 24.0;
/// Radii that a droplet may run in one step: beyond that the search for whom it pending would look too far.
const RADII_PER_STEP: f64 = 8.0;
/// Steps into which the speed of a droplet may cut the longest step at most.
const MOST_CUTS: f64 = 64.0;
/// A ball this far past the solids, in m, is lost.
const MISSED_BY: f64 = 0.05;
/// Without gravity: this far.
const ASTRAY: f64 = 1.0;
/// Longest flight of a tap's stream, in s.
const LONGEST_STREAM: f64 = 2.0;
/// Key of the dew's random stream among those of the seed.
const DEW: u64 = 0xd20b;

/// Droplets that run over the scene's solids.
#[derive(Debug)]
pub struct DropletModel {
    world: World,
    setup: Setup,
    surface: SurfaceMesh,
    particles: ParticleSystem,
    fields: Vec<AccelerationField>,
    rigid_states: Vec<RigidState>,
    books: Books,
    flights: Vec<Flight>,
    air: Air,
    /// Room for the fields of the next step, and for which of them have changed.
    next_fields: Vec<AccelerationField>,
    changed: Vec<bool>,
}

/// What is kept beside the droplets on surfaces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Books {
    time: f64,
    added: f64,
    lost: f64,
    next_id: u32,
    /// In the air, by rising id.
    balls: Vec<Ball>,
    /// Condensed on each solid and not yet laid down, in m³.
    dew: Vec<f64>,
    num_dew: u64,
}

/// What comes of a ball's flight.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Flies,
    Lands { solid: usize, touch: Touch },
    Lost,
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct Saved {
    books: Books,
    world: WorldState,
    droplets: Droplets,
    substrate: SubstrateState,
    paper: Option<PaperState>,
    trails: Trails,
    necks: Necks,
    pending: Vec<u32>,
    transit_time: f64,
    fields: Vec<AccelerationField>,
    rigid_states: Vec<RigidState>,
}

impl DropletModel {
    /// Droplets on the scene's solids, as the scene begins.
    pub fn new(scene: &Scene, world: World) -> Result<Self, DropletError> {
        let Parts { mut setup, surface, substrate, form } = build(scene, &world)?;
        let rigid_states: Vec<RigidState> = world.solids().iter().map(RigidState::of).collect();
        setup.find_beside(&rigid_states);
        let books = Books { next_id: 1, dew: vec![0.0; rigid_states.len()], ..Books::default() };
        let particles = ParticleSystem::new(form, substrate);
        let mut model = Self {
            world,
            setup,
            surface,
            particles,
            fields: Vec::new(),
            rigid_states,
            books,
            flights: Vec::new(),
            air: Air::default(),
            next_fields: Vec::new(),
            changed: Vec::new(),
        };
        model.find_fields(0.0);
        model.place_drops(scene);
        Ok(model)
    }

    /// Number of triangles of all solids.
    pub fn num_triangles(&self) -> usize {
        self.surface.facets().len()
    }

    /// Puts a droplet on the solids, at the place nearest to a point of the world; the next step merges it with what it touches.
    pub fn add_droplet(&mut self, point: DVec3, velocity: DVec3, volume: f64) {
        let Some((place, solid)) = self.nearest_place(point, f64::INFINITY) else { return };
        let id = self.new_id();
        self.books.added += volume;
        let velocity = self.rigid_states[solid].pose.rotation.transpose() * velocity;
        let motion = MotionState { place, velocity: self.surface.facet(place.triangle).project(velocity) };
        let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
        self.particles.arrive(id, motion, volume, 0.0, &context);
        self.take_up_fallen();
    }

    /// Number of droplets on solids and in the air.
    pub fn num_droplets(&self) -> usize {
        self.particles.droplets.count() + self.books.balls.len()
    }

    /// Number of droplets on their way along a solid.
    pub fn num_running(&self) -> usize {
        self.particles.num_running()
    }

    /// Id, place on the solid (in the world, in m) and base radius (in m) of every droplet on a solid, in no particular order.
    pub fn places(&self) -> impl Iterator<Item = (u32, DVec3, f64)> + '_ {
        let droplets = &self.particles.droplets;
        droplets.slots().map(move |slot| {
            let place = droplets.all[slot as usize].motion.place;
            let rigid = &self.rigid_states[self.surface.facet(place.triangle).solid as usize];
            let radius = droplets.all[slot as usize].size.radius;
            (droplets.all[slot as usize].id, rigid.pose.apply(place.point(&self.surface)), radius)
        })
    }

    /// Number of droplets in the air.
    pub fn num_flying(&self) -> usize {
        self.books.balls.len()
    }

    /// Volume of all liquid that is there, film included, in m³.
    pub fn volume(&self) -> f64 {
        self.particles.droplets.volume()
            + self.books.balls.iter().map(|ball| ball.volume).sum::<f64>()
            + self.particles.substrate.film_volume()
    }

    fn new_id(&mut self) -> u32 {
        let id = self.books.next_id;
        self.books.next_id += 1;
        id
    }

    /// Works out what acts over a step of `dt` seconds that ends at the world's time, and on which solids that is something else than before.
    fn find_fields(&mut self, dt: f64) {
        let (gravity, wind) = (self.world.gravity(), self.world.wind());
        let before = self.rigid_states.iter().zip(&self.setup.meshes);
        self.next_fields.clear();
        self.next_fields.extend(self.world.solids().iter().zip(before).map(|(solid, (before, mesh))| {
            AccelerationField::over(before, &RigidState::of(solid), mesh.bounds().center(), gravity, wind, dt)
        }));
        std::mem::swap(&mut self.fields, &mut self.next_fields);
        self.changed.clear();
        self.changed.extend(self.fields.iter().zip(&self.next_fields).map(|(now, before)| now != before));
    }

    /// The place on any solid nearest to a point of the world, within a distance in m; and which solid.
    fn nearest_place(&self, point: DVec3, within: f64) -> Option<(SurfacePoint, usize)> {
        let mut best: Option<(f64, SurfacePoint, usize)> = None;
        for solid in 0..self.setup.meshes.len() {
            if let Some((distance, place)) = self.place_on(solid, point, within)
                && best.is_none_or(|(least, ..)| distance < least)
            {
                best = Some((distance, place, solid));
            }
        }
        best.map(|(_, place, solid)| (place, solid))
    }

    /// The place on a solid nearest to a point of the world, and how far it is, in m.
    fn place_on(&self, solid: usize, point: DVec3, within: f64) -> Option<(f64, SurfacePoint)> {
        let near =
            self.setup.meshes[solid].nearest_within(self.rigid_states[solid].pose.apply_inverse(point), within)?;
        Some((near.distance.abs(), self.place_at(solid, near.triangle, near.point)))
    }

    fn place_at(&self, solid: usize, triangle: usize, point: DVec3) -> SurfacePoint {
        let triangle = (self.surface.triangles_of(solid).start + triangle) as u32;
        let facet = self.surface.facet(triangle);
        SurfacePoint { triangle, at: facet.clamp(facet.project(point - facet.origin)) }
    }

    /// The drops that the scene begins with: caps stand where they are put, everything else falls from where it is.
    fn place_drops(&mut self, scene: &Scene) {
        for index in 0..self.world.initial_drops().len() {
            let drop = &self.world.initial_drops()[index];
            let (volume, velocity) = (drop.volume(), drop.velocity());
            let described = &scene.drops[drop.index()].shape;
            let centroid = drop.centroid();
            let id = self.new_id();
            self.books.added += volume;
            match *described {
                DropShape::Cap { on, center, contact_angle, .. } => {
                    let Some((_, place)) = self.place_on(on, center, f64::INFINITY) else { continue };
                    let velocity = self.rigid_states[on].pose.rotation.transpose() * velocity;
                    let motion = MotionState { place, velocity: self.surface.facet(place.triangle).project(velocity) };
                    let radius = cap::base_radius(volume, contact_angle);
                    let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
                    self.particles.arrive(id, motion, volume, radius, &context);
                }
                _ => self.books.balls.push(Ball { id, center: centroid, velocity, volume, owed: 0.0 }),
            }
        }
        self.take_up_fallen();
    }

    /// Everything that emitters give between the current time and `until`.
    fn receive(&mut self, until: f64) {
        let gravity = self.world.gravity();
        for supply in self.world.emissions(self.books.time, until) {
            match supply {
                Emission::Ball { time, center, radius, velocity } => {
                    let volume = 4.0 / 3.0 * PI * radius.powi(3);
                    let id = self.new_id();
                    self.books.added += volume;
                    self.books.balls.push(Ball { id, center, velocity, volume, owed: until - time });
                }
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let volume = PI * radius * radius * speed * (to - from);
                    let water = Ball {
                        id: 0,
                        center: at,
                        velocity: direction * speed,
                        volume: 4.0 / 3.0 * PI * radius.powi(3),
                        owed: 0.0,
                    };
                    match self.first_touch(&water, gravity, LONGEST_STREAM) {
                        Some((solid, touch)) => self.pour(self.place_at(solid, touch.triangle, touch.point), volume),
                        None => {
                            self.books.added += volume;
                            self.books.lost += volume;
                        }
                    }
                }
                Emission::Condense { solid, rate, from, to } => {
                    let area = self.setup.areas[self.surface.triangles_of(solid).end - 1];
                    self.condense(solid, rate * (to - from) * area);
                }
                Emission::Feed { at, volume, .. } => {
                    // A needle is in a drop or at the solid: some millimeters off at most.
                    if let Some((place, _)) = self.nearest_place(at, 10e-3) {
                        self.pour(place, volume);
                    }
                }
            }
        }
    }

    fn pour(&mut self, place: SurfacePoint, volume: f64) {
        let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
        self.books.added += self.particles.pour(place, volume, &context, &mut self.books.next_id);
    }

    /// Lays dew down in grains at random places of a solid; a grain that falls on a droplet feeds it.
    fn condense(&mut self, solid: usize, volume: f64) {
        self.books.dew[solid] += volume;
        let grain = self.setup.dew_grains[solid];
        while self.books.dew[solid] >= grain {
            let mut random = Stream::new(self.setup.seed, &[DEW, self.books.num_dew]);
            self.books.num_dew += 1;
            self.books.dew[solid] -= grain;
            let range = self.surface.triangles_of(solid);
            let areas = &self.setup.areas[range.clone()];
            let wanted = random.uniform() * areas[areas.len() - 1];
            let t = areas.partition_point(|&sum| sum <= wanted).min(areas.len() - 1);
            let (a, b) = (random.uniform(), random.uniform());
            let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
            let triangle = (range.start + t) as u32;
            let corners = &self.surface.facet(triangle).corners;
            let at = corners[1] * a + corners[2] * b;
            self.pour(SurfacePoint { triangle, at }, grain);
        }
    }

    fn first_touch(&self, ball: &Ball, gravity: DVec3, time: f64) -> Option<(usize, Touch)> {
        let mut first: Option<(usize, Touch)> = None;
        for (solid, (mesh, rigid)) in self.setup.meshes.iter().zip(&self.rigid_states).enumerate() {
            let time = first.map_or(time, |(_, touch)| touch.time);
            if let Some(touch) = ball.touches(mesh, rigid, gravity, time)
                && first.is_none_or(|(_, earlier)| touch.time < earlier.time)
            {
                first = Some((solid, touch));
            }
        }
        first
    }

    /// Balls fly for the time that each has left in this step; some land, some have missed everything.
    fn fly(&mut self) {
        let gravity = self.world.gravity();
        let mut flights = std::mem::take(&mut self.flights);
        let bounds = self.bounds();
        self.books
            .balls
            .par_iter()
            .with_min_len(64)
            .map(|ball| match self.first_touch(ball, gravity, ball.owed) {
                Some((solid, touch)) => Flight::Lands { solid, touch },
                None => {
                    let mut flown = *ball;
                    flown.fall(gravity, ball.owed);
                    if self.is_past(flown.center, gravity, bounds) { Flight::Lost } else { Flight::Flies }
                }
            })
            .collect_into_vec(&mut flights);
        let mut balls = std::mem::take(&mut self.books.balls);
        let mut index = 0;
        balls.retain_mut(|ball| {
            let flight = flights[index];
            index += 1;
            match flight {
                Flight::Flies => {
                    ball.fall(gravity, ball.owed);
                    ball.owed = 0.0;
                    true
                }
                Flight::Lands { solid, touch } => {
                    self.land(ball, solid, &touch);
                    false
                }
                Flight::Lost => {
                    self.books.lost += ball.volume;
                    false
                }
            }
        });
        self.books.balls = balls;
        self.flights = flights;
    }

    /// A ball is on a solid now: what it had of speed into it is gone, the rest it keeps.
    fn land(&mut self, ball: &Ball, solid: usize, touch: &Touch) {
        let place = self.place_at(solid, touch.triangle, touch.point);
        let facet = self.surface.facet(place.triangle);
        let hit = -touch.velocity.dot(facet.normal());
        let radius = self.particles.substrate.law(&self.surface, place).spread_radius(
            &self.setup.liquid,
            ball.volume,
            hit.max(0.0),
        );
        let motion = MotionState { place, velocity: facet.project(touch.velocity) };
        let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
        self.particles.arrive(ball.id, motion, ball.volume, radius, &context);
    }

    /// A box round all solids.
    fn bounds(&self) -> [DVec3; 2] {
        let of = |(mesh, rigid): (&sessile_geometry::mesh_distance::MeshDistance, &RigidState)| {
            let b = mesh.bounds();
            let (middle, half) = (rigid.pose.apply(b.center()), 0.5 * b.extent().length());
            [middle - half, middle + half]
        };
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.setup
            .meshes
            .iter()
            .zip(&self.rigid_states)
            .map(of)
            .fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)])
    }

    fn is_past(&self, center: DVec3, gravity: DVec3, [low, high]: [DVec3; 2]) -> bool {
        if let Some([min, max]) = self.setup.domain {
            return center.cmplt(min).any() || center.cmpgt(max).any();
        }
        let Some(down) = gravity.try_normalize() else {
            return center.distance(center.clamp(low, high)) > ASTRAY;
        };
        let lowest = [down.x, down.y, down.z];
        let corner =
            DVec3::from(std::array::from_fn::<f64, 3, _>(
                |axis| if lowest[axis] > 0.0 { high[axis] } else { low[axis] },
            ));
        center.dot(down) > corner.dot(down) + MISSED_BY
    }

    /// Droplets that came off are balls in the air now.
    fn take_up_fallen(&mut self) {
        for detached in self.particles.detached.drain(..) {
            let rigid = &self.rigid_states[detached.solid];
            // Just clear of the surface, so that it does not land where it let go.
            let center = rigid.pose.apply(detached.point + detached.away * (1.001 * ball_radius(detached.volume)));
            let velocity = rigid.pose.turn(detached.velocity) + rigid.velocity.at(center);
            self.books.balls.push(Ball {
                id: detached.id,
                center,
                velocity,
                volume: detached.volume,
                owed: detached.left,
            });
        }
        self.books.balls.sort_unstable_by_key(|ball| ball.id);
    }

    /// Length of the next step, in s.
    fn choose_step(&self, limit: f64) -> f64 {
        let by_speed = (RADII_PER_STEP * self.particles.transit_time).max(LONGEST_STEP / MOST_CUTS);
        let longest = LONGEST_STEP.min(by_speed);
        // Even steps up to the limit, rather than many and a short one.
        if limit > longest { limit / (limit / longest).ceil() } else { limit }
    }
}

fn context<'a>(
    surface: &'a SurfaceMesh,
    fields: &'a [AccelerationField],
    rigid_states: &'a [RigidState],
    setup: &'a Setup,
) -> StepContext<'a> {
    let Setup { boxes, beside, liquid, domain, damping, .. } = setup;
    StepContext { surface, fields, rigid_states, boxes, beside, liquid, domain: *domain, damping: *damping }
}

impl Model for DropletModel {
    fn time(&self) -> f64 {
        self.books.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = self.choose_step(limit);
        let until = self.books.time + dt;
        let mut events: Vec<Event> = Vec::new();
        self.world.advance_to(until);
        self.find_fields(dt);
        let mut moved = false;
        for (rigid, solid) in self.rigid_states.iter_mut().zip(self.world.solids()) {
            moved |= rigid.pose != *solid.world_from_rest();
            *rigid = RigidState::of(solid);
        }
        if moved {
            self.setup.find_beside(&self.rigid_states);
        }
        if self.changed.contains(&true) {
            stages.enter("look again");
            let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
            self.particles.look_again(&context, &self.changed);
        }
        stages.enter("sources");
        self.books.balls.iter_mut().for_each(|ball| ball.owed = dt);
        self.receive(until);
        stages.enter("flight");
        self.fly();
        let context = context(&self.surface, &self.fields, &self.rigid_states, &self.setup);
        let finite = self.particles.step(&context, dt, until, &mut self.books.next_id, &mut events, stages);
        self.books.lost += std::mem::take(&mut self.particles.lost);
        self.take_up_fallen();
        if self.books.balls.iter().any(|ball| ball.owed > 0.0) {
            stages.enter("flight");
            self.fly();
        }
        self.air.meet(&mut self.books.balls, dt, &mut events);
        self.books.time = until;
        if !finite {
            let droplets = &self.particles.droplets;
            let wrong = droplets.slots().find(|&slot| !droplets.all[slot as usize].motion.velocity.is_finite());
            let place = wrong.map_or(DVec3::ZERO, |slot| {
                self.surface.facet(droplets.all[slot as usize].motion.place.triangle).origin
            });
            return Err(StepError::NonFinite {
                what: "the velocity of a droplet".into(),
                time: until,
                position: place.to_array(),
                advice: "look for units that are off by orders of magnitude in the scene".into(),
            });
        }
        Ok(StepReport { dt, events, ..StepReport::default() })
    }

    fn frame(&self) -> Frame {
        let stage = display::Stage {
            particles: &self.particles,
            surface: &self.surface,
            fields: &self.fields,
            rigid_states: &self.rigid_states,
            setup: &self.setup,
        };
        let (liquid, drops) = display::shown(&stage, &self.books.balls);
        Frame {
            time: self.books.time,
            liquid,
            drops,
            wet: self.particles.substrate.maps(&self.surface),
            balance: VolumeBalance {
                added: self.books.added,
                lost: self.books.lost,
                film: self.particles.substrate.film_volume(),
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
        let state = Saved {
            books: self.books.clone(),
            world: self.world.save(),
            droplets: self.particles.droplets.clone(),
            substrate: self.particles.substrate.save(),
            paper: match &self.particles.form {
                Form::Paper(paper) => Some(paper.save()),
                Form::Physical => None,
            },
            trails: self.particles.trails.clone(),
            necks: self.particles.necks.clone(),
            pending: self.particles.pending.clone(),
            transit_time: self.particles.transit_time,
            fields: self.fields.clone(),
            rigid_states: self.rigid_states.clone(),
        };
        // Plain numbers into memory: there is nothing that could fail.
        postcard::to_stdvec(&state).expect("the state is plain data")
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let wrong = |what: &str| RestoreError(what.into());
        let state: Saved = postcard::from_bytes(state).map_err(|error| RestoreError(error.to_string()))?;
        let count = self.rigid_states.len();
        let fits = [state.fields.len(), state.rigid_states.len(), state.books.dew.len()].iter().all(|&n| n == count)
            && state.droplets.is_sound(self.surface.facets().len())
            && state.necks.is_sound()
            && state.pending.iter().all(|&slot| (slot as usize) < state.droplets.num_slots());
        if !fits {
            return Err(wrong("it belongs to other solids"));
        }
        match (&mut self.particles.form, &state.paper) {
            (Form::Physical, None) => {}
            (Form::Paper(paper), Some(saved)) => {
                if !paper.restore(saved) {
                    return Err(wrong("it belongs to another mesh"));
                }
            }
            _ => return Err(wrong("it belongs to the other fidelity")),
        }
        if !self.particles.substrate.restore(&state.substrate) {
            return Err(wrong("its wet maps have other sizes"));
        }
        self.world.restore(&state.world).map_err(|error| RestoreError(error.to_string()))?;
        self.particles.restore(state.droplets, &self.surface);
        (self.particles.trails, self.particles.necks) = (state.trails, state.necks);
        (self.particles.pending, self.particles.transit_time) = (state.pending, state.transit_time);
        (self.fields, self.rigid_states, self.books) = (state.fields, state.rigid_states, state.books);
        self.setup.find_beside(&self.rigid_states);
        Ok(())
    }
}
