//! Renders an image of a scene: tiles in parallel, pixels independent of each other.
//!
//! Every random number of a pixel follows from its position, the sample index and the seed, and
//! samples are summed in order, so the image does not depend on the number of threads.
//!
//! With `noise` > 0, sampling is adaptive. All pixels take a first batch of samples; from it each
//! tile's variance σ² of y/(1 + y), y a sample's luminance, is estimated, and the tile then takes n
//! = σ²/`noise`² samples in total, which makes the standard error of its pixels `noise`. The
//! decision is made once, per tile and with its neighbors: repeated decisions would stop when the
//! estimate is low by chance, and single pixels would stop before their rare bright paths appear.
//! Both would lose light.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Camera, Lens, Ray, luminance};

use crate::backdrop_view::{BackdropView, CameraRay};
use crate::caustics::{CausticSettings, Caustics};
use crate::framebuffer::{Framebuffer, Mixture};
use crate::interfaces::Media;
use crate::path_integrator::{PathResult, PathSettings, SampleSpacing, TraceContext, trace_path};
use crate::photon_count::photon_count;
use crate::render_scene::{Owner, RenderScene};
use crate::sampler::Sampler;

/// Side of a tile, in pixels: large enough to contain rare bright paths, small enough to separate
/// smooth regions.
const TILE: usize = 8;

/// Number of consecutive samples that share a photon set and a half buffer.
const BATCH: u32 = 4;

/// The first batch is one in this many of the samples, and at least two batches.
const FIRST_PART: u32 = 8;

/// Default number of photons for an image.
const PHOTONS: u32 = 1 << 17;

/// Maximum number of photon sets.
const MAX_SETS: u32 = 8;

/// Clear surfaces that the ray for a pixel's drop id may pass.
const MAX_SHEETS: u32 = 8;

/// Blur radius, in pixels, from which the guides of a pixel begin to be unreliable, and from which
/// they are; the same for the variance of normals and of relative depths, and for that of albedos.
const BLUR: [f32; 2] = [1.0, 3.0];
const SURFACE_VARIANCE: [f32; 2] = [0.02, 0.1];
const ALBEDO_VARIANCE: [f32; 2] = [0.002, 0.02];

/// How an image is rendered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageSettings {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Maximum number of samples per pixel, at least 1.
    pub samples: u32,
    /// Target standard error of a pixel on a scale where white is 0.5; 0: every pixel takes all
    /// samples.
    pub noise: f32,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Path length and clamping.
    pub paths: PathSettings,
    /// Number of photons for caustics, more where the image shows many drops; 0: camera paths carry
    /// all light.
    pub photons: u32,
}

impl Default for ImageSettings {
    fn default() -> Self {
        Self { size: [640, 360], samples: 64, noise: 0.0, seed: 0, paths: PathSettings::default(), photons: PHOTONS }
    }
}

/// The cost of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderCost {
    /// Number of paths traced.
    pub paths: u64,
    /// Number of rays traced.
    pub rays: u64,
}

/// An image with an estimate of its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedImage {
    /// The image.
    pub image: Framebuffer,
    /// Colors of two images of the same view from disjoint samples; empty with one sample per
    /// pixel.
    pub halves: [Vec<Vec3>; 2],
    /// Its cost.
    pub cost: RenderCost,
}

impl RenderedImage {
    /// An image without noise.
    pub fn noiseless(image: Framebuffer) -> Self {
        Self { image, halves: [Vec::new(), Vec::new()], cost: RenderCost::default() }
    }
}

/// Sums over the samples of a pixel.
#[derive(Clone, Copy, Default)]
struct Pixel {
    color: Vec3,
    /// The part of `color` from the samples of the first half.
    first_half: Vec3,
    albedo: Vec3,
    normal: Vec3,
    depth: f64,
    hits: u32,
    /// Sums of the squares of normals, albedos and depths.
    squares: [f64; 3],
    /// Sum over the samples of how far their surface is out of focus, from 0 to 1.
    out_of_focus: f32,
    /// Samples that pass through a drop, and that show the backdrop undeviated.
    through_drops: u32,
    undeviated: u32,
    /// Sums of y/(1 + y) and of its square, y the luminance of a sample.
    toned: f64,
    toned_squares: f64,
    rays: u64,
}

/// A tile after some of its samples.
struct Tile {
    pixels: Vec<Pixel>,
    drops: Vec<u32>,
    samples: u32,
}

