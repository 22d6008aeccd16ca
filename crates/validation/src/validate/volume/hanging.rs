//! Drops that hang, fall and drip.

use glam::DVec3;
use sessile_wetting::{capillary, pendant};

use super::stage::{Basics, GRAVITY, WATER, ball_radius, cap, capillary_length, material, own_time, plane};
use super::{CaseContext, CaseError, CaseResult, Check, Tolerance};

pub(super) fn hangs(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 30e-9;
    let expected = pendant::pendant(volume, 90f64.to_radians(), capillary_length()).ok_or("no such drop")?;
    let cell = 2.0 * ball_radius(volume) / if context.quick { 14.0 } else { 22.0 };
    let text = material(90.0, 90.0) + &plane(DVec3::NEG_Y) + &cap(volume, false, 90.0);
    let mut stage = Basics::new(cell).settling().stage(&text)?;
    let time = own_time(ball_radius(volume));
    stage.rest(time, 25.0 * time)?;
    let drop = stage.only_drop()?;
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

pub(super) fn falls(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let volume = 79.7e-9;
    let cell = 2.0 * ball_radius(volume) / if context.quick { 14.0 } else { 20.0 };
    let text = material(90.0, 90.0) + &plane(DVec3::NEG_Y) + &cap(volume, false, 90.0);
    let mut stage = Basics::new(cell).stage(&text)?;
    let (mut fallen, mut at) = (0.0, f64::NAN);
    while stage.time() < 0.5 {
        stage.run(5e-3)?;
        let free = stage.measures()?.drops.into_iter().filter(|drop| drop.on.is_none());
        fallen = free.map(|drop| drop.volume).fold(0.0, f64::max);
        if fallen > 0.1 * volume {
            at = stage.time();
            break;
        }
    }
    let checks = vec![
        Check::holds("liquid falls within half a second", at.is_finite()),
        Check::shown("time of fall", "ms", 1e3 * at),
        Check::shown("part of it that falls", "", fallen / volume),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// A drop grows under the end of a rod of 1 mm radius until it falls.
pub(super) fn drips(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let radius = 1e-3;
    let cell = radius / if context.quick { 5.0 } else { 7.0 };
    // The line is held at the rim: neither angle is reached on the rod's end or side.
    let (hanging, rate) = (24e-9, 60e-9);
    let ball = ball_radius(hanging);
    let text = format!(
        "{}[[solids]]\nname = \"rod\"\nmaterial = \"m\"\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"0 5 0 mm\"\nradius = \"{radius} m\"\n\
         [[drops]]\ncenter = \"0 {} 0 m\"\nvolume = \"{hanging} m^3\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0 -0.8 0 mm\"\nrate = \"{rate} m^3/s\"\n",
        material(150.0, 10.0),
        // The ball reaches just up to the rod's rim.
        -(ball * ball - radius * radius).sqrt()
    );
    let mut stage = Basics::new(cell).stage(&text)?;
    let mut fallen = f64::NAN;
    while stage.time() < 0.6 {
        stage.run(5e-3)?;
        let measures = stage.measures()?;
        let free: f64 = measures.drops.iter().filter(|drop| drop.on.is_none()).map(|drop| drop.volume).sum();
        let hangs = measures.drops.iter().any(|drop| drop.on.is_some());
        if free > 5e-9 && hangs {
            // Satellites follow within some milliseconds.
            stage.run(5e-3)?;
            let drops = stage.measures()?.drops;
            fallen = drops.iter().filter(|drop| drop.on.is_none()).map(|drop| drop.volume).sum();
            break;
        }
    }
    let middle = capillary::dripping_volume(&WATER, radius, GRAVITY);
    let checks = vec![Check::range("volume that falls", "µL", 1e9 * 0.89 * middle, 1e9 * 1.11 * middle, 1e9 * fallen)];
    Ok(CaseResult { checks, plots: Vec::new() })
}
