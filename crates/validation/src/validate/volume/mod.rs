//! The volume model against closed forms, limits and reference values.
//!
//! Every case builds its scene from text and runs the model as a run does. Water throughout, 9.8 m/s². At full size a drop has 20 to 25 cells across the
//! diameter of the ball that holds it, in the quick subset 14 to 20. Planes and drops lie at no special place of the cells.

mod free;
mod hanging;
mod holding;
mod impact;
mod resting;
mod rising;
pub(super) mod stage;

use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};
use resting::Sessile;

/// How a case of the volume model runs.
type Run = fn(&CaseContext) -> Result<CaseResult, CaseError>;

const SESSILE: &str = "A drop set down as a hemisphere on a level plane without hysteresis comes to rest: height, base radius and liquid–air area against the \
                       Young–Laplace profile.";
const PLANAR_SESSILE: &str = "A planar drop set down as a half circle comes to rest: height and half width against the planar Young–Laplace profile.";
const TURNED: &str = "A cap of 75° on a pane of 90°/60°; gravity turns from the pane's normal into the pane within 0.3 s and stays to 1 s. 5 and 8 µL hold, the \
                      line within a cell; 30 µL run, with the advancing angle in front and the receding one behind.";

/// The volume model's cases.
pub(super) fn cases() -> Vec<Case> {
    let case = |name, quick, about, run: Run| Case { name, model: "volume", quick, about, run };
    vec![
        case("sessile-4-60", false, SESSILE, |context| {
            let tolerances = (0.035, 0.03, None);
            sessile(context, 4.0, 60.0, tolerances)
        }),
        case("sessile-4-90", false, SESSILE, |context| sessile(context, 4.0, 90.0, (0.03, 0.03, None))),
        case("sessile-4-120", true, SESSILE, |context| sessile(context, 4.0, 120.0, (0.03, 0.033, Some(0.02)))),
        case("sessile-30-60", false, SESSILE, |context| sessile(context, 30.0, 60.0, (0.038, 0.03, None))),
        case("sessile-30-90", false, SESSILE, |context| sessile(context, 30.0, 90.0, (0.03, 0.03, None))),
        case("sessile-30-150", false, SESSILE, |context| sessile(context, 30.0, 150.0, (0.03, 0.042, Some(0.02)))),
        case("sessile-10-70-zero-g", false, SESSILE, |context| {
            let drop = Sessile {
                microliters: 10.0,
                degrees: 70.0,
                gravity: 0.0,
                height: 0.031,
                base_radius: 0.03,
                max_radius: None,
            };
            resting::sessile(context, &drop)
        }),
        case("sessile2d-4-90", true, PLANAR_SESSILE, |context| resting::sessile_planar(context, 4e-6, 90.0, 0.025)),
        case("sessile2d-12-50", true, PLANAR_SESSILE, |context| resting::sessile_planar(context, 12e-6, 50.0, 0.037)),
        case(
            "sessile-angles",
            false,
            "4 µL at rest at seven contact angles: height and base radius within 1.5 % from 45° to 135° and 4 % at 30° and 150°, the angle measured \
             on the surface within 2° and 4°.",
            resting::angles,
        ),
        case(
            "sessile-any-plane",
            false,
            "The same drop on planes at 17° and 45° to the cells, gravity turned with them: within 1 % of the level one, and it does not drift.",
            resting::tilted,
        ),
        case(
            "sessile-on-sphere",
            false,
            "A weightless drop on a ball of 3 mm radius: two spheres that meet at the contact angle.",
            resting::on_sphere,
        ),
        case(
            "spurious-currents",
            false,
            "A drop at rest, its drag taken away: the largest speed within 50 ms as a capillary number.",
            resting::spurious,
        ),
        case(
            "laplace-1mm",
            false,
            "A weightless ball after five of its own times: its pressure is 2γ/R, it hardly moves, and it keeps its volume.",
            free::laplace,
        ),
        case(
            "lamb-n2-1mm",
            true,
            "A weightless drop rings in mode 2: Lamb's frequency; how fast it decays is shown.",
            free::lamb,
        ),
        case(
            "lamb2d-n2-1mm",
            true,
            "A planar drop rings in mode 2: Rayleigh's frequency in the plane.",
            free::lamb_planar,
        ),
        case(
            "fall-20mm",
            false,
            "A drop falls 20 mm: time and speed are those of any body, and it stays round.",
            free::fall,
        ),
        case(
            "coalesce-1-1",
            false,
            "Two drops that touch become one: its radius, the energy set free and the period of the late ringing.",
            free::coalesce,
        ),
        case(
            "thread-1mm",
            false,
            "A rippled thread breaks by Rayleigh and Plateau: growth rate, time of break-up, radius of the main drop.",
            free::thread,
        ),
        case(
            "tilt2d-90-60-45-stick",
            true,
            "A planar drop of 0.85 of the largest area that a slope of 45° holds (exact: γ(cos θr − cos θa)/ρg sin α) stays.",
            |context| holding::planar(context, 0.85),
        ),
        case("tilt2d-90-60-45-slide", true, "The same with 1.15 of that area slides.", |context| {
            holding::planar(context, 1.15)
        }),
        case(
            "tilt-90-30-vertical-stick",
            false,
            "12.2 µL on a wall of 90°/30°, less than the least of the published limits: they stay.",
            |context| holding::wall(context, 12.2e-9, false),
        ),
        case(
            "tilt-90-30-vertical-slide",
            false,
            "88.2 µL on the same wall, more than the largest of the published limits: they run.",
            |context| holding::wall(context, 88.2e-9, true),
        ),
        case("pane-90-60-5", false, TURNED, |context| holding::turned(context, 5.0, 0.0, false)),
        case("pane-90-60-8", false, TURNED, |context| holding::turned(context, 8.0, 0.0, false)),
        case("pane-90-60-30", false, TURNED, |context| holding::turned(context, 30.0, 0.0, true)),
        case("pane-90-60-8-at-17", false, TURNED, |context| holding::turned(context, 8.0, 17.0, false)),
        case("pane-90-60-30-at-17", false, TURNED, |context| holding::turned(context, 30.0, 17.0, true)),
        case(
            "hysteresis-20-90-40",
            false,
            "A drop is fed to 20 µL and drained: it grows at 90°, and its line lets go at the volume at which 40° is reached.",
            holding::cycle,
        ),
        case("pendant-30-90", false, "30 µL hang under a level plane at 90°: the pendant profile.", hanging::hangs),
        case("pendant-90-fall", false, "79.7 µL are more than can hang at 90°: liquid falls.", hanging::falls),
        case(
            "drip-1mm",
            false,
            "A drop is fed under a rod of 1 mm radius until it falls: its volume against Harkins and Brown's table. Fed faster than the slow drip \
             of the table, from a drop that hangs already.",
            hanging::drips,
        ),
        case(
            "jurin-plates-1mm-30",
            false,
            "A bath rises between plates 1 mm apart at 30°: Jurin's height.",
            rising::between_plates,
        ),
        case(
            "wall-meniscus-30",
            true,
            "A bath climbs a wall of 30°: the height of the line over the far level.",
            rising::up_a_wall,
        ),
        case(
            "impact-2.5mm-1ms-90",
            false,
            "A drop of 2.5 mm hits a dry plate of 90° at 1 m/s: the largest width within the range of published correlations.",
            impact::impact,
        ),
        case("impact-recoil-150", false, "The same on 150°: it spreads, draws back and beads up.", impact::recoil),
        case(
            "volume-books",
            true,
            "Drops fall on a slope, merge, run and leave: what came in is there or lost, to 1e-3.",
            impact::books,
        ),
    ]
}

fn sessile(
    context: &CaseContext,
    microliters: f64,
    degrees: f64,
    (height, base_radius, max_radius): (f64, f64, Option<f64>),
) -> Result<CaseResult, CaseError> {
    let drop = Sessile { microliters, degrees, gravity: stage::GRAVITY, height, base_radius, max_radius };
    resting::sessile(context, &drop)
}
