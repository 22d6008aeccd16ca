//! The liquid of a frame as a glTF file has it: coarser where it would be too large, and quantized.
//!
//! A frame may have [`FRAME_BYTES`], or [`DROP_BYTES`] per drop where there are many: enough for a
//! drop on a screen. Frames that exceed it lose short edges ([`collapse_short_edges`]), relative to
//! the size of their drop, by the same criterion in the whole run, so that a drop at rest keeps its
//! mesh. Vertices that stay keep their normals, which come from the full surface; they move along
//! them as far as the drop keeps its volume, those on solids not at all.
//!
//! Positions are 16-bit integers on a lattice with one step for the whole run
//! (KHR_mesh_quantization), so that a drop at rest does not jitter; normals have 8 bits.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use sessile_appearance::smooth_normals;
use sessile_frames::Surface;
use sessile_geometry::edge_collapse::{
    AdjacentTriangles, Collapse, Collapsible, VertexMap, collapse_short_edges, keeps_contact_line,
};

use super::document::Buffer;
use crate::error::ExportError;
use crate::job::Job;
use crate::render_mesh::unit_normal;

/// Largest size of a frame, in bytes.
const FRAME_BYTES: usize = 250_000;

/// Bytes of a frame per drop, where that is more.
const DROP_BYTES: usize = 1_600;

/// Short edges are collapsed in steps, from this part of the mean edge, by this factor: a single
/// step removes nine tenths of the triangles at most, and cuts corners.
const FIRST: f64 = 0.5;
const COARSER: f64 = 1.2;

/// Most steps; none is left with an edge then.
const STEPS: usize = 60;

/// Newton steps towards the volumes of the drops.
const VOLUME_STEPS: usize = 3;

/// Largest 16-bit coordinate.
const LARGEST: f64 = 32767.0;

/// How coarse the frames of a run are: edges shorter than a number times [`own_length`] of their
/// drop are collapsed, for each of a series of numbers. None keeps everything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coarseness {
    first: f64,
    steps: usize,
}

/// A frame's vertices and triangles in single precision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameMesh {
    /// Positions, in m.
    pub positions: Vec<DVec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Drop of each vertex.
    pub drops: Vec<u32>,
    /// Vertices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// The lattice of a run's positions.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// Its step, in m.
    pub step: f64,
}

impl Coarseness {
    /// The least coarseness at which the largest frame of the run is small enough.
    pub fn of_run(job: &Job<'_>) -> Result<Self, ExportError> {
        let mut worst: Option<(f64, Surface)> = None;
        for &frame in &job.source.frames {
            job.check_stop()?;
            let liquid = job.source.read_frame(frame)?.liquid;
            let excess = size(liquid.positions.len(), liquid.triangles.len()) as f64 / limit(&liquid) as f64;
            if excess > worst.as_ref().map_or(1.0, |(worst, _)| *worst) {
                worst = Some((excess, liquid));
            }
        }
        Ok(worst.map_or_else(Self::default, |(_, liquid)| Self::of_frame(&liquid)))
    }

    fn of_frame(liquid: &Surface) -> Self {
        let (largest, first) = (limit(liquid), FIRST * mean_scaled_edge(liquid));
        let mut reduced = Reduced::of(liquid);
        for steps in 0..STEPS {
            let mesh = &reduced.mesh;
            if size(mesh.positions.len(), mesh.triangles.len()) <= largest {
                return Self { first, steps };
            }
            reduced.collapse(Self { first, steps: steps + 1 }, steps);
        }
        Self { first, steps: STEPS }
    }

    /// The shortest edge after a step, in lengths of its drop.
    fn shortest(self, step: usize) -> f64 {
        self.first * COARSER.powi(step as i32)
    }
}

/// Bytes of a frame of so many vertices and triangles.
fn size(vertices: usize, triangles: usize) -> usize {
    16 * vertices + 3 * index_bytes(vertices) * triangles
}

/// Bytes of a vertex index.
pub fn index_bytes(vertices: usize) -> usize {
    // 65535 restarts a primitive.
    if vertices < 65535 { 2 } else { 4 }
}

fn limit(liquid: &Surface) -> usize {
    let mut drops = liquid.drops.clone();
    drops.sort_unstable();
    drops.dedup();
    FRAME_BYTES.max(DROP_BYTES * drops.len())
}

impl FrameMesh {
    /// The liquid of a frame.
    pub fn of(liquid: &Surface, coarseness: Coarseness) -> Self {
        if liquid.triangles.is_empty() {
            return Self::default();
        }
        let mut reduced = Reduced::of(liquid);
        (0..coarseness.steps).for_each(|step| reduced.collapse(coarseness, step));
        if coarseness.steps > 0 {
            let wanted = volumes(&liquid.positions, &liquid.triangles, &liquid.drops);
            (0..VOLUME_STEPS).for_each(|_| reduced.restore_volumes(&wanted));
        }
        reduced.mesh
    }

    /// Whether the triangles, and the drops of the vertices, are those of another frame.
    pub fn has_triangles_of(&self, other: &Self) -> bool {
        self.triangles == other.triangles && self.drops == other.drops
    }

