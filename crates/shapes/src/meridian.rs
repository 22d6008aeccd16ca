//! Meridians of drops at rest, interpolated from a table of Young–Laplace curves.
//!
//! Curves of unit volume are tabulated over contact angle and ln(V/l_c³), with [`POINTS`] points
//! each, evenly spaced along the arc from apex to contact line. Each is solved (half a millisecond)
//! when it is first needed; a scene needs few of them. Between nodes the points are interpolated;
//! then heights and radii are scaled to the drop's own, by well below one per cent. A pendant drop
//! is the ellipsoid with its base, height and volume.

use std::f64::consts::PI;
use std::sync::OnceLock;

use crate::ellipsoid_cap::EllipsoidCap;
use sessile_numerics::math;
use sessile_wetting::young_laplace::sessile;

/// Points of a meridian, apex and contact line included.
pub const POINTS: usize = 25;
/// Table nodes over the contact angle, from 5° to 175°.
const NUM_ANGLES: usize = 35;
/// Table nodes over ln(V/l_c³), and their range.
const NUM_VOLUMES: usize = 23;
const LN_VOLUMES: (f64, f64) = (-9.0, 6.0);

/// Radius and height, from apex to contact line, in m.
pub type Meridian = [[f64; 2]; POINTS];

fn angle_node(k: usize) -> f64 {
    (5.0 + 5.0 * k as f64) * PI / 180.0
}

/// The curve of a row of volumes and a column of angles.
fn node(row: usize, column: usize) -> &'static Meridian {
    static TABLE: [OnceLock<Meridian>; NUM_ANGLES * NUM_VOLUMES] =
        [const { OnceLock::new() }; NUM_ANGLES * NUM_VOLUMES];
    TABLE[row * NUM_ANGLES + column].get_or_init(|| {
        let angle = angle_node(column);
        let part = row as f64 / (NUM_VOLUMES - 1) as f64;
        let ln_volume = LN_VOLUMES.0 + part * (LN_VOLUMES.1 - LN_VOLUMES.0);
        // Of unit volume: the capillary length represents the volume.
        let length = math::exp(-ln_volume / 3.0);
        sessile(1.0, angle, length).map_or_else(|| cap(1.0, angle), |profile| resampled(&profile.points))
    })
}

/// Resamples an evenly spaced curve.
fn resampled(points: &[[f64; 2]]) -> Meridian {
    std::array::from_fn(|k| {
        let at = k as f64 / (POINTS - 1) as f64 * (points.len() - 1) as f64;
        let low = (at.floor() as usize).min(points.len().saturating_sub(2));
        let part = at - low as f64;
        let high = (low + 1).min(points.len() - 1);
        [0, 1].map(|c| points[low][c] + part * (points[high][c] - points[low][c]))
    })
}

/// The spherical cap of a volume (in m³) and contact angle (in rad).
fn cap(volume: f64, angle: f64) -> Meridian {
    let radius = sessile_wetting::cap::base_radius(volume, angle) / math::sin(angle);
    std::array::from_fn(|k| {
        let (sin, cos) = math::sin_cos(angle * k as f64 / (POINTS - 1) as f64);
        [radius * sin, radius * (cos - math::cos(angle))]
    })
}

/// Meridian of a sessile drop of a volume (in m³) and contact angle (in rad), given its base
/// radius, height and capillary length, in m.
pub fn resting(volume: f64, angle: f64, capillary_length: f64, base_radius: f64, height: f64) -> Meridian {
    let size = math::cbrt(volume);
    let ln_volume = 3.0 * math::ln(size / capillary_length);
    let row = ((ln_volume - LN_VOLUMES.0) / (LN_VOLUMES.1 - LN_VOLUMES.0) * (NUM_VOLUMES - 1) as f64)
        .clamp(0.0, (NUM_VOLUMES - 1) as f64);
    let column = ((angle.to_degrees() - 5.0) / 5.0).clamp(0.0, (NUM_ANGLES - 1) as f64);
    let (r0, c0) = ((row as usize).min(NUM_VOLUMES - 2), (column as usize).min(NUM_ANGLES - 2));
    let (fr, fc) = (row - r0 as f64, column - c0 as f64);
    let corners = [
        (node(r0, c0), (1.0 - fr) * (1.0 - fc)),
        (node(r0, c0 + 1), (1.0 - fr) * fc),
        (node(r0 + 1, c0), fr * (1.0 - fc)),
        (node(r0 + 1, c0 + 1), fr * fc),
    ];
    let mut meridian: Meridian = std::array::from_fn(|k| {
        [0, 1].map(|c| size * corners.iter().map(|(curve, weight)| curve[k][c] * weight).sum::<f64>())
    });
    fit(&mut meridian, base_radius, height);
    meridian
}

/// Meridian of a pendant drop: the ellipsoid with its volume, base and height.
pub fn hanging(volume: f64, base_radius: f64, height: f64) -> Meridian {
    let ellipsoid = EllipsoidCap::new(volume, base_radius, height);
    // Parameter of the contact line on the ellipsoid.
    let end = math::acos((-ellipsoid.center_height / ellipsoid.along).clamp(-1.0, 1.0));
    let mut meridian: Meridian = std::array::from_fn(|k| {
        let (sin, cos) = math::sin_cos(end * k as f64 / (POINTS - 1) as f64);
        [ellipsoid.across * sin, ellipsoid.center_height + ellipsoid.along * cos]
    });
    fit(&mut meridian, base_radius, height);
    meridian
}

/// Scales apex and contact line exactly to their radius and height.
fn fit(meridian: &mut Meridian, base_radius: f64, height: f64) {
    let ([_, top], [base, bottom]) = (meridian[0], meridian[POINTS - 1]);
    let (up, across) = (height / (top - bottom), base_radius / base);
    for point in meridian.iter_mut() {
        *point = [point[0] * across, (point[1] - bottom) * up];
    }
    meridian[0][0] = 0.0;
    meridian[POINTS - 1] = [base_radius, 0.0];
}

/// Volume of the body of revolution, in m³, and height of its centroid, in m.
pub fn volume_and_centroid(meridian: &Meridian) -> (f64, f64) {
    let (mut volume, mut moment) = (0.0, 0.0);
    for pair in meridian.windows(2) {
        let ([r0, z0], [r1, z1]) = (pair[0], pair[1]);
        let slice = PI / 3.0 * (r0 * r0 + r0 * r1 + r1 * r1) * (z0 - z1);
        volume += slice;
        moment += slice * 0.5 * (z0 + z1);
    }
    (volume, moment / volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolated_meridians_are_the_exact_ones() {
        let length = 2.729e-3;
        for (volume, degrees) in [(1e-9, 63.0), (4e-9, 90.0), (30e-9, 117.5), (100e-9, 33.0), (10e-9, 148.0)] {
            let exact = sessile(volume, f64::to_radians(degrees), length).expect("a drop");
            let got = resting(volume, exact.contact_angle, length, exact.base_radius, exact.height);
            let expected = resampled(&exact.points);
            let worst = got
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) / exact.height)
                .fold(0.0, f64::max);
            assert!(worst < 0.01, "{volume:e} m³ at {degrees}°: off by {worst:.4} heights");
            let (enclosed, centroid) = volume_and_centroid(&got);
            // 25 points along the arc miss a few per mille.
            assert!((enclosed / volume - 1.0).abs() < 0.01, "{volume:e} m³ at {degrees}°: {enclosed:e}");
            assert!((centroid / exact.centroid_height - 1.0).abs() < 0.01, "{centroid:e}");
        }
    }
}
