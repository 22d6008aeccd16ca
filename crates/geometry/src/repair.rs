//! Making a mesh fit for signed distances, or saying why it is not.
//!
//! In this order, each step on what the one before left:
//!
//! 1. vertices closer than [`WELD_TOLERANCE`] of the mesh's diagonal are merged, triangles that collapse or repeat are dropped;
//! 2. triangles are turned to wind like their neighbors; where more than two meet in an edge, surfaces that only touch there are
//!    taken apart, by doubling its ends or, if that is not enough, by midpoints of their own;
//! 3. holes of up to [`MAX_HOLE_EDGES`] edges are closed, if together they add no more than [`MAX_FILLED_SHARE`] to the area;
//! 4. vertices where surfaces touch are taken apart;
//! 5. triangles lower than the tolerance of step 1 are removed by turning their longest edge;
//! 6. components are turned outwards; cavities, which wind against the component round them, stay;
//! 7. triangles that cross are searched for, and refused.
//!
//! Texture coordinates follow every step. What remains is a set of closed orientable surfaces: each edge has two triangles, each vertex one fan of
//! them, the volume is positive, and a point is inside if the surfaces wind round it once. Anything else is refused with a
//! [`MeshDefect`] that says what and where.
//!
//! Limits: surfaces that overlap in one plane without passing through it are not noticed, nor is a sheet that folds back on
//! itself across one edge. Crossing surfaces are not united: that needs a modeling program.
//!
//! ```
//! use sessile_geometry::{TriMesh, repair};
//! # use glam::DVec3;
//!
//! // A tetrahedron turned inside out.
//! let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
//! let mesh = TriMesh { positions, triangles: vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], corner_uvs: vec![] };
//! let (mesh, report) = repair::repair(mesh)?;
//! assert_eq!(report.to_string(), "turned 1 component outwards");
//! assert!(mesh.volume() > 0.0);
//! # Ok::<(), repair::MeshDefect>(())
//! ```

mod clean;
mod crossing;
mod holes;
mod nesting;
mod orient;
mod pyramid;
mod report;
mod slivers;
mod weld;

use glam::DVec3;

pub use report::{Crossings, FilledHole, MeshDefect, RepairReport};

use self::pyramid::Pyramid;
use crate::TriMesh;
use crate::bvh::Bounds;
use crate::connectivity::{Connectivity, NotManifold};

/// Vertices closer than this share of the mesh's diagonal are one. Single-precision files round to a tenth of it; the finest
/// meshes have edges a hundred times longer.
pub const WELD_TOLERANCE: f64 = 1e-6;

/// Most edges round a hole that is closed.
pub const MAX_HOLE_EDGES: usize = 64;

/// Most that closing holes may add to the mesh's area, as a share of it.
pub const MAX_FILLED_SHARE: f64 = 0.05;

/// Largest coordinate, in m: its third power, a volume, is still exact to nine digits next to one cubic kilometer, and finite by far.
const MAX_COORDINATE: f64 = 1e12;

/// Whether a mesh must enclose a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Openness {
    /// It must: holes are closed or refused, and the outside is out.
    #[default]
    Refused,
    /// It may be a sheet, such as a mask. Holes stay, open components keep the winding that most of their triangles have, and crossings are
    /// not searched for.
    Allowed,
}

/// What to do about surfaces that cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossingPolicy {
    /// Refuse the mesh.
    #[default]
    Refuse,
    /// Keep it, and report them. Only a distance whose sign comes from winding numbers is right for such a mesh, and only outside.
    Accept,
}

/// How to repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Whether the mesh may stay open.
    pub openness: Openness,
    /// What to do about surfaces that cross.
    pub crossings: CrossingPolicy,
}

/// Repairs a mesh that must enclose a volume.
pub fn repair(mesh: TriMesh) -> Result<(TriMesh, RepairReport), MeshDefect> {
    repair_with(mesh, RepairOptions::default())
}

