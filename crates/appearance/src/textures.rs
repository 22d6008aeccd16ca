//! Textures: procedural or from an image.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use sessile_images::Image;

use crate::srgb::decode;

/// Components of a normal map up to this are taken for zero.
const FLAT: f32 = 0.006;

/// An image that cannot be used as a texture.
#[derive(Debug, thiserror::Error)]
#[error("{user}: texture {}: {reason}; give a PNG or JPEG file, or a built-in name", file.display())]
pub struct TextureError {
    /// The solid that uses it.
    pub user: String,
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// Color over texture coordinates. Sizes of patterns are in the units of the coordinates after
/// [`ScaledTexture::scale`].
#[derive(Clone, Debug)]
pub enum Texture {
    /// One color.
    Constant(Vec3),
    /// Squares of side 1 in two colors.
    Checker(Vec3, Vec3),
    /// Stripes of width 1 in two colors, across u.
    Stripes(Vec3, Vec3),
    /// Thin lines of the second color on the first, 1 apart.
    Grid(Vec3, Vec3),
    /// Square tiles of side 1, each a little different, with joints of the second color.
    Tiles(Vec3, Vec3),
    /// Fractal noise between two colors.
    Noise(Vec3, Vec3),
    /// Grains and flecks between two colors.
    Stone(Vec3, Vec3),
    /// Planks with grain along v.
    Wood(Vec3, Vec3),
    /// A leaf's blade in the first color, its veins in the second: the midrib at u = 0.5, lateral
    /// veins towards the tip at v = 1. Uses the coordinates before scaling.
    Veins(Vec3, Vec3),
    /// An image over [0, 1]², v = 1 at the top.
    Image(Arc<ColorImage>),
}

/// A texture as it lies on a surface.
#[derive(Clone, Debug)]
pub struct ScaledTexture {
    /// The texture.
    pub texture: Texture,
    /// Pattern units per unit of the coordinates.
    pub scale: Vec2,
    /// Repeats along u and v: of an image, or a factor on the units of a pattern.
    pub tiling: Vec2,
    /// Rotation about the middle of the coordinates, in rad, counterclockwise.
    pub rotation: f32,
    /// Factor on the color.
    pub tint: Vec3,
    /// Normal map that lies like the texture: red along u, green along v, blue out of the surface.
    pub relief: Option<Arc<ColorImage>>,
}

/// An image in linear light.
#[derive(Debug)]
pub struct ColorImage {
    width: usize,
    height: usize,
    texels: Vec<Vec3>,
}

impl ColorImage {
    /// Reads a PNG or JPEG for `user` ("solid `table`"), and decodes sRGB.
    pub fn read(user: &str, file: &Path) -> Result<Self, TextureError> {
        let image = Image::read(file).map_err(|error| TextureError {
            user: user.into(),
            file: file.into(),
            reason: error.to_string(),
        })?;
        let texels = image.rgb().into_iter().map(|color| Vec3::from_array(color.map(decode))).collect();
        Ok(Self { width: image.width(), height: image.height(), texels })
    }

    /// Reads a PNG or JPEG whose values are numbers rather than colors.
    pub fn read_numbers(user: &str, file: &Path) -> Result<Self, TextureError> {
        let image = Image::read(file).map_err(|error| TextureError {
            user: user.into(),
            file: file.into(),
            reason: error.to_string(),
        })?;
        let texels = image.rgb().into_iter().map(Vec3::from_array).collect();
        Ok(Self { width: image.width(), height: image.height(), texels })
    }

