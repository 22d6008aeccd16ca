//! Crossing edges, sliding along creases and borders, and passing through vertices.

use glam::{DVec2, DVec3};
use sessile_numerics::math;

use super::vertex::{self, VertexExit, VertexRef};
use super::{ForceModel, Integrator, Linearized, MotionState, Segment, TrajectoryEnd};
use crate::damped_motion::{DampedMotion, first_zero};
use crate::surface_mesh::{COPLANAR, Facet, SurfacePoint, TriangleIndex};

/// Hops across a crease below this share of the base radius count as sliding along it.
const MIN_HOP: f64 = 1e-3;
/// Edges crossed between two checks of whether a droplet makes progress.
const CROSSINGS_PER_CHECK: u32 = 64;
/// Distance between two checks below which a droplet is at rest, in base radii.
const MIN_PROGRESS: f64 = 1e-2;
/// Crossings without time after which the droplet is moved through the nearest vertex.
const MAX_INSTANT_CROSSINGS: u32 = 24;

/// The far side of an edge that is being crossed.
struct FarSide<'a> {
    facet: &'a Facet,
    /// Edge of that facet.
    edge: usize,
    /// The droplet's place on that edge.
    place: SurfacePoint,
    /// Dihedral turn, in rad; positive over a ridge.
    turn: f64,
    /// Share of the speed across the edge that is kept.
    kept: f64,
}

impl<'a, F: ForceModel, L: FnMut(Segment)> Integrator<'a, F, L> {
    /// Crosses edge `k`, which the droplet is on.
    pub(super) fn cross(&mut self, facet: &Facet, k: usize) -> Option<TrajectoryEnd> {
        if let Some(velocity) = self.stuck_velocity(facet) {
            let corner = vertex::nearest_corner(facet, self.now.motion.place.at);
            let triangle = self.now.motion.place.triangle;
            return self.pass_vertex(VertexRef { triangle, corner }, velocity);
        }
        let velocity = self.now.motion.velocity;
        let inward = facet.inward(k);
        let outward_speed = (-inward.dot(velocity)).max(0.0);
        let Some(opposite) = facet.opposite[k].get() else {
            if self.model.leaves_border(facet, self.now.motion.place, -inward, outward_speed) {
                return Some(self.detach(facet, -facet.lift(inward)));
            }
            return self.slide_along(facet, k);
        };
        let far = self.far_side(facet, k, opposite);
        if far.turn > COPLANAR {
            let centrifugal = outward_speed * outward_speed * far.turn / self.bend_length(facet, k);
            if self.model.detaches(far.facet, self.now.motion.place, centrifugal) {
                let outward = (facet.normal() + far.facet.normal()).normalize_or(facet.normal());
                return Some(self.detach(facet, outward));
            }
        }
        let is_flat = far.turn.abs() <= COPLANAR;
        let may_trap = !is_flat || self.model.varies_by_triangle(far.facet);
        if may_trap && self.is_trapped(facet, k, &far, outward_speed) {
            return self.slide_along(facet, k);
        }
        self.enter(k, &far, is_flat);
        (!is_flat && self.model.detaches(far.facet, far.place, 0.0)).then(|| self.detach(far.facet, far.facet.normal()))
    }

    /// Counts a crossing; returns a velocity (in m/s, rest pose) if the droplet must leave through
    /// a vertex.
    fn stuck_velocity(&mut self, facet: &Facet) -> Option<DVec3> {
        self.now.num_crossings += 1;
        if self.now.num_crossings.is_multiple_of(CROSSINGS_PER_CHECK) {
            // It oscillates in a pit or a crease, far below its own size: it is at rest.
            if self.now.distance < MIN_PROGRESS * self.model.radius() {
                self.now.motion.velocity = DVec2::ZERO;
                return Some(DVec3::ZERO);
            }
            self.now.distance = 0.0;
        }
        if self.now.num_instant > MAX_INSTANT_CROSSINGS {
            self.now.num_instant = 0;
            return Some(facet.lift(self.now.motion.velocity));
        }
        None
    }

