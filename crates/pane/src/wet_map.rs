//! The pane's wet map, as frames carry it.

use sessile_frames::WetMap;

use crate::ground::Ground;

/// Most pixels along a side: a larger pane is shown by whole cells.
const MOST_PIXELS: usize = 4096;
/// Unit of film thickness in a wet map, in m.
const FILM_UNIT: f64 = 10e-9;

/// Wetness by fine spots (or the wetted share of whole cells on a very large pane), film by cells.
pub fn wet_map(ground: &Ground, solid: usize) -> WetMap {
    let fine = ground.fine as usize;
    let scale = if ground.columns.max(ground.rows) * fine <= MOST_PIXELS { fine } else { 1 };
    let (width, height) = (ground.columns * scale, ground.rows * scale);
    let mut wetness = Vec::with_capacity(width * height);
    let mut film = Vec::with_capacity(width * height);
    for row in (0..height).rev() {
        for column in 0..width {
            let cell = (row / scale) * ground.columns + column / scale;
            let wet_share = if scale == fine {
                f64::from(u8::from(ground.spot_is_wetted(column, row)))
            } else {
                ground.wetted_share(cell)
            };
            wetness.push((wet_share * f64::from(u16::MAX)).round() as u16);
            let thickness = ground.film(cell) / (ground.cell * ground.cell);
            film.push((thickness / FILM_UNIT).round().min(f64::from(u16::MAX)) as u16);
        }
    }
    WetMap { solid, width: width as u32, height: height as u32, wetness, film }
}
