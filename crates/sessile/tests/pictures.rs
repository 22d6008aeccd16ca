//! Images and video: which are rendered, which are kept, and the errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::common::{Finished, RAIN, Scratch, read_until_line};

/// Three frames at 32 × 18 pixels and 2 samples.
const SMALL: [&str; 8] = [
    "run",
    "rain.toml",
    "--set",
    "time.duration=\"50 ms\"",
    "--set",
    "render.size=[32, 18]",
    "--set",
    "render.samples=2",
];

/// Runs the small scene with more arguments.
fn small(scratch: &Scratch, more: &[&str]) -> Finished {
    scratch.run(&[&SMALL[..], more].concat())
}

/// The pictures and the video of a run, by name.
fn pictures(scratch: &Scratch, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = scratch.path(run);
    let listed = fs::read_dir(root.join("pictures")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let video = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let video = video.filter(|path| path.extension().is_some_and(|extension| extension == "mp4"));
    let named = |path: PathBuf| (path.strip_prefix(&root).unwrap().to_owned(), fs::read(&path).unwrap());
    listed.chain(video).map(named).collect()
}

fn names(pictures: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<&str> {
    pictures.keys().map(|path| path.to_str().unwrap()).collect()
}

const THREE: [&str; 4] = ["pictures/00000.png", "pictures/00001.png", "pictures/00002.png", "rain.mp4"];

#[test]
fn a_run_ends_with_images_and_a_video() {
    let scratch = Scratch::with_scene(RAIN);
    let run = small(&scratch, &[]).expect_code(0).expect_message("rendered 3 images to runs/rain/pictures");
    assert_eq!(run.stdout, "");
    let drawn = pictures(&scratch, "runs/rain");
    assert_eq!(names(&drawn), THREE);
    for (path, bytes) in &drawn {
        let start: &[u8] = if path.ends_with("rain.mp4") { b"ftyp" } else { b"\x89PNG" };
        assert!(bytes.windows(4).take(8).any(|window| window == start), "{}", path.display());
    }
    // Width and height follow the signature and the header of the first chunk.
    let png = &drawn[&PathBuf::from("pictures/00001.png")];
    assert_eq!(png[16..24], [0, 0, 0, 32, 0, 0, 0, 18]);

    small(&scratch, &["--threads=1", "--out", "alone"]).expect_code(0);
    let alone = pictures(&scratch, "alone");
    assert!(drawn == alone, "other bytes with one thread");
    small(&scratch, &["--no-pictures", "--out", "bare"]).expect_code(0);
    assert_eq!(names(&pictures(&scratch, "bare")), [""; 0]);
}

#[test]
fn a_finished_run_renders_only_missing_images() {
    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &["--no-pictures"]).expect_code(0);
    small(&scratch, &[]).expect_code(0).expect_message("is finished").expect_message("rendered 3 images");
    let drawn = pictures(&scratch, "runs/rain");
    assert_eq!(names(&drawn), THREE);

    let again = small(&scratch, &[]).expect_code(0);
    assert!(!again.stderr.contains("rendered"), "{}", again.stderr);
    fs::remove_file(scratch.path("runs/rain/pictures/00001.png")).unwrap();
    small(&scratch, &[]).expect_code(0).expect_message("rendered 1 image to");
    assert!(pictures(&scratch, "runs/rain") == drawn, "bit-identical images");
    fs::write(scratch.path("runs/rain/pictures/00002.png"), "half a pic").unwrap();
    fs::remove_file(scratch.path("runs/rain/rain.mp4")).unwrap();
    small(&scratch, &[]).expect_code(0).expect_message("rendered 1 image to");
    assert!(pictures(&scratch, "runs/rain") == drawn, "bit-identical images");
    fs::remove_file(scratch.path("runs/rain/rain.mp4")).unwrap();
    small(&scratch, &[]).expect_code(0).expect_message("video frames 3/3");
    assert!(pictures(&scratch, "runs/rain") == drawn, "the same video again");
}

#[test]
fn images_of_another_view_are_rendered_again() {
    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &[]).expect_code(0);
    let before = pictures(&scratch, "runs/rain");
    small(&scratch, &["--set", "camera.fov=\"50 deg\""]).expect_code(0).expect_message("rendered 3 images");
    let wider = pictures(&scratch, "runs/rain");
    assert!(before.iter().all(|(name, bytes)| wider[name] != *bytes), "all of them changed");
    // The frame rate of the video does not affect the images.
    let slower = ["--set", "camera.fov=\"50 deg\"", "--set", "render.fps=10"];
    let slow = small(&scratch, &slower).expect_code(0).expect_message("video frames 3/3");
    assert!(!slow.stderr.contains("rendered"), "{}", slow.stderr);
    let after = pictures(&scratch, "runs/rain");
    assert!(after.iter().all(|(name, bytes)| (wider[name] == *bytes) != name.ends_with("rain.mp4")));
    // A longer run keeps its images: they do not depend on the duration.
    let mut longer = SMALL;
    longer[3] = "time.duration=\"75 ms\"";
    scratch.run(&[&longer[..], &slower[..]].concat()).expect_code(0).expect_message("rendered 1 image to");
}

