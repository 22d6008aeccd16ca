//! The surface model: what a step does, a frame, a saved state.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::{DropState, Event, Frame, FrameGeometry, Ids, Surface, VolumeBalance};
use sessile_model::{Model, RestoreError, StageTimer, StepError, StepReport};
use sessile_scene::types::{EmitterKind, Fidelity, Scene, Side};
use sessile_wetting::Liquid;
use sessile_world::{Emission, World, WorldState};

use crate::drops::{Drop, Pace, Scratch, Setting, target_edge};
use crate::error::SurfaceError;
use crate::extraction::{Liquid as Where, Request, extract_liquid};
use crate::ground::{Ground, Mouth, mouth_of, mouth_tag};
use crate::history::History;
use crate::initial;
use crate::merging::{Merged, merge};
use crate::mesh::AIR;
use crate::notices::Notices;
use crate::paper::{Knobs, REFERENCE_STEP};
use crate::shape::ball_radius;
use crate::shapes::{CapForm, ball, cap};
use crate::stepper::{Stepped, make_ready, parts, refit, step_drop};

/// Longest step with waves alive, in s.
const LONGEST_STEP: f64 = 1e-3;
/// Longest step of a run that settles, in s.
const LONGEST_SETTLING: f64 = 1.0 / 120.0;
/// Edges by which liquid near a solid may come nearer to it in a step.
const EDGES_PER_STEP: f64 = 0.5;
/// The same for the paper's operators, which bear more.
const PAPER_EDGES_PER_STEP: f64 = 2.0;
/// Parts into which speeds may cut the longest step at most.
const MOST_CUTS: f64 = 16.0;
/// Steps of a drop after which all that it lies on is marked as wet.
const MARK_EVERY: u32 = 8;
/// A drop this far past the solids, in m, is lost.
const MISSED_BY: f64 = 0.05;

/// Drops as deforming surfaces.
#[derive(Debug)]
pub struct SurfaceModel {
    ground: Ground,
    liquid: Liquid,
    edge: f64,
    settle: bool,
    /// Whether arms of one drop that meet are joined.
    self_merge: bool,
    /// Longest step that the scene allows, in s.
    longest: Option<f64>,
    paper: Option<Knobs>,
    domain: Option<[DVec3; 2]>,
    books: Books,
    /// By rising id.
    drops: Vec<Drop>,
    scratches: Vec<Scratch>,
    spare: Scratch,
    notices: Notices,
}

/// What is kept beside the drops.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Books {
    time: f64,
    added: f64,
    lost: f64,
    next_id: u32,
    gravity: DVec3,
    /// Surfaces that were lost and made anew.
    healed: u64,
    /// How drops became one.
    merged: Merged,
    /// At each tap, and last at needles that are in no drop, not yet enough to be shown, in m³.
    gathered: Vec<f64>,
}

