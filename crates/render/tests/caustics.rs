//! Caustics by photons: the same light as path tracing alone, with less noise.

use crate::common;
use crate::common::{cap, liquid, rectangle};
use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LatLong, LiquidMaterial, Material, ScaledTexture, SpecularLobe,
};
use sessile_render::Framebuffer;
use sessile_render::{ImageSettings, render_image};
use sessile_render::{RenderScene, RenderSceneBuilder};

fn clear_water() -> LiquidMaterial {
    LiquidMaterial::Clear { index: 1.333, absorption: Vec3::new(40.0, 10.0, 0.0) }
}

fn opaque(albedo: f32, specular: SpecularLobe, alpha: f32, transmittance: f32) -> Material {
    let color = ScaledTexture::constant(Vec3::splat(albedo));
    Material::Opaque(BsdfParameters {
        color,
        alpha,
        specular,
        transmittance: Vec3::splat(transmittance),
        porosity: 0.0,
    })
}

fn hemisphere() -> sessile_frames::Surface {
    liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::FRAC_PI_2, 24))
}

fn drop_on(substrate: &Material, environment: Environment) -> RenderSceneBuilder {
    let mut builder = RenderSceneBuilder::new(environment, clear_water(), 0.0);
    let floor = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&floor, |_| DVec3::ZERO, substrate, false, None);
    builder.liquid(&hemisphere());
    builder
}

fn above() -> Camera {
    Camera::new(DVec3::new(0.0, 4e-3, 5e-3), DVec3::new(0.0, 0.0, 0.3e-3), 0.55)
}

fn image(scene: &RenderScene, camera: &Camera, samples: u32, photons: u32) -> Framebuffer {
    let mut settings = ImageSettings { size: [32, 32], samples, photons, ..ImageSettings::default() };
    // Depths of photons and of camera paths are counted separately: only without a limit do both
    // carry the same light.
    settings.paths.max_depth = 40;
    render_image(scene, camera, &settings, &|_, _| ()).0
}

/// Means of an image and of its quarters.
fn means(image: &Framebuffer) -> Vec<f64> {
    let part = |keep: &dyn Fn(usize, usize) -> bool| {
        let kept = (0..image.color.len()).filter(|i| keep(i % image.width, i / image.width));
        let (sum, count) = kept.fold((0.0, 0.0), |(s, n), i| (s + f64::from(image.color[i].element_sum()), n + 1.0));
        sum / count
    };
    let [w, h] = [image.width / 2, image.height / 2];
    vec![
        part(&|_, _| true),
        part(&|x, y| x < w && y < h),
        part(&|x, y| x >= w && y < h),
        part(&|x, y| x < w && y >= h),
        part(&|x, y| x >= w && y >= h),
    ]
}

/// Photons against path tracing alone: the whole to 0.5 %, quarters to 1.5 %, which is the noise of
/// the latter.
fn agree(what: &str, scene: &RenderScene, camera: &Camera, samples: u32, photons: u32) {
    let plain = means(&image(scene, camera, samples, 0));
    let with_photons = means(&image(scene, camera, 64, photons));
    for (i, (plain, with_photons)) in plain.iter().zip(&with_photons).enumerate() {
        let off = with_photons / plain - 1.0;
        assert!(off.abs() < if i == 0 { 5e-3 } else { 1.5e-2 }, "{what}, part {i}: {with_photons} against {plain}");
    }
    let without = image(scene, camera, 4, 1 << 12).color;
    assert!(without.iter().all(|c| c.is_finite() && c.min_element() >= 0.0));
}

#[test]
fn photons_carry_the_light_of_a_large_area_light() {
    let substrates = [
        ("matte", opaque(0.6, SpecularLobe::None, 1.0, 0.0)),
        ("smooth coat", opaque(0.6, SpecularLobe::Dielectric(1.5), 0.05, 0.0)),
        ("rough coat", opaque(0.6, SpecularLobe::Dielectric(1.5), 0.4, 0.0)),
        ("metal", opaque(0.6, SpecularLobe::Conductor, 0.3, 0.0)),
    ];
    for (name, substrate) in &substrates {
        let mut builder = drop_on(substrate, Environment::constant(Vec3::splat(0.05)));
        builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
        agree(name, &builder.build(), &above(), 512, 1 << 16);
    }
}

#[test]
fn photons_carry_the_light_of_a_wide_sun_and_of_a_bright_spot_in_the_environment() {
    let substrate = opaque(0.6, SpecularLobe::None, 1.0, 0.0);
    let mut builder = drop_on(&substrate, Environment::constant(Vec3::splat(0.1)));
    builder.sun(DVec3::new(0.5, 1.0, -0.6), 0.5, Vec3::splat(2.0));
    agree("sun", &builder.build(), &above(), 1024, 1 << 16);
    // A window in a dim environment: its light lies above the ceiling, the rest below.
    let (width, height) = (64, 32);
    let rows = (0..width * height).map(|i| {
        let (x, y) = (i % width, i / width);
        if (8..14).contains(&x) && (6..10).contains(&y) { Vec3::new(9.0, 8.0, 6.0) } else { Vec3::splat(0.2) }
    });
    let sky = Environment::from_lat_long(LatLong::new(width, height, rows.collect()).unwrap(), 1.0);
    agree("sky", &drop_on(&substrate, sky).build(), &above(), 2048, 1 << 16);
}

