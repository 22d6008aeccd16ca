//! Scenes that the volume model rejects: an immediate error says what to change, and existing
//! files stay unchanged.

use crate::common::Scratch;

const SCENE: &str = r#"
model = "volume"
[time]
duration = "4 ms"
frame = "1 ms"
[resolution]
cell = "0.2 mm"
[materials.m]
advancing = "100 deg"
[[solids]]
name = "sheet"
material = "m"
shape = "box"
min = "-5 -0.5 -5 mm"
max = "5 0 5 mm"
[[drops]]
shape = "cap"
on = "sheet"
radius = "1 mm"
"#;

/// Runs the scene with one change; it must be refused with these words before a run folder is made.
fn refused(change: &str, words: &[&str]) {
    let scratch = Scratch::with_scene(SCENE);
    let mut finished =
        scratch.run(&["run", "rain.toml", "--out", "out", "--no-pictures", "--set", change]).expect_code(2);
    for part in words {
        finished = finished.expect_message(part);
    }
    assert!(!scratch.path("out").exists(), "{change}: a run folder was made");
}

#[test]
fn contact_angles_lie_between_0_and_180_degrees() {
    for angle in ["0 deg", "180 deg", "-20 deg"] {
        refused(
            &format!("materials.m.advancing={angle}"),
            &["advancing", "expected more than 0 deg and less than 180 deg"],
        );
    }
    refused("drops.0.contact_angle=190 deg", &["contact_angle", "expected more than 0 deg and less than 180 deg"]);
}

#[test]
fn the_error_for_a_cell_larger_than_a_drop_suggests_a_valid_one() {
    refused("drops.0.radius=0.4 mm", &["drops.0 is smaller than a few cells", "at most 0.0400 mm"]);
}

#[test]
fn the_error_for_a_solid_thinner_than_two_cells_suggests_a_valid_cell() {
    refused("solids.0.min=-5 -0.3 -5 mm", &["`sheet` is 0.3000 mm thick", "at most 0.1500 mm"]);
}

#[test]
fn the_error_for_a_scene_too_large_for_the_machine_suggests_a_valid_cell() {
    refused("drops.0.radius=300 mm", &["GB free", "set resolution.cell to at least"]);
}

#[test]
fn a_time_step_that_blows_up_is_refused_with_the_longest_that_does_not() {
    refused("volume.dt=1 ms", &["volume.dt is 1000.000 us", "are unstable above"]);
}

#[test]
fn a_run_that_diverges_fails_and_keeps_its_last_checkpoint() {
    let scratch = Scratch::with_scene(SCENE);
    // Faster than any water drop: the model must not follow it down to steps of nanoseconds.
    let args = [
        "run",
        "rain.toml",
        "--out",
        "out",
        "--no-pictures",
        "--checkpoint",
        "0",
        "--set",
        "drops.0.velocity=900 0 0 m/s",
    ];
    scratch.run(&args).expect_code(1).expect_message("unphysical speed");
    assert_eq!(scratch.run_json("out").expect("run.json")["status"], "failed");
    assert!(scratch.path("out/checkpoint").exists(), "no checkpoint was kept");
}
