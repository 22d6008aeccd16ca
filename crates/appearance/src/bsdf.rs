//! The BSDF of opaque and diffusely translucent surfaces.
//!
//! A GGX specular lobe ([`Ggx`]) over a diffuse base that receives what the lobe does not reflect,
//!
//! ```text
//! f = f_ggx + (1 − E(θₒ)) a/π,
//! ```
//!
//! so that with a = 1 all energy is conserved. A leaf's base also transmits light to its far side.
//!
//! Directions are in a frame whose z axis is the normal on the lit side, and point away from the
//! surface.

use glam::{Vec2, Vec3};

use crate::ggx::Ggx;

/// Roughness α from which a specular lobe counts as rough.
pub const ROUGH_ALPHA: f32 = 0.2;

/// How a surface scatters light at a point.
#[derive(Clone, Copy, Debug)]
pub struct Bsdf {
    /// The specular lobe.
    pub specular: Option<Ggx>,
    /// Albedo of the diffuse base.
    pub diffuse: Vec3,
    /// Albedo of diffuse transmission.
    pub transmittance: Vec3,
}

/// The rough lobes of a [`Bsdf`] for one outgoing direction: all but smooth specular lobes.
#[derive(Clone, Copy, Debug)]
pub struct RoughLobes {
    wo: Vec3,
    specular: Option<Ggx>,
    diffuse: Vec3,
    transmittance: Vec3,
}

impl RoughLobes {
    /// f |cos θᵢ| of the rough lobes.
    pub fn eval(&self, wi: Vec3) -> Vec3 {
        if wi.z < 0.0 {
            return self.transmittance * -wi.z;
        }
        let specular = self.specular.map_or(Vec3::ZERO, |lobe| lobe.eval(self.wo, wi).0);
        specular + self.diffuse * wi.z
    }

    /// Whether nothing is scattered.
    pub fn is_black(&self) -> bool {
        self.specular.is_none() && self.diffuse == Vec3::ZERO && self.transmittance == Vec3::ZERO
    }
}

/// A sampled incident direction.
#[derive(Clone, Copy, Debug)]
pub struct BsdfSample {
    /// Away from the surface, unit length.
    pub wi: Vec3,
    /// f |cos θᵢ| / pdf.
    pub weight: Vec3,
    /// Probability density per solid angle, in 1/sr.
    pub pdf: f32,
}

impl Bsdf {
    /// Color of the surface under uniform light, for the denoiser.
    pub fn albedo(&self) -> Vec3 {
        let base = self.specular.and_then(|lobe| lobe.mixture).map_or(1.0, |mixture| 1.0 - mixture.metallic);
        base * (self.diffuse + self.transmittance) + self.specular.map_or(Vec3::ZERO, |lobe| lobe.f0)
    }

    /// Share of light from a direction of this cosine that the specular lobe leaves to the base.
    pub fn left_to_base(&self, cosine: f32) -> Vec3 {
        self.specular.map_or(Vec3::ONE, |lobe| lobe.left_to_base(cosine))
    }

    /// What the specular lobe leaves to the base, and the probabilities of sampling specular,
    /// diffuse and transmission.
    fn lobe_probabilities(&self, wo: Vec3) -> (Vec3, [f32; 3]) {
        let specular = self.specular.map_or(Vec3::ZERO, |lobe| lobe.albedo(wo.z));
        let left = self.left_to_base(wo.z);
        let weights = [specular, left * self.diffuse, left * self.transmittance].map(Vec3::element_sum);
        let total: f32 = weights.iter().sum();
        let probabilities = if total > 0.0 { weights.map(|w| w / total) } else { [0.0; 3] };
        (left, probabilities)
    }

    /// The rough lobes for outgoing direction `wo`.
    pub fn rough_lobes(&self, wo: Vec3) -> RoughLobes {
        let left = self.lobe_probabilities(wo).0 * std::f32::consts::FRAC_1_PI * if wo.z > 0.0 { 1.0 } else { 0.0 };
        let specular = self.specular.filter(|lobe| lobe.alpha >= ROUGH_ALPHA && wo.z > 0.0);
        RoughLobes { wo, specular, diffuse: left * self.diffuse, transmittance: left * self.transmittance }
    }

    /// Fraction of f that comes from a smooth specular lobe, per color channel.
    pub fn smooth_fraction(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let Some(lobe) = self.specular.filter(|lobe| lobe.alpha < ROUGH_ALPHA && wi.z > 0.0) else {
            return Vec3::ZERO;
        };
        let smooth = lobe.eval(wo, wi).0;
        let total = smooth + self.rough_lobes(wo).eval(wi);
        (smooth / total.max(Vec3::splat(1e-30))).min(Vec3::ONE)
    }

