//! Area lights and the sun: their sampling, and their radiance along a ray.

use glam::{Vec2, Vec3};

/// Minimum angular diameter of the sun, in rad; BSDF sampling would never hit a point.
const MIN_SUN_ANGLE: f32 = 2e-3;

/// A square, one-sided, diffuse area light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaLight {
    center: Vec3,
    /// Half-edge vectors of the square.
    half_edges: [Vec3; 2],
    normal: Vec3,
    radiance: Vec3,
}

/// A distant disc light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunDisc {
    towards: Vec3,
    across: [Vec3; 2],
    /// 1 − cos of the half angle, which single precision would lose in the cosine.
    one_minus_cos: f32,
    radiance: Vec3,
}

/// A sampled point of a light.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Towards it, unit length.
    pub direction: Vec3,
    /// Distance, in m; infinite for the sun and the environment.
    pub distance: f32,
    /// Emitted radiance.
    pub radiance: Vec3,
    /// Probability density per solid angle, in 1/sr.
    pub pdf: f32,
}

/// Two unit vectors that form a right-handed frame with `z` (duff2017).
pub fn orthonormal_basis(z: Vec3) -> [Vec3; 2] {
    let sign = 1.0_f32.copysign(z.z);
    let a = -1.0 / (sign + z.z);
    let b = z.x * z.y * a;
    [Vec3::new(1.0 + sign * z.x * z.x * a, sign * b, -sign * z.x), Vec3::new(b, sign + z.y * z.y * a, -z.y)]
}

impl AreaLight {
    /// A square of side `size` about `center` that faces `look_at`; `None` without area, direction
    /// or emission.
    pub fn new(center: Vec3, look_at: Vec3, size: f32, radiance: Vec3) -> Option<Self> {
        let normal = (look_at - center).try_normalize()?;
        let emits = radiance.is_finite() && radiance.max_element() > 0.0 && center.is_finite();
        let has_area = size > 0.0 && size.is_finite();
        let half_edges = orthonormal_basis(normal).map(|side| 0.5 * size * side);
        (emits && has_area).then_some(Self { center, half_edges, normal, radiance: radiance.max(Vec3::ZERO) })
    }

    fn area(&self) -> f32 {
        4.0 * self.half_edges[0].length() * self.half_edges[1].length()
    }

    /// Emitted radiance.
    pub fn radiance(&self) -> Vec3 {
        self.radiance
    }

    /// Approximate solid angle from a point, in sr.
    pub fn solid_angle(&self, from: Vec3) -> f32 {
        self.area() / (self.center - from).length_squared().max(self.area())
    }

    /// Distance along a ray to its emitting side.
    pub fn hit(&self, origin: Vec3, direction: Vec3) -> Option<f32> {
        let facing = -direction.dot(self.normal);
        if facing <= 0.0 {
            return None;
        }
        let distance = (origin - self.center).dot(self.normal) / facing;
        let local = origin + distance * direction - self.center;
        let inside = |side: Vec3| local.dot(side).abs() <= side.length_squared();
        (distance > 0.0 && self.half_edges.into_iter().all(inside)).then_some(distance)
    }

    /// The pdf of [`AreaLight::sample`] for a direction that hits it.
    pub fn pdf(&self, direction: Vec3, distance: f32) -> f32 {
        distance * distance / (-direction.dot(self.normal) * self.area()).max(1e-20)
    }

    /// Direction to its center from a point, and its irradiance on a facing surface there, in the
    /// far-field approximation.
    pub fn towards(&self, from: Vec3) -> (Vec3, Vec3) {
        let to_center = self.center - from;
        let direction = to_center.normalize_or_zero();
        let facing = (-direction.dot(self.normal)).max(0.0);
        (direction, self.radiance * (self.area() * facing / to_center.length_squared().max(self.area())))
    }

