//! Entry points of the fuzz targets: every reader of external bytes, called with any bytes.
//!
//! Each function of [`TARGETS`] accepts any input. It returns if the reader reports an error or
//! returns a sound value, and panics otherwise; a reader that hangs or takes memory without bound
//! is found by the fuzzer's limits. `fuzz/` drives them with coverage guidance (`scripts/fuzz`),
//! and `tests/corpora.rs` runs the committed corpora through them in `cargo test`.

mod checkpoints;
mod images;
mod meshes;
mod models;
mod run_files;
mod scene;
mod scratch;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the target and of its corpus in `fuzz/corpus`.
    pub name: &'static str,
    /// Reads the bytes, and panics where the reader is wrong.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub const TARGETS: &[Target] = &[
    Target { name: "scene", run: scene::scene },
    Target { name: "obj", run: meshes::obj },
    Target { name: "ply", run: meshes::ply },
    Target { name: "stl", run: meshes::stl },
    Target { name: "gltf", run: meshes::gltf },
    Target { name: "import_obj", run: models::import_obj },
    Target { name: "import_gltf", run: models::import_gltf },
    Target { name: "usd", run: models::usd },
    Target { name: "alembic", run: models::alembic },
    Target { name: "hdr", run: images::hdr },
    Target { name: "exr", run: images::exr },
    Target { name: "texture", run: images::texture },
    Target { name: "wet", run: run_files::wet },
    Target { name: "drops", run: run_files::drops },
    Target { name: "fields", run: run_files::fields },
    Target { name: "frame", run: run_files::frame },
    Target { name: "checkpoint", run: checkpoints::checkpoint_file },
    Target { name: "state_pane", run: checkpoints::pane },
    Target { name: "state_droplet", run: checkpoints::droplet },
    Target { name: "state_surface", run: checkpoints::surface },
    Target { name: "state_volume", run: checkpoints::volume },
    Target { name: "run_json", run: run_files::run_json },
    Target { name: "measures", run: run_files::measures },
];

/// Runs a target by name.
///
/// # Panics
/// If there is no such target, and where the target finds a fault.
pub fn run_target(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("no fuzz target is named {name}")).run)(data);
}
