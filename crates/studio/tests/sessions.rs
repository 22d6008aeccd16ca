//! Sessions without a page: pacing in ticks, undo, wiping, recording and replay.

use sessile_frames::{RunFolder, RunStatus};
use sessile_model::View;
use sessile_scene::parse_file;
use sessile_studio::{Input, Recorder, Recording, RunWriter, SceneSource, Session};
use sessile_world::World;

const WINDOW: &str = "model = \"pane\"\nseed = 3\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n\
    [materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
    [[solids]]\nname = \"window\"\nmaterial = \"m\"\nnormal = [0, 0, 1]\nsize = \"80 60 mm\"\n\
    [[solids]]\nname = \"button\"\nmaterial = \"m\"\nshape = \"cylinder\"\nfrom = \"-60 0 -1 mm\"\nto = \"-60 0 4 mm\"\n\
    radius = \"5 mm\"\n";

fn source(text: &str) -> SceneSource {
    SceneSource { name: "test".into(), text: text.into(), folder: std::env::temp_dir(), trusted: false }
}

fn session() -> Session {
    Session::open(source(WINDOW), 0.0).expect("the scene opens")
}

fn input(text: &str) -> Input {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn run(session: &mut Session, ticks: u32) {
    (0..ticks).for_each(|_| session.tick().expect("time passes"));
}

fn num_drops(session: &Session) -> usize {
    session.model().frame().drops.len()
}

/// Present + film + lost + bead − added − what wiping took, in m³: always what is on the tool.
fn present_and_bead(session: &Session) -> (f64, f64) {
    let frame = session.model().frame();
    let present: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
    let balance = session.model().balance();
    assert!((present + balance.film + balance.lost - balance.added).abs() < 1e-14, "{balance:?}, {present:e}");
    (present + balance.film + balance.lost, session.bead())
}

#[test]
fn a_wiped_and_lifted_blade_conserves_the_liquid() {
    let mut session = session();
    session.apply(&input(r#"{"do": "rain", "rate": 4e-5, "solid": 0}"#)).expect("it rains");
    run(&mut session, 120);
    session.apply(&input(r#"{"do": "rain", "rate": 0, "solid": 0}"#)).expect("it stops");
    run(&mut session, 30);
    let (before, _) = present_and_bead(&session);
    let count = num_drops(&session);
    assert!(count > 20, "{count} drops");
    let path: Vec<[f64; 4]> = (0..=20).map(|k| [0.0, 0.028 - 0.002 * f64::from(k), 0.0, 0.01 * f64::from(k)]).collect();
    let wipe = |begin: bool, end: bool| {
        let path = serde_json::to_string(&path).expect("numbers");
        input(&format!(
            r#"{{"do": "wipe", "tool": {{"kind": "blade", "half": [0.035, 0.002, 0]}}, "path": {path},
               "normal": [0, 0, 1], "begin": {begin}, "end": {end}}}"#
        ))
    };
    session.apply(&wipe(true, false)).expect("it wipes");
    let (wiped, bead) = present_and_bead(&session);
    assert!(bead > 0.2 * before, "{bead:e} of {before:e} m³ are on the blade");
    assert!((wiped + bead - before).abs() < 1e-6 * before, "{wiped:e} + {bead:e} of {before:e}");
    assert!(num_drops(&session) < count / 2, "{} of {count} drops are left", num_drops(&session));
    session.apply(&wipe(false, true)).expect("it is lifted");
    let (lifted, bead) = present_and_bead(&session);
    assert!(bead == 0.0 && (lifted - before).abs() < 1e-6 * before, "{lifted:e} of {before:e}");
    session.apply(&Input::Undo).expect("the gesture is undone");
    assert_eq!(num_drops(&session), count);
}

#[test]
fn undo_and_reset_return_to_the_same_bits() {
    let mut session = session();
    let start = session.digest();
    session.apply(&input(r#"{"do": "add", "at": [0, 0.01, 0], "volume": 8e-9}"#)).expect("a drop");
    run(&mut session, 12);
    let before = session.digest();
    session.apply(&input(r#"{"do": "material", "solid": 0, "angles": [40, 30, 20]}"#)).expect("a material");
    run(&mut session, 12);
    session.apply(&Input::Undo).expect("undo");
    assert_eq!(session.digest(), before);
    session.apply(&Input::Reset).expect("reset");
    assert_eq!(session.digest(), start);
    assert!(session.apply(&Input::Undo).is_err(), "nothing is left to undo");
}

#[test]
fn a_replay_gives_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("session.jsonl");
    let mut recorder = Recorder::create(&file, &source(WINDOW), 0.25).expect("a file");
    let mut session = Session::open(source(WINDOW), 0.25).expect("the scene opens");
    let inputs = [
        r#"{"do": "rain", "rate": 3e-5, "solid": 0}"#,
        r#"{"do": "add", "at": [0, 0.01, 0], "volume": 8e-9}"#,
        r#"{"do": "gravity", "vector": [4, -8, 0]}"#,
        r#"{"do": "move", "solid": 1, "by": [0.04, 0, 0], "duration": 0.2}"#,
        r#"{"do": "wipe", "tool": {"kind": "finger", "radius": 0.006}, "path": [[0, 0.02, 0, 0], [0, -0.02, 0, 0.1]],
            "normal": [0, 0, 1], "begin": true, "end": true}"#,
        r#"{"do": "material", "solid": 0, "preset": "glass"}"#,
        r#"{"do": "undo"}"#,
        r#"{"do": "add", "at": [0, 0, 0], "volume": -1}"#,
        r#"{"do": "model", "name": "droplet"}"#,
    ];
    for text in inputs {
        let input = input(text);
        recorder.input(session.ticks(), &input).expect("it is recorded");
        let _ = session.apply(&input);
        run(&mut session, 25);
    }
    recorder.end(&session).expect("it is recorded");
    let replayed = Recording::read(&file).expect("it is read").replay().expect("it is replayed");
    assert_eq!(replayed.digest(), session.digest());
    assert_eq!((replayed.ticks(), replayed.model().time()), (session.ticks(), session.model().time()));
    // A recording of another session ends in another state.
    let text = std::fs::read_to_string(&file).expect("text").replace("8e-9", "7e-9").replace("8e-09", "7e-09");
    std::fs::write(&file, text).expect("it is written");
    let other = Recording::read(&file).expect("it is read").replay().expect("it is replayed");
    assert_ne!(other.digest(), session.digest());
}

/// The saved scene begins where the session is: the same drops at the same places.
#[test]
fn a_saved_scene_opens_with_the_same_drops() {
    let mut session = session();
    session.apply(&input(r#"{"do": "rain", "rate": 3e-5, "solid": 0}"#)).expect("it rains");
    session.apply(&input(r#"{"do": "material", "solid": 0, "angles": [70, 60, 40]}"#)).expect("a material");
    session.apply(&input(r#"{"do": "gravity", "vector": [0, -5, 0]}"#)).expect("gravity");
    run(&mut session, 60);
    // A drop that has just landed still spreads, which a scene cannot describe.
    session.apply(&input(r#"{"do": "rain", "rate": 0, "solid": 0}"#)).expect("the rain stops");
    run(&mut session, 30);
    let saved = Session::open(source(&session.scene_text()), 0.0).expect("the saved scene opens");
    let [a, b] = [&session, &saved].map(|session| {
        let mut view = View::default();
        session.model().view(&mut view);
        let mut drops: Vec<[f32; 5]> =
            view.drops.chunks(20).map(|drop| [drop[0], drop[1], drop[2], drop[9], drop[16]]).collect();
        drops.sort_by(|a, b| a.partial_cmp(b).expect("finite numbers"));
        drops
    });
    assert!(a.len() > 5 && a.len() == b.len(), "{} and {} drops", a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        let is_near = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 + 0.02 * a.abs());
        assert!(is_near, "{a:?} and {b:?}");
    }
    let world = saved.model().world();
    assert_eq!(world.gravity().to_array(), [0.0, -5.0, 0.0]);
    let angle = world.solids()[0].wetting_at(glam::DVec2::splat(0.5)).advancing.to_degrees();
    assert!((angle - 70.0).abs() < 1e-9, "{angle}");
}

#[test]
fn another_model_continues_with_the_same_volume() {
    let mut session = session();
    for x in [-0.02, 0.0, 0.02] {
        session.apply(&input(&format!(r#"{{"do": "add", "at": [{x}, 0, 0], "volume": 6e-9}}"#))).expect("a drop");
    }
    run(&mut session, 6);
    for name in ["droplet", "surface", "pane"] {
        session.apply(&input(&format!(r#"{{"do": "model", "name": "{name}"}}"#))).expect(name);
        run(&mut session, 2);
        let frame = session.model().frame();
        let volume: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
        assert_eq!(frame.drops.len(), 3, "in {name}");
        assert!((volume / 18e-9 - 1.0).abs() < 2e-3, "{volume:e} m³ in {name}");
    }
}

/// A dragged button pushes a drop in all three fast models.
#[test]
fn a_dragged_button_pushes_drops_in_three_models() {
    for name in ["pane", "droplet", "surface"] {
        let mut session = session();
        // Without gravity the drop stays where it is unless it is pushed.
        session.apply(&input(r#"{"do": "gravity", "vector": [0, 0, 0]}"#)).expect("no gravity");
        session.apply(&input(r#"{"do": "add", "at": [-0.03, 0, 0.0012], "volume": 6e-9}"#)).expect("a drop");
        run(&mut session, 12);
        session.apply(&input(&format!(r#"{{"do": "model", "name": "{name}"}}"#))).expect(name);
        let x = |session: &Session| {
            let mut view = View::default();
            session.model().view(&mut view);
            let surface = &view.surface.positions;
            if view.drops.is_empty() {
                surface.chunks(3).map(|p| p[0]).sum::<f32>() / (surface.len() as f32 / 3.0)
            } else {
                view.drops[0]
            }
        };
        let before = x(&session);
        for _ in 0..10 {
            let step = r#"{"do": "move", "solid": 1, "by": [0.0035, 0, 0], "duration": 0.0166}"#;
            session.apply(&input(step)).expect("it moves");
            run(&mut session, 2);
        }
        let after = x(&session);
        assert!(after > before + 5e-3, "{name}: {before} m before, {after} m after");
    }
}

/// The run has a frame every 12 ticks with what the session showed there, and the button's way.
#[test]
fn a_saved_run_contains_the_session_frame_by_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("by-hand");
    let mut session = session();
    run(&mut session, 7);
    let mut writer = RunWriter::begin(&path, &session).expect("it begins");
    assert!(RunWriter::begin(&path, &session).is_err(), "a run is there already");
    session.apply(&input(r#"{"do": "add", "at": [0, 0.01, 0], "volume": 8e-9}"#)).expect("a drop");
    let (mut volumes, mut poses) = (vec![0.0], vec![0.0]);
    for tick in 1..=60 {
        if tick == 13 {
            let step = r#"{"do": "move", "solid": 1, "by": [0.02, 0, 0], "duration": 0.2}"#;
            session.apply(&input(step)).expect("it moves");
        }
        if tick == 30 {
            session.apply(&input(r#"{"do": "add", "at": [0.02, 0.01, 0], "volume": 3e-9}"#)).expect("a drop");
        }
        session.tick().expect("time passes");
        writer.after_tick(&mut session).expect("it is saved");
        if tick % 12 == 0 {
            volumes.push(session.model().frame().drops.iter().map(|drop| drop.volume).sum());
            poses.push(session.model().world().solids()[1].world_from_rest().translation.x);
        }
    }
    assert_eq!(writer.frames(), 6);
    writer.end().expect("it ends");
    let opened = RunFolder::open(&path).expect("it is a run folder");
    let info = opened.read_info().expect("it has a status");
    assert_eq!((info.status, info.frames), (RunStatus::Done, 6));
    assert_eq!(opened.frames().expect("frames"), [0, 1, 2, 3, 4, 5]);
    let scene = parse_file(&opened.scene_path(), &[]).unwrap_or_else(|errors| panic!("{errors}")).scene;
    assert_eq!((scene.time.last_frame(), scene.time.frame), (5, 0.1));
    let measures = std::fs::read_to_string(opened.measures_path()).expect("measures");
    let mut world = World::build(&scene).expect("its solids");
    for (k, line) in measures.lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!((line["total_volume"].as_f64().expect("a volume") - volumes[k]).abs() < 1e-15, "frame {k}: {line}");
        world.advance_to(0.1 * k as f64);
        let x = world.solids()[1].world_from_rest().translation.x;
        assert!((x - poses[k]).abs() < 1e-12, "frame {k}: the button is at {x} m, and was at {} m", poses[k]);
    }
    assert!(volumes[5] > volumes[2] && poses[5] > 0.019, "{volumes:?} {poses:?}");
}

/// A placed source emits, is undone, replayed, survives another model, and is in the saved scene.
#[test]
fn placed_sources_emit_and_are_part_of_everything_saved() {
    let drip = r#"{"do": "place", "source": {"kind": "drip", "at": [0, 0.01, 0.004], "radius": 0.001, "every": 0.25}}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("session.jsonl");
    let mut recorder = Recorder::create(&file, &source(WINDOW), 0.0).expect("a file");
    let mut session = session();
    for text in [r#"{"do": "gravity", "vector": [0, 0, -9.8]}"#, drip] {
        recorder.input(session.ticks(), &input(text)).expect("it is recorded");
        session.apply(&input(text)).expect(text);
    }
    run(&mut session, 100);
    let added = |session: &Session| session.model().balance().added;
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 1e-9;
    assert!((added(&session) / ball - 4.0).abs() < 1e-6, "{} drops", added(&session) / ball);
    recorder.end(&session).expect("it is recorded");
    let replayed = Recording::read(&file).expect("it is read").replay().expect("it is replayed");
    assert_eq!(replayed.digest(), session.digest());
    // The next drop of the saved scene falls when the next one of the session does.
    let mut saved = Session::open(source(&session.scene_text()), 0.0).expect("the saved scene opens");
    let before = added(&saved);
    run(&mut saved, 19);
    assert!((added(&saved) - before).abs() < 1e-15, "too early");
    run(&mut saved, 3);
    assert!((added(&saved) - before - ball).abs() < 1e-3 * ball, "{:e} then {:e}", before, added(&saved));
    session.apply(&input(r#"{"do": "model", "name": "droplet"}"#)).expect("another model");
    assert_eq!(session.model().world().placed_sources().count(), 1);
    let id = session.model().world().placed_sources().next().map_or(0, |(id, ..)| id);
    session.apply(&input(&format!(r#"{{"do": "unplace", "id": {id}}}"#))).expect("it is removed");
    assert_eq!(session.model().world().placed_sources().count(), 0);
    session.apply(&Input::Undo).expect("undo");
    assert_eq!(session.model().world().placed_sources().count(), 1);
    session.apply(&input(r#"{"do": "model", "name": "surface"}"#)).expect("another model");
    let refused = session.apply(&input(r#"{"do": "place", "source": {"kind": "dew", "on": 0, "rate": 1e-6}}"#));
    assert!(refused.is_err_and(|error| error.contains("dew is not possible")));
}
