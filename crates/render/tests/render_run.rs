//! Rendering of run folders, including edge cases: every scene yields a sensible image or a helpful
//! error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use glam::{DMat3, DVec3};
use sessile_frames::{FrameGeometry, FrameId, FrameSelection, NoProgress, RunFolder, RunInfo, RunStatus, StepTotals};
use sessile_images::Image;
use sessile_render::GroundTruthFiles;
use sessile_render::{FramesToRender, Quality, RenderError, RenderOptions, RenderPart, RenderSummary, render_run};
use sessile_scene::{Folder, parse_str, print};
use sessile_shapes::{Ball, Instance, LocalFrame, Shape};
use tempfile::TempDir;

const SCENE: &str = r#"model = "volume"
[time]
duration = "2 ms"
frame = "1 ms"
[[solids]]
name = "table"
shape = "plane"
texture = "checker"
[[drops]]
shape = "cap"
on = "table"
volume = "4 uL"
contact_angle = "80 deg"
[render]
size = [24, 14]
samples = 8
"#;

/// A drop of 4 µl on the table at `x`, and one in flight above it.
fn drops(x: f64) -> Vec<Instance> {
    let axes = DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y);
    let ball = Ball { center: DVec3::ZERO, radii: DVec3::new(2e-3, 2e-3, 1.5e-3), strength: 2.0 };
    let drop = |id: u32, y: f64, solid: Option<u32>, shape: Shape| Instance {
        drop: id,
        solid,
        frame: LocalFrame { origin: DVec3::new(x, y, 0.0), axes },
        volume: 4e-9,
        velocity: DVec3::new(0.5, 0.0, 0.0),
        shape,
    };
    vec![drop(1, 0.0, Some(0), Shape::Metaballs(vec![ball])), drop(2, 4e-3, None, Shape::Sphere)]
}

/// A run folder with these frames.
fn run(scene: &str, frames: Vec<Vec<Instance>>) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let scene = parse_str("scene.toml", scene, &[], &Folder::new(place.path())).unwrap_or_else(|e| panic!("{e}")).scene;
    let (folder, _) = RunFolder::claim(place.path()).unwrap();
    let info = RunInfo {
        version: "0.1.0".into(),
        name: "odd".into(),
        seed: 1,
        threads: 1,
        status: RunStatus::Done,
        settled: false,
        frames: frames.len() as u64,
        resumes: 0,
        steps: StepTotals::default(),
        stages: BTreeMap::new(),
        estimate: None,
        exposure: None,
        error: None,
    };
    folder.write_info(&info).unwrap();
    folder.write_scene(&print(&scene)).unwrap();
    for (frame, drops) in (0..).zip(frames) {
        let time = frame as f64 * scene.time.frame;
        folder.write_frame(FrameId { frame, time }, &FrameGeometry::Instances(drops)).unwrap();
    }
    place
}

fn render(place: &TempDir, options: &RenderOptions) -> Result<RenderSummary, RenderError> {
    render_run(place.path(), options, &NoProgress, &AtomicBool::new(false))
}

fn all() -> RenderOptions {
    RenderOptions::new(FramesToRender::Selected(FrameSelection::All))
}

/// The pixels of an image.
fn pixels(place: &TempDir, frame: u64) -> Image {
    Image::read(&place.path().join(format!("pictures/{frame:05}.png"))).unwrap()
}

/// Minimum and maximum code in an image.
fn range(image: &Image) -> (u8, u8) {
    image.rgb_bytes().iter().fold((255, 0), |(low, high), &code| (low.min(code), high.max(code)))
}

