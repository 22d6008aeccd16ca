//! Wetting state of the solids: contact-angle law, wetness and film at every point.
//!
//! Wetness and film are stored in one texture map per solid, so the width of a wet path does not
//! depend on the triangles. Each texel belongs to the triangle that covers its center. Marking a
//! path visits the triangles near it and marks those of their texels that lie within the radius, on
//! any chart; where the map is locally isometric to the solid ([`isometry`]) it visits texels
//! alone. Contact angles that vary by image are stored per texel too. The texels of a solid are
//! allocated when liquid first touches it: a dry solid costs no map, and has none in a frame.

mod build;
mod isometry;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use glam::{DMat2, DVec2, DVec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sessile_frames::WetMap;
use sessile_geometry::TriMesh;
use sessile_numerics::OptionalIndex;
use sessile_wetting::{Liquid, SlidingLaw};
use sessile_world::Solid;

use crate::fast_round::nearest;
use crate::film_map::FilmMap;
use crate::parameters::Parameters;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, SurfacePoint, TriangleIndex};
use build::MapBuilder;
use isometry::IsometricTiles;

/// Number of samples along a film narrower than a texel.
const NUM_SAMPLES: u32 = 4;
/// Texels per parallel task when a frame is written.
const TEXELS_PER_TASK: usize = 1 << 15;
/// Largest number of triangles visited around one path segment.
const MAX_TRIANGLES: usize = 96;
/// Rows of more texels than this are clipped to the segment before each texel is tested.
const WIDE_ROW: usize = 8;

/// Affine map from a triangle's axes to texture coordinates, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Chart {
    origin: DVec2,
    /// Derivatives of the texture coordinates along the triangle's x and y, as columns, in 1/m.
    uv_per_meter: DMat2,
    /// Half extents in texture coordinates of a disc of 1 m radius.
    extent_per_meter: DVec2,
}

const _: () = assert!(size_of::<Chart>() == 64);

/// Map of one solid.
#[derive(Debug)]
struct SurfaceMap {
    solid: SolidIndex,
    width: usize,
    height: usize,
    /// What liquid has done to the solid; empty until it touches it.
    texels: OnceLock<Texels>,
    /// Law of each texel; empty where one law applies to all.
    laws: Vec<u16>,
    uniform: u16,
    /// Whether the advancing angle depends on wetness.
    has_wetting_history: bool,
    /// Whether the vertices of the solid move.
    deforms: bool,
    /// Mean side of a texel on the solid, in m.
    texel_size: f64,
}

/// Texels of one map.
#[derive(Debug)]
struct Texels {
    /// Triangle of each texel.
    owner: Vec<OptionalIndex<TriangleIndex>>,
    wet: Vec<AtomicU8>,
    isometric: IsometricTiles,
    film: FilmMap,
}

/// Wetting state of all solids.
#[derive(Debug)]
pub struct Substrate {
    maps: Vec<SurfaceMap>,
    charts: Vec<Chart>,
    laws: Vec<SlidingLaw>,
}

/// Checkpoint of one map.
#[derive(Serialize, Deserialize)]
struct SurfaceMapState {
    /// Run lengths of dry and wet texels, alternating.
    runs: Vec<u32>,
    /// Texels with film and its volume, in m³.
    film: Vec<(u32, f64)>,
}

/// Checkpoint of all maps.
#[derive(Serialize, Deserialize)]
pub struct SubstrateState {
    maps: Vec<SurfaceMapState>,
}

impl Substrate {
    /// Dry substrates of all solids of a surface.
    pub fn new(surface: &SurfaceMesh, solids: &[Solid], liquid: &Liquid, parameters: &Parameters) -> Self {
        let mut laws = Vec::new();
        let maps = solids
            .iter()
            .zip(surface.solids())
            .map(|(built, solid)| {
                let builder = MapBuilder { solid, built, liquid, parameters };
                builder.build(surface.area(solid), &mut laws)
            })
            .collect();
        Self { maps, charts: Vec::new(), laws }
    }

    /// Adds the charts of the triangles that were added to the surface last, those of `mesh`.
    pub fn build(&mut self, surface: &SurfaceMesh, mesh: &TriMesh) {
        let added = surface.facets()[self.charts.len()..].iter().enumerate();
        self.charts.extend(added.map(|(t, facet)| chart(mesh.corner_uvs.get(t), &facet.corners)));
    }