#[test]
fn a_part_of_a_run_and_other_settings_have_a_folder_of_their_own() {
    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &[]).expect_code(0);
    let whole = pictures(&scratch, "runs/rain");
    let cases: [(&[&str], &str, &[&str]); 4] = [
        (
            &["--frames", "1..2", "--exr"],
            "frames-1-2",
            &["00001.exr", "00001.png", "00002.exr", "00002.png", "rain.mp4"],
        ),
        (&["--frames", "last", "--jpeg"], "frame-2", &["00002.jpg", "00002.png"]),
        (
            &["--samples", "3", "--no-denoise", "--threads", "1"],
            "3-samples_raw",
            &["00000.png", "00001.png", "00002.png", "rain.mp4"],
        ),
        (&["--frames", "0..1", "--size", "25x13"], "frames-0-1_25x13", &["00000.png", "00001.png", "rain.mp4"]),
    ];
    for (options, name, files) in cases {
        let place = format!("runs/rain/renders/{name}");
        let rendered = scratch.run(&[&["render", "runs/rain"][..], options].concat()).expect_code(0);
        rendered.expect_message(&format!(" to {place}"));
        let mut found: Vec<_> =
            fs::read_dir(scratch.path(&place)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, *files, "{options:?}");
        assert!(pictures(&scratch, "runs/rain") == whole, "{options:?} changes the run's own images or video");
    }
    // The same settings give identical files; all frames as the scene has it are the run's own.
    let of_part = fs::read(scratch.path("runs/rain/renders/frames-1-2/00002.png")).unwrap();
    assert!(of_part == whole[&PathBuf::from("pictures/00002.png")]);
    let all = scratch.run(&["render", "runs/rain", "--frames", "0..2", "--samples", "2"]).expect_code(0);
    all.expect_message("rendered 3 images to runs/rain/pictures, video runs/rain/rain.mp4");
    assert!(pictures(&scratch, "runs/rain") == whole);
    // A finished run keeps its images and renders nothing.
    assert!(!small(&scratch, &[]).expect_code(0).stderr.contains("rendered"));
    small(&scratch, &["--fresh", "--no-pictures"]).expect_code(0);
    assert!(!scratch.path("runs/rain/renders").exists(), "a new run has no old renders");
}

#[test]
fn out_names_the_folder_and_missing_renders_the_rest() {
    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &["--no-pictures"]).expect_code(0);
    let to = ["render", "runs/rain", "--out", "film", "--ground-truth"];
    scratch.run(&to).expect_code(0).expect_message("rendered 3 images to film, video film/rain.mp4");
    assert!(scratch.path("film/ground-truth/00001.mask.png").is_file());
    assert!(!scratch.path("runs/rain/pictures").exists() && !scratch.path("runs/rain/rain.mp4").exists());
    let video = fs::read(scratch.path("film/rain.mp4")).unwrap();
    fs::remove_file(scratch.path("film/00001.png")).unwrap();
    fs::remove_file(scratch.path("film/rain.mp4")).unwrap();
    scratch.run(&[&to[..], &["--missing"]].concat()).expect_code(0).expect_message("rendered 1 image to film");
    assert!(fs::read(scratch.path("film/rain.mp4")).unwrap() == video, "the same video as at once");
    scratch.run(&[&to[..], &["--missing"]].concat()).expect_code(0).expect_message("rendered 0 images to film");
}

