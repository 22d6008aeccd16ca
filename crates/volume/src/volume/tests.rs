//! Small runs with known answers, planar where the third dimension adds nothing but time.

use std::f64::consts::TAU;

use crate::volume::Volume;
use glam::{DVec2, DVec3};
use sessile_frames::{Event, Frame, FrameGeometry, MeasureContext, Solid, Surface, measure};
use sessile_geometry::{Closest, Distance};
use sessile_model::{Model, NoTimer};
use sessile_scene::{NoFiles, parse_str, text};
use sessile_wetting::{Liquid, young_laplace};
use sessile_world::World;

/// The model of these tables; further keys of `[time]` may precede them.
pub(super) fn build(tables: &str) -> Volume {
    build_with("", tables)
}

/// The model of these top-level keys and tables.
pub(super) fn build_with(keys: &str, tables: &str) -> Volume {
    let text = text::header("volume", keys) + tables;
    let scene = parse_str("test", &text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    Volume::new(&scene, world).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn run_to(volume: &mut Volume, time: f64) {
    while time - volume.time() > 1e-12 {
        volume.step(time - volume.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
}

pub(super) fn surface(frame: &Frame) -> &Surface {
    let FrameGeometry::Surfaces(surface) = &frame.liquid else { panic!("a frame without a surface") };
    surface
}

pub(super) fn water() -> Liquid {
    Liquid { density: 1000.0, viscosity: 1e-6, surface_tension: 0.073, refractive_index: 1.33 }
}

pub(super) const WATER: &str =
    "[liquid]\ndensity = \"1000 kg/m^3\"\nviscosity = \"1 mm^2/s\"\nsurface_tension = \"73 mN/m\"\n";

/// A planar drop of 4 mm² at rest on a plane tilted by `tilt` (degrees) to the grid, gravity tilted
/// with it: height, half width and largest speed.
fn planar_drop_at_rest(degrees: f64, tilt: f64, start: f64) -> (f64, f64, f64) {
    let (sin, cos) = tilt.to_radians().sin_cos();
    let mut volume = build(&format!(
        "settle = true\n{WATER}\
         [world]\nplanar = true\ngravity = \"{} {} 0 m/s^2\"\n[resolution]\ncell = \"0.11 mm\"\n\
         [materials.m]\nadvancing = \"{degrees} deg\"\nreceding = \"{degrees} deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [{sin}, {cos}, 0]\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\narea = \"4 mm^2\"\ncontact_angle = \"{start} deg\"\n",
        -9.8 * sin,
        -9.8 * cos
    ));
    run_to(&mut volume, 0.08);
    let frame = volume.frame();
    let positions = &surface(&frame).positions;
    let above = |p: &DVec3| p.x * sin + p.y * cos;
    let height = positions.iter().map(above).fold(0.0, f64::max);
    let along = |p: &DVec3| p.x * cos - p.y * sin;
    let on_wall = || positions.iter().filter(|p| above(p) < 1e-9).map(along);
    let width = on_wall().fold(f64::NEG_INFINITY, f64::max) - on_wall().fold(f64::INFINITY, f64::min);
    (height, 0.5 * width, frame.drops[0].speed_max)
}

/// Height and half width against Young–Laplace, on planes of any tilt: the method's error is 0.1 %,
/// that of the extracted surface a hundredth of a cell.
#[test]
fn planar_drops_rest_at_their_contact_angle_on_planes_of_any_tilt() {
    let capillary_length = water().capillary_length(9.8);
    for (degrees, tilt, start) in
        [(90.0, 0.0, 90.0), (60.0, 17.0, 90.0), (120.0, 0.0, 90.0), (120.0, 45.0, 90.0), (45.0, 17.0, 45.0)]
    {
        let exact = young_laplace::sessile_planar(4e-6, f64::to_radians(degrees), capillary_length).unwrap();
        let (height, half_width, speed) = planar_drop_at_rest(degrees, tilt, start);
        let errors = [height / exact.height - 1.0, half_width / exact.base_radius - 1.0].map(|error| 100.0 * error);
        println!(
            "{degrees}° at {tilt}°: height {:+.2} %, half width {:+.2} %, {:.2} mm/s",
            errors[0],
            errors[1],
            1e3 * speed
        );
        assert!(errors[0].abs() < 0.5 && errors[1].abs() < 1.0, "{degrees}° at {tilt}°: off by {errors:.2?} %");
    }
}

/// The floor y = 0.
pub(super) struct Floor;

impl Distance for Floor {
    fn signed_distance(&self, point: DVec3) -> f64 {
        point.y
    }

    fn closest(&self, point: DVec3) -> Closest {
        Closest { point: point.with_y(0.0), normal: DVec3::Y, distance: point.y, uv: DVec2::ZERO }
    }
}

/// Whatever the angle of the material: that acts from the first step on.
#[test]
fn the_first_frame_shows_the_contact_angle_of_a_cap() {
    for (cap, material) in [(60, 140), (90, 45), (120, 90)] {
        let volume = build(&format!(
            "{WATER}[resolution]\ncell = \"0.11 mm\"\n\
             [materials.m]\nadvancing = \"{material} deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
             [[drops]]\nshape = \"cap\"\non = \"p\"\nvolume = \"4 uL\"\ncontact_angle = \"{cap} deg\"\n"
        ));
        let solids = [Solid { name: "p", shape: &Floor }];
        let context = MeasureContext { solids: &solids, planar: None, domain: None };
        let measures = measure(&volume.frame(), 0, &[], context).unwrap_or_else(|error| panic!("{error}"));
        let angle = measures.drops[0].contact_angle_deg.expect("a contact line");
        let errors = [angle.min, angle.mean, angle.max].map(|angle| angle - f64::from(cap));
        assert!(errors.iter().all(|error| error.abs() < 1.0), "{cap}° on {material}°: off by {errors:.1?}°");
    }
}

/// Flow up along the interface of an overhang moves no contact line. If its component along the
/// wall did, 28 mm/s would circulate at either end permanently and the drop would be 3 % too low.
#[test]
fn an_overhanging_drop_comes_to_rest_on_a_tilted_plane() {
    let exact = young_laplace::sessile_planar(4e-6, f64::to_radians(150.0), water().capillary_length(9.8)).unwrap();
    let (height, _, speed) = planar_drop_at_rest(150.0, 17.0, 120.0);
    let error = 100.0 * (height / exact.height - 1.0);
    println!("height {error:+.2} %, {:.2} mm/s", 1e3 * speed);
    assert!(error.abs() < 1.5 && speed < 5e-3, "height off by {error:+.2} %, {:.2} mm/s", 1e3 * speed);
}

/// A drop that oscillates on a plane tilted to the grid, without hysteresis: nothing drives it
/// along the plane. If the velocity just above the wall, ahead of its line, were kept from the
/// previous oscillation, it would hold one line and the drop would run off at 35 mm/s.
#[test]
fn an_oscillating_drop_does_not_drift_on_a_tilted_plane() {
    let (sin, cos) = 17f64.to_radians().sin_cos();
    let mut volume = build(&format!(
        "{WATER}\
         [world]\nplanar = true\ngravity = \"{} {} 0 m/s^2\"\n[resolution]\ncell = \"0.16 mm\"\n\
         [materials.m]\nadvancing = \"60 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [{sin}, {cos}, 0]\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\narea = \"4 mm^2\"\ncontact_angle = \"75 deg\"\n",
        -9.8 * sin,
        -9.8 * cos
    ));
    let mut fastest = 0.0_f64;
    for frame in 1..=10 {
        run_to(&mut volume, 5e-3 * f64::from(frame));
        let velocity = volume.frame().drops[0].velocity;
        fastest = fastest.max((velocity.x * cos - velocity.y * sin).abs());
    }
    println!("{:.1} mm/s along the plane", 1e3 * fastest);
    assert!(fastest < 20e-3, "{:.1} mm/s along the plane", 1e3 * fastest);
}

/// Implicit surface tension: steps of more than three times √(ρh³/2πγ), where explicit ones fail
/// within a few (without its damping 300 mm/s are left after 30 ms, with it less than 1).
#[test]
fn a_drop_that_settles_takes_long_steps_and_comes_to_rest() {
    let mut volume = build(&format!(
        "settle = true\n{WATER}\
         [resolution]\ncell = \"0.2 mm\"\n[materials.m]\nadvancing = \"60 deg\"\nreceding = \"60 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\nvolume = \"4 uL\"\ncontact_angle = \"90 deg\"\n",
    ));
    let capillary = (1000.0 * 0.2e-3f64.powi(3) / (TAU * 0.073)).sqrt();
    let mut least = f64::INFINITY;
    while volume.time() < 0.04 {
        let report = volume.step(1.0, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        least = if volume.time() > 0.02 { least.min(report.dt) } else { least };
    }
    let frame = volume.frame();
    let speed = frame.drops[0].speed_max;
    assert!(frame.drops.len() == 1 && speed < 3e-3, "{} drops, {:.2} mm/s", frame.drops.len(), 1e3 * speed);
    assert!(least > 3.0 * capillary, "steps of {:.2} of the explicit limit", least / capillary);
}

/// The sphere of a flat cap extends 5 mm below a plate of 1 mm; none of it is on the plate's far
/// side, and the near side is complete.
#[test]
fn a_flat_cap_lies_on_one_side_of_a_thin_plate() {
    let volume = build(&format!(
        "{WATER}\
         [resolution]\ncell = \"0.2 mm\"\n[materials.m]\nadvancing = \"40 deg\"\nreceding = \"20 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"box\"\nmin = \"-9 -1 -9 mm\"\nmax = \"9 0 9 mm\"\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\nvolume = \"8 uL\"\ncontact_angle = \"30 deg\"\n",
    ));
    let frame = volume.frame();
    let lowest = surface(&frame).positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    assert!(frame.drops.len() == 1 && lowest > -1e-9, "{} drops down to {:.2} mm", frame.drops.len(), 1e3 * lowest);
    let volume = frame.drops[0].volume * 1e9;
    assert!((volume - 8.0).abs() < 1e-9, "{volume} µL");
}

/// Height over a circle of radius `solid` and half the wetted arc of a weightless planar drop that
/// meets it at `theta`.
///
/// The line lies at the angle β from the top; there the drop's circle makes α = θ + β with the
/// horizontal, so r sin α = R sin β.
fn lens(solid: f64, area: f64, theta: f64) -> (f64, f64) {
    let segment = |radius: f64, angle: f64| radius * radius * (angle - angle.sin() * angle.cos());
    let radius = |beta: f64| solid * beta.sin() / (theta + beta).sin();
    let enclosed = |beta: f64| segment(radius(beta), theta + beta) - segment(solid, beta);
    let (mut low, mut high) = (1e-6, std::f64::consts::PI - theta - 1e-6);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if enclosed(middle) < area { low = middle } else { high = middle }
    }
    (radius(low) * (1.0 - (theta + low).cos()) - solid * (1.0 - low.cos()), solid * low)
}

/// On a round solid drops rest at their angle, too. Without the wall's curvature in φ the drop of
/// 45° is off by 2.3 %; with the flow beside the line left to the pressure by 2.0 %, and it flows
/// at 10 mm/s.
///
/// Not every placement on the grid is as good: at 60° on cells of 0.12 mm 15 mm/s remain
/// (docs/volume.md, limits).
#[test]
fn planar_drops_rest_at_their_contact_angle_on_a_cylinder() {
    for (degrees, cell) in [(45.0, 0.094), (60.0, 0.14), (120.0, 0.14)] {
        let (height, half_width) = lens(3e-3, 4e-6, f64::to_radians(degrees));
        let mut volume = build(&format!(
            "settle = true\n{WATER}\
             [world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"{cell} mm\"\n\
             [materials.m]\nadvancing = \"{degrees} deg\"\nreceding = \"{degrees} deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\ncenter = \"0.01 -3 0 mm\"\n\
             [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\narea = \"4 mm^2\"\ncontact_angle = \"90 deg\"\n"
        ));
        run_to(&mut volume, 0.16);
        let frame = volume.frame();
        let positions = &surface(&frame).positions;
        let middle = DVec3::new(0.01e-3, -3e-3, 0.0);
        let above = |p: &DVec3| (*p - middle).with_z(0.0).length() - 3e-3;
        let top = positions.iter().map(above).fold(0.0, f64::max);
        let angle = |p: &DVec3| (p.x - middle.x).atan2(p.y - middle.y);
        let wetted = || positions.iter().filter(|p| above(p) < 1e-9).map(angle);
        let arc = 3e-3 * 0.5 * (wetted().fold(-4.0, f64::max) - wetted().fold(4.0, f64::min));
        let errors = [top / height - 1.0, arc / half_width - 1.0].map(|error| 100.0 * error);
        let speed = 1e3 * frame.drops[0].speed_max;
        println!("{degrees}°: height {:+.2} %, half width {:+.2} %, {speed:.2} mm/s", errors[0], errors[1]);
        assert!(errors[0].abs() < 0.7 && errors[1].abs() < 0.7, "{degrees}°: off by {errors:.2?} %");
        assert!(frame.drops.len() == 1 && speed < 4.0, "{degrees}°: {} drops at {speed:.2} mm/s", frame.drops.len());
    }
}

/// A sphere at rest stays at rest: the speed of parasitic currents as a capillary number, and the
/// pressure inside.
#[test]
fn a_free_drop_at_rest_stays_at_rest() {
    let mut volume = build(&format!(
        "{WATER}[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\ncell = \"0.125 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.013 0.027 0.041 mm\"\nradius = \"1 mm\"\n"
    ));
    run_to(&mut volume, 5e-3);
    let frame = volume.frame();
    let drop = frame.drops[0];
    let capillary_number = drop.speed_max * water().dynamic_viscosity() / water().surface_tension;
    assert!(capillary_number < 1e-4, "capillary number {capillary_number:.1e}, {:.2} mm/s", 1e3 * drop.speed_max);
    let pressure = drop.pressure.unwrap();
    assert!((pressure / 146.0 - 1.0).abs() < 0.02, "{pressure:.2} Pa inside, not 146");
}

/// Planar moment ∫ (y² − x²) dA / ∫ dA of the liquid about its centroid, in m².
fn planar_moment(volume: &Volume) -> f64 {
    let frame = volume.frame();
    let surface = surface(&frame);
    let (mut total, mut first, mut second) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|vertex| surface.positions[vertex as usize]);
        let part = a.dot(b.cross(c)) / 6.0;
        total += part;
        first += part * (a + b + c) / 4.0;
        second += part * (a * a + b * b + c * c + a * b + b * c + c * a) / 10.0;
    }
    let about = second / total - (first / total) * (first / total);
    about.y - about.x
}

/// A planar drop of 22 cells across oscillating in its second mode: ω² = 6γ/(ρR³) (lamb1932, art.
/// 275, in two dimensions) and the decay rate 4ν/R² (art. 355).
///
/// The rate is that of the moment's Fourier component at ω, from the second period to the third.
#[test]
fn an_oscillating_planar_drop_has_lambs_frequency_and_decay_rate_v9() {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"0.0909 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.013 0.027 0 mm\"\nradius = \"1 mm\"\nmode = 2\namplitude = 0.05\n"
    ));
    let omega = (6.0 * 0.073 / (1000.0 * 1e-9f64)).sqrt();
    let interval = TAU / omega / 24.0;
    let (mut zeros, mut before) = (Vec::new(), planar_moment(&volume));
    let mut components = [[0.0; 2]; 3];
    for sample in 1..=72 {
        let time = interval * f64::from(sample);
        run_to(&mut volume, time);
        let now = planar_moment(&volume);
        if (now < 0.0) != (before < 0.0) {
            zeros.push(time - interval * now / (now - before));
        }
        before = now;
        let component: &mut [f64; 2] = &mut components[(sample as usize - 1) / 24];
        let (sin, cos) = (omega * time).sin_cos();
        *component = [component[0] + now * cos, component[1] + now * sin];
    }
    let [_, second, third] = components.map(|[cos, sin]| cos.hypot(sin));
    let decay = (second / third).ln() * omega / TAU;
    println!("decay rate {decay:.2} 1/s");
    assert!((3.2..4.8).contains(&decay), "the oscillation decays by {decay:.2} per second, not by 4");
    let half_periods = zeros.len() - 1;
    let frequency = half_periods as f64 / (2.0 * (zeros[half_periods] - zeros[0])) * TAU;
    let error = frequency / omega - 1.0;
    assert!(error.abs() < 0.03, "ω = {frequency:.1} 1/s, Lamb's is {omega:.1}: {:+.2} %", 100.0 * error);
}

