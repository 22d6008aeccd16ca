//! Image files: PNG and JPEG for display, EXR with all buffers of the renderer.
//!
//! An EXR has one layer, half floats for color and full floats where precision matters, with these
//! channels:
//!
//! | channels | content | type |
//! |---|---|---|
//! | `R G B` | linear radiance | half |
//! | `albedo.R G B` | albedo of the first surface that is not clear | half |
//! | `normal.X Y Z` | world normal, zero where the environment is seen | half |
//! | `Z` | distance from the camera in m, infinite where the environment is seen | float |
//! | `drop.id` | id of the drop as in `measure.jsonl`, 0 without a drop | unsigned integer |
//!
//! Channels of empty buffers are left out. Files are written under a temporary name and renamed.

use std::io::Cursor;
use std::path::Path;

use exr::prelude::{
    AnyChannel, AnyChannels, Compression, Encoding, FlatSamples, Image, Layer, LayerAttributes, LineOrder,
    WritableImage, f16,
};
use glam::Vec3;
use jpeg_encoder::{ColorType, Encoder};
use sessile_frames::atomic::{self, Durability, FileError};

use crate::framebuffer::Framebuffer;

/// Why an image could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ImageFileError {
    /// The file system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// A buffer does not match the image size.
    #[error(
        "an image of {width} × {height} pixels has {found} values of {what}: expected one per pixel, and at least one pixel"
    )]
    Size {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Which buffer.
        what: &'static str,
        /// Its length.
        found: usize,
    },
    /// The encoder failed.
    #[error("the image cannot be encoded: {0}")]
    Encode(String),
}

/// Writes sRGB bytes, three per pixel, rows from the top, as a PNG.
pub fn write_png(path: &Path, width: usize, height: usize, rgb: &[u8]) -> Result<(), ImageFileError> {
    write_png_with_text(path, width, height, rgb, &[])
}

/// The same with text chunks: keywords and texts in Latin-1.
pub fn write_png_with_text(
    path: &Path,
    width: usize,
    height: usize,
    rgb: &[u8],
    texts: &[(&str, &str)],
) -> Result<(), ImageFileError> {
    write_bytes(path, [width, height], rgb, png::ColorType::Rgb, texts)
}

/// Writes gray bytes, one per pixel, rows from the top, as a PNG without a color space: they are
/// data, not brightness.
pub fn write_png_gray(path: &Path, width: usize, height: usize, gray: &[u8]) -> Result<(), ImageFileError> {
    write_bytes(path, [width, height], gray, png::ColorType::Grayscale, &[])
}

fn write_bytes(
    path: &Path,
    [width, height]: [usize; 2],
    bytes: &[u8],
    color: png::ColorType,
    texts: &[(&str, &str)],
) -> Result<(), ImageFileError> {
    let what = if color == png::ColorType::Rgb { "sRGB bytes" } else { "gray bytes" };
    let wrong = || ImageFileError::Size { width, height, what, found: bytes.len() };
    let [columns, rows] = [width, height].map(|count| u32::try_from(count).ok().filter(|&count| count > 0));
    let (Some(columns), Some(rows)) = (columns, rows) else { return Err(wrong()) };
    if width.checked_mul(height).and_then(|pixels| pixels.checked_mul(color.samples())) != Some(bytes.len()) {
        return Err(wrong());
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, columns, rows);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    if color == png::ColorType::Rgb {
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    }
    let with_texts = texts.iter().try_for_each(|&(keyword, text)| encoder.add_text_chunk(keyword.into(), text.into()));
    with_texts
        .and_then(|()| encoder.write_header())
        .and_then(|mut writer| {
            writer.write_image_data(bytes)?;
            writer.finish()
        })
        .map_err(|error| ImageFileError::Encode(error.to_string()))?;
    Ok(atomic::write(path, &file, Durability::Handed)?)
}

