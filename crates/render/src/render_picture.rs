//! A picture of a stage: tiles in parallel, each pixel for itself.
//!
//! Every number that a pixel draws follows from its place, the sample and the picture's number, and its samples are summed in
//! order; so the picture is the same for any number of threads.
//!
//! With `noise`, samples go where they are needed. All pixels take a first part of them; from those, each tile's variance σ² of
//! y/(1 + y), y a sample's luminance, is estimated, and the tile then takes n = σ²/`noise`² in all, which makes the standard error of its
//! pixels `noise`. This is decided once, by a tile together with its neighbors: who looks again and again stops when luck has made
//! things look calm, and a pixel by itself would be done before it meets its rare bright paths. Both lose light.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens, NO_TRIANGLE, Ray, luminance};

use crate::caustics::{CausticSettings, Caustics};
use crate::interfaces::Media;
use crate::path::{PathResult, PathSettings, Scenery, trace};
use crate::picture::Picture;
use crate::sampler::Sampler;
use crate::stage::{Owner, Stage};

/// Side of a tile, in pixels: large enough that rare bright paths are noticed, small enough that calm ground stays apart.
const TILE: usize = 8;

/// Samples that are taken and counted together.
const BATCH: u32 = 4;

/// The first part of the samples, from which the rest is decided: one in this many, and at least two batches.
const FIRST_PART: u32 = 8;

/// Photons for a picture.
const PHOTONS: u32 = 1 << 17;

/// Most sets of photons.
const MOST_SETS: u32 = 8;

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSettings {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Most samples per pixel, at least 1.
    pub samples: u32,
    /// Standard error that pixels may have, on a scale where white is 0.5; 0: every pixel takes all samples.
    pub noise: f32,
    /// The picture's number: each has its own noise.
    pub seed: u32,
    /// Paths.
    pub paths: PathSettings,
    /// Photons that are sent through clear things; 0: paths carry all light.
    pub photons: u32,
}

impl Default for PictureSettings {
    fn default() -> Self {
        Self { size: [640, 360], samples: 64, noise: 0.0, seed: 0, paths: PathSettings::default(), photons: PHOTONS }
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
    /// Colors of two pictures of the same view made of disjoint samples; empty where a pixel has but one sample.
    pub halves: [Vec<Vec3>; 2],
    /// What it took.
    pub cost: PictureCost,
}

impl Rendered {
    /// A picture without noise.
    pub fn of(picture: Picture) -> Self {
        Self { picture, halves: [Vec::new(), Vec::new()], cost: PictureCost::default() }
    }
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
    pixels: Vec<Pixel>,
    drops: Vec<i32>,
    samples: u32,
}

/// Makes a picture; `progress` is told how many steps of how many are done, from any thread.
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
    let media = Media::at(stage, lens.eye());
    let caustics = Caustics::cast(
        stage,
        CausticSettings {
            photons: settings.photons,
            sets: (settings.samples / BATCH).clamp(1, MOST_SETS),
            seed: settings.seed,
            max_depth: settings.paths.max_depth,
        },
    );
    let scenery = Scenery { stage, caustics: caustics.as_ref() };
    let columns = width.div_ceil(TILE);
    let num_tiles = columns * height.div_ceil(TILE);
    let most = settings.samples.max(1);
    let first = if settings.noise > 0.0 { (most / FIRST_PART).max(2 * BATCH).min(most) } else { most };
    let num_steps = if first < most { 2 * num_tiles } else { num_tiles };
    let view = View { scenery, lens, media, settings, columns };
    let done = AtomicUsize::new(0);
    let step = |tile: usize, before: Option<Tile>, until: u32| {
        let made = (!stop.load(Ordering::Relaxed)).then(|| view.go_on(tile, before, until));
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, num_steps);
        made
    };
    let mut tiles: Vec<Tile> =
        (0..num_tiles).into_par_iter().map(|tile| step(tile, None, first)).collect::<Option<_>>()?;
    if first < most {
        let wanted = samples_wanted(&tiles, columns, settings.noise, most);
        let go_on = |(i, tile): (usize, Tile)| step(i, Some(tile), wanted[i]);
        tiles = tiles.into_par_iter().enumerate().map(go_on).collect::<Option<_>>()?;
    }
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
        let in_first_half = (0..tile.samples).filter(|&sample| is_of_first_half(sample, most)).count() as u32;
        let in_halves = [in_first_half, tile.samples - in_first_half].map(|n| n as f32);
        let places = tile_pixels(index, columns, settings.size);
        for (((x, y), pixel), drop) in places.zip(&tile.pixels).zip(&tile.drops) {
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

/// What all tiles of a picture share.
struct View<'a> {
    scenery: Scenery<'a>,
    lens: Lens,
    media: Media,
    settings: &'a PictureSettings,
    columns: usize,
}

