//! Merging drops along the curves in which their surfaces intersect.
//!
//! Both surfaces are extended into their solids, to different depths, united by a mesh Boolean
//! ([`super::mesh_boolean`]) and cut off at the contact line again. What remains of the line is the
//! outline of the new wetted face, which is triangulated again. The mesh is unchanged away from the
//! curves. Points closer than a twentieth of an edge are welded. Parts of one drop that intersect
//! are joined in the same way.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;

use super::ear_clipping::clip_ears;
use super::mesh_boolean::{BooleanError, TaggedSurface};
use super::sdf_body::extend_into_solids;
use crate::drop::{Drop, Scratch};
use crate::dynamics::volume_correction::restore_volume_of;
use crate::mesh::check::check_crossings;
use crate::mesh::index::{HalfEdgeIndex, VertexIndex, plain_triangles};
use crate::mesh::{Interface, Mesh, VertexKind};
use crate::parameters::Parameters;
use crate::rebuild::{MAX_PASSES, encloses_its_volume, remesh_and_restore};
use crate::substrate::Substrate;

/// Depths to which the two drops are extended into their solids, in edges; different, so that their
/// bottoms do not coincide.
const DEPTHS: [f64; 2] = [1.0, 1.37];
/// Length below which edges are welded, in edges.
const WELD: f64 = 0.05;
/// Most passes that split the long edges of a wetted face: enough for a thousand edges across.
const MAX_REFINEMENTS: usize = 24;
/// Most passes that fill the groove along the curves.
const MAX_FILLINGS: usize = 12;
/// Cosine between two triangles below which their edge lies in a groove.
const SHARP: f64 = 0.3;

/// The union of two drops whose surfaces intersect, and the length of the curves, in m.
///
/// `edge` is the edge length of the union, in m. `volume`, in m³, is what it should enclose: the
/// groove along the curves is filled up to that. Curves up to a length of `shortest`, in m, are an
/// error.
pub fn unite(
    [a, b]: [&Mesh; 2],
    edge: f64,
    shortest: f64,
    volume: f64,
    substrate: &Substrate,
) -> Result<(Mesh, f64), BooleanError> {
    let [first, second] =
        [(a, DEPTHS[0]), (b, DEPTHS[1])].map(|(mesh, depth)| extend_into_solids(mesh, substrate, depth * edge));
    let (surface, length) = first.joined_with(&second).union(edge, shortest)?;
    Ok((close_on_solids(surface, edge, volume, substrate)?, length))
}

/// Joins the parts of a drop that intersect; also returns the length of the curves, in m.
pub fn self_union(mesh: &Mesh, edge: f64, volume: f64, substrate: &Substrate) -> Result<(Mesh, f64), BooleanError> {
    let mut surface = TaggedSurface {
        positions: mesh.positions.clone(),
        velocities: mesh.velocities.clone(),
        ..TaggedSurface::default()
    };
    for (&corners, &interface) in mesh.triangles.iter().zip(&mesh.interfaces) {
        surface.push(corners, interface);
    }
    let (surface, length) = surface.union(edge, 0.0)?;
    Ok((close_on_solids(surface, edge, volume, substrate)?, length))
}

/// Restores the volume of a merged drop and remeshes it while it stays valid; returns whether it
/// is.
///
/// Later steps do the rest of the remeshing.
pub fn remesh_merged(drop: &mut Drop, substrate: &Substrate, params: &Parameters, scratch: &mut Scratch) -> bool {
    let valid = |drop: &Drop| {
        encloses_its_volume(drop) && check_crossings(&drop.mesh).is_ok() && drop.mesh.components().len() == 1
    };
    restore_volume_of(drop, substrate, scratch);
    if !valid(drop) {
        return false;
    }
    for _ in 0..MAX_PASSES {
        let before = drop.mesh.clone();
        let edge = drop.target_edge(params.edge);
        if !remesh_and_restore(drop, [edge, params.edge], substrate, params, scratch) {
            break;
        }
        if !valid(drop) {
            drop.mesh = before;
            break;
        }
    }
    drop.air_area = drop.mesh.air_area();
    true
}

