//! A lat-long image of radiance, interpolated bilinearly, periodic in longitude.

use std::f32::consts::PI;

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::dir_of;

/// Maximum radiance, that of half floats; brighter pixels are a saturated sun.
const BRIGHTEST: f32 = 65504.0;

/// Linear RGB radiance over directions; see [`super::Environment`] for the orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct LatLong {
    width: usize,
    height: usize,
    pixels: Vec<Vec3>,
}

impl LatLong {
    /// An image from its rows, top first. `None` if it is empty or has the wrong number of pixels.
    pub fn new(width: usize, height: usize, pixels: Vec<Vec3>) -> Option<Self> {
        let fits = width > 0 && height > 0 && width.checked_mul(height) == Some(pixels.len());
        fits.then_some(Self { width, height, pixels })
    }

    /// Evaluates `radiance` at the direction of every pixel's center.
    pub(super) fn filled(width: usize, height: usize, radiance: impl Fn(Vec3) -> Vec3 + Sync) -> Self {
        let size = Vec2::new(width as f32, height as f32);
        let pixel = |index: usize| {
            let at = Vec2::new((index % width) as f32, (index / width) as f32);
            radiance(dir_of((at + 0.5) / size))
        };
        Self { width, height, pixels: (0..width * height).into_par_iter().map(pixel).collect() }
    }

    /// Modifies the pixels, rows from the top.
    pub(super) fn change(&mut self, paint: impl FnOnce(&mut [Vec3])) {
        paint(&mut self.pixels);
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Multiplies by a factor and makes every value finite and nonnegative.
    pub(super) fn sanitize(&mut self, factor: f32) {
        // NaN is not greater than zero either.
        let clean = |value: f32| if value > 0.0 { (value.min(BRIGHTEST) * factor).min(f32::MAX) } else { 0.0 };
        for pixel in &mut self.pixels {
            *pixel = Vec3::new(clean(pixel.x), clean(pixel.y), clean(pixel.z));
        }
    }

    fn pixel(&self, column: usize, row: usize) -> Vec3 {
        self.pixels[row * self.width + column]
    }

    /// The interpolated value at `uv`, both from 0 to 1.
    pub(super) fn at(&self, uv: Vec2) -> Vec3 {
        let x = uv.x * self.width as f32 - 0.5;
        let y = (uv.y * self.height as f32 - 0.5).clamp(0.0, (self.height - 1) as f32);
        let (left, top) = (x.floor(), y as usize);
        let (across, down) = (x - left, y - top as f32);
        let left = (left as i64).rem_euclid(self.width as i64) as usize;
        let right = if left + 1 == self.width { 0 } else { left + 1 };
        let bottom = (top + 1).min(self.height - 1);
        let upper = self.pixel(left, top).lerp(self.pixel(right, top), across);
        let lower = self.pixel(left, bottom).lerp(self.pixel(right, bottom), across);
        upper.lerp(lower, down)
    }

    /// The interpolated image averaged over one pixel: tent weights 1/8, 6/8, 1/8 in both
    /// directions.
    pub(super) fn mean_over_pixel(&self, column: usize, row: usize) -> Vec3 {
        let along = |row: usize| {
            let left = if column == 0 { self.width - 1 } else { column - 1 };
            let right = if column + 1 == self.width { 0 } else { column + 1 };
            self.pixel(column, row) * 0.75 + (self.pixel(left, row) + self.pixel(right, row)) * 0.125
        };
        along(row) * 0.75 + (along(row.saturating_sub(1)) + along((row + 1).min(self.height - 1))) * 0.125
    }

    /// Radiance integrated over all directions, in units of radiance · sr.
    pub(super) fn integral(&self) -> Vec3 {
        self.sum(|_| 1.0)
    }

    /// Irradiance on a surface that faces `normal`.
    pub(super) fn irradiance(&self, normal: Vec3) -> Vec3 {
        self.sum(|dir| dir.dot(normal).max(0.0))
    }

    fn sum(&self, weight: impl Fn(Vec3) -> f32) -> Vec3 {
        let mut total = glam::DVec3::ZERO;
        for row in 0..self.height {
            let edge = |row: usize| (PI * row as f32 / self.height as f32).cos();
            let solid_angle = 2.0 * PI / self.width as f32 * (edge(row) - edge(row + 1));
            for column in 0..self.width {
                let middle = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
                let dir = dir_of(middle / Vec2::new(self.width as f32, self.height as f32));
                total += (self.mean_over_pixel(column, row) * (weight(dir) * solid_angle)).as_dvec3();
            }
        }
        total.as_vec3()
    }
}
