//! Drops through the whole model, on meshes that change: every surface is checked after every step.

mod common;

use common::{ball, build, cap, plane, run, uncrossed};
use sessile_model::Model;
use sessile_surface::SurfaceModel;

const WEIGHTLESS: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

/// Gravity turns from normal to tangential over 0.3 s; the drop's place after 0.5 s and after 1.5 s, in mm.
fn on_turning_pane(volume: f64) -> [f64; 2] {
    let gravity = "[world]\ngravity = [{ at = \"0 s\", value = \"0 -9.8 0 m/s^2\" }, { at = \"0.3 s\", value = \"9.8 0 0 m/s^2\" }]\n";
    let mut model = build(&format!("{gravity}{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), cap(volume, 75.0, [0.0; 3])));
    [0.5, 0.2].map(|seconds| {
        run(&mut model, seconds);
        model.drops()[0].mesh.centroid().x * 1e3
    })
}

#[test]
fn small_drops_hold_on_a_pane_without_creep_and_large_ones_run() {
    for volume in [5.0, 8.0] {
        let [settled, later] = on_turning_pane(volume);
        assert!(settled < 0.2 && (later - settled).abs() < 1e-3, "{volume} µL: {settled} mm, then {later} mm");
    }
    let [start, later] = on_turning_pane(30.0);
    assert!(later - start > 30.0, "30 µL ran from {start} mm to {later} mm in 0.2 s");
}

#[test]
fn pendant_drops_hang_below_their_limit_and_fall_above_it() {
    // The limit at 90° is 69 µL.
    let hanging = |volume: f64| {
        let mut model = build(&format!("{}{}", plane([0.0, -1.0, 0.0], 90.0, 90.0), cap(volume, 90.0, [0.0; 3])));
        run(&mut model, 0.12);
        model
    };
    let lowest = |model: &SurfaceModel| model.drops().iter().map(|drop| drop.mesh.bounds()[0].y).fold(0.0, f64::min);
    let (held, fallen) = (hanging(40.0), hanging(90.0));
    assert!(lowest(&held) > -4e-3 && held.drops()[0].mesh.touches(), "40 µL reaches down to {} m", lowest(&held));
    assert!(lowest(&fallen) < -10e-3, "90 µL reaches down to {} m", lowest(&fallen));
}

#[test]
fn threads_break_when_rippled_longer_than_their_girth_and_heal_otherwise() {
    let longest = |wavelength: f64| {
        let mut model = build(&format!(
            "{WEIGHTLESS}[resolution]\nedge = \"0.25 mm\"\n[[drops]]\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"36 0 0 mm\"\n\
             radius = \"1 mm\"\namplitude = 0.1\nwavelength = \"{wavelength} mm\"\n"
        ));
        run(&mut model, 0.035);
        uncrossed(&model);
        // The longest piece: at its ends every long thread of thin liquid pinches off a drop.
        model.drops().iter().map(|drop| drop.mesh.bounds()).map(|[low, high]| high.x - low.x).fold(0.0, f64::max)
    };
    let (long, short) = (longest(9.0), longest(4.5));
    assert!(long < 12e-3, "a ripple of 9 mm left a piece {long} m long");
    assert!(short > 15e-3, "a ripple of 4.5 mm left none longer than {short} m");
}

#[test]
fn colliding_drops_become_one_with_their_volume_and_momentum() {
    let scene =
        format!("{WEIGHTLESS}{}{}", ball(1.0, [0.0; 3], [0.4, 0.0, 0.0]), ball(0.8, [3.0, 0.5, 0.0], [-0.2, 0.1, 0.0]));
    let mut model = build(&scene);
    let (volume, momentum) = (model.volume(), momentum(&model));
    let reports = run(&mut model, 0.03);
    uncrossed(&model);
    assert_eq!(model.drops().len(), 1);
    assert_eq!(reports.iter().map(|report| report.events.len()).sum::<usize>(), 1);
    let off = (model.volume() / volume - 1.0).abs();
    assert!(off < 1e-12, "volume off by {off:e}");
    let off = self::momentum(&model).distance(momentum) / momentum.length();
    assert!(off < 1e-3, "momentum off by {off:e}");
}

fn momentum(model: &SurfaceModel) -> glam::DVec3 {
    model.drops().iter().map(|drop| drop.velocity * drop.volume).sum()
}

#[test]
fn a_drop_that_falls_on_a_floor_spreads_and_comes_to_rest_between_its_angles() {
    let mut model =
        build(&format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), ball(1.0, [0.0, 2.0, 0.0], [0.0, -0.8, 0.0])));
    run(&mut model, 0.3);
    uncrossed(&model);
    let drop = &model.drops()[0];
    let wetted: f64 = (0..drop.mesh.triangles.len())
        .filter(|&t| drop.mesh.solids[t] >= 0)
        .map(|t| drop.mesh.area_vector(t).length())
        .sum();
    let base = (wetted / std::f64::consts::PI).sqrt();
    // Between the base radii at 90° and at 60°.
    assert!(base > 1.2e-3 && base < 1.7e-3, "base radius {base} m");
    assert!(drop.velocity.length() < 1e-3, "still moves at {} m/s", drop.velocity.length());
}

