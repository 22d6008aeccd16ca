//! The paper's operators (`fidelity = "paper"`): contact lines advance at their angle, dry and wet,
//! and rest between two, wherever the wall lies in the grid.

use glam::DVec3;
use sessile_model::Model;

use super::Volume;
use super::tests::{WATER, build_with, run_to, surface};

const PAPER: &str = "fidelity = \"paper\"";

/// Places of the contact points of a planar drop along a wall through `point` with normal `normal`,
/// in m, in ascending order.
fn contact_points(volume: &Volume, point: DVec3, normal: DVec3) -> [f64; 2] {
    let along = DVec3::new(normal.y, -normal.x, 0.0);
    let frame = volume.frame();
    let on_wall = surface(&frame).positions.iter().filter(|p| (**p - point).dot(normal).abs() < 1e-9);
    on_wall.map(|p| (*p - point).dot(along)).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
        [low.min(x), high.max(x)]
    })
}

/// The angle of a circular cap of this half width and area, in degrees.
fn cap_angle(half: f64, area: f64) -> f64 {
    // A = a² (θ − sin θ cos θ)/sin²θ rises with θ.
    let (mut low, mut high) = (0.01, 3.1);
    for _ in 0..60 {
        let theta: f64 = 0.5 * (low + high);
        let cap = half * half * (theta - theta.sin() * theta.cos()) / theta.sin().powi(2);
        if cap < area { low = theta } else { high = theta }
    }
    low.to_degrees()
}

/// Angles at which a weightless drop of 2 mm² with 84°/75° (wet)/55° advances over surface that it
/// has left, and beyond it; its wall lies `offset` cells above the grid's faces, tilted by `tilt`.
fn advancing_angles(offset: f64, tilt: f64) -> [f64; 2] {
    let (sin, cos) = tilt.to_radians().sin_cos();
    let (normal, point) = (DVec3::new(sin, cos, 0.0), DVec3::new(0.013e-3, 0.1e-3 * offset, 0.0));
    let needle = 1e3 * (point + 0.5e-3 * normal);
    let mut volume = build_with(
        PAPER,
        &format!(
            "settle = true\n{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
             [resolution]\ncell = \"0.1 mm\"\n\
             [materials.m]\nadvancing = \"84 deg\"\nwet_advancing = \"75 deg\"\nreceding = \"55 deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"{x} {y} 0 mm\"\nnormal = [{sin}, {cos}, 0]\n\
             [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"{x} {y} 0 mm\"\narea = \"2 mm^2\"\ncontact_angle = \"60 deg\"\n\
             [[emitters]]\nkind = \"feed\"\nat = \"{u} {v} 0 mm\"\nrate = \"-12 mm^2/s\"\nstop = \"80 ms\"\n\
             [[emitters]]\nkind = \"feed\"\nat = \"{u} {v} 0 mm\"\nrate = \"24 mm^2/s\"\nstart = \"90 ms\"\n",
            x = 1e3 * point.x,
            y = 1e3 * point.y,
            u = needle.x,
            v = needle.y,
        ),
    );
    let half_width = |volume: &Volume| {
        let [low, high] = contact_points(volume, point, normal);
        0.5 * (high - low)
    };
    let first = half_width(&volume);
    run_to(&mut volume, 0.09);
    let drained = half_width(&volume);
    let (mut wet, mut dry) = (Vec::new(), Vec::new());
    for step in 1..=24 {
        run_to(&mut volume, 0.09 + 5e-3 * f64::from(step));
        let half = half_width(&volume);
        let angle = cap_angle(half, volume.frame().drops[0].volume);
        println!("  {:.0} ms: {:.3} mm at {angle:.1}°", 1e3 * volume.time(), 1e3 * half);
        if half > drained + 1.5e-4 && half < first - 1.5e-4 {
            wet.push(angle);
        } else if half > first + 5e-5 {
            dry.push(angle);
        }
    }
    let mean = |angles: &[f64]| angles.iter().sum::<f64>() / angles.len() as f64;
    [mean(&wet), mean(&dry)]
}

/// At three offsets of the wall, and on a tilted one. Read at the cell's own height instead of the
/// foot point, the history is found at the first offset only; with eq. 10 as printed the drop
/// advances at 65° and 70°.
#[test]
fn the_papers_front_advances_at_its_angle_on_dry_and_on_wet_ground() {
    for (offset, tilt) in [(0.0, 0.0), (0.5, 0.0), (1.27, 0.0), (0.4, 17.0)] {
        let [wet, dry] = advancing_angles(offset, tilt);
        println!("offset {offset}, tilt {tilt}°: wet {wet:.1}°, dry {dry:.1}°");
        assert!((wet - 75.0).abs() < 3.0, "offset {offset}, tilt {tilt}°: {wet:.1}° on wet ground, not 75°");
        assert!((dry - 84.0).abs() < 3.0, "offset {offset}, tilt {tilt}°: {dry:.1}° on dry ground, not 84°");
    }
}

/// Lowest and highest point of what the drop of `microliters` wets on a vertical pane of 90°/60°,
/// at the start and after `time` (in s), in mm.
fn on_vertical_pane(microliters: f64, static_speed: f64, time: f64) -> [[f64; 2]; 2] {
    let mut volume = build_with(
        PAPER,
        &format!(
            "{WATER}[resolution]\ncell = \"0.25 mm\"\n[volume]\nstatic_speed = \"{static_speed} mm/s\"\n\
             [materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [1, 0, 0]\npoint = \"0.07 0 0 mm\"\n\
             [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.07 0.02 0.03 mm\"\nvolume = \"{microliters} uL\"\ncontact_angle = \"75 deg\"\n"
        ),
    );
    let heights = |volume: &Volume| {
        let frame = volume.frame();
        let surface = surface(&frame);
        let wetting = surface.triangles.iter().zip(&surface.solids).filter(|(_, solid)| **solid >= 0);
        let heights = wetting.flat_map(|(triangle, _)| triangle.map(|v| 1e3 * surface.positions[v as usize].y));
        heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)])
    };
    let start = heights(&volume);
    run_to(&mut volume, time);
    [start, heights(&volume)]
}

/// At any speed below which a front counts as static; a tenth of a cell is what a held line may
/// turn by. 30 µL are more than the pane retains, and slide.
#[test]
fn the_papers_static_front_holds_a_drop_on_a_vertical_pane() {
    for static_speed in [1.0, 7.0, 50.0] {
        let [before, after] = on_vertical_pane(5.0, static_speed, 0.5);
        let moved = [after[0] - before[0], after[1] - before[1]];
        println!("{static_speed} mm/s: lower end {:+.3} mm, upper end {:+.3} mm", moved[0], moved[1]);
        assert!(moved.iter().all(|moved| moved.abs() < 0.025), "at {static_speed} mm/s it moves by {moved:.3?} mm");
    }
    for static_speed in [1.0, 50.0] {
        let [before, after] = on_vertical_pane(30.0, static_speed, 0.1);
        println!("{static_speed} mm/s: 30 uL from {before:.2?} to {after:.2?} mm");
        assert!(after[1] - before[1] < -1.0, "30 uL stay at {after:.2?} mm, from {before:.2?}");
    }
}
