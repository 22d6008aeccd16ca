//! Figures of Algan et al. (algan).

use super::Bound::{AtLeast, Between};
use super::{Check, Figure, Panel, Paper};
use crate::measures::{final_drops, merges, wet_over_mean_gray, wet_route_share};

const PAPER: Paper = Paper::Algan;

pub const FIGURES: &[Figure] = &[
    Figure {
        name: "merge",
        paper: PAPER,
        number: "figures 2 and 3",
        shows: "A drop slides onto another one and merges with it.",
        stated: "–",
        chosen: "volumes and places of the drops",
        shortfall: None,
        panels: &[
            Panel { name: "physical", scene: "merge", sets: &[], quick: &[], strip: 5 },
            Panel {
                name: "paper",
                scene: "merge",
                sets: &["fidelity=\"paper\"", "pane.pass=\"16 ms\"", "pane.static_weight=\"10 uL\""],
                quick: &[],
                strip: 5,
            },
        ],
        checks: &[
            Check { measure: "merges", panel: 0, value: |runs| merges(&runs[0]), bound: Between(1.0, 2.0) },
            Check { measure: "merges", panel: 1, value: |runs| merges(&runs[1]), bound: Between(1.0, 2.0) },
        ],
    },
    Figure {
        name: "streams",
        paper: PAPER,
        number: "section 3",
        shows: "Algorithm 1: drops choose the neighboring cell by weight and affinity, meander down and merge.",
        stated: "Algorithm 1",
        chosen: "cells of 2 mm, critical weights 4 and 2 µL, residue 0.15 µL",
        shortfall: None,
        panels: &[Panel { name: "paper", scene: "streams", sets: &[], quick: &["time.duration=\"4 s\""], strip: 4 }],
        checks: &[
            Check { measure: "merges", panel: 0, value: |runs| merges(&runs[0]), bound: AtLeast(10.0) },
            Check { measure: "drops at the end", panel: 0, value: |runs| final_drops(&runs[0]), bound: AtLeast(50.0) },
        ],
    },
    Figure {
        name: "fine-grid",
        paper: PAPER,
        number: "section 2, the finer grid",
        shows: "Along the whole route of a move the advancing front follows impurities within the size of a drop.",
        stated: "a finer grid on the route of a droplet",
        chosen: "cells of 4 mm with 5 × 5 fine spots, a pass every 120 ms",
        shortfall: None,
        panels: &[Panel { name: "paper", scene: "fine-grid", sets: &[], quick: &[], strip: 4 }],
        checks: &[Check {
            measure: "wet rows of fine spots between the first and the last",
            panel: 0,
            value: |runs| wet_route_share(&runs[0], "pane"),
            bound: AtLeast(1.0),
        }],
    },
    Figure {
        name: "affinity",
        paper: PAPER,
        number: "section 4.2",
        shows: "Drops move to the cell that likes water the most: streams follow the pattern of affinity.",
        stated: "Algorithm 1",
        chosen: "an image with three winding channels, cells of 1.5 mm",
        shortfall: None,
        panels: &[Panel { name: "paper", scene: "affinity", sets: &[], quick: &["time.duration=\"4 s\""], strip: 4 }],
        checks: &[Check {
            measure: "mean affinity image under wet spots over the image's mean",
            panel: 0,
            value: |runs| wet_over_mean_gray(&runs[0], "pane", "builtin:affinity.png"),
            bound: AtLeast(1.2),
        }],
    },
];
