//! Tone mapping: exposure, a view transform, sRGB.
//!
//! # Exposure
//!
//! Automatic exposure scales the image so that its log-average luminance `L̅ = exp(mean ln(δ + Y))`
//! (reinhard2002, eq. 1) matches a target that depends on what each pixel shows: a gray card's 0.18
//! where nothing is known, 0.22 where the environment is seen, directly or through clear objects,
//! and `0.18^(1 − k) (0.85 a)^k`, `k = 0.7`, for a surface of albedo `a`, so that white china stays
//! white and black rubber black (`k` = 1 would rely on the albedo alone and overexpose a reflective
//! surface in a dark room). Two bounds handle extreme images: pixels count as no darker than
//! `1/4096` of the 99th percentile (a black background must not overexpose a bright drop on it),
//! and the factor never raises that percentile above 4. A video should use one exposure throughout;
//! [`Exposure::automatic`] accepts several images.
//!
//! # View transforms
//!
//! Exposure, `standard` and `filmic` keep the hue of a color: channels are scaled together or mixed
//! with white, never clipped one by one.
//!
//! - `standard` is the sRGB curve. A color with a channel above 1 is scaled until that one is 1.
//! - `filmic`, the default, has a shoulder, see below.
//! - `agx` ([`crate::agx`]) has lower contrast, and bright colors turn white earlier; its channels
//!   pass one scale each, so that bright orange turns yellow before it turns white, as on film.
//! - `raw` writes the exposed linear values, clipped at 0 and 1, without the sRGB curve.
//!
//! # The filmic shoulder
//!
//! Colors below a knee `k` are unchanged; above it the largest channel `p` follows a hyperbola that
//! leaves the knee with slope 1 and tends to 1:
//!
//! ```text
//! p' = 1 − (1 − k)² / (p − k + (1 − k))
//! ```
//!
//! The color is scaled by `p'/p`, which keeps its hue, then desaturated towards white by
//! `1 − 1 / (s (p − p') + 1)`. This is the "PBR neutral" tone mapper (khronos2024) without its
//! correction for the Fresnel reflection of plastics; `k` and `s` are the same.
//!
//! Images with a backdrop are shown without a tone curve, clipped at white: the photograph is
//! already an image, and drops must show it with its own colors.

use glam::Vec3;
use rayon::prelude::*;

use crate::agx::agx;
use crate::framebuffer::Framebuffer;
use sessile_appearance::{luminance, srgb_from_linear};
use sessile_scene::types::ViewTransform;

/// Default target luminance: the reflectance of a gray card.
const MIDDLE_GRAY: f32 = 0.18;

/// Target luminance of the environment.
const ENVIRONMENT_LEVEL: f32 = 0.22;

/// Target luminance of a white surface by albedo alone, and the weight of the albedo.
const WHITE_LEVEL: f32 = 0.85;
const ALBEDO_WEIGHT: f32 = 0.7;

/// Maximum target luminance: a metal's albedo does not predict its brightness.
const MAX_TARGET: f32 = 0.55;

/// The 99th percentile of luminance is not raised above this, and pixels count as no darker than it
/// divided by [`RANGE`].
const MAX_PERCENTILE: f32 = 4.0;
const RANGE: f32 = 4096.0;

/// Start of the shoulder.
const KNEE: f32 = 0.8 - 0.04;

/// Rate at which compressed colors are desaturated.
const DESATURATION: f32 = 0.15;

/// The factor from radiance to the input of the tone curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure(f32);

impl Exposure {
    /// A given factor; values that are not positive and finite count as 1.
    pub fn fixed(factor: f32) -> Self {
        Self(if factor.is_normal() && factor > 0.0 { factor } else { 1.0 })
    }

    /// The factor for these images together; 1 when all of them are black.
    pub fn automatic<'a>(images: impl IntoIterator<Item = &'a Framebuffer>) -> Self {
        let (mut levels, mut target) = (Vec::new(), 0.0);
        for image in images {
            for (i, &color) in image.color.iter().enumerate() {
                let level = luminance(color);
                if level.is_finite() {
                    levels.push(level);
                    target += f64::from(target_luminance(image.albedo.get(i).copied())).ln();
                }
            }
        }
        if levels.is_empty() {
            return Self(1.0);
        }
        let target = (target / levels.len() as f64).exp() as f32;
        let place = (levels.len() - 1) * 99 / 100;
        let (_, &mut bright, _) = levels.select_nth_unstable_by(place, f32::total_cmp);
        // In almost black images the maximum replaces the percentile.
        let bright = if bright > 0.0 { bright } else { levels.iter().copied().fold(0.0, f32::max) };
        if bright <= 0.0 {
            return Self(1.0);
        }
        let floor = bright / RANGE;
        levels.sort_unstable_by(f32::total_cmp); // a fixed order of summation
        let sum: f64 = levels.iter().map(|&level| f64::from(level.max(floor)).ln()).sum();
        let average = (sum / levels.len() as f64).exp() as f32;
        Self::fixed((target / average).min(MAX_PERCENTILE / bright))
    }

    /// The factor from radiance to the input of the view transform.
    pub fn factor(self) -> f32 {
        self.0
    }

    /// Brighter by a factor.
    #[must_use]
    pub fn times(self, factor: f32) -> Self {
        Self::fixed(self.0 * factor)
    }
}

