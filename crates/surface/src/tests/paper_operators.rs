//! The paper's operators one by one: hysteresis, friction, damping, flow and volume correction.

use super::common::{assert_valid, build_paper, cap, plane, run, sphere};
use crate::SurfaceModel;
use crate::mesh::Mesh;
use glam::DVec3;
use sessile_geometry::surface_modes::{amplitude_above, surface_modes};
use sessile_model::{Model, NoTimer, StageValue};

const WEIGHTLESS: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";
/// The shapes' bar of 10 × 2 × 2 mm.
const BAR: &str = "[[drops]]\nshape = \"box\"\nmin = \"-5 -1 -1 mm\"\nmax = \"5 1 1 mm\"\n";

/// Runs without checks, with steps of at most `frame` seconds.
fn play(model: &mut SurfaceModel, seconds: f64, frame: f64) {
    let end = model.time() + seconds;
    while model.time() < end - 1e-9 {
        model.step(frame.min(end - model.time()), &mut NoTimer).unwrap();
    }
    assert_valid(model);
}

/// Distance in mm that a cap slides down a vertical pane in 0.5 s.
fn slide(volume: f64, receding: f64, tables: &str, frame: f64) -> f64 {
    let pane = plane([0.0, 0.0, 1.0], 90.0, receding);
    let mut model = build_paper(&format!("{tables}{pane}{}", cap(volume, 70.0, [0.0; 3])));
    play(&mut model, 0.5, frame);
    -1e3 * model.drops()[0].mesh.centroid().y
}

const STRONG: &str = "[surface]\ngamma = 0.25\n";
const MEDIUM: &str = "[surface]\ngamma = 0.125\n";

#[test]
fn hysteresis_holds_small_drops_on_a_pane() {
    let held = slide(4.0, 30.0, STRONG, 0.02);
    assert!(held < 0.3, "4 µL on 90°/30° slide by {held} mm");
    let without = slide(4.0, 88.0, STRONG, 0.02);
    assert!(without > 10.0, "on 90°/88° they slide by {without} mm only");
}

/// The paper's figure 10: drops "start flowing down with different terminal speeds".
#[test]
fn larger_drops_slide_faster_on_a_pane_at_a_steady_speed() {
    let pane = plane([0.0, 0.0, 1.0], 90.0, 30.0);
    let speeds = [10.0, 30.0].map(|volume| {
        let mut model = build_paper(&format!("{MEDIUM}{pane}{}", cap(volume, 70.0, [0.0; 3])));
        let mut places = [0.0; 3];
        for place in &mut places {
            play(&mut model, 0.25, 0.02);
            *place = -model.drops()[0].mesh.centroid().y;
        }
        [(places[1] - places[0]) / 0.25, (places[2] - places[1]) / 0.25]
    });
    for [early, late] in speeds {
        assert!((late / early - 1.0).abs() < 0.2, "{early} and then {late} m/s");
    }
    assert!(speeds[1][1] > 1.5 * speeds[0][1], "{speeds:?} m/s");
}

/// A pinned line carries (γ/0.5 ms) × its length × sin θ, and the shell's weight is g × its area:
/// equal at γ = 0.12 cm²/s for a base radius of 1.7 mm.
#[test]
fn a_drop_hangs_by_the_tension_of_its_line_and_drips_without_it() {
    let hanging = |gamma: f64| {
        let ceiling = plane([0.0, -1.0, 0.0], 90.0, 30.0);
        let mut model = build_paper(&format!("[surface]\ngamma = {gamma}\n{ceiling}{}", cap(8.0, 80.0, [0.0; 3])));
        play(&mut model, 0.4, 0.02);
        model.drops().iter().filter(|drop| drop.mesh.touches_solid()).map(|drop| 1e9 * drop.volume).sum::<f64>()
    };
    let [strong, weak] = [0.25, 0.0125].map(hanging);
    assert!(strong > 7.999, "{strong} µL of 8 µL hang");
    assert!(weak < 7.0, "{weak} µL of 8 µL hang by next to no tension");
}

