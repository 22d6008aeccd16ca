//! What an interactive window draws: the liquid as flat arrays of `f32`, fast enough for sixty
//! times a second.
//!
//! A [`crate::Model::frame`] is exact and complete, and costs up to a tenth of a second. A [`View`]
//! holds a few numbers per drop, from which a graphics card makes the shape, or triangle surfaces
//! where drops have no simple shape.

use glam::{DVec2, DVec3};
use sessile_frames::{Frame, FrameGeometry, Surface};
use sessile_numerics::math;
use sessile_shapes::{Body, Instance, Shape};

/// Numbers per drop in [`View::drops`], in this order:
///
/// | index | meaning |
/// |---|---|
/// | 0–2 | place in m: center of the footprint, of a drop in flight its center |
/// | 3–5 | normal of the solid there; 0 in flight |
/// | 6–8 | unit heading along the solid |
/// | 9 | base radius in m; in flight the radius |
/// | 10 | height in m; in flight 0 |
/// | 11 | sag: shift of the body along the heading, in base radii |
/// | 12 | stretch: elongation against the heading, in base radii |
/// | 13–15 | velocity in m/s |
/// | 16 | volume in m³ |
/// | 17 | contact angle in rad; 0 in flight |
/// | 18 | index of its solid; −1 in flight |
/// | 19 | 1 if it slides |
pub const DROP_STRIDE: usize = 20;

/// The liquid at one moment, as flat arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Simulated time, in s.
    pub time: f64,
    /// [`DROP_STRIDE`] numbers per drop.
    pub drops: Vec<f32>,
    /// Id of each drop.
    pub ids: Vec<u32>,
    /// Drops that are triangle surfaces.
    pub surface: SurfaceView,
}

/// Triangle surfaces of drops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceView {
    /// Vertex positions, in m: three numbers each.
    pub positions: Vec<f32>,
    /// Outward unit normals at the vertices: three numbers each.
    pub normals: Vec<f32>,
    /// Vertex velocities, in m/s: three numbers each.
    pub velocities: Vec<f32>,
    /// Id of each vertex's drop.
    pub drops: Vec<u32>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<u32>,
    /// Index of the solid that each triangle lies on; −1 for the free surface.
    pub solids: Vec<i32>,
    /// Id of each drop that is a surface.
    pub ids: Vec<u32>,
    /// Volume of each of them, in m³.
    pub volumes: Vec<f32>,
}

/// One drop on a solid or in flight, as a model knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropView {
    /// Id.
    pub id: u32,
    /// Center of the footprint, or of the ball in flight, in m.
    pub place: DVec3,
    /// Index and normal of the solid; `None` in flight.
    pub on: Option<(u32, DVec3)>,
    /// Unit heading.
    pub heading: DVec3,
    /// Base radius, or radius in flight, in m.
    pub radius: f64,
    /// Volume, in m³.
    pub volume: f64,
    /// Shift of the body along the heading, in base radii.
    pub sag: f64,
    /// Elongation against the heading, in base radii.
    pub stretch: f64,
    /// Velocity, in m/s.
    pub velocity: DVec3,
    /// Whether it slides.
    pub sliding: bool,
}

impl DropView {
    /// A drop in flight: a ball of this radius (in m).
    pub fn in_flight(id: u32, center: DVec3, velocity: DVec3, volume: f64, radius: f64) -> Self {
        Self {
            id,
            place: center,
            on: None,
            heading: velocity.normalize_or(DVec3::NEG_Y),
            radius,
            volume,
            sag: 0.0,
            stretch: 0.0,
            velocity,
            sliding: false,
        }
    }
}

impl View {
    /// Empties the arrays and keeps their memory.
    pub fn clear(&mut self, time: f64) {
        self.time = time;
        self.drops.clear();
        self.ids.clear();
        self.surface.clear();
    }

    /// Adds a drop. Its height is that of the spherical cap with its base radius and volume.
    pub fn push(&mut self, drop: &DropView) {
        let (height, angle) = match drop.on {
            Some(_) => {
                let height = cap_height(drop.volume, drop.radius);
                (height, 2.0 * math::atan(height / drop.radius))
            }
            None => (0.0, 0.0),
        };
        let (solid, normal) = drop.on.map_or((-1.0, DVec3::ZERO), |(solid, normal)| (solid as f32, normal));
        let [place, normal, heading, velocity] =
            [drop.place, normal, drop.heading, drop.velocity].map(|v| v.as_vec3().to_array());
        self.drops.extend(place);
        self.drops.extend(normal);
        self.drops.extend(heading);
        self.drops.extend([drop.radius, height, drop.sag, drop.stretch].map(|value| value as f32));
        self.drops.extend(velocity);
        self.drops.extend([drop.volume as f32, angle as f32, solid, f32::from(u8::from(drop.sliding))]);
        self.ids.push(drop.id);
    }

    /// Number of drops, of both kinds.
    pub fn num_drops(&self) -> usize {
        self.ids.len() + self.surface.ids.len()
    }

