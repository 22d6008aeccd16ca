//! Surface extraction: closed triangles around the liquid, with a sharp contact line and the wetted
//! area on the solids.
//!
//! The liquid is where φ < 0 (continued smoothly into the solids) and s > 0 (outside the solids).
//! Both are known at cell centers. Space is divided into tetrahedra between these
//! (`kuhn_triangulation`), in each φ and s are linear, and the liquid in it is convex: bounded by a
//! polygon of φ = 0, the *interface*, one of s = 0, the *wetted* side, and the segment of the
//! contact line between them. All vertices lie on edges and faces of tetrahedra, where neighbors
//! agree by construction: the surface is a closed manifold for any φ and s, noise included.
//!
//! Then each vertex is projected: interface vertices to φ = 0 by Newton's method on a smooth φ,
//! wetted ones to the nearest point of the solid, those of the contact line to both. Short edges
//! are collapsed, which removes slivers and preserves the contact line. Last, the interface is
//! moved out by the chord error of flat triangles (`chord_error`), and within a twentieth of a cell
//! to where each drop's surface encloses its volume (`volume_compensation`).
//!
//! In planar runs the surface is a slab between z = 0 and z = h with flat ends. A drop across a
//! periodic side is cut there, as by a wall.
//!
//! # Accuracy
//!
//! On caps of exact spheres with R = 10 h on planes of any orientation, 30° to 150° (tests):
//! contact angle within 0.2°, volume within 0.1 %, base radius within 0.4 %, height within 0.3 %,
//! or a hundredth of a cell. So the errors of a frame's measures come from φ. A film or a gap
//! thinner than a cell appears where it happens to cross an edge of a tetrahedron. Where two solids
//! meet, the corner is cut off on the scale of a cell before vertices are projected.
//!
//! # Labels
//!
//! Vertices have the label of the drop whose cells they enclose. Components without a labeled cell
//! are left out and counted. Two drops that are connected below the lowest labeled cells, in cells
//! whose centers lie in a solid, get the label with more triangles, and
//! [`ExtractedSurface::joined`] lists them. Before a frame, [`joined_drops`] finds them, and they
//! are united.

mod chord_error;
mod edge_collapse;
mod kuhn_triangulation;
mod marching_tetrahedra;
mod sides;
mod volume_compensation;

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Surface;
use sessile_geometry::Closest;
use sessile_numerics::UnionFind;

use self::chord_error::compensate_chord_error;
use self::edge_collapse::TaggedMesh;
use self::kuhn_triangulation::{MAX_EXTENT, TileTriangles, Vertex, triangulate_tiles};
use self::sides::{Sides, project_to_sides, sides_of_vertices};
use self::volume_compensation::compensate_volume;
use crate::tiles::{CellIndex, SIDE, Tiles};

/// Edges shorter than this fraction of a cell are collapsed.
const MIN_EDGE: f64 = 0.45;
/// Edges shorter than this fraction of a cell are collapsed before vertices are projected.
const SLIVER_EDGE: f64 = 0.25;
/// Largest displacement of a vertex by the projection, in cells; where fields are smooth it is a
/// few hundredths.
const MAX_DISPLACEMENT: f64 = 0.5;
/// Newton steps.
const NEWTON_STEPS: usize = 3;

/// The nearest wall.
#[derive(Clone, Copy, Debug)]
pub struct NearestWall {
    /// Number of the wall; walls with different numbers are kept apart.
    pub surface: u32,
    /// Value of [`Surface::solids`] for triangles on it: the solid's index, or −1 for a side of the
    /// domain.
    pub solid: i32,
    /// The nearest point.
    pub closest: Closest,
}

/// What the extraction reads. Cells are given by their index, points in m.
pub trait ExtractionFields: Sync {
    /// φ at a cell's center, in any unit: only signs and ratios along edges matter.
    fn phi(&self, cell: CellIndex) -> f64;
    /// Signed distance of the solids at a cell's center, positive outside, in cells.
    fn solid(&self, cell: CellIndex) -> f64;
    /// The drop that a cell belongs to; 0 for none.
    fn label(&self, cell: CellIndex) -> u32;
    /// Volume of a drop, in m³, in planar runs of a slab one cell thick; `None` if it is not known.
    fn volume(&self, drop: u32) -> Option<f64>;
    /// φ at a point near the surface, in m, and its gradient.
    fn phi_at(&self, point: DVec3) -> (f64, DVec3);
    /// The nearest solid; `None` if there is none.
    fn wall_at(&self, point: DVec3) -> Option<NearestWall>;
    /// The nearest solid, without sides of the domain; `None` if there is none.
    fn solid_at(&self, point: DVec3) -> Option<Closest> {
        self.wall_at(point).map(|wall| wall.closest)
    }
    /// The plane of the wall with this number if it is a side of the domain: the normal into the
    /// domain, and the position along it in m.
    fn side_plane(&self, _surface: u32) -> Option<(DVec3, f64)> {
        None
    }
    /// The liquid's velocity at a point of the surface, in m/s.
    fn velocity_at(&self, point: DVec3) -> DVec3;
}

