//! A spherical cap on a solid: the part of a sphere outside it.
//!
//! The sphere's center is on the solid's normal at the center of the footprint, h above it; its
//! radius is a. On a flat solid h = −a cos θ, and a follows from the volume in closed form. On a
//! curved one, an inner solve finds the height at which the mean contact angle along the contact
//! line is θ (n_liquid · n_solid = cos θ), and an outer solve the radius whose part outside the
//! solid has the volume.
//!
//! The volume is integrated over columns along the normal, each from the solid to the sphere. The
//! solid must be a graph over the footprint: a drop cannot straddle an edge that hides part of its
//! own contact line. In a bowl so full that the surface would be flat or concave, there is no such
//! sphere, and no cap.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_numerics::math;
use sessile_wetting::cap;

use super::curve::gauss_nodes;
use crate::solid::Solid;

/// A spherical cap: its sphere and its footprint.
#[derive(Clone, Debug)]
pub struct Cap {
    /// Index of the solid.
    pub on: usize,
    /// Center of the footprint on the solid, in m.
    pub foot: DVec3,
    /// The solid's normal there.
    pub normal: DVec3,
    /// Contact angle, in rad.
    pub contact_angle: f64,
    /// Center of the sphere, in m.
    pub ball_center: DVec3,
    /// Radius of the sphere, in m.
    pub ball_radius: f64,
    /// Centroid of the liquid, in m.
    pub centroid: DVec3,
    pub(crate) bounds: [DVec3; 2],
    pub(crate) solid: Solid,
    pub(crate) planar: bool,
}

/// Directions around the footprint in which a curved solid is sampled.
const NUM_DIRECTIONS: usize = 16;

/// Relative tolerance of root finding.
const ROOT_TOLERANCE: f64 = 1e-13;

/// Bisections before the first step of regula falsi where `f` may have several roots, so that the
/// same root is found for small changes of `f`.
const NUM_BISECTIONS: u32 = 16;

/// A root of `f` in a bracket of arguments and values of opposite sign.
///
/// Uses `bisections` bisections, then regula falsi (Illinois) with every third step a bisection,
/// because `f` may be discontinuous on the facets of a mesh. The last call of `f` is at the
/// returned argument.
fn find_root(mut a: (f64, f64), mut b: (f64, f64), width: f64, bisections: u32, mut f: impl FnMut(f64) -> f64) -> f64 {
    for step in 1..150 {
        let secant = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
        let between = secant > a.0.min(b.0) && secant < a.0.max(b.0);
        let x = if between && step > bisections && step % 3 != 0 { secant } else { 0.5 * (a.0 + b.0) };
        let value = f(x);
        if value == 0.0 || (b.0 - a.0).abs() < width {
            return x;
        }
        if value * b.1 < 0.0 {
            a = b;
        } else {
            a.1 /= 2.0;
        }
        b = (x, value);
    }
    b.0
}

/// The contact line in one direction: the angle from the apex, and n_liquid · n_solid.
#[derive(Clone, Copy)]
struct Rim {
    psi: f64,
    cosine: f64,
}

impl Cap {
    /// The cap of `amount` (m³, or m² in a planar run) at `contact_angle` around the point of
    /// `solid` nearest to `center`; `None` if no sphere gives one.
    pub(crate) fn new(solid: &Solid, center: DVec3, amount: f64, contact_angle: f64, planar: bool) -> Option<Self> {
        let near = solid.closest(center);
        let mut normal = near.normal;
        if planar {
            normal = normal.with_z(0.0).try_normalize().unwrap_or(DVec3::Y);
        }
        let (base, rise) = if planar {
            let base = cap::planar_half_width(amount, contact_angle);
            (base, cap::planar_centroid_height(base, contact_angle))
        } else {
            let base = cap::base_radius(amount, contact_angle);
            (base, cap::centroid_height(base, contact_angle))
        };
        let radius = cap::sphere_radius(base, contact_angle);
        let mut built = Self {
            on: solid.index(),
            foot: near.point,
            normal,
            contact_angle,
            ball_center: near.point - normal * (radius * math::cos(contact_angle)),
            ball_radius: radius,
            centroid: near.point + normal * rise,
            bounds: [near.point; 2],
            solid: solid.clone(),
            planar,
        };
        if !built.is_flat(base) {
            built.fit(amount)?;
        }
        built.bounds = built.compute_bounds();
        let is_finite = built.ball_radius > 0.0 && built.ball_radius.is_finite() && built.centroid.is_finite();
        is_finite.then_some(built)
    }

