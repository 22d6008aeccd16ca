//! Solids and drops from mesh files.

use std::f64::consts::PI;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::*;
use glam::DVec3;
use sessile_scene::types::*;
use sessile_world::{Emission, SolidCache, World, WorldError};

/// A ball of `radius` in file units about `center` as an OBJ file: a cube's faces, `n` × `n`
/// squares each, blown up.
fn ball_file(folder: &Path, name: &str, center: DVec3, radius: f64, inside_out: bool, open: bool) -> PathBuf {
    let n = 16;
    let mut text = String::new();
    let mut count = 0;
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            if open && axis == 2 && sign < 0.0 {
                continue;
            }
            for i in 0..=n {
                for j in 0..=n {
                    // Equal angles rather than equal lengths keep the facets alike.
                    let at = |k: i32| (PI / 2.0 * (f64::from(k) / f64::from(n) - 0.5)).tan();
                    let mut p = DVec3::ZERO;
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (sign, at(i), at(j));
                    let p = center + p.normalize() * radius;
                    writeln!(text, "v {} {} {}", p.x, p.y, p.z).expect("a string grows");
                }
            }
            for i in 0..n {
                for j in 0..n {
                    let corner = |a: i32, b: i32| count + 1 + a * (n + 1) + b;
                    let quad = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                    let [a, b, c, d] = quad;
                    if (sign > 0.0) != inside_out {
                        writeln!(text, "f {a} {b} {c} {d}").expect("a string grows");
                    } else {
                        writeln!(text, "f {d} {c} {b} {a}").expect("a string grows");
                    }
                }
            }
            count += (n + 1) * (n + 1);
        }
    }
    let file = folder.join(name);
    std::fs::write(&file, text).expect("a scratch folder");
    file
}