    /// Updates the charts of the triangles of a solid, those of `mesh`, whose vertices have moved.
    pub fn move_charts(&mut self, surface: &SurfaceMesh, solid: SolidIndex, mesh: &TriMesh) {
        let range = surface.range_of(solid);
        let moved = self.charts[range.clone()].iter_mut().zip(&surface.facets()[range]).enumerate();
        moved.for_each(|(t, (own, facet))| *own = chart(mesh.corner_uvs.get(t), &facet.corners));
    }

    /// Removes the charts of triangles that the surface no longer has, and dries their solids.
    pub fn truncate(&mut self, surface: &SurfaceMesh) {
        self.charts.truncate(surface.facets().len());
        for map in self.maps.iter_mut().filter(|map| !surface.is_built(map.solid)) {
            map.texels = OnceLock::new();
        }
    }

    /// Derives the laws of a solid from its wetting again; wetness and film stay.
    pub fn refresh_laws(
        &mut self,
        solid: SolidIndex,
        area: f64,
        built: &Solid,
        liquid: &Liquid,
        parameters: &Parameters,
    ) {
        let fresh = MapBuilder { solid, built, liquid, parameters }.build(area, &mut self.laws);
        let texels = std::mem::take(&mut self.maps[solid].texels);
        self.maps[solid] = SurfaceMap { texels, ..fresh };
        self.drop_unused_laws();
    }

    /// Removes laws that no map uses, so that changes by hand do not accumulate.
    fn drop_unused_laws(&mut self) {
        let mut used = vec![false; self.laws.len()];
        for map in &self.maps {
            map.laws.iter().for_each(|&law| used[usize::from(law)] = true);
            used[usize::from(map.uniform)] |= map.laws.is_empty();
        }
        let mut kept = Vec::new();
        let numbers: Vec<u16> = used
            .iter()
            .zip(&self.laws)
            .map(|(&is_used, law)| {
                let number = kept.len() as u16;
                if is_used {
                    kept.push(*law);
                }
                number
            })
            .collect();
        self.laws = kept;
        for map in &mut self.maps {
            map.laws.iter_mut().for_each(|law| *law = numbers[usize::from(*law)]);
            map.uniform = numbers[usize::from(map.uniform)];
        }
    }

    /// The law at a point.
    #[inline]
    pub fn law(&self, surface: &SurfaceMesh, at: SurfacePoint) -> &SlidingLaw {
        let map = self.map_of(surface, at);
        let index = if map.laws.is_empty() { map.uniform } else { map.laws[self.texel(map, at)] };
        &self.laws[usize::from(index)]
    }

    /// Whether contact angles vary along a contact line: by image or by wetness.
    pub fn varies(&self, solid: SolidIndex) -> bool {
        let map = &self.maps[solid];
        !map.laws.is_empty() || map.has_wetting_history
    }

    /// Cosines of the advancing angle (wet or dry) and of the receding angle at a point.
    pub fn cosines(&self, surface: &SurfaceMesh, at: SurfacePoint) -> (f64, f64) {
        let map = self.map_of(surface, at);
        let texel = self.texel(map, at);
        let index = if map.laws.is_empty() { map.uniform } else { map.laws[texel] };
        let law = &self.laws[usize::from(index)];
        let wet = map.has_wetting_history && map.texels.get().is_some_and(|texels| texels.is_wet(texel));
        (if wet { law.cos_wet_advancing } else { law.cos_advancing }, law.cos_receding)
    }

    /// Whether there is any film on a solid.
    pub fn has_film(&self, solid: SolidIndex) -> bool {
        self.maps[solid].texels.get().is_some_and(|texels| !texels.film.is_empty())
    }

    /// Film on the texel of a point, in m³.
    pub fn film_at(&self, surface: &SurfaceMesh, at: SurfacePoint) -> f64 {
        let map = self.map_of(surface, at);
        map.texels.get().map_or(0.0, |texels| texels.film.at(self.texel(map, at)))
    }

    /// Whether the advancing angle of a solid depends on wetness.
    pub fn has_wetting_history(&self, solid: SolidIndex) -> bool {
        self.maps[solid].has_wetting_history
    }

    /// Whether the wet path of a droplet of this radius (in m) is wider than a texel.
    pub fn resolves(&self, solid: SolidIndex, radius: f64) -> bool {
        2.0 * radius >= self.maps[solid].texel_size
    }

