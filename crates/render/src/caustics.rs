//! Caustics: light that clear objects focus onto scattering surfaces, stored as photon maps.
//!
//! # Which technique carries which light
//!
//! In Heckbert's notation a path is E … D S … S L: from the camera E over the last scattering
//! surface D, through specular events S at clear interfaces, to a light L. Without S, next-event
//! estimation samples L from D. With S it cannot, and BSDF sampling at D finds a small light only
//! rarely. For these paths photons are traced from the lights (`photons`) and stored at D
//! (jensen1996). Each path of this kind is carried by exactly one of two techniques:
//!
//! | | area lights, suns, environment above its ceiling | environment below its ceiling |
//! |---|---|---|
//! | diffuse and rough scattering at D | photons | camera paths |
//! | smooth specular lobes at D | camera paths | camera paths |
//!
//! The environment is split at a luminance c, a multiple of its mean: L = min(L, c) + (L − c)₊. The
//! dim part converges with BSDF sampling alone; the bright part would not. BSDFs are sums of lobes,
//! and only rough ones ([`sessile_appearance::ROUGH_ALPHA`]) gather photons, because narrow ones
//! would resolve single photons. Both splits are sums, so no light is lost or counted twice.
//!
//! # Noise
//!
//! Photons come in sets, each of which is an unbiased estimate by itself. The samples of a pixel
//! alternate between the sets, so that their mean uses all photons although each sample reads few.
//! What remains is a blur as wide as the photons' kernels, which shrink as the number of photons
//! grows: it is small where the light is even, and rounds off the brightest lines of a caustic.
//!
//! Where things move, each set covers a part of the shutter interval and is read by the samples of
//! that part.

use glam::Vec3;
use rayon::prelude::*;
use sessile_appearance::{RoughLobes, luminance};

use crate::photon_map::PhotonMap;
use crate::photons::{PhotonEmitter, above};
use crate::render_scene::{Owner, RenderScene};
use crate::sampler::Sampler;

/// The environment's ceiling, in multiples of its mean luminance.
const CEILING: f32 = 4.0;

/// The environment emits photons if at least this fraction of its light lies above the ceiling.
const MIN_BRIGHT_FRACTION: f32 = 0.02;

/// Maximum kernel radius of a photon, as a fraction of the mean drop radius.
const MAX_KERNEL_RADIUS: f32 = 0.3;

/// Photons count where the cosine between their facet's normal and the gathering point's is larger
/// than this.
const MIN_NORMAL_COSINE: f32 = 0.7;

/// Minimum number of sets where things move.
const MIN_TIME_SETS: u32 = 8;

/// How photons are emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausticSettings {
    /// Number of photons in all sets together; 0: none, and camera paths carry all light.
    pub photons: u32,
    /// Number of sets.
    pub sets: u32,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Maximum number of specular events of a photon.
    pub max_depth: u32,
}

/// Photon maps of a scene.
#[derive(Clone, Debug)]
pub struct Caustics {
    sets: Vec<PhotonMap>,
    /// Whether sets cover parts of the shutter interval.
    by_time: bool,
    environment_ceiling: f32,
}

impl Caustics {
    /// Traces photons through a scene; `None` without lights that emit any, clear objects or
    /// receivers.
    pub fn trace(scene: &RenderScene, settings: CausticSettings) -> Option<Self> {
        let CausticSettings { photons, sets, seed, max_depth } = settings;
        let by_time = scene.moves();
        let sets = sets.max(if by_time { MIN_TIME_SETS } else { 1 });
        let ceiling = environment_ceiling(scene);
        let emitter = PhotonEmitter::new(scene, photons / sets, ceiling, seed, max_depth)?;
        let max_radius = MAX_KERNEL_RADIUS * mean_clear_radius(scene);
        let times = |set: u32| if by_time { [set, set + 1].map(|n| n as f32 / sets as f32) } else { [0.0, 1.0] };
        let map = |set: u32| PhotonMap::new(emitter.trace_set(set, times(set)), max_radius);
        Some(Self { sets: (0..sets).into_par_iter().map(map).collect(), by_time, environment_ceiling: ceiling })
    }

