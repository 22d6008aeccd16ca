//! Images against accepted references in `tests/references`, by a perceptual metric.
//!
//! Each scene is rendered with other random numbers than its reference, so the tolerance follows
//! from the noise: two seeds differ by 0.003 (window), 0.005 (streak) and 0.010 (checkerboard), and
//! twice the largest is allowed. With the physics turned off the difference (0.09 to 0.26) must be
//! at least three times the tolerance.
//! `BLESS=1 cargo test -p sessile-render reference_images` renders the references again:
//! inspect them before committing.

use std::path::PathBuf;

use crate::common::{cap, liquid, rectangle};
use crate::perceptual::{Bytes, difference};
use glam::{DQuat, DVec3, Vec2, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe, Texture,
};
use sessile_frames::{Surface, WetMap};
use sessile_images::Image;
use sessile_render::{Exposure, to_srgb};
use sessile_render::{ImageSettings, render_image, write_png};
use sessile_render::{RenderScene, RenderSceneBuilder};
use sessile_scene::types::ViewTransform;

const SIZE: [usize; 2] = [160, 120];
const SAMPLES: u32 = 64;

/// Maximum difference of an image from its reference.
const ALLOWED: f32 = 0.02;

/// A millimeter.
const MM: f64 = 1e-3;

/// A drop with contact angle `angle` (in degrees) on solid 0, at `foot` along `normal`; `gap` lifts
/// it off.
fn drop_on(foot: DVec3, normal: DVec3, ball: f64, angle: f64, gap: f64) -> Surface {
    let polar = angle.to_radians();
    let mesh = cap(DVec3::ZERO, ball, polar, 32);
    let upright = DQuat::from_rotation_arc(DVec3::Y, normal);
    let place = |p: DVec3| foot + upright * (p - DVec3::Y * (ball * polar.cos() - gap));
    let mut surface = liquid(&mesh);
    for position in &mut surface.positions {
        *position = place(*position);
    }
    let columns = 64;
    let rim = surface.positions.len() as u32 - columns;
    let middle = surface.positions.len() as u32;
    surface.positions.push(place(DVec3::Y * ball * polar.cos()));
    surface.velocities.push(DVec3::ZERO);
    surface.drops.push(1);
    for j in 0..columns {
        surface.triangles.push([middle, rim + (j + 1) % columns, rim + j]);
        surface.solids.push(if gap > 0.0 { -1 } else { 0 });
    }
    surface
}

fn together(drops: impl IntoIterator<Item = Surface>) -> Surface {
    let mut all = Surface::default();
    for (index, drop) in drops.into_iter().enumerate() {
        let shift = all.positions.len() as u32;
        all.drops.extend(vec![index as u32 + 1; drop.positions.len()]);
        all.positions.extend(drop.positions);
        all.velocities.extend(drop.velocities);
        all.triangles.extend(drop.triangles.iter().map(|t| t.map(|v| v + shift)));
        all.solids.extend(drop.solids);
    }
    all
}

/// Water of another refractive index, for images that must differ.
fn water(index: f32) -> LiquidMaterial {
    LiquidMaterial::Clear { index, absorption: Vec3::ZERO }
}

/// A sessile drop on a checkerboard, and two small ones beside it.
fn checkerboard(index: f32, gap: f64) -> (RenderScene, Camera, f32) {
    let mut builder = RenderSceneBuilder::new(Environment::studio(1.0), water(index), 0.0);
    let table = rectangle(DVec3::ZERO, 160.0 * MM * DVec3::X, -160.0 * MM * DVec3::Z);
    let checks = Texture::Checker(Vec3::new(0.78, 0.70, 0.58), Vec3::new(0.10, 0.13, 0.19));
    let color = ScaledTexture::new(checks, Vec2::splat(80.0));
    let parameters = BsdfParameters {
        color,
        alpha: 0.3,
        specular: SpecularLobe::Dielectric(1.45),
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    };
    builder.solid(&table, |_| DVec3::ZERO, &Material::Opaque(parameters), false, None);
    let at = |x: f64, z: f64, ball: f64, angle: f64| {
        drop_on(MM * DVec3::new(x, 0.0, z), DVec3::Y, ball * MM, angle, gap * ball * MM)
    };
    builder.liquid(&together([at(0.0, 0.0, 2.2, 80.0), at(3.1, 1.3, 0.75, 85.0), at(-2.1, 2.3, 0.5, 85.0)]));
    let camera = Camera::new(MM * DVec3::new(4.0, 7.5, 14.0), MM * DVec3::new(0.25, 0.5, 0.4), 0.46);
    (builder.build(), camera, 0.85)
}

