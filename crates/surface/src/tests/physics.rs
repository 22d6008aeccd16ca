//! Physics of the whole model, with remeshing and topology changes.

use super::common::{assert_no_self_intersection, build, cap, plane, run, sphere};
use crate::SurfaceModel;
use glam::DVec3;
use sessile_model::Model;

const WEIGHTLESS: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

/// Gravity turns from normal to tangential over 0.3 s; position of the drop after 0.5 s and 0.7 s,
/// in mm.
fn on_turning_pane(volume: f64) -> [f64; 2] {
    let gravity = "[world]\ngravity = [{ at = \"0 s\", value = \"0 -9.8 0 m/s^2\" }, { at = \"0.3 s\", value = \"9.8 0 0 m/s^2\" }]\n";
    let mut model = build(&format!("{gravity}{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), cap(volume, 75.0, [0.0; 3])));
    [0.5, 0.2].map(|seconds| {
        run(&mut model, seconds);
        model.drops()[0].mesh.centroid().x * 1e3
    })
}

#[test]
fn small_drops_stay_pinned_on_a_pane_and_large_ones_slide() {
    for volume in [5.0, 8.0] {
        let [settled, later] = on_turning_pane(volume);
        assert!(settled < 0.2 && (later - settled).abs() < 1e-3, "{volume} µL: {settled} mm, then {later} mm");
    }
    let [start, later] = on_turning_pane(30.0);
    assert!(later - start > 30.0, "30 µL slid from {start} mm to {later} mm in 0.2 s");
}

#[test]
fn pendant_drops_detach_above_their_largest_volume() {
    // The limit at 90° is 69 µL.
    let hanging = |volume: f64| {
        let mut model = build(&format!("{}{}", plane([0.0, -1.0, 0.0], 90.0, 90.0), cap(volume, 90.0, [0.0; 3])));
        run(&mut model, 0.12);
        model
    };
    let lowest = |model: &SurfaceModel| model.drops().iter().map(|drop| drop.mesh.bounds()[0].y).fold(0.0, f64::min);
    let (held, fallen) = (hanging(40.0), hanging(90.0));
    assert!(lowest(&held) > -4e-3 && held.drops()[0].mesh.touches_solid(), "40 µL reaches down to {} m", lowest(&held));
    assert!(lowest(&fallen) < -10e-3, "90 µL reaches down to {} m", lowest(&fallen));
}

#[test]
fn ligaments_are_unstable_to_perturbations_longer_than_their_circumference() {
    let longest = |wavelength: f64| {
        let mut model = build(&format!(
            "{WEIGHTLESS}[resolution]\nedge = \"0.25 mm\"\n[[drops]]\nshape = \"cylinder\"\nfrom = \"0 0 0 mm\"\nto = \"36 0 0 mm\"\n\
             radius = \"1 mm\"\namplitude = 0.1\nwavelength = \"{wavelength} mm\"\n"
        ));
        run(&mut model, 0.035);
        assert_no_self_intersection(&model);
        // The longest piece: every long ligament also pinches off a drop at each end.
        model.drops().iter().map(|drop| drop.mesh.bounds()).map(|[low, high]| high.x - low.x).fold(0.0, f64::max)
    };
    let (long, short) = (longest(9.0), longest(4.5));
    assert!(long < 12e-3, "a ripple of 9 mm left a piece {long} m long");
    assert!(short > 15e-3, "a ripple of 4.5 mm left none longer than {short} m");
}

#[test]
fn volume_and_momentum_are_conserved_when_drops_merge() {
    let scene = format!(
        "{WEIGHTLESS}{}{}",
        sphere(1.0, [0.0; 3], [0.4, 0.0, 0.0]),
        sphere(0.8, [3.0, 0.5, 0.0], [-0.2, 0.1, 0.0])
    );
    let mut model = build(&scene);
    let (volume, momentum) = (model.volume(), momentum(&model));
    let reports = run(&mut model, 0.03);
    assert_no_self_intersection(&model);
    assert_eq!(model.drops().len(), 1);
    assert_eq!(reports.iter().map(|report| report.events.len()).sum::<usize>(), 1);
    let off = (model.volume() / volume - 1.0).abs();
    assert!(off < 1e-12, "volume off by {off:e}");
    let off = self::momentum(&model).distance(momentum) / momentum.length();
    assert!(off < 1e-3, "momentum off by {off:e}");
}

fn momentum(model: &SurfaceModel) -> DVec3 {
    model.drops().iter().map(|drop| drop.velocity * drop.volume).sum()
}

#[test]
fn a_drop_that_lands_comes_to_rest_between_its_contact_angles() {
    let mut model =
        build(&format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), sphere(1.0, [0.0, 2.0, 0.0], [0.0, -0.8, 0.0])));
    run(&mut model, 0.3);
    assert_no_self_intersection(&model);
    let drop = &model.drops()[0];
    let wetted = drop.mesh.wetted_area();
    let base = (wetted / std::f64::consts::PI).sqrt();
    // Between the base radii at 90° and at 60°.
    assert!(base > 1.2e-3 && base < 1.7e-3, "base radius {base} m");
    assert!(drop.velocity.length() < 1e-3, "still moves at {} m/s", drop.velocity.length());
}

