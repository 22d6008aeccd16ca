//! The GGX (Trowbridge–Reitz) specular lobe with energy compensation.
//!
//! Microfacet normals h follow D(h) and are sampled from the visible ones (heitz2018; spherical
//! caps of dupuy2023); masking and shadowing is Smith's height-correlated G₂:
//!
//! ```text
//! f cos θᵢ = F D G₂/(4 cos θₒ)      F = F₀ + (1 − F₀)(1 − o·h)⁵
//! E(θₒ, α) = ∫ D G₂/(4 cos θₒ) dωᵢ
//! ```
//!
//! Single scattering loses the fraction 1 − E; the factor 1 + F₀ (1/E − 1) restores it
//! (turquin2019), so that a white metal of any roughness is white. E and its Fresnel part are
//! tabulated once.
//!
//! Directions are in a frame whose z axis is the normal, and point away from the surface.

use std::sync::LazyLock;

use glam::{Vec2, Vec3};

/// Minimum roughness α, below which the lobe is too narrow for single precision.
const MIN_ALPHA: f32 = 1e-3;

/// Size of the table of E, per axis.
const TABLE_SIZE: usize = 48;

/// Integration grid per entry: azimuth (half of it, by symmetry) and polar; the error of an entry
/// is about 5e-4.
const TABLE_GRID: [u16; 2] = [24, 96];

/// A GGX specular lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ggx {
    /// Roughness α, from 0 (smooth) to 1.
    pub alpha: f32,
    /// Reflectance F₀ at normal incidence.
    pub f0: Vec3,
    /// The parts of a lobe that is partly a metal's; `None` for one that is all of one kind.
    pub mixture: Option<MetalMixture>,
}

/// A mixture of a dielectric coat and a metal of equal roughness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetalMixture {
    /// Share of the metal, from 0 to 1.
    pub metallic: f32,
    /// F₀ of the coat.
    pub coat: f32,
    /// F₀ of the metal.
    pub metal: Vec3,
}

impl Ggx {
    /// A lobe of one kind.
    pub fn new(alpha: f32, f0: Vec3) -> Self {
        Self { alpha, f0, mixture: None }
    }

    /// A lobe that is partly a metal's. Schlick's F is linear in F₀, so that the mixture has the
    /// mean F₀.
    pub fn mixed(alpha: f32, mixture: MetalMixture) -> Self {
        let MetalMixture { metallic, coat, metal } = mixture;
        Self { alpha, f0: Vec3::splat(coat).lerp(metal, metallic), mixture: Some(mixture) }
    }

    fn alpha(&self) -> f32 {
        self.alpha.clamp(MIN_ALPHA, 1.0)
    }

    /// Directional albedo for an outgoing direction of this cosine, multiple scattering included.
    pub fn albedo(&self, cosine: f32) -> Vec3 {
        let (scale, bias) = TABLES.at(cosine, self.alpha());
        (self.f0 * scale + bias) * self.compensation(scale, bias)
    }

    /// Share of light that the lobe leaves to a base under its coat; none passes a metal.
    pub fn left_to_base(&self, cosine: f32) -> Vec3 {
        match self.mixture {
            None => (Vec3::ONE - self.albedo(cosine)).max(Vec3::ZERO),
            Some(MetalMixture { metallic, coat, .. }) => {
                let coat = Self::new(self.alpha, Vec3::splat(coat)).albedo(cosine);
                (1.0 - metallic) * (Vec3::ONE - coat).max(Vec3::ZERO)
            }
        }
    }

    /// Factor that restores the light lost by single scattering. For a mixture it gives the mean of
    /// the albedos of its parts.
    fn compensation(&self, scale: f32, bias: f32) -> Vec3 {
        let loss = 1.0 / (scale + bias).max(1e-3) - 1.0;
        let compensated = |f0: Vec3| (f0 * scale + bias) * (Vec3::ONE + f0 * loss);
        match self.mixture {
            None => Vec3::ONE + self.f0 * loss,
            Some(MetalMixture { metallic, coat, metal }) => {
                let wanted = compensated(Vec3::splat(coat)).lerp(compensated(metal), metallic);
                wanted / (self.f0 * scale + bias).max(Vec3::splat(1e-6))
            }
        }
    }

    /// f cos θᵢ and the pdf of [`Ggx::sample`].
    pub fn eval(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z <= 0.0 || wi.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let alpha = self.alpha();
        let half = (wo + wi).normalize_or(Vec3::Z);
        let d = distribution(half.z, alpha);
        let (lambda_o, lambda_i) = (lambda(wo.z, alpha), lambda(wi.z, alpha));
        let (scale, bias) = TABLES.at(wo.z, alpha);
        let fresnel = schlick(self.f0, wo.dot(half));
        let value = fresnel * self.compensation(scale, bias) * (d / (4.0 * wo.z * (1.0 + lambda_o + lambda_i)));
        (value, d / (4.0 * wo.z * (1.0 + lambda_o)))
    }

    /// Samples an incident direction.
    pub fn sample(&self, wo: Vec3, u: Vec2) -> Vec3 {
        let half = visible_normal(wo, self.alpha(), u);
        2.0 * wo.dot(half) * half - wo
    }
}

