//! Triangulated caps of spheres and ellipsoids: regular, perturbed, and from marching cubes.

use std::f64::consts::TAU;

use glam::DVec3;
use sessile_geometry::isosurface::{Grid, extract};

use super::Noise;
use crate::drop_surface::DropSurface;

/// A cap of rings about the y axis: `point(s, azimuth)` on the interface, s from 0 at the apex to 1
/// on the contact line, and `foot` on the solid. `shake` perturbs the vertices by that fraction of
/// the spacing, and flips diagonals at random if positive. About `triangles` triangles are
/// liquid–air; `aspect` is the length of the profile over that of the line.
pub fn rings(triangles: usize, aspect: f64, shake: f64, foot: DVec3, point: impl Fn(f64, f64) -> DVec3) -> DropSurface {
    let rings = (triangles as f64 * aspect / 2.0).sqrt().round().max(3.0) as usize;
    let sectors = (triangles as f64 / (2 * rings - 1) as f64).round().max(6.0) as usize;
    let mut noise = Noise(7);
    let mut drop = DropSurface::default();
    drop.positions.push(point(0.0, 0.0));
    for ring in 1..=rings {
        for sector in 0..sectors {
            let on_line = ring == rings;
            let along = if on_line { 0.0 } else { shake * noise.next() };
            let s = (ring as f64 + along) / rings as f64;
            let azimuth = TAU * (sector as f64 + shake * noise.next()) / sectors as f64;
            drop.positions.push(point(s, azimuth));
        }
    }
    drop.positions.push(foot);
    let vertex =
        |ring: usize, sector: usize| if ring == 0 { 0 } else { (1 + (ring - 1) * sectors + sector % sectors) as u32 };
    for ring in 0..rings {
        for s in 0..sectors {
            let [a, b] = [vertex(ring, s), vertex(ring, s + 1)];
            let [c, d] = [vertex(ring + 1, s), vertex(ring + 1, s + 1)];
            if ring == 0 {
                drop.triangles.push([a, c, d]);
            } else if shake > 0.0 && noise.next() > 0.0 {
                drop.triangles.extend([[a, c, b], [b, c, d]]);
            } else {
                drop.triangles.extend([[a, c, d], [a, d, b]]);
            }
        }
    }
    drop.solids = vec![-1; drop.triangles.len()];
    for s in 0..sectors {
        drop.triangles.push([drop.positions.len() as u32 - 1, vertex(rings, s + 1), vertex(rings, s)]);
        drop.solids.push(0);
    }
    drop
}

/// A cap of the unit sphere on the floor y = 0, at the contact angle θ.
pub fn on_floor(theta: f64, triangles: usize, shake: f64) -> DropSurface {
    rings(triangles, theta / (TAU * theta.sin()), shake, DVec3::ZERO, |s, azimuth| {
        let polar = s * theta;
        let y = if s == 1.0 { 0.0 } else { polar.cos() - theta.cos() };
        DVec3::new(polar.sin() * azimuth.sin(), y, polar.sin() * azimuth.cos())
    })
}

/// The body `field < 0` on the floor y = 0, by marching cubes with about this many triangles for a
/// unit hemisphere.
pub fn marched(field: impl Fn(DVec3) -> f64, extent: DVec3, triangles: usize, at: DVec3) -> DropSurface {
    // Measured: a surface of area A gives 2.9 A/h² triangles.
    let cell = (2.9 * TAU / triangles as f64).sqrt();
    let size = [extent.x, extent.z, extent.y].map(|e| (2.0 * e / cell).ceil() as usize + 4);
    // The grid's z axis is the world's y axis; an irregular offset gives slivers of all kinds.
    let origin = DVec3::new(-extent.x - cell * (1.5 + at.x), -extent.z - cell * (1.5 + at.z), 0.0);
    let grid = Grid { origin, cell: DVec3::splat(cell), size };
    let world = |p: DVec3| DVec3::new(p.x, p.z, -p.y);
    let built = extract(&grid, &grid.sample(|p| field(world(p))), true);
    DropSurface {
        positions: built.mesh.positions.iter().map(|&p| world(p)).collect(),
        triangles: built.mesh.triangles,
        solids: built.on_floor.iter().map(|&on| if on { 0 } else { -1 }).collect(),
    }
}

/// A cap of the unit sphere on the floor by marching cubes.
pub fn marched_on_floor(theta: f64, triangles: usize, at: DVec3) -> DropSurface {
    let center = DVec3::new(0.0, -theta.cos(), 0.0);
    let width = if theta < 0.5 * std::f64::consts::PI { theta.sin() } else { 1.0 };
    let extent = DVec3::new(width, 1.0 - theta.cos(), width);
    // The number refers to the cap, not to a hemisphere.
    let wanted = (triangles as f64 / (1.0 - theta.cos())) as usize;
    marched(|p| p.distance(center) - 1.0, extent, wanted, at)
}

/// A cap of the unit sphere on a ball of `radius` about `center` of the solid, at the contact angle
/// θ; with the solid's center.
///
/// The centers are D apart, D² = R² + S² − 2RS cos θ, along y.
pub fn on_ball(theta: f64, radius: f64, triangles: usize, shake: f64) -> (DropSurface, DVec3) {
    let distance = (1.0 + radius * radius - 2.0 * radius * theta.cos()).sqrt();
    // Polar angle of the line about the liquid's center: |p − solid's center|² = S² with the solid
    // at −D on y.
    let cosine = (radius * radius - 1.0 - distance * distance) / (2.0 * distance);
    let polar_of_line = cosine.acos();
    let solid_center = DVec3::new(0.0, -distance, 0.0);
    let foot = solid_center + radius * DVec3::Y;
    let aspect = polar_of_line / (TAU * polar_of_line.sin());
    let drop = rings(triangles, aspect, shake, foot, |s, azimuth| {
        let polar = s * polar_of_line;
        DVec3::new(polar.sin() * azimuth.sin(), polar.cos(), polar.sin() * azimuth.cos())
    });
    (drop, solid_center)
}
