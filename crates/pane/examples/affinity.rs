//! Draws the affinity of `scenes/affinity.toml`: three winding channels that like water.
//!
//! ```text
//! cargo run -p sessile-pane --example affinity > assets/affinity.png
//! ```

use std::f64::consts::TAU;

/// Pixels along a side.
const SIDE: usize = 256;
/// Middle, amplitude and phase of each channel.
const CHANNELS: [[f64; 3]; 3] = [[40.0, 22.0, 0.3], [128.0, 26.0, 1.9], [214.0, 22.0, 4.0]];

fn main() -> Result<(), png::EncodingError> {
    let gray = |x: usize, y: usize| {
        let distance = |&[middle, amplitude, phase]: &[f64; 3]| {
            (x as f64 - middle - amplitude * (1.25 * TAU * y as f64 / SIDE as f64 + phase).sin()).abs()
        };
        let nearest = CHANNELS.iter().map(distance).fold(f64::INFINITY, f64::min);
        // A channel, and a gentle rise towards it, so that streams gather.
        let value = (-(nearest / 9.0).powi(2)).exp().max(0.6 * (1.0 - nearest / 46.0).max(0.0));
        (255.0 * value).round() as u8
    };
    let pixels: Vec<u8> = (0..SIDE * SIDE).map(|k| gray(k % SIDE, k / SIDE)).collect();
    let mut encoder = png::Encoder::new(std::io::stdout().lock(), SIDE as u32, SIDE as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header()?.write_image_data(&pixels)
}