/// Friction takes ε per 2 ms from the wetted third of a hemisphere: it holds where
/// ε/3 exceeds the speed that gravity adds, 4.9 m/s² × 2 ms on a slope of 30°.
#[test]
fn friction_holds_a_drop_where_it_exceeds_gravity() {
    let slid = |friction: f64| {
        let slope = plane([0.5, 0.75f64.sqrt(), 0.0], 90.0, 90.0);
        let tables = format!("[surface]\ngamma = 0.25\nfriction = \"{friction} mm/s\"\n");
        let mut model = build_paper(&format!("{tables}{slope}{}", cap(4.0, 90.0, [0.0; 3])));
        play(&mut model, 0.3, 0.02);
        1e3 * model.drops()[0].mesh.centroid().length()
    };
    let [held, slow, free] = [60.0, 15.0, 0.0].map(slid);
    assert!(held < 1.5, "it slides by {held} mm against a friction of twice its weight");
    assert!(slow > 2.0 * held, "it slides by {slow} mm, and by {held} mm against four times the friction");
    // It moves in proportion to what the friction of 15 mm/s leaves of the weight: the drag is
    // viscous.
    let left = 1.0 - 15.0 / 3.0 / 9.81;
    assert!((slow / free - left).abs() < 0.1, "it slides by {slow} mm, and by {free} mm without friction");
}

/// Near the threshold, and at steps up to those that a drop in a steady state chooses itself.
#[test]
fn sliding_near_the_threshold_does_not_depend_on_the_step() {
    let pane = plane([0.0, 0.0, 1.0], 90.0, 60.0);
    let speed = |volume: f64, frame: f64| {
        let mut model = build_paper(&format!("{pane}{}", cap(volume, 80.0, [0.0; 3])));
        play(&mut model, 0.3, frame);
        let start = model.drops()[0].mesh.centroid().y;
        play(&mut model, 0.6, frame);
        1e3 * (start - model.drops()[0].mesh.centroid().y) / 0.3
    };
    for volume in [3.0, 4.0] {
        let fine = speed(volume, 0.5e-3);
        for frame in [2e-3, 20e-3, 1.0 / 30.0] {
            let other = speed(volume, frame);
            let off = (other / fine - 1.0).abs();
            assert!(off < 0.2, "{volume} µL: {other} mm/s in frames of {frame} s, and {fine} mm/s in short steps");
        }
    }
    let held = speed(1.0, 0.5e-3);
    assert!(held < 0.3, "1 µL slides at {held} mm/s");
}

/// Where the viscous drag is all that balances the weight.
#[test]
fn steady_sliding_does_not_depend_on_the_step() {
    let pane = plane([0.0, 0.0, 1.0], 90.0, 30.0);
    let speed = |frame: f64| {
        let mut model = build_paper(&format!("{MEDIUM}{pane}{}", cap(10.0, 80.0, [0.0; 3])));
        play(&mut model, 0.3, frame);
        let start = model.drops()[0].mesh.centroid().y;
        play(&mut model, 0.3, frame);
        (start - model.drops()[0].mesh.centroid().y) / 0.3
    };
    let usual = speed(2e-3);
    for frame in [10e-3, 1.0 / 30.0] {
        let other = speed(frame);
        assert!((other / usual - 1.0).abs() < 0.1, "{other} m/s in frames of {frame} s, {usual} m/s in steps of 2 ms");
    }
}

/// Its vertices move with it, along the contact line as well.
#[test]
fn a_drop_in_steady_sliding_keeps_its_mesh_and_takes_few_substeps() {
    let pane = plane([0.0, 0.0, 1.0], 90.0, 60.0);
    let mut model = build_paper(&format!("{pane}{}", cap(3.0, 80.0, [0.0; 3])));
    play(&mut model, 0.3, 1.0 / 30.0);
    let start = model.drops()[0].mesh.centroid().y;
    let (mut substeps, mut splits) = (0, 0);
    for frame in 10..19 {
        let end = f64::from(frame) / 30.0;
        while model.time() < end - 1e-9 {
            let stages = model.step(end - model.time(), &mut NoTimer).unwrap().stages;
            let count = |name: &str| match stages.get(name) {
                Some(StageValue::Total(count)) => count,
                _ => 0,
            };
            (substeps, splits) = (substeps + count("drops.substeps"), splits + count("remesh.splits"));
        }
    }
    let path = 1e3 * (start - model.drops()[0].mesh.centroid().y);
    assert!(path > 3.0, "it slides by {path} mm only");
    assert!(substeps <= 20, "{substeps} substeps in 9 frames");
    assert!(splits <= 30, "{splits} edges are split while it slides by {path} mm");
}

