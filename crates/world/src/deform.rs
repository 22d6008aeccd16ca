//! Deforming meshes: vertices interpolated between samples in time.
//!
//! Samples x_k at times t_k have the vertices and triangles of the solid's mesh. Between them the
//! vertices move on cubic curves ([`PathWeights`]), so their velocity is continuous, and the
//! acceleration that drops feel is that of the sampled motion rather than a series of jumps.
//! Outside the samples the solid is at rest: its velocity jumps where the samples begin and end.
//!
//! The distance structure is refitted to the vertices of each time, not built anew.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use sessile_geometry::files::read_mesh_from;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::repair::self_intersections;
use sessile_geometry::{Closest, TriMesh};
use sessile_input::Reader;
use sessile_numerics::PathWeights;
use sessile_scene::types::DeformKey;

use crate::error::WorldError;
use crate::pose::Pose;

/// Most vertices of all samples of a solid together: 24 bytes each.
const MAX_VERTICES: usize = 100_000_000;

/// Most samples that are searched for self-intersections: the search takes longer than reading.
const MAX_TESTED: usize = 8;

/// Samples of a deforming mesh, in the rest pose.
#[derive(Debug)]
pub(crate) struct Samples {
    times: Vec<f64>,
    positions: Vec<Vec<DVec3>>,
}

/// A deforming mesh at a time. Clones share everything until they are moved.
#[derive(Clone)]
pub(crate) struct Deformation {
    samples: Arc<Samples>,
    now: Arc<Deformed>,
}

/// The mesh of one time, in the rest pose.
#[derive(Clone)]
struct Deformed {
    distance: MeshDistance,
    velocities: Vec<DVec3>,
    time: f64,
}

impl Samples {
    /// Positions and velocities (in m and m/s) of the vertices at `time`.
    fn at(&self, time: f64, positions: &mut [DVec3], velocities: &mut [DVec3]) {
        let Some(weights) = PathWeights::at(&self.times, |at| *at, time) else {
            let nearest = if time < self.times[0] { 0 } else { self.times.len() - 1 };
            positions.copy_from_slice(&self.positions[nearest]);
            velocities.fill(DVec3::ZERO);
            return;
        };
        positions.fill(DVec3::ZERO);
        velocities.fill(DVec3::ZERO);
        for (key, value, rate) in weights.iter() {
            for ((p, v), sample) in positions.iter_mut().zip(velocities.iter_mut()).zip(&self.positions[key]) {
                *p += *sample * value;
                *v += *sample * rate;
            }
        }
    }
}

impl Deformation {
    /// Reads the samples of `solid`, whose mesh file has the vertices `raw`, is scaled by `factor`
    /// and becomes `mesh` by repair and placement.
    pub fn read(
        solid: &str,
        keys: &[DeformKey],
        raw: &TriMesh,
        factor: f64,
        (mesh, placement): (&TriMesh, &Pose),
        files: &dyn Reader,
    ) -> Result<Self, WorldError> {
        if keys.len().saturating_mul(mesh.positions.len()) > MAX_VERTICES {
            let reason = format!(
                "{} samples of {} vertices are more than {MAX_VERTICES} in all; simplify the mesh, or give fewer samples",
                keys.len(),
                mesh.positions.len()
            );
            return Err(WorldError::Shape { solid: solid.into(), reason });
        }
        let material_points = material_points(raw, factor, mesh, placement);
        let read = |key: &DeformKey| {
            let sample = read_sample(solid, &key.file, raw, files)?;
            let point = |[a, b, c]: [u32; 3], weights: DVec3| {
                let [a, b, c] = [a, b, c].map(|v| sample.positions[v as usize] * factor);
                placement.apply(a * weights.x + b * weights.y + c * weights.z)
            };
            Ok(material_points.iter().map(|&(corners, weights)| point(corners, weights)).collect())
        };
        let positions = keys.iter().map(read).collect::<Result<Vec<_>, WorldError>>()?;
        let samples = Samples { times: keys.iter().map(|key| key.at).collect(), positions };
        let now = Deformed {
            distance: MeshDistance::new(mesh.clone()),
            velocities: vec![DVec3::ZERO; mesh.positions.len()],
            time: f64::NAN,
        };
        Ok(Self { samples: Arc::new(samples), now: Arc::new(now) })
    }

