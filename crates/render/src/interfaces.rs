//! Surface events along a ray: pass-through, a dielectric interface, or a scattering surface.
//!
//! A ray tracks the media it is in: how many drops and how many glass bodies overlap at its
//! position. Overlaps are resolved by priority, glass over liquid over air (schmidt2002): a drop's
//! surface inside glass is ignored, and so is one drop's surface inside another.

use glam::Vec3;
use sessile_appearance::{BsdfParameters, LiquidMaterial};

use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::render_scene::{Body, Owner, RenderScene, SurfaceInteraction};

/// Surfaces that a ray may pass undeviated, such as those of overlapping drops.
pub const MAX_PASSES: u32 = 64;

/// The media that a ray is in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Media {
    /// Number of overlapping drops.
    pub drops: u32,
    /// Number of overlapping glass bodies.
    pub glass: u32,
    /// Refractive index of the glass body entered last.
    pub glass_index: f32,
}

impl Media {
    /// The media at a point at mid-shutter; traces rays, so call it once per image.
    pub fn at(scene: &RenderScene, point: Vec3) -> Self {
        let drops = u32::from(scene.drop_around(point).is_some());
        Self { drops, ..Self::default() }
    }

    /// Refractive index here, given the liquid's.
    pub fn index(&self, liquid: f32) -> f32 {
        if self.glass > 0 { self.glass_index } else { self.index_outside_glass(liquid) }
    }

    /// Refractive index of liquid or air here, ignoring glass.
    pub fn index_outside_glass(&self, liquid: f32) -> f32 {
        if self.drops > 0 { liquid } else { 1.0 }
    }

    /// Whether the ray is in air.
    pub fn is_air(&self) -> bool {
        self.drops == 0 && self.glass == 0
    }

    /// Whether the liquid absorbs light here.
    pub fn is_liquid(&self) -> bool {
        self.drops > 0 && self.glass == 0
    }
}

/// An interface between clear media, with its reflected and refracted directions.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Fresnel reflectance.
    pub reflectance: f32,
    /// Direction of the reflected ray.
    pub reflected: Vec3,
    /// Direction of the refracted ray; `None` for total internal reflection.
    pub refracted: Option<Vec3>,
    /// Media of the reflected and of the refracted ray.
    pub media: [Media; 2],
    /// Normal that both directions follow, towards the ray's origin.
    pub normal: Vec3,
    /// Share of the refracted light that colored glass leaves, per channel.
    pub tint: Vec3,
    /// Whether the transmitted ray keeps its direction: a thin sheet with the same medium on both
    /// sides.
    pub undeviated: bool,
}

/// What happens to a ray at a surface.
#[derive(Clone, Copy, Debug)]
pub enum SurfaceEvent<'a> {
    /// The surface has no effect; the media behind it.
    PassThrough(Media),
    /// An interface between clear media.
    Interface(Interface),
    /// A surface with a BSDF.
    Scatter {
        /// Its BSDF parameters.
        parameters: &'a BsdfParameters,
        /// Shading normal, tilted by a film where there is one; outward from the owner.
        normal: Vec3,
        /// Wetness from 0 to 1.
        wetness: f32,
    },
}

/// Refractive index and absorption (in 1/m) of a scene's liquid; those of air if it is opaque.
pub fn liquid_optics(scene: &RenderScene) -> (f32, Vec3) {
    match scene.liquid {
        LiquidMaterial::Clear { index, absorption } => (index, absorption),
        LiquidMaterial::Opaque(_) => (1.0, Vec3::ZERO),
    }
}