    /// Samples a point as seen from `from`; `None` from behind.
    pub fn sample(&self, from: Vec3, u: Vec2) -> Option<LightSample> {
        let offset = 2.0 * u - 1.0;
        let towards = self.center + offset.x * self.half_edges[0] + offset.y * self.half_edges[1] - from;
        let distance = towards.length();
        let direction = towards.try_normalize()?;
        let pdf = self.pdf(direction, distance);
        let sample = LightSample { direction, distance, radiance: self.radiance, pdf };
        (direction.dot(self.normal) < 0.0).then_some(sample)
    }
}

impl SunDisc {
    /// A disc of angular diameter `angle`, in rad, with this irradiance on a facing surface; `None`
    /// without emission or direction.
    pub fn new(towards: Vec3, angle: f32, irradiance: Vec3) -> Option<Self> {
        let towards = towards.try_normalize()?;
        let emits = irradiance.is_finite() && irradiance.max_element() > 0.0 && angle.is_finite();
        let half = 0.5 * angle.clamp(MIN_SUN_ANGLE, std::f32::consts::PI);
        let radiance = irradiance.max(Vec3::ZERO) / (std::f32::consts::PI * half.sin().powi(2));
        let one_minus_cos = 2.0 * (0.5 * half).sin().powi(2);
        emits.then_some(Self { towards, across: orthonormal_basis(towards), one_minus_cos, radiance })
    }

    /// Its solid angle, in sr.
    pub fn solid_angle(&self) -> f32 {
        std::f32::consts::TAU * self.one_minus_cos
    }

    /// Radiance from a direction.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        // |d − s|² = 2 (1 − cos): exact for small angles.
        let inside = 0.5 * (direction - self.towards).length_squared() <= self.one_minus_cos;
        if inside { self.radiance } else { Vec3::ZERO }
    }

    /// Direction to its center, and its irradiance on a facing surface.
    pub fn towards(&self) -> (Vec3, Vec3) {
        (self.towards, self.radiance / self.pdf())
    }

    /// The pdf of [`SunDisc::sample`] on the disc.
    pub fn pdf(&self) -> f32 {
        1.0 / (std::f32::consts::TAU * self.one_minus_cos)
    }

    /// Samples a point of the disc.
    pub fn sample(&self, u: Vec2) -> LightSample {
        let below = u.x * self.one_minus_cos;
        let ring = (below * (2.0 - below)).max(0.0).sqrt();
        let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
        let [x, y] = self.across;
        let direction = (ring * cos * x + ring * sin * y + (1.0 - below) * self.towards).normalize_or(self.towards);
        LightSample { direction, distance: f32::INFINITY, radiance: self.radiance, pdf: self.pdf() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_without_area_direction_or_emission_are_none() {
        let light = |size, look_at: Vec3, color| AreaLight::new(Vec3::Y, look_at, size, Vec3::splat(color));
        assert!(light(0.0, Vec3::ZERO, 1.0).is_none() && light(f32::NAN, Vec3::ZERO, 1.0).is_none());
        assert!(light(1.0, Vec3::Y, 1.0).is_none() && light(1.0, Vec3::ZERO, 0.0).is_none());
        assert!(light(1.0, Vec3::ZERO, 1.0).is_some());
        assert!(SunDisc::new(Vec3::ZERO, 0.01, Vec3::ONE).is_none() && SunDisc::new(Vec3::Y, 0.0, Vec3::ONE).is_some());
    }

    #[test]
    fn the_suns_radiance_integrates_to_its_irradiance() {
        for angle in [0.009, 0.3] {
            let towards = Vec3::new(0.3, 0.8, -0.4).normalize();
            let sun = SunDisc::new(towards, angle, Vec3::ONE).unwrap();
            let n = 64;
            let mean: f32 = (0..n * n)
                .map(|i| sun.sample(Vec2::new((i / n) as f32 + 0.5, (i % n) as f32 + 0.5) / n as f32))
                .map(|s| sun.radiance(s.direction).x * s.direction.dot(towards) / s.pdf)
                .sum::<f32>()
                / (n * n) as f32;
            assert!((mean - 1.0).abs() < 0.01, "{angle}: irradiance {mean}");
        }
    }
}
