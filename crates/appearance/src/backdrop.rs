//! Backdrops: photographs that the camera sees behind everything.
//!
//! A backdrop is unlit: an image shows its values as they are, without exposure and tone mapping.
//! It is scaled to cover the image and cropped at the sides that exceed it; a photograph of the
//! image's size is not changed at all.
//!
//! Rays that a drop deviates see the photograph at another place, and beyond its borders the
//! color of the nearest border. For these lookups it is stored as a pyramid (williams1983), each
//! level averaged from two by two pixels of the one before.
//!
//! The radiance of its white relates it to the light of the scene: it is chosen such that the mean
//! of the photograph is the mean of the environment, because the photograph stands for what the
//! camera would have seen of it.

use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_images::{Image, ImageError};
use sessile_scene::types::Scene;

use crate::environment::{Environment, EnvironmentError, luminance, read_exr};
use crate::srgb::{linear_from_srgb, srgb_from_linear};

/// Why a backdrop cannot be shown.
#[derive(Debug, thiserror::Error)]
#[error(
    "the backdrop {} cannot be shown: {reason}; `render.backdrop` is the path of a PNG, JPEG or EXR file, relative to the \
     scene file",
    file.display()
)]
pub struct BackdropError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it, and what to do.
    pub reason: String,
}

/// A photograph in linear light.
#[derive(Clone, Debug)]
pub struct Photograph {
    size: [usize; 2],
    texels: Vec<Vec3>,
}

/// A photograph, scaled to an image.
#[derive(Clone, Debug)]
pub struct Backdrop {
    size: [usize; 2],
    /// sRGB bytes of every pixel.
    bytes: Vec<[u8; 3]>,
    /// The pyramid, in linear light; each level with its size.
    levels: Vec<([usize; 2], Vec<Vec3>)>,
    /// Distance from the camera along its axis, in m; `None` for infinitely far.
    distance: Option<f32>,
    /// Radiance of its white.
    white: f32,
}