    /// A notice if some of the samples intersect themselves: distances are wrong there. At most
    /// [`MAX_TESTED`] of them are tested.
    pub fn self_intersections(&self, solid: &str, triangles: &[[u32; 3]]) -> Option<String> {
        let Samples { times, positions } = &*self.samples;
        let step = times.len().div_ceil(MAX_TESTED);
        let mut mesh = TriMesh { triangles: triangles.to_vec(), ..TriMesh::default() };
        (0..times.len()).step_by(step).find_map(|sample| {
            mesh.positions.clone_from(&positions[sample]);
            let found = self_intersections(&mesh)?;
            let [x, y, z] = (found.near * 1e3).to_array();
            Some(format!(
                "solid `{solid}`: its deformed mesh intersects itself at t = {} s ({} pairs of triangles, the first near \
                 {x:.4} {y:.4} {z:.4} mm); drops there may meet the wrong side: correct the animation, e.g. the weights of \
                 a joint",
                times[sample], found.pairs
            ))
        })
    }

    /// Moves the vertices to their places at `time`.
    pub fn advance_to(&mut self, time: f64) {
        if self.now.time == time {
            return;
        }
        let now = Arc::make_mut(&mut self.now);
        let (samples, velocities) = (&self.samples, &mut now.velocities);
        now.distance.refit_with(|positions| samples.at(time, positions, velocities));
        now.time = time;
    }

    /// The mesh in the rest pose.
    pub fn mesh(&self) -> &TriMesh {
        self.now.distance.mesh()
    }

    /// Velocities of the vertices in the rest pose, in m/s.
    pub fn velocities(&self) -> &[DVec3] {
        &self.now.velocities
    }

    /// Distance structure of the rest pose.
    pub fn distance(&self) -> &MeshDistance {
        &self.now.distance
    }

    /// The closest point to a point of the rest pose.
    pub fn closest(&self, point: DVec3) -> Closest {
        sessile_geometry::Distance::closest(&self.now.distance, point)
    }

    /// Velocity of the surface point nearest to a point of the rest pose, in m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        let Some(near) = self.now.distance.nearest(point) else { return DVec3::ZERO };
        let [a, b, c] = self.mesh().triangles[near.triangle].map(|v| self.now.velocities[v as usize]);
        a * near.barycentrics.x + b * near.barycentrics.y + c * near.barycentrics.z
    }

    /// How far the surface point nearest to a point of the rest pose is displaced in `then`, in m.
    pub fn shift_to(&self, then: &Self, point: DVec3) -> DVec3 {
        let Some(near) = self.now.distance.nearest(point) else { return DVec3::ZERO };
        let corners = self.mesh().triangles[near.triangle];
        let [a, b, c] = corners.map(|v| then.mesh().positions[v as usize] - self.mesh().positions[v as usize]);
        a * near.barycentrics.x + b * near.barycentrics.y + c * near.barycentrics.z
    }

    /// Lower and upper corner of the box of the vertices in all samples, in the rest pose.
    pub fn bounds_of_samples(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let all = self.samples.positions.iter().flatten();
        all.fold(start, |[low, high], p| [low.min(*p), high.max(*p)])
    }

    /// Times of the first and the last sample, in s: velocities jump there.
    pub fn span(&self) -> [f64; 2] {
        let times = &self.samples.times;
        [times[0], times[times.len() - 1]]
    }
}

/// The triangle of the file and the weights of its corners at each vertex of the repaired mesh.
fn material_points(raw: &TriMesh, factor: f64, mesh: &TriMesh, placement: &Pose) -> Vec<([u32; 3], DVec3)> {
    let scaled = TriMesh { positions: raw.positions.iter().map(|p| *p * factor).collect(), ..raw.clone() };
    let distance = MeshDistance::new(scaled);
    let find = |p: &DVec3| {
        let near = distance.nearest(placement.apply_inverse(*p));
        near.map_or(([0; 3], DVec3::X), |near| (raw.triangles[near.triangle], near.barycentrics))
    };
    mesh.positions.iter().map(find).collect()
}

/// Reads a sample and compares it with the mesh `raw` of the solid.
fn read_sample(solid: &str, file: &Path, raw: &TriMesh, files: &dyn Reader) -> Result<TriMesh, WorldError> {
    let user = format!("solid `{solid}`, `deform`");
    let sample = read_mesh_from(file, files).map_err(|error| WorldError::MeshRead {
        user: user.clone(),
        file: file.into(),
        reason: error.to_string(),
    })?;
    let broken = |reason: String| Err(WorldError::MeshBroken { user: user.clone(), file: file.into(), reason });
    let count = |mesh: &TriMesh| format!("{} vertices, {} triangles", mesh.positions.len(), mesh.triangles.len());
    if sample.positions.len() != raw.positions.len() || sample.triangles != raw.triangles {
        return broken(format!(
            "its topology differs from that of `file` ({}, not {}); export the mesh with the same vertices and \
             triangles in all frames (no remeshing, no modifier that adds or removes faces over time)",
            count(&sample),
            count(raw)
        ));
    }
    if let Some(v) = sample.positions.iter().position(|p| !p.is_finite()) {
        return broken(format!("vertex {v} is not finite"));
    }
    Ok(sample)
}
