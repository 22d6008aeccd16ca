//! A thin-lens camera.

use glam::{DVec3, Vec2, Vec3};

/// A thin-lens camera, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its position, in m.
    pub eye: DVec3,
    /// The point at the center of the image, in m; also in focus, unless `focus` is given.
    pub look_at: DVec3,
    /// Vertical field of view, in rad.
    pub fov: f64,
    /// Radius of the lens, in m; 0 for a pinhole.
    pub lens_radius: f64,
    /// Focus distance, in m; `None`: that of `look_at`.
    pub focus: Option<f64>,
    /// Number of blades of the aperture, whose corners lie on the rim of the lens; round if fewer
    /// than 3.
    pub blades: u32,
}

/// A camera prepared for an image size, in the render scene's coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    half: Vec2,
    radius: f32,
    focus: f32,
    blades: u32,
}

impl Camera {
    /// A pinhole camera.
    pub fn new(eye: DVec3, look_at: DVec3, fov: f64) -> Self {
        Self { eye, look_at, fov, lens_radius: 0.0, focus: None, blades: 0 }
    }

    /// Unit vectors to the right, up and into the image.
    pub fn axes(&self) -> [DVec3; 3] {
        let forward = (self.look_at - self.eye).try_normalize().unwrap_or(-DVec3::Z);
        // Looking straight up or down, the image's up direction is horizontal.
        let right = forward.cross(DVec3::Y);
        let right = if right.length_squared() > 1e-12 { right.normalize() } else { DVec3::X };
        [right, right.cross(forward), forward]
    }

    /// Prepares the camera for an image of a scene whose coordinates start at `origin`.
    pub fn lens(&self, origin: DVec3, size: [usize; 2]) -> Lens {
        let [right, up, forward] = self.axes();
        let height = (0.5 * self.fov).tan();
        let aspect = size[0].max(1) as f64 / size[1].max(1) as f64;
        let focus = self.focus.unwrap_or(self.eye.distance(self.look_at)).max(1e-9);
        Lens {
            eye: (self.eye - origin).as_vec3(),
            right: right.as_vec3(),
            up: up.as_vec3(),
            forward: forward.as_vec3(),
            half: Vec2::new((height * aspect) as f32, height as f32),
            radius: self.lens_radius.max(0.0) as f32,
            focus: focus as f32,
            blades: self.blades,
        }
    }
}

impl Lens {
    /// Position of the camera.
    pub fn eye(&self) -> Vec3 {
        self.eye
    }

    /// Unit vector along the camera's axis, into the image.
    pub fn forward(&self) -> Vec3 {
        self.forward
    }

    /// Radius of the lens, in m; 0 for a pinhole.
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Distance in focus along the camera's axis, in m.
    pub fn focus(&self) -> f32 {
        self.focus
    }

    /// Radius of the blur disc of a point at this depth, in units of the image at depth 1; 0 for a
    /// pinhole.
    pub fn blur_radius(&self, depth: f32) -> f32 {
        self.radius * (1.0 / depth - 1.0 / self.focus).abs()
    }

    /// Pinhole projection of a direction to the image, from (0, 0) at its top left to (1, 1);
    /// outside that range beyond its borders. `None` for directions beside or behind the camera.
    pub fn project_direction(&self, direction: Vec3) -> Option<Vec2> {
        let depth = direction.dot(self.forward);
        let offset = Vec2::new(direction.dot(self.right), direction.dot(self.up)) / (depth * self.half);
        let place = Vec2::new(0.5 + 0.5 * offset.x, 0.5 - 0.5 * offset.y);
        (depth > 0.0 && place.is_finite()).then_some(place)
    }

    /// Height of a pixel at depth 1, in an image of `rows` rows.
    pub fn pixel_height(&self, rows: f32) -> f32 {
        2.0 * self.half.y / rows
    }

    /// Homogeneous image coordinates of a point: position in the image times depth, and depth.
    pub fn homogeneous(&self, point: Vec3) -> Vec3 {
        let to = point - self.eye;
        let depth = to.dot(self.forward);
        let (x, y) = (to.dot(self.right) / self.half.x, to.dot(self.up) / self.half.y);
        Vec3::new(0.5 * (depth + x), 0.5 * (depth - y), depth)
    }

