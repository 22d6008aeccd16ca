//! Shading of solids, the environment, and glass in front of them.

use std::f32::consts::FRAC_1_PI;

use glam::Vec3;
use sessile_appearance::{Bsdf, BsdfParameters, Ggx, Ray, orthonormal_basis};

use super::base_irradiance::BaseIrradiance;
use super::drop_tree::DropTree;
use super::prefiltered_light::{PrefilteredLight, blinn};
use super::screen_drops::ScreenDrop;
use crate::backdrop_view::BackdropView;
use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::interfaces::surface_tint;
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};

/// Maximum number of clear surfaces along a ray.
const MAX_SURFACES: usize = 8;

/// Specular lobes with a smaller F₀ are ignored.
const MIN_F0: f32 = 1e-3;

/// Pixels of the backdrop over which a drop's refraction averages, per pixel of the image at one
/// pixel per radian and unit of blur: a drop deviates rays by about half a radian over its radius.
const BACKDROP_BLUR: f32 = 1.4;

/// The data that shading uses.
pub(super) struct Shader<'a> {
    pub scene: &'a RenderScene,
    pub light: &'a PrefilteredLight,
    pub bases: &'a BaseIrradiance,
    /// Refractive index and absorption of the liquid; `None` if it is opaque.
    pub clear: Option<(f32, Vec3)>,
    /// The backdrop, seen by the camera.
    pub backdrop: Option<BackdropView<'a>>,
    /// All drops, which are seen through each other.
    pub drops: &'a [ScreenDrop],
    pub tree: &'a DropTree,
}

/// A BSDF's specular lobe with its directional albedo, if it is not negligible, and what it leaves
/// to the diffuse base.
pub(super) fn specular_and_rest(bsdf: &Bsdf, cosine: f32) -> (Option<(Ggx, Vec3)>, Vec3) {
    let Some(lobe) = bsdf.specular.filter(|lobe| lobe.f0.max_element() > MIN_F0) else { return (None, Vec3::ONE) };
    let albedo = lobe.albedo(cosine);
    (Some((lobe, albedo)), bsdf.left_to_base(cosine))
}

