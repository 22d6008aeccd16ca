//! Meshes as renderers want them: with normals and texture coordinates, and liquid that meets its solids as light does.
//!
//! **On opaque ground** the liquid's faces on the solid are left out and a skirt goes on from its rim into the solid, as in our own pictures ([`skirt_triangles`]): light
//! in the liquid meets the ground itself, with no film of air between. **On glass** the whole closed surface is kept, lifted off by a hair: through a thin
//! pane light leaves the liquid as into air, and two interfaces in one place would be left to chance.

use std::collections::BTreeMap;

use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{creased_normals, skirt_triangles, smooth_normals};
use sessile_frames::Surface;
use sessile_geometry::TriMesh;
use sessile_world::World;

use crate::formats::placed_mesh;
use crate::looks::SceneLooks;

/// How far liquid is lifted off glass, as a share of the drop's extent.
const HAIR: f64 = 1e-4;

/// A mesh with normals, and with texture coordinates if there are any.
#[derive(Clone, Debug, Default)]
pub struct DrawnMesh {
    /// Positions, in m.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, v up; empty, or one per vertex.
    pub uvs: Vec<Vec2>,
    /// Vertex indices.
    pub triangles: Vec<[u32; 3]>,
}

/// The liquid of a frame among the solids of that moment.
pub fn liquid(surface: &Surface, looks: &SceneLooks, world: &World) -> DrawnMesh {
    let clear = |solid: i32| {
        usize::try_from(solid).ok().and_then(|i| looks.solids.get(i)).is_some_and(crate::looks::SolidLook::is_clear)
    };
    let lifted = lifted(surface, &clear);
    let mut mesh = DrawnMesh::default();
    let free: Vec<[u32; 3]> = chosen(surface, |solid| solid < 0);
    append(&mut mesh, &lifted, &free);
    let on_glass: Vec<[u32; 3]> = chosen(surface, clear);
    append(&mut mesh, &lifted, &on_glass);
    let ground = world.solids().iter().flat_map(|solid| {
        let placed = placed_mesh(solid);
        (0..placed.triangles.len()).map(move |t| placed.corners(t)).collect::<Vec<_>>()
    });
    let normals = smooth_normals(&surface.positions, &free);
    for strip in skirt_triangles(surface, |solid| solid >= 0 && !clear(solid), ground) {
        let base = mesh.positions.len() as u32;
        mesh.positions.extend(strip.corners.map(DVec3::as_vec3));
        mesh.normals.extend(strip.vertices.map(|v| normals[v as usize].try_normalize().unwrap_or(Vec3::Y)));
        mesh.triangles.push([base, base + 1, base + 2]);
    }
    mesh
}

fn chosen(surface: &Surface, wanted: impl Fn(i32) -> bool) -> Vec<[u32; 3]> {
    let faces = surface.triangles.iter().zip(&surface.solids);
    faces.filter(|(_, solid)| wanted(**solid)).map(|(triangle, _)| *triangle).collect()
}

/// Positions, drops that lie on glass moved out of it by a hair.
fn lifted(surface: &Surface, clear: &impl Fn(i32) -> bool) -> Vec<DVec3> {
    // Per drop: area vector of its faces on glass (into the glass), and its bounds.
    let mut drops: BTreeMap<u32, (DVec3, [DVec3; 2])> = BTreeMap::new();
    for (triangle, solid) in surface.triangles.iter().zip(&surface.solids) {
        let [a, b, c] = triangle.map(|v| surface.positions[v as usize]);
        let start = (DVec3::ZERO, [DVec3::INFINITY, DVec3::NEG_INFINITY]);
        let (area, bounds) = drops.entry(surface.drops[triangle[0] as usize]).or_insert(start);
        *bounds = [bounds[0].min(a).min(b).min(c), bounds[1].max(a).max(b).max(c)];
        if clear(*solid) {
            *area += (b - a).cross(c - a);
        }
    }
    let shift = |drop: &u32| {
        drops
            .get(drop)
            .map_or(DVec3::ZERO, |(area, [low, high])| -area.normalize_or_zero() * HAIR * (*high - *low).max_element())
    };
    let mut last = (None, DVec3::ZERO);
    surface
        .positions
        .iter()
        .zip(&surface.drops)
        .map(|(position, drop)| {
            if last.0 != Some(*drop) {
                last = (Some(*drop), shift(drop));
            }
            *position + last.1
        })
        .collect()
}

/// Adds triangles with normals that are smooth among them; their vertices are their own.
fn append(mesh: &mut DrawnMesh, positions: &[DVec3], triangles: &[[u32; 3]]) {
    let normals = smooth_normals(positions, triangles);
    let mut numbers = vec![u32::MAX; positions.len()];
    for triangle in triangles {
        let own = triangle.map(|v| {
            let v = v as usize;
            if numbers[v] == u32::MAX {
                numbers[v] = mesh.positions.len() as u32;
                mesh.positions.push(positions[v].as_vec3());
                mesh.normals.push(normals[v].try_normalize().unwrap_or(Vec3::Y));
            }
            numbers[v]
        });
        mesh.triangles.push(own);
    }
}

/// A solid's mesh with normals that follow its creases; corners are not shared.
pub fn solid(mesh: &TriMesh) -> DrawnMesh {
    let count = mesh.triangles.len();
    DrawnMesh {
        positions: (0..count).flat_map(|t| mesh.corners(t)).map(DVec3::as_vec3).collect(),
        normals: creased_normals(mesh).into_iter().flatten().map(|n| n.try_normalize().unwrap_or(Vec3::Y)).collect(),
        uvs: mesh.corner_uvs.iter().flatten().map(|uv| uv.as_vec2()).collect(),
        triangles: (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    }
}

impl DrawnMesh {
    /// The mesh as a binary PLY with normals and texture coordinates; `flip` turns v over for programs that count it from the top.
    pub fn ply(&self, flip: bool) -> Vec<u8> {
        let has_uvs = self.uvs.len() == self.positions.len() && !self.uvs.is_empty();
        let mut header = format!("ply\nformat binary_little_endian 1.0\nelement vertex {}\n", self.positions.len());
        for name in ["x", "y", "z", "nx", "ny", "nz"]
            .into_iter()
            .chain(if has_uvs { &["u", "v"][..] } else { &[] }.iter().copied())
        {
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
                for value in [uv.x, if flip { 1.0 - uv.y } else { uv.y }] {
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
