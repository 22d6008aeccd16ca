//! Droplets on solids whose vertices move: they follow their triangles and feel the acceleration.

use std::fmt::Write;
use std::path::PathBuf;

use sessile_droplet::DropletModel;
use sessile_model::{Model, NoTimer};
use sessile_scene::{Folder, parse_str};
use sessile_world::World;

/// A folder for the samples of a test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sessile-deforming-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A level sheet of 40 × 40 mm in OBJ, whose vertices `place` moves (in m); u runs along x, v
/// along z.
fn sheet(place: impl Fn([f64; 3]) -> [f64; 3]) -> String {
    let (n, mut text) = (8, String::new());
    for j in 0..=n {
        for i in 0..=n {
            let at = |k: i32| 0.04 * (f64::from(k) / f64::from(n) - 0.5);
            let [x, y, z] = place([at(i), 0.0, at(j)]);
            writeln!(text, "v {x:.12} {y:.12} {z:.12}").unwrap();
            writeln!(text, "vt {} {}", f64::from(i) / f64::from(n), f64::from(j) / f64::from(n)).unwrap();
        }
    }
    for j in 0..n {
        for i in 0..n {
            let v = |i: i32, j: i32| j * (n + 1) + i + 1;
            let [a, b, c, d] = [v(i, j), v(i, j + 1), v(i + 1, j + 1), v(i + 1, j)];
            writeln!(text, "f {a}/{a} {b}/{b} {c}/{c}\nf {a}/{a} {c}/{c} {d}/{d}").unwrap();
        }
    }
    text
}

/// A model with a sheet that `place` moves in time (in s), sampled 250 times a second for 0.2 s,
/// and a drop of 5 µL at (10, 0, 5) mm. Its angles are 100° and 60°.
fn model(name: &str, place: impl Fn(f64, [f64; 3]) -> [f64; 3]) -> DropletModel {
    let cap = "shape = \"cap\"\non = \"sheet\"\ncenter = \"10 0 5 mm\"\nvolume = \"5 uL\"\n";
    model_with(name, place, cap)
}

