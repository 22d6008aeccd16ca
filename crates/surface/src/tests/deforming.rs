//! Drops on solids whose vertices move.

use std::fmt::Write;
use std::path::PathBuf;

use glam::DVec3;
use sessile_model::Model;
use sessile_scene::{Folder, parse_str};
use sessile_wetting::table::ShapeTable;
use sessile_wetting::{Liquid, Wetting, retention};
use sessile_world::World;

use super::common::run;
use crate::SurfaceModel;

/// Volume of the drop, in m³.
const VOLUME: f64 = 5e-9;

/// A folder for the samples of a test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sessile-surface-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A level sheet of 24 × 24 mm in OBJ, whose vertices `place` moves (in m).
fn sheet(place: impl Fn(DVec3) -> DVec3) -> String {
    let (n, mut text) = (12, String::new());
    for k in 0..(n + 1) * (n + 1) {
        let at = |k: i32| 0.024 * (f64::from(k) / f64::from(n) - 0.5);
        let p = place(DVec3::new(at(k % (n + 1)), 0.0, at(k / (n + 1))));
        writeln!(text, "v {:.12} {:.12} {:.12}", p.x, p.y, p.z).unwrap();
    }
    for (i, j) in (0..n * n).map(|k| (k % n, k / n)) {
        let [a, b, c, d] = [(0, 0), (0, 1), (1, 1), (1, 0)].map(|(x, z)| (j + z) * (n + 1) + i + x + 1);
        writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}").unwrap();
    }
    text
}

/// A model with a sheet that `place` moves in time (in s), sampled 250 times a second for 0.2 s,
/// and a drop of 5 µL on it, on a material with these angles in degrees.
fn model(name: &str, angles: [f64; 2], place: impl Fn(f64, DVec3) -> DVec3) -> SurfaceModel {
    sampled(name, 250, angles, "", place)
}

