//! Integrates one droplet over the mesh: triangle by triangle, across edges, along creases and
//! through vertices.
//!
//! On a triangle the motion is known in closed form ([`crate::damped_motion`]) with forces
//! linearized over an interval ([`linearize`], [`crate::kernel`]). Intervals are cut by time, not
//! by triangles, so the path in a plane does not depend on its triangulation.
//!
//! Across an edge the velocity keeps its component along the edge. The component across keeps its
//! magnitude over a ridge, if adhesion can turn the droplet, and loses its part into the new
//! triangle in a valley: a collision without rebound (fournier1998, §2.1). A droplet that is pushed
//! into a crease from both sides slides along it once its hops are far below its own size
//! ([`crossing`]). Energy never increases at any of these.

mod crossing;
mod linearize;
#[cfg(test)]
mod tests;
mod vertex;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};

use crate::damped_motion::DampedMotion;
use crate::simd::Vec2;
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint, TriangleIndex};

/// Forces per mass on a droplet in the plane of its triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forces {
    /// Driving acceleration, in m/s².
    pub acceleration: DVec2,
    /// Contact-line retention, against the motion, in m/s².
    pub retention: f64,
    /// Drag rate, in 1/s.
    pub drag_rate: f64,
    /// Derivative of the drag rate with respect to the speed, in 1/m.
    pub drag_slope: f64,
}

impl Forces {
    /// Whether retention balances the driving acceleration of a droplet at rest.
    pub fn is_retained(&self) -> bool {
        self.acceleration.length() <= self.retention
    }
}

/// What moves a droplet and what keeps it on the surface.
pub trait ForceModel {
    /// Whether forces depend on the velocity or on the position within a triangle.
    const VARIES: bool;

    /// Everything about a place that forces follow from at any velocity.
    type Local;

    /// Evaluates what forces at a place follow from.
    fn local(&self, facet: &Facet, at: SurfacePoint) -> Self::Local;

    /// Forces at a velocity (in m/s).
    fn forces_at(&self, local: &Self::Local, velocity: DVec2) -> Forces;

    /// Forces at a place and velocity (in m/s).
    fn forces(&self, facet: &Facet, at: SurfacePoint, velocity: DVec2) -> Forces {
        self.forces_at(&self.local(facet, at), velocity)
    }

    /// Whether the droplet detaches from `facet` under an additional outward acceleration (in
    /// m/s²).
    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool;

    /// Whether it leaves over a border of the mesh, `outward` in the plane of `facet`, at this
    /// outward speed (in m/s).
    fn leaves_border(&self, facet: &Facet, at: SurfacePoint, outward: DVec2, speed: f64) -> bool;

    /// Base radius, in m.
    fn radius(&self) -> f64;

    /// Whether forces change from one triangle of a plane to the next, beyond what they depend on
    /// position.
    fn varies_by_triangle(&self, _facet: &Facet) -> bool {
        false
    }

    /// Distance along which forces found at a place remain valid, in m.
    fn valid_distance(&self) -> f64 {
        f64::INFINITY
    }
}

/// SurfacePoint and velocity of a droplet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MotionState {
    /// SurfacePoint on the mesh.
    pub place: SurfacePoint,
    /// Velocity in the axes of its triangle, in m/s.
    pub velocity: DVec2,
}

/// A straight segment of a path on one triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The triangle.
    pub triangle: TriangleIndex,
    /// Start in the triangle's axes, in m.
    pub from: DVec2,
    /// End in the triangle's axes, in m.
    pub to: DVec2,
    /// Duration, in s.
    pub time: f64,
}

/// How the integration of a step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrajectoryEnd {
    /// The droplet is still moving.
    Moving,
    /// It came to rest and is retained.
    AtRest,
    /// It detached from the surface before the end of the step.
    Detached {
        /// Velocity in the rest pose of its solid, in m/s.
        velocity: DVec3,
        /// Unit direction away from the surface.
        outward: DVec3,
        /// Remaining time of the step, in s.
        remaining: f64,
    },
}

/// Coefficients of the closed-form motion, valid for one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linearized {
    /// Driving acceleration less retention, in m/s².
    pub acceleration: DVec2,
    /// Drag rate, in 1/s.
    pub rate: f64,
    /// Unit direction that retention opposes; zero without retention.
    pub heading: DVec2,
    /// Remaining time of the step at the end of the interval, in s.
    pub ends: f64,
    /// Length of the next interval if it is known already, in s.
    pub next_interval: Option<f64>,
}

/// A trajectory that is being integrated over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trajectory {
    /// SurfacePoint and velocity.
    pub motion: MotionState,
    /// Remaining time of the step, in s.
    pub remaining: f64,
    /// Length of the next interval if it is known already, in s.
    pub next_interval: Option<f64>,
    /// The edge that it is on, if it has just crossed one.
    pub entered: Option<usize>,
    /// Number of edges crossed.
    pub num_crossings: u32,
    /// How many of the last crossings took no time.
    pub num_instant: u32,
    /// Distance since progress was last checked, in m.
    pub distance: f64,
}

impl Trajectory {
    /// Start of a step of `dt` seconds.
    #[inline]
    pub fn new(motion: MotionState, dt: f64) -> Self {
        Self {
            motion,
            remaining: dt,
            next_interval: None,
            entered: None,
            num_crossings: 0,
            num_instant: 0,
            distance: 0.0,
        }
    }
}

/// Integrates a droplet for `dt` seconds and passes every segment of its path to `log`.
pub fn integrate<F: ForceModel>(
    surface: &SurfaceMesh,
    model: &F,
    motion: &mut MotionState,
    dt: f64,
    log: impl FnMut(Segment),
) -> TrajectoryEnd {
    let mut trajectory = Trajectory::new(*motion, dt);
    let end = integrate_to_end(surface, model, &mut trajectory, log);
    *motion = trajectory.motion;
    end
}