    /// Color at coordinates, by linear interpolation. Between 0 and 1 the border has no neighbor;
    /// the image repeats beyond, or everywhere if it is `tiled`.
    fn at(&self, uv: Vec2, tiled: bool) -> Vec3 {
        let place = |part: f32, count: usize| {
            if tiled || !(0.0..=1.0).contains(&part) {
                let x = part.rem_euclid(1.0) * count as f32 - 0.5;
                // Casts map NaN to the first texel.
                let below = x.floor();
                let first = if below < 0.0 { count - 1 } else { (below as usize).min(count - 1) };
                let part = x - below;
                return (first, (first + 1) % count, if part.is_finite() { part } else { 0.0 });
            }
            let x = (part * count as f32 - 0.5).max(0.0).min((count - 1) as f32);
            (x as usize, (x as usize + 1).min(count - 1), x.fract())
        };
        let ((x0, x1, fx), (y0, y1, fy)) = (place(uv.x, self.width), place(1.0 - uv.y, self.height));
        let texel = |x: usize, y: usize| self.texels[y * self.width + x];
        texel(x0, y0).lerp(texel(x1, y0), fx).lerp(texel(x0, y1).lerp(texel(x1, y1), fx), fy)
    }
}

impl ScaledTexture {
    /// One color everywhere.
    pub fn constant(color: Vec3) -> Self {
        Self::new(Texture::Constant(color), Vec2::ONE)
    }

    /// A texture with its number of pattern units along u and v, once and upright.
    pub fn new(texture: Texture, scale: Vec2) -> Self {
        Self { texture, scale, tiling: Vec2::ONE, rotation: 0.0, tint: Vec3::ONE, relief: None }
    }

    /// Gives the texture another color: an image is multiplied by it, a pattern keeps the ratio of
    /// its colors and takes this one as its first.
    pub fn recolor(&mut self, color: Vec3) {
        match &mut self.texture {
            Texture::Constant(own) => *own = color,
            Texture::Image(_) => self.tint = color,
            Texture::Checker(a, b)
            | Texture::Stripes(a, b)
            | Texture::Grid(a, b)
            | Texture::Tiles(a, b)
            | Texture::Noise(a, b)
            | Texture::Stone(a, b)
            | Texture::Wood(a, b)
            | Texture::Veins(a, b) => {
                *b *= color / a.max(Vec3::splat(1e-3));
                *a = color;
            }
        }
    }

    /// Whether it is one color everywhere.
    pub fn is_constant(&self) -> bool {
        matches!(self.texture, Texture::Constant(_))
    }

    fn is_tiled(&self) -> bool {
        self.tiling != Vec2::ONE || self.rotation != 0.0
    }

    /// Coordinates in an image, and in pattern units.
    fn place(&self, uv: Vec2) -> (Vec2, Vec2) {
        if !self.is_tiled() {
            return (uv, uv * self.scale);
        }
        // In pattern units lengths are alike along u and v, so that a rotation keeps angles.
        let turned = Vec2::from_angle(-self.rotation).rotate((uv - 0.5) * self.scale) * self.tiling;
        let p = turned + 0.5 * self.scale * self.tiling;
        (p / self.scale, p)
    }

    /// Unit normal of the relief at texture coordinates, along u, v and out of the surface; `None`
    /// where the surface is smooth.
    pub fn relief_at(&self, uv: Vec2) -> Option<Vec3> {
        let image = self.relief.as_ref()?;
        let normal = 2.0 * image.at(self.place(uv).0, self.is_tiled()) - 1.0;
        let along = Vec2::from_angle(self.rotation).rotate(normal.truncate());
        // Eight bits have no value for 0.
        let is_relief = along.length_squared() > FLAT * FLAT;
        is_relief.then(|| along.extend(normal.z.max(0.05)).normalize())
    }

