//! Lamps and the sun: what shines besides the environment.

use glam::{Vec2, Vec3};

/// The sun's disc is at least this wide, in rad; a point would never be seen in a mirror.
const SMALLEST_SUN: f32 = 2e-3;

/// A square lamp that shines to one side, evenly in all directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaLight {
    center: Vec3,
    /// Half of the square along its two sides.
    sides: [Vec3; 2],
    normal: Vec3,
    radiance: Vec3,
}

/// A distant disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunDisc {
    towards: Vec3,
    across: [Vec3; 2],
    /// 1 − cos of the disc's half angle, which single precision would lose in the cosine.
    spread: f32,
    radiance: Vec3,
}

/// A point of a light as seen from somewhere.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Towards it, unit length.
    pub direction: Vec3,
    /// How far it is; infinite for the sun and the environment.
    pub distance: f32,
    /// What comes from there if nothing is in the way.
    pub radiance: Vec3,
    /// Density per solid angle.
    pub density: f32,
}

/// Two unit vectors that make a right-handed frame with `z` (duff2017).
pub fn orthonormal_basis(z: Vec3) -> [Vec3; 2] {
    let sign = 1.0_f32.copysign(z.z);
    let a = -1.0 / (sign + z.z);
    let b = z.x * z.y * a;
    [Vec3::new(1.0 + sign * z.x * z.x * a, sign * b, -sign * z.x), Vec3::new(b, sign + z.y * z.y * a, -z.y)]
}

impl AreaLight {
    /// A square of side `size` about `center` that faces `look_at`; `None` if it has no area, no direction or no light.
    pub fn new(center: Vec3, look_at: Vec3, size: f32, radiance: Vec3) -> Option<Self> {
        let normal = (look_at - center).try_normalize()?;
        let shines = radiance.is_finite() && radiance.max_element() > 0.0 && center.is_finite();
        let sized = size > 0.0 && size.is_finite();
        let sides = orthonormal_basis(normal).map(|side| 0.5 * size * side);
        (shines && sized).then_some(Self { center, sides, normal, radiance: radiance.max(Vec3::ZERO) })
    }

    fn area(&self) -> f32 {
        4.0 * self.sides[0].length() * self.sides[1].length()
    }

    /// What it sends.
    pub fn radiance(&self) -> Vec3 {
        self.radiance
    }

    /// The part of the sphere about a point that it takes, in sr, taken as far away.
    pub fn solid_angle(&self, from: Vec3) -> f32 {
        self.area() / (self.center - from).length_squared().max(self.area())
    }

    /// Distance along a ray to its shining side.
    pub fn hit(&self, origin: Vec3, direction: Vec3) -> Option<f32> {
        let facing = -direction.dot(self.normal);
        if facing <= 0.0 {
            return None;
        }
        let distance = (origin - self.center).dot(self.normal) / facing;
        let local = origin + distance * direction - self.center;
        let inside = |side: Vec3| local.dot(side).abs() <= side.length_squared();
        (distance > 0.0 && self.sides.into_iter().all(inside)).then_some(distance)
    }

    /// The density with which [`AreaLight::sample`] draws a direction that hits it.
    pub fn density(&self, direction: Vec3, distance: f32) -> f32 {
        distance * distance / (-direction.dot(self.normal) * self.area()).max(1e-20)
    }

    /// Towards its middle from a point, and how strongly it lights a surface there that faces it, as if it were far.
    pub fn towards(&self, from: Vec3) -> (Vec3, Vec3) {
        let way = self.center - from;
        let direction = way.normalize_or_zero();
        let facing = (-direction.dot(self.normal)).max(0.0);
        (direction, self.radiance * (self.area() * facing / way.length_squared().max(self.area())))
    }

