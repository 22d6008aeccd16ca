//! The solids and tap outlets that drops are in contact with, and how they are wetted.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_numerics::{math, typed_index};
use sessile_wetting::Wetting;
use sessile_wetting::sliding::wedge_dissipation;
use sessile_world::{Solid, World};

use crate::mesh::Interface;
use crate::wet_history::WetHistory;

typed_index! {
    /// A solid of the scene.
    #[derive(Serialize, Deserialize)]
    pub struct SolidIndex;
}

typed_index! {
    /// The outlet of a tap of the scene.
    #[derive(Serialize, Deserialize)]
    pub struct OutletIndex;
}

/// Sweeps of alternating projections onto two solids that meet in a corner.
const CORNER_SWEEPS: usize = 8;
/// Visits of the solids that meet in a corner.
const CORNER_PASSES: usize = 32;
/// Depth inside a solid at which a point in a corner counts as outside, in m.
const CORNER_TOLERANCE: f64 = 1e-12;

/// Solids, tap outlets and the wet history at one time.
#[derive(Clone, Debug)]
pub struct Substrate {
    /// The solids.
    pub world: World,
    /// The outlets of the taps, in the scene's order; [`Interface::Outlet`] indexes them.
    pub outlets: Vec<Outlet>,
    /// Where the solids have been wet.
    pub wet_history: Arc<WetHistory>,
}

/// The outlet of a tap: a disk that liquid flows out of.
///
/// The face that closes a stream at its outlet is held in place, while the forces see it moving
/// with the stream. The volume that the surface loses by being held back is the volume that flows
/// in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlet {
    /// Center, in m.
    pub at: DVec3,
    /// Direction of the stream.
    pub direction: DVec3,
    /// Radius, in m.
    pub radius: f64,
    /// Speed of the stream, in m/s; 0 while the tap is closed.
    pub speed: f64,
}

impl Outlet {
    /// How deep its rim reaches into a solid, in m; 0 outside.
    pub fn depth_in(&self, solid: &Solid) -> f64 {
        const POINTS: u32 = 16;
        let across = self.direction.any_orthonormal_vector() * self.radius;
        let other = self.direction.cross(across);
        let rim = (0..POINTS).map(|k| {
            let (sin, cos) = math::sin_cos(std::f64::consts::TAU * f64::from(k) / f64::from(POINTS));
            self.at + across * cos + other * sin
        });
        rim.map(|point| -solid.signed_distance(point)).fold(0.0, f64::max)
    }

    /// Projection of a point onto the outlet's plane, in m.
    fn project(&self, point: DVec3) -> DVec3 {
        point - self.direction * self.direction.dot(point - self.at)
    }
}

/// The substrate at a vertex in contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactSample {
    /// Closest point of the solid's surface, in m.
    pub point: DVec3,
    /// Texture coordinates there.
    pub uv: DVec2,
    /// Outward normal of the solid.
    pub normal: DVec3,
    /// Mean velocity of the solid over the step, in m/s: what moves at it stays in place on the
    /// solid.
    pub velocity: DVec3,
    /// Velocity of the solid at the start of the step, in m/s: what has it is at rest on the solid.
    pub start_velocity: DVec3,
    /// How the solid is wetted there.
    pub wetting: WettingCoefficients,
}

impl ContactSample {
    /// What the solid gains in the first half of the step, in m/s.
    pub fn gain(&self) -> DVec3 {
        self.velocity - self.start_velocity
    }
}

/// Wetting properties of a point of a solid, in the form that forces use.
#[derive(Clone, Copy, Debug, Default)]
pub struct WettingCoefficients {
    /// Cosine of the advancing angle.
    pub cos_advancing: f64,
    /// Cosine of the advancing angle where the solid has been wet, if that differs.
    pub cos_wet_advancing: Option<f64>,
    /// Cosine of the receding angle.
    pub cos_receding: f64,
    /// Wedge friction m(θ) of an advancing line; times Λ η and speed it is a force per length.
    pub drag_advancing: f64,
    /// Wedge friction m(θ) of a receding line.
    pub drag_receding: f64,
}

impl WettingCoefficients {
    fn new(wetting: &Wetting) -> Self {
        Self {
            cos_advancing: math::cos(wetting.advancing),
            cos_wet_advancing: wetting.wet_advancing.map(math::cos),
            cos_receding: math::cos(wetting.receding),
            drag_advancing: wedge_dissipation(wetting.advancing),
            drag_receding: wedge_dissipation(wetting.receding),
        }
    }
}

/// Caches the coefficients of the last wetting: most contacts of a drop share one.
#[derive(Clone, Copy, Debug, Default)]
pub struct WettingCache {
    last: Option<(Wetting, WettingCoefficients)>,
}

impl WettingCache {
    fn coefficients(&mut self, wetting: Wetting) -> WettingCoefficients {
        match &self.last {
            Some((known, coefficients)) if *known == wetting => *coefficients,
            _ => {
                let coefficients = WettingCoefficients::new(&wetting);
                self.last = Some((wetting, coefficients));
                coefficients
            }
        }
    }

