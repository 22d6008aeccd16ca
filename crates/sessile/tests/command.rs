//! Output, streams and exit codes of the commands.

use std::process::Stdio;

use crate::common::{RAIN, Scratch};

#[test]
fn wrong_commands_exit_with_2() {
    let scratch = Scratch::with_scene(RAIN);
    let wrong: [&[&str]; 9] = [
        &["swim"],
        &["run"],
        &["run", "rain.toml", "--threads", "0"],
        &["run", "rain.toml", "--checkpoint", "-1"],
        &["run", "rain.toml", "--model", "lava"],
        &["run", "missing.toml"],
        &["measure", "runs/rain", "--frame", "first"],
        &["measure", "runs/rain", "--json", "--csv"],
        &["validate", "--case", "no-such-case"],
    ];
    for args in wrong {
        let done = scratch.run(args).expect_code(2);
        assert_eq!(done.stdout, "", "{args:?}");
        assert!(done.stderr.contains("error"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_missing_scene_is_reported_with_the_nearest_built_in_name() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "windwo.toml"]).expect_code(2);
    assert_eq!(
        done.stderr,
        "error: no such file: windwo.toml; no built-in scene has that name either; did you mean window?\n"
    );
}

#[test]
fn a_model_that_cannot_run_the_scene_reports_why() {
    // In two dimensions liquid is measured by its area.
    let planar =
        RAIN.replace("volume = \"40 uL\"", "area = \"4 mm^2\"").replace("volume = \"5 uL\"", "area = \"2 mm^2\"");
    let scratch = Scratch::with_scene(&planar);
    let done = scratch.run(&["run", "rain.toml", "--model", "surface", "--set", "world.planar=true"]).expect_code(2);
    assert!(done.stderr.contains("only the volume model supports planar runs"), "{}", done.stderr);
    assert!(!scratch.path("runs").exists(), "nothing is written");
}

#[test]
fn check_summarizes_a_valid_scene_and_reports_the_errors_of_an_invalid_one() {
    let scratch = Scratch::with_scene(RAIN);
    let fine = scratch.run(&["check", "rain.toml"]).expect_code(0);
    let lines: Vec<&str> = fine.stdout.lines().collect();
    assert_eq!((lines[0], fine.stderr.as_str()), ("rain.toml is valid: pane model, 40 frames, 1 s", ""));
    assert!(lines[1].starts_with("solid") && lines[2].contains(" x "), "bounding boxes follow: {}", fine.stdout);
    let wrong = scratch.run(&["check", "rain.toml", "--set", "time.frame=\"5 mm\""]).expect_code(2);
    assert_eq!(wrong.stdout, "");
    assert!(wrong.stderr.contains("time.frame"), "{}", wrong.stderr);
}

#[test]
fn measures_are_printed_as_table_json_and_csv() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"200 ms\""]).expect_code(0);
    let all = scratch.run(&["measure", "runs/rain", "--frame", "all", "--json"]).expect_code(0);
    assert!(
        all.stdout == std::fs::read_to_string(scratch.path("runs/rain/measure.jsonl")).unwrap(),
        "the file as it is"
    );
    assert_eq!(all.stderr, "");

    let last = scratch.run(&["measure", "runs/rain", "--json"]).expect_code(0);
    assert!(last.stdout.lines().eq(all.stdout.lines().skip(8)), "the last line alone");
    let frame: serde_json::Value = serde_json::from_str(&last.stdout).unwrap();
    assert_eq!(frame["frame"], 8);
    let (total, lost) = (frame["total_volume"].as_f64().unwrap(), frame["lost_volume"].as_f64().unwrap());
    let added = frame["added_volume"].as_f64().unwrap();
    assert!(((total + lost) / added - 1.0).abs() < 1e-9, "{total} + {lost} is not {added}");

    let drops = frame["drops"].as_array().unwrap().len();
    let csv = scratch.run(&["measure", "runs/rain", "--csv"]).expect_code(0);
    assert_eq!(csv.stdout.lines().count(), 1 + drops, "a heading and a row per drop");
    assert!(csv.stdout.starts_with("frame,time,"), "{}", csv.stdout);

    let table = scratch.run(&["measure", "runs/rain", "--frame", "2"]).expect_code(0);
    assert!(table.stdout.starts_with("frame 2, t = 0.05 s\n"), "{}", table.stdout);

    let missing = scratch.run(&["measure", "runs/rain", "--frame", "9"]).expect_code(2);
    missing.expect_message("of frame 9").expect_message("frames 0 to 8");
    scratch.run(&["measure", "nowhere"]).expect_code(2).expect_message("nowhere");
}

