//! Shading of drops: reflection, highlights, and the background seen through them.
//!
//! The view ray is refracted once at the drop's surface. Where it reaches the base on an opaque
//! solid, that solid is shaded with the illumination texture; on glass it is refracted again and
//! continues behind the sheet; and where it leaves the drop beside the base it is refracted at an
//! ellipsoidal cap that approximates the drop.

use std::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};
use sessile_appearance::{Bsdf, Ggx, LiquidMaterial, Ray};

use super::drop_tree::Entry;
use super::screen_drops::{Base, ScreenDrop};
use super::shading::{Shader, specular_and_rest};
use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::render_scene::{Body, Owner, SurfaceInteraction};

/// The base extends this far beyond its outline, relative to the distance to it.
const OUTLINE_TOLERANCE: f32 = 1.02;

/// Reflectance of the sheet under a drop up to which the reflection is not traced; the background
/// behind the sheet replaces it.
const UNTRACED_REFLECTANCE: f32 = 0.15;

/// A point on a drop's surface.
pub(super) struct DropPoint {
    pub point: Vec3,
    pub normal: Vec3,
    /// Whether it is seen from below, through the glass that the drop lies on.
    pub behind_glass: bool,
}

impl Shader<'_> {
    /// Radiance from a point of a drop against `direction`; `blur` is the roughness that accounts
    /// for the drop's curvature over a pixel.
    pub fn shade_drop(&self, drop: &ScreenDrop, at: &DropPoint, direction: Vec3, blur: f32) -> Vec3 {
        let Some((index, _)) = self.clear else {
            let LiquidMaterial::Opaque(parameters) = &self.scene.liquid else { return Vec3::ZERO };
            let bsdf = parameters.bsdf(Vec2::ZERO, 1.0, 0.0);
            let blurred = |lobe: Ggx| Ggx { alpha: lobe.alpha.max(blur), ..lobe };
            let bsdf = Bsdf { specular: bsdf.specular.map(blurred), ..bsdf };
            return self.surface(at.point, None, at.normal, -direction, &bsdf, Vec3::ONE);
        };
        if at.behind_glass {
            let Some(refracted) = refract(direction, at.normal, 1.0 / index) else { return Vec3::ZERO };
            return self.leave_drop(drop, at.point, refracted, index, Through { blur, drops: true });
        }
        let cosine = -direction.dot(at.normal);
        let r = reflectance(cosine, 1.0 / index);
        let base_normal = drop.base.as_ref().map(|base| base.normal);
        let reflected = self.reflected_radiance(at.point, reflect(direction, at.normal), base_normal, blur);
        let refracted = refract(direction, at.normal, 1.0 / index).unwrap_or(direction);
        let seen = self.inside_drop(drop, at.point, refracted, index, Through { blur, drops: true });
        r * reflected + (1.0 - r) * seen + self.highlights(at.point, at.normal, -direction, r)
    }

    fn absorption(&self, distance: f32) -> Vec3 {
        self.clear.map_or(Vec3::ONE, |(_, absorption)| (-absorption * distance).exp())
    }

    /// Radiance inside a drop along a ray that has just entered it.
    fn inside_drop(&self, drop: &ScreenDrop, from: Vec3, direction: Vec3, index: f32, through: Through) -> Vec3 {
        let leave = |from: Vec3, direction: Vec3| self.leave_drop(drop, from, direction, index, through);
        let Some(base) = &drop.base else { return leave(from, direction) };
        let ray = Ray { origin: from, direction, time: 0.5, origin_triangle: None };
        let hit = self
            .scene
            .intersect(&ray, f32::INFINITY)
            .map(|hit| (hit.distance, self.scene.surface_interaction(&hit, 0.5)));
        let Some((distance, at)) = hit else { return leave(from, direction) };
        let Owner::Solid(solid) = at.owner else { return Vec3::ZERO };
        let offset = base.offset(at.point);
        if solid != base.solid || offset.length_squared() > OUTLINE_TOLERANCE * OUTLINE_TOLERANCE {
            return leave(from, direction);
        }
        let seen = match &self.scene.solids[solid as usize].body {
            Body::Opaque(parameters) => {
                let wetness = self.scene.solids[solid as usize].wetness(at.uv).wet;
                let bsdf = parameters.bsdf(at.uv, index, wetness);
                let irradiance = self.base_irradiance(base, offset, bsdf.diffuse);
                self.shade_base(drop, &at, &bsdf, irradiance, direction, index)
            }
            Body::Sheet { index: sheet, tint } => {
                let normal = if direction.dot(at.normal) < 0.0 { at.normal } else { -at.normal };
                let r = sheet_reflectance(-direction.dot(normal), index, *sheet, 1.0);
                let behind = refract(direction, normal, index).filter(|_| r < 1.0);
                let background = |refracted| self.background(at.point, refracted, Some(at.triangle), 1.0, through.blur);
                let behind = *tint * behind.map_or(Vec3::ZERO, background);
                let reflected = || leave(at.point, reflect(direction, normal));
                (1.0 - r) * behind + r * if r > UNTRACED_REFLECTANCE { reflected() } else { behind }
            }
            Body::Glass { .. } => self.background(from, direction, None, index, through.blur),
        };
        self.absorption(distance) * seen
    }

    /// Irradiance at an offset in a drop's footprint.
    fn base_irradiance(&self, base: &Base, offset: Vec2, albedo: Vec3) -> Vec3 {
        let Some(light) = self.bases.of(base) else { return Vec3::ZERO };
        let area_lights = self.area_light_irradiances(base.foot);
        self.bases.at_base(light, base, offset, &area_lights, albedo)
    }

    /// Radiance of the solid under a drop, whose base has this irradiance.
    fn shade_base(
        &self,
        drop: &ScreenDrop,
        at: &SurfaceInteraction,
        bsdf: &Bsdf,
        irradiance: Vec3,
        direction: Vec3,
        index: f32,
    ) -> Vec3 {
        let normal = if direction.dot(at.shading_normal) < 0.0 { at.shading_normal } else { -at.shading_normal };
        let (specular, left) = specular_and_rest(bsdf, (-direction.dot(normal)).max(1e-3));
        let mut seen = left * bsdf.diffuse * irradiance * FRAC_1_PI;
        if bsdf.transmittance != Vec3::ZERO {
            seen += left * bsdf.transmittance * self.light.irradiance(-normal) * FRAC_1_PI;
        }
        if let Some((_, albedo)) = specular {
            let through = Through { blur: 0.0, drops: false };
            seen += albedo * self.leave_drop(drop, at.point, reflect(direction, normal), index, through);
        }
        seen
    }

    /// Radiance along a ray that leaves a drop into the air, refracted at the approximating cap.
    fn leave_drop(&self, drop: &ScreenDrop, from: Vec3, direction: Vec3, index: f32, through: Through) -> Vec3 {
        let (distance, normal) = drop.cap.exit(from, direction).unwrap_or((0.0, direction));
        let exit = from + distance * direction;
        let seen = match refract(direction, -normal, index) {
            Some(refracted) => {
                let r = reflectance(direction.dot(normal), index);
                // Start above the base, because the cap only approximates the drop and its surface
                // may lie below the solid's.
                let start = drop.base.as_ref().map_or(exit, |base| lifted_above(exit, base));
                (1.0 - r) * self.behind_drop(drop, start, refracted, index, through)
                    + r * self.glossy(exit, reflect(direction, -normal), 0.24)
            }
            // Total internal reflection near the edge: approximated by the blurred environment.
            None => self.glossy(exit, reflect(direction, -normal), 0.4),
        };
        self.absorption(distance) * seen
    }

    /// Radiance along a ray that has left a drop: of another drop, or of what is behind all drops.
    fn behind_drop(&self, drop: &ScreenDrop, from: Vec3, direction: Vec3, index: f32, through: Through) -> Vec3 {
        let entry = if through.drops { self.tree.first(self.drops, drop, from, direction) } else { None };
        let ray = Ray { origin: from, direction, time: 0.5, origin_triangle: None };
        let Some(Entry { drop: other, distance, normal }) =
            entry.filter(|entry| self.scene.intersect(&ray, entry.distance).is_none())
        else {
            return self.background(from, direction, None, 1.0, through.blur);
        };
        let (other, point) = (&self.drops[other as usize], from + distance * direction);
        let r = reflectance(-direction.dot(normal), 1.0 / index);
        let reflected = self.glossy(point, reflect(direction, normal), through.blur);
        let refracted = refract(direction, normal, 1.0 / index).unwrap_or(direction);
        let seen = self.inside_drop(other, point, refracted, index, Through { drops: false, ..through });
        r * reflected + (1.0 - r) * seen
    }
}

/// What a ray inside a drop shows.
#[derive(Clone, Copy, Debug)]
struct Through {
    /// Roughness that accounts for the drop's curvature over a pixel.
    blur: f32,
    /// Whether other drops are shown: not through a second one.
    drops: bool,
}

/// A point, moved to the drop's side of the plane of its base.
fn lifted_above(point: Vec3, base: &Base) -> Vec3 {
    let height = (point - base.foot).dot(base.normal);
    point + (1e-3 * base.radius - height).max(0.0) * base.normal
}
