//! Dynamics of one drop compared with exact solutions.

use glam::DVec3;
use sessile_frames::DropId;
use sessile_wetting::young_laplace;

use crate::drop::Drop;
use crate::drop_step::Outcome;
use crate::mesh::Mesh;
use crate::mesh::check::{check, check_crossings};
use crate::mesh::primitives::sphere;
use crate::test_support::{TestDrops, floor};

const NO_GRAVITY: &str = "[world]\ngravity = \"0 0 0 m/s^2\"\n";

#[test]
fn free_fall_is_exact() {
    let mut test =
        TestDrops::new("[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\nvelocity = \"0.3 0 0 m/s\"\n", 0.15e-3);
    for _ in 0..100 {
        test.advance(1e-3);
    }
    let drop = &test.drops[0];
    let expected = DVec3::new(0.03, -0.5 * 9.8 * 0.01, 0.0);
    let off = drop.mesh.centroid().distance(expected);
    assert!(off < 1e-8, "off by {off} m after a fall of 49 mm");
    let speed = drop.velocity.distance(DVec3::new(0.3, -0.98, 0.0));
    assert!(speed < 1e-7, "velocity off by {speed} m/s");
    check(&drop.mesh).unwrap();
    check_crossings(&drop.mesh).unwrap();
}

/// A cap with a pinned line and a wetted face that starts with a rigid velocity.
#[test]
fn a_drop_that_moves_with_its_footprint_loses_speed_to_the_solid() {
    for (x, y) in [(1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (0.7, -0.7)] {
        let text = format!(
            "{NO_GRAVITY}{}[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"4 uL\"\ncontact_angle = \"40 deg\"\nvelocity = \"{x} {y} 0 m/s\"\n",
            floor(90.0, 10.0)
        );
        let mut test = TestDrops::new(&text, 0.4e-3);
        let before = test.drops[0].velocity;
        // So short that forces have no effect.
        test.advance(1e-6);
        let after = test.drops[0].velocity;
        println!("{before} m/s: {after}");
        assert!(
            after.length() < 1.001 * before.length() && after.dot(before) > -1e-3,
            "{before} m/s became {after} m/s"
        );
    }
}

/// Frequency of mode 2 over Lamb's, from the zeros of the aspect ratio.
fn mode_2(dt: f64) -> f64 {
    let text = format!("{NO_GRAVITY}[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n");
    let mut test = TestDrops::new(&text, 0.15e-3);
    let stretch = |test: &TestDrops| {
        let mesh = &test.drops[0].mesh;
        let [low, high] = mesh.bounds();
        (high.y - low.y) / (high.x - low.x) - 1.0
    };
    let (mut before, mut zeros) = (stretch(&test), Vec::new());
    let mut time = 0.0;
    while zeros.len() < 9 && time < 0.1 {
        test.advance(dt);
        time += dt;
        let now = stretch(&test);
        if before * now < 0.0 {
            zeros.push(time - dt * now / (now - before));
        }
        before = now;
    }
    let period = 2.0 * (zeros[8] - zeros[0]) / 8.0;
    let omega = (8.0 * 0.073 / (1000.0 * 1e-9f64)).sqrt();
    std::f64::consts::TAU / period / omega
}

#[test]
fn mode_2_oscillates_at_lambs_frequency() {
    for dt in [0.25e-3, 1e-3, 2e-3] {
        let ratio = mode_2(dt);
        println!("{dt}: {ratio}");
        assert!((ratio - 1.0).abs() < 0.03, "at {dt} s the frequency is {ratio} of Lamb's");
    }
}

#[test]
fn rest_shapes_follow_young_and_laplace() {
    for (edge, height_within, base_within) in [(0.13e-3, 0.02, 0.02), (0.045e-3, 0.005, 0.005)] {
        for (volume, angle) in [(4.0, 60.0), (30.0, 120.0), (4.0, 90.0)] {
            let text = format!(
                "settle = true\n{}[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"{volume} uL\"\ncontact_angle = \"{angle} deg\"\n",
                floor(angle, angle)
            );
            let edge = edge * (volume / 4.0f64).cbrt();
            let mut test = TestDrops::new(&text, edge);
            test.params.settle = true;
            let mut speed = 0.0;
            for _ in 0..60 {
                speed = test.advance(1.0 / 120.0)[0].max_normal_speed;
            }
            let mesh = &test.drops[0].mesh;
            let exact =
                young_laplace::sessile(volume * 1e-9, f64::to_radians(angle), (0.073 / 9800.0f64).sqrt()).unwrap();
            let height = mesh.bounds()[1].y / exact.height - 1.0;
            let wetted = mesh.wetted_area();
            let base = (wetted / std::f64::consts::PI).sqrt() / exact.base_radius - 1.0;
            let count = mesh.triangles.len();
            println!(
                "{volume} µL at {angle}°, {count} triangles: height {:+.3} %, base {:+.3} %, normal speed {speed:.1e}",
                height * 100.0,
                base * 100.0
            );
            assert!(height.abs() < height_within && base.abs() < base_within, "height off by {height}, base by {base}");
        }
    }
}

/// A bent rod whose ends nearly meet and move toward each other; it stretches and thins
/// accordingly.
fn open_ring(turn: f64, speed: f64) -> Drop {
    let mut mesh = sphere(DVec3::ZERO, 1e-3, 0.12e-3, |_| 1e-3).unwrap();
    let mut velocities = Vec::new();
    for p in &mut mesh.positions {
        let (angle, reach) = (turn * p.x / 1e-3, 2e-3 - 0.45 * p.y);
        let (along, out) = (DVec3::new(angle.cos(), 0.0, -angle.sin()), DVec3::new(angle.sin(), 0.0, angle.cos()));
        let (stretch, across) = (speed / (turn * 2e-3), 0.45 * (DVec3::Y * p.z - out * p.y));
        velocities.push(along * (speed * angle / turn) - across * (0.5 * stretch));
        *p = DVec3::new(reach * angle.sin(), 0.45 * p.z, reach * angle.cos());
    }
    let volume = mesh.volume();
    let mut drop = Drop::new(DropId::new(1).unwrap(), mesh, volume, DVec3::ZERO);
    drop.mesh.velocities = velocities;
    drop
}

fn euler(mesh: &Mesh) -> i64 {
    mesh.positions.len() as i64 - mesh.triangles.len() as i64 / 2
}

#[test]
fn parts_of_one_drop_merge_only_with_self_collision() {
    for self_merge in [true, false] {
        let mut test = TestDrops::new(NO_GRAVITY, 0.05e-3);
        test.params.self_merge = self_merge;
        test.drops.push(open_ring(3.1, 3.0));
        let (volume, mut merged, mut rebuilt) = (test.drops[0].volume, 0, 0);
        assert!(volume > 0.0 && euler(&test.drops[0].mesh) == 2, "a sphere bent into a hook of {volume} m³");
        for _ in 0..20 {
            for stepped in test.step(0.1e-3) {
                merged += usize::from(stepped.outcome == Outcome::SelfMerged);
                rebuilt += usize::from(stepped.outcome == Outcome::Rebuilt);
            }
            check(&test.drops[0].mesh).unwrap();
            check_crossings(&test.drops[0].mesh).unwrap();
            if merged > 0 {
                break;
            }
        }
        let made = &test.drops[0].mesh;
        assert_eq!(merged, usize::from(self_merge), "joined {merged} times, rebuilt {rebuilt} times");
        if self_merge {
            assert_eq!((euler(made), rebuilt), (0, 0), "Euler characteristic of a torus; number of rebuilds");
            assert!((made.volume() / volume - 1.0).abs() < 1e-9, "volume {} of {volume}", made.volume());
        }
    }
}
