//! Materials that vary over a solid.

use crate::common::*;
use glam::{DVec2, DVec3};
use sessile_scene::types::*;
use sessile_world::{World, WorldError};

/// Writes a gray image, rows from the top, and gives its path; the folder must outlive it.
fn write_image(folder: &tempfile::TempDir, name: &str, width: u32, gray: &[u16]) -> std::path::PathBuf {
    let file = folder.path().join(name);
    let height = gray.len() as u32 / width;
    let mut encoder = png::Encoder::new(std::fs::File::create(&file).expect("a scratch folder"), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let bytes: Vec<u8> = gray.iter().flat_map(|value| value.to_be_bytes()).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes)).expect("a scratch folder");
    file
}

fn with_material(material: Material) -> Result<World, WorldError> {
    World::build(&Scene { materials: vec![material], ..with_solids(vec![plane("window", DVec3::Z, [2.0, 1.0])]) })
}

fn image(file: &std::path::Path, black: f64, white: f64) -> Varying {
    Varying::Image { file: file.into(), black, white }
}

/// Two by two texels: the value at a texel's center is the texel's, half way between four it is
/// their mean, and the top row is v = 1.
#[test]
fn an_image_is_bilinear_between_texel_centers_with_its_top_up() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = write_image(&folder, "map.png", 2, &[0, 65_535, 13_107, 26_214]);
    let world = with_material(Material { affinity: image(&file, 0.0, 1.0), ..wax() }).expect("a world");
    let solid = &world.solids()[0];
    assert!(!solid.wets_uniformly());
    let cases = [
        (DVec2::new(0.25, 0.75), 0.0),
        (DVec2::new(0.75, 0.75), 1.0),
        (DVec2::new(0.25, 0.25), 0.2),
        (DVec2::new(0.5, 0.5), 0.4),
        (DVec2::new(0.5, 0.75), 0.5),
        (DVec2::new(-3.0, 7.0), 0.0),
        (DVec2::new(1.0, 0.0), 0.4),
    ];
    for (uv, expected) in cases {
        let found = solid.wetting_at(uv).affinity;
        assert!((found - expected).abs() < 1e-12, "at {uv}: {found}, expected {expected}");
    }
    // A world point finds its place in the image through the nearest point's coordinates.
    let near = solid.closest(DVec3::new(0.5, 0.25, 0.01));
    assert!((solid.wetting_at(near.uv).affinity - 1.0).abs() < 1e-12, "{near:?}");
}

#[test]
fn angles_run_from_black_to_white_and_stay_in_order() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = write_image(&folder, "angles.png", 4, &[0, 20_000, 40_000, 65_535]);
    let (black, white) = (60f64.to_radians(), 110f64.to_radians());
    let material = Material { advancing: image(&file, black, white), ..wax() };
    let world = with_material(material).expect("a world");
    let wetting = |u: f64| world.solids()[0].wetting_at(DVec2::new(u, 0.5));
    assert!((wetting(0.875).advancing - white).abs() < 1e-12 && (wetting(0.125).advancing - black).abs() < 1e-12);
    // Wax recedes at 95°; where it advances at 60° it must not recede at more.
    assert!((wetting(0.125).receding - black).abs() < 1e-12, "{}", wetting(0.125).receding.to_degrees());
    assert!((wetting(0.875).receding - 95f64.to_radians()).abs() < 1e-12);
    assert_eq!(world.notices.len(), 1, "{:?}", world.notices);
    assert!(
        world.notices[0].starts_with("material `wax`: on 75.0 % of its maps the angles do not satisfy"),
        "{:?}",
        world.notices
    );
}

#[test]
fn a_material_without_images_is_uniform() {
    let world = with_material(Material { wet_advancing: Some(Varying::Uniform(1.7)), ..wax() }).expect("a world");
    let solid = &world.solids()[0];
    assert!(solid.wets_uniformly() && world.notices.is_empty());
    let wetting = solid.wetting_at(DVec2::new(0.1, 0.9));
    assert_eq!((wetting.advancing, wetting.receding), (105f64.to_radians(), 95f64.to_radians()));
    assert_eq!((wetting.wet_advancing, wetting.adhesion, wetting.affinity), (Some(1.7), 10.0, 0.5));
}

#[test]
fn walls_have_90_degrees_unless_they_have_a_material() {
    let domain = |wall_material| Domain { min: DVec3::ZERO, max: DVec3::ONE, sides: [Side::Wall; 3], wall_material };
    let wall = |name: Option<&str>| {
        let scene = Scene { domain: Some(domain(name.map(String::from))), ..empty() };
        World::build(&scene).map(|world| *world.wall_wetting())
    };
    let default_wall_wetting = wall(None).expect("a world");
    assert_eq!((default_wall_wetting.advancing.to_degrees(), default_wall_wetting.receding.to_degrees()), (90.0, 90.0));
    assert_eq!(wall(Some("wax")).expect("a world").advancing, 105f64.to_radians());
    assert!(matches!(wall(Some("tar")), Err(WorldError::UnknownMaterial { .. })));
}

#[test]
fn an_unreadable_image_is_reported_with_its_material() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let missing = folder.path().join("missing.png");
    let error = with_material(Material { receding: image(&missing, 0.1, 0.2), ..wax() }).expect_err("no file");
    let text = error.to_string();
    assert!(
        text.starts_with("material `wax`, `receding`: cannot read image ") && text.contains("missing.png"),
        "{text}"
    );
    let garbage = folder.path().join("garbage.png");
    std::fs::write(&garbage, b"not a picture").expect("a scratch folder");
    let error = with_material(Material { affinity: image(&garbage, 0.0, 1.0), ..wax() }).expect_err("no picture");
    assert!(matches!(error, WorldError::Image { key: "affinity", .. }), "{error:?}");
}
