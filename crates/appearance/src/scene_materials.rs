//! The materials of a scene's solids and liquid.

use std::path::PathBuf;
use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3};
use sessile_geometry::TriMesh;
use sessile_scene::types::{Scene, SolidShape, Texture as SceneTexture};
use sessile_world::Solid;

use crate::liquid_material::LiquidMaterial;
use crate::materials::{LookChanges, Material, built_in_texture};
use crate::srgb::decode;
use crate::textures::{ColorImage, Texture, TextureError};

/// Units of a built-in pattern along a solid's longer side.
const PATTERN_UNITS: f64 = 16.0;

/// The materials of a scene, loaded once for all frames.
#[derive(Clone, Debug)]
pub struct SceneMaterials {
    solids: Vec<Material>,
    liquid: LiquidMaterial,
}

impl SceneMaterials {
    /// Builds the materials and reads the texture images of the scene's solids.
    pub fn of(scene: &Scene) -> Result<Self, TextureError> {
        let solids = scene.solids.iter().map(|solid| {
            let texture = solid.texture.as_ref().map(|texture| match texture {
                SceneTexture::Pattern(pattern) => Ok(built_in_texture(*pattern, solid.look)),
                SceneTexture::Image(file) => ColorImage::read(&format!("solid `{}`", solid.name), file)
                    .map(|image| Texture::Image(Arc::new(image))),
            });
            let mut material = Material::of(solid.look, texture.transpose()?, pattern(&solid.shape));
            if let Material::Opaque(parameters) = &mut material {
                parameters.color.tiling = DVec2::from_array(solid.texture_tiling.0).as_vec2();
                parameters.color.rotation = solid.texture_rotation as f32;
                let read = |file: &PathBuf| ColorImage::read_numbers(&format!("solid `{}`", solid.name), file);
                parameters.color.relief = solid.normal_map.as_ref().map(read).transpose()?.map(Arc::new);
            }
            let color = solid.color.map(|color| Vec3::from_array(color.0.map(|channel| decode(channel as f32))));
            let (roughness, metallic) = (solid.roughness_look.map(|r| r as f32), solid.metallic.map(|m| m as f32));
            Ok(material.changed(&LookChanges { color, roughness, metallic }))
        });
        let liquid = LiquidMaterial::of(scene.liquid_preset.appearance, scene.liquid.refractive_index);
        Ok(Self { solids: solids.collect::<Result<_, TextureError>>()?, liquid })
    }

    /// The solids' materials, in the scene's order.
    pub fn solids(&self) -> &[Material] {
        &self.solids
    }

    /// The liquid's material.
    pub fn liquid(&self) -> &LiquidMaterial {
        &self.liquid
    }
}

/// Units of a pattern along u and v, so that its cells are square.
fn pattern(shape: &SolidShape) -> Vec2 {
    let sides = match shape {
        SolidShape::Plane { size, .. } => *size,
        // u is across a leaf and v along it.
        SolidShape::Leaf { size, .. } => [size[1], size[0]],
        SolidShape::Sphere { .. } => [2.0, 1.0],
        SolidShape::Cylinder { from, to, radius, .. } => [std::f64::consts::TAU * radius, from.distance(*to)],
        SolidShape::Box { .. } | SolidShape::Mesh { .. } => [1.0, 1.0],
    };
    let unit = sides[0].max(sides[1]) / PATTERN_UNITS;
    if unit > 0.0 && unit.is_finite() {
        Vec2::new((sides[0] / unit) as f32, (sides[1] / unit) as f32)
    } else {
        Vec2::ONE
    }
}

/// Whether a solid with this mesh has an interior; planes and leaves are sheets.
pub fn encloses(solid: &Solid, mesh: &TriMesh) -> bool {
    let open = matches!(solid.scene().shape, SolidShape::Plane { .. } | SolidShape::Leaf { .. });
    !open && is_closed(mesh)
}

/// Whether every edge of a mesh has a face on both sides.
fn is_closed(mesh: &TriMesh) -> bool {
    let mut edges: Vec<[u32; 2]> = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    let place = |v: u32| mesh.positions.get(v as usize).copied().unwrap_or(DVec3::NAN);
    // Meshes may duplicate vertices along texture seams; there positions decide, and a positive
    // volume.
    edges.iter().all(|&[a, b]| edges.binary_search(&[b, a]).is_ok() || place(a) == place(b)) && mesh.volume() > 0.0
}