fn mesh_solid(file: &Path, scale: MeshScale) -> Solid {
    solid("ball", SolidShape::Mesh { file: file.into(), scale, deform: vec![] })
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// How far facets of 90°/16 lie under the ball: measured 3.0e-3 of the radius at most.
const SAG: f64 = 3.5e-3;

#[test]
fn a_sphere_mesh_has_the_distance_of_a_sphere() {
    let folder = scratch();
    let file = ball_file(folder.path(), "ball.obj", DVec3::ZERO, 50.0, false, false);
    let turned =
        Solid { rotate: DVec3::new(0.2, 0.3, 0.4), shift: DVec3::Y, ..mesh_solid(&file, MeshScale::Factor(1e-3)) };
    let world = World::build(&with_solids(vec![turned])).expect("a world");
    let ball = &world.solids()[0];
    assert_eq!(ball.mesh().corner_uvs.len(), ball.mesh().triangles.len());
    for i in 0..200 {
        let f = f64::from(i);
        let p = DVec3::Y + DVec3::new((1.1 * f).sin(), (1.7 * f).cos(), (0.6 * f).sin()) * 0.08;
        let (found, expected) = (ball.signed_distance(p), p.distance(DVec3::Y) - 0.05);
        assert!((found - expected).abs() < SAG * 0.05, "at {p}: {found}, a ball's {expected}");
        let near = ball.closest(p);
        assert!((near.distance - found).abs() < 1e-15 && near.uv.min_element() >= 0.0 && near.uv.max_element() <= 1.0);
    }
}

#[test]
fn height_sets_the_extent_along_y() {
    let folder = scratch();
    let file = ball_file(folder.path(), "ball.obj", DVec3::new(0.0, 7.0, 0.0), 7.0, false, false);
    let world = World::build(&with_solids(vec![mesh_solid(&file, MeshScale::Height(0.1))])).expect("a world");
    let [low, high] = world.solids()[0].bounds();
    assert!(low.y.abs() < 1e-15 && (high.y - 0.1).abs() < 1e-15, "{low} to {high}");
}

#[test]
fn mesh_repairs_are_reported() {
    let folder = scratch();
    let file = ball_file(folder.path(), "ball.obj", DVec3::ZERO, 1.0, true, false);
    let world = World::build(&with_solids(vec![mesh_solid(&file, MeshScale::Factor(0.1))])).expect("a world");
    let notice = &world.notices[0];
    assert!(notice.starts_with("solid `ball`: mesh ") && notice.ends_with("oriented 1 component outwards"), "{notice}");
    assert!(world.signed_distance(DVec3::ZERO) < -0.09, "its middle is inside");
}

#[test]
fn an_open_sheet_can_be_a_solid_but_not_liquid() {
    let folder = scratch();
    let file = ball_file(folder.path(), "bowl.obj", DVec3::ZERO, 1.0, false, true);
    let world = World::build(&with_solids(vec![mesh_solid(&file, MeshScale::Factor(0.1))])).expect("a world");
    assert!(world.notices[0].contains("is an open sheet (1 large hole)"), "{:?}", world.notices);
    let front = world.solids()[0].signed_distance(DVec3::new(0.0, 0.0, 0.15));
    assert!((front - 0.05).abs() < SAG * 0.1, "outside: {front}");
    let liquid = DropShape::Mesh { file, scale: MeshScale::Factor(0.1), rotate: DVec3::ZERO, shift: DVec3::ZERO };
    let error = World::build(&Scene { drops: vec![drop(liquid)], ..empty() }).expect_err("open liquid");
    assert!(matches!(error, WorldError::MeshBroken { .. }), "{error:?}");
    assert!(error.to_string().starts_with("drops.0: mesh "), "{error}");
}

#[test]
fn unreadable_files_are_reported() {
    let folder = scratch();
    let missing = folder.path().join("missing.obj");
    let error = World::build(&with_solids(vec![mesh_solid(&missing, MeshScale::Factor(1.0))])).expect_err("no file");
    let text = error.to_string();
    assert!(text.starts_with("solid `ball`: cannot read mesh ") && text.contains("missing.obj"), "{text}");
    let flat = folder.path().join("flat.obj");
    std::fs::write(&flat, "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").expect("a scratch folder");
    let error = World::build(&with_solids(vec![mesh_solid(&flat, MeshScale::Height(1.0))])).expect_err("no height");
    assert!(
        error.to_string().ends_with("its y extent is zero, so `height` cannot be used; give `scale` instead"),
        "{error}"
    );
}

#[test]
fn liquid_from_a_mesh_has_the_volume_of_its_polyhedron() {
    let folder = scratch();
    let center = DVec3::new(3.0, 0.0, 0.0);
    let file = ball_file(folder.path(), "ball.obj", center, 1.0, false, false);
    let (rotate, shift) = (DVec3::new(0.0, 0.0, PI / 2.0), DVec3::new(0.0, 0.0, 5e-3));
    let shape = DropShape::Mesh { file, scale: MeshScale::Factor(1e-3), rotate, shift };
    let world = World::build(&Scene { drops: vec![drop(shape)], ..empty() }).expect("a world");
    let drop = &world.initial_drops()[0];
    let share = drop.volume() / (4.0 / 3.0 * PI * 1e-9);
    assert!((1.0 - 3.0 * SAG..1.0).contains(&share), "{share} of the ball's volume");
    let expected = DVec3::new(0.0, 3e-3, 5e-3);
    assert!(drop.centroid().distance(expected) < 1e-12, "{}", drop.centroid());
    let middle = drop.signed_distance(expected);
    assert!((middle + 1e-3).abs() < SAG * 1e-3, "{middle}");
}

/// A cap on a ball from a file is the cap on a ball, to the facets' sag.
#[test]
fn a_cap_sits_on_a_mesh() {
    let folder = scratch();
    let file = ball_file(folder.path(), "ball.obj", DVec3::ZERO, 20.0, false, false);
    let cap = |solid: Solid| {
        let shape = DropShape::Cap { on: 0, center: DVec3::Y * 0.02, amount: Amount::Volume(4e-8), contact_angle: 1.2 };
        let world = World::build(&Scene { drops: vec![drop(shape)], ..with_solids(vec![solid]) }).expect("a world");
        let cap = world.initial_drops()[0].cap().expect("a cap").clone();
        (cap.ball_radius, cap.ball_center.y)
    };
    let meshed = cap(mesh_solid(&file, MeshScale::Factor(1e-3)));
    let exact = cap(solid("ball", SolidShape::Sphere { center: DVec3::ZERO, radius: 0.02, inside: false }));
    let off = ((meshed.0 - exact.0).abs() / exact.0, (meshed.1 - exact.1).abs() / exact.0);
    // The sag is 5e-5 m on a drop of 2 mm: some 2 %.
    assert!(off.0 < 0.03 && off.1 < 0.03, "radius off by {:.1e}, height by {:.1e} of the ball's radius", off.0, off.1);
}

#[test]
fn the_bunny_needs_no_repair_and_takes_a_cap_on_its_back() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/bunny.obj");
    let shape = DropShape::Cap {
        on: 0,
        center: DVec3::new(0.02, 0.1, 0.0),
        amount: Amount::Volume(2e-8),
        contact_angle: 100f64.to_radians(),
    };
    let scene = Scene { drops: vec![drop(shape)], ..with_solids(vec![mesh_solid(&file, MeshScale::Factor(1.0))]) };
    let world = World::build(&scene).expect("a world");
    assert!(world.notices.is_empty(), "{:?}", world.notices);
    let bunny = &world.solids()[0];
    let cap = world.initial_drops()[0].cap().expect("a cap");
    assert!(bunny.signed_distance(cap.foot).abs() < 1e-12);
    // The ball and its part outside the bunny are of the size of a 20 µL drop: 1.7 mm.
    assert!((1.5e-3..3e-3).contains(&cap.ball_radius), "ball of {} m", cap.ball_radius);
    let rise = (cap.centroid - cap.foot).dot(cap.normal);
    assert!((0.5e-3..2e-3).contains(&rise), "centroid {rise} m above the foot");
}

