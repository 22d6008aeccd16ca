//! The surface of a frame: closed triangles round the liquid, with a sharp contact line and the wetted part on the solids.
//!
//! The liquid is where φ < 0 (the liquid–air surface, carried on smoothly into the solids) and s > 0 (outside the solids). Both are known at cell
//! centers. Space is cut into tetrahedra between these (see `lattice`), in each φ and s are linear, and so the
//! body in it is convex: bounded by a polygon of φ = 0, the *air* side, one of s = 0, the *wetted* side, and the contact line's piece between
//! them. All crossings lie on edges and faces of tetrahedra, where neighbors agree by construction: the surface is closed and a
//! manifold for any φ and s, noise included.
//!
//! Then each vertex is moved onto what it stands for: air vertices to φ = 0 by Newton's method on a smooth φ, wetted ones to the nearest point of the solid,
//! those of the contact line to both. Short edges are contracted, which removes slivers and keeps the contact line a line. Last, the air side is moved
//! out by what flat triangles cut off (see `bulge`).
//!
//! In a planar run the surface is a slab between z = 0 and z = h, with flat ends.
//!
//! # Accuracy
//!
//! On caps of exact spheres with R = 10 h on planes at any orientation, 30° to 150° (tests): contact angle within 0.2°, volume within 0.1 %, base radius within
//! 0.4 %, height within 0.3 %, or a hundredth of a cell. So what a frame's measures are off by is φ's error, not the skin's.
//! A film or a gap thinner than a cell is seen where it happens to cross an edge of a tetrahedron. Where two solids meet, the corner is
//! cut off on the scale of a cell before vertices are moved.
//!
//! # Names
//!
//! Vertices carry the name of the drop whose cells they enclose. Pieces without a named cell (dust thinner than a cell) are left out and counted. Two
//! drops that touch across an edge or a corner of cells hang together here even if no face joins them: they come out under the name that has more
//! triangles, and [`Skin::joined`] says so.

mod bulge;
mod collapse;
mod lattice;
mod tetrahedra;

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use sessile_frames::Surface;
use sessile_geometry::Closest;

use self::bulge::bulge;
use self::collapse::Tagged;
use self::lattice::{MAX_EXTENT, Pieces, Sheet, Vertex, cut};
use crate::tiles::{SIDE, Tiles};

/// Edges shorter than this share of a cell are contracted.
const SHORTEST: f64 = 0.45;
/// Edges shorter than this share of a cell are contracted before vertices move.
const SLIVER: f64 = 0.25;
/// A vertex moves by at most this share of a cell on its way to its surface; where fields are smooth it is a few hundredths.
const FARTHEST: f64 = 0.5;
/// Steps of Newton's method.
const STEPS: usize = 3;

/// The nearest surface of a solid.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Which surface: those with different numbers are kept apart.
    pub surface: u32,
    /// What [`Surface::solids`] says of triangles on it: the solid's index, or −1 for a side of the domain.
    pub solid: i32,
    /// The nearest point.
    pub closest: Closest,
}

/// What the skin is made from. Cells are named by their index in the tiles; points are in m.
pub trait Liquid: Sync {
    /// φ at a cell's center, in any unit: only its sign and its ratios along edges count.
    fn phi(&self, cell: usize) -> f64;
    /// Signed distance of the solids at a cell's center, positive outside, in any unit.
    fn solid(&self, cell: usize) -> f64;
    /// The drop that a cell belongs to; 0 for none.
    fn name(&self, cell: usize) -> u32;
    /// φ at a point near the surface, in m, and its gradient.
    fn phi_at(&self, point: DVec3) -> (f64, DVec3);
    /// The nearest solid; `None` if there is none.
    fn wall_at(&self, point: DVec3) -> Option<Wall>;
    /// The liquid's velocity at a point of the surface, in m/s.
    fn velocity_at(&self, point: DVec3) -> DVec3;
}

/// Where the lattice lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Corner (0, 0, 0) of the lattice, in m.
    pub origin: DVec3,
    /// Side of a cell, in m.
    pub h: f64,
}

/// The surface, and what was found on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// The surface.
    pub surface: Surface,
    /// (name, into): drops that came out as part of another one, by rising name.
    pub joined: Vec<(u32, u32)>,
    /// Pieces without a name that were left out.
    pub unnamed: usize,
}

/// Why there is no surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// Liquid is spread too far.
    #[error("active cells span {cells} cells along an axis, at most {max} can be drawn: give the scene a domain, so that what leaves it counts as lost", max = MAX_EXTENT - 2)]
    TooFar {
        /// The extent.
        cells: i64,
    },
}

