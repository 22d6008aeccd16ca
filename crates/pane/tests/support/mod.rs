//! Small scenes for tests.
use sessile_frames::{Event, Frame, FrameGeometry};
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_scene::{NoFiles, parse_str, text};
use sessile_shapes::Instance;
use sessile_world::World;

/// A pane from a scene's text.
pub fn pane(text: &str) -> Pane {
    let scene = parse_str("test.toml", text, &[], &NoFiles).unwrap_or_else(|wrong| panic!("{wrong}")).scene;
    let world = World::build(&scene).expect("the world is built");
    Pane::new(&scene, world).expect("the pane takes the scene")
}

/// Beginning of a scene with a pane of 40 mm × 80 mm, tilted by `degrees` out of the horizontal.
pub fn tilted(degrees: f64, material: &str, rest: &str) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    text::header("pane", rest)
        + &format!("[materials.m]\n{material}\n")
        + &text::plane("pane", "m", [0.0, cos, sin], [40.0, 80.0])
}

/// A cap with its center at a point of space (in mm), of this volume (in µL) and contact angle (in
/// degrees).
pub fn cap(volume: f64, angle: f64, center: [f64; 3]) -> String {
    text::cap("pane", center, &format!("volume = \"{volume} uL\""), angle)
}

/// Runs for `seconds` and returns all events.
pub fn run(pane: &mut Pane, seconds: f64) -> Vec<Event> {
    let end = pane.time() + seconds;
    let mut events = Vec::new();
    while pane.time() < end - 1e-9 {
        events.extend(pane.step(end - pane.time(), &mut NoTimer).expect("the step succeeds").events);
    }
    events
}

/// The instances of a frame.
pub fn instances(frame: &Frame) -> &[Instance] {
    match &frame.liquid {
        FrameGeometry::Instances(instances) => instances,
        _ => panic!("the pane yields instances"),
    }
}

/// Present (film included) + lost − added, relative to added.
pub fn imbalance(frame: &Frame) -> f64 {
    let present: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
    (present + frame.balance.film + frame.balance.lost - frame.balance.added) / frame.balance.added
}
