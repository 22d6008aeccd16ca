//! Rasterizer: the visible triangle at each of four samples per pixel, tile by tile.
//!
//! A sample lies in a triangle when three edge functions agree in sign (pineda1988). An edge
//! function is set up from its endpoints in a fixed order, the same for both triangles of an edge,
//! so that no sample between them is missed. Reciprocal depth is linear in screen space; larger is
//! nearer. The four samples of a pixel are processed in SIMD.

use glam::{DVec2, Vec2, Vec3, Vec4};

/// Side of a tile, in pixels.
pub(crate) const TILE: usize = 32;

/// Samples per pixel.
pub(crate) const SAMPLES: usize = 4;

/// Sample positions within a pixel: no two in one row or column, so that edges of all directions
/// are smooth.
pub(crate) const OFFSETS: [Vec2; SAMPLES] =
    [Vec2::new(0.375, 0.125), Vec2::new(0.875, 0.375), Vec2::new(0.125, 0.625), Vec2::new(0.625, 0.875)];

/// What a sample shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// No triangle covers it.
    Nothing,
    /// A solid, by index.
    Solid(u32),
    /// A drop on screen, by index.
    Drop(u32),
}

/// A rectangle of pixels; its high end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub low: [usize; 2],
    pub high: [usize; 2],
}

impl Rect {
    /// The pixels of an image that a screen-space box overlaps; `None` if it lies outside.
    pub fn around(low: Vec2, high: Vec2, size: [usize; 2]) -> Option<Self> {
        let clamp = |x: f32, count: usize| x.max(0.0).min(count as f32);
        let low = [clamp(low.x.floor(), size[0]) as usize, clamp(low.y.floor(), size[1]) as usize];
        let high = [clamp(high.x.ceil(), size[0]) as usize, clamp(high.y.ceil(), size[1]) as usize];
        (low[0] < high[0] && low[1] < high[1]).then_some(Self { low, high })
    }

    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let low = [self.low[0].max(other.low[0]), self.low[1].max(other.low[1])];
        let high = [self.high[0].min(other.high[0]), self.high[1].min(other.high[1])];
        (low[0] < high[0] && low[1] < high[1]).then_some(Self { low, high })
    }

    /// The tiles that it overlaps, with `columns` tiles per row.
    pub fn tiles(&self, columns: usize) -> impl Iterator<Item = usize> + use<> {
        let [x0, y0] = self.low.map(|x| x / TILE);
        let [x1, y1] = self.high.map(|x| (x - 1) / TILE);
        (y0..=y1).flat_map(move |y| (x0..=x1).map(move |x| y * columns + x))
    }
}

/// The nearest triangle at each sample of a tile.
#[derive(Clone, Debug)]
pub(crate) struct VisibilityBuffer {
    pub rect: Rect,
    width: usize,
    /// Reciprocal depth; 0 without a triangle.
    pub near: Vec<Vec4>,
    pub owner: Vec<[Visible; SAMPLES]>,
    pub triangle: Vec<[u32; SAMPLES]>,
}

/// A function that is linear in screen space, at the four samples of a pixel.
struct Linear {
    x: f32,
    y: f32,
    start: Vec4,
}

/// A triangle set up for rasterization, relative to the tile's corner.
struct Setup {
    /// Edge functions, positive inside.
    edges: [Linear; 3],
    /// Reciprocal depth.
    depth: Linear,
}

impl VisibilityBuffer {
    pub fn new(rect: Rect) -> Self {
        let width = rect.high[0] - rect.low[0];
        let count = width * (rect.high[1] - rect.low[1]);
        Self {
            rect,
            width,
            near: vec![Vec4::ZERO; count],
            owner: vec![[Visible::Nothing; SAMPLES]; count],
            triangle: vec![[0; SAMPLES]; count],
        }
    }

    /// Index of a pixel in the buffers.
    pub fn index(&self, x: usize, y: usize) -> usize {
        (y - self.rect.low[1]) * self.width + x - self.rect.low[0]
    }

