//! Ground truth of an image of drops, per pixel, for training and testing vision algorithms.
//!
//! For a pinhole camera and the frame's time (no depth of field, no motion blur):
//!
//! - **coverage**: the fraction of the pixel's area in which a drop is the first object that is not
//!   clear glass;
//! - **drop**: the id of that drop along the ray through the pixel's center, 0 without one;
//! - **depth**: to the first surface of any kind, and to the first surface in the clean view that
//!   is not clear;
//! - **flow**: for a pixel whose center shows a drop, the displacement to the point of the clean
//!   view where the refracted ray ends:
//!
//! ```text
//! image(x) ≈ clean(x + flow(x))
//! ```
//!
//! in pixels, x to the right and y down, between pixel centers. The ray is refracted at each
//! interface and never reflected (see [`crate::refracted_ray`]), and ends at a point or in a
//! direction; the flow leads to the pixel where the clean view shows it. That pixel is found by
//! projection and, where glass bodies refract the clean view too, by fixed-point iteration.
//!
//! The clean view has neither drops nor water films and streaks: see
//! [`crate::scene_from_frame::clean_render_scene`].

mod drop_coverage;
mod files;

use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens};

use crate::backdrop_view::target;
use crate::refracted_ray::{RayEnd, RefractedRay, StopAt, pinhole_ray, trace_refracted};
use crate::render_scene::RenderScene;
use drop_coverage::drop_coverage;

pub use files::{GroundTruthFiles, flow_colors, write_ground_truth, write_sample_truth};

/// Rays across a pixel in each direction where glass bodies refract the view: first, and where
/// those disagree.
const FIRST_GRID: usize = 4;
const FINE_GRID: usize = 16;

/// Maximum number of fixed-point iterations; each reduces the error to a fraction where glass
/// refracts the view mildly.
const MAX_ITERATIONS: usize = 16;

/// A pixel of the clean view is found when it shows a point this close to the target, in pixels, …
const PIXEL_TOLERANCE: f32 = 0.01;

/// … and no farther from it than this fraction of its distance; otherwise it is hidden.
const DISTANCE_TOLERANCE: f32 = 1e-3;

/// Whether a flow is valid, and if not, why. The numbers are those in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FlowStatus {
    /// No drop: no displacement.
    NoDrop = 0,
    /// The clean view shows at x + flow what the drop shows at x.
    Valid = 1,
    /// The ray is totally reflected inside the drop.
    TotalReflection = 2,
    /// The target lies outside the image or behind the camera.
    OutsideFrame = 3,
    /// The target is hidden behind another object in the clean view.
    Hidden = 4,
    /// Too many interfaces, or the iteration did not converge.
    Lost = 5,
    /// The liquid is not clear.
    Opaque = 6,
}

impl FlowStatus {
    /// The status of a number in a file.
    pub fn of(code: u32) -> Option<Self> {
        let all = [
            Self::NoDrop,
            Self::Valid,
            Self::TotalReflection,
            Self::OutsideFrame,
            Self::Hidden,
            Self::Lost,
            Self::Opaque,
        ];
        all.into_iter().find(|&status| status as u32 == code)
    }
}

/// Ground truth of one image; rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroundTruth {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Fraction of the pixel that shows a drop.
    pub coverage: Vec<f32>,
    /// Id of the drop at the pixel's center; 0 without one.
    pub drop: Vec<u32>,
    /// Depth of the first surface, drops and sheets included, along the camera's axis, in m;
    /// infinite without one.
    pub z: Vec<f32>,
    /// Distance to the same surface along the ray, in m.
    pub distance: Vec<f32>,
    /// Depth of the first surface in the clean view that is not clear, along the camera's axis, in
    /// m; infinite where the environment is seen.
    pub clean_z: Vec<f32>,
    /// Straight distance to the same surface, in m.
    pub clean_distance: Vec<f32>,
    /// Displacement from the pixel to its target in the clean view, in pixels; zero where it is not
    /// valid.
    pub flow: Vec<Vec2>,
    /// Validity of the flow.
    pub status: Vec<FlowStatus>,
}

