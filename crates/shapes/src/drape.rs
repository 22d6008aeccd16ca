//! Drapes a drop that was built over a plane over the substrate beneath.
//!
//! A point over the tangent plane is (q, z); the substrate beneath q is at q + o(q). The offset o
//! applies in full at the base and blends into the mean offset of the base towards the top:
//!
//! ```text
//! x = q + o(q') (1 − t) + ō t + λ z n        t = 1 − (1 − z/h)⁴
//! ```
//!
//! with q' = q on the base, and elsewhere about where the meridian through a point reaches the
//! base: at q/√(1 − z/h), as for a flat cap, but at most on the contact line for overhangs. On a
//! sphere, whose offset is constant along the contact line, the drop is the body over the plane of
//! its contact line. The base lies on any surface, and creases of the mesh do not show on the
//! liquid. λ makes the volume exact; on a plane it differs from 1 only by the polygonal
//! approximation of the circle. Where λ is far from 1 the substrate turns too far for a body over
//! a plane, and the drop becomes a layer (`layer.rs`).

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_numerics::{OptionalIndex, math};

use crate::build::DropMesh;
use crate::layer::{layer, refined};
use crate::profile::directions;

/// Number of directions in which a substrate is sampled.
const SECTORS: usize = 12;
/// Number of samples along each direction.
const RINGS: usize = 2;
/// Range of λ for which a draped body is a plausible drop.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=2.5;
/// Offsets up to which a substrate is a plane, in heights of the drop.
const FLAT: f64 = 1e-9;

/// Sampled offsets of the substrate from the tangent plane beneath a drop.
///
/// Linear between samples; empty where the substrate is flat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubstrateOffsets {
    /// Radius of the sampled disc, in m.
    pub radius: f64,
    /// Offsets in m, direction by direction and outward; empty where the substrate is flat.
    pub offsets: Vec<[f32; 3]>,
}

impl SubstrateOffsets {
    /// Samples a substrate within `radius` (in m); `at` gives the offset at a point of the plane.
    pub fn sampled(radius: f64, at: impl Fn(DVec2) -> DVec3) -> Self {
        let around = directions(SECTORS);
        let places = around
            .iter()
            .flat_map(|&direction| (1..=RINGS).map(move |k| direction * (radius * k as f64 / RINGS as f64)));
        Self { radius, offsets: places.map(|q| at(q).as_vec3().to_array()).collect() }
    }

    /// Whether the drop is on a plane.
    pub fn is_flat(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Whether the number of offsets is right and all are finite.
    pub fn is_sound(&self) -> bool {
        let numbers = self.offsets.iter().flatten().all(|offset| offset.is_finite());
        self.is_flat()
            || (self.offsets.len() == SECTORS * RINGS && numbers && self.radius > 0.0 && self.radius.is_finite())
    }

    /// The offset at a point of the plane.
    pub fn at(&self, place: DVec2) -> DVec3 {
        if self.is_flat() {
            return DVec3::ZERO;
        }
        let out = place.length() / self.radius * RINGS as f64;
        let turn = math::direction_angle(place).rem_euclid(TAU) / TAU * SECTORS as f64;
        let (ring, sector) = ((out as usize).min(RINGS - 1), turn as usize);
        let sample = |sector: usize, ring: usize| match ring {
            0 => DVec3::ZERO,
            _ => {
                let [x, y, z] = self.offsets[sector % SECTORS * RINGS + ring - 1];
                DVec3::new(f64::from(x), f64::from(y), f64::from(z))
            }
        };
        let along = |sector: usize| sample(sector, ring).lerp(sample(sector, ring + 1), out - ring as f64);
        along(sector).lerp(along(sector + 1), turn - sector as f64)
    }
}

/// Memory for draping one surface after another.
#[derive(Clone, Debug, Default)]
pub struct DrapeScratch {
    heights: Vec<f64>,
    offsets: Vec<DVec3>,
    /// Positions without their rise λz.
    bent: Vec<DVec3>,
}

/// How a drop lies on its substrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// As a body over a plane; the offset of its contact line from that plane is at most `relief`
    /// heights.
    Body {
        /// Largest offset of the contact line, in heights.
        relief: f64,
    },
    /// As a layer along the substrate.
    Layer,
}

/// Scales a surface over the plane z = 0 to exactly `volume` (in m³).
pub fn drape_flat(mesh: &mut TriMesh, volume: f64) {
    // The volume is proportional to the height.
    let scale = volume / mesh.volume();
    if scale.is_finite() && scale > 0.0 {
        mesh.positions.iter_mut().for_each(|p| p.z *= scale);
    }
}

