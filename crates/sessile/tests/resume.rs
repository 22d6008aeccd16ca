//! Starting, resuming and repeating runs in folders that already contain one.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{RAIN, Scratch, assert_same_results, read_until_line};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let scratch = Scratch::with_scene(RAIN);
    for threads in ["1", "2", "3"] {
        scratch.run(&["run", "rain.toml", "--no-pictures", "--threads", threads, "--out", threads]).expect_code(0);
    }
    let one = scratch.results("1");
    assert_same_results(&scratch.results("2"), &one, "2 threads");
    assert_same_results(&scratch.results("3"), &one, "3 threads");
}

#[test]
fn the_resolved_scene_gives_bit_identical_results() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "a"]).expect_code(0);
    scratch.run(&["run", "a/scene.toml", "--no-pictures", "--out", "b"]).expect_code(0);
    assert_same_results(&scratch.results("b"), &scratch.results("a"), "the resolved scene");
    assert_eq!(fs::read(scratch.path("a/scene.toml")).unwrap(), fs::read(scratch.path("b/scene.toml")).unwrap());
}

#[test]
fn the_default_folder_is_named_after_the_scene() {
    let scratch = Scratch::with_scene(RAIN);
    let short = ["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"100 ms\""];
    scratch.run(&short).expect_code(0);
    let run = scratch.run_json("runs/rain").expect("runs/rain/run.json");
    assert_eq!(run["status"], "done");
    assert_eq!(run["settled"], false);
    assert_eq!(run["resumes"], 0);
    assert_eq!(fs::read_to_string(scratch.path("runs/rain/measure.jsonl")).unwrap().lines().count(), 5);
}

#[test]
fn a_finished_run_is_reported_and_stays_unchanged() {
    let scratch = Scratch::with_scene(RAIN);
    let command = ["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"200 ms\""];
    scratch.run(&command).expect_code(0);
    let before = scratch.results("runs/rain");
    scratch.run(&command).expect_code(0).expect_message("is finished");
    assert_same_results(&scratch.results("runs/rain"), &before, "asked again");
    assert_eq!(scratch.run_json("runs/rain").unwrap()["resumes"], 0);
}

#[test]
fn a_finished_run_extended_to_a_longer_duration_equals_one_run_of_that_duration() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "whole"]).expect_code(0);
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "pieces", "--set", "time.duration=\"0.5 s\""])
        .expect_code(0);
    let longer = scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "pieces"]).expect_code(0);
    longer.expect_message("from frame 20");
    assert_same_results(&scratch.results("pieces"), &scratch.results("whole"), "in two pieces");
    assert_eq!(
        fs::read(scratch.path("pieces/scene.toml")).unwrap(),
        fs::read(scratch.path("whole/scene.toml")).unwrap()
    );
    assert_eq!(scratch.run_json("pieces").unwrap()["resumes"], 1);
}

#[test]
fn camera_lights_and_render_may_change_between_runs() {
    let scratch = Scratch::with_scene(RAIN);
    let shorter = ["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"100 ms\""];
    scratch.run(&shorter).expect_code(0);
    let other_view = ["--set", "camera.fov=\"50 deg\"", "--set", "render.samples=4"];
    scratch.run(&[&shorter[..], &other_view[..]].concat()).expect_code(0).expect_message("is finished");
}

#[test]
fn another_scenes_folder_is_refused_and_nothing_in_it_is_lost() {
    let scratch = Scratch::with_scene(RAIN);
    let command = ["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"100 ms\""];
    scratch.run(&command).expect_code(0);
    let before = scratch.results("a");
    let other = [&command[..], &["--set", "seed=8"]].concat();
    scratch.run(&other).expect_code(1).expect_message("a contains a run of a different scene (differs in: seed).");
    assert_same_results(&scratch.results("a"), &before, "after another scene was refused");
    scratch.run(&[&other[..], &["--fresh"]].concat()).expect_code(0);
    assert!(scratch.results("a") != before, "--fresh ran the other scene");
}

#[test]
fn a_shorter_duration_is_another_scene() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"200 ms\""]).expect_code(0);
    let shorter = scratch.run(&["run", "rain.toml", "--no-pictures", "--set", "time.duration=\"100 ms\""]);
    shorter.expect_code(1).expect_message("time.duration");
}

#[test]
fn a_folder_that_is_no_run_is_not_written_over() {
    let scratch = Scratch::with_scene(RAIN);
    fs::create_dir_all(scratch.path("mine/frames")).unwrap();
    fs::write(scratch.path("mine/frames/00000.ply"), "precious").unwrap();
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "mine"])
        .expect_code(1)
        .expect_message("is not a run folder");
    assert_eq!(fs::read_to_string(scratch.path("mine/frames/00000.ply")).unwrap(), "precious");
}

#[test]
fn any_flipped_byte_of_a_checkpoint_is_reported_and_nothing_is_lost() {
    let scratch = Scratch::with_scene(RAIN);
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"200 ms\""])
        .expect_code(0);
    let before = scratch.results("a");
    let path = scratch.path("a/checkpoint/current");
    let whole = fs::read(&path).unwrap();
    for at in [0, 9, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let longer = scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "a"]);
        longer
            .expect_code(1)
            .expect_message("is damaged")
            .expect_message("nothing was changed")
            .expect_message("--fresh");
        assert_same_results(&scratch.results("a"), &before, "after a damaged checkpoint");
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
    fs::write(&path, whole).unwrap();
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "a"]).expect_code(0).expect_message("from frame 8");
}

#[test]
fn frames_without_a_checkpoint_are_not_thrown_away() {
    let scratch = Scratch::with_scene(RAIN);
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"200 ms\""])
        .expect_code(0);
    fs::remove_dir_all(scratch.path("a/checkpoint")).unwrap();
    let before = scratch.results("a");
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "a"])
        .expect_code(1)
        .expect_message("no checkpoint to resume from");
    assert_same_results(&scratch.results("a"), &before, "after a lost checkpoint");
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let scratch = Scratch::with_scene(RAIN);
    let long = ["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"1000 s\""];
    let mut first = scratch.start(&long);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !scratch.path("a/checkpoint/current").exists() && Instant::now() < deadline {
        sleep(Duration::from_millis(5));
    }
    let second = scratch.run(&long);
    first.kill().unwrap();
    first.wait().unwrap();
    second.expect_code(75).expect_message("another");
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    let scratch = Scratch::with_scene(RAIN);
    let long = ["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"1000 s\""];
    for (signal, expected) in [("INT", 130), ("TERM", 143)] {
        let mut child = scratch.sessile(&long).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut rest = read_until_line(&mut child, "frame ");
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut stderr = String::new();
        rest.read_to_string(&mut stderr).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(expected), "after SIG{signal}: {stderr}");
        assert!(
            stderr.contains("stopped at frame") && stderr.contains("sessile run rain.toml --no-pictures --out a"),
            "{stderr}"
        );
    }
    let run = scratch.run_json("a").unwrap();
    assert_eq!((&run["resumes"], &run["status"]), (&1.into(), &"stopped".into()));
}
