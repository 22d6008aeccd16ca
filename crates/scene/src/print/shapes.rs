//! Solids, drops and emitters.

use super::{Document, quantity_text, quoted};
use crate::field::{Field, Value};
use crate::print::numbers::vector_text;
use crate::quantities::{FEED, LENGTH, PLANAR_FEED};
use crate::types::words::Word;
use crate::types::{
    Amount, Drop, DropKind, DropShape, Emitter, EmitterKind, EmitterType, MeshScale, RainArea, RainSizes, Scene, Solid,
    SolidKind, SolidShape,
};

/// Prints the key that selects a variant, and selects it.
fn select<T: Word + Value>(out: &mut Document, name: &str, kind: T) {
    out.value(name, &kind);
    out.variant(kind.word());
}

pub(super) fn solid(out: &mut Document, solid: &Solid) {
    out.value("name", &solid.name);
    out.value("material", &solid.material);
    solid_shape(out, &solid.shape);
    out.value("rotate", &solid.rotate);
    out.value("move", &solid.shift);
    Field::print(&solid.motion, out, "motion");
    out.value("look", &solid.look);
    Field::print(&solid.texture, out, "texture");
}

fn solid_shape(out: &mut Document, shape: &SolidShape) {
    match shape {
        SolidShape::Plane { point, normal, size } => {
            select(out, "shape", SolidKind::Plane);
            out.value("point", point);
            out.value("normal", normal);
            out.value("size", size);
        }
        SolidShape::Box { min, max } => {
            select(out, "shape", SolidKind::Box);
            out.value("min", min);
            out.value("max", max);
        }
        SolidShape::Sphere { center, radius, inside } => {
            select(out, "shape", SolidKind::Sphere);
            out.value("center", center);
            out.value("radius", radius);
            out.value("inside", inside);
        }
        SolidShape::Cylinder { from, to, radius, wall } => {
            select(out, "shape", SolidKind::Cylinder);
            out.value("from", from);
            out.value("to", to);
            out.value("radius", radius);
            Field::print(wall, out, "wall");
        }
        SolidShape::Leaf { point, axis, angle, size } => {
            select(out, "shape", SolidKind::Leaf);
            out.value("point", point);
            out.value("axis", axis);
            out.value("angle", angle);
            out.value("size", size);
        }
        SolidShape::Mesh { file, scale } => {
            select(out, "shape", SolidKind::Mesh);
            out.value("file", file);
            mesh_scale(out, scale);
        }
    }
}

fn mesh_scale(out: &mut Document, scale: &MeshScale) {
    match scale {
        MeshScale::Height(height) => out.value("height", height),
        MeshScale::Factor(factor) => out.value("scale", factor),
    }
}

pub(super) fn drop(out: &mut Document, scene: &Scene, drop: &Drop) {
    match &drop.shape {
        DropShape::Sphere { center, amount, mode, amplitude, axis } => {
            select(out, "shape", DropKind::Sphere);
            out.value("center", center);
            amount_of_liquid(out, *amount);
            out.value("mode", mode);
            out.value("amplitude", amplitude);
            out.value("axis", axis);
        }
        DropShape::Cap { on, center, amount, contact_angle } => {
            select(out, "shape", DropKind::Cap);
            out.value("on", &solid_name(scene, *on));
            out.value("center", center);
            amount_of_liquid(out, *amount);
            out.value("contact_angle", contact_angle);
        }
        DropShape::Box { min, max } => {
            select(out, "shape", DropKind::Box);
            out.value("min", min);
            out.value("max", max);
        }
        DropShape::Cylinder { from, to, radius, amplitude, wavelength } => {
            select(out, "shape", DropKind::Cylinder);
            out.value("from", from);
            out.value("to", to);
            out.value("radius", radius);
            out.value("amplitude", amplitude);
            Field::print(wavelength, out, "wavelength");
        }
        DropShape::Mesh { file, scale, rotate, shift } => {
            select(out, "shape", DropKind::Mesh);
            out.value("file", file);
            mesh_scale(out, scale);
            out.value("rotate", rotate);
            out.value("move", shift);
        }
    }
    out.value("velocity", &drop.velocity);
}

fn amount_of_liquid(out: &mut Document, amount: Amount) {
    match amount {
        Amount::Volume(volume) => out.value("volume", &volume),
        Amount::Area(area) => out.value("area", &area),
    }
}

fn solid_name(scene: &Scene, index: usize) -> String {
    scene.solids.get(index).map(|solid| solid.name.clone()).unwrap_or_default()
}

pub(super) fn emitter(out: &mut Document, scene: &Scene, emitter: &Emitter) {
    match &emitter.kind {
        EmitterKind::Drip { at, radius, every, velocity } => {
            select(out, "kind", EmitterType::Drip);
            out.value("at", at);
            out.value("radius", radius);
            out.value("every", every);
            out.value("velocity", velocity);
        }
        EmitterKind::Tap { at, direction, radius, speed } => {
            select(out, "kind", EmitterType::Tap);
            out.value("at", at);
            out.value("direction", direction);
            out.value("radius", radius);
            out.value("speed", speed);
        }
        EmitterKind::Rain { over, rate, sizes, velocity } => {
            select(out, "kind", EmitterType::Rain);
            rain_area(out, scene, over);
            out.value("rate", rate);
            rain_sizes(out, sizes);
            Field::print(velocity, out, "velocity");
        }
        EmitterKind::Dew { on, rate } => {
            select(out, "kind", EmitterType::Dew);
            out.value("on", &solid_name(scene, *on));
            out.value("rate", rate);
        }
        EmitterKind::Feed { at, rate } => {
            select(out, "kind", EmitterType::Feed);
            out.value("at", at);
            let kind = if scene.world.planar { &PLANAR_FEED } else { &FEED };
            out.raw("rate", quoted(&quantity_text(*rate, kind)));
        }
    }
    out.value("start", &emitter.start);
    if emitter.stop == f64::INFINITY {
        out.raw("stop", quoted("never"));
    } else {
        out.value("stop", &emitter.stop);
    }
}

fn rain_area(out: &mut Document, scene: &Scene, over: &RainArea) {
    match over {
        RainArea::Solid(index) => out.value("over", &solid_name(scene, *index)),
        RainArea::Box { min, max } => {
            let [min, max] = [min, max].map(|v| quoted(&vector_text(&v.to_array(), &LENGTH)));
            out.raw("over", format!("{{ min = {min}, max = {max} }}"));
        }
    }
}

fn rain_sizes(out: &mut Document, sizes: &RainSizes) {
    match sizes {
        RainSizes::MarshallPalmer => out.raw("radius", quoted("marshall-palmer")),
        RainSizes::Uniform { min, max } => {
            let [min, max] = [min, max].map(|r| quoted(&quantity_text(*r, &LENGTH)));
            out.raw("radius", format!("{{ min = {min}, max = {max} }}"));
        }
    }
}
