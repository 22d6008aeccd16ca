//! Prefiltered environment light: irradiance by normal, and specular reflection by roughness.
//!
//! ```text
//! E(n) = ∫ L(ω) (n·ω)₊ dω
//! M(r, α) = ∫ L(ω) w(ω) dω / ∫ w(ω) dω,     w = D_α(h) (r·ω)₊,     h between r and ω
//! ```
//!
//! The specular lobe is evaluated at normal incidence (karis2013), where it is symmetric about the
//! reflected direction r.

use std::f32::consts::PI;
use std::sync::Arc;

use glam::Vec3;

use super::octahedral_map::OctahedralMap;
use sessile_appearance::Environment;

/// Cells of the environment that are summed.
const CELLS: [usize; 2] = [128, 64];

/// Texels per side of the irradiance map.
const DIFFUSE_SIDE: usize = 25;

/// Roughnesses α with the sizes of their maps.
const LEVELS: [(f32, usize); 6] = [(0.06, 65), (0.12, 49), (0.24, 33), (0.4, 25), (0.65, 17), (1.0, 17)];

/// Up to this roughness lobes show the environment itself, from here to the first map a mixture.
const UNFILTERED_ALPHA: f32 = 0.03;

/// A prefiltered environment.
#[derive(Clone, Debug)]
pub(super) struct PrefilteredLight {
    environment: Arc<Environment>,
    diffuse: OctahedralMap,
    levels: Vec<OctahedralMap>,
}

impl PrefilteredLight {
    pub fn new(environment: Arc<Environment>) -> Self {
        let cells = environment.cells(CELLS[0], CELLS[1]);
        let irradiance =
            |normal: Vec3| cells.iter().map(|&(towards, light)| light * normal.dot(towards).max(0.0)).sum();
        let solid_angles = Environment::constant(Vec3::ONE).cells(CELLS[0], CELLS[1]);
        let level = |alpha: f32, side: usize| {
            let weight = |reflected: Vec3, towards: Vec3| {
                let cosine = reflected.dot(towards);
                if cosine <= 0.0 {
                    return 0.0;
                }
                // cos² of half the angle between the two.
                let half = 0.5 * (1.0 + cosine);
                let base = half * (alpha * alpha - 1.0) + 1.0;
                cosine / (base * base)
            };
            OctahedralMap::filled(side, |reflected| {
                let light: Vec3 = cells.iter().map(|&(towards, light)| light * weight(reflected, towards)).sum();
                let all: f32 = solid_angles.iter().map(|&(towards, cell)| cell.x * weight(reflected, towards)).sum();
                light / all.max(1e-20)
            })
        };
        Self {
            diffuse: OctahedralMap::filled(DIFFUSE_SIDE, irradiance),
            levels: LEVELS.iter().map(|&(alpha, side)| level(alpha, side)).collect(),
            environment,
        }
    }

    /// Irradiance on a surface by its normal.
    pub fn irradiance(&self, normal: Vec3) -> Vec3 {
        self.diffuse.at(normal)
    }

    /// Radiance from a direction.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        self.environment.radiance(direction)
    }

    /// Radiance of a specular lobe of roughness `alpha` about the reflected direction.
    pub fn specular(&self, direction: Vec3, alpha: f32) -> Vec3 {
        if alpha <= UNFILTERED_ALPHA {
            return self.radiance(direction);
        }
        let above = LEVELS.iter().position(|&(level, _)| level >= alpha).unwrap_or(LEVELS.len() - 1);
        let (low, smoother) = match above.checked_sub(1) {
            Some(below) => (LEVELS[below].0, self.levels[below].at(direction)),
            None => (UNFILTERED_ALPHA, self.radiance(direction)),
        };
        let t = ((alpha - low) / (LEVELS[above].0 - low)).clamp(0.0, 1.0);
        smoother.lerp(self.levels[above].at(direction), t)
    }
}

