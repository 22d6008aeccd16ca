//! Skirts: triangles that extend a drop's contact line into its solid and close the gap to it.
//!
//! The contact line lies on the exact solid of the model, but the image shows the solid's
//! triangles; on a curved solid they differ by the sagitta of the facets. Where the contact line
//! hovers over a facet, light would pass under it and the drop would look as if it lay on a film of
//! air. A skirt (as used against cracks between terrain tiles) closes the gap. It extends to the
//! solid's surface at the contact line's vertices and edge midpoints, plus a small overlap; more
//! would stick out of the far side of a leaf, which has no thickness.

use glam::DVec3;
use sessile_frames::Surface;

use crate::normals::smooth_normals;
use crate::ray_bvh::{Ray, RayBvh};

/// Overlap of skirt and solid, relative to the edge length of the contact line.
const OVERLAP: f64 = 2e-3;

/// Range in which the solid is searched above and below the contact line, relative to its edge
/// length. Where the solid is farther away, a skirt would not help.
const SEARCH_RANGE: f64 = 0.5;

/// A triangle of a skirt.
pub struct SkirtTriangle {
    /// Its corners, in m.
    pub corners: [DVec3; 3],
    /// The contact-line vertex at or above each corner.
    pub vertices: [u32; 3],
}

/// The skirts of a liquid surface on the solids that `wanted` selects; `solids` are the triangles
/// of all solids.
pub fn skirt_triangles(
    surface: &Surface,
    wanted: impl Fn(i32) -> bool,
    solids: impl Iterator<Item = [DVec3; 3]>,
) -> Vec<SkirtTriangle> {
    let wetted: Vec<[u32; 3]> = (0..surface.triangles.len())
        .filter(|&t| surface.solids.get(t).is_some_and(|&solid| solid >= 0 && wanted(solid)))
        .map(|t| surface.triangles[t])
        .filter(|t| t.iter().all(|&v| surface.positions.get(v as usize).is_some_and(|p| p.is_finite())))
        .collect();
    let mut edges: Vec<[u32; 2]> = wetted.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    let contact_line = edges.iter().filter(|&&[a, b]| edges.binary_search(&[b, a]).is_err());
    let Some(&[first, _]) = contact_line.clone().next() else { return Vec::new() };

    // Single precision about a point of the contact line.
    let origin = surface.positions[first as usize];
    let corners: Vec<_> = solids.map(|corners| corners.map(|p| (p - origin).as_vec3())).collect();
    let bvh = RayBvh::new(&corners, &[]);
    let down = smooth_normals(&surface.positions, &wetted);
    let mut skirts = Vec::new();
    for &[a, b] in contact_line {
        let [p, q] = [a, b].map(|v| surface.positions[v as usize]);
        let [into_p, into_q] = [a, b].map(|v| down[v as usize].as_dvec3());
        let edge = p.distance(q);
        let middle = ((0.5 * (p + q)), (into_p + into_q).normalize_or_zero());
        let gap = [(p, into_p), middle, (q, into_q)]
            .into_iter()
            .filter_map(|(at, into)| {
                let start = ((at - origin) - SEARCH_RANGE * edge * into).as_vec3();
                let ray = Ray { origin: start, direction: into.as_vec3(), time: 0.0, origin_triangle: None };
                let hit = bvh.intersect(&ray, (2.0 * SEARCH_RANGE * edge) as f32, |_| true)?;
                Some(f64::from(hit.distance) - SEARCH_RANGE * edge)
            })
            .fold(0.0, f64::max);
        let depth = gap + OVERLAP * edge;
        let [p2, q2] = [p + depth * into_p, q + depth * into_q];
        // The free surface above has the opposite orientation along the contact line; the skirt
        // continues it.
        skirts.push(SkirtTriangle { corners: [p, q, q2], vertices: [a, b, b] });
        skirts.push(SkirtTriangle { corners: [p, q2, p2], vertices: [a, b, a] });
    }
    skirts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square liquid base whose contact line lies `height` above the plane y = 0.
    fn base(height: f64) -> Surface {
        let corner = |x: f64, z: f64| DVec3::new(x, height, z);
        Surface {
            positions: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
            velocities: vec![DVec3::ZERO; 4],
            drops: vec![1; 4],
            // Outward from the liquid: down.
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            solids: vec![0; 2],
        }
    }

    fn plane() -> impl Iterator<Item = [DVec3; 3]> {
        let far = |x: f64, z: f64| DVec3::new(9.0 * x, 0.0, 9.0 * z);
        [[far(-1.0, 1.0), far(1.0, 1.0), far(1.0, -1.0)], [far(-1.0, 1.0), far(1.0, -1.0), far(-1.0, -1.0)]].into_iter()
    }

    #[test]
    fn a_skirt_closes_the_gap_and_hardly_overlaps_the_solid() {
        for height in [0.1, 1e-3, 0.0, -0.02] {
            let skirts = skirt_triangles(&base(height), |_| true, plane());
            assert_eq!(skirts.len(), 8);
            let lowest = skirts.iter().flat_map(|s| s.corners).map(|c| c.y).fold(f64::INFINITY, f64::min);
            let out = height.min(0.0) - 2.1 * OVERLAP;
            assert!(lowest < height.min(0.0) && lowest > out, "contact line at {height}: the skirt ends at {lowest}");
        }
    }

    #[test]
    fn skirts_have_the_orientation_of_the_drop() {
        for skirt in skirt_triangles(&base(0.1), |_| true, plane()) {
            let [a, b, c] = skirt.corners;
            let normal = (b - a).cross(c - a);
            assert!(normal.dot((a + b + c) / 3.0) > 0.0, "{:?} points to {normal}", skirt.corners);
        }
    }

    #[test]
    fn unselected_solids_free_drops_and_invalid_surfaces_have_no_skirts() {
        assert!(skirt_triangles(&base(0.1), |_| false, plane()).is_empty());
        assert!(skirt_triangles(&Surface { solids: vec![-1; 2], ..base(0.1) }, |_| true, plane()).is_empty());
        let mut broken = base(0.1);
        broken.positions[2] = DVec3::NAN;
        broken.triangles.push([7, 8, 9]);
        broken.solids.push(0);
        assert!(skirt_triangles(&broken, |_| true, plane()).is_empty());
    }
}
