//! The physical rules: what the line holds, what the wedge and the film resist, what hangs and what falls.
//!
//! ```text
//! m dv/dt = F − γ R ∮ … − β w η v        F: weight and wind along the solid        (docs/wetting.md, "Retention", "Sliding")
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
use sessile_wetting::{Liquid, SlidingLaw};

use crate::acceleration::AccelerationField;
use crate::batch::{BatchForces, UniformForces};
use crate::drag::Drag;
use crate::integrate::{ForceModel, Forces};
use crate::substrate::Substrate;
use crate::surface_mesh::{Facet, SurfaceMesh, SurfacePoint};

/// Where the ground varies, the rim is looked at anew after this many radii.
const RIM_STEP: f64 = 0.5;

/// What all droplets of the physical form share in a step.
#[derive(Clone, Copy)]
pub struct Physical<'a> {
    /// The mesh.
    pub surface: &'a SurfaceMesh,
    /// The substrate, frozen for the while.
    pub substrate: &'a Substrate,
    /// The liquid.
    pub liquid: &'a Liquid,
    /// Drag that `settle` adds, in 1/s.
    pub damping: f64,
}

/// The physical rules for one droplet.
pub struct PhysicalRules<'a> {
    /// What all share.
    pub shared: Physical<'a>,
    /// Of its solid.
    pub field: &'a AccelerationField,
    /// Where it set out.
    pub law: &'a SlidingLaw,
    /// In m³.
    pub volume: f64,
    /// Base radius, in m.
    pub radius: f64,
    /// Retention factor k: 1, or down to 0.9 for one that landed wide and has not moved since.
    pub factor: f64,
    /// Whether the rim has to be looked at.
    pub varies: bool,
}

/// What the line does: holds against the heading, pulls across it (to the left), in N/m over γ.
struct Line {
    hold: f64,
    across: f64,
}

impl PhysicalRules<'_> {
    #[inline]
    fn mass(&self) -> f64 {
        self.shared.liquid.density * self.volume
    }

    /// Where the ground varies.
    fn line(&self, at: SurfacePoint, heading: DVec2) -> Line {
        let (surface, substrate) = (self.shared.surface, self.shared.substrate);
        let rim = |direction: DVec2| surface.trace_geodesic(at, direction * self.radius, DVec2::ZERO).0;
        // The middles of three arcs of 60° each, front and rear.
        let (sin, cos) = std::f64::consts::FRAC_PI_3.sin_cos();
        let left = heading.perp();
        let front = [heading * cos + left * sin, heading, heading * cos - left * sin]
            .map(|d| substrate.cosines(surface, rim(d)).0);
        let rear = [left * sin - heading * cos, -heading, -heading * cos - left * sin]
            .map(|d| substrate.cosines(surface, rim(d)).1);
        let along = |[a, b, c]: [f64; 3]| 0.5 * a + b + 0.5 * c;
        Line { hold: along(rear) - along(front), across: sin * (front[0] - front[2] + rear[0] - rear[2]) }
    }

    #[inline(never)]
    fn push_where_it_varies(
        &self,
        here: &LocalForces,
        velocity: DVec2,
        pull: DVec2,
        (rate, slope): (f64, f64),
    ) -> Forces {
        let heading = velocity.try_normalize().or_else(|| pull.try_normalize()).unwrap_or(DVec2::X);
        let line = self.line(here.at, heading);
        // A line that pulls forwards (from a repellent to a wettable place) drives the droplet.
        let (hold, driven) = if line.hold >= 0.0 { (line.hold, 0.0) } else { (0.0, -line.hold) };
        Forces {
            acceleration: pull + (heading.perp() * line.across + heading * driven) * here.line,
            retention: self.factor * hold * here.line,
            drag_rate: rate,
            drag_slope: slope,
        }
    }

    /// The line's hold where it is the same all round, whatever the heading, in m/s².
    #[inline]
    fn even_hold(&self, here: &LocalForces) -> f64 {
        let hold = 2.0 * (self.law.cos_receding - self.law.cos_advancing);
        self.factor * hold * here.line
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
    pub fn pull(&self, facet: &Facet, at: SurfacePoint) -> DVec2 {
        facet.project(self.field.pull(facet.point(at.at), DVec3::ZERO)) + self.wind(facet)
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
    turning: f64,
}

impl BatchForces for PhysicalRules<'_> {
    #[inline]
    fn uniform_forces(&self, facet: &Facet, at: SurfacePoint) -> Option<UniformForces> {
        if self.varies || self.field.turns {
            return None;
        }
        let here = self.local(facet, at);
        Some(UniformForces {
            acceleration: here.pull,
            retention: self.even_hold(&here),
            drag: here.drag,
            damping: self.shared.damping,
        })
    }
}

impl ForceModel for PhysicalRules<'_> {
    const VARIES: bool = true;
    type Local = LocalForces;

    #[inline]
    fn local(&self, facet: &Facet, at: SurfacePoint) -> LocalForces {
        let turning = if self.field.turns { self.field.spin.dot(facet.normal()) } else { 0.0 };
        let (liquid, per_mass) = (self.shared.liquid, 1.0 / self.mass());
        LocalForces {
            at,
            pull: self.pull(facet, at),
            line: liquid.surface_tension * self.radius * per_mass,
            drag: Drag::new(self.law, liquid, 2.0 * self.radius, per_mass),
            turning,
        }
    }

    #[inline(always)]
    fn forces_at(&self, here: &LocalForces, velocity: DVec2) -> Forces {
        // −2 ω × v, as far as it lies in the plane.
        let pull = here.pull - velocity.perp() * (2.0 * here.turning);
        let (rate, slope) = here.drag.rate_and_slope(velocity.length());
        let rate = rate + self.shared.damping;
        if self.varies {
            return self.push_where_it_varies(here, velocity, pull, (rate, slope));
        }
        Forces { acceleration: pull, retention: self.even_hold(here), drag_rate: rate, drag_slope: slope }
    }

    fn detaches(&self, facet: &Facet, at: SurfacePoint, centrifugal: f64) -> bool {
        let off = self.field.pull(facet.point(at.at), DVec3::ZERO).dot(facet.normal()) + centrifugal;
        off > 0.0 && self.volume > self.law.largest_pendant_volume(off)
    }

    fn leaves_border(&self, facet: &Facet, at: SurfacePoint, outward: DVec2, speed: f64) -> bool {
        let pull = self.pull(facet, at).dot(outward);
        let demand = self.mass() * (pull + speed * speed / (2.0 * self.radius));
        demand > self.shared.liquid.surface_tension * 2.0 * self.radius * (1.0 + self.law.cos_receding)
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    #[inline]
    fn valid_distance(&self) -> f64 {
        if self.varies { RIM_STEP * self.radius } else { f64::INFINITY }
    }
}
