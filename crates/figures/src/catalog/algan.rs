//! Figures of Algan et al. (algan).

use super::Bound::{AtLeast, Between};
use super::{Check, Figure, Panel, Paper};
use crate::measures::{final_drops, merges};

const PAPER: Paper = Paper::Algan;

pub const FIGURES: &[Figure] = &[
    Figure {
        name: "merge",
        paper: PAPER,
        number: "figures 2 and 3",
        shows: "A drop slides onto another one and merges with it.",
        stated: "–",
        chosen: "volumes and places of the drops",
        panels: &[
            Panel { name: "physical", scene: "merge", sets: &[], quick: &[], strip: 5 },
            Panel { name: "paper", scene: "merge", sets: &["fidelity=\"paper\""], quick: &[], strip: 5 },
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
        panels: &[Panel { name: "paper", scene: "streams", sets: &[], quick: &["time.duration=\"4 s\""], strip: 4 }],
        checks: &[
            Check { measure: "merges", panel: 0, value: |runs| merges(&runs[0]), bound: AtLeast(10.0) },
            Check { measure: "drops at the end", panel: 0, value: |runs| final_drops(&runs[0]), bound: AtLeast(50.0) },
        ],
    },
];
