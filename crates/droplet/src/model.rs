//! The droplet model: what comes onto the solids and leaves them, a step, a frame, a saved state.

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{Event, Frame, VolumeBalance};
use sessile_model::{Model, RestoreError, StageTimer, StepError, StepReport};
use sessile_scene::{DropShape, Scene};
use sessile_sliding::{Ball, DropId, ModelState, Necks, Projectile, Trails, apply_emissions};
use sessile_wetting::cap;
use sessile_world::random::Stream;
use sessile_world::{World, WorldState};

use crate::air::Air;
use crate::droplets::Droplets;
use crate::error::DropletError;
use crate::field::{Field, Moment};
use crate::flight::Contact;
use crate::forms;
use crate::ground::GroundState;
use crate::locate::Locator;
use crate::paper::PaperState;
use crate::ride::Rider;
use crate::setup::{Parts, Setup, build};
use crate::sources::Target;
use crate::swarm::{Form, Scenery, Swarm};
use crate::track::Track;
use crate::trails::TrailSegment;

/// Longest step, in s.
const LONGEST_STEP: f64 = 1.0 / 24.0;
/// Radii that a droplet may run in one step: beyond that the search for whom it touched would look too far.
const RADII_PER_STEP: f64 = 8.0;
/// Steps into which the speed of a droplet may cut the longest step at most.
const MOST_CUTS: f64 = 64.0;
/// A ball this far past the solids, in m, is lost.
const MISSED_BY: f64 = 0.05;
/// Without gravity: this far.
const ASTRAY: f64 = 1.0;
/// Key of the dew's random stream among those of the seed.
const DEW: u64 = 0xd20b;

/// Droplets that run over the scene's solids.
#[derive(Debug)]
pub struct DropletModel {
    world: World,
    setup: Setup,
    track: Track,
    swarm: Swarm,
    fields: Vec<Field>,
    moments: Vec<Moment>,
    state: ModelState,
    flights: Vec<Flight>,
    air: Air,
    /// Room for the fields of the next step, and for which of them have changed.
    next_fields: Vec<Field>,
    changed: Vec<bool>,
}

/// What comes of a ball's flight.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Flies,
    Lands { solid: usize, contact: Contact },
    Lost,
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: ModelState,
    world: WorldState,
    droplets: Droplets,
    ground: GroundState,
    paper: Option<PaperState>,
    trails: Trails<TrailSegment>,
    necks: Necks,
    touched: Vec<u32>,
    turnover: f64,
    fields: Vec<Field>,
    moments: Vec<Moment>,
}

impl DropletModel {
    /// Droplets on the scene's solids, as the scene begins.
    pub fn new(scene: &Scene, world: World) -> Result<Self, DropletError> {
        let Parts { mut setup, track, ground, form } = build(scene, &world)?;
        let moments: Vec<Moment> = world.solids().iter().map(Moment::of).collect();
        setup.find_beside(&moments);
        let state = ModelState::new(moments.len());
        let swarm = Swarm::new(form, ground);
        let mut model = Self {
            world,
            setup,
            track,
            swarm,
            fields: Vec::new(),
            moments,
            state,
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
        self.track.facets().len()
    }

    /// Puts a droplet on the solids, at the place nearest to a point of the world; the next step merges it with what it touches.
    pub fn add_droplet(&mut self, point: DVec3, velocity: DVec3, volume: f64) {
        let Some((place, solid)) = self.locator().nearest_place(point, f64::INFINITY) else { return };
        let id = self.state.add_drop(volume).get();
        let velocity = self.moments[solid].pose.rotation.transpose() * velocity;
        let rider = Rider { place, velocity: self.track.facet(place.triangle).along(velocity) };
        let scenery = scenery(&self.track, &self.fields, &self.moments, &self.setup);
        self.swarm.arrive(id, rider, volume, 0.0, &scenery);
        self.take_up_fallen();
    }

    /// Number of droplets on solids and in the air.
    pub fn num_droplets(&self) -> usize {
        self.swarm.droplets.count() + self.state.balls.len()
    }

    /// Number of droplets on their way along a solid.
    pub fn num_running(&self) -> usize {
        self.swarm.num_running()
    }

    /// Id, place on the solid (in the world, in m) and base radius (in m) of every droplet on a solid, in no particular order.
    pub fn places(&self) -> impl Iterator<Item = (u32, DVec3, f64)> + '_ {
        let droplets = &self.swarm.droplets;
        droplets.slots().map(move |slot| {
            let place = droplets.all[slot as usize].rider.place;
            let moment = &self.moments[self.track.facet(place.triangle).solid as usize];
            let radius = droplets.all[slot as usize].size.radius;
            (droplets.all[slot as usize].id, moment.pose.apply(place.point(&self.track)), radius)
        })
    }