#[test]
fn unusual_cameras_see_something() {
    let cases = [
        ("inside the table", "position = \"0 -5 1 mm\"\nlook_at = \"0 0 0 mm\""),
        ("straight down", "position = \"0 20 0 mm\"\nlook_at = \"0 0 0 mm\""),
        ("straight up", "position = \"0 1 9 mm\"\nlook_at = \"0 30 9 mm\""),
        ("on the table's surface", "position = \"5 0 0 mm\"\nlook_at = \"0 0 0 mm\""),
        ("far away", "position = \"0 0.1 1 km\"\nlook_at = \"0 0 0 mm\""),
        ("almost all around", "fov = \"179 deg\""),
        ("hardly open", "fov = \"0.001 deg\""),
        ("with a lens wider than its distance", "aperture = \"1 m\"\nfocus = \"1 um\""),
    ];
    for (what, keys) in cases {
        let place = run(&format!("{SCENE}[camera]\n{keys}\n"), vec![drops(0.0)]);
        let summary = render(&place, &all()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(summary.images, 1, "{what}");
        let (_, high) = range(&pixels(&place, 0));
        assert!(high > 10, "{what}: all black");
    }
}

#[test]
fn a_camera_inside_a_drop_is_an_error_that_names_the_drop() {
    let inside = "position = \"0 4 0 mm\"\nlook_at = \"1 4 0 mm\"";
    for quality in [Quality::Full, Quality::Preview] {
        let place = run(&format!("{SCENE}[camera]\n{inside}\n"), vec![Vec::new(), drops(0.0)]);
        let error = render(&place, &RenderOptions { quality, ..all() }).unwrap_err();
        assert!(error.is_wrong_request(), "{error}");
        let message = error.to_string();
        assert!(message.contains("inside drop 2 in frame 1") && message.contains("`camera.position`"), "{message}");
        assert!(place.path().join("pictures/00000.png").is_file(), "images before it are kept");
    }
}

#[test]
fn the_exposure_is_recorded_once_for_the_whole_run() {
    let place = run(SCENE, vec![drops(0.0), drops(1e-3)]);
    let recorded = || RunFolder::open(place.path()).unwrap().read_info().unwrap().exposure;
    let elsewhere = RenderOptions { images: Some(place.path().join("renders/last")), ..all() };
    render(&place, &elsewhere).unwrap();
    assert_eq!(recorded(), None, "images elsewhere may have another size");
    let parts = |part| render(&place, &RenderOptions { part, ..all() }).unwrap();
    parts(RenderPart::Images);
    assert_eq!(recorded(), None, "several processes may render parts");
    parts(RenderPart::Video);
    let in_parts = recorded().expect("an exposure");
    let at_once = run(SCENE, vec![drops(0.0), drops(1e-3)]);
    render(&at_once, &all()).unwrap();
    assert_eq!(RunFolder::open(at_once.path()).unwrap().read_info().unwrap().exposure, Some(in_parts));
    let brighter = run(&format!("{SCENE}exposure = 2\n"), vec![drops(0.0)]);
    render(&brighter, &all()).unwrap();
    let factor = RunFolder::open(brighter.path()).unwrap().read_info().unwrap().exposure.unwrap() / in_parts;
    assert!((factor - 2.0).abs() < 1e-6, "{factor}");
}

#[test]
fn frames_without_water_and_empty_scenes_have_images() {
    let bare = "model = \"volume\"\ntime = { duration = \"2 ms\", frame = \"1 ms\" }\n[render]\nsize = [24, 14]\nsamples = 2\n";
    for scene in [SCENE, bare] {
        let place = run(scene, vec![vec![], vec![], vec![]]);
        let summary = render(&place, &all()).unwrap();
        assert_eq!((summary.images, summary.stopped), (3, false));
        assert!(range(&pixels(&place, 1)).1 > 10);
        assert!(pixels(&place, 0) == pixels(&place, 2), "static parts have the same noise");
    }
}

#[test]
fn a_scene_without_light_is_black_and_tiny_lights_are_rendered() {
    let dark = format!("{SCENE}[lights]\nstrength = 0\n");
    let place = run(&dark, vec![drops(0.0)]);
    render(&place, &all()).unwrap();
    assert_eq!(range(&pixels(&place, 0)), (0, 0));
    for area_light in ["size = \"1e-9 nm\"\ncolor = 1", "size = \"1e9 km\"\ncolor = 1e9", "size = \"1 mm\"\ncolor = 0"]
    {
        let place = run(&format!("{SCENE}[[lights.area]]\ncenter = \"0 9 0 mm\"\n{area_light}\n"), vec![drops(0.0)]);
        render(&place, &all()).unwrap_or_else(|error| panic!("{area_light}: {error}"));
    }
}

#[test]
fn any_size_from_one_pixel_up_has_images_and_a_video() {
    let place = run(SCENE, vec![drops(0.0)]);
    for size in [[1, 1], [1, 40], [17, 3], [9, 8]] {
        let options = RenderOptions { size: Some(size), samples: Some(1), exr: true, ..all() };
        let summary = render(&place, &options).unwrap_or_else(|error| panic!("{size:?}: {error}"));
        assert!(summary.video.is_some_and(|video| fs::metadata(video).unwrap().len() > 100), "{size:?}");
        let image = pixels(&place, 0);
        assert_eq!([image.width(), image.height()], size.map(|side| side as usize));
    }
    for size in [[0, 8], [8, 0], [16385, 1], [16384, 16384]] {
        let error = render(&place, &RenderOptions { size: Some(size), ..all() }).unwrap_err();
        assert!(error.is_wrong_request() && error.to_string().contains("--size"), "{error}");
    }
    // Images may be larger than a video can be.
    let summary = render(&place, &RenderOptions { size: Some([8200, 1]), samples: Some(1), ..all() }).unwrap();
    assert_eq!((summary.images, summary.video), (1, None));
}

/// Frames of more than 10 000 drops are stored as instances, from which surfaces are generated.
#[test]
fn frames_stored_as_instances_can_be_rendered() {
    let count: u32 = std::env::var("SESSILE_DROPS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_404);
    let side = count.isqrt();
    let axes = DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y);
    let ball = Ball { center: DVec3::ZERO, radii: DVec3::new(0.3e-3, 0.3e-3, 0.2e-3), strength: 2.0 };
    let spray: Vec<Instance> = (0..side * side)
        .map(|k| Instance {
            drop: k + 1,
            solid: Some(0),
            frame: LocalFrame { origin: 8e-4 * DVec3::new(f64::from(k % side), 0.0, f64::from(k / side)), axes },
            volume: 1e-11,
            velocity: DVec3::ZERO,
            shape: Shape::Metaballs(vec![ball]),
        })
        .collect();
    let place = run(SCENE, vec![spray]);
    assert!(place.path().join("frames/00000.drops").exists(), "stored as instances");
    let summary = render(&place, &RenderOptions { samples: Some(2), ..all() }).unwrap();
    assert_eq!(summary.images, 1);
    assert!(range(&pixels(&place, 0)).1 > 10);
}

#[test]
fn motion_and_a_lens_blur_the_image_and_a_missing_followed_drop_leaves_the_camera() {
    let sharp_scene = format!("{SCENE}shutter = 0\n");
    let sharp = run(&sharp_scene, vec![drops(0.0), drops(0.02)]);
    render(&sharp, &all()).unwrap();
    // By default the shutter is open for half of the frame interval.
    let by_default = run(SCENE, vec![drops(0.0), drops(0.02)]);
    render(&by_default, &all()).unwrap();
    let half = run(&format!("{SCENE}shutter = 0.5\n"), vec![drops(0.0), drops(0.02)]);
    render(&half, &all()).unwrap();
    assert!(pixels(&by_default, 0) == pixels(&half, 0) && pixels(&half, 0) != pixels(&sharp, 0));
    let pentagon = "[camera]\naperture = \"3 mm\"\nblades = 5\n";
    for keys in ["[camera]\naperture = \"3 mm\"\n", pentagon] {
        let blurred = run(&format!("{sharp_scene}{keys}"), vec![drops(0.0), drops(0.02)]);
        render(&blurred, &all()).unwrap();
        assert!(pixels(&blurred, 0) != pixels(&sharp, 0), "{keys}");
    }
    // Without measures there is nothing to follow, and the camera stays.
    let lost = run(&format!("{sharp_scene}[camera]\nfollow = \"largest\"\n"), vec![drops(0.0)]);
    render(&lost, &all()).unwrap();
    assert!(pixels(&lost, 0) == pixels(&sharp, 0));
}

#[test]
fn missing_broken_and_too_large_textures_are_helpful_errors() {
    let textured = SCENE.replace("\"checker\"", "\"tiles.png\"");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("tiles.png");
    let scene_of = |text: &str| parse_str("scene.toml", text, &[], &Folder::new(place.path())).unwrap().scene;
    let message = |text: &str| sessile_appearance::SceneAssets::load(&scene_of(text)).unwrap_err().to_string();
    fs::write(&file, "not an image").unwrap();
    assert!(message(&textured).contains("give a PNG or JPEG file, or a built-in name"), "{}", message(&textured));
    // The header of an image that would take 48 GB.
    let mut head = Vec::new();
    let mut encoder = png::Encoder::new(&mut head, 126_000, 126_000);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_chunk(png::chunk::IDAT, &[0; 8]).unwrap();
    fs::write(&file, head).unwrap();
    assert!(message(&textured).contains("126000 × 126000 pixels"), "{}", message(&textured));
    let scene = scene_of(&textured);
    fs::remove_file(&file).unwrap();
    let gone = sessile_appearance::SceneAssets::load(&scene).unwrap_err();
    assert!(gone.to_string().contains("tiles.png"), "{gone}");
}

#[test]
fn a_folder_without_run_or_frames_is_an_error_and_is_unchanged() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("none");
    let stop = AtomicBool::new(false);
    assert!(render_run(&missing, &all(), &NoProgress, &stop).unwrap_err().is_wrong_request());
    assert!(!missing.exists());
    let empty = run(SCENE, vec![]);
    for what in [FramesToRender::Missing, FramesToRender::Selected(FrameSelection::All)] {
        let error = render(&empty, &RenderOptions::new(what)).unwrap_err();
        assert!(error.to_string().contains("no frames yet"), "{error}");
    }
    let broken = run(SCENE, vec![drops(0.0)]);
    fs::write(broken.path().join("frames/00000.ply"), "ply\n").unwrap();
    let error = render(&broken, &all()).unwrap_err().to_string();
    assert!(error.contains("00000.ply"), "{error}");
    assert!(!Path::new(&broken.path().join("pictures/00000.png")).exists());
}

