//! PNG files of every color type and depth.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, Transformations};

use crate::{Image, ImageError, Samples, check_size, damaged};

pub fn decode(bytes: &[u8]) -> Result<Image, ImageError> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    // Palettes become colors, and 1, 2 and 4 bits become 8.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check_size(width, height)?;
    let size = reader.output_buffer_size().ok_or(ImageError::TooLarge { width, height })?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(damaged)?;
    pixels.truncate(info.buffer_size());
    let channels = match info.color_type {
        ColorType::Grayscale | ColorType::Indexed => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
    };
    let samples = match info.bit_depth {
        BitDepth::Sixteen => Samples::Word(pixels.chunks_exact(2).map(|v| u16::from_be_bytes([v[0], v[1]])).collect()),
        _ => Samples::Byte(pixels),
    };
    Ok(Image { width, height, channels, samples })
}
