//! Unusual scenes: solids with edges, valleys and thin rods, drops that start inside a solid or
//! below the edge length, viscous liquids, hard impacts.

use super::common::{build, cap, plane, run, sphere};
use crate::SurfaceModel;
use sessile_model::Model;

const MATERIAL: &str =
    "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\n";

fn assert_stays_valid(tables: &str, seconds: f64) {
    let mut model = build(tables);
    run(&mut model, seconds);
    let balance = model.frame().balance;
    let off = (model.volume() + balance.lost) / balance.added - 1.0;
    assert!(off.abs() < 1e-12, "the volume balance is off by {off:e}");
    for drop in model.drops() {
        assert!(drop.velocity.length() < 10.0, "drop {} moves at {} m/s", drop.id, drop.velocity.length());
    }
}

#[test]
fn a_drop_in_the_valley_of_a_leaf_stays_valid() {
    let leaf = "shape = \"leaf\"\naxis = [0, 0, 1]\nangle = \"120 deg\"\nsize = \"40 30 mm\"\n";
    assert_stays_valid(&format!("{MATERIAL}{leaf}{}", sphere(1.5, [1.0, 3.0, 0.0], [0.0, -0.3, 0.0])), 0.1);
}

#[test]
fn drops_on_thin_rods_and_sharp_edges_stay_valid() {
    let rod = "shape = \"cylinder\"\nfrom = \"-10 0 0 mm\"\nto = \"10 0 0 mm\"\nradius = \"1 mm\"\n";
    assert_stays_valid(&format!("{MATERIAL}{rod}{}", sphere(1.5, [0.0, 3.0, 0.2], [0.0, -0.3, 0.0])), 0.1);
    let block = "shape = \"box\"\nmin = \"-5 -5 -5 mm\"\nmax = \"0 0 5 mm\"\n";
    assert_stays_valid(&format!("{MATERIAL}{block}{}", sphere(1.2, [0.0, 1.6, 0.0], [0.0, -0.4, 0.0])), 0.05);
}

#[test]
fn drops_that_start_inside_solids_or_below_the_edge_length_stay_valid() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    assert_stays_valid(&format!("{floor}{}", sphere(1.0, [0.0, 0.3, 0.0], [0.0; 3])), 0.03);
    assert_stays_valid(&format!("{floor}{}", sphere(0.05, [0.0, 0.2, 0.0], [0.0, -0.5, 0.0])), 0.01);
    assert_stays_valid(&format!("{floor}[[drops]]\nshape = \"box\"\nmin = \"-4 0 -4 mm\"\nmax = \"4 2 4 mm\"\n"), 0.05);
}

#[test]
fn low_angles_hard_impacts_and_viscous_liquids_stay_valid() {
    assert_stays_valid(
        &format!("{}{}", plane([0.0, 1.0, 0.0], 12.0, 4.0), sphere(1.2, [0.0, 1.3, 0.0], [0.0, -0.1, 0.0])),
        0.05,
    );
    assert_stays_valid(
        &format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), sphere(1.0, [0.0, 3.0, 0.0], [0.0, -6.0, 0.0])),
        0.01,
    );
    let honey = "[liquid]\npreset = \"honey\"\n";
    assert_stays_valid(&format!("{honey}{}{}", plane([1.0, 0.2, 0.0], 60.0, 40.0), cap(30.0, 55.0, [0.0; 3])), 0.1);
}

/// Merging extends the liquid into the solid; through a thin wall it would emerge on the other
/// side.
#[test]
fn drops_on_a_thin_wall_merge_as_soon_as_they_touch() {
    let pipe =
        "shape = \"cylinder\"\nfrom = \"-30 0 0 mm\"\nto = \"30 0 0 mm\"\nradius = \"20 mm\"\nwall = \"0.3 mm\"\n";
    let drops = [-0.95, 0.95].map(|x| cap(4.0, 110.0, [x, 20.0, 0.0])).concat();
    let mut model = build(&format!("{MATERIAL}{pipe}{drops}"));
    run(&mut model, 0.002);
    assert_eq!(model.drops().len(), 1, "two overlapping drops are {} drops after 2 ms", model.drops().len());
    let lowest = model.drops()[0].mesh.bounds()[0].y;
    assert!(lowest > 19.5e-3, "liquid reaches down to {} mm, through the wall", 1e3 * lowest);
}

/// The notices of a model after a run.
fn notices_of(tables: &str, seconds: f64) -> (SurfaceModel, String) {
    let mut model = build(tables);
    run(&mut model, seconds);
    let notices = model.notices().join("\n");
    (model, notices)
}

#[test]
fn a_drop_mostly_inside_a_solid_starts_as_a_sphere_beside_it() {
    let block = format!("{MATERIAL}shape = \"box\"\nmin = \"-5 -5 -5 mm\"\nmax = \"5 0 5 mm\"\n");
    for top in [0.8, -0.5] {
        let drop = format!("[[drops]]\nshape = \"box\"\nmin = \"-2 -4 -2 mm\"\nmax = \"2 {top} 2 mm\"\n");
        let (model, notices) = notices_of(&format!("{block}{drop}"), 0.002);
        let volume = 4.0 * 4.0 * (top + 4.0) * 1e-9;
        assert!((model.volume() / volume - 1.0).abs() < 1e-9, "{} m³ of {volume} m³", model.volume());
        assert!(notices.contains("starts as a sphere"), "{notices}");
        for &p in &model.drops()[0].mesh.positions {
            assert!(model.world().signed_distance(p) > -0.1e-3, "liquid at {p} m is inside the block");
        }
    }
}

#[test]
fn emitters_inside_a_solid_emit_nothing() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    for emitter in [
        "kind = \"drip\"\nat = \"0 -2 0 mm\"\nradius = \"1 mm\"\nevery = \"2 ms\"\n",
        "kind = \"tap\"\nat = \"0 -2 0 mm\"\nradius = \"1 mm\"\nspeed = \"0.5 m/s\"\n",
        "kind = \"feed\"\nat = \"0 -2 0 mm\"\nrate = \"1000 uL/s\"\n",
    ] {
        let (model, notices) = notices_of(&format!("{floor}[[emitters]]\n{emitter}"), 0.01);
        assert_eq!((model.drops().len(), model.balance().added), (0, 0.0), "{emitter}");
        assert!(notices.contains("nothing comes out"), "{emitter}: {notices}");
    }
}

#[test]
fn a_drip_beside_a_wall_starts_outside_it() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    let drip = "[[emitters]]\nkind = \"drip\"\nat = \"0 0.4 0 mm\"\nradius = \"1 mm\"\nevery = \"1 s\"\n";
    let mut model = build(&format!("{floor}{drip}"));
    run(&mut model, 1e-4);
    let lowest = model.drops()[0].mesh.bounds()[0].y;
    assert!(lowest > -1e-5, "liquid starts {lowest} m above the floor");
}