impl Books {
    fn new_id(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

/// Takes up the pieces of one drop: the first keeps the id.
fn take_up(drops: &mut Vec<Drop>, books: &mut Books, pieces: Vec<Drop>, events: &mut Vec<Event>) {
    let mut ids = Ids::new();
    for (k, mut piece) in pieces.into_iter().enumerate() {
        if k > 0 {
            piece.id = books.new_id();
        }
        ids.push(piece.id);
        drops.push(piece);
    }
    if ids.len() > 1 {
        events.push(Event::Split { split: ids[0], into: ids });
    }
    drops.sort_unstable_by_key(|drop| drop.id);
}

#[derive(Serialize, Deserialize)]
struct Saved {
    books: Books,
    world: WorldState,
    drops: Vec<Drop>,
    history: History,
}

impl SurfaceModel {
    /// The scene's drops on its solids, as the scene begins.
    pub fn new(scene: &Scene, world: World) -> Result<Self, SurfaceError> {
        if scene.world.planar {
            return Err(SurfaceError::Planar);
        }
        if let Some(domain) = &scene.domain
            && let Some(k) = domain.sides.iter().position(|&side| side != Side::Open)
        {
            return Err(SurfaceError::Side { axis: ["x", "y", "z"][k] });
        }
        if let Some(index) = scene.emitters.iter().position(|emitter| matches!(emitter.kind, EmitterKind::Dew { .. })) {
            return Err(SurfaceError::Dew { index });
        }
        let gravity = world.gravity();
        let mouths = scene
            .emitters
            .iter()
            .filter_map(|emitter| match emitter.kind {
                EmitterKind::Tap { at, direction, radius, .. } => Some(Mouth { at, direction, radius, speed: 0.0 }),
                _ => None,
            })
            .collect::<Vec<_>>();
        let gathered = vec![0.0; mouths.len() + 1];
        let mut model = Self {
            ground: Ground { history: Arc::new(History::new(&world, scene.resolution.edge)), world, mouths },
            liquid: scene.liquid,
            edge: scene.resolution.edge,
            settle: scene.time.settle,
            self_merge: scene.surface.self_collision.unwrap_or(false),
            longest: scene.surface.dt,
            paper: (scene.fidelity == Fidelity::Paper).then(|| Knobs::of(&scene.surface)),
            domain: scene.domain.as_ref().map(|domain| [domain.min, domain.max]),
            books: Books { next_id: 1, gravity, gathered, ..Books::default() },
            drops: Vec::new(),
            scratches: Vec::new(),
            spare: Scratch::default(),
            notices: Notices::default(),
        };
        let usual = model.usual_step();
        model.notices.about_step(model.longest, usual);
        for index in 0..model.ground.world.initial_drops().len() {
            model.place(scene, index)?;
        }
        model.remember(true);
        Ok(model)
    }

    /// The drops, by rising id.
    pub fn drops(&self) -> &[Drop] {
        &self.drops
    }

    /// Number of triangles of all drops, and of those that are awake.
    pub fn num_triangles(&self) -> [usize; 2] {
        let count = |awake: bool| {
            self.drops.iter().filter(|drop| !(awake && drop.asleep)).map(|drop| drop.mesh.triangles.len()).sum()
        };
        [count(false), count(true)]
    }

    /// Volume of all liquid that is there, in m³.
    pub fn volume(&self) -> f64 {
        self.drops.iter().map(|drop| drop.volume).sum()
    }

    /// What has been added and lost so far.
    pub fn balance(&self) -> VolumeBalance {
        VolumeBalance { added: self.books.added, lost: self.books.lost, film: 0.0 }
    }

    /// How often a surface came out wrong from a step and was made anew through a distance field.
    pub fn num_healed(&self) -> u64 {
        self.books.healed
    }

    /// How drops have become one so far.
    pub fn merged(&self) -> Merged {
        self.books.merged
    }

    fn place(&mut self, scene: &Scene, index: usize) -> Result<(), SurfaceError> {
        let drop = &self.ground.initial_drops()[index];
        let (volume, velocity) = (drop.volume(), drop.velocity());
        let described = &scene.drops[drop.index()].shape;
        let mesh = match initial::surface(drop, described, &self.ground, self.edge) {
            Some(mesh) => mesh,
            None => {
                let field = |point: DVec3| drop.free_surface_distance(point);
                let request = Request {
                    liquid: Where::Field(&field),
                    bounds: drop.bounds(),
                    edge: target_edge(volume, self.edge),
                    floor: None,
                };
                extract_liquid(&request, &self.ground)
                    .ok_or(SurfaceError::Drop { index, reason: "it is thinner than an edge; lower resolution.edge" })?
            }
        };
        self.notices.about_size(index, ball_radius(volume), self.edge);
        let id = self.books.new_id();
        let mut drop = Drop::new(id, mesh, volume, velocity);
        make_ready(&mut drop, &self.ground, self.edge, &mut self.spare);
        self.books.added += volume;
        let pieces = parts(drop, &self.ground, self.edge, &mut self.spare);
        take_up(&mut self.drops, &mut self.books, pieces, &mut Vec::new());
        Ok(())
    }

    fn add_ball(&mut self, center: DVec3, radius: f64, velocity: DVec3) {
        let volume = 4.0 / 3.0 * PI * radius.powi(3);
        let Some(mesh) = ball(center, radius, target_edge(volume, self.edge), |_| radius) else { return };
        let id = self.books.new_id();
        self.books.added += volume;
        self.drops.push(Drop::new(id, mesh, volume, velocity));
    }

    /// Everything that emitters give between the current time and `until`.
    fn receive(&mut self, until: f64) {
        self.ground.mouths.iter_mut().for_each(|mouth| mouth.speed = 0.0);
        for supply in self.ground.emissions(self.books.time, until) {
            match supply {
                Emission::Ball { center, radius, velocity, .. } => self.add_ball(center, radius, velocity),
                Emission::Feed { at, volume, .. } => self.feed(at, volume),
                Emission::Stream { at, direction, radius, speed, from, to } => {
                    let mouths = &mut self.ground.mouths;
                    let found =
                        mouths.iter().position(|m| m.at == at && m.direction == direction && m.radius == radius);
                    if let Some(k) = found {
                        mouths[k].speed = speed;
                        self.pour(k, PI * radius * radius * speed * (to - from));
                    }
                }
                Emission::Condense { .. } => {}
            }
        }
        // What hangs from a tap that was shut lets go.
        for drop in &mut self.drops {
            for tag in &mut drop.mesh.solids {
                if mouth_of(*tag).is_some_and(|k| self.ground.mouths[k].speed == 0.0) {
                    *tag = AIR;
                }
            }
        }
    }

    /// Adds what a tap gives to the stream that hangs from it; without one, a first half ball comes out when there is enough for it.
    fn pour(&mut self, k: usize, volume: f64) {
        let tag = mouth_tag(k);
        if let Some(drop) = self.drops.iter_mut().find(|drop| drop.mesh.solids.contains(&tag)) {
            drop.volume += volume;
            drop.wake();
            self.books.added += volume;
            return;
        }
        self.books.gathered[k] += volume;
        let Mouth { at, direction, radius, speed } = self.ground.mouths[k];
        let gathered = self.books.gathered[k];
        if gathered < 2.0 / 3.0 * PI * radius.powi(3) {
            return;
        }
        let across = direction.any_orthonormal_vector();
        let other = direction.cross(across);
        let turn = |phi: f64| across * phi.cos() + other * phi.sin();
        let surface = |part: f64, phi: f64| {
            let (sin, cos) = (0.5 * PI * part).sin_cos();
            at + (turn(phi) * sin + direction * if part >= 1.0 { 0.0 } else { cos }) * radius
        };
        let base = |part: f64, phi: f64| at + turn(phi) * (part * radius);
        let edge = target_edge(gathered, self.edge);
        let Some(mesh) = cap(&CapForm { edge, surface: &surface, base: &base, solid: tag }) else { return };
        self.books.gathered[k] = 0.0;
        self.books.added += gathered;
        let id = self.books.new_id();
        let mut drop = Drop::new(id, mesh, gathered, direction * speed);
        refit(&mut drop, &self.ground, &mut self.spare.shape);
        self.drops.push(drop);
    }

    /// Adds liquid to the drop nearest to a needle's tip, or takes some; never more than it has.
    fn feed(&mut self, at: DVec3, volume: f64) {
        let nearest = (0..self.drops.len()).min_by(|&i, &j| {
            let far = |k: usize| {
                let [low, high] = self.drops[k].mesh.bounds();
                at.distance(at.clamp(low, high))
            };
            far(i).total_cmp(&far(j))
        });
        match nearest {
            Some(index) => {
                let drop = &mut self.drops[index];
                let volume = volume.max(-0.9 * drop.volume);
                drop.volume += volume;
                drop.wake();
                self.books.added += volume;
            }
            // With no drop there, liquid gathers until it makes one of a size that can be shown.
            None => {
                let last = self.ground.mouths.len();
                let gathered = &mut self.books.gathered[last];
                *gathered = (*gathered + volume).max(0.0);
                if ball_radius(*gathered) > 0.5 * self.edge {
                    let radius = ball_radius(std::mem::take(gathered));
                    self.add_ball(at, radius, DVec3::ZERO);
                }
            }
        }
    }

    /// Longest step where the scene does not say, in s.
    fn usual_step(&self) -> f64 {
        match (&self.paper, self.settle) {
            (Some(_), _) => REFERENCE_STEP,
            (None, true) => LONGEST_SETTLING,
            (None, false) => LONGEST_STEP,
        }
    }

    /// Length of the next step, in s. Drops that come at a solid too fast for it take their own way through it in several ([`Drop::pace`]); only where
    /// that solid moves, all take a shorter one.
    fn choose_step(&mut self, limit: f64) -> f64 {
        let edges = if self.paper.is_some() { PAPER_EDGES_PER_STEP } else { EDGES_PER_STEP };
        let longest = self.longest.unwrap_or(self.usual_step());
        let ground = &self.ground;
        let moving: Vec<usize> = (0..ground.solids().len()).filter(|&s| ground.solids()[s].moves()).collect();
        let mut dt = longest;
        for drop in self.drops.iter_mut().filter(|drop| !drop.asleep) {
            drop.pace = Pace::default();
            // What counts is how far liquid comes nearer to a solid: by deforming, and with the drop as a whole. A drop that slides comes no nearer.
            let own = drop.writhing;
            let allowed = edges * drop.target_edge(self.edge);
            let speed = own + drop.velocity.length();
            if speed * longest <= allowed {
                continue;
            }
            let [low, high] = drop.mesh.bounds();
            let (center, reach) = (0.5 * (low + high), 0.5 * low.distance(high));
            let before = ground.signed_distance(center);
            if before < reach + 2.0 * speed * longest {
                let after = ground.signed_distance(center + drop.velocity * longest);
                let way = own * longest + (before - after).max(0.0);
                drop.pace.parts = (way / allowed).ceil().clamp(1.0, MOST_CUTS) as u32;
                let pushed = |s: &usize| ground.solids()[*s].signed_distance(center) < reach + 2.0 * speed * longest;
                if drop.pace.parts > 1 && moving.iter().any(pushed) {
                    dt = dt.min(longest / f64::from(drop.pace.parts));
                }
            }
        }
        let dt = dt.max(longest / MOST_CUTS);
        // Even steps up to the limit, rather than many and a short one.
        let dt = if limit > dt { limit / (limit / dt).ceil() } else { limit };
        for drop in self.drops.iter_mut().filter(|drop| !drop.asleep) {
            let parts = (f64::from(drop.pace.parts) * dt / longest).ceil().max(1.0);
            drop.pace = Pace { parts: parts as u32, dt: dt / parts };
        }
        dt
    }

    /// Marks where drops that are awake wet the solids; `all` of them, and all of their faces.
    fn remember(&mut self, all: bool) {
        let Ground { history, world, .. } = &mut self.ground;
        let history = Arc::make_mut(history);
        for scratch in &mut self.scratches {
            for contact in scratch.shape.contacts.drain(..).filter(|contact| contact.tag >= 0) {
                history.mark(contact.tag as usize, contact.footing.uv);
            }
        }
        for drop in self.drops.iter_mut().filter(|drop| all || (!drop.asleep && drop.unchecked >= MARK_EVERY)) {
            history.mark_under(&drop.mesh, world);
            drop.unchecked = 0;
        }
    }

    /// Takes away drops that have left.
    fn lose(&mut self, gravity: DVec3) {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = self.ground.solids().iter().map(sessile_world::Solid::bounds);
        let [low, high] = bounds.fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)]);
        let down = gravity.normalize_or_zero();
        let domain = self.domain;
        let lowest = DVec3::new(
            if down.x > 0.0 { high.x } else { low.x },
            if down.y > 0.0 { high.y } else { low.y },
            if down.z > 0.0 { high.z } else { low.z },
        );
        let mut lost = 0.0;
        self.drops.retain(|drop| {
            let place = drop.mesh.centroid();
            let gone = match domain {
                Some([min, max]) => place.cmplt(min).any() || place.cmpgt(max).any(),
                None => lowest.is_finite() && down != DVec3::ZERO && place.dot(down) > lowest.dot(down) + MISSED_BY,
            };
            if gone {
                lost += drop.volume;
            }
            !gone
        });
        self.books.lost += lost;
    }

    /// Wakes drops on solids that move, and all of them when gravity has changed.
    fn wake(&mut self, gravity: DVec3) {
        let turned = gravity != self.books.gravity;
        self.books.gravity = gravity;
        let moving: Vec<usize> = (0..self.ground.solids().len()).filter(|&s| self.ground.solids()[s].moves()).collect();
        for drop in self.drops.iter_mut().filter(|drop| drop.asleep) {
            let [low, high] = drop.mesh.bounds();
            let (center, reach) = (0.5 * (low + high), 0.75 * low.distance(high));
            let stirred = moving.iter().any(|&s| self.ground.solids()[s].signed_distance(center) < reach);
            if turned || stirred {
                drop.wake();
            }
        }
    }
}

