//! Spray drops follow parabolas, coalesce, rest and return; no volume is lost.

use glam::DVec3;
use sessile_frames::{Event, Ids, Surface};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;
use sessile_world::random::Stream;

use sessile_wetting::{Liquid, Wetting, cap, retention};

use super::{Environment, Exit, Forces, NearestSolid, Spray, SprayDrop};
use crate::testing::drop_id;

const G: DVec3 = DVec3::new(0.0, -9.8, 0.0);
const WATER: Liquid = Liquid::water();
const FORCES: Forces<'_> = Forces { gravity: G, liquid: &WATER };
const H: f64 = 1e-4;
const MIN_GRID_VOLUME: f64 = 40.0 * H * H * H;

/// A solid with 90°/60°.
fn wall(distance: f64, normal: DVec3, velocity: DVec3) -> NearestSolid {
    let wetting = Wetting::smooth(90f64.to_radians(), 60f64.to_radians());
    NearestSolid { distance, normal, velocity, wetting, solid: 0 }
}

/// Liquid below y = `pool`, a solid below y = `floor` that moves along x, a domain of 1 m around
/// the origin.
struct Flat {
    pool: f64,
    floor: f64,
    slide: f64,
}

const AIR: Flat = Flat { pool: -9.0, floor: -9.0, slide: 0.0 };

impl Environment for Flat {
    fn liquid(&self, point: DVec3) -> f64 {
        point.y - self.pool
    }

    fn solid(&self, point: DVec3) -> Option<NearestSolid> {
        (self.floor > -1.0).then(|| wall(point.y - self.floor, DVec3::Y, self.slide * DVec3::X))
    }

    fn inside(&self, point: DVec3) -> bool {
        point.abs().max_element() < 1.0
    }
}

/// A drop of a given number of cells.
fn drop(id: u32, at: DVec3, velocity: DVec3, cells: f64) -> SprayDrop {
    SprayDrop { id: drop_id(id), at, velocity, volume: cells * H.powi(3), cap: None }
}

fn spray(drops: &[SprayDrop]) -> Spray {
    let mut spray = Spray::default();
    for drop in drops {
        spray.launch(drop.id, drop.at, drop.velocity, drop.volume);
    }
    spray
}

#[test]
fn trajectories_are_parabolas_for_any_number_of_steps() {
    let start = drop(1, DVec3::ZERO, DVec3::new(0.4, 1.0, -0.2), 20.0);
    for steps in [1, 7, 400] {
        let mut spray = spray(&[start]);
        let time = 0.1;
        for _ in 0..steps {
            spray.advance(time / f64::from(steps), MIN_GRID_VOLUME, &FORCES, &AIR, &mut Vec::new(), &mut Vec::new());
        }
        let expected = start.velocity * time + 0.5 * time * time * G;
        let found = spray.drops()[0];
        assert!((found.at - expected).length() < 1e-12, "{steps} steps: {} for {expected}", found.at);
        assert!((found.velocity - start.velocity - time * G).length() < 1e-12);
    }
}

#[test]
fn a_spray_drop_returns_its_whole_volume_when_it_touches_liquid() {
    let start = drop(5, DVec3::new(0.0, 0.02, 0.0), DVec3::ZERO, 27.0);
    let mut spray = spray(&[start]);
    let pool = Flat { pool: 0.0, ..AIR };
    let (dt, mut time, mut gone) = (2e-5, 0.0, Vec::new());
    while gone.is_empty() && time < 1.0 {
        spray.advance(dt, MIN_GRID_VOLUME, &FORCES, &pool, &mut gone, &mut Vec::new());
        time += dt;
    }
    let expected = f64::sqrt(2.0 * (0.02 - start.radius()) / 9.8);
    assert!((time - expected).abs() < 1.5 * dt, "landed after {time} s, not {expected}");
    let (landed, fate) = gone[0];
    assert_eq!((fate, landed.volume, landed.id), (Exit::TouchedLiquid, start.volume, drop_id(5)));
    assert!(spray.drops().is_empty());
}

/// Even in one long step, it does not pass through a sheet.
#[test]
fn a_fast_spray_drop_does_not_pass_through_a_thin_sheet() {
    struct Sheet;
    impl Environment for Sheet {
        fn liquid(&self, point: DVec3) -> f64 {
            (point.y).abs() - 2.0 * H
        }
        fn solid(&self, _: DVec3) -> Option<NearestSolid> {
            None
        }
        fn inside(&self, _: DVec3) -> bool {
            true
        }
    }
    let mut spray = spray(&[drop(1, DVec3::new(0.0, 40.0 * H, 0.0), DVec3::new(0.0, -2.0, 0.0), 27.0)]);
    let mut gone = Vec::new();
    spray.advance(4e-3, MIN_GRID_VOLUME, &FORCES, &Sheet, &mut gone, &mut Vec::new());
    assert_eq!(gone.len(), 1, "{:?}", spray.drops());
}