/// A leaf lit from above and seen from below; and a drop on a sheet between an area light and a
/// card.
#[test]
fn photons_pass_leaves_and_wet_sheets() {
    let leaf = opaque(0.7, SpecularLobe::None, 1.0, 0.5);
    let mut builder = drop_on(&leaf, Environment::constant(Vec3::splat(0.05)));
    builder.area_light(DVec3::new(1e-3, 5e-3, -1e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    let below = Camera::new(DVec3::new(0.0, -5e-3, 3e-3), DVec3::ZERO, 0.55);
    agree("leaf", &builder.build(), &below, 1024, 1 << 16);

    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 0.0);
    let pane = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&pane, |_| DVec3::ZERO, &Material::glass(1.5), false, None);
    let card = rectangle(DVec3::Y * 3e-3, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&card, |_| DVec3::ZERO, &opaque(0.7, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&hemisphere());
    builder.area_light(DVec3::new(1e-3, -5e-3, 1e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    let side_view = Camera::new(DVec3::new(0.0, 1.5e-3, 5e-3), DVec3::new(0.0, 2.5e-3, 0.0), 0.8);
    agree("pane", &builder.build(), &side_view, 2048, 1 << 16);
}

/// A drop on a slab of glass over a card: light passes water, glass and air.
#[test]
fn photons_pass_a_wet_slab_of_glass() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 0.0);
    let slab = common::slab(DVec3::new(-4e-3, -1e-3, -4e-3), DVec3::new(4e-3, 0.0, 4e-3));
    builder.solid(&slab, |_| DVec3::ZERO, &Material::glass(1.5), true, None);
    let card = rectangle(DVec3::Y * -2e-3, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&card, |_| DVec3::ZERO, &opaque(0.7, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&hemisphere());
    builder.area_light(DVec3::new(2e-3, 6e-3, -2e-3), DVec3::ZERO, 5e-3, Vec3::splat(5.0));
    // Photons are spread over the whole slab: with a quarter as many, their blur at its border
    // reaches 2 %.
    agree("slab", &builder.build(), &above(), 2048, 1 << 18);
}

/// While the shutter is open the drop and its caustic move by its radius.
#[test]
fn photons_follow_a_moving_drop() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 1.0);
    let floor = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&floor, |_| DVec3::ZERO, &opaque(0.6, SpecularLobe::None, 1.0, 0.0), false, None);
    let mut drop = hemisphere();
    drop.velocities.fill(DVec3::X * 1e-3);
    builder.liquid(&drop);
    builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    agree("moving", &builder.build(), &above(), 1024, 1 << 16);
}

/// BSDF sampling rarely hits the sun's disc: at equal samples photons have a fraction of the noise.
#[test]
fn photons_reduce_the_noise_of_the_suns_caustic_to_a_fifth() {
    let substrate = Material::of(sessile_scene::Look::Wood, None, Vec2::splat(8.0));
    let mut builder = drop_on(&substrate, Environment::constant(Vec3::splat(0.1)));
    builder.sun(DVec3::new(0.7, 1.0, -0.7), 0.009, Vec3::splat(2.0));
    let scene = builder.build();
    let reference = image(&scene, &above(), 256, 1 << 19);
    // The glint of the sun, which is no caustic, is a point that glints blur by three distances
    // between samples: 3/4 of a pixel with 16 samples, a fifth with the reference's 256. It differs
    // in its own pixel and those around it, with photons and without.
    let brightest = |a: &usize, b: &usize| reference.color[*a].x.total_cmp(&reference.color[*b].x);
    let glint = (0..reference.color.len()).max_by(brightest).unwrap();
    let place = |at: usize| (at % reference.width, at / reference.width);
    let near_glint = |at: usize| {
        let ((x, y), (glint_x, glint_y)) = (place(at), place(glint));
        x.abs_diff(glint_x) <= 1 && y.abs_diff(glint_y) <= 1
    };
    let error = |photons: u32| {
        let made = image(&scene, &above(), 16, photons);
        let kept = (0..reference.color.len()).filter(|&at| !near_glint(at));
        let squares = kept.map(|at| f64::from((made.color[at] - reference.color[at]).length_squared()));
        (squares.sum::<f64>() / reference.color.len() as f64).sqrt()
    };
    let (plain, with_photons) = (error(0), error(1 << 17));
    assert!(with_photons < 0.2 * plain, "error {with_photons} with photons, {plain} without");
}

#[test]
fn photon_maps_do_not_depend_on_the_number_of_threads() {
    let mut builder = drop_on(&opaque(0.6, SpecularLobe::None, 1.0, 0.0), Environment::studio(1.0));
    builder.sun(DVec3::new(0.7, 1.0, -0.7), 0.009, Vec3::splat(2.0));
    let scene = builder.build();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| image(&scene, &above(), 16, 1 << 14))
    };
    assert!(on(1) == on(3));
}

/// An image with adaptive sampling has the same mean as one without.
#[test]
fn adaptive_sampling_is_unbiased() {
    for photons in [0, 1 << 16] {
        let mut builder = drop_on(&opaque(0.6, SpecularLobe::None, 1.0, 0.0), Environment::constant(Vec3::splat(0.2)));
        builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 1e-3, Vec3::splat(40.0));
        let scene = builder.build();
        let make = |samples: u32, noise: f32, seed: u32| {
            let settings = ImageSettings { size: [96, 96], samples, photons, noise, seed, ..ImageSettings::default() };
            render_image(&scene, &above(), &settings, &|_, _| ())
        };
        let (whole, _) = make(256, 0.0, 7);
        // Several images, because one alone would show its own noise.
        let (mut light, mut paths) = (0.0, 0);
        for seed in 0..4 {
            let (stopped, cost) = make(256, 0.008, seed);
            light += means(&stopped)[0] / 4.0;
            paths += cost.paths / 4;
        }
        let off = light / means(&whole)[0] - 1.0;
        assert!(off.abs() < 5e-3, "{photons} photons: light off by {:.2} %", 100.0 * off);
        assert!(paths < 96 * 96 * 200, "{paths} paths: nothing stopped early");
    }
}
