//! Builds the map of a solid: its size, its wetting laws and, at the first contact with liquid, its
//! texels.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

use glam::DVec2;
use sessile_numerics::OptionalIndex;
use sessile_wetting::{Liquid, SlidingLaw, Wetting};
use sessile_world::Solid;

use super::isometry::IsometricTiles;
use super::{Chart, SurfaceMap, Texels};
use crate::film_map::FilmMap;
use crate::parameters::Parameters;
use crate::surface_mesh::{SolidIndex, SurfaceMesh, TriangleIndex};

/// Barycentric coordinate up to which a point lies on an edge.
const ON_EDGE: f64 = 1e-7;
/// Largest number of wetting laws per solid.
const MAX_LAWS: usize = 4096;

impl SurfaceMap {
    /// Dry texels.
    #[cold]
    pub(super) fn dry_texels(&self, surface: &SurfaceMesh, charts: &[Chart]) -> Texels {
        let count = self.width * self.height;
        let (owner, shared) = self.assign_texels(surface, charts);
        let size = (self.width, self.height);
        let triangles = surface.triangles_of(self.solid);
        let isometric = if self.deforms {
            // The metric changes with the vertices.
            IsometricTiles::default()
        } else {
            IsometricTiles::new(size, &owner, &shared, charts, surface, triangles)
        };
        let wet = (0..count).map(|_| AtomicU8::new(0)).collect();
        Texels { owner, wet, isometric, film: FilmMap::new(self.width, self.height) }
    }

    /// Assigns each texel to the triangle that covers its center; also returns the texels covered
    /// by several.
    ///
    /// Depends on texture coordinates alone, not on where the vertices of a deforming solid are.
    fn assign_texels(
        &self,
        surface: &SurfaceMesh,
        charts: &[Chart],
    ) -> (Vec<OptionalIndex<TriangleIndex>>, Vec<usize>) {
        let mut owners: Vec<OptionalIndex<TriangleIndex>> = vec![OptionalIndex::NONE; self.width * self.height];
        let uvs_of = |t: TriangleIndex| surface.facet(t).corners.map(|corner| charts[t].at(corner));
        let covers = |t: TriangleIndex, at: DVec2, least: f64| least_weight(uvs_of(t), at) >= least;
        let mut shared = Vec::new();
        for t in surface.triangles_of(self.solid) {
            let uvs = uvs_of(t);
            let low = uvs[0].min(uvs[1]).min(uvs[2]);
            let high = uvs[0].max(uvs[1]).max(uvs[2]);
            let [columns, rows] = self.texel_box(low, high);
            for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
                let (texel, center) = (row * self.width + column, self.texel_center(column, row));
                match owners[texel].get() {
                    None if covers(t, center, -ON_EDGE) => owners[texel] = OptionalIndex::some(t),
                    Some(owner) if covers(t, center, ON_EDGE) && covers(owner, center, ON_EDGE) => shared.push(texel),
                    _ => {}
                }
            }
            // A triangle smaller than a texel owns the texel at its center unless that has an
            // owner.
            let home = self.texel((uvs[0] + uvs[1] + uvs[2]) / 3.0);
            owners[home].get_or_insert_with(|| t);
        }
        (owners, shared)
    }
}

/// The least barycentric coordinate of a point; −∞ in a triangle without area.
fn least_weight([a, b, c]: [DVec2; 3], at: DVec2) -> f64 {
    let doubled_area = (b - a).perp_dot(c - a);
    let weight = |from: DVec2, to: DVec2| (to - from).perp_dot(at - from) / doubled_area;
    let least = weight(a, b).min(weight(b, c)).min(weight(c, a));
    if least.is_finite() { least } else { f64::NEG_INFINITY }
}

/// Builds the map of one solid.
pub(super) struct MapBuilder<'a> {
    pub(super) solid: SolidIndex,
    pub(super) built: &'a Solid,
    pub(super) liquid: &'a Liquid,
    pub(super) parameters: &'a Parameters,
}

impl MapBuilder<'_> {
    /// Builds the map of a solid of this area (in m²); appends the laws that it uses.
    pub(super) fn build(&self, area: f64, laws: &mut Vec<SlidingLaw>) -> SurfaceMap {
        let Self { solid, built, liquid, parameters } = *self;
        let (least, most) = parameters.map_size;
        let side = (area.sqrt() / parameters.texel).clamp(least, most) as usize;
        let mut map = SurfaceMap {
            solid,
            width: side,
            height: side,
            texels: OnceLock::new(),
            laws: Vec::new(),
            uniform: 0,
            has_wetting_history: built.wetting_at(DVec2::splat(0.5)).wet_advancing.is_some(),
            deforms: built.deforms(),
            texel_size: area.sqrt() / side as f64,
        };
        if built.wets_uniformly() {
            map.uniform = laws.len() as u16;
            laws.push(SlidingLaw::new(liquid, &built.wetting_at(DVec2::splat(0.5))));
        } else {
            map.laws = self.varying_laws(&map, laws);
        }
        map
    }

    /// A law per texel; similar angles share one.
    fn varying_laws(&self, map: &SurfaceMap, laws: &mut Vec<SlidingLaw>) -> Vec<u16> {
        let texels = (0..map.height).flat_map(|row| (0..map.width).map(move |column| (column, row)));
        let wetting_at = |(column, row)| self.built.wetting_at(map.texel_center(column, row));
        let wettings: Vec<Wetting> = texels.map(wetting_at).collect();
        let mut step = self.parameters.angle_step;
        loop {
            let key = |w: &Wetting| {
                [w.advancing, w.receding, w.wet_advancing.unwrap_or(0.0)].map(|angle| (angle / step).round() as i64)
            };
            let mut known: BTreeMap<[i64; 3], u16> = BTreeMap::new();
            let mut added = Vec::new();
            let index_of = |wetting: &Wetting| {
                if let Some(&index) = known.get(&key(wetting)) {
                    return Some(index);
                }
                let index = u16::try_from(laws.len() + added.len()).ok().filter(|_| added.len() < MAX_LAWS)?;
                known.insert(key(wetting), index);
                added.push(SlidingLaw::new(self.liquid, wetting));
                Some(index)
            };
            let indices: Option<Vec<u16>> = wettings.iter().map(index_of).collect();
            if let Some(indices) = indices {
                laws.append(&mut added);
                return indices;
            }
            // Too many laws: coarser angles.
            step *= 2.0;
        }
    }
}