/// Target luminance of a pixel that shows a surface of this albedo.
fn target_luminance(albedo: Option<Vec3>) -> f32 {
    match albedo {
        None => MIDDLE_GRAY,
        // The path tracer reports white where only the environment is seen.
        Some(albedo) if albedo == Vec3::ONE => ENVIRONMENT_LEVEL,
        Some(albedo) => {
            let shown = (WHITE_LEVEL * luminance(albedo)).clamp(0.02, MAX_TARGET);
            MIDDLE_GRAY.powf(1.0 - ALBEDO_WEIGHT) * shown.powf(ALBEDO_WEIGHT)
        }
    }
}

/// Scales a color down until no channel exceeds 1, which keeps its hue.
fn scaled_to_white(color: Vec3) -> Vec3 {
    let color = finite(color);
    color / color.max_element().max(1.0)
}

/// An exposed color as a display shows it, encoded in bytes.
fn shown(color: Vec3, view: ViewTransform) -> [u8; 3] {
    match view {
        ViewTransform::Standard => scaled_to_white(color).to_array().map(srgb_from_linear),
        ViewTransform::Filmic => tone_curve(color).to_array().map(srgb_from_linear),
        ViewTransform::Agx => agx(finite(color)).to_array().map(srgb_from_linear),
        ViewTransform::Raw => finite(color).to_array().map(|value| (255.0 * value.min(1.0) + 0.5) as u8),
    }
}

/// Maps a linear color to the display range `[0, 1]`, preserving hue and order of brightness.
pub fn tone_curve(color: Vec3) -> Vec3 {
    let color = finite(color);
    let peak = color.max_element();
    if peak <= KNEE {
        return color;
    }
    let room = 1.0 - KNEE;
    let compressed = 1.0 - room * room / (peak - KNEE + room);
    let white = 1.0 - 1.0 / (DESATURATION * (peak - compressed) + 1.0);
    (color * (compressed / peak)).lerp(Vec3::splat(compressed), white).min(Vec3::ONE)
}

/// Replaces negative and non-finite values.
fn finite(color: Vec3) -> Vec3 {
    let clean = |value: f32| if value > 0.0 { value.min(1e9) } else { 0.0 };
    Vec3::new(clean(color.x), clean(color.y), clean(color.z))
}

