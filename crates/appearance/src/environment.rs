//! Environment light: radiance by direction, with importance sampling.
//!
//! Every environment is a lat-long image. Its radiance `L(ω)` is the image interpolated bilinearly,
//! times a factor. Directions are sampled with the pdf
//!
//! ```text
//! p(ω) = wᵢⱼ / (Σ w · Ωᵢ),     wᵢⱼ = Y̅ᵢⱼ Ωᵢ,     Ωᵢ = Δφ (cos θᵢ − cos θᵢ₊₁)
//! ```
//!
//! where `Y̅ᵢⱼ` is the mean luminance of the interpolated image over cell `(i, j)` and `Ωᵢ` the
//! cell's exact solid angle. The row comes from the marginal distribution, the column from the
//! conditional one; inside the cell `φ` and `cos θ` are uniform. So `p` is constant per cell in
//! solid angle, integrates to one exactly, and is positive wherever the environment emits.
//!
//! # Orientation
//!
//! y is up, and the image is seen from inside. Its top row is +y, its center +z, its left and right
//! borders meet at −z, and the right half is towards −x: `φ = 2πu`,
//! `ω = (sin θ sin φ, cos θ, −sin θ cos φ)`, as in Mitsuba 3.
//!
//! # Unit
//!
//! Built-in environments of strength 1 give a horizontal, white, diffuse surface the radiance 1.

mod city;
mod discs;
mod exr_file;
mod garden;
mod hdr_file;
mod lat_long;
mod sky;
mod studio;

use std::f32::consts::{PI, TAU};
use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use sessile_frames::atomic::FileError;
use sessile_scene::{EnvironmentMap, EnvironmentPreset};

pub(crate) use exr_file::read_exr;
pub use lat_long::LatLong;

/// The finest sampling grid; larger images are averaged down for sampling only.
const FINEST_GRID: [usize; 2] = [1024, 512];

/// Maximum number of pixels of an image file; 16 bytes each are needed while it is read.
const MAX_PIXELS: usize = 1 << 26;

/// Why an environment cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Neither a built-in name nor a supported file.
    #[error(
        "unknown environment {name:?}: give \"studio\", \"sky\", \"garden\", \"city\", \"dawn\", or an image file ending in .hdr or .exr"
    )]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// The content does not match the extension.
    #[error("{} is broken: {what}; export it again as a lat-long image", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// Too many pixels.
    #[error("{} has {width} × {height} pixels, more than the {MAX_PIXELS} allowed; scale it down (8192 × 4096 is plenty)", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Columns in its header.
        width: usize,
        /// Rows in its header.
        height: usize,
    },
}

/// A direction sampled from an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnvSample {
    /// Towards the light, unit length.
    pub dir: Vec3,
    /// Radiance from that direction.
    pub radiance: Vec3,
    /// Probability density per solid angle, in 1/sr.
    pub pdf: f32,
}

/// Light from infinity.
#[derive(Clone, Debug)]
pub struct Environment {
    image: LatLong,
    /// Columns and rows of the sampling grid.
    grid: [usize; 2],
    /// Cosines of the polar angle at the upper edge of each row, and at the last one's lower edge.
    edges: Vec<f64>,
    /// Cumulative probability of rows, starting at 0 and ending at 1.
    rows: Vec<f64>,
    /// Cumulative probability of columns in each row, `grid[0] + 1` values per row.
    columns: Vec<f64>,
}

impl Environment {
    /// The environment of a scene's `[lights]`. The sun's disc is not part of it, but the built-in
    /// sky is brighter around the sun's direction.
    pub fn from_lights(lights: &sessile_scene::Lights) -> Result<Self, EnvironmentError> {
        let strength = lights.strength as f32;
        let sun = lights.sun.map_or(Vec3::new(1.0, 2.0, 1.0), |sun| sun.direction.as_vec3());
        let preset = match &lights.environment {
            EnvironmentMap::Preset(preset) => *preset,
            EnvironmentMap::Image(file) => return Self::open(file, strength),
        };
        match preset {
            EnvironmentPreset::Studio => Ok(Self::studio(strength)),
            EnvironmentPreset::Sky => Ok(Self::sky(sun, strength)),
            EnvironmentPreset::Garden => Ok(Self::garden(strength)),
            EnvironmentPreset::City => Ok(Self::city(strength)),
            EnvironmentPreset::Dawn => Self::dawn(strength),
        }
    }

