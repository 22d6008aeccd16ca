//! Exact shapes of drops at rest on a level solid: the Young–Laplace equation.
//!
//! The excess pressure under the surface grows with depth below the apex and equals γ times the sum
//! of the principal curvatures. With the surface's inclination ψ as the coordinate, lengths in
//! capillary lengths l_c = √(γ/ρg), z the depth below the apex and b the apex curvature:
//!
//! ```text
//! κ = 2b + z − sin ψ / r          meridional curvature         (planar: κ = b + z)
//! dr/dψ = cos ψ / κ,   dz/dψ = sin ψ / κ,   dV/dψ = π r² sin ψ / κ,   dA/dψ = 2π r / κ
//! ```
//!
//! from the apex (ψ = 0) to the contact line (ψ = θ). On a sessile drop κ never vanishes, so ψ is a
//! good coordinate at every angle. The drop of a given volume is found by a root search on ln b.
//!
//! Wide puddles have b ≈ e^(−R/l_c), beyond floating point. Where the surface is inclined by less
//! than ψ₀ = 10⁻⁶ the equation is linear, ψ = 2b I₁(r) (planar: b sinh x), so a puddle is
//! integrated from the circle where ψ = ψ₀ instead, and ln b stays the one parameter of all drops.
//! The neglected terms are of relative size ψ₀².
//!
//! Accuracy, measured by the tests: volume and force balance close to 1e-9 for θ from 1° to 179°
//! and V/l_c³ from 1e-6 to 1e3 (and, by the puddle's start, far beyond).

use std::f64::consts::{FRAC_PI_2, PI};

use sessile_numerics::math;

use crate::cap;
use crate::ode::{Accuracy, integrate};
use crate::root::bracketed;

/// Points of a sampled profile.
pub const PROFILE_POINTS: usize = 129;

/// Below this ln b the integration starts at the edge of the flat middle.
const FLAT_LN_CURVATURE: f64 = -62.0;
/// Inclination at which that edge lies, in rad.
const FLAT_INCLINATION: f64 = 1e-6;
/// Start of a round apex, as a fraction of the smaller of the apex radius and the capillary length.
const ROUND_START: f64 = 1e-3;
/// Volumes below this many cubic capillary lengths are caps to better than 1e-9.
const CAP_VOLUME: f64 = 1e-15;

pub(crate) const FINE: Accuracy = Accuracy { relative: 1e-12, max_step: f64::INFINITY };

/// A drop at rest: its measures and its meridian.
///
/// In a planar profile volumes are areas, areas are lengths and radii are half widths.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Volume, in m³.
    pub volume: f64,
    /// Angle at the solid, through the liquid, in rad.
    pub contact_angle: f64,
    /// Distance of the apex from the solid, in m.
    pub height: f64,
    /// Radius of the wetted disc, in m.
    pub base_radius: f64,
    /// Largest radius at any height, in m.
    pub max_radius: f64,
    /// Liquid–air area, in m².
    pub air_area: f64,
    /// Sum of the principal curvatures at the apex, in 1/m; times γ it is the excess pressure
    /// there.
    pub apex_curvature: f64,
    /// Distance of the centroid from the solid, in m.
    pub centroid_height: f64,
    /// Meridian from the apex to the contact line, evenly spaced along the arc: (radius, distance
    /// from the solid), in m.
    pub points: Vec<[f64; 2]>,
}

/// Whether a drop is a solid of revolution or a cylinder without ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// About the axis through the apex.
    Axial,
    /// Along the depth of a planar run.
    Planar,
}

/// One point of a meridian: radius, depth below the apex, volume and air area above, first moment
/// of volume about the apex plane, arc length.
pub(crate) type State = [f64; 6];
pub(crate) const R: usize = 0;
pub(crate) const Z: usize = 1;
pub(crate) const V: usize = 2;
pub(crate) const A: usize = 3;
pub(crate) const M: usize = 4;
pub(crate) const S: usize = 5;

/// The sessile drop of a volume (in m³) at a contact angle (in rad), under gravity pressing it on
/// the solid.
///
/// `capillary_length` is √(γ/ρg), in m; infinite without gravity. `None` where volume or length is
/// not positive, or the angle not inside (0, π).
pub fn sessile(volume: f64, theta: f64, capillary_length: f64) -> Option<Profile> {
    solve(Symmetry::Axial, volume, theta, capillary_length)
}

