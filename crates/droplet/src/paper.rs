//! The paper's rules (fournier1998, §2): gravity less what roughness takes, friction k_f v, adhesion D π r².
//!
//! A droplet is half a ball of radius r = (3V/2π)^⅓, as high as its radius. Per triangle and along the two axes of the surface
//! (its texture's u, and across it):
//!
//! ```text
//! k_r = min(h_b/h_d, 1) · s        F ← F (1 − k_r)        s = 1 on fresh ground
//! A_x = w|sin θ| + l|cos θ|,  A_y = w|cos θ| + l|sin θ|        s_x ← s_x (1 − min(A_x w/A_t, 1)), s_y likewise
//! ```
//!
//! for a streak of the droplet's width w and length l at the angle θ to the first axis, on a triangle of area A_t. The paper divides A_x, which
//! is a length, by the area; the factor w that makes a share of it is ours: a streak along x then takes its own area's share of
//! the roughness along x, and (w²/A_t) of the one across. It comes off where the pull off the surface, that of the turn over
//! an edge included, exceeds D π r²/m, and falls freely beyond a border.

use std::f64::consts::PI;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_wetting::cube_root::cube_root;

use crate::acceleration::AccelerationField;
use crate::integrate::{ForceModel, Forces, Segment};
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint};

/// Friction k_f where the scene gives none, per dynamic viscosity: 0.2 g/s for water, in m.
const FRICTION_PER_VISCOSITY: f64 = 0.2;

/// What all droplets of the paper's form share.
#[derive(Clone, Debug)]
pub struct Paper {
    /// k_f on each solid, in kg/s (positive here).
    pub friction: Vec<f64>,
    /// Drag that `settle` adds, in 1/s.
    pub damping: f64,
    /// Adhesion of each solid, in Pa.
    pub adhesion: Vec<f64>,
    /// Bump heights of each solid along its two axes, in m.
    pub bumps: Vec<[f64; 2]>,
    /// What streaks have left of the roughness of each triangle along its two axes, 0 to 1.
    pub streaks: Vec<[f64; 2]>,
    /// First axis of each triangle.
    axes: Vec<DVec2>,
}

/// What a checkpoint keeps: triangles with streaks.
#[derive(Serialize, Deserialize)]
pub struct PaperState(Vec<(u32, [f64; 2])>);

/// Radius (and height) of the half ball of a volume, in m.
pub fn half_ball_radius(volume: f64) -> f64 {
    cube_root(1.5 * volume / PI)
}

impl Paper {
    /// On fresh substrate; `friction`, `adhesion` and `bumps` are those of each solid, `axes` the directions of u on each triangle.
    pub fn new(
        friction: &[Option<f64>],
        liquid: &sessile_wetting::Liquid,
        damping: f64,
        adhesion: Vec<f64>,
        bumps: Vec<[f64; 2]>,
        axes: Vec<DVec2>,
    ) -> Self {
        let usual = FRICTION_PER_VISCOSITY * liquid.dynamic_viscosity();
        let friction = friction.iter().map(|given| given.unwrap_or(usual)).collect();
        Self { friction, damping, adhesion, bumps, streaks: vec![[1.0; 2]; axes.len()], axes }
    }

    /// Roughness k_r of a triangle for a droplet of a height (in m), along its two axes.
    pub fn roughness(&self, triangle: u32, solid: u32, height: f64) -> [f64; 2] {
        let (bumps, streaks) = (self.bumps[solid as usize], self.streaks[triangle as usize]);
        [0, 1].map(|axis| (bumps[axis] / height).min(1.0) * streaks[axis])
    }

    /// A droplet of a radius has passed.
    pub fn leave_streak(&mut self, surface: &SurfaceMesh, segment: &Segment, radius: f64) {
        let facet = surface.facet(segment.triangle);
        if self.bumps[facet.solid as usize] == [0.0; 2] {
            return;
        }
        let way = segment.to - segment.from;
        let (length, width) = (way.length(), 2.0 * radius);
        let axis = self.axes[segment.triangle as usize];
        let (cos, sin) = (axis.dot(way).abs() / length, axis.perp_dot(way).abs() / length);
        let extents = [width * sin + length * cos, width * cos + length * sin];
        for (left, extent) in self.streaks[segment.triangle as usize].iter_mut().zip(extents) {
            *left *= 1.0 - (extent * width / facet.area()).min(1.0);
        }
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> PaperState {
        PaperState(
            (0..).zip(&self.streaks).filter(|&(_, &left)| left != [1.0; 2]).map(|(t, &left)| (t, left)).collect(),
        )
    }

    /// Takes up a saved state; `false` when it belongs to another mesh.
    pub fn restore(&mut self, state: &PaperState) -> bool {
        self.streaks.fill([1.0; 2]);
        state.0.iter().all(|&(t, left)| self.streaks.get_mut(t as usize).map(|streak| *streak = left).is_some())
    }
}

/// The paper's rules for one droplet.
pub struct PaperRules<'a> {
    /// What all share.
    pub paper: &'a Paper,
    /// Of its solid.
    pub field: &'a AccelerationField,
    /// In kg.
    pub mass: f64,
    /// Radius and height, in m.
    pub radius: f64,
}

