//! The color of what a preview shows: solids, the sky, panes before them.

use std::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};
use sessile_appearance::{Bsdf, BsdfParameters, Ggx, NO_TRIANGLE, Ray, orthonormal_basis};

use super::base_irradiance::BaseIrradiance;
use super::prefiltered_light::{PrefilteredLight, blinn};
use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};

/// Clear faces that a line of sight may pass.
const MOST_FACES: usize = 8;

/// Everything that shading looks up.
pub(super) struct Shader<'a> {
    pub scene: &'a RenderScene,
    pub light: &'a PrefilteredLight,
    pub bases: &'a BaseIrradiance,
    /// Refractive index of the liquid; `None` where it is not clear.
    pub clear: Option<(f32, Vec3)>,
}

/// FramesToRender a surface does with light.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub base: Vec3,
    pub through: Vec3,
    pub f0: Vec3,
    pub alpha: f32,
}

impl Paint {
    pub fn of(parameters: &BsdfParameters, uv: Vec2, outside: f32, wet: f32) -> Self {
        Self::of_color(parameters, parameters.color.at(uv), outside, wet)
    }

    /// The same where the texture has a given color.
    pub fn of_color(parameters: &BsdfParameters, color: Vec3, outside: f32, wet: f32) -> Self {
        let Bsdf { specular: mirror, diffuse: base, transmittance: through } =
            parameters.bsdf_with_color(color, outside, wet);
        let (f0, alpha) = mirror.map_or((Vec3::ZERO, 1.0), |mirror| (mirror.f0, mirror.alpha));
        Self { base, through, f0, alpha }
    }

    /// The mirror, if there is one, and what it leaves to the base.
    pub fn mirror(&self, cosine: f32) -> (Option<(Ggx, Vec3)>, Vec3) {
        if self.f0.max_element() <= 1e-3 {
            return (None, Vec3::ONE);
        }
        let mirror = Ggx { alpha: self.alpha, f0: self.f0 };
        let share = mirror.albedo(cosine);
        (Some((mirror, share)), (Vec3::ONE - share).max(Vec3::ZERO))
    }
}

