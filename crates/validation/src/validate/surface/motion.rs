//! Free flight, oscillations, ligaments and coalescence.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sessile_model::Model;

use super::simulation::{GRAVITY, Simulation, WATER, ZERO_GRAVITY, sphere};
use super::{Axis, CaseContext, CaseError, CaseResult, Check, Mark, Plot, Series, Tolerance};

pub(super) fn free_fall(_context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut simulation = Simulation::new("", &sphere(1.0, DVec3::ZERO, DVec3::new(0.2, 0.0, 0.0)))?;
    let time = (2.0 * 0.02 / GRAVITY).sqrt();
    simulation.run(time)?;
    let drop = simulation.only_drop()?;
    let DVec3 { x, y, z } = drop.centroid;
    let v = drop.velocity.y;
    let radius = (0.75 * drop.volume / PI).cbrt();
    Ok(CaseResult {
        checks: vec![
            Check::value("fall", "mm", 20.0, -1e3 * y, Tolerance::Relative(1e-5)),
            Check::value("horizontal displacement", "mm", 200.0 * time, 1e3 * x, Tolerance::Relative(1e-5)),
            Check::at_most("displacement out of plane", "mm", 1e-4, 1e3 * z.abs()),
            Check::value("speed", "m/s", GRAVITY * time, -v, Tolerance::Relative(1e-5)),
            Check::value("extent along y", "mm", 2e3 * radius, 1e3 * drop.height, Tolerance::Relative(0.01)),
        ],
        plots: Vec::new(),
    })
}

/// Frequency over Lamb's and decay rate (1/s) of a drop oscillating in mode 2 to 4, with steps of
/// at most `most` seconds.
pub(super) fn oscillate(mode: u32, most: f64) -> Result<(f64, f64), CaseError> {
    let text = format!(
        "{ZERO_GRAVITY}[resolution]\nedge = \"0.12 mm\"\n[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\nmode = {mode}\namplitude = 0.05\n"
    );
    let mut simulation = Simulation::new("", &text)?;
    // Projection of the radius on the mode, over the vertices.
    let stretch = |simulation: &Simulation| {
        let (positions, center) = (simulation.positions()?, simulation.only_drop()?.centroid);
        let part = |p: DVec3| {
            let x = (p - center).y / (p - center).length();
            let legendre = match mode {
                2 => 1.5 * x * x - 0.5,
                3 => (2.5 * x * x - 1.5) * x,
                _ => (4.375 * x * x - 3.75) * x * x + 0.375,
            };
            ((p - center).length() * 1e3 - 1.0) * legendre
        };
        Ok::<f64, CaseError>(positions.iter().map(|&p| part(p)).sum::<f64>() / positions.len() as f64)
    };
    let (mut zeros, mut peaks) = (Vec::new(), Vec::new());
    let (mut before, mut peak) = (stretch(&simulation)?, 0.0f64);
    while zeros.len() < 9 {
        let time = simulation.model.time();
        if time > 0.1 {
            return Err("it does not oscillate".into());
        }
        simulation.run_by(most, most)?;
        let now = stretch(&simulation)?;
        peak = peak.max(now.abs());
        if before * now < 0.0 {
            zeros.push(time + most * before / (before - now));
            peaks.push(std::mem::take(&mut peak));
        }
        before = now;
    }
    let period = (zeros[8] - zeros[0]) / 4.0;
    let l = f64::from(mode);
    let lamb = (l * (l - 1.0) * (l + 2.0) * WATER.surface_tension / (WATER.density * 1e-9)).sqrt();
    let decay = (peaks[1] / peaks[7]).ln() / (zeros[7] - zeros[1]);
    Ok((TAU / period / lamb, decay))
}

pub(super) fn modes(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    for (name, most) in [("steps of 0.5 ms", 0.5e-3), ("steps of 0.25 ms", 0.25e-3)] {
        (context.report)(name);
        let (frequency, decay) = oscillate(2, most)?;
        result.checks.push(Check::value(
            format!("{name}: frequency over Lamb's"),
            "",
            1.0,
            frequency,
            Tolerance::Relative(0.03),
        ));
        result.checks.push(Check::range(format!("{name}: decay"), "1/s", 1.7, 15.0, decay));
    }
    for mode in [3, 4] {
        (context.report)(&format!("mode {mode}"));
        let (frequency, _) = oscillate(mode, 1e-4)?;
        let name = format!("mode {mode}: frequency over Lamb's");
        result.checks.push(Check::value(name, "", 1.0, frequency, Tolerance::Relative(0.08)));
    }
    Ok(result)
}

pub(super) fn coalescence(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    (context.report)("two drops that touch");
    let pair = sphere(1.0, DVec3::ZERO, DVec3::ZERO) + &sphere(1.0, DVec3::new(2.02, 0.0, 0.0), DVec3::ZERO);
    let mut simulation = Simulation::new("", &format!("{ZERO_GRAVITY}{pair}"))?;
    simulation.run(0.6)?;
    let drop = simulation.only_drop()?;
    let radius = 1e3 * (drop.surface_area / (4.0 * PI)).sqrt();
    result.checks.push(Check::value(
        "radius of the merged drop, from its area",
        "mm",
        2f64.cbrt(),
        radius,
        Tolerance::Relative(0.01),
    ));
    let volume = 2.0 * 4.0 / 3.0 * PI;
    result.checks.push(Check::value("volume", "µL", volume, 1e9 * drop.volume, Tolerance::Relative(1e-3)));
    (context.report)("two drops that collide");
    let pair = sphere(1.0, DVec3::ZERO, DVec3::new(0.4, 0.0, 0.0))
        + &sphere(0.8, DVec3::new(3.0, 0.5, 0.0), DVec3::new(-0.2, 0.1, 0.0));
    let mut simulation = Simulation::new("", &format!("{ZERO_GRAVITY}{pair}"))?;
    simulation.run(0.05)?;
    let drop = simulation.only_drop()?;
    let (a, b) = (1.0, 0.8f64.powi(3));
    let wanted = (DVec3::new(0.4, 0.0, 0.0) * a + DVec3::new(-0.2, 0.1, 0.0) * b) / (a + b);
    let off = drop.velocity.distance(wanted) / wanted.length();
    result.checks.push(Check::at_most("relative loss of momentum", "", 0.01, off));
    result.checks.push(Check::value(
        "volume",
        "µL",
        4.0 / 3.0 * PI * (a + b),
        1e9 * drop.volume,
        Tolerance::Relative(1e-3),
    ));
    Ok(result)
}