    /// Rasterizes a triangle given by its corners: screen position in pixels, and reciprocal depth.
    pub fn rasterize(&mut self, corners: [Vec3; 3], owner: Visible, triangle: u32) {
        let Some(pixels) = self.covered_pixels(corners) else { return };
        let corner = DVec2::new(self.rect.low[0] as f64, self.rect.low[1] as f64);
        let Some(Setup { edges, depth }) = setup(corners, corner) else { return };
        let zero = Vec4::ZERO;
        for y in pixels.low[1]..pixels.high[1] {
            let down = (y - self.rect.low[1]) as f32;
            let row = edges.each_ref().map(|edge| edge.start + edge.y * down);
            let depth_row = depth.start + depth.y * down;
            let base = self.index(self.rect.low[0], y);
            for step in pixels.low[0] - self.rect.low[0]..pixels.high[0] - self.rect.low[0] {
                let across = step as f32;
                let inside = (row[0] + edges[0].x * across).cmpge(zero)
                    & (row[1] + edges[1].x * across).cmpge(zero)
                    & (row[2] + edges[2].x * across).cmpge(zero);
                let depth = depth_row + depth.x * across;
                let at = base + step;
                let nearer = inside & depth.cmpgt(self.near[at]);
                let mut mask = nearer.bitmask();
                if mask == 0 {
                    continue;
                }
                self.near[at] = Vec4::select(nearer, depth, self.near[at]);
                while mask != 0 {
                    let sample = mask.trailing_zeros() as usize;
                    mask &= mask - 1;
                    self.owner[at][sample] = owner;
                    self.triangle[at][sample] = triangle;
                }
            }
        }
    }

    /// The pixels of the tile that have samples within a triangle's bounds; `None` if there are
    /// none.
    fn covered_pixels(&self, [a, b, c]: [Vec3; 3]) -> Option<Rect> {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let [left, top] = self.rect.low.map(|x| x as f32);
        let [right, bottom] = self.rect.high.map(|x| x as f32);
        // Casts round towards zero, which is down for positive numbers.
        let first = |low: f32, start: f32| ((low - 0.875).max(start - 1.0) + 1.999) as i32 - 1;
        let last = |high: f32, end: f32| ((high - 0.125).min(end - 0.5) + 1.0).max(0.0) as i32;
        let (x0, y0) = (first(low.x, left).max(left as i32), first(low.y, top).max(top as i32));
        let (x1, y1) = (last(high.x, right), last(high.y, bottom));
        if !(x0 < x1 && y0 < y1 && low.is_finite() && high.is_finite()) {
            return None;
        }
        // Most triangles of small drops lie between samples.
        if x1 - x0 == 1 && y1 - y0 == 1 {
            let (low, high) = (low.truncate(), high.truncate());
            let at = Vec2::new(x0 as f32, y0 as f32);
            if !OFFSETS.iter().any(|&offset| (at + offset).cmpge(low).all() && (at + offset).cmple(high).all()) {
                return None;
            }
        }
        Some(Rect { low: [x0 as usize, y0 as usize], high: [x1 as usize, y1 as usize] })
    }
}

/// Edge functions and reciprocal depth of a triangle, relative to a tile's corner; `None` for a
/// degenerate triangle.
///
/// All triangles use the tile's corner, so that a sample gives the same numbers for both sides of
/// an edge.
fn setup([a, b, c]: [Vec3; 3], corner: DVec2) -> Option<Setup> {
    let place = |p: Vec3| DVec2::new(f64::from(p.x), f64::from(p.y)) - corner;
    let [p, q, r] = [place(a), place(b), place(c)];
    let area = (q - p).perp_dot(r - p);
    if area == 0.0 || !area.is_finite() {
        return None;
    }
    let turn = area.signum();
    let edges = [edge(p, q, turn), edge(q, r, turn), edge(r, p, turn)];
    // Reciprocal depth z: its slopes solve z_b − z_a = g·(q − p), z_c − z_a = g·(r − p).
    let (rise_b, rise_c) = (f64::from(b.z - a.z), f64::from(c.z - a.z));
    let slope_x = (rise_b * (r - p).y - rise_c * (q - p).y) / area;
    let slope_y = (rise_c * (q - p).x - rise_b * (r - p).x) / area;
    let start = f64::from(a.z) - slope_x * p.x - slope_y * p.y;
    let (x, y) = (slope_x as f32, slope_y as f32);
    let start = Vec4::from_array(OFFSETS.map(|offset| start as f32 + x * offset.x + y * offset.y));
    Some(Setup { edges, depth: Linear { x, y, start } })
}

/// The edge function from `from` to `to`: its values at the samples of the first pixel and its
/// slopes; positive inside.
fn edge(from: DVec2, to: DVec2, turn: f64) -> Linear {
    let (first, second, sign) = if (from.x, from.y) < (to.x, to.y) { (from, to, turn) } else { (to, from, -turn) };
    let along = second - first;
    // Rounded first and signed after, so that both sides of the edge get the same numbers.
    let (x, y) = (-along.y as f32, along.x as f32);
    let start = along.y * first.x - along.x * first.y;
    let sign = sign as f32;
    let start = OFFSETS.map(|offset| sign * (start as f32 + (x * offset.x + y * offset.y)));
    Linear { x: sign * x, y: sign * y, start: Vec4::from_array(start) }
}

