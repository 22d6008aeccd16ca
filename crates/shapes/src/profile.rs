//! A drop by its Young–Laplace profile: a body of revolution over a plane, leaned by tangential
//! acceleration and elongated by speed.
//!
//! To first order tangential acceleration shifts the centroid by R Bo χ(θ) (docs/wetting.md,
//! "Retention"), here by a shear that keeps the base in place.

use std::f64::consts::{PI, TAU};
use std::sync::OnceLock;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_geometry::TriMesh;
use sessile_numerics::math;

use crate::build::{Detail, DropMesh};
use crate::meridian::{self, Meridian, POINTS};

/// Largest number of cached directions around a drop.
const MAX_CACHED: usize = 96;
/// Largest number of rings from apex to contact line, and of those on the base.
const MAX_RINGS: usize = 48;
/// By how much rings at a contact line far narrower than the drop are closer than on average: the
/// profile bends there, and its contact angle would be measured too low.
const MAX_CROWDING: f64 = 0.7;

/// Shape parameters of a drop over a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Volume of the body of revolution over its base, in m³: the drop's own on a plane; on a
    /// curved solid it includes the cap of the solid.
    pub body: f64,
    /// Base radius, in m.
    pub base_radius: f64,
    /// Height of the apex over the base, in m.
    pub height: f64,
    /// Contact angle with the plane of the base, in rad.
    pub angle: f64,
    /// √(γ/ρg) for the acceleration into the solid, in m; 0 for a pendant drop.
    pub capillary_length: f64,
    /// Shift of the centroid along the plane, in m.
    pub lean: DVec2,
    /// Direction of elongation, unit length or zero.
    pub heading: DVec2,
    /// Elongation of the rear half, in base radii.
    pub stretch: f64,
}

/// Largest lean of an apex, in base radii: beyond it the shear would cut through the base.
const MAX_LEAN: f64 = 0.6;
/// Base radius, in capillary lengths, from which a drop is a puddle: its rim is much smaller than
/// its base and needs shorter edges.
const PUDDLE: f64 = 2.5;
/// Edges at the rim of a puddle, in heights.
const RIM_EDGE: f64 = 0.2;
/// Largest number of edges around a puddle.
const MAX_PUDDLE_SECTORS: usize = 160;

impl Profile {
    /// Whether all numbers are finite and lengths are positive.
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

    /// The surface over the plane z = 0, base included.
    pub fn surface(&self, detail: &Detail) -> DropMesh {
        let mut built = DropMesh::default();
        self.make_surface(detail, &mut built);
        built
    }

    /// Builds the surface in the memory of another.
    pub(crate) fn make_surface(&self, detail: &Detail, built: &mut DropMesh) {
        let meridian = if self.capillary_length > 0.0 {
            meridian::resting(self.body, self.angle, self.capillary_length, self.base_radius, self.height)
        } else {
            meridian::hanging(self.body, self.base_radius, self.height)
        };
        revolve(&meridian, self.body, &self.detail(detail), built);
        let (_, centroid) = meridian::volume_and_centroid(&meridian);
        let apex = self.lean * (self.height / centroid);
        self.deform(&mut built.mesh, apex.clamp_length_max(MAX_LEAN * self.base_radius));
    }

    /// The resolution `detail`, finer for a puddle.
    fn detail(&self, detail: &Detail) -> Detail {
        if self.capillary_length <= 0.0 || self.base_radius < PUDDLE * self.capillary_length {
            return *detail;
        }
        let sectors = (TAU * self.base_radius / (RIM_EDGE * self.height)).ceil() as usize;
        let most = sectors.min(MAX_PUDDLE_SECTORS);
        Detail { fewest: most.max(detail.fewest), most: most.max(detail.most), ..*detail }
    }

    /// Whether [`Profile::surface`] encloses exactly the body's volume: a shear keeps it, an
    /// elongation does not.
    pub fn keeps_volume(&self) -> bool {
        self.stretch == 0.0
    }

