//! Frame times, rest detection, failures, and bit-identical results after a resume.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::{Ball, Listener, results, run_ball, run_ball_until, scene};
use sessile_frames::container::{self, Format};
use sessile_frames::{Activity, RunPosition, checkpoint, measures_file};
use sessile_scene::types::{ModelKind, Scene};
use sessile_sim::{BuildError, Built, RunError, RunOptions, RunOutcome, run, run_with};

/// The contents of `run.json`.
fn run_json(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap()
}

#[test]
fn frame_times_are_exact_multiples_of_the_interval() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run_ball(&scene(100, false), &RunOptions::new(folder.path().join("a")), 1.0);
    assert_eq!(outcome.unwrap(), RunOutcome::Done { frame: 100, settled: false });
    let measures = measures_file::read_all(&folder.path().join("a/measure.jsonl")).unwrap();
    assert_eq!(measures.len(), 101);
    for (number, frame) in measures.iter().enumerate() {
        assert_eq!((frame.frame, frame.time), (number as u64, number as f64 * 0.01));
    }
    // Each crossing of the middle is an event of exactly one frame.
    let crossings: usize = measures.iter().map(|frame| frame.events.len()).sum();
    assert!((30..35).contains(&crossings), "100 rad/s for 1 s give 32 crossings, found {crossings}");
}

#[test]
fn a_run_resumed_after_any_stop_is_bit_identical() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(12, false);
    run_ball(&scene, &RunOptions::new(folder.path().join("whole")), 1.0).0.unwrap();
    let whole = results(&folder.path().join("whole"));
    for (name, checkpoint_seconds) in [("often", 0.0), ("seldom", 1e9), ("always", 1e-9)] {
        let options = RunOptions { checkpoint_seconds, ..RunOptions::new(folder.path().join(name)) };
        let mut stops = 0;
        // Five reports per session: stops fall between steps within a frame, and right after a
        // frame.
        while let RunOutcome::Stopped { .. } = run_ball_until(&scene, &options, 1.0, 5).unwrap() {
            stops += 1;
        }
        assert!(stops > 5, "stopped {stops} times");
        assert!(results(&options.out) == whole, "{name}: results differ after {stops} stops");
        let run = run_json(&options.out);
        assert_eq!((&run["resumes"], &run["status"]), (&stops.into(), &"done".into()), "{run}");
        assert!(run["stages"].to_string().contains("swing"), "{run}");
    }
}

#[test]
fn step_totals_in_run_json_do_not_depend_on_stops() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(12, false);
    let whole = folder.path().join("whole");
    run_ball(&scene, &RunOptions::new(&whole), 1.0).0.unwrap();
    let steps = run_json(&whole)["steps"].clone();
    // Three steps of 3.1 ms and a short one per frame of 10 ms.
    assert_eq!((&steps["count"], &steps["stages"]["swing.steps"]), (&48.into(), &48.into()), "{steps}");
    assert!(steps["stages"]["swing.crossings"].as_u64().unwrap() >= 3, "{steps}");
    assert!((steps["smallest_dt"].as_f64().unwrap() - 0.7e-3).abs() < 1e-9, "{steps}");
    assert_eq!(steps["largest_dt"].as_f64(), Some(3.1e-3));
    let speed = steps["stages"]["swing.speed"].as_f64().unwrap();
    assert!((0.05..0.1).contains(&speed), "a swing of 1 mm at 100 rad/s reaches 0.1 m/s at most: {steps}");

    let options = RunOptions { checkpoint_seconds: 1e9, ..RunOptions::new(folder.path().join("pieces")) };
    while let RunOutcome::Stopped { .. } = run_ball_until(&scene, &options, 1.0, 5).unwrap() {}
    assert_eq!(run_json(&options.out)["steps"], steps);
}

#[test]
fn a_checkpoint_of_format_version_1_is_resumed_without_stage_totals() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    run_ball_until(&scene(12, false), &options, 1.0, 9).unwrap();
    let current = options.out.join("checkpoint").join(checkpoint::CURRENT);
    let (at, mut blocks): (RunPosition, _) =
        container::unseal(checkpoint::FORMAT, &fs::read(&current).unwrap()).unwrap();
    blocks.retain(|block| block.name != "steps");
    let version_1 = Format { version: 1, ..checkpoint::FORMAT };
    fs::write(&current, container::seal(version_1, &at, &blocks)).unwrap();

    run_ball(&scene(12, false), &options, 1.0).0.unwrap();
    let steps = &run_json(&options.out)["steps"];
    assert_eq!(steps["count"], 48, "the number of steps is in version 1");
    let counted = steps["stages"]["swing.steps"].as_u64().unwrap();
    assert!((30..48).contains(&counted), "stages are counted from the resume on: {counted}");
    run_ball(&scene(12, false), &RunOptions::new(folder.path().join("b")), 1.0).0.unwrap();
    assert!(results(&options.out) == results(&folder.path().join("b")));
}

