//! A small run is exported to a temporary folder and read back by our own readers.
//! `scripts/check-exchange` reads exports with the real programs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use sessile_frames::{
    FrameGeometry, FrameId, FrameMeasures, GridFields, NoProgress, RunFolder, RunInfo, RunStatus, StepTotals, Surface,
    WetMap,
};

use super::*;
use sessile_import::usd::{UsdLayer, UsdValue};

const SCENE: &str = r#"
model = "volume"
[time]
duration = "2 ms"
frame = "1 ms"
[[solids]]
name = "the table"
shape = "plane"
normal = [0, 1, 0]
size = "20 20 mm"
texture = "checker"
[[solids]]
name = "rod"
shape = "box"
min = "3 0 0 mm"
max = "4 1 1 mm"
look = "glass"
motion = [{ at = "0 s", move = "0 0 0 mm" }, { at = "2 ms", move = "1 0 0 mm" }]
[output]
fields = true
"#;

fn tetrahedron(frame: u64) -> Surface {
    let size = 1e-3 * (1.0 + 0.1 * frame as f64);
    Surface {
        positions: [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|corner| size * corner).to_vec(),
        velocities: vec![DVec3::new(0.1, 0.0, -0.5); 4],
        drops: vec![7; 4],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        solids: vec![-1, 0, -1, -1],
    }
}

/// A run of three frames.
fn small_run(parent: &Path) -> PathBuf {
    run_with_title(parent, "A tetrahedron")
}

/// The same run with another title.
fn run_with_title(parent: &Path, title: &str) -> PathBuf {
    let root = parent.join("run");
    let (run, _) = RunFolder::claim(&root).unwrap();
    let info = RunInfo {
        version: "0.0.0".into(),
        name: "run".into(),
        seed: 1,
        threads: 1,
        status: RunStatus::Done,
        settled: false,
        frames: 3,
        resumes: 0,
        steps: StepTotals::default(),
        stages: Default::default(),
        estimate: None,
        exposure: None,
        error: None,
    };
    run.write_info(&info).unwrap();
    run.write_scene(&format!("title = {}\n{SCENE}", sessile_scene::quoted(title))).unwrap();
    let tiles = vec![[-1, 0, 0], [0, 0, 0]];
    let ramp = |k: f32| (0..1024).map(|i| k * i as f32).collect::<Vec<f32>>();
    for frame in 0..3 {
        let id = FrameId { frame, time: 1e-3 * frame as f64 };
        run.write_frame(id, &FrameGeometry::Surfaces(tetrahedron(frame))).unwrap();
        run.append_measures(&FrameMeasures { frame, time: id.time, ..FrameMeasures::default() }).unwrap();
        let grid = GridFields {
            origin: DVec3::ZERO,
            cell: 1e-4,
            planar: false,
            tiles: tiles.clone(),
            phi: ramp(1e-6),
            velocity: [ramp(0.1), ramp(0.2), ramp(0.3)],
            pressure: ramp(1.0),
        };
        run.write_fields(id, &grid).unwrap();
    }
    root
}

fn export(run: &Path, format: Format, path: &Path) -> Result<Exported, ExportError> {
    export_run(run, format, path, &ExportOptions::default(), &NoProgress, &AtomicBool::new(false))
}

fn destination(parent: &Path, format: Format) -> PathBuf {
    match format.extensions().first() {
        Some(extension) => parent.join(format!("out.{extension}")),
        None => parent.join(format.name()),
    }
}

#[test]
fn every_format_exports_a_run_with_fields_motion_and_textures() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    for format in Format::ALL {
        let path = destination(folder.path(), format);
        let done = export(&run, format, &path).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        assert_eq!((done.frames, done.path.as_path()), (3, path.as_path()));
    }
    let names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
}

#[test]
fn units_time_meshes_and_materials_of_a_usd_layer_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.usdc");
    export(&small_run(folder.path()), Format::Usd, &path).unwrap();
    let layer = UsdLayer::parse(&fs::read(&path).unwrap()).unwrap();
    let numbers = |key: &str| layer.metadata[key].clone();
    assert_eq!(numbers("metersPerUnit"), UsdValue::Numbers(vec![1.0]));
    assert_eq!(numbers("endTimeCode"), UsdValue::Numbers(vec![2.0]));
    assert_eq!(numbers("timeCodesPerSecond"), UsdValue::Numbers(vec![1000.0]));
    assert_eq!(numbers("upAxis"), UsdValue::Texts(vec!["Y".into()]));
    let world = &layer.prims[0];
    let child =
        |name: &str| world.children.iter().find(|prim| prim.name == name).unwrap_or_else(|| panic!("no {name}"));
    let liquid = child("Liquid");
    let UsdValue::Numbers(points) = &liquid.properties["points"] else { panic!("no points") };
    let expected: Vec<f64> =
        tetrahedron(0).positions.iter().flat_map(|p| p.as_vec3().to_array()).map(f64::from).collect();
    assert_eq!(points, &expected);
    assert_eq!(liquid.properties["primvars:drop"], UsdValue::Numbers(vec![7.0; 4]));
    assert_eq!(liquid.properties["material:binding"], UsdValue::Texts(vec!["/World/Looks/Water".into()]));
    let solids: Vec<&str> = child("Solids").children.iter().map(|prim| prim.name.as_str()).collect();
    assert_eq!(solids, ["the_table", "rod"]);
    assert!(folder.path().join("out.usdc.files/textures/the_table.png").is_file());
}

