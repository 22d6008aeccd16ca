//! Droplets that meet other solids, and solids whose velocity jumps.

use crate::support::{cap, model, run};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_model::{Model, NoTimer};

const ANGLES: &str = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n";

/// Volume of all drops of a frame and of its balance, in m³.
fn present(model: &DropletModel) -> (f64, f64) {
    let frame = model.frame();
    let drops: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
    (drops + frame.balance.film, frame.balance.added - frame.balance.lost)
}

/// A drop that slides off a plate and lands, in the same step, under an overhanging one where it
/// cannot hang.
#[test]
fn a_drop_that_cannot_hang_where_it_lands_stays_in_the_balance() {
    let scene = "[materials.m]\nadvancing = \"170 deg\"\nreceding = \"165 deg\"\n\
        [[solids]]\nname = \"plate\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"20 20 mm\"\n\
        [[solids]]\nname = \"hood\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"25 0 0 mm\"\nnormal = [-0.8, -0.6, 0]\nsize = \"80 80 mm\"\n"
        .to_owned()
        + &cap("plate", 30.0, 170.0, [5.0, 0.0, 0.0])
        + "velocity = \"2 0 0 m/s\"\n";
    let mut model = model("", &scene);
    for _ in 0..40 {
        model.step(2e-3, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        let (drops, balance) = present(&model);
        assert!((drops - balance).abs() < 1e-15, "{drops:e} of {balance:e} m³ at {} s", model.time());
    }
}

/// The plate jumps to 2 m/s at 5 ms; until then nothing may move.
#[test]
fn a_jump_of_the_velocity_acts_when_it_happens() {
    let scene = "[materials.m]\nadvancing = \"170 deg\"\nreceding = \"168 deg\"\n\
        [[solids]]\nname = \"t\"\nmaterial = \"m\"\nshape = \"plane\"\nmotion = [{ at = \"0 s\" }, { at = \"5 ms\" }, { at = \"30 ms\", move = \"50 0 0 mm\" }]\n"
        .to_owned()
        + &cap("t", 10.0, 170.0, [0.0; 3]);
    for step in [5e-3, 1.7e-3, 20e-3] {
        let mut model = model("", &scene);
        let mut speed = 0.0;
        while model.time() < 9e-3 {
            let limit = if model.time() < 5e-3 { (5e-3 - model.time()).min(step) } else { step.min(3e-3) };
            model.step(limit, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
            speed = model.frame().drops[0].velocity.x;
            let expected = model.time() > 5e-3 + 1e-9;
            if !expected {
                assert!(model.num_sliding() == 0 && speed.abs() < 1e-12, "{speed} m/s at {} s", model.time());
            }
        }
        assert!(speed < 1.0 && model.num_sliding() == 1, "the plate slips away under it: {speed} m/s");
    }
}

/// Places of all droplets and their signed distances from the solids that they are not on.
fn deepest_place(model: &DropletModel, on: &str) -> f64 {
    let others = || model.world().solids().iter().filter(|solid| solid.name() != on);
    let depth = |at: DVec3| others().map(|solid| -solid.signed_distance(at)).fold(f64::MIN, f64::max);
    model.places().map(|(_, at, _)| depth(at)).fold(f64::MIN, f64::max)
}

#[test]
fn a_droplet_slides_up_to_a_wall_and_not_through_it() {
    for speed in [0.3, 3.0] {
        let scene = ANGLES.to_owned()
            + "[[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\n\
               [[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"8 -2 -20 mm\"\nmax = \"9 10 20 mm\"\n"
            + &cap("floor", 5.0, 90.0, [0.0; 3])
            + &format!("velocity = \"{speed} 0 0 m/s\"\n");
        let mut model = model("", &scene);
        for _ in 0..60 {
            model.step(1.0 / 60.0, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
            assert!(
                deepest_place(&model, "floor") < 0.0,
                "{} m inside at {} s",
                deepest_place(&model, "floor"),
                model.time()
            );
        }
        let (_, at, _) = model.places().next().expect("one droplet");
        assert!(at.x < 8e-3, "it passed the wall: {at}");
    }
}

#[test]
fn a_droplet_in_a_corner_is_displayed_outside_of_the_walls() {
    let scene = "[materials.m]\nadvancing = \"60 deg\"\nreceding = \"60 deg\"\n\
        [[solids]]\nname = \"f\"\nmaterial = \"m\"\n[[solids]]\nname = \"x\"\nmaterial = \"m\"\nnormal = [1, 0, 0]\n\
        [[solids]]\nname = \"z\"\nmaterial = \"m\"\nnormal = [0, 0, 1]\n\
        [[drops]]\ncenter = \"1.6 1.6 1.6 mm\"\nradius = \"1.5 mm\"\n";
    let mut model = model("", scene);
    run(&mut model, 0.1);
    let frame = model.frame();
    let volume = frame.drops[0].volume;
    let surface = frame.liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let depth =
        |p: DVec3| model.world().solids().iter().map(|solid| -solid.signed_distance(p)).fold(f64::MIN, f64::max);
    let deepest = surface.positions.iter().map(|&p| depth(p)).fold(f64::MIN, f64::max);
    let place = model.places().next();
    assert!(deepest < 0.05e-3, "{deepest} m inside; {place:?}, {} airborne", model.num_airborne());
    let corners = |t: &[u32; 3]| t.map(|v| surface.positions[v as usize]);
    let enclosed: f64 = surface.triangles.iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    assert!((enclosed / volume - 1.0).abs() < 1e-3, "{enclosed:e} of {volume:e} m³");
}

#[test]
fn closing_plates_push_droplets_or_report_that_they_cannot() {
    // A wall that moves along the floor pushes the droplet ahead.
    let scene = ANGLES.to_owned()
        + "[[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\n\
           [[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-9 0 -20 mm\"\nmax = \"-8 10 20 mm\"\n\
           motion = [{ at = \"0 s\" }, { at = \"200 ms\", move = \"20 0 0 mm\" }]\n"
        + &cap("floor", 5.0, 90.0, [0.0; 3]);
    let mut pushed = model("", &scene);
    run(&mut pushed, 0.2);
    let (_, at, _) = pushed.places().next().expect("one droplet");
    assert!(at.x > 11.9e-3, "the wall is at 12 mm, the droplet at {at}");
    assert!(pushed.notices().is_empty());
    // Two plates that close have no free place for it.
    let scene = ANGLES.to_owned()
        + "[[solids]]\nname = \"lo\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-12 -3 -12 mm\"\nmax = \"12 0 12 mm\"\n\
           [[solids]]\nname = \"hi\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-12 4 -12 mm\"\nmax = \"12 7 12 mm\"\n\
           motion = [{ at = \"0 s\" }, { at = \"60 ms\", move = \"0 -3 0 mm\" }]\n"
        + &cap("lo", 20.0, 90.0, [0.0; 3]);
    let mut squeezed = model("", &scene);
    let mut notices = Vec::new();
    while squeezed.time() < 0.08 {
        squeezed.step(10e-3, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        notices.extend(squeezed.notices());
    }
    assert!(notices.len() == 1 && notices[0].contains("`lo` is squeezed by `hi`"), "{notices:?}");
    let surface = squeezed.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let highest = surface.positions.iter().map(|p| p.y).fold(0.0, f64::max);
    assert!(highest < 1.02e-3, "the gap is 1 mm, the droplet {highest} m high");
}

/// Water at 90°/60° hangs up to 69.2 µL with a free contact line; its widest line, pinned, holds
/// 96.8 µL.
#[test]
fn a_pinned_contact_line_holds_more_than_a_free_one() {
    let scene = ANGLES.to_owned()
        + "[[solids]]\nname = \"c\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, -1, 0]\n\
           [[emitters]]\nkind = \"feed\"\nat = \"0 0 0 mm\"\nrate = \"100 uL/s\"\nstop = \"2 s\"\n"
        + &cap("c", 20.0, 90.0, [0.0; 3]);
    let mut model = model("", &scene);
    let mut largest = 0.0_f64;
    while model.num_airborne() == 0 && model.time() < 2.0 {
        largest = model.frame().drops.iter().map(|drop| drop.volume).fold(largest, f64::max);
        model.step(2e-3, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!((largest * 1e9 - 96.8).abs() < 2.0, "released at {} µL", largest * 1e9);
}
