//! Ground truth as viewable images: `ground_truth_images RUN FRAME OUT` reads a run's
//! `ground-truth/` and writes `OUT/picture.png`, `clean.png`, `mask.png`, `id.png`, `depth.png` and
//! `flow.png`, as in `docs/ground-truth.md`.

use std::error::Error;
use std::path::{Path, PathBuf};

use glam::Vec2;
use sessile_frames::RunFolder;
use sessile_render::write_png;
use sessile_render::{FlowStatus, GroundTruth, GroundTruthFiles, flow_colors};

/// Columns, rows and values of a channel.
fn channel(path: &Path, name: &str) -> Result<(usize, usize, Vec<f32>), Box<dyn Error>> {
    let image = exr::prelude::read_first_flat_layer_from_file(path)?;
    let size = image.layer_data.size;
    let channels = &image.layer_data.channel_data.list;
    let found = channels.iter().find(|channel| channel.name.to_string() == name);
    let found = found.ok_or_else(|| format!("{} has no channel {name}", path.display()))?;
    Ok((size.width(), size.height(), found.sample_data.values_as_f32().collect()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, frame, out] = arguments.as_slice() else { return Err("usage: ground_truth_images RUN FRAME OUT".into()) };
    let folder = RunFolder::open(Path::new(run))?;
    let frame: u64 = frame.parse()?;
    let out = PathBuf::from(out);
    std::fs::create_dir_all(&out)?;
    let files = GroundTruthFiles::of(&folder.ground_truth_path(), frame);
    std::fs::copy(folder.image_path(frame), out.join("picture.png"))?;
    std::fs::copy(files.clean(), out.join("clean.png"))?;
    std::fs::copy(files.mask(), out.join("mask.png"))?;

    let (width, height, ids) = channel(&files.id_exr(), "id")?;
    // A color per id from a hash of its bits.
    let color = |id: &f32| {
        let hashed = (*id as u32).wrapping_mul(0x9e37_79b9).to_le_bytes();
        if *id == 0.0 { [0; 3] } else { [0, 1, 2].map(|i: usize| 64 + hashed[i + 1] / 2) }
    };
    write_png(&out.join("id.png"), width, height, &ids.iter().flat_map(color).collect::<Vec<u8>>())?;

    let (_, _, depths) = channel(&files.depth(), "Z")?;
    let known = || depths.iter().copied().filter(|z| z.is_finite());
    let (low, high) = (known().fold(f32::INFINITY, f32::min), known().fold(0.0, f32::max));
    // Near is bright; the environment is black.
    let gray = |z: &f32| [(255.0 * (1.0 - 0.85 * (z - low) / (high - low).max(1e-9))).clamp(0.0, 255.0) as u8; 3];
    write_png(&out.join("depth.png"), width, height, &depths.iter().flat_map(gray).collect::<Vec<u8>>())?;

    let (x, y) = (channel(&files.flow_exr(), "flow.X")?.2, channel(&files.flow_exr(), "flow.Y")?.2);
    let status = channel(&files.flow_exr(), "flow.status")?.2;
    let truth = GroundTruth {
        flow: x.iter().zip(&y).map(|(&x, &y)| Vec2::new(x, y)).collect(),
        status: status.iter().map(|&code| FlowStatus::of(code as u32).unwrap_or(FlowStatus::Lost)).collect(),
        width,
        height,
        ..GroundTruth::default()
    };
    write_png(&out.join("flow.png"), width, height, &flow_colors(&truth, 0.4 * height as f32))?;
    Ok(())
}