/// The half-edge mesh of a closed surface.
fn to_mesh(surface: TaggedSurface) -> Result<Mesh, BooleanError> {
    let triangles = plain_triangles(&surface.triangles);
    let plain = TriMesh { positions: surface.positions, triangles, ..TriMesh::default() };
    let mut mesh = Mesh::from_triangles(&plain).ok_or(BooleanError::Tangled)?;
    if mesh.positions.len() != surface.velocities.len() {
        return Err(BooleanError::Tangled);
    }
    mesh.velocities = surface.velocities;
    mesh.interfaces = surface.interfaces;
    Ok(mesh)
}

/// Removes what is below the contact line and closes the surface on the solids.
fn close_on_solids(
    surface: TaggedSurface,
    edge: f64,
    volume: f64,
    substrate: &Substrate,
) -> Result<Mesh, BooleanError> {
    // Weld while there is no contact line yet that has to stay in one piece.
    let mut whole = to_mesh(surface)?;
    weld(&mut whole, WELD * edge);
    whole.compact();
    let mut open = OpenSurface::above_contact_line(whole);
    for outline in open.contact_lines()? {
        open.close_footprint(&outline, substrate)?;
    }
    let mut mesh = to_mesh(open.without_unused_vertices())?;
    refine_wetted_face(&mut mesh, edge, substrate)?;
    fill_groove(&mut mesh, volume);
    mesh.compact();
    Ok(mesh)
}

/// A surface that is open at its contact lines.
struct OpenSurface {
    positions: Vec<DVec3>,
    velocities: Vec<DVec3>,
    triangles: Vec<[VertexIndex; 3]>,
    interfaces: Vec<Interface>,
    /// Interface of the removed triangle at each of its directed edges.
    removed: BTreeMap<[VertexIndex; 2], Interface>,
}

impl OpenSurface {
    /// The free triangles of a closed surface.
    fn above_contact_line(mesh: Mesh) -> Self {
        let mut removed = BTreeMap::new();
        let (mut triangles, mut interfaces) = (Vec::new(), Vec::new());
        for (&corners, &interface) in mesh.triangles.iter().zip(&mesh.interfaces) {
            if interface == Interface::Air {
                triangles.push(corners);
                interfaces.push(interface);
            } else {
                removed.extend((0..3).map(|k| ([corners[k], corners[(k + 1) % 3]], interface)));
            }
        }
        Self { positions: mesh.positions, velocities: mesh.velocities, triangles, interfaces, removed }
    }

    /// The boundary loops, in the direction of the wetted faces that will close them.
    fn contact_lines(&self) -> Result<Vec<Vec<VertexIndex>>, BooleanError> {
        let triangles = plain_triangles(&self.triangles);
        let connectivity = Connectivity::new(&triangles).map_err(|_| BooleanError::Footprint)?;
        let mut next: BTreeMap<VertexIndex, VertexIndex> = BTreeMap::new();
        for half_edge in connectivity.boundary() {
            let [from, to] = half_edge.ends(&triangles).map(|v| VertexIndex::new(v as usize));
            if next.insert(to, from).is_some() {
                return Err(BooleanError::Footprint);
            }
        }
        let mut outlines = Vec::new();
        while let Some((&first, _)) = next.first_key_value() {
            let mut outline = Vec::new();
            let mut at = first;
            while let Some(to) = next.remove(&at) {
                outline.push(at);
                at = to;
            }
            if at != first || outline.len() < 3 {
                return Err(BooleanError::Footprint);
            }
            outlines.push(outline);
        }
        Ok(outlines)
    }

