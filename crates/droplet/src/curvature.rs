//! Curvature of the solid under a droplet.
//!
//! The curvature is that of the surface at the droplet's own size: the mean fall of the surface
//! along six geodesics of one base radius, on the mesh or, for analytic solids, on the exact
//! surface.

use glam::DVec2;

use crate::surface_mesh::{SurfaceMesh, SurfacePoint};

/// Curvature of the solid under a droplet of base radius `radius` (in m), in 1/m; positive where it
/// is convex.
pub fn curvature(surface: &SurfaceMesh, at: SurfacePoint, radius: f64) -> f64 {
    let round = surface.is_analytic(at.triangle);
    if radius <= 0.0 || (!round && surface.facet(at.triangle).depth(at.at) >= radius) {
        return 0.0;
    }
    let (sin, cos) = (0.5 * 3_f64.sqrt(), 0.5);
    let ways = [(1.0, 0.0), (cos, sin), (-cos, sin)].map(|(x, y)| DVec2::new(x, y) * radius);
    if !round {
        return 2.0 / 6.0 * fall(surface, at, &ways) / (radius * radius);
    }
    let (center, normal) = surface.surface_at(at);
    let along = |way: DVec2| {
        let end = surface.trace_geodesic(at, way, DVec2::ZERO).0;
        let way = center - surface.surface_at(end).0;
        // That of a sphere through both ends. At the border of a mesh a geodesic may end where it
        // began.
        2.0 * way.dot(normal) / way.length_squared().max(1e-6 * radius * radius)
    };
    ways.into_iter().map(|way| along(way) + along(-way)).sum::<f64>() / 6.0
}

/// Sum of the depths below the triangle's plane of the ends of some geodesics and of the opposite
/// ones, in m.
fn fall(surface: &SurfaceMesh, at: SurfacePoint, ways: &[DVec2]) -> f64 {
    let facet = surface.facet(at.triangle);
    let inside = [0, 1, 2].map(|k| facet.edge_distance(at.at, k));
    let (mut sum, normal) = (0.0, facet.normal());
    for &way in ways {
        let out = [0, 1, 2].map(|k| facet.edges[k].perp_dot(way));
        for sign in [1.0, -1.0] {
            // A geodesic that stays on the triangle stays in its plane.
            if (0..3).any(|k| inside[k] + sign * out[k] < 0.0) {
                let end = surface.trace_geodesic(at, way * sign, DVec2::ZERO).0;
                sum += (facet.origin - end.point(surface)).dot(normal);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::TriangleIndex;
    use crate::surface_mesh::tests::{sheet, surface_of};

    #[test]
    fn the_curvature_of_a_bowl_is_found_and_that_of_a_plane_is_zero() {
        let measured = |kappa: f64| {
            let mut mesh = sheet(0.02, 0.02, 80, 80);
            mesh.positions.iter_mut().for_each(|p| p.z = -0.5 * kappa * (p.x * p.x + p.y * p.y));
            let surface = surface_of(&mesh);
            let near =
                |t: &TriangleIndex| surface.facet(*t).point(surface.facet(*t).centroid()).truncate().length() < 3e-4;
            let triangle = TriangleIndex::first(surface.facets().len()).find(near).expect("a triangle in the middle");
            curvature(&surface, SurfacePoint { triangle, at: surface.facet(triangle).centroid() }, 1.5e-3)
        };
        for kappa in [0.0, 40.0, -40.0] {
            let got = measured(kappa);
            assert!((got - kappa).abs() < 0.08 * 40.0, "{got} for {kappa}");
        }
    }
}
