//! Base radii at one contact angle, at a fraction of the cost of the table.
//!
//! A material has few angles, while the volume of a drop changes all the time. At one angle the
//! bicubic interpolation of the table is a cubic in ln v alone, and both cube roots of the
//! reference are that of v times a constant.

use sessile_numerics::math;

use super::{
    BREADTHS, CAP_VOLUME, Cap, Contact, NUM_ANGLES, NUM_BREADTHS, ShapeTable, Weight, cubic, even_column, faded,
    pressed_radius,
};
use crate::cube_root::cube_root;

/// Base radii of drops at rest at one angle, equal to those of [`ShapeTable::base_radius`] to
/// rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    contact: Contact,
    /// Radius of the cap over the cube root of its volume.
    cap_radius: f64,
    /// 1/sin(θ/2), its logarithm and its cube root.
    per_half_sin: f64,
    log: f64,
    root: f64,
    /// Of the sessile table's nodes.
    ratios: [f64; NUM_BREADTHS],
}

impl Section {
    /// Along one angle.
    pub fn new(table: &ShapeTable, contact: Contact) -> Self {
        let (column, weights) = cubic(even_column(contact.angle), NUM_ANGLES);
        let ratio = |row: usize| {
            let near = &table.sessile.ratios[row][column..column + 4];
            near.iter().zip(weights).map(|(ratio, weight)| weight * ratio[1]).sum()
        };
        let per_half_sin = 1.0 / contact.half_sin;
        Self {
            contact,
            cap_radius: Cap::new(1.0, &contact).radius,
            per_half_sin,
            log: math::ln(per_half_sin),
            root: cube_root(per_half_sin),
            ratios: std::array::from_fn(ratio),
        }
    }

    /// The angle.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// Base radius of a drop of a volume (in m³), in m; `None` for a hanging drop beyond its
    /// largest stable volume, and for a volume that is not positive.
    #[inline]
    pub fn base_radius(&self, volume: f64, weight: &Weight) -> Option<f64> {
        let v = volume * weight.per_volume;
        if !(v >= CAP_VOLUME && weight.presses) {
            return ShapeTable::shared().base_radius(volume, &self.contact, weight);
        }
        let (key, root) = (math::ln(v) + self.log, cube_root(v));
        let (row, weights) = cubic((key - BREADTHS.0) * PER_KEY, NUM_BREADTHS);
        let near = &self.ratios[row..row + 4];
        let ratio = near.iter().zip(weights).map(|(ratio, weight)| weight * ratio).sum();
        let reference = pressed_radius(self.cap_radius * root, v * self.per_half_sin, self.root * root);
        Some(faded(ratio, key) * reference * weight.length)
    }
}

/// Nodes per ln v.
const PER_KEY: f64 = (NUM_BREADTHS - 1) as f64 / (BREADTHS.1 - BREADTHS.0);
