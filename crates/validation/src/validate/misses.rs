//! Checks that are known to fail, each with its cause.
//!
//! A miss is shown as a miss, never as a pass; it does not make the validation fail, so that what
//! fails anew is seen. A check that passes again is reported, and its entry should go.

/// A known miss.
struct Miss {
    case: &'static str,
    /// What the quantity's name begins with.
    quantity: &'static str,
    reason: &'static str,
}

const MISSES: &[Miss] = &[
    Miss {
        case: "critical-tilt",
        quantity: "retention factor",
        reason: "The models use k = 1 on the width at the advancing angle, which energy minimization with contact-line \
                 hysteresis gives; 24/π³ on the equivalent diameter is that of measured contours, which have partly relaxed.",
    },
    Miss {
        case: "critical-tilt",
        quantity: "variation of the Bond number",
        reason: "The diameter of the models' drop is that of the level drop at the advancing angle, flattened by gravity's \
                 normal component on gentle slopes; a real contour at its threshold is longer and narrower.",
    },
    Miss {
        case: "sliding-speed",
        quantity: "speed at which pearls begin",
        reason: "The models let a drop shed from 1.5 times the speed of a receding line, between the first corner (1) and its \
                 closing to 60° (2).",
    },
    Miss {
        case: "maximal-spread",
        quantity: "spread at We 200",
        reason: "The law keeps half of the energy of impact at any speed and has no rim that takes up the sheet while it \
                 spreads: at the highest Weber number it is 1 to 2 % above the range.",
    },
    Miss {
        case: "maximal-spread",
        quantity: "exponent of the spread over We",
        reason: "An energy balance tends to We^½ without friction, and with friction on the wall to about 0.3; Clanet et al. \
                 explain their ¼ by the deceleration of the drop instead.",
    },
    Miss {
        case: "early-spreading",
        quantity: "exponent of the wetted radius",
        reason: "The law of landing begins with a cap of 160°, whose wetted radius is a third of the drop's: the first stage \
                 of spreading is not resolved.",
    },
    Miss {
        case: "coalescence-bridge",
        quantity: "",
        reason: "Necks are for display only: they close exponentially from the union of the two caps, and begin too wide.",
    },
    Miss {
        case: "agreement-bridge",
        quantity: "width of the bridge",
        reason: "Necks are for display only: they close exponentially from the union of the two caps, and begin too wide.",
    },
    Miss {
        case: "dew-growth",
        quantity: "exponent of single drops",
        reason: "Nucleation sites are coarser than in nature, so that young drops share little vapor and grow as t^½ at first; \
                 the exponent falls towards ⅓ as they fill the plane.",
    },
    Miss {
        case: "dripping",
        quantity: "volume that falls",
        reason: "A drop that becomes too heavy leaves a fast model's ceiling as a whole; in experiments a quarter to a third of \
                 it stays behind.",
    },
    Miss {
        case: "agreement-speed-viscosity",
        quantity: "speed, viscosity over water's 100, surface",
        reason: "The surface model's friction is that of a line at rest, while a receding line has a smaller angle and \
                 dissipates more.",
    },
    Miss {
        case: "static-front-paper",
        quantity: "at 1 mm/s: either end from 0.1 to 0.5 s",
        reason: "An end moves by 0.08 cells. At 1 mm/s the bounds of frames at every 0.1 s put it before 0.2 s, while the drop \
                 still swings after gravity has set in; that this is the cause has not been tested.",
    },
    Miss {
        case: "static-front-paper",
        quantity: "at 7 mm/s: either end from 0.1 to 0.5 s",
        reason: "An end moves by 0.08 cells. At 1 mm/s the bounds of frames at every 0.1 s put it before 0.2 s, while the drop \
                 still swings after gravity has set in; that this is the cause has not been tested.",
    },
    Miss {
        case: "agreement-speed-volume",
        quantity: "speed, volume (µL) 50",
        reason: "A running drop is longer and narrower than the level one whose width the fast models keep: with 0.9 of that \
                 width their law gives 0.1357 m/s where the volume model has 0.136. The dynamic angles of Cox's law instead of \
                 the linear wedge make it slower (0.103), so they are not the cause.",
    },
];

/// Why a check of a case is known to fail; `None` if it is not.
pub(super) fn reason(case: &str, quantity: &str) -> Option<&'static str> {
    let miss = MISSES.iter().find(|miss| miss.case == case && quantity.starts_with(miss.quantity))?;
    Some(miss.reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::cases;

    #[test]
    fn every_miss_belongs_to_a_case_and_has_a_cause() {
        for miss in MISSES {
            assert!(cases().iter().any(|case| case.name == miss.case), "there is no case {}", miss.case);
            assert!(miss.reason.ends_with('.'), "{}", miss.case);
        }
    }
}
