//! Signed distance to a closed triangle mesh.
//!
//! The nearest triangle is found with a bounding volume hierarchy ([`Bvh`]), the sign with the
//! angle-weighted pseudonormal of the face, edge or vertex that contains the nearest point
//! (baerentzen2005). This needs no rays and no tolerance, and is correct wherever the mesh is
//! closed and does not intersect itself. For an open mesh the sign is the side of the nearest
//! sheet.
//!
//! Triangles too thin to have a normal (see `mesh_distance/normals.rs`) are skipped: each of their
//! points lies on an edge of another triangle, to within rounding.

mod normals;
mod packet;
mod triangle;

use glam::{DVec2, DVec3};

use self::normals::{Pseudonormals, face_normal};
use self::packet::{Packet, Probe};
use self::triangle::{Feature, Nearest, Triangle};
use crate::bvh::{Bounds, Bvh, LEAF};
use crate::connectivity::{EdgeUse, edge_uses};
use crate::{Closest, Distance, TriMesh};

/// A closed mesh prepared for distance queries.
#[derive(Clone, Debug)]
pub struct MeshDistance {
    mesh: TriMesh,
    normals: Pseudonormals,
    bvh: Bvh,
    /// The triangles of each leaf, their indices in the mesh, and a fast bound on their distances.
    triangles: Vec<[Triangle; LEAF]>,
    indices: Vec<[u32; LEAF]>,
    packets: Vec<Packet>,
    /// The edges, of a mesh that has been moved.
    edges: Vec<EdgeUse>,
    /// Boxes of the leaves, reused by every move.
    leaf_boxes: Vec<Bounds>,
}

/// A point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPoint {
    /// Its triangle.
    pub triangle: usize,
    /// Weights of the triangle's corners; they sum to 1.
    pub barycentrics: DVec3,
    /// Its position, in m.
    pub point: DVec3,
    /// Unit pseudonormal, outwards: the normal of the face, or the mean of the faces at an edge or
    /// vertex.
    pub normal: DVec3,
    /// Signed distance from the query point, in m: negative inside.
    pub distance: f64,
}

/// The nearest triangle, by its leaf and its index in the leaf.
struct Found {
    leaf: usize,
    index: usize,
    nearest: Nearest,
}

impl MeshDistance {
    /// Prepares a mesh for queries. It should be closed with normals outwards; the module
    /// documentation describes other cases.
    ///
    /// # Panics
    /// If a vertex index is out of range.
    pub fn new(mesh: TriMesh) -> Self {
        let normals = Pseudonormals::new(&mesh);
        let solid: Vec<u32> =
            (0..mesh.triangles.len()).filter(|&t| face_normal(mesh.corners(t)).is_some()).map(|t| t as u32).collect();
        let boxes: Vec<Bounds> = solid.iter().map(|&t| Bounds::of(mesh.corners(t as usize))).collect();
        let bvh = Bvh::new(&boxes);
        let indices: Vec<_> = bvh.leaves().iter().map(|leaf| leaf.map(|i| solid[i as usize])).collect();
        let triangles = indices.iter().map(|leaf| leaf.map(|t| Triangle::new(mesh.corners(t as usize)))).collect();
        let packets = indices.iter().map(|leaf| Packet::new(&mesh, leaf, bvh.center())).collect();
        Self { mesh, normals, bvh, triangles, indices, packets, edges: Vec::new(), leaf_boxes: Vec::new() }
    }

    /// Moves the vertices: the hierarchy is refitted rather than built anew.
    ///
    /// A triangle that was too thin to have a normal at first stays skipped.
    ///
    /// After the first move of a mesh, moves do not allocate.
    ///
    /// # Panics
    /// If the number of positions is not that of the mesh.
    pub fn refit(&mut self, positions: &[DVec3]) {
        self.refit_with(|own| own.copy_from_slice(positions));
    }

