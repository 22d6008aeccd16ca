//! Coalescence: at high speed, along the path, across creases and between solids.

use crate::support::{cap, drop, model, run, slope};
use sessile_frames::{Event, Ids};
use sessile_model::Model;

#[test]
fn a_fast_droplet_merges_with_all_that_it_passes_between_two_frames() {
    // 20 µL on a steep slope of PTFE, with droplets of 0.05 µL in its path; it passes several per
    // frame.
    for frames in [1, 4] {
        let mut scene = slope(113.0, 92.0, 80.0, [1500.0, 1500.0]);
        scene += &cap("plane", 30.0, 113.0, [0.0; 3]);
        let (sin, cos) = 80_f64.to_radians().sin_cos();
        for k in 1..=20 {
            let way = 60.0 + 10.0 * f64::from(k);
            scene += &cap("plane", 0.05, 113.0, [way * cos, -way * sin, if k % 2 == 0 { 1.0 } else { -1.0 }]);
        }
        let mut model = model("", &scene);
        let mut events = Vec::new();
        while model.time() < 0.6 {
            let limit = f64::from(frames) / 60.0;
            events.extend(
                model.step(limit, &mut sessile_model::NoTimer).unwrap_or_else(|error| panic!("{error}")).events,
            );
        }
        // Several merges in one step are one event.
        let met = |event: &Event| match event {
            Event::Merge { merge, into: 1 } => merge.len() - 1,
            _ => 0,
        };
        let merges: usize = events.iter().map(met).sum();
        let (state, _) = drop(&model, 1).expect("there");
        assert_eq!((merges, model.num_droplets()), (20, 1), "at {} m/s", state.velocity.length());
        assert!((state.volume - 31e-9).abs() < 1e-18, "{:e} m³", state.volume);
    }
}

#[test]
fn momentum_is_conserved_and_the_larger_keeps_its_id() {
    // Almost without gravity and friction, one droplet runs into another at rest.
    let scene = "[world]\ngravity = \"0 0 0 m/s^2\"\n".to_owned()
        + &slope(100.0, 99.9, 0.0, [400.0, 400.0])
        + &cap("plane", 1.0, 100.0, [0.0; 3])
        + &cap("plane", 3.0, 100.0, [4.0, 0.0, 0.0]);
    let mut model = model("", &(scene + "velocity = \"-0.5 0 0 m/s\"\n"));
    let before = drop(&model, 2).expect("there").0;
    let mut events = Vec::new();
    let mut speed = before.velocity.x;
    while events.is_empty() && model.time() < 0.1 {
        speed = drop(&model, 2).expect("there").0.velocity.x;
        let until = model.time() + 1e-3;
        events = run(&mut model, until);
    }
    assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 2 }]);
    let after = drop(&model, 2).expect("there").0;
    assert!((after.volume - 4e-9).abs() < 1e-18);
    // Three quarters of the larger one's velocity, less the friction of a millisecond.
    let ratio = after.velocity.x / (0.75 * speed);
    assert!((0.96..1.0001).contains(&ratio), "{ratio} of the shared momentum");
}

#[test]
fn droplets_on_opposite_sides_of_a_thin_plate_do_not_merge() {
    let plate = "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"plate\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-20 -0.05 -20 mm\"\nmax = \"20 0.05 20 mm\"\n";
    let scene =
        plate.to_owned() + &cap("plate", 5.0, 90.0, [0.0, 0.05, 0.0]) + &cap("plate", 5.0, 90.0, [0.3, -0.05, 0.0]);
    let mut model = model("", &scene);
    assert_eq!(run(&mut model, 0.2), []);
    assert_eq!(model.num_droplets(), 2);
}

/// With wetting history the second droplet is drawn into the path of the first; without, it slides
/// straight.
#[test]
fn a_wet_path_is_followed() {
    let apart = |wet: &str| {
        let plane = format!(
            "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n{wet}\
             [[solids]]\nname = \"plane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [1, 1, 0]\nsize = \"100 400 mm\"\n"
        );
        let mut model = model("", &(plane + &cap("plane", 40.0, 90.0, [-100.0, 100.0, 0.0])));
        run(&mut model, 1.5);
        let first = drop(&model, 1).map_or(0.0, |(_, at)| at.z);
        model.add_droplet(glam::DVec3::new(-0.1, 0.1, 2.4e-3), glam::DVec3::ZERO, 40e-9);
        run(&mut model, 1.9);
        let (_, second) = drop(&model, 2).expect("on its way");
        (second.z - first).abs()
    };
    let (without, with) = (apart(""), apart("wet_advancing = \"65 deg\"\n"));
    assert!(without > 2.2e-3, "without wetting history it slides straight: {without:e} m beside");
    assert!(with < 0.5 * without, "it is drawn into the wet path: {with:e} m beside");
}

/// Over an edge, through the air, onto the solid below.
#[test]
fn a_detached_droplet_lands_again() {
    let scene = "[materials.m]\nadvancing = \"100 deg\"\nreceding = \"90 deg\"\n\
         [[solids]]\nname = \"upper\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 60 0 mm\"\nnormal = [0.5, 1, 0]\nsize = \"40 40 mm\"\n\
         [[solids]]\nname = \"lower\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"40 -20 0 mm\"\nradius = \"40 mm\"\n";
    let mut model = model("", &(scene.to_owned() + &cap("upper", 80.0, 100.0, [-5.0, 62.0, 0.0])));
    let mut flew = false;
    let mut landed = false;
    for step in 1..=60 {
        run(&mut model, f64::from(step) / 60.0);
        flew |= model.num_airborne() == 1;
        landed |= flew && model.num_airborne() == 0 && model.num_droplets() == 1;
    }
    assert!(flew && landed, "flew {flew}, landed {landed}");
}

#[test]
fn droplets_on_two_solids_merge_where_the_solids_meet() {
    // A floor and a wall that meet along z; the wall's rest pose is a floor too. One drop on each,
    // both in the corner, or one 30 mm away.
    let scene = |off: f64| {
        "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"20 deg\"\n\
         [[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"200 200 mm\"\n\
         [[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"-10 0 0 mm\"\nnormal = [0, 1, 0]\nrotate = \"0 0 -90 deg\"\nsize = \"200 200 mm\"\n"
            .to_owned()
            + &cap("floor", 8.0, 90.0, [off - 10.0, 0.0, 0.0])
            + &cap("wall", 4.0, 90.0, [-10.0, 1.2, 0.0])
    };
    let mut apart = model("", &scene(30.0));
    assert!(run(&mut apart, 0.2).is_empty() && apart.num_droplets() == 2);
    let mut close = model("", &scene(1.5));
    let events = run(&mut close, 0.2);
    assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 1 }]);
    let (state, place) = drop(&close, 1).expect("there");
    assert!((state.volume - 12e-9).abs() < 1e-20, "{:e}", state.volume);
    assert!(place.distance(glam::DVec3::new(-9e-3, 1e-3, 0.0)) < 2.5e-3, "it is at {place}");
}
