//! A fast preview renderer: an image in a tenth of a second.
//!
//! It shows the same scene, camera and tone map as the path tracer, with precomputed light instead
//! of path tracing (fournier1998, §4):
//!
//! - visibility by rasterization with four samples per pixel (`rasterizer`);
//! - solids are lit by the environment, prefiltered for diffuse and rough specular reflection
//!   (`prefiltered_light`), and by suns and area lights with hard shadows of solids; textures and
//!   wet layers are shown;
//! - the base of a drop is lit by an **illumination texture**, warped to the base's outline; around
//!   it lie the drop's shadow and the light that it focuses there (`base_irradiance`);
//! - a drop shows its background along one refracted ray, and another drop there (`drop_tree`),
//!   reflects the environment by Fresnel's equations, and has Blinn highlights of suns and area
//!   lights (`drop_shading`).
//!
//! Not shown, unlike in the path tracer: indirect light between solids, soft shadows, drops in
//! reflections, more than one drop behind a drop, drops behind glass bodies that refract the view,
//! films on glass and motion blur. A drop that encloses the camera is left out.
//!
//! Nothing is random and tiles are independent, so the image does not depend on the number of
//! threads.

mod base_irradiance;
mod bright_discs;
mod defocus;
mod depth_of_field;
mod drop_shading;
mod drop_tree;
mod octahedral_map;
mod prefiltered_light;
mod screen_drops;
mod shading;
mod view;

use std::sync::Arc;

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens, LiquidMaterial};
use sessile_frames::Surface;

use self::base_irradiance::BaseIrradiance;
use self::defocus::DropLayer;
use self::depth_of_field::Focused;
use self::drop_tree::DropTree;
use self::prefiltered_light::PrefilteredLight;
use self::screen_drops::{ScreenDrop, project_drops};
use self::shading::Shader;
use self::view::{ShadedPixel, View};
use crate::backdrop_view::BackdropView;
use crate::framebuffer::Framebuffer;
use crate::rasterizer::{Rect, TILE, clip};
use crate::render_scene::{Owner, RenderScene};

/// Near plane for solids, relative to the distance from the camera to the scene's origin.
const NEAR_PLANE: f32 = 1e-4;

/// Drops whose blur discs are smaller are in focus; in pixels.
const SHARP: f32 = 0.5;

/// Renders previews of one scene; its lights are prefiltered once for all frames. Clones share the
/// tables.
#[derive(Clone, Debug)]
pub struct Preview {
    light: Arc<PrefilteredLight>,
    bases: BaseIrradiance,
}

/// A triangle of a solid in screen space.
struct ScreenTriangle {
    corners: [Vec3; 3],
    owner: u32,
    triangle: u32,
    rect: Rect,
}

/// The triangles and drops that overlap each tile.
struct Bins {
    columns: usize,
    solids: Vec<Vec<u32>>,
    drops: Vec<Vec<u32>>,
}

impl Preview {
    /// Prefilters the lights of a scene. Solids and liquid may change afterwards; environment, suns
    /// and the liquid's material may not.
    pub fn new(scene: &RenderScene) -> Self {
        let index = match scene.liquid {
            LiquidMaterial::Clear { index, .. } => index,
            LiquidMaterial::Opaque(_) => 1.0,
        };
        Self {
            light: Arc::new(PrefilteredLight::new(scene.environment.clone())),
            bases: BaseIrradiance::new(index, &scene.environment, &scene.suns),
        }
    }

    /// Adds the tables that a preview with the same light and liquid has computed meanwhile.
    pub fn share_tables(&mut self, other: &Self) {
        self.bases.share(&other.bases);
    }

    /// Renders a scene of solids, without liquid, and the liquid on them. Color is filled, and with
    /// a backdrop also coverage and its pixels.
    pub fn render(&mut self, scene: &RenderScene, liquid: &Surface, camera: &Camera, size: [usize; 2]) -> Framebuffer {
        let [width, height] = size;
        let lens = camera.lens(scene.origin(), size);
        let drops = project_drops(liquid, scene, &lens, size);
        let solids = project_solids(scene, &lens, size);
        self.bases.prepare(drops.iter().filter_map(|drop| drop.base.as_ref()).filter(|base| !base.clear));
        let clear = match scene.liquid {
            LiquidMaterial::Clear { index, absorption } => Some((index, absorption)),
            LiquidMaterial::Opaque(_) => None,
        };
        let backdrop = BackdropView::new(scene, lens, size);
        let tree = DropTree::new(&drops);
        let shader =
            Shader { scene, light: &self.light, bases: &self.bases, clear, backdrop, drops: &drops, tree: &tree };
        let mut view = View {
            shader,
            lens,
            size: Vec2::new(width as f32, height as f32),
            drops: &drops,
            solids,
            only_drops: false,
        };
        if backdrop.is_some() && !view.drops.is_empty() && lens.radius() > 0.0 {
            view.only_drops = true;
            let layer = DropLayer::of(&view.render(size), size);
            view.only_drops = false;
            if layer.largest_radius() >= SHARP {
                view.drops = &[];
                return layer.before(image_of(&view.render(size), &view, size));
            }
        }
        let pixels = view.render(size);
        let mut image = image_of(&pixels, &view, size);
        if backdrop.is_none() && pixels.iter().any(|pixel| pixel.blur_radius >= SHARP) {
            let [near, radius] = [|pixel: &ShadedPixel| pixel.near, |pixel: &ShadedPixel| pixel.blur_radius]
                .map(|value| pixels.iter().map(value).collect::<Vec<f32>>());
            image.color = Focused { size, color: &image.color, near: &near, radius: &radius }.blurred();
        }
        image
    }
}

