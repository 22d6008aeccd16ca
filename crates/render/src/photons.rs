//! Photons: light sent from lamps, the sun and bright parts of the sky through clear things onto what scatters.
//!
//! A photon is aimed. A point x on a clear triangle is drawn with density p_A(x) per area, then a direction ω towards the light
//! with density p_ω; together they are a ray that comes from the light, and the photon's power is
//!
//! ```text
//! Φ = L(ω) / (N p_ω p_⊥),     p_⊥ = p_A(x) / |ω · n(x)|
//! ```
//!
//! p_⊥ being the density of rays across themselves. A ray may cross several clear triangles; it counts only for the first,
//! which makes p_⊥ unique. Panes have triangles of their own kind, for they are large and most of their light goes straight: p_⊥ is
//! then the sum over both kinds, whichever the ray was drawn by (the balance heuristic: veach1997, §9.2).
//!
//! From there on light is mirrored or bent by lot. Where smooth normals stand in for facets, light and sight do not see
//! the same areas; the power is multiplied by |ωᵢ·nₛ| |ωₒ·n_f| / (|ωᵢ·n_f| |ωₒ·nₛ|), and at last by 1/n² of the medium, which
//! paths from the eye leave out, so that photons bring what those would find (veach1997).

use glam::{Vec2, Vec3};
use sessile_appearance::{LightSample, NO_TRIANGLE, Ray, luminance};

use crate::interfaces::{Face, MOST_PASSES, Media, Meeting, liquid_optics, meet};
use crate::photon_tree::Photon;
use crate::sampler::Sampler;
use crate::stage::{Body, Owner, Stage};

/// Share of the photons that are aimed at drops and bodies of glass where there are panes too.
const AT_BODIES: f32 = 0.75;

/// Triangles that turn away from a light are still aimed at this much, for a wide light may see them.
const TURNED_AWAY: f32 = 0.05;

/// Least share of the photons that a light gets, in parts of an even one.
const LEAST_SHARE: f32 = 0.2;

/// A light that sends photons.
#[derive(Clone, Copy, Debug)]
enum Source {
    AreaLight(usize),
    Sun(usize),
    Sky,
}

/// Clear triangles of one kind, and the chance to aim at each.
struct Targets {
    triangles: Vec<u32>,
    /// Running sums of the chances, from 0.
    cumulative: Vec<f64>,
    /// Density per area on each triangle of the stage that is of this kind.
    density: Vec<f32>,
    /// Share of the photons.
    share: f32,
}

/// A light with what it is aimed at.
struct Beam {
    source: Source,
    /// Photons in each set.
    count: u32,
    /// Drops and bodies of glass, then panes; either may be empty.
    targets: [Targets; 2],
}

/// Sends photons.
pub(crate) struct PhotonCaster<'a> {
    stage: &'a Stage,
    sky_ceiling: f32,
    seed: u32,
    max_depth: u32,
    /// Farther than everything.
    far: f32,
    beams: Vec<Beam>,
}

/// What a sky's radiance has above a ceiling of luminance.
pub(crate) fn above(radiance: Vec3, ceiling: f32) -> Vec3 {
    let bright = luminance(radiance);
    if bright > ceiling { radiance * (1.0 - ceiling / bright) } else { Vec3::ZERO }
}

/// Kinds of clear triangles.
fn kind_of(stage: &Stage, triangle: u32) -> Option<usize> {
    match stage.faces[triangle as usize].owner {
        Owner::Drop(_) => matches!(stage.liquid, sessile_appearance::LiquidMaterial::Clear { .. }).then_some(0),
        Owner::Solid(solid) => match stage.solids[solid as usize].body {
            Body::GlassBody { .. } => Some(0),
            Body::Sheet { .. } => Some(1),
            Body::Opaque(_) => None,
        },
    }
}

