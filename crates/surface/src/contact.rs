//! Where drops come to touch solids, spread over them, and let go.
//!
//! A free vertex that has come into a solid is put on its surface. If it is the first one there, its ring is put there too and its triangles become
//! wetted: they are the first contact. Next to a contact line, triangles that now lie on the solid with all three corners and face it are
//! wetted from then on: the line has gone over them. A triangle that lies on the solid and faces away from it is the top of a film without thickness:
//! its vertex is joined with the line, which so recedes to it. A wetted patch that has shrunk to less than a triangle is let go.

use glam::DVec3;

use crate::drops::{Drop, Scratch};
use crate::ground::{Footing, Ground, footing};
use crate::mesh::{AIR, Kind, Mesh};

/// How far from the solid, in edges, the ring of a first touch may be.
const RING_REACH: f64 = 0.6;
/// How far above the solid, in edges, a vertex is held that could not be joined with the line.
const LIFT: f64 = 0.02;
/// Least area of a wetted patch, in squares of the edge length: about two thirds of a triangle.
const LEAST_PATCH: f64 = 0.3;

/// Vertices of a group that is looked at as a whole first.
const GROUP: usize = 16;

/// What changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Vertices that were inside a solid.
    pub landed: usize,
    /// Triangles that became wetted.
    pub wetted: usize,
    /// Films taken away.
    pub folded: usize,
    /// Patches let go.
    pub freed: usize,
}

impl Touched {
    /// Whether the mesh's connections or what its triangles lie on changed.
    pub fn reconnected(&self) -> bool {
        Self { landed: 0, ..*self }.changed()
    }

    /// Whether any vertex was moved or any triangle changed.
    pub fn changed(&self) -> bool {
        *self != Self::default()
    }
}

/// Brings the contact of a drop with the solids up to date; `edge` is the drop's edge length, in m. Leaves the mesh compact.
pub fn touch(drop: &mut Drop, edge: f64, world: &Ground, scratch: &mut Scratch) -> Touched {
    let mut done = Touched::default();
    near_solids(&drop.mesh, world, edge, &mut scratch.near);
    if scratch.near.is_empty() {
        return done;
    }
    let mesh = &mut drop.mesh;
    find_inside(mesh, world, scratch);
    for index in 0..scratch.queue.len() {
        let (s, v) = scratch.queue[index];
        if mesh.starts[v as usize] != crate::mesh::NONE && mesh.kind(v) == Kind::Free {
            done.landed += 1;
            land(mesh, v, s as i32, edge, world, &mut done);
        }
    }
    let as_read = (done.wetted == 0 && done.folded == 0).then_some(scratch.shape.kinds.as_slice());
    close_flat(mesh, edge, world, as_read, &mut done);
    done.freed = let_go(mesh, edge, &mut scratch.marks);
    if done.changed() {
        mesh.compact();
    }
    done
}

/// Queues the free vertices that are inside a solid near the drop, with the first such solid.
///
/// Vertices that follow one another mostly lie side by side: a group whose ball is outside a solid needs no further look at it.
fn find_inside(mesh: &Mesh, world: &Ground, scratch: &mut Scratch) {
    scratch.queue.clear();
    for (group, places) in mesh.positions.chunks(GROUP).enumerate() {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &place in places {
            (low, high) = (low.min(place), high.max(place));
        }
        let (center, radius) = (0.5 * (low + high), 0.5 * low.distance(high));
        for &s in &scratch.near {
            let solid = &world.solids()[s];
            if solid.signed_distance(center) > radius {
                continue;
            }
            for (k, &place) in places.iter().enumerate() {
                let v = GROUP * group + k;
                if scratch.shape.kinds[v] == Kind::Free && solid.signed_distance(place) < 0.0 {
                    scratch.queue.push((s as f64, v as u32));
                }
            }
        }
    }
    // One solid for each vertex: the first.
    scratch.queue.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
    scratch.queue.dedup_by_key(|(_, v)| *v);
}