/// A mushroom of two balls: the upper one shelters the lower, and together they collect over their
/// shadow.
#[test]
fn an_overhang_shelters_a_mesh_from_rain() {
    let folder = scratch();
    let upper = ball_file(folder.path(), "upper.obj", DVec3::Y * 3.0, 1.0, false, false);
    let lower = ball_file(folder.path(), "lower.obj", DVec3::ZERO, 0.9, false, false);
    let read = |file: &Path| std::fs::read_to_string(file).expect("just written");
    let (top, bottom) = (read(&upper), read(&lower));
    let vertices = top.lines().filter(|l| l.starts_with('v')).count();
    let moved: String = bottom
        .lines()
        .map(|line| match line.strip_prefix("f ") {
            Some(face) => {
                let indices = face.split(' ').map(|i| i.parse::<usize>().expect("an index") + vertices);
                format!("f {}\n", indices.map(|i| i.to_string()).collect::<Vec<_>>().join(" "))
            }
            None => format!("{line}\n"),
        })
        .collect();
    let file = folder.path().join("both.obj");
    std::fs::write(&file, top + &moved).expect("a scratch folder");
    let rate = 50e-3 / 3600.0;
    let rain = EmitterKind::Rain { over: RainArea::Solid(0), rate, sizes: RainSizes::MarshallPalmer, velocity: None };
    let scene = Scene { emitters: vec![emitter(rain)], ..with_solids(vec![mesh_solid(&file, MeshScale::Factor(0.3))]) };
    let world = World::build(&scene).expect("a world");
    let (mut sum, mut squares) = (0.0, 0.0);
    for supply in world.emissions(0.0, 30.0) {
        let Emission::Ball { center, radius, .. } = supply else { continue };
        assert!(center.y > 0.8, "a ball at {center} fell on the is_sheltered half");
        let volume = 4.0 / 3.0 * PI * radius.powi(3);
        (sum, squares) = (sum + volume, squares + volume * volume);
    }
    let expected = rate * 30.0 * PI * 0.09;
    let error = squares.sqrt() + 2.0 * SAG * expected;
    assert!((sum - expected).abs() < 4.0 * error, "{sum:e} m³, expected {expected:e} ± {error:e}");
}

#[test]
fn scenes_with_the_same_solid_share_its_mesh() {
    let folder = scratch();
    let file = ball_file(folder.path(), "ball.obj", DVec3::ZERO, 1.0, true, false);
    let scene = |rotate: DVec3, advancing: f64| {
        let material = Material { advancing: Varying::Uniform(advancing), ..wax() };
        let ball = Solid { rotate, ..mesh_solid(&file, MeshScale::Factor(0.01)) };
        Scene { materials: vec![material], solids: vec![ball], ..empty() }
    };
    let cache = SolidCache::default();
    let build = |scene: &Scene| World::build_scattered(scene, &cache, usize::MAX).expect("a world");
    let first = build(&scene(DVec3::ZERO, 1.9));
    let again = build(&scene(DVec3::ZERO, 2.0));
    let mesh = |world: &World| std::sync::Arc::clone(world.solids()[0].mesh());
    assert!(std::sync::Arc::ptr_eq(&mesh(&first), &mesh(&again)));
    assert_eq!(first.notices, again.notices, "the repair is reported again");
    // What differs between the scenes is not shared.
    assert_eq!(again.solids()[0].wetting_at(glam::DVec2::ZERO).advancing, 2.0);
    let turned = build(&scene(DVec3::new(0.0, 0.5, 0.0), 2.0));
    assert!(!std::sync::Arc::ptr_eq(&mesh(&first), &mesh(&turned)));
    let alone = World::build(&scene(DVec3::new(0.0, 0.5, 0.0), 2.0)).expect("a world");
    assert_eq!(mesh(&turned).positions, mesh(&alone).positions);
    assert!(!alone.notices.is_empty() && alone.notices == turned.notices);
}

/// A ball whose vertices pass through its center in the second half of the second.
#[test]
fn a_deformation_that_intersects_itself_is_reported_with_its_time() {
    let folder = scratch();
    let ball = ball_file(folder.path(), "ball.obj", DVec3::ZERO, 5.0, false, false);
    let text = std::fs::read_to_string(&ball).expect("it was written");
    let pierced: String = text
        .lines()
        .map(|line| {
            match line.strip_prefix("v ").map(|rest| rest.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()) {
                // The right side is drawn in, and out at the left.
                Some(Ok(v)) if v[0] > 0.0 => format!("v {} {} {}\n", v[0] - 12.0 * (v[0] / 5.0).powi(2), v[1], v[2]),
                _ => format!("{line}\n"),
            }
        })
        .collect();
    let file = folder.path().join("pierced.obj");
    std::fs::write(&file, pierced).expect("a scratch folder");
    let notices = |last: &Path| {
        let deform = vec![DeformKey { at: 0.0, file: ball.clone() }, DeformKey { at: 0.5, file: last.into() }];
        let shape = SolidShape::Mesh { file: ball.clone(), scale: MeshScale::Factor(1e-3), deform };
        World::build(&with_solids(vec![solid("ball", shape)])).expect("a world").notices
    };
    assert!(!notices(&ball).iter().any(|line| line.contains("intersects")), "{:?}", notices(&ball));
    let found = notices(&file);
    assert!(
        found.iter().any(|line| line.contains("`ball`: its deformed mesh intersects itself at t = 0.5 s")),
        "{found:?}"
    );
}
