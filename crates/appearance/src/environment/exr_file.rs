//! OpenEXR images as environments and backdrops: the first layer with channels `R`, `G`, `B`, at
//! its largest size.

use std::io::Cursor;
use std::path::Path;

use exr::meta::MetaData;
use exr::prelude::{ReadChannels, ReadLayers, ReadSpecificChannel};
use glam::Vec3;

use super::{EnvironmentError, LatLong, MAX_PIXELS};

/// Maximum number of pixels per byte of file that the strongest compression can reach; smaller
/// files are truncated.
const MAX_PIXELS_PER_BYTE: usize = 1100;

/// Decodes a whole file as a lat-long image.
pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<LatLong, EnvironmentError> {
    let ([width, height], pixels) = read_exr(path, bytes)?;
    let empty = || EnvironmentError::Broken { path: path.to_owned(), what: "it has no pixels".into() };
    LatLong::new(width, height, pixels).ok_or_else(empty)
}

/// Decodes a whole file: columns and rows, and the pixels from the top.
pub(crate) fn read_exr(path: &Path, bytes: &[u8]) -> Result<([usize; 2], Vec<Vec3>), EnvironmentError> {
    let broken = |what: String| EnvironmentError::Broken { path: path.to_owned(), what };

    // Check the size first: memory is allocated by the header.
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(|error| broken(error.to_string()))?;
    for header in &meta.headers {
        let [width, height] = [header.layer_size.width(), header.layer_size.height()];
        let pixels = width.saturating_mul(height);
        if pixels > MAX_PIXELS {
            return Err(EnvironmentError::TooLarge { path: path.to_owned(), width, height });
        }
        if pixels > bytes.len().saturating_mul(MAX_PIXELS_PER_BYTE) {
            return Err(broken(format!("{width} × {height} pixels cannot be in its {} bytes", bytes.len())));
        }
    }

    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .specific_channels()
        .required("R")
        .required("G")
        .required("B")
        .collect_pixels(
            |size, _| (size.width(), vec![Vec3::ZERO; size.area()]),
            |(width, pixels), at, (red, green, blue): (f32, f32, f32)| {
                pixels[at.y() * *width + at.x()] = Vec3::new(red, green, blue);
            },
        )
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .map_err(|error| broken(error.to_string()))?;

    let size = image.layer_data.size;
    let (_, pixels) = image.layer_data.channel_data.pixels;
    Ok(([size.width(), size.height()], pixels))
}