/// Writes sRGB bytes, three per pixel, rows from the top, as a JPEG with a quality from 1 to 100.
pub fn write_jpeg(path: &Path, width: usize, height: usize, rgb: &[u8], quality: u8) -> Result<(), ImageFileError> {
    let wrong = || ImageFileError::Size { width, height, what: "sRGB bytes", found: rgb.len() };
    let [columns, rows] = [width, height].map(|count| u16::try_from(count).ok().filter(|&count| count > 0));
    let (Some(columns), Some(rows)) = (columns, rows) else { return Err(wrong()) };
    if rgb.len() != 3 * width * height {
        return Err(wrong());
    }
    let mut file = Vec::new();
    Encoder::new(&mut file, quality)
        .encode(rgb, columns, rows, ColorType::Rgb)
        .map_err(|error| ImageFileError::Encode(error.to_string()))?;
    Ok(atomic::write(path, &file, Durability::Handed)?)
}

/// Writes all buffers of an image as an EXR.
pub fn write_exr(path: &Path, image: &Framebuffer) -> Result<(), ImageFileError> {
    let pixels = image.width.checked_mul(image.height).filter(|&pixels| pixels > 0);
    let check = |what: &'static str, found: usize, optional: bool| {
        if Some(found) == pixels || (optional && found == 0 && pixels.is_some()) {
            return Ok(());
        }
        Err(ImageFileError::Size { width: image.width, height: image.height, what, found })
    };
    check("color", image.color.len(), false)?;
    check("albedo", image.albedo.len(), true)?;
    check("normal", image.normal.len(), true)?;
    check("depth", image.depth.len(), true)?;
    check("drop", image.drop.len(), true)?;

    let mut channels = Vec::new();
    let mut vectors = |names: [&str; 3], values: &[Vec3]| {
        for (axis, name) in names.into_iter().enumerate().filter(|_| !values.is_empty()) {
            let samples = values.iter().map(|value| f16::from_f32(value[axis])).collect();
            channels.push(AnyChannel::new(name, FlatSamples::F16(samples)));
        }
    };
    vectors(["R", "G", "B"], &image.color);
    vectors(["albedo.R", "albedo.G", "albedo.B"], &image.albedo);
    vectors(["normal.X", "normal.Y", "normal.Z"], &image.normal);
    if !image.depth.is_empty() {
        channels.push(AnyChannel::new("Z", FlatSamples::F32(image.depth.clone())));
    }
    if !image.drop.is_empty() {
        channels.push(AnyChannel::new("drop.id", FlatSamples::U32(image.drop.clone())));
    }

    write_channels(path, image.width, image.height, "picture", channels)
}