/// Ground truth is written with the images, for both renderers; ids are those of the frames, and
/// deleting frames deletes it.
#[test]
fn ground_truth_is_written_with_the_images_and_deleted_with_the_frames() {
    for quality in [Quality::Full, Quality::Preview] {
        let place = run(SCENE, vec![drops(0.0), drops(1e-3), Vec::new()]);
        let summary = render(&place, &RenderOptions { quality, ground_truth: true, ..all() }).unwrap();
        assert_eq!((summary.images, summary.next), (3, None));
        let folder = RunFolder::open(place.path()).unwrap();
        let truth = |frame: u64| GroundTruthFiles::of(&folder.ground_truth_path(), frame);
        let bytes =
            |path: PathBuf| Image::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).rgb_bytes();
        assert!((0..3).all(|frame| truth(frame).exist()));
        let ids = |frame: u64| {
            let colors = bytes(truth(frame).id_png());
            colors
                .chunks_exact(3)
                .map(|c| c[0])
                .collect::<std::collections::BTreeSet<u8>>()
                .into_iter()
                .collect::<Vec<_>>()
        };
        // The camera frames the drop on the table; the other one is above the image.
        assert_eq!((ids(0), ids(2)), (vec![0, 1], vec![0]));
        // The scene is static, and so is the clean view; without liquid the image is the clean
        // view.
        assert_eq!(bytes(truth(0).clean()), bytes(truth(1).clean()));
        assert_ne!(bytes(truth(0).clean()), bytes(folder.image_path(0)));
        assert_eq!(bytes(truth(2).clean()), bytes(folder.image_path(2)));
        let claimed = RunFolder::claim(place.path()).unwrap().0;
        claimed.remove_after(Some(0), 0).unwrap();
        assert!(truth(0).exist() && !truth(1).mask().exists());
        assert_eq!(fs::read_dir(folder.ground_truth_path()).unwrap().count(), 7);
    }
}

#[test]
fn previews_are_kept_by_missing_and_replaced_on_request() {
    let place = run(SCENE, vec![drops(0.0), drops(1e-3)]);
    let previews = RenderOptions { quality: Quality::Preview, exr: true, ..all() };
    assert_eq!(render(&place, &previews).unwrap().images, 2);
    let folder = RunFolder::open(place.path()).unwrap();
    assert!(folder.layers_path(0).is_file());
    let first = fs::read(folder.image_path(0)).unwrap();
    assert_ne!(first, fs::read(folder.image_path(1)).unwrap(), "the drop has moved");
    assert_eq!(render(&place, &RenderOptions::new(FramesToRender::Missing)).unwrap().images, 0);
    assert_eq!(render(&place, &all()).unwrap().images, 2);
    assert_ne!(first, fs::read(folder.image_path(0)).unwrap());
}
