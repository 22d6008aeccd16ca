//! Moving contact lines: speeds that do not depend on the grid.

use glam::DVec3;
use sessile_wetting::{Liquid, moving_line, sliding};

use super::simulation::{GRAVITY, Simulation, WATER, cap, material, plane};
use super::{Case, CaseContext, CaseError, CaseResult, Check, Tolerance, quick, slow};

/// Area of the planar drop, in m², and its viscosity over water's.
const AREA: f64 = 9e-6;
const TIMES: f64 = 10.0;
/// Allowed difference of a speed from that on the finest grid.
const OF_FINEST: f64 = 0.1;
/// Allowed difference from the sliding law, whose outer length is known up to a number of order
/// one: a factor e changes Λ = 13 by 8 %, and the angles that a moving line has change m by as
/// much.
const OF_LAW: f64 = 0.16;

pub(super) fn cases() -> Vec<Case> {
    vec![
        quick(
            "sliding2d-grid",
            "A planar drop of ten times the viscosity of water on a slope of 45° of 90°/60°, at 12, 18 and 26 cells across. \
             Expected: the same \
         speed within 10 %, and that of the wedge's dissipation from the slip length on.",
            sliding,
        ),
        slow(
            "tanner-10",
            "10 µL of twenty times the viscosity of water spread on 10° from a cap of 60°, without gravity, \
             at 12, 18 and 26 cells across. \
         Expected: the same radius within 10 %, R ∝ t^0.1, and the speed of a drop whose wedge ends at R/2e² (Voinov).",
            spreading,
        ),
    ]
}

/// Speed of the planar drop with `cells` across the disc of its area after 60 ms, in m/s.
fn planar_speed(cells: f64) -> Result<f64, CaseError> {
    let cell = 2.0 * (AREA / std::f64::consts::PI).sqrt() / cells;
    let along = GRAVITY * std::f64::consts::FRAC_1_SQRT_2;
    let text = format!(
        "model = \"volume\"\n[time]\nduration = \"1 s\"\nframe = \"20 ms\"\n[resolution]\ncell = \"{cell} m\"\n\
         [world]\nplanar = true\ngravity = \"{along} {} 0 m/s^2\"\n\
         [liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"{TIMES} mm^2/s\"\nsurface_tension = \"73 mN/m\"\n{}{}{}",
        -along,
        material(90.0, 60.0),
        plane(DVec3::Y),
        cap(AREA, true, 75.0)
    );
    let mut simulation = Simulation::new(&text)?;
    simulation.run(0.04)?;
    let start = simulation.only_drop()?.centroid.x;
    simulation.run(0.02)?;
    Ok((simulation.only_drop()?.centroid.x - start) / 0.02)
}

/// Speed at which the drive is the retention and the friction of the wedges and of the plate, per
/// depth: η U (Λ [m(θa) + m(θr)] + 0.664 √(Uw/ν)), in m/s.
fn law_speed(width: f64) -> f64 {
    let [advancing, receding] = [90.0, 60.0].map(f64::to_radians);
    let drive = WATER.density * AREA * GRAVITY * std::f64::consts::FRAC_1_SQRT_2;
    let surplus = drive - WATER.surface_tension * (f64::cos(receding) - f64::cos(advancing));
    let (dynamic, kinematic) = (TIMES * WATER.dynamic_viscosity(), TIMES * WATER.viscosity);
    let wedges = sliding::cutoff_logarithm(width)
        * (sliding::wedge_dissipation(advancing) + sliding::wedge_dissipation(receding));
    // The friction grows with the speed, so this converges.
    (0..50).fold(0.0, |speed: f64, _| surplus / (dynamic * (wedges + 0.664 * (speed * width / kinematic).sqrt())))
}