    /// f |cos θᵢ| and the pdf of [`Bsdf::sample`].
    pub fn eval(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let (left, [p_specular, p_diffuse, p_transmit]) = self.lobe_probabilities(wo);
        let cosine = wi.z.abs() * std::f32::consts::FRAC_1_PI;
        if wi.z < 0.0 {
            return (left * self.transmittance * cosine, p_transmit * cosine);
        }
        let (specular, pdf) = self.specular.map_or((Vec3::ZERO, 0.0), |lobe| lobe.eval(wo, wi));
        (specular + left * self.diffuse * cosine, p_specular * pdf + p_diffuse * cosine)
    }

    /// Samples an incident direction; `None` where the light is absorbed.
    pub fn sample(&self, wo: Vec3, u_lobe: f32, u: Vec2) -> Option<BsdfSample> {
        if wo.z <= 0.0 {
            return None;
        }
        let (_, [p_specular, p_diffuse, _]) = self.lobe_probabilities(wo);
        let wi = match self.specular {
            // What a microfacet reflects below the horizon is absorbed; it must not count as
            // transmission.
            Some(lobe) if u_lobe < p_specular => Some(lobe.sample(wo, u)).filter(|wi| wi.z > 0.0)?,
            _ => {
                let up = sample_cosine_hemisphere(u);
                if u_lobe < p_specular + p_diffuse || self.transmittance == Vec3::ZERO { up } else { -up }
            }
        };
        let (value, pdf) = self.eval(wo, wi);
        let valid = pdf > 0.0 && pdf.is_finite() && value.is_finite();
        valid.then(|| BsdfSample { wi, weight: value / pdf, pdf })
    }
}

/// A direction about z with pdf cos θ/π.
pub fn sample_cosine_hemisphere(u: Vec2) -> Vec3 {
    let radius = u.x.sqrt();
    let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
    Vec3::new(radius * cos, radius * sin, (1.0 - u.x).max(0.0).sqrt())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::materials::{BsdfParameters, SpecularLobe};
    use crate::textures::ScaledTexture;

    /// Directional albedo at an angle of this cosine, red channel.
    pub fn directional_albedo(bsdf: &Bsdf, cosine: f32) -> f32 {
        let wo = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
        // A regular grid in each lobe instead of random numbers: its error is well below the
        // tolerance.
        let side = 96_u16;
        let part = |i: u16| (f32::from(i) + 0.5) / f32::from(side);
        let (mut sum, mut start) = (0.0_f64, 0.0);
        for probability in bsdf.lobe_probabilities(wo).1 {
            let u_lobe = start + 0.5 * probability;
            start += probability;
            for cell in 0..side * side {
                let u = Vec2::new(part(cell / side), part(cell % side));
                let weight = bsdf.sample(wo, u_lobe, u).map_or(0.0, |s| s.weight.x);
                sum += f64::from(probability * weight) / f64::from(side * side);
            }
        }
        sum as f32
    }

    /// White furnace test: a white surface under uniform light reflects all of it.
    #[test]
    fn white_surfaces_pass_the_furnace_test() {
        let white = || ScaledTexture::constant(Vec3::ONE);
        let lobes =
            [SpecularLobe::None, SpecularLobe::Dielectric(1.3), SpecularLobe::Dielectric(1.8), SpecularLobe::Conductor]
                .into_iter()
                .chain([0.1, 0.5, 0.9].map(|metallic| SpecularLobe::Mixed { index: 1.5, metallic }));
        for specular in lobes {
            for alpha in [0.03, 0.1, 0.3, 0.6, 1.0] {
                for (transmittance, wetness) in [(0.0, 0.0), (0.4, 0.0), (0.0, 1.0)] {
                    let transmittance = Vec3::splat(transmittance);
                    let parameters = BsdfParameters { color: white(), alpha, specular, transmittance, porosity: 0.0 };
                    for cosine in [0.05, 0.2, 0.5, 0.9, 1.0] {
                        let albedo = directional_albedo(&parameters.bsdf(Vec2::ZERO, 1.0, wetness), cosine);
                        assert!((albedo - 1.0).abs() < 5e-3, "{specular:?} α {alpha} cos {cosine}: {albedo}");
                    }
                }
            }
        }
    }
}
