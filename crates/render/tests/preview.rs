//! The preview against the path tracer: similar structure and brightness.

use crate::common::{cap, liquid, mean, rectangle, render_square};
use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{
    BsdfParameters, Camera, Environment, LiquidMaterial, Material, ScaledTexture, SpecularLobe, Texture, luminance,
};
use sessile_frames::Surface;
use sessile_render::Framebuffer;
use sessile_render::Preview;
use sessile_render::RenderSceneBuilder;
use sessile_render::tone_curve;

const SIZE: usize = 112;

/// A cap of water on solid 0, the plane y = 0.
fn standing(at: DVec3, radius: f64, angle: f64, drop: u32) -> Surface {
    let dome = cap(at - DVec3::Y * radius * angle.cos(), radius, angle, 24);
    let rim = dome.positions.len() as u32 - 48;
    let mut surface = liquid(&dome);
    let middle = surface.positions.len() as u32;
    surface.positions.push(at);
    surface.velocities.push(DVec3::ZERO);
    for j in 0..48 {
        surface.triangles.push([rim + (j + 1) % 48, rim + j, middle]);
        surface.solids.push(0);
    }
    surface.drops = vec![drop; surface.positions.len()];
    surface
}

fn join(parts: impl IntoIterator<Item = Surface>) -> Surface {
    let mut all = Surface::default();
    for part in parts {
        let base = all.positions.len() as u32;
        all.positions.extend(part.positions);
        all.velocities.extend(part.velocities);
        all.drops.extend(part.drops);
        all.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + base)));
        all.solids.extend(part.solids);
    }
    all
}

fn drops() -> Surface {
    let degrees = std::f64::consts::PI / 180.0;
    let caps = [(-2.2, 0.3, 1.0, 60.0), (0.0, 0.0, 1.0, 90.0), (2.2, -0.3, 0.9, 110.0), (0.8, 1.9, 1.2, 35.0)];
    join(caps.into_iter().zip(1..).map(|((x, z, radius, angle), drop)| {
        standing(1e-3 * DVec3::new(x, 0.0, z), 1e-3 * radius, angle * degrees, drop)
    }))
}

fn checkerboard() -> Material {
    Material::Opaque(BsdfParameters {
        color: ScaledTexture::new(
            Texture::Checker(Vec3::new(0.62, 0.6, 0.56), Vec3::new(0.2, 0.21, 0.23)),
            Vec2::splat(40.0),
        ),
        alpha: 1.0,
        specular: SpecularLobe::None,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    })
}

fn on_table(environment: Environment) -> RenderSceneBuilder {
    let mut builder = RenderSceneBuilder::new(environment, LiquidMaterial::water(), 0.0);
    let table = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    builder.solid(&table, |_| DVec3::ZERO, &checkerboard(), false, None);
    builder
}

