//! Drops that a moving solid carries along.

use super::common::{build, cap, run};
use crate::SurfaceModel;
use glam::{DMat3, DVec3};
use sessile_model::Model;

/// A drop of 10 µL at 75° with its middle at `x` (in mm) on a plate that moves by `motion`; its
/// line does not leave its place.
fn on_plate(edge: f64, motion: &str, x: f64) -> SurfaceModel {
    build(&format!(
        "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\nedge = \"{edge} mm\"\n\
         [materials.m]\nadvancing = \"110 deg\"\nreceding = \"40 deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-15 -3 -10 mm\"\nmax = \"15 0 10 mm\"\n\
         motion = [{motion}]\ninterpolation = \"smooth\"\n{}",
        cap(10.0, 75.0, [x, 0.0, 0.0])
    ))
}

/// Middle of the wetted area, in m.
fn footprint(model: &SurfaceModel) -> DVec3 {
    let mesh = &model.drops()[0].mesh;
    let wetted = mesh.live_triangles().filter(|t| mesh.interfaces[*t].is_solid());
    let (sum, area) = wetted.fold((DVec3::ZERO, 0.0), |(sum, area), t| {
        let own = mesh.area_vector(t).length();
        (sum + mesh.corners(t).iter().sum::<DVec3>() * (own / 3.0), area + own)
    });
    sum / area
}

/// At half its way the plate is fastest, 0.15 m/s. At the velocities that it has at the beginning
/// of each step the line is 75 µm behind by then.
#[test]
fn a_pinned_line_stays_in_place_on_a_plate_that_moves_v4() {
    let keys = (0..=20).map(|key| f64::from(key) / 20.0);
    let keys =
        keys.map(|s| format!("{{at = \"{} ms\", move = \"{} 0 0 mm\"}}, ", 100.0 * s, 10.0 * s * s * (3.0 - 2.0 * s)));
    let mut model = on_plate(0.3, &keys.collect::<String>(), 0.0);
    let start = footprint(&model);
    for (ms, way) in [(50, 5e-3), (100, 10e-3), (120, 10e-3)] {
        let seconds = 1e-3 * f64::from(ms) - model.time();
        run(&mut model, seconds);
        let slip = footprint(&model) - start - DVec3::X * way;
        println!("{ms} ms: {slip:?} m");
        assert!(slip.length() < 5e-6, "after {ms} ms the line has slipped by {slip:?} m");
    }
}

/// A turn by a radian in 50 ms, about the middle of the plate. At the velocities at the beginning
/// of each step the line moves out by 39 µm.
#[test]
fn a_pinned_line_stays_in_place_on_a_plate_that_turns_v4() {
    let mut model = on_plate(0.3, "{at = \"0 s\"}, {at = \"50 ms\", rotate = \"0 57.29578 0 deg\"}", 4.0);
    let start = footprint(&model);
    run(&mut model, 0.05);
    let slip = footprint(&model) - DMat3::from_rotation_y(1.0) * start;
    println!("{slip:?} m");
    assert!(slip.length() < 5e-6, "the line has slipped by {slip:?} m");
}

/// A plate that starts with a jolt sets its drop swinging at 43 Hz. The Stokes layer at the wall,
/// √(ων/2)/2R, and the flow inside, 5ν/R², with R = 3V/A of 1.64 mm, let it decay at 5.4 per
/// second. Where the tension resists the motion of vertices within the surface it is 14 and more,
/// and grows with finer edges. A factor of two is allowed.
#[test]
fn the_swing_of_a_pinned_drop_decays_by_its_viscosity_v4() {
    for edge in [0.3, 0.15] {
        let mut model = on_plate(edge, "{at = \"20 ms\"}, {at = \"1020 ms\", move = \"10 0 0 mm\"}", 0.0);
        let mut swing = |from: f64, to: f64| {
            let (mut low, mut high): (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);
            while model.time() < to - 1e-9 {
                run(&mut model, 1e-3);
                // Between two keys the plate moves uniformly.
                let way = 0.01 * (model.time() - 0.02).max(0.0);
                let place = model.drops()[0].mesh.centroid().x - way;
                if model.time() > from {
                    (low, high) = (low.min(place), high.max(place));
                }
            }
            high - low
        };
        let (first, last) = (swing(0.021, 0.045), swing(0.125, 0.149));
        let rate = (first / last).ln() / 0.104;
        println!("edges of {edge} mm: swings by {first:.2e} m, then by {last:.2e} m, {rate:.1} per second");
        assert!(first > 40e-6 && rate > 2.7 && rate < 10.8, "{rate:.1} per second with edges of {edge} mm");
    }
}