    /// Samples the solid or outlet `interface` at the point closest to `point`.
    ///
    /// # Panics
    ///
    /// If `interface` is air.
    pub fn sample(&mut self, substrate: &Substrate, interface: Interface, point: DVec3) -> ContactSample {
        match interface {
            Interface::Solid(index) => {
                let solid = &substrate.solids()[index];
                let near = solid.closest(point);
                ContactSample {
                    point: near.point,
                    uv: near.uv,
                    normal: near.normal,
                    velocity: solid.mean_velocity_at(near.point),
                    start_velocity: solid.velocity_at(near.point),
                    wetting: self.coefficients(solid.wetting_at(near.uv)),
                }
            }
            Interface::Outlet(index) => {
                let outlet = &substrate.outlets[index];
                ContactSample {
                    point: outlet.project(point),
                    uv: DVec2::ZERO,
                    normal: outlet.direction,
                    velocity: outlet.direction * outlet.speed,
                    start_velocity: outlet.direction * outlet.speed,
                    wetting: WettingCoefficients::default(),
                }
            }
            Interface::Air => unreachable!("only vertices in contact are sampled"),
        }
    }
}

impl Substrate {
    /// Solids without taps and without wet history.
    #[cfg(test)]
    pub fn new(world: World) -> Self {
        Self { world, outlets: Vec::new(), wet_history: Arc::default() }
    }

    /// The solids, in the scene's order.
    pub fn solids(&self) -> &[Solid] {
        self.world.solids()
    }

    /// The solids' indices.
    pub fn solid_indices(&self) -> impl Iterator<Item = SolidIndex> + use<> {
        SolidIndex::first(self.solids().len())
    }

    /// The solids that move.
    pub fn moving_solids(&self) -> Vec<SolidIndex> {
        self.solid_indices().filter(|&s| self.solids()[s].moves()).collect()
    }

    /// Samples the solid or outlet `interface` at the point closest to `point`.
    pub fn sample(&self, interface: Interface, point: DVec3) -> ContactSample {
        WettingCache::default().sample(self, interface, point)
    }

    /// Velocity of a solid, in m/s; outlets and the air are at rest.
    pub fn velocity_at(&self, interface: Interface, point: DVec3) -> DVec3 {
        match interface {
            Interface::Solid(index) => self.solids()[index].velocity_at(point),
            Interface::Outlet(_) | Interface::Air => DVec3::ZERO,
        }
    }

    /// The point of a solid or outlet closest to `point`, in m; the point itself for air.
    pub fn closest_point(&self, interface: Interface, point: DVec3) -> DVec3 {
        match interface {
            Interface::Solid(index) => self.solids()[index].closest(point).point,
            Interface::Outlet(index) => self.outlets[index].project(point),
            Interface::Air => point,
        }
    }

    /// Lists the solids that come within `margin` meters of the bounding sphere of a box; none
    /// where the distance is not finite.
    pub fn find_near(&self, [low, high]: [DVec3; 2], margin: f64, near: &mut Vec<SolidIndex>) {
        let (center, reach) = (0.5 * (low + high), 0.5 * low.distance(high) + margin);
        near.clear();
        near.extend(self.solid_indices().filter(|&s| self.solids()[s].signed_distance(center) < reach));
    }

    /// Moves a point on one solid along that solid out of the others that are `near`, into the
    /// corner between them.
    ///
    /// Alternating projections: on two planes each sweep multiplies the error by the squared cosine
    /// of their angle. Where several solids meet, leaving one can enter another, so they are
    /// visited again until the point is outside all of them.
    pub fn project_out_of_solids(&self, interface: Interface, mut point: DVec3, near: &[SolidIndex]) -> DVec3 {
        let Some(own) = interface.solid_index() else { return point };
        for _ in 0..CORNER_PASSES {
            let mut entered = false;
            for other in near.iter().copied().filter(|&s| s != own) {
                if self.solids()[other].signed_distance(point) >= -CORNER_TOLERANCE {
                    continue;
                }
                entered = true;
                for _ in 0..CORNER_SWEEPS {
                    point = self.solids()[other].closest(point).point;
                    point = self.solids()[own].closest(point).point;
                }
            }
            if !entered {
                break;
            }
        }
        point
    }

    /// Whether a point on one solid lies within a distance, in m, of another one that is `near`.
    pub fn is_in_corner(&self, own: SolidIndex, point: DVec3, within: f64, near: &[SolidIndex]) -> bool {
        let mut others = near.iter().copied().filter(|&s| s != own);
        others.any(|other| self.solids()[other].signed_distance(point) < within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::scene;

    #[test]
    fn a_point_in_a_corner_of_three_solids_ends_outside_all_of_them() {
        let plane = |name: &str, normal: [f64; 3]| {
            format!("[[solids]]\nname = \"{name}\"\nshape = \"plane\"\nnormal = {normal:?}\n")
        };
        // Two walls that enclose 40°, on a floor.
        let (sine, cosine) = 70f64.to_radians().sin_cos();
        let walls = plane("a", [cosine, 0.0, sine]) + &plane("b", [cosine, 0.0, -sine]);
        let world = World::build(&scene(&format!("{}{walls}", plane("floor", [0.0, 1.0, 0.0])))).unwrap();
        let substrate = Substrate::new(world);
        let start = DVec3::new(-1e-3, 0.0, 0.4e-3);
        let all: Vec<SolidIndex> = substrate.solid_indices().collect();
        let point = substrate.project_out_of_solids(Interface::Solid(SolidIndex::new(0)), start, &all);
        for solid in substrate.solids() {
            let depth = -solid.signed_distance(point);
            assert!(depth < 1e-9, "it is {depth} m inside");
        }
        assert!(point.distance(start) < 3e-3, "it moved to {point}");
    }
}
