//! Scenes beyond what the model resolves: it continues and reports what it does less.

use super::common::{assert_no_self_intersection, build, plane, run, sphere};
use crate::SurfaceModel;
use sessile_model::Model;

/// Runs for `seconds` with all checks and returns the notices.
fn run_and_collect_notices(model: &mut SurfaceModel, seconds: f64) -> String {
    let volume = model.volume();
    run(model, seconds);
    assert_no_self_intersection(model);
    let off = (model.volume() + model.balance().lost) / volume - 1.0;
    assert!(off.abs() < 1e-12, "the volume balance is off by {off:e}");
    model.notices().join("\n")
}

#[test]
fn steps_ten_times_too_long_stay_valid_and_are_reported() {
    let floor = plane([0.0, 1.0, 0.0], 100.0, 70.0);
    let drops: String = (0..4)
        .map(|i| {
            sphere(0.8 + 0.2 * f64::from(i), [4.0 * f64::from(i), 3.0, 0.0], [0.3 - 0.2 * f64::from(i), -0.8, 0.1])
        })
        .collect();
    let notices = run_and_collect_notices(&mut build(&format!("[surface]\ndt = \"10 ms\"\n{floor}{drops}")), 0.3);
    assert!(notices.contains("surface.dt") && notices.contains("10 times the usual"), "{notices}");
    let notices = run_and_collect_notices(&mut build(&format!("{floor}{drops}")), 0.005);
    assert!(!notices.contains("times the usual"), "{notices}");
}

/// A box with its edge upward, and the edge of a thin plate.
#[test]
fn drops_on_sharp_edges_stay_valid() {
    let material = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n";
    let block = "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-5 -5 -5 mm\"\nmax = \"0 0 5 mm\"\nrotate = \"0 0 45 deg\"\n";
    run_and_collect_notices(
        &mut build(&format!("{material}{block}{}", sphere(1.2, [0.1, 3.0, 0.0], [0.0, -0.8, 0.0]))),
        0.04,
    );
    let plate =
        "[[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-0.1 -5 -5 mm\"\nmax = \"0.1 0 5 mm\"\n";
    run_and_collect_notices(
        &mut build(&format!("{material}{plate}{}", sphere(1.2, [0.05, 1.5, 0.0], [0.0, -0.8, 0.0]))),
        0.04,
    );
}

#[test]
fn drops_smaller_than_an_edge_stay_valid_and_are_reported() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    let drops: String =
        (0..6).map(|i| sphere(0.04 + 0.05 * f64::from(i), [f64::from(i), 0.6, 0.0], [0.0, -0.6, 0.0])).collect();
    let notices = run_and_collect_notices(&mut build(&format!("{floor}{drops}")), 0.02);
    assert!(notices.contains("smaller than resolution.edge"), "{notices}");
}

/// A lattice of 6³ spheres that touch from the start.
#[test]
fn hundreds_of_drops_merge_in_one_step_and_that_is_reported() {
    let mut text = String::from("[world]\ngravity = \"0 0 0 m/s^2\"\n");
    for i in 0..216 {
        let place = [i % 6, i / 6 % 6, i / 36].map(|k| 0.9 * f64::from(k));
        text += &sphere(0.5, place, [0.0; 3]);
    }
    let mut model = build(&text);
    let notices = run_and_collect_notices(&mut model, 0.003);
    assert_eq!(model.drops().len(), 1, "{} drops are left", model.drops().len());
    assert!(notices.contains("216 drops became one in a single step"), "{notices}");
}