fn schlick(f0: Vec3, cosine: f32) -> Vec3 {
    f0 + (Vec3::ONE - f0) * (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

fn distribution(cosine: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    // 1 − cos² as (1 − cos)(1 + cos): the difference of squares would lose narrow lobes.
    let base = a2 * cosine * cosine + (1.0 - cosine) * (1.0 + cosine);
    a2 / (std::f32::consts::PI * base * base)
}

fn lambda(cosine: f32, alpha: f32) -> f32 {
    let tangent2 = (1.0 - cosine * cosine).max(0.0) / (cosine * cosine);
    0.5 * ((1.0 + alpha * alpha * tangent2).sqrt() - 1.0)
}

/// A visible microfacet normal for `wo` (dupuy2023, listing 3).
fn visible_normal(wo: Vec3, alpha: f32, u: Vec2) -> Vec3 {
    let stretched = Vec3::new(alpha * wo.x, alpha * wo.y, wo.z).normalize_or(Vec3::Z);
    let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
    let ring = (1.0 - z * z).max(0.0).sqrt();
    let (sin, cos) = (std::f32::consts::TAU * u.x).sin_cos();
    let cap = Vec3::new(ring * cos, ring * sin, z) + stretched;
    Vec3::new(alpha * cap.x, alpha * cap.y, cap.z.max(0.0)).normalize_or(Vec3::Z)
}

/// E over √cos θₒ and √α (it varies fast where both are small), split into the part that F₀ scales
/// and the rest.
struct Tables(Vec<(f32, f32)>);

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let entry = |i: usize| {
        let (row, column) = (i / TABLE_SIZE, i % TABLE_SIZE);
        let cosine = (column as f32 / (TABLE_SIZE - 1) as f32).powi(2).max(1e-3);
        let alpha = (row as f32 / (TABLE_SIZE - 1) as f32).powi(2).max(MIN_ALPHA);
        let wo = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
        let mut sums = (0.0_f64, 0.0_f64);
        let [around, outwards] = TABLE_GRID;
        for n in 0..around * outwards {
            let u = Vec2::new(
                0.5 * (f32::from(n % around) + 0.5) / f32::from(around),
                (f32::from(n / around) + 0.5) / f32::from(outwards),
            );
            let half = visible_normal(wo, alpha, u);
            let wi = 2.0 * wo.dot(half) * half - wo;
            if wi.z > 0.0 {
                let weight = (1.0 + lambda(cosine, alpha)) / (1.0 + lambda(cosine, alpha) + lambda(wi.z, alpha));
                let fresnel = (1.0 - wo.dot(half).clamp(0.0, 1.0)).powi(5);
                sums.0 += f64::from(weight * (1.0 - fresnel));
                sums.1 += f64::from(weight * fresnel);
            }
        }
        let mean = |sum: f64| (sum / f64::from(around * outwards)) as f32;
        (mean(sums.0), mean(sums.1))
    };
    Tables((0..TABLE_SIZE * TABLE_SIZE).map(entry).collect())
});

impl Tables {
    fn at(&self, cosine: f32, alpha: f32) -> (f32, f32) {
        let x = (cosine.max(0.0).sqrt() * (TABLE_SIZE - 1) as f32).clamp(0.0, (TABLE_SIZE - 1) as f32);
        let y = (alpha.sqrt() * (TABLE_SIZE - 1) as f32).clamp(0.0, (TABLE_SIZE - 1) as f32);
        let (column, row) = ((x as usize).min(TABLE_SIZE - 2), (y as usize).min(TABLE_SIZE - 2));
        let (fx, fy) = (x - column as f32, y - row as f32);
        let entry = |r: usize, c: usize| Vec2::from(self.0[r * TABLE_SIZE + c]);
        let low = entry(row, column).lerp(entry(row, column + 1), fx);
        let high = entry(row + 1, column).lerp(entry(row + 1, column + 1), fx);
        low.lerp(high, fy).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pdf_integrates_to_at_most_one_and_matches_the_samples() {
        // ∫ value/pdf over samples equals ∫ value over the hemisphere, taken on a grid.
        for alpha in [0.1, 0.4, 0.9] {
            let ggx = Ggx::new(alpha, Vec3::ONE);
            let wo = Vec3::new(0.6, 0.0, 0.8);
            let (mut sampled, mut grid, mut mass) = (0.0_f64, 0.0_f64, 0.0_f64);
            let n = 400;
            for i in 0..n * n {
                let u = Vec2::new((i / n) as f32 + 0.5, (i % n) as f32 + 0.5) / n as f32;
                let wi = ggx.sample(wo, u);
                let (value, pdf) = ggx.eval(wo, wi);
                sampled += if pdf > 0.0 { f64::from(value.x / pdf) } else { 0.0 };
                let (sin, cos) = (std::f32::consts::TAU * u.x).sin_cos();
                let ring = (1.0 - u.y * u.y).sqrt();
                let (value, pdf) = ggx.eval(wo, Vec3::new(ring * cos, ring * sin, u.y));
                grid += f64::from(value.x);
                mass += f64::from(pdf);
            }
            let area = f64::from(std::f32::consts::TAU) / f64::from(n * n);
            let (sampled, grid, mass) = (sampled / f64::from(n * n), grid * area, mass * area);
            assert!((sampled - grid).abs() < 3e-3, "α = {alpha}: {sampled} by samples, {grid} by grid");
            assert!(mass < 1.001, "α = {alpha}: pdf {mass}");
            assert!((sampled - 1.0).abs() < 5e-3, "α = {alpha}: a white metal reflects {sampled}");
        }
    }
}
