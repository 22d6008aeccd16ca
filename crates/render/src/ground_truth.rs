//! FramesToRender a picture of drops hides, pixel by pixel, for those who teach machines to see through rain.
//!
//! For a camera without a lens (everything sharp) and the moment of the frame (nothing blurred by motion), per pixel:
//!
//! - **coverage**: the share of the pixel's area in which a drop is the first thing seen that is not clear glass;
//! - **drop**: the id of that drop on the line of sight through the pixel's middle, 0 without one;
//! - **depth**: to the first surface of any kind, and to the first thing that is not clear once the liquid is gone;
//! - **flow**: for a pixel whose middle shows a drop, where in the clean view the bent line of sight lands:
//!
//! ```text
//! picture(x) ≈ clean(x + flow(x))
//! ```
//!
//! in pixels, x to the right and y down, both between pixels' middles. The line of sight is bent at each face and never mirrored
//! (see [`crate::line_of_sight`]), and ends in a point or a direction; the flow leads to the place where the clean view shows it,
//! found by projection, and where glass bodies bend the clean view too, by correcting the place with what is seen there.
//!
//! The clean view is one without drops and without water films and streaks: see [`crate::scene_from_frame::clean_render_scene`].

mod files;

use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens, NO_TRIANGLE};

use crate::refracted_ray::{RayEnd, RefractedRay, StopAt, trace_refracted};
use crate::render_scene::RenderScene;

pub use files::{GroundTruthFiles, flow_colors, write_ground_truth};

/// Lines of sight across a pixel, in each direction: first, and where those do not agree.
const FIRST_GRID: usize = 4;
const FINE_GRID: usize = 16;

/// Corrections of a place in the clean view; each cuts the rest to a fraction where glass bends the view mildly.
const MOST_CORRECTIONS: usize = 16;

/// A place in the clean view is found when what is seen there is this near to what was looked for, in pixels …
const NEAR_ENOUGH: f32 = 0.01;

/// … and no farther from it than this part of its distance; otherwise something stands before it.
const SAME_PLACE: f32 = 1e-3;

/// Whether a flow holds, and if not, why. The numbers are those in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FlowStatus {
    /// No drop: nothing is displaced.
    NoDrop = 0,
    /// The clean view shows at x + flow what the drop shows at x.
    Valid = 1,
    /// The line of sight meets a face of the drop beyond the critical angle.
    TotalReflection = 2,
    /// It lands beside, above or below the picture, or behind the eye.
    OutsideFrame = 3,
    /// It lands on something that the clean view does not show: another thing stands before it.
    Hidden = 4,
    /// It meets too many faces, or its place in the clean view is not found.
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

/// Substrate truth of one picture; rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroundTruth {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Share of the pixel that shows a drop.
    pub coverage: Vec<f32>,
    /// Id of the drop in the pixel's middle; 0 without one.
    pub drop: Vec<u32>,
    /// To the first surface, drops and panes included, along the camera's axis, in m; infinite where there is none.
    pub z: Vec<f32>,
    /// To the same surface, along the line of sight, in m.
    pub distance: Vec<f32>,
    /// To the first thing in the clean view that is not clear, along the camera's axis, in m; infinite where the sky is seen.
    pub clean_z: Vec<f32>,
    /// To the same thing, straight from the eye, in m.
    pub clean_distance: Vec<f32>,
    /// Displacement of what the pixel's middle shows to its place in the clean view, in pixels; zero where it does not hold.
    pub flow: Vec<Vec2>,
    /// Whether it holds.
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
    /// Takes a point of the stage to the clean stage.
    shift: DVec3,
    size: Vec2,
}

