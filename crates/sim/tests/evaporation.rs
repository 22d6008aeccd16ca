//! A drying drop in all models: pinned until its angle has fallen to the receding angle, then
//! shrinking at that angle, at the rate of diffusion.
//!
//! The reference integrates dV/dt = −π k R f(θ) of a spherical cap. Hot dry air and a light liquid
//! make a drop of microliters dry within seconds; gravity is off, so that drops are caps.

use sessile_frames::{DropMeasures, FrameMeasures};
use sessile_model::NoTimer;
use sessile_scene::{NoFiles, parse_str};
use sessile_sim::Stepper;
use sessile_wetting::cap;
use sessile_wetting::evaporation::{Air, sessile_rate};

/// Density of the liquid, in kg/m³.
const DENSITY: f64 = 100.0;
const VOLUME: f64 = 2e-9;
/// Contact angles: initial, and receding, in degrees.
const INITIAL: f64 = 80.0;
const RECEDING: f64 = 40.0;

/// A cap of 2 µL on a plane, in air of a temperature (in °C) and humidity.
fn scene(model: &str, air: &str, resolution: &str, duration: f64) -> String {
    format!(
        "model = \"{model}\"\n[time]\nduration = \"{duration} s\"\nframe = \"{} s\"\n\
         [world]\ngravity = \"0 -1e-3 0 m/s^2\"\n{air}\
         [liquid]\npreset = \"water\"\ndensity = \"{DENSITY} kg/m^3\"\n[resolution]\n{resolution}\n\
         [materials.m]\nadvancing = \"{INITIAL} deg\"\nreceding = \"{RECEDING} deg\"\n\
         [[solids]]\nname = \"table\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"20 20 mm\"\n\
         [[drops]]\nshape = \"cap\"\non = \"table\"\nvolume = \"{} m^3\"\ncontact_angle = \"{INITIAL} deg\"\n",
        duration / 10.0,
        VOLUME
    )
}

const HOT: &str = "humidity = 0\ntemperature = \"95 degC\"\n";

/// Volume and base radius of the reference after `time` seconds, in m³ and m.
fn reference(coefficient: f64, time: f64) -> (f64, f64) {
    let (mut volume, mut radius) = (VOLUME, cap::base_radius(VOLUME, INITIAL.to_radians()));
    let count = 20_000;
    for _ in 0..count {
        volume -= time / f64::from(count) * sessile_rate(coefficient, volume, radius);
        if volume <= 0.0 {
            return (0.0, 0.0);
        }
        radius = radius.min(cap::base_radius(volume, RECEDING.to_radians()));
    }
    (volume, radius)
}

fn coefficient() -> f64 {
    let air = Air { humidity: 0.0, temperature: 368.15 };
    air.evaporation_coefficient(air.temperature, DENSITY)
}

/// Measures at the frames of a run.
fn measures(text: &str) -> Vec<FrameMeasures> {
    let scene = parse_str("drying.toml", text, &[], &NoFiles).expect("the scene is valid").scene;
    let frames = scene.time.last_frame();
    let mut stepper = Stepper::new(scene).expect("the model accepts the scene");
    let mut all = Vec::new();
    while stepper.frame_number() < frames {
        let (before, target) = (stepper.frame_number(), stepper.next_frame_time());
        stepper.step(target, &mut NoTimer).expect("the step succeeds");
        if stepper.frame_number() > before {
            let measured = stepper.measured(&mut NoTimer).expect("the frame is measured");
            all.push(measured.measures);
        }
    }
    all
}

/// Volume of all drops, film and what has gone, over what was added, less one.
fn imbalance(frame: &FrameMeasures) -> f64 {
    (frame.total_volume + frame.lost_volume + frame.evaporated_volume) / frame.added_volume - 1.0
}

/// Largest differences from the reference: of the volume over the initial one, and of the base
/// radius over the initial one while a tenth of the liquid remains.
fn differences(frames: &[FrameMeasures]) -> (f64, f64) {
    let initial_radius = cap::base_radius(VOLUME, INITIAL.to_radians());
    let (mut of_volume, mut of_radius) = (0.0f64, 0.0f64);
    for frame in frames {
        assert!(imbalance(frame).abs() < 1e-9, "{} s: balance off by {:e}", frame.time, imbalance(frame));
        let (volume, radius) = reference(coefficient(), frame.time);
        let drop = frame.drops.first();
        of_volume = of_volume.max((drop.map_or(0.0, |drop| drop.volume) - volume).abs() / VOLUME);
        if let Some(DropMeasures { base_radius, .. }) = drop.filter(|_| volume > 0.1 * VOLUME) {
            of_radius = of_radius.max((base_radius - radius).abs() / initial_radius);
        }
    }
    (of_volume, of_radius)
}

