//! Refraction and reflection between water, glass and air, from either side.

use super::common::{cap, liquid, mean, rectangle, render_square};
use crate::fresnel::{reflectance, sheet_reflectance};
use crate::interfaces::{Media, SurfaceEvent, surface_event};
use crate::path_integrator::{PathSettings, TraceContext, trace_path};
use crate::render_scene::{RenderScene, RenderSceneBuilder};
use crate::sampler::Sampler;
use glam::{DVec3, Vec3};
use sessile_appearance::{Camera, Environment, LatLong, LiquidMaterial, Material, Ray};
use sessile_frames::Surface;

const WATER: f32 = 1.333;
const GLASS: f32 = 1.5;

fn clear_water() -> LiquidMaterial {
    LiquidMaterial::Clear { index: WATER, absorption: Vec3::ZERO }
}

/// Dark above, bright below (directions with y < 0).
fn bright_below() -> Environment {
    let (width, height) = (8, 256);
    let rows = (0..width * height).map(|i| if i / width >= height / 2 { Vec3::ONE } else { Vec3::ZERO });
    Environment::from_lat_long(LatLong::new(width, height, rows.collect()).unwrap(), 1.0)
}

/// A layer of water whose top is `height` above y = 0, and whose bottom lies on solid 0.
fn layer(height: f64) -> Surface {
    let side = 0.2;
    let top = rectangle(DVec3::Y * height, side * DVec3::X, -side * DVec3::Z);
    let bottom = rectangle(DVec3::ZERO, side * DVec3::X, side * DVec3::Z);
    let mut surface = liquid(&top);
    let shift = surface.positions.len() as u32;
    surface.positions.extend(&bottom.positions);
    surface.velocities.extend(vec![DVec3::ZERO; 4]);
    surface.drops.extend(vec![1; 4]);
    surface.triangles.extend(bottom.triangles.iter().map(|t| t.map(|v| v + shift)));
    surface.solids.extend([0, 0]);
    surface
}

fn sheet_with(environment: Environment, water: Option<&Surface>) -> RenderScene {
    let mut builder = RenderSceneBuilder::new(environment, clear_water(), 0.0);
    let pane = rectangle(DVec3::ZERO, 0.2 * DVec3::X, -0.2 * DVec3::Z);
    builder.solid(&pane, |_| DVec3::ZERO, &Material::glass(GLASS), false, None);
    if let Some(water) = water {
        builder.liquid(water);
    }
    builder.build()
}

/// Mean radiance along one ray.
fn along(scene: &RenderScene, origin: Vec3, direction: Vec3, samples: u32) -> f32 {
    let paths = PathSettings { max_depth: 200, ..PathSettings::default() };
    let ray = Ray { origin, direction: direction.normalize(), time: 0.0, origin_triangle: None };
    let sum: f64 = (0..samples)
        .map(|i| {
            f64::from(
                trace_path(
                    TraceContext::without_caustics(scene),
                    paths,
                    ray,
                    Media::default(),
                    0,
                    &mut Sampler::new(9, 0, i),
                )
                .color
                .x,
            )
        })
        .sum();
    (sum / f64::from(samples)) as f32
}

/// A dry sheet transmits 1 − 2R/(1 + R), from either side.
#[test]
fn a_dry_sheet_has_its_fresnel_transmittance() {
    let scene = sheet_with(bright_below(), None);
    for degrees in [0.0_f32, 30.0, 60.0, 80.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let expected = 1.0 - sheet_reflectance(cos, 1.0, GLASS, 1.0);
        let down = along(&scene, Vec3::new(0.0, 0.01, 0.0), Vec3::new(sin, -cos, 0.0), 4096);
        assert!((down - expected).abs() < 5e-3, "{degrees}° from above: {down} against {expected}");
        let up = along(&scene, Vec3::new(0.0, -0.01, 0.0), Vec3::new(sin, cos, 0.0), 4096);
        assert!((up - (1.0 - expected)).abs() < 5e-3, "{degrees}° from below: {up} against {}", 1.0 - expected);
    }
}

