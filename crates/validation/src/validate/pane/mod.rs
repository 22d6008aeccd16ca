//! Cases of the pane model: closed forms, exact solutions, reference values.
//!
//! Every case builds its scene from text and runs the model as a run does. Liquid: water; gravity:
//! 9.8 m/s².

mod dew;
mod film_deposition;
mod flight;
mod paper;
mod pendant_drops;
mod retention;
mod sessile_drops;
mod simulation;
mod sliding;
mod volume_balance;

use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Cases of the pane model.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, run| Case { name, model: "pane", kind: CaseKind::Verification, quick: true, about, run };
    vec![
        case(
            "pane-retention",
            "Largest drop that stays on a tilted pane, by bisection with full runs. Expected: weight along the slope, ρgV sin α, \
             equal to the retention force γ w (cos θr − cos θa), with the width w of the drop at rest at θa.",
            retention::critical_volume,
        ),
        case(
            "pane-steady-speed",
            "Drops heavy enough to slide straight (weight three times the retention force) on slopes of some meters. Expected: the \
             speed at which wedge and boundary-layer friction balance weight minus retention.",
            sliding::steady_speed,
        ),
        case(
            "pane-wetting-history",
            "Two drops on a vertical 90°/60° pane, the second starting 3 mm beside the first, for several seeds. With wetting history \
             (62° on the wetted surface) the second follows the path of the first; without it, it does not.",
            sliding::wetting_history,
        ),
        case(
            "pane-sessile-shape",
            "Height, base radius and contact angle, measured on the frame's surface, of drops at rest on a level pane without \
             hysteresis. Expected: the Young–Laplace profile, and the same drop on a pane rotated together with gravity.",
            sessile_drops::shape,
        ),
        case(
            "pane-hysteresis-cycle",
            "A drop is fed to 20 µL at 90°/40° and drained. It grows at the advancing angle; then its contact line is pinned while \
             the angle decreases, and recedes from the volume at which the receding angle is reached. Expected values from an \
             independent solver.",
            sessile_drops::hysteresis_cycle,
        ),
        case(
            "pane-pendant-drop",
            "Largest drop that hangs from a level ceiling, by bisection with full runs. Expected: the limit of stable pendant drops; \
             30 µL and 79.7 µL at 90° from an independent solver.",
            pendant_drops::largest,
        ),
        case(
            "pane-free-fall",
            "A sphere of 1 mm radius falls 20 mm onto a level pane without air drag. Expected: √(2h/g) and √(2gh).",
            flight::free_fall,
        ),
        case(
            "pane-wind-depinning",
            "Wind along a level pane that starts a drop. Expected: ½ ρ_air C_D A U² equal to the retention force, with the width of the \
             drop flattened by gravity (Young–Laplace).",
            retention::wind,
        ),
        case(
            "pane-film-deposition",
            "Drops slide down vertical glass (50°/15°) faster than their receding contact line can follow. Expected volume loss per \
             length: a Landau–Levich film on the part of the rear that cannot recede; the film collects into beads.",
            film_deposition::loss_per_length,
        ),
        case(
            "pane-dew-growth",
            "Dew on a level pane at 90°, from single droplets to drops of a millimeter. Once drops coalesce the pattern is \
             self-similar, so at constant coverage s the mean radius is π e/(s g) of the condensed depth e, g = V/R³ (docs/wetting.md).",
            dew::growth,
        ),
        case(
            "pane-volume-balance",
            "Rain, dew, a tap, a feeding and a draining needle, films, beads and run-off on one pane, in both fidelities. Expected: \
             added = present + lost, to the rounding of some ten thousand additions (required: 1e-6).",
            volume_balance::balance,
        ),
        case(
            "pane-paper-algorithm",
            "Algorithm 1 of the paper on a small grid, by a scene with fidelity = \"paper\": thresholds, selection of the cell with \
             most water, merging, residues and run-off. Expected: amounts computed by hand.",
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
