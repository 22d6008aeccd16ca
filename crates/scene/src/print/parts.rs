//! The tables that a scene has once, and materials.

use super::{Document, bare_or_quoted, numbers, quantity_text, quoted};
use crate::quantities::{
    ACCELERATION, ANGLE, DAMPING, DENSITY, DRAG, FINE_LENGTH, LENGTH, PRESSURE, STIFFNESS, TENSION, TIME, VELOCITY,
    VISCOSITY, VOLUME,
};
use crate::types::{EnvironmentMap, Follow, Material, Scene, Varying};

pub(super) fn general(out: &mut Document, scene: &Scene) {
    out.text("title", &scene.title, "");
    out.text("model", scene.model.name(), "");
    out.text("fidelity", scene.fidelity.name(), "");
    out.entry("seed", scene.seed.to_string(), "every random choice follows from it");

    out.table("[time]".into(), "time".into());
    out.quantity("duration", scene.time.duration, &TIME, "");
    out.quantity("frame", scene.time.frame, &TIME, "between two frames");
    out.entry("settle", scene.time.settle.to_string(), "");

    out.table("[liquid]".into(), "liquid".into());
    out.text("preset", scene.liquid_preset.name, "the keys below override it");
    out.quantity("density", scene.liquid.density, &DENSITY, "");
    out.quantity("viscosity", scene.liquid.viscosity, &VISCOSITY, "kinematic");
    out.quantity("surface_tension", scene.liquid.surface_tension, &TENSION, "");
    out.number("refractive_index", scene.liquid.refractive_index, "");

    out.table("[world]".into(), "world".into());
    gravity(out, scene);
    out.vector("wind", scene.world.wind, &VELOCITY, "");
    out.entry("planar", scene.world.planar.to_string(), "");

    match &scene.domain {
        Some(domain) => {
            out.table("[domain]".into(), "domain".into());
            out.vector("min", domain.min, &LENGTH, "");
            out.vector("max", domain.max, &LENGTH, "");
            for (key, side) in ["x", "y", "z"].into_iter().zip(domain.sides) {
                out.text(key, side.name(), "");
            }
            match &domain.wall_material {
                Some(name) => out.text("wall_material", name, ""),
                None => out.note("no wall_material: walls have a contact angle of 90 deg"),
            }
        }
        None => out.note("no [domain]: space is open and unbounded"),
    }

    out.table("[resolution]".into(), "resolution".into());
    match scene.resolution.cell {
        Some(cell) => out.quantity("cell", cell, &LENGTH, "volume: side of a cell"),
        None => out.note("no cell: nothing in the scene to derive it from"),
    }
    out.quantity("edge", scene.resolution.edge, &LENGTH, "surface, droplet: shortest edge");

    out.table("[output]".into(), "output".into());
    out.entry("fields", scene.output.fields.to_string(), "");
}

fn gravity(out: &mut Document, scene: &Scene) {
    let keys = &scene.world.gravity.keys;
    match keys[..] {
        [(at, value)] if at.to_bits() == 0 => out.vector("gravity", value, &ACCELERATION, ""),
        _ => {
            let keys: Vec<String> = keys
                .iter()
                .map(|(at, value)| {
                    let at = quoted(&quantity_text(*at, &TIME));
                    let value = quoted(&numbers::vector_text(&value.to_array(), &ACCELERATION));
                    format!("{{ at = {at}, value = {value} }}")
                })
                .collect();
            out.entry("gravity", format!("[{}]", keys.join(", ")), "");
        }
    }
}

pub(super) fn materials(out: &mut Document, scene: &Scene) {
    for material in &scene.materials {
        let name = bare_or_quoted(&material.name);
        out.table(format!("[materials.{name}]"), format!("materials.{name}"));
        one_material(out, material);
    }
}

fn one_material(out: &mut Document, material: &Material) {
    let angle = |v: &f64| quoted(&quantity_text(*v, &ANGLE));
    out.entry("advancing", varying(&material.advancing, &angle), "");
    out.entry("receding", varying(&material.receding, &angle), "");
    match &material.wet_advancing {
        Some(wet) => out.entry("wet_advancing", varying(wet, &angle), "its presence turns the wetting history on"),
        None => out.note("no wet_advancing: no wetting history"),
    }
    match material.receding_limit {
        Some(limit) => out.quantity("receding_limit", limit, &TENSION, ""),
        None => out.note("no receding_limit: the receding line force has no bound"),
    }
    let [u, v] = material.roughness;
    if u.to_bits() == v.to_bits() {
        out.quantity("roughness", u, &FINE_LENGTH, "");
    } else {
        let [u, v] = [u, v].map(|r| quoted(&quantity_text(r, &FINE_LENGTH)));
        out.entry("roughness", format!("[{u}, {v}]"), "along the surface's u and v");
    }
    out.quantity("adhesion", material.adhesion, &PRESSURE, "droplet model, paper form");
    out.optional("friction", material.friction, &DRAG, "droplet model, paper form");
    out.entry("affinity", varying(&material.affinity, &|v| numbers::number(*v)), "pane model, paper form");
}

fn varying(value: &Varying, show: &dyn Fn(&f64) -> String) -> String {
    match value {
        Varying::Uniform(value) => show(value),
        Varying::Image { file, black, white } => format!(
            "{{ image = {}, black = {}, white = {} }}",
            quoted(&file.to_string_lossy()),
            show(black),
            show(white)
        ),
    }
}