    /// Film on all solids, in m³.
    pub fn film_volume(&self) -> f64 {
        self.maps.iter().filter_map(|map| map.texels.get()).map(|texels| texels.film.total()).sum()
    }

    /// Thins the films of each solid by what `loss` says (in m; none if it is not positive) and
    /// returns the volume, in m³.
    pub fn dry_films(&mut self, loss: impl Fn(SolidIndex) -> f64) -> f64 {
        let mut dried = 0.0;
        for map in &mut self.maps {
            let per_texel = loss(map.solid) * map.texel_size * map.texel_size;
            if let Some(texels) = map.texels.get_mut().filter(|texels| per_texel > 0.0 && !texels.film.is_empty()) {
                dried += texels.film.thin(per_texel);
            }
        }
        dried
    }

    /// Marks what a droplet of this radius wets between two points of a triangle (all in m).
    ///
    /// Threads may mark concurrently: the result does not depend on their order.
    pub fn wet(&self, surface: &SurfaceMesh, triangle: TriangleIndex, from: DVec2, to: DVec2, radius: f64) {
        let facet = surface.facet(triangle);
        let map = &self.maps[facet.solid];
        let texels = map.texels(surface, &self.charts);
        let mark = |texel: usize| texels.wet[texel].store(1, Ordering::Relaxed);
        mark(self.texel(map, SurfacePoint { triangle, at: to }));
        if !self.resolves(map.solid, radius) {
            return;
        }
        let chart = &self.charts[triangle];
        let around = map.texels_around(chart, [from, to], radius);
        if facet.depth(from).min(facet.depth(to)) < radius && texels.isometric.is_isometric(chart.at(to), &around) {
            map.texels_of(chart, around, [from, to], radius, |_| true, mark);
        } else {
            self.texels_near(surface, triangle, from, to, radius, mark);
        }
    }

    /// Adds film of a volume (in m³) and width (in m) between two points of a triangle.
    pub fn lay_film(
        &mut self,
        surface: &SurfaceMesh,
        triangle: TriangleIndex,
        from: DVec2,
        to: DVec2,
        width: f64,
        volume: f64,
    ) {
        let solid = surface.facet(triangle).solid;
        let mut count = 0_u32;
        self.texels_near(surface, triangle, from, to, 0.5 * width, |_| count += 1);
        let mut film = self.take_film_map(surface, solid);
        if count > 0 {
            let share = volume / f64::from(count);
            self.texels_near(surface, triangle, from, to, 0.5 * width, |texel| film.add(texel, share));
        } else {
            // Narrower than a texel: along the center line.
            for sample in 0..NUM_SAMPLES {
                let at = sample_point(from, to, sample);
                film.add(self.texel(&self.maps[solid], SurfacePoint { triangle, at }), volume / f64::from(NUM_SAMPLES));
            }
        }
        self.put_film_map(solid, film);
    }

    /// Removes the film that [`Substrate::lay_film`] adds between two points of a triangle, and a
    /// quarter of the width on either side; returns its volume, in m³.
    pub fn take_film_along(
        &mut self,
        surface: &SurfaceMesh,
        triangle: TriangleIndex,
        from: DVec2,
        to: DVec2,
        width: f64,
    ) -> f64 {
        let solid = surface.facet(triangle).solid;
        let mut film = self.take_film_map(surface, solid);
        let mut taken = 0.0;
        // A film narrower than a texel is on the texels of its center line.
        for sample in 0..NUM_SAMPLES {
            taken +=
                film.take(self.texel(&self.maps[solid], SurfacePoint { triangle, at: sample_point(from, to, sample) }));
        }
        self.texels_near(surface, triangle, from, to, 0.75 * width, |texel| taken += film.take(texel));
        self.put_film_map(solid, film);
        taken
    }

    /// Removes all film within `radius` (in m) of a point and returns its volume, in m³.
    pub fn take_film(&mut self, surface: &SurfaceMesh, at: SurfacePoint, radius: f64) -> f64 {
        let solid = surface.facet(at.triangle).solid;
        let mut film = self.take_film_map(surface, solid);
        let mut taken = film.take(self.texel(&self.maps[solid], at));
        self.texels_near(surface, at.triangle, at.at, at.at, radius, |texel| taken += film.take(texel));
        self.put_film_map(solid, film);
        taken
    }

