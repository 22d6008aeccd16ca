//! Scenes of many drops for benchmarks: a table in a studio, and a window in front of a sky.
//!
//! A surface of 160 × 90 mm fills the image. It carries drops on a jittered lattice that do not
//! touch; sizes and contact angles vary. Their surfaces are generated in the same way as those of
//! frames.

use glam::{DMat3, DVec2, DVec3, Vec2};
use sessile_appearance::{Camera, Environment, LiquidMaterial, Material, built_in_texture};
use sessile_frames::Surface;
use sessile_frames::instances::{InstanceError, surface_of};
use sessile_geometry::TriMesh;
use sessile_scene::{Look, TexturePattern};
use sessile_shapes::{Ball, Instance, LocalFrame, Shape};

use crate::render_scene::{RenderScene, RenderSceneBuilder};

/// What the drops lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substrate {
    /// A checkered table, seen from above.
    Table,
    /// A sheet of glass, seen frontally.
    Pane,
}

/// Sides of the surface, in m.
const SIDES: DVec2 = DVec2::new(0.16, 0.09);

/// Vertical field of view, in rad.
const FOV: f64 = 0.6;

/// The scene of the substrate, the liquid of about `count` drops on it, and the camera.
pub fn drop_lattice(substrate: Substrate, count: usize) -> Result<(RenderScene, Surface, Camera), InstanceError> {
    let (builder, liquid, camera) = lattice(substrate, count)?;
    Ok((builder.build(), liquid, camera))
}

/// The scene of the same substrate with the drops on it.
pub fn wet_drop_lattice(substrate: Substrate, count: usize) -> Result<RenderScene, InstanceError> {
    let (mut builder, liquid, _) = lattice(substrate, count)?;
    builder.liquid(&liquid);
    Ok(builder.build())
}

/// Drops on a pane in front of a city at night, 120 mm before a lens of 8 mm that is focused at
/// 2 m.
pub fn out_of_focus_pane(count: usize) -> Result<(RenderScene, Camera), InstanceError> {
    let (mut builder, liquid, camera) = lattice_in(Substrate::Pane, Environment::city(1.0), count)?;
    builder.liquid(&liquid);
    let eye = 0.12 * (camera.eye - camera.look_at).normalize();
    Ok((builder.build(), Camera { eye, lens_radius: 4e-3, focus: Some(2.0), ..camera }))
}

/// A camera with a lens, 25° above the table that `camera` sees from above: depths differ, and
/// drops hide drops.
pub fn slanting(camera: Camera) -> Camera {
    let distance = camera.eye.distance(camera.look_at);
    let eye = camera.look_at + distance * DVec3::new(0.0, 0.42, 0.91);
    Camera { eye, lens_radius: distance / 80.0, ..camera }
}

fn lattice(substrate: Substrate, count: usize) -> Result<(RenderSceneBuilder, Surface, Camera), InstanceError> {
    let environment = match substrate {
        Substrate::Table => Environment::studio(1.0),
        Substrate::Pane => Environment::sky(TOWARDS_SUN, 1.0),
    };
    lattice_in(substrate, environment, count)
}

fn lattice_in(
    substrate: Substrate,
    environment: Environment,
    count: usize,
) -> Result<(RenderSceneBuilder, Surface, Camera), InstanceError> {
    let (material, axes) = match substrate {
        Substrate::Table => {
            let material = Material::of(
                Look::Matte,
                Some(built_in_texture(TexturePattern::Checker, Look::Matte)),
                Vec2::new(16.0, 9.0),
            );
            // The outward normal y is the local z.
            (material, DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y))
        }
        Substrate::Pane => (Material::of(Look::Glass, None, Vec2::ONE), DMat3::IDENTITY),
    };
    let mut builder = RenderSceneBuilder::new(environment, LiquidMaterial::water(), 0.0);
    builder.solid(&rectangle(axes), |_| DVec3::ZERO, &material, false, None);
    let distance = 0.98 * 0.5 * SIDES.y / (0.5 * FOV).tan();
    let camera = Camera::new(distance * axes.z_axis - 0.02 * distance * axes.y_axis, DVec3::ZERO, FOV);
    Ok((builder, surface_of(&instances(axes, count))?, camera))
}

const TOWARDS_SUN: glam::Vec3 = glam::Vec3::new(0.5, 0.6, -0.6);

fn rectangle(axes: DMat3) -> TriMesh {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| DVec2::new(x, y));
    let place = |uv: DVec2| axes * ((uv - 0.5) * SIDES).extend(0.0);
    TriMesh {
        positions: corners.map(place).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        corner_uvs: vec![[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]],
    }
}

fn instances(axes: DMat3, count: usize) -> Vec<Instance> {
    let columns = ((count.max(1) as f64 * SIDES.x / SIDES.y).sqrt().round() as usize).max(1);
    let rows = count.max(1).div_ceil(columns);
    let spacing = (SIDES.x / columns as f64).min(SIDES.y / rows as f64);
    // Additive low-discrepancy sequences in [0, 1), one per use.
    let part = |i: usize, step: f64| ((i + 1) as f64 * step).fract();
    (0..count)
        .map(|i| {
            let cell = DVec2::new((i % columns) as f64, (i / columns) as f64) + 0.5;
            let jitter = 0.2 * (DVec2::new(part(i, 0.754_877_67), part(i, 0.569_840_29)) - 0.5);
            let at = (cell + jitter) * SIDES / DVec2::new(columns as f64, rows as f64) - 0.5 * SIDES;
            let base = spacing * (0.12 + 0.26 * part(i, 0.381_966_01).powi(2));
            let angle = 0.7 + 0.7 * part(i, 0.618_033_99);
            let radius = base / angle.sin();
            let cosine = angle.cos();
            let ball = Ball::ellipsoid(DVec3::NEG_Z * radius * cosine, DVec3::splat(radius));
            Instance {
                drop: i as u32 + 1,
                solid: Some(0),
                frame: LocalFrame { origin: axes * at.extend(0.0), axes },
                volume: std::f64::consts::PI / 3.0 * radius.powi(3) * (2.0 + cosine) * (1.0 - cosine).powi(2),
                velocity: DVec3::ZERO,
                shape: Shape::Metaballs(vec![ball]),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_drops_exist_and_lie_on_the_substrate() {
        for substrate in [Substrate::Table, Substrate::Pane] {
            let (scene, liquid, _) = drop_lattice(substrate, 300).unwrap();
            liquid.validate().unwrap();
            let ids: std::collections::BTreeSet<u32> = liquid.drops.iter().copied().collect();
            assert_eq!((ids.len(), scene.num_triangles()), (300, 2));
            assert!(liquid.solids.contains(&0));
        }
    }
}
