//! The angle of a cap in the first frame, droplets that start in contact with a solid or meet a
//! moving one, and maps of dry solids.

use crate::support;
use crate::support::{cap, model, run};
use sessile_droplet::DropletModel;
use sessile_model::Model;
use sessile_scene::text;

/// Angle of the displayed cap, in degrees: tan θ/2 = h/R.
fn angle_of(model: &DropletModel) -> f64 {
    let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let height = surface.positions.iter().map(|p| p.y).fold(0.0, f64::max);
    let base = surface.positions.iter().filter(|p| p.y < 1e-9).map(|p| p.with_y(0.0).length());
    2.0 * (height / base.fold(0.0, f64::max)).atan().to_degrees()
}

#[test]
fn the_first_frame_shows_a_cap_at_its_contact_angle() {
    for (angle, is_allowed) in [(30.0, false), (75.0, true), (130.0, false)] {
        let plane = text::material("m", 90.0, 60.0) + &text::plane("plane", "m", [0.0, 1.0, 0.0], [20.0, 20.0]);
        let mut model = model("", &(plane + &cap("plane", 0.05, angle, [0.0; 3])));
        let first = angle_of(&model);
        assert!((first - angle).abs() < 2.0, "{first}° of {angle}°");
        run(&mut model, 1.0 / 30.0);
        let second = angle_of(&model);
        assert_eq!((second - angle).abs() < 2.0, is_allowed, "{second}° after a step");
        assert!((58.0..92.0).contains(&second), "{second}° after a step");
    }
}

/// A drop that overlaps a wall from which gravity pulls it away.
#[test]
fn a_drop_that_starts_in_a_wall_wets_it() {
    let scene = "[world]\ngravity = \"2 0 0 m/s^2\"\n".to_owned()
        + &text::material("m", 90.0, 60.0)
        + &text::plane("wall", "m", [1.0, 0.0, 0.0], [30.0, 30.0])
        + "[[drops]]\nshape = \"sphere\"\ncenter = \"0.8 0 0 mm\"\nradius = \"1 mm\"\n";
    let mut model = model("", &scene);
    run(&mut model, 0.05);
    assert_eq!(model.num_airborne(), 0, "it hangs on the wall");
    let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let deepest = surface.positions.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    assert!(deepest > -1e-5, "{deepest} m in the wall");
}

/// A ball that falls towards a table which sinks: it must not be behind the table in any frame.
#[test]
fn a_falling_drop_does_not_pass_a_sinking_table() {
    let scene = text::material("m", 160.0, 150.0)
        + "[[solids]]\nname = \"table\"\nmaterial = \"m\"\nshape = \"plane\"\nsize = \"40 40 mm\"\n\
           motion = [{ at = \"0 s\" }, { at = \"60 ms\", move = \"0 -12 0 mm\" }]\n\
           [[drops]]\nshape = \"sphere\"\ncenter = \"0 6 0 mm\"\nradius = \"1 mm\"\n";
    let mut model = model("", &scene);
    for frame in 1..=12 {
        run(&mut model, 5e-3 * f64::from(frame));
        let table = -0.2 * model.time();
        let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
        let lowest = surface.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(lowest > table - 1e-5, "{lowest} m, the table is at {table} m, at {} s", model.time());
    }
}

/// 12 µL of a wetting liquid on a sphere of 1.6 mm, in front of a wall.
#[test]
fn a_wetting_drop_in_front_of_a_wall_is_shown_outside_of_its_small_sphere() {
    let scene = text::material("m", 12.0, 12.0)
        + "[[solids]]\nname = \"ball\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"0 0 0 mm\"\nradius = \"1.6 mm\"\n\
           [[solids]]\nname = \"wall\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 0 4 mm\"\nnormal = [0.27, 0.08, -0.96]\nsize = \"45 38 mm\"\n"
        + &cap("ball", 12.0, 65.0, [1.6, 0.0, 0.0]);
    let mut model = model("", &scene);
    for frame in 1..=6 {
        run(&mut model, 0.05 * f64::from(frame));
        let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
        let nearest = surface.positions.iter().map(|p| p.length()).fold(f64::INFINITY, f64::min);
        assert!(nearest > 1.55e-3, "a vertex {nearest} m from the center of the sphere at {} s", model.time());
    }
}

#[test]
fn a_solid_has_a_wet_map_from_the_time_that_liquid_touches_it() {
    let far = "[[solids]]\nname = \"far\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 -20 0 mm\"\nsize = \"90 90 mm\"\n";
    let scene = text::material("m", 90.0, 60.0)
        + &text::plane("near", "m", [0.0, 1.0, 0.0], [4.0, 4.0])
        + far
        + &cap("near", 2.0, 80.0, [0.0; 3])
        + "[[drops]]\nshape = \"sphere\"\ncenter = \"20 -10 0 mm\"\nradius = \"1 mm\"\n";
    let mut model = model("", &scene);
    let maps = |model: &DropletModel| model.frame().wet.iter().map(|map| map.solid).collect::<Vec<_>>();
    assert_eq!(maps(&model), [0]);
    let restored = {
        let bytes = model.save();
        let mut other = support::model("", &scene);
        other.restore(&bytes).unwrap_or_else(|error| panic!("{error}"));
        maps(&other)
    };
    assert_eq!(restored, [0], "after a restart too");
    run(&mut model, 0.2);
    assert_eq!(maps(&model), [0, 1], "a drop has landed");
}

/// The nearest point of a box to a ball above its edge is on the edge, whose triangles face up or
/// sideways.
#[test]
fn a_drop_that_falls_on_the_edge_of_a_box_lands_on_it() {
    for x in [-0.05, -0.01, 0.01, 0.05] {
        let scene = text::material("m", 90.0, 60.0)
            + "[[solids]]\nname = \"box\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-10 -10 -10 mm\"\nmax = \"0 0 10 mm\"\n"
            + &format!("[[drops]]\nshape = \"sphere\"\ncenter = \"{x} 2 0.3 mm\"\nradius = \"1 mm\"\n");
        let mut model = model("", &scene);
        // 1 mm at 9.8 m/s²: 14.3 ms.
        run(&mut model, 0.02);
        assert_eq!(model.num_airborne(), 0, "{x} mm beside the edge");
    }
}
