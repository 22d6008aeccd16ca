//! Measures of a model's frame among its solids, as `sessile measure` reports them.

use glam::DVec3;
use sessile_frames::{Event, Frame, FrameMeasures, MeasureContext, MeasureError, Solid, measure};
use sessile_geometry::{Closest, Distance};
use sessile_world::World;

/// Measures frame `number`; `planar` is the cell size of a planar run, in m.
pub fn measure_frame(
    frame: &Frame,
    number: u64,
    events: &[Event],
    world: &World,
    planar: Option<f64>,
) -> Result<FrameMeasures, MeasureError> {
    let distances: Vec<SolidDistance> = world.solids().iter().map(SolidDistance).collect();
    let solids: Vec<Solid> =
        distances.iter().map(|distance| Solid { name: distance.0.name(), shape: distance }).collect();
    measure(frame, number, events, MeasureContext { solids: &solids, planar, domain: world.domain() })
}

/// Distance to a solid at its present position.
struct SolidDistance<'a>(&'a sessile_world::Solid);

impl Distance for SolidDistance<'_> {
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.0.signed_distance(point)
    }

    fn closest(&self, point: DVec3) -> Closest {
        self.0.closest(point)
    }
}
