//! The surface of the liquid from a field sampled on a uniform grid: marching cubes with a sharp
//! floor.
//!
//! The liquid is where the field is negative. Each grid edge whose ends differ in sign has a
//! vertex, at the zero of the linearly interpolated field (lorensen1987). How the vertices of a
//! cell are connected follows from a rule for cell faces alone (see `isosurface/cases.rs`), so
//! neighboring cells always agree.
//!
//! The grid is padded by one layer of nodes that are outside and at zero distance: where liquid
//! reaches the border, the crossing towards that layer is the border node itself, and cells of the
//! layer are flat. The rule for the free surface therefore closes it at the border, and on the
//! floor `z = origin.z` free surface and floor meet in one shared polyline, the contact line.
//!
//! Guarantees, for any field, noise and zeros included:
//! - the mesh is closed, oriented outwards, and a manifold: every edge has two triangles, every
//!   vertex one fan;
//! - no triangle has zero area: crossings keep a small distance from the nodes, and no triangle has
//!   three corners on one cell face;
//! - a value of exactly 0, and one that is not a number, is outside.
//!
//! The surface is second-order accurate. Features thinner than a cell are lost, as in every method
//! that samples nodes only.

mod cases;
mod collapse;

use glam::DVec3;
use sessile_numerics::OptionalIndex;

use self::cases::{CASES, edge_ends};
use crate::TriMesh;

/// Least distance of a crossing from the nodes of its edge, as a fraction of the edge.
///
/// Prevents degenerate triangles where the field is (nearly) zero at a node. It moves the surface
/// by far less than the interpolation error.
const MIN_FRACTION: f64 = 1e-4;

/// A uniform grid of nodes in some local frame, z away from the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Position of the first node, in m.
    pub origin: DVec3,
    /// Distance between neighboring nodes along each axis, in m.
    pub cell: DVec3,
    /// Number of nodes along each axis, at least two.
    pub size: [usize; 3],
}

impl Grid {
    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.size.iter().product()
    }

    /// Position of a node, in m.
    pub fn position(&self, node: [usize; 3]) -> DVec3 {
        self.origin + self.cell * DVec3::from(node.map(|i| i as f64))
    }

    /// Index of a node in arrays; x varies fastest, z slowest.
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.size[1] + j) * self.size[0] + i
    }

    /// The field at every node, in the order that [`extract`] expects.
    pub fn sample(&self, field: impl Fn(DVec3) -> f64) -> Vec<f64> {
        let [nx, ny, nz] = self.size;
        let mut values = Vec::with_capacity(self.num_nodes());
        for k in 0..nz {
            for j in 0..ny {
                values.extend((0..nx).map(|i| field(self.position([i, j, k]))));
            }
        }
        values
    }

    /// The node after `node` along `axis`.
    fn next(node: [usize; 3], axis: usize) -> [usize; 3] {
        let mut next = node;
        next[axis] += 1;
        next
    }
}

/// Origin of a vertex on the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// The edge from this node along this axis.
    Edge([u32; 3], u8),
    /// A node on the border that is inside the liquid.
    Node,
}

/// A closed surface extracted from a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Isosurface {
    /// The surface; triangles wind counterclockwise seen from outside the liquid.
    pub mesh: TriMesh,
    /// For each triangle, whether it lies on the floor.
    pub on_floor: Vec<bool>,
    /// Origin of each vertex.
    sources: Vec<Source>,
}

/// Two adjacent layers of nodes, and the vertices found on their edges.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Whether each node of the two padded layers is inside.
    inside: [Vec<bool>; 2],
    /// The vertices on the x edge, the y edge and the node itself, for each node of the two padded
    /// layers.
    in_layer: [Vec<[OptionalIndex; 3]>; 2],
    /// The vertices on the z edges between the two layers.
    between: Vec<OptionalIndex>,
}

