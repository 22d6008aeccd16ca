//! Triangulation of a planar polygon by ear clipping, the best ear first.

use glam::{DVec2, DVec3};

/// Triangulates a simple polygon that runs counter-clockwise around `normal`, by indices of its
/// points; `None` if it intersects itself.
///
/// An ear is a triple of consecutive corners that contains no other corner. The ear closest to an
/// equilateral triangle is clipped first, so that collinear corners are left to larger triangles.
pub fn clip_ears(points: &[DVec3], normal: DVec3) -> Option<Vec<[usize; 3]>> {
    let up = normal.try_normalize()?;
    let x = up.any_orthonormal_vector();
    let y = up.cross(x);
    let origin = *points.first()?;
    let flat: Vec<DVec2> = points.iter().map(|p| DVec2::new((*p - origin).dot(x), (*p - origin).dot(y))).collect();
    let mut left: Vec<usize> = (0..flat.len()).collect();
    let mut qualities: Vec<f64> = (0..left.len()).map(|at| ear_quality(&flat, &left, at)).collect();
    let mut triangles = Vec::with_capacity(left.len().saturating_sub(2));
    while left.len() > 3 {
        let mut best = pick(&qualities);
        if best.is_none() {
            // Clipped corners may have blocked other ears.
            qualities = (0..left.len()).map(|at| ear_quality(&flat, &left, at)).collect();
            best = pick(&qualities);
        }
        let at = best?;
        let n = left.len();
        triangles.push([left[(at + n - 1) % n], left[at], left[(at + 1) % n]]);
        left.remove(at);
        qualities.remove(at);
        let n = left.len();
        for at in [(at + n - 1) % n, at % n] {
            qualities[at] = ear_quality(&flat, &left, at);
        }
    }
    let [a, b, c] = *left.first_chunk::<3>()?;
    triangles.push([a, b, c]);
    Some(triangles)
}

fn pick(qualities: &[f64]) -> Option<usize> {
    (0..qualities.len())
        .filter(|&at| qualities[at] > 0.0)
        .max_by(|&i, &j| qualities[i].total_cmp(&qualities[j]).then(j.cmp(&i)))
}

/// Area over the squared longest edge of the ear at a corner; 0 where there is none.
fn ear_quality(flat: &[DVec2], left: &[usize], at: usize) -> f64 {
    let n = left.len();
    let ear = [left[(at + n - 1) % n], left[at], left[(at + 1) % n]];
    let [a, b, c] = ear.map(|i| flat[i]);
    let area = (b - a).perp_dot(c - a);
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    if area <= 1e-12 * longest {
        return 0.0;
    }
    let inside =
        |p: DVec2| (b - a).perp_dot(p - a) >= 0.0 && (c - b).perp_dot(p - b) >= 0.0 && (a - c).perp_dot(p - c) >= 0.0;
    let blocked = left.iter().any(|i| !ear.contains(i) && inside(flat[*i]));
    if blocked { 0.0 } else { area / longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(points: &[DVec3], triangles: &[[usize; 3]]) -> f64 {
        triangles.iter().map(|t| 0.5 * (points[t[1]] - points[t[0]]).cross(points[t[2]] - points[t[0]]).z).sum()
    }

    #[test]
    fn a_concave_polygon_is_covered_once() {
        let points = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 2.0), (3.0, 3.0), (0.0, 3.0)]
            .map(|(x, y)| DVec3::new(x, y, 0.0));
        let triangles = clip_ears(&points, DVec3::Z).unwrap();
        assert_eq!(triangles.len(), 6);
        assert!((area(&points, &triangles) - 7.0).abs() < 1e-12, "{triangles:?}");
    }

    #[test]
    fn collinear_corners_do_not_produce_degenerate_triangles() {
        let points = [0.0, 0.25, 0.5, 0.75, 1.0].map(|x| DVec3::new(x, 0.0, 0.0));
        let points = [&points[..], &[DVec3::new(0.5, 1.0, 0.0)]].concat();
        let triangles = clip_ears(&points, DVec3::Z).unwrap();
        let least = triangles
            .iter()
            .map(|t| (points[t[1]] - points[t[0]]).cross(points[t[2]] - points[t[0]]).z)
            .fold(f64::INFINITY, f64::min);
        assert!(least > 0.2, "{triangles:?}: least area {least}");
    }
}
