//! Report of a step: its length, its events, and values of its stages, which `run.json`
//! accumulates.

use sessile_frames::{Event, StageValue};

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Length of the step, in s.
    pub dt: f64,
    /// Merges and splits, in the order in which they happened.
    pub events: Vec<Event>,
    /// Numbers from the stages: iterations, residuals, remesh and merge counts.
    pub stages: StageReports,
}

/// Numbers from the stages of one step, or accumulated over many.
///
/// Names read `stage.quantity`, e.g. `pressure.iterations`, and are public: `run.json` shows them.
/// A model reports about ten, so a lookup is a linear search.
///
/// ```
/// use sessile_model::{StageReports, StageValue};
///
/// let mut run = StageReports::default();
/// for residual in [1e-9, 3e-9] {
///     let mut step = StageReports::default();
///     step.add("pressure.iterations", 12);
///     step.keep_largest("pressure.residual", residual);
///     run.accumulate(&step);
/// }
/// assert_eq!(run.get("pressure.iterations"), Some(StageValue::Total(24)));
/// assert_eq!(run.get("pressure.residual"), Some(StageValue::Largest(3e-9)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageReports {
    values: Vec<(&'static str, StageValue)>,
}

impl StageReports {
    /// Adds `count` to the total called `name`.
    pub fn add(&mut self, name: &'static str, count: u64) {
        self.combine(name, StageValue::Total(count));
    }

    /// Keeps `value` under `name` if it exceeds what is there.
    pub fn keep_largest(&mut self, name: &'static str, value: f64) {
        self.combine(name, StageValue::Largest(value));
    }

    /// Adds the totals of `other` and keeps its values where they are larger.
    pub fn accumulate(&mut self, other: &Self) {
        for &(name, value) in &other.values {
            self.combine(name, value);
        }
    }

    /// The value called `name`.
    pub fn get(&self, name: &str) -> Option<StageValue> {
        self.iter().find(|&(key, _)| key == name).map(|(_, value)| value)
    }

    /// All values, in the order in which they were first reported.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, StageValue)> {
        self.values.iter().copied()
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    fn combine(&mut self, name: &'static str, value: StageValue) {
        match self.values.iter_mut().find(|(key, _)| *key == name) {
            Some((_, total)) => *total = total.combined(value),
            None => self.values.push((name, value)),
        }
    }
}
