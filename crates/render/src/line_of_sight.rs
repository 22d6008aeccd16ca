//! Where a line of sight ends: straight through air, bent by Snell's law at liquid and glass, never mirrored.
//!
//! At each clear face the way that goes on through it is taken, whatever share of the light is reflected there. So the line through
//! a drop is a single one, without chance, and ends on the first thing that is not clear. Beyond the critical angle there is no such
//! way, and the line ends in the face.
//!
//! The order of media is that of the path tracer: glass before liquid before air, drops inside one another are one, and a pane
//! of glass is too thin to shift the line, only what lies before and behind it counts.

use glam::Vec3;
use sessile_appearance::{LiquidMaterial, NO_TRIANGLE, Ray};

use crate::fresnel::refract;
use crate::stage::{Body, Owner, Stage, SurfacePoint};

/// Clear faces after which a line is given up.
const MOST_FACES: u32 = 64;

/// The moment of the frame: the middle of the shutter's opening.
const MOMENT: f32 = 0.5;

/// What a line of sight ends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SightEnd {
    /// Nothing: the environment or the sun in this direction.
    Sky(Vec3),
    /// A solid that is not clear, or a lamp, at this point.
    Thing(Vec3),
    /// A liquid that is not clear.
    OpaqueLiquid(Vec3),
    /// A face that reflects all.
    TotalReflection,
    /// Too many faces.
    Lost,
}

/// A line of sight, followed to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineOfSight {
    /// The first drop that it goes through.
    pub drop: Option<u32>,
    /// Distance to the first surface of any kind; infinite without one.
    pub first_distance: f32,
    /// Where it ends.
    pub end: SightEnd,
}

/// How far a line is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To its end.
    End,
    /// To the first drop, or else to its end.
    Drop,
}

/// What surrounds the line.
#[derive(Clone, Copy, Default)]
struct Around {
    drops: u32,
    glass: u32,
    glass_index: f32,
}

impl Around {
    fn outside_glass(&self, liquid: f32) -> f32 {
        if self.drops > 0 { liquid } else { 1.0 }
    }
}

struct Follower<'a> {
    stage: &'a Stage,
    liquid: f32,
    ray: Ray,
    around: Around,
    drop: Option<u32>,
}

/// Follows the line of sight from `eye`, which lies in the drop `inside`, if in any.
pub fn follow(stage: &Stage, eye: Vec3, direction: Vec3, inside: Option<u32>, until: Until) -> LineOfSight {
    let (liquid, opaque) = match stage.liquid {
        LiquidMaterial::Clear { index, .. } => (index, false),
        LiquidMaterial::Opaque(_) => (1.0, true),
    };
    let around = Around { drops: u32::from(inside.is_some()), ..Around::default() };
    let ray = Ray { origin: eye, direction, time: MOMENT, leaves: NO_TRIANGLE };
    let mut follower = Follower { stage, liquid, ray, around, drop: inside };
    let mut first_distance = f32::INFINITY;
    for face in 0..MOST_FACES {
        let hit = stage.nearest(&follower.ray, f32::INFINITY);
        let reach = hit.map_or(f32::INFINITY, |hit| hit.distance);
        let Ray { origin, direction, .. } = follower.ray;
        let lamp = stage.lamps.iter().filter_map(|lamp| lamp.hit(origin, direction)).fold(reach, f32::min);
        if face == 0 {
            first_distance = lamp;
        }
        let done = |drop: Option<u32>, end: SightEnd| LineOfSight { drop, first_distance, end };
        if until == Until::Drop && follower.drop.is_some() {
            return done(follower.drop, SightEnd::Lost);
        }
        if lamp < reach {
            return done(follower.drop, SightEnd::Thing(origin + lamp * direction));
        }
        let Some(hit) = hit else { return done(follower.drop, SightEnd::Sky(direction)) };
        let at = stage.surface_point(&hit, MOMENT);
        let end = match at.owner {
            Owner::Drop(id) if opaque => {
                follower.drop = follower.drop.or(Some(id));
                Some(SightEnd::OpaqueLiquid(at.point))
            }
            Owner::Drop(id) => follower.meet_liquid(&at, id),
            Owner::Solid(solid) => match stage.solids[solid as usize].body {
                Body::Opaque(_) => Some(SightEnd::Thing(at.point)),
                Body::Sheet { .. } => follower.meet_sheet(&at),
                Body::GlassBody { index } => follower.meet_glass(&at, index),
            },
        };
        if let Some(end) = end {
            return done(follower.drop, end);
        }
        follower.ray = Ray { origin: at.point, leaves: at.triangle, ..follower.ray };
    }
    LineOfSight { drop: follower.drop, first_distance, end: SightEnd::Lost }
}

