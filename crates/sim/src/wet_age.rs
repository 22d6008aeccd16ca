//! Age of wet texels (`output.wet_age`) and drying of wet maps (`output.drying`).
//!
//! The age of a texel is the number of frames since liquid last covered it. Liquid covers the
//! texels under the drops' contact triangles, which are rasterized over the solid's texture
//! coordinates, and every triangle's corners. With a drying time τ the wetness of a texel without
//! film decreases linearly with its age and is zero after τ:
//!
//! ```text
//! aₖ = 0 if covered, aₖ₋₁ + 1 otherwise        w → w max(0, 1 − a Δt/τ)
//! ```
//!
//! Maps only: neither changes what the model remembers, nor the film. Ages are whole numbers of
//! frames, so a run resumes from the maps of its last frame without an error.

use glam::DVec2;
use sessile_frames::{Frame, FrameGeometry, Surface, WetMap};
use sessile_world::Solid;

/// A contact triangle that is longer in the map than in space by this factor, both relative to the
/// solid, straddles two parts of the map: only its corners are marked.
const LONGEST: f64 = 4.0;

/// Texels this far outside of a triangle, in texels, are covered too: a drop's mesh is inscribed in
/// its contact line.
const BORDER: f64 = 0.75;

/// The ages of all solids at the last frame.
#[derive(Clone, Debug, Default)]
pub struct WetAges {
    maps: Vec<WetMap>,
}

impl WetAges {
    /// The ages of the last frame before a resume, from its maps.
    pub fn restored(maps: Vec<WetMap>) -> Self {
        Self { maps }
    }

    /// Fills the ages of a frame's maps; `drying` is the drying time in frames.
    pub fn advance(&mut self, frame: &mut Frame, solids: &[Solid], drying: Option<f64>) {
        let made;
        let surface = match &frame.liquid {
            FrameGeometry::Surfaces(surface) | FrameGeometry::Tessellated { surface, .. } => Some(surface),
            FrameGeometry::Instances(instances) => {
                made = FrameGeometry::Instances(instances.clone()).into_surface().ok();
                made.as_ref()
            }
        };
        for map in &mut frame.wet {
            let before = self.maps.iter().find(|before| before.solid == map.solid);
            let before = before.filter(|before| (before.width, before.height) == (map.width, map.height));
            let older = |texel: usize| {
                let age = before.and_then(|before| before.age.get(texel)).copied().unwrap_or(0);
                if map.wetness[texel] > 0 { age.saturating_add(1) } else { 0 }
            };
            map.age = (0..map.wetness.len()).map(older).collect();
            if let (Some(surface), Some(solid)) = (surface, solids.get(map.solid)) {
                mark_covered(map, surface, solid);
            }
        }
        self.maps = frame.wet.clone();
        for map in frame.wet.iter_mut().filter(|_| drying.is_some()) {
            dry(map, drying.unwrap_or(f64::INFINITY));
        }
    }
}

/// Lets wetness decrease with age where there is no film.
fn dry(map: &mut WetMap, frames: f64) {
    for ((wetness, &film), &age) in map.wetness.iter_mut().zip(&map.film).zip(&map.age) {
        if film == 0 {
            *wetness = (f64::from(*wetness) * (1.0 - f64::from(age) / frames).max(0.0)).round() as u16;
        }
    }
}

/// Sets the age of the texels under liquid to zero.
fn mark_covered(map: &mut WetMap, surface: &Surface, solid: &Solid) {
    let side = DVec2::new(f64::from(map.width), f64::from(map.height));
    let size = solid.area().sqrt();
    let index = map.solid as i32;
    let contact = surface.triangles.iter().zip(&surface.solids).filter(|&(_, &s)| s == index);
    for (triangle, _) in contact {
        let points = triangle.map(|v| surface.positions[v as usize]);
        let uvs = points.map(|point| solid.closest(point).uv);
        let corners = uvs.map(|uv| DVec2::new(uv.x, 1.0 - uv.y) * side);
        for corner in corners {
            mark(map, corner.x.floor(), corner.y.floor());
        }
        let is_whole = (0..3).all(|k| {
            let next = (k + 1) % 3;
            uvs[k].distance(uvs[next]) <= LONGEST * points[k].distance(points[next]) / size
        });
        if is_whole {
            mark_triangle(map, corners);
        }
    }
}