    /// Color at texture coordinates, each channel between 0 and 1.
    pub fn at(&self, uv: Vec2) -> Vec3 {
        let (uv, p) = self.place(uv);
        let color = match &self.texture {
            Texture::Constant(color) => *color,
            Texture::Checker(a, b) => {
                if even(p.x.floor() + p.y.floor()) {
                    *a
                } else {
                    *b
                }
            }
            Texture::Stripes(a, b) => {
                if even(p.x.floor()) {
                    *a
                } else {
                    *b
                }
            }
            Texture::Grid(a, b) => a.lerp(*b, joint(p, 0.03)),
            Texture::Tiles(a, b) => {
                let shade = 0.85 + 0.3 * lattice_value(p.floor()) * (0.8 + 0.4 * fbm(p * 3.0, 3));
                (*a * shade.min(1.1)).lerp(*b, joint(p, 0.025))
            }
            Texture::Noise(a, b) => a.lerp(*b, fbm(p, 5)),
            Texture::Stone(a, b) => stone(p, *a, *b),
            Texture::Wood(a, b) => wood(p, *a, *b),
            Texture::Veins(a, b) => a.lerp(*b, veins(uv)) * (0.85 + 0.3 * fbm(uv * 60.0, 3)),
            Texture::Image(image) => image.at(uv, self.is_tiled()),
        };
        (self.tint * color).clamp(Vec3::ZERO, Vec3::ONE)
    }
}

fn even(x: f32) -> bool {
    // Casts saturate: far from zero, where single precision has no odd numbers, all are even.
    (x as i64) & 1 == 0
}

/// 1 on the lines between unit squares, 0 inside, `half` wide on each side.
fn joint(p: Vec2, half: f32) -> f32 {
    let inside = (p - p.floor() - 0.5).abs().max_element();
    smoothstep(0.5 - half, 0.5 - 0.7 * half, inside)
}

fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A pseudorandom number in [0, 1) for each lattice point.
fn lattice_value(p: Vec2) -> f32 {
    let mut x = (p.x as i32 as u32).wrapping_mul(0x9e37_79b9) ^ (p.y as i32 as u32).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 15)).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ (x >> 12)).wrapping_mul(0x297a_2d39);
    (x >> 8) as f32 / 16_777_216.0
}

/// Fractal value noise in [0, 1).
fn fbm(p: Vec2, octaves: u32) -> f32 {
    let (mut sum, mut weight, mut p) = (0.0, 0.5, p);
    for _ in 0..octaves {
        let (cell, f) = (p.floor(), p - p.floor());
        let f = f * f * (3.0 - 2.0 * f);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let row = |y: f32| mix(lattice_value(cell + Vec2::new(0.0, y)), lattice_value(cell + Vec2::new(1.0, y)), f.x);
        sum += weight * mix(row(0.0), row(1.0), f.y);
        weight *= 0.5;
        // Rotated and shifted, so that the octaves' lattices do not align.
        p = Vec2::new(1.6 * p.x + 1.2 * p.y, 1.6 * p.y - 1.2 * p.x) + 17.3;
    }
    sum
}

/// Planks of unit width: growth rings cut along v, distorted by noise, with fine fibers.
fn wood(p: Vec2, light: Vec3, dark: Vec3) -> Vec3 {
    let plank = p.x.floor();
    let own = lattice_value(Vec2::new(plank, 7.0));
    let q = Vec2::new(p.x - plank, p.y + 13.0 * own);
    let distortion = fbm(Vec2::new(q.x * 1.5 + 31.0 * own, q.y * 0.25), 3);
    let ring = (9.0 * (q.x - 0.5 + 0.3 * own) + 7.0 * distortion).fract().abs();
    let grain = smoothstep(0.0, 0.75, ring) * (1.0 - smoothstep(0.85, 1.0, ring));
    let fiber = fbm(Vec2::new(p.x * 60.0, p.y * 1.5), 3);
    let edge = smoothstep(0.485, 0.5, (q.x - 0.5).abs());
    light.lerp(dark, (0.65 * grain + 0.35 * fiber) * (0.8 + 0.4 * own)) * (0.9 + 0.2 * own) * (1.0 - 0.7 * edge)
}

