//! Removes the grain of few samples, guided by what lies behind each pixel.
//!
//! Noise sits in the light, detail in the surface. So the picture is divided by its albedo, the light that is left is
//! smoothed, and the albedo is put back (textures stay sharp). The light is smoothed by an edge-avoiding à-trous filter
//! (dammertz2010, §3): five passes of a 5 × 5 B₃ spline whose taps spread by 1, 2, 4, 8, 16 pixels, with weights
//!
//! `w = h · exp(−|Δn|²/σ_n²) · exp(−|Δa|²/σ_a²) · exp(−|Δz| / (σ_z |∇z · Δp| + ε)) · exp(−|Δl| / (σ_l √V + ε)) · [same drop]`
//!
//! between pixels' normals `n`, albedos `a`, depths `z` and luminances `l`. `V` is the variance of the light at the pixel, carried
//! through the passes as `Σ w² V / (Σ w)²`: what differs by more than its noise is an edge of light (a caustic, a highlight, a
//! shadow) and stays. `V` comes from two half pictures, if given, else from the spread within 7 × 7 neighbours of the same kind.
//!
//! Single bright pixels (fireflies) would survive as edges: before the passes, a pixel brighter than its surroundings by far is
//! lowered to their level, and the light it loses is handed to its neighbours of the same kind. The mean of the picture is
//! restored at the end; both keep the energy.
//!
//! Depends on nothing but the picture: the same bytes for any number of threads.

use glam::Vec3;
use rayon::prelude::*;

use crate::environment::luminance;
use crate::picture::Picture;

/// Passes of the filter; each doubles the reach.
const PASSES: u32 = 5;

/// The B₃ spline, `(1, 4, 6, 4, 1)/16`, relative to its middle, by distance.
const SPLINE: [f32; 3] = [1.0, 2.0 / 3.0, 1.0 / 6.0];

/// Tolerances for normals, albedos, depths (in units of the local slope) and light (in standard deviations).
const NORMAL_SIGMA: f32 = 0.25;
const ALBEDO_SIGMA: f32 = 0.08;
const DEPTH_SIGMA: f32 = 1.5;
const LIGHT_SIGMA: f32 = 2.5;

/// Albedo below which light is not divided out: black has none to tell.
const DARKEST_ALBEDO: f32 = 0.02;

/// A pixel this many times brighter than the second brightest around it is a firefly.
const FIREFLY: f32 = 3.0;

/// Smooths a picture. `halves` are two pictures of the same view made of disjoint samples, of which `picture` is the mean.
///
/// Only the colour changes. Pictures without matching guides are guided by what they have.
pub fn denoise(picture: &Picture, halves: Option<(&[Vec3], &[Vec3])>) -> Picture {
    let pixels = picture.width.saturating_mul(picture.height);
    if pixels == 0 || picture.color.len() != pixels {
        return picture.clone();
    }
    let guides = Guides::new(picture);
    let light: Vec<Vec3> = picture.color.par_iter().zip(&guides.albedo).map(|(&c, &a)| finite(c) / a).collect();
    let halves = halves.filter(|(first, second)| first.len() == pixels && second.len() == pixels);

    let mut light = tame_fireflies(&guides, &light);
    let mut variance = match halves {
        Some((first, second)) => half_variance(&guides, first, second),
        None => spatial_variance(&guides, &light),
    };
    for pass in 0..PASSES {
        (light, variance) = smooth(&guides, &light, &variance, 1 << pass);
    }

    let mut color: Vec<Vec3> = light.par_iter().zip(&guides.albedo).map(|(&l, &a)| l * a).collect();
    restore_mean(&mut color, &picture.color);
    Picture { color, ..picture.clone() }
}

fn finite(color: Vec3) -> Vec3 {
    if color.is_finite() { color.max(Vec3::ZERO) } else { Vec3::ZERO }
}

/// What the renderer knows of each pixel, with neutral values where it does not.
struct Guides {
    width: usize,
    height: usize,
    albedo: Vec<Vec3>,
    normal: Vec<Vec3>,
    depth: Vec<f32>,
    /// Change of depth per pixel, the smaller of the two sides along each axis.
    slope: Vec<[f32; 2]>,
    drop: Vec<i32>,
}

