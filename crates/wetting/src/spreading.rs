//! Spreading and retraction of a drop that has landed: an oscillator for its footprint.
//!
//! The drop is taken for a spherical cap of constant volume, from the nearly whole sphere at the
//! moment of contact to the thin sheet at the largest spread. With t = tan(θ/2) = h/R and x = ln t
//! its kinetic energy is that of the flow u = (r q̇/q, (z − z₁) σ̇/σ + ż₁), which moves the center
//! of mass z₁ and stretches the cap's mean square radius q² and height σ², all known in closed
//! form:
//!
//! ```text
//! T = ½ M ẋ²,    M = m (z₁′² + σ′² + q′²)
//! Φ = γ π R² (1 + t² − cos θ_m) + m g z₁          air side, wetted area, weight
//! dT/dx = −dΦ/dx − D/ẋ
//! D = 2πR γ |cos θ_m − cos θ_d| |Ṙ| + (π/2) (η/δ) R² Ṙ² + κ (1 − t)₊ M |ẋ|³
//! ```
//!
//! θ_m is the advancing angle while the footprint grows and the receding one while it shrinks, so
//! hysteresis dissipates; between the two the line is pinned and the drop at rest. θ_d is the
//! dynamic angle of [`moving_line`](crate::moving_line) at the drop's width. δ is the boundary
//! layer that grows from the wall until it fills the sheet of mean thickness h̄, where it is h̄/3:
//! √(ντ)/1.0354 after a time τ under an expanding sheet, u = r/τ (f‴ + 2ff″ + ½ξf″ + f′ − f′² = 0,
//! computed; cf. roisman2009), and √(πντ) under a retracting one (Stokes' first problem).
//!
//! A retracting sheet is swept up by its rim, which loses half of the energy that is set free: with
//! κ = 2 the line of a thin sheet approaches the speed of Taylor and Culick, √(γ(1 − cos θ_r)/ρh̄).
//! So the retraction rate Ṙ/R is a constant of liquid and solid that does not depend on the speed
//! of impact, as bartolo2005 measure. The term vanishes when the cap is a hemisphere.
//!
//! When it lands, the drop loses the share [`HEAD_LOSS`] of its kinetic energy: wildeman2016 find
//! that at high speeds about half of it becomes surface energy on a wall without friction, the
//! rest being lost like the head of a pipe flow at a sudden expansion. The share is taken at any
//! speed; at low ones the true one is expected to be smaller, so slow rebounds are too weak.
//!
//! Each step of the integration is one of x, over which the potential is exact and the dissipation
//! implicit in the speed: T + Φ never increases. A drop that retracts to a sphere with kinetic
//! energy left takes off with it.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};
use sessile_numerics::math;

use crate::cap;
use crate::cube_root::cube_root;
use crate::liquid::Liquid;
use crate::material::Wetting;
use crate::moving_line::LineAngle;
use crate::sliding::{cutoff_logarithm, wedge_dissipation};

/// Share of the kinetic energy that is lost when a drop lands (wildeman2016).
pub const HEAD_LOSS: f64 = 0.5;
/// Factor κ of the rim that sweeps up a retracting sheet.
const SWEEP: f64 = 2.0;
/// √(ντ)/δ of the boundary layer under an expanding sheet: f″(0).
const EXPANDING_LAYER: f64 = 1.035_374_5;
/// tan(θ/2) of the cap with which the contact begins, at θ = 160°.
const FIRST_SLOPE: f64 = 5.671;
/// tan(θ/2) at which a retracting drop leaves the solid, at θ = 172°.
const LAST_SLOPE: f64 = 14.3;
/// Smallest volume whose spreading is followed, in m³: a sphere of 0.4 mm diameter, which spreads
/// and retracts within a millisecond.
const LEAST_VOLUME: f64 = 3.35e-11;
/// Step in x = ln tan(θ/2), and its exponential.
const STEP: f64 = 0.01;
const FACTOR: f64 = 1.010_050_167_084_168;
/// Speed of the line below which its friction is that of a slow wedge, in m/s.
const SLOW: f64 = 1e-6;

