//! Observed orders of convergence in space and time.

use sessile_wetting::young_laplace;

use crate::test_support::{TestDrops, floor};

/// Order of convergence between two errors at resolutions that differ by `ratio`.
fn order(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).abs().ln() / ratio.ln()
}

/// Relative error of the height of a drop of 4 µL at rest on a solid of 90°.
fn height_error(edge: f64) -> f64 {
    let angle = 90.0;
    let text = format!(
        "settle = true\n{}[[drops]]\nshape = \"cap\"\non = \"s\"\nvolume = \"4 uL\"\ncontact_angle = \"{angle} deg\"\n",
        floor(angle, angle)
    );
    let mut test = TestDrops::new(&text, edge);
    test.params.settle = true;
    for _ in 0..80 {
        test.advance(1.0 / 120.0);
    }
    let exact = young_laplace::sessile(4e-9, f64::to_radians(angle), (0.073 / 9800.0f64).sqrt()).unwrap();
    test.drops[0].mesh.bounds()[1].y / exact.height - 1.0
}

#[test]
fn the_height_of_a_sessile_drop_converges_at_second_order_in_the_edge_length() {
    let errors = [0.16e-3, 0.08e-3, 0.04e-3].map(height_error);
    let orders = [order(errors[0], errors[1], 2.0), order(errors[1], errors[2], 2.0)];
    println!("height errors {errors:?}, orders {orders:?}");
    assert!(orders.iter().all(|order| *order > 1.5), "errors {errors:?}: orders {orders:?}");
}

/// Edge length, in m, at which a sphere of 1 mm has icosahedron edges divided into `parts`.
fn edge_for(parts: u32) -> f64 {
    0.5 * 1.17e-3 / f64::from(parts)
}

/// A weightless drop of 1 mm that oscillates in mode 2.
fn oscillating_drop(parts: u32) -> TestDrops {
    let text = "[world]\ngravity = \"0 0 0 m/s^2\"\n[[drops]]\nshape = \"sphere\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.02\n";
    TestDrops::new(text, edge_for(parts))
}

/// Frequency of mode 2 over Lamb's √(8σ/ρR³), from the zeros of the aspect ratio minus 1.
fn frequency_ratio(parts: u32, dt: f64) -> f64 {
    let mut test = oscillating_drop(parts);
    let deviation = |test: &TestDrops| {
        let [low, high] = test.drops[0].mesh.bounds();
        (high.y - low.y) / (high.x - low.x) - 1.0
    };
    let (mut before, mut zeros, mut time) = (deviation(&test), Vec::new(), 0.0);
    while zeros.len() < 5 && time < 0.05 {
        test.advance(dt);
        time += dt;
        let now = deviation(&test);
        if before * now < 0.0 {
            zeros.push(time - dt * now / (now - before));
        }
        before = now;
    }
    let lamb = (8.0 * 0.073 / (1000.0 * 1e-9f64)).sqrt();
    std::f64::consts::PI * 4.0 / (zeros[4] - zeros[0]) / lamb
}

/// Asserts second order from three values whose resolutions differ by 2 each.
fn assert_second_order(what: &str, values: [f64; 3]) {
    let observed = order(values[0] - values[1], values[1] - values[2], 2.0);
    println!("{what}: {values:?}, observed order {observed:.2}");
    assert!(observed > 1.5, "{what} {values:?} converges at order {observed}");
}

#[test]
fn the_frequency_of_mode_2_converges_at_second_order_in_the_edge_length() {
    let values = [3, 6, 12].map(|parts| frequency_ratio(parts, 0.25e-3));
    assert_second_order("frequency over Lamb's", values);
    assert!((values[2] - 1.0).abs() < 0.01, "the frequency is {} of Lamb's", values[2]);
}

#[test]
fn the_frequency_of_mode_2_converges_at_second_order_or_better_in_the_time_step() {
    assert_second_order("frequency over Lamb's", [1e-3, 0.5e-3, 0.25e-3].map(|dt| frequency_ratio(8, dt)));
}
