//! A drop's surface, carried on into the solids that it stands on, for whoever makes a new one of it.
//!
//! Distances come from the nearest triangle. Whether a point is inside does not: near a place where the surface crosses itself the nearest triangle faces any way,
//! and a new surface made by it would be full of pockets. The winding number is right there as well ([`sessile_geometry::winding`]).

use glam::{DMat3, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::bvh::Bounds;
use sessile_geometry::isosurface::Grid;
use sessile_geometry::mesh_distance::MeshDistance;
use sessile_geometry::winding::winding_numbers;

use crate::ground::{Footing, Ground, footing};
use crate::mesh::{AIR, Kind, Mesh};
use crate::seam::Skin;

/// A liquid body.
pub struct Body {
    distance: MeshDistance,
    velocities: Vec<DVec3>,
}

/// Which nodes of a grid lie inside a body.
pub struct Inside {
    low: [usize; 3],
    size: [usize; 3],
    nodes: Vec<bool>,
}

impl Inside {
    /// Whether a node does.
    pub fn holds(&self, node: [usize; 3]) -> bool {
        let mut index = 0;
        for k in [2, 1, 0] {
            let Some(at) = node[k].checked_sub(self.low[k]).filter(|at| *at < self.size[k]) else { return false };
            index = index * self.size[k] + at;
        }
        self.nodes[index]
    }
}

/// A drop's surface, carried on into its solids by `depth` meters: walls go down from the contact line to what was the wetted face. What is below the line is tagged
/// with the solid that it is in.
pub fn carried_on(mesh: &Mesh, world: &Ground, depth: f64) -> Skin {
    let n = mesh.positions.len();
    let kinds: Vec<Kind> = (0..n as u32).map(|v| mesh.kind(v)).collect();
    let mut sunk: Vec<u32> = (0..n as u32).collect();
    let mut out = Skin { positions: mesh.positions.clone(), velocities: mesh.velocities.clone(), ..Skin::default() };
    for v in 0..n {
        if kinds[v] == Kind::Free {
            continue;
        }
        let foot = footing(world, mesh.solid_at(v as u32), mesh.positions[v]);
        let lower = mesh.positions[v] - foot.normal * depth_within(world, mesh.solid_at(v as u32), &foot, depth);
        if kinds[v] == Kind::Wet {
            out.positions[v] = lower;
        } else {
            sunk[v] = out.positions.len() as u32;
            out.positions.push(lower);
            out.velocities.push(mesh.velocities[v]);
        }
    }
    for (t, &corners) in mesh.triangles.iter().enumerate() {
        let tag = mesh.solids[t];
        out.push(if tag == AIR { corners } else { corners.map(|v| sunk[v as usize]) }, tag);
        for k in 0..3 {
            let h = (3 * t + k) as u32;
            let below = mesh.solid_of(mesh.twin(h));
            if tag == AIR && below != AIR {
                let (a, b) = (mesh.from(h), mesh.to(h));
                let (a_low, b_low) = (sunk[a as usize], sunk[b as usize]);
                out.push([b, a, a_low], below);
                out.push([b, a_low, b_low], below);
            }
        }
    }
    out
}

impl Body {
    /// A drop's surface, carried on into its solids by `depth` meters.
    pub fn new(mesh: &Mesh, world: &Ground, depth: f64) -> Self {
        let Skin { positions, velocities, triangles, .. } = carried_on(mesh, world, depth);
        Self { distance: MeshDistance::new(TriMesh { positions, triangles, ..TriMesh::default() }), velocities }
    }

    /// How far a point is from the surface, in m, inside as outside.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.distance.nearest(point).map_or(f64::INFINITY, |near| near.distance.abs())
    }

    /// A lower bound on how far a point is from the surface, in m: how far it is from the box round it.
    pub fn beyond(&self, point: DVec3) -> f64 {
        let bounds = self.distance.bounds();
        point.distance(point.clamp(bounds.low, bounds.high))
    }

    /// Which nodes of a grid lie inside: those that the surface goes round once more than it goes round them backwards. `axes` and `origin` are the grid's frame.
    pub fn inside(&self, grid: &Grid, axes: DMat3, origin: DVec3) -> Inside {
        let mesh = self.distance.mesh();
        let local: Vec<DVec3> = mesh.positions.iter().map(|p| axes.transpose() * (*p - origin)).collect();
        // Only the nodes in the box round it.
        let bounds = Bounds::of(local.iter().copied());
        let mut low = [0; 3];
        let mut size = [2; 3];
        for k in 0..3 {
            let node = |x: f64| ((x - grid.origin[k]) / grid.cell[k]).floor().max(0.0) as usize;
            low[k] = node(bounds.low[k]).min(grid.size[k] - 1);
            size[k] = (node(bounds.high[k]) + 2).min(grid.size[k]).saturating_sub(low[k]).max(1);
        }
        let part = Grid { origin: grid.position(low), cell: grid.cell, size };
        let turns = winding_numbers(&part, &local, &mesh.triangles);
        Inside { low, size, nodes: turns.into_iter().map(|turns| turns > 0).collect() }
    }

    /// Velocity of the surface nearest to a point, and how far it is.
    pub fn velocity(&self, point: DVec3) -> Option<(f64, DVec3)> {
        let near = self.distance.nearest(point)?;
        let corners = self.distance.mesh().triangles[near.triangle];
        let weights = near.barycentrics.to_array();
        let velocity = corners.iter().zip(weights).map(|(&v, w)| self.velocities[v as usize] * w).sum();
        Some((near.distance.abs(), velocity))
    }
}

/// How deep to go below a footing, up to `depth` meters: well within a leaf that is thinner than that, lest liquid come out below it.
fn depth_within(world: &Ground, solid: i32, foot: &Footing, depth: f64) -> f64 {
    let Some(solid) = usize::try_from(solid).ok().and_then(|s| world.solids().get(s)) else { return depth };
    let comes_out = |down: f64| solid.signed_distance(foot.point - foot.normal * down) > 1e-3 * depth;
    if !comes_out(depth) {
        return depth;
    }
    let mut down = 0.5 * depth;
    while comes_out(down) && down > 0.02 * depth {
        down *= 0.5;
    }
    0.5 * down
}
