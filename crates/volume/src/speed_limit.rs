//! Speed limit: a last resort against flow that the grid cannot represent.
//!
//! ```text
//! |u_f| ≤ 10 (U + √(γ/ρh) + U_wall)
//! ```
//!
//! U is the mean speed of the liquid, √(γ/ρh) the speed at which the shortest capillary
//! waves move it, U_wall that of the fastest wall near it. Jets of an impact are several times as
//! fast as the drop; what exceeds ten times all of these has left the equations (in a film or a gap
//! thinner than a cell), and would shorten the steps without end. Such faces are slowed to the
//! limit and counted (`interface.limited_faces`).

use sessile_model::StageReports;
use sessile_wetting::Liquid;

use crate::fluid::StepContext;
use crate::parameters::Parameters;
use crate::solids::WallMotion;
use crate::state::State;
use crate::tiles::Field;

/// Largest speed, in multiples of the speeds that occur.
const FACTOR: f64 = 10.0;

/// What the stage did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeedLimitReport {
    /// Faces whose velocity was limited.
    pub faces: usize,
}

impl SpeedLimitReport {
    /// Writes the report under its public name.
    pub fn record(&self, reports: &mut StageReports) {
        reports.add("interface.limited_faces", self.faces as u64);
    }
}

/// Limits the velocity of all faces; does nothing to flow that is slow or merely fast.
pub fn limit_speed<L>(state: &mut State, params: &Parameters, step: &StepContext<'_, L>) -> SpeedLimitReport {
    let Liquid { density, surface_tension, .. } = params.liquid;
    let capillary = (surface_tension / (density * state.grid.h)).sqrt();
    let fastest = state.max_speed();
    if fastest <= FACTOR * capillary || fastest.is_nan() {
        return SpeedLimitReport::default();
    }
    let walls = WallMotion::new(step.world, &state.sides, &state.grid).fastest(&state.solids, &state.phi);
    let limit = FACTOR * (capillary + walls + mean_speed(state));
    let mut report = SpeedLimitReport::default();
    if fastest > limit {
        for face in state.velocity.iter_mut().flat_map(Field::values_mut) {
            if face.abs() > limit {
                *face = limit.copysign(*face);
                report.faces += 1;
            }
        }
    }
    report
}

/// Mean speed of the liquid outside solids, in m/s.
fn mean_speed(state: &State) -> f64 {
    let tiles = &state.grid.tiles;
    let is_liquid = |cell: &_| state.phi.values()[*cell] < 0.0 && state.solids.distance.values()[*cell] > 0.0;
    let cells = tiles.indices().filter(|cell| cell.local() < tiles.cells_in_use()).filter(is_liquid);
    let (mut sum, mut count) = (0.0, 0.0);
    for cell in cells {
        sum += state.velocity_at_center(cell).length();
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}
