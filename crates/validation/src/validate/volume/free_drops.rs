//! Drops without a solid: pressure, oscillation, fall, coalescence, and break-up of a ligament.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};
use sessile_numerics::sphere_radius;
use sessile_wetting::{capillary, waves};

use super::simulation::{Basics, GRAVITY, Simulation, WATER, inertial_time};
use super::{Axis, Case, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance, quick, slow};

pub(super) fn cases() -> Vec<Case> {
    vec![
        slow(
            "laplace-1mm",
            "A sphere without gravity after five inertial-capillary times. Expected: pressure 2γ/R, almost no motion, constant volume.",
            laplace,
        ),
        quick(
            "lamb-n2-1mm",
            "A drop without gravity oscillates in mode 2. Expected: Lamb's frequency and decay rate.",
            lamb,
        ),
        quick(
            "lamb2d-n2-1mm",
            "A planar drop oscillates in mode 2. Expected: Rayleigh's frequency and Lamb's decay rate in two dimensions.",
            lamb_planar,
        ),
        slow("fall-20mm", "A drop falls 20 mm. Expected: time and speed of free fall, and a spherical shape.", fall),
        slow(
            "coalesce-1-1",
            "Two drops that touch become one. Expected: its radius, the energy released and the period of the late oscillation.",
            coalesce,
        ),
        slow(
            "thread-1mm",
            "A perturbed ligament breaks up (Rayleigh–Plateau). Expected: growth rate, time of break-up, radius of the main drop.",
            thread,
        ),
    ]
}

/// Radius of the drops, in m.
const RADIUS: f64 = 1e-3;

fn cell(context: &CaseContext) -> f64 {
    2.0 * RADIUS / if context.quick { 16.0 } else { 22.0 }
}

fn weightless(context: &CaseContext) -> Basics {
    Basics::new(cell(context)).gravity(DVec3::ZERO)
}

