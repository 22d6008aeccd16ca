//! How a droplet stands on ground that bends.
//!
//! Over its foot the ground is taken as part of a sphere of curvature κ, positive where it bends away. With b the radius of the line, the ground falls by
//! the angle α = asin κb and the height s = b tan(α/2) from the middle to the line. Seen from the plane of its line the droplet is a Young–Laplace drop
//! that meets this plane at θ + α and also holds what the ground fills below:
//!
//! ```text
//! V' = V + π s (3b² + s²)/6        θ' = θ + α        b = R(V', θ')
//! ```
//!
//! R is the base radius on a plane. What a line of radius b makes of itself, R(V', θ'), changes with b by a factor of about κb, so secants find where the two are
//! one in a few rounds. That is exact on a sphere with the pull along its normal, and first order in the bend elsewhere.
//! κ is what the ground shows at the droplet's own size: the mean fall of the surface along six ways of one radius; of the mesh, or of the solid itself where that is
//! rounder than its mesh.

use std::f64::consts::PI;

use glam::DVec2;
use sessile_wetting::Liquid;
use sessile_wetting::table::{Contact, RestShape, ShapeTable, Weight};

use crate::track::{Place, Track};

/// Largest |sin α| that is taken at its word: beyond 37° a sphere is no description of what is under a droplet.
const STEEPEST: f64 = 0.6;
/// Rounds of the fixed point at most; two or three do where droplets are small beside the bend.
const ROUNDS: usize = 20;
/// The line's radius is found to this share of itself.
const PRECISION: f64 = 1e-7;
/// A line that makes one within this share of its own radius is near the one that makes itself.
const NEAR: f64 = 1e-5;
/// Where the radius that a line makes grows faster than this with the line's own, a secant is not trusted.
const MOST_SLOPE: f64 = 0.9;
/// No angle comes closer than this to 0 and 180°, in rad.
const ANGLE_MARGIN: f64 = 0.02;

/// A droplet as it stands over the plane of its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footing {
    /// Volume over that plane, in m³.
    pub body: f64,
    /// At which it meets it, in rad.
    pub angle: f64,
    /// Height over it and radius of the line, in m.
    pub shape: RestShape,
}

/// Curvature of the ground under a droplet of this radius (in m), in 1/m; positive where it bends away.
pub fn bend(track: &Track, at: Place, radius: f64) -> f64 {
    let round = track.is_round(at.triangle);
    if radius <= 0.0 || (!round && track.facet(at.triangle).depth(at.at) >= radius) {
        return 0.0;
    }
    let (sin, cos) = (0.5 * 3_f64.sqrt(), 0.5);
    let ways = [(1.0, 0.0), (cos, sin), (-cos, sin)].map(|(x, y)| DVec2::new(x, y) * radius);
    if !round {
        return 2.0 / 6.0 * fall(track, at, &ways) / (radius * radius);
    }
    let (center, normal) = track.surface_at(at);
    let curvature = |way: DVec2| {
        let end = track.walk(at, way, DVec2::ZERO).0;
        let way = center - track.surface_at(end).0;
        // A sphere's, by the chord. At the border of a mesh a way may end where it began.
        2.0 * way.dot(normal) / way.length_squared().max(1e-6 * radius * radius)
    };
    ways.into_iter().map(|way| curvature(way) + curvature(-way)).sum::<f64>() / 6.0
}

/// How far the ends of some ways and of the opposite ones lie below the triangle's plane, together, in m.
fn fall(track: &Track, at: Place, ways: &[DVec2]) -> f64 {
    let facet = track.facet(at.triangle);
    let inside = [0, 1, 2].map(|k| facet.inside(at.at, k));
    let (mut sum, normal) = (0.0, facet.normal());
    for &way in ways {
        let out = [0, 1, 2].map(|k| facet.sides[k].perp_dot(way));
        for sign in [1.0, -1.0] {
            // Whoever stays on the triangle stays in its plane.
            if (0..3).any(|k| inside[k] + sign * out[k] < 0.0) {
                let end = track.walk(at, way * sign, DVec2::ZERO).0;
                sum += (facet.origin - end.point(track)).dot(normal);
            }
        }
    }
    sum
}

