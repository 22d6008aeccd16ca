//! Signed distance to a closed triangle mesh.
//!
//! The nearest triangle comes from a bounding volume hierarchy ([`Bvh`]), the sign from the angle-weighted pseudonormal
//! of the face, edge or vertex that the nearest point lies on (baerentzen2005): no rays to cast, no tolerance, and right
//! wherever the mesh is closed and does not cross itself. On an open mesh the sign tells the side of the nearest sheet.
//!
//! Triangles too thin to have a normal (see `mesh_distance/normals.rs`) are passed over: every point of one lies on an
//! edge of a better one, to within rounding.

mod normals;
mod packet;
mod triangle;

use glam::{DVec2, DVec3};

use self::normals::{Pseudonormals, face_normal};
use self::packet::{Packet, Probe};
use self::triangle::{Feature, Nearest, Ray, Triangle};
use crate::bvh::{Bounds, Bvh, LEAF};
use crate::{Closest, Distance, TriMesh};

/// A closed mesh that answers distances.
#[derive(Clone, Debug)]
pub struct MeshDistance {
    mesh: TriMesh,
    normals: Pseudonormals,
    bvh: Bvh,
    /// For each leaf of the hierarchy, its triangles, their indices in the mesh, and a quick bound on their distances.
    triangles: Vec<[Triangle; LEAF]>,
    indices: Vec<[u32; LEAF]>,
    packets: Vec<Packet>,
}

/// A point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPoint {
    /// The triangle it lies on.
    pub triangle: usize,
    /// Weights of the triangle's corners; they sum to 1.
    pub barycentrics: DVec3,
    /// Where it is, in m.
    pub point: DVec3,
    /// Unit pseudonormal there, outwards: of the face, or on an edge or a vertex the mean over the faces that meet.
    pub normal: DVec3,
    /// Signed distance from the point asked about, in m: negative inside.
    pub distance: f64,
}

/// Where a ray meets a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The ray parameter: the hit lies at `origin + t · direction`.
    pub t: f64,
    /// The triangle that was hit.
    pub triangle: usize,
    /// Weights of the triangle's corners; they sum to 1.
    pub barycentrics: DVec3,
    /// Unit normal of the triangle, outwards.
    pub normal: DVec3,
}

/// The nearest triangle, by its leaf in the hierarchy and its place there.
struct Found {
    leaf: usize,
    place: usize,
    nearest: Nearest,
}

impl MeshDistance {
    /// Prepares a mesh for queries. It should be closed and wind outwards; see the module's notes on what else is answered.
    ///
    /// # Panics
    /// If a triangle names a vertex that is not there.
    pub fn new(mesh: TriMesh) -> Self {
        let normals = Pseudonormals::new(&mesh);
        let solid: Vec<u32> =
            (0..mesh.triangles.len()).filter(|&t| face_normal(mesh.corners(t)).is_some()).map(|t| t as u32).collect();
        let boxes: Vec<Bounds> = solid.iter().map(|&t| Bounds::of(mesh.corners(t as usize))).collect();
        let bvh = Bvh::new(&boxes);
        let indices: Vec<_> = bvh.leaves().iter().map(|leaf| leaf.map(|i| solid[i as usize])).collect();
        let triangles = indices.iter().map(|leaf| leaf.map(|t| Triangle::new(mesh.corners(t as usize)))).collect();
        let packets = indices.iter().map(|leaf| Packet::new(&mesh, leaf, bvh.center())).collect();
        Self { mesh, normals, bvh, triangles, indices, packets }
    }

    /// The mesh itself.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The box round the mesh, in m.
    pub fn bounds(&self) -> Bounds {
        self.bvh.bounds()
    }

    /// The nearest point of the mesh; none if the mesh is empty.
    pub fn nearest(&self, point: DVec3) -> Option<MeshPoint> {
        self.nearest_within(point, f64::INFINITY)
    }

    /// The nearest point of the mesh, if it is nearer than `max_distance` (in m). The smaller that is, the faster the answer.
    pub fn nearest_within(&self, point: DVec3, max_distance: f64) -> Option<MeshPoint> {
        let found = self.find(point, max_distance)?;
        let (normal, distance) = self.sign(&found, point);
        let triangle = self.indices[found.leaf][found.place] as usize;
        let Nearest { v, w, .. } = found.nearest;
        let barycentrics = DVec3::new(1.0 - v - w, v, w);
        let [a, b, c] = self.mesh.corners(triangle);
        let point = a * barycentrics.x + b * barycentrics.y + c * barycentrics.z;
        Some(MeshPoint { triangle, barycentrics, point, normal, distance })
    }

    /// Signed distance in m, if the surface is nearer than `max_distance`. The smaller that is, the faster the answer.
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

