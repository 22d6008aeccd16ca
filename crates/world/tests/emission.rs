//! Emitters: amounts, positions, and independence of the time steps.

use std::f64::consts::PI;

use crate::common::*;
use glam::{DQuat, DVec3};
use sessile_numerics::sphere_volume;
use sessile_scene::types::*;
use sessile_world::{Emission, Pose, World};

/// 1 mm/h in m/s.
const MM_PER_H: f64 = 1e-3 / 3600.0;

fn rain(over: RainArea, rate: f64, velocity: Option<DVec3>) -> Emitter {
    emitter(EmitterKind::Rain { over, rate, sizes: RainSizes::MarshallPalmer, velocity })
}

fn build(solids: Vec<Solid>, emitters: Vec<Emitter>, wind: DVec3) -> World {
    let mut scene = Scene { solids, emitters, ..empty() };
    scene.world.wind = wind;
    World::build(&scene).expect("a world")
}

/// Center, radius and velocity of every ball.
fn balls(supply: &[Emission]) -> Vec<(DVec3, f64, DVec3)> {
    let ball = |s: &Emission| match *s {
        Emission::Ball { center, radius, velocity, .. } => Some((center, radius, velocity)),
        _ => None,
    };
    supply.iter().filter_map(ball).collect()
}

/// Total volume of some balls and the standard error of that sum, for Poisson arrivals: √Σ V².
fn volume(balls: &[(DVec3, f64, DVec3)]) -> (f64, f64) {
    let volumes = balls.iter().map(|b| sphere_volume(b.1));
    let (sum, squares) = volumes.fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
    (sum, squares.sqrt())
}

fn assert_volume(balls: &[(DVec3, f64, DVec3)], expected: f64, what: &str) {
    let (sum, error) = volume(balls);
    assert!(
        (sum - expected).abs() < 4.0 * error,
        "{what}: {} balls hold {sum:e} m³, expected {expected:e} ± {error:e}",
        balls.len()
    );
    assert!(error < 0.05 * expected, "{what}: too few balls to tell ({})", balls.len());
}

#[test]
fn a_level_surface_collects_the_rain_rate() {
    for (rate, size) in [(1.0, 3.0), (20.0, 1.0), (50.0, 1.0)] {
        let floor = plane("floor", DVec3::Y, [size; 2]);
        let world = build(vec![floor], vec![rain(RainArea::Solid(0), rate * MM_PER_H, None)], DVec3::ZERO);
        let supply = world.emissions(0.0, 20.0);
        assert_volume(&balls(&supply), rate * MM_PER_H * size * size * 20.0, "level ground");
    }
}

#[test]
fn uniform_radii_collect_the_rate_too() {
    let kind = EmitterKind::Rain {
        over: RainArea::Solid(0),
        rate: 30.0 * MM_PER_H,
        sizes: RainSizes::Uniform { min: 0.5e-3, max: 1.5e-3 },
        velocity: None,
    };
    let world = build(vec![plane("floor", DVec3::Y, [1.0; 2])], vec![emitter(kind)], DVec3::new(3.0, 0.0, 0.0));
    let balls = balls(&world.emissions(0.0, 60.0));
    assert_volume(&balls, 30.0 * MM_PER_H * 60.0, "uniform radii in wind");
    let mean = balls.iter().map(|b| b.1).sum::<f64>() / balls.len() as f64;
    // Standard error of a mean of uniform radii: 1 mm/√12 over √n.
    assert!((mean - 1e-3).abs() < 4.0 * 1e-3 / (12.0 * balls.len() as f64).sqrt(), "mean radius {mean}");
}

/// A pane catches wind/v of the rain, drop by drop: summed over drops, V v/wind is what level
/// ground of its area would collect.
#[test]
fn a_vertical_pane_collects_wind_over_fall_speed() {
    let wind = DVec3::new(0.0, 0.0, -4.0);
    let world =
        build(vec![plane("window", DVec3::Z, [1.0, 1.0])], vec![rain(RainArea::Solid(0), 20.0 * MM_PER_H, None)], wind);
    assert!(world.notices.is_empty(), "{:?}", world.notices);
    let balls = balls(&world.emissions(0.0, 20.0));
    let weights: Vec<f64> = balls.iter().map(|b| sphere_volume(b.1) * -b.2.y / 4.0).collect();
    let (sum, error) = (weights.iter().sum::<f64>(), weights.iter().map(|w| w * w).sum::<f64>().sqrt());
    let expected = 20.0 * MM_PER_H * 20.0;
    assert!((sum - expected).abs() < 4.0 * error, "{sum:e} m³ expected {expected:e} ± {error:e}");
    assert!(balls.iter().all(|b| b.2.z == -4.0 && b.2.y < 0.0));
}