    /// The far side of edge `k`: the edge `edge` of triangle `to`.
    #[inline]
    fn far_side(&self, facet: &Facet, k: usize, (to, edge): (TriangleIndex, usize)) -> FarSide<'a> {
        let (other, turn) = (self.surface.facet(to), facet.dihedrals[k]);
        let share = facet.edges[k].dot(self.now.motion.place.at - facet.corners[k]) / facet.edge_lengths[k];
        let place = SurfacePoint { triangle: to, at: other.on_edge(edge, (1.0 - share).clamp(0.0, 1.0)) };
        FarSide { facet: other, edge, place, turn, kept: if turn < 0.0 { math::cos(turn).max(0.0) } else { 1.0 } }
    }

    /// Whether forces on both sides push the droplet into edge `k`, with hops too small to matter.
    fn is_trapped(&self, facet: &Facet, k: usize, far: &FarSide<'_>, outward_speed: f64) -> bool {
        let towards_edge = |facet: &Facet, place: SurfacePoint, edge: usize| {
            -facet.inward(edge).dot(self.model.forces(facet, place, DVec2::ZERO).acceleration)
        };
        let here = towards_edge(facet, self.now.motion.place, k);
        let there = towards_edge(far.facet, far.place, far.edge);
        let hop = (far.kept * outward_speed).powi(2) / (2.0 * there);
        here >= 0.0 && there > 0.0 && hop < MIN_HOP * self.model.radius()
    }

    /// Moves the droplet onto the far side of edge `k`.
    #[inline]
    fn enter(&mut self, k: usize, far: &FarSide<'_>, is_flat: bool) {
        let (from, to) = (self.now.motion.place.triangle, far.place.triangle);
        let (surface, edge) = (self.surface, far.edge);
        let carry = |vector: DVec2| surface.transport(from, k, to, edge, vector);
        let turned = carry(self.now.motion.velocity);
        let inward = far.facet.inward(edge);
        let lost = (1.0 - far.kept) * inward.dot(turned);
        self.now.motion = MotionState { place: far.place, velocity: turned - inward * lost };
        self.now.entered = Some(edge);
        self.linearized = match self.linearized {
            Some(linearized) if is_flat && !self.model.varies_by_triangle(far.facet) => Some(Linearized {
                acceleration: carry(linearized.acceleration),
                heading: carry(linearized.heading),
                ..linearized
            }),
            _ => None,
        };
        if !is_flat {
            self.now.next_interval = None;
        }
    }

    /// Length over which the surface makes the turn at edge `k`, in m.
    ///
    /// Facets of a smooth surface turn over their own length; a sharp edge over the droplet's
    /// diameter if that is shorter.
    fn bend_length(&self, facet: &Facet, k: usize) -> f64 {
        if facet.dihedrals[k] < vertex::SHARP {
            facet.bend_lengths[k]
        } else {
            facet.bend_lengths[k].min(2.0 * self.model.radius())
        }
    }

    fn detach(&self, facet: &Facet, outward: DVec3) -> TrajectoryEnd {
        let velocity = facet.lift(self.now.motion.velocity);
        TrajectoryEnd::Detached { velocity, outward, remaining: self.now.remaining.max(0.0) }
    }

    /// Slides along edge `k`, pushed into it from both sides or retained at a border, up to its
    /// end.
    fn slide_along(&mut self, facet: &Facet, k: usize) -> Option<TrajectoryEnd> {
        let along = facet.edges[k];
        let mut speed = self.now.motion.velocity.dot(along);
        self.now.entered = None;
        self.reset_interval();
        loop {
            let at = self.now.motion.place.at;
            let forces = self.model.forces(facet, self.now.motion.place, along * speed);
            let pull = forces.acceleration.dot(along);
            if speed == 0.0 && pull.abs() <= forces.retention {
                self.now.motion.velocity = DVec2::ZERO;
                return Some(TrajectoryEnd::AtRest);
            }
            let heading = if speed != 0.0 { speed.signum() } else { pull.signum() };
            // One-dimensional motion, positive in the direction of travel.
            let (start, net) = (speed * heading, pull * heading - forces.retention);
            let reached = facet.edges[k].dot(at - facet.corners[k]);
            let (ahead, corner) =
                if heading > 0.0 { (facet.edge_lengths[k] - reached, (k + 1) % 3) } else { (reached, k) };
            let motion = DampedMotion::new(DVec2::ZERO, DVec2::new(start, 0.0), DVec2::new(net, 0.0), forces.drag_rate);
            let until = self.now.remaining.min(motion.stop_time(DVec2::X));
            let end = first_zero(ahead.max(0.0), -start, -net, forces.drag_rate, until);
            let time = end.unwrap_or(until);
            let (place, velocity) = motion.after(time);
            let distance = place.x.clamp(0.0, ahead.max(0.0));
            self.now.remaining -= time;
            speed = heading * velocity.x.max(0.0);
            let share = ((reached + heading * distance) / facet.edge_lengths[k]).clamp(0.0, 1.0);
            self.now.motion.place.at = facet.on_edge(k, share);
            self.now.motion.velocity = along * speed;
            self.record(at, time);
            if end.is_some() {
                self.now.motion.place.at = facet.corners[corner];
                let velocity = facet.lift(self.now.motion.velocity);
                let triangle = self.now.motion.place.triangle;
                return self.pass_vertex(VertexRef { triangle, corner }, velocity);
            }
            if self.now.remaining <= 0.0 {
                return None;
            }
            // It has stopped: it is retained or moves back.
            speed = 0.0;
        }
    }

    /// Passes through a vertex of the mesh at a velocity in the rest pose (in m/s).
    fn pass_vertex(&mut self, vertex: VertexRef, velocity: DVec3) -> Option<TrajectoryEnd> {
        self.now.entered = None;
        self.reset_interval();
        let radius = self.model.radius();
        match vertex::exit(self.surface, self.model, vertex, velocity) {
            VertexExit::Triangle { triangle, corner, velocity } => {
                let facet = self.surface.facet(triangle);
                // Slightly inside, so that the next exit is a new one.
                let margin = 1e-12 * facet.edge_lengths[corner].min(facet.edge_lengths[(corner + 2) % 3]).min(radius);
                let inside = (facet.centroid() - facet.corners[corner]).normalize() * margin;
                let place = SurfacePoint { triangle, at: facet.corners[corner] + inside };
                self.now.motion = MotionState { place, velocity };
                None
            }
            VertexExit::Edge { triangle, edge, reversed, speed } => {
                let facet = self.surface.facet(triangle);
                let corner = if reversed { (edge + 1) % 3 } else { edge };
                let direction = if reversed { -facet.edges[edge] } else { facet.edges[edge] };
                let margin = 1e-12 * facet.edge_lengths[edge].min(radius);
                let place = SurfacePoint { triangle, at: facet.corners[corner] + direction * margin };
                self.now.motion = MotionState { place, velocity: direction * speed };
                None
            }
            VertexExit::Border { triangle, outward } => {
                let facet = self.surface.facet(triangle);
                let corner = vertex::corner_at(self.surface, vertex, triangle);
                let place = SurfacePoint { triangle, at: facet.corners[corner] };
                self.now.motion = MotionState { place, velocity: facet.project(velocity) };
                let speed = velocity.dot(facet.lift(outward)).max(0.0);
                if self.model.leaves_border(facet, place, outward, speed) {
                    return Some(self.detach(facet, facet.lift(outward)));
                }
                self.now.motion.velocity = DVec2::ZERO;
                Some(TrajectoryEnd::AtRest)
            }
            VertexExit::Pit => {
                let facet = self.surface.facet(vertex.triangle);
                let place = SurfacePoint { triangle: vertex.triangle, at: facet.corners[vertex.corner] };
                self.now.motion = MotionState { place, velocity: DVec2::ZERO };
                Some(TrajectoryEnd::AtRest)
            }
        }
    }
}
