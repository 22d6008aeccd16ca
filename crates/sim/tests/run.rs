//! A run keeps time, comes to rest, fails cleanly, and goes on to the same bytes wherever it was stopped.

mod common;

use std::fs;
use std::sync::atomic::AtomicBool;

use common::{Ball, Listener, results, run_ball, run_ball_until, scene};
use sessile_frames::measures_file;
use sessile_scene::types::{ModelKind, Scene};
use sessile_sim::{BuildError, Built, Finish, RunError, RunOptions, run, run_with};

#[test]
fn frames_stand_at_multiples_of_the_interval_without_drift() {
    let folder = tempfile::tempdir().unwrap();
    let (finish, _) = run_ball(&scene(100, false), &RunOptions::new(folder.path().join("a")), 1.0);
    assert_eq!(finish.unwrap(), Finish::Done { frame: 100, settled: false });
    let measures = measures_file::read_all(&folder.path().join("a/measure.jsonl")).unwrap();
    assert_eq!(measures.len(), 101);
    for (number, frame) in measures.iter().enumerate() {
        assert_eq!((frame.frame, frame.time), (number as u64, number as f64 * 0.01));
    }
    // Every passage through the middle is told in exactly one frame.
    let told: usize = measures.iter().map(|frame| frame.events.len()).sum();
    assert!((30..35).contains(&told), "100 rad/s for 1 s pass the middle 32 times, told {told} times");
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(12, false);
    run_ball(&scene, &RunOptions::new(folder.path().join("whole")), 1.0).0.unwrap();
    let whole = results(&folder.path().join("whole"));
    for (name, checkpoint_seconds) in [("often", 0.0), ("seldom", 1e9), ("always", 1e-9)] {
        let options = RunOptions { checkpoint_seconds, ..RunOptions::new(folder.path().join(name)) };
        let mut stops = 0;
        // Five reports further each time: between steps within a frame, and just after one.
        while let Finish::Stopped { .. } = run_ball_until(&scene, &options, 1.0, 5).unwrap() {
            stops += 1;
        }
        assert!(stops > 5, "stopped {stops} times");
        assert!(results(&options.out) == whole, "{name}: other bytes after {stops} stops");
        let run: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(options.out.join("run.json")).unwrap()).unwrap();
        assert_eq!((&run["resumes"], &run["status"]), (&stops.into(), &"done".into()), "{run}");
        assert!(run["stages"].to_string().contains("swing"), "{run}");
    }
}

#[test]
fn a_damped_ball_comes_to_rest_and_a_free_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (finish, _) = run_ball(&scene(300, true), &RunOptions::new(folder.path().join("damped")), 20.0);
    let Finish::Done { frame, settled: true } = finish.unwrap() else { panic!("a damped ball rests") };
    // The swing decays as e^(−20 t): below 1e-4 of a radius per 3.7 ms after about half a second.
    assert!((20..80).contains(&frame), "at rest in frame {frame}");
    let run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("damped/run.json")).unwrap()).unwrap();
    assert_eq!((&run["settled"], &run["status"]), (&true.into(), &"done".into()));

    let (again, _) = run_ball(&scene(300, true), &RunOptions::new(folder.path().join("damped")), 20.0);
    assert_eq!(again.unwrap(), Finish::AlreadyDone { frame, settled: true });

    let (free, _) = run_ball(&scene(100, true), &RunOptions::new(folder.path().join("free")), 0.0);
    assert_eq!(free.unwrap(), Finish::Done { frame: 100, settled: false });
    let (hurried, _) = run_ball(&scene(300, false), &RunOptions::new(folder.path().join("asked-not-to")), 20.0);
    assert_eq!(hurried.unwrap(), Finish::Done { frame: 300, settled: false });
}

#[test]
fn settling_survives_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(300, true);
    let (whole, _) = run_ball(&scene, &RunOptions::new(folder.path().join("whole")), 20.0);
    let options = RunOptions::new(folder.path().join("pieces"));
    let pieces = loop {
        match run_ball_until(&scene, &options, 20.0, 7).unwrap() {
            Finish::Stopped { .. } => {}
            done => break done,
        }
    };
    assert_eq!(pieces, whole.unwrap());
    assert!(results(&options.out) == results(&folder.path().join("whole")));
}