#[test]
fn a_pane_in_still_air_gets_a_notice_and_no_rain() {
    let solids = vec![plane("window", DVec3::Z, [1.0, 1.0])];
    let world = build(solids, vec![rain(RainArea::Solid(0), 20.0 * MM_PER_H, None)], DVec3::ZERO);
    assert_eq!(
        world.notices,
        [
            "emitters.0: rain falls parallel to `window` and never hits it: give `wind` under [world], or the emitter a `velocity`"
        ]
    );
    assert!(world.emissions(0.0, 60.0).is_empty());
}

#[test]
fn the_rate_of_horizontal_rain_refers_to_a_surface_that_faces_it() {
    let velocity = Some(DVec3::new(0.0, 0.0, -2.0));
    let solids = vec![plane("window", DVec3::Z, [0.5, 1.0])];
    let world = build(solids, vec![rain(RainArea::Solid(0), 20.0 * MM_PER_H, velocity)], DVec3::ZERO);
    assert_eq!(world.notices.len(), 1, "{:?}", world.notices);
    assert_volume(&balls(&world.emissions(0.0, 60.0)), 20.0 * MM_PER_H * 0.5 * 60.0, "window");
}

/// Going along its velocity, every ball's center comes to one radius from the solid, and its point
/// of contact is on the meshed part.
#[test]
fn every_raindrop_hits_its_target_solid() {
    let slope = plane("slope", DVec3::new(0.3, 0.9, 0.2), [0.5, 0.8]);
    let world = build(vec![slope], vec![rain(RainArea::Solid(0), 50.0 * MM_PER_H, None)], DVec3::new(2.0, 0.0, -1.0));
    let solid = &world.solids()[0];
    let balls = balls(&world.emissions(0.0, 2.0));
    assert!(balls.len() > 1000, "{}", balls.len());
    for (center, radius, velocity) in balls {
        let clear = solid.signed_distance(center);
        assert!(clear > radius, "starts {clear} m away with radius {radius}");
        let time = (clear - radius) / -velocity.dot(solid.normal(center));
        let touch = solid.closest(center + velocity * time);
        assert!((touch.distance - radius).abs() < 1e-12, "{touch:?}");
        assert!(touch.uv.min_element() >= -1e-9 && touch.uv.max_element() <= 1.0 + 1e-9, "{}", touch.uv);
        let distance_in_radii = (velocity * time).length() / radius;
        assert!((distance_in_radii - 4.0).abs() < 1e-9, "comes from {distance_in_radii} radii back");
    }
}

/// A convex body collects the rate over its shadow on the ground, drop speed by drop speed alike in
/// still air.
#[test]
fn a_sphere_collects_rain_over_its_cross_section() {
    let ball = solid("ball", SolidShape::Sphere { center: DVec3::Y, radius: 0.3, inside: false });
    let world = build(vec![ball], vec![rain(RainArea::Solid(0), 50.0 * MM_PER_H, None)], DVec3::ZERO);
    let balls = balls(&world.emissions(0.0, 60.0));
    assert_volume(&balls, 50.0 * MM_PER_H * PI * 0.09 * 60.0, "shadow of a ball");
    assert!(balls.iter().all(|b| b.0.y > 1.0), "none from below");
}

#[test]
fn a_roof_shelters_the_floor_below_it() {
    let roof = SolidShape::Box { min: DVec3::new(-0.25, 0.5, -0.5), max: DVec3::new(0.25, 0.6, 0.5) };
    let solids = vec![plane("floor", DVec3::Y, [1.0, 1.0]), solid("roof", roof)];
    let world = build(solids, vec![rain(RainArea::Solid(0), 50.0 * MM_PER_H, None)], DVec3::ZERO);
    let balls = balls(&world.emissions(0.0, 20.0));
    assert_volume(&balls, 50.0 * MM_PER_H * 0.5 * 20.0, "the open half");
    assert!(balls.iter().all(|b| b.0.x.abs() > 0.249), "some came through the roof");
}

