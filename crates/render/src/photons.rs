//! Photon emission: light traced from area lights, suns and bright parts of the environment through
//! clear objects.
//!
//! A point x on a clear triangle is sampled with pdf p_A(x) per area, then a direction ω towards
//! the light with pdf p_ω; together they define a ray from the light, and the photon's power is
//!
//! ```text
//! Φ = L(ω) / (N p_ω p_⊥),     p_⊥ = p_A(x) / |ω · n(x)|
//! ```
//!
//! with p_⊥ the pdf of rays per area perpendicular to them. A ray may cross several clear
//! triangles; only the sample on the first one counts, which makes p_⊥ unique. Sheets form a
//! separate target group because they are large and most of their light is undeviated: p_⊥ is then
//! the sum over both groups, whichever the ray was sampled from (the balance heuristic: veach1997,
//! §9.2).
//!
//! From there light is reflected or refracted stochastically. Where shading normals replace
//! geometric ones, adjoint transport differs; the power is multiplied by |ωᵢ·nₛ| |ωₒ·n_g| /
//! (|ωᵢ·n_g| |ωₒ·nₛ|), and finally by 1/n² of the medium, which camera paths leave out, so that
//! both estimate the same quantity (veach1997).

use glam::{Vec2, Vec3};
use sessile_appearance::{LightSample, LiquidMaterial, Ray, luminance};

use crate::interfaces::{Interface, MAX_PASSES, Media, SurfaceEvent, liquid_optics, surface_event};
use crate::photon_map::Photon;
use crate::render_scene::{Body, Owner, RenderScene};
use crate::sampler::Sampler;

/// Fraction of the photons aimed at drops and glass bodies where there are sheets too.
const BODY_FRACTION: f32 = 0.75;

/// Weight added to triangles that face away from a light, because an extended light may still see
/// them.
const BACKFACING_WEIGHT: f32 = 0.05;

/// Minimum fraction of the photons that a light gets, relative to an equal share.
const MIN_LIGHT_FRACTION: f32 = 0.2;

/// Samples from which the power of the environment above its ceiling is estimated.
const ENVIRONMENT_SAMPLES: u32 = 256;

/// A light that emits photons.
#[derive(Clone, Copy, Debug)]
enum Source {
    AreaLight(usize),
    Sun(usize),
    Environment,
}

/// The clear triangles of one group, with the distribution they are sampled from.
struct Targets {
    triangles: Vec<u32>,
    /// Cumulative probabilities, from 0.
    cumulative: Vec<f64>,
    /// Pdf per area on each triangle of the scene; 0 outside the group.
    area_pdf: Vec<f32>,
    /// Fraction of the photons.
    fraction: f32,
}

/// A light with its targets.
struct Beam {
    source: Source,
    /// Number of photons in each set.
    count: u32,
    /// Drops and glass bodies, then sheets; either may be empty.
    targets: [Targets; 2],
}

/// Emits photons.
pub(crate) struct PhotonEmitter<'a> {
    scene: &'a RenderScene,
    environment_ceiling: f32,
    seed: u32,
    max_depth: u32,
    /// A distance beyond the whole scene, in m.
    far: f32,
    beams: Vec<Beam>,
}

/// The part of a radiance above a ceiling of luminance.
pub(crate) fn above(radiance: Vec3, ceiling: f32) -> Vec3 {
    let bright = luminance(radiance);
    if bright > ceiling { radiance * (1.0 - ceiling / bright) } else { Vec3::ZERO }
}

/// The target group of a triangle: 0 for drops and glass bodies, 1 for sheets, `None` if it is not
/// clear.
fn target_group(scene: &RenderScene, triangle: u32) -> Option<usize> {
    match scene.faces[triangle as usize].owner {
        Owner::Drop(_) => matches!(scene.liquid, LiquidMaterial::Clear { .. }).then_some(0),
        Owner::Solid(solid) => match scene.solids[solid as usize].body {
            Body::Glass { .. } => Some(0),
            Body::Sheet { .. } => Some(1),
            Body::Opaque(_) => None,
        },
    }
}

