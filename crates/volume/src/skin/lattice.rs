//! From tiles to triangles: every cube between eight cell centers is cut into six tetrahedra, and these into polygons.
//!
//! The six share the cube's long diagonal and are the orders in which one can walk from its low corner to its high one along the axes (the Kuhn
//! triangulation): the same in every cube, so that faces match.

use glam::DVec3;
use rayon::prelude::*;

use super::Liquid;
use super::tetrahedra::{EDGES, Place, Polygon, Scratch, Tetrahedron};
use crate::tiles::{NONE, SIDE, Tiles, local_index, neighbor_place};

/// A vertex as a tetrahedron makes it.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Names it: the same from every tetrahedron that shares it.
    pub key: u64,
    /// In cells from the lattice's corner.
    pub position: DVec3,
}

/// What a triangle lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sheet {
    /// The liquid's surface.
    Air,
    /// A solid.
    Wall,
    /// The end of a planar slab.
    End,
}

/// Triangles, by the keys of their vertices.
#[derive(Debug, Default)]
pub struct Pieces {
    /// All vertices, several times each.
    pub vertices: Vec<Vertex>,
    /// Triangles.
    pub triangles: Vec<([u64; 3], Sheet)>,
    /// Which drop each triangle bounds: the name of a corner of its tetrahedron in the body, 0 if it has none.
    pub names: Vec<u32>,
}

/// The walks from the low to the high corner of a cube, and whether the tetrahedron along it is positive.
const WALKS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

/// Largest extent of the lattice, in cells along an axis: keys have 18 bits for it.
pub const MAX_EXTENT: i64 = 1 << 18;

#[derive(Clone, Copy)]
struct Node {
    a: f64,
    b: f64,
    name: u32,
}

/// Beyond the tiles there is no liquid.
const NOWHERE: Node = Node { a: 1.0, b: 1.0, name: 0 };

impl Node {
    fn inside(self) -> bool {
        self.a < 0.0 && self.b < 0.0
    }
}

/// Cuts all tiles, side by side, and returns the pieces in the order of slots. `low` is the lattice's lowest cell.
pub fn cut(tiles: &Tiles, liquid: &impl Liquid, low: [i32; 3]) -> Vec<Pieces> {
    (0..tiles.len())
        .into_par_iter()
        .map_init(Workspace::default, |workspace, slot| workspace.cut_tile(tiles, liquid, slot, low))
        .collect()
}

#[derive(Default)]
struct Workspace {
    nodes: Vec<Node>,
    scratch: Scratch,
}

/// Nodes along an axis that the cubes of a tile touch: its own, and one beyond at each side.
const REACH: usize = SIDE + 2;

impl Workspace {
    fn cut_tile(&mut self, tiles: &Tiles, liquid: &impl Liquid, slot: usize, low: [i32; 3]) -> Pieces {
        let mut pieces = Pieces::default();
        let present = present_tiles(tiles, slot);
        let planar = tiles.topology().planar;
        self.gather(liquid, &present, planar);
        let (any_a, any_b) = self.nodes.iter().fold((false, false), |(a, b), n| (a | (n.a < 0.0), b | (n.b < 0.0)));
        if !(any_a && any_b) || self.nodes.iter().all(|n| n.inside()) {
            return pieces;
        }
        let corner = [0, 1, 2].map(|axis| tiles.coords()[slot][axis] * SIDE as i32 - low[axis]);
        let along_z = if planar { 0..1 } else { -1..SIDE as i32 };
        for z in along_z {
            for y in -1..SIDE as i32 {
                for x in -1..SIDE as i32 {
                    if owns(&present, slot, [x, y, z], planar) {
                        self.cut_cube([x, y, z], corner, planar, &mut pieces);
                    }
                }
            }
        }
        pieces
    }

    /// Reads the tile and one layer of cells round it.
    fn gather(&mut self, liquid: &impl Liquid, present: &[u32; 27], planar: bool) {
        self.nodes.clear();
        let range = -1..=SIDE as i32;
        for z in range.clone() {
            for y in range.clone() {
                for x in range.clone() {
                    let z = if planar { 0 } else { z };
                    let tile = present[neighbor_place([x >> 3, y >> 3, z >> 3])];
                    let local = local_index([x, y, z].map(|c| (c & 7) as usize));
                    self.nodes.push(if tile == NONE {
                        NOWHERE
                    } else {
                        let cell = tile as usize * SIDE.pow(3) + local;
                        Node { a: liquid.phi(cell), b: -liquid.solid(cell), name: liquid.name(cell) }
                    });
                }
            }
        }
    }