fn sliding(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let grids: &[f64] = if context.quick { &[18.0, 12.0] } else { &[26.0, 18.0, 12.0] };
    let mut finest = f64::NAN;
    for &cells in grids {
        (context.report)(&format!("{cells} cells"));
        let speed = planar_speed(cells)?;
        if finest.is_nan() {
            finest = speed;
            // The base of a drop on this slope, between those at the two angles.
            let law = law_speed(6.4e-3);
            result.checks.push(Check::value("speed and sliding law", "m/s", law, speed, Tolerance::Relative(OF_LAW)));
        } else {
            let name = format!("speed at {cells} cells across and on the finest grid");
            result.checks.push(Check::value(name, "m/s", finest, speed, Tolerance::Relative(OF_FINEST)));
        }
    }
    Ok(result)
}

/// Times between which the exponent is measured, in s.
const SPREADING: [f64; 3] = [0.02, 0.04, 0.06];
/// Allowed difference from Tanner's exponent: at 20 ms R¹⁰ contains 0.15 of its value at the start.
const OF_EXPONENT: f64 = 0.015;
/// Allowed difference from Voinov's speed: third order in an angle of 30°.
const OF_SPREADING_SPEED: f64 = 0.15;

/// Base radius of a quarter of the spreading drop at [`SPREADING`], in m.
fn spreading_radii(cells: f64) -> Result<[f64; 3], CaseError> {
    let cell = 2.673e-3 / cells;
    let text = format!(
        "model = \"volume\"\n[time]\nduration = \"1 s\"\nframe = \"20 ms\"\n[resolution]\ncell = \"{cell} m\"\n\
         [world]\ngravity = \"0 0 0 m/s^2\"\n\
         [domain]\nmin = \"0 -1.013 0 mm\"\nmax = \"40 30 40 mm\"\nx = \"symmetry\"\nz = \"symmetry\"\n\
         [liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"20 mm^2/s\"\nsurface_tension = \"73 mN/m\"\n{}\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 0 0 mm\"\nnormal = [0, 1, 0]\n\
         [[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"0 0 0 mm\"\nvolume = \"10 uL\"\ncontact_angle = \"60 deg\"\n",
        material(10.0, 10.0)
    );
    let mut simulation = Simulation::new(&text)?;
    let mut radii = [0.0; 3];
    for (radius, time) in radii.iter_mut().zip(SPREADING) {
        simulation.run(time - simulation.time())?;
        *radius = simulation.wetted_extent(simulation.only_drop()?.id, DVec3::X)?[1];
    }
    Ok(radii)
}

fn spreading(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let mut finest = f64::NAN;
    for cells in [26.0, 18.0, 12.0] {
        (context.report)(&format!("{cells} cells"));
        let [early, middle, late] = spreading_radii(cells)?;
        let exponent = (late / early).ln() / (SPREADING[2] / SPREADING[0]).ln();
        let name = format!("exponent at {cells} cells across");
        result.checks.push(Check::value(name, "", 0.1, exponent, Tolerance::Absolute(OF_EXPONENT)));
        if finest.is_nan() {
            finest = late;
            let (radius, speed) = (0.5 * (middle + late), (late - middle) / (SPREADING[2] - SPREADING[1]));
            let liquid = Liquid { viscosity: 2e-5, ..WATER };
            let angle = 4.0 * 10e-9 / (std::f64::consts::PI * radius.powi(3));
            let growth = (angle.powi(3) - 10f64.to_radians().powi(3)) / 9.0;
            let logarithm = (radius / (2.0 * std::f64::consts::E.powi(2) * moving_line::SLIP_LENGTH)).ln();
            let law = liquid.surface_tension / liquid.dynamic_viscosity() * growth / logarithm;
            let within = Tolerance::Relative(OF_SPREADING_SPEED);
            result.checks.push(Check::value("speed at 50 ms and Voinov's", "mm/s", 1e3 * law, 1e3 * speed, within));
        } else {
            let name = format!("radius at {cells} cells across and on the finest grid");
            result.checks.push(Check::value(name, "mm", 1e3 * finest, 1e3 * late, Tolerance::Relative(OF_FINEST)));
        }
    }
    Ok(result)
}