#[test]
fn drops_on_a_sphere_stay_on_it_and_slide_down() {
    let ground = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"80 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\n";
    let mut model = build(&format!("{ground}{}", cap(8.0, 85.0, [3.0, 1.0, 0.0])));
    run(&mut model, 0.15);
    uncrossed(&model);
    let drop = &model.drops()[0];
    assert!(drop.mesh.centroid().y < -1e-3, "it is at {} m", drop.mesh.centroid());
    for v in 0..drop.mesh.positions.len() as u32 {
        let distance = model.world().signed_distance(drop.mesh.positions[v as usize]);
        let on = drop.mesh.solid_at(v) >= 0;
        assert!(
            if on { distance.abs() < 1e-9 } else { distance > -1e-4 },
            "vertex {v}, in contact: {on}, at {distance} m"
        );
    }
}

fn tap(speed: f64) -> SurfaceModel {
    build(&format!(
        "[[emitters]]\nkind = \"tap\"\nat = \"0 0 0 mm\"\ndirection = [0, -1, 0]\nradius = \"1 mm\"\nspeed = \"{speed} m/s\"\n"
    ))
}

#[test]
fn a_tap_pours_what_it_says_and_its_stream_breaks_into_drops() {
    let mut model = tap(0.6);
    run(&mut model, 0.06);
    let (expected, got) = (std::f64::consts::PI * 1e-6 * 0.6 * 0.06, model.volume());
    assert!((got / expected - 1.0).abs() < 1e-9, "{got} m³ of {expected}");
    assert!(model.drops().len() > 2, "{} drops", model.drops().len());
}

/// A slow tap of wetted radius 1 mm lets drops of some 34 µL fall.
#[test]
fn a_dripping_tap_lets_go_when_weight_exceeds_tension() {
    let mut model = tap(0.015);
    while model.drops().len() < 2 && model.time() < 1.2 {
        run(&mut model, 0.02);
    }
    let fallen = model.drops()[0].volume * 1e9;
    assert!((29.0..42.0).contains(&fallen), "the first drop to fall holds {fallen} µL");
}

/// A rod that is dragged through a drop takes it along and off its place.
#[test]
fn a_moving_solid_pushes_drops_before_it() {
    let rod = "[[solids]]\nname = \"rod\"\nmaterial = \"n\"\nshape = \"cylinder\"\nfrom = \"-6 -1 0 mm\"\nto = \"-6 5 0 mm\"\nradius = \"2 mm\"\n\
               motion = [{ at = \"0 s\", move = \"0 0 0 mm\" }, { at = \"0.1 s\", move = \"12 0 0 mm\" }]\n\
               [materials.n]\nadvancing = \"120 deg\"\nreceding = \"110 deg\"\n";
    let mut model = build(&format!("{}{rod}{}", plane([0.0, 1.0, 0.0], 95.0, 85.0), cap(10.0, 90.0, [0.0; 3])));
    run(&mut model, 0.1);
    let place = model.drops()[0].mesh.centroid() * 1e3;
    assert!(place.x > 2.0 || place.z.abs() > 2.0, "the drop is at {place} mm");
    let rod = &model.world().solids()[1];
    let deepest =
        model.drops().iter().flat_map(|drop| &drop.mesh.positions).map(|p| rod.signed_distance(*p)).fold(0.0, f64::min);
    assert!(deepest > -0.1e-3, "liquid is {deepest} m inside the rod");
}

/// Cap angle, in degrees, of a drop of 12 µL at 60° that was drained to 4 µL over receding ground and then fed to 7 µL again.
fn angle_after_return(memory: &str) -> f64 {
    let ground = plane([0.0, 1.0, 0.0], 95.0, 50.0).replace("[[solids]]", &format!("{memory}\n[[solids]]"));
    let feed = |rate: f64, from: f64, to: f64| {
        format!(
            "[[emitters]]\nkind = \"feed\"\nat = \"0 0.2 0 mm\"\nrate = \"{rate} uL/s\"\nstart = \"{from} s\"\nstop = \"{to} s\"\n"
        )
    };
    let mut model =
        build(&format!("{ground}{}{}{}", cap(12.0, 60.0, [0.0; 3]), feed(-40.0, 0.0, 0.2), feed(30.0, 0.25, 0.35)));
    run(&mut model, 0.45);
    let mesh = &model.drops()[0].mesh;
    let wetted: f64 =
        (0..mesh.triangles.len()).filter(|&t| mesh.solids[t] >= 0).map(|t| mesh.area_vector(t).length()).sum();
    assert_eq!(model.frame().wet.len(), 1, "the floor has a wet map");
    2.0 * (mesh.bounds()[1].y / (wetted / std::f64::consts::PI).sqrt()).atan().to_degrees()
}

#[test]
fn lines_advance_at_the_wet_angle_over_ground_that_was_wet() {
    let (dry, wet) = (angle_after_return(""), angle_after_return("wet_advancing = \"60 deg\""));
    assert!(dry > 68.0, "without memory it stands at {dry}°");
    assert!((54.0..64.0).contains(&wet), "with it at {wet}°");
}
