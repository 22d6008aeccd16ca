//! `[[drops]]`: the liquid present at the start.

use std::path::PathBuf;

use glam::DVec3;

use super::solids::{FROM, MAX, MIN, MOVE, ROTATE, TO};
use super::{MeshScale, SolidName};
use crate::declare::{section, variants};
use crate::quantities::{ANGLE, AREA, LENGTH, VELOCITY, VOLUME};
use crate::resolve;
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Open, Positive};
use crate::schema::ValueType::{Direction, File, Integer, Name, Number, Quantity, Vector, Word};
use crate::schema::{Key, key};

section! {
    /// `[[drops]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Drop: "[[drops]]", "shape" selects DropShape {
        /// Shape.
        pub shape: DropShape = key(Word(DropKind::NAMES), Value("\"sphere\""), "shape"),
        /// Initial velocity, in m/s.
        pub velocity: DVec3 = key(Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "initial velocity"),
    }
}

/// Amount of liquid in a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Volume, in m³.
    Volume(f64),
    /// Area in a planar run, in m².
    Area(f64),
}

impl Amount {
    /// Alternatives: the amount of liquid, or the radius of the sphere (circle) of that amount.
    pub(crate) const ALTERNATIVES: &'static [Key] = &[
        Key { name: "volume", ..key(Quantity(&VOLUME, Positive), Derived("from `radius`"), "volume") },
        Key { name: "area", ..key(Quantity(&AREA, Positive), Derived("from `radius`"), "area in a planar run") },
        Key {
            name: "radius",
            ..key(
                Quantity(&LENGTH, Positive),
                Value("\"1 mm\""),
                "radius of the sphere (in a planar run, the circle) of the same volume",
            )
        },
    ];
}

variants! {
    /// A drop's initial shape.
    #[derive(Clone, Debug, PartialEq)]
    pub enum DropShape named by DropKind {
        placeholder = Self::Box { min: DVec3::ZERO, max: DVec3::ONE };
        /// A sphere, possibly perturbed by a Legendre mode.
        Sphere = "sphere" {
            /// Center, in m.
            center: DVec3 = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "center"),
            /// Amount of liquid.
            amount: Amount,
            /// Legendre mode n; 0 for none.
            mode: u32 = key(
                Integer(0, 32),
                Value("0"),
                "Legendre mode of the perturbation, 2 or more; 0 for none"
            ),
            /// Relative amplitude of the mode.
            amplitude: f64 = key(
                Number(Open(-1.0, 1.0)),
                Value("0"),
                "amplitude of the mode, relative to the radius"
            ),
            /// Unit vector along the axis of the mode.
            axis: DVec3 = key(Direction, Value("[0, 1, 0]"), "axis of the mode"),
        } then resolve::drops::check_mode,
        /// A spherical cap on a solid.
        Cap = "cap" {
            /// Index into [`Scene::solids`](super::Scene::solids).
            on via SolidName: usize = key(Name("a solid"), Derived("the only solid"), "solid that the cap sits on"),
            /// Center of its footprint, projected onto the solid, in m.
            center: DVec3 = key(
                Vector(&LENGTH),
                Value("\"0 0 0 mm\""),
                "center of the footprint, projected onto the solid"
            ),
            /// Amount of liquid.
            amount: Amount,
            /// Initial contact angle, in rad.
            contact_angle: f64 = key(
                Quantity(&ANGLE, Open(0.0, 180.0)),
                Derived("the material's advancing angle"),
                "initial contact angle"
            ) => |section| resolve::drops::resting_angle(section, on),
        },
        /// An axis-aligned box.
        Box = "box" {
            /// Lower corner, in m.
            min: DVec3 = MIN,
            /// Upper corner, in m.
            max: DVec3 = MAX,
        } then resolve::general::check_corners,
        /// A ligament, possibly perturbed: r = radius (1 + amplitude cos(2πx/wavelength)), scaled
        /// to the volume of the unperturbed cylinder.
        Cylinder = "cylinder" {
            /// Center of one end, in m.
            from: DVec3 = FROM,
            /// Center of the other end, in m.
            to: DVec3 = TO,
            /// Radius, in m.
            radius: f64 = key(Quantity(&LENGTH, Positive), Required("\"5 mm\""), "radius"),
            /// Relative amplitude of the perturbation.
            amplitude: f64 = key(
                Number(Open(-1.0, 1.0)),
                Value("0"),
                "amplitude of the perturbation, relative to the radius"
            ),
            /// Wavelength of the perturbation, in m; `None` without one.
            wavelength: Option<f64> = key(
                Quantity(&LENGTH, Positive),
                Derived("no perturbation"),
                "wavelength of the perturbation"
            ),
        } then resolve::drops::check_ligament,
        /// A closed triangle mesh.
        Mesh = "mesh" {
            /// Absolute path of the file.
            file: PathBuf = key(
                File("a mesh file"),
                Required("\"drop.ply\""),
                "a closed mesh: OBJ, PLY, STL or glTF file"
            ),
            /// How file units become meters.
            scale: MeshScale,
            /// Rotation about the mesh's origin, in rad.
            rotate: DVec3 = ROTATE,
            /// Translation, in m.
            shift as "move": DVec3 = MOVE,
        },
    }
}
