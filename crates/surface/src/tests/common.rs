//! Scenes for tests, and runs that check every surface after every step.

use crate::SurfaceModel;
use crate::mesh::check::{check, check_crossings};
use sessile_model::{Model, NoTimer, StepReport};
use sessile_scene::{NoFiles, parse_str, text};
use sessile_world::World;

/// The model of these tables.
pub fn build(tables: &str) -> SurfaceModel {
    build_with("", tables)
}

/// The model of these tables in reproduction mode.
pub fn build_paper(tables: &str) -> SurfaceModel {
    build_with("fidelity = \"paper\"", tables)
}

fn build_with(head: &str, tables: &str) -> SurfaceModel {
    let text = text::header("surface", head) + tables;
    let scene = match parse_str("test.toml", &text, &[], &NoFiles) {
        Ok(read) => read.scene,
        Err(wrong) => panic!("{wrong}"),
    };
    SurfaceModel::new(&scene, World::build(&scene).unwrap()).unwrap()
}

/// A plane `s` through the origin with this normal, of a material with these angles in degrees.
pub fn plane(normal: [f64; 3], advancing: f64, receding: f64) -> String {
    text::material("m", advancing, receding) + &text::plane("s", "m", normal, [256.0; 2])
}

/// A cap on `s` at a position in mm.
pub fn cap(volume: f64, angle: f64, place: [f64; 3]) -> String {
    text::cap("s", place, &format!("volume = \"{volume} uL\""), angle)
}

/// A sphere at a position in mm with a velocity in m/s.
pub fn sphere(radius: f64, place: [f64; 3], velocity: [f64; 3]) -> String {
    text::sphere(&format!("radius = \"{radius} mm\""), place, velocity)
}

/// Runs for `seconds`, checks every surface after every step and returns the reports.
pub fn run(model: &mut SurfaceModel, seconds: f64) -> Vec<StepReport> {
    let end = model.time() + seconds;
    let mut reports = Vec::new();
    while model.time() < end - 1e-9 * seconds {
        reports.push(model.step(end - model.time(), &mut NoTimer).unwrap());
        assert_valid(model);
    }
    reports
}

/// Asserts that every surface is closed, manifold, oriented, not degenerate, and encloses its
/// volume.
pub fn assert_valid(model: &SurfaceModel) {
    for drop in model.drops() {
        let (id, time) = (drop.id, model.time());
        check(&drop.mesh).unwrap_or_else(|defect| panic!("drop {id} at {time} s: {defect}"));
        let off = drop.mesh.volume() / drop.volume - 1.0;
        assert!(off.abs() < 1e-6, "drop {id} at {time} s: the enclosed volume is off by {off:+e}");
    }
}

/// Asserts that no surface intersects itself.
pub fn assert_no_self_intersection(model: &SurfaceModel) {
    for drop in model.drops() {
        check_crossings(&drop.mesh).unwrap_or_else(|defect| panic!("drop {} at {} s: {defect}", drop.id, model.time()));
    }
}
