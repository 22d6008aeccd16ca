//! Forces of the reproduction mode (fournier1998, §2): gravity, roughness, friction k_f v, adhesion
//! D π r².
//!
//! A droplet is a hemisphere of radius r = (3V/2π)^⅓. Per triangle, along the direction of u and
//! across it:
//!
//! ```text
//! k_r = min(h_b/h_d, 1) · s        F ← F (1 − k_r)        s = 1 on a dry surface
//! ```
//!
//! where s is what streaks have left of the roughness ([`crate::streaks`]). Coefficients are those
//! of the solid, or averages over each triangle where an image varies them. A droplet detaches
//! where the outward acceleration, including the centripetal one at an edge, exceeds D π r²/m, and
//! falls freely beyond a border.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use sessile_sliding::{DropId, SlotIndex};
use sessile_wetting::cube_root::cube_root;
use sessile_wetting::{Liquid, Wetting};

use crate::acceleration::AccelerationField;
use crate::context::StepContext;
use crate::droplets::Droplets;
use crate::integrate::{ForceModel, Forces, MotionState, Segment};
use crate::streaks::Streaks;
use crate::surface_mesh::{Facet, SolidIndex, SurfaceMesh, SurfacePoint, TriangleIndex};

/// Default friction k_f over dynamic viscosity, in m: 0.2 g/s for water.
const FRICTION_PER_VISCOSITY: f64 = 0.2;

/// Coefficients of a solid, or averages over one of its triangles.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// Friction k_f, positive, in kg/s.
    pub friction: f64,
    /// Adhesion D, in Pa.
    pub adhesion: f64,
    /// Bump heights along the two axes, in m.
    pub bumps: [f64; 2],
}

impl Coefficients {
    /// Coefficients of a material; friction follows from the viscosity where none is given.
    pub fn new(friction: Option<f64>, wetting: &Wetting, liquid: &Liquid) -> Self {
        let friction = friction.unwrap_or(FRICTION_PER_VISCOSITY * liquid.dynamic_viscosity());
        Self { friction, adhesion: wetting.adhesion, bumps: wetting.roughness }
    }

    /// Mean of samples; `None` without samples.
    pub fn mean(samples: &[Self]) -> Option<Self> {
        let over = |value: &dyn Fn(&Self) -> f64| samples.iter().map(value).sum::<f64>() / samples.len() as f64;
        (!samples.is_empty()).then(|| Self {
            friction: over(&|at| at.friction),
            adhesion: over(&|at| at.adhesion),
            bumps: [over(&|at| at.bumps[0]), over(&|at| at.bumps[1])],
        })
    }
}

/// Coefficients of one solid.
#[derive(Clone, Debug)]
pub enum PaperSolid {
    /// The same everywhere.
    Uniform(Coefficients),
    /// One set per triangle, and the first of these once they are part of the surface.
    Varying(Option<TriangleIndex>, Vec<Coefficients>),
}

/// Coefficients and streaks of all solids.
#[derive(Clone, Debug)]
pub struct Paper {
    solids: Vec<PaperSolid>,
    /// Additional drag rate, in 1/s.
    damping: f64,
    /// What streaks have left of the roughness.
    pub streaks: Streaks,
    /// Direction of u on each triangle.
    axes: Vec<DVec2>,
}

/// Radius (and height) of a hemisphere of this volume, in m.
pub fn hemisphere_radius(volume: f64) -> f64 {
    cube_root(1.5 * volume / PI)
}

impl Paper {
    /// Without triangles and streaks.
    pub fn new(solids: Vec<PaperSolid>, damping: f64) -> Self {
        Self { solids, damping, streaks: Streaks::default(), axes: Vec::new() }
    }

    /// Adds the triangles of a solid that were added to the surface last; `axes` are the directions
    /// of u on each of them.
    pub fn build(&mut self, solid: SolidIndex, axes: impl Iterator<Item = DVec2>) {
        if let PaperSolid::Varying(first, _) = &mut self.solids[solid] {
            *first = Some(TriangleIndex::new(self.axes.len()));
        }
        self.axes.extend(axes);
        self.streaks.resize(self.axes.len());
    }

    /// Updates the directions of roughness of the triangles from number `first` on.
    pub fn turn_axes(&mut self, first: usize, axes: impl Iterator<Item = DVec2>) {
        self.axes[first..].iter_mut().zip(axes).for_each(|(own, axis)| *own = axis);
    }

    /// Removes the triangles from number `count` on.
    pub fn truncate(&mut self, count: usize) {
        self.axes.truncate(count);
        self.streaks.resize(count);
    }

    /// Coefficients at a triangle.
    fn at(&self, triangle: TriangleIndex, facet: &Facet) -> &Coefficients {
        match &self.solids[facet.solid] {
            PaperSolid::Uniform(all) => all,
            PaperSolid::Varying(first, each) => {
                &each[triangle.to_usize() - first.expect("the solid has triangles").to_usize()]
            }
        }
    }

