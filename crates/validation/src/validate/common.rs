//! Liquid, gravity and helpers that the cases of all models share.

use sessile_frames::DropMeasures;
use sessile_model::Model;
use sessile_wetting::Liquid;

use super::CaseError;
use sessile_sim::measure_frame;

/// The default liquid of scenes, and that of the reference values.
pub(in crate::validate) const WATER: Liquid = Liquid::water();
/// Gravity, in m/s².
pub(in crate::validate) const GRAVITY: f64 = 9.8;

/// Measures of all drops, as `sessile measure` reports them.
pub(in crate::validate) fn drops_of(model: &dyn Model) -> Result<Vec<DropMeasures>, CaseError> {
    Ok(measure_frame(&model.frame(), 0, &[], model.world().solids(), None)?.drops)
}

/// The only drop; an error if there are none or several.
pub(in crate::validate) fn only(mut drops: Vec<DropMeasures>) -> Result<DropMeasures, CaseError> {
    match drops.len() {
        1 => Ok(drops.remove(0)),
        count => Err(format!("expected one drop, found {count}").into()),
    }
}

/// Largest value between two bounds for which `holds`, to a relative 1/2000; true at the lower
/// bound, false at the upper one.
pub(in crate::validate) fn bisect_largest(
    [mut low, mut high]: [f64; 2],
    mut holds: impl FnMut(f64) -> Result<bool, CaseError>,
) -> Result<f64, CaseError> {
    if !holds(low)? || holds(high)? {
        return Err(format!("the threshold is not between {low} and {high}").into());
    }
    while high - low > 5e-4 * high {
        let middle = 0.5 * (low + high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}