fn laplace(_: &CaseContext) -> Result<CaseResult, CaseError> {
    // Residual motion depends on the cell size: always 25 cells across, as the reference values
    // assume.
    let basics = Basics::new(2.0 * RADIUS / 25.0).gravity(DVec3::ZERO);
    let mut simulation = basics.simulation("[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\n")?;
    let before = super::simulation::enclosed_volume(&simulation.surface()?);
    simulation.run(5.0 * inertial_time(RADIUS))?;
    let drop = simulation.only_drop()?;
    let after = super::simulation::enclosed_volume(&simulation.surface()?);
    let expected = capillary::laplace_pressure(&WATER, RADIUS);
    let pressure = drop.pressure.unwrap_or(f64::NAN);
    let checks = vec![
        Check::value("pressure jump", "Pa", expected, pressure, Tolerance::Relative(0.02)),
        Check::at_most("largest speed", "mm/s", 2.701_85, 1e3 * drop.speed_max),
        Check::value("volume over initial volume", "", 1.0, after / before, Tolerance::Absolute(0.005)),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// An oscillation a(t) about zero, sampled at equal intervals.
struct Ringing {
    points: Vec<(f64, f64)>,
}

impl Ringing {
    /// Simulates `time` and samples `amplitude` every `interval`, both in s.
    fn record(
        simulation: &mut Simulation,
        time: f64,
        interval: f64,
        amplitude: impl Fn(&Simulation) -> Result<f64, CaseError>,
    ) -> Result<Self, CaseError> {
        let mut points = vec![(simulation.time(), amplitude(simulation)?)];
        let end = simulation.time() + time;
        while simulation.time() < end - 0.5 * interval {
            simulation.run(interval)?;
            points.push((simulation.time(), amplitude(simulation)?));
        }
        Ok(Self { points })
    }

    /// Zero crossings, by linear interpolation, in s.
    fn crossings(&self) -> Vec<f64> {
        let cross = |pair: &[(f64, f64)]| {
            let [(t0, a0), (t1, a1)] = [pair[0], pair[1]];
            ((a0 < 0.0) != (a1 < 0.0)).then(|| t0 + (t1 - t0) * a0 / (a0 - a1))
        };
        self.points.windows(2).filter_map(cross).collect()
    }

    /// Twice the mean time between the crossings that `take` selects, in s.
    fn period(&self, take: usize) -> f64 {
        let crossings = self.crossings();
        let first = crossings.len().saturating_sub(take);
        match &crossings[first..] {
            [first, .., last] => 2.0 * (last - first) / (crossings.len().min(take) - 1) as f64,
            _ => f64::NAN,
        }
    }

    /// Decay rate, in 1/s: from the amplitudes at the measured frequency in the two halves of the
    /// oscillation after its first crossing.
    fn decay_rate(&self) -> f64 {
        let omega = TAU / self.period(usize::MAX);
        let start = self.crossings().first().copied().unwrap_or(0.0);
        let points: Vec<(f64, f64)> = self.points.iter().copied().filter(|(t, _)| *t >= start).collect();
        let (early, late) = points.split_at(points.len() / 2);
        let middle = |part: &[(f64, f64)]| part.iter().map(|(t, _)| t).sum::<f64>() / part.len() as f64;
        (fitted_amplitude(early, omega) / fitted_amplitude(late, omega)).ln() / (middle(late) - middle(early))
    }

    fn plot(self, title: &str) -> Plot {
        let points = self.points.into_iter().map(|(t, a)| (1e3 * t, a)).collect();
        Plot {
            title: title.into(),
            x: Axis::linear("time (ms)"),
            y: Axis::linear("amplitude over radius"),
            series: vec![Series::new("volume", Mark::Line, points)],
        }
    }
}

/// Amplitude of the least-squares fit a cos ωt + b sin ωt + c.
fn fitted_amplitude(points: &[(f64, f64)], omega: f64) -> f64 {
    let (mut matrix, mut rhs) = (DMat3::ZERO, DVec3::ZERO);
    for &(t, y) in points {
        let basis = DVec3::new((omega * t).cos(), (omega * t).sin(), 1.0);
        matrix += DMat3::from_cols(basis * basis.x, basis * basis.y, basis * basis.z);
        rhs += basis * y;
    }
    (matrix.inverse() * rhs).truncate().length()
}

/// Amplitude of mode 2 about y over the radius, to first order, from the second moments of the
/// liquid: ∫ (y² − ½x² − ½z²) dV = ⅗ a R² V, planar ∫ (y² − x²) dA = a R² A.
///
/// Unlike the height it does not contain modes 3, 4 and so on.
fn second_mode(simulation: &Simulation, planar: bool) -> Result<f64, CaseError> {
    let surface = simulation.surface()?;
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|vertex| surface.positions[vertex as usize]);
        let part = a.dot(b.cross(c)) / 6.0;
        volume += part;
        first += part * (a + b + c) / 4.0;
        second += part * (a * a + b * b + c * c + a * b + b * c + c * a) / 10.0;
    }
    let DVec3 { x, y, z } = second / volume - (first / volume) * (first / volume);
    let stretch = if planar { y - x } else { (y - 0.5 * (x + z)) / 0.6 };
    Ok(stretch / (RADIUS * RADIUS))
}

/// Slope of the linear least-squares fit of points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let (xy, xx) =
        points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + (p.0 - x) * (p.1 - y), sum.1 + (p.0 - x) * (p.0 - x)));
    xy / xx
}

fn lamb(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let text = "[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n";
    let mut simulation = weightless(context).simulation(text)?;
    let frequency = waves::drop_frequency(&WATER, RADIUS, 2);
    let rate = 5.0 * WATER.viscosity / (RADIUS * RADIUS);
    let amplitude = |simulation: &Simulation| second_mode(simulation, false);
    let ringing = Ringing::record(&mut simulation, 3.3 / frequency, 0.02 / frequency, amplitude)?;
    let checks = vec![
        Check::value("frequency", "Hz", frequency, 1.0 / ringing.period(usize::MAX), Tolerance::Relative(0.03)),
        Check::value("decay rate", "1/s", rate, ringing.decay_rate(), Tolerance::Relative(0.2)),
    ];
    Ok(CaseResult { checks, plots: vec![ringing.plot("Amplitude of mode 2")] })
}

fn lamb_planar(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let text = "[[drops]]\ncenter = \"0.01 0.02 0 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n";
    let mut simulation = weightless(context).planar().simulation(text)?;
    let frequency = waves::planar_drop_frequency(&WATER, RADIUS, 2);
    let rate = 4.0 * WATER.viscosity / (RADIUS * RADIUS);
    let amplitude = |simulation: &Simulation| second_mode(simulation, true);
    let ringing = Ringing::record(&mut simulation, 3.3 / frequency, 0.02 / frequency, amplitude)?;
    let checks = vec![
        Check::value("frequency", "Hz", frequency, 1.0 / ringing.period(usize::MAX), Tolerance::Relative(0.03)),
        Check::value("decay rate", "1/s", rate, ringing.decay_rate(), Tolerance::Relative(0.2)),
    ];
    Ok(CaseResult { checks, plots: vec![ringing.plot("Amplitude of mode 2 in the plane")] })
}