/// The event of a ray along `incident` in `media` at a surface point.
pub fn surface_event<'a>(
    scene: &'a RenderScene,
    media: &Media,
    incident: Vec3,
    at: &SurfaceInteraction,
    time: f32,
) -> SurfaceEvent<'a> {
    let hit = Hit { scene, media, incident, at, time, liquid: liquid_optics(scene).0 };
    match at.owner {
        Owner::Drop(_) => hit.liquid_surface(),
        Owner::Solid(solid) => {
            let solid = &scene.solids[solid as usize];
            match &solid.body {
                Body::Opaque(parameters) => {
                    let wetness = solid.wetness(at.uv);
                    let normal = scene.film_normal(at, wetness.slope, time);
                    SurfaceEvent::Scatter { parameters, normal, wetness: wetness.wet }
                }
                Body::Sheet { index, tint } => {
                    let wetness = solid.wetness(at.uv);
                    let film = wetness.is_film().then(|| scene.film_normal(at, wetness.slope, time));
                    SurfaceEvent::Interface(Interface { tint: *tint, ..hit.sheet(*index, film) })
                }
                Body::Glass { index, tint } => {
                    let wetness = solid.wetness(at.uv);
                    let film = wetness.is_film().then(|| scene.film_normal(at, wetness.slope, time));
                    hit.glass_body(*index, surface_tint(*tint), film)
                }
            }
        }
    }
}

/// A ray at a surface point.
struct Hit<'a, 'b> {
    scene: &'a RenderScene,
    media: &'b Media,
    incident: Vec3,
    at: &'b SurfaceInteraction,
    time: f32,
    /// Refractive index of the liquid.
    liquid: f32,
}

