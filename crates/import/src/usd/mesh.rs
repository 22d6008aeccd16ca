//! Meshes: polygons, texture coordinates and material subsets of a `Mesh` prim.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::{DMat4, DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_numerics::OptionalIndex;

use super::layer::UsdPrim;

/// Polygons of a mesh in world space.
pub struct Polygons {
    points: Vec<DVec3>,
    /// Number of corners of each polygon.
    counts: Vec<usize>,
    /// Vertices of all corners, polygon after polygon.
    indices: Vec<usize>,
    /// Texture coordinates of all corners; empty where the mesh has none.
    uvs: Vec<DVec2>,
}

impl Polygons {
    /// Reads the polygons of a mesh between `points` and transforms them to world space.
    pub fn of_prim(prim: &UsdPrim, points: &[f64], world_from_prim: DMat4) -> Self {
        let points = points.as_chunks::<3>().0.iter();
        let integers = |name: &str| -> Vec<usize> { prim.numbers(name).iter().map(|v| *v as usize).collect() };
        let points: Vec<DVec3> = points.map(|p| world_from_prim.transform_point3(DVec3::from_array(*p))).collect();
        let indices = integers("faceVertexIndices");
        let uvs = corner_uvs(prim, &indices, points.len());
        let mut polygons = Self { points, counts: integers("faceVertexCounts"), indices, uvs };
        // Both a mirroring transform and a left-handed mesh reverse the winding.
        let left_handed = prim.text("orientation") == Some("leftHanded");
        if left_handed != (world_from_prim.determinant() < 0.0) {
            polygons.reverse_winding();
        }
        polygons
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    fn reverse_winding(&mut self) {
        let mut start = 0_usize;
        for count in &self.counts {
            let Some(end) = start.checked_add(*count).filter(|end| *end <= self.indices.len()) else { break };
            self.indices[start..end].reverse();
            if self.uvs.len() >= end {
                self.uvs[start..end].reverse();
            }
            start = end;
        }
    }

    /// The triangles of some of the polygons. The error says what is wrong with the mesh.
    pub fn triangulate(&self, faces: &[usize]) -> Result<TriMesh, &'static str> {
        let mut starts = vec![0_usize];
        starts.extend(self.counts.iter().scan(0_usize, |sum, count| {
            *sum = sum.saturating_add(*count);
            Some(*sum)
        }));
        let faces: Vec<usize> = faces.iter().copied().filter(|face| *face < self.counts.len()).collect();
        let ranges: Vec<Range<usize>> =
            faces.iter().map(|face| starts[*face]..starts[*face].saturating_add(self.counts[*face])).collect();
        if ranges.iter().any(|range| range.end > self.indices.len()) {
            return Err("its faces have more corners than it has indices");
        }
        let counts: Vec<usize> = faces.iter().map(|face| self.counts[*face]).collect();
        let indices: Vec<usize> = ranges.iter().flat_map(|range| &self.indices[range.clone()]).copied().collect();
        let uvs: Vec<DVec2> = if self.uvs.len() == self.indices.len() {
            ranges.iter().flat_map(|range| &self.uvs[range.clone()]).copied().collect()
        } else {
            Vec::new()
        };
        triangulate(&self.points, &counts, &indices, &uvs).ok_or("an index or a coordinate is out of range")
    }
}

/// Texture coordinates of the corners, given per corner or per vertex, with or without indices.
fn corner_uvs(prim: &UsdPrim, indices: &[usize], num_points: usize) -> Vec<DVec2> {
    for name in ["primvars:st", "primvars:UVMap", "primvars:st0", "primvars:uv"] {
        let Some(values) = prim.properties.get(name) else { continue };
        let mut uvs: Vec<DVec2> = values.numbers().as_chunks::<2>().0.iter().map(|uv| DVec2::from_array(*uv)).collect();
        if let Some(order) = prim.properties.get(&format!("{name}:indices")) {
            uvs = order.numbers().iter().filter_map(|k| uvs.get(*k as usize).copied()).collect();
        }
        if uvs.len() == indices.len() {
            return uvs;
        }
        if uvs.len() == num_points {
            return indices.iter().filter_map(|v| uvs.get(*v).copied()).collect();
        }
    }
    Vec::new()
}

/// Faces by material: those of each subset that has a material, and the rest.
pub fn faces_by_material(
    prim: &UsdPrim,
    count: usize,
    bound: &str,
    materials: &BTreeMap<String, String>,
) -> Vec<(String, Vec<usize>)> {
    let mut taken = vec![false; count];
    let mut parts = Vec::new();
    for subset in prim.children.iter().filter(|child| child.kind == "GeomSubset") {
        let path = subset.text("material:binding");
        let Some(name) = path.and_then(|path| materials.get(path)) else { continue };
        let faces: Vec<usize> = subset.numbers("indices").iter().map(|f| *f as usize).collect();
        faces.iter().for_each(|face| {
            if let Some(flag) = taken.get_mut(*face) {
                *flag = true;
            }
        });
        parts.push((name.clone(), faces));
    }
    let rest: Vec<usize> = (0..count).filter(|face| !taken[*face]).collect();
    if !rest.is_empty() {
        parts.push((bound.to_owned(), rest));
    }
    parts
}

/// Splits polygons into triangle fans, with only the vertices that they use.
///
/// `counts` are the numbers of corners of the polygons, `indices` the vertices of all corners,
/// `uvs` their texture coordinates, or none. Returns `None` where an index is out of range or a
/// coordinate is not finite.
fn triangulate(points: &[DVec3], counts: &[usize], indices: &[usize], uvs: &[DVec2]) -> Option<TriMesh> {
    let mut mesh = TriMesh::default();
    let mut new_index = vec![OptionalIndex::NONE; points.len()];
    let mut start = 0_usize;
    for &count in counts {
        let corners = indices.get(start..start.checked_add(count)?)?;
        let mut own = Vec::with_capacity(count);
        for &v in corners {
            let index = new_index.get_mut(v)?;
            own.push(index.get_or_insert_with(|| {
                mesh.positions.push(points[v]);
                mesh.positions.len() as u32 - 1
            }));
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
