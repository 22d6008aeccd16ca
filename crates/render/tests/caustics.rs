//! Light through drops by photons: the same light that plain paths find, only sooner.

mod common;

use common::{cap, liquid, rectangle};
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

fn painted(albedo: f32, specular: SpecularLobe, alpha: f32, through: f32) -> Material {
    let color = ScaledTexture::constant(Vec3::splat(albedo));
    Material::Opaque(BsdfParameters { color, alpha, specular, transmittance: Vec3::splat(through), porosity: 0.0 })
}

fn half_ball() -> sessile_frames::Surface {
    liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::FRAC_PI_2, 24))
}

fn drop_on(ground: &Material, environment: Environment) -> RenderSceneBuilder {
    let mut builder = RenderSceneBuilder::new(environment, clear_water(), 0.0);
    let floor = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&floor, |_| DVec3::ZERO, ground, false, None);
    builder.liquid(&half_ball());
    builder
}

fn above() -> Camera {
    Camera::new(DVec3::new(0.0, 4e-3, 5e-3), DVec3::new(0.0, 0.0, 0.3e-3), 0.55)
}

fn image(scene: &RenderScene, camera: &Camera, samples: u32, photons: u32) -> Framebuffer {
    let mut settings = ImageSettings { size: [32, 32], samples, photons, ..ImageSettings::default() };
    // Turns of photons and of paths are counted apart: only without a bound do both carry the same light.
    settings.paths.max_depth = 40;
    render_image(scene, camera, &settings, &|_, _| ()).0
}

/// Means of a picture and of its quarters.
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

/// Photons against plain paths: the whole to 0.5 %, quarters to 1.5 %, which the plain picture's noise allows.
fn agree(what: &str, scene: &RenderScene, camera: &Camera, samples: u32, photons: u32) {
    let plain = means(&image(scene, camera, samples, 0));
    let carried = means(&image(scene, camera, 64, photons));
    for (i, (plain, carried)) in plain.iter().zip(&carried).enumerate() {
        let off = carried / plain - 1.0;
        assert!(off.abs() < if i == 0 { 5e-3 } else { 1.5e-2 }, "{what}, part {i}: {carried} against {plain}");
    }
    let without = image(scene, camera, 4, 1 << 12).color;
    assert!(without.iter().all(|c| c.is_finite() && c.min_element() >= 0.0));
}

#[test]
fn photons_bring_the_light_of_a_large_lamp_that_paths_find() {
    let grounds = [
        ("matte", painted(0.6, SpecularLobe::None, 1.0, 0.0)),
        ("smooth coat", painted(0.6, SpecularLobe::Dielectric(1.5), 0.05, 0.0)),
        ("rough coat", painted(0.6, SpecularLobe::Dielectric(1.5), 0.4, 0.0)),
        ("metal", painted(0.6, SpecularLobe::Conductor, 0.3, 0.0)),
    ];
    for (name, ground) in &grounds {
        let mut builder = drop_on(ground, Environment::constant(Vec3::splat(0.05)));
        builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
        agree(name, &builder.build(), &above(), 512, 1 << 16);
    }
}

#[test]
fn photons_bring_the_light_of_a_wide_sun_and_of_a_bright_spot_in_the_sky() {
    let ground = painted(0.6, SpecularLobe::None, 1.0, 0.0);
    let mut builder = drop_on(&ground, Environment::constant(Vec3::splat(0.1)));
    builder.sun(DVec3::new(0.5, 1.0, -0.6), 0.5, Vec3::splat(2.0));
    agree("sun", &builder.build(), &above(), 1024, 1 << 16);
    // A window in a dim sky: its light lies above the ceiling, the rest below.
    let (width, height) = (64, 32);
    let rows = (0..width * height).map(|i| {
        let (x, y) = (i % width, i / width);
        if (8..14).contains(&x) && (6..10).contains(&y) { Vec3::new(9.0, 8.0, 6.0) } else { Vec3::splat(0.2) }
    });
    let sky = Environment::from_lat_long(LatLong::new(width, height, rows.collect()).unwrap(), 1.0);
    agree("sky", &drop_on(&ground, sky).build(), &above(), 2048, 1 << 16);
}

