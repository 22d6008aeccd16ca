//! Wetting properties at a point of a surface: uniform, or images over the texture coordinates.
//!
//! An image's gray value g ∈ [0, 1] stands for black + g (white − black). Gray values are linear
//! (no gamma is removed), colors are converted by luma, with 8 or 16 bit. v = 1 is the image's top
//! row. Values are bilinear between texel centers and constant beyond the border.
//!
//! Angles are clamped at each point: to (0°, 180°), then to receding ≤ wet advancing ≤ advancing,
//! lowering the former two. If a map needs that, building the world gives a notice.

use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

use glam::DVec2;
use sessile_images::Image;
use sessile_input::Reader;
use sessile_scene::types::{Material, Varying};
use sessile_wetting::Wetting;

use crate::error::WorldError;

/// Distance of angles from 0 and 180°, in rad: a thousandth of a degree.
const ANGLE_MARGIN: f64 = 1.0e-3 * PI / 180.0;

/// A quantity over texture coordinates.
#[derive(Clone, Debug)]
enum Map {
    Uniform(f64),
    Image(Arc<GrayImage>),
}

/// An image scaled to its quantity's values.
#[derive(Debug)]
struct GrayImage {
    width: usize,
    height: usize,
    /// Rows from the top.
    values: Vec<f64>,
}

impl GrayImage {
    fn read(files: &dyn Reader, file: &Path, black: f64, white: f64) -> Result<Self, String> {
        let image = Image::read_from(file, files).map_err(|error| error.to_string())?;
        let values = image.gray().into_iter().map(|gray| black + (white - black) * gray).collect();
        Ok(Self { width: image.width(), height: image.height(), values })
    }

    fn sample(&self, uv: DVec2) -> f64 {
        let (x0, x1, fx) = texels(uv.x, self.width);
        let (y0, y1, fy) = texels(1.0 - uv.y, self.height);
        let at = |x: usize, y: usize| self.values[y * self.width + x];
        let mix = |a: f64, b: f64, f: f64| a + (b - a) * f;
        mix(mix(at(x0, y0), at(x1, y0), fx), mix(at(x0, y1), at(x1, y1), fx), fy)
    }
}

/// The two texels whose centers enclose a coordinate in [0, 1], and the interpolation weight of the
/// second.
fn texels(coordinate: f64, count: usize) -> (usize, usize, f64) {
    let last = (count - 1) as f64;
    // `max` before `min` also turns a NaN into the first texel.
    let x = (coordinate * count as f64 - 0.5).max(0.0).min(last);
    let low = x.floor();
    (low as usize, (low + 1.0).min(last) as usize, x - low)
}

impl Map {
    fn build(files: &dyn Reader, varying: &Varying, material: &str, key: &'static str) -> Result<Self, WorldError> {
        match varying {
            Varying::Uniform(value) => Ok(Self::Uniform(*value)),
            Varying::Image { file, black, white } => GrayImage::read(files, file, *black, *white)
                .map(|image| Self::Image(Arc::new(image)))
                .map_err(|reason| WorldError::Image { material: material.into(), key, file: file.clone(), reason }),
        }
    }

    fn at(&self, uv: DVec2) -> f64 {
        match self {
            Self::Uniform(value) => *value,
            Self::Image(image) => image.sample(uv),
        }
    }

    fn size(&self) -> [usize; 2] {
        match self {
            Self::Uniform(_) => [1, 1],
            Self::Image(image) => [image.width, image.height],
        }
    }
}

/// A material with its images loaded.
#[derive(Clone, Debug)]
pub(crate) struct BuiltMaterial {
    advancing: Map,
    receding: Map,
    wet_advancing: Option<Map>,
    affinity: Map,
    receding_limit: Option<f64>,
    roughness: [Map; 2],
    adhesion: Map,
    friction: Option<Map>,
}