#[test]
fn volume_and_momentum_are_conserved_when_spray_drops_coalesce() {
    let mut random = Stream::new(2, &[]);
    let mut any = || DVec3::from([0, 1, 2].map(|_| random.uniform_in(-1.0, 1.0)));
    let drops: Vec<SprayDrop> = (0..300).map(|k| drop(k + 1, 1.5e-3 * any(), any(), 1.0 + f64::from(k % 9))).collect();
    let mut spray = spray(&drops);
    let sums = |drops: &[SprayDrop]| {
        drops.iter().fold((0.0, DVec3::ZERO), |(v, p), b| (v + b.volume, p + b.volume * b.velocity))
    };
    let before = sums(spray.drops());
    let (mut events, mut gone) = (Vec::new(), Vec::new());
    spray.advance(0.0, MIN_GRID_VOLUME, &FORCES, &AIR, &mut gone, &mut events);
    let all: Vec<SprayDrop> = spray.drops().iter().copied().chain(gone.iter().map(|(drop, _)| *drop)).collect();
    let after = sums(&all);
    assert!(all.len() < 290, "{} are left of 300: this test expects more to touch", all.len());
    assert_eq!(events.len(), 300 - all.len());
    assert!((after.0 / before.0 - 1.0).abs() < 1e-13, "volume {} of {}", after.0, before.0);
    assert!((after.1 - before.1).length() < 1e-13 * before.0, "momentum {} of {}", after.1, before.1);
    for (k, a) in spray.drops().iter().enumerate() {
        for b in &spray.drops()[k + 1..] {
            assert!(a.at.distance(b.at) >= a.radius() + b.radius(), "{} and {} still touch", a.id, b.id);
        }
        assert!(k == 0 || spray.drops()[k - 1].id < a.id, "ids out of order");
    }
}

#[test]
fn the_larger_spray_drop_keeps_its_id() {
    let mut spray = spray(&[drop(3, DVec3::ZERO, DVec3::X, 5.0), drop(9, DVec3::new(H, 0.0, 0.0), DVec3::ZERO, 15.0)]);
    let mut events = Vec::new();
    spray.advance(0.0, MIN_GRID_VOLUME, &FORCES, &AIR, &mut Vec::new(), &mut events);
    assert_eq!(events, [Event::Merge { merge: Ids::from_slice(&[3, 9]), into: 9 }]);
    assert_eq!(spray.drops().len(), 1);
    assert!((spray.drops()[0].velocity - 0.25 * DVec3::X).length() < 1e-15);
}

#[test]
fn a_spray_drop_becomes_a_cap_on_a_moving_solid_until_liquid_touches_it() {
    let start = drop(1, DVec3::new(0.0, 5.0 * H, 0.0), DVec3::new(0.3, -0.5, 0.0), 8.0);
    let mut spray = spray(&[start]);
    let mut floor = Flat { floor: 0.0, slide: 0.2, ..AIR };
    let mut gone = Vec::new();
    for _ in 0..100 {
        spray.advance(1e-4, MIN_GRID_VOLUME, &FORCES, &floor, &mut gone, &mut Vec::new());
    }
    let at = spray.drops()[0];
    let seat = at.cap.expect("a cap");
    assert!(at.at.y.abs() < 1e-12 && (at.velocity - 0.2 * DVec3::X).length() < 1e-12, "{at:?}");
    let expected = cap::base_radius(at.volume, 90f64.to_radians());
    assert!((seat.radius / expected - 1.0).abs() < 1e-9 && (seat.angle.to_degrees() - 90.0).abs() < 1e-6, "{seat:?}");
    let x = at.at.x;
    spray.advance(1e-3, MIN_GRID_VOLUME, &FORCES, &floor, &mut gone, &mut Vec::new());
    assert!((spray.drops()[0].at.x - x - 2e-4).abs() < 1e-12);
    floor.pool = -0.3 * H;
    spray.advance(1e-4, MIN_GRID_VOLUME, &FORCES, &floor, &mut gone, &mut Vec::new());
    assert_eq!(gone.len(), 1, "{:?}", spray.drops());
    assert_eq!((gone[0].0.volume, gone[0].1), (start.volume, Exit::TouchedLiquid));
}

/// A vertical pane of 90°/60° at x = 0.
struct Pane;

impl Environment for Pane {
    fn liquid(&self, _point: DVec3) -> f64 {
        f64::INFINITY
    }

    fn solid(&self, point: DVec3) -> Option<NearestSolid> {
        Some(wall(point.x, DVec3::X, DVec3::ZERO))
    }

