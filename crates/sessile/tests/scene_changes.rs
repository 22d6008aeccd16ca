//! Changes of a scene that do not affect the simulation let a run resume or render again.

use std::fs;

use crate::common::{RAIN, Scratch, assert_same_results};

/// Overrides of keys that affect images, the video or nothing.
const OTHER_IMAGES: &[&str] = &[
    "title=\"Red window\"",
    "solids.0.look=\"paint\"",
    "solids.0.texture=\"tiles\"",
    "liquid.refractive_index=1.4",
    "camera.fov=\"50 deg\"",
    "lights.environment=\"sky\"",
    "render.samples=1",
    "render.fps=24",
];

fn with_sets<'a>(command: &[&'a str], sets: &[&'a str]) -> Vec<&'a str> {
    command.iter().copied().chain(sets.iter().flat_map(|set| ["--set", set])).collect()
}

#[test]
fn a_finished_run_is_rendered_again_with_another_appearance_without_a_new_simulation() {
    let scratch = Scratch::with_scene(RAIN);
    let tiny = ["time.duration=\"50 ms\"", "render.size=[32, 18]", "render.samples=1"];
    let command = with_sets(&["run", "rain.toml"], &tiny);
    scratch.run(&command).expect_code(0);
    let (before, image) = (scratch.results("runs/rain"), scratch.path("runs/rain/pictures/00000.png"));
    let first = fs::read(&image).unwrap();
    scratch.run(&command).expect_code(0);
    assert_eq!(fs::read(&image).unwrap(), first, "the image of an unchanged scene is kept");

    let recolored = with_sets(&command, &["solids.0.look=\"paint\"", "solids.0.texture=\"checker\""]);
    scratch.run(&recolored).expect_code(0);
    assert_same_results(&scratch.results("runs/rain"), &before, "another appearance");
    assert_ne!(fs::read(&image).unwrap(), first, "the image shows the new appearance");
    let scene = fs::read_to_string(scratch.path("runs/rain/scene.toml")).unwrap();
    assert!(scene.contains("look = \"paint\""), "{scene}");
}

#[test]
fn a_run_resumes_with_another_appearance_to_bit_identical_results() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "whole"]).expect_code(0);
    let pieces = ["run", "rain.toml", "--no-pictures", "--out", "pieces"];
    scratch.run(&with_sets(&pieces, &["time.duration=\"0.5 s\""])).expect_code(0);
    scratch.run(&with_sets(&pieces, OTHER_IMAGES)).expect_code(0);
    assert_same_results(&scratch.results("pieces"), &scratch.results("whole"), "another appearance");
    assert_eq!(scratch.run_json("pieces").unwrap()["resumes"], 1);
}

#[test]
fn a_change_that_affects_the_simulation_is_refused_and_named() {
    let scratch = Scratch::with_scene(RAIN);
    let command = ["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"50 ms\""];
    scratch.run(&command).expect_code(0);
    let other = with_sets(&command, &["solids.0.look=\"paint\"", "liquid.viscosity=\"2 mm^2/s\""]);
    let refused = scratch.run(&other).expect_code(1);
    refused.expect_message("liquid.viscosity");
}

#[test]
fn the_schema_command_prints_json() {
    let scratch = Scratch::new();
    let printed = scratch.run(&["schema"]).expect_code(0);
    let schema: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["solids"]["type"], "array");
}
