//! Contact of a drop with solids: first contact, spreading, receding and detachment.
//!
//! - A free vertex that has entered a solid is projected onto its surface. Where it is the first
//!   one, its ring is projected too and its triangles become wetted: the first contact.
//! - A triangle beside the contact line that lies on the solid with all three corners and faces it
//!   becomes wetted: the line has advanced over it.
//! - A triangle that lies on the solid and faces away from it is the top of a film of zero
//!   thickness. Its vertex is merged into the contact line, which recedes to it.
//! - A contact line in the corner between two solids advances onto the second one where the liquid
//!   meets it at more than its advancing angle.
//! - A wetted patch smaller than a triangle detaches.

use glam::DVec3;

use crate::drop::{Drop, Scratch};
use crate::mesh::index::{HalfEdgeIndex, TriangleIndex, VertexIndex};
use crate::mesh::{Interface, Mesh, VertexKind};
use crate::parameters::Numerics;
use crate::substrate::{ContactSample, SolidIndex, Substrate};

/// Vertices per group of the bounding-sphere test.
const GROUP: usize = 16;
/// Cosine between a triangle's normal and the solid's below which the triangle faces the solid.
const FACING: f64 = -0.3;
/// Cosine from which a triangle faces away from the solid.
const FACING_AWAY: f64 = 0.7;

/// Distance from a solid at which a vertex on another one lies in their corner, in edges.
const IN_CORNER: f64 = 1e-3;
/// Distance from a solid within which a vertex beside a corner is put on it, in edges.
const CLIMB_REACH: f64 = 1.0;

/// Contact changes of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactReport {
    /// Vertices projected out of a solid.
    pub projected: usize,
    /// Triangles that became wetted.
    pub wetted: usize,
    /// Films of zero thickness removed.
    pub films_removed: usize,
    /// Patches that detached.
    pub detached: usize,
}

impl ContactReport {
    /// Whether the connectivity or an interface changed.
    pub fn reconnected(&self) -> bool {
        Self { projected: 0, ..*self }.changed()
    }

    /// Whether a vertex was moved or a triangle changed.
    pub fn changed(&self) -> bool {
        *self != Self::default()
    }
}

/// Memory of the contact update.
#[derive(Clone, Debug, Default)]
pub struct ContactScratch {
    /// Solids near the drop.
    pub near: Vec<SolidIndex>,
    /// Free vertices inside a solid, with that solid.
    inside: Vec<(VertexIndex, SolidIndex)>,
    /// Triangles of the patch at hand.
    patch: Vec<TriangleIndex>,
    /// Triangles whose patch has been measured.
    visited: Vec<bool>,
}

/// Updates the contact of a drop with target edge length `edge`, in m; leaves the mesh compact.
pub fn update_contact(
    drop: &mut Drop,
    edge: f64,
    substrate: &Substrate,
    numerics: &Numerics,
    scratch: &mut Scratch,
) -> ContactReport {
    let mut done = ContactReport::default();
    let Scratch { contact, geometry, .. } = scratch;
    let mesh = &mut drop.mesh;
    substrate.find_near(mesh.bounds(), edge, &mut contact.near);
    if contact.near.is_empty() {
        return done;
    }
    find_inside(mesh, substrate, &geometry.kinds, contact);
    for &(v, solid) in &contact.inside {
        if mesh.is_vertex_live(v) && mesh.kind(v) == VertexKind::Free {
            done.projected += 1;
            resolve_penetration(mesh, v, solid, edge, substrate, numerics, &mut done);
        }
    }
    if contact.near.len() > 1 {
        climb_corners(mesh, edge, substrate, &contact.near, &mut done);
    }
    let unchanged = done.wetted == 0 && done.films_removed == 0;
    close_flat_triangles(mesh, edge, substrate, unchanged.then_some(geometry.kinds.as_slice()), &mut done);
    done.detached = detach_small_patches(mesh, numerics.min_patch_area * edge * edge, contact);
    if done.changed() {
        mesh.compact();
    }
    done
}

