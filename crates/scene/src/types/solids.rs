//! `[[solids]]`: shape, placement and motion.

use std::path::PathBuf;

use glam::DVec3;

use super::general::TEMPERATURES;
use super::words::words;
use super::{Look, SurfaceColor, Texture, TexturePattern, Tiling};
use crate::declare::{section, variants};
use crate::field::Fields;
use crate::quantities::{ANGLE, LENGTH, TEMPERATURE, TIME};
use crate::resolve;
use crate::resolve::materials::MaterialName;
use crate::resolve::solids::UniqueName;
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Any, Closed, OpenClosed, Positive};
use crate::schema::ValueType::{
    Boolean, Direction, File, List, Name, Number, OneOf, Quantity, Size, SurfaceColor as SurfaceColorValue, Text,
    Tiling as TilingValue, Vector, Word,
};
use crate::schema::{Key, image_key, key};

words! {
    /// How motion keys are interpolated.
    pub enum Interpolation {
        /// Constant velocity between keys, which jumps at the keys.
        Linear = "linear",
        /// Cubic, with continuous velocity: for motion that was sampled frame by frame.
        Smooth = "smooth",
    }
}

section! {
    /// `[[solids]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Solid: "[[solids]]", "shape" selects SolidShape {
        /// Unique name.
        pub name via UniqueName: String = key(
            Text,
            Derived("solid0, solid1, ... by position"),
            "unique name; also used as a file name"
        ) => |section| format!("solid{}", section.index),
        /// A name in [`Scene::materials`](super::Scene::materials).
        pub material via MaterialName: String = key(
            Name("a material"),
            Value("\"glass\""),
            "a material of the scene, or a preset"
        ),
        /// Shape.
        pub shape: SolidShape = key(Word(SolidKind::NAMES), Value("\"plane\""), "shape"),
        /// Rotation of the placement, about the shape's origin, in rad; applied before `shift` and
        /// `motion`.
        pub rotate: DVec3 = ROTATE,
        /// Translation of the placement, in m.
        pub shift as "move": DVec3 = MOVE,
        /// Keyframed motion, applied after the placement; empty for a fixed solid.
        pub motion: Vec<MotionKey> = key(
            List(MotionKey::TABLE),
            Derived("at rest"),
            "motion after `rotate` and `move`"
        ),
        /// How motion keys are interpolated.
        pub interpolation: Interpolation = key(
            Word(Interpolation::NAMES),
            Value("\"linear\""),
            "between motion keys: linear (velocities jump at keys), or smooth (cubic; for sampled motion)"
        ),
        /// Temperature, in K; `None` for that of the air.
        pub temperature: Option<f64> = key(
            Quantity(&TEMPERATURE, TEMPERATURES),
            Derived("that of the air"),
            "temperature of the solid: vapor condenses on drops where it is below the dew point (`world.humidity`)"
        ),
        /// Appearance.
        pub look: Look = image_key(Word(Look::NAMES), Value("\"slate\""), "appearance"),
        /// Texture that replaces the appearance's own color.
        pub texture: Option<Texture> = image_key(
            OneOf(&[Word(TexturePattern::NAMES), File("an image file")]),
            Derived("the look's own color"),
            "texture: a built-in pattern or an image file"
        ),
        /// Normal map, placed like the texture.
        pub normal_map: Option<PathBuf> = image_key(
            File("an image file"),
            Derived("a smooth surface"),
            "normal map (PNG, JPEG): red along u, green along v (up), blue out of the surface; placed like `texture`"
        ),
        /// Repeats of the texture along u and v.
        pub texture_tiling: Tiling = image_key(
            TilingValue,
            Value("1"),
            "repeats of an image along u and v, or a factor on the number of units of a pattern"
        ),
        /// Rotation of the texture about the middle of the texture coordinates, in rad,
        /// counterclockwise seen from outside.
        pub texture_rotation: f64 = image_key(
            Quantity(&ANGLE, Any),
            Value("\"0 deg\""),
            "rotation of the texture, counterclockwise seen from outside"
        ),
        /// Color of the surface: of its base, of the metal, or of the light that glass transmits.
        pub color: Option<SurfaceColor> = image_key(
            SurfaceColorValue,
            Derived("the look's own"),
            "color of the surface; multiplies an image, replaces the light color of a pattern"
        ),
        /// Perceptual roughness r of the highlights: α = r².
        pub roughness_look: Option<f64> = image_key(
            Number(Closed(0.0, 1.0)),
            Derived("the look's own"),
            "roughness of the highlights, 0 (mirror) to 1 (matte): the GGX width is its square"
        ),
        /// Metalness, from 0 (dielectric) to 1 (metal).
        pub metallic: Option<f64> = image_key(
            Number(Closed(0.0, 1.0)),
            Derived("the look's own"),
            "0 for a dielectric, 1 for a metal whose reflection has the surface's color"
        ),
    } then resolve::solids::check_solid
}

section! {
    /// A key of a solid's motion, which is constant outside the keys.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct MotionKey: "a key of `motion`" {
        /// Time, in s.
        pub at: f64 = key(Quantity(&TIME, Any), Required("\"0 s\""), "time; times must increase"),
        /// Translation, in m.
        pub shift as "move": DVec3 = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "translation at that time"),
        /// Rotation about the world's x, then y, then z axis through the shape's origin, in rad.
        pub rotate: DVec3 = key(Vector(&ANGLE), Value("\"0 0 0 deg\""), "rotation at that time"),
    }
}

