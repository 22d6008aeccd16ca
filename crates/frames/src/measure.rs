//! Measures of a frame.
//!
//! Volume, velocity, largest speed and pressure come from the model; everything else is measured on
//! the surface. With S the liquid–air triangles, W those on solids, C the centroid of the enclosed
//! volume and N the normal of the solid that the drop is on, at its point closest to C:
//!
//! ```text
//! wetted_area  = Σ_W area      surface_area = Σ_S area      base_radius = √(wetted_area / π)
//! height       = max over vertices of the distance from that solid   (in free flight: y extent)
//! max_radius   = max over vertices of |(x − C) − N N·(x − C)|        (in free flight: N = y)
//! ```
//!
//! In a planar run the surface is a slab with the thickness t of one cell. Areas are divided by t
//! and become lengths, `base_radius` is half the wetted length, and the two end faces of the slab
//! are left out.
//!
//! An instance on a plane is measured against that plane, which saves a closest-point query on the
//! solid for every vertex.
//!
//! Each drop is measured by one thread, so the result does not depend on the number of threads.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use sessile_geometry::{Closest, Distance};
use sessile_shapes::{Instance, Shape};

use crate::contact_angle::{LineEdge, contact_line};
use crate::drop_surface::{DropIndex, DropSurface};
use crate::frame::{DropState, Event, Frame, FrameGeometry, Surface};
use crate::instances::{self, InstanceError};
use crate::measures::{AngleRange, ContactMeasures, DropMeasures, FrameMeasures};
use crate::ply::SurfaceError;

/// A solid that measures refer to.
#[derive(Clone, Copy)]
pub struct Solid<'a> {
    /// Name in the scene.
    pub name: &'a str,
    /// Distance to it at the time of the frame.
    pub shape: &'a dyn Distance,
}

/// Distance from a side of the domain below which a vertex lies on it, relative to the domain.
const SIDE_TOLERANCE: f64 = 1e-9;

/// Solids, dimension and domain that measures refer to.
#[derive(Clone, Copy, Default)]
pub struct MeasureContext<'a> {
    /// The solids, in scene order; indices on the surface refer to them.
    pub solids: &'a [Solid<'a>],
    /// Thickness of the slab in a planar run, in m; `None` in a three-dimensional run.
    pub planar: Option<f64>,
    /// Corners of the domain, in m, if the scene has one.
    pub domain: Option<[DVec3; 2]>,
}

impl MeasureContext<'_> {
    /// Whether a triangle lies on a side of the domain: where a mirror or a periodic side cuts the
    /// liquid, or a wall bounds it, there is no air.
    fn is_on_side(&self, surface: &DropSurface, triangle: usize) -> bool {
        let Some([low, high]) = self.domain else { return false };
        let tolerance = SIDE_TOLERANCE * (high - low).max_element();
        let corners = surface.triangles[triangle].map(|v| surface.positions[v as usize]);
        (0..3).any(|axis| {
            [low, high].iter().any(|side| corners.iter().all(|corner| (corner[axis] - side[axis]).abs() < tolerance))
        })
    }
}

/// Why a frame cannot be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The surface is invalid.
    #[error("frame {frame}: {reason}")]
    Surface {
        /// The frame.
        frame: u64,
        /// What is wrong.
        reason: SurfaceError,
    },
    /// An instance is invalid.
    #[error("frame {frame}: {reason}")]
    Instance {
        /// The frame.
        frame: u64,
        /// Which one, and why.
        reason: InstanceError,
    },
    /// Surface and drop states do not match.
    #[error("frame {frame}: drop {drop} has {what}")]
    Drop {
        /// The frame.
        frame: u64,
        /// The drop.
        drop: u32,
        /// What is missing or duplicate.
        what: &'static str,
    },
    /// A face lies on a solid that does not exist.
    #[error("frame {frame}: a face lies on solid {solid}, but there are {count} solids")]
    Solid {
        /// The frame.
        frame: u64,
        /// The index.
        solid: i32,
        /// Number of solids.
        count: usize,
    },
    /// A measure is not finite.
    #[error("frame {frame}: {what} is not finite{}", drop.map_or(String::new(), |id| format!(" in drop {id}")))]
    NonFinite {
        /// The frame.
        frame: u64,
        /// Which measure.
        what: &'static str,
        /// Id of the drop, if it belongs to one.
        drop: Option<u32>,
    },
}

