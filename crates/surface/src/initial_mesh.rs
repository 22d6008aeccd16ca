//! Meshes of the drops that a scene starts with.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_numerics::{math, sphere_radius};
use sessile_scene::DropShape;
use sessile_world::{Cap, InitialDrop, Solid};

use crate::drop::target_edge;
use crate::merging::extraction::{ExtractionRequest, LiquidField, extract_liquid};
use crate::mesh::check::{check, check_crossings};
use crate::mesh::primitives::{CapGeometry, cap_mesh, sphere};
use crate::mesh::{Interface, Mesh};
use crate::substrate::{SolidIndex, Substrate};

/// Azimuths at which the rim of a cap is computed.
const AZIMUTHS: usize = 96;
/// Bisections for the radius of a perturbed sphere.
const RADIUS_BISECTIONS: usize = 60;
/// Samples of the polar angle in the search for the rim of a cap.
const RIM_SAMPLES: usize = 256;
/// Bisections for the rim of a cap.
const RIM_BISECTIONS: usize = 50;
/// Depth of a vertex inside a solid up to which a surface is accepted, in edges.
const MAX_DEPTH: f64 = 0.1;
/// Relative error of the volume up to which a surface is accepted; it is restored afterwards.
const MAX_VOLUME_ERROR: f64 = 0.2;
/// Enlargements of a cap; each leaves a few hundredths of the error of volume.
const ENLARGEMENTS: usize = 2;
/// Distance from the liquid that the region hidden by a solid gets, in edges.
const HIDDEN: f64 = 0.25;
/// Shortest step of a search along a column, in radii of the sphere.
const MIN_TRACE: f64 = 1e-3;

/// The mesh of a drop of the scene outside the solids; `None` if it is too thin for the edge length
/// or there is no room for it.
pub fn initial_mesh(drop: &InitialDrop, substrate: &Substrate, shortest: f64) -> Option<Mesh> {
    let edge = target_edge(drop.volume(), shortest);
    let structured = match *drop.shape() {
        DropShape::Sphere { center, .. } => sphere_mesh(drop, center, edge),
        DropShape::Cap { on, .. } => {
            drop.cap().and_then(|cap| cap_of_volume(cap, &substrate.solids()[on], edge, drop.volume()))
        }
        _ => None,
    };
    let fits = |mesh: &Mesh| has_room(mesh, edge, substrate) && is_sound(mesh, drop.volume());
    structured.filter(fits).or_else(|| extract_outside(drop, edge, substrate))
}

/// Whether no vertex is inside a solid, up to a fraction of an edge.
fn has_room(mesh: &Mesh, edge: f64, substrate: &Substrate) -> bool {
    mesh.positions.iter().all(|&p| substrate.world.signed_distance(p) > -MAX_DEPTH * edge)
}

/// Whether a surface is valid and encloses a volume, in m³, approximately.
fn is_sound(mesh: &Mesh, volume: f64) -> bool {
    let error = (mesh.volume() / volume - 1.0).abs();
    error < MAX_VOLUME_ERROR && check(mesh).is_ok() && check_crossings(mesh).is_ok()
}

/// Extracts the part of a drop outside the solids.
///
/// Of a cap, only what its own solid does not hide, seen along the normal from the sphere's top:
/// the sphere of a flat cap reaches through a thin solid.
fn extract_outside(drop: &InitialDrop, edge: f64, substrate: &Substrate) -> Option<Mesh> {
    let field = |point: DVec3| drop.free_surface_distance(point);
    let visible = |point: DVec3| match drop.cap() {
        Some(cap) if is_hidden(cap, &substrate.solids()[cap.on], point) => field(point).max(HIDDEN * edge),
        _ => field(point),
    };
    let liquid = match drop.cap() {
        Some(_) => LiquidField::Region(&visible),
        None => LiquidField::Field(&field),
    };
    let request = ExtractionRequest { liquid, bounds: drop.bounds(), edge, floor: None };
    extract_liquid(&request, substrate)
}

/// Whether a solid lies between a point and the sphere of a cap above it.
fn is_hidden(cap: &Cap, solid: &Solid, point: DVec3) -> bool {
    let offset = point - cap.ball_center;
    let along = offset.dot(cap.normal);
    let across = (offset - cap.normal * along).length();
    if across >= cap.ball_radius {
        return false;
    }
    let top = (cap.ball_radius * cap.ball_radius - across * across).sqrt();
    let shortest = MIN_TRACE * cap.ball_radius;
    let mut at = along;
    while at < top {
        let clear = solid.signed_distance(point + cap.normal * (at - along));
        if clear < 0.0 {
            return true;
        }
        at += clear.max(shortest);
    }
    solid.signed_distance(point + cap.normal * (top - along)) < 0.0
}

