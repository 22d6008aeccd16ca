//! Materials, solids and the camera of a glTF file.

use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sessile_appearance::creased_normals;
use sessile_geometry::TriMesh;
use sessile_world::Pose;

use super::document::{Buffer, Document, VERTICES, bounds_of};
use crate::error::ExportError;
use crate::materials::{ExportMaterials, SolidMaterial};
use crate::render_mesh::unit_normal;

/// Thickness assumed by renderers that do not trace light through the liquid, in m.
const THICKNESS: f32 = 1e-3;

/// Depth at which the attenuation color is given, in m.
const DEPTH: f32 = 0.01;

impl Document<'_> {
    /// Adds the materials: the liquid's, at index 0, and those of the solids, in their order.
    pub fn materials(&mut self, materials: &ExportMaterials) {
        let shade = materials.liquid_parameters();
        let mut liquid = json!({
            "name": "liquid",
            "pbrMetallicRoughness": {
                "baseColorFactor": color(shade.opaque.unwrap_or(Vec3::ONE)),
                "metallicFactor": u8::from(shade.metal),
                "roughnessFactor": 0
            },
            "extensions": { "KHR_materials_ior": { "ior": shade.index } }
        });
        self.uses("KHR_materials_ior");
        if shade.opaque.is_none() {
            self.uses("KHR_materials_transmission");
            self.uses("KHR_materials_volume");
            liquid["extensions"]["KHR_materials_transmission"] = json!({ "transmissionFactor": 1 });
            liquid["extensions"]["KHR_materials_volume"] = json!({
                "thicknessFactor": THICKNESS,
                "attenuationDistance": DEPTH,
                "attenuationColor": (-shade.absorption * DEPTH).exp().to_array()
            });
        }
        self.materials.push(liquid);
        for material in &materials.solids {
            let material = self.solid_material(material);
            self.materials.push(material);
        }
    }

    fn solid_material(&mut self, solid: &SolidMaterial) -> Value {
        let mut material = json!({
            "name": solid.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": if solid.texture.is_some() { color(Vec3::ONE) } else { color(solid.color) },
                "metallicFactor": solid.metallic,
                "roughnessFactor": solid.roughness()
            },
            "doubleSided": !solid.closed
        });
        if let Some(index) = solid.glass.or(solid.coat) {
            self.uses("KHR_materials_ior");
            material["extensions"]["KHR_materials_ior"] = json!({ "ior": index });
        }
        if solid.is_transparent() {
            self.uses("KHR_materials_transmission");
            material["extensions"]["KHR_materials_transmission"] = json!({ "transmissionFactor": 1 });
            if solid.closed {
                self.uses("KHR_materials_volume");
                material["extensions"]["KHR_materials_volume"] = json!({ "thicknessFactor": THICKNESS });
            }
        }
        material
    }

    /// Adds the solids, with textures, and with animations where they move or get wet.
    pub fn solids(&mut self, materials: &ExportMaterials, buffer: &mut Buffer) -> Result<(), ExportError> {
        let source = self.job.source;
        for (index, material) in materials.solids.iter().enumerate() {
            let solid = &source.world.solids()[index];
            let mesh = solid.mesh();
            if mesh.triangles.is_empty() {
                continue;
            }
            self.texture(materials, index, buffer)?;
            let states = self.wet_states(materials, index, buffer)?;
            let mapped = material.texture.is_some() || material.normal_map.is_some() || !states.is_empty();
            let attributes = self.solid_attributes(mesh, mapped, buffer);
            let animation =
                (solid.moves() && source.frames.len() > 1).then(|| self.pose_tracks(buffer, &source.poses(index)));
            let pose = solid.world_from_rest();
            if states.is_empty() {
                let node = self.solid_node(&material.name, solid.name(), &attributes, index + 1);
                let node = self.node(placed(node, pose));
                self.animate_pose(node, animation);
            }
            for (state, frames) in states {
                let node = self.solid_node(&material.name, solid.name(), &attributes, state);
                let tracks = self.visibility(buffer, &frames);
                let parent = self.node(json!({ "name": solid.name() }));
                self.show(parent, &frames, tracks);
                let child = self.child(parent, placed(node, pose));
                self.animate_pose(child, animation);
            }
        }
        Ok(())
    }

    /// Adds a mesh of a solid; returns a node of it.
    fn solid_node(&mut self, mesh: &str, name: &str, attributes: &Value, material: usize) -> Value {
        let primitive = json!({ "attributes": attributes, "material": material });
        let mesh = self.mesh(json!({ "name": mesh, "primitives": [primitive] }));
        json!({ "name": name, "mesh": mesh })
    }

    /// Adds texture and normal map of a solid, where it has them, to its material.
    fn texture(&mut self, materials: &ExportMaterials, solid: usize, buffer: &mut Buffer) -> Result<(), ExportError> {
        let name = &materials.solids[solid].name;
        if let Some(png) = materials.texture_file(solid)? {
            let texture = self.image(name, &png, buffer);
            self.materials[solid + 1]["pbrMetallicRoughness"]["baseColorTexture"] = json!({ "index": texture });
        }
        if let Some(png) = materials.normal_map_file(solid)? {
            let texture = self.image(&format!("{name} normals"), &png, buffer);
            self.materials[solid + 1]["normalTexture"] = json!({ "index": texture });
        }
        Ok(())
    }

    /// Adds a PNG file as a texture.
    pub(super) fn image(&mut self, name: &str, png: &[u8], buffer: &mut Buffer) -> usize {
        let start = buffer.len();
        buffer.file(png);
        let view = self.view(start, png.len(), None, None);
        self.images.push(json!({ "name": name, "bufferView": view, "mimeType": "image/png" }));
        self.textures.push(json!({ "source": self.images.len() - 1 }));
        self.textures.len() - 1
    }

    /// Adds the vertex attributes of a solid. Corners are not shared, because they have different
    /// normals and texture coordinates.
    fn solid_attributes(&mut self, mesh: &TriMesh, textured: bool, buffer: &mut Buffer) -> Value {
        let count = 3 * mesh.triangles.len();
        let corners: Vec<Vec3> = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).map(DVec3::as_vec3).collect();
        let start = buffer.len();
        buffer.vectors(corners.iter().copied());
        let bounds = Some(bounds_of(corners.iter().copied()));
        let position = self.floats(start, count, "VEC3", bounds, Some(VERTICES));
        let start = buffer.len();
        buffer.vectors(creased_normals(mesh).into_iter().flatten().map(unit_normal));
        let normal = self.floats(start, count, "VEC3", None, Some(VERTICES));
        let mut attributes = json!({ "POSITION": position, "NORMAL": normal });
        if textured && !mesh.corner_uvs.is_empty() {
            let start = buffer.len();
            // In glTF, v points down.
            buffer.floats(mesh.corner_uvs.iter().flatten().flat_map(|uv| [uv.x as f32, 1.0 - uv.y as f32]));
            attributes["TEXCOORD_0"] = json!(self.floats(start, count, "VEC2", None, Some(VERTICES)));
        }
        attributes
    }

    /// Adds one pose per frame.
    fn pose_tracks(&mut self, buffer: &mut Buffer, poses: &[Pose]) -> PoseTracks {
        let times = self.frame_times(buffer, poses.len());
        let start = buffer.len();
        buffer.floats(poses.iter().flat_map(|pose| rotation_and_translation(pose).0).map(|x| x as f32));
        let rotations = self.floats(start, poses.len(), "VEC4", None, None);
        let start = buffer.len();
        buffer.floats(poses.iter().flat_map(|pose| rotation_and_translation(pose).1).map(|x| x as f32));
        let translations = self.floats(start, poses.len(), "VEC3", None, None);
        PoseTracks { times, rotations, translations }
    }

    /// Animates a node by poses.
    fn animate_pose(&mut self, node: usize, tracks: Option<PoseTracks>) {
        if let Some(PoseTracks { times, rotations, translations }) = tracks {
            self.animate(node, "rotation", times, rotations, "LINEAR");
            self.animate(node, "translation", times, translations, "LINEAR");
        }
    }

    /// Adds the scene's camera.
    pub fn camera(&mut self, buffer: &mut Buffer) {
        let source = self.job.source;
        let camera = source.camera_at(source.frames[0]);
        let [width, height] = source.scene.render.size.map(f64::from);
        let near = (1e-3 * camera.eye.distance(camera.look_at)).max(1e-6);
        self.cameras.push(json!({
            "type": "perspective",
            "perspective": { "yfov": camera.fov, "aspectRatio": width / height.max(1.0), "znear": near }
        }));
        let pose = |frame: u64| {
            let camera = source.camera_at(frame);
            let forward = (camera.look_at - camera.eye).try_normalize().unwrap_or(DVec3::NEG_Z);
            let right = forward.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
            let rotation = glam::DMat3::from_cols(right, right.cross(forward), -forward);
            Pose { rotation, translation: camera.eye }
        };
        let node = self.node(placed(json!({ "name": "camera", "camera": 0 }), &pose(source.frames[0])));
        if source.camera_moves() && source.frames.len() > 1 {
            let poses: Vec<Pose> = source.frames.iter().map(|&frame| pose(frame)).collect();
            let tracks = self.pose_tracks(buffer, &poses);
            self.animate_pose(node, Some(tracks));
        }
    }
}

/// Accessors of the times, rotations and translations of a moving node.
#[derive(Clone, Copy)]
struct PoseTracks {
    times: usize,
    rotations: usize,
    translations: usize,
}

/// A node with a pose.
fn placed(mut node: Value, pose: &Pose) -> Value {
    let (rotation, translation) = rotation_and_translation(pose);
    node["rotation"] = json!(rotation.map(|x| x as f32));
    node["translation"] = json!(translation.map(|x| x as f32));
    node
}

fn color(rgb: Vec3) -> [f32; 4] {
    rgb.extend(1.0).to_array()
}

/// A pose as a unit quaternion and a translation.
fn rotation_and_translation(pose: &Pose) -> ([f64; 4], [f64; 3]) {
    (DQuat::from_mat3(&pose.rotation).normalize().to_array(), pose.translation.to_array())
}
