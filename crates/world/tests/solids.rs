//! Solids in the world: frames, poses, motion, materials.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::common::*;
use glam::{DMat3, DQuat, DVec2, DVec3};
use sessile_scene::types::*;
use sessile_world::{Pose, World, WorldError};

fn build(solids: Vec<Solid>) -> World {
    World::build(&with_solids(solids)).expect("a world")
}

/// One of each shape, placed askew.
fn one_solid_of_each_shape() -> Vec<Solid> {
    let shapes = [
        SolidShape::Plane { point: DVec3::new(0.1, 0.2, 0.0), normal: DVec3::new(0.6, 0.8, 0.0), size: [0.3, 0.4] },
        SolidShape::Box { min: DVec3::new(-0.1, 0.0, 0.0), max: DVec3::new(0.1, 0.3, 0.2) },
        SolidShape::Sphere { center: DVec3::new(0.0, 0.1, 0.2), radius: 0.1, inside: false },
        SolidShape::Sphere { center: DVec3::ZERO, radius: 0.3, inside: true },
        SolidShape::Cylinder { from: DVec3::ZERO, to: DVec3::new(0.3, 0.1, 0.0), radius: 0.05, wall: None },
        SolidShape::Cylinder { from: DVec3::ZERO, to: DVec3::new(0.0, 0.3, 0.0), radius: 0.05, wall: Some(0.01) },
        SolidShape::Leaf {
            point: DVec3::new(0.0, 0.1, 0.0),
            axis: DVec3::new(15f64.to_radians().cos(), 15f64.to_radians().sin(), 0.0),
            angle: 120f64.to_radians(),
            size: [0.3, 0.2],
        },
    ];
    let place = |(i, shape): (usize, SolidShape)| Solid {
        rotate: DVec3::new(0.3, -0.2, 0.5),
        shift: DVec3::new(0.01, 0.02, -0.03),
        ..solid(&format!("solid{i}"), shape)
    };
    shapes.into_iter().enumerate().map(place).collect()
}

#[test]
fn a_window_has_v_up_and_u_across() {
    let world = build(vec![plane("window", DVec3::Z, [1.0, 2.0])]);
    let frame = world.solids()[0].plane_frame().expect("a plane");
    assert_eq!((frame.u, frame.v, frame.normal, frame.size), (DVec3::X, DVec3::Y, DVec3::Z, [1.0, 2.0]));
}

#[test]
fn a_floor_has_u_along_x_and_v_along_minus_z() {
    let world = build(vec![plane("floor", DVec3::Y, [1.0, 2.0])]);
    let frame = world.solids()[0].plane_frame().expect("a plane");
    assert_eq!((frame.u, frame.v, frame.normal), (DVec3::X, DVec3::NEG_Z, DVec3::Y));
}

#[test]
fn a_plane_frame_is_right_handed_with_v_up_the_slope() {
    for normal in [DVec3::new(0.3, 0.5, -0.8), DVec3::new(-1.0, -0.2, 0.4), DVec3::NEG_Y, DVec3::new(1e-9, 1.0, 0.0)] {
        let frame = build(vec![plane("p", normal, [1.0, 1.0])]).solids()[0].plane_frame().expect("a plane");
        let handed = frame.u.cross(frame.v).distance(frame.normal);
        assert!(handed < 1e-14, "u × v is {handed:.1e} from the normal of {normal}");
        let level = frame.u.y.abs();
        assert!(level < 1e-8, "u rises by {level} on the plane of normal {normal}");
        assert!(frame.v.y > -1e-8, "v falls on the plane of normal {normal}");
    }
}

