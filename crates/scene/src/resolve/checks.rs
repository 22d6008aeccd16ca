//! Checks of the whole scene: requirements of the models, and warnings.

use glam::DVec3;

use super::equivalent_radius;
use crate::diagnostics::Diagnostic;
use crate::quantities::VOLUME;
use crate::reader::Section;
use crate::source::Place;
use crate::tree::{Node, Value, shortened};
use crate::types::{DropShape, EmitterKind, Fidelity, ModelKind, Scene, SolidShape};

/// Checks a scene for its model (`None` if the model's name is invalid).
pub(super) fn check(top: &Section<'_>, scene: &Scene, model: Option<ModelKind>) {
    if let Some(model) = model {
        if model == ModelKind::Pane {
            pane(top, scene);
        }
        if model != ModelKind::Volume && scene.world.planar {
            let place = place_in(top.node("world"), "planar").unwrap_or_else(|| top.place_of("world"));
            top.cx.error(
                Diagnostic::new(&place, "only the volume model supports planar runs")
                    .label("set here")
                    .other(&top.place_of("model"), "the model"),
            );
        }
        ignored_parameters(top, model);
        evaporation(top, scene, model);
    }
    drops_outside(top, scene);
}

/// What evaporates is water, in three dimensions and physical mode.
fn evaporation(top: &Section<'_>, scene: &Scene, model: ModelKind) {
    let Some(place) = place_in(top.node("world"), "humidity") else { return };
    let refuse = |message: &str, help: &str| {
        top.cx.error(Diagnostic::new(&place, message).label("set here").help(help));
    };
    if scene.liquid_preset.name != "water" {
        refuse(
            &format!("`humidity` is for water only: the vapor pressure of {} is not known", scene.liquid_preset.name),
            "remove `humidity`, or set liquid.preset = \"water\" and override its other properties",
        );
    }
    let is_keyed = scene.world.humidity.as_ref().is_some_and(|humidity| humidity.keys.len() > 1);
    if is_keyed && !matches!(model, ModelKind::Pane | ModelKind::Droplet) {
        refuse("this model does not follow keys of `humidity`", "give one value, or use the pane or droplet model");
    }
    if scene.world.planar {
        refuse("planar runs do not evaporate", "remove `humidity` or `planar`");
    }
    if scene.fidelity == Fidelity::Paper && model != ModelKind::Droplet {
        refuse("the papers' own operators do not evaporate", "remove `humidity`, or set fidelity = \"physical\"");
    }
}

/// The position of a key's value in a table.
fn place_in(table: Option<&Node>, key: &str) -> Option<Place> {
    match &table?.value {
        Value::Table(table) => table.get(key).map(|entry| entry.node.place.clone()),
        _ => None,
    }
}

/// The `index`-th table of a list.
fn item<'a>(top: &Section<'a>, list: &str, index: usize) -> Option<&'a Node> {
    match &top.node(list)?.value {
        Value::List(nodes) => nodes.iter().filter(|n| matches!(n.value, Value::Table(_))).nth(index),
        _ => None,
    }
}

/// The position of `key` in the `index`-th table of a list, or else of the table.
fn item_place(top: &Section<'_>, list: &str, index: usize, key: &str) -> Place {
    let node = item(top, list, index);
    place_in(node, key).or_else(|| node.map(|n| n.place.clone())).unwrap_or_else(|| top.place_of(list))
}

/// The pane model runs on exactly one plane; other solids are only rendered.
fn pane(top: &Section<'_>, scene: &Scene) {
    let planes: Vec<usize> =
        (0..scene.solids.len()).filter(|&i| matches!(scene.solids[i].shape, SolidShape::Plane { .. })).collect();
    match planes[..] {
        [pane] => {
            only_on_pane(top, scene, pane);
            weights(top, scene);
        }
        // A shape that could not be read may be the plane.
        [] if top.has("solids") && !top.cx.errors.borrow().is_empty() => {}
        [] => top.cx.error(
            Diagnostic::new(&top.place_of("model"), "the pane model needs one solid with shape = \"plane\" to run on")
                .label("there is none")
                .help("add [[solids]] with shape = \"plane\" and normal = [0, 0, 1]"),
        ),
        [first, second, ..] => top.cx.error(
            Diagnostic::new(
                &item_place(top, "solids", second, "shape"),
                "the pane model runs on one plane, but there are more",
            )
            .label("a second plane")
            .other(&item_place(top, "solids", first, "shape"), "the first plane")
            .help("other shapes are allowed: the pane model only renders them"),
        ),
    }
}