/// The planar sessile drop of an area (in m²): as [`sessile`], per unit depth.
pub fn sessile_planar(area: f64, theta: f64, capillary_length: f64) -> Option<Profile> {
    solve(Symmetry::Planar, area, theta, capillary_length)
}

/// The sessile drop whose wetted disc has a given radius (in m); arguments and `None` otherwise as
/// [`sessile`].
pub fn sessile_with_base_radius(radius: f64, theta: f64, capillary_length: f64) -> Option<Profile> {
    if !valid(radius, theta, capillary_length) {
        return None;
    }
    let l = capillary_length;
    let cap_volume = cap::volume(radius, theta);
    if cap_volume < CAP_VOLUME * l.powi(3) {
        return Some(cap_profile(Symmetry::Axial, cap_volume, theta));
    }
    let cap_ln_b = math::ln(math::sin(theta) * l / radius);
    let ln_b = ln_curvature(Symmetry::Axial, theta, R, radius / l, cap_ln_b);
    Some(trace(Symmetry::Axial, ln_b, theta, l))
}

fn valid(size: f64, theta: f64, capillary_length: f64) -> bool {
    size > 0.0 && size.is_finite() && theta > 0.0 && theta < PI && capillary_length > 0.0
}

fn solve(symmetry: Symmetry, volume: f64, theta: f64, l: f64) -> Option<Profile> {
    if !valid(volume, theta, l) {
        return None;
    }
    let (reduced, cap_radius) = match symmetry {
        Symmetry::Axial => (volume / l.powi(3), cap::base_radius(volume, theta)),
        Symmetry::Planar => (volume / (l * l), cap::planar_half_width(volume, theta)),
    };
    if reduced < CAP_VOLUME {
        return Some(cap_profile(symmetry, volume, theta));
    }
    let cap_ln_b = math::ln(math::sin(theta) * l / cap_radius);
    let ln_b = ln_curvature(symmetry, theta, V, reduced, cap_ln_b);
    Some(trace(symmetry, ln_b, theta, l))
}

/// ln b of the drop whose quantity `index` at the contact line is `target`; that quantity falls as
/// b rises.
fn ln_curvature(symmetry: Symmetry, theta: f64, index: usize, target: f64, cap_ln_b: f64) -> f64 {
    let miss = |ln_b: f64| math::ln(contact_state(symmetry, ln_b, theta)[index] / target);
    // Gravity flattens the apex, so the cap bounds b from above, up to rounding.
    let (mut hi, mut step) = (cap_ln_b + 1e-9, 1e-8);
    let mut f_hi = miss(hi);
    while f_hi > 0.0 && step < 10.0 {
        hi += step;
        step *= 4.0;
        f_hi = miss(hi);
    }
    let (mut lo, mut f_lo, mut step) = (hi, f_hi, 0.05);
    while f_lo < 0.0 && step < 1e9 {
        (hi, f_hi) = (lo, f_lo);
        lo -= step;
        step *= 2.0;
        f_lo = miss(lo);
    }
    bracketed(miss, lo, hi, f_lo, f_hi, 1e-13)
}

/// Slopes of the state along ψ.
fn slopes(symmetry: Symmetry, b: f64, psi: f64, y: &State) -> State {
    let (sin, cos) = math::sin_cos(psi);
    match symmetry {
        Symmetry::Axial => {
            let per = 1.0 / (2.0 * b + y[Z] - sin / y[R]);
            let dv = PI * y[R] * y[R] * sin * per;
            [cos * per, sin * per, dv, 2.0 * PI * y[R] * per, y[Z] * dv, per]
        }
        Symmetry::Planar => {
            let per = 1.0 / (b + y[Z]);
            let dv = 2.0 * y[R] * sin * per;
            [cos * per, sin * per, dv, 2.0 * per, y[Z] * dv, per]
        }
    }
}

