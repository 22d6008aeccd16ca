//! Perceptual difference of two images.
//!
//! Both are converted to Oklab (ottosson2020), whose distances are perceptually uniform, and
//! blurred with a Gaussian of 1.5 pixels, because finer noise is not visible at viewing distance.
//! The difference is the mean distance over the tenth of the pixels where it is largest; black and
//! white are 1 apart, two barely distinguishable colors about 0.02.

use glam::{Mat3, Vec3};
use sessile_appearance::linear_from_srgb;

/// An image in sRGB bytes, three per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

/// Mean perceptual difference over the tenth of the pixels that differ most.
pub fn difference(a: &Bytes, b: &Bytes) -> f32 {
    assert_eq!((a.width, a.height), (b.width, b.height), "images of two sizes");
    let (a, b) = (seen(a), seen(b));
    let mut apart: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).collect();
    apart.sort_unstable_by(|a, b| b.total_cmp(a));
    let worst = &apart[..apart.len().div_ceil(10)];
    worst.iter().sum::<f32>() / worst.len() as f32
}

fn seen(image: &Bytes) -> Vec<Vec3> {
    let texels = image.rgb.chunks_exact(3);
    let mut lab: Vec<Vec3> =
        texels.map(|c| oklab(Vec3::from_slice(&[c[0], c[1], c[2]].map(linear_from_srgb)))).collect();
    let (width, height) = (image.width, image.height);
    (0..height).for_each(|row| blur(&mut lab, row * width, 1, width));
    (0..width).for_each(|column| blur(&mut lab, column, width, height));
    lab
}

/// Oklab of linear sRGB (ottosson2020).
fn oklab(rgb: Vec3) -> Vec3 {
    let cones = Mat3::from_cols_array(&[
        0.412_221_46,
        0.211_903_5,
        0.088_302_46,
        0.536_332_55,
        0.680_699_5,
        0.281_718_85,
        0.051_445_995,
        0.107_396_96,
        0.629_978_7,
    ]) * rgb;
    let cones = Vec3::new(cones.x.cbrt(), cones.y.cbrt(), cones.z.cbrt());
    Mat3::from_cols_array(&[
        0.210_454_26,
        1.977_998_5,
        0.025_904_037,
        0.793_617_8,
        -2.428_592_2,
        0.782_771_77,
        -0.004_072_047,
        0.450_593_7,
        -0.808_675_77,
    ]) * cones
}

fn blur(pixels: &mut [Vec3], start: usize, step: usize, count: usize) {
    let line: Vec<Vec3> = (0..count).map(|i| pixels[start + i * step]).collect();
    let weight = |k: i64| (-(k * k) as f32 / (2.0 * 1.5 * 1.5)).exp();
    let total: f32 = (-4..=4).map(weight).sum();
    for i in 0..count {
        let near = |k: i64| line[(i as i64 + k).clamp(0, count as i64 - 1) as usize];
        pixels[start + i * step] = (-4..=4).map(|k| weight(k) * near(k)).sum::<Vec3>() / total;
    }
}
