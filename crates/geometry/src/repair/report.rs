//! The report of a repair, and the defects that it cannot fix.

use std::fmt;

use glam::DVec3;

use super::{MAX_FILLED_SHARE, MAX_HOLE_EDGES};

/// A hole that was filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilledHole {
    /// Number of its edges.
    pub edges: usize,
    /// Center of its rim, in m.
    pub near: DVec3,
}

/// Triangles that intersect each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersections {
    /// Number of pairs of triangles that intersect.
    pub pairs: usize,
    /// A point where the first pair intersects, in m.
    pub near: DVec3,
}

/// What was done to a mesh, in the order of the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairReport {
    /// Vertices merged with another one.
    pub welded_vertices: usize,
    /// Triangles removed because two of their corners were merged.
    pub collapsed_triangles: usize,
    /// Triangles removed because another one has the same corners.
    pub duplicate_triangles: usize,
    /// Triangles flipped to match their neighbors.
    pub flipped_triangles: usize,
    /// Edges split because surfaces touch there.
    pub split_edges: usize,
    /// Holes that were filled.
    pub filled_holes: Vec<FilledHole>,
    /// Vertices duplicated because surfaces touch there.
    pub split_vertices: usize,
    /// Slivers removed by flipping their longest edge.
    pub flipped_slivers: usize,
    /// Slivers that remain. They are harmless to distances, but have no normal.
    pub kept_slivers: usize,
    /// Components removed because they enclose no volume.
    pub flat_components: usize,
    /// Components that were inverted and have been flipped.
    pub inverted_components: usize,
    /// Components removed because they lie inside the solid.
    pub buried_components: usize,
    /// Vertices removed because no triangle uses them.
    pub unused_vertices: usize,
}

impl RepairReport {
    /// Whether nothing was repaired.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut done = Vec::new();
        let count = |done: &mut Vec<String>, count: usize, verb: &str, one: &str, many: &str| {
            if count > 0 {
                done.push(format!("{verb} {}", counted(count, one, many)));
            }
        };
        count(&mut done, self.welded_vertices, "welded", "vertex", "vertices");
        count(&mut done, self.collapsed_triangles, "removed", "degenerate triangle", "degenerate triangles");
        count(&mut done, self.duplicate_triangles, "removed", "duplicate triangle", "duplicate triangles");
        let [one, many] = ["triangle to match its neighbors", "triangles to match their neighbors"];
        count(&mut done, self.flipped_triangles, "flipped", one, many);
        count(&mut done, self.split_edges, "split", "edge where surfaces touch", "edges where surfaces touch");
        done.extend(holes(&self.filled_holes));
        count(&mut done, self.split_vertices, "split", "vertex where surfaces touch", "vertices where surfaces touch");
        let [one, many] = ["sliver by flipping its longest edge", "slivers by flipping their longest edges"];
        count(&mut done, self.flipped_slivers, "removed", one, many);
        count(&mut done, self.kept_slivers, "kept", "sliver", "slivers");
        count(&mut done, self.flat_components, "removed", "component without volume", "components without volume");
        count(&mut done, self.inverted_components, "oriented", "component outwards", "components outwards");
        let [one, many] = ["component inside the solid", "components inside the solid"];
        count(&mut done, self.buried_components, "removed", one, many);
        count(&mut done, self.unused_vertices, "removed", "unused vertex", "unused vertices");
        if done.is_empty() {
            return write!(f, "nothing to repair");
        }
        write!(f, "{}", done.join("; "))
    }
}

/// A few holes one by one with their positions; many holes as their number, with the largest.
fn holes(filled: &[FilledHole]) -> Vec<String> {
    const EACH: usize = 3;
    let one = |hole: &FilledHole| format!("1 hole of {} edges near {}", hole.edges, Millimeters(hole.near));
    match filled {
        [] => Vec::new(),
        few if few.len() <= EACH => few.iter().map(|hole| format!("filled {}", one(hole))).collect(),
        many => {
            // The first of several largest ones.
            let largest = many.iter().rev().max_by_key(|hole| hole.edges).map(one).unwrap_or_default();
            vec![format!("filled {} holes, the largest {}", many.len(), largest.trim_start_matches("1 hole "))]
        }
    }
}

/// Why a mesh cannot be repaired, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshDefect {
    /// There are no triangles.
    #[error("the mesh has no triangles ({vertices} vertices)")]
    Empty {
        /// Number of vertices.
        vertices: usize,
    },
    /// No triangle has an area.
    #[error("the mesh has no triangle with an area: all {triangles} collapse when coincident vertices are merged")]
    NoArea {
        /// Number of triangles.
        triangles: usize,
    },
    /// The surface is flat.
    #[error("the mesh encloses no volume: {}", counted(*.components, "component is flat", "components are flat"))]
    NoVolume {
        /// Number of components.
        components: usize,
    },
    /// A coordinate is not finite or too large.
    #[error("vertex {vertex} is at ({}, {}, {}): expected coordinates of at most {limit:e} m", .position.x, .position.y, .position.z)]
    BadPosition {
        /// The vertex.
        vertex: usize,
        /// Its position, in m.
        position: DVec3,
        /// The largest coordinate allowed, in m.
        limit: f64,
    },
    /// A vertex index is out of range.
    #[error("triangle {triangle} has vertex {index}: expected less than {vertices}")]
    BadIndex {
        /// The triangle.
        triangle: usize,
        /// The index.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Only some triangles have texture coordinates.
    #[error("{found} triangles have texture coordinates: expected all {triangles}, or none")]
    BadTexture {
        /// Number of triangles with texture coordinates.
        found: usize,
        /// Number of triangles.
        triangles: usize,
    },
    /// Holes are too large to be filled.
    #[error(
        "the mesh is open: {} too large to fill, the longest of {edges} edges near {} (limits: {MAX_HOLE_EDGES} edges, {} % of \
         the area); close it in a modeling program",
        counted(*.loops, "hole", "holes"), Millimeters(*.near), 100.0 * MAX_FILLED_SHARE
    )]
    Open {
        /// Number of holes that are too large.
        loops: usize,
        /// Number of edges of the largest.
        edges: usize,
        /// Center of the largest, in m.
        near: DVec3,
    },
    /// Surfaces meet at an edge in such a way that it is unclear which belong together.
    #[error(
        "the mesh is not manifold: {} shared by more than 2 triangles, the first by {triangles} from {} to {}; delete the inner or \
         dangling faces there",
        counted(*.edges, "edge is", "edges are"), Millimeters(.ends[0]), Millimeters(.ends[1])
    )]
    NonManifold {
        /// Number of such edges.
        edges: usize,
        /// Number of triangles at the first.
        triangles: usize,
        /// Its ends, in m.
        ends: [DVec3; 2],
    },
    /// The surface is not orientable, such as a Möbius strip.
    #[error(
        "the mesh is not orientable, like a Möbius strip: no orientation is consistent across the edge from {} to {}",
        Millimeters(.ends[0]), Millimeters(.ends[1])
    )]
    NonOrientable {
        /// Ends of an edge across which the orientation is inconsistent, in m.
        ends: [DVec3; 2],
    },
    /// The surface intersects itself.
    #[error(
        "the mesh intersects itself: {}, the first near {}; unite the parts in a modeling program",
        counted(.0.pairs, "pair of triangles intersects", "pairs of triangles intersect"), Millimeters(.0.near)
    )]
    SelfIntersection(Intersections),
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A point for messages, in mm, rounded to a micrometer.
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
