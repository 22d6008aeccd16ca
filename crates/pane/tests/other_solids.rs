//! Solids other than the pane, bodies of the paper mode, and the angle of a cap in the first frame.

use std::collections::BTreeSet;

use crate::support::{cap, instances, pane, run, tilted};
use glam::DVec3;
use sessile_frames::Event;
use sessile_model::Model;
use sessile_world::random::Stream;

const PLASTIC: &str = "advancing = \"90 deg\"\nreceding = \"60 deg\"";

/// A beam across a level pane, 20 mm above it.
fn beam(drops: &str) -> String {
    tilted(0.0, PLASTIC, "")
        + "[[solids]]\nname = \"beam\"\nmaterial = \"m\"\nshape = \"cylinder\"\n\
           from = \"-30 20 0 mm\"\nto = \"30 20 0 mm\"\nradius = \"4 mm\"\n"
        + drops
}

#[test]
fn an_airborne_drop_slides_off_another_solid_and_lands_on_the_pane() {
    let sphere =
        "[[drops]]\nshape = \"sphere\"\ncenter = \"0 40 1 mm\"\nradius = \"1.5 mm\"\nvelocity = \"0 -2 0 m/s\"\n";
    let mut pane = pane(&beam(sphere));
    let (mut nearest, mut notices) = (f64::INFINITY, Vec::new());
    for _ in 0..120 {
        run(&mut pane, 2e-3);
        notices.extend(pane.notices());
        let frame = pane.frame();
        let center = instances(&frame)[0].frame.origin;
        if instances(&frame)[0].solid.is_none() {
            nearest = nearest.min((center - DVec3::Y * 20e-3).with_x(0.0).length());
        }
    }
    assert!(nearest > 0.999 * 5.5e-3, "the center comes within {nearest} m of the axis");
    let frame = pane.frame();
    assert_eq!(instances(&frame)[0].solid, Some(0), "it has landed");
    assert!(notices.len() == 1 && notices[0].contains("meets `beam`"), "{notices:?}");
}

#[test]
fn a_drop_on_the_pane_that_reaches_into_another_solid_is_reported() {
    let block =
        "[[solids]]\nname = \"block\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-20 -1 3 mm\"\nmax = \"20 5 9 mm\"\n";
    for (z, is_inside) in [(3.2, true), (-3.0, false)] {
        let mut pane = pane(&(tilted(0.0, PLASTIC, "") + block + &cap(8.0, 80.0, [0.0, 0.0, z])));
        run(&mut pane, 0.02);
        let notices = pane.notices();
        assert_eq!(notices.iter().any(|notice| notice.contains("reaches into `block`")), is_inside, "{notices:?}");
    }
}

#[test]
fn a_drop_that_is_emitted_behind_the_pane_is_reported() {
    let drip =
        |y: f64| format!("[[emitters]]\nkind = \"drip\"\nat = \"0 {y} 0 mm\"\nradius = \"1 mm\"\nevery = \"1 s\"\n");
    for (y, is_behind) in [(-3.0, true), (3.0, false)] {
        let mut pane = pane(&(tilted(0.0, PLASTIC, "") + &drip(y)));
        run(&mut pane, 0.03);
        let notices = pane.notices();
        assert_eq!(notices.iter().any(|notice| notice.contains("is inside `pane`")), is_behind, "{notices:?}");
    }
}

/// Rain in the paper mode: footprints of neighboring cells overlap and come apart again.
#[test]
fn an_id_of_the_paper_mode_that_is_gone_never_returns() {
    let (mut merges, mut splits) = (0, 0);
    for seed in 0..4 {
        let mut random = Stream::new(seed, &[]);
        let rain = "[[emitters]]\nkind = \"rain\"\nover = \"pane\"\nrate = \"40 um/s\"\nvelocity = \"0 0 -2 m/s\"\n\
            radius = { min = \"0.8 mm\", max = \"2 mm\" }\n";
        let top = format!("fidelity = \"paper\"\nseed = {seed}");
        let cell = random.uniform_in(1.0, 3.0);
        let text = tilted(90.0, PLASTIC, &top) + &format!("[pane]\ncell = \"{cell} mm\"\n") + rain;
        let mut pane = pane(&text);
        let (mut present, mut gone): (BTreeSet<u32>, BTreeSet<u32>) = Default::default();
        for _ in 0..40 {
            for event in run(&mut pane, 0.1) {
                match event {
                    Event::Merge { .. } => merges += 1,
                    Event::Split { .. } => splits += 1,
                }
            }
            let now: BTreeSet<u32> = pane.frame().drops.iter().map(|drop| drop.id).collect();
            gone.extend(present.difference(&now));
            assert!(gone.is_disjoint(&now), "{:?} are back at {} s", gone.intersection(&now), pane.time());
            present = now;
        }
    }
    assert!(merges > 40 && splits > 40, "{merges} mergers and {splits} splits");
}

/// Base radii of the first two frames, for a material that allows 60° to 90°.
#[test]
fn the_first_frame_shows_a_cap_at_its_contact_angle() {
    for (angle, is_allowed) in [(30.0, false), (75.0, true), (130.0, false)] {
        let mut pane = pane(&(tilted(0.0, PLASTIC, "") + &cap(0.05, angle, [0.0; 3])));
        let angle_of = |pane: &sessile_pane::Pane| {
            let surface = pane.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
            let height = surface.positions.iter().map(|p| p.y).fold(0.0, f64::max);
            let base = surface.positions.iter().filter(|p| p.y < 1e-9).map(|p| p.with_y(0.0).length());
            // A spherical cap: tan θ/2 = h/R.
            2.0 * (height / base.fold(0.0, f64::max)).atan().to_degrees()
        };
        let first = angle_of(&pane);
        assert!((first - angle).abs() < 2.0, "{first}° of {angle}°");
        run(&mut pane, 1.0 / 30.0);
        let second = angle_of(&pane);
        assert_eq!((second - angle).abs() < 2.0, is_allowed, "{second}° after a step");
        assert!((58.0..92.0).contains(&second), "{second}° after a step");
    }
}
