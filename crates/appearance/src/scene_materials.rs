//! The materials of a scene's solids and liquid.

use std::sync::Arc;

use glam::{DVec3, Vec2};
use sessile_geometry::TriMesh;
use sessile_scene::types::{Scene, SolidShape, Texture as SceneTexture};
use sessile_world::Solid;

use crate::liquid_material::LiquidMaterial;
use crate::materials::{Material, built_in_texture};
use crate::textures::{ColorImage, Texture, TextureError};

/// Units of a built-in pattern along a solid's longer side.
const PATTERN: f64 = 16.0;

/// The looks of a scene's solids, read once for all frames.
#[derive(Clone, Debug)]
pub struct SceneMaterials {
    materials: Vec<Material>,
    liquid: LiquidMaterial,
}

impl SceneMaterials {
    /// Reads the images that the scene's solids use as textures.
    pub fn of(scene: &Scene) -> Result<Self, TextureError> {
        let materials = scene.solids.iter().map(|solid| {
            let texture = solid.texture.as_ref().map(|texture| match texture {
                SceneTexture::Pattern(pattern) => Ok(built_in_texture(*pattern, solid.look)),
                SceneTexture::Image(file) => ColorImage::read(&format!("solid `{}`", solid.name), file)
                    .map(|image| Texture::Image(Arc::new(image))),
            });
            Ok(Material::of(solid.look, texture.transpose()?, pattern(&solid.shape)))
        });
        let liquid = LiquidMaterial::of_preset(scene.liquid_preset.name, scene.liquid.refractive_index);
        Ok(Self { materials: materials.collect::<Result<_, TextureError>>()?, liquid })
    }

    /// The solids' materials, in the scene's order.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// How the liquid looks.
    pub fn liquid(&self) -> &LiquidMaterial {
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
