//! Small scenes to run.
#![allow(dead_code, reason = "every test file uses some of these")]

use sessile_frames::{Event, Frame, FrameGeometry};
use sessile_model::{Model, NoTimer};
use sessile_pane::Pane;
use sessile_scene::{NoFiles, parse_str};
use sessile_shapes::Instance;
use sessile_world::World;

/// A pane from a scene's text.
pub fn pane(text: &str) -> Pane {
    let scene = parse_str("test.toml", text, &[], &NoFiles).unwrap_or_else(|wrong| panic!("{wrong}")).scene;
    let world = World::build(&scene).expect("the world is built");
    Pane::new(&scene, world).expect("the pane takes the scene")
}

/// The head of a scene with a pane tilted by so many degrees out of the horizontal, 40 mm × 80 mm.
pub fn tilted(degrees: f64, material: &str, rest: &str) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    format!(
        "model = \"pane\"\n{rest}\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n[materials.m]\n{material}\n\
         [[solids]]\nname = \"pane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {cos}, {sin}]\nsize = \"40 80 mm\"\n"
    )
}

/// A cap at this place on the pane (mm along its own axes from the middle; the pane stands upright), in µL and degrees.
pub fn cap(volume: f64, angle: f64, [x, y, z]: [f64; 3]) -> String {
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"pane\"\ncenter = \"{x} {y} {z} mm\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n"
    )
}

/// Runs for so many seconds and returns all events.
pub fn run(pane: &mut Pane, seconds: f64) -> Vec<Event> {
    let end = pane.time() + seconds;
    let mut events = Vec::new();
    while pane.time() < end - 1e-9 {
        events.extend(pane.step(end - pane.time(), &mut NoTimer).expect("the step succeeds").events);
    }
    events
}

/// The drops of a frame, as numbers.
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
