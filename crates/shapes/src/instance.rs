//! Drops as a few numbers each, so that a million fit on disk; readers turn them into surfaces.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::drape::SubstrateOffsets;
use crate::metaballs::Ball;
use crate::patch::Patch;
use crate::profile::Profile;

/// A right-handed orthonormal frame: z out of the solid, y up the slope, x across.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalFrame {
    /// Origin, in m.
    pub origin: DVec3,
    /// World directions of the local x, y and z axes, as columns.
    pub axes: DMat3,
}

impl LocalFrame {
    /// A local point in world coordinates.
    pub fn world_from_local(&self, point: DVec3) -> DVec3 {
        self.origin + self.axes * point
    }

    /// A world point in local coordinates.
    pub fn local_from_world(&self, point: DVec3) -> DVec3 {
        self.axes.transpose() * (point - self.origin)
    }
}

/// One drop as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Id of the drop.
    pub drop: u32,
    /// Index of the solid that it is on; `None` in flight.
    pub solid: Option<u32>,
    /// Local frame.
    pub frame: LocalFrame,
    /// Volume, in m³; the surface encloses exactly this.
    pub volume: f64,
    /// Velocity, in m/s.
    pub velocity: DVec3,
    /// Shape in the local frame.
    pub shape: Shape,
}

/// Shape of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Shape {
    /// A sphere of the instance's volume about the frame's origin, in flight.
    Sphere,
    /// Metaballs on the local plane z = 0.
    Metaballs(Vec<Ball>),
    /// A body over the local plane z = 0, draped over the substrate.
    Draped(Box<Draped>),
}

/// A body and its substrate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draped {
    /// Body over the local plane z = 0.
    pub body: Body,
    /// Offsets of the substrate from that plane.
    pub substrate: SubstrateOffsets,
}

/// A body over a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Body {
    /// A Young–Laplace profile.
    Profile(Profile),
    /// Metaballs: drops that are merging.
    Metaballs(Vec<Ball>),
    /// A spline patch over masses and springs (reproduction mode of the droplet model).
    Patch(Patch),
}