#[test]
fn a_damped_ball_comes_to_rest_and_an_undamped_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run_ball(&scene(300, true), &RunOptions::new(folder.path().join("damped")), 20.0);
    let RunOutcome::Done { frame, settled: true } = outcome.unwrap() else { panic!("a damped ball comes to rest") };
    // The amplitude decays as e^(−20 t): below 1e-4 of a radius per 3.7 ms after about half a
    // second.
    assert!((20..80).contains(&frame), "at rest in frame {frame}");
    let run = run_json(&folder.path().join("damped"));
    assert_eq!((&run["settled"], &run["status"]), (&true.into(), &"done".into()));

    let (again, _) = run_ball(&scene(300, true), &RunOptions::new(folder.path().join("damped")), 20.0);
    assert_eq!(again.unwrap(), RunOutcome::AlreadyDone { frame, settled: true });

    let (free, _) = run_ball(&scene(100, true), &RunOptions::new(folder.path().join("free")), 0.0);
    assert_eq!(free.unwrap(), RunOutcome::Done { frame: 100, settled: false });
    let (hurried, _) = run_ball(&scene(300, false), &RunOptions::new(folder.path().join("asked-not-to")), 20.0);
    assert_eq!(hurried.unwrap(), RunOutcome::Done { frame: 300, settled: false });
}

#[test]
fn rest_detection_continues_after_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(300, true);
    let (whole, _) = run_ball(&scene, &RunOptions::new(folder.path().join("whole")), 20.0);
    let options = RunOptions::new(folder.path().join("pieces"));
    let pieces = loop {
        match run_ball_until(&scene, &options, 20.0, 7).unwrap() {
            RunOutcome::Stopped { .. } => {}
            done => break done,
        }
    };
    assert_eq!(pieces, whole.unwrap());
    assert!(results(&options.out) == results(&folder.path().join("whole")));
}

#[test]
fn the_error_of_a_failed_step_names_step_time_position_and_remedy_and_the_checkpoint_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { command: "sessile run ball.toml".into(), ..RunOptions::new(folder.path().join("a")) };
    let scene = scene(10, false);
    let build = |breaks_at: f64| {
        move |scene: &_| -> Result<Built, BuildError> {
            Ok(Built { model: Box::new(Ball { breaks_at, ..Ball::new(scene, 1.0) }), notices: vec![] })
        }
    };
    let stop = AtomicBool::new(false);
    let error = run_with(build(0.0351), &scene, &options, &Listener::default(), &stop).unwrap_err();
    assert!(matches!(error, RunError::Step { frame: 3, .. }), "{error}");
    let text = error.to_string();
    for part in [
        "step 1",
        "between frames 3 and 4",
        "the ball's speed is not finite",
        "loosen the spring",
        "`sessile run ball.toml` resumes",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let run = run_json(&options.out);
    assert_eq!(run["status"], "failed");
    assert!(run["error"].as_str().unwrap().contains("loosen the spring"), "{run}");
    assert_eq!(
        measures_file::read_all(&options.out.join("measure.jsonl")).unwrap().len(),
        4,
        "the frames so far are kept"
    );

    // Without the cause of the failure, the same command resumes.
    let finish = run_with(build(f64::INFINITY), &scene, &options, &Listener::default(), &stop).unwrap();
    assert_eq!(finish, RunOutcome::Done { frame: 10, settled: false });
    let (_, _) = run_ball(&scene, &RunOptions::new(folder.path().join("b")), 1.0);
    assert!(results(&options.out) == results(&folder.path().join("b")));
}

#[test]
fn a_frame_with_values_that_are_not_finite_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    let build = |scene: &_| -> Result<Built, BuildError> {
        Ok(Built { model: Box::new(Ball { speed: f64::NAN, ..Ball::new(scene, 1.0) }), notices: vec![] })
    };
    let error =
        run_with(build, &scene(10, false), &options, &Listener::default(), &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
    assert!(!options.out.join("frames/00000.ply").exists());
}

#[test]
fn progress_reports_advance_monotonically_to_the_last_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, listener) = run_ball(&scene(5, false), &RunOptions::new(folder.path().join("a")), 1.0);
    outcome.unwrap();
    let positions = listener.positions.lock().unwrap();
    assert!(positions.is_sorted_by(|a, b| a.0 as f64 + a.1 <= b.0 as f64 + b.1 + 1e-9), "{positions:?}");
    assert_eq!(positions.last().map(|position| position.0), Some(5));
    let simulate = Activity::Simulate { start: 0.0, interval: 0.01 };
    assert_eq!(*listener.activities.lock().unwrap(), [(simulate, 5)]);
    let notices = listener.notices();
    assert!(matches!(&notices[..], [notice] if notice.starts_with("estimate: ")), "{notices:?}");
}

#[test]
fn a_resume_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    run_ball_until(&scene(10, false), &options, 1.0, 13).unwrap();
    let (_, listener) = run_ball(&scene(10, false), &options, 1.0);
    let notices = listener.notices();
    assert!(matches!(&notices[..], [_, notice] if notice.contains("from frame 3 of 10, t = 0.0331 s")), "{notices:?}");
}

#[test]
fn an_unsupported_scene_is_an_error_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    let mut scene = Scene { model: ModelKind::Surface, ..scene(10, false) };
    scene.world.planar = true;
    let error = run(&scene, &options, &Listener::default(), &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("the surface model has no planar form"), "{error}");
    assert!(error.is_wrong_scene());
    assert!(!options.out.exists());
}

#[test]
fn a_checkpoint_of_another_scene_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    run_ball(&scene(10, false), &RunOptions::new(&a), 1.0).0.unwrap();
    run_ball(&scene(10, true), &RunOptions::new(&b), 1.0).0.unwrap();
    fs::copy(b.join("checkpoint/current"), a.join("checkpoint/current")).unwrap();
    let error = run_ball(&scene(20, false), &RunOptions::new(&a), 1.0).0.unwrap_err();
    assert!(error.to_string().contains("it belongs to another scene than the folder's scene.toml"), "{error}");
}