/// Free fall with surface tension: any change of the drop's momentum by its interface is an error.
#[test]
fn a_falling_drop_accelerates_by_g() {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\n[resolution]\ncell = \"0.1 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.013 0.027 0 mm\"\nradius = \"1 mm\"\n"
    ));
    run_to(&mut volume, 0.02);
    let speed = -volume.frame().drops[0].velocity.y;
    assert!((speed / 0.196 - 1.0).abs() < 0.02, "{speed:.4} m/s after 20 ms, not 0.196");
}

const TWO_DROPS: &str = "[world]\nplanar = true\n[resolution]\ncell = \"0.1 mm\"\n\
     [materials.m]\nadvancing = \"100 deg\"\nreceding = \"70 deg\"\n\
     [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [0.2, 1, 0]\n\
     [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0 0 0 mm\"\narea = \"3 mm^2\"\ncontact_angle = \"80 deg\"\n\
     [[drops]]\nshape = \"sphere\"\ncenter = \"1 3 0 mm\"\nradius = \"0.7 mm\"\nvelocity = \"0 -0.3 0 m/s\"\n";

/// Kinetic and surface energy of a planar run, in J/m, on solids with 90°.
fn planar_energy(volume: &Volume) -> f64 {
    let fluid = &volume.fluid.state;
    let (tiles, h) = (&fluid.grid.tiles, fluid.grid.h);
    let mut kinetic = 0.0;
    for (index, share) in tiles.indices().zip(fluid.drops.fractions()).filter(|(_, share)| **share > 0.0) {
        for (axis, component) in fluid.velocity.iter().enumerate().take(2) {
            let high = tiles.next(index, axis, 1).expect("an active neighbor");
            let u = 0.5 * (component.values()[index] + component.values()[high]);
            kinetic += 0.5 * water().density * h * h * share * u * u;
        }
    }
    let frame = volume.frame();
    let surface = surface(&frame);
    let in_air = surface.triangles.iter().zip(&surface.solids).filter(|(_, solid)| **solid < 0);
    let areas = in_air.map(|(triangle, _)| {
        let [a, b, c] = triangle.map(|vertex| surface.positions[vertex as usize]);
        let normal = (b - a).cross(c - a);
        // Not the slab's flat ends.
        if normal.z.abs() < 0.9 * normal.length() { 0.5 * normal.length() } else { 0.0 }
    });
    kinetic + water().surface_tension * areas.sum::<f64>() / h
}

