//! A rendered picture before it meets a screen: linear radiance and what lies behind each pixel.

use glam::Vec3;

/// A picture in linear light, rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Linear RGB radiance per pixel.
    pub color: Vec<Vec3>,
    /// Albedo of the first thing seen that is not clear.
    pub albedo: Vec<Vec3>,
    /// World normal of the first surface hit; zero where the sky is seen.
    pub normal: Vec<Vec3>,
    /// Distance from the eye to the first surface, in m; infinite where the sky is seen.
    pub depth: Vec<f32>,
    /// Id of the first drop on the way of the ray through the pixel's middle; −1 without one.
    pub drop: Vec<i32>,
}
