//! The table against the exact solver.

use super::*;
use crate::pendant::pendant;
use crate::young_laplace::sessile;

/// Numbers in [0, 1) from a counter, the same on every machine (splitmix64).
fn random(index: u64) -> f64 {
    let mut x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A liquid and a gravity whose capillary length is 1 m.
const UNIT: Liquid = Liquid { density: 1.0, viscosity: 1.0, surface_tension: 1.0, refractive_index: 1.0 };

fn sessile_error(v: f64, theta: f64) -> f64 {
    let exact = sessile(v, theta, 1.0).unwrap();
    let got = ShapeTable::shared().rest_shape(v, theta, 1.0, &UNIT).unwrap();
    (got.height / exact.height - 1.0).abs().max((got.base_radius / exact.base_radius - 1.0).abs())
}

fn report(errors: &mut [(f64, f64, f64)]) -> (f64, f64) {
    errors.sort_by(|a, b| b.0.total_cmp(&a.0));
    let median = errors[errors.len() / 2].0;
    println!("median {median:.1e}; worst (error, v, degrees):");
    for (error, v, theta) in errors.iter().take(12) {
        println!("  {error:.1e}  {v:.2e}  {:.2}", theta.to_degrees());
    }
    (errors[0].0, median)
}

#[test]
fn sessile_table_is_within_a_thousandth_of_the_exact_solution() {
    let mut errors: Vec<(f64, f64, f64)> = (0..1000)
        .map(|i| {
            let v = (1e-6_f64.ln() + random(3 * i) * (1e3_f64 / 1e-6).ln()).exp();
            let theta = (1.0 + 178.0 * random(3 * i + 1)).to_radians();
            (sessile_error(v, theta), v, theta)
        })
        .collect();
    let (worst, median) = report(&mut errors);
    assert!(worst < 1e-3, "worst {worst:.1e}");
    assert!(median < 5e-5, "median {median:.1e}");
}

#[test]
fn beyond_the_sessile_nodes_the_limits_hold() {
    for (exponents, bound) in [(-12..=-7, 1e-3), (3..=5, 2e-3), (6..=7, 5e-3)] {
        let mut errors = Vec::new();
        for degrees in [0.3_f64, 1.0, 30.0, 90.0, 150.0, 179.0, 179.6] {
            for exponent in exponents.clone() {
                let (v, theta) = (10.0_f64.powi(exponent), degrees.to_radians());
                errors.push((sessile_error(v, theta), v, theta));
            }
        }
        let (worst, _) = report(&mut errors);
        assert!(worst < bound, "worst {worst:.1e} of volumes 1e{exponents:?}");
    }
}

#[test]
fn pendant_table_is_within_a_thousandth_of_the_exact_solution() {
    let table = ShapeTable::shared();
    let mut errors: Vec<(f64, f64, f64)> = (0..160)
        .map(|i| {
            let theta = (1.0 + 178.0 * random(3 * i + 1)).to_radians();
            let v = pendant_limit(theta) * 0.9995 * random(3 * i).powi(2);
            let exact = pendant(v, theta, 1.0).unwrap();
            let got = table.rest_shape(v, theta, -1.0, &UNIT).unwrap();
            let error = (got.height / exact.height - 1.0).abs().max((got.base_radius / exact.base_radius - 1.0).abs());
            (error, v, theta)
        })
        .collect();
    let (worst, median) = report(&mut errors);
    assert!(worst < 1e-3, "worst {worst:.1e}");
    assert!(median < 5e-5, "median {median:.1e}");
}

#[test]
fn shapes_tend_to_the_cap_as_gravity_vanishes_from_either_side() {
    let table = ShapeTable::shared();
    let water = Liquid::water();
    let at = |gravity: f64| table.rest_shape(5e-9, 1.2, gravity, &water).unwrap();
    let cap = at(0.0);
    assert!((cap.base_radius / crate::cap::base_radius(5e-9, 1.2) - 1.0).abs() < 1e-12);
    for gravity in [1e-3, 1e-4, 1e-5] {
        let (pressed, pulled) = (at(gravity), at(-gravity));
        assert!(pressed.height < cap.height && cap.height < pulled.height, "{pressed:?} {cap:?} {pulled:?}");
        let apart = pulled.height / pressed.height - 1.0;
        assert!(apart < gravity, "{apart:.1e} apart at {gravity} m/s²");
    }
    assert!(at(9.8).height < cap.height);
}

#[test]
fn nothing_hangs_beyond_the_limit_and_nothing_rests_without_volume() {
    let table = ShapeTable::shared();
    let limit = table.pendant_max_volume(1.0, -1.0, &UNIT);
    assert!(table.rest_shape(0.999 * limit, 1.0, -1.0, &UNIT).is_some());
    assert!(table.rest_shape(1.001 * limit, 1.0, -1.0, &UNIT).is_none());
    assert_eq!(table.pendant_max_volume(1.0, 1.0, &UNIT), f64::INFINITY);
    for gravity in [-1.0, 0.0, 1.0] {
        for volume in [0.0, -1.0, f64::NAN] {
            assert!(table.rest_shape(volume, 1.0, gravity, &UNIT).is_none(), "{volume} under {gravity}");
        }
        for theta in [0.0, 1e-9, PI] {
            let shape = table.rest_shape(1e-3, theta, gravity, &UNIT);
            assert!(shape.is_none_or(|s| s.height.is_finite() && s.base_radius.is_finite()), "{theta}: {shape:?}");
        }
    }
}

#[test]
fn a_section_is_the_table_at_its_angle_whatever_the_weight() {
    let table = ShapeTable::shared();
    for degrees in [0.01, 3.0, 80.0, 123.4, 179.5] {
        let contact = Contact::new(f64::to_radians(degrees));
        let section = Section::new(table, contact);
        for exponent in -28..=12 {
            let volume = 10_f64.powf(0.5 * f64::from(exponent));
            for gravity in [-1.0, 0.0, 0.3, 1.0] {
                let weight = Weight::new(&UNIT, gravity);
                let expected = table.rest_shape(volume, contact.angle(), gravity, &UNIT).map(|shape| shape.base_radius);
                let got = section.base_radius(volume, &weight);
                assert_eq!(got.is_some(), expected.is_some(), "{volume:e} at {degrees}° under {gravity}");
                let off = got.zip(expected).map_or(0.0, |(got, expected)| (got / expected - 1.0).abs());
                assert!(off < 1e-13, "{volume:e} at {degrees}° under {gravity}: off by {off:e}");
            }
        }
        assert!(section.base_radius(f64::NAN, &Weight::new(&UNIT, 1.0)).is_none());
    }
}

#[test]
fn a_sum_of_contact_angles_equals_the_angle_of_the_sum() {
    for (angle, more) in [(0.4, 0.3), (1.9, -0.6), (2.5, 0.6)] {
        let (half_sin, half_cos) = f64::sin_cos(0.5 * more);
        let (got, expected) = (Contact::new(angle).plus(more, half_sin, half_cos), Contact::new(angle + more));
        let off = [got.angle - expected.angle, got.half_sin - expected.half_sin, got.half_cos - expected.half_cos];
        assert!(off.into_iter().all(|off| off.abs() < 1e-15), "{angle} + {more}: {off:?}");
    }
}
