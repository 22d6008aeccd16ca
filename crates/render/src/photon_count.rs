//! The number of photons of an image: it grows with the number of drops that the image shows.
//!
//! Each drop focuses its own caustic, and photons are shared by all of them. With a constant number
//! the caustics of a thousand drops would be as noisy as the image has drops.

use sessile_appearance::Lens;

use crate::render_scene::{Owner, RenderScene};

/// Photons for each visible drop, at least.
const PHOTONS_PER_DROP: u32 = 512;

/// Maximum number of photons: some 100 MB.
const MAX_PHOTONS: u32 = 1 << 21;

/// Photons for an image of a scene; `least` however few drops there are, none if that is 0.
pub fn photon_count(scene: &RenderScene, lens: &Lens, least: u32) -> u32 {
    if least == 0 {
        return 0;
    }
    PHOTONS_PER_DROP.saturating_mul(visible_drops(scene, lens)).clamp(least, MAX_PHOTONS.max(least))
}

/// Number of drops of which some vertex lies in the image.
fn visible_drops(scene: &RenderScene, lens: &Lens) -> u32 {
    let mut ids: Vec<u32> = Vec::new();
    for (triangle, face) in scene.faces.iter().enumerate() {
        let Owner::Drop(id) = face.owner else { continue };
        // Triangles of a drop follow each other.
        if ids.last() == Some(&id) {
            continue;
        }
        let place = lens.project_direction(scene.corners(triangle as u32)[0] - lens.eye());
        if place.is_some_and(|place| place.min_element() >= 0.0 && place.max_element() <= 1.0) {
            ids.push(id);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u32
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};
    use sessile_appearance::{Camera, Environment, LiquidMaterial};
    use sessile_frames::Surface;

    use super::*;
    use crate::render_scene::RenderSceneBuilder;

    /// A scene of small triangles, each a drop, on a line along x, 1 mm apart.
    fn line_of_drops(count: u32) -> RenderScene {
        let mut surface = Surface::default();
        for drop in 0..count {
            let at = DVec3::X * 1e-3 * (f64::from(drop) - 0.5 * f64::from(count));
            surface.positions.extend([at, at + 1e-4 * DVec3::X, at + 1e-4 * DVec3::Y]);
            surface.velocities.extend([DVec3::ZERO; 3]);
            surface.drops.extend([drop + 1; 3]);
            surface.triangles.push([3 * drop, 3 * drop + 1, 3 * drop + 2]);
            surface.solids.push(-1);
        }
        let mut builder = RenderSceneBuilder::new(Environment::constant(Vec3::ONE), LiquidMaterial::water(), 0.0);
        builder.liquid(&surface);
        builder.build()
    }

    #[test]
    fn photons_grow_with_the_drops_in_the_image_and_not_with_those_beside_it() {
        let count = |drops: u32, distance: f64, least: u32| {
            let scene = line_of_drops(drops);
            let camera = Camera::new(DVec3::new(0.0, 0.0, distance), DVec3::ZERO, 0.6);
            photon_count(&scene, &camera.lens(scene.origin(), [64, 64]), least)
        };
        assert_eq!(count(1, 0.1, 1000), 1000);
        assert_eq!(count(1000, 2.0, 1000), 512_000);
        // The image is 2 tan(0.3) · 0.1 m = 62 mm wide.
        assert_eq!(count(1000, 0.1, 1000) / 512, 61);
        assert_eq!(count(1000, 2.0, 0), 0);
        assert_eq!(count(9000, 20.0, 1000), MAX_PHOTONS);
    }
}
