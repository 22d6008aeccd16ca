//! Finds where a texture map is locally isometric to its solid.
//!
//! The chart of a triangle gives lengths by the metric g = (dp/du·dp/du, dp/du·dp/dv, dp/dv·dp/dv)
//! for points p on the solid. Where g is nearly constant and the map is continuous across every
//! edge, the chart of any triangle gives the distance of two texels along the unfolded surface, to
//! [`MAX_CHANGE`]/2, without visiting the triangles between. Tiles of texels record where that
//! holds.

use glam::{DVec2, DVec3};

use sessile_numerics::OptionalIndex;

use super::Chart;
use crate::surface_mesh::{SurfaceMesh, TriangleIndex};

/// Sides of tiles, in texels: small ones near seams, large ones for long segments; the most useful
/// size first.
const TILE_SIDES: [usize; 3] = [8, 2, 32];
/// Largest relative change of the metric in a tile and its neighbors.
const MAX_CHANGE: f64 = 0.05;
/// Difference of texture coordinates across an edge above which the edge is a seam.
const SEAM: f64 = 1e-6;
/// Dihedral turn above which a droplet does not lie on the unfolded surface, in rad.
const MAX_FOLD: f64 = 0.35;

/// Isometric tiles of one map.
#[derive(Debug, Default)]
pub struct IsometricTiles {
    width: usize,
    height: usize,
    /// By size: whether a tile and all of its neighbors are isometric.
    tiles: [Vec<bool>; TILE_SIDES.len()],
}

/// Range of the metric in a tile; infinite at a seam.
#[derive(Clone, Copy)]
struct Range {
    low: DVec3,
    high: DVec3,
}

impl Range {
    const NONE: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };
    const BROKEN: Self = Self { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };

    fn of(metric: DVec3) -> Self {
        Self { low: metric, high: metric }
    }

    fn include(&mut self, other: Self) {
        *self = Self { low: self.low.min(other.low), high: self.high.max(other.high) };
    }

    fn is_isometric(&self) -> bool {
        let DVec3 { x, z, .. } = self.low;
        let change = self.high - self.low;
        let most = DVec3::new(x, (x * z).sqrt(), z) * MAX_CHANGE;
        x > 0.0 && z > 0.0 && change.cmple(most).all()
    }
}

impl IsometricTiles {
    /// Classifies the tiles of a map of `width` × `height` texels; `shared` are the texels covered
    /// by several triangles.
    pub(super) fn new(
        (width, height): (usize, usize),
        owner: &[OptionalIndex<TriangleIndex>],
        shared: &[usize],
        charts: &[Chart],
        surface: &SurfaceMesh,
        triangles: impl Iterator<Item = TriangleIndex>,
    ) -> Self {
        let [middle, side, large] = TILE_SIDES;
        let mut tiles = TileRanges::new(width, height, side);
        for (row, owners) in owner.chunks_exact(width).enumerate() {
            for (column, some) in owners.chunks(side).enumerate() {
                let tile = &mut tiles.ranges[row / side * tiles.columns + column];
                let mut before = None;
                for &t in some {
                    if before != Some(t) {
                        before = Some(t);
                        tile.include(t.get().map_or(Range::BROKEN, |t| Range::of(charts[t].metric())));
                    }
                }
            }
        }
        for &texel in shared {
            tiles.ranges[texel / width / side * tiles.columns + texel % width / side] = Range::BROKEN;
        }
        // Triangles that own no texel are included through their edges.
        for t in triangles {
            let facet = surface.facet(t);
            let own = Range::of(charts[t].metric());
            for k in 0..3 {
                let ends = [k, (k + 1) % 3].map(|corner| charts[t].at(facet.corners[corner]));
                let is_continuous = surface.opposite(t, k).is_some_and(|(other, side)| {
                    let corners = &surface.facet(other).corners;
                    let there = [(side + 1) % 3, side].map(|corner| charts[other].at(corners[corner]));
                    let apart = (there[0] - ends[0]).abs().max((there[1] - ends[1]).abs());
                    apart.max_element() <= SEAM && facet.dihedrals[k].abs() <= MAX_FOLD
                });
                tiles.include_line(ends, if is_continuous { own } else { Range::BROKEN });
            }
        }
        let [middle, large] = [middle, large].map(|times| tiles.coarser(times / side).isometric());
        Self { width, height, tiles: [middle, tiles.isometric(), large] }
    }

