//! Tangent frame of a droplet on the exact surface of its solid.
//!
//! Droplets slide over triangles. The mesh of a sphere or cylinder lies up to 3·10⁻⁴ of its radius
//! inside it, with facets that meet at a few degrees and can be as large as a droplet. The base of
//! a droplet, its tangent plane and the curvature under it are taken from the exact surface, at the
//! point nearest to that of the mesh.

use glam::{DMat3, DQuat, DVec2, DVec3};
use sessile_numerics::math;
use sessile_world::{Pose, Solid};

use super::{SolidIndex, SurfaceMesh, SurfacePoint, TriangleIndex};

/// The exact surface of a solid.
#[derive(Clone, Debug)]
pub(super) struct AnalyticSurface {
    solid: Solid,
    world_from_rest: Pose,
}

/// Tangent frame of a droplet in the rest pose of its solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentFrame {
    /// Origin, in m.
    pub point: DVec3,
    /// The triangle's x and y rotated into the tangent plane, and the outward normal, as columns.
    pub axes: DMat3,
}

impl SurfaceMesh {
    /// Sets the exact surface of the solid that was declared last.
    pub fn set_analytic(&mut self, solid: &Solid) {
        if let Some(last) = self.analytic.last_mut() {
            *last = Some(AnalyticSurface { solid: solid.clone(), world_from_rest: *solid.world_from_rest() });
        }
    }

    /// Whether the solid of a triangle has an exact surface.
    pub fn is_analytic(&self, triangle: TriangleIndex) -> bool {
        self.analytic[self.facet(triangle).solid].is_some()
    }

    /// Point (in m) and outward normal of the solid at a place, in the rest pose.
    pub fn surface_at(&self, place: SurfacePoint) -> (DVec3, DVec3) {
        let facet = self.facet(place.triangle);
        let point = facet.point(place.at);
        match &self.analytic[facet.solid] {
            None => (point, facet.normal()),
            Some(AnalyticSurface { solid, world_from_rest }) => {
                let near = solid.closest(world_from_rest.apply(point));
                (world_from_rest.apply_inverse(near.point), world_from_rest.rotation.transpose() * near.normal)
            }
        }
    }

    /// Tangent frame at a place.
    pub fn tangent_frame(&self, place: SurfacePoint) -> TangentFrame {
        let facet = self.facet(place.triangle);
        let (point, normal) = self.surface_at(place);
        let axes = DMat3::from_cols(facet.x, facet.y, facet.normal());
        if !self.is_analytic(place.triangle) {
            return TangentFrame { point, axes };
        }
        TangentFrame { point, axes: DMat3::from_quat(DQuat::from_rotation_arc(facet.normal(), normal)) * axes }
    }

    /// Offset of the solid from the tangent plane at the distance `q` (in m, in the triangle's
    /// axes), in the axes of the frame.
    ///
    /// Points as far out as the contact line are mapped onto it: the geodesic to it is longer than
    /// its radius.
    pub fn offset(&self, place: SurfacePoint, frame: &TangentFrame, line: &ContactLine, q: DVec2) -> DVec3 {
        let end = |way: DVec2| {
            let (end, _) = self.trace_geodesic(place, way, DVec2::ZERO);
            frame.axes.transpose() * (self.surface_at(end).0 - frame.point)
        };
        let mut reached = end(q);
        if self.is_analytic(place.triangle) || line.turn > SMOOTH_TURN {
            reached = end(q * line.length_ratio(reached));
        }
        reached - q.extend(0.0)
    }

    /// Signed distance of a point of a solid's rest pose from its exact surface, in m; `None` if it
    /// has none.
    pub fn analytic_distance(&self, solid: SolidIndex, point: DVec3) -> Option<f64> {
        let AnalyticSurface { solid, world_from_rest } = self.analytic[solid].as_ref()?;
        Some(solid.signed_distance(world_from_rest.apply(point)))
    }
}

