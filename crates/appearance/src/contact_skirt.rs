//! Skirts: strips that go on from a drop's rim into its solid, so that no gap is left under the rim.
//!
//! A drop's rim lies on the solid that the model knows; the picture has that solid's triangles, and on a curved one the two differ
//! by the facets' sagitta. Where the rim hangs over a facet, light would slip under it and the drop would look as if it lay on a film of
//! air. A skirt closes the gap. It reaches as far as the solid's surface at the rim's corners and halfway between them, and a
//! hair farther, so that it does not come out again under a leaf, which has no thickness at all.

use glam::DVec3;
use sessile_frames::Surface;

use crate::normals::smooth_normals;
use crate::ray_bvh::{NO_TRIANGLE, Ray, RayBvh};

/// How far a skirt goes into the solid, in lengths of the rim's edge.
const HAIR: f64 = 2e-3;

/// Gaps are looked for up to this depth under the rim and from this height over it, in lengths of the rim's edge. Where the solid is
/// not met within it, the rim is not where the solid's triangles are at all, and no skirt would help.
const REACH: f64 = 0.5;

/// A triangle of a skirt.
pub struct SkirtTriangle {
    /// Where its corners are, in m.
    pub corners: [DVec3; 3],
    /// The rim's vertex at or above each corner.
    pub at: [u32; 3],
}

/// The skirts of a liquid surface on those solids that `wanted` says; `solids` are the triangles of all of them.
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
    let rim = edges.iter().filter(|&&[a, b]| edges.binary_search(&[b, a]).is_err());
    let Some(&[first, _]) = rim.clone().next() else { return Vec::new() };

    // Single precision about a point of the rim.
    let origin = surface.positions[first as usize];
    let corners: Vec<_> = solids.map(|corners| corners.map(|p| (p - origin).as_vec3())).collect();
    let ground = RayBvh::new(&corners, &[]);
    let down = smooth_normals(&surface.positions, &wetted);
    let mut strips = Vec::new();
    for &[a, b] in rim {
        let [p, q] = [a, b].map(|v| surface.positions[v as usize]);
        let [into_p, into_q] = [a, b].map(|v| down[v as usize].as_dvec3());
        let edge = p.distance(q);
        let middle = ((0.5 * (p + q)), (into_p + into_q).normalize_or_zero());
        let gap = [(p, into_p), middle, (q, into_q)]
            .into_iter()
            .filter_map(|(at, into)| {
                let start = ((at - origin) - REACH * edge * into).as_vec3();
                let ray = Ray { origin: start, direction: into.as_vec3(), time: 0.0, leaves: NO_TRIANGLE };
                let hit = ground.nearest(&ray, (2.0 * REACH * edge) as f32, |_| true)?;
                Some(f64::from(hit.distance) - REACH * edge)
            })
            .fold(0.0, f64::max);
        let depth = gap + HAIR * edge;
        let [p2, q2] = [p + depth * into_p, q + depth * into_q];
        // The free surface above runs along the rim the other way, and the skirt goes on from it.
        strips.push(SkirtTriangle { corners: [p, q, q2], at: [a, b, b] });
        strips.push(SkirtTriangle { corners: [p, q2, p2], at: [a, b, a] });
    }
    strips
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of liquid's base whose rim lies `height` over the plane y = 0.
    fn base(height: f64) -> Surface {
        let corner = |x: f64, z: f64| DVec3::new(x, height, z);
        Surface {
            positions: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
            velocities: vec![DVec3::ZERO; 4],
            drops: vec![1; 4],
            // Out of the liquid, that is down.
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            solids: vec![0; 2],
        }
    }

    fn ground() -> impl Iterator<Item = [DVec3; 3]> {
        let far = |x: f64, z: f64| DVec3::new(9.0 * x, 0.0, 9.0 * z);
        [[far(-1.0, 1.0), far(1.0, 1.0), far(1.0, -1.0)], [far(-1.0, 1.0), far(1.0, -1.0), far(-1.0, -1.0)]].into_iter()
    }

    #[test]
    fn a_skirt_closes_the_gap_under_a_rim_and_hardly_comes_out_of_a_leaf() {
        for height in [0.1, 1e-3, 0.0, -0.02] {
            let strips = skirt_triangles(&base(height), |_| true, ground());
            assert_eq!(strips.len(), 8);
            let lowest = strips.iter().flat_map(|s| s.corners).map(|c| c.y).fold(f64::INFINITY, f64::min);
            let out = height.min(0.0) - 2.1 * HAIR;
            assert!(lowest < height.min(0.0) && lowest > out, "rim at {height}: the skirt reaches {lowest}");
        }
    }

    #[test]
    fn a_skirts_outside_is_the_drops_outside() {
        for strip in skirt_triangles(&base(0.1), |_| true, ground()) {
            let [a, b, c] = strip.corners;
            let normal = (b - a).cross(c - a);
            assert!(normal.dot((a + b + c) / 3.0) > 0.0, "{:?} points to {normal}", strip.corners);
        }
    }

    #[test]
    fn panes_and_free_drops_have_no_skirts_and_broken_surfaces_are_no_trouble() {
        assert!(skirt_triangles(&base(0.1), |_| false, ground()).is_empty());
        assert!(skirt_triangles(&Surface { solids: vec![-1; 2], ..base(0.1) }, |_| true, ground()).is_empty());
        let mut broken = base(0.1);
        broken.positions[2] = DVec3::NAN;
        broken.triangles.push([7, 8, 9]);
        broken.solids.push(0);
        assert!(skirt_triangles(&broken, |_| true, ground()).is_empty());
    }
}