    /// Whether the map is isometric all over a box of texels around the coordinates `at`.
    #[inline]
    pub fn is_isometric(&self, at: DVec2, [columns, rows]: &[std::ops::Range<usize>; 2]) -> bool {
        let (x, y) = (at.x * self.width as f64, (1.0 - at.y) * self.height as f64);
        // NaN is outside.
        if !(x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64) {
            return false;
        }
        let (x, y) = (x as usize, y as usize);
        TILE_SIDES.iter().zip(&self.tiles).any(|(&side, even)| {
            let (column, row) = (x / side, y / side);
            let covers = |range: &std::ops::Range<usize>, tile: usize| {
                range.start + side >= tile * side && range.end <= (tile + 2) * side
            };
            covers(columns, column) && covers(rows, row) && even[row * self.width.div_ceil(side) + column]
        })
    }
}

/// Metric ranges by tile, while they are accumulated.
struct TileRanges {
    ranges: Vec<Range>,
    columns: usize,
    rows: usize,
    /// Tiles per map.
    per_map: DVec2,
}

impl TileRanges {
    fn new(width: usize, height: usize, side: usize) -> Self {
        let (columns, rows) = (width.div_ceil(side), height.div_ceil(side));
        let per_map = DVec2::new(width as f64, height as f64) / side as f64;
        Self { ranges: vec![Range::NONE; columns * rows], columns, rows, per_map }
    }

    /// Includes a range in every tile on a line between two coordinates, except for clipped
    /// corners.
    fn include_line(&mut self, ends: [DVec2; 2], range: Range) {
        let [from, to] = ends.map(|uv| DVec2::new(uv.x, 1.0 - uv.y) * self.per_map);
        let way = to - from;
        let steps = (4.0 * way.abs().max_element()).ceil().min(4.0 * (self.columns + self.rows) as f64);
        for step in 0..=steps as usize {
            let at = from + way * (step as f64 / steps.max(1.0));
            let last = DVec2::new(self.columns as f64, self.rows as f64);
            if at.cmpge(DVec2::ZERO).all() && at.cmplt(last).all() {
                self.ranges[at.y as usize * self.columns + at.x as usize].include(range);
            }
        }
    }

    /// Tiles of `times` the size.
    fn coarser(&self, times: usize) -> Self {
        let (columns, rows) = (self.columns.div_ceil(times), self.rows.div_ceil(times));
        let mut ranges = vec![Range::NONE; columns * rows];
        for (index, &range) in self.ranges.iter().enumerate() {
            let (row, column) = (index / self.columns, index % self.columns);
            ranges[row / times * columns + column / times].include(range);
        }
        Self { ranges, columns, rows, per_map: self.per_map / times as f64 }
    }

