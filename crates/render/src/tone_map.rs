//! From light to screen: exposure, a filmic shoulder, sRGB.
//!
//! # Exposure
//!
//! Automatic exposure scales the picture so that its log-average luminance `L̅ = exp(mean ln(δ + Y))` (reinhard2002, eq. 1) lands on that of
//! what it should look like, pixel by pixel: a gray card's 0.18 where nothing is known, 0.22 where the eye meets the sky
//! or sees it through clear things, and `0.18^(1 − k) (0.85 a)^k`, `k = 0.7`, where it meets a surface of albedo `a`, so that white china stays
//! white and black rubber black (`k` = 1 would trust the albedo alone and burn out a mirror in a dark room). Two guards keep odd pictures watchable: pixels count as no darker than `1/4096` of the 99th percentile (a
//! black background must not blow up the one bright drop on it), and the factor never lifts that percentile beyond 4.
//! A video should use one exposure throughout, from its first picture or a few of them: [`Exposure::automatic`] takes many.
//!
//! # Tone curve
//!
//! Colors under a knee `k` pass unchanged, so that what is lit normally keeps its color; above it the largest channel `p` is
//! bent by a hyperbola that leaves the knee with slope 1 and tends to 1:
//!
//! `p' = 1 − (1 − k)² / (p − k + (1 − k))`.
//!
//! The color is scaled by `p'/p`, which keeps its hue, then drawn towards white the more it was compressed, by
//! `1 − 1 / (s (p − p') + 1)`, as film and eyes do with lights. This is the idea of the "PBR neutral" tone mapper
//! (khronos2024) without its correction for the Fresnel reflection of plastics; `k` and `s` are as there.

use glam::Vec3;
use rayon::prelude::*;

use crate::framebuffer::Framebuffer;
use sessile_appearance::{luminance, srgb_from_linear};

/// Where the log-average luminance lands: the reflectance of a gray card.
const MIDDLE_GRAY: f32 = 0.18;

/// Where a sky lands that is seen.
const SKY_LEVEL: f32 = 0.22;

/// Where a white surface would land by its albedo alone, and how far albedos are trusted.
const WHITE_LEVEL: f32 = 0.85;
const TRUST: f32 = 0.7;

/// No surface is lifted beyond this: a metal's albedo says little of what it mirrors.
const BRIGHTEST_WANTED: f32 = 0.55;

/// The 99th percentile of luminance is not lifted beyond this, and pixels count as no darker than it divided by [`RANGE`].
const BRIGHTEST_PERCENTILE: f32 = 4.0;
const RANGE: f32 = 4096.0;

/// Where the shoulder starts.
const KNEE: f32 = 0.8 - 0.04;

/// How fast compressed colors turn white.
const DESATURATION: f32 = 0.15;

/// The factor between radiance and what the tone curve sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure(f32);

impl Exposure {
    /// A given factor: 1 shows radiance as it is. Values that are not positive and finite count as 1.
    pub fn fixed(factor: f32) -> Self {
        Self(if factor.is_normal() && factor > 0.0 { factor } else { 1.0 })
    }

    /// The factor that shows these pictures well together; 1 when all of them are black.
    pub fn automatic<'a>(images: impl IntoIterator<Item = &'a Framebuffer>) -> Self {
        let (mut levels, mut wanted) = (Vec::new(), 0.0);
        for image in images {
            for (i, &color) in image.color.iter().enumerate() {
                let level = luminance(color);
                if level.is_finite() {
                    levels.push(level);
                    wanted += f64::from(wanted_level(image.albedo.get(i).copied())).ln();
                }
            }
        }
        if levels.is_empty() {
            return Self(1.0);
        }
        let wanted = (wanted / levels.len() as f64).exp() as f32;
        let place = (levels.len() - 1) * 99 / 100;
        let (_, &mut bright, _) = levels.select_nth_unstable_by(place, f32::total_cmp);
        // Almost black pictures: what little there is counts.
        let bright = if bright > 0.0 { bright } else { levels.iter().copied().fold(0.0, f32::max) };
        if bright <= 0.0 {
            return Self(1.0);
        }
        let floor = bright / RANGE;
        levels.sort_unstable_by(f32::total_cmp); // one order of summation, whatever the selection left
        let sum: f64 = levels.iter().map(|&level| f64::from(level.max(floor)).ln()).sum();
        let average = (sum / levels.len() as f64).exp() as f32;
        Self::fixed((wanted / average).min(BRIGHTEST_PERCENTILE / bright))
    }

    /// Brighter by a factor.
    #[must_use]
    pub fn times(self, factor: f32) -> Self {
        Self::fixed(self.0 * factor)
    }

    /// The factor itself.
    pub fn factor(self) -> f32 {
        self.0
    }
}