#[test]
fn a_broken_pipe_is_not_an_error() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures"]).expect_code(0);
    let mut child = scratch
        .sessile(&["measure", "runs/rain", "--frame", "all", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn built_in_scenes_materials_and_liquids_can_be_listed_and_checked() {
    let scratch = Scratch::new();
    let list = scratch.run(&["scenes"]).expect_code(0);
    assert!(list.stdout.lines().count() >= 2, "{}", list.stdout);
    for line in list.stdout.lines() {
        let name = line.split_whitespace().next().unwrap();
        let scene = scratch.run(&["scenes", name]).expect_code(0);
        let file = format!("{name}.toml");
        scratch.write(&file, scene.stdout);
        scratch.run(&["check", &file]).expect_code(0);
        scratch.run(&["check", name]).expect_code(0);
    }
    scratch.run(&["scenes", "atlantis"]).expect_code(2).expect_message("unknown scene `atlantis`");
    for (what, known) in [("materials", "glass"), ("liquids", "water")] {
        let table = scratch.run(&[what]).expect_code(0);
        assert!(table.stdout.lines().any(|line| line.starts_with(known)), "{}", table.stdout);
        let json: serde_json::Value =
            serde_json::from_str(&scratch.run(&[what, "--json"]).expect_code(0).stdout).unwrap();
        assert!(json.as_array().unwrap().iter().any(|entry| entry["name"] == known), "{json}");
    }
}

#[test]
fn validation_prints_a_table_json_and_a_page() {
    let scratch = Scratch::new();
    let args = ["validate", "--model", "theory", "--case", "sessile-drop-limits", "--report", "page"];
    let table = scratch.run(&args).expect_code(0);
    assert!(table.stdout.ends_with("1 of 1 case pass\n"), "{}", table.stdout);
    assert!(std::fs::read_to_string(scratch.path("page/index.html")).unwrap().contains("<svg"));
    let json = scratch.run(&[&args[..5], &["--json"]].concat()).expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json["passed"].as_u64(), json["failed"].as_u64()), (Some(1), Some(0)));
    let near = scratch.run(&["validate", "--case", "sessile-drop-limit"]).expect_code(2);
    assert_eq!(
        near.stderr,
        "error: unknown case `sessile-drop-limit`; did you mean sessile-drop-limits, sessile-drop-balance, pendant-drop-limits?\n"
    );
}

#[test]
fn a_model_in_place_of_a_scene_is_explained_with_the_command_that_creates_a_scene() {
    let scratch = Scratch::with_scene(RAIN);
    std::fs::write(scratch.path("my cup.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n").unwrap();
    let done = scratch.run(&["run", "my cup.obj"]).expect_code(2);
    assert!(
        done.stderr.contains("`sessile import 'my cup.obj' --as 'my cup.toml'` creates a scene"),
        "{}",
        done.stderr
    );
    let imported = scratch.run(&["import", "my cup.obj", "--as", "my cup.toml"]).expect_code(0);
    assert!(imported.stderr.contains("1000 x 0 x 1000"), "a bounding box in mm: {}", imported.stderr);
    let checked = scratch.run(&["check", "my cup.toml"]).expect_code(0);
    assert!(checked.stdout.contains("1000 x 0 x 1000"), "{}", checked.stdout);
    for ending in ["glb", "usd", "usdz", "abc", "stl", "ply"] {
        let name = format!("cup.{ending}");
        scratch.write(&name, "?");
        let done = scratch.run(&["run", &name]).expect_code(2);
        let advice =
            format!("{name} is a 3D model, not a scene: `sessile import {name} --as cup.toml` creates a scene");
        assert!(done.stderr.contains(&advice), "{}", done.stderr);
    }
}

/// Files of consecutive frames become a deforming solid, which the volume model refuses.
#[test]
fn a_sequence_is_imported_and_the_volume_model_refuses_it() {
    let scratch = Scratch::new();
    for frame in 1..=3 {
        let sheet = format!("v 0 0 0\nv 0 0 1\nv 1 {0} 1\nv 1 {0} 0\nf 1 2 3 4\n", 0.01 * f64::from(frame - 1));
        scratch.write(&format!("sheet.{frame}.obj"), sheet);
    }
    let files = ["sheet.1.obj", "sheet.2.obj", "sheet.3.obj"];
    let command = |more: &[&'static str]| [&["import"][..], &files, &["--as", "sheet.toml"], more].concat();
    scratch.run(&command(&["--fps", "50"])).expect_code(0);
    let text = std::fs::read_to_string(scratch.path("sheet.toml")).unwrap();
    assert!(text.contains("frames = 2\nfps = 50 ") && text.contains("{ at = \"40 ms\""), "{text}");
    for model in ["droplet", "surface"] {
        scratch.run(&["check", "sheet.toml", "--model", model]).expect_code(0);
    }
    let done =
        scratch.run(&["check", "sheet.toml", "--model", "volume", "--set", "resolution.cell=\"1 mm\""]).expect_code(2);
    let reason = "solid `sheet` deforms, which the volume model does not support: use the droplet or surface";
    assert!(done.stderr.contains(reason), "{}", done.stderr);
    scratch.run(&command(&["--fps", "0", "--force"])).expect_code(2).expect_message("frames per second");
    scratch.write("sheet.3.obj", "v 0 0 0\nv 0 0 1\nv 1 0 1\nf 1 2 3\n");
    let done = scratch.run(&command(&["--force"])).expect_code(2);
    assert!(done.stderr.contains("sheet.3.obj: its topology differs from that of sheet.1.obj"), "{}", done.stderr);
}
