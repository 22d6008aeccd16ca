//! Scenes with an analytic radiance, which the path tracer matches to half a percent.

use crate::common::{cap, liquid, mean, rectangle, render_square};
use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe};
use sessile_render::RenderSceneBuilder;

fn clear_water() -> LiquidMaterial {
    LiquidMaterial::Clear { index: 1.333, absorption: Vec3::ZERO }
}

fn opaque(color: Vec3, specular: SpecularLobe, alpha: f32, transmittance: f32) -> Material {
    Material::Opaque(BsdfParameters {
        color: ScaledTexture::constant(color),
        alpha,
        specular,
        transmittance: Vec3::splat(transmittance),
        porosity: 0.0,
    })
}

fn floor() -> sessile_geometry::TriMesh {
    rectangle(DVec3::ZERO, 0.1 * DVec3::X, -0.1 * DVec3::Z)
}

/// A diffuse plane under a uniform environment has the radiance albedo times that of the
/// environment.
#[test]
fn a_diffuse_plane_in_a_uniform_environment_shows_its_albedo() {
    let albedo = Vec3::new(0.8, 0.5, 0.18);
    let sky = Vec3::new(0.7, 1.0, 2.0);
    let mut builder = RenderSceneBuilder::new(Environment::constant(sky), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &opaque(albedo, SpecularLobe::None, 1.0, 0.0), false, None);
    let camera = Camera::new(DVec3::new(0.0, 0.02, 0.02), DVec3::ZERO, 0.3);
    let found = mean(&render_square(&builder.build(), &camera, 8, 4));
    assert!(((found - albedo * sky) / (albedo * sky)).abs().max_element() < 1e-4, "{found}");
}

/// White furnace test: white spheres of any material and clear drops are invisible.
#[test]
fn white_and_clear_objects_pass_the_furnace_test() {
    let ball = cap(DVec3::ZERO, 1e-3, std::f64::consts::PI, 24);
    let camera = Camera::new(DVec3::new(0.0, 1e-3, 8e-3), DVec3::ZERO, 0.3);
    let white = Vec3::ONE;
    let materials = [
        opaque(white, SpecularLobe::None, 1.0, 0.0),
        opaque(white, SpecularLobe::Dielectric(1.5), 0.1, 0.0),
        opaque(white, SpecularLobe::Conductor, 0.4, 0.0),
        opaque(white, SpecularLobe::Dielectric(1.4), 0.3, 0.4),
        opaque(white, SpecularLobe::Mixed { index: 1.5, metallic: 0.5 }, 0.5, 0.0),
        Material::glass(1.5),
    ];
    for (i, material) in materials.iter().enumerate() {
        let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
        builder.solid(&ball, |_| DVec3::ZERO, material, true, None);
        let found = mean(&render_square(&builder.build(), &camera, 24, 64));
        assert!((found - white).abs().max_element() < 5e-3, "material {i}: {found}");
    }
    let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
    builder.liquid(&liquid(&ball));
    let found = mean(&render_square(&builder.build(), &camera, 24, 64));
    assert!((found - white).abs().max_element() < 5e-3, "water drop: {found}");
}

/// A drop on a white plane is invisible too: there is no gap between them where light is lost.
#[test]
fn a_drop_on_a_white_plane_passes_the_furnace_test() {
    let white = Vec3::ONE;
    let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &opaque(white, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&liquid(&cap(DVec3::new(0.0, -0.5e-3, 0.0), 1e-3, std::f64::consts::FRAC_PI_3, 24)));
    let camera = Camera::new(DVec3::new(0.0, 4e-3, 4e-3), DVec3::ZERO, 0.35);
    let image = render_square(&builder.build(), &camera, 32, 256);
    let found = mean(&image);
    // Light is lost only where the depth limit ends a path.
    assert!((found - white).abs().max_element() < 5e-3, "{found}");
    // No dark ring at the contact line.
    let darkest = image.color.iter().map(|c| c.x).fold(f32::INFINITY, f32::min);
    assert!(darkest > 0.8, "the darkest pixel has {darkest}");
    assert!(image.drop.contains(&1) && image.drop.contains(&0));
}

