//! Spline patch over levels of control points: the surface of a drop of masses and springs
//! (fournier1998, §3.2.3).
//!
//! Around each level the curve is a uniform cubic B-spline; across, it is a spline from the basis
//! over the apex and on to the images of the same points beyond the apex's axis, so that all
//! sections have one horizontal tangent plane at the top. (With the points of the opposite side
//! instead, the sections of an odd number of slices end in different places, and the top is
//! pointed.)
//!
//! The mechanical model is a membrane of small slope: its weighted heights lie near a paraboloid.
//! At the volume of a hemisphere its flanks meet the plane at about 70°, not 90°.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;

use crate::build::{Detail, DropMesh};

/// Control points of a patch over the plane z = 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// Mean radius of the contact line, in m.
    pub base_radius: f64,
    /// Points of each level, at least 3.
    pub slices: u32,
    /// Level by level from the basis, counter-clockwise seen from above, then the apex; in units
    /// that the base radius sets.
    pub points: Vec<[f32; 3]>,
}

impl Patch {
    /// Whether there is at least one complete level and an apex, and all numbers are finite.
    pub fn is_sound(&self) -> bool {
        let slices = self.slices as usize;
        slices >= 3
            && self.points.len() > slices
            && (self.points.len() - 1).is_multiple_of(slices)
            && self.points.iter().flatten().all(|x| x.is_finite())
            && self.base_radius.is_finite()
            && self.base_radius > 0.0
    }