/// The same at this many samples a second, in a scene with these tables.
fn sampled(
    name: &str,
    rate: u32,
    [advancing, receding]: [f64; 2],
    tables: &str,
    place: impl Fn(f64, DVec3) -> DVec3,
) -> SurfaceModel {
    let folder = folder(name);
    let mut samples = String::new();
    for k in 0..=rate / 5 {
        let time = f64::from(k) / f64::from(rate);
        std::fs::write(folder.join(format!("s.{k:04}.obj")), sheet(|p| place(time, p))).unwrap();
        write!(samples, "{{ at = \"{time} s\", file = \"s.{k:04}.obj\" }}, ").unwrap();
    }
    let text = format!(
        "model = \"surface\"\n[time]\nduration = \"0.2 s\"\nframe = \"10 ms\"\n[resolution]\nedge = \"0.25 mm\"\n\
         {tables}[materials.m]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n\
         [[solids]]\nname = \"sheet\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"s.0000.obj\"\ndeform = [{samples}]\n\
         [[drops]]\nshape = \"cap\"\non = \"sheet\"\ncenter = \"1 0 0.5 mm\"\nvolume = \"{VOLUME} m^3\"\n\
         contact_angle = \"90 deg\"\n"
    );
    let scene = parse_str("test.toml", &text, &[], &Folder::new(&folder)).unwrap_or_else(|e| panic!("{e}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    let model = SurfaceModel::new(&scene, world).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_dir_all(folder).unwrap();
    model
}

/// Lowest and highest coordinate of the vertices of the drop that touch the solid, along x and z.
fn footprint(model: &SurfaceModel) -> [[f64; 2]; 2] {
    let mesh = &model.drops()[0].mesh;
    let on_solid = mesh.live_triangles().filter(|t| mesh.interfaces[*t].is_solid());
    let touching: Vec<DVec3> = on_solid.flat_map(|t| mesh.corners(t)).collect();
    [|p: &DVec3| p.x, |p: &DVec3| p.z].map(|along| {
        touching.iter().map(along).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    })
}

/// On a sheet that widens by a quarter, with a line that stays pinned, the footprint widens with
/// the sheet along x and keeps its width along z.
#[test]
fn a_stretching_sheet_carries_the_contact_line() {
    let factor = |t: f64| {
        let s = (t / 0.2).clamp(0.0, 1.0);
        1.0 + 0.25 * s * s * (3.0 - 2.0 * s)
    };
    let mut model = model("stretch", [150.0, 20.0], |t, p| DVec3::new(p.x * factor(t), p.y, p.z));
    run(&mut model, 0.02);
    let ([x, z], start) = (footprint(&model), factor(model.time()));
    run(&mut model, 0.178);
    let ([stretched, across], end) = (footprint(&model), factor(model.time()));
    for side in 0..2 {
        let expected = x[side] / start * end;
        let error = (stretched[side] - expected).abs();
        assert!(error < 0.06e-3, "an end at {:.3} mm, not {:.3}", 1e3 * stretched[side], 1e3 * expected);
        let across = (across[side] - z[side]).abs();
        assert!(across < 0.06e-3, "across, an end moved by {:.3} mm", 1e3 * across);
    }
}

/// How far the rear end of the contact line slides (in m) while a sheet accelerates along x by
/// `peak` sin ωt (in m/s²) for half a period of 10 Hz, and under gravity that is tilted as much.
fn distances_slid(peak: f64) -> [f64; 2] {
    let omega = std::f64::consts::TAU * 10.0;
    let shift = |t: f64| peak / (omega * omega) * (omega * t - (omega * t).sin());
    let keys: String = (0..=100)
        .map(|key| 5e-4 * f64::from(key))
        .map(|t| format!("{{ at = \"{t} s\", value = \"{} -9.8 0 m/s^2\" }}, ", -peak * (omega * t).sin()))
        .collect();
    let name = format!("shake-{peak:.3}");
    // The acceleration of a smooth curve through samples at every Δt is off by up to ωΔt.
    let shaken = sampled(&name, 2000, [90.0, 60.0], "", |t, p| p + DVec3::X * shift(t));
    let tilted = sampled(&name, 20, [90.0, 60.0], &format!("[world]\ngravity = [{keys}]\n"), |_, p| p);
    [(shaken, shift(0.05)), (tilted, 0.0)].map(|(mut model, way)| {
        let [[_, start], _] = footprint(&model);
        run(&mut model, 0.05);
        let [[_, end], _] = footprint(&model);
        start - (end - way)
    })
}

/// Furmidge's law is γ w (cos θ_r − cos θ_a) = ρ V a. Around it a drop on the sheet slides as under
/// tilted gravity: little at 0.9 of it, on which it swings, and more above it.
#[test]
fn a_shaken_sheet_moves_the_drop_from_the_acceleration_of_retention_on() {
    let (water, law) = (Liquid::water(), Wetting::smooth(90_f64.to_radians(), 60_f64.to_radians()));
    let shape = ShapeTable::shared().rest_shape(VOLUME, law.advancing, 9.8, &water).unwrap();
    let retained = retention::retention_force(&water, &law, 2.0 * shape.base_radius, 1.0) / (water.density * VOLUME);
    let found = [0.7, 0.9, 1.1, 1.3].map(|factor| distances_slid(factor * retained).map(|d| d / shape.base_radius));
    println!("{found:.3?} base radii");
    for [shaken, tilted] in found {
        assert!((shaken - tilted).abs() < 0.1, "it slid {shaken:.3} base radii, under gravity {tilted:.3}");
    }
    assert!(found[0][0] < 0.05, "retained up to {retained:.2} m/s², but it slid {:.3} base radii at 0.7", found[0][0]);
    assert!(found[3][0] > 0.5, "it slid {:.3} base radii only at 1.3 of {retained:.2} m/s²", found[3][0]);
}

/// A sheet that is pulled away at 60 g leaves the drop behind; at half a g it takes it along.
#[test]
fn a_sheet_that_is_pulled_away_throws_the_drop_off() {
    let detached = |acceleration: f64| {
        let mut model = model(&format!("pull-{acceleration}"), [100.0, 80.0], |t, p| {
            // From rest, smoothly within 10 ms.
            let s = (t / 0.01).min(1.0);
            p - DVec3::Y * acceleration * if s < 1.0 { t * t * s / 6.0 } else { 0.5 * t * t - 0.005 * t + 1e-4 / 6.0 }
        });
        (0..10).any(|_| {
            run(&mut model, 0.005);
            model.drops().iter().all(|drop| !drop.mesh.touches_solid())
        })
    };
    assert!(!detached(5.0), "thrown off at half a g");
    assert!(detached(600.0), "retained at 60 g");
}

#[test]
fn a_resumed_run_on_a_deforming_sheet_is_bit_identical() {
    let bend = |t: f64, p: DVec3| {
        p + DVec3::new(0.05 * (9.0 * t).sin() * p.x, 0.3e-3 * (60.0 * t).sin() * (200.0 * p.x).sin(), 0.0)
    };
    let mut whole = model("resume", [90.0, 60.0], bend);
    run(&mut whole, 0.02);
    let saved = whole.save();
    run(&mut whole, 0.02);
    let mut resumed = model("resume-again", [90.0, 60.0], bend);
    resumed.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
    run(&mut resumed, 0.02);
    assert!(resumed.save() == whole.save(), "the states differ");
}