/// The mesh lies on the distance's zero, faces outwards and carries the query's texture
/// coordinates, at any pose.
#[test]
fn every_solid_agrees_with_its_mesh_at_any_pose() {
    let mut world = build(one_solid_of_each_shape());
    for index in 0..world.solids().len() {
        world.move_solid(index, Pose::new(DQuat::from_rotation_y(0.7), DVec3::new(0.1, 0.0, -0.2))).expect("a pose");
    }
    for solid in world.solids() {
        let mesh = solid.mesh();
        assert_eq!(mesh.triangles.len(), mesh.corner_uvs.len());
        for t in (0..mesh.triangles.len()).step_by(7) {
            let [a, b, c] = mesh.corners(t).map(|p| solid.world_from_rest().apply(p));
            let middle = (a + b + c) / 3.0;
            let near = solid.closest(middle);
            // Facets of curved solids sag by less than 1e-3 of the radius; corners are on the
            // surface.
            assert!(near.distance.abs() < 3e-4, "{}: facet {t} is {} m off", solid.name(), near.distance);
            for corner in [a, b, c] {
                let off = solid.signed_distance(corner).abs();
                assert!(off < 1e-14, "{}: a corner of facet {t} is {off:.1e} m off", solid.name());
            }
            let facing = (b - a).cross(c - a).normalize().dot(near.normal);
            assert!(facing > 0.99, "{}: facet {t} faces {facing} along the normal", solid.name());
            let uv = mesh.corner_uvs[t].iter().sum::<DVec2>() / 3.0;
            assert!(uv.distance(near.uv) < 5e-3, "{}: facet {t} says {uv}, a query {}", solid.name(), near.uv);
        }
    }
}

#[test]
fn a_cap_meets_the_nearest_solid_first() {
    let world = build(vec![
        plane("floor", DVec3::Y, [1.0, 1.0]),
        solid("ball", SolidShape::Sphere { center: DVec3::new(0.0, 0.5, 0.0), radius: 0.1, inside: false }),
    ]);
    let (index, near) = world.closest(DVec3::new(0.0, 0.3, 0.0)).expect("two solids");
    assert_eq!(index, 1);
    assert!((near.distance - 0.1).abs() < 1e-15 && near.normal.distance(DVec3::NEG_Y) < 1e-15, "{near:?}");
    assert_eq!(world.signed_distance(DVec3::new(0.3, 0.05, 0.0)), 0.05);
    assert!(World::build(&empty()).expect("a world").closest(DVec3::ZERO).is_none());
}

#[test]
fn placement_rotates_a_shape_about_its_origin() {
    let mut rod = solid("rod", SolidShape::Cylinder { from: DVec3::X, to: DVec3::X * 3.0, radius: 0.1, wall: None });
    rod.rotate = DVec3::new(0.0, 0.0, FRAC_PI_2);
    rod.shift = DVec3::Y;
    let world = build(vec![rod]);
    let ends = [DVec3::new(2.0, 0.0, 0.0), DVec3::new(2.0, 2.0, 0.0)];
    for end in ends {
        let distance = world.solids()[0].signed_distance(end);
        assert!(distance.abs() < 1e-15, "the end at {end} is {distance} m away");
    }
}

/// Keys move a solid, its distance and its velocity; the velocity is the path's derivative.
#[test]
fn a_keyframed_solid_reports_its_velocity() {
    let mut paddle = solid("paddle", SolidShape::Box { min: DVec3::splat(-0.1), max: DVec3::splat(0.1) });
    paddle.shift = DVec3::X;
    paddle.motion = vec![
        MotionKey { at: 0.0, shift: DVec3::ZERO, rotate: DVec3::ZERO },
        MotionKey { at: 2.0, shift: DVec3::new(0.0, 1.0, 0.0), rotate: DVec3::new(0.0, 0.0, PI) },
    ];
    let mut world = build(vec![paddle]);
    world.advance_to(1.0);
    let solid = &world.solids()[0];
    // Half way: center at (1, 0.5), turned by 90°.
    let distance = solid.signed_distance(DVec3::new(1.0, 0.8, 0.0));
    assert!((distance - 0.2).abs() < 1e-15, "distance {distance}");
    let velocity = solid.velocity_at(DVec3::new(1.1, 0.5, 0.0));
    let expected = DVec3::new(0.0, 0.5 + 0.1 * FRAC_PI_2, 0.0);
    assert!(velocity.distance(expected) < 1e-14, "velocity {velocity}, expected {expected}");
    world.advance_to(5.0);
    assert_eq!(world.solids()[0].velocity_at(DVec3::ZERO), DVec3::ZERO);
}

#[test]
fn gravity_is_interpolated_between_its_keys() {
    let mut scene = empty();
    scene.world.gravity.keys = vec![(1.0, DVec3::ZERO), (3.0, DVec3::new(0.0, -8.0, 2.0))];
    let mut world = World::build(&scene).expect("a world");
    for (time, expected) in [(0.0, DVec3::ZERO), (1.5, DVec3::new(0.0, -2.0, 0.5)), (9.0, DVec3::new(0.0, -8.0, 2.0))] {
        world.advance_to(time);
        assert_eq!(world.gravity(), expected, "at {time} s");
    }
}