/// A drop hits a plate at 1 m/s and becomes a film of a cell or two. Neither the film's motion nor
/// redistancing nor volume relaxation may add energy.
#[test]
fn a_drop_that_hits_a_plate_gains_no_energy() {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\n[resolution]\ncell = \"0.15625 mm\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nreceding = \"90 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 0.017 0 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0 1.45 0 mm\"\nradius = \"1.25 mm\"\nvelocity = \"0 -1 0 m/s\"\n"
    ));
    let before = planar_energy(&volume);
    let mut shares = Vec::new();
    for step in 1..=6 {
        run_to(&mut volume, 5e-4 * f64::from(step));
        shares.push(planar_energy(&volume) / before);
    }
    // Measured: 1.05 just after contact, then down to 0.83; with constant extrapolation and plain
    // redistancing 1.30 and 1.22.
    let most = shares.iter().copied().fold(0.0, f64::max);
    assert!(most < 1.1 && shares[5] < 0.95, "energy over that at first, every 0.5 ms: {shares:.3?}");
}

/// Two drops that overlap, one of which comes down on a sphere at 1.4 m/s. What enters cells that
/// the sphere nearly closes must not leave through the remaining opening at 500 m/s.
#[test]
fn a_drop_that_falls_on_a_sphere_keeps_a_bounded_speed() {
    let mut volume = build(&format!(
        "{WATER}\
         [resolution]\ncell = \"0.3 mm\"\n[world]\ngravity = \"0 0 0 m/s^2\"\n\
         [materials.m]\nadvancing = \"34.8 deg\"\nreceding = \"5 deg\"\n\
         [[solids]]\nname = \"s\"\nmaterial = \"m\"\nshape = \"sphere\"\nradius = \"3 mm\"\ncenter = \"0 -3 0 mm\"\n\
         [[drops]]\ncenter = \"-2.01 2.13 0.70 mm\"\nvolume = \"19.36 uL\"\nvelocity = \"0.05 0.03 0 m/s\"\n\
         [[drops]]\ncenter = \"-2.23 1.11 1.92 mm\"\nvolume = \"14.85 uL\"\nvelocity = \"0.03 -1.39 0 m/s\"\n"
    ));
    let mut most: f64 = 0.0;
    while volume.time() < 2e-3 {
        volume.step(1.0, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        most = most.max(volume.fluid.state.max_speed());
    }
    assert!(most < 12.0, "{most:.1} m/s");
}

/// A sphere falls on a cap: they merge, the larger one's id survives, and no liquid is lost.
#[test]
fn volume_is_conserved_when_two_drops_coalesce() {
    let mut volume = build(TWO_DROPS);
    let mut merged = 0;
    let is_merge = |event: &&Event| matches!(event, Event::Merge { merge, .. } if merge[..] == [1, 2]);
    while volume.time() < 0.01 {
        let report = volume.step(0.01 - volume.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        merged += report.events.iter().filter(is_merge).count();
    }
    let frame = volume.frame();
    assert_eq!((merged, frame.drops.len(), frame.drops[0].id), (1, 1, 1), "merges of 1 and 2, drops, name");
    let present: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
    let gap = (present + frame.balance.lost) / frame.balance.added - 1.0;
    assert!(gap.abs() < 1e-12, "the volume balance is off by {gap:.1e}");
}

/// A run that is interrupted and resumed is bit-identical, and so is one with any number of
/// threads. The sphere is fast enough to carry particles.
#[test]
fn threads_and_interruptions_leave_a_run_bit_identical() {
    let scene = TWO_DROPS.replace("0 -0.3 0 m/s", "0 -0.6 0 m/s");
    let run = |threads: usize, interrupted: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut volume = build(&scene);
            let mut most_particles = 0;
            for step in 0..60 {
                volume.step(1.0 - volume.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
                most_particles = most_particles.max(volume.fluid.state.particles.len());
                if interrupted && step % 23 == 11 {
                    let saved = volume.save();
                    volume = build(&scene);
                    volume.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
                }
            }
            assert!(most_particles > 500, "{most_particles} particles: too few to test them");
            (volume.save(), surface(&volume.frame()).clone())
        })
    };
    let plain = run(1, false);
    assert!(plain == run(3, false), "three threads gave other bytes than one");
    assert!(plain == run(2, true), "interruptions changed the bytes");
}

