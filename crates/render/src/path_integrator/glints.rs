//! Glints: reflections of small lights in drops that the camera sees.
//!
//! The sun has a fifty-thousandth of the solid angle of a hemisphere, and a drop reflects a
//! hemisphere: few camera paths that are reflected find it, and none in a drop of a pixel's size.
//! But neighboring samples of a pixel are reflected into directions that differ by the curvature of
//! the drop: a sample stands for a cone of them. With the curvature `κ` of the drop and a width `w`
//! there of three samples, the cone's half angle is `β = 2 κ w`. Every light that is smaller than
//! the cone is sampled, and its light counts in the cone with uniform density,
//!
//! ```text
//! R L / (2π (1 − cos β) p)    within β of the reflected direction, else 0
//! ```
//!
//! with the reflectance `R` halfway between camera and light, the light's radiance `L` and the
//! probability density `p` of its sample. The reflected path then does not see those lights. This
//! blurs a reflection by the distance between the samples of a pixel, which vanishes as their
//! number grows (kaplanyan2013), and conserves its energy: a sphere reflects parallel light evenly
//! into all directions.

use glam::Vec3;

use super::PathState;
use crate::fresnel::reflectance;
use crate::render_scene::{Owner, SurfaceInteraction};
use crate::sampler::Sampler;

/// Width of the cone on the drop, in distances between samples: some thirty samples find a glint.
const WIDTH: f32 = 3.0;

/// Maximum half angle of a cone, in rad: beyond it, a drop is not locally a sphere.
const MAX_ANGLE: f32 = 1.0;

/// Maximum number of lights that are sampled: one bit each.
const MAX_LIGHTS: usize = 32;

/// The lights that were sampled in a reflection, as bits: area lights, then suns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Glints(u32);

impl Glints {
    /// Whether a light was sampled.
    pub fn contains(self, light: usize) -> bool {
        light < MAX_LIGHTS && self.0 & (1 << light) != 0
    }
}

impl PathState<'_> {
    /// Adds what a drop reflects of small lights towards the camera. Returns which lights are
    /// accounted for.
    pub(super) fn sample_glints(&mut self, at: &SurfaceInteraction, reflected: Vec3, sampler: &mut Sampler) -> Glints {
        let scene = self.scene;
        let seen_directly = self.depth == 0 && !self.scattered && self.media.is_air();
        if !seen_directly || !matches!(at.owner, Owner::Drop(_)) || self.settings.footprint <= 0.0 {
            return Glints::default();
        }
        let width = WIDTH * self.settings.footprint * self.result.depth;
        let angle = (2.0 * width * scene.curvature(at.triangle)).min(MAX_ANGLE);
        let cone = std::f32::consts::TAU * 2.0 * (0.5 * angle).sin().powi(2);
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
            let inside = (light.direction - reflected).length_squared() < 4.0 * (0.5 * angle).sin().powi(2);
            if !inside || light.pdf <= 0.0 {
                continue;
            }
            let transmittance = self.shadow_transmittance(at, light.direction, light.distance);
            let halfway = (0.5 * (1.0 - self.ray.direction.dot(light.direction))).max(0.0).sqrt();
            let reflectance = reflectance(halfway, 1.0 / self.liquid_index);
            let radiance = self.throughput * light.radiance * transmittance * (reflectance / (cone * light.pdf));
            if radiance.is_finite() {
                self.result.color += radiance;
            }
        }
        glints
    }
}
