//! Scenes for measuring noise and accuracy: one that is also rendered with Mitsuba, and one with a
//! small sun.
//!
//! Lengths are in units of the drop's radius.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DVec2, DVec3, Vec2, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe, Texture,
};
use sessile_frames::Surface;
use sessile_geometry::TriMesh;

use crate::render_scene::{RenderScene, RenderSceneBuilder};

/// Rings and columns of the cap: 36 × 72 × 2 triangles less one ring of halves at the top, 5112 in
/// total.
const RINGS: u32 = 36;
const COLUMNS: u32 = 72;

/// A hemisphere of water on a checkerboard under a uniform environment and a small area light, and
/// the camera.
///
/// Mitsuba 3.9 takes 23 CPU seconds for 512² pixels at 256 samples, with a root mean square error
/// of 0.021 in linear radiance against 2048 samples.
pub fn drop_on_checks() -> (RenderScene, Camera) {
    let water = LiquidMaterial::Clear { index: 1.33, absorption: Vec3::ZERO };
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::new(0.35, 0.42, 0.5)), water, 0.0);
    let checks = Texture::Checker(Vec3::new(0.55, 0.5, 0.42), Vec3::new(0.25, 0.3, 0.36));
    let parameters = BsdfParameters {
        color: ScaledTexture::new(checks, Vec2::splat(40.0)),
        alpha: 1.0,
        specular: SpecularLobe::None,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    };
    builder.solid(&table(), |_| DVec3::ZERO, &Material::Opaque(parameters), false, None);
    builder.liquid(&hemisphere());
    builder.area_light(DVec3::new(3.0, 5.0, -2.0), DVec3::ZERO, 0.5, Vec3::splat(60.0));
    (builder.build(), camera())
}

/// A hemisphere of water on wood under a blue sky and a sun of half a degree.
pub fn drop_in_the_sun() -> (RenderScene, Camera) {
    let water = LiquidMaterial::Clear { index: 1.33, absorption: Vec3::ZERO };
    let towards_sun = DVec3::new(0.9, 1.1, -0.9);
    let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::new(0.2, 0.25, 0.33)), water, 0.0);
    let wood = Material::of(sessile_scene::Look::Wood, None, Vec2::splat(8.0));
    builder.solid(&table(), |_| DVec3::ZERO, &wood, false, None);
    builder.liquid(&hemisphere());
    builder.sun(towards_sun, 0.5_f64.to_radians(), Vec3::splat(2.5));
    (builder.build(), camera())
}

fn camera() -> Camera {
    Camera::new(DVec3::new(0.0, 3.2, 5.5), DVec3::new(0.0, 0.3, -0.1), 35.0_f64.to_radians())
}

fn table() -> TriMesh {
    let corners = [(-8.0, 8.0), (8.0, 8.0), (8.0, -8.0), (-8.0, -8.0)];
    let uv = |i: usize| DVec2::new(corners[i].0 / 16.0 + 0.5, 0.5 - corners[i].1 / 16.0);
    TriMesh {
        positions: corners.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        corner_uvs: vec![[uv(0), uv(1), uv(2)], [uv(0), uv(2), uv(3)]],
    }
}

fn hemisphere() -> Surface {
    let mut positions = vec![DVec3::Y];
    for i in 1..=RINGS {
        let (sin, cos) = (FRAC_PI_2 * f64::from(i) / f64::from(RINGS)).sin_cos();
        for j in 0..COLUMNS {
            let (s, c) = (TAU * f64::from(j) / f64::from(COLUMNS)).sin_cos();
            positions.push(DVec3::new(sin * s, if i == RINGS { 0.0 } else { cos }, sin * c));
        }
    }
    let vertex = |i: u32, j: u32| 1 + (i - 1) * COLUMNS + j % COLUMNS;
    let mut triangles = Vec::new();
    for j in 0..COLUMNS {
        triangles.push([0, vertex(1, j), vertex(1, j + 1)]);
        for i in 1..RINGS {
            let [a, b, c, d] = [vertex(i, j), vertex(i, j + 1), vertex(i + 1, j + 1), vertex(i + 1, j)];
            triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    let (count, faces) = (positions.len(), triangles.len());
    Surface {
        positions,
        velocities: vec![DVec3::ZERO; count],
        drops: vec![1; count],
        triangles,
        solids: vec![-1; faces],
    }
}