    /// Volume of all drops, in m³, without films.
    pub fn volume(&self) -> f64 {
        let instances = self.drops.chunks_exact(DROP_STRIDE).map(|drop| f64::from(drop[16])).sum::<f64>();
        instances + self.surface.volumes.iter().copied().map(f64::from).sum::<f64>()
    }

    /// Shows a frame: instances as drops, surfaces as they are.
    pub fn set_frame(&mut self, frame: &Frame) {
        self.clear(frame.time);
        match &frame.liquid {
            FrameGeometry::Instances(instances) | FrameGeometry::Tessellated { instances, .. } => {
                instances.iter().for_each(|instance| self.push(&drop_of(instance)));
            }
            FrameGeometry::Surfaces(surface) => self.surface.set(surface),
        }
        if let FrameGeometry::Surfaces(_) = &frame.liquid {
            for drop in &frame.drops {
                self.surface.ids.push(drop.id);
                self.surface.volumes.push(drop.volume as f32);
            }
        }
    }
}

impl SurfaceView {
    fn clear(&mut self) {
        let Self { positions, normals, velocities, drops, triangles, solids, ids, volumes } = self;
        [positions, normals, velocities].into_iter().for_each(Vec::clear);
        [drops, triangles, ids].into_iter().for_each(Vec::clear);
        solids.clear();
        volumes.clear();
    }

    fn set(&mut self, surface: &Surface) {
        let flat = |into: &mut Vec<f32>, from: &[DVec3]| from.iter().for_each(|v| into.extend(v.as_vec3().to_array()));
        flat(&mut self.positions, &surface.positions);
        flat(&mut self.velocities, &surface.velocities);
        flat(&mut self.normals, &normals(surface));
        self.drops.extend(&surface.drops);
        self.triangles.extend(surface.triangles.iter().flatten());
        self.solids.extend(&surface.solids);
    }
}

/// Normals of the free surface at its vertices, weighted by area; at vertices in the middle of a
/// base those of the base.
fn normals(surface: &Surface) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; surface.positions.len()];
    let mut bases = vec![DVec3::ZERO; surface.positions.len()];
    for (corners, &solid) in surface.triangles.iter().zip(&surface.solids) {
        let [a, b, c] = corners.map(|v| surface.positions[v as usize]);
        let normal = (b - a).cross(c - a);
        let into = if solid < 0 { &mut sums } else { &mut bases };
        corners.iter().for_each(|&v| into[v as usize] += normal);
    }
    let pick = |(free, base): (&DVec3, &DVec3)| free.try_normalize().unwrap_or_else(|| base.normalize_or_zero());
    sums.iter().zip(&bases).map(pick).collect()
}

/// Height of the spherical cap of a volume (in m³) on a base of a radius (in m), in m: the real
/// root of h³ + 3 a² h = 6 V/π.
pub fn cap_height(volume: f64, radius: f64) -> f64 {
    let (half, cube) = (3.0 * volume / std::f64::consts::PI, radius.powi(3));
    let root = math::hypot(half, cube);
    // The difference of the two roots, without cancellation for flat caps.
    let large = math::cbrt(root + half);
    if large > 0.0 { large - radius * radius / large } else { 0.0 }
}

/// An instance of a frame as a drop.
fn drop_of(instance: &Instance) -> DropView {
    let axes = instance.frame.axes;
    let heading = |along: DVec2| axes * along.extend(0.0);
    let (radius, along, sag, stretch) = match &instance.shape {
        Shape::Draped(draped) => match &draped.body {
            Body::Profile(profile) => (
                profile.base_radius,
                profile.heading,
                profile.lean.length() / profile.base_radius.max(f64::MIN_POSITIVE),
                profile.stretch,
            ),
            Body::Patch(patch) => (patch.base_radius, DVec2::NEG_Y, 0.0, 0.0),
            _ => (hemisphere(instance.volume), DVec2::NEG_Y, 0.0, 0.0),
        },
        Shape::Sphere => (sphere(instance.volume), DVec2::NEG_Y, 0.0, 0.0),
        _ => (hemisphere(instance.volume), DVec2::NEG_Y, 0.0, 0.0),
    };
    DropView {
        id: instance.drop,
        place: instance.frame.origin,
        on: instance.solid.map(|solid| (solid, axes.z_axis)),
        heading: heading(along),
        radius,
        volume: instance.volume,
        sag,
        stretch,
        velocity: instance.velocity,
        sliding: instance.velocity != DVec3::ZERO,
    }
}

fn sphere(volume: f64) -> f64 {
    math::cbrt(0.75 * volume / std::f64::consts::PI)
}

fn hemisphere(volume: f64) -> f64 {
    math::cbrt(1.5 * volume / std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_of_a_height_has_its_volume() {
        for radius in [1e-4, 1e-3, 2e-2] {
            for ratio in [1e-3, 0.2, 1.0, 1.7] {
                let height = ratio * radius;
                let volume = std::f64::consts::PI * height * (3.0 * radius * radius + height * height) / 6.0;
                let found = cap_height(volume, radius);
                assert!((found / height - 1.0).abs() < 1e-9, "{found:e} for {height:e}");
            }
        }
    }
}
