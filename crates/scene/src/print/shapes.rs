//! Solids, drops and emitters.

use super::{Document, numbers, quantity_text, quoted};
use crate::quantities::{ANGLE, AREA, DEW, FEED, LENGTH, PLANAR_FEED, RAIN, TIME, VELOCITY, VOLUME};
use crate::types::{Amount, DropShape, EmitterKind, MeshScale, RainArea, RainSizes, Scene, Solid, SolidShape, Texture};

pub(super) fn solids(out: &mut Document, scene: &Scene) {
    for (index, solid) in scene.solids.iter().enumerate() {
        out.table("[[solids]]".into(), format!("solids.{index}"));
        out.text("name", &solid.name, "");
        out.text("material", &solid.material, "");
        solid_shape(out, &solid.shape);
        out.vector("rotate", solid.rotate, &ANGLE, "");
        out.vector("move", solid.shift, &LENGTH, "");
        motion(out, solid);
        out.text("look", solid.look.name(), "");
        match &solid.texture {
            Some(Texture::Pattern(pattern)) => out.text("texture", pattern.name(), ""),
            Some(Texture::Image(file)) => out.text("texture", &file.to_string_lossy(), ""),
            None => {}
        }
    }
}

fn solid_shape(out: &mut Document, shape: &SolidShape) {
    match shape {
        SolidShape::Plane { point, normal, size } => {
            out.text("shape", "plane", "");
            out.vector("point", *point, &LENGTH, "");
            out.direction("normal", *normal, "out of the solid");
            out.pair("size", *size, &LENGTH, "drawn and meshed part");
        }
        SolidShape::Box { min, max } => {
            out.text("shape", "box", "");
            out.vector("min", *min, &LENGTH, "");
            out.vector("max", *max, &LENGTH, "");
        }
        SolidShape::Sphere { center, radius, inside } => {
            out.text("shape", "sphere", "");
            out.vector("center", *center, &LENGTH, "");
            out.quantity("radius", *radius, &LENGTH, "");
            out.entry("inside", inside.to_string(), "");
        }
        SolidShape::Cylinder { from, to, radius, wall } => {
            out.text("shape", "cylinder", "");
            out.vector("from", *from, &LENGTH, "");
            out.vector("to", *to, &LENGTH, "");
            out.quantity("radius", *radius, &LENGTH, "");
            match wall {
                Some(wall) => out.quantity("wall", *wall, &LENGTH, "hollow"),
                None => out.note("no wall: not hollow"),
            }
        }
        SolidShape::Leaf { point, axis, angle, size } => {
            out.text("shape", "leaf", "");
            out.vector("point", *point, &LENGTH, "");
            out.direction("axis", *axis, "along the valley");
            out.quantity("angle", *angle, &ANGLE, "");
            out.pair("size", *size, &LENGTH, "along the axis and across");
        }
        SolidShape::Mesh { file, scale } => {
            out.text("shape", "mesh", "");
            out.text("file", &file.to_string_lossy(), "");
            mesh_scale(out, scale);
        }
    }
}

fn mesh_scale(out: &mut Document, scale: &MeshScale) {
    match scale {
        MeshScale::Height(height) => out.quantity("height", *height, &LENGTH, ""),
        MeshScale::Factor(factor) => out.number("scale", *factor, "file units to meters"),
    }
}

fn motion(out: &mut Document, solid: &Solid) {
    if solid.motion.is_empty() {
        return;
    }
    let keys: Vec<String> = solid
        .motion
        .iter()
        .map(|key| {
            format!(
                "{{ at = {}, move = {}, rotate = {} }}",
                quoted(&quantity_text(key.at, &TIME)),
                quoted(&numbers::vector_text(&key.shift.to_array(), &LENGTH)),
                quoted(&numbers::vector_text(&key.rotate.to_array(), &ANGLE)),
            )
        })
        .collect();
    out.entry("motion", format!("[{}]", keys.join(", ")), "");
}

pub(super) fn drops(out: &mut Document, scene: &Scene) {
    for (index, drop) in scene.drops.iter().enumerate() {
        out.table("[[drops]]".into(), format!("drops.{index}"));
        drop_shape(out, scene, &drop.shape);
        out.vector("velocity", drop.velocity, &VELOCITY, "");
    }
}