impl<'a> PhotonEmitter<'a> {
    /// Prepares about `count` photons per set; `None` without a light to emit them, a clear object
    /// or a receiver. The environment emits the part of its radiance above `environment_ceiling`.
    pub fn new(
        scene: &'a RenderScene,
        count: u32,
        environment_ceiling: f32,
        seed: u32,
        max_depth: u32,
    ) -> Option<Self> {
        let has_receiver = scene.solids.iter().any(|solid| matches!(solid.body, Body::Opaque(_)));
        if !has_receiver || count == 0 {
            return None;
        }
        let (groups, extent) = clear_triangles(scene);
        // Without drops or bodies, sheets only reflect; that is not worth photons.
        if groups[0].is_empty() {
            return None;
        }
        let sources = sources(scene, environment_ceiling);
        let total: f32 = sources.iter().map(|(_, power)| power).sum();
        let equal = 1.0 / sources.len().max(1) as f32;
        let beams: Vec<Beam> = sources
            .into_iter()
            .map(|(source, power)| {
                let fraction = if total > 0.0 { power / total } else { equal };
                let fraction = fraction.max(MIN_LIGHT_FRACTION * equal);
                let count = ((fraction * count as f32) as u32).max(1);
                Beam { source, count, targets: targets(scene, source, &groups) }
            })
            .filter(|beam| beam.targets.iter().any(|targets| targets.fraction > 0.0))
            .collect();
        let far = 2.5 * extent.max(1e-6);
        (!beams.is_empty()).then_some(Self { scene, environment_ceiling, seed, max_depth, far, beams })
    }

    /// Traces the photons of one set, emitted within `times` of the shutter interval.
    pub fn trace_set(&self, set: u32, times: [f32; 2]) -> Vec<Photon> {
        let mut stored = Vec::new();
        for (number, beam) in self.beams.iter().enumerate() {
            for i in 0..beam.count {
                // Whole power-of-two blocks of the sequence, because each of them is stratified.
                let index = set * beam.count.next_power_of_two() + i;
                let mut sampler = Sampler::new(0x5eed_0000 + number as u32, self.seed, index);
                stored.extend(self.emit(beam, times, &mut sampler));
            }
        }
        stored
    }

    /// Samples one photon and traces it; `None` if it is not stored.
    fn emit(&self, beam: &Beam, [from, to]: [f32; 2], sampler: &mut Sampler) -> Option<Photon> {
        let (mut u, v) = (sampler.next_2d(), sampler.next_2d());
        let time = from + (to - from) * sampler.next_1d();
        let first = beam.targets[0].fraction;
        let group = usize::from(u.x >= first);
        u.x = if group == 0 { u.x / first } else { (u.x - first) / (1.0 - first) };
        let targets = &beam.targets[group];
        let (triangle, point) = targets.sample(self.scene, u, time)?;
        let light = self.sample_source(beam.source, point, v)?;
        let distance = if light.distance.is_finite() { light.distance } else { self.far };
        let in_group = |group: usize| move |t: u32| target_group(self.scene, t) == Some(group);
        let back = Ray { origin: point, direction: light.direction, time, origin_triangle: Some(triangle) };
        if self.scene.occluded_if(&back, distance * (1.0 - 1e-5), in_group(group)) {
            return None;
        }
        let origin = point + distance * light.direction;
        let ray = Ray { origin, direction: -light.direction, time, origin_triangle: None };
        let mut pdf = beam.perpendicular_pdf(self.scene, group, triangle, &ray);
        if beam.targets[1 - group].fraction > 0.0
            && let Some(hit) = self.scene.intersect_if(&ray, f32::INFINITY, in_group(1 - group))
        {
            pdf += beam.perpendicular_pdf(self.scene, 1 - group, hit.triangle, &ray);
        }
        let power = light.radiance / (beam.count as f32 * light.pdf * pdf);
        (power.is_finite() && power.max_element() > 0.0).then(|| self.trace_photon(ray, power, sampler))?
    }

