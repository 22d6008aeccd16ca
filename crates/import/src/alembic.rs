//! Alembic (`.abc`, Ogawa): polygon meshes and subdivision surfaces with their transforms, motion,
//! deformation and face sets; the first camera; the frame range.
//!
//! Alembic has no materials: face sets, under which programs store their names, become materials.
//! It has no unit and no axes either: lengths are taken to be in meters and y to be up, as Blender
//! writes them.

mod archive;
mod ogawa;

use std::path::Path;

use glam::{DMat4, DQuat, DVec2, DVec3};

use self::archive::{Archive, Object, Property, entry};
use self::ogawa::Parsed;
use crate::error::ImportError;
use crate::mesh_over_time::MeshOverTime;
use crate::model::{Model, NO_MATERIAL};
use crate::polygons::Polygons;
use crate::subdivision::Creases;

/// Deepest tree of objects.
const MAX_DEPTH: usize = 100;

/// Most objects of a file: several may share their data.
const MAX_OBJECTS: usize = 100_000;

/// Most frames of a file; more are taken for an error of the file.
const MAX_FRAMES: f64 = 10_000.0;

/// What a file may have in all: objects may share their data, so its size is no bound.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Numbers that are read, each time that they are.
    numbers: usize,
    /// Points of all samples of all deforming meshes, before they are subdivided.
    points: usize,
}

const LIMITS: Limits = Limits { numbers: 1 << 29, points: 50_000_000 };

/// Numbers of a `.core` property of a camera: focal length in mm, apertures in cm.
const FOCAL_LENGTH: usize = 0;
const HORIZONTAL_APERTURE: usize = 1;
const VERTICAL_APERTURE: usize = 3;

/// Height over width of a scene's images.
const IMAGE_ASPECT: f64 = 9.0 / 16.0;

/// Reads an Alembic file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Model, ImportError> {
    model_of(bytes, LIMITS).map_err(|problem| ImportError::Alembic { path: path.to_owned(), problem })
}

fn model_of(bytes: &[u8], limits: Limits) -> Parsed<Model> {
    let archive = Archive::open(bytes, limits.numbers)?;
    let (times, frames) = timeline(&archive);
    let model = Model { frames, ..Model::default() };
    let mut importer =
        Importer { archive: &archive, times, model, skipped: Vec::new(), objects: 0, points_left: limits.points };
    importer.visit_children(&archive.root(), &mut Vec::new(), None)?;
    let Importer { mut model, mut skipped, .. } = importer;
    skipped.sort_unstable();
    skipped.dedup();
    if !skipped.is_empty() {
        model.notices.push(format!("not imported: {}; convert them to meshes first", skipped.join(", ")));
    }
    model.notices.push("Alembic files have no unit: lengths were taken to be in meters, with y up".to_owned());
    if !model.parts.is_empty() {
        model
            .notices
            .push("Alembic files have no materials: colors and textures are to be set in the scene".to_owned());
    }
    model.aim_camera();
    Ok(model)
}

/// First and last frame, and frames per second.
type FrameRange = (f64, f64, f64);

/// Times of the frames (in s), and their range, from the samplings that have several samples.
fn timeline(archive: &Archive<'_>) -> (Vec<f64>, Option<FrameRange>) {
    let animated = || archive.samplings.iter().filter(|sampling| sampling.samples > 1);
    let start = animated().map(|sampling| sampling.time(0)).fold(f64::INFINITY, f64::min);
    let end = animated().map(|sampling| sampling.time(sampling.samples - 1)).fold(f64::NEG_INFINITY, f64::max);
    let rate = animated().map(archive::TimeSampling::rate).fold(0.0, f64::max);
    let count = ((end - start) * rate).round();
    if !((1.0..=MAX_FRAMES).contains(&count) && rate.is_finite() && start.is_finite()) {
        return (vec![if start.is_finite() { start } else { 0.0 }], None);
    }
    let times = (0..=count as u32).map(|k| start + f64::from(k) / rate).collect();
    let first = (start * rate).round();
    (times, Some((first, first + count, rate)))
}

/// The transform of an object over time.
struct Transform {
    operations: Vec<u8>,
    values: Option<Property>,
    /// Whether its parents' transforms apply too.
    inherits: bool,
}

struct Importer<'a, 'b> {
    archive: &'a Archive<'b>,
    /// Times of the frames, in s; one if nothing moves.
    times: Vec<f64>,
    model: Model,
    /// Objects that cannot be imported.
    skipped: Vec<String>,
    objects: usize,
    /// Points that the samples of deforming meshes may still have.
    points_left: usize,
}