    fn inside(&self, _point: DVec3) -> bool {
        true
    }
}

/// The largest drop that is held is that of the retention law, for any number of steps; a larger
/// one reaches the speed at which friction balances what is left of its weight.
#[test]
fn a_cap_is_held_up_to_the_critical_volume_and_slides_beyond_it() {
    let wetting = Wetting::smooth(90f64.to_radians(), 60f64.to_radians());
    let critical = retention::critical_volume(&WATER, &wetting, 9.8, 90f64.to_radians());
    for steps in [20, 2000] {
        for (factor, moves) in [(0.98, false), (1.02, true)] {
            let volume = factor * critical;
            let mut spray = Spray::default();
            spray.launch(drop_id(1), DVec3::new(0.5e-3, 0.0, 0.0), DVec3::ZERO, volume);
            for _ in 0..steps {
                let dt = 1.0 / f64::from(steps);
                spray.advance(dt, 1.0, &FORCES, &Pane, &mut Vec::new(), &mut Vec::new());
            }
            let found = spray.drops()[0];
            assert!(found.cap.is_some() && found.at.x.abs() < 1e-12, "{found:?}");
            assert_eq!(found.at.y < -1e-5, moves, "{factor} of the critical volume, {steps} steps: {found:?}");
            if moves {
                let width = 2.0 * cap::base_radius(volume, wetting.advancing);
                let weight = WATER.density * volume * 9.8;
                let steady = sessile_wetting::sliding::steady_speed(&WATER, &wetting, width, weight, 0.0, None);
                let error = -found.velocity.y / steady - 1.0;
                assert!(error.abs() < 0.03, "{} m/s, not {steady}", -found.velocity.y);
            }
        }
    }
}

#[test]
fn a_cap_that_is_too_heavy_to_hang_falls() {
    struct Ceiling;
    impl Environment for Ceiling {
        fn liquid(&self, _point: DVec3) -> f64 {
            f64::INFINITY
        }
        fn solid(&self, point: DVec3) -> Option<NearestSolid> {
            Some(wall(-point.y, DVec3::NEG_Y, DVec3::ZERO))
        }
        fn inside(&self, _point: DVec3) -> bool {
            true
        }
    }
    for (microliters, hangs) in [(1.0, true), (200.0, false)] {
        let mut spray = Spray::default();
        spray.launch(drop_id(1), DVec3::new(0.0, -0.1e-3, 0.0), DVec3::ZERO, microliters * 1e-9);
        for _ in 0..100 {
            spray.advance(1e-3, 1.0, &FORCES, &Ceiling, &mut Vec::new(), &mut Vec::new());
        }
        let found = spray.drops()[0];
        assert_eq!(found.cap.is_some() && found.at.y.abs() < 1e-9, hangs, "{microliters} uL: {found:?}");
    }
}

#[test]
fn two_caps_that_touch_become_one_on_the_same_solid() {
    let apart = DVec3::new(0.0, 1.8 * H, 0.0);
    let drops = [
        drop(1, DVec3::new(H, 0.0, 0.0), DVec3::ZERO, 6.0),
        drop(2, DVec3::new(H, 0.0, 0.0) + apart, DVec3::ZERO, 5.0),
    ];
    let (mut spray, mut events) = (spray(&drops), Vec::new());
    for _ in 0..3 {
        spray.advance(1e-5, MIN_GRID_VOLUME, &FORCES, &Pane, &mut Vec::new(), &mut events);
    }
    assert_eq!((spray.drops().len(), events.len()), (1, 1), "{:?}", spray.drops());
    let found = spray.drops()[0];
    assert!((found.volume / (11.0 * H.powi(3)) - 1.0).abs() < 1e-12 && found.at.x.abs() < 1e-12, "{found:?}");
    assert!(found.cap.is_some() && (found.at.y - 5.0 / 11.0 * apart.y).abs() < 1e-9, "{found:?}");
}

#[test]
fn the_triangulated_cap_is_closed_lies_on_its_solid_and_encloses_the_drops_volume() {
    let mut spray = spray(&[drop(4, DVec3::new(H, 0.0, 0.0), DVec3::ZERO, 27.0)]);
    spray.advance(1e-5, MIN_GRID_VOLUME, &FORCES, &Pane, &mut Vec::new(), &mut Vec::new());
    let mut surface = Surface::default();
    spray.add_to(&mut surface);
    assert_eq!(surface.validate(), Ok(()));
    assert_eq!(Connectivity::new(&surface.triangles).unwrap().boundary().count(), 0);
    assert!(surface.positions.iter().all(|p| p.x > -1e-12), "below the pane");
    let wetted = surface.triangles.iter().zip(&surface.solids).filter(|(_, solid)| **solid == 0);
    assert!(wetted.flat_map(|(triangle, _)| triangle).all(|&v| surface.positions[v as usize].x.abs() < 1e-12));
    let mesh = TriMesh { positions: surface.positions, triangles: surface.triangles, corner_uvs: Vec::new() };
    let expected = 27.0 * H.powi(3);
    assert!((mesh.volume() / expected - 1.0).abs() < 1e-9, "{} for {expected}", mesh.volume());
}