    /// Takes the film of a solid out of its map, to be changed.
    fn take_film_map(&mut self, surface: &SurfaceMesh, solid: SolidIndex) -> FilmMap {
        let Self { maps, charts, .. } = self;
        std::mem::take(&mut maps[solid].texels_mut(surface, charts).film)
    }

    /// Puts the film of a solid back.
    fn put_film_map(&mut self, solid: SolidIndex, film: FilmMap) {
        if let Some(texels) = self.maps[solid].texels.get_mut() {
            texels.film = film;
        }
    }

    /// Prefetches the chart of a triangle.
    #[inline]
    pub fn prefetch(&self, triangle: TriangleIndex) -> f64 {
        self.charts[triangle].origin.x
    }

    fn map_of(&self, surface: &SurfaceMesh, at: SurfacePoint) -> &SurfaceMap {
        &self.maps[surface.facet(at.triangle).solid]
    }

    fn texel(&self, map: &SurfaceMap, at: SurfacePoint) -> usize {
        let chart = &self.charts[at.triangle];
        map.texel(chart.at(at.at))
    }

    /// Visits each texel within `radius` (in m) of the segment between two points of a triangle
    /// once.
    fn texels_near(
        &self,
        surface: &SurfaceMesh,
        triangle: TriangleIndex,
        from: DVec2,
        to: DVec2,
        radius: f64,
        mut found: impl FnMut(usize),
    ) {
        let start = surface.facet(triangle);
        let map = &self.maps[start.solid];
        let owner = &map.texels(surface, &self.charts).owner;
        let mut visit = |t: TriangleIndex, ends: [DVec2; 2]| {
            let chart = &self.charts[t];
            let texels = map.texels_around(chart, ends, radius);
            map.texels_of(chart, texels, ends, radius, |texel| owner[texel] == OptionalIndex::some(t), &mut found);
        };
        let inside = start.depth(from).min(start.depth(to)) >= radius;
        if inside {
            visit(triangle, [from, to]);
            return;
        }
        let [a, b] = [from, to].map(|at| start.point(at));
        let mut seen = [triangle; MAX_TRIANGLES];
        let (mut count, mut next) = (1, 0);
        while next < count {
            let t = seen[next];
            next += 1;
            let facet = surface.facet(t);
            let [a, b]: [DVec2; 2] = [a, b].map(|point: DVec3| facet.project(point - facet.origin));
            visit(t, [a, b]);
            for k in 0..3 {
                let Some((other, _)) = facet.opposite[k].get() else { continue };
                if facet.edge_distance(a, k).min(facet.edge_distance(b, k)) >= radius {
                    continue;
                }
                if count < MAX_TRIANGLES && !seen[..count].contains(&other) {
                    seen[count] = other;
                    count += 1;
                }
            }
        }
    }

    /// The maps of a frame: those of the solids that liquid has touched.
    pub fn wet_maps(&self) -> Vec<WetMap> {
        self.maps.iter().filter_map(|map| map.wet_map(&self.charts)).collect()
    }

    /// Checkpoint of all maps.
    pub fn save(&self) -> SubstrateState {
        let maps = self.maps.iter().map(|map| {
            let Some(texels) = map.texels.get() else {
                return SurfaceMapState { runs: Vec::new(), film: Vec::new() };
            };
            let (mut runs, mut state, mut length) = (Vec::new(), 0, 0);
            for texel in &texels.wet {
                let wet = texel.load(Ordering::Relaxed);
                if wet != state {
                    runs.push(length);
                    (state, length) = (wet, 0);
                }
                length += 1;
            }
            let film =
                (0..).zip(texels.film.volumes()).filter(|&(_, &film)| film != 0.0).map(|(texel, &film)| (texel, film));
            SurfaceMapState { runs, film: film.collect() }
        });
        SubstrateState { maps: maps.collect() }
    }