/// Extracts the surface of the liquid, closed on the borders of the grid.
///
/// `values` holds the field at the nodes, x fastest, z slowest. With `floor`, the lowest layer of
/// nodes lies on the solid, and the triangles there are marked.
///
/// # Panics
/// If the grid has an axis of fewer than two nodes, or the number of values is not its number of
/// nodes.
pub fn extract(grid: &Grid, values: &[f64], floor: bool) -> Isosurface {
    assert!(grid.size.iter().all(|&n| n >= 2), "a grid needs two nodes along each axis, got {:?}", grid.size);
    assert_eq!(values.len(), grid.num_nodes(), "values for a grid of {:?} nodes", grid.size);
    let mut surface = Isosurface::default();
    let mut scratch = Scratch::default();
    let [width, depth, height] = grid.size.map(|n| n + 2);
    scratch.reset(width * depth);
    let cases = &*CASES;
    let corner_offsets: [usize; 4] = [0, 1, width, width + 1];
    for k in 0..height - 1 {
        scratch.advance(grid, values, k);
        for j in 0..depth - 1 {
            for i in 0..width - 1 {
                let low = j * width + i;
                let mut case = 0;
                for (corner, offset) in corner_offsets.into_iter().enumerate() {
                    case |= usize::from(scratch.inside[0][low + offset]) << corner;
                    case |= usize::from(scratch.inside[1][low + offset]) << (corner + 4);
                }
                for triangle in &cases[case] {
                    let [a, b, c] =
                        triangle.map(|edge| scratch.vertex(grid, values, [i, j, k], edge as usize, &mut surface));
                    // Where two sides of the border meet, the crossings at a node coincide and
                    // share one vertex.
                    if a != b && b != c && c != a {
                        surface.mesh.triangles.push([a, b, c]);
                        surface.on_floor.push(floor && k == 0);
                    }
                }
            }
        }
    }
    surface
}

impl Scratch {
    fn reset(&mut self, layer: usize) {
        for inside in &mut self.inside {
            inside.clear();
            inside.resize(layer, false);
        }
        for vertices in &mut self.in_layer {
            vertices.clear();
            vertices.resize(layer, [OptionalIndex::NONE; 3]);
        }
        self.between.clear();
        self.between.resize(layer, OptionalIndex::NONE);
    }

    /// Makes the upper layer the lower one and reads the next: layer `k` of the grid, or the
    /// padding.
    fn advance(&mut self, grid: &Grid, values: &[f64], k: usize) {
        let [nx, ny, nz] = grid.size;
        self.inside.swap(0, 1);
        self.in_layer.swap(0, 1);
        self.in_layer[1].fill([OptionalIndex::NONE; 3]);
        self.between.fill(OptionalIndex::NONE);
        let upper = &mut self.inside[1];
        if k == nz {
            upper.fill(false);
            return;
        }
        for (j, row) in values[k * nx * ny..(k + 1) * nx * ny].chunks_exact(nx).enumerate() {
            let first = (j + 1) * (nx + 2) + 1;
            for (inside, &value) in upper[first..first + nx].iter_mut().zip(row) {
                *inside = value < 0.0;
            }
        }
    }

    /// The vertex on an edge of a padded cell, created when first needed.
    fn vertex(&mut self, grid: &Grid, values: &[f64], cell: [usize; 3], edge: usize, surface: &mut Isosurface) -> u32 {
        let (corner, axis) = edge_ends(edge);
        let layer = corner >> 2;
        let padded = [cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + layer];
        let width = grid.size[0] + 2;
        let index = padded[1] * width + padded[0];
        // An edge runs along one axis, so it can leave the grid only along that axis.
        if padded[axis] >= 1 && padded[axis] < grid.size[axis] {
            let slot = if axis == 2 { &mut self.between[index] } else { &mut self.in_layer[layer][index][axis] };
            slot.get_or_insert_with(|| surface.add_crossing(grid, values, padded.map(|i| i - 1), axis))
        } else {
            let outwards = usize::from(padded[axis] == 0);
            let (layer, index) = match axis {
                0 => (layer, index + outwards),
                1 => (layer, index + outwards * width),
                _ => (layer + outwards, index),
            };
            self.in_layer[layer][index][2].get_or_insert_with(|| {
                let mut node = padded;
                node[axis] += outwards;
                surface.add_vertex(grid.position(node.map(|i| i - 1)), Source::Node)
            })
        }
    }
}

