//! The paper's own operators.

mod common;

use common::{ball, build_paper, plane, sound};
use sessile_model::{Model, Untimed};

/// Height over width of a drop of 1.5 mm that has come down on a floor.
fn roundness(gamma: f64) -> f64 {
    let floor = plane([0.0, 1.0, 0.0], 120.0, 120.0);
    let mut model =
        build_paper(&format!("[surface]\ngamma = {gamma}\n{floor}{}", ball(1.5, [0.0, 1.8, 0.0], [0.0; 3])));
    let volume = model.volume();
    while model.time() < 0.5 {
        model.step(0.5 - model.time(), &mut Untimed).unwrap();
        sound(&model);
    }
    assert_eq!(model.drops().len(), 1);
    assert!((model.volume() / volume - 1.0).abs() < 1e-12);
    let [low, high] = model.drops()[0].mesh.bounds();
    (high.y - low.y) / (high.x - low.x)
}

/// The paper's figure 8: larger tension coefficients make rounder drops.
#[test]
fn resting_drops_are_rounder_the_larger_the_tension() {
    let [low, middle, high] = [0.05, 0.2, 1.0].map(roundness);
    assert!(low < 0.7 * middle && middle < 0.8 * high, "height over width {low}, {middle}, {high}");
}