impl View<'_> {
    /// Takes a tile's samples from where they are up to `until`.
    fn go_on(&self, tile: usize, before: Option<Tile>, until: u32) -> Tile {
        let Self { settings, .. } = self;
        let [width, height] = settings.size;
        let scale = Vec2::new(1.0 / width as f32, 1.0 / height as f32);
        let places = || tile_pixels(tile, self.columns, settings.size);
        let mut tile = before.unwrap_or_else(|| {
            let middle = |(x, y): (usize, usize)| (Vec2::new(x as f32, y as f32) + 0.5) * scale;
            let drops = places().map(|at| first_drop(self.scenery.stage, &self.lens, middle(at)));
            Tile { pixels: vec![Pixel::default(); places().count()], drops: drops.collect(), samples: 0 }
        });
        for ((x, y), pixel) in places().zip(&mut tile.pixels) {
            let corner = Vec2::new(x as f32, y as f32);
            for index in tile.samples..until {
                let mut sampler = Sampler::new((y * width + x) as u32, settings.seed, index);
                let place = (corner + sampler.pair()) * scale;
                let (on_lens, time) = (sampler.pair(), sampler.one());
                let (origin, direction) = self.lens.ray(place, on_lens);
                let ray = Ray { origin, direction, time, leaves: NO_TRIANGLE };
                let path = trace(self.scenery, settings.paths, ray, self.media, index / BATCH, &mut sampler);
                if is_of_first_half(index, settings.samples.max(1)) {
                    pixel.first_half += path.color;
                }
                pixel.add(&path);
            }
        }
        tile.samples = tile.samples.max(until);
        tile
    }
}

/// How many samples tiles need in all.
fn samples_wanted(tiles: &[Tile], columns: usize, noise: f32, most: u32) -> Vec<u32> {
    let variances: Vec<f64> = tiles.iter().map(variance).collect();
    let rows = tiles.len() / columns.max(1);
    let wanted = |tile: usize| {
        let (x, y) = (tile % columns, tile / columns);
        let near = |at: usize, count: usize| at.saturating_sub(1)..(at + 2).min(count);
        let around = near(y, rows).flat_map(|y| near(x, columns).map(move |x| y * columns + x));
        let (sum, count) = around.fold((0.0, 0), |(sum, count), tile| (sum + variances[tile], count + 1));
        let variance = variances[tile].max(sum / f64::from(count));
        let needed = (variance / f64::from(noise * noise)).min(f64::from(most)) as u32;
        needed.next_multiple_of(BATCH).clamp(tiles[tile].samples, most)
    };
    (0..tiles.len()).map(wanted).collect()
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

/// The variance of a tile's samples within their pixels.
fn variance(tile: &Tile) -> f64 {
    let n = f64::from(tile.samples);
    let of_pixel = |p: &Pixel| (p.toned_squares / n - (p.toned / n).powi(2)).max(0.0) * n / (n - 1.0).max(1.0);
    tile.pixels.iter().map(of_pixel).sum::<f64>() / tile.pixels.len().max(1) as f64
}

/// The first drop on the straight way through a point of the picture; panes are seen through.
fn first_drop(stage: &Stage, lens: &Lens, place: Vec2) -> i32 {
    let (origin, direction) = lens.ray(place, Vec2::ZERO);
    let mut ray = Ray { origin, direction, time: 0.5, leaves: NO_TRIANGLE };
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
