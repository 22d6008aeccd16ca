//! The picture of a known scene in linear radiance: `known_picture checks|sun SIZE SAMPLES OUT.exr`.

use std::error::Error;
use std::path::Path;

use sessile_render::image_files::write_exr;
use sessile_render::known_scenes::{drop_in_the_sun, drop_on_checks};
use sessile_render::render_picture::{PictureSettings, render_picture};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, size, samples, out] = arguments.as_slice() else {
        return Err("usage: known_picture checks|sun SIZE SAMPLES OUT.exr".into());
    };
    let (stage, camera) = match scene.as_str() {
        "checks" => drop_on_checks(),
        "sun" => drop_in_the_sun(),
        other => return Err(format!("there is no known scene `{other}`: give checks or sun").into()),
    };
    let size = size.parse()?;
    let settings = PictureSettings { size: [size, size], samples: samples.parse()?, ..PictureSettings::default() };
    let (picture, _) = render_picture(&stage, &camera, &settings, &|_, _| ());
    write_exr(Path::new(out), &picture)?;
    Ok(())
}
