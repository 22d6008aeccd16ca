//! A drop on a plate that moves, stops and shakes, in the two models that resolve its shape.

use std::f64::consts::TAU;

use sessile_model::NoTimer;
use sessile_scene::{NoFiles, parse_str};
use sessile_sim::{build, measure_frame};

/// Way of the plate until it stops, in mm.
const WAY: f64 = 10.0;
/// Times at which it stops, shakes, and stands again, and the end, in ms.
const STOPS: f64 = 100.0;
const SHAKES: [f64; 2] = [120.0, 200.0];
const END: f64 = 230.0;
/// Amplitude of the shaking, in mm, and its frequency, in 1/ms: 6 m/s², half of what 10 µL
/// withstand at rest, from a jolt of 39 mm/s on.
const AMPLITUDE: f64 = 0.25;
const FREQUENCY: f64 = 0.025;
/// Time between keys and between comparisons, in ms.
const INTERVAL: f64 = 5.0;

/// Place of the plate after a time in ms, in mm.
fn plate(time: f64) -> f64 {
    let s = (time / STOPS).min(1.0);
    let shaken = if time > SHAKES[0] && time < SHAKES[1] {
        AMPLITUDE * (TAU * FREQUENCY * (time - SHAKES[0])).sin()
    } else {
        0.0
    };
    WAY * s * s * (3.0 - 2.0 * s) + shaken
}

/// Place of the drop along the plate's way after every interval, in mm.
fn path(model: &str) -> Vec<f64> {
    let steps = (END / INTERVAL) as u32;
    let times = || (0..=steps).map(|step| INTERVAL * f64::from(step));
    let keys: String = times().map(|t| format!("{{ at = \"{t} ms\", move = \"{} 0 0 mm\" }}, ", plate(t))).collect();
    let text = format!(
        "model = \"{model}\"\n[time]\nduration = \"1 s\"\nframe = \"5 ms\"\n[resolution]\ncell = \"0.3 mm\"\nedge = \"0.15 mm\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"plate\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-15 -3 -10 mm\"\nmax = \"15 0 10 mm\"\n\
         motion = [{keys}]\ninterpolation = \"smooth\"\n\
         [[drops]]\nshape = \"cap\"\non = \"plate\"\nvolume = \"10 uL\"\ncontact_angle = \"75 deg\"\n"
    );
    let scene = parse_str("plate.toml", &text, &[], &NoFiles).unwrap_or_else(|errors| panic!("{errors}")).scene;
    let mut model = build(&scene).unwrap_or_else(|error| panic!("{error}")).model;
    let mut place = |time: f64| {
        while model.time() < 1e-3 * time - 1e-12 {
            model.step(1e-3 * time - model.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        }
        let measures =
            measure_frame(&model.frame(), 0, &[], model.world(), None).unwrap_or_else(|error| panic!("{error}"));
        1e3 * measures.drops[0].centroid.x
    };
    times().map(&mut place).collect()
}

/// Where the drop is in the room, in both models: within 3 % of the plate's way at the end and at
/// all times, and within 3 % of the plate, which carries it.
#[test]
fn a_plate_that_moves_stops_and_shakes_carries_its_drop_alike_in_both_models_v4() {
    let [surface, volume] = ["surface", "volume"].map(path);
    let mut largest = [0.0_f64; 2];
    for (step, (surface, volume)) in surface.iter().zip(&volume).enumerate() {
        let time = INTERVAL * step as f64;
        println!("{time} ms: plate {:.3} mm, surface {surface:.3} mm, volume {volume:.3} mm", plate(time));
        let of_plate = (surface - plate(time)).abs().max((volume - plate(time)).abs());
        largest = [largest[0].max((surface - volume).abs()), largest[1].max(of_plate)];
    }
    println!("largest difference of the models {:.3} mm, from the plate {:.3} mm", largest[0], largest[1]);
    assert!(largest[0] < 0.03 * WAY, "the drops are up to {:.3} mm apart", largest[0]);
    assert!(largest[1] < 0.03 * WAY, "a drop is up to {:.3} mm off the plate", largest[1]);
}