    /// The first triangle that a ray meets, from either side, for a ray parameter from 0 to `t_max`.
    ///
    /// `direction` need not be of unit length, but must not be zero. Rays do not slip through between triangles.
    pub fn ray_cast(&self, origin: DVec3, direction: DVec3, t_max: f64) -> Option<RayHit> {
        let ray = Ray::new(origin, direction);
        let mut hit = None;
        self.bvh.along_ray(origin, direction, t_max, |leaf, mut best| {
            for triangle in self.indices[leaf].map(|t| t as usize) {
                let Some(crossing) = ray.cross(self.mesh.corners(triangle)) else { continue };
                if crossing.t < best || (hit.is_none() && crossing.t <= best) {
                    let normal = self.normals.faces[triangle];
                    hit = Some(RayHit { t: crossing.t, triangle, barycentrics: crossing.barycentrics, normal });
                    best = crossing.t;
                }
            }
            best
        });
        hit
    }

    fn find(&self, point: DVec3, max_distance: f64) -> Option<Found> {
        let mut search = Search::new(self, point, max_distance);
        self.bvh.nearest(point, search.best, |leaf, _| search.visit(leaf));
        search.settle();
        search.found
    }

    /// The pseudonormal where the nearest point lies, and the signed distance to it.
    fn sign(&self, found: &Found, point: DVec3) -> (DVec3, f64) {
        let triangle = self.indices[found.leaf][found.place] as usize;
        let normal = match found.nearest.feature {
            Feature::Face => self.normals.faces[triangle],
            Feature::Edge(edge) => self.normals.edges[triangle][edge],
            Feature::Corner(corner) => self.normals.vertices[self.mesh.triangles[triangle][corner] as usize],
        };
        let offset = self.triangles[found.leaf][found.place].offset(point, found.nearest.v, found.nearest.w);
        let distance = offset.length();
        (normal, if normal.dot(offset) < 0.0 { -distance } else { distance })
    }
}

/// A search for the nearest triangle: single precision goes ahead and leaves few for double precision to settle.
struct Search<'a> {
    solid: &'a MeshDistance,
    point: DVec3,
    probe: Probe,
    /// Squared distance to beat: none of the triangles that it rules out is the nearest one.
    best: f64,
    /// Squared distances in single precision up to this may be less than `best`.
    reach: f32,
    /// Leaves that may hold the nearest triangle, and the squared distance of each in single precision.
    pending: [(f32, u32); PENDING],
    num_pending: usize,
    found: Option<Found>,
    /// Squared distance to what was found, or that it must beat.
    settled: f64,
}

/// Leaves that may wait for double precision. Each is nearer than the one before, so there are few.
const PENDING: usize = 16;

impl<'a> Search<'a> {
    fn new(solid: &'a MeshDistance, point: DVec3, max_distance: f64) -> Self {
        let probe = Probe::new(point, &solid.bvh);
        let best = max_distance * max_distance;
        let mut search = Self {
            solid,
            point,
            probe,
            best,
            reach: 0.0,
            pending: [(0.0, 0); PENDING],
            num_pending: 0,
            found: None,
            settled: best,
        };
        search.lower_best(best);
        search
    }

    fn lower_best(&mut self, best: f64) {
        self.best = best;
        self.reach = ((best.sqrt() + self.probe.error).powi(2) as f32).next_up();
    }

    /// Looks at the triangles of a leaf, and returns the squared distance to beat.
    #[inline(always)]
    fn visit(&mut self, leaf: usize) -> f64 {
        let least = self.solid.packets[leaf].squared_distances(&self.probe).min_element();
        // What is not a number (a point too far for single precision) goes on to be settled.
        if least > self.reach {
            return self.best;
        }
        if self.num_pending == PENDING {
            self.settle();
        }
        self.pending[self.num_pending] = (least, leaf as u32);
        self.num_pending += 1;
        let at_most = (f64::from(least).sqrt() + self.probe.error).powi(2);
        if at_most < self.best {
            self.lower_best(at_most);
        }
        self.best
    }

    /// Measures the triangles that wait, in double precision.
    fn settle(&mut self) {
        // The last is the nearest so far, and likely to rule out the others.
        while self.num_pending > 0 {
            self.num_pending -= 1;
            let (least, leaf) = self.pending[self.num_pending];
            if least > self.reach {
                continue;
            }
            let leaf = leaf as usize;
            let squared_distances = self.solid.packets[leaf].squared_distances(&self.probe);
            for place in 0..LEAF {
                if squared_distances[place] > self.reach {
                    continue;
                }
                let triangle = &self.solid.triangles[leaf][place];
                let nearest = triangle.nearest(self.point);
                let squared = triangle.offset(self.point, nearest.v, nearest.w).length_squared();
                if squared < self.settled {
                    self.found = Some(Found { leaf, place, nearest });
                    self.settled = squared;
                    if squared < self.best {
                        self.lower_best(squared);
                    }
                }
            }
        }
    }
}

/// An empty mesh is infinitely far from everywhere; its nearest point is the point asked about, and its normal is up.
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