/// Turn of the normal up to which a mesh under a droplet is taken as nearly flat, in rad.
const SMOOTH_TURN: f64 = 0.5;

/// Contact line of a droplet on a curved solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLine {
    /// Radius, in m.
    pub radius: f64,
    /// Turn of the solid's normal from the center to the contact line, in rad.
    pub turn: f64,
}

impl ContactLine {
    /// Largest turn that the base of a droplet is mapped to, in rad.
    const LARGEST: f64 = 2.9;
    /// Sine up to which the turn in a direction follows from the curvature in that direction.
    const STEEPEST: f64 = 0.9;

    /// Length of a geodesic to the contact line over its radius; `reached` is a point in the same
    /// direction, relative to the tangent frame, in m.
    fn length_ratio(&self, reached: DVec3) -> f64 {
        // Curvature of the sphere through both ends.
        let curvature = -2.0 * reached.z / reached.length_squared().max(f64::MIN_POSITIVE);
        let own = math::asin((curvature * self.radius).clamp(-Self::STEEPEST, Self::STEEPEST));
        let turn = if self.turn > own && curvature > 0.0 {
            let share = curvature * self.radius / math::sin(self.turn).max(f64::MIN_POSITIVE);
            own.max(self.turn * share.min(1.0)).min(Self::LARGEST)
        } else {
            own
        };
        if turn.abs() < 1e-4 { 1.0 } else { turn / math::sin(turn) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curvature::curvature;
    use sessile_scene::{NoFiles, parse_str};
    use sessile_world::World;

    /// On a sphere the frame and the curvature are those of the sphere, on any facet.
    #[test]
    fn the_tangent_frame_is_that_of_the_sphere_and_not_of_its_facets() {
        for (radius, inside) in [(3.0, false), (30.0, false), (30.0, true), (300.0, false)] {
            let text = format!(
                "model = \"droplet\"\n[time]\nduration = \"1 s\"\nframe = \"1 s\"\n[materials.m]\nadvancing = \"90 deg\"\nreceding = \"80 deg\"\n\
                 [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"1 2 3 mm\"\nradius = \"{radius} mm\"\ninside = {inside}\n"
            );
            let scene = parse_str("ball", &text, &[], &NoFiles).expect("a scene").scene;
            let world = World::build(&scene).expect("a world");
            let solid = &world.solids()[0];
            let mut surface = SurfaceMesh::default();
            surface.declare("s", solid.mesh()).expect("a surface");
            surface.build(SolidIndex::new(0), solid.mesh());
            surface.set_analytic(solid);
            let sign = if inside { -1.0 } else { 1.0 };
            for triangle in TriangleIndex::first(surface.facets().len()).step_by(997) {
                let place = SurfacePoint { triangle, at: surface.facet(triangle).centroid() };
                let frame = surface.tangent_frame(place);
                let out = sign * (frame.point - DVec3::new(1e-3, 2e-3, 3e-3));
                assert!((out.length() - 1e-3 * radius).abs() < 1e-12, "{} m", out.length());
                assert!((frame.axes.z_axis - out.normalize()).length() < 1e-9, "{}", frame.axes.z_axis);
                let q = DVec2::new(0.8e-3, -0.5e-3);
                let line = ContactLine { radius: q.length(), turn: 0.0 };
                let end = frame.point + frame.axes * (q.extend(0.0) + surface.offset(place, &frame, &line, q));
                assert!(solid.signed_distance(end).abs() < 1e-12, "{:e} m off the ball", solid.signed_distance(end));
                let aside = surface.offset(place, &frame, &line, q).truncate().length() / q.length();
                assert!(aside < 5e-3, "{radius} mm: {aside} of the way aside");
                let curvature = curvature(&surface, place, 1e-3) * sign * 1e-3 * radius;
                assert!((curvature - 1.0).abs() < 1e-6, "{radius} mm: curvature {curvature} of the ball's");
            }
        }
    }
}