/// Structural similarity of the tone-mapped luminance of two images, over windows of 8² pixels that
/// overlap by half (wang2004).
fn similarity(a: &Framebuffer, b: &Framebuffer) -> f64 {
    let tone = |c: Vec3| f64::from(luminance(tone_curve(c)));
    let (mut sum, mut count) = (0.0, 0);
    for y in (0..a.height - 7).step_by(4) {
        for x in (0..a.width - 7).step_by(4) {
            let window =
                || (0..64).map(|i| (y + i / 8) * a.width + x + i % 8).map(|i| (tone(a.color[i]), tone(b.color[i])));
            let (ma, mb) = window().fold((0.0, 0.0), |(s, t), (p, q)| (s + p / 64.0, t + q / 64.0));
            let (va, vb, cov) = window().fold((0.0, 0.0, 0.0), |(s, t, u), (p, q)| {
                (s + (p - ma).powi(2) / 64.0, t + (q - mb).powi(2) / 64.0, u + (p - ma) * (q - mb) / 64.0)
            });
            let (c1, c2) = (0.01_f64.powi(2), 0.03_f64.powi(2));
            sum += (2.0 * ma * mb + c1) * (2.0 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
            count += 1;
        }
    }
    sum / f64::from(count)
}

/// Mean luminance of the pixels that `counts` admits.
fn brightness(image: &Framebuffer, counts: impl Fn(usize) -> bool) -> f32 {
    let seen: Vec<f32> = (0..image.color.len()).filter(|&i| counts(i)).map(|i| luminance(image.color[i])).collect();
    seen.iter().sum::<f32>() / seen.len().max(1) as f32
}

fn compare(name: &str, builder: RenderSceneBuilder, liquid: &Surface, camera: &Camera, tolerance: f32, alike: f64) {
    let solids = builder.clone().build();
    let preview = Preview::new(&solids).render(&solids, liquid, camera, [SIZE, SIZE]);
    let mut with_liquid = builder;
    with_liquid.liquid(liquid);
    let traced = render_square(&with_liquid.build(), camera, SIZE, 64);
    for (part, inside) in [("drops", true), ("the rest", false)] {
        let counts = |i: usize| (traced.drop[i] > 0) == inside;
        let (found, expected) = (brightness(&preview, counts), brightness(&traced, counts));
        assert!((found / expected - 1.0).abs() < tolerance, "{name}, {part}: {found} against {expected}");
    }
    let found = similarity(&preview, &traced);
    assert!(found > alike, "{name}: similarity {found}, means {} and {}", mean(&preview), mean(&traced));
    // The bound is meaningful: without drops the similarity is lower.
    let bare = Preview::new(&solids).render(&solids, &Surface::default(), camera, [SIZE, SIZE]);
    let without = similarity(&bare, &traced);
    assert!(without < found - 0.1, "{name}: similarity {found} with drops, {without} without");
}

#[test]
fn drops_on_a_checkerboard_match_the_path_tracer() {
    let camera = Camera::new(1e-3 * DVec3::new(1.0, 4.5, 7.0), 1e-3 * DVec3::new(0.0, 0.2, 0.2), 0.6);
    compare("studio", on_table(Environment::studio(1.0)), &drops(), &camera, 0.15, 0.75);
    compare("even light", on_table(Environment::constant(Vec3::ONE)), &drops(), &camera, 0.15, 0.75);
}

#[test]
fn drops_on_a_sheet_match_the_path_tracer_from_both_sides() {
    for side in [1.0, -1.0] {
        // Uniform light, because the preview has no interreflection of the board.
        let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), LiquidMaterial::water(), 0.0);
        let pane = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
        builder.solid(&pane, |_| DVec3::ZERO, &Material::glass(1.5), false, None);
        let board = rectangle(-side * 10e-3 * DVec3::Y, 0.04 * DVec3::X, -0.04 * DVec3::Z);
        builder.solid(&board, |_| DVec3::ZERO, &checkerboard(), false, None);
        let camera = Camera::new(1e-3 * DVec3::new(1.0, side * 7.0, 3.0), DVec3::ZERO, 0.6);
        compare(if side > 0.0 { "front" } else { "back" }, builder, &drops(), &camera, 0.2, 0.6);
    }
}

/// A wide lens, focused on the drop in front: the board behind it is out of focus in both.
#[test]
fn depth_of_field_makes_the_preview_more_similar_to_the_path_tracer() {
    let eye = 1e-3 * DVec3::new(0.5, 3.0, 9.0);
    let sharp = Camera::new(eye, 1e-3 * DVec3::new(0.0, 0.2, 0.2), 0.6);
    let soft = Camera { lens_radius: 0.6e-3, focus: Some(7.2e-3), ..sharp };
    let builder = on_table(Environment::constant(Vec3::ONE));
    let solids = builder.clone().build();
    let mut with_liquid = builder;
    with_liquid.liquid(&drops());
    let traced = render_square(&with_liquid.build(), &soft, SIZE, 128);
    let preview = |camera: &Camera| Preview::new(&solids).render(&solids, &drops(), camera, [SIZE, SIZE]);
    let (found, without) = (similarity(&preview(&soft), &traced), similarity(&preview(&sharp), &traced));
    assert!(found > 0.75 && found > without + 0.2, "similarity {found} with depth of field, {without} without");
    let (bright, expected) = (mean(&preview(&soft)), mean(&traced));
    assert!(((bright - expected) / expected).abs().max_element() < 0.1, "{bright} against {expected}");
}