#[test]
fn a_failing_step_is_told_with_step_time_place_and_way_on_and_keeps_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { command: "sessile run ball.toml".into(), ..RunOptions::new(folder.path().join("a")) };
    let scene = scene(10, false);
    let build = |breaks_at: f64| {
        move |scene: &_| -> Result<Built, BuildError> {
            Ok(Built { model: Box::new(Ball { breaks_at, ..Ball::new(scene, 1.0) }), notices: vec![] })
        }
    };
    let stop = AtomicBool::new(false);
    let error = run_with(build(0.0351), &scene, &options, &mut Listener::default(), &stop).unwrap_err();
    assert!(matches!(error, RunError::Step { frame: 3, .. }), "{error}");
    let text = error.to_string();
    for part in [
        "step 1",
        "between frames 3 and 4",
        "the ball's speed is not finite",
        "loosen the spring",
        "`sessile run ball.toml` goes on",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(options.out.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["status"], "failed");
    assert!(run["error"].as_str().unwrap().contains("loosen the spring"), "{run}");
    assert_eq!(
        measures_file::read_all(&options.out.join("measure.jsonl")).unwrap().len(),
        4,
        "the frames so far are kept"
    );

    // With the cause gone, the same command goes on.
    let finish = run_with(build(f64::INFINITY), &scene, &options, &mut Listener::default(), &stop).unwrap();
    assert_eq!(finish, Finish::Done { frame: 10, settled: false });
    let (_, _) = run_ball(&scene, &RunOptions::new(folder.path().join("b")), 1.0);
    assert!(results(&options.out) == results(&folder.path().join("b")));
}

#[test]
fn numbers_that_are_not_finite_reach_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    let build = |scene: &_| -> Result<Built, BuildError> {
        Ok(Built { model: Box::new(Ball { speed: f64::NAN, ..Ball::new(scene, 1.0) }), notices: vec![] })
    };
    let error =
        run_with(build, &scene(10, false), &options, &mut Listener::default(), &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
    assert!(!options.out.join("frames/00000.ply").exists());
}

#[test]
fn what_a_run_says_is_enough_for_a_progress_bar() {
    let folder = tempfile::tempdir().unwrap();
    let (finish, listener) = run_ball(&scene(5, false), &RunOptions::new(folder.path().join("a")), 1.0);
    finish.unwrap();
    assert!(listener.statuses.is_sorted_by(|a, b| a.time <= b.time && a.frame <= b.frame));
    let last = listener.statuses.last().unwrap();
    assert_eq!((last.frame, last.last_frame, last.duration), (5, 5, 0.05));
    assert!(last.speed().unwrap() > 0.0);
    assert_eq!(listener.notices, Vec::<String>::new());
}

#[test]
fn going_on_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    run_ball_until(&scene(10, false), &options, 1.0, 13).unwrap();
    let (_, listener) = run_ball(&scene(10, false), &options, 1.0);
    assert_eq!(listener.notices.len(), 1, "{:?}", listener.notices);
    assert!(listener.notices[0].contains("goes on from frame 2"), "{:?}", listener.notices);
}

#[test]
fn scenes_that_a_model_cannot_take_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("a"));
    let mut scene = Scene { model: ModelKind::Surface, ..scene(10, false) };
    scene.world.planar = true;
    let error = run(&scene, &options, &mut Listener::default(), &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("the surface model has no planar form"), "{error}");
    assert!(error.is_wrong_scene());
    assert!(!options.out.exists());
}

#[test]
fn a_checkpoint_of_another_state_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    run_ball(&scene(10, false), &RunOptions::new(&a), 1.0).0.unwrap();
    run_ball(&scene(10, true), &RunOptions::new(&b), 1.0).0.unwrap();
    fs::copy(b.join("checkpoint/current"), a.join("checkpoint/current")).unwrap();
    let error = run_ball(&scene(20, false), &RunOptions::new(&a), 1.0).0.unwrap_err();
    assert!(error.to_string().contains("it is of another scene than the folder's scene.toml"), "{error}");
}
