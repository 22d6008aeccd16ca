//! Figures of Zhang et al. (zhang2011).

use super::Bound::{AtLeast, AtMost, Between};
use super::{Check, Figure, Panel, Paper};
use crate::measures::{
    arrivals_by_air, detachments, detail_above_mode_4, final_drops, final_drops_on_solids, final_pendant_drops,
    final_speed, highest_drop, largest_angle_error, largest_spread, ratio_of_speeds, relative_length, sliding_drops,
    smallest_relative_length, stream_length,
};

const PAPER: Paper = Paper::Zhang2011;
/// Radius of the tap's outlet, in m.
const OUTLET: f64 = 1e-3;

const fn tap(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "tap", sets, quick: &["time.duration=\"0.1 s\"", "resolution.edge=\"0.45 mm\""], strip: 1 }
}

const fn resting(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "resting", sets, quick: &["time.duration=\"0.3 s\""], strip: 1 }
}

const fn bar(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "bar", sets, quick: &["resolution.edge=\"0.3 mm\""], strip: 6 }
}

const fn window(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "window-drops", sets, quick: &["time.duration=\"0.1 s\""], strip: 4 }
}

const fn figurine(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "figurine", sets, quick: &["time.duration=\"80 ms\""], strip: 3 }
}

const fn lotus(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "lotus", sets, quick: &["time.duration=\"0.28571428570 s\""], strip: 4 }
}