/// Substrate truth of a picture of `stage`, of which `clean` is the clean view, with `size` columns and rows.
pub fn ground_truth(scene: &RenderScene, clean: &RenderScene, camera: &Camera, size: [usize; 2]) -> GroundTruth {
    let [width, height] = size;
    let lens = camera.lens(scene.origin(), size);
    let views = Views {
        scene,
        lens,
        inside: scene.enclosing_drop(lens.eye(), Vec3::Y, 0.5, NO_TRIANGLE),
        clean,
        clean_lens: camera.lens(clean.origin(), size),
        shift: scene.origin() - clean.origin(),
        size: Vec2::new(width as f32, height as f32),
    };
    let pixels: Vec<PixelTruth> =
        (0..width * height).into_par_iter().map(|i| views.pixel(i % width, i / width)).collect();
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
    fn pixel(&self, x: usize, y: usize) -> PixelTruth {
        let corner = Vec2::new(x as f32, y as f32);
        let middle = corner + 0.5;
        let direction = self.lens.pinhole_direction(middle / self.size);
        let seen = trace_refracted(self.scene, self.lens.eye(), direction, self.inside, StopAt::End);
        let axis = direction.dot(self.lens.forward());
        let clean = self.clean_sight(middle);
        let clean_depth = match clean.end {
            RayEnd::Surface(point) => {
                let to = point - self.clean_lens.eye();
                [to.dot(self.clean_lens.forward()), to.length()]
            }
            _ => [f32::INFINITY; 2],
        };
        let (flow, status) = match seen.drop {
            None => (Vec2::ZERO, FlowStatus::NoDrop),
            Some(_) => match self.place_in_clean_view(&seen) {
                Ok(place) => (place - middle, FlowStatus::Valid),
                Err(status) => (Vec2::ZERO, status),
            },
        };
        PixelTruth {
            coverage: self.coverage(corner),
            drop: seen.drop.unwrap_or(0),
            depth: [seen.first_distance * axis, seen.first_distance],
            clean_depth,
            flow,
            status,
        }
    }

    /// The share of lines of sight that meet a drop, on a grid that is refined where they do not agree.
    fn coverage(&self, corner: Vec2) -> f32 {
        let count = |grid: usize| {
            let covered = |cell: &usize| {
                let place = corner + (Vec2::new((cell % grid) as f32, (cell / grid) as f32) + 0.5) / grid as f32;
                let direction = self.lens.pinhole_direction(place / self.size);
                trace_refracted(self.scene, self.lens.eye(), direction, self.inside, StopAt::Drop).drop.is_some()
            };
            (0..grid * grid).filter(covered).count() as f32 / (grid * grid) as f32
        };
        let first = count(FIRST_GRID);
        if first == 0.0 || first == 1.0 { first } else { count(FINE_GRID) }
    }

    fn clean_sight(&self, place: Vec2) -> RefractedRay {
        let direction = self.clean_lens.pinhole_direction(place / self.size);
        trace_refracted(self.clean, self.clean_lens.eye(), direction, None, StopAt::End)
    }

    /// Where the clean view shows what a line of sight ends on, in pixels from its top left corner.
    fn place_in_clean_view(&self, seen: &RefractedRay) -> Result<Vec2, FlowStatus> {
        let wanted = match seen.end {
            RayEnd::Surface(point) => RayEnd::Surface((point.as_dvec3() + self.shift).as_vec3()),
            RayEnd::Environment(direction) => RayEnd::Environment(direction),
            RayEnd::TotalReflection => return Err(FlowStatus::TotalReflection),
            RayEnd::OpaqueLiquid => return Err(FlowStatus::Opaque),
            RayEnd::Lost => return Err(FlowStatus::Lost),
        };
        let straight = |end: RayEnd| {
            let direction = match end {
                RayEnd::Surface(point) => point - self.clean_lens.eye(),
                RayEnd::Environment(direction) => direction,
                _ => return None,
            };
            Some(self.clean_lens.project_direction(direction)? * self.size)
        };
        let target = straight(wanted).ok_or(FlowStatus::OutsideFrame)?;
        let mut place = target;
        for _ in 0..MOST_CORRECTIONS {
            let found = self.clean_sight(place).end;
            // Something of another kind, or nothing: it stands in the way.
            let error = match (wanted, found) {
                (RayEnd::Surface(_), RayEnd::Surface(_)) | (RayEnd::Environment(_), RayEnd::Environment(_)) => {
                    target - straight(found).ok_or(FlowStatus::Hidden)?
                }
                _ => return Err(self.missing(place)),
            };
            if error.length() < NEAR_ENOUGH {
                return self.check(wanted, found, place);
            }
            place += error;
        }
        Err(FlowStatus::Lost)
    }

    fn check(&self, wanted: RayEnd, found: RayEnd, place: Vec2) -> Result<Vec2, FlowStatus> {
        if !self.in_frame(place) {
            return Err(FlowStatus::OutsideFrame);
        }
        if let (RayEnd::Surface(wanted), RayEnd::Surface(found)) = (wanted, found)
            && (wanted - found).length() > SAME_PLACE * (wanted - self.clean_lens.eye()).length()
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
