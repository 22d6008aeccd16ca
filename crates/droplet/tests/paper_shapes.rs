//! Displayed shapes of the reproduction mode.

use crate::support::{cap, model};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_model::Model;

/// Three droplets of 4, 16 and 40 µL at rest on a table, or below a ceiling, under this gravity.
fn droplets(gravity: f64, normal: f64) -> DropletModel {
    let top = "fidelity = \"paper\"\n";
    let rest = format!(
        "[world]\ngravity = \"0 {gravity} 0 m/s^2\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nroughness = \"10 mm\"\nadhesion = \"200 Pa\"\n\
         [[solids]]\nname = \"plane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0, {normal}, 0]\n\
         size = \"100 100 mm\"\n"
    );
    let drops: Vec<String> =
        [4.0, 16.0, 40.0].iter().zip([-20.0, 0.0, 20.0]).map(|(v, x)| cap("plane", *v, 90.0, [x, 0.0, 0.0])).collect();
    model(top, &(rest + &drops.concat()))
}

/// Height over base radius of the displayed body of each droplet.
fn aspects(model: &DropletModel) -> Vec<f64> {
    let surface = model.frame().liquid.into_surface().unwrap_or_else(|error| panic!("{error}"));
    let aspect = |id: u32| {
        let own: Vec<DVec3> =
            (0..surface.positions.len()).filter(|&v| surface.drops[v] == id).map(|v| surface.positions[v]).collect();
        let height = own.iter().map(|p| p.y.abs()).fold(0.0, f64::max);
        let line: Vec<&DVec3> = own.iter().filter(|p| p.y.abs() < 1e-9).collect();
        let center = line.iter().copied().sum::<DVec3>() / line.len() as f64;
        let base = line.iter().map(|p| p.distance(center)).fold(0.0, f64::max);
        height / base
    };
    [1, 2, 3].map(aspect).to_vec()
}

/// Young–Laplace at 90° gives 13 % from 4 to 40 µL.
#[test]
fn heavier_droplets_are_flatter_and_hanging_ones_are_longer() {
    let sitting = aspects(&droplets(-9.81, 1.0));
    assert!(sitting.windows(2).all(|pair| pair[1] < pair[0]), "{sitting:?}");
    assert!(sitting[2] < 0.9 * sitting[0] && sitting[2] > 0.8 * sitting[0], "{sitting:?}");
    let hanging = aspects(&droplets(-9.81, -1.0));
    assert!(hanging.windows(2).all(|pair| pair[1] > pair[0]), "{hanging:?}");
    let light = aspects(&droplets(-1.0, 1.0));
    for k in 0..3 {
        assert!(sitting[k] < light[k] && light[k] < hanging[k], "{k}: {sitting:?}, {light:?}, {hanging:?}");
    }
}