    /// Closes a contact line by a face on its solid.
    fn close_footprint(&mut self, outline: &[VertexIndex], substrate: &Substrate) -> Result<(), BooleanError> {
        let n = outline.len();
        let interface_of = |k: usize| self.removed.get(&[outline[k], outline[(k + 1) % n]]).copied();
        let interface = interface_of(0).ok_or(BooleanError::Footprint)?;
        if (0..n).any(|k| interface_of(k) != Some(interface)) {
            return Err(BooleanError::Footprint);
        }
        for &v in outline {
            self.positions[v] = substrate.closest_point(interface, self.positions[v]);
        }
        let points: Vec<DVec3> = outline.iter().map(|&v| self.positions[v]).collect();
        let normal: DVec3 = points.iter().map(|&p| substrate.sample(interface, p).normal).sum();
        // Ear clipping requires that the outline runs around the wetted side, not around a dry
        // spot.
        let twice_area: DVec3 = (0..n).map(|k| (points[k] - points[0]).cross(points[(k + 1) % n] - points[0])).sum();
        if twice_area.dot(normal) >= 0.0 {
            return Err(BooleanError::Footprint);
        }
        let ears = clip_ears(&points, -normal).ok_or(BooleanError::Footprint)?;
        let mut face: Vec<[VertexIndex; 3]> = ears.into_iter().map(|ear| ear.map(|k| outline[k])).collect();
        for [v, w] in doubled_edges(&face, &self.triangles) {
            let middle = 0.5 * (self.positions[v] + self.positions[w]);
            self.positions.push(substrate.closest_point(interface, middle));
            self.velocities.push(0.5 * (self.velocities[v] + self.velocities[w]));
            split_face_edge(&mut face, [v, w], VertexIndex::new(self.positions.len() - 1));
        }
        self.interfaces.resize(self.interfaces.len() + face.len(), interface);
        self.triangles.append(&mut face);
        Ok(())
    }

    /// A surface of the vertices in use, numbered in the order of first use.
    fn without_unused_vertices(self) -> TaggedSurface {
        let mut new_index: Vec<Option<VertexIndex>> = vec![None; self.positions.len()];
        let mut closed = TaggedSurface::default();
        for (corners, interface) in self.triangles.into_iter().zip(self.interfaces) {
            let corners = corners.map(|v| {
                *new_index[v].get_or_insert_with(|| {
                    closed.positions.push(self.positions[v]);
                    closed.velocities.push(self.velocities[v]);
                    VertexIndex::new(closed.positions.len() - 1)
                })
            });
            closed.push(corners, interface);
        }
        closed
    }
}

/// Edges within a wetted face that join two vertices which a free edge joins as well.
///
/// With both edges the surface would not be manifold.
fn doubled_edges(face: &[[VertexIndex; 3]], free: &[[VertexIndex; 3]]) -> Vec<[VertexIndex; 2]> {
    let edges = |corners: &[VertexIndex; 3]| {
        let [a, b, c] = *corners;
        [[a, b], [b, c], [c, a]]
    };
    // Inner edges of the face occur in both directions.
    let directed: BTreeSet<[VertexIndex; 2]> = face.iter().flat_map(edges).collect();
    let inner = |&[v, w]: &[VertexIndex; 2]| v < w && directed.contains(&[w, v]);
    let doubled: BTreeSet<[VertexIndex; 2]> =
        free.iter().flat_map(edges).map(|[v, w]| [v.min(w), v.max(w)]).filter(|edge| directed.contains(edge)).collect();
    directed.iter().copied().filter(inner).filter(|edge| doubled.contains(edge)).collect()
}

/// Splits an edge of a face at the vertex `middle`.
fn split_face_edge(face: &mut Vec<[VertexIndex; 3]>, [v, w]: [VertexIndex; 2], middle: VertexIndex) {
    for t in 0..face.len() {
        let corners = face[t];
        let edge = (0..3).find(|&k| [[v, w], [w, v]].contains(&[corners[k], corners[(k + 1) % 3]]));
        if let Some(k) = edge {
            face[t][(k + 1) % 3] = middle;
            face.push([middle, corners[(k + 1) % 3], corners[(k + 2) % 3]]);
        }
    }
}

