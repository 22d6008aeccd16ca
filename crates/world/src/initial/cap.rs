//! A drop that sits on a solid: the part of a ball outside it.
//!
//! The ball's center lies on the solid's normal at the footprint's center, h above it, and its radius is a. On a flat solid
//! h = −a cos θ and a follows from the volume in closed form. On a curved one, for each a the height is sought at which the ball
//! meets the solid at θ in the mean round the contact line (n_liquid · n_solid = cos θ), and then the a whose part outside the
//! solid holds the volume.
//!
//! The volume is summed over lines along the normal, each from where it meets the solid to where it leaves the ball. The solid
//! need only be a graph over the footprint: a drop cannot straddle an edge that hides part of its own line. In a bowl so full that
//! the surface would be flat or hollow there is no such ball, and no cap.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_wetting::cap;

use super::curve::gauss_nodes;
use crate::solid::Solid;

/// A cap: the ball that it is cut from, and where it sits.
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
    /// Center of the ball, in m.
    pub ball_center: DVec3,
    /// Radius of the ball, in m.
    pub ball_radius: f64,
    /// Centroid of the liquid, in m.
    pub centroid: DVec3,
    pub(crate) bounds: [DVec3; 2],
    pub(crate) solid: Solid,
    pub(crate) planar: bool,
}

/// Directions round the footprint in which a curved solid is looked at.
const ROUND: usize = 16;

/// How closely a zero is sought, over the size of what it is sought in.
const LEAST_WIDTH: f64 = 1e-13;

/// Bisections before the first step of false position where `f` may have several zeros: of those it then finds the same for any neighboring `f`.
const HALVINGS: u32 = 16;

