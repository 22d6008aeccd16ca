//! Drops without a solid: pressure, ringing, falling, merging, and a thread that breaks.

use std::f64::consts::PI;

use glam::DVec3;
use sessile_wetting::{capillary, waves};

use super::stage::{Basics, GRAVITY, Stage, WATER, own_time};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

/// Radius of the drops here, in m.
const RADIUS: f64 = 1e-3;

fn cell(context: &CaseContext) -> f64 {
    2.0 * RADIUS / if context.quick { 16.0 } else { 22.0 }
}

fn weightless(context: &CaseContext) -> Basics {
    Basics::new(cell(context)).gravity(DVec3::ZERO)
}

pub(super) fn laplace(_: &CaseContext) -> Result<CaseResult, CaseError> {
    // What still moves depends on the cells: 25 across, as the reference values assume, in any case.
    let basics = Basics::new(2.0 * RADIUS / 25.0).gravity(DVec3::ZERO);
    let mut stage = basics.stage("[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\n")?;
    let before = super::stage::enclosed_volume(&stage.surface()?);
    stage.run(5.0 * own_time(RADIUS))?;
    let drop = stage.only_drop()?;
    let after = super::stage::enclosed_volume(&stage.surface()?);
    let expected = capillary::laplace_pressure(&WATER, RADIUS);
    let pressure = drop.pressure.unwrap_or(f64::NAN);
    let checks = vec![
        Check::value("pressure jump", "Pa", expected, pressure, Tolerance::Relative(0.02)),
        Check::at_most("largest speed", "mm/s", 2.701_85, 1e3 * drop.speed_max),
        Check::value("volume over that at the start", "", 1.0, after / before, Tolerance::Absolute(0.005)),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

/// An oscillation a(t) about zero, read off at even times.
struct Ringing {
    points: Vec<(f64, f64)>,
}

impl Ringing {
    /// Runs a stage for `time` and reads `amplitude` every `interval`, both in s.
    fn record(
        stage: &mut Stage,
        time: f64,
        interval: f64,
        amplitude: impl Fn(&Stage) -> Result<f64, CaseError>,
    ) -> Result<Self, CaseError> {
        let mut points = vec![(stage.time(), amplitude(stage)?)];
        let end = stage.time() + time;
        while stage.time() < end - 0.5 * interval {
            stage.run(interval)?;
            points.push((stage.time(), amplitude(stage)?));
        }
        Ok(Self { points })
    }

    /// Times at which it passes through zero, by straight lines.
    fn crossings(&self) -> Vec<f64> {
        let cross = |pair: &[(f64, f64)]| {
            let [(t0, a0), (t1, a1)] = [pair[0], pair[1]];
            ((a0 < 0.0) != (a1 < 0.0)).then(|| t0 + (t1 - t0) * a0 / (a0 - a1))
        };
        self.points.windows(2).filter_map(cross).collect()
    }

    /// Twice the mean time between the crossings that `take` keeps, in s.
    fn period(&self, take: usize) -> f64 {
        let crossings = self.crossings();
        let first = crossings.len().saturating_sub(take);
        match &crossings[first..] {
            [first, .., last] => 2.0 * (last - first) / (crossings.len().min(take) - 1) as f64,
            _ => f64::NAN,
        }
    }

    /// Rate at which the extremes between crossings shrink, in 1/s, by a line through their logarithms.
    fn decay_rate(&self) -> f64 {
        let crossings = self.crossings();
        let mut extremes = Vec::new();
        for pair in crossings.windows(2) {
            let inside = self.points.iter().filter(|(t, _)| pair[0] < *t && *t < pair[1]);
            let largest = inside.map(|&(_, a)| a.abs()).fold(0.0, f64::max);
            extremes.push((0.5 * (pair[0] + pair[1]), largest.ln()));
        }
        -slope(&extremes)
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

/// Slope of the straight line through points by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let (xy, xx) =
        points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + (p.0 - x) * (p.1 - y), sum.1 + (p.0 - x) * (p.0 - x)));
    xy / xx
}

pub(super) fn lamb(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let text = "[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n";
    let mut stage = weightless(context).stage(text)?;
    let frequency = waves::drop_frequency(&WATER, RADIUS, 2);
    let amplitude = |stage: &Stage| Ok(0.5 * stage.only_drop()?.height / RADIUS - 1.0);
    let ringing = Ringing::record(&mut stage, 3.3 / frequency, 0.02 / frequency, amplitude)?;
    let checks = vec![
        Check::value("frequency", "Hz", frequency, 1.0 / ringing.period(usize::MAX), Tolerance::Relative(0.03)),
        // Lamb: 5ν/R² = 5 1/s; a range of 3 to 15 is what the reference values call good.
        Check::shown("decay rate (Lamb: 5)", "1/s", ringing.decay_rate()),
    ];
    Ok(CaseResult { checks, plots: vec![ringing.plot("Amplitude of mode 2")] })
}

pub(super) fn lamb_planar(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let text = "[[drops]]\ncenter = \"0.01 0.02 0 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n";
    let mut stage = weightless(context).planar().stage(text)?;
    let frequency = waves::planar_drop_frequency(&WATER, RADIUS, 2);
    let amplitude = |stage: &Stage| Ok(0.5 * stage.only_drop()?.height / RADIUS - 1.0);
    let ringing = Ringing::record(&mut stage, 3.3 / frequency, 0.02 / frequency, amplitude)?;
    let checks = vec![
        Check::value("frequency", "Hz", frequency, 1.0 / ringing.period(usize::MAX), Tolerance::Relative(0.03)),
        Check::shown("decay rate (theory: 4)", "1/s", ringing.decay_rate()),
    ];
    Ok(CaseResult { checks, plots: vec![ringing.plot("Amplitude of mode 2 in the plane")] })
}

pub(super) fn fall(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let height = 0.02;
    let mut stage =
        Basics::new(cell(context)).stage("[[drops]]\ncenter = \"0.01 0.02 0.03 mm\"\nradius = \"1 mm\"\n")?;
    let start = stage.only_drop()?.centroid;
    let (time, speed) = capillary::free_fall(height, GRAVITY);
    // Up to shortly before it has fallen that far, then the rest of the way at the speed that it has.
    stage.run(0.99 * time)?;
    let drop = stage.only_drop()?;
    let left = height - (start.y - drop.centroid.y);
    let now = -drop.velocity.y;
    let arrival = stage.time() + ((now * now + 2.0 * GRAVITY * left).sqrt() - now) / GRAVITY;
    let surface = stage.surface()?;
    let radii = surface.positions.iter().map(|place| (*place - drop.centroid).length());
    let [least, most] = radii.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], r| [least.min(r), most.max(r)]);
    let aside = DVec3::new(drop.centroid.x - start.x, 0.0, drop.centroid.z - start.z).length();
    let checks = vec![
        Check::value("time to fall 20 mm", "ms", 1e3 * time, 1e3 * arrival, Tolerance::Relative(0.005)),
        Check::value("speed", "m/s", speed, now + GRAVITY * (arrival - stage.time()), Tolerance::Relative(0.005)),
        Check::range("largest over least radius", "", 1.0, 1.02, most / least),
        Check::at_most("way aside, in radii", "", 0.01, aside / RADIUS),
    ];
    Ok(CaseResult { checks, plots: Vec::new() })
}