    /// Unit direction of the pinhole ray through a point of the image.
    pub fn pinhole_direction(&self, place: Vec2) -> Vec3 {
        self.unnormalized_direction(place).normalize()
    }

    /// The same direction, scaled to a depth of 1.
    pub fn unnormalized_direction(&self, place: Vec2) -> Vec3 {
        let offset = Vec2::new(2.0 * place.x - 1.0, 1.0 - 2.0 * place.y) * self.half;
        offset.x * self.right + offset.y * self.up + self.forward
    }

    /// The point of an aperture of radius 1 for a sample `u`, with uniform density.
    fn aperture_point(&self, u: Vec2) -> Vec2 {
        let corner = |turn: f32| {
            let (sin, cos) = (std::f32::consts::TAU * turn).sin_cos();
            Vec2::new(cos, sin)
        };
        let from_center = u.x.sqrt();
        if self.blades < 3 {
            return from_center * corner(u.y);
        }
        // A triangle between the center and two neighboring corners, the first of them on top.
        let blades = self.blades as f32;
        let triangle = (u.y * blades).floor().min(blades - 1.0);
        let along = u.y * blades - triangle;
        let [first, second] = [triangle, triangle + 1.0].map(|index| corner(0.25 + index / blades));
        from_center * first.lerp(second, along)
    }

    /// Origin and direction of the ray through a point of the image, from (0, 0) at its top left to
    /// (1, 1), and through the lens sample `u`.
    pub fn ray(&self, place: Vec2, u: Vec2) -> (Vec3, Vec3) {
        let direction = self.unnormalized_direction(place);
        if self.radius == 0.0 {
            return (self.eye, direction.normalize());
        }
        let on_lens = self.radius * self.aperture_point(u);
        let origin = self.eye + on_lens.x * self.right + on_lens.y * self.up;
        let sharp = self.eye + self.focus * direction;
        (origin, (sharp - origin).normalize_or(self.forward))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aperture_of_blades_is_a_regular_polygon_of_uniform_density() {
        for blades in [0, 3, 5, 6] {
            let lens = Camera { blades, ..Camera::new(DVec3::Z, DVec3::ZERO, 0.6) }.lens(DVec3::ZERO, [10, 10]);
            let samples = 256;
            let points: Vec<Vec2> = (0..samples * samples)
                .map(|k| (Vec2::new((k % samples) as f32, (k / samples) as f32) + 0.5) / samples as f32)
                .map(|u| lens.aperture_point(u))
                .collect();
            // Second moment of a uniform polygon of n corners at radius 1: (2 + cos 2π/n)/6.
            let expected = if blades == 0 { 0.5 } else { (2.0 + (std::f32::consts::TAU / blades as f32).cos()) / 6.0 };
            let moment = points.iter().map(|point| point.length_squared()).sum::<f32>() / points.len() as f32;
            assert!((moment - expected).abs() < 2e-3, "{blades} blades: {moment}, not {expected}");
            let mean = points.iter().sum::<Vec2>() / points.len() as f32;
            assert!(mean.length() < 1e-3, "{blades} blades: {mean}");
            let apothem = if blades == 0 { 1.0 } else { (std::f32::consts::PI / blades as f32).cos() };
            let lowest = points.iter().map(|point| -point.y).fold(0.0, f32::max);
            let expected = if blades % 2 == 1 { apothem } else { 1.0 };
            assert!((lowest - expected).abs() < 0.01, "{blades} blades reach {lowest} below the center");
        }
    }

    #[test]
    fn rays_through_a_lens_meet_at_the_focus() {
        let camera = Camera { lens_radius: 0.1, blades: 5, ..Camera::new(DVec3::Z * 2.0, DVec3::ZERO, 0.6) };
        let lens = camera.lens(DVec3::ZERO, [10, 10]);
        for u in [Vec2::ZERO, Vec2::new(0.9, 0.3), Vec2::new(0.4, 0.8)] {
            let (origin, direction) = lens.ray(Vec2::splat(0.5), u);
            let at = origin - direction * (origin.z / direction.z);
            assert!(at.length() < 1e-5, "{at}");
        }
    }
}
