//! The pane model against the laws that it claims to follow, closed forms and reference values.
//!
//! Every case builds its scene from text and runs the model as a run does. Water throughout, 9.8 m/s².

mod books;
mod dew;
mod flight;
mod hanging;
mod holding;
mod paper;
mod resting;
mod running;
mod stage;
mod trail;

use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// The pane model's cases.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, run| Case { name, model: "pane", quick: true, about, run };
    vec![
        case(
            "pane-holds-or-runs",
            "The largest drop that stays on a tilted pane, found by bisection with real runs. It should be the one whose weight along \
             the slope, ρgV sin α, is what its line holds, γ w (cos θr − cos θa), with the width w of the drop at rest at θa.",
            holding::holds_or_runs,
        ),
        case(
            "pane-steady-speed",
            "Drops heavy enough to run straight (weight three times the retention) on slides of some meters. Their final speed should \
             be the one at which the wedge's and the boundary layer's friction take up weight less retention.",
            running::steady_speed,
        ),
        case(
            "pane-path-memory",
            "Two drops down a vertical 90°/60° pane, the second started 3 mm beside the first, for several seeds. Where the material \
             remembers (62° on wetted ground) the second is drawn into the first one's path; where it does not, it goes its own way.",
            running::path_memory,
        ),
        case(
            "pane-rest-shape",
            "Height, base radius and contact angle, measured on the frame's surface, of drops at rest on a level pane without \
             hysteresis, against the Young–Laplace profile. A pane that is turned together with gravity must give the same drop.",
            resting::rest_shape,
        ),
        case(
            "pane-hysteresis-cycle",
            "A drop is fed to 20 µL at 90°/40° and drained again. It grows at the advancing angle, then its line stays while the angle \
             falls, and recedes from the volume at which the receding angle is reached; reference values from an independent solver.",
            resting::hysteresis_cycle,
        ),
        case(
            "pane-hanging-drop",
            "Drops under a level ceiling hang up to a largest volume and fall above it. The bound is found by bisection with real runs \
             and held against the limit of stable pendant drops; 30 µL and 79.7 µL at 90° against an independent solver.",
            hanging::hanging_drop,
        ),
        case(
            "pane-free-fall",
            "A ball of 1 mm radius falls 20 mm onto a level pane, without air: √(2h/g) and √(2gh).",
            flight::free_fall,
        ),
        case(
            "pane-wind",
            "Wind along a level pane, raised until a drop starts: where ½ ρ_air C_D A U² is what the line holds. The law is \
             for a cap; the width that counts is that of the drop flattened by its weight, by Young and Laplace.",
            holding::wind,
        ),
        case(
            "pane-trail",
            "Drops run fast down vertical glass (50°/15°), beyond what their receding line can follow. What they lose per length should \
             be the film of Landau and Levich on the part of the rear that cannot recede; that film gathers into beads.",
            trail::trail,
        ),
        case(
            "pane-dew-growth",
            "Dew on a level pane at 90°, from single grains to drops of a millimeter. Once drops coalesce the pattern keeps its looks, so \
             with the covered share s constant the mean radius is π e/(s g) of the condensed depth e, g = V/R³ (docs/wetting.md, dew).",
            dew::growth,
        ),
        case(
            "pane-books",
            "Rain, dew, a tap, a feeding and a draining needle, trails, beads and run-off on one pane, in both fidelities: what was added is \
             what is there plus what was lost, to the rounding of some ten thousand additions (the promise is 1e-6).",
            books::books,
        ),
        case(
            "pane-paper-algorithm",
            "The paper's Algorithm 1 on a small grid, by a scene with fidelity = \"paper\": thresholds, the frame_selection of the cell with most \
             water, merging, residues and run-off, against amounts worked out by hand.",
            paper::algorithm,
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
