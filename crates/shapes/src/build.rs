//! Builds the closed surface of a drop from its numbers.
//!
//! A compact drop is star-shaped about the base point of its largest ball and is tessellated by
//! rays from there: rings of triangles of even size, with the contact line exactly on the plane.
//! Anything else (necks, chains, long fingers) is extracted as an isosurface with a sharp floor. In
//! both cases the surface is scaled about the base point, by about one per cent, to enclose exactly
//! the instance's volume.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_geometry::isosurface::{Grid, extract};
use sessile_numerics::{math, sphere_radius};

use crate::drape::{DrapeScratch, drape, drape_flat};
use crate::instance::{Body, Instance, Shape};
use crate::metaballs::{Ball, SURFACE_RADIUS, bounds, field, sample};

/// Resolution of drop surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// Target edge length, in m.
    pub edge: f64,
    /// Least number of edges around a drop.
    pub fewest: usize,
    /// Largest number of edges around a drop.
    pub most: usize,
}

impl Default for Detail {
    /// 0.2 mm edges, 10 to 40 around a drop: 70 triangles for fine spray, 900 for a sliding drop.
    fn default() -> Self {
        Self { edge: 0.2e-3, fewest: 10, most: 40 }
    }
}

impl Detail {
    /// Number of edges around a drop of this radius, in m.
    pub fn sectors(&self, radius: f64) -> usize {
        ((TAU * radius / self.edge).ceil() as usize).clamp(self.fewest, self.most)
    }
}

/// Closed surface of a drop in world coordinates, normals out of the liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DropMesh {
    /// Positions and triangles.
    pub mesh: TriMesh,
    /// Whether each triangle lies on the solid.
    pub on_solid: Vec<bool>,
}

/// Builds the surface of one instance.
pub fn drop_mesh(instance: &Instance, detail: &Detail) -> DropMesh {
    let mut built = DropMesh::default();
    make_drop_mesh(instance, detail, &mut built, &mut DrapeScratch::default());
    built
}

/// Builds the surface of one instance in the memory of another.
pub fn make_drop_mesh(instance: &Instance, detail: &Detail, built: &mut DropMesh, scratch: &mut DrapeScratch) {
    let scale = unscaled(instance, detail, built, scratch);
    for position in &mut built.mesh.positions {
        *position = instance.frame.world_from_local(*position * scale);
    }
}

/// Factor by which the metaballs of an instance are scaled about its origin to enclose its volume.
pub fn volume_scale(instance: &Instance, detail: &Detail) -> f64 {
    unscaled(instance, detail, &mut DropMesh::default(), &mut DrapeScratch::default())
}

/// Builds the surface in local coordinates; returns the factor by which it is to be scaled.
fn unscaled(instance: &Instance, detail: &Detail, built: &mut DropMesh, scratch: &mut DrapeScratch) -> f64 {
    match &instance.shape {
        Shape::Sphere => *built = sphere(sphere_radius(instance.volume), detail),
        Shape::Metaballs(balls) => *built = metaballs(balls, detail),
        Shape::Draped(draped) => {
            match &draped.body {
                Body::Profile(profile) => profile.make_surface(detail, built),
                Body::Metaballs(balls) => *built = metaballs(balls, detail),
                Body::Patch(patch) => *built = patch.surface(detail),
            }
            let exact = matches!(&draped.body, Body::Profile(p) if p.keeps_volume() && p.body == instance.volume);
            if !draped.substrate.is_flat() {
                drape(built, instance.volume, |place| draped.substrate.at(place), scratch);
            } else if !exact {
                drape_flat(&mut built.mesh, instance.volume);
            }
            return 1.0;
        }
    }
    let enclosed = built.mesh.volume();
    if enclosed > 0.0 { math::cbrt(instance.volume / enclosed) } else { 1.0 }
}

impl Body {
    /// The surface over the plane z = 0, base included.
    pub fn surface(&self, detail: &Detail) -> DropMesh {
        match self {
            Self::Profile(profile) => profile.surface(detail),
            Self::Metaballs(balls) => metaballs(balls, detail),
            Self::Patch(patch) => patch.surface(detail),
        }
    }
}

fn metaballs(balls: &[Ball], detail: &Detail) -> DropMesh {
    match star_center(balls) {
        Some(base_point) => star(balls, base_point, detail),
        None => blobs(balls, detail),
    }
}

/// A sphere about the origin.
fn sphere(radius: f64, detail: &Detail) -> DropMesh {
    let sectors = detail.sectors(radius);
    let rings = sectors / 2;
    let mut mesh = TriMesh::default();
    mesh.positions.push(DVec3::Z * radius);
    for ring in 1..rings {
        push_ring(&mut mesh, sectors, |azimuth| radius * direction(PI * ring as f64 / rings as f64, azimuth));
    }
    mesh.positions.push(DVec3::NEG_Z * radius);
    stitch_dome(&mut mesh, sectors, rings - 1);
    let (last_ring, south) = (1 + (rings - 2) * sectors, mesh.positions.len() - 1);
    for s in 0..sectors {
        mesh.triangles.push([south, last_ring + (s + 1) % sectors, last_ring + s].map(|v| v as u32));
    }
    let on_solid = vec![false; mesh.triangles.len()];
    DropMesh { mesh, on_solid }
}

