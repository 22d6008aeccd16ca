//! What is around the liquid: materials, solids, the camera.

use glam::{DQuat, DVec3, Vec3};
use sessile_appearance::creased_normals;
use sessile_world::Pose;

use super::buffer::{Buffer, Document, FLOAT, VERTICES, points_bounds};
use crate::error::ExportError;
use crate::looks::{SceneLooks, SolidLook};
use serde_json::{Value, json};

/// How thick the liquid is taken for where it is drawn without tracing light through it, in m.
const THICKNESS: f32 = 1e-3;

/// Depth, in m, at which the liquid's color is told.
const DEPTH: f32 = 0.01;

impl Document<'_> {
    fn uses(&mut self, extension: &'static str) {
        if !self.extensions.contains(&extension) {
            self.extensions.push(extension);
        }
    }

    /// The liquid's material, which is number 0, and the solids', in their order.
    pub fn materials(&mut self, looks: &SceneLooks) {
        let shade = looks.shade();
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
        for look in &looks.solids {
            let material = self.solid_material(look);
            self.materials.push(material);
        }
    }

    fn solid_material(&mut self, look: &SolidLook) -> Value {
        let mut material = json!({
            "name": look.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": if look.texture.is_some() { color(Vec3::ONE) } else { color(look.color) },
                "metallicFactor": u8::from(look.metal),
                "roughnessFactor": look.roughness()
            },
            "doubleSided": !look.body
        });
        if let Some(index) = look.glass.or(look.coat) {
            self.uses("KHR_materials_ior");
            material["extensions"]["KHR_materials_ior"] = json!({ "ior": index });
        }
        if look.is_clear() {
            self.uses("KHR_materials_transmission");
            material["extensions"]["KHR_materials_transmission"] = json!({ "transmissionFactor": 1 });
            if look.body {
                self.uses("KHR_materials_volume");
                material["extensions"]["KHR_materials_volume"] = json!({ "thicknessFactor": THICKNESS });
            }
        }
        material
    }

    /// The solids, each a mesh with normals that follow its creases, and its texture.
    pub fn solids(&mut self, looks: &SceneLooks, small: &mut Buffer) -> Result<(), ExportError> {
        let source = self.job.source;
        for (index, look) in looks.solids.iter().enumerate() {
            let solid = &source.world.solids()[index];
            let mesh = solid.mesh();
            if mesh.triangles.is_empty() {
                continue;
            }
            if let Some(png) = looks.texture_file(index)? {
                let start = small.len();
                small.file(&png);
                let view = self.view(start, png.len(), None);
                self.images.push(json!({ "name": look.name, "bufferView": view, "mimeType": "image/png" }));
                self.textures.push(json!({ "source": self.images.len() - 1 }));
                self.materials[index + 1]["pbrMetallicRoughness"]["baseColorTexture"] =
                    json!({ "index": self.textures.len() - 1 });
            }
            // Corners are not shared: normals and texture coordinates belong to them.
            let count = 3 * mesh.triangles.len();
            let corners: Vec<Vec3> =
                (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).map(DVec3::as_vec3).collect();
            let start = small.len();
            small.vectors(corners.iter().copied());
            let bounds = Some(points_bounds(corners.iter().copied()));
            let position = self.accessor(start, count, FLOAT, "VEC3", bounds, Some(VERTICES));
            let start = small.len();
            let normals = creased_normals(mesh).into_iter().flatten();
            small.vectors(normals.map(|n| n.try_normalize().unwrap_or(Vec3::Y)));
            let normal = self.accessor(start, count, FLOAT, "VEC3", None, Some(VERTICES));
            let mut attributes = json!({ "POSITION": position, "NORMAL": normal });
            // Only where something reads them.
            if look.texture.is_some() && !mesh.corner_uvs.is_empty() {
                let start = small.len();
                // glTF's v runs down.
                small.floats(mesh.corner_uvs.iter().flatten().flat_map(|uv| [uv.x as f32, 1.0 - uv.y as f32]));
                attributes["TEXCOORD_0"] = json!(self.accessor(start, count, FLOAT, "VEC2", None, Some(VERTICES)));
            }
            let primitive = json!({ "attributes": attributes, "material": index + 1 });
            let mesh = self.mesh(json!({ "name": look.name, "primitives": [primitive] }));
            let (turn, shift) = parts(solid.world_from_rest());
            let node = self.node(json!({
                "name": solid.name(), "mesh": mesh, "rotation": turn.map(|x| x as f32), "translation": shift.map(|x| x as f32)
            }));
            if solid.moves() && source.frames.len() > 1 {
                let poses: Vec<Pose> = source
                    .frames
                    .iter()
                    .map(|&frame| *source.world_at(source.time_of(frame)).solids()[index].world_from_rest())
                    .collect();
                self.follow(node, small, &poses);
            }
        }
        Ok(())
    }

    /// Lets a node take a pose at every frame.
    fn follow(&mut self, node: usize, small: &mut Buffer, poses: &[Pose]) {
        let times = self.frame_times(small, 0, poses.len());
        let start = small.len();
        small.floats(poses.iter().flat_map(|pose| parts(pose).0).map(|x| x as f32));
        let turns = self.accessor(start, poses.len(), FLOAT, "VEC4", None, None);
        let start = small.len();
        small.floats(poses.iter().flat_map(|pose| parts(pose).1).map(|x| x as f32));
        let shifts = self.accessor(start, poses.len(), FLOAT, "VEC3", None, None);
        self.animate(node, "rotation", times, turns, "LINEAR");
        self.animate(node, "translation", times, shifts, "LINEAR");
    }

    /// The scene's camera.
    pub fn camera(&mut self, small: &mut Buffer) {
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
        let (turn, shift) = parts(&pose(source.frames[0]));
        let node = self.node(json!({
            "name": "camera", "camera": 0, "rotation": turn.map(|x| x as f32), "translation": shift.map(|x| x as f32)
        }));
        if source.camera_moves() && source.frames.len() > 1 {
            let poses: Vec<Pose> = source.frames.iter().map(|&frame| pose(frame)).collect();
            self.follow(node, small, &poses);
        }
    }
}

fn color(rgb: Vec3) -> [f32; 4] {
    rgb.extend(1.0).to_array()
}

/// A pose as a unit quaternion and a translation.
fn parts(pose: &Pose) -> ([f64; 4], [f64; 3]) {
    (DQuat::from_mat3(&pose.rotation).normalize().to_array(), pose.translation.to_array())
}