    /// Restores a checkpoint; `false` if it belongs to other solids.
    pub fn restore(&mut self, state: &SubstrateState, surface: &SurfaceMesh) -> bool {
        let fits = |(map, SurfaceMapState { runs, film }): (&SurfaceMap, &SurfaceMapState)| {
            let num_texels = map.width * map.height;
            (surface.is_built(map.solid) || (runs.is_empty() && film.is_empty()))
                && runs.iter().map(|&run| u64::from(run)).sum::<u64>() <= num_texels as u64
                && film.iter().all(|&(texel, volume)| (texel as usize) < num_texels && volume.is_finite())
        };
        if state.maps.len() != self.maps.len() || !self.maps.iter().zip(&state.maps).all(fits) {
            return false;
        }
        let Self { maps, charts, .. } = self;
        for (map, SurfaceMapState { runs, film }) in maps.iter_mut().zip(&state.maps) {
            map.texels = OnceLock::new();
            if runs.is_empty() && film.is_empty() {
                continue;
            }
            let texels = map.texels_mut(surface, charts);
            let (mut texel, mut wet) = (0, 0);
            for &run in runs {
                texels.wet[texel..texel + run as usize].iter_mut().for_each(|t| *t.get_mut() = wet);
                texel += run as usize;
                wet = 1 - wet;
            }
            texels.wet[texel..].iter_mut().for_each(|t| *t.get_mut() = wet);
            for &(texel, volume) in film {
                texels.film.add(texel as usize, volume);
            }
        }
        true
    }
}

impl Texels {
    #[inline]
    fn is_wet(&self, texel: usize) -> bool {
        self.wet[texel].load(Ordering::Relaxed) != 0
    }
}

impl SurfaceMap {
    /// The texels, allocated at the first call.
    #[inline]
    fn texels(&self, surface: &SurfaceMesh, charts: &[Chart]) -> &Texels {
        self.texels.get_or_init(|| self.dry_texels(surface, charts))
    }

    fn texels_mut(&mut self, surface: &SurfaceMesh, charts: &[Chart]) -> &mut Texels {
        self.texels(surface, charts);
        self.texels.get_mut().expect("they have just been allocated")
    }

    fn texel(&self, uv: DVec2) -> usize {
        // `max` first, so that NaN gives the first texel.
        let column = nearest((uv.x * self.width as f64 - 0.5).max(0.0).min(self.width as f64 - 1.0));
        let row = nearest(((1.0 - uv.y) * self.height as f64 - 0.5).max(0.0).min(self.height as f64 - 1.0));
        row as usize * self.width + column as usize
    }

    fn texel_center(&self, column: usize, row: usize) -> DVec2 {
        DVec2::new((column as f64 + 0.5) / self.width as f64, 1.0 - (row as f64 + 0.5) / self.height as f64)
    }

    /// Columns and rows of the texels whose centers may lie in a box of texture coordinates.
    fn texel_box(&self, low: DVec2, high: DVec2) -> [std::ops::Range<usize>; 2] {
        let range = |low: f64, high: f64, count: usize| {
            // Centers are half a texel from integers.
            let [low, high] = [low, high].map(|end| nearest((end * count as f64).max(0.0).min(count as f64)) as usize);
            low..high
        };
        [range(low.x, high.x, self.width), range(1.0 - high.y, 1.0 - low.y, self.height)]
    }

    /// Columns and rows of the texels that may lie within `radius` (in m) of a segment.
    #[inline]
    fn texels_around(&self, chart: &Chart, ends: [DVec2; 2], radius: f64) -> [std::ops::Range<usize>; 2] {
        let uv = ends.map(|at| chart.at(at));
        let margin = chart.extent_per_meter * radius;
        self.texel_box(uv[0].min(uv[1]) - margin, uv[0].max(uv[1]) + margin)
    }