/// The point on the plane about which the balls are star-shaped, if they surely are.
///
/// Along any ray from the base point of the largest ball its own field decreases. The field of a
/// second ball decreases beyond the projection of its center onto the ray; while that is inside the
/// first ball's surface, the sum crosses the threshold once.
fn star_center(balls: &[Ball]) -> Option<DVec3> {
    let largest = balls.iter().max_by(|a, b| (a.strength * a.radii.x).total_cmp(&(b.strength * b.radii.x)))?;
    let base_point = largest.center.with_z(0.0);
    let inside = |ball: &Ball| (ball.center.with_z(0.0) - base_point).length() < SURFACE_RADIUS * largest.radii.x;
    (field(balls, base_point) < 0.0 && balls.iter().all(inside)).then_some(base_point)
}

/// A body that is star-shaped about `base_point`.
fn star(balls: &[Ball], base_point: DVec3, detail: &Detail) -> DropMesh {
    let (low, high) = bounds(balls);
    let reach = (high - low).length();
    let surface_along = |ray: DVec3| {
        let at = |length: f64| field(balls, base_point + ray * length);
        let (mut inside, mut outside) = (0.0, reach);
        // A few bisections to where the field is smooth, then regula falsi with halved end values
        // (Illinois).
        for _ in 0..4 {
            let middle = 0.5 * (inside + outside);
            if at(middle) < 0.0 { inside = middle } else { outside = middle }
        }
        let (mut low, mut high) = (at(inside), at(outside));
        for _ in 0..40 {
            let length = (inside * high - outside * low) / (high - low);
            let value = at(length);
            if value.abs() < 1e-9 || outside - inside < 1e-9 * reach {
                return length;
            }
            if value < 0.0 {
                (inside, low, high) = (length, value, 0.5 * high);
            } else {
                (outside, high, low) = (length, value, 0.5 * low);
            }
        }
        0.5 * (inside + outside)
    };
    let height = surface_along(DVec3::Z);
    let width = 0.5 * (surface_along(DVec3::X) + surface_along(DVec3::Y));
    let sectors = detail.sectors(width);
    // Rings as far apart as the vertices along the widest one, at least three of them.
    let rings =
        ((0.5 * PI * 0.5 * (height + width) / (TAU * width / sectors as f64)).round() as usize).clamp(3, sectors);
    let mut mesh = TriMesh::default();
    mesh.positions.push(base_point + DVec3::Z * height);
    for ring in 1..=rings {
        // Evenly along an ellipse of this height and width: even polar angles would cut off the
        // shoulder of a flat drop.
        let (sin, cos) = math::sin_cos(FRAC_PI_2 * ring as f64 / rings as f64);
        let polar = if ring == rings { FRAC_PI_2 } else { math::atan2(width * sin, height * cos) };
        push_ring(&mut mesh, sectors, |azimuth| {
            let ray = direction(polar, azimuth);
            let point = base_point + ray * surface_along(ray);
            // The last ring is the contact line: exactly on the plane.
            if ring == rings { point.with_z(0.0) } else { point }
        });
    }
    stitch_dome(&mut mesh, sectors, rings);
    let num_air = mesh.triangles.len();
    let (line, middle) = (1 + (rings - 1) * sectors, mesh.positions.len());
    mesh.positions.push(base_point);
    for s in 0..sectors {
        mesh.triangles.push([middle, line + (s + 1) % sectors, line + s].map(|v| v as u32));
    }
    let on_solid = (0..mesh.triangles.len()).map(|t| t >= num_air).collect();
    DropMesh { mesh, on_solid }
}

/// Any body, as an isosurface on z = 0.
fn blobs(balls: &[Ball], detail: &Detail) -> DropMesh {
    const MAX_CELLS: f64 = 4e5;
    const MAX_CELLS_ALONG: f64 = 5e3;
    let (low, high) = bounds(balls);
    let low = low.with_z(0.0);
    let extent = high - low;
    let narrowest = balls.iter().map(|b| b.radii.x).fold(f64::INFINITY, f64::min) * SURFACE_RADIUS;
    let wanted = TAU * narrowest / detail.sectors(narrowest) as f64;
    let affordable = math::cbrt(extent.x * extent.y * extent.z / MAX_CELLS);
    // A body that is much longer than wide has more cells along it than its volume suggests.
    let cell = wanted.max(affordable).max(extent.max_element() / MAX_CELLS_ALONG);
    // One node beyond the support on every open side: the field is zero there, so the surface is
    // closed.
    let grid = Grid {
        origin: DVec3::new(low.x - cell, low.y - cell, 0.0),
        cell: DVec3::splat(cell),
        size: [extent.x, extent.y, extent.z].map(|length| (length / cell).ceil() as usize + 3),
    };
    let values = sample(balls, &grid);
    let mut surface = extract(&grid, &values, true);
    surface.polish(&grid, &values, 3, |point| field(balls, point));
    DropMesh { mesh: surface.mesh, on_solid: surface.on_floor }
}