impl Guides {
    fn new(picture: &Picture) -> Self {
        let pixels = picture.color.len();
        let or = |values: &[Vec3], neutral: Vec3| {
            if values.len() == pixels { values.to_vec() } else { vec![neutral; pixels] }
        };
        let albedo = or(&picture.albedo, Vec3::ONE)
            .into_iter()
            .map(|albedo| {
                let told = albedo.is_finite() && albedo.max_element() > DARKEST_ALBEDO;
                if told { albedo.max(Vec3::splat(DARKEST_ALBEDO)) } else { Vec3::ONE }
            })
            .collect();
        let normal = or(&picture.normal, Vec3::ZERO).into_iter().map(|n| if n.is_finite() { n } else { Vec3::ZERO });
        let depth = if picture.depth.len() == pixels { picture.depth.clone() } else { vec![0.0; pixels] };
        let drop = if picture.drop.len() == pixels { picture.drop.clone() } else { vec![-1; pixels] };
        let mut guides = Self {
            width: picture.width,
            height: picture.height,
            albedo,
            normal: normal.collect(),
            depth,
            slope: Vec::new(),
            drop,
        };
        guides.slope = (0..pixels).into_par_iter().map(|at| guides.slope_at(at)).collect();
        guides
    }

    fn slope_at(&self, at: usize) -> [f32; 2] {
        [(1, 0), (0, 1)].map(|(right, down)| {
            let change = |sign: isize| {
                let other = self.neighbour(at, sign * right, sign * down)?;
                let change = (self.depth[other] - self.depth[at]).abs();
                change.is_finite().then_some(change)
            };
            match (change(-1), change(1)) {
                (Some(before), Some(after)) => before.min(after),
                (before, after) => before.or(after).unwrap_or(0.0),
            }
        })
    }

    /// The pixel so many columns and rows away, if it is in the picture.
    fn neighbour(&self, at: usize, right: isize, down: isize) -> Option<usize> {
        let column = (at % self.width).checked_add_signed(right).filter(|&column| column < self.width)?;
        let row = (at / self.width).checked_add_signed(down).filter(|&row| row < self.height)?;
        Some(row * self.width + column)
    }

    /// From 1 for pixels of the same surface to 0 for those of different ones.
    fn likeness(&self, at: usize, other: usize, right: isize, down: isize) -> f32 {
        let (near, far) = (self.depth[at], self.depth[other]);
        if self.drop[at] != self.drop[other] || near.is_finite() != far.is_finite() {
            return 0.0;
        }
        let depth = if near.is_finite() {
            let [across, along] = self.slope[at];
            let slope = across * right.unsigned_abs() as f32 + along * down.unsigned_abs() as f32;
            (near - far).abs() / (DEPTH_SIGMA * slope + 1e-3 * near.abs() + f32::MIN_POSITIVE)
        } else {
            0.0
        };
        let normal = self.normal[at].distance_squared(self.normal[other]) / (NORMAL_SIGMA * NORMAL_SIGMA);
        let albedo = self.albedo[at].distance_squared(self.albedo[other]) / (ALBEDO_SIGMA * ALBEDO_SIGMA);
        (-(depth + normal + albedo)).exp()
    }

    /// Calls `visit` with every pixel of a square around one, itself included, and its likeness.
    fn around(&self, at: usize, reach: isize, mut visit: impl FnMut(usize, f32)) {
        for down in -reach..=reach {
            for right in -reach..=reach {
                if let Some(other) = self.neighbour(at, right, down) {
                    visit(other, self.likeness(at, other, right, down));
                }
            }
        }
    }
}

