//! Denoiser: an edge-avoiding filter guided by albedo, normal, depth and drop id.
//!
//! Noise is in the lighting, detail in the surfaces. So the image is divided by its albedo, the
//! remaining light is filtered, and the albedo is multiplied back (textures stay sharp). The filter
//! is an edge-avoiding à-trous wavelet (dammertz2010, §3): five passes of a 5 × 5 B₃ spline with
//! taps 1, 2, 4, 8, 16 pixels apart and weights
//!
//! ```text
//! w = h · k(|Δn|²/σ_n² + |Δa|²/σ_a² + |Δz| / (σ_z |∇z · Δp| + ε) + |Δl| / (σ_l √V + ε))
//! k(x) = max(0, 1 − x/8)⁸ ≈ e⁻ˣ
//! ```
//!
//! between the pixels' normals `n`, albedos `a`, depths `z` and luminances `l`, and zero between
//! different drops. `V` is the variance of the light at the pixel, propagated through the passes as
//! `Σ w² V / (Σ w)²`: what differs by more than its noise is an edge (of a caustic, a highlight, a
//! shadow) and is kept. `V` comes from two half buffers, if given, else from the variance within 7
//! × 7 similar neighbors.
//!
//! Where a lens or motion blurs, the samples of a pixel show many places, and their mean normal,
//! depth and drop tell nothing about its light, nor does their mean albedo if it varies.
//! [`Mixture`] identifies such pixels; the least of 3 × 3 pixels counts, because silhouettes of
//! sharp objects are mixtures too. Between two of them the guides are ignored, colors are not
//! divided by a mixed albedo, and statistics of the noisy color decide: squared differences of the
//! 3 × 3 pixels around both, less those that noise explains (rousselle2012), so that neither
//! outliers nor their neighbors pass for edges.
//!
//! Single bright pixels (fireflies) would be kept as edges: before the passes, a pixel much
//! brighter than its neighbors is lowered to their level, and its excess is distributed to similar
//! neighbors. The mean of the image is restored at the end; both conserve energy.
//!
//! The result is deterministic for any number of threads.

use glam::Vec3;
use rayon::prelude::*;

use crate::framebuffer::{Framebuffer, Mixture};
use sessile_appearance::luminance;

/// Number of passes; each doubles the radius.
const PASSES: u32 = 5;

/// The B₃ spline, `(1, 4, 6, 4, 1)/16`, relative to its center, by distance.
const SPLINE: [f32; 3] = [1.0, 2.0 / 3.0, 1.0 / 6.0];

/// Tolerances for normals, albedos, depths (in units of the local slope) and light (in standard
/// deviations).
const NORMAL_SIGMA: f32 = 0.25;
const ALBEDO_SIGMA: f32 = 0.08;
const DEPTH_SIGMA: f32 = 1.5;
const LIGHT_SIGMA: f32 = 2.5;

/// Tolerance for the light around pixels of mixtures, in standard deviations.
const PATCH_SIGMA: f32 = 1.2;

/// Albedo below which light is not divided by it.
const DARKEST_ALBEDO: f32 = 0.02;

/// Difference from which pixels have no weight; see [`falloff`].
const MAX_DIFFERENCE: f32 = 8.0;

/// A pixel this many times brighter than its second brightest neighbor is a firefly.
const FIREFLY: f32 = 3.0;

/// Denoises an image. `halves` are two images of the same view from disjoint samples, of which
/// `image` is the mean.
///
/// Only the color changes. Auxiliary buffers that are missing are ignored.
pub fn denoise(image: &Framebuffer, halves: Option<(&[Vec3], &[Vec3])>) -> Framebuffer {
    let pixels = image.width.saturating_mul(image.height);
    if pixels == 0 || image.color.len() != pixels {
        return image.clone();
    }
    let guides = Guides::new(image);
    let mut light: Vec<Vec3> =
        image.color.iter().zip(&guides.pixels).map(|(&color, guide)| finite(color) / guide.albedo).collect();
    let halves = halves.filter(|(first, second)| first.len() == pixels && second.len() == pixels);

    suppress_fireflies(&guides, &mut light);
    let mut variance = match halves {
        Some((first, second)) => half_variance(&guides, first, second),
        None => spatial_variance(&guides, &light),
    };
    for pass in 0..PASSES {
        (light, variance) = smooth(&guides, &light, &variance, 1 << pass);
    }

    let mut color: Vec<Vec3> = light.iter().zip(&guides.pixels).map(|(&light, guide)| light * guide.albedo).collect();
    restore_mean(&mut color, &image.color);
    Framebuffer { color, ..image.clone() }
}