    /// Visits those texels that do lie within `radius`, by the triangle's chart, and for which
    /// `own` holds.
    #[inline(always)]
    fn texels_of(
        &self,
        chart: &Chart,
        [columns, lines]: [std::ops::Range<usize>; 2],
        [a, b]: [DVec2; 2],
        radius: f64,
        own: impl Fn(usize) -> bool,
        mut found: impl FnMut(usize),
    ) {
        if columns.is_empty() || lines.is_empty() {
            return;
        }
        let length = a.distance(b);
        let heading = if length > 0.0 { (b - a) / length } else { DVec2::X };
        let in_segment_axes = |at: DVec2| DVec2::new(at.dot(heading), at.perp_dot(heading));
        // Position of the first texel along and across the segment, and its increments per column
        // and per row.
        let meters_per_uv = chart.meters_per_uv();
        let mut first =
            in_segment_axes(meters_per_uv * (self.texel_center(columns.start, lines.start) - chart.origin) - a);
        let step = in_segment_axes(meters_per_uv.x_axis / self.width as f64);
        let down = in_segment_axes(meters_per_uv.y_axis / -(self.height as f64));
        for row in lines {
            let mut range = columns.clone();
            let mut at = first;
            first += down;
            if columns.len() > WIDE_ROW {
                // Clip the row to a rectangle around the segment.
                let per_step = step.recip();
                let ends = |low: f64, high: f64| if low < high { (low, high) } else { (high, low) };
                let along = ends((-radius - at.x) * per_step.x, (length + radius - at.x) * per_step.x);
                let across = ends((-radius - at.y) * per_step.y, (radius - at.y) * per_step.y);
                let skipped = along.0.max(across.0).max(0.0).min(columns.len() as f64) as usize;
                let last = along.1.min(across.1).max(-1.0).min(columns.len() as f64);
                range = columns.start + skipped..columns.end.min(columns.start + (last + 1.0) as usize + 1);
                at += step * skipped as f64;
            }
            for texel in row * self.width + range.start..row * self.width + range.end {
                let beyond = at.x - at.x.max(0.0).min(length);
                if beyond * beyond + at.y * at.y <= radius * radius && own(texel) {
                    found(texel);
                }
                at += step;
            }
        }
    }

    /// The map of a frame; `None` for a solid that liquid has not touched.
    fn wet_map(&self, charts: &[Chart]) -> Option<WetMap> {
        let texels = self.texels.get()?;
        let wetness = texels.wet.par_iter().with_min_len(TEXELS_PER_TASK);
        let wetness = wetness.map(|wet| u16::from(wet.load(Ordering::Relaxed)) * u16::MAX).collect();
        let texel_area = 1.0 / (self.width * self.height) as f64;
        let film = texels.film.volumes().par_iter().zip(&texels.owner).with_min_len(TEXELS_PER_TASK);
        let film = film.map(|(&volume, &owner)| {
            let Some(owner) = owner.get().filter(|_| volume != 0.0) else { return 0 };
            let area = texel_area * charts[owner].meters_per_uv().determinant().abs();
            // In units of 10 nm.
            if area > 0.0 { (volume / area * 1e8).round().clamp(0.0, f64::from(u16::MAX)) as u16 } else { 0 }
        });
        let film = if texels.film.is_empty() { vec![0; texels.wet.len()] } else { film.collect() };
        Some(WetMap {
            solid: self.solid.to_usize(),
            width: self.width as u32,
            height: self.height as u32,
            wetness,
            film,
            age: Vec::new(),
        })
    }
}

impl Chart {
    /// Texture coordinates of a point of the triangle.
    #[inline]
    fn at(&self, place: DVec2) -> DVec2 {
        self.origin + self.uv_per_meter * place
    }

    /// Inverse of `uv_per_meter`; zero where the triangle has no area in the map.
    #[inline]
    fn meters_per_uv(&self) -> DMat2 {
        if self.uv_per_meter.determinant().abs() > 1e-12 { self.uv_per_meter.inverse() } else { DMat2::ZERO }
    }

    /// Metric of the map: dp/du·dp/du, dp/du·dp/dv and dp/dv·dp/dv, in m².
    fn metric(&self) -> DVec3 {
        let DMat2 { x_axis: u, y_axis: v } = self.meters_per_uv();
        DVec3::new(u.length_squared(), u.dot(v), v.length_squared())
    }
}

/// The center of one of the samples between two points.
fn sample_point(from: DVec2, to: DVec2, part: u32) -> DVec2 {
    from.lerp(to, (f64::from(part) + 0.5) / f64::from(NUM_SAMPLES))
}

fn chart(uvs: Option<&[DVec2; 3]>, corners: &[DVec2; 3]) -> Chart {
    let [a, b, c] = *uvs.unwrap_or(&[DVec2::ZERO; 3]);
    // Corners are the origin, (L, 0) and (x, y).
    let per_x = (b - a) / corners[1].x;
    let per_y = (c - a - per_x * corners[2].x) / corners[2].y;
    let uv_per_meter = DMat2::from_cols(per_x, per_y);
    let uv_per_meter = if uv_per_meter.is_finite() { uv_per_meter } else { DMat2::ZERO };
    let rows = uv_per_meter.transpose();
    Chart { origin: a, uv_per_meter, extent_per_meter: DVec2::new(rows.x_axis.length(), rows.y_axis.length()) }
}
