//! Radiance images (`.hdr`, `.pic`): a text header, then RGBE pixels, usually run-length encoded.
//!
//! `value = mantissa · 2^(exponent − 136)`; an exponent of 0 is black. A scan line has one of two
//! encodings (ward1991, "Real Pixels"): whole pixels with repeats marked by the pixel
//! `(1, 1, 1, n)`, or, when it starts with `(2, 2, width)`, four planes in sequence, each of runs
//! (`128 + n`, value) and literals (`n`, values).

use std::path::Path;

use glam::Vec3;

use super::{EnvironmentError, LatLong, MAX_PIXELS};

/// Maximum number of columns.
const WIDEST: usize = 1 << 16;

/// Decodes a whole file.
pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<LatLong, EnvironmentError> {
    let broken = |what: String| EnvironmentError::Broken { path: path.to_owned(), what };
    let mut input = Input { bytes, at: 0 };

    let header = read_header(&mut input).map_err(broken)?;
    let [width, height] = header.size;
    if width > WIDEST || width.saturating_mul(height) > MAX_PIXELS {
        return Err(EnvironmentError::TooLarge { path: path.to_owned(), width, height });
    }
    // A row takes at least 4 bytes. Memory for pixels is allocated as rows are decoded, not by the
    // header.
    if (bytes.len() - input.at) / 4 < height {
        return Err(broken(format!("{width} × {height} pixels cannot be in its {} bytes", bytes.len())));
    }

    let mut pixels = Vec::new();
    let mut line = vec![[0u8; 4]; width];
    for row in 0..height {
        read_line(&mut input, &mut line).map_err(|what| broken(format!("row {row} of {height}: {what}")))?;
        pixels.extend(line.iter().map(|&texel| decode_pixel(texel) / header.exposure));
    }
    if header.bottom_first {
        pixels = pixels.chunks(width).rev().flatten().copied().collect();
    }
    if header.right_first {
        pixels.chunks_mut(width).for_each(<[Vec3]>::reverse);
    }
    LatLong::new(width, height, pixels).ok_or_else(|| broken("it has no pixels".into()))
}

struct Header {
    size: [usize; 2],
    bottom_first: bool,
    right_first: bool,
    /// Exposure factor of the file.
    exposure: f32,
}

fn read_header(input: &mut Input<'_>) -> Result<Header, String> {
    if !input.line()?.starts_with("#?") {
        return Err("it does not start with \"#?RADIANCE\"".into());
    }
    let mut exposure = 1.0f32;
    loop {
        let line = input.line()?.trim();
        if line.is_empty() {
            break;
        }
        if let Some(format) = line.strip_prefix("FORMAT=")
            && format.trim() != "32-bit_rle_rgbe"
        {
            return Err(format!("its format is {:?}, only \"32-bit_rle_rgbe\" is read", format.trim()));
        }
        if let Some(factor) = line.strip_prefix("EXPOSURE=") {
            let factor: f32 = factor.trim().parse().map_err(|_| format!("the header's {line:?} is not a number"))?;
            exposure *= factor;
        }
    }
    if !exposure.is_normal() || exposure < 0.0 {
        return Err(format!("its exposure is {exposure}, which must be positive"));
    }
    let line = input.line()?.trim();
    let words: Vec<&str> = line.split_whitespace().collect();
    let no_size = || format!("{line:?} is not a size such as \"-Y 256 +X 512\"");
    let [vertical @ ("-Y" | "+Y"), height, horizontal @ ("+X" | "-X"), width] = words[..] else {
        return Err(no_size());
    };
    let parse = |word: &str| word.parse::<usize>().ok().filter(|&count| count > 0).ok_or_else(no_size);
    let size = [parse(width)?, parse(height)?];
    Ok(Header { size, bottom_first: vertical == "+Y", right_first: horizontal == "-X", exposure })
}

fn decode_pixel([red, green, blue, exponent]: [u8; 4]) -> Vec3 {
    if exponent == 0 {
        return Vec3::ZERO;
    }
    let scale = ((f64::from(exponent) - 136.0).exp2()) as f32;
    Vec3::new(f32::from(red), f32::from(green), f32::from(blue)) * scale
}

fn read_line(input: &mut Input<'_>, line: &mut [[u8; 4]]) -> Result<(), String> {
    let width = line.len();
    let first = input.take4()?;
    let planes = first[0] == 2 && first[1] == 2 && first[2] < 128;
    if !planes || !(8..32768).contains(&width) {
        return read_whole_pixels(input, first, line);
    }
    let announced = usize::from(u16::from_be_bytes([first[2], first[3]]));
    if announced != width {
        return Err(format!("the line is {announced} pixels wide, the image {width}"));
    }
    for plane in 0..4 {
        let mut column = 0;
        while column < width {
            let code = input.take()?;
            let (run, count) = if code > 128 { (true, usize::from(code - 128)) } else { (false, usize::from(code)) };
            if count == 0 || column + count > width {
                return Err(format!("a run of {count} at column {column} leaves the line of {width}"));
            }
            let repeated = if run { Some(input.take()?) } else { None };
            for texel in &mut line[column..column + count] {
                texel[plane] = match repeated {
                    Some(value) => value,
                    None => input.take()?,
                };
            }
            column += count;
        }
    }
    Ok(())
}

/// The older encoding: `(1, 1, 1, n)` repeats the pixel before `n` times, and again `n · 256` times
/// when it follows itself.
fn read_whole_pixels(input: &mut Input<'_>, first: [u8; 4], line: &mut [[u8; 4]]) -> Result<(), String> {
    let mut texel = first;
    let mut column = 0;
    let mut shift = 0;
    loop {
        if texel[..3] == [1, 1, 1] {
            let count = usize::from(texel[3]) << shift;
            if column == 0 || column + count > line.len() {
                return Err(format!("a repeat of {count} at column {column} leaves the line of {}", line.len()));
            }
            let before = line[column - 1];
            line[column..column + count].fill(before);
            column += count;
            shift = (shift + 8).min(24);
        } else {
            line[column] = texel;
            column += 1;
            shift = 0;
        }
        if column == line.len() {
            return Ok(());
        }
        texel = input.take4()?;
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self) -> Result<u8, String> {
        let byte = *self.bytes.get(self.at).ok_or("the file ends too early")?;
        self.at += 1;
        Ok(byte)
    }

    fn take4(&mut self) -> Result<[u8; 4], String> {
        Ok([self.take()?, self.take()?, self.take()?, self.take()?])
    }

    fn line(&mut self) -> Result<&'a str, String> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or("the header has no end")?;
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).map_err(|_| "the header is not text".into())
    }
}
