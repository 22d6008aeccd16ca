//! Exports by the real program: every format is written completely, and a failed export leaves no
//! files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{RAIN, Scratch};

/// Every format with a name for its destination.
const FORMATS: [(&str, &str); 14] = [
    ("usd", "a.usdc"),
    ("abc", "a.abc"),
    ("gltf", "a.glb"),
    ("ply", "ply"),
    ("obj", "obj"),
    ("stl", "stl"),
    ("vtk", "a.pvd"),
    ("csv", "a.csv"),
    ("parquet", "a.parquet"),
    ("vdb", "vdb"),
    ("povray", "povray"),
    ("mitsuba", "mitsuba"),
    ("pbrt", "pbrt"),
    ("blender", "a.py"),
];

/// A folder with a short run in `run`.
fn with_run() -> Scratch {
    let scratch = Scratch::with_scene(RAIN);
    let short = ["run", "rain.toml", "--no-pictures", "--out", "run", "--set", "time.duration=\"0.1 s\""];
    scratch.run(&short).expect_code(0);
    scratch
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_format_is_written_completely_and_deterministically() {
    let scratch = with_run();
    for (format, name) in FORMATS {
        let finished = scratch.run(&["export", "run", "--to", format, &format!("out/{name}"), "--frames", "1..3"]);
        if format == "vdb" {
            finished.expect_code(2).expect_message("output.fields=true");
            continue;
        }
        finished.expect_code(0).expect_message("exported 3 frames");
        scratch.run(&["export", "run", "--to", format, &format!("again/{name}"), "--frames", "1..3"]).expect_code(0);
        let [one, two] = ["out", "again"].map(|folder| scratch.path(folder).join(name));
        if one.is_file() {
            assert!(fs::read(&one).unwrap() == fs::read(&two).unwrap(), "{format} gives other bytes");
        } else {
            assert!(names(&one).iter().any(|name| name.starts_with("00001.")), "{format}: {:?}", names(&one));
            assert_eq!(names(&one), names(&two));
        }
    }
    let left: Vec<String> = names(&scratch.path("out")).into_iter().filter(|name| name.ends_with(".part")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_exists_is_kept_unless_forced() {
    let scratch = with_run();
    scratch.write("a.csv", "mine");
    let command = ["export", "run", "--to", "csv", "a.csv"];
    scratch.run(&command).expect_code(2).expect_message("a.csv already exists");
    assert_eq!(fs::read_to_string(scratch.path("a.csv")).unwrap(), "mine");
    scratch.run(&[&command[..], &["--force"]].concat()).expect_code(0);
    assert!(fs::read_to_string(scratch.path("a.csv")).unwrap().starts_with("frame,time,"));
}

#[test]
fn errors_of_invalid_requests_say_what_to_do() {
    let scratch = with_run();
    let cases: [(&[&str], &str); 7] = [
        (&["run", "--to", "fbx", "a"], "unknown format `fbx`"),
        (&["run", "--to", "usd", "a.usda"], "USD output must be a file ending in .usdc or .usd (got a.usda)"),
        (&["run", "--to", "ply", "a.ply"], "PLY output must be a folder, with one file per frame (got a.ply)"),
        (&["run", "--to", "csv", "a.csv", "--frames", "2..9"], "there is no frame 9; the run has frames 0 to 4"),
        (&["run", "--to", "csv", "a.csv", "--frames", "3..1"], "is after the last"),
        (&["nowhere", "--to", "csv", "a.csv"], "nowhere is not a run folder"),
        (&["run", "--to", "usd", "a.usdc", "--split"], "usd output cannot be split by drops"),
    ];
    for (args, message) in cases {
        scratch.run(&[&["export"], args].concat()).expect_code(2).expect_message(message);
    }
    assert_eq!(names(&scratch.path("")), ["rain.toml", "run"], "nothing was written");
}

#[test]
fn a_missing_frame_is_named_and_a_partial_run_is_reported() {
    let scratch = with_run();
    fs::remove_file(scratch.path("run/frames/00002.ply")).unwrap();
    fs::remove_file(scratch.path("run/frames/00002.drops")).unwrap();
    let failed = scratch.run(&["export", "run", "--to", "usd", "a.usdc"]);
    failed.expect_code(1).expect_message("lacks frame 2 between frames 1 and 3").expect_message("--frames ..1");
    scratch.run(&["export", "run", "--to", "usd", "a.usdc", "--frames", "3.."]).expect_code(0);
    for frame in [3, 4] {
        fs::remove_file(scratch.path(format!("run/frames/0000{frame}.ply"))).unwrap();
        fs::remove_file(scratch.path(format!("run/frames/0000{frame}.drops"))).unwrap();
    }
    let partial = scratch.run(&["export", "run", "--to", "usd", "b.usdc"]);
    partial.expect_code(0).expect_message("it has frames up to 1 of 4");
    let cut = fs::read(scratch.path("run/frames/00001.ply")).unwrap();
    fs::write(scratch.path("run/frames/00001.ply"), &cut[..cut.len() / 2]).unwrap();
    scratch.run(&["export", "run", "--to", "usd", "c.usdc"]).expect_code(1).expect_message("00001.ply");
    assert!(!scratch.path("c.usdc").exists() && !scratch.path(".c.usdc.part").exists());
}

#[test]
fn an_imported_model_is_a_valid_scene_and_an_export_can_be_imported() {
    let scratch = with_run();
    scratch.run(&["export", "run", "--to", "usd", "a.usdc"]).expect_code(0);
    scratch.run(&["import", "a.usdc", "--as", "back.toml"]).expect_code(0).expect_message("imported 2 solids");
    let text = fs::read_to_string(scratch.path("back.toml")).unwrap();
    for part in ["name = \"window\"", "name = \"Liquid\"", "[materials.\"Water\"]", "[camera]", "frames = 4\nfps = 40 "]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    scratch.run(&["import", "a.usdc", "--as", "back.toml"]).expect_code(2).expect_message("already exists");
    scratch
        .write("cube.obj", "o cube\nv 0 0 0\nv 0.01 0 0\nv 0 0.01 0\nv 0 0 0.01\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    scratch.run(&["import", "cube.obj", "--as", "cube.toml"]).expect_code(0).expect_message("taken to be in meters");
    scratch.run(&["check", "cube.toml"]).expect_code(0);
    scratch.write("bad.glb", "glTF");
    scratch.run(&["import", "bad.glb", "--as", "bad.toml"]).expect_code(2).expect_message("bad.glb");
    assert!(!scratch.path("bad.toml").exists() && !scratch.path("bad.toml.files").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_under_the_final_name() {
    let scratch = with_run();
    let disk = scratch.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "LEFT OUT: this machine lets the tests mount no disk of their own");
        return;
    }
    let results: Vec<_> = FORMATS
        .iter()
        .filter(|(format, _)| !["csv", "parquet", "vdb"].contains(format))
        .map(|(format, name)| {
            let finished = scratch.run(&["export", "run", "--to", format, &format!("disk/{name}")]);
            (finished, names(&disk))
        })
        .collect();
    let _ = Command::new("umount").arg(&disk).status();
    for (finished, left) in results {
        finished.expect_code(1).expect_message("the disk is full").expect_message("no partial output was left");
        assert!(left.is_empty(), "{left:?} is left");
    }
}
