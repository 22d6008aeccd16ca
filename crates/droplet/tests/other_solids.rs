//! Droplets that meet other solids, and solids whose velocity jumps.

use crate::support::{cap, model, run};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_model::{Model, NoTimer};
use sessile_scene::text;

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
fn a_drop_that_cannot_hang_where_it_lands_stays_in_the_balance_d2() {
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
fn a_jump_of_the_velocity_acts_when_it_happens_d3() {
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
fn a_droplet_in_a_corner_is_displayed_outside_of_the_walls_p3() {
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
fn closing_plates_push_droplets_or_report_that_they_cannot_d4() {
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
fn a_pinned_contact_line_holds_more_than_a_free_one_d5() {
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

/// Soak seed 9070: in a steep valley few vertices of the shape were free to move, and became a
/// needle 5 mm long that ended in the solid.
#[test]
fn a_droplet_in_a_steep_valley_is_not_displayed_as_a_needle() {
    let scene = text::material("m", 160.0, 150.0)
        + "[[solids]]\nname = \"leaf\"\nmaterial = \"m\"\nshape = \"leaf\"\naxis = [0.7223, 0.6842, 0.1004]\n\
           angle = \"49.05 deg\"\nsize = \"35 26 mm\"\n\
           [[drops]]\nshape = \"cap\"\non = \"leaf\"\ncenter = \"0.254 -0.237 3.225 mm\"\nradius = \"0.364 mm\"\n\
           contact_angle = \"55 deg\"\n";
    let mut model = model("", &scene);
    let mut longest = 0.0_f64;
    for step in 1..=20 {
        run(&mut model, 0.01 * f64::from(step));
        let surface = model.frame().liquid.into_surface().expect("a surface");
        if surface.positions.is_empty() {
            continue;
        }
        let center = surface.positions.iter().sum::<DVec3>() / surface.positions.len() as f64;
        longest = surface.positions.iter().map(|p| p.distance(center)).fold(longest, f64::max);
    }
    assert!(longest > 0.0 && longest < 1.5e-3, "{longest} m from its center to its surface");
}

#[test]
fn a_droplet_larger_than_the_cavity_that_it_is_in_is_reported() {
    let scene = text::material("m", 60.0, 40.0)
        + "[[solids]]\nname = \"flask\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"1 mm\"\ninside = true\n\
           [[drops]]\nshape = \"sphere\"\nvolume = \"VOLUME uL\"\n";
    for (volume, is_reported) in [("1", false), ("4", true), ("30", true)] {
        let mut model = model("", &scene.replace("VOLUME", volume));
        run(&mut model, 0.05);
        let said = model.notices().iter().any(|notice| notice.contains("inside the wall of `flask`"));
        assert_eq!(said, is_reported, "{volume} uL");
    }
}

/// Soak seed 9376: two planes cross, and dew condenses on the part of one that is behind the other.
#[test]
fn dew_on_a_part_of_a_solid_that_is_inside_another_one_is_reported() {
    let planes = |far: bool| {
        let height = if far { 20 } else { 0 };
        text::material("m", 90.0, 60.0)
            + &text::plane("floor", "m", [0.0, 1.0, 0.0], [40.0, 40.0])
            + "[[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [1, 0, 0]\nsize = \"20 20 mm\"\n"
            + &format!("move = \"0 {height} 0 mm\"\n")
            + "[[emitters]]\nkind = \"dew\"\non = \"wall\"\nrate = \"5000 uL/m^2/s\"\n"
    };
    for far in [false, true] {
        let mut model = model("", &planes(far));
        run(&mut model, 0.3);
        assert!(model.num_droplets() > 10);
        let said = model.notices().iter().any(|notice| notice.contains("on `wall` is inside `floor`"));
        assert_eq!(said, !far);
    }
}

/// Soak seed 9221: a droplet that a wall moved to where it could not hang fell off, and was asked
/// about the next solid.
#[test]
fn a_droplet_that_falls_off_where_a_wall_moves_it_reacts_to_no_further_solid() {
    let scene = "[liquid]\npreset = \"honey\"\nsurface_tension = \"58.8354 mN/m\"\n\
        [materials.m0]\nadvancing = \"106.2 deg\"\nreceding = \"98.27 deg\"\nwet_advancing = \"102.47 deg\"\n\
        [[solids]]\nname = \"s0\"\nmaterial = \"ptfe\"\nshape = \"sphere\"\ncenter = \"0 -2.9583 0 mm\"\nradius = \"2.9583 mm\"\n\
        [[solids]]\nname = \"s1\"\nmaterial = \"m0\"\nshape = \"box\"\nmin = \"-3.19969 -4.69322 -8.58685 mm\"\n\
        max = \"2.89795 -3.61092 5.69308 mm\"\n\
        [[solids]]\nname = \"s2\"\nshape = \"leaf\"\npoint = \"5.502 -3.3892 5.24096 mm\"\nangle = \"73.3697 deg\"\n\
        size = \"37.6061 18.1705 mm\"\nrotate = \"-76.0126 62.1584 166.242 deg\"\n\
        [[drops]]\nshape = \"cylinder\"\nfrom = \"3.85557 5.63031 1.95664 mm\"\nto = \"2.82385 4.6175 -0.0366263 mm\"\n\
        radius = \"2.05484 mm\"\n\
        [[drops]]\nshape = \"cap\"\non = \"s0\"\ncenter = \"-4.65137 -3.04327 -3.30655 mm\"\nradius = \"2.78979 mm\"\n\
        contact_angle = \"77.1868 deg\"\n";
    let mut model = model("", scene);
    for _ in 0..7 {
        model.step(5e-3, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
    let (drops, balance) = present(&model);
    assert!((drops - balance).abs() < 1e-15, "{drops:e} of {balance:e} m³");
}