    /// Roughness k_r of a triangle along its two axes, for the droplet `own` of this height (in m).
    fn roughness(&self, triangle: TriangleIndex, facet: &Facet, height: f64, own: DropId) -> [f64; 2] {
        let bumps = self.at(triangle, facet).bumps;
        if bumps == [0.0; 2] {
            return bumps;
        }
        let left = self.streaks.left(triangle, facet, own);
        [0, 1].map(|axis| (bumps[axis] / height).min(1.0) * left[axis])
    }

    /// Whether forces may change from one triangle of a plane to the next.
    fn varies(&self, facet: &Facet) -> bool {
        match &self.solids[facet.solid] {
            PaperSolid::Uniform(all) => all.bumps != [0.0; 2],
            PaperSolid::Varying(..) => true,
        }
    }

    /// Leaves the streak of a droplet of this radius (in m) along a segment of its path.
    pub fn leave_streak(&mut self, surface: &SurfaceMesh, segment: &Segment, radius: f64, maker: (DropId, SlotIndex)) {
        if self.varies(surface.facet(segment.triangle)) {
            self.streaks.extend(surface, &self.axes, segment, radius, maker);
        }
    }

    /// Lets streaks act on their makers too where these are gone.
    pub fn close_streaks(&mut self, surface: &SurfaceMesh, droplets: &Droplets) {
        self.streaks.close(surface, |id, slot| {
            let droplet = droplets.slots.get(slot.to_usize()).filter(|droplet| droplet.id == Some(id));
            droplet.map(|droplet| droplet.motion.place.triangle)
        });
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
    /// Its id.
    own: DropId,
}

impl<'a> PaperForces<'a> {
    /// Forces on a droplet.
    pub fn new(context: &StepContext<'a>, paper: &'a Paper, own: DropId, motion: &MotionState, volume: f64) -> Self {
        let (mass, radius) = (context.liquid().density * volume, hemisphere_radius(volume));
        Self { paper, field: context.acceleration(motion.place.triangle), mass, radius, own }
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
            roughness: self.paper.roughness(at.triangle, facet, self.radius, self.own),
            axis: self.paper.axes[at.triangle],
            rate: self.paper.at(at.triangle, facet).friction / self.mass + self.paper.damping,
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
        off > self.paper.at(at.triangle, facet).adhesion * PI * self.radius * self.radius / self.mass
    }

    fn leaves_border(&self, _facet: &Facet, _at: SurfacePoint, _outward: DVec2, _speed: f64) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn varies_by_triangle(&self, facet: &Facet) -> bool {
        self.paper.varies(facet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{MotionState, TrajectoryEnd, integrate};
    use crate::surface_mesh::tests::{sheet, surface_of};
    use glam::DMat3;

    fn drop(number: u32) -> DropId {
        DropId::new(number).expect("positive")
    }

    fn field(gravity: DVec3) -> AccelerationField {
        AccelerationField { gravity, gradient: DMat3::ZERO, spin: DVec3::ZERO, wind: DVec3::ZERO, is_rotating: false }
    }

    fn paper(surface: &SurfaceMesh, bumps: [f64; 2]) -> Paper {
        let all = Coefficients { friction: 2e-4, adhesion: 10.0, bumps };
        let mut paper = Paper::new(vec![PaperSolid::Uniform(all)], 0.0);
        paper.build(SolidIndex::new(0), surface.facets().iter().map(|facet| facet.project(DVec3::X).normalize()));
        paper
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
            let rules = PaperForces { paper, field: &field, mass, radius, own: drop(1) };
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
        // A droplet of more than the sheet's width has passed over all of it.
        let facet = surface.facet(TriangleIndex::new(15));
        let ends = [DVec3::Y, DVec3::NEG_Y].map(|at| facet.project(at - facet.origin));
        let segment = Segment { triangle: TriangleIndex::new(15), from: ends[0], to: ends[1], time: 1.0 };
        paper.leave_streak(&surface, &segment, 0.06, (drop(2), SlotIndex::new(1)));
        paper.close_streaks(&surface, &Droplets::default());
        let smooth = speed_after(&paper);
        assert!((smooth / (mass * 4.9 / 2e-4) - 1.0).abs() < 1e-6, "{smooth}");
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
            let rules = PaperForces { paper: &paper, field: &field, mass, radius, own: drop(1) };
            let at =
                SurfacePoint { triangle: TriangleIndex::new(0), at: surface.facet(TriangleIndex::new(0)).centroid() };
            assert_eq!(rules.detaches(surface.facet(TriangleIndex::new(0)), at, 0.0), off, "pull {pull} of {held}");
        }
    }
}
