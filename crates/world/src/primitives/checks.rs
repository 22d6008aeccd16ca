//! Properties of every primitive, checked by brute force.

use glam::{DVec2, DVec3};
use sessile_geometry::{Distance, TriMesh};

use crate::random::Stream;

/// Query points in the cube of half side `reach`.
fn queries(reach: f64) -> impl Iterator<Item = DVec3> {
    let mut stream = Stream::new(11, &[]);
    (0..400).map(move |_| DVec3::from_array([0; 3].map(|_| stream.uniform_in(-reach, reach))))
}

/// The point of a triangle nearest to `p`: inside by projection, else on the nearest edge.
fn nearest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let n = (b - a).cross(c - a).normalize();
    let foot = p - n * n.dot(p - a);
    if [(a, b), (b, c), (c, a)].iter().all(|(s, e)| (e - s).cross(foot - s).dot(n) >= 0.0) {
        return foot;
    }
    let on_edge = |s: DVec3, e: DVec3| s + (e - s) * ((p - s).dot(e - s) / (e - s).length_squared()).clamp(0.0, 1.0);
    [on_edge(a, b), on_edge(b, c), on_edge(c, a)]
        .into_iter()
        .min_by(|x, y| (p - x).length().total_cmp(&(p - y).length()))
        .expect("three edges")
}

/// The primitive's distance and nearest point agree with brute force over its own mesh, to
/// `tolerance` in m.
pub fn nearest_point_on_mesh_agrees(
    primitive: &dyn Distance,
    mesh: &TriMesh,
    within: impl Fn(DVec3) -> bool,
    reach: f64,
    tolerance: f64,
) {
    let mut tested = 0;
    for p in queries(reach).filter(|p| within(*p)) {
        let brute = (0..mesh.triangles.len())
            .map(|t| (p - nearest_on_triangle(p, mesh.corners(t))).length())
            .fold(f64::INFINITY, f64::min);
        let found = primitive.closest(p);
        let signed = primitive.signed_distance(p);
        let error = (signed.abs() - brute).abs();
        assert!(error <= tolerance, "at {p}: distance {signed}, over the mesh {brute}");
        assert!((found.distance - signed).abs() < 1e-14, "at {p}: {signed} and {} disagree", found.distance);
        let span = ((p - found.point).length() - signed.abs()).abs();
        assert!(span < 1e-14, "at {p}: nearest point {} is not at distance {signed}", found.point);
        assert!(
            primitive.signed_distance(found.point).abs() < 1e-14,
            "at {p}: nearest point {} is off the surface",
            found.point
        );
        tested += 1;
    }
    assert!(tested > 50, "only {tested} queries");
}

/// |∇d| = 1 and ∇d is the normal at the nearest point, away from the medial axis.
pub fn gradient_is_unit(primitive: &dyn Distance, reach: f64) {
    let h = 1e-6 * reach;
    let mut tested = 0;
    for p in queries(reach) {
        let differences = DVec3::AXES
            .map(|e| (primitive.signed_distance(p + e * h) - primitive.signed_distance(p - e * h)) / (2.0 * h));
        let gradient = DVec3::from_array(differences);
        let normal = primitive.closest(p).normal;
        assert!((normal.length() - 1.0).abs() < 1e-12, "at {p}: normal {normal}");
        // On the medial axis the distance has a kink and no gradient: it shows in one-sided
        // differences.
        let kink = DVec3::AXES.iter().any(|&e| {
            let second = primitive.signed_distance(p + e * h) + primitive.signed_distance(p - e * h)
                - 2.0 * primitive.signed_distance(p);
            second.abs() > 1e-3 * h
        });
        if !kink {
            assert!((gradient - normal).length() < 1e-5, "at {p}: gradient {gradient}, normal {normal}");
            tested += 1;
        }
    }
    assert!(tested > 300, "only {tested} queries off the medial axis");
}

/// The mesh's texture coordinates at its triangles' centroids are those of a query there, to
/// `tolerance` (u wraps).
pub fn texture_coordinates_agree(primitive: &dyn Distance, mesh: &TriMesh, tolerance: f64) {
    for (t, uvs) in mesh.corner_uvs.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        let weights = DVec3::new(0.5, 0.3, 0.2);
        let uv = uvs[0] * weights.x + uvs[1] * weights.y + uvs[2] * weights.z;
        let point = a * weights.x + b * weights.y + c * weights.z;
        let found = primitive.closest(point);
        let error = (found.uv - uv).abs().max_element();
        assert!(error <= tolerance, "triangle {t} at {point}: mesh {uv}, query {}", found.uv);
        let facing = (b - a).cross(c - a).normalize().dot(found.normal);
        assert!(facing > 0.9, "triangle {t} faces {facing} along the normal");
    }
}

/// Every edge is used once in each direction.
pub fn mesh_is_closed(mesh: &TriMesh) {
    let mut edges: Vec<(u32, u32)> = mesh.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    edges.sort_unstable();
    let all = edges.len();
    edges.dedup();
    assert_eq!(edges.len(), all, "an edge is used twice in one direction");
    assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()), "an edge is open");
}

/// No two triangles overlap in texture space, and all lie in the unit square.
pub fn charts_do_not_overlap(mesh: &TriMesh) {
    let cross = |a: DVec2, b: DVec2, p: DVec2| (b - a).perp_dot(p - a);
    let mut owners = 0;
    let mut stream = Stream::new(5, &[]);
    for _ in 0..2000 {
        let p = DVec2::new(stream.uniform(), stream.uniform());
        let count = mesh
            .corner_uvs
            .iter()
            .filter(|[a, b, c]| {
                let sides = [cross(*a, *b, p), cross(*b, *c, p), cross(*c, *a, p)];
                sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0)
            })
            .count();
        assert!(count <= 1, "{count} triangles contain {p}");
        owners += count;
    }
    assert!(owners > 800, "only {owners} of 2000 points of the square are used");
    assert!(mesh.corner_uvs.iter().flatten().all(|uv| uv.cmpge(DVec2::ZERO).all() && uv.cmple(DVec2::ONE).all()));
}