/// Lists the free vertices inside a solid, each with the first such solid.
///
/// Consecutive vertices are mostly neighbors: around the center of a group no solid is nearer than
/// measured there, so vertices within that distance of it are outside.
fn find_inside(mesh: &Mesh, substrate: &Substrate, kinds: &[VertexKind], contact: &mut ContactScratch) {
    contact.inside.clear();
    for (group, positions) in mesh.positions.chunks(GROUP).enumerate() {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let vertex = |k: usize| VertexIndex::new(GROUP * group + k);
        let free = || positions.iter().enumerate().filter(|(k, _)| kinds[vertex(*k)] == VertexKind::Free);
        for (_, &p) in free() {
            (low, high) = (low.min(p), high.max(p));
        }
        let (center, radius) = (0.5 * (low + high), 0.5 * low.distance(high));
        if low.cmpgt(high).any() {
            continue;
        }
        for &s in &contact.near {
            let solid = &substrate.solids()[s];
            let clear = solid.signed_distance(center);
            if clear > radius {
                continue;
            }
            for (k, &p) in free() {
                if p.distance(center) >= clear && solid.signed_distance(p) < 0.0 {
                    contact.inside.push((vertex(k), s));
                }
            }
        }
    }
    contact.inside.sort_unstable();
    contact.inside.dedup_by_key(|(v, _)| *v);
}

/// Cosine between the normal of the triangle of `h` and a direction.
fn facing(mesh: &Mesh, triangle: TriangleIndex, normal: DVec3) -> f64 {
    mesh.area_vector(triangle).normalize_or_zero().dot(normal)
}

/// Projects a free vertex out of a solid and wets or merges the triangles beside it.
fn resolve_penetration(
    mesh: &mut Mesh,
    v: VertexIndex,
    solid: SolidIndex,
    edge: f64,
    substrate: &Substrate,
    numerics: &Numerics,
    done: &mut ContactReport,
) {
    let interface = Interface::Solid(solid);
    let sample = substrate.sample(interface, mesh.positions[v]);
    let in_contact = |mesh: &Mesh, w: VertexIndex| mesh.interface_at(w) == interface;
    let beside_line = mesh.fan(v).any(|h| in_contact(mesh, mesh.to(h)));
    place_on(mesh, v, &sample, 0.0);
    if !beside_line {
        done.wetted += wet_first_contact(mesh, v, interface, &sample, edge, substrate, numerics);
        return;
    }
    let both_in_contact: Vec<HalfEdgeIndex> =
        mesh.fan(v).filter(|&h| in_contact(mesh, mesh.to(h)) && in_contact(mesh, mesh.apex(h))).collect();
    let mut film = false;
    for &h in &both_in_contact {
        if facing(mesh, h.triangle(), sample.normal) < FACING {
            mesh.interfaces[h.triangle()] = interface;
            done.wetted += 1;
        } else {
            film = true;
        }
    }
    if mesh.kind(v) != VertexKind::Free {
        return;
    }
    if film {
        let position = mesh.positions[v];
        let into_line = mesh.fan(v).find(|&h| {
            mesh.kind(mesh.to(h)) == VertexKind::ContactLine && mesh.can_collapse(h) && !pinches_line(mesh, h)
        });
        if let Some(h) = into_line {
            mesh.collapse(h, position);
            done.films_removed += 1;
            return;
        }
    }
    place_on(mesh, v, &sample, numerics.film_lift * edge);
}

/// Whether collapsing `h` into the contact line would pinch two segments of the line together.
pub fn pinches_line(mesh: &Mesh, h: HalfEdgeIndex) -> bool {
    let (a, b) = (mesh.from(h), mesh.to(h));
    let is_line_edge = |v: VertexIndex| mesh.edge(v, b).is_some_and(|e| mesh.is_line(e));
    mesh.fan(a).map(|e| mesh.to(e)).any(|v| v != b && mesh.kind(v) == VertexKind::ContactLine && !is_line_edge(v))
}

/// Puts a vertex at a height above the solid, in m, and removes its velocity into the solid.
fn place_on(mesh: &mut Mesh, v: VertexIndex, sample: &ContactSample, height: f64) {
    mesh.positions[v] = sample.point + sample.normal * height;
    let velocity = &mut mesh.velocities[v];
    let into = sample.normal.dot(*velocity - sample.velocity);
    if into < 0.0 {
        *velocity -= sample.normal * into;
    }
}

