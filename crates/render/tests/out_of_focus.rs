//! Drops out of focus: the denoiser removes their noise.

use std::sync::atomic::AtomicBool;

use sessile_render::{
    Exposure, Framebuffer, ImageSettings, denoise, out_of_focus_pane, render_image, render_image_until, to_srgb,
};
use sessile_scene::types::ViewTransform;

/// The error of display values; `cargo run --release -p sessile-render --example defocus` measures
/// it at 640 × 360 pixels.
#[test]
fn a_pane_out_of_focus_has_less_than_2_percent_error_and_less_than_with_sharp_guides() {
    let (scene, camera) = out_of_focus_pane(300).unwrap();
    let settings = ImageSettings { size: [128, 72], samples: 64, ..ImageSettings::default() };
    let (reference, _) =
        render_image(&scene, &camera, &ImageSettings { samples: 512, seed: 99, ..settings }, &|_, _| ());
    let exposure = Exposure::automatic([&reference]);
    let expected = to_srgb(&reference, exposure, ViewTransform::Filmic);
    let rendered = render_image_until(&scene, &camera, &settings, &AtomicBool::new(false), &|_, _| ()).unwrap();
    let halves = Some((&rendered.halves[0][..], &rendered.halves[1][..]));
    let error = |image: &Framebuffer| {
        let shown = to_srgb(&denoise(image, halves), exposure, ViewTransform::Filmic);
        let squares = shown.iter().zip(&expected).map(|(&a, &b)| ((f64::from(a) - f64::from(b)) / 255.0).powi(2));
        (squares.sum::<f64>() / expected.len() as f64).sqrt()
    };
    let blurred = error(&rendered.image);
    let sharp = error(&Framebuffer { mixture: Vec::new(), ..rendered.image.clone() });
    assert!(blurred < 0.02 && blurred < sharp, "RMSE {blurred}, with sharp guides {sharp}");
}