impl<'a> PhotonCaster<'a> {
    /// Ready to send about `count` photons per set; `None` if no light that can be aimed at, no clear thing or nothing to land on is
    /// there. Of the sky, what lies above `sky_ceiling` is sent.
    pub fn new(stage: &'a Stage, count: u32, sky_ceiling: f32, seed: u32, max_depth: u32) -> Option<Self> {
        let lands = stage.solids.iter().any(|solid| matches!(solid.body, Body::Opaque(_)));
        if !lands || count == 0 {
            return None;
        }
        let num_triangles = stage.num_triangles() as u32;
        let mut kinds: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        let mut far = 0.0_f32;
        for triangle in 0..num_triangles {
            let corners = stage.corners_at(triangle, 0.5);
            if corners.iter().all(|c| c.is_finite()) {
                far = corners.iter().fold(far, |far, c| far.max(c.length()));
                if let Some(kind) = kind_of(stage, triangle) {
                    kinds[kind].push(triangle);
                }
            }
        }
        let bodies = &kinds[0];
        // Without drops or bodies, panes only mirror; that is not worth photons.
        if bodies.is_empty() {
            return None;
        }
        let mut sources: Vec<(Source, f32)> = Vec::new();
        for (i, lamp) in stage.lamps.iter().enumerate() {
            sources.push((Source::AreaLight(i), luminance(lamp.towards(Vec3::ZERO).1)));
        }
        for (i, sun) in stage.suns.iter().enumerate() {
            sources.push((Source::Sun(i), luminance(sun.towards().1)));
        }
        if sky_ceiling.is_finite() {
            let n = 256;
            let sum: f32 = (0..n)
                .map(|i| stage.environment.sample(Sampler::new(0, 0, i).pair()))
                .map(|s| luminance(above(s.radiance, sky_ceiling)) / s.pdf.max(1e-20))
                .sum();
            sources.push((Source::Sky, sum / n as f32));
        }
        let total: f32 = sources.iter().map(|s| s.1).sum();
        let even = 1.0 / sources.len().max(1) as f32;
        let beams: Vec<Beam> = sources
            .into_iter()
            .map(|(source, strength)| {
                let part = if total > 0.0 { strength / total } else { even };
                let part = part.max(LEAST_SHARE * even);
                let count = ((part * count as f32) as u32).max(1);
                Beam { source, count, targets: targets(stage, source, &kinds) }
            })
            .filter(|beam| beam.targets.iter().any(|targets| targets.share > 0.0))
            .collect();
        let far = 2.5 * far.max(1e-6);
        (!beams.is_empty()).then_some(Self { stage, sky_ceiling, seed, max_depth, far, beams })
    }

    /// The photons of one set, sent within `times` of the shutter's opening: each set by itself brings all the light.
    pub fn cast(&self, set: u32, times: [f32; 2]) -> Vec<Photon> {
        let mut landed = Vec::new();
        for (number, beam) in self.beams.iter().enumerate() {
            for i in 0..beam.count {
                // Whole blocks of the sequence, for each of them is well spread.
                let index = set * beam.count.next_power_of_two() + i;
                let mut sampler = Sampler::new(0x5eed_0000 + number as u32, self.seed, index);
                landed.extend(self.send(beam, times, &mut sampler));
            }
        }
        landed
    }

    fn send(&self, beam: &Beam, [from, to]: [f32; 2], sampler: &mut Sampler) -> Option<Photon> {
        let (mut u, v) = (sampler.pair(), sampler.pair());
        let time = from + (to - from) * sampler.one();
        let first = beam.targets[0].share;
        let kind = usize::from(u.x >= first);
        u.x = if kind == 0 { u.x / first } else { (u.x - first) / (1.0 - first) };
        let targets = &beam.targets[kind];
        let (triangle, point) = targets.draw(self.stage, u, time)?;
        let light = self.light_from(beam.source, point, v)?;
        let reach = if light.distance.is_finite() { light.distance } else { self.far };
        let of_kind = |kind: usize| move |t: u32| kind_of(self.stage, t) == Some(kind);
        let back = Ray { origin: point, direction: light.direction, time, leaves: triangle };
        if self.stage.any_of(&back, reach * (1.0 - 1e-5), of_kind(kind)) {
            return None;
        }
        let ray =
            Ray { origin: point + reach * light.direction, direction: -light.direction, time, leaves: NO_TRIANGLE };
        let mut across = beam.density_across(self.stage, kind, triangle, &ray);
        if beam.targets[1 - kind].share > 0.0
            && let Some(hit) = self.stage.nearest_of(&ray, f32::INFINITY, of_kind(1 - kind))
        {
            across += beam.density_across(self.stage, 1 - kind, hit.triangle, &ray);
        }
        let power = light.radiance / (beam.count as f32 * light.density * across);
        (power.is_finite() && power.max_element() > 0.0).then(|| self.follow(ray, power, sampler))?
    }

    fn light_from(&self, source: Source, point: Vec3, u: Vec2) -> Option<LightSample> {
        match source {
            Source::AreaLight(i) => self.stage.lamps[i].sample(point, u),
            Source::Sun(i) => Some(self.stage.suns[i].sample(u)),
            Source::Sky => {
                let sample = self.stage.environment.sample(u);
                let radiance = above(sample.radiance, self.sky_ceiling);
                let shines = sample.pdf > 0.0 && radiance != Vec3::ZERO;
                shines.then_some(LightSample {
                    direction: sample.dir,
                    distance: f32::INFINITY,
                    radiance,
                    density: sample.pdf,
                })
            }
        }
    }