/// Irradiance of a small area light on a facing diffuse plane: E = L A cos θ cos θ'/r².
#[test]
fn an_area_light_and_the_sun_have_their_analytic_irradiance() {
    for sun in [false, true] {
        let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ZERO), clear_water(), 0.0);
        builder.solid(&floor(), |_| DVec3::ZERO, &opaque(Vec3::splat(0.5), SpecularLobe::None, 1.0, 0.0), false, None);
        let expected = if sun {
            builder.sun(DVec3::new(0.0, 1.0, 1.0), 0.01, Vec3::splat(2.0));
            2.0 * std::f32::consts::FRAC_1_SQRT_2 * 0.5 / std::f32::consts::PI
        } else {
            builder.area_light(DVec3::new(0.0, 1.0, 0.0), DVec3::ZERO, 0.01, Vec3::splat(1e4));
            1e4 * 1e-4 * 0.5 / std::f32::consts::PI
        };
        let camera = Camera::new(DVec3::new(0.0, 0.02, 0.02), DVec3::ZERO, 0.05);
        let found = mean(&render_square(&builder.build(), &camera, 8, 16)).x;
        assert!((found / expected - 1.0).abs() < 5e-3, "sun {sun}: {found} against {expected}");
    }
}

/// Lights without area, empty scenes, a camera in a drop and non-finite vertices.
#[test]
fn degenerate_scenes_yield_finite_images() {
    let sky = Vec3::splat(0.5);
    let empty = RenderSceneBuilder::new(Environment::constant(sky), clear_water(), 0.0).build();
    let camera = Camera::new(DVec3::Z, DVec3::ZERO, 0.6);
    let image = render_square(&empty, &camera, 4, 2);
    assert!(image.color.iter().all(|c| (*c - sky).abs().max_element() < 1e-4));
    assert!(image.depth.iter().all(|d| d.is_infinite()) && image.normal.iter().all(|n| *n == Vec3::ZERO));

    let mut builder = RenderSceneBuilder::new(Environment::constant(sky), clear_water(), 1.0);
    let mut drop = liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::PI, 12));
    drop.positions[5] = DVec3::NAN;
    drop.triangles.push([0, 1, 90_000]);
    builder.liquid(&drop);
    builder.area_light(DVec3::Y, DVec3::ZERO, 0.0, Vec3::ONE);
    builder.area_light(DVec3::Y, DVec3::Y, 1.0, Vec3::ONE);
    builder.sun(DVec3::ZERO, 0.0, Vec3::ONE);
    let inside = Camera::new(DVec3::ZERO, DVec3::ZERO, 0.6);
    let image = render_square(&builder.build(), &inside, 8, 4);
    assert!(image.color.iter().all(|c| c.is_finite() && c.max_element() <= 1.0), "{:?}", mean(&image));
    assert!(render_square(&empty, &camera, 0, 1).color.is_empty());
}

/// A camera in a sphere of water sees the uniform environment.
#[test]
fn a_camera_in_a_drop_sees_out() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), clear_water(), 0.0);
    builder.liquid(&liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::PI, 24)));
    let camera = Camera::new(DVec3::new(1e-4, 2e-4, 0.0), DVec3::ZERO, 1.0);
    let found = mean(&render_square(&builder.build(), &camera, 16, 16));
    assert!((found - Vec3::ONE).abs().max_element() < 5e-3, "{found}");
}

/// Textures follow their coordinates.
#[test]
fn a_checkerboard_shows_both_colors_equally() {
    let checks = sessile_appearance::Texture::Checker(Vec3::ONE, Vec3::ZERO);
    let color = ScaledTexture::new(checks, Vec2::splat(40.0));
    let parameters =
        BsdfParameters { color, alpha: 1.0, specular: SpecularLobe::None, transmittance: Vec3::ZERO, porosity: 0.0 };
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &Material::Opaque(parameters), false, None);
    let camera = Camera::new(DVec3::new(0.0, 0.05, 1e-9), DVec3::ZERO, 2.0 * (0.5_f64).atan());
    let found = mean(&render_square(&builder.build(), &camera, 100, 1)).x;
    assert!((found - 0.5).abs() < 0.02, "{found}");
}
