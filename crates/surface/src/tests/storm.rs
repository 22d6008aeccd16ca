//! Many drops that collide with each other and with solids.

use std::fmt::Write as _;

use super::common::{assert_no_self_intersection, assert_valid, build};
use sessile_model::{Model, NoTimer};
use sessile_world::random::Stream;

/// Six planes around a cube of this size in mm, and a sphere in its center.
fn room(size: f64) -> String {
    let mut text = String::from("[materials.m]\nadvancing = \"100 deg\"\nreceding = \"70 deg\"\n");
    let half = 0.5 * size;
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (mut point, mut normal) = ([0.0; 3], [0.0; 3]);
            (point[axis], normal[axis]) = (side * half, -side);
            let [x, y, z] = point;
            writeln!(
                text,
                "[[solids]]\nname = \"s{axis}{side}\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"{x} {y} {z} mm\"\nnormal = {normal:?}"
            )
            .unwrap();
        }
    }
    text + "[[solids]]\nname = \"ball\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\n"
}

/// Drops of 0.5 to 1.5 mm radius at random positions with random velocities.
fn storm(seed: u64, count: usize, size: f64, speed: f64) -> String {
    let mut random = Stream::new(seed, &[7]);
    let mut placed: Vec<([f64; 3], f64)> = Vec::new();
    let mut text = room(size);
    let mut tries = 0;
    while placed.len() < count && tries < 100 * count {
        tries += 1;
        let radius = random.uniform_in(0.5, 1.5);
        let reach = 0.5 * size - radius - 0.1;
        let place = [0; 3].map(|_| random.uniform_in(-reach, reach));
        let far = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        if far(place, [0.0; 3]) < 3.1 + radius || placed.iter().any(|(p, r)| far(*p, place) < r + radius + 0.1) {
            continue;
        }
        placed.push((place, radius));
        let velocity = [0; 3].map(|_| random.uniform_in(-speed, speed));
        text += &super::common::sphere(radius, place, velocity);
    }
    text
}

#[test]
fn colliding_drops_stay_valid_and_conserve_volume() {
    for seed in [1, 2] {
        let mut model = build(&storm(seed, 25, 14.0, 0.7));
        let volume = model.volume();
        while model.time() < 0.05 {
            model.step(0.05 - model.time(), &mut NoTimer).unwrap();
            assert_valid(&model);
            assert_no_self_intersection(&model);
        }
        let merged = model.state.run.merges;
        assert!(merged.boolean > 3 * merged.boolean_failed, "mesh Booleans: {merged:?}");
        let balance = model.frame().balance;
        let off = ((model.volume() + balance.lost) / volume - 1.0).abs();
        assert!(off < 1e-9 && balance.lost == 0.0, "seed {seed}: volume off by {off:e}, lost {}", balance.lost);
        println!("seed {seed}: {} drops left, {:?} triangles", model.drops().len(), model.num_triangles());
    }
}