    /// Signed distance to the sphere, in m: the free surface, extended into the solid.
    pub fn ball_distance(&self, point: DVec3) -> f64 {
        let offset = point - self.ball_center;
        let offset = if self.planar { offset.with_z(0.0) } else { offset };
        offset.length() - self.ball_radius
    }

    /// Directions in the solid's tangent plane, around the footprint.
    fn directions(&self) -> Vec<DVec3> {
        if self.planar {
            let across = self.normal.cross(DVec3::Z);
            return vec![across, -across];
        }
        let (a, b) = self.normal.any_orthonormal_pair();
        let turn = |i: usize| math::sin_cos(TAU * (i as f64 + 0.5) / NUM_DIRECTIONS as f64);
        (0..NUM_DIRECTIONS).map(|i| a * turn(i).1 + b * turn(i).0).collect()
    }

    /// Whether the solid under a footprint of radius `base` is flat, to 1e-9 of the sphere's
    /// radius.
    fn is_flat(&self, base: f64) -> bool {
        let far = self.directions();
        let samples = far.iter().flat_map(|d| [0.5, 1.0].map(|part| self.foot + *d * (base * part)));
        let worst = samples.map(|p| self.solid.signed_distance(p).abs()).fold(0.0, f64::max);
        worst < 1e-9 * self.ball_radius
    }

    /// A bounding box; a flat cap is much smaller than its sphere.
    fn compute_bounds(&self) -> [DVec3; 2] {
        let a = self.ball_radius;
        let whole = [self.ball_center - a, self.ball_center + a];
        let rims: Vec<Rim> = self.directions().iter().map(|d| self.rim(*d)).collect();
        let steepest = rims.iter().map(|rim| rim.psi).fold(0.0, f64::max);
        if steepest >= PI / 2.0 {
            return whole;
        }
        // A cylinder along the normal, from the lower of foot and rim to the apex. Between the
        // sampled directions the rim may be a little further out.
        let base = 1.05 * a * math::sin(steepest);
        let bottom = (self.ball_center - self.foot).dot(self.normal) + a * math::cos(steepest);
        let ends = [self.foot + self.normal * bottom.min(0.0), self.ball_center + self.normal * a];
        let across = (DVec3::ONE - self.normal * self.normal).max(DVec3::ZERO).map(f64::sqrt) * base;
        [(ends[0].min(ends[1]) - across).max(whole[0]), (ends[0].max(ends[1]) + across).min(whole[1])]
    }

    /// Finds radius and height of the sphere on a curved solid.
    fn fit(&mut self, amount: f64) -> Option<()> {
        let (directions, start) = (self.directions(), self.ball_radius);
        let mut excess = |radius: f64| {
            let rims = self.fit_height(radius, &directions);
            let (volume, moment) = self.integrate_columns(&directions, &rims);
            self.centroid = moment / volume;
            math::ln(volume / amount)
        };
        // The volume increases with the radius: bracket, then find the root.
        let mut low = (start, excess(start));
        let step = if low.1 < 0.0 { 1.5f64 } else { 1.0 / 1.5 };
        let mut high = low;
        for _ in 0..40 {
            high = (low.0 * step, excess(low.0 * step));
            if !high.1.is_finite() || high.1 * low.1 <= 0.0 {
                break;
            }
            low = high;
        }
        // A sphere inside the solid gives −∞, which still is a valid end of the bracket.
        if high.1.is_nan() || high.1 * low.1 > 0.0 {
            return None;
        }
        let mut residual = high.1;
        find_root(low, high, ROOT_TOLERANCE * start, 0, |radius| {
            residual = excess(radius);
            if residual.abs() < 1e-10 { 0.0 } else { residual }
        });
        // On the facets of a mesh the integral is not smooth below this.
        (residual.abs() < 1e-6).then_some(())
    }

