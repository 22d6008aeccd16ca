//! Bokeh: lights and leaves out of focus as soft discs.
//!
//! In a photograph of drops the background is out of focus: every point of it becomes an image of
//! the aperture. Environments generated in this way look like photographs without depth of field in
//! the path tracer, which would need hundreds of samples for it; and a drop, which shows its
//! surroundings demagnified, shows the discs as points.

use glam::{Vec2, Vec3};

use super::{LatLong, dir_of, uv_of};

/// A disc on the sphere of directions.
pub(super) struct Disc {
    /// Direction of its center, unit length.
    pub towards: Vec3,
    /// Its angular radius, in rad.
    pub radius: f32,
    /// Its radiance.
    pub color: Vec3,
    /// Its opacity; 0 is a light that is added.
    pub cover: f32,
}

/// A direction from azimuth (0 at −z, positive to the right seen from inside, towards +x) and
/// elevation, in rad.
pub(super) fn towards(azimuth: f32, elevation: f32) -> Vec3 {
    let (sin, cos) = azimuth.sin_cos();
    Vec3::new(elevation.cos() * sin, elevation.sin(), -elevation.cos() * cos)
}

/// A deterministic pseudorandom generator.
pub(super) struct Numbers(u32);

impl Numbers {
    /// The generator of a seed.
    pub fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// The next number in [0, 1).
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let mut x = self.0;
        x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        x = (x ^ (x >> 15)).wrapping_mul(0x735a_2d97);
        ((x ^ (x >> 15)) >> 8) as f32 / 16_777_216.0
    }

    /// A number in `[low, high)`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    /// Approximately normal, mean 0, standard deviation 1.
    pub fn bell(&mut self) -> f32 {
        (self.next() + self.next() + self.next() + self.next() - 2.0) * 1.732
    }
}

/// Composites discs onto an image, in order.
pub(super) fn paint_discs(width: usize, height: usize, pixels: &mut [Vec3], discs: &[Disc]) {
    let size = Vec2::new(width as f32, height as f32);
    for disc in discs {
        let middle = uv_of(disc.towards);
        let reach = disc.radius / std::f32::consts::PI;
        let rows = (((middle.y - reach) * size.y).floor().max(0.0) as usize)
            ..(((middle.y + reach) * size.y).ceil().max(0.0) as usize).min(height);
        // A disc is wider in the image near a pole.
        let ring = (1.0 - disc.towards.y * disc.towards.y).sqrt();
        let half = (disc.radius / ring.max(disc.radius) / std::f32::consts::TAU * size.x * 1.3).ceil() as i64 + 1;
        let half = half.min(width as i64 / 2);
        let column = (middle.x * size.x) as i64;
        // An edge thinner than a pixel would alias.
        let softness = (1.6 * std::f32::consts::PI / size.y / disc.radius).max(0.16);
        for row in rows {
            for offset in -half..half {
                let x = (column + offset).rem_euclid(width as i64) as usize;
                let dir = dir_of((Vec2::new(x as f32, row as f32) + 0.5) / size);
                let angle = 2.0 * (0.5 * dir.distance(disc.towards)).min(1.0).asin();
                let weight = profile(angle / disc.radius, softness);
                if weight > 0.0 {
                    let pixel = &mut pixels[row * width + x];
                    *pixel = *pixel * (1.0 - disc.cover * weight.min(1.0)) + disc.color * weight;
                }
            }
        }
    }
}

/// A uniformly lit aperture, slightly brighter at its border as in most lenses, with a soft edge.
fn profile(part: f32, softness: f32) -> f32 {
    let edge = ((1.0 - part) / softness).clamp(0.0, 1.0);
    edge * edge * (3.0 - 2.0 * edge) * (0.9 + 0.2 * part.min(1.0).powi(4))
}

/// An image from a background and discs over it.
pub(super) fn with_discs(
    [width, height]: [usize; 2],
    background: impl Fn(Vec3) -> Vec3 + Sync,
    discs: &[Disc],
) -> LatLong {
    let mut image = LatLong::filled(width, height, background);
    image.change(|pixels| paint_discs(width, height, pixels, discs));
    image
}