/// Marks the texels whose centers are in a triangle or at its border, in texels from the top left.
fn mark_triangle(map: &mut WetMap, [a, b, c]: [DVec2; 3]) {
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let area = (b - a).perp_dot(c - a);
    let (first, last) = ((low - 0.5 - BORDER).ceil().max(DVec2::ZERO), (high - 0.5 + BORDER).floor());
    let last = last.min(DVec2::new(f64::from(map.width), f64::from(map.height)) - 1.0);
    let mut row = first.y;
    while row <= last.y {
        let mut column = first.x;
        while column <= last.x {
            let p = DVec2::new(column + 0.5, row + 0.5);
            let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| {
                let edge = (to - from).normalize_or_zero();
                edge.perp_dot(p - from) * area.signum()
            });
            if sides.iter().all(|&side| side >= -BORDER) {
                mark(map, column, row);
            }
            column += 1.0;
        }
        row += 1.0;
    }
}

fn mark(map: &mut WetMap, column: f64, row: f64) {
    let (column, row) = (column.max(0.0) as usize, row.max(0.0) as usize);
    let (column, row) = (column.min(map.width as usize - 1), row.min(map.height as usize - 1));
    map.age[row * map.width as usize + column] = 0;
}

#[cfg(test)]
mod tests {
    use sessile_model::NoTimer;
    use sessile_scene::{NoFiles, parse_str};

    use super::*;
    use crate::Stepper;

    /// A drop at rest, which is taken away after the first frame.
    #[test]
    fn ages_count_frames_since_liquid_has_left_and_wetness_dries() {
        let text = "model = \"pane\"\ntime = { frames = 1, fps = 20 }\n[[solids]]\nname = \"table\"\nshape = \"plane\"\n\
                    size = \"20 20 mm\"\n[[drops]]\nshape = \"cap\"\non = \"table\"\nvolume = \"5 uL\"\n";
        let mut stepper = Stepper::new(parse_str("s.toml", text, &[], &NoFiles).unwrap().scene).unwrap();
        let mut frame = stepper.measured(&mut NoTimer).unwrap().frame;
        frame.wet.iter_mut().for_each(|map| map.film.fill(0));
        let solids = stepper.model().world().solids();
        let mut ages = WetAges::default();
        let mut covered = frame.clone();
        ages.advance(&mut covered, solids, None);
        let wet: Vec<usize> = (0..frame.wet[0].wetness.len()).filter(|&k| frame.wet[0].wetness[k] > 0).collect();
        let under: Vec<usize> = wet.iter().copied().filter(|&k| covered.wet[0].age[k] == 0).collect();
        assert!(wet.len() > 100 && 40 * under.len() > 39 * wet.len(), "{} of {} are covered", under.len(), wet.len());

        let mut last = frame.clone();
        let center = under[under.len() / 2];
        for age in 1..=4 {
            last = Frame { liquid: FrameGeometry::default(), ..frame.clone() };
            ages.advance(&mut last, solids, Some(8.0));
            assert_eq!(last.wet[0].age[center], age);
        }
        assert_eq!(last.wet[0].wetness[center], frame.wet[0].wetness[center].div_ceil(2));
        let dry = (0..last.wet[0].age.len()).filter(|&k| frame.wet[0].wetness[k] == 0);
        assert!(dry.clone().count() > 100 && dry.clone().all(|k| last.wet[0].age[k] == 0));

        // As after a resume: the ages come from the maps that were written.
        let (mut resumed, mut next) = (WetAges::restored(last.wet.clone()), frame.clone());
        next.liquid = FrameGeometry::default();
        resumed.advance(&mut next, solids, Some(8.0));
        assert_eq!(next.wet[0].age[center], 5);
    }
}
