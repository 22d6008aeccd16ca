//! Noise against time, with photons and without:
//! `convergence SCENE [SIZE [REFERENCE_SAMPLES [REFERENCE_FILE]]]`.
//!
//! SCENE is `checks` or `sun`. The reference is path tracing without photons for `checks`; for
//! `sun` that would take days, so it uses many photons. If REFERENCE_FILE is given, the reference
//! is stored there and read again. If the environment variable `IMAGES` names a folder, every image
//! is written there.

use std::error::Error;
use std::fs;

use cpu_time::ProcessTime;
use glam::Vec3;
use sessile_render::{ImageSettings, render_image, write_png};
use sessile_render::{drop_in_the_sun, drop_on_checks};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (scene, camera) = match arguments.first().map(String::as_str) {
        Some("checks") => drop_on_checks(),
        Some("sun") => drop_in_the_sun(),
        _ => return Err("usage: convergence checks|sun [SIZE [REFERENCE_SAMPLES [REFERENCE_FILE]]]".into()),
    };
    let size: usize = arguments.get(1).map_or(Ok(256), |text| text.parse())?;
    let reference_samples: u32 = arguments.get(2).map_or(Ok(4096), |text| text.parse())?;
    let make = |samples: u32, photons: u32, noise: f32, seed: u32| {
        let settings = ImageSettings { size: [size, size], samples, seed, noise, photons, ..Default::default() };
        let start = ProcessTime::now();
        let (image, cost) = render_image(&scene, &camera, &settings, &|_, _| ());
        (image, cost, start.elapsed().as_secs_f64())
    };
    let kept = arguments.get(3).and_then(|file| fs::read(file).ok()).map(|bytes| {
        let number = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        bytes.chunks_exact(12).map(|b| Vec3::new(number(b), number(&b[4..]), number(&b[8..]))).collect::<Vec<Vec3>>()
    });
    let reference = match kept {
        Some(colors) if colors.len() == size * size => colors,
        _ => {
            let photons = if arguments[0] == "sun" { 1 << 23 } else { 0 };
            let colors = make(reference_samples, photons, 0.0, 99).0.color;
            if let Some(file) = arguments.get(3) {
                fs::write(
                    file,
                    colors.iter().flat_map(Vec3::to_array).flat_map(f32::to_le_bytes).collect::<Vec<u8>>(),
                )?;
            }
            colors
        }
    };
    let sum = |colors: &[Vec3]| colors.iter().map(|c| f64::from(c.element_sum())).sum::<f64>();
    println!("photons  samples  noise   CPU s  at 512²    RMSE  cut at 1  light   on drop  million rays/s");
    for (photons, samples, noise) in [
        (0, 16, 0.0),
        (0, 64, 0.0),
        (0, 256, 0.0),
        (1 << 15, 16, 0.0),
        (1 << 17, 16, 0.0),
        (1 << 17, 64, 0.0),
        (1 << 19, 64, 0.0),
        (1 << 19, 256, 0.0),
        (1 << 17, 256, 0.008),
        (1 << 17, 256, 0.004),
    ] {
        let (image, cost, seconds) = make(samples, photons, noise, 0);
        if let Ok(folder) = std::env::var("IMAGES") {
            let byte = |c: f32| (255.0 * c.clamp(0.0, 1.0).powf(1.0 / 2.2) + 0.5) as u8;
            let bytes = image.color.iter().flat_map(|c| c.to_array().map(byte)).collect::<Vec<u8>>();
            let name = format!("{folder}/{}_{photons}_{samples}_{noise}.png", arguments[0]);
            write_png(name.as_ref(), size, size, &bytes)?;
        }
        // A display clips at 1; without clipping the reflection of the sun, a tenth of a pixel,
        // would dominate the error.
        let error = |cut: f32| {
            let off = |(a, b): (&Vec3, &Vec3)| {
                f64::from((a.min(Vec3::splat(cut)) - b.min(Vec3::splat(cut))).length_squared())
            };
            (image.color.iter().zip(&reference).map(off).sum::<f64>() / (3.0 * reference.len() as f64)).sqrt()
        };
        let on_drop = |colors: &[Vec3]| -> f64 {
            colors.iter().zip(&image.drop).filter(|(_, d)| **d > 0).map(|(c, _)| f64::from(c.element_sum())).sum()
        };
        println!(
            "{photons:7}  {samples:7}  {noise:5.3}  {seconds:6.2}  {:7.1}  {:6.4}  {:8.4}  {:.4}  {:.4}  {:.2}",
            seconds * (512.0 / size as f64).powi(2),
            error(f32::INFINITY),
            error(1.0),
            sum(&image.color) / sum(&reference),
            on_drop(&image.color) / on_drop(&reference),
            cost.rays as f64 * 1e-6 / seconds,
        );
    }
    Ok(())
}