/// Renders an image; `progress` is called with the number of finished and of all steps, from any
/// thread.
pub fn render_image(
    scene: &RenderScene,
    camera: &Camera,
    settings: &ImageSettings,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Framebuffer, RenderCost) {
    let rendered = render_image_until(scene, camera, settings, &AtomicBool::new(false), progress);
    rendered.map_or_else(Default::default, |rendered| (rendered.image, rendered.cost))
}

/// Renders an image and its two half buffers; `None` if `stop` was set before it was finished.
pub fn render_image_until(
    scene: &RenderScene,
    camera: &Camera,
    settings: &ImageSettings,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Option<RenderedImage> {
    let [width, height] = settings.size;
    let lens = camera.lens(scene.origin(), settings.size);
    let media = Media::at(scene, lens.eye());
    let caustics = Caustics::trace(
        scene,
        CausticSettings {
            photons: photon_count(scene, &lens, settings.photons),
            sets: (settings.samples / BATCH).clamp(1, MAX_SETS),
            seed: settings.seed,
            max_depth: settings.paths.max_depth,
        },
    );
    let backdrop = BackdropView::new(scene, lens, settings.size);
    let context = TraceContext { scene, caustics: caustics.as_ref(), backdrop: backdrop.as_ref() };
    let columns = width.div_ceil(TILE);
    let num_tiles = columns * height.div_ceil(TILE);
    let max_samples = settings.samples.max(1);
    let first =
        if settings.noise > 0.0 { (max_samples / FIRST_PART).max(2 * BATCH).min(max_samples) } else { max_samples };
    let num_steps = if first < max_samples { 2 * num_tiles } else { num_tiles };
    let inside = scene.drop_around(lens.eye());
    let view = View { context, lens, media, inside, settings, columns };
    let done = AtomicUsize::new(0);
    let step = |tile: usize, before: Option<Tile>, until: u32| {
        let sampled = (!stop.load(Ordering::Relaxed)).then(|| view.sample_tile(tile, before, until));
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, num_steps);
        sampled
    };
    let mut tiles: Vec<Tile> =
        (0..num_tiles).into_par_iter().map(|tile| step(tile, None, first)).collect::<Option<_>>()?;
    if first < max_samples {
        let needed = samples_needed(&tiles, columns, settings.noise, max_samples);
        let resume = |(i, tile): (usize, Tile)| step(i, Some(tile), needed[i]);
        tiles = tiles.into_par_iter().enumerate().map(resume).collect::<Option<_>>()?;
    }
    Some(view.assemble(&tiles))
}

/// Whether a sample counts for the first half. Halves alternate by whole batches, each of which
/// covers the pixel evenly; single samples would split the pixel down the middle, because every
/// other point of the sequence lies in its left half.
fn is_in_first_half(index: u32, max_samples: u32) -> bool {
    let group = if max_samples < 2 * BATCH { index } else { index / BATCH };
    group.is_multiple_of(2)
}

/// The pixels of a tile, row by row.
fn tile_pixels(tile: usize, columns: usize, [width, height]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let (x0, y0) = (TILE * (tile % columns), TILE * (tile / columns));
    let (x1, y1) = ((x0 + TILE).min(width), (y0 + TILE).min(height));
    (y0..y1).flat_map(move |y| (x0..x1).map(move |x| (x, y)))
}

/// What all tiles of an image share.
struct View<'a> {
    context: TraceContext<'a>,
    lens: Lens,
    media: Media,
    /// The drop that encloses the camera.
    inside: Option<u32>,
    settings: &'a ImageSettings,
    columns: usize,
}

