//! The surface model against exact solutions, limits and laws.
//!
//! Every case builds its scene from text and runs the model as a run does. Water throughout, 9.8 m/s² unless said otherwise.

mod lines;
mod motion;
mod shapes;
mod stage;
mod steps;

use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// The surface model's cases.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, about, run| Case { name, model: "surface", quick: true, about, run };
    vec![
        case(
            "surface-free-fall",
            "A ball thrown sideways falls 20 mm in free flight: place and speed of its center against ½gt² and gt, and it must stay a ball.",
            motion::free_fall,
        ),
        case(
            "surface-mode-2",
            "A free drop of 1 mm rung in its second mode by 5 %: frequency against Lamb's √(8σ/ρR³), also at half the time step (frames that short cut \
             the step), and its decay, which should be Lamb's 5ν/R² = 5 per second within a factor of three. Modes 3 and 4 in steps of 0.1 ms, within 8 %.",
            motion::modes,
        ),
        case(
            "surface-rest-shape",
            "Height and base radius of drops of 4 and 30 µL at rest from 40° to 150°, started as caps of another angle, against Young and Laplace: within 2 % \
             at some 600 triangles, 0.5 % at some 5000 (0.8 % for the base radius at 150°, where it is small).",
            shapes::resting,
        ),
        case(
            "surface-hanging",
            "Drops at rest under a ceiling against the pendant profile; and at 90°, where the largest that hangs holds 69 µL, 55 µL hang and 80 µL fall.",
            shapes::hanging,
        ),
        case(
            "surface-on-sphere",
            "Without weight, drops on a ball of 3 mm are parts of balls that meet it at the angle. Caps started at another angle should come to that height and volume.",
            shapes::on_sphere,
        ),
        case(
            "surface-holds-or-runs",
            "A cap started at 75° on a pane of 90°/60°, with gravity turned from normal to tangential over 0.3 s: 5 and 8 µL hold for a second without \
             creep, 30 µL run.",
            lines::holds_or_runs,
        ),
        case(
            "surface-hysteresis",
            "A needle grows a drop to 20 µL on 90°/40° and drains it: base radius at the end of growth, and volume at which the line lets go (base radius \
             2 % smaller), against Young–Laplace drops at the two angles.",
            lines::hysteresis,
        ),
        case(
            "surface-coalescence",
            "Two drops of 1 mm that touch at rest, and two that collide off center: volume, momentum, and the radius of the drop that is left.",
            motion::coalescence,
        ),
        case(
            "surface-thread",
            "Rippled threads without weight, by wavelength: ripples longer than the girth 2πR grow, shorter ones heal, and a long thread breaks into drops. Rates \
             of growth (fastest at 9 mm) and of swinging must be Rayleigh's within 20 %.",
            motion::thread,
        ),
        case(
            "surface-impact",
            "A drop of 2.5 mm hits a dry floor of 90° at 1 m/s: its largest diameter over the drop's. Measured laws give 2.1 to 3.1; a shell does not carry the flow \
             along a flat top, so it may fall short by a fifth, and no more.",
            lines::impact,
        ),
        case(
            "surface-volume-minute",
            "20 µL slide to and fro on a plate of 95°/85° that is tipped four times a second, for a minute (2 s in a quick validation, the drift then \
             extrapolated): the volume that the surface encloses may drift by 0.1 % a minute.",
            steps::minute,
        ),
        case(
            "surface-time-step",
            "What halving the time step changes: the rest shape by less than 0.1 %; below 1 ms the frequency of mode 2 and the speed of a drop that slides by less than 2 %.",
            steps::time_step,
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