/// The solids that come within an edge of a drop's box.
fn near_solids(mesh: &Mesh, world: &Ground, edge: f64, near: &mut Vec<usize>) {
    let [low, high] = mesh.bounds();
    let (center, reach) = (0.5 * (low + high), 0.5 * low.distance(high) + edge);
    near.clear();
    near.extend((0..world.solids().len()).filter(|&s| world.solids()[s].signed_distance(center) < reach));
}

/// Puts a free vertex that is inside a solid on its surface, and does what follows.
fn land(mesh: &mut Mesh, v: u32, solid: i32, edge: f64, world: &Ground, done: &mut Touched) {
    let foot = footing(world, solid, mesh.positions[v as usize]);
    let in_contact = |mesh: &Mesh, w: u32| mesh.solid_at(w) == solid;
    let beside_line = mesh.fan(v).any(|h| in_contact(mesh, mesh.to(h)));
    rest_on(mesh, v, &foot, 0.0);
    if !beside_line {
        done.wetted += first_touch(mesh, v, solid, &foot, edge, world);
        return;
    }
    // Triangles with both other corners in contact.
    let beside: Vec<u32> =
        mesh.fan(v).filter(|&h| in_contact(mesh, mesh.to(h)) && in_contact(mesh, mesh.apex(h))).collect();
    let facing = |mesh: &Mesh, h: u32| mesh.area_vector((h / 3) as usize).normalize_or_zero().dot(foot.normal);
    let mut folded = false;
    for &h in &beside {
        if facing(mesh, h) < -0.3 {
            mesh.solids[(h / 3) as usize] = solid;
            done.wetted += 1;
        } else {
            folded = true;
        }
    }
    if mesh.kind(v) != Kind::Free {
        return;
    }
    if folded {
        let place = mesh.positions[v as usize];
        let joined =
            mesh.fan(v).find(|&h| mesh.kind(mesh.to(h)) == Kind::Line && mesh.can_collapse(h) && joins_neatly(mesh, h));
        if let Some(h) = joined {
            mesh.collapse(h, place);
            done.folded += 1;
            return;
        }
    }
    rest_on(mesh, v, &foot, LIFT * edge);
}

/// Whether a free vertex may be joined with one on the line without pinching two stretches of line together.
fn joins_neatly(mesh: &Mesh, h: u32) -> bool {
    let (a, b) = (mesh.from(h), mesh.to(h));
    mesh.fan(a)
        .map(|e| mesh.to(e))
        .all(|v| v == b || mesh.kind(v) != Kind::Line || mesh.edge(v, b).is_some_and(|e| mesh.is_line(e)))
}

/// Puts a vertex above its footing and takes away its speed into the solid.
fn rest_on(mesh: &mut Mesh, v: u32, foot: &Footing, above: f64) {
    mesh.positions[v as usize] = foot.point + foot.normal * above;
    let velocity = &mut mesh.velocities[v as usize];
    let into = foot.normal.dot(*velocity - foot.velocity);
    if into < 0.0 {
        *velocity -= foot.normal * into;
    }
}

/// The first contact at a place: the vertex and its ring, if the ring is near and faces the solid; how many triangles.
fn first_touch(mesh: &mut Mesh, v: u32, solid: i32, foot: &Footing, edge: f64, world: &Ground) -> usize {
    let ring: Vec<u32> = mesh.fan(v).map(|h| mesh.to(h)).collect();
    let feet: Vec<Footing> = ring.iter().map(|&w| footing(world, solid, mesh.positions[w as usize])).collect();
    let ready = ring.iter().zip(&feet).all(|(&w, f)| {
        mesh.kind(w) == Kind::Free
            && f.point.distance(mesh.positions[w as usize]) < RING_REACH * edge
            && f.normal.dot(foot.normal) > 0.5
    });
    let faces = mesh.fan(v).all(|h| mesh.area_vector((h / 3) as usize).normalize_or_zero().dot(foot.normal) < -0.3);
    // Nobody else of the ring's neighbors may be in contact, or two patches would meet in a point.
    let alone = ring.iter().all(|&w| mesh.fan(w).all(|h| mesh.kind(mesh.to(h)) == Kind::Free));
    if !(ready && faces && alone) {
        return 0;
    }
    for (&w, f) in ring.iter().zip(&feet) {
        rest_on(mesh, w, f, 0.0);
    }
    let fan: Vec<u32> = mesh.fan(v).collect();
    for &h in &fan {
        mesh.solids[(h / 3) as usize] = solid;
    }
    fan.len()
}

