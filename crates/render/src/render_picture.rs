//! A picture of a stage: tiles in parallel, each pixel for itself.
//!
//! Every number that a pixel draws follows from its place, the sample and the picture's number, and its samples are summed in
//! order; so the picture is the same for any number of threads. A tile stops early when its pixels are known well enough: when
//! the root mean square of their standard errors of y/(1 + y), y a sample's luminance, falls below `noise`. It is judged as a
//! whole, for a pixel by itself would stop before it meets its rare bright paths and lose their light.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Camera, Lens};
use crate::environment::luminance;
use crate::path::{Media, PathResult, PathSettings, media_at, trace};
use crate::picture::Picture;
use crate::sampler::Sampler;
use crate::stage::{Owner, Stage};
use crate::tracer_bvh::{NOTHING, Ray};

/// Side of a tile, in pixels: large enough that rare bright paths are noticed, small enough that calm ground stays apart.
const TILE: usize = 8;

/// Samples between two looks at a pixel's noise.
const BATCH: u32 = 4;

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSettings {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Most samples per pixel, at least 1.
    pub samples: u32,
    /// Standard error at which a tile is done, on a scale where white is 0.5; 0: every pixel takes all samples.
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

/// A picture, and what is known of its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The picture.
    pub picture: Picture,
    /// Colours of two pictures of the same view made of disjoint samples; empty where a pixel has but one sample.
    pub halves: [Vec<Vec3>; 2],
    /// What it took.
    pub cost: PictureCost,
}

/// A pixel and the sums over its samples.
#[derive(Clone, Copy, Default)]
struct Pixel {
    color: Vec3,
    /// The part of `color` that comes from the samples of the first half.
    first_half: Vec3,
    albedo: Vec3,
    normal: Vec3,
    depth: f64,
    hits: u32,
    toned: f64,
    toned_squares: f64,
    rays: u64,
}

struct Tile {
    pixels: Vec<(Pixel, i32)>,
    samples: u32,
    /// How many of the samples are of the first half.
    in_first_half: u32,
}

/// Makes a picture; `progress` is told how many tiles of how many are done, from any thread.
pub fn render_picture(
    stage: &Stage,
    camera: &Camera,
    settings: &PictureSettings,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Picture, PictureCost) {
    let rendered = render_until(stage, camera, settings, &AtomicBool::new(false), progress);
    rendered.map_or_else(Default::default, |rendered| (rendered.picture, rendered.cost))
}

/// Makes a picture and its two halves; `None` if `stop` was set before it was finished.
pub fn render_until(
    stage: &Stage,
    camera: &Camera,
    settings: &PictureSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Option<Rendered> {
    let [width, height] = settings.size;
    let lens = camera.lens(stage.origin(), settings.size);
    let media = media_at(stage, lens.eye());
    let columns = width.div_ceil(TILE);
    let num_tiles = columns * height.div_ceil(TILE);
    let done = AtomicUsize::new(0);
    let tiles: Vec<Tile> = (0..num_tiles)
        .into_par_iter()
        .map(|tile| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let pixels = tile_pixels(tile, columns, settings.size);
            let tile = render_tile(stage, &lens, media, settings, pixels);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, num_tiles);
            Some(tile)
        })
        .collect::<Option<_>>()?;
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
    let mut halves = [vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]];
    let mut cost = PictureCost::default();
    for (index, tile) in tiles.iter().enumerate() {
        let share = 1.0 / tile.samples as f32;
        let in_halves = [tile.in_first_half, tile.samples - tile.in_first_half].map(|n| n as f32);
        for ((x, y), (pixel, drop)) in tile_pixels(index, columns, settings.size).zip(&tile.pixels) {
            let i = y * width + x;
            picture.color[i] = pixel.color * share;
            halves[0][i] = pixel.first_half / in_halves[0];
            halves[1][i] = (pixel.color - pixel.first_half) / in_halves[1];
            picture.albedo[i] = pixel.albedo * share;
            picture.normal[i] = pixel.normal.normalize_or_zero();
            if pixel.hits > 0 {
                picture.depth[i] = (pixel.depth / f64::from(pixel.hits)) as f32;
            }
            picture.drop[i] = *drop;
            cost.paths += u64::from(tile.samples);
            cost.rays += pixel.rays;
        }
    }
    // Half a picture of a pixel's only sample is none.
    if settings.samples < 2 {
        halves = [Vec::new(), Vec::new()];
    }
    Some(Rendered { picture, halves, cost })
}