/// Splits the long edges within a wetted face, which has no inner vertices yet.
fn refine_wetted_face(mesh: &mut Mesh, edge: f64, substrate: &Substrate) -> Result<(), BooleanError> {
    let is_long = |mesh: &Mesh, h: HalfEdgeIndex| {
        h < mesh.twin(h) && mesh.interface_of(h) != Interface::Air && !mesh.is_line(h) && mesh.length(h) > 1.5 * edge
    };
    for _ in 0..MAX_REFINEMENTS {
        let mut long: Vec<HalfEdgeIndex> = mesh.half_edge_indices().filter(|&h| is_long(mesh, h)).collect();
        if long.is_empty() {
            return Ok(());
        }
        long.sort_by(|&g, &h| mesh.length(h).total_cmp(&mesh.length(g)).then(g.cmp(&h)));
        for h in long {
            // Earlier splits may have shortened it.
            if is_long(mesh, h) {
                let middle = 0.5 * (mesh.positions[mesh.from(h)] + mesh.positions[mesh.to(h)]);
                let position = substrate.closest_point(mesh.interface_of(h), middle);
                // At a sharp corner or a thin part of a solid the closest point may be elsewhere,
                // and the halves would not be shorter.
                if position.distance(middle) > 0.25 * mesh.length(h) {
                    return Err(BooleanError::Footprint);
                }
                mesh.split(h, position);
            }
        }
    }
    Err(BooleanError::Footprint)
}

/// Fills the groove along the curves until the surface encloses `volume`, in m³.
///
/// The union lacks the intersection of the two drops. Inflating the whole surface by that volume
/// would make the sides of a narrow groove intersect, and the displaced liquid emerges in the
/// groove anyway. Vertices of the groove move outward to the center of their neighbors; every other
/// pass the region grows by one ring.
fn fill_groove(mesh: &mut Mesh, volume: f64) {
    let free = |mesh: &Mesh, v: VertexIndex| mesh.is_vertex_live(v) && mesh.kind(v) == VertexKind::Free;
    let sharp = |mesh: &Mesh, v: VertexIndex| {
        mesh.fan(v).any(|h| {
            let [n, m] = [h, mesh.twin(h)].map(|h| mesh.area_vector(h.triangle()));
            n.dot(m) < SHARP * n.length() * m.length()
        })
    };
    let mut groove: Vec<bool> = mesh.vertex_indices().map(|v| free(mesh, v) && sharp(mesh, v)).collect();
    for pass in 0..MAX_FILLINGS {
        if pass > 1 && mesh.volume() >= volume {
            return;
        }
        if pass % 2 == 1 {
            let grown: Vec<bool> = mesh
                .vertex_indices()
                .map(|v| groove[v] || (free(mesh, v) && mesh.fan(v).any(|h| groove[mesh.to(h)])))
                .collect();
            groove = grown;
        }
        let mut shifts: Vec<(VertexIndex, DVec3)> = Vec::new();
        for v in mesh.vertex_indices().filter(|&v| groove[v]) {
            let (mut center, mut normal, mut valence) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for h in mesh.fan(v) {
                center += mesh.positions[mesh.to(h)];
                normal += mesh.area_vector(h.triangle());
                valence += 1.0;
            }
            let offset = center / valence - mesh.positions[v];
            if offset.dot(normal) > 0.0 {
                shifts.push((v, offset * 0.5));
            }
        }
        for (v, shift) in shifts {
            mesh.positions[v] += shift;
        }
    }
}