impl Importer<'_, '_> {
    fn visit_children(
        &mut self,
        object: &Object,
        parents: &mut Vec<Transform>,
        name_of_transform: Option<&str>,
    ) -> Parsed<()> {
        let children = self.archive.children(object)?;
        self.objects += children.len();
        if parents.len() > MAX_DEPTH || self.objects > MAX_OBJECTS {
            return Err(format!("it has more than {MAX_DEPTH} levels of objects, or more than {MAX_OBJECTS} objects"));
        }
        // Programs write an object as a shape in a transform of its own; the transform has the
        // object's name.
        let shapes = children.iter().filter(|child| !child.schema.starts_with("AbcGeom_Xform")).count();
        for child in &children {
            let name = name_of_transform.filter(|_| shapes == 1).unwrap_or(&child.name);
            self.visit(child, parents, name)?;
        }
        Ok(())
    }

    fn visit(&mut self, object: &Object, parents: &mut Vec<Transform>, name: &str) -> Parsed<()> {
        let schema = object.schema.split("_v").next().unwrap_or_default();
        let properties = self.archive.properties(object)?;
        match schema {
            "AbcGeom_Xform" => {
                parents.push(self.transform(&properties)?);
                self.visit_children(object, parents, Some(&object.name))?;
                parents.pop();
            }
            "AbcGeom_PolyMesh" | "AbcGeom_SubD" => {
                self.add_mesh(object, &properties, parents, name, schema == "AbcGeom_SubD")?;
            }
            "AbcGeom_Camera" => self.add_camera(&properties, parents, name)?,
            _ => {
                if let Some(kind) = schema.strip_prefix("AbcGeom_").filter(|kind| *kind != "FaceSet") {
                    self.skipped.push(format!("{name} ({kind})"));
                } else if properties.iter().any(|property| property.name == ".instanceSource") {
                    self.skipped.push(format!("{name} (instance)"));
                }
                // A group, whose transform is the identity.
                parents.push(Transform { operations: Vec::new(), values: None, inherits: true });
                self.visit_children(object, parents, None)?;
                parents.pop();
            }
        }
        Ok(())
    }

    /// The properties below a compound property of this name.
    fn parts(&self, properties: &[Property], name: &str) -> Parsed<Vec<Property>> {
        find(properties, name).map_or(Ok(Vec::new()), |property| self.archive.parts(property))
    }

    /// The numbers of the first sample of a property; none where it is missing.
    fn numbers(&self, properties: &[Property], name: &str) -> Parsed<Vec<f64>> {
        find(properties, name).map_or(Ok(Vec::new()), |property| self.archive.numbers(property, 0))
    }

    /// The numbers of the first sample of a property as indices or counts.
    fn indices(&self, properties: &[Property], name: &str) -> Parsed<Vec<usize>> {
        let numbers = self.numbers(properties, name)?;
        match numbers.iter().find(|number| **number < 0.0) {
            Some(negative) => Err(format!("a {name} property has the negative number {negative}")),
            None => Ok(numbers.iter().map(|number| *number as usize).collect()),
        }
    }

    /// Takes the points of a mesh in all frames from those that are left; whether there are enough.
    fn take_points(&mut self, count: usize) -> bool {
        let left = count.checked_mul(self.times.len()).and_then(|needed| self.points_left.checked_sub(needed));
        self.points_left = left.unwrap_or(self.points_left);
        left.is_some()
    }

    /// The numbers of a property at a time, linear between samples of the same length.
    fn numbers_at(&self, property: &Property, time: f64) -> Parsed<Vec<f64>> {
        let (before, after, along) = self.archive.samples_at(property, time);
        let values = self.archive.numbers(property, before)?;
        if along == 0.0 {
            return Ok(values);
        }
        let next = self.archive.numbers(property, after)?;
        let same_length = next.len() == values.len();
        Ok(if same_length { values.iter().zip(&next).map(|(a, b)| a + (b - a) * along).collect() } else { values })
    }

    fn transform(&self, properties: &[Property]) -> Parsed<Transform> {
        let own = self.parts(properties, ".xform")?;
        let operations = self.numbers(&own, ".ops")?.iter().map(|operation| *operation as u8).collect();
        let inherits = self.numbers(&own, ".inherits")?.first().is_none_or(|inherits| *inherits != 0.0);
        Ok(Transform { operations, values: find(&own, ".vals").cloned(), inherits })
    }