struct PixelTruth {
    coverage: f32,
    drop: u32,
    depth: [f32; 2],
    clean_depth: [f32; 2],
    flow: Vec2,
    status: FlowStatus,
}

struct Views<'a> {
    scene: &'a RenderScene,
    lens: Lens,
    inside: Option<u32>,
    clean: &'a RenderScene,
    clean_lens: Lens,
    /// Offset from the scene's to the clean scene's coordinates.
    shift: DVec3,
    size: Vec2,
}

/// Ground truth of an image of `scene` with `size` columns and rows; `clean` is its clean view.
pub fn ground_truth(scene: &RenderScene, clean: &RenderScene, camera: &Camera, size: [usize; 2]) -> GroundTruth {
    let [width, height] = size;
    let lens = camera.lens(scene.origin(), size);
    let views = Views {
        scene,
        lens,
        inside: scene.drop_around(lens.eye()),
        clean,
        clean_lens: camera.lens(clean.origin(), size),
        shift: scene.origin() - clean.origin(),
        size: Vec2::new(width as f32, height as f32),
    };
    let coverage = if views.inside.is_some() { None } else { drop_coverage(scene, &lens, size) };
    let pixel = |i: usize| match coverage.as_ref().map(|coverage| coverage[i]) {
        Some(0.0) => views.pixel_without_drop(i % width, i / width),
        covered => views.pixel(i % width, i / width, covered),
    };
    let pixels: Vec<PixelTruth> = (0..width * height).into_par_iter().map(pixel).collect();
    GroundTruth {
        width,
        height,
        coverage: pixels.iter().map(|p| p.coverage).collect(),
        drop: pixels.iter().map(|p| p.drop).collect(),
        z: pixels.iter().map(|p| p.depth[0]).collect(),
        distance: pixels.iter().map(|p| p.depth[1]).collect(),
        clean_z: pixels.iter().map(|p| p.clean_depth[0]).collect(),
        clean_distance: pixels.iter().map(|p| p.clean_depth[1]).collect(),
        flow: pixels.iter().map(|p| p.flow).collect(),
        status: pixels.iter().map(|p| p.status).collect(),
    }
}

