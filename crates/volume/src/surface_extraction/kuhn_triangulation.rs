//! Kuhn triangulation of the tiles: every cube between eight cell centers is cut into six
//! tetrahedra, and these into polygons.
//!
//! The six share the cube's diagonal and are the orders in which one can go from its low corner to
//! its high one along the axes: the same in every cube, so that faces match.

use glam::DVec3;
use rayon::prelude::*;

use super::marching_tetrahedra::{EDGES, Polygon, Scratch, Site, Tetrahedron};
use super::{ExtractionFields, SurfaceTag};
use crate::tiles::{CellIndex, OptionalSlot, SIDE, Tiles, local_index, neighbor_place};

/// A vertex as a tetrahedron makes it.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Identifies it: the same from every tetrahedron that shares it.
    pub key: u64,
    /// Position in cells from the grid's lowest corner.
    pub position: DVec3,
}

/// Triangles of one tile, by the keys of their vertices.
#[derive(Debug, Default)]
pub struct TileTriangles {
    /// All vertices, several times each.
    pub vertices: Vec<Vertex>,
    /// Triangles.
    pub triangles: Vec<([u64; 3], SurfaceTag)>,
    /// Label of the drop that each triangle bounds, from a corner of its tetrahedron in the liquid;
    /// 0 if it has none.
    pub labels: Vec<u32>,
}

/// The paths from the low to the high corner of a cube, and whether the tetrahedron along each is
/// positively oriented.
const KUHN_PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

/// Largest extent of the grid, in cells along an axis: keys have 18 bits for it.
pub const MAX_EXTENT: i64 = 1 << 18;

#[derive(Clone, Copy)]
struct Node {
    a: f64,
    b: f64,
    label: u32,
}

/// Outside the tiles there is no liquid.
const OUTSIDE: Node = Node { a: 1.0, b: 1.0, label: 0 };

impl Node {
    fn inside(self) -> bool {
        self.a < 0.0 && self.b < 0.0
    }
}

/// Triangulates all tiles in parallel; parts are in the order of slots. `low` is the grid's lowest
/// cell.
pub fn triangulate_tiles(tiles: &Tiles, liquid: &impl ExtractionFields, low: [i32; 3]) -> Vec<TileTriangles> {
    (0..tiles.len())
        .into_par_iter()
        .map_init(TileTriangulator::default, |workspace, slot| workspace.triangulate_tile(tiles, liquid, slot, low))
        .collect()
}

#[derive(Default)]
struct TileTriangulator {
    nodes: Vec<Node>,
    scratch: Scratch,
}

/// Nodes along an axis of the cubes of a tile: its own, and one beyond at each side.
const NODES_PER_AXIS: usize = SIDE + 2;

impl TileTriangulator {
    fn triangulate_tile(
        &mut self,
        tiles: &Tiles,
        liquid: &impl ExtractionFields,
        slot: usize,
        low: [i32; 3],
    ) -> TileTriangles {
        let mut parts = TileTriangles::default();
        let present = present_tiles(tiles, slot);
        let planar = tiles.topology().planar;
        self.gather(liquid, tiles, slot);
        let (any_a, any_b) = self.nodes.iter().fold((false, false), |(a, b), n| (a | (n.a < 0.0), b | (n.b < 0.0)));
        // A tile full of liquid has no surface, but for the flat ends of a planar slab.
        if !(any_a && any_b) || (!planar && self.nodes.iter().all(|n| n.inside())) {
            return parts;
        }
        let corner = [0, 1, 2].map(|axis| tiles.coords()[slot][axis] * SIDE as i32 - low[axis]);
        let along_z = if planar { 0..1 } else { -1..SIDE as i32 };
        for z in along_z {
            for y in -1..SIDE as i32 {
                for x in -1..SIDE as i32 {
                    if owns(&present, slot, [x, y, z], planar) {
                        self.triangulate_cube([x, y, z], corner, planar, &mut parts);
                    }
                }
            }
        }
        parts
    }