/// Collapses edges shorter than `below` meters where that inverts no triangle.
fn weld(mesh: &mut Mesh, below: f64) {
    let mut short: Vec<(f64, HalfEdgeIndex)> = mesh
        .half_edge_indices()
        .filter(|&h| h < mesh.twin(h))
        .map(|h| (mesh.length(h), h))
        .filter(|(length, _)| *length < below)
        .collect();
    short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, h) in short {
        if !mesh.is_live(h.triangle()) || mesh.length(h) >= below || !mesh.can_collapse(h) {
            continue;
        }
        // The end with more contact stays; of equal ones, either may.
        let [from, to] = mesh.kinds(h).map(VertexKind::rank);
        let candidates = match from.cmp(&to) {
            std::cmp::Ordering::Greater => [Some(mesh.twin(h)), None],
            std::cmp::Ordering::Less => [Some(h), None],
            std::cmp::Ordering::Equal => [Some(h), Some(mesh.twin(h))],
        };
        for h in candidates.into_iter().flatten() {
            let position = mesh.positions[mesh.to(h)];
            if !inverts_a_triangle(mesh, h, position) {
                mesh.collapse(h, position);
                break;
            }
        }
    }
}

/// Whether collapsing `h` to `position` inverts a triangle at its start that is not degenerate.
fn inverts_a_triangle(mesh: &Mesh, h: HalfEdgeIndex, position: DVec3) -> bool {
    let removed = [h.triangle(), mesh.twin(h).triangle()];
    mesh.fan(mesh.from(h)).filter(|e| !removed.contains(&e.triangle())).any(|e| {
        let before = mesh.area_vector(e.triangle());
        let [q, r] = [mesh.to(e), mesh.apex(e)].map(|v| mesh.positions[v]);
        let longest = mesh.length(e).max(q.distance(r)).max(mesh.length(e.previous()));
        before.length() > 0.02 * longest * longest && before.dot((q - position).cross(r - position)) <= 0.0
    })
}

#[cfg(test)]
mod tests {
    use sessile_world::World;

    use super::*;
    use crate::mesh::check::{check, check_crossings};
    use crate::mesh::index::TriangleIndex;
    use crate::mesh::primitives::sphere;
    use crate::test_support::{TestDrops, floor, scene};

    const EDGE: f64 = 0.2e-3;

    fn no_solids() -> Substrate {
        Substrate::new(World::build(&scene("")).unwrap())
    }

    fn lens(radius: f64, apart: f64) -> f64 {
        let cap = radius - 0.5 * apart;
        2.0 * std::f64::consts::PI * cap * cap * (radius - cap / 3.0)
    }

    #[test]
    fn the_union_of_two_spheres_is_unchanged_away_from_the_intersection() {
        let substrate = no_solids();
        let (radius, apart) = (1e-3, 1.5e-3);
        let at = [DVec3::ZERO, DVec3::new(apart, 0.0, 0.0)];
        let [a, b] = at.map(|at| sphere(at, radius, EDGE, |_| radius).unwrap());
        let (made, length) = unite([&a, &b], EDGE, 0.0, 0.0, &substrate).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let expected = a.volume() + b.volume() - lens(radius, apart);
        let off = made.volume() / expected - 1.0;
        assert!(off.abs() < 0.01, "volume off by {off}");
        let round = std::f64::consts::TAU * (radius * radius - 0.25 * apart * apart).sqrt();
        assert!((length / round - 1.0).abs() < 0.03, "the curve is {length} m long, {round} expected");
        let too_short = unite([&a, &b], EDGE, 1.1 * round, 0.0, &substrate);
        assert_eq!(too_short.map(|_| ()), Err(BooleanError::Short), "a curve of {length} m");
        // Vertices of a farther than an edge from b are unchanged up to the perturbation.
        let far = a.positions.iter().filter(|p| p.distance(at[1]) > radius + EDGE);
        let moved = far
            .map(|p| made.positions.iter().map(|q| q.distance(*p)).fold(f64::INFINITY, f64::min))
            .fold(0.0, f64::max);
        assert!(moved < 2e-6 * EDGE, "a vertex away from the curve has moved by {moved} m");
    }