fn finite(color: Vec3) -> Vec3 {
    if color.is_finite() { color.max(Vec3::ZERO) } else { Vec3::ZERO }
}

/// Auxiliary data of a pixel, with neutral values where it is missing.
#[derive(Clone, Copy)]
struct Guide {
    normal: Vec3,
    depth: f32,
    albedo: Vec3,
    drop: u32,
    /// Change of depth per column and per row, the smaller of the two sides.
    slope: [f32; 2],
    /// How unreliable the other fields are.
    mixture: Mixture,
}

impl Guide {
    /// Difference to another pixel's surface: 0 for the same, infinite for another drop, unless
    /// both are mixtures. `across` and `along` are the columns and rows between them.
    fn difference(&self, other: &Self, across: usize, along: usize) -> f32 {
        let reliable = |own: f32, other: f32| 1.0 - own.min(other);
        let surface = match reliable(self.mixture.surface, other.mixture.surface) {
            1.0 => self.surface_difference(other, across, along),
            0.0 => 0.0,
            reliable => reliable * self.surface_difference(other, across, along).min(MAX_DIFFERENCE),
        };
        let albedo = self.albedo.distance_squared(other.albedo) * (1.0 / (ALBEDO_SIGMA * ALBEDO_SIGMA));
        surface + reliable(self.mixture.albedo, other.mixture.albedo) * albedo
    }

    fn surface_difference(&self, other: &Self, across: usize, along: usize) -> f32 {
        if self.drop != other.drop || self.depth.is_finite() != other.depth.is_finite() {
            return f32::INFINITY;
        }
        let depth = if self.depth.is_finite() {
            let slope = self.slope[0] * across as f32 + self.slope[1] * along as f32;
            (self.depth - other.depth).abs() / (DEPTH_SIGMA * slope + 1e-3 * self.depth.abs() + f32::MIN_POSITIVE)
        } else {
            0.0
        };
        let normal = self.normal.distance_squared(other.normal) * (1.0 / (NORMAL_SIGMA * NORMAL_SIGMA));
        depth + normal
    }
}

/// Falls from 1 to 0 like `e⁻ˣ`, reaches 0 at 8, and is bit-identical on every machine.
fn falloff(difference: f32) -> f32 {
    let root = (1.0 - difference * (1.0 / MAX_DIFFERENCE)).max(0.0);
    let square = root * root;
    (square * square) * (square * square)
}

/// The least mixture of the 3 × 3 pixels around each; empty where nothing is blurred.
fn least_mixtures(image: &Framebuffer) -> Vec<Mixture> {
    let (width, height) = (image.width, image.height);
    if image.mixture.len() != image.color.len() {
        return Vec::new();
    }
    let least = |at: usize| {
        let (column, row) = (at % width, at / width);
        let rows = row.saturating_sub(1)..(row + 2).min(height);
        let columns = column.saturating_sub(1)..(column + 2).min(width);
        let near = rows.flat_map(|row| columns.clone().map(move |column| image.mixture[row * width + column]));
        near.fold(Mixture { surface: 1.0, albedo: 1.0 }, |least, mixture| Mixture {
            surface: least.surface.min(mixture.surface),
            albedo: least.albedo.min(mixture.albedo),
        })
    };
    (0..image.color.len()).into_par_iter().map(least).collect()
}

struct Guides {
    width: usize,
    height: usize,
    pixels: Vec<Guide>,
}

