//! What a drop feels of the solids: where a point of one is nearest, which way is out, how fast it moves and how it wets.

use glam::{DVec2, DVec3};
use sessile_wetting::Wetting;
use sessile_wetting::sliding::{CUTOFF_LOGARITHM, wedge_dissipation};
use sessile_world::World;

use crate::history::History;
use crate::mesh::AIR;

/// The solids, and the mouths of taps, at a moment.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The solids.
    pub world: World,
    /// The taps, in the scene's order. A surface that hangs from tap k is closed by triangles with the tag [`mouth_tag`]`(k)`.
    pub mouths: Vec<Mouth>,
    /// Where the solids have been wet.
    pub history: std::sync::Arc<History>,
}

/// The mouth of a tap: a disc that liquid comes out of.
///
/// What closes a stream at the mouth is held there, and moves with the stream as far as forces go: what the surface loses by being held back is what flows in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mouth {
    /// Its center, in m.
    pub at: DVec3,
    /// Direction of the stream.
    pub direction: DVec3,
    /// Its radius, in m.
    pub radius: f64,
    /// Speed of the stream, in m/s; 0 while it is shut.
    pub speed: f64,
}

/// The tag of triangles that close a stream at mouth `k`.
pub fn mouth_tag(k: usize) -> i32 {
    AIR - 1 - k as i32
}

/// The mouth that a tag stands for.
pub fn mouth_of(tag: i32) -> Option<usize> {
    (tag < AIR).then(|| (AIR - 1 - tag) as usize)
}

impl Ground {
    /// Solids without taps.
    pub fn new(world: World) -> Self {
        Self { world, mouths: Vec::new(), history: std::sync::Arc::default() }
    }
}

impl std::ops::Deref for Ground {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// The solid under a vertex in contact.
#[derive(Clone, Copy, Debug)]
pub struct Footing {
    /// Nearest point of the solid's surface, in m.
    pub point: DVec3,
    /// Texture coordinates there.
    pub uv: DVec2,
    /// Out of the solid.
    pub normal: DVec3,
    /// Of the solid there, in m/s.
    pub velocity: DVec3,
    /// Cosine of the advancing angle.
    pub cos_advancing: f64,
    /// Cosine of the advancing angle on ground that was wet, where the solid remembers.
    pub cos_wet: Option<f64>,
    /// Cosine of the receding angle.
    pub cos_receding: f64,
    /// Wedge friction Λ m(θ) of a line that advances; times η and speed it is a force per length.
    pub drag_advancing: f64,
    /// … and of one that recedes.
    pub drag_receding: f64,
}

/// How a place wets, as a drop feels it.
#[derive(Clone, Copy, Debug, Default)]
struct Laws {
    cos_advancing: f64,
    cos_wet: Option<f64>,
    cos_receding: f64,
    drag_advancing: f64,
    drag_receding: f64,
}

impl Laws {
    fn of(wetting: &Wetting) -> Self {
        let drag = |theta: f64| CUTOFF_LOGARITHM * wedge_dissipation(theta);
        Self {
            cos_advancing: wetting.advancing.cos(),
            cos_wet: wetting.wet_advancing.map(f64::cos),
            cos_receding: wetting.receding.cos(),
            drag_advancing: drag(wetting.advancing),
            drag_receding: drag(wetting.receding),
        }
    }
}

/// Remembers what the angles of the last place gave: most places of a drop wet alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct WettingCache {
    last: Option<(Wetting, Laws)>,
}

impl WettingCache {
    fn laws(&mut self, wetting: Wetting) -> Laws {
        match &self.last {
            Some((known, laws)) if *known == wetting => *laws,
            _ => {
                let laws = Laws::of(&wetting);
                self.last = Some((wetting, laws));
                laws
            }
        }
    }

    /// The footing of a point on what a tag stands for.
    pub fn footing(&mut self, ground: &Ground, tag: i32, point: DVec3) -> Footing {
        let (point, uv, normal, velocity, laws) = match mouth_of(tag) {
            Some(k) => {
                let mouth = &ground.mouths[k];
                let normal = mouth.direction;
                let foot = point - normal * normal.dot(point - mouth.at);
                (foot, DVec2::ZERO, normal, normal * mouth.speed, Laws::default())
            }
            None => {
                let solid = &ground.solids()[tag as usize];
                let near = solid.closest(point);
                (near.point, near.uv, near.normal, solid.velocity_at(near.point), self.laws(solid.wetting_at(near.uv)))
            }
        };
        let Laws { cos_advancing, cos_wet, cos_receding, drag_advancing, drag_receding } = laws;
        Footing { point, uv, normal, velocity, cos_advancing, cos_wet, cos_receding, drag_advancing, drag_receding }
    }
}

/// The footing of a point on what a tag stands for.
pub fn footing(ground: &Ground, tag: i32, point: DVec3) -> Footing {
    WettingCache::default().footing(ground, tag, point)
}

/// The nearest point of what a tag stands for.
pub fn foot_point(ground: &Ground, tag: i32, point: DVec3) -> DVec3 {
    match mouth_of(tag) {
        Some(k) => {
            let Mouth { at, direction, .. } = ground.mouths[k];
            point - direction * direction.dot(point - at)
        }
        None => ground.solids()[tag as usize].closest(point).point,
    }
}

/// A point on one solid, moved along it out of all others: into the corner between them.
pub fn out_of_corners(world: &Ground, solid: i32, mut point: DVec3) -> DVec3 {
    if solid < 0 {
        return point;
    }
    for (index, other) in world.solids().iter().enumerate() {
        if index as i32 == solid || other.signed_distance(point) >= 0.0 {
            continue;
        }
        // To and fro between the two; on planes each round takes away all but the squared cosine of their angle.
        for _ in 0..8 {
            point = other.closest(point).point;
            point = world.solids()[solid as usize].closest(point).point;
        }
    }
    point
}

/// Whether a point on one solid is also at another, to within a distance in m.
pub fn in_corner(world: &Ground, solid: i32, point: DVec3, within: f64) -> bool {
    world
        .solids()
        .iter()
        .enumerate()
        .any(|(index, other)| index as i32 != solid && other.signed_distance(point) < within)
}
