//! Rest shape of a drop on a curved solid.
//!
//! Under the drop the solid is taken as part of a sphere of curvature κ, positive where it is
//! convex. With b the radius of the contact line, the solid's normal turns by α = asin κb and the
//! solid falls by s = b tan(α/2) from the center to the contact line. Above the plane of its
//! contact line the drop is a Young–Laplace drop that meets this plane at θ + α and includes the
//! solid's cap:
//!
//! ```text
//! V' = V + π s (3b² + s²)/6        θ' = θ + α        b = R(V', θ')
//! ```
//!
//! R is the base radius on a plane. The map b → R(V', θ') has a slope of about κb, so a secant
//! iteration finds its fixed point in a few steps. The result is exact on a sphere with gravity
//! along its normal, and first order in κb elsewhere.
//!
//! On a convex solid the contact line may lie beyond 37°, also below the equator of the sphere:
//! there the root of R(V', θ + α) − (sin α)/κ is searched over α. Without a root a drop of θ ≤ 90°
//! covers the whole sphere ([`CurvedRest::covers_sphere`]); one of θ > 90° is larger than the
//! sphere can carry, and its contact line is where θ' reaches 180°.

use std::f64::consts::{FRAC_PI_2, PI};

use sessile_numerics::math;

use crate::liquid::Liquid;
use crate::root::bracketed;
use crate::table::{Contact, RestShape, ShapeTable, Weight};

/// Largest |sin α| of the secant iteration.
const STEEPEST: f64 = 0.6;
/// Largest number of secant steps; two or three suffice where drops are small against the radius of
/// curvature.
const MAX_STEPS: usize = 20;
/// Relative accuracy of the contact line's radius.
const PRECISION: f64 = 1e-7;
/// Relative residual below which the secant's slope decides on convergence.
const NEAR: f64 = 1e-5;
/// Largest slope of the map b → R(V', θ') for which a secant step is taken.
const MAX_SLOPE: f64 = 0.9;
/// Smallest distance of an angle from 0 and 180°, in rad.
const ANGLE_MARGIN: f64 = 0.02;
/// κb below which the solid is treated as flat.
const FLAT: f64 = 1e-4;
/// Number of intervals of α in which a contact line beyond [`STEEPEST`] is searched.
const NUM_INTERVALS: usize = 48;
/// Largest α of a contact line, in rad: beyond it the drop covers the sphere.
const LARGEST_TURN: f64 = 0.96 * PI;

/// A drop at rest on a curved solid, relative to the plane of its contact line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedRest {
    /// Volume V' above that plane, in m³.
    pub body: f64,
    /// Angle θ' at which the surface meets that plane, in rad.
    pub angle: f64,
    /// Height above that plane, and largest radius of the wetted area about the normal, in m.
    pub shape: RestShape,
    /// Turn α of the solid's normal from the center to the contact line, in rad; π if the drop
    /// covers the sphere.
    pub turn: f64,
    /// Radius of the contact line, in m: below that of the wetted area where α exceeds 90°.
    pub line_radius: f64,
}

impl CurvedRest {
    /// Rest shape of a drop; `None` if it is too heavy to hang.
    ///
    /// Volume in m³, contact angle in rad, acceleration into the solid in m/s², curvature of the
    /// solid in 1/m.
    pub fn new(liquid: &Liquid, volume: f64, angle: f64, normal_acceleration: f64, curvature: f64) -> Option<Self> {
        let table = ShapeTable::shared();
        let (weight, contact) = (Weight::new(liquid, normal_acceleration), Contact::new(angle));
        let flat = table.shape(volume, &contact, &weight)?;
        let rest = |body: f64, contact: &Contact| table.shape(body, contact, &weight);
        let line = contact_line(volume, &contact, flat, curvature, rest, |shape| shape.base_radius);
        let shape = RestShape { base_radius: line.wetted_radius(), ..line.shape };
        let turn = line.steep_turn.unwrap_or_else(|| math::asin((curvature * line.radius).clamp(-STEEPEST, STEEPEST)));
        Some(Self { body: line.body, angle: line.contact.angle(), shape, turn, line_radius: line.radius })
    }

    /// Whether the drop covers the whole sphere, without a contact line.
    pub fn covers_sphere(&self) -> bool {
        self.turn >= PI
    }
}

/// Base radius on a curved solid, from the radius `flat` on a plane, in m.
pub(crate) fn base_radius(weight: &Weight, volume: f64, contact: &Contact, flat: f64, curvature: f64) -> f64 {
    let rest = |body: f64, contact: &Contact| ShapeTable::shared().base_radius(body, contact, weight);
    contact_line(volume, contact, flat, curvature, rest, |radius| radius).wetted_radius()
}

/// A contact line, and the drop above its plane.
struct ContactLine<S> {
    /// Volume above the plane, in m³.
    body: f64,
    /// Angle with the plane.
    contact: Contact,
    shape: S,
    /// Radius of the contact line, in m.
    radius: f64,
    /// α where it is beyond [`STEEPEST`], in rad.
    steep_turn: Option<f64>,
}

