//! Wetness and film thickness over a solid's texture coordinates.

mod texel_grid;

use glam::Vec2;
use sessile_frames::WetMap;

use texel_grid::TexelGrid;
pub use texel_grid::TexturedTriangle;

/// Films thinner than this, in m, have no visible refraction.
const MIN_FILM: f32 = 1e-7;

/// Thickness per unit of a wet map's film values, in m.
const FILM_UNIT: f32 = 1e-8;

/// Thickness at which wet places without a film are drawn, in texels, and its bounds in m: liquid
/// that fills the roughness of a surface has no thickness in a map, but shows by its highlights and
/// its edge. What shows are slopes, so the thickness grows with the texels; light through a pane is
/// bent by half of them: at the edge by half a degree, inside by a tenth of it.
const RESIDUE: f32 = 0.02;
const RESIDUE_BOUNDS: [f32; 2] = [4e-6, 20e-6];
/// Relative variation of that thickness, and the texels over which it varies.
const RESIDUE_VARIATION: f32 = 0.35;
const VARIATION_LENGTH: usize = 6;

/// A wet map, interpolated smoothly because the surface of a film is smooth up to its edge.
///
/// Values are cubic B-splines over the texels: they smooth slightly, stay between the texels'
/// extremes, and have continuous slopes, which refract the light.
#[derive(Clone, Debug)]
pub struct WetLayer {
    width: usize,
    height: usize,
    /// Wetness from 0 to 1 and film thickness in m, rows from the top.
    texels: Vec<Vec2>,
}

/// Wetness of a point on a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wetness {
    /// From 0 (dry) to 1 (wet).
    pub wet: f32,
    /// Film thickness, in m.
    pub film: f32,
    /// Gradient of the film thickness along u and v, in m.
    pub slope: Vec2,
}

impl Wetness {
    /// Whether the film is thick enough to refract light.
    pub fn is_film(&self) -> bool {
        self.film > MIN_FILM
    }
}

impl WetLayer {
    /// A layer from a map of a solid with this surface area (in m²) and these triangles; `None` if
    /// the map is inconsistent or dry.
    pub fn new(map: &WetMap, area: f32, triangles: impl Iterator<Item = TexturedTriangle>) -> Option<Self> {
        let (width, height) = (map.width as usize, map.height as usize);
        let count = width.checked_mul(height)?;
        let sized = count > 0 && map.wetness.len() == count && map.film.len() == count;
        if !sized || map.wetness.iter().all(|&w| w == 0) {
            return None;
        }
        let grid = TexelGrid::new(width, height, triangles);
        let [least, most] = RESIDUE_BOUNDS;
        let residue = (RESIDUE * (area / count as f32).sqrt()).clamp(least, most);
        let texel = |(&wet, &film): (&u16, &u16)| {
            let wet = f32::from(wet) / 65535.0;
            Vec2::new(wet, if film > 0 { f32::from(film) * FILM_UNIT } else { wet * residue })
        };
        let mut texels: Vec<Vec2> = map.wetness.iter().zip(&map.film).map(texel).collect();
        smooth_film(&mut texels, &grid);
        // Film that smoothing has brought onto dry texels keeps its volume.
        let without_film = map.wetness.iter().zip(&map.film).map(|(&wet, &film)| wet > 0 && film == 0);
        for (index, (texel, _)) in texels.iter_mut().zip(without_film).enumerate().filter(|(_, (_, without))| *without)
        {
            let (column, row) = (index % width, index / width);
            let stretch = grid.narrow[row].max(grid.flat[column]);
            texel.y *= 1.0 + RESIDUE_VARIATION * variation(column, row) / stretch;
        }
        Some(Self { width, height, texels })
    }

