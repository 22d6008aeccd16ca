//! Surface extraction: the surface of a liquid outside the solids from a field on a grid.
//!
//! The extraction is closed and manifold for any field (see [`sessile_geometry::isosurface`]). On a
//! plane the grid is aligned with it, and the contact line stays sharp. On other solids vertices
//! near the solid are snapped onto it, so the line is rough by a fraction of a cell until the
//! liquid smooths it.

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sessile_geometry::isosurface::{Grid, extract};
use sessile_numerics::math;

use super::sdf_body::{InteriorMask, SdfBody};
use crate::mesh::{Interface, Mesh};
use crate::substrate::{Outlet, OutletIndex, SolidIndex, Substrate};

/// Cell size over the target edge length.
pub const CELL: f64 = 0.7;
/// Distance from a solid within which vertices are snapped onto it, in cells.
const SNAP: f64 = 0.3;
/// Length below which edges of the extracted surface are collapsed, in cells.
const MIN_EDGE: f64 = 0.5;
/// Nodes along each side of a block that is tested as a whole.
const BLOCK: usize = 4;
/// Most nodes of a grid; beyond, cells grow.
const MAX_NODES: f64 = 6e5;

/// The region of the liquid, extended into the solids.
#[derive(Clone, Copy)]
pub enum LiquidField<'a> {
    /// Where a signed distance, in m, is negative.
    Field(&'a (dyn Fn(DVec3) -> f64 + Sync)),
    /// Where a function is negative that is a distance, in m, only near its zero set.
    Region(&'a (dyn Fn(DVec3) -> f64 + Sync)),
    /// In bodies whose distances are joined by a smooth minimum.
    Bodies {
        /// The bodies.
        bodies: &'a [SdfBody],
        /// Width of the smooth minimum, in m.
        blend: f64,
    },
}

/// What to extract.
pub struct ExtractionRequest<'a> {
    /// The region of the liquid.
    pub liquid: LiquidField<'a>,
    /// Corners of a box around the liquid, in m.
    pub bounds: [DVec3; 2],
    /// Target edge length, in m.
    pub edge: f64,
    /// The solid that the grid is aligned with, if most of the contact is on one that is flat
    /// there.
    pub floor: Option<SolidIndex>,
}

/// Extracts the surface of the liquid outside the solids, with its contact; `None` if there is
/// none.
///
/// All components are in one mesh.
pub fn extract_liquid(request: &ExtractionRequest<'_>, substrate: &Substrate) -> Option<Mesh> {
    let frame = GridFrame::new(request, substrate);
    let obstacles = Obstacles::near(request, frame.cell, substrate);
    let values = sample_field(request.liquid, &frame, &obstacles);
    let mut surface = extract(&frame.grid, &values, request.floor.is_some());
    surface.collapse_short_edges(MIN_EDGE * frame.cell);
    let mut triangles = surface.mesh;
    triangles.positions.iter_mut().for_each(|p| *p = frame.to_world(*p));
    let mut mesh = Mesh::from_triangles(&triangles)?;
    if mesh.triangles.is_empty() {
        return None;
    }
    if let Some(floor) = request.floor {
        for (interface, on_floor) in mesh.interfaces.iter_mut().zip(&surface.on_floor) {
            if *on_floor {
                *interface = Interface::Solid(floor);
            }
        }
    }
    for &s in &obstacles.solids {
        snap_to_solid(&mut mesh, s, SNAP * frame.cell, substrate);
    }
    for index in OutletIndex::first(substrate.outlets.len()) {
        snap_to_outlet(&mut mesh, index, &substrate.outlets[index], SNAP * frame.cell);
    }
    Some(mesh)
}

/// The grid and its frame: z along the normal of the floor.
struct GridFrame {
    axes: DMat3,
    origin: DVec3,
    cell: f64,
    grid: Grid,
}

