//! A drop that lands in the fast models: it spreads, retracts, and comes to rest or rebounds.

use sessile_frames::FrameMeasures;
use sessile_model::NoTimer;
use sessile_scene::{NoFiles, parse_str};
use sessile_sim::Stepper;

/// Diameter of the drop, in m.
const DIAMETER: f64 = 2e-3;

/// A ball of 2 mm hits a plate of a material of these angles (in degrees), with frames of `frame`
/// seconds.
fn scene(model: &str, [advancing, receding]: [f64; 2], speed: f64, frame: f64) -> String {
    format!(
        "model = \"{model}\"\n[time]\nduration = \"{} s\"\nframe = \"{frame} s\"\n\
         [materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n\
         [[solids]]\nname = \"table\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"60 60 mm\"\n\
         [[drops]]\ncenter = \"0 1.001 0 mm\"\nradius = \"1 mm\"\nvelocity = \"0 -{speed} 0 m/s\"\n",
        40.0 * frame
    )
}

fn stepper(text: &str) -> Stepper {
    let scene = parse_str("landing.toml", text, &[], &NoFiles).expect("the scene is valid").scene;
    Stepper::new(scene).expect("the model accepts the scene")
}

/// Measures of the next frames.
fn frames(stepper: &mut Stepper, count: u32) -> Vec<FrameMeasures> {
    let mut all = Vec::new();
    for _ in 0..count {
        let number = stepper.frame_number() + 1;
        while stepper.frame_number() < number {
            let target = stepper.next_frame_time();
            stepper.step(target, &mut NoTimer).expect("the step succeeds");
        }
        all.push(stepper.measured(&mut NoTimer).expect("the frame is measured").measures);
    }
    all
}

const MODELS: [&str; 2] = ["droplet", "pane"];

#[test]
fn a_drop_spreads_as_the_correlations_say_and_comes_to_rest_near_its_receding_angle() {
    for model in MODELS {
        let all = frames(&mut stepper(&scene(model, [75.0, 55.0], 1.6, 5e-4)), 40);
        let widest = all.iter().map(|frame| 2.0 * frame.drops[0].base_radius / DIAMETER).fold(0.0, f64::max);
        assert!((2.6..3.65).contains(&widest), "{model}: spread of {widest}");
        for frame in &all {
            let drop = &frame.drops[0];
            let off = (drop.volume + frame.lost_volume) / frame.added_volume - 1.0;
            assert!(off.abs() < 1e-12, "{model} at {} s: volume off by {off:e}", frame.time);
            let radius = drop.base_radius;
            // What is shown is a body of that volume on its base.
            assert!(drop.height > 0.0 && drop.max_radius >= 0.99 * radius, "{model} at {} s: {drop:?}", frame.time);
        }
        let last = &all[39].drops[0];
        let angle = last.contact_angle_deg.as_ref().map_or(f64::NAN, |angle| angle.mean);
        assert!((50.0..76.0).contains(&angle), "{model}: rests at {angle}°");
    }
}

#[test]
fn a_drop_rebounds_from_a_repellent_plate() {
    for model in MODELS {
        let all = frames(&mut stepper(&scene(model, [163.0, 157.0], 0.8, 5e-4)), 30);
        let airborne = all.iter().find(|frame| frame.time > 2e-3 && frame.drops[0].contacts.is_empty());
        let up = airborne.map_or(0.0, |frame| frame.drops[0].velocity.y);
        assert!((0.04..0.76).contains(&up), "{model}: {up} m/s");
    }
}

/// Saving and restoring in the middle of the spread changes nothing.
#[test]
fn a_spreading_drop_resumes_where_it_was() {
    for model in MODELS {
        let text = scene(model, [75.0, 55.0], 1.6, 5e-4);
        let mut whole = stepper(&text);
        frames(&mut whole, 4);
        let saved = whole.model().save();
        let expected = frames(&mut whole, 12);
        let mut resumed = stepper(&text);
        frames(&mut resumed, 4);
        resumed.model_mut().restore(&saved).expect("the state fits");
        let found = frames(&mut resumed, 12);
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(format!("{:?}", expected.drops), format!("{:?}", found.drops), "{model}");
        }
    }
}

/// Coarse frames show the same motion as fine ones.
#[test]
fn the_spread_does_not_depend_on_the_frames() {
    for model in MODELS {
        let fine = frames(&mut stepper(&scene(model, [90.0, 60.0], 1.0, 2.5e-4)), 40);
        let coarse = frames(&mut stepper(&scene(model, [90.0, 60.0], 1.0, 2e-3)), 5);
        for frame in &coarse {
            let same = fine.iter().find(|other| (other.time - frame.time).abs() < 1e-9).expect("a frame at that time");
            let ratio = frame.drops[0].base_radius / same.drops[0].base_radius;
            assert!((ratio - 1.0).abs() < 0.05, "{model} at {} s: {ratio}", frame.time);
        }
    }
}
