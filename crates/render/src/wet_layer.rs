//! Wetness and film thickness over a solid's texture coordinates, as the path tracer reads them.

use glam::Vec2;
use sessile_frames::WetMap;

/// Thickness per unit of a wet map's film values, in m.
const FILM_UNIT: f32 = 1e-8;

/// A wet map made ready: interpolated between texels.
#[derive(Clone, Debug)]
pub struct WetLayer {
    width: usize,
    height: usize,
    /// Wetness from 0 to 1 and film thickness in m, rows from the top.
    texels: Vec<Vec2>,
}

/// What lies on a solid at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wetness {
    /// From 0, dry, to 1, wet.
    pub wet: f32,
    /// Change of the film's thickness along u and v, in m.
    pub slope: Vec2,
}

impl WetLayer {
    /// A layer over a map; `None` if the map's arrays do not have its size or all is dry.
    pub fn new(map: &WetMap) -> Option<Self> {
        let (width, height) = (map.width as usize, map.height as usize);
        let count = width.checked_mul(height)?;
        let sized = count > 0 && map.wetness.len() == count && map.film.len() == count;
        if !sized || map.wetness.iter().all(|&w| w == 0) {
            return None;
        }
        let texel = |(&wet, &film): (&u16, &u16)| Vec2::new(f32::from(wet) / 65535.0, f32::from(film) * FILM_UNIT);
        Some(Self { width, height, texels: map.wetness.iter().zip(&map.film).map(texel).collect() })
    }

    /// Wetness at texture coordinates; beyond the map its edge goes on.
    pub fn at(&self, uv: Vec2) -> Wetness {
        let place = |part: f32, count: usize| {
            // `max` before `min` also turns a NaN into the first texel.
            let x = (part * count as f32 - 0.5).max(0.0).min((count - 1) as f32);
            (x as usize, (x as usize + 1).min(count - 1), x.fract())
        };
        let ((x0, x1, fx), (y0, y1, fy)) = (place(uv.x, self.width), place(1.0 - uv.y, self.height));
        let texel = |x: usize, y: usize| self.texels[y * self.width + x];
        let (a, b, c, d) = (texel(x0, y0), texel(x1, y0), texel(x0, y1), texel(x1, y1));
        let wet = a.lerp(b, fx).lerp(c.lerp(d, fx), fy).x;
        let along_u = (b.y - a.y) * (1.0 - fy) + (d.y - c.y) * fy;
        let along_v = (a.y - c.y) * (1.0 - fx) + (b.y - d.y) * fx;
        Wetness { wet, slope: Vec2::new(along_u * self.width as f32, along_v * self.height as f32) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wetness_and_the_films_slope_follow_the_map_with_v_up() {
        // Film 0 in the bottom row, 100 units in the top one; wet on the right.
        let map =
            WetMap { solid: 0, width: 2, height: 2, wetness: vec![0, 65535, 0, 65535], film: vec![100, 100, 0, 0] };
        let layer = WetLayer::new(&map).unwrap();
        let middle = layer.at(Vec2::splat(0.5));
        assert!((middle.wet - 0.5).abs() < 1e-6 && (layer.at(Vec2::ONE).wet - 1.0).abs() < 1e-6);
        assert!((middle.slope - Vec2::new(0.0, 2e-6)).length() < 1e-10, "{middle:?}");
        assert!(layer.at(Vec2::NAN).wet.is_finite());
        assert!(WetLayer::new(&WetMap { wetness: vec![0; 4], ..map.clone() }).is_none());
        assert!(WetLayer::new(&WetMap { width: 3, ..map }).is_none());
    }
}