/// Where the integration starts: inclination, state, and the b that the slopes use (0 once it is
/// below rounding).
fn start(symmetry: Symmetry, ln_b: f64) -> (f64, State, f64) {
    if ln_b < FLAT_LN_CURVATURE {
        let psi = FLAT_INCLINATION;
        let (r, pressure, volume, area) = match symmetry {
            Symmetry::Axial => {
                // ln I₁(r) = r − ln(2πr)/2 − 3/(8r) − 3/(16r²) − 21/(128r³) − …; a fixed point,
                // contracting by 1/(2r).
                let wanted = math::ln(0.5 * psi) - ln_b;
                let mut r = wanted;
                for _ in 0..20 {
                    let i = 1.0 / r;
                    r = wanted + 0.5 * math::ln(2.0 * PI * r) + i * (0.375 + i * (0.1875 + i * 21.0 / 128.0));
                }
                let i = 1.0 / r;
                let i0_over_i1 = 1.0 + i * (0.5 + i * (0.375 + i * (0.375 + i * (63.0 / 128.0 + i * 27.0 / 32.0))));
                let pressure = psi * i0_over_i1;
                // Force balance of the flat part: weight = pressure on the disc below − pull of its
                // rim.
                (r, pressure, PI * r * (r * pressure - 2.0 * psi), PI * r * r)
            }
            Symmetry::Planar => {
                let x = math::ln(2.0 * psi) - ln_b;
                (x, psi, 2.0 * (x * psi - psi), 2.0 * x)
            }
        };
        // Depth below the apex is the pressure, for b is nothing; the moment of so thin a layer is
        // of order ψ₀².
        (psi, [r, pressure, volume, area, 0.5 * pressure * volume, r], 0.0)
    } else {
        let b = math::exp(ln_b);
        let s = ROUND_START * (1.0 / b).min(1.0);
        let s2 = s * s;
        let (cubic, volume, area) = match symmetry {
            Symmetry::Axial => (b / 8.0, 0.25 * PI * b * s2 * s2, PI * s2),
            Symmetry::Planar => (b / 6.0, 2.0 / 3.0 * b * s2 * s, 2.0 * s),
        };
        let z = 0.5 * b * s2 * (1.0 + s2 * (0.5 * cubic / b - b * b / 12.0));
        let moment = match symmetry {
            Symmetry::Axial => PI * b * b * s2 * s2 * s2 / 12.0,
            Symmetry::Planar => 0.2 * b * b * s2 * s2 * s,
        };
        (b * s + cubic * s2 * s, [s - b * b * s2 * s / 6.0, z, volume, area, moment, s], b)
    }
}

/// Sizes below which the parts of a state near a round apex need no relative accuracy: a tenth of
/// what they are where the drop ends, if it ends as a cap at `theta`, or at one capillary length. A
/// puddle grows far beyond them.
pub(crate) fn floor(b: f64, theta: f64) -> State {
    let s = (theta / b).min(1.0);
    [s, b * s * s, b * s.powi(4), s * s, b * b * s.powi(6), s].map(|size| 0.1 * size)
}

/// State at the contact line, in capillary lengths.
fn contact_state(symmetry: Symmetry, ln_b: f64, theta: f64) -> State {
    states_at(symmetry, ln_b, &[theta], FINE, |_, _| ()).1
}

/// Integrates to each of `stops` (rising inclinations) in turn and reports the state there; returns
/// the last one and b.
pub(crate) fn states_at(
    symmetry: Symmetry,
    ln_b: f64,
    stops: &[f64],
    accuracy: Accuracy,
    mut report: impl FnMut(usize, &State),
) -> (f64, State) {
    let (mut psi, mut y, b) = start(symmetry, ln_b);
    let floor = floor(b, stops[0]);
    let mut step = psi;
    for (index, &stop) in stops.iter().enumerate() {
        if psi < stop {
            integrate(|psi, y| slopes(symmetry, b, psi, y), psi, stop, &mut y, &floor, &mut step, accuracy, |_, _| ());
            psi = stop;
        }
        report(index, &y);
    }
    (b, y)
}