/// Position of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridPlacement {
    /// Low corner of cell (0, 0, 0), in m.
    pub origin: DVec3,
    /// Side of a cell, in m.
    pub h: f64,
}

/// The extracted surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtractedSurface {
    /// The surface.
    pub surface: Surface,
    /// (id, into): drops that are shown as part of another one, by ascending id.
    pub joined: Vec<(u32, u32)>,
    /// Components without a label that were left out.
    pub unlabeled: usize,
}

/// Active tiles span more cells than vertex keys can distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "active cells span {cells} cells along an axis, at most {max} can be shown: give the scene a domain, so that liquid that leaves it is removed"
)]
pub struct ExtentError {
    /// Largest extent along an axis.
    pub cells: i64,
    /// Largest extent that can be extracted.
    pub max: i64,
}

/// Whether the surface of liquid on these tiles can be extracted.
pub fn check_extent(tiles: &Tiles) -> Result<(), ExtentError> {
    lowest_cell(tiles).map(|_| ())
}

/// Extracts the surface of the liquid.
pub fn extract_surface(
    tiles: &Tiles,
    placement: GridPlacement,
    liquid: &impl ExtractionFields,
) -> Result<ExtractedSurface, ExtentError> {
    if tiles.is_empty() {
        return Ok(ExtractedSurface::default());
    }
    let low = lowest_cell(tiles)?;
    let parts = triangulate_tiles(tiles, liquid, low);
    let (mut mesh, labels) = weld(&parts);
    let mut extracted = ExtractedSurface::default();
    let keep = label_components(&mut mesh, &labels, &mut extracted);
    let corner = placement.origin + placement.h * DVec3::from(low.map(f64::from));
    mesh.positions.par_iter_mut().for_each(|position| *position = corner + placement.h * *position);
    if extracted.unlabeled > 0 {
        mesh.retain(&keep);
    }
    let mut solids = BTreeMap::new();
    assign_solids(&mut mesh, liquid, &mut solids);
    // First the slivers, which are smaller than the displacements to come and would be inverted by
    // them.
    mesh.collapse_short_edges(SLIVER_EDGE * placement.h);
    project_vertices(&mut mesh, placement.h, tiles.topology().planar, liquid);
    mesh.collapse_short_edges(MIN_EDGE * placement.h);
    let kinds = kinds(&mesh);
    compensate_chord_error(&mut mesh, &kinds, placement.h, tiles.topology().planar, liquid);
    compensate_volume(&mut mesh, &kinds, &extracted.joined, placement.h, tiles.topology().planar, liquid);
    project_to_sides(&mut mesh, placement.h, liquid);
    extracted.surface = Surface {
        velocities: mesh.positions.par_iter().map(|&p| liquid.velocity_at(p)).collect(),
        positions: mesh.positions,
        drops: mesh.owners,
        triangles: mesh.triangles,
        solids: mesh.tags.iter().map(|tag| tag.solid(&solids)).collect(),
    };
    Ok(extracted)
}

/// (id, into): drops that the surface of the liquid would show as part of another one, by ascending
/// id.
pub fn joined_drops(tiles: &Tiles, liquid: &impl ExtractionFields) -> Result<Vec<(u32, u32)>, ExtentError> {
    if tiles.is_empty() {
        return Ok(Vec::new());
    }
    let low = lowest_cell(tiles)?;
    let (mut mesh, labels) = weld(&triangulate_tiles(tiles, liquid, low));
    let mut extracted = ExtractedSurface::default();
    label_components(&mut mesh, &labels, &mut extracted);
    Ok(extracted.joined)
}

/// What a triangle lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SurfaceTag {
    /// The liquid–air interface.
    Interface,
    /// The flat end of a planar slab.
    SlabEnd,
    /// A wall that is not known yet.
    UnassignedWall,
    /// The wall with this number.
    Wall(u32),
}

impl SurfaceTag {
    /// Whether it lies on no known wall.
    fn is_free(self) -> bool {
        !matches!(self, Self::Wall(_))
    }