impl View<'_> {
    /// Takes the samples of a tile from where it stands up to `until`.
    fn sample_tile(&self, tile: usize, before: Option<Tile>, until: u32) -> Tile {
        let Self { settings, .. } = self;
        let [width, height] = settings.size;
        let scale = Vec2::new(1.0 / width as f32, 1.0 / height as f32);
        let pixel_height = self.lens.pixel_height(height as f32);
        let spacing = SampleSpacing::new(&self.lens, pixel_height, settings.samples);
        let paths = PathSettings { spacing, ..settings.paths };
        let places = || tile_pixels(tile, self.columns, settings.size);
        let mut tile = before.unwrap_or_else(|| {
            let center = |(x, y): (usize, usize)| (Vec2::new(x as f32, y as f32) + 0.5) * scale;
            let drops = places().map(|at| first_drop(self.context.scene, &self.lens, center(at)));
            Tile { pixels: vec![Pixel::default(); places().count()], drops: drops.collect(), samples: 0 }
        });
        for ((x, y), pixel) in places().zip(&mut tile.pixels) {
            let corner = Vec2::new(x as f32, y as f32);
            for index in tile.samples..until {
                let mut sampler = Sampler::new((y * width + x) as u32, settings.seed, index);
                let place = (corner + sampler.next_2d()) * scale;
                let (u_lens, time) = (sampler.next_2d(), sampler.next_1d());
                let (origin, direction) = self.lens.ray(place, u_lens);
                let ray = Ray { origin, direction, time, origin_triangle: None };
                let path = self
                    .undeviated(x, y, ray, pixel)
                    .unwrap_or_else(|| trace_path(self.context, paths, ray, self.media, index / BATCH, &mut sampler));
                if is_in_first_half(index, settings.samples.max(1)) {
                    pixel.first_half += path.color;
                }
                pixel.add(&path);
                pixel.out_of_focus += ramp(self.lens.blur_radius(path.depth) / pixel_height, BLUR);
            }
        }
        tile.samples = tile.samples.max(until);
        tile
    }

    /// The result of a camera ray that shows the backdrop's own pixel; counts what the ray passes.
    fn undeviated(&self, x: usize, y: usize, ray: Ray, pixel: &mut Pixel) -> Option<PathResult> {
        let backdrop = self.context.backdrop?;
        let CameraRay { through_drop, undeviated } = CameraRay::trace(self.context.scene, ray, self.inside);
        pixel.through_drops += u32::from(through_drop);
        pixel.undeviated += u32::from(undeviated);
        let color = undeviated.then(|| backdrop.pixel(x, y))?;
        Some(PathResult { color, albedo: Vec3::ONE, depth: f32::INFINITY, rays: 1, ..PathResult::default() })
    }

    /// Whether the samples of a pixel can show other things than its surroundings.
    fn blurs(&self) -> bool {
        self.lens.radius() > 0.0 || self.context.scene.moves()
    }

    /// Averages the samples of all tiles.
    fn assemble(&self, tiles: &[Tile]) -> RenderedImage {
        let [width, height] = self.settings.size;
        let count = width * height;
        let mut image = Framebuffer {
            width,
            height,
            color: vec![Vec3::ZERO; count],
            albedo: vec![Vec3::ZERO; count],
            normal: vec![Vec3::ZERO; count],
            depth: vec![f32::INFINITY; count],
            mixture: vec![Mixture::default(); if self.blurs() { count } else { 0 }],
            drop: vec![0; count],
            coverage: Vec::new(),
            backdrop: Vec::new(),
        };
        if self.context.backdrop.is_some() {
            image.coverage = vec![0.0; count];
            image.backdrop = vec![None; count];
        }
        let mut halves = [vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]];
        let mut cost = RenderCost::default();
        let max_samples = self.settings.samples.max(1);
        for (index, tile) in tiles.iter().enumerate() {
            let weight = 1.0 / tile.samples as f32;
            let in_first_half = (0..tile.samples).filter(|&s| is_in_first_half(s, max_samples)).count() as u32;
            let in_halves = [in_first_half, tile.samples - in_first_half].map(|n| n as f32);
            let places = tile_pixels(index, self.columns, self.settings.size);
            for (((x, y), pixel), drop) in places.zip(&tile.pixels).zip(&tile.drops) {
                let i = y * width + x;
                image.color[i] = pixel.color * weight;
                halves[0][i] = pixel.first_half / in_halves[0];
                halves[1][i] = (pixel.color - pixel.first_half) / in_halves[1];
                image.albedo[i] = pixel.albedo * weight;
                image.normal[i] = pixel.normal.normalize_or_zero();
                if pixel.hits > 0 {
                    image.depth[i] = (pixel.depth / f64::from(pixel.hits)) as f32;
                }
                image.drop[i] = *drop;
                if let Some(mixed) = image.mixture.get_mut(i) {
                    *mixed = mixture(pixel, tile.samples as f32);
                }
                if let Some(backdrop) = self.context.backdrop {
                    image.coverage[i] = pixel.through_drops as f32 * weight;
                    image.backdrop[i] = (pixel.undeviated == tile.samples).then(|| backdrop.bytes(x, y));
                }
                cost.paths += u64::from(tile.samples);
                cost.rays += pixel.rays;
            }
        }
        // A single sample cannot be split.
        if self.settings.samples < 2 {
            halves = [Vec::new(), Vec::new()];
        }
        RenderedImage { image, halves, cost }
    }
}

