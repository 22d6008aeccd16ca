//! From a scene and one of its frames to a stage and its camera.

use std::sync::Arc;

use glam::Vec3;
use sessile_appearance::{Environment, SceneMaterials, encloses};
use sessile_frames::{Surface, WetMap};
use sessile_geometry::TriMesh;
use sessile_scene::types::Scene;
use sessile_world::World;

use crate::stage::{Stage, StageBuilder};

/// The stage of one frame: `world` at the frame's time, the frame's liquid and wet maps, and how long the shutter is open, in s.
pub fn stage_of_frame(
    scene: &Scene,
    looks: &SceneMaterials,
    world: &World,
    liquid: &Surface,
    wet: &[WetMap],
    environment: impl Into<Arc<Environment>>,
    shutter: f64,
) -> Stage {
    let mut builder = StageBuilder::new(environment, looks.liquid().clone(), shutter);
    for (index, (solid, material)) in world.solids().iter().zip(looks.materials()).enumerate() {
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
    for lamp in &scene.lights.area {
        builder.lamp(lamp.center, lamp.look_at, lamp.size, rgb(lamp.color));
    }
    if let Some(sun) = &scene.lights.sun {
        builder.sun(sun.direction, sun.angle, rgb(sun.color));
    }
    builder.build()
}

/// The stage of the clean view of a frame: without drops, and without the films and streaks that they left.
pub fn clean_stage_of_frame(
    scene: &Scene,
    looks: &SceneMaterials,
    world: &World,
    environment: impl Into<Arc<Environment>>,
    shutter: f64,
) -> Stage {
    stage_of_frame(scene, looks, world, &Surface::default(), &[], environment, shutter)
}