    /// An image file, `.hdr` (Radiance) or `.exr`.
    pub fn open(path: &Path, strength: f32) -> Result<Self, EnvironmentError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
        let read = match extension.as_str() {
            "hdr" => hdr_file::decode,
            "exr" => exr_file::decode,
            _ => return Err(EnvironmentError::Unknown { name: path.display().to_string() }),
        };
        let bytes =
            sessile_input::read(path, sessile_input::MAX_IMAGE).map_err(|cause| FileError::new("read", path, cause))?;
        Ok(Self::from_lat_long(read(path, &bytes)?, strength))
    }

    /// Uniform radiance.
    pub fn constant(radiance: Vec3) -> Self {
        Self::from_lat_long(LatLong::filled(1, 1, |_| radiance), 1.0)
    }

    /// A clear daylight sky over diffuse land, without the sun's disc.
    pub fn sky(towards_sun: Vec3, strength: f32) -> Self {
        Self::from_lat_long(sky::paint(towards_sun), strength)
    }

    /// A dark room with soft boxes.
    pub fn studio(strength: f32) -> Self {
        Self::from_lat_long(studio::paint(), strength)
    }

    /// A garden in the morning, out of focus.
    pub fn garden(strength: f32) -> Self {
        Self::from_lat_long(garden::paint(), strength)
    }

    /// A town at the blue hour, its lights out of focus.
    pub fn city(strength: f32) -> Self {
        Self::from_lat_long(city::paint(), strength)
    }

    /// A desert at dawn: a photograph that is part of the program (see `assets/README.md`).
    pub fn dawn(strength: f32) -> Result<Self, EnvironmentError> {
        let mut image = hdr_file::decode(Path::new("dawn"), include_bytes!("environment/dawn.hdr"))?;
        image.sanitize(PI / luminance(image.irradiance(Vec3::Y)));
        Ok(Self::from_lat_long(image, strength))
    }

    /// A lat-long image times `strength`. Negative and non-finite values count as black.
    pub fn from_lat_long(mut image: LatLong, strength: f32) -> Self {
        let strength = if strength.is_finite() { strength.max(0.0) } else { 0.0 };
        image.sanitize(strength);
        let [width, height] = [image.width(), image.height()];
        let grid = [width.min(FINEST_GRID[0]), height.min(FINEST_GRID[1])];

        let mut mean = vec![0.0f64; grid[0] * grid[1]];
        let mut pixels = vec![0u32; grid[0] * grid[1]];
        for row in 0..height {
            for column in 0..width {
                let cell = (row * grid[1] / height) * grid[0] + column * grid[0] / width;
                mean[cell] += f64::from(luminance(image.mean_over_pixel(column, row)));
                pixels[cell] += 1;
            }
        }
        if mean.iter().all(|&sum| sum == 0.0) {
            mean.fill(1.0); // a black environment: sample uniformly
        }
        let edges: Vec<f64> =
            (0..=grid[1]).map(|row| (std::f64::consts::PI * row as f64 / grid[1] as f64).cos()).collect();

        let mut rows = vec![0.0];
        let mut columns = Vec::with_capacity(grid[1] * (grid[0] + 1));
        for row in 0..grid[1] {
            let start = columns.len();
            let mut sum = 0.0;
            columns.push(0.0);
            for cell in row * grid[0]..(row + 1) * grid[0] {
                sum += mean[cell] / f64::from(pixels[cell]);
                columns.push(sum);
            }
            rows.push(rows[row] + sum * (edges[row] - edges[row + 1]));
            make_cumulative(&mut columns[start..]);
        }
        make_cumulative(&mut rows);
        Self { image, grid, edges, rows, columns }
    }

    /// Radiance from a direction (unit length).
    pub fn radiance(&self, dir: Vec3) -> Vec3 {
        self.image.at(uv_of(dir))
    }

    /// Columns and rows of its image.
    pub fn size(&self) -> [usize; 2] {
        [self.image.width(), self.image.height()]
    }

    /// Radiance at the center of a pixel of an image of this size, rows from the top.
    pub fn radiance_at_pixel(&self, column: usize, row: usize, size: [usize; 2]) -> Vec3 {
        let at = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
        self.image.at(at / Vec2::new(size[0] as f32, size[1] as f32))
    }

    /// Samples a direction with the pdf [`Self::pdf`] from two uniform numbers in `[0, 1)`.
    pub fn sample(&self, u: Vec2) -> EnvSample {
        let (row, in_row) = invert(&self.rows, f64::from(u.y));
        let (column, in_column) = invert(self.columns_of(row), f64::from(u.x));

        let cos_theta = self.edges[row] + in_row * (self.edges[row + 1] - self.edges[row]);
        let sin_theta = (1.0 - cos_theta * cos_theta).max(0.0).sqrt();
        let (sin_phi, cos_phi) = (TAU * ((column as f64 + in_column) / self.grid[0] as f64) as f32).sin_cos();
        let dir = Vec3::new(sin_theta as f32 * sin_phi, cos_theta as f32, -(sin_theta as f32) * cos_phi);
        EnvSample { dir, radiance: self.radiance(dir), pdf: self.cell_pdf(row, column) }
    }

    /// The pdf of [`Self::sample`], in 1/sr.
    pub fn pdf(&self, dir: Vec3) -> f32 {
        let uv = uv_of(dir);
        let cell = |coordinate: f32, count: usize| ((coordinate * count as f32) as usize).min(count - 1);
        self.cell_pdf(cell(uv.y, self.grid[1]), cell(uv.x, self.grid[0]))
    }

    /// Irradiance on a surface that faces `normal`, integrated over the image.
    pub fn irradiance(&self, normal: Vec3) -> Vec3 {
        self.image.irradiance(normal)
    }

    /// The environment as a coarse grid of lights: direction of each cell's center, and radiance
    /// times solid angle. Black cells are left out.
    pub fn cells(&self, columns: usize, rows: usize) -> Vec<(Vec3, Vec3)> {
        let [width, height] = [self.image.width(), self.image.height()];
        let edge = |row: f64, count: usize| (std::f64::consts::PI * row / count as f64).cos();
        let mut sums = vec![glam::DVec3::ZERO; columns * rows];
        // A pixel that is larger than a cell is divided, and each part is added to its own cell.
        let [across, down] = [columns.div_ceil(width), rows.div_ceil(height)];
        for row in 0..height * down {
            let band = edge(row as f64, height * down) - edge(row as f64 + 1.0, height * down);
            let solid_angle = std::f64::consts::TAU / (width * across) as f64 * band;
            for column in 0..width * across {
                let cell = (row * rows / (height * down)) * columns + column * columns / (width * across);
                sums[cell] += self.image.mean_over_pixel(column / across, row / down).as_dvec3() * solid_angle;
            }
        }
        let middle = |cell: usize| {
            let at = Vec2::new((cell % columns) as f32 + 0.5, (cell / columns) as f32 + 0.5);
            dir_of(at / Vec2::new(columns as f32, rows as f32))
        };
        let lights = sums.into_iter().enumerate().map(|(cell, sum)| (middle(cell), sum.as_vec3()));
        lights.filter(|(_, light)| light.max_element() > 0.0).collect()
    }

    /// Radiance averaged over all directions.
    pub fn mean_radiance(&self) -> Vec3 {
        self.image.integral() / (4.0 * PI)
    }

    fn columns_of(&self, row: usize) -> &[f64] {
        &self.columns[row * (self.grid[0] + 1)..(row + 1) * (self.grid[0] + 1)]
    }

    fn cell_pdf(&self, row: usize, column: usize) -> f32 {
        let columns = self.columns_of(row);
        let solid_angle = std::f64::consts::TAU / self.grid[0] as f64 * (self.edges[row] - self.edges[row + 1]);
        let probability = (self.rows[row + 1] - self.rows[row]) * (columns[column + 1] - columns[column]);
        (probability / solid_angle) as f32
    }
}

