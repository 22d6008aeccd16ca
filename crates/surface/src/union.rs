//! Drops that touch become one, through a distance field: slow, and sure.
//!
//! Each drop's surface is carried on a little way into the solids that it stands on, so that its distance field passes through them; the fields
//! are joined by a smooth minimum, which bridges gaps of up to half a cell, and the zero surface of what is outside the solids is extracted anew. The extraction is
//! closed and manifold whatever the fields (see [`sessile_geometry::isosurface`]), so nothing that drops do to one another can leave a hole. On a plane the
//! grid stands on it, and the contact line is as sharp as it was. On other solids vertices near the solid are put on it, so that the line is rough by a part of
//! a cell until the liquid has smoothed it.

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sessile_geometry::TriMesh;
use sessile_geometry::isosurface::{Grid, extract};
use sessile_geometry::mesh_distance::MeshDistance;

use crate::ground::{Footing, Ground, Mouth, footing, mouth_tag};
use crate::mesh::{AIR, Kind, Mesh};

/// Cell of the grid over the edge length of the joined drop.
const CELL: f64 = 0.7;
/// Width of the smooth minimum, in cells.
const BLEND: f64 = 1.5;
/// Vertices nearer to a solid than this, in cells, are put on it.
const SNAP: f64 = 0.3;
/// Edges of the extracted surface shorter than this, in cells, are collapsed.
const SHORTEST: f64 = 0.5;
/// Nodes along each side of a block that is looked at as a whole.
const BLOCK: usize = 4;
/// Most nodes of a grid; beyond, cells grow.
const MOST_NODES: f64 = 6e5;

/// A liquid body as a field: negative inside.
pub struct Body {
    distance: MeshDistance,
    velocities: Vec<DVec3>,
}

impl Body {
    /// A drop's surface, carried on into its solids by `depth` metres.
    pub fn new(mesh: &Mesh, world: &Ground, depth: f64) -> Self {
        let n = mesh.positions.len();
        let kinds: Vec<Kind> = (0..n as u32).map(|v| mesh.kind(v)).collect();
        let mut sunk: Vec<u32> = (0..n as u32).collect();
        let mut out = TriMesh { positions: mesh.positions.clone(), ..TriMesh::default() };
        let mut velocities = mesh.velocities.clone();
        for v in 0..n {
            if kinds[v] == Kind::Free {
                continue;
            }
            let foot = footing(world, mesh.solid_at(v as u32), mesh.positions[v]);
            let lower = mesh.positions[v] - foot.normal * depth_within(world, mesh.solid_at(v as u32), &foot, depth);
            if kinds[v] == Kind::Wet {
                out.positions[v] = lower;
            } else {
                sunk[v] = out.positions.len() as u32;
                out.positions.push(lower);
                velocities.push(mesh.velocities[v]);
            }
        }
        for (t, &corners) in mesh.triangles.iter().enumerate() {
            let air = mesh.solids[t] == AIR;
            out.triangles.push(if air { corners } else { corners.map(|v| sunk[v as usize]) });
            for k in 0..3 {
                let h = (3 * t + k) as u32;
                if air && mesh.solid_of(mesh.twin(h)) != AIR {
                    let (a, b) = (mesh.from(h), mesh.to(h));
                    let (a_low, b_low) = (sunk[a as usize], sunk[b as usize]);
                    out.triangles.push([b, a, a_low]);
                    out.triangles.push([b, a_low, b_low]);
                }
            }
        }
        Self { distance: MeshDistance::new(out), velocities }
    }

    /// Signed distance, in m.
    pub fn distance(&self, point: DVec3) -> f64 {
        sessile_geometry::Distance::signed_distance(&self.distance, point)
    }

    /// Velocity of the surface nearest to a point, and how far it is.
    fn velocity(&self, point: DVec3) -> Option<(f64, DVec3)> {
        let near = self.distance.nearest(point)?;
        let corners = self.distance.mesh().triangles[near.triangle];
        let weights = near.barycentrics.to_array();
        let velocity = corners.iter().zip(weights).map(|(&v, w)| self.velocities[v as usize] * w).sum();
        Some((near.distance.abs(), velocity))
    }
}

/// How deep to go below a footing, up to `depth` metres: well within a leaf that is thinner than that, lest liquid come out below it.
fn depth_within(world: &Ground, solid: i32, foot: &Footing, depth: f64) -> f64 {
    let Some(solid) = usize::try_from(solid).ok().and_then(|s| world.solids().get(s)) else { return depth };
    let comes_out = |down: f64| solid.signed_distance(foot.point - foot.normal * down) > 1e-3 * depth;
    if !comes_out(depth) {
        return depth;
    }
    let mut down = 0.5 * depth;
    while comes_out(down) && down > 0.02 * depth {
        down *= 0.5;
    }
    0.5 * down
}