/// Measures a frame.
pub fn measure(
    frame: &Frame,
    number: u64,
    events: &[Event],
    context: MeasureContext<'_>,
) -> Result<FrameMeasures, MeasureError> {
    if let Some(pair) = frame.drops.windows(2).find(|pair| pair[0].id >= pair[1].id) {
        return Err(MeasureError::Drop { frame: number, drop: pair[1].id, what: "its state twice or out of order" });
    }
    let (mut drops, triangles) = match &frame.liquid {
        FrameGeometry::Surfaces(surface) | FrameGeometry::Tessellated { surface, .. } => {
            measure_surfaces(surface, &frame.drops, number, context)?
        }
        FrameGeometry::Instances(instances) => measure_instances(instances, &frame.drops, number, context)?,
    };
    // One per drop, in the same order.
    for (drop, position) in drops.iter_mut().zip(&frame.positions) {
        drop.position = Some(without_signed_zeros(*position));
    }
    let measures = FrameMeasures {
        frame: number,
        time: frame.time,
        total_volume: unsigned_zero(drops.iter().map(|drop| drop.volume).sum::<f64>() + frame.balance.film),
        added_volume: unsigned_zero(frame.balance.added),
        lost_volume: unsigned_zero(frame.balance.lost),
        film_volume: unsigned_zero(frame.balance.film),
        evaporated_volume: unsigned_zero(frame.balance.evaporated),
        active_cells: frame.active_cells,
        triangles: triangles as u64,
        events: events.to_vec(),
        drops,
    };
    require_finite(&measures)?;
    Ok(measures)
}

fn measure_surfaces(
    surface: &Surface,
    state: &[DropState],
    frame: u64,
    context: MeasureContext<'_>,
) -> Result<(Vec<DropMeasures>, usize), MeasureError> {
    surface.validate().map_err(|reason| MeasureError::Surface { frame, reason })?;
    let count = context.solids.len();
    if let Some(&solid) = surface.solids.iter().find(|&&solid| solid >= 0 && solid as usize >= count) {
        return Err(MeasureError::Solid { frame, solid, count });
    }
    let ids: Vec<u32> = state.iter().map(|state| state.id).collect();
    let index = DropIndex::new(surface, &ids).map_err(|drop| MeasureError::Drop {
        frame,
        drop,
        what: "a surface but no state",
    })?;
    let drops: Vec<DropMeasures> = state
        .par_iter()
        .enumerate()
        .map(|(k, state)| measure_drop(&index.drop_surface(k), state, frame, context))
        .collect::<Vec<_>>()
        .into_iter()
        .collect::<Result<_, _>>()?;
    Ok((drops, surface.triangles.len()))
}