impl<S> ContactLine<S> {
    /// Largest radius of the wetted area about the normal, in m.
    #[inline(always)]
    fn wetted_radius(&self) -> f64 {
        match self.steep_turn {
            Some(turn) if turn > FRAC_PI_2 && turn < PI => self.radius / math::sin(turn),
            _ => self.radius,
        }
    }
}

/// The contact line of a drop; `rest` returns the shape on a plane.
#[inline(always)]
fn contact_line<S: Copy>(
    volume: f64,
    contact: &Contact,
    flat: S,
    curvature: f64,
    rest: impl Fn(f64, &Contact) -> Option<S>,
    radius: impl Fn(S) -> f64,
) -> ContactLine<S> {
    // The map sends the radius `at` to `image`; a radius of 0 is sent to that on a plane.
    let (mut at, mut image) = (0.0, radius(flat));
    let (mut next, mut found) = (image, (volume, *contact, flat));
    let line = |(body, contact, shape): (f64, Contact, S)| {
        let radius = radius(shape);
        ContactLine { body, contact, shape, radius, steep_turn: None }
    };
    if curvature.abs() * next < FLAT {
        return line(found);
    }
    for _ in 0..MAX_STEPS {
        let (body, turned) = above_contact_line(volume, contact, next, curvature);
        // The plane's table has no entry for a drop about to detach: keep the last iterate.
        let Some(shape) = rest(body, &turned) else { return line(found) };
        found = (body, turned, shape);
        let (last_at, last_image) = (at, image);
        (at, image) = (next, radius(shape));
        let (change, slope) = (image - at, (image - last_image) / (at - last_at));
        let residual = change.abs() / image;
        // The next step would change the radius by `residual * slope`.
        if residual == 0.0 || (residual < NEAR && residual * slope.abs() < PRECISION) {
            if curvature * image > STEEPEST {
                break;
            }
            return line(found);
        }
        next = if slope < MAX_SLOPE { at + change / (1.0 - slope) } else { image };
    }
    // The iteration diverges for a puddle in a small hollow: use the shape on a plane.
    if curvature > 0.0 {
        steep_contact_line(volume, contact, flat, curvature, rest, radius)
    } else {
        line((volume, *contact, flat))
    }
}

/// The contact line of a drop on a convex solid, at any α.
#[inline(never)]
fn steep_contact_line<S: Copy>(
    volume: f64,
    contact: &Contact,
    flat: S,
    curvature: f64,
    rest: impl Fn(f64, &Contact) -> Option<S>,
    radius: impl Fn(S) -> f64,
) -> ContactLine<S> {
    let sphere = 1.0 / curvature;
    let at = |turn: f64| {
        let (sin, cos) = math::sin_cos(turn);
        let cap = PI / 3.0 * sphere.powi(3) * (2.0 + cos) * (1.0 - cos) * (1.0 - cos);
        let contact = Contact::new((contact.angle() + turn).min(PI - ANGLE_MARGIN));
        let shape = rest(volume + cap, &contact)?;
        Some(ContactLine { body: volume + cap, contact, shape, radius: sphere * sin, steep_turn: Some(turn) })
    };
    let miss = |turn: f64| at(turn).map(|line| radius(line.shape) / line.radius - 1.0);
    let largest = (PI - ANGLE_MARGIN - contact.angle()).clamp(ANGLE_MARGIN, LARGEST_TURN);
    let mut last = (0.0, 1.0);
    for k in 1..=NUM_INTERVALS {
        let turn = largest * k as f64 / NUM_INTERVALS as f64;
        // A drop that hangs and is about to detach: the last contact line.
        let Some(missed) = miss(turn) else { break };
        if missed <= 0.0 {
            let root = bracketed(|turn| miss(turn).unwrap_or(1.0), last.0, turn, last.1, missed, 1e-10);
            if let Some(line) = at(root) {
                return line;
            }
        }
        last = (turn, missed);
    }
    let fallback = if contact.angle() > FRAC_PI_2 { at(largest) } else { None };
    let covering = ContactLine { body: volume, contact: *contact, shape: flat, radius: sphere, steep_turn: Some(PI) };
    fallback.unwrap_or(covering)
}