/// Clips a triangle at the near plane: one or two triangles in screen space. Corners are
/// homogeneous (see `Lens::homogeneous`), `near` is the depth of the plane.
pub(crate) fn clip(corners: [Vec3; 3], near: f32, size: Vec2) -> impl Iterator<Item = [Vec3; 3]> {
    let mut points = [Vec3::ZERO; 4];
    let mut count = 0;
    for i in 0..3 {
        let (p, q) = (corners[i], corners[(i + 1) % 3]);
        if p.z >= near {
            points[count] = p;
            count += 1;
        }
        if (p.z >= near) != (q.z >= near) {
            // From the same end for both triangles of an edge.
            let (p, q) = if p.z < q.z { (p, q) } else { (q, p) };
            points[count] = p.lerp(q, (near - p.z) / (q.z - p.z));
            count += 1;
        }
    }
    let screen = points.map(|p| on_screen(p, size));
    (2..count).map(move |i| [screen[0], screen[i - 1], screen[i]])
}

/// Position in pixels and reciprocal depth of a homogeneous point in front of the camera.
pub(crate) fn on_screen(point: Vec3, size: Vec2) -> Vec3 {
    let inverse = 1.0 / point.z;
    Vec3::new(point.x * inverse * size.x, point.y * inverse * size.y, inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile() -> VisibilityBuffer {
        VisibilityBuffer::new(Rect { low: [32, 64], high: [64, 96] })
    }

    /// A fan of triangles about a point covers its outline without gaps.
    #[test]
    fn adjacent_triangles_leave_no_gap() {
        for turn in 0..50 {
            let middle = Vec3::new(47.3 + 0.1 * turn as f32, 80.7, 1.0);
            let rim = |i: usize| {
                let angle = std::f32::consts::TAU * ((i % 23) as f32 / 23.0) + 0.01 * turn as f32;
                middle + Vec3::new(2000.0 * angle.cos(), 900.0 * angle.sin(), 0.0)
            };
            let mut visible = tile();
            for i in 0..23 {
                let corners = [middle, rim(i), rim(i + 1)];
                visible.rasterize(
                    if i % 2 == 0 { corners } else { [corners[0], corners[2], corners[1]] },
                    Visible::Solid(i as u32),
                    0,
                );
            }
            let missed = visible.owner.iter().flatten().filter(|&&owner| owner == Visible::Nothing).count();
            assert_eq!(missed, 0, "turned by {turn}");
        }
    }

    #[test]
    fn the_nearer_triangle_is_visible_and_covers_its_area() {
        let mut visible = tile();
        let square = |z: f32, side: f32| {
            let [a, b, c, d] =
                [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)].map(|(x, y)| Vec3::new(40.0 + x, 70.0 + y, z));
            [[a, b, c], [a, c, d]]
        };
        for (owner, z, side) in [(1, 0.5, 20.0), (2, 1.0, 10.0), (3, 0.25, 24.0)] {
            for corners in square(z, side) {
                visible.rasterize(corners, Visible::Solid(owner), 9);
            }
        }
        visible.rasterize([Vec3::NAN; 3], Visible::Solid(5), 0);
        visible.rasterize([Vec3::splat(50.0); 3], Visible::Solid(5), 0);
        let seen = |solid: u32| visible.owner.iter().flatten().filter(|&&owner| owner == Visible::Solid(solid)).count();
        assert_eq!([seen(2), seen(1), seen(3), seen(5)], [400, 1200, 4 * (24 * 24 - 400), 0]);
    }

    #[test]
    fn a_triangle_that_extends_behind_the_camera_is_clipped() {
        let size = Vec2::new(100.0, 100.0);
        let corners = [Vec3::new(0.0, 0.5, 1.0), Vec3::new(1.0, 0.5, 1.0), Vec3::new(-0.5, -2.0, -1.0)];
        let parts: Vec<_> = clip(corners, 0.1, size).collect();
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().flatten().all(|p| p.is_finite() && p.z > 0.0 && p.z <= 10.001), "{parts:?}");
        assert_eq!(clip(corners.map(|p| -p), 2.0, size).count(), 0);
    }
}
