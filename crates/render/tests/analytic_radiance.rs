//! Scenes whose radiance is known: what the path tracer finds must be that, to half a percent, and no light is ever made.

mod common;

use common::{cap, liquid, look, mean, rectangle};
use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe};
use sessile_render::RenderSceneBuilder;

fn clear_water() -> LiquidMaterial {
    LiquidMaterial::Clear { index: 1.333, absorption: Vec3::ZERO }
}

fn painted(color: Vec3, specular: SpecularLobe, alpha: f32, through: f32) -> Material {
    Material::Opaque(BsdfParameters {
        color: ScaledTexture::constant(color),
        alpha,
        specular,
        transmittance: Vec3::splat(through),
        porosity: 0.0,
    })
}

fn floor() -> sessile_geometry::TriMesh {
    rectangle(DVec3::ZERO, 0.1 * DVec3::X, -0.1 * DVec3::Z)
}

/// A matte plane under an even sky sends out albedo times the sky's radiance.
#[test]
fn a_matte_plane_under_an_even_sky_has_its_albedo() {
    let albedo = Vec3::new(0.8, 0.5, 0.18);
    let sky = Vec3::new(0.7, 1.0, 2.0);
    let mut builder = RenderSceneBuilder::new(Environment::constant(sky), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &painted(albedo, SpecularLobe::None, 1.0, 0.0), false, None);
    let camera = Camera::new(DVec3::new(0.0, 0.02, 0.02), DVec3::ZERO, 0.3);
    let found = mean(&look(&builder.build(), &camera, 8, 4));
    assert!(((found - albedo * sky) / (albedo * sky)).abs().max_element() < 1e-4, "{found}");
}

/// A white ball of any make cannot be seen in a white furnace, and light that passes a drop of clear water keeps its strength.
#[test]
fn white_things_and_clear_things_vanish_in_a_furnace() {
    let ball = cap(DVec3::ZERO, 1e-3, std::f64::consts::PI, 24);
    let camera = Camera::new(DVec3::new(0.0, 1e-3, 8e-3), DVec3::ZERO, 0.3);
    let white = Vec3::ONE;
    let materials = [
        painted(white, SpecularLobe::None, 1.0, 0.0),
        painted(white, SpecularLobe::Dielectric(1.5), 0.1, 0.0),
        painted(white, SpecularLobe::Conductor, 0.4, 0.0),
        painted(white, SpecularLobe::Dielectric(1.4), 0.3, 0.4),
        Material::Glass { index: 1.5 },
    ];
    for (i, material) in materials.iter().enumerate() {
        let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
        builder.solid(&ball, |_| DVec3::ZERO, material, true, None);
        let found = mean(&look(&builder.build(), &camera, 24, 64));
        assert!((found - white).abs().max_element() < 5e-3, "material {i}: {found}");
    }
    let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
    builder.liquid(&liquid(&ball));
    let found = mean(&look(&builder.build(), &camera, 24, 64));
    assert!((found - white).abs().max_element() < 5e-3, "a drop of water: {found}");
}

/// A drop on a white plane vanishes too: water touches its solid, and no light is lost where they meet.
#[test]
fn a_drop_on_white_ground_vanishes_in_a_furnace() {
    let white = Vec3::ONE;
    let mut builder = RenderSceneBuilder::new(Environment::constant(white), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &painted(white, SpecularLobe::None, 1.0, 0.0), false, None);
    builder.liquid(&liquid(&cap(DVec3::new(0.0, -0.5e-3, 0.0), 1e-3, std::f64::consts::FRAC_PI_3, 24)));
    let camera = Camera::new(DVec3::new(0.0, 4e-3, 4e-3), DVec3::ZERO, 0.35);
    let image = look(&builder.build(), &camera, 32, 256);
    let found = mean(&image);
    // Every path that the depth bound cuts is light lost; there is no other loss.
    assert!((found - white).abs().max_element() < 5e-3, "{found}");
    // No dark ring: not at the contact line either.
    let darkest = image.color.iter().map(|c| c.x).fold(f32::INFINITY, f32::min);
    assert!(darkest > 0.8, "the darkest pixel has {darkest}");
    assert!(image.drop.contains(&1) && image.drop.contains(&-1));
}

/// Light from a small lamp on a facing matte plane: E = L A cos θ cos θ'/r².
#[test]
fn a_lamp_and_the_sun_light_a_plane_to_their_irradiance() {
    for sun in [false, true] {
        let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ZERO), clear_water(), 0.0);
        builder.solid(&floor(), |_| DVec3::ZERO, &painted(Vec3::splat(0.5), SpecularLobe::None, 1.0, 0.0), false, None);
        let expected = if sun {
            builder.sun(DVec3::new(0.0, 1.0, 1.0), 0.01, Vec3::splat(2.0));
            2.0 * std::f32::consts::FRAC_1_SQRT_2 * 0.5 / std::f32::consts::PI
        } else {
            builder.area_light(DVec3::new(0.0, 1.0, 0.0), DVec3::ZERO, 0.01, Vec3::splat(1e4));
            1e4 * 1e-4 * 0.5 / std::f32::consts::PI
        };
        let camera = Camera::new(DVec3::new(0.0, 0.02, 0.02), DVec3::ZERO, 0.05);
        let found = mean(&look(&builder.build(), &camera, 8, 16)).x;
        assert!((found / expected - 1.0).abs() < 5e-3, "sun {sun}: {found} against {expected}");
    }
}

/// Lights of no size, nothing at all, an eye in a drop and corners that are no numbers: a picture all the same.
#[test]
fn odd_stages_give_finite_pictures() {
    let sky = Vec3::splat(0.5);
    let empty = RenderSceneBuilder::new(Environment::constant(sky), clear_water(), 0.0).build();
    let camera = Camera::new(DVec3::Z, DVec3::ZERO, 0.6);
    let image = look(&empty, &camera, 4, 2);
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
    let image = look(&builder.build(), &inside, 8, 4);
    assert!(image.color.iter().all(|c| c.is_finite() && c.max_element() <= 1.0), "{:?}", mean(&image));
    assert!(look(&empty, &camera, 0, 1).color.is_empty());
}

/// The eye in a ball of water sees the even sky.
#[test]
fn an_eye_in_a_drop_sees_out() {
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), clear_water(), 0.0);
    builder.liquid(&liquid(&cap(DVec3::ZERO, 1e-3, std::f64::consts::PI, 24)));
    let camera = Camera::new(DVec3::new(1e-4, 2e-4, 0.0), DVec3::ZERO, 1.0);
    let found = mean(&look(&builder.build(), &camera, 16, 16));
    assert!((found - Vec3::ONE).abs().max_element() < 5e-3, "{found}");
}

/// Textures by image or procedure show where their coordinates say.
#[test]
fn a_checker_shows_its_two_colors_in_equal_parts() {
    let checks = sessile_appearance::Texture::Checker(Vec3::ONE, Vec3::ZERO);
    let color = ScaledTexture { texture: checks, scale: Vec2::splat(40.0) };
    let parameters =
        BsdfParameters { color, alpha: 1.0, specular: SpecularLobe::None, transmittance: Vec3::ZERO, porosity: 0.0 };
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), clear_water(), 0.0);
    builder.solid(&floor(), |_| DVec3::ZERO, &Material::Opaque(parameters), false, None);
    let camera = Camera::new(DVec3::new(0.0, 0.05, 1e-9), DVec3::ZERO, 2.0 * (0.5_f64).atan());
    let found = mean(&look(&builder.build(), &camera, 100, 1)).x;
    assert!((found - 0.5).abs() < 0.02, "{found}");
}
