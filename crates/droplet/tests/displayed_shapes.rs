//! Displayed shapes on curved solids: closed, outside of the solid, with the droplet's volume.

use std::collections::HashMap;

use crate::support::{cap, model};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::{DropState, Surface};
use sessile_model::{Model, NoTimer};

/// Ids of drops whose shape is wrong, and what is wrong with it.
fn defects(model: &DropletModel) -> Vec<(u32, String)> {
    let frame = model.frame();
    let states = frame.drops.clone();
    let surface = frame.liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let defect = |state: &DropState| {
        let size = state.volume.cbrt();
        let enclosed = volume(&surface, state.id);
        if (enclosed / state.volume - 1.0).abs() > 1e-3 {
            return Some(format!("encloses {:.4} of {:.4} µL", enclosed * 1e9, state.volume * 1e9));
        }
        let open = open_edges(&surface, state.id);
        if open > 0 {
            return Some(format!("{open} open edges"));
        }
        let deepest = deepest(model, &surface, state.id);
        (deepest > 0.02 * size).then(|| format!("is {:.3} mm inside, {:.3} of its size", deepest * 1e3, deepest / size))
    };
    states.iter().filter_map(|state| Some((state.id, defect(state)?))).collect()
}

fn volume(surface: &Surface, id: u32) -> f64 {
    let own = surface.triangles.iter().filter(|t| surface.drops[t[0] as usize] == id);
    let origin = surface.positions.iter().zip(&surface.drops).find(|&(_, &drop)| drop == id).map(|(p, _)| *p);
    let origin = origin.unwrap_or_default();
    own.map(|t| t.map(|v| surface.positions[v as usize] - origin)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

fn open_edges(surface: &Surface, id: u32) -> usize {
    let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
    for &[a, b, c] in surface.triangles.iter().filter(|t| surface.drops[t[0] as usize] == id) {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *edges.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    edges.values().filter(|&&sum| sum != 0).count()
}

/// Depth of the deepest vertex of a free surface in a solid, in m.
fn deepest(model: &DropletModel, surface: &Surface, id: u32) -> f64 {
    let mut deepest = 0.0_f64;
    for (triangle, _) in surface.triangles.iter().zip(&surface.solids).filter(|&(_, &solid)| solid < 0) {
        for &v in triangle.iter().filter(|&&v| surface.drops[v as usize] == id) {
            for solid in model.world().solids() {
                deepest = deepest.max(-solid.signed_distance(surface.positions[v as usize]));
            }
        }
    }
    deepest
}

/// A solid of a material with this contact angle, and points of its surface, in mm.
const SOLIDS: [(&str, [[f64; 3]; 3]); 7] = [
    ("shape = \"sphere\"\nradius = \"1 mm\"", [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.6, -0.8, 0.0]]),
    ("shape = \"sphere\"\nradius = \"3 mm\"", [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [1.8, -2.4, 0.0]]),
    ("shape = \"sphere\"\nradius = \"4 mm\"\ninside = true", [[0.0, -4.0, 0.0], [4.0, 0.0, 0.0], [2.4, 3.2, 0.0]]),
    (
        "shape = \"cylinder\"\nfrom = \"-10 0 0 mm\"\nto = \"10 0 0 mm\"\nradius = \"2 mm\"",
        [[0.0, 2.0, 0.0], [9.0, 0.0, 2.0], [10.0, 0.5, 0.3]],
    ),
    (
        "shape = \"cylinder\"\nfrom = \"-10 0 0 mm\"\nto = \"10 0 0 mm\"\nradius = \"6 mm\"\nwall = \"1 mm\"",
        [[0.0, -5.0, 0.0], [9.5, 0.0, 5.0], [10.0, 5.5, 0.3]],
    ),
    (
        "shape = \"box\"\nmin = \"-4 -4 -4 mm\"\nmax = \"4 0 4 mm\"",
        [[3.6, 0.0, 0.0], [3.8, 0.0, 3.9], [4.0, -0.2, 1.0]],
    ),
    ("shape = \"leaf\"\nangle = \"100 deg\"", [[0.0, 0.0, 0.0], [2.0, 1.0, 1.0], [0.0, 0.05, 0.05]]),
];

fn solid(kind: &str, angle: f64) -> String {
    format!(
        "[materials.m]\nadvancing = \"{angle} deg\"\nreceding = \"{} deg\"\n[[solids]]\nname = \"s\"\nmaterial = \"m\"\n{kind}\n",
        0.7 * angle
    )
}

#[test]
fn shapes_on_curved_solids_enclose_their_volume_outside_of_the_solid_d1() {
    let mut found = Vec::new();
    for (kind, places) in SOLIDS {
        for angle in [5.0, 20.0, 60.0, 110.0, 170.0] {
            // Without a step they do not merge.
            let mut model = model("", &solid(kind, angle));
            let cases = places.iter().flat_map(|&at| [0.1, 3.0, 20.0, 200.0].map(|volume| (at, volume)));
            for (at, volume) in cases.clone() {
                model.add_droplet(DVec3::from(at) * 1e-3, DVec3::ZERO, volume * 1e-9);
            }
            let cases: Vec<_> = cases.collect();
            for (id, defect) in defects(&model) {
                let (at, volume) = cases[id as usize - 1];
                found.push(format!("{kind:?} at {at:?}, {angle}°, {volume} µL: {defect}"));
            }
        }
    }
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

/// Height of the displayed liquid, in m.
fn height(model: &DropletModel) -> f64 {
    let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    surface.positions.iter().map(|p| p.y).fold(0.0, f64::max)
}

/// Two drops merge; from frame to frame the height changes by a few per cent, also when the neck is
/// removed.
#[test]
fn merged_drops_do_not_pop_d5() {
    let plane = "[materials.m]\nadvancing = \"60 deg\"\nreceding = \"30 deg\"\n\
        [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n";
    let mut model =
        model("", &(plane.to_owned() + &cap("p", 4.0, 60.0, [0.0; 3]) + &cap("p", 3.0, 60.0, [2.8, 0.0, 0.0])));
    let mut last: Option<f64> = None;
    while model.time() < 0.12 {
        model.step(0.5e-3, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        let now = height(&model);
        if let Some(last) = last.filter(|_| model.num_droplets() == 1) {
            let change = now / last - 1.0;
            assert!(change.abs() < 0.03, "the height changes by {change} at {} s", model.time());
        }
        last = (model.num_droplets() == 1).then_some(now);
    }
}

/// Contact angles between the receding and the advancing one are those of frame 0, under gravity.
#[test]
fn a_cap_is_shown_at_its_contact_angle_a1() {
    let plane = "[materials.m]\nadvancing = \"120 deg\"\nreceding = \"30 deg\"\n\
        [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n";
    for (volume, degrees) in [(30.0, 90.0), (100.0, 60.0), (5.0, 110.0)] {
        let model = model("", &(plane.to_owned() + &cap("p", volume, degrees, [0.0; 3])));
        let table = sessile_wetting::table::ShapeTable::shared();
        let rest = table.rest_shape(volume * 1e-9, f64::to_radians(degrees), 9.8, &sessile_wetting::Liquid::water());
        let expected = rest.expect("a sessile drop").height;
        let shown = height(&model);
        assert!((shown / expected - 1.0).abs() < 0.01, "{volume} µL at {degrees}°: {shown} m instead of {expected}");
    }
}

/// A scene of random tests: a film of 12° at the bottom of a small sphere, in front of a leaf.
const FILM_UNDER_SPHERE: &str = r#"
[liquid]
preset = "water"
viscosity = "3.29401 mm^2/s"
[materials.m1]
advancing = "12.2085 deg"
[[solids]]
name = "s0"
material = "m1"
shape = "sphere"
center = "0 -1.58539 0 mm"
radius = "1.58539 mm"
[[solids]]
name = "s1"
material = "glass"
shape = "leaf"
point = "-0.847279 -11.945 2.80522 mm"
axis = [1, 0, 0]
angle = "140.771 deg"
size = "31.0124 36.1743 mm"
rotate = "170.557 -160.553 92.9561 deg"
[[drops]]
shape = "cap"
on = "s0"
center = "3.02559 -1.8381 0.49385 mm"
volume = "11.7454 uL"
contact_angle = "65.4724 deg"
"#;

/// Another: a drop flies into the side of a hollow sphere and joins dew.
const DROPS_IN_SPHERE: &str = r#"
[liquid]
preset = "blood"
surface_tension = "21.9558 mN/m"
[[solids]]
name = "s0"
material = "wax"
shape = "sphere"
center = "0 0 0 mm"
radius = "7.08583 mm"
inside = true
[[drops]]
shape = "cap"
on = "s0"
center = "-1.03005 3.01137 -1.49683 mm"
radius = "1.3459 mm"
velocity = "0.0522493 -0.455174 -0.0598288 m/s"
[[emitters]]
kind = "drip"
at = "3.75783 -1.76303 -0.723055 mm"
radius = "1.68963 mm"
every = "16 ms"
velocity = "0.404491 -1.99892 0.57885 m/s"
[[emitters]]
kind = "dew"
on = "s0"
rate = "31.6764 uL/m^2/s"
start = "1.31477 ms"
stop = "103.752 ms"
"#;

#[test]
fn drops_on_and_in_spheres_stay_outside_of_them() {
    let scenes = [("under", 190_634_339, FILM_UNDER_SPHERE, 50e-3), ("in", 87_290_467, DROPS_IN_SPHERE, 20e-3)];
    for (name, seed, scene, interval) in scenes {
        let mut model = model(&format!("seed = {seed}\n"), scene);
        for frame in 1..=6 {
            let until = interval * f64::from(frame);
            while until - model.time() > 1e-12 {
                model.step(until - model.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
            }
            let sphere = &model.world().solids()[0];
            let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
            let deepest = surface.positions.iter().map(|&p| -sphere.signed_distance(p)).fold(0.0, f64::max);
            assert!(deepest < 0.05e-3, "{name} a sphere, frame {frame}: {:.3} mm inside", 1e3 * deepest);
        }
    }
}
