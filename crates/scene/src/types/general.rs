//! Time, world, domain, resolution and output.

use glam::{DQuat, DVec3};

use super::words::words;
use crate::field::fields;

fields! {
    /// `[time]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Time {
        /// Simulated time, in s; an integer number of frames.
        pub duration: f64,
        /// Time between two frames, in s.
        pub frame: f64,
        /// Whether to add drag and stop at rest.
        pub settle: bool,
    }
}

impl Time {
    /// Number of the last frame; frame 0 is the initial state.
    pub fn last_frame(&self) -> u32 {
        (self.duration / self.frame).round() as u32
    }
}

/// A quantity given at several times: linear between them, constant before the first and after the
/// last.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed<T> {
    /// Pairs of time (in s) and value; at least one, in order of increasing time.
    pub keys: Vec<(f64, T)>,
}

impl<T> Keyed<T>
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    /// The value at time `t`, in s.
    ///
    /// # Panics
    ///
    /// If there are no keys.
    pub fn at(&self, t: f64) -> T {
        let after = self.keys.partition_point(|(time, _)| *time <= t);
        match (after.checked_sub(1).map(|i| self.keys[i]), self.keys.get(after)) {
            (Some((t0, v0)), Some(&(t1, v1))) => {
                let s = (t - t0) / (t1 - t0);
                v0 * (1.0 - s) + v1 * s
            }
            (Some((_, value)), None) => value,
            (None, _) => self.keys[0].1,
        }
    }
}

/// The directions u and v on a plane with unit `normal`: v up the slope, u = v × normal across it.
///
/// v is the projection of the world's +y onto the plane. On a level plane (to 1e-6 rad) v is the
/// world's −z, so that u is +x.
pub fn plane_axes(normal: DVec3) -> (DVec3, DVec3) {
    let up = DVec3::Y - normal * normal.y;
    let level = up.length() < 1e-6;
    let v = if level { DVec3::NEG_Z - normal * -normal.z } else { up }.normalize();
    (v.cross(normal), v)
}

fields! {
    /// `[world]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WorldSettings {
        /// Gravity before it is tilted, in m/s²; see [`WorldSettings::gravity_at`].
        pub gravity: Keyed<DVec3>,
        /// Angle by which gravity is turned about the z axis, from −y towards +x, in rad.
        pub tilt: Keyed<f64>,
        /// Wind, in m/s.
        pub wind: DVec3,
        /// Whether the run is two-dimensional, in the x–y plane.
        pub planar: bool,
    }
}

impl WorldSettings {
    /// Gravity at time `t` (in s), turned by the tilt, in m/s².
    pub fn gravity_at(&self, t: f64) -> DVec3 {
        let (gravity, tilt) = (self.gravity.at(t), self.tilt.at(t));
        // A scene without tilt keeps the bits of its gravity.
        if tilt == 0.0 { gravity } else { DQuat::from_rotation_z(tilt) * gravity }
    }

    /// The last time at which gravity changes, in s; 0 if it is constant.
    pub fn gravity_changes_until(&self) -> f64 {
        let last = |times: &[f64]| if times.len() > 1 { times[times.len() - 1] } else { 0.0 };
        let gravity: Vec<f64> = self.gravity.keys.iter().map(|key| key.0).collect();
        let tilt: Vec<f64> = self.tilt.keys.iter().map(|key| key.0).collect();
        last(&gravity).max(last(&tilt))
    }
}

/// `[domain]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner, in m.
    pub min: DVec3,
    /// Upper corner, in m.
    pub max: DVec3,
    /// Boundary conditions on the two sides across x, y and z.
    pub sides: [Side; 3],
    /// Material of the walls; `None` means a contact angle of 90°.
    pub wall_material: Option<String>,
}

words! {
    /// Boundary condition on a pair of opposite sides of the domain.
    pub enum Side {
        /// Liquid leaves and is counted as lost.
        Open = "open",
        /// A solid wall.
        Wall = "wall",
        /// A mirror plane.
        Symmetry = "symmetry",
        /// Liquid that leaves on one side enters on the other.
        Periodic = "periodic",
    }
}

fields! {
    /// `[resolution]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Resolution {
        /// Cell size of the volume model, in m; `None` where the scene has nothing to derive it
        /// from.
        pub cell: Option<f64>,
        /// Shortest edge of the surface and droplet models, in m.
        pub edge: f64,
    }
}

fields! {
    /// `[output]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Output {
        /// Whether the volume model writes its fields with every frame.
        pub fields: bool,
    }
}