    fn cut_cube(&mut self, cube: [i32; 3], corner: [i32; 3], planar: bool, pieces: &mut Pieces) {
        let node = |bits: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| (cube[axis] + 1) as usize + (bits >> axis & 1));
            self.nodes[(z * REACH + y) * REACH + x]
        };
        let nodes: [Node; 8] = std::array::from_fn(node);
        let some = |of: fn(&Node) -> f64| nodes.iter().any(|n| of(n) < 0.0);
        if !(some(|n| n.a) && some(|n| n.b)) || (nodes.iter().all(|n| n.inside()) && !planar) {
            return;
        }
        // Everything of a planar run stands between z = 0 and z = 1; elsewhere nodes are the centers of cells.
        let middle = DVec3::new(0.5, 0.5, if planar { 0.0 } else { 0.5 });
        let base = [0, 1, 2].map(|axis| corner[axis] + cube[axis]);
        for (walk, positive) in WALKS {
            let bits = [0, 1 << walk[0], (1 << walk[0]) | (1 << walk[1]), 7];
            let tetrahedron = Tetrahedron::new(bits.map(|k| nodes[k].a), bits.map(|k| nodes[k].b), positive);
            let places = bits.map(|k| [0, 1, 2].map(|axis| base[axis] + (k >> axis & 1) as i32));
            let corners = places.map(|place| DVec3::from(place.map(f64::from)) + middle);
            let name = bits.iter().map(|&k| nodes[k]).filter(|n| n.inside()).map(|n| n.name).find(|&name| name != 0);
            let maker = Maker { tetrahedron: &tetrahedron, bits, places, corners, name: name.unwrap_or(0) };
            tetrahedron.polygons(&mut self.scratch, |Polygon { places, wall }| {
                maker.add(places, if wall { Sheet::Wall } else { Sheet::Air }, pieces);
            });
            if planar {
                for face in 0..4 {
                    let mut heights = (0..4).filter(|&k| k != face).map(|k| bits[k] >> 2);
                    let first = heights.next();
                    if heights.all(|height| Some(height) == first) {
                        tetrahedron.end(face, &mut self.scratch, |places| maker.add(places, Sheet::End, pieces));
                    }
                }
            }
        }
    }
}

/// The tiles round a slot that lie where they seem to: not beyond a period.
fn present_tiles(tiles: &Tiles, slot: usize) -> [u32; 27] {
    let here = tiles.coords()[slot];
    let mut present = *tiles.neighbors(slot);
    for (place, tile) in present.iter_mut().enumerate() {
        let offset = [place % 3, place / 3 % 3, place / 9].map(|o| o as i32 - 1);
        let is_there =
            |tile: u32| [0, 1, 2].iter().all(|&axis| tiles.coords()[tile as usize][axis] == here[axis] + offset[axis]);
        let flat = tiles.topology().planar && offset[2] != 0;
        if *tile != NONE && (flat || !is_there(*tile)) {
            *tile = NONE;
        }
    }
    present
}

/// Whether a cube is this slot's to cut: the first of the tiles that hold its corners.
fn owns(present: &[u32; 27], slot: usize, cube: [i32; 3], planar: bool) -> bool {
    let inner = cube.iter().enumerate().all(|(axis, &c)| (planar && axis == 2) || (0..SIDE as i32 - 1).contains(&c));
    inner
        || (0..8).all(|bits| {
            let corner = [0, 1, 2].map(|axis| cube[axis] + (bits >> axis & 1));
            let z = if planar { 0 } else { corner[2] >> 3 };
            let tile = present[neighbor_place([corner[0] >> 3, corner[1] >> 3, z])];
            tile == NONE || tile as usize >= slot
        })
}

/// Makes triangles of a tetrahedron's polygons.
struct Maker<'a> {
    tetrahedron: &'a Tetrahedron,
    /// Which corner of the cube each of its corners is.
    bits: [usize; 4],
    /// The lattice places of its corners.
    places: [[i32; 3]; 4],
    corners: [DVec3; 4],
    name: u32,
}

impl Maker<'_> {
    fn add(&self, places: &[Place], sheet: Sheet, pieces: &mut Pieces) {
        let first = pieces.vertices.len();
        pieces.vertices.extend(places.iter().map(|&place| self.vertex(place)));
        let mut open: Vec<usize> = (first..pieces.vertices.len()).collect();
        // Cut off the corner whose cut is shortest, until a triangle is left.
        while open.len() > 3 {
            let n = open.len();
            let at = |k: usize| pieces.vertices[open[k % n]].position;
            let best = (0..n)
                .min_by(|&j, &k| at(j).distance_squared(at(j + 2)).total_cmp(&at(k).distance_squared(at(k + 2))))
                .unwrap_or(0);
            let ear = [open[best], open[(best + 1) % n], open[(best + 2) % n]];
            open.remove((best + 1) % n);
            self.add_triangle(ear, sheet, pieces);
        }
        self.add_triangle([open[0], open[1], open[2]], sheet, pieces);
    }

    fn add_triangle(&self, corners: [usize; 3], sheet: Sheet, pieces: &mut Pieces) {
        pieces.triangles.push((corners.map(|v| pieces.vertices[v].key), sheet));
        pieces.names.push(self.name);
    }

    fn vertex(&self, place: Place) -> Vertex {
        let between = |i: usize, j: usize| (self.bits[j] ^ self.bits[i]) as u64;
        let (base, code) = match place {
            Place::Corner(i) => (i, 0),
            Place::Air(e) => (EDGES[e][0], (1 << 6) | between(EDGES[e][0], EDGES[e][1])),
            Place::Wall(e) => (EDGES[e][0], (2 << 6) | between(EDGES[e][0], EDGES[e][1])),
            Place::Line(face) => {
                let mut others = (0..4).filter(|&k| k != face);
                let mut next = || others.next().expect("a face has three corners");
                let [i, j, k] = [next(), next(), next()];
                (i, (3 << 6) | (between(i, j) << 3) | between(i, k))
            }
        };
        // One cell below the lowest is as low as a cube goes.
        let key = self.places[base].iter().fold(0, |key, &c| (key << 18) | (c + 1) as u64);
        Vertex { key: (key << 8) | code, position: self.tetrahedron.position(place, &self.corners) }
    }
}
