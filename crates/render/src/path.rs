//! One path of light, from the eye back to what shines.
//!
//! At each surface that is not clear, one light is sampled and one direction is drawn from the surface; the two ways to meet a
//! light share it by the power heuristic (veach1997, §9.2). Light that bends on its way to a light cannot be aimed at: it is met by
//! chance.
//!
//! A path knows what it is in: how many drops lie over one another here, how many bodies of glass. Glass has priority over
//! liquid, liquid over air (schmidt2002): a drop's surface inside glass is not there, nor is one drop's surface inside another.
//!
//! The factor (nᵢ/nₜ)² of radiance in a denser medium is left out at both faces, for every path that carries light ends in air.

use glam::{Vec2, Vec3};

use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::lights::{LightSample, axes_about};
use crate::liquid_look::LiquidLook;
use crate::materials::{Finish, Scatter};
use crate::sampler::Sampler;
use crate::stage::{Body, Owner, Stage, SurfacePoint};
use crate::tracer_bvh::{NOTHING, Ray};

/// How long paths may get, and what is done against bright specks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Most surfaces on a path at which light is bent, mirrored or scattered.
    pub max_depth: u32,
    /// Light that comes to a matte surface in a roundabout way is cut to this, per sample; infinite: not at all.
    pub clamp: f32,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { max_depth: 12, clamp: f32::INFINITY }
    }
}

/// Surfaces after which a path may be ended by lot.
const ROULETTE_DEPTH: u32 = 4;

/// Bends and mirrorings seen from the eye at which both ways are followed, not one by lot: a mirrored lamp is bright, and one
/// sample in fifty would find it.
const SPLIT_DEPTH: u32 = 2;

/// A way that would carry less than this is left to the lot.
const SPLIT_SHARE: f32 = 1e-3;

/// Most ways waiting to be followed: one for each split of the one that is followed, and of each that waits.
const MOST_BRANCHES: usize = 4;

/// Faces that a path may pass without being bent, such as those of drops inside one another.
const MOST_PASSES: u32 = 64;

/// What a path brings home.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathResult {
    /// Radiance.
    pub color: Vec3,
    /// Colour of the first thing that is not clear; white where there is none.
    pub albedo: Vec3,
    /// Normal of the first surface, towards the eye; zero without one.
    pub normal: Vec3,
    /// Distance to the first surface; infinite without one.
    pub depth: f32,
    /// Rays cast.
    pub rays: u32,
}

/// What surrounds a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Media {
    /// Drops that lie over one another here.
    pub drops: u32,
    /// Bodies of glass that lie over one another here, and the index of the last one entered.
    pub glass: u32,
    glass_index: f32,
}

impl Media {
    fn index(&self, liquid: f32) -> f32 {
        if self.glass > 0 { self.glass_index } else { self.outside_glass(liquid) }
    }

    fn outside_glass(&self, liquid: f32) -> f32 {
        if self.drops > 0 { liquid } else { 1.0 }
    }

    fn is_air(&self) -> bool {
        self.drops == 0 && self.glass == 0
    }
}

/// What a surface does with a path.
enum Turn {
    /// On as before: there is no face, or one that does not bend.
    Pass,
    /// Mirrored or bent into this direction.
    Bent(Vec3),
    /// Met a surface that is not clear.
    Scattered,
}

/// A way of the path that waits.
#[derive(Clone, Copy)]
struct Branch {
    ray: Ray,
    media: Media,
    throughput: Vec3,
    depth: u32,
}

struct Walk<'a> {
    stage: &'a Stage,
    settings: PathSettings,
    liquid_index: f32,
    absorption: Vec3,
    ray: Ray,
    media: Media,
    throughput: Vec3,
    /// Density of the last scattering, if lights could have been aimed at from there.
    density: Option<f32>,
    scattered: bool,
    depth: u32,
    /// The main way has been followed to its end.
    seen: bool,
    branches: [Option<Branch>; MOST_BRANCHES],
    result: PathResult,
}

