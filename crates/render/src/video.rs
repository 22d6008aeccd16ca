//! Video for browsers: H.264 (High profile, 4:2:0, 8 bit) in MP4, encoded in this process.
//!
//! Colors are converted from sRGB bytes to BT.709 `Y'CbCr` in studio range, which the stream
//! declares:
//!
//! ```text
//! Y' = 16 + 219 (0.2126 R' + 0.7152 G' + 0.0722 B')
//! Cb = 128 + 224 (B' − Y') / 1.8556
//! Cr = 128 + 224 (R' − Y') / 1.5748
//! ```
//!
//! with chroma averaged over 2 × 2 pixels. Odd sizes are padded by a copy of the last column or
//! row, because 4:2:0 needs even ones.
//!
//! Each image is encoded as a frame when it is added; a key frame at least every two seconds allows
//! seeking. The encoded frames stay in memory until [`VideoWriter::finish`], which puts the index
//! before them, so that playback over the network starts immediately. The file appears under its
//! name only when it is complete.

mod note;
mod parameter_sets;

use std::path::{Path, PathBuf};

use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use rusty_h264_common::YuvFrame;
use rusty_h264_encoder::{Encoder, EncoderConfig, Preset};
use sessile_frames::atomic::{self, Durability, FileError};

pub use note::read_note;

/// Quantizer of the frames: visually lossless in most cases; 18 to 28 is the usual range, lower is
/// better and larger.
const QUANTIZER: u8 = 20;

/// The longest side that the highest level of the format allows.
const MAX_SIDE: usize = 8192;

/// Why a video could not be written.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The file system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The size is not valid for H.264.
    #[error(
        "a video of {width} × {height} pixels cannot be encoded: each side must be from 1 to {MAX_SIDE}; change `render.size`"
    )]
    Size {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The frame rate is out of range.
    #[error("a video of {found} frames per second cannot be encoded: `render.fps` must be from 0.1 to 1000")]
    Rate {
        /// The requested rate.
        found: f64,
    },
    /// An image of another size.
    #[error("image {index} has {found} bytes: expected {expected} for {width} × {height} pixels of 3")]
    Image {
        /// Its number from 0.
        index: usize,
        /// Bytes in it.
        found: usize,
        /// Bytes expected.
        expected: usize,
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The video has no images.
    #[error("the video {} has no images and is not written", path.display())]
    Empty {
        /// The file that was not written.
        path: PathBuf,
    },
    /// The encoder or the muxer failed.
    #[error("the video {} cannot be encoded: {what}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Its message.
        what: String,
    },
}

/// Encodes images one by one into an MP4.
pub struct VideoWriter {
    path: PathBuf,
    size: [usize; 2],
    fps: f64,
    images: usize,
    encoder: Encoder,
    muxer: Muxer<Vec<u8>>,
}

impl VideoWriter {
    /// Starts a video. Nothing is written before [`Self::finish`].
    pub fn create(path: &Path, width: usize, height: usize, fps: f64) -> Result<Self, VideoError> {
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(VideoError::Size { width, height });
        }
        if !(0.1..=1000.0).contains(&fps) {
            return Err(VideoError::Rate { found: fps });
        }
        let failed = |what: String| VideoError::Encode { path: path.to_owned(), what };
        let [columns, rows] = even([width, height]);

