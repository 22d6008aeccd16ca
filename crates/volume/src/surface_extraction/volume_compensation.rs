//! Volume compensation: the interface of each drop is moved along its normals until its surface
//! encloses the drop's volume.
//!
//! ```text
//! δ = (V_drop − V_surface) / A        A the area of the interface
//! ```
//!
//! What flat triangles cut off on average is compensated before (`chord_error`); what remains are
//! drops of a few cells, sharp edges, and the difference of a fast drop on the grid to its balance.
//! δ is at most a twentieth of a cell, which the grid does not resolve: a larger difference remains
//! visible. Drops of a few cells are not resolved at all and may be moved by half a cell.

use glam::DVec3;
use rayon::prelude::*;
use sessile_numerics::UnionFind;

use super::chord_error::{MAX_DISPLACEMENT, displaced};
use super::edge_collapse::TaggedMesh;
use super::{ExtractionFields, SurfaceTag, VertexKind};

/// Displacements until the volume is enclosed.
const PASSES: usize = 2;
/// The same for drops of at most [`FEW_CELLS`].
const PASSES_OF_SMALL: usize = 6;
/// Volume of a drop that the grid does not resolve, in cells.
const FEW_CELLS: f64 = 27.0;
/// Largest displacement of such a drop, in cells.
const MAX_DISPLACEMENT_OF_SMALL: f64 = 0.5;

/// What is known of the drops that are shown as one.
#[derive(Clone, Copy, Debug, Default)]
struct Body {
    /// Sum of the drops' volumes; none if one of them is not known.
    volume: Option<f64>,
    /// A point near the surface, from which its volume is summed without cancellation.
    center: DVec3,
    /// Displacement so far, in m.
    moved: f64,
    /// Largest displacement, in m.
    limit: f64,
    /// Displacement in this pass, in m.
    shift: f64,
}

impl Body {
    /// Whether the grid does not resolve it.
    fn is_small(&self, h: f64) -> bool {
        self.volume.is_some_and(|volume| volume <= FEW_CELLS * h.powi(3))
    }
}

/// Moves the interface and the contact line of each drop; `joined` lists drops that are shown as
/// part of another one.
pub fn compensate_volume(
    mesh: &mut TaggedMesh,
    kinds: &[VertexKind],
    joined: &[(u32, u32)],
    h: f64,
    planar: bool,
    liquid: &impl ExtractionFields,
) {
    let (ids, mut bodies) = find_bodies(mesh, joined, h, liquid);
    let body_of: Vec<u32> = mesh.owners.iter().map(|&id| body_of_drop(&ids, id)).collect();
    for pass in 0..PASSES_OF_SMALL {
        if pass == PASSES {
            // The others have arrived.
            bodies.iter_mut().filter(|body| !body.is_small(h)).for_each(|body| body.volume = None);
        }
        measure(mesh, &body_of, &mut bodies);
        if bodies.iter().all(|body| body.shift == 0.0) {
            return;
        }
        let (bodies, body_of) = (&bodies, &body_of);
        mesh.positions.par_iter_mut().enumerate().for_each(|(v, position)| {
            let body = &bodies[body_of[v] as usize];
            if body.shift != 0.0 && matches!(kinds[v], VertexKind::Interface | VertexKind::ContactLine) {
                let normal = liquid.phi_at(*position).1.normalize_or_zero();
                *position = displaced(*position, kinds[v], normal, body.shift, planar, liquid);
            }
        });
    }
}

/// The body that a drop belongs to.
fn body_of_drop(ids: &[(u32, u32)], id: u32) -> u32 {
    ids[ids.binary_search_by_key(&id, |known| known.0).expect("every owner is listed")].1
}

/// The body of each drop, by id, and the bodies.
fn find_bodies(
    mesh: &TaggedMesh,
    joined: &[(u32, u32)],
    h: f64,
    liquid: &impl ExtractionFields,
) -> (Vec<(u32, u32)>, Vec<Body>) {
    let mut known: Vec<u32> = mesh.owners.clone();
    known.extend(joined.iter().flat_map(|&(id, into)| [id, into]));
    known.sort_unstable();
    known.dedup();
    let at = |id: u32| known.binary_search(&id).expect("every id is listed") as u32;
    let mut sets = UnionFind::new(known.len());
    for &(id, into) in joined {
        sets.union(at(id), at(into));
    }
    let ids: Vec<(u32, u32)> = (known.iter().enumerate()).map(|(k, &id)| (id, sets.find(k as u32))).collect();
    let mut bodies = vec![Body { volume: Some(0.0), ..Body::default() }; ids.len()];
    for &(id, body) in &ids {
        let body = &mut bodies[body as usize];
        body.volume = body.volume.zip(liquid.volume(id)).map(|(sum, volume)| sum + volume);
    }
    for body in &mut bodies {
        body.limit = h * if body.is_small(h) { MAX_DISPLACEMENT_OF_SMALL } else { MAX_DISPLACEMENT };
    }
    for (&owner, &position) in mesh.owners.iter().zip(&mesh.positions) {
        bodies[sets.find(at(owner)) as usize].center = position;
    }
    (ids, bodies)
}

/// Writes the displacement of each body.
fn measure(mesh: &TaggedMesh, body_of: &[u32], bodies: &mut [Body]) {
    let mut sums = vec![(0.0, 0.0); bodies.len()];
    for (triangle, &tag) in mesh.triangles.iter().zip(&mesh.tags) {
        let body = body_of[triangle[0] as usize] as usize;
        let [a, b, c] = triangle.map(|v| mesh.positions[v as usize] - bodies[body].center);
        sums[body].0 += a.dot(b.cross(c)) / 6.0;
        if tag == SurfaceTag::Interface {
            sums[body].1 += 0.5 * (b - a).cross(c - a).length();
        }
    }
    for (body, (enclosed, area)) in bodies.iter_mut().zip(sums) {
        let missing = body.volume.map_or(0.0, |volume| volume - enclosed);
        let wanted = if area > 0.0 { body.moved + missing / area } else { body.moved };
        body.shift = wanted.clamp(-body.limit, body.limit) - body.moved;
        body.moved += body.shift;
    }
}
