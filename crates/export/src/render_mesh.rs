//! Meshes for renderers: with normals and texture coordinates, and with correct interfaces between
//! liquid and solids.
//!
//! **On opaque solids** the liquid's faces on the solid are removed, and a skirt continues the
//! surface from the contact line into the solid ([`skirt_triangles`]): light in the liquid reaches
//! the solid directly, without a layer of air in between. **On glass** the closed surface is kept
//! and lifted by a small gap: light leaves the liquid into air before it passes the thin pane, and
//! two coincident interfaces would be resolved at random.

use std::collections::BTreeMap;

use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{creased_normals, skirt_triangles, smooth_normals};
use sessile_frames::Surface;
use sessile_geometry::TriMesh;
use sessile_numerics::OptionalIndex;
use sessile_world::World;

use crate::formats::world_mesh;
use crate::materials::{ExportMaterials, SolidMaterial};
use crate::render_assets::TextureV;

/// Gap between liquid and glass, as a fraction of the drop's extent.
const GLASS_GAP: f64 = 1e-4;

/// A mesh with normals and optional texture coordinates.
#[derive(Clone, Debug, Default)]
pub struct RenderMesh {
    /// Vertex positions, in m.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, v up; empty, or one per vertex.
    pub uvs: Vec<Vec2>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// The liquid of a frame, prepared for its contact with the solids of `world`.
pub fn liquid_mesh(surface: &Surface, materials: &ExportMaterials, world: &World) -> RenderMesh {
    let is_glass = |solid: i32| {
        let material = usize::try_from(solid).ok().and_then(|i| materials.solids.get(i));
        material.is_some_and(SolidMaterial::is_transparent)
    };
    let positions = lifted_off_glass(surface, &is_glass);
    let mut mesh = RenderMesh::default();
    let free: Vec<[u32; 3]> = triangles_on(surface, |solid| solid < 0);
    append(&mut mesh, &positions, &free);
    let on_glass: Vec<[u32; 3]> = triangles_on(surface, is_glass);
    append(&mut mesh, &positions, &on_glass);
    let solid_triangles = world.solids().iter().flat_map(|solid| {
        let placed = world_mesh(solid);
        (0..placed.triangles.len()).map(move |t| placed.corners(t)).collect::<Vec<_>>()
    });
    let normals = smooth_normals(&surface.positions, &free);
    for triangle in skirt_triangles(surface, |solid| solid >= 0 && !is_glass(solid), solid_triangles) {
        let base = mesh.positions.len() as u32;
        mesh.positions.extend(triangle.corners.map(DVec3::as_vec3));
        mesh.normals.extend(triangle.vertices.map(|v| unit_normal(normals[v as usize])));
        mesh.triangles.push([base, base + 1, base + 2]);
    }
    mesh
}

/// A solid's mesh with normals that keep its creases sharp; corners are not shared.
pub fn solid_mesh(mesh: &TriMesh) -> RenderMesh {
    let count = mesh.triangles.len();
    RenderMesh {
        positions: (0..count).flat_map(|t| mesh.corners(t)).map(DVec3::as_vec3).collect(),
        normals: creased_normals(mesh).into_iter().flatten().map(unit_normal).collect(),
        uvs: mesh.corner_uvs.iter().flatten().map(|uv| uv.as_vec2()).collect(),
        triangles: (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    }
}

/// The normal at unit length; upwards where it vanishes, since file formats demand a normal
/// everywhere.
pub fn unit_normal(normal: Vec3) -> Vec3 {
    normal.try_normalize().unwrap_or(Vec3::Y)
}

fn triangles_on(surface: &Surface, is_wanted: impl Fn(i32) -> bool) -> Vec<[u32; 3]> {
    let faces = surface.triangles.iter().zip(&surface.solids);
    faces.filter(|(_, solid)| is_wanted(**solid)).map(|(triangle, _)| *triangle).collect()
}

/// Vertex positions, with drops on glass moved away from it by [`GLASS_GAP`].
fn lifted_off_glass(surface: &Surface, is_glass: &impl Fn(i32) -> bool) -> Vec<DVec3> {
    // Per drop: area vector of its faces on glass (pointing into the glass), and its bounding box.
    let mut drops: BTreeMap<u32, (DVec3, [DVec3; 2])> = BTreeMap::new();
    for (triangle, solid) in surface.triangles.iter().zip(&surface.solids) {
        let [a, b, c] = triangle.map(|v| surface.positions[v as usize]);
        let start = (DVec3::ZERO, [DVec3::INFINITY, DVec3::NEG_INFINITY]);
        let (area, bounds) = drops.entry(surface.drops[triangle[0] as usize]).or_insert(start);
        *bounds = [bounds[0].min(a).min(b).min(c), bounds[1].max(a).max(b).max(c)];
        if is_glass(*solid) {
            *area += (b - a).cross(c - a);
        }
    }
    let shift = |drop: &u32| {
        drops.get(drop).map_or(DVec3::ZERO, |(area, [low, high])| {
            -area.normalize_or_zero() * GLASS_GAP * (*high - *low).max_element()
        })
    };
    let mut last = (None, DVec3::ZERO);
    let vertices = surface.positions.iter().zip(&surface.drops);
    vertices
        .map(|(position, drop)| {
            if last.0 != Some(*drop) {
                last = (Some(*drop), shift(drop));
            }
            *position + last.1
        })
        .collect()
}

/// Adds triangles with their own vertices, whose normals are smooth among these triangles.
fn append(mesh: &mut RenderMesh, positions: &[DVec3], triangles: &[[u32; 3]]) {
    let normals = smooth_normals(positions, triangles);
    let mut new_index = vec![OptionalIndex::NONE; positions.len()];
    for triangle in triangles {
        let own = triangle.map(|v| {
            let v = v as usize;
            new_index[v].get_or_insert_with(|| {
                mesh.positions.push(positions[v].as_vec3());
                mesh.normals.push(unit_normal(normals[v]));
                mesh.positions.len() as u32 - 1
            })
        });
        mesh.triangles.push(own);
    }
}

impl RenderMesh {
    /// The mesh as a binary PLY file with normals and texture coordinates.
    pub fn ply(&self, texture_v: TextureV) -> Vec<u8> {
        let has_uvs = self.uvs.len() == self.positions.len() && !self.uvs.is_empty();
        let mut header = format!("ply\nformat binary_little_endian 1.0\nelement vertex {}\n", self.positions.len());
        let uv_names: &[&str] = if has_uvs { &["u", "v"] } else { &[] };
        for name in ["x", "y", "z", "nx", "ny", "nz"].iter().chain(uv_names) {
            header += &format!("property float {name}\n");
        }
        header +=
            &format!("element face {}\nproperty list uchar int vertex_indices\nend_header\n", self.triangles.len());
        let mut bytes = header.into_bytes();
        for (v, (p, n)) in self.positions.iter().zip(&self.normals).enumerate() {
            for value in p.to_array().into_iter().chain(n.to_array()) {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            if has_uvs {
                let uv = self.uvs[v];
                for value in [uv.x, if texture_v == TextureV::Down { 1.0 - uv.y } else { uv.y }] {
                    bytes.extend_from_slice(&value.to_le_bytes());
                }
            }
        }
        for triangle in &self.triangles {
            bytes.push(3);
            triangle.iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
        }
        bytes
    }
}
