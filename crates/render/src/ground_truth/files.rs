//! Ground-truth files of a frame: `00000.clean.png`, `.mask.png`, `.id.png`, `.id.exr`,
//! `.depth.exr`, `.flow.exr`, `.flow.flo`.

use std::path::{Path, PathBuf};

use exr::prelude::{AnyChannel, FlatSamples};
use glam::{Vec2, Vec3};
use sessile_frames::atomic::{self, Durability};
use sessile_frames::names::frame_file;

use super::{FlowStatus, GroundTruth};
use crate::image_files::{ImageFileError, write_channels, write_png, write_png_gray};
use sessile_appearance::srgb_from_linear;

/// Value of an unknown flow in Middlebury's `.flo` files: more than 10⁹.
const UNKNOWN_FLOW: f32 = 1e10;

/// First number of a `.flo` file; its bytes read "PIEH".
const FLO_TAG: f32 = 202_021.25;

/// Largest id that fits three bytes; larger ones are clamped in the PNG.
const LARGEST_PNG_ID: u32 = 0xff_ffff;

/// Paths of the files of one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroundTruthFiles {
    folder: PathBuf,
    frame: u64,
}

impl GroundTruthFiles {
    /// The files of a frame in a folder.
    pub fn of(folder: &Path, frame: u64) -> Self {
        Self { folder: folder.to_owned(), frame }
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(frame_file(self.frame, ending))
    }

    /// The clean view.
    pub fn clean(&self) -> PathBuf {
        self.path("clean.png")
    }

    /// Fraction of each pixel that shows drops, 8-bit gray: 255 is all of it.
    pub fn mask(&self) -> PathBuf {
        self.path("mask.png")
    }

    /// Ids as red + 256 green + 65536 blue.
    pub fn id_png(&self) -> PathBuf {
        self.path("id.png")
    }

    /// Ids, channel `id`, unsigned integers.
    pub fn id_exr(&self) -> PathBuf {
        self.path("id.exr")
    }

    /// Depths, channels `Z`, `distance`, `clean.Z` and `clean.distance`, floats, in m.
    pub fn depth(&self) -> PathBuf {
        self.path("depth.exr")
    }

    /// Flow, channels `flow.X` and `flow.Y`, floats, in pixels, and `flow.status`, unsigned
    /// integers.
    pub fn flow_exr(&self) -> PathBuf {
        self.path("flow.exr")
    }

    /// The same flow in Middlebury's format.
    pub fn flow_flo(&self) -> PathBuf {
        self.path("flow.flo")
    }

    /// Whether all files exist.
    pub fn exist(&self) -> bool {
        let all =
            [self.clean(), self.mask(), self.id_png(), self.id_exr(), self.depth(), self.flow_exr(), self.flow_flo()];
        all.iter().all(|path| path.is_file())
    }
}

/// Writes all files of one frame; `clean` is the clean view as sRGB bytes.
pub fn write_ground_truth(files: &GroundTruthFiles, truth: &GroundTruth, clean: &[u8]) -> Result<(), ImageFileError> {
    let (width, height) = (truth.width, truth.height);
    write_png(&files.clean(), width, height, clean)?;
    write_fractions(&files.mask(), [width, height], &truth.coverage)?;
    write_ids(&files.id_png(), truth)?;
    let floats = |name: &str, values: Vec<f32>| AnyChannel::new(name, FlatSamples::F32(values));
    let integers = |name: &str, values: Vec<u32>| AnyChannel::new(name, FlatSamples::U32(values));
    write_channels(&files.id_exr(), width, height, "id", vec![integers("id", truth.drop.clone())])?;
    let depths = vec![
        floats("Z", truth.z.clone()),
        floats("distance", truth.distance.clone()),
        floats("clean.Z", truth.clean_z.clone()),
        floats("clean.distance", truth.clean_distance.clone()),
    ];
    write_channels(&files.depth(), width, height, "depth", depths)?;
    write_flow(&files.flow_exr(), truth)?;
    Ok(atomic::write(&files.flow_flo(), &flo_bytes(truth), Durability::Handed)?)
}

/// Fractions as 8-bit gray: 255 is 1, and 0 is nothing but 0.
fn write_fractions(path: &Path, [width, height]: [usize; 2], fractions: &[f32]) -> Result<(), ImageFileError> {
    let code = |share: &f32| (255.0 * share.clamp(0.0, 1.0)).round().max(if *share > 0.0 { 1.0 } else { 0.0 }) as u8;
    let gray: Vec<u8> = fractions.iter().map(code).collect();
    write_png_gray(path, width, height, &gray)
}

/// Ids as red + 256 green + 65536 blue.
fn write_ids(path: &Path, truth: &GroundTruth) -> Result<(), ImageFileError> {
    let bytes = |id: &u32| {
        let [red, green, blue, _] = (*id).min(LARGEST_PNG_ID).to_le_bytes();
        [red, green, blue]
    };
    write_png(path, truth.width, truth.height, &truth.drop.iter().flat_map(bytes).collect::<Vec<u8>>())
}