    /// Number of droplets in the air.
    pub fn num_flying(&self) -> usize {
        self.state.balls.len()
    }

    /// Volume of all liquid that is there, film included, in m³.
    pub fn volume(&self) -> f64 {
        self.swarm.droplets.volume() + self.state.airborne_volume() + self.swarm.ground.film_volume()
    }

    /// The solids at their current poses.
    fn locator(&self) -> Locator<'_> {
        Locator { setup: &self.setup, track: &self.track, moments: &self.moments }
    }

    /// Works out what acts over a step of `dt` seconds that ends at the world's time, and on which solids that is something else than before.
    fn find_fields(&mut self, dt: f64) {
        let (gravity, wind) = (self.world.gravity(), self.world.wind());
        let before = self.moments.iter().zip(&self.setup.meshes);
        self.next_fields.clear();
        self.next_fields.extend(self.world.solids().iter().zip(before).map(|(solid, (before, mesh))| {
            Field::over(before, &Moment::of(solid), mesh.bounds().center(), gravity, wind, dt)
        }));
        std::mem::swap(&mut self.fields, &mut self.next_fields);
        self.changed.clear();
        self.changed.extend(self.fields.iter().zip(&self.next_fields).map(|(now, before)| now != before));
    }

    /// The drops that the scene begins with: caps stand where they are put, everything else falls from where it is.
    fn place_drops(&mut self, scene: &Scene) {
        for index in 0..self.world.initial_drops().len() {
            let drop = &self.world.initial_drops()[index];
            let (volume, velocity) = (drop.volume(), drop.velocity());
            let described = &scene.drops[drop.index()].shape;
            let centroid = drop.centroid();
            let id = self.state.add_drop(volume);
            match *described {
                DropShape::Cap { on, center, contact_angle, .. } => {
                    let Some((_, place)) = self.locator().place_on(on, center, f64::INFINITY) else { continue };
                    let velocity = self.moments[on].pose.rotation.transpose() * velocity;
                    let rider = Rider { place, velocity: self.track.facet(place.triangle).along(velocity) };
                    let radius = cap::base_radius(volume, contact_angle);
                    let scenery = scenery(&self.track, &self.fields, &self.moments, &self.setup);
                    self.swarm.arrive(id.get(), rider, volume, radius, &scenery);
                }
                _ => {
                    let body = Projectile { center: centroid, velocity, volume };
                    self.state.balls.push(Ball { id, body, remaining: 0.0 });
                }
            }
        }
        self.take_up_fallen();
    }

    /// Adds what emitters release between the current time and `until` (in s).
    fn receive(&mut self, until: f64) {
        let Self { world, setup, track, swarm, fields, moments, state, .. } = self;
        let mut target = Target {
            swarm,
            scenery: scenery(track, fields, moments, setup),
            locator: Locator { setup, track, moments },
            gravity: world.gravity(),
        };
        let random = |grain: u64| Stream::new(setup.seed, &[DEW, grain]);
        apply_emissions(world.emissions(state.time, until), until, state, random, &mut target);
    }

    /// Balls fly for the time that each has left in this step; some land, some have missed everything.
    fn fly(&mut self) {
        let gravity = self.world.gravity();
        let mut flights = std::mem::take(&mut self.flights);
        let bounds = self.bounds();
        self.state
            .balls
            .par_iter()
            .with_min_len(64)
            .map(|ball| match self.locator().first_contact(&ball.body, gravity, ball.remaining) {
                Some((solid, contact)) => Flight::Lands { solid, contact },
                None => {
                    let mut flown = *ball;
                    flown.finish_step(gravity);
                    if self.is_past(flown.body.center, gravity, bounds) { Flight::Lost } else { Flight::Flies }
                }
            })
            .collect_into_vec(&mut flights);
        let mut balls = std::mem::take(&mut self.state.balls);
        let mut index = 0;
        balls.retain_mut(|ball| {
            let flight = flights[index];
            index += 1;
            match flight {
                Flight::Flies => {
                    ball.finish_step(gravity);
                    true
                }
                Flight::Lands { solid, contact } => {
                    self.land(ball, solid, &contact);
                    false
                }
                Flight::Lost => {
                    self.state.lost += ball.body.volume;
                    false
                }
            }
        });
        self.state.balls = balls;
        self.flights = flights;
    }

    /// A ball is on a solid now: what it had of speed into it is gone, the rest it keeps.
    fn land(&mut self, ball: &Ball, solid: usize, contact: &Contact) {
        let place = self.locator().place_at(solid, contact.triangle, contact.point);
        let facet = self.track.facet(place.triangle);
        let hit = -contact.velocity.dot(facet.normal());
        let radius =
            self.swarm.ground.law(&self.track, place).spread_radius(&self.setup.liquid, ball.body.volume, hit.max(0.0));
        let rider = Rider { place, velocity: facet.along(contact.velocity) };
        let scenery = scenery(&self.track, &self.fields, &self.moments, &self.setup);
        self.swarm.arrive(ball.id.get(), rider, ball.body.volume, radius, &scenery);
    }

    /// A box round all solids.
    fn bounds(&self) -> [DVec3; 2] {
        let of = |(mesh, moment): (&sessile_geometry::mesh_distance::MeshDistance, &Moment)| {
            let b = mesh.bounds();
            let (middle, half) = (moment.pose.apply(b.center()), 0.5 * b.extent().length());
            [middle - half, middle + half]
        };
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.setup.meshes.iter().zip(&self.moments).map(of).fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)])
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

    /// Makes airborne droplets of those that have detached from a solid.
    fn take_up_fallen(&mut self) {
        let moments = &self.moments;
        let detached = self.swarm.fallen.drain(..).filter_map(|fallen| {
            let moment = &moments[fallen.solid];
            let body = Projectile::detached(fallen.point, fallen.away, fallen.velocity, fallen.volume);
            let center = moment.pose.apply(body.center);
            let velocity = moment.pose.turn(fallen.velocity) + moment.velocity.at(center);
            let id = DropId::new(fallen.id)?;
            Some(Ball { id, body: Projectile { center, velocity, ..body }, remaining: fallen.left })
        });
        self.state.take_detached(detached);
    }

    /// Length of the next step, in s.
    fn choose_step(&self, limit: f64) -> f64 {
        let by_speed = (RADII_PER_STEP * self.swarm.turnover).max(LONGEST_STEP / MOST_CUTS);
        let longest = LONGEST_STEP.min(by_speed);
        // Even steps up to the limit, rather than many and a short one.
        if limit > longest { limit / (limit / longest).ceil() } else { limit }
    }
}

