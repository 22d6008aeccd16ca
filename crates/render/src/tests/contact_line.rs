//! Contact line, wet glass bodies, and motion blur.

use super::common::{cap, liquid, rectangle, render_square, slab};
use crate::fresnel::reflectance;
use crate::interfaces::Media;
use crate::path_integrator::{PathSettings, TraceContext, trace_path};
use crate::render_scene::RenderSceneBuilder;
use crate::sampler::Sampler;
use glam::{DVec3, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LatLong, LiquidMaterial, Material, Ray, ScaledTexture, SpecularLobe,
};

const WATER: f32 = 1.333;
const GLASS: f32 = 1.5;

fn clear_water() -> LiquidMaterial {
    LiquidMaterial::Clear { index: WATER, absorption: Vec3::ZERO }
}

fn matte(albedo: f32) -> BsdfParameters {
    let color = ScaledTexture::constant(Vec3::splat(albedo));
    BsdfParameters { color, alpha: 1.0, specular: SpecularLobe::None, transmittance: Vec3::ZERO, porosity: 0.0 }
}

/// White furnace test of a drop on a white plane for several contact angles: rings around the
/// contact line, each a fortieth of the base radius wide, are as bright as the rest.
#[test]
fn there_is_no_dark_ring_at_the_contact_line() {
    for degrees in [20.0_f64, 60.0, 90.0, 140.0] {
        let angle = degrees.to_radians();
        let radius = 1e-3 / if degrees > 90.0 { 1.0 } else { angle.sin() };
        let base = radius * angle.sin();
        let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), clear_water(), 0.0);
        let floor = rectangle(DVec3::ZERO, 0.1 * DVec3::X, -0.1 * DVec3::Z);
        builder.solid(&floor, |_| DVec3::ZERO, &Material::Opaque(matte(1.0)), false, None);
        builder.liquid(&liquid(&cap(-DVec3::Y * radius * angle.cos(), radius, angle, 32)));
        let scene = builder.build();
        // Straight down, so that each pixel has its own distance from the axis.
        let (distance, size) = (20e-3, 96);
        let camera = Camera::new(DVec3::new(0.0, distance, 1e-9), DVec3::ZERO, 2.0 * (1.3e-3 / distance).atan());
        let image = render_square(&scene, &camera, size, 64);
        let mut rings = vec![(0.0_f64, 0_u32); 52];
        for (i, color) in image.color.iter().enumerate() {
            let place = |n: usize| 1.3e-3 * (2.0 * (n as f64 + 0.5) / size as f64 - 1.0);
            let from_axis = place(i % size).hypot(place(i / size));
            if let Some(ring) = rings.get_mut((40.0 * from_axis / base) as usize) {
                *ring = (ring.0 + f64::from(color.x), ring.1 + 1);
            }
        }
        for (i, (sum, count)) in rings.iter().enumerate().skip(4) {
            let mean = sum / f64::from((*count).max(1));
            // The noise of a ring of a hundred pixels at 64 samples is 0.003.
            assert!(*count == 0 || (mean - 1.0).abs() < 0.015, "{degrees}°, {} of the base: {mean}", i as f64 / 40.0);
        }
    }
}

/// Reflectance of a stack of interfaces with all internal reflections, from their reflectances in
/// order.
fn stack(reflectances: &[f32]) -> f32 {
    reflectances
        .iter()
        .rev()
        .copied()
        .reduce(|behind, r| r + (1.0 - r).powi(2) * behind / (1.0 - r * behind))
        .unwrap_or(0.0)
}

/// A layer of water on a slab of glass has the transmittance of its three interfaces, from either
/// side.
#[test]
fn a_wet_slab_of_glass_has_the_transmittance_of_its_interfaces() {
    let (width, height) = (8, 256);
    let rows = (0..width * height).map(|i| if i / width >= height / 2 { Vec3::ONE } else { Vec3::ZERO });
    let below = Environment::from_lat_long(LatLong::new(width, height, rows.collect()).unwrap(), 1.0);
    let mut builder = RenderSceneBuilder::new(below, clear_water(), 0.0);
    let body = slab(DVec3::new(-0.2, -2e-3, -0.2), DVec3::new(0.2, 0.0, 0.2));
    builder.solid(&body, |_| DVec3::ZERO, &Material::glass(GLASS), true, None);
    builder.liquid(&liquid(&rectangle(DVec3::Y * 1e-3, 0.4 * DVec3::X, -0.4 * DVec3::Z)));
    let scene = builder.build();
    let paths = PathSettings { max_depth: 200, ..PathSettings::default() };
    for degrees in [0.0_f32, 30.0, 60.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let inside = |index: f32| (1.0 - (sin / index).powi(2)).sqrt();
        let faces = [
            reflectance(cos, 1.0 / WATER),
            reflectance(inside(WATER), WATER / GLASS),
            reflectance(inside(GLASS), GLASS),
        ];
        let passed = 1.0 - stack(&faces);
        for (side, expected) in [(1.0_f32, passed), (-1.0, 1.0 - passed)] {
            let origin = (DVec3::Y * f64::from(side) * 0.02 - scene.origin()).as_vec3();
            let direction = Vec3::new(sin, -side * cos, 0.0);
            let ray = Ray { origin, direction, time: 0.0, origin_triangle: None };
            let samples = 8192;
            let seen: f64 = (0..samples)
                .map(|i| {
                    trace_path(
                        TraceContext::without_caustics(&scene),
                        paths,
                        ray,
                        Media::default(),
                        0,
                        &mut Sampler::new(5, 0, i),
                    )
                })
                .map(|path| f64::from(path.color.x))
                .sum();
            let seen = seen / f64::from(samples);
            assert!((seen - f64::from(expected)).abs() < 5e-3, "{degrees}° from {side}: {seen} against {expected}");
        }
    }
}

/// A black sphere that moves by d while the shutter is open darkens a strip of 2r + d by as much
/// light as it hides at rest.
#[test]
fn a_moving_drop_is_motion_blurred_and_hides_the_same_light() {
    let (radius, distance_moved) = (1e-3, 2e-3);
    let darkness = |speed: f64| {
        let mut builder =
            RenderSceneBuilder::new(Environment::constant(Vec3::ONE), LiquidMaterial::Opaque(matte(0.0)), 0.5);
        let mut drop = liquid(&cap(DVec3::ZERO, radius, std::f64::consts::PI, 24));
        drop.velocities.fill(DVec3::X * speed);
        builder.liquid(&drop);
        let camera = Camera::new(DVec3::Z * 1.0, DVec3::ZERO, 2.0 * 4e-3_f64.atan());
        let image = render_square(&builder.build(), &camera, 80, 64);
        let columns: Vec<f32> =
            (0..80).map(|x| (0..80).map(|y| 1.0 - image.color[y * 80 + x].x).sum::<f32>()).collect();
        let wide = columns.iter().filter(|&&dark| dark > 0.05).count();
        (columns.iter().sum::<f32>(), wide)
    };
    // A pixel is 0.1 mm wide, and the frame's time is mid-shutter.
    let (still, still_width) = darkness(0.0);
    let (moving, moving_width) = darkness(distance_moved / 0.5);
    assert!((moving / still - 1.0).abs() < 0.01, "hides {moving} moving and {still} at rest");
    assert!((19..=21).contains(&still_width) && (39..=41).contains(&moving_width), "{still_width}, {moving_width}");
}