    /// Wetness at texture coordinates, clamped to the map.
    pub fn at(&self, uv: Vec2) -> Wetness {
        let (column, across, across_slope) = knots(uv.x, self.width);
        let (row, down, down_slope) = knots(1.0 - uv.y, self.height);
        let clamped = |index: i32, count: usize| index.clamp(0, count as i32 - 1) as usize;
        let (mut value, mut slope) = (Vec2::ZERO, Vec2::ZERO);
        for j in 0..4 {
            let line = clamped(row + j as i32, self.height) * self.width;
            for i in 0..4 {
                let texel = self.texels[line + clamped(column + i as i32, self.width)];
                value += across[i] * down[j] * texel;
                slope += texel.y * Vec2::new(across_slope[i] * down[j], -across[i] * down_slope[j]);
            }
        }
        Wetness { wet: value.x, film: value.y, slope: slope * Vec2::new(self.width as f32, self.height as f32) }
    }
}

/// Variation, from −1 to 1, of the thickness that is drawn at a wet texel without a film: noise,
/// interpolated smoothly over `VARIATION_LENGTH` texels.
fn variation(column: usize, row: usize) -> f32 {
    let part = |at: usize| {
        let t = (at % VARIATION_LENGTH) as f32 / VARIATION_LENGTH as f32;
        (at / VARIATION_LENGTH, t * t * (3.0 - 2.0 * t))
    };
    let ((x, s), (y, t)) = (part(column), part(row));
    let line = |y: usize| (1.0 - s) * random(x, y) + s * random(x + 1, y);
    (1.0 - t) * line(y) + t * line(y + 1)
}