fn scenery<'a>(track: &'a Track, fields: &'a [Field], moments: &'a [Moment], setup: &'a Setup) -> Scenery<'a> {
    let Setup { boxes, beside, liquid, domain, damping, .. } = setup;
    Scenery { track, fields, moments, boxes, beside, liquid, domain: *domain, damping: *damping }
}

impl Model for DropletModel {
    fn time(&self) -> f64 {
        self.state.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = self.choose_step(limit);
        let until = self.state.time + dt;
        let mut events: Vec<Event> = Vec::new();
        self.world.advance_to(until);
        self.find_fields(dt);
        let mut moved = false;
        for (moment, solid) in self.moments.iter_mut().zip(self.world.solids()) {
            moved |= moment.pose != *solid.world_from_rest();
            *moment = Moment::of(solid);
        }
        if moved {
            self.setup.find_beside(&self.moments);
        }
        if self.changed.contains(&true) {
            stages.enter("look again");
            let scenery = scenery(&self.track, &self.fields, &self.moments, &self.setup);
            self.swarm.look_again(&scenery, &self.changed);
        }
        stages.enter("sources");
        self.state.begin_flight(dt);
        self.receive(until);
        stages.enter("flight");
        self.fly();
        let scenery = scenery(&self.track, &self.fields, &self.moments, &self.setup);
        let finite = self.swarm.step(&scenery, dt, until, &mut self.state.ids, &mut events, stages);
        self.state.lost += std::mem::take(&mut self.swarm.lost);
        self.take_up_fallen();
        if self.state.balls.iter().any(|ball| ball.remaining > 0.0) {
            stages.enter("flight");
            self.fly();
        }
        self.air.coalesce(&mut self.state.balls, dt, &mut events);
        self.state.time = until;
        if !finite {
            let droplets = &self.swarm.droplets;
            let wrong = droplets.slots().find(|&slot| !droplets.all[slot as usize].rider.velocity.is_finite());
            let place = wrong
                .map_or(DVec3::ZERO, |slot| self.track.facet(droplets.all[slot as usize].rider.place.triangle).origin);
            return Err(StepError::NonFinite {
                what: "the velocity of a droplet".into(),
                time: until,
                place: place.to_array(),
                advice: "look for units that are off by orders of magnitude in the scene".into(),
            });
        }
        Ok(StepReport { dt, events, ..StepReport::default() })
    }

