use super::*;
use glam::{Vec2, Vec3};
use sessile_scene::{NoFiles, parse_str};

const TIME: &str = "[time]\nduration = \"30 ms\"\nframe = \"1 ms\"\n";

fn built(text: &str) -> (Scene, World) {
    let scene = parse_str("test.toml", &text.replace("TIME", TIME), &[], &NoFiles).unwrap().scene;
    let world = World::build(&scene).unwrap();
    (scene, world)
}

fn framed(text: &str, aspect: f64) -> Camera {
    let (scene, world) = built(text);
    frame_scene(&scene, &world, aspect)
}

/// Where in the image a point is seen, (0, 0) at its top left.
fn place(camera: &Camera, point: DVec3) -> Vec2 {
    let lens = camera.lens(DVec3::ZERO, [1600, 900]);
    lens.project_direction((point.as_vec3() - lens.eye()).normalize()).unwrap_or(Vec2::splat(f32::INFINITY))
}

fn is_shown(camera: &Camera, point: DVec3) -> bool {
    let place = place(camera, point);
    place.min_element() > 0.02 && place.max_element() < 0.98
}

/// Approximate fraction of the image's height that a sphere fills.
fn height_fraction(camera: &Camera, at: DVec3, radius: f64) -> f64 {
    radius / (at.distance(camera.eye) * (0.5 * camera.fov).tan())
}

const WIDE: f64 = 16.0 / 9.0;

#[test]
fn an_upright_pane_alone_fills_the_image() {
    let text =
        "model = \"pane\"\nTIME[[solids]]\nname = \"w\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"160 90 mm\"\n";
    let camera = framed(text, WIDE);
    let lens = camera.lens(DVec3::ZERO, [640, 360]);
    for corner in [Vec2::ZERO, Vec2::ONE] {
        let (origin, direction): (Vec3, Vec3) = lens.ray(corner, Vec2::ZERO);
        let at = origin - direction * (origin.z / direction.z);
        assert!((at.x.abs() / 0.08 - 0.99).abs() < 1e-3 && (at.y.abs() / 0.045 - 0.99).abs() < 1e-3, "{at}");
    }
}

#[test]
fn a_pane_of_another_aspect_ratio_is_shown_completely() {
    let text =
        "model = \"pane\"\nTIME[[solids]]\nname = \"w\"\nshape = \"plane\"\nnormal = [0, 0, 1]\nsize = \"40 60 mm\"\n";
    let camera = framed(text, WIDE);
    for corner in [DVec3::new(0.02, 0.03, 0.0), DVec3::new(-0.02, -0.03, 0.0)] {
        let at = place(&camera, corner);
        assert!(at.min_element() > 0.0 && at.max_element() < 1.0, "{corner} at {at}");
    }
}

#[test]
fn a_small_drop_on_a_large_pane_determines_the_framing() {
    let text = "model = \"pane\"\nTIME[[solids]]\nname = \"w\"\nshape = \"plane\"\nnormal = [0, 0, 1]\n\
                [[drops]]\nshape = \"cap\"\non = \"w\"\ncenter = \"50 40 0 mm\"\nvolume = \"4 uL\"\ncontact_angle = \"80 deg\"\n";
    let camera = framed(text, WIDE);
    let drop = DVec3::new(0.05, 0.04, 0.0);
    assert!(is_shown(&camera, drop), "at {}", place(&camera, drop));
    assert!(height_fraction(&camera, drop, 1.3e-3) > 0.1, "{}", height_fraction(&camera, drop, 1.3e-3));
    assert!(is_shown(&camera, drop - 5e-3 * DVec3::Y), "it may run down");
}

const DROP_ON_TABLE: &str = "model = \"volume\"\nTIME[[solids]]\nname = \"t\"\nshape = \"plane\"\n[[drops]]\nshape = \"cap\"\non = \"t\"\n\
                             volume = \"4.2 uL\"\ncontact_angle = \"90 deg\"\n";

#[test]
fn a_drop_on_a_table_is_visible_from_above_and_the_side() {
    let camera = framed(DROP_ON_TABLE, WIDE);
    let view = camera.eye - camera.look_at;
    assert!(view.y > 0.2 * view.length() && view.x > 0.2 * view.length(), "{view}");
    let taken = height_fraction(&camera, DVec3::ZERO, 1.26e-3);
    assert!((0.3..0.9).contains(&taken), "the drop takes {taken} of the height");
    let told = framed(&format!("{DROP_ON_TABLE}[camera]\nposition = \"0 1 5 mm\"\nlook_at = \"0 1 0 mm\"\n"), 1.0);
    assert!((told.eye - DVec3::new(0.0, 1e-3, 5e-3)).length() < 1e-12 && told.look_at.y == 1e-3, "{told:?}");
}

