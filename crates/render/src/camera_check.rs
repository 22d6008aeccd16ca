//! Whether the camera is inside a drop, which would show nothing but blurred light.

use glam::DVec3;
use sessile_frames::Surface;

/// The drop that encloses a point: the one whose surface winds around it. The winding number of a
/// closed surface is the sum of the solid angles of its triangles, over 4π.
pub(crate) fn enclosing_drop(liquid: &Surface, point: DVec3) -> Option<u32> {
    let mut angles: Vec<(u32, f64)> = Vec::new();
    for corners in &liquid.triangles {
        let Some(&drop) = liquid.drops.get(corners[0] as usize) else { continue };
        let at = corners.map(|corner| liquid.positions[corner as usize] - point);
        let angle = solid_angle(at);
        // The triangles of a drop follow each other.
        match angles.last_mut() {
            Some((last, sum)) if *last == drop => *sum += angle,
            _ => angles.push((drop, angle)),
        }
    }
    angles.sort_by_key(|&(drop, _)| drop);
    let of_drop = angles.chunk_by(|a, b| a.0 == b.0);
    let full_turn = 4.0 * std::f64::consts::PI;
    of_drop
        .map(|parts| (parts[0].0, parts.iter().map(|(_, angle)| angle).sum::<f64>() / full_turn))
        .find(|(_, winding)| *winding > 0.5)
        .map(|(drop, _)| drop)
}

/// Signed solid angle of a triangle seen from the origin, from the tangent of its half
/// (vanoosterom1983, eq. 8); positive from its back.
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let [la, lb, lc] = [a, b, c].map(DVec3::length);
    let volume = a.dot(b.cross(c));
    2.0 * volume.atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron around the origin with outward faces, as drop 7.
    fn tetrahedron() -> Surface {
        let positions =
            [DVec3::ONE, DVec3::new(1.0, -1.0, -1.0), DVec3::new(-1.0, 1.0, -1.0), DVec3::new(-1.0, -1.0, 1.0)];
        Surface {
            positions: positions.to_vec(),
            velocities: vec![DVec3::ZERO; 4],
            drops: vec![7; 4],
            triangles: vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]],
            solids: vec![-1; 4],
        }
    }

    #[test]
    fn a_point_is_inside_the_drop_that_winds_around_it() {
        let liquid = tetrahedron();
        for inside in [DVec3::ZERO, DVec3::splat(0.9), DVec3::new(0.3, -0.3, 0.1)] {
            assert_eq!(enclosing_drop(&liquid, inside), Some(7), "{inside}");
        }
        for outside in [DVec3::splat(1.01), DVec3::splat(-0.4), DVec3::X * 50.0] {
            assert_eq!(enclosing_drop(&liquid, outside), None, "{outside}");
        }
        assert_eq!(enclosing_drop(&Surface::default(), DVec3::ZERO), None);
    }
}
