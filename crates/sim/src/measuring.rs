//! What `sessile measure` says of a frame among solids where they are now.

use glam::DVec3;
use sessile_frames::{Event, Frame, FrameMeasures, MeasureContext, MeasureError, Solid, measure};
use sessile_geometry::{Closest, Distance};

/// Measures frame `number`; `planar` is the thickness of a planar run's one layer of cells, in m.
pub fn measure_frame(
    frame: &Frame,
    number: u64,
    events: &[Event],
    solids: &[sessile_world::Solid],
    planar: Option<f64>,
) -> Result<FrameMeasures, MeasureError> {
    let forms: Vec<Form> = solids.iter().map(Form).collect();
    let solids: Vec<Solid> = forms.iter().map(|form| Solid { name: form.0.name(), shape: form }).collect();
    measure(frame, number, events, MeasureContext { solids: &solids, planar })
}

/// A solid at its present place, as measuring sees it.
struct Form<'a>(&'a sessile_world::Solid);

impl Distance for Form<'_> {
    fn signed_distance(&self, point: DVec3) -> f64 {
        self.0.signed_distance(point)
    }

    fn closest(&self, point: DVec3) -> Closest {
        self.0.closest(point)
    }
}
