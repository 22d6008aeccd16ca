//! Which changes of a scene need a new simulation, new images, or nothing.
//!
//! Every key declares what it [`Affects`] (in `types/`); nothing else decides.

use std::collections::BTreeMap;

use crate::print::{Entry, document};
use crate::schema::Affects;
use crate::types::Scene;

/// How a scene relates to the scene of an existing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunRelation {
    /// The same scene, bit for bit.
    Same,
    /// The same simulation, with other images or a longer duration: the run can be resumed.
    Extends,
    /// Another simulation: the dotted keys that differ, in the order of a printed scene.
    Different(Vec<String>),
}

/// The key whose value may grow within a run.
const DURATION: &str = "time.duration";

/// Compares the scene of a run with the requested one.
///
/// Existing frames stay valid if all keys that affect the simulation are the same, except for a
/// longer `time.duration`.
pub fn same_run(existing: &Scene, requested: &Scene) -> RunRelation {
    let (before, after) = (entries(existing), entries(requested));
    let values = |list: &[Entry]| -> BTreeMap<String, String> {
        list.iter().map(|entry| (entry.path.clone(), entry.value.clone())).collect()
    };
    let (old, new) = (values(&before), values(&after));
    let changed = after.iter().filter(|entry| old.get(&entry.path) != Some(&entry.value));
    let removed = before.iter().filter(|entry| !new.contains_key(&entry.path));
    let differing: Vec<&Entry> = changed.chain(removed).collect();
    if differing.is_empty() {
        return RunRelation::Same;
    }
    let longer = requested.time.duration > existing.time.duration;
    let needs_simulation = |entry: &&Entry| entry.affects == Affects::Simulation && !(entry.path == DURATION && longer);
    let keys: Vec<String> = differing.into_iter().filter(needs_simulation).map(|entry| entry.path.clone()).collect();
    if keys.is_empty() { RunRelation::Extends } else { RunRelation::Different(keys) }
}

/// Text that two scenes share exactly if one can resume the simulation of the other: every key that
/// affects the simulation, except `time.duration`.
pub fn simulation_identity(scene: &Scene) -> String {
    let relevant = |entry: &Entry| entry.affects == Affects::Simulation && entry.path != DURATION;
    entries(scene).iter().filter(|e| relevant(e)).map(|e| format!("{} = {}\n", e.path, e.value)).collect()
}

/// The keys that affect images of existing frames, with their values as printed.
///
/// Two scenes of one run give the same images of a frame if these agree, and the contents of the
/// image files that they name.
pub fn image_keys(scene: &Scene) -> Vec<(String, String)> {
    let images = entries(scene).into_iter().filter(|entry| entry.affects == Affects::Images);
    images.map(|entry| (entry.path, entry.value)).collect()
}

fn entries(scene: &Scene) -> Vec<Entry> {
    document(scene).entries().collect()
}