#[test]
fn drops_on_a_sphere_stay_on_it_and_slide_down() {
    let solid = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"80 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\n";
    let mut model = build(&format!("{solid}{}", cap(8.0, 85.0, [3.0, 1.0, 0.0])));
    run(&mut model, 0.15);
    assert_no_self_intersection(&model);
    let drop = &model.drops()[0];
    assert!(drop.mesh.centroid().y < -1e-3, "it is at {} m", drop.mesh.centroid());
    for v in drop.mesh.vertex_indices() {
        let distance = model.world().signed_distance(drop.mesh.positions[v]);
        let on = drop.mesh.interface_at(v).is_solid();
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
fn a_tap_emits_its_volume_and_the_stream_breaks_into_drops() {
    let mut model = tap(0.6);
    run(&mut model, 0.06);
    let (expected, got) = (std::f64::consts::PI * 1e-6 * 0.6 * 0.06, model.volume());
    assert!((got / expected - 1.0).abs() < 1e-9, "{got} m³ of {expected}");
    assert!(model.drops().len() > 2, "{} drops", model.drops().len());
}

/// A slow tap of 1 mm radius releases drops of some 34 µL.
#[test]
fn a_drop_detaches_from_a_slow_tap_at_tates_volume() {
    let mut model = tap(0.015);
    while model.drops().len() < 2 && model.time() < 1.2 {
        run(&mut model, 0.02);
    }
    let fallen = model.drops()[0].volume * 1e9;
    assert!((29.0..42.0).contains(&fallen), "the first drop to fall holds {fallen} µL");
}

/// A rod is dragged through a drop.
#[test]
fn a_moving_rod_displaces_a_drop() {
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

/// Largest distance, in µm, that the middle of a pinned drop's base strays from its place on the
/// plate, which moves by these keys for 0.2 s. The drop starts 10 mm from the plate's origin.
fn strays_by(keys: &str) -> f64 {
    let motion = format!("motion = [\n{keys}]\ninterpolation = \"smooth\"\n");
    let floor = plane([0.0, 1.0, 0.0], 120.0, 20.0).replace("[[solids]]", &format!("[[solids]]\n{motion}"));
    let mut model = build(&format!("{floor}{}", cap(6.0, 75.0, [10.0, 0.0, 0.0])));
    let place = |model: &SurfaceModel| {
        let solid = &model.world().solids()[0];
        let wetted = model.drops()[0].mesh.positions.iter().filter(|p| solid.signed_distance(**p) < 1e-6);
        let wetted = wetted.map(|p| solid.world_from_rest().apply_inverse(*p));
        let [low, high] = wetted.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[a, b], p| [a.min(p), b.max(p)]);
        0.5e6 * (low + high)
    };
    let start = place(&model);
    let mut furthest: f64 = 0.0;
    for _ in 0..20 {
        run(&mut model, 0.01);
        furthest = furthest.max(place(&model).distance(start));
    }
    furthest
}

/// With the solid's velocity at the start of a step instead of the mean one, the base lags by
/// v Δt/2 (0.15 mm) and drifts outwards at r ω² Δt/2 (by 0.10 mm).
#[test]
fn a_shaken_and_a_turning_plate_carry_a_pinned_drop_v4() {
    let shake: String = (0..=20)
        .map(|key| {
            let x = 10.0 * (1.0 - (std::f64::consts::PI * f64::from(key) / 10.0).cos());
            format!("{{ at = \"{} ms\", move = \"{x} 0 0 mm\" }},\n", 10 * key)
        })
        .collect();
    let turn = "{ at = \"0 s\" }, { at = \"0.2 s\", rotate = \"0 120 0 deg\" }";
    for (motion, keys) in [("turning", turn), ("shaken", shake.as_str())] {
        let strays = strays_by(keys);
        println!("{motion}: {strays:.2} µm");
        assert!(strays < 10.0, "on a {motion} plate the base strays by {strays:.1} µm");
    }
}

/// Contact angle, in degrees, of a drop of 12 µL at 60° that is drained to 4 µL and fed to 7 µL
/// again.
fn angle_after_return(memory: &str) -> f64 {
    let floor = plane([0.0, 1.0, 0.0], 95.0, 50.0).replace("[[solids]]", &format!("{memory}\n[[solids]]"));
    let feed = |rate: f64, from: f64, to: f64| {
        format!(
            "[[emitters]]\nkind = \"feed\"\nat = \"0 0.2 0 mm\"\nrate = \"{rate} uL/s\"\nstart = \"{from} s\"\nstop = \"{to} s\"\n"
        )
    };
    let mut model =
        build(&format!("{floor}{}{}{}", cap(12.0, 60.0, [0.0; 3]), feed(-40.0, 0.0, 0.2), feed(30.0, 0.25, 0.35)));
    run(&mut model, 0.45);
    let mesh = &model.drops()[0].mesh;
    let wetted = mesh.wetted_area();
    assert_eq!(model.frame().wet.len(), 1, "the floor has a wet map");
    2.0 * (mesh.bounds()[1].y / (wetted / std::f64::consts::PI).sqrt()).atan().to_degrees()
}

#[test]
fn the_contact_line_advances_at_the_wet_angle_where_the_solid_was_wet() {
    let (dry, wet) = (angle_after_return(""), angle_after_return("wet_advancing = \"60 deg\""));
    assert!(dry > 68.0, "without memory it stands at {dry}°");
    assert!((54.0..64.0).contains(&wet), "with it at {wet}°");
}
