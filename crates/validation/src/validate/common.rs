//! Liquid, gravity, scene text and helpers that the cases of all models share.

use sessile_frames::{DropMeasures, Event};
use sessile_model::{Model, NoTimer};
use sessile_scene::types::Scene;
use sessile_scene::{NoFiles, parse_str, text};
use sessile_sim::measure_frame;
use sessile_wetting::Liquid;

use super::CaseError;

/// The default liquid of scenes, and that of the reference values.
pub(in crate::validate) const WATER: Liquid = Liquid::water();
/// Gravity, in m/s².
pub(in crate::validate) const GRAVITY: f64 = 9.8;

/// Scene text of a material `m`, by its angles in degrees.
pub(in crate::validate) fn material(advancing: f64, receding: f64) -> String {
    text::material("m", advancing, receding)
}

/// The scene of a text.
pub(in crate::validate) fn parse(text: &str) -> Result<Scene, CaseError> {
    Ok(parse_str("case.toml", text, &[], &NoFiles).map_err(|diagnostics| diagnostics.to_string())?.scene)
}

/// Simulates `seconds`, in steps of at most `most` seconds, and returns the events.
pub(in crate::validate) fn advance(model: &mut dyn Model, seconds: f64, most: f64) -> Result<Vec<Event>, CaseError> {
    let end = model.time() + seconds;
    let mut events = Vec::new();
    // Rounding errors of the sum of steps must not cause an extra step.
    while model.time() < end - 1e-9 * seconds {
        events.extend(model.step((end - model.time()).min(most), &mut NoTimer)?.events);
    }
    Ok(events)
}

/// Measures of all drops, as `sessile measure` reports them.
pub(in crate::validate) fn drops_of(model: &dyn Model) -> Result<Vec<DropMeasures>, CaseError> {
    Ok(measure_frame(&model.frame(), 0, &[], model.world(), None)?.drops)
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
