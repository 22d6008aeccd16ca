//! Spheres and circles of a given volume or area.

use std::f64::consts::PI;

use crate::math;

/// Radius of the sphere of volume `volume` (in m³), in m.
pub fn sphere_radius(volume: f64) -> f64 {
    math::cbrt(0.75 * volume / PI)
}

/// Volume of the sphere of radius `radius` (in m), in m³.
pub fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

/// Radius of the circle of area `area` (in m²), in m.
pub fn circle_radius(area: f64) -> f64 {
    (area / PI).sqrt()
}
