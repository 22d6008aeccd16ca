//! The backdrop as the camera of an image sees it, directly and through drops.
//!
//! An undeviated camera ray shows the photograph's own pixel. A ray that leaves the scene deviated,
//! from **o** along **d**, shows the photograph at the projection of **d** to the image, or, for a
//! backdrop at distance D, at the projection of the point where the ray crosses the plane at that
//! depth:
//!
//! ```text
//! p = o + t d,     (p − e)·f = D
//! ```
//!
//! with the camera at **e** and its axis **f**. Rays that point backwards do not reach it: they
//! show the environment.
//!
//! Clean glass is transparent to the backdrop and adds nothing to it: a pane's reflections and its
//! losses are part of the photograph.

use glam::{Vec2, Vec3};
use sessile_appearance::{Backdrop, Lens, Ray};

use crate::refracted_ray::{RayEnd, RefractedRay, StopAt, trace_refracted};
use crate::render_scene::RenderScene;

/// Rays that are deviated by less, in rad, count as undeviated; a plate of parallel faces leaves
/// only rounding errors.
const UNDEVIATED: f32 = 1e-4;

/// A backdrop, seen by a camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackdropView<'a> {
    backdrop: &'a Backdrop,
    lens: Lens,
    size: [usize; 2],
}

impl<'a> BackdropView<'a> {
    /// The view of a scene's backdrop, if it has one.
    pub fn new(scene: &'a RenderScene, lens: Lens, size: [usize; 2]) -> Option<Self> {
        scene.backdrop.as_deref().map(|backdrop| Self { backdrop, lens, size })
    }

    /// The point of the image at which a ray that leaves the scene shows the backdrop, from (0, 0)
    /// at its top left to (1, 1); `None` if it does not reach it.
    pub fn place(&self, origin: Vec3, direction: Vec3) -> Option<Vec2> {
        let target = self.target(origin, direction)?;
        self.lens.project_direction(target)
    }

    /// The direction from the camera to what a ray that leaves the scene shows.
    fn target(&self, origin: Vec3, direction: Vec3) -> Option<Vec3> {
        target(&self.lens, self.backdrop.distance(), origin, direction)
    }

    /// Radiance along a ray that leaves the scene, averaged over about `footprint` pixels; `None`
    /// if it does not reach the backdrop.
    pub fn radiance(&self, origin: Vec3, direction: Vec3, footprint: f32) -> Option<Vec3> {
        self.place(origin, direction).map(|place| self.backdrop.radiance(place, footprint))
    }

    /// Pixels of the image per radian at its center.
    pub fn pixels_per_radian(&self) -> f32 {
        1.0 / self.lens.pixel_height(self.size[1] as f32)
    }

    /// Radiance of an undeviated pixel.
    pub fn pixel(&self, x: usize, y: usize) -> Vec3 {
        if self.is_exact() {
            return self.backdrop.pixel(x, y);
        }
        let size = Vec2::new(self.size[0] as f32, self.size[1] as f32);
        self.backdrop.radiance((Vec2::new(x as f32, y as f32) + 0.5) / size, 1.0)
    }

    /// sRGB bytes of an undeviated pixel.
    pub fn bytes(&self, x: usize, y: usize) -> [u8; 3] {
        if self.is_exact() {
            return self.backdrop.bytes(x, y);
        }
        (self.pixel(x, y) / self.backdrop.white()).to_array().map(sessile_appearance::srgb_from_linear)
    }

    /// Whether the backdrop was scaled to an image of this size.
    fn is_exact(&self) -> bool {
        self.backdrop.size() == self.size
    }
}

/// The direction from the camera to what a ray that leaves the scene shows of a backdrop at
/// `distance`, or infinitely far.
pub(crate) fn target(lens: &Lens, distance: Option<f32>, origin: Vec3, direction: Vec3) -> Option<Vec3> {
    let along = direction.dot(lens.forward());
    if along <= 0.0 {
        return None;
    }
    let Some(distance) = distance else { return Some(direction) };
    let from = origin - lens.eye();
    let left = distance - from.dot(lens.forward());
    // Behind the backdrop's plane a ray shows what lies in its direction.
    Some(if left > 0.0 { from + (left / along) * direction } else { direction })
}

/// What a camera ray shows of the backdrop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CameraRay {
    /// Whether it passes through a drop.
    pub through_drop: bool,
    /// Whether it reaches the backdrop undeviated, through clean glass at most.
    pub undeviated: bool,
}

impl CameraRay {
    /// Traces a camera ray, which starts inside drop `inside` if given.
    pub fn trace(scene: &RenderScene, ray: Ray, inside: Option<u32>) -> Self {
        let RefractedRay { drop, film, end, .. } = trace_refracted(scene, ray, inside, StopAt::Drop);
        let straight = |d: Vec3| (d - ray.direction).length_squared() < UNDEVIATED * UNDEVIATED;
        let undeviated =
            drop.is_none() && !film && matches!(end, RayEnd::Environment { direction, .. } if straight(direction));
        Self { through_drop: drop.is_some(), undeviated }
    }
}