    /// The surface over the plane z = 0, base included.
    pub fn surface(&self, detail: &Detail) -> DropMesh {
        let slices = self.slices as usize;
        let levels = (self.points.len() - 1) / slices;
        let sectors = detail.sectors(self.base_radius);
        let rings = (sectors / 3).max(4);
        let point = |index: usize| {
            let [x, y, z] = self.points[index].map(f64::from);
            DVec3::new(x, y, z)
        };
        let around = |level: usize, turn: f64| {
            let at = turn * slices as f64;
            let (k, t) = (at as usize, at.fract());
            // Cubic B-spline weights of four consecutive points.
            let weights = [
                (1.0 - t).powi(3),
                3.0 * t.powi(3) - 6.0 * t * t + 4.0,
                -3.0 * t.powi(3) + 3.0 * t * t + 3.0 * t + 1.0,
                t.powi(3),
            ];
            let points = (0..4).map(|j| point(level * slices + (k + slices - 1 + j) % slices) * (weights[j] / 6.0));
            points.sum::<DVec3>()
        };
        let mut mesh = TriMesh::default();
        mesh.positions.resize(1 + rings * sectors, DVec3::ZERO);
        let mut arch = Vec::with_capacity(2 * levels + 1);
        for s in 0..sectors {
            // The first half of the arch is used.
            let turn = s as f64 / sectors as f64;
            let apex = point(levels * slices);
            arch.clear();
            arch.extend((0..levels).map(|level| around(level, turn)));
            arch.push(apex);
            for level in (0..levels).rev() {
                arch.push((2.0 * apex - arch[level]).with_z(arch[level].z));
            }
            mesh.positions[0] += clamped_spline(&arch, 0.5) / sectors as f64;
            for ring in 1..=rings {
                let part = 1.0 - ring as f64 / rings as f64;
                mesh.positions[1 + (ring - 1) * sectors + s] = clamped_spline(&arch, 0.5 * part);
            }
        }
        let line = 1 + (rings - 1) * sectors;
        let middle = mesh.positions[line..].iter().sum::<DVec3>() / sectors as f64;
        let base = mesh.positions[line..].iter().map(|p| p.distance(middle)).sum::<f64>() / sectors as f64;
        let scale = if base > 0.0 { self.base_radius / base } else { 1.0 };
        mesh.positions.push(middle);
        for position in &mut mesh.positions {
            *position *= scale;
            // Removes the small compliance of the stiff springs.
            position.z = position.z.max(0.0);
        }
        mesh.positions[line..].iter_mut().for_each(|p| p.z = 0.0);
        let (vertex, middle) =
            (|k: usize, s: usize| (1 + k * sectors + s % sectors) as u32, mesh.positions.len() as u32 - 1);
        for s in 0..sectors {
            mesh.triangles.push([0, vertex(0, s), vertex(0, s + 1)]);
            for k in 0..rings - 1 {
                let [a, b, c, d] = [vertex(k, s), vertex(k + 1, s), vertex(k + 1, s + 1), vertex(k, s + 1)];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
            mesh.triangles.push([middle, vertex(rings - 1, s + 1), vertex(rings - 1, s)]);
        }
        let on_solid = mesh.triangles.iter().map(|t| t.iter().all(|&v| v as usize >= line)).collect();
        DropMesh { mesh, on_solid }
    }
}

/// Clamped B-spline of degree min(3, points − 1), at the fraction `part` of its parameter range.
fn clamped_spline(points: &[DVec3], part: f64) -> DVec3 {
    let degree = 3.min(points.len() - 1);
    let spans = points.len() - degree;
    let at = (part * spans as f64).clamp(0.0, spans as f64);
    let span = (at as usize).min(spans - 1);
    let knot = |i: usize| (i as f64 - degree as f64).clamp(0.0, spans as f64);
    // De Boor's recursion.
    let mut d = [DVec3::ZERO; 4];
    d[..=degree].copy_from_slice(&points[span..=span + degree]);
    for r in 1..=degree {
        for j in (r..=degree).rev() {
            let (low, high) = (knot(span + j), knot(span + j + 1 + degree - r));
            let t = if high > low { (at - low) / (high - low) } else { 0.0 };
            d[j] = d[j - 1].lerp(d[j], t);
        }
    }
    d[degree]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// A cone with these numbers of slices and levels.
    fn cone(slices: u32, levels: u32) -> Patch {
        let ring = |level: u32| {
            let (scale, z) = (1.0 - f64::from(level) / f64::from(levels), 2.0 * f64::from(level) / f64::from(levels));
            (0..slices).map(move |s| {
                let (sin, cos) = (TAU * f64::from(s) / f64::from(slices)).sin_cos();
                [(cos * scale) as f32, (sin * scale) as f32, z as f32]
            })
        };
        let points = (0..levels).flat_map(ring).chain([[0.0, 0.0, 2.0]]).collect();
        Patch { base_radius: 1e-3, slices, points }
    }

    #[test]
    fn the_patch_is_closed_and_has_its_base_on_the_plane() {
        for (slices, levels) in [(3, 2), (6, 3), (4, 1), (12, 6)] {
            let patch = cone(slices, levels);
            assert!(patch.is_sound());
            for detail in [Detail::default(), Detail { edge: 1.0, fewest: 5, most: 48 }] {
                let built = patch.surface(&detail);
                let connectivity =
                    sessile_geometry::connectivity::Connectivity::new(&built.mesh.triangles).expect("a surface");
                assert_eq!(connectivity.boundary().count(), 0, "{slices} × {levels}");
                assert!(built.mesh.volume() > 0.3e-9, "{:e}", built.mesh.volume());
                assert!(built.on_solid.contains(&true) && built.mesh.positions.iter().all(|p| p.z >= 0.0));
                let line = built.mesh.positions.iter().filter(|p| p.z == 0.0 && p.length() > 1e-4);
                let (sum, count) = line.fold((0.0, 0.0), |(sum, count), p| (sum + p.length(), count + 1.0));
                assert!((sum / count - 1e-3).abs() < 1e-7, "base {:e} m", sum / count);
            }
        }
    }

    /// Also where the slices are few and odd, and the apex leans. A section falls from the top by
    /// the square of the distance, so the slope to the first ring is about half of that to the
    /// second; from a point it would be the same.
    #[test]
    fn the_top_is_round() {
        const SECTORS: usize = 48;
        for (slices, levels, lean) in [(3, 2, 0.0), (3, 2, 0.1), (5, 3, 0.1), (6, 2, 0.0)] {
            let mut patch = cone(slices, levels);
            let apex = patch.points.len() - 1;
            patch.points[apex][0] = lean;
            let built = patch.surface(&Detail { edge: 1.0, fewest: SECTORS, most: SECTORS });
            let positions = &built.mesh.positions;
            let slope = |at: DVec3| (positions[0].z - at.z) / (positions[0] - at).truncate().length();
            for s in 1..=SECTORS {
                let [near, far] = [positions[s], positions[s + SECTORS]].map(slope);
                assert!(near < 0.7 * far, "{slices} × {levels}, leaning by {lean}: {near:.2}, then {far:.2}");
            }
        }
    }

    #[test]
    fn incomplete_levels_are_rejected() {
        let patch = cone(4, 2);
        for spoil in [
            (|p| p.slices = 2) as fn(&mut Patch),
            |p| p.points.truncate(8),
            |p| p.points.clear(),
            |p| p.points[3][1] = f32::NAN,
            |p| p.base_radius = 0.0,
        ] {
            let mut spoilt = patch.clone();
            spoil(&mut spoilt);
            assert!(!spoilt.is_sound(), "{spoilt:?}");
        }
    }

    #[test]
    fn the_spline_begins_and_ends_in_its_points_and_lies_between() {
        let points = [0.0, 1.0, 4.0, 5.0, 7.0].map(|x| DVec3::new(x, x * x, 0.0));
        for count in 2..=5 {
            let (first, last) = (clamped_spline(&points[..count], 0.0), clamped_spline(&points[..count], 1.0));
            assert!((first - points[0]).length() < 1e-12 && (last - points[count - 1]).length() < 1e-12);
            let half = clamped_spline(&points[..count], 0.5);
            assert!(half.x > 0.0 && half.x < points[count - 1].x, "{half}");
        }
    }
}
