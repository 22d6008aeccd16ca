//! The surface of a liquid outside the solids, made anew from a grid.
//!
//! The extraction is closed and manifold whatever the field (see [`sessile_geometry::isosurface`]). On a plane the grid stands on it, and the contact line is as
//! sharp as it was. On other solids vertices near the solid are put on it, so that the line is rough by a part of a cell until the liquid has smoothed it.

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sessile_geometry::isosurface::{Grid, extract};

use crate::body::{Body, Inside};
use crate::ground::{Ground, Mouth, mouth_tag};
use crate::mesh::{AIR, Mesh};

/// Cell of the grid over the edge length wanted.
pub const CELL: f64 = 0.7;
/// Vertices nearer to a solid than this, in cells, are put on it.
const SNAP: f64 = 0.3;
/// Edges of the extracted surface shorter than this, in cells, are collapsed.
const SHORTEST: f64 = 0.5;
/// Nodes along each side of a block that is looked at as a whole.
const BLOCK: usize = 4;
/// Most nodes of a grid; beyond, cells grow.
const MOST_NODES: f64 = 6e5;

/// Where liquid is, carried on into solids.
#[derive(Clone, Copy)]
pub enum Liquid<'a> {
    /// Where a distance is negative.
    Field(&'a (dyn Fn(DVec3) -> f64 + Sync)),
    /// In bodies whose distances are joined by a smooth minimum of this width, in m.
    Bodies {
        /// The bodies.
        bodies: &'a [Body],
        /// The width.
        blend: f64,
    },
}

/// What to extract.
pub struct Request<'a> {
    /// Where liquid is.
    pub liquid: Liquid<'a>,
    /// Corners of a box round the liquid, in m.
    pub bounds: [DVec3; 2],
    /// Edge length wanted, in m.
    pub edge: f64,
    /// The solid whose plane the grid stands on, if it touches one that is flat there; most of its contact.
    pub floor: Option<usize>,
}

/// The surface of a field outside the solids, with its contact: all parts in one mesh; `None` if there is nothing.
pub fn extract_liquid(request: &Request<'_>, world: &Ground) -> Option<Mesh> {
    let [low, high] = request.bounds;
    // The grid's axes: z out of the floor.
    let (axes, origin) = match request.floor {
        Some(s) => {
            let near = world.solids()[s].closest(0.5 * (low + high));
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
    if count > MOST_NODES {
        cell *= (count / MOST_NODES).cbrt();
    }
    least -= 2.0 * cell;
    most += 2.0 * cell;
    if request.floor.is_some() {
        least.z = 0.0;
    }
    let size = ((most - least) / cell).ceil().max(DVec3::ONE).to_array().map(|n| n as usize + 1);
    let grid = Grid { origin: least, cell: DVec3::splat(cell), size };
    let others: Vec<usize> = (0..world.solids().len()).filter(|&s| Some(s) != request.floor).collect();
    let others: Vec<usize> = others
        .into_iter()
        .filter(|&s| world.solids()[s].signed_distance(0.5 * (low + high)) < 0.5 * low.distance(high) + 3.0 * cell)
        .collect();
    // How far a point is inside a solid, or behind a mouth.
    let barred = |point: DVec3| {
        let mut field = f64::NEG_INFINITY;
        for &s in &others {
            field = field.max(-world.solids()[s].signed_distance(point));
        }
        for mouth in &world.mouths {
            if let Some(beyond) = behind(mouth, point) {
                field = field.max(beyond);
            }
        }
        field
    };
    // A tap's mouth ends abruptly: no distance from it can be relied on.
    let reach =
        if world.mouths.is_empty() { 0.5 * (BLOCK - 1) as f64 * 3f64.sqrt() * cell + cell } else { f64::INFINITY };
    let values = match request.liquid {
        Liquid::Field(field) => {
            let at = |local: DVec3, _: [usize; 3], _: bool| {
                let point = origin + axes * local;
                field(point).max(barred(point))
            };
            sample_near_surface(&grid, reach, &at)
        }
        Liquid::Bodies { bodies, blend } => {
            let inside: Vec<Inside> = bodies.par_iter().map(|body| body.inside(&grid, axes, origin)).collect();
            let at = |local: DVec3, node: [usize; 3], for_block: bool| {
                let point = origin + axes * local;
                let barred = barred(point);
                if for_block && barred > reach {
                    return barred;
                }
                let mut liquid = f64::INFINITY;
                for (body, inside) in bodies.iter().zip(&inside) {
                    // Of one that is far away, that it is far away says enough.
                    let beyond = body.beyond(point);
                    if beyond > reach + blend {
                        liquid = smooth_min(liquid, beyond, blend);
                        continue;
                    }
                    let distance = body.distance(point);
                    // A surface passes through the block: its nodes lie on both sides.
                    if for_block && distance <= reach {
                        return 0.0;
                    }
                    liquid = smooth_min(liquid, if inside.holds(node) { -distance } else { distance }, blend);
                }
                liquid.max(barred)
            };
            sample_near_surface(&grid, reach, &at)
        }
    };
    let mut surface = extract(&grid, &values, request.floor.is_some());
    surface.collapse_short_edges(SHORTEST * cell);
    let mut triangles = surface.mesh;
    triangles.positions.iter_mut().for_each(|p| *p = origin + axes * *p);
    let mut mesh = Mesh::from_triangles(&triangles)?;
    if mesh.triangles.is_empty() {
        return None;
    }
    if let Some(floor) = request.floor {
        for (tag, on_floor) in mesh.solids.iter_mut().zip(&surface.on_floor) {
            if *on_floor {
                *tag = floor as i32;
            }
        }
    }
    for &s in &others {
        snap(&mut mesh, s, SNAP * cell, world);
    }
    for (k, mouth) in world.mouths.iter().enumerate() {
        close_at(&mut mesh, k, mouth, SNAP * cell);
    }
    Some(mesh)
}

/// The smooth minimum of two distances: never above the least, and below it by up to k/4 where they are alike.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    if k == 0.0 || a == f64::INFINITY {
        return a.min(b);
    }
    let near = (1.0 - (a - b).abs() / k).max(0.0);
    a.min(b) - 0.25 * k * near * near
}

