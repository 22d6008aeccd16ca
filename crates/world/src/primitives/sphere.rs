//! A ball, or all space outside one.
//!
//! Local frame: origin at the center, axes as in the scene. u runs round the equator eastwards from
//! −z (0.5 faces +z), v from the south pole (0) to the north pole (1), both in proportion to angle.
//! Seen from inside (`inside`), the same coordinates hold, so images there are mirrored. The mesh's
//! vertices lie on the sphere: with 128 × 64 facets its area is 0.1 % below 4πR².

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_numerics::math;

use super::MeshBuilder;

/// Facets around the equator and from pole to pole.
const AROUND: usize = 128;
const UP: usize = 64;

/// A sphere about the origin.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    /// In m.
    pub radius: f64,
    /// Whether the body is the space outside.
    pub inside: bool,
}

impl Sphere {
    /// +1 if the body is the ball, −1 if it is the space outside.
    fn sign(&self) -> f64 {
        if self.inside { -1.0 } else { 1.0 }
    }

    /// Facets by longitude and latitude; they face away from the body.
    pub fn mesh(&self) -> TriMesh {
        let mut builder = MeshBuilder::default();
        let at = |i: usize, j: usize| {
            let (longitude, latitude) = (TAU * i as f64 / AROUND as f64 - PI, PI * j as f64 / UP as f64 - FRAC_PI_2);
            let ring = math::cos(latitude) * self.radius;
            DVec3::new(ring * math::sin(longitude), self.radius * math::sin(latitude), ring * math::cos(longitude))
        };
        let south = builder.vertex(DVec3::new(0.0, -self.radius, 0.0));
        for j in 1..UP {
            for i in 0..AROUND {
                builder.vertex(at(i, j));
            }
        }
        let north = builder.vertex(DVec3::new(0.0, self.radius, 0.0));
        let corner = |i: usize, j: usize| {
            let index = (1 + (j - 1) * AROUND + i % AROUND) as u32;
            (index, DVec2::new(i as f64 / AROUND as f64, j as f64 / UP as f64))
        };
        // A pole has every longitude; a facet there takes its middle's.
        let middle = |i: usize, v: f64| DVec2::new((i as f64 + 0.5) / AROUND as f64, v);
        for i in 0..AROUND {
            builder.triangle([corner(i + 1, 1), corner(i, 1), (south, middle(i, 0.0))]);
            for j in 1..UP - 1 {
                builder.quad([corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]);
            }
            builder.triangle([corner(i, UP - 1), corner(i + 1, UP - 1), (north, middle(i, 1.0))]);
        }
        if self.inside {
            builder.mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            builder.mesh.corner_uvs.iter_mut().for_each(|t| t.swap(1, 2));
        }
        builder.mesh
    }
}

impl Distance for Sphere {
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.sign() * (point.length() - self.radius)
    }

    fn closest(&self, point: DVec3) -> Closest {
        let length = point.length();
        // At the center every direction is equally near: use +y.
        let outward = if length > 0.0 { point / length } else { DVec3::Y };
        let uv = DVec2::new(
            math::atan2(outward.x, outward.z) / TAU + 0.5,
            math::asin(outward.y.clamp(-1.0, 1.0)) / PI + 0.5,
        );
        Closest {
            point: outward * self.radius,
            normal: outward * self.sign(),
            distance: self.sign() * (length - self.radius),
            uv,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::checks;

    /// A facet of angular size δ sags R(1 − cos(δ/2)) or less on its two sides: 6e-4 R here.
    #[test]
    fn a_sphere_agrees_with_its_mesh() {
        let sag = 1.5 * 0.1 * (1.0 - (PI / UP as f64 / 2.0).cos()) * 2.0;
        for inside in [false, true] {
            let sphere = Sphere { radius: 0.1, inside };
            let mesh = sphere.mesh();
            checks::nearest_point_on_mesh_agrees(&sphere, &mesh, |_| true, 0.2, sag);
            checks::gradient_is_unit(&sphere, 0.2);
            checks::mesh_is_closed(&mesh);
            // Half a facet in u; facets near the poles are the worst.
            checks::texture_coordinates_agree(&sphere, &mesh, 0.51 / AROUND as f64);
            let relative = mesh.volume() / (4.0 / 3.0 * PI * 1e-3) * if inside { -1.0 } else { 1.0 };
            assert!((0.998..1.0).contains(&relative), "volume {relative} of the ball's");
        }
    }
}