    /// Follows a photon through clear things to where it lands, if it was turned on the way.
    fn follow(&self, mut ray: Ray, mut power: Vec3, sampler: &mut Sampler) -> Option<Photon> {
        let (liquid_index, absorption) = liquid_optics(self.stage);
        let mut media = Media::default();
        let (mut turns, mut passes) = (0, 0);
        loop {
            let hit = self.stage.nearest(&ray, f32::INFINITY)?;
            if media.is_liquid() {
                power *= (-absorption * hit.distance).exp();
            }
            let at = self.stage.surface_point(&hit, ray.time);
            match meet(self.stage, &media, ray.direction, &at, ray.time) {
                Meeting::Pass(behind) => {
                    media = behind;
                    passes += 1;
                }
                Meeting::Face(face) => {
                    let mirrors = face.bent.is_none_or(|_| sampler.one() < face.reflected);
                    let direction = if mirrors { face.mirrored } else { face.bent? };
                    media = face.media[usize::from(!mirrors)];
                    if !mirrors && face.straight {
                        passes += 1;
                    } else {
                        power *= areas(&face, at.facet, ray.direction, direction);
                        turns += 1;
                    }
                    ray.direction = direction;
                }
                Meeting::Scatterer { .. } => {
                    let index = media.index(liquid_index);
                    let photon = Photon {
                        at: at.point,
                        towards: -ray.direction,
                        normal: at.facet,
                        power: power / (index * index),
                        radius: 0.0,
                    };
                    return (turns > 0 && photon.power.is_finite()).then_some(photon);
                }
            }
            if passes > MOST_PASSES || turns >= self.max_depth {
                return None;
            }
            ray.origin = at.point;
            ray.leaves = at.triangle;
        }
    }
}

/// What light sees of a facet that a smooth normal stands in for, over what the eye sees.
fn areas(face: &Face, facet: Vec3, incident: Vec3, leaving: Vec3) -> f32 {
    let smooth = (incident.dot(face.normal) / leaving.dot(face.normal)).abs();
    let flat = (leaving.dot(facet) / incident.dot(facet)).abs();
    let ratio = smooth * flat;
    if ratio.is_finite() { ratio } else { 1.0 }
}

/// What a light is aimed at.
fn targets(stage: &Stage, source: Source, kinds: &[Vec<u32>; 2]) -> [Targets; 2] {
    let shares = match (kinds[0].is_empty(), kinds[1].is_empty()) {
        (false, false) => [AT_BODIES, 1.0 - AT_BODIES],
        (bodies, panes) => [f32::from(u8::from(!bodies)), f32::from(u8::from(!panes))],
    };
    let two_sided = !kinds[1].is_empty();
    [0, 1].map(|kind| {
        let mut density = vec![0.0; stage.num_triangles()];
        let mut cumulative = Vec::with_capacity(kinds[kind].len() + 1);
        let mut sum = 0.0_f64;
        cumulative.push(0.0);
        for &triangle in &kinds[kind] {
            let [a, b, c] = stage.corners_at(triangle, 0.5);
            let normal = (b - a).cross(c - a);
            let (towards, strength) = match source {
                Source::AreaLight(i) => stage.lamps[i].towards((a + b + c) / 3.0),
                Source::Sun(i) => stage.suns[i].towards(),
                Source::Sky => (Vec3::ZERO, Vec3::ONE),
            };
            let cosine = normal.dot(towards) / normal.length().max(1e-30);
            let facing = match source {
                Source::Sky => 1.0,
                _ if two_sided => cosine.abs() + TURNED_AWAY,
                _ => cosine.max(0.0) + TURNED_AWAY,
            };
            let weight = facing * luminance(strength).max(0.0);
            let area = 0.5 * normal.length();
            density[triangle as usize] = weight;
            sum += f64::from(weight * area);
            cumulative.push(sum);
        }
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        density.iter_mut().for_each(|d| *d = (f64::from(*d) * scale) as f32);
        cumulative.iter_mut().for_each(|c| *c *= scale);
        let share = if sum > 0.0 { shares[kind] } else { 0.0 };
        Targets { triangles: kinds[kind].clone(), cumulative, density, share }
    })
}

impl Targets {
    /// A triangle and a point on it.
    fn draw(&self, stage: &Stage, u: Vec2, time: f32) -> Option<(u32, Vec3)> {
        let place = f64::from(u.x);
        let slot = self.cumulative.partition_point(|&c| c <= place).checked_sub(1)?;
        let triangle = *self.triangles.get(slot)?;
        let width = self.cumulative[slot + 1] - self.cumulative[slot];
        let rest = ((place - self.cumulative[slot]) / width) as f32;
        let [a, b, c] = stage.corners_at(triangle, time);
        let root = rest.clamp(0.0, 1.0).sqrt();
        let point = a + root * (1.0 - u.y) * (b - a) + root * u.y * (c - a);
        Some((triangle, point))
    }
}

impl Beam {
    /// Density of rays across themselves that those aimed at a triangle make, the share of its kind included.
    fn density_across(&self, stage: &Stage, kind: usize, triangle: u32, ray: &Ray) -> f32 {
        let [a, b, c] = stage.corners_at(triangle, ray.time);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let cosine = normal.dot(ray.direction).abs().max(1e-6);
        self.targets[kind].share * self.targets[kind].density[triangle as usize] / cosine
    }
}