/// The field at every node of a grid, exact within a cell of its zero surface; farther away its sign is right.
///
/// Distances change by no more than the way between two points. So in a block of nodes whose middle is farther than `reach` from the surface, no node is
/// within a cell of it, and the middle stands for all: of a drop's box, that leaves a tenth to be looked at node by node. The field is asked for by place and
/// node, and whether it is for a block: then the place is the block's middle, and the node one of its.
fn sample_near_surface(grid: &Grid, reach: f64, field: &(dyn Fn(DVec3, [usize; 3], bool) -> f64 + Sync)) -> Vec<f64> {
    let [nx, ny, nz] = grid.size;
    let mut values = vec![0.0; grid.num_nodes()];
    values.par_chunks_mut(nx * ny * BLOCK).enumerate().for_each(|(slab, values)| {
        let z = [slab * BLOCK, ((slab + 1) * BLOCK).min(nz)];
        for y in (0..ny).step_by(BLOCK).map(|y| [y, (y + BLOCK).min(ny)]) {
            for x in (0..nx).step_by(BLOCK).map(|x| [x, (x + BLOCK).min(nx)]) {
                let ends = [0, 1].map(|end| grid.position([x[end] - end, y[end] - end, z[end] - end]));
                let middle = field(0.5 * (ends[0] + ends[1]), [x[0], y[0], z[0]], true);
                let far = middle.abs() > reach;
                for k in z[0]..z[1] {
                    for j in y[0]..y[1] {
                        for i in x[0]..x[1] {
                            let node = [i, j, k];
                            let value = if far { middle } else { field(grid.position(node), node, false) };
                            values[((k - z[0]) * ny + j) * nx + i] = value;
                        }
                    }
                }
            }
        }
    });
    values
}

/// How far a point is behind a tap's mouth, in m, if it is near its axis.
fn behind(mouth: &Mouth, point: DVec3) -> Option<f64> {
    let offset = point - mouth.at;
    let along = offset.dot(mouth.direction);
    let across = (offset - mouth.direction * along).length();
    (mouth.speed > 0.0 && along.abs() < 4.0 * mouth.radius && across < 1.5 * mouth.radius).then_some(-along)
}

/// Puts vertices near a tap's mouth on it and marks the triangles between them.
fn close_at(mesh: &mut Mesh, k: usize, mouth: &Mouth, within: f64) {
    let on: Vec<bool> = (0..mesh.positions.len())
        .map(|v| mesh.solid_at(v as u32) == AIR && behind(mouth, mesh.positions[v]).is_some_and(|d| d.abs() < within))
        .collect();
    for (p, _) in mesh.positions.iter_mut().zip(&on).filter(|(_, on)| **on) {
        *p -= mouth.direction * mouth.direction.dot(*p - mouth.at);
    }
    for t in 0..mesh.triangles.len() {
        let all = mesh.triangles[t].iter().all(|&v| on[v as usize]);
        if all && mesh.solids[t] == AIR && mesh.area_vector(t).dot(mouth.direction) < 0.0 {
            mesh.solids[t] = mouth_tag(k);
        }
    }
}

/// Puts vertices near a solid on it and marks the triangles between them that face it.
fn snap(mesh: &mut Mesh, s: usize, within: f64, world: &Ground) {
    let solid = &world.solids()[s];
    let mut on = vec![false; mesh.positions.len()];
    for v in 0..mesh.positions.len() {
        if mesh.solid_at(v as u32) != AIR {
            continue;
        }
        let near = solid.closest(mesh.positions[v]);
        if near.distance < within {
            mesh.positions[v] = near.point;
            on[v] = true;
        }
    }
    for t in 0..mesh.triangles.len() {
        if mesh.solids[t] == AIR && mesh.triangles[t].iter().all(|&v| on[v as usize]) {
            let middle = mesh.corners(t).iter().sum::<DVec3>() / 3.0;
            if mesh.area_vector(t).dot(solid.normal(middle)) < 0.0 {
                mesh.solids[t] = s as i32;
            }
        }
    }
}