    /// Which tiles are isometric together with all of their neighbors.
    fn isometric(&self) -> Vec<bool> {
        let near = |at: usize, count: usize| at.saturating_sub(1)..(at + 2).min(count);
        let tile = |index: usize| {
            let mut all = Range::NONE;
            for row in near(index / self.columns, self.rows) {
                for column in near(index % self.columns, self.columns) {
                    all.include(self.ranges[row * self.columns + column]);
                }
            }
            all.is_isometric()
        };
        (0..self.ranges.len()).map(tile).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::Ordering;

    use sessile_geometry::TriMesh;
    use sessile_scene::{NoFiles, parse_str};
    use sessile_world::World;
    use sessile_world::random::Stream;

    use super::*;
    use crate::drag::tests::WATER;
    use crate::parameters::Parameters;
    use crate::substrate::Substrate;
    use crate::surface_mesh::tests::{sheet, surface_of};

    fn ground_of(mesh: &TriMesh, surface: &SurfaceMesh) -> Substrate {
        let text = "model = \"droplet\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n[materials.m]\nadvancing = \"80 deg\"\nreceding = \"58 deg\"\n\
             [[solids]]\nname = \"plane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"100 100 mm\"\n";
        let scene = parse_str("test.toml", text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
        let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
        let mut substrate = Substrate::new(surface, world.solids(), &WATER, &Parameters::default());
        substrate.build(surface, mesh);
        substrate
    }

    /// For random segments on 3200 triangles: the share on isometric tiles, and the share of texels
    /// marked differently than triangle by triangle.
    fn compared(mesh: &TriMesh) -> (f64, f64) {
        let surface = surface_of(mesh);
        let substrate = ground_of(mesh, &surface);
        let map = &substrate.maps[0];
        let mut random = Stream::new(4, &[]);
        let (mut even, mut marked, mut wrong) = (0.0, 0.0, 0.0);
        for _ in 0..300 {
            let t = TriangleIndex::new((random.uniform() * surface.facets().len() as f64) as usize);
            let to = surface.facet(t).centroid();
            let from = to + DVec2::new(random.uniform() - 0.5, random.uniform() - 0.5) * 8e-3;
            let radius = random.uniform_in(1e-3, 4e-3);
            let chart = &substrate.charts[t];
            let texels = map.texels_around(chart, [from, to], radius);
            if !map.texels(&surface, &substrate.charts).isometric.is_isometric(chart.at(to), &texels) {
                continue;
            }
            even += 1.0 / 300.0;
            substrate.wet(&surface, t, from, to, radius);
            let marks = (0..)
                .zip(&map.texels(&surface, &substrate.charts).wet)
                .filter(|(_, mark)| mark.swap(0, Ordering::Relaxed) != 0);
            let at_once: BTreeSet<usize> = marks.map(|(texel, _)| texel).collect();
            let mut one_by_one = BTreeSet::new();
            substrate.texels_near(&surface, t, from, to, radius, |texel| _ = one_by_one.insert(texel));
            marked += one_by_one.len() as f64;
            wrong += at_once.symmetric_difference(&one_by_one).count() as f64;
        }
        (even, wrong / marked)
    }

    #[test]
    fn on_isometric_tiles_one_chart_marks_what_all_triangles_do() {
        let flat = sheet(0.1, 0.1, 40, 40);
        let (even, wrong) = compared(&flat);
        assert!(even > 0.4 && wrong < 1e-4, "flat: {even} isometric, {wrong} wrong");
        // Slopes up to 0.1, curved like a sphere of 32 mm.
        let mut wavy = flat;
        wavy.positions.iter_mut().for_each(|p| p.z = 0.32e-3 * (314.0 * p.x).sin() * (200.0 * p.y).cos());
        let (even, wrong) = compared(&wavy);
        assert!(even > 0.4 && wrong < 0.02, "wavy: {even} isometric, {wrong} wrong");
    }

    #[test]
    fn seams_folds_stretched_maps_and_shared_texels_are_not_isometric() {
        let flat = sheet(0.1, 0.1, 40, 40);
        let even = |mesh: &TriMesh, x: f64, y: f64| {
            let surface = surface_of(mesh);
            let substrate = ground_of(mesh, &surface);
            let [column, row] = [x, y].map(|share| (share * substrate.maps[0].width as f64) as usize);
            substrate.maps[0]
                .texels(&surface, &substrate.charts)
                .isometric
                .is_isometric(DVec2::new(x, 1.0 - y), &[column..column + 1, row..row + 1])
        };
        assert!(even(&flat, 0.3, 0.5) && even(&flat, 0.5, 0.5) && !even(&flat, 0.01, 0.5));
        // The right half is shifted in the map, folded up, compressed, or mapped onto the left one.
        let right = |t: usize, mesh: &TriMesh| mesh.corners(t).iter().all(|p| p.x > -1e-9);
        let changed = |change: &dyn Fn(DVec2) -> DVec2| {
            let mut mesh = flat.clone();
            for t in (0..mesh.triangles.len()).filter(|&t| right(t, &flat)) {
                mesh.corner_uvs[t] = mesh.corner_uvs[t].map(change);
            }
            mesh
        };
        let moved = changed(&|uv| DVec2::new(uv.x, (uv.y + 0.1).min(1.0)));
        let squeezed = changed(&|uv| DVec2::new(0.5 + 0.8 * (uv.x - 0.5), uv.y));
        let overlapping = changed(&|uv| DVec2::new(1.0 - uv.x, uv.y));
        let mut folded = flat.clone();
        folded.positions.iter_mut().for_each(|p| p.z = 0.5 * p.x.max(0.0));
        for (name, mesh) in [("moved", &moved), ("squeezed", &squeezed), ("folded", &folded)] {
            assert!(even(mesh, 0.3, 0.5) && !even(mesh, 0.497, 0.5) && !even(mesh, 0.503, 0.5), "{name}");
        }
        assert!(!even(&overlapping, 0.3, 0.5));
    }
}
