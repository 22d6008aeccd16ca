//! Hostile files and system faults: streams that cannot be written, signals, links, devices.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{RAIN, Scratch, assert_same_results, read_until_line};

const SHORT: [&str; 4] = ["--set", "time.duration=\"0.2 s\"", "--no-pictures", "--threads=1"];

fn short(first: &[&'static str]) -> Vec<&'static str> {
    [first, &SHORT[..]].concat()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill starts").success());
}

/// Waits until the child ends and returns its status and how long that took.
fn wait(child: &mut Child) -> (ExitStatus, Duration) {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child to ask") {
            return (status, start.elapsed());
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        sleep(Duration::from_millis(2));
    }
}

fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(60), "no {what} within a minute");
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_run_does_not_depend_on_standard_error_o1() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=whole"])).expect_code(0);
    let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = scratch.sessile(&short(&["run", "rain.toml", "--out=full"]));
    assert_eq!(command.stderr(full()).stdout(full()).status().unwrap().code(), Some(0));
    assert_same_results(&scratch.results("full"), &scratch.results("whole"), "with a full log disk");

    let mut command = scratch.sessile(&short(&["run", "rain.toml", "--out=closed"]));
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop((child.stderr.take(), child.stdout.take()));
    assert_eq!(wait(&mut child).0.code(), Some(0));
    assert_same_results(&scratch.results("closed"), &scratch.results("whole"), "with a closed pipe");
}

#[test]
fn results_that_cannot_be_printed_are_an_error_and_never_a_panic() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=run"])).expect_code(0);
    let commands: [&[&str]; 7] = [
        &["scenes"],
        &["scenes", "window"],
        &["materials", "--json"],
        &["schema"],
        &["measure", "run"],
        &["measure", "run", "--csv"],
        &["check", "rain.toml"],
    ];
    for args in commands {
        let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
        let status = scratch.sessile(args).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{args:?}");
    }
    for args in [&["--help"][..], &["run", "--help"], &["swim"]] {
        let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
        let code = scratch.sessile(args).stdout(full()).stderr(full()).status().unwrap().code();
        assert!(code.is_some_and(|code| code < 3), "{args:?}: {code:?}");
    }
}

#[test]
fn more_threads_than_the_machine_has_are_cut_with_a_notice_o2() {
    let scratch = Scratch::with_scene(RAIN);
    let args = ["run", "rain.toml", "--out=run", "--no-pictures", "--threads=100000", "--set=time.duration=\"50 ms\""];
    scratch.run(&args).expect_code(0).expect_message("threads at once");
    let hardware = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!(scratch.run_json("run").unwrap()["threads"], hardware);
}

#[test]
fn signals_stop_a_run_soon_and_it_resumes_to_bit_identical_results() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out=whole"]).expect_code(0);
    for (name, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let out = format!("--out=stopped{name}");
        let folder = &out["--out=".len()..];
        let args = ["run", "rain.toml", "--no-pictures", out.as_str()];
        let mut child = scratch.start(&args);
        wait_until("frame 2", || scratch.path(folder).join("frames/00002.ply").exists());
        signal(&child, name);
        let (status, time) = wait(&mut child);
        assert_eq!(status.code(), Some(code), "{name}");
        assert!(time < Duration::from_secs(2), "{name}: {time:?}");
        assert_eq!(scratch.run_json(folder).unwrap()["status"], "stopped", "{name}");
        scratch.run(&args).expect_code(0).expect_message("resuming");
        assert_eq!(scratch.run_json(folder).unwrap()["status"], "done");
        assert_same_results(&scratch.results(folder), &scratch.results("whole"), name);
    }
}

/// A volume of liquid whose setup and steps take many seconds each.
const LARGE: &str = r#"model = "volume"
[time]
duration = "1 s"
frame = "100 ms"
[resolution]
cell = "0.05 mm"
[[solids]]
name = "table"
[[drops]]
shape = "box"
min = "-8 0 -8 mm"
max = "8 4 8 mm"
"#;

#[test]
fn sigterm_is_honored_within_two_seconds_during_setup_and_long_steps_o2() {
    let scratch = Scratch::with_scene(LARGE);
    for delay in [0.05, 0.5, 4.0] {
        let mut child = scratch.start(&["run", "rain.toml", "--no-pictures", "--threads=1", "--out=run", "--fresh"]);
        sleep(Duration::from_secs_f64(delay));
        signal(&child, "-TERM");
        let (status, time) = wait(&mut child);
        assert_eq!(status.code(), Some(143), "after {delay} s");
        assert!(time < Duration::from_secs(2), "after {delay} s: {time:?}");
        if let Some(run) = scratch.run_json("run") {
            assert_eq!(run["status"], "stopped", "after {delay} s");
        }
    }
}

