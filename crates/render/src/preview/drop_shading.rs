//! The color of a drop: what its surface mirrors, the highlights of small lights, and what is seen through it.
//!
//! The line of sight is bent once, at the drop's surface. Where it comes down to the base on a painted solid, that solid is seen
//! in the light of the illumination texture; on glass it is bent again and goes on behind the pane; and where it leaves the
//! drop beside the base it is bent at the cap that stands for the drop.

use std::f32::consts::FRAC_1_PI;

use glam::{Vec2, Vec3};
use sessile_appearance::{BsdfParameters, LiquidMaterial, NO_TRIANGLE, Ray};

use super::screen_drops::{Base, ScreenDrop};
use super::shading::{Paint, Shader};
use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::render_scene::{Body, Owner, SurfaceInteraction};

/// A base is still met this far beyond its contour, in units of the distance to it.
const CONTOUR: f32 = 1.02;

/// A share of light mirrored by the pane under a drop up to which it is not followed; what lies behind the pane stands for it.
const SMALL: f32 = 0.15;

/// A point of a drop's surface.
pub(super) struct DropPoint {
    pub point: Vec3,
    pub normal: Vec3,
    /// Seen from below, through the glass that the drop stands on.
    pub through_glass: bool,
}

impl Shader<'_> {
    /// Light from a point of a drop against `direction`; `blur` is the roughness that a mirror of the drop's curvature has over a
    /// pixel.
    pub fn drop(&self, drop: &ScreenDrop, at: &DropPoint, direction: Vec3, blur: f32) -> Vec3 {
        let Some((index, _)) = self.clear else {
            let LiquidMaterial::Opaque(parameters) = &self.scene.liquid else { return Vec3::ZERO };
            let paint = Paint::of(parameters, Vec2::ZERO, 1.0, 0.0);
            let paint = Paint { alpha: paint.alpha.max(blur), ..paint };
            return self.surface(at.point, NO_TRIANGLE, at.normal, -direction, &paint, Vec3::ONE);
        };
        if at.through_glass {
            let Some(bent) = refract(direction, at.normal, 1.0 / index) else { return Vec3::ZERO };
            return self.leave(drop, at.point, bent, index);
        }
        let cosine = -direction.dot(at.normal);
        let share = reflectance(cosine, 1.0 / index);
        let ground = drop.base.as_ref().map(|base| base.normal);
        let mirrored = self.mirrored(at.point, reflect(direction, at.normal), ground, blur);
        let bent = refract(direction, at.normal, 1.0 / index).unwrap_or(direction);
        let seen = self.through(drop, at.point, bent, index);
        share * mirrored + (1.0 - share) * seen + self.highlights(at.point, at.normal, -direction, share)
    }

    fn fade(&self, distance: f32) -> Vec3 {
        self.clear.map_or(Vec3::ONE, |(_, absorption)| (-absorption * distance).exp())
    }

    /// FramesToRender is seen in a drop along a ray that has just entered it.
    fn through(&self, drop: &ScreenDrop, from: Vec3, direction: Vec3, index: f32) -> Vec3 {
        let Some(base) = &drop.base else { return self.leave(drop, from, direction, index) };
        let ray = Ray { origin: from, direction, time: 0.5, origin_triangle: NO_TRIANGLE };
        let hit = self
            .scene
            .intersect(&ray, f32::INFINITY)
            .map(|hit| (hit.distance, self.scene.surface_interaction(&hit, 0.5)));
        let Some((distance, at)) = hit else { return self.leave(drop, from, direction, index) };
        let Owner::Solid(solid) = at.owner else { return Vec3::ZERO };
        let offset = base.offset(at.point);
        if solid != base.solid || offset.length_squared() > CONTOUR * CONTOUR {
            return self.leave(drop, from, direction, index);
        }
        let seen = match &self.scene.solids[solid as usize].body {
            Body::Opaque(parameters) => self.base(drop, base, &at, offset, parameters, direction, index),
            Body::Sheet { index: sheet } => {
                let normal = if direction.dot(at.normal) < 0.0 { at.normal } else { -at.normal };
                let share = sheet_reflectance(-direction.dot(normal), index, *sheet, 1.0);
                let behind = refract(direction, normal, index).filter(|_| share < 1.0);
                let behind = behind.map_or(Vec3::ZERO, |bent| self.background(at.point, bent, at.triangle, 1.0));
                let mirrored = || self.leave(drop, at.point, reflect(direction, normal), index);
                (1.0 - share) * behind + share * if share > SMALL { mirrored() } else { behind }
            }
            Body::GlassBody { .. } => self.background(from, direction, NO_TRIANGLE, index),
        };
        self.fade(distance) * seen
    }

    /// The ground under a drop, at an offset in its footprint.
    #[allow(clippy::too_many_arguments)]
    fn base(
        &self,
        drop: &ScreenDrop,
        base: &Base,
        at: &SurfaceInteraction,
        offset: Vec2,
        parameters: &BsdfParameters,
        direction: Vec3,
        index: f32,
    ) -> Vec3 {
        let wet = self.scene.solids[base.solid as usize].wet.as_ref().map_or(0.0, |layer| layer.at(at.uv).wet);
        let paint = Paint::of(parameters, at.uv, index, wet);
        let normal = if direction.dot(at.shading_normal) < 0.0 { at.shading_normal } else { -at.shading_normal };
        let (mirror, left) = paint.mirror((-direction.dot(normal)).max(1e-3));
        let mut seen = Vec3::ZERO;
        if let Some(light) = self.bases.of(base) {
            let area_lights: Vec<(Vec3, Vec3)> =
                self.area_lights(base.foot).map(|(towards, light, _)| (towards, light)).collect();
            let irradiance = self.bases.at_base(light, base, offset, &area_lights, paint.base);
            seen += left * paint.base * irradiance * FRAC_1_PI;
        }
        if paint.through != Vec3::ZERO {
            seen += left * paint.through * self.light.irradiance(-normal) * FRAC_1_PI;
        }
        if let Some((_, share)) = mirror {
            seen += share * self.leave(drop, at.point, reflect(direction, normal), index);
        }
        seen
    }

    /// FramesToRender is seen along a ray that leaves a drop into the air, bent at the cap that stands for it.
    fn leave(&self, drop: &ScreenDrop, from: Vec3, direction: Vec3, index: f32) -> Vec3 {
        let (distance, normal) = drop.body.exit(from, direction).unwrap_or((0.0, direction));
        let exit = from + distance * direction;
        let seen = match refract(direction, -normal, index) {
            Some(bent) => {
                let share = reflectance(direction.dot(normal), index);
                // From the middle of the drop, for the cap's surface is not quite the drop's and may lie beneath the ground.
                let start = drop.base.as_ref().map_or(exit, |base| lifted(exit, base));
                (1.0 - share) * self.background(start, bent, NO_TRIANGLE, 1.0)
                    + share * self.light.mirrored(reflect(direction, -normal), 0.24)
            }
            // Mirrored whole at the rim: it comes out somewhere else, from anywhere.
            None => self.light.mirrored(reflect(direction, -normal), 0.4),
        };
        self.fade(distance) * seen
    }
}

/// A point, moved to the drop's side of the plane of its base.
fn lifted(point: Vec3, base: &Base) -> Vec3 {
    let height = (point - base.foot).dot(base.normal);
    point + (1e-3 * base.radius - height).max(0.0) * base.normal
}
