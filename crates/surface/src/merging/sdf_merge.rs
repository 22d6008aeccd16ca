//! Merging drops through a distance field, and rebuilding a single one.
//!
//! Each surface is extended a little into its solids ([`super::sdf_body`]), so that its distance
//! field passes through them. The fields are joined by a smooth minimum, which bridges gaps of up
//! to half a cell, and the zero set outside the solids is extracted ([`super::extraction`]): closed
//! and manifold for any field.

use glam::DVec3;

use super::extraction::{CELL, ExtractionRequest, LiquidField, extract_liquid};
use super::sdf_body::SdfBody;
use crate::mesh::index::TriangleIndex;
use crate::mesh::{Interface, Mesh};
use crate::substrate::SolidIndex;
use crate::substrate::Substrate;

/// Width of the smooth minimum, in cells.
const BLEND: f64 = 1.5;

/// The solid with most of the surfaces' contact area, if it is flat where they touch it.
fn flat_floor(meshes: &[&Mesh], substrate: &Substrate) -> Option<SolidIndex> {
    let mut areas = vec![0.0; substrate.solids().len()];
    for mesh in meshes {
        for t in mesh.triangle_indices() {
            if let Some(solid) = mesh.interfaces[t].solid_index() {
                areas[solid] += mesh.area_vector(t).length();
            }
        }
    }
    let (best, &area) = areas.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
    let best = SolidIndex::new(best);
    if area == 0.0 {
        return None;
    }
    let solid = &substrate.solids()[best];
    let mut frame: Option<(DVec3, DVec3)> = None;
    for mesh in meshes {
        let [low, high] = mesh.bounds();
        let size = low.distance(high);
        for v in mesh.vertex_indices() {
            if mesh.interface_at(v) == Interface::Solid(best) {
                let near = solid.closest(mesh.positions[v]);
                let (point, normal) = *frame.get_or_insert((near.point, near.normal));
                if (near.point - point).dot(normal).abs() > 1e-6 * size {
                    return None;
                }
            }
        }
    }
    Some(best)
}

/// The surface of a drop, rebuilt from its distance field and without velocities; it may have
/// several components.
pub fn rebuild_from_sdf(mesh: &Mesh, edge: f64, substrate: &Substrate) -> Option<Mesh> {
    let bodies = [SdfBody::new(mesh, substrate, 3.0 * CELL * edge)];
    let liquid = LiquidField::Bodies { bodies: &bodies, blend: 0.0 };
    extract_liquid(
        &ExtractionRequest { liquid, bounds: mesh.bounds(), edge, floor: flat_floor(&[mesh], substrate) },
        substrate,
    )
}

/// The union of drops that touch, in components, largest first; `None` if they do not become fewer.
pub fn merge_through_sdf(meshes: &[&Mesh], edge: f64, substrate: &Substrate) -> Option<Vec<Mesh>> {
    let cell = CELL * edge;
    let bodies: Vec<SdfBody> = meshes.iter().map(|mesh| SdfBody::new(mesh, substrate, 3.0 * cell)).collect();
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let bounds = meshes.iter().map(|mesh| mesh.bounds()).fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)]);
    let liquid = LiquidField::Bodies { bodies: &bodies, blend: BLEND * cell };
    let request = ExtractionRequest { liquid, bounds, edge, floor: flat_floor(meshes, substrate) };
    let mut mesh = extract_liquid(&request, substrate)?;
    for v in mesh.vertex_indices() {
        let point = mesh.positions[v];
        let mut nearest: Option<(f64, DVec3)> = None;
        for body in &bodies {
            let is_nearer = |distance: f64| nearest.is_none_or(|nearest| distance < nearest.0);
            if is_nearer(body.min_distance(point))
                && let Some(found) = body.velocity(point).filter(|found| is_nearer(found.0))
            {
                nearest = Some(found);
            }
        }
        mesh.velocities[v] = nearest.map_or(DVec3::ZERO, |(_, velocity)| velocity);
    }
    let mut sized: Vec<(f64, Vec<TriangleIndex>)> =
        mesh.components().into_iter().map(|part| (mesh.component_volume(&part), part)).collect();
    sized.retain(|(volume, _)| *volume > 0.0);
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lists: Vec<Vec<TriangleIndex>> = sized.into_iter().map(|(_, list)| list).collect();
    let parts = mesh.extract(&lists);
    (!parts.is_empty() && parts.len() < meshes.len()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use sessile_world::World;

    use super::*;
    use crate::mesh::check::{check, check_crossings};
    use crate::mesh::primitives::sphere;

    /// The top of a sphere pushed down through its bottom: what emerged below is inside out. With
    /// the sign of the nearest triangle all space around it would be liquid, and every rebuilt
    /// surface would grow.
    #[test]
    fn a_surface_that_passes_through_itself_is_rebuilt_without_growing() {
        let substrate = Substrate::new(World::build(&crate::test_support::scene("")).unwrap());
        let mut mesh = sphere(DVec3::ZERO, 1e-3, 0.15e-3, |_| 1e-3).unwrap();
        for p in &mut mesh.positions {
            let depth = (1.0 - p.truncate().length_squared() / 0.25e-6).max(0.0);
            if p.z > 0.0 {
                p.z -= 2.5e-3 * depth;
            }
        }
        assert!(check_crossings(&mesh).is_err(), "the surface passes through itself");
        let made = rebuild_from_sdf(&mesh, 0.15e-3, &substrate).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let [low, high] = made.bounds();
        let size = (high - low) * 1e3;
        assert!(size.max_element() < 2.01, "a sphere of 2 mm became {size} mm large");
        // The hole goes all the way through: a torus, and perhaps some fragments.
        let whole = made.volume();
        let parts = made.extract(&made.components());
        let largest = parts.iter().max_by(|a, b| a.volume().total_cmp(&b.volume())).unwrap();
        let euler = largest.positions.len() as i64 - largest.triangles.len() as i64 / 2;
        assert_eq!(euler, 0, "Euler characteristic of the result");
        assert!(largest.volume() > 0.99 * whole, "{} parts, the largest {} of {whole}", parts.len(), largest.volume());
    }
}
