//! What a step did: its length, the events, and numbers from each stage that `run.json` accumulates.

use sessile_frames::Event;

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

/// One number that a stage reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageValue {
    /// A count, added up over a run.
    Total(u64),
    /// A measured value, of which a run keeps the largest.
    Largest(f64),
}

/// Numbers from the stages of one step, or accumulated over many.
///
/// Names read `stage.quantity`, e.g. `pressure.iterations`, and are public: `run.json` shows them. A model reports
/// about ten, so a lookup is a linear search.
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
        match self.find(name) {
            Some(StageValue::Total(total)) => *total += count,
            Some(slot) => *slot = StageValue::Total(count),
            None => self.values.push((name, StageValue::Total(count))),
        }
    }

    /// Keeps `value` under `name` if it exceeds what is there.
    pub fn keep_largest(&mut self, name: &'static str, value: f64) {
        match self.find(name) {
            Some(StageValue::Largest(largest)) => *largest = largest.max(value),
            Some(slot) => *slot = StageValue::Largest(value),
            None => self.values.push((name, StageValue::Largest(value))),
        }
    }

    /// Adds the totals of `other` and keeps its values where they are larger.
    pub fn accumulate(&mut self, other: &Self) {
        for &(name, value) in &other.values {
            match value {
                StageValue::Total(count) => self.add(name, count),
                StageValue::Largest(value) => self.keep_largest(name, value),
            }
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

    fn find(&mut self, name: &str) -> Option<&mut StageValue> {
        self.values.iter_mut().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}