#[test]
fn a_motion_override_replaces_the_keyframes() {
    let mut button = solid("button", SolidShape::Sphere { center: DVec3::X, radius: 0.1, inside: false });
    button.motion = vec![
        MotionKey { at: 0.0, shift: DVec3::ZERO, rotate: DVec3::ZERO },
        MotionKey { at: 1.0, shift: DVec3::Y, rotate: DVec3::ZERO },
    ];
    let mut world = build(vec![button]);
    world.advance_to(0.5);
    let target = Pose { rotation: DMat3::IDENTITY, translation: DVec3::new(0.2, 0.5, 0.0) };
    world.move_solid_over(0, target, 0.1).expect("a motion");
    world.advance_to(0.55);
    let solid = &world.solids()[0];
    assert!(solid.world_from_rest().translation.distance(DVec3::new(0.1, 0.5, 0.0)) < 1e-15);
    assert!(solid.velocity_at(DVec3::ZERO).distance(DVec3::X * 2.0) < 1e-14, "{:?}", solid.velocity());
    world.advance_to(0.9);
    assert_eq!(*world.solids()[0].world_from_rest(), target);
    assert_eq!(world.solids()[0].velocity_at(DVec3::ZERO), DVec3::ZERO);
}

#[test]
fn a_restored_world_continues_identically() {
    let mut world = build(one_solid_of_each_shape());
    world.advance_to(0.3);
    let pose = Pose::new(DQuat::from_rotation_x(0.2), DVec3::Y);
    world.move_solid_over(2, pose, 0.4).expect("a motion");
    let state = world.save();
    let mut other = build(one_solid_of_each_shape());
    other.restore(&state).expect("the same scene");
    for w in [&mut world, &mut other] {
        w.advance_to(0.5);
    }
    let p = DVec3::new(0.05, 0.2, -0.1);
    for (a, b) in world.solids().iter().zip(other.solids()) {
        assert_eq!((a.signed_distance(p), a.velocity_at(p)), (b.signed_distance(p), b.velocity_at(p)));
    }
    let error = build(vec![]).restore(&state).expect_err("another scene");
    assert_eq!(error, WorldError::StateMismatch { expected: 0, found: 7 });
}

#[test]
fn invalid_poses_are_errors() {
    let mut world = build(one_solid_of_each_shape());
    let bent = Pose { rotation: DMat3::from_diagonal(DVec3::new(2.0, 1.0, 1.0)), translation: DVec3::ZERO };
    assert!(matches!(world.move_solid(0, bent), Err(WorldError::Pose { .. })));
    assert!(matches!(world.move_solid_over(0, Pose::IDENTITY, -1.0), Err(WorldError::Pose { .. })));
    let error = world.move_solid(99, Pose::IDENTITY).expect_err("too many");
    assert_eq!(error.to_string(), "solid 99 does not exist: the scene has 7 solids");
}

#[test]
fn invalid_shapes_are_reported_with_the_solid() {
    let cases = [
        (
            SolidShape::Box { min: DVec3::ONE, max: DVec3::ZERO },
            "every edge of the box from `min` to `max` must be a positive length, got -1 m",
        ),
        (
            SolidShape::Sphere { center: DVec3::ZERO, radius: f64::NAN, inside: false },
            "`radius` must be a positive length, got NaN m",
        ),
        (
            SolidShape::Cylinder { from: DVec3::ZERO, to: DVec3::X, radius: 0.1, wall: Some(0.2) },
            "`wall` must be less than `radius`, 0.1 m; omit it for a solid rod",
        ),
        (
            SolidShape::Leaf { point: DVec3::ZERO, axis: DVec3::ZERO, angle: 1.0, size: [1.0; 2] },
            "`axis` must not be zero, got [0, 0, 0]",
        ),
    ];
    for (shape, reason) in cases {
        let error = World::build(&with_solids(vec![solid("thing", shape)])).expect_err(reason);
        assert_eq!(error.to_string(), format!("solid `thing`: {reason}"));
    }
    let unknown = Solid { material: "butter".into(), ..plane("floor", DVec3::Y, [1.0; 2]) };
    let error = World::build(&with_solids(vec![unknown])).expect_err("no butter");
    assert!(error.to_string().starts_with("solid `floor`: unknown material `butter`"), "{error}");
}

#[test]
fn worlds_are_send_and_sync() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<World>();
}
