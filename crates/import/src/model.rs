//! A model independent of its file format: in meters, y up, with transforms applied.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glam::{DMat4, DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_output::escape::one_line;

/// Material name of a part that has no material.
pub const NO_MATERIAL: &str = "material";

/// Longest name of a material, in characters.
const MAX_MATERIAL_NAME: usize = 60;

/// Angle of the camera about its axis, in rad, that is taken for rounding.
const MAX_ROLL: f64 = 2e-3;

/// Deviation of a normal map's vectors from unit length, from compression.
const UNIT: f64 = 0.3;

/// Most vertices of all samples of all parts of a file together.
const MAX_VERTICES: usize = 50_000_000;

/// Longest frame range; a longer one is taken for an error of the file.
const MAX_FRAMES: u32 = 100_000;

/// A model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Meshes, each of one material.
    pub parts: Vec<Part>,
    /// Materials, in the file's order.
    pub materials: Vec<ModelMaterial>,
    /// The first camera.
    pub camera: Option<ModelCamera>,
    /// First and last frame, and frames per second.
    pub frames: Option<(f64, f64, f64)>,
    /// What the user should know, such as parts that were not imported.
    pub notices: Vec<String>,
    /// Vertices of all samples so far: bounds the memory that a file can claim.
    pub sampled: usize,
}

/// A mesh of one material.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its name in the file.
    pub name: String,
    /// Index of its object; parts of one object are adjacent.
    pub object: usize,
    /// Name of its material, or [`NO_MATERIAL`].
    pub material: String,
    /// In m, y up, relative to `origin`.
    pub mesh: TriMesh,
    /// Where the mesh's origin is, in m.
    pub origin: DVec3,
    /// Motion about that point; empty for a part at rest.
    pub motion: Vec<ModelKey>,
    /// Positions of the mesh's vertices at times since the first frame (in s), relative to
    /// `origin`; empty for a part that keeps its shape.
    pub deform: Vec<(f64, Vec<DVec3>)>,
}

/// A key of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelKey {
    /// Time since the first frame, in s.
    pub at: f64,
    /// Translation, in m.
    pub shift: DVec3,
    /// Rotation about x, then y, then z, in rad.
    pub angles: DVec3,
}

/// A material's appearance.
#[derive(Clone, Debug, Default)]
pub struct ModelMaterial {
    /// Its name in the file.
    pub name: String,
    /// Linear color; `None` where the file states none.
    pub color: Option<[f64; 3]>,
    /// Metalness, from 0 to 1.
    pub metallic: f64,
    /// Roughness, from 0 to 1.
    pub roughness: f64,
    /// Whether light passes through it.
    pub transparent: bool,
    /// Image of its color.
    pub texture: Option<ModelImage>,
    /// Its normal map.
    pub normal_map: Option<ModelImage>,
}

/// An image of a material.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelImage {
    /// Absolute path of a file.
    File(PathBuf),
    /// The bytes of a PNG or JPEG file that is stored in the model.
    Stored(Vec<u8>),
}

impl ModelImage {
    /// An image stored in a model; the error says why it cannot be used.
    pub fn stored(bytes: &[u8]) -> Result<Self, String> {
        match sessile_images::Image::decode(bytes) {
            Ok(_) => Ok(Self::Stored(bytes.to_vec())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether its colors are unit vectors that lean out of the surface, rather than heights.
    pub fn is_normal_map(&self) -> bool {
        let image = match self {
            Self::File(file) => sessile_images::Image::read(file).ok(),
            Self::Stored(bytes) => sessile_images::Image::decode(bytes).ok(),
        };
        let Some(image) = image else { return false };
        let is_unit = |rgb: &&[f32; 3]| {
            let normal = DVec3::from_array(rgb.map(|channel| 2.0 * f64::from(channel) - 1.0));
            // Gray is a height.
            normal.z > normal.x && (normal.length() - 1.0).abs() < UNIT
        };
        let colors = image.rgb();
        2 * colors.iter().filter(is_unit).count() > colors.len()
    }

    /// The ending of a name for a stored image.
    pub fn extension(bytes: &[u8]) -> &'static str {
        if bytes.starts_with(b"\x89PNG") { "png" } else { "jpg" }
    }
}

/// A camera.
#[derive(Clone, Debug)]
pub struct ModelCamera {
    /// Its position, in m.
    pub eye: DVec3,
    /// A point on its optical axis, in m.
    pub look_at: DVec3,
    /// Vertical field of view, in rad.
    pub fov: f64,
    /// Times since the first frame (in s), positions and points on the optical axis; empty for a
    /// camera at rest.
    pub motion: Vec<(f64, [DVec3; 2])>,
}

impl Part {
    /// Bounding box: lower and upper corner, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        bounds_of(self.mesh.positions.iter()).map(|corner| corner + self.origin)
    }
}

/// The image file beside a model, or in a folder beside it, if it is there.
pub fn image_beside(folder: &Path, name: &str) -> Option<ModelImage> {
    let file = sessile_input::beside(folder, name).ok().filter(|file| file.is_file())?;
    std::path::absolute(file).ok().map(ModelImage::File)
}

fn bounds_of<'a>(points: impl Iterator<Item = &'a DVec3>) -> [DVec3; 2] {
    points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(*p), high.max(*p)])
}

impl Model {
    /// The material of this name.
    pub fn material(&self, name: &str) -> Option<&ModelMaterial> {
        self.materials.iter().find(|material| material.name == name)
    }

    /// Takes `vertices` more, in `samples` samples, from what a file may have; whether there are as
    /// many.
    pub fn take_vertices(&mut self, vertices: usize, samples: usize) -> bool {
        let after = self.sampled.saturating_add(vertices.saturating_mul(samples));
        let fits = after <= MAX_VERTICES;
        if fits {
            self.sampled = after;
        }
        fits
    }