/// Half width of the wetted segment, in m, and the angle of a circular cap of that width and the
/// drop's area, in degrees.
fn half_width_and_cap_angle(volume: &Volume) -> (f64, f64) {
    let frame = volume.frame();
    let on_wall = || surface(&frame).positions.iter().filter(|p| p.y.abs() < 1e-9).map(|p| p.x);
    let half = 0.5 * (on_wall().fold(f64::NEG_INFINITY, f64::max) - on_wall().fold(f64::INFINITY, f64::min));
    let area = frame.drops[0].volume;
    // A = a² (θ − sin θ cos θ)/sin²θ rises with θ.
    let (mut low, mut high) = (0.01, 3.1);
    for _ in 0..60 {
        let theta: f64 = 0.5 * (low + high);
        let cap = half * half * (theta - theta.sin() * theta.cos()) / theta.sin().powi(2);
        if cap < area { low = theta } else { high = theta }
    }
    (half, low.to_degrees())
}

/// A weightless drop is drained until its line has receded, then fed: over the surface it has left
/// it advances at the wet angle, beyond it at the dry one.
#[test]
fn a_line_advances_at_the_wet_angle_over_surface_that_has_been_wet() {
    let mut volume = build(&format!(
        "settle = true\n{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"0.1 mm\"\n\
         [materials.m]\nadvancing = \"84 deg\"\nwet_advancing = \"75 deg\"\nreceding = \"55 deg\"\n\
         [[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n\
         [[drops]]\nshape = \"cap\"\non = \"p\"\ncenter = \"0.013 0 0 mm\"\narea = \"2 mm^2\"\ncontact_angle = \"60 deg\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0 0.5 0 mm\"\nrate = \"-12 mm^2/s\"\nstop = \"80 ms\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0 0.5 0 mm\"\nrate = \"24 mm^2/s\"\nstart = \"90 ms\"\n"
    ));
    let (first, _) = half_width_and_cap_angle(&volume);
    run_to(&mut volume, 0.09);
    let (drained, receding) = half_width_and_cap_angle(&volume);
    println!("first {:.3} mm, drained {:.3} mm at {receding:.1}°", 1e3 * first, 1e3 * drained);
    let (mut wet, mut dry) = (Vec::new(), Vec::new());
    for step in 1..=24 {
        run_to(&mut volume, 0.09 + 5e-3 * f64::from(step));
        let (half, angle) = half_width_and_cap_angle(&volume);
        println!("{:.0} ms: {:.3} mm at {angle:.1}°", 1e3 * volume.time(), 1e3 * half);
        if half > drained + 1.5e-4 && half < first - 1.5e-4 {
            wet.push(angle);
        } else if half > first + 5e-5 {
            dry.push(angle);
        }
    }
    let mean = |angles: &[f64]| angles.iter().sum::<f64>() / angles.len() as f64;
    assert!((receding - 55.0).abs() < 4.0, "receding at {receding:.1}°, not 55°");
    assert!((mean(&wet) - 75.0).abs() < 4.0, "over wet ground it advances at {wet:.1?}, not 75°");
    assert!((mean(&dry) - 84.0).abs() < 4.0, "over dry ground it advances at {dry:.1?}, not 84°");
}