#[test]
fn invalid_requests_exit_with_2_and_a_hint() {
    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &["--no-pictures"]).expect_code(0);
    let cases: [(&[&str], &str); 9] = [
        (&["render", "runs/rain", "--size", "640"], "e.g. 640x360"),
        (&["render", "runs/rain", "--size", "0x9"], "e.g. 640x360"),
        (&["render", "runs/rain", "--size", "16384x16384"], "cannot be rendered"),
        (&["render", "runs/rain", "--samples", "0"], "samples"),
        (&["render", "runs/rain", "--frames", "2..1"], "is after the last"),
        (&["render", "runs/rain", "--frames", "x"], "expected A..B"),
        (&["render", "runs/rain", "--frames", "1..9"], "there is no frame 9; the run has frames 0 to 2"),
        (&["render", "rain"], "rain is not a run folder: it contains no run.json; did you mean runs/rain?"),
        (&["render", "nowhere"], "nowhere is not a run folder"),
    ];
    for (args, message) in cases {
        let done = scratch.run(args).expect_code(2).expect_message(message);
        assert_eq!(done.stdout, "", "{args:?}");
    }
    assert!(!scratch.path("nowhere").exists() && !scratch.path("runs/rain/pictures").exists());
}

#[test]
fn a_missing_or_broken_image_is_found_before_the_simulation() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.write("tiles.png", "not a picture");
    scratch.write("dawn.hdr", "#?RADIANCE\nnot light");
    for set in ["solids.0.texture=tiles.png", "lights.environment=dawn.hdr"] {
        let file = set.split('=').next_back().unwrap();
        let check = scratch.run(&["check", "rain.toml", "--set", set]).expect_code(2);
        check.expect_message(file);
        small(&scratch, &["--set", set]).expect_code(2).expect_message(file);
        assert!(!scratch.path("runs").exists(), "nothing is simulated");
        // Without rendering, no image files are needed.
        small(&scratch, &["--set", set, "--no-pictures", "--out", "bare", "--fresh"]).expect_code(0);
        scratch.run(&["render", "bare"]).expect_code(2).expect_message(file);
    }
}

#[test]
fn a_run_in_progress_is_not_rendered() {
    let scratch = Scratch::with_scene(RAIN);
    let mut first =
        scratch.start(&["run", "rain.toml", "--no-pictures", "--out", "a", "--set", "time.duration=\"1000 s\""]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !scratch.path("a/checkpoint/current").exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = scratch.run(&["render", "a"]);
    first.kill().unwrap();
    first.wait().unwrap();
    second.expect_code(75).expect_message("is writing");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_finished_images_and_prints_how_to_resume() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    let scratch = Scratch::with_scene(RAIN);
    small(&scratch, &["--no-pictures"]).expect_code(0);
    // Enough samples that no test machine is done before the signal comes.
    let slow = ["render", "runs/rain", "--size", "320x180", "--samples", "100000", "--frames", "..2"];
    let mut child = scratch.sessile(&slow).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut rest = read_until_line(&mut child, "images ");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut stderr = String::new();
    rest.read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    let again = "stopped after 0 of 3 images; `sessile render runs/rain --frames ..2 --size=320x180 --samples=100000 --missing` renders the rest";
    assert!(stderr.contains(again), "{stderr}");
}

#[test]
fn images_and_exports_are_numbered_from_the_start_frame() {
    let scratch = Scratch::with_scene(RAIN);
    let shot = ["--set", "time.start_frame=1001", "--set", "time.fps=40", "--set", "time.frames=1"];
    small(&scratch, &shot).expect_code(0);
    assert_eq!(names(&pictures(&scratch, "runs/rain")), ["pictures/01001.png", "pictures/01002.png", "rain.mp4"]);
    assert!(scratch.path("runs/rain/frames/00001.ply").exists(), "frames of the run count from 0");
    scratch.run(&["export", "runs/rain", "--to", "obj", "shot"]).expect_code(0);
    assert!(scratch.path("shot/01001.obj").exists() && scratch.path("shot/01002.obj").exists());
    // Other numbers, same run: images are rendered anew under them.
    small(&scratch, &["--set", "time.start_frame=7", "--set", "time.fps=40", "--set", "time.frames=2"]).expect_code(0);
    let listed = pictures(&scratch, "runs/rain");
    assert_eq!(names(&listed), ["pictures/00007.png", "pictures/00008.png", "pictures/00009.png", "rain.mp4"]);
}