#[test]
fn a_falling_drop_is_framed_with_its_point_of_impact() {
    let text = "model = \"volume\"\nTIME[[solids]]\nname = \"t\"\nshape = \"plane\"\n\
                [[drops]]\nshape = \"sphere\"\ncenter = \"0 15 0 mm\"\nradius = \"1 mm\"\n";
    let camera = framed(text, WIDE);
    for point in [DVec3::ZERO, 0.015 * DVec3::Y] {
        assert!(is_shown(&camera, point), "{point} at {}", place(&camera, point));
    }
    assert!(height_fraction(&camera, DVec3::ZERO, 1e-3) > 0.05);
}

#[test]
fn a_sphere_a_leaf_and_a_tilted_plane_are_shown_with_their_drop() {
    let ball = "model = \"volume\"\nTIME[[solids]]\nname = \"b\"\nshape = \"sphere\"\ncenter = \"0 0 0 mm\"\nradius = \"10 mm\"\n\
                [[drops]]\nshape = \"sphere\"\ncenter = \"0 12 0 mm\"\nradius = \"1.5 mm\"\n";
    let camera = framed(ball, WIDE);
    for point in [0.012 * DVec3::Y, -0.01 * DVec3::Y, 0.01 * DVec3::X] {
        assert!(is_shown(&camera, point), "{point} at {}", place(&camera, point));
    }
    let tilted = "model = \"volume\"\nTIME[[solids]]\nname = \"t\"\nshape = \"plane\"\nnormal = [-1, 1, 0]\n\
                  [[drops]]\nshape = \"cap\"\non = \"t\"\nvolume = \"4.2 uL\"\ncontact_angle = \"90 deg\"\n";
    let camera = framed(tilted, WIDE);
    let down = DVec3::new(-1.0, -1.0, 0.0).normalize();
    for point in [DVec3::ZERO, 5e-3 * down] {
        assert!(is_shown(&camera, point), "{point} at {}", place(&camera, point));
    }
}

#[test]
fn a_hidden_drop_is_seen_from_another_direction() {
    // Under a ceiling, and behind a wall.
    for (normal, center) in [("[0, -1, 0]", "0 0 0 mm"), ("[0, 0, -1]", "0 0 0 mm")] {
        let text = format!(
            "model = \"volume\"\nTIME[[solids]]\nname = \"c\"\nshape = \"plane\"\nnormal = {normal}\n\
             [[solids]]\nname = \"far\"\nshape = \"sphere\"\ncenter = \"900 0 0 mm\"\nradius = \"1 mm\"\n\
             [[drops]]\nshape = \"cap\"\non = \"c\"\ncenter = \"{center}\"\nvolume = \"4.2 uL\"\ncontact_angle = \"90 deg\"\n"
        );
        let (scene, world) = built(&text);
        let camera = frame_scene(&scene, &world, WIDE);
        let distance = world.solids()[0].signed_distance(camera.eye);
        assert!(distance > 0.0, "{normal}: the eye is {distance} m behind the plane");
    }
    // Inside an opaque pipe: from an end.
    let pipe = "model = \"volume\"\nTIME[[solids]]\nname = \"p\"\nshape = \"cylinder\"\nfrom = \"0 0 -10 mm\"\nto = \"0 0 10 mm\"\n\
                radius = \"4 mm\"\nwall = \"0.5 mm\"\n[[drops]]\nshape = \"sphere\"\ncenter = \"0 -1 0 mm\"\nradius = \"1 mm\"\n";
    let (scene, world) = built(pipe);
    let camera = frame_scene(&scene, &world, WIDE);
    let opaque: Vec<&Solid> = world.solids().iter().collect();
    assert!(is_visible(&opaque, camera.eye, DVec3::new(0.0, -1e-3, 0.0), 1e-3), "{camera:?}");
}

#[test]
fn empty_scenes_have_a_view_and_the_duration_does_not_matter() {
    let empty = framed("model = \"volume\"\nTIME", WIDE);
    assert!(empty.eye.is_finite() && empty.eye != empty.look_at, "{empty:?}");
    let short = framed(DROP_ON_TABLE, WIDE);
    let long = framed(&DROP_ON_TABLE.replace("TIME", "[time]\nduration = \"30 s\"\nframe = \"1 ms\"\n"), WIDE);
    assert_eq!(short, long);
}