impl Guides {
    fn new(image: &Framebuffer) -> Self {
        let count = image.color.len();
        let mixtures = least_mixtures(image);
        let pixel = |at: usize| {
            let albedo = if image.albedo.len() == count { image.albedo[at] } else { Vec3::ONE };
            let told = albedo.is_finite() && albedo.max_element() > DARKEST_ALBEDO;
            let normal = if image.normal.len() == count { image.normal[at] } else { Vec3::ZERO };
            let mixture = mixtures.get(at).copied().unwrap_or_default();
            let albedo = if told { albedo.max(Vec3::splat(DARKEST_ALBEDO)) } else { Vec3::ONE };
            Guide {
                normal: if normal.is_finite() { normal } else { Vec3::ZERO },
                depth: if image.depth.len() == count { image.depth[at] } else { 0.0 },
                albedo: albedo.lerp(Vec3::ONE, mixture.albedo),
                drop: if image.drop.len() == count { image.drop[at] } else { 0 },
                slope: [0.0; 2],
                mixture,
            }
        };
        let pixels = (0..count).map(pixel).collect();
        let mut guides = Self { width: image.width, height: image.height, pixels };
        let slopes: Vec<[f32; 2]> = guides.each(|column, row| guides.slope(column, row));
        guides.pixels.iter_mut().zip(slopes).for_each(|(pixel, slope)| pixel.slope = slope);
        guides
    }

    /// Evaluates a function at every column and row, in image order.
    fn each<T: Send + Default + Clone>(&self, value: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let mut values = vec![T::default(); self.pixels.len()];
        values.par_chunks_mut(self.width).enumerate().for_each(|(row, line)| {
            for (column, place) in line.iter_mut().enumerate() {
                *place = value(column, row);
            }
        });
        values
    }

    fn slope(&self, column: usize, row: usize) -> [f32; 2] {
        let at = row * self.width + column;
        let change = |other: usize| {
            let change = (self.pixels[other].depth - self.pixels[at].depth).abs();
            if change.is_finite() { change } else { f32::INFINITY }
        };
        let smaller = |place: usize, count: usize, stride: usize| {
            let before = if place > 0 { change(at - stride) } else { f32::INFINITY };
            let after = if place + 1 < count { change(at + stride) } else { f32::INFINITY };
            let least = before.min(after);
            if least.is_finite() { least } else { 0.0 }
        };
        [smaller(column, self.width, 1), smaller(row, self.height, self.width)]
    }

    /// Calls `visit` with every pixel of a square around one, itself included, and its difference.
    fn around(&self, column: usize, row: usize, reach: usize, mut visit: impl FnMut(usize, f32)) {
        let own = &self.pixels[row * self.width + column];
        for other_row in row.saturating_sub(reach)..(row + reach + 1).min(self.height) {
            for other_column in column.saturating_sub(reach)..(column + reach + 1).min(self.width) {
                let other = other_row * self.width + other_column;
                let (across, along) = (other_column.abs_diff(column), other_row.abs_diff(row));
                visit(other, own.difference(&self.pixels[other], across, along));
            }
        }
    }
}

/// Lowers fireflies and distributes their excess to similar neighbors.
fn suppress_fireflies(guides: &Guides, light: &mut [Vec3]) {
    let levels: Vec<f32> = light.iter().map(|&light| luminance(light)).collect();
    let kept: Vec<f32> = guides.each(|column, row| {
        let at = row * guides.width + column;
        let (mut most, mut second) = (0.0f32, 0.0f32);
        for other_row in row.saturating_sub(1)..(row + 2).min(guides.height) {
            for other_column in column.saturating_sub(1)..(column + 2).min(guides.width) {
                let other = other_row * guides.width + other_column;
                let level = if other == at { 0.0 } else { levels[other] };
                second = second.max(level.min(most));
                most = most.max(level);
            }
        }
        let bound = FIREFLY * second;
        if levels[at] > bound { bound / levels[at] } else { 1.0 }
    });
    // Sequentially and in order: there are few, and so the sums do not depend on threads.
    for at in (0..light.len()).filter(|&at| kept[at] < 1.0) {
        let (column, row) = (at % guides.width, at / guides.width);
        let mut total = 0.0;
        guides.around(column, row, 3, |_, difference| total += falloff(difference));
        let lost = light[at] * (1.0 - kept[at]);
        light[at] -= lost;
        guides.around(column, row, 3, |other, difference| light[other] += lost * (falloff(difference) / total));
    }
}

/// Variance of the mean of two halves, `(a − b)²/4`, averaged over 7 × 7 similar pixels.
fn half_variance(guides: &Guides, first: &[Vec3], second: &[Vec3]) -> Vec<f32> {
    let raw: Vec<f32> = (0..first.len())
        .map(|at| {
            let difference = luminance((finite(first[at]) - finite(second[at])) / guides.pixels[at].albedo);
            0.25 * difference * difference
        })
        .collect();
    average(guides, |other| [raw[other], 0.0]).into_iter().map(|[mean, _]| mean).collect()
}

