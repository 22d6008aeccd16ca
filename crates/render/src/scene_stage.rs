//! From a scene and one of its frames to a stage and its camera.

use std::sync::Arc;

use glam::{DVec3, Vec2, Vec3};
use sessile_frames::{Surface, WetMap};
use sessile_geometry::TriMesh;
use sessile_scene::types::{Scene, SolidShape};
use sessile_world::{Solid, World};

use crate::environment::Environment;
use crate::liquid_look::LiquidLook;
use crate::materials::{Material, built_in_texture};
use crate::stage::{Stage, StageBuilder};
use crate::textures::{ColorImage, Texture, TextureError};

/// Units of a built-in pattern along a solid's longer side.
const PATTERN: f64 = 16.0;

/// The looks of a scene's solids, read once for all frames.
#[derive(Clone, Debug)]
pub struct Looks {
    materials: Vec<Material>,
    liquid: LiquidLook,
}

impl Looks {
    /// Reads the images that the scene's solids use as textures.
    pub fn of(scene: &Scene) -> Result<Self, TextureError> {
        let materials = scene.solids.iter().map(|solid| {
            let texture = solid.texture.as_ref().map(|texture| match texture {
                sessile_scene::Texture::Pattern(pattern) => Ok(built_in_texture(*pattern, solid.look)),
                sessile_scene::Texture::Image(file) => ColorImage::read(&format!("solid `{}`", solid.name), file)
                    .map(|image| Texture::Image(Arc::new(image))),
            });
            Ok(Material::of(solid.look, texture.transpose()?, pattern(&solid.shape)))
        });
        let liquid = LiquidLook::of_preset(scene.liquid_preset.name, scene.liquid.refractive_index);
        Ok(Self { materials: materials.collect::<Result<_, TextureError>>()?, liquid })
    }

    /// The solids' materials, in the scene's order.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// How the liquid looks.
    pub fn liquid(&self) -> &LiquidLook {
        &self.liquid
    }
}

/// How many units of a pattern lie along u and v, so that its squares are square.
fn pattern(shape: &SolidShape) -> Vec2 {
    let sides = match shape {
        SolidShape::Plane { size, .. } => *size,
        // u runs across a leaf and v along it.
        SolidShape::Leaf { size, .. } => [size[1], size[0]],
        SolidShape::Sphere { .. } => [2.0, 1.0],
        SolidShape::Cylinder { from, to, radius, .. } => [std::f64::consts::TAU * radius, from.distance(*to)],
        SolidShape::Box { .. } | SolidShape::Mesh { .. } => [1.0, 1.0],
    };
    let unit = sides[0].max(sides[1]) / PATTERN;
    if unit > 0.0 && unit.is_finite() {
        Vec2::new((sides[0] / unit) as f32, (sides[1] / unit) as f32)
    } else {
        Vec2::ONE
    }
}

/// The stage of one frame: `world` at the frame's time, the frame's liquid and wet maps, and how long the shutter is open, in s.
pub fn stage_of_frame(
    scene: &Scene,
    looks: &Looks,
    world: &World,
    liquid: &Surface,
    wet: &[WetMap],
    environment: impl Into<Arc<Environment>>,
    shutter: f64,
) -> Stage {
    let mut builder = StageBuilder::new(environment, looks.liquid.clone(), shutter);
    for (index, (solid, material)) in world.solids().iter().zip(&looks.materials).enumerate() {
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
    looks: &Looks,
    world: &World,
    environment: impl Into<Arc<Environment>>,
    shutter: f64,
) -> Stage {
    stage_of_frame(scene, looks, world, &Surface::default(), &[], environment, shutter)
}

/// Whether a solid, whose mesh is given, has an inside; a plane or a leaf is a sheet to the eye.
pub fn encloses(solid: &Solid, mesh: &TriMesh) -> bool {
    let open = matches!(solid.scene().shape, SolidShape::Plane { .. } | SolidShape::Leaf { .. });
    !open && is_closed(mesh)
}

/// Whether every edge of a mesh has a face on both sides.
fn is_closed(mesh: &TriMesh) -> bool {
    let mut edges: Vec<[u32; 2]> = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    let place = |v: u32| mesh.positions.get(v as usize).copied().unwrap_or(DVec3::NAN);
    // Where meshes double vertices along seams of texture coordinates, places decide; an enclosed volume is the sign of that.
    edges.iter().all(|&[a, b]| edges.binary_search(&[b, a]).is_ok() || place(a) == place(b)) && mesh.volume() > 0.0
}