/// Flow in pixels, and its status.
fn write_flow(path: &Path, truth: &GroundTruth) -> Result<(), ImageFileError> {
    let floats = |name: &str, values: Vec<f32>| AnyChannel::new(name, FlatSamples::F32(values));
    let status = truth.status.iter().map(|&status| status as u32).collect();
    let channels = vec![
        floats("flow.X", truth.flow.iter().map(|flow| flow.x).collect()),
        floats("flow.Y", truth.flow.iter().map(|flow| flow.y).collect()),
        AnyChannel::new("flow.status", FlatSamples::U32(status)),
    ];
    write_channels(path, truth.width, truth.height, "flow", channels)
}

/// Writes the ground truth of a dataset's sample into a folder: `coverage.png`, `ids.png`,
/// `depth.exr` with `Z` and `clean.Z`, `flow.exr`.
pub fn write_sample_truth(folder: &Path, truth: &GroundTruth, coverage: &[f32]) -> Result<(), ImageFileError> {
    let size = [truth.width, truth.height];
    write_fractions(&folder.join("coverage.png"), size, coverage)?;
    write_ids(&folder.join("ids.png"), truth)?;
    let depth = |name: &str, values: &[f32]| AnyChannel::new(name, FlatSamples::F32(values.to_vec()));
    let depths = vec![depth("Z", &truth.z), depth("clean.Z", &truth.clean_z)];
    write_channels(&folder.join("depth.exr"), size[0], size[1], "depth", depths)?;
    write_flow(&folder.join("flow.exr"), truth)
}

/// A `.flo` file, little-endian: tag, width, height, then u and v of every pixel row by row
/// (baker2011, data format).
fn flo_bytes(truth: &GroundTruth) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + 8 * truth.flow.len());
    bytes.extend(FLO_TAG.to_le_bytes());
    bytes.extend((truth.width as u32).to_le_bytes());
    bytes.extend((truth.height as u32).to_le_bytes());
    for (&flow, &status) in truth.flow.iter().zip(&truth.status) {
        let known = matches!(status, FlowStatus::NoDrop | FlowStatus::Valid);
        let flow = if known { flow } else { Vec2::splat(UNKNOWN_FLOW) };
        bytes.extend(flow.x.to_le_bytes());
        bytes.extend(flow.y.to_le_bytes());
    }
    bytes
}

/// The flow in false color, sRGB bytes: hue is its direction, saturation its length, saturated at
/// `longest` pixels; white without drops, black where it is not valid.
pub fn flow_colors(truth: &GroundTruth, longest: f32) -> Vec<u8> {
    let color = |(flow, status): (&Vec2, &FlowStatus)| match status {
        FlowStatus::NoDrop => Vec3::ONE,
        FlowStatus::Valid => {
            let third = std::f32::consts::TAU / 3.0;
            let part = |shift: f32| 0.5 + 0.5 * (flow.y.atan2(flow.x) - shift * third).cos();
            let hue = Vec3::new(part(0.0), part(1.0), part(2.0));
            Vec3::ONE.lerp(hue, (flow.length() / longest.max(1e-6)).min(1.0))
        }
        _ => Vec3::ZERO,
    };
    truth.flow.iter().zip(&truth.status).flat_map(|pixel| color(pixel).to_array().map(srgb_from_linear)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_images::Image;

    #[test]
    fn files_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let files = GroundTruthFiles::of(folder.path(), 7);
        let truth = GroundTruth {
            width: 3,
            height: 1,
            coverage: vec![0.0, 0.5, 1.0],
            drop: vec![0, 70_000, 20_000_000],
            z: vec![f32::INFINITY, 1.0, 2.0],
            distance: vec![f32::INFINITY, 1.5, 2.5],
            clean_z: vec![3.0; 3],
            clean_distance: vec![4.0; 3],
            flow: vec![Vec2::ZERO, Vec2::new(-2.5, 1.25), Vec2::ZERO],
            status: vec![FlowStatus::NoDrop, FlowStatus::Valid, FlowStatus::TotalReflection],
        };
        write_ground_truth(&files, &truth, &[9; 9]).unwrap();
        assert!(files.exist());
        let mask = Image::read(&files.mask()).unwrap().gray();
        assert_eq!(mask, [0.0, 128.0 / 255.0, 1.0]);
        let ids = Image::read(&files.id_png()).unwrap().rgb_bytes();
        assert_eq!(ids, [0, 0, 0, 0x70, 0x11, 0x01, 255, 255, 255]);
        let channels = |path: PathBuf| {
            let image = exr::prelude::read_first_flat_layer_from_file(path).unwrap();
            image.layer_data.channel_data.list.to_vec()
        };
        let ids = channels(files.id_exr());
        assert!(matches!(&ids[0].sample_data, FlatSamples::U32(ids) if *ids == truth.drop), "{ids:?}");
        let names: Vec<String> = channels(files.depth()).iter().map(|channel| channel.name.to_string()).collect();
        assert_eq!(names, ["Z", "clean.Z", "clean.distance", "distance"]);
        let flow = channels(files.flow_exr());
        assert_eq!(flow[0].sample_data.values_as_f32().collect::<Vec<_>>(), [0.0, -2.5, 0.0]);
        assert_eq!(flow[2].sample_data.values_as_f32().collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        let flo = std::fs::read(files.flow_flo()).unwrap();
        assert_eq!(&flo[..4], b"PIEH");
        let numbers: Vec<f32> = flo[12..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(numbers, [0.0, 0.0, -2.5, 1.25, 1e10, 1e10]);
    }
}