impl Model for SurfaceModel {
    fn time(&self) -> f64 {
        self.books.time
    }

    fn step(&mut self, limit: f64, stages: &mut dyn StageTimer) -> Result<StepReport, StepError> {
        let dt = self.choose_step(limit);
        let until = self.books.time + dt;
        let mut events = Vec::new();
        let mut before = self.ground.clone();
        self.ground.world.advance_to(until);
        let gravity = 0.5 * (before.gravity() + self.ground.gravity());
        stages.enter("sources");
        self.receive(until);
        before.mouths.clone_from(&self.ground.mouths);
        self.wake(gravity);
        // Those that have just come or woken go through it at once.
        for drop in self.drops.iter_mut().filter(|drop| drop.pace.parts == 0) {
            drop.pace = Pace { parts: 1, dt };
        }

        stages.enter("drops");
        let setting = Setting {
            before: &before,
            after: &self.ground,
            gravity,
            dt,
            shortest_step: 1.01 * dt / MOST_CUTS,
            liquid: &self.liquid,
            edge: self.edge,
            settle: self.settle,
            self_merge: self.self_merge,
            paper: self.paper,
        };
        // Most drops take one turn; those with more go on until they are through the step.
        let (mut healed, mut self_merged) = (0, 0);
        loop {
            self.scratches.resize_with(self.drops.len().max(self.scratches.len()), Scratch::default);
            let mut turns: Vec<(usize, &mut Drop, &mut Scratch)> = self
                .drops
                .iter_mut()
                .zip(&mut self.scratches)
                .enumerate()
                .filter(|(_, (drop, _))| !drop.asleep && drop.pace.parts > 0)
                .map(|(index, (drop, scratch))| (index, drop, scratch))
                .collect();
            if turns.is_empty() {
                break;
            }
            // The largest first, so that none is left when all others are done.
            turns.sort_by_key(|(index, drop, _)| (std::cmp::Reverse(drop.mesh.triangles.len()), *index));
            let stepped: Vec<(usize, Stepped)> = turns
                .into_par_iter()
                .with_max_len(1)
                .map(|(index, drop, scratch)| {
                    drop.pace.parts -= 1;
                    (index, step_drop(drop, &Setting { dt: drop.pace.dt, ..setting }, scratch))
                })
                .collect();
            healed += stepped.iter().filter(|(_, stepped)| stepped.healed).count() as u64;
            self_merged += stepped.iter().filter(|(_, stepped)| stepped.self_merged).count() as u64;
            let mut cut: Vec<usize> =
                stepped.iter().filter(|(_, stepped)| stepped.cut).map(|(index, _)| *index).collect();
            cut.sort_unstable();
            for index in cut.into_iter().rev() {
                let drop = self.drops.remove(index);
                let pieces = parts(drop, &self.ground, self.edge, &mut self.spare);
                take_up(&mut self.drops, &mut self.books, pieces, &mut events);
            }
        }
        self.books.healed += healed;
        if let Some(wrong) = self.drops.iter().find(|drop| !drop.mesh.positions.iter().all(|p| p.is_finite())) {
            return Err(StepError::NonFinite {
                what: format!("the surface of drop {}", wrong.id),
                time: until,
                position: wrong.velocity.to_array().map(|x| if x.is_finite() { x } else { 0.0 }),
                advice: "look for units that are off by orders of magnitude in the scene, or for a resolution.edge far larger than the drops".into(),
            });
        }
        drop(before);
        self.remember(false);
        stages.enter("merges");
        let mut merged = merge(&mut self.drops, dt, self.edge, &self.ground, &mut self.spare, &mut events);
        merged.with_themselves = self_merged;
        self.books.merged.add(&merged);
        self.notices.after_step(until, &self.books.merged, self.books.healed);
        self.lose(gravity);
        self.books.time = until;
        Ok(StepReport { dt, events, ..StepReport::default() })
    }