pub const FIGURES: &[Figure] = &[
    Figure {
        name: "contact-angles",
        paper: PAPER,
        number: "figure 2",
        shows: "Equal drops on three materials, at 60°, 90° and 120°.",
        stated: "the three angles",
        chosen: "8 µL, receding angles 2° smaller",
        shortfall: None,
        panels: &[Panel {
            name: "physical",
            scene: "contact-angles",
            sets: &[],
            quick: &["resolution.edge=\"0.25 mm\"", "time.duration=\"0.2 s\""],
            strip: 1,
        }],
        checks: &[Check {
            measure: "largest error of a contact angle, degrees",
            panel: 0,
            value: |runs| largest_angle_error(&runs[0], &[60.0, 90.0, 120.0]),
            bound: AtMost(2.0),
        }],
    },
    Figure {
        name: "bar",
        paper: PAPER,
        number: "figure 4",
        shows: "A bar of water contracts with local and with global volume correction; local correction keeps more detail.",
        stated: "the two kinds of correction",
        chosen: "bar of 10 × 2 × 2 mm without gravity, γ = 0.2",
        shortfall: None,
        panels: &[
            bar("local", &["fidelity=\"paper\"", "surface.volume_correction=\"local\""]),
            bar("global", &["fidelity=\"paper\"", "surface.volume_correction=\"global\""]),
            bar("physical", &[]),
        ],
        checks: &[
            Check {
                measure: "length after 80 ms over the initial one, local correction",
                panel: 0,
                value: |runs| relative_length(&runs[0], 0.08),
                bound: AtMost(0.5),
            },
            Check {
                measure: "length after 80 ms over the initial one, global correction",
                panel: 1,
                value: |runs| relative_length(&runs[1], 0.08),
                bound: AtMost(0.5),
            },
            Check {
                measure: "surface above mode 4 after 20 ms, local over global correction",
                panel: 0,
                value: |runs| Some(detail_above_mode_4(&runs[0], 0.02)? / detail_above_mode_4(&runs[1], 0.02)?),
                bound: AtLeast(1.0),
            },
            // Water rings: its oscillation decays within R²/5ν = 0.9 s (lamb1932), so that the
            // length at one time tells its phase and not whether it relaxes.
            Check {
                measure: "smallest length within 80 ms over the initial one",
                panel: 2,
                value: |runs| smallest_relative_length(&runs[2], 0.08),
                bound: AtMost(0.5),
            },
        ],
    },
    Figure {
        name: "collide",
        paper: PAPER,
        number: "figure 6",
        shows: "Two drops collide in flight, merge and oscillate.",
        stated: "–",
        chosen: "radius 1.5 mm, relative speed 1 m/s, offset 1 mm: Weber number 41, impact parameter 0.33, where water \
                 drops coalesce (regimes of Ashgriz and Poo)",
        shortfall: None,
        panels: &[Panel {
            name: "physical",
            scene: "collide",
            sets: &[],
            quick: &["resolution.edge=\"0.3 mm\"", "time.duration=\"30 ms\""],
            strip: 5,
        }],
        checks: &[Check {
            measure: "drops at the end",
            panel: 0,
            value: |runs| final_drops(&runs[0]),
            bound: Between(1.0, 1.0),
        }],
    },
    Figure {
        name: "splat",
        paper: PAPER,
        number: "figure 7",
        shows: "A drop hits highly hydrophilic ground and spreads quickly.",
        stated: "highly hydrophilic",
        chosen: "diameter 3 mm at 0.6 m/s on 30°/10°: correlations of the maximal spread lie between 2.1 and 3.1",
        shortfall: None,
        panels: &[Panel {
            name: "physical",
            scene: "splat",
            sets: &[],
            quick: &["resolution.edge=\"0.3 mm\"", "time.duration=\"40 ms\""],
            strip: 5,
        }],
        checks: &[Check {
            measure: "largest diameter over the falling drop's",
            panel: 0,
            value: |runs| largest_spread(&runs[0]),
            bound: Between(2.1, 3.1),
        }],
    },
    Figure {
        name: "resting",
        paper: PAPER,
        number: "figure 8",
        shows: "Drops at rest on a plane that repels them, with surface tension coefficients 0.05, 0.2 and 1.",
        stated: "γ = 0.05, 0.2 and 1",
        chosen: "radius 2 mm, 150°/140°",
        shortfall: None,
        panels: &[
            resting("gamma-0.05", &["surface.gamma=0.05"]),
            resting("gamma-0.2", &["surface.gamma=0.2"]),
            resting("gamma-1", &["surface.gamma=1"]),
        ],
        checks: &[
            Check {
                measure: "largest speed at the end, γ = 0.05, mm/s",
                panel: 0,
                value: |runs| final_speed(&runs[0]),
                bound: AtMost(1.0),
            },
            Check {
                measure: "largest speed at the end, γ = 0.2, mm/s",
                panel: 1,
                value: |runs| final_speed(&runs[1]),
                bound: AtMost(1.0),
            },
            Check {
                measure: "largest speed at the end, γ = 1, mm/s",
                panel: 2,
                value: |runs| final_speed(&runs[2]),
                bound: AtMost(1.0),
            },
        ],
    },
    Figure {
        name: "tap",
        paper: PAPER,
        number: "figure 9",
        shows: "Three taps with γ = 0.01, 0.2 and 1: the larger the tension, the sooner the stream breaks.",
        stated: "γ = 0.01, 0.2 and 1",
        chosen: "radius 1 mm, 0.5 m/s; the stream falls out of the frame",
        shortfall: None,
        panels: &[
            tap("gamma-0.01", &["fidelity=\"paper\"", "surface.gamma=0.01"]),
            tap("gamma-0.2", &["fidelity=\"paper\"", "surface.gamma=0.2"]),
            tap("gamma-1", &["fidelity=\"paper\"", "surface.gamma=1"]),
            tap("physical", &[]),
        ],
        checks: &[
            Check {
                measure: "length of the stream, γ = 0.01 over γ = 0.2",
                panel: 0,
                value: |runs| Some(stream_length(&runs[0], OUTLET)? / stream_length(&runs[1], OUTLET)?),
                bound: AtLeast(1.0),
            },
            Check {
                measure: "length of the stream, γ = 0.2 over γ = 1",
                panel: 1,
                value: |runs| Some(stream_length(&runs[1], OUTLET)? / stream_length(&runs[2], OUTLET)?),
                bound: AtLeast(1.0),
            },
            Check {
                measure: "highest center of a drop, γ = 0.01, mm",
                panel: 0,
                value: |runs| highest_drop(&runs[0]),
                bound: AtMost(0.0),
            },
        ],
    },
    Figure {
        name: "window-drops",
        paper: PAPER,
        number: "figure 10",
        shows: "Hundreds of drops on a window grow, hold and slide at different speeds; a button pushes them.",
        stated: "90°/30°, 50 000 triangles at 30 frames per second",
        chosen: "size of the window and the drops, rain of 0.2 to 1.4 µL, path of the button; γ = 0.2",
        shortfall: None,
        panels: &[window("paper", &["fidelity=\"paper\""]), window("physical", &[])],
        checks: &[
            Check {
                measure: "drops on the window at the end",
                panel: 0,
                value: |runs| final_drops_on_solids(&runs[0], "button"),
                bound: AtLeast(300.0),
            },
            Check {
                measure: "drops that slide",
                panel: 0,
                value: |runs| sliding_drops(&runs[0]),
                bound: AtLeast(20.0),
            },
            Check {
                measure: "largest over smallest top speed of drops that slide",
                panel: 0,
                value: |runs| ratio_of_speeds(&runs[0]),
                bound: AtLeast(2.0),
            },
            Check {
                measure: "drops on the window at the end",
                panel: 1,
                value: |runs| final_drops_on_solids(&runs[1], "button"),
                bound: AtLeast(300.0),
            },
            Check {
                measure: "drops that slide",
                panel: 1,
                value: |runs| sliding_drops(&runs[1]),
                bound: AtLeast(20.0),
            },
        ],
    },
    Figure {
        name: "figurine",
        paper: PAPER,
        number: "figure 11",
        shows: "Drops rest under a curved character, drip and split.",
        stated: "least contact angle 40°, 10 frames per second",
        chosen: "the figurine, sizes and places of the drops; γ = 0.2",
        shortfall: Some(
            "Fed with 60 and 90 µL/s under its arms for 1.6 s, as in these pictures, drops run along the arms to the \
             body, and one detaches. Fed with 180 µL/s at its hands, as in the scene, three of 84 to 99 µL detach \
             within 1.6 s.",
        ),
        panels: &[figurine("paper", &["fidelity=\"paper\""]), figurine("physical", &[])],
        checks: &[
            Check { measure: "drops that detach", panel: 0, value: |runs| detachments(&runs[0]), bound: AtLeast(3.0) },
            Check {
                measure: "drops that hang at the end",
                panel: 0,
                value: |runs| final_pendant_drops(&runs[0]),
                bound: AtLeast(5.0),
            },
            Check { measure: "drops that detach", panel: 1, value: |runs| detachments(&runs[1]), bound: AtLeast(3.0) },
            Check {
                measure: "drops that hang at the end",
                panel: 1,
                value: |runs| final_pendant_drops(&runs[1]),
                bound: AtLeast(5.0),
            },
        ],
    },
    Figure {
        name: "lotus",
        paper: PAPER,
        number: "figure 12",
        shows: "About 180 drops fall onto hydrophobic leaves, bounce or roll, and gather.",
        stated: "180 drops, 30 000 triangles at 35 frames per second",
        chosen: "the leaves, drops of 0.27 to 0.9 µL within six seconds, 155°/138°; γ = 0.2",
        shortfall: None,
        panels: &[lotus("paper", &["fidelity=\"paper\""]), lotus("physical", &[])],
        checks: &[
            Check {
                measure: "drops that arrive through the air",
                panel: 0,
                value: |runs| arrivals_by_air(&runs[0]),
                bound: Between(150.0, 210.0),
            },
            Check {
                measure: "drops on the leaves at the end",
                panel: 0,
                value: |runs| final_drops_on_solids(&runs[0], "pond"),
                bound: AtLeast(100.0),
            },
            Check {
                measure: "drops on the leaves at the end",
                panel: 1,
                value: |runs| final_drops_on_solids(&runs[1], "pond"),
                bound: AtLeast(100.0),
            },
        ],
    },
];