impl<'a> Hit<'a, '_> {
    /// Number of drops (0 or 1) on the outer side of the surface.
    fn drops_outside(&self) -> u32 {
        u32::from(self.scene.enclosing_drop(self.at.point, self.at.normal, self.time).is_some())
    }

    fn liquid_surface(&self) -> SurfaceEvent<'a> {
        if let LiquidMaterial::Opaque(parameters) = &self.scene.liquid {
            return SurfaceEvent::Scatter { parameters, normal: self.at.shading_normal, wetness: 0.0 };
        }
        let entering = self.incident.dot(self.at.normal) < 0.0;
        let inside_others = if entering { self.media.drops > 0 } else { self.media.drops > 1 };
        if self.media.glass > 0 || inside_others {
            let drops = if entering { self.media.drops + 1 } else { self.media.drops.saturating_sub(1) };
            return SurfaceEvent::PassThrough(Media { drops, ..*self.media });
        }
        let (from, to) = if entering { (1.0, self.liquid) } else { (self.liquid, 1.0) };
        let inside = Media { drops: 1, ..*self.media };
        let outside = Media { drops: 0, ..*self.media };
        let media = if entering { [outside, inside] } else { [inside, outside] };
        SurfaceEvent::Interface(self.interface(from, to, media, self.at.shading_normal))
    }

    /// Reflection and refraction from index `from` to index `to`; `media` are those of the
    /// reflected and the refracted ray, `shading_normal` points out of the body.
    fn interface(&self, from: f32, to: f32, media: [Media; 2], shading_normal: Vec3) -> Interface {
        let (incident, at) = (self.incident, self.at);
        let side = if incident.dot(at.normal) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.normal;
        // Where the shading normal faces away from the ray, use the geometric one.
        let normal = if incident.dot(side * shading_normal) < 0.0 { side * shading_normal } else { facet };
        let reflectance = reflectance(-incident.dot(normal), from / to);
        let reflected = reflect(incident, normal);
        let reflected = if reflected.dot(facet) > 0.0 { reflected } else { reflect(incident, facet) };
        let refracted = refract(incident, normal, from / to);
        let refracted = refracted.filter(|d| d.dot(facet) < 0.0).or_else(|| refract(incident, facet, from / to));
        let refracted = refracted.filter(|_| reflectance < 1.0);
        Interface { reflectance, reflected, refracted, media, normal, tint: Vec3::ONE, undeviated: false }
    }

    /// A thin sheet: only the media before and behind it refract; the glass itself only reflects.
    /// `film` is the normal of a film on its front, if there is one.
    fn sheet(&self, index: f32, film: Option<Vec3>) -> Interface {
        let (incident, at) = (self.incident, self.at);
        let from_front = incident.dot(at.normal) < 0.0;
        let normal = if from_front { at.normal } else { -at.normal };
        let (near, drops_behind) =
            if from_front { (self.media.index_outside_glass(self.liquid), 0) } else { (1.0, self.drops_outside()) };
        let far = if drops_behind > 0 { self.liquid } else { 1.0 };
        if let Some(film) = film.filter(|_| near == 1.0 && drops_behind == 0 && self.liquid > 1.0) {
            return self.sheet_with_film(index, film);
        }
        let reflectance = sheet_reflectance(-incident.dot(normal), near, index, far);
        let refracted = refract(incident, normal, near / far).filter(|_| reflectance < 1.0);
        let media = [*self.media, Media { drops: drops_behind, ..*self.media }];
        let reflected = reflect(incident, normal);
        Interface { reflectance, reflected, refracted, media, normal, tint: Vec3::ONE, undeviated: near == far }
    }

    /// A sheet with a film on its front, a wedge where the film's thickness varies: light is
    /// refracted at the film's surface and again at the sheet. Both reflections are combined and
    /// leave from the surface that is hit first.
    fn sheet_with_film(&self, index: f32, film: Vec3) -> Interface {
        let (incident, liquid) = (self.incident, self.liquid);
        let from_front = incident.dot(self.at.normal) < 0.0;
        let side = if from_front { 1.0 } else { -1.0 };
        let sheet = side * self.at.normal;
        let film = if incident.dot(side * film) < 0.0 { side * film } else { sheet };
        let refract_film = |d: Vec3, eta: f32| refract(d, film, eta).map(|t| (t, reflectance(-d.dot(film), eta)));
        let refract_sheet = |d: Vec3, near: f32, far: f32| {
            refract(d, sheet, near / far).map(|t| (t, sheet_reflectance(-d.dot(sheet), near, index, far)))
        };
        let transmitted = if from_front {
            let first = refract_film(incident, 1.0 / liquid);
            first.and_then(|(d, r)| refract_sheet(d, liquid, 1.0).map(|(t, s)| (t, r, s)))
        } else {
            let first = refract_sheet(incident, 1.0, liquid);
            first.and_then(|(d, r)| refract_film(d, liquid).map(|(t, s)| (t, r, s)))
        };
        let transmitted = transmitted.filter(|(t, ..)| t.dot(sheet) < 0.0);
        let reflectance = transmitted.map_or(1.0, |(_, r, s)| 1.0 - (1.0 - r) * (1.0 - s) / (1.0 - r * s));
        let normal = if from_front { film } else { sheet };
        let reflected = reflect(incident, normal);
        let reflected = if reflected.dot(sheet) > 0.0 { reflected } else { reflect(incident, sheet) };
        let refracted = transmitted.map(|(t, ..)| t).filter(|_| reflectance < 1.0);
        Interface {
            reflectance,
            reflected,
            refracted,
            media: [*self.media; 2],
            normal,
            tint: Vec3::ONE,
            undeviated: false,
        }
    }

    /// A body of glass. The surface of a film on it, of which `film` is the normal, is taken as
    /// that of the glass: the two indices are close.
    fn glass_body(&self, index: f32, tint: Vec3, film: Option<Vec3>) -> SurfaceEvent<'a> {
        let entering = self.incident.dot(self.at.normal) < 0.0;
        if entering && self.media.glass > 0 {
            return SurfaceEvent::PassThrough(Media { glass: self.media.glass + 1, ..*self.media });
        }
        if !entering && self.media.glass > 1 {
            return SurfaceEvent::PassThrough(Media { glass: self.media.glass - 1, ..*self.media });
        }
        let drops = if entering { self.media.drops } else { self.drops_outside() };
        let beyond = if drops > 0 { self.liquid } else { 1.0 };
        let (from, to) = if entering { (beyond, index) } else { (index, beyond) };
        let inside = Media { drops, glass: 1, glass_index: index };
        let outside = Media { drops, ..Media::default() };
        let normal = film.filter(|_| drops == 0).unwrap_or(self.at.shading_normal);
        let media = if entering { [outside, inside] } else { [inside, outside] };
        SurfaceEvent::Interface(Interface { tint, ..self.interface(from, to, media, normal) })
    }
}

/// What one surface of a body of colored glass leaves of the light: light passes two.
pub fn surface_tint(tint: Vec3) -> Vec3 {
    tint.powf(0.5)
}
