//! Scenes for tests.
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::{DropState, Event};
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str, text};
use sessile_world::World;

/// The model of a scene: `top` are the keys outside of tables (besides model and time), `rest` the
/// tables.
pub fn model(top: &str, rest: &str) -> DropletModel {
    let text = text::header("droplet", top) + rest;
    let scene = parse_str("test.toml", &text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}\n{text}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    DropletModel::new(&scene, world).unwrap_or_else(|error| panic!("{error}"))
}

/// A material `m` with these angles in degrees, and a plane of it, tilted so that +x is downhill.
pub fn slope(advancing: f64, receding: f64, tilt: f64, size: [f64; 2]) -> String {
    let (sin, cos) = tilt.to_radians().sin_cos();
    text::material("m", advancing, receding) + &text::plane("plane", "m", [sin, cos, 0.0], size)
}

/// A cap on a solid, in µL and mm.
pub fn cap(on: &str, volume: f64, angle: f64, center: [f64; 3]) -> String {
    text::cap(on, center, &format!("volume = \"{volume} uL\""), angle)
}

/// Runs until a time, in frames of 1/30 s, and returns all events.
pub fn run(model: &mut DropletModel, until: f64) -> Vec<Event> {
    let mut events = Vec::new();
    while until - model.time() > 1e-9 {
        let limit = (until - model.time()).min(1.0 / 30.0);
        events.extend(model.step(limit, &mut NoTimer).unwrap_or_else(|error| panic!("{error}")).events);
    }
    events
}

/// State of a drop and its mean vertex position.
pub fn drop(model: &DropletModel, id: u32) -> Option<(DropState, DVec3)> {
    let frame = model.frame();
    let state = *frame.drops.iter().find(|state| state.id == id)?;
    let surface = frame.liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let own = (0..surface.positions.len()).filter(|&v| surface.drops[v] == id);
    let (sum, count) = own.fold((DVec3::ZERO, 0.0), |(sum, count), v| (sum + surface.positions[v], count + 1.0));
    Some((state, sum / count))
}
