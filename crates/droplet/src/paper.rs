//! Forces of the reproduction mode (fournier1998, §2): gravity, roughness, friction k_f v, adhesion
//! D π r².
//!
//! A droplet is a hemisphere of radius r = (3V/2π)^⅓. Per triangle, along the direction of u and
//! across it:
//!
//! ```text
//! k_r = min(h_b/h_d, 1) · s        F ← F (1 − k_r)        s = 1 on a dry surface
//! A_x = w|sin θ| + l|cos θ|,  A_y = w|cos θ| + l|sin θ|
//! s_x ← s_x (1 − min(A_x w/A_t, 1)),  s_y likewise
//! ```
//!
//! for a streak of the droplet's width w and length l at the angle θ to the first axis, on a
//! triangle of area A_t. The paper divides A_x, which is a length, by an area; the factor w that
//! makes it a share is ours: a streak along x then reduces the roughness along x by its share of
//! the area, and the one across by w²/A_t. A droplet detaches where the outward acceleration,
//! including the centripetal one at an edge, exceeds D π r²/m, and falls freely beyond a border.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_wetting::cube_root::cube_root;
use sessile_wetting::{Liquid, Wetting};

use crate::acceleration::AccelerationField;
use crate::context::StepContext;
use crate::droplets::Size;
use crate::integrate::{ForceModel, Forces, MotionState, Segment};
use crate::surface_mesh::{Facet, SolidIndex, SurfaceMesh, SurfacePoint, TriangleIndex};

/// Default friction k_f over dynamic viscosity, in m: 0.2 g/s for water.
const FRICTION_PER_VISCOSITY: f64 = 0.2;

/// Coefficients of one solid.
#[derive(Clone, Copy, Debug)]
pub struct PaperSolid {
    /// Friction k_f, positive, in kg/s.
    pub friction: f64,
    /// Adhesion D, in Pa.
    pub adhesion: f64,
    /// Bump heights along the two axes, in m.
    pub bumps: [f64; 2],
}

impl PaperSolid {
    /// Coefficients of a material; friction follows from the viscosity where none is given.
    pub fn new(friction: Option<f64>, wetting: &Wetting, liquid: &Liquid) -> Self {
        let friction = friction.unwrap_or(FRICTION_PER_VISCOSITY * liquid.dynamic_viscosity());
        Self { friction, adhesion: wetting.adhesion, bumps: wetting.roughness }
    }
}

/// Coefficients and streaks of all solids.
#[derive(Clone, Debug)]
pub struct Paper {
    solids: Vec<PaperSolid>,
    /// Additional drag rate, in 1/s.
    damping: f64,
    /// Share of the roughness of each triangle along its two axes that streaks have left, 0 to 1.
    streaks: Vec<[f64; 2]>,
    /// Direction of u on each triangle.
    axes: Vec<DVec2>,
}

/// Checkpoint of the streaks: the triangles that have any.
#[derive(Serialize, Deserialize)]
pub struct PaperState(Vec<(TriangleIndex, [f64; 2])>);

/// Radius (and height) of a hemisphere of this volume, in m.
pub fn hemisphere_radius(volume: f64) -> f64 {
    cube_root(1.5 * volume / PI)
}

impl Paper {
    /// Without streaks; `axes` are the directions of u on each triangle.
    pub fn new(solids: Vec<PaperSolid>, damping: f64, axes: Vec<DVec2>) -> Self {
        Self { solids, damping, streaks: vec![[1.0; 2]; axes.len()], axes }
    }

    /// Roughness k_r of a triangle along its two axes, for a droplet of this height (in m).
    fn roughness(&self, triangle: TriangleIndex, solid: SolidIndex, height: f64) -> [f64; 2] {
        let (bumps, streaks) = (self.solids[solid].bumps, self.streaks[triangle]);
        [0, 1].map(|axis| (bumps[axis] / height).min(1.0) * streaks[axis])
    }

