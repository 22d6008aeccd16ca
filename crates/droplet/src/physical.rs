//! Forces of the physical mode: contact-line retention, viscous drag, pendant limit.
//!
//! ```text
//! m dv/dt = F − F_line − β w η v        F: weight and wind along the solid
//! ```
//!
//! (docs/wetting.md, "Retention", "Sliding"). The contact line pulls outward with γ cos θ per
//! length: with cos θ_a along the front half of a footprint of radius R, with cos θ_r along the
//! rear half. For uniform angles that is γ·2R (cos θ_r − cos θ_a) against the motion, Furmidge's
//! retention with k = 1. Where angles vary (an image, a wet path), each half is sampled at three
//! points, 60° of contact line each:
//!
//! ```text
//! along the heading: γR (½, 1, ½)·cos θ      across it: γR (√3/2)(cos θ_left − cos θ_right)
//! ```
//!
//! so a droplet with one side on a wet path is drawn into it. A droplet detaches where its volume
//! exceeds the largest that hangs at θ_a under the outward acceleration, including the centrifugal
//! one at an edge. A border pins the contact line up to 180°: the droplet leaves over it when ρ V a
//! + ρ V U²/2R exceeds γ·2R (1 + cos θ_r).

use glam::{DVec2, DVec3};
use sessile_numerics::math;
use sessile_wetting::{SlidingLaw, retention};

use crate::acceleration::AccelerationField;
use crate::batch::{BatchForces, UniformForces};
use crate::context::StepContext;
use crate::drag::Drag;
use crate::droplets::{Size, State};
use crate::integrate::{ForceModel, Forces, MotionState};
use crate::substrate::Substrate;
use crate::surface_mesh::{Facet, SurfacePoint};

/// Forces on one droplet in the physical mode.
pub struct PhysicalForces<'a> {
    context: &'a StepContext<'a>,
    substrate: &'a Substrate,
    /// Acceleration field of its solid.
    field: &'a AccelerationField,
    /// Wetting at the start of the step.
    law: &'a SlidingLaw,
    /// Volume, in m³.
    volume: f64,
    /// Base radius, in m.
    radius: f64,
    /// Retention factor k: 1, or down to 0.9 for a droplet that landed wide and has not moved
    /// since.
    factor: f64,
    /// Whether contact angles vary along the contact line.
    varies: bool,
}

/// Force of the contact line against the heading and across it (to the left), over γR.
struct LineForce {
    retention: f64,
    across: f64,
}

impl<'a> PhysicalForces<'a> {
    /// Forces on a droplet.
    #[inline]
    pub fn new(
        context: &'a StepContext<'a>,
        substrate: &'a Substrate,
        motion: &MotionState,
        size: &Size,
        state: &State,
    ) -> Self {
        let facet = context.surface.facet(motion.place.triangle);
        let line_excess = f64::from(state.line_excess);
        Self {
            context,
            substrate,
            field: context.acceleration(motion.place.triangle),
            law: substrate.law(context.surface, motion.place),
            volume: size.volume,
            radius: size.radius,
            factor: retention::retention_factor(line_excess),
            varies: substrate.varies(facet.solid),
        }
    }

    #[inline]
    fn mass(&self) -> f64 {
        self.context.liquid().density * self.volume
    }

    /// Samples the contact angles along the contact line.
    fn line(&self, at: SurfacePoint, heading: DVec2) -> LineForce {
        let (surface, substrate) = (self.context.surface, self.substrate);
        let rim = |direction: DVec2| surface.trace_geodesic(at, direction * self.radius, DVec2::ZERO).0;
        // Centers of three arcs of 60° each, front and rear.
        let (sin, cos) = math::sin_cos(std::f64::consts::FRAC_PI_3);
        let left = heading.perp();
        let front = [heading * cos + left * sin, heading, heading * cos - left * sin]
            .map(|d| substrate.cosines(surface, rim(d)).0);
        let rear = [left * sin - heading * cos, -heading, -heading * cos - left * sin]
            .map(|d| substrate.cosines(surface, rim(d)).1);
        let along = |[a, b, c]: [f64; 3]| 0.5 * a + b + 0.5 * c;
        LineForce { retention: along(rear) - along(front), across: sin * (front[0] - front[2] + rear[0] - rear[2]) }
    }

