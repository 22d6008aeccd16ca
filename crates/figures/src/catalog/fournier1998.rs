//! Figures and animations of Fournier, Habibi and Poulin (fournier1998).

use glam::DVec3;

use super::Bound::{AtLeast, AtMost, Between};
use super::{Check, Figure, Panel, Paper};
use crate::measures::{SlippingOff, aspect, distance_slid, lowest_departure, mass_ratio, merges, top_speed};

const PAPER: Paper = Paper::Fournier1998;

const fn paper(scene: &'static str, quick: &'static [&'static str], strip: usize) -> Panel {
    Panel { name: "paper", scene, sets: &[], quick, strip }
}

/// A sphere of the scene `adhesion` at x (in m).
fn sphere(solid: &'static str, x: f64, adhesion: f64) -> SlippingOff {
    SlippingOff { solid, center: DVec3::new(x, 0.0, 0.0), radius: 0.012, adhesion, friction: 5e-6 }
}

pub const FIGURES: &[Figure] = &[
    Figure {
        name: "masses",
        paper: PAPER,
        number: "animation “Droplets of Different Masses”",
        shows: "Droplets with masses from 1 to 4 run down a slope at different speeds and merge.",
        stated: "mass ratio 1 to 4",
        chosen: "volumes from 3 to 12 µL, slope of 53°, friction 3 g/s, bumps of 0.3 mm",
        shortfall: None,
        panels: &[paper("masses", &[], 4)],
        checks: &[
            Check { measure: "merges", panel: 0, value: |runs| merges(&runs[0]), bound: AtLeast(3.0) },
            Check {
                measure: "ratio of the masses",
                panel: 0,
                value: |runs| mass_ratio(&runs[0]),
                bound: Between(3.95, 4.05),
            },
        ],
    },
    Figure {
        name: "viscosities",
        paper: PAPER,
        number: "animation “Droplets of Different Viscosities”",
        shows: "Three plates with viscosities 1, 10 and 100: three speeds.",
        stated: "ratios of the viscosities",
        chosen: "friction 0.3, 3 and 30 g/s; speeds follow from m g sin α/k_f",
        shortfall: None,
        panels: &[paper("viscosities", &[], 4)],
        checks: &[
            Check {
                measure: "speed of 18 µL on the second plate over the third",
                panel: 0,
                value: |runs| Some(top_speed(&runs[0], 5)? / top_speed(&runs[0], 9)?),
                bound: Between(8.0, 12.0),
            },
            Check {
                measure: "speed of 18 µL on the first plate over the second",
                panel: 0,
                value: |runs| Some(top_speed(&runs[0], 1)? / top_speed(&runs[0], 5)?),
                bound: Between(8.0, 12.0),
            },
        ],
    },
    Figure {
        name: "adhesion",
        paper: PAPER,
        number: "animation “Different Adhesions”",
        shows: "Droplets slide off spheres; the larger the adhesion the later they leave.",
        stated: "adhesion from 0 to 10",
        chosen: "spheres of 12 mm radius, droplets of 0.7 µL, adhesion 0, 3, 6 and 10 Pa",
        shortfall: None,
        panels: &[paper("adhesion", &[], 4)],
        checks: &[
            Check {
                measure: "mean leaving angle at 0 Pa less that of the law, degrees",
                panel: 0,
                value: |runs| sphere("sphere0", -0.045, 0.0).error(&runs[0]),
                bound: Between(-3.0, 3.0),
            },
            Check {
                measure: "mean leaving angle at 3 Pa less that of the law, degrees",
                panel: 0,
                value: |runs| sphere("sphere3", -0.015, 3.0).error(&runs[0]),
                bound: Between(-3.0, 3.0),
            },
            Check {
                measure: "mean leaving angle at 6 Pa less that of the law, degrees",
                panel: 0,
                value: |runs| sphere("sphere6", 0.015, 6.0).error(&runs[0]),
                bound: Between(-3.0, 3.0),
            },
            Check {
                measure: "mean leaving angle at 10 Pa less that of the law, degrees",
                panel: 0,
                value: |runs| sphere("sphere10", 0.045, 10.0).error(&runs[0]),
                bound: Between(-3.0, 3.0),
            },
        ],
    },
    Figure {
        name: "roughness",
        paper: PAPER,
        number: "animation “Different Roughnesses”",
        shows: "On the roughest of three plates small droplets barely move; a later droplet follows a streak and merges.",
        stated: "three roughnesses",
        chosen: "bumps of 0.1, 0.6 and 1.1 mm, friction 6 g/s",
        shortfall: None,
        panels: &[paper("roughness", &[], 4)],
        checks: &[
            Check {
                measure: "distance of the smallest droplet on the roughest plate, mm",
                panel: 0,
                value: |runs| distance_slid(&runs[0], 9),
                bound: AtMost(5.0),
            },
            Check { measure: "merges", panel: 0, value: |runs| merges(&runs[0]), bound: AtLeast(1.0) },
        ],
    },
    Figure {
        name: "tear",
        paper: PAPER,
        number: "animation “Tear”",
        shows: "Tears run from the eyes of a face, around its features, and leave at the chin.",
        stated: "–",
        chosen: "the mask, sizes of the tears",
        shortfall: None,
        panels: &[paper("tear", &["time.duration=\"2 s\""], 4)],
        checks: &[Check {
            measure: "lowest place where a tear leaves the mask, mm",
            panel: 0,
            value: |runs| lowest_departure(&runs[0]),
            bound: AtMost(-80.0),
        }],
    },
    Figure {
        name: "shapes",
        paper: PAPER,
        number: "figures 5 and 6",
        shows: "Droplets under forces straight down, to the left and to the right; heavier ones are flatter.",
        stated: "mass–spring shapes with constraints a to d",
        chosen: "4, 16 and 40 µL",
        shortfall: None,
        panels: &[
            Panel { name: "side", scene: "shapes", sets: &[], quick: &[], strip: 4 },
            Panel { name: "top", scene: "shapes-top", sets: &[], quick: &[], strip: 4 },
        ],
        checks: &[
            Check {
                measure: "height over base of 4 µL divided by that of 40 µL",
                panel: 0,
                value: |runs| Some(aspect(&runs[0], 1, 0.5)? / aspect(&runs[0], 3, 0.5)?),
                bound: AtLeast(1.1),
            },
            Check {
                measure: "height over base of hanging 40 µL divided by that of sitting 40 µL",
                panel: 0,
                value: |runs| Some(aspect(&runs[0], 3, 3.8)? / aspect(&runs[0], 3, 0.5)?),
                bound: AtLeast(1.1),
            },
        ],
    },
    Figure {
        name: "illumination",
        paper: PAPER,
        number: "figures 7 and 8",
        shows: "Light at the base of a droplet, its highlight and the light inside it, from three directions.",
        stated: "the light turns about the droplet",
        chosen: "a path-traced droplet of 20 µL instead of a texture; directions 60° and 30° above the table, and behind",
        shortfall: None,
        panels: &[
            light("light from the right, 60°", &["lights.sun.direction=[0.5, 0.87, 0]"]),
            light("light from the right, 30°", &["lights.sun.direction=[0.87, 0.5, 0]"]),
            light("light from behind", &["lights.sun.direction=[-0.4, 0.5, -0.77]"]),
        ],
        checks: &[Check {
            measure: "height over base of 20 µL",
            panel: 0,
            value: |runs| aspect(&runs[0], 1, 0.1),
            bound: Between(0.3, 1.0),
        }],
    },
    Figure {
        name: "streak",
        paper: PAPER,
        number: "figure 9",
        shows: "A droplet and its streak, the normals of which are bent at its edges.",
        stated: "darker and more specular below the streak, normals along its edges",
        chosen: "14 µL on a slope of 37°; the streak is drawn as a film of 50 µm",
        shortfall: None,
        panels: &[paper("streak", &[], 3)],
        checks: &[Check {
            measure: "length of the streak, mm",
            panel: 0,
            value: |runs| distance_slid(&runs[0], 1),
            bound: AtLeast(10.0),
        }],
    },
];

const fn light(name: &'static str, sets: &'static [&'static str]) -> Panel {
    Panel { name, scene: "illumination", sets, quick: &[], strip: 1 }
}