#[test]
fn a_studio_begins_with_an_estimate_and_a_signal_ends_it_in_order() {
    let scratch = Scratch::with_scene(RAIN);
    for (name, code) in [("-TERM", 143), ("-INT", 130)] {
        let mut command = scratch.sessile(&["studio", "rain.toml", "--no-open", "--record=inputs.jsonl"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        let mut messages = read_until_line(&mut child, "the studio runs");
        signal(&child, name);
        let (status, time) = wait(&mut child);
        assert_eq!(status.code(), Some(code), "{name}");
        assert!(time < Duration::from_secs(2), "{name}: {time:?}");
        let mut rest = String::new();
        messages.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("the studio has ended"), "{rest}");
        let recorded = fs::read_to_string(scratch.path("inputs.jsonl")).unwrap();
        assert!(recorded.lines().last().unwrap().contains("digest"), "{name}: {recorded}");
        let replayed = scratch.run(&["studio", "--replay=inputs.jsonl", "--headless"]).expect_code(0);
        assert!(replayed.stderr.starts_with("estimate: "), "{}", replayed.stderr);
    }
}

#[test]
fn exit_code_75_says_that_another_process_writes_to_the_folder() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=run"])).expect_code(0);
    let lock = File::options().write(true).open(scratch.path("run/.lock")).unwrap();
    lock.lock().unwrap();
    for args in [&["run", "rain.toml", "--out=run", "--no-pictures"][..], &["render", "run"]] {
        scratch.run(args).expect_code(75).expect_message("is writing");
    }
}

#[test]
fn the_name_in_run_json_cannot_leave_the_folder_x1() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=run"])).expect_code(0);
    let path = scratch.path("run/run.json");
    let json = scratch.run_json("run").unwrap();
    let outside = scratch.path("outside").to_string_lossy().into_owned();
    for name in ["../outside", outside.as_str(), "a/b"] {
        let mut json = json.clone();
        json["name"] = name.into();
        fs::write(&path, json.to_string()).unwrap();
        for args in [
            &["render", "run", "--size=32x32", "--samples=1", "--quality=preview", "--frames=0"][..],
            &["run", "rain.toml", "--out=run", "--fresh", "--no-pictures"],
            &["export", "run", "--to", "csv", "x.csv"],
        ] {
            scratch.run(args).expect_code(1).expect_message("`name` must be");
        }
        assert!(!scratch.path("outside.mp4").exists(), "{name}");
    }
    let mut json = json;
    json["frames"] = 1_000_000_000_000_000_000_u64.into();
    fs::write(&path, json.to_string()).unwrap();
    scratch.run(&["run", "rain.toml", "--out=run", "--no-pictures"]).expect_code(1).expect_message("`frames` must be");
}

#[test]
fn nothing_is_removed_or_written_through_links_l1() {
    for part in ["frames", "pictures", "wet", "wet/window", "checkpoint", "solids", "measure.jsonl"] {
        let scratch = Scratch::with_scene(RAIN);
        scratch.run(&short(&["run", "rain.toml", "--out=run"])).expect_code(0);
        fs::create_dir_all(scratch.path("elsewhere")).unwrap();
        let inside = scratch.path("run").join(part);
        if inside.is_dir() {
            fs::remove_dir_all(&inside).unwrap();
        } else if inside.exists() {
            fs::remove_file(&inside).unwrap();
        }
        let target = if part == "measure.jsonl" { "elsewhere/00000.ply" } else { "elsewhere" };
        fs::write(scratch.path("elsewhere/00000.ply"), "precious").unwrap();
        fs::write(scratch.path("elsewhere/00000.png"), "precious").unwrap();
        symlink(scratch.path(target), &inside).unwrap();
        for fresh in ["--fresh", "--checkpoint=1"] {
            let args = ["run", "rain.toml", "--out=run", "--no-pictures", fresh];
            scratch.run(&args).expect_code(1).expect_message("symbolic link");
        }
        for name in ["00000.ply", "00000.png"] {
            assert_eq!(fs::read(scratch.path("elsewhere").join(name)).unwrap(), b"precious", "{part}");
        }
        assert_eq!(fs::read_dir(scratch.path("elsewhere")).unwrap().count(), 2, "{part}");
    }
}