    /// Leaves the streak of a droplet of this radius (in m) along a segment.
    pub fn leave_streak(&mut self, surface: &SurfaceMesh, segment: &Segment, radius: f64) {
        let facet = surface.facet(segment.triangle);
        if self.solids[facet.solid].bumps == [0.0; 2] {
            return;
        }
        let displacement = segment.to - segment.from;
        let (length, width) = (displacement.length(), 2.0 * radius);
        let axis = self.axes[segment.triangle];
        let (cos, sin) = (axis.dot(displacement).abs() / length, axis.perp_dot(displacement).abs() / length);
        let extents = [width * sin + length * cos, width * cos + length * sin];
        for (left, extent) in self.streaks[segment.triangle].iter_mut().zip(extents) {
            *left *= 1.0 - (extent * width / facet.area()).min(1.0);
        }
    }

    /// Checkpoint of the streaks.
    pub fn save(&self) -> PaperState {
        let has_streak = |&(_, &left): &(TriangleIndex, &[f64; 2])| left != [1.0; 2];
        PaperState(
            TriangleIndex::first(self.streaks.len())
                .zip(&self.streaks)
                .filter(has_streak)
                .map(|(t, &left)| (t, left))
                .collect(),
        )
    }

    /// Restores a checkpoint; `false` if it belongs to another mesh.
    pub fn restore(&mut self, state: &PaperState) -> bool {
        self.streaks.fill([1.0; 2]);
        state.0.iter().all(|&(t, left)| self.streaks.get_mut(t.to_usize()).map(|streak| *streak = left).is_some())
    }
}

/// Forces on one droplet in the reproduction mode.
pub struct PaperForces<'a> {
    paper: &'a Paper,
    /// Acceleration field of its solid.
    field: &'a AccelerationField,
    /// Mass, in kg.
    mass: f64,
    /// Radius and height, in m.
    radius: f64,
}

impl<'a> PaperForces<'a> {
    /// Forces on a droplet.
    pub fn new(context: &StepContext<'a>, paper: &'a Paper, motion: &MotionState, size: &Size) -> Self {
        let facet = context.surface.facet(motion.place.triangle);
        let mass = context.liquid().density * size.volume;
        Self { paper, field: context.acceleration(facet), mass, radius: size.radius }
    }
}

/// What forces at a place follow from.
pub struct LocalForces {
    /// Driving acceleration on a droplet at rest, in m/s².
    pull: DVec2,
    /// Normal component of the solid's angular velocity, in rad/s.
    spin: f64,
    roughness: [f64; 2],
    axis: DVec2,
    rate: f64,
}

