//! A rod or a pipe.
//!
//! Local frame: origin at the middle, y along the axis from `from` to `to`, z as close to +y as
//! possible. The body is a figure of revolution of the rectangle r ∈ \[bore, radius\], |y| ≤ half
//! length (bore = −∞ for a rod, which has no inner side), so its distance is that rectangle's in
//! the half-plane of the query: exact, rims included. On the axis of a pipe, where all sides are
//! equally near, the one towards +z wins.
//!
//! Charts, bottom row first: the two ends, the bore (pipes only), the outside; u = 0.5 faces z, the
//! seam is opposite.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};
use sessile_geometry::{Closest, Distance, TriMesh};
use sessile_numerics::math;

use super::{Chart, MeshBuilder, pack_rows};

/// Facets around the axis: the mesh's outside is 0.05 % smaller than the cylinder's.
const AROUND: usize = 128;

/// A rod or pipe about the y axis.
#[derive(Clone, Debug)]
pub struct Cylinder {
    radius: f64,
    /// Radius of the bore.
    bore: Option<f64>,
    half_length: f64,
    charts: Charts,
}

/// Chart of each face.
#[derive(Clone, Debug)]
struct Charts {
    ends: [Chart; 2],
    bore: Chart,
    outside: Chart,
}

/// A face of the body.
#[derive(Clone, Copy)]
enum Side {
    Outside,
    Bore,
    Bottom,
    Top,
}

impl Cylinder {
    /// A cylinder of outer `radius` and half length in m; a bore narrower than the radius makes it
    /// a pipe.
    pub fn new(radius: f64, bore: Option<f64>, half_length: f64) -> Self {
        let (girth, length) = (TAU * radius, 2.0 * half_length);
        let end = [2.0 * radius; 2];
        let packed = match bore {
            None => pack_rows(&[&[end, end], &[[girth, length]]]),
            Some(bore) => pack_rows(&[&[end, end], &[[TAU * bore, length]], &[[girth, length]]]),
        };
        let charts = Charts { ends: [packed[0], packed[1]], bore: packed[2], outside: packed[packed.len() - 1] };
        Self { radius, bore, half_length, charts }
    }

    /// Texture coordinates of a point on `side`; `part` is the angle from −z as a fraction of a
    /// turn.
    fn uv(&self, side: Side, point: DVec3, part: f64) -> DVec2 {
        let along = point.y / self.half_length / 2.0 + 0.5;
        let across = DVec2::new(point.x, -point.z) / self.radius / 2.0;
        match side {
            Side::Outside => self.charts.outside.at(DVec2::new(part, along)),
            // Inside the bore, u is reversed.
            Side::Bore => self.charts.bore.at(DVec2::new(1.0 - part, along)),
            Side::Bottom => self.charts.ends[0].at(DVec2::new(-across.x, across.y) + 0.5),
            Side::Top => self.charts.ends[1].at(across + 0.5),
        }
    }

    /// The whole body's surface.
    pub fn mesh(&self) -> TriMesh {
        let mut builder = MeshBuilder::default();
        let ring = |builder: &mut MeshBuilder, r: f64, y: f64| -> Vec<u32> {
            let at = |i: usize| math::sin_cos(TAU * i as f64 / AROUND as f64 - PI);
            (0..AROUND).map(|i| builder.vertex(DVec3::new(r * at(i).0, y, r * at(i).1))).collect()
        };
        let h = self.half_length;
        let outer = [ring(&mut builder, self.radius, -h), ring(&mut builder, self.radius, h)];
        let inner = self.bore.map(|bore| [ring(&mut builder, bore, -h), ring(&mut builder, bore, h)]);
        let centers = [-h, h].map(|y| builder.vertex(DVec3::new(0.0, y, 0.0)));
        let positions = builder.mesh.positions.clone();
        let corner = |side: Side, ring: &[u32], i: usize| {
            let index = ring[i % AROUND];
            (index, self.uv(side, positions[index as usize], i as f64 / AROUND as f64))
        };
        for i in 0..AROUND {
            let strip = |side: Side, bottom: &[u32], top: &[u32], a: usize, b: usize| {
                [corner(side, bottom, a), corner(side, bottom, b), corner(side, top, b), corner(side, top, a)]
            };
            builder.quad(strip(Side::Outside, &outer[0], &outer[1], i, i + 1));
            // Inside the bore and from below, the orientation is reversed.
            if let Some(inner) = &inner {
                builder.quad(strip(Side::Bore, &inner[0], &inner[1], i + 1, i));
                builder.quad(strip(Side::Bottom, &outer[0], &inner[0], i + 1, i));
                builder.quad(strip(Side::Top, &outer[1], &inner[1], i, i + 1));
            } else {
                for (end, side, a, b) in [(0, Side::Bottom, i + 1, i), (1, Side::Top, i, i + 1)] {
                    let center = self.uv(side, positions[centers[end] as usize], 0.0);
                    builder.triangle([
                        corner(side, &outer[end], a),
                        corner(side, &outer[end], b),
                        (centers[end], center),
                    ]);
                }
            }
        }
        if inner.is_some() {
            // The centers of the ends come last and are unused.
            builder.mesh.positions.truncate(4 * AROUND);
        }
        builder.mesh
    }
}

