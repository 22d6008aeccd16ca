//! Film behind droplets on a mesh, as the shared trails see it.

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sessile_sliding::FilmSubstrate;

use crate::substrate::Substrate;
use crate::surface_mesh::{SurfaceMesh, SurfacePoint};

/// A straight segment of film that ends on one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilmPath {
    /// Where it begins, in the axes of the triangle on which it ends, in m.
    pub from: DVec2,
    /// Where it ends.
    pub to: SurfacePoint,
}

impl FilmPath {
    fn length(&self) -> f64 {
        self.from.distance(self.to.at)
    }
}

/// The film on all solids.
pub struct MeshFilm<'a> {
    /// The mesh.
    pub surface: &'a SurfaceMesh,
    /// Where the film lies.
    pub substrate: &'a mut Substrate,
}

impl FilmSubstrate for MeshFilm<'_> {
    type Segment = FilmPath;
    type Place = SurfacePoint;

    fn take_film(&mut self, segment: &FilmPath, width: f64) -> f64 {
        let FilmPath { from, to } = *segment;
        self.substrate.take_film_along(self.surface, to.triangle, from, to.at, width)
    }

    fn add_film(&mut self, segment: &FilmPath, width: f64, volume: f64) {
        let FilmPath { from, to } = *segment;
        self.substrate.lay_film(self.surface, to.triangle, from, to.at, width, volume);
    }

    /// The center of mass along the trail's arc length: on a curved surface the spatial one lies
    /// beside it.
    fn center_of_mass(&self, film: &[(FilmPath, f64)]) -> SurfacePoint {
        let (mut moment, mut volume, mut end) = (0.0, 0.0, 0.0);
        for (segment, amount) in film {
            let length = segment.length();
            moment += amount * (end + 0.5 * length);
            volume += amount;
            end += length;
        }
        let center = moment / volume;
        let mut end = 0.0;
        let holding = film.iter().find(|(segment, _)| {
            end += segment.length();
            end >= center
        });
        // Rounding may put the center of a single segment behind its end.
        let segment = holding.or(film.last()).expect("a trail has segments").0;
        let back = (segment.from - segment.to.at).normalize_or_zero() * (end - center).max(0.0);
        self.surface.trace_geodesic(segment.to, back, DVec2::ZERO).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface_mesh::TriangleIndex;
    use crate::surface_mesh::tests::{sheet, surface_of};
    use sessile_wetting::Liquid;

    /// A straight trail over many triangles, most of its film in the second half.
    #[test]
    fn the_center_of_mass_lies_on_the_trail_at_the_mean_arc_length() {
        let surface = surface_of(&sheet(1.0, 1.0, 20, 17));
        let mut substrate = Substrate::new(&surface, &[], &Liquid::water(), &crate::parameters::Parameters::default());
        let film = MeshFilm { surface: &surface, substrate: &mut substrate };
        let mut place =
            SurfacePoint { triangle: TriangleIndex::new(0), at: surface.facet(TriangleIndex::new(0)).centroid() };
        let start = place.point(&surface);
        let step = (surface.facet(TriangleIndex::new(0)).project(glam::DVec3::new(0.03, 0.04, 0.0)), 0.05);
        let mut segments = Vec::new();
        let mut carried = step.0;
        for k in 0..10 {
            let (next, turned) = surface.trace_geodesic(place, carried, carried);
            carried = turned;
            segments.push((FilmPath { from: next.at - turned, to: next }, if k < 5 { 1.0 } else { 3.0 }));
            place = next;
        }
        // Σ V s / Σ V of ten segments of 50 mm.
        let mean = (0..10).map(|k| if k < 5 { 1.0 } else { 3.0 } * (f64::from(k) + 0.5)).sum::<f64>() / 20.0 * step.1;
        let center = film.center_of_mass(&segments).point(&surface);
        let expected = start + glam::DVec3::new(0.6, 0.8, 0.0) * mean;
        assert!(center.distance(expected) < 1e-9, "{center}, expected {expected}");
    }
}
