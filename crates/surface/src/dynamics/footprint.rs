//! Keeping the vertices in contact on their solids, and the wetted face evenly spaced.

use glam::DVec3;

use super::geometry::DropGeometry;
use crate::drop::{Drop, StepContext};
use crate::mesh::VertexKind;

/// Squared displacement below which a wetted vertex stays, in squared shortest edges.
const MIN_SHIFT_SQUARED: f64 = 1e-6;

/// Projects vertices in contact onto their solids and smooths the wetted face.
pub fn settle_on_solids(drop: &mut Drop, context: &StepContext<'_>, geometry: &mut DropGeometry) {
    let substrate = context.end;
    geometry.find_near(&drop.mesh, substrate, drop.target_edge(context.params.edge));
    let geometry = &*geometry;
    for contact in geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::ContactLine) {
        let v = contact.vertex;
        let interface = drop.mesh.interface_at(v);
        let position = substrate.closest_point(interface, drop.mesh.positions[v]);
        drop.mesh.positions[v] = substrate.project_out_of_solids(interface, position, &geometry.near);
    }
    let slides = translate_wetted(drop, context, geometry);
    smooth_wetted(drop, context, geometry, slides);
}

fn wetted(geometry: &DropGeometry) -> impl Iterator<Item = &super::geometry::Contact> {
    geometry.contacts.iter().filter(|contact| contact.kind == VertexKind::Wetted)
}

fn min_shift_squared(context: &StepContext<'_>) -> f64 {
    MIN_SHIFT_SQUARED * context.params.edge * context.params.edge
}

/// Moves wetted vertices, which have moved with their solid, along with the drop; returns whether
/// it slides.
fn translate_wetted(drop: &mut Drop, context: &StepContext<'_>, geometry: &DropGeometry) -> bool {
    let slip = (drop.velocity - geometry.solid_end_velocity()) * context.dt;
    let slides = slip.length_squared() > min_shift_squared(context);
    for contact in wetted(geometry) {
        let position = &mut drop.mesh.positions[contact.vertex];
        if !contact.interface.is_solid() {
            *position = context.end.closest_point(contact.interface, *position);
        } else if slides {
            *position += slip - contact.sample.normal * contact.sample.normal.dot(slip);
        }
    }
    slides
}

/// Moves wetted vertices halfway to the center of their neighbors.
///
/// Displacements that are too small are left out, so that a resting drop does not change at all.
fn smooth_wetted(drop: &mut Drop, context: &StepContext<'_>, geometry: &DropGeometry, slides: bool) {
    let substrate = context.end;
    let min_shift = min_shift_squared(context);
    for contact in wetted(geometry) {
        let Some(solid) = contact.interface.solid_index() else { continue };
        let v = contact.vertex;
        let mesh = &drop.mesh;
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for h in mesh.fan(v) {
            sum += mesh.positions[mesh.to(h)];
            count += 1.0;
        }
        let here = mesh.positions[v];
        let target = here + (sum / count - here) * 0.5;
        if !slides && target.distance_squared(here) < min_shift && !substrate.solids()[solid].moves() {
            continue;
        }
        let position = substrate.closest_point(contact.interface, target);
        drop.mesh.positions[v] = substrate.project_out_of_solids(contact.interface, position, &geometry.near);
    }
}