/// What moves a footprint: the drop and its solid, constant while it spreads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpreadingDrop {
    /// Volume, in m³.
    pub volume: f64,
    /// Acceleration into the solid, in m/s².
    pub normal_acceleration: f64,
}

/// Whether the spreading of a drop of `volume` (in m³) is followed; a smaller one is at once where
/// the spread would leave it ([`impact`](crate::impact)).
pub fn is_followed(volume: f64) -> bool {
    volume >= LEAST_VOLUME
}

/// State of a spreading or retracting drop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spreading {
    /// tan(θ/2) of the cap.
    slope: f64,
    /// Kinetic energy, in J.
    energy: f64,
    /// Whether the footprint grows.
    grows: bool,
    /// Time since it has turned, in s: the age of the boundary layer.
    since: f64,
}

/// What follows for a drop after a time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpreadingPhase {
    /// It spreads or retracts.
    Moves,
    /// Its contact line is pinned.
    Rests,
    /// It takes off with this normal speed, in m/s.
    TakesOff(f64),
}

/// A cap and the derivatives of its moments by x.
#[derive(Clone, Copy)]
struct Shape {
    radius: f64,
    /// dR/dx, in m.
    radius_slope: f64,
    /// M/m, in m².
    inertia: f64,
    /// Height of the center of mass, in m.
    center: f64,
}

impl Shape {
    fn new(volume: f64, slope: f64) -> Self {
        let u = slope * slope;
        let radius = cube_root(6.0 * volume / (PI * slope * (3.0 + u)));
        let center = radius * slope * (2.0 + u) / (2.0 * (3.0 + u));
        let height = radius * slope * ((10.0 + 8.0 * u + u * u) / 20.0).sqrt() / (3.0 + u);
        let width = radius * ((10.0 + 5.0 * u + u * u) / (10.0 * (3.0 + u))).sqrt();
        let of_center = center * 4.0 * (1.0 + u) / ((2.0 + u) * (3.0 + u));
        let of_height = height * ((2.0 - 2.0 * u) / (3.0 + u) + (8.0 * u + 2.0 * u * u) / (10.0 + 8.0 * u + u * u));
        let of_width = width * ((5.0 * u + 2.0 * u * u) / (10.0 + 5.0 * u + u * u) - (1.0 + 2.0 * u) / (3.0 + u));
        Self {
            radius,
            radius_slope: -radius * (1.0 + u) / (3.0 + u),
            inertia: of_center * of_center + of_height * of_height + of_width * of_width,
            center,
        }
    }
}

/// A cap with its potential for the present direction of the line.
#[derive(Clone, Copy)]
struct Cap {
    /// tan(θ/2).
    slope: f64,
    grows: bool,
    shape: Shape,
    /// Φ, in J.
    potential: f64,
}

/// A step of x that is possible: where it ends, and the speed |ẋ| at both ends, in 1/s.
struct Stride {
    end: Cap,
    from: f64,
    to: f64,
}

/// What acts on a footprint: constant while the drop spreads.
struct Law<'a> {
    liquid: &'a Liquid,
    drop: &'a SpreadingDrop,
    advancing: LineAngle,
    receding: LineAngle,
}

impl<'a> Law<'a> {
    fn new(liquid: &'a Liquid, wetting: &Wetting, drop: &'a SpreadingDrop) -> Self {
        let [advancing, receding] = [wetting.advancing, wetting.receding].map(LineAngle::new);
        Self { liquid, drop, advancing, receding }
    }

    fn mass(&self) -> f64 {
        self.liquid.density * self.drop.volume
    }

    /// The angle of a line that advances or recedes.
    fn line(&self, grows: bool) -> &LineAngle {
        if grows { &self.advancing } else { &self.receding }
    }