    /// World transforms of an object below `parents` at the frames: one if they are at rest.
    fn poses(&self, parents: &[Transform]) -> Parsed<Vec<(f64, DMat4)>> {
        let chain = &parents[parents.iter().rposition(|parent| !parent.inherits).unwrap_or(0)..];
        let moves = chain.iter().filter_map(|parent| parent.values.as_ref()).any(|v| self.archive.is_animated(v));
        let times = if moves { &self.times[..] } else { &self.times[..1] };
        let pose = |time: &f64| {
            let mut world = DMat4::IDENTITY;
            for parent in chain {
                if let Some(values) = &parent.values {
                    world *= matrix(&parent.operations, &self.numbers_at(values, *time)?);
                }
            }
            if !world.is_finite() {
                return Err("a transform is not finite".to_owned());
            }
            Ok((time - self.times[0], world))
        };
        times.iter().map(pose).collect()
    }

    fn add_camera(&mut self, properties: &[Property], parents: &[Transform], name: &str) -> Parsed<()> {
        let own = self.parts(properties, ".geom")?;
        let Some(core) = find(&own, ".core") else { return Ok(()) };
        let values = self.archive.numbers(core, 0)?;
        let [focal, width, height] = [FOCAL_LENGTH, HORIZONTAL_APERTURE, VERTICAL_APERTURE].map(|k| values.get(k));
        let (Some(focal), Some(width), Some(height)) = (focal, width, height) else { return Ok(()) };
        // The film's format, which need not be that of the images: they are as wide as it is.
        let aperture = height.min(IMAGE_ASPECT * width);
        let fov = 2.0 * (0.5 * 10.0 * aperture / focal).atan();
        if self.archive.is_animated(core) && self.model.camera.is_none() {
            self.model
                .notices
                .push(format!("the lens of the camera {name} changes over time; its first state was taken"));
        }
        let poses = self.poses(parents)?;
        self.model.set_first_camera(name, &poses, fov);
        Ok(())
    }

    fn add_mesh(
        &mut self,
        object: &Object,
        properties: &[Property],
        parents: &[Transform],
        name: &str,
        is_cage: bool,
    ) -> Parsed<()> {
        self.objects += 1;
        let own = self.parts(properties, ".geom")?;
        let (counts, indices) = (self.indices(&own, ".faceCounts")?, self.indices(&own, ".faceIndices")?);
        let mut polygons = Polygons { counts, indices, uvs: Vec::new() };
        let mut poses = self.poses(parents)?;
        let Some(positions) = find(&own, "P") else { return Ok(()) };
        let mut points = vec![vectors(&self.archive.numbers(positions, 0)?)];
        polygons.uvs = self.corner_uvs(&own, &polygons, points[0].len())?;
        // Alembic's polygons are clockwise seen from outside.
        polygons.reverse_winding();
        let animated = |name: &str| find(&own, name).is_some_and(|property| self.archive.is_animated(property));
        let deforms = animated("P");
        if animated(".faceCounts") || animated(".faceIndices") {
            self.model.notices.push(format!(
                "{name} changes its topology over time, which a solid cannot; its shape in the first frame was taken"
            ));
        } else if deforms && !self.take_points(points[0].len()) {
            self.model.notices.push(format!(
                "the file has too many points in all frames to import them; of {name} its shape in the first frame was \
                 taken"
            ));
        } else if deforms {
            let shapes = self.times.iter().map(|time| Ok(vectors(&self.numbers_at(positions, *time)?)));
            let shapes = shapes.collect::<Parsed<Vec<_>>>()?;
            if shapes.iter().any(|shape| shape.len() != points[0].len()) {
                self.model.notices.push(format!(
                    "{name} changes its number of points over time, which a solid cannot; its shape in the first \
                     frame was taken"
                ));
            } else {
                points = shapes;
                let at_rest = poses[0].1;
                if poses.len() == 1 {
                    poses = self.times.iter().map(|time| (time - self.times[0], at_rest)).collect();
                }
            }
        }
        let creases = if is_cage { Some(self.creases(&own)?) } else { None };
        let faces = self.faces_by_material(object, polygons.len())?;
        MeshOverTime { name, object: self.objects, polygons, points, poses, faces, creases }.add_to(&mut self.model);
        Ok(())
    }

