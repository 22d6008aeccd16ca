//! Drops as a few numbers each, so that a million fit on disk; a reader turns them into surfaces.

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
    /// The drop's id.
    pub drop: u32,
    /// Index of the solid that it sits on; `None` in flight.
    pub solid: Option<u32>,
    /// Where it is.
    pub frame: LocalFrame,
    /// Its volume, in m³; the surface encloses exactly this.
    pub volume: f64,
    /// Its velocity, in m/s.
    pub velocity: DVec3,
    /// Its form in the local frame.
    pub shape: Shape,
}

/// The form of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Shape {
    /// A ball in flight, of the instance's volume, about the frame's origin.
    Sphere,
    /// Metaballs standing on the local plane z = 0.
    Metaballs(Vec<Ball>),
    /// A body over the local plane z = 0, laid onto the ground beneath.
    Draped(Box<Draped>),
}

/// A body and what it lies on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draped {
    /// Over the local plane z = 0.
    pub body: Body,
    /// Offsets of the ground from that plane.
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
    /// A spline patch: the paper's droplet of masses and springs.
    Patch(Patch),
}
