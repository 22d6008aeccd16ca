//! Transforms of prims (`xformOpOrder`).

use glam::{DMat4, DQuat, DVec3};

use super::layer::{UsdPrim, UsdValue};

/// Radians in a degree.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The transform of a prim at its first samples: the product of its operations in their order.
pub fn local_transform(prim: &UsdPrim) -> DMat4 {
    transform_with(prim, |name| prim.properties.get(name).map(|value| value.numbers().to_vec()))
}

/// The transform of a prim at a time code.
pub fn local_transform_at(prim: &UsdPrim, time: f64) -> DMat4 {
    transform_with(prim, |name| match prim.samples.get(name) {
        Some(samples) => Some(interpolated(samples, time)),
        None => prim.properties.get(name).map(|value| value.numbers().to_vec()),
    })
}

/// Whether the transforms of a prim's parents do not apply to it.
pub fn resets_transform(prim: &UsdPrim) -> bool {
    let order = prim.properties.get("xformOpOrder").map_or(&[][..], UsdValue::texts);
    order.first().is_some_and(|name| name == "!resetXformStack!")
}

/// Linear between samples, number by number, and constant outside them, as USD reads them.
fn interpolated(samples: &[(f64, Vec<f64>)], time: f64) -> Vec<f64> {
    let next = samples.partition_point(|(at, _)| *at <= time);
    match (next.checked_sub(1).and_then(|k| samples.get(k)), samples.get(next)) {
        (Some((t0, before)), Some((t1, after))) if before.len() == after.len() => {
            let s = (time - t0) / (t1 - t0);
            // Of a rotation's two quaternions the nearer one.
            let near = before.len() != 4 || before.iter().zip(after).map(|(a, b)| a * b).sum::<f64>() >= 0.0;
            let sign = if near { 1.0 } else { -1.0 };
            before.iter().zip(after).map(|(a, b)| a * (1.0 - s) + sign * b * s).collect()
        }
        (Some((_, value)), _) | (None, Some((_, value))) => value.clone(),
        (None, None) => Vec::new(),
    }
}

fn transform_with(prim: &UsdPrim, values_of: impl Fn(&str) -> Option<Vec<f64>>) -> DMat4 {
    let order = prim.properties.get("xformOpOrder").map_or(&[][..], UsdValue::texts);
    let mut transform = DMat4::IDENTITY;
    for name in order {
        let (name, inverse) = match name.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let Some(values) = values_of(name) else { continue };
        let operation = operation(name.split(':').nth(1).unwrap_or_default(), &values);
        transform *= if inverse { operation.inverse() } else { operation };
    }
    if transform.is_finite() { transform } else { DMat4::IDENTITY }
}

fn operation(kind: &str, values: &[f64]) -> DMat4 {
    let vector = <[f64; 3]>::try_from(values).map(DVec3::from);
    let angle = values.first().copied().unwrap_or(0.0) * DEGREE;
    let rotation = |axis: char, angle: f64| match axis {
        'X' => DMat4::from_rotation_x(angle),
        'Y' => DMat4::from_rotation_y(angle),
        _ => DMat4::from_rotation_z(angle),
    };
    match (kind, vector) {
        ("transform", _) => <[f64; 16]>::try_from(values).map_or(DMat4::IDENTITY, |m| DMat4::from_cols_array(&m)),
        ("translate", Ok(v)) => DMat4::from_translation(v),
        ("scale", Ok(v)) => DMat4::from_scale(v),
        ("rotateX", _) => rotation('X', angle),
        ("rotateY", _) => rotation('Y', angle),
        ("rotateZ", _) => rotation('Z', angle),
        // The first letter is the rotation applied first, so it is last in the product.
        (order, Ok(v)) if order.starts_with("rotate") && order.len() == 9 => {
            order[6..].chars().fold(DMat4::IDENTITY, |rotations, axis| {
                rotation(axis, DEGREE * v[(axis as usize).wrapping_sub('X' as usize).min(2)]) * rotations
            })
        }
        // The real part comes first.
        ("orient", _) => match values {
            [w, x, y, z] => DMat4::from_quat(DQuat::from_xyzw(*x, *y, *z, *w).normalize()),
            _ => DMat4::IDENTITY,
        },
        _ => DMat4::IDENTITY,
    }
}