#[test]
fn scenes_and_their_files_must_be_regular_files_i2() {
    let scratch = Scratch::with_scene(RAIN);
    assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().expect("mkfifo starts").success());
    fs::write(scratch.path("large.toml"), vec![b' '; 5 << 20]).unwrap();
    for scene in ["/dev/zero", "pipe", ".", "large.toml"] {
        for command in ["run", "check"] {
            scratch.run(&[command, scene]).expect_code(2).expect_message("error");
        }
    }
    for file in ["/dev/zero", "pipe", "."] {
        let keys: [&[&str]; 3] = [
            &["solids.0.shape=mesh", &format!("solids.0.file={file}")],
            &["materials.m.advancing={ image = \"FILE\", black = \"60 deg\", white = \"70 deg\" }"],
            &[&format!("lights.environment={file}")],
        ];
        for key in keys {
            let sets: Vec<String> = key.iter().map(|key| format!("--set={}", key.replace("FILE", file))).collect();
            let args: Vec<&str> = ["check", "rain.toml"].into_iter().chain(sets.iter().map(String::as_str)).collect();
            scratch.run(&args).expect_code(2).expect_message("error");
        }
    }
}

#[test]
fn unreadable_folders_are_not_called_missing() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=run"])).expect_code(0);
    fs::set_permissions(scratch.path("run"), fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    if fs::read_dir(scratch.path("run")).is_err() {
        for args in [&["render", "run"][..], &["export", "run", "--to", "csv", "x.csv"], &["measure", "run"]] {
            let done = scratch.run(args).expect_code(1);
            assert!(done.stderr.to_lowercase().contains("permission denied"), "{args:?}: {}", done.stderr);
        }
    }
    fs::set_permissions(scratch.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_no_signal() {
    let scratch = Scratch::with_scene(RAIN);
    let program = env!("CARGO_BIN_EXE_sessile");
    let script = format!("ulimit -f 16; exec '{program}' run rain.toml --no-pictures --out run");
    let output = Command::new("bash").args(["-c", &script]).current_dir(scratch.path("")).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("grew beyond"), "{stderr}");
}

#[test]
fn control_characters_of_a_scene_do_not_reach_the_terminal_e2() {
    let scratch = Scratch::with_scene(&RAIN.replace("on = \"window\"", "on = \"a\\u001b[31m\\u0007\""));
    let done = scratch.run(&["check", "rain.toml"]).expect_code(2);
    assert!(!done.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", done.stderr);
}

/// Reproducer R2, with fewer spheres: 100 of them took 1.1 GB in the droplet model.
#[cfg(target_os = "linux")]
#[test]
fn memory_follows_the_solids_that_drops_touch_r2() {
    for model in ["pane", "droplet", "surface"] {
        let mut scene = format!("model = \"{model}\"\n[time]\nduration = \"20 ms\"\nframe = \"10 ms\"\n");
        for k in 0..100 {
            let center = format!("{} {} 0 mm", 30 * (k % 20), -30 * (k / 20));
            scene +=
                &format!("[[solids]]\nname = \"s{k}\"\nshape = \"sphere\"\ncenter = \"{center}\"\nradius = \"5 mm\"\n");
        }
        if model == "pane" {
            scene += "[[solids]]\nname = \"window\"\npoint = \"0 0 20 mm\"\nnormal = [0, 0, 1]\n";
        }
        scene += "[[drops]]\nshape = \"sphere\"\ncenter = \"0 7 0 mm\"\nradius = \"1 mm\"\n";
        let scratch = Scratch::with_scene(&scene);
        let mut child = scratch.start(&["run", "rain.toml", "--no-pictures", "--threads=1", "--out=run"]);
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0_u64;
        while child.try_wait().expect("a child to ask").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
            peak = peak.max(kilobytes.unwrap_or(0));
            sleep(Duration::from_millis(2));
        }
        assert_eq!(scratch.run_json("run").unwrap()["status"], "done", "{model}");
        assert!(peak > 0 && peak < 100_000, "{model}: {peak} kB");
    }
}

#[test]
fn pipes_and_devices_in_a_run_folder_are_refused_and_never_waited_for() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&short(&["run", "rain.toml", "--out=whole"])).expect_code(0);
    let fifo = |path: &str| {
        let path = scratch.path(path);
        let _: std::io::Result<()> = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo starts").success());
    };
    for part in ["measure.jsonl", ".lock", "run.json", "scene.toml", "frames/00001.ply", "checkpoint/current"] {
        let copied = Command::new("cp").args(["-r", "whole", "run"]).current_dir(scratch.path("")).status();
        assert!(copied.expect("cp starts").success());
        fifo(&format!("run/{part}"));
        let commands: [&[&str]; 6] = [
            &["run", "rain.toml", "--out=run", "--no-pictures", "--threads=1"],
            &["render", "run", "--size=16x16", "--samples=1", "--quality=preview", "--frames=0..1"],
            &["measure", "run"],
            &["measure", "run", "--json"],
            &["export", "run", "--to", "ply", "exported"],
            &["jobs", "run"],
        ];
        for args in commands {
            let mut child = scratch.sessile(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let code = wait(&mut child).0.code();
            assert!(code.is_some_and(|code| code < 3), "{args:?} with a pipe as {part}: {code:?}");
        }
        fs::remove_dir_all(scratch.path("run")).unwrap();
    }
}
