//! Coverage of pixels by drops, by rasterization.
//!
//! A camera ray that no glass body refracts is straight up to the first drop, so a pixel's coverage
//! is the part of it in which a triangle of the liquid is nearer than any solid that is not clear.
//! The image is rasterized at four times its size with four samples per pixel: 64 samples for each
//! pixel of the image, in time proportional to the area of the drops.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::Lens;

use crate::rasterizer::{Rect, SAMPLES, TILE, VisibilityBuffer, Visible, clip};
use crate::render_scene::{Owner, RenderScene};

/// Pixels of the rasterized image along a pixel of the image.
const SCALE: usize = 4;

/// Near plane, relative to the distance from the camera to the scene's origin.
const NEAR_PLANE: f32 = 1e-5;

/// The triangles in each tile of the rasterized image, in screen space.
struct Bins {
    columns: usize,
    liquid: Vec<Vec<[Vec3; 3]>>,
    opaque: Vec<Vec<[Vec3; 3]>>,
}

/// Fraction of each pixel that shows drops, directly or through sheets of glass; `None` if glass
/// bodies refract camera rays.
pub(super) fn drop_coverage(scene: &RenderScene, lens: &Lens, [width, height]: [usize; 2]) -> Option<Vec<f32>> {
    if (0..scene.solids.len()).any(|solid| scene.is_glass_body(solid as u32)) {
        return None;
    }
    let fine = [width * SCALE, height * SCALE];
    let bins = Bins::new(scene, lens, fine);
    let tiles: Vec<usize> = (0..bins.liquid.len()).filter(|&tile| !bins.liquid[tile].is_empty()).collect();
    let counted: Vec<Vec<(usize, u32)>> = tiles.par_iter().map(|&tile| bins.count(tile, fine, width)).collect();
    let mut coverage = vec![0.0; width * height];
    for (pixel, count) in counted.into_iter().flatten() {
        coverage[pixel] = count as f32 / (SCALE * SCALE * SAMPLES) as f32;
    }
    Some(coverage)
}

impl Bins {
    fn new(scene: &RenderScene, lens: &Lens, fine: [usize; 2]) -> Self {
        let columns = fine[0].div_ceil(TILE);
        let count = columns * fine[1].div_ceil(TILE);
        let mut bins = Self { columns, liquid: vec![Vec::new(); count], opaque: vec![Vec::new(); count] };
        let pixels = Vec2::new(fine[0] as f32, fine[1] as f32);
        let nearest = (NEAR_PLANE * lens.eye().length()).max(1e-7);
        for triangle in 0..scene.num_triangles() as u32 {
            let list = match scene.faces[triangle as usize].owner {
                Owner::Drop(_) => &mut bins.liquid,
                Owner::Solid(solid) if scene.is_clear(solid) => continue,
                Owner::Solid(_) => &mut bins.opaque,
            };
            for corners in clip(scene.corners(triangle).map(|corner| lens.homogeneous(corner)), nearest, pixels) {
                let [a, b, c] = corners.map(Vec3::truncate);
                let rect = Rect::around(a.min(b).min(c), a.max(b).max(c), fine);
                rect.into_iter().flat_map(|rect| rect.tiles(columns)).for_each(|tile| list[tile].push(corners));
            }
        }
        bins
    }

    /// Pixels of a tile that show drops, and the number of their samples that do.
    fn count(&self, tile: usize, fine: [usize; 2], width: usize) -> Vec<(usize, u32)> {
        let low = [TILE * (tile % self.columns), TILE * (tile / self.columns)];
        let rect = Rect { low, high: [(low[0] + TILE).min(fine[0]), (low[1] + TILE).min(fine[1])] };
        let mut seen = VisibilityBuffer::new(rect);
        self.opaque[tile].iter().for_each(|&corners| seen.rasterize(corners, Visible::Solid(0), 0));
        self.liquid[tile].iter().for_each(|&corners| seen.rasterize(corners, Visible::Drop(0), 0));
        let across = rect.high[0] - low[0];
        let mut counts = vec![0; (across / SCALE) * ((rect.high[1] - low[1]) / SCALE)];
        for (i, owners) in seen.owner.iter().enumerate() {
            let drops = owners.iter().filter(|&&owner| owner == Visible::Drop(0)).count();
            counts[(i / across / SCALE) * (across / SCALE) + i % across / SCALE] += drops as u32;
        }
        let place = |i: usize| (low[1] / SCALE + i / (across / SCALE)) * width + low[0] / SCALE + i % (across / SCALE);
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).map(|(i, count)| (place(i), count)).collect()
    }
}