/// A sphere, possibly perturbed by a mode.
fn sphere_mesh(drop: &InitialDrop, center: DVec3, edge: f64) -> Option<Mesh> {
    let radius = sphere_radius(drop.volume());
    let far = drop.bounds()[1].distance(center) + radius;
    sphere(center, radius, edge, |direction| {
        let is_liquid = |r: f64| drop.free_surface_distance(center + direction * r) < 0.0;
        let [inside, outside] = bisect(0.0, far, RADIUS_BISECTIONS, is_liquid);
        0.5 * (inside + outside)
    })
}

/// The part of a cap's sphere outside its solid, enlarged until the mesh encloses the volume.
///
/// Enlarged as a whole, the cap keeps its contact angle. Moving the vertices of the inscribed mesh
/// along their normals, with the contact line in its place, would add three degrees at 250
/// triangles.
fn cap_of_volume(cap: &Cap, solid: &Solid, edge: f64, volume: f64) -> Option<Mesh> {
    let mut cap = cap.clone();
    let mut mesh = cap_on(&cap, solid, edge)?;
    for _ in 0..ENLARGEMENTS {
        let ratio = volume / mesh.volume();
        if !(1.0 - MAX_VOLUME_ERROR..1.0 + MAX_VOLUME_ERROR).contains(&ratio) {
            break;
        }
        let scale = math::cbrt(ratio);
        cap.ball_center = cap.foot + (cap.ball_center - cap.foot) * scale;
        cap.ball_radius *= scale;
        mesh = cap_on(&cap, solid, edge)?;
    }
    Some(mesh)
}

/// The part of a cap's sphere outside its solid.
fn cap_on(cap: &Cap, solid: &Solid, edge: f64) -> Option<Mesh> {
    let across = cap.normal.any_orthonormal_vector();
    let other = cap.normal.cross(across);
    let direction = |phi: f64| across * math::cos(phi) + other * math::sin(phi);
    let on_sphere = |psi: f64, phi: f64| {
        cap.ball_center + (direction(phi) * math::sin(psi) + cap.normal * math::cos(psi)) * cap.ball_radius
    };
    let rims: Vec<f64> = (0..AZIMUTHS)
        .map(|k| {
            let phi = TAU * k as f64 / AZIMUTHS as f64;
            let is_outside = |psi: f64| solid.signed_distance(on_sphere(psi, phi)) > 0.0;
            first_rim(is_outside)
        })
        .collect();
    let rim = |phi: f64| {
        let at = phi.rem_euclid(TAU) / TAU * AZIMUTHS as f64;
        let (k, fraction) = (at as usize % AZIMUTHS, at.fract());
        rims[k] * (1.0 - fraction) + rims[(k + 1) % AZIMUTHS] * fraction
    };
    let on_rim = |phi: f64| solid.closest(on_sphere(rim(phi), phi)).point;
    let surface = |fraction: f64, phi: f64| {
        if fraction >= 1.0 { on_rim(phi) } else { on_sphere(fraction * rim(phi), phi) }
    };
    let base = |fraction: f64, phi: f64| {
        if fraction >= 1.0 { on_rim(phi) } else { solid.closest(cap.foot + (on_rim(phi) - cap.foot) * fraction).point }
    };
    cap_mesh(&CapGeometry {
        edge,
        surface: &surface,
        base: &base,
        interface: Interface::Solid(SolidIndex::new(cap.on)),
    })
}

/// The polar angle at which a sphere first enters the solid under its top.
///
/// The sphere of a flat cap leaves a thin solid again on the other side.
fn first_rim(is_outside: impl Fn(f64) -> bool) -> f64 {
    let rim = bisect(0.0, PI, RIM_BISECTIONS, &is_outside)[0];
    let step = PI / RIM_SAMPLES as f64;
    let entry = (1..RIM_SAMPLES).map(|k| k as f64 * step).take_while(|&psi| psi < rim).find(|&psi| !is_outside(psi));
    entry.map_or(rim, |psi| bisect(psi - step, psi, RIM_BISECTIONS, is_outside)[0])
}

