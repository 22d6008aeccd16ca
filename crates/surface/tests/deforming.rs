//! A drop on a solid whose vertices move.

use std::fmt::Write;

use sessile_frames::FrameGeometry;
use sessile_model::{Model, NoTimer};
use sessile_scene::{Folder, parse_str};
use sessile_surface::SurfaceModel;
use sessile_world::World;

/// A level sheet of 20 × 20 mm in OBJ, at a height that depends on x.
fn sheet(height: impl Fn(f64) -> f64) -> String {
    let (n, mut text) = (4, String::new());
    for j in 0..=n {
        for i in 0..=n {
            let at = |k: i32| 0.02 * (f64::from(k) / f64::from(n) - 0.5);
            writeln!(text, "v {:.12} {:.12} {:.12}", at(i), height(at(i)), at(j)).unwrap();
        }
    }
    for j in 0..n {
        for i in 0..n {
            let v = |i: i32, j: i32| j * (n + 1) + i + 1;
            let [a, b, c, d] = [v(i, j), v(i, j + 1), v(i + 1, j + 1), v(i + 1, j)];
            writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}").unwrap();
        }
    }
    text
}

/// A cap of 4 µL in the middle of a sheet with the heights `height(t, x)`, after 20 ms: height of
/// the centroid and of the lowest and highest vertex over the sheet's middle, in m.
fn after_20_ms(name: &str, height: impl Fn(f64, f64) -> f64) -> [f64; 2] {
    let folder = std::env::temp_dir().join(format!("sessile-surface-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut samples = String::new();
    for k in 0..=20 {
        let time = 1e-3 * f64::from(k);
        std::fs::write(folder.join(format!("s.{k}.obj")), sheet(|x| height(time, x))).unwrap();
        write!(samples, "{{ at = \"{k} ms\", file = \"s.{k}.obj\" }}, ").unwrap();
    }
    let text = format!(
        "model = \"surface\"\n[time]\nduration = \"20 ms\"\nframe = \"10 ms\"\n[resolution]\nedge = \"0.4 mm\"\n\
         [materials.m]\nadvancing = \"95 deg\"\nreceding = \"70 deg\"\n\
         [[solids]]\nname = \"sheet\"\nmaterial = \"m\"\nshape = \"mesh\"\nfile = \"s.0.obj\"\ndeform = [{samples}]\n\
         [[drops]]\nshape = \"cap\"\non = \"sheet\"\nvolume = \"4 uL\"\ncontact_angle = \"90 deg\"\n"
    );
    let scene = parse_str("test.toml", &text, &[], &Folder::new(&folder)).unwrap_or_else(|e| panic!("{e}")).scene;
    let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
    let mut model = SurfaceModel::new(&scene, world).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_dir_all(&folder).unwrap();
    while model.time() < 0.02 - 1e-9 {
        model.step(0.02 - model.time(), &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
    let FrameGeometry::Surfaces(mesh) = model.frame().liquid else { panic!("the drop has a surface") };
    let middle = height(0.02, 0.0);
    let low = mesh.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min) - middle;
    let high = mesh.positions.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max) - middle;
    [low, high]
}

#[test]
fn a_drop_rises_with_the_sheet_that_bends_under_it() {
    // The middle rises by 1 mm, the borders stay: a tent with slopes of 0.1.
    let rise = |t: f64, x: f64| {
        let s = (t / 0.02).clamp(0.0, 1.0);
        1e-3 * s * s * (3.0 - 2.0 * s) * (1.0 - x.abs() / 0.01)
    };
    let [low, high] = after_20_ms("tent", rise);
    // A cap of 4 µL is 1.24 mm high; its rim lies on the slopes, 0.13 mm lower.
    assert!((-0.25e-3..0.05e-3).contains(&low), "its lowest point is {:.3} mm over the middle", 1e3 * low);
    assert!((0.9e-3..1.6e-3).contains(&high), "its highest point is {:.3} mm over the middle", 1e3 * high);
}

#[test]
fn a_sheet_that_falls_away_leaves_the_drop_behind() {
    // 8 mm down in 20 ms: 120 m/s² at first, twelve times gravity.
    let fall = |t: f64, _: f64| {
        let s = (t / 0.02).clamp(0.0, 1.0);
        -8e-3 * s * s * (3.0 - 2.0 * s)
    };
    let [_, high] = after_20_ms("fall", fall);
    assert!(high > 2.5e-3, "its highest point is only {:.3} mm over the sheet", 1e3 * high);
}
