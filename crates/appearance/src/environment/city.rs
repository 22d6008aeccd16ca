//! A town at the blue hour, seen from a window: an afterglow, dark houses, hundreds of lights out
//! of focus.
//!
//! The sky is brightest low in the west (−z) and deep blue overhead; houses are blurred silhouettes
//! in front of it; lit windows, street lights and cars are discs (see [`super::discs`]). A drop
//! shows the bright sky in its lower half and the dark street in its upper one. Scaled so that a
//! horizontal white surface has radiance 1.

use std::f32::consts::PI;

use glam::Vec3;

use super::discs::{Disc, Numbers, towards, with_discs};
use super::{LatLong, luminance};

const SIZE: [usize; 2] = [2048, 1024];

/// Street lights, headlights, tail lights, traffic lights, signs.
const WARM: Vec3 = Vec3::new(1.0, 0.56, 0.22);
const WHITE: Vec3 = Vec3::new(1.0, 0.82, 0.6);
const COOL: Vec3 = Vec3::new(0.62, 0.82, 1.0);
const RED: Vec3 = Vec3::new(1.0, 0.1, 0.06);
const GREEN: Vec3 = Vec3::new(0.12, 0.9, 0.5);
const PINK: Vec3 = Vec3::new(1.0, 0.25, 0.5);

/// Generates the town.
pub(super) fn paint() -> LatLong {
    let houses = houses();
    let mut image = with_discs(SIZE, |dir| background(dir, &houses), &lights());
    image.sanitize(PI / luminance(image.irradiance(Vec3::Y)));
    image
}

/// A block of houses: azimuth of its center, half its width, height of its roof, in rad.
struct House {
    middle: f32,
    half: f32,
    roof: f32,
}

fn houses() -> Vec<House> {
    let mut numbers = Numbers::new(11);
    let mut all = Vec::new();
    let mut at = -PI;
    while at < PI {
        let half = numbers.between(0.03, 0.11);
        let tall = numbers.next();
        all.push(House { middle: at + half, half, roof: 0.02 + 0.19 * tall * tall });
        at += 2.0 * half * numbers.between(0.75, 1.1);
    }
    all
}

fn background(dir: Vec3, houses: &[House]) -> Vec3 {
    let elevation = dir.y.clamp(-1.0, 1.0).asin();
    let azimuth = dir.x.atan2(-dir.z);
    let west = 0.5 + 0.5 * (azimuth - 0.35).cos();
    let glow = west.powi(3);
    // Afterglow: orange at the horizon, rose above, then blue that deepens to the zenith.
    let height = elevation.max(0.0);
    let band = |width: f32| (-height / width).exp();
    let sky = Vec3::new(0.035, 0.075, 0.20)
        + Vec3::new(0.12, 0.23, 0.48) * band(0.62)
        + (0.25 + 0.75 * glow) * Vec3::new(0.62, 0.30, 0.30) * band(0.26)
        + glow * Vec3::new(1.25, 0.50, 0.13) * band(0.10);
    // Fraction of the sky that the houses hide here; their outlines are as soft as the lights are
    // large.
    let soft = 0.008;
    let hidden = houses
        .iter()
        .map(|house| {
            let turn = (azimuth - house.middle).abs();
            let aside = turn.min(std::f32::consts::TAU - turn) - house.half;
            if aside > soft { 0.0 } else { step(-aside / soft) * step((house.roof - elevation) / soft) }
        })
        .fold(step(-elevation / soft), f32::max);
    let below = (-elevation).max(0.0);
    let town = Vec3::new(0.020, 0.022, 0.036) + Vec3::new(0.085, 0.062, 0.062) * (-below / 0.12).exp();
    // A wet street reflects the sky slightly, more at grazing angles.
    let street = 0.10 * sky * (-(below - 0.18) * (below - 0.18) / 0.01).exp() * step(below / 0.05);
    sky.lerp(town + street, hidden)
}

fn lights() -> Vec<Disc> {
    let mut numbers = Numbers::new(5);
    let mut discs = Vec::new();
    let mut add = |azimuth: f32, elevation: f32, radius: f32, color: Vec3| {
        discs.push(Disc { towards: towards(azimuth, elevation), radius, color, cover: 0.0 });
    };
    // Lit windows in the houses.
    for _ in 0..520 {
        let elevation = -0.02 + 0.035 * numbers.bell() + 0.03 * numbers.next();
        let color = if numbers.next() < 0.7 { WHITE } else { COOL };
        add(numbers.between(-PI, PI), elevation, numbers.between(0.008, 0.013), color * numbers.between(0.1, 0.8));
    }
    // Street lights.
    for i in 0..90 {
        let azimuth = -PI + (i as f32 + numbers.next()) * std::f32::consts::TAU / 90.0;
        let color = if numbers.next() < 0.75 { WARM } else { WHITE };
        let near = numbers.next();
        add(azimuth, -0.03 - 0.07 * near + 0.02 * numbers.bell(), 0.014 + 0.011 * near, color * (1.0 + 1.6 * near));
    }
    // Traffic.
    for _ in 0..90 {
        let azimuth = numbers.between(-PI, PI);
        let near = numbers.next();
        let elevation = -0.09 - 0.14 * near + 0.012 * numbers.bell();
        let pick = numbers.next();
        let color = if pick < 0.45 {
            RED
        } else if pick < 0.82 {
            WHITE
        } else {
            WARM
        };
        let radius = 0.012 + 0.012 * near;
        let color = color * numbers.between(0.4, 1.8);
        add(azimuth, elevation, radius, color);
        add(azimuth + 1.6 * radius, elevation, radius, color);
    }
    // Signs and traffic lights.
    for _ in 0..60 {
        let pick = numbers.next();
        let color = if pick < 0.4 {
            GREEN
        } else if pick < 0.7 {
            RED
        } else if pick < 0.85 {
            PINK
        } else {
            COOL
        };
        add(
            numbers.between(-PI, PI),
            0.01 + 0.05 * numbers.bell(),
            numbers.between(0.011, 0.020),
            color * numbers.between(0.3, 1.1),
        );
    }
    discs
}

fn step(at: f32) -> f32 {
    let at = (0.5 + 0.5 * at).clamp(0.0, 1.0);
    at * at * (3.0 - 2.0 * at)
}
