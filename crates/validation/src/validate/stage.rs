//! What the stages of all models share.

use sessile_frames::DropMeasures;
use sessile_model::Model;
use sessile_wetting::Liquid;

use super::CaseError;
use sessile_sim::measure_frame;

/// As scenes have it by default, and as the reference values were made with.
pub(in crate::validate) const WATER: Liquid =
    Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.333 };
/// In m/s².
pub(in crate::validate) const GRAVITY: f64 = 9.8;

/// What `sessile measure` says of a model's drops.
pub(in crate::validate) fn drops_of(model: &dyn Model) -> Result<Vec<DropMeasures>, CaseError> {
    Ok(measure_frame(&model.frame(), 0, &[], model.world().solids(), None)?.drops)
}

/// The only one of some drops.
pub(in crate::validate) fn only(mut drops: Vec<DropMeasures>) -> Result<DropMeasures, CaseError> {
    match drops.len() {
        1 => Ok(drops.remove(0)),
        count => Err(format!("there are {count} drops, not one").into()),
    }
}

/// Largest value in `range` for which `holds`, to a relative 1/2000; it must hold at the lower end and not at the upper one.
pub(in crate::validate) fn largest_that(
    [mut low, mut high]: [f64; 2],
    mut holds: impl FnMut(f64) -> Result<bool, CaseError>,
) -> Result<f64, CaseError> {
    if !holds(low)? || holds(high)? {
        return Err(format!("the threshold does not lie between {low} and {high}").into());
    }
    while high - low > 5e-4 * high {
        let middle = 0.5 * (low + high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}
