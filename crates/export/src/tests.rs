//! A small run, exported in memory of a scratch folder and read back by our own readers. The real programs have their turn in `scripts/check-exchange`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use sessile_frames::{
    FrameGeometry, FrameId, FrameMeasures, GridFields, RunFolder, RunInfo, RunStatus, StepTotals, Surface,
};

use super::*;
use sessile_import::usd::{UsdLayer, UsdValue};

const SCENE: &str = r#"
title = "A tetrahedron"
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
fn small_run(place: &Path) -> PathBuf {
    let root = place.join("run");
    let (folder, _) = RunFolder::claim(&root).unwrap();
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
        error: None,
    };
    folder.write_info(&info).unwrap();
    folder.write_scene(SCENE).unwrap();
    let tiles = vec![[-1, 0, 0], [0, 0, 0]];
    let ramp = |k: f32| (0..1024).map(|i| k * i as f32).collect::<Vec<f32>>();
    for frame in 0..3 {
        let stamp = FrameId { frame, time: 1e-3 * frame as f64 };
        folder.write_frame(stamp, &FrameGeometry::Surfaces(tetrahedron(frame))).unwrap();
        folder.append_measures(&FrameMeasures { frame, time: stamp.time, ..FrameMeasures::default() }).unwrap();
        let grid = GridFields {
            origin: DVec3::ZERO,
            cell: 1e-4,
            planar: false,
            tiles: tiles.clone(),
            phi: ramp(1e-6),
            velocity: [ramp(0.1), ramp(0.2), ramp(0.3)],
            pressure: ramp(1.0),
        };
        folder.write_fields(stamp, &grid).unwrap();
    }
    root
}

fn export(run: &Path, format: Format, path: &Path) -> Result<Exported, ExportError> {
    export_run(run, format, path, &ExportOptions::default(), &Quiet, &AtomicBool::new(false))
}

fn target(place: &Path, format: Format) -> PathBuf {
    match format.extensions().first() {
        Some(extension) => place.join(format!("out.{extension}")),
        None => place.join(format.name()),
    }
}

#[test]
fn every_format_exports_a_run_with_fields_motion_and_textures() {
    let place = tempfile::tempdir().unwrap();
    let run = small_run(place.path());
    for format in Format::ALL {
        let path = target(place.path(), format);
        let done = export(&run, format, &path).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        assert_eq!((done.frames, done.path.as_path()), (3, path.as_path()));
    }
    let names: Vec<String> =
        fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
}

#[test]
fn the_usd_layer_reads_back_with_units_time_meshes_and_materials() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out.usdc");
    export(&small_run(place.path()), Format::Usd, &path).unwrap();
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
    assert!(place.path().join("out.usdc.files/textures/the_table.png").is_file());
}

/// Whatever byte of a layer is wrong, the reader says so or reads something; it never panics and never takes much memory.
#[test]
fn damaged_usd_layers_never_panic() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out.usdc");
    export(&small_run(place.path()), Format::Usd, &path).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in (0..whole.len()).step_by(61) {
        let _ = UsdLayer::parse(&whole[..cut]);
    }
    let mut state = 1_u32;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Mostly the structure at the end, where all places and counts are.
            let span = if state & 1 == 0 { bytes.len() } else { 4096.min(bytes.len()) };
            let at = bytes.len() - 1 - (state >> 8) as usize % span;
            bytes[at] = (state >> 16) as u8;
        }
        let _ = UsdLayer::parse(&bytes);
    }
}

#[test]
fn a_stop_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let run = small_run(place.path());
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    for format in Format::ALL {
        let path = target(place.path(), format);
        let error = export_run(&run, format, &path, &ExportOptions::default(), &Quiet, &stop).unwrap_err();
        assert!(matches!(error, ExportError::Stopped), "{}: {error}", format.name());
        assert!(!path.exists());
    }
}
