//! Splitting of a frame's surface into one surface per drop.

use std::collections::BTreeMap;

use sessile_frames::Surface;
use sessile_numerics::OptionalIndex;

/// The surfaces of a frame's drops with their ids, in ascending order of ids. A triangle belongs to
/// the drop of its first corner.
pub fn split_by_drop(surface: &Surface) -> Vec<(Option<u32>, Surface)> {
    let mut parts: BTreeMap<u32, Surface> = BTreeMap::new();
    // Index of each vertex in the surface of its drop.
    let mut new_index = vec![OptionalIndex::NONE; surface.positions.len()];
    for (triangle, &solid) in surface.triangles.iter().zip(&surface.solids) {
        let part = parts.entry(surface.drops[triangle[0] as usize]).or_default();
        let own = triangle.map(|v| {
            let v = v as usize;
            new_index[v].get_or_insert_with(|| {
                part.positions.push(surface.positions[v]);
                part.velocities.push(surface.velocities[v]);
                part.drops.push(surface.drops[v]);
                part.positions.len() as u32 - 1
            })
        });
        part.triangles.push(own);
        part.solids.push(solid);
    }
    parts.into_iter().map(|(id, part)| (Some(id), part)).collect()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn triangles_and_vertices_are_assigned_to_their_drop() {
        let mut surface = Surface::default();
        for drop in [7_u32, 3] {
            let base = surface.positions.len() as u32;
            for corner in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
                surface.positions.push(corner + DVec3::splat(f64::from(drop)));
                surface.velocities.push(corner);
                surface.drops.push(drop);
            }
            for triangle in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
                surface.triangles.push(triangle.map(|v: u32| v + base));
                surface.solids.push(-1);
            }
        }
        let parts = split_by_drop(&surface);
        assert_eq!(parts.iter().map(|(id, _)| id.unwrap()).collect::<Vec<_>>(), [3, 7]);
        for (id, part) in parts {
            part.validate().unwrap();
            assert_eq!((part.positions.len(), part.triangles.len()), (4, 4));
            let low = part.positions.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
            assert_eq!(low, DVec3::splat(f64::from(id.unwrap())));
        }
    }
}