/// Wets a vertex and its ring if the ring is near the solid and faces it; returns the triangles
/// wetted.
fn wet_first_contact(
    mesh: &mut Mesh,
    v: VertexIndex,
    interface: Interface,
    sample: &ContactSample,
    edge: f64,
    substrate: &Substrate,
    numerics: &Numerics,
) -> usize {
    let ring: Vec<VertexIndex> = mesh.fan(v).map(|h| mesh.to(h)).collect();
    let samples: Vec<ContactSample> = ring.iter().map(|&w| substrate.sample(interface, mesh.positions[w])).collect();
    let near = ring.iter().zip(&samples).all(|(&w, s)| {
        mesh.kind(w) == VertexKind::Free
            && s.point.distance(mesh.positions[w]) < numerics.first_contact_reach * edge
            && s.normal.dot(sample.normal) > 0.5
    });
    let faces = mesh.fan(v).all(|h| facing(mesh, h.triangle(), sample.normal) < FACING);
    // No other neighbor of the ring may be in contact, or two patches would meet in a point.
    let isolated = ring.iter().all(|&w| mesh.fan(w).all(|h| mesh.kind(mesh.to(h)) == VertexKind::Free));
    if !(near && faces && isolated) {
        return 0;
    }
    for (&w, s) in ring.iter().zip(&samples) {
        place_on(mesh, w, s, 0.0);
    }
    let fan: Vec<HalfEdgeIndex> = mesh.fan(v).collect();
    for &h in &fan {
        mesh.interfaces[h.triangle()] = interface;
    }
    fan.len()
}

/// Lets a contact line that has reached the corner between two solids advance onto the second one.
///
/// In the corner the liquid meets the second solid at the angle between their normals. Where that
/// exceeds the advancing angle, the free vertices beside the corner are put on the second solid.
fn climb_corners(mesh: &mut Mesh, edge: f64, substrate: &Substrate, near: &[SolidIndex], done: &mut ContactReport) {
    for t in mesh.triangle_indices() {
        if !mesh.is_live(t) || mesh.interfaces[t] != Interface::Air {
            continue;
        }
        for h in t.half_edges() {
            let Some(own) = mesh.interface_of(mesh.twin(h)).solid_index() else { continue };
            let onto = near.iter().copied().filter(|&s| s != own).find(|&s| climbs(mesh, h, s, edge, substrate));
            if let Some(solid) = onto {
                done.wetted += wet_beside_corner(mesh, mesh.apex(h), solid, edge, substrate);
                break;
            }
        }
    }
}

/// Whether an edge of the contact line lies in the corner with a solid and the free
/// triangle beside it meets that solid at more than its advancing angle.
fn climbs(mesh: &Mesh, h: HalfEdgeIndex, solid: SolidIndex, edge: f64, substrate: &Substrate) -> bool {
    let apex = mesh.apex(h);
    let distance = |v: VertexIndex| substrate.solids()[solid].signed_distance(mesh.positions[v]);
    if distance(mesh.from(h)) > IN_CORNER * edge
        || distance(mesh.to(h)) > IN_CORNER * edge
        || distance(apex) > CLIMB_REACH * edge
        || mesh.kind(apex) != VertexKind::Free
    {
        return false;
    }
    let sample = substrate.sample(Interface::Solid(solid), mesh.positions[apex]);
    facing(mesh, h.triangle(), sample.normal) < FACING.min(sample.wetting.cos_advancing)
}

