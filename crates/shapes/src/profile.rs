//! A drop by its Young–Laplace profile: a surface of revolution over a plane, leaned by what pulls along the plane, drawn out by speed.
//!
//! A pull along the surface leans the drop: to first order its centroid moves by R Bo χ(θ) (docs/wetting.md, "Holding on"), here by a
//! shear that leaves the foot in place.

use std::f64::consts::{PI, TAU};
use std::sync::OnceLock;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;

use crate::build::{Detail, DropMesh};
use crate::meridian::{self, Meridian, POINTS};

/// Most edges round a drop for which directions are kept.
const KEPT: usize = 96;

/// What the shape of a drop at rest, leaning or running follows from; over a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Volume of the whole body of revolution over its foot, in m³: the drop's own on a plane, and what the ground takes of it on a curved one besides.
    pub body: f64,
    /// In m.
    pub base_radius: f64,
    /// Of the apex over the foot, in m.
    pub height: f64,
    /// At which it meets the plane of its foot, in rad.
    pub angle: f64,
    /// √(γ/ρg) for the pull into the solid, in m; 0 where it is pulled off.
    pub capillary_length: f64,
    /// Shift of the centroid along the plane, in m.
    pub lean: DVec2,
    /// Direction in which it is drawn out, unit length or zero.
    pub heading: DVec2,
    /// How much longer its rear half is than at rest, in base radii.
    pub stretch: f64,
}

/// Largest lean of an apex, in base radii: beyond it the shear would cut through the foot.
const LARGEST_LEAN: f64 = 0.6;

impl Profile {
    /// Whether all numbers are numbers, and lengths lengths.
    pub fn is_sound(&self) -> bool {
        let positive = [self.body, self.base_radius, self.height, self.angle];
        positive.iter().all(|x| x.is_finite() && *x > 0.0)
            && self.angle < PI
            && self.capillary_length >= 0.0
            && self.capillary_length.is_finite()
            && self.lean.is_finite()
            && self.heading.is_finite()
            && self.stretch.is_finite()
            && self.stretch >= 0.0
    }

    /// The surface over the plane z = 0, its foot included, with edges as wide as `detail` wants.
    pub fn surface(&self, detail: &Detail) -> DropMesh {
        let meridian = if self.capillary_length > 0.0 {
            meridian::resting(self.body, self.angle, self.capillary_length, self.base_radius, self.height)
        } else {
            meridian::hanging(self.body, self.base_radius, self.height)
        };
        let mut built = revolve(&meridian, self.body, detail);
        let (_, centroid) = meridian::volume_and_centroid(&meridian);
        let apex = self.lean * (self.height / centroid);
        self.deform(&mut built.mesh, apex.clamp_length_max(LARGEST_LEAN * self.base_radius));
        built
    }

    /// Whether [`Profile::surface`] encloses exactly the body's volume: a shear keeps it, being drawn out does not.
    pub fn keeps_volume(&self) -> bool {
        self.stretch == 0.0
    }

    /// Leans and draws out a surface over the plane; its foot's width stays.
    fn deform(&self, mesh: &mut TriMesh, lean: DVec2) {
        if lean == DVec2::ZERO && self.stretch == 0.0 {
            return;
        }
        let height = mesh.positions.iter().map(|p| p.z).fold(f64::MIN_POSITIVE, f64::max);
        for position in &mut mesh.positions {
            let mut flat = position.truncate() + lean * (position.z / height);
            let along = flat.dot(self.heading);
            if self.stretch > 0.0 && along < 0.0 {
                flat += self.heading * (along * self.stretch);
            }
            *position = flat.extend(position.z);
        }
    }
}

/// Unit directions round a circle, evenly spaced; kept for the numbers that occur.
pub(crate) fn directions(sectors: usize) -> std::borrow::Cow<'static, [DVec2]> {
    static TABLE: [OnceLock<Vec<DVec2>>; KEPT + 1] = [const { OnceLock::new() }; KEPT + 1];
    let make = || (0..sectors).map(|s| DVec2::from_angle(TAU * s as f64 / sectors as f64)).collect();
    match TABLE.get(sectors) {
        Some(kept) => kept.get_or_init(make).as_slice().into(),
        None => make().into(),
    }
}