/// Time in which nine tenths of the drop evaporate, in s.
fn drying_time() -> f64 {
    let mut time = 0.1;
    while reference(coefficient(), time).0 > 0.1 * VOLUME {
        time += 0.05;
    }
    time
}

#[test]
fn a_drop_dries_at_the_rate_of_diffusion_pinned_and_then_at_the_receding_angle() {
    let time = drying_time();
    // Measured: 0.4 % of the volume and 0.6 % of the radius (droplet), 0.2 % and 0.3 % (pane), 0.1
    // % and 0.2 % (surface); two to three times that is allowed.
    for (model, resolution, of_volume, of_radius) in
        [("droplet", "", 0.01, 0.015), ("pane", "", 0.005, 0.006), ("surface", "edge = \"0.1 mm\"", 0.003, 0.005)]
    {
        let frames = measures(&scene(model, HOT, resolution, time));
        let found = differences(&frames);
        println!("{model}: {found:?} in {time} s");
        assert!(found.0 < of_volume && found.1 < of_radius, "{model}: {found:?}");
        // The time covers both regimes.
        assert!(reference(coefficient(), time).1 < 0.8 * cap::base_radius(VOLUME, INITIAL.to_radians()));
    }
}

#[test]
fn the_volume_model_evaporates_at_the_rate_of_diffusion() {
    // A small part of the drying time: the volume model takes steps of tens of microseconds.
    let time = 0.004 * drying_time();
    let frames = measures(&scene("volume", HOT, "cell = \"0.12 mm\"", time));
    let last = frames.last().expect("frames");
    assert!(imbalance(last).abs() < 1e-9, "balance off by {:e}", imbalance(last));
    let expected = VOLUME - reference(coefficient(), time).0;
    // The wetted area is counted in cells: 2 % at 9 cells across the base radius.
    let ratio = last.evaporated_volume / expected;
    assert!((ratio - 1.0).abs() < 0.03, "evaporated {ratio} of the expected volume");
}

#[test]
fn drops_grow_on_a_solid_below_the_dew_point() {
    for model in ["droplet", "pane", "surface"] {
        let air = "humidity = 1\ntemperature = \"95 degC\"\n";
        let text = scene(model, air, "edge = \"0.1 mm\"", 0.5).replace("size =", "temperature = \"20 degC\"\nsize =");
        let frames = measures(&text);
        let last = frames.last().expect("frames");
        assert!(last.evaporated_volume < -0.1 * VOLUME, "{model}: {:e}", last.evaporated_volume);
        // In the fast models the drop shares the vapor with those that nucleate beside it.
        let (least, fewest) = if model == "surface" { (1.1, 1) } else { (1.0, 10) };
        assert!(last.drops[0].volume > least * VOLUME, "{model}: {:e}", last.drops[0].volume);
        assert!(last.drops.len() >= fewest, "{model}: {} drops", last.drops.len());
        assert!(imbalance(last).abs() < 1e-9, "{model}: balance off by {:e}", imbalance(last));
    }
}

/// A warm solid that no droplet comes near has no triangles in the droplet model.
#[test]
fn dew_forms_on_a_cold_solid_beside_a_distant_warm_one() {
    let air = "humidity = 1\ntemperature = \"95 degC\"\n";
    let text = scene("droplet", air, "", 0.1).replace("size =", "temperature = \"20 degC\"\nsize =")
        + "[[solids]]\nname = \"ball\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"0 90 0 mm\"\n\
           radius = \"5 mm\"\ntemperature = \"95 degC\"\n";
    let frames = measures(&text);
    assert!(frames.last().expect("frames").drops.len() > 10);
}

#[test]
fn nothing_evaporates_without_humidity() {
    for model in ["droplet", "pane", "surface"] {
        let frames = measures(&scene(model, "", "edge = \"0.2 mm\"", 0.1));
        assert!(frames.iter().all(|frame| frame.evaporated_volume == 0.0), "{model}");
    }
}
