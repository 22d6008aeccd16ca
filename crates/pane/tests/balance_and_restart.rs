//! The volume balance is exact, ids are never reused, and runs are bit-identical for any threads
//! and interruptions.

use std::collections::BTreeSet;

use crate::support::{cap, imbalance, instances, pane, run, tilted};
use sessile_frames::{Event, Ids};
use sessile_model::Model;

/// Rain, dew, a tap, a feeding and a draining needle, trails and beads on one pane that loses water
/// below.
fn busy_scene() -> String {
    tilted(80.0, "advancing = \"50 deg\"\nreceding = \"15 deg\"\nwet_advancing = \"25 deg\"", "seed = 5")
        + "[[emitters]]\nkind = \"rain\"\nover = \"pane\"\nrate = \"400 mm/h\"\nvelocity = \"0 -3 -2 m/s\"\n\
           [[emitters]]\nkind = \"dew\"\non = \"pane\"\nrate = \"500 uL/m^2/s\"\n\
           [[emitters]]\nkind = \"tap\"\nat = \"-10 45 20 mm\"\ndirection = [0, 0, -1]\nradius = \"0.3 mm\"\nspeed = \"0.4 m/s\"\n\
           [[emitters]]\nkind = \"feed\"\nat = \"5 10 0 mm\"\nrate = \"8 uL/s\"\n\
           [[emitters]]\nkind = \"feed\"\nat = \"12 20 0 mm\"\nrate = \"-2 uL/s\"\n"
        + &cap(30.0, 40.0, [12.0, 20.0, 4.0])
}

#[test]
fn added_volume_equals_present_plus_lost() {
    let mut pane = pane(&busy_scene());
    let mut events = Vec::new();
    for second in 1..=4 {
        events.extend(run(&mut pane, 1.0));
        let imbalance = imbalance(&pane.frame());
        assert!(imbalance.abs() < 1e-12, "after {second} s the volume balance is off by {imbalance:e}");
    }
    let frame = pane.frame();
    assert!(frame.balance.lost > 0.0, "water has left the pane");
    assert!(events.iter().any(|e| matches!(e, Event::Merge { .. })), "drops have merged");
    assert!(events.iter().any(|e| matches!(e, Event::Split { .. })), "films have ruptured into beads");
}

#[test]
fn ids_are_unique_and_never_reused() {
    let mut pane = pane(&busy_scene());
    let (mut seen, mut gone): (BTreeSet<u32>, BTreeSet<u32>) = Default::default();
    for _ in 0..100 {
        run(&mut pane, 0.02);
        let ids: Vec<u32> = instances(&pane.frame()).iter().map(|drop| drop.drop).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "ids are ascending and unique");
        let now: BTreeSet<u32> = ids.into_iter().collect();
        assert!(now.is_disjoint(&gone), "an id came back: {:?}", now.intersection(&gone).next());
        gone.extend(seen.difference(&now));
        seen.extend(&now);
    }
    assert!(!gone.is_empty(), "some drops have gone");
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut pane = pane(&busy_scene());
            run(&mut pane, 2.0);
            pane.save()
        })
    };
    let one = on(1);
    assert!(one == on(2) && one == on(3), "states differ");
}

/// Saved between two steps and restored into a new model.
#[test]
fn a_resumed_run_is_bit_identical() {
    let turning = "[world]\nwind = \"5 0 1 m/s\"\ngravity = [{ at = \"0 s\", value = \"0 -9.8 0 m/s^2\" }, { at = \"1 s\", value = \"2 -5 0 m/s^2\" }]\n";
    for (fidelity, weather) in [("physical", ""), ("paper", ""), ("physical", turning), ("paper", turning)] {
        let scene = format!("fidelity = \"{fidelity}\"\n") + &busy_scene() + weather;
        let mut whole = pane(&scene);
        for _ in 0..8 {
            run(&mut whole, 0.13);
        }
        let mut pieces = pane(&scene);
        for _ in 0..8 {
            run(&mut pieces, 0.13);
            let saved = pieces.save();
            pieces = pane(&scene);
            pieces.restore(&saved).expect("the state fits");
        }
        assert!(whole.save() == pieces.save(), "{fidelity}: states differ");
        assert_eq!(instances(&whole.frame()), instances(&pieces.frame()), "{fidelity}");
    }
}