/// Drapes a surface over the plane z = 0 over a substrate, with exactly `volume` (in m³) under it.
///
/// `offset` gives the substrate. A surface without a base is not changed.
pub fn drape(built: &mut DropMesh, volume: f64, offset: impl Fn(DVec2) -> DVec3, scratch: &mut DrapeScratch) -> Fit {
    let mesh = &mut built.mesh;
    let DrapeScratch { heights, offsets, bent } = scratch;
    heights.clear();
    heights.extend(mesh.positions.iter().map(|p| p.z));
    let height = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let base_radius = mesh.positions.iter().filter(|p| p.z == 0.0).map(|p| p.truncate().length()).fold(0.0, f64::max);
    let base_radius = base_radius.max(f64::MIN_POSITIVE);
    offsets.clear();
    offsets.extend(mesh.positions.iter().map(|p| {
        // The meridian of the apex is undefined, and its offset has no effect.
        let left = (1.0 - p.z / height).max(1e-6);
        let below = if p.z == 0.0 { p.truncate() } else { p.truncate() / left.sqrt() };
        offset(below.clamp_length_max(base_radius))
    }));
    let mean = mean_along_line(mesh, heights, offsets);
    bent.clear();
    bent.extend(mesh.positions.iter().zip(&*offsets).zip(&*heights).map(|((position, off), z)| {
        let t = 1.0 - (1.0 - z / height).powi(4);
        position.with_z(0.0) + off.lerp(mean, t)
    }));
    // All vertices move along one direction, so the volume is linear in the distance: det(a + αn, b
    // + βn, c + γn) has no term quadratic in n.
    let (mut without, mut per_rise) = (0.0, 0.0);
    for &triangle in &mesh.triangles {
        let [i, j, k] = triangle.map(|v| v as usize);
        let (a, b, c) = (bent[i], bent[j], bent[k]);
        let across = b.cross(c);
        without += a.dot(across);
        per_rise += heights[i] * across.z + heights[j] * (c.x * a.y - c.y * a.x) + heights[k] * (a.x * b.y - a.y * b.x);
    }
    let factor = (6.0 * volume - without) / per_rise;
    // On a plane every height fits: shapes of the reproduction modes are far from their volume.
    let is_bent = offsets.iter().any(|off| off.abs().max_element() > FLAT * height);
    if is_bent && !PLAUSIBLE.contains(&factor) && drape_layer(built, volume, &offset) {
        return Fit::Layer;
    }
    let factor = if factor.is_finite() { factor } else { 1.0 };
    let mut relief = 0.0_f64;
    for ((position, at), &z) in built.mesh.positions.iter_mut().zip(&*bent).zip(&*heights) {
        *position = at.with_z(at.z + factor * z);
        if z == 0.0 {
            relief = relief.max(at.z.abs());
        }
    }
    Fit::Body { relief: relief / height }
}

/// Turns a surface over the plane z = 0 into a layer along a substrate; `false` if no layer has
/// this volume (in m³).
pub fn drape_layer(built: &mut DropMesh, volume: f64, offset: impl Fn(DVec2) -> DVec3) -> bool {
    let mut base = refined(flat_base(built));
    base.positions.iter_mut().for_each(|p| *p += offset(p.truncate()));
    match layer(base, volume) {
        Some(found) => {
            *built = found;
            true
        }
        None => false,
    }
}

/// The triangles on the plane, with the vertices that they use.
fn flat_base(built: &DropMesh) -> TriMesh {
    let mut base = TriMesh::default();
    let mut renumbered = vec![OptionalIndex::NONE; built.mesh.positions.len()];
    for (triangle, _) in built.mesh.triangles.iter().zip(&built.on_solid).filter(|&(_, &on)| on) {
        let corners = triangle.map(|v| {
            renumbered[v as usize].get_or_insert_with(|| {
                base.positions.push(built.mesh.positions[v as usize]);
                base.positions.len() as u32 - 1
            })
        });
        base.triangles.push(corners);
    }
    base
}

/// Mean offset of the vertices on the contact line: those of the base in triangles that leave it.
fn mean_along_line(mesh: &TriMesh, heights: &[f64], offsets: &[DVec3]) -> DVec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for triangle in &mesh.triangles {
        let on = |k: usize| heights[triangle[k] as usize] == 0.0;
        let on = [on(0), on(1), on(2)];
        if on == [true; 3] {
            continue;
        }
        for k in (0..3).filter(|&k| on[k]) {
            (sum, count) = (sum + offsets[triangle[k] as usize], count + 1.0);
        }
    }
    sum / f64::max(count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_offsets_are_exact_at_samples_and_linear_between() {
        let cone = |q: DVec2| DVec3::Z * (-0.3 * q.length());
        let substrate = SubstrateOffsets::sampled(2e-3, cone);
        assert!(substrate.is_sound() && !substrate.is_flat());
        for q in [DVec2::new(1.3e-3, -0.4e-3), DVec2::new(-2e-3, 0.0), DVec2::new(0.0, 0.2e-3), DVec2::ZERO] {
            let off = (substrate.at(q) - cone(q)).length();
            assert!(off < 1e-9, "{off:e} m at {q}");
        }
        assert_eq!(SubstrateOffsets::default().at(DVec2::ONE), DVec3::ZERO);
        assert!(!SubstrateOffsets { radius: 1.0, offsets: vec![[0.0; 3]] }.is_sound());
    }

    /// The heights of a patch are those of its control points, whatever its volume.
    #[test]
    fn a_body_of_any_height_stays_a_body_on_a_plane() {
        let ring = |scale: f32, z: f32| {
            [[1.0, 0.0], [-0.5, 0.866], [-0.5, -0.866]].map(|[x, y]: [f32; 2]| [scale * x, scale * y, z])
        };
        let points = [ring(1.0, 0.0), ring(0.5, 1.0)].concat().into_iter().chain([[0.0, 0.0, 1.5]]).collect();
        let patch = crate::Patch { base_radius: 1e-3, slices: 3, points };
        let flat = patch.surface(&crate::Detail::default());
        for scale in [0.1, 10.0] {
            let (mut built, volume) = (flat.clone(), scale * flat.mesh.volume());
            let fit = drape(&mut built, volume, |_| DVec3::ZERO, &mut DrapeScratch::default());
            assert_eq!((fit, built.mesh.positions.len()), (Fit::Body { relief: 0.0 }, flat.mesh.positions.len()));
            assert!((built.mesh.volume() / volume - 1.0).abs() < 1e-9, "{:e} m³", built.mesh.volume());
        }
    }
}