    /// Moves the vertices as `place` does, which is given the present ones; see
    /// [`MeshDistance::refit`].
    pub fn refit_with(&mut self, place: impl FnOnce(&mut [DVec3])) {
        place(&mut self.mesh.positions);
        if self.edges.is_empty() {
            self.edges = edge_uses(&self.mesh.triangles);
        }
        self.normals.update(&self.mesh, &self.edges);
        let mesh = &self.mesh;
        let leaf_box = |leaf: &[u32; LEAF]| Bounds::of(leaf.iter().flat_map(|&t| mesh.corners(t as usize)));
        self.leaf_boxes.clear();
        self.leaf_boxes.extend(self.indices.iter().map(leaf_box));
        self.bvh.refit(&self.leaf_boxes);
        for ((leaf, triangles), packet) in self.indices.iter().zip(&mut self.triangles).zip(&mut self.packets) {
            *triangles = leaf.map(|t| Triangle::new(mesh.corners(t as usize)));
            *packet = Packet::new(mesh, leaf, self.bvh.center());
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Bounding box of the mesh, in m.
    pub fn bounds(&self) -> Bounds {
        self.bvh.bounds()
    }

    /// The nearest point of the mesh; none if the mesh is empty.
    pub fn nearest(&self, point: DVec3) -> Option<MeshPoint> {
        self.nearest_within(point, f64::INFINITY)
    }

    /// The nearest point of the mesh, if it is nearer than `max_distance` (in m). A smaller limit
    /// makes it faster.
    pub fn nearest_within(&self, point: DVec3, max_distance: f64) -> Option<MeshPoint> {
        let found = self.find(point, max_distance)?;
        let (normal, distance) = self.sign(&found, point);
        let triangle = self.indices[found.leaf][found.index] as usize;
        let Nearest { v, w, .. } = found.nearest;
        let barycentrics = DVec3::new(1.0 - v - w, v, w);
        let [a, b, c] = self.mesh.corners(triangle);
        let point = a * barycentrics.x + b * barycentrics.y + c * barycentrics.z;
        Some(MeshPoint { triangle, barycentrics, point, normal, distance })
    }

    /// Signed distance in m, if the surface is nearer than `max_distance`. A smaller limit makes it
    /// faster.
    pub fn signed_distance_bounded(&self, point: DVec3, max_distance: f64) -> Option<f64> {
        self.find(point, max_distance).map(|found| self.sign(&found, point).1)
    }

    /// Texture coordinates at a point of a triangle; zero if the mesh has none.
    pub fn uv(&self, triangle: usize, barycentrics: DVec3) -> DVec2 {
        self.mesh
            .corner_uvs
            .get(triangle)
            .map_or(DVec2::ZERO, |[a, b, c]| *a * barycentrics.x + *b * barycentrics.y + *c * barycentrics.z)
    }

    fn find(&self, point: DVec3, max_distance: f64) -> Option<Found> {
        let mut search = Search::new(self, point, max_distance);
        self.bvh.nearest(point, search.best, |leaf, _| search.visit(leaf));
        search.measure_pending();
        search.found
    }

    /// The pseudonormal at the nearest point, and the signed distance to it.
    fn sign(&self, found: &Found, point: DVec3) -> (DVec3, f64) {
        let triangle = self.indices[found.leaf][found.index] as usize;
        let normal = match found.nearest.feature {
            Feature::Face => self.normals.faces[triangle],
            Feature::Edge(edge) => self.normals.edges[triangle][edge],
            Feature::Corner(corner) => self.normals.vertices[self.mesh.triangles[triangle][corner] as usize],
        };
        let offset = self.triangles[found.leaf][found.index].offset(point, found.nearest.v, found.nearest.w);
        let distance = offset.length();
        (normal, if normal.dot(offset) < 0.0 { -distance } else { distance })
    }
}

/// A search for the nearest triangle: single precision leaves few candidates to measure in double
/// precision.
struct Search<'a> {
    solid: &'a MeshDistance,
    point: DVec3,
    probe: Probe,
    /// Upper bound of the least squared distance.
    best: f64,
    /// Squared distances in single precision up to this may be less than `best`.
    single_precision_best: f32,
    /// Leaves that may contain the nearest triangle, with their squared distances in single
    /// precision.
    pending: [(f32, u32); MAX_PENDING],
    num_pending: usize,
    found: Option<Found>,
    /// Squared distance to the triangle found so far, or the limit.
    found_squared: f64,
}

/// Most pending leaves. Each is nearer than the one before, so there are few.
const MAX_PENDING: usize = 16;

impl<'a> Search<'a> {
    fn new(solid: &'a MeshDistance, point: DVec3, max_distance: f64) -> Self {
        let probe = Probe::new(point, &solid.bvh);
        let best = max_distance * max_distance;
        let mut search = Self {
            solid,
            point,
            probe,
            best,
            single_precision_best: 0.0,
            pending: [(0.0, 0); MAX_PENDING],
            num_pending: 0,
            found: None,
            found_squared: best,
        };
        search.lower_best(best);
        search
    }

    fn lower_best(&mut self, best: f64) {
        self.best = best;
        self.single_precision_best = ((best.sqrt() + self.probe.error).powi(2) as f32).next_up();
    }

    /// Tests the triangles of a leaf in single precision; returns the upper bound of the least
    /// squared distance.
    #[inline(always)]
    fn visit(&mut self, leaf: usize) -> f64 {
        let least = self.solid.packets[leaf].squared_distances(&self.probe).min_element();
        // NaN (a point too far for single precision) is measured in double precision.
        if least > self.single_precision_best {
            return self.best;
        }
        if self.num_pending == MAX_PENDING {
            self.measure_pending();
        }
        self.pending[self.num_pending] = (least, leaf as u32);
        self.num_pending += 1;
        let upper_bound = (f64::from(least).sqrt() + self.probe.error).powi(2);
        if upper_bound < self.best {
            self.lower_best(upper_bound);
        }
        self.best
    }

    /// Measures the triangles of pending leaves in double precision.
    fn measure_pending(&mut self) {
        // The last is the nearest so far, and likely to exclude the others.
        while self.num_pending > 0 {
            self.num_pending -= 1;
            let (least, leaf) = self.pending[self.num_pending];
            if least > self.single_precision_best {
                continue;
            }
            let leaf = leaf as usize;
            let squared_distances = self.solid.packets[leaf].squared_distances(&self.probe);
            for index in 0..LEAF {
                if squared_distances[index] > self.single_precision_best {
                    continue;
                }
                let triangle = &self.solid.triangles[leaf][index];
                let nearest = triangle.nearest(self.point);
                let squared = triangle.offset(self.point, nearest.v, nearest.w).length_squared();
                if squared < self.found_squared {
                    self.found = Some(Found { leaf, index, nearest });
                    self.found_squared = squared;
                    if squared < self.best {
                        self.lower_best(squared);
                    }
                }
            }
        }
    }
}

/// An empty mesh is infinitely far away; its closest point is the query point, and its normal
/// points up.
impl Distance for MeshDistance {
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.signed_distance_bounded(point, f64::INFINITY).unwrap_or(f64::INFINITY)
    }

    fn closest(&self, point: DVec3) -> Closest {
        self.nearest(point).map_or(
            Closest { point, normal: DVec3::Y, distance: f64::INFINITY, uv: DVec2::ZERO },
            |MeshPoint { triangle, barycentrics, point, normal, distance }| Closest {
                point,
                normal,
                distance,
                uv: self.uv(triangle, barycentrics),
            },
        )
    }
}

#[cfg(test)]
mod tests;
