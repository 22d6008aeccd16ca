//! Drops that touch become one, through a distance field: slow, and sure.
//!
//! Each drop's surface is carried on a little way into the solids that it stands on ([`crate::body`]), so that its distance field passes through them; the fields
//! are joined by a smooth minimum, which bridges gaps of up to half a cell, and the zero surface of what is outside the solids is extracted anew
//! ([`crate::extraction`]): closed and manifold whatever the fields, so nothing that drops do to one another can leave a hole.

use glam::DVec3;

use crate::body::Body;
use crate::extraction::{CELL, Liquid, Request, extract_liquid};
use crate::ground::Ground;
use crate::mesh::Mesh;

/// Width of the smooth minimum, in cells.
const BLEND: f64 = 1.5;

/// The solid that most of some surfaces' contact is on, if it is flat where they touch it.
pub fn flat_floor(meshes: &[&Mesh], world: &Ground) -> Option<usize> {
    let mut areas = vec![0.0; world.solids().len()];
    for mesh in meshes {
        for t in 0..mesh.triangles.len() {
            if mesh.solids[t] >= 0 {
                areas[mesh.solids[t] as usize] += mesh.area_vector(t).length();
            }
        }
    }
    let (best, &area) = areas.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
    if area == 0.0 {
        return None;
    }
    let solid = &world.solids()[best];
    let mut frame: Option<(DVec3, DVec3)> = None;
    for mesh in meshes {
        let [low, high] = mesh.bounds();
        let size = low.distance(high);
        for v in 0..mesh.positions.len() as u32 {
            if mesh.solid_at(v) == best as i32 {
                let near = solid.closest(mesh.positions[v as usize]);
                let (point, normal) = *frame.get_or_insert((near.point, near.normal));
                if (near.point - point).dot(normal).abs() > 1e-6 * size {
                    return None;
                }
            }
        }
    }
    Some(best)
}

/// The surface of one drop made anew, without velocities; perhaps in several parts.
pub fn renew(mesh: &Mesh, edge: f64, world: &Ground) -> Option<Mesh> {
    let bodies = [Body::new(mesh, world, 3.0 * CELL * edge)];
    let liquid = Liquid::Bodies { bodies: &bodies, blend: 0.0 };
    extract_liquid(&Request { liquid, bounds: mesh.bounds(), edge, floor: flat_floor(&[mesh], world) }, world)
}

/// The union of some drops that touch, in parts, largest first; `None` if they do not become fewer.
pub fn join(meshes: &[&Mesh], edge: f64, world: &Ground) -> Option<Vec<Mesh>> {
    let cell = CELL * edge;
    let bodies: Vec<Body> = meshes.iter().map(|mesh| Body::new(mesh, world, 3.0 * cell)).collect();
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let bounds = meshes.iter().map(|mesh| mesh.bounds()).fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)]);
    let liquid = Liquid::Bodies { bodies: &bodies, blend: BLEND * cell };
    let request = Request { liquid, bounds, edge, floor: flat_floor(meshes, world) };
    let mut mesh = extract_liquid(&request, world)?;
    for v in 0..mesh.positions.len() {
        let point = mesh.positions[v];
        let mut near = (f64::INFINITY, DVec3::ZERO);
        for body in &bodies {
            if body.beyond(point) < near.0
                && let Some(found) = body.velocity(point)
                && found.0 < near.0
            {
                near = found;
            }
        }
        mesh.velocities[v] = near.1;
    }
    let mut sized: Vec<(f64, Vec<u32>)> =
        mesh.parts().into_iter().map(|part| (mesh.part_volume(&part), part)).collect();
    sized.retain(|(volume, _)| *volume > 0.0);
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lists: Vec<Vec<u32>> = sized.into_iter().map(|(_, list)| list).collect();
    let parts = mesh.extract(&lists);
    (!parts.is_empty() && parts.len() < meshes.len()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use sessile_world::World;

    use super::*;
    use crate::shapes::ball;
    use crate::validate::{check, check_crossings};

    /// The top of a ball pushed down through its bottom: what has come out below is turned inside out. By the sign of the nearest triangle all space round
    /// it would be liquid, and every surface made anew would be larger than the last.
    #[test]
    fn a_surface_that_has_passed_through_itself_is_made_anew_without_growing() {
        let world = Ground::new(World::build(&crate::testing::scene("")).unwrap());
        let mut mesh = ball(DVec3::ZERO, 1e-3, 0.15e-3, |_| 1e-3).unwrap();
        for p in &mut mesh.positions {
            let depth = (1.0 - p.truncate().length_squared() / 0.25e-6).max(0.0);
            if p.z > 0.0 {
                p.z -= 2.5e-3 * depth;
            }
        }
        assert!(check_crossings(&mesh).is_err(), "it passes through itself");
        let made = renew(&mesh, 0.15e-3, &world).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let [low, high] = made.bounds();
        let size = (high - low) * 1e3;
        assert!(size.max_element() < 2.01, "a ball of 2 mm has become {size} mm large");
        // The hole goes all the way through: a torus, and perhaps some shreds.
        let whole = made.volume();
        let parts = made.extract(&made.parts());
        let largest = parts.iter().max_by(|a, b| a.volume().total_cmp(&b.volume())).unwrap();
        let euler = largest.positions.len() as i64 - largest.triangles.len() as i64 / 2;
        assert_eq!(euler, 0, "Euler number of what is left");
        assert!(largest.volume() > 0.99 * whole, "{} parts, the largest {} of {whole}", parts.len(), largest.volume());
    }
}