/// A drop that slides by up to four edges per substep, farther than the small drops in its way are
/// wide, unites with each of them and with no other.
#[test]
fn a_fast_drop_takes_up_the_small_drops_in_its_way() {
    let pane = plane([0.0, 0.0, 1.0], 90.0, 30.0);
    let mut tables = format!("{MEDIUM}{pane}{}", cap(30.0, 70.0, [0.0; 3]));
    for k in 0..6 {
        let y = -12.0 - 5.0 * f64::from(k);
        tables += &(cap(0.1, 70.0, [0.4, y, 0.0]) + &cap(0.1, 70.0, [7.0, y, 0.0]));
    }
    let mut model = build_paper(&tables);
    play(&mut model, 0.4, 1.0 / 30.0);
    let y = 1e3 * model.drops()[0].mesh.centroid().y;
    assert!(y < -45.0, "it is at {y} mm");
    let volume = 1e9 * model.drops()[0].volume;
    assert!((volume - 30.6).abs() < 1e-6, "it has {volume} µL");
    assert_eq!(model.drops().len(), 7, "those beside its way stay");
}

#[test]
fn mu_slows_a_drop_in_flight_exponentially() {
    for mu in [0.0f64, 0.4, 5.0] {
        let drop = sphere(1.0, [0.0; 3], [0.1, 0.0, 0.0]);
        let mut model = build_paper(&format!("{WEIGHTLESS}[surface]\nmu = \"{mu} 1/s\"\n{drop}"));
        play(&mut model, 0.2, 0.02);
        let kept = model.drops()[0].velocity.x / 0.1;
        let exact = (-0.2 * mu).exp();
        assert!((kept / exact - 1.0).abs() < 0.01, "μ = {mu}: {kept} of the speed is left instead of {exact}");
    }
}

/// Largest extent along x in mm of a weightless bar after some seconds.
fn bar_length(tables: &str, seconds: f64, frame: f64) -> f64 {
    let mut model = build_paper(&format!("{WEIGHTLESS}{tables}{BAR}"));
    play(&mut model, seconds, frame);
    let [low, high] = model.drops()[0].mesh.bounds();
    1e3 * (high.x - low.x)
}

#[test]
fn eta_slows_the_contraction_of_a_bar() {
    let [free, thick] = [0.0, 1.0].map(|eta| bar_length(&format!("[surface]\neta = {eta}\n"), 0.03, 2e-3));
    assert!(thick > 1.2 * free, "the bar is {free} mm long, {thick} mm with η = 1");
}

/// Amplitude of the modes above 4 of the radius of a bar along x, relative to its mean radius.
fn detail(mesh: &Mesh) -> f64 {
    let center = mesh.centroid();
    let modes: [f64; 25] =
        surface_modes(mesh.triangles.iter().map(|corners| corners.map(|v| mesh.positions[v] - center)));
    amplitude_above(&modes, 4)
}

/// The paper's figure 4.
#[test]
fn a_bar_relaxes_with_local_correction_and_keeps_more_detail_than_with_global_correction() {
    let mut details = [0.0; 2];
    for (kind, detail_left) in ["local", "global"].into_iter().zip(&mut details) {
        let scene = format!("{WEIGHTLESS}[resolution]\nedge = \"0.2 mm\"\n[surface]\nvolume_correction = \"{kind}\"\n");
        let mut model = build_paper(&format!("{scene}{BAR}"));
        play(&mut model, 0.02, 2e-3);
        *detail_left = detail(&model.drops()[0].mesh);
        play(&mut model, 0.06, 2e-3);
        let [low, high] = model.drops()[0].mesh.bounds();
        let length = 1e3 * (high.x - low.x);
        assert!(length < 5.0, "with {kind} correction the bar is {length} mm long after 80 ms");
        assert!(model.drops()[0].velocity.length() < 1e-9, "{kind} correction conserves momentum");
    }
    assert!(details[0] > 1.5 * details[1], "above mode 4 {details:?} is left");
}

