//! Glints: images of small lights that drops and glass reflect and refract.
//!
//! The sun has a fifty-thousandth of the solid angle of a hemisphere, and a drop reflects a
//! hemisphere: few camera paths that are reflected find it, and none in a drop of a pixel's size.
//! But the paths of neighboring samples of a pixel leave a drop into directions that differ by a
//! known angle ([`super::differentials`]): a sample stands for a cone of them, of half angle `β`
//! three times that angle. Every light that is smaller than the cone is sampled, and its light
//! counts in the cone with uniform density,
//!
//! ```text
//! f L / (2π (1 − cos β) p)    within β of the direction of the path, else 0
//! ```
//!
//! with the throughput `f` of the path, the light's radiance `L` and the probability density `p` of
//! its sample. The path then does not see those lights. This blurs an image of a light by the
//! distance between the samples of a pixel, which vanishes as their number grows (kaplanyan2013),
//! and conserves its energy: over the samples of an image whose directions differ by the Jacobian
//! J, the mean of the density is 1/|det J|, whatever β.
//!
//! For reflection at the outside of a drop, `f` has the reflectance halfway between camera and
//! light, which is exact for any β on a sphere: it reflects parallel light evenly into all
//! directions.

use glam::Vec3;

use super::differentials::Differentials;
use super::{PathSettings, PathState};
use crate::fresnel::reflectance;
use crate::interfaces::Interface;
use crate::render_scene::{Owner, SurfaceInteraction};
use crate::sampler::Sampler;

/// Half angle of a cone, in angles between samples: some thirty samples find a glint.
const WIDTH: f32 = 3.0;

/// Maximum half angle of a cone after reflection at the outside of a body, which sends light evenly
/// into all directions, and after refraction, which does not, in rad.
const MAX_ANGLE: [f32; 2] = [1.0, 0.1];

/// Maximum number of lights that are sampled: one bit each.
const MAX_LIGHTS: usize = 32;

/// The lights that were sampled at an interface, as bits: area lights, then suns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Glints(u32);

impl Glints {
    /// Whether a light was sampled.
    pub fn contains(self, light: usize) -> bool {
        light < MAX_LIGHTS && self.0 & (1 << light) != 0
    }
}

/// The differentials of a path at an interface.
pub(super) struct Turning {
    /// Those of the incoming ray, moved to the interface.
    moved: Differentials,
    /// The derivatives of the normal.
    turns: [Vec3; 2],
}

/// A path that leaves an interface into air.
struct Leaving<'a> {
    at: &'a SurfaceInteraction,
    direction: Vec3,
    /// Throughput after the interface.
    throughput: Vec3,
    /// Angle between the directions of neighboring samples, in rad.
    spread: f32,
    /// For reflection at the outside of a drop or a glass body, its relative index and its
    /// reflectance in this direction.
    reflected: Option<[f32; 2]>,
}

