//! What a ray meets, whichever way light runs along it: nothing that bends, a face between clear media, or a surface that scatters.
//!
//! A ray knows what it is in: how many drops lie over one another here, how many bodies of glass. Glass has priority over
//! liquid, liquid over air (schmidt2002): a drop's surface inside glass is not there, nor is one drop's surface inside another.

use glam::Vec3;
use sessile_appearance::{BsdfParameters, LiquidMaterial, NO_TRIANGLE};

use crate::fresnel::{reflect, reflectance, refract, sheet_reflectance};
use crate::stage::{Body, Owner, Stage, SurfacePoint};
use crate::wet_layer::Wetness;

/// Faces that a ray may pass without being bent, such as those of drops inside one another.
pub const MOST_PASSES: u32 = 64;

/// What surrounds a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Media {
    /// Drops that lie over one another here.
    pub drops: u32,
    /// Bodies of glass that lie over one another here, and the index of the last one entered.
    pub glass: u32,
    glass_index: f32,
}

impl Media {
    /// What surrounds a point at the middle of the shutter's time: cast once per picture.
    pub fn at(stage: &Stage, point: Vec3) -> Self {
        let drops = u32::from(stage.drop_around(point, Vec3::Y, 0.5, NO_TRIANGLE).is_some());
        Self { drops, ..Self::default() }
    }

    /// Refractive index, where the liquid's is `liquid`.
    pub fn index(&self, liquid: f32) -> f32 {
        if self.glass > 0 { self.glass_index } else { self.outside_glass(liquid) }
    }

    fn outside_glass(&self, liquid: f32) -> f32 {
        if self.drops > 0 { liquid } else { 1.0 }
    }

    /// Whether there is nothing but air.
    pub fn is_air(&self) -> bool {
        self.drops == 0 && self.glass == 0
    }

    /// Whether light fades here as the liquid says.
    pub fn is_liquid(&self) -> bool {
        self.drops > 0 && self.glass == 0
    }
}

/// A face between clear media, and the two ways on from it.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Share that is mirrored.
    pub reflected: f32,
    /// Where the mirrored part goes.
    pub mirrored: Vec3,
    /// Where the rest goes; none where all is mirrored.
    pub bent: Option<Vec3>,
    /// The media of the mirrored and of the bent way.
    pub media: [Media; 2],
    /// The normal that both ways follow, towards the ray's origin.
    pub normal: Vec3,
    /// The other way does not turn: a pane with the same on both sides.
    pub straight: bool,
}

/// What a ray meets.
#[derive(Clone, Copy, Debug)]
pub enum Meeting<'a> {
    /// Nothing that bends; what lies behind.
    Pass(Media),
    /// A face between clear media.
    Face(Face),
    /// A surface that scatters.
    Scatterer {
        /// How.
        finish: &'a BsdfParameters,
        /// Normal of the surface, bent by a film where there is one; out of its owner.
        normal: Vec3,
        /// Wetness from 0 to 1.
        wet: f32,
    },
}

/// Refractive index and absorption of a stage's liquid; those of air if it is opaque.
pub fn liquid_optics(stage: &Stage) -> (f32, Vec3) {
    match stage.liquid {
        LiquidMaterial::Clear { index, absorption } => (index, absorption),
        LiquidMaterial::Opaque(_) => (1.0, Vec3::ZERO),
    }
}

/// What a ray along `incident` in `media` meets at a point of a surface.
pub fn meet<'a>(stage: &'a Stage, media: &Media, incident: Vec3, at: &SurfacePoint, time: f32) -> Meeting<'a> {
    let here = Here { stage, media, incident, at, time, liquid: liquid_optics(stage).0 };
    match at.owner {
        Owner::Drop(_) => here.liquid(),
        Owner::Solid(solid) => {
            let solid = &stage.solids[solid as usize];
            match &solid.body {
                Body::Opaque(finish) => {
                    let wetness = solid.wet.as_ref().map(|layer| layer.at(at.uv)).unwrap_or_default();
                    Meeting::Scatterer { finish, normal: stage.bent_normal(at, wetness.slope, time), wet: wetness.wet }
                }
                Body::Sheet { index } => {
                    let wetness = solid.wet.as_ref().map(|layer| layer.at(at.uv)).filter(Wetness::is_film);
                    let outer = wetness.map(|wetness| stage.bent_normal(at, wetness.slope, time));
                    Meeting::Face(here.sheet(*index, outer))
                }
                Body::GlassBody { index } => here.glass(*index),
            }
        }
    }
}

struct Here<'a, 'b> {
    stage: &'a Stage,
    media: &'b Media,
    incident: Vec3,
    at: &'b SurfacePoint,
    time: f32,
    liquid: f32,
}

