//! A droplet's closed surface on the mesh: made over a plane, leaned, then laid onto the triangles beneath it.
//!
//! A point over the tangent plane is (q, z). The surface beneath q is where the straight way q leads along the mesh, S(q); its offset from the plane,
//! o(q) = S(q) − (P + q), is taken in full at the foot and passes into the mean offset of the rim towards the top:
//!
//! ```text
//! x = P + q + o(q) (1 − t) + ō t + λ z n        t = smooth step of z/h
//! ```
//!
//! so the foot lies on the surface whatever its shape, and no crease of the mesh shows on the water. λ is found so that the volume is
//! exact; it is 1 on a plane but for the polygon that stands for a circle.
//!
//! A pull along the surface leans the droplet: to first order its centroid moves by R Bo χ(θ) (docs/wetting.md, "Holding on"), here by a
//! shear that leaves the foot in place.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_shapes::{Detail, DropMesh};

use crate::meridian::{Meridian, POINTS};
use crate::track::{Place, Track};

/// Rounds of bringing the volume to what it should be.
const ROUNDS: usize = 6;
/// Relative error of the volume at which they end.
const VOLUME_ERROR: f64 = 1e-9;

/// How a droplet is deformed from its shape at rest on the level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deformation {
    /// Shift of the apex, in the plane, in m.
    pub lean: DVec2,
    /// Direction in which it is drawn out, unit length or zero.
    pub heading: DVec2,
    /// How much longer its rear half is than at rest, in base radii.
    pub stretch: f64,
}