/// Rayleigh's growth rate of a perturbation of wavenumber k on a ligament of radius R, in 1/s; for
/// k R > 1 minus its frequency.
fn rayleigh(kr: f64, radius: f64) -> f64 {
    let bessel = |order: i32| {
        // Power series of the modified Bessel functions I₀ and I₁ for arguments below 2.
        let mut term = (0.5 * kr).powi(order);
        let mut sum = term;
        for m in 1..30 {
            term *= 0.25 * kr * kr / (f64::from(m) * f64::from(m + order));
            sum += term;
        }
        sum
    };
    let squared =
        WATER.surface_tension / (WATER.density * radius.powi(3)) * kr * (1.0 - kr * kr) * bessel(1) / bessel(0);
    squared.signum() * squared.abs().sqrt()
}

/// Growth rate of a perturbation of `waves` wavelengths on a ligament of 1 mm, in 1/s, from the
/// middle waves over a few milliseconds.
fn growth(wavelength: f64, waves: f64) -> Result<f64, CaseError> {
    let length = wavelength * waves;
    let text = format!(
        "{ZERO_GRAVITY}[resolution]\nedge = \"0.15 mm\"\n[[drops]]\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"{length} 0 0 mm\"\n\
         radius = \"1 mm\"\namplitude = 0.08\nwavelength = \"{wavelength} mm\"\n"
    );
    let mut simulation = Simulation::new("", &text)?;
    // Amplitude over the middle wave: r = mean + amplitude · cos, by least squares, as vertices are
    // spaced unevenly.
    let amplitude = |simulation: &Simulation| {
        let [mut n, mut c, mut cc, mut r, mut cr] = [0.0; 5];
        for p in simulation.positions()? {
            let x = p.x * 1e3 / wavelength;
            if (x - 0.5 * waves).abs() < 0.5 {
                let (cosine, radius) = ((TAU * x).cos(), p.y.hypot(p.z) * 1e3);
                n += 1.0;
                c += cosine;
                cc += cosine * cosine;
                r += radius;
                cr += cosine * radius;
            }
        }
        Ok::<f64, CaseError>((n * cr - c * r) / (n * cc - c * c))
    };
    let mut samples = Vec::new();
    for _ in 0..16 {
        samples.push(amplitude(&simulation)?);
        simulation.run(0.4e-3)?;
    }
    // From rest a growing perturbation follows cosh ωt, an oscillating one cos ωt: the second
    // difference over the value is ±ω².
    let (first, middle, last) = (samples[0], samples[7], samples[14]);
    let ratio = (first + last) / (2.0 * middle);
    let span = 7.0 * 0.4e-3;
    Ok(if ratio > 1.0 { ratio.acosh() / span } else { -(ratio.max(-1.0).acos()) / span })
}

pub(super) fn rayleigh_plateau(context: &CaseContext) -> Result<CaseResult, CaseError> {
    let mut result = CaseResult::default();
    let (mut theory, mut measured) = (Vec::new(), Vec::new());
    let wavelengths: &[f64] = if context.quick { &[4.5, 9.0] } else { &[4.5, 5.5, 7.0, 8.0, 9.0, 11.0, 14.0] };
    for &wavelength in wavelengths {
        (context.report)(&format!("a ripple of {wavelength} mm"));
        let rate = growth(wavelength, 4.0)?;
        let kr = TAU / wavelength;
        theory.push((kr, rayleigh(kr, 1e-3)));
        measured.push((kr, rate));
        let name = format!(
            "{wavelength} mm: growth rate{}",
            if wavelength > TAU { "" } else { " (negative: frequency of oscillation)" }
        );
        result.checks.push(Check::value(name, "1/s", rayleigh(kr, 1e-3), rate, Tolerance::Relative(0.2)));
    }
    (context.report)("a thread breaks");
    let text = format!(
        "{ZERO_GRAVITY}[resolution]\nedge = \"0.25 mm\"\n[[drops]]\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"36 0 0 mm\"\n\
         radius = \"1 mm\"\namplitude = 0.1\nwavelength = \"9 mm\"\n"
    );
    let mut simulation = Simulation::new("", &text)?;
    simulation.run(0.05)?;
    let volume: f64 = simulation.drops()?.iter().map(|drop| drop.volume).sum();
    result.checks.push(Check::at_least(
        "drops from a ligament of 36 mm, perturbed at 9 mm",
        "",
        3.0,
        simulation.model.num_drops()[0] as f64,
    ));
    result.checks.push(Check::value("their volume", "µL", 36.0 * PI, 1e9 * volume, Tolerance::Relative(1e-3)));
    result.plots.push(Plot {
        title: "Growth of ripples on a thread of 1 mm".into(),
        x: Axis::linear("k R"),
        y: Axis::linear("growth rate, 1/s (negative: frequency of oscillation)"),
        series: vec![
            Series::new("Rayleigh", Mark::Expected, theory),
            Series::new("surface model", Mark::Points, measured),
        ],
    });
    Ok(result)
}