/// How a droplet of a volume (in m³) stands at an angle (in rad) under a pull into the solid (in m/s²) where the ground bends (in 1/m); `None` where
/// it is too heavy to hang.
pub fn footing(liquid: &Liquid, volume: f64, angle: f64, pressing: f64, bend: f64) -> Option<Footing> {
    let (table, weight, contact) = (ShapeTable::shared(), Weight::new(liquid, pressing), Contact::new(angle));
    let flat = table.shape(volume, &contact, &weight)?;
    let rest = |body: f64, contact: &Contact| table.shape(body, contact, &weight);
    let (body, contact, shape) = settle(volume, &contact, flat, bend, rest, |shape| shape.base_radius);
    Some(Footing { body, angle: contact.angle(), shape })
}

/// Its base radius alone, in m, where that on level ground, `flat`, is known.
pub fn bent_radius(weight: &Weight, volume: f64, contact: &Contact, flat: f64, bend: f64) -> f64 {
    let rest = |body: f64, contact: &Contact| ShapeTable::shared().base_radius(body, contact, weight);
    settle(volume, contact, flat, bend, rest, |radius| radius).2
}

/// Volume and angle over the plane of the line, and the shape there, beginning with that on level ground; `rest` gives a plane's.
#[inline(always)]
fn settle<S: Copy>(
    volume: f64,
    contact: &Contact,
    flat: S,
    bend: f64,
    rest: impl Fn(f64, &Contact) -> Option<S>,
    radius: impl Fn(S) -> f64,
) -> (f64, Contact, S) {
    // A line of radius `at` would make one of radius `gives`; without a line there is no bend.
    let (mut at, mut gives) = (0.0, radius(flat));
    let (mut next, mut found) = (gives, (volume, *contact, flat));
    if bend.abs() * next < 1e-4 {
        return found;
    }
    for _ in 0..ROUNDS {
        let (body, turned) = over_line(volume, contact, next, bend);
        // Where the plane's table has nothing for it (a drop about to fall), what was found must do.
        let Some(shape) = rest(body, &turned) else { return found };
        found = (body, turned, shape);
        let (at_before, gave) = (at, gives);
        (at, gives) = (next, radius(shape));
        let (change, slope) = (gives - at, (gives - gave) / (at - at_before));
        let share = change.abs() / gives;
        // What it would change by in the next round; two equal radii on the way say nothing yet.
        if share == 0.0 || (share < NEAR && share * slope.abs() < PRECISION) {
            return found;
        }
        next = if slope < MOST_SLOPE { at + change / (1.0 - slope) } else { gives };
    }
    // A line that makes ever larger ones, as a puddle does on a ball: no sphere describes what is under it, and the plane must do.
    (volume, *contact, flat)
}