/// Integrates a trajectory to the end of its step.
pub fn integrate_to_end<F: ForceModel>(
    surface: &SurfaceMesh,
    model: &F,
    trajectory: &mut Trajectory,
    log: impl FnMut(Segment),
) -> TrajectoryEnd {
    let mut integrator = Integrator { surface, model, now: *trajectory, linearized: None, log };
    let mut end = TrajectoryEnd::Moving;
    while integrator.now.remaining > 0.0 {
        if let Some(early) = integrator.advance_interval() {
            end = early;
            break;
        }
    }
    *trajectory = integrator.now;
    end
}

/// Integrates a trajectory until forces have to be linearized again; returns how it ended, if it
/// did.
///
/// Starts from the coefficients of the current interval if they are known.
pub fn integrate_linearized<F: ForceModel>(
    surface: &SurfaceMesh,
    model: &F,
    trajectory: &mut Trajectory,
    linearized: Option<Linearized>,
    log: impl FnMut(Segment),
) -> Option<TrajectoryEnd> {
    let mut integrator = Integrator { surface, model, now: *trajectory, linearized, log };
    let mut end = None;
    while end.is_none() {
        end = if integrator.now.remaining > 0.0 { integrator.advance_interval() } else { Some(TrajectoryEnd::Moving) };
        if integrator.linearized.is_none() && integrator.now.remaining > 0.0 {
            break;
        }
    }
    *trajectory = integrator.now;
    end
}

/// Scalar integrator of one trajectory.
struct Integrator<'a, F, L> {
    surface: &'a SurfaceMesh,
    model: &'a F,
    now: Trajectory,
    linearized: Option<Linearized>,
    log: L,
}

impl<F: ForceModel, L: FnMut(Segment)> Integrator<'_, F, L> {
    /// Advances to the end of an interval, or across an edge.
    #[inline(always)]
    fn advance_interval(&mut self) -> Option<TrajectoryEnd> {
        let facet = self.surface.facet(self.now.motion.place.triangle);
        let linearized = match self.linearized {
            Some(linearized) if linearized.ends < self.now.remaining => linearized,
            _ => match self.linearize(facet) {
                Some(linearized) => linearized,
                None => return Some(TrajectoryEnd::AtRest),
            },
        };
        self.linearized = Some(linearized);
        let MotionState { place, velocity } = self.now.motion;
        let motion = DampedMotion::new(place.at, velocity, linearized.acceleration, linearized.rate);
        let mut until = self.now.remaining - linearized.ends;
        let mut end = motion.after(until);
        // The speed along the heading is monotonic: a droplet that moves at the end has not
        // stopped.
        let mut stops = false;
        if linearized.heading != DVec2::ZERO && end.1.dot(linearized.heading.into()) <= 0.0 {
            let stop = motion.stop_time(linearized.heading);
            if stop <= until {
                (stops, until, end) = (true, stop, motion.after(stop));
            }
        }
        if let Some((edge, time)) = motion.exit(facet, until, end.0, self.now.entered) {
            self.move_to(facet, motion.after(time), time, Some(edge));
            return self.cross(facet, edge);
        }
        self.move_to(facet, end, until, None);
        // The interval ends exactly where it was to end, without a rounding error.
        if !stops {
            self.now.remaining = linearized.ends;
        } else if let Some(end) = self.stop(facet, linearized.heading) {
            return Some(end);
        }
        self.now.entered = None;
        self.linearized = None;
        self.now.next_interval = linearized.next_interval;
        None
    }

    /// Moves to a position and velocity reached after `time` seconds; onto `edge` if it leaves
    /// there.
    #[inline]
    fn move_to(&mut self, facet: &Facet, (to, velocity): (Vec2, Vec2), time: f64, edge: Option<usize>) {
        let from = self.now.motion.place.at;
        let to = DVec2::from(to);
        self.now.motion.place.at = match edge {
            Some(k) => {
                facet.on_edge(k, (facet.edges[k].dot(to - facet.corners[k]) / facet.edge_lengths[k]).clamp(0.0, 1.0))
            }
            None => facet.clamp(to),
        };
        self.now.motion.velocity = velocity.into();
        self.now.remaining -= time;
        self.now.num_instant = if time > 0.0 { 0 } else { self.now.num_instant + 1 };
        self.record(from, time);
    }

    /// Logs the segment from `from` (in m) to the current place.
    #[inline]
    fn record(&mut self, from: DVec2, time: f64) {
        let to = self.now.motion.place.at;
        if to != from {
            self.now.distance += to.distance(from);
            (self.log)(Segment { triangle: self.now.motion.place.triangle, from, to, time });
        }
    }

    /// Handles a vanishing velocity along `heading`: the droplet rests or continues sideways.
    fn stop(&mut self, facet: &Facet, heading: DVec2) -> Option<TrajectoryEnd> {
        let velocity = self.now.motion.velocity;
        let sideways = velocity - heading * velocity.dot(heading);
        let forces = self.model.forces(facet, self.now.motion.place, DVec2::ZERO);
        // Below this a sideways velocity is rounding error of a straight path.
        let least = 1e-9 * (forces.acceleration.length() + forces.retention) / forces.drag_rate.max(1.0);
        self.now.motion.velocity = if sideways.length() > least { sideways } else { DVec2::ZERO };
        (self.now.motion.velocity == DVec2::ZERO && forces.is_retained()).then_some(TrajectoryEnd::AtRest)
    }

    /// Discards the linearization: the next interval is chosen anew.
    fn reset_interval(&mut self) {
        self.linearized = None;
        self.now.next_interval = None;
    }
}