pub(super) fn knobs(out: &mut Document, scene: &Scene) {
    let derived = "keys that are not here follow from the liquid, the materials and the resolution";
    out.table("[pane]".into(), "pane".into());
    out.note(derived);
    let knobs = &scene.pane;
    out.optional("cell", knobs.cell, &LENGTH, "");
    if let Some(fine) = knobs.fine {
        out.entry("fine", fine.to_string(), "");
    }
    out.optional("static_weight", knobs.static_weight, &VOLUME, "");
    out.optional("dynamic_weight", knobs.dynamic_weight, &VOLUME, "");
    out.optional("residue", knobs.residue, &VOLUME, "");

    out.table("[droplet]".into(), "droplet".into());
    let knobs = &scene.droplet;
    out.optional("friction", knobs.friction, &DRAG, "");
    for (key, count) in [("slices", knobs.slices), ("levels", knobs.levels)] {
        if let Some(count) = count {
            out.entry(key, count.to_string(), "");
        }
    }
    let springs = [
        ("longitudinal", knobs.springs.longitudinal),
        ("transverse", knobs.springs.transverse),
        ("guide", knobs.springs.guide),
        ("volume", knobs.springs.volume),
    ];
    let springs: Vec<String> = springs
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} = {}", quoted(&quantity_text(value?, &STIFFNESS)))))
        .collect();
    if !springs.is_empty() {
        out.entry("springs", format!("{{ {} }}", springs.join(", ")), "");
    }

    out.table("[surface]".into(), "surface".into());
    let knobs = &scene.surface;
    out.optional("mu", knobs.mu, &DAMPING, "");
    out.optional("friction", knobs.friction, &VELOCITY, "");
    for (key, value) in [("eta", knobs.eta), ("alpha", knobs.alpha), ("gamma", knobs.gamma)] {
        if let Some(value) = value {
            out.number(key, value, "");
        }
    }
    if let Some(correction) = knobs.volume_correction {
        out.text("volume_correction", correction.name(), "");
    }
    if let Some(on) = knobs.self_collision {
        out.entry("self_collision", on.to_string(), "");
    }
    out.optional("dt", knobs.dt, &TIME, "");

    out.table("[volume]".into(), "volume".into());
    let knobs = &scene.volume;
    if let Some(method) = knobs.curvature {
        out.text("curvature", method.name(), "");
    }
    if let Some(order) = knobs.pressure_order {
        out.entry("pressure_order", order.to_string(), "");
    }
    out.optional("dt", knobs.dt, &TIME, "");
    out.optional("static_speed", knobs.static_speed, &VELOCITY, "");
    out.optional("slip", knobs.slip, &LENGTH, "");
}

pub(super) fn pictures(out: &mut Document, scene: &Scene) {
    out.table("[camera]".into(), "camera".into());
    if scene.camera.position.is_none() || scene.camera.look_at.is_none() {
        out.note("what is not here is framed by itself");
    }
    if let Some(position) = scene.camera.position {
        out.vector("position", position, &LENGTH, "");
    }
    if let Some(look_at) = scene.camera.look_at {
        out.vector("look_at", look_at, &LENGTH, "");
    }
    out.quantity("fov", scene.camera.fov, &ANGLE, "");
    match scene.camera.follow {
        Some(Follow::Drop(id)) => out.entry("follow", id.to_string(), "the drop with this id"),
        Some(Follow::Largest) => out.text("follow", "largest", "the drop"),
        None => {}
    }
    out.quantity("aperture", scene.camera.aperture, &LENGTH, "diameter of the lens");
    out.optional("focus", scene.camera.focus, &LENGTH, "");

    out.table("[render]".into(), "render".into());
    let [width, height] = scene.render.size;
    out.entry("size", format!("[{width}, {height}]"), "pixels");
    out.entry("samples", scene.render.samples.to_string(), "per pixel");
    out.entry("denoise", scene.render.denoise.to_string(), "");
    out.number("shutter", scene.render.shutter, "of the time between two frames");
    out.number("exposure", scene.render.exposure, "");
    out.number("fps", scene.render.fps, "");

    out.table("[lights]".into(), "lights".into());
    match &scene.lights.environment {
        EnvironmentMap::Preset(preset) => out.text("environment", preset.name(), ""),
        EnvironmentMap::Image(file) => out.text("environment", &file.to_string_lossy(), ""),
    }
    out.number("strength", scene.lights.strength, "");
    if let Some(sun) = &scene.lights.sun {
        out.table("[lights.sun]".into(), "lights.sun".into());
        out.direction("direction", sun.direction, "towards the sun");
        out.plain("color", &sun.color, "");
        out.quantity("angle", sun.angle, &ANGLE, "");
    }
    for (index, lamp) in scene.lights.area.iter().enumerate() {
        out.table("[[lights.area]]".into(), format!("lights.area.{index}"));
        out.vector("center", lamp.center, &LENGTH, "");
        out.vector("look_at", lamp.look_at, &LENGTH, "");
        out.quantity("size", lamp.size, &LENGTH, "");
        out.plain("color", &lamp.color, "");
    }
}