/// Measures instances. Each surface exists only while it is measured, so a million drops need
/// little memory.
fn measure_instances(
    instances: &[Instance],
    state: &[DropState],
    frame: u64,
    context: MeasureContext<'_>,
) -> Result<(Vec<DropMeasures>, usize), MeasureError> {
    let mut sorted: Vec<&Instance> = instances.iter().collect();
    sorted.sort_by_key(|instance| instance.drop);
    let count = context.solids.len();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].drop == pair[1].drop) {
        return Err(MeasureError::Drop { frame, drop: pair[0].drop, what: "two instances" });
    }
    for instance in &sorted {
        instances::validate(instance).map_err(|reason| MeasureError::Instance { frame, reason })?;
        if let Some(solid) = instance.solid.filter(|&solid| solid as usize >= count) {
            return Err(MeasureError::Solid { frame, solid: solid as i32, count });
        }
    }
    for k in 0..sorted.len().max(state.len()) {
        let (instance, state_id) = (sorted.get(k).map(|instance| instance.drop), state.get(k).map(|state| state.id));
        if instance != state_id {
            // Both lists are sorted, so the smaller id is missing in the other list.
            let without_state = state_id.is_none_or(|state_id| instance.is_some_and(|instance| instance < state_id));
            let what = if without_state { "a surface but no state" } else { "a state but no surface" };
            let drop = if without_state { instance } else { state_id };
            return Err(MeasureError::Drop { frame, drop: drop.unwrap_or_default(), what });
        }
    }
    let measured: Vec<(DropMeasures, usize)> = sorted
        .par_iter()
        .zip(state)
        .map(|(instance, state)| {
            let surface = DropSurface::from(instances::surface_of_one(instance));
            let drop = match plane_beneath(instance) {
                Some((solid, plane)) => {
                    let mut solids = context.solids.to_vec();
                    solids[solid].shape = &plane;
                    measure_drop(&surface, state, frame, MeasureContext { solids: &solids, ..context })
                }
                None => measure_drop(&surface, state, frame, context),
            };
            drop.map(|drop| (drop, surface.triangles.len()))
        })
        .collect::<Vec<_>>()
        .into_iter()
        .collect::<Result<_, _>>()?;
    let triangles = measured.iter().map(|(_, triangles)| triangles).sum();
    Ok((measured.into_iter().map(|(drop, _)| drop).collect(), triangles))
}

/// The plane under a drop.
struct Plane {
    point: DVec3,
    /// Unit length.
    normal: DVec3,
}

impl Distance for Plane {
    fn signed_distance(&self, point: DVec3) -> f64 {
        (point - self.point).dot(self.normal)
    }

    fn closest(&self, point: DVec3) -> Closest {
        let distance = self.signed_distance(point);
        Closest { point: point - self.normal * distance, normal: self.normal, distance, uv: DVec2::ZERO }
    }
}

/// The solid that an instance lies on and the plane of its base, if that is flat.
fn plane_beneath(instance: &Instance) -> Option<(usize, Plane)> {
    let solid = instance.solid? as usize;
    match &instance.shape {
        Shape::Draped(draped) if draped.substrate.is_flat() => {
            let normal = instance.frame.axes.z_axis.try_normalize()?;
            Some((solid, Plane { point: instance.frame.origin, normal }))
        }
        _ => None,
    }
}

fn measure_drop(
    surface: &DropSurface,
    state: &DropState,
    frame: u64,
    context: MeasureContext<'_>,
) -> Result<DropMeasures, MeasureError> {
    if surface.triangles.is_empty() {
        return Err(MeasureError::Drop { frame, drop: state.id, what: "a state but no surface" });
    }
    // In a planar run the end faces of the slab have normals along z.
    let is_end = |t: usize| {
        context.planar.is_some() && {
            let normal = surface.doubled_area(t);
            normal.z.abs() > 0.5 * normal.length()
        }
    };
    let is_air = |t: usize| surface.solids[t] < 0 && !is_end(t) && !context.is_on_side(surface, t);
    let per_thickness = context.planar.map_or(1.0, |thickness| 1.0 / thickness);
    let area_where = |wanted: &dyn Fn(usize) -> bool| -> f64 {
        let faces = (0..surface.triangles.len()).filter(|&t| wanted(t));
        0.5 * per_thickness * faces.map(|t| surface.doubled_area(t).length()).sum::<f64>()
    };
    let touched = touched_solids(surface);
    let shapes: Vec<&dyn Distance> = context.solids.iter().map(|solid| solid.shape).collect();
    let line = contact_line(surface, is_air, &shapes);
    let contacts: Vec<ContactMeasures> = touched
        .iter()
        .map(|&solid| ContactMeasures {
            solid: context.solids[solid].name.to_owned(),
            wetted_area: area_where(&|t| surface.solids[t] == solid as i32 && !is_end(t)),
            contact_angle_deg: angle_range(line.iter().filter(|edge| edge.solid == solid)),
        })
        .collect();
    let wetted_area: f64 = contacts.iter().map(|contact| contact.wetted_area).sum();
    // Of equal areas the first in the scene counts.
    let most = contacts.iter().enumerate().rev().max_by(|a, b| a.1.wetted_area.total_cmp(&b.1.wetted_area));
    let on = most.map(|(k, _)| &context.solids[touched[k]]);

    let (centroid, bounds) = (surface.centroid(), surface.bounds());
    let axis = on.map_or(DVec3::Y, |solid| solid.shape.closest(centroid).normal);
    let off_axis = |position: &DVec3| {
        let offset = *position - centroid;
        let offset = if context.planar.is_some() { offset.with_z(0.0) } else { offset };
        offset.reject_from_normalized(axis).length_squared()
    };
    let height = match on {
        Some(solid) => {
            largest(surface.positions.iter().map(|&position| solid.shape.signed_distance(position).max(0.0)))
        }
        None => bounds[1].y - bounds[0].y,
    };
    Ok(DropMeasures {
        id: state.id,
        volume: state.volume,
        centroid: without_signed_zeros(centroid),
        position: None,
        velocity: without_signed_zeros(state.velocity),
        speed_max: state.speed_max,
        bounds: bounds.map(without_signed_zeros),
        height,
        base_radius: if context.planar.is_some() { 0.5 * wetted_area } else { (wetted_area / PI).sqrt() },
        max_radius: largest(surface.positions.iter().map(off_axis)).sqrt(),
        wetted_area,
        surface_area: area_where(&is_air),
        contact_angle_deg: angle_range(line.iter()),
        pressure: state.pressure,
        on: on.map(|solid| solid.name.to_owned()),
        contacts,
    })
}

