//! What only the whole scene can tell: what a model needs, and what was probably not meant.

use glam::DVec3;

use super::radius_of;
use crate::diagnostics::Diagnostic;
use crate::reader::Section;
use crate::types::{DropShape, ModelKind, Scene, SolidShape};

/// Checks a scene for the model that it names (`None` when that name was wrong).
pub(super) fn check(top: &Section<'_>, scene: &Scene, model: Option<ModelKind>) {
    if let Some(model) = model {
        if model == ModelKind::Pane {
            one_pane(top, scene);
        }
        if model != ModelKind::Volume && scene.world.planar {
            top.cx.error(
                Diagnostic::new(&inner_place(top, "world", "planar"), "only the volume model runs in two dimensions")
                    .label("set here")
                    .other(&top.place_of("model"), "the model"),
            );
        }
        ignored_knobs(top, model);
    }
    drops_outside(top, scene);
}

/// The place of `[table].key`.
fn inner_place(top: &Section<'_>, table: &str, key: &str) -> crate::source::Place {
    let entry = top.entry(table);
    match entry.map(|e| &e.node.value) {
        Some(crate::tree::Value::Table(t)) => t.get(key).map(|e| e.node.place.clone()),
        _ => None,
    }
    .unwrap_or_else(|| top.place_of(table))
}

/// The pane runs on exactly one plane; other solids are drawn only.
fn one_pane(top: &Section<'_>, scene: &Scene) {
    let planes: Vec<usize> =
        (0..scene.solids.len()).filter(|&i| matches!(scene.solids[i].shape, SolidShape::Plane { .. })).collect();
    let list = top.node("solids").and_then(|n| match &n.value {
        crate::tree::Value::List(list) => Some(list),
        _ => None,
    });
    let place = |i: usize| list.and_then(|l| l.get(i)).map_or_else(|| top.place_of("solids"), |n| n.place.clone());
    match planes[..] {
        [_] => {}
        // A shape that could not be read may have been the plane.
        [] if top.has("solids") && !top.cx.errors.borrow().is_empty() => {}
        [] => top.cx.error(
            Diagnostic::new(&top.place_of("model"), "the pane model needs one solid with shape = \"plane\" to run on")
                .label("there is none")
                .help("add [[solids]] with shape = \"plane\" and normal = [0, 0, 1]"),
        ),
        [first, second, ..] => top.cx.error(
            Diagnostic::new(&place(second), "the pane model runs on one plane, but there are more")
                .label("a second plane")
                .other(&place(first), "the first plane")
                .help("other shapes may stay: the pane model only draws them"),
        ),
    }
}

/// Knobs of another model do nothing. Said only when the file itself names the model: `--model` is there to switch.
fn ignored_knobs(top: &Section<'_>, model: ModelKind) {
    if top.place_of("model").source != 0 {
        return;
    }
    let tables = [
        ("pane", ModelKind::Pane),
        ("droplet", ModelKind::Droplet),
        ("surface", ModelKind::Surface),
        ("volume", ModelKind::Volume),
    ];
    for (key, owner) in tables {
        let Some(entry) = top.entry(key).filter(|_| owner != model) else { continue };
        if matches!(&entry.node.value, crate::tree::Value::Table(t) if t.entries.is_empty()) {
            continue;
        }
        top.cx.warn(
            Diagnostic::new(&entry.node.place, format!("[{key}] is not used by this model"))
                .label("ignored")
                .other(&top.place_of("model"), "the model"),
        );
    }
}

/// Drops whose middle is outside the domain are lost at once.
fn drops_outside(top: &Section<'_>, scene: &Scene) {
    let Some(domain) = &scene.domain else { return };
    for (index, drop) in scene.drops.iter().enumerate() {
        let (low, high) = match &drop.shape {
            DropShape::Sphere { center, amount, .. } => {
                let r = DVec3::splat(radius_of(*amount));
                (*center - r, *center + r)
            }
            DropShape::Box { min, max } => (*min, *max),
            DropShape::Cylinder { from, to, radius, .. } => {
                (from.min(*to) - DVec3::splat(*radius), from.max(*to) + DVec3::splat(*radius))
            }
            DropShape::Cap { center, amount, .. } => {
                let r = DVec3::splat(2.0 * radius_of(*amount));
                (*center - r, *center + r)
            }
            DropShape::Mesh { .. } => continue,
        };
        let axes = if scene.world.planar { 0..2 } else { 0..3 };
        let outside = axes.into_iter().any(|i| high[i] < domain.min[i] || low[i] > domain.max[i]);
        let list = top.node("drops").map(|n| &n.value);
        if let (true, Some(crate::tree::Value::List(list))) = (outside, list)
            && let Some(node) = list.get(index)
        {
            top.cx
                .warn(Diagnostic::new(&node.place, "this drop lies outside the domain").label("will be lost at once"));
        }
    }
}