/// Integrates once more with short steps and samples the meridian.
fn trace(symmetry: Symmetry, ln_b: f64, theta: f64, l: f64) -> Profile {
    let accuracy = Accuracy { max_step: 0.04, ..FINE };
    let (mut psi, mut y, b) = start(symmetry, ln_b);
    let mut nodes = vec![Node { s: 0.0, r: 0.0, z: 0.0, psi: 0.0 }, Node { s: y[S], r: y[R], z: y[Z], psi }];
    let floor = floor(b, theta);
    let mut step = psi;
    let mut max_radius = 0.0_f64;
    for stop in [FRAC_PI_2.min(theta), theta] {
        if psi < stop {
            let record = |psi: f64, y: &State| nodes.push(Node { s: y[S], r: y[R], z: y[Z], psi });
            integrate(|psi, y| slopes(symmetry, b, psi, y), psi, stop, &mut y, &floor, &mut step, accuracy, record);
            psi = stop;
        }
        max_radius = max_radius.max(y[R]);
    }
    let volume_scale = match symmetry {
        Symmetry::Axial => l.powi(3),
        Symmetry::Planar => l * l,
    };
    let curvatures = if symmetry == Symmetry::Axial { 2.0 } else { 1.0 };
    Profile {
        volume: y[V] * volume_scale,
        contact_angle: theta,
        height: y[Z] * l,
        base_radius: y[R] * l,
        max_radius: max_radius * l,
        air_area: y[A] * volume_scale / l,
        apex_curvature: curvatures * b / l,
        centroid_height: (y[Z] - y[M] / y[V]) * l,
        points: sample(&nodes, l),
    }
}

/// A recorded point of a meridian, in capillary lengths, with its inclination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub s: f64,
    pub r: f64,
    pub z: f64,
    pub psi: f64,
}

/// [`PROFILE_POINTS`] points evenly spaced along the arc, by cubic Hermite interpolation between
/// the nodes.
pub(crate) fn sample(nodes: &[Node], l: f64) -> Vec<[f64; 2]> {
    let last = nodes[nodes.len() - 1];
    let mut segment = 0;
    (0..PROFILE_POINTS)
        .map(|i| {
            if i + 1 == PROFILE_POINTS {
                return [last.r * l, 0.0];
            }
            let s = last.s * i as f64 / (PROFILE_POINTS - 1) as f64;
            while segment + 2 < nodes.len() && nodes[segment + 1].s < s {
                segment += 1;
            }
            let (a, b) = (nodes[segment], nodes[segment + 1]);
            let length = b.s - a.s;
            let t = (s - a.s) / length;
            let hermite = |from: f64, to: f64, slope_from: f64, slope_to: f64| {
                let (u, t2) = (1.0 - t, t * t);
                u * u * ((1.0 + 2.0 * t) * from + t * length * slope_from)
                    + t2 * ((3.0 - 2.0 * t) * to - u * length * slope_to)
            };
            let r = hermite(a.r, b.r, math::cos(a.psi), math::cos(b.psi));
            let z = hermite(a.z, b.z, math::sin(a.psi), math::sin(b.psi));
            [r.max(0.0) * l, (last.z - z) * l]
        })
        .collect()
}

/// The profile of a spherical cap or circular segment.
fn cap_profile(symmetry: Symmetry, volume: f64, theta: f64) -> Profile {
    let (radius, air_area, centroid_height, curvatures) = match symmetry {
        Symmetry::Axial => {
            let r = cap::base_radius(volume, theta);
            (r, cap::air_area(r, theta), cap::centroid_height(r, theta), 2.0)
        }
        Symmetry::Planar => {
            let r = cap::planar_half_width(volume, theta);
            (r, cap::planar_arc(r, theta), cap::planar_centroid_height(r, theta), 1.0)
        }
    };
    let a = cap::sphere_radius(radius, theta);
    let height = cap::height(radius, theta);
    let point = |i: usize| {
        let psi = theta * i as f64 / (PROFILE_POINTS - 1) as f64;
        if i + 1 == PROFILE_POINTS {
            [radius, 0.0]
        } else {
            [a * math::sin(psi), height - 2.0 * a * math::sin(0.5 * psi).powi(2)]
        }
    };
    Profile {
        volume,
        contact_angle: theta,
        height,
        base_radius: radius,
        max_radius: if theta > FRAC_PI_2 { a } else { radius },
        air_area,
        apex_curvature: curvatures / a,
        centroid_height,
        points: (0..PROFILE_POINTS).map(point).collect(),
    }
}

#[cfg(test)]
mod tests;
