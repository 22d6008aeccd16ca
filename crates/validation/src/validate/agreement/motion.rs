//! The speed of a sliding drop in all four models, against tilt, viscosity and volume.
//!
//! A drop on a plane of 90°/60° starts as the level cap of 90°; gravity is tilted from the plane's
//! normal from the beginning. Its speed is that of its centroid in the last 25 ms of the same time
//! in all models, so that the transient is compared, too. Expected: the speed of the volume model,
//! which resolves the flow down to a cell and takes the rest from the law of the moving line.
//!
//! The speeds may differ by 15 %. The speed is proportional to D − H, drive less retention, and the
//! thresholds may differ by 5 % in volume, which is one of 3.3 % in H: by itself that is a
//! difference of δ = 0.033 H/(D − H) in speed. Both differences are independent, so √(0.15² + δ²)
//! is allowed. δ is 0.28 at 45° (30 µL), 0.07 at 60° and below 0.03 elsewhere.

use glam::DVec3;
use sessile_numerics::sphere_radius;
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, retention};

use super::super::volume::simulation::{Simulation, cap, material, plane};
use super::super::{Axis, Case, CaseContext, CaseError, CaseKind, CaseResult, Check, Mark, Plot, Series, Tolerance};
use super::{ANGLES, OF_SPEED, OF_THRESHOLD};
use crate::validate::common::{GRAVITY, WATER};

/// Cells across the diameter of the sphere of the drop's volume: a run takes about a minute of CPU
/// time.
const CELLS: f64 = 14.0;
/// One half of the drop, beyond the plane through its center.
const HALF: &str = "[domain]\nmin = \"-20 -3 0.031 mm\"\nmax = \"1000 30 30 mm\"\nz = \"symmetry\"\n";
/// Time over which the speed is measured, in s.
const INTERVAL: f64 = 0.025;

const ABOUT: &str = "A drop on a plane of 90°/60° that starts as the level cap, by all four models. \
                     Expected: the speed of the volume model \
                     at 14 cells across.";

pub(super) fn cases() -> Vec<Case> {
    let case =
        |name, quick, run| Case { name, model: "agreement", kind: CaseKind::Verification, quick, about: ABOUT, run };
    vec![
        case("agreement-speed-tilt", false, |context| {
            compare(context, "tilt (°)", &[45.0, 60.0, 90.0].map(|tilt| (tilt, Slide { tilt, ..VISCOUS })))
        }),
        case("agreement-speed-viscosity", false, |context| {
            compare(context, "viscosity over water's", &[1.0, 100.0].map(|times| (times, Slide { times, ..VISCOUS })))
        }),
        case("agreement-speed-volume", false, |context| {
            compare(
                context,
                "volume (µL)",
                &[25.0, 50.0].map(|microliters| (microliters, Slide { microliters, ..VISCOUS })),
            )
        }),
    ]
}

/// A sliding drop.
#[derive(Clone, Copy)]
struct Slide {
    /// Tilt, in degrees.
    tilt: f64,
    /// Viscosity over water's.
    times: f64,
    /// Volume, in µL.
    microliters: f64,
}

/// Ten times water's viscosity: the drop reaches its speed within 0.1 s.
const VISCOUS: Slide = Slide { tilt: 90.0, times: 10.0, microliters: 30.0 };

impl Slide {
    fn volume(&self) -> f64 {
        1e-9 * self.microliters
    }

    /// Time that is simulated, in s: two relaxation times m/(β w η) of water, in which it runs 90
    /// mm on a vertical pane, and ten of ten times its viscosity.
    fn time(&self) -> f64 {
        if self.times < 2.0 { 0.35 } else { 0.2 }
    }

    /// Speed in a model, in m/s.
    fn speed(&self, model: &str) -> Result<f64, CaseError> {
        let cell = 2.0 * sphere_radius(self.volume()) / CELLS;
        let (sin, cos) = self.tilt.to_radians().sin_cos();
        let text = format!(
            "model = \"{model}\"\n{}[time]\nduration = \"10 s\"\nframe = \"25 ms\"\n\
             [resolution]\ncell = \"{cell} m\"\nedge = \"{} m\"\n[world]\ngravity = \"{} {} 0 m/s^2\"\n\
             [liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"{} mm^2/s\"\nsurface_tension = \"73 mN/m\"\n{}{}{}",
            if model == "volume" { HALF } else { "" },
            0.5 * cell,
            GRAVITY * sin,
            -GRAVITY * cos.max(1e-6),
            self.times,
            material(ANGLES[0], ANGLES[1]),
            plane(DVec3::Y),
            cap(self.volume(), false, ANGLES[0])
        );
        let mut simulation = Simulation::new(&text)?;
        simulation.run(self.time() - INTERVAL)?;
        let start = simulation.largest_drop()?.centroid.x;
        simulation.run(INTERVAL)?;
        Ok((simulation.largest_drop()?.centroid.x - start) / INTERVAL)
    }

    /// Allowed relative difference of the speeds.
    fn tolerance(&self) -> Result<f64, CaseError> {
        let liquid = Liquid { viscosity: self.times * WATER.viscosity, ..WATER };
        let [advancing, receding] = ANGLES.map(f64::to_radians);
        let (sin, cos) = self.tilt.to_radians().sin_cos();
        let shape = ShapeTable::shared().rest_shape(self.volume(), advancing, GRAVITY * cos, &liquid);
        let width = 2.0 * shape.ok_or("no such drop at rest")?.base_radius;
        let held = liquid.surface_tension * width * retention::cosine_difference(&Wetting::smooth(advancing, receding));
        let drive = liquid.density * self.volume() * GRAVITY * sin;
        let of_threshold = OF_THRESHOLD * 2.0 / 3.0 * held / (drive - held);
        Ok((OF_SPEED * OF_SPEED + of_threshold * of_threshold).sqrt())
    }
}

/// Compares the speeds of all models.
fn compare(context: &CaseContext, axis: &str, slides: &[(f64, Slide)]) -> Result<CaseResult, CaseError> {
    let models = ["volume", "surface", "droplet", "pane"];
    let mut result = CaseResult::default();
    let mut curves = models.map(|_| Vec::new());
    for (at, slide) in slides {
        let tolerance = Tolerance::Relative(slide.tolerance()?);
        let mut reference = f64::NAN;
        for (model, curve) in models.into_iter().zip(&mut curves) {
            (context.report)(&format!("{axis} {at}: {model}"));
            let speed = slide.speed(model)?;
            curve.push((*at, speed));
            let name = format!("speed, {axis} {at}, {model}");
            result.checks.push(if model == "volume" {
                reference = speed;
                Check::shown(name, "m/s", speed)
            } else {
                Check::value(name, "m/s", reference, speed, tolerance)
            });
        }
    }
    result.plots.push(Plot {
        title: "Speed of a drop on a plane of 90°/60°".into(),
        x: Axis::linear(axis),
        y: Axis::linear("speed (m/s)"),
        series: models.into_iter().zip(curves).map(|(model, curve)| Series::new(model, Mark::Line, curve)).collect(),
    });
    Ok(result)
}
