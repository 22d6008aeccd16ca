//! Tension of the motion within the surface beside a contact line.
//!
//! A vertex has no velocity of its own within the surface: it follows the drop
//! ([`super::velocity_gauge`]). Beside a line that stays where the drop swings, vertices slide
//! along the surface toward the line and away from it. To first order this does not change the
//! area, but the stiffness K of the step is that of the Laplacian in all directions, so κ σ L v
//! resists the shear in the ring of triangles at the line like a viscosity σ τ:
//!
//! ```text
//! dU/dt ~ −(σ τ/ρV) (length of the line/edge) U
//! ```
//!
//! In steps of 1 ms the swing of 10 µL on a pinned line decays by 14 to 34 per second then, the
//! faster the finer the edges; its viscosity makes it 5. So the tension acts on v − w, with the
//! shear
//!
//! ```text
//! w = β (1 − n nᵀ) (v⁰ − v⁰_line)
//! ```
//!
//! at free vertices. v⁰ are the velocities before the step, v⁰_line that of the nearest vertex of
//! the line, and β falls from 1 at the line to 0 at the vertices farthest from it, so that the
//! drop's motion as a whole is left as it is. What lags by a step is inertia to the swing, 1 to 2 %
//! of the drop's, and damps nothing. Only lines with hysteresis can stay behind; the others follow
//! the drop. Backward Euler, which damps waves itself, needs none of this.

use std::collections::VecDeque;

use glam::DVec3;

use super::contact_line::has_hysteresis;
use super::geometry::DropGeometry;
use super::linear_system::LinearSystem;
use crate::mesh::index::VertexIndex;
use crate::mesh::{Mesh, VertexKind};

/// Edges from the line of a vertex that no path reaches.
const UNREACHED: u32 = u32::MAX;

/// Where a vertex is relative to the contact line.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Edges between it and the line.
    edges: u32,
    /// The vertex of the line at their end.
    line: VertexIndex,
    /// Whether the line may be pinned there.
    may_stay: bool,
}

/// Memory of the shear.
#[derive(Clone, Debug, Default)]
pub struct LineShear {
    places: Vec<Place>,
    queue: VecDeque<VertexIndex>,
    shear: Vec<DVec3>,
}

impl LineShear {
    /// Adds κ σ L w to b; `tension` is κσ.
    pub fn release(&mut self, mesh: &Mesh, geometry: &DropGeometry, tension: f64, system: &mut LinearSystem) {
        if !self.find_places(mesh, geometry) {
            return;
        }
        let reached = self.places.iter().map(|place| place.edges).filter(|&edges| edges != UNREACHED);
        let farthest = f64::from(reached.max().unwrap_or(0).max(1));
        self.shear.clear();
        self.shear.extend(mesh.vertex_indices().zip(&self.places).map(|(v, place)| {
            if geometry.kinds[v] != VertexKind::Free || place.edges == UNREACHED || !place.may_stay {
                return DVec3::ZERO;
            }
            let (n, slip) = (geometry.normals[v], mesh.velocities[v] - mesh.velocities[place.line]);
            let share = 1.0 - f64::from(place.edges) / farthest;
            (slip - n * n.dot(slip)) * (share * share)
        }));
        for v in mesh.vertex_indices() {
            let pull = system.laplacian(v, &self.shear);
            system.right[v] += pull * tension;
        }
    }

    /// Finds where the vertices are, breadth first; whether the line may be pinned anywhere.
    fn find_places(&mut self, mesh: &Mesh, geometry: &DropGeometry) -> bool {
        let Self { places, queue, .. } = self;
        places.clear();
        places.extend(mesh.vertex_indices().map(|v| Place { edges: UNREACHED, line: v, may_stay: false }));
        queue.clear();
        let mut any = false;
        for contact in geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::ContactLine) {
            let may_stay = !contact.is_mobile_line() || has_hysteresis(contact);
            places[contact.vertex.to_usize()] = Place { edges: 0, line: contact.vertex, may_stay };
            queue.push_back(contact.vertex);
            any |= may_stay;
        }
        if !any {
            return false;
        }
        while let Some(v) = queue.pop_front() {
            let place = places[v.to_usize()];
            for h in mesh.fan(v) {
                let to = mesh.to(h);
                if geometry.kinds[to] == VertexKind::Free && places[to.to_usize()].edges == UNREACHED {
                    places[to.to_usize()] = Place { edges: place.edges + 1, ..place };
                    queue.push_back(to);
                }
            }
        }
        true
    }
}
