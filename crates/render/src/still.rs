//! One image with its clean view and ground truth, without a run folder.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use sessile_appearance::{Camera, SceneAssets};
use sessile_frames::instances::surface_with;
use sessile_frames::{FrameGeometry, Surface, WetMap};
use sessile_scene::types::Scene;
use sessile_world::World;

use crate::denoise::denoise;
use crate::framebuffer::Framebuffer;
use crate::ground_truth::{GroundTruth, ground_truth};
use crate::preview::Preview;
use crate::render_image::{RenderedImage, render_image_until};
use crate::render_run::{FramesToRender, Quality, RenderError, RenderOptions, drop_detail, image_settings};
use crate::render_scene::RenderScene;
use crate::scene_from_frame::{clean_render_scene, render_scene_of_frame};
use crate::tone_map::{Exposure, to_srgb};

/// What a still shows: a scene, what it looks like, and the liquid at one time.
#[derive(Clone, Copy, Debug)]
pub struct StillScene<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// Its materials, light and backdrop.
    pub assets: &'a SceneAssets,
    /// Its solids at that time.
    pub world: &'a World,
    /// The liquid.
    pub liquid: &'a FrameGeometry,
    /// The wet maps.
    pub wet: &'a [WetMap],
    /// The camera.
    pub camera: &'a Camera,
}

/// An image, its clean view and its ground truth.
#[derive(Clone, Debug)]
pub struct Still {
    /// The image, sRGB bytes.
    pub wet: Vec<u8>,
    /// The clean view, sRGB bytes.
    pub clean: Vec<u8>,
    /// What each pixel shows, for a pinhole camera.
    pub truth: GroundTruth,
    /// Fraction of the samples over pixel and lens that pass through a drop: that of a pixel's area
    /// for a pinhole camera.
    pub coverage: Vec<f32>,
}

/// Renders a still in the size and with the samples that the scene specifies. `preview` keeps the
/// prefiltered light of previews; it must come from a scene with the same lights and liquid.
/// Without a backdrop both images have the exposure of the clean view.
pub fn render_still(
    still: &StillScene<'_>,
    quality: Quality,
    preview: &mut Option<Preview>,
) -> Result<Still, RenderError> {
    let StillScene { scene, assets, world, wet, camera, .. } = *still;
    let settings = image_settings(scene, &RenderOptions::new(FramesToRender::Missing))?;
    let size = settings.size;
    let backdrop = assets.backdrop(scene, size);
    let liquid = surface_of(still.liquid, camera, size[1])?;
    let traced = render_scene_of_frame(scene, assets, backdrop.clone(), world, &liquid, wet, 0.0);
    let clean_scene = clean_render_scene(scene, assets, backdrop.clone(), world, 0.0);
    let [image, clean] = match quality {
        Quality::Preview => {
            let preview = preview.get_or_insert_with(|| Preview::new(&clean_scene));
            let mut solids = clean_scene.clone();
            solids.set_wet(wet);
            let image = preview.render(&solids, &liquid, camera, size);
            [image, preview.render(&clean_scene, &Surface::default(), camera, size)]
        }
        Quality::Full => [&traced, &clean_scene].map(|scene: &RenderScene| {
            let rendered = render_image_until(scene, camera, &settings, &AtomicBool::new(false), &|_, _| ());
            denoised(rendered.unwrap_or_else(|| RenderedImage::noiseless(Framebuffer::default())))
        }),
    };
    let view = scene.render.view;
    let exposure = match &backdrop {
        Some(backdrop) => Exposure::fixed(1.0 / backdrop.white()),
        None => Exposure::automatic([&clean]).times(scene.render.exposure as f32),
    };
    let truth = ground_truth(&traced, &clean_scene, camera, size);
    let soft = camera.lens_radius > 0.0 && !image.coverage.is_empty();
    let coverage = if soft { image.coverage.clone() } else { sharp_coverage(&truth, &image) };
    Ok(Still { wet: to_srgb(&image, exposure, view), clean: to_srgb(&clean, exposure, view), truth, coverage })
}

/// Coverage for a pinhole camera. A sliver of a drop that only a sample of the image hits counts as
/// it does there.
fn sharp_coverage(truth: &GroundTruth, image: &Framebuffer) -> Vec<f32> {
    let seen = |i: usize| image.coverage.get(i).copied().unwrap_or(0.0);
    truth.coverage.iter().enumerate().map(|(i, &share)| if share > 0.0 { share } else { seen(i) }).collect()
}

fn denoised(rendered: RenderedImage) -> Framebuffer {
    let RenderedImage { image, halves: [first, second], .. } = rendered;
    let halves = (!first.is_empty()).then_some((first.as_slice(), second.as_slice()));
    denoise(&image, halves)
}

/// The surfaces of the liquid; instances are triangulated with the detail that the image needs.
fn surface_of<'a>(liquid: &'a FrameGeometry, camera: &Camera, rows: usize) -> Result<Cow<'a, Surface>, RenderError> {
    Ok(match liquid {
        FrameGeometry::Surfaces(surface) | FrameGeometry::Tessellated { surface, .. } => Cow::Borrowed(surface),
        FrameGeometry::Instances(instances) => Cow::Owned(surface_with(instances, &drop_detail(camera, rows))?),
    })
}