/// Lowers lone bright pixels and spreads what they lose over their like.
fn tame_fireflies(guides: &Guides, light: &[Vec3]) -> Vec<Vec3> {
    let excess: Vec<Vec3> = (0..light.len())
        .into_par_iter()
        .map(|at| {
            let own = luminance(light[at]);
            let (mut most, mut second) = (0.0f32, 0.0f32);
            guides.around(at, 1, |other, _| {
                if other != at {
                    let level = luminance(light[other]);
                    second = second.max(level.min(most));
                    most = most.max(level);
                }
            });
            let bound = FIREFLY * second;
            if own > bound && own > 0.0 { light[at] * (1.0 - bound / own) } else { Vec3::ZERO }
        })
        .collect();
    let shares: Vec<f32> = excess
        .par_iter()
        .enumerate()
        .map(|(at, &lost)| {
            let mut total = 0.0;
            if lost != Vec3::ZERO {
                guides.around(at, 3, |_, likeness| total += likeness);
            }
            total
        })
        .collect();
    (0..light.len())
        .into_par_iter()
        .map(|at| {
            let mut sum = light[at] - excess[at];
            for down in -3..=3 {
                for right in -3..=3 {
                    if let Some(other) = guides.neighbour(at, right, down)
                        && shares[other] > 0.0
                    {
                        sum += excess[other] * (guides.likeness(other, at, -right, -down) / shares[other]);
                    }
                }
            }
            sum
        })
        .collect()
}

/// Variance of the mean of two halves, `(a − b)²/4`, averaged over 7 × 7 pixels of the same kind.
fn half_variance(guides: &Guides, first: &[Vec3], second: &[Vec3]) -> Vec<f32> {
    let raw: Vec<f32> = (0..first.len())
        .into_par_iter()
        .map(|at| {
            let difference = luminance((finite(first[at]) - finite(second[at])) / guides.albedo[at]);
            0.25 * difference * difference
        })
        .collect();
    average(guides, |other| [raw[other], 0.0]).into_iter().map(|[mean, _]| mean).collect()
}

/// Variance of luminance among the 7 × 7 pixels of the same kind around each.
fn spatial_variance(guides: &Guides, light: &[Vec3]) -> Vec<f32> {
    let moments = average(guides, |other| {
        let level = luminance(light[other]);
        [level, level * level]
    });
    moments.into_iter().map(|[mean, square]| (square - mean * mean).max(0.0)).collect()
}

/// Two quantities averaged over the 7 × 7 pixels of the same kind around each.
fn average(guides: &Guides, values: impl Fn(usize) -> [f32; 2] + Sync) -> Vec<[f32; 2]> {
    (0..guides.drop.len())
        .into_par_iter()
        .map(|at| {
            let (mut sums, mut total) = ([0.0; 2], 0.0);
            guides.around(at, 3, |other, likeness| {
                let [first, second] = values(other);
                sums = [sums[0] + likeness * first, sums[1] + likeness * second];
                total += likeness;
            });
            sums.map(|sum| sum / total)
        })
        .collect()
}

/// One pass: the light and its variance, smoothed with taps `step` pixels apart.
fn smooth(guides: &Guides, light: &[Vec3], variance: &[f32], step: isize) -> (Vec<Vec3>, Vec<f32>) {
    (0..light.len())
        .into_par_iter()
        .map(|at| {
            let own = luminance(light[at]);
            let tolerance = LIGHT_SIGMA * variance[at].sqrt() + 1e-4 * own + f32::MIN_POSITIVE;
            let (mut sum, mut spread, mut total) = (Vec3::ZERO, 0.0, 0.0);
            for down in -2..=2isize {
                for right in -2..=2isize {
                    let Some(other) = guides.neighbour(at, right * step, down * step) else { continue };
                    let spline = SPLINE[right.unsigned_abs()] * SPLINE[down.unsigned_abs()];
                    let like = guides.likeness(at, other, right * step, down * step);
                    let level = (luminance(light[other]) - own).abs() / tolerance;
                    let weight = spline * like * (-level).exp();
                    sum += light[other] * weight;
                    spread += variance[other] * weight * weight;
                    total += weight;
                }
            }
            // The pixel itself has weight 1, so the total is never zero.
            (sum / total, spread / (total * total))
        })
        .unzip()
}

/// Scales so that the mean luminance is that of the original.
fn restore_mean(color: &mut [Vec3], original: &[Vec3]) {
    let mean = |colors: &[Vec3]| colors.iter().map(|&color| f64::from(luminance(finite(color)))).sum::<f64>();
    let (before, after) = (mean(original), mean(color));
    if before > 0.0 && after > 0.0 {
        let factor = (before / after) as f32;
        color.iter_mut().for_each(|color| *color *= factor);
    }
}

#[cfg(test)]
mod tests;