fn fall(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let height = 0.02;
    let mut simulation =
        Basics::new(cell(context)).simulation("[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\n")?;
    let start = simulation.only_drop()?.centroid;
    let (time, speed) = capillary::free_fall(height, GRAVITY);
    // Simulated until shortly before, then extrapolated at its speed.
    simulation.run(0.99 * time)?;
    let drop = simulation.only_drop()?;
    let left = height - (start.y - drop.centroid.y);
    let now = -drop.velocity.y;
    let arrival = simulation.time() + ((now * now + 2.0 * GRAVITY * left).sqrt() - now) / GRAVITY;
    let surface = simulation.surface()?;
    let radii = surface.positions.iter().map(|place| (*place - drop.centroid).length());
    let [least, most] = radii.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], r| [least.min(r), most.max(r)]);
    let aside = DVec3::new(drop.centroid.x - start.x, 0.0, drop.centroid.z - start.z).length();
    let checks = vec![
        Check::value("time to fall 20 mm", "ms", 1e3 * time, 1e3 * arrival, Tolerance::Relative(0.005)),
        Check::value("speed", "m/s", speed, now + GRAVITY * (arrival - simulation.time()), Tolerance::Relative(0.005)),
        Check::range("largest over smallest radius", "", 1.0, 1.02, most / least),
        Check::at_most("lateral displacement, in radii", "", 0.01, aside / RADIUS),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

fn coalesce(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let theory = capillary::coalesce(&WATER, RADIUS, RADIUS);
    let period = 1.0 / waves::drop_frequency(&WATER, theory.radius, 2);
    let mut text = String::new();
    for side in [-1.0, 1.0] {
        // Overlapping by a hundredth of a radius, so that they touch.
        let y = 1e3 * side * 0.99 * RADIUS;
        text += &format!("[[drops]]\ncenter = \"0.01 {y} 0.02 mm\"\nradius = \"1 mm\"\n");
    }
    let mut simulation = weightless(context).simulation(&text)?;
    simulation.run(1e-4)?;
    let amplitude = |simulation: &Simulation| Ok(0.5 * simulation.largest_drop()?.height / theory.radius - 1.0);
    let mut ringing = Ringing::record(&mut simulation, period, 0.02 * period, amplitude)?;
    // In water the oscillation takes some forty periods to decay to a tenth of a radius; drag
    // removes the rest.
    let mut resting = weightless(context).settling().simulation(&text)?;
    resting.restore_from(&simulation)?;
    let most = |points: &[(f64, f64)], from: f64| {
        points.iter().filter(|(t, _)| *t > from).map(|(_, a)| a.abs()).fold(0.0, f64::max)
    };
    while most(&ringing.points, resting.time() - 0.55 * period) > 0.1 && resting.time() < 8.0 * period {
        ringing.points.extend(Ringing::record(&mut resting, 0.1 * period, 0.02 * period, amplitude)?.points);
    }
    simulation.restore_from(&resting)?;
    let ending = Ringing::record(&mut simulation, 2.5 * period, 0.02 * period, amplitude)?;
    let late = ending.period(5);
    ringing.points.extend(ending.points);
    // The final energy is that of the drop at rest.
    resting.restore_from(&simulation)?;
    resting.rest(0.25 * period, 4.0 * period)?;
    let drop = resting.only_drop()?;
    let radius = (drop.surface_area / (4.0 * PI)).sqrt();
    let released = WATER.surface_tension * (8.0 * PI * RADIUS * RADIUS - drop.surface_area);
    let checks = vec![
        Check::value("final radius", "mm", 1e3 * theory.radius, 1e3 * radius, Tolerance::Relative(0.01)),
        Check::value("energy released", "nJ", 1e9 * theory.energy, 1e9 * released, Tolerance::Relative(0.1)),
        Check::value(
            "period of the last two oscillations, below a tenth of a radius",
            "ms",
            1e3 * period,
            1e3 * late,
            Tolerance::Relative(0.06),
        ),
    ];
    Ok(CaseResult { checks, plots: vec![ringing.plot("Two drops become one: extent along their line")] })
}

/// One wavelength of fastest growth of a ligament: complete in a periodic domain, or an eighth
/// between symmetry planes.
fn thread(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let (wavelength, ripple) = (waves::fastest_wavelength(RADIUS), 0.05);
    let half = 0.5e3 * wavelength;
    let domain = if context.quick {
        format!("min = \"0 0 0 mm\"\nmax = \"{half} 4 4 mm\"\nx = \"symmetry\"\ny = \"symmetry\"\nz = \"symmetry\"\n")
    } else {
        format!("min = \"{} -4 -4 mm\"\nmax = \"{half} 4 4 mm\"\nx = \"periodic\"\n", -half)
    };
    let text = format!(
        "[domain]\n{domain}[[drops]]\nshape = \"cylinder\"\nfrom = \"{} 0 0 mm\"\nto = \"{} 0 0 mm\"\nradius = \"1 mm\"\n\
         amplitude = {ripple}\nwavelength = \"{wavelength} m\"\n",
        -3.0 * half,
        3.0 * half
    );
    let mut simulation = weightless(context).simulation(&text)?;
    let limit = 1.6 * waves::breakup_time(&WATER, RADIUS, ripple);
    let neck = |simulation: &Simulation| -> Result<[f64; 2], CaseError> {
        let surface = simulation.surface()?;
        let cell = cell(context);
        let near = |x: f64, at: f64| (x - at).abs() < cell;
        let mut radii = [0.0f64; 2];
        for place in &surface.positions {
            let radius = place.y.hypot(place.z);
            for (radii, at) in radii.iter_mut().zip([0.0, 0.5 * wavelength]) {
                if near(place.x, at) || near(-place.x, at) {
                    *radii = radii.max(radius);
                }
            }
        }
        Ok(radii)
    };
    let (mut growth, mut breakup) = (Vec::new(), f64::NAN);
    let whole = simulation.largest_drop()?.volume;
    while simulation.time() < limit {
        let [a, b] = neck(&simulation)?;
        let amplitude = 0.5 * (a - b).abs() / RADIUS;
        if amplitude < 0.25 {
            growth.push((simulation.time(), amplitude));
        }
        // A satellite drop may be at the position of the neck.
        let broken = simulation.largest_drop()?.volume < 0.995 * whole;
        if broken || a.min(b) < cell(context) {
            breakup = simulation.time();
            break;
        }
        simulation.run(5e-4)?;
    }
    simulation.run(0.1 * limit)?;
    let largest = simulation.largest_drop()?;
    let share = if context.quick { 8.0 } else { 1.0 };
    let drop_radius = sphere_radius(share * largest.volume);
    let rate = waves::ligament_growth_rate(&WATER, RADIUS, wavelength);
    // The perturbation has no initial velocity: a = a₀ cosh st.
    let start = growth.first().map_or(f64::NAN, |point| point.1);
    let grown = growth.iter().filter(|(_, a)| *a > 1.3 * start).map(|&(t, a)| (t, (a / start).acosh()));
    let fitted = slope(&grown.collect::<Vec<_>>());
    let checks = vec![
        Check::value("growth rate", "1/s", rate, fitted, Tolerance::Relative(0.1)),
        Check::range("time of break-up", "ms", 25.835, 40.3672, 1e3 * breakup),
        Check::range("radius of the main drop", "mm", 1.777_43, 1.9287, 1e3 * drop_radius),
    ];
    let points = growth.into_iter().map(|(t, a)| (1e3 * t, a)).collect();
    let plot = Plot {
        title: "Ripple of the thread".into(),
        x: Axis::linear("time (ms)"),
        y: Axis::log("amplitude over radius"),
        series: vec![Series::new("volume", Mark::Points, points)],
    };
    Ok(CaseResult { checks, plots: vec![plot] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_cosine_has_its_period_and_rate() {
        let points = (0..400).map(|i| 1e-4 * f64::from(i)).map(|t| (t, (-7.0 * t).exp() * (TAU * 100.0 * t).cos()));
        let ringing = Ringing { points: points.collect() };
        assert!((ringing.period(usize::MAX) - 0.01).abs() < 1e-5, "{}", ringing.period(usize::MAX));
        assert!((ringing.period(5) - 0.01).abs() < 1e-5, "{}", ringing.period(5));
        assert!((ringing.decay_rate() - 7.0).abs() < 0.1, "{}", ringing.decay_rate());
    }
}