impl Follower<'_> {
    fn meet_liquid(&mut self, at: &SurfacePoint, id: u32) -> Option<SightEnd> {
        let entering = self.ray.direction.dot(at.facet) < 0.0;
        let before = self.around.drops;
        self.around.drops = if entering { before + 1 } else { before.saturating_sub(1) };
        let inside_others = if entering { before > 0 } else { before > 1 };
        if self.around.glass > 0 || inside_others {
            return None;
        }
        self.drop = self.drop.or(Some(id));
        let (from, to) = if entering { (1.0, self.liquid) } else { (self.liquid, 1.0) };
        self.bend(at, from / to)
    }

    /// A thin pane: what lies before and behind it decides.
    fn meet_sheet(&mut self, at: &SurfacePoint) -> Option<SightEnd> {
        let from_front = self.ray.direction.dot(at.facet) < 0.0;
        let near = if from_front { self.around.outside_glass(self.liquid) } else { 1.0 };
        let behind = if from_front { None } else { self.drop_on(at) };
        let far = if behind.is_some() { self.liquid } else { 1.0 };
        self.around.drops = u32::from(behind.is_some());
        self.drop = self.drop.or(behind);
        self.bend_flat(at, near / far)
    }

    fn meet_glass(&mut self, at: &SurfacePoint, index: f32) -> Option<SightEnd> {
        let entering = self.ray.direction.dot(at.facet) < 0.0;
        if entering && self.around.glass > 0 {
            self.around.glass += 1;
            return None;
        }
        if !entering && self.around.glass > 1 {
            self.around.glass -= 1;
            return None;
        }
        if entering {
            let outside = self.around.outside_glass(self.liquid);
            self.around = Around { glass: 1, glass_index: index, ..self.around };
            return self.bend(at, outside / index);
        }
        let behind = self.drop_on(at);
        let outside = if behind.is_some() { self.liquid } else { 1.0 };
        let from = if self.around.glass > 0 { self.around.glass_index } else { index };
        self.around = Around { drops: u32::from(behind.is_some()), ..Around::default() };
        self.drop = self.drop.or(behind);
        self.bend(at, from / outside)
    }

    /// The drop on the outer side of a solid's surface.
    fn drop_on(&self, at: &SurfacePoint) -> Option<u32> {
        self.stage.drop_around(at.point, at.facet, MOMENT, NO_TRIANGLE)
    }

    /// Bends the line at a face with a smooth normal; where that is turned away, the facet's counts.
    fn bend(&mut self, at: &SurfacePoint, eta: f32) -> Option<SightEnd> {
        let incident = self.ray.direction;
        let side = if incident.dot(at.facet) < 0.0 { 1.0 } else { -1.0 };
        let facet = side * at.facet;
        let normal = if incident.dot(side * at.smooth) < 0.0 { side * at.smooth } else { facet };
        let Some(bent) = refract(incident, normal, eta) else { return Some(SightEnd::TotalReflection) };
        let through = Some(bent).filter(|bent| bent.dot(facet) < 0.0).or_else(|| refract(incident, facet, eta));
        match through {
            Some(direction) => self.ray.direction = direction,
            None => return Some(SightEnd::TotalReflection),
        }
        None
    }

    fn bend_flat(&mut self, at: &SurfacePoint, eta: f32) -> Option<SightEnd> {
        if eta == 1.0 {
            return None;
        }
        let incident = self.ray.direction;
        let normal = if incident.dot(at.facet) < 0.0 { at.facet } else { -at.facet };
        match refract(incident, normal, eta) {
            Some(direction) => self.ray.direction = direction,
            None => return Some(SightEnd::TotalReflection),
        }
        None
    }
}
