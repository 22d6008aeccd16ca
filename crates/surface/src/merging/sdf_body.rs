//! A drop as a signed distance field, extended into the solids that it touches.
//!
//! Distances come from the nearest triangle. The sign does not: near a self-intersection the
//! nearest triangle may face any direction, and a surface rebuilt from it would be full of pockets.
//! The winding number is correct there too ([`sessile_geometry::winding`]).

use glam::{DMat3, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::bvh::Bounds;
use sessile_geometry::isosurface::Grid;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::winding::winding_numbers;

use super::mesh_boolean::TaggedSurface;
use crate::mesh::index::{VertexIndex, plain_triangles};
use crate::mesh::{Interface, Mesh, VertexKind};
use crate::substrate::{ContactSample, Substrate};

/// The distance field of a drop, with its velocities.
pub struct SdfBody {
    distance: MeshDistance,
    velocities: Vec<DVec3>,
}

/// The nodes of a grid that lie inside a body.
pub struct InteriorMask {
    low: [usize; 3],
    size: [usize; 3],
    nodes: Vec<bool>,
}

impl InteriorMask {
    /// Whether a node lies inside.
    pub fn contains(&self, node: [usize; 3]) -> bool {
        let mut index = 0;
        for k in [2, 1, 0] {
            let Some(at) = node[k].checked_sub(self.low[k]).filter(|at| *at < self.size[k]) else { return false };
            index = index * self.size[k] + at;
        }
        self.nodes[index]
    }
}

/// Extends a drop's surface into its solids by `depth` meters.
///
/// Walls run down from the contact line to the lowered wetted face. Triangles below the line are
/// tagged with their solid.
pub fn extend_into_solids(mesh: &Mesh, substrate: &Substrate, depth: f64) -> TaggedSurface {
    let kinds: Vec<VertexKind> = mesh.vertex_indices().map(|v| mesh.kind(v)).collect();
    let mut lowered: Vec<VertexIndex> = mesh.vertex_indices().collect();
    let mut out = TaggedSurface {
        positions: mesh.positions.clone(),
        velocities: mesh.velocities.clone(),
        ..TaggedSurface::default()
    };
    for v in mesh.vertex_indices() {
        if kinds[v] == VertexKind::Free {
            continue;
        }
        let interface = mesh.interface_at(v);
        let sample = substrate.sample(interface, mesh.positions[v]);
        let lower = mesh.positions[v] - sample.normal * depth_within(substrate, interface, &sample, depth);
        if kinds[v] == VertexKind::Wetted {
            out.positions[v] = lower;
        } else {
            lowered[v] = VertexIndex::new(out.positions.len());
            out.positions.push(lower);
            out.velocities.push(mesh.velocities[v]);
        }
    }
    for t in mesh.triangle_indices() {
        let (corners, interface) = (mesh.triangles[t], mesh.interfaces[t]);
        out.push(if interface == Interface::Air { corners } else { corners.map(|v| lowered[v]) }, interface);
        for h in t.half_edges() {
            let below = mesh.interface_of(mesh.twin(h));
            if interface == Interface::Air && below != Interface::Air {
                let (a, b) = (mesh.from(h), mesh.to(h));
                let (a_low, b_low) = (lowered[a], lowered[b]);
                out.push([b, a, a_low], below);
                out.push([b, a_low, b_low], below);
            }
        }
    }
    out
}

impl SdfBody {
    /// The distance field of a drop, extended into its solids by `depth` meters.
    pub fn new(mesh: &Mesh, substrate: &Substrate, depth: f64) -> Self {
        let TaggedSurface { positions, velocities, triangles, .. } = extend_into_solids(mesh, substrate, depth);
        let triangles = plain_triangles(&triangles);
        Self { distance: MeshDistance::new(TriMesh { positions, triangles, ..TriMesh::default() }), velocities }
    }

    /// Unsigned distance of a point from the surface, in m.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.distance.nearest(point).map_or(f64::INFINITY, |near| near.distance.abs())
    }

    /// Lower bound of that distance, in m: the distance from the bounding box.
    pub fn min_distance(&self, point: DVec3) -> f64 {
        let bounds = self.distance.bounds();
        point.distance(point.clamp(bounds.low, bounds.high))
    }

    /// The nodes of a grid with positive winding number; `axes` and `origin` are the grid's frame.
    pub fn inside(&self, grid: &Grid, axes: DMat3, origin: DVec3) -> InteriorMask {
        let mesh = self.distance.mesh();
        let local: Vec<DVec3> = mesh.positions.iter().map(|p| axes.transpose() * (*p - origin)).collect();
        // Only nodes in the bounding box.
        let bounds = Bounds::of(local.iter().copied());
        let mut low = [0; 3];
        let mut size = [2; 3];
        for k in 0..3 {
            let node = |x: f64| ((x - grid.origin[k]) / grid.cell[k]).floor().max(0.0) as usize;
            low[k] = node(bounds.low[k]).min(grid.size[k] - 1);
            size[k] = (node(bounds.high[k]) + 2).min(grid.size[k]).saturating_sub(low[k]).max(1);
        }
        let part = Grid { origin: grid.position(low), cell: grid.cell, size };
        let windings = winding_numbers(&part, &local, &mesh.triangles);
        InteriorMask { low, size, nodes: windings.into_iter().map(|winding| winding > 0).collect() }
    }

    /// Distance of the nearest surface point, in m, and its velocity, in m/s.
    pub fn velocity(&self, point: DVec3) -> Option<(f64, DVec3)> {
        let near = self.distance.nearest(point)?;
        let corners = self.distance.mesh().triangles[near.triangle];
        let weights = near.barycentrics.to_array();
        let velocity = corners.iter().zip(weights).map(|(&v, w)| self.velocities[v as usize] * w).sum();
        Some((near.distance.abs(), velocity))
    }
}

/// Depth to extend below a contact sample, up to `depth` meters: well inside a solid thinner than
/// that.
fn depth_within(substrate: &Substrate, interface: Interface, sample: &ContactSample, depth: f64) -> f64 {
    let Some(solid) = interface.solid_index().map(|s| &substrate.solids()[s]) else { return depth };
    let leaves = |down: f64| solid.signed_distance(sample.point - sample.normal * down) > 1e-3 * depth;
    if !leaves(depth) {
        return depth;
    }
    let mut down = 0.5 * depth;
    while leaves(down) && down > 0.02 * depth {
        down *= 0.5;
    }
    0.5 * down
}