impl Isosurface {
    fn add_vertex(&mut self, position: DVec3, source: Source) -> u32 {
        self.mesh.positions.push(position);
        self.sources.push(source);
        u32::try_from(self.mesh.positions.len() - 1).expect("a surface has fewer than 2³² vertices")
    }

    fn add_crossing(&mut self, grid: &Grid, values: &[f64], node: [usize; 3], axis: usize) -> u32 {
        let (from, to) = (values[grid.index(node)], values[grid.index(Grid::next(node, axis))]);
        let position = along_edge(grid, node, axis, keep_off_nodes(from / (from - to)));
        self.add_vertex(position, Source::Edge(node.map(|i| i as u32), axis as u8))
    }

    /// Moves every vertex along its grid edge to where `field` is zero, in at most `steps`
    /// evaluations each.
    ///
    /// `values` must be the samples of `field` that the surface was extracted from. The zero stays
    /// bracketed (regula falsi, anderson1973), so the mesh stays valid; vertices on the floor stay
    /// on it.
    ///
    /// # Panics
    /// If the number of values is not the grid's number of nodes.
    pub fn polish(&mut self, grid: &Grid, values: &[f64], steps: usize, field: impl Fn(DVec3) -> f64) {
        assert_eq!(values.len(), grid.num_nodes(), "values for a grid of {:?} nodes", grid.size);
        for (position, source) in self.mesh.positions.iter_mut().zip(&self.sources) {
            let Source::Edge(node, axis) = *source else { continue };
            let (node, axis) = (node.map(|i| i as usize), axis as usize);
            let ends = [values[grid.index(node)], values[grid.index(Grid::next(node, axis))]];
            let fraction = zero_between(ends, steps, |t| field(along_edge(grid, node, axis, t)));
            *position = along_edge(grid, node, axis, keep_off_nodes(fraction));
        }
    }
}

fn along_edge(grid: &Grid, node: [usize; 3], axis: usize, fraction: f64) -> DVec3 {
    let mut position = grid.position(node);
    position[axis] = grid.origin[axis] + grid.cell[axis] * (node[axis] as f64 + fraction);
    position
}

/// Keeps a crossing away from the nodes; one between values that are not finite is put in the
/// middle.
fn keep_off_nodes(fraction: f64) -> f64 {
    if fraction.is_nan() { 0.5 } else { fraction.clamp(MIN_FRACTION, 1.0 - MIN_FRACTION) }
}

/// The zero of `f` on [0, 1], between end values of opposite sign (one may be 0).
fn zero_between(ends: [f64; 2], steps: usize, f: impl Fn(f64) -> f64) -> f64 {
    let [mut fa, mut fb] = ends;
    let (mut a, mut b) = (0.0_f64, 1.0_f64);
    let mut last_side = 0;
    let mut t = fa / (fa - fb);
    for _ in 0..steps {
        let ft = f(t);
        if ft == 0.0 || !ft.is_finite() || (b - a).abs() < f64::EPSILON {
            break;
        }
        // The value of an end that stays twice in a row is reduced, so that the bracket closes from
        // both sides.
        if (ft < 0.0) == (fa < 0.0) {
            if last_side == -1 {
                fb *= shrink(ft / fa);
            }
            (a, fa, last_side) = (t, ft, -1);
        } else {
            if last_side == 1 {
                fa *= shrink(ft / fb);
            }
            (b, fb, last_side) = (t, ft, 1);
        }
        t = (a * fb - b * fa) / (fb - fa);
    }
    t
}

/// Factor for the value of the end that stays, from the ratio of the last two values at the end
/// that moves (anderson1973).
fn shrink(ratio: f64) -> f64 {
    if ratio < 1.0 { 1.0 - ratio } else { 0.5 }
}

#[cfg(test)]
mod tests;
