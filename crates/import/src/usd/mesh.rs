//! Meshes: polygons, texture coordinates, creases and material subsets of a `Mesh` prim.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::layer::UsdPrim;
use crate::polygons::Polygons;
use crate::subdivision::Creases;

/// The polygons of a mesh between `num_points` points, counterclockwise seen from outside.
pub fn polygons(prim: &UsdPrim, num_points: usize) -> Polygons {
    let indices = integers(prim, "faceVertexIndices");
    let uvs = corner_uvs(prim, &indices, num_points);
    let mut polygons = Polygons { counts: integers(prim, "faceVertexCounts"), indices, uvs };
    if prim.text("orientation") == Some("leftHanded") {
        polygons.reverse_winding();
    }
    polygons
}

/// Points listed number by number.
pub fn points(numbers: &[f64]) -> Vec<DVec3> {
    numbers.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect()
}

/// Indices or counts; negative ones become an index that no array has.
fn integers(prim: &UsdPrim, name: &str) -> Vec<usize> {
    prim.numbers(name).iter().map(|v| if *v < 0.0 { usize::MAX } else { *v as usize }).collect()
}

/// Sharp features of a mesh that states that it is a subdivision surface; `None` for polygons.
pub fn creases(prim: &UsdPrim) -> Option<Creases> {
    prim.text("subdivisionScheme").filter(|scheme| matches!(*scheme, "catmullClark" | "loop"))?;
    let round_corners = prim.text("interpolateBoundary") == Some("edgeOnly");
    let mut creases = Creases { round_corners, ..Creases::default() };
    let (points, lengths) = (integers(prim, "creaseIndices"), integers(prim, "creaseLengths"));
    creases.add_chains(&points, &lengths, prim.numbers("creaseSharpnesses"));
    creases.corners =
        integers(prim, "cornerIndices").into_iter().zip(prim.numbers("cornerSharpnesses").iter().copied()).collect();
    Some(creases)
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
