//! The droplet model against the laws that it claims to follow, closed forms and reference values.
//!
//! Every case builds its scene from text and runs the model as a run does. Water throughout, 9.8 m/s².

mod holding;
mod motion;
mod shapes;
mod stage;

use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// The droplet model's cases.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, run| Case { name, model: "droplet", quick: true, about, run };
    vec![
        case(
            "droplet-closed-form",
            "The paper's rules on one triangle: speed and way of a droplet on a slope against F/k_f (1 − e^(−k_f t/m)) and its integral, and \
             straight physical motion, where the friction coefficient is at its bound, against the same with the line's hold.",
            motion::closed_form,
        ),
        case(
            "droplet-any-triangles",
            "The same slope cut into 2, 8, 32, 128, 512 and 100 000 triangles: a droplet that starts across it takes the same path, by the paper's \
             rules, and stays below the energy it started with.",
            motion::any_triangles,
        ),
        case(
            "droplet-leaves-sphere",
            "Droplets slide off the top of a sphere with hardly any friction. By the energy they leave where cos θ = (2 − q)/3, with q the paper's \
             adhesion D π r² over the weight: 48° without adhesion, 180° for q = 5.",
            motion::leaves_sphere,
        ),
        case(
            "droplet-steady-speed",
            "Drops heavy enough to run, on slides of some meters. Their final speed should be the one at which the wedge's and the boundary layer's \
             friction take up weight less retention.",
            motion::steady_speed,
        ),
        case(
            "droplet-holds-or-runs",
            "The largest drop that stays on a tilted plane, found by bisection with real runs, against the one whose weight along the slope its line \
             holds, γ w (cos θr − cos θa); and the reference brackets for a wall of 90°/30°.",
            holding::holds_or_runs,
        ),
        case(
            "droplet-hanging",
            "Drops under a level ceiling hang up to a largest volume and fall above it: the bound found by bisection against the limit of stable pendant \
             drops; 30 µL at 90° against an independent solver.",
            holding::hanging,
        ),
        case(
            "droplet-trail",
            "A drop runs fast down vertical glass (50°/4°, so that the film stays). What it loses per length should be the film of Landau and Levich \
             over the whole of its width; and the books must close to 1e-9.",
            holding::trail,
        ),
        case(
            "droplet-rest-shape",
            "Height, base radius and contact angle, measured on the frame's surface, of drops that have just been put down (with 6° of hysteresis), against the \
             Young–Laplace profile; on a plane, on top of balls of 15, 30 and 300 mm and in a bowl of 30 mm.",
            shapes::rest_shape,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::validate::tests::assert_all_pass;

    #[test]
    fn every_case_passes() {
        assert_all_pass(cases());
    }
}