#[test]
fn a_tilting_floor_collects_less() {
    let floor = plane("floor", DVec3::Y, [1.0, 1.0]);
    let mut world = build(vec![floor], vec![rain(RainArea::Solid(0), 50.0 * MM_PER_H, None)], DVec3::ZERO);
    world.move_solid(0, Pose::new(DQuat::from_rotation_z(PI / 3.0), DVec3::ZERO)).expect("a pose");
    assert_volume(&balls(&world.emissions(0.0, 20.0)), 50.0 * MM_PER_H * 0.5 * 20.0, "tilted by 60 deg");
}

#[test]
fn rain_through_a_box_starts_on_its_inflow_faces() {
    let (min, max) = (DVec3::new(0.0, 0.0, 0.0), DVec3::new(1.0, 0.5, 2.0));
    let make = |wind| build(vec![], vec![rain(RainArea::Box { min, max }, 20.0 * MM_PER_H, None)], wind);
    let still = balls(&make(DVec3::ZERO).emissions(0.0, 20.0));
    assert!(still.iter().all(|b| b.0.y == 0.5 && b.0.x >= 0.0 && b.0.x <= 1.0 && b.0.z >= 0.0 && b.0.z <= 2.0));
    assert_volume(&still, 20.0 * MM_PER_H * 2.0 * 20.0, "top");
    let windy = balls(&make(DVec3::new(3.0, 0.0, 0.0)).emissions(0.0, 20.0));
    let (top, side): (Vec<_>, Vec<(DVec3, f64, DVec3)>) = windy.iter().partition(|b| b.0.y == 0.5);
    assert!(side.iter().all(|b| b.0.x == 0.0), "the wind comes from −x");
    assert_volume(&top, 20.0 * MM_PER_H * 2.0 * 20.0, "top in wind");
    // Through the side, of area 1 m², V v/wind sums to the rate.
    let through: Vec<f64> = side.iter().map(|b| sphere_volume(b.1) * -b.2.y / 3.0).collect();
    let (sum, error) = (through.iter().sum::<f64>(), through.iter().map(|w| w * w).sum::<f64>().sqrt());
    let expected = 20.0 * MM_PER_H * 20.0;
    assert!((sum - expected).abs() < 4.0 * error, "side: {sum:e} expected {expected:e} ± {error:e}");
}

/// Gaps of a Poisson process: counts in equal intervals have variance equal to their mean.
#[test]
fn arrivals_are_poisson() {
    let world = build(
        vec![plane("floor", DVec3::Y, [0.1; 2])],
        vec![rain(RainArea::Solid(0), 20.0 * MM_PER_H, None)],
        DVec3::ZERO,
    );
    let counts: Vec<f64> =
        (0..4000).map(|i| world.emissions(f64::from(i) * 0.1, f64::from(i + 1) * 0.1).len() as f64).collect();
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n;
    let ratio = variance / mean;
    // The dispersion index of n Poisson counts has a standard error of √(2/n).
    assert!((ratio - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "variance over mean {ratio}, mean {mean}");
}

fn everything() -> World {
    let mut mill = solid("mill", SolidShape::Box { min: DVec3::splat(-0.1), max: DVec3::splat(0.1) });
    mill.motion = vec![
        MotionKey { at: 0.0, shift: DVec3::ZERO, rotate: DVec3::ZERO },
        MotionKey { at: 2.0, shift: DVec3::Y, rotate: DVec3::new(1.0, 2.0, 0.0) },
    ];
    let emitters = vec![
        emitter(EmitterKind::Drip { at: DVec3::Y, radius: 1e-3, every: 0.1, velocity: DVec3::ZERO }),
        Emitter { start: 0.35, stop: 1.25, ..rain(RainArea::Solid(0), 80.0 * MM_PER_H, None) },
        rain(RainArea::Box { min: DVec3::ZERO, max: DVec3::ONE }, 5.0 * MM_PER_H, None),
        Emitter {
            start: 0.2,
            stop: 0.7,
            ..emitter(EmitterKind::Tap { at: DVec3::Y, direction: DVec3::NEG_Y, radius: 2e-3, speed: 0.5 })
        },
        emitter(EmitterKind::Dew { on: 0, rate: 1e-8 }),
        emitter(EmitterKind::Feed { at: DVec3::ZERO, rate: -5e-10 }),
    ];
    build(vec![mill], emitters, DVec3::new(1.0, 0.0, 0.5))
}

#[test]
fn emissions_do_not_depend_on_the_time_steps() {
    let world = everything();
    let only_balls = |supply: Vec<Emission>| -> Vec<Emission> {
        supply.into_iter().filter(|s| matches!(s, Emission::Ball { .. })).collect()
    };
    let whole = only_balls(world.emissions(0.0, 2.0));
    assert!(whole.len() > 100, "{}", whole.len());
    for steps in [7u32, 64, 1000] {
        // Uneven cuts, with ends that no binary fraction hits.
        let cut = |i: u32| if i == steps { 2.0 } else { 2.0 * (f64::from(i) / f64::from(steps)).powf(1.3) };
        let mut moving = everything();
        let mut pieces = Vec::new();
        for i in 0..steps {
            moving.advance_to(cut(i));
            pieces.extend(only_balls(moving.emissions(cut(i), cut(i + 1))));
        }
        assert_eq!(pieces, whole, "in {steps} steps");
    }
}

#[test]
fn continuous_sources_add_up_over_any_time_steps() {
    let world = everything();
    let totals = |supply: &[Emission]| {
        supply.iter().fold([0.0; 3], |[tap, dew, feed], s| match *s {
            Emission::Stream { radius, speed, from, to, .. } => {
                [tap + PI * radius * radius * speed * (to - from), dew, feed]
            }
            Emission::Condense { rate, from, to, .. } => [tap, dew + rate * (to - from), feed],
            Emission::Feed { volume, .. } => [tap, dew, feed + volume],
            Emission::Ball { .. } => [tap, dew, feed],
        })
    };
    let expected = [PI * 4e-6 * 0.5 * 0.5, 2e-8, -1e-9];
    let pieces: Vec<Emission> =
        (0..13).flat_map(|i| world.emissions(2.0 * f64::from(i) / 13.0, 2.0 * f64::from(i + 1) / 13.0)).collect();
    for (found, expected) in totals(&pieces).into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found:e}, expected {expected:e}");
    }
}