    /// Value of [`Surface::solids`]: the solid's index, −1 on none.
    fn solid(self, solids: &BTreeMap<u32, i32>) -> i32 {
        let solid = if let Self::Wall(wall) = self { solids.get(&wall).copied() } else { None };
        solid.unwrap_or(-1)
    }
}

/// Where a vertex lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VertexKind {
    /// On the interface.
    Interface,
    /// On a solid.
    Wall,
    /// On the contact line.
    ContactLine,
    /// Inside the flat end of a planar slab.
    SlabEnd,
}

/// The lowest cell of the active tiles.
fn lowest_cell(tiles: &Tiles) -> Result<[i32; 3], ExtentError> {
    if tiles.is_empty() {
        return Ok([0; 3]);
    }
    let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
    for tile in tiles.coords() {
        for axis in 0..3 {
            low[axis] = low[axis].min(tile[axis]);
            high[axis] = high[axis].max(tile[axis]);
        }
    }
    let cells = (0..3).map(|axis| (i64::from(high[axis]) - i64::from(low[axis]) + 1) * SIDE as i64).max().unwrap_or(0);
    // A cube may extend one cell beyond either side.
    if cells + 2 > MAX_EXTENT {
        return Err(ExtentError { cells, max: MAX_EXTENT - 2 });
    }
    Ok(low.map(|c| c * SIDE as i32))
}

/// Joins all parts to one mesh; with the label of each triangle.
fn weld(parts: &[TileTriangles]) -> (TaggedMesh, Vec<u32>) {
    let mut vertices: Vec<Vertex> = parts.iter().flat_map(|part| part.vertices.iter().copied()).collect();
    vertices.par_sort_unstable_by_key(|vertex| vertex.key);
    vertices.dedup_by_key(|vertex| vertex.key);
    let index = |key: u64| {
        let found = vertices.binary_search_by_key(&key, |vertex| vertex.key);
        found.expect("every corner of a triangle is a vertex") as u32
    };
    let triangles: Vec<&([u64; 3], SurfaceTag)> = parts.iter().flat_map(|part| &part.triangles).collect();
    let mesh = TaggedMesh {
        positions: vertices.iter().map(|vertex| vertex.position).collect(),
        triangles: triangles.par_iter().map(|(keys, _)| keys.map(index)).collect(),
        tags: triangles.iter().map(|&&(_, tag)| tag).collect(),
        owners: vec![0; vertices.len()],
    };
    let labels = parts.iter().flat_map(|part| part.labels.iter().copied()).collect();
    (mesh, labels)
}

/// Gives each connected component the label that most of its triangles have; returns which vertices
/// have one.
fn label_components(mesh: &mut TaggedMesh, labels: &[u32], extracted: &mut ExtractedSurface) -> Vec<bool> {
    let mut sets = UnionFind::new(mesh.positions.len());
    for &[a, b, c] in &mesh.triangles {
        sets.union(a, b);
        sets.union(a, c);
    }
    let mut votes: Vec<(u32, u32)> = Vec::new();
    for (triangle, &label) in mesh.triangles.iter().zip(labels).filter(|&(_, &label)| label != 0) {
        votes.push((sets.find(triangle[0]), label));
    }
    votes.par_sort_unstable();
    let mut chosen = vec![0; sets.len()];
    for of_component in votes.chunk_by(|a, b| a.0 == b.0) {
        let counts = || of_component.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0].1));
        // The first of the largest: the smallest label.
        let winner = counts().fold((0, 0), |best, run| if run.0 > best.0 { run } else { best }).1;
        chosen[of_component[0].0 as usize] = winner;
        extracted.joined.extend(counts().map(|(_, label)| (label, winner)).filter(|&(label, winner)| label != winner));
    }
    extracted.joined.sort_unstable();
    for v in 0..mesh.owners.len() {
        let root = sets.find(v as u32);
        mesh.owners[v] = chosen[root as usize];
        extracted.unlabeled += usize::from(root == v as u32 && mesh.owners[v] == 0);
    }
    mesh.owners.iter().map(|&label| label != 0).collect()
}

/// What lies around each vertex.
fn kinds(mesh: &TaggedMesh) -> Vec<VertexKind> {
    let mut kinds = vec![None; mesh.positions.len()];
    for (triangle, &tag) in mesh.triangles.iter().zip(&mesh.tags) {
        let here = match tag {
            SurfaceTag::Interface => VertexKind::Interface,
            SurfaceTag::SlabEnd => VertexKind::SlabEnd,
            _ => VertexKind::Wall,
        };
        for &v in triangle {
            let kind = &mut kinds[v as usize];
            *kind = Some(match (*kind, here) {
                // The rim of an end belongs to what bounds it.
                (None | Some(VertexKind::SlabEnd), other) | (Some(other), VertexKind::SlabEnd) => other,
                (Some(known), new) if known == new => known,
                _ => VertexKind::ContactLine,
            });
        }
    }
    kinds.into_iter().map(|kind| kind.unwrap_or(VertexKind::SlabEnd)).collect()
}

