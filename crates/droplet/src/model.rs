//! The droplet model: sources, flight, the particle step, frames and checkpoints.

mod airborne;
mod by_hand;
mod checkpoint;
mod deform;
mod obstacles;
mod triangles;

use airborne::Flight;
use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use sessile_frames::{Event, Frame, VolumeBalance, WetMap};
use sessile_model::{
    InteractionError, Model, Region, RestoreError, StageReports, StageTimer, StepError, StepReport, Stroke, View,
};
use sessile_scene::{DropShape, Scene};
use sessile_sliding::{Ball, DropId, ModelState, Projectile, SlotIndex, apply_emissions, nucleate};
use sessile_wetting::evaporation::film_rate;
use sessile_wetting::{CurvedRest, Wetting, cap};
use sessile_world::random::Stream;
use sessile_world::{Solid, World};

use crate::acceleration::{AccelerationField, RigidState};
use crate::air::Air;
use crate::context::StepContext;
use crate::curvature::curvature;
use crate::display;
use crate::error::DropletError;
use crate::integrate::MotionState;
use crate::locate::Locator;
use crate::particles::ParticleSystem;
use crate::setup::{Parts, Setup, build};
use crate::sources::Target;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, SurfacePoint};

/// Key of the random stream of condensation.
const DEW_STREAM: u64 = 0xd20b;
/// Key of the random streams of nucleation sites.
const SITE_STREAM: u64 = 0x517e;

/// Droplets that slide over the solids of a scene.
#[derive(Debug)]
pub struct DropletModel {
    world: World,
    setup: Setup,
    surface: SurfaceMesh,
    /// Droplets on surfaces.
    particles: ParticleSystem,
    /// Acceleration field of each solid over the current step.
    accelerations: Vec<AccelerationField>,
    /// Pose and velocity of each solid.
    rigid_states: Vec<RigidState>,
    state: ModelState,
    /// Contact angles that the scene gives its caps, in rad.
    initial_angles: BTreeMap<DropId, f64>,
    scratch: Scratch,
}

/// Memory that is kept from step to step.
#[derive(Debug, Default)]
struct Scratch {
    /// Length of the current step, in s.
    step: f64,
    flights: Vec<Flight>,
    air: Air,
    previous_accelerations: Vec<AccelerationField>,
    /// Whether the acceleration field of each solid has changed.
    changed: Vec<bool>,
    /// Pose at the end of the step, and velocity just before.
    rigid_states: Vec<RigidState>,
    /// Whether a solid has moved in the step.
    has_moved: bool,
    /// Messages for the user.
    notices: Vec<String>,
    /// Droplets on deforming solids, with the weights of their triangles' corners.
    carried: Vec<(SlotIndex, DVec2)>,
    /// Deforming solids with a triangle of no area that a message was about.
    flat: Vec<SolidIndex>,
    /// Pairs of solids that a message was about; a solid with itself for airborne droplets.
    reported: Vec<(SolidIndex, SolidIndex)>,
}

impl DropletModel {
    /// Builds the model of a scene at time 0.
    pub fn new(scene: &Scene, world: World) -> Result<Self, DropletError> {
        let Parts { mut setup, surface, substrate, fidelity } = build(scene, &world)?;
        let rigid_states: Vec<RigidState> = world.solids().iter().map(RigidState::of).collect();
        setup.find_nearby_solids(&rigid_states);
        let state = ModelState::new(rigid_states.len());
        let mut model = Self {
            world,
            setup,
            surface,
            particles: ParticleSystem::new(fidelity, substrate),
            accelerations: Vec::new(),
            rigid_states,
            state,
            initial_angles: BTreeMap::new(),
            scratch: Scratch::default(),
        };
        model.scratch.rigid_states.clone_from(&model.rigid_states);
        for solid in model.surface.solids().filter(|&solid| model.setup.deforming[solid].is_some()).collect::<Vec<_>>()
        {
            model.build_solid(solid);
        }
        model.deform(0.0);
        model.update_accelerations(0.0);
        model.place_drops();
        Ok(model)
    }

    /// Number of triangles of the solids that droplets have been near.
    pub fn num_triangles(&self) -> usize {
        self.surface.facets().len()
    }

