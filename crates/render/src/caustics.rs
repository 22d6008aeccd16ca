//! Caustics: light that clear things have bent onto what scatters, kept as photons and read where paths from the eye arrive.
//!
//! # What is carried how
//!
//! Write a path as E … D S … S L: from the eye E over the last surface D that scatters, through turns S at clear faces, to a light L.
//! Without S, L is sampled from D. With S it cannot be aimed at, and a path from D meets a small light by rare
//! chance. So photons are sent the other way (`photons`) and land on D (jensen1996). Each path of that kind is carried
//! by one of two:
//!
//! | | lamps, suns, the sky above its ceiling | the sky below its ceiling |
//! |---|---|---|
//! | matte and rough scattering at D | photons | paths from the eye |
//! | smooth mirrors at D | paths from the eye | paths from the eye |
//!
//! The sky is cut at a luminance, a multiple of its mean: L = min(L, c) + (L − c)₊. Its even part converges by itself, and its bright
//! part would not. Scattering is a sum of lobes, and only wide ones ([`sessile_appearance::ROUGH_ALPHA`]) read photons, for narrow ones would see single photons.
//! Both cuts are sums, so nothing is lost or counted twice.
//!
//! # Noise
//!
//! Photons come in sets. A set by itself brings all the light; samples of a pixel take turns, so that their mean knows all photons though each
//! sample reads few. What remains is a blur as wide as the photons' discs, which narrow as photons grow in number: to eye and to
//! measure it is small where light is even, and it rounds off the brightest lines of a caustic.
//!
//! Where things move, each set is sent in a part of the shutter's time, and read by the samples of that part.

use glam::Vec3;
use rayon::prelude::*;
use sessile_appearance::{RoughLobes, luminance};

use crate::photon_tree::PhotonTree;
use crate::photons::{PhotonCaster, above};
use crate::sampler::Sampler;
use crate::stage::{Owner, Stage};

/// The sky's ceiling, in parts of its mean luminance.
const CEILING: f32 = 4.0;

/// The sky sends photons if at least this share of its light lies above the ceiling.
const WORTH_SENDING: f32 = 0.02;

/// A photon's disc is at most this part of a drop's size.
const WIDEST: f32 = 0.3;

/// Photons count where their facet's normal is within this cosine of the normal where they are read.
const SAME_SIDE: f32 = 0.7;

/// How photons are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausticSettings {
    /// Photons in all sets together; 0: none, and paths from the eye carry all light.
    pub photons: u32,
    /// Number of sets.
    pub sets: u32,
    /// The picture's number.
    pub seed: u32,
    /// Most turns of a photon.
    pub max_depth: u32,
}

/// Photons where they have landed.
#[derive(Clone, Debug)]
pub struct Caustics {
    sets: Vec<PhotonTree>,
    /// Sets are parts of the shutter's time.
    by_time: bool,
    sky_ceiling: f32,
}

/// Least number of sets where things move.
const TIMES: u32 = 8;

impl Caustics {
    /// Sends photons through a stage; `None` where there are none to send, nothing that bends them or nothing that they land on.
    pub fn cast(stage: &Stage, settings: CausticSettings) -> Option<Self> {
        let CausticSettings { photons, sets, seed, max_depth } = settings;
        let by_time = stage.moves();
        let sets = sets.max(if by_time { TIMES } else { 1 });
        let sky_ceiling = sky_ceiling(stage);
        let caster = PhotonCaster::new(stage, photons / sets, sky_ceiling, seed, max_depth)?;
        let widest = WIDEST * drop_size(stage);
        let times = |set: u32| if by_time { [set, set + 1].map(|n| n as f32 / sets as f32) } else { [0.0, 1.0] };
        let tree = |set: u32| PhotonTree::new(caster.cast(set, times(set)), widest);
        Some(Self { sets: (0..sets).into_par_iter().map(tree).collect(), by_time, sky_ceiling })
    }

    /// How many photons have landed, in all sets.
    pub fn num_photons(&self) -> usize {
        self.sets.iter().map(PhotonTree::len).sum()
    }

    /// The sky's radiance from a direction, divided into what paths from the eye carry and what photons carry.
    pub fn split_sky(&self, radiance: Vec3) -> (Vec3, Vec3) {
        let carried = above(radiance, self.sky_ceiling);
        (radiance - carried, carried)
    }

    /// The set that a path reads at a moment of the shutter's time; `turn` counts the samples that take turns.
    pub fn set_for(&self, turn: u32, time: f32) -> usize {
        let count = self.sets.len();
        if self.by_time { ((time * count as f32) as usize).min(count - 1) } else { turn as usize % count }
    }

    /// Light that photons of a set bring to a point and that leaves towards the eye: `facet` is the normal there and `to_local` turns
    /// directions into the frame of `scatter`.
    pub fn gather(
        &self,
        set: usize,
        point: Vec3,
        facet: Vec3,
        scatter: &RoughLobes,
        to_local: impl Fn(Vec3) -> Vec3,
    ) -> Vec3 {
        let tree = &self.sets[set];
        let mut sum = Vec3::ZERO;
        tree.covering(point, |photon, kernel| {
            let into = to_local(photon.towards);
            let cosine = photon.towards.dot(facet);
            // Lit on the side that the frame says, or not at all.
            if cosine * into.z > 0.0 && photon.normal.dot(facet).abs() > SAME_SIDE {
                sum += scatter.eval(into) * photon.power * (kernel / cosine.abs().max(1e-3));
            }
        });
        sum
    }
}

/// The luminance above which the sky is sent as photons; infinite if that is not worth it.
fn sky_ceiling(stage: &Stage) -> f32 {
    if !stage.environment_varies {
        return f32::INFINITY;
    }
    let ceiling = CEILING * luminance(stage.environment.mean_radiance());
    let n = 512;
    let parts = (0..n).map(|i| {
        let radiance = stage.environment.sample(Sampler::new(1, 0, i).pair()).radiance;
        // Directions are drawn in proportion to luminance, so the mean of shares is the share of the light.
        luminance(above(radiance, ceiling)) / luminance(radiance).max(1e-20)
    });
    if parts.sum::<f32>() / n as f32 > WORTH_SENDING { ceiling } else { f32::INFINITY }
}

/// The radius of the ball that has the mean area of a drop or body of glass.
fn drop_size(stage: &Stage) -> f32 {
    let mut owners: Vec<(bool, u32)> = Vec::new();
    let mut area = 0.0_f64;
    for (triangle, face) in stage.faces.iter().enumerate() {
        let owner = match face.owner {
            Owner::Drop(id) => (true, id),
            Owner::Solid(solid) if stage.is_glass_body(solid) => (false, solid),
            Owner::Solid(_) => continue,
        };
        let [a, b, c] = stage.corners_at(triangle as u32, 0.5);
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
    fn the_parts_of_a_sky_make_the_whole() {
        let caustics = Caustics { sets: Vec::new(), by_time: false, sky_ceiling: 2.0 };
        for radiance in [Vec3::splat(0.5), Vec3::new(9.0, 1.0, 0.3), Vec3::splat(1e5)] {
            let (base, bright) = caustics.split_sky(radiance);
            assert!((base + bright - radiance).abs().max_element() < 1e-6 * radiance.max_element());
            assert!(luminance(base) < 2.0 + 1e-5 && bright.min_element() >= 0.0, "{base} and {bright}");
        }
    }
}
