//! Surfaces of the drops that a scene begins with.

use std::f64::consts::{PI, TAU};

use sessile_scene::DropShape;
use sessile_world::{Cap, InitialDrop, Solid, World};

use crate::drops::target_edge;
use crate::mesh::Mesh;
use crate::shape::ball_radius;
use crate::shapes::{CapForm, ball, cap};

/// Directions round a cap in which its rim is sought.
const ROUND: usize = 96;

/// The surface of a drop of the scene; `None` where the volume has to be cut out of space (see [`crate::union`]).
pub fn surface(drop: &InitialDrop, shape: &DropShape, world: &World, shortest: f64) -> Option<Mesh> {
    let edge = target_edge(drop.volume(), shortest);
    match *shape {
        DropShape::Sphere { center, .. } => {
            let radius = ball_radius(drop.volume());
            let far = drop.bounds()[1].distance(center) + radius;
            ball(center, radius, edge, |direction| {
                let (mut inside, mut outside) = (0.0, far);
                for _ in 0..60 {
                    let middle = 0.5 * (inside + outside);
                    let wet = drop.free_surface_distance(center + direction * middle) < 0.0;
                    *(if wet { &mut inside } else { &mut outside }) = middle;
                }
                0.5 * (inside + outside)
            })
        }
        DropShape::Cap { on, .. } => cap_on(drop.cap()?, &world.solids()[on], edge),
        _ => None,
    }
}

/// The part of a cap's ball outside its solid.
fn cap_on(form: &Cap, solid: &Solid, edge: f64) -> Option<Mesh> {
    let across = form.normal.any_orthonormal_vector();
    let other = form.normal.cross(across);
    let direction = |phi: f64| across * phi.cos() + other * phi.sin();
    let place = |psi: f64, phi: f64| {
        form.ball_center + (direction(phi) * psi.sin() + form.normal * psi.cos()) * form.ball_radius
    };
    let rims: Vec<f64> = (0..ROUND)
        .map(|k| {
            let phi = TAU * k as f64 / ROUND as f64;
            let (mut dry, mut wet) = (0.0, PI);
            for _ in 0..50 {
                let middle = 0.5 * (dry + wet);
                let outside = solid.signed_distance(place(middle, phi)) > 0.0;
                *(if outside { &mut dry } else { &mut wet }) = middle;
            }
            dry
        })
        .collect();
    let rim = |phi: f64| {
        let at = phi.rem_euclid(TAU) / TAU * ROUND as f64;
        let (k, part) = (at as usize % ROUND, at.fract());
        rims[k] * (1.0 - part) + rims[(k + 1) % ROUND] * part
    };
    let on_rim = |phi: f64| solid.closest(place(rim(phi), phi)).point;
    let top = |part: f64, phi: f64| if part >= 1.0 { on_rim(phi) } else { place(part * rim(phi), phi) };
    let base = |part: f64, phi: f64| {
        if part >= 1.0 { on_rim(phi) } else { solid.closest(form.foot + (on_rim(phi) - form.foot) * part).point }
    };
    cap(&CapForm { edge, surface: &top, base: &base, solid: form.on as i32 })
}
