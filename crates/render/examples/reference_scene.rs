//! Renders a reference scene in linear radiance: `reference_scene checks|sun SIZE SAMPLES OUT.exr`.

use std::error::Error;
use std::path::Path;

use sessile_render::write_exr;
use sessile_render::{ImageSettings, render_image};
use sessile_render::{drop_in_the_sun, drop_on_checks};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, size, samples, out] = arguments.as_slice() else {
        return Err("usage: reference_scene checks|sun SIZE SAMPLES OUT.exr".into());
    };
    let (scene, camera) = match scene.as_str() {
        "checks" => drop_on_checks(),
        "sun" => drop_in_the_sun(),
        other => return Err(format!("unknown scene `{other}`: expected checks or sun").into()),
    };
    let size = size.parse()?;
    let settings = ImageSettings { size: [size, size], samples: samples.parse()?, ..ImageSettings::default() };
    let (image, _) = render_image(&scene, &camera, &settings, &|_, _| ());
    write_exr(Path::new(out), &image)?;
    Ok(())
}