impl Views<'_> {
    /// A pixel without drops, where both views show the same.
    fn pixel_without_drop(&self, x: usize, y: usize) -> PixelTruth {
        let middle = Vec2::new(x as f32, y as f32) + 0.5;
        let clean = self.trace_clean(middle);
        let axis = self.clean_lens.pinhole_direction(middle / self.size).dot(self.clean_lens.forward());
        PixelTruth {
            coverage: 0.0,
            drop: 0,
            depth: [clean.first_distance * axis, clean.first_distance],
            clean_depth: self.clean_depth(&clean),
            flow: Vec2::ZERO,
            status: FlowStatus::NoDrop,
        }
    }

    /// Depth along the camera's axis and distance of the surface that a ray of the clean view ends
    /// on.
    fn clean_depth(&self, clean: &RefractedRay) -> [f32; 2] {
        let RayEnd::Surface(point) = clean.end else { return [f32::INFINITY; 2] };
        let to = point - self.clean_lens.eye();
        [to.dot(self.clean_lens.forward()), to.length()]
    }

    /// Any pixel; `coverage` if it is known.
    fn pixel(&self, x: usize, y: usize, coverage: Option<f32>) -> PixelTruth {
        let corner = Vec2::new(x as f32, y as f32);
        let middle = corner + 0.5;
        let direction = self.lens.pinhole_direction(middle / self.size);
        let seen = trace_refracted(self.scene, pinhole_ray(self.lens.eye(), direction), self.inside, StopAt::End);
        let axis = direction.dot(self.lens.forward());
        let clean_depth = self.clean_depth(&self.trace_clean(middle));
        let (flow, status) = match seen.drop {
            None => (Vec2::ZERO, FlowStatus::NoDrop),
            Some(_) => match self.locate_in_clean_view(&seen) {
                Ok(place) => (place - middle, FlowStatus::Valid),
                Err(status) => (Vec2::ZERO, status),
            },
        };
        PixelTruth {
            coverage: coverage.unwrap_or_else(|| self.coverage(corner)),
            drop: seen.drop.unwrap_or(0),
            depth: [seen.first_distance * axis, seen.first_distance],
            clean_depth,
            flow,
            status,
        }
    }

    /// Fraction of rays that hit a drop, on a grid that is refined where they disagree.
    fn coverage(&self, corner: Vec2) -> f32 {
        let count = |grid: usize| {
            let covered = |cell: &usize| {
                let place = corner + (Vec2::new((cell % grid) as f32, (cell / grid) as f32) + 0.5) / grid as f32;
                let direction = self.lens.pinhole_direction(place / self.size);
                let ray = pinhole_ray(self.lens.eye(), direction);
                trace_refracted(self.scene, ray, self.inside, StopAt::Drop).drop.is_some()
            };
            (0..grid * grid).filter(covered).count() as f32 / (grid * grid) as f32
        };
        let first = count(FIRST_GRID);
        if first == 0.0 || first == 1.0 { first } else { count(FINE_GRID) }
    }

    fn trace_clean(&self, place: Vec2) -> RefractedRay {
        let direction = self.clean_lens.pinhole_direction(place / self.size);
        trace_refracted(self.clean, pinhole_ray(self.clean_lens.eye(), direction), None, StopAt::End)
    }

    /// The point of the clean view that shows what a refracted ray ends on, in pixels from its top
    /// left corner.
    fn locate_in_clean_view(&self, seen: &RefractedRay) -> Result<Vec2, FlowStatus> {
        let shifted = |point: Vec3| (point.as_dvec3() + self.shift).as_vec3();
        let target_end = match seen.end {
            RayEnd::Surface(point) => RayEnd::Surface(shifted(point)),
            RayEnd::Environment { origin, direction } => RayEnd::Environment { origin: shifted(origin), direction },
            RayEnd::TotalReflection => return Err(FlowStatus::TotalReflection),
            RayEnd::OpaqueLiquid => return Err(FlowStatus::Opaque),
            RayEnd::Lost => return Err(FlowStatus::Lost),
        };
        let project = |end: RayEnd| {
            let direction = match end {
                RayEnd::Surface(point) => point - self.clean_lens.eye(),
                RayEnd::Environment { origin, direction } => match &self.clean.backdrop {
                    Some(backdrop) => target(&self.clean_lens, backdrop.distance(), origin, direction)?,
                    None => direction,
                },
                _ => return None,
            };
            Some(self.clean_lens.project_direction(direction)? * self.size)
        };
        let target = project(target_end).ok_or(FlowStatus::OutsideFrame)?;
        let mut place = target;
        for _ in 0..MAX_ITERATIONS {
            let found = self.trace_clean(place).end;
            // An object of another kind, or none: the target is hidden.
            let error = match (target_end, found) {
                (RayEnd::Surface(_), RayEnd::Surface(_)) | (RayEnd::Environment { .. }, RayEnd::Environment { .. }) => {
                    target - project(found).ok_or(FlowStatus::Hidden)?
                }
                _ => return Err(self.missing(place)),
            };
            if error.length() < PIXEL_TOLERANCE {
                return self.check(target_end, found, place);
            }
            place += error;
        }
        Err(FlowStatus::Lost)
    }

    fn check(&self, target_end: RayEnd, found: RayEnd, place: Vec2) -> Result<Vec2, FlowStatus> {
        if !self.in_frame(place) {
            return Err(FlowStatus::OutsideFrame);
        }
        if let (RayEnd::Surface(target_end), RayEnd::Surface(found)) = (target_end, found)
            && (target_end - found).length() > DISTANCE_TOLERANCE * (target_end - self.clean_lens.eye()).length()
        {
            return Err(FlowStatus::Hidden);
        }
        Ok(place)
    }

    fn in_frame(&self, place: Vec2) -> bool {
        place.cmpge(Vec2::ZERO).all() && place.cmple(self.size).all()
    }

    fn missing(&self, place: Vec2) -> FlowStatus {
        if self.in_frame(place) { FlowStatus::Hidden } else { FlowStatus::OutsideFrame }
    }
}
