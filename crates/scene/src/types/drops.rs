//! `[[drops]]`: the liquid present at the start.

use std::path::PathBuf;

use glam::DVec3;

use super::MeshScale;
use super::words::words;

/// `[[drops]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// Shape.
    pub shape: DropShape,
    /// Initial velocity, in m/s.
    pub velocity: DVec3,
}

/// Amount of liquid in a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Volume, in m³.
    Volume(f64),
    /// Area in a planar run, in m².
    Area(f64),
}

words! {
    /// The words for a drop's shape.
    pub enum DropKind {
        /// [`DropShape::Sphere`].
        Sphere = "sphere",
        /// [`DropShape::Cap`].
        Cap = "cap",
        /// [`DropShape::Box`].
        Box = "box",
        /// [`DropShape::Cylinder`].
        Cylinder = "cylinder",
        /// [`DropShape::Mesh`].
        Mesh = "mesh",
    }
}

/// A drop's initial shape.
#[derive(Clone, Debug, PartialEq)]
pub enum DropShape {
    /// A sphere, possibly perturbed by a Legendre mode.
    Sphere {
        /// Center, in m.
        center: DVec3,
        /// Amount of liquid.
        amount: Amount,
        /// Legendre mode n; 0 for none.
        mode: u32,
        /// Relative amplitude of the mode.
        amplitude: f64,
        /// Unit vector along the axis of the mode.
        axis: DVec3,
    },
    /// A spherical cap on a solid.
    Cap {
        /// Index into [`Scene::solids`](super::Scene::solids).
        on: usize,
        /// Center of its footprint, projected onto the solid, in m.
        center: DVec3,
        /// Amount of liquid.
        amount: Amount,
        /// Initial contact angle, in rad.
        contact_angle: f64,
    },
    /// An axis-aligned box.
    Box {
        /// Lower corner, in m.
        min: DVec3,
        /// Upper corner, in m.
        max: DVec3,
    },
    /// A ligament, possibly perturbed: r = radius (1 + amplitude cos(2πx/wavelength)), scaled to
    /// the volume of the unperturbed cylinder.
    Cylinder {
        /// Center of one end, in m.
        from: DVec3,
        /// Center of the other end, in m.
        to: DVec3,
        /// Radius, in m.
        radius: f64,
        /// Relative amplitude of the perturbation.
        amplitude: f64,
        /// Wavelength of the perturbation, in m; `None` without one.
        wavelength: Option<f64>,
    },
    /// A closed triangle mesh.
    Mesh {
        /// Absolute path of the file.
        file: PathBuf,
        /// How file units become meters.
        scale: MeshScale,
        /// Rotation about the mesh's origin, in rad.
        rotate: DVec3,
        /// Translation, in m.
        shift: DVec3,
    },
}
