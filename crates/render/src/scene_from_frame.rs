//! Builds the render scene of a frame.

use std::sync::Arc;

use glam::Vec3;
use sessile_appearance::{Backdrop, SceneAssets, encloses};
use sessile_frames::{Surface, WetMap};
use sessile_geometry::TriMesh;
use sessile_scene::types::Scene;
use sessile_world::World;

use crate::render_scene::{RenderScene, RenderSceneBuilder};

/// The render scene of a frame: `world` at the frame's time, the frame's liquid and wet maps, and
/// the time that the shutter is open, in s. `backdrop` was scaled to the image.
pub fn render_scene_of_frame(
    scene: &Scene,
    assets: &SceneAssets,
    backdrop: Option<Arc<Backdrop>>,
    world: &World,
    liquid: &Surface,
    wet: &[WetMap],
    shutter: f64,
) -> RenderScene {
    let (environment, materials) = (Arc::clone(&assets.environment), &assets.materials);
    let mut builder = RenderSceneBuilder::new(environment, materials.liquid().clone(), shutter);
    builder.backdrop(backdrop);
    for (index, (solid, material)) in world.solids().iter().zip(materials.solids()).enumerate() {
        let pose = solid.world_from_rest();
        let rest = solid.mesh();
        let mesh = TriMesh {
            positions: rest.positions.iter().map(|p| pose.apply(*p)).collect(),
            triangles: rest.triangles.clone(),
            corner_uvs: rest.corner_uvs.clone(),
        };
        let closed = encloses(solid, &mesh);
        let map = wet.iter().find(|map| map.solid == index);
        builder.solid(&mesh, |p| solid.velocity_at(p), material, closed, map);
    }
    builder.liquid(liquid);
    let rgb = |color: [f64; 3]| Vec3::from_array(color.map(|c| c as f32));
    for light in &scene.lights.area {
        builder.area_light(light.center, light.look_at, light.size, rgb(light.color));
    }
    if let Some(sun) = &scene.lights.sun {
        builder.sun(sun.direction, sun.angle, rgb(sun.color));
    }
    builder.build()
}

/// The render scene of the clean view of a frame: without drops, and without the films and streaks
/// that they left.
pub fn clean_render_scene(
    scene: &Scene,
    assets: &SceneAssets,
    backdrop: Option<Arc<Backdrop>>,
    world: &World,
    shutter: f64,
) -> RenderScene {
    render_scene_of_frame(scene, assets, backdrop, world, &Surface::default(), &[], shutter)
}