fn drop_shape(out: &mut Document, scene: &Scene, shape: &DropShape) {
    match shape {
        DropShape::Sphere { center, amount, mode, amplitude, axis } => {
            out.text("shape", "sphere", "");
            out.vector("center", *center, &LENGTH, "");
            amount_of(out, *amount);
            out.entry("mode", mode.to_string(), "");
            out.number("amplitude", *amplitude, "");
            out.direction("axis", *axis, "");
        }
        DropShape::Cap { on, center, amount, contact_angle } => {
            out.text("shape", "cap", "");
            out.text("on", solid_name(scene, *on), "");
            out.vector("center", *center, &LENGTH, "");
            amount_of(out, *amount);
            out.quantity("contact_angle", *contact_angle, &ANGLE, "");
        }
        DropShape::Box { min, max } => {
            out.text("shape", "box", "");
            out.vector("min", *min, &LENGTH, "");
            out.vector("max", *max, &LENGTH, "");
        }
        DropShape::Cylinder { from, to, radius, amplitude, wavelength } => {
            out.text("shape", "cylinder", "");
            out.vector("from", *from, &LENGTH, "");
            out.vector("to", *to, &LENGTH, "");
            out.quantity("radius", *radius, &LENGTH, "");
            out.number("amplitude", *amplitude, "");
            if let Some(wavelength) = wavelength {
                out.quantity("wavelength", *wavelength, &LENGTH, "");
            }
        }
        DropShape::Mesh { file, scale, rotate, shift } => {
            out.text("shape", "mesh", "");
            out.text("file", &file.to_string_lossy(), "");
            mesh_scale(out, scale);
            out.vector("rotate", *rotate, &ANGLE, "");
            out.vector("move", *shift, &LENGTH, "");
        }
    }
}

fn amount_of(out: &mut Document, amount: Amount) {
    match amount {
        Amount::Volume(volume) => out.quantity("volume", volume, &VOLUME, ""),
        Amount::Area(area) => out.quantity("area", area, &AREA, ""),
    }
}

fn solid_name(scene: &Scene, index: usize) -> &str {
    scene.solids.get(index).map_or("", |s| s.name.as_str())
}

pub(super) fn emitters(out: &mut Document, scene: &Scene) {
    for (index, emitter) in scene.emitters.iter().enumerate() {
        out.table("[[emitters]]".into(), format!("emitters.{index}"));
        emitter_kind(out, scene, &emitter.kind);
        out.quantity("start", emitter.start, &TIME, "");
        if emitter.stop == f64::INFINITY {
            out.text("stop", "never", "");
        } else {
            out.quantity("stop", emitter.stop, &TIME, "");
        }
    }
}

fn emitter_kind(out: &mut Document, scene: &Scene, kind: &EmitterKind) {
    match kind {
        EmitterKind::Drip { at, radius, every, velocity } => {
            out.text("kind", "drip", "");
            out.vector("at", *at, &LENGTH, "");
            out.quantity("radius", *radius, &LENGTH, "");
            out.quantity("every", *every, &TIME, "");
            out.vector("velocity", *velocity, &VELOCITY, "");
        }
        EmitterKind::Tap { at, direction, radius, speed } => {
            out.text("kind", "tap", "");
            out.vector("at", *at, &LENGTH, "");
            out.direction("direction", *direction, "");
            out.quantity("radius", *radius, &LENGTH, "");
            out.quantity("speed", *speed, &VELOCITY, "");
        }
        EmitterKind::Rain { over, rate, sizes, velocity } => {
            out.text("kind", "rain", "");
            match over {
                RainArea::Solid(index) => out.text("over", solid_name(scene, *index), ""),
                RainArea::Box { min, max } => {
                    let [min, max] = [min, max].map(|v| quoted(&numbers::vector_text(&v.to_array(), &LENGTH)));
                    out.entry("over", format!("{{ min = {min}, max = {max} }}"), "");
                }
            }
            out.quantity("rate", *rate, &RAIN, "");
            match sizes {
                RainSizes::MarshallPalmer => out.text("radius", "marshall-palmer", ""),
                RainSizes::Uniform { min, max } => {
                    let [min, max] = [min, max].map(|r| quoted(&quantity_text(*r, &LENGTH)));
                    out.entry("radius", format!("{{ min = {min}, max = {max} }}"), "");
                }
            }
            match velocity {
                Some(velocity) => out.vector("velocity", *velocity, &VELOCITY, ""),
                None => out.note("no velocity: terminal speed by size, plus the wind"),
            }
        }
        EmitterKind::Dew { on, rate } => {
            out.text("kind", "dew", "");
            out.text("on", solid_name(scene, *on), "");
            out.quantity("rate", *rate, &DEW, "");
        }
        EmitterKind::Feed { at, rate } => {
            out.text("kind", "feed", "");
            out.vector("at", *at, &LENGTH, "");
            let kind = if scene.world.planar { &PLANAR_FEED } else { &FEED };
            out.quantity("rate", *rate, kind, "");
        }
    }
}