impl Shader<'_> {
    /// Lamps as seen from a point: direction, irradiance facing, solid angle.
    pub fn area_lights(&self, from: Vec3) -> impl Iterator<Item = (Vec3, Vec3, f32)> {
        self.scene.area_lights.iter().map(move |area_light| {
            let (towards, irradiance) = area_light.towards(from);
            (towards, irradiance, area_light.solid_angle(from))
        })
    }

    /// Suns and lamps as seen from a point.
    pub fn small_lights(&self, from: Vec3) -> impl Iterator<Item = (Vec3, Vec3, f32)> {
        let suns = self.scene.suns.iter().map(|sun| {
            let (towards, irradiance) = sun.towards();
            (towards, irradiance, sun.solid_angle())
        });
        suns.chain(self.area_lights(from))
    }

    /// Light from a surface that is not clear towards `out`; `far` is the factor on light from afar, and on small lights.
    pub fn surface(
        &self,
        point: Vec3,
        origin_triangle: u32,
        normal: Vec3,
        out: Vec3,
        paint: &Paint,
        factor: Vec3,
    ) -> Vec3 {
        let normal = if normal.dot(out) >= 0.0 { normal } else { -normal };
        let cosine = normal.dot(out).max(1e-3);
        let (mirror, left) = paint.mirror(cosine);
        let mut front = self.light.irradiance(normal);
        let mut back = if paint.through == Vec3::ZERO { Vec3::ZERO } else { self.light.irradiance(-normal) };
        let mut shine = Vec3::ZERO;
        if let Some((mirror, share)) = &mirror {
            shine += *share * self.light.mirrored(reflect(-out, normal), mirror.alpha);
        }
        for (towards, irradiance, _) in self.small_lights(point) {
            let facing = normal.dot(towards);
            if facing < 0.0 && paint.through == Vec3::ZERO {
                continue;
            }
            let ray = Ray { origin: point, direction: towards, time: 0.5, origin_triangle };
            if self.scene.occluded_by_opaque(&ray, f32::INFINITY) {
                continue;
            }
            if facing >= 0.0 {
                front += irradiance * facing;
                if let Some((mirror, _)) = &mirror {
                    let [x, y] = orthonormal_basis(normal);
                    let local = |v: Vec3| Vec3::new(v.dot(x), v.dot(y), v.dot(normal));
                    // A lobe as narrow as a sun's mirror image would fall between samples.
                    let wide = Ggx { alpha: mirror.alpha.max(0.03), ..*mirror };
                    shine += irradiance * wide.eval(local(out), local(towards)).0;
                }
            } else {
                back -= irradiance * facing;
            }
        }
        shine + left * FRAC_1_PI * (paint.base * front * factor + paint.through * back)
    }

    /// Light from a painted solid at a point met by a ray.
    pub fn solid(&self, at: &SurfaceInteraction, parameters: &BsdfParameters, solid: u32, out: Vec3) -> Vec3 {
        let wetness = self.scene.solids[solid as usize].wet.as_ref().map(|layer| layer.at(at.uv)).unwrap_or_default();
        let normal = self.scene.film_normal(at, wetness.slope, 0.5);
        self.surface(at.point, at.triangle, normal, out, &Paint::of(parameters, at.uv, 1.0, wetness.wet), Vec3::ONE)
    }

    /// The sky, or a lamp before it.
    pub fn sky(&self, origin: Vec3, direction: Vec3) -> Vec3 {
        self.area_light(origin, direction, f32::INFINITY).unwrap_or_else(|| self.light.sharp(direction))
    }

    /// The light of a lamp that a ray meets within `reach`.
    fn area_light(&self, origin: Vec3, direction: Vec3, reach: f32) -> Option<Vec3> {
        let area_lights = self.scene.area_lights.iter();
        let met =
            area_lights.filter_map(|area_light| Some((area_light.hit(origin, direction)?, area_light.radiance())));
        met.filter(|(d, _)| *d < reach).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, radiance)| radiance)
    }

    /// FramesToRender is seen along a ray among the solids: the first painted one or the sky, through glass. Drops are not seen.
    pub fn background(&self, origin: Vec3, direction: Vec3, origin_triangle: u32, index: f32) -> Vec3 {
        let mut ray = Ray { origin, direction, time: 0.5, origin_triangle };
        let mut index = index;
        let mut left = 1.0;
        for _ in 0..MOST_FACES {
            let hit = self.scene.intersect(&ray, f32::INFINITY);
            let reach = hit.map_or(f32::INFINITY, |hit| hit.distance);
            if let Some(radiance) = self.area_light(ray.origin, ray.direction, reach) {
                return left * radiance;
            }
            let Some(hit) = hit else { return left * self.light.sharp(ray.direction) };
            let at = self.scene.surface_interaction(&hit, 0.5);
            let Owner::Solid(solid) = at.owner else { return Vec3::ZERO };
            let side = if ray.direction.dot(at.normal) < 0.0 { 1.0 } else { -1.0 };
            let cosine = -side * ray.direction.dot(at.normal);
            let next = match &self.scene.solids[solid as usize].body {
                Body::Opaque(parameters) => return left * self.solid(&at, parameters, solid, -ray.direction),
                Body::Sheet { index: sheet } => {
                    let share = sheet_reflectance(cosine, index, *sheet, 1.0);
                    left *= 1.0 - share;
                    refract(ray.direction, side * at.normal, index).map(|bent| (bent, 1.0)).filter(|_| share < 1.0)
                }
                Body::GlassBody { index: glass } => {
                    let (from, to) = if side > 0.0 { (index, *glass) } else { (*glass, 1.0) };
                    let normal =
                        if at.shading_normal.dot(side * ray.direction) < 0.0 { at.shading_normal } else { at.normal };
                    left *= 1.0 - reflectance(-side * ray.direction.dot(normal), from / to);
                    refract(ray.direction, side * normal, from / to).map(|bent| (bent, to))
                }
            };
            let Some((bent, medium)) = next else {
                // All is mirrored: what lies that way is as good as the sky's blur.
                return left.max(0.5) * self.light.mirrored(reflect(ray.direction, side * at.normal), 0.24);
            };
            index = medium;
            ray = Ray { origin: at.point, direction: bent, origin_triangle: at.triangle, ..ray };
        }
        Vec3::ZERO
    }

    /// A pane or glass body before `behind`, seen along `direction`.
    pub fn glass(&self, at: &SurfaceInteraction, solid: u32, direction: Vec3, behind: impl FnOnce() -> Vec3) -> Vec3 {
        let normal = if direction.dot(at.normal) < 0.0 { at.normal } else { -at.normal };
        let cosine = -direction.dot(normal);
        let mirrored = || self.light.sharp(reflect(direction, normal));
        match self.scene.solids[solid as usize].body {
            Body::Sheet { index } => {
                let share = sheet_reflectance(cosine, 1.0, index, 1.0);
                share * mirrored() + (1.0 - share) * behind()
            }
            Body::GlassBody { index } => {
                let smooth = if direction.dot(at.shading_normal) < 0.0 { at.shading_normal } else { normal };
                let share = reflectance(-direction.dot(smooth), 1.0 / index);
                share * self.light.sharp(reflect(direction, smooth)) + (1.0 - share) * behind()
            }
            Body::Opaque(_) => behind(),
        }
    }

    /// Highlights of suns and lamps on a drop.
    pub fn highlights(&self, point: Vec3, normal: Vec3, out: Vec3, reflected: f32) -> Vec3 {
        let lights = self.small_lights(point);
        reflected * lights.map(|(towards, light, angle)| light * blinn(normal, out, towards, angle)).sum::<Vec3>()
    }

    /// FramesToRender a ray that starts on the drop's surface and leaves it meets: the ground if it goes down, the sky else.
    pub fn mirrored(&self, point: Vec3, direction: Vec3, ground: Option<Vec3>, alpha: f32) -> Vec3 {
        if ground.is_some_and(|normal| direction.dot(normal) < 0.0) {
            let ray = Ray { origin: point, direction, time: 0.5, origin_triangle: NO_TRIANGLE };
            if let Some(hit) = self.scene.intersect(&ray, f32::INFINITY) {
                let at = self.scene.surface_interaction(&hit, 0.5);
                if let Owner::Solid(solid) = at.owner
                    && let Body::Opaque(parameters) = &self.scene.solids[solid as usize].body
                {
                    return self.solid(&at, parameters, solid, -direction);
                }
            }
        }
        self.light.mirrored(direction, alpha)
    }
}