/// Drops on a sheet of glass in front of a bright garden.
fn window(index: f32, gap: f64) -> (RenderScene, Camera, f32) {
    let mut builder = RenderSceneBuilder::new(Environment::garden(1.0), water(index), 0.0);
    let pane = rectangle(DVec3::ZERO, 60.0 * MM * DVec3::X, 60.0 * MM * DVec3::Y);
    builder.solid(&pane, |_| DVec3::ZERO, &Material::glass(1.5), false, None);
    let drops = [
        (-1.0, 0.6, 3.3, 70.0),
        (5.2, 3.4, 1.6, 75.0),
        (-6.4, -3.0, 1.9, 65.0),
        (3.9, -3.5, 1.1, 75.0),
        (-5.3, 3.9, 0.9, 75.0),
        (6.9, -0.9, 0.7, 70.0),
        (0.9, -5.1, 0.6, 70.0),
    ];
    let drops = drops
        .map(|(x, y, ball, angle)| drop_on(MM * DVec3::new(x, y, 0.0), DVec3::Z, ball * MM, angle, gap * ball * MM));
    builder.liquid(&together(drops));
    (builder.build(), Camera::new(MM * DVec3::new(0.0, 0.0, 22.0), DVec3::ZERO, 0.6), 1.1)
}

/// A wet streak on stone.
fn streak(wet: bool) -> (RenderScene, Camera, f32) {
    let mut builder = RenderSceneBuilder::new(Environment::studio(1.0), LiquidMaterial::water(), 0.0);
    let side = 100.0;
    let slab = rectangle(DVec3::ZERO, side * MM * DVec3::X, -side * MM * DVec3::Z);
    let (width, height) = (400_u32, 400_u32);
    let texels: Vec<[u16; 2]> = (0..width * height)
        .map(|i| {
            let [x, z] = [i % width, i / width].map(|n| ((f64::from(n) + 0.5) / f64::from(width) - 0.5) * side);
            // Down the center, winding, from the far side to the drop; a rounded ridge of 90 µm.
            let middle = 1.1 * (0.38 * (z - 3.4)).sin() - 0.6;
            let part = 1.0 - ((x - middle) / 1.3).powi(2);
            let thick = if z < 3.4 { part.max(0.0) } else { 0.0 };
            [if thick > 0.0 { 65535 } else { 0 }, (9000.0 * thick) as u16]
        })
        .collect();
    let [wetness, film] = [0, 1].map(|part| texels.iter().map(|t| t[part]).collect());
    let map = WetMap { solid: 0, width, height, wetness, film, age: Vec::new() };
    let stone = Material::of(sessile_scene::Look::Stone, None, Vec2::splat(20.0));
    builder.solid(&slab, |_| DVec3::ZERO, &stone, false, wet.then_some(&map));
    builder.liquid(&drop_on(MM * DVec3::new(-0.6, 0.0, 3.4), DVec3::Y, 2.1 * MM, 60.0, 0.0));
    let camera = Camera::new(MM * DVec3::new(8.5, 10.0, 13.5), MM * DVec3::new(-0.4, 0.2, 0.2), 0.50);
    (builder.build(), camera, 0.9)
}

fn render((scene, camera, exposure): &(RenderScene, Camera, f32), seed: u32) -> Bytes {
    let settings = ImageSettings { size: SIZE, samples: SAMPLES, seed, ..ImageSettings::default() };
    let (image, _) = render_image(scene, camera, &settings, &|_, _| ());
    Bytes { width: SIZE[0], height: SIZE[1], rgb: to_srgb(&image, Exposure::fixed(*exposure), ViewTransform::Filmic) }
}

/// Compares an image with the reference of that name, or writes it.
fn compare(name: &str, scene: &(RenderScene, Camera, f32)) -> Bytes {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/references").join(format!("{name}.png"));
    if std::env::var_os("BLESS").is_some() {
        let accepted = render(scene, 0);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_png(&path, SIZE[0], SIZE[1], &accepted.rgb).unwrap();
    }
    let accepted = Image::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let accepted = Bytes { width: accepted.width(), height: accepted.height(), rgb: accepted.rgb_bytes() };
    let found = difference(&render(scene, 1), &accepted);
    println!("{name}: {found} of {ALLOWED}");
    assert!(found < ALLOWED, "{name}: differs from its reference by {found}, {ALLOWED} is allowed");
    accepted
}

fn must_differ(what: &str, scene: &(RenderScene, Camera, f32), accepted: &Bytes) {
    let found = difference(&render(scene, 1), accepted);
    println!("{what}: {found}");
    assert!(found > 3.0 * ALLOWED, "{what} goes unnoticed: {found} from the reference, {ALLOWED} is allowed");
}

#[test]
fn a_drop_on_a_checkerboard_matches_its_reference_and_differs_from_air_and_a_mirror() {
    let accepted = compare("checkerboard", &checkerboard(1.333, 0.0));
    must_differ("a drop that does not refract", &checkerboard(1.0, 0.0), &accepted);
    must_differ("a film of air under the drop", &checkerboard(1.333, 1e-3), &accepted);
}

#[test]
fn drops_on_glass_match_their_reference_and_differ_from_air() {
    let accepted = compare("window", &window(1.333, 0.0));
    must_differ("drops that do not refract", &window(1.0, 0.0), &accepted);
}

#[test]
fn a_wet_streak_on_stone_matches_its_reference_and_differs_from_dry_stone() {
    let accepted = compare("streak", &streak(true));
    must_differ("dry stone", &streak(false), &accepted);
}
