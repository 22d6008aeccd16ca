//! Cases of the surface model: exact solutions, limits, laws.
//!
//! Every case builds its scene from text and runs the model as a run does. Liquid: water; gravity:
//! 9.8 m/s² unless noted otherwise.

mod contact_line;
mod convergence;
mod motion;
mod shapes;
mod simulation;

use super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Function that runs a case.
type Run = fn(&CaseContext) -> Result<CaseResult, CaseError>;

/// A quick verification case.
fn case(name: &'static str, about: &'static str, run: Run) -> Case {
    Case { name, model: "surface", kind: CaseKind::Verification, quick: true, about, run }
}

/// Cases of the surface model.
pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "surface-free-fall",
            "A sphere thrown sideways falls 20 mm. Expected: ½gt² and gt for its center, and a spherical shape.",
            motion::free_fall,
        ),
        case(
            "surface-oscillation-modes",
            "A free drop of 1 mm radius oscillates in its second mode with 5 % amplitude. Expected: Lamb's frequency √(8σ/ρR³), also at half \
             the time step, and Lamb's decay rate 5ν/R² = 5 per second within a factor of three. Modes 3 and 4 with steps of 0.1 ms \
             within 8 %.",
            motion::modes,
        ),
        case(
            "surface-sessile-shape",
            "Height and base radius of drops of 4 and 30 µL at rest from 40° to 150°, starting from caps of another angle. Expected: \
             Young–Laplace within 2 % at some 600 triangles, 0.5 % at some 5000 (0.8 % for the base radius at 150°, where it is small).",
            shapes::sessile_shape,
        ),
        case(
            "surface-pendant-drop",
            "Drops at rest under a ceiling. Expected: the pendant profile; at 90°, where the largest stable volume is 69 µL, 55 µL hang and \
             80 µL fall.",
            shapes::pendant_drop,
        ),
        case(
            "surface-cap-on-sphere",
            "Drops without gravity on a sphere of 3 mm, starting at another angle. Expected: height and wetted area of the spherical cap that \
             meets the solid at the contact angle.",
            shapes::on_sphere,
        ),
        case(
            "surface-retention",
            "A cap of 75° on a pane of 90°/60°, while gravity rotates from normal to tangential within 0.3 s. Expected: 5 and 8 µL stay for a \
             second without creep, 30 µL slide.",
            contact_line::retention,
        ),
        case(
            "surface-hysteresis-cycle",
            "A needle feeds a drop to 20 µL on 90°/40° and drains it. Expected from Young–Laplace at the two angles: the base radius after \
             growth, and the volume at which the contact line depins (base radius 2 % smaller).",
            contact_line::hysteresis_cycle,
        ),
        case(
            "surface-coalescence",
            "Two drops of 1 mm that touch at rest, and two that collide off center. Expected: volume, momentum, and the radius of the merged \
             drop.",
            motion::coalescence,
        ),
        case(
            "surface-rayleigh-plateau",
            "Perturbed ligaments without gravity, by wavelength. Expected: perturbations longer than the circumference 2πR grow, shorter ones \
             oscillate, at Rayleigh's rates within 20 % (fastest growth at 9 mm), and a long ligament breaks into drops.",
            motion::rayleigh_plateau,
        ),
        Case {
            kind: CaseKind::Validation,
            ..case(
                "surface-impact",
                "A drop of 2.5 mm diameter hits a dry floor of 90° at 1 m/s. Expected: a maximum spread of 2.1 to 3.1 diameters \
                    (correlations of measurements); the model has no flow along a flat top, so it may be a fifth lower.",
                contact_line::impact,
            )
        },
        case(
            "surface-volume-drift",
            "20 µL slide back and forth on a plate of 95°/85° that is tipped four times a second, for a minute (2 s in a quick validation, \
             extrapolated). Expected: a drift of the enclosed volume of at most 0.1 % per minute.",
            convergence::volume_drift,
        ),
        case(
            "surface-time-step-convergence",
            "Change of results when the time step is halved. Expected: less than 0.1 % for the rest shape; below 1 ms less than 2 % for the \
             frequency of mode 2 and for the speed of a sliding drop.",
            convergence::time_step,
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
