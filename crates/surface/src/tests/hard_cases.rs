//! Impacts, corners and gaps that leave a drop little choice.

use super::common::{build, plane, run, sphere};
use crate::SurfaceModel;
use glam::DVec3;
use sessile_model::Model;

fn lowest_distance(model: &SurfaceModel) -> f64 {
    let vertices = model.drops().iter().flat_map(|drop| &drop.mesh.positions);
    vertices.map(|&p| model.world().signed_distance(p)).fold(f64::INFINITY, f64::min)
}

#[test]
fn fast_drops_land_s2() {
    for speed in [30.0, 200.0] {
        let mut model = build(&format!(
            "{}{}",
            plane([0.0, 1.0, 0.0], 90.0, 60.0),
            sphere(1.0, [0.0, 5.0, 0.0], [0.0, -speed, 0.0])
        ));
        let volume = model.volume();
        run(&mut model, 4e-3);
        assert!((model.volume() / volume - 1.0).abs() < 1e-9);
        for drop in model.drops() {
            assert!(drop.mesh.touches_solid(), "at {speed} m/s a drop hovers at {} m", drop.mesh.centroid());
            assert!(drop.velocity.y.abs() < 1.0, "it still moves at {} m/s", drop.velocity);
        }
    }
}

/// Two plates that close completely, with a drop between them.
#[test]
fn closing_plates_squeeze_the_liquid_out_at_their_rim_p4b() {
    let plates = "[resolution]\nedge = \"0.3 mm\"\n[materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n\
        [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-5 -3 -5 mm\"\nmax = \"5 0 5 mm\"\n\
        [[solids]]\nname = \"hi\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-5 2.5 -5 mm\"\nmax = \"5 5.5 5 mm\"\n\
        motion = [{ at = \"0 s\" }, { at = \"30 ms\", move = \"0 -2.5 0 mm\" }]\n";
    let mut model = build(&format!("{plates}{}", super::common::cap(10.0, 90.0, [0.0; 3])));
    run(&mut model, 0.034);
    for drop in model.drops() {
        let at = drop.mesh.centroid();
        let above = at.x.abs() < 5e-3 && at.z.abs() < 5e-3 && at.y > 0.0;
        assert!(!above, "liquid has passed through the upper plate to {at}");
    }
    assert!(lowest_distance(&model) > -0.1e-3, "liquid is {} m inside a plate", lowest_distance(&model));
}

