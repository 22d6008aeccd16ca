//! Renders one frame of a run: `render_frame RUN FRAME OUT.png [SAMPLES [WIDTHxHEIGHT]]`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use sessile_appearance::{SceneAssets, frame_scene, srgb_from_linear};
use sessile_frames::RunFolder;
use sessile_render::render_scene_of_frame;
use sessile_render::{ImageSettings, render_image, write_png};
use sessile_world::World;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, frame, out, rest @ ..] = arguments.as_slice() else {
        return Err("usage: render_frame RUN FRAME OUT.png [SAMPLES [WIDTHxHEIGHT]]".into());
    };
    let folder = RunFolder::open(Path::new(run))?;
    let scene = sessile_scene::parse_file(&folder.scene_path(), &[])?.scene;
    let frame: u64 = frame.parse()?;
    let (liquid, stamp) = folder.read_frame(frame)?;
    let mut world = World::build(&scene)?;
    world.advance_to(stamp.time);
    let mut wet = Vec::new();
    for (index, solid) in scene.solids.iter().enumerate() {
        wet.extend(folder.read_wet(&solid.name, index, frame)?);
    }
    let [width, height] = match rest.get(1).and_then(|size| size.split_once('x')) {
        Some((width, height)) => [width.parse()?, height.parse()?],
        None => scene.render.size.map(|n| n as usize),
    };
    let samples = rest.first().map_or(Ok(scene.render.samples), |text| text.parse())?;
    let mut settings = ImageSettings { size: [width, height], samples, noise: 0.008, ..ImageSettings::default() };
    settings.paths.clamp = 10.0;

    let start = Instant::now();
    let assets = SceneAssets::load(&scene)?;
    let backdrop = assets.backdrop(&scene, settings.size);
    let render_scene = render_scene_of_frame(&scene, &assets, backdrop, &world, &liquid, &wet, 0.0);
    let camera = frame_scene(&scene, &world, width as f64 / height as f64);
    let built = start.elapsed().as_secs_f64();
    let (image, cost) = render_image(&render_scene, &camera, &settings, &|_, _| ());
    let traced = start.elapsed().as_secs_f64() - built;
    println!("{} triangles, scene built in {built:.3} s", render_scene.num_triangles());
    println!(
        "{:.1} samples per pixel, {:.2} million rays in {traced:.2} s: {:.2} million per second",
        cost.paths as f64 / (width * height) as f64,
        cost.rays as f64 * 1e-6,
        cost.rays as f64 * 1e-6 / traced
    );
    let bytes = image.color.iter().flat_map(|c| c.to_array().map(srgb_from_linear)).collect::<Vec<u8>>();
    write_png(out.as_ref(), width, height, &bytes)?;
    Ok(())
}
