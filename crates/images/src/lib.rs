//! Reads PNG and JPEG images: wetting maps and textures of scenes, frames of a video.
//!
//! The format follows from the file's first bytes, not from its name. The size is checked before
//! any pixel is decoded, so that a small file cannot ask for more memory than [`MAX_PIXELS`] need.
//! Transparency, color profiles and orientation tags are ignored.

mod jpeg_file;
mod png_file;

use std::io;
use std::path::Path;

use sessile_input::{FileSystem, Reader};

/// The largest image that is read, in pixels.
pub const MAX_PIXELS: u64 = 1 << 26;

/// The largest image file that is read, in bytes: eight per pixel, uncompressed.
const MAX_BYTES: u64 = 8 * MAX_PIXELS;

/// Weights of red, green and blue in the luma of an image (Rec. 709).
const LUMA: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// Why an image could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file system reported an error, or it is too long, a folder, a device or a pipe.
    #[error(transparent)]
    File(#[from] io::Error),
    /// Neither PNG nor JPEG.
    #[error("it is neither a PNG nor a JPEG image; convert it to one of these")]
    Format,
    /// No pixels at all.
    #[error("it has no pixels")]
    Empty,
    /// Too many pixels.
    #[error("it has {width} × {height} pixels, more than the {MAX_PIXELS} allowed; scale it down")]
    TooLarge {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The decoder refused the data.
    #[error("{0}")]
    Damaged(String),
}

/// Samples of an image, rows from the top, channels of a pixel together.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Samples {
    Byte(Vec<u8>),
    Word(Vec<u16>),
}

/// A decoded image: gray or color, with or without alpha, of 8 or 16 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    channels: usize,
    samples: Samples,
}

impl Image {
    /// Reads a PNG or JPEG file.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        Self::read_from(path, &FileSystem)
    }

    /// Reads a PNG or JPEG file from the file system or from memory.
    pub fn read_from(path: &Path, files: &dyn Reader) -> Result<Self, ImageError> {
        Self::decode(&files.read(path, MAX_BYTES)?)
    }

    /// Decodes the bytes of a PNG or JPEG file.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImageError> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => png_file::decode(bytes),
            [0xFF, 0xD8, 0xFF, ..] => jpeg_file::decode(bytes),
            _ => Err(ImageError::Format),
        }
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Red, green and blue of every pixel, between 0 and 1, as encoded (no gamma is removed).
    pub fn rgb(&self) -> Vec<[f32; 3]> {
        match &self.samples {
            Samples::Byte(values) => self.colors(values).map(|c| c.map(|v| f32::from(v) / 255.0)).collect(),
            Samples::Word(values) => self.colors(values).map(|c| c.map(|v| f32::from(v) / 65535.0)).collect(),
        }
    }

    /// Red, green and blue of every pixel as bytes; of 16 bits the higher eight.
    pub fn rgb_bytes(&self) -> Vec<u8> {
        match &self.samples {
            Samples::Byte(values) => self.colors(values).flatten().collect(),
            Samples::Word(values) => self.colors(values).flatten().map(|v| (v >> 8) as u8).collect(),
        }
    }

    /// The gray value of every pixel, between 0 and 1, as encoded (no gamma is removed); of colors
    /// the luma.
    pub fn gray(&self) -> Vec<f64> {
        let luma = |[r, g, b]: [f64; 3]| if r == g && g == b { r } else { LUMA[0] * r + LUMA[1] * g + LUMA[2] * b };
        match &self.samples {
            Samples::Byte(values) => self.colors(values).map(|c| luma(c.map(|v| f64::from(v) / 255.0))).collect(),
            Samples::Word(values) => self.colors(values).map(|c| luma(c.map(|v| f64::from(v) / 65535.0))).collect(),
        }
    }

    fn colors<'a, T: Copy>(&self, values: &'a [T]) -> impl Iterator<Item = [T; 3]> + use<'a, T> {
        let channels = self.channels;
        values.chunks_exact(channels).map(move |v| if channels < 3 { [v[0]; 3] } else { [v[0], v[1], v[2]] })
    }
}

/// Checks a size that a header claims.
fn check_size(width: usize, height: usize) -> Result<(), ImageError> {
    match (width as u64).saturating_mul(height as u64) {
        0 => Err(ImageError::Empty),
        pixels if pixels > MAX_PIXELS => Err(ImageError::TooLarge { width, height }),
        _ => Ok(()),
    }
}

fn damaged(cause: impl std::fmt::Display) -> ImageError {
    ImageError::Damaged(cause.to_string())
}

#[cfg(test)]
mod tests;
