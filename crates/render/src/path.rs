//! One path of light, from the eye back to what shines.
//!
//! At each surface that is not clear, one light is sampled and one direction is drawn from the surface; the two ways to meet a
//! light share it by the power heuristic (veach1997, §9.2). Light that bends on its way to a light cannot be aimed at: photons bring it
//! where they can ([`crate::caustics`]), and the rest is met by chance.
//!
//! The factor (nᵢ/nₜ)² of radiance in a denser medium is left out at both faces, for every path that carries light ends in air.

use glam::{Vec2, Vec3};
use sessile_appearance::{Bsdf, BsdfParameters, LightSample, NO_TRIANGLE, Ray, orthonormal_basis};

use crate::caustics::Caustics;
use crate::fresnel::sheet_reflectance;
use crate::interfaces::{Face, MOST_PASSES, Media, Meeting, liquid_optics, meet};
use crate::sampler::Sampler;
use crate::stage::{Body, Owner, Stage, SurfacePoint};

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

/// What a path brings home.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathResult {
    /// Radiance.
    pub color: Vec3,
    /// Color of the first thing that is not clear; white where there is none.
    pub albedo: Vec3,
    /// Normal of the first surface, towards the eye; zero without one.
    pub normal: Vec3,
    /// Distance to the first surface; infinite without one.
    pub depth: f32,
    /// Rays cast.
    pub rays: u32,
}

/// What a surface does with a path.
enum Turn {
    /// On as before: there is no face, or one that does not bend.
    Pass,
    /// Mirrored or bent into this direction.
    Bent(Vec3),
    /// Met a surface that is not clear.
    BsdfSample,
}

/// A way of the path that waits.
#[derive(Clone, Copy)]
struct Branch {
    ray: Ray,
    media: Media,
    throughput: Vec3,
    depth: u32,
}

/// What paths are followed through: a stage, and the photons that have landed on it.
#[derive(Clone, Copy, Debug)]
pub struct Scenery<'a> {
    /// Things and lights.
    pub stage: &'a Stage,
    /// Light that clear things have bent; without it all of it is met by chance.
    pub caustics: Option<&'a Caustics>,
}

impl<'a> Scenery<'a> {
    /// Things and lights alone.
    pub fn plain(stage: &'a Stage) -> Self {
        Self { stage, caustics: None }
    }
}

struct Walk<'a> {
    stage: &'a Stage,
    caustics: Option<&'a Caustics>,
    /// Which of the photons' sets is read.
    photon_set: usize,
    settings: PathSettings,
    liquid_index: f32,
    absorption: Vec3,
    ray: Ray,
    media: Media,
    throughput: Vec3,
    /// Density of the last scattering, if lights could have been aimed at from there.
    density: Option<f32>,
    scattered: bool,
    /// Of light that photons carry too, the share that is left to this path: 1 before it has been scattered and then bent.
    left_by_photons: Vec3,
    /// That share once the path is bent.
    left_if_bent: Vec3,
    depth: u32,
    /// The main way has been followed to its end.
    seen: bool,
    branches: [Option<Branch>; MOST_BRANCHES],
    result: PathResult,
}

/// Follows a path from the eye; as `turn` counts up, paths take turns with the sets of photons.
pub fn trace(
    scenery: Scenery<'_>,
    settings: PathSettings,
    ray: Ray,
    media: Media,
    turn: u32,
    sampler: &mut Sampler,
) -> PathResult {
    let Scenery { stage, caustics } = scenery;
    let (liquid_index, absorption) = liquid_optics(stage);
    let result = PathResult { albedo: Vec3::ONE, depth: f32::INFINITY, ..PathResult::default() };
    let mut walk = Walk {
        stage,
        caustics,
        photon_set: caustics.map_or(0, |caustics| caustics.set_for(turn, ray.time)),
        settings,
        liquid_index,
        absorption,
        ray,
        media,
        throughput: Vec3::ONE,
        density: None,
        scattered: false,
        left_by_photons: Vec3::ONE,
        left_if_bent: Vec3::ONE,
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
        (walk.left_by_photons, walk.left_if_bent) = (Vec3::ONE, Vec3::ONE);
        walk.run(sampler);
    }
    walk.result
}