    fn cap(&self, slope: f64, grows: bool) -> Cap {
        let shape = Shape::new(self.drop.volume, slope);
        let potential = potential(self.liquid, self.drop, &shape, slope, self.line(grows).cosine);
        Cap { slope, grows, shape, potential }
    }
}

/// What a drop dissipates during a step from one shape.
struct Drag<'a> {
    law: &'a Law<'a>,
    from: &'a Cap,
    /// Λ at the drop's width.
    logarithm: f64,
    /// A third of the mean thickness, in m.
    sheet: f64,
}

impl<'a> Drag<'a> {
    fn new(law: &'a Law<'a>, from: &'a Cap) -> Self {
        let radius = from.shape.radius;
        let sheet = law.drop.volume / (3.0 * PI * radius * radius);
        Self { law, from, logarithm: cutoff_logarithm(2.0 * radius), sheet }
    }

    /// Dissipation over ẋ², in J s.
    ///
    /// `rate` is |ẋ| (in 1/s), `age` that of the boundary layer (in s).
    fn at(&self, rate: f64, age: f64) -> f64 {
        let Self { law, from: &Cap { slope, grows, ref shape, .. }, logarithm, sheet } = *self;
        let liquid = law.liquid;
        let viscosity = liquid.dynamic_viscosity();
        let radius = shape.radius;
        let speed = shape.radius_slope.abs() * rate;
        let angle = law.line(grows);
        let line = if speed > SLOW {
            let growth = viscosity * speed / liquid.surface_tension * logarithm;
            let dynamic = angle.at_distance(if grows { growth } else { -growth });
            liquid.surface_tension * (angle.cosine - math::cos(dynamic)).abs() / speed
        } else {
            wedge_dissipation(angle.theta) * viscosity * logarithm
        };
        let grown = (liquid.viscosity * age).sqrt();
        let layer = if grows { grown / EXPANDING_LAYER } else { PI.sqrt() * grown };
        let wall = 0.5 * PI * viscosity / layer.min(sheet) * radius * radius;
        let swept = if grows { 0.0 } else { SWEEP * (1.0 - slope).max(0.0) };
        let rim = swept * liquid.density * law.drop.volume * shape.inertia * rate;
        (2.0 * PI * radius * line + wall) * shape.radius_slope * shape.radius_slope + rim
    }
}

impl Spreading {
    /// A ball that touches a solid with this normal speed, in m/s.
    pub fn new(liquid: &Liquid, volume: f64, speed: f64) -> Self {
        let kinetic = 0.5 * liquid.density * volume * speed * speed;
        Self { slope: FIRST_SLOPE, energy: (1.0 - HEAD_LOSS) * kinetic, grows: true, since: 0.0 }
    }

    /// Continues with another volume (in m³) and base radius (in m), at the same kinetic energy.
    pub fn refit(&mut self, volume: f64, radius: f64) {
        self.slope = cap::slope(volume, radius);
    }

    /// Base radius, and the largest radius at any height, in m.
    pub fn radii(&self, volume: f64) -> (f64, f64) {
        let base = Shape::new(volume, self.slope).radius;
        let outer = if self.slope > 1.0 { 0.5 * base * (self.slope + 1.0 / self.slope) } else { base };
        (base, outer)
    }

    /// Kinetic energy, and surface energy plus weight at the contact angle `theta` (in rad), in J.
    pub fn energies(&self, liquid: &Liquid, drop: &SpreadingDrop, theta: f64) -> (f64, f64) {
        let shape = Shape::new(drop.volume, self.slope);
        (self.energy, potential(liquid, drop, &shape, self.slope, math::cos(theta)))
    }

