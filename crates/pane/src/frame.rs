//! The pane in space: a rectangle with its own axes, moved by its solid.

use glam::{DMat3, DVec2, DVec3};
use sessile_shapes::LocalFrame;
use sessile_world::PlaneFrame;

/// The rectangle at one time. Positions on it are in m from its lower left corner, x across, y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaneFrame {
    /// Lower left corner, in m.
    pub corner: DVec3,
    /// World directions of across, up and out of the solid, as columns.
    pub axes: DMat3,
    /// Extent across and up, in m.
    pub size: DVec2,
}

impl PaneFrame {
    /// The finite part of a plane.
    pub fn new(plane: &PlaneFrame) -> Self {
        let [across, up] = plane.size;
        let corner = plane.origin - 0.5 * across * plane.u - 0.5 * up * plane.v;
        Self { corner, axes: DMat3::from_cols(plane.u, plane.v, plane.normal), size: DVec2::new(across, up) }
    }

    /// Projection of a point of space onto the plane, inside the rectangle or outside.
    pub fn position_of(&self, point: DVec3) -> DVec2 {
        (self.axes.transpose() * (point - self.corner)).truncate()
    }

    /// The point of space at a position, in m.
    pub fn point_at(&self, position: DVec2) -> DVec3 {
        self.corner + self.axes * position.extend(0.0)
    }

    /// Whether a position is inside the rectangle.
    pub fn contains(&self, position: DVec2) -> bool {
        position.cmpge(DVec2::ZERO).all() && position.cmple(self.size).all()
    }

    /// Outward unit normal of the solid.
    pub fn normal(&self) -> DVec3 {
        self.axes.z_axis
    }

    /// Tangential part of a vector, in the pane's axes.
    pub fn tangential(&self, vector: DVec3) -> DVec2 {
        (self.axes.transpose() * vector).truncate()
    }

    /// A tangential vector in space.
    pub fn lift(&self, vector: DVec2) -> DVec3 {
        self.axes * vector.extend(0.0)
    }

    /// The frame of a drop at a position.
    pub fn local_frame(&self, position: DVec2) -> LocalFrame {
        LocalFrame { origin: self.point_at(position), axes: self.axes }
    }
}