/// The surface of revolution of a meridian over the plane z = 0, its foot included; edges as wide as `detail` wants.
///
/// Chords cut off a little of a round body; rings between apex and line are widened by what brings `volume` (in m³) back.
fn revolve(meridian: &Meridian, volume: f64, detail: &Detail) -> DropMesh {
    let base = meridian[POINTS - 1][0];
    let widest = meridian.iter().map(|point| point[0]).fold(0.0, f64::max);
    let sectors = detail.sectors(widest);
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
    // The foot, inwards, in as many rings as keep its triangles like the others.
    let inner = ((base / (sector * widest)).round() as usize).clamp(1, sectors);
    let mut mesh = TriMesh::default();
    mesh.positions.reserve_exact((rings + inner - 1) * sectors + 2);
    mesh.triangles.reserve_exact(2 * (rings + inner - 1) * sectors);
    let apex = mesh.positions.len();
    mesh.positions.push(DVec3::ZERO);
    let around = directions(sectors);
    let ring = |mesh: &mut TriMesh, radius: f64, z: f64| {
        mesh.positions.extend(around.iter().map(|&direction| (direction * radius).extend(z)));
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
    // What is left of the difference, some parts in a million, goes into the height.
    let raise = volume / enclosed(by);
    mesh.positions[apex] = DVec3::new(0.0, 0.0, meridian[0][1] * raise);
    for k in 1..=rings {
        let [radius, z] = bulge(k, by);
        ring(&mut mesh, if k == rings { base * swell } else { radius }, if k == rings { 0.0 } else { z * raise });
    }
    for k in (1..inner).rev() {
        ring(&mut mesh, base * swell * k as f64 / inner as f64, 0.0);
    }
    mesh.positions.push(DVec3::ZERO);
    let (count, middle) = (sectors as u32, mesh.positions.len() as u32 - 1);
    let pairs = || (0..count).map(|s| (s, if s + 1 == count { 0 } else { s + 1 }));
    mesh.triangles.extend(pairs().map(|(s, next)| [0, 1 + s, 1 + next]));
    let last = (rings + inner - 2) as u32;
    for k in 0..last {
        let (upper, lower) = (1 + k * count, 1 + (k + 1) * count);
        for (s, next) in pairs() {
            mesh.triangles.push([upper + s, lower + s, lower + next]);
            mesh.triangles.push([upper + s, lower + next, upper + next]);
        }
    }
    let line = 1 + last * count;
    mesh.triangles.extend(pairs().map(|(s, next)| [middle, line + next, line + s]));
    // All beyond the line lies on the solid.
    let num_air = sectors * (2 * rings - 1);
    let on_solid = (0..mesh.triangles.len()).map(|t| t >= num_air).collect();
    DropMesh { mesh, on_solid }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::lay;
    use sessile_wetting::young_laplace::sessile;

    #[test]
    fn on_a_plane_height_base_and_volume_are_young_and_laplaces() {
        for (volume, degrees) in [(4e-9, 60.0), (4e-9, 90.0), (4e-9, 120.0), (30e-9, 90.0), (30e-9, 150.0)] {
            let exact = sessile(volume, f64::to_radians(degrees), 2.729e-3).expect("a drop");
            let profile = Profile {
                body: volume,
                base_radius: exact.base_radius,
                height: exact.height,
                angle: exact.contact_angle,
                capillary_length: 2.729e-3,
                lean: DVec2::ZERO,
                heading: DVec2::ZERO,
                stretch: 0.0,
            };
            for detail in [Detail::default(), Detail { fewest: 5, most: 5, edge: 1.0 }] {
                let mut built = profile.surface(&detail);
                lay(&mut built.mesh, volume, None);
                let enclosed = built.mesh.volume() / volume - 1.0;
                assert!(enclosed.abs() < 1e-12, "volume off by {enclosed:e}");
                let got = built.mesh.positions.iter().map(|p| p.z).fold(0.0, f64::max) / exact.height - 1.0;
                let bound = if detail.most == 5 { 0.2 } else { 0.01 };
                assert!(got.abs() < bound, "{volume:e} at {degrees}°: height off by {got}");
                let area: f64 = (0..built.on_solid.len())
                    .filter(|&t| built.on_solid[t])
                    .map(|t| built.mesh.corners(t))
                    .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
                    .sum();
                let radius = (area / PI).sqrt() / exact.base_radius - 1.0;
                assert!(radius.abs() < 1e-6, "base off by {radius:e}");
            }
        }
    }

    #[test]
    fn a_leaning_drop_keeps_its_volume_and_shifts_its_centroid_by_what_was_asked() {
        let lean = DVec2::new(2e-4, -1e-4);
        let profile = Profile {
            body: 4e-9,
            base_radius: 1.26e-3,
            height: 1.2e-3,
            angle: 1.5,
            capillary_length: 2.729e-3,
            lean,
            heading: DVec2::ZERO,
            stretch: 0.0,
        };
        let mut built = profile.surface(&Detail::default());
        lay(&mut built.mesh, 4e-9, None);
        let mesh = &built.mesh;
        let moment: DVec3 = (0..mesh.triangles.len())
            .map(|t| mesh.corners(t))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 24.0 * (a + b + c))
            .sum();
        let shift = (moment / mesh.volume()).truncate();
        assert!((shift - lean).length() < 0.02 * lean.length(), "{shift} for {lean}");
    }
}
