//! What all images of a run share: materials, light, camera, exposure.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use glam::DVec3;
use sessile_appearance::{Backdrop, Camera, DropTrack, SceneAssets, frame_drop, frame_scene, moved_camera};
use sessile_frames::names::safe_names;
use sessile_frames::{FolderError, RunFolder, Surface, WetMap};
use sessile_scene::types::{Follow, Scene};
use sessile_shapes::{Detail, Instance};
use sessile_world::World;

use super::RenderError;
use crate::camera_check::enclosing_drop;
use crate::framebuffer::Framebuffer;
use crate::preview::Preview;
use crate::render_image::{ImageSettings, render_image_until};
use crate::render_scene::RenderScene;
use crate::scene_from_frame::{clean_render_scene, render_scene_of_frame};
use crate::tone_map::Exposure;

/// The longer side of the image that the exposure is measured on, in pixels, and its samples.
const PROBE_SIDE: usize = 160;
const PROBE_SAMPLES: u32 = 16;

/// Factor by which that image has fewer photons.
const PROBE_PHOTON_FACTOR: u32 = 8;

/// Triangulation of drops that are stored as instances: edge length in the image, in pixels, and
/// minimum and maximum number of edges around a drop.
const EDGE_IN_PIXELS: f64 = 3.0;
const MIN_EDGES: usize = 5;
const MAX_EDGES: usize = 48;

/// Triangulation of instances by their size in an image of `rows` rows: from a handful of triangles
/// to more than a thousand.
pub(crate) fn drop_detail(camera: &Camera, rows: usize) -> impl Fn(&Instance) -> Detail + Sync + use<> {
    let pixel = 2.0 * (0.5 * camera.fov).tan() / rows as f64;
    let eye = camera.eye;
    move |drop: &Instance| {
        let edge = EDGE_IN_PIXELS * pixel * eye.distance(drop.frame.origin);
        Detail { edge, fewest: MIN_EDGES, most: MAX_EDGES }
    }
}

/// Renders any frame of a run.
pub(super) struct RunRenderer<'a> {
    folder: &'a RunFolder,
    scene: &'a Scene,
    assets: SceneAssets,
    backdrop: Option<Arc<Backdrop>>,
    world: World,
    solids: Vec<String>,
    camera: Camera,
    /// Rows of the images.
    rows: usize,
    track: Option<DropTrack>,
    /// The frame that the exposure was measured on, with its scene: usually it is rendered next.
    prepared: Option<(u64, RenderScene)>,
    /// For previews: the renderer, and the scene of the solids, which is reused while they do not
    /// move.
    preview: Option<(Preview, RenderScene)>,
}

impl<'a> RunRenderer<'a> {
    /// Builds the solids and frames the scene for images of this size.
    pub fn build(folder: &'a RunFolder, scene: &'a Scene, size: [usize; 2]) -> Result<Self, RenderError> {
        let assets = SceneAssets::load(scene)?;
        let world = World::build(scene)?;
        let aspect = size[0] as f64 / size[1] as f64;
        let track = match scene.camera.follow {
            Some(follow) => DropTrack::read(&folder.measures_path(), follow).map_err(FolderError::from)?,
            None => None,
        };
        let camera = match &track {
            Some(drop) => frame_drop(scene, &world, aspect, drop.first(), drop.radius()),
            None => frame_scene(scene, &world, aspect),
        };
        let names: Vec<&str> = scene.solids.iter().map(|solid| solid.name.as_str()).collect();
        Ok(Self {
            folder,
            scene,
            backdrop: assets.backdrop(scene, size),
            assets,
            world,
            solids: safe_names(&names),
            camera,
            rows: size[1],
            track,
            prepared: None,
            preview: None,
        })
    }

    /// Reads a frame and builds its render scene, with its camera.
    pub fn render_scene(&mut self, frame: u64) -> Result<(RenderScene, Camera), RenderError> {
        if let Some((_, scene)) = self.prepared.take().filter(|(prepared, _)| *prepared == frame) {
            return Ok((scene, self.camera_at(frame)));
        }
        let (liquid, wet) = self.read(frame)?;
        let (backdrop, shutter) = (self.backdrop.clone(), self.shutter());
        let scene = render_scene_of_frame(self.scene, &self.assets, backdrop, &self.world, &liquid, &wet, shutter);
        Ok((scene, self.camera_at(frame)))
    }

