//! Images that scenes name: environment maps and textures.

use sessile_appearance::{ColorImage, Environment, ScaledTexture, Texture};

use crate::scratch;

/// A Radiance image as the environment.
pub fn hdr(data: &[u8]) {
    environment("map.hdr", data);
}

/// An OpenEXR image as the environment.
pub fn exr(data: &[u8]) {
    environment("map.exr", data);
}

fn environment(name: &str, data: &[u8]) {
    match Environment::open(&scratch::write(name, data), 1.0) {
        Ok(map) => {
            for direction in [glam::Vec3::X, glam::Vec3::Y, glam::Vec3::NEG_Z] {
                let radiance = map.radiance(direction);
                assert!(radiance.is_finite() && radiance.min_element() >= 0.0, "radiance {radiance}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A PNG or JPEG as a texture.
pub fn texture(data: &[u8]) {
    match ColorImage::read("solid `table`", &scratch::write("texture.png", data)) {
        Ok(image) => {
            let texture = ScaledTexture::new(Texture::Image(image.into()), glam::Vec2::ONE);
            let color = texture.at(glam::Vec2::splat(0.3));
            assert!(color.is_finite(), "color {color}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
