//! Color, roughness and metalness of a solid mean the same in the path tracer and the preview.

use crate::common::{mean, rectangle, render_square};
use glam::{DVec3, Vec2, Vec3};
use sessile_appearance::{Camera, Environment, LiquidMaterial, LookChanges, Material};
use sessile_frames::Surface;
use sessile_render::{Preview, RenderScene, RenderSceneBuilder};
use sessile_scene::Look;

const SIZE: usize = 16;

/// A large plane of this material under an environment.
fn plane(material: &Material, environment: Environment) -> RenderScene {
    let mut builder = RenderSceneBuilder::new(environment, LiquidMaterial::water(), 0.0);
    let table = rectangle(DVec3::ZERO, 0.5 * DVec3::X, -0.5 * DVec3::Z);
    builder.solid(&table, |_| DVec3::ZERO, material, false, None);
    builder.build()
}

fn preview_mean(scene: &RenderScene, camera: &Camera) -> Vec3 {
    mean(&Preview::new(scene).render(scene, &Surface::default(), camera, [SIZE; 2]))
}

fn changed(look: Look, color: Vec3, roughness: f32, metallic: f32) -> Material {
    let changes = LookChanges { color: Some(color), roughness: Some(roughness), metallic: Some(metallic) };
    Material::of(look, None, Vec2::splat(8.0)).changed(&changes)
}

/// In uniform light both show the directional albedo of the surface; the tables of the lobe are
/// accurate to half a percent.
#[test]
fn the_preview_and_the_path_tracer_show_the_same_color_in_uniform_light() {
    let color = Vec3::new(0.8, 0.3, 0.1);
    let sky = Vec3::new(0.9, 1.0, 1.4);
    let camera = Camera::new(DVec3::new(0.0, 0.02, 0.02), DVec3::ZERO, 0.2);
    let mut seen = Vec::new();
    for (roughness, metallic) in [(0.2, 0.0), (0.6, 0.0), (0.5, 0.5), (0.9, 0.5), (0.3, 1.0), (0.8, 1.0)] {
        let scene = plane(&changed(Look::Matte, color, roughness, metallic), Environment::constant(sky));
        let (traced, previewed) = (mean(&render_square(&scene, &camera, SIZE, 256)), preview_mean(&scene, &camera));
        let apart = ((traced - previewed) / traced).abs().max_element();
        assert!(apart < 0.01, "r {roughness}, m {metallic}: {traced} against {previewed}");
        seen.push(traced);
    }
    // A red metal reflects less blue than the coat over a red base of the same color.
    assert!(seen[4].z < 0.85 * seen[0].z, "{} against {}", seen[4], seen[0]);
}

/// A sheet of colored glass in uniform light reflects R and passes the tint of the rest:
/// R = 2 r/(1 + r) with r = 0.04 at normal incidence.
#[test]
fn colored_glass_tints_what_it_transmits_but_not_what_it_reflects() {
    let tint = Vec3::new(0.2, 0.7, 0.4);
    let glass = Material::glass(1.5).changed(&LookChanges { color: Some(tint), ..LookChanges::default() });
    let scene = plane(&glass, Environment::constant(Vec3::ONE));
    let camera = Camera::new(DVec3::new(0.0, 0.05, 1e-6), DVec3::ZERO, 0.1);
    let r = 2.0 * 0.04 / 1.04;
    let expected = Vec3::splat(r) + (1.0 - r) * tint;
    for found in [mean(&render_square(&scene, &camera, SIZE, 64)), preview_mean(&scene, &camera)] {
        assert!((found - expected).abs().max_element() < 5e-3, "{found} instead of {expected}");
    }
}
