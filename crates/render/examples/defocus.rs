//! Error of the denoiser where drops are out of focus: `defocus [WIDTH [REFERENCE_SAMPLES]]`.
//!
//! A pane of drops is 120 mm in front of a lens of 8 mm that is focused at 2 m. The error of images
//! with 64 samples is that of display values, in sRGB from 0 to 1, against the reference. If the
//! environment variable `IMAGES` names a folder, the images are written there.

use std::error::Error;

use cpu_time::ProcessTime;
use sessile_render::{
    Exposure, Framebuffer, ImageSettings, denoise, out_of_focus_pane, render_image, render_image_until, to_srgb,
    write_png,
};
use sessile_scene::types::ViewTransform;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let width: usize = arguments.first().map_or(Ok(640), |text| text.parse())?;
    let samples: u32 = arguments.get(1).map_or(Ok(4096), |text| text.parse())?;
    let (scene, camera) = out_of_focus_pane(300)?;
    let size = [width, width * 9 / 16];
    let mut settings = ImageSettings { size, samples, seed: 99, ..ImageSettings::default() };
    let (reference, _) = render_image(&scene, &camera, &settings, &|_, _| ());
    let exposure = Exposure::automatic([&reference]);
    let shown = |name: &str, image: &Framebuffer| -> Result<Vec<u8>, Box<dyn Error>> {
        let bytes = to_srgb(image, exposure, ViewTransform::Filmic);
        if let Ok(folder) = std::env::var("IMAGES") {
            write_png(format!("{folder}/{name}.png").as_ref(), size[0], size[1], &bytes)?;
        }
        Ok(bytes)
    };
    let expected = shown("reference", &reference)?;
    (settings.samples, settings.seed) = (64, 0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let rendered = render_image_until(&scene, &camera, &settings, &stop, &|_, _| ()).ok_or("stopped")?;
    let halves = Some((&rendered.halves[0][..], &rendered.halves[1][..]));
    let start = ProcessTime::now();
    let denoised = denoise(&rendered.image, halves);
    let seconds = start.elapsed().as_secs_f64();
    let sharp_guides = Framebuffer { mixture: Vec::new(), ..rendered.image.clone() };
    let cases =
        [("noisy", rendered.image.clone()), ("sharp-guides", denoise(&sharp_guides, halves)), ("denoised", denoised)];
    for (name, image) in &cases {
        let found = shown(name, image)?;
        let squares = found.iter().zip(&expected).map(|(&a, &b)| ((f64::from(a) - f64::from(b)) / 255.0).powi(2));
        println!("{name}: RMSE {:.4}", (squares.sum::<f64>() / found.len() as f64).sqrt());
    }
    println!("denoised in {seconds:.2} CPU s");
    Ok(())
}