impl GridFrame {
    fn new(request: &ExtractionRequest<'_>, substrate: &Substrate) -> Self {
        let [low, high] = request.bounds;
        let (axes, origin) = match request.floor {
            Some(s) => {
                let near = substrate.solids()[s].closest(0.5 * (low + high));
                let x = near.normal.any_orthonormal_vector();
                (DMat3::from_cols(x, near.normal.cross(x), near.normal), near.point)
            }
            None => (DMat3::IDENTITY, DVec3::ZERO),
        };
        let corners =
            (0..8).map(|i| DVec3::new([low, high][i & 1].x, [low, high][i >> 1 & 1].y, [low, high][i >> 2 & 1].z));
        let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for corner in corners {
            let local = axes.transpose() * (corner - origin);
            (least, most) = (least.min(local), most.max(local));
        }
        let mut cell = CELL * request.edge;
        let count = ((most - least) / cell).element_product();
        if count > MAX_NODES {
            cell *= math::cbrt(count / MAX_NODES);
        }
        least -= 2.0 * cell;
        most += 2.0 * cell;
        if request.floor.is_some() {
            least.z = 0.0;
        }
        let size = ((most - least) / cell).ceil().max(DVec3::ONE).to_array().map(|n| n as usize + 1);
        Self { axes, origin, cell, grid: Grid { origin: least, cell: DVec3::splat(cell), size } }
    }

    fn to_world(&self, local: DVec3) -> DVec3 {
        self.origin + self.axes * local
    }
}

/// The solids other than the floor that come near the liquid, and the outlets.
struct Obstacles<'a> {
    substrate: &'a Substrate,
    solids: Vec<SolidIndex>,
}

impl<'a> Obstacles<'a> {
    fn near(request: &ExtractionRequest<'_>, cell: f64, substrate: &'a Substrate) -> Self {
        let [low, high] = request.bounds;
        let (center, reach) = (0.5 * (low + high), 0.5 * low.distance(high) + 3.0 * cell);
        let solids = substrate
            .solid_indices()
            .filter(|&s| Some(s) != request.floor)
            .filter(|&s| substrate.solids()[s].signed_distance(center) < reach)
            .collect();
        Self { substrate, solids }
    }

    /// Depth of a point inside a solid or behind an outlet, in m; negative outside.
    fn depth(&self, point: DVec3) -> f64 {
        let mut depth = f64::NEG_INFINITY;
        for &s in &self.solids {
            depth = depth.max(-self.substrate.solids()[s].signed_distance(point));
        }
        for outlet in &self.substrate.outlets {
            if let Some(behind) = depth_behind(outlet, point) {
                depth = depth.max(behind);
            }
        }
        depth
    }
}

/// Samples the field of the liquid outside the obstacles at every node.
fn sample_field(liquid: LiquidField<'_>, frame: &GridFrame, obstacles: &Obstacles<'_>) -> Vec<f64> {
    // The field of an outlet ends abruptly, so that it bounds no distance.
    let is_distance = obstacles.substrate.outlets.is_empty() && !matches!(liquid, LiquidField::Region(_));
    let reach = is_distance.then_some(0.5 * (BLOCK - 1) as f64 * 3f64.sqrt() * frame.cell + frame.cell);
    match liquid {
        LiquidField::Field(field) | LiquidField::Region(field) => {
            let at = |local: DVec3, _: [usize; 3], _: bool| {
                let point = frame.to_world(local);
                field(point).max(obstacles.depth(point))
            };
            sample_near_surface(&frame.grid, reach, &at)
        }
        LiquidField::Bodies { bodies, blend } => {
            let inside: Vec<InteriorMask> =
                bodies.par_iter().map(|body| body.inside(&frame.grid, frame.axes, frame.origin)).collect();
            let at = |local: DVec3, node: [usize; 3], for_block: bool| {
                let point = frame.to_world(local);
                let depth = obstacles.depth(point);
                if for_block && reach.is_some_and(|reach| depth > reach) {
                    return depth;
                }
                let mut distance = None;
                for (body, inside) in bodies.iter().zip(&inside) {
                    // Of a distant body the lower bound is sufficient.
                    let bound = body.min_distance(point);
                    if reach.is_some_and(|reach| bound > reach + blend) {
                        distance = Some(smooth_min(distance, bound, blend));
                        continue;
                    }
                    let own = body.distance(point);
                    // A surface passes through the block: its nodes lie on both sides.
                    if for_block && reach.is_none_or(|reach| own <= reach) {
                        return 0.0;
                    }
                    distance = Some(smooth_min(distance, if inside.contains(node) { -own } else { own }, blend));
                }
                distance.map_or(depth, |distance: f64| distance.max(depth))
            };
            sample_near_surface(&frame.grid, reach, &at)
        }
    }
}

/// Smooth minimum of the distance of earlier bodies, if there are any, and of another one: at most
/// the smaller one, and lower by up to k/4 where they agree.
fn smooth_min(earlier: Option<f64>, b: f64, k: f64) -> f64 {
    let Some(a) = earlier else { return b };
    if k == 0.0 {
        return a.min(b);
    }
    let near = (1.0 - (a - b).abs() / k).max(0.0);
    a.min(b) - 0.25 * k * near * near
}