/// Reflected radiance of a distant light on a smooth surface, with Blinn's half-vector lobe
/// (blinn1977):
///
/// ```text
/// L = F E (n + 2)/(8π cos θₒ) (N·H)ⁿ
/// ```
///
/// with E the light's irradiance. The exponent n gives the lobe a quarter of the light's solid
/// angle, as measured in half vectors; it is bounded so that small lights on small drops are not
/// missed between samples.
pub(super) fn blinn(normal: Vec3, out: Vec3, towards: Vec3, solid_angle: f32) -> f32 {
    let (cosine_out, cosine_in) = (normal.dot(out), normal.dot(towards));
    let half = (out + towards).normalize_or(normal);
    let peak = normal.dot(half);
    if cosine_in <= 0.0 || peak <= 0.0 {
        return 0.0;
    }
    let exponent = (8.0 * PI / solid_angle.max(1e-9)).clamp(MIN_EXPONENT, MAX_EXPONENT);
    // Near grazing incidence Blinn's lobe would grow without bound: use the larger cosine.
    (exponent + 2.0) / (8.0 * PI * cosine_out.max(cosine_in).max(0.1)) * peak.powf(exponent)
}

/// Bounds of Blinn's exponent: lobes 12° and 2° wide.
const MIN_EXPONENT: f32 = 60.0;
const MAX_EXPONENT: f32 = 2000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefiltering_conserves_energy() {
        let environment = Arc::new(Environment::studio(1.0));
        let light = PrefilteredLight::new(environment.clone());
        for normal in [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::new(0.3, 0.5, -0.8).normalize()] {
            let (found, exact) = (light.irradiance(normal), environment.irradiance(normal));
            assert!(
                ((found - exact).abs() / exact.max(Vec3::splat(0.02))).max_element() < 0.03,
                "{normal}: {found}, {exact}"
            );
        }
        let even = PrefilteredLight::new(Arc::new(Environment::constant(Vec3::new(1.0, 2.0, 3.0))));
        for alpha in [0.0, 0.05, 0.1, 0.3, 0.9, 1.0] {
            let found = even.specular(Vec3::new(0.6, -0.8, 0.0), alpha);
            assert!((found - Vec3::new(1.0, 2.0, 3.0)).abs().max_element() < 1e-3, "{alpha}: {found}");
        }
    }

    /// A film has the roughness up to which lobes are not filtered, give or take rounding.
    #[test]
    fn the_radiance_of_a_lobe_is_continuous_in_its_roughness() {
        let light = PrefilteredLight::new(Arc::new(Environment::studio(1.0)));
        let levels = LEVELS.map(|(level, _)| level);
        for alpha in levels.into_iter().chain([UNFILTERED_ALPHA]) {
            for towards in [[0.75, 1.35, -0.55], [0.3, 0.76, -1.0], [0.2, 0.1, 0.9]] {
                let direction = Vec3::from(towards).normalize();
                let [below, above] = [0.9999, 1.0001].map(|part| light.specular(direction, alpha * part));
                let step = (below - above).abs().max_element();
                assert!(step < 1e-3 * (1.0 + below.max_element()), "α {alpha}: {below} and {above}");
            }
        }
    }

    /// Over all points where a small sphere reflects a light towards the camera, the lobe adds up
    /// to the exact value.
    #[test]
    fn the_highlight_of_a_sphere_has_the_exact_intensity() {
        let (out, towards) = (Vec3::Z, Vec3::new(0.6, 0.0, 0.8));
        let steps = 800;
        let mut sum = 0.0;
        for i in 0..steps * steps {
            let p = (glam::Vec2::new((i % steps) as f32, (i / steps) as f32) + 0.5) * (2.0 / steps as f32) - 1.0;
            if p.length_squared() < 1.0 {
                let normal = p.extend((1.0 - p.length_squared()).sqrt());
                sum += f64::from(blinn(normal, out, towards, 0.01)) * 4.0 / f64::from(steps * steps);
            }
        }
        // A mirror sphere of radius 1 reflects E/4 per solid angle in all directions.
        assert!((sum - 0.25).abs() < 0.03, "{sum}");
    }
}