    /// Samples a direction from a point towards a light.
    fn sample_source(&self, source: Source, point: Vec3, u: Vec2) -> Option<LightSample> {
        match source {
            Source::AreaLight(i) => self.scene.area_lights[i].sample(point, u),
            Source::Sun(i) => Some(self.scene.suns[i].sample(u)),
            Source::Environment => {
                let sample = self.scene.environment.sample(u);
                let radiance = above(sample.radiance, self.environment_ceiling);
                let emits = sample.pdf > 0.0 && radiance != Vec3::ZERO;
                emits.then_some(LightSample {
                    direction: sample.dir,
                    distance: f32::INFINITY,
                    radiance,
                    pdf: sample.pdf,
                })
            }
        }
    }

    /// Traces a photon through clear objects to a scattering surface; stored if it had a specular
    /// event on the way.
    fn trace_photon(&self, mut ray: Ray, mut power: Vec3, sampler: &mut Sampler) -> Option<Photon> {
        let (liquid_index, absorption) = liquid_optics(self.scene);
        let mut media = Media::default();
        let (mut depth, mut passes) = (0, 0);
        loop {
            let hit = self.scene.intersect(&ray, f32::INFINITY)?;
            if media.is_liquid() {
                power *= (-absorption * hit.distance).exp();
            }
            let at = self.scene.surface_interaction(&hit, ray.time);
            match surface_event(self.scene, &media, ray.direction, &at, ray.time) {
                SurfaceEvent::PassThrough(behind) => {
                    media = behind;
                    passes += 1;
                }
                SurfaceEvent::Interface(interface) => {
                    let reflects = interface.refracted.is_none_or(|_| sampler.next_1d() < interface.reflectance);
                    let direction = if reflects { interface.reflected } else { interface.refracted? };
                    media = interface.media[usize::from(!reflects)];
                    if !reflects {
                        power *= interface.tint;
                    }
                    if !reflects && interface.undeviated {
                        passes += 1;
                    } else {
                        power *= shading_normal_correction(&interface, at.normal, ray.direction, direction);
                        depth += 1;
                    }
                    ray.direction = direction;
                }
                SurfaceEvent::Scatter { .. } => {
                    let index = media.index(liquid_index);
                    let photon = Photon {
                        position: at.point,
                        wi: -ray.direction,
                        normal: at.normal,
                        power: power / (index * index),
                        radius: 0.0,
                    };
                    return (depth > 0 && photon.power.is_finite()).then_some(photon);
                }
            }
            if passes > MAX_PASSES || depth >= self.max_depth {
                return None;
            }
            ray.origin = at.point;
            ray.origin_triangle = Some(at.triangle);
        }
    }
}

/// Correction of adjoint transport for shading normals (veach1997).
fn shading_normal_correction(interface: &Interface, facet: Vec3, incident: Vec3, outgoing: Vec3) -> f32 {
    let shading = (incident.dot(interface.normal) / outgoing.dot(interface.normal)).abs();
    let geometric = (outgoing.dot(facet) / incident.dot(facet)).abs();
    let ratio = shading * geometric;
    if ratio.is_finite() { ratio } else { 1.0 }
}

/// The clear triangles of each target group, and the largest distance of any vertex from the
/// origin, in m.
fn clear_triangles(scene: &RenderScene) -> ([Vec<u32>; 2], f32) {
    let mut groups: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
    let mut extent = 0.0_f32;
    for triangle in 0..scene.num_triangles() as u32 {
        let corners = scene.corners_at(triangle, 0.5);
        if corners.iter().all(|c| c.is_finite()) {
            extent = corners.iter().fold(extent, |extent, c| extent.max(c.length()));
            if let Some(group) = target_group(scene, triangle) {
                groups[group].push(triangle);
            }
        }
    }
    (groups, extent)
}

/// The lights that emit photons, with their power at the scene's origin.
fn sources(scene: &RenderScene, environment_ceiling: f32) -> Vec<(Source, f32)> {
    let mut sources: Vec<(Source, f32)> = Vec::new();
    for (i, light) in scene.area_lights.iter().enumerate() {
        sources.push((Source::AreaLight(i), luminance(light.towards(Vec3::ZERO).1)));
    }
    for (i, sun) in scene.suns.iter().enumerate() {
        sources.push((Source::Sun(i), luminance(sun.towards().1)));
    }
    if environment_ceiling.is_finite() {
        let sum: f32 = (0..ENVIRONMENT_SAMPLES)
            .map(|i| scene.environment.sample(Sampler::new(0, 0, i).next_2d()))
            .map(|s| luminance(above(s.radiance, environment_ceiling)) / s.pdf.max(1e-20))
            .sum();
        sources.push((Source::Environment, sum / ENVIRONMENT_SAMPLES as f32));
    }
    sources
}

