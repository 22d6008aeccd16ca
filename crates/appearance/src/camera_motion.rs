//! The camera over time: keys of `camera.motion`.

use glam::DVec3;
use sessile_numerics::PathWeights;
use sessile_scene::types::{CameraKey, Interpolation, Scene};

use crate::camera::Camera;

/// `camera` at a time (in s): at the place that the scene's keys give it, if there are any.
///
/// Outside the keys the camera is at the first or the last.
pub fn moved_camera(scene: &Scene, camera: Camera, time: f64) -> Camera {
    let keys = &scene.camera.motion;
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return camera };
    let placed = |eye: DVec3, look_at: DVec3| Camera { eye, look_at, ..camera };
    let next = keys.partition_point(|key| key.at <= time);
    if next == 0 || next == keys.len() {
        let key = if next == 0 { first } else { last };
        return placed(key.position, key.look_at);
    }
    let (a, b) = (&keys[next - 1], &keys[next]);
    let along = (time - a.at) / (b.at - a.at);
    let weights = match scene.camera.interpolation {
        Interpolation::Smooth => PathWeights::at(keys, |key| key.at, time),
        Interpolation::Linear => None,
    };
    let at = |value: fn(&CameraKey) -> DVec3| match &weights {
        None => value(a).lerp(value(b), along),
        Some(weights) => weights.iter().map(|(key, weight, _)| value(&keys[key]) * weight).sum(),
    };
    placed(at(|key| key.position), at(|key| key.look_at))
}

#[cfg(test)]
mod tests {
    use sessile_scene::{NoFiles, parse_str};

    use super::*;

    fn at(interpolation: &str, time: f64) -> Camera {
        let text = format!(
            "model = \"surface\"\n[time]\nduration = \"1 s\"\nframe = \"100 ms\"\n[camera]\ninterpolation = \"{interpolation}\"\n\
             motion = [\n{{ at = \"1 s\", position = \"0 0 100 mm\", look_at = \"0 0 0 mm\" }},\n\
             {{ at = \"2 s\", position = \"100 0 100 mm\", look_at = \"0 0 0 mm\" }},\n\
             {{ at = \"3 s\", position = \"100 0 0 mm\", look_at = \"0 50 0 mm\" }},\n]\n"
        );
        let scene = parse_str("s.toml", &text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}")).scene;
        let automatic = Camera { lens_radius: 1e-3, ..Camera::new(DVec3::Z, DVec3::ZERO, 0.5) };
        moved_camera(&scene, automatic, time)
    }

    #[test]
    fn the_camera_is_at_its_keys_and_between_them() {
        for way in ["linear", "smooth"] {
            assert_eq!(at(way, 0.0).eye, DVec3::new(0.0, 0.0, 0.1), "before the first key");
            assert!(at(way, 2.0).eye.distance(DVec3::new(0.1, 0.0, 0.1)) < 1e-12);
            assert_eq!((at(way, 9.0).eye.z, at(way, 9.0).look_at.y, at(way, 9.0).lens_radius), (0.0, 0.05, 1e-3));
        }
        assert!(at("linear", 1.5).eye.distance(DVec3::new(0.05, 0.0, 0.1)) < 1e-12);
        assert!(at("smooth", 1.5).eye.z > 0.1, "a curved path");
    }
}