pub(super) fn coalesce(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let theory = capillary::coalesce(&WATER, RADIUS, RADIUS);
    let period = 1.0 / waves::drop_frequency(&WATER, theory.radius, 2);
    let mut text = String::new();
    for side in [-1.0, 1.0] {
        // A hundredth of a radius into each other: they touch.
        let y = 1e3 * side * 0.99 * RADIUS;
        text += &format!("[[drops]]\ncenter = \"0.01 {y} 0.02 mm\"\nradius = \"1 mm\"\n");
    }
    let mut stage = weightless(context).stage(&text)?;
    stage.run(1e-4)?;
    let amplitude = |stage: &Stage| Ok(0.5 * stage.largest_drop()?.height / theory.radius - 1.0);
    let mut ringing = Ringing::record(&mut stage, period, 0.02 * period, amplitude)?;
    // Water takes some forty periods until a tenth of a radius is left, and larger waves are slower: drag takes the rest off.
    let mut resting = weightless(context).settling().stage(&text)?;
    resting.take_over(&stage)?;
    let most = |points: &[(f64, f64)], from: f64| {
        points.iter().filter(|(t, _)| *t > from).map(|(_, a)| a.abs()).fold(0.0, f64::max)
    };
    while most(&ringing.points, resting.time() - 0.55 * period) > 0.1 && resting.time() < 8.0 * period {
        ringing.points.extend(Ringing::record(&mut resting, 0.1 * period, 0.02 * period, amplitude)?.points);
    }
    stage.take_over(&resting)?;
    let ending = Ringing::record(&mut stage, 2.5 * period, 0.02 * period, amplitude)?;
    let late = ending.period(5);
    ringing.points.extend(ending.points);
    // The energy that is left in the end is that of the drop at rest.
    resting.take_over(&stage)?;
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

/// One fastest-growing wave of a thread: whole in a periodic domain, or an eighth of it between mirrors.
pub(super) fn thread(context: &CaseContext) -> Result<CaseResult, CaseError> {
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
    let mut stage = weightless(context).stage(&text)?;
    let limit = 1.6 * waves::breakup_time(&WATER, RADIUS, ripple);
    let neck = |stage: &Stage| -> Result<[f64; 2], CaseError> {
        let surface = stage.surface()?;
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
    let whole = stage.largest_drop()?.volume;
    while stage.time() < limit {
        let [a, b] = neck(&stage)?;
        let amplitude = 0.5 * (a - b).abs() / RADIUS;
        if amplitude < 0.25 {
            growth.push((stage.time(), amplitude));
        }
        // A satellite may sit where the neck was.
        let broken = stage.largest_drop()?.volume < 0.995 * whole;
        if broken || a.min(b) < cell(context) {
            breakup = stage.time();
            break;
        }
        stage.run(5e-4)?;
    }
    stage.run(0.1 * limit)?;
    let largest = stage.largest_drop()?;
    let share = if context.quick { 8.0 } else { 1.0 };
    let drop_radius = super::stage::ball_radius(share * largest.volume);
    let rate = waves::thread_growth_rate(&WATER, RADIUS, wavelength);
    // The ripple has no velocity to begin with: a = a₀ cosh st.
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
    use std::f64::consts::TAU;

    #[test]
    fn a_damped_cosine_has_its_period_and_rate() {
        let points = (0..400).map(|i| 1e-4 * f64::from(i)).map(|t| (t, (-7.0 * t).exp() * (TAU * 100.0 * t).cos()));
        let ringing = Ringing { points: points.collect() };
        assert!((ringing.period(usize::MAX) - 0.01).abs() < 1e-5, "{}", ringing.period(usize::MAX));
        assert!((ringing.period(5) - 0.01).abs() < 1e-5, "{}", ringing.period(5));
        assert!((ringing.decay_rate() - 7.0).abs() < 0.1, "{}", ringing.decay_rate());
    }
}
