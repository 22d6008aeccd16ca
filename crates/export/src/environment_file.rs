//! The scene's environment as a latitude–longitude image in Radiance `.hdr` format.

use glam::Vec3;
use sessile_appearance::{AppearanceError, Environment};

use crate::error::ExportError;
use crate::job::Job;

/// Width of the largest image that is written, in pixels; wider environments are reduced.
const MAX_WIDTH: usize = 2048;

/// Writes the environment, scaled by its strength, to the exported file `name`; returns that name.
pub fn write_environment(job: &Job<'_>, name: &str) -> Result<String, ExportError> {
    let environment = Environment::from_lights(&job.source.scene.lights).map_err(AppearanceError::from)?;
    job.write_file(name, &radiance_file(&environment))?;
    Ok(name.to_owned())
}

fn radiance_file(environment: &Environment) -> Vec<u8> {
    let [width, height] = environment.size();
    let factor = width.div_ceil(MAX_WIDTH);
    let size = [(width / factor).max(8), (height / factor).max(4)];
    let mut bytes = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {} +X {}\n", size[1], size[0]).into_bytes();
    for row in 0..size[1] {
        for column in 0..size[0] {
            bytes.extend_from_slice(&rgbe(environment.radiance_at_pixel(column, row, size)));
        }
    }
    bytes
}

/// A color as three mantissas and their common exponent (Ward's RGBE).
fn rgbe(color: Vec3) -> [u8; 4] {
    let brightest = color.max_element();
    if brightest < 1e-32 {
        return [0; 4];
    }
    let exponent = brightest.log2().floor() as i32 + 1;
    let scale = 2_f32.powi(8 - exponent);
    // Rounded to nearest, so that the mean brightness is kept; a full mantissa stays below 256.
    let [r, g, b] = color.to_array().map(|c| (c * scale).round().min(255.0) as u8);
    [r, g, b, (exponent + 128) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rgbe_is_accurate_to_half_a_percent_of_the_brightest_channel() {
        for color in [Vec3::new(0.3, 0.2, 0.1), Vec3::splat(1.0), Vec3::new(4000.0, 0.0, 12.0), Vec3::splat(1e-4)] {
            let [r, g, b, e] = rgbe(color);
            let decoded = Vec3::new(f32::from(r), f32::from(g), f32::from(b)) * 2_f32.powi(i32::from(e) - 136);
            let error = (decoded - color).abs().max_element() / color.max_element();
            assert!(error < 0.004, "{color} is decoded as {decoded}");
        }
    }
}