/// Indices of the solids that a drop touches, increasing.
fn touched_solids(surface: &DropSurface) -> Vec<usize> {
    let mut touched: Vec<usize> = Vec::new();
    for solid in surface.solids.iter().filter_map(|&solid| usize::try_from(solid).ok()) {
        if let Err(at) = touched.binary_search(&solid) {
            touched.insert(at, solid);
        }
    }
    touched
}

fn angle_range<'a>(edges: impl Iterator<Item = &'a LineEdge>) -> Option<AngleRange> {
    let (mut sum, mut length, mut min, mut max) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
    for edge in edges.filter(|edge| edge.length > 0.0) {
        sum += edge.length * edge.angle;
        length += edge.length;
        min = min.min(edge.angle);
        max = max.max(edge.angle);
    }
    (length > 0.0).then(|| {
        // Rounding must not move the mean out of the range.
        let mean = (sum / length).clamp(min, max);
        AngleRange { mean: mean.to_degrees(), min: min.to_degrees(), max: max.to_degrees() }
    })
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// Turns −0 into 0.
fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

fn without_signed_zeros(vector: DVec3) -> DVec3 {
    vector + DVec3::ZERO
}

fn require_finite(measures: &FrameMeasures) -> Result<(), MeasureError> {
    let refuse = |what, drop| Err(MeasureError::NonFinite { frame: measures.frame, what, drop });
    for (what, value) in [
        ("the time", measures.time),
        ("the volume of a drop or film", measures.total_volume),
        ("the added volume", measures.added_volume),
        ("the lost volume", measures.lost_volume),
        ("the film's volume", measures.film_volume),
        ("the evaporated volume", measures.evaporated_volume),
    ] {
        // The volume of a drop is reported below, with its id.
        if !value.is_finite() && measures.drops.iter().all(|drop| drop.volume.is_finite()) {
            return refuse(what, None);
        }
    }
    for drop in &measures.drops {
        for (what, finite) in [
            ("the volume", drop.volume.is_finite()),
            ("the centroid", drop.centroid.is_finite()),
            ("the velocity", drop.velocity.is_finite()),
            ("the largest speed", drop.speed_max.is_finite()),
            ("the height", drop.height.is_finite()),
            ("the largest radius", drop.max_radius.is_finite()),
            ("an area", drop.wetted_area.is_finite() && drop.surface_area.is_finite()),
            ("the pressure", drop.pressure.is_none_or(f64::is_finite)),
            ("the contact angle", drop.contact_angle_deg.is_none_or(|angle| angle.mean.is_finite())),
        ] {
            if !finite {
                return refuse(what, Some(drop.id));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
