//! Cases of the droplet model: closed forms, exact solutions, reference values.
//!
//! Every case builds its scene from text and runs the model as a run does. Liquid: water; gravity:
//! 9.8 m/s².

mod motion;
mod retention;
mod shapes;
mod simulation;

use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Cases of the droplet model.
pub(super) fn cases() -> Vec<Case> {
    let case =
        |name, about, run| Case { name, model: "droplet", kind: CaseKind::Verification, quick: true, about, run };
    vec![
        case(
            "droplet-closed-form",
            "A droplet on a plane slope of one triangle. Expected: speed F/k_f (1 − e^(−k_f t/m)) and its integral by the paper's rules; \
             the same with the retention force for straight physical motion, where the friction coefficient is at its bound.",
            motion::closed_form,
        ),
        case(
            "droplet-mesh-independence",
            "The same slope divided into 2, 8, 32, 128, 512 and 100 000 triangles. Expected by the paper's rules: the same path of a \
             droplet that starts across the slope, and never more than the initial energy.",
            motion::mesh_independence,
        ),
        case(
            "droplet-detachment-from-sphere",
            "Droplets slide off the top of a sphere with very little friction. Expected from the energy: detachment at cos θ = (2 − q)/3, \
             with q the paper's adhesion D π r² over the weight: 48° without adhesion, 180° for q = 5.",
            motion::detachment_from_sphere,
        ),
        case(
            "droplet-steady-speed",
            "Drops heavy enough to slide, on slopes of some meters. Expected: the speed at which wedge and boundary-layer friction balance \
             weight minus retention.",
            motion::steady_speed,
        ),
        case(
            "droplet-retention",
            "Largest drop that stays on a tilted plane, by bisection with full runs. Expected: weight along the slope equal to the retention \
             force γ w (cos θr − cos θa); and the reference brackets for a wall of 90°/30°.",
            retention::critical_volume,
        ),
        case(
            "droplet-pendant-drop",
            "Largest drop that hangs from a level ceiling, by bisection. Expected: the limit of stable pendant drops; 30 µL at 90° from an \
             independent solver.",
            retention::pendant_drop,
        ),
        case(
            "droplet-film-deposition",
            "A drop slides fast down vertical glass (50°/4°, so that the film stays). Expected volume loss per length: a Landau–Levich film \
             over the whole width; and a volume balance to 1e-9.",
            retention::film_deposition,
        ),
        case(
            "droplet-sessile-shape",
            "Height, base radius and contact angle, measured on the frame's surface, of drops after deposition (with 6° of hysteresis), on a \
             plane, on spheres of 15, 30 and 300 mm and in a bowl of 30 mm. Expected: the Young–Laplace profile.",
            shapes::sessile_shape,
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