    /// Adds a droplet at the place on a solid nearest to `point` (in m); the next step merges it
    /// with those in contact.
    pub fn add_droplet(&mut self, point: DVec3, velocity: DVec3, volume: f64) {
        self.build_within(point, f64::INFINITY);
        let Some((place, solid)) = self.locator().nearest_place(point, f64::INFINITY) else { return };
        let id = self.state.add_drop(volume);
        self.attach(id, place, solid, velocity, volume, 0.0);
        self.launch_detached();
    }

    /// Number of droplets, on solids and airborne.
    pub fn num_droplets(&self) -> usize {
        self.particles.state.droplets.count() + self.state.balls.len()
    }

    /// Number of sliding droplets.
    pub fn num_sliding(&self) -> usize {
        self.particles.num_sliding()
    }

    /// Id, position in the world (in m) and base radius (in m) of every droplet on a solid, in no
    /// particular order.
    pub fn places(&self) -> impl Iterator<Item = (u32, DVec3, f64)> + '_ {
        let droplets = &self.particles.state.droplets;
        droplets.used().filter_map(|slot| droplets.find(slot)).map(|droplet| {
            let place = droplet.motion.place;
            let rigid = &self.rigid_states[self.surface.facet(place.triangle).solid];
            (droplet.id.get(), rigid.pose.apply(place.point(&self.surface)), droplet.size.radius)
        })
    }

    /// Number of airborne droplets.
    pub fn num_airborne(&self) -> usize {
        self.state.balls.len()
    }

    /// Volume of all liquid, films included, in m³.
    pub fn volume(&self) -> f64 {
        self.particles.state.droplets.volume()
            + self.state.airborne_volume()
            + self.particles.state.substrate.film_volume()
    }

    /// Puts a droplet with a world velocity (in m/s) on a solid; its contact line has `radius` (in
    /// m) if angles allow.
    fn attach(
        &mut self,
        id: DropId,
        place: SurfacePoint,
        solid: SolidIndex,
        velocity: DVec3,
        volume: f64,
        radius: f64,
    ) {
        let velocity = self.rigid_states[solid].pose.rotation.transpose() * velocity;
        let motion = MotionState { place, velocity: self.surface.facet(place.triangle).project(velocity) };
        let (particles, context) = self.particles_and_context();
        particles.arrive(id, motion, volume, radius, &context);
    }

    /// What a step reads.
    pub(crate) fn context(&self) -> StepContext<'_> {
        let Self { surface, accelerations, rigid_states, setup, .. } = self;
        StepContext { surface, accelerations, rigid_states, setup }
    }

    /// The particle system and what its step reads.
    pub(crate) fn particles_and_context(&mut self) -> (&mut ParticleSystem, StepContext<'_>) {
        let Self { surface, accelerations, rigid_states, setup, particles, .. } = self;
        (particles, StepContext { surface, accelerations, rigid_states, setup })
    }

    /// Places the drops of the scene: caps on their solids, all others in the air.
    fn place_drops(&mut self) {
        for index in 0..self.world.initial_drops().len() {
            let drop = &self.world.initial_drops()[index];
            let (volume, velocity, centroid) = (drop.volume(), drop.velocity(), drop.centroid());
            let cap = match *drop.shape() {
                DropShape::Cap { on, center, contact_angle, .. } => Some((on, center, contact_angle)),
                _ => None,
            };
            let id = self.state.add_drop(volume);
            match cap {
                Some((on, center, contact_angle)) => {
                    self.build_solid(SolidIndex::new(on));
                    let Some((_, place)) = self.locator().place_on(SolidIndex::new(on), center, f64::INFINITY) else {
                        continue;
                    };
                    let radius = self.cap_radius(place, volume, contact_angle);
                    self.initial_angles.insert(id, contact_angle);
                    self.attach(id, place, SolidIndex::new(on), velocity, volume, radius);
                }
                None => {
                    let body = Projectile { center: centroid, velocity, volume };
                    self.state.balls.push(Ball { id, body, remaining: 0.0 });
                }
            }
        }
        self.launch_detached();
    }

    /// Base radius of a cap of `volume` (in m³) at rest at a contact angle (in rad), in m.
    fn cap_radius(&self, place: SurfacePoint, volume: f64, angle: f64) -> f64 {
        let facet = self.surface.facet(place.triangle);
        let field = self.context().acceleration(place.triangle);
        let normal = -field.at(facet.point(place.at), DVec3::ZERO).dot(facet.normal());
        let rest = |curvature: f64| CurvedRest::new(&self.setup.liquid, volume, angle, normal, curvature);
        let radius = |rest: CurvedRest| rest.shape.base_radius;
        let curved = |flat: f64| rest(curvature(&self.surface, place, flat)).map(radius);
        rest(0.0).map(radius).and_then(curved).unwrap_or_else(|| cap::base_radius(volume, angle))
    }

    /// Updates the acceleration fields for a step of `dt` seconds that ends at the world's time.
    fn update_accelerations(&mut self, dt: f64) {
        let (gravity, wind) = (self.world.gravity(), self.world.wind());
        let Scratch { previous_accelerations: previous, changed, rigid_states: after, .. } = &mut self.scratch;
        std::mem::swap(&mut self.accelerations, previous);
        let before = self.rigid_states.iter().zip(&self.setup.bounds);
        self.accelerations.clear();
        self.accelerations.extend(
            after.iter().zip(before).map(|(now, (before, bounds))| {
                AccelerationField::over(before, now, bounds.center(), gravity, wind, dt)
            }),
        );
        changed.clear();
        let fields = self.accelerations.iter().zip(&*previous).zip(&self.setup.deforming);
        changed.extend(fields.map(|((now, before), deforming)| now != before || deforming.is_some()));
    }

    /// Moves the world to the end of a step of `dt` seconds.
    ///
    /// Velocities jump at keyframes. A jump at the end of a step belongs to the next one, so the
    /// velocities are those just before it.
    fn move_solids(&mut self, now: f64, dt: f64) {
        const BEFORE: f64 = 1e-9;
        const JUMP: f64 = 1e-6;
        let after = &mut self.scratch.rigid_states;
        self.world.advance_to(now - BEFORE * dt);
        after.clear();
        after.extend(self.world.solids().iter().map(RigidState::of));
        for (solid, deforming) in self.world.solids().iter().zip(&mut self.setup.deforming) {
            if let Some(deforming) = deforming {
                deforming.read_velocities(solid);
            }
        }
        self.world.advance_to(now);
        for (state, solid) in after.iter_mut().zip(self.world.solids()) {
            let (before, at_end) = (state.velocity, *solid.velocity());
            let jumps = |from: DVec3, to: DVec3| from.distance(to) > JUMP * from.length().max(to.length());
            *state = RigidState::of(solid);
            if jumps(before.linear, at_end.linear) || jumps(before.angular, at_end.angular) {
                state.velocity = before;
            }
        }
    }

    /// Moves the solids to the end of the step.
    fn update_rigid_states(&mut self) {
        let after = &self.scratch.rigid_states;
        let has_moved =
            self.rigid_states.iter().zip(after).any(|(rigid, after)| rigid.pose != after.pose) || self.deforms();
        self.rigid_states.clone_from(after);
        self.scratch.has_moved = has_moved;
        if has_moved {
            self.setup.find_nearby_solids(&self.rigid_states);
        }
    }

    /// Time of the first keyframe of a solid after `time`, in s: velocities may jump there.
    fn next_keyframe(&self, time: f64) -> f64 {
        let keys = self.world.solids().iter().flat_map(|solid| &solid.scene().motion);
        let margin = 1e-9 * self.setup.parameters.max_step;
        let spans = self.world.solids().iter().filter_map(Solid::deformation_span).flatten();
        keys.map(|key| key.at).chain(spans).filter(|&at| at > time + margin).fold(f64::INFINITY, f64::min)
    }

    /// The solids at their current poses.
    fn locator(&self) -> Locator<'_> {
        Locator { setup: &self.setup, surface: &self.surface, rigid_states: &self.rigid_states }
    }

    /// Adds what emitters release between the current time and `until` (in s).
    fn emit(&mut self, until: f64) {
        let emissions = self.world.emissions(self.state.time, until);
        self.build_for(&emissions);
        let Self { world, setup, surface, particles, accelerations, rigid_states, state, .. } = self;
        let mut target = Target {
            particles,
            context: StepContext { surface, accelerations, rigid_states, setup },
            locator: Locator { setup, surface, rigid_states },
            gravity: world.gravity(),
        };
        let random = |grain: u64| Stream::new(setup.seed, &[DEW_STREAM, grain]);
        apply_emissions(emissions, until, state, random, &mut target);
        for (solid, coefficient) in setup.evaporation.iter().flatten().enumerate() {
            if *coefficient < 0.0 {
                let site = |site: u64| Stream::new(setup.seed, &[SITE_STREAM, solid as u64, site]);
                nucleate(solid, (film_rate(-coefficient), until - state.time), state, site, &mut target);
            }
        }
    }

    /// Follows the keys of the humidity.
    fn update_humidity(&mut self) {
        if self.world.humidity_changes() {
            let density = self.setup.liquid.density;
            for (solid, coefficient) in self.setup.evaporation.iter_mut().flatten().enumerate() {
                *coefficient = self.world.evaporation_coefficient(solid, density).unwrap_or(*coefficient);
            }
        }
    }

    /// Length of the next step, in s: a droplet travels a few base radii at most.
    fn choose_step(&self, limit: f64) -> f64 {
        let parameters = &self.setup.parameters;
        let limit = limit.min(self.next_keyframe(self.state.time) - self.state.time);
        let shortest = parameters.max_step / parameters.max_step_divisions;
        let by_speed = (parameters.radii_per_step * self.particles.state.transit_time).max(shortest);
        let longest = parameters.max_step.min(by_speed);
        // Equal steps up to the limit, rather than many and a short one.
        if limit > longest { limit / (limit / longest).ceil() } else { limit }
    }

    /// Reassesses droplets on solids whose acceleration field has changed.
    fn reassess(&mut self) {
        let Self { surface, accelerations, rigid_states, setup, particles, scratch, .. } = self;
        particles.reassess(&StepContext { surface, accelerations, rigid_states, setup }, &scratch.changed);
    }

    /// Advances the droplets on surfaces by `dt` seconds to the time `now`.
    fn step_particles(
        &mut self,
        (dt, now): (f64, f64),
        events: &mut Vec<Event>,
        stages: &mut dyn StageTimer,
        report: &mut StageReports,
    ) -> Result<(), StepError> {
        let Self { surface, accelerations, rigid_states, setup, particles, state, .. } = self;
        let context = StepContext { surface, accelerations, rigid_states, setup };
        let is_finite = particles.step(&context, (dt, now), &mut state.ids, events, stages, report);
        state.lost += std::mem::take(&mut particles.lost);
        if is_finite { Ok(()) } else { Err(self.non_finite_error(now)) }
    }

    /// Removes what evaporates in a step of `dt` seconds, or adds what condenses.
    fn evaporate(&mut self, dt: f64, stages: &mut dyn StageTimer) {
        let Self { surface, accelerations, rigid_states, setup, particles, state, .. } = self;
        let context = StepContext { surface, accelerations, rigid_states, setup };
        let Some(coefficients) = &context.setup.evaporation else { return };
        stages.enter("evaporate");
        state.evaporated += particles.evaporate(coefficients, dt, &context);
    }

    fn non_finite_error(&self, time: f64) -> StepError {
        let droplets = &self.particles.state.droplets;
        let wrong = droplets.used().find(|&slot| !droplets[slot].motion.velocity.is_finite());
        let place = wrong.map_or(DVec3::ZERO, |slot| self.surface.facet(droplets[slot].motion.place.triangle).origin);
        StepError::NonFinite {
            what: "the velocity of a droplet".into(),
            time,
            position: place.to_array(),
            advice: "check the scene for units that are off by orders of magnitude".into(),
        }
    }
}