/// What surrounds the eye: cast once per picture.
pub fn media_at(stage: &Stage, point: Vec3) -> Media {
    let drops = u32::from(stage.drop_around(point, Vec3::Y, 0.5, NOTHING).is_some());
    Media { drops, ..Media::default() }
}

/// Follows a path from the eye.
pub fn trace(stage: &Stage, settings: PathSettings, ray: Ray, media: Media, sampler: &mut Sampler) -> PathResult {
    let (liquid_index, absorption) = match stage.liquid {
        LiquidLook::Clear { index, absorption } => (index, absorption),
        LiquidLook::Opaque(_) => (1.0, Vec3::ZERO),
    };
    let result = PathResult { albedo: Vec3::ONE, depth: f32::INFINITY, ..PathResult::default() };
    let mut walk = Walk {
        stage,
        settings,
        liquid_index,
        absorption,
        ray,
        media,
        throughput: Vec3::ONE,
        density: None,
        scattered: false,
        depth: 0,
        seen: false,
        branches: [None; MOST_BRANCHES],
        result,
    };
    walk.run(sampler);
    while let Some(branch) = walk.branches.iter_mut().find_map(Option::take) {
        walk.seen = true;
        walk.ray = branch.ray;
        walk.media = branch.media;
        walk.throughput = branch.throughput;
        walk.depth = branch.depth;
        (walk.density, walk.scattered) = (None, false);
        walk.run(sampler);
    }
    walk.result
}

