//! Observed order of convergence against exact solutions, on grids small enough for every test run.
//!
//! Each test measures the relative error at three cell sizes, and asserts the error on the finest
//! grid and the order: the slope of ln(error) over ln(h).

use std::f64::consts::{PI, TAU};

use sessile_model::Model;
use sessile_wetting::young_laplace;

use super::Volume;
use super::tests::{WATER, build, run_to, surface, water};

/// Slope of ln(error) over ln(h) by least squares; samples are (h, error).
fn observed_order(samples: &[(f64, f64)]) -> f64 {
    let count = samples.len() as f64;
    let logs: Vec<(f64, f64)> = samples.iter().map(|(h, error)| (h.ln(), error.abs().ln())).collect();
    let (x, y) = logs.iter().fold((0.0, 0.0), |sum, log| (sum.0 + log.0 / count, sum.1 + log.1 / count));
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |sum, log| (sum.0 + (log.0 - x) * (log.1 - y), sum.1 + (log.0 - x) * (log.0 - x)));
    xy / xx
}

/// Asserts the error on the finest grid, which is the last, and the observed order.
fn assert_converges(what: &str, samples: &[(f64, f64)], max_error: f64, min_order: f64) {
    let (order, finest) = (observed_order(samples), samples[samples.len() - 1].1.abs());
    println!("{what}: {samples:?}, order {order:.2}");
    assert!(finest < max_error, "{what}: error {finest:.2e} on the finest grid: {samples:?}");
    assert!(order > min_order, "{what}: observed order {order:.2}: {samples:?}");
}

/// Height of a planar drop at rest at 60° against Young–Laplace; `cell` in mm.
fn sessile_height(cell: f64) -> f64 {
    let mut volume = build(&format!(
        "settle = true\n{WATER}\
         [world]\nplanar = true\ngravity = \"0 -9.8 0 m/s^2\"\n[resolution]\ncell = \"{cell} mm\"\n\
         [materials.m]\nadvancing = \"60 deg\"\nreceding = \"60 deg\"\n[[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\narea = \"4 mm^2\"\ncontact_angle = \"75 deg\"\n"
    ));
    run_to(&mut volume, 0.1);
    let height = surface(&volume.frame()).positions.iter().map(|p| p.y).fold(0.0, f64::max);
    let exact = young_laplace::sessile_planar(4e-6, f64::to_radians(60.0), water().capillary_length(9.8)).unwrap();
    height / exact.height - 1.0
}

#[test]
fn sessile_height_converges_to_young_laplace() {
    let samples = [0.4, 0.28, 0.2].map(|cell| (cell, sessile_height(cell)));
    assert_converges("sessile height", &samples, 0.01, 0.8);
}

/// Frequency of a planar drop in its second mode against ω² = 6γ/(ρR³); `cell` in mm.
fn lamb_frequency(cell: f64) -> f64 {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"{cell} mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.013 0.027 0 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n"
    ));
    let stretch = |volume: &Volume| {
        let frame = volume.frame();
        let extent = |axis: usize| {
            let values = surface(&frame).positions.iter().map(move |p| p[axis]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        extent(1) - extent(0)
    };
    let (mut zeros, mut before) = (Vec::new(), stretch(&volume));
    let interval = 2.5e-4;
    for sample in 1..=64 {
        let time = interval * f64::from(sample);
        run_to(&mut volume, time);
        let now = stretch(&volume);
        if (now < 0.0) != (before < 0.0) {
            zeros.push(time - interval * now / (now - before));
        }
        before = now;
    }
    let half_periods = zeros.len() - 1;
    let frequency = half_periods as f64 / (2.0 * (zeros[half_periods] - zeros[0]));
    frequency / ((6.0 * 0.073 / (1000.0 * 1e-9_f64)).sqrt() / TAU) - 1.0
}

#[test]
fn second_mode_frequency_converges_to_lamb() {
    let samples = [0.25, 0.177, 0.125].map(|cell| (cell, lamb_frequency(cell)));
    assert_converges("Lamb frequency", &samples, 0.03, 0.8);
}

/// Kinematic viscosity of the liquid in shear flows, in m²/s.
const VISCOSITY: f64 = 1e-4;
const VISCOUS: &str =
    "[liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"100 mm^2/s\"\nsurface_tension = \"10 mN/m\"\n";

/// A layer of 1.6 mm on a wall, periodic along x, that starts at 10 mm/s: mean velocity after 6 ms.
///
/// ```text
/// ū/u₀ = Σ 8/(π²k²) exp(−ν (kπ/2H)² t),      k odd
/// ```
fn viscous_decay(cells: u32) -> f64 {
    let cell = 1.6 / f64::from(cells);
    let mut volume = build(&format!(
        "{VISCOUS}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"{cell} mm\"\n[domain]\nmin = \"0 0 -1 mm\"\nmax = \"{} 3.2 1 mm\"\nx = \"periodic\"\ny = \"wall\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-9 -9 -1 mm\"\nmax = \"9 1.6 1 mm\"\nvelocity = \"0.01 0 0 m/s\"\n",
        8.0 * cell
    ));
    run_to(&mut volume, 6e-3);
    let modes = (0..40).map(|n| f64::from(2 * n + 1));
    let exact: f64 =
        modes.map(|k| 8.0 / (PI * k).powi(2) * (-VISCOSITY * (0.5 * k * PI / 1.6e-3).powi(2) * 6e-3).exp()).sum();
    volume.frame().drops[0].velocity.x / (0.01 * exact) - 1.0
}

#[test]
fn viscous_decay_of_a_layer_converges_to_the_diffusion_equation() {
    let samples = [8, 16, 32].map(|cells| (1.0 / f64::from(cells), viscous_decay(cells)));
    assert_converges("viscous decay", &samples, 0.02, 0.8);
}

/// Flow between two walls 1.6 mm apart, driven by 1 m/s² along them: mean velocity gH²/(12ν).
fn poiseuille(cells: u32) -> f64 {
    let cell = 1.6 / f64::from(cells);
    let mut volume = build(&format!(
        "{VISCOUS}[world]\nplanar = true\ngravity = \"1 0 0 m/s^2\"\n\
         [resolution]\ncell = \"{cell} mm\"\n[domain]\nmin = \"0 0 -1 mm\"\nmax = \"{} 1.6 1 mm\"\nx = \"periodic\"\ny = \"wall\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-9 -9 -1 mm\"\nmax = \"9 9 1 mm\"\n",
        8.0 * cell
    ));
    run_to(&mut volume, 20e-3);
    volume.frame().drops[0].velocity.x / (1.6e-3_f64.powi(2) / (12.0 * VISCOSITY)) - 1.0
}

#[test]
fn channel_flow_converges_to_poiseuille() {
    let samples = [8, 16, 32].map(|cells| (1.0 / f64::from(cells), poiseuille(cells)));
    assert_converges("Poiseuille flow", &samples, 0.005, 1.5);
}
