//! Evaporation of drops, and condensation on them.
//!
//! ```text
//! dV/dt = −π k R f(θ),    R = √(wetted area/π)    (sessile_wetting::evaporation)
//! ```
//!
//! k is that of the solids, weighted by the areas that the drop wets; drops in flight keep their
//! volume. The volume that a surface must enclose changes, and the contact line follows by its own
//! law: pinned until the angle reaches θ_r, then receding. Explicit; a drop whose surface the mesh
//! does not resolve any more ([`SMALLEST`]) vanishes.

use std::f64::consts::PI;

use sessile_numerics::sphere_radius;
use sessile_wetting::evaporation::sessile_rate;

use crate::drop::Drop;
use crate::mesh::Interface;
use crate::state::State;

/// Radius of the sphere of a drop's volume below which it vanishes, in shortest edges.
const SMALLEST: f64 = 0.5;

/// Removes what evaporates in `dt` seconds, or adds what condenses; `coefficients` holds k of each
/// solid, in m²/s, `edge` is the shortest edge, in m.
pub fn evaporate(state: &mut State, coefficients: &[f64], edge: f64, dt: f64) {
    let State { drops, run, .. } = state;
    for drop in drops.iter_mut() {
        let (area, weighted) = wetted(drop, coefficients);
        if area == 0.0 {
            continue;
        }
        let loss = (dt * sessile_rate(weighted / area, drop.volume, (area / PI).sqrt())).min(drop.volume);
        drop.volume -= loss;
        run.evaporated += loss;
        drop.wake();
    }
    drops.retain(|drop| {
        let vanishes = sphere_radius(drop.volume) < SMALLEST * edge && wetted(drop, coefficients).1 > 0.0;
        if vanishes {
            run.evaporated += drop.volume;
        }
        !vanishes
    });
}

/// The area that a drop wets, in m², and its sum weighted by the coefficients of the solids.
fn wetted(drop: &Drop, coefficients: &[f64]) -> (f64, f64) {
    let mesh = &drop.mesh;
    let (mut area, mut weighted) = (0.0, 0.0);
    for t in mesh.live_triangles() {
        if let Interface::Solid(solid) = mesh.interfaces[t] {
            let part = mesh.area_vector(t).length();
            area += part;
            weighted += part * coefficients[solid];
        }
    }
    (area, weighted)
}