/// Samples a field at every node: exact within a cell of its zero set, with the correct sign
/// elsewhere.
///
/// A distance changes by at most the distance between two points. In a block whose center is
/// farther than `reach` from the surface no node is within a cell of it, and the center's value
/// stands for all; about a tenth of a drop's box remains. Without a `reach` all nodes are sampled.
/// `field` is called with the position, the node, and whether it is for a block: then the position
/// is the block's center and the node its first one.
fn sample_near_surface(
    grid: &Grid,
    reach: Option<f64>,
    field: &(dyn Fn(DVec3, [usize; 3], bool) -> f64 + Sync),
) -> Vec<f64> {
    let [nx, ny, nz] = grid.size;
    let mut values = vec![0.0; grid.num_nodes()];
    values.par_chunks_mut(nx * ny * BLOCK).enumerate().for_each(|(slab, values)| {
        let z = [slab * BLOCK, ((slab + 1) * BLOCK).min(nz)];
        for y in (0..ny).step_by(BLOCK).map(|y| [y, (y + BLOCK).min(ny)]) {
            for x in (0..nx).step_by(BLOCK).map(|x| [x, (x + BLOCK).min(nx)]) {
                let ends = [0, 1].map(|end| grid.position([x[end] - end, y[end] - end, z[end] - end]));
                let center = field(0.5 * (ends[0] + ends[1]), [x[0], y[0], z[0]], true);
                let far = reach.is_some_and(|reach| center.abs() > reach);
                for k in z[0]..z[1] {
                    for j in y[0]..y[1] {
                        for i in x[0]..x[1] {
                            let node = [i, j, k];
                            let value = if far { center } else { field(grid.position(node), node, false) };
                            values[((k - z[0]) * ny + j) * nx + i] = value;
                        }
                    }
                }
            }
        }
    });
    values
}

/// Distance of a point behind an open outlet, in m, if it is near the outlet's axis.
fn depth_behind(outlet: &Outlet, point: DVec3) -> Option<f64> {
    let offset = point - outlet.at;
    let along = offset.dot(outlet.direction);
    let across = (offset - outlet.direction * along).length();
    (outlet.speed > 0.0 && along.abs() < 4.0 * outlet.radius && across < 1.5 * outlet.radius).then_some(-along)
}

/// Snaps free vertices near an outlet onto it and tags the triangles between them.
fn snap_to_outlet(mesh: &mut Mesh, index: OutletIndex, outlet: &Outlet, within: f64) {
    let is_near = |p: DVec3| depth_behind(outlet, p).is_some_and(|d| d.abs() < within);
    let snapped: Vec<bool> =
        mesh.vertex_indices().map(|v| mesh.interface_at(v) == Interface::Air && is_near(mesh.positions[v])).collect();
    for (p, _) in mesh.positions.iter_mut().zip(&snapped).filter(|(_, snapped)| **snapped) {
        *p -= outlet.direction * outlet.direction.dot(*p - outlet.at);
    }
    for t in mesh.triangle_indices() {
        let all = mesh.triangles[t].iter().all(|&v| snapped[v]);
        if all && mesh.interfaces[t] == Interface::Air && mesh.area_vector(t).dot(outlet.direction) < 0.0 {
            mesh.interfaces[t] = Interface::Outlet(index);
        }
    }
}

/// Snaps free vertices near a solid onto it and tags the triangles between them that face it.
fn snap_to_solid(mesh: &mut Mesh, s: SolidIndex, within: f64, substrate: &Substrate) {
    let solid = &substrate.solids()[s];
    let mut snapped = vec![false; mesh.positions.len()];
    for v in mesh.vertex_indices() {
        if mesh.interface_at(v) != Interface::Air {
            continue;
        }
        let near = solid.closest(mesh.positions[v]);
        if near.distance < within {
            mesh.positions[v] = near.point;
            snapped[v] = true;
        }
    }
    for t in mesh.triangle_indices() {
        if mesh.interfaces[t] == Interface::Air && mesh.triangles[t].iter().all(|&v| snapped[v]) {
            let center = mesh.corners(t).iter().sum::<DVec3>() / 3.0;
            if mesh.area_vector(t).dot(solid.normal(center)) < 0.0 {
                mesh.interfaces[t] = Interface::Solid(s);
            }
        }
    }
}