/// Projects all vertices to the surfaces that they represent.
fn project_vertices(mesh: &mut TaggedMesh, h: f64, planar: bool, liquid: &impl ExtractionFields) {
    let (kinds, sides) = (kinds(mesh), sides_of_vertices(mesh, liquid));
    mesh.positions.par_iter_mut().zip(kinds.par_iter().zip(&sides)).for_each(|(position, (kind, sides))| {
        *position = if sides.is_empty() {
            project_vertex(*position, *kind, h, planar, liquid)
        } else {
            project_vertex_on_sides(*position, *kind, sides, h, planar, liquid)
        };
    });
}

/// Projects a vertex on sides of the domain to these, and to what else it lies on.
fn project_vertex_on_sides(
    from: DVec3,
    kind: VertexKind,
    sides: &Sides,
    h: f64,
    planar: bool,
    liquid: &impl ExtractionFields,
) -> DVec3 {
    let mut at = from;
    for _ in 0..NEWTON_STEPS {
        let before = at;
        at = sides.project(at, h, liquid);
        if kind == VertexKind::ContactLine {
            let (phi, gradient) = liquid.phi_at(at);
            let along = sides.tangent(at, gradient, liquid);
            let along = if planar { along.with_z(0.0) } else { along };
            if along.length_squared() > 0.01 {
                at -= phi / along.length_squared() * along;
            }
        }
        if !at.is_finite() {
            return before;
        }
        at = from + (at - from).clamp_length_max(MAX_DISPLACEMENT * h);
    }
    let end = sides.project(at, h, liquid);
    if planar { end.with_z(from.z) } else { end }
}

/// Projects a vertex to the surface that it represents.
fn project_vertex(from: DVec3, kind: VertexKind, h: f64, planar: bool, liquid: &impl ExtractionFields) -> DVec3 {
    // A slab's surface is parallel to z.
    let flat = |v: DVec3| if planar { DVec3::new(v.x, v.y, 0.0) } else { v };
    let mut at = from;
    for _ in 0..NEWTON_STEPS {
        let before = at;
        let mut normal = None;
        if matches!(kind, VertexKind::Wall | VertexKind::ContactLine)
            && let Some(wall) = liquid.wall_at(at)
        {
            at += flat(wall.closest.point - at);
            normal = Some(flat(wall.closest.normal));
        }
        if matches!(kind, VertexKind::Interface | VertexKind::ContactLine) {
            let (phi, gradient) = liquid.phi_at(at);
            let along = flat(gradient) - normal.map_or(DVec3::ZERO, |n| flat(gradient).dot(n) * n);
            // With a slope this small along the solid the interface lies on it, and φ = 0 cannot be
            // reached.
            if along.length_squared() > 0.01 {
                at -= phi / along.length_squared() * along;
            }
        }
        if !at.is_finite() {
            return before;
        }
        at = from + (at - from).clamp_length_max(MAX_DISPLACEMENT * h);
    }
    match (kind, liquid.wall_at(at)) {
        // The contact line lies on the solid, and no interface vertex may lie inside it.
        (VertexKind::ContactLine, Some(wall)) => at + flat(wall.closest.point - at),
        (VertexKind::Interface, Some(wall)) if wall.closest.distance < 0.0 => at + flat(wall.closest.point - at),
        _ => at,
    }
}

/// Assigns the triangles on solids to their solids.
fn assign_solids(mesh: &mut TaggedMesh, liquid: &impl ExtractionFields, solids: &mut BTreeMap<u32, i32>) {
    let (positions, triangles) = (&mesh.positions, &mesh.triangles);
    let walls: Vec<Option<(u32, i32)>> = mesh
        .tags
        .par_iter()
        .zip(triangles)
        .map(|(&tag, triangle)| {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let wall = (tag == SurfaceTag::UnassignedWall).then(|| liquid.wall_at((a + b + c) / 3.0))?;
            wall.map(|wall| (wall.surface, wall.solid))
        })
        .collect();
    for (tag, wall) in mesh.tags.iter_mut().zip(walls) {
        if let Some((surface, solid)) = wall {
            *tag = SurfaceTag::Wall(surface);
            solids.insert(surface, solid);
        }
    }
}

#[cfg(test)]
mod tests;
