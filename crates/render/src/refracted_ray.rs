//! Deterministic rays that are refracted at every clear interface and never reflected.
//!
//! At each interface the refracted direction is taken, whatever the reflectance, so that there is
//! exactly one ray through a drop. It ends on the first surface that is not clear, or at an
//! interface with total internal reflection.
//!
//! Media have the same priorities as in the path integrator ([`crate::interfaces`]): glass over
//! liquid over air; a sheet of glass is too thin to shift the ray, so only the media before and
//! behind it matter.

use glam::Vec3;
use sessile_appearance::{LiquidMaterial, Ray};

use crate::fresnel::refract;
use crate::interfaces::Media;
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};

/// Maximum number of interfaces along a ray.
const MAX_INTERFACES: u32 = 64;

/// The frame's time within the shutter interval.
const MID_SHUTTER: f32 = 0.5;

/// Where a refracted ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RayEnd {
    /// The environment, a sun or the backdrop.
    Environment {
        /// Where the ray leaves the scene.
        origin: Vec3,
        /// Its direction then.
        direction: Vec3,
    },
    /// A solid that is not clear, or an area light, at this point.
    Surface(Vec3),
    /// A liquid that is not clear.
    OpaqueLiquid,
    /// An interface beyond the critical angle.
    TotalReflection,
    /// Too many interfaces.
    Lost,
}

/// A refracted ray, traced to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefractedRay {
    /// The first drop along it.
    pub drop: Option<u32>,
    /// Distance to the first surface of any kind; infinite without one.
    pub first_distance: f32,
    /// Whether it crosses a water film on a sheet of glass.
    pub film: bool,
    /// Where it ends.
    pub end: RayEnd,
}

/// How far a ray is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// To its end.
    End,
    /// To the first drop, or else to its end.
    Drop,
}

struct RayState<'a> {
    scene: &'a RenderScene,
    /// Refractive index of the liquid.
    liquid: f32,
    ray: Ray,
    media: Media,
    drop: Option<u32>,
    film: bool,
}

/// The pinhole ray of a camera at `eye`, at the frame's time.
pub fn pinhole_ray(eye: Vec3, direction: Vec3) -> Ray {
    Ray { origin: eye, direction, time: MID_SHUTTER, origin_triangle: None }
}

/// Traces a refracted ray, which starts inside drop `inside` if given.
pub fn trace_refracted(scene: &RenderScene, ray: Ray, inside: Option<u32>, stop_at: StopAt) -> RefractedRay {
    let liquid = match scene.liquid {
        LiquidMaterial::Clear { index, .. } => index,
        LiquidMaterial::Opaque(_) => 1.0,
    };
    let media = Media { drops: u32::from(inside.is_some()), ..Media::default() };
    let mut state = RayState { scene, liquid, ray, media, drop: inside, film: false };
    let mut first_distance = f32::INFINITY;
    for interface in 0..MAX_INTERFACES {
        let hit = scene.intersect(&state.ray, f32::INFINITY);
        let t_max = hit.map_or(f32::INFINITY, |hit| hit.distance);
        let Ray { origin, direction, .. } = state.ray;
        let distances = scene.area_lights.iter().filter_map(|light| light.hit(origin, direction));
        let nearest = distances.fold(t_max, f32::min);
        if interface == 0 {
            first_distance = nearest;
        }
        let end = if stop_at == StopAt::Drop && state.drop.is_some() {
            Some(RayEnd::Lost)
        } else if nearest < t_max {
            Some(RayEnd::Surface(origin + nearest * direction))
        } else if let Some(hit) = hit {
            let at = scene.surface_interaction(&hit, ray.time);
            let end = state.cross(&at);
            state.ray = Ray { origin: at.point, origin_triangle: Some(at.triangle), ..state.ray };
            end
        } else {
            Some(RayEnd::Environment { origin, direction })
        };
        if let Some(end) = end {
            return RefractedRay { drop: state.drop, film: state.film, first_distance, end };
        }
    }
    RefractedRay { drop: state.drop, film: state.film, first_distance, end: RayEnd::Lost }
}

