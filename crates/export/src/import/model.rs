//! A model, whatever file it came from: meters, y up, everything at its place.

use std::path::PathBuf;

use glam::{DMat4, DVec2, DVec3};
use sessile_geometry::TriMesh;

/// The name of the material of a part that has none.
pub const NO_MATERIAL: &str = "material";

/// Most frames of a range; what is longer is a slip.
const MOST_FRAMES: u32 = 100_000;

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
    /// What could not be taken over.
    pub notices: Vec<String>,
}

/// A mesh of one material.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// As the file calls it.
    pub name: String,
    /// Parts of one object follow one another and have the same number.
    pub object: usize,
    /// A name in [`Model::materials`], or [`NO_MATERIAL`].
    pub material: String,
    /// In m, y up.
    pub mesh: TriMesh,
}

/// What is known of a material.
#[derive(Clone, Debug, Default)]
pub struct ModelMaterial {
    /// As the file calls it.
    pub name: String,
    /// From 0 to 1.
    pub metallic: f64,
    /// From 0 to 1.
    pub roughness: f64,
    /// Whether light goes through.
    pub clear: bool,
    /// An image of its color.
    pub texture: Option<PathBuf>,
}

/// A camera.
#[derive(Clone, Copy, Debug)]
pub struct ModelCamera {
    /// Where it is, in m.
    pub eye: DVec3,
    /// A point that it looks at, in m.
    pub look_at: DVec3,
    /// Vertical field of view, in rad.
    pub fov: f64,
}

impl Model {
    /// Makes one part of each object, for a solid is one body: it gets the material of its largest part.
    pub fn unite(&mut self) {
        let mut united: Vec<(Part, f64)> = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let area = part.mesh.area();
            match united.last_mut().filter(|(whole, _)| whole.object == part.object) {
                Some((whole, largest)) => {
                    if whole.material != part.material {
                        self.notices.push(format!(
                            "{} has several materials; a solid has one, and got that of its largest part",
                            whole.name
                        ));
                    }
                    if area > *largest {
                        (whole.material, *largest) = (part.material.clone(), area);
                    }
                    append(&mut whole.mesh, &part.mesh);
                }
                None => united.push((part, area)),
            }
        }
        self.notices.dedup();
        self.parts = united.into_iter().map(|(part, _)| part).collect();
    }

    /// Time between frames, in s, and the number of the last one.
    pub fn timing(&self) -> (f64, u32) {
        match self.frames {
            Some((first, last, fps)) if fps > 0.0 && fps.is_finite() && last > first => {
                (1.0 / fps, ((last - first).round().clamp(1.0, f64::from(MOST_FRAMES))) as u32)
            }
            Some((_, _, fps)) if fps > 0.0 && fps.is_finite() => (1.0 / fps, fps.ceil().clamp(1.0, 1000.0) as u32),
            _ => (1.0 / 24.0, 24),
        }
    }

    /// Least and largest coordinates.
    pub fn bounds(&self) -> [DVec3; 2] {
        let points = self.parts.iter().flat_map(|part| &part.mesh.positions);
        points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(*p), high.max(*p)])
    }

    /// The part of largest area.
    pub fn largest(&self) -> Option<usize> {
        (0..self.parts.len()).max_by(|a, b| self.parts[*a].mesh.area().total_cmp(&self.parts[*b].mesh.area()))
    }

    /// Sets the camera, unless there is one: at `place`, looking along its own −z, at the middle of what is there.
    pub fn take_camera(&mut self, place: DMat4, fov: f64) {
        if self.camera.is_some() || !(fov > 0.0 && fov < 3.1) {
            return;
        }
        let eye = place.transform_point3(DVec3::ZERO);
        let Some(forward) = place.transform_vector3(DVec3::NEG_Z).try_normalize() else { return };
        self.camera = Some(ModelCamera { eye, look_at: eye + forward, fov });
    }

    /// Moves the camera's point of interest to as far as the model is.
    pub fn aim_camera(&mut self) {
        let [low, high] = self.bounds();
        let middle = 0.5 * (low + high);
        if let Some(camera) = self.camera.as_mut().filter(|_| middle.is_finite()) {
            let forward = (camera.look_at - camera.eye).normalize_or(DVec3::NEG_Z);
            let distance = (middle - camera.eye).dot(forward);
            let distance = if distance > 0.0 { distance } else { middle.distance(camera.eye).max(1e-3) };
            camera.look_at = camera.eye + distance * forward;
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

/// Polygons as triangles: fans, with the vertices that are used and no others. `uvs` are those of the polygons' corners, one after another, or none.
/// `None` when an index is out of range.
pub fn triangulate(points: &[DVec3], counts: &[usize], indices: &[usize], uvs: &[DVec2]) -> Option<TriMesh> {
    let mut mesh = TriMesh::default();
    let mut numbers = vec![u32::MAX; points.len()];
    let mut start = 0_usize;
    for &count in counts {
        let corners = indices.get(start..start.checked_add(count)?)?;
        let mut own = Vec::with_capacity(count);
        for &v in corners {
            let number = numbers.get_mut(v)?;
            if *number == u32::MAX {
                *number = u32::try_from(mesh.positions.len()).ok()?;
                mesh.positions.push(points[v]);
            }
            own.push(*number);
        }
        for k in 1..count.saturating_sub(1) {
            mesh.triangles.push([own[0], own[k], own[k + 1]]);
            if uvs.len() == indices.len() {
                mesh.corner_uvs.push([uvs[start], uvs[start + k], uvs[start + k + 1]]);
            }
        }
        start += count;
    }
    let finite =
        mesh.positions.iter().all(|p| p.is_finite()) && mesh.corner_uvs.iter().flatten().all(|uv| uv.is_finite());
    finite.then_some(mesh)
}
