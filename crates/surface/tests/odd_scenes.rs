//! Solids with edges, valleys and thin rods, drops that begin inside a solid or smaller than an edge, thick liquids, hard impacts: surfaces stay
//! sound after every step, and nothing is lost.

mod common;

use common::{ball, build, cap, plane, run};
use sessile_model::Model;

const MATERIAL: &str =
    "[materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\n";

fn stays_sound(tables: &str, seconds: f64) {
    let mut model = build(tables);
    run(&mut model, seconds);
    let ledger = model.frame().ledger;
    let off = (model.volume() + ledger.lost) / ledger.added - 1.0;
    assert!(off.abs() < 1e-12, "the books are off by {off:e}");
    for drop in model.drops() {
        assert!(drop.velocity.length() < 10.0, "drop {} moves at {} m/s", drop.id, drop.velocity.length());
    }
}

#[test]
fn a_leaf_holds_a_drop_in_its_valley() {
    let leaf = "shape = \"leaf\"\naxis = [0, 0, 1]\nangle = \"120 deg\"\nsize = \"40 30 mm\"\n";
    stays_sound(&format!("{MATERIAL}{leaf}{}", ball(1.5, [1.0, 3.0, 0.0], [0.0, -0.3, 0.0])), 0.1);
}

#[test]
fn drops_meet_thin_rods_and_sharp_edges() {
    let rod = "shape = \"cylinder\"\nfrom = \"-10 0 0 mm\"\nto = \"10 0 0 mm\"\nradius = \"1 mm\"\n";
    stays_sound(&format!("{MATERIAL}{rod}{}", ball(1.5, [0.0, 3.0, 0.2], [0.0, -0.3, 0.0])), 0.1);
    let block = "shape = \"box\"\nmin = \"-5 -5 -5 mm\"\nmax = \"0 0 5 mm\"\n";
    stays_sound(&format!("{MATERIAL}{block}{}", ball(1.2, [0.0, 1.6, 0.0], [0.0, -0.4, 0.0])), 0.05);
}

#[test]
fn drops_begin_inside_solids_and_smaller_than_an_edge() {
    let floor = plane([0.0, 1.0, 0.0], 90.0, 60.0);
    stays_sound(&format!("{floor}{}", ball(1.0, [0.0, 0.3, 0.0], [0.0; 3])), 0.03);
    stays_sound(&format!("{floor}{}", ball(0.05, [0.0, 0.2, 0.0], [0.0, -0.5, 0.0])), 0.01);
    stays_sound(&format!("{floor}[[drops]]\nshape = \"box\"\nmin = \"-4 0 -4 mm\"\nmax = \"4 2 4 mm\"\n"), 0.05);
}

#[test]
fn low_angles_hard_impacts_and_thick_liquids_are_borne() {
    stays_sound(
        &format!("{}{}", plane([0.0, 1.0, 0.0], 12.0, 4.0), ball(1.2, [0.0, 1.3, 0.0], [0.0, -0.1, 0.0])),
        0.05,
    );
    stays_sound(
        &format!("{}{}", plane([0.0, 1.0, 0.0], 90.0, 60.0), ball(1.0, [0.0, 3.0, 0.0], [0.0, -6.0, 0.0])),
        0.01,
    );
    let honey = "[liquid]\npreset = \"honey\"\n";
    stays_sound(&format!("{honey}{}{}", plane([1.0, 0.2, 0.0], 60.0, 40.0), cap(30.0, 55.0, [0.0; 3])), 0.1);
}
