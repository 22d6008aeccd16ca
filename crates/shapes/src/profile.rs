//! A drop by its Young–Laplace profile: a surface of revolution over a plane, leaned by what pulls along the plane, drawn out by speed.
//!
//! A pull along the surface leans the drop: to first order its centroid moves by R Bo χ(θ) (docs/wetting.md, "Retention"), here by a
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
        let mut built = DropMesh::default();
        self.make_surface(detail, &mut built);
        built
    }

    /// The same, in the room of a surface that is no longer needed.
    pub(crate) fn make_surface(&self, detail: &Detail, built: &mut DropMesh) {
        let meridian = if self.capillary_length > 0.0 {
            meridian::resting(self.body, self.angle, self.capillary_length, self.base_radius, self.height)
        } else {
            meridian::hanging(self.body, self.base_radius, self.height)
        };
        revolve(&meridian, self.body, detail, built);
        let (_, centroid) = meridian::volume_and_centroid(&meridian);
        let apex = self.lean * (self.height / centroid);
        self.deform(&mut built.mesh, apex.clamp_length_max(LARGEST_LEAN * self.base_radius));
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
        // The apex comes first.
        let height = mesh.positions[0].z.max(f64::MIN_POSITIVE);
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
fn revolve(meridian: &Meridian, volume: f64, detail: &Detail, built: &mut DropMesh) {
    let base = meridian[POINTS - 1][0];
    let widest = meridian.iter().map(|point| point[0]).fold(0.0, f64::max);
    let sectors = detail.sectors(widest);
    // A polygon with the area of the circle.
    let sector = TAU / sectors as f64;
    let swell = (sector / sector.sin()).sqrt();
    // Rings as far apart as vertices along the widest one.
    let step = |[r, z]: [f64; 2], [s, y]: [f64; 2]| ((r - s) * (r - s) + (z - y) * (z - y)).sqrt();
    let arc: f64 = meridian.windows(2).map(|p| step(p[0], p[1])).sum();
    let rings = ((arc / (sector * widest)).round() as usize).clamp(3, sectors);
    let at = |part: f64| {
        let along = part * (POINTS - 1) as f64;
        let low = (along as usize).min(POINTS - 2);
        let mix = |c: usize| meridian[low][c] + (along - low as f64) * (meridian[low + 1][c] - meridian[low][c]);
        [mix(0) * swell, mix(1)]
    };
    // The foot, inwards, in as many rings as keep its triangles like the others.
    let inner = ((base / (sector * widest)).round() as usize).clamp(1, sectors);
    let DropMesh { mesh, on_solid } = built;
    mesh.positions.clear();
    mesh.triangles.clear();
    on_solid.clear();
    mesh.positions.reserve((rings + inner - 1) * sectors + 2);
    mesh.triangles.reserve(2 * (rings + inner - 1) * sectors);
    let (around, arch) = (directions(sectors), directions(2 * rings));
    let ring = |mesh: &mut TriMesh, radius: f64, z: f64| {
        mesh.positions.extend(around.iter().map(|&direction| (direction * radius).extend(z)));
    };
    // Radius and height of ring k, and what widening it by one would add to the radius.
    let ring_at = |k: usize| {
        let [radius, z] = at(k as f64 / rings as f64);
        // sin(πk/rings), which is zero at the line.
        let sin = if k == rings { 0.0 } else { arch[k].y };
        [radius, z, sin]
    };
    // The polygon's area is the circle's of the radius before it was swollen.
    let per_slice = PI / 3.0 / (swell * swell);
    let enclosed = |by: [f64; 2]| {
        let (mut sums, mut above) = ([0.0; 2], ring_at(0));
        for k in 1..=rings {
            let below = ring_at(k);
            for (sum, by) in sums.iter_mut().zip(by) {
                let (r, s) = (above[0] * (1.0 + by * above[2]), below[0] * (1.0 + by * below[2]));
                *sum += (r * r + r * s + s * s) * (above[1] - below[1]);
            }
            above = below;
        }
        sums.map(|sum| sum * per_slice)
    };
    let [plain, widened] = enclosed([0.0, 0.01]);
    let by = (0.01 * (volume - plain) / (widened - plain)).clamp(-0.05, 0.2);
    // What is left of the difference, some parts in a million, goes into the height.
    let raise = volume / enclosed([by; 2])[0];
    mesh.positions.push(DVec3::new(0.0, 0.0, meridian[0][1] * raise));
    for k in 1..rings {
        let [radius, z, sin] = ring_at(k);
        ring(mesh, radius * (1.0 + by * sin), z * raise);
    }
    ring(mesh, base * swell, 0.0);
    for k in (1..inner).rev() {
        ring(mesh, base * swell * k as f64 / inner as f64, 0.0);
    }
    mesh.positions.push(DVec3::ZERO);
    let (count, middle) = (sectors as u32, mesh.positions.len() as u32 - 1);
    let pairs = || (0..count).map(|s| (s, if s + 1 == count { 0 } else { s + 1 }));
    mesh.triangles.extend(pairs().map(|(s, next)| [0, 1 + s, 1 + next]));
    let last = (rings + inner - 2) as u32;
    for k in 0..last {
        let (upper, lower) = (1 + k * count, 1 + (k + 1) * count);
        mesh.triangles.extend(
            pairs()
                .flat_map(|(s, next)| [[upper + s, lower + s, lower + next], [upper + s, lower + next, upper + next]]),
        );
    }
    let line = 1 + last * count;
    mesh.triangles.extend(pairs().map(|(s, next)| [middle, line + next, line + s]));
    // All beyond the line lies on the solid.
    let num_air = sectors * (2 * rings - 1);
    on_solid.extend((0..mesh.triangles.len()).map(|t| t >= num_air));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drape::drape_flat;
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
                drape_flat(&mut built.mesh, volume);
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
        drape_flat(&mut built.mesh, 4e-9);
        let mesh = &built.mesh;
        let moment: DVec3 = (0..mesh.triangles.len())
            .map(|t| mesh.corners(t))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 24.0 * (a + b + c))
            .sum();
        let shift = (moment / mesh.volume()).truncate();
        assert!((shift - lean).length() < 0.02 * lean.length(), "{shift} for {lean}");
    }
}