impl Shader<'_> {
    /// Area lights as seen from a point: direction, irradiance on a facing surface, solid angle.
    fn area_lights(&self, from: Vec3) -> impl Iterator<Item = (Vec3, Vec3, f32)> {
        self.scene.area_lights.iter().map(move |area_light| {
            let (towards, irradiance) = area_light.towards(from);
            (towards, irradiance, area_light.solid_angle(from))
        })
    }

    /// Direction and irradiance of the area lights as seen from a point.
    pub fn area_light_irradiances(&self, from: Vec3) -> Vec<(Vec3, Vec3)> {
        self.area_lights(from).map(|(towards, irradiance, _)| (towards, irradiance)).collect()
    }

    /// Suns and area lights as seen from a point.
    fn compact_lights(&self, from: Vec3) -> impl Iterator<Item = (Vec3, Vec3, f32)> {
        let suns = self.scene.suns.iter().map(|sun| {
            let (towards, irradiance) = sun.towards();
            (towards, irradiance, sun.solid_angle())
        });
        suns.chain(self.area_lights(from))
    }

    /// Radiance from a surface that is not clear towards `wo`; `factor` scales the irradiance on
    /// its front.
    pub fn surface(
        &self,
        point: Vec3,
        origin_triangle: Option<u32>,
        normal: Vec3,
        wo: Vec3,
        bsdf: &Bsdf,
        factor: Vec3,
    ) -> Vec3 {
        let normal = if normal.dot(wo) >= 0.0 { normal } else { -normal };
        let cosine = normal.dot(wo).max(1e-3);
        let (specular, left) = specular_and_rest(bsdf, cosine);
        let mut front = self.light.irradiance(normal);
        let mut back = if bsdf.transmittance == Vec3::ZERO { Vec3::ZERO } else { self.light.irradiance(-normal) };
        let mut highlight = Vec3::ZERO;
        if let Some((specular, r)) = &specular {
            highlight += *r * self.light.specular(reflect(-wo, normal), specular.alpha);
        }
        for (towards, irradiance, _) in self.compact_lights(point) {
            let facing = normal.dot(towards);
            if facing < 0.0 && bsdf.transmittance == Vec3::ZERO {
                continue;
            }
            let ray = Ray { origin: point, direction: towards, time: 0.5, origin_triangle };
            if self.scene.occluded_by_opaque(&ray, f32::INFINITY) {
                continue;
            }
            if facing >= 0.0 {
                front += irradiance * facing;
                if let Some((specular, _)) = &specular {
                    let [x, y] = orthonormal_basis(normal);
                    let local = |v: Vec3| Vec3::new(v.dot(x), v.dot(y), v.dot(normal));
                    // A lobe as narrow as the sun's reflection would be missed between samples.
                    let wide = Ggx { alpha: specular.alpha.max(0.03), ..*specular };
                    highlight += irradiance * wide.eval(local(wo), local(towards)).0;
                }
            } else {
                back -= irradiance * facing;
            }
        }
        highlight + left * FRAC_1_PI * (bsdf.diffuse * front * factor + bsdf.transmittance * back)
    }

    /// Radiance from an opaque solid at a point hit by a ray.
    pub fn solid(&self, at: &SurfaceInteraction, parameters: &BsdfParameters, solid: u32, wo: Vec3) -> Vec3 {
        let wetness = self.scene.solids[solid as usize].wetness(at.uv);
        let normal = self.scene.film_normal(at, wetness.slope, 0.5);
        self.surface(at.point, Some(at.triangle), normal, wo, &parameters.bsdf(at.uv, 1.0, wetness.wet), Vec3::ONE)
    }

    /// Radiance of what a pixel of the camera shows behind everything: an area light, the backdrop
    /// or the environment.
    pub fn behind_everything(&self, [x, y]: [usize; 2], origin: Vec3, direction: Vec3) -> Vec3 {
        let distant = || self.backdrop.map_or_else(|| self.light.radiance(direction), |view| view.pixel(x, y));
        self.area_light_radiance(origin, direction, f32::INFINITY).unwrap_or_else(distant)
    }

    /// Radiance of the backdrop along a deviated ray, for a drop whose curvature blurs by `blur`.
    fn backdrop(&self, origin: Vec3, direction: Vec3, blur: f32) -> Option<Vec3> {
        let view = self.backdrop.as_ref()?;
        view.radiance(origin, direction, BACKDROP_BLUR * blur * view.pixels_per_radian())
    }

    /// Radiance of the backdrop or the environment along a deviated ray, blurred by `alpha`.
    pub fn glossy(&self, origin: Vec3, direction: Vec3, alpha: f32) -> Vec3 {
        self.backdrop(origin, direction, alpha).unwrap_or_else(|| self.light.specular(direction, alpha))
    }

    /// Radiance of the nearest area light that a ray hits within `t_max`.
    pub fn area_light_radiance(&self, origin: Vec3, direction: Vec3, t_max: f32) -> Option<Vec3> {
        let area_lights = self.scene.area_lights.iter();
        let hits =
            area_lights.filter_map(|area_light| Some((area_light.hit(origin, direction)?, area_light.radiance())));
        hits.filter(|(d, _)| *d < t_max).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, radiance)| radiance)
    }

    /// Radiance along a ray among the solids: of the first opaque one or the environment, through
    /// glass. Drops are ignored; a backdrop is blurred by `blur`.
    pub fn background(
        &self,
        origin: Vec3,
        direction: Vec3,
        origin_triangle: Option<u32>,
        index: f32,
        blur: f32,
    ) -> Vec3 {
        let mut ray = Ray { origin, direction, time: 0.5, origin_triangle };
        let mut index = index;
        let mut left = Vec3::ONE;
        for _ in 0..MAX_SURFACES {
            let hit = self.scene.intersect(&ray, f32::INFINITY);
            let t_max = hit.map_or(f32::INFINITY, |hit| hit.distance);
            if let Some(radiance) = self.area_light_radiance(ray.origin, ray.direction, t_max) {
                return left * radiance;
            }
            let Some(hit) = hit else {
                let backdrop = self.backdrop(ray.origin, ray.direction, blur);
                return left * backdrop.unwrap_or_else(|| self.light.radiance(ray.direction));
            };
            let at = self.scene.surface_interaction(&hit, 0.5);
            let Owner::Solid(solid) = at.owner else { return Vec3::ZERO };
            let side = if ray.direction.dot(at.normal) < 0.0 { 1.0 } else { -1.0 };
            let cosine = -side * ray.direction.dot(at.normal);
            let next = match &self.scene.solids[solid as usize].body {
                Body::Opaque(parameters) => return left * self.solid(&at, parameters, solid, -ray.direction),
                Body::Sheet { index: sheet, tint } => {
                    let r = sheet_reflectance(cosine, index, *sheet, 1.0);
                    left *= (1.0 - r) * *tint;
                    refract(ray.direction, side * at.normal, index)
                        .map(|refracted| (refracted, 1.0))
                        .filter(|_| r < 1.0)
                }
                Body::Glass { index: glass, tint } => {
                    let (from, to) = if side > 0.0 { (index, *glass) } else { (*glass, 1.0) };
                    let normal =
                        if at.shading_normal.dot(side * ray.direction) < 0.0 { at.shading_normal } else { at.normal };
                    left *= surface_tint(*tint) * (1.0 - reflectance(-side * ray.direction.dot(normal), from / to));
                    refract(ray.direction, side * normal, from / to).map(|refracted| (refracted, to))
                }
            };
            let Some((refracted, medium)) = next else {
                // Total internal reflection: approximated by the blurred environment.
                return left.max(Vec3::splat(0.5))
                    * self.glossy(at.point, reflect(ray.direction, side * at.normal), 0.24);
            };
            index = medium;
            ray = Ray { origin: at.point, direction: refracted, origin_triangle: Some(at.triangle), ..ray };
        }
        Vec3::ZERO
    }

    /// A sheet or glass body in front of `behind`, seen along `direction`.
    pub fn glass(&self, at: &SurfaceInteraction, solid: u32, direction: Vec3, behind: impl FnOnce() -> Vec3) -> Vec3 {
        let normal = if direction.dot(at.normal) < 0.0 { at.normal } else { -at.normal };
        let cosine = -direction.dot(normal);
        let reflected = || self.light.radiance(reflect(direction, normal));
        match self.scene.solids[solid as usize].body {
            // The photograph includes what the pane reflects.
            Body::Sheet { .. } if self.backdrop.is_some() => behind(),
            Body::Sheet { index, tint } => {
                let r = sheet_reflectance(cosine, 1.0, index, 1.0);
                r * reflected() + (1.0 - r) * tint * behind()
            }
            Body::Glass { index, tint } => {
                let smooth = if direction.dot(at.shading_normal) < 0.0 { at.shading_normal } else { normal };
                let r = reflectance(-direction.dot(smooth), 1.0 / index);
                r * self.light.radiance(reflect(direction, smooth)) + (1.0 - r) * surface_tint(tint) * behind()
            }
            Body::Opaque(_) => behind(),
        }
    }

    /// Highlights of suns and area lights on a drop.
    pub fn highlights(&self, point: Vec3, normal: Vec3, wo: Vec3, reflected: f32) -> Vec3 {
        let lights = self.compact_lights(point);
        reflected * lights.map(|(towards, light, angle)| light * blinn(normal, wo, towards, angle)).sum::<Vec3>()
    }

    /// Radiance of a ray that leaves a drop's surface: of the solid if it points down, of the
    /// environment otherwise.
    pub fn reflected_radiance(&self, point: Vec3, direction: Vec3, base_normal: Option<Vec3>, alpha: f32) -> Vec3 {
        if base_normal.is_some_and(|normal| direction.dot(normal) < 0.0) {
            let ray = Ray { origin: point, direction, time: 0.5, origin_triangle: None };
            if let Some(hit) = self.scene.intersect(&ray, f32::INFINITY) {
                let at = self.scene.surface_interaction(&hit, 0.5);
                if let Owner::Solid(solid) = at.owner
                    && let Body::Opaque(parameters) = &self.scene.solids[solid as usize].body
                {
                    return self.solid(&at, parameters, solid, -direction);
                }
            }
        }
        self.glossy(point, direction, alpha)
    }
}