/// Makes the surface of the liquid.
pub fn skin(tiles: &Tiles, placement: Placement, liquid: &impl Liquid) -> Result<Skin, SkinError> {
    if tiles.is_empty() {
        return Ok(Skin::default());
    }
    let low = lowest(tiles)?;
    let pieces = cut(tiles, liquid, low);
    let (mut mesh, names) = weld(&pieces);
    let mut skin = Skin::default();
    let keep = name_components(&mut mesh, &names, &mut skin);
    let corner = placement.origin + placement.h * DVec3::from(low.map(f64::from));
    mesh.positions.par_iter_mut().for_each(|position| *position = corner + placement.h * *position);
    if skin.unnamed > 0 {
        mesh.retain(&keep);
    }
    let mut solids = BTreeMap::new();
    tag_walls(&mut mesh, liquid, &mut solids);
    // First the slivers, which are smaller than the moves to come and would be turned over by them.
    mesh.collapse_short_edges(SLIVER * placement.h);
    to_surfaces(&mut mesh, placement.h, tiles.topology().planar, liquid);
    mesh.collapse_short_edges(SHORTEST * placement.h);
    let kinds = kinds(&mesh);
    bulge(&mut mesh, &kinds, placement.h, tiles.topology().planar, liquid);
    skin.surface = Surface {
        velocities: mesh.positions.par_iter().map(|&p| liquid.velocity_at(p)).collect(),
        positions: mesh.positions,
        drops: mesh.owners,
        triangles: mesh.triangles,
        solids: mesh.tags.iter().map(|tag| solids.get(tag).copied().unwrap_or(-1)).collect(),
    };
    Ok(skin)
}

/// Tags while the mesh is made; surfaces of solids count from 0.
const AIR: i32 = -1;
const END: i32 = -2;
const WALL: i32 = -3;

/// Where a vertex lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// On the liquid's surface.
    Air,
    /// On a solid.
    Wall,
    /// On both.
    Line,
    /// Inside the flat end of a planar slab.
    End,
}

/// The lowest cell of the active tiles.
fn lowest(tiles: &Tiles) -> Result<[i32; 3], SkinError> {
    let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
    for tile in tiles.coords() {
        for axis in 0..3 {
            low[axis] = low[axis].min(tile[axis]);
            high[axis] = high[axis].max(tile[axis]);
        }
    }
    let cells = (0..3).map(|axis| (i64::from(high[axis]) - i64::from(low[axis]) + 1) * SIDE as i64).max().unwrap_or(0);
    // A cube may stand one cell off at either side.
    if cells + 2 > MAX_EXTENT {
        return Err(SkinError::TooFar { cells });
    }
    Ok(low.map(|c| c * SIDE as i32))
}

/// Makes one mesh of all pieces; with the name of each triangle.
fn weld(pieces: &[Pieces]) -> (Tagged, Vec<u32>) {
    let mut vertices: Vec<Vertex> = pieces.iter().flat_map(|piece| piece.vertices.iter().copied()).collect();
    vertices.par_sort_unstable_by_key(|vertex| vertex.key);
    vertices.dedup_by_key(|vertex| vertex.key);
    let index = |key: u64| {
        let found = vertices.binary_search_by_key(&key, |vertex| vertex.key);
        found.expect("every corner of a triangle is a vertex") as u32
    };
    let triangles: Vec<&([u64; 3], Sheet)> = pieces.iter().flat_map(|piece| &piece.triangles).collect();
    let mesh = Tagged {
        positions: vertices.iter().map(|vertex| vertex.position).collect(),
        triangles: triangles.par_iter().map(|(keys, _)| keys.map(index)).collect(),
        tags: triangles
            .iter()
            .map(|(_, sheet)| match sheet {
                Sheet::Air => AIR,
                Sheet::End => END,
                Sheet::Wall => WALL,
            })
            .collect(),
        owners: vec![0; vertices.len()],
    };
    let names = pieces.iter().flat_map(|piece| piece.names.iter().copied()).collect();
    (mesh, names)
}

