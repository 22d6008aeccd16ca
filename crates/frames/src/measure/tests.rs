//! Measures of bodies with exactly known values.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::*;
use crate::frame::{Ids, VolumeBalance};
use crate::instances::{samples, surface_of};
use crate::testing::caps::{on_ball, on_floor};
use crate::testing::{Ball, Floor};

fn state(id: u32, volume: f64) -> DropState {
    DropState { id, volume, velocity: DVec3::new(0.1, -0.0, 0.0), speed_max: 0.2, pressure: Some(146.0) }
}

/// Adds a drop to a frame's surface.
fn push(surface: &mut Surface, drop: &DropSurface, id: u32, shift: DVec3) {
    let base = surface.positions.len() as u32;
    surface.positions.extend(drop.positions.iter().map(|&p| p + shift));
    surface.velocities.resize(surface.positions.len(), DVec3::ZERO);
    surface.drops.resize(surface.positions.len(), id);
    surface.triangles.extend(drop.triangles.iter().map(|t| t.map(|v| v + base)));
    surface.solids.extend(&drop.solids);
}

fn frame_of(surface: Surface, drops: Vec<DropState>) -> Frame {
    Frame { time: 0.25, liquid: FrameGeometry::Surfaces(surface), drops, ..Frame::default() }
}

const TABLE: Solid<'static> = Solid { name: "table", shape: &Floor };

#[track_caller]
fn near(what: &str, got: f64, expected: f64, tolerance: f64) {
    let error = (got - expected).abs() / expected.abs().max(1e-30);
    assert!(error <= tolerance, "{what}: {got}, expected {expected}, off by {error:.2e}");
}

/// A unit hemisphere: V = 2π/3, centroid at 3/8, wetted π, free 2π. An inscribed mesh of 5000
/// triangles is short by 1e-3 or so.
#[test]
fn a_hemisphere_has_the_exact_measures() {
    let mut surface = Surface::default();
    push(&mut surface, &on_floor(FRAC_PI_2, 5000, 0.2), 7, DVec3::new(3.0, 0.0, 0.0));
    let frame = frame_of(surface, vec![state(7, 2.094)]);
    let measures = measure(&frame, 3, &[], MeasureContext { solids: &[TABLE], planar: None, domain: None }).unwrap();
    let drop = &measures.drops[0];
    assert_eq!((drop.id, drop.on.as_deref(), drop.pressure), (7, Some("table"), Some(146.0)));
    near("volume of the model", drop.volume, 2.094, 0.0);
    near("centroid x", drop.centroid.x, 3.0, 1e-3);
    near("centroid y", drop.centroid.y, 0.375, 2e-3);
    near("height", drop.height, 1.0, 1e-9);
    near("wetted area", drop.wetted_area, PI, 5e-3);
    near("surface area", drop.surface_area, TAU, 2e-3);
    near("base radius", drop.base_radius, 1.0, 3e-3);
    near("max radius", drop.max_radius, 1.0, 2e-3);
    let angle = drop.contact_angle_deg.unwrap();
    near("contact angle", angle.mean, 90.0, 1e-6);
    assert!(angle.min <= angle.mean && angle.mean <= angle.max);
    assert_eq!(drop.contacts.len(), 1);
    assert_eq!(drop.contacts[0].contact_angle_deg, drop.contact_angle_deg);
    assert!(!measures.to_json().contains("-0.0,"), "{}", measures.to_json());
}

/// On a sphere the height is measured along its radius, and the axis of max_radius along its
/// normal.
#[test]
fn on_a_sphere_height_and_radius_are_measured_along_its_normal() {
    let (drop, center) = on_ball(FRAC_PI_2, 2.0, 3000, 0.0);
    let mut surface = Surface::default();
    push(&mut surface, &drop, 1, DVec3::ZERO);
    // The scene is rotated by 90°: the drop is beside the sphere.
    for position in &mut surface.positions {
        *position = DVec3::new(position.y, -position.x, position.z);
    }
    let ball = Ball { center: DVec3::new(center.y, -center.x, center.z), radius: 2.0 };
    let solids = [TABLE, Solid { name: "ball", shape: &ball }];
    for solid in surface.solids.iter_mut().filter(|solid| **solid == 0) {
        *solid = 1;
    }
    let measures = measure(
        &frame_of(surface, vec![state(1, 2.0)]),
        0,
        &[],
        MeasureContext { solids: &solids, planar: None, domain: None },
    )
    .unwrap();
    let drop = &measures.drops[0];
    assert_eq!(drop.on.as_deref(), Some("ball"));
    near("height", drop.height, 1.0 - center.y.abs().mul_add(-1.0, 2.0), 1e-9);
    near("max radius", drop.max_radius, 1.0, 5e-3);
    near("contact angle", drop.contact_angle_deg.unwrap().mean, 90.0, 1e-6);
}

