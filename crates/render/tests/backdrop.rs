//! Backdrops: pixel-exact where no drop is, and refracted as by a lens where one is.

use std::sync::Arc;

use crate::common::{cap, liquid, rectangle, render_square, slab};
use glam::{DVec3, Vec3};
use sessile_appearance::{Camera, Environment, LiquidMaterial, Material, Photograph};
use sessile_frames::Surface;
use sessile_render::{
    Exposure, FlowStatus, Framebuffer, Preview, RenderScene, RenderSceneBuilder, ground_truth, to_srgb,
};
use sessile_scene::types::ViewTransform;

/// Columns and rows of photographs and images.
const SIDE: usize = 96;

/// Radiance of the photograph's white.
const WHITE: f32 = 0.7;

/// The glass that a drop lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Glass {
    Sheet,
    Plate,
}

/// Every pixel different, so that a shift by one would show.
fn noise() -> Vec<u8> {
    (0..SIDE * SIDE * 3).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect()
}

/// Red on the left, blue on the right; bright above, dark below.
fn quarters() -> Vec<u8> {
    let pixel = |i: usize| {
        let light = if i / SIDE < SIDE / 2 { 250 } else { 90 };
        if i % SIDE < SIDE / 2 { [light, 0, 0] } else { [0, 0, light] }
    };
    (0..SIDE * SIDE).flat_map(pixel).collect()
}

/// A drop of radius 3 mm and contact angle 60° in the plane y = 0, closed by its base.
fn drop() -> Surface {
    let radius = 3e-3 / 60_f64.to_radians().sin();
    let mut surface = liquid(&cap(DVec3::NEG_Y * radius * 60_f64.to_radians().cos(), radius, 60_f64.to_radians(), 48));
    let (center, columns) = (surface.positions.len() as u32, 96);
    surface.positions.push(DVec3::ZERO);
    surface.velocities.push(DVec3::ZERO);
    surface.drops.push(1);
    let rim = center - columns;
    for j in 0..columns {
        surface.triangles.push([center, rim + (j + 1) % columns, rim + j]);
        surface.solids.push(0);
    }
    surface
}

/// Glass with its upper face at y = 0 before a photograph, with liquid on it.
fn scene(
    environment: &Environment,
    glass: Glass,
    photo: &[u8],
    distance: Option<f32>,
    surface: &Surface,
) -> RenderScene {
    let water = LiquidMaterial::Clear { index: 1.333, absorption: Vec3::ZERO };
    let mut builder = RenderSceneBuilder::new(environment.clone(), water, 0.0);
    let (mesh, closed) = match glass {
        Glass::Sheet => (rectangle(DVec3::ZERO, DVec3::X, DVec3::NEG_Z), false),
        Glass::Plate => (slab(DVec3::new(-0.5, -2e-3, -0.5), DVec3::new(0.5, 0.0, 0.5)), true),
    };
    builder.solid(&mesh, |_| DVec3::ZERO, &Material::glass(1.5), closed, None);
    builder.liquid(surface);
    let backdrop = Photograph::from_srgb([SIDE, SIDE], photo).cover([SIDE, SIDE], distance, WHITE);
    builder.backdrop(Some(Arc::new(backdrop)));
    builder.build()
}

/// From above or from below, 60 mm away; the image's x axis is the scene's.
fn camera(above: bool) -> Camera {
    Camera::new(DVec3::new(0.0, if above { 0.06 } else { -0.06 }, 0.0), DVec3::ZERO, 14_f64.to_radians())
}

