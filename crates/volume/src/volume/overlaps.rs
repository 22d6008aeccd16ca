//! Liquid where liquid or a solid already is: what the balance counts, the frames enclose.

use sessile_model::{Model, NoTimer};

use super::tests::{WATER, build, run_to, surface};
use crate::volume::Volume;

/// Volume that a frame encloses over the volume of its balance; area in planar runs.
fn body_over_balance(volume: &Volume) -> f64 {
    let frame = volume.frame();
    let surface = surface(&frame);
    let sixth = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| surface.positions[vertex as usize]);
        a.dot(b.cross(c)) / 6.0
    };
    let body: f64 = surface.triangles.iter().map(sixth).sum();
    let thickness = if volume.setup.planar { volume.setup.h } else { 1.0 };
    body / thickness / (frame.balance.added - frame.balance.lost)
}

fn scene(rest: &str) -> String {
    format!("{WATER}{rest}")
}

/// Two spheres that nearly coincide hold their union, and a third inside them adds nothing.
#[test]
fn overlapping_drops_are_their_union() {
    let mut volume = build(&scene(
        "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"0.15 mm\"\n\
         [[drops]]\ncenter = \"0 0 0 mm\"\nradius = \"1.5 mm\"\n\
         [[drops]]\ncenter = \"0.2 0 0 mm\"\nradius = \"1.5 mm\"\n\
         [[drops]]\ncenter = \"0.1 0 0 mm\"\nradius = \"0.8 mm\"\n",
    ));
    // A sphere and a lens-shaped remainder: π/12 (4R + d)(2R − d)² is the overlap of two spheres.
    let (r, d): (f64, f64) = (1.5, 0.2);
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let union = 2.0 * sphere - std::f64::consts::PI / 12.0 * (4.0 * r + d) * (2.0 * r - d).powi(2);
    let added = 1e9 * volume.frame().balance.added;
    assert!((added / union - 1.0).abs() < 1e-3, "{added} uL, not {union}");
    let notices = volume.notices();
    assert!(notices.len() == 1 && notices[0].contains("15.5") && notices[0].contains("30.4"), "{notices:?}");
    run_to(&mut volume, 2e-3);
    let ratio = body_over_balance(&volume);
    assert!((ratio - 1.0).abs() < 2e-3, "the frame encloses {ratio} of the balance");
}

/// Drops are released one by one as there is room; planar, so that it is cheap.
///
/// A drop that is placed close above another one merges with it, and the collapse of the gap costs
/// the level set one to three percent of the volume, which is reported and then restored.
#[test]
fn a_fast_drip_waits_for_room() {
    let mut volume = build(&scene(
        "[world]\nplanar = true\n[resolution]\ncell = \"0.15 mm\"\n\
         [[emitters]]\nkind = \"drip\"\nat = \"0 20 0 mm\"\nradius = \"1 mm\"\nevery = \"5 ms\"\n",
    ));
    let mut notices = Vec::new();
    for step in 1..=8 {
        run_to(&mut volume, 5e-3 * f64::from(step));
        notices.append(&mut volume.notices());
        let ratio = body_over_balance(&volume);
        let is_reported = notices.iter().any(|notice| notice.contains("the volume balance"));
        assert!(
            (ratio - 1.0).abs() < if is_reported { 4e-2 } else { 4e-3 },
            "{step}: the frame encloses {ratio} of the balance"
        );
    }
    let released = volume.frame().balance.added / (std::f64::consts::PI * 1e-6);
    assert!((1.5..4.5).contains(&released), "{released} drops in 40 ms");
    assert!(notices.iter().filter(|notice| notice.contains("waits")).count() == 1, "{notices:?}");
}

/// A drip half in a plate emits the half that is outside, one inside the plate nothing.
#[test]
fn a_drip_in_a_solid_emits_what_is_outside() {
    for (height, part) in [(0, 0.5), (-3, 0.0)] {
        let mut volume = build(&scene(&format!(
            "[world]\nplanar = true\n[resolution]\ncell = \"0.1 mm\"\n\
             [materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
             [[emitters]]\nkind = \"drip\"\nat = \"0 {height} 0 mm\"\nradius = \"1 mm\"\nevery = \"1 s\"\n"
        )));
        run_to(&mut volume, 3e-3);
        let added = volume.frame().balance.added / (std::f64::consts::PI * 1e-6);
        assert!((added - part).abs() < 5e-3, "{added} of a disc, not {part}");
        assert!(added == 0.0 || (body_over_balance(&volume) - 1.0).abs() < 3e-3);
        assert_eq!(volume.notices().len(), 1);
    }
}

/// A tap under water adds its flow, like one in the air.
#[test]
fn a_submerged_tap_adds_its_flow() {
    let mut volume = build(&scene(
        "[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"0.15 mm\"\n\
         [[drops]]\ncenter = \"0 0 0 mm\"\nradius = \"3 mm\"\n\
         [[emitters]]\nkind = \"tap\"\nat = \"0 0 0 mm\"\nradius = \"0.5 mm\"\nspeed = \"0.1 m/s\"\n",
    ));
    let before = volume.frame().balance.added;
    run_to(&mut volume, 1e-2);
    let flow = (volume.frame().balance.added - before) / (1e-3 * 0.1 * 1e-2);
    assert!((flow - 1.0).abs() < 0.05, "{flow} of the tap's flow");
    let ratio = body_over_balance(&volume);
    assert!((ratio - 1.0).abs() < 2e-3, "the frame encloses {ratio} of the balance");
}

/// A drop across a periodic side appears on both sides, whole.
#[test]
fn a_drop_across_a_periodic_side_is_whole() {
    let volume = build(&scene(
        "[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"0.125 mm\"\n\
         [domain]\nmin = \"-2 -4 -1 mm\"\nmax = \"2 4 1 mm\"\nx = \"periodic\"\n\
         [[drops]]\ncenter = \"1.8 0 0 mm\"\nradius = \"1 mm\"\n",
    ));
    let held: f64 = volume.fluid.state.drops.components.iter().map(|component| component.volume).sum();
    let ratio = held * volume.setup.cell_volume() / volume.frame().balance.added;
    assert!((ratio - 1.0).abs() < 1e-3, "the grid holds {ratio} of the balance");
}

/// Half of a cap lies beyond a symmetry plane.
#[test]
fn a_cap_cut_by_a_mirror_counts_what_is_inside() {
    let mut volume = build(&scene(
        "[world]\nplanar = true\n[resolution]\ncell = \"0.1 mm\"\n\
         [domain]\nmin = \"0 -1 -1 mm\"\nmax = \"5 5 1 mm\"\nx = \"symmetry\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\narea = \"4 mm^2\"\ncontact_angle = \"90 deg\"\n",
    ));
    for _ in 0..2 {
        let added = 1e6 * volume.frame().balance.added;
        assert!((added - 2.0).abs() < 5e-3, "{added} mm², not 2");
        let ratio = body_over_balance(&volume);
        assert!((ratio - 1.0).abs() < 3e-3, "the frame encloses {ratio} of the balance");
        volume.step(1e-4, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
}
