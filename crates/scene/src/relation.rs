//! Whether a scene continues the run of another one.

use std::collections::BTreeMap;

use crate::print::{Line, document};
use crate::types::Scene;

/// What a scene is to the scene of an existing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunRelation {
    /// The same scene, bit for bit.
    Same,
    /// The same run, drawn differently or running longer: it may go on.
    Extends,
    /// Another run: the dotted keys that differ, in the order of a printed scene.
    Different(Vec<String>),
}

/// Compares the scene of a run with the one that is asked for now.
///
/// Only a longer `time.duration` and anything in `[camera]`, `[lights]` and `[render]` leave the existing frames valid.
pub fn same_run(existing: &Scene, wanted: &Scene) -> RunRelation {
    let (before, after) = (entries(existing), entries(wanted));
    let values = |list: &[(String, String)]| list.iter().cloned().collect::<BTreeMap<_, _>>();
    let (old, new) = (values(&before), values(&after));
    let mut differing: Vec<String> = Vec::new();
    for (path, value) in &after {
        if old.get(path) != Some(value) {
            differing.push(path.clone());
        }
    }
    differing.extend(before.iter().filter(|(path, _)| !new.contains_key(path)).map(|(path, _)| path.clone()));
    if differing.is_empty() {
        return RunRelation::Same;
    }
    let longer = wanted.time.duration > existing.time.duration;
    let only_drawn = |path: &String| is_drawn(path) || (path == "time.duration" && longer);
    let serious: Vec<String> = differing.into_iter().filter(|path| !only_drawn(path)).collect();
    if serious.is_empty() { RunRelation::Extends } else { RunRelation::Different(serious) }
}

/// Whether a key matters to pictures alone.
fn is_drawn(path: &str) -> bool {
    ["camera.", "lights.", "render."].iter().any(|table| path.starts_with(table))
}

/// The keys that pictures depend on and frames do not, with their values as printed; `render.fps`, which only the video knows, is not
/// among them. Two scenes of one run give the same pictures of a frame if these agree.
pub fn picture_keys(scene: &Scene) -> Vec<(String, String)> {
    entries(scene).into_iter().filter(|(path, _)| is_drawn(path) && path != "render.fps").collect()
}

fn entries(scene: &Scene) -> Vec<(String, String)> {
    document(scene)
        .lines
        .into_iter()
        .filter_map(|line| match line {
            Line::Entry { path, value, .. } => Some((path, value)),
            Line::Header(_) | Line::Note(_) => None,
        })
        .collect()
}