impl ForceModel for PaperForces<'_> {
    const VARIES: bool = false;
    type Local = LocalForces;

    fn local(&self, facet: &Facet, at: SurfacePoint) -> LocalForces {
        let spin = if self.field.is_rotating { self.field.spin.dot(facet.normal()) } else { 0.0 };
        LocalForces {
            pull: facet.project(self.field.at(facet.point(at.at), DVec3::ZERO)),
            spin,
            roughness: self.paper.roughness(at.triangle, facet.solid, self.radius),
            axis: self.paper.axes[at.triangle],
            rate: self.paper.solids[facet.solid].friction / self.mass + self.paper.damping,
        }
    }

    fn forces_at(&self, local: &LocalForces, velocity: DVec2) -> Forces {
        // Component of −2 ω × v in the plane.
        let pull = local.pull - velocity.perp() * (2.0 * local.spin);
        let (axis, [kx, ky]) = (local.axis, local.roughness);
        let reduced = axis * (axis.dot(pull) * (1.0 - kx)) + axis.perp() * (axis.perp_dot(pull) * (1.0 - ky));
        Forces { acceleration: reduced, retention: 0.0, drag_rate: local.rate, drag_slope: 0.0 }
    }

    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool {
        let off = self.field.at(facet.point(at.at), DVec3::ZERO).dot(facet.normal()) + centrifugal;
        off > self.paper.solids[facet.solid].adhesion * PI * self.radius * self.radius / self.mass
    }

    fn leaves_border(&self, _facet: &Facet, _at: SurfacePoint, _outward: DVec2, _speed: f64) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{MotionState, TrajectoryEnd, integrate};
    use crate::surface_mesh::tests::{sheet, surface_of};
    use glam::DMat3;

    fn field(gravity: DVec3) -> AccelerationField {
        AccelerationField { gravity, gradient: DMat3::ZERO, spin: DVec3::ZERO, wind: DVec3::ZERO, is_rotating: false }
    }

    fn paper(surface: &SurfaceMesh, bumps: [f64; 2]) -> Paper {
        let axes = surface.facets().iter().map(|facet| facet.project(DVec3::X).normalize()).collect();
        Paper::new(vec![PaperSolid { friction: 2e-4, adhesion: 10.0, bumps }], 0.0, axes)
    }

    /// The terminal speed is F (1 − k_r)/k_f; a streak along the path removes the roughness.
    #[test]
    fn roughness_slows_a_droplet_and_a_streak_removes_it() {
        let surface = surface_of(&sheet(0.1, 2.0, 1, 8));
        let mut paper = paper(&surface, [0.0, 0.5e-3]);
        let volume = 4e-9;
        let (mass, radius) = (volume * 1000.0, hemisphere_radius(volume));
        let field = field(DVec3::new(0.0, -4.9, -8.0));
        let speed_after = |paper: &Paper| {
            let rules = PaperForces { paper, field: &field, mass, radius };
            let at = surface
                .facet(TriangleIndex::new(15))
                .project(DVec3::new(-0.01, 0.95, 0.0) - surface.facet(TriangleIndex::new(15)).origin);
            let mut motion =
                MotionState { place: SurfacePoint { triangle: TriangleIndex::new(15), at }, velocity: DVec2::ZERO };
            let end = integrate(&surface, &rules, &mut motion, 0.3, |_| {});
            assert_eq!(end, TrajectoryEnd::Moving);
            motion.velocity.length()
        };
        let expected = mass * 4.9 * (1.0 - 0.5e-3 / radius) / 2e-4;
        let rough = speed_after(&paper);
        assert!((rough / expected - 1.0).abs() < 1e-6, "{rough} m/s for {expected}");
        for t in 0..16 {
            paper.streaks[t][1] = 0.0;
        }
        let smooth = speed_after(&paper);
        assert!((smooth / (mass * 4.9 / 2e-4) - 1.0).abs() < 1e-6, "{smooth}");
    }

    #[test]
    fn a_streak_reduces_roughness_by_its_projected_share() {
        let surface = surface_of(&sheet(0.1, 0.1, 2, 2));
        let mut paper = paper(&surface, [1e-3, 1e-3]);
        let facet = surface.facet(TriangleIndex::new(0));
        let from = facet.centroid();
        let to = from + facet.project(DVec3::new(6e-3, 8e-3, 0.0));
        paper.leave_streak(&surface, &Segment { triangle: TriangleIndex::new(0), from, to, time: 0.1 }, 1e-3);
        // w = 2 mm, l = 10 mm, cos = 0.6, sin = 0.8, A_t = 1250 mm².
        let share = |extent: f64| 1.0 - extent * 2e-3 / facet.area();
        let [x, y] = paper.streaks[0];
        assert!((x - share(2e-3 * 0.8 + 10e-3 * 0.6)).abs() < 1e-12, "{x}");
        assert!((y - share(2e-3 * 0.6 + 10e-3 * 0.8)).abs() < 1e-12, "{y}");
    }

    /// The reference case `fournier-a`: it detaches where a_N > D π r²/m.
    #[test]
    fn adhesion_retains_up_to_d_pi_r_squared() {
        let surface = surface_of(&sheet(0.1, 0.1, 1, 1));
        let paper = paper(&surface, [0.0; 2]);
        let radius = 2e-3;
        let mass = 1000.0 * 2.0 / 3.0 * PI * radius * radius * radius;
        let held = 10.0 * PI * radius * radius / mass;
        for (pull, off) in [(0.999 * held, false), (1.001 * held, true)] {
            let field = field(DVec3::Z * pull);
            let rules = PaperForces { paper: &paper, field: &field, mass, radius };
            let at =
                SurfacePoint { triangle: TriangleIndex::new(0), at: surface.facet(TriangleIndex::new(0)).centroid() };
            assert_eq!(rules.detaches(surface.facet(TriangleIndex::new(0)), at, 0.0), off, "pull {pull} of {held}");
        }
    }
}