    /// Leans and elongates a surface; the width of the base is kept.
    fn deform(&self, mesh: &mut TriMesh, lean: DVec2) {
        if lean == DVec2::ZERO && self.stretch == 0.0 {
            return;
        }
        // The apex is the first vertex.
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

/// Evenly spaced unit directions around a circle, cached.
pub(crate) fn directions(sectors: usize) -> std::borrow::Cow<'static, [DVec2]> {
    static TABLE: [OnceLock<Vec<DVec2>>; MAX_CACHED + 1] = [const { OnceLock::new() }; MAX_CACHED + 1];
    let make = || (0..sectors).map(|s| math::direction(TAU * s as f64 / sectors as f64)).collect();
    match TABLE.get(sectors) {
        Some(cached) => cached.get_or_init(make).as_slice().into(),
        None => make().into(),
    }
}

/// Rings of a body of revolution: `rings` from apex to contact line, then `inner` of the base.
struct Revolution<'a> {
    meridian: &'a Meridian,
    sectors: usize,
    rings: usize,
    inner: usize,
    /// By how much rings at the contact line are closer than on average.
    crowding: f64,
    /// Factor on radii for which the polygon has the area of the circle.
    swell: f64,
    /// Directions whose y is sin(πk/rings).
    arch: std::borrow::Cow<'static, [DVec2]>,
}

/// Weights of the values at 0, 1, 2 and 3 in the cubic through them, at x.
fn cubic_weights(x: f64) -> [f64; 4] {
    let [a, b, c, d] = [x, x - 1.0, x - 2.0, x - 3.0];
    [-b * c * d / 6.0, a * c * d / 2.0, -a * b * d / 2.0, a * b * c / 6.0]
}

/// Builds the body of revolution of a meridian over the plane z = 0, base included.
///
/// Chords cut off part of a round body; rings between apex and contact line are widened to enclose
/// `volume` (in m³).
fn revolve(meridian: &Meridian, volume: f64, detail: &Detail, built: &mut DropMesh) {
    let body = Revolution::new(meridian, detail);
    let [plain, widened] = body.enclosed([0.0, 0.01]);
    let widening = (0.01 * (volume - plain) / (widened - plain)).clamp(-0.05, 0.2);
    // The remaining difference, a few parts in a million, is corrected by the height.
    let raise = volume / body.enclosed([widening; 2])[0];
    let DropMesh { mesh, on_solid } = built;
    mesh.positions.clear();
    mesh.triangles.clear();
    on_solid.clear();
    body.push_positions(mesh, widening, raise);
    body.push_triangles(mesh);
    // All triangles beyond the contact line lie on the solid.
    let num_air = body.sectors * (2 * body.rings - 1);
    on_solid.extend((0..mesh.triangles.len()).map(|t| t >= num_air));
}

impl<'a> Revolution<'a> {
    /// Chooses the numbers of rings and sectors.
    fn new(meridian: &'a Meridian, detail: &Detail) -> Self {
        let base = meridian[POINTS - 1][0];
        let widest = meridian.iter().map(|point| point[0]).fold(0.0, f64::max);
        let sectors = detail.sectors(widest);
        let sector = TAU / sectors as f64;
        // Rings as far apart as vertices along the widest one.
        let step = |[r, z]: [f64; 2], [s, y]: [f64; 2]| ((r - s) * (r - s) + (z - y) * (z - y)).sqrt();
        let arc: f64 = meridian.windows(2).map(|p| step(p[0], p[1])).sum();
        let rings = ((arc / (sector * widest)).round() as usize).clamp(3, sectors.min(MAX_RINGS));
        let inner = ((base / (sector * widest)).round() as usize).clamp(1, sectors.min(MAX_RINGS));
        let swell = (sector / math::sin(sector)).sqrt();
        let crowding = MAX_CROWDING * (1.0 - base / widest);
        Self { meridian, sectors, rings, inner, crowding, swell, arch: directions(2 * rings) }
    }

