//! The surface of one drop, extracted from that of a frame.

use std::collections::BTreeMap;

use glam::DVec3;
use sessile_numerics::OptionalIndex;

use crate::frame::Surface;

/// Triangles of one drop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DropSurface {
    /// Vertex positions, in m; each is used by a triangle.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Index of the solid that each triangle lies on; −1 for liquid–air.
    pub solids: Vec<i32>,
}

impl DropSurface {
    /// Corner positions of triangle `t`, in m.
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Normal of triangle `t` with the length of twice its area, in m².
    pub fn doubled_area(&self, t: usize) -> DVec3 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a)
    }

    /// Smallest and largest coordinates, in m.
    pub fn bounds(&self) -> [DVec3; 2] {
        let infinite = DVec3::splat(f64::INFINITY);
        self.positions.iter().fold([infinite, -infinite], |[low, high], &p| [low.min(p), high.max(p)])
    }

    /// Centroid of the enclosed volume, in m.
    ///
    /// ```text
    /// V = Σ a·(b × c)/6        C = Σ a·(b × c)/6 · (a + b + c)/4 / V
    /// ```
    ///
    /// over the tetrahedra of the triangles and the center of the bounding box, so that a small
    /// hole in the surface has little effect. A surface without enclosed volume has the centroid of
    /// its area.
    pub fn centroid(&self) -> DVec3 {
        let [low, high] = self.bounds();
        let middle = 0.5 * (low + high);
        let (mut volume, mut moment, mut area, mut area_moment) = (0.0, DVec3::ZERO, 0.0, DVec3::ZERO);
        for t in 0..self.triangles.len() {
            let [a, b, c] = self.corners(t).map(|corner| corner - middle);
            let (tetrahedron, face) = (a.dot(b.cross(c)) / 6.0, (b - a).cross(c - a).length());
            volume += tetrahedron;
            moment += 0.25 * tetrahedron * (a + b + c);
            area += face;
            area_moment += face * (a + b + c) / 3.0;
        }
        // Below this fraction of the bounding box the volume is rounding error.
        let least = 1e-9 * (high - low).element_product();
        if volume > least {
            middle + moment / volume
        } else if area > 0.0 {
            middle + area_moment / area
        } else {
            middle
        }
    }
}

impl From<Surface> for DropSurface {
    /// Treats the whole surface as one drop.
    fn from(surface: Surface) -> Self {
        Self { positions: surface.positions, triangles: surface.triangles, solids: surface.solids }
    }
}

/// Triangles of a frame's surface by drop: a triangle belongs to the drop of its first corner.
pub struct DropIndex<'a> {
    surface: &'a Surface,
    /// Triangles, drop by drop.
    triangles: Vec<u32>,
    /// Start of each drop's triangles; one more entry than drops.
    starts: Vec<u32>,
}

impl<'a> DropIndex<'a> {
    /// Sorts the triangles of a valid surface by drop; `ids` are increasing. The error is an id
    /// that is not in `ids`.
    pub fn new(surface: &'a Surface, ids: &[u32]) -> Result<Self, u32> {
        let mut slots = Vec::with_capacity(surface.triangles.len());
        let mut last = 0;
        for triangle in &surface.triangles {
            let id = surface.drops[triangle[0] as usize];
            // Triangles of one drop are mostly adjacent.
            if ids.get(last) != Some(&id) {
                last = ids.binary_search(&id).map_err(|_| id)?;
            }
            slots.push(last as u32);
        }
        let mut starts = vec![0; ids.len() + 1];
        for &slot in &slots {
            starts[slot as usize + 1] += 1;
        }
        for k in 0..ids.len() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut triangles = vec![0; slots.len()];
        for (t, &slot) in slots.iter().enumerate() {
            triangles[next[slot as usize] as usize] = t as u32;
            next[slot as usize] += 1;
        }
        Ok(Self { surface, triangles, starts })
    }