    /// Mirror images with coincident vertices: not in general position.
    #[test]
    fn coincident_vertices_do_not_prevent_a_union() {
        let substrate = no_solids();
        let a = sphere(DVec3::ZERO, 1e-3, EDGE, |_| 1e-3).unwrap();
        for shift in [DVec3::new(1e-3, 0.0, 0.0), DVec3::new(0.0, 1.4e-3, 0.0), DVec3::new(1e-3, 1e-3, 0.0)] {
            let mut b = a.clone();
            b.positions.iter_mut().for_each(|p| *p += shift);
            let (made, _) = unite([&a, &b], EDGE, 0.0, 0.0, &substrate).unwrap();
            check(&made).unwrap();
            check_crossings(&made).unwrap();
        }
    }

    /// The small sphere emerges from the middle of a triangle of the large one.
    #[test]
    fn a_curve_within_one_triangle_is_united() {
        let substrate = no_solids();
        let a = sphere(DVec3::ZERO, 2e-3, 1e-3, |_| 2e-3).unwrap();
        let middle: DVec3 = a.corners(TriangleIndex::new(0)).iter().sum::<DVec3>() / 3.0;
        let b = sphere(middle, 0.2e-3, 0.05e-3, |_| 0.2e-3).unwrap();
        let (made, _) = unite([&a, &b], 0.2e-3, 0.0, 0.0, &substrate).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let more = made.volume() - a.volume();
        assert!((more / b.volume() - 0.5).abs() < 0.1, "half of the small one stands out, not {}", more / b.volume());
    }

    #[test]
    fn the_union_of_two_caps_has_one_contact_line() {
        let cap = |x: f64| {
            format!(
                "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} 0 0 mm\"\nvolume = \"4 uL\"\ncontact_angle = \"70 deg\"\n"
            )
        };
        let test = TestDrops::new(&format!("{}{}{}", floor(90.0, 60.0), cap(-1.1), cap(1.1)), EDGE);
        let (made, _) = unite([&test.drops[0].mesh, &test.drops[1].mesh], EDGE, 0.0, 0.0, &test.substrate).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let wetted = Mesh::wetted_area;
        let one = wetted(&test.drops[0].mesh);
        let r = (one / std::f64::consts::PI).sqrt();
        let half = 1.1e-3 / r;
        let overlap = 2.0 * r * r * (half.acos() - half * (1.0 - half * half).sqrt());
        let off = wetted(&made) / (2.0 * one - overlap) - 1.0;
        assert!(off.abs() < 0.02, "wetted area off by {off}");
        let high = made.vertex_indices().filter(|&v| made.kind(v) != VertexKind::Free);
        let high = high.map(|v| made.positions[v].y.abs()).fold(0.0, f64::max);
        assert!(high < 1e-12, "the line is {high} m above the floor");
    }

    /// A ring that is not quite closed, with overlapping ends.
    #[test]
    fn a_ring_with_overlapping_ends_becomes_a_torus() {
        let substrate = no_solids();
        let mut mesh = sphere(DVec3::ZERO, 1e-3, 0.12e-3, |_| 1e-3).unwrap();
        for p in &mut mesh.positions {
            // Stretched to a rod along x, then bent by a little more than a full turn.
            let angle = 3.35 * p.x / 1e-3;
            let reach = 2e-3 + 0.45 * p.y;
            *p = DVec3::new(reach * angle.sin(), 0.45 * p.z, reach * angle.cos());
        }
        let mesh = if mesh.volume() < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            Mesh::from_triangles(&mesh.to_tri_mesh()).unwrap()
        } else {
            mesh
        };
        assert!(check_crossings(&mesh).is_err(), "its ends lie over one another");
        let (made, _) = self_union(&mesh, 0.3e-3, 0.0, &substrate).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let euler = made.positions.len() as i64 - made.triangles.len() as i64 / 2;
        assert_eq!((euler, made.components().len()), (0, 1), "Euler number of a torus, one part");
    }
}