    /// Spreads or retracts for `dt` seconds; returns what follows, and the largest base radius on
    /// the way, in m.
    pub fn advance(
        &mut self,
        liquid: &Liquid,
        wetting: &Wetting,
        drop: &SpreadingDrop,
        dt: f64,
    ) -> (SpreadingPhase, f64) {
        let law = &Law::new(liquid, wetting, drop);
        let mut from = law.cap(self.slope, self.grows);
        let (mut remaining, mut widest) = (dt, from.shape.radius);
        while remaining > 0.0 {
            match self.stride(law, &from, STEP) {
                Ok(stride) => {
                    let time = 2.0 * STEP / (stride.from + stride.to);
                    if time > remaining {
                        self.finish(law, &from, &stride, (remaining, time));
                        remaining = 0.0;
                    } else {
                        self.accept(law, &stride, if self.grows { 1.0 / FACTOR } else { FACTOR });
                        self.since += time;
                        remaining -= time;
                        // A product and a quotient mostly round alike.
                        from = stride.end;
                    }
                }
                Err(missing) => match self.stop(law, &from, missing, remaining) {
                    Some(left) => remaining = left,
                    None => return (SpreadingPhase::Rests, widest),
                },
            }
            if (from.slope, from.grows) != (self.slope, self.grows) {
                from = law.cap(self.slope, self.grows);
            }
            widest = widest.max(from.shape.radius);
            if !self.grows && self.slope > LAST_SLOPE {
                let speed = (2.0 * self.energy / law.mass()).sqrt();
                return (SpreadingPhase::TakesOff(speed), widest);
            }
        }
        (SpreadingPhase::Moves, widest)
    }

    /// Uses up the kinetic energy on a part of a step, at constant deceleration, and turns. Returns
    /// the time left of `remaining` (in s); nothing if the drop rests.
    fn stop(&mut self, law: &Law<'_>, from: &Cap, missing: f64, remaining: f64) -> Option<f64> {
        let speed = (2.0 * self.energy / (law.mass() * from.shape.inertia)).sqrt();
        let needed = self.energy + missing;
        let length = if needed > 0.0 { STEP * self.energy / needed } else { 0.0 };
        let time = if speed > 0.0 { 2.0 * length / speed } else { 0.0 };
        if time > remaining {
            let stride = Stride { end: *from, from: speed, to: 0.0 };
            self.finish(law, from, &stride, (remaining, time));
            return Some(0.0);
        }
        self.turn(law, self.reachable(law, from, length)).then_some(remaining - time)
    }

    /// The step of `length` in x from a cap; the energy that is missing for it (in J) if the
    /// kinetic energy does not suffice.
    fn stride(&self, law: &Law<'_>, from: &Cap, length: f64) -> Result<Stride, f64> {
        let mass = law.mass();
        let factor = if length == STEP { FACTOR } else { math::exp(length) };
        let slope = if self.grows { self.slope / factor } else { self.slope * factor };
        let end = law.cap(slope, self.grows);
        let rise = end.potential - from.potential;
        let left = self.energy - rise;
        if left <= 0.0 {
            return Err(-left);
        }
        // ½ M ẋ² + C Δx ẋ = left, C the dissipation D over ẋ².
        let drag = Drag::new(law, from);
        let from = (2.0 * self.energy / (mass * from.shape.inertia)).sqrt();
        // C at the mean speed of the step, which is first taken to be that without friction.
        let inertia = mass * end.shape.inertia;
        let mut to = (2.0 * left / inertia).sqrt();
        for _ in 0..2 {
            let mean = 0.5 * (from + to);
            let age = self.since + 0.5 * length / mean;
            let drag = drag.at(mean, age) * length;
            to = 2.0 * left / (drag + (drag * drag + 2.0 * inertia * left).sqrt());
        }
        Ok(Stride { end, from, to })
    }

    /// Takes a whole step in which tan(θ/2) changes by `factor`.
    fn accept(&mut self, law: &Law<'_>, stride: &Stride, factor: f64) {
        self.slope *= factor;
        self.energy = 0.5 * law.liquid.density * law.drop.volume * stride.end.shape.inertia * stride.to * stride.to;
    }