    #[inline(never)]
    fn varying_forces(&self, local: &LocalForces, velocity: DVec2, pull: DVec2, (rate, slope): (f64, f64)) -> Forces {
        let heading = velocity.try_normalize().or_else(|| pull.try_normalize()).unwrap_or(DVec2::X);
        let line = self.line(local.at, heading);
        // A contact line that pulls forward (from a less to a more wettable area) drives the
        // droplet.
        let (retention, driving) = if line.retention >= 0.0 { (line.retention, 0.0) } else { (0.0, -line.retention) };
        Forces {
            acceleration: pull + (heading.perp() * line.across + heading * driving) * local.line,
            retention: self.factor * retention * local.line,
            drag_rate: rate,
            drag_slope: slope,
        }
    }

    /// Retention for uniform contact angles, in m/s².
    #[inline]
    fn uniform_retention(&self, local: &LocalForces) -> f64 {
        let difference = 2.0 * (self.law.cos_receding - self.law.cos_advancing);
        self.factor * difference * local.line
    }

    /// Acceleration by the wind in the plane, in m/s².
    #[inline]
    fn wind(&self, facet: &Facet) -> DVec2 {
        if self.field.wind == DVec3::ZERO {
            return DVec2::ZERO;
        }
        let wind = facet.project(self.field.wind);
        wind * (self.law.air_drag * self.radius * self.radius * wind.length() / self.mass())
    }

    /// Driving acceleration in the plane on a droplet at rest, in m/s².
    #[inline]
    fn driving(&self, facet: &Facet, at: SurfacePoint) -> DVec2 {
        facet.project(self.field.at(facet.point(at.at), DVec3::ZERO)) + self.wind(facet)
    }
}

/// What forces at a place follow from.
pub struct LocalForces {
    at: SurfacePoint,
    /// Driving acceleration on a droplet at rest, in m/s².
    pull: DVec2,
    /// γR/m, in m/s².
    line: f64,
    drag: Drag,
    /// Normal component of the solid's angular velocity, for the Coriolis acceleration, in rad/s.
    spin: f64,
}

impl BatchForces for PhysicalForces<'_> {
    #[inline]
    fn uniform_forces(&self, facet: &Facet, at: SurfacePoint) -> Option<UniformForces> {
        if self.varies || self.field.is_rotating {
            return None;
        }
        let local = self.local(facet, at);
        Some(UniformForces {
            acceleration: local.pull,
            retention: self.uniform_retention(&local),
            drag: local.drag,
            damping: self.context.setup.damping,
        })
    }
}

impl ForceModel for PhysicalForces<'_> {
    const VARIES: bool = true;
    type Local = LocalForces;

    #[inline]
    fn local(&self, facet: &Facet, at: SurfacePoint) -> LocalForces {
        let spin = if self.field.is_rotating { self.field.spin.dot(facet.normal()) } else { 0.0 };
        let (liquid, per_mass) = (self.context.liquid(), 1.0 / self.mass());
        LocalForces {
            at,
            pull: self.driving(facet, at),
            line: liquid.surface_tension * self.radius * per_mass,
            drag: Drag::new(self.law, liquid, 2.0 * self.radius, per_mass),
            spin,
        }
    }

    #[inline(always)]
    fn forces_at(&self, local: &LocalForces, velocity: DVec2) -> Forces {
        // Component of −2 ω × v in the plane.
        let pull = local.pull - velocity.perp() * (2.0 * local.spin);
        let (rate, slope) = local.drag.rate_and_slope(velocity.length());
        let rate = rate + self.context.setup.damping;
        if self.varies {
            return self.varying_forces(local, velocity, pull, (rate, slope));
        }
        Forces { acceleration: pull, retention: self.uniform_retention(local), drag_rate: rate, drag_slope: slope }
    }

    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool {
        let off = self.field.at(facet.point(at.at), DVec3::ZERO).dot(facet.normal()) + centrifugal;
        off > 0.0 && self.volume > self.law.largest_pendant_volume(off)
    }

    fn leaves_border(&self, facet: &Facet, at: SurfacePoint, outward: DVec2, speed: f64) -> bool {
        let pull = self.driving(facet, at).dot(outward);
        let demand = self.mass() * (pull + speed * speed / (2.0 * self.radius));
        demand > self.context.liquid().surface_tension * 2.0 * self.radius * (1.0 + self.law.cos_receding)
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    #[inline]
    fn valid_distance(&self) -> f64 {
        if self.varies { self.context.parameters().rim_step * self.radius } else { f64::INFINITY }
    }
}