/// Such a model with another drop.
fn model_with(name: &str, place: impl Fn(f64, [f64; 3]) -> [f64; 3], drop: &str) -> DropletModel {
    let folder = folder(name);
    let mut samples = String::new();
    for k in 0..=50 {
        let time = f64::from(k) / 250.0;
        std::fs::write(folder.join(format!("s.{k:04}.obj")), sheet(|p| place(time, p))).unwrap();
        write!(samples, "{{ at = \"{time} s\", file = \"s.{k:04}.obj\" }}, ").unwrap();
    }
    let text = format!(
        "model = \"droplet\"\n[time]\nduration = \"0.2 s\"\nframe = \"10 ms\"\n\
         [materials.m]\nadvancing = \"100 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"sheet\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"s.0000.obj\"\ndeform = [{samples}]\n\
         [[drops]]\n{drop}"
    );
    let scene = parse_str("test.toml", &text, &[], &Folder::new(&folder)).unwrap_or_else(|e| panic!("{e}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    let model = DropletModel::new(&scene, world).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_dir_all(folder).unwrap();
    model
}

fn run(model: &mut DropletModel, until: f64) {
    while model.time() < until - 1e-9 {
        model.step(until - model.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_drop_on_a_stretching_sheet_stays_at_its_material_point() {
    // To 1.5 times the width in 0.2 s: the drop is pulled apart from rest at 0.1 g at most.
    let stretched = |t: f64, [x, y, z]: [f64; 3]| {
        let s = (t / 0.2).clamp(0.0, 1.0);
        [x * (1.0 + 0.5 * s * s * (3.0 - 2.0 * s)), y + 20.0 * x * x * s * s, z]
    };
    let mut model = model("stretch", stretched);
    let start = model.places().next().unwrap().1.to_array();
    for frame in 1..=20 {
        let time = 0.01 * f64::from(frame);
        run(&mut model, time);
        let (_, at, _) = model.places().next().expect("it stays on the sheet");
        let expected = stretched(time, [start[0], 0.0, start[2]]);
        let error = (at - glam::DVec3::from_array(expected)).length();
        // The height differs by the chord of a triangle of 5 mm: 20 x² over it is 0.13 mm at most.
        assert!(error < 0.2e-3, "t = {time:.2} s: {:.3} mm from its material point", 1e3 * error);
    }
    assert_eq!(model.num_airborne(), 0);
}

/// Sheet that is shaken along x with an amplitude `peak` of its acceleration (in m/s²), at 10 Hz.
fn distance_slid(peak: f64) -> f64 {
    let omega = std::f64::consts::TAU * 10.0;
    let shift = |t: f64| peak / (omega * omega) * (1.0 - (omega * t).cos());
    let mut model = model(&format!("shake-{peak:.3}"), |t, [x, y, z]| [x + shift(t), y, z]);
    let start = model.places().next().unwrap().1.x;
    let mut farthest: f64 = 0.0;
    for frame in 1..=20 {
        let time = 0.01 * f64::from(frame);
        run(&mut model, time);
        let Some((_, at, _)) = model.places().next() else { return f64::INFINITY };
        farthest = farthest.max((at.x - shift(time) - start).abs());
    }
    farthest
}

/// Furmidge's law with the model's own retention: a drop on a sheet that is shaken slides at the
/// acceleration at which it slides on a tilted one.
#[test]
fn a_shaken_sheet_moves_drops_from_the_acceleration_of_retention_on() {
    // On a rigid plane, the largest acceleration at which the same drop is retained.
    let slides_on_plane = |acceleration: f64| {
        let text = format!(
            "model = \"droplet\"\n[time]\nduration = \"0.2 s\"\nframe = \"10 ms\"\n\
             [world]\ngravity = \"{acceleration} -9.8 0 m/s^2\"\n\
             [materials.m]\nadvancing = \"100 deg\"\nreceding = \"60 deg\"\n\
             [[solids]]\nname = \"sheet\"\nmaterial = \"m\"\nsize = \"200 200 mm\"\n\
             [[drops]]\nshape = \"cap\"\non = \"sheet\"\nvolume = \"5 uL\"\n"
        );
        let scene = parse_str("t.toml", &text, &[], &sessile_scene::NoFiles).unwrap_or_else(|e| panic!("{e}")).scene;
        let world = World::build(&scene).unwrap();
        let mut model = DropletModel::new(&scene, world).unwrap();
        run(&mut model, 0.2);
        model.places().next().is_none_or(|(_, at, _)| at.x.abs() > 1e-6)
    };
    let (mut low, mut high) = (1.0, 60.0);
    while high - low > 0.01 * low {
        let middle = 0.5 * (low + high);
        if slides_on_plane(middle) { high = middle } else { low = middle }
    }
    let (below, above) = (distance_slid(0.95 * low), distance_slid(1.08 * high));
    assert!(below < 1e-6, "retained up to {low:.2} m/s², but it slid {:.3} mm at 0.95 of it", 1e3 * below);
    assert!(above > 1e-5, "retained up to {low:.2} m/s², but it slid {:.4} mm only at 1.08 of it", 1e3 * above);
}

#[test]
fn a_fast_shake_throws_the_drop_off_and_a_slow_one_does_not() {
    // Along the normal: it hangs on at an amplitude of 2 g and detaches at 100 g.
    let omega = std::f64::consts::TAU * 20.0;
    let thrown = |peak: f64| {
        let shift = move |t: f64| peak / (omega * omega) * (omega * t).cos();
        let mut model = model(&format!("throw-{peak}"), |t, [x, y, z]| [x, y + shift(t), z]);
        (1..=20).any(|frame| {
            run(&mut model, 0.01 * f64::from(frame));
            model.num_airborne() > 0
        })
    };
    assert!(!thrown(20.0), "thrown off at 2 g");
    assert!(thrown(1000.0), "retained at 100 g");
}

/// The sheet is stretched, most at its sides, while a drop falls on it, slides and leaves a film.
/// The state is saved after the drop has landed and while it still wets texels.
#[test]
fn a_resumed_run_is_bit_identical() {
    let bend = |t: f64, [x, y, z]: [f64; 3]| {
        [x * (1.0 + 300.0 * t * x.abs()), y + 0.004 * (30.0 * t).sin() * (80.0 * x).sin(), z]
    };
    let falling = "shape = \"sphere\"\ncenter = \"4 6 5 mm\"\nradius = \"1.5 mm\"\nvelocity = \"0.3 -0.1 0.05 m/s\"\n";
    let mut whole = model_with("resume", bend, falling);
    run(&mut whole, 0.026);
    let saved = whole.save();
    run(&mut whole, 0.12);
    let mut resumed = model_with("resume-again", bend, falling);
    resumed.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
    run(&mut resumed, 0.12);
    assert!(resumed.save() == whole.save(), "the states differ");
}

/// On a sheet that is twice as wide as at rest, a drop wets an ellipse of the texture, where it is.
#[test]
fn a_drop_on_a_stretched_sheet_wets_the_texels_beneath_it() {
    let mut model = model("texels", |t, [x, y, z]| [x * (1.0 + (t / 0.1).min(1.0)), y, z]);
    run(&mut model, 0.15);
    model.add_droplet(glam::DVec3::new(-0.023, 0.0, 0.003), glam::DVec3::ZERO, 5e-9);
    run(&mut model, 0.16);
    let maps = model.frame().wet;
    let map = &maps[0];
    let uv = |texel: usize| {
        let (column, row) = (texel % map.width as usize, texel / map.width as usize);
        [(column as f64 + 0.5) / f64::from(map.width), 1.0 - (row as f64 + 0.5) / f64::from(map.height)]
    };
    let wet: Vec<[f64; 2]> = (0..map.wetness.len()).filter(|&k| map.wetness[k] > 0).map(uv).collect();
    let left: Vec<[f64; 2]> = wet.into_iter().filter(|uv| uv[0] < 0.5).collect();
    let range = |axis: usize| {
        let values = || left.iter().map(|uv| uv[axis]);
        [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
    };
    let ([u0, u1], [v0, v1]) = (range(0), range(1));
    // A texel is a hundredth of the texture, and 0.8 by 0.4 mm here.
    assert!((10..24).contains(&left.len()), "{} texels of about 17", left.len());
    assert!((0.5 * (u0 + u1) - (0.5 - 11.5 / 40.0)).abs() < 0.006, "u from {u0:.4} to {u1:.4}");
    assert!((0.5 * (v0 + v1) - (0.5 + 3.0 / 40.0)).abs() < 0.006, "v from {v0:.4} to {v1:.4}");
}

#[test]
fn changing_topology_is_refused_with_the_file() {
    let folder = folder("topology");
    std::fs::write(folder.join("a.obj"), sheet(|p| p)).unwrap();
    std::fs::write(folder.join("b.obj"), "v 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n").unwrap();
    let text = "model = \"droplet\"\n[time]\nduration = \"0.2 s\"\nframe = \"10 ms\"\n[[solids]]\nname = \"sheet\"\n\
        shape = \"mesh\"\nfile = \"a.obj\"\ndeform = [{ at = \"0 s\", file = \"a.obj\" }, \
        { at = \"1 s\", file = \"b.obj\" }]\n";
    let scene = parse_str("t.toml", text, &[], &Folder::new(&folder)).unwrap_or_else(|e| panic!("{e}")).scene;
    let error = World::build(&scene).unwrap_err().to_string();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(
        error.contains("b.obj") && error.contains("topology") && error.contains("3 vertices, 1 triangles"),
        "{error}"
    );
}
