//! Painted photographs of streets, to try datasets without photographs of one's own.
//!
//! A one-point perspective: a road to the horizon, facades with windows on both sides, cars, and a
//! sky by day or at dusk. Everything follows from the seed.

use glam::{Vec2, Vec3};
use sessile_appearance::srgb_from_linear;
use sessile_world::random::Stream;

/// Height of the camera above the road, half the width of the road, and the distance of the facades
/// from its middle, in m.
const EYE: f32 = 1.4;
const ROAD: f32 = 3.6;
const FACADE: f32 = 7.0;

/// Depth of the street, in m.
const END: f32 = 150.0;

/// A car: position across and along the street, in m, color, and whether it drives away.
struct Car {
    at: Vec2,
    color: Vec3,
    away: bool,
}

/// A street.
struct Street {
    dusk: f32,
    sky: [Vec3; 2],
    facades: Vec<(f32, f32, Vec3)>,
    cars: Vec<Car>,
    focal: f32,
    horizon: f32,
    seed: u32,
}

/// Paints a street: sRGB bytes, three per pixel, rows from the top.
pub fn street(size: [usize; 2], seed: u64) -> Vec<u8> {
    let street = Street::new(seed);
    let pixel = |i: usize| {
        let (x, y) = (i % size[0], i / size[0]);
        let samples = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)].map(|(dx, dy)| {
            let at = Vec2::new(x as f32 + dx, y as f32 + dy) - 0.5 * Vec2::new(size[0] as f32, size[1] as f32);
            street.color(at / size[1] as f32)
        });
        (samples.into_iter().sum::<Vec3>() / 4.0).to_array().map(srgb_from_linear)
    };
    (0..size[0] * size[1]).flat_map(pixel).collect()
}

impl Street {
    fn new(seed: u64) -> Self {
        let mut stream = Stream::new(seed, &[]);
        let mut random = |low: f32, high: f32| low + (high - low) * stream.uniform() as f32;
        let dusk = if random(0.0, 1.0) < 0.35 { random(0.6, 1.0) } else { 0.0 };
        let day = [Vec3::new(0.25, 0.45, 0.85), Vec3::new(0.75, 0.82, 0.9)];
        let night = [Vec3::new(0.02, 0.03, 0.09), Vec3::new(0.45, 0.2, 0.1)];
        let sky = [0, 1].map(|i| day[i].lerp(night[i], dusk) * random(0.75, 1.0));
        let facades = (0..2 * 14).map(|_| {
            let brick = Vec3::new(0.32, 0.16, 0.11).lerp(Vec3::new(0.45, 0.4, 0.33), random(0.0, 1.0));
            let tint = brick * random(0.5, 1.3);
            (random(7.0, 26.0), random(2.2, 3.4), tint * (1.0 - 0.85 * dusk))
        });
        let facades = facades.collect();
        let cars = (0..5).map(|_| {
            let away = random(0.0, 1.0) < 0.5;
            let across = if away { 1.8 } else { -1.8 };
            let hue = Vec3::new(random(0.1, 1.0), random(0.1, 1.0), random(0.1, 1.0));
            let color = Vec3::splat(random(0.02, 0.6)).lerp(0.4 * hue, 0.4) * (1.0 - 0.8 * dusk);
            Car { at: Vec2::new(across, random(9.0, 90.0)), color, away }
        });
        let mut cars: Vec<Car> = cars.collect();
        cars.sort_by(|a, b| a.at.y.total_cmp(&b.at.y));
        Self { dusk, sky, facades, cars, focal: random(0.8, 1.3), horizon: random(-0.06, 0.06), seed: seed as u32 }
    }

    /// Linear color at a point of the image, from its center, in units of its height.
    fn color(&self, at: Vec2) -> Vec3 {
        let ray = Vec2::new(at.x / self.focal, -(at.y - self.horizon) / self.focal);
        if let Some(color) = self.cars.iter().find_map(|car| self.car(car, ray)) {
            return color;
        }
        let ground = if ray.y < 0.0 { EYE / -ray.y } else { f32::INFINITY };
        let wall = if ray.x == 0.0 { f32::INFINITY } else { FACADE / ray.x.abs() };
        let depth = ground.min(wall);
        if depth > END {
            return self.sky_at(ray);
        }
        let surface = if ground < wall { self.road(ray.x * ground, ground) } else { self.facade(ray, wall) };
        let Some(surface) = surface else { return self.sky_at(ray) };
        surface.lerp(self.sky[1], 0.75 * (depth / END).powi(2))
    }