/// The image as sRGB bytes, three per pixel, rows from the top. Pixels that show nothing but the
/// backdrop have its own bytes; with a backdrop there is no view transform.
pub fn to_srgb(image: &Framebuffer, exposure: Exposure, view: ViewTransform) -> Vec<u8> {
    let mut bytes = vec![0; image.color.len() * 3];
    let has_backdrop = !image.backdrop.is_empty();
    bytes.par_chunks_mut(3).zip(&image.color).enumerate().for_each(|(i, (bytes, &color))| {
        let exposed = color * exposure.0;
        let encoded = || {
            if has_backdrop { finite(exposed).to_array().map(srgb_from_linear) } else { shown(exposed, view) }
        };
        bytes.copy_from_slice(&image.backdrop.get(i).copied().flatten().unwrap_or_else(encoded));
    });
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(colors: Vec<Vec3>) -> Framebuffer {
        Framebuffer { width: colors.len(), height: 1, color: colors, ..Framebuffer::default() }
    }

    #[test]
    fn the_tone_curve_is_the_identity_below_the_knee_smooth_monotonic_and_bounded() {
        let mid = Vec3::new(0.5, 0.2, 0.1);
        assert_eq!(tone_curve(mid), mid);
        let mut before = 0.0;
        for step in 1..200_000 {
            let now = tone_curve(Vec3::splat(step as f32 * 1e-3)).x;
            let rise = now - before;
            assert!(
                rise > -1e-6 && rise < 1.01e-3 && now <= 1.0,
                "at {}: rises by {rise} to {now}",
                step as f32 * 1e-3
            );
            before = now;
        }
        assert!(before > 0.995, "the brightest is {before}");
    }

    #[test]
    fn bright_colors_keep_their_hue_and_tend_to_white() {
        let bright = Vec3::new(4.0, 2.0, 1.0);
        let shown = tone_curve(bright);
        assert!(shown.x > shown.y && shown.y > shown.z, "{shown}");
        let hue = |color: Vec3| (color.y - color.z) / (color.x - color.z);
        assert!((hue(shown) - hue(bright)).abs() < 1e-4, "hue {} from {}", hue(shown), hue(bright));
        assert!(tone_curve(bright * 1e4).min_element() > 0.98);
        assert_eq!(tone_curve(Vec3::new(f32::NAN, -3.0, 0.1)), Vec3::new(0.0, 0.0, 0.1));
        assert!(tone_curve(Vec3::splat(f32::INFINITY)).is_finite());
    }

    #[test]
    fn automatic_exposure_brings_the_log_average_to_middle_gray_at_any_scale() {
        for scale in [1e-6, 1.0, 1e6] {
            let shades = (0..1000).map(|index| Vec3::splat(scale * (1.0 + (index % 10) as f32))).collect();
            let image = image(shades);
            let factor = Exposure::automatic([&image]).0;
            let logs: f32 = image.color.iter().map(|color| (luminance(*color) * factor).ln()).sum();
            let average = (logs / 1000.0).exp();
            assert!((average / MIDDLE_GRAY - 1.0).abs() < 1e-3, "scale {scale}: {average}");
        }
    }

    #[test]
    fn white_surfaces_are_shown_brighter_than_black_ones_in_the_same_light() {
        let shown = |albedo: f32| {
            let lit =
                Framebuffer { albedo: vec![Vec3::splat(albedo); 100], ..image(vec![Vec3::splat(3.0 * albedo); 100]) };
            3.0 * albedo * Exposure::automatic([&lit]).0
        };
        let (white, gray, black) = (shown(0.85), shown(0.4), shown(0.05));
        assert!(white > 0.35 && white < 0.8 && black < 0.1, "white {white}, black {black}");
        assert!(gray > 0.2 && gray < 0.4, "{gray}");
    }

    #[test]
    fn dark_backgrounds_do_not_overexpose_and_black_stays_black() {
        let mut colors = vec![Vec3::ZERO; 900];
        colors.extend(vec![Vec3::ONE; 100]);
        let factor = Exposure::automatic([&image(colors)]).0;
        assert!(factor <= MAX_PERCENTILE, "{factor}");
        assert_eq!(Exposure::automatic([&image(vec![Vec3::ZERO; 4])]).0, 1.0);
        assert_eq!(Exposure::automatic([&image(vec![Vec3::NAN; 4])]).0, 1.0);
        assert_eq!(Exposure::automatic([]).0, 1.0);
        assert_eq!(to_srgb(&image(vec![Vec3::ZERO; 2]), Exposure::fixed(f32::NAN), ViewTransform::Filmic), vec![0; 6]);
    }

    #[test]
    fn view_transforms_keep_hue_and_raw_is_linear() {
        // Amber of increasing exposure: green stays halfway between red and blue.
        for view in [ViewTransform::Standard, ViewTransform::Filmic, ViewTransform::Agx] {
            let mut before = 0;
            for exposure in [0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 50.0] {
                let bytes = shown(exposure * Vec3::new(0.9, 0.5, 0.1), view);
                let [red, green, blue] = bytes.map(sessile_appearance::linear_from_srgb);
                assert!(bytes[0] >= before, "{view:?} at {exposure}: darker");
                before = bytes[0];
                assert!(red >= green && green >= blue, "{view:?} at {exposure}: {bytes:?}");
                if red - blue > 0.1 && view != ViewTransform::Agx {
                    let hue = (green - blue) / (red - blue);
                    // A byte is 1 % of such a difference.
                    assert!((hue - 0.5).abs() < 0.03, "{view:?} at {exposure}: hue {hue} of {bytes:?}");
                }
            }
            assert!(before > 240, "{view:?}: a bright color is {before}");
        }
        assert_eq!(shown(Vec3::new(2.0, 1.0, 0.0), ViewTransform::Standard), [255, 188, 0]);
        assert_eq!(shown(Vec3::new(0.5, 0.2, 7.0), ViewTransform::Raw), [128, 51, 255]);
    }
}