    /// Corners of the bounding box, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = self.positions.iter().fold(start, |[low, high], p| [low.min(*p), high.max(*p)]);
        if low.is_finite() { [low, high] } else { [DVec3::ZERO; 2] }
    }

    /// Adds positions and normals.
    pub fn write_vertices(&self, buffer: &mut Buffer, lattice: Lattice, center: DVec3) {
        for position in &self.positions {
            let [x, y, z] = lattice.quantized(*position, center);
            for value in [x, y, z, 0] {
                buffer.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        for normal in &self.normals {
            let [x, y, z] = (*normal * 127.0).round().to_array().map(|value| value as i8);
            for value in [x, y, z, 0] {
                buffer.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Adds drops and vertex indices.
    pub fn write_triangles(&self, buffer: &mut Buffer) {
        buffer.floats(self.drops.iter().map(|drop| *drop as f32));
        let short = index_bytes(self.positions.len()) == 2;
        for &vertex in self.triangles.as_flattened() {
            if short {
                buffer.bytes.extend_from_slice(&(vertex as u16).to_le_bytes());
            } else {
                buffer.bytes.extend_from_slice(&vertex.to_le_bytes());
            }
        }
        buffer.pad();
    }
}

impl Lattice {
    /// The finest lattice on which all frames of these bounds have 16-bit coordinates.
    pub fn of(bounds: impl Iterator<Item = [DVec3; 2]>) -> Self {
        let extent = bounds.map(|[low, high]| (high - low).max_element()).fold(0.0, f64::max);
        // One step is lost by rounding the center.
        Self { step: (0.5 * extent / (LARGEST - 1.0)).max(1e-12) }
    }

    /// A point of the lattice in the middle of a box, in m.
    pub fn center(&self, [low, high]: [DVec3; 2]) -> DVec3 {
        (0.5 * (low + high) / self.step).round() * self.step
    }

    /// A position in steps from a center.
    pub fn quantized(&self, position: DVec3, center: DVec3) -> [i16; 3] {
        ((position - center) / self.step).round().to_array().map(|value| value as i16)
    }
}

/// The length that is a short edge for a drop of a surface area (in m²) as for any other: it grows
/// with the size to ¾, so that large drops have more triangles, and small ones enough.
fn own_length(area: f64) -> f64 {
    let size = area.sqrt().max(1e-12);
    size.sqrt() * size.sqrt().sqrt()
}

/// Positions in the drops' own lengths.
fn scaled_positions(liquid: &Surface) -> Vec<DVec3> {
    let mut areas: BTreeMap<u32, f64> = BTreeMap::new();
    for triangle in &liquid.triangles {
        let [a, b, c] = triangle.map(|v| liquid.positions[v as usize]);
        *areas.entry(liquid.drops[triangle[0] as usize]).or_default() += 0.5 * (b - a).cross(c - a).length();
    }
    let scale = |drop: &u32| areas.get(drop).map_or(1.0, |&area| 1.0 / own_length(area));
    liquid.positions.iter().zip(&liquid.drops).map(|(position, drop)| *position * scale(drop)).collect()
}

/// Volume that the surface of each drop encloses, in m³.
fn volumes(positions: &[DVec3], triangles: &[[u32; 3]], drops: &[u32]) -> BTreeMap<u32, f64> {
    let mut volumes = BTreeMap::new();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        *volumes.entry(drops[triangle[0] as usize]).or_insert(0.0) += a.dot(b.cross(c)) / 6.0;
    }
    volumes
}

fn mean_scaled_edge(liquid: &Surface) -> f64 {
    let scaled = scaled_positions(liquid);
    let edges = liquid.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let sum: f64 = edges.map(|[a, b]| scaled[a as usize].distance(scaled[b as usize])).sum();
    sum / (3 * liquid.triangles.len()).max(1) as f64
}

/// A frame that is being made coarser.
struct Reduced {
    scaled: Vec<DVec3>,
    on_solid: Vec<bool>,
    mesh: FrameMesh,
}

impl Reduced {
    fn of(liquid: &Surface) -> Self {
        let normals = smooth_normals(&liquid.positions, &liquid.triangles).into_iter().map(unit_normal).collect();
        Self {
            scaled: scaled_positions(liquid),
            on_solid: liquid.solids.iter().map(|&solid| solid >= 0).collect(),
            mesh: FrameMesh {
                positions: liquid.positions.clone(),
                normals,
                drops: liquid.drops.clone(),
                triangles: liquid.triangles.clone(),
            },
        }
    }

    /// Moves the vertices that are not on a solid out or in, so that drops have these volumes.
    fn restore_volumes(&mut self, wanted: &BTreeMap<u32, f64>) {
        let FrameMesh { positions, normals, drops, triangles } = &mut self.mesh;
        let found = volumes(positions, triangles, drops);
        let mut wetted = vec![false; positions.len()];
        for (triangle, _) in triangles.iter().zip(&self.on_solid).filter(|(_, on_solid)| **on_solid) {
            triangle.iter().for_each(|&v| wetted[v as usize] = true);
        }
        // Volume per length that all free vertices of a drop move.
        let mut rates: BTreeMap<u32, f64> = BTreeMap::new();
        for triangle in triangles.iter() {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let moving = triangle.iter().filter(|&&v| !wetted[v as usize]).count();
            *rates.entry(drops[triangle[0] as usize]).or_default() +=
                (b - a).cross(c - a).length() * moving as f64 / 6.0;
        }
        let shift = |drop: &u32| match (wanted.get(drop), found.get(drop), rates.get(drop)) {
            (Some(wanted), Some(found), Some(&rate)) if rate > 0.0 => (wanted - found) / rate,
            _ => 0.0,
        };
        for (v, position) in positions.iter_mut().enumerate().filter(|(v, _)| !wetted[*v]) {
            *position += shift(&drops[v]) * normals[v].as_dvec3();
        }
    }

    fn collapse(&mut self, coarseness: Coarseness, step: usize) {
        collapse_short_edges(self, coarseness.shortest(step));
    }
}

impl Collapsible for Reduced {
    type VertexClasses = Vec<AdjacentTriangles>;

    fn positions(&self) -> &[DVec3] {
        &self.scaled
    }

    fn triangles(&self) -> &[[u32; 3]] {
        &self.mesh.triangles
    }

    fn classify_vertices(&self) -> Self::VertexClasses {
        AdjacentTriangles::classify(self.scaled.len(), &self.mesh.triangles, &self.on_solid)
    }

    fn allows(&self, collapse: &Collapse, classes: &Self::VertexClasses) -> bool {
        keeps_contact_line(collapse, &self.mesh.triangles, &self.on_solid, classes)
    }

    fn renumber(&mut self, map: &VertexMap) {
        map.compact(&mut self.scaled);
        map.compact(&mut self.mesh.positions);
        map.compact(&mut self.mesh.normals);
        map.compact(&mut self.mesh.drops);
        map.renumber(&mut self.mesh.triangles, &mut self.on_solid);
    }
}

#[cfg(test)]
mod tests {
    use glam::DMat3;
    use sessile_frames::instances::surface_with;
    use sessile_numerics::sphere_volume;
    use sessile_shapes::{Detail, Instance, LocalFrame, Shape};

    use super::*;

    fn spheres(count: u32) -> Surface {
        let drop = |k: u32| Instance {
            drop: k + 1,
            solid: None,
            frame: LocalFrame {
                origin: 0.01 * DVec3::new(f64::from(k % 15), f64::from(k / 15), 0.0),
                axes: DMat3::IDENTITY,
            },
            volume: sphere_volume(1e-3 + 1e-5 * f64::from(k)),
            velocity: DVec3::ZERO,
            shape: Shape::Sphere,
        };
        let drops: Vec<Instance> = (0..count).map(drop).collect();
        surface_with(&drops, &|_| Detail { edge: 1e-4, fewest: 10, most: 60 }).unwrap()
    }

    #[test]
    fn a_hundred_and_fifty_drops_fit_and_keep_their_volume() {
        let liquid = spheres(150);
        let whole = FrameMesh::of(&liquid, Coarseness::default());
        assert!(size(whole.positions.len(), whole.triangles.len()) > 4 * FRAME_BYTES);
        let coarse = FrameMesh::of(&liquid, Coarseness::of_frame(&liquid));
        let bytes = size(coarse.positions.len(), coarse.triangles.len());
        assert!((FRAME_BYTES * 6 / 10..=FRAME_BYTES).contains(&bytes), "{bytes} bytes");
        let [before, after] = [&whole, &coarse].map(|mesh| volumes(&mesh.positions, &mesh.triangles, &mesh.drops));
        for (drop, volume) in before {
            assert!((after[&drop] / volume - 1.0).abs() < 0.02, "drop {drop}: {} of its volume", after[&drop] / volume);
        }
        assert_eq!(coarse.drops.iter().copied().collect::<std::collections::BTreeSet<u32>>().len(), 150);
    }

    #[test]
    fn positions_are_within_half_a_step_and_drops_at_rest_do_not_jitter() {
        let (few, many) = (spheres(20), spheres(40));
        let meshes = [few, many].map(|liquid| FrameMesh::of(&liquid, Coarseness::default()));
        let lattice = Lattice::of(meshes.iter().map(FrameMesh::bounds));
        let place = |mesh: &FrameMesh, v: usize| {
            let center = lattice.center(mesh.bounds());
            let [x, y, z] = lattice.quantized(mesh.positions[v], center).map(f64::from);
            center + lattice.step * DVec3::new(x, y, z)
        };
        for v in [0, 100, 1000] {
            let [a, b] = [place(&meshes[0], v), place(&meshes[1], v)];
            assert!((a - meshes[0].positions[v]).abs().max_element() <= 0.5001 * lattice.step);
            assert!((a - b).abs().max_element() < 1e-6 * lattice.step, "{a} and {b}");
        }
    }
}