/// A leaf lit from above and seen from below, and a drop between a lamp behind a pane and a card before it.
#[test]
fn photons_pass_leaves_and_wet_panes_as_paths_do() {
    let leaf = painted(0.7, SpecularLobe::None, 1.0, 0.5);
    let mut builder = drop_on(&leaf, Environment::constant(Vec3::splat(0.05)));
    builder.area_light(DVec3::new(1e-3, 5e-3, -1e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    let below = Camera::new(DVec3::new(0.0, -5e-3, 3e-3), DVec3::ZERO, 0.55);
    agree("leaf", &builder.build(), &below, 1024, 1 << 16);

    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 0.0);
    let pane = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&pane, |_| DVec3::ZERO, &Material::Glass { index: 1.5 }, false, None);
    let card = rectangle(DVec3::Y * 3e-3, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&card, |_| DVec3::ZERO, &painted(0.7, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&half_ball());
    builder.area_light(DVec3::new(1e-3, -5e-3, 1e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    let aside = Camera::new(DVec3::new(0.0, 1.5e-3, 5e-3), DVec3::new(0.0, 2.5e-3, 0.0), 0.8);
    agree("pane", &builder.build(), &aside, 2048, 1 << 16);
}

/// A drop on a slab of glass over a card: light passes water, glass and air.
#[test]
fn photons_pass_a_wet_slab_of_glass_as_paths_do() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 0.0);
    let slab = common::slab(DVec3::new(-4e-3, -1e-3, -4e-3), DVec3::new(4e-3, 0.0, 4e-3));
    builder.solid(&slab, |_| DVec3::ZERO, &Material::Glass { index: 1.5 }, true, None);
    let card = rectangle(DVec3::Y * -2e-3, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&card, |_| DVec3::ZERO, &painted(0.7, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&half_ball());
    builder.area_light(DVec3::new(2e-3, 6e-3, -2e-3), DVec3::ZERO, 5e-3, Vec3::splat(5.0));
    // Light is spread over the whole slab, and so are photons: with a quarter as many, their blur at its rim reaches 2 %.
    agree("slab", &builder.build(), &above(), 2048, 1 << 18);
}

/// While the shutter is open the drop moves by its radius; its light goes along.
#[test]
fn photons_of_a_moving_drop_land_as_its_paths_do() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.05)), clear_water(), 1.0);
    let floor = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&floor, |_| DVec3::ZERO, &painted(0.6, SpecularLobe::None, 1.0, 0.0), false, None);
    let mut drop = half_ball();
    drop.velocities.fill(DVec3::X * 1e-3);
    builder.liquid(&drop);
    builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 4e-3, Vec3::splat(5.0));
    agree("moving", &builder.build(), &above(), 1024, 1 << 16);
}

/// The sun's disc is a rare find for a plain path: at equal samples photons leave a small part of its noise.
#[test]
fn the_suns_caustic_has_a_fifth_of_the_noise_with_photons() {
    let ground = Material::of(sessile_scene::Look::Wood, None, Vec2::splat(8.0));
    let mut builder = drop_on(&ground, Environment::constant(Vec3::splat(0.1)));
    builder.sun(DVec3::new(0.7, 1.0, -0.7), 0.009, Vec3::splat(2.0));
    let scene = builder.build();
    let reference = image(&scene, &above(), 256, 1 << 19);
    let error = |photons: u32| {
        let made = image(&scene, &above(), 16, photons);
        let squares = made.color.iter().zip(&reference.color).map(|(a, b)| f64::from((*a - *b).length_squared()));
        (squares.sum::<f64>() / reference.color.len() as f64).sqrt()
    };
    let (plain, carried) = (error(0), error(1 << 17));
    assert!(carried < 0.2 * plain, "error {carried} with photons, {plain} without");
}

#[test]
fn photons_land_alike_for_any_number_of_threads() {
    let mut builder = drop_on(&painted(0.6, SpecularLobe::None, 1.0, 0.0), Environment::studio(1.0));
    builder.sun(DVec3::new(0.7, 1.0, -0.7), 0.009, Vec3::splat(2.0));
    let scene = builder.build();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| image(&scene, &above(), 16, 1 << 14))
    };
    assert!(on(1) == on(3));
}

/// A picture that puts its samples where they are needed has the mean of one that puts them everywhere.
#[test]
fn stopping_early_loses_no_light() {
    for photons in [0, 1 << 16] {
        let mut builder = drop_on(&painted(0.6, SpecularLobe::None, 1.0, 0.0), Environment::constant(Vec3::splat(0.2)));
        builder.area_light(DVec3::new(3e-3, 5e-3, -3e-3), DVec3::ZERO, 1e-3, Vec3::splat(40.0));
        let scene = builder.build();
        let make = |samples: u32, noise: f32, seed: u32| {
            let settings = ImageSettings { size: [96, 96], samples, photons, noise, seed, ..ImageSettings::default() };
            render_image(&scene, &above(), &settings, &|_, _| ())
        };
        let (whole, _) = make(256, 0.0, 7);
        // Several pictures: one alone would show its own noise.
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