#[test]
fn a_drop_in_flight_is_on_no_solid_and_its_height_is_its_extent() {
    let instances = samples::row(1);
    let radius = (3.0 * instances[0].volume / (4.0 * PI)).cbrt();
    let frame = Frame { liquid: FrameGeometry::Instances(instances), drops: vec![state(1, 1e-9)], ..Frame::default() };
    let drop = &measure(&frame, 0, &[], MeasureContext::default()).unwrap().drops[0];
    assert_eq!((&drop.on, drop.contact_angle_deg, drop.contacts.len()), (&None, None, 0));
    near("height", drop.height, 2.0 * radius, 0.1);
    near("max radius", drop.max_radius, radius, 0.1);
    near("surface area", drop.surface_area, 4.0 * PI * radius * radius, 0.1);
    assert_eq!((drop.wetted_area, drop.base_radius), (0.0, 0.0));
}

/// A drop in a corner: on the floor it has a square meter, on the wall half of one.
#[test]
fn a_drop_is_on_the_solid_with_most_of_its_wetted_area() {
    struct Wall;
    impl Distance for Wall {
        fn signed_distance(&self, point: DVec3) -> f64 {
            point.x
        }
        fn closest(&self, point: DVec3) -> Closest {
            let uv = DVec2::ZERO;
            Closest { point: point.with_x(0.0), normal: DVec3::X, distance: point.x, uv }
        }
    }
    // A prism with right-angled section: legs 1 on the floor and ½ on the wall, length 1.
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]];
    let positions = (0..6).map(|k| DVec3::new(corners[k % 3][0], corners[k % 3][1], (k / 3) as f64)).collect();
    let prism = DropSurface {
        positions,
        triangles: vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [0, 3, 5], [0, 5, 2], [1, 2, 5], [1, 5, 4]],
        solids: vec![-1, -1, 1, 1, 0, 0, -1, -1],
    };
    let solids = [Solid { name: "wall", shape: &Wall }, Solid { name: "floor", shape: &Floor }];
    let mut surface = Surface::default();
    push(&mut surface, &prism, 1, DVec3::ZERO);
    let frame = frame_of(surface, vec![state(1, 0.25)]);
    let spatial =
        &measure(&frame, 0, &[], MeasureContext { solids: &solids, planar: None, domain: None }).unwrap().drops[0];
    assert_eq!(spatial.on.as_deref(), Some("floor"));
    near("height over the floor", spatial.height, 0.5, 1e-12);
    near("wetted", spatial.wetted_area, 1.5, 1e-12);
    near("free, ends included", spatial.surface_area, 1.25_f64.sqrt() + 0.5, 1e-12);
    let names: Vec<_> = spatial.contacts.iter().map(|c| (c.solid.as_str(), c.wetted_area)).collect();
    assert_eq!(names, [("wall", 0.5), ("floor", 1.0)]);

    // The same as a planar run of thickness 1: the end faces are left out, and the angles are those
    // of the section.
    let planar =
        &measure(&frame, 0, &[], MeasureContext { solids: &solids, planar: Some(1.0), domain: None }).unwrap().drops[0];
    near("free length", planar.surface_area, 1.25_f64.sqrt(), 1e-12);
    near("half the wetted length", planar.base_radius, 0.75, 1e-12);
    let angle = |k: usize| planar.contacts[k].contact_angle_deg.unwrap();
    near("angle on the wall", angle(0).mean, 2.0_f64.atan().to_degrees(), 1e-9);
    near("angle on the floor", angle(1).max, 0.5_f64.atan().to_degrees(), 1e-9);
}