    /// Samples the tile and one layer of cells around it. Beyond a periodic side, which cuts the
    /// liquid as a wall does, are the cells of the opposite side.
    fn gather(&mut self, liquid: &impl ExtractionFields, tiles: &Tiles, slot: usize) {
        let (topology, tile_coords, present) = (tiles.topology(), tiles.coords()[slot], tiles.neighbors(slot));
        let planar = topology.planar;
        // Distance of a node outside the nearest periodic side, in cells.
        let beyond_period = |node: [i32; 3]| {
            let beyond = (0..3).filter_map(|axis| {
                let length = f64::from(topology.period[axis]? * SIDE as i32);
                let at = f64::from(tile_coords[axis] * SIDE as i32 + node[axis]) + 0.5;
                Some((-at).max(at - length))
            });
            beyond.fold(f64::NEG_INFINITY, f64::max)
        };
        self.nodes.clear();
        let range = -1..=SIDE as i32;
        for z in range.clone() {
            for y in range.clone() {
                for x in range.clone() {
                    let z = if planar { 0 } else { z };
                    let tile = present[neighbor_place([x >> 3, y >> 3, z >> 3])];
                    let local = local_index([x, y, z].map(|c| (c & 7) as usize));
                    self.nodes.push(tile.get().map_or(OUTSIDE, |tile| {
                        let cell = CellIndex::new(tile, local);
                        let b = (-liquid.solid(cell)).max(beyond_period([x, y, z]));
                        Node { a: liquid.phi(cell), b, label: liquid.label(cell) }
                    }));
                }
            }
        }
    }

    fn triangulate_cube(&mut self, cube: [i32; 3], corner: [i32; 3], planar: bool, parts: &mut TileTriangles) {
        let node = |bits: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| (cube[axis] + 1) as usize + (bits >> axis & 1));
            self.nodes[(z * NODES_PER_AXIS + y) * NODES_PER_AXIS + x]
        };
        let nodes: [Node; 8] = std::array::from_fn(node);
        let some = |of: fn(&Node) -> f64| nodes.iter().any(|n| of(n) < 0.0);
        if !(some(|n| n.a) && some(|n| n.b)) || (nodes.iter().all(|n| n.inside()) && !planar) {
            return;
        }
        // A planar slab extends from z = 0 to z = 1; otherwise nodes are cell centers.
        let middle = DVec3::new(0.5, 0.5, if planar { 0.0 } else { 0.5 });
        let base = [0, 1, 2].map(|axis| corner[axis] + cube[axis]);
        for (path, positive) in KUHN_PATHS {
            let bits = [0, 1 << path[0], (1 << path[0]) | (1 << path[1]), 7];
            let tetrahedron = Tetrahedron::new(bits.map(|k| nodes[k].a), bits.map(|k| nodes[k].b), positive);
            let places = bits.map(|k| [0, 1, 2].map(|axis| base[axis] + (k >> axis & 1) as i32));
            let corners = places.map(|place| DVec3::from(place.map(f64::from)) + middle);
            let label =
                bits.iter().map(|&k| nodes[k]).filter(|n| n.inside()).map(|n| n.label).find(|&label| label != 0);
            let builder =
                TriangleBuilder { tetrahedron: &tetrahedron, bits, places, corners, label: label.unwrap_or(0) };
            tetrahedron.polygons(&mut self.scratch, |Polygon { places, wall }| {
                builder.add(places, if wall { SurfaceTag::UnassignedWall } else { SurfaceTag::Interface }, parts);
            });
            if planar {
                for face in 0..4 {
                    let mut heights = (0..4).filter(|&k| k != face).map(|k| bits[k] >> 2);
                    let first = heights.next();
                    if heights.all(|height| Some(height) == first) {
                        tetrahedron.slab_end(face, &mut self.scratch, |places| {
                            builder.add(places, SurfaceTag::SlabEnd, parts);
                        });
                    }
                }
            }
        }
    }
}

