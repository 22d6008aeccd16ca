//! The pane in space: a rectangle with axes of its own, carried by its solid.

use glam::{DMat3, DVec2, DVec3};
use sessile_shapes::LocalFrame;
use sessile_world::PlaneFrame;

/// The rectangle at one moment. Places on it are in m from its lower left corner, x across, y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// Lower left corner, in m.
    pub corner: DVec3,
    /// World directions of across, up and out, as columns.
    pub axes: DMat3,
    /// Extent across and up, in m.
    pub size: DVec2,
}

impl Sheet {
    /// The drawn part of a plane.
    pub fn new(plane: &PlaneFrame) -> Self {
        let [across, up] = plane.size;
        let corner = plane.origin - 0.5 * across * plane.u - 0.5 * up * plane.v;
        Self { corner, axes: DMat3::from_cols(plane.u, plane.v, plane.normal), size: DVec2::new(across, up) }
    }

    /// The place nearest to a point of space, whether on the rectangle or beside it.
    pub fn place_of(&self, point: DVec3) -> DVec2 {
        (self.axes.transpose() * (point - self.corner)).truncate()
    }

    /// A place in space, in m.
    pub fn point_at(&self, place: DVec2) -> DVec3 {
        self.corner + self.axes * place.extend(0.0)
    }

    /// Whether a place is on the rectangle.
    pub fn holds(&self, place: DVec2) -> bool {
        place.cmpge(DVec2::ZERO).all() && place.cmple(self.size).all()
    }

    /// Out of the solid.
    pub fn normal(&self) -> DVec3 {
        self.axes.z_axis
    }

    /// A vector along the pane in its own axes.
    pub fn along(&self, vector: DVec3) -> DVec2 {
        (self.axes.transpose() * vector).truncate()
    }

    /// The frame of a drop at a place.
    pub fn frame_at(&self, place: DVec2) -> LocalFrame {
        LocalFrame { origin: self.point_at(place), axes: self.axes }
    }
}
