//! Repair of triangle meshes, so that they have a signed distance.
//!
//! The steps, each applied to the result of the one before:
//!
//! 1. vertices closer than [`WELD_TOLERANCE`] of the mesh's diagonal are merged; degenerate and
//!    duplicate triangles are removed;
//! 2. triangles are flipped to match their neighbors; where more than two meet at an edge, surfaces
//!    that only touch there are separated, by duplicating its ends or, if that is not enough, by
//!    inserting separate midpoints;
//! 3. holes of up to `MAX_HOLE_EDGES` edges are closed, if together they add at most
//!    `MAX_FILLED_SHARE` to the area;
//! 4. vertices where surfaces touch are duplicated;
//! 5. slivers, triangles lower than the tolerance of step 1, are removed by flipping their longest
//!    edge;
//! 6. components are oriented outwards; cavities, which are oriented against the component around
//!    them, are kept;
//! 7. self-intersections are searched for; they are errors.
//!
//! Texture coordinates are updated by every step. The result is a set of closed orientable
//! surfaces: each edge has two triangles, each vertex one fan of them, the volume is positive, and
//! a point is inside if its winding number is 1. Anything else is a [`MeshDefect`] that says what
//! is wrong and where.
//!
//! Limits: surfaces that overlap in one plane without passing through it are not detected, nor is a
//! sheet that folds back on itself across one edge. Intersecting surfaces are not united: that is
//! left to modeling programs.
//!
//! ```
//! use sessile_geometry::{TriMesh, repair};
//! # use glam::DVec3;
//!
//! // An inverted tetrahedron.
//! let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
//! let mesh = TriMesh { positions, triangles: vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], corner_uvs: vec![] };
//! let (mesh, report) = repair::repair(mesh)?;
//! assert_eq!(report.to_string(), "oriented 1 component outwards");
//! assert!(mesh.volume() > 0.0);
//! # Ok::<(), repair::MeshDefect>(())
//! ```

mod containment;
mod degenerate;
mod holes;
mod linear_bvh;
mod orient;
mod report;
mod self_intersection;
mod slivers;
mod weld;

use glam::DVec3;

pub use report::{FilledHole, Intersections, MeshDefect, RepairReport};

use self::linear_bvh::LinearBvh;
use crate::TriMesh;
use crate::bvh::Bounds;
use crate::connectivity::{Connectivity, NotManifold};

/// Vertices closer than this fraction of the mesh's diagonal are merged. Files in single precision
/// round to a tenth of it; the finest meshes have edges a hundred times longer.
pub const WELD_TOLERANCE: f64 = 1e-6;

/// Most edges of a hole that is closed.
const MAX_HOLE_EDGES: usize = 64;

/// Largest increase of the mesh's area by closing holes, as a fraction of it.
const MAX_FILLED_SHARE: f64 = 0.05;

/// Largest coordinate, in m: volumes of this size are finite and leave nine exact digits for a
/// cubic kilometer.
const MAX_COORDINATE: f64 = 1e12;

/// Whether a mesh must enclose a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closure {
    /// It must: holes are closed or are errors, and components are oriented outwards.
    Required,
    /// It may be a sheet, such as a mask. Holes are kept, open components keep the orientation of
    /// the majority of their triangles, and self-intersections are not searched for.
    Optional,
}

/// Repairs a mesh that must enclose a volume.
pub fn repair(mesh: TriMesh) -> Result<(TriMesh, RepairReport), MeshDefect> {
    repair_with(mesh, Closure::Required)
}

