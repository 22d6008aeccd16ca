//! Scenes for the tests, and a model that is looked at after every step.

#![allow(dead_code)]

use sessile_model::{Model, NoTimer, StepReport};
use sessile_scene::{NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_surface::validate::{check, check_crossings};
use sessile_world::World;

/// The model of these tables.
pub fn build(tables: &str) -> SurfaceModel {
    build_with("", tables)
}

/// The model of these tables with the paper's operators.
pub fn build_paper(tables: &str) -> SurfaceModel {
    build_with("fidelity = \"paper\"\n", tables)
}

fn build_with(head: &str, tables: &str) -> SurfaceModel {
    let text = format!("model = \"surface\"\n{head}[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n{tables}");
    let scene = match parse_str("test.toml", &text, &[], &NoFiles) {
        Ok(read) => read.scene,
        Err(wrong) => panic!("{wrong}"),
    };
    SurfaceModel::new(&scene, World::build(&scene).unwrap()).unwrap()
}

/// A plane `s` through the origin with this normal, of a material with these angles in degrees.
pub fn plane(normal: [f64; 3], advancing: f64, receding: f64) -> String {
    format!(
        "[materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = {normal:?}\n"
    )
}

/// A cap on `s` at a place in mm.
pub fn cap(volume: f64, angle: f64, place: [f64; 3]) -> String {
    let [x, y, z] = place;
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} {y} {z} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n"
    )
}

/// A ball at a place in mm with a velocity in m/s.
pub fn ball(radius: f64, place: [f64; 3], velocity: [f64; 3]) -> String {
    let ([x, y, z], [u, v, w]) = (place, velocity);
    format!(
        "[[drops]]\nshape = \"sphere\"\nradius = \"{radius} mm\"\ncenter = \"{x} {y} {z} mm\"\nvelocity = \"{u} {v} {w} m/s\"\n"
    )
}

/// Runs for so many seconds and checks every surface after every step; what was reported.
pub fn run(model: &mut SurfaceModel, seconds: f64) -> Vec<StepReport> {
    let end = model.time() + seconds;
    let mut reports = Vec::new();
    while model.time() < end - 1e-9 * seconds {
        reports.push(model.step(end - model.time(), &mut NoTimer).unwrap());
        sound(model);
    }
    reports
}

/// Every surface is closed, manifold, oriented and not degenerate, and holds its volume.
pub fn sound(model: &SurfaceModel) {
    for drop in model.drops() {
        let (id, time) = (drop.id, model.time());
        check(&drop.mesh).unwrap_or_else(|flaw| panic!("drop {id} at {time} s: {flaw}"));
        let off = drop.mesh.volume() / drop.volume - 1.0;
        assert!(off.abs() < 1e-6, "drop {id} at {time} s: its surface encloses {off:+e} more than it holds");
    }
}

/// No surface crosses itself.
pub fn uncrossed(model: &SurfaceModel) {
    for drop in model.drops() {
        check_crossings(&drop.mesh).unwrap_or_else(|flaw| panic!("drop {} at {} s: {flaw}", drop.id, model.time()));
    }
}
