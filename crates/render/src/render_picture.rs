//! A picture of a stage: tiles in parallel, each pixel for itself.
//!
//! Every number that a pixel draws follows from its place, the sample and the picture's number, and its samples are summed in
//! order; so the picture is the same for any number of threads. A pixel stops early when its mean is known well enough: when
//! the standard error of y/(1 + y), y its luminance, over batches of samples falls below `noise`.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Camera, Lens};
use crate::environment::luminance;
use crate::path::{Media, PathSettings, media_at, trace};
use crate::picture::Picture;
use crate::sampler::Sampler;
use crate::stage::{Owner, Stage};
use crate::tracer_bvh::{NOTHING, Ray};

/// Side of a tile, in pixels.
const TILE: usize = 16;

/// Samples between two looks at a pixel's noise.
const BATCH: u32 = 4;

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSettings {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Most samples per pixel, at least 1.
    pub samples: u32,
    /// Standard error at which a pixel is done, on a scale where white is 0.5; 0: every pixel takes all samples.
    pub noise: f32,
    /// The picture's number: each has its own noise.
    pub seed: u32,
    /// Paths.
    pub paths: PathSettings,
}

impl Default for PictureSettings {
    fn default() -> Self {
        Self { size: [640, 360], samples: 64, noise: 0.0, seed: 0, paths: PathSettings::default() }
    }
}

/// What making a picture took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureCost {
    /// Paths followed.
    pub paths: u64,
    /// Rays cast.
    pub rays: u64,
}

#[derive(Clone, Copy)]
struct Pixel {
    color: Vec3,
    albedo: Vec3,
    normal: Vec3,
    depth: f32,
    drop: i32,
    cost: PictureCost,
}

/// Makes a picture; `progress` is told how many tiles of how many are done, from any thread.
pub fn render_picture(
    stage: &Stage,
    camera: &Camera,
    settings: &PictureSettings,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Picture, PictureCost) {
    let [width, height] = settings.size;
    let lens = camera.lens(stage.origin(), settings.size);
    let media = media_at(stage, lens.eye());
    let columns = width.div_ceil(TILE);
    let num_tiles = columns * height.div_ceil(TILE);
    let done = AtomicUsize::new(0);
    let tiles: Vec<Vec<Pixel>> = (0..num_tiles)
        .into_par_iter()
        .map(|tile| {
            let pixels = tile_pixels(tile, columns, settings.size);
            let tile = pixels.map(|(x, y)| render_pixel(stage, &lens, media, settings, x, y)).collect();
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, num_tiles);
            tile
        })
        .collect();
    let count = width * height;
    let mut picture = Picture {
        width,
        height,
        color: vec![Vec3::ZERO; count],
        albedo: vec![Vec3::ZERO; count],
        normal: vec![Vec3::ZERO; count],
        depth: vec![f32::INFINITY; count],
        drop: vec![-1; count],
    };
    let mut cost = PictureCost::default();
    for (tile, pixels) in tiles.iter().enumerate() {
        for ((x, y), pixel) in tile_pixels(tile, columns, settings.size).zip(pixels) {
            let i = y * width + x;
            picture.color[i] = pixel.color;
            picture.albedo[i] = pixel.albedo;
            picture.normal[i] = pixel.normal;
            picture.depth[i] = pixel.depth;
            picture.drop[i] = pixel.drop;
            cost.paths += pixel.cost.paths;
            cost.rays += pixel.cost.rays;
        }
    }
    (picture, cost)
}

/// The pixels of a tile, row by row.
fn tile_pixels(tile: usize, columns: usize, [width, height]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let (x0, y0) = (TILE * (tile % columns), TILE * (tile / columns));
    let (x1, y1) = ((x0 + TILE).min(width), (y0 + TILE).min(height));
    (y0..y1).flat_map(move |y| (x0..x1).map(move |x| (x, y)))
}

fn render_pixel(stage: &Stage, lens: &Lens, media: Media, settings: &PictureSettings, x: usize, y: usize) -> Pixel {
    let [width, height] = settings.size;
    let scale = Vec2::new(1.0 / width as f32, 1.0 / height as f32);
    let corner = Vec2::new(x as f32, y as f32);
    let (mut color, mut albedo, mut normal) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    let (mut depth, mut hits) = (0.0_f64, 0_u32);
    let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
    let mut cost = PictureCost::default();
    let mut count = 0;
    while count < settings.samples.max(1) {
        let mut sampler = Sampler::new((y * width + x) as u32, settings.seed, count);
        let place = (corner + sampler.pair()) * scale;
        let (on_lens, time) = (sampler.pair(), sampler.one());
        let (origin, direction) = lens.ray(place, on_lens);
        let ray = Ray { origin, direction, time, leaves: NOTHING };
        let path = trace(stage, settings.paths, ray, media, &mut sampler);
        color += path.color;
        albedo += path.albedo;
        normal += path.normal;
        if path.depth.is_finite() {
            depth += f64::from(path.depth);
            hits += 1;
        }
        cost.paths += 1;
        cost.rays += u64::from(path.rays);
        let bright = luminance(path.color);
        let toned = f64::from(bright / (1.0 + bright));
        sum += toned;
        squares += toned * toned;
        count += 1;
        if settings.noise > 0.0 && count >= 2 * BATCH && count % BATCH == 0 {
            let n = f64::from(count);
            let error = ((squares / n - (sum / n).powi(2)).max(0.0) / n).sqrt();
            if error < f64::from(settings.noise) {
                break;
            }
        }
    }
    let share = 1.0 / count as f32;
    Pixel {
        color: color * share,
        albedo: albedo * share,
        normal: normal.normalize_or_zero(),
        depth: if hits > 0 { (depth / f64::from(hits)) as f32 } else { f32::INFINITY },
        drop: first_drop(stage, lens, (corner + 0.5) * scale),
        cost,
    }
}

/// The first drop on the straight way through a point of the picture; panes are seen through.
fn first_drop(stage: &Stage, lens: &Lens, place: Vec2) -> i32 {
    let (origin, direction) = lens.ray(place, Vec2::ZERO);
    let mut ray = Ray { origin, direction, time: 0.5, leaves: NOTHING };
    for _ in 0..8 {
        let Some(hit) = stage.nearest(&ray, f32::INFINITY) else { return -1 };
        let at = stage.surface_point(&hit, ray.time);
        match at.owner {
            Owner::Drop(id) => return i32::try_from(id).unwrap_or(i32::MAX),
            Owner::Solid(solid) if stage.is_clear(solid) => {
                ray = Ray { origin: at.point, leaves: at.triangle, ..ray };
            }
            Owner::Solid(_) => return -1,
        }
    }
    -1
}