/// What to extract.
pub struct Request<'a> {
    /// Negative in the liquid, carried on into solids.
    pub field: &'a (dyn Fn(DVec3) -> f64 + Sync),
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
    let at = |local: DVec3| {
        let point = origin + axes * local;
        let mut field = (request.field)(point);
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
    let values = sample_near_surface(&grid, reach, &at);
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

/// The field at every node of a grid, exact within a cell of its zero surface; farther away its sign is right.
///
/// Distances change by no more than the way between two points. So in a block of nodes whose middle is farther than `reach` from the surface, no node is
/// within a cell of it, and the middle stands for all: of a drop's box, that leaves a tenth to be looked at node by node.
fn sample_near_surface(grid: &Grid, reach: f64, field: &(dyn Fn(DVec3) -> f64 + Sync)) -> Vec<f64> {
    let [nx, ny, nz] = grid.size;
    let mut values = vec![0.0; grid.num_nodes()];
    values.par_chunks_mut(nx * ny * BLOCK).enumerate().for_each(|(slab, values)| {
        let z = [slab * BLOCK, ((slab + 1) * BLOCK).min(nz)];
        for y in (0..ny).step_by(BLOCK).map(|y| [y, (y + BLOCK).min(ny)]) {
            for x in (0..nx).step_by(BLOCK).map(|x| [x, (x + BLOCK).min(nx)]) {
                let ends = [0, 1].map(|end| grid.position([x[end] - end, y[end] - end, z[end] - end]));
                let middle = field(0.5 * (ends[0] + ends[1]));
                let far = middle.abs() > reach;
                for k in z[0]..z[1] {
                    for j in y[0]..y[1] {
                        for i in x[0]..x[1] {
                            let value = if far { middle } else { field(grid.position([i, j, k])) };
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

/// The solid that most of some surfaces' contact is on, if it is flat where they touch it.
pub fn flat_floor(meshes: &[&Mesh], world: &Ground) -> Option<usize> {
    let mut areas = vec![0.0; world.solids().len()];
    for mesh in meshes {
        for t in 0..mesh.triangles.len() {
            if mesh.solids[t] >= 0 {
                areas[mesh.solids[t] as usize] += mesh.area_vector(t).length();
            }
        }
    }
    let (best, &area) = areas.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
    if area == 0.0 {
        return None;
    }
    let solid = &world.solids()[best];
    let mut frame: Option<(DVec3, DVec3)> = None;
    for mesh in meshes {
        let [low, high] = mesh.bounds();
        let size = low.distance(high);
        for v in 0..mesh.positions.len() as u32 {
            if mesh.solid_at(v) == best as i32 {
                let near = solid.closest(mesh.positions[v as usize]);
                let (point, normal) = *frame.get_or_insert((near.point, near.normal));
                if (near.point - point).dot(normal).abs() > 1e-6 * size {
                    return None;
                }
            }
        }
    }
    Some(best)
}

/// The smooth minimum of two distances: never above the least, and below it by up to k/4 where they are alike.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let near = (1.0 - (a - b).abs() / k).max(0.0);
    a.min(b) - 0.25 * k * near * near
}

/// The surface of one drop made anew, without velocities; perhaps in several parts.
pub fn renew(mesh: &Mesh, edge: f64, world: &Ground) -> Option<Mesh> {
    let body = Body::new(mesh, world, 3.0 * CELL * edge);
    let field = |point: DVec3| body.distance(point);
    let request = Request { field: &field, bounds: mesh.bounds(), edge, floor: flat_floor(&[mesh], world) };
    extract_liquid(&request, world)
}

/// The union of some drops that touch, in parts, largest first; `None` if they do not become fewer.
pub fn join(meshes: &[&Mesh], edge: f64, world: &Ground) -> Option<Vec<Mesh>> {
    let cell = CELL * edge;
    let bodies: Vec<Body> = meshes.iter().map(|mesh| Body::new(mesh, world, 3.0 * cell)).collect();
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let bounds = meshes.iter().map(|mesh| mesh.bounds()).fold(start, |[l, h], [low, high]| [l.min(low), h.max(high)]);
    let field = |point: DVec3| {
        bodies
            .iter()
            .map(|body| body.distance(point))
            .reduce(|a, b| smooth_min(a, b, BLEND * cell))
            .unwrap_or(f64::INFINITY)
    };
    let request = Request { field: &field, bounds, edge, floor: flat_floor(meshes, world) };
    let mut mesh = extract_liquid(&request, world)?;
    for v in 0..mesh.positions.len() {
        let point = mesh.positions[v];
        let near = bodies.iter().filter_map(|body| body.velocity(point)).reduce(|a, b| if b.0 < a.0 { b } else { a });
        mesh.velocities[v] = near.map_or(DVec3::ZERO, |(_, velocity)| velocity);
    }
    let mut sized: Vec<(f64, Vec<u32>)> =
        mesh.parts().into_iter().map(|part| (mesh.part_volume(&part), part)).collect();
    sized.retain(|(volume, _)| *volume > 0.0);
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lists: Vec<Vec<u32>> = sized.into_iter().map(|(_, list)| list).collect();
    let parts = mesh.extract(&lists);
    (!parts.is_empty() && parts.len() < meshes.len()).then_some(parts)
}