/// What the push at a place follows from.
pub struct LocalForces {
    /// On a droplet that stands, in m/s².
    pull: DVec2,
    /// Normal part of the solid's angular velocity, in rad/s.
    turning: f64,
    roughness: [f64; 2],
    axis: DVec2,
    rate: f64,
}

impl ForceModel for PaperRules<'_> {
    const VARIES: bool = false;
    type Local = LocalForces;

    fn local(&self, facet: &Facet, at: SurfacePoint) -> LocalForces {
        let turning = if self.field.turns { self.field.spin.dot(facet.normal()) } else { 0.0 };
        LocalForces {
            pull: facet.project(self.field.pull(facet.point(at.at), glam::DVec3::ZERO)),
            turning,
            roughness: self.paper.roughness(at.triangle, facet.solid, self.radius),
            axis: self.paper.axes[at.triangle as usize],
            rate: self.paper.friction[facet.solid as usize] / self.mass + self.paper.damping,
        }
    }

    fn forces_at(&self, here: &LocalForces, velocity: DVec2) -> Forces {
        // −2 ω × v, as far as it lies in the plane.
        let pull = here.pull - velocity.perp() * (2.0 * here.turning);
        let (axis, [kx, ky]) = (here.axis, here.roughness);
        let reduced = axis * (axis.dot(pull) * (1.0 - kx)) + axis.perp() * (axis.perp_dot(pull) * (1.0 - ky));
        Forces { acceleration: reduced, retention: 0.0, drag_rate: here.rate, drag_slope: 0.0 }
    }

    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool {
        let off = self.field.pull(facet.point(at.at), glam::DVec3::ZERO).dot(facet.normal()) + centrifugal;
        off > self.paper.adhesion[facet.solid as usize] * PI * self.radius * self.radius / self.mass
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
    use crate::drag::tests::WATER;
    use crate::integrate::{MotionState, TrajectoryEnd, integrate};
    use crate::surface_mesh::tests::{sheet, surface_of};
    use glam::{DMat3, DVec3};

    fn field(gravity: DVec3) -> AccelerationField {
        AccelerationField { gravity, gradient: DMat3::ZERO, spin: DVec3::ZERO, wind: DVec3::ZERO, turns: false }
    }

    fn paper(surface: &SurfaceMesh, bumps: [f64; 2]) -> Paper {
        let axes = surface.facets().iter().map(|facet| facet.project(DVec3::X).normalize()).collect();
        Paper::new(&[Some(2e-4)], &WATER, 0.0, vec![10.0], vec![bumps], axes)
    }

    /// Terminal speed is F (1 − k_r)/k_f; a streak along the way gives the roughness back.
    #[test]
    fn roughness_takes_its_share_and_a_streak_gives_it_back() {
        let surface = surface_of(&sheet(0.1, 2.0, 1, 8));
        let mut paper = paper(&surface, [0.0, 0.5e-3]);
        let volume = 4e-9;
        let (mass, radius) = (volume * 1000.0, half_ball_radius(volume));
        let field = field(DVec3::new(0.0, -4.9, -8.0));
        let speed_after = |paper: &Paper| {
            let rules = PaperRules { paper, field: &field, mass, radius };
            let at = surface.facet(15).project(DVec3::new(-0.01, 0.95, 0.0) - surface.facet(15).origin);
            let mut motion = MotionState { place: SurfacePoint { triangle: 15, at }, velocity: DVec2::ZERO };
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
    fn a_streak_takes_the_share_that_its_rectangle_projects() {
        let surface = surface_of(&sheet(0.1, 0.1, 2, 2));
        let mut paper = paper(&surface, [1e-3, 1e-3]);
        let facet = surface.facet(0);
        let from = facet.centroid();
        let to = from + facet.project(DVec3::new(6e-3, 8e-3, 0.0));
        paper.leave_streak(&surface, &Segment { triangle: 0, from, to, time: 0.1 }, 1e-3);
        // w = 2 mm, l = 10 mm, cos = 0.6, sin = 0.8, A_t = 1250 mm².
        let share = |extent: f64| 1.0 - extent * 2e-3 / facet.area();
        let [x, y] = paper.streaks[0];
        assert!((x - share(2e-3 * 0.8 + 10e-3 * 0.6)).abs() < 1e-12, "{x}");
        assert!((y - share(2e-3 * 0.6 + 10e-3 * 0.8)).abs() < 1e-12, "{y}");
    }

    /// The reference case `fournier-a` in kind: it falls off where a_N > D π r²/m.
    #[test]
    fn adhesion_holds_up_to_d_pi_r_squared() {
        let surface = surface_of(&sheet(0.1, 0.1, 1, 1));
        let paper = paper(&surface, [0.0; 2]);
        let radius = 2e-3;
        let mass = 1000.0 * 2.0 / 3.0 * PI * radius * radius * radius;
        let held = 10.0 * PI * radius * radius / mass;
        for (pull, off) in [(0.999 * held, false), (1.001 * held, true)] {
            let field = field(DVec3::Z * pull);
            let rules = PaperRules { paper: &paper, field: &field, mass, radius };
            let at = SurfacePoint { triangle: 0, at: surface.facet(0).centroid() };
            assert_eq!(rules.detaches(surface.facet(0), at, 0.0), off, "pull {pull} of {held}");
        }
    }
}
