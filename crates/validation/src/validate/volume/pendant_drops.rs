//! Pendant drops: shape, detachment, dripping.

use glam::DVec3;
use sessile_numerics::sphere_radius;
use sessile_wetting::{capillary, pendant};

use super::simulation::{Basics, GRAVITY, WATER, cap, capillary_length, inertial_time, material, plane};
use super::{Case, CaseContext, CaseError, CaseResult, Check, Tolerance, slow, validation};

pub(super) fn cases() -> Vec<Case> {
    vec![
        slow("pendant-30-90", "30 µL hang from a level plane at 90°. Expected: the pendant profile.", hangs),
        slow(
            "pendant-90-fall",
            "79.7 µL are above the limit of stable pendant drops at 90°. Expected: liquid falls.",
            falls,
        ),
        validation(
            "drip-1mm",
            "A drop is fed under a rod of 1 mm radius until it falls. Expected: the volume in the table of Harkins and Brown. Fed faster than in \
             those measurements, from a drop that hangs already.",
            drips,
        ),
    ]
}

fn hangs(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 30e-9;
    let expected = pendant::pendant(volume, 90f64.to_radians(), capillary_length()).ok_or("no such drop")?;
    let cell = 2.0 * sphere_radius(volume) / if context.quick { 14.0 } else { 22.0 };
    let text = material(90.0, 90.0) + &plane(DVec3::NEG_Y) + &cap(volume, false, 90.0);
    let mut simulation = Basics::new(cell).settling().simulation(&text)?;
    let time = inertial_time(sphere_radius(volume));
    simulation.rest(time, 25.0 * time)?;
    let drop = simulation.only_drop()?;
    let checks = vec![
        Check::holds("it hangs", drop.on.is_some()),
        Check::value("height", "mm", 1e3 * expected.height, 1e3 * drop.height, Tolerance::Relative(0.04)),
        Check::value(
            "base radius",
            "mm",
            1e3 * expected.base_radius,
            1e3 * drop.base_radius,
            Tolerance::Relative(0.04),
        ),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

fn falls(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 79.7e-9;
    let cell = 2.0 * sphere_radius(volume) / if context.quick { 14.0 } else { 20.0 };
    let text = material(90.0, 90.0) + &plane(DVec3::NEG_Y) + &cap(volume, false, 90.0);
    let mut simulation = Basics::new(cell).simulation(&text)?;
    let (mut fallen, mut at) = (0.0, f64::NAN);
    while simulation.time() < 0.5 {
        simulation.run(5e-3)?;
        let free = simulation.measures()?.drops.into_iter().filter(|drop| drop.on.is_none());
        fallen = free.map(|drop| drop.volume).fold(0.0, f64::max);
        if fallen > 0.1 * volume {
            at = simulation.time();
            break;
        }
    }
    let checks = vec![
        Check::holds("liquid falls within half a second", at.is_finite()),
        Check::shown("time of fall", "ms", 1e3 * at),
        Check::shown("fraction that falls", "", fallen / volume),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// A drop grows under the end of a rod of 1 mm radius until it falls.
fn drips(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let radius = 1e-3;
    let cell = radius / if context.quick { 5.0 } else { 7.0 };
    // The contact line is pinned at the rim: neither angle is reached on the end or the side of the
    // rod.
    let (hanging, rate) = (24e-9, 60e-9);
    let ball = sphere_radius(hanging);
    let text = format!(
        "{}[[solids]]\nname = \"rod\"\nmaterial = \"m\"\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"0 5 0 mm\"\nradius = \"{radius} m\"\n\
         [[drops]]\ncenter = \"0 {} 0 m\"\nvolume = \"{hanging} m^3\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0 -0.8 0 mm\"\nrate = \"{rate} m^3/s\"\n",
        material(150.0, 10.0),
        // The sphere just touches the rim of the rod.
        -(ball * ball - radius * radius).sqrt()
    );
    let mut simulation = Basics::new(cell).simulation(&text)?;
    let mut fallen = f64::NAN;
    while simulation.time() < 0.6 {
        simulation.run(5e-3)?;
        let measures = simulation.measures()?;
        let free: f64 = measures.drops.iter().filter(|drop| drop.on.is_none()).map(|drop| drop.volume).sum();
        let hangs = measures.drops.iter().any(|drop| drop.on.is_some());
        if free > 5e-9 && hangs {
            // Satellite drops follow within some milliseconds.
            simulation.run(5e-3)?;
            let drops = simulation.measures()?.drops;
            fallen = drops.iter().filter(|drop| drop.on.is_none()).map(|drop| drop.volume).sum();
            break;
        }
    }
    let middle = capillary::dripping_volume(&WATER, radius, GRAVITY);
    let checks =
        vec![Check::range("volume of the falling drop", "µL", 1e9 * 0.89 * middle, 1e9 * 1.11 * middle, 1e9 * fallen)];
    Ok(CaseResult { checks, plots: Vec::new() })
}