/// Luminance of linear sRGB, as in ITU-R BT.709.
pub fn luminance(color: Vec3) -> f32 {
    color.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

/// Position of a direction in the image, 0 to 1 from the left and from the top.
fn uv_of(dir: Vec3) -> Vec2 {
    let turn = dir.x.atan2(-dir.z) / TAU;
    let u = if turn < 0.0 { turn + 1.0 } else { turn };
    Vec2::new(u, dir.y.clamp(-1.0, 1.0).acos() / PI)
}

/// The direction of a position in the image; inverse of [`uv_of`].
fn dir_of(uv: Vec2) -> Vec3 {
    let (sin_phi, cos_phi) = (TAU * uv.x).sin_cos();
    let (sin_theta, cos_theta) = (PI * uv.y).sin_cos();
    Vec3::new(sin_theta * sin_phi, cos_theta, -sin_theta * cos_phi)
}

/// Normalizes cumulative sums to end at one; those that end at zero become uniform.
fn make_cumulative(sums: &mut [f64]) {
    let last = sums.len() - 1;
    let total = sums[last];
    for (index, sum) in sums.iter_mut().enumerate() {
        *sum = if total > 0.0 { *sum / total } else { index as f64 / last as f64 };
    }
}

/// The non-empty interval of `cumulative` that contains `u`, and the fraction within it.
fn invert(cumulative: &[f64], u: f64) -> (usize, f64) {
    let last = cumulative.len() - 2;
    let mut interval = cumulative.partition_point(|&sum| sum <= u).saturating_sub(1).min(last);
    while interval > 0 && cumulative[interval + 1] <= cumulative[interval] {
        interval -= 1; // only when u was rounded up to 1
    }
    let width = cumulative[interval + 1] - cumulative[interval];
    (interval, ((u - cumulative[interval]) / width).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