/// Blender and USD cameras show images as bright as the run's own.
#[test]
fn the_exposure_that_the_images_were_rendered_with_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let root = small_run(folder.path());
    // Before images are rendered it is the scene's factor, and then what was recorded.
    for (recorded, expected) in [(None, 1.0), (Some(3.5), 3.5)] {
        let (run, info) = RunFolder::claim(&root).unwrap();
        run.write_info(&RunInfo { exposure: recorded, ..info.unwrap() }).unwrap();
        drop(run);
        let parent = folder.path().join(format!("{expected}"));
        fs::create_dir(&parent).unwrap();
        let [script, layer] = [Format::Blender, Format::Usd].map(|format| destination(&parent, format));
        export(&root, Format::Blender, &script).unwrap();
        let text = fs::read_to_string(&script).unwrap();
        assert!(text.contains(&format!("\"exposure\": {expected:?},")), "{expected}: {text}");
        export(&root, Format::Usd, &layer).unwrap();
        let layer = UsdLayer::parse(&fs::read(&layer).unwrap()).unwrap();
        let camera = layer.prims[0].children.iter().find(|prim| prim.name == "Camera").unwrap();
        let UsdValue::Numbers(stops) = &camera.properties["exposure"] else { panic!("no exposure") };
        assert!((stops[0] - f64::log2(expected)).abs() < 1e-6, "{expected}: {stops:?}");
    }
}

/// glTF has no animated images: a solid has a node per state of wetness, of which one is shown.
#[test]
fn wetness_and_the_liquid_are_shown_one_state_at_a_time_in_gltf() {
    let folder = tempfile::tempdir().unwrap();
    let root = small_run(folder.path());
    let (run, _) = RunFolder::claim(&root).unwrap();
    for frame in 1..3_usize {
        let wetness = (0..16).map(|texel| if texel < 4 * frame { 65535 } else { 0 }).collect();
        let map = WetMap { solid: 0, width: 4, height: 4, wetness, film: vec![0; 16], age: Vec::new() };
        run.write_wet("the_table", frame as u64, &map).unwrap();
    }
    drop(run);
    let path = folder.path().join("out.glb");
    export(&root, Format::Gltf, &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let nodes = document["nodes"].as_array().unwrap();
    let named = |name: &str| nodes.iter().filter(|node| node["name"] == name && !node["mesh"].is_null()).count();
    // Dry, one row wet, two rows wet; the rod stays dry.
    assert_eq!((named("the table"), named("rod")), (3, 1));
    let mapped = |material: &serde_json::Value| !material["pbrMetallicRoughness"]["metallicRoughnessTexture"].is_null();
    assert_eq!(document["materials"].as_array().unwrap().iter().filter(|material| mapped(material)).count(), 2);
    assert_eq!(nodes.iter().filter(|node| node["name"].as_str().unwrap().starts_with("liquid")).count(), 3);
    // Translation and scale of three frames and three states, and the motion of the rod.
    assert_eq!(document["animations"][0]["channels"].as_array().unwrap().len(), 2 * 3 + 2 * 3 + 2);
    assert_eq!(document["extensionsRequired"], serde_json::json!(["KHR_mesh_quantization"]));
}

#[test]
fn maps_need_a_plane() {
    let folder = tempfile::tempdir().unwrap();
    let root = small_run(folder.path());
    let path = folder.path().join("maps");
    export(&root, Format::Maps, &path).unwrap();
    for name in ["maps.json", "height/the_table-00002.png", "normal/the_table-00002.png"] {
        assert!(path.join(name).is_file(), "{name}");
    }
    let (run, _) = RunFolder::claim(&root).unwrap();
    let without = SCENE
        .replace("shape = \"plane\"\nnormal = [0, 1, 0]\nsize = \"20 20 mm\"", "shape = \"sphere\"\nradius = \"9 mm\"");
    run.write_scene(&without).unwrap();
    drop(run);
    let error = export(&root, Format::Maps, &folder.path().join("none")).unwrap_err();
    assert!(error.is_wrong_request() && error.to_string().contains("the scene has none"), "{error}");
}

/// The reader reports an error or reads something, whichever byte of a layer is wrong; it never
/// panics.
#[test]
fn damaged_usd_layers_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.usdc");
    export(&small_run(folder.path()), Format::Usd, &path).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in (0..whole.len()).step_by(61) {
        let _ = UsdLayer::parse(&whole[..cut]);
    }
    let mut state = 1_u32;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Half of the errors are in the structure at the end, which has all offsets and counts.
            let span = if state & 1 == 0 { bytes.len() } else { 4096.min(bytes.len()) };
            let at = bytes.len() - 1 - (state >> 8) as usize % span;
            bytes[at] = (state >> 16) as u8;
        }
        let _ = UsdLayer::parse(&bytes);
    }
}

mod hostile_text;
mod solid_images;

#[test]
fn a_canceled_export_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    for format in Format::ALL {
        let path = destination(folder.path(), format);
        let error = export_run(&run, format, &path, &ExportOptions::default(), &NoProgress, &stop).unwrap_err();
        assert!(matches!(error, ExportError::Stopped), "{}: {error}", format.name());
        assert!(!path.exists());
    }
}