/// 1 on a vein, 0 between veins.
fn veins(uv: Vec2) -> f32 {
    let across = (uv.x - 0.5).abs();
    let midrib = 1.0 - smoothstep(0.006, 0.016 + 0.008 * (1.0 - uv.y), across);
    let side = if uv.x < 0.5 { 0.0 } else { 0.5 };
    let along = 11.0 * (uv.y - 0.55 * across.powf(0.85)) + side;
    let lateral = (along - along.floor() - 0.5).abs();
    let lateral = (1.0 - smoothstep(0.02, 0.07, lateral)) * (1.0 - 1.2 * across);
    let net = 0.35 * (1.0 - smoothstep(0.02, 0.12, cell_edge(uv * 34.0)));
    let fine = 0.2 * (1.0 - smoothstep(0.02, 0.16, cell_edge(uv * 110.0 + 5.0)));
    midrib.max(lateral).max(net).max(fine).clamp(0.0, 1.0)
}

/// Worley noise: the difference of the distances to the two nearest feature points (worley1996).
fn cell_edge(p: Vec2) -> f32 {
    let cell = p.floor();
    let (mut first, mut second) = (f32::INFINITY, f32::INFINITY);
    for i in 0..9_u8 {
        let corner = cell + Vec2::new(f32::from(i % 3) - 1.0, f32::from(i / 3) - 1.0);
        let point = corner + 0.1 + 0.8 * Vec2::new(lattice_value(corner), lattice_value(corner + 91.0));
        let distance = p.distance(point);
        if distance < first {
            (first, second) = (distance, first);
        } else {
            second = second.min(distance);
        }
    }
    second - first
}