    fn sky_at(&self, ray: Vec2) -> Vec3 {
        let clear = self.sky[1].lerp(self.sky[0], (1.6 * ray.y).clamp(0.0, 1.0).sqrt());
        let cloud = self.fractal(Vec2::new(ray.x, 2.2 * ray.y) * 3.0);
        clear.lerp(Vec3::splat(0.9 - 0.8 * self.dusk), 0.7 * smooth(0.5, 0.75, cloud))
    }

    fn road(&self, across: f32, along: f32) -> Option<Vec3> {
        let light = 1.0 - 0.8 * self.dusk;
        let grain = 0.85 + 0.3 * self.fractal(Vec2::new(across, along) * 2.0);
        if across.abs() > ROAD {
            let joint = (along / 1.5).fract() < 0.04 || (across.abs() - ROAD) < 0.15;
            return Some(Vec3::splat(if joint { 0.2 } else { 0.36 } * light * grain));
        }
        let dash = across.abs() < 0.08 && (along / 6.0).fract() < 0.5;
        let edge = (across.abs() - ROAD + 0.3).abs() < 0.07;
        Some(if dash || edge { Vec3::splat(0.7 * light) } else { Vec3::new(0.1, 0.1, 0.11) * light * grain })
    }

    fn facade(&self, ray: Vec2, depth: f32) -> Option<Vec3> {
        let (house, within) = ((depth / 11.0) as usize, (depth / 11.0).fract() * 11.0);
        let index = (house % 14) + if ray.x < 0.0 { 14 } else { 0 };
        let (height, storey, color) = self.facades[index];
        let up = EYE + ray.y * depth;
        if up > height || within < 0.12 {
            return None;
        }
        let (column, row) = ((within / 2.0) as u32, (up / storey) as u32);
        let (u, v) = ((within / 2.0).fract(), (up / storey).fract());
        let is_window = (0.25..0.75).contains(&u) && (0.25..0.8).contains(&v);
        if !is_window {
            return Some(color * (0.8 + 0.3 * self.fractal(Vec2::new(depth, up))));
        }
        let lit = hash(self.seed ^ (index as u32 * 977 + column * 31 + row * 7)) < 0.15 + 0.35 * self.dusk;
        let glass = self.sky[1].lerp(self.sky[0], v) * 0.35;
        Some(if lit && self.dusk > 0.0 { Vec3::new(1.0, 0.72, 0.35) } else { glass })
    }

    /// A car with its windows, wheels and lights, if the ray hits it.
    fn car(&self, car: &Car, ray: Vec2) -> Option<Vec3> {
        let p = ray * car.at.y + Vec2::new(-car.at.x, EYE);
        if p.x.abs() > 0.95 || !(0.0..1.5).contains(&p.y) {
            return None;
        }
        let cabin = p.y > 0.85;
        if cabin && p.x.abs() > 0.95 - 0.45 * (p.y - 0.85) {
            return None;
        }
        if p.y < 0.25 {
            return ((0.6..0.9).contains(&p.x.abs())).then_some(Vec3::splat(0.015));
        }
        let headlight = (p.x.abs() - 0.72).hypot(p.y - 0.65) < 0.13;
        if headlight {
            let bright = 0.35 + 0.65 * self.dusk;
            return Some(if car.away { Vec3::new(0.9, 0.06, 0.03) } else { Vec3::new(1.0, 0.96, 0.85) } * bright);
        }
        let window = cabin && p.y < 1.38 && p.x.abs() < 0.8 - 0.45 * (p.y - 0.85);
        Some(if window { self.sky[1] * 0.25 } else { car.color * (0.6 + 0.4 * p.y) })
    }

    /// Fractal noise from 0 to 1.
    fn fractal(&self, p: Vec2) -> f32 {
        let octave = |i: i32| self.noise(p * f32::from(1_i16 << i) + 17.0 * i as f32) / f32::from(2_i16 << i);
        (0..5).map(octave).sum::<f32>() / 0.97
    }

    /// Value noise from 0 to 1.
    fn noise(&self, p: Vec2) -> f32 {
        let (cell, f) = (p.floor(), p - p.floor());
        let f = f * f * (3.0 - 2.0 * f);
        let value = |dx: f32, dy: f32| {
            let (x, y) = ((cell.x + dx) as i32 as u32, (cell.y + dy) as i32 as u32);
            hash(self.seed ^ x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b))
        };
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        mix(mix(value(0.0, 0.0), value(1.0, 0.0), f.x), mix(value(0.0, 1.0), value(1.0, 1.0), f.x), f.y)
    }
}

/// A number from 0 to 1 that follows from an integer.
fn hash(key: u32) -> f32 {
    Stream::new(u64::from(key), &[]).uniform() as f32
}

/// 0 below `low`, 1 above `high`, smooth between them.
fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
