//! Sessions without a page: pacing in ticks, undo, wiping, recording and replay.

use sessile_model::View;
use sessile_studio::{Input, Recorder, Recording, SceneSource, Session};

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