    /// Sets the sphere's radius, and its height such that the mean contact angle is the prescribed
    /// one.
    fn fit_height(&mut self, radius: f64, directions: &[DVec3]) -> Vec<Rim> {
        self.ball_radius = radius;
        let target = math::cos(self.contact_angle);
        let mut rims = Vec::new();
        let mut error = |height: f64| {
            self.ball_center = self.foot + self.normal * height;
            rims = directions.iter().map(|d| self.rim(*d)).collect();
            let error = rims.iter().map(|rim| rim.cosine).sum::<f64>() / rims.len() as f64 - target;
            if error.abs() < 1e-12 { 0.0 } else { error }
        };
        // The contact angle increases with the height: the mean cosine is 1 inside the solid and −1
        // above it.
        find_root(
            (-radius, 1.0 - target),
            (radius, -1.0 - target),
            ROOT_TOLERANCE * radius,
            NUM_BISECTIONS,
            &mut error,
        );
        rims
    }

    /// First intersection of the sphere with the solid, from the apex down in `direction`.
    fn rim(&self, direction: DVec3) -> Rim {
        let on_ball = |psi: f64| direction * math::sin(psi) + self.normal * math::cos(psi);
        let place = |psi: f64| self.ball_center + on_ball(psi) * self.ball_radius;
        let clear = |psi: f64| self.solid.signed_distance(place(psi));
        let apex_is_above_foot = (place(0.0) - self.foot).dot(self.normal) > 0.0;
        let mut ahead = clear(0.0);
        if ahead <= 0.0 {
            // Inside the solid, or so high in a cavity that the far side is reached.
            return if apex_is_above_foot { Rim { psi: PI, cosine: -1.0 } } else { Rim { psi: 0.0, cosine: 1.0 } };
        }
        // Sphere tracing along the arc with a minimum step. The lowest point alone is not
        // conclusive: on a leaf thinner than the sphere it is outside again.
        let (mut dry, mut wet) = ((0.0, ahead), 0.0);
        while ahead > 0.0 {
            if wet >= PI {
                return Rim { psi: PI, cosine: -1.0 };
            }
            dry = (wet, ahead);
            wet = (wet + (ahead / self.ball_radius).max(PI / 128.0)).min(PI);
            ahead = clear(wet);
        }
        let psi = find_root(dry, (wet, ahead), ROOT_TOLERANCE, 0, |psi| {
            let ahead = clear(psi);
            if ahead.abs() < ROOT_TOLERANCE * self.ball_radius { 0.0 } else { ahead }
        });
        Rim { psi, cosine: on_ball(psi).dot(self.solid.normal(place(psi))) }
    }

    /// Volume outside the solid and its first moment, integrated over columns along the normal.
    fn integrate_columns(&self, directions: &[DVec3], rims: &[Rim]) -> (f64, DVec3) {
        let a = self.ball_radius;
        let (mut volume, mut moment) = (0.0, DVec3::ZERO);
        for (direction, rim) in directions.iter().zip(rims) {
            // Columns at s = a sin t. Up to the rim they end on the solid; beyond it, under an
            // overhang, on the sphere.
            let at_rim = rim.psi.min(PI - rim.psi);
            let mut integrate = |from: f64, to: f64, over_solid: bool| {
                for (t, width) in gauss_nodes(from, to, 4) {
                    let (s, half_chord) = (a * math::sin(t), a * math::cos(t));
                    let around = if self.planar { 1.0 } else { s * TAU / directions.len() as f64 };
                    let weight = width * half_chord * around;
                    let middle = self.ball_center + *direction * s;
                    let bottom = if over_solid { self.intersect_column(middle, half_chord) } else { -half_chord };
                    let length = half_chord - bottom;
                    volume += weight * length;
                    moment += (middle + self.normal * ((half_chord + bottom) / 2.0)) * (weight * length);
                }
            };
            integrate(0.0, at_rim, true);
            if rim.psi > PI / 2.0 {
                integrate(at_rim, PI / 2.0, false);
            }
        }
        (volume, moment)
    }

    /// Height where a column through `middle`, from +`half_chord` down, meets the solid; else
    /// −`half_chord`.
    fn intersect_column(&self, middle: DVec3, half_chord: f64) -> f64 {
        let mut height = half_chord;
        // Sphere tracing; it converges geometrically at the solid.
        for _ in 0..200 {
            let clear = self.solid.signed_distance(middle + self.normal * height);
            if clear < 1e-10 * self.ball_radius {
                break;
            }
            height -= clear;
            if height <= -half_chord {
                return -half_chord;
            }
        }
        height
    }
}
