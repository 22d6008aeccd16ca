//! A ball cut by solids: a shape that fits anywhere.
//!
//! Seen from a center outside of all solids, the surface lies in every direction at the distance
//!
//! ```text
//! r(n) = min(ρ, distance to the first solid along n)
//! ```
//!
//! with ρ such that the volume is right. So it is closed, encloses its volume and lies outside of
//! the solids at every vertex; its contact angle is whatever results.

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_numerics::math;

use crate::build::DropMesh;

/// Rings of vertices between the poles.
const RINGS: usize = 31;
/// Vertices per ring.
const SECTORS: usize = 48;
/// Largest radius, in cube roots of the volume.
const LARGEST_RADIUS: f64 = 8.0;
/// Bisections of the radius: to the last digit.
const BISECTIONS: usize = 60;
/// Relative error of the volume below which a shape is accepted.
const PRECISION: f64 = 1e-6;

/// The ball about `center` that solids cut to `volume` (in m³), in world coordinates.
///
/// `first_hit` is the distance of the first solid from the center along a unit direction, up to a
/// given distance (all in m). `None` where the solids leave no room for the volume.
pub fn cut_ball(center: DVec3, volume: f64, first_hit: impl Fn(DVec3, f64) -> Option<f64>) -> Option<DropMesh> {
    let largest = LARGEST_RADIUS * math::cbrt(volume);
    let unit = unit_sphere();
    let hits: Vec<f64> = unit.positions.iter().map(|&n| first_hit(n, largest).unwrap_or(largest)).collect();
    let scaled = |radius: f64| {
        let positions = unit.positions.iter().zip(&hits).map(|(&n, &hit)| n * hit.min(radius)).collect();
        TriMesh { positions, triangles: unit.triangles.clone(), corner_uvs: Vec::new() }
    };
    let (mut low, mut high) = (0.0, largest);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if scaled(middle).volume() < volume { low = middle } else { high = middle }
    }
    let mut mesh = scaled(high);
    if (mesh.volume() / volume - 1.0).abs() > PRECISION {
        return None;
    }
    let on_solid = mesh.triangles.iter().map(|t| t.iter().all(|&v| hits[v as usize] <= high)).collect();
    mesh.positions.iter_mut().for_each(|p| *p += center);
    Some(DropMesh { mesh, on_solid })
}

/// A unit sphere with triangles counterclockwise from outside.
fn unit_sphere() -> TriMesh {
    let mut mesh = TriMesh::default();
    mesh.positions.push(DVec3::Z);
    for ring in 1..=RINGS {
        let polar = std::f64::consts::PI * ring as f64 / (RINGS + 1) as f64;
        mesh.positions.extend((0..SECTORS).map(|sector| {
            let azimuth = std::f64::consts::TAU * sector as f64 / SECTORS as f64;
            DVec3::new(math::sin(polar) * math::cos(azimuth), math::sin(polar) * math::sin(azimuth), math::cos(polar))
        }));
    }
    mesh.positions.push(DVec3::NEG_Z);
    let vertex = |ring: usize, sector: usize| (1 + (ring - 1) * SECTORS + sector % SECTORS) as u32;
    let south = mesh.positions.len() as u32 - 1;
    for sector in 0..SECTORS {
        mesh.triangles.push([0, vertex(1, sector), vertex(1, sector + 1)]);
        for ring in 1..RINGS {
            let [a, b] = [sector, sector + 1].map(|s| vertex(ring, s));
            let [c, d] = [sector, sector + 1].map(|s| vertex(ring + 1, s));
            mesh.triangles.extend([[a, c, d], [a, d, b]]);
        }
        mesh.triangles.push([south, vertex(RINGS, sector + 1), vertex(RINGS, sector)]);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corner of two walls: a quarter of the ball about a point close to both is left.
    #[test]
    fn a_ball_in_a_corner_keeps_its_volume_and_stays_outside_of_the_walls() {
        let (center, volume) = (DVec3::new(0.2e-3, 0.3e-3, 0.0), 10e-9);
        let hit = |n: DVec3, _: f64| {
            let walls = [(center.x, -n.x), (center.y, -n.y)].into_iter();
            walls.filter(|&(_, speed)| speed > 0.0).map(|(gap, speed)| gap / speed).reduce(f64::min)
        };
        let built = cut_ball(center, volume, hit).expect("there is room");
        assert!((built.mesh.volume() / volume - 1.0).abs() < 1e-6, "{}", built.mesh.volume());
        let lowest = built.mesh.positions.iter().map(|p| p.x.min(p.y)).fold(f64::INFINITY, f64::min);
        assert!(lowest > -1e-12, "{lowest}");
        assert!(built.on_solid.iter().any(|&on| on) && !built.on_solid.iter().all(|&on| on));
    }

    #[test]
    fn a_closed_cavity_that_is_too_small_has_no_room() {
        assert!(cut_ball(DVec3::ZERO, 10e-9, |_, _| Some(1e-3)).is_none());
        let free = cut_ball(DVec3::X, 10e-9, |_, _| None).expect("a sphere");
        assert!((free.mesh.volume() / 10e-9 - 1.0).abs() < 1e-6);
    }
}
