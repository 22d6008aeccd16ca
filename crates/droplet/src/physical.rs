//! The physical rules: what the line holds, what the wedge and the film resist, what hangs and what falls.
//!
//! ```text
//! m dv/dt = F − γ R ∮ … − β w η v        F: weight and wind along the solid        (docs/wetting.md, "Holding on", "Sliding")
//! ```
//!
//! The line pulls outwards with γ cos θ per length: with cos θ_a along the front half of a footprint of radius R, with cos θ_r along the rear
//! half. Round a circle that is γ·2R (cos θ_r − cos θ_a) against the motion, Furmidge's hold with k = 1, when the angles are the same
//! everywhere. Where they vary (an image, a wet path), each half is sampled at three places, 60° of line each:
//!
//! ```text
//! along the heading: γR (½, 1, ½)·cos θ      across it: γR (√3/2)(cos θ_left − cos θ_right)
//! ```
//!
//! so a droplet with one side on wetted ground is drawn into the wet path. It comes off where its volume exceeds the largest that hangs at
//! θ_a under the pull off the surface, the turn over an edge included. A border pins the line up to 180°: the droplet leaves over it when
//! its pull and its momentum, ρ V a + ρ V U²/2R, exceed γ·2R (1 + cos θ_r).

use glam::{DVec2, DVec3};
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
    /// Of its solid.
    field: &'a AccelerationField,
    /// Wetting at the start of the step.
    law: &'a SlidingLaw,
    /// Volume, in m³.
    volume: f64,
    /// Base radius, in m.
    radius: f64,
    /// Retention factor k: 1, or down to 0.9 for a droplet that landed wide and has not moved since.
    factor: f64,
    /// Whether contact angles vary along the contact line.
    varies: bool,
}

/// What the line does: holds against the heading, pulls across it (to the left), in N/m over γ.
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
            field: context.acceleration(facet),
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

    /// Where the ground varies.
    fn line(&self, at: SurfacePoint, heading: DVec2) -> LineForce {
        let (surface, substrate) = (self.context.surface, self.substrate);
        let rim = |direction: DVec2| surface.trace_geodesic(at, direction * self.radius, DVec2::ZERO).0;
        // The middles of three arcs of 60° each, front and rear.
        let (sin, cos) = std::f64::consts::FRAC_PI_3.sin_cos();
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
        // A line that pulls forwards (from a repellent to a wettable place) drives the droplet.
        let (hold, driven) = if line.retention >= 0.0 { (line.retention, 0.0) } else { (0.0, -line.retention) };
        Forces {
            acceleration: pull + (heading.perp() * line.across + heading * driven) * local.line,
            retention: self.factor * hold * local.line,
            drag_rate: rate,
            drag_slope: slope,
        }
    }

    /// The line's hold where it is the same all round, whatever the heading, in m/s².
    #[inline]
    fn uniform_retention(&self, local: &LocalForces) -> f64 {
        let hold = 2.0 * (self.law.cos_receding - self.law.cos_advancing);
        self.factor * hold * local.line
    }

    /// Wind's pull per mass in the plane, in m/s².
    #[inline]
    fn wind(&self, facet: &Facet) -> DVec2 {
        if self.field.wind == DVec3::ZERO {
            return DVec2::ZERO;
        }
        let wind = facet.project(self.field.wind);
        wind * (self.law.air_drag * self.radius * self.radius * wind.length() / self.mass())
    }

    /// Pull per mass in the plane on a droplet that stands, without the line's, in m/s².
    #[inline]
    fn driving(&self, facet: &Facet, at: SurfacePoint) -> DVec2 {
        facet.project(self.field.at(facet.point(at.at), DVec3::ZERO)) + self.wind(facet)
    }
}

/// What the push at a place follows from.
pub struct LocalForces {
    at: SurfacePoint,
    /// On a droplet that stands, in m/s².
    pull: DVec2,
    /// γR/m, in m/s².
    line: f64,
    drag: Drag,
    /// Normal part of the solid's angular velocity: it turns a velocity in the plane, in rad/s.
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
        // −2 ω × v, as far as it lies in the plane.
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
