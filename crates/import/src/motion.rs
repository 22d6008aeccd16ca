//! Rigid motion as keys of a solid: poses at the frames, or at the ends of a uniform motion.

use glam::{DMat3, DMat4, DQuat, DVec3, EulerRot};

use crate::model::ModelKey;

/// Deviation from a rotation matrix, per entry, that is taken for rounding in the file.
const RIGID: f64 = 1e-4;

/// Deviation of a key from the line between its neighbors, in m and rad, at which it is left out.
const STRAIGHT: f64 = 1e-7;

/// The keys of a motion given by the solid's transforms at increasing times (in s), about `origin`.
/// `None` if they are not rigid relative to the first; empty if they are all the same.
pub fn keys(poses: &[(f64, DMat4)], origin: DVec3) -> Option<Vec<ModelKey>> {
    let first = poses.first()?.1.inverse();
    let mut keys: Vec<ModelKey> = Vec::with_capacity(poses.len());
    for (at, pose) in poses {
        let moved = *pose * first;
        let rotation = DMat3::from_mat4(moved);
        let rigid = (rotation * rotation.transpose() - DMat3::IDENTITY).to_cols_array().iter().all(|e| e.abs() < RIGID);
        if !(moved.is_finite() && rigid && rotation.determinant() > 0.0) {
            return None;
        }
        let before = keys.last().map_or(DVec3::ZERO, |key| key.angles);
        let angles = near(angles(rotation), before);
        keys.push(ModelKey { at: *at, shift: moved.transform_point3(origin) - origin, angles });
    }
    let still = |key: &ModelKey| key.shift.length() < STRAIGHT && key.angles.length() < STRAIGHT;
    if keys.iter().all(still) {
        return Some(Vec::new());
    }
    // Uniform motion needs its ends only; the velocity of any other follows from all of its keys.
    let straight = straightened(&keys);
    Some(if straight.len() == 2 { straight } else { keys })
}

/// Angles about x, then y, then z.
fn angles(rotation: DMat3) -> DVec3 {
    let (z, y, x) = DQuat::from_mat3(&rotation).normalize().to_euler(EulerRot::ZYX);
    DVec3::new(x, y, z)
}

/// The same rotation by the angles nearest to those before, so that a turn continues past 180°.
fn near(angles: DVec3, before: DVec3) -> DVec3 {
    use std::f64::consts::{PI, TAU};
    let turned = |angles: DVec3| angles - ((angles - before) / TAU).round() * TAU;
    let other = DVec3::new(angles.x + PI, PI - angles.y, angles.z + PI);
    let [one, two] = [turned(angles), turned(other)];
    if one.distance_squared(before) <= two.distance_squared(before) { one } else { two }
}

/// Without the keys that lie on the line between those that remain.
fn straightened(keys: &[ModelKey]) -> Vec<ModelKey> {
    let mut kept = vec![0];
    for end in 2..keys.len() {
        let start = kept[kept.len() - 1];
        let (a, b) = (&keys[start], &keys[end]);
        let straight = keys[start + 1..end].iter().all(|key| {
            let s = (key.at - a.at) / (b.at - a.at);
            a.shift.lerp(b.shift, s).distance(key.shift) < STRAIGHT
                && a.angles.lerp(b.angles, s).distance(key.angles) < STRAIGHT
        });
        if !straight {
            kept.push(end - 1);
        }
    }
    kept.push(keys.len() - 1);
    kept.dedup();
    kept.into_iter().map(|k| keys[k]).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn a_turn_about_its_own_center_keeps_the_center_and_passes_a_half_turn() {
        let center = DVec3::new(0.3, 0.0, 0.1);
        let pose = |angle: f64| {
            DMat4::from_translation(center) * DMat4::from_rotation_y(angle) * DMat4::from_scale(DVec3::splat(0.01))
        };
        let poses: Vec<(f64, DMat4)> =
            (0..=24).map(|k| (f64::from(k) / 24.0, pose(f64::from(k) / 24.0 * 1.5 * PI))).collect();
        let keys = keys(&poses, center).unwrap();
        assert!(keys.iter().all(|key| key.shift.length() < 1e-12), "{keys:?}");
        let turned = DQuat::from_euler(
            EulerRot::ZYX,
            keys.last().unwrap().angles.z,
            keys.last().unwrap().angles.y,
            keys.last().unwrap().angles.x,
        );
        assert!(turned.angle_between(DQuat::from_rotation_y(1.5 * PI)) < 1e-6);
        // Between keys the rotation about one axis is exact as well.
        let total: f64 = keys.windows(2).map(|pair| (pair[1].angles - pair[0].angles).length()).sum();
        assert!((total - 1.5 * PI).abs() < 0.1 || total > 1.5 * PI, "{total}");
    }

    #[test]
    fn uniform_motion_has_two_keys_and_rest_has_none() {
        let moving: Vec<(f64, DMat4)> =
            (0..=9).map(|k| (f64::from(k), DMat4::from_translation(DVec3::X * f64::from(k)))).collect();
        assert_eq!(keys(&moving, DVec3::ZERO).unwrap().len(), 2);
        let resting: Vec<(f64, DMat4)> =
            (0..=9).map(|k| (f64::from(k), DMat4::from_scale(DVec3::splat(2.0)))).collect();
        assert_eq!(keys(&resting, DVec3::ZERO).unwrap(), []);
    }

    #[test]
    fn growing_is_not_a_rigid_motion() {
        let poses = [(0.0, DMat4::IDENTITY), (1.0, DMat4::from_scale(DVec3::splat(1.1)))];
        assert!(keys(&poses, DVec3::ZERO).is_none());
    }
}