/// A sun from the side: the drop's shadow, its caustic when the sun is low, and its highlight.
#[test]
fn a_drop_in_the_sun_has_a_shadow_a_caustic_and_a_highlight() {
    let table = rectangle(DVec3::ZERO, 0.02 * DVec3::X, -0.02 * DVec3::Z);
    let gray = Material::Opaque(BsdfParameters {
        color: ScaledTexture::constant(Vec3::splat(0.5)),
        alpha: 1.0,
        specular: SpecularLobe::None,
        transmittance: Vec3::ZERO,
        porosity: 0.0,
    });
    let drop = standing(DVec3::ZERO, 1e-3, std::f64::consts::FRAC_PI_2, 1);
    let camera = Camera::new(DVec3::new(0.0, 8e-3, 1e-5), DVec3::ZERO, 0.6);
    let in_sun = |towards: DVec3| {
        let mut builder =
            RenderSceneBuilder::new(Environment::constant(Vec3::splat(0.3)), LiquidMaterial::water(), 0.0);
        builder.solid(&table, |_| DVec3::ZERO, &gray, false, None);
        builder.sun(towards, 0.02, Vec3::splat(4.0));
        let solids = builder.build();
        Preview::new(&solids).render(&solids, &drop, &camera, [SIZE, SIZE])
    };
    // The pixel of a position on the table, in radii of the drop.
    let scale = 0.5 * SIZE as f32 / (0.3_f32.tan() * 8.0);
    let at = |image: &Framebuffer, x: f32, z: f32| {
        let (column, row) = (0.5 * SIZE as f32 + scale * x, 0.5 * SIZE as f32 + scale * z);
        luminance(image.color[row as usize * SIZE + column as usize])
    };
    let high = in_sun(DVec3::new(-1.5, 1.0, 0.0));
    let (bare, shadow) = (at(&high, -2.2, 1.0), at(&high, 1.35, 0.3));
    // The shadow has nearly only the uniform light: 0.3 of 0.3 + 4 cos θ/π.
    assert!(shadow < 0.45 * bare && shadow > 0.2 * bare, "bare {bare}, shadow {shadow}");
    let highlight = high.color.iter().map(|&c| luminance(c)).fold(0.0, f32::max);
    assert!(highlight > 3.0 * bare, "highlight {highlight}, bare {bare}");
    let low = in_sun(DVec3::new(-5.0, 1.0, 0.0));
    let (bare, spot) = (at(&low, -2.2, 1.0), at(&low, 1.15, 0.0));
    assert!(spot > 2.0 * bare, "bare {bare}, spot {spot}");
}

#[test]
fn previews_do_not_depend_on_the_number_of_threads_and_handle_degenerate_frames() {
    let camera = Camera::new(1e-3 * DVec3::new(1.0, 4.5, 7.0), DVec3::ZERO, 0.6);
    let scene = on_table(Environment::studio(1.0)).build();
    let render = |threads: usize, liquid: &Surface, size: [usize; 2]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Preview::new(&scene).render(&scene, liquid, &camera, size))
    };
    assert!(render(1, &drops(), [70, 45]) == render(2, &drops(), [70, 45]));
    let mut broken = drops();
    broken.triangles[3] = [0, 1, u32::MAX];
    let mut far = drops();
    far.positions[5] = DVec3::NAN;
    for liquid in [broken, far, Surface::default()] {
        let image = render(2, &liquid, [33, 1]);
        assert!(image.color.len() == 33 && image.color.iter().all(|c| c.is_finite()));
    }
    // A camera in a drop, and on the table.
    for eye in [DVec3::new(0.0, 0.3e-3, 0.0), DVec3::new(0.0, 0.0, 5e-3)] {
        let camera = Camera::new(eye, DVec3::new(1e-3, 0.1e-3, 0.0), 0.6);
        let image = Preview::new(&scene).render(&scene, &drops(), &camera, [32, 32]);
        assert!(image.color.iter().all(|c| c.is_finite()));
    }
}
