//! Files that Blender 5.0 wrote, and damaged ones. A quad of 1 m with its normal up, at 24 frames
//! per second from frame 1 on.

use std::path::Path;

use glam::DVec3;

use super::*;
use crate::model::Part;

const MOVING: &[u8] = include_bytes!("../../../../fuzz/corpus/alembic/moving");
const DEFORMING: &[u8] = include_bytes!("../../../../fuzz/corpus/alembic/deforming");
/// Two quads that share all of their data.
const TWO: &[u8] = include_bytes!("../../../../fuzz/corpus/alembic/two_deforming");
/// As `DEFORMING`, with −1 among the corners.
const NEGATIVE: &[u8] = include_bytes!("../../../../fuzz/corpus/alembic/negative_index");
const SUBDIVIDED: &[u8] = include_bytes!("../../../../fuzz/corpus/alembic/subdivided_and_camera");

fn model(bytes: &[u8]) -> Model {
    read(Path::new("a.abc"), bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn normal(part: &Part) -> DVec3 {
    let [a, b, c] = part.mesh.corners(0);
    (b - a).cross(c - a).normalize()
}

/// From frame 1 to 3 it moves by 1 m along x, eased in and out.
#[test]
fn rigid_motion_becomes_keys() {
    let model = model(MOVING);
    assert_eq!(model.frames, Some((1.0, 3.0, 24.0)));
    let [part] = model.parts.as_slice() else { panic!("{} parts", model.parts.len()) };
    assert_eq!((part.name.as_str(), part.mesh.triangles.len(), part.motion.len()), ("Quad", 2, 2));
    let (first, last) = (part.motion[0], part.motion[1]);
    assert!(first.shift.length() < 1e-6 && (last.shift - DVec3::X).length() < 1e-6, "{:?}", part.motion);
    assert!((last.at - 2.0 / 24.0).abs() < 1e-9);
    assert!((normal(part) - DVec3::Y).length() < 1e-6, "{}", normal(part));
    let [low, high] = part.bounds();
    assert!((low - DVec3::new(0.0, 0.0, -1.0)).length() < 1e-6 && (high - DVec3::X).length() < 1e-6, "{low} {high}");
}

#[test]
fn moving_points_become_samples() {
    let model = model(DEFORMING);
    let [part] = model.parts.as_slice() else { panic!("{} parts", model.parts.len()) };
    assert!(part.motion.is_empty());
    let highest: Vec<f64> = part.deform.iter().map(|(_, p)| p.iter().map(|p| p.y).fold(f64::MIN, f64::max)).collect();
    assert_eq!(highest.len(), 3);
    assert!(
        highest[0].abs() < 1e-6 && (highest[1] - 0.5).abs() < 1e-6 && (highest[2] - 1.0).abs() < 1e-6,
        "{highest:?}"
    );
}

/// A quad subdivided twice is flat and keeps its corners. Its face set has the material's name.
#[test]
fn cages_are_subdivided_and_cameras_imported() {
    let model = model(SUBDIVIDED);
    let [part] = model.parts.as_slice() else { panic!("{} parts", model.parts.len()) };
    assert_eq!((part.name.as_str(), part.material.as_str(), part.mesh.triangles.len()), ("Cage", "Red", 32));
    assert!((part.mesh.area() - 1.0).abs() < 1e-6, "{}", part.mesh.area());
    assert!(model.notices.iter().any(|line| line.contains("subdivided twice, to 16 polygons")), "{:?}", model.notices);
    // Blender's camera looks along its own −z, which is −y here; 50 mm on 36 × 24 mm.
    let camera = model.camera.unwrap();
    assert!(camera.motion.is_empty() && camera.eye.length() < 1e-6, "{camera:?}");
    assert!((camera.look_at - camera.eye).normalize().distance(DVec3::NEG_Y) < 1e-6, "{camera:?}");
    assert!((0.38..0.5).contains(&camera.fov), "{}", camera.fov);
}

/// Limits hold for the file: each quad has 4 points in 3 frames, which alone would be allowed.
#[test]
fn what_all_meshes_share_is_counted_for_each() {
    let model = model_of(TWO, LIMITS).unwrap();
    assert_eq!(model.parts.iter().map(|part| part.deform.len()).collect::<Vec<_>>(), [3, 3]);
    let model = model_of(TWO, Limits { points: 23, ..LIMITS }).unwrap();
    assert_eq!(model.parts.iter().map(|part| part.deform.len()).collect::<Vec<_>>(), [3, 0]);
    assert!(model.notices.iter().any(|line| line.contains("of Quad0 its shape in the first")), "{:?}", model.notices);
    // A number is a number, whatever its size in the file.
    let needed = (0..).find(|numbers| model_of(TWO, Limits { numbers: *numbers, ..LIMITS }).is_ok()).unwrap();
    let alone = (0..).find(|numbers| model_of(DEFORMING, Limits { numbers: *numbers, ..LIMITS }).is_ok()).unwrap();
    // In bytes they would be more than 200.
    assert_eq!((needed, (60..90).contains(&alone)), (2 * alone, true), "{needed} for two, {alone} for one");
    let error = model_of(TWO, Limits { numbers: needed - 1, ..LIMITS }).err().unwrap();
    assert!(error.contains("too many numbers"), "{error}");
}

#[test]
fn negative_indices_are_errors() {
    let error = read(Path::new("a.abc"), NEGATIVE).unwrap_err().to_string();
    assert_eq!(error, "a.abc: a .faceIndices property has the negative number -1");
}

#[test]
fn damaged_files_are_errors_and_never_panic() {
    for bytes in [MOVING, DEFORMING, SUBDIVIDED] {
        for length in (0..bytes.len()).step_by(11) {
            let _ = read(Path::new("a.abc"), &bytes[..length]);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 0x81;
            let _ = read(Path::new("a.abc"), &damaged);
        }
    }
    let told = |bytes: &[u8]| read(Path::new("a.abc"), bytes).unwrap_err().to_string();
    assert!(told(b"\x89HDF\r\n").contains("older HDF5 kind"));
    assert!(told(b"Ogawa\0\0\x01").contains("not closed"));
    assert!(told(b"P4").contains("starts with `Ogawa`"));
}
