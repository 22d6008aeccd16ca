//! What repair did, and what it could not do, in words.

use std::fmt;

use glam::DVec3;

use super::{MAX_FILLED_SHARE, MAX_HOLE_EDGES};

/// A hole that was closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilledHole {
    /// Edges round it.
    pub edges: usize,
    /// The middle of its rim, in m.
    pub near: DVec3,
}

/// Triangles that pass through each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossings {
    /// Pairs of triangles that cross.
    pub pairs: usize,
    /// Where the first of them do, in m.
    pub near: DVec3,
}

/// What was done to a mesh to make it fit, in the order in which it was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairReport {
    /// Vertices merged with another at the same place.
    pub welded_vertices: usize,
    /// Triangles dropped because two of their corners are one.
    pub collapsed_triangles: usize,
    /// Triangles dropped because another has the same corners.
    pub duplicate_triangles: usize,
    /// Triangles turned round to wind like their neighbors.
    pub turned_triangles: usize,
    /// Edges where surfaces touch that were taken apart.
    pub split_edges: usize,
    /// Holes that were closed.
    pub filled_holes: Vec<FilledHole>,
    /// Vertices where surfaces touch that were taken apart.
    pub split_vertices: usize,
    /// Triangles of no height whose longest edge was turned.
    pub turned_slivers: usize,
    /// Triangles of no height that could not be helped. Harmless to distances, but they have no normal.
    pub kept_slivers: usize,
    /// Components dropped because they enclose no volume.
    pub flat_components: usize,
    /// Components turned because they were inside out.
    pub turned_components: usize,
    /// Components dropped because they lie inside the solid.
    pub buried_components: usize,
    /// Vertices dropped because no triangle uses them.
    pub unused_vertices: usize,
    /// Crossings that were accepted.
    pub crossings: Option<Crossings>,
}

impl RepairReport {
    /// Whether the mesh was fit as it came.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut done = Vec::new();
        let mut say = |count: usize, verb: &str, one: &str, many: &str| {
            if count > 0 {
                done.push(format!("{verb} {}", counted(count, one, many)));
            }
        };
        say(self.welded_vertices, "welded", "vertex", "vertices");
        say(self.collapsed_triangles, "dropped", "triangle without area", "triangles without area");
        say(self.duplicate_triangles, "dropped", "duplicate triangle", "duplicate triangles");
        say(
            self.turned_triangles,
            "turned",
            "triangle to wind like its neighbors",
            "triangles to wind like their neighbors",
        );
        say(self.split_edges, "took apart", "edge where surfaces touch", "edges where surfaces touch");
        done.extend(holes(&self.filled_holes));
        let mut say = |count: usize, verb: &str, one: &str, many: &str| {
            if count > 0 {
                done.push(format!("{verb} {}", counted(count, one, many)));
            }
        };
        say(self.split_vertices, "took apart", "vertex where surfaces touch", "vertices where surfaces touch");
        say(
            self.turned_slivers,
            "removed",
            "sliver by turning its longest edge",
            "slivers by turning their longest edges",
        );
        say(self.kept_slivers, "left", "sliver as it was", "slivers as they were");
        say(self.flat_components, "dropped", "component without volume", "components without volume");
        say(self.turned_components, "turned", "component outwards", "components outwards");
        say(self.buried_components, "dropped", "component buried in the solid", "components buried in the solid");
        say(self.unused_vertices, "dropped", "unused vertex", "unused vertices");
        if let Some(Crossings { pairs, near }) = self.crossings {
            let pairs = counted(pairs, "pair of triangles that cross", "pairs of triangles that cross");
            done.push(format!("accepted {pairs}, the first near {}", Millimeters(near)));
        }
        if done.is_empty() {
            return write!(f, "nothing to repair");
        }
        write!(f, "{}", done.join("; "))
    }
}