/// Triangles against air with three corners on one solid: those that face it are wetted, those that face away are a film and go. A vertex in a
/// corner is on every solid that meets there, whatever its triangles say. `kinds` are the vertices' where they are known.
fn close_flat(mesh: &mut Mesh, edge: f64, world: &Ground, kinds: Option<&[Kind]>, done: &mut Touched) {
    let mut known = kinds;
    for t in 0..mesh.triangles.len() {
        if !mesh.is_live(t) || mesh.solids[t] != AIR {
            continue;
        }
        if known.is_some_and(|kinds| mesh.triangles[t].iter().any(|&v| kinds[v as usize] == Kind::Free)) {
            continue;
        }
        let solids = mesh.triangles[t].map(|v| mesh.solid_at(v));
        if solids.contains(&AIR) {
            continue;
        }
        let corners = mesh.corners(t);
        let on = |s: i32| {
            s >= 0
                && (0..3)
                    .all(|k| solids[k] == s || world.solids()[s as usize].signed_distance(corners[k]) < 1e-3 * edge)
        };
        let Some(solid) = solids.into_iter().find(|&s| on(s)) else { continue };
        let middle: DVec3 = corners.iter().sum::<DVec3>() / 3.0;
        let foot = footing(world, solid, middle);
        let facing = mesh.area_vector(t).normalize_or_zero().dot(foot.normal);
        if facing < -0.3 && foot.point.distance(middle) < 0.5 * edge {
            mesh.solids[t] = solid;
            done.wetted += 1;
            known = None;
        } else if facing > 0.7 {
            // Along one of its sides on the line, if that leaves a sound surface.
            let sides = [0, 1, 2].map(|k| (3 * t + k) as u32);
            if let Some(h) = sides.into_iter().find(|&h| mesh.is_line(h) && mesh.can_collapse(h)) {
                let place = mesh.positions[mesh.to(h) as usize];
                mesh.collapse(h, place);
                done.folded += 1;
                known = None;
            }
        }
    }
}

/// Frees wetted patches that are smaller than a triangle; how many.
fn let_go(mesh: &mut Mesh, edge: f64, patch: &mut Vec<u32>) -> usize {
    let mut freed = 0;
    // Seen triangles are marked by turning their tags over.
    let turned = |tag: i32| i32::MIN + tag;
    for first in 0..mesh.triangles.len() {
        if !mesh.is_live(first) || mesh.solids[first] < 0 {
            continue;
        }
        let solid = mesh.solids[first];
        patch.clear();
        patch.push(first as u32);
        mesh.solids[first] = turned(solid);
        let (mut at, mut area) = (0, 0.0);
        while at < patch.len() {
            area += mesh.area_vector(patch[at] as usize).length();
            for k in 0..3 {
                let other = (mesh.twin(3 * patch[at] + k) / 3) as usize;
                if mesh.solids[other] == solid {
                    mesh.solids[other] = turned(solid);
                    patch.push(other as u32);
                }
            }
            at += 1;
        }
        if area < LEAST_PATCH * edge * edge {
            patch.iter().for_each(|&t| mesh.solids[t as usize] = AIR);
            freed += 1;
        }
    }
    // Back to what they were: no tag of a mouth is as low as these.
    mesh.solids.iter_mut().filter(|tag| **tag < i32::MIN / 2).for_each(|tag| *tag -= i32::MIN);
    freed
}