/// Volume and angle above the plane of a contact line of radius `b` (in m).
#[inline(always)]
fn above_contact_line(volume: f64, contact: &Contact, b: f64, curvature: f64) -> (f64, Contact) {
    let sin = (curvature * b).clamp(-STEEPEST, STEEPEST);
    let cos = (1.0 - sin * sin).sqrt();
    let half_cos = (0.5 + 0.5 * cos).sqrt();
    let s = b * sin / (1.0 + cos);
    // In a hollow the volume above the plane must stay positive.
    let body = (volume + PI / 6.0 * s * (3.0 * b * b + s * s)).max(0.1 * volume);
    let alpha = math::asin(sin);
    let angle = contact.angle() + alpha;
    let within = angle.clamp(ANGLE_MARGIN, PI - ANGLE_MARGIN);
    let turned =
        if within == angle { contact.plus(alpha, 0.5 * sin / half_cos, half_cos) } else { Contact::new(within) };
    (body, turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: Liquid = Liquid::water();

    #[test]
    fn without_gravity_the_drop_is_the_lens_between_two_spheres() {
        for (curvature, degrees) in [(50.0_f64, 70.0_f64), (50.0, 120.0), (-50.0, 70.0), (-30.0, 120.0), (200.0, 40.0)]
        {
            let theta = degrees.to_radians();
            let found = CurvedRest::new(&WATER, 4e-9, theta, 0.0, curvature).expect("a sessile drop");
            let (b, h) = (found.shape.base_radius, found.shape.height);
            // The cap that meets the plane of the contact line at θ + α, less the solid's cap.
            let alpha = (curvature * b).asin();
            let cap = |h: f64| PI / 6.0 * h * (3.0 * b * b + h * h);
            let volume = cap(h) - cap(b * (0.5 * alpha).tan());
            let angle = 2.0 * (h / b).atan() - alpha;
            assert!((volume / 4e-9 - 1.0).abs() < 1e-6, "{curvature} at {degrees}°: {volume:e} m³");
            assert!((angle - theta).abs() < 1e-6, "{curvature} at {degrees}°: {} °", angle.to_degrees());
        }
    }

    /// Where the iteration diverges (puddles in small hollows, drops about to detach) the plane's
    /// radius is used; steep contact lines are tested below.
    #[test]
    fn the_contact_line_is_a_fixed_point_for_nearly_all_curvatures() {
        let (mut converged, mut fallback) = (0, 0);
        for curvature in [-400.0, -150.0, -40.0, -5.0, 0.5, 20.0, 90.0, 300.0, 800.0] {
            for (degrees, volume) in [5.0, 30.0, 80.0, 120.0, 170.0].into_iter().flat_map(|d| [(d, 1e-10), (d, 1e-8)]) {
                for gravity in [-9.8, -1.0, 0.0, 5.0, 9.8, 100.0] {
                    let (weight, contact) = (Weight::new(&WATER, gravity), Contact::new(f64::to_radians(degrees)));
                    let rest = |body, contact: &Contact| ShapeTable::shared().base_radius(body, contact, &weight);
                    let Some(flat) = rest(volume, &contact) else { continue };
                    let found = base_radius(&weight, volume, &contact, flat, curvature);
                    let (body, turned) = above_contact_line(volume, &contact, found, curvature);
                    let off = rest(body, &turned).map_or(f64::INFINITY, |made| (made / found - 1.0).abs());
                    let case =
                        format!("{curvature}/m, {degrees}°, {volume:e} m³, {gravity} m/s²: {found:e} for {flat:e}");
                    let is_steep = curvature * found > STEEPEST || (curvature > 0.0 && degrees > 90.0);
                    if off > 1e-4 && (found == flat || is_steep) {
                        fallback += 1;
                    } else {
                        converged += 1;
                        // The steepest of these maps have a slope of 7.
                        assert!(
                            off < 8.0 * PRECISION || off == f64::INFINITY || curvature.abs() * flat < FLAT,
                            "off by {off:e}: {case}"
                        );
                    }
                }
            }
        }
        assert!(converged > 4 * fallback, "{converged} converged, {fallback} did not");
    }

    /// Without gravity: a spherical cap that meets the sphere at θ, also below its equator.
    #[test]
    fn steep_contact_lines_enclose_the_volume_and_meet_the_sphere_at_the_angle() {
        for (microliters, degrees, expected) in [(20.0, 60.0, 40.0), (200.0, 60.0, 60.0), (60.0, 40.0, 60.0)] {
            let (volume, theta, radius) = (microliters * 1e-9, f64::to_radians(degrees), 3e-3);
            let found = CurvedRest::new(&WATER, volume, theta, 0.0, 1.0 / radius).expect("a sessile drop");
            let (turn, b, h) = (found.turn, found.line_radius, found.shape.height);
            assert!((b - radius * turn.sin()).abs() < 1e-9 && turn.to_degrees() > expected, "{found:?}");
            let cap = PI / 6.0 * h * (3.0 * b * b + h * h);
            let solid = PI / 3.0 * radius.powi(3) * (2.0 + turn.cos()) * (1.0 - turn.cos()).powi(2);
            assert!(((cap - solid) / volume - 1.0).abs() < 1e-3, "{microliters} µL: {:e} m³", cap - solid);
            let angle = 2.0 * (h / b).atan() - turn;
            assert!((angle - theta).abs() < 1e-3, "{} °", angle.to_degrees());
        }
        let film = CurvedRest::new(&WATER, 20e-9, 5_f64.to_radians(), 9.8, 1.0 / 3e-3).expect("a film");
        assert!(film.covers_sphere() && film.shape.base_radius == 3e-3, "{film:?}");
    }
}
