//! Appearance of solids, camera, lights and render settings.

use std::path::PathBuf;

use glam::DVec3;

use super::words::words;
use crate::field::{fields, section_defaults};

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

/// Light from infinitely far away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentMap {
    /// A built-in environment map.
    Preset(EnvironmentPreset),
    /// Absolute path of an image file.
    Image(PathBuf),
}

fields! {
    /// `[camera]`; fields that are `None` are framed automatically.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Camera {
        /// Eye point, in m.
        pub position: Option<DVec3>,
        /// Point at the image center, in m.
        pub look_at: Option<DVec3>,
        /// Vertical field of view, in rad.
        pub fov: f64,
        /// Drop to keep at the image center.
        pub follow: Option<Follow>,
        /// Diameter of the lens aperture, in m; 0 for a pinhole camera.
        pub aperture: f64,
        /// Focus distance, in m; `None` for that of `look_at`.
        pub focus: Option<f64>,
    }
}

impl Default for Camera {
    fn default() -> Self {
        section_defaults("camera")
    }
}

/// `camera.follow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The drop with this id.
    Drop(u32),
    /// The largest drop of the first frame that has drops.
    Largest,
}

fields! {
    /// `[lights]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Lights {
        /// Environment map.
        pub environment: EnvironmentMap,
        /// Factor on the environment.
        pub strength: f64,
        /// Directional light.
        pub sun: Option<Sun>,
        /// Square area lights.
        pub area: Vec<AreaLight>,
    }
}

impl Default for Lights {
    fn default() -> Self {
        section_defaults("lights")
    }
}

fields! {
    /// A distant light.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sun {
        /// Unit vector towards the light.
        pub direction: DVec3,
        /// Irradiance on a facing surface, relative to the environment's unit, per color channel.
        pub color: [f64; 3],
        /// Angular diameter, in rad.
        pub angle: f64,
    }
}

fields! {
    /// A square area light.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AreaLight {
        /// Center, in m.
        pub center: DVec3,
        /// Point that it faces, in m.
        pub look_at: DVec3,
        /// Edge length, in m.
        pub size: f64,
        /// Radiance per color channel.
        pub color: [f64; 3],
    }
}

fields! {
    /// `[render]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Render {
        /// Image width and height, in pixels.
        pub size: [u32; 2],
        /// Maximum number of samples per pixel.
        pub samples: u32,
        /// Whether to denoise the image.
        pub denoise: bool,
        /// Shutter time as a fraction of the frame interval; 0 for no motion blur.
        pub shutter: f64,
        /// Factor on the automatic exposure.
        pub exposure: f64,
        /// Frames per second of the video.
        pub fps: f64,
    }
}

impl Default for Render {
    fn default() -> Self {
        section_defaults("render")
    }
}