/// Stone: fractal beds, grains of two sizes, and a few dark flecks.
fn stone(p: Vec2, light: Vec3, dark: Vec3) -> Vec3 {
    let beds = smoothstep(0.2, 0.8, fbm(p * 0.7, 6));
    let grains = 0.6 * fbm(p * 14.0, 3) + 0.4 * lattice_value((p * 90.0 + 3.0 * fbm(p * 30.0, 2)).floor());
    let fleck = smoothstep(0.80, 0.86, fbm(p * 26.0 + 11.0, 3));
    light.lerp(dark, (0.25 + 0.45 * beds + 0.6 * (grains - 0.5)).clamp(0.0, 1.0)) * (1.0 - 0.6 * fleck)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_procedural_texture_stays_between_black_and_white_and_varies() {
        let (a, b) = (Vec3::new(0.9, 0.95, 1.0), Vec3::ZERO);
        for texture in [
            Texture::Checker(a, b),
            Texture::Stripes(a, b),
            Texture::Grid(a, b),
            Texture::Tiles(a, b),
            Texture::Noise(a, b),
            Texture::Stone(a, b),
            Texture::Wood(a, b),
            Texture::Veins(a, b),
        ] {
            let painted = ScaledTexture::new(texture, Vec2::splat(8.0));
            let colors = (0..4000)
                .map(|i| painted.at(Vec2::new((i as f32 * 0.754_877_7).fract(), (i as f32 * 0.569_84).fract())));
            let (low, high) = colors.fold((Vec3::ONE, Vec3::ZERO), |(low, high), c| (low.min(c), high.max(c)));
            assert!(low.cmpge(Vec3::ZERO).all() && high.cmple(Vec3::ONE).all(), "{painted:?}: {low} to {high}");
            assert!((high - low).max_element() > 0.2, "{painted:?}: {low} to {high}");
        }
    }

    #[test]
    fn checkers_alternate_across_zero_and_an_unreadable_image_is_an_error() {
        let checks = ScaledTexture::new(Texture::Checker(Vec3::ONE, Vec3::ZERO), Vec2::ONE);
        let row: Vec<f32> = [-1.5, -0.5, 0.5, 1.5].iter().map(|&x| checks.at(Vec2::new(x, 0.5)).x).collect();
        assert_eq!(row, [1.0, 0.0, 1.0, 0.0].map(|x: f32| 1.0 - x).map(|x| 1.0 - x));
        let folder = std::env::temp_dir().join("sessile-render-no-such-folder");
        let error = ColorImage::read("solid `table`", &folder.join("none.png")).unwrap_err().to_string();
        assert!(error.starts_with("solid `table`: texture "), "{error}");
    }

    #[test]
    fn tiling_repeats_a_texture_and_rotation_turns_it_about_the_middle() {
        let texels = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        let image = Texture::Image(Arc::new(ColorImage { width: 2, height: 2, texels }));
        let wide = Vec2::new(16.0, 8.0);
        for texture in [image, Texture::Checker(Vec3::ONE, Vec3::ZERO), Texture::Wood(Vec3::ONE, Vec3::X)] {
            let once = ScaledTexture { tiling: Vec2::splat(1.0), ..ScaledTexture::new(texture.clone(), wide) };
            let twice = ScaledTexture { tiling: Vec2::new(2.0, 1.0), ..once.clone() };
            let turned = ScaledTexture { rotation: std::f32::consts::FRAC_PI_2, ..once.clone() };
            let back = ScaledTexture { rotation: std::f32::consts::TAU, ..once.clone() };
            // Away from the borders of images, where only repeated ones have neighbors.
            for at in [Vec2::new(0.3, 0.4), Vec2::new(0.6, 0.7), Vec2::new(0.71, 0.26)] {
                assert!(twice.at(at * Vec2::new(0.5, 1.0)).distance(once.at(at)) < 1e-4, "{texture:?} at {at}");
                assert!(back.at(at).distance(once.at(at)) < 1e-2, "{texture:?} at {at}");
                // A quarter turn counterclockwise takes what lies right of the middle above it; v
                // is half as long as u.
                let from = at - 0.5;
                let above = 0.5 + Vec2::new(-0.5 * from.y, 2.0 * from.x);
                assert!(turned.at(above).distance(once.at(at)) < 1e-3, "{texture:?} at {at}");
            }
        }
    }

    #[test]
    fn a_relief_lies_like_the_texture_and_turns_with_it() {
        // Leans along u by 0.6, and stands upright.
        let texels = vec![Vec3::new(0.8, 0.5, 0.9), Vec3::new(128.0 / 255.0, 127.0 / 255.0, 1.0)];
        let image = Arc::new(ColorImage { width: 2, height: 1, texels });
        let flat = ScaledTexture { relief: Some(image), ..ScaledTexture::constant(Vec3::ONE) };
        let leaning = flat.relief_at(Vec2::new(0.2, 0.5)).unwrap();
        assert!(leaning.distance(Vec3::new(0.6, 0.0, 0.8)) < 1e-5, "{leaning}");
        assert_eq!(flat.relief_at(Vec2::new(0.8, 0.5)), None);
        assert_eq!(ScaledTexture::constant(Vec3::ONE).relief_at(Vec2::ZERO), None);
        // A quarter turn takes the left half to the lower one, and u to v.
        let turned = ScaledTexture { rotation: std::f32::consts::FRAC_PI_2, ..flat };
        let leaning = turned.relief_at(Vec2::new(0.5, 0.25)).unwrap();
        assert!(leaning.distance(Vec3::new(0.0, 0.6, 0.8)) < 1e-4, "{leaning}");
    }

    #[test]
    fn images_repeat_outside_the_unit_square_and_take_a_tint() {
        let texels = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        let image = Texture::Image(Arc::new(ColorImage { width: 2, height: 2, texels }));
        let mut texture = ScaledTexture::new(image, Vec2::ONE);
        let inside = texture.at(Vec2::new(0.25, 0.75));
        assert_eq!(inside, Vec3::X);
        assert!(texture.at(Vec2::new(3.25, -1.25)).distance(inside) < 1e-5);
        assert!(texture.at(Vec2::splat(f32::NAN)).is_finite());
        texture.recolor(Vec3::new(0.5, 0.2, 0.1));
        assert_eq!(texture.at(Vec2::new(0.25, 0.75)), Vec3::new(0.5, 0.0, 0.0));
    }
}