    /// Merges the parts of each object into one, with the material of the largest: a solid has one
    /// material.
    pub fn merge_parts_of_objects(&mut self) {
        let mut objects: Vec<(Part, f64)> = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let area = part.mesh.area();
            match objects.last_mut().filter(|(whole, _)| whole.object == part.object) {
                Some((whole, largest)) => {
                    if whole.material != part.material {
                        self.notices.push(format!(
                            "{} has several materials; the solid has that of its largest part",
                            whole.name
                        ));
                    }
                    if area > *largest {
                        (whole.material, *largest) = (part.material.clone(), area);
                    }
                    append(&mut whole.mesh, &part.mesh);
                    for ((_, whole), (_, own)) in whole.deform.iter_mut().zip(&part.deform) {
                        whole.extend_from_slice(own);
                    }
                }
                None => objects.push((part, area)),
            }
        }
        self.notices.dedup();
        self.parts = objects.into_iter().map(|(part, _)| part).collect();
    }

    /// Renames materials so that a scene accepts them: not empty, not longer than
    /// [`MAX_MATERIAL_NAME`], different from each other.
    pub fn name_materials(&mut self) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for part in &mut self.parts {
            let name = names.entry(part.material.clone()).or_insert_with(|| {
                let short: String = one_line(&part.material).trim().chars().take(MAX_MATERIAL_NAME).collect();
                let base = if short.is_empty() { NO_MATERIAL.to_owned() } else { short };
                let mut candidates = std::iter::once(base.clone()).chain((2..).map(|k| format!("{base} {k}")));
                candidates.find(|name| taken.insert(name.clone())).unwrap_or(base)
            });
            part.material.clone_from(name);
        }
        for material in &mut self.materials {
            if let Some(name) = names.get(&material.name) {
                material.name.clone_from(name);
            }
        }
    }

    /// Frames per second, and number of the last frame.
    pub fn timing(&self) -> (f64, u32) {
        match self.frames {
            Some((first, last, fps)) if fps > 0.0 && fps.is_finite() && last > first => {
                (fps, ((last - first).round().clamp(1.0, f64::from(MAX_FRAMES))) as u32)
            }
            Some((_, _, fps)) if fps > 0.0 && fps.is_finite() => (fps, fps.ceil().clamp(1.0, 1000.0) as u32),
            _ => (24.0, 24),
        }
    }

    /// Bounding box: lower and upper corner, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        self.parts
            .iter()
            .map(Part::bounds)
            .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], [min, max]| [low.min(min), high.max(max)])
    }

    /// Index of the part with the largest area.
    pub fn largest(&self) -> Option<usize> {
        (0..self.parts.len()).max_by(|a, b| self.parts[*a].mesh.area().total_cmp(&self.parts[*b].mesh.area()))
    }

    /// Sets the camera, unless there is one; it looks along its −z axis. `poses` are its world
    /// transforms at times since the first frame (in s), or one if it is at rest.
    pub fn set_first_camera(&mut self, name: &str, poses: &[(f64, DMat4)], fov: f64) {
        if self.camera.is_some() || !(fov > 0.0 && fov < 3.1) {
            return;
        }
        let mut roll = 0.0_f64;
        let mut places = Vec::with_capacity(poses.len());
        for (at, world) in poses {
            let eye = world.transform_point3(DVec3::ZERO);
            let Some(forward) = world.transform_vector3(DVec3::NEG_Z).try_normalize() else { return };
            let right = world.transform_vector3(DVec3::X).normalize_or_zero();
            // Looking straight up or down, a camera has no upright position.
            if forward.y.abs() < 0.999 {
                roll = roll.max(right.y.abs().min(1.0).asin());
            }
            places.push((*at, [eye, eye + forward]));
        }
        let Some((_, [eye, look_at])) = places.first().copied() else { return };
        if roll > MAX_ROLL {
            self.notices.push(format!(
                "the camera {name} is rolled by up to {:.1} deg; a scene's camera is upright",
                roll.to_degrees()
            ));
        }
        let still = |(_, place): &(f64, [DVec3; 2])| place[0] == eye && place[1] == look_at;
        let motion = if places.iter().all(still) { Vec::new() } else { places };
        self.camera = Some(ModelCamera { eye, look_at, fov, motion });
    }

    /// Moves the points that the camera looks at to the distance of the model's center.
    pub fn aim_camera(&mut self) {
        let [low, high] = self.bounds();
        let middle = 0.5 * (low + high);
        if let Some(camera) = self.camera.as_mut().filter(|_| middle.is_finite()) {
            let forward = (camera.look_at - camera.eye).normalize_or(DVec3::NEG_Z);
            let distance = (middle - camera.eye).dot(forward);
            let distance = if distance > 0.0 { distance } else { middle.distance(camera.eye).max(1e-3) };
            camera.look_at = camera.eye + distance * forward;
            for (_, [eye, look_at]) in &mut camera.motion {
                *look_at = *eye + distance * (*look_at - *eye);
            }
        }
    }
}

fn append(whole: &mut TriMesh, part: &TriMesh) {
    let base = whole.positions.len() as u32;
    let has_uvs = !whole.corner_uvs.is_empty() || !part.corner_uvs.is_empty();
    if has_uvs {
        whole.corner_uvs.resize(whole.triangles.len(), [DVec2::ZERO; 3]);
        whole.corner_uvs.extend_from_slice(&part.corner_uvs);
    }
    whole.positions.extend_from_slice(&part.positions);
    whole.triangles.extend(part.triangles.iter().map(|triangle| triangle.map(|v| v + base)));
    if has_uvs {
        whole.corner_uvs.resize(whole.triangles.len(), [DVec2::ZERO; 3]);
    }
}
