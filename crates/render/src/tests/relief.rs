//! Normal maps.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, ColorImage, Environment, LiquidMaterial, Material, Ray, ScaledTexture, SpecularLobe,
};
use sessile_geometry::TriMesh;

use super::common::render_square;
use crate::render_scene::{RenderScene, RenderSceneBuilder};

/// A level matte square with u along x and v along −z (both reversed if `mirrored`), under a sun
/// in a direction, with a normal map of one color.
fn scene(code: [u8; 3], towards_sun: DVec3, mirrored: bool) -> RenderScene {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("normals.png");
    let mut encoder = png::Encoder::new(std::fs::File::create(&file).unwrap(), 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&code).unwrap();
    let relief = Some(Arc::new(ColorImage::read_numbers("a test", &file).unwrap()));
    let color = ScaledTexture { relief, ..ScaledTexture::constant(Vec3::splat(0.5)) };
    let matte =
        BsdfParameters { color, alpha: 1.0, specular: SpecularLobe::None, transmittance: Vec3::ZERO, porosity: 0.0 };
    let corners = [(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)];
    let sign = if mirrored { -0.5 } else { 0.5 };
    let uv = |i: usize| DVec2::new(0.5 + sign * corners[i].0, 0.5 - 0.5 * corners[i].1);
    let square = TriMesh {
        positions: corners.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        corner_uvs: vec![[uv(0), uv(1), uv(2)], [uv(0), uv(2), uv(3)]],
    };
    let water = LiquidMaterial::Clear { index: 1.33, absorption: Vec3::ZERO };
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ZERO), water, 0.0);
    builder.solid(&square, |_| DVec3::ZERO, &Material::Opaque(matte), false, None);
    builder.sun(towards_sun, 0.5_f64.to_radians(), Vec3::ONE);
    builder.build()
}

/// The code of a normal.
fn code(normal: Vec3) -> [u8; 3] {
    (0.5 * normal + 0.5).to_array().map(|part| (255.0 * part).round() as u8)
}

#[test]
fn the_normal_leans_along_u_and_v_also_where_coordinates_are_mirrored() {
    let down = Ray { origin: Vec3::new(0.2, 1.0, 0.1), direction: Vec3::NEG_Y, time: 0.5, origin_triangle: None };
    let normal = |relief: Vec3, mirrored: bool| {
        let scene = scene(code(relief), DVec3::Y, mirrored);
        let hit = scene.intersect(&down, f32::INFINITY).unwrap();
        let at = scene.surface_interaction(&hit, 0.5);
        assert!(at.normal.distance(Vec3::Y) < 1e-6);
        at.shading_normal
    };
    let near = |found: Vec3, expected: Vec3| assert!(found.distance(expected) < 0.01, "{found}, not {expected}");
    near(normal(Vec3::new(0.6, 0.0, 0.8), false), Vec3::new(0.6, 0.8, 0.0));
    near(normal(Vec3::new(0.6, 0.0, 0.8), true), Vec3::new(-0.6, 0.8, 0.0));
    for mirrored in [false, true] {
        near(normal(Vec3::new(0.0, 0.6, 0.8), mirrored), Vec3::new(0.0, 0.8, -0.6));
        assert_eq!(normal(Vec3::Z, mirrored), Vec3::Y);
    }
}

/// Lambert's law: the square is as bright as one that is tilted to the sun.
#[test]
fn a_relief_is_lit_as_a_tilted_surface() {
    let brightness = |relief: Vec3, towards_sun: DVec3| {
        let camera = Camera::new(DVec3::new(0.0, 2.0, 1e-9), DVec3::ZERO, 0.4);
        let image = render_square(&scene(code(relief), towards_sun, false), &camera, 8, 64);
        image.color.iter().map(|color| color.x).sum::<f32>() / image.color.len() as f32
    };
    let sun = DVec3::new(0.6, 0.8, 0.0);
    let flat = brightness(Vec3::Z, sun);
    assert!((flat - 0.5 * 0.8 * std::f32::consts::FRAC_1_PI).abs() < 0.003, "{flat}");
    let leaning = brightness(Vec3::new(0.6, 0.0, 0.8), sun) / flat;
    let averted = brightness(Vec3::new(-0.6, 0.0, 0.8), sun) / flat;
    assert!((leaning - 1.25).abs() < 0.02 && (averted - 0.35).abs() < 0.02, "{leaning}, {averted}");
}