        let mut config = EncoderConfig::new(columns, rows);
        config.level_idc = parameter_sets::level(columns, rows, fps);
        config.qp = QUANTIZER;
        config.gop_size = (2.0 * fps).ceil().max(1.0) as u32;
        config.framerate = fps as f32;
        config.preset = Preset::Balanced;
        // Without lookahead each call returns its own frame, and no images are kept.
        config.mbtree = false;
        let encoder = Encoder::new(config).map_err(|error| failed(format!("{error:?}")))?;
        let muxer = MuxerBuilder::new(Vec::new())
            .video(VideoCodec::H264, columns as u32, rows as u32, fps)
            .with_fast_start(true)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: path.to_owned(), size: [width, height], fps, images: 0, encoder, muxer })
    }

    /// Adds an image: sRGB bytes, three per pixel, rows from the top.
    pub fn push(&mut self, rgb: &[u8]) -> Result<(), VideoError> {
        let [width, height] = self.size;
        let expected = width * height * 3;
        if rgb.len() != expected {
            return Err(VideoError::Image { index: self.images, found: rgb.len(), expected, width, height });
        }
        let coded =
            self.encoder.try_encode(&to_yuv(rgb, self.size)).map_err(|error| self.failed(format!("{error:?}")))?;
        let coded = parameter_sets::state_colors(&coded);
        let is_key = parameter_sets::has_key_frame(&coded);
        let time = self.images as f64 / self.fps;
        self.muxer.write_video(time, &coded, is_key).map_err(|error| self.failed(error.to_string()))?;
        self.images += 1;
        Ok(())
    }

    /// Writes the file under its name, with a note that players ignore and [`read_note`] returns;
    /// empty: no note.
    pub fn finish(mut self, note: &str) -> Result<(), VideoError> {
        if self.images == 0 {
            return Err(VideoError::Empty { path: self.path });
        }
        self.muxer.finish_in_place().map_err(|error| self.failed(error.to_string()))?;
        let mut bytes = self.muxer.into_writer();
        if !note.is_empty() {
            bytes.extend(note::to_box(note));
        }
        Ok(atomic::write(&self.path, &bytes, Durability::Handed)?)
    }

    fn failed(&self, what: String) -> VideoError {
        VideoError::Encode { path: self.path.clone(), what }
    }
}

fn even(size: [usize; 2]) -> [usize; 2] {
    size.map(|side| side.next_multiple_of(2))
}

/// Converts to 4:2:0 with integers of 16 fractional bits, so that the result is bit-identical on
/// every machine.
fn to_yuv(rgb: &[u8], [width, height]: [usize; 2]) -> YuvFrame {
    const FRACTION: i32 = 16;
    let fixed = |value: f64| (value * f64::from(1 << FRACTION)).round() as i32;
    let luma_scale = 219.0 / 255.0;
    let luma = [0.2126, 0.7152, 0.0722].map(|weight| fixed(weight * luma_scale));
    let chroma_scale = 224.0 / 255.0;
    let blue = [-0.2126, -0.7152, 1.0 - 0.0722].map(|weight| fixed(weight * chroma_scale / 1.8556));
    let red = [1.0 - 0.2126, -0.7152, -0.0722].map(|weight| fixed(weight * chroma_scale / 1.5748));
    let mix = |weights: [i32; 3], [r, g, b]: [i32; 3], shift: i32, base: i32| {
        let sum = weights[0] * r + weights[1] * g + weights[2] * b + (base << shift) + (1 << (shift - 1));
        (sum >> shift).clamp(0, 255) as u8
    };
    let pixel = |column: usize, row: usize| {
        let at = (row.min(height - 1) * width + column.min(width - 1)) * 3;
        [i32::from(rgb[at]), i32::from(rgb[at + 1]), i32::from(rgb[at + 2])]
    };

    let [columns, rows] = even([width, height]);
    let mut frame = YuvFrame::black(columns, rows);
    for row in 0..rows {
        for column in 0..columns {
            frame.y[row * columns + column] = mix(luma, pixel(column, row), FRACTION, 16);
        }
    }
    for row in 0..rows / 2 {
        for column in 0..columns / 2 {
            let mut sum = [0; 3];
            for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let add = pixel(2 * column + right, 2 * row + down);
                sum = [sum[0] + add[0], sum[1] + add[1], sum[2] + add[2]];
            }
            let at = row * (columns / 2) + column;
            // The sum of four pixels has two more fractional bits than their mean.
            frame.u[at] = mix(blue, sum, FRACTION + 2, 128);
            frame.v[at] = mix(red, sum, FRACTION + 2, 128);
        }
    }
    frame
}

#[cfg(test)]
mod tests;
