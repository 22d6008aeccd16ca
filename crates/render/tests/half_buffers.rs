//! The two half buffers from which the denoiser estimates the noise.

use std::sync::atomic::AtomicBool;

use crate::common::{cap, liquid, rectangle};
use glam::{DVec3, Vec3};
use sessile_appearance::{Camera, Environment, LiquidMaterial, Material, ScaledTexture, Texture, luminance};
use sessile_render::{ImageSettings, RenderedImage, render_image_until};
use sessile_render::{RenderScene, RenderSceneBuilder};

/// A clear sphere over a gray checkerboard, in the studio.
fn sphere() -> RenderScene {
    let mut builder = RenderSceneBuilder::new(Environment::studio(1.0), LiquidMaterial::water(), 0.0);
    let mut material = Material::of(sessile_scene::Look::Matte, None, glam::Vec2::splat(8.0));
    if let Material::Opaque(parameters) = &mut material {
        parameters.color =
            ScaledTexture::new(Texture::Checker(Vec3::splat(0.6), Vec3::splat(0.2)), glam::Vec2::splat(8.0));
    }
    builder.solid(&rectangle(DVec3::ZERO, 8.0 * DVec3::X, -8.0 * DVec3::Z), |_| DVec3::ZERO, &material, false, None);
    builder.liquid(&liquid(&cap(1.2 * DVec3::Y, 1.0, std::f64::consts::PI, 24)));
    builder.build()
}

fn image(scene: &RenderScene, samples: u32, seed: u32, noise: f32) -> RenderedImage {
    let camera = Camera::new(DVec3::new(2.0, 3.0, 5.0), 0.8 * DVec3::Y, 0.6);
    let settings = ImageSettings { size: [48, 32], samples, seed, noise, ..ImageSettings::default() };
    render_image_until(scene, &camera, &settings, &AtomicBool::new(false), &|_, _| ()).unwrap()
}

#[test]
fn the_image_is_the_mean_of_its_halves() {
    let scene = sphere();
    for samples in [2, 3, 16] {
        let rendered = image(&scene, samples, 0, 0.0);
        let first = samples.div_ceil(2) as f32 / samples as f32;
        for (i, color) in rendered.image.color.iter().enumerate() {
            let mean = first * rendered.halves[0][i] + (1.0 - first) * rendered.halves[1][i];
            assert!((mean - *color).length() <= 1e-4 * (1.0 + color.length()), "{samples} samples: {mean} for {color}");
        }
    }
    assert!(image(&scene, 1, 0, 0.0).halves.iter().all(Vec::is_empty));
    let early = image(&scene, 64, 0, 0.02);
    assert!(early.halves.iter().flatten().all(|color| color.is_finite()), "tiles that stop early have halves too");
}

/// For independent halves a, b of equal size the mean's variance is that of (a − b)/2. Ours come
/// from one low-discrepancy sequence, so they are slightly correlated; the factor of 2 bounds by
/// how much.
#[test]
fn the_difference_of_the_halves_estimates_the_noise() {
    let scene = sphere();
    let toned = |color: Vec3| f64::from(luminance(color) / (1.0 + luminance(color)));
    let rendered = image(&scene, 16, 0, 0.0);
    let estimated: f64 =
        rendered.halves[0].iter().zip(&rendered.halves[1]).map(|(&a, &b)| 0.25 * (toned(a) - toned(b)).powi(2)).sum();
    let other = image(&scene, 16, 1, 0.0);
    // Two images of the same noise differ by twice its variance.
    let true_variance: f64 =
        rendered.image.color.iter().zip(&other.image.color).map(|(&a, &b)| 0.5 * (toned(a) - toned(b)).powi(2)).sum();
    let ratio = estimated / true_variance;
    assert!((0.5..2.0).contains(&ratio), "the halves tell {ratio} of the true variance");
}

#[test]
fn a_stopped_image_is_none() {
    let camera = Camera::new(5.0 * DVec3::Z, DVec3::ZERO, 0.6);
    let settings = ImageSettings { size: [16, 16], samples: 4, ..ImageSettings::default() };
    assert!(render_image_until(&sphere(), &camera, &settings, &AtomicBool::new(true), &|_, _| ()).is_none());
}
