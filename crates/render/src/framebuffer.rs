//! A rendered image in linear radiance, with auxiliary buffers.

use glam::Vec3;

/// How much the samples of a pixel differ in what they show, because a lens or motion blurs it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mixture {
    /// From 0, all samples show one place of one surface, to 1, they show many.
    pub surface: f32,
    /// The same for albedos.
    pub albedo: f32,
}

/// An image in linear light with auxiliary buffers, rows from the top.
///
/// Buffers that a renderer does not fill are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Framebuffer {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Linear RGB radiance per pixel.
    pub color: Vec<Vec3>,
    /// Albedo of the first surface that is not clear.
    pub albedo: Vec<Vec3>,
    /// World normal of the first surface; zero where the environment is seen.
    pub normal: Vec<Vec3>,
    /// Distance from the camera to the first surface, in m; infinite where the environment is seen.
    pub depth: Vec<f32>,
    /// How much each pixel is blurred by the lens or by motion; empty for a pinhole camera without
    /// motion.
    pub mixture: Vec<Mixture>,
    /// Id of the first drop along the ray through the pixel's center; 0 without one.
    pub drop: Vec<u32>,
    /// Fraction of the samples over pixel and lens that pass through a drop; empty without a
    /// backdrop.
    pub coverage: Vec<f32>,
    /// sRGB bytes of pixels that show nothing but the backdrop. Empty without one; with one, other
    /// pixels are shown without a tone curve.
    pub backdrop: Vec<Option<[u8; 3]>>,
}