impl Photograph {
    /// Reads a PNG, JPEG or EXR file.
    pub fn open(file: &Path) -> Result<Self, BackdropError> {
        let failed = |reason: String| BackdropError { file: file.to_owned(), reason };
        match Image::read(file) {
            Ok(image) => Ok(Self::from_srgb([image.width(), image.height()], &image.rgb_bytes())),
            Err(ImageError::Format) => {
                let bytes =
                    sessile_input::read(file, sessile_input::MAX_IMAGE).map_err(|cause| failed(cause.to_string()))?;
                let (size, texels) = read_exr(file, &bytes).map_err(|error| match error {
                    EnvironmentError::Broken { .. } => {
                        failed("it is neither a PNG, a JPEG nor a complete EXR image; save it again".into())
                    }
                    error => failed(error.to_string()),
                })?;
                let shown = |c: Vec3| if c.is_finite() { c.clamp(Vec3::ZERO, Vec3::ONE) } else { Vec3::ZERO };
                Ok(Self { size, texels: texels.into_iter().map(shown).collect() })
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// A photograph of sRGB bytes, three per pixel, rows from the top; missing pixels are black.
    pub fn from_srgb(size: [usize; 2], bytes: &[u8]) -> Self {
        let linear: [f32; 256] = std::array::from_fn(|code| linear_from_srgb(code as u8));
        let texel = |c: &[u8]| Vec3::new(linear[c[0] as usize], linear[c[1] as usize], linear[c[2] as usize]);
        let mut texels: Vec<Vec3> = bytes.chunks_exact(3).map(texel).collect();
        texels.resize(size[0] * size[1], Vec3::ZERO);
        Self { size, texels }
    }

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Scales the photograph to cover an image; `distance` is that from the camera, and `white` the
    /// radiance of its white.
    pub fn cover(&self, size: [usize; 2], distance: Option<f32>, white: f32) -> Backdrop {
        let texels = if self.size == size { self.texels.clone() } else { self.resampled(size) };
        let bytes: Vec<[u8; 3]> = texels.iter().map(|c| c.to_array().map(srgb_from_linear)).collect();
        let mut levels = vec![(size, texels)];
        while let Some((of, texels)) = levels.last()
            && of[0].max(of[1]) > 1
        {
            levels.push(halved(*of, texels));
        }
        Backdrop { size, bytes, levels, distance, white }
    }

    /// Box-filtered along rows, then along columns; where it is enlarged, interpolated linearly.
    fn resampled(&self, size: [usize; 2]) -> Vec<Vec3> {
        let [width, height] = self.size;
        // Pixels of the photograph per pixel of the image.
        let step = (0..2).map(|a| self.size[a] as f32 / size[a] as f32).fold(f32::INFINITY, f32::min);
        let taps = |axis: usize| -> Vec<Vec<(usize, f32)>> {
            let margin = 0.5 * (self.size[axis] as f32 - step * size[axis] as f32);
            (0..size[axis])
                .map(|i| box_taps(margin + (i as f32 + 0.5) * step, step.max(1.0), self.size[axis]))
                .collect()
        };
        let (across, down) = (taps(0), taps(1));
        let mut rows = vec![Vec3::ZERO; size[0] * height];
        rows.par_chunks_mut(size[0]).enumerate().for_each(|(y, row)| {
            for (texel, taps) in row.iter_mut().zip(&across) {
                *texel = taps.iter().map(|&(x, weight)| weight * self.texels[y * width + x]).sum();
            }
        });
        let mut texels = vec![Vec3::ZERO; size[0] * size[1]];
        texels.par_chunks_mut(size[0]).zip(&down).for_each(|(row, taps)| {
            for (x, texel) in row.iter_mut().enumerate() {
                *texel = taps.iter().map(|&(y, weight)| weight * rows[y * size[0] + x]).sum();
            }
        });
        texels
    }
}

/// Pixels that a box of this width about `center` overlaps, with weights that add up to 1.
fn box_taps(center: f32, width: f32, count: usize) -> Vec<(usize, f32)> {
    let (low, high) = (center - 0.5 * width, center + 0.5 * width);
    let mut taps: Vec<(usize, f32)> = Vec::new();
    for cell in low.floor() as i64..high.ceil() as i64 {
        let overlap = (high.min((cell + 1) as f32) - low.max(cell as f32)).max(0.0) / width;
        let index = cell.clamp(0, count as i64 - 1) as usize;
        match taps.last_mut() {
            Some((last, weight)) if *last == index => *weight += overlap,
            _ => taps.push((index, overlap)),
        }
    }
    taps
}

/// The next level of a pyramid.
fn halved(of: [usize; 2], texels: &[Vec3]) -> ([usize; 2], Vec<Vec3>) {
    let size = of.map(|side| side.div_ceil(2));
    let texel = |i: usize| {
        let (x, y) = (2 * (i % size[0]), 2 * (i / size[0]));
        let (x1, y1) = ((x + 1).min(of[0] - 1), (y + 1).min(of[1] - 1));
        0.25 * (texels[y * of[0] + x] + texels[y * of[0] + x1] + texels[y1 * of[0] + x] + texels[y1 * of[0] + x1])
    };
    (size, (0..size[0] * size[1]).map(texel).collect())
}

impl Backdrop {
    /// A photograph as the backdrop of a scene's images of this size.
    pub fn of_photograph(photo: &Photograph, scene: &Scene, environment: &Environment, size: [usize; 2]) -> Self {
        let backdrop = photo.cover(size, scene.render.backdrop_distance.map(|d| d as f32), 1.0);
        let (light, mean) = (luminance(environment.mean_radiance()), luminance(backdrop.mean()));
        let white = light / (mean.max(1e-3) * scene.render.exposure as f32);
        Self { white: if white.is_normal() && white > 0.0 { white } else { 1.0 }, ..backdrop }
    }

    /// Columns and rows of the image that it was scaled to.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Distance from the camera along its axis, in m; `None` for infinitely far.
    pub fn distance(&self) -> Option<f32> {
        self.distance
    }

    /// Radiance of its white.
    pub fn white(&self) -> f32 {
        self.white
    }

    /// Mean color, in linear light.
    pub fn mean(&self) -> Vec3 {
        self.levels.last().map_or(Vec3::ZERO, |(_, texels)| texels[0])
    }

    /// sRGB bytes of a pixel.
    pub fn bytes(&self, x: usize, y: usize) -> [u8; 3] {
        self.bytes[y * self.size[0] + x]
    }

    /// Radiance of a pixel.
    pub fn pixel(&self, x: usize, y: usize) -> Vec3 {
        self.white * self.levels[0].1[y * self.size[0] + x]
    }

    /// Radiance at a point of the image, from (0, 0) at its top left to (1, 1), averaged over about
    /// `footprint` pixels; beyond the borders that of the nearest border.
    pub fn radiance(&self, place: Vec2, footprint: f32) -> Vec3 {
        let level = footprint.max(1.0).log2().min((self.levels.len() - 1) as f32);
        let lower = level as usize;
        let fine = self.level_at(lower, place);
        let part = level - lower as f32;
        let color = if part > 0.0 { fine.lerp(self.level_at(lower + 1, place), part) } else { fine };
        self.white * color
    }

    /// A level of the pyramid, interpolated linearly.
    fn level_at(&self, level: usize, place: Vec2) -> Vec3 {
        let (size, texels) = &self.levels[level.min(self.levels.len() - 1)];
        let cell = |part: f32, count: usize| {
            // `max` before `min` also maps NaN to the first texel.
            let x = (part * count as f32 - 0.5).max(0.0).min((count - 1) as f32);
            (x as usize, (x as usize + 1).min(count - 1), x.fract())
        };
        let ((x0, x1, fx), (y0, y1, fy)) = (cell(place.x, size[0]), cell(place.y, size[1]));
        let texel = |x: usize, y: usize| texels[y * size[0] + x];
        texel(x0, y0).lerp(texel(x1, y0), fx).lerp(texel(x0, y1).lerp(texel(x1, y1), fx), fy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(size: [usize; 2], color: impl Fn(usize, usize) -> Vec3) -> Photograph {
        Photograph { size, texels: (0..size[0] * size[1]).map(|i| color(i % size[0], i / size[0])).collect() }
    }

    #[test]
    fn a_photograph_of_the_images_size_is_not_changed() {
        let codes = |x: usize, y: usize| [(37 * x + y) as u8, (91 * y) as u8, (5 * x * y) as u8];
        let photo = photo([7, 5], |x, y| Vec3::from_array(codes(x, y).map(linear_from_srgb)));
        let backdrop = photo.cover([7, 5], None, 3.0);
        for (x, y) in [(0, 0), (6, 4), (3, 2)] {
            assert_eq!(backdrop.bytes(x, y), codes(x, y));
            assert_eq!(backdrop.pixel(x, y), 3.0 * Vec3::from_array(codes(x, y).map(linear_from_srgb)));
        }
    }

    #[test]
    fn larger_photographs_are_averaged_and_cropped_at_the_center() {
        // Twice as large and wider: the two columns on each side are outside.
        let wide = photo([12, 4], |x, _| if (2..10).contains(&x) { Vec3::splat(0.25) } else { Vec3::ONE });
        let backdrop = wide.cover([4, 2], None, 1.0);
        assert!((0..4).all(|x| (backdrop.pixel(x, 0) - 0.25).abs().max_element() < 1e-6));
        let ramp = photo([8, 8], |x, _| Vec3::splat(x as f32));
        let halved = ramp.cover([4, 4], None, 1.0);
        assert!((0..4).all(|x| (halved.pixel(x, 1).x - (2.0 * x as f32 + 0.5)).abs() < 1e-5));
        let enlarged = ramp.cover([16, 16], None, 1.0);
        assert!((enlarged.pixel(5, 3).x - 2.25).abs() < 1e-5, "{}", enlarged.pixel(5, 3).x);
    }

    #[test]
    fn footprints_average_and_places_beyond_the_border_show_it() {
        let checks = photo([16, 16], |x, y| Vec3::splat(((x + y) % 2) as f32)).cover([16, 16], None, 1.0);
        assert!((checks.radiance(Vec2::new(0.4, 0.6), 4.0) - 0.5).abs().max_element() < 1e-6);
        let ramp = photo([16, 1], |x, _| Vec3::splat(x as f32)).cover([16, 1], None, 1.0);
        assert_eq!(ramp.radiance(Vec2::new(7.0, -3.0), 1.0).x, 15.0);
        assert_eq!(ramp.radiance(Vec2::new(-7.0, f32::NAN), 1.0).x, 0.0);
    }
}