/// A flat layer of water on a sheet has T = T₁T₂/(1 − R₁R₂), with R₂ of water–glass–air, from above
/// and from below.
#[test]
fn a_layer_of_water_on_a_sheet_has_the_transmittance_of_its_interfaces() {
    let scene = sheet_with(bright_below(), Some(&layer(1e-3)));
    for degrees in [0.0_f32, 25.0, 50.0, 75.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let inside = (1.0 - (sin / WATER).powi(2)).sqrt();
        let first = reflectance(cos, 1.0 / WATER);
        let second = sheet_reflectance(inside, WATER, GLASS, 1.0);
        let expected = (1.0 - first) * (1.0 - second) / (1.0 - first * second);
        let origin = to_scene(&scene, DVec3::new(0.0, 0.01, 0.0));
        let down = along(&scene, origin, Vec3::new(sin, -cos, 0.0), 8192);
        assert!((down - expected).abs() < 5e-3, "{degrees}° from above: {down} against {expected}");
        let origin = to_scene(&scene, DVec3::new(0.0, -0.01, 0.0));
        let up = along(&scene, origin, Vec3::new(sin, cos, 0.0), 8192);
        assert!((up - (1.0 - expected)).abs() < 5e-3, "{degrees}° from below: {up} against {}", 1.0 - expected);
    }
}

fn to_scene(scene: &RenderScene, point: DVec3) -> Vec3 {
    (point - scene.origin()).as_vec3()
}

/// A sphere of water deflects a ray at impact parameter b by 2 (θᵢ − θₜ), sin θᵢ = b/R = n sin θₜ.
#[test]
fn a_drop_deflects_rays_by_snells_law() {
    let radius = 1e-3;
    let mut builder = RenderSceneBuilder::new(step_environment(0.0), clear_water(), 0.0);
    builder.liquid(&liquid(&cap(DVec3::ZERO, radius, std::f64::consts::PI, 96)));
    let template = builder;
    for part in [0.2_f32, 0.5, 0.8] {
        let incident = part.asin();
        let expected = 2.0 * (incident - (part / WATER).asin());
        // The environment is bright below an elevation; bisection finds the ray's elevation.
        let (mut low, mut high) = (-std::f32::consts::FRAC_PI_2, std::f32::consts::FRAC_PI_2);
        for _ in 0..8 {
            let middle = 0.5 * (low + high);
            let scene = template.clone().with_environment(step_environment(middle)).build();
            let origin = to_scene(&scene, DVec3::new(f64::from(part) * radius, 0.0, 0.0)) + Vec3::Y * 5e-3;
            // Straight down, off the axis towards +x: deflected towards −x, so the elevation rises
            // from −90°.
            let seen = along(&scene, origin, -Vec3::Y, 64);
            if seen > 0.5 { high = middle } else { low = middle }
        }
        let found = 0.5 * (low + high) + std::f32::consts::FRAC_PI_2;
        assert!((found - expected).abs() < 0.02, "b = {part} R: deflected by {found} rad against {expected}");
    }
}