    /// The surface of the drop with the `k`-th id.
    pub fn drop_surface(&self, k: usize) -> DropSurface {
        let own = &self.triangles[self.starts[k] as usize..self.starts[k + 1] as usize];
        let corners = || own.iter().flat_map(|&t| self.surface.triangles[t as usize]);
        let (low, high) = corners().fold((u32::MAX, 0), |(low, high), v| (low.min(v), high.max(v)));
        let mut drop = DropSurface {
            positions: Vec::new(),
            triangles: Vec::with_capacity(own.len()),
            solids: own.iter().map(|&t| self.surface.solids[t as usize]).collect(),
        };
        // Vertices of a drop are mostly adjacent; a table over their range is then faster than a
        // map.
        let span = (high.max(low) - low) as usize + 1;
        let mut indices = if span <= 12 * own.len() + 64 {
            VertexIndices::Table { low, indices: vec![OptionalIndex::NONE; span] }
        } else {
            VertexIndices::Map(BTreeMap::new())
        };
        for &t in own {
            let triangle = self.surface.triangles[t as usize].map(|vertex| {
                indices.of(vertex).get_or_insert_with(|| {
                    drop.positions.push(self.surface.positions[vertex as usize]);
                    drop.positions.len() as u32 - 1
                })
            });
            drop.triangles.push(triangle);
        }
        drop
    }
}

/// New indices of the frame's vertices; none for vertices not seen yet.
enum VertexIndices {
    Table { low: u32, indices: Vec<OptionalIndex> },
    Map(BTreeMap<u32, OptionalIndex>),
}

impl VertexIndices {
    fn of(&mut self, vertex: u32) -> &mut OptionalIndex {
        match self {
            Self::Table { low, indices } => &mut indices[(vertex - *low) as usize],
            Self::Map(indices) => indices.entry(vertex).or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron with corners at the origin and on the axes, moved by `shift`.
    fn tetrahedron(surface: &mut Surface, drop: u32, shift: DVec3) {
        let base = surface.positions.len() as u32;
        for corner in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
            surface.positions.push(corner + shift);
            surface.velocities.push(DVec3::ZERO);
            surface.drops.push(drop);
        }
        for triangle in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
            surface.triangles.push(triangle.map(|v: u32| v + base));
            surface.solids.push(drop as i32);
        }
    }

    #[test]
    fn drops_are_separated_in_any_order_of_triangles_and_vertices() {
        let mut surface = Surface::default();
        for drop in [9, 2, 5] {
            tetrahedron(&mut surface, drop, DVec3::splat(f64::from(drop)));
        }
        surface.triangles.swap(0, 11);
        surface.solids.swap(0, 11);
        surface.triangles.swap(3, 6);
        surface.solids.swap(3, 6);
        let index = DropIndex::new(&surface, &[2, 5, 9]).unwrap();
        for (k, id) in [2, 5, 9].into_iter().enumerate() {
            let drop = index.drop_surface(k);
            assert_eq!((drop.positions.len(), drop.triangles.len()), (4, 4));
            assert_eq!(drop.solids, [id; 4]);
            let expected = DVec3::splat(f64::from(id) + 0.25);
            assert!((drop.centroid() - expected).length() < 1e-14, "{} for {expected}", drop.centroid());
        }
        assert_eq!(DropIndex::new(&surface, &[2, 9]).err(), Some(5));
    }

    #[test]
    fn the_surface_does_not_depend_on_the_spread_of_its_vertex_indices() {
        let mut near = Surface::default();
        tetrahedron(&mut near, 1, DVec3::ZERO);
        let mut far = near.clone();
        far.positions.resize(1000, DVec3::ZERO);
        far.positions.push(near.positions[3]);
        far.drops.resize(1001, 1);
        for v in far.triangles.iter_mut().flatten().filter(|v| **v == 3) {
            *v = 1000;
        }
        let take = |surface| DropIndex::new(surface, &[1]).unwrap().drop_surface(0);
        assert_eq!(take(&near), take(&far));
    }

    #[test]
    fn a_flat_surface_has_the_centroid_of_its_area() {
        let mut surface = Surface::default();
        tetrahedron(&mut surface, 1, DVec3::ZERO);
        for position in &mut surface.positions {
            position.z = 0.0;
        }
        let centroid = DropSurface::from(surface).centroid();
        assert!((centroid - DVec3::new(1.0 / 3.0, 1.0 / 3.0, 0.0)).length() < 1e-14, "{centroid}");
    }
}
