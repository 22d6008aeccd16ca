//! Solids, camera and lights.

use glam::{DMat4, DVec3};
use sessile_appearance::Camera;
use sessile_scene::types::AreaLight;
use sessile_world::Pose;

use super::crate_file::{Prim, Value};
use super::{Layer, extent};
use crate::environment_file::write_environment;
use crate::error::ExportError;

/// Height of the camera's film, in tenths of a unit as USD measures it: 24 mm.
const FILM_HEIGHT: f64 = 0.24;

impl Layer<'_> {
    /// Adds the solids.
    pub(super) fn solids(&mut self, times: Value) -> Result<Prim, ExportError> {
        let source = self.job.source;
        let mut scope = Prim::new(&mut self.file, "Solids", "Scope");
        for (index, material) in self.materials.solids.iter().enumerate() {
            let solid = &source.world.solids()[index];
            let rest = solid.mesh();
            let file = &mut self.file;
            let mut mesh = Prim::new(file, &material.name, "Mesh");
            let schemas = file.prepended_tokens(&["MaterialBindingAPI"])?;
            mesh.field("apiSchemas", schemas);
            let points: Vec<[f32; 3]> = rest.positions.iter().map(|p| p.as_vec3().to_array()).collect();
            let indices: Vec<i32> = rest.triangles.iter().flatten().map(|&v| v.cast_signed()).collect();
            let values = [
                ("points", "point3f[]", file.vec3f_array(&points)?),
                ("extent", "float3[]", file.vec3f_array(&extent(&points))?),
                ("faceVertexCounts", "int[]", file.int_array(&vec![3; rest.triangles.len()])?),
                ("faceVertexIndices", "int[]", file.int_array(&indices)?),
            ];
            for (name, kind, value) in values {
                if !(solid.deforms() && ["points", "extent"].contains(&name)) {
                    mesh.value(file, name, kind, value);
                }
            }
            if solid.deforms() {
                self.deforming_points(&mut mesh, index, times)?;
            }
            let file = &mut self.file;
            if !rest.corner_uvs.is_empty() {
                let uvs: Vec<[f32; 2]> = rest.corner_uvs.iter().flatten().map(|uv| uv.as_vec2().to_array()).collect();
                let (uvs, per_corner) = (file.vec2f_array(&uvs)?, file.token("faceVarying"));
                mesh.attribute(file, "primvars:st", "texCoord2f[]", &[("interpolation", per_corner), ("default", uvs)]);
            }
            let none = file.token("none");
            mesh.uniform(file, "subdivisionScheme", "token", none);
            // A sheet is visible from both sides.
            if !material.closed {
                let both = file.bool(true);
                mesh.uniform(file, "doubleSided", "bool", both);
            }
            if solid.moves_rigidly() {
                let poses = source.poses(index);
                let matrices = poses.iter().map(|pose| self.file.matrix4d(&pose_matrix(pose)));
                let matrices = matrices.collect::<Result<Vec<_>, _>>()?;
                self.transform(&mut mesh, Some(times), &matrices)?;
            } else {
                let matrix = self.file.matrix4d(&pose_matrix(solid.world_from_rest()))?;
                self.transform(&mut mesh, None, &[matrix])?;
            }
            mesh.relationship(&mut self.file, "material:binding", &format!("/World/Looks/{}", material.name))?;
            scope.child(mesh);
        }
        Ok(scope)
    }

    /// Adds the vertices of a deforming solid in every frame.
    fn deforming_points(&mut self, mesh: &mut Prim, index: usize, times: Value) -> Result<(), ExportError> {
        let (source, file) = (self.job.source, &mut self.file);
        let (mut points, mut extents) = (Vec::new(), Vec::new());
        for &frame in &source.frames {
            self.job.check_stop()?;
            let world = source.world_at(source.time_of(frame));
            let placed: Vec<[f32; 3]> =
                world.solids()[index].mesh().positions.iter().map(|p| p.as_vec3().to_array()).collect();
            points.push(file.vec3f_array(&placed)?);
            extents.push(file.vec3f_array(&extent(&placed))?);
        }
        for (name, kind, values) in [("points", "point3f[]", &points), ("extent", "float3[]", &extents)] {
            let samples = file.samples(times, values)?;
            mesh.attribute(file, name, kind, &[("timeSamples", samples)]);
        }
        Ok(())
    }

    /// Adds the camera.
    pub(super) fn camera(&mut self, times: Value) -> Result<Prim, ExportError> {
        let source = self.job.source;
        let camera = source.camera_at(source.frames[0]);
        let mut prim = Prim::new(&mut self.file, "Camera", "Camera");
        let aspect = f64::from(source.scene.render.size[0]) / f64::from(source.scene.render.size[1].max(1));
        let focal = 0.5 * FILM_HEIGHT / (0.5 * camera.fov).tan();
        let distance = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
        // Lens and film sizes are in tenths of a unit; the f-number is the ratio of focal length
        // and aperture.
        let f_stop = if camera.lens_radius > 0.0 { focal / 10.0 / (2.0 * camera.lens_radius) } else { 0.0 };
        for (name, value) in [
            ("focalLength", focal),
            ("verticalAperture", FILM_HEIGHT),
            ("horizontalAperture", FILM_HEIGHT * aspect),
            ("focusDistance", distance),
            ("fStop", f_stop),
            // In powers of two.
            ("exposure", source.exposure().log2()),
        ] {
            let value = self.file.float(value as f32);
            prim.value(&mut self.file, name, "float", value);
        }
        let clip = self.file.vec2f([(1e-3 * distance) as f32, (1e4 * distance) as f32])?;
        prim.value(&mut self.file, "clippingRange", "float2", clip);
        let projection = self.file.token("perspective");
        prim.value(&mut self.file, "projection", "token", projection);
        if source.camera_moves() {
            let mut poses = Vec::new();
            for &frame in &source.frames {
                poses.push(self.file.matrix4d(&camera_matrix(&source.camera_at(frame)))?);
            }
            self.transform(&mut prim, Some(times), &poses)?;
        } else {
            let pose = self.file.matrix4d(&camera_matrix(&camera))?;
            self.transform(&mut prim, None, &[pose])?;
        }
        Ok(prim)
    }

    /// Adds the environment, the sun and the area lights to `world`.
    pub(super) fn lights(&mut self, world: &mut Prim) -> Result<(), ExportError> {
        let source = self.job.source;
        let image = write_environment(self.job, "textures/environment.hdr")?;
        let file = &mut self.file;
        let mut sky = Prim::new(file, "Sky", "DomeLight");
        let asset = file.asset(&format!("./{}/{image}", self.folder));
        let latlong = file.token("latlong");
        sky.value(file, "inputs:texture:file", "asset", asset);
        sky.value(file, "inputs:texture:format", "token", latlong);
        // Our image's middle materials to +z, as USD's does; both are seen from inside.
        world.child(sky);
        if let Some(sun) = &source.scene.lights.sun {
            let mut prim = Prim::new(file, "Sun", "DistantLight");
            let brightest = sun.color.iter().copied().fold(0.0, f64::max).max(1e-12);
            let half = (0.5 * sun.angle).max(1e-3);
            // A distant light's intensity is the radiance of its disc.
            let intensity = brightest / (std::f64::consts::PI * half.sin().powi(2));
            let color = file.vec3f(sun.color.map(|c| (c / brightest) as f32))?;
            let (angle, intensity) = (file.float((2.0 * half).to_degrees() as f32), file.float(intensity as f32));
            prim.value(file, "inputs:color", "color3f", color);
            prim.value(file, "inputs:angle", "float", angle);
            prim.value(file, "inputs:intensity", "float", intensity);
            let pose = file.matrix4d(&look_along_matrix(DVec3::ZERO, -sun.direction))?;
            self.transform(&mut prim, None, &[pose])?;
            world.child(prim);
        }
        for (k, light) in source.scene.lights.area.iter().enumerate() {
            let prim = self.area_light(&format!("AreaLight{}", k + 1), light)?;
            world.child(prim);
        }
        Ok(())
    }

    fn area_light(&mut self, name: &str, light: &AreaLight) -> Result<Prim, ExportError> {
        let file = &mut self.file;
        let mut prim = Prim::new(file, name, "RectLight");
        let brightest = light.color.iter().copied().fold(0.0, f64::max).max(1e-12);
        let color = file.vec3f(light.color.map(|c| (c / brightest) as f32))?;
        prim.value(file, "inputs:color", "color3f", color);
        for (name, value) in
            [("inputs:width", light.size), ("inputs:height", light.size), ("inputs:intensity", brightest)]
        {
            let value = file.float(value as f32);
            prim.value(file, name, "float", value);
        }
        let pose = file.matrix4d(&look_along_matrix(light.center, light.look_at - light.center))?;
        self.transform(&mut prim, None, &[pose])?;
        Ok(prim)
    }
}

/// A pose as USD's matrix, which multiplies row vectors.
fn pose_matrix(pose: &Pose) -> [f64; 16] {
    let matrix = DMat4::from_mat3_translation(pose.rotation, pose.translation);
    // The columns of a matrix for column vectors are the rows of one for row vectors.
    matrix.to_cols_array()
}

/// The matrix of an object at `eye` whose −z axis points along `forward` and whose y axis points
/// up.
fn look_along_matrix(eye: DVec3, forward: DVec3) -> [f64; 16] {
    let forward = forward.try_normalize().unwrap_or(DVec3::NEG_Z);
    let right = forward.cross(DVec3::Y);
    let right = if right.length_squared() > 1e-12 { right.normalize() } else { DVec3::X };
    let up = right.cross(forward);
    DMat4::from_cols(right.extend(0.0), up.extend(0.0), (-forward).extend(0.0), eye.extend(1.0)).to_cols_array()
}

fn camera_matrix(camera: &Camera) -> [f64; 16] {
    look_along_matrix(camera.eye, camera.look_at - camera.eye)
}