impl Walk<'_> {
    fn run(&mut self, sampler: &mut Sampler) {
        let mut passes = 0;
        let mut travelled = 0.0;
        loop {
            self.result.rays += 1;
            let hit = self.stage.nearest(&self.ray, f32::INFINITY);
            let reach = hit.map_or(f32::INFINITY, |hit| hit.distance);
            if self.meet_lamp(reach) {
                return;
            }
            let Some(hit) = hit else {
                self.meet_sky();
                return;
            };
            if self.media.drops > 0 && self.media.glass == 0 {
                self.throughput *= (-self.absorption * hit.distance).exp();
            }
            travelled += hit.distance;
            let at = self.stage.surface_point(&hit, self.ray.time);
            if self.depth == 0 && self.result.depth == f32::INFINITY {
                self.result.depth = travelled;
                self.result.normal = if at.smooth.dot(self.ray.direction) < 0.0 { at.smooth } else { -at.smooth };
            }
            let turn = match at.owner {
                Owner::Drop(_) => self.meet_liquid(&at, sampler),
                Owner::Solid(solid) => self.meet_solid(&at, solid as usize, sampler),
            };
            self.ray.origin = at.point;
            self.ray.leaves = at.triangle;
            match turn {
                None => return,
                Some(Turn::Pass) => {
                    passes += 1;
                    if passes > MOST_PASSES {
                        return;
                    }
                    continue;
                }
                Some(Turn::Bent(direction)) => {
                    self.ray.direction = direction;
                    self.density = None;
                }
                Some(Turn::Scattered) => self.scattered = true,
            }
            self.depth += 1;
            if self.depth >= self.settings.max_depth {
                return;
            }
            if self.depth >= ROULETTE_DEPTH {
                let stay = self.throughput.max_element().min(0.95);
                if stay <= 0.0 || sampler.one() >= stay {
                    return;
                }
                self.throughput /= stay;
            }
        }
    }

    fn add(&mut self, light: Vec3) {
        let light = self.throughput * light;
        if !light.is_finite() {
            return;
        }
        let brightest = light.max_element();
        let cut = self.scattered && self.density.is_none() && brightest > self.settings.clamp;
        self.result.color += if cut { light * (self.settings.clamp / brightest) } else { light };
    }

    /// The weight of having met a light by chance that is sampled with density `sampled`.
    fn chance_weight(&self, sampled: f32) -> f32 {
        self.density.map_or(1.0, |density| power(density, self.light_share() * sampled))
    }

    fn num_lights(&self) -> usize {
        usize::from(self.stage.environment_varies) + self.stage.lamps.len() + self.stage.suns.len()
    }

    fn light_share(&self) -> f32 {
        1.0 / self.num_lights().max(1) as f32
    }

    fn meet_lamp(&mut self, reach: f32) -> bool {
        let Ray { origin, direction, .. } = self.ray;
        let hits = self.stage.lamps.iter().filter_map(|lamp| Some((lamp.hit(origin, direction)?, lamp)));
        let Some((distance, lamp)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(d, _)| *d < reach) else {
            return false;
        };
        let weight = self.chance_weight(lamp.density(direction, distance));
        self.add(weight * lamp.radiance());
        true
    }

    fn meet_sky(&mut self) {
        let direction = self.ray.direction;
        let environment = &self.stage.environment;
        let sampled =
            if self.stage.environment_varies && self.density.is_some() { environment.pdf(direction) } else { 0.0 };
        self.add(self.chance_weight(sampled) * environment.radiance(direction));
        for sun in &self.stage.suns {
            self.add(self.chance_weight(sun.density()) * sun.radiance(direction));
        }
    }

    fn meet_liquid(&mut self, at: &SurfacePoint, sampler: &mut Sampler) -> Option<Turn> {
        if let LiquidLook::Opaque(finish) = &self.stage.liquid {
            return self.scatter(at, at.smooth, finish, 0.0, sampler);
        }
        let entering = self.ray.direction.dot(at.facet) < 0.0;
        let inside_others = if entering { self.media.drops > 0 } else { self.media.drops > 1 };
        let after = if entering { self.media.drops + 1 } else { self.media.drops.saturating_sub(1) };
        if self.media.glass > 0 || inside_others {
            self.media.drops = after;
            return Some(Turn::Pass);
        }
        let (from, to) = if entering { (1.0, self.liquid_index) } else { (self.liquid_index, 1.0) };
        let inside = Media { drops: 1, ..self.media };
        let outside = Media { drops: 0, ..self.media };
        let (mirrored, bent) = if entering { (outside, inside) } else { (inside, outside) };
        Some(self.face(at, from, to, [mirrored, bent], sampler))
    }

    /// Mirrors or bends the ray at a face; `media` are those of the mirrored and of the bent ray.
    fn face(&mut self, at: &SurfacePoint, from: f32, to: f32, media: [Media; 2], sampler: &mut Sampler) -> Turn {
        let incident = self.ray.direction;
        let side = if incident.dot(at.facet) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.facet;
        // Where the smooth normal is turned away, only the facet's makes sense.
        let normal = if incident.dot(side * at.smooth) < 0.0 { side * at.smooth } else { facet };
        let reflected = reflectance(-incident.dot(normal), from / to);
        let mirrored = reflect(incident, normal);
        let mirrored = if mirrored.dot(facet) > 0.0 { mirrored } else { reflect(incident, facet) };
        let bent = refract(incident, normal, from / to);
        let bent = bent.filter(|bent| bent.dot(facet) < 0.0).or_else(|| refract(incident, facet, from / to));
        let bent = bent.filter(|_| reflected < 1.0);
        Turn::Bent(self.mirror_or_bend(at, reflected, mirrored, bent, media, sampler))
    }

    /// Follows both ways near the eye, one by lot farther on; the other waits.
    fn mirror_or_bend(
        &mut self,
        at: &SurfacePoint,
        reflected: f32,
        mirrored: Vec3,
        bent: Option<Vec3>,
        [mirror_media, bent_media]: [Media; 2],
        sampler: &mut Sampler,
    ) -> Vec3 {
        let Some(bent) = bent else {
            self.media = mirror_media;
            return mirrored;
        };
        let waits = self.throughput * reflected;
        let splits = !self.scattered && self.depth < SPLIT_DEPTH && waits.max_element() > SPLIT_SHARE;
        if splits && let Some(free) = self.branches.iter_mut().find(|branch| branch.is_none()) {
            let ray = Ray { origin: at.point, direction: mirrored, leaves: at.triangle, ..self.ray };
            *free = Some(Branch { ray, media: mirror_media, throughput: waits, depth: self.depth + 1 });
            self.throughput *= 1.0 - reflected;
            self.media = bent_media;
            return bent;
        }
        if sampler.one() < reflected {
            self.media = mirror_media;
            mirrored
        } else {
            self.media = bent_media;
            bent
        }
    }

    fn meet_solid(&mut self, at: &SurfacePoint, solid: usize, sampler: &mut Sampler) -> Option<Turn> {
        let stage = self.stage;
        match &stage.solids[solid].body {
            Body::Painted(finish) => {
                let wetness = stage.solids[solid].wet.as_ref().map(|layer| layer.at(at.uv)).unwrap_or_default();
                let normal = stage.bent_normal(at, wetness.slope, self.ray.time);
                self.scatter(at, normal, finish, wetness.wet, sampler)
            }
            Body::Sheet { index } => Some(self.meet_sheet(at, *index, sampler)),
            Body::GlassBody { index } => Some(self.meet_glass(at, *index, sampler)),
        }
    }

    /// A thin pane: what lies before and behind it decides; the glass itself only reflects.
    fn meet_sheet(&mut self, at: &SurfacePoint, sheet: f32, sampler: &mut Sampler) -> Turn {
        let incident = self.ray.direction;
        let from_front = incident.dot(at.facet) < 0.0;
        let normal = if from_front { at.facet } else { -at.facet };
        let (near, behind) = if from_front {
            (self.media.outside_glass(self.liquid_index), 0)
        } else {
            (1.0, u32::from(self.stage.drop_around(at.point, at.facet, self.ray.time, NOTHING).is_some()))
        };
        let far = if behind > 0 { self.liquid_index } else { 1.0 };
        let reflected = sheet_reflectance(-incident.dot(normal), near, sheet, far);
        let bent = refract(incident, normal, near / far).filter(|_| reflected < 1.0);
        let media = [self.media, Media { drops: behind, ..self.media }];
        let direction = self.mirror_or_bend(at, reflected, reflect(incident, normal), bent, media, sampler);
        if near == far && direction.dot(normal) < 0.0 { Turn::Pass } else { Turn::Bent(direction) }
    }

    fn meet_glass(&mut self, at: &SurfacePoint, index: f32, sampler: &mut Sampler) -> Turn {
        let entering = self.ray.direction.dot(at.facet) < 0.0;
        if entering && self.media.glass > 0 {
            self.media.glass += 1;
            return Turn::Pass;
        }
        if !entering && self.media.glass > 1 {
            self.media.glass -= 1;
            return Turn::Pass;
        }
        let outside = if entering {
            self.media.drops
        } else {
            u32::from(self.stage.drop_around(at.point, at.facet, self.ray.time, NOTHING).is_some())
        };
        let beyond = if outside > 0 { self.liquid_index } else { 1.0 };
        let (from, to) = if entering { (beyond, index) } else { (index, beyond) };
        let inside = Media { drops: outside, glass: 1, glass_index: index };
        let around = Media { drops: outside, ..Media::default() };
        let (mirrored, bent) = if entering { (around, inside) } else { (inside, around) };
        self.face(at, from, to, [mirrored, bent], sampler)
    }

    /// Light at a surface that is not clear.
    fn scatter(
        &mut self,
        at: &SurfacePoint,
        normal: Vec3,
        finish: &Finish,
        wet: f32,
        sampler: &mut Sampler,
    ) -> Option<Turn> {
        let incident = self.ray.direction;
        let side = if incident.dot(at.facet) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.facet;
        let normal = if incident.dot(side * normal) < -1e-3 { side * normal } else { facet };
        let scatter = finish.scatter(at.uv, self.media.index(self.liquid_index), wet);
        if !self.scattered && !self.seen {
            self.result.albedo = scatter.albedo().min(Vec3::ONE);
        }
        let frame = Frame::new(normal);
        let out = frame.to_local(-incident);
        // Numbers are drawn in the same order whatever happens, so that each keeps its stratification.
        let (pick, light_point) = (sampler.pair(), sampler.pair());
        let direction_point = sampler.pair();
        if self.media.is_air() {
            self.aim_at_light(at, facet, &frame, &scatter, out, pick.x, light_point);
        }
        let drawn = scatter.sample(out, pick.y, direction_point)?;
        let direction = frame.to_world(drawn.into);
        // A direction that the smooth surface sends out but the facet does not is lost.
        if direction.dot(facet) * drawn.into.z <= 0.0 {
            return None;
        }
        self.throughput *= drawn.weight;
        self.ray.direction = direction;
        self.density = (self.media.is_air() && self.num_lights() > 0).then_some(drawn.density);
        Some(Turn::Scattered)
    }

    #[allow(clippy::too_many_arguments)]
    fn aim_at_light(
        &mut self,
        at: &SurfacePoint,
        facet: Vec3,
        frame: &Frame,
        scatter: &Scatter,
        out: Vec3,
        pick: f32,
        u: Vec2,
    ) {
        let Some(light) = self.sample_light(at.point, pick, u) else { return };
        let into = frame.to_local(light.direction);
        if light.direction.dot(facet) * into.z <= 0.0 || light.density <= 0.0 {
            return;
        }
        let (value, density) = scatter.eval(out, into);
        if value.max_element() <= 0.0 {
            return;
        }
        let seen = self.visibility(at, light.direction, light.distance);
        if seen > 0.0 {
            let sampled = self.light_share() * light.density;
            let weight = power(sampled, density);
            let light = self.throughput * value * light.radiance * (seen * weight / sampled);
            if light.is_finite() {
                self.result.color += light;
            }
        }
    }

    fn sample_light(&self, from: Vec3, pick: f32, u: Vec2) -> Option<LightSample> {
        let stage = self.stage;
        let count = self.num_lights();
        let mut pick = ((pick * count as f32) as usize).min(count.checked_sub(1)?);
        if stage.environment_varies {
            if pick == 0 {
                let sample = stage.environment.sample(u);
                return Some(LightSample {
                    direction: sample.dir,
                    distance: f32::INFINITY,
                    radiance: sample.radiance,
                    density: sample.pdf,
                });
            }
            pick -= 1;
        }
        match stage.lamps.get(pick) {
            Some(lamp) => lamp.sample(from, u),
            None => stage.suns.get(pick - stage.lamps.len()).map(|sun| sun.sample(u)),
        }
    }

    /// The share of light that comes straight from a light; panes without drops let most of it pass.
    fn visibility(&mut self, at: &SurfacePoint, direction: Vec3, distance: f32) -> f32 {
        let mut ray = Ray { origin: at.point, direction, leaves: at.triangle, ..self.ray };
        let mut reach = if distance.is_finite() { distance * (1.0 - 1e-4) } else { distance };
        self.result.rays += 1;
        if !self.stage.has_sheets {
            return if self.stage.any(&ray, reach) { 0.0 } else { 1.0 };
        }
        let mut seen = 1.0;
        for _ in 0..MOST_PASSES {
            let Some(hit) = self.stage.nearest(&ray, reach) else { return seen };
            let at = self.stage.surface_point(&hit, ray.time);
            let Owner::Solid(solid) = at.owner else { return 0.0 };
            let Body::Sheet { index } = self.stage.solids[solid as usize].body else { return 0.0 };
            let cosine = direction.dot(at.facet);
            if cosine > 0.0 && self.stage.drop_around(at.point, at.facet, ray.time, NOTHING).is_some() {
                return 0.0;
            }
            seen *= 1.0 - sheet_reflectance(cosine.abs(), 1.0, index, 1.0);
            reach -= hit.distance;
            ray = Ray { origin: at.point, leaves: at.triangle, ..ray };
        }
        0.0
    }
}

/// The power heuristic's weight of the first of two densities.
fn power(first: f32, second: f32) -> f32 {
    let ratio = second / first;
    1.0 / (1.0 + ratio * ratio)
}

/// Axes at a point, z along the normal.
struct Frame {
    axes: [Vec3; 2],
    normal: Vec3,
}

impl Frame {
    fn new(normal: Vec3) -> Self {
        Self { axes: axes_about(normal), normal }
    }

    fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.axes[0]), v.dot(self.axes[1]), v.dot(self.normal))
    }

    fn to_world(&self, v: Vec3) -> Vec3 {
        (v.x * self.axes[0] + v.y * self.axes[1] + v.z * self.normal).normalize_or(self.normal)
    }
}
