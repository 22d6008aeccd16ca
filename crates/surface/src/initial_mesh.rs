//! Meshes of the drops that a scene starts with.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_numerics::sphere_radius;
use sessile_scene::DropShape;
use sessile_world::{Cap, InitialDrop, Solid};

use crate::drop::target_edge;
use crate::merging::extraction::{ExtractionRequest, LiquidField, extract_liquid};
use crate::mesh::primitives::{CapGeometry, cap_mesh, sphere};
use crate::mesh::{Interface, Mesh};
use crate::substrate::SolidIndex;
use crate::substrate::Substrate;

/// Azimuths at which the rim of a cap is computed.
const AZIMUTHS: usize = 96;
/// Bisections for the radius of a perturbed sphere.
const RADIUS_BISECTIONS: usize = 60;
/// Samples of the polar angle in the search for the rim of a cap.
const RIM_SAMPLES: usize = 256;
/// Bisections for the rim of a cap.
const RIM_BISECTIONS: usize = 50;

/// The mesh of a drop of the scene; `None` if it is too thin for the edge length.
pub fn initial_mesh(drop: &InitialDrop, substrate: &Substrate, shortest: f64) -> Option<Mesh> {
    let edge = target_edge(drop.volume(), shortest);
    let structured = match *drop.shape() {
        DropShape::Sphere { center, .. } => sphere_mesh(drop, center, edge),
        DropShape::Cap { on, .. } => drop.cap().and_then(|cap| cap_on(cap, &substrate.solids()[on], edge)),
        _ => None,
    };
    structured.or_else(|| {
        let field = |point: DVec3| drop.free_surface_distance(point);
        let liquid = LiquidField::Field(&field);
        extract_liquid(&ExtractionRequest { liquid, bounds: drop.bounds(), edge, floor: None }, substrate)
    })
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

/// The part of a cap's sphere outside its solid.
fn cap_on(cap: &Cap, solid: &Solid, edge: f64) -> Option<Mesh> {
    let across = cap.normal.any_orthonormal_vector();
    let other = cap.normal.cross(across);
    let direction = |phi: f64| across * phi.cos() + other * phi.sin();
    let on_sphere =
        |psi: f64, phi: f64| cap.ball_center + (direction(phi) * psi.sin() + cap.normal * psi.cos()) * cap.ball_radius;
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
    use crate::test_support::TestDrops;

    #[test]
    fn a_flat_cap_on_a_thin_plate_stays_above_it() {
        let plate = "[materials.m]\nadvancing = \"30 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\n\
            min = \"-12 -3 -12 mm\"\nmax = \"12 0 12 mm\"\n[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"20 uL\"\n";
        let drop = &TestDrops::new(plate, 0.3e-3).drops[0];
        assert!(drop.mesh.bounds()[0].y > -1e-9, "it reaches down to {} m", drop.mesh.bounds()[0].y);
        assert!((drop.mesh.volume() / drop.volume - 1.0).abs() < 0.05, "{} m³", drop.mesh.volume());
    }
}
