//! Scenes that ask for more than the model can follow: it does less, says so, and goes on.

mod common;

use common::{ball, build, plane, run, uncrossed};
use sessile_model::Model;
use sessile_surface::SurfaceModel;

/// Runs for so many seconds, every surface checked after every step; what was said.
fn told(model: &mut SurfaceModel, seconds: f64) -> String {
    let volume = model.volume();
    run(model, seconds);
    uncrossed(model);
    let off = (model.volume() + model.balance().lost) / volume - 1.0;
    assert!(off.abs() < 1e-12, "the books are off by {off:e}");
    model.notices().join("\n")
}

#[test]
fn steps_ten_times_too_long_are_borne_and_said() {
    let floor = plane([0.0, 1.0, 0.0], 100.0, 70.0);
    let drops: String = (0..4)
        .map(|i| ball(0.8 + 0.2 * f64::from(i), [4.0 * f64::from(i), 3.0, 0.0], [0.3 - 0.2 * f64::from(i), -0.8, 0.1]))
        .collect();
    let said = told(&mut build(&format!("[surface]\ndt = \"10 ms\"\n{floor}{drops}")), 0.3);
    assert!(said.contains("surface.dt") && said.contains("10 times the usual"), "{said}");
    let said = told(&mut build(&format!("{floor}{drops}")), 0.005);
    assert!(!said.contains("times the usual"), "{said}");
}

/// A box whose edges stand up in the drop's way, and a wedge with an edge of 30°.
#[test]
fn sharp_edges_are_borne() {
    let material = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n";
    let block = "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-5 -5 -5 mm\"\nmax = \"0 0 5 mm\"\nrotate = \"0 0 45 deg\"\n";
    told(&mut build(&format!("{material}{block}{}", ball(1.2, [0.1, 3.0, 0.0], [0.0, -0.8, 0.0]))), 0.04);
    let plate =
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-0.1 -5 -5 mm\"\nmax = \"0.1 0 5 mm\"\n";
    told(&mut build(&format!("{material}{plate}{}", ball(1.2, [0.05, 1.5, 0.0], [0.0, -0.8, 0.0]))), 0.04);
}

#[test]
fn drops_smaller_than_an_edge_are_borne_and_said() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    let drops: String =
        (0..6).map(|i| ball(0.04 + 0.05 * f64::from(i), [f64::from(i), 0.6, 0.0], [0.0, -0.6, 0.0])).collect();
    let said = told(&mut build(&format!("{floor}{drops}")), 0.02);
    assert!(said.contains("smaller than resolution.edge"), "{said}");
}

/// A lattice of 6³ balls, each of which touches its neighbors from the first moment.
#[test]
fn hundreds_of_drops_become_one_in_a_step_and_that_is_said() {
    let mut text = String::from("[world]\ngravity = \"0 0 0 m/s^2\"\n");
    for i in 0..216 {
        let place = [i % 6, i / 6 % 6, i / 36].map(|k| 0.9 * f64::from(k));
        text += &ball(0.5, place, [0.0; 3]);
    }
    let mut model = build(&text);
    let said = told(&mut model, 0.003);
    assert_eq!(model.drops().len(), 1, "{} drops are left", model.drops().len());
    assert!(said.contains("216 drops became one in a single step"), "{said}");
}