/// A drop that is drained below what the grid resolves becomes spray, falls on a larger one, and
/// coalesces with it; the volume balance is unaffected.
#[test]
fn volume_is_conserved_when_spray_leaves_the_grid_and_returns() {
    let mut volume = build(&format!(
        "{WATER}[resolution]\ncell = \"0.1 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0 0 0 mm\"\nradius = \"0.6 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.1 1.4 0.1 mm\"\nradius = \"0.26 mm\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0.1 1.3 0.1 mm\"\nrate = \"-100 uL/s\"\nstop = \"1 ms\"\n\
         [[emitters]]\nkind = \"rain\"\nover = {{ min = \"-0.3 -2 -0.3 mm\", max = \"0.3 2 0.3 mm\" }}\nrate = \"9e5 mm/h\"\n\
         radius = \"0.13 mm\"\nvelocity = \"0 -1 0 m/s\"\nstart = \"1 ms\"\nstop = \"2 ms\"\n"
    ));
    let (mut merged, mut flown) = (Vec::new(), false);
    while volume.time() < 8e-3 {
        let report = volume.step(1.0 - volume.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
        merged.extend(report.events.into_iter().filter(|event| matches!(event, Event::Merge { .. })));
        let frame = volume.frame();
        let present: f64 = frame.drops.iter().map(|drop| drop.volume).sum();
        let gap = (present + frame.balance.lost) / frame.balance.added - 1.0;
        assert!(gap.abs() < 1e-12, "{:.2} ms: the volume balance is off by {gap:.1e}", 1e3 * volume.time());
        flown |= frame.drops.iter().any(|drop| drop.id == 2 && drop.volume < 27e-12);
    }
    assert!(flown, "the drained drop never was small");
    let frame = volume.frame();
    assert!(merged.len() > 1 && frame.drops.len() < 4, "{merged:?}, then {:?}", frame.drops);
}

/// A drop leaves through an open side: nothing holds it back at the side, and all of it is lost
/// once it is outside.
#[test]
fn a_drop_that_leaves_the_domain_is_lost_entirely() {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"0.1 mm\"\n[domain]\nmin = \"-3 -3 -3 mm\"\nmax = \"2 3 3 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"1 0 0 mm\"\nradius = \"0.6 mm\"\nvelocity = \"0.4 0 0 m/s\"\n"
    ));
    run_to(&mut volume, 3e-3);
    let frame = volume.frame();
    let speed = frame.drops[0].velocity.x;
    assert!(
        (speed - 0.4).abs() < 0.01 && frame.balance.lost == 0.0,
        "half outside, at {speed:.3} m/s: {:?}",
        frame.balance
    );
    run_to(&mut volume, 6e-3);
    let frame = volume.frame();
    let gap = frame.balance.lost / frame.balance.added - 1.0;
    assert!(
        frame.drops.is_empty() && gap.abs() < 1e-12,
        "{:?} left, the volume balance is off by {gap:.1e}",
        frame.drops
    );
}

