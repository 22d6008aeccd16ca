//! The wet map of a frame.

use sessile_frames::WetMap;

use crate::substrate::{CellIndex, Substrate};

/// Largest number of pixels along a side: a larger pane is shown by whole cells.
const MAX_PIXELS: usize = 4096;
/// Unit of film thickness in a wet map, in m.
const FILM_UNIT: f64 = 10e-9;

/// Wetness by fine spots (or the wetted share of whole cells on a very large pane), film by cells.
pub fn wet_map(substrate: &Substrate, solid: usize) -> WetMap {
    let fine = substrate.fine as usize;
    let scale = if substrate.columns.max(substrate.rows) * fine <= MAX_PIXELS { fine } else { 1 };
    let (width, height) = (substrate.columns * scale, substrate.rows * scale);
    let mut wetness = Vec::with_capacity(width * height);
    let mut film = Vec::with_capacity(width * height);
    for row in (0..height).rev() {
        for column in 0..width {
            let cell = CellIndex(((row / scale) * substrate.columns + column / scale) as u32);
            let wet_share = if scale == fine {
                f64::from(u8::from(substrate.spot_is_wetted(column, row)))
            } else {
                substrate.wetted_share(cell)
            };
            wetness.push((wet_share * f64::from(u16::MAX)).round() as u16);
            let thickness = substrate.film(cell) / (substrate.cell_size * substrate.cell_size);
            film.push((thickness / FILM_UNIT).round().min(f64::from(u16::MAX)) as u16);
        }
    }
    WetMap { solid, width: width as u32, height: height as u32, wetness, film, age: Vec::new() }
}