/// A drop without a surface on the grid is displayed around the center of its cells, which may be
/// anywhere near the wall, or in it.
#[test]
fn a_displayed_drop_that_touches_a_solid_lies_on_it() {
    for height in [-0.9, 0.0, 0.6] {
        let start = drop(1, DVec3::ZERO, DVec3::ZERO, 20.0);
        let mut spray = spray(&[SprayDrop { at: height * start.radius() * DVec3::Y, ..start }]);
        spray.land(&Flat { floor: 0.0, ..AIR });
        let mut surface = Surface::default();
        spray.add_to(&mut surface);
        let lowest = surface.positions.iter().map(|corner| corner.y).fold(f64::INFINITY, f64::min);
        assert!(lowest.abs() < 1e-9, "from {height} radii: lowest corner at {lowest} m");
        assert!((spray.drops()[0].volume - start.volume).abs() < 1e-12 * start.volume);
    }
}

#[test]
fn large_spray_drops_return_and_those_outside_the_domain_are_lost() {
    let drops = [drop(1, DVec3::ZERO, DVec3::ZERO, 41.0), drop(2, DVec3::new(0.0, 1.5, 0.0), DVec3::ZERO, 3.0)];
    let mut gone = Vec::new();
    spray(&drops).advance(0.0, MIN_GRID_VOLUME, &FORCES, &AIR, &mut gone, &mut Vec::new());
    assert_eq!(gone, [(drops[0], Exit::Grown), (drops[1], Exit::LeftDomain)]);
    let mut nothing = Spray::default();
    nothing.launch(drop_id(1), DVec3::ZERO, DVec3::ZERO, 0.0);
    nothing.launch(drop_id(2), DVec3::ZERO, DVec3::ZERO, f64::NAN);
    assert_eq!(nothing, Spray::default());
}

#[test]
fn the_triangulated_sphere_is_closed_and_encloses_the_drops_volume() {
    let drops = [drop(2, DVec3::new(1e-3, 0.0, 2e-3), DVec3::X, 27.0), drop(7, DVec3::ZERO, DVec3::Y, 1.0)];
    let mut surface = Surface::default();
    spray(&drops).add_to(&mut surface);
    assert_eq!(surface.validate(), Ok(()));
    assert_eq!(Connectivity::new(&surface.triangles).unwrap().boundary().count(), 0);
    let mesh = TriMesh { positions: surface.positions, triangles: surface.triangles, corner_uvs: Vec::new() };
    let expected = 28.0 * H.powi(3);
    assert!((mesh.volume() / expected - 1.0).abs() < 1e-9, "{} for {expected}", mesh.volume());
}

/// Two discs of 10 mm radius and 3 mm thickness, a tenth of a cell apart.
struct ClosedPlates;

impl Environment for ClosedPlates {
    fn liquid(&self, _point: DVec3) -> f64 {
        f64::INFINITY
    }

    fn solid(&self, point: DVec3) -> Option<NearestSolid> {
        let middle = (0.05 * H + 1.5e-3) * point.y.signum();
        let out = DVec3::new(point.x, 0.0, point.z).length() - 10e-3;
        let up = (point.y - middle).abs() - 1.5e-3;
        let side = (point.y - middle).signum() * DVec3::Y;
        let outward = DVec3::new(point.x, 0.0, point.z).normalize_or_zero();
        Some(if up > out { wall(up, side, DVec3::ZERO) } else { wall(out, outward, DVec3::ZERO) })
    }

    fn inside(&self, _point: DVec3) -> bool {
        true
    }
}

#[test]
fn a_drop_between_closed_plates_leaves_at_their_rim() {
    let start = drop(3, DVec3::new(2e-3, 0.0, -1e-3), DVec3::ZERO, 20.0);
    let (mut spray, mut gone) = (spray(&[start]), Vec::new());
    spray.advance(1e-5, MIN_GRID_VOLUME, &FORCES, &ClosedPlates, &mut gone, &mut Vec::new());
    assert!(gone.is_empty(), "{gone:?}");
    let found = spray.drops()[0];
    let distance = DVec3::new(found.at.x, 0.0, found.at.z).length();
    assert!((10e-3..11e-3).contains(&distance) && found.at.y.abs() < H, "the drop is at {} m", found.at);
    assert_eq!(found.volume, start.volume);
}