/// Writes channels of `width` × `height` values each as one layer of an EXR, losslessly.
pub fn write_channels(
    path: &Path,
    width: usize,
    height: usize,
    layer: &'static str,
    channels: Vec<AnyChannel<FlatSamples>>,
) -> Result<(), ImageFileError> {
    let pixels = width.checked_mul(height).filter(|&pixels| pixels > 0);
    if let Some(odd) = channels.iter().find(|channel| Some(channel.sample_data.len()) != pixels) {
        return Err(ImageFileError::Size { width, height, what: layer, found: odd.sample_data.len() });
    }
    let encoding =
        Encoding { compression: Compression::ZIP16, line_order: LineOrder::Increasing, ..Encoding::default() };
    let layer =
        Layer::new((width, height), LayerAttributes::named(layer), encoding, AnyChannels::sort(channels.into()));
    let mut bytes = Cursor::new(Vec::new());
    let image = Image::from_layer(layer);
    image.write().non_parallel().to_buffered(&mut bytes).map_err(|error| ImageFileError::Encode(error.to_string()))?;
    Ok(atomic::write(path, bytes.get_ref(), Durability::Handed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Framebuffer {
        let (width, height) = (37, 21);
        let pixels = width * height;
        let wave = |index: usize, step: f32| ((index as f32 * step).sin() + 1.0) * 2.0;
        Framebuffer {
            width,
            height,
            color: (0..pixels).map(|i| Vec3::new(wave(i, 0.1), wave(i, 0.2) * 100.0, 0.25)).collect(),
            albedo: vec![Vec3::new(0.5, 0.25, 0.75); pixels],
            normal: (0..pixels).map(|i| if i % 3 == 0 { Vec3::ZERO } else { Vec3::NEG_Y }).collect(),
            depth: (0..pixels).map(|i| if i % 3 == 0 { f32::INFINITY } else { 0.001 * i as f32 }).collect(),
            drop: (0..pixels).map(|i| 100_000 * (i as u32 % 3)).collect(),
            ..Framebuffer::default()
        }
    }

    #[test]
    fn an_exr_round_trips_every_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.exr");
        let image = image();
        write_exr(&path, &image).unwrap();
        let file = exr::prelude::read_first_flat_layer_from_file(&path).unwrap();
        assert_eq!((file.layer_data.size.width(), file.layer_data.size.height()), (37, 21));
        let channels = &file.layer_data.channel_data.list;
        let names: Vec<String> = channels.iter().map(|channel| channel.name.to_string()).collect();
        let expected =
            ["B", "G", "R", "Z", "albedo.B", "albedo.G", "albedo.R", "drop.id", "normal.X", "normal.Y", "normal.Z"];
        assert_eq!(names, expected);
        let values = |name: &str| -> Vec<f32> {
            let channel = channels.iter().find(|channel| channel.name.to_string() == name).unwrap();
            channel.sample_data.values_as_f32().collect()
        };
        for (found, color) in values("G").iter().zip(&image.color) {
            assert!((found - color.y).abs() <= color.y / 1024.0, "{found} for {}", color.y);
        }
        assert_eq!(values("Z"), image.depth);
        assert_eq!(values("drop.id"), image.drop.iter().map(|&id| id as f32).collect::<Vec<_>>());
        assert_eq!(values("normal.Y"), image.normal.iter().map(|normal| normal.y).collect::<Vec<_>>());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary is left");
    }

    #[test]
    fn an_exr_can_be_an_environment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("room.exr");
        let color = vec![Vec3::new(0.5, 1.0, 2.0); 32];
        write_exr(&path, &Framebuffer { width: 8, height: 4, color, ..Framebuffer::default() }).unwrap();
        let environment = sessile_appearance::Environment::open(&path, 2.0).unwrap();
        assert_eq!(environment.radiance(Vec3::X), Vec3::new(1.0, 2.0, 4.0));
    }

    #[test]
    fn a_png_round_trips_and_is_tagged_as_srgb() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let rgb: Vec<u8> = (0..5 * 3 * 3).map(|byte| (byte * 37 % 256) as u8).collect();
        write_png(&path, 5, 3, &rgb).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        assert!(reader.info().srgb.is_some());
        let mut read = vec![0; rgb.len()];
        let info = reader.next_frame(&mut read).unwrap();
        assert_eq!((info.width, info.height), (5, 3));
        assert_eq!(read, rgb);
    }

    #[test]
    fn a_jpeg_shows_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jpg");
        let (width, height) = (40, 24);
        let wave = |i: usize| (128.0 + 100.0 * (0.2 * i as f64).sin()) as u8;
        let rgb: Vec<u8> = (0..width * height).flat_map(|i| [wave(i % width), wave(i / width), 90]).collect();
        write_jpeg(&path, width, height, &rgb, 90).unwrap();
        let read = sessile_images::Image::read(&path).unwrap();
        assert_eq!([read.width(), read.height()], [width, height]);
        let bytes = read.rgb().into_iter().flatten().map(|value| value * 255.0);
        let error = bytes.zip(&rgb).map(|(read, &written)| (read - f32::from(written)).abs()).fold(0.0, f32::max);
        assert!(error < 8.0, "{error} of 255");
    }

    #[test]
    fn wrong_sizes_and_missing_folders_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut odd = image();
        odd.depth.pop();
        let error = write_exr(&path, &odd).unwrap_err().to_string();
        assert!(error.contains("776 values of depth"), "{error}");
        assert!(write_exr(&path, &Framebuffer::default()).is_err());
        assert!(write_png(&path, 0, 0, &[]).is_err());
        assert!(write_png(&path, usize::MAX, 2, &[0; 6]).is_err());
        assert!(write_png(&path, 2, 2, &[0; 11]).is_err());
        assert!(write_jpeg(&path, 2, 2, &[0; 11], 90).is_err());
        assert!(write_jpeg(&path, 65_536, 1, &[0; 3 * 65_536], 90).is_err());
        let missing = folder.path().join("none/a.png");
        assert!(matches!(write_png(&missing, 1, 1, &[0; 3]), Err(ImageFileError::File(_))));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