#[test]
fn emissions_are_sorted_by_time() {
    let supply = everything().emissions(0.1, 1.9);
    assert!(supply.windows(2).all(|pair| pair[0].time() <= pair[1].time()));
    assert!(supply.iter().all(|s| s.time() >= 0.1 && s.time() < 1.9));
}

#[test]
fn a_drip_emits_at_regular_intervals_until_it_stops() {
    for (every, stop, expected) in [(0.1, 0.3, 3), (0.1, 0.7, 7), (0.07, 0.35, 5), (0.1, 0.71, 8), (10.0, 5.0, 1)] {
        let kind = EmitterKind::Drip { at: DVec3::Y, radius: 1e-3, every, velocity: DVec3::NEG_Y };
        let world = build(vec![], vec![Emitter { kind, start: 0.0, stop }], DVec3::ZERO);
        let count = world.emissions(0.0, 100.0).len();
        assert_eq!(count, expected, "every {every} s until {stop} s");
    }
}

#[test]
fn another_seed_gives_other_positions() {
    let make = |seed| {
        let mut scene = with_solids(vec![plane("floor", DVec3::Y, [1.0; 2])]);
        scene.seed = seed;
        scene.emitters = vec![rain(RainArea::Solid(0), 20.0 * MM_PER_H, None); 2];
        World::build(&scene).expect("a world").emissions(0.0, 0.1)
    };
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
    let centers: Vec<DVec3> = balls(&make(1)).iter().map(|b| b.0).collect();
    assert!(centers.iter().enumerate().all(|(i, c)| !centers[..i].contains(c)), "two emitters share their numbers");
}

#[test]
fn invalid_rain_is_an_error() {
    let refuse = |emitter: Emitter, reason: &str| {
        let scene = Scene { emitters: vec![emitter], ..with_solids(vec![plane("floor", DVec3::Y, [1.0; 2])]) };
        let error = World::build(&scene).expect_err(reason);
        assert_eq!(error.to_string(), format!("emitters.0: {reason}"));
    };
    refuse(rain(RainArea::Solid(0), 1e-6, Some(DVec3::ZERO)), "`velocity` of rain must not be zero, got [0, 0, 0] m/s");
    refuse(rain(RainArea::Solid(5), 1e-6, None), "solid 5 of `over` does not exist");
    refuse(rain(RainArea::Solid(0), -1e-6, None), "`rate` must not be negative, got -0.000001 m/s");
    let kind = EmitterKind::Drip { at: DVec3::Y, radius: 1e-3, every: 0.0, velocity: DVec3::ZERO };
    refuse(emitter(kind), "`every` must be a positive time, got 0 s");
}