/// Gives each connected piece the name that most of its triangles have; tells which vertices have one.
fn name_components(mesh: &mut Tagged, names: &[u32], skin: &mut Skin) -> Vec<bool> {
    let mut parents: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for &[a, b, c] in &mesh.triangles {
        for other in [b, c] {
            let (a, other) = (root(&mut parents, a), root(&mut parents, other));
            parents[a.max(other) as usize] = a.min(other);
        }
    }
    let mut votes: Vec<(u32, u32)> = Vec::new();
    for (triangle, &name) in mesh.triangles.iter().zip(names).filter(|&(_, &name)| name != 0) {
        votes.push((root(&mut parents, triangle[0]), name));
    }
    votes.par_sort_unstable();
    let mut chosen = vec![0; parents.len()];
    for of_component in votes.chunk_by(|a, b| a.0 == b.0) {
        let counts = || of_component.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0].1));
        // The first of the largest: the least name.
        let winner = counts().fold((0, 0), |best, run| if run.0 > best.0 { run } else { best }).1;
        chosen[of_component[0].0 as usize] = winner;
        skin.joined.extend(counts().map(|(_, name)| (name, winner)).filter(|&(name, winner)| name != winner));
    }
    skin.joined.sort_unstable();
    for v in 0..mesh.owners.len() {
        let root = root(&mut parents, v as u32);
        mesh.owners[v] = chosen[root as usize];
        skin.unnamed += usize::from(root == v as u32 && mesh.owners[v] == 0);
    }
    mesh.owners.iter().map(|&name| name != 0).collect()
}

fn root(parents: &mut [u32], mut v: u32) -> u32 {
    while parents[v as usize] != v {
        let above = parents[parents[v as usize] as usize];
        parents[v as usize] = above;
        v = above;
    }
    v
}

/// What lies round each vertex: air, solids, ends.
fn kinds(mesh: &Tagged) -> Vec<Kind> {
    let mut kinds = vec![None; mesh.positions.len()];
    for (triangle, &tag) in mesh.triangles.iter().zip(&mesh.tags) {
        let here = match tag {
            AIR => Kind::Air,
            END => Kind::End,
            _ => Kind::Wall,
        };
        for &v in triangle {
            let kind = &mut kinds[v as usize];
            *kind = Some(match (*kind, here) {
                // The rim of an end belongs to what bounds it.
                (None | Some(Kind::End), other) | (Some(other), Kind::End) => other,
                (Some(known), new) if known == new => known,
                _ => Kind::Line,
            });
        }
    }
    kinds.into_iter().map(|kind| kind.unwrap_or(Kind::End)).collect()
}

/// Moves all vertices to the surfaces that they stand for.
fn to_surfaces(mesh: &mut Tagged, h: f64, planar: bool, liquid: &impl Liquid) {
    let kinds = kinds(mesh);
    mesh.positions
        .par_iter_mut()
        .zip(&kinds)
        .for_each(|(position, kind)| *position = onto_surface(*position, *kind, h, planar, liquid));
}

/// Moves a vertex to the surface that it stands for.
fn onto_surface(from: DVec3, kind: Kind, h: f64, planar: bool, liquid: &impl Liquid) -> DVec3 {
    // A slab's surface stands along z.
    let flat = |v: DVec3| if planar { DVec3::new(v.x, v.y, 0.0) } else { v };
    let mut at = from;
    for _ in 0..STEPS {
        let before = at;
        let mut normal = None;
        if matches!(kind, Kind::Wall | Kind::Line)
            && let Some(wall) = liquid.wall_at(at)
        {
            at += flat(wall.closest.point - at);
            normal = Some(flat(wall.closest.normal));
        }
        if matches!(kind, Kind::Air | Kind::Line) {
            let (phi, gradient) = liquid.phi_at(at);
            let along = flat(gradient) - normal.map_or(DVec3::ZERO, |n| flat(gradient).dot(n) * n);
            // A slope this small along the solid means a surface that lies on it: there is no going to φ = 0.
            if along.length_squared() > 0.01 {
                at -= phi / along.length_squared() * along;
            }
        }
        if !at.is_finite() {
            return before;
        }
        at = from + (at - from).clamp_length_max(FARTHEST * h);
    }
    match (kind, liquid.wall_at(at)) {
        // The line ends on the solid; and nothing that is in the air may end in the solid.
        (Kind::Line, Some(wall)) => at + flat(wall.closest.point - at),
        (Kind::Air, Some(wall)) if wall.closest.distance < 0.0 => at + flat(wall.closest.point - at),
        _ => at,
    }
}

/// Tells the triangles on solids which one they lie on.
fn tag_walls(mesh: &mut Tagged, liquid: &impl Liquid, solids: &mut BTreeMap<i32, i32>) {
    let (positions, triangles) = (&mesh.positions, &mesh.triangles);
    let walls: Vec<Option<(i32, i32)>> = mesh
        .tags
        .par_iter()
        .zip(triangles)
        .map(|(&tag, triangle)| {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let wall = (tag == WALL).then(|| liquid.wall_at((a + b + c) / 3.0))?;
            wall.map(|wall| (wall.surface as i32, wall.solid))
        })
        .collect();
    for (tag, wall) in mesh.tags.iter_mut().zip(walls) {
        if let Some((surface, solid)) = wall {
            *tag = surface;
            solids.insert(surface, solid);
        }
    }
}

#[cfg(test)]
mod tests;