#[test]
fn the_state_of_another_pane_is_rejected() {
    let state = pane(&busy_scene()).save();
    let mut other = pane(&busy_scene().replace("40 80 mm", "40 85 mm"));
    assert!(other.restore(&state).is_err());
    assert!(pane(&busy_scene()).restore(&state[..state.len() / 2]).is_err(), "half a state");
}

#[test]
fn a_merger_conserves_volume_and_momentum_and_keeps_the_id_of_the_larger_drop() {
    // 20 µL slide onto 5 µL at rest.
    let scene = tilted(90.0, "advancing = \"90 deg\"\nreceding = \"60 deg\"", "")
        + &cap(5.0, 90.0, [0.0, 0.0, 0.0])
        + &cap(20.0, 90.0, [0.0, 12.0, 0.0]);
    let mut pane = pane(&scene);
    let (events, before) = loop {
        let before = pane.frame();
        let events = run(&mut pane, 0.002);
        if !events.is_empty() {
            break (events, before);
        }
        assert!(pane.time() < 2.0, "they meet");
    };
    assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[1, 2]), into: 2 }]);
    let after = pane.frame();
    assert_eq!(after.drops.len(), 1);
    let momentum: f64 = before.drops.iter().map(|d| d.volume * d.velocity.length()).sum();
    let merged = after.drops[0];
    assert!((merged.volume / 25e-9 - 1.0).abs() < 1e-12);
    // Gravity acts for up to 2 ms more.
    let gained = merged.volume * merged.velocity.length() - momentum;
    assert!(gained.abs() < merged.volume * 9.8 * 0.002, "momentum {momentum:e} became {:e}", momentum + gained);
}

/// Grown by a needle to 20 µL at 90°, then drained: the contact line stays until the angle has
/// fallen to 40° (reference case `hysteresis-20-90-40`: base radius 2.21647 mm, 6.26756 µL).
#[test]
fn the_contact_line_is_pinned_between_advancing_and_receding_angle() {
    let scene = tilted(0.0, "advancing = \"90 deg\"\nreceding = \"40 deg\"", "")
        + "[[emitters]]\nkind = \"feed\"\nat = \"0 0 0 mm\"\nrate = \"20 uL/s\"\nstop = \"1 s\"\n\
           [[emitters]]\nkind = \"feed\"\nat = \"0 0 0 mm\"\nrate = \"-2 uL/s\"\nstart = \"1 s\"\n";
    let mut pane = pane(&scene);
    run(&mut pane, 1.0);
    let base = |pane: &sessile_pane::Pane| {
        let frame = pane.frame();
        let surface = frame.liquid.into_surface().expect("a surface");
        let rim = surface.positions.iter().filter(|p| p.y.abs() < 1e-9).map(|p| p.length()).fold(0.0, f64::max);
        (frame.drops[0].volume, rim)
    };
    let (volume, full) = base(&pane);
    assert!((volume / 20e-9 - 1.0).abs() < 1e-9 && (full / 2.21647e-3 - 1.0).abs() < 0.01, "{volume:e} m³, {full:e} m");
    let mut depinned = f64::NAN;
    while pane.time() < 9.0 {
        run(&mut pane, 0.02);
        let (volume, radius) = base(&pane);
        if radius < 0.99 * full {
            depinned = volume;
            break;
        }
    }
    assert!((depinned / 6.26756e-9 - 1.0).abs() < 0.05, "depinned at {:.3} µL", depinned * 1e9);
}