/// The image by the path tracer, and by the preview renderer.
fn images(scene: impl Fn(&Surface) -> RenderScene, camera: &Camera) -> [(&'static str, Framebuffer); 2] {
    let solids = scene(&Surface::default());
    let traced = render_square(&scene(&drop()), camera, SIDE, 16);
    let preview = Preview::new(&solids).render(&solids, &drop(), camera, [SIDE, SIDE]);
    [("traced", traced), ("preview", preview)]
}

fn bytes(image: &Framebuffer) -> Vec<u8> {
    to_srgb(image, Exposure::fixed(1.0 / WHITE), ViewTransform::Filmic)
}

#[test]
fn pixels_without_a_drop_have_the_photographs_bytes() {
    let photo = noise();
    for glass in [Glass::Sheet, Glass::Plate] {
        for above in [true, false] {
            let bright = Environment::sky(Vec3::Y, 1.0);
            for (name, image) in images(|drops| scene(&bright, glass, &photo, None, drops), &camera(above)) {
                let shown = bytes(&image);
                let clean: Vec<usize> = (0..SIDE * SIDE).filter(|&i| image.coverage[i] == 0.0).collect();
                let wrong = clean.iter().filter(|&&i| shown[3 * i..3 * i + 3] != photo[3 * i..3 * i + 3]).count();
                // The drop covers a disc of 3 mm of the 14.7 mm that the image shows: 13 %.
                let covered = 1.0 - clean.len() as f32 / (SIDE * SIDE) as f32;
                assert_eq!(wrong, 0, "{name}, {glass:?}, from above: {above}");
                assert!((0.10..0.17).contains(&covered), "{name}, {glass:?}, from above: {above}: {covered}");
                let differs = |i: usize| shown[3 * i..3 * i + 3] != photo[3 * i..3 * i + 3];
                let inside = (0..SIDE * SIDE).filter(|&i| image.coverage[i] == 1.0);
                assert!(inside.filter(|&i| differs(i)).count() > 700, "{name}, {glass:?}: the drop is not visible");
            }
        }
    }
}

/// Mean color of a square of pixels about a point, given from the image's center.
fn patch(shown: &[u8], dx: i32, dy: i32) -> Vec3 {
    let at = |d: i32, k: i32| (SIDE as i32 / 2 + d + k) as usize;
    let pixels = (-2..2).flat_map(|y| (-2..2).map(move |x| (x, y)));
    let color = |(x, y): (i32, i32)| {
        let i = 3 * (at(dy, y) * SIDE + at(dx, x));
        Vec3::new(f32::from(shown[i]), f32::from(shown[i + 1]), f32::from(shown[i + 2]))
    };
    pixels.map(color).sum::<Vec3>() / 16.0
}

#[test]
fn a_drop_inverts_a_distant_backdrop_and_not_one_within_its_focal_length() {
    let photo = quarters();
    // In the dark, nothing is reflected by the drop.
    let dark = Environment::constant(Vec3::ZERO);
    // The drop's radius is 20 pixels; its focal length r/(n − 1) is 10 mm.
    for above in [true, false] {
        for (name, image) in images(|drops| scene(&dark, Glass::Sheet, &photo, None, drops), &camera(above)) {
            let shown = bytes(&image);
            let (left, right) = (patch(&shown, -9, 9), patch(&shown, 9, -9));
            assert!(left.z > left.x && left.z > 150.0, "{name}, from above: {above}: left and below {left}");
            assert!(right.x > right.z && right.x < 120.0, "{name}, from above: {above}: right and above {right}");
        }
        let near = Some(0.06 + 4e-3);
        for (name, image) in images(|drops| scene(&dark, Glass::Sheet, &photo, near, drops), &camera(above)) {
            let shown = bytes(&image);
            let (left, right) = (patch(&shown, -9, 9), patch(&shown, 9, -9));
            assert!(left.x > left.z && right.z > right.x, "{name}, from above: {above}: near, {left} and {right}");
        }
    }
}

#[test]
fn the_flow_leads_to_the_place_of_the_photograph_that_the_drop_shows() {
    // Smooth, so that interpolation does not matter.
    let photo: Vec<u8> =
        (0..SIDE * SIDE).flat_map(|i| [(40 + 2 * (i % SIDE)) as u8, (40 + 2 * (i / SIDE)) as u8, 128]).collect();
    for (above, distance) in [(true, None), (false, None), (true, Some(0.2))] {
        let dark = Environment::constant(Vec3::ZERO);
        let wet = scene(&dark, Glass::Sheet, &photo, distance, &drop());
        let clean = scene(&dark, Glass::Sheet, &photo, distance, &Surface::default());
        let truth = ground_truth(&wet, &clean, &camera(above), [SIDE, SIDE]);
        let shown = bytes(&render_square(&wet, &camera(above), SIDE, 64));
        let mut compared = 0;
        for (i, (&flow, &status)) in truth.flow.iter().zip(&truth.status).enumerate() {
            let (x, y) = ((i % SIDE) as f32, (i / SIDE) as f32);
            let from_center = (x - 47.5).hypot(y - 47.5);
            if status != FlowStatus::Valid || from_center > 6.0 {
                continue;
            }
            // The drop's surface transmits 98 %.
            let expected = [40.0 + 2.0 * (x + flow.x), 40.0 + 2.0 * (y + flow.y)];
            let found = [f32::from(shown[3 * i]), f32::from(shown[3 * i + 1])];
            let error = (found[0] - expected[0]).abs().max((found[1] - expected[1]).abs());
            assert!(error < 8.0, "above: {above}, {distance:?}: {found:?} instead of {expected:?} at {x}, {y}");
            compared += 1;
        }
        assert!(compared > 20, "{compared} pixels, above: {above}, {distance:?}");
    }
}