/// Variance of luminance among the 7 × 7 similar pixels around each.
fn spatial_variance(guides: &Guides, light: &[Vec3]) -> Vec<f32> {
    let levels: Vec<f32> = light.iter().map(|&light| luminance(light)).collect();
    let moments = average(guides, |other| [levels[other], levels[other] * levels[other]]);
    moments.into_iter().map(|[mean, square]| (square - mean * mean).max(0.0)).collect()
}

/// Two quantities averaged over the 7 × 7 similar pixels around each.
fn average(guides: &Guides, values: impl Fn(usize) -> [f32; 2] + Sync) -> Vec<[f32; 2]> {
    guides.each(|column, row| {
        let (mut sums, mut total) = ([0.0; 2], 0.0);
        guides.around(column, row, 3, |other, difference| {
            let weight = falloff(difference);
            let [first, second] = values(other);
            sums = [sums[0] + weight * first, sums[1] + weight * second];
            total += weight;
        });
        sums.map(|sum| sum / total)
    })
}

/// One pass: the light and its variance, filtered with taps `step` pixels apart.
fn smooth(guides: &Guides, light: &[Vec3], variance: &[f32], step: usize) -> (Vec<Vec3>, Vec<f32>) {
    let levels: Vec<f32> = light.iter().map(|&light| luminance(light)).collect();
    let taps = |place: usize, count: usize| {
        // Positions beyond the image wrap below zero and are left out like those above.
        [0usize, 1, 2, 3, 4]
            .map(|tap| (place + tap * step).wrapping_sub(2 * step))
            .map(move |at| (at < count).then_some(at))
    };
    let smoothed = guides.each(|column, row| {
        let at = row * guides.width + column;
        let own = &guides.pixels[at];
        let tolerance = LIGHT_SIGMA * variance[at].sqrt() + 1e-4 * levels[at] + f32::MIN_POSITIVE;
        let per_tolerance = (1.0 / tolerance).min(f32::MAX);
        let (mut sum, mut spread, mut total) = (Vec3::ZERO, 0.0, 0.0);
        for (down, other_row) in taps(row, guides.height).into_iter().enumerate() {
            let Some(other_row) = other_row else { continue };
            for (right, other_column) in taps(column, guides.width).into_iter().enumerate() {
                let Some(other_column) = other_column else { continue };
                let other = other_row * guides.width + other_column;
                let (across, along) = (right.abs_diff(2), down.abs_diff(2));
                let surface = own.difference(&guides.pixels[other], across * step, along * step);
                let level = if own.mixture.surface > 0.0 {
                    patch_difference(guides, light, at, other, variance[at] + variance[other])
                } else {
                    (levels[other] - levels[at]).abs() * per_tolerance
                };
                let weight = SPLINE[across] * SPLINE[along] * falloff(surface + level);
                sum += light[other] * weight;
                spread += variance[other] * (weight * weight);
                total += weight;
            }
        }
        // The pixel itself has weight 1, so the total is never zero.
        (sum / total, spread / (total * total))
    });
    smoothed.into_iter().unzip()
}

/// Difference of the light around two pixels of mixtures: the mean of `|Δl|²` over 3 × 3 pixels,
/// less what noise of variance `V` contributes, relative to that noise (rousselle2012, eq. 4).
fn patch_difference(guides: &Guides, light: &[Vec3], at: usize, other: usize, variance: f32) -> f32 {
    let near = |at: usize, (right, down): (usize, usize)| {
        let column = (at % guides.width + right).saturating_sub(1).min(guides.width - 1);
        let row = (at / guides.width + down).saturating_sub(1).min(guides.height - 1);
        light[row * guides.width + column]
    };
    let places = (0..9).map(|place| (place % 3, place / 3));
    let squares = places.map(|place| {
        let difference = luminance((near(at, place) - near(other, place)).abs());
        difference * difference
    });
    let mean = squares.sum::<f32>() * (1.0 / 9.0);
    (mean - variance).max(0.0) / (PATCH_SIGMA * PATCH_SIGMA * variance + f32::MIN_POSITIVE)
}

/// Scales the colors to the mean luminance of the original.
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