impl Distance for Cylinder {
    fn signed_distance(&self, point: DVec3) -> f64 {
        let r = math::hypot(point.x, point.z);
        let beyond_side = self.bore.map_or(r - self.radius, |bore| (r - self.radius).max(bore - r));
        let beyond_end = point.y.abs() - self.half_length;
        DVec2::new(beyond_side, beyond_end).max(DVec2::ZERO).length() + beyond_side.max(beyond_end).min(0.0)
    }

    fn closest(&self, point: DVec3) -> Closest {
        let r = math::hypot(point.x, point.z);
        let radial = if r > 0.0 { DVec3::new(point.x / r, 0.0, point.z / r) } else { DVec3::Z };
        let bore_is_nearer = self.bore.is_some_and(|bore| bore - r > r - self.radius);
        let (side, wall, beyond_side, side_normal) = match self.bore {
            Some(bore) if bore_is_nearer => (Side::Bore, bore, bore - r, -radial),
            _ => (Side::Outside, self.radius, r - self.radius, radial),
        };
        let end_sign = if point.y < 0.0 { -1.0 } else { 1.0 };
        let beyond_end = point.y.abs() - self.half_length;
        let on_wall = beyond_side >= beyond_end;
        let outside = beyond_side.max(beyond_end) > 0.0;
        let (mut nearest_r, mut nearest_y) = (r, point.y);
        if beyond_side > 0.0 || (!outside && on_wall) {
            nearest_r = wall;
        }
        if beyond_end > 0.0 || (!outside && !on_wall) {
            nearest_y = end_sign * self.half_length;
        }
        let nearest = radial * nearest_r + DVec3::Y * nearest_y;
        let past_rim = beyond_side > 0.0 && beyond_end > 0.0;
        let (side, normal) = match (on_wall, end_sign > 0.0) {
            (true, _) => (side, side_normal),
            (false, true) => (Side::Top, DVec3::Y),
            (false, false) => (Side::Bottom, DVec3::NEG_Y),
        };
        let offset = DVec2::new(beyond_side.max(0.0), beyond_end.max(0.0));
        let part = math::atan2(radial.x, radial.z) / TAU + 0.5;
        Closest {
            point: nearest,
            normal: if past_rim {
                (side_normal * offset.x + DVec3::Y * (end_sign * offset.y)) / offset.length()
            } else {
                normal
            },
            distance: if outside { offset.length() } else { beyond_side.max(beyond_end) },
            uv: self.uv(side, nearest, part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::checks;

    #[test]
    fn rods_and_pipes_agree_with_their_meshes() {
        // A facet sags R(1 − cos(π/AROUND)).
        let sag = 1.5 * 0.1 * (1.0 - (PI / AROUND as f64).cos());
        for bore in [None, Some(0.08)] {
            let cylinder = Cylinder::new(0.1, bore, 0.15);
            let mesh = cylinder.mesh();
            checks::nearest_point_on_mesh_agrees(&cylinder, &mesh, |_| true, 0.25, sag);
            checks::gradient_is_unit(&cylinder, 0.25);
            checks::mesh_is_closed(&mesh);
            checks::charts_do_not_overlap(&mesh);
            checks::texture_coordinates_agree(&cylinder, &mesh, 1e-3);
            let exact = PI * (0.01 - bore.map_or(0.0, |b| b * b)) * 0.3;
            let relative = mesh.volume() / exact;
            assert!((0.999..1.0).contains(&relative), "bore {bore:?}: volume {relative} of the body's");
        }
    }

    #[test]
    fn points_in_the_bore_are_outside_the_solid() {
        let pipe = Cylinder::new(0.1, Some(0.08), 0.15);
        let middle = pipe.closest(DVec3::new(0.0, 0.02, 0.0));
        assert!((middle.distance - 0.08).abs() < 1e-16 && middle.normal == DVec3::NEG_Z, "{middle:?}");
        let rim = pipe.closest(DVec3::new(0.05, 0.19, 0.0));
        assert!((rim.distance - 0.05).abs() < 1e-15, "a 3-4-5 triangle from the inner rim: {rim:?}");
        assert!((rim.normal - DVec3::new(-0.6, 0.8, 0.0)).length() < 1e-14, "{rim:?}");
    }
}
