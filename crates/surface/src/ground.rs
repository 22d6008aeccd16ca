//! What a drop feels of the solids: where a point of one is nearest, which way is out, how fast it moves and how it wets.

use glam::DVec3;
use sessile_wetting::sliding::{CUTOFF_LOGARITHM, wedge_dissipation};
use sessile_world::World;

/// The solid under a vertex in contact.
#[derive(Clone, Copy, Debug)]
pub struct Footing {
    /// Nearest point of the solid's surface, in m.
    pub point: DVec3,
    /// Out of the solid.
    pub normal: DVec3,
    /// Of the solid there, in m/s.
    pub velocity: DVec3,
    /// Cosine of the advancing angle.
    pub cos_advancing: f64,
    /// Cosine of the receding angle.
    pub cos_receding: f64,
    /// Wedge friction Λ m(θ) of a line that advances; times η and speed it is a force per length.
    pub drag_advancing: f64,
    /// … and of one that recedes.
    pub drag_receding: f64,
}

/// The footing of a point on solid `solid` of the world.
pub fn footing(world: &World, solid: i32, point: DVec3) -> Footing {
    let solid = &world.solids()[solid as usize];
    let near = solid.closest(point);
    let wetting = solid.wetting_at(near.uv);
    let drag = |theta: f64| CUTOFF_LOGARITHM * wedge_dissipation(theta);
    Footing {
        point: near.point,
        normal: near.normal,
        velocity: solid.velocity_at(near.point),
        cos_advancing: wetting.advancing.cos(),
        cos_receding: wetting.receding.cos(),
        drag_advancing: drag(wetting.advancing),
        drag_receding: drag(wetting.receding),
    }
}

/// A point on one solid, moved along it out of all others: into the corner between them.
pub fn out_of_corners(world: &World, solid: i32, mut point: DVec3) -> DVec3 {
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
pub fn in_corner(world: &World, solid: i32, point: DVec3, within: f64) -> bool {
    world
        .solids()
        .iter()
        .enumerate()
        .any(|(index, other)| index as i32 != solid && other.signed_distance(point) < within)
}