/// Plates of 10 mm that close within 30 ms while they turn by 40° (both, about the middle of the
/// lower one), about their normal, or with the upper one tilted until it lies flat.
#[test]
fn plates_that_turn_while_they_close_let_no_liquid_through_p4b() {
    let turning = |s: f64| {
        let (gap, (sin, cos)) = (2.5 * (1.0 - s), (40.0 * s).to_radians().sin_cos());
        let center = DVec3::new(-(gap + 2.0) * sin, (gap + 2.0) * cos - 1.0, 0.0);
        (center, 40.0 * s, 40.0 * s)
    };
    let closing = |s: f64, height: f64| DVec3::new(0.0, 3.5 + height - (2.5 + height) * s, 0.0);
    type Pose<'a> = &'a dyn Fn(f64) -> (DVec3, DVec3, DVec3);
    let poses: [(&str, Pose<'_>); 3] = [
        ("turn", &|s| {
            let (center, upper, lower) = turning(s);
            (center, DVec3::Z * upper, DVec3::Z * lower)
        }),
        ("spin", &|s| (closing(s, 0.0), DVec3::Y * (60.0 * s), DVec3::ZERO)),
        ("hinge", &|s| (closing(s, 1.2), DVec3::Z * (14.0 * (1.0 - s)), DVec3::ZERO)),
    ];
    for (name, pose) in poses {
        let motion = |of: &dyn Fn(f64) -> (DVec3, DVec3)| -> String {
            let keys = (0..=12).map(|key| f64::from(key) / 12.0).map(|s| {
                let (shift, turn) = of(s);
                format!(
                    "{{ at = \"{} ms\", move = \"{} {} 0 mm\", rotate = \"{} {} {} deg\" }}, ",
                    30.0 * s,
                    shift.x,
                    shift.y,
                    turn.x,
                    turn.y,
                    turn.z
                )
            });
            keys.collect()
        };
        let solid = |name: &str, low: f64, motion: &str| {
            format!(
                "[[solids]]\nname = \"{name}\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-5 {low} -5 mm\"\n\
                 max = \"5 {} 5 mm\"\nmotion = [{motion}]\n",
                low + 2.0
            )
        };
        let mut model = build(&format!(
            "[resolution]\nedge = \"0.3 mm\"\n[materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n{}{}{}",
            solid("s", -2.0, &motion(&|s| (DVec3::ZERO, pose(s).2))),
            solid("hi", 2.5, &motion(&|s| (pose(s).0 - DVec3::Y * 3.5, pose(s).1))),
            super::common::cap(8.0, 90.0, [0.0; 3])
        ));
        run(&mut model, 0.033);
        let solids = model.world().solids();
        for drop in model.drops() {
            for position in &drop.mesh.positions {
                for (solid, side) in solids.iter().zip([-1.0, 1.0]) {
                    let place = solid.world_from_rest().apply_inverse(*position);
                    let middle = if side > 0.0 { 3.5e-3 } else { -1e-3 };
                    let behind = side * (place.y - middle) > 1e-3 && place.x.abs() < 3e-3 && place.z.abs() < 3e-3;
                    assert!(!behind, "{name}: liquid has passed through `{}` to {position}", solid.name());
                }
            }
        }
        assert!(lowest_distance(&model) > -0.1e-3, "{name}: liquid is {} m inside a plate", lowest_distance(&model));
        assert!((model.volume() / 8e-9 - 1.0).abs() < 1e-9, "{name}: {} m³ are left", model.volume());
    }
}

/// Three walls that the liquid wets at 60° meet in a corner.
#[test]
fn a_drop_fills_a_wetting_corner_p3() {
    let wall = |name: &str, normal: [f64; 3]| {
        format!("[[solids]]\nname = \"{name}\"\nmaterial = \"m\"\nnormal = {normal:?}\n")
    };
    let walls = format!("{}{}", wall("x", [1.0, 0.0, 0.0]), wall("z", [0.0, 0.0, 1.0]));
    let floor = plane([0.0, 1.0, 0.0], 60.0, 60.0);
    let mut model = build(&format!("{floor}{walls}{}", sphere(1.5, [1.6, 1.6, 1.6], [0.0; 3])));
    run(&mut model, 0.15);
    let at = model.drops()[0].mesh.centroid();
    assert!(at.x < 1.6e-3 && at.z < 1.6e-3, "the drop was expelled to {at}");
}

/// Drips that fall into each other merge at once, and the merged drop misses what they had in
/// common: up to all of one of them.
#[test]
fn a_drop_that_grows_by_overlapping_drips_stays_outside_the_floor() {
    let floor = plane([0.0, 1.0, 0.0], 60.0, 40.0);
    let drip = "[[emitters]]\nkind = \"drip\"\nat = \"0 3.4 0 mm\"\nradius = \"2 mm\"\nevery = \"0.8 ms\"\n";
    let mut model = build(&format!("[resolution]\nedge = \"0.3 mm\"\n{floor}{drip}"));
    for _ in 0..8 {
        run(&mut model, 1e-3);
        let lowest = lowest_distance(&model);
        assert!(lowest > -0.1e-3, "at {} s liquid is {lowest} m inside the floor", model.time());
    }
    assert!(model.volume() > 200e-9, "{} m³ have merged", model.volume());
}

/// A tap of which half the outlet is in the floor says so; one above the floor does not.
#[test]
fn a_tap_that_reaches_into_a_solid_is_reported_v1() {
    for (height, told) in [("0.2", true), ("3", false)] {
        let mut model = build(&format!(
            "{}[[emitters]]\nkind = \"tap\"\nat = \"0 {height} 0 mm\"\nradius = \"1 mm\"\nspeed = \"0.3 m/s\"\n\
             direction = [1, 0, 0]\n",
            plane([0.0, 1.0, 0.0], 90.0, 60.0)
        ));
        let notices = model.notices();
        assert_eq!(notices.iter().any(|notice| notice.contains("0.800 mm into `s`")), told, "{notices:?}");
    }
}