/// Volume and angle over the plane of a line of this radius (in m).
#[inline(always)]
fn over_line(volume: f64, contact: &Contact, b: f64, bend: f64) -> (f64, Contact) {
    let sin = (bend * b).clamp(-STEEPEST, STEEPEST);
    let cos = (1.0 - sin * sin).sqrt();
    let half_cos = (0.5 + 0.5 * cos).sqrt();
    let s = b * sin / (1.0 + cos);
    // A hollow cannot be fuller than the droplet.
    let body = (volume + PI / 6.0 * s * (3.0 * b * b + s * s)).max(0.1 * volume);
    let alpha = sin.asin();
    let angle = contact.angle() + alpha;
    let within = angle.clamp(ANGLE_MARGIN, PI - ANGLE_MARGIN);
    let turned =
        if within == angle { contact.plus(alpha, 0.5 * sin / half_cos, half_cos) } else { Contact::new(within) };
    (body, turned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::tests::WATER;
    use crate::track::tests::{sheet, track_of};

    /// Without weight the answer is known: two spheres that meet at θ.
    #[test]
    fn without_weight_it_is_the_lens_between_two_spheres() {
        for (bend, degrees) in [(50.0_f64, 70.0_f64), (50.0, 120.0), (-50.0, 70.0), (-30.0, 120.0), (200.0, 40.0)] {
            let theta = degrees.to_radians();
            let found = footing(&WATER, 4e-9, theta, 0.0, bend).expect("it stands");
            let (b, h) = (found.shape.base_radius, found.shape.height);
            // From its line: a cap whose sphere meets the plane at θ + α, less the ground's cap.
            let alpha = (bend * b).asin();
            let cap = |h: f64| PI / 6.0 * h * (3.0 * b * b + h * h);
            let volume = cap(h) - cap(b * (0.5 * alpha).tan());
            let angle = 2.0 * (h / b).atan() - alpha;
            assert!((volume / 4e-9 - 1.0).abs() < 1e-6, "{bend} at {degrees}°: {volume:e} m³");
            assert!((angle - theta).abs() < 1e-6, "{bend} at {degrees}°: {} °", angle.to_degrees());
        }
    }

    /// Else it is that of the plane: puddles on balls, drops about to fall.
    #[test]
    fn on_any_bend_a_line_is_the_one_that_it_makes_of_itself() {
        let (mut settled, mut level) = (0, 0);
        for bend in [-400.0, -150.0, -40.0, -5.0, 0.5, 20.0, 90.0, 300.0, 800.0] {
            for (degrees, volume) in [5.0, 30.0, 80.0, 120.0, 170.0].into_iter().flat_map(|d| [(d, 1e-10), (d, 1e-8)]) {
                for pressing in [-9.8, -1.0, 0.0, 5.0, 9.8, 100.0] {
                    let (weight, contact) = (Weight::new(&WATER, pressing), Contact::new(f64::to_radians(degrees)));
                    let rest = |body, contact: &Contact| ShapeTable::shared().base_radius(body, contact, &weight);
                    let Some(flat) = rest(volume, &contact) else { continue };
                    let found = bent_radius(&weight, volume, &contact, flat, bend);
                    let (body, turned) = over_line(volume, &contact, found, bend);
                    let off = rest(body, &turned).map_or(f64::INFINITY, |made| (made / found - 1.0).abs());
                    let at = format!("{bend}/m, {degrees}°, {volume:e} m³, {pressing} m/s²: {found:e} for {flat:e}");
                    if found == flat && off > 1e-4 {
                        level += 1;
                    } else {
                        settled += 1;
                        // The steepest of these lines make ones that change seven times as fast as they do.
                        assert!(
                            off < 8.0 * PRECISION || off == f64::INFINITY || bend.abs() * flat < 1e-4,
                            "off by {off:e}: {at}"
                        );
                    }
                }
            }
        }
        assert!(settled > 9 * level, "{settled} settled, {level} did not");
    }

    #[test]
    fn the_bend_of_a_bowl_is_its_curvature_and_that_of_a_plane_is_none() {
        let curvature = |kappa: f64| {
            let mut mesh = sheet(0.02, 0.02, 80, 80);
            mesh.positions.iter_mut().for_each(|p| p.z = -0.5 * kappa * (p.x * p.x + p.y * p.y));
            let track = track_of(&mesh);
            let near = |t: &u32| track.facet(*t).point(track.facet(*t).middle()).truncate().length() < 3e-4;
            let triangle = (0..track.facets().len() as u32).find(near).expect("in the middle");
            bend(&track, Place { triangle, at: track.facet(triangle).middle() }, 1.5e-3)
        };
        for kappa in [0.0, 40.0, -40.0] {
            let got = curvature(kappa);
            assert!((got - kappa).abs() < 0.08 * 40.0, "{got} for {kappa}");
        }
    }
}