/// Whether a sample counts for the first half. Halves alternate by whole batches, each of which covers the pixel evenly; single
/// samples would split it down the middle, for the sequence puts every other one into its left half.
fn is_of_first_half(index: u32, most: u32) -> bool {
    let group = if most < 2 * BATCH { index } else { index / BATCH };
    group.is_multiple_of(2)
}

/// The pixels of a tile, row by row.
fn tile_pixels(tile: usize, columns: usize, [width, height]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let (x0, y0) = (TILE * (tile % columns), TILE * (tile / columns));
    let (x1, y1) = ((x0 + TILE).min(width), (y0 + TILE).min(height));
    (y0..y1).flat_map(move |y| (x0..x1).map(move |x| (x, y)))
}

fn render_tile(
    stage: &Stage,
    lens: &Lens,
    media: Media,
    settings: &PictureSettings,
    places: impl Iterator<Item = (usize, usize)>,
) -> Tile {
    let [width, height] = settings.size;
    let scale = Vec2::new(1.0 / width as f32, 1.0 / height as f32);
    let places: Vec<(usize, usize)> = places.collect();
    let mut pixels = vec![Pixel::default(); places.len()];
    let most = settings.samples.max(1);
    let (mut samples, mut in_first_half) = (0, 0);
    while samples < most {
        let until = (samples + BATCH).min(most);
        for (&(x, y), pixel) in places.iter().zip(&mut pixels) {
            let corner = Vec2::new(x as f32, y as f32);
            for index in samples..until {
                let mut sampler = Sampler::new((y * width + x) as u32, settings.seed, index);
                let place = (corner + sampler.pair()) * scale;
                let (on_lens, time) = (sampler.pair(), sampler.one());
                let (origin, direction) = lens.ray(place, on_lens);
                let ray = Ray { origin, direction, time, leaves: NOTHING };
                let path = trace(stage, settings.paths, ray, media, &mut sampler);
                if is_of_first_half(index, most) {
                    pixel.first_half += path.color;
                }
                pixel.add(&path);
            }
        }
        in_first_half += (samples..until).filter(|&index| is_of_first_half(index, most)).count() as u32;
        samples = until;
        if settings.noise > 0.0 && samples >= 2 * BATCH && error(&pixels, samples) < f64::from(settings.noise) {
            break;
        }
    }
    let middle = |&(x, y): &(usize, usize)| first_drop(stage, lens, (Vec2::new(x as f32, y as f32) + 0.5) * scale);
    Tile { pixels: pixels.into_iter().zip(places.iter().map(middle)).collect(), samples, in_first_half }
}

impl Pixel {
    fn add(&mut self, path: &PathResult) {
        self.color += path.color;
        self.albedo += path.albedo;
        self.normal += path.normal;
        if path.depth.is_finite() {
            self.depth += f64::from(path.depth);
            self.hits += 1;
        }
        self.rays += u64::from(path.rays);
        let bright = luminance(path.color);
        let toned = f64::from(bright / (1.0 + bright));
        self.toned += toned;
        self.toned_squares += toned * toned;
    }
}

/// Root mean square over pixels of the standard error of their means.
fn error(pixels: &[Pixel], samples: u32) -> f64 {
    let n = f64::from(samples);
    let variance = |p: &Pixel| (p.toned_squares / n - (p.toned / n).powi(2)).max(0.0);
    (pixels.iter().map(variance).sum::<f64>() / (n * pixels.len().max(1) as f64)).sqrt()
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