impl Model for DropletModel {
    fn time(&self) -> f64 {
        self.state.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = self.choose_step(limit);
        let now = self.state.time + dt;
        self.scratch.step = dt;
        let (mut events, mut report) = (Vec::new(), StageReports::default());
        self.move_solids(now, dt);
        self.deform(dt);
        self.update_accelerations(dt);
        self.update_rigid_states();
        if self.scratch.changed.contains(&true) {
            stages.enter("reassess");
            self.reassess();
        }
        stages.enter("sources");
        self.update_humidity();
        self.state.begin_flight(dt);
        self.emit(now);
        stages.enter("flight");
        self.fly(&mut report);
        self.step_particles((dt, now), &mut events, stages, &mut report)?;
        // What lands from here on spreads in the next step, and by what is left of this one.
        self.scratch.step = 0.0;
        self.evaporate(dt, stages);
        let mut has_changed = self.launch_detached();
        if self.state.balls.iter().any(|ball| ball.remaining > 0.0) {
            stages.enter("flight");
            self.fly(&mut report);
        }
        stages.enter("other solids");
        self.avoid_solids(dt, now, &mut report);
        // One that landed where it cannot hang is airborne again at once.
        has_changed |= self.launch_detached();
        let num_events = events.len();
        self.scratch.air.coalesce(&mut self.state.balls, dt, &mut events);
        has_changed |= events.len() > num_events;
        if has_changed {
            // Launched or grown into a solid.
            self.fly(&mut report);
            if self.launch_detached() {
                self.report_overlaps(now);
            }
        }
        self.report_behind(now);
        self.report_overfull(now);
        self.state.time = now;
        report.add("coalesce.merges", num_merges(&events));
        Ok(StepReport { dt, events, stages: report })
    }

    fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.scratch.notices)
    }

    fn frame(&self) -> Frame {
        let builder = display::FrameBuilder {
            particles: &self.particles,
            solids: self.world.solids(),
            initial_angles: (self.state.time == 0.0).then_some(&self.initial_angles),
            context: StepContext {
                surface: &self.surface,
                accelerations: &self.accelerations,
                rigid_states: &self.rigid_states,
                setup: &self.setup,
            },
        };
        let (liquid, drops) = builder.geometry(&self.state.balls);
        let positions = builder.positions(&self.state.balls);
        Frame {
            time: self.state.time,
            liquid,
            drops,
            positions,
            wet: self.particles.state.substrate.wet_maps(),
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
        self.particles.state.substrate.wet_maps()
    }

    fn add(&mut self, at: DVec3, velocity: DVec3, volume: f64) -> Result<(), InteractionError> {
        self.add_by_hand(at, velocity, volume)
    }

    fn take(&mut self, region: &Region, share: f64) -> Result<f64, InteractionError> {
        Ok(self.take_by_hand(region, share))
    }

    fn wipe(&mut self, stroke: &Stroke) -> Result<f64, InteractionError> {
        Ok(self.wipe_by_hand(stroke))
    }

    fn set_material(&mut self, solid: usize, wetting: Option<Wetting>) -> Result<(), InteractionError> {
        self.set_material_by_hand(solid, wetting)
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn save(&self) -> Vec<u8> {
        self.save_checkpoint()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.restore_checkpoint(state)
    }
}

/// Number of merges among events.
fn num_merges(events: &[Event]) -> u64 {
    events.iter().filter(|event| matches!(event, Event::Merge { .. })).count() as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use sessile_scene::{NoFiles, parse_str, text};

    use super::*;

    /// A model with a level table of 100 mm of a material `m` of 90°/60°, and more tables of a
    /// scene.
    pub fn model_of(rest: &str) -> DropletModel {
        let table = text::material("m", 90.0, 60.0) + &text::plane("table", "m", [0.0, 1.0, 0.0], [100.0, 100.0]);
        let text = text::header("droplet", "") + &table + rest;
        let scene = parse_str("test.toml", &text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
        let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
        DropletModel::new(&scene, world).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Steps are equal up to the limit, no longer than the longest, and end at keyframes.
    #[test]
    fn steps_end_at_keyframes_and_divide_the_limit_evenly() {
        let moving = "[[solids]]\nname = \"lid\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 50 0 mm\"\n\
            motion = [{ at = \"0 s\" }, { at = \"15 ms\", move = \"1 0 0 mm\" }]\n";
        let model = model_of(moving);
        assert!((model.choose_step(0.1) - 0.015).abs() < 1e-12, "{}", model.choose_step(0.1));
        let still = model_of("");
        let longest = still.setup.parameters.max_step;
        assert!((still.choose_step(2.5 * longest) - 2.5 * longest / 3.0).abs() < 1e-12);
    }
}