/// Total number of samples that each tile needs.
fn samples_needed(tiles: &[Tile], columns: usize, noise: f32, max_samples: u32) -> Vec<u32> {
    let variances: Vec<f64> = tiles.iter().map(variance).collect();
    let rows = tiles.len() / columns.max(1);
    let needed = |tile: usize| {
        let (x, y) = (tile % columns, tile / columns);
        let near = |at: usize, count: usize| at.saturating_sub(1)..(at + 2).min(count);
        let neighbors = near(y, rows).flat_map(|y| near(x, columns).map(move |x| y * columns + x));
        let (sum, count) = neighbors.fold((0.0, 0), |(sum, count), tile| (sum + variances[tile], count + 1));
        let variance = variances[tile].max(sum / f64::from(count));
        let needed = (variance / f64::from(noise * noise)).min(f64::from(max_samples)) as u32;
        needed.next_multiple_of(BATCH).clamp(tiles[tile].samples, max_samples)
    };
    (0..tiles.len()).map(needed).collect()
}

impl Pixel {
    fn add(&mut self, path: &PathResult) {
        self.color += path.color;
        self.albedo += path.albedo;
        self.normal += path.normal;
        self.squares[0] += f64::from(path.normal.length_squared());
        self.squares[1] += f64::from(path.albedo.length_squared());
        if path.depth.is_finite() {
            self.depth += f64::from(path.depth);
            self.squares[2] += f64::from(path.depth).powi(2);
            self.hits += 1;
        }
        self.rays += u64::from(path.rays);
        let bright = luminance(path.color);
        let toned = f64::from(bright / (1.0 + bright));
        self.toned += toned;
        self.toned_squares += toned * toned;
    }
}

/// 0 up to the first bound, 1 from the second on.
fn ramp(value: f32, [low, high]: [f32; 2]) -> f32 {
    ((value - low) / (high - low)).clamp(0.0, 1.0)
}

/// How much `n` samples of a pixel differ in what they show.
fn mixture(pixel: &Pixel, n: f32) -> Mixture {
    let [normals, albedos, depths] = pixel.squares;
    let hits = f64::from(pixel.hits.max(1));
    let depth = pixel.depth / hits;
    let variance = |squares: f64, sum: Vec3| squares / f64::from(n) - f64::from((sum / n).length_squared());
    let of_depth = (depths / hits - depth * depth) / (depth * depth).max(f64::MIN_POSITIVE);
    let surface = ramp((variance(normals, pixel.normal) + of_depth) as f32, SURFACE_VARIANCE);
    Mixture {
        surface: surface.max(pixel.out_of_focus / n),
        albedo: ramp(variance(albedos, pixel.albedo) as f32, ALBEDO_VARIANCE),
    }
}

/// Mean variance of the samples within the pixels of a tile.
fn variance(tile: &Tile) -> f64 {
    let n = f64::from(tile.samples);
    let of_pixel = |p: &Pixel| (p.toned_squares / n - (p.toned / n).powi(2)).max(0.0) * n / (n - 1.0).max(1.0);
    tile.pixels.iter().map(of_pixel).sum::<f64>() / tile.pixels.len().max(1) as f64
}

/// Id of the first drop along the straight ray through a point of the image, looking through
/// sheets; 0 without one.
fn first_drop(scene: &RenderScene, lens: &Lens, place: Vec2) -> u32 {
    let (origin, direction) = lens.ray(place, Vec2::ZERO);
    let mut ray = Ray { origin, direction, time: 0.5, origin_triangle: None };
    for _ in 0..MAX_SHEETS {
        let Some(hit) = scene.intersect(&ray, f32::INFINITY) else { return 0 };
        let at = scene.surface_interaction(&hit, ray.time);
        match at.owner {
            Owner::Drop(id) => return id,
            Owner::Solid(solid) if scene.is_clear(solid) => {
                ray = Ray { origin: at.point, origin_triangle: Some(at.triangle), ..ray };
            }
            Owner::Solid(_) => return 0,
        }
    }
    0
}