    /// Reads a frame's liquid and wet maps, and moves the solids to the frame's time.
    fn read(&mut self, frame: u64) -> Result<(Surface, Vec<WetMap>), RenderError> {
        let detail = drop_detail(&self.camera_at(frame), self.rows);
        let (liquid, stamp) = self.folder.read_frame_with(frame, &detail)?;
        if let Some(drop) = enclosing_drop(&liquid, self.camera_at(frame).eye) {
            return Err(RenderError::CameraInDrop { drop, frame });
        }
        let mut wet = Vec::new();
        if self.scene.render.wet_paths {
            for (index, name) in self.solids.iter().enumerate() {
                wet.extend(self.folder.read_wet(name, index, frame)?);
            }
        }
        self.world.advance_to(stamp.time);
        Ok((liquid, wet))
    }

    /// A preview of a frame.
    pub fn preview(&mut self, frame: u64, size: [usize; 2]) -> Result<Framebuffer, RenderError> {
        let (liquid, wet) = self.read(frame)?;
        Ok(self.render_preview(frame, &liquid, &wet, size))
    }

    /// A preview of the clean view of the frame that was read last.
    pub fn clean_preview(&mut self, frame: u64, size: [usize; 2]) -> Framebuffer {
        self.render_preview(frame, &Surface::default(), &[], size)
    }

    fn render_preview(&mut self, frame: u64, liquid: &Surface, wet: &[WetMap], size: [usize; 2]) -> Framebuffer {
        let camera = self.camera_at(frame);
        let (mut preview, mut scene) = match self.preview.take() {
            Some((preview, scene)) if !self.solids_move() => (preview, scene),
            other => {
                let scene = self.clean_scene(0.0);
                (other.map_or_else(|| Preview::new(&scene), |(preview, _)| preview), scene)
            }
        };
        scene.set_wet(wet);
        let image = preview.render(&scene, liquid, &camera, size);
        self.preview = Some((preview, scene));
        image
    }

    /// The render scene of the clean view of the frame that was read last.
    pub fn clean_scene(&self, shutter: f64) -> RenderScene {
        clean_render_scene(self.scene, &self.assets, self.backdrop.clone(), &self.world, shutter)
    }

    /// The time that the shutter is open, in s.
    pub fn shutter(&self) -> f64 {
        self.scene.render.shutter * self.scene.time.frame
    }

    fn solids_move(&self) -> bool {
        self.world.solids().iter().any(|solid| !solid.scene().motion.is_empty() || solid.deforms())
    }

    /// Whether the clean view is the same in all frames.
    pub fn clean_view_is_static(&self) -> bool {
        self.track.is_none() && self.scene.camera.motion.is_empty() && !self.solids_move()
    }

    /// The camera of a frame; it moves by its keys, or with the drop that it follows.
    fn camera_at(&self, frame: u64) -> Camera {
        let shift = self.track.as_ref().map_or(DVec3::ZERO, |drop| drop.at(frame) - drop.first());
        let camera = Camera { eye: self.camera.eye + shift, look_at: self.camera.look_at + shift, ..self.camera };
        moved_camera(self.scene, camera, frame as f64 * self.scene.time.frame)
    }

    /// A notice for the user before rendering starts.
    pub fn notice(&self) -> Option<String> {
        let follow = self.scene.camera.follow.filter(|_| self.track.is_none())?;
        Some(match follow {
            Follow::Drop(id) => format!("no frame has a drop {id} for `camera.follow`; the camera stays where it is"),
            Follow::Largest => "no frame has a drop for `camera.follow`; the camera stays where it is".to_owned(),
        })
    }

    /// The exposure of all images: that of a small image of frame `first`, so that the video does
    /// not flicker and images rendered later or alone have the same brightness. With a backdrop,
    /// the one that shows its white as white. `None` when stopped.
    pub fn exposure(
        &mut self,
        first: u64,
        settings: &ImageSettings,
        stop: &AtomicBool,
    ) -> Result<Option<Exposure>, RenderError> {
        if let Some(backdrop) = &self.backdrop {
            return Ok(Some(Exposure::fixed(1.0 / backdrop.white())));
        }
        let longer = settings.size[0].max(settings.size[1]);
        let side = |n: usize| (n * PROBE_SIDE.min(longer) / longer).max(1);
        let probe = ImageSettings {
            size: settings.size.map(side),
            samples: PROBE_SAMPLES,
            noise: 0.0,
            photons: settings.photons / PROBE_PHOTON_FACTOR,
            ..*settings
        };
        let (scene, camera) = self.render_scene(first)?;
        let rendered = render_image_until(&scene, &camera, &probe, stop, &|_, _| ());
        self.prepared = Some((first, scene));
        let wanted = self.scene.render.exposure as f32;
        Ok(rendered.map(|rendered| Exposure::automatic([&rendered.image]).times(wanted)))
    }
}