    fn notices(&mut self) -> Vec<String> {
        self.notices.take()
    }

    fn frame(&self) -> Frame {
        let mut surface = Surface::default();
        let mut facts = Vec::new();
        for drop in &self.drops {
            let mesh = &drop.mesh;
            let first = surface.positions.len() as u32;
            surface.positions.extend(&mesh.positions);
            surface.velocities.extend(&mesh.velocities);
            surface.drops.extend(std::iter::repeat_n(drop.id, mesh.positions.len()));
            surface.triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|v| v + first)));
            // A tap's mouth is no solid of the scene's.
            surface.solids.extend(mesh.solids.iter().map(|&tag| tag.max(AIR)));
            facts.push(DropState {
                id: drop.id,
                volume: drop.volume,
                velocity: drop.velocity,
                speed_max: mesh.velocities.iter().map(|v| v.length()).fold(0.0, f64::max),
                pressure: Some(drop.pressure),
            });
        }
        Frame {
            time: self.books.time,
            liquid: FrameGeometry::Surfaces(surface),
            drops: facts,
            wet: self.ground.history.maps(),
            balance: self.balance(),
            active_cells: 0,
        }
    }

    fn world(&self) -> &World {
        &self.ground.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.ground.world
    }

    fn save(&self) -> Vec<u8> {
        let state = Saved {
            books: self.books.clone(),
            world: self.ground.save(),
            drops: self.drops.clone(),
            history: (*self.ground.history).clone(),
        };
        // Plain numbers into memory: there is nothing that could fail.
        postcard::to_stdvec(&state).expect("the state is plain data")
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let state: Saved = postcard::from_bytes(state).map_err(|error| RestoreError(error.to_string()))?;
        let solids = self.ground.solids().len() as i32;
        for drop in &state.drops {
            let mouths = self.ground.mouths.len();
            if drop.mesh.solids.iter().any(|&s| s >= solids || mouth_of(s).is_some_and(|k| k >= mouths)) {
                return Err(RestoreError("it belongs to other solids".into()));
            }
            crate::validate::check_arrays(&drop.mesh)
                .map_err(|flaw| RestoreError(format!("drop {}: {flaw}", drop.id)))?;
        }
        self.ground.world.restore(&state.world).map_err(|error| RestoreError(error.to_string()))?;
        if state.books.gathered.len() != self.books.gathered.len() {
            return Err(RestoreError("it belongs to other taps".into()));
        }
        if !state.history.fits(&self.ground.history) {
            return Err(RestoreError("its wet maps have other sizes".into()));
        }
        self.ground.history = Arc::new(state.history);
        self.drops = state.drops;
        self.books = state.books;
        Ok(())
    }
}