variants! {
    /// A solid's shape.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SolidShape named by SolidKind {
        placeholder = Self::Box { min: DVec3::ZERO, max: DVec3::ONE };
        /// A half-space, of which a rectangle of `size` is meshed.
        Plane = "plane" {
            /// A point on it, in m.
            point: DVec3 = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "a point on the plane"),
            /// Unit normal, out of the solid.
            normal: DVec3 = key(Direction, Value("[0, 1, 0]"), "normal, out of the solid"),
            /// Width and height of the meshed part, in m.
            size: [f64; 2] = key(
                Size(&LENGTH),
                Derived("covers the domain; 256 mm square in open space"),
                "width and height of the meshed part around `point`"
            ) => |section| resolve::solids::size_of_plane(section, point, normal),
        },
        /// An axis-aligned box.
        Box = "box" {
            /// Lower corner, in m.
            min: DVec3 = MIN,
            /// Upper corner, in m.
            max: DVec3 = MAX,
        } then resolve::general::check_corners,
        /// A ball, or all space outside one.
        Sphere = "sphere" {
            /// Center, in m.
            center: DVec3 = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "center"),
            /// Radius, in m.
            radius: f64 = RADIUS,
            /// Whether the liquid is inside the sphere.
            inside: bool = key(Boolean, Value("false"), "whether the liquid is inside the sphere"),
        },
        /// A rod or a pipe.
        Cylinder = "cylinder" {
            /// Center of one end, in m.
            from: DVec3 = FROM,
            /// Center of the other end, in m.
            to: DVec3 = TO,
            /// Outer radius, in m.
            radius: f64 = RADIUS,
            /// Wall thickness of a hollow pipe, in m.
            wall: Option<f64> = key(
                Quantity(&LENGTH, Positive),
                Derived("not hollow"),
                "wall thickness of a hollow pipe, less than `radius`"
            ),
        } then resolve::solids::check_pipe,
        /// Two half-planes that meet in a valley along `axis`.
        Leaf = "leaf" {
            /// A point on the valley line, in m.
            point: DVec3 = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "a point on the valley line"),
            /// Unit vector along the valley line.
            axis: DVec3 = key(Direction, Value("[1, 0, 0]"), "direction of the valley line"),
            /// Angle spanned by the two planes on the upper side, in rad.
            angle: f64 = key(
                Quantity(&ANGLE, OpenClosed(0.0, 180.0)),
                Value("\"120 deg\""),
                "angle between the two half-planes, on the upper side"
            ),
            /// Length along the axis and width across, in m.
            size: [f64; 2] = key(
                Size(&LENGTH),
                Derived("covers the domain; 256 mm square in open space"),
                "length along the axis and width across it"
            ) => |section| resolve::solids::size_of_leaf(section, point, axis),
        },
        /// A triangle mesh from a file.
        Mesh = "mesh" {
            /// Absolute path of the file.
            file: PathBuf = key(File("a mesh file"), Required("\"bunny.ply\""), "OBJ, PLY, STL or glTF file"),
            /// How file units become meters.
            scale: MeshScale,
            /// Samples of its deformation; empty for a body that keeps its shape.
            deform: Vec<DeformKey> = key(
                List(DeformKey::TABLE),
                Derived("keeps its shape"),
                "samples of a deforming mesh, with the vertices and triangles of `file`; cubic between samples"
            ),
        } then resolve::solids::check_deform,
    }
}

section! {
    /// A sample of a deforming mesh.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DeformKey: "a key of `deform`" {
        /// Time, in s.
        pub at: f64 = key(Quantity(&TIME, Any), Required("\"0 s\""), "time; times must increase"),
        /// Absolute path of the file.
        pub file: PathBuf = key(
            File("a mesh file"),
            Required("\"wing.0001.ply\""),
            "the mesh at that time; its texture coordinates are not used"
        ),
    }
}

pub(super) const MIN: Key = key(Vector(&LENGTH), Required("\"-5 0 -5 mm\""), "lower corner");
pub(super) const MAX: Key = key(Vector(&LENGTH), Required("\"5 10 5 mm\""), "upper corner");
pub(super) const FROM: Key = key(Vector(&LENGTH), Required("\"0 0 0 mm\""), "center of one end");
pub(super) const TO: Key = key(Vector(&LENGTH), Required("\"0 50 0 mm\""), "center of the other end");
const RADIUS: Key = key(Quantity(&LENGTH, Positive), Required("\"5 mm\""), "outer radius");
pub(super) const ROTATE: Key = key(Vector(&ANGLE), Value("\"0 0 0 deg\""), "rotation about the x, then y, then z axis");
pub(super) const MOVE: Key = key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "translation, after the rotation");

/// How a mesh file's units become meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshScale {
    /// Scaled to this y extent, in m.
    Height(f64),
    /// Multiplied by this factor.
    Factor(f64),
}

impl MeshScale {
    /// Alternatives: the height of the mesh, or a factor.
    pub(crate) const ALTERNATIVES: &'static [Key] = &[
        Key {
            name: "height",
            ..key(Quantity(&LENGTH, Positive), Derived("`scale`"), "y extent to which the mesh is scaled")
        },
        Key { name: "scale", ..key(Number(Positive), Value("1"), "factor from the file's units to meters") },
    ];
}