/// The upright side of a wedge lies in a mirror: it is no part of the interface, and has no contact
/// line.
#[test]
fn a_cut_at_a_side_of_the_domain_is_not_measured() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let prism = DropSurface {
        positions: (0..6).map(|k| DVec3::new(corners[k % 3][0], corners[k % 3][1], (k / 3) as f64)).collect(),
        triangles: vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [0, 3, 5], [0, 5, 2], [1, 2, 5], [1, 5, 4]],
        solids: vec![-1, -1, 0, 0, -1, -1, -1, -1],
    };
    let mut surface = Surface::default();
    push(&mut surface, &prism, 1, DVec3::ZERO);
    let frame = frame_of(surface, vec![state(1, 0.5)]);
    let domain = Some([DVec3::new(0.0, -1.0, -5.0), DVec3::splat(5.0)]);
    let context = MeasureContext { solids: &[TABLE], planar: Some(1.0), domain };
    let drop = &measure(&frame, 0, &[], context).unwrap().drops[0];
    near("free length", drop.surface_area, 2f64.sqrt(), 1e-12);
    let angle = drop.contact_angle_deg.unwrap();
    near("least angle", angle.min, 45.0, 1e-9);
    near("largest angle", angle.max, 45.0, 1e-9);
}

/// A planar cap is a slab that is curved in one direction; its angle is that of the circle.
/// Measured: within 0.1° at 60 edges.
#[test]
fn the_angle_of_a_planar_cap_is_that_of_its_section() {
    let (n, thickness) = (60_u32, 0.1);
    for degrees in [40.0_f64, 90.0, 140.0] {
        let theta = degrees.to_radians();
        let mut slab = DropSurface::default();
        for k in 0..=n {
            let a = theta * (1.0 - 2.0 * f64::from(k) / f64::from(n));
            let y = if k == 0 || k == n { 0.0 } else { a.cos() - theta.cos() };
            slab.positions.extend([0.0, thickness].map(|z| DVec3::new(-a.sin(), y, z)));
        }
        for k in 0..n {
            let [a, b, c, d] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3];
            slab.triangles.extend([[a, b, c], [b, d, c]]);
            slab.triangles.extend([[0, a, c], [1, d, b]]);
            slab.solids.extend([-1; 4]);
        }
        let [a, b, c, d] = [0, 1, 2 * n, 2 * n + 1];
        slab.triangles.extend([[a, c, b], [b, c, d]]);
        slab.solids.extend([0; 2]);
        let mut surface = Surface::default();
        push(&mut surface, &slab, 1, DVec3::ZERO);
        let setting = MeasureContext { solids: &[TABLE], planar: Some(thickness), domain: None };
        let drop = &measure(&frame_of(surface, vec![state(1, 1.0)]), 0, &[], setting).unwrap().drops[0];
        near("angle", drop.contact_angle_deg.unwrap().mean, degrees, 0.2 / degrees);
        near("wetted length", drop.wetted_area, 2.0 * theta.sin(), 1e-12);
        near("free length", drop.surface_area, 2.0 * theta, 1e-3);
    }
}

#[test]
fn the_volume_balance_is_copied_and_the_total_includes_the_film() {
    let mut frame = frame_of(Surface::default(), vec![]);
    frame.balance = VolumeBalance { added: 5.0, lost: 2.0, film: 3.0, evaporated: 0.0 };
    let events = [Event::Merge { merge: Ids::from_slice(&[3, 7]), into: 3 }];
    let measures = measure(&frame, 9, &events, MeasureContext::default()).unwrap();
    assert_eq!((measures.frame, measures.time, measures.events.as_slice()), (9, 0.25, &events[..]));
    assert_eq!(
        (measures.total_volume, measures.lost_volume, measures.added_volume, measures.film_volume),
        (3.0, 2.0, 5.0, 3.0)
    );
}

#[test]
fn inconsistent_frames_are_distinct_errors() {
    let whole = || {
        let mut surface = Surface::default();
        push(&mut surface, &on_floor(1.0, 100, 0.0), 4, DVec3::ZERO);
        surface
    };
    let setting = MeasureContext { solids: &[TABLE], planar: None, domain: None };
    let error = |surface, drops| measure(&frame_of(surface, drops), 2, &[], setting).unwrap_err().to_string();
    assert_eq!(error(whole(), vec![]), "frame 2: drop 4 has a surface but no state");
    assert_eq!(error(whole(), vec![state(4, 1.0), state(5, 1.0)]), "frame 2: drop 5 has a state but no surface");
    assert_eq!(
        error(whole(), vec![state(4, 1.0), state(4, 1.0)]),
        "frame 2: drop 4 has its state twice or out of order"
    );
    assert_eq!(error(whole(), vec![state(4, f64::NAN)]), "frame 2: the volume is not finite in drop 4");
    let mut surface = whole();
    surface.solids[0] = 1;
    assert_eq!(error(surface, vec![state(4, 1.0)]), "frame 2: a face lies on solid 1, but there are 1 solids");
    let mut surface = whole();
    surface.positions[3].x = f64::INFINITY;
    assert_eq!(error(surface, vec![state(4, 1.0)]), "frame 2: vertex 3: its position is not finite");

    let instances = |ids: &[u32]| {
        let liquid = FrameGeometry::Instances(samples::row(2));
        let frame = Frame { liquid, drops: ids.iter().map(|&id| state(id, 1.0)).collect(), ..Frame::default() };
        measure(&frame, 2, &[], setting).unwrap_err().to_string()
    };
    assert_eq!(instances(&[1]), "frame 2: drop 2 has a surface but no state");
    assert_eq!(instances(&[1, 2, 3]), "frame 2: drop 3 has a state but no surface");
    assert_eq!(instances(&[2, 3]), "frame 2: drop 1 has a surface but no state");
}