impl<'a> Here<'a, '_> {
    fn drops_before(&self) -> u32 {
        u32::from(self.stage.drop_around(self.at.point, self.at.facet, self.time, NO_TRIANGLE).is_some())
    }

    fn liquid(&self) -> Meeting<'a> {
        if let LiquidMaterial::Opaque(finish) = &self.stage.liquid {
            return Meeting::Scatterer { finish, normal: self.at.smooth, wet: 0.0 };
        }
        let entering = self.incident.dot(self.at.facet) < 0.0;
        let inside_others = if entering { self.media.drops > 0 } else { self.media.drops > 1 };
        if self.media.glass > 0 || inside_others {
            let drops = if entering { self.media.drops + 1 } else { self.media.drops.saturating_sub(1) };
            return Meeting::Pass(Media { drops, ..*self.media });
        }
        let (from, to) = if entering { (1.0, self.liquid) } else { (self.liquid, 1.0) };
        let inside = Media { drops: 1, ..*self.media };
        let outside = Media { drops: 0, ..*self.media };
        Meeting::Face(self.face(from, to, if entering { [outside, inside] } else { [inside, outside] }))
    }

    /// Mirrors and bends the ray at a face; `media` are those of the mirrored and of the bent ray.
    fn face(&self, from: f32, to: f32, media: [Media; 2]) -> Face {
        let (incident, at) = (self.incident, self.at);
        let side = if incident.dot(at.facet) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.facet;
        // Where the smooth normal is turned away, only the facet's makes sense.
        let normal = if incident.dot(side * at.smooth) < 0.0 { side * at.smooth } else { facet };
        let reflected = reflectance(-incident.dot(normal), from / to);
        let mirrored = reflect(incident, normal);
        let mirrored = if mirrored.dot(facet) > 0.0 { mirrored } else { reflect(incident, facet) };
        let bent = refract(incident, normal, from / to);
        let bent = bent.filter(|bent| bent.dot(facet) < 0.0).or_else(|| refract(incident, facet, from / to));
        let bent = bent.filter(|_| reflected < 1.0);
        Face { reflected, mirrored, bent, media, normal, straight: false }
    }

    /// A thin pane: what lies before and behind it decides; the glass itself only reflects. `outer` is the normal of a film on its
    /// front, if there is one.
    fn sheet(&self, index: f32, outer: Option<Vec3>) -> Face {
        let (incident, at) = (self.incident, self.at);
        let from_front = incident.dot(at.facet) < 0.0;
        let normal = if from_front { at.facet } else { -at.facet };
        let (near, behind) =
            if from_front { (self.media.outside_glass(self.liquid), 0) } else { (1.0, self.drops_before()) };
        let far = if behind > 0 { self.liquid } else { 1.0 };
        if let Some(outer) = outer.filter(|_| near == 1.0 && behind == 0 && self.liquid > 1.0) {
            return self.film(index, outer);
        }
        let reflected = sheet_reflectance(-incident.dot(normal), near, index, far);
        let bent = refract(incident, normal, near / far).filter(|_| reflected < 1.0);
        let media = [*self.media, Media { drops: behind, ..*self.media }];
        Face { reflected, mirrored: reflect(incident, normal), bent, media, normal, straight: near == far }
    }

    /// A pane with a film on its front, a wedge where the film's thickness changes: light is bent at the film's surface and again at
    /// the pane's. What the two reflect goes one way, that of the face which is met first.
    fn film(&self, index: f32, outer: Vec3) -> Face {
        let (incident, liquid) = (self.incident, self.liquid);
        let from_front = incident.dot(self.at.facet) < 0.0;
        let side = if from_front { 1.0 } else { -1.0 };
        let pane = side * self.at.facet;
        let film = if incident.dot(side * outer) < 0.0 { side * outer } else { pane };
        let through_film =
            |d: Vec3, ratio: f32| refract(d, film, ratio).map(|bent| (bent, reflectance(-d.dot(film), ratio)));
        let through_pane = |d: Vec3, near: f32, far: f32| {
            refract(d, pane, near / far).map(|bent| (bent, sheet_reflectance(-d.dot(pane), near, index, far)))
        };
        let way = if from_front {
            let first = through_film(incident, 1.0 / liquid);
            first.and_then(|(d, r)| through_pane(d, liquid, 1.0).map(|(bent, s)| (bent, r, s)))
        } else {
            let first = through_pane(incident, 1.0, liquid);
            first.and_then(|(d, r)| through_film(d, liquid).map(|(bent, s)| (bent, r, s)))
        };
        let way = way.filter(|(bent, ..)| bent.dot(pane) < 0.0);
        let reflected = way.map_or(1.0, |(_, r, s)| 1.0 - (1.0 - r) * (1.0 - s) / (1.0 - r * s));
        let normal = if from_front { film } else { pane };
        let mirrored = reflect(incident, normal);
        let mirrored = if mirrored.dot(pane) > 0.0 { mirrored } else { reflect(incident, pane) };
        let bent = way.map(|(bent, ..)| bent).filter(|_| reflected < 1.0);
        Face { reflected, mirrored, bent, media: [*self.media; 2], normal, straight: false }
    }

    fn glass(&self, index: f32) -> Meeting<'a> {
        let entering = self.incident.dot(self.at.facet) < 0.0;
        if entering && self.media.glass > 0 {
            return Meeting::Pass(Media { glass: self.media.glass + 1, ..*self.media });
        }
        if !entering && self.media.glass > 1 {
            return Meeting::Pass(Media { glass: self.media.glass - 1, ..*self.media });
        }
        let outside = if entering { self.media.drops } else { self.drops_before() };
        let beyond = if outside > 0 { self.liquid } else { 1.0 };
        let (from, to) = if entering { (beyond, index) } else { (index, beyond) };
        let inside = Media { drops: outside, glass: 1, glass_index: index };
        let around = Media { drops: outside, ..Media::default() };
        Meeting::Face(self.face(from, to, if entering { [around, inside] } else { [inside, around] }))
    }
}