/// The tiles around a slot, without those beyond a period.
fn present_tiles(tiles: &Tiles, slot: usize) -> [OptionalSlot; 27] {
    let here = tiles.coords()[slot];
    let mut present = *tiles.neighbors(slot);
    for (place, tile) in present.iter_mut().enumerate() {
        let offset = [place % 3, place / 3 % 3, place / 9].map(|o| o as i32 - 1);
        let is_there =
            |tile: usize| [0, 1, 2].iter().all(|&axis| tiles.coords()[tile][axis] == here[axis] + offset[axis]);
        let flat = tiles.topology().planar && offset[2] != 0;
        if flat || !tile.get().is_some_and(is_there) {
            *tile = OptionalSlot::NONE;
        }
    }
    present
}

/// Whether a cube belongs to this slot: the first of the tiles that hold its corners.
fn owns(present: &[OptionalSlot; 27], slot: usize, cube: [i32; 3], planar: bool) -> bool {
    let inner = cube.iter().enumerate().all(|(axis, &c)| (planar && axis == 2) || (0..SIDE as i32 - 1).contains(&c));
    inner
        || (0..8).all(|bits| {
            let corner = [0, 1, 2].map(|axis| cube[axis] + (bits >> axis & 1));
            let z = if planar { 0 } else { corner[2] >> 3 };
            let tile = present[neighbor_place([corner[0] >> 3, corner[1] >> 3, z])];
            tile.get().is_none_or(|tile| tile >= slot)
        })
}

/// Makes triangles of a tetrahedron's polygons.
struct TriangleBuilder<'a> {
    tetrahedron: &'a Tetrahedron,
    /// Corner of the cube of each of its corners.
    bits: [usize; 4],
    /// Lattice coordinates of its corners.
    places: [[i32; 3]; 4],
    corners: [DVec3; 4],
    label: u32,
}

impl TriangleBuilder<'_> {
    fn add(&self, places: &[Site], tag: SurfaceTag, parts: &mut TileTriangles) {
        let first = parts.vertices.len();
        parts.vertices.extend(places.iter().map(|&place| self.vertex(place)));
        let mut open: Vec<usize> = (first..parts.vertices.len()).collect();
        // Cut off the ear with the shortest chord, until a triangle is left.
        while open.len() > 3 {
            let n = open.len();
            let at = |k: usize| parts.vertices[open[k % n]].position;
            let best = (0..n)
                .min_by(|&j, &k| at(j).distance_squared(at(j + 2)).total_cmp(&at(k).distance_squared(at(k + 2))))
                .unwrap_or(0);
            let ear = [open[best], open[(best + 1) % n], open[(best + 2) % n]];
            open.remove((best + 1) % n);
            self.add_triangle(ear, tag, parts);
        }
        self.add_triangle([open[0], open[1], open[2]], tag, parts);
    }

    fn add_triangle(&self, corners: [usize; 3], tag: SurfaceTag, parts: &mut TileTriangles) {
        parts.triangles.push((corners.map(|v| parts.vertices[v].key), tag));
        parts.labels.push(self.label);
    }

    fn vertex(&self, place: Site) -> Vertex {
        let between = |i: usize, j: usize| (self.bits[j] ^ self.bits[i]) as u64;
        let (base, code) = match place {
            Site::Corner(i) => (i, 0),
            Site::Air(e) => (EDGES[e][0], (1 << 6) | between(EDGES[e][0], EDGES[e][1])),
            Site::Wall(e) => (EDGES[e][0], (2 << 6) | between(EDGES[e][0], EDGES[e][1])),
            Site::Line(face) => {
                let mut others = (0..4).filter(|&k| k != face);
                let mut next = || others.next().expect("a face has three corners");
                let [i, j, k] = [next(), next(), next()];
                (i, (3 << 6) | (between(i, j) << 3) | between(i, k))
            }
        };
        // A cube extends at most one cell below the lowest.
        let key = self.places[base].iter().fold(0, |key, &c| (key << 18) | (c + 1) as u64);
        Vertex { key: (key << 8) | code, position: self.tetrahedron.position(place, &self.corners) }
    }
}