impl PathState<'_> {
    /// The differentials at an interface, if there are lights to sample; `traveled` is the distance
    /// from the camera before any interface has turned the path.
    pub(super) fn turning(&self, at: &SurfaceInteraction, interface: &Interface, traveled: f32) -> Option<Turning> {
        let lights = !self.scene.area_lights.is_empty() || !self.scene.suns.is_empty();
        let PathSettings { spacing, .. } = self.settings;
        if !lights || self.scattered || !spacing.is_known() {
            return None;
        }
        let moved = self.differentials.unwrap_or_else(|| {
            let mut moved = Differentials::of_camera(&spacing, self.ray.direction, traveled);
            moved.move_to_surface(self.ray.direction, traveled, at.normal);
            moved
        });
        let side = 1.0_f32.copysign(interface.normal.dot(at.shading_normal));
        let turns = moved.origin().map(|displaced| side * self.scene.normal_change(at, displaced, self.ray.time));
        Some(Turning { moved, turns })
    }

    /// The reflected path at an interface: its differentials, and the lights that are accounted
    /// for.
    pub(super) fn reflect(
        &mut self,
        at: &SurfaceInteraction,
        interface: &Interface,
        turning: Option<&Turning>,
        throughput: Vec3,
        sampler: &mut Sampler,
    ) -> (Option<Differentials>, Glints) {
        let Some(Turning { moved, turns }) = turning else { return Default::default() };
        let differentials = moved.reflected(self.ray.direction, interface.normal, *turns);
        let [outside, inside] = &interface.media;
        let is_body = match at.owner {
            Owner::Drop(_) => true,
            Owner::Solid(solid) => self.scene.is_glass_body(solid),
        };
        let eta = outside.index(self.liquid_index) / inside.index(self.liquid_index);
        let leaving = Leaving {
            at,
            direction: interface.reflected,
            throughput,
            spread: differentials.spread(),
            reflected: is_body.then_some([eta, interface.reflectance]),
        };
        let glints = if outside.is_air() { self.sample_glints(&leaving, sampler) } else { Glints::default() };
        (Some(differentials), glints)
    }

    /// The refracted path at an interface, likewise; the throughput is that behind it.
    pub(super) fn refract(
        &mut self,
        at: &SurfaceInteraction,
        interface: &Interface,
        turning: Option<&Turning>,
        direction: Vec3,
        sampler: &mut Sampler,
    ) -> (Option<Differentials>, Glints) {
        let Some(Turning { moved, turns }) = turning else { return Default::default() };
        let [near, far] = interface.media.map(|media| media.index(self.liquid_index));
        let directions = [self.ray.direction, direction];
        let differentials = moved.refracted(directions, interface.normal, *turns, near / far);
        let (throughput, spread) = (self.throughput, differentials.spread());
        let leaving = Leaving { at, direction, throughput, spread, reflected: None };
        let into_air = interface.media[1].is_air();
        let glints = if into_air { self.sample_glints(&leaving, sampler) } else { Glints::default() };
        (Some(differentials), glints)
    }

    /// Adds the light of small lights in the cone of directions of a path. Returns which lights are
    /// accounted for.
    fn sample_glints(&mut self, leaving: &Leaving<'_>, sampler: &mut Sampler) -> Glints {
        let &Leaving { at, direction, throughput, spread, reflected } = leaving;
        let scene = self.scene;
        let angle = (WIDTH * spread).min(MAX_ANGLE[usize::from(reflected.is_none())]);
        let squared_chord = 4.0 * (0.5 * angle).sin().powi(2);
        let cone = std::f32::consts::PI * squared_chord;
        let size = |index: usize| match scene.area_lights.get(index) {
            Some(light) => light.solid_angle(at.point),
            None => scene.suns[index - scene.area_lights.len()].solid_angle(),
        };
        let mut glints = Glints::default();
        for index in 0..(scene.area_lights.len() + scene.suns.len()).min(MAX_LIGHTS) {
            if size(index) >= cone {
                continue;
            }
            glints.0 |= 1 << index;
            let u = sampler.next_2d();
            let sampled = match scene.area_lights.get(index) {
                Some(light) => light.sample(at.point, u),
                None => Some(scene.suns[index - scene.area_lights.len()].sample(u)),
            };
            let Some(light) = sampled else { continue };
            let inside = (light.direction - direction).length_squared() < squared_chord;
            if !inside || light.pdf <= 0.0 {
                continue;
            }
            let transmittance = self.shadow_transmittance(at, light.direction, light.distance);
            let mut weight = 1.0 / (cone * light.pdf);
            if let Some([eta, of_path]) = reflected {
                let halfway = (0.5 * (1.0 - self.ray.direction.dot(light.direction))).max(0.0).sqrt();
                weight *= reflectance(halfway, eta) / of_path;
            }
            let radiance = throughput * light.radiance * transmittance * weight;
            if radiance.is_finite() {
                self.result.color += radiance;
            }
        }
        glints
    }
}
