//! Appearance of solids, camera, lights and render settings.

use std::path::PathBuf;

use glam::DVec3;

use super::solids::Interpolation;
use super::words::words;
use crate::declare::section;
use crate::field::section_defaults;
use crate::quantities::{ANGLE, LENGTH, TIME};
use crate::resolve;
use crate::schema::Default::{Derived, Required, Value};
use crate::schema::Range::{Any, Closed, NotNegative, Open, OpenClosed, Positive};
use crate::schema::ValueType::{
    Boolean, Color, Direction, File, Integer, IntegerPair, List, Number, OneOf, Quantity, Table as Nested, Vector, Word,
};
use crate::schema::{Affects, image_key, key};

words! {
    /// Appearance of a solid.
    pub enum Look {
        /// Clear glass.
        Glass = "glass",
        /// Brushed metal.
        Metal = "metal",
        /// Glossy plastic.
        Plastic = "plastic",
        /// Dark rubber.
        Rubber = "rubber",
        /// Glazed ceramic.
        Ceramic = "ceramic",
        /// Rough stone.
        Stone = "stone",
        /// Wood with grain.
        Wood = "wood",
        /// Glossy paint.
        Paint = "paint",
        /// A translucent leaf.
        Leaf = "leaf",
        /// Skin.
        Skin = "skin",
        /// Gray, diffuse.
        Matte = "matte",
        /// Dark honed slate with a soft gloss.
        Slate = "slate",
    }
}

words! {
    /// A built-in procedural texture.
    pub enum TexturePattern {
        /// Checkerboard.
        Checker = "checker",
        /// Tiles with joints.
        Tiles = "tiles",
        /// Thin grid lines.
        Grid = "grid",
        /// Stripes.
        Stripes = "stripes",
        /// Wood grain.
        Wood = "wood",
        /// Smooth noise.
        Noise = "noise",
    }
}

/// A solid's texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Texture {
    /// A built-in procedural texture.
    Pattern(TexturePattern),
    /// Absolute path of an image file.
    Image(PathBuf),
}

/// The color of a surface: sRGB, each channel from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceColor(pub [f64; 3]);

/// Repeats of a texture along u and v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiling(pub [f64; 2]);

words! {
    /// A built-in environment map.
    pub enum EnvironmentPreset {
        /// A dark room with soft boxes.
        Studio = "studio",
        /// A clear sky over a diffuse ground.
        Sky = "sky",
        /// A garden, out of focus.
        Garden = "garden",
        /// A city at night.
        City = "city",
        /// A landscape at dawn.
        Dawn = "dawn",
    }
}

words! {
    /// How exposed light becomes the values of a display.
    pub enum ViewTransform {
        /// The sRGB curve; brighter colors are scaled down to white, keeping their hue.
        Standard = "standard",
        /// The same with a soft shoulder in which bright colors tend to white.
        Filmic = "filmic",
        /// AgX: lower contrast, bright colors desaturate early.
        Agx = "agx",
        /// Linear values, clipped.
        Raw = "raw",
    }
}

/// Light from infinitely far away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentMap {
    /// A built-in environment map.
    Preset(EnvironmentPreset),
    /// Absolute path of an image file.
    Image(PathBuf),
}

section! {
    /// `[camera]`; fields that are `None` are framed automatically.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Camera: "[camera]" {
        /// Eye point, in m.
        pub position: Option<DVec3> = image_key(Vector(&LENGTH), Derived("automatic framing"), "eye point"),
        /// Point at the image center, in m.
        pub look_at: Option<DVec3> = image_key(
            Vector(&LENGTH),
            Derived("automatic framing"),
            "point at the image center"
        ),
        /// Vertical field of view, in rad.
        pub fov: f64 = image_key(Quantity(&ANGLE, Open(0.0, 180.0)), Value("\"35 deg\""), "vertical field of view"),
        /// Keyframed positions that replace `position` and `look_at`; empty for a camera at rest.
        pub motion: Vec<CameraKey> = image_key(
            List(CameraKey::TABLE),
            Derived("at rest"),
            "positions over time, in place of `position` and `look_at`"
        ),
        /// How keys of `motion` are interpolated.
        pub interpolation: Interpolation = image_key(
            Word(Interpolation::NAMES),
            Value("\"linear\""),
            "between keys of `motion`: linear, or smooth (cubic)"
        ),
        /// Drop to keep at the image center.
        pub follow: Option<Follow> = image_key(
            OneOf(&[Integer(1, u32::MAX as u64), Word(&["largest"])]),
            Derived("a fixed camera"),
            "drop to keep at the image center: its id, or the largest one"
        ),
        /// Diameter of the lens aperture, in m; 0 for a pinhole camera. `None`: a pinhole camera
        /// where `position` is given or a pane is seen frontally, else slight depth of field.
        pub aperture: Option<f64> = image_key(
            Quantity(&LENGTH, NotNegative),
            Derived("0 with `position` or before a pane; else 1/40 of the distance"),
            "diameter of the lens aperture; 0 for no depth of field"
        ),
        /// Number of blades of the aperture; below 3 it is round.
        pub blades: u32 = image_key(
            Integer(0, 16),
            Value("0"),
            "blades of the aperture: lights out of focus are polygons with as many corners; below 3, discs"
        ),
        /// Focus distance, in m; `None` for that of `look_at`.
        pub focus: Option<f64> = image_key(
            Quantity(&LENGTH, Positive),
            Derived("distance to the image center"),
            "focus distance"
        ),
    } then resolve::images::check_camera
}