impl BuiltMaterial {
    /// Reads a material's images; reports maps whose angles are clamped.
    pub fn build(material: &Material, files: &dyn Reader, notices: &mut Vec<String>) -> Result<Self, WorldError> {
        let map = |varying: &Varying, key| Map::build(files, varying, &material.name, key);
        let built = Self {
            advancing: map(&material.advancing, "advancing")?,
            receding: map(&material.receding, "receding")?,
            wet_advancing: material.wet_advancing.as_ref().map(|v| map(v, "wet_advancing")).transpose()?,
            affinity: map(&material.affinity, "affinity")?,
            receding_limit: material.receding_limit,
            roughness: [map(&material.roughness[0], "roughness")?, map(&material.roughness[1], "roughness")?],
            adhesion: map(&material.adhesion, "adhesion")?,
            friction: material.friction.as_ref().map(|v| map(v, "friction")).transpose()?,
        };
        let share = built.share_out_of_order();
        if share > 0.0 {
            let (name, percent) = (&material.name, 100.0 * share);
            notices.push(format!(
                "material `{name}`: on {percent:.1} % of its maps the angles do not satisfy 0 < receding <= wet_advancing <= \
                 advancing < 180 deg; there the smaller ones are lowered"
            ));
        }
        Ok(built)
    }

    /// Fraction of the finest map's texels whose angles had to be changed.
    fn share_out_of_order(&self) -> f64 {
        let maps = [Some(&self.advancing), Some(&self.receding), self.wet_advancing.as_ref()];
        let [w, h] = maps.into_iter().flatten().map(Map::size).fold([1, 1], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        let uv = |x: usize, y: usize| DVec2::new((x as f64 + 0.5) / w as f64, (y as f64 + 0.5) / h as f64);
        let wrong = (0..w * h).map(|i| uv(i % w, i / w)).filter(|&uv| self.raw_at(uv) != self.at(uv)).count();
        wrong as f64 / (w * h) as f64
    }

    fn raw_at(&self, uv: DVec2) -> Wetting {
        Wetting {
            advancing: self.advancing.at(uv),
            receding: self.receding.at(uv),
            wet_advancing: self.wet_advancing.as_ref().map(|map| map.at(uv)),
            receding_limit: self.receding_limit,
            roughness: [self.roughness[0].at(uv), self.roughness[1].at(uv)],
            adhesion: self.adhesion.at(uv),
            affinity: self.affinity.at(uv),
        }
    }

    /// The wetting at `uv`.
    pub fn at(&self, uv: DVec2) -> Wetting {
        let raw = self.raw_at(uv);
        let valid = |angle: f64| angle.clamp(ANGLE_MARGIN, PI - ANGLE_MARGIN);
        let advancing = valid(raw.advancing);
        let wet_advancing = raw.wet_advancing.map(|angle| valid(angle).min(advancing));
        let receding = valid(raw.receding).min(wet_advancing.unwrap_or(advancing));
        Wetting { advancing, receding, wet_advancing, ..raw }
    }

    /// Viscous friction k_f at `uv`, in kg/s, if the material has its own.
    pub fn friction_at(&self, uv: DVec2) -> Option<f64> {
        self.friction.as_ref().map(|map| map.at(uv))
    }

    /// Whether contact angles and affinity are the same everywhere.
    pub fn is_uniform(&self) -> bool {
        let maps = [Some(&self.advancing), Some(&self.receding), self.wet_advancing.as_ref(), Some(&self.affinity)];
        maps.into_iter().flatten().all(|map| matches!(map, Map::Uniform(_)))
    }

    /// Whether roughness, adhesion and friction are the same everywhere.
    pub fn has_uniform_coefficients(&self) -> bool {
        let [u, v] = &self.roughness;
        let maps = [Some(u), Some(v), Some(&self.adhesion), self.friction.as_ref()];
        maps.into_iter().flatten().all(|map| matches!(map, Map::Uniform(_)))
    }
}

/// Wetting of a wall without material: a contact angle of 90° without hysteresis.
pub(crate) fn default_wall_wetting() -> Wetting {
    Wetting {
        advancing: PI / 2.0,
        receding: PI / 2.0,
        wet_advancing: None,
        receding_limit: None,
        roughness: [0.0; 2],
        adhesion: 0.0,
        affinity: 0.0,
    }
}