    fn frame(&self) -> Frame {
        let stage = forms::Stage {
            swarm: &self.swarm,
            track: &self.track,
            fields: &self.fields,
            moments: &self.moments,
            setup: &self.setup,
        };
        let (liquid, drops) = forms::shown(&stage, &self.state.balls);
        Frame {
            time: self.state.time,
            liquid,
            drops,
            wet: self.swarm.ground.maps(&self.track),
            balance: VolumeBalance {
                added: self.state.added,
                lost: self.state.lost,
                film: self.swarm.ground.film_volume(),
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
        let saved = Saved {
            state: self.state.clone(),
            world: self.world.save(),
            droplets: self.swarm.droplets.clone(),
            ground: self.swarm.ground.save(),
            paper: match &self.swarm.form {
                Form::Paper(paper) => Some(paper.save()),
                Form::Physical => None,
            },
            trails: self.swarm.trails.clone(),
            necks: self.swarm.necks.clone(),
            touched: self.swarm.touched.clone(),
            turnover: self.swarm.turnover,
            fields: self.fields.clone(),
            moments: self.moments.clone(),
        };
        // Plain numbers into memory: there is nothing that could fail.
        postcard::to_stdvec(&saved).expect("the state is plain data")
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let wrong = |what: &str| RestoreError(what.into());
        let state: Saved = postcard::from_bytes(state).map_err(|error| RestoreError(error.to_string()))?;
        let count = self.moments.len();
        let fits = [state.fields.len(), state.moments.len(), state.state.condensate.len()].iter().all(|&n| n == count)
            && state.droplets.is_sound(self.track.facets().len())
            && state.necks.is_consistent()
            && state.touched.iter().all(|&slot| (slot as usize) < state.droplets.num_slots());
        if !fits {
            return Err(wrong("it belongs to other solids"));
        }
        match (&mut self.swarm.form, &state.paper) {
            (Form::Physical, None) => {}
            (Form::Paper(paper), Some(saved)) => {
                if !paper.restore(saved) {
                    return Err(wrong("it belongs to another mesh"));
                }
            }
            _ => return Err(wrong("it belongs to the other fidelity")),
        }
        if !self.swarm.ground.restore(&state.ground) {
            return Err(wrong("its wet maps have other sizes"));
        }
        self.world.restore(&state.world).map_err(|error| RestoreError(error.to_string()))?;
        self.swarm.restore(state.droplets, &self.track);
        (self.swarm.trails, self.swarm.necks) = (state.trails, state.necks);
        (self.swarm.touched, self.swarm.turnover) = (state.touched, state.turnover);
        (self.fields, self.moments, self.state) = (state.fields, state.moments, state.state);
        self.setup.find_beside(&self.moments);
        Ok(())
    }
}