/// The image of a view's pixels.
fn image_of(pixels: &[ShadedPixel], view: &View<'_>, [width, height]: [usize; 2]) -> Framebuffer {
    let color = pixels.iter().map(|pixel| pixel.color).collect();
    let mut image = Framebuffer { width, height, color, ..Framebuffer::default() };
    if let Some(backdrop) = &view.shader.backdrop {
        image.coverage = pixels.iter().map(|pixel| pixel.coverage).collect();
        let bytes = |(i, pixel): (usize, &ShadedPixel)| pixel.is_backdrop.then(|| backdrop.bytes(i % width, i / width));
        image.backdrop = pixels.iter().enumerate().map(bytes).collect();
    }
    image
}

impl DropLayer {
    /// The drops of a view that shows nothing else.
    fn of(pixels: &[ShadedPixel], size: [usize; 2]) -> Self {
        Self {
            size,
            color: pixels.iter().map(|pixel| pixel.color).collect(),
            coverage: pixels.iter().map(|pixel| pixel.coverage).collect(),
            radius: pixels.iter().map(|pixel| pixel.blur_radius).collect(),
        }
    }

    /// The drops, out of focus, before an image without them.
    fn before(&self, mut image: Framebuffer) -> Framebuffer {
        for (i, (color, coverage)) in self.blurred().into_iter().enumerate().filter(|(_, (_, c))| *c > 0.0) {
            image.color[i] = color + (1.0 - coverage) * image.color[i];
            if let (Some(covered), Some(backdrop)) = (image.coverage.get_mut(i), image.backdrop.get_mut(i)) {
                (*covered, *backdrop) = (coverage, None);
            }
        }
        image
    }
}

impl View<'_> {
    /// Renders all tiles; returns the pixels row by row.
    fn render(&self, size: [usize; 2]) -> Vec<ShadedPixel> {
        let bins = Bins::new(&self.solids, self.drops, size);
        let tiles: Vec<(Rect, Vec<ShadedPixel>)> =
            (0..bins.solids.len()).into_par_iter().map(|tile| self.render_tile(tile, &bins, size)).collect();
        let mut all = vec![ShadedPixel::default(); size[0] * size[1]];
        for (rect, pixels) in tiles {
            let across = rect.high[0] - rect.low[0];
            for (row, pixels) in pixels.chunks_exact(across).enumerate() {
                let start = (rect.low[1] + row) * size[0] + rect.low[0];
                all[start..start + across].copy_from_slice(pixels);
            }
        }
        all
    }
}

fn project_solids(scene: &RenderScene, lens: &Lens, size: [usize; 2]) -> Vec<ScreenTriangle> {
    let pixels = Vec2::new(size[0] as f32, size[1] as f32);
    let nearest = (NEAR_PLANE * lens.eye().length()).max(1e-7);
    let of_triangle = |triangle: u32| {
        let Owner::Solid(owner) = scene.faces[triangle as usize].owner else { return Vec::new() };
        let corners = scene.corners(triangle).map(|corner| lens.homogeneous(corner));
        if corners.iter().all(|p| p.z < nearest) || !corners.iter().all(|p| p.is_finite()) {
            return Vec::new();
        }
        let parts = clip(corners, nearest, pixels).filter_map(|corners| {
            let [a, b, c] = corners.map(Vec3::truncate);
            let rect = Rect::around(a.min(b).min(c), a.max(b).max(c), size)?;
            Some(ScreenTriangle { corners, owner, triangle, rect })
        });
        parts.collect()
    };
    (0..scene.num_triangles() as u32).into_par_iter().flat_map_iter(of_triangle).collect()
}

impl Bins {
    fn new(solids: &[ScreenTriangle], drops: &[ScreenDrop], [width, height]: [usize; 2]) -> Self {
        let columns = width.div_ceil(TILE);
        let count = columns * height.div_ceil(TILE);
        let mut bins = Self { columns, solids: vec![Vec::new(); count], drops: vec![Vec::new(); count] };
        for (i, triangle) in solids.iter().enumerate() {
            triangle.rect.tiles(columns).for_each(|tile| bins.solids[tile].push(i as u32));
        }
        for (i, drop) in drops.iter().enumerate() {
            drop.influence.tiles(columns).for_each(|tile| bins.drops[tile].push(i as u32));
        }
        bins
    }
}