/// A number from −1 to 1, the same in every frame.
fn random(x: usize, y: usize) -> f32 {
    // The top bits of products with odd constants, without a pattern.
    let mixed = (x as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y as u64 + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Smooths the film thickness, conserving volume. Maps hold the mean thickness per cell, in blocks;
/// surface tension rounds a real film of that width. The standard deviation is √2 texels, and more
/// texels where they are narrow, so that it is the same along u and v on the solid. Texels that lie
/// on no facet get what is around them.
fn smooth_film(texels: &mut [Vec2], grid: &TexelGrid) {
    let on_solid = &grid.on_solid;
    let smoothed = |value: &dyn Fn(usize) -> f32| {
        let mut plane: Vec<f32> = (0..texels.len()).map(|i| if on_solid[i] { value(i) } else { 0.0 }).collect();
        smooth(&mut plane, grid);
        plane
    };
    let film = smoothed(&|i| texels[i].y);
    if !on_solid.contains(&false) {
        texels.iter_mut().zip(film).for_each(|(texel, film)| texel.y = film);
        return;
    }
    let (wet, weight) = (smoothed(&|i| texels[i].x), smoothed(&|_| 1.0));
    for (i, texel) in texels.iter_mut().enumerate().filter(|(i, _)| weight[*i] > 0.0) {
        texel.y = film[i] / weight[i];
        if !on_solid[i] {
            texel.x = wet[i] / weight[i];
        }
    }
}

/// Smooths along rows, then along columns.
fn smooth(plane: &mut [f32], grid: &TexelGrid) {
    let (width, height) = (grid.flat.len(), grid.narrow.len());
    let mut line = vec![0.0; width.max(height)];
    for (row, &stretch) in grid.narrow.iter().enumerate() {
        smooth_line(plane, [row * width, 1, width], stretch, &mut line);
    }
    for (column, &stretch) in grid.flat.iter().enumerate() {
        smooth_line(plane, [column, width, height], stretch, &mut line);
    }
}

/// Smooths the values of a row or column, given by start, step and count, over √2 texels times
/// `stretch`. Values are reflected at the borders, so that nothing is lost.
fn smooth_line(values: &mut [f32], [start, step, count]: [usize; 3], stretch: f32, line: &mut [f32]) {
    const WEIGHTS: [f32; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];
    let reflected = |place: i64| {
        let last = count as i64 - 1;
        let place = if place < 0 { -place - 1 } else { place.min(2 * last + 1 - place) };
        place.clamp(0, last) as usize
    };
    // Three means over 2h + 1 texels have the variance h (h + 1).
    let half = if stretch > 1.0 { ((2.0 * stretch * stretch + 0.25).sqrt() - 0.5).round() as i64 } else { 0 };
    for _ in 0..if half > 0 { 3 } else { 2 } {
        for (i, value) in line[..count].iter_mut().enumerate() {
            *value = values[start + i * step];
        }
        if half == 0 {
            for i in 0..count {
                let near = |k: usize| WEIGHTS[k] * line[reflected(i as i64 + k as i64 - 2)];
                values[start + i * step] = (0..5).map(near).sum();
            }
            continue;
        }
        let mut sum: f32 = (-half..=half).map(|k| line[reflected(k)]).sum();
        for i in 0..count as i64 {
            values[start + i as usize * step] = sum / (2 * half + 1) as f32;
            sum = (sum + line[reflected(i + half + 1)] - line[reflected(i - half)]).max(0.0);
        }
    }
}

/// The first of the four texels that contribute at a position from 0 to 1, their weights, and the
/// weights' slopes per texel.
fn knots(part: f32, count: usize) -> (i32, [f32; 4], [f32; 4]) {
    // `max` before `min` also maps NaN to the first texel.
    let x = (part * count as f32 - 0.5).max(-0.5).min(count as f32 - 0.5);
    let (first, t) = (x.floor(), x - x.floor());
    let s = 1.0 - t;
    let weights = [s * s * s, 4.0 - 6.0 * t * t + 3.0 * t * t * t, 4.0 - 6.0 * s * s + 3.0 * s * s * s, t * t * t];
    let slopes = [-0.5 * s * s, 1.5 * t * t - 2.0 * t, 2.0 * s - 1.5 * s * s, 0.5 * t * t];
    (first as i32 - 1, weights.map(|w| w / 6.0), slopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a pane of 64 mm, in m².
    const AREA: f32 = 0.064 * 0.064;

    /// The pane.
    fn pane() -> impl Iterator<Item = TexturedTriangle> {
        let corners = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        [[0, 1, 2], [0, 2, 3]].into_iter().map(move |t: [usize; 3]| {
            let uvs = t.map(|k| corners[k]);
            (uvs.map(|uv| (0.064 * uv).extend(0.0)), uvs)
        })
    }

    fn map(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u16; 2]) -> WetMap {
        let texels: Vec<[u16; 2]> = (0..width * height).map(|i| texel(i % width, i / width)).collect();
        let [wetness, film] = [0, 1].map(|part| texels.iter().map(|t| t[part]).collect());
        WetMap { solid: 0, width, height, wetness, film, age: Vec::new() }
    }

    #[test]
    fn wetness_and_film_slope_follow_the_map_with_v_up() {
        // Thickness grows by 100 units per row towards the top, over 32 rows; wet on the right.
        let map = map(32, 32, |x, y| [if x > 15 { 65535 } else { 0 }, 100 * (31 - y as u16)]);
        let layer = WetLayer::new(&map, AREA, pane()).unwrap();
        let middle = layer.at(Vec2::splat(0.5));
        assert!((middle.wet - 0.5).abs() < 1e-6 && (layer.at(Vec2::ONE).wet - 1.0).abs() < 1e-6);
        assert!((middle.film - 15.5e-6).abs() < 1e-10, "{middle:?}");
        assert!((middle.slope - Vec2::new(0.0, 32e-6)).length() < 1e-9, "{middle:?}");
        assert!(layer.at(Vec2::NAN).wet.is_finite());
        assert!(WetLayer::new(&WetMap { wetness: vec![0; 1024], ..map.clone() }, AREA, pane()).is_none());
        assert!(WetLayer::new(&WetMap { width: 3, ..map }, AREA, pane()).is_none());
    }

    #[test]
    fn a_block_of_film_is_smoothed_and_keeps_its_volume() {
        let block = map(24, 16, |x, y| if x < 4 && (6..10).contains(&y) { [65535, 1000] } else { [0, 0] });
        let layer = WetLayer::new(&block, AREA, pane()).unwrap();
        let volume: f32 = layer.texels.iter().map(|t| t.y).sum();
        assert!((volume / 16e-5 - 1.0).abs() < 1e-5, "{volume} m of film instead of 16 texels of 10 µm");
        assert!(layer.texels.iter().all(|t| t.y >= 0.0 && t.y < 0.9e-5));
    }

    /// Near the pole of a sphere texels are many times as high as wide. The edge of a film bends
    /// light by its slope, which must not depend on them.
    #[test]
    fn the_edge_of_a_round_film_is_as_steep_across_narrow_texels_as_along_them() {
        const SIZE: Vec2 = Vec2::new(8e-3, 12.8e-3);
        let corners = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let strip = [[0, 1, 2], [0, 2, 3]].into_iter().map(|t: [usize; 3]| {
            let uvs = t.map(|k| corners[k]);
            (uvs.map(|uv| (SIZE * uv).extend(0.0)), uvs)
        });
        // Texels of 0.03 mm × 0.4 mm, and a film of 10 µm with a radius of 3 mm in the middle.
        let at = |x: u32, y: u32| (Vec2::new(x as f32 + 0.5, y as f32 + 0.5) / Vec2::new(256.0, 32.0) - 0.5) * SIZE;
        let round = map(256, 32, |x, y| if at(x, y).length() < 3e-3 { [65535, 1000] } else { [0, 0] });
        let layer = WetLayer::new(&round, SIZE.x * SIZE.y, strip).unwrap();
        let steepest = |direction: Vec2| {
            let place = |i: u16| Vec2::splat(0.5) + direction * 4e-3 * (f32::from(i) / 1000.0) / SIZE;
            let slopes = (500..1000).map(|i| (layer.at(place(i)).slope / SIZE).length());
            slopes.fold(0.0, f32::max)
        };
        let [across, along] = [Vec2::X, Vec2::Y].map(steepest);
        assert!((0.7..1.4).contains(&(across / along)), "{across} across the texels, {along} along them");
    }

    /// A wet path of the reproduction modes has no thickness; its edge bends the normals, and its
    /// inside is uneven.
    #[test]
    fn a_wet_path_without_a_film_is_drawn_with_a_thin_one_whose_edge_is_bent() {
        let wetness = (0..64 * 64).map(|k| if (24..40).contains(&(k % 64)) { u16::MAX } else { 0 }).collect();
        let film = vec![0; 64 * 64];
        let map = WetMap { solid: 0, width: 64, height: 64, wetness, film, age: Vec::new() };
        let layer = WetLayer::new(&map, AREA, pane()).expect("a wet map");
        assert!(layer.at(Vec2::splat(0.5)).is_film());
        assert_eq!(layer.at(Vec2::new(0.1, 0.5)).film, 0.0);
        // On a pane of 64 mm a texel is 1 mm.
        let [edge, inside] = [24.0, 32.3].map(|x: f32| layer.at(Vec2::new(x / 64.0, 0.503)).slope / 0.064);
        // A pane bends light by half the slope: what lies behind is displaced by up to a quarter of
        // a degree at the edge, where the path shows, and hardly inside.
        assert!(edge.x > 2e-3 && edge.x < 1e-2, "{edge}");
        assert!(inside.length() > 1e-4 && inside.length() < 2e-3, "{inside} and {edge}");
    }

    #[test]
    fn the_slope_matches_the_thickness_and_is_continuous() {
        let map = map(9, 7, |x, y| [65535, (x * 37 + y * 91 + x * y * 53) as u16 % 400]);
        let layer = WetLayer::new(&map, AREA, pane()).unwrap();
        let step = 1e-3;
        let mut before = layer.at(Vec2::new(0.2, 0.4)).slope;
        for i in 0..400_u16 {
            let uv = Vec2::new(0.2 + 0.0015 * f32::from(i), 0.4 + 0.001 * f32::from(i));
            let here = layer.at(uv);
            let across = |d: Vec2| (layer.at(uv + step * d).film - layer.at(uv - step * d).film) / (2.0 * step);
            let found = Vec2::new(across(Vec2::X), across(Vec2::Y));
            // Films are up to 4 µm over texels of a tenth: slopes up to 40 µm.
            assert!((found - here.slope).length() < 4e-7, "{uv}: {} against {found}", here.slope);
            assert!((here.slope - before).length() < 3e-6, "{uv}: the slope jumps from {before} to {}", here.slope);
            before = here.slope;
        }
    }
}
