//! Initial drops have the volume and the position that the scene gives.

use std::f64::consts::PI;

use crate::common::*;
use glam::DVec3;
use sessile_scene::types::*;
use sessile_world::{InitialDrop, World, WorldError};

fn build(mut scene: Scene, shape: DropShape) -> World {
    scene.drops = vec![drop(shape)];
    World::build(&scene).expect("a world")
}

/// Amount and centroid of the points with negative distance, on a grid of `n` cells along the
/// longest side of the bounds. A cell that a smooth surface passes counts by the distance at its
/// middle; at a cap's contact line that would count too much.
fn sampled(drop: &InitialDrop, planar: bool, n: usize) -> (f64, DVec3) {
    let [low, high] = drop.bounds();
    let cell = (high - low).max_element() / n as f64;
    let cells = ((high - low) / cell).ceil();
    let nz = if planar { 1 } else { cells.z as usize };
    let (mut held, mut moment) = (0.0, DVec3::ZERO);
    for i in 0..cells.x as usize {
        for j in 0..cells.y as usize {
            for k in 0..nz {
                let mut p = low + (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * cell;
                if planar {
                    p.z = 0.0;
                }
                let distance = drop.signed_distance(p) / cell;
                let part =
                    if drop.cap().is_some() { f64::from(distance < 0.0) } else { (0.5 - distance).clamp(0.0, 1.0) };
                held += part;
                moment += p * part;
            }
        }
    }
    (held * cell.powi(if planar { 2 } else { 3 }), moment / held)
}

/// Both ways to the volume and the centroid, to `tolerance` relative (to the radius of the same
/// amount).
fn check_amount(world: &World, planar: bool, tolerance: f64) {
    let drop = &world.initial_drops()[0];
    let (held, centroid) = sampled(
        drop,
        planar,
        if planar {
            400
        } else if drop.cap().is_some() {
            150
        } else {
            50
        },
    );
    let error = held / drop.volume() - 1.0;
    assert!(error.abs() < tolerance, "its distance holds {held:e}, it says {:e}: off by {error:.1e}", drop.volume());
    let radius = if planar { (held / PI).sqrt() } else { (0.75 * held / PI).cbrt() };
    let off = centroid.distance(drop.centroid()) / radius;
    assert!(off < tolerance, "centroid {centroid} by distance, {} said: off by {off:.1e} radii", drop.centroid());
}

fn sphere(amount: Amount, mode: u32, amplitude: f64) -> DropShape {
    let axis = DVec3::new(0.6, 0.8, 0.0);
    DropShape::Sphere { center: DVec3::new(1e-3, 2e-3, 0.0), amount, mode, amplitude, axis }
}

fn planar() -> Scene {
    let mut scene = empty();
    scene.world.planar = true;
    scene
}

#[test]
fn perturbed_drops_have_their_volume() {
    for (mode, amplitude) in [(0, 0.0), (2, 0.3), (3, 0.2), (4, -0.2), (7, 0.1)] {
        let world = build(empty(), sphere(Amount::Volume(4.19e-9), mode, amplitude));
        assert_eq!(world.initial_drops()[0].volume(), 4.19e-9);
        check_amount(&world, false, 1e-3);
        let world = build(planar(), sphere(Amount::Area(4e-6), mode, amplitude));
        check_amount(&world, true, 1e-3);
    }
}

#[test]
fn a_perturbed_drop_has_its_mode_along_its_axis() {
    let world = build(empty(), sphere(Amount::Volume(4.19e-9), 2, 0.1));
    let drop = &world.initial_drops()[0];
    let (center, axis) = (DVec3::new(1e-3, 2e-3, 0.0), DVec3::new(0.6, 0.8, 0.0));
    let radius = (0.75 * 4.19e-9 / PI).cbrt();
    let pole = drop.signed_distance(center + axis * radius) / radius;
    let equator = drop.signed_distance(center + DVec3::Z * radius) / radius;
    // P₂ is 1 at the poles and −½ at the equator; volume takes ε²/5 = 0.002 back.
    assert!((pole + 0.098).abs() < 1e-3 && (equator - 0.052).abs() < 1e-3, "pole {pole}, equator {equator}");
}

#[test]
fn distances_of_perturbed_drops_have_unit_gradient() {
    let world = build(empty(), sphere(Amount::Volume(4.19e-9), 4, 0.15));
    let drop = &world.initial_drops()[0];
    let h = 1e-8;
    for i in 0..300 {
        let f = f64::from(i);
        let direction = DVec3::new((1.3 * f).sin(), (2.1 * f).cos(), (0.7 * f).sin()).normalize();
        let p = DVec3::new(1e-3, 2e-3, 0.0) + direction * (0.8e-3 + 1e-6 * f * 4.0);
        let slope =
            DVec3::AXES.map(|e| (drop.signed_distance(p + e * h) - drop.signed_distance(p - e * h)) / (2.0 * h));
        let length = DVec3::from_array(slope).length();
        assert!((length - 1.0).abs() < 1e-5, "at {p}: {length}");
    }
}

fn cap(on: usize, center: DVec3, amount: Amount, degrees: f64) -> DropShape {
    DropShape::Cap { on, center, amount, contact_angle: degrees.to_radians() }
}

#[test]
fn caps_on_planes_have_their_volume_at_any_angle_and_tilt() {
    // No simple ratios: a plane through a lattice of sample points would count a whole layer too
    // many or too few.
    let normal = DVec3::new(0.3179, 0.8437, -0.2063);
    for degrees in [20.0, 60.0, 90.0, 130.0, 165.0] {
        let scene = with_solids(vec![plane("slope", normal, [0.1; 2])]);
        let world = build(scene, cap(0, DVec3::new(1e-3, 5e-3, 0.0), Amount::Volume(4.19e-9), degrees));
        check_amount(&world, false, 4e-3);
        let cap = world.initial_drops()[0].cap().expect("a cap");
        let measured = (-(cap.ball_center - cap.foot).dot(cap.normal) / cap.ball_radius).acos().to_degrees();
        assert!((measured - degrees).abs() < 1e-9, "angle {measured}, asked {degrees}");
        assert!(world.solids()[0].signed_distance(cap.foot).abs() < 1e-16);
    }
}

#[test]
fn planar_caps_have_their_area() {
    for degrees in [30.0, 90.0, 150.0] {
        let scene = Scene { solids: vec![plane("floor", DVec3::Y, [0.1; 2])], ..planar() };
        let world = build(scene, cap(0, DVec3::ZERO, Amount::Area(4e-6), degrees));
        check_amount(&world, true, 2e-3);
    }
}

/// On a ball the exact cap is the difference of two balls: its volume and angle are known in closed
/// form.
#[test]
fn caps_on_spheres_have_their_volume_and_contact_angle() {
    for (degrees, inside) in [(60.0, false), (90.0, false), (140.0, false), (60.0, true), (120.0, true)] {
        let rs = 2e-3;
        let scene = with_solids(vec![solid("ball", SolidShape::Sphere { center: DVec3::ZERO, radius: rs, inside })]);
        let volume = 4.19e-9;
        let world =
            build(scene, cap(0, DVec3::new(0.0, if inside { -rs } else { rs }, 0.0), Amount::Volume(volume), degrees));
        let cap = world.initial_drops()[0].cap().expect("a cap");
        let (a, d) = (cap.ball_radius, cap.ball_center.length());
        // Law of cosines in the triangle of the two centers and a point of the contact line.
        let cosine = (rs * rs + a * a - d * d) / (2.0 * a * rs) * if inside { -1.0 } else { 1.0 };
        let measured = cosine.acos().to_degrees();
        assert!((measured - degrees).abs() < 1e-6, "angle {measured}, asked {degrees}, inside {inside}");
        // The lens that two balls share.
        let lens = PI * (rs + a - d).powi(2) * (d * d + 2.0 * d * (rs + a) - 3.0 * (rs - a).powi(2)) / (12.0 * d);
        let held = if inside { lens } else { 4.0 / 3.0 * PI * a.powi(3) - lens };
        let error = held / volume - 1.0;
        assert!(error.abs() < 1e-3, "{degrees} deg, inside {inside}: holds {held:e}, off by {error:.1e}");
        check_amount(&world, false, 5e-3);
    }
}

#[test]
fn a_cap_in_a_groove_has_its_volume() {
    let leaf =
        SolidShape::Leaf { point: DVec3::ZERO, axis: DVec3::NEG_Z, angle: 120f64.to_radians(), size: [0.1, 0.1] };
    let world = build(with_solids(vec![solid("leaf", leaf)]), cap(0, DVec3::ZERO, Amount::Volume(4.19e-9), 90.0));
    check_amount(&world, false, 1e-2);
}

/// What is below the surface of a solid does not affect a drop: the same ball on a rod and on a
/// pipe whose wall is thinner than the ball.
#[test]
fn a_cap_does_not_depend_on_the_thickness_of_its_wall() {
    for degrees in [60.0, 100.0, 140.0, 165.0] {
        let balls = [None, Some(0.4e-3)].map(|wall| {
            let (from, to) = (DVec3::new(-0.1, 0.0, 0.0), DVec3::new(0.1, 0.0, 0.0));
            let scene = with_solids(vec![solid("pipe", SolidShape::Cylinder { from, to, radius: 0.02, wall })]);
            let world = build(scene, cap(0, DVec3::new(0.0, 0.02, 0.0), Amount::Volume(4.19e-9), degrees));
            let cap = world.initial_drops()[0].cap().expect("a cap");
            [cap.ball_radius, cap.ball_center.y]
        });
        for k in 0..2 {
            let off = (balls[1][k] / balls[0][k] - 1.0).abs();
            assert!(off < 1e-6, "{degrees} deg: radius and height {:?} on a rod, {:?} on a pipe", balls[0], balls[1]);
        }
    }
}

#[test]
fn a_box_of_liquid_extends_through_closed_sides() {
    let mut scene = empty();
    scene.domain = Some(Domain {
        min: DVec3::ZERO,
        max: DVec3::splat(0.01),
        sides: [Side::Wall, Side::Wall, Side::Open],
        wall_material: None,
    });
    let bath = DropShape::Box { min: DVec3::ZERO, max: DVec3::new(0.01, 0.004, 0.01) };
    let world = build(scene, bath);
    let drop = &world.initial_drops()[0];
    assert!((drop.volume() - 4e-7).abs() < 1e-20, "{}", drop.volume());
    let at_floor = drop.signed_distance(DVec3::new(0.0, 0.001, 0.005));
    assert!((at_floor + 0.003).abs() < 1e-15, "only the free surface counts at a wall: {at_floor}");
    let at_open_side = drop.signed_distance(DVec3::new(0.005, 0.001, 0.0));
    assert!(at_open_side.abs() < 1e-15, "an open side is a surface: {at_open_side}");
}

#[test]
fn a_ligament_through_a_periodic_domain_has_no_ends() {
    let mut scene = empty();
    scene.domain = Some(Domain {
        min: DVec3::splat(-0.01),
        max: DVec3::splat(0.01),
        sides: [Side::Periodic, Side::Open, Side::Open],
        wall_material: None,
    });
    let (from, to) = (DVec3::new(-0.01, 0.0, 0.0), DVec3::new(0.01, 0.0, 0.0));
    let world = build(scene, DropShape::Cylinder { from, to, radius: 1e-3, amplitude: 0.05, wavelength: Some(0.01) });
    let drop = &world.initial_drops()[0];
    assert!((drop.volume() / (PI * 1e-6 * 0.02) - 1.0).abs() < 1e-13, "{}", drop.volume());
    let end = drop.signed_distance(from);
    assert!(end < -0.9e-3, "on the axis at the domain's side: {end}");
    let (left, right) = (drop.signed_distance(from + DVec3::Y * 8e-4), drop.signed_distance(to + DVec3::Y * 8e-4));
    assert!((left - right).abs() < 1e-15, "both sides of a period: {left}, {right}");
}

#[test]
fn invalid_drops_are_errors_and_overlaps_are_reported() {
    let refuse = |scene: Scene, shape: DropShape, reason: &str| {
        let error = World::build(&Scene { drops: vec![drop(shape)], ..scene }).expect_err(reason);
        assert!(matches!(error, WorldError::Drop { index: 0, .. } | WorldError::NoCap { index: 0, .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("drops.0: {reason}"));
    };
    refuse(
        empty(),
        sphere(Amount::Volume(1e-9), 2, 2.5),
        "`amplitude` = 2.5 in mode 2 makes the radius negative; reduce it",
    );
    refuse(planar(), sphere(Amount::Volume(1e-9), 0, 0.0), "a planar run needs `area` or `radius`, not `volume`");
    refuse(
        empty(),
        cap(3, DVec3::ZERO, Amount::Volume(1e-9), 90.0),
        "solid 3 of `on` does not exist: the scene has 0 solids",
    );
    let scene = with_solids(vec![plane("floor", DVec3::Y, [0.1; 2])]);
    let center = DVec3::new(0.0, -1e-3, 0.0);
    let buried = DropShape::Sphere { center, amount: Amount::Volume(1e-9), mode: 0, amplitude: 0.0, axis: DVec3::Y };
    let world = build(scene, buried);
    assert_eq!(world.notices, ["drops.0: its centroid is 1.000 mm inside `floor`; move it out"]);
}