impl Default for Camera {
    fn default() -> Self {
        section_defaults("camera")
    }
}

section! {
    /// A key of the camera's motion, which is constant outside the keys.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CameraKey: "a key of `camera.motion`" {
        /// Time, in s.
        pub at: f64 = image_key(Quantity(&TIME, Any), Required("\"0 s\""), "time; times must increase"),
        /// Eye point at that time, in m.
        pub position: DVec3 = image_key(Vector(&LENGTH), Required("\"0 50 300 mm\""), "eye point at that time"),
        /// Point at the image center at that time, in m.
        pub look_at: DVec3 = image_key(
            Vector(&LENGTH),
            Required("\"0 0 0 mm\""),
            "point at the image center at that time"
        ),
    } then resolve::images::check_camera_key
}

/// `camera.follow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The drop with this id.
    Drop(u32),
    /// The largest drop of the first frame that has drops.
    Largest,
}

section! {
    /// `[lights]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Lights: "[lights]" {
        /// Environment map.
        pub environment: EnvironmentMap = image_key(
            OneOf(&[Word(EnvironmentPreset::NAMES), File("an image file")]),
            Value("\"studio\""),
            "environment map: a built-in one or an image file (.hdr, .exr)"
        ),
        /// Factor on the environment.
        pub strength: f64 = image_key(Number(NotNegative), Value("1"), "factor on the environment map"),
        /// Directional light.
        pub sun: Option<Sun> = image_key(Nested(Sun::TABLE), Derived("none"), "directional light"),
        /// Square area lights.
        pub area: Vec<AreaLight> = image_key(List(AreaLight::TABLE), Derived("none"), "square area lights"),
    } then resolve::images::check_lights
}

impl Default for Lights {
    fn default() -> Self {
        section_defaults("lights")
    }
}

section! {
    /// A distant light.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sun: "[lights.sun]" {
        /// Unit vector towards the light.
        pub direction: DVec3 = image_key(Direction, Value("[1, 2, 1]"), "direction towards the light"),
        /// Irradiance on a facing surface, relative to the environment's unit, per color channel.
        pub color: [f64; 3] = image_key(Color, Value("1"), "irradiance on a surface facing the light, per channel"),
        /// Angular diameter, in rad.
        pub angle: f64 = image_key(
            Quantity(&ANGLE, OpenClosed(0.0, 90.0)),
            Value("\"0.53 deg\""),
            "angular diameter"
        ),
    }
}

section! {
    /// A square area light.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AreaLight: "[[lights.area]]" {
        /// Center, in m.
        pub center: DVec3 = image_key(Vector(&LENGTH), Required("\"0 300 0 mm\""), "center"),
        /// Point that it faces, in m.
        pub look_at: DVec3 = image_key(Vector(&LENGTH), Value("\"0 0 0 mm\""), "point that the light faces"),
        /// Edge length, in m.
        pub size: f64 = image_key(Quantity(&LENGTH, Positive), Required("\"100 mm\""), "edge length"),
        /// Radiance per color channel.
        pub color: [f64; 3] = image_key(Color, Value("1"), "radiance per channel"),
    } then resolve::images::check_area_light
}

section! {
    /// `[render]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Render: "[render]" {
        /// Image width and height, in pixels.
        pub size: [u32; 2] = image_key(
            IntegerPair(1, 16384),
            Value("[640, 360]"),
            "image width and height in pixels"
        ),
        /// Maximum number of samples per pixel.
        pub samples: u32 = image_key(Integer(1, 1_000_000), Value("64"), "maximum number of samples per pixel"),
        /// Whether to denoise the image.
        pub denoise: bool = image_key(Boolean, Value("true"), "whether to denoise the image"),
        /// Shutter time as a fraction of the frame interval; 0 for no motion blur.
        pub shutter: f64 = image_key(
            Number(Closed(0.0, 1.0)),
            Value("0.5"),
            "shutter time as a fraction of the frame interval; 0 for no motion blur"
        ),
        /// Factor on the automatic exposure.
        pub exposure: f64 = image_key(Number(Closed(1e-3, 1e3)), Value("1"), "factor on the automatic exposure"),
        /// How exposed light becomes the values of a display.
        pub view: ViewTransform = image_key(
            Word(ViewTransform::NAMES),
            Value("\"filmic\""),
            "how exposed light becomes the values of a display"
        ),
        /// Photograph behind everything, shown unlit; `None` for the environment.
        pub backdrop: Option<PathBuf> = image_key(
            File("an image file"),
            Derived("the environment"),
            "photograph behind everything (PNG, JPEG, EXR), shown unlit"
        ),
        /// Distance from the camera at which drops refract the backdrop, in m; `None`: infinitely
        /// far.
        pub backdrop_distance: Option<f64> = image_key(
            Quantity(&LENGTH, Positive),
            Derived("infinitely far"),
            "distance from the camera at which drops refract the backdrop"
        ),
        /// Whether wet paths and films on solids are drawn.
        pub wet_paths: bool = image_key(Boolean, Value("true"), "whether wet paths and films on solids are drawn"),
        /// Frames per second of the video.
        pub fps: f64 = key(
            Number(Closed(0.1, 1000.0)),
            Derived("`time.fps`, else 30"),
            "frames per second of the video"
        ).affecting(Affects::Video) => resolve::general::video_rate,
    } then resolve::images::check_render
}

impl Default for Render {
    fn default() -> Self {
        section_defaults("render")
    }
}
