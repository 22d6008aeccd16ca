//! Sessile profiles against closed forms, balances and the reference solutions.

use super::*;

/// Water of the reference solutions: γ 0.073 N/m, ρ 1000 kg/m³, g 9.8 m/s².
fn water_length() -> f64 {
    (0.073_f64 / 9800.0).sqrt()
}

fn close(got: f64, expected: f64, relative: f64, what: &str) {
    assert!(
        (got / expected - 1.0).abs() <= relative,
        "{what}: got {got}, expected {expected}, off by {:.1e}",
        got / expected - 1.0
    );
}

/// `sessile-*` of the reference solutions; their values carry six digits.
#[test]
fn sessile_drops_match_the_reference_solutions() {
    let cases = [
        (4e-9, 60.0, 0.00089091, 0.00159884, 1.05808e-5, None),
        (4e-9, 90.0, 0.00120473, 0.00126114, 9.67571e-6, None),
        (4e-9, 120.0, 0.00149972, 0.000942071, 1.01296e-5, Some(0.00106599)),
        (3e-8, 60.0, 0.00162849, 0.00320955, 4.14264e-5, None),
        (3e-8, 90.0, 0.00219016, 0.00256662, 3.72323e-5, None),
        (3e-8, 150.0, 0.0030122, 0.00146374, 4.12864e-5, Some(0.00208029)),
    ];
    for (volume, degrees, height, base, area, widest) in cases {
        let drop = sessile(volume, f64::to_radians(degrees), water_length()).unwrap();
        let name = format!("{volume:e} m³ at {degrees}°");
        close(drop.height, height, 1e-5, &format!("{name}: height"));
        close(drop.base_radius, base, 1e-5, &format!("{name}: base radius"));
        close(drop.air_area, area, 1e-5, &format!("{name}: air area"));
        close(drop.max_radius, widest.unwrap_or(base), 1e-5, &format!("{name}: max radius"));
    }
}

/// `sessile2d-*` of the reference solutions.
#[test]
fn planar_drops_match_the_reference_solutions() {
    for (area, degrees, height, half_width) in
        [(4e-6, 90.0, 0.00152563, 0.00167376), (1.2e-5, 50.0, 0.00170609, 0.00485198)]
    {
        let drop = sessile_planar(area, f64::to_radians(degrees), water_length()).unwrap();
        close(drop.height, height, 1e-5, "height");
        close(drop.base_radius, half_width, 1e-5, "half width");
    }
}

/// (height, base radius) in capillary lengths at 0.1, 1 and 10 l_c³, to the three decimals they
/// were written with.
#[test]
fn check_points_of_the_formula_sheet_hold() {
    let rows: [(f64, [(f64, f64); 3]); 5] = [
        (30.0, [(0.161, 0.618), (0.323, 1.362), (0.521, 3.194)]),
        (60.0, [(0.263, 0.466), (0.535, 1.025), (0.922, 2.388)]),
        (90.0, [(0.356, 0.367), (0.720, 0.817), (1.244, 1.953)]),
        (120.0, [(0.445, 0.272), (0.883, 0.632), (1.492, 1.623)]),
        (150.0, [(0.517, 0.165), (1.000, 0.447), (1.648, 1.344)]),
    ];
    for (degrees, row) in rows {
        for (volume, (height, radius)) in [0.1, 1.0, 10.0].into_iter().zip(row) {
            let drop = sessile(volume, degrees.to_radians(), 1.0).unwrap();
            let off = (drop.height - height).abs().max((drop.base_radius - radius).abs());
            assert!(off < 6e-4, "{degrees}° {volume}: h {} R {}", drop.height, drop.base_radius);
        }
    }
}

/// The drop holds the volume asked for, and the pressure on its base carries its weight and the
/// pull of the line: πR²p − 2πR sin θ = V in capillary units, an identity that the integration does
/// not use.
#[test]
fn volume_and_force_balance_close_over_the_whole_range() {
    let mut worst = (0.0_f64, 0.0_f64);
    for degrees in [1.0_f64, 2.0, 5.0, 20.0, 45.0, 90.0, 135.0, 160.0, 175.0, 178.0, 179.0] {
        let theta = degrees.to_radians();
        for exponent in -6..=6 {
            let volume = 10.0_f64.powi(exponent);
            let drop = sessile(volume, theta, 1.0).unwrap();
            let base_pressure = drop.apex_curvature + drop.height;
            let push = PI * drop.base_radius.powi(2) * base_pressure;
            let pull = 2.0 * PI * drop.base_radius * theta.sin();
            let balance = (push - pull - volume).abs() / push.max(volume);
            let volume_error = (drop.volume / volume - 1.0).abs();
            assert!(volume_error < 1e-9, "{degrees}° 1e{exponent}: volume off by {volume_error:.1e}");
            assert!(balance < 1e-9, "{degrees}° 1e{exponent}: forces off by {balance:.1e}");
            worst = (worst.0.max(volume_error), worst.1.max(balance));
            assert!(drop.points.iter().flatten().all(|x| x.is_finite()), "{degrees}° 1e{exponent}");
        }
    }
    assert!(worst.1 > 0.0, "the balance must be measured, not assumed");
}

