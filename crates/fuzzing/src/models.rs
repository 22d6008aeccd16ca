//! Importing models: an error, or a scene that the scene reader accepts.

use std::path::Path;

use sessile_import::import_model;
use sessile_import::usd::UsdLayer;
use sessile_scene::parse_file;

use crate::scratch;

/// Separates an OBJ file from its material library `model.mtl`.
const LIBRARY: &[u8] = b"\n#library\n";

/// An OBJ file and its material library.
pub fn import_obj(data: &[u8]) {
    let at = data.windows(LIBRARY.len()).position(|window| window == LIBRARY);
    let (obj, library) = at.map_or((data, &[][..]), |at| (&data[..at], &data[at + LIBRARY.len()..]));
    scratch::write("model.mtl", library);
    import(&scratch::write("model.obj", obj));
}

/// A glTF document, text or binary.
pub fn import_gltf(data: &[u8]) {
    let name = if data.starts_with(b"glTF") { "model.glb" } else { "model.gltf" };
    import(&scratch::write(name, data));
}

/// A USD layer, text or binary, or a package.
pub fn usd(data: &[u8]) {
    if data.starts_with(b"PK") || UsdLayer::parse(data).is_ok() {
        import(&scratch::write("model.usd", data));
    }
}

/// An Alembic file.
pub fn alembic(data: &[u8]) {
    import(&scratch::write("model.abc", data));
}

fn import(file: &Path) {
    let scene = scratch::path("imported.toml");
    match import_model(file, &scene, true) {
        Ok(imported) => {
            assert!(imported.solids > 0);
            if let Err(errors) = parse_file(&scene, &[]) {
                let text = std::fs::read_to_string(&scene).unwrap_or_default();
                panic!("an imported scene is refused:\n{errors}\nwritten as\n{text}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