/// Repairs a mesh that may be a sheet.
pub fn repair_with(mut mesh: TriMesh, closure: Closure) -> Result<(TriMesh, RepairReport), MeshDefect> {
    let mut report = RepairReport::default();
    check(&mesh)?;
    let num_vertices = mesh.positions.len();
    degenerate::drop_unused_vertices(&mut mesh);
    report.unused_vertices = num_vertices - mesh.positions.len();
    let num_triangles = mesh.triangles.len();
    let tolerance = WELD_TOLERANCE * Bounds::of(mesh.positions.iter().copied()).extent().length();
    if tolerance == 0.0 {
        return Err(MeshDefect::NoArea { triangles: num_triangles });
    }
    (report.welded_vertices, report.collapsed_triangles) = degenerate::weld_vertices(&mut mesh, tolerance);
    report.duplicate_triangles = degenerate::drop_duplicates(&mut mesh);
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::NoArea { triangles: num_triangles });
    }
    let oriented = orient::orient(&mut mesh)?;
    report.flipped_triangles = oriented.flipped_triangles;
    report.split_edges = oriented.split_edges;
    let connectivity = connect(&mesh)?;
    if closure == Closure::Required {
        report.filled_holes = holes::fill(&mut mesh, &connectivity)?;
    }
    let connectivity = if report.filled_holes.is_empty() { connectivity } else { connect(&mesh)? };
    report.split_vertices = oriented.split_vertices + orient::split_fans(&mut mesh, &connectivity);
    (report.flipped_slivers, report.kept_slivers) =
        slivers::remove(&mut mesh, tolerance).map_err(|error| not_manifold(&mesh, error))?;
    let connectivity = connect(&mesh)?;
    match closure {
        Closure::Required => enclose(&mut mesh, &connectivity, &mut report)?,
        Closure::Optional => report.inverted_components = orient_closed_components(&mut mesh, &connectivity),
    }
    degenerate::drop_unused_vertices(&mut mesh);
    Ok((mesh, report))
}

/// Checks that coordinates and indices are in range.
fn check(mesh: &TriMesh) -> Result<(), MeshDefect> {
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::Empty { vertices: mesh.positions.len() });
    }
    let is_out_of_range = |p: &DVec3| !p.is_finite() || p.abs().max_element() > MAX_COORDINATE;
    if let Some(vertex) = mesh.positions.iter().position(is_out_of_range) {
        return Err(MeshDefect::BadPosition { vertex, position: mesh.positions[vertex], limit: MAX_COORDINATE });
    }
    let vertices = mesh.positions.len();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&index| index as usize >= vertices) {
            return Err(MeshDefect::BadIndex { triangle, index, vertices });
        }
    }
    let (found, triangles) = (mesh.corner_uvs.len(), mesh.triangles.len());
    if found != 0 && found != triangles {
        return Err(MeshDefect::BadTexture { found, triangles });
    }
    Ok(())
}

fn connect(mesh: &TriMesh) -> Result<Connectivity, MeshDefect> {
    Connectivity::new(&mesh.triangles).map_err(|error| not_manifold(mesh, error))
}

/// The triangles of a mesh that intersect each other, if any do.
pub fn self_intersections(mesh: &TriMesh) -> Option<Intersections> {
    let boxes: Vec<Bounds> = (0..mesh.triangles.len()).map(|t| Bounds::of(mesh.corners(t))).collect();
    self_intersection::find(mesh, &LinearBvh::new(&boxes), &boxes)
}

fn not_manifold(mesh: &TriMesh, error: NotManifold) -> MeshDefect {
    let ends = error.edge.map(|v| mesh.positions[v as usize]);
    MeshDefect::NonManifold { edges: 1, triangles: error.triangles, ends }
}

/// Searches a closed mesh for self-intersections and orients its components outwards.
fn enclose(mesh: &mut TriMesh, connectivity: &Connectivity, report: &mut RepairReport) -> Result<(), MeshDefect> {
    let boxes: Vec<Bounds> = (0..mesh.triangles.len()).map(|t| Bounds::of(mesh.corners(t))).collect();
    let bvh = LinearBvh::new(&boxes);
    if let Some(found) = self_intersection::find(mesh, &bvh, &boxes) {
        return Err(MeshDefect::SelfIntersection(found));
    }
    let components = connectivity.components();
    let oriented = containment::orient_outwards(mesh, &components, &bvh);
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::NoVolume { components: components.count });
    }
    report.flat_components = oriented.flat_components;
    report.inverted_components = oriented.inverted_components;
    report.buried_components = oriented.buried_components;
    Ok(())
}

/// Orients the closed components of a mesh that may be open; returns how many were inverted.
fn orient_closed_components(mesh: &mut TriMesh, connectivity: &Connectivity) -> usize {
    let components = connectivity.components();
    let mut is_closed = vec![true; components.count];
    for half_edge in connectivity.boundary() {
        is_closed[components.of_triangle[half_edge.triangle()] as usize] = false;
    }
    let volumes = containment::volumes(mesh, &components);
    let is_inverted = |component: u32| is_closed[component as usize] && volumes[component as usize] < 0.0;
    for (triangle, &component) in components.of_triangle.iter().enumerate() {
        if is_inverted(component) {
            degenerate::flip(mesh, triangle);
        }
    }
    (0..components.count as u32).filter(|&component| is_inverted(component)).count()
}