/// Repairs a mesh.
pub fn repair_with(mut mesh: TriMesh, options: RepairOptions) -> Result<(TriMesh, RepairReport), MeshDefect> {
    let mut report = RepairReport::default();
    check(&mesh)?;
    let num_vertices = mesh.positions.len();
    clean::drop_unused_vertices(&mut mesh);
    report.unused_vertices = num_vertices - mesh.positions.len();
    let num_triangles = mesh.triangles.len();
    let tolerance = WELD_TOLERANCE * Bounds::of(mesh.positions.iter().copied()).extent().length();
    if tolerance == 0.0 {
        return Err(MeshDefect::NoArea { triangles: num_triangles });
    }
    (report.welded_vertices, report.collapsed_triangles) = clean::weld_vertices(&mut mesh, tolerance);
    report.duplicate_triangles = clean::drop_duplicates(&mut mesh);
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::NoArea { triangles: num_triangles });
    }
    let oriented = orient::orient(&mut mesh)?;
    report.turned_triangles = oriented.turned_triangles;
    report.split_edges = oriented.split_edges;
    let connectivity = connect(&mesh)?;
    if options.openness == Openness::Refused {
        report.filled_holes = holes::fill(&mut mesh, &connectivity)?;
    }
    let connectivity = if report.filled_holes.is_empty() { connectivity } else { connect(&mesh)? };
    report.split_vertices = oriented.split_vertices + orient::split_fans(&mut mesh, &connectivity);
    (report.turned_slivers, report.kept_slivers) =
        slivers::remove(&mut mesh, tolerance).map_err(|error| not_manifold(&mesh, error))?;
    let connectivity = connect(&mesh)?;
    match options.openness {
        Openness::Refused => enclose(&mut mesh, &connectivity, options.crossings, &mut report)?,
        Openness::Allowed => report.turned_components = turn_closed_parts(&mut mesh, &connectivity),
    }
    clean::drop_unused_vertices(&mut mesh);
    Ok((mesh, report))
}

/// Refuses numbers that no step could work with.
fn check(mesh: &TriMesh) -> Result<(), MeshDefect> {
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::Empty { vertices: mesh.positions.len() });
    }
    let is_absurd = |p: &DVec3| !p.is_finite() || p.abs().max_element() > MAX_COORDINATE;
    if let Some(vertex) = mesh.positions.iter().position(is_absurd) {
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

fn not_manifold(mesh: &TriMesh, error: NotManifold) -> MeshDefect {
    let ends = error.edge.map(|v| mesh.positions[v as usize]);
    MeshDefect::NonManifold { edges: 1, triangles: error.triangles, ends }
}

/// Looks for crossings and turns components outwards; the mesh is closed.
fn enclose(
    mesh: &mut TriMesh,
    connectivity: &Connectivity,
    crossings: CrossingPolicy,
    report: &mut RepairReport,
) -> Result<(), MeshDefect> {
    let boxes: Vec<Bounds> = (0..mesh.triangles.len()).map(|t| Bounds::of(mesh.corners(t))).collect();
    let pyramid = Pyramid::new(&boxes);
    report.crossings = crossing::find(mesh, &pyramid, &boxes);
    if let (Some(found), CrossingPolicy::Refuse) = (report.crossings, crossings) {
        return Err(MeshDefect::SelfCrossing(found));
    }
    let components = connectivity.components();
    let turned = nesting::turn_outwards(mesh, &components, &pyramid, report.crossings.is_some());
    if mesh.triangles.is_empty() {
        return Err(MeshDefect::NoVolume { components: components.count });
    }
    report.flat_components = turned.flat_components;
    report.turned_components = turned.turned_components;
    report.buried_components = turned.buried_components;
    Ok(())
}

/// Turns the closed components of a mesh that may be open, and returns how many were inside out.
fn turn_closed_parts(mesh: &mut TriMesh, connectivity: &Connectivity) -> usize {
    let components = connectivity.components();
    let mut is_closed = vec![true; components.count];
    for side in connectivity.boundary() {
        is_closed[components.of_triangle[side.triangle()] as usize] = false;
    }
    let volumes = nesting::volumes(mesh, &components);
    let is_inside_out = |component: u32| is_closed[component as usize] && volumes[component as usize] < 0.0;
    for (triangle, &component) in components.of_triangle.iter().enumerate() {
        if is_inside_out(component) {
            clean::turn(mesh, triangle);
        }
    }
    (0..components.count as u32).filter(|&component| is_inside_out(component)).count()
}