/// How bright a pixel should be that shows a surface of this albedo.
fn wanted_level(albedo: Option<Vec3>) -> f32 {
    match albedo {
        None => MIDDLE_GRAY,
        // Paths leave white where they meet nothing but the sky.
        Some(albedo) if albedo == Vec3::ONE => SKY_LEVEL,
        Some(albedo) => {
            let shown = (WHITE_LEVEL * luminance(albedo)).clamp(0.02, BRIGHTEST_WANTED);
            MIDDLE_GRAY.powf(1.0 - TRUST) * shown.powf(TRUST)
        }
    }
}

/// A color of any brightness to one of the screen, both linear: within `[0, 1]`, same hue, same order of brightness.
pub fn tone_curve(color: Vec3) -> Vec3 {
    let color = finite(color);
    let peak = color.max_element();
    if peak <= KNEE {
        return color;
    }
    let room = 1.0 - KNEE;
    let bent = 1.0 - room * room / (peak - KNEE + room);
    let white = 1.0 - 1.0 / (DESATURATION * (peak - bent) + 1.0);
    (color * (bent / peak)).lerp(Vec3::splat(bent), white).min(Vec3::ONE)
}

/// Light that a screen can be asked for: no negative values, none that are not numbers.
fn finite(color: Vec3) -> Vec3 {
    let clean = |value: f32| if value > 0.0 { value.min(1e9) } else { 0.0 };
    Vec3::new(clean(color.x), clean(color.y), clean(color.z))
}

/// The whole picture as sRGB bytes, three per pixel, rows from the top.
pub fn to_srgb(image: &Framebuffer, exposure: Exposure) -> Vec<u8> {
    let mut bytes = vec![0; image.color.len() * 3];
    bytes.par_chunks_mut(3).zip(&image.color).for_each(|(bytes, &color)| {
        let shown = tone_curve(color * exposure.0);
        bytes.copy_from_slice(&[srgb_from_linear(shown.x), srgb_from_linear(shown.y), srgb_from_linear(shown.z)]);
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
    fn the_curve_is_the_identity_below_the_knee_smooth_rising_and_within_the_screen() {
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
    fn bright_colors_keep_their_hue_and_turn_white() {
        let area_light = Vec3::new(4.0, 2.0, 1.0);
        let shown = tone_curve(area_light);
        assert!(shown.x > shown.y && shown.y > shown.z, "{shown}");
        let hue = |color: Vec3| (color.y - color.z) / (color.x - color.z);
        assert!((hue(shown) - hue(area_light)).abs() < 1e-4, "hue {} from {}", hue(shown), hue(area_light));
        assert!(tone_curve(area_light * 1e4).min_element() > 0.98);
        assert_eq!(tone_curve(Vec3::new(f32::NAN, -3.0, 0.1)), Vec3::new(0.0, 0.0, 0.1));
        assert!(tone_curve(Vec3::splat(f32::INFINITY)).is_finite());
    }

    #[test]
    fn automatic_exposure_brings_the_log_average_to_middle_gray_at_any_scale() {
        for scale in [1e-6, 1.0, 1e6] {
            let shades = (0..1000).map(|index| Vec3::splat(scale * (1.0 + (index % 10) as f32))).collect();
            let image = image(shades);
            let factor = Exposure::automatic([&image]).factor();
            let logs: f32 = image.color.iter().map(|color| (luminance(*color) * factor).ln()).sum();
            let average = (logs / 1000.0).exp();
            assert!((average / MIDDLE_GRAY - 1.0).abs() < 1e-3, "scale {scale}: {average}");
        }
    }

    #[test]
    fn white_things_are_shown_brighter_than_black_ones_in_the_same_light() {
        let shown = |albedo: f32| {
            let lit =
                Framebuffer { albedo: vec![Vec3::splat(albedo); 100], ..image(vec![Vec3::splat(3.0 * albedo); 100]) };
            3.0 * albedo * Exposure::automatic([&lit]).factor()
        };
        let (white, gray, black) = (shown(0.85), shown(0.4), shown(0.05));
        assert!(white > 0.35 && white < 0.8 && black < 0.1, "white {white}, black {black}");
        assert!(gray > 0.2 && gray < 0.4, "{gray}");
    }

    #[test]
    fn a_dark_background_does_not_blow_up_what_is_lit_and_black_stays_black() {
        let mut colors = vec![Vec3::ZERO; 900];
        colors.extend(vec![Vec3::ONE; 100]);
        let factor = Exposure::automatic([&image(colors)]).factor();
        assert!(factor <= BRIGHTEST_PERCENTILE, "{factor}");
        assert_eq!(Exposure::automatic([&image(vec![Vec3::ZERO; 4])]).factor(), 1.0);
        assert_eq!(Exposure::automatic([&image(vec![Vec3::NAN; 4])]).factor(), 1.0);
        assert_eq!(Exposure::automatic([]).factor(), 1.0);
        assert_eq!(to_srgb(&image(vec![Vec3::ZERO; 2]), Exposure::fixed(f32::NAN)), vec![0; 6]);
    }
}