    /// Radius and height of ring k, and the change of its radius per widening.
    fn ring(&self, k: usize) -> [f64; 3] {
        let part = k as f64 / self.rings as f64;
        let along = (part + self.crowding * part * (1.0 - part)) * (POINTS - 1) as f64;
        let first = (along as usize).saturating_sub(1).min(POINTS - 4);
        let weights = cubic_weights(along - first as f64);
        let mix = |c: usize| (0..4).map(|i| weights[i] * self.meridian[first + i][c]).sum::<f64>();
        // sin(πk/rings), which is zero at the contact line.
        let sin = if k == self.rings { 0.0 } else { self.arch[k].y };
        [mix(0) * self.swell, mix(1), sin]
    }

    /// Enclosed volume for two widenings, in m³.
    fn enclosed(&self, widenings: [f64; 2]) -> [f64; 2] {
        // The area of a polygon is that of the circle before swelling.
        let per_slice = PI / 3.0 / (self.swell * self.swell);
        let (mut sums, mut above) = ([0.0; 2], self.ring(0));
        for k in 1..=self.rings {
            let below = self.ring(k);
            for (sum, by) in sums.iter_mut().zip(widenings) {
                let (r, s) = (above[0] * (1.0 + by * above[2]), below[0] * (1.0 + by * below[2]));
                *sum += (r * r + r * s + s * s) * (above[1] - below[1]);
            }
            above = below;
        }
        sums.map(|sum| sum * per_slice)
    }

    /// Appends apex, rings, contact line, rings of the base and its center.
    fn push_positions(&self, mesh: &mut TriMesh, widening: f64, raise: f64) {
        let &Self { meridian, sectors, rings, inner, swell, .. } = self;
        mesh.positions.reserve((rings + inner - 1) * sectors + 2);
        let around = directions(sectors);
        let push = |mesh: &mut TriMesh, radius: f64, z: f64| {
            mesh.positions.extend(around.iter().map(|&direction| (direction * radius).extend(z)));
        };
        mesh.positions.push(DVec3::new(0.0, 0.0, meridian[0][1] * raise));
        for k in 1..rings {
            let [radius, z, sin] = self.ring(k);
            push(mesh, radius * (1.0 + widening * sin), z * raise);
        }
        let base = meridian[POINTS - 1][0];
        push(mesh, base * swell, 0.0);
        for k in (1..inner).rev() {
            push(mesh, base * swell * k as f64 / inner as f64, 0.0);
        }
        mesh.positions.push(DVec3::ZERO);
    }

    fn push_triangles(&self, mesh: &mut TriMesh) {
        let &Self { sectors, rings, inner, .. } = self;
        mesh.triangles.reserve(2 * (rings + inner - 1) * sectors);
        let (count, center) = (sectors as u32, mesh.positions.len() as u32 - 1);
        let pairs = || (0..count).map(|s| (s, if s + 1 == count { 0 } else { s + 1 }));
        mesh.triangles.extend(pairs().map(|(s, next)| [0, 1 + s, 1 + next]));
        let last = (rings + inner - 2) as u32;
        for k in 0..last {
            let (upper, lower) = (1 + k * count, 1 + (k + 1) * count);
            mesh.triangles.extend(
                pairs().flat_map(|(s, next)| {
                    [[upper + s, lower + s, lower + next], [upper + s, lower + next, upper + next]]
                }),
            );
        }
        let innermost = 1 + last * count;
        mesh.triangles.extend(pairs().map(|(s, next)| [center, innermost + next, innermost + s]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drape::drape_flat;
    use sessile_wetting::young_laplace::sessile;

    #[test]
    fn on_a_plane_height_base_and_volume_are_those_of_young_laplace() {
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
    fn a_leaning_drop_keeps_its_volume_and_shifts_its_centroid_as_requested() {
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
