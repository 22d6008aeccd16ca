//! Wet maps in the size that a scene asks for (`output.wet_size`).
//!
//! Models mark texels of their own grids as wet or dry. In another size a texel has the share of
//! its surroundings that is wet: a tent filter, as wide as the coarser of the two grids, gives
//! antialiased coverage when the map shrinks and linear interpolation when it grows. The film's
//! thickness is averaged likewise, so that its volume is kept.

use sessile_frames::WetMap;

/// The map with `longer` texels along its longer side.
pub fn resized(map: &WetMap, longer: u32) -> WetMap {
    let longest = u64::from(map.width.max(map.height).max(1));
    let scaled = |side: u32| (u64::from(side) * u64::from(longer)).div_ceil(longest).max(1) as u32;
    let (width, height) = (scaled(map.width), scaled(map.height));
    if (width, height) == (map.width, map.height) {
        return map.clone();
    }
    let (columns, rows) = (Tents::new(map.width, width), Tents::new(map.height, height));
    let channel = |texels: &[u16]| filtered(texels, map.width as usize, &columns, &rows);
    let (wetness, film) = (channel(&map.wetness), channel(&map.film));
    WetMap { solid: map.solid, width, height, wetness, film, age: Vec::new() }
}

/// The source texels of each texel of a line, with their weights, which sum to 1.
struct Tents(Vec<Vec<(usize, f32)>>);

impl Tents {
    fn new(from: u32, to: u32) -> Self {
        let ratio = f64::from(from) / f64::from(to);
        let reach = ratio.max(1.0);
        let tent = |index: u32| {
            let center = (f64::from(index) + 0.5) * ratio - 0.5;
            let first = (center - reach).ceil().max(0.0) as usize;
            let last = ((center + reach).floor().max(0.0) as usize).min(from as usize - 1);
            let weight = |at: usize| (1.0 - (at as f64 - center).abs() / reach).max(0.0);
            let sum: f64 = (first..=last).map(weight).sum();
            (first..=last).map(|at| (at, (weight(at) / sum) as f32)).filter(|(_, weight)| *weight > 0.0).collect()
        };
        Self((0..to).map(tent).collect())
    }
}

fn filtered(texels: &[u16], width: usize, columns: &Tents, rows: &Tents) -> Vec<u16> {
    let lines: Vec<f32> = texels
        .chunks_exact(width)
        .flat_map(|line| {
            columns.0.iter().map(|tent| tent.iter().map(|&(at, weight)| weight * f32::from(line[at])).sum::<f32>())
        })
        .collect();
    let across = columns.0.len();
    let mut result = Vec::with_capacity(across * rows.0.len());
    for tent in &rows.0 {
        for column in 0..across {
            let value: f32 = tent.iter().map(|&(row, weight)| weight * lines[row * across + column]).sum();
            result.push(value.round().clamp(0.0, f32::from(u16::MAX)) as u16);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disc of radius 20 in a map of 96 × 64 texels, with a film in it.
    fn disc() -> WetMap {
        let (width, height) = (96_u32, 64_u32);
        let inside = |i: u32| (f64::from(i % width) - 47.5).hypot(f64::from(i / width) - 31.5) < 20.0;
        let wetness: Vec<u16> = (0..width * height).map(|i| u16::from(inside(i)) * u16::MAX).collect();
        let film = wetness.iter().map(|wet| wet / 13).collect();
        WetMap { solid: 2, width, height, wetness, film, age: Vec::new() }
    }

    #[test]
    fn maps_keep_the_wet_area_and_the_film_and_have_soft_edges_at_any_size() {
        let map = disc();
        let share = |texels: &[u16]| texels.iter().map(|&t| f64::from(t)).sum::<f64>() / texels.len() as f64;
        for longer in [24, 48, 60, 200, 384] {
            let other = resized(&map, longer);
            assert_eq!((other.solid, other.width, other.height), (2, longer, (64 * longer).div_ceil(96)));
            for (before, after) in [(&map.wetness, &other.wetness), (&map.film, &other.film)] {
                let off = share(after) / share(before) - 1.0;
                assert!(off.abs() < 0.01, "{longer} texels: {off}");
            }
            let soft = other.wetness.iter().filter(|&&wet| wet != 0 && wet != u16::MAX).count();
            assert!(soft as u32 > longer / 4, "{longer} texels: only {soft} are partly wet");
            assert!(other.wetness.contains(&u16::MAX) && other.wetness[0] == 0);
        }
        assert_eq!(resized(&map, 96), map);
    }
}
