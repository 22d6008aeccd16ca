//! JPEG files, baseline and progressive; gray, YCbCr and CMYK.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::{Image, ImageError, Samples, check_size, damaged};

/// The longest side that the format can express.
const MAX_SIDE: usize = 65535;

pub fn decode(bytes: &[u8]) -> Result<Image, ImageError> {
    let options = DecoderOptions::default().set_max_width(MAX_SIDE).set_max_height(MAX_SIDE);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(damaged)?;
    let info = decoder.info().ok_or(ImageError::Empty)?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    check_size(width, height)?;
    let gray = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (space, channels) = if gray { (ColorSpace::Luma, 1) } else { (ColorSpace::RGB, 3) };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let pixels = decoder.decode().map_err(damaged)?;
    if pixels.len() != width * height * channels || !has_end(bytes) {
        return Err(damaged("its data ends early"));
    }
    Ok(Image { width, height, channels, samples: Samples::Byte(pixels) })
}

/// Whether an end of the image follows its first scan; the decoder fills what is missing with gray.
fn has_end(bytes: &[u8]) -> bool {
    // The segments before the scan are skipped: a thumbnail in one of them has an end of its own.
    let mut at = 2;
    loop {
        match bytes.get(at..at + 4) {
            Some([0xFF, 0xDA, ..]) => break,
            Some(&[0xFF, 1..=0xFE, high, low]) => at += 2 + usize::from(u16::from_be_bytes([high, low])),
            Some(_) => at += 1,
            None => return false,
        }
    }
    bytes[at..].windows(2).any(|pair| pair == [0xFF, 0xD9])
}