/// Each of a few holes with its place; many holes as a sum, with the largest.
fn holes(filled: &[FilledHole]) -> Vec<String> {
    const EACH: usize = 3;
    let one = |hole: &FilledHole| format!("1 hole of {} edges near {}", hole.edges, Millimeters(hole.near));
    match filled {
        [] => Vec::new(),
        few if few.len() <= EACH => few.iter().map(|hole| format!("filled {}", one(hole))).collect(),
        many => {
            // The first among equals, whatever `max_by` prefers.
            let largest = many.iter().rev().max_by_key(|hole| hole.edges).map(one).unwrap_or_default();
            vec![format!("filled {} holes, the largest {}", many.len(), largest.trim_start_matches("1 hole "))]
        }
    }
}

/// Why a mesh cannot serve, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshDefect {
    /// Nothing to work with.
    #[error("the mesh is empty: it has no triangles ({vertices} vertices)")]
    Empty {
        /// Vertices that it has.
        vertices: usize,
    },
    /// Triangles, but none with an area.
    #[error(
        "the mesh has no triangle with an area: all {triangles} collapse when vertices at the same place are merged"
    )]
    NoArea {
        /// Triangles that it has.
        triangles: usize,
    },
    /// A closed surface that is flat.
    #[error("the mesh encloses no volume: {}", counted(*.components, "component is flat", "components are flat"))]
    NoVolume {
        /// Components that it has.
        components: usize,
    },
    /// A position that is infinite, not a number or absurd.
    #[error("vertex {vertex} lies at ({}, {}, {}): expected coordinates of at most {limit:e} m", .position.x, .position.y, .position.z)]
    BadPosition {
        /// The vertex.
        vertex: usize,
        /// Where it is, in m.
        position: DVec3,
        /// The largest coordinate allowed, in m.
        limit: f64,
    },
    /// A triangle that names a vertex that does not exist.
    #[error("triangle {triangle} has vertex {index}: expected less than {vertices}")]
    BadIndex {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// Texture coordinates for some triangles only.
    #[error("{found} triangles have texture coordinates: expected all {triangles}, or none")]
    BadTexture {
        /// Triangles with texture coordinates.
        found: usize,
        /// Triangles.
        triangles: usize,
    },
    /// Holes that are too large to guess what should be there.
    #[error(
        "the mesh is open: {} too large to fill, the longest of {edges} edges near {} (limits: {MAX_HOLE_EDGES} edges, {} % of \
         the area); close it in a modeling program",
        counted(*.loops, "hole", "holes"), Millimeters(*.near), 100.0 * MAX_FILLED_SHARE
    )]
    Open {
        /// Loops of boundary edges that are too large.
        loops: usize,
        /// Edges of the longest.
        edges: usize,
        /// The middle of the longest, in m.
        near: DVec3,
    },
    /// An edge on which surfaces meet so that it is unclear which belong together.
    #[error(
        "the mesh is not a surface: {} shared by more than 2 triangles, the first by {triangles} from {} to {}; delete the inner or \
         dangling faces there",
        counted(*.edges, "edge is", "edges are"), Millimeters(.ends[0]), Millimeters(.ends[1])
    )]
    NonManifold {
        /// Edges of that kind.
        edges: usize,
        /// Triangles on the first.
        triangles: usize,
        /// Its ends, in m.
        ends: [DVec3; 2],
    },
    /// A Möbius band or a Klein bottle.
    #[error(
        "the mesh has only one side, like a Möbius band: no winding is consistent across the edge from {} to {}",
        Millimeters(.ends[0]), Millimeters(.ends[1])
    )]
    NonOrientable {
        /// Ends of an edge across which it fails, in m.
        ends: [DVec3; 2],
    },
    /// A surface that passes through itself or another.
    #[error(
        "the mesh crosses itself: {}, the first near {}; unite the parts in a modeling program",
        counted(.0.pairs, "pair of triangles crosses", "pairs of triangles cross"), Millimeters(.0.near)
    )]
    SelfCrossing(Crossings),
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A point as it appears in messages: in mm, to a micrometer for things of our size and to seven digits for larger ones.
struct Millimeters(DVec3);

impl fmt::Display for Millimeters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.to_array().map(|meters| {
            let rounded = (meters * 1e6).round() / 1e3;
            rounded + 0.0 // −0 becomes 0
        });
        write!(f, "({x}, {y}, {z}) mm")
    }
}