    /// Takes the part of a step of `whole` seconds that fits into the remaining time, at constant
    /// acceleration.
    fn finish(&mut self, law: &Law<'_>, from: &Cap, stride: &Stride, (time, whole): (f64, f64)) {
        let mean = stride.from + 0.5 * (stride.to - stride.from) * time / whole;
        let length = (mean * time).min(STEP);
        match self.stride(law, from, length) {
            Ok(part) => {
                let factor = math::exp(length);
                self.accept(law, &part, if self.grows { 1.0 / factor } else { factor });
            }
            // By rounding at the turning point: the next step turns.
            Err(_) => self.energy = 0.0,
        }
        self.since += time;
    }

    /// The part of `length` in x for which the kinetic energy suffices, where the potential is not
    /// linear.
    fn reachable(&self, law: &Law<'_>, from: &Cap, length: f64) -> f64 {
        let parts = (0..20).map(|k| length * (1.0 - 0.05 * f64::from(k)));
        let mut possible = parts.filter(|part| self.stride(law, from, *part).is_ok());
        possible.next().unwrap_or(0.0)
    }

    /// Goes to the turning point, `length` in x away, and turns; `false` if the line is pinned
    /// there.
    fn turn(&mut self, law: &Law<'_>, length: f64) -> bool {
        let factor = math::exp(length);
        let slope = if self.grows { self.slope / factor } else { self.slope * factor };
        *self = Self { slope, energy: 0.0, grows: !self.grows, since: 0.0 };
        self.stride(law, &law.cap(slope, self.grows), STEP).is_ok()
    }
}