fn direction(polar: f64, azimuth: f64) -> DVec3 {
    let (sin, cos) = math::sin_cos(polar);
    DVec3::new(sin * math::cos(azimuth), sin * math::sin(azimuth), cos)
}

fn push_ring(mesh: &mut TriMesh, sectors: usize, point: impl Fn(f64) -> DVec3) {
    mesh.positions.extend((0..sectors).map(|s| point(TAU * s as f64 / sectors as f64)));
}

/// Triangulates an apex (vertex 0) and `rings` rings below it, counter-clockwise seen from outside.
fn stitch_dome(mesh: &mut TriMesh, sectors: usize, rings: usize) {
    let vertex = |ring: usize, s: usize| (1 + ring * sectors + s % sectors) as u32;
    for s in 0..sectors {
        mesh.triangles.push([0, vertex(0, s), vertex(0, s + 1)]);
    }
    for ring in 1..rings {
        for s in 0..sectors {
            let [a, b, c, d] = [vertex(ring - 1, s), vertex(ring, s), vertex(ring, s + 1), vertex(ring - 1, s + 1)];
            mesh.triangles.push([a, b, c]);
            mesh.triangles.push([a, c, d]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use glam::{DMat3, DVec2};

    use super::*;
    use crate::instance::LocalFrame;

    fn instance(shape: Shape, volume: f64) -> Instance {
        let axes = DMat3::from_rotation_x(0.7) * DMat3::from_rotation_z(0.3);
        let frame = LocalFrame { origin: DVec3::new(0.1, 0.2, -0.3), axes };
        Instance { drop: 7, solid: Some(0), frame, volume, velocity: DVec3::ZERO, shape }
    }

    /// Every edge has two triangles, one in each direction.
    fn assert_closed(mesh: &TriMesh) {
        let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
        for &[a, b, c] in &mesh.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from, to)).or_default() += 1;
            }
        }
        for (&(from, to), &count) in &edges {
            assert_eq!((count, edges.get(&(to, from))), (1, Some(&1)), "edge {from}-{to}");
        }
    }

    fn ball(x: f64, y: f64, radius: f64) -> Ball {
        Ball::ellipsoid(DVec2::new(x, y).extend(0.2 * radius), DVec3::splat(radius))
    }

    #[test]
    fn every_shape_is_closed_and_encloses_exactly_its_volume() {
        let shapes = [
            Shape::Sphere,
            Shape::Metaballs(vec![ball(0.0, 0.0, 1e-3)]),
            Shape::Metaballs(vec![ball(0.0, 0.0, 1e-3), ball(0.5e-3, 0.0, 0.7e-3)]),
            Shape::Metaballs(vec![ball(-1e-3, 0.0, 1e-3), ball(1e-3, 0.0, 0.8e-3)]),
            Shape::Metaballs((0..8).map(|i| ball(f64::from(i) * 1.1e-3, 0.0, 0.6e-3)).collect()),
        ];
        for shape in shapes {
            let instance = instance(shape, 3e-9);
            let built = drop_mesh(&instance, &Detail::default());
            assert_closed(&built.mesh);
            // Relative to the drop: volumes far from the origin lose digits.
            let mut local = built.mesh.clone();
            local.positions.iter_mut().for_each(|p| *p = instance.frame.local_from_world(*p));
            assert!((local.volume() / instance.volume - 1.0).abs() < 1e-10, "{:e}", local.volume());
            for (t, _) in built.on_solid.iter().enumerate().filter(|&(_, &on)| on) {
                for corner in local.corners(t) {
                    assert!(corner.z.abs() < 1e-15, "a wetted corner stands {:e} off the plane", corner.z);
                }
            }
        }
    }

    #[test]
    fn touching_drops_are_one_surface_and_separate_drops_are_two() {
        let count = |gap: f64| {
            let balls = vec![ball(-gap, 0.0, 1e-3), ball(gap, 0.0, 1e-3)];
            let mesh = drop_mesh(&instance(Shape::Metaballs(balls), 6e-9), &Detail::default()).mesh;
            let mut parent: Vec<usize> = (0..mesh.positions.len()).collect();
            fn root(parent: &[usize], mut v: usize) -> usize {
                while parent[v] != v {
                    v = parent[v];
                }
                v
            }
            for t in &mesh.triangles {
                for &v in &t[1..] {
                    let (a, b) = (root(&parent, t[0] as usize), root(&parent, v as usize));
                    parent[a] = b;
                }
            }
            (0..parent.len()).filter(|&v| root(&parent, v) == v).count()
        };
        assert_eq!(count(0.9e-3), 1);
        assert_eq!(count(1.6e-3), 2);
    }
}
