//! The sections of a scene in the order of the file.

use super::{Document, bare_or_quoted, quantity_text, quoted, shapes};
use crate::field::Field;
use crate::field::Value;
use crate::schema::{DROP, EMITTER, MATERIAL, SOLID, Table};
use crate::types::{Domain, Material, Scene, Varying};

pub(super) fn print(out: &mut Document, scene: &Scene) {
    out.value("title", &scene.title);
    out.value("model", &scene.model);
    out.value("fidelity", &scene.fidelity);
    out.value("seed", &scene.seed);
    Field::print(&scene.time, out, "time");
    liquid(out, scene);
    Field::print(&scene.world, out, "world");
    match &scene.domain {
        Some(found) => domain(out, found),
        None => out.absent("domain"),
    }
    Field::print(&scene.resolution, out, "resolution");
    Field::print(&scene.output, out, "output");
    for material in &scene.materials {
        let path = format!("materials.{}", bare_or_quoted(&material.name));
        out.under(format!("[{path}]"), path, &MATERIAL, |out| one_material(out, material));
    }
    each(out, "solids", &SOLID, &scene.solids, shapes::solid);
    each(out, "drops", &DROP, &scene.drops, |out, drop| shapes::drop(out, scene, drop));
    each(out, "emitters", &EMITTER, &scene.emitters, |out, emitter| shapes::emitter(out, scene, emitter));
    Field::print(&scene.pane, out, "pane");
    Field::print(&scene.droplet, out, "droplet");
    Field::print(&scene.surface, out, "surface");
    Field::print(&scene.volume, out, "volume");
    Field::print(&scene.camera, out, "camera");
    Field::print(&scene.render, out, "render");
    Field::print(&scene.lights, out, "lights");
}

/// Prints the tables of a list under their headers.
fn each<T>(out: &mut Document, name: &str, table: &'static Table, list: &[T], print: impl Fn(&mut Document, &T)) {
    for (index, item) in list.iter().enumerate() {
        out.under(format!("[[{name}]]"), format!("{name}.{index}"), table, |out| print(out, item));
    }
}

fn liquid(out: &mut Document, scene: &Scene) {
    let Some(table) = out.key("liquid").value.table() else { return };
    out.under("[liquid]".into(), "liquid".into(), table, |out| {
        out.value("preset", &scene.liquid_preset.name.to_owned());
        out.value("density", &scene.liquid.density);
        out.value("viscosity", &scene.liquid.viscosity);
        out.value("surface_tension", &scene.liquid.surface_tension);
        out.value("refractive_index", &scene.liquid.refractive_index);
    });
}

fn domain(out: &mut Document, domain: &Domain) {
    let Some(table) = out.key("domain").value.table() else { return };
    out.under("[domain]".into(), "domain".into(), table, |out| {
        out.value("min", &domain.min);
        out.value("max", &domain.max);
        for (key, side) in ["x", "y", "z"].into_iter().zip(&domain.sides) {
            out.value(key, side);
        }
        Field::print(&domain.wall_material, out, "wall_material");
    });
}

fn one_material(out: &mut Document, material: &Material) {
    varying(out, "advancing", &material.advancing);
    varying(out, "receding", &material.receding);
    match &material.wet_advancing {
        Some(wet) => varying(out, "wet_advancing", wet),
        None => out.absent("wet_advancing"),
    }
    Field::print(&material.receding_limit, out, "receding_limit");
    let [u, v] = material.roughness;
    if u.to_bits() == v.to_bits() {
        out.value("roughness", &u);
    } else if let Some((kind, _)) = out.key("roughness").value.quantity() {
        let [u, v] = [u, v].map(|r| quoted(&quantity_text(r, kind)));
        out.raw("roughness", format!("[{u}, {v}]"));
    }
    out.value("adhesion", &material.adhesion);
    Field::print(&material.friction, out, "friction");
    varying(out, "affinity", &material.affinity);
}

fn varying(out: &mut Document, name: &str, value: &Varying) {
    match value {
        Varying::Uniform(value) => out.value(name, value),
        Varying::Image { file, black, white } => {
            let key = out.key(name);
            let (file, black, white) = (file.text(key), black.text(key), white.text(key));
            out.raw(name, format!("{{ image = {file}, black = {black}, white = {white} }}"));
        }
    }
}