/// The surface of revolution of a meridian over the plane z = 0, its foot included; edges as wide as `detail` wants.
///
/// Chords cut off a little of a round body; rings between apex and line are widened by what brings `volume` (in m³) back.
pub fn revolve(meridian: &Meridian, volume: f64, detail: &Detail) -> DropMesh {
    let base = meridian[POINTS - 1][0];
    let widest = meridian.iter().map(|point| point[0]).fold(0.0, f64::max);
    let sectors = ((TAU * widest / detail.edge).ceil() as usize).clamp(detail.fewest, detail.most);
    // A polygon with the area of the circle.
    let sector = TAU / sectors as f64;
    let swell = (sector / sector.sin()).sqrt();
    // Rings as far apart as vertices along the widest one.
    let arc: f64 = meridian.windows(2).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum();
    let rings = ((arc / (sector * widest)).round() as usize).clamp(3, sectors);
    let at = |part: f64| {
        let along = part * (POINTS - 1) as f64;
        let low = (along as usize).min(POINTS - 2);
        let mix = |c: usize| meridian[low][c] + (along - low as f64) * (meridian[low + 1][c] - meridian[low][c]);
        [mix(0) * swell, mix(1)]
    };
    let mut mesh = TriMesh::default();
    mesh.positions.push(DVec3::new(0.0, 0.0, meridian[0][1]));
    let ring = |mesh: &mut TriMesh, radius: f64, z: f64| {
        let around = (0..sectors).map(|s| DVec2::from_angle(sector * s as f64) * radius);
        mesh.positions.extend(around.map(|p| p.extend(z)));
    };
    let bulge = |k: usize, by: f64| {
        let [radius, z] = at(k as f64 / rings as f64);
        [radius * (1.0 + by * (PI * k as f64 / rings as f64).sin()), z]
    };
    let enclosed = |by: f64| {
        let slices = (0..rings).map(|k| (bulge(k, by), bulge(k + 1, by)));
        // The polygon's area is the circle's of the radius before it was swollen.
        let sum: f64 = slices.map(|([r, z], [s, y])| (r * r + r * s + s * s) * (z - y)).sum();
        PI / 3.0 * sum / (swell * swell)
    };
    let (plain, widened) = (enclosed(0.0), enclosed(0.01));
    let by = (0.01 * (volume - plain) / (widened - plain)).clamp(-0.05, 0.2);
    for k in 1..=rings {
        let [radius, z] = bulge(k, by);
        ring(&mut mesh, if k == rings { base * swell } else { radius }, if k == rings { 0.0 } else { z });
    }
    // The foot, inwards, in as many rings as keep its triangles like the others.
    let inner = ((base / (sector * widest)).round() as usize).clamp(1, sectors);
    for k in (1..inner).rev() {
        ring(&mut mesh, base * swell * k as f64 / inner as f64, 0.0);
    }
    mesh.positions.push(DVec3::ZERO);
    let (vertex, middle) =
        (|k: usize, s: usize| (1 + k * sectors + s % sectors) as u32, mesh.positions.len() as u32 - 1);
    let last = rings + inner - 2;
    for s in 0..sectors {
        mesh.triangles.push([0, vertex(0, s), vertex(0, s + 1)]);
        for k in 0..last {
            let [a, b, c, d] = [vertex(k, s), vertex(k + 1, s), vertex(k + 1, s + 1), vertex(k, s + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
        mesh.triangles.push([middle, vertex(last, s + 1), vertex(last, s)]);
    }
    // All at and beyond the line lie on the solid.
    let line = (1 + (rings - 1) * sectors) as u32;
    let on_solid = mesh.triangles.iter().map(|t| t.iter().all(|&v| v >= line)).collect();
    DropMesh { mesh, on_solid }
}

/// Leans and draws out a surface over the plane; its foot's width stays.
pub fn deform(mesh: &mut TriMesh, deformation: &Deformation) {
    let height = mesh.positions.iter().map(|p| p.z).fold(0.0, f64::max);
    if height <= 0.0 {
        return;
    }
    let Deformation { lean, heading, stretch } = *deformation;
    for position in &mut mesh.positions {
        let mut flat = position.truncate() + lean * (position.z / height);
        let along = flat.dot(heading);
        if stretch > 0.0 && along < 0.0 {
            flat += heading * (along * stretch);
        }
        *position = flat.extend(position.z);
    }
}

/// Lays a surface that stands on the plane at a place onto the mesh, with exactly `volume` (in m³) under it; into the rest pose.
///
/// `mesh` is in the axes of the place's triangle, z along its normal.
pub fn lay(mesh: &mut TriMesh, track: &Track, place: Place, volume: f64) {
    let facet = track.facet(place.triangle);
    let (center, normal) = (facet.point(place.at), facet.normal());
    let height = mesh.positions.iter().map(|p| p.z).fold(f64::MIN_POSITIVE, f64::max);
    let reach = mesh.positions.iter().map(|p| p.truncate().length_squared()).fold(0.0, f64::max).sqrt();
    let flat = facet.depth(place.at) >= reach;
    let offset = |q: DVec2| {
        if flat {
            return DVec3::ZERO;
        }
        let (end, _) = track.walk(place, q, DVec2::ZERO);
        end.point(track) - center - facet.lift(q)
    };
    let mut feet: Vec<DVec3> = Vec::with_capacity(mesh.positions.len());
    let mut mean = (DVec3::ZERO, 0.0);
    for position in &mesh.positions {
        let off = offset(position.truncate());
        if position.z == 0.0 {
            mean = (mean.0 + off, mean.1 + 1.0);
        }
        feet.push(off);
    }
    let mean = mean.0 / f64::max(mean.1, 1.0);
    let heights: Vec<f64> = mesh.positions.iter().map(|p| p.z).collect();
    // About the droplet's own place, so that volumes lose no digits far from the origin.
    for ((position, off), z) in mesh.positions.iter_mut().zip(&feet).zip(&heights) {
        let part = z / height;
        let t = part * part * (3.0 - 2.0 * part);
        *position = facet.lift(position.truncate()) + off.lerp(mean, t);
    }
    let base = mesh.positions.clone();
    let raise = |mesh: &mut TriMesh, factor: f64| {
        for ((position, foot), z) in mesh.positions.iter_mut().zip(&base).zip(&heights) {
            *position = *foot + normal * (factor * z);
        }
        mesh.volume()
    };
    // The volume is nearly linear in the height: a few secants.
    let (mut before, mut factor) = (0.0, 1.0);
    let mut volume_before = raise(mesh, before);
    for _ in 0..ROUNDS {
        let enclosed = raise(mesh, factor);
        if (enclosed - volume).abs() <= VOLUME_ERROR * volume || enclosed == volume_before {
            break;
        }
        let next = factor + (volume - enclosed) * (factor - before) / (enclosed - volume_before);
        (before, volume_before, factor) = (factor, enclosed, next.clamp(0.2, 5.0));
    }
    raise(mesh, factor);
    mesh.positions.iter_mut().for_each(|p| *p += center);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meridian::resting;
    use crate::track::tests::{sheet, track_of};
    use sessile_wetting::young_laplace::sessile;

    fn drop(volume: f64, degrees: f64) -> (Meridian, f64, f64) {
        let exact = sessile(volume, f64::to_radians(degrees), 2.729e-3).expect("a drop");
        let meridian = resting(volume, exact.contact_angle, 2.729e-3, exact.base_radius, exact.height);
        (meridian, exact.height, exact.base_radius)
    }

    #[test]
    fn on_a_plane_height_base_and_volume_are_young_and_laplaces() {
        let track = track_of(&sheet(0.1, 0.1, 1, 1));
        let place = Place { triangle: 0, at: track.facet(0).middle() };
        for (volume, degrees) in [(4e-9, 60.0), (4e-9, 90.0), (4e-9, 120.0), (30e-9, 90.0), (30e-9, 150.0)] {
            let (meridian, height, base) = drop(volume, degrees);
            let mut built = revolve(&meridian, volume, &Detail::default());
            lay(&mut built.mesh, &track, place, volume);
            let normal = track.facet(0).normal();
            let got = built.mesh.positions.iter().map(|p| normal.dot(*p)).fold(0.0, f64::max);
            assert!((got / height - 1.0).abs() < 0.01, "{volume:e} at {degrees}°: height {got:e} for {height:e}");
            let area: f64 = (0..built.on_solid.len())
                .filter(|&t| built.on_solid[t])
                .map(|t| built.mesh.corners(t))
                .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
                .sum();
            let radius = (area / PI).sqrt();
            assert!((radius / base - 1.0).abs() < 1e-6, "base {radius:e} for {base:e}");
            assert!((built.mesh.volume() / volume - 1.0).abs() < 1e-6, "{:e}", built.mesh.volume());
        }
    }

    #[test]
    fn on_a_ball_and_in_a_valley_the_foot_lies_on_the_surface_and_the_volume_stays() {
        let bend = |shape: fn(f64, f64) -> f64| {
            let mut mesh = sheet(0.03, 0.03, 40, 40);
            mesh.positions.iter_mut().for_each(|p| p.z = shape(p.x, p.y));
            track_of(&mesh)
        };
        for track in [bend(|x, y| -(x * x + y * y) / 0.02), bend(|x, _| 0.7 * x.abs())] {
            let near = |t: &u32| track.facet(*t).point(track.facet(*t).middle()).truncate().length() < 1e-3;
            let triangle = (0..track.facets().len() as u32).find(near).expect("in the middle");
            let place = Place { triangle, at: track.facet(triangle).middle() };
            let (meridian, ..) = drop(4e-9, 90.0);
            let mut built = revolve(&meridian, 4e-9, &Detail::default());
            deform(&mut built.mesh, &Deformation { lean: DVec2::new(2e-4, 0.0), heading: DVec2::X, stretch: 0.3 });
            lay(&mut built.mesh, &track, place, 4e-9);
            let mut local = built.mesh.clone();
            local.positions.iter_mut().for_each(|p| *p -= place.point(&track));
            assert!((local.volume() / 4e-9 - 1.0).abs() < 1e-3, "{:e} m³", local.volume());
            let distance = sessile_geometry::mesh_distance::MeshDistance::new({
                let mut mesh = sheet(0.03, 0.03, 40, 40);
                for (t, corners) in mesh.triangles.clone().into_iter().enumerate() {
                    for (k, v) in corners.into_iter().enumerate() {
                        mesh.positions[v as usize] = track.facet(t as u32).point(track.facet(t as u32).corners[k]);
                    }
                }
                mesh
            });
            for (t, _) in built.on_solid.iter().enumerate().filter(|&(_, &on)| on) {
                for corner in built.mesh.corners(t) {
                    let off = distance.nearest(corner).expect("a mesh").distance.abs();
                    assert!(off < 1e-12, "a foot's corner is {off:.1e} m off the surface");
                }
            }
        }
    }
}