#[test]
fn the_contraction_of_a_bar_does_not_depend_on_the_frame_interval_and_the_triangles() {
    // Local correction decays over a time as long as the longest step: an error of first order.
    for (kind, bound) in [("local", 0.08), ("global", 0.04)] {
        let length = |edge: f64, frame: f64| {
            let edge = format!("[resolution]\nedge = \"{edge} mm\"\n[surface]\nvolume_correction = \"{kind}\"\n");
            bar_length(&edge, 0.04, frame)
        };
        let usual = length(0.2, 2e-3);
        for (edge, frame) in [(0.2, 1e-3), (0.2, 0.5e-3), (0.15, 2e-3), (0.3, 2e-3)] {
            let other = length(edge, frame);
            assert!((other / usual - 1.0).abs() < bound, "{kind}, {edge} mm, {frame} s: {other} mm, and {usual} mm");
        }
    }
}

#[test]
fn sliding_on_a_pane_does_not_depend_on_the_frame_interval_and_the_triangles() {
    let distance =
        |edge: f64, frame: f64| slide(30.0, 30.0, &format!("[resolution]\nedge = \"{edge} mm\"\n{MEDIUM}"), frame);
    let usual = distance(0.3, 2e-3);
    for (edge, frame) in [(0.3, 1e-3), (0.2, 2e-3), (0.4, 2e-3)] {
        let other = distance(edge, frame);
        assert!((other / usual - 1.0).abs() < 0.15, "{edge} mm, {frame} s: {other} mm, and {usual} mm");
    }
}

/// The paper's figure 9: with next to no tension the front of a stream falls freely.
#[test]
fn a_stream_of_little_tension_falls_freely() {
    let tap = "[[emitters]]\nkind = \"tap\"\nat = \"0 0 0 mm\"\nradius = \"1 mm\"\nspeed = \"0.5 m/s\"\n";
    let mut model = build_paper(&format!("[resolution]\nedge = \"0.3 mm\"\n[surface]\ngamma = 0.01\n{tap}"));
    run(&mut model, 0.08);
    let bounds = || model.drops().iter().map(|drop| drop.mesh.bounds());
    let lowest = bounds().map(|[low, _]| low.y).fold(f64::INFINITY, f64::min);
    let highest = bounds().map(|[_, high]| high.y).fold(f64::NEG_INFINITY, f64::max);
    // The front retracts at √(γ/0.5 ms).
    let fallen = 0.5 * 0.08 + 0.5 * 9.81 * 0.08 * 0.08 - (0.01e-4f64 / 0.5e-3).sqrt() * 0.08;
    assert!((-lowest / fallen - 1.0).abs() < 0.1, "its front is {lowest} m below the tap instead of {fallen} m");
    assert!(highest < 1e-4, "liquid rises {highest} m above the tap");
}

/// The paper's figure 8 with its smallest coefficient.
#[test]
fn a_flat_drop_of_little_tension_rests_where_it_was_put() {
    let floor = plane([0.0, 1.0, 0.0], 150.0, 140.0);
    let drop = sphere(1.0, [0.0, 1.05, 0.0], [0.0; 3]);
    let mut model = build_paper(&format!("[resolution]\nedge = \"0.2 mm\"\n[surface]\ngamma = 0.05\n{floor}{drop}"));
    run(&mut model, 0.6);
    let (speed, at) = (model.drops()[0].velocity.length(), model.drops()[0].mesh.centroid());
    assert!(speed < 1e-3, "it moves at {speed} m/s");
    assert!(DVec3::new(at.x, 0.0, at.z).length() < 0.1e-3, "it has moved to {at}");
}
