//! Roughness, streaks and images in the reproduction mode.

use crate::support::{cap, drop, model};
use sessile_droplet::DropletModel;
use sessile_model::{Model, NoTimer};

/// A plane tilted by 30°, +x downhill, of a rough material with triangles of about 3 × `edge` mm.
fn rough_plane(edge: f64, roughness: &str) -> (String, String) {
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let top = "fidelity = \"paper\"\n".to_owned();
    let rest = format!(
        "[resolution]\nedge = \"{edge} mm\"\n[droplet]\nfriction = \"0.4 g/s\"\n\
         [materials.m]\nadvancing = \"90 deg\"\nadhesion = \"60 Pa\"\nroughness = {roughness}\n\
         [[solids]]\nname = \"plane\"\nmaterial = \"m\"\nshape = \"plane\"\nnormal = [{sin}, {cos}, 0]\n\
         size = \"100 400 mm\"\n"
    );
    (top, rest)
}

/// A cap whose center lies at a distance downhill of the plane's center and beside it, in mm.
fn droplet(volume: f64, downhill: f64, beside: f64) -> String {
    let (sin, cos) = 30f64.to_radians().sin_cos();
    cap("plane", volume, 90.0, [downhill * cos, -downhill * sin, beside])
}

fn run_in_frames(model: &mut DropletModel, until: f64, interval: f64) {
    while until - model.time() > 1e-9 {
        let limit = (until - model.time()).min(interval);
        model.step(limit, &mut NoTimer).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Distance downhill of a droplet's center, in m.
fn downhill(model: &DropletModel, id: u32) -> f64 {
    let (_, center) = drop(model, id).unwrap_or_else(|| panic!("drop {id} exists"));
    let (sin, cos) = 30f64.to_radians().sin_cos();
    center.x * cos - center.y * sin
}

/// The way of a droplet from rest for `time` s under F (1 − k_r) and friction k_f, in m.
fn expected_way(volume: f64, bumps: f64, time: f64) -> f64 {
    let (mass, friction) = (998.2 * volume, 0.4e-3);
    let radius = (1.5 * volume / std::f64::consts::PI).cbrt();
    let speed = mass * 9.81 * 30f64.to_radians().sin() * (1.0 - (bumps / radius).min(1.0)) / friction;
    let rate = friction / mass;
    speed * (time - (1.0 - (-rate * time).exp()) / rate)
}

/// The displayed body leans by less than 0.3 mm; the way is 60 mm and more.
#[test]
fn a_first_droplet_follows_the_roughness_law_at_any_triangle_size_and_frame_interval() {
    let expected = expected_way(4e-9, 0.4e-3, 1.5);
    for edge in [0.15, 0.5, 2.0, 50.0] {
        for interval in [1.0 / 24.0, 1.0 / 240.0] {
            let (top, rest) = rough_plane(edge, "\"0.4 mm\"");
            let mut model = model(&top, &(rest + &droplet(4.0, -150.0, 3.0)));
            let start = downhill(&model, 1);
            run_in_frames(&mut model, 1.5, interval);
            let way = downhill(&model, 1) - start;
            assert!(
                (way - expected).abs() < 0.5e-3,
                "edge {edge} mm, frames of {:.1} ms: {:.2} mm, expected {:.2} mm",
                1e3 * interval,
                1e3 * way,
                1e3 * expected
            );
        }
    }
}

/// The follower starts where the first one started and is released later.
#[test]
fn a_later_droplet_is_faster_on_a_streak_by_the_same_way_at_any_frame_interval_and_small_triangles() {
    let way = |edge: f64, interval: f64| {
        let (top, rest) = rough_plane(edge, "\"0.6 mm\"");
        // Two lanes: the follower of one starts on a streak, that of the other beside it.
        let drops = droplet(8.0, -100.0, -10.0) + &droplet(2.0, -104.0, -10.0) + &droplet(2.0, -104.0, 10.0);
        let mut model = model(&top, &(rest + &drops));
        run_in_frames(&mut model, 1.2, interval);
        (downhill(&model, 2), downhill(&model, 3))
    };
    let (reference, dry) = way(0.25, 1.0 / 60.0);
    assert!(reference - dry > 5e-3, "{reference} m on the streak, {dry} m beside it");
    for (edge, interval) in [(0.25, 1.0 / 24.0), (0.25, 1.0 / 400.0), (0.12, 1.0 / 60.0), (0.5, 1.0 / 60.0)] {
        let (got, beside) = way(edge, interval);
        let error = ((got - reference) / (reference - dry)).abs();
        assert!(error < 0.05, "edge {edge} mm, {interval} s: {got} m, reference {reference} m, {dry} m beside");
        assert!((beside - dry).abs() < 0.2e-3, "edge {edge} mm, {interval} s: {beside} m, reference {dry} m");
    }
}

/// A checkerboard of two by two fields: of two droplets side by side, one is on a black field.
#[test]
fn friction_adhesion_and_roughness_vary_by_image() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("halves.png");
    let mut encoder = png::Encoder::new(std::fs::File::create(&file).expect("a file"), 64, 64);
    encoder.set_color(png::ColorType::Grayscale);
    let pixels: Vec<u8> = (0..64 * 64).map(|k| if (k % 64 < 32) == (k / 64 < 32) { 0 } else { 255 }).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels)).expect("a file");
    let file = file.display();
    let ways = |property: &str| {
        let (top, rest) = rough_plane(0.5, "\"0 um\"");
        let rest = rest.replace("roughness = \"0 um\"\n", "");
        let rest = rest.replace("adhesion = \"60 Pa\"\n", &format!("{property}\n"));
        let mut model = model(&top, &(rest + &droplet(4.0, -60.0, -20.0) + &droplet(4.0, -60.0, 20.0)));
        run_in_frames(&mut model, 0.4, 1.0 / 30.0);
        [1, 2].map(|id| drop(&model, id).map(|_| downhill(&model, id) + 60e-3))
    };
    let image =
        |black: &str, white: &str| format!("{{ image = \"{file}\", black = \"{black}\", white = \"{white}\" }}");
    let sorted = |mut ways: [Option<f64>; 2]| {
        ways.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
        ways.map(|way| way.expect("both are on the plane"))
    };
    let [slow, fast] = sorted(ways(&format!("adhesion = \"60 Pa\"\nfriction = {}", image("0.2 g/s", "4 g/s"))));
    assert!(fast > 4.0 * slow && slow > 0.0, "friction: {slow} and {fast} m");
    let [slow, fast] = sorted(ways(&format!("adhesion = \"60 Pa\"\nroughness = {}", image("0 um", "1000 um"))));
    assert!(fast > 3.0 * slow && slow > 0.0, "roughness: {slow} and {fast} m");
    let (top, rest) = rough_plane(0.5, "\"0 um\"");
    let rest = rest.replace("adhesion = \"60 Pa\"", &format!("adhesion = {}", image("0 Pa", "60 Pa")));
    let rest = rest.replace("normal = [0.", "normal = [-0.").replace(", 0.866", ", -0.866");
    let mut model = model(&top, &(rest + &droplet(4.0, -60.0, -20.0) + &droplet(4.0, -60.0, 20.0)));
    let before = [1, 2].map(|id| drop(&model, id).expect("both hang").1);
    run_in_frames(&mut model, 0.1, 1.0 / 60.0);
    let fallen = [1, 2].map(|id| drop(&model, id).is_none_or(|(_, at)| at.y < before[id as usize - 1].y - 0.03));
    assert_ne!(fallen[0], fallen[1], "adhesion: {fallen:?}");
}