/// The same, interface by interface, to 0.5 %: the remaining error is that of interpolated normals.
#[test]
fn the_refracted_ray_through_a_drop_is_accurate_to_half_a_percent() {
    let radius = 1e-3;
    let mut builder = RenderSceneBuilder::new(step_environment(0.0), clear_water(), 0.0);
    builder.liquid(&liquid(&cap(DVec3::ZERO, radius, std::f64::consts::PI, 96)));
    let scene = builder.build();
    for part in [0.1_f32, 0.3, 0.5, 0.7, 0.9] {
        let expected = 2.0 * (part.asin() - (part / WATER).asin());
        let origin = to_scene(&scene, DVec3::new(f64::from(part) * radius, 5e-3, 0.0));
        let mut ray = Ray { origin, direction: -Vec3::Y, time: 0.0, origin_triangle: None };
        let mut media = Media::default();
        for _ in 0..2 {
            let hit = scene.intersect(&ray, f32::INFINITY).expect("the drop is in the way");
            let at = scene.surface_interaction(&hit, 0.0);
            let SurfaceEvent::Interface(interface) = surface_event(&scene, &media, ray.direction, &at, 0.0) else {
                panic!("water is clear")
            };
            let direction = interface.refracted.expect("no light is caught in a ball");
            ray = Ray { origin: at.point, direction, origin_triangle: Some(at.triangle), ..ray };
            media = interface.media[1];
        }
        assert!(media.is_air());
        let found = ray.direction.dot(-Vec3::Y).acos();
        assert!((found / expected - 1.0).abs() < 5e-3, "b = {part} R: deflected by {found} rad against {expected}");
        assert!(ray.direction.x < 0.0, "towards the axis");
    }
}

/// Bright where the elevation is below `elevation`, in rad.
fn step_environment(elevation: f32) -> Environment {
    let (width, height) = (8, 1024);
    let rows = (0..width * height).map(|i| {
        let polar = std::f32::consts::PI * ((i / width) as f32 + 0.5) / height as f32;
        if std::f32::consts::FRAC_PI_2 - polar < elevation { Vec3::ONE } else { Vec3::ZERO }
    });
    Environment::from_lat_long(LatLong::new(width, height, rows.collect()).unwrap(), 1.0)
}

/// From within water, no light of the environment is seen beyond the critical angle.
#[test]
fn a_water_surface_reflects_totally_beyond_the_critical_angle() {
    let mut builder = RenderSceneBuilder::new(step_environment(std::f32::consts::PI), clear_water(), 0.0);
    let floor = rectangle(DVec3::ZERO, 0.2 * DVec3::X, -0.2 * DVec3::Z);
    let black = Material::Opaque(sessile_appearance::BsdfParameters {
        color: sessile_appearance::ScaledTexture::constant(Vec3::ZERO),
        alpha: 1.0,
        specular: sessile_appearance::SpecularLobe::None,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    });
    builder.solid(&floor, |_| DVec3::ZERO, &black, false, None);
    builder.liquid(&layer(1e-3));
    let scene = builder.build();
    let paths = PathSettings::default();
    for (degrees, bright) in [(40.0_f32, true), (55.0, false)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let origin = to_scene(&scene, DVec3::new(0.0, 0.5e-3, 0.0));
        let ray = Ray { origin, direction: Vec3::new(sin, cos, 0.0), time: 0.0, origin_triangle: None };
        let media = Media::at(&scene, origin);
        let seen: f32 = (0..64)
            .map(|i| {
                trace_path(TraceContext::without_caustics(&scene), paths, ray, media, 0, &mut Sampler::new(1, 0, i))
                    .color
                    .x
            })
            .sum::<f32>()
            / 64.0;
        assert!(if bright { seen > 0.8 } else { seen == 0.0 }, "{degrees}°: {seen}");
    }
}

/// The image is bit-identical for any number of threads.
#[test]
fn the_image_does_not_depend_on_the_number_of_threads() {
    let image = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut builder = RenderSceneBuilder::new(Environment::studio(1.0), clear_water(), 0.0);
            let floor = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
            builder.solid(
                &floor,
                |_| DVec3::ZERO,
                &Material::of(sessile_scene::Look::Plastic, None, glam::Vec2::ONE),
                false,
                None,
            );
            builder.liquid(&liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::FRAC_PI_2, 16)));
            let camera = Camera::new(DVec3::new(0.0, 4e-3, 6e-3), DVec3::ZERO, 0.4);
            render_square(&builder.build(), &camera, 48, 8)
        })
    };
    let (one, two) = (image(1), image(2));
    assert!(mean(&one).min_element() > 0.01, "{}", mean(&one));
    assert!(one == two);
}