/// Where `f` changes its sign between two places with values of different signs: `halvings` bisections, then false position (Illinois) with every third
/// step a bisection, because on the facets of a mesh `f` may jump. The last call of `f` is at what is returned.
fn close_in(mut a: (f64, f64), mut b: (f64, f64), width: f64, halvings: u32, mut f: impl FnMut(f64) -> f64) -> f64 {
    for step in 1..150 {
        let secant = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
        let between = secant > a.0.min(b.0) && secant < a.0.max(b.0);
        let x = if between && step > halvings && step % 3 != 0 { secant } else { 0.5 * (a.0 + b.0) };
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

/// Where the ball meets the solid in one direction: the angle from the apex, and n_liquid · n_solid there.
#[derive(Clone, Copy)]
struct Rim {
    psi: f64,
    cosine: f64,
}

impl Cap {
    /// The cap of `amount` (m³, or m² in a planar run) at `contact_angle` round the point of `solid` nearest to `center`; none
    /// where no ball makes one.
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
            ball_center: near.point - normal * (radius * contact_angle.cos()),
            ball_radius: radius,
            centroid: near.point + normal * rise,
            bounds: [near.point; 2],
            solid: solid.clone(),
            planar,
        };
        if !built.is_flat(base) {
            built.fit(amount)?;
        }
        built.bounds = built.find_bounds();
        let made_of_numbers = built.ball_radius > 0.0 && built.ball_radius.is_finite() && built.centroid.is_finite();
        made_of_numbers.then_some(built)
    }

    /// Signed distance to the ball, in m: the free surface, carried on into the solid.
    pub fn ball_distance(&self, point: DVec3) -> f64 {
        let offset = point - self.ball_center;
        let offset = if self.planar { offset.with_z(0.0) } else { offset };
        offset.length() - self.ball_radius
    }

    /// Directions along the solid's tangent plane, round the footprint.
    fn directions(&self) -> Vec<DVec3> {
        if self.planar {
            let across = self.normal.cross(DVec3::Z);
            return vec![across, -across];
        }
        let (a, b) = self.normal.any_orthonormal_pair();
        let turn = |i: usize| (TAU * (i as f64 + 0.5) / ROUND as f64).sin_cos();
        (0..ROUND).map(|i| a * turn(i).1 + b * turn(i).0).collect()
    }

    /// Whether the solid under a footprint of radius `base` is its tangent plane, to 1e-9 of the ball's radius.
    fn is_flat(&self, base: f64) -> bool {
        let far = self.directions();
        let samples = far.iter().flat_map(|d| [0.5, 1.0].map(|part| self.foot + *d * (base * part)));
        let worst = samples.map(|p| self.solid.signed_distance(p).abs()).fold(0.0, f64::max);
        worst < 1e-9 * self.ball_radius
    }

    /// A box round the cap: a low one is much smaller than its ball.
    fn find_bounds(&self) -> [DVec3; 2] {
        let a = self.ball_radius;
        let whole = [self.ball_center - a, self.ball_center + a];
        let rims: Vec<Rim> = self.directions().iter().map(|d| self.rim(*d)).collect();
        let steepest = rims.iter().map(|rim| rim.psi).fold(0.0, f64::max);
        if steepest >= PI / 2.0 {
            return whole;
        }
        // A cylinder along the normal, from the lowest of foot and rim to the apex; between the directions looked at the rim
        // may lie a little further out.
        let reach = 1.05 * a * steepest.sin();
        let bottom = (self.ball_center - self.foot).dot(self.normal) + a * steepest.cos();
        let ends = [self.foot + self.normal * bottom.min(0.0), self.ball_center + self.normal * a];
        let across = (DVec3::ONE - self.normal * self.normal).max(DVec3::ZERO).map(f64::sqrt) * reach;
        [(ends[0].min(ends[1]) - across).max(whole[0]), (ends[0].max(ends[1]) + across).min(whole[1])]
    }

    /// Finds radius and height of the ball on a curved solid.
    fn fit(&mut self, amount: f64) -> Option<()> {
        let (directions, start) = (self.directions(), self.ball_radius);
        let mut excess = |radius: f64| {
            let rims = self.settle(radius, &directions);
            let (held, moment) = self.sum_lines(&directions, &rims);
            self.centroid = moment / held;
            (held / amount).ln()
        };
        // Volumes grow with the ball: bracket the radius, then close in.
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
        // An empty ball gives −∞, which still is a side of the bracket.
        if high.1.is_nan() || high.1 * low.1 > 0.0 {
            return None;
        }
        let mut off = high.1;
        close_in(low, high, LEAST_WIDTH * start, 0, |radius| {
            off = excess(radius);
            if off.abs() < 1e-10 { 0.0 } else { off }
        });
        // Sums over facets of a mesh can be rough below this.
        (off.abs() < 1e-6).then_some(())
    }

    /// Sets the ball's radius and the height at which it meets the solid at the contact angle in the mean.
    fn settle(&mut self, radius: f64, directions: &[DVec3]) -> Vec<Rim> {
        self.ball_radius = radius;
        let wanted = self.contact_angle.cos();
        let mut rims = Vec::new();
        let mut short_of = |height: f64| {
            self.ball_center = self.foot + self.normal * height;
            rims = directions.iter().map(|d| self.rim(*d)).collect();
            let off = rims.iter().map(|rim| rim.cosine).sum::<f64>() / rims.len() as f64 - wanted;
            if off.abs() < 1e-12 { 0.0 } else { off }
        };
        // Higher balls meet the solid at larger angles: sunk in, the mean of the cosines is 1, and lifted off, −1.
        close_in((-radius, 1.0 - wanted), (radius, -1.0 - wanted), LEAST_WIDTH * radius, HALVINGS, &mut short_of);
        rims
    }

    /// Where the ball's surface, coming down from its apex in `direction`, first meets the solid.
    fn rim(&self, direction: DVec3) -> Rim {
        let on_ball = |psi: f64| direction * psi.sin() + self.normal * psi.cos();
        let place = |psi: f64| self.ball_center + on_ball(psi) * self.ball_radius;
        let clear = |psi: f64| self.solid.signed_distance(place(psi));
        let apex_is_above_foot = (place(0.0) - self.foot).dot(self.normal) > 0.0;
        let mut ahead = clear(0.0);
        if ahead <= 0.0 {
            // Sunk in, or so high in a hollow that the far side is reached.
            return if apex_is_above_foot { Rim { psi: PI, cosine: -1.0 } } else { Rim { psi: 0.0, cosine: 1.0 } };
        }
        // Each step goes as far as nothing can be met, and a little way at least. The lowest point alone does not tell: on a leaf that is thinner
        // than the ball it is outside again.
        let (mut dry, mut wet) = ((0.0, ahead), 0.0);
        while ahead > 0.0 {
            if wet >= PI {
                return Rim { psi: PI, cosine: -1.0 };
            }
            dry = (wet, ahead);
            wet = (wet + (ahead / self.ball_radius).max(PI / 128.0)).min(PI);
            ahead = clear(wet);
        }
        let psi = close_in(dry, (wet, ahead), LEAST_WIDTH, 0, |psi| {
            let ahead = clear(psi);
            if ahead.abs() < LEAST_WIDTH * self.ball_radius { 0.0 } else { ahead }
        });
        Rim { psi, cosine: on_ball(psi).dot(self.solid.normal(place(psi))) }
    }

    /// Amount of liquid outside the solid and its first moment, summed over lines along the normal.
    fn sum_lines(&self, directions: &[DVec3], rims: &[Rim]) -> (f64, DVec3) {
        let a = self.ball_radius;
        let (mut held, mut moment) = (0.0, DVec3::ZERO);
        for (direction, rim) in directions.iter().zip(rims) {
            // Lines at s = a sin t. Up to the rim they end on the solid; beyond it, under an overhang, on the ball itself.
            let at_rim = rim.psi.min(PI - rim.psi);
            let mut stretch = |from: f64, to: f64, over_solid: bool| {
                for (t, width) in gauss_nodes(from, to, 4) {
                    let (s, half_chord) = (a * t.sin(), a * t.cos());
                    let around = if self.planar { 1.0 } else { s * TAU / directions.len() as f64 };
                    let weight = width * half_chord * around;
                    let middle = self.ball_center + *direction * s;
                    let bottom = if over_solid { self.line_meets_solid(middle, half_chord) } else { -half_chord };
                    let length = half_chord - bottom;
                    held += weight * length;
                    moment += (middle + self.normal * ((half_chord + bottom) / 2.0)) * (weight * length);
                }
            };
            stretch(0.0, at_rim, true);
            if rim.psi > PI / 2.0 {
                stretch(at_rim, PI / 2.0, false);
            }
        }
        (held, moment)
    }

    /// Coming down a line through `middle` from +`half_chord`: where it meets the solid, or −`half_chord`.
    fn line_meets_solid(&self, middle: DVec3, half_chord: f64) -> f64 {
        let mut height = half_chord;
        // Each step goes as far as nothing can be met; convergence is geometric at the solid.
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