/// The total drag of the wind on a drop: ½ρ_air C_D A_f w² with A_f its frontal area, here a disc's
/// width.
#[test]
fn wind_drags_a_drop_by_its_frontal_area() {
    let mut volume = build(&format!(
        "{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\nwind = \"6 2 0 m/s\"\n\
         [resolution]\ncell = \"0.1 mm\"\n\
         [[drops]]\nshape = \"sphere\"\ncenter = \"0.013 0.027 0 mm\"\nradius = \"1 mm\"\n"
    ));
    run_to(&mut volume, 2e-3);
    let velocity = volume.frame().drops[0].velocity;
    let wind = DVec3::new(6.0, 2.0, 0.0);
    // ρ_air = 1.2 kg/m³, C_D = 0.35; mass per length 1000 π R², width 2R.
    let expected = wind * (0.5 * 1.2 * 0.35 * wind.length() * 2e-3 / (1000.0 * std::f64::consts::PI * 1e-6) * 2e-3);
    let error = (velocity - expected).length() / expected.length();
    assert!(error < 0.1, "{velocity:.5} m/s after 2 ms, not {expected:.5}");
}

/// The paper's operators: virtual surface, first-order pressure, linear semi-Lagrangian advection,
/// constant step. Drops come to rest near their angle; eq. 10 holds them between two.
#[test]
fn paper_fidelity_settles_drops_near_their_angle() {
    for (degrees, tolerance) in [(60.0, 4.0), (120.0, 6.0)] {
        let tables = format!(
            "settle = true\n{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
             [resolution]\ncell = \"0.1 mm\"\n[volume]\ndt = \"4e-5 s\"\n"
        ) + &text::material("m", degrees, degrees)
            + "[[solids]]\nname = \"p\"\nmaterial = \"m\"\nshape = \"plane\"\n"
            + &text::cap("p", [0.013, 0.0, 0.0], "area = \"4 mm^2\"", 90.0);
        let mut volume = build_with("fidelity = \"paper\"", &tables);
        run_to(&mut volume, 0.06);
        let (_, angle) = half_width_and_cap_angle(&volume);
        println!("{degrees}°: {angle:.1}°");
        assert!((angle - degrees).abs() < tolerance, "rests at {angle:.1}°, not {degrees}°");
    }
}

/// A band of liquid through a periodic domain holds what lies in one period, however long it was
/// specified.
#[test]
fn a_body_longer_than_the_period_counts_once() {
    let volume = build(&format!(
        "{WATER}[world]\nplanar = true\ngravity = \"0 0 0 m/s^2\"\n\
         [resolution]\ncell = \"0.125 mm\"\n[domain]\nmin = \"-2 -4 -1 mm\"\nmax = \"2 4 1 mm\"\nx = \"periodic\"\n\
         [[drops]]\nshape = \"box\"\nmin = \"-9 -1 -1 mm\"\nmax = \"9 1 1 mm\"\n"
    ));
    let area = volume.frame().drops[0].volume;
    assert!((area / 8e-6 - 1.0).abs() < 1e-3, "{area:.3e} m² of 8e-6");
}