impl Walk<'_> {
    fn run(&mut self, sampler: &mut Sampler) {
        let mut passes = 0;
        let mut traveled = 0.0;
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
            if self.media.is_liquid() {
                self.throughput *= (-self.absorption * hit.distance).exp();
            }
            traveled += hit.distance;
            let at = self.stage.surface_point(&hit, self.ray.time);
            if self.depth == 0 && self.result.depth == f32::INFINITY {
                self.result.depth = traveled;
                self.result.normal = if at.smooth.dot(self.ray.direction) < 0.0 { at.smooth } else { -at.smooth };
            }
            let turn = match meet(self.stage, &self.media, self.ray.direction, &at, self.ray.time) {
                Meeting::Pass(behind) => {
                    self.media = behind;
                    Some(Turn::Pass)
                }
                Meeting::Face(face) => Some(self.mirror_or_bend(&at, &face, sampler)),
                Meeting::Scatterer { finish, normal, wet } => self.scatter(&at, normal, finish, wet, sampler),
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
                    self.left_by_photons = self.left_if_bent;
                }
                Some(Turn::BsdfSample) => {
                    self.scattered = true;
                    self.left_by_photons = Vec3::ONE;
                }
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
        self.add(weight * self.left_by_photons * lamp.radiance());
        true
    }

    fn meet_sky(&mut self) {
        let direction = self.ray.direction;
        let environment = &self.stage.environment;
        let sampled =
            if self.stage.environment_varies && self.density.is_some() { environment.pdf(direction) } else { 0.0 };
        let radiance = match self.caustics {
            Some(caustics) => {
                let (even, bright) = caustics.split_sky(environment.radiance(direction));
                even + self.left_by_photons * bright
            }
            None => environment.radiance(direction),
        };
        self.add(self.chance_weight(sampled) * radiance);
        for sun in &self.stage.suns {
            self.add(self.chance_weight(sun.density()) * self.left_by_photons * sun.radiance(direction));
        }
    }

    /// Follows both ways near the eye, one by lot farther on; the other waits.
    fn mirror_or_bend(&mut self, at: &SurfacePoint, face: &Face, sampler: &mut Sampler) -> Turn {
        let &Face { reflected, mirrored, media: [mirror_media, bent_media], .. } = face;
        let Some(bent) = face.bent else {
            self.media = mirror_media;
            return Turn::Bent(mirrored);
        };
        let waits = self.throughput * reflected;
        let splits = !self.scattered && self.depth < SPLIT_DEPTH && waits.max_element() > SPLIT_SHARE;
        if splits && let Some(free) = self.branches.iter_mut().find(|branch| branch.is_none()) {
            let ray = Ray { origin: at.point, direction: mirrored, leaves: at.triangle, ..self.ray };
            *free = Some(Branch { ray, media: mirror_media, throughput: waits, depth: self.depth + 1 });
            self.throughput *= 1.0 - reflected;
        } else if sampler.one() < reflected {
            self.media = mirror_media;
            return Turn::Bent(mirrored);
        }
        self.media = bent_media;
        if face.straight { Turn::Pass } else { Turn::Bent(bent) }
    }

    /// Light at a surface that is not clear.
    fn scatter(
        &mut self,
        at: &SurfacePoint,
        normal: Vec3,
        finish: &BsdfParameters,
        wet: f32,
        sampler: &mut Sampler,
    ) -> Option<Turn> {
        let incident = self.ray.direction;
        let side = if incident.dot(at.facet) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.facet;
        let normal = if incident.dot(side * normal) < -1e-3 { side * normal } else { facet };
        let scatter = finish.bsdf(at.uv, self.media.index(self.liquid_index), wet);
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
        if let Some(caustics) = self.caustics {
            let broad = scatter.rough_lobes(out);
            if !broad.is_black() {
                let brought = caustics.gather(self.photon_set, at.point, facet, &broad, |v| frame.to_local(v));
                self.result.color += self.throughput * brought;
            }
        }
        let drawn = scatter.sample(out, pick.y, direction_point)?;
        let direction = frame.to_world(drawn.wi);
        // A direction that the smooth surface sends out but the facet does not is lost.
        if direction.dot(facet) * drawn.wi.z <= 0.0 {
            return None;
        }
        if self.caustics.is_some() {
            self.left_if_bent = scatter.smooth_fraction(out, drawn.wi);
        }
        self.throughput *= drawn.weight;
        self.ray.direction = direction;
        self.density = (self.media.is_air() && self.num_lights() > 0).then_some(drawn.pdf);
        Some(Turn::BsdfSample)
    }

    #[allow(clippy::too_many_arguments)]
    fn aim_at_light(
        &mut self,
        at: &SurfacePoint,
        facet: Vec3,
        frame: &Frame,
        scatter: &Bsdf,
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

    /// The share of light that comes straight from a light; dry panes let most of it pass.
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
            let solid = &self.stage.solids[solid as usize];
            let Body::Sheet { index } = solid.body else { return 0.0 };
            // A film bends what passes.
            if solid.wet.as_ref().is_some_and(|layer| layer.at(at.uv).is_film()) {
                return 0.0;
            }
            let cosine = direction.dot(at.facet);
            if cosine > 0.0 && self.stage.drop_around(at.point, at.facet, ray.time, NO_TRIANGLE).is_some() {
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
        Self { axes: orthonormal_basis(normal), normal }
    }

    fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.axes[0]), v.dot(self.axes[1]), v.dot(self.normal))
    }

    fn to_world(&self, v: Vec3) -> Vec3 {
        (v.x * self.axes[0] + v.y * self.axes[1] + v.z * self.normal).normalize_or(self.normal)
    }
}
