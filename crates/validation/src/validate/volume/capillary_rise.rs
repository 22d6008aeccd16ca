//! Capillary rise between plates, and the meniscus at a wall.

use sessile_wetting::capillary;

use super::simulation::{Basics, GRAVITY, WATER, capillary_length, enclosed_volume, material};
use super::{Case, CaseContext, CaseError, CaseResult, Check, Tolerance, quick, slow};

pub(super) fn cases() -> Vec<Case> {
    vec![
        slow(
            "jurin-plates-1mm-30",
            "Liquid rises between plates 1 mm apart at 30°. Expected: Jurin's height.",
            between_plates,
        ),
        quick(
            "wall-meniscus-30",
            "Meniscus at a wall of 30°. Expected: the height of the contact line above the far level.",
            wall_meniscus,
        ),
    ]
}

/// The right half of plates 1 mm apart in a bath: symmetry planes in the middle of the gap and at
/// the end of the bath.
fn between_plates(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (gap, degrees) = (1e-3, 30.0f64);
    let cell = gap / if context.quick { 10.0 } else { 20.0 };
    let expected = capillary::rise_between_plates(&WATER, degrees.to_radians(), gap, GRAVITY);
    // The plate has 30° towards the gap and 90° towards the bath, so that the bath is level.
    let text = format!(
        "{}[materials.even]\nadvancing = \"90 deg\"\n\
         [domain]\nmin = \"0 -3 -1 mm\"\nmax = \"4.5 17 1 mm\"\nx = \"symmetry\"\ny = \"wall\"\n\
         [[solids]]\nname = \"inner\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"0.5 -1.5 -5 mm\"\nmax = \"0.9 30 5 mm\"\n\
         [[solids]]\nname = \"outer\"\nmaterial = \"even\"\nshape = \"box\"\nmin = \"0.8 -1.5 -5 mm\"\nmax = \"1.2 30 5 mm\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-1 -4 -1 mm\"\nmax = \"6 1.5 1 mm\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-1 0 -1 mm\"\nmax = \"0.6 10 1 mm\"\n",
        material(degrees, degrees)
    );
    let mut simulation = Basics::new(cell).planar().settling().simulation(&text)?;
    simulation.rest(5e-3, if context.quick { 0.25 } else { 0.4 })?;
    let surface = simulation.surface()?;
    // Area of the liquid between the plates; the level of the bath is measured far from the plate.
    let level = surface.positions.iter().filter(|place| place.x > 4e-3).map(|place| place.y).fold(f64::MIN, f64::max);
    let corners =
        surface.triangles.iter().zip(&surface.solids).filter(|(_, solid)| **solid < 0).flat_map(|(corners, _)| {
            let places = corners.map(|corner| surface.positions[corner as usize]);
            let normal = (places[1] - places[0]).cross(places[2] - places[0]);
            // Without the end faces of the slab.
            if normal.z.abs() < 0.5 * normal.length() { places.to_vec() } else { Vec::new() }
        });
    let column =
        corners.filter(|place| place.x > 0.2 * cell && place.x < 0.5 * gap - 0.2 * cell && place.y > level + 1e-3);
    let lowest_top = column.map(|place| place.y).fold(f64::INFINITY, f64::min);
    let radius = 0.5 * gap / degrees.to_radians().cos();
    // Above its lowest point the meniscus is almost a circular arc: its area over the half gap.
    let half = 0.5 * gap;
    let above = |x: f64| radius - (radius * radius - x * x).sqrt();
    let steps = 200;
    let arc: f64 =
        (0..steps).map(|i| above(half * (f64::from(i) + 0.5) / f64::from(steps))).sum::<f64>() / f64::from(steps);
    let height = lowest_top + arc - level;
    let present = enclosed_volume(&surface) / cell;
    let checks = vec![
        Check::value("mean height", "mm", 1e3 * expected, 1e3 * height, Tolerance::Relative(0.05)),
        Check::shown("liquid present", "mm²", 1e6 * present),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// A bath of six capillary lengths against a wall of 30°.
fn wall_meniscus(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let degrees = 30.0f64;
    let cell = if context.quick { 0.2e-3 } else { 0.1e-3 };
    let expected = capillary::meniscus_height(&WATER, degrees.to_radians(), GRAVITY);
    let width = 1e3 * 6.5 * capillary_length();
    let text = format!(
        "{}[domain]\nmin = \"-2 -3 -1 mm\"\nmax = \"{width} 8 1 mm\"\nx = \"symmetry\"\ny = \"wall\"\n\
         [[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-6 -6 -5 mm\"\nmax = \"0.013 30 5 mm\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-1 -4 -1 mm\"\nmax = \"{} 0 1 mm\"\n",
        material(degrees, degrees),
        width + 1.0
    );
    let mut simulation = Basics::new(cell).planar().settling().simulation(&text)?;
    simulation.rest(5e-3, 0.4)?;
    let surface = simulation.surface()?;
    let top = surface.positions.iter().filter(|place| place.y > -2e-3);
    let far = 1e-3 * (width - 1.0);
    let level = top.clone().filter(|place| place.x > far).map(|place| place.y).fold(f64::MIN, f64::max);
    let line = top.filter(|place| place.x < 0.013e-3 + 0.5 * cell).map(|place| place.y).fold(f64::MIN, f64::max);
    let checks = vec![Check::value(
        "height of the contact line above the far level",
        "mm",
        1e3 * expected,
        1e3 * (line - level),
        Tolerance::Absolute(0.12),
    )];
    Ok(CaseResult { checks, plots: Vec::new() })
}