/// Surface energy and weight of a cap, in J.
fn potential(liquid: &Liquid, drop: &SpreadingDrop, shape: &Shape, slope: f64, cosine: f64) -> f64 {
    let area = PI * shape.radius * shape.radius;
    let weight = liquid.density * drop.volume * drop.normal_acceleration;
    liquid.surface_tension * area * (1.0 + slope * slope - cosine) + weight * shape.center
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact;

    const WATER: Liquid = Liquid::water();

    fn solid(advancing: f64, receding: f64) -> Wetting {
        Wetting::smooth(advancing.to_radians(), receding.to_radians())
    }

    fn sphere(diameter: f64) -> f64 {
        PI / 6.0 * diameter.powi(3)
    }

    /// The history of a drop of `diameter` (in m): time, base radius, and energy with the angle
    /// that counts for the direction of the line; and how it ends.
    fn history(wetting: &Wetting, diameter: f64, speed: f64, dt: f64) -> (Vec<(f64, f64, f64)>, SpreadingPhase) {
        let drop = SpreadingDrop { volume: sphere(diameter), normal_acceleration: 9.8 };
        let mut state = Spreading::new(&WATER, drop.volume, speed);
        let mut points = Vec::new();
        for step in 1..=(0.5 / dt) as usize {
            let (phase, _) = state.advance(&WATER, wetting, &drop, dt);
            // Between the two angles: any of them would do.
            let (kinetic, potential) = state.energies(&WATER, &drop, 0.5 * (wetting.advancing + wetting.receding));
            points.push((dt * step as f64, state.radii(drop.volume).0, kinetic + potential));
            if phase != SpreadingPhase::Moves {
                return (points, phase);
            }
        }
        (points, SpreadingPhase::Moves)
    }

    fn widest(points: &[(f64, f64, f64)]) -> f64 {
        points.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// Range of the correlations of [`impact`](crate::impact), with the margins of the reference
    /// solutions.
    fn range(weber: f64, reynolds: f64, theta: f64) -> (f64, f64) {
        let all = impact::correlations(weber, reynolds, theta).into_iter().filter(|spread| *spread > 1.0);
        let (low, high) = all.fold((f64::MAX, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
        (0.9 * low, 1.08 * high)
    }

    #[test]
    fn the_largest_spread_is_within_the_range_of_correlations() {
        let diameter = 2e-3;
        for (advancing, receding) in
            [(30.0, 15.0), (60.0, 40.0), (75.0, 55.0), (90.0, 60.0), (120.0, 100.0), (150.0, 145.0)]
        {
            for weber in [5.0, 15.0, 30.0, 70.0, 150.0] {
                let speed = (weber * WATER.surface_tension / (WATER.density * diameter)).sqrt();
                let reynolds = impact::reynolds(&WATER, diameter, speed);
                let spread = 2.0 * widest(&history(&solid(advancing, receding), diameter, speed, 5e-5).0) / diameter;
                let (low, high) = range(weber, reynolds, f64::to_radians(advancing));
                assert!((low..high).contains(&spread), "We {weber}, {advancing}°: {spread}, expected {low} to {high}");
            }
        }
        // 2 mm at 1.6 m/s on 75°.
        let spread = 2.0 * widest(&history(&solid(75.0, 55.0), diameter, 1.6, 5e-5).0) / diameter;
        assert!((2.6..3.65).contains(&spread), "{spread}");
    }

    #[test]
    fn energy_never_increases() {
        for (advancing, receding) in [(15.0, 4.0), (75.0, 55.0), (90.0, 90.0), (163.0, 157.0)] {
            for speed in [0.0, 0.3, 1.6, 3.0, 4.3] {
                let (points, _) = history(&solid(advancing, receding), 2e-3, speed, 2e-5);
                for pair in points.windows(2) {
                    let [(.., before), (time, _, after)] = pair else { unreachable!() };
                    assert!(
                        *after <= before * (1.0 + 1e-12),
                        "{advancing}°, {speed} m/s, {time} s: {before:e} to {after:e}"
                    );
                }
            }
        }
    }

    /// The receding line stops near the receding angle: its inertia carries it a little further.
    /// Where the retraction is slow it stops at that angle.
    #[test]
    fn a_drop_ends_between_the_limiting_angles() {
        let volume = sphere(2e-3);
        for (advancing, receding, speed) in [(75.0, 55.0, 1.6), (75.0, 55.0, 0.0), (30.0, 15.0, 1.0)] {
            let (points, phase) = history(&solid(advancing, receding), 2e-3, speed, 5e-5);
            let of_angle = |degrees: f64| cap::base_radius(volume, degrees.to_radians());
            let radius = points.last().expect("points").1;
            assert_eq!(phase, SpreadingPhase::Rests);
            // The cap under its weight is a little wider.
            let range = 0.98 * of_angle(advancing)..1.06 * of_angle(receding);
            assert!(range.contains(&radius), "{speed} m/s: {radius:e} of {range:?}");
        }
    }

    #[test]
    fn the_result_does_not_depend_on_the_time_step() {
        let wetting = solid(90.0, 60.0);
        let [fine, coarse] = [5e-5, 1e-3].map(|dt| history(&wetting, 2e-3, 1.0, dt).0);
        for (time, radius, _) in &coarse {
            let near = fine.iter().min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs())).expect("points");
            assert!((radius / near.1 - 1.0).abs() < 0.03, "{time} s: {radius:e} and {:e}", near.1);
        }
    }

    #[test]
    fn a_drop_rebounds_from_a_repellent_solid_slower_than_it_came() {
        for speed in [0.4, 0.8, 1.6] {
            let (_, phase) = history(&solid(163.0, 157.0), 2e-3, speed, 5e-5);
            let SpreadingPhase::TakesOff(off) = phase else { panic!("{speed} m/s: {phase:?}") };
            assert!((0.05..0.95).contains(&(off / speed)), "{speed} m/s: {off} m/s");
        }
    }

    /// bartolo2005: the retraction rate does not depend on the speed of impact.
    #[test]
    fn the_retraction_rate_does_not_depend_on_the_speed() {
        let rate = |speed: f64| {
            let (points, _) = history(&solid(110.0, 100.0), 2e-3, speed, 2e-5);
            let fastest = points.windows(2).map(|p| (p[0].1 - p[1].1) / 2e-5).fold(0.0, f64::max);
            fastest / widest(&points)
        };
        let (slow, fast) = (rate(1.0), rate(2.0));
        assert!((fast / slow - 1.0).abs() < 0.25, "{slow} and {fast} 1/s");
    }
}