/// Planar: 2xp − 2 sin θ = A, and p² = b² + 2(1 − cos θ), both exact.
#[test]
fn planar_first_integral_and_balance_close_over_the_whole_range() {
    for degrees in [1.0_f64, 10.0, 60.0, 90.0, 120.0, 170.0, 179.0] {
        let theta = degrees.to_radians();
        for exponent in -6..=4 {
            let area = 10.0_f64.powi(exponent);
            let drop = sessile_planar(area, theta, 1.0).unwrap();
            let p = drop.apex_curvature + drop.height;
            let push = 2.0 * drop.base_radius * p;
            let balance = (push - 2.0 * theta.sin() - area).abs() / push.max(area);
            let energy = p * p / (drop.apex_curvature.powi(2) + 4.0 * (0.5 * theta).sin().powi(2)) - 1.0;
            assert!(balance < 1e-9, "{degrees}° 1e{exponent}: forces off by {balance:.1e}");
            assert!(energy.abs() < 1e-9, "{degrees}° 1e{exponent}: first integral off by {energy:.1e}");
        }
    }
}

/// As the Bond number falls the drop becomes the cap, at first order in V^(2/3).
#[test]
fn small_drops_become_caps_at_first_order_in_the_bond_number() {
    for degrees in [10.0_f64, 60.0, 90.0, 120.0, 150.0] {
        let theta = degrees.to_radians();
        let error = |volume: f64| {
            let drop = sessile(volume, theta, 1.0).unwrap();
            1.0 - drop.height / cap::height(cap::base_radius(volume, theta), theta)
        };
        let (coarse, fine) = (error(1e-3), error(1e-6));
        let order = (coarse / fine).ln() / 1000.0_f64.ln();
        assert!(fine > 0.0 && fine < 2e-3, "{degrees}°: height differs by {fine:.1e} at 1e-6");
        assert!((order - 2.0 / 3.0).abs() < 0.05, "{degrees}°: order {order:.3} in volume, expected 2/3");
    }
    let cap = sessile(1e-9, 1.0, f64::INFINITY).unwrap();
    close(cap.base_radius, cap::base_radius(1e-9, 1.0), 1e-14, "weightless radius");
}

/// h → 2 sin(θ/2) l_c; the first correction is h² = 4 sin²(θ/2) + 8(1 − cos³(θ/2))/(3R).
#[test]
fn puddles_approach_their_limiting_height() {
    for degrees in [2.0_f64, 30.0, 90.0, 150.0, 179.0] {
        let theta = degrees.to_radians();
        let half = 0.5 * theta;
        for (volume, tolerance) in [(1e4, 1e-3), (1e6, 1e-5)] {
            let drop = sessile(volume, theta, 1.0).unwrap();
            let square = 4.0 * half.sin().powi(2) + 8.0 / 3.0 * (1.0 - half.cos().powi(3)) / drop.base_radius;
            close(drop.height, square.sqrt(), tolerance, &format!("{degrees}° {volume:e}"));
        }
    }
}

/// The start of a puddle at the edge of its flat middle agrees with the round apex where both hold.
#[test]
fn flat_and_round_starts_agree_where_they_meet() {
    for symmetry in [Symmetry::Axial, Symmetry::Planar] {
        let round = contact_state(symmetry, FLAT_LN_CURVATURE + 1e-9, 1.0);
        let flat = contact_state(symmetry, FLAT_LN_CURVATURE - 1e-9, 1.0);
        for (a, b) in round.into_iter().zip(flat) {
            close(a, b, 1e-7, &format!("{symmetry:?}"));
        }
    }
}

/// The sampled meridian encloses the volume and has the length it should, and its points are evenly
/// spaced.
#[test]
fn sampled_meridian_encloses_the_volume() {
    for (volume, degrees) in [(0.01, 40.0), (1.0, 90.0), (5.0, 150.0), (300.0, 70.0)] {
        let drop = sessile(volume, f64::to_radians(degrees), 1.0).unwrap();
        assert_eq!(drop.points.len(), PROFILE_POINTS);
        assert!((drop.points[0][1] - drop.height).abs() < 1e-12 && drop.points[0][0] == 0.0);
        let mut enclosed = 0.0;
        for pair in drop.points.windows(2) {
            let ([r0, z0], [r1, z1]) = (pair[0], pair[1]);
            enclosed += PI / 3.0 * (z0 - z1) * (r0 * r0 + r0 * r1 + r1 * r1);
        }
        close(enclosed, volume, 1e-3, &format!("{degrees}° polygon"));
        let top = drop.points.iter().fold(0.0_f64, |m, p| m.max(p[0]));
        close(drop.max_radius, top, 2e-4, "max radius against the samples");
    }
}

#[test]
fn drop_of_a_base_radius_is_the_drop_of_its_volume() {
    for (volume, degrees) in [(1e-4, 20.0), (1.0, 100.0), (50.0, 40.0), (10.0, 170.0)] {
        let theta = f64::to_radians(degrees);
        let drop = sessile(volume, theta, 1.0).unwrap();
        let again = sessile_with_base_radius(drop.base_radius, theta, 1.0).unwrap();
        close(again.volume, volume, 1e-9, &format!("{degrees}°"));
    }
}

/// The centroid's height follows from the potential energy: d(height of centroid)/dV is checked
/// against a hemisphere.
#[test]
fn centroid_of_a_small_hemisphere_is_three_eighths_of_its_radius() {
    let drop = sessile(1e-7, FRAC_PI_2, 1.0).unwrap();
    close(drop.centroid_height, 0.375 * drop.base_radius, 1e-4, "centroid");
}

#[test]
fn inputs_out_of_range_have_no_drop() {
    for (volume, theta, l) in
        [(0.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (f64::NAN, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, PI, 1.0), (1.0, 1.0, 0.0)]
    {
        assert!(sessile(volume, theta, l).is_none(), "{volume} {theta} {l}");
        assert!(sessile_planar(volume, theta, l).is_none(), "{volume} {theta} {l}");
        assert!(sessile_with_base_radius(volume, theta, l).is_none(), "{volume} {theta} {l}");
    }
}