/// Bisects for where a predicate that holds at `low` ends; returns the last bracket.
fn bisect(mut low: f64, mut high: f64, count: usize, holds: impl Fn(f64) -> bool) -> [f64; 2] {
    for _ in 0..count {
        let middle = 0.5 * (low + high);
        *(if holds(middle) { &mut low } else { &mut high }) = middle;
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use crate::drop::Drop;
    use crate::mesh::check::{check, check_crossings};
    use crate::test_support::{TestDrops, floor};

    /// A thin plate, 6 mm wide along x.
    const NARROW: &str = "[materials.m]\nadvancing = \"60 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\n\
        min = \"-3 -1 -12 mm\"\nmax = \"3 0 12 mm\"\n";

    /// Deepest vertex of a drop in a solid, in m.
    fn depth(test: &TestDrops, drop: &Drop) -> f64 {
        drop.mesh.positions.iter().map(|&p| -test.substrate.world.signed_distance(p)).fold(0.0, f64::max)
    }

    /// The sphere of the flat cap reaches through the plate, and the wall covers a part of it.
    #[test]
    fn a_cap_beside_a_wall_on_a_thin_plate_starts_outside_both() {
        let plate = "[materials.m]\nadvancing = \"30 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\n\
            min = \"-12 -1 -12 mm\"\nmax = \"12 0 12 mm\"\n[[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"box\"\n\
            min = \"2 -1 -12 mm\"\nmax = \"6 5 12 mm\"\n[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"20 uL\"\n";
        let test = TestDrops::new(plate, 0.2e-3);
        let drop = &test.drops[0];
        check(&drop.mesh).unwrap();
        check_crossings(&drop.mesh).unwrap();
        assert!(depth(&test, drop) < 0.05e-3, "a vertex is {} m inside a solid", depth(&test, drop));
        let [low, high] = drop.mesh.bounds();
        assert!(low.y > -0.05e-3 && high.x < 2.05e-3, "it reaches from {low} to {high} m");
        assert!((0.6..1.0).contains(&(drop.mesh.volume() / drop.volume)), "{} m³", drop.mesh.volume());
    }

    #[test]
    fn a_sphere_across_a_plate_starts_on_both_sides_of_it() {
        let ball = "[[drops]]\nshape = \"sphere\"\ncenter = \"0 -0.4 0 mm\"\nradius = \"2 mm\"\n";
        let test = TestDrops::new(&format!("{NARROW}{ball}"), 0.3e-3);
        let drop = &test.drops[0];
        assert!(depth(&test, drop) < 0.05e-3, "a vertex is {} m inside the plate", depth(&test, drop));
        let parts = drop.mesh.extract(&drop.mesh.components());
        let mut heights: Vec<f64> = parts.iter().map(|part| part.centroid().y).collect();
        heights.sort_by(f64::total_cmp);
        assert!(heights.len() == 2 && heights[0] < -1e-3 && heights[1] > 0.0, "parts at {heights:?} m");
    }

    /// On coarse meshes too, whose facets cut off several per cent of the volume.
    #[test]
    fn a_cap_starts_with_its_contact_angle_and_volume() {
        for angle in [30.0_f64, 60.0, 90.0, 120.0, 150.0] {
            let cap = "[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"5 uL\"\n";
            let drop = &TestDrops::new(&(floor(angle, angle) + cap), 0.4e-3).drops[0];
            assert!((drop.mesh.volume() / drop.volume - 1.0).abs() < 1e-3, "{angle}: {} m³", drop.mesh.volume());
            // A spherical cap with the apex at height H over a base of radius a: tan θ/2 = H/a.
            let positions = || drop.mesh.positions.iter();
            let height = positions().map(|p| p.y).fold(0.0, f64::max);
            let base = positions().filter(|p| p.y < 1e-9).map(|p| p.x.hypot(p.z)).fold(0.0, f64::max);
            let found = 2.0 * (height / base).atan().to_degrees();
            assert!((found - angle).abs() < 0.1, "{found}° instead of {angle}°");
        }
    }

    #[test]
    fn a_flat_cap_on_a_thin_plate_stays_above_it() {
        let plate = "[materials.m]\nadvancing = \"30 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\n\
            min = \"-12 -3 -12 mm\"\nmax = \"12 0 12 mm\"\n[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"20 uL\"\n";
        let drop = &TestDrops::new(plate, 0.3e-3).drops[0];
        assert!(drop.mesh.bounds()[0].y > -1e-9, "it reaches down to {} m", drop.mesh.bounds()[0].y);
        assert!((drop.mesh.volume() / drop.volume - 1.0).abs() < 0.05, "{} m³", drop.mesh.volume());
    }
}