impl RayState<'_> {
    /// Refracts the ray at a surface; where it ends, if it ends there.
    fn cross(&mut self, at: &SurfaceInteraction) -> Option<RayEnd> {
        match at.owner {
            Owner::Drop(id) if matches!(self.scene.liquid, LiquidMaterial::Opaque(_)) => {
                self.drop = self.drop.or(Some(id));
                Some(RayEnd::OpaqueLiquid)
            }
            Owner::Drop(id) => self.cross_liquid(at, id),
            Owner::Solid(solid) => match self.scene.solids[solid as usize].body {
                Body::Opaque(_) => Some(RayEnd::Surface(at.point)),
                Body::Sheet { .. } => {
                    self.film |= self.scene.solids[solid as usize].wetness(at.uv).is_film();
                    self.cross_sheet(at)
                }
                Body::Glass { index, .. } => self.cross_glass(at, index),
            },
        }
    }

    fn cross_liquid(&mut self, at: &SurfaceInteraction, id: u32) -> Option<RayEnd> {
        let entering = self.ray.direction.dot(at.normal) < 0.0;
        let before = self.media.drops;
        self.media.drops = if entering { before + 1 } else { before.saturating_sub(1) };
        let inside_others = if entering { before > 0 } else { before > 1 };
        if self.media.glass > 0 || inside_others {
            return None;
        }
        self.drop = self.drop.or(Some(id));
        let (from, to) = if entering { (1.0, self.liquid) } else { (self.liquid, 1.0) };
        self.refract(at, from / to)
    }

    /// A thin sheet: only the media before and behind it matter.
    fn cross_sheet(&mut self, at: &SurfaceInteraction) -> Option<RayEnd> {
        let from_front = self.ray.direction.dot(at.normal) < 0.0;
        let near = if from_front { self.media.index_outside_glass(self.liquid) } else { 1.0 };
        let behind = if from_front { None } else { self.drop_outside(at) };
        let far = if behind.is_some() { self.liquid } else { 1.0 };
        self.media.drops = u32::from(behind.is_some());
        self.drop = self.drop.or(behind);
        self.refract_flat(at, near / far)
    }

    fn cross_glass(&mut self, at: &SurfaceInteraction, index: f32) -> Option<RayEnd> {
        let entering = self.ray.direction.dot(at.normal) < 0.0;
        if entering && self.media.glass > 0 {
            self.media.glass += 1;
            return None;
        }
        if !entering && self.media.glass > 1 {
            self.media.glass -= 1;
            return None;
        }
        if entering {
            let outside = self.media.index_outside_glass(self.liquid);
            self.media = Media { glass: 1, glass_index: index, ..self.media };
            return self.refract(at, outside / index);
        }
        let behind = self.drop_outside(at);
        let outside = if behind.is_some() { self.liquid } else { 1.0 };
        let from = if self.media.glass > 0 { self.media.glass_index } else { index };
        self.media = Media { drops: u32::from(behind.is_some()), ..Media::default() };
        self.drop = self.drop.or(behind);
        self.refract(at, from / outside)
    }

    /// The drop on the outer side of a solid's surface.
    fn drop_outside(&self, at: &SurfaceInteraction) -> Option<u32> {
        self.scene.enclosing_drop(at.point, at.normal, self.ray.time)
    }

    /// Refracts the ray about the shading normal; where that faces away, about the geometric one.
    fn refract(&mut self, at: &SurfaceInteraction, eta: f32) -> Option<RayEnd> {
        let incident = self.ray.direction;
        let side = if incident.dot(at.normal) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.normal;
        let normal = if incident.dot(side * at.shading_normal) < 0.0 { side * at.shading_normal } else { facet };
        let Some(refracted) = refract(incident, normal, eta) else { return Some(RayEnd::TotalReflection) };
        let refracted = Some(refracted).filter(|d| d.dot(facet) < 0.0).or_else(|| refract(incident, facet, eta));
        self.turn_to(refracted)
    }

    /// Refracts the ray about the geometric normal.
    fn refract_flat(&mut self, at: &SurfaceInteraction, eta: f32) -> Option<RayEnd> {
        if eta == 1.0 {
            return None;
        }
        let incident = self.ray.direction;
        let normal = if incident.dot(at.normal) < 0.0 { at.normal } else { -at.normal };
        self.turn_to(refract(incident, normal, eta))
    }

    fn turn_to(&mut self, refracted: Option<Vec3>) -> Option<RayEnd> {
        match refracted {
            Some(direction) => {
                self.ray.direction = direction;
                None
            }
            None => Some(RayEnd::TotalReflection),
        }
    }
}
