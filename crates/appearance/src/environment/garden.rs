//! A garden in the morning, out of focus: bright sky between leaves, hedges, grass.
//!
//! Leaves are thousands of soft discs (see [`super::discs`]), composited from far to near; in front
//! of the sky they are translucent. Scaled so that a horizontal white surface has radiance 1.

use std::f32::consts::PI;

use glam::Vec3;

use super::discs::{Disc, Numbers, towards, with_discs};
use super::{LatLong, luminance};

const SIZE: [usize; 2] = [2048, 1024];

/// Generates the garden.
pub(super) fn paint() -> LatLong {
    let mut image = with_discs(SIZE, background, &leaves());
    image.sanitize(PI / luminance(image.irradiance(Vec3::Y)));
    image
}

fn background(dir: Vec3) -> Vec3 {
    let elevation = dir.y.clamp(-1.0, 1.0).asin();
    let azimuth = dir.x.atan2(-dir.z);
    let sunny = (0.5 + 0.5 * (azimuth - 0.5).cos()).powi(4) * (-(elevation - 0.6) * (elevation - 0.6) / 0.35).exp();
    let sky = Vec3::new(0.95, 1.12, 1.35) + sunny * Vec3::new(1.9, 1.6, 1.15);
    let grass = Vec3::new(0.13, 0.22, 0.055) * (0.55 + 0.8 * (-(elevation + 0.16) * (elevation + 0.16) / 0.02).exp());
    let hedge = Vec3::new(0.035, 0.075, 0.022);
    let sky_fraction = step((elevation - hedge_top(azimuth)) / 0.05);
    let land = grass.lerp(hedge, step((elevation + 0.10) / 0.04));
    land.lerp(sky, sky_fraction)
}

/// Elevation where the trees end and the open sky begins, in rad.
fn hedge_top(azimuth: f32) -> f32 {
    0.17 + 0.05 * (3.0 * azimuth + 0.6).sin() + 0.035 * (7.0 * azimuth).sin() + 0.02 * (13.0 * azimuth + 2.0).sin()
}

fn leaves() -> Vec<Disc> {
    let mut numbers = Numbers::new(23);
    let mut discs = Vec::new();
    // Foliage from the grass up to the trees' outline, sparser towards the sky; later discs are
    // nearer and larger.
    let count = 5200;
    for i in 0..count {
        let near = i as f32 / count as f32;
        let azimuth = numbers.between(-PI, PI);
        let rise = numbers.next();
        let elevation = -0.10 + (hedge_top(azimuth) + 0.16) * rise + 0.02 * numbers.bell();
        let lit = numbers.next();
        let lit = lit * lit * (0.2 + 0.6 * rise);
        let yellow = numbers.next();
        let color = Vec3::new(0.02, 0.05, 0.012).lerp(Vec3::new(0.30 + 0.25 * yellow, 0.52, 0.09), lit);
        let cover = numbers.between(0.35, 0.85);
        discs.push(Disc {
            towards: towards(azimuth, elevation),
            radius: numbers.between(0.010, 0.018) + 0.016 * near,
            color: color * cover,
            cover,
        });
    }
    // Gaps that show the sky, and glints of dew.
    for _ in 0..330 {
        let azimuth = numbers.between(-PI, PI);
        let rise = numbers.next().sqrt();
        let elevation = -0.04 + (hedge_top(azimuth) + 0.02) * rise;
        let warm = numbers.next();
        let color = Vec3::new(0.8, 0.95, 0.75).lerp(Vec3::new(1.1, 0.95, 0.5), warm);
        discs.push(Disc {
            towards: towards(azimuth, elevation),
            radius: numbers.between(0.011, 0.030),
            color: color * numbers.between(0.06, 0.55) * (0.25 + 0.75 * rise),
            cover: 0.0,
        });
    }
    // Flowers in the grass.
    for _ in 0..200 {
        let pick = numbers.next();
        let color = if pick < 0.5 {
            Vec3::new(0.85, 0.75, 0.7)
        } else if pick < 0.8 {
            Vec3::new(0.9, 0.22, 0.35)
        } else {
            Vec3::new(0.95, 0.72, 0.12)
        };
        let cover = numbers.between(0.3, 0.8);
        discs.push(Disc {
            towards: towards(numbers.between(-PI, PI), -0.14 + 0.045 * numbers.bell()),
            radius: numbers.between(0.010, 0.022),
            color: color * cover * numbers.between(0.2, 0.8),
            cover,
        });
    }
    discs
}

fn step(at: f32) -> f32 {
    let at = (0.5 + 0.5 * at).clamp(0.0, 1.0);
    at * at * (3.0 - 2.0 * at)
}