    /// Texture coordinates of the corners, given per corner or per point, with or without indices.
    fn corner_uvs(&self, properties: &[Property], polygons: &Polygons, num_points: usize) -> Parsed<Vec<DVec2>> {
        let Some(uv) = find(properties, "uv") else { return Ok(Vec::new()) };
        let parts = self.archive.parts(uv)?;
        let values = match find(&parts, ".vals") {
            Some(values) => self.archive.numbers(values, 0)?,
            None if parts.is_empty() => self.archive.numbers(uv, 0).unwrap_or_default(),
            None => return Ok(Vec::new()),
        };
        let mut uvs: Vec<DVec2> = values.as_chunks::<2>().0.iter().map(|uv| DVec2::from_array(*uv)).collect();
        if find(&parts, ".indices").is_some() {
            let order = self.indices(&parts, ".indices")?;
            uvs = order.iter().filter_map(|k| uvs.get(*k).copied()).collect();
        }
        let per_point =
            matches!(entry(&uv.metadata, "geoScope"), Some("vtx" | "var")) || uvs.len() != polygons.indices.len();
        if per_point && uvs.len() == num_points {
            return Ok(polygons.indices.iter().filter_map(|point| uvs.get(*point).copied()).collect());
        }
        Ok(if uvs.len() == polygons.indices.len() { uvs } else { Vec::new() })
    }

    fn creases(&self, properties: &[Property]) -> Parsed<Creases> {
        let mut creases = Creases::default();
        creases.add_chains(
            &self.indices(properties, ".creaseIndices")?,
            &self.indices(properties, ".creaseLengths")?,
            &self.numbers(properties, ".creaseSharpnesses")?,
        );
        let corners = self.indices(properties, ".cornerIndices")?;
        let sharpness = self.numbers(properties, ".cornerSharpnesses")?;
        creases.corners = corners.into_iter().zip(sharpness).collect();
        Ok(creases)
    }

    /// Faces by material: those of each face set, and the rest.
    fn faces_by_material(&self, object: &Object, count: usize) -> Parsed<Vec<(String, Vec<usize>)>> {
        let mut taken = vec![false; count];
        let mut parts = Vec::new();
        for child in self.archive.children(object)?.iter().filter(|child| child.schema.starts_with("AbcGeom_FaceSet")) {
            let own = self.parts(&self.archive.properties(child)?, ".faceset")?;
            let mut faces = self.indices(&own, ".faces")?;
            // A face has one material: that of the first set.
            faces.retain(|face| taken.get_mut(*face).is_some_and(|taken| !std::mem::replace(taken, true)));
            if !faces.is_empty() {
                parts.push((child.name.clone(), faces));
            }
        }
        let rest: Vec<usize> = (0..count).filter(|face| !taken[*face]).collect();
        if !rest.is_empty() {
            parts.push((NO_MATERIAL.to_owned(), rest));
        }
        Ok(parts)
    }
}

fn find<'p>(properties: &'p [Property], name: &str) -> Option<&'p Property> {
    properties.iter().find(|property| property.name == name)
}

fn vectors(numbers: &[f64]) -> Vec<DVec3> {
    numbers.as_chunks::<3>().0.iter().map(|v| DVec3::from_array(*v)).collect()
}

/// The product of operations, the outermost first.
fn matrix(operations: &[u8], values: &[f64]) -> DMat4 {
    let mut values = values;
    let mut transform = DMat4::IDENTITY;
    for operation in operations {
        // The upper half is the kind, the lower one a hint for programs.
        let kind = operation >> 4;
        let count = match kind {
            0 | 1 => 3,
            2 => 4,
            3 => 16,
            _ => 1,
        };
        let Some((own, rest)) = values.split_at_checked(count) else { break };
        values = rest;
        let vector = |own: &[f64]| DVec3::new(own[0], own[1], own[2]);
        transform *= match kind {
            0 => DMat4::from_scale(vector(own)),
            1 => DMat4::from_translation(vector(own)),
            2 => vector(own)
                .try_normalize()
                .map_or(DMat4::IDENTITY, |axis| DMat4::from_quat(DQuat::from_axis_angle(axis, own[3].to_radians()))),
            // Rows of a matrix that is applied to rows.
            3 => <[f64; 16]>::try_from(own).map_or(DMat4::IDENTITY, |own| DMat4::from_cols_array(&own)),
            4 => DMat4::from_rotation_x(own[0].to_radians()),
            5 => DMat4::from_rotation_y(own[0].to_radians()),
            _ => DMat4::from_rotation_z(own[0].to_radians()),
        };
    }
    transform
}

#[cfg(test)]
mod tests;