    /// A point of it as seen from `from`; `None` from behind.
    pub fn sample(&self, from: Vec3, u: Vec2) -> Option<LightSample> {
        let offset = 2.0 * u - 1.0;
        let towards = self.center + offset.x * self.sides[0] + offset.y * self.sides[1] - from;
        let distance = towards.length();
        let direction = towards.try_normalize()?;
        let density = self.density(direction, distance);
        let sample = LightSample { direction, distance, radiance: self.radiance, density };
        (direction.dot(self.normal) < 0.0).then_some(sample)
    }
}

impl SunDisc {
    /// A disc of angular diameter `angle`, in rad, that lights a facing surface to `irradiance`; `None` without light or direction.
    pub fn new(towards: Vec3, angle: f32, irradiance: Vec3) -> Option<Self> {
        let towards = towards.try_normalize()?;
        let shines = irradiance.is_finite() && irradiance.max_element() > 0.0 && angle.is_finite();
        let half = 0.5 * angle.clamp(SMALLEST_SUN, std::f32::consts::PI);
        let radiance = irradiance.max(Vec3::ZERO) / (std::f32::consts::PI * half.sin().powi(2));
        let spread = 2.0 * (0.5 * half).sin().powi(2);
        shines.then_some(Self { towards, across: orthonormal_basis(towards), spread, radiance })
    }

    /// The part of the sphere that it takes, in sr.
    pub fn solid_angle(&self) -> f32 {
        std::f32::consts::TAU * self.spread
    }

    /// What comes from a direction.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        // |d − s|² = 2 (1 − cos): exact for small angles.
        let inside = 0.5 * (direction - self.towards).length_squared() <= self.spread;
        if inside { self.radiance } else { Vec3::ZERO }
    }

    /// Towards its middle, and how strongly it lights a surface that faces it.
    pub fn towards(&self) -> (Vec3, Vec3) {
        (self.towards, self.radiance / self.density())
    }

    /// The density of [`SunDisc::sample`] on the disc.
    pub fn density(&self) -> f32 {
        1.0 / (std::f32::consts::TAU * self.spread)
    }

    /// A point of the disc.
    pub fn sample(&self, u: Vec2) -> LightSample {
        let below = u.x * self.spread;
        let ring = (below * (2.0 - below)).max(0.0).sqrt();
        let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
        let [x, y] = self.across;
        let direction = (ring * cos * x + ring * sin * y + (1.0 - below) * self.towards).normalize_or(self.towards);
        LightSample { direction, distance: f32::INFINITY, radiance: self.radiance, density: self.density() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_without_area_direction_or_light_are_none() {
        let lamp = |size, look_at: Vec3, color| AreaLight::new(Vec3::Y, look_at, size, Vec3::splat(color));
        assert!(lamp(0.0, Vec3::ZERO, 1.0).is_none() && lamp(f32::NAN, Vec3::ZERO, 1.0).is_none());
        assert!(lamp(1.0, Vec3::Y, 1.0).is_none() && lamp(1.0, Vec3::ZERO, 0.0).is_none());
        assert!(lamp(1.0, Vec3::ZERO, 1.0).is_some());
        assert!(SunDisc::new(Vec3::ZERO, 0.01, Vec3::ONE).is_none() && SunDisc::new(Vec3::Y, 0.0, Vec3::ONE).is_some());
    }

    #[test]
    fn the_sun_lights_a_facing_surface_to_its_irradiance() {
        for angle in [0.009, 0.3] {
            let towards = Vec3::new(0.3, 0.8, -0.4).normalize();
            let sun = SunDisc::new(towards, angle, Vec3::ONE).unwrap();
            let n = 64;
            let mean: f32 = (0..n * n)
                .map(|i| sun.sample(Vec2::new((i / n) as f32 + 0.5, (i % n) as f32 + 0.5) / n as f32))
                .map(|s| sun.radiance(s.direction).x * s.direction.dot(towards) / s.density)
                .sum::<f32>()
                / (n * n) as f32;
            assert!((mean - 1.0).abs() < 0.01, "{angle}: irradiance {mean}");
        }
    }
}
