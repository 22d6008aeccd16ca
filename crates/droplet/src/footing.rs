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
//! R is the base radius on a plane. That is exact on a sphere with the pull along its normal, and first order in the bend elsewhere.
//! κ is what the ground shows at the droplet's own size: the mean fall of the surface along six ways of one radius; of the mesh, or of the solid itself where that is
//! rounder than its mesh.

use std::f64::consts::PI;

use glam::DVec2;
use sessile_wetting::Liquid;
use sessile_wetting::table::{RestShape, ShapeTable};

use crate::track::{Place, Track};

/// Largest |sin α| that is taken at its word: beyond 37° a sphere is no description of what is under a droplet.
const STEEPEST: f64 = 0.6;
/// Rounds of the fixed point; each gains a factor of about κb.
const ROUNDS: usize = 20;
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
    let (center, normal) = track.surface_at(at);
    let (sin, cos) = (0.5 * 3_f64.sqrt(), 0.5);
    let ways = [(1.0, 0.0), (cos, sin), (-cos, sin), (-1.0, 0.0), (-cos, -sin), (cos, -sin)];
    let curvature = |(x, y): (f64, f64)| {
        let end = track.walk(at, DVec2::new(x, y) * radius, DVec2::ZERO).0;
        let way = center - track.surface_at(end).0;
        // A sphere's, by the chord. At the border of a mesh a way may end where it began.
        let square = if round { way.length_squared().max(1e-6 * radius * radius) } else { radius * radius };
        2.0 * way.dot(normal) / square
    };
    ways.into_iter().map(curvature).sum::<f64>() / 6.0
}

/// How a droplet of a volume (in m³) stands at an angle (in rad) under a pull into the solid (in m/s²) where the ground bends (in 1/m); `None` where
/// it is too heavy to hang.
pub fn footing(liquid: &Liquid, volume: f64, angle: f64, pressing: f64, bend: f64) -> Option<Footing> {
    let rest = |body: f64, angle: f64| ShapeTable::shared().rest_shape(body, angle, pressing, liquid);
    let mut found = Footing { body: volume, angle, shape: rest(volume, angle)? };
    if bend.abs() * found.shape.base_radius < 1e-4 {
        return Some(found);
    }
    for _ in 0..ROUNDS {
        let b = found.shape.base_radius;
        let alpha = (bend * b).clamp(-STEEPEST, STEEPEST).asin();
        let s = b * (0.5 * alpha).tan();
        // A hollow cannot be fuller than the droplet.
        let body = (volume + PI / 6.0 * s * (3.0 * b * b + s * s)).max(0.1 * volume);
        let angle = (angle + alpha).clamp(ANGLE_MARGIN, PI - ANGLE_MARGIN);
        // Where the plane's table has nothing for it (a drop about to fall), the plane must do.
        let Some(shape) = rest(body, angle) else { return Some(found) };
        let settled = (shape.base_radius - b).abs() < 1e-8 * b;
        found = Footing { body, angle, shape };
        if settled {
            break;
        }
    }
    Some(found)
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