/// Puts a free vertex on a solid and wets its triangles that have an edge in the corner with it;
/// returns how many.
fn wet_beside_corner(mesh: &mut Mesh, v: VertexIndex, solid: SolidIndex, edge: f64, substrate: &Substrate) -> usize {
    let interface = Interface::Solid(solid);
    let in_corner = |mesh: &Mesh, w: VertexIndex| {
        mesh.kind(w) != VertexKind::Free
            && substrate.solids()[solid].signed_distance(mesh.positions[w]) < IN_CORNER * edge
    };
    let fan: Vec<HalfEdgeIndex> = mesh.fan(v).collect();
    let beside: Vec<bool> = fan.iter().map(|&h| in_corner(mesh, mesh.to(h)) && in_corner(mesh, mesh.apex(h))).collect();
    // One run of triangles: otherwise the line would touch itself in this vertex.
    let runs = (0..fan.len()).filter(|&k| beside[k] && !beside[(k + 1) % fan.len()]).count();
    if runs != 1 {
        return 0;
    }
    let sample = substrate.sample(interface, mesh.positions[v]);
    place_on(mesh, v, &sample, 0.0);
    let wetted = fan.iter().zip(&beside).filter(|(_, beside)| **beside);
    wetted.map(|(&h, _)| mesh.interfaces[h.triangle()] = interface).count()
}

/// Wets or removes the free triangles that have three corners on one solid.
///
/// Those that face the solid are wetted, those that face away are films. A vertex in a corner lies
/// on every solid that meets there, whatever its triangles are tagged with. `kinds` are the kinds
/// of the vertices while the mesh is unchanged.
fn close_flat_triangles(
    mesh: &mut Mesh,
    edge: f64,
    substrate: &Substrate,
    mut kinds: Option<&[VertexKind]>,
    done: &mut ContactReport,
) {
    for t in mesh.triangle_indices() {
        if !mesh.is_live(t) || mesh.interfaces[t] != Interface::Air {
            continue;
        }
        if kinds.is_some_and(|kinds| mesh.triangles[t].iter().any(|&v| kinds[v] == VertexKind::Free)) {
            continue;
        }
        let Some(interface) = common_solid(mesh, t, edge, substrate) else { continue };
        let center: DVec3 = mesh.corners(t).iter().sum::<DVec3>() / 3.0;
        let sample = substrate.sample(interface, center);
        let facing = facing(mesh, t, sample.normal);
        if facing < FACING && sample.point.distance(center) < 0.5 * edge {
            mesh.interfaces[t] = interface;
            done.wetted += 1;
            kinds = None;
        } else if facing > FACING_AWAY
            && let Some(h) = t.half_edges().into_iter().find(|&h| mesh.is_line(h) && mesh.can_collapse(h))
        {
            let position = mesh.positions[mesh.to(h)];
            mesh.collapse(h, position);
            done.films_removed += 1;
            kinds = None;
        }
    }
}

/// A solid on which all corners of a triangle lie.
fn common_solid(mesh: &Mesh, t: TriangleIndex, edge: f64, substrate: &Substrate) -> Option<Interface> {
    let interfaces = mesh.triangles[t].map(|v| mesh.interface_at(v));
    if interfaces.contains(&Interface::Air) {
        return None;
    }
    let corners = mesh.corners(t);
    interfaces.into_iter().find(|&candidate| {
        candidate.solid_index().is_some_and(|s| {
            let solid = &substrate.solids()[s];
            (0..3).all(|k| interfaces[k] == candidate || solid.signed_distance(corners[k]) < 1e-3 * edge)
        })
    })
}

/// Frees wetted patches smaller than `min_area`, in m²; returns how many.
fn detach_small_patches(mesh: &mut Mesh, min_area: f64, contact: &mut ContactScratch) -> usize {
    let ContactScratch { patch, visited, .. } = contact;
    visited.clear();
    visited.resize(mesh.triangles.len(), false);
    let mut detached = 0;
    for first in mesh.triangle_indices() {
        if visited[first] || !mesh.is_live(first) || !mesh.interfaces[first].is_solid() {
            continue;
        }
        let interface = mesh.interfaces[first];
        patch.clear();
        patch.push(first);
        visited[first] = true;
        let (mut at, mut area) = (0, 0.0);
        while at < patch.len() {
            area += mesh.area_vector(patch[at]).length();
            for h in patch[at].half_edges() {
                let other = mesh.twin(h).triangle();
                if mesh.interfaces[other] == interface && !std::mem::replace(&mut visited[other], true) {
                    patch.push(other);
                }
            }
            at += 1;
        }
        if area < min_area {
            patch.iter().for_each(|&t| mesh.interfaces[t] = Interface::Air);
            detached += 1;
        }
    }
    detached
}