#[test]
fn instances_are_measured_like_their_surfaces_for_any_number_of_threads() {
    let instances = samples::row(60);
    let drops: Vec<DropState> = instances.iter().map(|i| state(i.drop, i.volume)).collect();
    let surface = surface_of(&instances).unwrap();
    let as_surface = frame_of(surface, drops.clone());
    let as_instances = Frame { time: 0.25, liquid: FrameGeometry::Instances(instances), drops, ..Frame::default() };
    let on = |threads, frame: &Frame| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            measure(frame, 0, &[], MeasureContext { solids: &[TABLE], planar: None, domain: None }).unwrap().to_json()
        })
    };
    let one = on(1, &as_surface);
    assert_eq!(on(4, &as_surface), one);
    assert_eq!(on(3, &as_instances), one);
}

#[test]
fn measures_of_a_drop_do_not_depend_on_other_drops() {
    let cap = on_floor(1.2, 100, 0.2);
    let mut surface = Surface::default();
    for k in 0..10_000 {
        push(&mut surface, &cap, k, DVec3::new(f64::from(k) * 3.0, 0.0, 0.0));
    }
    let frame = frame_of(surface, (0..10_000).map(|id| state(id, 1.0)).collect());
    let measures = measure(&frame, 0, &[], MeasureContext { solids: &[TABLE], planar: None, domain: None }).unwrap();
    assert_eq!((measures.drops.len(), measures.triangles as usize), (10_000, 10_000 * cap.triangles.len()));
    let first = &measures.drops[0];
    for (k, drop) in measures.drops.iter().enumerate() {
        assert_eq!(drop.id as usize, k);
        // Thirty kilometers from the origin, eleven of sixteen digits are left of a meter.
        near("centroid from its place", 1.0 + drop.centroid.x - 3.0 * k as f64, 1.0 + first.centroid.x, 1e-9);
        near("height", drop.height, first.height, 1e-9);
        near("wetted area", drop.wetted_area, first.wetted_area, 1e-9);
        near("surface area", drop.surface_area, first.surface_area, 1e-9);
    }
}

/// An instance on a plane is measured against that plane, with the same result as against the
/// solid.
#[test]
fn an_instance_on_a_plane_is_measured_like_its_surface_on_the_solid() {
    use sessile_shapes::{Body, Draped, LocalFrame, Profile, SubstrateOffsets};
    let profile = Profile {
        body: 4e-9,
        base_radius: 1.25e-3,
        height: 1.2e-3,
        angle: FRAC_PI_2,
        capillary_length: 2.7e-3,
        lean: DVec2::new(1e-4, 0.0),
        heading: DVec2::X,
        stretch: 0.3,
    };
    let instance = Instance {
        drop: 1,
        solid: Some(0),
        frame: LocalFrame { origin: DVec3::X, axes: glam::DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y) },
        volume: 4e-9,
        velocity: DVec3::ZERO,
        shape: Shape::Draped(Box::new(Draped { body: Body::Profile(profile), substrate: SubstrateOffsets::default() })),
    };
    let setting = MeasureContext { solids: &[TABLE], planar: None, domain: None };
    let measured = |liquid: FrameGeometry| {
        let frame = Frame { liquid, drops: vec![state(1, 4e-9)], ..Frame::default() };
        measure(&frame, 0, &[], setting).unwrap().drops.remove(0)
    };
    let surface = measured(FrameGeometry::Surfaces(surface_of(std::slice::from_ref(&instance)).unwrap()));
    let own = measured(FrameGeometry::Instances(vec![instance]));
    near("height", own.height, surface.height, 1e-9);
    near("contact angle", own.contact_angle_deg.unwrap().mean, surface.contact_angle_deg.unwrap().mean, 1e-9);
    assert_eq!((own.on, own.wetted_area, own.surface_area), (surface.on, surface.wetted_area, surface.surface_area));
}
