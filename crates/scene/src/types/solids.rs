//! `[[solids]]`: shape, placement and motion.

use std::path::PathBuf;

use glam::DVec3;

use super::words::words;
use super::{Look, Texture};
use crate::field::fields;

/// `[[solids]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Unique name.
    pub name: String,
    /// A name in [`Scene::materials`](super::Scene::materials).
    pub material: String,
    /// Shape.
    pub shape: SolidShape,
    /// Rotation of the placement, about the shape's origin, in rad; applied before `shift` and
    /// `motion`.
    pub rotate: DVec3,
    /// Translation of the placement, in m.
    pub shift: DVec3,
    /// Keyframed motion, applied after the placement; empty for a fixed solid.
    pub motion: Vec<MotionKey>,
    /// Appearance.
    pub look: Look,
    /// Texture that replaces the appearance's own color.
    pub texture: Option<Texture>,
}

fields! {
    /// A key of a solid's motion: linear between keys (angles too), constant outside.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct MotionKey {
        /// Time, in s.
        pub at: f64,
        /// Translation, in m.
        pub shift as "move": DVec3,
        /// Rotation about the world's x, then y, then z axis through the shape's origin, in rad.
        pub rotate: DVec3,
    }
}

words! {
    /// The words for a solid's shape.
    pub enum SolidKind {
        /// [`SolidShape::Plane`].
        Plane = "plane",
        /// [`SolidShape::Box`].
        Box = "box",
        /// [`SolidShape::Sphere`].
        Sphere = "sphere",
        /// [`SolidShape::Cylinder`].
        Cylinder = "cylinder",
        /// [`SolidShape::Leaf`].
        Leaf = "leaf",
        /// [`SolidShape::Mesh`].
        Mesh = "mesh",
    }
}

/// A solid's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidShape {
    /// A half-space, of which a rectangle of `size` is meshed.
    Plane {
        /// A point on it, in m.
        point: DVec3,
        /// Unit normal, out of the solid.
        normal: DVec3,
        /// Width and height of the meshed part, in m.
        size: [f64; 2],
    },
    /// An axis-aligned box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
    /// A ball, or all space outside one.
    Sphere {
        /// Center, in m.
        center: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Whether the liquid is inside the sphere.
        inside: bool,
    },
    /// A rod or a pipe.
    Cylinder {
        /// Center of one end, in m.
        from: DVec3,
        /// Center of the other end, in m.
        to: DVec3,
        /// Outer radius, in m.
        radius: f64,
        /// Wall thickness of a hollow pipe, in m.
        wall: Option<f64>,
    },
    /// Two half-planes that meet in a valley along `axis`.
    Leaf {
        /// A point on the valley line, in m.
        point: DVec3,
        /// Unit vector along the valley line.
        axis: DVec3,
        /// Angle spanned by the two planes on the upper side, in rad.
        angle: f64,
        /// Length along the axis and width across, in m.
        size: [f64; 2],
    },
    /// A triangle mesh from a file.
    Mesh {
        /// Absolute path of the file.
        file: PathBuf,
        /// How file units become meters.
        scale: MeshScale,
    },
}

/// How a mesh file's units become meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshScale {
    /// Scaled to this y extent, in m.
    Height(f64),
    /// Multiplied by this factor.
    Factor(f64),
}
