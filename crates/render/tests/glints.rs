//! Glints: small lights in drops that are smaller than a pixel.

use crate::common::{cap, liquid, rectangle};
use glam::{DVec3, Vec3};
use sessile_appearance::{Camera, Environment, LiquidMaterial, Material};
use sessile_render::{ImageSettings, RenderScene, RenderSceneBuilder, render_image};

const RADIUS: f64 = 1e-4;
const DISTANCE: f64 = 0.5;

/// Width of a pixel, in radii of the drop.
const PIXEL: f64 = 2.5;

fn dark() -> RenderSceneBuilder {
    RenderSceneBuilder::new(Environment::constant(Vec3::ZERO), LiquidMaterial::water(), 0.0)
}

fn sphere() -> sessile_geometry::TriMesh {
    cap(DVec3::ZERO, RADIUS, std::f64::consts::PI, 24)
}

/// Sum of the pixels of an image of `size` × `size` pixels, with the drop in its middle.
fn light(scene: &RenderScene, size: usize, samples: u32, seed: u32) -> f64 {
    let fov = 2.0 * (0.5 * PIXEL * RADIUS * size as f64 / DISTANCE).atan();
    let camera = Camera::new(DISTANCE * DVec3::Z, DVec3::ZERO, fov);
    let settings = ImageSettings { size: [size; 2], samples, photons: 0, seed, ..ImageSettings::default() };
    let (image, _) = render_image(scene, &camera, &settings, &|_, _| ());
    image.color.iter().map(|color| f64::from(color.x)).sum()
}

/// Mean of images of 64 samples, and their standard deviation relative to it.
fn of_images(scene: &RenderScene, size: usize, count: u32) -> (f64, f64) {
    let sums: Vec<f64> = (0..count).map(|seed| light(scene, size, 64, seed)).collect();
    let mean = sums.iter().sum::<f64>() / f64::from(count);
    let variance = sums.iter().map(|sum| (sum / mean - 1.0).powi(2)).sum::<f64>() / f64::from(count);
    (mean, variance.sqrt())
}

/// A sphere of radius `a` reflects parallel light of irradiance `E` evenly into all directions: its
/// intensity is `E R a²/4`. At 90° to the light only reflection at the outside contributes, apart
/// from two internal reflections (about 2 %).
#[test]
fn the_sun_glints_in_a_drop_smaller_than_a_pixel_with_its_exact_intensity() {
    let mut builder = dark();
    builder.liquid(&liquid(&sphere()));
    builder.sun(DVec3::X, 0.53_f64.to_radians(), Vec3::ONE);
    let (mean, spread) = of_images(&builder.build(), 6, 32);
    let intensity = mean * (PIXEL * RADIUS).powi(2);
    // Water at an incidence of 45°.
    let expected = 0.0279 * RADIUS * RADIUS / 4.0;
    println!("{} of the intensity, each image within {spread:.2}", intensity / expected);
    // Eight samples of an image find the glint: 35 % noise, 6 % in the mean of all.
    assert!((intensity / expected - 1.0).abs() < 0.2, "{} of the intensity", intensity / expected);
    assert!(spread < 0.7, "images differ by {spread}");
}

/// Adds drops and solids to a scene.
type Build<'a> = &'a dyn Fn(&mut RenderSceneBuilder);

/// Suns that are refracted and reflected by drops and glass, directly and through a sheet, against
/// an image of so many samples that they find the light by chance.
#[test]
fn refracted_and_reflected_suns_in_drops_and_glass_match_a_reference_of_a_million_samples() {
    let pane = || rectangle(DVec3::ZERO, DVec3::X, DVec3::Y);
    let clear = Material::Glass { index: 1.5, tint: Vec3::ONE };
    let still = |_| DVec3::ZERO;
    let degrees = |from_behind: f64| {
        let (sin, cos) = from_behind.to_radians().sin_cos();
        DVec3::new(sin, 0.0, -cos)
    };
    let mut drop_on_pane = cap(DVec3::ZERO, RADIUS, std::f64::consts::FRAC_PI_2, 16);
    drop_on_pane.positions.iter_mut().for_each(|p| *p = DVec3::new(p.x, -p.z, p.y));
    let mut behind_the_pane = drop_on_pane.clone();
    behind_the_pane.positions.iter_mut().for_each(|p| *p = DVec3::new(-p.x, p.y, -p.z));
    let cases: [(&str, DVec3, Build<'_>); 5] = [
        ("the sun behind a drop", degrees(25.0), &|b| b.liquid(&liquid(&sphere()))),
        // Away from rainbows, at 138° in water and at 93° and 157° in glass.
        ("reflected inside a drop", degrees(165.0), &|b| b.liquid(&liquid(&sphere()))),
        ("reflected by a glass ball", degrees(125.0), &|b| b.solid(&sphere(), still, &clear, true, None)),
        ("behind a drop on a pane", degrees(30.0), &|b| {
            b.solid(&pane(), still, &clear, false, None);
            b.liquid(&liquid(&drop_on_pane));
        }),
        ("behind a drop on the far side of a pane", degrees(30.0), &|b| {
            b.solid(&pane(), still, &clear, false, None);
            b.liquid(&liquid(&behind_the_pane));
        }),
    ];
    for (what, towards, build) in cases {
        // Paths find a sun of five degrees a hundred times as often.
        let scene = |degrees: f64| {
            let mut builder = dark();
            build(&mut builder);
            builder.sun(towards, degrees.to_radians(), Vec3::ONE);
            builder.build()
        };
        let reference = light(&scene(5.0), 1, 1 << 20, 77);
        let (mean, spread) = of_images(&scene(0.53), 1, 3000);
        println!("{what}: {:.3} of {reference:.3e}, each image within {spread:.2}", mean / reference);
        assert!((mean / reference - 1.0).abs() < 0.1, "{what}: {} of the reference", mean / reference);
        // By chance one image in some hundreds would show the sun.
        assert!(spread < 5.0, "{what}: images differ by {spread}");
    }
}