    /// Splits environment radiance into the part that camera paths carry and the part that photons
    /// carry.
    pub fn split_environment(&self, radiance: Vec3) -> (Vec3, Vec3) {
        let bright = above(radiance, self.environment_ceiling);
        (radiance - bright, bright)
    }

    /// The set that a path reads at a time of the shutter interval; successive values of `pass`
    /// alternate between the sets.
    pub fn set_for(&self, pass: u32, time: f32) -> usize {
        let count = self.sets.len();
        if self.by_time { ((time * count as f32) as usize).min(count - 1) } else { pass as usize % count }
    }

    /// Outgoing radiance at a point due to the photons of a set; `facet` is the geometric normal
    /// there and `to_local` maps directions to the frame of `lobes`.
    pub fn gather(
        &self,
        set: usize,
        point: Vec3,
        facet: Vec3,
        lobes: &RoughLobes,
        to_local: impl Fn(Vec3) -> Vec3,
    ) -> Vec3 {
        let mut sum = Vec3::ZERO;
        self.sets[set].for_each_covering(point, |photon, kernel| {
            let wi = to_local(photon.wi);
            let cosine = photon.wi.dot(facet);
            // Geometric and shading normal must agree on the lit side.
            if cosine * wi.z > 0.0 && photon.normal.dot(facet).abs() > MIN_NORMAL_COSINE {
                sum += lobes.eval(wi) * photon.power * (kernel / cosine.abs().max(1e-3));
            }
        });
        sum
    }
}

/// The luminance above which the environment emits photons; infinite if too little light lies above
/// it.
fn environment_ceiling(scene: &RenderScene) -> f32 {
    if !scene.sample_environment {
        return f32::INFINITY;
    }
    let ceiling = CEILING * luminance(scene.environment.mean_radiance());
    let n = 512;
    let fractions = (0..n).map(|i| {
        let radiance = scene.environment.sample(Sampler::new(1, 0, i).next_2d()).radiance;
        // Directions are sampled in proportion to luminance, so the mean of the fractions is the
        // fraction of the light.
        luminance(above(radiance, ceiling)) / luminance(radiance).max(1e-20)
    });
    if fractions.sum::<f32>() / n as f32 > MIN_BRIGHT_FRACTION { ceiling } else { f32::INFINITY }
}

/// Radius of the sphere with the mean surface area of a drop or glass body, in m.
fn mean_clear_radius(scene: &RenderScene) -> f32 {
    let mut owners: Vec<(bool, u32)> = Vec::new();
    let mut area = 0.0_f64;
    for (triangle, face) in scene.faces.iter().enumerate() {
        let owner = match face.owner {
            Owner::Drop(id) => (true, id),
            Owner::Solid(solid) if scene.is_glass_body(solid) => (false, solid),
            Owner::Solid(_) => continue,
        };
        let [a, b, c] = scene.corners_at(triangle as u32, 0.5);
        let part = 0.5 * (b - a).cross(c - a).length();
        area += f64::from(if part.is_finite() { part } else { 0.0 });
        owners.push(owner);
    }
    owners.sort_unstable();
    owners.dedup();
    (area / (2.0 * std::f64::consts::TAU * owners.len().max(1) as f64)).sqrt() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_parts_of_an_environment_add_up() {
        let caustics = Caustics { sets: Vec::new(), by_time: false, environment_ceiling: 2.0 };
        for radiance in [Vec3::splat(0.5), Vec3::new(9.0, 1.0, 0.3), Vec3::splat(1e5)] {
            let (base, bright) = caustics.split_environment(radiance);
            assert!((base + bright - radiance).abs().max_element() < 1e-6 * radiance.max_element());
            assert!(luminance(base) < 2.0 + 1e-5 && bright.min_element() >= 0.0, "{base} and {bright}");
        }
    }
}