fn only_on_pane(top: &Section<'_>, scene: &Scene, pane: usize) {
    let caps = scene.drops.iter().enumerate().filter_map(|(i, drop)| match drop.shape {
        DropShape::Cap { on, .. } => Some(("drops", i, on, "a cap can only be")),
        _ => None,
    });
    let dew = scene.emitters.iter().enumerate().filter_map(|(i, emitter)| match emitter.kind {
        EmitterKind::Dew { on, .. } => Some(("emitters", i, on, "dew can only settle")),
        _ => None,
    });
    let reported = top.cx.error_places();
    for (list, index, on, what) in caps.chain(dew) {
        let place = item_place(top, list, index, "on");
        // A name that no solid has is reported already.
        if on == pane || reported.contains(&place) {
            continue;
        }
        let name = &scene.solids[pane].name;
        top.cx.error(
            Diagnostic::new(&place, format!("in the pane model {what} on the plane, \"{}\"", shortened(name)))
                .label("another solid, which is only rendered"),
        );
    }
}

/// Checks residue ≤ dynamic_weight ≤ static_weight.
fn weights(top: &Section<'_>, scene: &Scene) {
    let weights = [
        ("residue", scene.pane.residue),
        ("dynamic_weight", scene.pane.dynamic_weight),
        ("static_weight", scene.pane.static_weight),
    ];
    let given: Vec<(&str, f64)> = weights.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    for pair in given.windows(2) {
        let [(low_key, low), (high_key, high)] = [pair[0], pair[1]];
        if low <= high {
            continue;
        }
        let show = |v: f64| crate::print::quantity_text(v, &VOLUME);
        let place = |key: &str| place_in(top.node("pane"), key).unwrap_or_else(|| top.place_of("pane"));
        top.cx.error(
            Diagnostic::new(&place(low_key), format!("`{low_key}` must not exceed `{high_key}`"))
                .label(show(low))
                .other(&place(high_key), show(high)),
        );
    }
}

/// Warns of parameters of another model, unless the model is given by `--model`.
fn ignored_parameters(top: &Section<'_>, model: ModelKind) {
    if top.place_of("model").source != 0 {
        return;
    }
    for other in ModelKind::ALL.iter().filter(|other| **other != model) {
        let key = other.name();
        let Some(entry) = top.entry(key) else { continue };
        if matches!(&entry.node.value, Value::Table(t) if t.entries.is_empty()) {
            continue;
        }
        top.cx.warn(
            Diagnostic::new(&entry.node.place, format!("[{key}] is not used by this model"))
                .label("ignored")
                .other(&top.place_of("model"), "the model"),
        );
    }
}

/// Warns of drops that lie entirely outside the domain.
fn drops_outside(top: &Section<'_>, scene: &Scene) {
    let Some(domain) = &scene.domain else { return };
    let axes = if scene.world.planar { 0..2 } else { 0..3 };
    for (index, drop) in scene.drops.iter().enumerate() {
        let (low, high) = match &drop.shape {
            DropShape::Sphere { center, amount, .. } => around(*center, *center, equivalent_radius(*amount)),
            DropShape::Box { min, max } => (*min, *max),
            DropShape::Cylinder { from, to, radius, .. } => around(from.min(*to), from.max(*to), *radius),
            // A cap's center is not projected yet, and a mesh is not read yet.
            DropShape::Cap { .. } | DropShape::Mesh { .. } => continue,
        };
        let outside = axes.clone().any(|i| high[i] < domain.min[i] || low[i] > domain.max[i]);
        if let Some(node) = item(top, "drops", index).filter(|_| outside) {
            top.cx.warn(
                Diagnostic::new(&node.place, "this drop lies outside the domain").label("counts as lost at the start"),
            );
        }
    }
}

fn around(low: DVec3, high: DVec3, radius: f64) -> (DVec3, DVec3) {
    (low - DVec3::splat(radius), high + DVec3::splat(radius))
}
