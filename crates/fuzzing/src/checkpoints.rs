//! Checkpoints: an error, or a state that is saved and restored again.
//!
//! The input of the targets of models is not a state but edits of the state that the model saves,
//! so that they stay useful when the format changes.

use std::cell::RefCell;
use std::path::Path;

use sessile_droplet::DropletModel;
use sessile_frames::checkpoint;
use sessile_model::Model;
use sessile_pane::Pane;
use sessile_scene::types::Scene;
use sessile_scene::{NoFiles, parse_str};
use sessile_surface::SurfaceModel;
use sessile_volume::Volume;
use sessile_world::World;

use crate::run_files::sealed;
use crate::scratch;

/// A scene whose models restore the states.
const SCENE: &str = r#"
    model = "MODEL"
    [time]
    duration = "1 s"
    frame = "0.5 s"
    [resolution]
    cell = "0.2 mm"
    edge = "0.8 mm"
    [[solids]]
    name = "window"
    normal = [0, 0, 1]
    size = "10 10 mm"
    [[drops]]
    shape = "cap"
    on = "window"
    volume = "60 uL"
    contact_angle = "40 deg"
"#;

/// The scene of a model, and its world.
fn scene(model: &str) -> (Scene, World) {
    let text = SCENE.replace("MODEL", model);
    let scene = parse_str("fuzz.toml", &text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    (scene, world)
}

/// A model of the scene and its first state.
struct Subject {
    model: Box<dyn Model>,
    first: Vec<u8>,
}

/// A model of the scene, built by `new`.
fn built<M: Model + 'static, E: std::fmt::Display>(
    name: &str,
    new: impl Fn(&Scene, World) -> Result<M, E>,
) -> RefCell<Subject> {
    let (scene, world) = scene(name);
    let model = new(&scene, world).unwrap_or_else(|error| panic!("{error}"));
    let first = model.save();
    RefCell::new(Subject { model: Box::new(model), first })
}

thread_local! {
    static PANE: RefCell<Subject> = built("pane", Pane::new);
    static DROPLET: RefCell<Subject> = built("droplet", DropletModel::new);
    static SURFACE: RefCell<Subject> = built("surface", SurfaceModel::new);
    static VOLUME: RefCell<Subject> = built("volume", Volume::new);
}

/// `checkpoint/current` without its checksum; the state in it is of the pane model.
pub fn checkpoint_file(data: &[u8]) {
    let file = scratch::write("checkpoint/current", &sealed(data));
    let folder = file.parent().unwrap_or(Path::new(""));
    match checkpoint::read(folder) {
        Ok(found) => {
            let found = found.expect("the file is there");
            if let Some(state) = found.block("model") {
                PANE.with_borrow_mut(|pane| restore(&mut *pane.model, state));
            }
        }
        Err(error) => assert!(error.to_string().contains("current"), "{error}"),
    }
}

/// Edits of a state of the pane model.
pub fn pane(edits: &[u8]) {
    PANE.with_borrow_mut(|model| restore_edited(model, edits));
}

/// Edits of a state of the droplet model.
pub fn droplet(edits: &[u8]) {
    DROPLET.with_borrow_mut(|model| restore_edited(model, edits));
}

/// Edits of a state of the surface model.
pub fn surface(edits: &[u8]) {
    SURFACE.with_borrow_mut(|model| restore_edited(model, edits));
}

/// Edits of a state of the volume model.
pub fn volume(edits: &[u8]) {
    VOLUME.with_borrow_mut(|model| restore_edited(model, edits));
}

/// Applies edits of four bytes each to the first state of a model and restores it: three bytes give
/// the place, the fourth flips bits there; zero cuts the state off.
fn restore_edited(Subject { model, first }: &mut Subject, edits: &[u8]) {
    let mut state = first.clone();
    for edit in edits.chunks_exact(4) {
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize;
        match (place.checked_rem(state.len()), edit[3]) {
            (Some(place), 0) => state.truncate(place),
            (Some(place), bits) => state[place] ^= bits,
            (None, _) => break,
        }
    }
    restore(&mut **model, &state);
}

/// Restores a state: an error, or one that is saved and restored again.
fn restore(model: &mut dyn Model, state: &[u8]) {
    if model.restore(state).is_ok() {
        let saved = model.save();
        model.restore(&saved).unwrap_or_else(|error| panic!("saved again, it is refused: {error}"));
        assert!(model.save() == saved, "saved again, it differs");
    }
}