/// The targets of a light in both groups.
fn targets(scene: &RenderScene, source: Source, groups: &[Vec<u32>; 2]) -> [Targets; 2] {
    let fractions = match (groups[0].is_empty(), groups[1].is_empty()) {
        (false, false) => [BODY_FRACTION, 1.0 - BODY_FRACTION],
        (no_bodies, no_sheets) => [f32::from(u8::from(!no_bodies)), f32::from(u8::from(!no_sheets))],
    };
    let two_sided = !groups[1].is_empty();
    [0, 1].map(|group| {
        let mut area_pdf = vec![0.0; scene.num_triangles()];
        let mut cumulative = Vec::with_capacity(groups[group].len() + 1);
        let mut sum = 0.0_f64;
        cumulative.push(0.0);
        for &triangle in &groups[group] {
            let (weight, area) = target_weight(scene, source, triangle, two_sided);
            area_pdf[triangle as usize] = weight;
            sum += f64::from(weight * area);
            cumulative.push(sum);
        }
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        area_pdf.iter_mut().for_each(|d| *d = (f64::from(*d) * scale) as f32);
        cumulative.iter_mut().for_each(|c| *c *= scale);
        let fraction = if sum > 0.0 { fractions[group] } else { 0.0 };
        Targets { triangles: groups[group].clone(), cumulative, area_pdf, fraction }
    })
}

/// Relative pdf per area of a target triangle for a light, and the triangle's area.
fn target_weight(scene: &RenderScene, source: Source, triangle: u32, two_sided: bool) -> (f32, f32) {
    let [a, b, c] = scene.corners_at(triangle, 0.5);
    let normal = (b - a).cross(c - a);
    let (towards, irradiance) = match source {
        Source::AreaLight(i) => scene.area_lights[i].towards((a + b + c) / 3.0),
        Source::Sun(i) => scene.suns[i].towards(),
        Source::Environment => (Vec3::ZERO, Vec3::ONE),
    };
    let cosine = normal.dot(towards) / normal.length().max(1e-30);
    let facing = match source {
        Source::Environment => 1.0,
        _ if two_sided => cosine.abs() + BACKFACING_WEIGHT,
        _ => cosine.max(0.0) + BACKFACING_WEIGHT,
    };
    (facing * luminance(irradiance).max(0.0), 0.5 * normal.length())
}

impl Targets {
    /// Samples a triangle and a point on it.
    fn sample(&self, scene: &RenderScene, u: Vec2, time: f32) -> Option<(u32, Vec3)> {
        let u_triangle = f64::from(u.x);
        let slot = self.cumulative.partition_point(|&c| c <= u_triangle).checked_sub(1)?;
        let triangle = *self.triangles.get(slot)?;
        let width = self.cumulative[slot + 1] - self.cumulative[slot];
        let rest = ((u_triangle - self.cumulative[slot]) / width) as f32;
        let [a, b, c] = scene.corners_at(triangle, time);
        let root = rest.clamp(0.0, 1.0).sqrt();
        let point = a + root * (1.0 - u.y) * (b - a) + root * u.y * (c - a);
        Some((triangle, point))
    }
}

impl Beam {
    /// Pdf, per perpendicular area, of rays aimed at a triangle, including the fraction of its
    /// group.
    fn perpendicular_pdf(&self, scene: &RenderScene, group: usize, triangle: u32, ray: &Ray) -> f32 {
        let [a, b, c] = scene.corners_at(triangle, ray.time);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let cosine = normal.dot(ray.direction).abs().max(1e-6);
        self.targets[group].fraction * self.targets[group].area_pdf[triangle as usize] / cosine
    }
}
